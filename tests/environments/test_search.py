"""Searches in real jails: what the tools find and refuse, limits of turns and calls, and how plays end."""

import os
import random
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from strop.config.tasks import EnvironmentConfig
from strop.environments import search_tools, search_tree
from strop.environments.registry import bind, find_environment
from strop.environments.search import ShortNames
from strop.environments.search_pattern import matching, words
from strop.environments.search_tools import SHOWN, SearchTools
from strop.policies.scripted import ScriptedPolicy
from strop.rewards.rubric import BUILTIN
from strop.rollouts.dispatcher import Dispatcher
from strop.rollouts.services import PlayServices, Threads
from strop_verify.core.checks import RetrievalCheck
from strop_verify.core.errors import UserError
from strop_verify.core.play import Opening
from strop_verify.core.rollout import Rollout, SamplingParams
from strop_verify.core.task import Task
from strop_verify.sandbox.programs import Programs

pytestmark = pytest.mark.jail
CART = "class Cart:\n    def total(self, prices):\n        return sum(prices)\n\n"
CART += "    def clear(self):\n        self.items = []\n"
TREE: dict[str, bytes] = {
    "shop/cart.py": CART.encode(),
    "shop/tax.py": "RATE = 0.2  # größer\r\n\ndef tax(total):\n    return total * RATE\n".encode(),
    "shop/-e.py": b"total = 1\n",
    "shop.py": b"total\n",
    ".github/ci.yml": b"total: 3\n",
    ".gitignore": b"shop/\n",
    "logo.png": b"total\0total\n",
    "big.txt": b"total\n" * 200_000,
    "empty.py": b"",
    "open.py": b"no end: total",
    "bad\nname.py": b"total\n",
    "latin.txt": "total caf\u00e9\n".encode("latin-1"),
}  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare repository with the tree above, links out of it, and a loop of links."""
    top = tmp_path_factory.mktemp("made")
    for path, data in TREE.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(data)
    (top / "secret").symlink_to("/etc/passwd")
    (top / "etc").symlink_to("/etc")
    (top / "shop/loop").symlink_to("..")
    (top / ".gitattributes").write_text("*.py export-ignore\nshop.py export-subst\n")
    who = ["-c", "user.name=Ann", "-c", "user.email=a@b", "-c", "core.autocrlf=false"]
    for command in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-qm", "All"]):
        subprocess.run(["git", *who, *command], cwd=top, check=True)
    return top


@pytest.fixture(scope="module")
def task(tree: Path) -> Task:
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tree, check=True, capture_output=True, text=True)
    truth = {"shop/cart.py": [(2, 3)], "shop/tax.py": [(4, 4)]}
    check = RetrievalCheck(tree=str(tree), commit=head.stdout.strip(), truth=truth)
    return Task(family="retrieval", statement="Round the total with tax of a cart.", check=check)


@pytest.fixture(scope="module")
def box(task: Task) -> Iterator[SearchTools]:
    threads, programs = Threads(), Programs()
    box = SearchTools(task, PlayServices(None, threads, programs))  # type: ignore[arg-type]
    yield box
    search_tree.release(task.check)  # type: ignore[arg-type]
    programs.close()
    threads.close()


def test_grep_finds_lines_of_texts_in_the_order_of_names(box: SearchTools) -> None:
    assert box.use("grep", {"pattern": "total"}).split("\n") == [
        ".github/ci.yml:1: total: 3",
        "latin.txt:1: total caf\ufffd",
        "open.py:1: no end: total",
        "shop/-e.py:1: total = 1",
        "shop/cart.py:2:     def total(self, prices):",
        "shop/tax.py:3: def tax(total):",
        "shop/tax.py:4:     return total * RATE",
        "shop.py:1: total",
    ]


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        (r"^\s+def \w+\(self\)", ".", ["shop/cart.py:5:     def clear(self):"]),
        ("def total(", "shop", ["[looked for as a text]", "shop/cart.py:2:     def total(self, prices):"]),
        ("(?i)RETURN.*rate$", "./shop/", ["shop/tax.py:4:     return total * RATE"]),
        ("größ?er", ".", ["shop/tax.py:1: RATE = 0.2  # größer"]),
        ("(?i)TAX(T", ".", ["[looked for as a text]", "shop/tax.py:3: def tax(total):"]),
        ("größ[e]r(", ".", ["[looked for as a text]", "nothing found"]),
        ("total", "shop/-e.py", ["shop/-e.py:1: total = 1"]),
        ("-e", "shop", ["nothing found"]),
        ("total", "logo.png", ["logo.png is not text, or too long"]),
        ("x", "../..", ["there is no file or folder '../..'; glob shows what is there"]),
        ("root", "/etc/passwd", ["there is no file or folder '/etc/passwd'; glob shows what is there"]),
        ("root", "secret", ["there is no file or folder 'secret'; glob shows what is there"]),
        ("root", "etc", ["there is no file or folder 'etc'; glob shows what is there"]),
        ("", ".", ["write a pattern of one line, of 1 to 500 characters"]),
        ("a\nb", ".", ["write a pattern of one line, of 1 to 500 characters"]),
    ],
)
def test_grep_says_what_there_is(box: SearchTools, pattern: str, path: str, found: list[str]) -> None:
    assert box.use("grep", {"pattern": pattern, "path": path}).split("\n") == found


def test_what_is_found_is_cut_and_counted(box: SearchTools, task: Task, tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"f{number:02}.txt").write_text("needle\n" * 50 + "x" * 10_000 + "needle\n")
    many = task.model_copy(update={"check": RetrievalCheck(tree=str(tmp_path), truth={})})
    said = SearchTools(many, box.services).use("grep", {"pattern": "needle"}).split("\n")
    assert len(said) == SHOWN + 1 and len({row.partition(":")[0] for row in said[:-1]}) == SHOWN
    assert re.fullmatch(r"\[40 of (more than )?\d+ lines in \d+ files\]", said[-1])
    assert max(map(len, said)) < 250
    search_tree.release(many.check)  # type: ignore[arg-type]


def test_read_and_glob_stay_inside(box: SearchTools) -> None:
    assert box.use("read", {"path": "./shop/tax.py", "start": 3}) == (
        "[shop/tax.py, lines 3 to 4 of 4]\n3: def tax(total):\n4:     return total * RATE"
    )
    assert box.use("read", {"path": "shop/tax.py", "start": 5}) == "shop/tax.py has 4 lines"
    assert "is not text" in box.use("read", {"path": "big.txt"})
    for path in (
        "../secret",
        "/etc/passwd",
        "secret",
        "etc/passwd",
        "shop/loop/shop.py",
        ".git/HEAD",
        "shop",
        "",
        "\0",
    ):
        assert "there is no file" in box.use("read", {"path": path})
    assert box.use("glob", {"pattern": "*.py"}).split("\n") == [
        "empty.py", "open.py", "shop/-e.py", "shop/cart.py", "shop/tax.py", "shop.py",
    ]  # fmt: skip
    assert box.use("glob", {"pattern": "shop/{cart,tax,none}.py"}).split("\n") == [
        "shop/cart.py",
        "shop/tax.py",
    ]
    assert box.use("glob", {"pattern": "../*"}) == "nothing found"
    assert "expands to more than" in box.use("glob", {"pattern": "{a,b}" * 10})


@pytest.fixture(scope="module", params=["folder", "commit"])
def hostile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RetrievalCheck:
    """Files that are huge, binary, no files, oddly named or deep, links that lead in circles, and one of one line."""
    top = tmp_path_factory.mktemp("hostile")
    with (top / "huge.log").open("wb") as file:
        file.write(b"needle\n")
        file.truncate(100 * 2**20)
    (top / "one.min.js").write_text("needle " * 140_000)  # just short of what is searched
    (top / "binary.bin").write_bytes(b"needle\n\0" * 1000)
    deep = top.joinpath(*["d" * 20] * 40)
    deep.mkdir(parents=True)
    for name in ("a;rm -rf x", "$(touch x)", "--help", "x\u202ey.py", "*", "a b:3.py"):
        (top / name).write_text("needle\n")
    (deep / "deep.py").write_text("needle\n")
    Path(os.fsdecode(os.fsencode(top) + b"/\xff.py")).write_text("needle\n")
    for link, target in (("self", "self"), ("up", ".."), ("a", "b"), ("b", "a"), ("dddd", "d" * 20)):
        (top / link).symlink_to(target)
    if request.param == "folder":
        os.mkfifo(top / "pipe")
        return RetrievalCheck(tree=str(top), truth={})
    git = ["git", "-C", str(top), "-c", "user.name=Ann", "-c", "user.email=a@b", "-c", "core.compression=1"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "All"]):
        subprocess.run([*git, *command], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return RetrievalCheck(tree=str(top), commit=head.stdout.strip(), truth={})


HOSTILE_CALLS: list[tuple[str, dict[str, object], str]] = [
    ("grep", {"pattern": "needle"}, r"\[40 of|\$\(touch x\):1: needle"),
    ("grep", {"pattern": "needle", "path": "huge.log"}, "not text, or too long|no file or folder"),
    ("grep", {"pattern": "needle", "path": "binary.bin"}, "not text, or too long"),
    ("grep", {"pattern": "needle", "path": "one.min.js"}, "^one.min.js:1: needle"),
    ("grep", {"pattern": "needle", "path": "up"}, "no file or folder"),
    ("grep", {"pattern": "needle", "path": "--help"}, "^--help:1: needle$"),
    ("grep", {"pattern": "needle", "path": "*"}, r"^\*:1: needle$"),
    ("grep", {"pattern": "needle", "path": "d" * 5000}, "no file or folder"),
    ("grep", {"pattern": r"(\w+\s*)+$x|(a?){50}a{50}|(e*)*z"}, "nothing found|given up"),
    ("grep", {"pattern": "(((a{200}){200}){200})"}, "looked for as a text"),
    ("grep", {"pattern": "(" * 240 + "a" + ")" * 240}, "nothing found|looked for as a text|[0-9]: "),
    ("grep", {"pattern": "(" * 600}, "write a pattern of one line"),
    ("read", {"path": "huge.log"}, "not text|no file"),
    ("read", {"path": "pipe"}, "there is no file"),
    ("read", {"path": "self"}, "there is no file"),
    ("read", {"path": "one.min.js", "start": 10**30}, "has 1 lines"),
    ("read", {"path": "one.min.js"}, "1: needle needle"),
    ("glob", {"pattern": "**/deep.py"}, "d/deep.py$"),
    ("glob", {"pattern": "**/" * 100 + "[!" * 20}, "nothing found"),
]


@pytest.mark.jail
@pytest.mark.parametrize(
    "call", HOSTILE_CALLS, ids=lambda one: f"{one[0]}-{str(next(iter(one[1].values())))[:12]}"
)
def test_hostile_files_and_patterns_get_a_line_in_time(
    hostile: RetrievalCheck,
    box: SearchTools,
    task: Task,
    call: tuple[str, dict[str, object], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search_tools, "SECONDS", 2.0)
    odd = SearchTools(task.model_copy(update={"check": hostile}), box.services)
    name, arguments, said = call
    began = time.monotonic()
    found = odd.use(name, arguments)
    search_tree.release(hostile)
    assert re.search(said, found, re.MULTILINE), found[:300]
    assert len(found) < 20_000 and "\u202e" not in found and found.isascii()
    assert time.monotonic() - began < 120


def test_globs_take_no_time_that_grows_with_their_stars() -> None:
    began = time.monotonic()
    assert matching("**/" * 60 + "*a" * 100 + "b", ["a" * 200 + "/" + "a" * 200] * 50) == []
    assert time.monotonic() - began < 20


def played(verifier: Any, task: Task, texts: Sequence[str], **options: Any) -> Rollout:
    kind = find_environment(EnvironmentConfig(type="search", **options))
    policy = ScriptedPolicy(lambda prompt, seed, again, left=list(texts): left.pop(0))  # type: ignore[misc]
    dispatcher = Dispatcher(policy, verifier, bind(kind, "chat"))
    (rollout,) = dispatcher.play([task], 1, SamplingParams(max_tokens=4000), seed=1)
    return rollout


def test_calls_of_a_turn_are_answered_in_their_order(verifier: Any, task: Task) -> None:
    calls = "<grep>tax(</grep> and <glob>*.yml</glob>\n<read>shop.py</read><grep>tot @@ shop.py</grep>"
    rollout = played(verifier, task, [calls, "<finish>shop/cart.py:2-3\nshop/tax.py:4</finish>"])
    assert [event.result.split("\n")[-1] for event in rollout.turns[0].events] == [
        "shop/tax.py:3: def tax(total):", ".github/ci.yml", "1: total", "shop.py:1: total",
    ]  # fmt: skip
    assert rollout.verdict is not None and rollout.verdict.passed and rollout.verdict.score == 1
    assert rollout.answer == "shop/cart.py:2-3\nshop/tax.py:4"


@pytest.mark.parametrize(
    ("texts", "reason", "why"),
    [
        (["I do not know."], "malformed", "no tool was called"),
        (["<grep>a</grep>" * 9], "malformed", "write at most 8"),
        (["<grep>a</grep>"] * 4, "max turns", "did not finish"),
        (["<read>a @@ first</read>"], "malformed", "start"),
        (["<finish>in the cart</finish>"], "malformed", "is no place"),
        (["<finish></finish>"], "malformed", "names no place"),
        (["<grep>a</grep><finish>shop.py:1"], "answered", ""),
    ],
)
def test_how_a_play_ends(verifier: Any, task: Task, texts: list[str], reason: str, why: str) -> None:
    rollout = played(verifier, task, texts)
    assert rollout.verdict is not None
    assert (rollout.stop_reason, len(rollout.turns)) == (reason, len(texts))
    assert why in rollout.verdict.detail and not rollout.verdict.score
    rewards = [
        BUILTIN[name](task, rollout, rollout.verdict) for name in ("score", "score_files", "score_lines")
    ]
    assert rewards == [0.0, 0.0, 0.0]


def test_rewards_are_the_parts_of_the_score(verifier: Any, task: Task) -> None:
    rollout = played(verifier, task, ["<finish>shop/cart.py:2-3</finish>"])
    assert rollout.verdict is not None
    score, files, lines = (
        BUILTIN[name](task, rollout, rollout.verdict) or 0.0
        for name in ("score", "score_files", "score_lines")
    )
    assert (files, lines) == (pytest.approx(1.25 / 1.5), pytest.approx(2.5 / 2.75)) and score == (
        files + lines
    ) / 2


@pytest.mark.parametrize("calls", ["tags", "hermes"])
def test_the_expert_finds_all(verifier: Any, task: Task, calls: str) -> None:
    made = find_environment(EnvironmentConfig(type="search", calls=calls))(task, Opening(), None)
    shown = [*made.demonstrate(random.Random(1))]  # type: ignore[attr-defined]
    assert len(shown) == 3
    rollout = played(verifier, task, shown, calls=calls)
    assert rollout.verdict is not None and rollout.verdict.passed


def test_candidates_are_the_best_by_words(verifier: Any, task: Task) -> None:
    among = ["*.py", "!shop.py"]
    kind = find_environment(EnvironmentConfig(type="search", candidates=3, short=True, among=among))
    made: Any = kind(task, Opening(), None)
    asked = made.begin().messages[1].content
    assert asked == (
        "Round the total with tax of a cart.\n\nPlaces with words of the request:\n"
        "f1 = shop/tax.py\nf1:3-4: def tax(total):\nf2 = shop/cart.py\nf2:1-6: class Cart:\n"
        "f3 = shop/-e.py\nf3:1: total = 1"
    )
    (answer,) = made.demonstrate(random.Random(1))
    assert answer == "<finish>f1:3-4\nf2:1-6</finish>"
    rollout = played(verifier, task, [answer], candidates=3, short=True, among=among)
    assert rollout.answer == "shop/tax.py:3-4\nshop/cart.py:1-6" and rollout.verdict is not None
    assert 0.5 < (rollout.verdict.score or 0) < 1


def test_a_task_of_another_kind_and_a_fifth_turn_are_refused(task: Task) -> None:
    with pytest.raises(UserError, match="turns"):
        find_environment(EnvironmentConfig(type="search", turns=5))
    with pytest.raises(UserError, match="strop build retrieval"):
        find_environment("search")(Task(statement="x", check={"kind": "none"}), None, None)  # type: ignore[arg-type]


def test_a_missing_tree_is_our_fault(verifier: Any, task: Task, tmp_path: Path) -> None:
    gone = task.model_copy(
        update={"check": task.check.model_copy(update={"tree": str(tmp_path / "none.git")})}
    )
    rollout = played(verifier, gone, ["<grep>a</grep>"])
    assert rollout.stop_reason == "infra" and rollout.verdict is not None and not rollout.verdict.scored


def test_trees_that_nobody_uses_go_when_there_is_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = []
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "a.txt").write_text("x" * 100)
        checks.append(RetrievalCheck(tree=str(folder), truth={}))
    monkeypatch.setattr(search_tree, "KEPT_BYTES", 150)
    trees = [search_tree.acquire(check) for check in checks]
    assert search_tree.acquire(checks[0]) is trees[0]
    for check in checks:
        search_tree.release(check)
    assert [tree.folder.exists() for tree in trees] == [True, False, True]
    search_tree.release(checks[0])
    assert os.stat(search_tree.trees_folder().parent).st_mode & 0o777 == 0o711


def test_a_machine_without_ripgrep_says_what_to_install(
    task: Task, box: SearchTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_tools.sys, "executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match=r"needs ripgrep: pip install 'strop\[search\]'"):
        SearchTools(task, box.services)


def test_words_of_a_request() -> None:
    assert words("Fix the TTL of get_item when maxSize is zero") == ["get_item", "maxSize", "zero", "TTL"]


def test_files_are_called_by_short_names_once_they_were_shown(verifier: Any, task: Task) -> None:
    names = ShortNames()
    paths = {"shop/cart.py", "shop/tax.py", "a:b.py"}
    said = names.shorten("shop/tax.py:3: def tax\nshop/cart.py:9: x\nshop/tax.py:4: y\n[3 of 3 lines]", paths)
    assert said == "f1 = shop/tax.py\nf1:3: def tax\nf2 = shop/cart.py\nf2:9: x\nf1:4: y\n[3 of 3 lines]"
    assert names.shorten("shop/cart.py\nnothing found", paths) == "f2 = shop/cart.py\nnothing found"
    assert (
        names.read("f2:1-3,7\nf1:4\nf9:1\nother.py:2")
        == "shop/cart.py:1-3,7\nshop/tax.py:4\nf9:1\nother.py:2"
    )
    assert names.read("f1") == "shop/tax.py" and names.write("shop/tax.py:4\nz.py:1") == "f1:4\nz.py:1"
    texts = [
        "<grep>def tax</grep><glob>*cart*</glob>",
        "<read>f2 @@ 2</read>",
        "<finish>f2:2-3\nf1:4</finish>",
    ]
    rollout = played(verifier, task, texts, short=True)
    first, second = (turn.events for turn in rollout.turns[:2])
    assert [event.result.split("\n")[0] for event in (*first, *second)] == [
        "shop/tax.py:3: def tax(total):", "shop/cart.py", "[shop/cart.py, lines 2 to 6 of 6]",
    ]  # fmt: skip
    assert rollout.answer == "shop/cart.py:2-3\nshop/tax.py:4"


def test_globs_say_among_which_files_is_looked(verifier: Any, task: Task) -> None:
    texts = ["<grep>total</grep><glob>*</glob>", "<finish>shop.py:1</finish>"]
    rollout = played(verifier, task, texts, among=["*.py", "!shop/**"])
    assert [event.result.split("\n") for event in rollout.turns[0].events] == [
        ["open.py:1: no end: total", "shop.py:1: total"], ["empty.py", "open.py", "shop.py"],
    ]  # fmt: skip
