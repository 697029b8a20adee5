//! Lists: Rust for the tasks of python-functions.

pub fn first_half(items: &[i64]) -> &[i64] {
    &items[..items.len() / 2]
}

/// Return the items without the first and the last one; up to two items give an empty slice.
pub fn without_ends(items: &[i64]) -> &[i64] {
    match items {
        [_, inner @ .., _] => inner,
        _ => &[],
    }
}

pub fn wrap_each_item(items: &[i64]) -> Vec<Vec<i64>> {
    items.iter().map(|&item| vec![item]).collect()
}

pub fn add_to_each(numbers: &[i64], amount: i64) -> Vec<i64> {
    let mut result = numbers.to_vec();
    for number in &mut result {
        *number += amount;
    }
    result
}

/// Return the squares of 1, 2, ..., count as a list; count 0 gives an empty list.
pub fn first_squares(count: u64) -> Vec<u64> {
    (1..=count).map(|number| number * number).collect()
}

pub fn words_longer_than(words: &[&str], length: usize) -> Vec<String> {
    words
        .iter()
        .filter(|word| word.chars().count() > length)
        .map(|word| word.to_string())
        .collect()
}

pub fn remove_every(items: &[i64], value: i64) -> Vec<i64> {
    let mut rest = items.to_vec();
    rest.retain(|&item| item != value);
    rest
}

pub fn repeat_list(items: &[i64], times: usize) -> Vec<i64> {
    items.repeat(times)
}

pub fn reverse_items(items: &[String]) -> Vec<String> {
    items.iter().rev().cloned().collect()
}

pub fn every_second_item(items: &[i64]) -> Vec<i64> {
    items.chunks(2).map(|chunk| chunk[0]).collect()
}

pub fn prepend_item(items: &[i64], item: i64) -> Vec<i64> {
    let mut result = Vec::with_capacity(items.len() + 1);
    result.push(item);
    result.extend_from_slice(items);
    result
}

/// Return the numbers from start down to 1; start 0 gives an empty list.
pub fn countdown_from(start: u32) -> Vec<u32> {
    (1..=start).rev().collect()
}

pub fn absolute_values(numbers: &[i64]) -> Vec<i64> {
    numbers.iter().map(|number| number.abs()).collect()
}

/// Return a list with the number of characters of every word.
pub fn lengths_of_words(words: &[&str]) -> Vec<usize> {
    let mut lengths = Vec::new();
    for word in words {
        lengths.push(word.chars().count());
    }
    lengths
}

pub fn keep_even_numbers(numbers: &[i64]) -> Vec<i64> {
    numbers
        .iter()
        .filter(|&number| number % 2 == 0)
        .copied()
        .collect()
}

pub fn none_to_zero(values: &[Option<i64>]) -> Vec<i64> {
    values.iter().map(|value| value.unwrap_or(0)).collect()
}

pub fn numbers_as_strings(numbers: &[i64]) -> Vec<String> {
    numbers.iter().map(|number| number.to_string()).collect()
}

pub fn join_inner_lists(lists: &[Vec<i64>]) -> Vec<i64> {
    lists.iter().flatten().copied().collect()
}

pub fn multiply_pairwise(left: &[i64], right: &[i64]) -> Vec<i64> {
    left.iter().zip(right).map(|(a, b)| a * b).collect()
}

/// Return a list of (name, number) pairs made from two lists of equal length.
pub fn pair_with_numbers(names: &[String], numbers: &[i64]) -> Vec<(String, i64)> {
    names.iter().cloned().zip(numbers.iter().copied()).collect()
}

pub fn numbered_lines(lines: &[&str]) -> Vec<String> {
    (1..)
        .zip(lines)
        .map(|(number, line)| format!("{number}. {line}"))
        .collect()
}

pub fn first_multiples(number: i64, count: i64) -> Vec<i64> {
    (1..=count).map(|factor| number * factor).collect()
}

pub fn negatives_to_zero(numbers: &[i64]) -> Vec<i64> {
    numbers.iter().map(|&number| number.max(0)).collect()
}

pub fn insert_at_position(items: &[i64], position: usize, item: i64) -> Vec<i64> {
    let mut result = items.to_vec();
    result.insert(position, item);
    result
}

pub fn replace_value(items: &[i64], old: i64, new: i64) -> Vec<i64> {
    items
        .iter()
        .map(|&item| if item == old { new } else { item })
        .collect()
}

/// Return the items without the last count ones; if count is the length or more, return an empty
/// slice.
pub fn drop_last_items(items: &[i64], count: usize) -> &[i64] {
    &items[..items.len().saturating_sub(count)]
}

pub fn swap_first_and_last(items: &[i64]) -> Vec<i64> {
    let mut result = items.to_vec();
    if let [first, .., last] = result.as_mut_slice() {
        std::mem::swap(first, last);
    }
    result
}

