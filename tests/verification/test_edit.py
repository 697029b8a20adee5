"""Edits judged: what applies goes to the task's own check, what does not has failed, and a bad task is an error."""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pytest

from strop_verify.core.checks import (
    AssertsCheck,
    Case,
    CasesCheck,
    Check,
    EditCheck,
    LabelCheck,
    ProjectCheck,
    PytestCheck,
)
from strop_verify.core.errors import VerificationError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.edits import FORMATS
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier
from strop_verify.verification.edit import MAX_ANSWER, EditToolchain, edited
from strop_verify.verification.pool.job_queue import task_digest
from strop_verify.verification.pool.pool import VerifierPool
from strop_verify.verification.settings import Settings
from strop_verify.verification.toolchains import build

BUGGY = "def inc(x):\n    y = x\n    return y - 1\n"
FIXED = "def inc(x):\n    y = x\n    return y + 1\n"
CASES = CasesCheck(entry_point="inc", cases=[Case(args=[1], expected=2), Case(args=[-1], expected=0)])
FIX = "```\n<<<<<<< SEARCH\n    return y - 1\n=======\n    return y + 1\n>>>>>>> REPLACE\n```\n"


@pytest.fixture(scope="module")
def verifier() -> Iterator[VerifierPool]:
    with open_verifier(workers=1, limits=Limits(cpu_seconds=2, wall_seconds=20)) as opened:
        yield opened


def task(**changes: Any) -> Task:
    check = {
        "format": "search-replace",
        "files": {"inc.py": BUGGY},
        "oracle": {"inc.py": FIXED},
        "judge": CASES,
        "path": "inc.py",
    }
    return Task(statement="Mend it.", check=EditCheck.model_validate({**check, **changes}))


@pytest.mark.parametrize("form", FORMATS)
def test_the_oracle_passes_in_every_format(form: str, verifier: VerifierPool) -> None:
    given = task(format=form)
    answer = FORMATS[form].render({"inc.py": BUGGY}, {"inc.py": FIXED})
    for text in (answer, f"<think>\nThe sign.\n</think>\n<answer>\n{answer}</answer>"):
        verdict = verifier.verify(given, text)
        assert verdict.passed, verdict
        assert [(s.name, s.passed) for s in verdict.stages] == [("build", True), ("test", True)]
        assert [t.id for t in verdict.tests] == [t.id for t in verifier.verify(own(), FIXED).tests]


def own() -> Task:
    return Task(statement="Write inc.", check=CASES)


def test_an_edit_that_does_something_else_fails_its_tests(verifier: VerifierPool) -> None:
    verdict = verifier.verify(task(), FIX.replace("y + 1", "y + 2"))
    assert verdict.outcome is Outcome.FAILED and verdict.stages[0].passed and len(verdict.tests) == 2
    broken = verifier.verify(task(), FIX.replace("y + 1", "y +"))
    assert broken.outcome is Outcome.FAILED and not broken.passed


@pytest.mark.parametrize(
    ("answer", "outcome", "said"),
    [
        ("I cannot see what is wrong.", Outcome.NO_ANSWER, "no-edit"),
        ("", Outcome.NO_ANSWER, "empty"),
        ("<think>\n" + FIX + "</think>\nDone.", Outcome.NO_ANSWER, "no-edit"),
        (FIX.replace(">>>>>>> REPLACE", ""), Outcome.FAILED, "bad-syntax"),
        (FIX.replace("y - 1", "z - 1"), Outcome.FAILED, "not-found"),
        (FIX.replace("y + 1", "y - 1"), Outcome.FAILED, "no-change"),
        ("### ../inc.py\n" + FIX, Outcome.FAILED, "bad-path"),
        ("### /etc/passwd\n" + FIX, Outcome.FAILED, "bad-path"),
        ("### other.py\n" + FIX, Outcome.FAILED, "no-file"),
        ("### inc.py (deleted)\n", Outcome.FAILED, "inc.py"),
        ("### inc.py (renamed to b.py)\n" + FIX, Outcome.FAILED, "b.py"),
        (
            FIX + "### b.py\n```\n<<<<<<< SEARCH\n=======\nimport os\n>>>>>>> REPLACE\n```\n",
            Outcome.FAILED,
            "b.py",
        ),
        ("x" * (MAX_ANSWER + 1), Outcome.FAILED, "longer"),
    ],
)
def test_what_cannot_be_applied(answer: str, outcome: Outcome, said: str, verifier: VerifierPool) -> None:
    verdict = verifier.verify(task(), answer)
    assert verdict.outcome is outcome and said in verdict.detail and not verdict.tests
    if answer:
        assert [(s.name, s.passed) for s in verdict.stages] == [("build", False)]


