//! Sorting: Rust for the tasks of python-functions.

pub fn sort_descending(numbers: &[i64]) -> Vec<i64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    sorted
}

pub fn sort_by_length(words: &[String]) -> Vec<String> {
    let mut sorted = words.to_vec();
    sorted.sort_by_key(|word| word.chars().count());
    sorted
}

/// Return the words in alphabetical order, treating upper and lower case letters as equal. Words
/// that are equal then keep their order.
pub fn sort_ignoring_case(words: &[String]) -> Vec<String> {
    let mut sorted = words.to_vec();
    sorted.sort_by_cached_key(|word| word.to_lowercase());
    sorted
}

pub fn sort_by_last_letter(words: &[String]) -> Vec<String> {
    let mut sorted = words.to_vec();
    sorted.sort_by_key(|word| word.chars().next_back());
    sorted
}

pub fn sort_by_absolute_value(numbers: &[i64]) -> Vec<i64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by_key(|number| number.abs());
    sorted
}

/// Return true if no number is smaller than the one before it; an empty list gives true.
pub fn is_ascending(numbers: &[i64]) -> bool {
    numbers.is_sorted()
}

pub fn smallest_few(numbers: &[i64], count: usize) -> Vec<i64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.truncate(count);
    sorted
}

pub fn largest_few(numbers: &[i64], count: usize) -> Vec<i64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().rev().take(count).collect()
}

pub fn sorted_without_duplicates(numbers: &[i64]) -> Vec<i64> {
    let different: std::collections::BTreeSet<i64> = numbers.iter().copied().collect();
    different.into_iter().collect()
}

pub fn second_smallest(numbers: &[i64]) -> i64 {
    let mut sorted = numbers.to_vec();
    let (_, second, _) = sorted.select_nth_unstable(1);
    *second
}

pub fn middle_by_size(numbers: &[i64]) -> i64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

pub fn sort_letters(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters.into_iter().collect()
}

pub fn sort_sentence_words(sentence: &str) -> String {
    let mut words: Vec<&str> = sentence.split_whitespace().collect();
    words.sort();
    words.join(" ")
}

pub fn sort_pairs_by_second(pairs: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut sorted = pairs.to_vec();
    sorted.sort_by_key(|&(_, second)| second);
    sorted
}

pub fn join_and_sort(left: &[i64], right: &[i64]) -> Vec<i64> {
    let mut joined = [left, right].concat();
    joined.sort_unstable();
    joined
}

/// Return true if the two words use exactly the same letters equally often, in any order.
pub fn have_same_letters(first: &str, second: &str) -> bool {
    let mut first: Vec<char> = first.chars().collect();
    let mut second: Vec<char> = second.chars().collect();
    first.sort_unstable();
    second.sort_unstable();
    first == second
}

/// Return the numbers sorted by their last digit; ties keep their order.
pub fn sort_by_last_digit(numbers: &[u32]) -> Vec<u32> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by_key(|number| number % 10);
    sorted
}

pub fn sort_by_distance_to(numbers: &[i64], target: i64) -> Vec<i64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by_key(|number| number.abs_diff(target));
    sorted
}

/// Return the maps sorted by the value that each of them has for key; ties keep their order.
pub fn sort_records_by(
    records: &[std::collections::BTreeMap<String, i64>],
    key: &str,
) -> Vec<std::collections::BTreeMap<String, i64>> {
    let mut sorted = records.to_vec();
    sorted.sort_by_key(|record| record[key]);
    sorted
}

/// Return the keys of the map sorted by their values, the smallest value first. No two values are
/// equal.
pub fn keys_sorted_by_value(scores: &std::collections::BTreeMap<String, i64>) -> Vec<String> {
    let mut entries: Vec<_> = scores.iter().collect();
    entries.sort_by_key(|&(_, value)| value);
    entries.into_iter().map(|(name, _)| name.clone()).collect()
}

/// Return the largest number that can be written with the digits of number.
pub fn largest_from_digits(number: u64) -> u64 {
    let mut digits = Vec::new();
    let mut rest = number;
    while rest > 0 {
        digits.push(rest % 10);
        rest /= 10;
    }
    digits.sort_unstable();
    digits
        .iter()
        .rev()
        .fold(0, |result, digit| result * 10 + digit)
}

/// Return the inner lists sorted by the sum of their numbers, the smallest sum first; ties keep
/// their order.
pub fn sort_lists_by_sum(lists: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut sorted = lists.to_vec();
    sorted.sort_by_key(|list| list.iter().sum::<i64>());
    sorted
}

/// Return the sorted numbers without one smallest and one largest; up to two numbers give an empty
/// list.
pub fn sorted_without_extremes(numbers: &[i64]) -> Vec<i64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    match sorted.as_slice() {
        [_, inner @ .., _] => inner.to_vec(),
        _ => Vec::new(),
    }
}

pub fn sort_number_strings(texts: &[String]) -> Vec<String> {
    let mut sorted = texts.to_vec();
    sorted.sort_by_key(|text| text.parse::<i64>().ok());
    sorted
}

pub fn sort_by_reversed_word(words: &[String]) -> Vec<String> {
    let mut sorted = words.to_vec();
    sorted.sort_by(|a, b| a.chars().rev().cmp(b.chars().rev()));
    sorted
}

