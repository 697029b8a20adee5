//! First strings: Rust for the tasks of python-functions.

/// Return s with its first letter in upper case and all others in lower case.
pub fn capitalize_string(s: &str) -> String {
    let mut letters = s.chars();
    match letters.next() {
        Some(first) => {
            let rest = letters.as_str().to_lowercase();
            format!("{}{rest}", first.to_uppercase())
        }
        None => String::new(),
    }
}

pub fn reverse_and_upper(s: &str) -> String {
    s.to_uppercase().chars().rev().collect()
}

pub fn strip_and_lower(s: &str) -> String {
    s.trim().to_lowercase()
}

/// Return s without spaces around it and in title case: each word starts with an upper case letter, all other letters
/// are in lower case.
pub fn strip_and_title(s: &str) -> String {
    let mut title = String::new();
    let mut new_word = true;
    for c in s.trim().chars() {
        if new_word {
            title.extend(c.to_uppercase());
        } else {
            title.extend(c.to_lowercase());
        }
        new_word = !c.is_alphabetic();
    }
    title
}

pub fn upper_first_n(s: &str, n: usize) -> String {
    s.chars().take(n).collect::<String>().to_uppercase()
}

/// Return the first character of s in upper case, or None if s is empty.
pub fn first_character_upper(s: &str) -> Option<char> {
    s.chars().next().map(|c| c.to_ascii_uppercase())
}

pub fn upper_and_repeat(s: &str, n: usize) -> String {
    s.to_uppercase().repeat(n)
}

pub fn repeat_first_character(s: &str, n: usize) -> String {
    match s.chars().next() {
        Some(first) => first.to_string().repeat(n),
        None => String::new(),
    }
}

/// Return the n-th character of s counted from the end, where 1 is the last one. Return None if s is too short.
pub fn character_from_end(s: &str, n: usize) -> Option<char> {
    s.chars().rev().nth(n.checked_sub(1)?)
}

pub fn every_nth_character(s: &str, n: usize) -> String {
    s.chars().step_by(n).collect()
}

pub fn reversed_then_string(s: &str) -> String {
    s.chars().rev().chain(s.chars()).collect()
}

pub fn concat_three_strings(a: &str, b: &str, c: &str) -> String {
    format!("{a}{b}{c}")
}

pub fn surround_with(s: &str, c: &str) -> String {
    format!("{c}{s}{c}")
}

pub fn add_prefix_to_all(words: &[&str], prefix: &str) -> Vec<String> {
    words.iter().map(|word| format!("{prefix}{word}")).collect()
}

pub fn double_length(s: &str) -> usize {
    2 * s.chars().count()
}

/// Return the index of the last character of s, which is not empty.
pub fn last_index(s: &str) -> usize {
    s.chars().count() - 1
}

pub fn stripped_length(s: &str) -> usize {
    s.trim().chars().count()
}

pub fn shorter_string(a: &str, b: &str) -> String {
    let shorter = if b.chars().count() < a.chars().count() {
        b
    } else {
        a
    };
    shorter.to_string()
}

/// Return true if s has exactly n characters.
pub fn has_length(s: &str, n: usize) -> bool {
    s.chars().count() == n
}

/// Return true if s has only spaces or is empty.
pub fn is_blank_string(s: &str) -> bool {
    s.trim().is_empty()
}

pub fn count_first_character(s: &str) -> usize {
    match s.chars().next() {
        Some(first) => s.chars().filter(|&c| c == first).count(),
        None => 0,
    }
}

pub fn count_lowercase(s: &str) -> usize {
    s.chars().filter(|c| c.is_lowercase()).count()
}

pub fn count_letters(s: &str) -> usize {
    let mut letters = 0;
    for c in s.chars() {
        if c.is_alphabetic() {
            letters += 1;
        }
    }
    letters
}

