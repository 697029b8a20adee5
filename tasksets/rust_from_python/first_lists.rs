//! First lists: Rust for the tasks of python-functions.

/// Return the average of numbers. There is at least one.
pub fn average_of_list(numbers: &[i32]) -> f64 {
    let sum: i32 = numbers.iter().sum();
    f64::from(sum) / numbers.len() as f64
}

pub fn sum_of_two_lists(a: &[i64], b: &[i64]) -> i64 {
    a.iter().chain(b).sum()
}

pub fn difference_of_sums(a: &[i64], b: &[i64]) -> i64 {
    a.iter().sum::<i64>() - b.iter().sum::<i64>()
}

pub fn sum_of_positives(numbers: &[i64]) -> i64 {
    numbers.iter().filter(|&&n| n > 0).sum()
}

pub fn sum_of_first_n(numbers: &[i64], n: usize) -> i64 {
    numbers.iter().take(n).sum()
}

/// Return the sum of the last n numbers. There are at least n numbers.
pub fn sum_of_last_n(numbers: &[i64], n: usize) -> i64 {
    numbers[numbers.len() - n..].iter().sum()
}

pub fn sum_without_last(numbers: &[i64]) -> i64 {
    match numbers.split_last() {
        Some((_, others)) => others.iter().sum(),
        None => 0,
    }
}

pub fn double_the_sum(numbers: &[i64]) -> i64 {
    2 * numbers.iter().sum::<i64>()
}

/// Return the maximum plus the minimum of numbers, or None if there are no numbers.
pub fn max_plus_min(numbers: &[i64]) -> Option<i64> {
    let max = numbers.iter().max()?;
    let min = numbers.iter().min()?;
    Some(max + min)
}

/// Return the maximum times the minimum of numbers. There is at least one number.
pub fn max_times_min(numbers: &[i64]) -> i64 {
    let mut max = numbers[0];
    let mut min = numbers[0];
    for &n in numbers {
        max = max.max(n);
        min = min.min(n);
    }
    max * min
}

/// Return the smallest number in a and b, or None if both are empty.
pub fn min_of_two_lists(a: &[i64], b: &[i64]) -> Option<i64> {
    a.iter().chain(b).copied().min()
}

/// Return the maximum of a plus the maximum of b, or None if one of the lists is empty.
pub fn sum_of_max_values(a: &[i64], b: &[i64]) -> Option<i64> {
    match (a.iter().max(), b.iter().max()) {
        (Some(x), Some(y)) => Some(x + y),
        _ => None,
    }
}

/// Return the second largest number. There are at least two numbers.
pub fn second_largest(numbers: &[i64]) -> i64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() - 2]
}

/// Return the index of the first item that equals item, or None if there is no such item.
pub fn index_of_item(items: &[&str], item: &str) -> Option<usize> {
    items.iter().position(|&other| other == item)
}

/// Return the index of the maximum of numbers, the first one if it repeats.
/// There is at least one number.
pub fn index_of_max(numbers: &[i64]) -> usize {
    let mut best = 0;
    for (i, &n) in numbers.iter().enumerate() {
        if n > numbers[best] {
            best = i;
        }
    }
    best
}

/// Return the index of the minimum of numbers, the first one if it repeats, or None if there are
/// no numbers.
pub fn index_of_min(numbers: &[i64]) -> Option<usize> {
    (0..numbers.len()).min_by_key(|&i| numbers[i])
}

/// Return how many times the maximum occurs in numbers. There is at least one number.
pub fn count_max(numbers: &[i64]) -> usize {
    let max = numbers.iter().max();
    numbers.iter().filter(|&n| Some(n) == max).count()
}

pub fn count_in_two_lists(a: &[i64], b: &[i64], value: i64) -> usize {
    a.iter().chain(b).filter(|&&n| n == value).count()
}

pub fn count_positives(numbers: &[i32]) -> usize {
    numbers.iter().filter(|n| n.is_positive()).count()
}

pub fn count_below(numbers: &[i64], limit: i64) -> usize {
    let mut count = 0;
    for &n in numbers {
        if n < limit {
            count += 1;
        }
    }
    count
}

/// Return the length of the longest word, or None if there are no words.
pub fn max_word_length(words: &[&str]) -> Option<usize> {
    words.iter().map(|word| word.chars().count()).max()
}

/// Return the length of the shortest word, or None if there are no words.
pub fn min_word_length(words: &[&str]) -> Option<usize> {
    let lengths = words.iter().map(|word| word.chars().count());
    lengths.min()
}

/// Return the dot product of a and b, which have the same length.
pub fn dot_product(a: &[i64], b: &[i64]) -> i64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Return an array of the first and the last item. There is at least one item.
pub fn first_and_last(items: &[i64]) -> [i64; 2] {
    [items[0], items[items.len() - 1]]
}

pub fn slice_list(items: &[i64], start: usize, end: usize) -> Vec<i64> {
    items[start..end].to_vec()
}

/// Return the last n items of items. There are at least n items.
pub fn last_n_items(items: &[i64], n: usize) -> &[i64] {
    &items[items.len() - n..]
}

