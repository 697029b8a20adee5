//! Strings: Rust for the tasks of python-functions.

pub fn reverse_text(text: &str) -> String {
    text.chars().rev().collect()
}

pub fn repeat_text(text: &str, times: usize) -> String {
    text.repeat(times)
}

pub fn first_characters(text: &str, count: usize) -> String {
    text.chars().take(count).collect()
}

pub fn last_characters(text: &str, count: usize) -> String {
    let length = text.chars().count();
    let start = length.saturating_sub(count);
    text.chars().skip(start).collect()
}

pub fn strip_both_ends(text: &str) -> &str {
    let mut letters = text.chars();
    letters.next();
    letters.next_back();
    letters.as_str()
}

pub fn every_second_character(text: &str) -> String {
    text.chars().step_by(2).collect()
}

pub fn count_letter_in_text(text: &str, letter: char) -> usize {
    text.chars().filter(|&c| c == letter).count()
}

pub fn remove_spaces(text: &str) -> String {
    text.replace(' ', "")
}

/// Return true if text reads the same forwards and backwards, else false. Empty text gives true.
pub fn is_palindrome(text: &str) -> bool {
    text.chars().eq(text.chars().rev())
}

/// Return true if part occurs somewhere in text, else false.
pub fn contains_text(text: &str, part: &str) -> bool {
    text.contains(part)
}

pub fn longer_text(first: &str, second: &str) -> String {
    if first.chars().count() >= second.chars().count() {
        first.to_string()
    } else {
        second.to_string()
    }
}

pub fn sort_characters(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    letters.sort_unstable();
    letters.into_iter().collect()
}

pub fn count_distinct_characters(text: &str) -> usize {
    use std::collections::HashSet;

    text.chars().collect::<HashSet<char>>().len()
}

pub fn find_position(text: &str, letter: char) -> i64 {
    match text.chars().position(|c| c == letter) {
        Some(index) => index as i64,
        None => -1,
    }
}

pub fn find_last_position(text: &str, letter: char) -> i64 {
    let mut last = -1;
    for (index, c) in text.chars().enumerate() {
        if c == letter {
            last = index as i64;
        }
    }
    last
}

pub fn replace_letter(text: &str, old: char, new: &str) -> String {
    text.replace(old, new)
}

pub fn trim_spaces(text: &str) -> &str {
    text.trim_matches(' ')
}

pub fn drop_prefix(text: &str, prefix: &str) -> String {
    text.strip_prefix(prefix).unwrap_or(text).to_string()
}

pub fn drop_suffix(text: &str, suffix: &str) -> String {
    match text.strip_suffix(suffix) {
        Some(rest) => rest.to_string(),
        None => text.to_string(),
    }
}

pub fn remove_character_at(text: &str, index: usize) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    letters.remove(index);
    letters.iter().collect()
}

pub fn insert_text_at(text: &str, index: usize, part: &str) -> String {
    let before: String = text.chars().take(index).collect();
    let after: String = text.chars().skip(index).collect();
    before + part + &after
}

pub fn mirror_text(text: &str) -> String {
    let reversed: String = text.chars().rev().collect();
    format!("{text}{reversed}")
}

pub fn rotate_text_left(text: &str, count: usize) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    letters.rotate_left(count);
    letters.into_iter().collect()
}

/// Return true if the first and the last character of the non-empty text are equal, else false.
pub fn same_first_and_last(text: &str) -> bool {
    text.chars().next() == text.chars().next_back()
}

/// Return true if the two strings have the same characters in any order, equally often, else false.
pub fn are_anagrams(first: &str, second: &str) -> bool {
    let mut a: Vec<char> = first.chars().collect();
    let mut b: Vec<char> = second.chars().collect();
    a.sort_unstable();
    b.sort_unstable();
    a == b
}

pub fn middle_part(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let length = letters.len();
    if length == 0 {
        return String::new();
    }
    letters[(length - 1) / 2..=length / 2].iter().collect()
}

