"""Plays with tools in real jails: every form of calls, exact tokens, what the policy is told, what is judged."""

import random
import resource
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.environments.small_projects import FILES, RIGHT, project_task

from strop.config.tasks import EnvironmentConfig
from strop.environments.registry import bind, find_environment
from strop.environments.repository_tools import RepositoryTools
from strop.environments.toolbox import tools_of
from strop.policies.loading import EMBEDDED, load_tokenizer
from strop.policies.scripted import ScriptedPolicy
from strop.policies.tokenizer import HubTokenizer
from strop.policies.tool_calls import CALL_FORMS, FormName, ToolCall
from strop.rollouts.dispatcher import Dispatcher
from strop.tasks.sources import load_tasks
from strop.training.batch import sample_of
from strop_verify.core.checks import Case, CasesCheck, EditCheck, ProjectCheck
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import Message, Rollout, SamplingParams
from strop_verify.core.snapshots import data_uri, digest_of
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome

pytestmark = pytest.mark.jail
FORMS: tuple[FormName, ...] = get_args(FormName)
TOOLS = tools_of(RepositoryTools)


@pytest.fixture(scope="module")
def smol() -> HubTokenizer:
    return HubTokenizer(load_tokenizer(EMBEDDED))


class Says(ScriptedPolicy):
    """Says one text after the other, as one play asks for them, each with its end token; then `...`."""

    def __init__(self, texts: Sequence[str], tokenizer: Any = None) -> None:
        self.left, self.requests = list(texts), list[Request]()
        super().__init__(self._next, tokenizer=tokenizer)

    def _next(self, prompt: Sequence[int], seed: int, index: int) -> str:
        return self.left.pop(0) if self.left else "..."

    def submit(self, request: Request) -> Any:
        self.requests.append(request)
        return super().submit(request)


def played(
    verifier: Any,
    task: Task,
    texts: Sequence[str],
    *,
    tokenizer: Any = None,
    max_tokens: int = 4000,
    **options: Any,
) -> tuple[Rollout, Says]:
    policy = Says(texts, tokenizer)
    kind = find_environment(EnvironmentConfig(type="workspace", **options))
    dispatcher = Dispatcher(policy, verifier, bind(kind, "chat"))
    (rollout,) = dispatcher.play([task], 1, SamplingParams(max_tokens=max_tokens), seed=1)
    return rollout, policy


def outputs(rollout: Rollout) -> list[str]:
    return [event.result for turn in rollout.turns for event in turn.events]


CALLS = [
    ToolCall("search", {"pattern": "def (dearest|total)", "path": "shop"}),
    ToolCall("read", {"path": "README.md"}),
    ToolCall("test", {}),
    ToolCall("edit", {"path": "shop/cart.py", "old": "min(prices)", "new": "max(prices)"}),
    ToolCall(
        "run", {"command": "python -c 'import shop.cart as c; print(c.dearest([1, 4]), \"<|im_end|>\")'"}
    ),
    ToolCall("test", {}),
    ToolCall("finish", {}),
]