/// Return every n-th item, starting with the first. n is at least 1.
pub fn every_nth_item(items: &[i64], n: usize) -> Vec<i64> {
    items.iter().step_by(n).copied().collect()
}

pub fn add_at_both_ends(items: &[i64], item: i64) -> Vec<i64> {
    let mut result = vec![item];
    result.extend_from_slice(items);
    result.push(item);
    result
}

pub fn join_three_lists(a: &[i64], b: &[i64], c: &[i64]) -> Vec<i64> {
    [a, b, c].concat()
}

pub fn list_and_reverse(items: &[i64]) -> Vec<i64> {
    items.iter().chain(items.iter().rev()).copied().collect()
}

/// Return items with the first item replaced by value. There is at least one item.
pub fn replace_first_item(items: &[i64], value: i64) -> Vec<i64> {
    let mut result = items.to_vec();
    result[0] = value;
    result
}

pub fn replace_last_item(items: &[i64], value: i64) -> Vec<i64> {
    let mut result = items.to_vec();
    if let Some(last) = result.last_mut() {
        *last = value;
    }
    result
}

pub fn move_last_to_front(items: &[i64]) -> Vec<i64> {
    match items {
        [others @ .., last] => {
            let mut result = vec![*last];
            result.extend(others);
            result
        }
        [] => Vec::new(),
    }
}

pub fn power_of_each(numbers: &[i64], power: u32) -> Vec<i64> {
    numbers.iter().map(|n| n.pow(power)).collect()
}

pub fn half_of_each(numbers: &[i32]) -> Vec<f64> {
    numbers.iter().map(|&n| f64::from(n) / 2.0).collect()
}

/// Return the sums of the pairs of a and b, which have the same length.
pub fn add_lists(a: &[i64], b: &[i64]) -> Vec<i64> {
    a.iter().zip(b).map(|(x, y)| x + y).collect()
}

/// Return the differences of the pairs of a and b, which have the same length.
pub fn subtract_lists(a: &[i64], b: &[i64]) -> Vec<i64> {
    let mut result = Vec::with_capacity(a.len());
    for (x, y) in a.iter().zip(b) {
        result.push(x - y);
    }
    result
}

/// Return the larger number of each pair of a and b, which have the same length.
pub fn max_of_pairs(a: &[i64], b: &[i64]) -> Vec<i64> {
    a.iter().zip(b).map(|(&x, &y)| x.max(y)).collect()
}

pub fn remove_zeros(numbers: &[i64]) -> Vec<i64> {
    numbers.iter().copied().filter(|&n| n != 0).collect()
}

pub fn keep_odd_numbers(numbers: &[i64]) -> Vec<i64> {
    let mut odd = numbers.to_vec();
    odd.retain(|n| n % 2 != 0);
    odd
}

pub fn numbers_above(numbers: &[i64], limit: i64) -> Vec<i64> {
    numbers.iter().filter(|&&n| n > limit).copied().collect()
}

pub fn numbers_below(numbers: &[i64], limit: i64) -> Vec<i64> {
    let mut below = Vec::new();
    for &n in numbers {
        if n < limit {
            below.push(n);
        }
    }
    below
}

/// Return a list with true for each even number, else false.
pub fn are_numbers_even(numbers: &[i64]) -> Vec<bool> {
    numbers.iter().map(|n| n % 2 == 0).collect()
}

pub fn unique_sorted_descending(numbers: &[i64]) -> Vec<i64> {
    let mut unique = numbers.to_vec();
    unique.sort_unstable_by(|a, b| b.cmp(a));
    unique.dedup();
    unique
}

pub fn list_range(start: i64, end: i64) -> Vec<i64> {
    (start..=end).collect()
}

/// Return an array of a, b and c.
pub fn three_as_list(a: i64, b: i64, c: i64) -> [i64; 3] {
    [a, b, c]
}

pub fn lower_all(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_lowercase()).collect()
}

/// Return a list with each word in lower case, except for its first letter in upper case.
pub fn capitalize_all(words: &[&str]) -> Vec<String> {
    let mut result = Vec::new();
    for word in words {
        let mut letters = word.chars();
        if let Some(first) = letters.next() {
            let rest = letters.as_str().to_lowercase();
            result.push(format!("{}{rest}", first.to_uppercase()));
        } else {
            result.push(String::new());
        }
    }
    result
}

/// Return a list with the last letter of each word. No word is empty.
pub fn last_letters_of_words(words: &[&str]) -> Vec<char> {
    words
        .iter()
        .filter_map(|word| word.chars().next_back())
        .collect()
}

pub fn remove_empty_strings(words: &[String]) -> Vec<String> {
    words
        .iter()
        .filter(|word| !word.is_empty())
        .cloned()
        .collect()
}

/// Return true if item is in a and in b.
pub fn is_in_both_lists(a: &[i64], b: &[i64], item: i64) -> bool {
    a.contains(&item) && b.contains(&item)
}

pub fn union_of_lists(a: &[i64], b: &[i64]) -> Vec<i64> {
    let mut union = [a, b].concat();
    union.sort_unstable();
    union.dedup();
    union
}

