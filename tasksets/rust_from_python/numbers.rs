//! Numbers: Rust for the tasks of python-functions.

pub fn absolute_difference(a: i64, b: i64) -> i64 {
    (a - b).abs()
}

/// Return true if number is less than zero, else false.
pub fn is_below_zero(number: i64) -> bool {
    number.is_negative()
}

pub fn double_plus_one(number: i64) -> i64 {
    2 * number + 1
}

pub fn sum_of_two_squares(a: i64, b: i64) -> i64 {
    a * a + b * b
}

pub fn cube_minus_itself(number: i64) -> i64 {
    number.pow(3) - number
}

pub fn last_digit_of(number: u64) -> u64 {
    number % 10
}

pub fn drop_last_digit(number: u64) -> u64 {
    number / 10
}

pub fn tens_digit_of(number: u64) -> u64 {
    number / 10 % 10
}

/// Return true if value is greater than low and less than high, else false.
pub fn is_strictly_between(value: i64, low: i64, high: i64) -> bool {
    low < value && value < high
}

/// Return the larger of the absolute values of a and b.
pub fn largest_magnitude(a: i64, b: i64) -> u64 {
    a.unsigned_abs().max(b.unsigned_abs())
}

pub fn smallest_of_three(a: i64, b: i64, c: i64) -> i64 {
    a.min(b).min(c)
}

pub fn spread_of_three(a: i64, b: i64, c: i64) -> i64 {
    let largest = a.max(b).max(c);
    let smallest = a.min(b).min(c);
    largest - smallest
}

pub fn sum_up_to(n: u64) -> u64 {
    (1..=n).sum()
}

/// Return number with its sign changed if flag is true; otherwise return number as it is.
pub fn negate_when(number: i64, flag: bool) -> i64 {
    if flag {
        -number
    } else {
        number
    }
}

pub fn negative_to_zero(number: i64) -> i64 {
    number.max(0)
}

/// Return true if a and b are both positive or both negative, else false. Neither of them is zero.
pub fn have_same_sign(a: i64, b: i64) -> bool {
    a.signum() == b.signum()
}

pub fn power_of_ten(exponent: u32) -> u64 {
    10_u64.pow(exponent)
}

pub fn excess_over_limit(value: i64, limit: i64) -> i64 {
    if value > limit {
        value - limit
    } else {
        0
    }
}

/// Return true if a and b differ by at most tolerance, else false.
pub fn is_close_enough(a: i64, b: i64, tolerance: u64) -> bool {
    a.abs_diff(b) <= tolerance
}

/// Return the average of a and b as a floating-point number.
pub fn average_of_two(a: i64, b: i64) -> f64 {
    (a + b) as f64 / 2.0
}

/// Return the whole part of number as an integer, dropping everything after the decimal point.
pub fn whole_part(number: f64) -> i64 {
    number.trunc() as i64
}

pub fn count_integers_in_range(low: i64, high: i64) -> i64 {
    high - low + 1
}

pub fn arithmetic_term(first: i64, step: i64, position: i64) -> i64 {
    first + (position - 1) * step
}

pub fn doubled_times(start: i64, times: u32) -> i64 {
    let mut result = start;
    for _ in 0..times {
        result *= 2;
    }
    result
}

/// Return true if first is less than or equal to second, else false.
pub fn are_in_order(first: i64, second: i64) -> bool {
    first <= second
}

pub fn sign_as_number(number: i64) -> i64 {
    use std::cmp::Ordering;

    match number.cmp(&0) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }
}

pub fn sum_of_even_digits(number: i64) -> i64 {
    let mut rest = number;
    let mut sum = 0;
    while rest > 0 {
        let digit = rest % 10;
        if digit % 2 == 0 {
            sum += digit;
        }
        rest /= 10;
    }
    sum
}

pub fn multiply_digits(number: u64) -> u32 {
    number
        .to_string()
        .chars()
        .filter_map(|c| c.to_digit(10))
        .product()
}

