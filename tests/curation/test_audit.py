"""The audit finds every planted fault, condemns no sound task, and says the same again. Real answers in a real jail."""

import pytest
from planted import fit, sound, unfit
from tests.scale import full, some

from strop.tasks import load_tasks
from strop_tasks.curation.audit import CODES, AuditSettings, TaskAudit, audit_tasks
from strop_verify.verification import open_verifier

JUSTIFIED = {f"humaneval/HumanEval/{n}": "few-tests" for n in (29, 34, 35)}
"""Tasks of HumanEval with one or two assertions, each."""


@pytest.fixture(scope="module")
def planted(verifier) -> list[tuple[str, str, TaskAudit]]:
    rows = list(unfit())
    audits = audit_tasks((task for *_, task in rows), verifier)
    found = [(code, name, audit) for (code, name, _), audit in zip(rows, audits, strict=True)]
    # A reference that seldom fails passes every run of one audit in 260: it has four.
    (at,) = (n for n, (_, name, _) in enumerate(rows) if name == "seldom")
    code, name, task = rows[at]
    audits = audit_tasks([task] * 3, verifier)
    found[at] = (code, name, next((a for a in (found[at][2], *audits) if code in fatal(a)), found[at][2]))
    return found


def fatal(audit: TaskAudit) -> set[str]:
    return {f.code for f in audit.findings if f.severity == "fatal"}


@pytest.mark.soak(38)
def test_every_planted_fault_is_found_by_its_code(planted):
    missed = [(code, name, found.findings) for code, name, found in planted if code not in fatal(found)]
    assert missed == [] and not any(found.ok for *_, found in planted)


def test_a_fault_of_every_code_is_planted():
    assert {code for code, *_ in unfit()} | {"empty-passes", "repeated-tests"} == set(CODES)


def test_findings_are_single_lines(verifier, request):
    if full():
        audits = [found for *_, found in request.getfixturevalue("planted")]
    else:
        audits = list(audit_tasks((task for *_, task in some([*unfit()], 4)), verifier))
    assert all("\n" not in f.text and f.text for found in audits for f in found.findings)


def test_sound_tasks_that_come_close_are_fit(verifier):
    rows = list(fit())
    audits = audit_tasks((task for _, task in rows), verifier)
    bad = [(name, a.findings) for (name, _), a in zip(rows, audits, strict=True) if not a.ok]
    assert bad == []


def test_the_same_task_gets_the_same_audit_again(verifier):
    # A reference that seldom fails is found in most audits, not in every one.
    known = [(code, task) for code, name, task in unfit() if name != "seldom"]
    tasks = [task for code, task in known if code in ("flaky", "weak-tests", "cheat-passes")][:8:2]
    first = [a.model_dump_json() for a in audit_tasks(tasks, verifier)]
    with open_verifier(workers=1) as other:  # nothing kept from the first time
        assert [a.model_dump_json() for a in audit_tasks(tasks, other)] == first


def test_quick_stops_at_the_first_fatal_finding_and_ignored_codes_are_not_found(verifier):
    two = sound(statement="Note that f(4) is 17.", reference="def f(x):\n    return 5\n")
    (slow,) = audit_tasks([two], verifier)
    (quick,) = audit_tasks([two], verifier, AuditSettings(quick=True))
    (some,) = audit_tasks([two], verifier, AuditSettings(ignore=("leak-tests",)))
    assert (fatal(slow), fatal(quick)) == ({"leak-tests", "reference-fails"}, {"leak-tests"})
    assert fatal(some) == {"reference-fails"}


def test_an_audit_keeps_the_order_and_its_processes_end_with_the_iterator(verifier):
    tasks = [sound(statement=f"Task {n}.", id=str(n)) for n in range(70)]
    audits = audit_tasks(iter(tasks), verifier, AuditSettings(runs=1, mutants=0))
    assert [next(audits).task_id for _ in range(5)] == ["0", "1", "2", "3", "4"]
    audits.close()


@pytest.mark.soak(17)
def test_tasks_of_python_functions_are_fit(verifier):
    tasks = some(load_tasks("python-functions"), 300)
    assert [a.reasons for a in audit_tasks(tasks, verifier) if not a.ok] == []


@pytest.mark.soak(8)
def test_tasks_of_humaneval_are_fit_but_those_with_hardly_a_test(verifier):
    everything = load_tasks("humaneval")
    tasks = [t for t in everything if t.source in JUSTIFIED or t in some(everything, 40)]
    assert len(tasks) >= 40
    found = {a.source: fatal(a) for a in audit_tasks(tasks, verifier) if not a.ok}
    assert found == {source: {code} for source, code in JUSTIFIED.items()}


@pytest.mark.rust
def test_rust_tasks_are_audited_too(verifier):
    good = load_tasks("rust-functions")[0]
    hollow = (
        "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn a() {\n        assert!(1 == 1);\n"
    )
    hollow += "        assert!(2 == 2);\n        assert!(3 == 3);\n    }\n}\n"
    weak = good.model_copy(update={"id": "weak", "check": good.check.model_copy(update={"tests": hollow})})
    wrong = good.model_copy(update={"id": "wrong", "reference": good.reference.replace("+", "-")})
    one, two, three = audit_tasks([good, weak, wrong], verifier)
    assert one.ok, one.findings
    assert fatal(two) & {"cheat-passes", "constant-passes"} and fatal(three) == {"reference-fails"}
