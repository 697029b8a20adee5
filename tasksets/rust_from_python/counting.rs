//! Counting: Rust for the tasks of python-functions.

pub fn times_in_list(numbers: &[i64], target: i64) -> usize {
    numbers.iter().filter(|&&number| number == target).count()
}

pub fn count_distinct_words(sentence: &str) -> usize {
    use std::collections::HashSet;

    let words: HashSet<&str> = sentence.split_whitespace().collect();
    words.len()
}

pub fn values_in_only_one_list(first: &[i64], second: &[i64]) -> Vec<i64> {
    use std::collections::BTreeSet;

    let first: BTreeSet<i64> = first.iter().copied().collect();
    let second: BTreeSet<i64> = second.iter().copied().collect();
    first.symmetric_difference(&second).copied().collect()
}

pub fn count_distinct_ignoring_case(words: &[&str]) -> usize {
    let mut lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    lower.sort();
    lower.dedup();
    lower.len()
}

/// Return true if all values in numbers are equal; also for an empty list. Otherwise return false.
pub fn all_values_equal(numbers: &[i64]) -> bool {
    numbers.windows(2).all(|pair| pair[0] == pair[1])
}

pub fn count_missing_values(values: &[Option<i64>]) -> usize {
    values.iter().filter(|value| value.is_none()).count()
}

pub fn count_other_values(numbers: &[i64], target: i64) -> usize {
    let mut count = 0;
    for &number in numbers {
        if number != target {
            count += 1;
        }
    }
    count
}

pub fn count_multiples(numbers: &[i64], divisor: i64) -> usize {
    numbers
        .iter()
        .filter(|&number| number % divisor == 0)
        .count()
}

pub fn count_words(text: &str) -> usize {
    text.split_whitespace().count()
}

pub fn count_sentence_ends(text: &str) -> usize {
    text.matches(['.', '!', '?']).count()
}

/// Return how many of the flags are true.
pub fn count_true(flags: &[bool]) -> usize {
    flags.iter().map(|&flag| usize::from(flag)).sum()
}

pub fn count_words_with_prefix(words: &[&str], prefix: &str) -> usize {
    words.iter().filter(|word| word.starts_with(prefix)).count()
}

/// Return how many of the words have exactly length characters.
pub fn count_words_of_length(words: &[&str], length: usize) -> usize {
    words
        .iter()
        .filter(|word| word.chars().count() == length)
        .count()
}

pub fn count_shared_values(first: &[i64], second: &[i64]) -> usize {
    use std::collections::HashSet;

    let first: HashSet<_> = first.iter().collect();
    let second: HashSet<_> = second.iter().collect();
    first.intersection(&second).count()
}

/// Return a map from each word to the number of times it occurs in words.
pub fn frequency_of_words(words: &[String]) -> std::collections::BTreeMap<String, usize> {
    let mut counts = std::collections::BTreeMap::new();
    for word in words {
        *counts.entry(word.clone()).or_insert(0) += 1;
    }
    counts
}

/// Return an array of how often the letters a, e, i, o and u occur in text, in this order.
pub fn counts_of_vowels(text: &str) -> [usize; 5] {
    ['a', 'e', 'i', 'o', 'u'].map(|vowel| text.matches(vowel).count())
}

pub fn votes_of_the_winner(votes: &[&str]) -> usize {
    let mut most = 0;
    for name in votes {
        let count = votes.iter().filter(|&other| other == name).count();
        most = most.max(count);
    }
    most
}

pub fn count_in_range(numbers: &[i64], low: i64, high: i64) -> usize {
    numbers
        .iter()
        .filter(|&number| (low..=high).contains(number))
        .count()
}

/// Return true if target occurs exactly two times in numbers, otherwise false.
pub fn occurs_exactly_twice(numbers: &[i64], target: i64) -> bool {
    let count = numbers.iter().filter(|&&number| number == target).count();
    count == 2
}

/// Return true if both lists have the same values, no matter how often and in which order.
pub fn have_same_distinct_values(first: &[i64], second: &[i64]) -> bool {
    first.iter().all(|value| second.contains(value))
        && second.iter().all(|value| first.contains(value))
}

pub fn number_of_repeats(numbers: &[i64]) -> usize {
    let different: std::collections::HashSet<_> = numbers.iter().collect();
    numbers.len() - different.len()
}

pub fn values_occurring_at_least(numbers: &[i64], times: usize) -> Vec<i64> {
    let mut counts = std::collections::BTreeMap::new();
    for &number in numbers {
        *counts.entry(number).or_insert(0) += 1;
    }
    counts.retain(|_, count| *count >= times);
    counts.into_keys().collect()
}

pub fn sorted_duplicated_values(numbers: &[i64]) -> Vec<i64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted
        .chunk_by(|a, b| a == b)
        .filter(|run| run.len() > 1)
        .map(|run| run[0])
        .collect()
}