@pytest.mark.parametrize("name", FORMS)
def test_a_play_has_exact_tokens_in_every_form(
    name: FormName, tmp_path: Path, verifier: Any, smol: HubTokenizer
) -> None:
    form = CALL_FORMS[name]
    texts = [f"Now this: {form.write(call, TOOLS)}<|im_start|>assistant" for call in CALLS]
    rollout, policy = played(verifier, project_task(tmp_path), texts, tokenizer=smol, calls=name)
    assert rollout.verdict is not None and rollout.verdict.passed, rollout.verdict
    assert rollout.stop_reason == "answered" and len(rollout.turns) == len(CALLS)
    assert outputs(rollout)[:2] == [
        "shop/cart.py:6:def total(prices, count=1):\nshop/cart.py:11:def dearest(prices):",
        FILES["README.md"].rstrip("\n"),
    ]
    assert "FAILED tests/test_public.py::test_dearest" in outputs(rollout)[2]
    assert outputs(rollout)[3:] == [
        "edited shop/cart.py, line 12",
        "4 <|im_end|>",
        "..                                                                       [100%]\n2 passed in 0.0s",
        "finished",
    ]
    # The turns laid end to end are what the policy was asked last, and each sampled token is there once.
    *before, last = rollout.turns
    told = [*chain(*((*turn.prompt_ids, *turn.completion.token_ids) for turn in before)), *last.prompt_ids]
    assert list(policy.requests[-1].prompt) == told
    sample = sample_of(rollout.model_copy(update={"reward": 1.0, "advantage": 0.5}), mask_truncated=True)
    sampled = [number for turn in rollout.turns for number in turn.completion.token_ids]
    assert [number for number, keep in zip(sample.ids, sample.mask, strict=True) if keep] == sampled
    assert sample.ids == [*told, *last.completion.token_ids]
    # Files, outputs and the statement hold control tokens' texts; only the template's own become ids.
    plain = [Message(role=role, content="x") for role in ("system", "user")]
    assert controls(rollout.turns[0].prompt_ids, smol) == controls(smol.encode_chat(plain), smol)
    reply = [Message(role="user", content="x")]
    ended = controls(smol.encode_turn(reply, ended=None), smol)
    for turn in rollout.turns[1:]:
        assert controls(turn.prompt_ids, smol) == ended
        assert controls(turn.completion.token_ids, smol) == []
    assert "<|im_end|>\n<|im_start|>assistant" in smol.decode(rollout.turns[2].prompt_ids)


def controls(ids: Sequence[int], tokenizer: HubTokenizer) -> list[int]:
    return [number for number in ids if number in tokenizer.control_ids]


def test_the_policy_is_told_what_there_is_and_how_many_turns_are_left(tmp_path: Path, verifier: Any) -> None:
    rollout, policy = played(verifier, project_task(tmp_path), ["hm", "<read>.</read>"], turns=3)
    first, second, third = (policy.tokenizer.decode(turn.prompt_ids) for turn in rollout.turns)
    assert "after 3 turns" in first and "shop/cart.py" in first and "test_hidden" not in first
    assert second == "no tool was called; write a tag such as <run>COMMAND</run>\n\n[2 turns left]"
    assert third.endswith("tests/conftest.py\ntests/test_public.py\n\n[1 turn left]")
    assert rollout.verdict is not None and rollout.verdict.outcome is Outcome.NO_ANSWER
    assert rollout.stop_reason == "answered" and len(rollout.turns) == 3


def test_several_calls_of_one_message_are_done_in_order(tmp_path: Path, verifier: Any) -> None:
    text = "<write>a.txt @@ one</write><run>cat a.txt; rm a.txt</run><finish/><run>echo late</run>"
    rollout, _ = played(verifier, project_task(tmp_path), [text])
    assert outputs(rollout) == ["wrote a.txt, 1 lines", "one", "finished"]


