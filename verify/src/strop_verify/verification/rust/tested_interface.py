"""Requires the parts of an answer that trusted tests touch to match the reference.

An answer is compiled with its tests, so its types, methods, operators, names and macros could do the tests' work for
them. The reference is the standard, and only what the tests name or reach counts: kinds of types, variants, types in
signatures and fields, hand-written comparisons and operators, methods, names and macros. Everything else is free.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from strop_verify.code.trees import parse, walk
from strop_verify.verification.rust.heads import OPAQUE, OPAQUES, FunctionHead
from strop_verify.verification.rust.names import leaves, methods_called, plain
from strop_verify.verification.rust.outline import Outline, known_outline
from strop_verify.verification.rust.trusted_tests import PRELUDE

_COMPARISONS = {"PartialEq", "Eq", "PartialOrd", "Ord", "Deref", "DerefMut", "Index", "IndexMut", "Borrow"}
_OPERATORS = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Rem": "%", "Neg": "-", "Not": "!", "BitAnd": "&",
              "BitOr": "|", "BitXor": "^", "Shl": "<<", "Shr": ">>", "AddAssign": "+=", "SubAssign": "-=",
              "MulAssign": "*=", "DivAssign": "/="}  # fmt: skip
_WALKED = {"IntoIter"}
"""Associated types whose values give a test only their items."""
_ALSO = {
    "into": "from",
    "try_into": "try_from",
    "to_string": "fmt",
    "parse": "from_str",
    "collect": "from_iter",
}
"""Methods that another one provides."""
_BY_DERIVE = {"default": "Default", "clone": "Clone", "eq": "PartialEq", "ne": "PartialEq", "cmp": "Ord",
              "partial_cmp": "PartialOrd", "hash": "Hash"}  # fmt: skip
_POINTERS = {"Box", "Rc", "Arc"}
_LEAPS = {"return", "break", "continue"}
_NAMED_BY_US = frozenset(PRELUDE)
"""Names that the tests import by name."""
_NAMED_TYPES = {"struct", "enum", "union", "alias", "trait"}


@dataclass(frozen=True)
class TestedInterface:
    """The names that a task's tests use, and the task's reference."""

    reference: Outline
    names: frozenset[str]
    tokens: frozenset[str]
    methods: frozenset[str]
    """Names after a dot or `::`."""
    free: frozenset[str]
    """Names that the tests use without a path and do not define."""
    called: frozenset[str]
    """The free names followed by a bracket, a path or `!`."""
    applied: frozenset[str]
    """Names followed by a bracket."""
    types: frozenset[str]
    """Types of the reference that the tests name or reach through signatures, fields, constants and impl blocks."""
    macros: frozenset[str]
    """Macros of the reference that the tests call."""
    opaque: bool
    """Whether a function that the tests name returns a type without a name."""


@lru_cache(maxsize=512)
def touch(tests: str, reference: str, crate: str = "") -> TestedInterface:
    """The parts of an answer that tests touch."""
    root, known = parse(tests), known_outline(reference)
    attributes = [n for n in walk(root) if n.type in ("attribute_item", "inner_attribute_item")]
    spans = {(n.start_byte, n.end_byte) for n in attributes}
    tokens = [plain(n) for n in leaves(root) if not any(s <= n.start_byte < e for s, e in spans)]
    inside = {"super", "self", "crate", crate} | {n for n, kinds in known.kinds.items() if "mod" in kinds}
    free, called = set(), set()
    padded = ["", "", *tokens, ""]
    for number in range(2, len(padded) - 1):
        earlier, before, name, after = padded[number - 2 : number + 2]
        if name.isidentifier() and before != "." and (before != "::" or earlier in inside):
            free.add(name)
            if after in ("(", "::", "!"):
                called.add(name)
    local = known_outline(tests)
    generic = {plain(n.child_by_field_name("name")) for n in walk(root) if n.type == "type_parameter"}
    free -= set(local.kinds) | {f.name for f in local.functions} | generic | local.standard | {crate}
    names = {t for t in tokens if t.isidentifier()} | {
        b for a, b in pairwise(tokens) if a == "." and b.isdigit()
    }
    types = {n for n in free if known.kinds.get(n, set()) & _NAMED_TYPES}
    for function in known.functions:
        if function.name in names:
            types |= known.spelled_out(function.head) & (known.own | set(known.aliases))
    types = _reached(known, types, names)
    return TestedInterface(
        reference=known,
        names=frozenset(names),
        tokens=frozenset(tokens),
        methods=frozenset(methods_called(root) | {b for a, b in pairwise(tokens) if a == "::"}),
        free=frozenset(free),
        called=frozenset(called & free),
        applied=frozenset(a for a, b in pairwise(tokens) if b == "("),
        types=frozenset(types),
        opaque=any(f.name in names and OPAQUE in f.head for f in known.functions),
        macros=frozenset(n for n in called if "macro" in known.kinds.get(n, ()))
        | {b for a, b in pairwise(reversed(tokens)) if a == "!" and "macro" in known.kinds.get(b, ())},
    )


def _reached(known: Outline, types: set[str], names: set[str]) -> set[str]:
    """These types, those of fields and constants that tests name, and the associated types of all of them."""
    own = known.own | set(known.aliases)
    found, before = set(types), -1
    while len(found) > before:
        before = len(found)
        for (owner, name), inside in known.fields.items():
            if name in names and (not owner or owner in found):
                found |= known.spelled_out(inside) & own
        for made in known.impls:
            if known.spelled_out(made.targets) & found:
                found |= {n for inside in made.types.values() for n in known.spelled_out(inside)} & own
    return found


def stand_in(answer: Outline, tests: TestedInterface, *, whole: bool) -> str:
    """Why a part of the answer could replace what the tests mean; empty if none can.

    `whole`: the answer has no further files, which could define what is missing.
    """
    return (
        _kinds(answer, tests, whole=whole)
        or _heads(answer, tests)
        or _operators(answer, tests)
        or _methods(answer, tests)
        or _names(answer, tests)
        or _macros(answer, tests)
    )


def _kinds(answer: Outline, tests: TestedInterface, *, whole: bool) -> str:
    known = tests.reference
    functions = {n for n in tests.free if "fn" in known.kinds.get(n, ())}
    for name in sorted((tests.types & tests.free) | functions):
        wanted, found = known.kinds.get(name, set()), answer.kinds.get(name, set())
        if whole and (name in tests.types or name in tests.called):
            if name not in answer.top and name in answer.in_macros:
                return f"{name} is defined by a macro only"
            if not found:
                return f"the tests use {name}, which the answer does not define"
        if name in answer.renamed - known.renamed:
            return f"{name} is an alias of another item"
        if found - wanted:
            return f"{name} is not the same kind of item as in the task: {min(found - wanted)}"
        if name in answer.empty - known.empty:
            return f"{name} holds no data"
        lacking = (known.variants.get(name, set()) & tests.names) - answer.common.get(name, set())
        if lacking and found:
            return f"{name} has no variant {min(lacking)}"
    made = _types_of_macros(answer) - _types_of_macros(known)
    return f"{min(made & tests.types)} is defined by a macro" if made & tests.types else ""


def _types_of_macros(text: Outline) -> set[str]:
    """Types that a text's macros may define."""
    return text.types_of_macros | (text.given if "$" in text.types_of_macros else set())


