//! Divisibility: Rust for the tasks of python-functions.

/// Return true if number is even, else false. Zero is even.
pub fn is_even_number(number: i64) -> bool {
    number % 2 == 0
}

/// Return true if number divided by divisor leaves exactly the given remainder, else false.
pub fn leaves_remainder(number: i64, divisor: i64, remainder: i64) -> bool {
    number % divisor == remainder
}

pub fn candies_left_over(candies: u32, children: u32) -> u32 {
    candies % children
}

pub fn full_boxes(items: u32, box_size: u32) -> u32 {
    items / box_size
}

pub fn boxes_needed(items: u32, box_size: u32) -> u32 {
    items.div_ceil(box_size)
}

/// Return the largest number that divides every one of the positive numbers. There is at least one number.
pub fn largest_divisor_of_all(numbers: &[u64]) -> u64 {
    let mut divisor = 0;
    for &number in numbers {
        let mut rest = number;
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
    }
    divisor
}

pub fn least_common_multiple(a: i64, b: i64) -> i64 {
    let mut multiple = a;
    while multiple % b != 0 {
        multiple += a;
    }
    multiple
}

/// Return true if no number above 1 divides both of the positive numbers a and b, else false.
pub fn share_no_factor(a: i64, b: i64) -> bool {
    (2..=a.min(b)).all(|d| a % d != 0 || b % d != 0)
}

pub fn next_even_number(number: i64) -> i64 {
    if number % 2 == 0 {
        number + 2
    } else {
        number + 1
    }
}

pub fn round_down_to_multiple(number: u64, base: u64) -> u64 {
    number / base * base
}

pub fn amount_to_next_multiple(number: i64, base: i64) -> i64 {
    (-number).rem_euclid(base)
}

/// Return half of number if number is even; otherwise return number as it is.
pub fn half_if_even(number: i64) -> i64 {
    if number % 2 == 0 {
        number / 2
    } else {
        number
    }
}

/// Return true if a and b are both even or both odd, else false.
pub fn have_same_parity(a: i64, b: i64) -> bool {
    (a - b) % 2 == 0
}

/// Return the whole quotient of number divided by divisor, and the remainder.
pub fn quotient_and_remainder(number: u64, divisor: u64) -> (u64, u64) {
    (number / divisor, number % divisor)
}

/// Return the numbers that are not divisible by base, in the same order.
pub fn drop_multiples(numbers: &[i64], base: i64) -> Vec<i64> {
    numbers.iter().copied().filter(|n| n % base != 0).collect()
}

pub fn count_divisible(numbers: &[i64], divisor: i64) -> usize {
    numbers.iter().filter(|&n| n % divisor == 0).count()
}

pub fn sum_odd_numbers(numbers: &[i64]) -> i64 {
    numbers.iter().filter(|&n| n % 2 != 0).sum()
}

/// Return true if number is divisible by a and also by b, else false.
pub fn divisible_by_both(number: i64, a: i64, b: i64) -> bool {
    number % a == 0 && number % b == 0
}

/// Return true if number is divisible by exactly one of a and b, else false.
pub fn divisible_by_exactly_one(number: i64, a: i64, b: i64) -> bool {
    (number % a == 0) != (number % b == 0)
}

pub fn count_multiples_up_to(limit: u64, base: u64) -> u64 {
    limit / base
}

pub fn position_on_circle(start: usize, steps: usize, size: usize) -> usize {
    (start + steps) % size
}

/// Return the fraction top / bottom in lowest terms as a pair of numbers. Both inputs are positive.
pub fn simplify_fraction(top: u64, bottom: u64) -> (u64, u64) {
    let (mut divisor, mut rest) = (top, bottom);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (top / divisor, bottom / divisor)
}

pub fn team_of_player(player: u32, teams: u32) -> u32 {
    (player - 1) % teams + 1
}

/// Return true if every number is divisible by divisor, else false. With no numbers, return true.
pub fn all_divisible_by(numbers: &[i64], divisor: i64) -> bool {
    numbers.iter().all(|n| n % divisor == 0)
}

/// Return the remainder, zero or more, of each number divided by the positive divisor.
pub fn remainders_of_list(numbers: &[i64], divisor: i64) -> Vec<i64> {
    numbers.iter().map(|n| n.rem_euclid(divisor)).collect()
}

pub fn list_divisors(number: i64) -> Vec<i64> {
    (1..=number).filter(|d| number % d == 0).collect()
}

pub fn count_divisors(number: i64) -> usize {
    let mut count = 0;
    for divisor in 1..=number {
        if number % divisor == 0 {
            count += 1;
        }
    }
    count
}