def test_what_was_edited_is_judged_when_the_turns_are_used_up(tmp_path: Path, verifier: Any) -> None:
    cut = "<write>shop/cart.py @@ " + RIGHT.replace("max", "min")
    edit = "<edit>shop/cart.py @@ min(prices) @@ max(prices)</edit>"
    rollout, _ = played(verifier, project_task(tmp_path), [cut, edit], turns=2, max_tokens=30)
    assert rollout.turns[0].completion.finish_reason == "length" and not rollout.turns[0].events
    assert rollout.verdict is not None and rollout.verdict.passed


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("<run></run>", "run: write a command"),
        ("<run>exit 3</run>", "[status 3]"),
        ("<run>true</run>", "[no output]"),
        ("<run>echo a; echo b >&2; pwd; git --version | cut -c1-3</run>", "a\n.\ngit\nb"),
        ("<run>pytest -q --collect-only | head -1; python --version | cut -c1-6</run>",
         "tests/test_public.py::test_dearest\nPython"),
        ("<run>seq 100 | tr '\\n' ' ' ; seq 100</run>", None),
        ("<read>nothing.py</read>", "there is no file nothing.py; read . shows what is there"),
        ("<read>logo.bin</read>", "logo.bin is not text"),
        ("<read>shop/cart.py @@ 99</read>", "shop/cart.py has 12 lines"),
        ("<read>shop/cart.py @@ 12</read>", "[lines 12 to 12 of 12]\n    return min(prices)"),
        ("<read>./shop/</read>", "shop/__init__.py\nshop/cart.py\nshop/money.py"),
        ("<read>../x</read>", None),
        ("<read>/etc/passwd</read>", None),
        ("<search>def [</search>", "nothing found"),
        ("<search>sum(</search>", "shop/cart.py:8:    return cents(sum(prices)) * count"),
        ("<search>test_other</search>", "nothing found"),
        ("<edit>shop/cart.py @@ prices @@ x</edit>",
         "edit: the old text is 5 times in shop/cart.py; take more lines with it"),
        ("<edit>shop/cart.py @@ price! @@ x</edit>",
         "edit: the old text is 0 times in shop/cart.py; copy it from the file"),
        ("<edit>shop/cart.py @@  @@ x</edit>",
         "edit: the old text is 0 times in shop/cart.py; copy it from the file"),
        ("<write>tests/conftest.py @@ x = 1</write>",
         "wrote tests/conftest.py, 1 lines; it belongs to the tests, so that does not count"),
        ("<write>a/../../b @@ x</write>", None),
        ("<write>shop @@ x</write>", "wrote shop, 1 lines"),
    ],
)  # fmt: skip
def test_what_tools_say(call: str, said: str | None, tmp_path: Path, verifier: Any) -> None:
    rollout, _ = played(verifier, project_task(tmp_path), [call, "<finish/>"])
    (found, _) = outputs(rollout)
    if said is not None:
        assert found == said
    else:
        assert "root:" not in found and len(found.split("\n")) <= 41 and len(found) < 1500
    assert rollout.stop_reason == "answered"


def test_a_long_file_is_read_in_pages(tmp_path: Path, verifier: Any) -> None:
    texts = ["<run>seq 250 > n.txt</run>", "<read>n.txt</read>", "<read>n.txt @@ 201</read>", "<finish/>"]
    rollout, _ = played(verifier, project_task(tmp_path), texts)
    _, first, last, _ = outputs(rollout)
    assert first.split("\n") == ["[lines 1 to 100 of 250, read on from 101]", *map(str, range(1, 101))]
    assert last.split("\n") == ["[lines 201 to 250 of 250]", *map(str, range(201, 251))]


def test_only_a_newline_ends_a_line_of_a_file(tmp_path: Path, verifier: Any) -> None:
    made = "<run>printf 'a\\fb\\302\\205c\\r\\nsecond\\n' > n.txt</run>"
    rollout, _ = played(
        verifier,
        project_task(tmp_path),
        [made, "<read>n.txt @@ 2</read>", "<search>c @@ n.txt</search>", "<finish/>"],
    )
    _, page, found, _ = outputs(rollout)
    assert page.split("\n") == ["[lines 2 to 2 of 2]", "second"]
    assert [line[:2] for line in found.split("\n")] == ["1:", "2:"]


PRINTED = {
    "seq 1 100000; echo END": [*range(1, 100_001), "END"],
    "echo two >&2; seq 1 1000000; echo END": [*range(1, 1_000_001), "END", "two"],
    "seq 1 60 >&2": range(1, 61),
    "yes éé | head -n 300000": ["éé"] * 300_000,
}


@pytest.mark.parametrize("command", PRINTED)
def test_head_and_tail_are_true_and_so_is_the_count(command: str, tmp_path: Path, verifier: Any) -> None:
    rollout, _ = played(verifier, project_task(tmp_path), [f"<run>{command}</run>", "<finish/>"])
    rows = [str(row) for row in PRINTED[command]]
    gone = rows[20:-20]
    note = f"[{len(gone)} lines, {sum(map(len, gone)) + len(gone)} characters left out]"
    shown = [f"{r[:100]}[{len(r) - 200} characters left out]{r[-100:]}" if len(r) > 200 else r for r in rows]
    assert outputs(rollout)[0].split("\n") == [*shown[:20], note, *shown[-20:]]


