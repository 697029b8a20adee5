"""Generates the code that carries calls between tests and an answer, if only standard-library values cross.

`plan` decides whether a task's tests are of that kind: all that they name of the answer is free functions whose
signatures, read from the reference, consist of a closed set of types. The tests are then compiled with functions that
have these signatures and send each call to the answer's program (`ValueCalls.proxies`), and the answer with a function
that serves them (`ValueCalls.server`); wire.rs encodes the values. Neither program has code or memory of the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from strop_verify.code.trees import Node, parse, text_of
from strop_verify.verification.rust.names import STANDARD, leaves, plain
from strop_verify.verification.rust.scan import scan
from strop_verify.verification.rust.tested_interface import touch

SERVER = "zt_serve"
"""Name of the function that serves calls."""
_NUMBERS = {*(f"{s}{n}" for s in "iu" for n in (8, 16, 32, 64, 128, "size")), "f32", "f64"}
_PLAIN = {n: f"::std::primitive::{n}" for n in (*_NUMBERS, "bool", "char")} | {
    "String": "::std::string::String",
    "Ordering": "::std::cmp::Ordering",
}
_OF_OTHERS = {
    "Vec": ("::std::vec::Vec", 1),
    "Option": ("::std::option::Option", 1),
    "Result": ("::std::result::Result", 2),
    "Box": ("::std::boxed::Box", 1),
    **{n: (f"::std::collections::{n}", 1) for n in ("VecDeque", "HashSet", "BTreeSet")},
    **{n: (f"::std::collections::{n}", 2) for n in ("HashMap", "BTreeMap")},
}
_LONGEST_TUPLE = 8
_DEEPEST = 12

Aliases = Mapping[str, Node | None]
_STATIC = "'static"


class _Foreign(Exception):
    """A type or signature outside the closed set."""


@dataclass(frozen=True)
class Parameter:
    """A parameter's type, written with absolute paths."""

    written: str
    """With the source's lifetimes."""
    owned: str
    """The type to decode; for a reference, the type that it points to."""
    lasting: bool
    """Whether it is decoded as a `'static` reference."""
    borrowed: str
    """`&`, `&mut ` or nothing."""
    slice: bool


@dataclass(frozen=True)
class ValueFunction:
    """A free function within the closed set."""

    name: str
    lifetimes: str
    parameters: tuple[Parameter, ...]
    result: str
    """As `Parameter.written`."""
    lasting: str
    """The result with every lifetime `'static`."""
    bare: tuple[str, ...]
    """Types of parameters and result without lifetimes, for comparing signatures."""


@dataclass(frozen=True)
class ValueCalls:
    """How the tests of a task call an answer."""

    functions: tuple[ValueFunction, ...]
    imports: str
    """The reference's imports from the standard library, which tests may use."""
    own: bool = False
    """Whether some signatures are the answer's, not the reference's."""

    def proxies(self, tests_module: str) -> str:
        """The module that replaces an answer: functions with the same signatures, and the tests below it."""
        made = [_proxy(number, function) for number, function in enumerate(self.functions)]
        return "\n".join([self.imports, f"mod {tests_module};", *made, ""])

    def server(self) -> str:
        """The module below the answer's that serves calls."""
        made = [_taker(number, function) for number, function in enumerate(self.functions)]
        names = ", ".join(f"c{number}" for number in range(len(self.functions)))
        return "\n".join([*made, f"#[test] fn {SERVER}() {{ ::test::serve(&[{names}]) }}", ""])


@lru_cache(maxsize=512)
def plan(tests: str, reference: str) -> ValueCalls | None:
    """The calls of a task's tests; None if the tests need more of an answer than values."""
    found, touched = scan(tests), touch(tests, reference, "")
    if not reference or found.world:
        return None
    named = {name for name in touched.free if name in touched.reference.kinds}
    if not named or any(touched.reference.kinds[name] != {"fn"} for name in named):
        return None
    functions = heads(reference)
    if not named <= functions.keys():
        return None
    return ValueCalls(tuple(functions[name] for name in sorted(named)), _imports(reference))


def calls_of(tests: str, reference: str, answer: str) -> ValueCalls | None:
    """The plan of a task, with the answer's own signatures where they differ within the closed set.

    The compiler decides whether the answer can be called that way: a signature may be generic, or hidden in a macro.
    """
    calls = plan(tests, reference)
    if calls is None:
        return None
    mine = heads(answer)
    functions = tuple(
        mine[f.name] if f.name in mine and mine[f.name].bare != f.bare else f for f in calls.functions
    )
    return calls if functions == calls.functions else replace(calls, functions=functions, own=True)


