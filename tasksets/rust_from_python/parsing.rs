//! Parsing: Rust for the tasks of python-functions.

/// Return the whole number written in text; spaces around it are allowed. Return None if text is not a whole number.
pub fn text_to_int(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

/// Return the number written in text as a float, or None if text is not a number.
pub fn text_to_float(text: &str) -> Option<f64> {
    text.parse().ok()
}

pub fn split_at_commas(line: &str) -> Vec<&str> {
    line.split(',').collect()
}

/// Return the whole numbers in line, which are separated by commas. Return None if a part is not a whole number.
pub fn comma_numbers(line: &str) -> Option<Vec<i64>> {
    line.split(',').map(|part| part.parse().ok()).collect()
}

/// Return the sum of the whole numbers in line, separated by spaces; an empty line gives 0. Words that are no number
/// are passed over.
pub fn sum_of_numbers_in_line(line: &str) -> i64 {
    line.split_whitespace()
        .filter_map(|word| word.parse::<i64>().ok())
        .sum()
}

/// Return the part of pair before its only equals sign, or None if there is no equals sign.
pub fn key_of_pair(pair: &str) -> Option<&str> {
    pair.split_once('=').map(|(key, _)| key)
}

pub fn value_of_pair(pair: &str) -> &str {
    match pair.split_once('=') {
        Some((_, value)) => value,
        None => "",
    }
}

/// Return the part of the e-mail address after the "@", or None if there is no "@".
pub fn email_domain(address: &str) -> Option<&str> {
    let (_, domain) = address.split_once('@')?;
    Some(domain)
}

pub fn file_extension(filename: &str) -> &str {
    match filename.rsplit_once('.') {
        Some((_, extension)) => extension,
        None => "",
    }
}

pub fn last_path_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Return the year of a date written as YYYY-MM-DD, as a number. Return None if the year is not a number.
pub fn year_of_date(date: &str) -> Option<i32> {
    let year = date.split('-').next()?;
    year.parse().ok()
}

/// Return the month of a date written as YYYY-MM-DD, as a number from 1 to 12. Return None if there is no such number.
pub fn month_of_date(date: &str) -> Option<u32> {
    date.split('-').nth(1)?.parse().ok()
}

/// Return how many minutes after midnight the time HH:MM is, or None if the time has another form.
pub fn clock_time_to_minutes(time: &str) -> Option<u32> {
    let (hours, minutes) = time.split_once(':')?;
    match (hours.parse::<u32>(), minutes.parse::<u32>()) {
        (Ok(hours), Ok(minutes)) => Some(hours * 60 + minutes),
        _ => None,
    }
}

/// Return true if text is "yes" in any mix of upper and lower case, else false.
pub fn parse_yes(text: &str) -> bool {
    text.eq_ignore_ascii_case("yes")
}

/// Return the whole number before the percent sign at the end of text, or None if text has another form.
pub fn percent_to_int(text: &str) -> Option<i64> {
    text.strip_suffix('%')?.parse().ok()
}

/// Return the whole number in text, which may have commas between groups of digits. Return None if text is not a whole
/// number.
pub fn parse_number_with_commas(text: &str) -> Option<i64> {
    let digits = text.replace(',', "");
    digits.parse().ok()
}

/// Return the number in text, written with a comma as the decimal mark, as a float. Return None if text is not a number.
pub fn parse_decimal_comma(text: &str) -> Option<f64> {
    text.replace(',', ".").parse::<f64>().ok()
}

pub fn binary_text_to_int(digits: &str) -> u64 {
    digits
        .chars()
        .fold(0, |number, digit| number * 2 + u64::from(digit == '1'))
}

/// Return the number whose hexadecimal digits, in lower or upper case, are given as text. Return None if another
/// character is in the text.
pub fn hex_text_to_int(digits: &str) -> Option<u32> {
    u32::from_str_radix(digits, 16).ok()
}

/// Return the field of line at the index, counting from 0; fields are separated by spaces. Return None if line has too
/// few fields.
pub fn field_at(line: &str, index: usize) -> Option<&str> {
    line.split_whitespace().nth(index)
}

pub fn count_semicolon_fields(line: &str) -> usize {
    line.matches(';').count() + 1
}

/// Return the price written after a dollar sign, as a float, or None if text has another form.
pub fn parse_price(text: &str) -> Option<f64> {
    let price = text.strip_prefix('$')?;
    price.parse().ok()
}

pub fn split_and_trim(line: &str) -> Vec<&str> {
    line.split(',').map(str::trim).collect()
}

/// Return width times height for a size written as WIDTHxHEIGHT, or None if size has another form.
pub fn area_of_size_text(size: &str) -> Option<u32> {
    let (width, height) = size.split_once('x')?;
    let width: u32 = width.parse().ok()?;
    let height: u32 = height.parse().ok()?;
    Some(width * height)
}

/// Return the largest of the whole numbers in line, which are separated by spaces. Return None if there are no numbers.
pub fn largest_number_in_line(line: &str) -> Option<i64> {
    line.split_whitespace()
        .filter_map(|part| part.parse().ok())
        .max()
}

/// Return a map of the key=value pairs in line, separated by semicolons; an empty line gives an empty map.
pub fn parse_pairs(line: &str) -> std::collections::BTreeMap<String, String> {
    let mut pairs = std::collections::BTreeMap::new();
    for part in line.split(';') {
        if let Some((key, value)) = part.split_once('=') {
            pairs.insert(key.to_string(), value.to_string());
        }
    }
    pairs
}

pub fn int_or_zero(text: &str) -> i64 {
    text.parse().unwrap_or(0)
}

/// Return the words of text that consist of digits only, as numbers.
pub fn numbers_among_words(text: &str) -> Vec<u64> {
    text.split_whitespace()
        .filter(|word| word.chars().all(|c| c.is_ascii_digit()))
        .filter_map(|word| word.parse().ok())
        .collect()
}

/// Return the three numbers of a colour written as "#" and two hexadecimal digits each. Return None if the colour has
/// another form.
pub fn parse_hex_color(color: &str) -> Option<(u8, u8, u8)> {
    let digits = color.strip_prefix('#')?;
    let number = |start: usize| u8::from_str_radix(digits.get(start..start + 2)?, 16).ok();
    Some((number(0)?, number(2)?, number(4)?))
}

/// Return the number of seconds in a duration written as minutes, a colon and seconds. Return None if it has another
/// form.
pub fn duration_to_seconds(duration: &str) -> Option<u64> {
    let mut parts = duration.split(':');
    let minutes: u64 = parts.next()?.parse().ok()?;
    let seconds: u64 = parts.next()?.parse().ok()?;
    Some(minutes * 60 + seconds)
}

pub fn strip_comment(line: &str) -> &str {
    let code = match line.find('#') {
        Some(start) => &line[..start],
        None => line,
    };
    code.trim_end()
}

/// Return the result of two non-negative whole numbers with one "+", "-" or "*" between them. Return None if the
/// expression has another form.
pub fn evaluate_simple(expression: &str) -> Option<i64> {
    let position = expression.find(['+', '-', '*'])?;
    let left: i64 = expression[..position].parse().ok()?;
    let right: i64 = expression[position + 1..].parse().ok()?;
    match expression.as_bytes()[position] {
        b'+' => Some(left + right),
        b'-' => Some(left - right),
        _ => Some(left * right),
    }
}

/// Return all whole numbers of a range written as first-last, both included; a lone number gives itself. Return None if
/// text has another form.
pub fn expand_range(text: &str) -> Option<Vec<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let first: u32 = first.parse().ok()?;
    let last: u32 = last.parse().ok()?;
    Some((first..=last).collect())
}

