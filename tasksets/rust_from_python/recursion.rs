//! Recursion: Rust for the tasks of python-functions.

pub fn factorial(n: u64) -> u64 {
    if n == 0 {
        1
    } else {
        n * factorial(n - 1)
    }
}

pub fn every_second_factorial(n: u64) -> u64 {
    match n {
        0 | 1 => 1,
        _ => n * every_second_factorial(n - 2),
    }
}

pub fn add_up_digits(n: u64) -> u64 {
    if n < 10 {
        return n;
    }
    n % 10 + add_up_digits(n / 10)
}

pub fn number_of_digits(n: u64) -> u32 {
    if n < 10 {
        1
    } else {
        1 + number_of_digits(n / 10)
    }
}

/// Return the digits of n from left to right. n is not negative.
pub fn digits_as_list(n: u64) -> Vec<u64> {
    let mut digits = if n < 10 {
        Vec::new()
    } else {
        digits_as_list(n / 10)
    };
    digits.push(n % 10);
    digits
}

pub fn power_by_multiplying(base: i64, exponent: u32) -> i64 {
    let mut power = 1;
    for _ in 0..exponent {
        power *= base;
    }
    power
}

pub fn fibonacci_number(n: u32) -> u64 {
    match n {
        0 => 0,
        1 => 1,
        _ => fibonacci_number(n - 1) + fibonacci_number(n - 2),
    }
}

pub fn countdown_by_step(start: u64, step: usize) -> Vec<u64> {
    (0..=start).rev().step_by(step).collect()
}

pub fn shrinking_endings(text: &str) -> Vec<String> {
    text.char_indices()
        .map(|(start, _)| text[start..].to_string())
        .collect()
}

pub fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => greatest_common_divisor(b, a % b),
    }
}

pub fn last_digit_of_power(base: u64, exponent: u32) -> u64 {
    (0..exponent).fold(1, |digit, _| digit * (base % 10) % 10)
}

pub fn powers_list(base: i64, count: usize) -> Vec<i64> {
    let mut powers = Vec::with_capacity(count);
    let mut power = 1;
    while powers.len() < count {
        powers.push(power);
        power *= base;
    }
    powers
}

/// Return the numbers from 1 up to n and back down to 1, with n only once. For n = 0 return an
/// empty list.
pub fn count_up_and_down(n: u32) -> Vec<u32> {
    let up = 1..=n;
    let down = (1..n).rev();
    up.chain(down).collect()
}

pub fn alternating_sum(numbers: &[i64]) -> i64 {
    match numbers {
        [] => 0,
        [first, rest @ ..] => first - alternating_sum(rest),
    }
}

pub fn sum_of_inner_lists(lists: &[Vec<i64>]) -> Vec<i64> {
    let mut sums = Vec::with_capacity(lists.len());
    for list in lists {
        sums.push(list.iter().sum());
    }
    sums
}

pub fn number_of_equal_digits(digit: u64, times: u32) -> u64 {
    let mut number = 0;
    for _ in 0..times {
        number = number * 10 + digit;
    }
    number
}

/// Return true if the digits of n are the same read from the left and from the right. n is not
/// negative.
pub fn digits_read_same_backwards(n: u64) -> bool {
    let digits = n.to_string();
    digits.chars().eq(digits.chars().rev())
}

pub fn collatz_step(n: i64) -> i64 {
    if n % 2 == 0 {
        n / 2
    } else {
        3 * n + 1
    }
}

pub fn halve_repeatedly(amount: u64, times: u32) -> u64 {
    if times == 0 {
        amount
    } else {
        halve_repeatedly(amount / 2, times - 1)
    }
}

pub fn triangular_numbers(count: u64) -> Vec<u64> {
    let mut sum = 0;
    let mut sums = Vec::new();
    for number in 1..=count {
        sum += number;
        sums.push(sum);
    }
    sums
}

pub fn repeat_text_with_comma(text: &str, times: usize) -> String {
    vec![text; times].join(",")
}

pub fn repeated_digit_sum(n: u64) -> u64 {
    let mut number = n;
    while number >= 10 {
        let mut sum = 0;
        while number > 0 {
            sum += number % 10;
            number /= 10;
        }
        number = sum;
    }
    number
}

pub fn collatz_step_count(n: i64) -> u32 {
    let mut number = n;
    let mut steps = 0;
    while number != 1 {
        number = match number % 2 {
            0 => number / 2,
            _ => 3 * number + 1,
        };
        steps += 1;
    }
    steps
}

pub fn fibonacci_list(count: usize) -> Vec<u64> {
    std::iter::successors(Some((0, 1)), |&(a, b)| Some((b, a + b)))
        .map(|(number, _)| number)
        .take(count)
        .collect()
}

pub fn halvings_until_one(n: u64) -> u32 {
    let mut rest = n;
    let mut steps = 0;
    while rest > 1 {
        rest /= 2;
        steps += 1;
    }
    steps
}

pub fn product_of_nonzero_digits(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    let rest = product_of_nonzero_digits(n / 10);
    match n % 10 {
        0 => rest,
        digit => digit * rest,
    }
}

pub fn remainder_steps(a: u64, b: u64) -> u32 {
    let (mut a, mut b) = (a, b);
    let mut steps = 0;
    while b != 0 {
        (a, b) = (b, a % b);
        steps += 1;
    }
    steps
}

pub fn ways_to_climb(stairs: u32) -> u64 {
    let (mut ways, mut next) = (1, 1);
    for _ in 0..stairs {
        (ways, next) = (next, ways + next);
    }
    ways
}

pub fn doublings_to_reach(start: u64, goal: u64) -> u32 {
    if start >= goal {
        0
    } else {
        1 + doublings_to_reach(2 * start, goal)
    }
}

pub fn running_maximum(numbers: &[i64]) -> Vec<i64> {
    let mut result: Vec<i64> = Vec::with_capacity(numbers.len());
    for &number in numbers {
        match result.last() {
            Some(&largest) if largest > number => result.push(largest),
            _ => result.push(number),
        }
    }
    result
}

pub fn differences_down_to_one(numbers: &[i64]) -> Vec<i64> {
    if numbers.len() <= 1 {
        return numbers.to_vec();
    }
    let differences: Vec<i64> = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();
    differences_down_to_one(&differences)
}

pub fn pascal_row(row: usize) -> Vec<u64> {
    let mut numbers = vec![1];
    for _ in 1..row {
        let mut next = vec![1];
        next.extend(numbers.windows(2).map(|pair| pair[0] + pair[1]));
        next.push(1);
        numbers = next;
    }
    numbers
}

pub fn all_sublists_in_order(items: &[i64]) -> Vec<Vec<i64>> {
    let Some((&first, rest)) = items.split_first() else {
        return vec![Vec::new()];
    };
    let mut sublists = all_sublists_in_order(rest);
    for i in 0..sublists.len() {
        let mut with_first = vec![first];
        with_first.extend(&sublists[i]);
        sublists.push(with_first);
    }
    sublists
}

pub fn deepest_bracket_level(text: &str) -> u32 {
    let mut depth: u32 = 0;
    let mut deepest = 0;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        deepest = deepest.max(depth);
    }
    deepest
}

pub fn look_and_say(text: &str, steps: u32) -> String {
    let mut current = text.to_string();
    for _ in 0..steps {
        let mut next = String::new();
        let mut digits = current.chars().peekable();
        while let Some(digit) = digits.next() {
            let mut count = 1;
            while digits.next_if_eq(&digit).is_some() {
                count += 1;
            }
            next += &format!("{count}{digit}");
        }
        current = next;
    }
    current
}
