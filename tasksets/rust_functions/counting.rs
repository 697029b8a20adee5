//! Counting with maps and sets: how often, which ones, grouped by what.

pub mod letter_counts {
    //! Level 2. Return how often each character occurs in the text.
    //!
    //! letter_counts("abca")[&'a'] == 2

    use std::collections::HashMap;

    pub fn letter_counts(text: &str) -> HashMap<char, usize> {
        let mut counts = HashMap::new();
        for letter in text.chars() {
            *counts.entry(letter).or_insert(0) += 1;
        }
        counts
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(letter_counts("abca")[&'a'], 2);
        }

        #[test]
        fn usual() {
            assert_eq!(
                letter_counts("banana"),
                HashMap::from([('b', 1), ('a', 3), ('n', 2)])
            );
            assert_eq!(letter_counts("aA"), HashMap::from([('a', 1), ('A', 1)]));
        }

        #[test]
        fn edges() {
            assert_eq!(letter_counts(""), HashMap::new());
            assert_eq!(letter_counts("é é"), HashMap::from([('é', 2), (' ', 1)]));
            assert_eq!(letter_counts(&"x".repeat(300))[&'x'], 300);
        }
    }
}

pub mod word_counts {
    //! Level 2. Return how often each word occurs. Words are separated by white space.
    //!
    //! word_counts("to be or not to be")["be"] == 2

    use std::collections::BTreeMap;

    pub fn word_counts(text: &str) -> BTreeMap<&str, u32> {
        text.split_whitespace()
            .fold(BTreeMap::new(), |mut counts, word| {
                *counts.entry(word).or_default() += 1;
                counts
            })
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(word_counts("to be or not to be")["be"], 2);
        }

        #[test]
        fn usual() {
            assert_eq!(
                word_counts("to be or not to be"),
                BTreeMap::from([("be", 2), ("not", 1), ("or", 1), ("to", 2)])
            );
            assert_eq!(word_counts("A a"), BTreeMap::from([("A", 1), ("a", 1)]));
        }

        #[test]
        fn edges() {
            assert_eq!(word_counts(""), BTreeMap::new());
            assert_eq!(word_counts("  x  x\nx "), BTreeMap::from([("x", 3)]));
            assert_eq!(word_counts("é"), BTreeMap::from([("é", 1)]));
        }
    }
}

pub mod count_distinct {
    //! Level 1. Return how many different numbers there are.
    //!
    //! count_distinct(&[1, 2, 2, 3]) == 3

    use std::collections::HashSet;

    pub fn count_distinct(numbers: &[i32]) -> usize {
        numbers.iter().collect::<HashSet<_>>().len()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(count_distinct(&[1, 2, 2, 3]), 3);
        }

        #[test]
        fn usual() {
            assert_eq!(count_distinct(&[5, 5, 5]), 1);
            assert_eq!(count_distinct(&[1, 2, 3]), 3);
            assert_eq!(count_distinct(&[1, -1, 1]), 2);
        }

        #[test]
        fn edges() {
            assert_eq!(count_distinct(&[]), 0);
            assert_eq!(count_distinct(&[0]), 1);
            assert_eq!(count_distinct(&[7; 500]), 1);
        }
    }
}

pub mod price_of {
    //! Level 1. Return the price of the fruit, or 0 if it has no price.
    //!
    //! price_of(&HashMap::from([("pear", 3)]), "pear") == 3
    //! price_of(&HashMap::from([("pear", 3)]), "kiwi") == 0

    use std::collections::HashMap;

    pub fn price_of(prices: &HashMap<&str, u32>, fruit: &str) -> u32 {
        prices.get(fruit).copied().unwrap_or(0)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(price_of(&HashMap::from([("pear", 3)]), "pear"), 3);
            assert_eq!(price_of(&HashMap::from([("pear", 3)]), "kiwi"), 0);
        }

        #[test]
        fn known() {
            let prices = HashMap::from([("fig", 7), ("plum", 2)]);
            assert_eq!(price_of(&prices, "fig"), 7);
            assert_eq!(price_of(&prices, "plum"), 2);
        }

