//! Formatting: Rust for the tasks of python-functions.

pub fn make_greeting(name: &str) -> String {
    format!("Hello, {name}!")
}

pub fn pad_number_with_zeros(number: u64, width: usize) -> String {
    format!("{number:0width$}")
}

pub fn pad_right_with_spaces(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

pub fn pad_left_with_dots(text: &str, width: usize) -> String {
    format!("{text:.>width$}")
}

pub fn join_with_commas(items: &[&str]) -> String {
    items.join(", ")
}

pub fn item_with_count(item: &str, count: u32) -> String {
    format!("{item} x{count}")
}

pub fn wrap_in_brackets(text: &str) -> String {
    format!("[{text}]")
}

pub fn format_two_decimals(number: f64) -> String {
    format!("{number:.2}")
}

pub fn format_thousands(number: i64) -> String {
    let mut rest = number.unsigned_abs();
    let mut groups = Vec::new();
    while rest >= 1000 {
        groups.push(format!("{:03}", rest % 1000));
        rest /= 1000;
    }
    groups.push(rest.to_string());
    groups.reverse();
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", groups.join(","))
}

pub fn format_clock_time(hour: u32, minute: u32) -> String {
    format!("{hour:02}:{minute:02}")
}

pub fn format_iso_date(year: u32, month: u32, day: u32) -> String {
    format!("{year:04}-{month:02}-{day:02}")
}

pub fn last_name_first(first_name: &str, last_name: &str) -> String {
    format!("{last_name}, {first_name}")
}

pub fn format_point(x: i64, y: i64) -> String {
    format!("({x}, {y})")
}

pub fn key_value_line(key: &str, value: &str) -> String {
    let mut line = key.to_string();
    line.push('=');
    line += value;
    line
}

pub fn numbers_joined_by_dashes(numbers: &[i64]) -> String {
    let texts: Vec<String> = numbers.iter().map(|number| number.to_string()).collect();
    texts.join("-")
}

pub fn format_percent(fraction: f64) -> String {
    format!("{:.0}%", fraction * 100.0)
}

pub fn to_binary_text(number: u64) -> String {
    format!("{number:b}")
}

pub fn center_in_stars(text: &str, width: usize) -> String {
    format!("{text:*^width$}")
}

pub fn underline_length_line(title: &str) -> String {
    "=".repeat(title.chars().count())
}

pub fn number_with_sign(number: i64) -> String {
    format!("{number:+}")
}

pub fn wrap_in_tag(tag: &str, text: &str) -> String {
    format!("<{tag}>{text}</{tag}>")
}

/// Return "[x] " followed by the item if done is true, else "[ ] " followed by the item.
pub fn checklist_line(item: &str, done: bool) -> String {
    let mark = if done { 'x' } else { ' ' };
    format!("[{mark}] {item}")
}

pub fn count_with_plural(count: u32, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    }
}

pub fn addition_sentence(first: i64, second: i64) -> String {
    format!("{first} + {second} = {}", first + second)
}

pub fn absolute_path_text(parts: &[&str]) -> String {
    format!("/{}", parts.join("/"))
}

pub fn join_with_and(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => only.to_string(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

pub fn number_the_items(items: &[&str]) -> Vec<String> {
    items
        .iter()
        .enumerate()
        .map(|(i, item)| format!("{}. {item}", i + 1))
        .collect()
}

pub fn shorten_with_dots(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_string();
    }
    let start: String = text.chars().take(limit - 3).collect();
    start + "..."
}

pub fn format_minutes_seconds(seconds: u32) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

pub fn ordinal_text(number: u32) -> String {
    let ending = match (number, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

pub fn mask_all_but_last_four(text: &str) -> String {
    let hidden = text.chars().count().saturating_sub(4);
    text.chars()
        .enumerate()
        .map(|(i, c)| if i < hidden { '*' } else { c })
        .collect()
}

pub fn score_lines(names: &[&str], scores: &[i64]) -> Vec<String> {
    names
        .iter()
        .zip(scores)
        .map(|(name, score)| format!("{name}: {score}"))
        .collect()
}

pub fn progress_bar(done: usize, total: usize) -> String {
    "#".repeat(done) + &"-".repeat(total - done)
}

pub fn star_triangle(height: i32) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    for _ in 0..height {
        row.push('*');
        rows.push(row.clone());
    }
    rows
}

pub fn initials_with_dots(name: &str) -> String {
    let mut initials = String::new();
    for word in name.split_whitespace() {
        if let Some(first) = word.chars().next() {
            initials.extend(first.to_uppercase());
            initials.push('.');
        }
    }
    initials
}

pub fn color_to_hex(red: u8, green: u8, blue: u8) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

pub fn describe_balance(amount: i64) -> String {
    use std::cmp::Ordering;

    match amount.cmp(&0) {
        Ordering::Less => format!("owes {}", amount.abs()),
        Ordering::Equal => "even".to_string(),
        Ordering::Greater => format!("has {amount}"),
    }
}

pub fn make_slug(title: &str) -> String {
    let lower = title.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.join("-")
}

pub fn fill_placeholder(template: &str, name: &str, value: &str) -> String {
    let slot = format!("{{{name}}}");
    template.replace(&slot, value)
}

pub fn repeat_with_dashes(word: &str, times: usize) -> String {
    vec![word; times].join("-")
}

pub fn describe_duration(seconds: u32) -> String {
    let parts = [
        (seconds / 3600, 'h'),
        (seconds / 60 % 60, 'm'),
        (seconds % 60, 's'),
    ];
    let texts: Vec<String> = parts
        .iter()
        .filter(|(value, _)| *value > 0)
        .map(|(value, unit)| format!("{value}{unit}"))
        .collect();
    if texts.is_empty() {
        "0s".to_string()
    } else {
        texts.join(" ")
    }
}

pub fn format_file_size(size: u64) -> String {
    const KB: u64 = 1024;
    const MB: u64 = 1024 * KB;

    if size < KB {
        format!("{size} B")
    } else if size < MB {
        format!("{} KB", size / KB)
    } else {
        format!("{} MB", size / MB)
    }
}

pub fn compress_ranges(numbers: &[i64]) -> String {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let texts: Vec<String> = runs
        .iter()
        .map(|(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        })
        .collect();
    texts.join(",")
}

pub fn align_columns(rows: &[Vec<String>]) -> Vec<String> {
    let width = |column: usize| {
        let lengths = rows.iter().map(|row| row[column].chars().count());
        lengths.max().unwrap_or(0)
    };
    rows.iter()
        .map(|row| {
            let cells = row.iter().enumerate();
            let padded: Vec<String> = cells
                .map(|(i, cell)| format!("{cell:<width$}", width = width(i)))
                .collect();
            padded.join("|")
        })
        .collect()
}