pub fn sum_smaller_divisors(number: i64) -> i64 {
    (1..number).filter(|d| number % d == 0).sum()
}

/// Return true if number is prime, else false. Numbers below 2 are not prime.
pub fn is_prime_number(number: i64) -> bool {
    number > 1 && (2..number).all(|d| number % d != 0)
}

pub fn smallest_divisor_above_one(number: i64) -> i64 {
    let mut divisor = 2;
    while number % divisor != 0 {
        divisor += 1;
    }
    divisor
}

pub fn largest_smaller_divisor(number: i64) -> i64 {
    (1..number).rev().find(|d| number % d == 0).unwrap_or(1)
}

pub fn times_divisible_by_two(number: u64) -> u32 {
    number.trailing_zeros()
}

pub fn common_divisors(a: i64, b: i64) -> Vec<i64> {
    let mut divisors = Vec::new();
    for d in 1..=a.min(b) {
        if a % d == 0 && b % d == 0 {
            divisors.push(d);
        }
    }
    divisors
}

pub fn sum_multiples_of_either(limit: i64, a: i64, b: i64) -> i64 {
    (1..=limit).filter(|n| n % a == 0 || n % b == 0).sum()
}

/// Return all multiples of base from low to high, both included.
pub fn multiples_between(low: i64, high: i64, base: i64) -> Vec<i64> {
    (low..=high).filter(|n| n % base == 0).collect()
}

/// Return the first even number, or None if there is none.
pub fn first_even_or_none(numbers: &[i64]) -> Option<i64> {
    numbers.iter().copied().find(|n| n % 2 == 0)
}

/// Return how many of the numbers are even minus how many are odd. With no numbers, return 0.
pub fn more_even_than_odd(numbers: &[i64]) -> i64 {
    numbers
        .iter()
        .map(|n| if n % 2 == 0 { 1 } else { -1 })
        .sum()
}

/// Return "tick" if number is divisible by 3, "tock" if by 5 and "ticktock" if by both.
/// If it is divisible by neither, return an empty string.
pub fn tick_tock_word(number: i64) -> &'static str {
    match (number % 3, number % 5) {
        (0, 0) => "ticktock",
        (0, _) => "tick",
        (_, 0) => "tock",
        _ => "",
    }
}

/// Return true if the positive number is divisible by the sum of its decimal digits, else false.
pub fn divisible_by_digit_sum(number: i64) -> bool {
    let mut digit_sum = 0;
    let mut rest = number;
    while rest > 0 {
        digit_sum += rest % 10;
        rest /= 10;
    }
    number % digit_sum == 0
}

/// Return how many items each of the people gets when they are shared as evenly as possible.
/// People who get one item more come first.
pub fn fair_shares(items: usize, people: usize) -> Vec<usize> {
    let share = items / people;
    let lucky = items % people;
    let mut shares = vec![share + 1; lucky];
    shares.resize(people, share);
    shares
}

/// Return all prime numbers from 2 to limit, from small to large.
pub fn primes_up_to(limit: i64) -> Vec<i64> {
    let mut primes: Vec<i64> = Vec::new();
    for n in 2..=limit {
        if primes.iter().all(|p| n % p != 0) {
            primes.push(n);
        }
    }
    primes
}

/// Return the prime factors of the positive number from small to large, each as often as it occurs.
/// For 1 there are none.
pub fn prime_factor_list(number: i64) -> Vec<i64> {
    let mut factors = Vec::new();
    let mut rest = number;
    let mut divisor = 2;
    while rest > 1 {
        if rest % divisor == 0 {
            factors.push(divisor);
            rest /= divisor;
        } else {
            divisor += 1;
        }
    }
    factors
}

pub fn next_prime_after(number: i64) -> i64 {
    let mut candidate = (number + 1).max(2);
    while (2..candidate).any(|d| candidate % d == 0) {
        candidate += 1;
    }
    candidate
}

pub fn nearest_multiple(number: i64, base: i64) -> i64 {
    let lower = number.div_euclid(base) * base;
    let upper = lower + base;
    if number - lower < upper - number {
        lower
    } else {
        upper
    }
}

/// Return as many groups as divisor says: the group at index r has the numbers with remainder r, in order.
/// The remainder is that of the number divided by divisor.
pub fn group_by_remainder(numbers: &[usize], divisor: usize) -> Vec<Vec<usize>> {
    let mut groups = vec![Vec::new(); divisor];
    for &number in numbers {
        groups[number % divisor].push(number);
    }
    groups
}
