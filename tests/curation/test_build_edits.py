"""`strop build edits` on small repositories that the tests make, on rows with patches, on broken programs."""

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import warm
from tests.curation.test_retrieval import Files, Made
from tests.waiting import wait_until

from strop.rewards.rubric import REWARDS
from strop.tasks import load_tasks, write_tasks
from strop.tasks.adapters import ADAPTERS
from strop.tasks.prompts import render, solution
from strop_tasks.curation.edits import LAYOUT, EditSettings
from strop_tasks.curation.edits.file_pairs import of_history
from strop_tasks.curation.edits.history import akin, is_packaging, is_test, names_a_bug, says_enough
from strop_tasks.curation.edits.programs import same_program
from strop_tasks.curation.edits.repository import Commit, Repository
from strop_tasks.curation.engine.tally import LeftOut, Tally
from strop_verify.core.checks import CommandCheck, CommandStep, EditCheck
from strop_verify.core.rollout import Completion, Rollout, Turn
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.edits import FORMATS, EditError, Tolerance, apply_answer
from strop_verify.verification.settings import Settings
from strop_verify.verification.toolchains import build
from strop_verify.verification.verifier import OpenVerifier

STROP = [sys.executable, "-m", "strop.cli"]
SUM = "def add(a, b):\n    return a - b\n\n\ndef double(x):\n    return add(x, x)\n"
FIXED = SUM.replace("a - b", "a + b")
SHOW = 'from sums.core import add\n\n\ndef show(a, b):\n    """As text."""\n    return f"{a} + {b} = {add(a, b)}"\n'


