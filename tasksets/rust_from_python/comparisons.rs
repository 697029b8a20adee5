//! Comparisons: Rust for the tasks of python-functions.

/// Return true if mine is greater than yours.
pub fn is_taller(mine: u32, yours: u32) -> bool {
    mine > yours
}

/// Return true if mine is less than other.
pub fn arrives_sooner(mine: i64, other: i64) -> bool {
    mine < other
}

/// Return true if a and b are equal.
pub fn is_same_number(a: i64, b: i64) -> bool {
    a == b
}

/// Return true if first and second are not equal.
pub fn are_different_words(first: &str, second: &str) -> bool {
    first != second
}

/// Return true if age is at least 18.
pub fn is_adult(age: u32) -> bool {
    age >= 18
}

/// Return true if degrees is zero or less.
pub fn is_freezing(degrees: i32) -> bool {
    degrees <= 0
}

/// Return true if a plus b is zero.
pub fn has_zero_sum(a: i64, b: i64) -> bool {
    a + b == 0
}

/// Return true if number is odd.
pub fn is_odd_number(number: i64) -> bool {
    number % 2 != 0
}

/// Return true if change is greater than zero.
pub fn is_gain(change: i64) -> bool {
    change.is_positive()
}

/// Return true if number divided by 10 leaves no remainder.
pub fn ends_in_zero(number: i64) -> bool {
    number % 10 == 0
}

/// Return true if big equals 3 times small.
pub fn is_three_times(big: i64, small: i64) -> bool {
    big == 3 * small
}

/// Return true if number is from 100 to 999.
pub fn has_three_digits(number: i64) -> bool {
    (100..=999).contains(&number)
}

/// Return true if a plus b equals 10.
pub fn sum_is_ten(a: i64, b: i64) -> bool {
    a + b == 10
}

/// Return true if two times small equals big.
pub fn is_half_of(small: i64, big: i64) -> bool {
    small * 2 == big
}

/// Return true if a plus b is greater than limit.
pub fn sum_exceeds_limit(a: i64, b: i64, limit: i64) -> bool {
    a + b > limit
}

/// Return true if b equals a plus one.
pub fn is_next_number(a: i64, b: i64) -> bool {
    b == a + 1
}

/// Return true if first or second is empty.
pub fn is_one_text_empty(first: &str, second: &str) -> bool {
    first.is_empty() || second.is_empty()
}

/// Return true if word has exactly 5 characters.
pub fn has_five_letters(word: &str) -> bool {
    word.chars().count() == 5
}

/// Return true if text has more characters than size.
pub fn is_longer_than(text: &str, size: usize) -> bool {
    text.chars().count() > size
}

/// Return true if first and second are equally long.
pub fn have_equal_lengths(first: &str, second: &str) -> bool {
    first.chars().count() == second.chars().count()
}

/// Return true if word starts with "a".
pub fn starts_with_a(word: &str) -> bool {
    word.starts_with('a')
}

/// Return true if text ends with a dot.
pub fn ends_with_dot(text: &str) -> bool {
    text.ends_with('.')
}

/// Return true if "e" is in word.
pub fn has_letter_e(word: &str) -> bool {
    word.contains('e')
}

/// Return true if text has at least one space.
pub fn has_space(text: &str) -> bool {
    text.chars().any(|c| c == ' ')
}

/// Return true if all letters of text are upper case. Characters that are not letters do not matter.
pub fn is_shouting(text: &str) -> bool {
    text.chars()
        .filter(|c| c.is_alphabetic())
        .all(char::is_uppercase)
}

/// Return true if answer in lower case equals solution.
pub fn is_answer_right(answer: &str, solution: &str) -> bool {
    answer.to_lowercase() == solution
}

/// Return true if text starts with part.
pub fn begins_with_part(text: &str, part: &str) -> bool {
    text.starts_with(part)
}

/// Return true if text ends with part.
pub fn finishes_with_part(text: &str, part: &str) -> bool {
    text.ends_with(part)
}

/// Return true if letter is not in text.
pub fn lacks_letter(text: &str, letter: char) -> bool {
    !text.contains(letter)
}

/// Return true if first is less than second when the two are compared as text.
pub fn comes_first_in_alphabet(first: &str, second: &str) -> bool {
    first < second
}

/// Return true if left and right together have fewer than 3 items.
pub fn are_short_together(left: &[i64], right: &[i64]) -> bool {
    left.len() + right.len() < 3
}

/// Return true if items has exactly two items.
pub fn has_two_items(items: &[i64]) -> bool {
    items.len() == 2
}

/// Return true if item is in items.
pub fn has_item(items: &[i64], item: i64) -> bool {
    items.contains(&item)
}

/// Return true if name is not in names.
pub fn is_missing_name(names: &[&str], name: &str) -> bool {
    !names.contains(&name)
}

/// Return true if the first of numbers is zero.
pub fn first_is_zero(numbers: &[i64]) -> bool {
    numbers.first() == Some(&0)
}

/// Return true if the last of numbers is above zero.
pub fn last_is_positive(numbers: &[i64]) -> bool {
    match numbers {
        [.., last] => *last > 0,
        [] => false,
    }
}

/// Return true if the sum of numbers is even.
pub fn total_is_even(numbers: &[i64]) -> bool {
    let total: i64 = numbers.iter().sum();
    total % 2 == 0
}

/// Return true if the lists left and right are equal.
pub fn are_equal_lists(left: &[i64], right: &[i64]) -> bool {
    left == right
}

/// Return true if the maximum of numbers is below limit.
pub fn largest_is_below(numbers: &[i64], limit: i64) -> bool {
    numbers.iter().all(|&n| n < limit)
}

/// Return true if the sum of numbers is above 100.
pub fn total_over_hundred(numbers: &[i64]) -> bool {
    numbers.iter().sum::<i64>() > 100
}

/// Return true if value equals a or b.
pub fn is_either_choice(value: i64, a: i64, b: i64) -> bool {
    [a, b].contains(&value)
}

/// Return true if a and b are both above zero.
pub fn are_both_positive(a: i64, b: i64) -> bool {
    a > 0 && b > 0
}

/// Return true if a, b and c are all equal.
pub fn are_all_three_equal(a: i64, b: i64, c: i64) -> bool {
    a == b && b == c
}

/// Return true if items has three or more items.
pub fn has_at_least_three(items: &[&str]) -> bool {
    items.len() >= 3
}

/// Return true if big equals small times small.
pub fn is_square_of(big: i64, small: i64) -> bool {
    big == small * small
}