/// Return the list rotated left: each step moves the first item to the end. An empty list stays
/// empty.
pub fn rotate_left(items: &[i64], steps: usize) -> Vec<i64> {
    let mut result = items.to_vec();
    if !result.is_empty() {
        result.rotate_left(steps % items.len());
    }
    result
}

pub fn split_in_chunks(items: &[i64], size: usize) -> Vec<Vec<i64>> {
    items.chunks(size).map(|chunk| chunk.to_vec()).collect()
}

pub fn running_totals(numbers: &[i64]) -> Vec<i64> {
    let mut total = 0;
    numbers
        .iter()
        .map(|number| {
            total += number;
            total
        })
        .collect()
}

/// Return the differences between each number and the one before it; fewer than two numbers give
/// an empty list.
pub fn steps_between(numbers: &[i64]) -> Vec<i64> {
    numbers.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

pub fn unique_in_order(items: &[i64]) -> Vec<i64> {
    let mut unique = Vec::new();
    for &item in items {
        if !unique.contains(&item) {
            unique.push(item);
        }
    }
    unique
}

pub fn alternate_items(left: &[i64], right: &[i64]) -> Vec<i64> {
    left.iter().zip(right).flat_map(|(&a, &b)| [a, b]).collect()
}

pub fn put_between(items: &[i64], separator: i64) -> Vec<i64> {
    let mut result = Vec::new();
    for (i, &item) in items.iter().enumerate() {
        if i > 0 {
            result.push(separator);
        }
        result.push(item);
    }
    result
}

pub fn remove_at_position(items: &[i64], position: usize) -> Vec<i64> {
    let mut result = items.to_vec();
    if position < result.len() {
        result.remove(position);
    }
    result
}

pub fn collapse_repeats(items: &[i64]) -> Vec<i64> {
    let mut result = items.to_vec();
    result.dedup();
    result
}

pub fn repeat_each_item(items: &[i64], times: usize) -> Vec<i64> {
    items
        .iter()
        .flat_map(|&item| std::iter::repeat_n(item, times))
        .collect()
}

/// Return a list of (item, next item) for all neighbours; fewer than two items give an empty list.
pub fn neighbour_pairs(items: &[i64]) -> Vec<(i64, i64)> {
    items
        .iter()
        .copied()
        .zip(items.iter().copied().skip(1))
        .collect()
}

/// Return a pair of two lists: the items before position, and the items from position on.
pub fn split_at_position(items: &[i64], position: usize) -> (Vec<i64>, Vec<i64>) {
    let (before, after) = items.split_at(position);
    (before.to_vec(), after.to_vec())
}

/// Return height rows, where row number k is the list [1, 2, ..., k]; height 0 gives no rows.
pub fn number_staircase(height: u32) -> Vec<Vec<u32>> {
    (1..=height).map(|row| (1..=row).collect()).collect()
}

pub fn evens_then_odds(numbers: &[i64]) -> Vec<i64> {
    let (mut evens, odds): (Vec<i64>, Vec<i64>) = numbers.iter().partition(|&n| n % 2 == 0);
    evens.extend(odds);
    evens
}

/// Return the lists of items between the separators, which are left out. Two separators in a row
/// give an empty list between them, and no items give one empty list.
pub fn split_on_value(items: &[i64], separator: i64) -> Vec<Vec<i64>> {
    items
        .split(|&item| item == separator)
        .map(|part| part.to_vec())
        .collect()
}

/// Return a list of (item, count) for each run of equal neighbours, in order.
pub fn run_length_pairs(items: &[String]) -> Vec<(String, usize)> {
    let mut pairs = Vec::new();
    for run in items.chunk_by(|a, b| a == b) {
        pairs.push((run[0].clone(), run.len()));
    }
    pairs
}

/// Return items taken by turns from left and right, left first; when one list ends, the rest of
/// the other follows.
pub fn take_turns(left: &[i64], right: &[i64]) -> Vec<i64> {
    let mut result = Vec::new();
    for i in 0..left.len().max(right.len()) {
        result.extend(left.get(i));
        result.extend(right.get(i));
    }
    result
}

/// Return three lists: the numbers below pivot, those equal to it, and those above it.
pub fn split_around_pivot(numbers: &[i64], pivot: i64) -> (Vec<i64>, Vec<i64>, Vec<i64>) {
    use std::cmp::Ordering;

    let (mut below, mut equal, mut above) = (Vec::new(), Vec::new(), Vec::new());
    for &n in numbers {
        match n.cmp(&pivot) {
            Ordering::Less => below.push(n),
            Ordering::Equal => equal.push(n),
            Ordering::Greater => above.push(n),
        }
    }
    (below, equal, above)
}
