//! First numbers: Rust for the tasks of python-functions.

pub fn square(x: i64) -> i64 {
    x * x
}

pub fn cube(x: i64) -> i64 {
    x.pow(3)
}

pub fn fifth_power(x: i64) -> i64 {
    x.pow(5)
}

pub fn power(base: i64, exponent: u32) -> i64 {
    base.pow(exponent)
}

pub fn square_root(n: u32) -> f64 {
    f64::from(n).sqrt()
}

pub fn absolute_value(n: i64) -> i64 {
    n.abs()
}

pub fn minus_absolute_value(n: i64) -> i64 {
    -n.abs()
}

pub fn reciprocal(n: i32) -> f64 {
    f64::from(n).recip()
}

pub fn subtract_first_from_second(a: i64, b: i64) -> i64 {
    b - a
}

pub fn divide_second_by_first(a: i64, b: i64) -> f64 {
    b as f64 / a as f64
}

pub fn remainder(a: u64, b: u64) -> u64 {
    a % b
}

pub fn min_of_two(a: i64, b: i64) -> i64 {
    a.min(b)
}

pub fn max_of_three(a: i64, b: i64, c: i64) -> i64 {
    a.max(b).max(c)
}

pub fn sum_of_cubes(a: i64, b: i64) -> i64 {
    a.pow(3) + b.pow(3)
}

pub fn square_of_sum(a: i64, b: i64) -> i64 {
    (a + b).pow(2)
}

pub fn cube_of_difference(a: i64, b: i64) -> i64 {
    (a - b).pow(3)
}

pub fn square_of_product(a: i64, b: i64) -> i64 {
    let product = a * b;
    product * product
}

pub fn half_of_difference(a: i64, b: i64) -> f64 {
    (a - b) as f64 / 2.0
}

pub fn double_product(a: i64, b: i64) -> i64 {
    2 * a * b
}

pub fn double_difference(a: i64, b: i64) -> i64 {
    2 * (a - b)
}

pub fn sum_plus_one(a: i64, b: i64) -> i64 {
    a + b + 1
}

pub fn product_plus_one(a: i64, b: i64) -> i64 {
    a * b + 1
}

pub fn add_and_subtract(a: i64, b: i64, c: i64) -> i64 {
    a + b - c
}

pub fn subtract_and_multiply(a: i64, b: i64, c: i64) -> i64 {
    (a - b) * c
}

pub fn sum_divided_by(a: i64, b: i64, c: i64) -> f64 {
    (a + b) as f64 / c as f64
}

pub fn product_divided_by(a: i64, b: i64, c: i64) -> f64 {
    (a * b) as f64 / c as f64
}

pub fn multiply_by_power(amount: i64, factor: i64, times: u32) -> i64 {
    amount * factor.pow(times)
}

pub fn sum_of_absolute_values(a: i64, b: i64) -> i64 {
    a.abs() + b.abs()
}

pub fn absolute_sum(a: i64, b: i64) -> i64 {
    (a + b).abs()
}

pub fn absolute_product(a: i64, b: i64) -> i64 {
    (a * b).abs()
}

pub fn square_of_larger(a: i64, b: i64) -> i64 {
    a.max(b).pow(2)
}

pub fn double_of_smaller(a: i64, b: i64) -> i64 {
    2 * a.min(b)
}

pub fn square_plus_one(x: i64) -> i64 {
    x * x + 1
}

pub fn square_minus_itself(x: i64) -> i64 {
    x * x - x
}

pub fn double_square(x: i64) -> i64 {
    2 * x.pow(2)
}

pub fn half_of_square(x: i64) -> f64 {
    (x * x) as f64 / 2.0
}

pub fn next_square(n: i64) -> i64 {
    (n + 1).pow(2)
}

pub fn odd_number_at(n: i64) -> i64 {
    2 * n - 1
}

pub fn half_plus_one(n: i64) -> f64 {
    n as f64 / 2.0 + 1.0
}

pub fn three_quarters_of(n: i64) -> f64 {
    n as f64 * 3.0 / 4.0
}

pub fn one_and_a_half_times(n: i32) -> f64 {
    1.5 * f64::from(n)
}

pub fn round_to_integer(x: f64) -> i64 {
    x.round() as i64
}

pub fn fractional_part(x: f64) -> f64 {
    x.fract()
}

pub fn integer_average(a: i64, b: i64) -> i64 {
    (a + b).div_euclid(2)
}

pub fn geometric_mean(a: u32, b: u32) -> f64 {
    (f64::from(a) * f64::from(b)).sqrt()
}

pub fn last_digit_of_sum(a: u64, b: u64) -> u64 {
    (a + b) % 10
}

pub fn last_digit_of_product(a: u64, b: u64) -> u64 {
    a * b % 10
}

pub fn last_digit_of_square(n: u64) -> u64 {
    n.pow(2) % 10
}

pub fn days_to_hours(days: u32) -> u32 {
    days * 24
}

/// Return minutes as hours, with the fraction of an hour.
pub fn minutes_to_hours(minutes: u32) -> f64 {
    f64::from(minutes) / 60.0
}

/// Return hours as days, with the fraction of a day.
pub fn hours_to_days(hours: u32) -> f64 {
    f64::from(hours) / 24.0
}

pub fn celsius_to_kelvin(celsius: i32) -> i32 {
    celsius + 273
}

pub fn cube_surface_area(side: u64) -> u64 {
    6 * side.pow(2)
}

pub fn isosceles_perimeter(leg: u64, base: u64) -> u64 {
    2 * leg + base
}

pub fn square_prism_volume(side: u64, height: u64) -> u64 {
    side * side * height
}

pub fn pyramid_volume(base: u32, height: u32) -> f64 {
    f64::from(base * height) / 3.0
}

pub fn body_mass_index(weight: u32, height: f64) -> f64 {
    f64::from(weight) / height.powi(2)
}

pub fn square_of_half(x: i64) -> f64 {
    (x as f64 / 2.0).powi(2)
}

pub fn first_plus_square(a: i64, b: i64) -> i64 {
    a + b * b
}

pub fn square_minus_second(a: i64, b: i64) -> i64 {
    a * a - b
}

pub fn square_root_of_sum(a: i64, b: i64) -> f64 {
    ((a + b) as f64).sqrt()
}

pub fn sum_of_square_roots(a: u32, b: u32) -> f64 {
    f64::from(a).sqrt() + f64::from(b).sqrt()
}

pub fn remainder_of_product(a: u64, b: u64, n: u64) -> u64 {
    a * b % n
}

pub fn remainder_of_square(a: u64, b: u64) -> u64 {
    a.pow(2) % b
}

pub fn cube_of_absolute_value(x: i64) -> i64 {
    x.abs().pow(3)
}

pub fn divide_and_add(a: i64, b: i64, c: i64) -> f64 {
    a as f64 / b as f64 + c as f64
}

pub fn subtract_and_divide(a: i64, b: i64, c: i64) -> f64 {
    let difference = (a - b) as f64;
    difference / c as f64
}

pub fn divide_twice(n: i64, a: i64, b: i64) -> f64 {
    n as f64 / a as f64 / b as f64
}

pub fn subtract_product(n: i64, a: i64, b: i64) -> i64 {
    n - a * b
}

pub fn difference_plus_one(a: i64, b: i64) -> i64 {
    a - b + 1
}

pub fn negative_sum(a: i64, b: i64) -> i64 {
    -(a + b)
}

pub fn distance_to_ten(n: i64) -> u64 {
    n.abs_diff(10)
}
