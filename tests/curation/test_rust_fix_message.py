from strop.core.checks import RustCheck
from strop.core.task import Task
from strop.core.verdict import Outcome, Stage, TestResult, Verdict
from strop_curation.rust_fix.build import MOST_CHARACTERS, first_error, first_failure

TESTS = """#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples() {
        assert_eq!(clip("ab", 1), "a");
        assert_eq!(clip("", 3), "");
    }

    #[test]
    fn hidden() {
        assert_eq!(clip("secret", 3), "sec");
    }
}
"""
SHOWN = ['clip("ab", 1) == "a"', 'clip("", 3) == ""']


def clip(**metadata):
    return Task(language="rust", statement="s", check=RustCheck(tests=TESTS), metadata=metadata)


def test_the_first_error_without_warnings_and_without_this_machine():
    output = """warning: unused variable: `x`
 --> src/lib.rs:1:4

error[E0382]: use of moved value: `v`
   --> src/lib.rs:4:5
    |
4   |     v.len()
    |     ^ value used here after move
    |
note: `into_iter` takes ownership of the receiver `self`, which moves `v`
   --> /home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/iter/traits/collect.rs:310:18
    = note: the full name for the type has been written to 'libanswer.long-type-1.txt'

error[E0425]: cannot find value `y` in this scope
"""
    code, message = first_error(output)
    assert code == "E0382" and message.startswith(
        "error[E0382]: use of moved value: `v`\n   --> src/lib.rs:4:5\n"
    )
    assert message.endswith("   --> library/core/src/iter/traits/collect.rs:310:18")
    assert first_error("warning: unused\n") is None and first_error("") is None
    assert first_error("error: expected one of `;`\n --> src/lib.rs:1:1\n")[0] == ""
    long = "error[E0308]: mismatched types\n" + "\n".join("x" * 300 for _ in range(30))
    assert len(first_error(long)[1]) <= MOST_CHARACTERS


def failed(names, output):
    tests = [
        TestResult(id=f"tests::{name}", outcome=Outcome.FAILED if name in names else Outcome.PASSED)
        for name in ("examples", "hidden")
    ]
    return Verdict(
        outcome=Outcome.FAILED, tests=tests, output=output, stages=[Stage(name="build", passed=True)]
    )


def test_only_shown_examples_are_told():
    both, task = {"examples", "hidden"}, clip(examples=SHOWN)
    lines = "a test failed at line 8\na test failed at line 13\n"
    assert first_failure(task, failed(both, lines)).endswith('\n\nclip("", 3) == ""')
    hidden = first_failure(task, failed({"hidden"}, "a test failed at line 13\n"))
    assert hidden == "It builds. The examples hold, but a hidden test fails."
    panic = "panicked at zq0003.rs:4:9:\n{}\na test failed at line 13\n"
    told = first_failure(task, failed(both, panic.format("index out of bounds: the len is 2")))
    assert told == "It builds. An example panics at src/lib.rs:4:\nindex out of bounds: the len is 2"
    told = first_failure(task, failed(both, panic.format("the password")))
    assert told == "It builds. An example panics at src/lib.rs:4"
    # One record for two failures: whose it is, is not known.
    told = first_failure(task, failed(both, "a test failed at line 13\n"))
    assert told == "It builds. An example does not hold."
    assert first_failure(clip(), failed(both, lines)) == "It builds. A hidden test fails."
