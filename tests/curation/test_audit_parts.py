"""Parts of the audit that run nothing: leaks, chance, demands of test code, inputs, what a killed audit left."""

from contextlib import suppress
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import DOUBLE, PAIRS, SQUARES, asserts, programs, sound

from strop.tasks.adapters import ADAPTERS
from strop.tasks.inputs import changed, more_inputs
from strop_tasks.curation.audit import TaskAudit
from strop_tasks.curation.audit.answers import constant_possible, decided, places_possible, probes
from strop_tasks.curation.audit.flakiness import MOVES, moved_clock, sources_of_chance
from strop_tasks.curation.audit.form import form_findings, leak_findings
from strop_tasks.curation.audit.journal import audits_beside, resumed
from strop_tasks.curation.audit.judge import wording_findings
from strop_tasks.curation.audit.record import AuditSettings
from strop_tasks.curation.audit.strength import faulty_versions
from strop_verify.core.checks import AssertsCheck, Case, CasesCheck
from strop_verify.core.errors import UserError

LOOP = "def f(x):\n    total = 0\n    for n in range(x):\n        total += n * n\n    return total + 1\n"


def codes(task) -> list[tuple[str, str]]:
    return [(f.code, f.severity) for f in leak_findings(task)]


@pytest.mark.parametrize("dress", ["{}", "```python\n{}```", "Use\n\n{}\nas it is.", "<pre>{}</pre>"])
def test_a_reference_in_the_statement_is_a_leak_in_any_dress(dress):
    assert codes(sound(reference=LOOP, statement=dress.format(LOOP))) == [("leak-answer", "fatal")]
    commented = LOOP.replace("total = 0", "total = 0  # nothing yet").replace("    ", "\t")
    assert codes(sound(reference=LOOP, statement=dress.format(LOOP.replace("    ", "\t")))) != []
    assert codes(sound(reference=commented, statement=dress.format(LOOP))) == [("leak-answer", "fatal")]


def test_what_a_task_shows_by_right_is_no_leak():
    assert codes(sound(reference=LOOP, signature="def f(x):", statement="Sum.\ndef f(x):")) == []
    buggy = LOOP.replace("range(x)", "range(1, x)")
    assert codes(sound(reference=LOOP, statement=f"Mend:\n{buggy}", metadata={"broken": buggy})) == []
    head, tail = LOOP[:45], LOOP[45:]
    assert codes(sound(reference=LOOP, statement=head, metadata={"prefix": head, "suffix": tail})) == []


def test_the_prompt_that_a_reference_continues_is_no_leak():
    head = "#include <string>\n#include <vector>\nusing namespace std;\n"
    prompt = f"/*\nThe longest text.\n*/\n{head}string longest(vector<string> xs){{\n"
    body = "    string best;\n    for (auto& x : xs) if (x.size() > best.size()) best = x;\n    return best;\n}\n"
    row = {"task_id": "CPP/900", "prompt": prompt, "canonical_solution": body, "declaration": head, "example_test": "",
           "test": "#include <assert.h>\nint main(){ assert(longest({\"a\", \"bc\"}) == \"bc\"); }\n"}  # fmt: skip
    (task,) = ADAPTERS["humaneval-x"].read(row, "x:1")
    assert codes(task) == []
    assert codes(task.model_copy(update={"statement": f"So:\n{body}"})) == [("leak-answer", "fatal")]
    told = [(f.code, f.severity, f.text) for f in form_findings(task, AuditSettings())]
    assert told == [("exit-passes", "warning", "exit status only: the answer's own code controls it")]
    assert task.check.trust == "same-process"


def test_one_value_needs_one_test():
    row = {
        "code": "def f(a):\n    assert a\n    return a + 'no'\n",
        "input": "'x'",
        "output": "'xno'",
        "id": "sample_1",
    }
    for task in ADAPTERS["cruxeval"].read(row, "x:1"):
        found = [*form_findings(task, AuditSettings()), *leak_findings(task)]
        assert found == [] and all(probe.code != "constant-passes" for probe in probes(task))
    few = asserts(SQUARES, "assert f(1) == 2\n")
    assert [f.code for f in form_findings(few, AuditSettings())] == ["few-tests"]


