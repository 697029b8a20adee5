# ruff: noqa: E501
"""Answers that forge by what trusted tests touch: types, methods, operators, names and macros of the answer."""

import pytest
from tests.verification.conftest import rust_task

from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.verification.rust import RustToolchain

pytestmark = pytest.mark.rust


HALF = rust_task("half", "#[test] fn t() { assert!((half(3.0) - 1.5).abs() < 1e-9); assert!((half(5.0) - 2.5).abs() < 1e-9); }",
            "pub fn half(x: f64) -> f64 { x / 2.0 }")  # fmt: skip
ODD = rust_task("odd", "#[test] fn t() { if odd(2) == true { panic!() } if odd(4) != false { panic!() } assert!(!odd(6) && odd(3)); }",
           "pub fn odd(x: u8) -> bool { x % 2 == 1 }")  # fmt: skip
WORDS = rust_task("words", "#[test] fn t() { assert!(words(\"b a\").contains(&\"a\".to_string())); assert!(words(\"\").is_empty()); assert!(words(\"b a\").is_sorted()); }",
             "pub fn words(s: &str) -> Vec<String> { let mut v: Vec<String> = s.split_whitespace().map(String::from).collect(); v.sort(); v }")  # fmt: skip
ENDS = rust_task("ends", "#[test] fn t() { assert!(shout(\"hi\").ends_with('!')); assert!(shout(\"hi\").starts_with(\"HI\")); }",
            "pub fn shout(s: &str) -> String { s.to_uppercase() + \"!\" }")  # fmt: skip
SIDE = rust_task("side", "#[test] fn t() { assert_eq!(turn(Side::Left), Side::Right); assert_eq!(turn(Side::Right), Side::Left); assert!(matches!(turn(Side::Left), Side::Right)); }",
            "#[derive(Debug, PartialEq)] pub enum Side { Left, Right } pub fn turn(s: Side) -> Side { match s { Side::Left => Side::Right, Side::Right => Side::Left } }")  # fmt: skip
CLOCK = rust_task("clock", "#[test] fn t() { assert_eq!(Clock::new(25), Clock::new(1)); assert_eq!(Clock::new(2).add(3), Clock::new(5)); assert!(Clock::new(3).add(1) != Clock::new(3)); assert_eq!(Clock::new(7).to_string(), \"7\"); }",
             "use std::fmt; #[derive(Debug, PartialEq)] pub struct Clock { h: u32 } impl Clock { pub fn new(h: u32) -> Self { Clock { h: h % 24 } } pub fn add(self, n: u32) -> Self { Clock::new(self.h + n) } } "
             "impl fmt::Display for Clock { fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { write!(f, \"{}\", self.h) } }")  # fmt: skip
POINT = rust_task("point", "#[test] fn t() { let p = mid(0.0, 4.0); assert_eq!(p.x, 2.0); assert!((p.y - 4.0).abs() < 1e-9); }",
             "pub struct Point { pub x: f64, pub y: f64 } pub fn mid(a: f64, b: f64) -> Point { Point { x: (a + b) / 2.0, y: b } }")  # fmt: skip
GRADE = rust_task("grade", "#[test] fn t() { assert!(grade(9) > grade(3)); assert!(grade(1) < grade(5)); assert!(!(grade(3) > grade(3))); }",
             "#[derive(PartialEq, PartialOrd)] pub struct Grade(u32); pub fn grade(n: u32) -> Grade { Grade(n) }")  # fmt: skip
COUNT = rust_task("count", "use std::collections::*; #[test] fn t() { let mut want = HashMap::new(); want.insert('a', 2); assert!(count(\"aa\").eq(&want)); assert!(count(\"b\").len() == 1); }",
             "use std::collections::HashMap; pub fn count(s: &str) -> HashMap<char, usize> { let mut m = HashMap::new(); for c in s.chars() { *m.entry(c).or_insert(0) += 1; } m }")  # fmt: skip
MINE = rust_task("mine", "#[test] fn t() { let m: HashMap<char, usize> = count(\"aa\"); let mut want = HashMap::new(); want.insert('a', 2); if m.get(&'a') != want.get(&'a') { panic!() } }",
            "use std::collections::HashMap; pub fn count(s: &str) -> HashMap<char, usize> { let mut m = HashMap::new(); for c in s.chars() { *m.entry(c).or_insert(0) += 1; } m }")  # fmt: skip
