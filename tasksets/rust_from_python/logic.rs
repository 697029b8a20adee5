//! Logic: Rust for the tasks of python-functions.

pub fn larger_of_two(a: i64, b: i64) -> i64 {
    if a > b {
        a
    } else {
        b
    }
}

/// Return "even" if number is even and "odd" if it is odd.
pub fn even_or_odd_word(number: i64) -> &'static str {
    if number % 2 == 0 {
        "even"
    } else {
        "odd"
    }
}

pub fn middle_of_three(a: i64, b: i64, c: i64) -> i64 {
    let mut numbers = [a, b, c];
    numbers.sort_unstable();
    numbers[1]
}

/// Return "positive", "negative" or "zero" for number.
pub fn sign_word(number: i64) -> &'static str {
    match number.signum() {
        1 => "positive",
        -1 => "negative",
        _ => "zero",
    }
}

/// Return "pass" if points is at least 50, otherwise "fail".
pub fn pass_or_fail(points: u32) -> &'static str {
    if points >= 50 {
        "pass"
    } else {
        "fail"
    }
}

/// Return true if value is at least low and at most high, otherwise false.
pub fn is_within_limits(value: i64, low: i64, high: i64) -> bool {
    (low..=high).contains(&value)
}

pub fn ticket_price_for_age(age: u32) -> u32 {
    match age {
        0..=5 => 0,
        6..=64 => 10,
        _ => 5,
    }
}

pub fn price_after_large_order_discount(price: i64) -> i64 {
    match price {
        100.. => price - 10,
        _ => price,
    }
}

/// Return price lowered by the given percent.
pub fn price_with_percent_off(price: i64, percent: i64) -> f64 {
    (price * (100 - percent)) as f64 / 100.0
}

/// Return "stop" for "red", "wait" for "yellow", "go" for "green", and "unknown" for any other color.
pub fn traffic_light_action(color: &str) -> &'static str {
    match color {
        "red" => "stop",
        "yellow" => "wait",
        "green" => "go",
        _ => "unknown",
    }
}

/// Return the number in value, or fallback if value is None.
pub fn value_or_fallback(value: Option<i64>, fallback: i64) -> i64 {
    value.unwrap_or(fallback)
}

/// Return if_true when condition is true, otherwise if_false.
pub fn choose_text(condition: bool, if_true: &str, if_false: &str) -> String {
    if condition {
        if_true.to_string()
    } else {
        if_false.to_string()
    }
}

/// Return true if every two of the lengths a, b and c add up to more than the third, otherwise false.
pub fn sides_make_triangle(a: i64, b: i64, c: i64) -> bool {
    let longest = a.max(b).max(c);
    a + b + c > 2 * longest
}

/// Return 'S' if height is below 160, 'M' if it is from 160 to 179, and 'L' from 180 on.
pub fn shirt_size(height: u32) -> char {
    match height {
        0..160 => 'S',
        160..180 => 'M',
        180.. => 'L',
    }
}

/// Return true if number can be divided by divisor without a remainder, otherwise false.
pub fn divides_evenly(number: i64, divisor: i64) -> bool {
    number % divisor == 0
}

pub fn score_after_win(score: i64, points: i64) -> i64 {
    (score + points).min(21)
}

pub fn health_after_damage(health: u32, damage: u32) -> u32 {
    health.saturating_sub(damage)
}

pub fn nearer_number(a: i64, b: i64, target: i64) -> i64 {
    if a.abs_diff(target) <= b.abs_diff(target) {
        a
    } else {
        b
    }
}

/// Return true if the coins together are worth at least price, otherwise false.
pub fn can_pay_with_coins(coins: &[u32], price: u32) -> bool {
    coins.iter().sum::<u32>() >= price
}

/// Return true if light is "green" or there are no cars, otherwise false.
pub fn may_cross_street(cars: u32, light: &str) -> bool {
    light == "green" || cars == 0
}

pub fn shipping_fee(total: u32, weight: u32) -> u32 {
    if total >= 20 && weight < 50 {
        return 0;
    }
    3 + weight / 10
}

pub fn letter_grade(points: u32) -> char {
    match points {
        90.. => 'A',
        75..=89 => 'B',
        60..=74 => 'C',
        _ => 'F',
    }
}

/// Return "fizzbuzz" if number is divisible by 3 and 5, "fizz" if only by 3, "buzz" if only by 5.
/// Return the number as text if it is divisible by neither.
pub fn fizz_word(number: i64) -> String {
    match (number % 3 == 0, number % 5 == 0) {
        (true, true) => String::from("fizzbuzz"),
        (true, false) => String::from("fizz"),
        (false, true) => String::from("buzz"),
        (false, false) => number.to_string(),
    }
}

