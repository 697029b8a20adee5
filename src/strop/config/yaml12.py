"""YAML 1.2's core schema on PyYAML's parser, with the position of every value.

PyYAML alone reads YAML 1.1, where `1e-6` is text and `no` is false. Here `1e-6` is a number, `true` and `false` are
the only booleans (also as True, TRUE, ...), and everything that is not plainly null, a boolean or a number is text.
Deviations from YAML 1.2: keys must be text, a key may occur once, and tags outside the core schema are refused.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml

from strop_verify.core.section import Path

_NULL = re.compile(r"^(?:~|null|Null|NULL|)$")
_BOOL = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
_INT = re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$")
_FLOAT = re.compile(
    r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
)
_CORE: list[tuple[str, re.Pattern[str], str]] = [
    ("tag:yaml.org,2002:null", _NULL, "~nN\0"),
    ("tag:yaml.org,2002:bool", _BOOL, "tTfF"),
    ("tag:yaml.org,2002:int", _INT, "-+0123456789"),
    ("tag:yaml.org,2002:float", _FLOAT, "-+.0123456789"),
]


@dataclass(frozen=True)
class Origin:
    """Where a value comes from, and its text if it is a plain number, so that a text field can use it."""

    place: str
    """ "demo.yaml:12" or "command line: grpo.beta=0"."""
    text: str | None = None


class YamlFault(Exception):
    """The text is not readable as a recipe; `line` counts from 1, 0 means the whole text."""

    def __init__(self, line: int, what: str) -> None:
        self.line = line
        self.what = what
        super().__init__(f"line {line}: {what}")


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


class Dumper(yaml.SafeDumper):
    """Quotes text that YAML 1.1 or 1.2 would read as another type."""


for _tag, _pattern, _first in _CORE:
    _keys = ["" if c == "\0" else c for c in _first]
    _Loader.add_implicit_resolver(_tag, _pattern, _keys)
    Dumper.add_implicit_resolver(_tag, _pattern, _keys)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """PyYAML loses rare line breaks in all styles except double quotes."""
    style = '"' if any(c in text for c in "\x85\u2028\u2029\ufeff") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


Dumper.add_representer(str, _represent_text)


def read_yaml(text: str, on_value: Callable[[Path, int, str | None], None]) -> Any:
    """The data in `text`, None if it is empty. Raises YamlFault with the first mistake.

    `on_value(path, line, text)` is called for every value, containers too; `text` is given for plain numbers.
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlFault(mark.line + 1 if mark else 0, f"not valid YAML: {error.problem}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlFault(line, f"character #x{error.character:04x} is not allowed in YAML") from None
    except RecursionError:
        raise YamlFault(0, "nested too deeply") from None
    return None if node is None else _build(node, (), on_value, frozenset())


def plain_scalar(text: str) -> Any:
    """The value of a bare word: null, a boolean, a number or text, by the 1.2 core schema."""
    if _NULL.match(text):
        return None
    if _BOOL.match(text):
        return text.lower() == "true"
    if _INT.match(text):
        return _integer(text)
    if not _FLOAT.match(text):
        return text
    named = text.lower().replace(".inf", "inf").replace(".nan", "nan")
    return float(named if named[-3:] in ("inf", "nan") else text)


def is_unicode(text: str) -> bool:
    """Whether text can be written as UTF-8: False for lone surrogates, as from undecodable bytes."""
    return not any("\ud800" <= c <= "\udfff" for c in text)


def _integer(text: str) -> int:
    if len(text) > 400:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _build(
    node: yaml.Node, path: Path, on_value: Callable[[Path, int, str | None], None], above: frozenset[int]
) -> Any:
    line = node.start_mark.line + 1
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if id(node) in above:
        raise YamlFault(line, "an anchor that contains itself")
    below = above | {id(node)}
    if isinstance(node, yaml.MappingNode) and kind == "map":
        on_value(path, line, None)
        return _build_mapping(node, path, on_value, below)
    if isinstance(node, yaml.SequenceNode) and kind == "seq":
        on_value(path, line, None)
        return [_build(item, (*path, i), on_value, below) for i, item in enumerate(node.value)]
    if isinstance(node, yaml.ScalarNode) and kind in ("str", "null", "bool", "int", "float"):
        value = _scalar(node, kind, line)
        on_value(path, line, _number_text(node, value))
        return value
    raise YamlFault(line, f"tag !{kind.lstrip('!')} is not understood here; remove it")


def _scalar(node: yaml.ScalarNode, kind: str, line: int) -> Any:
    if kind == "str":
        if not is_unicode(node.value):
            raise YamlFault(line, f"{node.value!r} is not Unicode text")
        return node.value
    try:
        value = plain_scalar(node.value)
    except ValueError as error:
        raise YamlFault(line, f"{error} is too long") from None
    if kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    wanted = {"null": type(None), "bool": bool, "int": int, "float": float}[kind]
    if not isinstance(value, wanted):
        raise YamlFault(line, f"{node.value!r} is not a {kind}, as its tag says")
    return value


def _build_mapping(
    node: yaml.MappingNode,
    path: Path,
    on_value: Callable[[Path, int, str | None], None],
    above: frozenset[int],
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode) or key_node.tag != "tag:yaml.org,2002:str":
            shown = key_node.value if isinstance(key_node, yaml.ScalarNode) else "..."
            raise YamlFault(line, f"key {shown!r} is not text; put it in quotes")
        key = key_node.value
        if key in found:
            raise YamlFault(line, f"{'.'.join(map(str, (*path, key)))} occurs twice; keep one")
        found[key] = _build(value_node, (*path, key), on_value, above)
        # A message should point at the key's line, even if its value starts further down.
        on_value((*path, key), line, _number_text(value_node, found[key]))
    return found


def _number_text(node: yaml.Node, value: Any) -> str | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(node.value) if is_number else None
