"""The source `edits:[FORMAT:]SOURCE`: what becomes an edit, what is left out and why, and that splits stay."""

import json

import pytest
from typer.testing import CliRunner

from strop.cli import app
from strop.tasks import load_tasks, write_tasks
from strop.tasks.adapters import ADAPTERS
from strop.tasks.edit_tasks import Unfit, as_edit, named
from strop.tasks.sources import iter_tasks
from strop_tasks.curation.audit.answers import probes
from strop_tasks.curation.audit.form import leak_findings
from strop_verify.core.checks import AssertsCheck, EditCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.edits import FORMATS, HOLE, apply_answer


def rows_file(tmp_path, name: str):
    file = tmp_path / f"{name}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ADAPTERS[name].sample()))
    return file


def edit_of(task: Task) -> EditCheck:
    assert isinstance(task.check, EditCheck)
    return task.check


def broken(**changes) -> Task:
    fields = {
        "statement": "Add one.",
        "reference": "def inc(x):\n    return x + 1",
        "check": AssertsCheck(entry_point="inc", code="assert inc(1) == 2"),
        "metadata": {"broken": "def inc(x):\n    return x - 1", "message": "no", "secret": 1},
    }
    return Task.model_validate({**fields, **changes})


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["quixbugs", "infilling", "sven"])
def test_rows_of_every_kind_become_edits_whose_reference_applies(tmp_path, name: str, form: str) -> None:
    source = f"{name}:{rows_file(tmp_path, name)}"
    tasks = list(iter_tasks(f"edits:{form}:{source}"))
    originals = list(iter_tasks(source))
    assert len(tasks) == len(originals) // (2 if name == "sven" else 1) > 0
    by_id = {task.id: task for task in originals}
    for task in tasks:
        check, original = edit_of(task), by_id[task.metadata["original"]]
        ((path, wanted),) = check.oracle.items()
        assert check.format == form and task.id == f"{original.id}:{form}"
        assert apply_answer(task.reference, check.files, form) == {path: wanted}
        assert check.judge == (None if name == "sven" else original.check)
        assert name == "sven" or (wanted or "").rstrip() == original.reference.rstrip()
        assert Task.model_validate_json(task.model_dump_json()) == task
    again = list(iter_tasks(f"edits:{form}:{source}"))
    assert tasks == again


def test_holes_are_filled_unless_another_format_is_named(tmp_path) -> None:
    source = f"infilling:{rows_file(tmp_path, 'infilling')}"
    line, span = iter_tasks(f"edits:{source}")
    assert [edit_of(t).format for t in (line, span)] == ["infill", "infill"]
    assert edit_of(line).files["solution.py"].count(HOLE) == 1
    assert line.family == "infill" and line.statement == "Complete the function `total`."
    other, _ = iter_tasks(f"edits:whole-file:{source}")
    assert HOLE not in edit_of(other).files["solution.py"]
    assert "missing" in other.statement and other.family == "infill"


@pytest.mark.parametrize(
    ("prefix", "middle", "suffix", "said"),
    [
        ("a\n", "b\n", "c\n", "b"),
        ("a\n", "  b + ", "c\n", "\n  b + "),
        ("a =", " b\n", "c\n", " b"),
        ("a\n", "b", "\nc\n", "b"),
        ("a\n", "b", "", "b"),
        ("", "b", "c\n", "b"),
        ("a\n", "b\n", "\nc\n", "b"),
    ],
)
def test_what_stands_in_a_fence_fills_the_hole_as_it_is(prefix: str, middle: str, suffix: str, said: str):
    metadata = {"prefix": prefix, "suffix": suffix}
    task = as_edit(broken(reference=prefix + middle + suffix, metadata=metadata))
    check = edit_of(task)
    after = apply_answer(f"```\n{said}\n```\n", check.files, "infill")
    assert after["solution.py"].rstrip() == (prefix + middle + suffix).rstrip() or prefix == ""


