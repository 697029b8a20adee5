//! Records what a test compared and which of its literals it evaluated, and alters one literal while it runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

const MOST: usize = 200;

struct Alterations {
    number: u32,
    amount: u8,
    said: String,
    counts: bool,
    met: Vec<u32>,
}

static NOW: Mutex<Alterations> = Mutex::new(Alterations { number: 0, amount: 0, said: String::new(), counts: false, met: Vec::new() });

fn now() -> MutexGuard<'static, Alterations> {
    NOW.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins a test. The line holds its token, and the number and amount of an alteration; returns the token.
pub(crate) fn begin(line: &str) -> &str {
    let mut parts = line.split(' ');
    let token = parts.next().unwrap_or_default();
    let mut number = || parts.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    *now() = Alterations { number: number(), amount: number() as u8, said: String::new(), counts: false, met: Vec::new() };
    token
}

/// Comparisons as letters, 1 if they held, and numbers of literals; `-` for none.
pub(crate) fn report() -> String {
    let now = now();
    let met: Vec<String> = now.met.iter().map(u32::to_string).collect();
    let shown = |text: &str| if text.is_empty() { "-".to_string() } else { text.to_string() };
    format!("{} {}", shown(&now.said), shown(&met.join(",")))
}

pub(crate) fn altering() -> bool {
    now().amount > 0
}

pub(crate) fn compared(said: bool) {
    let mut now = now();
    if now.said.len() < MOST {
        now.said.push(if said { '1' } else { '0' });
    }
}

/// Makes the next comparison, which involves this value, count whatever its type.
pub fn counts_SECRET<T: ?Sized>(value: &T) -> &T {
    now().counts = true;
    value
}

pub(crate) fn counted() -> bool {
    std::mem::take(&mut now().counts)
}

/// A literal of a test, altered if it has the alteration's number.
pub fn literal_SECRET<T: Literal>(number: u32, value: T) -> T {
    let mut now = now();
    if now.met.len() < MOST && !now.met.contains(&number) {
        now.met.push(number);
    }
    if now.amount > 0 && now.number == number { value.moved(now.amount) } else { value }
}

/// A reference to literals that lives as long as one to constants.
pub fn lasting<'a, T: 'a>(value: T) -> &'a T {
    Box::leak(Box::new(value))
}

/// Values that can be altered a little.
pub trait Literal {
    fn moved(self, amount: u8) -> Self;
}

macro_rules! numbers {
    ($($name:ty),*) => { $( impl Literal for $name {
        fn moved(self, amount: u8) -> Self { self.wrapping_add(amount as $name) }
    } )* };
}
numbers!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

impl Literal for f32 {
    fn moved(self, amount: u8) -> Self { self + f32::from(amount) }
}
impl Literal for f64 {
    fn moved(self, amount: u8) -> Self { self + f64::from(amount) }
}
impl Literal for bool {
    fn moved(self, _: u8) -> Self { !self }
}
/// Shifts an ASCII letter or digit within its alphabet.
impl Literal for char {
    fn moved(self, amount: u8) -> Self {
        for (first, size) in [('0', 10), ('a', 26), ('A', 26)] {
            let place = (self as u32).wrapping_sub(first as u32);
            if place < size {
                return char::from_u32(first as u32 + (place + u32::from(amount)) % size).unwrap_or(self);
            }
        }
        self
    }
}
impl Literal for &'static str {
    fn moved(self, amount: u8) -> Self {
        self.chars().map(|c| c.moved(amount)).collect::<String>().leak()
    }
}
