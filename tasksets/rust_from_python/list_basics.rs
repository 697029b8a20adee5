//! List basics: Rust for the tasks of python-functions.

/// Return the first item of items, or None if there are no items.
pub fn first_in_list(items: &[i64]) -> Option<i64> {
    items.first().copied()
}

/// Return the last item of items, or None if there are no items.
pub fn last_in_list(items: &[i64]) -> Option<i64> {
    match items {
        [.., last] => Some(*last),
        [] => None,
    }
}

/// Return the second item of items. There are at least two items.
pub fn second_in_list(items: &[String]) -> &str {
    &items[1]
}

/// Return the item just before the last one in items. There are at least two items.
pub fn one_before_last(items: &[i64]) -> i64 {
    items[items.len() - 2]
}

/// Return the item of items at index, or None if there is no such index.
pub fn item_at_index(items: &[&str], index: usize) -> Option<String> {
    items.get(index).map(|item| item.to_string())
}

pub fn number_of_items(items: &[&str]) -> usize {
    items.len()
}

pub fn add_up_prices(prices: &[i64]) -> i64 {
    prices.iter().sum()
}

/// Return the largest number in scores, or None if there are no scores.
pub fn highest_score(scores: &[i64]) -> Option<i64> {
    scores.iter().copied().max()
}

/// Return the smallest number in prices. There is at least one.
pub fn lowest_price(prices: &[i64]) -> i64 {
    let mut lowest = prices[0];
    for &price in &prices[1..] {
        if price < lowest {
            lowest = price;
        }
    }
    lowest
}

pub fn sort_ages(ages: &[u32]) -> Vec<u32> {
    let mut sorted = ages.to_vec();
    sorted.sort_unstable();
    sorted
}

pub fn names_in_order(names: &[String]) -> Vec<String> {
    let mut names = names.to_vec();
    names.sort();
    names
}

/// Return items without the first item. There is at least one item.
pub fn all_but_first(items: &[i64]) -> Vec<i64> {
    items[1..].to_vec()
}

/// Return items without the last item, or an empty slice if there are no items.
pub fn all_but_last(items: &[i64]) -> &[i64] {
    match items.split_last() {
        Some((_, others)) => others,
        None => &[],
    }
}

/// Return a list of the first two items of items, or of all items if there are fewer.
pub fn first_two_items(items: &[&str]) -> Vec<String> {
    items.iter().take(2).map(|item| item.to_string()).collect()
}

/// Return the last three items of items, or all items if there are fewer.
pub fn last_three_items(items: &[i64]) -> &[i64] {
    &items[items.len().saturating_sub(3)..]
}

pub fn items_from_index(items: &[i64], start: usize) -> Vec<i64> {
    items.iter().skip(start).copied().collect()
}

pub fn items_before_index(items: &[i64], end: usize) -> Vec<i64> {
    items[..end].to_vec()
}

pub fn every_third_item(items: &[i64]) -> Vec<i64> {
    items.iter().copied().step_by(3).collect()
}

pub fn items_at_odd_indexes(items: &[String]) -> Vec<&str> {
    items
        .iter()
        .skip(1)
        .step_by(2)
        .map(|item| item.as_str())
        .collect()
}

pub fn with_item_at_end(items: &[i64], item: i64) -> Vec<i64> {
    let mut result = items.to_vec();
    result.push(item);
    result
}

pub fn join_two_lists(left: &[String], right: &[String]) -> Vec<String> {
    [left, right].concat()
}

/// Return an array that contains a and b.
pub fn pair_as_list(a: i64, b: i64) -> [i64; 2] {
    [a, b]
}

pub fn double_each_number(numbers: &[i64]) -> Vec<i64> {
    numbers.iter().map(|x| x * 2).collect()
}

pub fn one_less_each(numbers: &[i64]) -> Vec<i64> {
    let mut result = Vec::new();
    for x in numbers {
        result.push(x - 1);
    }
    result
}

pub fn square_each_number(numbers: &[i64]) -> Vec<i64> {
    numbers.iter().map(|x| x.pow(2)).collect()
}

pub fn flip_each_sign(numbers: &[i32]) -> Vec<i32> {
    numbers.iter().map(|x| -x).collect()
}

pub fn only_positive_numbers(numbers: &[i64]) -> Vec<i64> {
    numbers.iter().copied().filter(|&x| x > 0).collect()
}

pub fn only_small_numbers(numbers: &[i64]) -> Vec<i64> {
    let mut small = Vec::new();
    for &x in numbers {
        if x < 10 {
            small.push(x);
        }
    }
    small
}

pub fn shout_each_word(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| w.to_uppercase()).collect()
}

/// Return a list with the first character of each of words. No word is empty.
pub fn first_letters_of_words(words: &[&str]) -> Vec<char> {
    words.iter().filter_map(|w| w.chars().next()).collect()
}

pub fn plural_of_each_word(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| format!("{w}s")).collect()
}

/// Return a list with each of texts as a number. All texts are whole numbers.
pub fn texts_to_numbers(texts: &[&str]) -> Vec<i64> {
    texts.iter().flat_map(|t| t.parse()).collect()
}

pub fn count_zeros(numbers: &[i64]) -> usize {
    numbers.iter().filter(|&&x| x == 0).count()
}

pub fn numbers_from_zero(count: u32) -> Vec<u32> {
    (0..count).collect()
}

pub fn numbers_from_one(last: u32) -> Vec<u32> {
    (1..=last).collect()
}

/// Return the first plus the last of numbers. There is at least one number.
pub fn sum_of_first_and_last(numbers: &[i64]) -> i64 {
    numbers[0] + numbers[numbers.len() - 1]
}

/// Return the first of numbers times the second one, or None if there are fewer than two.
pub fn product_of_first_two(numbers: &[i64]) -> Option<i64> {
    if let [first, second, ..] = numbers {
        Some(first * second)
    } else {
        None
    }
}

pub fn list_of_zeros(count: usize) -> Vec<i64> {
    vec![0; count]
}

pub fn length_of_both_lists(left: &[i64], right: &[i64]) -> usize {
    left.len() + right.len()
}

/// Return the word of words that is first alphabetically, or None if there are no words.
pub fn first_in_alphabet(words: &[String]) -> Option<&str> {
    words.iter().map(|word| word.as_str()).min()
}

pub fn even_numbers_below(limit: u32) -> Vec<u32> {
    (0..limit).step_by(2).collect()
}

/// Return a list with true for each positive of numbers, else false.
pub fn which_are_positive(numbers: &[i64]) -> Vec<bool> {
    numbers.iter().map(|&x| x > 0).collect()
}

/// Return the largest number in left and right together, or None if both are empty.
pub fn largest_of_both_lists(left: &[i64], right: &[i64]) -> Option<i64> {
    left.iter().chain(right.iter()).max().copied()
}

pub fn sum_without_first(numbers: &[i64]) -> i64 {
    numbers.iter().skip(1).sum()
}

pub fn copies_of_word(word: &str, count: usize) -> Vec<String> {
    vec![word.to_string(); count]
}
