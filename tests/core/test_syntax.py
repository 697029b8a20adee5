"""Python is parsed although the parser fails by chance, and what is no Python is refused as by `ast`."""

import ast
import gc
import sys
from collections.abc import Callable
from typing import Any

import pytest

from strop_verify.core.syntax import expression_of, literal_value, syntax_tree

VALUE = "[" + ", ".join(f"({i}, [1, {{'a': {i}}}])" for i in range(400)) + "]"
PARSERS: dict[Callable[[str], Any], Callable[[str], Any]] = {
    syntax_tree: lambda text: ast.parse(text),
    expression_of: lambda text: ast.parse(text, mode="eval").body,
    literal_value: ast.literal_eval,
}


@pytest.mark.parametrize("parse", PARSERS)
def test_another_parse_in_the_midst_of_one_changes_nothing(
    parse: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ast, "parse", getattr(ast.parse, "__wrapped__", ast.parse))
    interrupts: list[str] = []

    def interrupt(phase: str, _: dict[str, int]) -> None:
        if phase == "start" and not interrupts:
            interrupts.append(phase)
            below(30)

    def below(calls: int) -> None:
        """Parses at a depth that is not the interrupted parser's."""
        if calls:
            below(calls - 1)
        else:
            ast.parse("1")

    def attempt(parser: Callable[[str], Any]) -> Any:
        interrupts.clear()
        limits, enabled = gc.get_threshold(), gc.isenabled()
        gc.collect()  # so that it is next due within the parser
        gc.callbacks.append(interrupt)
        gc.set_threshold(100)
        gc.enable()
        try:
            return parser(VALUE)
        finally:
            gc.callbacks.remove(interrupt)
            gc.set_threshold(*limits)
            if not enabled:
                gc.disable()

    found = attempt(parse)
    assert interrupts or sys.version_info >= (3, 12)  # there the collector waits until the parser is done
    plain = PARSERS[parse](VALUE)
    assert ast.dump(found) == ast.dump(plain) if isinstance(plain, ast.AST) else found == plain
    if sys.version_info < (3, 11, 8):
        with pytest.raises(SystemError, match="recursion depth"):
            attempt(PARSERS[parse])


@pytest.mark.parametrize("text", ["a b", "(" * 300 + ")" * 300, "a\x00", "1 +", "  a"])
@pytest.mark.parametrize("parse", PARSERS)
def test_what_is_no_python_is_refused_as_by_ast(parse: Callable[[str], Any], text: str) -> None:
    outcomes = []
    for parser in (parse, PARSERS[parse]):
        try:
            found = parser(text)
            outcomes.append(ast.dump(found) if isinstance(found, ast.AST) else repr(found))
        except Exception as error:
            outcomes.append(f"{type(error)} {error}".partition(" at 0x")[0])
    assert outcomes[0] == outcomes[1]
