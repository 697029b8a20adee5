import gzip
import json

import pytest

from strop.tasks import load_tasks, render
from strop.tasks.jsonl import write_tasks
from strop_tasks.curation.engine.tally import Tally
from strop_tasks.curation.faults.operators import BEHAVIOUR, CODES, KINDS
from strop_tasks.curation.rust_fix import LAYOUT
from strop_tasks.curation.rust_fix.build import MOST_CHARACTERS, first_error, first_failure, fixes
from strop_tasks.curation.rust_fix.rustc import open_rustc
from strop_verify.core.checks import RustCheck
from strop_verify.core.errors import TooManyErrors
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, TestResult, Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier

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
CODE = """pub fn clip(text: &str, most: usize) -> String {
    let mut kept = String::new();
    for letter in text.chars() {
        if kept.len() < most {
            kept.push(letter);
        }
    }
    kept
}
"""


def clip(**fields):
    task = Task(
        language="rust",
        statement="Keep the first letters of the text.",
        signature="pub fn clip(text: &str, most: usize) -> String",
        reference=CODE,
        check=RustCheck(tests=TESTS),
        topic="strings",
        level=2,
        split="held-out",
        source="mine/strings/clip",
        metadata={"examples": ['clip("ab", 1) == "a"', 'clip("", 3) == ""']},
    )
    return task.model_copy(update=fields)


@pytest.fixture(scope="module")
def verifiers():
    with open_verifier(limits=Limits(cpu_seconds=2, wall_seconds=20)) as strict, open_rustc() as rustc:
        yield strict, rustc


def build(verifiers, tasks, **settings):
    tally = Tally(LAYOUT)
    return list(fixes(tasks, *verifiers, tally, **settings)), tally


@pytest.mark.rust
def test_each_task_is_what_it_claims_to_be(verifiers):
    made, tally = build(verifiers, [clip()], per_task=30)
    strict = verifiers[0]
    assert len(made) == tally.manifest()["tasks"] > 15
    assert len({task.id for task in made}) == len({task.source for task in made}) == len(made)
    assert {"mutability", "names", "returns", "borrows"} <= {task.metadata["kind"] for task in made}
    verdicts = [strict.submit(task, task.metadata["broken"]) for task in made]
    assert strict.verify(made[0], made[0].reference).passed
    for task, future in zip(made, verdicts, strict=True):
        assert (task.family, task.split, task.level, task.topic) == ("rust-fix", "held-out", 2, "strings")
        assert task.check == clip().check and task.reference == CODE and task.signature == clip().signature
        kind, code = task.metadata["kind"], task.metadata["error_code"]
        verdict = future.result()
        assert verdict.outcome is Outcome.FAILED
        if kind in BEHAVIOUR:
            assert code == "" and verdict.stage("build").passed and 0 <= verdict.fraction < 1
        else:
            assert not verdict.stage("build").passed
            assert code in CODES[kind] and f"error[{code}]" in verdict.stage("build").output
            assert task.metadata["message"].startswith(f"error[{code}]: ")
        assert "secret" not in task.metadata["message"]


@pytest.mark.rust
def test_same_seed_same_tasks_whatever_is_judged_beside_them(verifiers):
    def lines(made):
        return [task.model_dump_json() for task in made]

    other = [task for task in load_tasks("rust-functions") if task.source.endswith(("/shout", "/digit_sum"))]
    alone, _ = build(verifiers, [clip()], per_task=5, seed=3)
    both, _ = build(verifiers, [*other, clip()], per_task=5, seed=3)
    again, _ = build(verifiers, [clip()], per_task=5, seed=4)
    assert lines(alone) == lines(both)[-len(alone) :] and len(alone) == 5
    assert lines(again) != lines(alone)


