//! Encodes values of the standard library, and calls from a test program to the program of an answer.
//!
//! A call is a frame with the function's number and its arguments; the reply is a frame with a byte for how the call
//! ended, the result and the `&mut` arguments. A frame is its length (four bytes, little-endian) and that many bytes,
//! at most `MOST`. Decoding depends only on the type, is bounded by the frame, and fails on anything unexpected.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fs::File;
use std::hash::Hash;
use std::io::{BufReader, Read, Write};
use std::panic::{catch_unwind, panic_any, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock, PoisonError};

const MOST: usize = 32 << 20;
const BEGIN: u32 = u32::MAX;
type Channel = BufReader<File>;
static CHANNEL: OnceLock<Mutex<Option<Channel>>> = OnceLock::new();

pub trait Put {
    fn put(&self, to: &mut Vec<u8>);
}

pub trait Get: Sized {
    fn get(from: &mut &[u8]) -> Option<Self>;
}

fn part<'a>(from: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    if length > from.len() {
        return None;
    }
    let (head, rest) = from.split_at(length);
    *from = rest;
    Some(head)
}

fn put_length(length: usize, to: &mut Vec<u8>) {
    (length as u64).put(to);
}

/// The number of items that follow; each takes at least a byte.
fn get_length(from: &mut &[u8]) -> Option<usize> {
    let length = usize::try_from(u64::get(from)?).ok()?;
    (length <= from.len()).then_some(length)
}

macro_rules! numbers {
    ($($name:ty),*) => { $(
        impl Put for $name {
            fn put(&self, to: &mut Vec<u8>) { to.extend_from_slice(&self.to_le_bytes()); }
        }
        impl Get for $name {
            fn get(from: &mut &[u8]) -> Option<Self> {
                Some(Self::from_le_bytes(part(from, std::mem::size_of::<Self>())?.try_into().ok()?))
            }
        }
    )* };
}
numbers!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

impl Put for f32 {
    fn put(&self, to: &mut Vec<u8>) { self.to_bits().put(to); }
}
impl Get for f32 {
    fn get(from: &mut &[u8]) -> Option<Self> { u32::get(from).map(f32::from_bits) }
}
impl Put for f64 {
    fn put(&self, to: &mut Vec<u8>) { self.to_bits().put(to); }
}
impl Get for f64 {
    fn get(from: &mut &[u8]) -> Option<Self> { u64::get(from).map(f64::from_bits) }
}
impl Put for bool {
    fn put(&self, to: &mut Vec<u8>) { to.push(*self as u8); }
}
impl Get for bool {
    fn get(from: &mut &[u8]) -> Option<Self> {
        match u8::get(from)? { 0 => Some(false), 1 => Some(true), _ => None }
    }
}
impl Put for char {
    fn put(&self, to: &mut Vec<u8>) { (*self as u32).put(to); }
}
impl Get for char {
    fn get(from: &mut &[u8]) -> Option<Self> { char::from_u32(u32::get(from)?) }
}
impl Put for std::cmp::Ordering {
    fn put(&self, to: &mut Vec<u8>) { (*self as i8).put(to); }
}
impl Get for std::cmp::Ordering {
    fn get(from: &mut &[u8]) -> Option<Self> {
        [Self::Less, Self::Equal, Self::Greater].into_iter().nth(usize::try_from(i8::get(from)? + 1).ok()?)
    }
}
impl Put for str {
    fn put(&self, to: &mut Vec<u8>) {
        put_length(self.len(), to);
        to.extend_from_slice(self.as_bytes());
    }
}
impl Put for String {
    fn put(&self, to: &mut Vec<u8>) { self.as_str().put(to); }
}
impl Get for String {
    fn get(from: &mut &[u8]) -> Option<Self> {
        let length = get_length(from)?;
        String::from_utf8(part(from, length)?.to_vec()).ok()
    }
}
impl<T: Put> Put for [T] {
    fn put(&self, to: &mut Vec<u8>) {
        put_length(self.len(), to);
        for item in self {
            item.put(to);
        }
    }
}
impl<T: Put, const N: usize> Put for [T; N] {
    fn put(&self, to: &mut Vec<u8>) { self.as_slice().put(to); }
}
impl<T: Get, const N: usize> Get for [T; N] {
    fn get(from: &mut &[u8]) -> Option<Self> { Vec::get(from)?.try_into().ok() }
}
impl<T: Put + ?Sized> Put for &T {
    fn put(&self, to: &mut Vec<u8>) { (**self).put(to); }
}
impl<T: Put + ?Sized> Put for &mut T {
    fn put(&self, to: &mut Vec<u8>) { (**self).put(to); }
}
// The target of a reference is leaked for the rest of the process.
impl Get for &'static str {
    fn get(from: &mut &[u8]) -> Option<Self> { String::get(from).map(|s| &*s.leak()) }
}
impl<T: Get + 'static> Get for &'static [T] {
    fn get(from: &mut &[u8]) -> Option<Self> { Vec::get(from).map(|v| &*v.leak()) }
}
impl<T: Get + 'static> Get for &'static T {
    fn get(from: &mut &[u8]) -> Option<Self> { T::get(from).map(|v| &*Box::leak(Box::new(v))) }
}
impl<T: Put + ?Sized> Put for Box<T> {
    fn put(&self, to: &mut Vec<u8>) { (**self).put(to); }
}
impl<T: Get> Get for Box<T> {
    fn get(from: &mut &[u8]) -> Option<Self> { T::get(from).map(Box::new) }
}
impl<T: Put> Put for Option<T> {
    fn put(&self, to: &mut Vec<u8>) {
        to.push(self.is_some() as u8);
        if let Some(value) = self {
            value.put(to);
        }
    }
}
impl<T: Get> Get for Option<T> {
    fn get(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::get(from)? { Some(T::get(from)?) } else { None })
    }
}
impl<T: Put, E: Put> Put for Result<T, E> {
    fn put(&self, to: &mut Vec<u8>) {
        to.push(self.is_ok() as u8);
        match self {
            Ok(value) => value.put(to),
            Err(error) => error.put(to),
        }
    }
}
impl<T: Get, E: Get> Get for Result<T, E> {
    fn get(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::get(from)? { Ok(T::get(from)?) } else { Err(E::get(from)?) })
    }
}

