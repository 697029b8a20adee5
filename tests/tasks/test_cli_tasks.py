"""`strop tasks`: the contract of the import, and that hostile text reaches the terminal escaped."""

import json

import pytest
from typer.testing import CliRunner

from strop.cli.tasks import app
from strop.tasks import write_tasks
from strop_verify.core.checks import AssertsCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task


def invoke(*arguments: str):
    return CliRunner().invoke(app, list(arguments), catch_exceptions=True)


def test_import_writes_the_lines_of_the_contract(tmp_path):
    file = tmp_path / "h.jsonl"
    result = invoke("import", "humaneval", "-o", str(file))
    assert result.exit_code == 0 and "164 tasks" in result.output
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(rows) == 164
    for row in rows:
        assert row["id"] and row["language"] == "python" and row["reference"]
        assert set(row["check"]) == {"kind", "entry_point", "code"} and row["check"]["kind"] == "asserts"


def test_list_and_show():
    result = invoke("list", "--topic", "lists", "--limit", "2")
    assert result.exit_code == 0 and len(result.output.splitlines()) == 2
    result = invoke("show", "reverse_text", "--style", "chat-prefilled")
    assert result.exit_code == 0
    for part in ("[user]", "```python\ndef reverse_text", "return text[::-1]", '"expected":"cba"'):
        assert part in result.output


def test_mistakes_are_user_errors(tmp_path):
    for arguments, wanted in (
        (["show", "revers_text"], "did you mean 'reverse_text'"),
        (["show", "jsonl:a.jsonl"], "is a task set, not a task: `strop tasks list jsonl:a.jsonl` shows"),
        (["import", "humaneval", "-o", str(tmp_path / "no" / "x")], "cannot write"),
        (["list", "x.jsonl", "-c", "tests"], "PART=COLUMN"),
    ):
        result = invoke(*arguments)
        assert isinstance(result.exception, UserError) and wanted in str(result.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["list", "show"])
def test_control_characters_are_escaped(tmp_path, command):
    evil = "\x1b]0;owned\x07\x9b2J\u202e"
    check = AssertsCheck(entry_point="f", code=f"assert f() == '{evil}'")
    task = Task(id="evil", statement=evil, signature="def f():", reference=evil, check=check, topic=evil)
    write_tasks([task], tmp_path / "t.jsonl")
    arguments = (
        [str(tmp_path / "t.jsonl")] if command == "list" else ["evil", "-s", str(tmp_path / "t.jsonl")]
    )
    result = invoke(command, *arguments)
    assert result.exit_code == 0 and r"\x1b]0;owned\x07\x9b2J\u202e" in result.output
    assert not set("\x1b\x07\x9b\u202e") & set(result.output)


def test_what_cannot_be_judged_is_left_out(tmp_path):
    stdio = {"kind": "stdio", "cases": [{"stdin": "", "stdout": "1\n"}]}
    rows = [
        {"id": "idle", "check": {"kind": "asserts", "entry_point": "f", "code": "f(1) == 2"}},
        {
            "id": "uncalled",
            "check": {"kind": "asserts", "entry_point": "f", "code": "def check(g): assert g(1)"},
        },
        {"id": "cobol", "language": "COBOL", "check": stdio},
        {"id": "cpp", "language": "C++ 17 (GCC 9.2.1)", "check": stdio},
        {
            "id": "method",
            "check": {"kind": "asserts", "entry_point": "Solution().f", "code": "assert f(1) == 2"},
        },
        {"id": "call", "check": {"kind": "asserts", "entry_point": "make().f", "code": "assert f(1) == 2"}},
    ]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = invoke("import", str(tmp_path / "t.jsonl"), "-o", str(tmp_path / "o.jsonl"))
    assert result.exit_code == 0 and "2 tasks, 4 rows left out" in result.output, result.output
    kept = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert [(row["id"], row["language"]) for row in kept] == [("cpp", "c++"), ("method", "python")]
    assert kept[1]["check"]["entry_point"] == "f"
    for said in (
        "its comparison cannot fail: f(1) == 2",
        "never reaches a call of f",
        "'cobol'",
        "Solution().NAME",
    ):
        assert said in result.output, result.output


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("cpp", "c++"),
        ("GNU C++17", "c++"),
        ("c++20", "c++"),
        ("js", "javascript"),
        ("Node", "javascript"),
        ("python3", "python"),
        ("Python 3.11", "python"),
        ("PyPy3 (7.3.0)", "python"),
        ("golang", "go"),
        ("C11", "c"),
        ("my-python", "my-python"),
        ("Objective-C", "objective-c"),
        ("brainfuck", "brainfuck"),
    ],
)
def test_names_of_languages(name, language):
    check = {"kind": "stdio", "cases": [{"stdin": "", "stdout": "1\n"}]}
    named = Task(statement="s", language=name, check=check)
    assert named.language == language and named.id == Task(statement="s", language=language, check=check).id