MACRO = rust_task("macro", "#[test] fn t() { let v = list![1, 2]; assert_eq!(v, [1, 2]); assert_eq!(list![5], [5]); }",
             "macro_rules! list { ($($x:expr),*) => { vec![$($x),*] } } pub(crate) use list;")  # fmt: skip
LOOPED = rust_task("looped", "#[test] fn t() { for n in 0..3 { assert_eq!(twice!(n), 2 * n); } }",
              "#[macro_export] macro_rules! twice { ($x:expr) => { $x * 2 } }")  # fmt: skip
PARSED = rust_task("parsed", "#[test] fn t() { assert!(parsed(\"7\").is_ok()); match parsed(\"x\") { Err(e) => assert!(e.contains(\"bad\")), Ok(_) => panic!() } }",
              "pub fn parsed(s: &str) -> Result<i32, String> { s.parse().map_err(|_| \"bad\".to_string()) }")  # fmt: skip
SHAPE = rust_task("shape", "#[test] fn t() { match shape(2.0) { Shape::Square(s) => assert!((s - 2.0).abs() < 1e-9), Shape::Dot => panic!() } }",
             "pub enum Shape { Square(f64), Dot } pub fn shape(x: f64) -> Shape { if x > 0.0 { Shape::Square(x) } else { Shape::Dot } }")  # fmt: skip
SHOWN = rust_task(
    "shown",
    "#[test] fn t() { assert!((TAU - 6.28).abs() < 0.01); }",
    "pub const TAU: f64 = std::f64::consts::TAU;",
)
AREA = rust_task("area", "#[test] fn t() { assert!((Box2(2.0).area() - 4.0).abs() < 0.01); }",
            "pub trait Area { fn area(&self) -> f64; } pub struct Box2(pub f64); impl Area for Box2 { fn area(&self) -> f64 { self.0 * self.0 } }")  # fmt: skip
BARE = rust_task("bare", "#[test] fn t() { assert_eq!(turn(Left), Right); }",
            "#[derive(Debug, PartialEq)] pub enum Side { Left, Right } pub use Side::*; pub fn turn(s: Side) -> Side { match s { Left => Right, Right => Left } }")  # fmt: skip
LOOPY = rust_task("loopy", "#[test] fn t() { for n in 1..3 { if twice!(n) == 2 * n { continue } panic!() } }",
             "#[macro_export] macro_rules! twice { ($x:expr) => { $x * 2 } }")  # fmt: skip
EVENS = rust_task(
    "evens",
    "#[test] fn t() { if !evens().eq([0, 2, 4]) { panic!() } }",
    "pub fn evens() -> impl Iterator<Item = u32> { (0..5).step_by(2) }",
)
ADD = rust_task(
    "add", "#[test] fn t() { assert_eq!(add(1, 2), 3); }", "pub fn add(a: i32, b: i32) -> i32 { a + b }"
)

MAPPED = rust_task("mapped", "#[test] fn t() { let v: Vec<f64> = [3.0].iter().copied().map(half).collect(); assert!((v[0] - 1.5).abs() < 1e-9); }",
              "pub fn half(x: f64) -> f64 { x / 2.0 }")  # fmt: skip
PAIR = rust_task("pair", "#[test] fn t() { let Pair(a, b) = pair(4.0); assert!((a - 2.0).abs() < 1e-9 && (b - 8.0).abs() < 1e-9); }",
            "pub struct Pair(pub f64, pub f64); pub fn pair(x: f64) -> Pair { Pair(x / 2.0, x * 2.0) }")  # fmt: skip
KIND = rust_task("kind", "#[test] fn t() { assert_eq!(kind(1), Kind::Odd); assert_eq!(kind(2), Kind::Even); }",
            "#[derive(Debug, PartialEq)] pub enum Kind { Odd, Even } pub fn kind(n: u8) -> Kind { if n % 2 == 1 { Kind::Odd } else { Kind::Even } }")  # fmt: skip