/// Return "first", "second" or "draw": rock beats scissors, scissors beat paper, paper beats rock.
pub fn rock_paper_scissors(first: &str, second: &str) -> &'static str {
    match (first, second) {
        ("rock", "scissors") | ("scissors", "paper") | ("paper", "rock") => "first",
        _ if first == second => "draw",
        _ => "second",
    }
}

/// Return "equal" if all three sides are equal, "two equal" if exactly two are, otherwise "different".
pub fn triangle_kind(a: i64, b: i64, c: i64) -> &'static str {
    if a == b && b == c {
        "equal"
    } else if a == b || b == c || a == c {
        "two equal"
    } else {
        "different"
    }
}

pub fn quadrant(x: i64, y: i64) -> u8 {
    match (x.signum(), y.signum()) {
        (1, 1) => 1,
        (-1, 1) => 2,
        (-1, -1) => 3,
        (1, -1) => 4,
        _ => 0,
    }
}

pub fn parking_fee(hours: u32) -> u32 {
    let paid_hours = hours.saturating_sub(1);
    (paid_hours * 3).min(20)
}

/// Return the tax: nothing on the first 1000, and 20 percent on the income above 1000.
pub fn tax_on_income(income: u32) -> f64 {
    let taxed = income.saturating_sub(1000);
    f64::from(taxed) * 20.0 / 100.0
}

/// Return "accepted" if yes is greater than no, "rejected" if it is smaller, and "tie" if they are equal.
/// If both are 0, return "no votes".
pub fn vote_result(yes: u32, no: u32) -> &'static str {
    use std::cmp::Ordering;

    match yes.cmp(&no) {
        Ordering::Greater => "accepted",
        Ordering::Less => "rejected",
        Ordering::Equal if yes == 0 => "no votes",
        Ordering::Equal => "tie",
    }
}

/// Return true if name has 3 to 10 characters, starts with a letter and has only letters and digits.
pub fn is_valid_user_name(name: &str) -> bool {
    (3..=10).contains(&name.chars().count())
        && name.starts_with(char::is_alphabetic)
        && name.chars().all(char::is_alphanumeric)
}

/// Return true if the two squares share a row, a column or a diagonal of a chess board, else false.
pub fn queen_attacks(row: i64, column: i64, other_row: i64, other_column: i64) -> bool {
    let rows = row.abs_diff(other_row);
    let columns = column.abs_diff(other_column);
    rows == 0 || columns == 0 || rows == columns
}

pub fn dice_points(rolls: &[u32]) -> u32 {
    let mut points = 0;
    for &roll in rolls {
        points += if roll == 6 { 10 } else { roll };
    }
    points
}

/// Return true if some number is in both ranges; the low and high ends belong to a range.
pub fn ranges_overlap(first_low: i64, first_high: i64, second_low: i64, second_high: i64) -> bool {
    first_low <= second_high && second_low <= first_high
}

/// Return "strike" if first is 10, "spare" if first and second together are 10, otherwise "open".
pub fn bowling_result(first: u32, second: u32) -> &'static str {
    match (first, first + second) {
        (10, _) => "strike",
        (_, 10) => "spare",
        _ => "open",
    }
}

/// Return "X" or "O", whichever fills a whole row or a whole column of the 3 by 3 board, else an empty text.
/// The board has three rows of three characters: 'X', 'O' or '.' for an empty field. Ignore diagonals.
pub fn line_winner(board: &[&str]) -> String {
    let fields: Vec<Vec<char>> = board.iter().map(|row| row.chars().collect()).collect();
    for mark in ['X', 'O'] {
        let row_full = (0..3).any(|r| (0..3).all(|c| fields[r][c] == mark));
        let column_full = (0..3).any(|c| (0..3).all(|r| fields[r][c] == mark));
        if row_full || column_full {
            return mark.to_string();
        }
    }
    String::new()
}

/// Return the pay: rate for each hour up to 40, and 1.5 times rate for each hour above 40.
pub fn weekly_pay(hours: u32, rate: u32) -> f64 {
    let overtime = hours.saturating_sub(40);
    f64::from(hours * rate) + f64::from(overtime * rate) / 2.0
}

pub fn card_total(cards: &[u32]) -> u32 {
    let total: u32 = cards.iter().sum();
    if cards.contains(&1) && total <= 11 {
        total + 10
    } else {
        total
    }
}

pub fn stepped_unit_price_total(amount: u32) -> u32 {
    match amount {
        0..=10 => amount * 5,
        11..=100 => 50 + (amount - 10) * 4,
        _ => 410 + (amount - 100) * 3,
    }
}
