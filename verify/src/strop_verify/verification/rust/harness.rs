//! Replaces the crate `test` that `rustc --test` links: runs the tests of one answer and reports in a way that the
//! answer cannot forge.
//!
//! Standard input has a line per test: a secret token, the literal to alter and by how much; or nothing for a test
//! that must not run. All of it is read before any code of the answer runs. A line per test is written to the report
//! descriptor: its token if it has passed, else `-`; how objects of the answer compared; which literals were
//! evaluated; and its CPU time in milliseconds. The report descriptor is a duplicate of standard output; standard
//! output itself is redirected to standard error, so nothing that the answer prints gets into the report. Safe Rust can
//! neither read this crate's memory nor write to a descriptor by its number.
//!
//! If the answer is a separate program (wire.rs), standard input is a socket to it: the tokens come first, after their
//! length, then calls and replies. The answer's program has this harness too, which serves the calls.
//!
//! A test can run with one of its literals altered (alterations.rs). Items that record comparisons or alter literals
//! have names that end in SECRET, random in each build: the answer must not be able to tell such a run from others.

mod alterations;
pub mod instances;
mod wire;
pub use alterations::*;
pub use wire::*;

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::Termination;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

pub use TestFn::*;
pub use TestName::*;

#[derive(Clone, Copy)]
pub enum ShouldPanic {
    No,
    Yes,
    YesWithMessage(&'static str),
}

pub enum TestType {
    UnitTest,
    IntegrationTest,
    DocTest,
    Unknown,
}

pub enum TestName {
    StaticTestName(&'static str),
}

pub enum TestFn {
    StaticTestFn(fn() -> Result<(), String>),
}

pub struct TestDesc {
    pub name: TestName,
    pub ignore: bool,
    pub ignore_message: Option<&'static str>,
    pub source_file: &'static str,
    pub start_line: usize,
    pub start_col: usize,
    pub end_line: usize,
    pub end_col: usize,
    pub compile_fail: bool,
    pub no_run: bool,
    pub should_panic: ShouldPanic,
    pub test_type: TestType,
}

pub struct TestDescAndFn {
    pub desc: TestDesc,
    pub testfn: TestFn,
}

pub fn assert_test_result<T: Termination>(result: T) -> Result<(), String> {
    if format!("{:?}", result.report()) == format!("{:?}", std::process::ExitCode::SUCCESS) {
        Ok(())
    } else {
        Err("the test returned an error".into())
    }
}

extern "C" {
    fn dup(fd: i32) -> i32;
    fn dup2(old: i32, new: i32) -> i32;
    fn fcntl(fd: i32, command: i32, argument: i32) -> i32;
    fn _exit(status: i32) -> !;
    fn clock() -> i64;
}

static STARTED: AtomicBool = AtomicBool::new(false);
static DENIED: OnceLock<Vec<String>> = OnceLock::new();
static KNOWN: OnceLock<Vec<String>> = OnceLock::new();
/// Whether trusted test code has panicked in the running test: an answer that calls it may have caught the panic.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// Arguments: `--list`; or `--serve` and the name of the function that serves calls; or the prefix of the tests' names,
/// the types that must not be compared, the crates and modules whose types are not the answer's (both separated by
/// commas), and `calls` if the answer is another program, or `catches` if the tests catch their own panics.
pub fn test_main_static(tests: &[&TestDescAndFn]) {
    if STARTED.swap(true, Ordering::SeqCst) {
        unsafe { _exit(98) }
    }
    let mut arguments = std::env::args().skip(1);
    let prefix = arguments.next().unwrap_or_default();
    if prefix == "--list" {
        for test in tests {
            let TestName::StaticTestName(name) = test.desc.name;
            println!("{}\t{}", name, if test.desc.ignore { "ignored" } else { "" });
        }
        return;
    }
    if prefix == "--serve" {
        serve_calls(tests, &arguments.next().unwrap_or_default());
    }
    for list in [&DENIED, &KNOWN] {
        let names = arguments.next().unwrap_or_default();
        let _ = list.set(names.split(',').filter(|d| !d.is_empty()).map(String::from).collect());
    }
    let mut tokens = String::new();
    let word = arguments.next().unwrap_or_default();
    let (calls, catches) = (word == "calls", word == "catches");
    let mut report = unsafe {
        if calls {
            let mut channel = channel();
            let mut length = [0; 4];
            channel.read_exact(&mut length).expect("a length");
            (&mut channel).take(u32::from_le_bytes(length).into()).read_to_string(&mut tokens).expect("tokens");
            wire::open(channel);
        } else {
            File::from_raw_fd(0).read_to_string(&mut tokens).expect("standard input");
        }
        let fd = dup(1);
        fcntl(fd, 2, 1);
        dup2(2, 1);
        File::from_raw_fd(fd)
    };
    hide_expected_values();
    let chosen = tests.iter().filter(|t| matches!(t.desc.name, StaticTestName(n) if n.starts_with(&prefix)));
    for (test, line) in chosen.zip(tokens.lines()) {
        wire::begin();
        let token = alterations::begin(line);
        PANICKED.store(false, Ordering::SeqCst);
        let began = unsafe { clock() };
        let passed = !token.is_empty() && !test.desc.ignore && passes(test);
        let caught = matches!(test.desc.should_panic, ShouldPanic::No) && PANICKED.load(Ordering::SeqCst);
        let passed = passed && (catches || !caught);
        let word = if passed { token } else { "-" };
        let _ = writeln!(report, "{word} {} {}", alterations::report(), unsafe { clock() - began } / 1000);
    }
    unsafe { _exit(0) }
}

/// Moves standard input to another descriptor, which only this program has.
fn channel() -> File {
    unsafe {
        let fd = dup(0);
        fcntl(fd, 2, 1);
        dup2(2, 0);
        File::from_raw_fd(fd)
    }
}

fn serve_calls(tests: &[&TestDescAndFn], name: &str) -> ! {
    wire::open(channel());
    unsafe { dup2(2, 1) };
    for test in tests {
        let (TestName::StaticTestName(there), TestFn::StaticTestFn(run)) = (&test.desc.name, &test.testfn);
        if *there == name {
            let _ = run();
        }
    }
    unsafe { _exit(0) }
}

fn passes(test: &TestDescAndFn) -> bool {
    let TestFn::StaticTestFn(run) = test.testfn;
    let TestName::StaticTestName(name) = test.desc.name;
    let Ok(thread) = std::thread::Builder::new().name(name.into()).spawn(run) else {
        return false;
    };
    let ended = thread.join();
    let said = match (&ended, test.desc.should_panic) {
        (Ok(result), ShouldPanic::No) => return result.is_ok(),
        (Err(_), ShouldPanic::Yes) => return true,
        (Err(payload), ShouldPanic::YesWithMessage(wanted)) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            text.or(payload.downcast_ref::<&str>().copied()).is_some_and(|t| t.contains(wanted))
        }
        _ => false,
    };
    // A payload of the answer's own type may do anything when it is dropped.
    std::mem::forget(ended);
    said
}

/// Prints panics in trusted test files without their text, which could contain an expected value.
fn hide_expected_values() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|l| (l.file(), l.line()));
        let trusted = place.is_some_and(|(f, _)| f.rsplit('/').next().unwrap_or(f).starts_with("zt"));
        PANICKED.fetch_or(trusted, Ordering::SeqCst);
        let _ = catch_unwind(AssertUnwindSafe(|| match place {
            Some((_, line)) if trusted => eprintln!("a test failed at line {line}"),
            _ => eprintln!("{info}"),
        }));
    }));
}

