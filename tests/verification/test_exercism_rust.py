"""Exercism's Rust track: examples pass the strict verifier, stubs do not, cargo mode says what plain cargo says."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests import needs
from tests.scale import some

from strop.tasks import load_tasks
from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.verification.rust import RustToolchain
from strop_verify.verification.rust.cargo import package
from strop_verify.verification.rust.case import RustAnswer
from strop_verify.verification.rust.crates import source_config
from strop_verify.verification.rust.preprocess import take_in
from strop_verify.verification.rust.toolchain import TESTS

DATA = needs.DATA / "exercism-rust.jsonl"
VENDOR = Path(os.environ.get("STROP_RUST_VENDOR", "/usr/share/cargo/registry"))
DEBIAN = ("itertools", "rand", "anyhow", "time")
UNFIT = {"doubly-linked-list": "the task lacks src/pre_implemented.rs"}
pytestmark = [pytest.mark.rust, pytest.mark.needs("data")]
_no_crates = [name for name in DEBIAN if not list(VENDOR.glob(f"{name}-[0-9]*")) + list(VENDOR.glob(name))]
needs_crates = pytest.mark.skipif(
    bool(_no_crates),
    reason=f"{VENDOR} lacks {', '.join(_no_crates)}; apt-get install librust-{{{','.join(DEBIAN)}}}-dev",
)


def exercises() -> dict[str, Task]:
    return {task.source.rpartition("/")[2]: task for task in load_tasks(f"exercism-rust:{DATA}")}


def judged(verdict: str, vendor: Path | None, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
    # The example of palindrome-products is near the default limit where cores are shared.
    limits = replace(TESTS, cpu_seconds=30.0, wall_seconds=60.0)
    toolchain = RustToolchain(verdict=verdict, vendor=vendor, limits=limits)  # type: ignore[arg-type]
    try:
        found: list[Verdict] = []
        for start in range(0, len(jobs), toolchain.batch):
            found += toolchain.judge(jobs[start : start + toolchain.batch])
    finally:
        toolchain.close()
    return found


def unexplained(tasks: dict[str, Task], verdicts: list[Verdict], *, without: set[str]) -> dict[str, str]:
    """Examples that do not pass, with no reason in task or machine; `without`: crates that may be missing."""
    found = {}
    for (slug, task), verdict in zip(tasks.items(), verdicts, strict=True):
        check = task.check
        assert isinstance(check, RustCheck)
        named = {entry.partition("=")[0].strip().replace("-", "_") for entry in check.crates}
        excused = verdict.outcome is Outcome.ERROR and (
            (slug in UNFIT and verdict.detail.startswith(UNFIT[slug]))
            or any(verdict.detail.startswith(f"the crate {name} cannot be used") for name in named & without)
        )
        if not (verdict.passed or excused):
            found[slug] = f"{verdict.outcome}: {verdict.detail}"
    return found


@pytest.mark.soak(15)
def test_examples_pass_strictly_or_say_which_crate_is_missing() -> None:
    tasks = exercises()
    verdicts = judged("strict", None, [(task, task.reference) for task in tasks.values()])
    crates = {"itertools", "rand", "anyhow", "time", "regex_lite"}
    assert unexplained(tasks, verdicts, without=crates) == {}
    assert sum(v.passed for v in verdicts) >= len(tasks) - 7


@needs_crates
def test_examples_with_crates_pass_strictly() -> None:
    tasks = {slug: task for slug, task in exercises().items() if getattr(task.check, "crates", [])}
    verdicts = judged("strict", VENDOR, [(task, task.reference) for task in tasks.values()])
    # simple-cipher wants rand 0.10, and pig-latin regex-lite: newer than Debian's
    assert unexplained(tasks, verdicts, without={"rand", "regex_lite"}) == {}
    passed = {slug for slug, verdict in zip(tasks, verdicts, strict=True) if verdict.passed}
    assert passed >= {"alphametics", "bottle-song", "gigasecond", "grep", "pov"}


@pytest.mark.rust(25)
@pytest.mark.parametrize("verdict", ["strict", "cargo"])
def test_stubs_and_empty_files_fail(verdict: str) -> None:
    tasks = some(list(exercises().values()), 24)
    jobs = [(task, text) for task in tasks for text in (task.signature, "", "// nothing\n")]
    verdicts = judged(verdict, None if _no_crates else VENDOR, jobs)
    assert not any(v.passed or (v.stages and v.stages[2].passed) for v in verdicts)
    errors = {
        job[0].source: v.detail for job, v in zip(jobs, verdicts, strict=True) if v.outcome is Outcome.ERROR
    }
    assert {
        source: detail
        for source, detail in errors.items()
        if source.rpartition("/")[2] not in UNFIT and "cannot be used" not in detail
    } == {}


def mutated(text: str) -> str:
    """The text with one small fault, or with an error where there is nothing to change."""
    for old, new in ((" == ", " != "), (" < ", " >= "), (" + ", " - "), ("true", "false"), (" % ", " / ")):
        if old in text:
            return text.replace(old, new, 1)
    return text + "\nfn unfinished( {"


@pytest.mark.soak(46)
@needs_crates
def test_cargo_mode_says_what_cargo_says(tmp_path: Path) -> None:
    tasks = dict(some(list(exercises().items()), 18))
    changed = {slug: mutated(task.reference) for slug, task in some(list(tasks.items()), 12)}
    assert all(text != tasks[slug].reference for slug, text in changed.items())
    kinds: dict[str, dict[str, str]] = {
        "examples": {slug: task.reference for slug, task in tasks.items()},
        "stubs": {slug: task.signature for slug, task in tasks.items()},
        "mutants": changed,
    }
    jobs = [(kind, slug, answer) for kind, answers in kinds.items() for slug, answer in answers.items()]
    verdicts = judged("cargo", VENDOR, [(tasks[slug], answer) for _, slug, answer in jobs])
    ours = {
        (kind, slug): tuple(stage.passed for stage in verdict.stages)
        for (kind, slug, _), verdict in zip(jobs, verdicts, strict=True)
        if verdict.outcome is not Outcome.ERROR
    }
    errors = {
        (k, s): v.detail for (k, s, _), v in zip(jobs, verdicts, strict=True) if v.outcome is Outcome.ERROR
    }
    assert {key[1] for key in errors} <= {*UNFIT, "pig-latin", "simple-cipher"}, errors
    theirs: dict[tuple[str, str], tuple[bool, ...]] = {}
    for kind in kinds:
        cases = {s: take_in(0, tasks[s], a, strict=False) for k, s, a in jobs if k == kind and (k, s) in ours}
        for slug, signals in plain_cargo(tmp_path / kind, tmp_path / "target", cases).items():
            theirs[kind, slug] = signals
    assert {k: (ours[k], theirs[k]) for k in ours if ours[k] != theirs[k]} == {}
    assert sum(all(signals) for (kind, _), signals in theirs.items() if kind == "examples") >= 0.8 * len(
        tasks
    )


def plain_cargo(folder: Path, target: Path, cases: dict[str, RustAnswer]) -> dict[str, tuple[bool, ...]]:
    """What cargo build, clippy and test say of each package, in one workspace and outside of any jail."""
    for slug, case in cases.items():
        for name, text in package(case).items():
            (folder / slug / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / slug / name).write_text(text)
    (folder / ".cargo").mkdir()
    (folder / ".cargo/config.toml").write_text(source_config(VENDOR))
    members = json.dumps(sorted(cases))
    (folder / "Cargo.toml").write_text(f'[workspace]\nresolver = "3"\nmembers = {members}\n')
    quick = {"CARGO_INCREMENTAL": "0", "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_TEST_DEBUG": "0"}
    environment = {**os.environ, **quick, "CARGO_TARGET_DIR": str(target)}

    def run(*command: str, cwd: Path = folder) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=900)  # fmt: skip

    def made(*command: str) -> list[tuple[str, str]]:
        done = run("cargo", *command, "--workspace", "--offline", "--keep-going", "--message-format=json")
        messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        assert messages, done.stderr
        artifacts = [m for m in messages if m["reason"] == "compiler-artifact"]
        return [(Path(m["manifest_path"]).parent.name, m["executable"]) for m in artifacts]

    built, linted = ({slug for slug, _ in made(step)} for step in ("build", "clippy"))
    programs = made("build", "--tests")

    def tested(slug: str, case: RustAnswer) -> bool:
        mine = [program for owner, program in programs if owner == slug and program]
        if len(mine) < 1 + case.integration:  # of the library, and of the tests
            return False
        if any(run(program, cwd=folder / slug).returncode for program in mine):
            return False
        examples = "```" in case.answer + "".join(case.check.files.values())
        return not examples or run("cargo", "test", "--doc", "--offline", "-p", case.crate).returncode == 0

    return {slug: (slug in built, slug in linted, tested(slug, case)) for slug, case in cases.items()}


def test_tests_find_the_manifest_of_their_crate() -> None:
    """As those of paasio, which read Cargo.toml."""
    tests = """use counted::Counted;
use std::io::Read;
#[test]
fn reads_a_file() {
    let file = std::fs::File::open("Cargo.toml").expect("Cargo.toml must be present");
    let size = file.metadata().unwrap().len() as usize;
    let mut counted = Counted::new(file);
    counted.read_to_end(&mut Vec::new()).unwrap();
    assert!(size > 0);
    assert_eq!(counted.total(), size);
}
"""
    right = """use std::io::{Read, Result};
pub struct Counted<R> { inner: R, bytes: usize }
impl<R: Read> Counted<R> {
    pub fn new(inner: R) -> Self { Counted { inner, bytes: 0 } }
    pub fn total(&self) -> usize { self.bytes }
}
impl<R: Read> Read for Counted<R> {
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        let found = self.inner.read(to)?;
        self.bytes += found;
        Ok(found)
    }
}
"""
    task = Task(language="rust", statement="Count.", reference=right,
                check=RustCheck(tests=tests, crate="counted", edition="2024"))  # fmt: skip
    wrong = right.replace("self.bytes += found;", "")
    for verdict in ("strict", "cargo"):
        passed, failed = judged(verdict, None, [(task, right), (task, wrong)])
        assert passed.passed, passed
        assert failed.outcome is Outcome.FAILED
