//! List queries: Rust for the tasks of python-functions.

/// Return true if 0 is one of the numbers, otherwise false.
pub fn contains_zero(numbers: &[i64]) -> bool {
    numbers.contains(&0)
}

/// Return true if every number is greater than 0; an empty list gives true.
pub fn all_positive(numbers: &[i64]) -> bool {
    numbers.iter().all(|&number| number > 0)
}

/// Return true if at least one word has more than length characters.
pub fn any_word_longer_than(words: &[&str], length: usize) -> bool {
    words.iter().any(|word| word.chars().count() > length)
}

pub fn count_evens(numbers: &[i64]) -> usize {
    numbers.iter().filter(|&number| number % 2 == 0).count()
}

pub fn count_votes_for(votes: &[&str], name: &str) -> usize {
    votes.iter().filter(|&&vote| vote == name).count()
}

pub fn sum_of_negatives(numbers: &[i64]) -> i64 {
    let mut sum = 0;
    for &number in numbers {
        if number < 0 {
            sum += number;
        }
    }
    sum
}

pub fn position_or_minus_one(items: &[String], item: &str) -> i64 {
    match items.iter().position(|other| other == item) {
        Some(position) => position as i64,
        None => -1,
    }
}

pub fn last_or_none(items: &[i64]) -> Option<i64> {
    items.last().copied()
}

pub fn first_or_default(items: &[i64], default: i64) -> i64 {
    items.first().copied().unwrap_or(default)
}

/// Return true if left has more items than right.
pub fn has_more_items(left: &[i64], right: &[i64]) -> bool {
    left.len() > right.len()
}

/// Return true if the first and the last item of a list that is not empty are equal.
pub fn ends_are_equal(items: &[i64]) -> bool {
    items.first() == items.last()
}

pub fn middle_item(items: &[i64]) -> i64 {
    items[items.len() / 2]
}

pub fn sum_of_squares(numbers: &[i64]) -> i64 {
    numbers.iter().map(|number| number * number).sum()
}

pub fn spread_of(numbers: &[i64]) -> i64 {
    match (numbers.iter().max(), numbers.iter().min()) {
        (Some(largest), Some(smallest)) => largest - smallest,
        _ => 0,
    }
}

/// Return the mean of the numbers, or 0.0 if the list is empty.
pub fn mean_or_zero(numbers: &[i64]) -> f64 {
    if numbers.is_empty() {
        return 0.0;
    }
    let sum: i64 = numbers.iter().sum();
    sum as f64 / numbers.len() as f64
}

pub fn count_above(numbers: &[i64], limit: i64) -> usize {
    numbers.iter().filter(|&&number| number > limit).count()
}

pub fn positions_of(items: &[i64], value: i64) -> Vec<usize> {
    items
        .iter()
        .enumerate()
        .filter(|&(_, &item)| item == value)
        .map(|(position, _)| position)
        .collect()
}

/// Return true if some item appears more than once in the list.
pub fn has_duplicates(items: &[i64]) -> bool {
    use std::collections::HashSet;

    let mut seen = HashSet::new();
    !items.iter().all(|item| seen.insert(item))
}

pub fn longest_word_or_empty(words: &[String]) -> &str {
    let mut longest = "";
    for word in words {
        if word.chars().count() > longest.chars().count() {
            longest = word;
        }
    }
    longest
}

/// Return true if every word starts with prefix; an empty list gives true.
pub fn all_start_with(words: &[&str], prefix: &str) -> bool {
    words.iter().all(|word| word.starts_with(prefix))
}

/// Return the number of characters that all words have together.
pub fn total_letters(words: &[&str]) -> usize {
    words.iter().flat_map(|word| word.chars()).count()
}