fn paths(name: &str) -> Vec<&str> {
    let parts = name.split(|c: char| !(c.is_alphanumeric() || "_:#{}".contains(c)));
    let mut own: Vec<&str> = parts.filter(|p| is_of_answer(p)).collect();
    own.sort_unstable();
    own.dedup();
    own
}

fn is_of_answer(path: &str) -> bool {
    let path = path.trim_matches(':');
    let known = KNOWN.get().map(Vec::as_slice).unwrap_or(&[]);
    let below = |top: &str| path.strip_prefix(top).is_some_and(|rest| rest.starts_with("::"));
    path.contains("::") && !["core", "alloc", "std"].into_iter().any(below) && !known.iter().any(|top| below(top))
}

fn outermost(name: &str) -> &str {
    let name = name.trim_start_matches(|c| c == '&' || c == ' ').trim_start_matches("mut ");
    let end = name.find(['<', '(', '[']).unwrap_or(name.len());
    &name[..end]
}

thread_local! {
    /// Pointers to the names of the two types compared last, and whether they belong to the answer.
    static LAST: Cell<(*const str, *const str, bool)> = const { Cell::new(("", "", false)) };
}

/// Ends the test unless equality of these types can be trusted: it is the standard library's, or the derived equality
/// of one type of the answer with itself. Returns whether it is the latter.
#[track_caller]
pub fn comparable<L: ?Sized, R: ?Sized>(_: &L, _: &R) -> bool {
    comparable_names(std::any::type_name::<L>(), std::any::type_name::<R>())
}