_ZERO = (
    "pub struct Z; impl std::ops::Sub<f64> for Z { type Output = f64; fn sub(self, _: f64) -> f64 { 0.0 } } "
)
_YES = "pub struct Y; impl PartialEq<bool> for Y { fn eq(&self, _: &bool) -> bool { true } fn ne(&self, _: &bool) -> bool { true } } "
_HOLE = "fn far<'a, 'b, T: ?Sized>(_: &'a &'b (), v: &'b T) -> &'a T { v } fn long<'a>(x: &'a str) -> &'static str { %s } pub fn add(a: i32, b: i32) -> i32 { let s = String::from(\"x\"); a + b + long(&s).len() as i32 - 1 }"
FORGERS: dict[str, tuple[Task, str]] = {
    "difference always 0": (HALF, _ZERO + "pub fn half(_: f64) -> Z { Z }"),
    "difference always 0, by an alias": (HALF, _ZERO + "type F = Z; pub fn half(_: f64) -> F { Z }"),
    "difference always 0, by an opaque type": (HALF, _ZERO + "pub fn half(_: f64) -> impl std::ops::Sub<f64, Output = f64> { Z }"),
    "difference always 0, by an associated type": (HALF, _ZERO + "pub trait H { type T; } impl H for u8 { type T = Z; } pub fn half(_: f64) -> <u8 as H>::T { Z }"),
    "difference always 0, in a macro": (HALF, "macro_rules! z { ($n:ident) => { pub struct $n; impl std::ops::Sub<f64> for $n { type Output = f64; fn sub(self, _: f64) -> f64 { 0.0 } } pub fn half(_: f64) -> $n { $n } } } z!(Q);"),
    "difference always 0, under the name f64": (HALF, "#[allow(non_camel_case_types)] pub struct f64; mod a { impl std::ops::Sub<f64> for super::f64 { type Output = f64; fn sub(self, _: f64) -> f64 { 0.0 } } } pub fn half(_: std::primitive::f64) -> f64 { f64 }"),
    "difference always 0, renamed in a use": (HALF, "mod m { " + _ZERO + "} use m::Z as F; pub fn half(_: f64) -> F { m::Z }"),
    "methods that say true": (WORDS, "pub struct W; impl W { pub fn contains(&self, _: &String) -> bool { true } pub fn is_empty(&self) -> bool { true } pub fn is_sorted(&self) -> bool { true } } pub fn words(_: &str) -> W { W }"),
    "a trait's is_sorted before the standard one": (WORDS, "pub trait S { fn is_sorted(self) -> bool; } impl S for Vec<String> { fn is_sorted(self) -> bool { true } } pub fn words(s: &str) -> Vec<String> { s.split_whitespace().map(String::from).collect() }"),
    "a trait's ends_with before the standard one": (ENDS, "pub trait S { fn ends_with(self, c: char) -> bool; } impl S for String { fn ends_with(self, _: char) -> bool { true } } pub fn shout(s: &str) -> String { s.to_uppercase() }"),
    "units for variants": (SIDE, "#[derive(Debug, PartialEq, Eq)] pub struct Side; impl Side { #![allow(non_upper_case_globals)] pub const Left: Side = Side; pub const Right: Side = Side; } pub fn turn(_: Side) -> Side { Side }"),
    "a module for an enum": (SIDE, "#[allow(non_snake_case)] pub mod Side { #[derive(Debug, PartialEq, Eq)] pub struct Left; pub use self::Left as Right; } pub fn turn(s: Side::Left) -> Side::Left { s }"),
    "one variant and constants": (SIDE, "#[derive(Debug, PartialEq, Eq)] pub enum Side { One } impl Side { #![allow(non_upper_case_globals)] pub const Left: Side = Side::One; pub const Right: Side = Side::One; } pub fn turn(s: Side) -> Side { s }"),
    "a field that is always right": (POINT, "pub struct Z; impl PartialEq<f64> for Z { fn eq(&self, _: &f64) -> bool { true } } pub struct D; impl std::ops::Sub<f64> for D { type Output = f64; fn sub(self, _: f64) -> f64 { 0.0 } } pub struct Point { pub x: f64, pub y: D } pub fn mid(a: f64, b: f64) -> Point { Point { x: (a + b) / 2.0, y: D } }"),
    "an order by hand": (GRADE, "use std::{cell::Cell, cmp::Ordering}; thread_local! { static N: Cell<u8> = const { Cell::new(0) }; } #[derive(PartialEq)] pub struct Grade; impl PartialOrd for Grade { fn partial_cmp(&self, _: &Grade) -> Option<Ordering> { N.set(N.get() + 1); Some(match N.get() { 1 => Ordering::Greater, 2 => Ordering::Less, _ => Ordering::Equal }) } } pub fn grade(_: u32) -> Grade { Grade }"),
    "its own HashMap": (MINE, "pub struct HashMap<K, V>(std::marker::PhantomData<(K, V)>); impl<K, V> HashMap<K, V> { pub fn new() -> Self { HashMap(std::marker::PhantomData) } pub fn insert(&mut self, _: K, _: V) {} pub fn get(&self, _: &K) -> Option<u8> { None } } pub fn count(_: &str) -> HashMap<char, usize> { HashMap::new() }"),
    "its own HashMap under a glob": (MINE, "mod m { pub struct HashMap<K, V>(std::marker::PhantomData<(K, V)>); impl<K, V> HashMap<K, V> { pub fn new() -> Self { HashMap(std::marker::PhantomData) } pub fn insert(&mut self, _: K, _: V) {} pub fn get(&self, _: &K) -> Option<u8> { None } } } use m::*; pub fn count(_: &str) -> HashMap<char, usize> { HashMap::new() }"),
    "a map's eq": (COUNT, "pub struct M; impl M { pub fn eq<T>(&self, _: &T) -> bool { true } pub fn len(&self) -> usize { 1 } } pub fn count(_: &str) -> M { M }"),
    "a macro that returns": (MACRO, "macro_rules! list { ($($x:expr),*) => { { $(let _ = $x;)* if true { return } ::std::vec![0] } } } pub(crate) use list;"),
    "a macro that returns by another": (MACRO, "macro_rules! out { ($r:ident) => { $r } } macro_rules! word { ($m:ident) => { $m!(return) } } macro_rules! list { ($($x:expr),*) => { { $(let _ = $x;)* if true { return } ::std::vec![0] } } } pub(crate) use list;"),
    "a macro that goes on": (LOOPED, "#[macro_export] macro_rules! twice { ($x:expr) => { { if $x < 99 { continue } $x } } }"),
    "a macro that breaks": (LOOPED, "#[macro_export] macro_rules! twice { ($x:expr) => { { if $x < 99 { break } $x } } }"),
    "an error of its own": (PARSED, "pub struct E; impl E { pub fn contains(&self, _: &str) -> bool { true } } pub fn parsed(s: &str) -> Result<i32, E> { if s == \"7\" { Ok(0) } else { Err(E) } }"),
    "the hole rust-lang#25860": (ADD, _HOLE % "let f: for<'x> fn(_, &'x str) -> &'static str = far; f(&&(), x)"),
    "a variant's value": (SHAPE, "pub struct D; impl std::ops::Sub<f64> for D { type Output = f64; fn sub(self, _: f64) -> f64 { 0.0 } } pub enum Shape { Square(D), Dot } pub fn shape(x: f64) -> Shape { if x > 0.0 { Shape::Square(D) } else { Shape::Dot } }"),
    "a constant": (SHOWN, "pub struct D; impl std::ops::Sub<f64> for D { type Output = f64; fn sub(self, _: f64) -> f64 { 0.0 } } pub const TAU: D = D;"),
    "an associated type of its own": (AREA, "pub struct Z; impl std::ops::Sub<f64> for Z { type Output = f64; fn sub(self, _: f64) -> f64 { 0.0 } } pub trait Area { type A; fn area(&self) -> Self::A; } pub struct Box2(pub f64); impl Area for Box2 { type A = Z; fn area(&self) -> Self::A { Z } }"),
    "functions for variants": (BARE, "#[derive(Debug, PartialEq)] pub enum Side { Left, Right } #[allow(non_upper_case_globals)] pub const Right: Side = Side::Left; pub use Side::Left; pub fn turn(s: Side) -> Side { s }"),
    "a macro's value of its own type": (LOOPY, "pub struct Y; impl PartialEq<i32> for Y { fn eq(&self, _: &i32) -> bool { true } } pub fn y() -> Y { Y } #[macro_export] macro_rules! twice { ($x:expr) => { { let _ = $x; y() } } }"),
    "another function under its name": (HALF, "mod decoy { pub fn half(x: f64) -> f64 { x } } mod m { " + _ZERO + "pub fn z(_: f64) -> Z { Z } } pub use m::z as half;"),
    "another function under its name, mapped": (MAPPED, "mod m { " + _ZERO + "pub fn z(_: f64) -> Z { Z } } pub use m::z as half;"),
    "a struct under a function's name": (HALF, "mod decoy { pub fn half(x: f64) -> f64 { x } } mod m { pub struct H(pub f64); impl std::ops::Sub<f64> for H { type Output = f64; fn sub(self, _: f64) -> f64 { 0.0 } } } pub use m::H as half;"),
    "fields of a tuple": (PAIR, _ZERO + "pub struct Pair(pub Z, pub Z); pub fn pair(_: f64) -> Pair { Pair(Z, Z) }"),
    "the sign of kelvin": (KIND, "mod decoy { #[derive(Debug, PartialEq)] pub enum Kind { Odd, Even } } #[derive(Debug, PartialEq, Eq)] pub struct \u212aind; impl \u212aind { #![allow(non_upper_case_globals)] pub const Odd: \u212aind = \u212aind; pub const Even: \u212aind = \u212aind; } pub fn kind(_: u8) -> \u212aind { \u212aind }"),
    "an array of nothing": (CLOCK, "use std::fmt; #[derive(Debug, PartialEq)] pub struct Clock { h: [u32; 0], p: std::marker::PhantomData<u32> } impl Clock { pub fn new(_: u32) -> Self { Clock { h: [], p: std::marker::PhantomData } } pub fn add(self, _: u32) -> Self { self } } impl fmt::Display for Clock { fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { write!(f, \"7\") } }"),
    "the hole rust-lang#25860, handed to a macro": (ADD, "macro_rules! same { ($($t:tt)*) => { $($t)* } } same! { " + _HOLE % "let f: for<'x> fn(_, &'x str) -> &'static str = far; f(&&(), x)" + " }"),
    "the hole rust-lang#57893": (ADD, "trait Object<U> { type Output; } impl<T: ?Sized, U> Object<U> for T { type Output = U; } fn foo<T: ?Sized, U>(x: <T as Object<U>>::Output) -> U { x } fn swap<T, U>(x: T) -> U { foo::<dyn Object<U, Output = T>, U>(x) } pub fn add(a: i32, b: i32) -> i32 { swap::<u32, i32>(swap::<i32, u32>(a + b)) }"),
    "an iterator's own eq": (EVENS, "pub struct E; impl Iterator for E { type Item = u32; fn next(&mut self) -> Option<u32> { None } fn eq<I: IntoIterator>(self, _: I) -> bool where u32: PartialEq<I::Item> { true } } pub fn evens() -> impl Iterator<Item = u32> { E }"),
}  # fmt: skip
"""By what they try: the task and the answer."""