def test_hidden_tests_in_the_statement():
    assert codes(sound(statement="f(4) == 17")) == [("leak-tests", "fatal")]
    assert codes(sound(statement="f(4) == 170, f(-3) == 10")) == []
    unmarked = sound(shown=0, statement="f(4) == 17")
    assert codes(unmarked) == [("leak-tests", "warning")]
    text = "".join(f"Input\n{a}Output\n{b}" for a, b in PAIRS)
    assert codes(programs(DOUBLE, PAIRS, shown=0, statement=text)) == [("leak-tests", "fatal")]
    assert (
        codes(programs(DOUBLE, PAIRS, shown=1, statement=f"Input\n{PAIRS[0][0]}Output\n{PAIRS[0][1]}")) == []
    )
    plain = "assert f(1) == 2\nassert f(2) == 5\nassert f(3) == 10\nassert f(4) == 17\n"
    assert codes(asserts(SQUARES, plain, statement="assert f(1)==2")) == [("leak-tests", "warning")]


@pytest.mark.parametrize(
    ("code", "sources"),
    [
        ("def f(x):\n    return x", set()),
        ("import math\nfrom collections import Counter\ndef f(x):\n    return math.sqrt(x)", set()),
        ("import random\n", {"chance"}),
        ("from secrets import choice\n", {"chance"}),
        ("x = __import__('rand' + 'om')", {"chance"}),
        ("def f(x):\n    return {1, 2}", {"order"}),
        ("a = {}.keys() & {}.keys()", {"order"}),
        ("hash('x')", {"order"}),
        ("import time\ntime.time()", {"clock"}),
        ("from datetime import date\ndate.today()", {"clock"}),
        ("from datetime import date\ndate(2024, 1, 1)", set()),
        ("def f(:", set()),
    ],
)
def test_sources_of_chance(code, sources):
    assert sources_of_chance(code, "python") == sources


def test_a_moved_clock_is_the_same_program_at_another_time(tmp_path):
    code = "import time, datetime\nnow = (time.time(), datetime.datetime.now().timestamp(), time.localtime().tm_year)\n"
    seen = []
    for move in (0.0, MOVES[-1]):
        space: dict = {}
        # in a process of its own, for it changes modules
        import subprocess
        import sys

        done = subprocess.run(
            [sys.executable, "-c", (moved_clock(code, move) or "") + "print(now)"],
            capture_output=True, text=True, check=True, timeout=300,
        )  # fmt: skip
        space["now"] = eval(done.stdout)
        seen.append(space["now"])
    assert all(abs(b - a - MOVES[-1]) < 60 for a, b in zip(seen[0][:2], seen[1][:2], strict=True))
    assert seen[1][2] > seen[0][2] and moved_clock("from __future__ import annotations\n", 1) is None


MANY = "for i in x:\n    assert f(i)"


def test_demands_of_test_code_rule_out_constants_and_echoes():
    assert not constant_possible("f", "assert f(1) == 2\nassert f(2) == 3")
    assert constant_possible("f", "assert f(1) == 2\nassert f(2) == 2")
    assert constant_possible("f", "assert f(1)\nassert f(2)") and constant_possible("f", "assert f(")
    check = "def check(candidate):\n    assert candidate(1) == 1\n    assert candidate(2) == 3\n"
    assert not constant_possible("f", check) and places_possible("f", check) == []
    assert places_possible("f", "assert f(1) == 1\nassert f(x) == 3") == [0]
    assert places_possible("f", "assert f(1, 2, 3) == 2\nassert f(2, 3, 1) == 3") == [1]
    assert places_possible("f", "assert f(x)") == [0, 1, 2]
    counts = [AssertsCheck(entry_point="f", code=code).assertions() for code in (check, MANY)]
    assert counts[0] == 2 and counts[1] >= 10


@pytest.mark.parametrize(("place", "word"), [(0, "first"), (1, "second"), (2, "third")])
def test_an_answer_that_returns_an_argument_is_found_by_its_place(place: int, word: str):
    rows = [[1, 2, 3], [4, 6, 5], [9, 7, 8]]
    check = CasesCheck(entry_point="f", cases=[Case(args=row, expected=row[place]) for row in rows])
    task = sound(check={}).model_copy(update={"check": check})
    assert [f.text for f in decided(task)] == [f"returning the {word} argument passes"]
    code = "".join(f"assert f({', '.join(map(str, row))}) == {row[place]}\n" for row in rows)
    found = [probe.name for probe in probes(asserts(SQUARES, code)) if probe.code == "constant-passes"]
    assert found == [f"returning the {word} argument"]