@pytest.mark.jail
def test_gigabytes_of_output_take_no_memory(tmp_path: Path, verifier: Any) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lines = "<run>yes | head -c 1500000000; echo END</run>"
    one = "<run>head -c 300000000 /dev/zero | tr '\\0' x; echo END</run>"
    rollout, _ = played(verifier, project_task(tmp_path), [lines, one, "<finish/>"])
    first, second, _ = outputs(rollout)
    gone = 750_000_001 - 40
    assert first.split("\n")[20:] == [f"[{gone} lines, {2 * gone} characters left out]", *["y"] * 19, "END"]
    assert second == f"{'x' * 100}[{300_000_003 - 200} characters left out]{'x' * 97}END"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


HOSTILE = [
    "<run>rm -rf .* *; echo gone</run>",
    "<run>chmod -R 0 . ; mkdir -p " + "d/" * 70 + "</run>",
    "<run>seq -f f%g 20000 | xargs touch</run>",
    "<run>ln -sf /etc/passwd shop/cart.py</run>",
    "<run>sh -c 'sleep 600' & echo started</run>",
    "<run>kill -9 -1</run>",
    "<run>head -c 200000000 /dev/zero > big</run>",
    "<run>mkfifo shop/pipe; rm shop/cart.py; mkdir shop/cart.py</run>",
]


@pytest.mark.parametrize("call", HOSTILE)
def test_a_folder_that_is_spoilt_fails_its_own_play_alone(call: str, tmp_path: Path, verifier: Any) -> None:
    rollout, _ = played(verifier, project_task(tmp_path), [call, "<read>.</read><finish/>"])
    assert rollout.stop_reason == "answered" and rollout.verdict is not None
    assert rollout.verdict.outcome in (Outcome.NO_ANSWER, Outcome.FAILED)


def test_a_function_and_a_single_file_are_played_too(verifier: Any) -> None:
    check = CasesCheck(
        entry_point="f", cases=[Case(args=[2], expected=4, shown=True), Case(args=[5], expected=10)]
    )
    task = Task(statement="Double.", signature="def f(x: int) -> int:", check=check)
    texts = ["<test/>", "<edit>solution.py @@ ... @@ return x + 2</edit><test/>",
             "<edit>solution.py @@ x + 2 @@ 2 * x</edit><test/>"]  # fmt: skip
    for many, passed in ((2, False), (3, True)):
        rollout, _ = played(verifier, task, texts[:many], turns=many)
        assert rollout.verdict is not None and rollout.verdict.passed is passed
        assert "4" in outputs(rollout)[0] and outputs(rollout)[2] == "1 passed"
    edit = EditCheck(
        format="whole-file",
        files={"solution.py": "def f(x):\n    return x\n"},
        judge=check,
        path="solution.py",
    )
    single = Task(statement="Double.", check=edit)
    rollout, _ = played(verifier, single, ["<edit>solution.py @@ return x @@ return 2 * x</edit><finish/>"])
    assert rollout.verdict is not None and rollout.verdict.passed


@pytest.mark.soak(12)
@pytest.mark.parametrize("name", FORMS)
def test_the_expert_solves_repositories_in_many_ways(name: FormName, verifier: Any) -> None:
    tasks = list(load_tasks("toy-repositories:8@3"))
    ways = set()
    for number, task in enumerate(tasks[: 3 if name != "tags" else 8]):
        kind = find_environment(EnvironmentConfig(type="workspace", calls=name))
        expert: Any = bind(kind, "chat")(task)
        texts = list(expert.demonstrate(random.Random(number)))
        rollout, _ = played(verifier, task, texts, calls=name)
        assert rollout.verdict is not None and rollout.verdict.passed, (texts, rollout.verdict)
        assert len(rollout.turns) == len(texts) <= 8
        ways.add(tuple(event.asked.partition("(")[0] for turn in rollout.turns for event in turn.events))
    assert len(ways) >= (5 if name == "tags" else 2)
    again: Any = bind(find_environment(EnvironmentConfig(type="workspace", calls=name)), "chat")(tasks[0])
    assert list(again.demonstrate(random.Random(7))) == list(again.demonstrate(random.Random(7)))


