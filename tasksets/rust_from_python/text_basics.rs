//! Text basics: Rust for the tasks of python-functions.

pub fn all_upper_case(text: &str) -> String {
    text.to_uppercase()
}

pub fn all_lower_case(text: &str) -> String {
    text.to_lowercase()
}

pub fn add_exclamation(text: &str) -> String {
    format!("{text}!")
}

pub fn dear_name(name: &str) -> String {
    format!("Dear {name}")
}

/// Return the first character of word, or None if word is empty.
pub fn first_letter_of(word: &str) -> Option<char> {
    word.chars().next()
}

/// Return the last character of word, or None if word is empty.
pub fn last_letter_of(word: &str) -> Option<char> {
    word.chars().next_back()
}

/// Return the second character of word, or None if word is shorter.
pub fn second_letter_of(word: &str) -> Option<char> {
    word.chars().nth(1)
}

pub fn cut_first_letter(word: &str) -> &str {
    let mut letters = word.chars();
    letters.next();
    letters.as_str()
}

pub fn cut_last_letter(word: &str) -> String {
    let mut shorter = word.to_string();
    shorter.pop();
    shorter
}

pub fn first_three_letters(word: &str) -> String {
    word.chars().take(3).collect()
}

pub fn last_two_letters(word: &str) -> String {
    let length = word.chars().count();
    word.chars().skip(length.saturating_sub(2)).collect()
}

pub fn length_of_text(text: &str) -> usize {
    text.chars().count()
}

pub fn glue_words(first: &str, second: &str) -> String {
    first.to_string() + second
}

pub fn full_name(given: &str, family: &str) -> String {
    format!("{given} {family}")
}

pub fn join_with_dash(first: &str, second: &str) -> String {
    [first, second].join("-")
}

pub fn say_twice(text: &str) -> String {
    text.repeat(2)
}

pub fn row_of_stars(count: usize) -> String {
    "*".repeat(count)
}

/// Return text with every word starting in upper case, and all other letters in lower case.
pub fn words_with_capitals(text: &str) -> String {
    let mut result = String::new();
    let mut inside_word = false;
    for c in text.chars() {
        if inside_word {
            result.extend(c.to_lowercase());
        } else {
            result.extend(c.to_uppercase());
        }
        inside_word = c.is_alphabetic();
    }
    result
}

pub fn cut_leading_spaces(text: &str) -> &str {
    text.trim_start()
}

pub fn cut_trailing_spaces(text: &str) -> &str {
    text.trim_end()
}

pub fn words_of(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

pub fn split_at_dashes(text: &str) -> Vec<&str> {
    text.split('-').collect()
}

pub fn spaces_to_underscores(text: &str) -> String {
    text.replace(' ', "_")
}

pub fn remove_dashes(text: &str) -> String {
    let mut result = String::new();
    for c in text.chars() {
        if c != '-' {
            result.push(c);
        }
    }
    result
}

pub fn count_letter_a(text: &str) -> usize {
    text.matches('a').count()
}

/// Return the index of the first space in text, or None if there is no space.
pub fn position_of_first_space(text: &str) -> Option<usize> {
    text.chars().position(|c| c == ' ')
}

pub fn in_quotes(text: &str) -> String {
    format!("'{text}'")
}

/// Return the character of word at index, or None if word is too short.
pub fn letter_at_index(word: &str, index: usize) -> Option<char> {
    word.chars().nth(index)
}

pub fn text_from_index(text: &str, start: usize) -> String {
    text.chars().skip(start).collect()
}

pub fn text_between_indexes(text: &str, start: usize, end: usize) -> String {
    text.chars().take(end).skip(start).collect()
}

pub fn letters_as_list(word: &str) -> Vec<char> {
    word.chars().collect()
}

pub fn number_as_text(number: i64) -> String {
    number.to_string()
}

pub fn distance_label(distance: u32) -> String {
    format!("{distance} km")
}

pub fn text_file_name(name: &str) -> String {
    let mut file_name = String::from(name);
    file_name.push_str(".txt");
    file_name
}

pub fn every_third_letter(text: &str) -> String {
    text.chars().step_by(3).collect()
}

/// Return the first word of text, or None if text has no words.
pub fn first_word_of(text: &str) -> Option<&str> {
    text.split_whitespace().next()
}

/// Return the last word of text, or empty text if there are no words.
pub fn last_word_of(text: &str) -> &str {
    text.split_whitespace().next_back().unwrap_or("")
}

/// Return the maximum character of word, or None if word is empty.
pub fn highest_letter(word: &str) -> Option<char> {
    word.chars().max()
}

pub fn words_to_sentence(words: &[&str]) -> String {
    words.join(" ")
}

pub fn letters_to_word(letters: &[char]) -> String {
    letters.iter().collect()
}

pub fn two_initials(given: &str, family: &str) -> String {
    given
        .chars()
        .take(1)
        .chain(family.chars().take(1))
        .collect()
}

pub fn plural_with_s(word: &str) -> String {
    word.to_owned() + "s"
}

pub fn email_address(name: &str, site: &str) -> String {
    format!("{name}@{site}")
}

pub fn total_length(first: &str, second: &str) -> usize {
    first.chars().count() + second.chars().count()
}

pub fn second_then_first(first: &str, second: &str) -> String {
    let mut glued = second.to_string();
    glued.push_str(first);
    glued
}
