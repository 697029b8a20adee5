"""The functions of a Rust file with attributes and modules, as test code or code under test."""

from strop_verify.code.functions import Function, Items
from strop_verify.code.tokens import split
from strop_verify.code.trees import MOST_BYTES, Node, Source, parse, span, text_of, walk

Attribute = list[str]
"""The tokens of an attribute: ["cfg", "(", "test", ")"]."""

_TEST_MODULES = frozenset({"test", "tests"})
_TEST_ATTRIBUTES = frozenset({"test", "rstest", "test_case"})
_AROUND_FUNCTION = frozenset({"function_item", "closure_expression", "macro_definition"})
_KNOWN_CFG = {
    "debug_assertions": True,
    "overflow_checks": True,
    "unix": True,
    "windows": False,
    "feature": False,
    "miri": False,
    "doc": False,
    "doctest": False,
    "loom": False,
}
_DEEPEST_CFG = 300
"""Maximum tokens of a predicate; a longer one is "unknown"."""


class RustItems(Items):
    """Functions, attributes and test code of a file: test functions, modules named tests, `#[cfg(test)]` items."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._attributes: dict[int, list[Attribute]] = {}
        self._items: dict[int, Node] = {}
        self._read_attributes()
        self.functions = [f for f in map(self._function, source.all("function_item")) if f is not None]
        regions = [span(f.node) for f in self.functions if f.is_test]
        for module in source.all("mod_item"):
            if source.string(module.child_by_field_name("name")) in _TEST_MODULES:
                regions.append(span(module))
        for identity, attributes in self._attributes.items():
            if any(_only_in_tests(a) for a in attributes):
                regions.append(span(self._items[identity]))
        self._mark(regions)

    @property
    def attributes(self) -> list[Attribute]:
        """Every attribute of the file."""
        return [attribute for group in self._attributes.values() for attribute in group]

    def _read_attributes(self) -> None:
        """An outer attribute belongs to the next sibling item, an inner one to the enclosing item."""
        for node in self.source.all("attribute_item"):
            parent = self.source.parent(node)
            item = node.next_named_sibling
            while item is not None and item.type in ("attribute_item", "line_comment", "block_comment"):
                item = item.next_named_sibling
            if item is not None and parent is not None:
                self._items[item.id] = item
                self._attributes.setdefault(item.id, []).append(self.source.tokens(node)[2:-1])
        for node in self.source.all("inner_attribute_item"):
            outer = self.source.parent(node)
            if outer is not None and outer.type in ("declaration_list", "block"):
                outer = self.source.parent(outer) or outer
            if outer is not None:
                self._items[outer.id] = outer
                self._attributes.setdefault(outer.id, []).append(self.source.tokens(node)[3:-1])

    def _function(self, node: Node) -> Function | None:
        body, name = node.child_by_field_name("body"), node.child_by_field_name("name")
        if body is None or name is None:
            return None
        path, around, nested = [], [], False
        for outer in self.source.ancestors(node):
            around += self._attributes.get(outer.id, [])
            nested = nested or outer.type in _AROUND_FUNCTION
            if outer.type == "mod_item":
                path.append(self.source.string(outer.child_by_field_name("name")))
        own = self._attributes.get(node.id, [])
        return Function(
            self.source.string(name),
            node,
            body,
            path[::-1],
            nested,
            is_test=not nested and any(_last_segment(a) in _TEST_ATTRIBUTES for a in own),
            ignored=any(a[:1] == ["ignore"] for a in own),
            should_panic=any(a[:1] == ["should_panic"] for a in own),
            removed=any(a[:1] == ["cfg"] and evaluate_cfg(a[2:-1]) is not True for a in (*own, *around)),
        )


def _last_segment(attribute: Attribute) -> str:
    path = attribute[: attribute.index("(")] if "(" in attribute else attribute
    return path[-1] if path else ""


def _only_in_tests(attribute: Attribute) -> bool:
    """`cfg(test)`, `cfg(all(test, …))`."""
    return attribute[:3] in (["cfg", "(", "test"], ["cfg", "(", "all"]) and "test" in attribute


def evaluate_cfg(tokens: list[str], test: bool = True) -> bool | None:
    """The value of a `cfg` predicate in a build on Linux, a test build or not; None if unknown."""
    if not tokens or len(tokens) > _DEEPEST_CFG:
        return None
    head, rest = tokens[0], tokens[1:]
    if not rest:
        return test if head == "test" else _KNOWN_CFG.get(head, {"true": True, "false": False}.get(head))
    if rest[0] == "=":
        if head == "target_os":
            return "linux" in rest
        return _KNOWN_CFG.get(head)
    if rest[0] != "(" or head not in ("all", "any", "not"):
        return None
    parts = [evaluate_cfg(part, test) for part in split(rest[1:-1], (",",)) if part]
    if head == "not":
        return None if len(parts) != 1 or parts[0] is None else not parts[0]
    ends = head == "any"  # the value that settles it
    if ends in parts:
        return ends
    return None if None in parts else not ends


def differs(tokens: list[str]) -> bool:
    """Whether an item under this `cfg` may be in a plain build and missing from a test build."""
    return (
        evaluate_cfg(tokens, test=False) is not False
        and "test" in tokens
        and evaluate_cfg(tokens) is not True
    )


def attributes(node: Node) -> list[str]:
    """The attributes above an item, such as "#[test]", without white space; comments may come between."""
    found = []
    above = node.prev_named_sibling
    while above is not None and above.type in ("attribute_item", "line_comment", "block_comment"):
        if above.type == "attribute_item":
            found.append("".join(text_of(above).split()))
        above = above.prev_named_sibling
    return found


def functions_of(text: str) -> tuple[list[Node], list[Node]]:
    """(functions with a body outside test modules, test functions); both empty if the text is too long."""
    code: list[Node] = []
    tests: list[Node] = []
    if len(text) > MOST_BYTES:
        return code, tests
    testing: list[Node] = []
    for node in walk(parse(text)):
        if node.type == "mod_item" and "#[cfg(test)]" in attributes(node):
            testing.append(node)
        elif node.type == "function_item" and node.child_by_field_name("body") is not None:
            if "#[test]" in attributes(node):
                tests.append(node)
            elif not any(m.start_byte <= node.start_byte < m.end_byte for m in testing):
                code.append(node)
    return code, tests
