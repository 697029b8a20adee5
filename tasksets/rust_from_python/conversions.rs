//! Conversions: Rust for the tasks of python-functions.

pub fn minutes_to_seconds(minutes: u64) -> u64 {
    minutes * 60
}

pub fn whole_minutes_in_seconds(seconds: u64) -> u64 {
    seconds / 60
}

pub fn days_and_hours_to_hours(days: u32, hours: u32) -> u32 {
    24 * days + hours
}

pub fn weeks_and_days_to_days(weeks: u32, days: u32) -> u32 {
    weeks * 7 + days
}

/// Return the given minutes as a pair (hours, minutes), where the minutes are below 60.
pub fn split_into_hours_and_minutes(minutes: u32) -> (u32, u32) {
    (minutes / 60, minutes % 60)
}

pub fn meters_to_centimeters(meters: i64) -> i64 {
    meters * 100
}

/// Return the weight in kilograms, as a float, of a weight in grams. One kilogram is 1000 grams.
pub fn grams_to_kilograms(grams: u32) -> f64 {
    f64::from(grams) / 1000.0
}

pub fn feet_and_inches_to_inches(feet: u64, inches: u64) -> u64 {
    const INCHES_PER_FOOT: u64 = 12;

    feet * INCHES_PER_FOOT + inches
}

pub fn celsius_to_fahrenheit(celsius: i32) -> f64 {
    f64::from(celsius) * 9.0 / 5.0 + 32.0
}

pub fn fahrenheit_to_celsius(fahrenheit: i32) -> f64 {
    f64::from(fahrenheit - 32) * 5.0 / 9.0
}

/// Return true if the whole number of degrees Celsius is -273 or more, else false.
pub fn is_possible_celsius(celsius: i32) -> bool {
    celsius >= -273
}

pub fn dollars_to_cents(dollars: i64, cents: i64) -> i64 {
    dollars * 100 + cents
}

pub fn exchange_money(amount: i64, rate: i64) -> i64 {
    amount * rate
}

pub fn share_to_percent(part: u32, whole: u32) -> f64 {
    f64::from(part) * 100.0 / f64::from(whole)
}

pub fn percent_of(percent: i64, amount: i64) -> f64 {
    (percent * amount) as f64 / 100.0
}

pub fn number_to_octal(number: u64) -> String {
    format!("{number:o}")
}

pub fn ones_in_binary(number: u64) -> u32 {
    number.count_ones()
}

pub fn number_to_hex(number: u64) -> String {
    format!("{number:x}")
}

/// Return the number that is written in text in the given base, which is from 2 to 36. Return None if text is not a
/// number in this base.
pub fn number_from_base(text: &str, base: u32) -> Option<i64> {
    i64::from_str_radix(text, base).ok()
}

pub fn character_to_code(character: char) -> u32 {
    u32::from(character)
}

pub fn letter_at_position(position: u8) -> char {
    char::from(b'a' + position - 1)
}

pub fn speed_from_trip(kilometers: u32, hours: u32) -> f64 {
    f64::from(kilometers) / f64::from(hours)
}

pub fn speed_to_kilometers_per_hour(meters_per_second: u32) -> f64 {
    f64::from(meters_per_second * 18) / 5.0
}

pub fn liters_to_milliliters(liters: u64, milliliters: u64) -> u64 {
    liters * 1_000 + milliliters
}

/// Return the given seconds as (hours, minutes, seconds), where minutes and seconds are below 60.
pub fn split_seconds(seconds: u32) -> (u32, u32, u32) {
    let hours = seconds / 3600;
    let minutes = seconds / 60 % 60;
    (hours, minutes, seconds % 60)
}

/// Return a number of hours such as 1.5 as a pair (hours, minutes) of two whole numbers.
pub fn decimal_hours_to_clock(hours: f64) -> (u32, u32) {
    let minutes = (hours * 60.0) as u32;
    (minutes / 60, minutes % 60)
}

/// Return the seconds in a text such as "3:07", with minutes before the colon and seconds after it. Return None if text
/// has another form.
pub fn track_time_to_seconds(text: &str) -> Option<u32> {
    let (minutes, seconds) = text.split_once(':')?;
    let minutes: u32 = minutes.parse().ok()?;
    let seconds: u32 = seconds.parse().ok()?;
    Some(minutes * 60 + seconds)
}

/// Return an amount of cents as text with a dollar sign, a point and two digits of cents, such as "$2.05".
pub fn cents_to_price(cents: u64) -> String {
    format!("${}.{:02}", cents / 100, cents % 100)
}

pub fn convert_celsius_list(temperatures: &[i32]) -> Vec<f64> {
    temperatures
        .iter()
        .map(|&t| f64::from(t) * 9.0 / 5.0 + 32.0)
        .collect()
}