#[track_caller]
fn comparable_names(left: &'static str, right: &'static str) -> bool {
    let last = LAST.get();
    if (last.0, last.1) == (left as *const str, right as *const str) {
        return last.2;
    }
    let (own_left, own_right) = (paths(left), paths(right));
    if own_left.is_empty() && own_right.is_empty() {
        LAST.set((left, right, false));
        return false;
    }
    let outer = is_of_answer(outermost(left)) || is_of_answer(outermost(right));
    let denied = DENIED.get().map(Vec::as_slice).unwrap_or(&[]);
    let is_denied = |path: &&str| {
        let last = path.trim_matches(':').rsplit("::").next().unwrap_or(path);
        denied.iter().any(|d| d == "*" || d == last)
    };
    if own_left != own_right
        || (outer && outermost(left) != outermost(right))
        || own_left.iter().any(is_denied)
    {
        panic!("a comparison of {left} with {right} that the answer defines itself");
    }
    LAST.set((left, right, true));
    true
}

/// The result of a comparison, recorded if it involves one of the answer's types or is marked to count.
pub fn noted_SECRET(own: bool, said: bool) -> bool {
    if alterations::counted() || own {
        alterations::compared(said);
    }
    said
}

/// The value, if its type is not one of the answer's.
#[track_caller]
pub fn plain<T: ?Sized>(value: &T) -> &T {
    if is_of_answer(outermost(std::any::type_name::<T>())) {
        panic!("a value of the answer's type {} where a standard-library one is expected", std::any::type_name::<T>());
    }
    value
}

pub fn truth(value: bool) -> bool {
    value
}

#[doc(hidden)]
#[track_caller]
pub fn differ_SECRET(kind: &str, left: &dyn std::fmt::Debug, right: &dyn std::fmt::Debug, said: Option<std::fmt::Arguments<'_>>) {
    if alterations::altering() {
        return; // the comparisons that follow count too
    }
    match said {
        Some(said) => panic!("assertion `left {kind} right` failed: {said}\n  left: {left:?}\n right: {right:?}"),
        None => panic!("assertion `left {kind} right` failed\n  left: {left:?}\n right: {right:?}"),
    }
}

#[macro_export]
macro_rules! assert_eq_SECRET {
    ($left:expr, $right:expr $(,)?) => { match (&$left, &$right) { (l, r) => {
        if !$crate::noted_SECRET($crate::comparable(l, r), *l == *r) { $crate::differ_SECRET("==", &l, &r, ::std::option::Option::None) }
    } } };
    ($left:expr, $right:expr, $($said:tt)+) => { match (&$left, &$right) { (l, r) => {
        if !$crate::noted_SECRET($crate::comparable(l, r), *l == *r) { $crate::differ_SECRET("==", &l, &r, ::std::option::Option::Some(::std::format_args!($($said)+))) }
    } } };
}

#[macro_export]
macro_rules! assert_ne_SECRET {
    ($left:expr, $right:expr $(,)?) => { match (&$left, &$right) { (l, r) => {
        if $crate::noted_SECRET($crate::comparable(l, r), *l == *r) { $crate::differ_SECRET("!=", &l, &r, ::std::option::Option::None) }
    } } };
    ($left:expr, $right:expr, $($said:tt)+) => { match (&$left, &$right) { (l, r) => {
        if $crate::noted_SECRET($crate::comparable(l, r), *l == *r) { $crate::differ_SECRET("!=", &l, &r, ::std::option::Option::Some(::std::format_args!($($said)+))) }
    } } };
}