        #[test]
        fn unknown() {
            let prices = HashMap::from([("fig", 7)]);
            assert_eq!(price_of(&prices, "Fig"), 0);
            assert_eq!(price_of(&prices, ""), 0);
            assert_eq!(price_of(&HashMap::new(), "fig"), 0);
            assert_eq!(price_of(&prices, "fig"), 7);
        }
    }
}

pub mod has_repeats {
    //! Level 1. Say whether some number occurs more than once.
    //!
    //! has_repeats(&[4, 1, 4]) == true
    //! has_repeats(&[4, 1, 2]) == false

    use std::collections::HashSet;

    pub fn has_repeats(numbers: &[i32]) -> bool {
        let mut seen = HashSet::new();
        !numbers.iter().all(|n| seen.insert(n))
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(has_repeats(&[4, 1, 4]));
            assert!(!has_repeats(&[4, 1, 2]));
        }

        #[test]
        fn yes() {
            assert!(has_repeats(&[0, 0]));
            assert!(has_repeats(&[1, 2, 3, 1]));
            assert!(!has_repeats(&[1, 2, 3, -1]));
        }

        #[test]
        fn no() {
            assert!(!has_repeats(&[]));
            assert!(!has_repeats(&[5]));
            assert!(has_repeats(&[5, 5]));
        }

        #[test]
        fn long() {
            assert!(!has_repeats(&(0..2000).collect::<Vec<i32>>()));
            assert!(has_repeats(&[3; 2000]));
        }
    }
}

pub mod add_to_stock {
    //! Level 2. Increase the stock of the thing by count; a thing that is not in stock yet is added.
    //! Return its new stock.
    //!
    //! let mut stock = BTreeMap::from([("nail".to_string(), 5)]); add_to_stock(&mut stock, "nail", 3) == 8

    use std::collections::BTreeMap;

    pub fn add_to_stock(stock: &mut BTreeMap<String, u32>, thing: &str, count: u32) -> u32 {
        let current = stock.entry(thing.to_string()).or_insert(0);
        *current += count;
        *current
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let mut stock = BTreeMap::from([("nail".to_string(), 5)]);
            assert_eq!(add_to_stock(&mut stock, "nail", 3), 8);
        }

        #[test]
        fn new_thing() {
            let mut stock = BTreeMap::new();
            assert_eq!(add_to_stock(&mut stock, "nut", 4), 4);
            assert_eq!(stock, BTreeMap::from([("nut".to_string(), 4)]));
        }

        #[test]
        fn old_thing() {
            let mut stock = BTreeMap::from([("a".to_string(), 1), ("b".to_string(), 9)]);
            assert_eq!(add_to_stock(&mut stock, "a", 2), 3);
            assert_eq!(add_to_stock(&mut stock, "a", 0), 3);
            assert_eq!(stock["b"], 9);
            assert_eq!(stock.len(), 2);
        }
    }
}

pub mod most_frequent {
    //! Level 2. Return the number that occurs most often; of equals the smallest one. Return None if
    //! there are no numbers.
    //!
    //! most_frequent(&[3, 1, 3]) == Some(3)
    //! most_frequent(&[2, 1, 2, 1]) == Some(1)

    use std::collections::BTreeMap;

    pub fn most_frequent(numbers: &[i32]) -> Option<i32> {
        let mut counts = BTreeMap::new();
        for n in numbers {
            *counts.entry(*n).or_insert(0) += 1;
        }
        let most = *counts.values().max()?;
        counts
            .into_iter()
            .find(|(_, count)| *count == most)
            .map(|(n, _)| n)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(most_frequent(&[3, 1, 3]), Some(3));
            assert_eq!(most_frequent(&[2, 1, 2, 1]), Some(1));
        }

        #[test]
        fn usual() {
            assert_eq!(most_frequent(&[5, 6, 6, 5, 6]), Some(6));
            assert_eq!(most_frequent(&[1, 2, 3]), Some(1));
            assert_eq!(most_frequent(&[9, 9, 8]), Some(9));
        }

        #[test]
        fn edges() {
            assert_eq!(most_frequent(&[]), None);
            assert_eq!(most_frequent(&[-4]), Some(-4));
            assert_eq!(most_frequent(&[0, -1, -1, 0]), Some(-1));
        }
    }
}

