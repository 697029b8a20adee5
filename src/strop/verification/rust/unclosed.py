"""Answers whose brackets or quotes do not close, told by one process.

rustc ends at the first file of that kind, so each would cost a compilation. rustfmt has rustc's own parser and goes on
to the next file. An answer is told broken only where our lexer and rustfmt agree; all others are compiled as usual.
"""

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from strop.verification.rust.case import RustAnswer
from strop.verification.rust.compiler import COMPILE, Compiler
from strop.verification.rust.layout import Shared

if TYPE_CHECKING:
    from strop.sandbox import Work

_FATAL = re.compile(
    r"error(?:\[E\d+\])?: (?:this file contains an unclosed delimiter|mismatched closing delimiter|"
    r"unexpected closing delimiter|unterminated)[^\n]*\n +--> (?P<file>[^\n:]+):\d+:\d+\n"
)


def reject_unclosed(cases: Sequence[RustAnswer], compiler: Compiler, work: "Work") -> list[RustAnswer]:
    """Notes the answers that rustfmt cannot read as not building; returns the others. Raises SandboxError."""
    program = compiler.installation.program("rustfmt")
    if not os.access(program, os.X_OK):
        return list(cases)
    layout = Shared()
    files = layout.files(cases)
    work.put(files)
    names = {f"{case.module}.rs": case for case in cases}
    argv = [program, "--check", "-l", "--color", "never", "--edition", cases[0].check.edition, *names]
    result = work.run(
        argv, limits=COMPILE, profile="build", read=compiler.installation.read,
        environment=compiler.environment("answer"),
    )  # fmt: skip
    errors = result.stderr.decode(errors="replace")
    found = {os.path.basename(m["file"]): m for m in _FATAL.finditer(errors)}
    for name, case in names.items():
        case.spend(result.seconds / len(cases), result.cpu_seconds / len(cases), result.peak_bytes)
        if name in found:
            block = errors[found[name].start() :].split("\n\n", 1)[0]
            case.fail("build", block[:2000] + "\n")
            case.output_of["lint"] = case.output_of["build"]
    return [case for case in cases if case.build is not False]