/// Return the index of c in s, searching from the index start, or -1 if c is not there.
pub fn find_from_index(s: &str, c: char, start: usize) -> i64 {
    for (i, letter) in s.chars().enumerate().skip(start) {
        if letter == c {
            return i as i64;
        }
    }
    -1
}

pub fn replace_first(s: &str, old: &str, new: &str) -> String {
    s.replacen(old, new, 1)
}

pub fn remove_character(s: &str, c: char) -> String {
    s.chars().filter(|&letter| letter != c).collect()
}

pub fn strip_character(s: &str, c: char) -> &str {
    s.trim_matches(c)
}

pub fn strip_left_character(s: &str, c: char) -> &str {
    s.trim_start_matches(c)
}

pub fn strip_right_character(s: &str, c: char) -> &str {
    s.trim_end_matches(c)
}

pub fn center_string(s: &str, width: usize) -> String {
    format!("{s:^width$}")
}

pub fn split_string(s: &str, sep: char) -> Vec<&str> {
    s.split(sep).collect()
}

pub fn count_parts(s: &str, sep: char) -> usize {
    s.split(sep).count()
}

pub fn text_before(s: &str, sep: char) -> &str {
    match s.split_once(sep) {
        Some((before, _)) => before,
        None => s,
    }
}

pub fn first_n_words(s: &str, n: usize) -> Vec<&str> {
    s.split_whitespace().take(n).collect()
}

pub fn reverse_word_list(s: &str) -> Vec<&str> {
    s.split_whitespace().rev().collect()
}

pub fn upper_words(s: &str) -> Vec<String> {
    s.split_whitespace().map(str::to_uppercase).collect()
}

pub fn count_word(s: &str, word: &str) -> usize {
    s.split_whitespace().filter(|&w| w == word).count()
}

/// Return true if word is one of the words of s.
pub fn is_word_in(s: &str, word: &str) -> bool {
    s.split_whitespace().any(|w| w == word)
}

pub fn remove_extra_spaces(s: &str) -> String {
    let words: Vec<&str> = s.split_whitespace().collect();
    words.join(" ")
}

pub fn join_strings(words: &[&str], sep: &str) -> String {
    words.join(sep)
}

pub fn join_words_upper(words: &[&str]) -> String {
    words.join(" ").to_uppercase()
}

pub fn strip_each_word(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.trim().to_string()).collect()
}

pub fn sum_as_string(a: i64, b: i64) -> String {
    (a + b).to_string()
}

pub fn reverse_number(n: u64) -> String {
    n.to_string().chars().rev().collect()
}

pub fn repeat_number(n: u64, times: usize) -> String {
    n.to_string().repeat(times)
}

pub fn string_with_number(s: &str, n: i64) -> String {
    format!("{s}{n}")
}

/// Return two times the integer in the string s, or None if s is not an integer.
pub fn double_number_string(s: &str) -> Option<i64> {
    match s.parse::<i64>() {
        Ok(n) => Some(2 * n),
        Err(_) => None,
    }
}

/// Return true if s is in lower case.
pub fn is_lower_case(s: &str) -> bool {
    let letters = s.chars().any(char::is_alphabetic);
    letters && !s.chars().any(char::is_uppercase)
}

/// Return true if s is in title case: each word starts with an upper case letter and has no other one.
pub fn is_title_case(s: &str) -> bool {
    let title_word = |word: &str| {
        let mut letters = word.chars();
        letters.next().is_some_and(char::is_uppercase) && letters.all(|c| !c.is_uppercase())
    };
    !s.is_empty() && s.split_whitespace().all(title_word)
}

/// Return true if s has only letters and digits.
pub fn is_alphanumeric(s: &str) -> bool {
    !s.is_empty() && s.chars().all(char::is_alphanumeric)
}

/// Return true if b is a reversed.
pub fn is_reverse(a: &str, b: &str) -> bool {
    a.chars().rev().eq(b.chars())
}

/// Return true if the last character of s is a digit.
pub fn ends_with_digit(s: &str) -> bool {
    s.ends_with(|c: char| c.is_ascii_digit())
}

