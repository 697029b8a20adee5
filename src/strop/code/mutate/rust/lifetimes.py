"""Operators whose faults are references that outlive what they refer to, or say too little about how long they live."""

from collections.abc import Iterator

from strop.code.mutate.operators import RUST, Edit, indent_of, replace
from strop.code.mutate.rust.nodes import methods, tails
from strop.code.trees import Source, having

_FRESH = ("to_string", "to_lowercase", "to_uppercase", "replace", "to_owned", "repeat", "to_ascii_lowercase",
          "to_ascii_uppercase")  # fmt: skip


@RUST.add("short-lived-temporary", "borrows", "types")
def _short_lived_temporary(source: Source) -> Iterator[Edit]:
    """`let s = x.to_lowercase();` as `let s = x.to_lowercase().as_str();`."""
    for node, value in having(source.all("let_declaration"), "value"):
        if node.child_by_field_name("type") is not None:
            continue
        made = next((m for m in methods(source, *_FRESH) if m.node.id == value.id), None)
        formatted = value.type == "macro_invocation" and source.string(value).startswith("format!")
        if made is not None or formatted:
            yield value.end_byte, value.end_byte, ".as_str()"
        if any(m.node.id == value.id for m in methods(source, "collect")):
            yield value.end_byte, value.end_byte, ".as_slice()"


@RUST.add("borrow-of-inner", "borrows")
def _borrow_of_inner(source: Source) -> Iterator[Edit]:
    """`let v = make();` as `let v = { let inner = make(); &inner };`."""
    for node, value, name in having(source.all("let_declaration"), "value", "pattern"):
        mutable = any(c.type == "mutable_specifier" for c in node.children)
        if node.child_by_field_name("type") is not None or mutable or name.type != "identifier":
            continue
        if value.type in ("call_expression", "macro_invocation"):
            margin = indent_of(source, node)
            inner = f"let inner = {source.string(value)};"
            yield replace(value, f"{{\n{margin}    {inner}\n{margin}    &inner\n{margin}}}")


@RUST.add("drop-lifetime", "lifetimes")
def _drop_lifetime(source: Source) -> Iterator[Edit]:
    """`&'a str` as `&str`, `Words<'a>` as `Words`, and `fn f<'a>` as `fn f`."""
    for node in source.all("reference_type"):
        for child in node.children:
            if child.type == "lifetime":
                yield child.start_byte, child.end_byte + 1, ""
    for node in source.all("type_parameters", "type_arguments"):
        if all("'" in source.string(child) for child in node.named_children):
            yield replace(node, "")


@RUST.add("borrowed-result", "lifetimes", "types")
def _borrowed_result(source: Source) -> Iterator[Edit]:
    """`-> String` as `-> &str`, `-> Vec<T>` as `-> &[T]`."""
    for _, kind in having(source.all("function_item"), "return_type"):
        text = source.string(kind)
        if text == "String":
            yield replace(kind, "&str")
        elif text.startswith("Vec<"):
            yield replace(kind, f"&[{text[4:-1]}]")


@RUST.add("reference-to-local", "lifetimes")
def _reference_to_local(source: Source) -> Iterator[Edit]:
    """A function that returns a reference returns one to a local value."""
    for function, tail in tails(source):
        kind = source.string(function.child_by_field_name("return_type"))
        if kind.startswith("&") and kind.endswith(("str", "]")):
            own = "to_vec" if kind.endswith("]") else "to_string"
            line = f"let found = {source.string(tail)}.{own}();"
            yield replace(tail, f"{line}\n{indent_of(source, tail)}&found")