@pytest.mark.rust
def test_a_fault_that_does_not_show_is_no_task_and_another_takes_its_place(verifiers):
    weak = TESTS.replace('"ab", 1), "a"', '"", 1), ""').replace('"secret", 3), "sec"', '"", 3), ""')
    task = clip(check=RustCheck(tests=weak))
    made, tally = build(verifiers, [task], per_task=2, kinds=["off-by-one", "names"])
    assert [task.metadata["kind"] for task in made] == ["names", "names"]
    assert tally.dropped["boundary"] == {"still passes": 1} and sum(tally.tried.values()) > 2


@pytest.mark.rust
def test_tasks_that_cannot_be_used_are_counted(verifiers):
    python = load_tasks("python-functions", limit=1)[0]
    wrong = clip(id="wrong", reference=CODE.replace("kept.push(letter)", "kept.push('?')"))
    tasks = [python, clip(reference=""), clip(check=RustCheck()), wrong, clip(), clip(id="twin")]
    seen = []
    made, tally = build(verifiers, tasks, per_task=2, kinds=["mutability"], done=seen.append)
    assert tally.unusable == {
        "not a Rust task": 1,
        "no reference": 1,
        "no trusted tests": 1,
        "the reference does not pass": 1,
    }
    assert seen == [0, 0, 0, 0, 1, 0] and len(made) == 1
    assert tally.dropped["drop-mut"] == {"another task has the same program": 1}
    assert made[0].metadata["error_code"] == "E0596"


def test_a_verifier_that_fails_ends_the_build():
    class Broken:
        def submit(self, task, answer):
            from strop_verify.verification.verifier import error_verdict, resolved

            return resolved(error_verdict("no disk"))

        def close(self):
            pass

    tasks = [clip(id=str(number)) for number in range(120)]
    with pytest.raises(TooManyErrors, match="no disk"):
        build((Broken(), Broken()), tasks)


@pytest.mark.rust
def test_prompts_show_the_program_and_the_message_and_answers_are_judged(verifiers):
    made, _ = build(verifiers, [clip()], per_task=1, kinds=["mutability"])
    prompt = render(made[0], "chat")
    text = prompt.messages[-1].content
    assert made[0].metadata["broken"].strip() in text and made[0].metadata["message"] in text
    assert 'clip("ab", 1) == "a"' in text and "secret" not in text
    answer = prompt.assemble(f"Here:\n```rust\n{CODE}```\n")
    assert verifiers[0].verify(made[0], answer).passed
    begun = render(made[0], "chat-prefilled")
    assert begun.prefill.endswith("-> String {") and render(made[0], "continue").text.endswith("-> String {")


@pytest.mark.rust
def test_rust_functions_give_tasks_of_every_kind_and_no_side_sees_the_other(verifiers, tmp_path):
    originals = {task.id: task for task in load_tasks("rust-functions")}
    chosen = [
        task for task in originals.values() if task.topic in ("ownership", "structs", "results", "strings")
    ]
    made, tally = build(verifiers, chosen, per_task=6)
    assert not tally.unusable and len(made) > 4 * len(chosen)
    assert set(tally.counts["kinds"]) == set(KINDS)
    for task in made:
        assert task.split == originals[task.metadata["original"]].split
    sides = {side: [t for t in made if t.split == side] for side in ("train", "held-out")}
    assert all(sides.values())
    for part in ("broken", "id"):
        left, right = ({t.id if part == "id" else t.metadata[part] for t in sides[s]} for s in sides)
        assert not left & right
    write_tasks(made, tmp_path / "fix.jsonl.gz")
    with gzip.open(tmp_path / "fix.jsonl.gz", "rt") as file:
        assert [json.loads(line)["id"] for line in file] == [task.id for task in made]
    assert load_tasks(str(tmp_path / "fix.jsonl.gz")) == made
    futures = [(task, verifiers[0].submit(task, task.metadata["broken"])) for task in made[::5]]
    for task, future in futures:
        assert future.result().outcome is Outcome.FAILED
        assert future.result().stage("build").passed == (task.metadata["kind"] in BEHAVIOUR), task.source


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
    both, task = {"examples", "hidden"}, clip()
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
    assert first_failure(clip(metadata={}), failed(both, lines)) == "It builds. A hidden test fails."