pub fn positions_of_repeats(numbers: &[i64]) -> Vec<usize> {
    let mut seen = std::collections::HashSet::new();
    let mut positions = Vec::new();
    for (position, number) in numbers.iter().enumerate() {
        if !seen.insert(number) {
            positions.push(position);
        }
    }
    positions
}

/// Return a map from each word length, written as text, to the number of words of that length.
pub fn count_words_by_length(words: &[&str]) -> std::collections::BTreeMap<String, usize> {
    let mut counts = std::collections::BTreeMap::new();
    for word in words {
        let length = word.chars().count();
        *counts.entry(length.to_string()).or_default() += 1;
    }
    counts
}

/// Return a map from each first letter to the list of words that start with it, in order. No word
/// is empty.
pub fn group_words_by_first_letter(
    words: &[String],
) -> std::collections::BTreeMap<char, Vec<String>> {
    let mut groups = std::collections::BTreeMap::<char, Vec<String>>::new();
    for word in words {
        if let Some(first) = word.chars().next() {
            groups.entry(first).or_default().push(word.clone());
        }
    }
    groups
}

/// Return a map with the number of even numbers under "even" and of odd numbers under "odd".
pub fn count_even_and_odd(numbers: &[i64]) -> std::collections::BTreeMap<String, usize> {
    let even = numbers.iter().filter(|&number| number % 2 == 0).count();
    let odd = numbers.len() - even;
    std::collections::BTreeMap::from([(String::from("even"), even), (String::from("odd"), odd)])
}

/// Return which part of the numbers equals target, from 0.0 to 1.0. An empty list gives 0.0.
pub fn share_of_value(numbers: &[i64], target: i64) -> f64 {
    if numbers.is_empty() {
        return 0.0;
    }
    let hits = numbers.iter().filter(|&&number| number == target).count();
    hits as f64 / numbers.len() as f64
}

pub fn occurrence_numbers(words: &[&str]) -> Vec<usize> {
    let mut counts = std::collections::HashMap::new();
    words
        .iter()
        .map(|word| {
            let count = counts.entry(word).or_insert(0);
            *count += 1;
            *count
        })
        .collect()
}

/// Return true if some value makes up more than half of numbers, otherwise false.
pub fn has_majority(numbers: &[i64]) -> bool {
    numbers.iter().any(|number| {
        let count = numbers.iter().filter(|&other| other == number).count();
        count * 2 > numbers.len()
    })
}

pub fn count_equal_neighbours(numbers: &[i64]) -> usize {
    let neighbours = numbers.iter().zip(numbers.iter().skip(1));
    neighbours.filter(|(before, here)| before == here).count()
}

pub fn count_pairs_with_sum(numbers: &[i64], total: i64) -> usize {
    let mut count = 0;
    for (i, first) in numbers.iter().enumerate() {
        for second in &numbers[i + 1..] {
            if first + second == total {
                count += 1;
            }
        }
    }
    count
}

/// Return a map from every candidate to its number of votes. Votes for other names are ignored.
pub fn votes_per_candidate(
    votes: &[String],
    candidates: &[String],
) -> std::collections::BTreeMap<String, usize> {
    let mut counts = std::collections::BTreeMap::new();
    for name in candidates {
        counts.insert(name.clone(), 0);
    }
    for vote in votes {
        if let Some(count) = counts.get_mut(vote) {
            *count += 1;
        }
    }
    counts
}

/// Return an array of three counts: how many numbers are negative, zero and positive.
pub fn count_signs(numbers: &[i64]) -> [usize; 3] {
    let mut counts = [0; 3];
    for number in numbers {
        match number.signum() {
            -1 => counts[0] += 1,
            0 => counts[1] += 1,
            _ => counts[2] += 1,
        }
    }
    counts
}

pub fn words_by_frequency(words: &[String]) -> Vec<String> {
    use std::collections::HashMap;

    let mut counts: HashMap<&String, usize> = HashMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    let mut different: Vec<(&String, usize)> = counts.into_iter().collect();
    different.sort_by(|(a, count_a), (b, count_b)| count_b.cmp(count_a).then(a.cmp(b)));
    different
        .into_iter()
        .map(|(word, _)| word.clone())
        .collect()
}

pub fn count_anagram_groups(words: &[&str]) -> usize {
    let mut groups = std::collections::HashSet::new();
    for word in words {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        groups.insert(letters);
    }
    groups.len()
}

pub fn histogram_lines(numbers: &[i64]) -> Vec<String> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted
        .chunk_by(|a, b| a == b)
        .map(|run| format!("{}: {}", run[0], "*".repeat(run.len())))
        .collect()
}

/// Return true if word can be built from letters, using each letter at most as often as it is
/// there.
pub fn can_spell(letters: &str, word: &str) -> bool {
    let mut left: Vec<char> = letters.chars().collect();
    for letter in word.chars() {
        match left.iter().position(|&other| other == letter) {
            Some(place) => left.swap_remove(place),
            None => return false,
        };
    }
    true
}