pub mod common_numbers {
    //! Level 2. Return the numbers that occur in both slices, each one once and in ascending order.
    //!
    //! common_numbers(&[4, 1, 2], &[2, 4, 4]) == [2, 4]

    use std::collections::BTreeSet;

    pub fn common_numbers(first: &[i32], second: &[i32]) -> Vec<i32> {
        let first: BTreeSet<i32> = first.iter().copied().collect();
        let second: BTreeSet<i32> = second.iter().copied().collect();
        first.intersection(&second).copied().collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(common_numbers(&[4, 1, 2], &[2, 4, 4]), [2, 4]);
        }

        #[test]
        fn usual() {
            assert_eq!(common_numbers(&[3, 3, 3], &[3, 3]), [3]);
            assert_eq!(common_numbers(&[9, -2, 5], &[5, -2]), [-2, 5]);
            assert_eq!(common_numbers(&[10, 9], &[9, 10]), [9, 10]);
        }

        #[test]
        fn none() {
            assert_eq!(common_numbers(&[], &[1]), Vec::<i32>::new());
            assert_eq!(common_numbers(&[1], &[]), Vec::<i32>::new());
            assert_eq!(common_numbers(&[1, 2], &[3, 4]), Vec::<i32>::new());
        }
    }
}

pub mod group_by_length {
    //! Level 2. Return the words by their number of bytes; words of one length keep their order.
    //!
    //! group_by_length(&["an", "ox", "cat"])[&2] == ["an", "ox"]

    use std::collections::BTreeMap;

    pub fn group_by_length<'a>(words: &[&'a str]) -> BTreeMap<usize, Vec<&'a str>> {
        let mut groups: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for word in words {
            groups.entry(word.len()).or_default().push(word);
        }
        groups
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(group_by_length(&["an", "ox", "cat"])[&2], ["an", "ox"]);
        }

        #[test]
        fn usual() {
            assert_eq!(
                group_by_length(&["b", "aa", "a"]),
                BTreeMap::from([(1, vec!["b", "a"]), (2, vec!["aa"])])
            );
            assert_eq!(
                group_by_length(&["x", "x"]),
                BTreeMap::from([(1, vec!["x", "x"])])
            );
        }

        #[test]
        fn edges() {
            assert_eq!(group_by_length(&[]), BTreeMap::new());
            assert_eq!(
                group_by_length(&["", "é"]),
                BTreeMap::from([(0, vec![""]), (2, vec!["é"])])
            );
            assert_eq!(group_by_length(&["z"; 40])[&1].len(), 40);
        }
    }
}

pub mod are_anagrams {
    //! Level 2. Say whether both words have the same letters, each one equally often. Case matters.
    //!
    //! are_anagrams("listen", "silent") == true
    //! are_anagrams("aab", "abb") == false

    use std::collections::HashMap;

    pub fn are_anagrams(first: &str, second: &str) -> bool {
        let mut balance: HashMap<char, i32> = HashMap::new();
        for letter in first.chars() {
            *balance.entry(letter).or_default() += 1;
        }
        for letter in second.chars() {
            *balance.entry(letter).or_default() -= 1;
        }
        balance.values().all(|&count| count == 0)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(are_anagrams("listen", "silent"));
            assert!(!are_anagrams("aab", "abb"));
        }

        #[test]
        fn yes() {
            assert!(are_anagrams("", ""));
            assert!(are_anagrams("abc", "cab"));
            assert!(are_anagrams("éa", "aé"));
            assert!(!are_anagrams("abc", "abd"));
        }

        #[test]
        fn no() {
            assert!(!are_anagrams("a", ""));
            assert!(!are_anagrams("", "a"));
            assert!(!are_anagrams("ab", "Ab"));
            assert!(!are_anagrams("aa", "aaa"));
            assert!(are_anagrams("aa", "aa"));
        }
    }
}

pub mod first_unique_char {
    //! Level 2. Return the first character that occurs only once in the text, or None if there is none.
    //!
    //! first_unique_char("swiss") == Some('w')
    //! first_unique_char("aabb") == None

    use std::collections::HashMap;

    pub fn first_unique_char(text: &str) -> Option<char> {
        let mut counts = HashMap::new();
        for letter in text.chars() {
            *counts.entry(letter).or_insert(0) += 1;
        }
        text.chars().find(|letter| counts[letter] == 1)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(first_unique_char("swiss"), Some('w'));
            assert_eq!(first_unique_char("aabb"), None);
        }

