//! First questions: Rust for the tasks of python-functions.

/// Return true if n is even.
pub fn is_even(n: i64) -> bool {
    n % 2 == 0
}

/// Return true if n is odd.
pub fn is_odd(n: i64) -> bool {
    n % 2 != 0
}

/// Return true if n is greater than zero.
pub fn is_positive(n: i64) -> bool {
    n > 0
}

/// Return true if n is a multiple of three.
pub fn is_multiple_of_three(n: i64) -> bool {
    n % 3 == 0
}

/// Return true if both a and b are positive.
pub fn both_positive(a: i64, b: i64) -> bool {
    a > 0 && b > 0
}

/// Return true if n is from low to high.
pub fn is_between(n: i64, low: i64, high: i64) -> bool {
    (low..=high).contains(&n)
}

/// Return true if both a and b are even.
pub fn both_even(a: i64, b: i64) -> bool {
    a % 2 == 0 && b % 2 == 0
}

/// Return true if a or b is zero.
pub fn either_zero(a: i64, b: i64) -> bool {
    a == 0 || b == 0
}

/// Return true if a or b is negative.
pub fn either_negative(a: i64, b: i64) -> bool {
    a.is_negative() || b.is_negative()
}

/// Return true if n is positive and even.
pub fn is_positive_even(n: i64) -> bool {
    n > 0 && n % 2 == 0
}

/// Return true if x is a whole number.
pub fn is_whole_number(x: f64) -> bool {
    x.fract() == 0.0
}

/// Return true if n is larger than both a and b.
pub fn is_larger_than_both(n: i64, a: i64, b: i64) -> bool {
    n > a.max(b)
}

/// Return true if a and b differ by exactly one.
pub fn are_neighbors(a: i64, b: i64) -> bool {
    a.abs_diff(b) == 1
}

/// Return true if a and b have the same last digit.
pub fn same_last_digit(a: u64, b: u64) -> bool {
    a % 10 == b % 10
}

/// Return true if n is less than low or greater than high.
pub fn is_outside(n: i64, low: i64, high: i64) -> bool {
    !(low..=high).contains(&n)
}

/// Return true if a and b have the same absolute value.
pub fn have_same_absolute_value(a: i64, b: i64) -> bool {
    a.abs() == b.abs()
}

/// Return true if a times b is less than zero.
pub fn product_is_negative(a: i64, b: i64) -> bool {
    a * b < 0
}

/// Return true if a times b equals n.
pub fn is_product(a: i64, b: i64, n: i64) -> bool {
    a * b == n
}

/// Return true if a, b and c are increasing.
pub fn are_increasing(a: i64, b: i64, c: i64) -> bool {
    a < b && b < c
}

/// Return true if s has at least one capital letter.
pub fn has_capital_letter(s: &str) -> bool {
    s.chars().any(char::is_uppercase)
}

/// Return true if s starts or ends with letter.
pub fn starts_or_ends_with(s: &str, letter: char) -> bool {
    s.starts_with(letter) || s.ends_with(letter)
}

/// Return true if part is in a or in b.
pub fn is_in_either(part: &str, a: &str, b: &str) -> bool {
    a.contains(part) || b.contains(part)
}

/// Return true if the first two letters of s are equal.
pub fn first_two_letters_equal(s: &str) -> bool {
    let mut letters = s.chars();
    let first = letters.next();
    let second = letters.next();
    first == second
}

/// Return true if letter a comes before letter b in s.
pub fn letter_comes_before(s: &str, a: char, b: char) -> bool {
    s.find(a) < s.find(b)
}

/// Return true if s starts and ends with letter.
pub fn starts_and_ends_with(s: &str, letter: char) -> bool {
    s.starts_with(letter) && s.ends_with(letter)
}

/// Return true if the letter 'a' occurs more often in s than the letter 'b'.
pub fn has_more_a_than_b(s: &str) -> bool {
    let count_a = s.chars().filter(|&c| c == 'a').count();
    let count_b = s.chars().filter(|&c| c == 'b').count();
    count_a > count_b
}

/// Return true if all letters of a and of b are upper case.
pub fn both_upper_case(a: &str, b: &str) -> bool {
    a.chars().chain(b.chars()).all(char::is_uppercase)
}

/// Return true if s starts or ends with a space.
pub fn has_outer_spaces(s: &str) -> bool {
    s.starts_with(' ') || s.ends_with(' ')
}