def heads(text: str) -> dict[str, ValueFunction]:
    """Free top-level functions within the closed set, by name."""
    root = parse(text)
    aliases = {
        plain(n.child_by_field_name("name")): n.child_by_field_name("type")
        for n in root.named_children
        if n.type == "type_item" and n.child_by_field_name("type_parameters") is None
    }
    found = {}
    for node in root.named_children:
        if node.type == "function_item":
            try:
                function = _function(node, aliases)
            except _Foreign:
                continue
            found[function.name] = function
    return found


def _function(node: Node, aliases: Aliases) -> ValueFunction:
    for child in node.named_children:
        if child.type == "where_clause" or (child.type == "function_modifiers" and text_of(child) != "const"):
            raise _Foreign
    lifetimes = node.child_by_field_name("type_parameters")
    for child in lifetimes.named_children if lifetimes is not None else ():
        if child.type not in ("lifetime", "lifetime_parameter"):
            raise _Foreign
    parameters, bare = [], []
    listed = node.child_by_field_name("parameters")
    for child in listed.named_children if listed is not None else ():
        if child.type in ("line_comment", "block_comment"):
            continue
        kind = child.child_by_field_name("type") if child.type == "parameter" else None
        if kind is None:
            raise _Foreign
        parameters.append(_parameter(kind, aliases))
        bare.append(_top(kind, aliases, ""))
    back = node.child_by_field_name("return_type")
    result = "()" if back is None else _spell(back, aliases, None)
    bare.append("()" if back is None else _spell(back, aliases, ""))
    return ValueFunction(
        name=text_of(node.child_by_field_name("name")),
        lifetimes="" if lifetimes is None else text_of(lifetimes),
        parameters=tuple(parameters),
        result=result,
        lasting="()" if back is None else _spell(back, aliases, _STATIC),
        bare=tuple(bare),
    )


def _parameter(kind: Node, aliases: Aliases) -> Parameter:
    written = _top(kind, aliases, None)
    if kind.type != "reference_type":
        return Parameter(written, _spell(kind, aliases, _STATIC), lasting=False, borrowed="", slice=False)
    to = kind.child_by_field_name("type")
    assert to is not None
    changes = any(c.type == "mutable_specifier" for c in kind.named_children)
    listed = to.type == "array_type" and to.child_by_field_name("length") is None
    if listed:
        owned = f"::std::vec::Vec<{_spell(to.child_by_field_name('element'), aliases, _STATIC)}>"
    elif text_of(to) == "str":
        owned = "::std::string::String"
    else:
        owned = _spell(to, aliases, _STATIC)
    lasting = not changes and "'static" in text_of(kind)
    if lasting:
        owned = _spell(kind, aliases, _STATIC)
    return Parameter(written, owned, lasting=lasting, borrowed="&mut " if changes else "&", slice=listed)


def _top(kind: Node, aliases: Aliases, lifetime: str | None) -> str:
    """A parameter's type, which may begin with `&mut`."""
    if kind.type == "reference_type" and any(c.type == "mutable_specifier" for c in kind.named_children):
        to = kind.child_by_field_name("type")
        if to is None or text_of(to) == "str":
            raise _Foreign
        return f"&{_said(kind, lifetime)}mut {_pointed(to, aliases, lifetime)}"
    return _spell(kind, aliases, lifetime)


def _said(reference: Node, lifetime: str | None) -> str:
    written = next((text_of(c) for c in reference.named_children if c.type == "lifetime"), "")
    return f"{said} " if (said := written if lifetime is None else lifetime) else ""


def _pointed(to: Node, aliases: Aliases, lifetime: str | None) -> str:
    if text_of(to) == "str":
        return "::std::primitive::str"
    if to.type == "array_type" and to.child_by_field_name("length") is None:
        return f"[{_spell(to.child_by_field_name('element'), aliases, lifetime)}]"
    return _spell(to, aliases, lifetime)