def test_without_a_judge_the_files_must_be_the_oracles(verifier: VerifierPool) -> None:
    given = task(judge=None, path="")
    assert verifier.verify(given, FIX).passed
    other = verifier.verify(given, FIX.replace("y + 1", "1 + y"))
    assert other.outcome is Outcome.FAILED and other.stages[0].passed and not other.stages[1].passed
    two = task(judge=None, path="", files={"inc.py": BUGGY, "b.py": "b\n"}, oracle={"b.py": None})
    assert verifier.verify(two, FORMATS["search-replace"].render(two_files(), {"inc.py": BUGGY})).passed
    assert not verifier.verify(two, "### inc.py\n" + FIX).passed


def two_files() -> dict[str, str]:
    return {"inc.py": BUGGY, "b.py": "b\n"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "sr"}, "no edit format"),
        ({"tolerance": ["everything"]}, "no tolerance"),
        ({"judge": None, "oracle": {}}, "neither a judge nor an oracle"),
        ({"judge": LabelCheck(choices=["a", "b"], expected="a")}, "kind 'label'"),
        ({"judge": EditCheck(format="infill", files={}, oracle={"a": "b"})}, "kind 'edit'"),
        ({"judge": {"kind": "workspace", "argv": ["true"]}}, "workspace"),
        ({"path": "b.py"}, "not one of its files"),
        ({"path": ""}, "not one of its files"),
    ],
)
def test_a_task_at_fault_is_an_error_and_never_a_zero(
    changes: dict[str, Any], said: str, verifier: VerifierPool
) -> None:
    verdict = verifier.verify(task(**changes), FIX)
    assert verdict.outcome is Outcome.ERROR and said in verdict.detail


def test_tolerance_is_what_the_task_allows(verifier: VerifierPool) -> None:
    shifted = FIX.replace("    return", "return")
    assert verifier.verify(task(), shifted).outcome is Outcome.FAILED
    assert verifier.verify(task(tolerance=["indentation"]), shifted).passed


def test_other_judges(verifier: VerifierPool) -> None:
    asserts = AssertsCheck(entry_point="inc", code="assert inc(1) == 2\nassert inc(0) == 1")
    suite = PytestCheck(
        path="solution.py",
        files={"test_inc.py": "from solution import inc\n\ndef test_one():\n    assert inc(1) == 2\n"},
        tests=["test_inc.py::test_one"],
    )
    for judge in (asserts, suite):
        assert verifier.verify(task(judge=judge), FIX).passed
        assert verifier.verify(task(judge=judge), FIX.replace("+ 1", "+ 3")).outcome is Outcome.FAILED


def test_the_edited_code_has_the_judges_limits(verifier: VerifierPool) -> None:
    forever = FIX.replace("return y + 1", "while True: pass")
    assert verifier.verify(task(), forever).outcome is Outcome.TIMED_OUT
    leaver = FIX.replace("    return y + 1", "    import os\n    os._exit(0)")
    assert verifier.verify(task(), leaver).outcome in (Outcome.FAILED, Outcome.TAMPERED)


def test_a_file_that_the_edit_empties_has_failed(verifier: VerifierPool) -> None:
    verdict = verifier.verify(task(format="whole-file"), "```\n```\n")
    assert verdict.outcome is Outcome.FAILED


def test_the_reference_that_a_judge_sees_is_a_file_not_an_edit() -> None:
    found = edited(task(), FIX)
    assert not isinstance(found, Verdict)
    inner, text = found
    assert (inner.reference, text, inner.check) == (FIXED, FIXED, CASES)


PROJECT = ProjectCheck(
    project="p.tar.gz",
    digest="0",
    files={"trusted.py": "1\n", "old.py": "old\n"},
    removed=["gone.py"],
    failing=["t"],
)


def in_project(answer: str, files: dict[str, str]) -> Verdict | ProjectCheck:
    found = edited(task(judge=PROJECT, path="", files=files, format="whole-file"), answer)
    if isinstance(found, Verdict):
        return found
    assert isinstance(found[0].check, ProjectCheck) and found[1] == ""
    return found[0].check