/// Return true if s is word written twice.
pub fn is_word_twice(s: &str, word: &str) -> bool {
    s == word.repeat(2)
}

/// Return true if a is shorter than b.
pub fn is_shorter(a: &str, b: &str) -> bool {
    a.chars().count() < b.chars().count()
}

/// Return true if a and b have letter equally often.
pub fn same_letter_count(a: &str, b: &str, letter: char) -> bool {
    a.matches(letter).count() == b.matches(letter).count()
}

/// Return true if the digits of n are in s.
pub fn contains_number(s: &str, n: u64) -> bool {
    s.contains(&n.to_string())
}

/// Return true if s is longer than both a and b.
pub fn is_longer_than_both(s: &str, a: &str, b: &str) -> bool {
    let length = s.chars().count();
    length > a.chars().count() && length > b.chars().count()
}

/// Return true if letter appears exactly once in s.
pub fn letter_appears_once(s: &str, letter: char) -> bool {
    s.chars().filter(|&c| c == letter).count() == 1
}

/// Return true if s has exactly two words.
pub fn has_two_words(s: &str) -> bool {
    s.split_whitespace().count() == 2
}

/// Return true if a starts with b or b with a.
pub fn one_starts_with_other(a: &str, b: &str) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

/// Return true if all letters in s are different.
pub fn has_unique_letters(s: &str) -> bool {
    let mut seen = std::collections::HashSet::new();
    s.chars().all(|c| seen.insert(c))
}

/// Return true if all letters in s are the same.
pub fn all_letters_same(s: &str) -> bool {
    let mut letters = s.chars();
    match letters.next() {
        Some(first) => letters.all(|c| c == first),
        None => false,
    }
}

/// Return true if list a or list b is empty.
pub fn either_list_empty(a: &[i64], b: &[i64]) -> bool {
    a.is_empty() || b.is_empty()
}

/// Return true if any number is above limit.
pub fn any_above(numbers: &[i64], limit: i64) -> bool {
    numbers.iter().any(|&n| n > limit)
}

/// Return true if any number is odd.
pub fn any_odd(numbers: &[i64]) -> bool {
    numbers.iter().any(|n| n % 2 != 0)
}

/// Return true if all numbers are from low to high.
pub fn all_between(numbers: &[i64], low: i64, high: i64) -> bool {
    numbers.iter().all(|n| (low..=high).contains(n))
}

/// Return true if a and b have the same number of items.
pub fn same_list_length(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len()
}

/// Return true if the sum of numbers is negative.
pub fn sum_is_negative(numbers: &[i64]) -> bool {
    numbers.iter().sum::<i64>() < 0
}

/// Return true if the first number is greater than the last.
pub fn first_greater_than_last(numbers: &[i64]) -> bool {
    match numbers {
        [first, .., last] => first > last,
        _ => false,
    }
}

/// Return true if neither a nor b is in items.
pub fn contains_neither(items: &[i64], a: i64, b: i64) -> bool {
    !items.contains(&a) && !items.contains(&b)
}

/// Return true if any of the words is empty.
pub fn has_empty_string(words: &[&str]) -> bool {
    words.iter().any(|word| word.is_empty())
}

/// Return true if none of the flags is true.
pub fn none_true(flags: &[bool]) -> bool {
    !flags.contains(&true)
}

/// Return true if all words are in lower case.
pub fn all_lower_words(words: &[&str]) -> bool {
    words
        .iter()
        .all(|word| word.chars().all(char::is_lowercase))
}

/// Return true if the sum of numbers equals total.
pub fn sum_equals(numbers: &[i64], total: i64) -> bool {
    numbers.iter().sum::<i64>() == total
}

/// Return true if n is the largest of numbers.
pub fn is_maximum(numbers: &[i64], n: i64) -> bool {
    numbers.iter().max() == Some(&n)
}

/// Return true if item appears in items more than once.
pub fn appears_more_than_once(items: &[i64], item: i64) -> bool {
    items.iter().filter(|&&other| other == item).count() > 1
}

/// Return true if the maximum of a is above the maximum of b.
pub fn has_larger_maximum(a: &[i64], b: &[i64]) -> bool {
    a.iter().max() > b.iter().max()
}

/// Return true if the average of numbers is above limit.
pub fn is_average_above(numbers: &[i64], limit: i64) -> bool {
    let total: i64 = numbers.iter().sum();
    let average = total as f64 / numbers.len() as f64;
    average > limit as f64
}