@pytest.mark.rust(20)
def test_a_crate_is_tested_by_cargo_and_mended(verifier: Any) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "pub fn dearest(prices: &[i64]) -> i64 {\n    *prices.iter().max().unwrap()\n}\n",
        "tests/public.rs": "#[test]\nfn of_three() {\n    assert_eq!(shop::dearest(&[1, 3, 2]), 3);\n}\n",
        "tests/secret.rs": "#[test]\nfn of_two() {\n    assert_eq!(shop::dearest(&[5, 4]), 5);\n}\n",
    }
    data = {path: text.encode() for path, text in files.items()}
    failing = ["public::of_three", "secret::of_two"]
    judge = ProjectCheck(project=data_uri(data), digest=digest_of(data), failing=failing)
    wrong = files["src/lib.rs"].replace("max", "min")
    check = EditCheck(
        format="unified-diff",
        files={"src/lib.rs": wrong},
        oracle={"src/lib.rs": files["src/lib.rs"]},
        judge=judge,
    )
    task = Task(
        language="rust", statement="Mend `dearest`.", check=check, metadata={"public_tests": failing[:1]}
    )
    texts = ["<test/>", "<edit>src/lib.rs @@ min @@ max</edit><test/><read>.</read>", "<finish/>"]
    rollout, _ = played(verifier, task, texts)
    first, _, second, there, _ = outputs(rollout)
    assert "of_three" in first and "left: 1" in first and "[status 101]" in first
    assert "test result: ok" in second and "in 0.0s" in second
    assert there == "Cargo.lock\nCargo.toml\nsrc/lib.rs\ntests/public.rs"
    assert rollout.verdict is not None and rollout.verdict.passed, rollout.verdict


OWN = """
import strop

class Saves(strop.Toolbox):
    def save(self, code: str) -> str:
        \"\"\"Writes the solution.\"\"\"
        self.folder.put({"solution.py": code})
        return "saved"
"""


def test_a_prompt_shows_what_no_tool_reads(tmp_path: Path, verifier: Any) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (task,) = load_tasks("python-functions", limit=1)
    tools = f"{tmp_path}/own.py:Saves"
    rollout, _ = played(verifier, task, [f"<save>{task.reference}</save>", "<finish></finish>"], tools=tools)
    assert rollout.verdict is not None and rollout.verdict.passed
    assert f"solution.py:\n{task.signature}\n    ..." in rollout.prompt
    rollout, _ = played(verifier, task, ["<finish></finish>"], only=["write"])
    assert task.signature in rollout.prompt
    rollout, _ = played(verifier, task, ["<finish></finish>"], only=["read", "write"])
    assert "Files:\nsolution.py" in rollout.prompt and task.signature not in rollout.prompt
    edit = project_task(tmp_path)
    rollout, _ = played(verifier, edit, ["<finish></finish>"], tools=tools)
    (path,) = edit.edit.files if edit.edit else ()
    assert f"{path}:\n{FILES[path].splitlines()[0]}" in rollout.prompt
    assert FILES["README.md"].strip() not in rollout.prompt


FAST = """
import strop
from strop.environments.repository_tools import RepositoryTools

class Fast(RepositoryTools):
    @strop.tool(seconds=1)
    def run(self, command: str) -> str:
        \"\"\"Runs a command.\"\"\"
        return super().run(command)
"""


def test_a_limit_is_said_with_its_seconds(tmp_path: Path, verifier: Any) -> None:
    (tmp_path / "own.py").write_text(FAST)
    (task,) = load_tasks("python-functions", limit=1)
    said = ["<run>sleep 60</run>"]
    rollout, _ = played(verifier, task, said, tools=f"{tmp_path}/own.py:Fast", turns=1)
    assert outputs(rollout) == ["[wall limit of 3 s]"]
