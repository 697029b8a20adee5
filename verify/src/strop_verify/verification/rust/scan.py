"""Reads from the parse tree of an answer's text how the answer must be built.

Nothing here decides a verdict by itself: a scan chooses the way (sharing a crate, or alone), names the types with
hand-written equality, and finds what strict mode refuses. It takes linear time and never runs the text.

A separate lexer (`balanced`) checks whether brackets, quotes and comments are closed: if not, rustc stops at the file
before it has looked at the others of its crate, so such a file is compiled alone. A mistake here costs time, never a
verdict.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache

from strop_verify.code.trees import Node, TooCostly, bounded, parse, text_of, walk
from strop_verify.verification.rust.equality import own_equality
from strop_verify.verification.rust.names import first_names, leaves

LONGEST = 100_000
"""Maximum bytes of an answer that is parsed; longer ones are compiled alone."""
STEPS = 12
"""Maximum nodes visited per character. An answer that takes more counts as too long."""
_ALONE_ATTRIBUTES = {
    "path", "macro_use", "macro_export", "no_mangle", "export_name", "link_section", "link", "global_allocator",
    "panic_handler", "no_main", "no_std", "recursion_limit", "feature", "crate_type", "crate_name", "rustc_main",
    "warn", "deny", "forbid", "expect", "cfg_attr", "type_length_limit", "test_runner", "unsafe",
}  # fmt: skip
_ALONE_MACROS = {
    "include", "include_str", "include_bytes", "env", "option_env", "file", "module_path", "global_asm", "asm",
    "naked_asm", "concat_idents", "compile_error",
}  # fmt: skip
_ALONE_NAMES = {"type_name", "type_name_of_val", "Location", "set_hook", "take_hook"}
_WORLD = {"fs", "process", "net", "os"}
_ONLY_CARGO = {"include!", "include_str!", "include_bytes!", "env!", "option_env!", "file module", "#[path]",
               "script line", "long"}  # fmt: skip
_HARMLESS_INNER = {"allow"}
_AMONG_TESTS = ("impl_item", "macro_definition", "foreign_mod_item")
_PATHS = ("scoped_identifier", "scoped_type_identifier", "scoped_use_list", "use_wildcard")
_HUGE = re.compile(rb"\d{6,}|<<\s*[2-9]\d")


@dataclass
class Scan:
    """What was found in an answer."""

    broken: bool = False
    """Whether brackets, quotes or comments are not closed."""
    alone: list[str] = field(default_factory=list)
    """Why the answer cannot share a crate with others; empty if it can."""
    risky: bool = False
    """Whether it may keep the compiler busy: constant evaluation, recursive macros, huge arrays."""
    doc_tests: bool = False
    unit_tests: bool = False
    """Whether it has #[test] functions or code for tests only."""
    own_equality: list[str] = field(default_factory=list)
    """Types whose equality is not derived, and types built from them; `*` for all. See equality.py."""
    foreign: bool = False
    """Whether it declares foreign functions or links libraries."""
    world: bool = False
    """Whether it uses files, processes or the network, which the jail's run profile denies."""
    reads_files: bool = False
    """Whether it may read files other than its modules' at compile time."""
    file_modules: list[str] = field(default_factory=list)
    """Top-level modules that it declares without a body."""
    extern_crates: list[str] = field(default_factory=list)
    """Crates that it declares, as `name` or `name as other`."""
    head: int = 0
    """Byte offset after the inner attributes and inner doc comments at the top."""
    reaching: bool = False
    """Whether it implements a trait in a way that can change type inference elsewhere in its crate."""
    macros: set[str] = field(default_factory=set)
    """Names of macros defined with macro_rules!."""
    crate_ends: list[int] = field(default_factory=list)
    """Byte offset after each `crate` that begins a path: in a shared crate the module's name is inserted there."""

    @property
    def needs_cargo(self) -> bool:
        """Whether only a real package shows what cargo would say."""
        return self.doc_tests or self.world or bool(_ONLY_CARGO & set(self.alone))


