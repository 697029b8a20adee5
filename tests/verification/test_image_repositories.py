"""Rows of SWE-bench whose image is at hand: the repository in it, judged by the tests that the row names and adds."""

import json

import pytest
from tests import warm
from tests.sandbox.image_files import Entry, layout, programs, python, tar_of

from strop_verify.core.checks import WorkspaceCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.edits import FORMATS
from strop_verify.sandbox.interpreter import interpreter
from strop_verify.sandbox.jails import jail_names
from strop_verify.verification import open_verifier
from strop_verify.verification.toolchains import missing_programs

pytestmark = [
    pytest.mark.jail,
    pytest.mark.skipif("namespaces" not in jail_names(), reason="needs namespaces"),
]
WRONG = "def total(prices):\n    return 0\n"
RIGHT = "def total(prices):\n    return sum(prices)\n"
TESTS = """\
import pytest
from cart import total

def test_none():
    assert total([]) == 0
"""
ADDED = """\

@pytest.mark.parametrize("prices", ["1 2", "3"])
def test_some(prices):
    assert total([int(one) for one in prices.split()]) == 3

def test_kinds():
    assert total([1.5, 2]) == 3.5
"""
FILES = {"cart.py": WRONG, "tests/test_cart.py": TESTS}
FAILING = [
    "tests/test_cart.py::test_some[1",
    "tests/test_cart.py::test_some[3]",
    "tests/test_cart.py::test_kinds",
]


def diff(**after):
    """A diff of the repository; `__` in a name stands for a dot."""
    named = {name.replace("__", "."): text for name, text in after.items()}
    return FORMATS["unified-diff"].render(FILES, {**FILES, **named})