pub fn reverse_digits_keep_sign(number: i64) -> i64 {
    let mut rest = number.abs();
    let mut reversed = 0;
    while rest > 0 {
        reversed = reversed * 10 + rest % 10;
        rest /= 10;
    }
    reversed * number.signum()
}

pub fn largest_digit_of(number: u64) -> u64 {
    let mut largest = number % 10;
    let mut rest = number / 10;
    while rest > 0 {
        largest = largest.max(rest % 10);
        rest /= 10;
    }
    largest
}

pub fn count_digit_in_number(number: u64, digit: u32) -> usize {
    number
        .to_string()
        .chars()
        .filter(|c| c.to_digit(10) == Some(digit))
        .count()
}

/// Return true if the first and the last decimal digit of number are the same, else false.
/// The number is zero or more.
pub fn first_and_last_digit_equal(number: u64) -> bool {
    let mut first = number;
    while first >= 10 {
        first /= 10;
    }
    first == number % 10
}

/// Return true if some decimal digit occurs more than once in number, else false.
/// The number is zero or more.
pub fn has_repeated_digit(number: u64) -> bool {
    let mut seen = [false; 10];
    for byte in number.to_string().bytes() {
        let digit = usize::from(byte - b'0');
        if seen[digit] {
            return true;
        }
        seen[digit] = true;
    }
    false
}

pub fn sum_of_two_largest(a: i64, b: i64, c: i64) -> i64 {
    let mut numbers = [a, b, c];
    numbers.sort_unstable();
    numbers[1] + numbers[2]
}

/// Return the decimal digits of number, sorted from small to large. The number is zero or more.
pub fn digits_from_small_to_large(number: u64) -> Vec<u32> {
    let mut digits: Vec<u32> = number
        .to_string()
        .chars()
        .filter_map(|c| c.to_digit(10))
        .collect();
    digits.sort_unstable();
    digits
}

/// Return the number whose decimal digits are given from left to right. No digits give 0.
pub fn number_from_digits(digits: &[u64]) -> u64 {
    digits.iter().fold(0, |number, digit| number * 10 + digit)
}

pub fn sum_of_squares_up_to(n: u64) -> u64 {
    (1..=n).map(|i| i * i).sum()
}

pub fn plus_minus_sum(n: i64) -> i64 {
    let mut sum = 0;
    for i in 1..=n {
        if i % 2 == 0 {
            sum -= i;
        } else {
            sum += i;
        }
    }
    sum
}

pub fn product_of_range(low: i64, high: i64) -> i64 {
    (low..=high).product()
}

pub fn whole_square_root(number: u64) -> u64 {
    let mut root = 0;
    while (root + 1) * (root + 1) <= number {
        root += 1;
    }
    root
}

pub fn count_up_by(count: i64, step: i64) -> Vec<i64> {
    (1..=count).map(|i| i * step).collect()
}

pub fn digit_product_steps(number: u64) -> u32 {
    let mut number = number;
    let mut steps = 0;
    while number >= 10 {
        let mut product = 1;
        while number > 0 {
            product *= number % 10;
            number /= 10;
        }
        number = product;
        steps += 1;
    }
    steps
}

pub fn steps_to_zero_by_halving(number: u64) -> u32 {
    match number {
        0 => 0,
        n if n % 2 == 0 => 1 + steps_to_zero_by_halving(n / 2),
        n => 1 + steps_to_zero_by_halving(n - 1),
    }
}

pub fn add_last_two_sequence(first: i64, second: i64, length: usize) -> Vec<i64> {
    let mut numbers = Vec::with_capacity(length);
    let (mut current, mut next) = (first, second);
    for _ in 0..length {
        numbers.push(current);
        (current, next) = (next, current + next);
    }
    numbers
}

/// Return true if every decimal digit of number is larger than the digit on its left, else false.
/// A positive number with a single digit gives true.
pub fn digits_strictly_rise(number: u64) -> bool {
    number
        .to_string()
        .as_bytes()
        .windows(2)
        .all(|pair| pair[0] < pair[1])
}