pub fn double_each_character(text: &str) -> String {
    text.chars().flat_map(|c| [c, c]).collect()
}

pub fn remove_listed_characters(text: &str, unwanted: &str) -> String {
    text.chars().filter(|&c| !unwanted.contains(c)).collect()
}

pub fn remove_duplicate_characters(text: &str) -> String {
    let mut result = String::new();
    for c in text.chars() {
        if !result.contains(c) {
            result.push(c);
        }
    }
    result
}

pub fn common_prefix_of_two(first: &str, second: &str) -> String {
    first
        .chars()
        .zip(second.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a)
        .collect()
}

pub fn count_differing_positions(first: &str, second: &str) -> usize {
    first
        .chars()
        .zip(second.chars())
        .filter(|(a, b)| a != b)
        .count()
}

pub fn split_into_chunks(text: &str, size: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters
        .chunks(size)
        .map(|chunk| chunk.iter().collect())
        .collect()
}

pub fn interleave_strings(first: &str, second: &str) -> String {
    let mut result = String::new();
    for (a, b) in first.chars().zip(second.chars()) {
        result.push(a);
        result.push(b);
    }
    result
}

pub fn all_positions(text: &str, letter: char) -> Vec<usize> {
    text.chars()
        .enumerate()
        .filter(|&(_, c)| c == letter)
        .map(|(index, _)| index)
        .collect()
}

pub fn count_overlapping(text: &str, part: &str) -> usize {
    text.char_indices()
        .filter(|&(start, _)| text[start..].starts_with(part))
        .count()
}

/// Return the character that occurs most often in text; of equals, the earliest one. Empty text gives None.
pub fn most_common_character(text: &str) -> Option<char> {
    let mut best = None;
    let mut most = 0;
    for c in text.chars() {
        let count = text.matches(c).count();
        if count > most {
            most = count;
            best = Some(c);
        }
    }
    best
}

pub fn first_unique_character(text: &str) -> String {
    for c in text.chars() {
        if text.matches(c).count() == 1 {
            return c.to_string();
        }
    }
    String::new()
}

pub fn swap_neighbours(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for pair in letters.chunks_exact_mut(2) {
        pair.swap(0, 1);
    }
    letters.into_iter().collect()
}

pub fn shared_characters(first: &str, second: &str) -> String {
    use std::collections::BTreeSet;

    let a: BTreeSet<char> = first.chars().collect();
    let b: BTreeSet<char> = second.chars().collect();
    a.intersection(&b).collect()
}

/// Return the part of text between the first opening mark and the next closing mark, or None if a mark is missing.
pub fn text_between(text: &str, opening: char, closing: char) -> Option<&str> {
    let (_, rest) = text.split_once(opening)?;
    let (inside, _) = rest.split_once(closing)?;
    Some(inside)
}

pub fn growing_prefixes(text: &str) -> Vec<String> {
    let mut prefix = String::new();
    let mut prefixes = Vec::new();
    for c in text.chars() {
        prefix.push(c);
        prefixes.push(prefix.clone());
    }
    prefixes
}

pub fn run_length_text(text: &str) -> String {
    let mut result = String::new();
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let mut length = 1;
        while letters.next_if_eq(&c).is_some() {
            length += 1;
        }
        result.push_str(&format!("{c}{length}"));
    }
    result
}

pub fn longest_run_length(text: &str) -> usize {
    let mut best = 0;
    let mut current = 0;
    let mut previous = None;
    for c in text.chars() {
        current = if previous == Some(c) { current + 1 } else { 1 };
        best = best.max(current);
        previous = Some(c);
    }
    best
}

/// Return true if every "(" in text has a matching later ")" and no ")" is left over, else false.
pub fn brackets_balanced(text: &str) -> bool {
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

/// Return true if the characters of part occur in text in the same order, gaps allowed, else false.
pub fn is_subsequence(part: &str, text: &str) -> bool {
    let mut letters = text.chars();
    part.chars().all(|wanted| letters.any(|c| c == wanted))
}
