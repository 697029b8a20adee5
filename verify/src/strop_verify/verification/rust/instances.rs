//! Instances of the standard-library generics that answers use most, and of Put and Get. Never called.
//!
//! rustc reuses a dependency's instances if nothing is optimised (`share-generics`), so they are compiled once with the
//! harness and not with every batch: a batch's test program compiles in a quarter less time.

use crate::{Get, Put};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hint::black_box;

fn crosses<T: Put + Get + PartialEq + Clone + std::fmt::Debug + 'static>(from: &mut &[u8], to: &mut Vec<u8>) {
    let value = <T as Get>::get(from);
    if let Some(value) = &value {
        value.put(to);
        value.clone().put(to);
    }
    black_box((value == value.clone(), format!("{value:?}")));
    let many = <Vec<T> as Get>::get(from);
    if let Some(many) = &many {
        many.put(to);
        many.as_slice().put(to);
        black_box(many == &many.clone());
        black_box(many.iter().cloned().collect::<Vec<T>>());
        black_box(many.iter().map(|x| x.clone()).filter(|x| *x == *x).collect::<Vec<T>>());
        black_box((
            many.len(),
            many.is_empty(),
            many.first(),
            many.last(),
            many.get(0),
            many.contains(&many[0]),
        ));
        let mut more = Vec::new();
        more.push(many[0].clone());
        more.extend(many.iter().cloned());
        more.extend_from_slice(many);
        more.insert(0, many[0].clone());
        more.reverse();
        more.truncate(3);
        more.swap(0, 1);
        more.dedup();
        black_box((more.pop(), more.remove(0), more[1..].to_vec()));
        for (i, x) in many.iter().enumerate().rev().skip(1) {
            black_box((i, x));
        }
        for x in more {
            black_box(x);
        }
        black_box(format!("{many:?}"));
        black_box(many.iter().zip(many.iter()).all(|(a, b)| a == b));
        black_box(many.iter().position(|x| *x == many[0]));
        black_box(many.windows(2).any(|w| w[0] == w[1]));
        black_box(many.chunks(2).count());
        black_box(many.iter().take(2).count());
    }
    black_box(<Option<T> as Get>::get(from)).put(to);
    black_box(vec![many.unwrap()[0].clone(); 3]);
}
fn ordered<T: Ord + Clone + std::hash::Hash + std::fmt::Debug>(many: &mut Vec<T>) {
    many.sort();
    many.sort_unstable();
    many.sort_by(|a, b| b.cmp(a));
    black_box((many.iter().max(), many.iter().min(), many.clone().into_iter().max()));
    let _ = black_box(many.binary_search(&many[0]));
    let mut set = HashSet::new();
    let mut map: HashMap<T, i32> = HashMap::new();
    let mut usizes: HashMap<T, usize> = HashMap::new();
    for x in many.iter() {
        set.insert(x.clone());
        *map.entry(x.clone()).or_insert(0) += 1;
        *usizes.entry(x.clone()).or_insert(0) += 1;
    }
    black_box((
        set.contains(&many[0]),
        set.len(),
        map.get(&many[0]),
        usizes.contains_key(&many[0]),
        map.iter().count(),
    ));
    let mut tree: BTreeMap<T, i32> = BTreeMap::new();
    tree.insert(many[0].clone(), 1);
    black_box((tree.get(&many[0]), tree.iter().count()));
}
macro_rules! numbers { ($($t:ty),*) => { $(
    {
        let mut v: Vec<$t> = black_box(vec![]);
        black_box((v.iter().sum::<$t>(), v.iter().product::<$t>(), v.iter().copied().fold(0 as $t, |a, b| a + b)));
        black_box("1".parse::<$t>().unwrap().to_string());
        v.push(1 as $t);
    }
)* } }
pub fn instances(from: &mut &[u8], to: &mut Vec<u8>) {
    crosses::<i32>(from, to);
    crosses::<i64>(from, to);
    crosses::<u32>(from, to);
    crosses::<u64>(from, to);
    crosses::<usize>(from, to);
    crosses::<f32>(from, to);
    crosses::<f64>(from, to);
    crosses::<bool>(from, to);
    crosses::<char>(from, to);
    crosses::<String>(from, to);
    crosses::<Vec<i32>>(from, to);
    crosses::<(i32, i32)>(from, to);
    ordered::<i32>(&mut vec![]);
    ordered::<i64>(&mut vec![]);
    ordered::<usize>(&mut vec![]);
    ordered::<u8>(&mut vec![]);
    ordered::<char>(&mut vec![]);
    ordered::<String>(&mut vec![]);
    numbers!(i32, i64, u32, u64, usize, f64, f32);
    for i in (1..black_box(9i32)).rev().step_by(2) {
        black_box(i);
    }
    for i in 0..=black_box(9i32) {
        black_box(i);
    }
    for i in (0..=black_box(9usize)).rev() {
        black_box(i);
    }
    for i in (0..black_box(9usize)).rev().step_by(2) {
        black_box(i);
    }
    for i in 0..black_box(9u64) {
        black_box(i);
    }
    for i in 2..=black_box(9i64) {
        black_box(i);
    }
    black_box((
        (0..9i32).sum::<i32>(),
        (0..9i32).map(|x| x + 1).filter(|x| x % 2 == 0).collect::<Vec<i32>>(),
    ));
    let text = String::from(black_box("a b"));
    let mut other = String::new();
    other.push('a');
    other.push_str(&text);
    black_box((
        text.chars().rev().collect::<String>(),
        text.chars().collect::<Vec<char>>(),
        text.bytes().count(),
    ));
    black_box((
        text.split_whitespace().collect::<Vec<&str>>(),
        text.split(' ').map(|s| s.to_string()).collect::<Vec<String>>(),
    ));
    black_box((
        text.to_lowercase(),
        text.to_uppercase(),
        text.trim(),
        text.replace("a", "b"),
        text.contains("a"),
        text.contains('a'),
    ));
    black_box((
        text.starts_with("a"),
        text.ends_with("a"),
        text.find("a"),
        text.as_bytes()[0],
        &text[1..],
        text.len(),
        text.is_empty(),
    ));
    black_box((
        text.chars().filter(|c| c.is_ascii_digit()).count(),
        text.chars().all(|c| c.is_alphabetic()),
        text.chars().nth(0),
    ));
    black_box((
        text.chars().map(|c| c.to_ascii_uppercase()).collect::<String>(),
        vec![text.clone()].join(","),
        text.lines().count(),
    ));
    black_box((
        text == other,
        text.as_str() == "a",
        &text == "b",
        text.clone() + "x",
        text.char_indices().count(),
        text.chars().enumerate().count(),
    ));
    black_box((
        vec!["a"].join(""),
        vec!["a"].concat(),
        text.repeat(2),
        vec!['a'].iter().collect::<String>(),
        vec!['a'].into_iter().collect::<String>(),
    ));
}