/// Return degrees in the other scale: for scale 'C' convert Celsius to Fahrenheit, for 'F' the other way.
/// Fahrenheit is Celsius times 9, divided by 5, plus 32.
pub fn switch_temperature_scale(degrees: i32, scale: char) -> f64 {
    let degrees = f64::from(degrees);
    match scale {
        'C' => degrees * 9.0 / 5.0 + 32.0,
        _ => (degrees - 32.0) * 5.0 / 9.0,
    }
}

/// Return a length in millimeters. The unit is "mm", "cm" (10 mm), "m" (1000 mm) or "km" (1000000 mm); any other unit
/// gives None.
pub fn length_in_millimeters(amount: u64, unit: &str) -> Option<u64> {
    match unit {
        "mm" => Some(amount),
        "cm" => Some(amount * 10),
        "m" => Some(amount * 1_000),
        "km" => Some(amount * 1_000_000),
        _ => None,
    }
}

pub fn scale_recipe(amounts: &[u32], servings: u32, wanted: u32) -> Vec<u32> {
    let mut scaled = Vec::with_capacity(amounts.len());
    for amount in amounts {
        scaled.push(amount * wanted / servings);
    }
    scaled
}

/// Return the whole kilometers and " km" as text if meters is 1000 or more, else the meters and " m".
pub fn meters_as_text(meters: u32) -> String {
    if meters >= 1000 {
        format!("{} km", meters / 1000)
    } else {
        format!("{meters} m")
    }
}

pub fn total_hours_of_sessions(minutes: &[u32]) -> f64 {
    let total: u32 = minutes.iter().sum();
    f64::from(total) / 60.0
}

/// Return the days as text such as "2w 3d": the whole weeks with "w", a space and the days left with "d".
pub fn days_as_weeks_text(days: u32) -> String {
    let weeks = days / 7;
    let left = days % 7;
    format!("{weeks}w {left}d")
}

pub fn binary_with_width(number: u64, width: usize) -> String {
    format!("{number:0width$b}")
}

/// Return the number whose binary digits are the flags, with true for 1 and false for 0. No flags give 0.
pub fn flags_to_number(flags: &[bool]) -> u64 {
    flags
        .iter()
        .fold(0, |number, &flag| number * 2 + u64::from(flag))
}

/// Return the position in the alphabet of each letter of a word in small letters; 'a' is 1.
pub fn word_to_letter_positions(word: &str) -> Vec<u8> {
    word.bytes().map(|letter| letter - b'a' + 1).collect()
}

/// Return the number of pieces in all packs plus the loose ones. A "single" pack has 1 piece, a "pair" has 2 and a
/// "dozen" has 12; any other kind of pack gives None.
pub fn packs_to_pieces(packs: u32, loose: u32, kind: &str) -> Option<u32> {
    let pieces = match kind {
        "single" => 1,
        "pair" => 2,
        "dozen" => 12,
        _ => return None,
    };
    Some(packs * pieces + loose)
}

/// Return a text with one '*' for every full 20 points. Fewer than 20 points give an empty text.
pub fn points_to_stars(points: usize) -> String {
    "*".repeat(points / 20)
}

/// Return the digits of number in the given base, from 2 to 10, from left to right. The number 0 has the single
/// digit 0.
pub fn digits_in_base(mut number: u64, base: u64) -> Vec<u64> {
    let mut digits = vec![number % base];
    while number >= base {
        number /= base;
        digits.push(number % base);
    }
    digits.reverse();
    digits
}

pub fn coins_for_amount(mut amount: u32, coins: &[u32]) -> Vec<u32> {
    let mut counts = Vec::new();
    for coin in coins {
        counts.push(amount / coin);
        amount %= coin;
    }
    counts
}

/// Return a length given in the source unit as a float in the target unit. The units are "cm", "m" (100 cm) and "km"
/// (100000 cm); any other unit gives None.
pub fn convert_length(amount: u32, source: &str, target: &str) -> Option<f64> {
    let centimeters = |unit: &str| match unit {
        "cm" => Some(1.0),
        "m" => Some(100.0),
        "km" => Some(100_000.0),
        _ => None,
    };
    Some(f64::from(amount) * centimeters(source)? / centimeters(target)?)
}

/// Return number as short text: whole thousands with "K" from 1000, whole millions with "M" from 1000000.
/// A number below 1000 is written as it is.
pub fn short_count(number: u64) -> String {
    match number {
        0..=999 => number.to_string(),
        1_000..=999_999 => format!("{}K", number / 1_000),
        _ => format!("{}M", number / 1_000_000),
    }
}