macro_rules! collections {
    ($($name:ident $add:ident [$($bound:tt)*]),*) => { $(
        impl<T: Put> Put for $name<T> {
            fn put(&self, to: &mut Vec<u8>) {
                put_length(self.len(), to);
                for item in self {
                    item.put(to);
                }
            }
        }
        impl<T: Get $($bound)*> Get for $name<T> {
            fn get(from: &mut &[u8]) -> Option<Self> {
                let mut left = get_length(from)?;
                let mut found = Self::default();
                while left > 0 {
                    found.$add(T::get(from)?);
                    left -= 1;
                }
                Some(found)
            }
        }
    )* };
}
// Loops, not adapters: each type in a program has its own copy of this code, and less code compiles faster.
collections!(Vec push [], VecDeque push_back [], HashSet insert [+ Eq + Hash], BTreeSet insert [+ Ord]);

macro_rules! maps {
    ($($name:ident [$($bound:tt)*]),*) => { $(
        impl<K: Put, V: Put> Put for $name<K, V> {
            fn put(&self, to: &mut Vec<u8>) {
                put_length(self.len(), to);
                for (key, value) in self {
                    key.put(to);
                    value.put(to);
                }
            }
        }
        impl<K: Get $($bound)*, V: Get> Get for $name<K, V> {
            fn get(from: &mut &[u8]) -> Option<Self> {
                let mut found = Self::default();
                for _ in 0..get_length(from)? {
                    found.insert(K::get(from)?, V::get(from)?);
                }
                Some(found)
            }
        }
    )* };
}
maps!(HashMap [+ Eq + Hash], BTreeMap [+ Ord]);

// The empty tuple takes a byte, so that lists of them are bounded too.
impl Put for () {
    fn put(&self, to: &mut Vec<u8>) { to.push(0); }
}
impl Get for () {
    fn get(from: &mut &[u8]) -> Option<Self> { u8::get(from).map(|_| ()) }
}
macro_rules! tuples {
    ($(($($name:ident $index:tt),+))*) => { $(
        impl<$($name: Put),+> Put for ($($name,)+) {
            fn put(&self, to: &mut Vec<u8>) { $(self.$index.put(to);)+ }
        }
        impl<$($name: Get),+> Get for ($($name,)+) {
            fn get(from: &mut &[u8]) -> Option<Self> { Some(($($name::get(from)?,)+)) }
        }
    )* };
}
tuples!((A 0) (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) (A 0, B 1, C 2, D 3, E 4) (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6) (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7));

