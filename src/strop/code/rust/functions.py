"""The functions of a Rust text, by its parse tree."""

from strop.code.trees import MOST_BYTES, Node, parse, text_of, walk


def attributes(node: Node) -> list[str]:
    """The attributes above an item, such as "#[test]", white space left out; comments may stand between."""
    found = []
    above = node.prev_named_sibling
    while above is not None and above.type in ("attribute_item", "line_comment", "block_comment"):
        if above.type == "attribute_item":
            found.append("".join(text_of(above).split()))
        above = above.prev_named_sibling
    return found


def functions_of(text: str) -> tuple[list[Node], list[Node]]:
    """(functions with a body outside of test modules, test functions); both empty where the text is too long."""
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