/// Return the host of the url: the part after "://" and before the next slash, if there is one. Return None if the url
/// has no "://".
pub fn host_of_url(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split('/').next()
}

/// Return true if text is four whole numbers from 0 to 255 with dots between them, else false.
pub fn is_ip_address(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let is_byte = |part: &&str| !part.starts_with('+') && part.parse::<u8>().is_ok();
    parts.len() == 4 && parts.iter().all(is_byte)
}

/// Return true if text can be read as a number of type f64, else false.
pub fn is_number_text(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

/// Return a map from each field of the header to the field at the same place in the row (comma between).
pub fn csv_row_to_dict(header: &str, row: &str) -> std::collections::BTreeMap<String, String> {
    let names = header.split(',').map(String::from);
    let fields = row.split(',').map(String::from);
    names.zip(fields).collect()
}

/// Return the field at the index, counting from 0, of each comma-separated row. Rows that are too short are left out.
pub fn csv_column(rows: &[&str], index: usize) -> Vec<String> {
    rows.iter()
        .filter_map(|row| row.split(',').nth(index))
        .map(str::to_string)
        .collect()
}

pub fn find_tags(text: &str) -> Vec<&str> {
    text.split_whitespace()
        .filter_map(|word| word.strip_prefix('@'))
        .collect()
}

/// Return the rows of whole numbers in text: semicolons separate rows, spaces separate numbers. Return None if a part is
/// not a whole number.
pub fn parse_matrix(text: &str) -> Option<Vec<Vec<i64>>> {
    let mut matrix = Vec::new();
    for line in text.split(';') {
        let mut row = Vec::new();
        for part in line.split_whitespace() {
            row.push(part.parse().ok()?);
        }
        matrix.push(row);
    }
    Some(matrix)
}

pub fn list_options(command: &str) -> Vec<&str> {
    let mut options = Vec::new();
    for word in command.split_whitespace() {
        if let Some(option) = word.strip_prefix("--") {
            options.push(option);
        }
    }
    options
}

/// Return all numbers made of neighbouring digits in text, in order.
pub fn extract_numbers(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

/// Return the total seconds of parts like 1h, 30m and 5s separated by spaces; empty text gives 0. Return None if a part
/// has another form.
pub fn parse_duration(text: &str) -> Option<u64> {
    let mut total = 0;
    for part in text.split_whitespace() {
        let unit = match part.chars().next_back()? {
            'h' => 3600,
            'm' => 60,
            's' => 1,
            _ => return None,
        };
        let amount: u64 = part[..part.len() - 1].parse().ok()?;
        total += amount * unit;
    }
    Some(total)
}

/// Return all page numbers in a comma-separated list of pages and ranges like 3-5, both ends included. Return None if a
/// part is no page and no range.
pub fn parse_page_list(text: &str) -> Option<Vec<u32>> {
    let mut pages = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            Some((first, last)) => {
                let first: u32 = first.parse().ok()?;
                pages.extend(first..=last.parse().ok()?);
            }
            None => pages.push(part.parse().ok()?),
        }
    }
    Some(pages)
}

/// Return a map from each name to the sum of its numbers; each line is a name, a space and a number.
pub fn total_per_name(lines: &[&str]) -> std::collections::BTreeMap<String, i64> {
    let mut totals = std::collections::BTreeMap::new();
    for line in lines {
        if let Some((name, number)) = line.split_once(' ') {
            *totals.entry(name.to_string()).or_insert(0) += number.parse().unwrap_or(0);
        }
    }
    totals
}
