"""The files of one crate of answers, and the names of its tests.

`Shared`: many answers, each a module in its own file, so that no brace of one can reach another. `Alone`: one answer as
the crate's root, if its text depends on that. Trusted tests are separate files as well, with names that start with
`zt`; strict mode declares them inside the answer's module, as `TRUSTED`, with nothing of the answer above them.
"""

from collections.abc import Sequence

from strop_verify.code.trees import parse, text_of, walk
from strop_verify.verification.rust.case import RustAnswer
from strop_verify.verification.rust.crates import code_name, manifest
from strop_verify.verification.rust.trusted_tests import edited, guarded

TRUSTED = "zt_trusted_tests"
"""Name of the module of trusted tests within an answer's; an answer that contains it is refused."""
TESTS_CRATE = "zt_tests"
"""Name of the crate of integration tests."""
LIBRARY = "zlib"
"""Name of the crate that integration tests of a shared crate link."""


class Shared:
    """Files of several answers in one crate, either all with integration tests or none."""

    crate = LIBRARY
    root = "lib.rs"
    tests_root = "tests.rs"

    def files(self, cases: Sequence[RustAnswer]) -> dict[str, str]:
        """Every answer with its tests."""
        found = {}
        for case in cases:
            # paths from the crate root become paths from its module
            answer = edited(case.answer, ((end, end, f"::{case.module}") for end in case.scan.crate_ends))
            found[f"{case.module}.rs"] = _with_tests(case, answer)
            if case.integration:
                name = f"use ::{LIBRARY}::{case.module} as {case.crate};"
                found[f"{self._tests_module(case)}.rs"] = _in_every_module(_tests(case), name, case.crate)
            elif case.trusted is not None:
                found[f"{case.module}/{TRUSTED}.rs"] = trusted_text(case)
        return found

    def late(self, cases: Sequence[RustAnswer]) -> set[str]:
        """Files that are needed only for the tests, after the library has been built."""
        return {f"{self._tests_module(case)}.rs" for case in cases if case.integration}

    def roots(self, cases: Sequence[RustAnswer], *, tests: bool = False) -> dict[str, str]:
        """The crate root that declares these answers; with `tests` the root of their integration tests, if any."""
        root = "".join(f"pub mod {case.module};\n" for case in cases)
        if tests and cases and cases[0].integration:
            return {self.tests_root: "".join(f"mod {self._tests_module(case)};\n" for case in cases)}
        return {self.root: root}

    def beside(self, cases: Sequence[RustAnswer]) -> dict[str, str]:
        """Files beside the test program when it runs."""
        return {}

    def owner(self, file: str, cases: Sequence[RustAnswer]) -> RustAnswer | None:
        """The answer that a file name in diagnostics belongs to."""
        head = file.removeprefix("./").partition("/")[0].removesuffix(".rs")
        return next((c for c in cases if head in (c.module, self._tests_module(c))), None)

    def prefix(self, case: RustAnswer) -> str:
        """Prefix of the answer's test names in the test program."""
        return f"{self._tests_module(case) if case.integration else case.module}::"

    def trusted_prefix(self, case: RustAnswer) -> str:
        """Prefix of the names of trusted tests."""
        return self.prefix(case) + ("" if case.integration else f"{TRUSTED}::")

    def trusted_path(self, case: RustAnswer) -> str:
        """Prefix of the paths of types that trusted tests define."""
        if case.trusted is None:
            return ""
        return (f"{TESTS_CRATE if case.integration else self.crate}::" + self.trusted_prefix(case)).rstrip(
            ":"
        )

    def _tests_module(self, case: RustAnswer) -> str:
        return f"zt{case.module[2:]}"


class Alone(Shared):
    """Files of one answer as a crate root."""

    root = "src/lib.rs"

    def __init__(self, case: RustAnswer) -> None:
        self.crate = case.crate
        self.tests_root = f"tests/{case.crate}.rs" if case.trusted is None else "tests/zt.rs"

    def files(self, cases: Sequence[RustAnswer]) -> dict[str, str]:
        """The answer and its tests."""
        (case,) = cases
        found = {**case.check.files, self.root: _with_tests(case, case.answer)}
        if case.integration:
            found[self.tests_root] = _tests(case)
        elif case.trusted is not None:
            found[f"src/{TRUSTED}.rs"] = trusted_text(case)
        return found

    def late(self, cases: Sequence[RustAnswer]) -> set[str]:
        """The file of integration tests."""
        return {self.tests_root} if cases[0].integration else set()

    def roots(self, cases: Sequence[RustAnswer], *, tests: bool = False) -> dict[str, str]:
        """Nothing: the answer is the root."""
        return {}

    def beside(self, cases: Sequence[RustAnswer]) -> dict[str, str]:
        """The manifest, as under cargo, for tests that use files."""
        (case,) = cases
        crates = [entry for entry in case.check.crates if code_name(entry) in case.crates]
        return {"Cargo.toml": manifest(case.crate, case.check.edition, crates)} if case.worldly else {}

    def owner(self, file: str, cases: Sequence[RustAnswer]) -> RustAnswer | None:
        """The one answer."""
        return cases[0] if cases else None

    def prefix(self, case: RustAnswer) -> str:
        """Empty: its tests have the names that cargo prints."""
        return ""

    def trusted_prefix(self, case: RustAnswer) -> str:
        """Prefix of the names of trusted tests; the answer's own have none."""
        return "" if case.integration else f"{TRUSTED}::"


def _in_every_module(tests: str, declaration: str, crate: str) -> str:
    """The tests with a declaration in each module that names the crate, since a crate's name is known in all."""
    bodies = [n for n in walk(parse(tests)) if n.type == "declaration_list" and n.parent is not None]
    ends = [n.end_byte - 1 for n in bodies if n.parent.type == "mod_item" and crate in text_of(n)]  # type: ignore[union-attr]
    return f"{edited(tests, ((end, end, f' {declaration} ') for end in ends))}\n{declaration}\n"


def trusted_text(case: RustAnswer) -> str:
    """The content of the module of trusted tests: the tests, or the function that serves their calls."""
    assert case.trusted is not None
    return case.calls.server() if case.calls is not None else _tests(case)


def _tests(case: RustAnswer) -> str:
    if case.trusted is None:
        return case.check.tests
    if case.rounds is None:
        return case.trusted.text
    return guarded(case.trusted.source, case.task.reference, literals=True)


def _with_tests(case: RustAnswer, answer: str) -> str:
    if case.integration or not case.check.tests:
        return answer
    if case.trusted is None:
        return f"{answer}\n{case.check.tests}"
    # The lint is set here, so that an answer cannot allow literals that overflow and so make comparisons hold.
    declaration = f"#[cfg(test)] #[warn(overflowing_literals)] mod {TRUSTED};"
    if case.trusted.uses_own_macros:
        return f"{answer}\n{declaration}\n"
    data, head = answer.encode(), case.scan.head
    above, below = data[:head].decode(), data[head:].decode()
    if above and below.startswith("\n"):
        above, below = above + "\n", below[1:]  # not inside a comment; line numbers stay the same
    return f"{above} {declaration} {below}"
