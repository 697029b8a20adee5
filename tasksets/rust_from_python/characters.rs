//! Characters: Rust for the tasks of python-functions.

/// Return true if the character is a letter, else false.
pub fn is_letter(character: char) -> bool {
    character.is_alphabetic()
}

/// Return true if text is exactly one of the digits 0 to 9, else false.
pub fn is_single_digit(text: &str) -> bool {
    matches!(text.as_bytes(), [b'0'..=b'9'])
}

/// Return true if the single character is one of a, e, i, o, u in lower or upper case, else false.
pub fn is_vowel(character: char) -> bool {
    matches!(character.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u')
}

/// Return true if the single character is a letter other than a, e, i, o, u in either case, else false.
pub fn is_consonant(character: char) -> bool {
    character.is_alphabetic() && !"aeiouAEIOU".contains(character)
}

pub fn code_of_character(character: char) -> u32 {
    character as u32
}

/// Return the character with the given Unicode code number, or None if there is no such character.
pub fn character_from_code(code: u32) -> Option<char> {
    char::from_u32(code)
}

pub fn letter_position_in_alphabet(letter: char) -> u32 {
    letter as u32 - 'a' as u32 + 1
}

pub fn letter_at_alphabet_position(position: u8) -> char {
    (b'a' + position - 1) as char
}

pub fn swap_letter_case(text: &str) -> String {
    let swap = |c: char| {
        if c.is_ascii_uppercase() {
            c.to_ascii_lowercase()
        } else {
            c.to_ascii_uppercase()
        }
    };
    text.chars().map(swap).collect()
}

pub fn uppercase_first_letter(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

pub fn count_digit_characters(text: &str) -> usize {
    text.chars().filter(char::is_ascii_digit).count()
}

pub fn count_uppercase(text: &str) -> usize {
    text.chars().filter(|c| c.is_uppercase()).count()
}

pub fn count_vowels(text: &str) -> usize {
    let mut count = 0;
    for c in text.to_lowercase().chars() {
        if let 'a' | 'e' | 'i' | 'o' | 'u' = c {
            count += 1;
        }
    }
    count
}

pub fn count_spaces(text: &str) -> usize {
    text.matches(' ').count()
}

pub fn keep_digits(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_digit()).collect()
}

pub fn keep_letters(text: &str) -> String {
    let mut letters = String::from(text);
    letters.retain(char::is_alphabetic);
    letters
}

pub fn remove_vowels(text: &str) -> String {
    text.chars()
        .filter(|&c| !"aeiouAEIOU".contains(c))
        .collect()
}

/// Return true if text is not empty and all of its characters are digits, else false.
pub fn only_digits(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// Return true if text contains at least one lower case letter, else false.
pub fn has_lowercase(text: &str) -> bool {
    text.chars().any(char::is_lowercase)
}

/// Return true if text contains at least one digit, else false.
pub fn has_digit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

/// Return true if the first character of text is an upper case letter, else false.
pub fn starts_with_capital(text: &str) -> bool {
    text.starts_with(char::is_uppercase)
}

pub fn letter_distance(first: char, second: char) -> u32 {
    (first as u32).abs_diff(second as u32)
}

/// Return true if the two letters are the same when upper and lower case are not distinguished, else false.
pub fn same_letter_any_case(first: char, second: char) -> bool {
    first.eq_ignore_ascii_case(&second)
}

pub fn change_case(text: &str, mode: &str) -> String {
    match mode {
        "upper" => text.to_uppercase(),
        _ => text.to_lowercase(),
    }
}

pub fn list_character_codes(text: &str) -> Vec<u32> {
    text.chars().map(u32::from).collect()
}

/// Return the string made of the characters with the given Unicode code numbers, in order. Numbers that are no
/// character are left out.
pub fn text_from_codes(codes: &[u32]) -> String {
    codes
        .iter()
        .filter_map(|&code| char::from_u32(code))
        .collect()
}

pub fn sum_of_digits_in_text(text: &str) -> u32 {
    text.chars().filter_map(|c| c.to_digit(10)).sum()
}

pub fn next_letter_wrapping(letter: char) -> char {
    match letter {
        'z' => 'a',
        _ => (letter as u8 + 1) as char,
    }
}

pub fn kind_of_character(character: char) -> &'static str {
    if character.is_alphabetic() {
        "letter"
    } else if character.is_ascii_digit() {
        "digit"
    } else {
        "other"
    }
}

/// Return a map with the keys "letters", "digits" and "others" and how many of each text contains.
pub fn count_character_kinds(text: &str) -> std::collections::BTreeMap<String, usize> {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let digits = text.chars().filter(|c| c.is_ascii_digit()).count();
    let others = text.chars().count() - letters - digits;
    std::collections::BTreeMap::from([
        ("letters".to_string(), letters),
        ("digits".to_string(), digits),
        ("others".to_string(), others),
    ])
}

/// Return a map from each character of text to how often it occurs.
pub fn character_counts(text: &str) -> std::collections::BTreeMap<char, usize> {
    let mut counts = std::collections::BTreeMap::new();
    for c in text.chars() {
        *counts.entry(c).or_insert(0) += 1;
    }
    counts
}

pub fn alternate_case(text: &str) -> String {
    let mut result = String::new();
    for (i, c) in text.chars().enumerate() {
        if i % 2 == 0 {
            result.extend(c.to_uppercase());
        } else {
            result.extend(c.to_lowercase());
        }
    }
    result
}

pub fn alphabet_value_of_word(word: &str) -> u32 {
    word.bytes()
        .map(|letter| u32::from(letter - b'a') + 1)
        .sum()
}

pub fn mask_vowels(text: &str) -> String {
    text.replace(|c| "aeiouAEIOU".contains(c), "*")
}

pub fn first_digit_in_text(text: &str) -> i32 {
    match text.chars().find_map(|c| c.to_digit(10)) {
        Some(digit) => digit as i32,
        None => -1,
    }
}

pub fn more_upper_than_lower(text: &str) -> String {
    use std::cmp::Ordering;

    let upper = text.chars().filter(|c| c.is_uppercase()).count();
    let lower = text.chars().filter(|c| c.is_lowercase()).count();
    let answer = match upper.cmp(&lower) {
        Ordering::Greater => "upper",
        Ordering::Less => "lower",
        Ordering::Equal => "equal",
    };
    answer.to_string()
}

pub fn letters_from_to(start: char, end: char) -> String {
    (start..=end).collect()
}

/// Return true if every letter from a to z occurs in text, in either case, else false.
pub fn uses_whole_alphabet(text: &str) -> bool {
    let lower = text.to_lowercase();
    ('a'..='z').all(|letter| lower.contains(letter))
}

pub fn vowel_positions(text: &str) -> Vec<usize> {
    let mut positions = Vec::new();
    for (index, c) in text.chars().enumerate() {
        if "aeiou".contains(c.to_ascii_lowercase()) {
            positions.push(index);
        }
    }
    positions
}

/// Return true if the letters of a lower case word are in alphabetical order, repeats allowed, else false.
pub fn letters_in_order(word: &str) -> bool {
    word.as_bytes().windows(2).all(|pair| pair[0] <= pair[1])
}

/// Return true if password has at least 8 characters, an upper case letter and a digit, else false.
pub fn is_good_password(password: &str) -> bool {
    let long = password.chars().count() >= 8;
    let has_upper = password.chars().any(char::is_uppercase);
    let has_digit = password.chars().any(|c| c.is_ascii_digit());
    long && has_upper && has_digit
}

pub fn shift_letters(text: &str, shift: u32) -> String {
    let shift = (shift % 26) as u8;
    text.chars()
        .map(|c| match c {
            'a'..='z' => ((c as u8 - b'a' + shift) % 26 + b'a') as char,
            _ => c,
        })
        .collect()
}

pub fn camel_to_snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            snake.push('_');
            snake.extend(c.to_lowercase());
        } else {
            snake.push(c);
        }
    }
    snake
}

pub fn longest_digit_run(text: &str) -> usize {
    text.split(|c: char| !c.is_ascii_digit())
        .map(str::len)
        .max()
        .unwrap_or(0)
}

pub fn reverse_only_letters(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().filter(|c| c.is_alphabetic()).collect();
    let mut result = String::new();
    for c in text.chars() {
        match letters.last() {
            Some(&last) if c.is_alphabetic() => {
                result.push(last);
                letters.pop();
            }
            _ => result.push(c),
        }
    }
    result
}