        #[test]
        fn some() {
            assert_eq!(first_unique_char("x"), Some('x'));
            assert_eq!(first_unique_char("aab"), Some('b'));
            assert_eq!(first_unique_char("zéz"), Some('é'));
            assert_eq!(first_unique_char("abAB"), Some('a'));
        }

        #[test]
        fn none() {
            assert_eq!(first_unique_char(""), None);
            assert_eq!(first_unique_char("abcabc"), None);
            assert_eq!(first_unique_char("   "), None);
        }
    }
}

pub mod invert_scores {
    //! Level 3. Turn a map from names to scores around: each score leads to the names that have it, in
    //! alphabetical order.
    //!
    //! invert_scores(&HashMap::from([("ben", 2), ("ann", 2)]))[&2] == ["ann", "ben"]

    use std::collections::{BTreeMap, HashMap};

    pub fn invert_scores<'a>(scores: &HashMap<&'a str, u32>) -> BTreeMap<u32, Vec<&'a str>> {
        let mut inverted: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
        for (name, score) in scores {
            inverted.entry(*score).or_default().push(name);
        }
        for names in inverted.values_mut() {
            names.sort_unstable();
        }
        inverted
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                invert_scores(&HashMap::from([("ben", 2), ("ann", 2)]))[&2],
                ["ann", "ben"]
            );
        }

        #[test]
        fn usual() {
            assert_eq!(
                invert_scores(&HashMap::from([("a", 1), ("b", 2)])),
                BTreeMap::from([(1, vec!["a"]), (2, vec!["b"])])
            );
            assert_eq!(
                invert_scores(&HashMap::from([("z", 5), ("y", 5), ("x", 5), ("w", 0)])),
                BTreeMap::from([(0, vec!["w"]), (5, vec!["x", "y", "z"])])
            );
        }

        #[test]
        fn edges() {
            assert_eq!(invert_scores(&HashMap::new()), BTreeMap::new());
            assert_eq!(
                invert_scores(&HashMap::from([("", 0)])),
                BTreeMap::from([(0, vec![""])])
            );
            assert_eq!(
                invert_scores(&HashMap::from([("é", 7), ("z", 7)]))[&7],
                ["z", "é"]
            );
        }
    }
}

pub mod pair_with_sum {
    //! Level 3. Return the indices of two numbers that add up to target, the smaller index first. Choose
    //! the pair whose second index is smallest, and there the smallest first index. Return None if there
    //! is none.
    //!
    //! pair_with_sum(&[2, 7, 11], 9) == Some((0, 1))
    //! pair_with_sum(&[2, 7, 11], 4) == None

    use std::collections::HashMap;

    pub fn pair_with_sum(numbers: &[i64], target: i64) -> Option<(usize, usize)> {
        let mut first_seen = HashMap::new();
        for (index, &number) in numbers.iter().enumerate() {
            if let Some(&earlier) = first_seen.get(&(target - number)) {
                return Some((earlier, index));
            }
            first_seen.entry(number).or_insert(index);
        }
        None
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(pair_with_sum(&[2, 7, 11], 9), Some((0, 1)));
            assert_eq!(pair_with_sum(&[2, 7, 11], 4), None);
        }

        #[test]
        fn usual() {
            assert_eq!(pair_with_sum(&[3, 3], 6), Some((0, 1)));
            assert_eq!(pair_with_sum(&[1, 5, 9, 4], 9), Some((1, 3)));
            assert_eq!(pair_with_sum(&[4, 4, 1, 5], 5), Some((0, 2)));
        }

        #[test]
        fn none() {
            assert_eq!(pair_with_sum(&[], 0), None);
            assert_eq!(pair_with_sum(&[5], 10), None);
            assert_eq!(pair_with_sum(&[5, 1], 10), None);
        }

        #[test]
        fn negative() {
            assert_eq!(pair_with_sum(&[-3, 8, 3], 0), Some((0, 2)));
            assert_eq!(
                pair_with_sum(&(0..5000).collect::<Vec<i64>>(), 9997),
                Some((4998, 4999))
            );
        }
    }
}