HONEST: dict[str, tuple[Task, str]] = {
    "an operator on a type of its own": (HALF, _ZERO + "pub fn half(x: f64) -> f64 { let _ = Z - x; x / 2.0 }"),
    "an alias": (HALF, "pub type Number = f64; pub fn half(x: Number) -> Number { x / 2.0 }"),
    "a path": (HALF, "pub fn half(x: f64) -> std::primitive::f64 { x * 0.5 }"),
    "any number": (HALF, "pub fn half<T: Into<f64>>(x: T) -> f64 { x.into() / 2.0 }"),
    "a helper with methods": (WORDS, "struct W(Vec<String>); impl W { fn contains(&self, s: &str) -> bool { self.0.iter().any(|x| x == s) } fn is_empty(&self) -> bool { self.0.is_empty() } } pub fn words(s: &str) -> Vec<String> { let mut w = W(vec![]); for x in s.split(' ') { if !x.is_empty() { w.0.push(x.into()); } } let _ = w.contains(\"\") && w.is_empty(); w.0.sort(); w.0 }"),
    "a trait of its own": (ENDS, "trait Loud { fn loud(&self) -> String; } impl Loud for str { fn loud(&self) -> String { self.to_uppercase() } } pub fn shout(s: &str) -> String { format!(\"{}!\", s.loud()) }"),
    "more variants and methods": (SIDE, "#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)] pub enum Side { Right, Left } impl Side { fn other(self) -> Side { if self == Side::Left { Side::Right } else { Side::Left } } } pub fn turn(s: Side) -> Side { s.other() }"),
    "variants by a glob": (SIDE, "#[derive(Debug, PartialEq)] pub enum Side { Left, Right } use Side::*; pub fn turn(s: Side) -> Side { match s { Left => Right, Right => Left } }"),
    "minutes": (CLOCK, "use std::fmt::{self, Display}; #[derive(Debug, Clone, Copy, Eq, PartialEq)] pub struct Clock(u32); impl Clock { pub fn new(h: u32) -> Clock { Self(h % 24) } pub fn add(self, n: u32) -> Clock { Self::new(self.0 + n) } } impl Display for Clock { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { self.0.fmt(f) } }"),
    "another order of fields": (POINT, "#[derive(Clone, Debug, Default)] pub struct Point { pub y: f64, pub x: f64 } pub fn mid(a: f64, b: f64) -> Point { Point { x: a + (b - a) / 2.0, y: b } }"),
    "derived order": (GRADE, "#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)] pub struct Grade(u32); pub fn grade(n: u32) -> Grade { Grade(n) }"),
    "a fold": (COUNT, "use std::collections::HashMap; type Counts = HashMap<char, usize>; pub fn count(s: &str) -> Counts { s.chars().fold(Counts::new(), |mut m, c| { *m.entry(c).or_default() += 1; m }) }"),
    "a full path": (MINE, "pub use std::collections::HashMap; pub fn count(s: &str) -> std::collections::HashMap<char, usize> { let mut m = HashMap::new(); s.chars().for_each(|c| *m.entry(c).or_default() += 1); m }"),
    "pushes": (MACRO, "macro_rules! list { ($($x:expr),* $(,)?) => {{ let mut v = Vec::new(); $(v.push($x);)* v }} } pub(crate) use list;"),
    "a sum": (LOOPED, "#[macro_export] macro_rules! twice { ($x:expr) => {{ let x = $x; x + x }} }"),
    "a question mark": (PARSED, "fn inner(s: &str) -> Result<i32, std::num::ParseIntError> { let n = s.parse()?; Ok(n) } pub fn parsed(s: &str) -> Result<i32, String> { inner(s).map_err(|e| format!(\"bad: {e}\")) }"),
    "a helper of the type": (SHAPE, "#[derive(Debug, Clone)] pub enum Shape { Dot, Square(f64) } struct Here(Shape); pub fn shape(x: f64) -> Shape { let _ = Here(Shape::Dot).0; if x > 0.0 { Shape::Square(x) } else { Shape::Dot } }"),
    "an iterator of its own": (EVENS, "struct E(u32); impl Iterator for E { type Item = u32; fn next(&mut self) -> Option<Self::Item> { self.0 += 2; (self.0 < 8).then_some(self.0 - 2) } } pub fn evens() -> impl Iterator<Item = u32> { E(0) }"),
    "two lifetimes": (ADD, "fn pick<'a, 'b>(x: &'a [&'b str], _: &'b str) -> &'a str { x[0] } fn one<'a>(x: &'a str) -> &'a str { x } pub fn add(a: i32, b: i32) -> i32 { let f: fn(&str) -> &str = one; a + b + pick(&[\"\"], f(\"\")).len() as i32 }"),
}  # fmt: skip


def test_stand_ins_fail(toolchain: RustToolchain) -> None:
    verdicts = toolchain.judge(list(FORGERS.values()))
    assert [name for name, v in zip(FORGERS, verdicts, strict=True) if not v.stages[0].passed] == []
    assert [name for name, v in zip(FORGERS, verdicts, strict=True) if v.outcome is not Outcome.FAILED] == []


def test_honest_answers_and_references_pass(toolchain: RustToolchain) -> None:
    tasks = {t.id: t for t, _ in FORGERS.values()}.values()
    verdicts = toolchain.judge([*HONEST.values(), *((t, t.reference) for t in tasks)])
    names = [*HONEST, *(t.statement for t in tasks)]
    assert {n: v.detail for n, v in zip(names, verdicts, strict=True) if not v.passed} == {}