class ScanReader:
    """Fills in a scan, node by node: methods are named after node types."""

    def __init__(self, found: Scan, text: str) -> None:
        self.found = found
        self.huge = [match.start() for match in _HUGE.finditer(text.encode(errors="replace"))]
        """Byte offsets of numbers that may make an array huge."""
        self.modules: list[int] = []
        """Ends of the modules around the current node."""
        self.tests_end = 0
        """End of the test modules around the current node."""
        self.tokens: list[str] = []
        self.places: dict[int, int] = {}
        """Indices of tokens by their byte offset."""

    def read(self, root: Node) -> None:
        """Visits every node below the root. Names are read from tokens: white space and comments cannot hide one."""
        found = leaves(root)
        self.tokens = [text_of(leaf).removeprefix("r#") for leaf in found]
        self.places = {leaf.start_byte: number for number, leaf in enumerate(found)}
        for node in walk(root):
            if node.type in _AMONG_TESTS and node.start_byte < self.tests_end:
                self.alone("impl among tests")
            while self.modules and self.modules[-1] <= node.start_byte:
                self.modules.pop()
            handler = getattr(self, f"_{node.type}", None)
            if handler is not None:
                handler(node)

    def alone(self, why: str) -> None:
        """Records why the answer must be compiled alone."""
        if why not in self.found.alone:
            self.found.alone.append(why)

    def _crate(self, node: Node) -> None:
        kind = node.parent.type if node.parent is not None else ""
        if kind in _PATHS and self._after(node, 1) == ["::"]:
            self.found.crate_ends.append(node.end_byte)
        elif kind != "visibility_modifier":
            self.alone("crate")

    def _super(self, node: Node) -> None:
        if not self.modules or self._after(node, 2) == ["::", "super"]:
            self.alone("super")

    def _identifier(self, node: Node) -> None:
        name = text_of(node)
        if name in ("std", "r#std"):
            self.found.world = self.found.world or self._leaves_process(node)
        if name.removeprefix("r#").startswith("include"):
            self.found.reads_files = True
        if name in _ALONE_NAMES:
            self.alone(name)
        elif name in _ALONE_MACROS and self._after(node, 1) == ["!"]:
            self.alone(f"{name}!")

    _type_identifier = _identifier

    def _after(self, node: Node, count: int) -> list[str]:
        """The tokens that follow a token."""
        place = self.places.get(node.start_byte, len(self.tokens))
        return self.tokens[place + 1 : place + 1 + count]

    def _leaves_process(self, node: Node) -> bool:
        """Whether the part of `std` that is used reaches out of the process, or may be all of it under another name."""
        after = self._after(node, 2)
        if len(after) < 2 or after[0] != "::":
            return True
        if after[1] != "{":
            return after[1] in _WORLD or not after[1].isidentifier()
        return bool(first_names(self.tokens, self.places[node.start_byte] + 2) & {*_WORLD, "*", "self", "$"})

    def _macro_invocation(self, node: Node) -> None:
        name = text_of(node.child_by_field_name("macro")).rpartition("::")[2].strip()
        if name in _ALONE_MACROS:
            self.alone(f"{name}!")

    def _macro_definition(self, node: Node) -> None:
        name = text_of(node.child_by_field_name("name"))
        self.found.macros.add(name)
        body = text_of(node)
        if "impl" in body:
            self.found.reaching = True
        if body.count(f"{name}!") > 1 or body.count("macro_rules") > 1 or body.count("$(") > 6:
            self.found.risky = True
        for word in ("super", "self::", "include", "env!", "unsafe", "macro_rules"):
            if word in body[len("macro_rules") :]:
                self.alone(f"macro with {word}")

    def _foreign_mod_item(self, node: Node) -> None:
        self.found.foreign = True
        self.alone("extern block")

    def _extern_crate_declaration(self, node: Node) -> None:
        self.alone("extern crate")
        named = (child for child in node.children if child.type in ("identifier", "as", "crate", "self"))
        self.found.extern_crates.append(" ".join([*map(text_of, named)][1:]))

    def _mod_item(self, node: Node) -> None:
        self.modules.append(node.end_byte)
        if node.child_by_field_name("body") is None:
            self.alone("file module")
            if len(self.modules) == 1:
                self.found.file_modules.append(text_of(node.child_by_field_name("name")))

    def _attribute_item(self, node: Node) -> None:
        attribute = node.named_children[0] if node.named_children else node
        name = re.split(r"[(=\s\[]", text_of(attribute), maxsplit=1)[0].rpartition("::")[2]
        if name in ("test", "bench", "ignore"):
            self.found.unit_tests = True
        elif name in _ALONE_ATTRIBUTES:
            self.found.reads_files = self.found.reads_files or "path" in text_of(attribute)
            self.alone(f"#[{name}]")
        elif name == "doc" and "=" in text_of(attribute):
            self.found.doc_tests = self.found.doc_tests or _has_example(text_of(attribute))
        elif name in ("cfg", "cfg_attr"):
            self._conditional(node, attribute)

    def _conditional(self, node: Node, attribute: Node) -> None:
        self.found.unit_tests = True
        item, steps = node.next_named_sibling, 0
        while (
            item is not None
            and item.type in ("attribute_item", "line_comment", "block_comment")
            and steps < 20
        ):
            item, steps = item.next_named_sibling, steps + 1
        condition = re.sub(r"\s", "", text_of(attribute))
        if condition != "cfg(test)" or item is None or item.type != "mod_item":
            self.alone("cfg")
        else:
            self.tests_end = max(self.tests_end, item.end_byte)

    def _inner_attribute_item(self, node: Node) -> None:
        attribute = node.named_children[0] if node.named_children else node
        name = re.split(r"[(=\s\[]", text_of(attribute), maxsplit=1)[0]
        if name not in _HARMLESS_INNER:
            self.alone(f"#![{name}]")

    def _line_comment(self, node: Node) -> None:
        text = text_of(node)
        if text.startswith(("///", "//!")) and not text.startswith("////") and _has_example(text[3:]):
            self.found.doc_tests = True

    def _block_comment(self, node: Node) -> None:
        text = text_of(node)
        if text.startswith(("/**", "/*!")) and any(_has_example(x.lstrip(" *")) for x in text.split("\n")):
            self.found.doc_tests = True

    def _impl_item(self, node: Node) -> None:
        trait = node.child_by_field_name("trait")
        target = node.child_by_field_name("type")
        if trait is not None and (
            trait.type == "generic_type" or target is None or target.type != "type_identifier"
        ):
            self.found.reaching = True

    def _const_block(self, node: Node) -> None:
        self.found.risky = True
        self.alone("const block")

    def _function_modifiers(self, node: Node) -> None:
        if "const" in text_of(node).split():
            self.found.risky = True

    def _const_item(self, node: Node) -> None:
        value = text_of(node.child_by_field_name("value"))
        inside = node.parent is not None and node.parent.type == "declaration_list"
        if inside and ("(" in value or "!" in value):
            self.alone("associated const")  # its errors appear only in code generation
        if any(word in value for word in ("loop", "while", "(")) or self._is_huge(node):
            self.found.risky = True

    _static_item = _const_item

    def _array_type(self, node: Node) -> None:
        if self._is_huge(node):
            self.found.risky = True

    _array_expression = _array_type

    def _is_huge(self, node: Node) -> bool:
        first = bisect_left(self.huge, node.start_byte)
        return first < len(self.huge) and self.huge[first] < node.end_byte