def _spell(node: Node | None, aliases: Aliases, lifetime: str | None, depth: int = 0) -> str:
    """A type with absolute paths. Raises _Foreign for one whose values cannot be transferred.

    `lifetime`: replaces every lifetime; None keeps those in the source.
    """
    if node is None or depth > _DEEPEST:
        raise _Foreign

    def inner(child: Node | None) -> str:
        return _spell(child, aliases, lifetime, depth + 1)

    if node.type in ("type_identifier", "primitive_type", "scoped_type_identifier"):
        name = _name(node)
        if name in aliases and node.type == "type_identifier":
            return inner(aliases[name])
        if name not in _PLAIN:
            raise _Foreign
        return _PLAIN[name]
    if node.type == "unit_type":
        return "()"
    if node.type == "tuple_type":
        items = [inner(c) for c in node.named_children]
        if len(items) > _LONGEST_TUPLE:
            raise _Foreign
        return f"({', '.join(items)},)"
    if node.type == "array_type":
        length = node.child_by_field_name("length")
        if length is None or length.type != "integer_literal":
            raise _Foreign
        return f"[{inner(node.child_by_field_name('element'))}; {text_of(length)}]"
    if node.type == "reference_type":
        if any(c.type == "mutable_specifier" for c in node.named_children):
            raise _Foreign
        to = node.child_by_field_name("type")
        if to is None:
            raise _Foreign
        return f"&{_said(node, lifetime)}{_pointed(to, aliases, lifetime)}"
    if node.type == "generic_type":
        name, given = _name(node.child_by_field_name("type")), node.child_by_field_name("type_arguments")
        path, count = _OF_OTHERS.get(name, ("", 0))
        items = [inner(c) for c in given.named_children] if given is not None else []
        if not count or len(items) != count:
            raise _Foreign
        return f"{path}<{', '.join(items)}>"
    raise _Foreign


def _name(node: Node | None) -> str:
    """The last name of a path into the standard library, or a single name."""
    parts = [text_of(n) for n in leaves(node)] if node is not None else []
    names = [p for p in parts if p != "::"]
    if len(names) > 1 and names[0] not in (*STANDARD, "collections", "cmp"):
        raise _Foreign
    return names[-1] if names else ""


def _imports(reference: str) -> str:
    kept = []
    for node in parse(reference).named_children:
        if node.type == "use_declaration":
            names = [text_of(n) for n in leaves(node)]
            first = next((n for n in names if n.isidentifier() and n not in ("pub", "use")), "")
            if first in STANDARD:
                kept.append(f"#[allow(unused_imports)] {text_of(node)}")
    return "\n".join(kept)


def _proxy(number: int, function: ValueFunction) -> str:
    names = [f"a{n}" for n in range(len(function.parameters))]
    pairs = list(zip(names, function.parameters, strict=True))
    head = ", ".join(f"{name}: {p.written}" for name, p in pairs)
    lines = [f"pub fn {function.name}{function.lifetimes}({head}) -> {function.result} {{"]
    lines += [f"let mut call = ::test::call({number});"]
    lines += [f"::test::Put::put(&{name}, &mut call);" for name in names]
    lines += ["let reply = ::test::ask(&call);", "let mut rest = &reply[..];"]
    lines += [f"let result: {function.lasting} = ::test::take(&mut rest);"]
    for name, p in pairs:
        if p.borrowed == "&mut ":
            change = f"::test::refill({name}, &mut rest);"
            lines.append(change if p.slice else f"*{name} = ::test::take::<{p.owned}>(&mut rest);")
    return "\n    ".join([*lines, "::test::finish(rest);", "result"]) + "\n}"


def _taker(number: int, function: ValueFunction) -> str:
    lines = [
        f"fn c{number}(from: &mut &[::std::primitive::u8], to: &mut ::std::vec::Vec<::std::primitive::u8>) "
        "-> ::std::option::Option<()> {"
    ]
    given, changed = [], []
    for n, p in enumerate(function.parameters):
        mutable = p.borrowed == "&mut "
        lines.append(f"let {'mut ' if mutable else ''}a{n} = <{p.owned} as ::test::Get>::get(from)?;")
        given.append(
            f"a{n}" if p.lasting or not p.borrowed else f"{p.borrowed}a{n}{'[..]' if p.slice else ''}"
        )
        changed += [f"::test::Put::put(&a{n}, to);"] if mutable else []
    lines.append("if !from.is_empty() { return ::std::option::Option::None; }")
    lines.append(f"let result: {function.bare[-1]} = super::{function.name}({', '.join(given)});")
    lines += ["::test::Put::put(&result, to);", *changed, "::std::option::Option::Some(())"]
    return "\n    ".join(lines) + "\n}"
