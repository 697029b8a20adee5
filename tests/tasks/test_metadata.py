"""Every key of a task's metadata that the source reads or writes is declared, with its type, in one place."""

import ast
from collections.abc import Iterator
from pathlib import Path

from strop_verify.core.task import Metadata, Task

ROOT = Path(__file__).parents[2]


def _is_metadata(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "metadata"


def keys_of(tree: ast.AST) -> Iterator[str]:
    """Literal keys that are read off `.metadata`, and those of `Task(metadata={...})`."""
    for node in ast.walk(tree):
        found: list[ast.expr | None] = []
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and _is_metadata(node.func.value):
                found += node.args[:1]
            given = [k.value for k in node.keywords if k.arg == "metadata" and isinstance(k.value, ast.Dict)]
            found += [key for value in given for key in value.keys]
        elif isinstance(node, ast.Subscript) and _is_metadata(node.value):
            found.append(node.slice)
        elif isinstance(node, ast.Compare) and _is_metadata(node.comparators[-1]):
            found.append(node.left)
        yield from (k.value for k in found if isinstance(k, ast.Constant) and isinstance(k.value, str))


def test_every_key_is_declared() -> None:
    files = [path for folder in ("src", "verify/src", "tasks/src") for path in (ROOT / folder).rglob("*.py")]
    used = {key for path in files for key in keys_of(ast.parse(path.read_text()))}
    assert len(used) > 25 and used <= set(Metadata.__annotations__)


def test_what_foreign_lines_hold_stays_as_it_is() -> None:
    given = {"zebra": 1, "broken": 2, "lines": "x", "base_tests": None}
    line = Task(statement="x", check={"kind": "label", "choices": [], "expected": ""}, metadata=given)
    again = Task.model_validate_json(line.model_dump_json())
    assert list(again.metadata.items()) == list(given.items())
