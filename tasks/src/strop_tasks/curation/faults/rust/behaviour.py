"""Operators whose faults build and fail a test: off-by-one errors and inverted logic."""

from collections.abc import Iterator
from functools import lru_cache

from strop_tasks.curation.faults.operators import RUST, Edit, Kind, replace, whole_line
from strop_tasks.curation.faults.rust.nodes import METHOD
from strop_verify.code.mutate.rust_sites import sites
from strop_verify.code.mutate.sites import Change
from strop_verify.code.trees import Source

_NAMED = ("function_item", "struct_item", "enum_item", "trait_item")
_STRUCTURAL = frozenset({"array_type", "field_expression", "match_pattern", "range_pattern"})
_FROZEN = frozenset({"const_item", "static_item", "attribute_item", "while_expression", "type_arguments"})
_SIMPLE = """[(identifier) (integer_literal) (float_literal) (field_expression) (call_expression)
              (parenthesized_expression) (index_expression)]"""
_OPPOSITE = {
    "min": "max", "max": "min", "any": "all", "all": "any", "first": "last", "last": "first", "take": "skip",
    "skip": "take", "is_some": "is_none", "is_none": "is_some", "is_ok": "is_err", "starts_with": "ends_with",
    "ends_with": "starts_with", "to_uppercase": "to_lowercase", "to_lowercase": "to_uppercase",
    "trim_start": "trim_end", "trim_end": "trim_start", "min_by_key": "max_by_key", "max_by_key": "min_by_key",
    "is_lowercase": "is_uppercase", "is_uppercase": "is_lowercase", "is_alphabetic": "is_alphanumeric",
    "position": "rposition", "find": "rfind", "saturating_add": "wrapping_add", "push_back": "push_front",
    "is_ascii_uppercase": "is_ascii_lowercase", "is_ascii_lowercase": "is_ascii_uppercase",
    "to_ascii_uppercase": "to_ascii_lowercase", "to_ascii_lowercase": "to_ascii_uppercase",
}  # fmt: skip
_NAMES: dict[str, tuple[str, Kind]] = {
    "boundary": ("boundary", "off-by-one"), "range": ("range-end", "off-by-one"),
    "comparison": ("comparison", "logic"), "arithmetic": ("arithmetic", "logic"), "boolean": ("boolean", "logic"),
    "negated condition": ("negated-condition", "logic"),
}  # fmt: skip
"""Operators shared with the mutants of test strength: their name there, here, and their kind."""
_LARGEST = 100  # integers up to this are changed by one


@lru_cache(maxsize=8)
def _sites(text: str) -> tuple[Change, ...]:
    """The mutation sites of a program, as if its tests reached all of it."""
    source = Source(text, "rust")
    named = (node.child_by_field_name("name") for node in source.all(*_NAMED))
    reached = "; ".join(source.string(name) for name in named if name is not None)
    tested = Source(f"{text}\n#[cfg(test)]\nmod tests {{ fn reach() {{ {reached} }} }}\n", "rust")
    return tuple(site for site in sites(tested) if site.end <= len(source.data))


def _from_mutants(theirs: str, ours: str, kind: Kind) -> None:
    @RUST.add(ours, kind)
    def _find(source: Source) -> Iterator[Edit]:
        return ((s.start, s.end, s.after) for s in _sites(source.text) if s.operator == theirs)


for _theirs, (_ours, _kind) in _NAMES.items():
    _from_mutants(_theirs, _ours, _kind)


@RUST.add("one-more-or-less", "off-by-one")
def _one_more_or_less(source: Source) -> Iterator[Edit]:
    """An integer off by one."""
    for node in source.all("integer_literal"):
        text, parent = source.string(node), source.parent(node)
        if not text.isdigit() or int(text) > _LARGEST or parent is None or parent.type in _STRUCTURAL:
            continue
        if source.within(node, _FROZEN) is None:
            yield replace(node, str(int(text) + 1))
            if int(text) > 0:
                yield replace(node, str(int(text) - 1))


# `x.len() - 1` becomes `x.len()`, `i + 1` becomes `i`; `a - b` becomes `b - a`
RUST.rule(
    "whole-length", "off-by-one", to="{a}",
    at='(binary_expression left: (_) @a operator: ["+" "-"] right: (integer_literal) @b (#eq? @b "1")) @at',
)  # fmt: skip
RUST.words("opposite-method", "logic", at=METHOD, others=_OPPOSITE)
RUST.swap(
    "swap-operands", "logic",
    at=f'(binary_expression left: {_SIMPLE} @a operator: ["-" "/" "%"] right: {_SIMPLE} @b) @at',
)  # fmt: skip


@RUST.add("drop-statement", "logic")
def _drop_statement(source: Source) -> Iterator[Edit]:
    """A statement left out."""
    for site in _sites(source.text):
        if site.operator == "deletion":
            node = source.root.descendant_for_byte_range(site.start, site.end)
            span = whole_line(source.data, node.start_byte, node.end_byte) if node else (site.start, site.end)
            yield (*span, "")