/// Return true if the item at index equals item.
pub fn is_item_at(items: &[i64], index: usize, item: i64) -> bool {
    items.get(index) == Some(&item)
}

/// Return true if all words have more than n letters.
pub fn all_longer_than(words: &[&str], n: usize) -> bool {
    words.iter().all(|word| word.chars().count() > n)
}

/// Return true if any of the words starts with letter.
pub fn any_starts_with(words: &[&str], letter: char) -> bool {
    words.iter().any(|word| word.starts_with(letter))
}

/// Return true if each of the keys is a key of the map d.
pub fn has_all_keys(d: &std::collections::BTreeMap<String, i64>, keys: &[&str]) -> bool {
    keys.iter().all(|key| d.contains_key(*key))
}

/// Return true if both a and b are keys of the map d.
pub fn has_both_keys(d: &std::collections::BTreeMap<String, i64>, a: &str, b: &str) -> bool {
    d.contains_key(a) && d.contains_key(b)
}

/// Return true if key is not a key of the map d.
pub fn is_missing_key(d: &std::collections::BTreeMap<String, i64>, key: &str) -> bool {
    !d.contains_key(key)
}

/// Return true if a or b is a key of the map d.
pub fn has_either_key(d: &std::collections::BTreeMap<String, i64>, a: &str, b: &str) -> bool {
    d.contains_key(a) || d.contains_key(b)
}

/// Return true if the map d has the given value for key.
pub fn key_has_value(d: &std::collections::BTreeMap<String, i64>, key: &str, value: i64) -> bool {
    d.get(key) == Some(&value)
}

/// Return true if all values of the map d are below limit.
pub fn all_values_below(d: &std::collections::BTreeMap<String, i64>, limit: i64) -> bool {
    d.values().all(|&value| value < limit)
}

/// Return true if the maps a and b have the same number of keys.
pub fn same_dict_size(
    a: &std::collections::BTreeMap<String, i64>,
    b: &std::collections::BTreeMap<String, i64>,
) -> bool {
    a.len() == b.len()
}

/// Return true if any value of the map d is negative.
pub fn any_value_negative(d: &std::collections::BTreeMap<String, i64>) -> bool {
    d.values().any(|value| value.is_negative())
}

/// Return true if all values of the map d are positive.
pub fn all_values_positive(d: &std::collections::BTreeMap<String, i64>) -> bool {
    d.values().all(|&value| value > 0)
}

/// Return true if the map d has more than n keys.
pub fn has_more_keys_than(d: &std::collections::BTreeMap<String, i64>, n: usize) -> bool {
    d.len() > n
}

/// Return true if the sum of the values of the map d is above limit.
pub fn total_value_exceeds(d: &std::collections::BTreeMap<String, i64>, limit: i64) -> bool {
    d.values().sum::<i64>() > limit
}

/// Return true if the map d has an even value for key.
pub fn is_value_even(d: &std::collections::BTreeMap<String, i64>, key: &str) -> bool {
    d.get(key).is_some_and(|value| value % 2 == 0)
}

/// Return true if the score of a is higher than the score of b.
pub fn has_higher_score(
    scores: &std::collections::BTreeMap<String, i64>,
    a: &str,
    b: &str,
) -> bool {
    scores[a] > scores[b]
}

/// Return true if a and b have the same score.
pub fn have_equal_scores(
    scores: &std::collections::BTreeMap<String, i64>,
    a: &str,
    b: &str,
) -> bool {
    scores[a] == scores[b]
}

/// Return true if the stock of item is above zero. An item that is no key of the map has no stock.
pub fn is_in_stock(stock: &std::collections::BTreeMap<String, i64>, item: &str) -> bool {
    match stock.get(item) {
        Some(&count) => count > 0,
        None => false,
    }
}

/// Return true if money is enough for the price of item.
pub fn can_afford(
    prices: &std::collections::BTreeMap<String, i64>,
    item: &str,
    money: i64,
) -> bool {
    if let Some(&price) = prices.get(item) {
        money >= price
    } else {
        false
    }
}

/// Return true if no score in the map is higher than the score of name.
pub fn has_best_score(scores: &std::collections::BTreeMap<String, i64>, name: &str) -> bool {
    scores.values().max() == scores.get(name)
}

/// Return true if all values of the map d are different.
pub fn has_unique_values(d: &std::collections::BTreeMap<String, i64>) -> bool {
    use std::collections::BTreeSet;

    let distinct: BTreeSet<&i64> = d.values().collect();
    distinct.len() == d.len()
}