pub fn intersection_of_lists(a: &[i64], b: &[i64]) -> Vec<i64> {
    use std::collections::BTreeSet;

    let a: BTreeSet<i64> = a.iter().copied().collect();
    let b: BTreeSet<i64> = b.iter().copied().collect();
    a.intersection(&b).copied().collect()
}

/// Return the sorted items of a that are not in b, each once.
pub fn difference_of_lists(a: &[i64], b: &[i64]) -> Vec<i64> {
    let mut rest: Vec<i64> = a.iter().copied().filter(|n| !b.contains(n)).collect();
    rest.sort_unstable();
    rest.dedup();
    rest
}

/// Return the value of key in data, or None if data has no such key.
pub fn get_value(data: &std::collections::BTreeMap<String, i64>, key: &str) -> Option<i64> {
    data.get(key).copied()
}

/// Return a map with key and its value.
pub fn make_dict(key: &str, value: i64) -> std::collections::BTreeMap<String, i64> {
    std::collections::BTreeMap::from([(key.to_string(), value)])
}

/// Return the smallest value of data, or None if data is empty.
pub fn smallest_dict_value(data: &std::collections::BTreeMap<String, i64>) -> Option<i64> {
    data.values().copied().min()
}

/// Return the key of the smallest value in data, or None if data is empty.
/// No two values are equal.
pub fn key_of_smallest_value(data: &std::collections::BTreeMap<String, i64>) -> Option<&str> {
    data.iter()
        .min_by_key(|(_, value)| **value)
        .map(|(key, _)| key.as_str())
}

pub fn sorted_dict_values(data: &std::collections::BTreeMap<String, i64>) -> Vec<i64> {
    let mut values: Vec<i64> = data.values().copied().collect();
    values.sort_unstable();
    values
}

/// Return the values of keys a and b in data, added. Both keys are there.
pub fn add_two_values(data: &std::collections::BTreeMap<String, i64>, a: &str, b: &str) -> i64 {
    data[a] + data[b]
}

pub fn count_dict_value(data: &std::collections::BTreeMap<String, i64>, value: i64) -> usize {
    data.values().filter(|&&other| other == value).count()
}

pub fn subtract_from_each(numbers: &[i64], n: i64) -> Vec<i64> {
    numbers.iter().map(|number| number - n).collect()
}

/// Return a list with each number divided by n, rounded down. No number is negative and n is at
/// least 1.
pub fn divide_each(numbers: &[u32], n: u32) -> Vec<u32> {
    numbers.iter().map(|number| number / n).collect()
}

/// Return a list with the positive numbers, each of them doubled.
pub fn double_the_positives(numbers: &[i64]) -> Vec<i64> {
    numbers
        .iter()
        .filter_map(|&n| if n > 0 { Some(n * 2) } else { None })
        .collect()
}

pub fn length_of_longer_list(a: &[i64], b: &[i64]) -> usize {
    a.len().max(b.len())
}

pub fn length_of_shorter_list(a: &[i64], b: &[i64]) -> usize {
    std::cmp::min(a.len(), b.len())
}

/// Return the keys with a value greater than limit, in alphabetical order.
pub fn keys_above(data: &std::collections::BTreeMap<String, i64>, limit: i64) -> Vec<&str> {
    let mut keys = Vec::new();
    for (key, &value) in data {
        if value > limit {
            keys.push(key.as_str());
        }
    }
    keys
}

pub fn add_to_dict_values(
    data: &std::collections::BTreeMap<String, i64>,
    n: i64,
) -> std::collections::BTreeMap<String, i64> {
    data.iter()
        .map(|(key, value)| (key.clone(), value + n))
        .collect()
}

/// Return a map with value for each of keys.
pub fn dict_with_same_value(keys: &[&str], value: i64) -> std::collections::BTreeMap<String, i64> {
    keys.iter().map(|key| (key.to_string(), value)).collect()
}

pub fn sum_of_absolute_numbers(numbers: &[i64]) -> i64 {
    numbers.iter().map(|n| n.abs()).sum()
}

/// Return the smaller number of each pair of a and b, which have the same length.
pub fn min_of_pairs(a: &[i64], b: &[i64]) -> Vec<i64> {
    let mut smaller = Vec::new();
    for (&x, &y) in a.iter().zip(b) {
        smaller.push(if x < y { x } else { y });
    }
    smaller
}

/// Return a list with each number rounded to the nearest whole number. No number lies exactly
/// halfway between two whole numbers.
pub fn round_all(numbers: &[f64]) -> Vec<i64> {
    numbers.iter().map(|n| n.round() as i64).collect()
}

/// Return the first number minus the last number. There is at least one number.
pub fn first_minus_last(numbers: &[i64]) -> i64 {
    numbers[0] - numbers[numbers.len() - 1]
}

/// Return the first number times the last number, or None if there are no numbers.
pub fn first_times_last(numbers: &[i64]) -> Option<i64> {
    Some(numbers.first()? * numbers.last()?)
}