pub fn sort_evens_first(numbers: &[i64]) -> Vec<i64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by_key(|&number| (number % 2 != 0, number));
    sorted
}

pub fn sort_by_length_then_alphabet(words: &[String]) -> Vec<String> {
    let mut sorted = words.to_vec();
    sorted.sort_by(|a, b| {
        let by_length = a.chars().count().cmp(&b.chars().count());
        by_length.then_with(|| a.cmp(b))
    });
    sorted
}

pub fn rank_of_score(scores: &[i64], score: i64) -> usize {
    1 + scores.iter().filter(|&&other| other > score).count()
}

pub fn ranks_from_highest(scores: &[i64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(scores.len());
    for score in scores {
        let higher = scores.iter().filter(|&other| other > score).count();
        ranks.push(higher + 1);
    }
    ranks
}

pub fn positions_in_sorted_order(numbers: &[i64]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..numbers.len()).collect();
    positions.sort_by_key(|&position| numbers[position]);
    positions
}

/// Return true if no word is shorter than the word before it; an empty list gives true.
pub fn is_sorted_by_length(words: &[&str]) -> bool {
    words.is_sorted_by_key(|word| word.chars().count())
}

pub fn insert_in_order(numbers: &[i64], number: i64) -> Vec<i64> {
    let mut result = numbers.to_vec();
    let place = result.partition_point(|&other| other <= number);
    result.insert(place, number);
    result
}

pub fn names_of_top_scorers(
    scores: &std::collections::BTreeMap<String, i64>,
    count: usize,
) -> Vec<String> {
    use std::cmp::Reverse;

    let mut entries: Vec<(&String, &i64)> = scores.iter().collect();
    entries.sort_by_key(|&(_, score)| Reverse(score));
    entries
        .into_iter()
        .take(count)
        .map(|(name, _)| name.clone())
        .collect()
}

/// Return the median of a list that is not empty. With an even number of items it is the mean of
/// the two middle numbers in sorted order.
pub fn median_of(numbers: &[i32]) -> f64 {
    let mut ordered = numbers.to_vec();
    ordered.sort_unstable();
    let middle = ordered.len() / 2;
    if ordered.len() % 2 == 1 {
        f64::from(ordered[middle])
    } else {
        f64::from(ordered[middle - 1] + ordered[middle]) / 2.0
    }
}

pub fn sort_by_vowel_count(words: &[String]) -> Vec<String> {
    let mut sorted = words.to_vec();
    sorted.sort_by_key(|word| word.chars().filter(|&c| "aeiou".contains(c)).count());
    sorted
}

pub fn move_zeros_to_end(numbers: &[i64]) -> Vec<i64> {
    let mut result: Vec<i64> = numbers.iter().copied().filter(|&n| n != 0).collect();
    result.resize(numbers.len(), 0);
    result
}

pub fn smallest_gap(numbers: &[i64]) -> i64 {
    let mut ordered = numbers.to_vec();
    ordered.sort_unstable();
    let mut gap = ordered[1] - ordered[0];
    for pair in ordered.windows(2) {
        gap = gap.min(pair[1] - pair[0]);
    }
    gap
}

pub fn count_drops(numbers: &[i64]) -> usize {
    numbers.windows(2).filter(|pair| pair[1] < pair[0]).count()
}

pub fn sort_by_given_order(items: &[String], order: &[String]) -> Vec<String> {
    let mut sorted = items.to_vec();
    sorted.sort_by_key(|item| order.iter().position(|other| other == item));
    sorted
}

pub fn second_largest_different(numbers: &[i64]) -> Option<i64> {
    let largest = numbers.iter().max()?;
    let others = numbers.iter().filter(|&number| number != largest);
    others.max().copied()
}

/// Return true if every number is greater than the one before it; an empty list gives true.
pub fn is_strictly_increasing(numbers: &[i64]) -> bool {
    numbers.windows(2).all(|pair| pair[0] < pair[1])
}

pub fn merge_sorted_lists(left: &[i64], right: &[i64]) -> Vec<i64> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left, right);
    while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
        if a <= b {
            merged.push(*a);
            left = left_rest;
        } else {
            merged.push(*b);
            right = right_rest;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    merged
}

pub fn sort_by_frequency(items: &[String]) -> Vec<String> {
    use std::cmp::Reverse;
    use std::collections::BTreeMap;

    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_insert(0) += 1;
    }
    let mut different: Vec<_> = counts.into_iter().collect();
    different.sort_by_key(|&(_, count)| Reverse(count));
    different
        .into_iter()
        .map(|(item, _)| item.clone())
        .collect()
}

pub fn one_bubble_pass(numbers: &[i64]) -> Vec<i64> {
    let mut result = numbers.to_vec();
    for i in 1..result.len() {
        if result[i - 1] > result[i] {
            result.swap(i - 1, i);
        }
    }
    result
}

pub fn largest_smallest_by_turns(numbers: &[i64]) -> Vec<i64> {
    use std::collections::VecDeque;

    let mut ordered = numbers.to_vec();
    ordered.sort_unstable();
    let mut ordered = VecDeque::from(ordered);
    let mut result = Vec::new();
    while let Some(largest) = ordered.pop_back() {
        result.push(largest);
        result.extend(ordered.pop_front());
    }
    result
}
