"""`strop tasks`: the contract of the import, and that hostile text reaches the terminal escaped."""

import json

import pytest
from typer.testing import CliRunner

from strop.cli.tasks import app
from strop.core.checks import AssertsCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks import write_tasks


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