def _strangers(answer: Outline, known: Outline, names: frozenset[str], wanted: frozenset[str]) -> set[str]:
    """The answer's own types among `names` that are not own types of the reference among `wanted`."""
    unsaid = {OPAQUE, OPAQUES}
    own = answer.spelled_out(names) & (answer.own | (unsaid & names))
    if own:
        own |= answer.spelled_out(names) & _types_of_macros(answer)
    allowed = known.spelled_out(wanted)
    return own - (allowed & (known.own | unsaid))


def _heads(answer: Outline, tests: TestedInterface) -> str:
    known = tests.reference
    for function in answer.functions:
        if function.name not in tests.names or not _is_touched(answer, tests, function):
            continue
        named = [f for f in known.functions if f.name == function.name]
        same = [f for f in named if f.owners == function.owners] or named
        wanted = frozenset(n for f in same for n in f.head | f.owners)
        bad = _strangers(answer, known, function.head, wanted) - (function.owners & tests.types)
        if same and bad:
            return f"{function.name} uses a type that the answer defines and the task does not: {_shown(bad)}"
    for (owner, name), inside in sorted(answer.fields.items()):
        wanted = known.fields.get((owner, name), frozenset())
        taken_apart = name.isdigit() and owner in tests.applied
        seen = (owner, name) in known.fields and (not owner or owner in tests.types)
        seen = seen and (name in tests.names or taken_apart or not name)
        if seen and (bad := _strangers(answer, known, inside, wanted)):
            what = name or owner
            return f"{what} uses a type that the answer defines and the task does not: {_shown(bad)}"
    for made in answer.impls:
        if answer.spelled_out(made.targets) & tests.types:
            for name in made.types.keys() - _WALKED:
                wanted = frozenset(n for k in known.impls for n in k.types.get(name, ()))
                bad = _strangers(answer, known, made.types[name], wanted) - tests.types
                if bad:
                    return f"{made.trait} has an associated type that the answer defines: {_shown(bad)}"
    return ""


