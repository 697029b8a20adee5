"""Whether an answer becomes a task:

1. the whole answer builds, lints and passes its own tests, by the strict verdict (verification.rust);
2. the solution passes these tests as the task's trusted tests, which will judge other answers;
3. they catch enough faulty copies of the solution: the share is the task's strength;
4. the solution agrees with the source's cases, if they fit a function of its name and types.
"""

from collections.abc import Sequence
from typing import Any

from strop_tasks.curation.rust_build import answer as answers
from strop_tasks.curation.rust_build.answer import NotKept, Parts
from strop_tasks.curation.rust_build.cases import rust_tests
from strop_tasks.curation.rust_build.sources import SourcePrompt
from strop_verify.code.mutate.mutants import mutants
from strop_verify.core.bounded_map import Work
from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.verification.strength import count_assertions, judge, own_tests_hold
from strop_verify.verification.verifier import OpenVerifier

MUTANTS = 6
EDITION = "2021"


class Unverified(Exception):
    """The verifier could not decide; holds the cause, which is not the answer's fault."""


def check(
    verifier: OpenVerifier, prompt: SourcePrompt, statement: str, found: Parts, origin: dict[str, Any]
) -> Work[Task]:
    """The task of a prompt and its answer. Raises NotKept, and Unverified if the verifier failed.

    origin  the answer's model and attempt, for the task's metadata
    """
    own = Task(language="rust", statement=statement, check=RustCheck(edition=EDITION))
    [verdict] = yield from _judged(verifier, [(own, found.whole)])
    _demand(verdict, found.whole)
    task = Task(
        language="rust", statement=statement, signature=answers.signature(found), reference=found.code,
        check=RustCheck(tests=found.tests, edition=EDITION), source=prompt.where,
    )  # fmt: skip
    strength = yield from _strength(verifier, task, found)
    agreed = yield from _agreed(verifier, prompt, statement, found)
    metadata = {
        "prompt_id": prompt.id, **origin, "own_tests": answers.test_count(found.tests),
        "assertions": count_assertions(found.whole), "strength": strength, "source_cases": agreed,
    }  # fmt: skip
    return task.model_copy(update={"metadata": metadata})


def _judged(verifier: OpenVerifier, pairs: Sequence[tuple[Task, str]]) -> Work[list[Verdict]]:
    """One verdict per pair. An *error* is tried once more, then raises Unverified."""
    futures = [verifier.submit(task, text) for task, text in pairs]
    yield futures
    for number, future in enumerate(futures):
        if future.result().outcome is Outcome.ERROR:
            futures[number] = verifier.submit(*pairs[number])
    yield futures
    verdicts = [future.result() for future in futures]
    for verdict in verdicts:
        if verdict.outcome is Outcome.ERROR:
            raise Unverified(verdict.detail)
    return verdicts


def _demand(verdict: Verdict, whole: str) -> None:
    """Raises NotKept, with the stage, unless everything passed."""
    for name in ("build", "lint"):
        stage = verdict.stage(name)
        if stage is None or not stage.passed:
            output = stage.output if stage else ""
            raise NotKept(name, verdict.detail or f"clippy: {_first_error(output)}", output)
    if not verdict.passed:
        weak = own_tests_hold(whole)
        tests_passed = bool(verdict.tests) and all(t.outcome is Outcome.PASSED for t in verdict.tests)
        stage = verdict.stage("test")
        output = (stage.output if stage else "") or verdict.output
        where = "strength" if weak or tests_passed else "test"
        raise NotKept(where, verdict.detail or "a test failed", output)


def _strength(verifier: OpenVerifier, task: Task, found: Parts) -> Work[dict[str, int]]:
    """The numbers of planted faults and of those that the trusted tests catch. Raises NotKept."""
    made = mutants(found.whole, "rust", seed=0, limit=MUTANTS)
    texts = [answers.parts(mutant.text).code for mutant in made]
    first, *rest = yield from _judged(verifier, [(task, text) for text in (found.code, *texts)])
    if not first.passed:
        raise NotKept("task", f"does not pass its own tests once they are trusted: {first.detail}")
    strength = judge(made, rest)
    if made and not strength.holds:
        raise NotKept("strength", strength.reasons[0])
    return {"faults": strength.compiled, "noticed": strength.killed}


def _agreed(verifier: OpenVerifier, prompt: SourcePrompt, statement: str, found: Parts) -> Work[int]:
    """The number of the source's cases, all of which the solution passes; 0 if none applies. Raises NotKept."""
    head = answers.head_of(found.code, prompt.entry_point) if prompt.cases else ""
    if not head:
        return 0
    try:
        tests = rust_tests(head, prompt.cases)
    except (ValueError, KeyError, IndexError, TypeError):  # types that differ from those of the cases
        return 0
    task = Task(language="rust", statement=statement, check=RustCheck(tests=tests, edition=EDITION))
    [verdict] = yield from _judged(verifier, [(task, found.code)])
    build = verdict.stage("build")
    if build is not None and not build.passed:
        return 0
    if not verdict.passed:
        stage = verdict.stage("test")
        reason = f"disagrees with the cases of the source: {verdict.detail}"
        raise NotKept("source", reason, stage.output if stage else "")
    return len(prompt.cases)


def _first_error(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("error", "warning"))]
    return next(iter([*errors, *lines]), "failed")