/// Return a list of the lower case vowels in s, in order.
pub fn list_vowels(s: &str) -> Vec<char> {
    s.chars().filter(|&c| "aeiou".contains(c)).collect()
}

pub fn greet_with(greeting: &str, name: &str) -> String {
    format!("{greeting}, {name}!")
}

pub fn shout_hello(name: &str) -> String {
    format!("HELLO {}", name.to_uppercase())
}

pub fn describe_name_length(name: &str) -> String {
    let length = name.chars().count();
    format!("{name} has {length} letters")
}

pub fn remove_last_n(s: &str, n: usize) -> String {
    let length = s.chars().count();
    s.chars().take(length.saturating_sub(n)).collect()
}

pub fn text_after(s: &str, sep: char) -> &str {
    if let Some((_, after)) = s.split_once(sep) {
        after
    } else {
        ""
    }
}

/// Return true if s starts with a lower case vowel.
pub fn starts_with_vowel(s: &str) -> bool {
    s.starts_with(['a', 'e', 'i', 'o', 'u'])
}

pub fn join_reversed(words: &[&str]) -> String {
    let mut reversed = words.to_vec();
    reversed.reverse();
    reversed.join(" ")
}

pub fn sorted_words(s: &str) -> Vec<&str> {
    let mut words: Vec<&str> = s.split_whitespace().collect();
    words.sort_unstable();
    words
}

/// Return s with its first letter in upper case, all others in lower case, and a "." at the end.
pub fn make_sentence(s: &str) -> String {
    let mut sentence = String::new();
    for (i, c) in s.chars().enumerate() {
        if i == 0 {
            sentence.extend(c.to_uppercase());
        } else {
            sentence.extend(c.to_lowercase());
        }
    }
    sentence.push('.');
    sentence
}

pub fn replace_spaces_with(s: &str, c: &str) -> String {
    s.replace(' ', c)
}

/// Return true if c occurs exactly n times in s.
pub fn occurs_n_times(s: &str, c: char, n: usize) -> bool {
    s.matches(c).count() == n
}

/// Return true if c occurs more than once in s.
pub fn occurs_more_than_once(s: &str, c: char) -> bool {
    s.chars().filter(|&letter| letter == c).nth(1).is_some()
}

pub fn indent_string(s: &str, n: usize) -> String {
    let spaces = " ".repeat(n);
    spaces + s
}

pub fn reverse_concat(a: &str, b: &str) -> String {
    a.chars().chain(b.chars()).rev().collect()
}

/// Return the digit of n at index i, counted from the left, as a character. Return None if n has too few digits.
pub fn digit_at(n: u64, i: usize) -> Option<char> {
    n.to_string().chars().nth(i)
}

/// Return the integer in the string s plus n, or None if s is not an integer.
pub fn add_to_number_string(s: &str, n: i64) -> Option<i64> {
    let number: i64 = s.parse().ok()?;
    Some(number + n)
}

/// Return the square of the integer in the string s, or None if s is not an integer.
pub fn square_number_string(s: &str) -> Option<i64> {
    s.parse::<i64>().ok().map(|n| n.pow(2))
}

pub fn longest_word(words: &[String]) -> &str {
    let mut longest = "";
    for word in words {
        if word.chars().count() > longest.chars().count() {
            longest = word;
        }
    }
    longest
}

/// Return the shortest word in words, or None if there are no words.
pub fn shortest_word(words: &[String]) -> Option<&String> {
    words.iter().min_by_key(|word| word.chars().count())
}

pub fn words_containing(words: &[String], c: char) -> Vec<String> {
    let mut found = Vec::new();
    for word in words {
        if word.contains(c) {
            found.push(word.clone());
        }
    }
    found
}

pub fn pad_left(s: &str, width: usize) -> String {
    format!("{s:>width$}")
}

pub fn upper_concat(a: &str, b: &str) -> String {
    a.to_uppercase() + &b.to_uppercase()
}