@pytest.fixture
def made(tmp_path: Path, history: Path) -> Made:
    """A copy of the history, to be changed at will."""
    return Made(Path(shutil.copytree(history, tmp_path / "clones" / "someone" / "sums")))


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history in which two commits are tasks of family swe-rl and three of family patch."""
    repo = Made(tmp_path_factory.mktemp("made") / "sums")
    start: Files = {
        "sums/core.py": SUM, "sums/show.py": SHOW, "README.md": "Sums.\n", "logo.png": b"\x89PNG\0\xff",
        "sums/crlf.py": "x = 1\r\ny = 2\r\n", "sums/open.py": "def f():\n    return 1", "tests/test_core.py": "pass\n",
        "other/far.py": "# far away from everything, and never spoken of by any of the others\nz = 1\n",
    }  # fmt: skip
    repo.commit("First version of the sums", start)
    repo.commit(
        "Fix add: it subtracts (#12)\n\nadd(1, 2) gave -1.\n\nSigned-off-by: Ann <a@b>",
        {"sums/core.py": FIXED},
    )
    repo.commit("Count in threes from now on", {"sums/crlf.py": "x = 3\r\ny = 2\r\n"})
    repo.commit(
        "Make a new module and drop the old one",
        {"sums/open.py": None, "sums/new.py": "def g():\n    return 2"},
    )
    repo.commit("Fix the crash of show\n\nCloses #13", {
        "sums/show.py": SHOW.replace("{a} + {b}", "{a!r} + {b!r}"), "README.md": "Sums!\n", "tests/test_core.py": "1\n",
    })  # fmt: skip
    repo.commit("Fix a typo in the words of the readme", {"README.md": "Sums?\n"})
    repo.commit("Bump version to 1.2.3 to release it", {"sums/core.py": FIXED + "V = 1\n"})
    repo.commit("Fix deps of the whole project", {"sums/core.py": FIXED}, author="dependabot[bot] <d@b>")
    repo.commit("fix", {"sums/core.py": FIXED + "W = 1\n"})
    repo.commit('Revert "fix the thing that was wrong"', {"sums/core.py": FIXED})
    repo.commit("Fix the picture of the logo", {"logo.png": b"\x89PNG\0\0"})
    repo.commit("Fix everything there is at once", {"sums/core.py": FIXED + "x = 0\n" * 500})
    repo.commit("Fix everything back to what it was", {"sums/core.py": FIXED})
    repo.git("mv", "sums/show.py", "sums/shown.py")
    repo.commit("Fix the name of a module", {})
    repo.git("checkout", "-q", "-b", "side", "HEAD~3")
    repo.commit("Merge branch that is none of the kind", {"sums/side.py": "y = 1\n"})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "Fix all by a merge of branches", "side")
    repo.commit("Nothing at all was fixed here", {})
    return repo.folder


def edit_check(task: Task) -> EditCheck:
    assert isinstance(task.check, EditCheck)
    return task.check


def made_of(folder: Path, family: str, settings: EditSettings) -> tuple[dict[str, Task], Tally]:
    repository, tally = Repository(folder), Tally(LAYOUT)
    tasks = of_history(repository, repository.commits(100), family, settings, tally)
    return {task.statement.split("\n")[0]: task for task in tasks}, tally


def scored(task: Task, text: str, reward: str) -> float | None:
    completion = Completion(token_ids=[1], logprobs=[0.0], text=text, finish_reason="eos")
    turns = [Turn(prompt_ids=[0], completion=completion)]
    rollout = Rollout(task_id=task.id, index=0, seed=0, prompt="?", turns=turns)
    return REWARDS[reward](task, rollout, Verdict(outcome=Outcome.PASSED))


def test_issues_of_a_history(made: Made) -> None:
    tasks, tally = made_of(made.folder, "swe-rl", EditSettings(format="search-replace", context=2))
    assert list(tasks) == ["Fix the crash of show", "Fix add: it subtracts (#12)"]
    add = tasks["Fix add: it subtracts (#12)"]
    check = edit_check(add)
    assert add.statement == "Fix add: it subtracts (#12)\n\nadd(1, 2) gave -1." and add.language == "python"
    assert check.oracle == {"sums/core.py": FIXED} and check.files["sums/core.py"] == SUM
    assert len(check.files) == 3 and list(check.files) == sorted(check.files)
    assert sorted({*check.files} - {"sums/core.py"}) == add.metadata["unchanged"]
    show = edit_check(tasks["Fix the crash of show"])
    assert list(show.oracle) == ["sums/show.py"], "neither tests nor documents"
    assert "sums/core.py" in show.files or "sums/new.py" in show.files or "sums/crlf.py" in show.files
    assert tally.tasks == 2 and tally.considered == 16 == 2 + sum(tally.left_out.values())
    assert tally.left_out == {
        "names no bug or issue": 2, "changes no existing program": 2, "a bump or release": 1, "by a bot": 1,
        "says too little": 1, "a revert": 1, "changes too many lines": 2, "renames files, or changes links or modes": 1,
        "the first commit": 1, "changes nothing": 1, "a merge": 1,
    }  # fmt: skip


def test_patches_of_a_history(made: Made) -> None:
    tasks, tally = made_of(made.folder, "patch", EditSettings(format="unified-diff", context=3))
    assert list(tasks) == [
        "Make a new module and drop the old one", "Count in threes from now on", "Fix add: it subtracts (#12)",
    ]  # fmt: skip
    moved = edit_check(tasks["Make a new module and drop the old one"])
    assert moved.oracle == {"sums/open.py": None, "sums/new.py": "def g():\n    return 2"}
    crlf = edit_check(tasks["Count in threes from now on"])
    assert crlf.files == {"sums/crlf.py": "x = 1\r\ny = 2\r\n"} and crlf.oracle == {
        "sums/crlf.py": "x = 3\r\ny = 2\r\n"
    }
    assert tally.left_out["changes files other than programs"] == 3


@pytest.mark.parametrize("format", [f for f in FORMATS if f != "infill"])
@pytest.mark.parametrize("family", ["swe-rl", "patch"])
def test_every_task_is_solved_by_its_reference_and_not_by_nothing(
    made: Made, family: str, format: str
) -> None:
    tasks, _ = made_of(made.folder, family, EditSettings(format=format))
    assert len(tasks) >= 2
    toolchain = build("edit", Settings())
    for task in tasks.values():
        check = edit_check(task)
        assert Task.model_validate_json(task.model_dump_json()) == task
        prompt = render(task, "chat")
        said = solution(task, prompt)
        verdicts = toolchain.judge(
            [(task, task.reference), (task, prompt.assemble(said)), (task, "Nothing to do.")]
        )
        assert [v.outcome for v in verdicts] == [Outcome.PASSED, Outcome.PASSED, Outcome.NO_ANSWER]
        after = apply_answer(task.reference, check.files, format, Tolerance.of(*check.tolerance))
        assert {p: after.get(p) for p in check.oracle} == check.oracle
        assert scored(task, task.reference, "edit_similarity") == 1.0
    toolchain.close()


def test_the_published_reward_scores_them(made: Made) -> None:
    tasks, _ = made_of(made.folder, "swe-rl", EditSettings(format="search-replace"))
    for task in tasks.values():
        prompt = render(task, "chat")
        right = solution(task, prompt)
        assert "<solution>" in right and scored(task, right, "published_swe_rl") == 1.0
        assert scored(task, "Nothing to do.", "published_swe_rl") == -1.0
        text = prompt.messages[-1].content
        assert all(f"### {path}" in text for path in edit_check(task).files) and task.statement in text


@pytest.mark.soak(15)
def test_files_that_stay_are_drawn_by_the_seed(made: Made) -> None:
    for number in range(8):
        made.commit(
            f"Add module {number} to it", {f"sums/more{number}.py": f"value_{number} = {number}\n" * 5}
        )
    made.commit("Fix double, see #9", {"sums/core.py": FIXED.replace("(x, x)", "(x, +x)")})
    shown = set()
    for seed in range(4):
        one, again = (
            made_of(made.folder, "swe-rl", EditSettings(format="search-replace", seed=seed, context=2))[0][
                "Fix double, see #9"
            ]
            for _ in range(2)
        )
        assert one == again
        shown.add(tuple(edit_check(one).files))
    assert len(shown) > 1
    short = EditSettings(format="search-replace", context=2, max_chars=len(FIXED) + 10)
    few, _ = made_of(made.folder, "swe-rl", short)
    assert list(edit_check(few["Fix double, see #9"]).files) == ["sums/core.py"]
    none, tally = made_of(
        made.folder, "swe-rl", EditSettings(format="search-replace", max_chars=len(FIXED) - 1)
    )
    assert "Fix double, see #9" not in none and tally.left_out["has files that are too long"]


def test_what_is_spoken_of_is_akin() -> None:
    paths = {f"a/m{n}.py": 100 for n in range(20)} | {
        "b/mail.py": 100,
        "b/test_mail.py": 100,
        "b/mail.md": 100,
    }
    chosen = akin(paths, {"a/x.py": "import mail\n"}, "mail is lost", 1, 1000, 0)
    pools = {akin(paths, {"a/x.py": "import mail\n"}, "mail is lost", 1, 1000, seed)[0] for seed in range(40)}
    assert len(chosen) == 1 and "b/mail.py" in pools and len(pools) == 4
    assert (
        akin(paths, {"a/x.py": ""}, "", 3, 250, 0) != []
        and len(akin(paths, {"a/x.py": ""}, "", 3, 250, 0)) == 2
    )


_NAMES = st.lists(
    st.text(st.sampled_from('ab ü"*.-'), min_size=1, max_size=6), min_size=1, max_size=5, unique=True
)
_TEXTS = st.text(st.sampled_from("ab +-@\\\n\r\t\f\u2028é"), max_size=30)


@settings(max_examples=8, deadline=None)
@given(names=_NAMES, data=st.data())
def test_texts_are_read_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], data: Any
) -> None:
    repo = Made(tmp_path_factory.mktemp("r") / "x")
    wanted = {f"f{name}x": data.draw(_TEXTS) for name in names}
    repo.commit("All", {**wanted, "bin": b"\xff\0", ".gitattributes": "* text eol=crlf -diff\n"})
    repo.git("config", "core.attributesFile", "/dev/null")
    reader = Repository(repo.folder)
    head = reader.resolve("HEAD")
    raw = {name: repo_bytes(repo, f"HEAD:{name}") for name in wanted}
    assert reader.texts(head, [*wanted, "bin", "not there"]) == {
        name: text.decode() for name, text in raw.items()
    }
    sizes = reader.paths(head)
    assert all(sizes[name] == len(text) for name, text in raw.items())


def repo_bytes(repo: Made, name: str) -> bytes:
    return subprocess.run(
        ["git", "cat-file", "blob", name], cwd=repo.folder, check=True, capture_output=True
    ).stdout


def test_a_foreign_repository_runs_nothing(made: Made, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    for name in (
        "diff.external",
        "diff.py.textconv",
        "diff.py.command",
        "filter.py.smudge",
        "core.fsmonitor",
        "core.pager",
    ):
        made.git("config", name, str(trap))
    made.commit(
        "Fix it by attributes, #3", {".gitattributes": "*.py diff=py\n", "sums/core.py": FIXED + "Q = 1\n"}
    )
    (tmp_path / "sprung").unlink(missing_ok=True)
    tasks, _ = made_of(made.folder, "swe-rl", EditSettings(format="search-replace"))
    assert "Fix it by attributes, #3" in tasks and not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Merge pull request #3 from a/b", "a merge"),
        ("Bump a from 1 to 2 in the lock file", "a bump or release"),
        ("chore(deps): update all the things", "a bump or release"),
        ("v1.2.3", "a bump or release"),
        ("This reverts commit 0123abc of last week", "a revert"),
        ("wip", "says too little"),
        ("Signed-off-by: Ann Bee <a@b>", "says too little"),
        ("Fix it all. " * 1000, "says too much"),
    ],
)
def test_messages_that_say_no_task(message: str, reason: str) -> None:
    with pytest.raises(LeftOut, match=reason):
        says_enough(Commit("1", "0", "Ann <a@b>", "2024-01-01", message))


@pytest.mark.parametrize("message", ["Fixes the sum", "see #12", "a bug in it", "Closes it"])
def test_messages_that_name_a_bug(message: str) -> None:
    names_a_bug(message)


@pytest.mark.parametrize(
    "message", ["Add a prefix", "Debugging aids", "Colour &#123; names", "Suffixes of it"]
)
def test_messages_that_name_none(message: str) -> None:
    with pytest.raises(LeftOut):
        names_a_bug(message)


def test_names_of_tests() -> None:
    names = ["tests/a.py", "a/test_b.py", "a/b_test.go", "a/conftest.py", "x.spec.ts", "test.py", "tests.py"]
    assert all(map(is_test, names))
    assert not any(map(is_test, ["a/latest.py", "contest/a.py", "a/testify.py", "attest.py", "a/test.py"]))


def test_names_of_packaging() -> None:
    assert all(
        map(
            is_packaging,
            ["setup.py", "lib/setup.py", "a/_version.py", "docs/conf.py", "build.rs", "x.config.js"],
        )
    )
    assert not any(
        map(is_packaging, ["a/build.py", "a/conf.py", "a/setups.py", "a/tasks.py", "conversion.py"])
    )


@pytest.mark.parametrize(
    ("path", "before", "after", "same"),
    [
        ("a.py", "def f():\n    'old'\n    return 1\n", "def f():\n    # said\n    return (1)\n", True),
        ("a.py", "x = 1\n", "x = 2\n", False),
        ("a.py", "x = 'a'\n", "x = 'b'\n", False),
        ("a.py", "x = (\n", "x = ( \n", False),
        ("a.rs", "fn f() { 1 } // one\n", "/// One.\nfn f() {\n    1\n}\n", True),
        ("a.c", 'p("// a");', 'p("// b");', False),
        ("a.go", "a b", "ab", False),
        ("a.rb", "x # a\n", "x # b\n", False),
    ],
)
def test_changes_of_comments_docstrings_and_layout(path: str, before: str, after: str, same: bool) -> None:
    assert same_program(path, before, after) is same


def test_only_the_statements_that_changed_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    monkeypatch.setattr(
        "strop_tasks.curation.edits.programs._shape", lambda tree: looked.append(tree) or ast.dump(tree)
    )
    before = "".join(f"def f{number}(x):\n    return x + {number}\n" for number in range(500))
    assert same_program("a.py", before, "# Moved.\n" + before.replace("x + 7\n", "(x + 7)\n"))
    assert not same_program("a.py", before, before.replace("x + 8\n", "x - 8\n"))
    assert same_program("a.py", "x = 1; y = 2", "y = 2; x = 1") is False
    assert 4 <= len(looked) <= 8


def test_files_that_are_too_long_are_not_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strop_tasks.curation.edits.file_pairs.same_program", pytest.fail)
    made = Made(tmp_path / "long")
    made.commit("Add up and double numbers", {"a.py": SUM})
    made.commit("Fix what is added up", {"a.py": FIXED})
    _, tally = made_of(made.folder, "patch", EditSettings(format="unified-diff", max_chars=20))
    assert tally.left_out == {"the first commit": 1, "has files that are too long": 1}


def test_commits_that_change_no_code_make_no_task(tmp_path: Path) -> None:
    made = Made(tmp_path / "quiet")
    made.commit("Add up and double numbers", {"a.py": SUM, "setup.py": "version = 1\n"})
    made.commit("Fix the words of the docstring", {"a.py": "# Sums.\n" + SUM})
    made.commit("Fix the version that is told", {"setup.py": "version = 2\n"})
    made.commit("Fix what is added up", {"a.py": FIXED})
    for family, form in (("swe-rl", "search-replace"), ("patch", "unified-diff")):
        tasks, tally = made_of(made.folder, family, EditSettings(format=form))
        assert list(tasks) == ["Fix what is added up"]
        assert tally.left_out == {
            "the first commit": 1, "changes only comments, docstrings or layout": 1,
            "changes only how the project is built or its version": 1,
        }  # fmt: skip


@pytest.fixture
def strop(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def call(*words: object) -> subprocess.CompletedProcess[str]:
        return warm.strop(*words, cwd=tmp_path)

    return call


def read(path: Path) -> list[Task]:
    return [Task.model_validate_json(line) for line in path.read_text().splitlines()]


def row_of(made: Made, name: str, commit: str, **more: Any) -> dict[str, Any]:
    """A row of SWE-bench whose patch is a commit of the repository."""
    fields: dict[str, Any] = {
        "repo": "someone/sums", "instance_id": name, "base_commit": made.git("rev-parse", f"{commit}^"),
        "patch": made.git("diff", f"{commit}^", commit, "--", "sums") + "\n", "test_patch": "",
        "problem_statement": "add() subtracts.", "FAIL_TO_PASS": ["tests/test_core.py::t"], "PASS_TO_PASS": [],
        "created_at": "2023-07-19T08:15:30Z",
    }  # fmt: skip
    return {**fields, **more}


@pytest.mark.soak(15)
def test_rows_get_their_files_from_clones(
    made: Made, tmp_path: Path, strop: Callable[..., Any], verifier: OpenVerifier
) -> None:
    commits = made.git("log", "--format=%H", "--reverse", "main").split("\n")
    rows = [
        row_of(made, "a", commits[1]),
        row_of(made, "b", commits[3]),
        row_of(made, "c", commits[1], repo="someone/else"),
        row_of(made, "d", commits[1], base_commit="0" * 40),
        row_of(made, "e", commits[1], base_commit=commits[2]),
        row_of(made, "f", commits[1], problem_statement=""),
        row_of(made, "g", commits[1], FAIL_TO_PASS=[]),
        row_of(made, "h", commits[1], repo="../someone/sums"),
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["rows.jsonl", "-o", "out.jsonl", "--family", "swe-rl", "--repositories", "clones"]
    done = strop("build", "edits", *words)
    assert done.returncode == 0, done.stderr
    first, second = read(tmp_path / "out.jsonl")
    assert (first.id, first.family, first.topic) == ("a:search-replace", "swe-rl", "someone/sums")
    assert first.statement == "add() subtracts." and first.metadata["date"] == "2023-07-19"
    assert edit_check(first).oracle == {"sums/core.py": FIXED} and len(edit_check(first).files) == 2
    assert edit_check(second).oracle == {"sums/open.py": None, "sums/new.py": "def g():\n    return 2"}
    manifest = json.loads((tmp_path / "out.jsonl.manifest.json").read_text())
    assert manifest["left_out"] == {
        "a row that makes no task": 1, "its commit is not in the clone of someone/sums": 1,
        "its patch does not apply (not-found)": 1, "no clone of ../someone/sums": 1, "no clone of someone/else": 1,
        "says nothing": 1,
    }  # fmt: skip
    assert (manifest["tasks"], manifest["considered"]) == (
        2,
        8,
    ) and "2 tasks from 8 candidates" in done.stdout
    before = (tmp_path / "out.jsonl").read_bytes()
    shutil.move(tmp_path / "clones" / "someone" / "sums", tmp_path / "clones" / "someone__sums")
    assert strop("build", "edits", *words).returncode == 0 and (tmp_path / "out.jsonl").read_bytes() == before
    assert all(
        verifier.verify(task, task.reference).passed for task in load_tasks(str(tmp_path / "out.jsonl"))
    )


def test_bugs_of_swe_smith_are_taken_out(made: Made, tmp_path: Path, strop: Callable[..., Any]) -> None:
    base = made.git("rev-parse", "main")
    made.git("checkout", "-q", "-b", "sums.lm__1", "main")
    made.commit("Bug", {"sums/core.py": SUM})
    row = {
        "instance_id": "sums.lm__1", "patch": made.git("diff", base, "HEAD") + "\n", "FAIL_TO_PASS": ["t::a"],
        "PASS_TO_PASS": [], "image_name": "i", "repo": "swesmith/sums", "problem_statement": "add(1, 2) gives -1.",
    }  # fmt: skip
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    done = strop(
        "build",
        "edits",
        "rows.jsonl",
        "-o",
        "o.jsonl",
        "--family",
        "swe-rl",
        "--repositories",
        "clones/someone",
    )
    assert done.returncode == 0, done.stderr
    (task,) = read(tmp_path / "o.jsonl")
    assert edit_check(task).files["sums/core.py"] == SUM and edit_check(task).oracle == {
        "sums/core.py": FIXED
    }


def test_the_command_on_a_history(made: Made, tmp_path: Path, strop: Callable[..., Any]) -> None:
    done = strop("build", "edits", made.folder, "-o", "p.jsonl.gz", "--family", "patch", "--limit", 2)
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "p.jsonl.gz.manifest.json").read_text())
    assert manifest["tasks"] == 2 and manifest["settings"]["format"] == "unified-diff"
    listed = strop("tasks", "list", "p.jsonl.gz").stdout.splitlines()
    assert len(listed) == 2
    shown = strop("tasks", "show", listed[0].split("\t")[0], "-s", "p.jsonl.gz", "--style", "chat")
    assert shown.returncode == 0 and "--- reference ---" in shown.stdout, shown.stderr


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["nowhere", "--family", "patch"], "'nowhere' is not a folder"),
        (["plain", "--family", "patch"], "git cannot read it"),
        (["clones/someone/sums/sums", "--family", "patch"], "name the repository's own folder"),
        (["clones/someone/sums", "--family", "patch", "--repositories", "clones"], "--repositories is for"),
        (["clones/someone/sums", "--family", "patch", "--newest", "1"], "1 changes nothing"),
        (["clones/someone/sums", "--family", "patch", "--format", "unified"], "did you mean 'unified-diff'"),
        (["python-functions", "--family", "fix-compile"], "no broken program"),
        (["x.jsonl", "--family", "swe-rl", "--repositories", "none"], "no such folder"),
        (["x.jsonl", "--family", "vulnerability", "--format", "infill"], "is a label"),
    ],
)
def test_mistakes_are_said_in_one_line_and_leave_nothing(
    made: Made, tmp_path: Path, strop: Callable[..., Any], words: list[str], cause: str
) -> None:
    (tmp_path / "plain").mkdir()
    done = strop("build", "edits", *words, "-o", "o.jsonl")
    assert done.returncode == 2 and cause in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clones", "plain"]


def test_an_interrupt_leaves_no_file(made: Made, tmp_path: Path) -> None:
    for number in range(25):
        made.commit(f"Fix number {number} of the sums", {"sums/core.py": FIXED + f"N = {number}\n"})
    words = ["build", "edits", str(made.folder), "-o", "o.jsonl", "--family", "swe-rl"]
    with subprocess.Popen([*STROP, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        wait_until(lambda: list(tmp_path.glob(".o.jsonl*")), running)
        os.kill(running.pid, signal.SIGINT)
        said = running.communicate(timeout=300)[1]
    assert running.returncode == 130 and "interrupted" in said and "Traceback" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clones"]


C_GOOD = '#include <stdio.h>\n\nint main(void)\n{\n    puts("yes");\n    return 0;\n}\n'


def c_task(name: str, broken: str, reference: str = C_GOOD) -> Task:
    steps = [
        CommandStep(stage="build", argv=["gcc", "-o", "main", "main.c"]),
        CommandStep(stage="test", argv=["./main"], stdout="yes\n"),
    ]
    return Task(
        id=name, language="c", statement="Print yes.", reference=reference, split="train",
        check=CommandCheck(path="main.c", steps=steps), metadata={"broken": broken},
    )  # fmt: skip


@pytest.mark.needs("gcc")
def test_c_programs_that_do_not_compile(
    tmp_path: Path, strop: Callable[..., Any], verifier: OpenVerifier
) -> None:
    tasks = [
        c_task("semicolon", C_GOOD.replace('puts("yes");', 'puts("yes")')),
        c_task("builds", C_GOOD.replace("yes", "no")),
        c_task("wrong reference", C_GOOD.replace(";", ""), C_GOOD.replace("yes", "no")),
        c_task("same", C_GOOD),
        Task(id="none", language="c", statement="?", reference=C_GOOD, split="train", check=tasks_check()),
    ]
    write_tasks(tasks, tmp_path / "c.jsonl")
    done = strop("build", "edits", "c.jsonl", "-o", "o.jsonl", "--family", "fix-compile", "--workers", 1)
    assert done.returncode == 0, done.stderr
    (task,) = read(tmp_path / "o.jsonl")
    check = edit_check(task)
    assert (task.family, task.split, task.metadata["original"]) == ("fix-compile", "train", "semicolon")
    assert (
        "The compiler says:" in task.statement
        and "expected" in task.statement
        and "Print yes." in task.statement
    )
    assert check.judge == tasks[0].check and check.oracle == {check.path: C_GOOD}
    manifest = json.loads((tmp_path / "o.jsonl.manifest.json").read_text())
    assert (
        manifest["left_out"]["no broken program"] == 1
        and manifest["left_out"]["the broken program builds"] == 1
    )
    assert manifest["left_out"]["the reference does not pass"] == 1 and manifest["considered"] == 5
    wrong = task.reference.replace('puts("yes");', 'puts("no");')
    outcomes = [verifier.verify(task, answer).outcome for answer in (task.reference, wrong, "No idea.")]
    assert outcomes == [Outcome.PASSED, Outcome.FAILED, Outcome.NO_ANSWER]


def tasks_check() -> CommandCheck:
    return CommandCheck(path="main.c", steps=[CommandStep(stage="test", argv=["true"])])


@pytest.mark.rust(9)
def test_rust_programs_that_do_not_compile(tmp_path: Path, strop: Callable[..., Any]) -> None:
    made_first = strop("build", "rust-fix", "-o", "rust.jsonl", "--limit", 3, "--per-task", 4, "--seed", 7)
    assert made_first.returncode == 0, made_first.stderr
    broken = {task.id: task for task in read(tmp_path / "rust.jsonl")}
    done = strop("build", "edits", "rust.jsonl", "-o", "o.jsonl", "--family", "fix-compile")
    assert done.returncode == 0, done.stderr
    tasks = read(tmp_path / "o.jsonl")
    expected = [t for t in broken.values() if t.metadata["error_code"]]
    assert {t.metadata["original"] for t in tasks} == {t.id for t in expected} and tasks
    for task in tasks:
        original = broken[task.metadata["original"]]
        assert original.metadata["message"].strip("\n") in task.statement and task.split == original.split
        with pytest.raises(EditError):
            apply_answer("", edit_check(task).files, "search-replace")


def test_lines_taken_out_of_references(tmp_path: Path, strop: Callable[..., Any], verifier: Any) -> None:
    words = [
        "build",
        "edits",
        "python-functions",
        "--family",
        "infill",
        "--holes",
        3,
        "--limit",
        12,
        "-o",
        "o.jsonl",
    ]
    done = strop(*words)
    assert done.returncode == 0, done.stderr
    found, originals = read(tmp_path / "o.jsonl"), {task.id: task for task in load_tasks("python-functions")}
    assert len(found) == 12
    for task in found:
        check = edit_check(task)
        ((path, hole),) = check.files.items()
        whole = originals[str(task.metadata["original"]).rpartition("/")[0]]
        before, after = hole.split("<FILL>")
        assert check.oracle == {path: whole.reference.rstrip("\n") + "\n"}
        assert check.function in before and whole.reference.rstrip().endswith(after.rstrip())
        missing = len(whole.reference.rstrip().splitlines()) - len((before + after).split("\n")) + 1
        assert task.family == "infill" and task.split == whole.split and 0 <= missing <= 4
        assert verifier.verify(task, task.reference).passed
        assert not verifier.verify(task, "```python\n```").passed


def test_pairs_of_primevul(tmp_path: Path, strop: Callable[..., Any]) -> None:
    maker = ADAPTERS["primevul"].sample
    assert maker is not None
    vulnerable, fixed, alone = maker()
    second = {"commit_id": "ab" * 20, "idx": 1}
    rows = [
        vulnerable,
        fixed,
        alone,
        {**fixed, **second},
        {**vulnerable, **second, "idx": 2},
        {**fixed, "cwe": ["CWE-1"]},
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = strop("build", "edits", "primevul:p.jsonl", "-o", "o.jsonl", "--family", "vulnerability")
    assert done.returncode == 0, done.stderr
    tasks = read(tmp_path / "o.jsonl")
    assert [t.id.rpartition("/")[2] for t in tasks] == ["vulnerable", "fixed"] * 2
    assert [t.reference for t in tasks[:2]] == ["Answer: CWE-125\nLines: 4", "Answer: safe\nLines: none"]
    assert [t.metadata["pair"] for t in tasks] == [
        f"primevul/strings@{c}" for c in [vulnerable["commit_id"]] * 2 + ["ab" * 20] * 2
    ]
    assert all(scored(t, t.reference, "cites_fix") == 1.0 for t in tasks)
    manifest = json.loads((tmp_path / "o.jsonl.manifest.json").read_text())
    assert manifest["left_out"] == {"a row that makes no task": 1, "no neighbour of the other kind": 1}