fn send(channel: &mut Channel, body: &[u8]) -> Option<()> {
    let mut frame = (u32::try_from(body.len()).ok().filter(|n| *n as usize <= MOST)?).to_le_bytes().to_vec();
    frame.extend_from_slice(body);
    channel.get_mut().write_all(&frame).ok()
}

fn receive(channel: &mut Channel) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    channel.read_exact(&mut length).ok()?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST {
        return None;
    }
    let mut body = Vec::new();
    channel.take(length as u64).read_to_end(&mut body).ok()?;
    (body.len() == length).then_some(body)
}

pub(crate) fn open(channel: File) {
    let _ = CHANNEL.set(Mutex::new(Some(BufReader::new(channel))));
}

/// The test program's side: begins a test; the answer starts a new thread for it.
pub(crate) fn begin() {
    if let Some(channel) = CHANNEL.get() {
        let mut channel = channel.lock().unwrap_or_else(PoisonError::into_inner);
        if channel.as_mut().and_then(|c| send(c, &BEGIN.to_le_bytes())).is_none() {
            *channel = None;
        }
    }
}

/// The beginning of a call.
pub fn call(function: u32) -> Vec<u8> {
    function.to_le_bytes().to_vec()
}

/// Sends a call and waits for its reply. Panics if the answer did, or if there is no readable reply.
pub fn ask(call: &[u8]) -> Vec<u8> {
    let mut channel = CHANNEL.get().expect("a channel").lock().unwrap_or_else(PoisonError::into_inner);
    let back = channel.as_mut().and_then(|c| send(c, call).and_then(|_| receive(c)));
    if back.is_none() {
        *channel = None;
    }
    drop(channel);
    let Some(mut back) = back.filter(|b| !b.is_empty()) else {
        panic!("the answer's program has ended, or sends too much");
    };
    match back.remove(0) {
        0 => back,
        1 => resume_unwind(Box::new(&*said(&back).leak())),
        2 => resume_unwind(Box::new(said(&back))),
        3 => panic_any(()),
        _ => panic!("the answer's program could not take the arguments"),
    }
}

fn said(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// The next value of a reply.
pub fn take<T: Get>(from: &mut &[u8]) -> T {
    T::get(from).expect("a value that cannot be read")
}

/// The changed items of a slice.
pub fn refill<T: Get>(items: &mut [T], from: &mut &[u8]) {
    let changed: Vec<T> = take(from);
    assert!(changed.len() == items.len(), "a slice of another length");
    items.iter_mut().zip(changed).for_each(|(item, value)| *item = value);
}

/// Ends a reply.
pub fn finish(rest: &[u8]) {
    assert!(rest.is_empty(), "bytes after the value");
}

pub type Function = fn(&mut &[u8], &mut Vec<u8>) -> Option<()>;

/// The answer's side: serves calls until the other side is gone. Each test has its own thread.
pub fn serve(functions: &'static [Function]) {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if STARTED.swap(true, SeqCst) {
        std::process::exit(98) // an answer that calls this itself would wait forever
    }
    while std::thread::spawn(move || serve_test(functions)).join().unwrap_or(false) {}
}

fn serve_test(functions: &'static [Function]) -> bool {
    let Some(channel) = CHANNEL.get() else { return false };
    loop {
        // The lock is not held while the answer runs.
        let asked = channel.lock().unwrap_or_else(PoisonError::into_inner).as_mut().and_then(receive);
        let Some(asked) = asked else { return false };
        let mut rest = asked.as_slice();
        let number = u32::get(&mut rest).unwrap_or(BEGIN);
        if number == BEGIN {
            return true;
        }
        let mut reply = vec![0];
        let ended = catch_unwind(AssertUnwindSafe(|| functions.get(number as usize).and_then(|f| f(&mut rest, &mut reply))));
        match ended {
            Ok(Some(())) => {}
            Ok(None) => reply = vec![4],
            Err(payload) => {
                let (kind, text) = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
                    (Some(text), _) => (1, *text),
                    (_, Some(text)) => (2, text.as_str()),
                    _ => (3, ""),
                };
                reply = [&[kind], text.as_bytes()].concat();
                std::mem::forget(payload);
            }
        }
        if channel.lock().unwrap_or_else(PoisonError::into_inner).as_mut().and_then(|c| send(c, &reply)).is_none() {
            return false;
        }
    }
}
