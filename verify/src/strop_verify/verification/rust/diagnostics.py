"""rustc's JSON diagnostics, grouped by file.

Lints of rustc and clippy that are denied by default are turned into warnings on the command line and recognised here by
name: a lint never ends a compilation early, and one pass finds the lints of every file.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

HARNESS = ("harness.rs", "wire.rs", "alterations.rs", "instances.rs")
"""Files of the crate `test` in strict mode, as diagnostics name them where tests use its macros."""
LATE = {"arithmetic_overflow", "unconditional_panic"}
"""Lints on the compiler's MIR: `cargo build` reports them, `cargo clippy` does not."""
UNSAFE = "unsafe_code"
NEVER_LOWERED = {"long_running_const_eval", "soft_unstable", "test_unstable_lint"}
"""Denied lints that stay errors, because without them a compilation might not end."""
_ONCE = re.compile(
    r"^ *= (?:note: .*(?: on by default| implied by .*| on the command line with .*)|help: to override .*)\n",
    re.MULTILINE,
)
"""Why a lint applies, which the compiler explains only where it first occurs in the crate."""
_OPEN = re.compile(r"^ *\|\n(?=\n|\Z)", re.MULTILINE)
"""A line that is then left without a continuation."""
_VARYING = re.compile(
    r"(?P<thread>^thread .*) \(\d+\)(?= panicked at )|(?:; \d+ filtered out)?; finished in [\d.]+s$",
    re.MULTILINE,
)
_TEMPORARY = re.compile(r"(?<=/rustc)\w{6}(?=/)")
_INFERENCE = {"E0119", "E0271", "E0277", "E0282", "E0283", "E0284", "E0689", "E0790"}  # fmt: skip
"""Errors that other answers' trait implementations in the same crate may cause."""


@dataclass
class Diagnostics:
    """The diagnostics of one file in one compilation."""

    errors: list[str] = field(default_factory=list)
    """Codes of errors; "" for those without a code, such as syntax errors."""
    denied: list[str] = field(default_factory=list)
    """Names of lints that are denied by default."""
    unsafe: bool = False
    text: list[str] = field(default_factory=list)
    """Diagnostics as rustc renders them."""

    @property
    def inference(self) -> bool:
        """Whether another file of the crate may have caused an error."""
        return any(code in _INFERENCE for code in self.errors)


def steady(output: str) -> str:
    """A compiler's or test program's output without temporary names, thread numbers, times and filtered tests."""
    return _TEMPORARY.sub("000000", _VARYING.sub(lambda found: found["thread"] or "", output))


def read_diagnostics(output: bytes, denied: Iterable[str]) -> dict[str, Diagnostics]:
    """Findings by file name as passed to the compiler; "" holds errors without a file."""
    found: dict[str, Diagnostics] = {}
    names = set(denied)
    for line in output.split(b"\n"):
        if not line.startswith(b"{"):
            continue
        try:
            message = json.loads(line)
        except ValueError:
            continue  # cut off at the output limit, which the caller notices itself
        if isinstance(message, dict) and "level" in message:
            _add(found, message, names)
    return found


def _add(found: dict[str, Diagnostics], message: dict[str, Any], denied: set[str]) -> None:
    level, code = message["level"], (message.get("code") or {}).get("code", "")
    if level not in ("error", "warning") or message["message"].startswith("aborting due to"):
        return
    files = _files(message)
    if level == "warning" and not files:
        return  # a summary such as "2 warnings emitted"
    for file in files or {""}:
        entry = found.setdefault(file, Diagnostics())
        if code == UNSAFE:
            entry.unsafe = True
            continue
        if level == "error" and not code.startswith("clippy::"):
            entry.errors.append(code)
        elif level == "error" or code in denied:
            entry.denied.append(code)
        entry.text.append(_OPEN.sub("", _ONCE.sub("", message.get("rendered") or message["message"])))


def _files(message: dict[str, Any]) -> set[str]:
    """Files of the primary spans; a macro expansion counts for the file that uses the macro."""
    files = set()
    for span in message.get("spans", ()):
        if span["is_primary"]:
            while _outside(span["file_name"]) and span.get("expansion"):
                span = span["expansion"]["span"]
            files.add(span["file_name"])
    if not files or all(_outside(f) for f in files):
        for child in message.get("children", ()):
            files |= {s["file_name"] for s in child.get("spans", ()) if not _outside(s["file_name"])}
    return {f for f in files if not _outside(f)} or files


def _outside(file: str) -> bool:
    return file in HARNESS or file.startswith(("/", "<"))