def test_a_project_gets_every_file_of_the_check_as_it_is_after_the_edit() -> None:
    files = {"a.py": "a\n", "b.py": "b\n", "old.py": "older\n"}
    answer = "### a.py\n```\nnew\n```\n### old.py (deleted)\n### gone.py (new)\n```\nback\n```\n"
    check = in_project(answer, files)
    assert isinstance(check, ProjectCheck)
    assert check.files == {"a.py": "new\n", "b.py": "b\n", "gone.py": "back\n", "trusted.py": "1\n"}
    assert check.removed == ["old.py"]
    refused = in_project("### trusted.py\n```\n2\n```\n", files)
    assert isinstance(refused, Verdict) and "trusted.py" in refused.detail


def test_edits_wait_with_those_of_the_same_judge_and_go_together() -> None:
    rust: dict[str, Any] = {"kind": "rust", "tests": "#[test] fn t() {}"}
    as_rust = task(judge=rust).model_copy(update={"language": "rust"})
    assert [t.toolchain() for t in (task(), as_rust, task(judge=None))] == [
        "edit:python",
        "edit:rust",
        "edit",
    ]
    toolchain = build("edit:rust", Settings())
    assert toolchain.batch == build("rust", Settings()).batch > 1
    with pytest.raises(VerificationError):
        task(judge={"kind": "workspace", "argv": ["true"]}).toolchain()


class Counting:
    """A judge that writes down how it was called, and finds fault with tasks named bad."""

    batch = 3

    def __init__(self) -> None:
        self.calls: list[int] = []

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        self.calls.append(len(jobs))
        if jobs[0][0].topic == "bad":
            raise VerificationError("bad task")
        return [Verdict(outcome=Outcome.PASSED, detail=text) for _, text in jobs]

    def close(self) -> None:
        """Nothing to end."""


def test_batches_are_judged_together_and_one_bad_task_spoils_no_other() -> None:
    toolchain, counting = EditToolchain(partial(build, settings=Settings())), Counting()
    toolchain._judges["python"] = counting
    bad = task().model_copy(update={"topic": "bad"})
    answers = [FIX.replace("y + 1", f"y + {n}") for n in range(6)]
    jobs = [
        (bad, FIX),
        *[(task(), a) for a in answers[:4]],
        (task(), "nothing"),
        (task(format="?"), FIX),
        (task(), answers[4]),
    ]
    verdicts = toolchain.judge(jobs)
    assert [v.outcome.value for v in verdicts] == [
        "error",
        *["passed"] * 4,
        "no answer",
        "error",
        "passed",
    ]
    assert [f"y + {n}" in verdicts[n + 1].detail for n in range(4)] == [True] * 4
    assert "y + 4" in verdicts[7].detail and counting.calls == [3, 3, 2]


def test_the_cache_tells_edit_checks_apart() -> None:
    checks: list[dict[str, Any]] = [
        {},
        {"tolerance": ["offset"]},
        {"format": "unified-diff"},
        {"oracle": {}},
        {"judge": None},
    ]
    checks += [{"judge": CASES.model_copy(update={"tolerance": 0.1})}, {"files": {"inc.py": FIXED}}]
    assert len({task_digest(task(**c).model_copy(update={"id": "same"})) for c in checks}) == len(checks)


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_edits_get_a_verdict_soon(form: str, verifier: VerifierPool) -> None:
    given = task(format=form, tolerance=["line_ends", "trailing_space", "indentation", "offset"])
    deep = "/".join(["d"] * 5000)
    texts = [
        "<<<<<<< SEARCH\n" * 10_000,
        ("<<<<<<< SEARCH\n    y = x\n=======\n    y = x\n>>>>>>> REPLACE\n") * 5_000,
        "```\n" * 120_000,
        f"### {deep}\n```\nx\n```\n" + FIX,
        ("### inc.py (lines 1-2)\n```\nx\n```\n") * 10_000,
        ("@@ -1 +1 @@\n-def inc(x):\n+x\n") * 10_000,
        "<think>" * 60_000,
        "<answer>\n" * 40_000 + FIX,
        "\x00\ud800" * 40_000,
        "(" * 500_000,
        f"```\n{'(' * 400_000}\n```\n",
    ]
    for text in texts:
        began = time.monotonic()
        verdict = verifier.verify(given, text)
        assert not verdict.passed or text.endswith(FIX), text[:40]
        assert verdict.outcome is not Outcome.ERROR, (text[:40], verdict.detail)
        assert time.monotonic() - began < 120, text[:40]  # quadratic time would be far more


def test_checks_that_are_no_edits_are_not_for_this_toolchain() -> None:
    check: Check = CASES
    (verdict,) = EditToolchain(partial(build, settings=Settings())).judge(
        [(Task(statement="x", check=check), FIX)]
    )
    assert verdict.outcome is Outcome.ERROR