def _shown(names: set[str]) -> str:
    return "one without a name" if min(names) in (OPAQUE, OPAQUES) else min(names)


def _is_touched(answer: Outline, tests: TestedInterface, function: FunctionHead) -> bool:
    if not function.owners:
        return function.name in answer.kinds
    in_trait = function.owners == {function.trait}
    return in_trait or OPAQUE in function.owners or bool(answer.spelled_out(function.owners) & tests.types)


def _operators(answer: Outline, tests: TestedInterface) -> str:
    known = tests.reference
    for made in answer.impls:
        if made.trait not in _COMPARISONS and _OPERATORS.get(made.trait) not in tests.tokens:
            continue
        same = [k for k in known.impls if k.trait == made.trait]
        targets = answer.spelled_out(made.targets)
        if made.trait in _COMPARISONS and not targets & (answer.own | answer.in_macros):
            if not any(not k.targets & known.own for k in same):
                return f"{made.trait} for a type that is not the answer's"
        elif OPAQUE in made.targets and tests.types and not any(OPAQUE in k.targets for k in same):
            return f"{made.trait} for a type that is hidden"
        elif targets & tests.types - {n for k in same for n in known.spelled_out(k.targets)}:
            return f"a hand-written {made.trait} for {min(targets & tests.types)}, which the tests use"
    return _operators_of_macros(answer, tests)


def _operators_of_macros(answer: Outline, tests: TestedInterface) -> str:
    if not tests.types:
        return ""
    filled = answer.filled - tests.reference.filled
    if OPAQUE in filled or answer.spelled_out(frozenset(filled)) & tests.types:
        return f"a macro writes into the body of {_shown(filled)}, which the tests use"
    if "impl" not in answer.in_macros - tests.reference.in_macros:
        return ""
    if named := answer.in_macros & (_COMPARISONS | _OPERATORS.keys()):
        return f"a macro that implements {min(named)}, where the tests use types of the answer"
    taken = answer.made_by_macros & {"$", *tests.methods - {"from"}}
    return f"a macro that defines what the tests use: {min(taken)}" if taken else ""


def _methods(answer: Outline, tests: TestedInterface) -> str:
    known = tests.reference
    wanted = {f.name for f in known.functions}
    derived = {d for n in tests.types for d in known.derives.get(n, ())}
    for function in answer.functions:
        name = function.name
        foreign = name in tests.methods and _for_foreign(answer, function)
        if foreign and not any(f.name == name and _for_foreign(known, f) for f in known.functions):
            return f"a trait of the answer has a method {name} for a type that is not the answer's"
        if not function.owners or name not in tests.methods or name in wanted or _ALSO.get(name) in wanted:
            continue
        if function.trait and _BY_DERIVE.get(name) == function.trait and function.trait in derived:
            continue
        if _is_touched(answer, tests, function) or (tests.opaque and function.trait and name != "next"):
            return f"the answer defines a method {name}, which the tests expect of another type"
    return ""


def _for_foreign(text: Outline, function: FunctionHead) -> bool:
    """Whether a method implements a trait of the text for a foreign type, or for all types."""
    own = function.owners & (text.own | text.aliases.keys() | text.in_macros | {OPAQUE})
    return function.trait in text.own and not own and not function.owners & _POINTERS


def _names(answer: Outline, tests: TestedInterface) -> str:
    known = tests.reference
    seen = {name: kinds for name, kinds in answer.kinds.items() if name in answer.top or answer.glob}
    taken = {n for n in seen if n in (tests.called if seen[n] <= {"fn", "mod", "macro"} else tests.free)}
    if answer.glob:
        taken |= {v for variants in answer.variants.values() for v in variants} & tests.free
    taken |= answer.imports & tests.free
    variants_known = {v for variants in known.variants.values() for v in variants}
    taken |= (answer.defined_by_macros - _NAMED_BY_US - known.in_macros) & tests.free
    taken -= known.kinds.keys() | known.imports | (variants_known - seen.keys())
    return f"the answer redefines a name that the tests use differently: {min(taken)}" if taken else ""


def _macros(answer: Outline, tests: TestedInterface) -> str:
    known = tests.reference
    if not tests.macros:
        return ""
    if leaps := answer.in_macros & _LEAPS - known.in_macros:
        return f"a macro that the tests may call leaves the test: {min(leaps)}"
    made = {f.name for f in answer.functions if _strangers(answer, known, f.head, frozenset())}
    bad = answer.in_macros & (answer.own | made | answer.aliases.keys()) - known.in_macros
    return f"a macro that the tests may call uses a type that the answer defines: {min(bad)}" if bad else ""