def test_what_a_task_says_of_its_answers():
    def judge(text: str, **check) -> list[str]:
        return [f.severity for f in wording_findings(programs(DOUBLE, PAIRS, statement=text, check=check))]

    assert judge("If there are several solutions, print any of them.") == ["fatal"]
    assert judge("Any valid answer is accepted.") == ["fatal"]
    assert judge("Print the numbers in any order.") == ["fatal"]
    assert judge("Print the numbers in any order.", checker="def check(a, b, c): return True") == []
    assert judge("Print whether any of them is prime. Return the smallest of many ways.") == []
    assert judge("In order to win, order the list.") == []
    text = "If there are several solutions, print any of them, in any case, within an error of 1e-6."
    found = wording_findings(programs(DOUBLE, [("1\n", "Yes 0.5\n")], statement=text))
    for finding, word in zip(found, ["several", "lower case", "error"], strict=True):
        assert word in finding.text


@given(
    st.recursive(st.one_of(st.integers(), st.text(), st.booleans(), st.none()), st.lists, max_leaves=8),
    st.randoms(),
)
def test_a_changed_value_keeps_its_type(value, rng):
    assert type(changed(value, [value], rng)) is type(value)


@given(st.lists(st.integers(min_value=0, max_value=99), min_size=1, max_size=6))
def test_more_inputs_are_the_same_every_time_and_stay_natural_numbers(numbers):
    task = sound()
    check = CasesCheck(
        entry_point="f", cases=[task.check.cases[0].model_copy(update={"args": [n]}) for n in numbers]
    )
    task = task.model_copy(update={"check": check})
    first = list(more_inputs(task))
    assert first == list(more_inputs(task)) and all(args[0] >= 0 for args, _ in first)
    assert [[n] for n in dict.fromkeys(numbers)] == [args for args, _ in first][: len(set(numbers))]


def test_faulty_versions_of_a_program_are_programs():
    made = faulty_versions(programs(DOUBLE, PAIRS), AuditSettings())
    assert len(made) >= 5 and DOUBLE not in made
    for text in made:
        compile(text, "<made>", "exec")
        assert "whole_program" not in text


def audited(tasks):
    for task in tasks:
        CALLS.append(task.id)
        yield TaskAudit(task_id=task.id, ok=True)


CALLS: list[str] = []


@pytest.fixture
def tasks():
    CALLS.clear()
    return [sound(statement=f"Task {n}.", id=f"t{n}") for n in range(6)]


def run(output, tasks, most=99, *, left=True, **how):
    """(ids, audits) of the first `most`; `left`: as after a kill, what is known stays there."""
    with suppress(InterruptedError), audits_beside(output) as memory:
        found = resumed(iter(tasks), memory, AuditSettings(**how), audited)
        done = list(islice(found, most))
        found.close()
        if left:
            raise InterruptedError
    return [(task.id, audit.task_id) for task, audit in done]


@pytest.mark.parametrize("cut", [0, 1, 40])
def test_an_audit_goes_on_where_it_was_cut(tmp_path, tasks, cut):
    run(tmp_path / "a", tasks, most=4)
    journal = tmp_path / "a.journal"
    journal.write_bytes(journal.read_bytes()[: len(journal.read_bytes()) - cut])
    CALLS.clear()
    assert run(tmp_path / "a", tasks, left=False) == [(t.id, t.id) for t in tasks]
    assert [t.id for t in tasks[4 if not cut else 3 :]] == CALLS and not journal.exists()


def test_a_changed_task_or_setting_is_audited_anew(tmp_path, tasks):
    run(tmp_path / "a", tasks)
    changed_tasks = [*tasks[:2], tasks[2].model_copy(update={"statement": "Another."}), *tasks[3:]]
    for more in ({}, {"runs": 6}):
        CALLS.clear()
        run(tmp_path / "a", changed_tasks, **more)
        assert ["t0", "t1", "t2", "t3", "t4", "t5"][0 if more else 2 :] == CALLS


def test_two_audits_never_share_an_output(tmp_path):
    with (
        audits_beside(tmp_path / "a"),
        pytest.raises(UserError, match="in use"),
        audits_beside(tmp_path / "a"),
    ):
        pass