pub fn count_different(items: &[i64]) -> usize {
    let mut sorted = items.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

/// Return true if the list is equal to its own reverse.
pub fn reads_same_backwards(items: &[i64]) -> bool {
    items.iter().eq(items.iter().rev())
}

pub fn sum_at_even_positions(numbers: &[i64]) -> i64 {
    numbers.iter().step_by(2).sum()
}

/// Return true if at least one item is in both lists.
pub fn share_an_item(left: &[i64], right: &[i64]) -> bool {
    left.iter().any(|item| right.contains(item))
}

pub fn largest_even(numbers: &[i64]) -> Option<i64> {
    numbers
        .iter()
        .copied()
        .filter(|number| number % 2 == 0)
        .max()
}

pub fn last_position_of(items: &[i64], value: i64) -> i64 {
    items
        .iter()
        .rposition(|&item| item == value)
        .map_or(-1, |position| position as i64)
}

pub fn position_of_largest(numbers: &[i64]) -> i64 {
    let mut position = -1;
    let mut largest = None;
    for (i, number) in numbers.iter().enumerate() {
        if Some(number) > largest {
            largest = Some(number);
            position = i as i64;
        }
    }
    position
}

pub fn first_above(numbers: &[i64], limit: i64) -> Option<i64> {
    numbers.iter().copied().find(|&number| number > limit)
}

pub fn most_frequent_item(items: &[String]) -> &str {
    let mut best = items[0].as_str();
    let mut most = 0;
    for item in items {
        let count = items.iter().filter(|&other| other == item).count();
        if count > most {
            best = item;
            most = count;
        }
    }
    best
}

pub fn product_without_zeros(numbers: &[i64]) -> i64 {
    numbers.iter().filter(|&&number| number != 0).product()
}

pub fn smallest_and_largest(numbers: &[i64]) -> Vec<i64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    match sorted.as_slice() {
        [] => Vec::new(),
        [only] => vec![*only, *only],
        [smallest, .., largest] => vec![*smallest, *largest],
    }
}

pub fn biggest_jump(numbers: &[i64]) -> i64 {
    numbers
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).abs())
        .max()
        .unwrap_or(0)
}

/// Return true if two items that stand next to each other are equal.
pub fn has_equal_neighbours(items: &[i64]) -> bool {
    items.windows(2).any(|pair| pair[0] == pair[1])
}

pub fn first_repeated_item(items: &[i64]) -> Option<i64> {
    let mut seen = std::collections::HashSet::new();
    items.iter().copied().find(|&item| !seen.insert(item))
}

pub fn count_equal_positions(left: &[i64], right: &[i64]) -> usize {
    left.iter().zip(right).filter(|(a, b)| a == b).count()
}

pub fn items_appearing_once(items: &[i64]) -> Vec<i64> {
    use std::collections::HashMap;

    let mut counts = HashMap::new();
    for item in items {
        *counts.entry(item).or_insert(0) += 1;
    }
    let once = items.iter().filter(|item| counts[item] == 1);
    once.copied().collect()
}

pub fn smallest_missing_number(numbers: &[u32]) -> u32 {
    let mut candidate = 0;
    while numbers.contains(&candidate) {
        candidate += 1;
    }
    candidate
}

pub fn count_below_mean(numbers: &[i32]) -> usize {
    let sum: i32 = numbers.iter().sum();
    let mean = f64::from(sum) / numbers.len() as f64;
    numbers
        .iter()
        .filter(|&&number| f64::from(number) < mean)
        .count()
}

pub fn closest_number(numbers: &[i64], target: i64) -> i64 {
    let mut closest = numbers[0];
    for &number in numbers {
        if number.abs_diff(target) < closest.abs_diff(target) {
            closest = number;
        }
    }
    closest
}

/// Return true if more than half of the flags are true; an empty list gives false.
pub fn is_majority_true(flags: &[bool]) -> bool {
    let yes = flags.iter().filter(|&&flag| flag).count();
    yes * 2 > flags.len()
}

pub fn longest_equal_run(items: &[i64]) -> usize {
    items
        .chunk_by(|a, b| a == b)
        .map(|run| run.len())
        .max()
        .unwrap_or(0)
}

pub fn count_peaks(numbers: &[i64]) -> usize {
    let mut count = 0;
    for triple in numbers.windows(3) {
        if triple[0] < triple[1] && triple[1] > triple[2] {
            count += 1;
        }
    }
    count
}

/// Return true if two numbers at different positions add up to total.
pub fn has_pair_with_sum(numbers: &[i64], total: i64) -> bool {
    let mut rest = numbers;
    while let [number, others @ ..] = rest {
        if others.contains(&(total - number)) {
            return true;
        }
        rest = others;
    }
    false
}

pub fn position_where_total_reaches(numbers: &[i64], goal: i64) -> i64 {
    let mut total = 0;
    for (position, number) in numbers.iter().enumerate() {
        total += number;
        if total >= goal {
            return position as i64;
        }
    }
    -1
}
