//! Arithmetic: Rust for the tasks of python-functions.

pub fn all_pets(cats: u32, dogs: u32) -> u32 {
    cats + dogs
}

pub fn money_left(money: i64, spent: i64) -> i64 {
    money - spent
}

pub fn double_points(points: i64) -> i64 {
    points * 2
}

/// Return half of length.
pub fn half_of_length(length: u32) -> f64 {
    f64::from(length) / 2.0
}

pub fn cost_of_tickets(price: u64, count: u64) -> u64 {
    price * count
}

pub fn legs_of_dogs(dogs: u32) -> u32 {
    dogs * 4
}

pub fn next_page(page: u32) -> u32 {
    page + 1
}

pub fn floor_below(floor: i32) -> i32 {
    floor - 1
}

pub fn total_of_three_rounds(first: i64, second: i64, third: i64) -> i64 {
    [first, second, third].iter().sum()
}

pub fn tile_area(side: u64) -> u64 {
    side * side
}

pub fn cube_volume(edge: u64) -> u64 {
    edge.pow(3)
}

/// Return the average of a, b and c.
pub fn mean_of_three_grades(a: u32, b: u32, c: u32) -> f64 {
    f64::from(a + b + c) / 3.0
}

pub fn pages_per_day(pages: u32, days: u32) -> u32 {
    pages / days
}

pub fn minute_shown_on_clock(minutes: u32) -> u32 {
    minutes % 60
}

pub fn triple_amount(amount: i64) -> i64 {
    3 * amount
}

pub fn two_to_the_power(steps: u32) -> u64 {
    2_u64.pow(steps)
}

pub fn fourth_power(number: i64) -> i64 {
    number.pow(4)
}

pub fn opposite_number(number: i64) -> i64 {
    -number
}

pub fn birth_year(year: i32, age: i32) -> i32 {
    year - age
}

pub fn age_later(age: u32, years: u32) -> u32 {
    age + years
}

pub fn change_after_two_items(paid: i64, first: i64, second: i64) -> i64 {
    let spent = first + second;
    paid - spent
}

pub fn order_cost_with_fee(price: u64, count: u64, fee: u64) -> u64 {
    price * count + fee
}

pub fn wheels_on_street(cars: u32, bikes: u32) -> u32 {
    4 * cars + 2 * bikes
}

pub fn worth_of_coins(tens: u32, fives: u32) -> u32 {
    10 * tens + 5 * fives
}

pub fn fence_around_square(side: u64) -> u64 {
    4 * side
}

pub fn eggs_in_cartons(cartons: u32) -> u32 {
    const EGGS_PER_CARTON: u32 = 12;
    cartons * EGGS_PER_CARTON
}

pub fn distance_driven(speed: u64, hours: u64) -> u64 {
    speed * hours
}

/// Return amount divided by four.
pub fn quarter_of_amount(amount: i64) -> f64 {
    amount as f64 / 4.0
}

/// Return amount divided by 100.
pub fn one_percent_of(amount: i64) -> f64 {
    amount as f64 / 100.0
}

pub fn lawn_without_pond(length: i64, width: i64, pond: i64) -> i64 {
    let lawn = length * width;
    lawn - pond
}

pub fn full_dozens(eggs: u32) -> u32 {
    eggs / 12
}

pub fn pairs_of_socks(socks: u32) -> u32 {
    socks / 2
}

pub fn last_two_digits(number: u64) -> u64 {
    number % 100
}

pub fn days_after_full_weeks(days: u32) -> u32 {
    const DAYS_PER_WEEK: u32 = 7;
    days % DAYS_PER_WEEK
}

pub fn sum_times_factor(a: i64, b: i64, factor: i64) -> i64 {
    (a + b) * factor
}

pub fn ten_less(number: i64) -> i64 {
    number - 10
}

pub fn add_one_hundred(number: i64) -> i64 {
    number + 100
}

pub fn rest_to_one_hundred(number: i64) -> i64 {
    100 - number
}

/// Return bill divided by people.
pub fn share_of_bill(bill: u32, people: u32) -> f64 {
    f64::from(bill) / f64::from(people)
}

pub fn quiz_score(right: i64, wrong: i64) -> i64 {
    3 * right - wrong
}

pub fn savings_after_weeks(saved: u64, weekly: u64, weeks: u64) -> u64 {
    saved + weekly * weeks
}

pub fn square_minus_one(number: i64) -> i64 {
    number.pow(2) - 1
}

pub fn square_of_difference(a: i64, b: i64) -> i64 {
    let difference = a - b;
    difference * difference
}

pub fn times_next_number(number: i64) -> i64 {
    number * (number + 1)
}

pub fn full_hundreds(number: u64) -> u64 {
    number / 100
}