def _has_example(text: str) -> bool:
    return "```" in text or "~~~" in text or text.startswith(("     ", "\t"))


def steps_for(text: str) -> int:
    """Maximum nodes to visit for a text, proportional to its length."""
    return 20_000 + STEPS * len(text)


@lru_cache(maxsize=1024)
def scan(text: str) -> Scan:
    """Scans one text; the results are cached."""
    found = Scan()
    if len(text.encode(errors="replace")) > LONGEST:
        found.alone.append("long")
        found.risky = True
        return found
    root = parse(text)
    found.broken = not balanced(text)
    found.head = _head(root)
    try:
        with bounded(steps_for(text)):
            ScanReader(found, text).read(root)
            found.own_equality = own_equality(root)
    except TooCostly:
        found.alone.append("long")
        found.risky = True
    if text.startswith("#!") and not text.startswith("#!["):
        found.alone.append("script line")
    if "$crate" in text:
        found.alone.append("$crate")
    return found


def _head(root: Node) -> int:
    end = 0
    for child in root.children:
        if child.type in ("inner_attribute_item", "shebang"):
            end = child.end_byte
        elif child.type not in ("line_comment", "block_comment"):
            break
        elif text_of(child).startswith(("//!", "/*!")):
            end = child.end_byte
    return end


_TOKEN = re.compile(
    r"""
      //[^\n]*
    | /\*                                             # block comments nest
    | (?:b|c)?r(?P<hashes>\#*)"                        # raw strings
    | (?:b|c)?"(?:[^"\\]|\\.)*(?P<closed>"?)           # strings
    | b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'\n])'          # characters
    | '[A-Za-z_]\w*                                    # lifetimes
    | [(\[{}\])]
    """,
    re.X | re.S,
)
_CLOSES = {")": "(", "]": "[", "}": "{"}


def balanced(text: str) -> bool:
    """Whether all brackets match and every string and comment ends. Linear in the text."""
    open_brackets: list[str] = []
    position = 0
    while (match := _TOKEN.search(text, position)) is not None:
        token, position = match.group(), match.end()
        if token == "/*":
            position = _comment_end(text, position)
        elif match["hashes"] is not None:
            end = text.find('"' + match["hashes"], position)
            position = end + 1 + len(match["hashes"]) if end >= 0 else -1
        elif match["closed"] == "":
            return False
        elif token in "([{":
            open_brackets.append(token)
        elif token in _CLOSES and (not open_brackets or open_brackets.pop() != _CLOSES[token]):
            return False
        if position < 0:
            return False
    return not open_brackets


def _comment_end(text: str, position: int) -> int:
    depth = 1
    for match in re.compile(r"/\*|\*/").finditer(text, position):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    return -1