ROW = {
    "instance_id": "shop__cart-1",
    "repo": "shop/cart",
    "base_commit": "c" * 40,
    "problem_statement": "Mend total.",
    "patch": diff(cart__py=RIGHT),
    "test_patch": FORMATS["unified-diff"].render(FILES, {**FILES, "tests/test_cart.py": TESTS + ADDED}),
    "FAIL_TO_PASS": json.dumps(FAILING),
    "PASS_TO_PASS": '["tests/test_cart.py::test_none"]',
    "image_name": "team/cart:1",
}
ALL_PASS = """\
def pytest_runtest_makereport(item, call):
    call.excinfo = None
"""
FROM_WITHIN = f"""\
from _pytest import runner
{ALL_PASS}
runner.pytest_runtest_makereport.__code__, _ = (lambda item, call: __import__("_pytest.reports").reports.TestReport(
    item.nodeid, item.location, {{}}, "passed", None, call.when)).__code__, 0
def total(prices):
    return 0
"""
FORGED = """\
import glob
for path in glob.glob("/logs/verifier/*.results"):
    open(path, "a").write('00 {"test": "tests/test_cart.py::test_kinds", "when": "call", "outcome": "passed"}\\n')
def total(prices):
    return 0
"""
HOSTILE = {
    "a plugin of its own": (diff(conftest__py=ALL_PASS, cart__py=WRONG + "\n"), Outcome.FAILED),
    "another pytest": (diff(pytest__py="import sys\nsys.exit(0)\n"), Outcome.FAILED),
    "a start of Python": (diff(sitecustomize__py="import os\nos._exit(0)\n"), Outcome.FAILED),
    "a module of Python": (diff(hmac__py="def new(*_): ...\n"), Outcome.FAILED),
    "an end with status 0": (diff(cart__py="import os\nos._exit(0)\n"), Outcome.FAILED),
    "every test passes": (diff(cart__py=FROM_WITHIN), Outcome.TAMPERED),
    "a result of its own": (diff(cart__py=FORGED), Outcome.TAMPERED),
    "another repository": (diff(cart__py=RIGHT).replace("cart.py", "../cart.py"), Outcome.FAILED),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with `team/cart:1`: this machine's Python with pytest, and the repository in /testbed."""
    interpreter()  # stays where it is
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STROP_CACHE", str(tmp_path_factory.mktemp("cache")))
        folder = tmp_path_factory.mktemp("store")
        files = [Entry(f"testbed/{name}", text=text) for name, text in FILES.items()]
        layers = [tar_of(programs()), tar_of(python()), tar_of(files)]
        environment = {"PATH": "/opt/python/bin:/usr/bin:/bin"}
        layout(
            folder / "team+cart", layers, tag="1", how="plain", workdir="/testbed/", environment=environment
        )
        yield folder


@pytest.fixture(scope="module")
def task(store, tmp_path_factory):
    """The row, imported."""
    folder = tmp_path_factory.mktemp("rows")
    (folder / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    words = ["tasks", "import", f"swe-bench:{folder / 'rows.jsonl'}", "-o", folder / "tasks.jsonl"]
    done = warm.strop(*words, "--images", store)
    assert done.returncode == 0, done.stderr
    (line,) = (folder / "tasks.jsonl").read_text().splitlines()
    return Task.model_validate_json(line)


@pytest.fixture(scope="module")
def judge():
    with open_verifier(workers=1) as opened:
        yield opened


def changed(task, **fields):
    return task.model_copy(update={"check": task.check.model_copy(update=fields)})


def test_the_known_answer_passes_and_others_do_not(task, judge):
    assert missing_programs([task]) == []
    verdict = judge.verify(task, task.reference)
    assert verdict.outcome is Outcome.PASSED and verdict.trust == "same-process", verdict
    assert [test.id for test in verdict.tests] == [*FAILING, "tests/test_cart.py::test_none"]
    assert judge.verify(task, "").outcome is Outcome.NO_ANSWER
    assert judge.verify(task, "I would mend it.").outcome is Outcome.NO_ANSWER
    half = judge.verify(task, diff(cart__py="def total(prices):\n    return 3 if prices else 0\n"))
    assert half.outcome is Outcome.FAILED and half.fraction == 0.75, half
    assert judge.verify(task, task.reference.replace("return 0", "return 1")).stage("test") is None
    fenced = f"<think>Sum.</think>\n```diff\n{task.reference}```"
    assert judge.verify(task, fenced).outcome is Outcome.PASSED


@pytest.mark.parametrize(("answer", "outcome"), HOSTILE.values(), ids=HOSTILE)
def test_no_answer_makes_its_own_results_nor_an_error(answer, outcome, task, judge):
    verdict = judge.verify(task, answer)
    assert verdict.outcome is outcome, verdict


def test_a_bug_that_the_row_brings_is_put_in_first(task, judge):
    right = {**FILES, "cart.py": RIGHT}
    bug = FORMATS["unified-diff"].render(FILES, {**FILES, "cart.py": WRONG.replace("0", "1")})
    mend = FORMATS["unified-diff"].render({**FILES, "cart.py": WRONG.replace("0", "1")}, right)
    smith = task.model_copy(update={"metadata": {**task.metadata, "bug_patch": bug}, "reference": mend})
    assert judge.verify(smith, mend).outcome is Outcome.PASSED
    assert judge.verify(smith, task.reference).outcome is Outcome.FAILED


def test_what_cannot_be_judged_is_an_error_by_name(task, judge, store, tmp_path):
    files = [Entry(f"testbed/{name}", text=text) for name, text in FILES.items()]
    layout(tmp_path / "bare", [tar_of(programs()), tar_of(files)])
    for fields, cause in {
        ("failing", "test_it (shop.tests.Cart)"): "is not a pytest test",
        ("image", "team/cart:1"): "has no location",
        ("image", ""): "names none",
        ("image", f"oci:{tmp_path}/bare"): "reports no test",
        ("image", f"oci:{store}/gone"): "there is no such folder",
        ("patch", diff(cart__py=RIGHT).replace("return 0", "return 7")): "does not apply",
    }.items():
        name, value = fields
        verdict = judge.verify(
            changed(task, **{name: [value] if name == "failing" else value}), task.reference
        )
        assert verdict.outcome is Outcome.ERROR and cause in verdict.detail, verdict
    assert task.check.only(WorkspaceCheck).image == f"oci:{store}/team+cart:1"