def test_what_is_still_true_is_kept_and_the_rest_is_not() -> None:
    task = as_edit(broken(metadata={**broken().metadata, "error_code": "E1"}))
    assert task.metadata == {"message": "no", "error_code": "E1", "original": broken().id}
    assert (task.family, as_edit(broken()).family) == ("fix-compile", "repair")
    check = edit_of(task)
    assert check.files == {"solution.py": "def inc(x):\n    return x - 1\n"} and check.path == "solution.py"
    assert check.tolerance and not edit_of(as_edit(broken(), "whole-file")).tolerance


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"metadata": {}}, "no broken program"),
        ({"reference": ""}, "no right program"),
        ({"metadata": {"broken": "def inc(x):\n    return x + 1\n"}}, "is the broken one"),
        ({"metadata": {"prefix": "x", "suffix": "y"}}, "not what stands around"),
        (
            {"metadata": {"prefix": "def", "suffix": "def inc(x):\n    return x + 1"}},
            "not what stands around",
        ),
        ({"family": "vulnerability"}, "before and after a fix"),
    ],
)
def test_a_task_without_an_edit_says_why(changes: dict, why: str) -> None:
    with pytest.raises(Unfit, match=why):
        as_edit(broken(**changes))


def test_tasks_that_are_edits_change_their_format(tmp_path) -> None:
    file = tmp_path / "edits.jsonl"
    write_tasks([as_edit(broken())], file)
    (task,) = iter_tasks(f"edits:unified-diff:{file}")
    assert edit_of(task).format == "unified-diff" and task.reference.startswith("diff --git")
    (same,) = iter_tasks(f"edits:{file}")
    assert same == as_edit(broken())


def test_what_is_left_out_is_reported_one_line_each(tmp_path) -> None:
    file = tmp_path / "some.jsonl"
    write_tasks([broken(id="a"), broken(id="b", metadata={}), broken(id="c")], file)
    said: list[str] = []
    assert [t.id for t in iter_tasks(f"edits:{file}", on_bad=said.append)] == [
        "a:search-replace",
        "c:search-replace",
    ]
    assert len(said) == 1 and said[0].startswith("task 'b': it has no broken program") and "\n" not in said[0]
    with pytest.raises(UserError, match="task 'b'"):
        load_tasks(f"edits:{file}")


def test_a_bug_and_its_edit_are_on_one_side_of_the_split(tmp_path) -> None:
    words = [
        "apple",
        "brick",
        "cloud",
        "dance",
        "eagle",
        "flame",
        "grape",
        "honey",
        "ivory",
        "jelly",
        "kite",
        "lemon",
    ]
    tasks = [
        broken(
            id=word, statement=f"{word} {n} {word * 2} {word[::-1]}", reference=f"def f():\n    return {n}"
        )
        for n, word in enumerate(words)
    ]
    file = tmp_path / "some.jsonl"
    write_tasks(tasks, file)
    sides = {task.id: task.split for task in load_tasks(str(file))}
    for form in ("search-replace", "infill"):
        assert {t.metadata["original"]: t.split for t in load_tasks(f"edits:{form}:{file}")} == sides


@pytest.mark.parametrize("rest", ["", "infill:", "nowhere:"])
def test_a_source_must_be_named(rest: str) -> None:
    with pytest.raises(UserError, match="source"):
        list(iter_tasks(f"edits:{rest}"))


def test_formats_and_sources_with_colons() -> None:
    assert named("infill:quixbugs:a.jsonl") == ("infill", "quixbugs:a.jsonl")
    assert named("quixbugs:a.jsonl") == (None, "quixbugs:a.jsonl")
    assert named("python-functions") == (None, "python-functions")


def test_the_command_line_shows_and_lists_them(tmp_path) -> None:
    source = f"edits:line-range:quixbugs:{rows_file(tmp_path, 'quixbugs')}"
    runner = CliRunner()
    listed = runner.invoke(app, ["tasks", "list", source])
    assert listed.exit_code == 0 and ":line-range\t" in listed.output
    name = listed.output.split(":line-range")[0].strip().splitlines()[-1].rpartition("/")[2]
    shown = runner.invoke(app, ["tasks", "show", name, "--source", source, "--style", "chat"])
    assert shown.exit_code == 0 and "1| " in shown.output and "--- check (edit)" in shown.output


def test_the_audit_reads_an_edit_as_the_file_that_it_makes() -> None:
    line = "return (x + 1) % 1000000007 + len(str(x))"
    told = f"Add one, so that the function ends in\n\n    {line}"
    task = as_edit(broken(statement=told, reference=f"def inc(x):\n    {line}"))
    assert [finding.code for finding in leak_findings(task)] == ["leak-answer"]
    assert not list(leak_findings(as_edit(broken(statement="The function has this head: def inc(x):"))))
    for form in FORMATS:
        (probe,) = probes(as_edit(broken(), form))
        check = edit_of(as_edit(broken(), form))
        after = apply_answer(probe.answer, check.files, form)
        assert after == {"solution.py": check.files["solution.py"] + "\n"}
