"""What the machine lacks is said as our failure, never as the answer's."""

import pytest

from strop.core.checks import RustCheck
from strop.core.errors import VerificationError
from strop.core.task import Task
from strop.verification.rust import RustToolchain, compiler

pytestmark = pytest.mark.rust


def test_no_linker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_CODEGEN", (*compiler._CODEGEN, "-C", "linker=cc-that-is-not-here"))
    tests = "#[cfg(test)] mod tests { use super::*; #[test] fn a() { assert_eq!(f(), 1); } }"
    task = Task(statement="s", language="rust", check=RustCheck(tests=tests))
    toolchain = RustToolchain()
    try:
        with pytest.raises(VerificationError, match=r"linker `cc-that-is-not-here` not found; install gcc"):
            toolchain.judge([(task, "pub fn f() -> i32 { 1 }")])
    finally:
        toolchain.close()
