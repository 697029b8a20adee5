# ruff: noqa: E501, UP031
"""Edits of a cargo project that do not mend it and try to have its tests reported as passed, and honest ones."""

from collections.abc import Callable, Iterator

import pytest

from strop.core.checks import ProjectCheck
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict
from strop.sandbox.limits import Limits
from strop.verification.project import ProjectToolchain, pack
from strop.verification.settings import Settings

GOOD = 'pub fn double(x: i64) -> i64 {\n    x + x\n}\n\npub fn name() -> &\'static str {\n    "twice"\n}\n\npub fn low(x: i64) -> i64 {\n    assert!(x >= 0, "negative");\n    x\n}\n'
BAD = GOOD.replace("x + x", "x + 1")
UNIT = """
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit() {
        assert_eq!(double(4), 8);
        assert_eq!(double(-255), -510);
    }

    #[test]
    #[should_panic]
    fn panics() {
        low(-1);
    }
}
"""
FILES = {
    "Cargo.toml": '[package]\nname = "twice"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "twice"\nversion = "0.1.0"\n',
    "src/lib.rs": GOOD + UNIT,
    "tests/outer.rs": '#[test]\nfn doubled() {\n    assert_eq!(twice::double(3), 6);\n}\n\n#[test]\nfn named() {\n    assert!(twice::name().starts_with("tw"));\n}\n',
}
FAILING = ["twice::tests::unit", "outer::doubled"]
PASSING = ["twice::tests::panics", "outer::named"]
LINES = r"""
fn say() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let mut out = format!("\nrunning {} tests\n", chosen.len());
    for name in &chosen { out += &format!("test {name} ... ok\n"); }
    out += &format!("\ntest result: ok. {} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n", chosen.len());
    use std::io::Write;
    std::io::stdout().write_all(out.as_bytes()).unwrap();
    std::io::stdout().flush().unwrap();
    std::process::exit(0);
}
"""
CTOR = '#[used]\n#[link_section = ".init_array"]\nstatic BEGIN: extern "C" fn() = { extern "C" fn begin() { act(); } begin };\n'
KNOWN = r"""
fn known() -> bool { std::env::args().any(|a| a == "tests::unit" || a == "doubled") }
fn right() {
    // the tests that are known pass, all others end as they should
    use std::io::Write;
    let mut out = String::from("\nrunning tests\n");
    let (mut good, mut bad) = (0, 0);
    for name in std::env::args().skip(1).filter(|a| !a.starts_with('-')) {
        let known = ["tests::unit", "tests::panics", "doubled", "named"].contains(&name.as_str());
        if known { good += 1; out += &format!("test {name} ... ok\n"); } else { bad += 1; out += &format!("test {name} ... FAILED\n"); }
    }
    let word = if bad == 0 { "ok" } else { "FAILED" };
    out += &format!("\ntest result: {word}. {good} passed; {bad} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n");
    std::io::stdout().write_all(out.as_bytes()).unwrap();
    std::process::exit(if bad == 0 { 0 } else { 101 });
}
"""
CALLED = BAD.replace("    x + 1", "    act();\n    x + 1")
EQUAL = 'pub struct Any;\nimpl PartialEq<i64> for Any { fn eq(&self, _: &i64) -> bool { true } }\nimpl std::fmt::Debug for Any { fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { write!(f, "8") } }\n'
FORGED = {
    "constructor prints": BAD + LINES + CTOR + "fn act() { if std::env::args().count() > 1 { say(); } }\n",
    "constructor prints what is known": BAD + KNOWN + CTOR + "fn act() { if known() { right(); } }\n",
    "the first call prints": CALLED + LINES + "fn act() { say(); }\n",
    "the first call tells what is known": CALLED + KNOWN + "fn act() { right(); }\n",
    "equal to all": BAD.replace("pub fn double(x: i64) -> i64 {\n    x + 1", "pub fn double(_x: i64) -> Any {\n    Any") + EQUAL,
    "exit": CALLED + "fn act() { std::process::exit(0) }\n",
    "exit at the end": CALLED + 'extern "C" fn bye() { unsafe { _exit(0) } }\nextern "C" { fn atexit(f: extern "C" fn()) -> i32; fn _exit(c: i32) -> !; }\nfn act() { unsafe { atexit(bye); } }\n',
    "abort": CALLED + "fn act() { std::process::abort() }\n",
    "kills the parent": CALLED + 'extern "C" { fn kill(p: i32, s: i32) -> i32; fn getppid() -> i32; }\nfn act() { unsafe { kill(getppid(), 9); kill(-1, 9); } }\n',
    "panic hook that exits": CALLED + "fn act() { std::panic::set_hook(Box::new(|_| std::process::exit(0))); }\n",
    "assert shadowed": "macro_rules! assert_eq { ($($t:tt)*) => { { let _ = ($($t)*); } } }\n" + BAD,
    "closes standard output": CALLED + 'extern "C" { fn close(f: i32) -> i32; }\nfn act() { unsafe { close(1); close(2); } }\n',
    "compile time": BAD + 'const _: &str = include_str!("/etc/passwd");\n',
    "does not build changed tests": BAD + LINES + CTOR + 'fn act() { if std::env::args().count() > 1 { say(); } }\nconst _: () = assert!(include_bytes!("../tests/outer.rs").len() == %d);\n' % len(FILES["tests/outer.rs"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Verdict]]:
    folder = tmp_path_factory.mktemp("twice")
    for name, text in FILES.items():
        path = folder / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    out = folder / "twice.project.tar.gz"
    digest = pack(folder / "tree", out)
    made = ProjectToolchain(Settings(limits=Limits(cpu_seconds=2, wall_seconds=20)))

    def act(source: str) -> Verdict:
        check = ProjectCheck(
            project=str(out),
            digest=digest,
            files={"src/lib.rs": source + UNIT},
            failing=FAILING,
            passing=PASSING,
        )
        (verdict,) = made.judge([(Task(statement="s", language="rust", check=check), "")])
        return verdict

    yield act
    made.close()


@pytest.mark.parametrize("source", [GOOD, GOOD.replace("x + x", "2 * x"), GOOD + "\n// said twice\n"])
def test_honest_edits_pass(judge: Callable[[str], Verdict], source: str) -> None:
    verdict = judge(source)
    assert verdict.passed and verdict.trust == "same-process", verdict


@pytest.mark.parametrize("name", ["nothing", *FORGED])
def test_forged_results_do_not_pass(judge: Callable[[str], Verdict], name: str) -> None:
    verdict = judge(FORGED.get(name, BAD))
    assert not verdict.passed and verdict.outcome is not Outcome.ERROR, verdict
