"""Measures an answer's own tests: the assertions in their text, and the share of small faults that they notice.

Threat model: the answer wrote the tests that judge it, so a pass shows nothing if the tests check nothing. The same
answer with injected faults is judged on the same trusted path as every verdict. Tests that run the code and ignore its
results still kill mutants that crash. So killed mutants run again with assertions that never fail, until one of them
survives: a test that still fails crashed and noticed nothing. Such assertions still evaluate their operands,
so a panic inside one still fails the test. `.unwrap()`, `?` and `panic!` of the tests stay and count as crashing.
"""

from hashlib import sha256
from itertools import pairwise

from pydantic import Field

from strop_verify.code.mutate.mutants import Mutant
from strop_verify.code.mutate.sites import OPERATORS
from strop_verify.code.rust.items import RustItems
from strop_verify.code.trees import MOST_BYTES, Node, Regions, Source, Span, span
from strop_verify.core.records import Record
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.verification.strength.rust_suite import rust_suite

_KILLS = frozenset({Outcome.FAILED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY})


def count_assertions(code: str) -> int:
    """How many assertions in tests that run can fail because of the code under test.

    Constant and unreachable ones and repetitions within a test do not count; `rust_suite` defines what does. Returns 0
    for text longer than `MOST_BYTES`.
    """
    source = Source(code, "rust")
    return 0 if source.too_long else sum(rust_suite(source).real_claims().values())


def own_tests_hold(answer: str) -> str | None:
    """Why these tests do not count, in one line; None if they may."""
    source = Source(answer, "rust")
    if source.too_long:
        return f"the answer is longer than {MOST_BYTES} bytes"
    suite = rust_suite(source)
    if suite.faults:
        return suite.faults[0]
    if suite.generated:
        return None  # tests made by a macro are not visible here; only running them can tell
    if not (tests := suite.tests()):
        return "there is no test"
    live = suite.live()
    if not live:
        cut = any(test.removed for test in tests)
        return "every test is ignored" + (" or removed by a cfg" if cut else "")
    touched = suite.touched()
    if all(scope.names.isdisjoint(touched) for scope in live):
        return "no test calls the code under test"
    if not any(suite.real_claims().values()):
        return "no assertion depends on the code under test"
    return None


class Strength(Record):
    """The result of mutating an answer with its own tests."""

    made: int = 0
    """Mutants that were verified."""
    compiled: int = 0
    """Mutants that built and whose tests gave a result."""
    killed: int = 0
    """Compiled mutants whose tests failed, hung or ran out of memory."""
    reasons: list[str] = Field(default_factory=list)
    """Why the tests do not count, and the faults that they missed; one line each."""
    holds: bool = True
    """False if the tests do not count: mutants compiled, and none was killed."""

    @property
    def score(self) -> float | None:
        """`killed / compiled`, in [0, 1]; None if no mutant compiled."""
        return self.killed / self.compiled if self.compiled else None


def killers(made: list[Mutant], verdicts: list[Verdict]) -> list[Mutant]:
    """The killed mutants; those whose operator crashes least come first."""
    dead = [mutant for mutant, verdict in zip(made, verdicts, strict=True) if killed(verdict)]
    return sorted(dead, key=lambda mutant: OPERATORS.index(mutant.operator))


def controls(answer: str, dead: list[Mutant]) -> list[str]:
    """The texts to run for `witnessed`: the answer and these mutants, with assertions that never fail."""
    return [neutral(text) for text in (answer, *(mutant.text for mutant in dead))]


def witnessed(verdicts: list[Verdict]) -> bool | None:
    """Whether a mutant survives if assertions never fail, from the verdicts on `controls`, in order.

    None if unknown: the answer itself does not pass that way, or no mutant builds.
    """
    base, *rest = [killed(verdict) for verdict in verdicts]
    if base is not False or all(dead is None for dead in rest):
        return None
    return False in rest


def judge(made: list[Mutant], verdicts: list[Verdict]) -> Strength:
    """The strength shown by the verdicts on these mutants."""
    told = [(mutant, killed(verdict)) for mutant, verdict in zip(made, verdicts, strict=True)]
    compiled = [(mutant, dead) for mutant, dead in told if dead is not None]
    missed = [f"not noticed: {mutant}" for mutant, dead in compiled if not dead]
    count = len(compiled) - len(missed)
    if compiled and not count:
        missed.insert(0, f"the tests notice none of {len(compiled)} faults injected into the code")
    if not compiled:
        missed = ["no mutant gave a result"]
    return Strength(
        made=len(made), compiled=len(compiled), killed=count, reasons=missed, holds=not compiled or count > 0
    )


def killed(verdict: Verdict) -> bool | None:
    """Whether the tests noticed this mutant; None if it did not build, or its tests gave no result.

    The test stage decides; a failed lint does not matter. Without a test stage the outcome decides.
    """
    build, test = verdict.stage("build"), verdict.stage("test")
    if verdict.outcome in (Outcome.ERROR, Outcome.TAMPERED, Outcome.NO_ANSWER):
        return None
    if build is not None and not build.passed:
        return None
    if test is not None:
        return not test.passed
    if verdict.outcome is Outcome.PASSED:
        return False
    lint = verdict.stage("lint")
    if build is None or (lint is not None and not lint.passed):
        return None
    return verdict.outcome in _KILLS


_LOOKS = {f"{debug}assert{kind}": f"looks{kind}" for debug in ("", "debug_") for kind in ("", "_eq", "_ne")}
_PATTERNS = {
    "looks": ("$a:expr", "$a"),
    "looks_eq": ("$a:expr, $b:expr", "$a == $b"),
    "looks_ne": ("$a:expr, $b:expr", "$a != $b"),
}


def neutral(code: str) -> str:
    """`code` with assertions that never fail; unchanged if it is too long."""
    source = Source(code, "rust")
    if source.too_long:
        return code
    data = source.data
    for (start, end), text in sorted(_without_assertions(source), reverse=True):
        data = data[:start] + text.encode() + data[end:]
    return data.decode("utf-8", "surrogatepass")


def _without_assertions(source: Source) -> list[tuple[Span, str]]:
    items = RustItems(source)
    places = Regions([*items.regions.spans, *(span(n) for n in source.all("macro_definition"))])
    edits: list[tuple[Span, str]] = []
    mark_of_text = sha256(source.data).hexdigest()[:12]  # so that no answer can have used the name
    leaves = source.leaves(source.root)
    for name, mark in pairwise(leaves):
        if mark.type == "!" and name.type == "identifier" and places.hold(name):
            after = _LOOKS.get(source.string(name))
            edits += [(span(name), f"{after}_{mark_of_text}")] if after else []
    for function in items.functions:
        if function.should_panic:
            edits += [(span(a), "#[allow(dead_code)]") for a in _attributes_before(function.node)]
    first = next((n for n in source.root.named_children if n.type not in _AT_THE_TOP), source.root)
    macros = "".join(
        f"#[allow(unused_macros)] macro_rules! {name}_{mark_of_text} "
        f"{{ ({taken} $(, $($r:tt)*)?) => {{{{ let _ = {looked}; }}}}; }} "
        for name, (taken, looked) in _PATTERNS.items()
    )
    return [*edits, ((first.start_byte, first.start_byte), macros)]


_AT_THE_TOP = frozenset({"inner_attribute_item", "line_comment", "block_comment", "shebang"})


def _attributes_before(node: Node) -> list[Node]:
    found, before = [], node.prev_named_sibling
    while before is not None and before.type == "attribute_item":
        found.append(before)
        before = before.prev_named_sibling
    return found
