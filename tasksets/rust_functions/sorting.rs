//! Sorting: putting values in order, by keys and by rules.

pub mod in_order {
    //! Level 1. Return the numbers from the smallest to the largest.
    //!
    //! in_order(vec![3, 1, 2]) == [1, 2, 3]

    pub fn in_order(mut numbers: Vec<i32>) -> Vec<i32> {
        numbers.sort();
        numbers
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(in_order(vec![3, 1, 2]), [1, 2, 3]);
        }

        #[test]
        fn usual() {
            assert_eq!(in_order(vec![9, 8]), [8, 9]);
            assert_eq!(in_order(vec![4, 4, 1]), [1, 4, 4]);
            assert_eq!(in_order(vec![0, -5, 5]), [-5, 0, 5]);
        }

        #[test]
        fn edges() {
            assert_eq!(in_order(vec![]), Vec::<i32>::new());
            assert_eq!(in_order(vec![7]), [7]);
            assert_eq!(&in_order((0..100).rev().collect())[..3], [0, 1, 2]);
        }
    }
}

pub mod from_largest {
    //! Level 1. Return the numbers from the largest to the smallest.
    //!
    //! from_largest(vec![3, 1, 2]) == [3, 2, 1]

    pub fn from_largest(mut numbers: Vec<i32>) -> Vec<i32> {
        numbers.sort_by(|a, b| b.cmp(a));
        numbers
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(from_largest(vec![3, 1, 2]), [3, 2, 1]);
        }

        #[test]
        fn usual() {
            assert_eq!(from_largest(vec![1, 2]), [2, 1]);
            assert_eq!(from_largest(vec![4, 9, 4]), [9, 4, 4]);
            assert_eq!(from_largest(vec![-1, -9, 0]), [0, -1, -9]);
        }

        #[test]
        fn edges() {
            assert_eq!(from_largest(vec![]), Vec::<i32>::new());
            assert_eq!(from_largest(vec![6]), [6]);
            assert_eq!(&from_largest((0..100).collect())[..3], [99, 98, 97]);
        }
    }
}

pub mod sorted_letters {
    //! Level 1. Return the characters of the word in ascending order.
    //!
    //! sorted_letters("rust") == "rstu"

    pub fn sorted_letters(word: &str) -> String {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort();
        letters.into_iter().collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(sorted_letters("rust"), "rstu");
        }

        #[test]
        fn usual() {
            assert_eq!(sorted_letters("banana"), "aaabnn");
            assert_eq!(sorted_letters("ba"), "ab");
            assert_eq!(sorted_letters("Ba1"), "1Ba");
        }

        #[test]
        fn edges() {
            assert_eq!(sorted_letters(""), "");
            assert_eq!(sorted_letters("z"), "z");
            assert_eq!(sorted_letters("éa"), "aé");
        }
    }
}

pub mod by_length {
    //! Level 2. Return the words from the shortest to the longest by bytes; words of one length keep
    //! their order.
    //!
    //! by_length(&["three", "two", "one"]) == ["two", "one", "three"]

    pub fn by_length<'a>(words: &[&'a str]) -> Vec<&'a str> {
        let mut result = words.to_vec();
        result.sort_by_key(|word| word.len());
        result
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(by_length(&["three", "two", "one"]), ["two", "one", "three"]);
        }

        #[test]
        fn usual() {
            assert_eq!(by_length(&["bb", "a", "ccc"]), ["a", "bb", "ccc"]);
            assert_eq!(by_length(&["b", "a", "c"]), ["b", "a", "c"]);
        }

        #[test]
        fn edges() {
            assert_eq!(by_length(&[]), Vec::<&str>::new());
            assert_eq!(by_length(&["x", ""]), ["", "x"]);
            assert_eq!(by_length(&["é", "z", "ab"]), ["z", "é", "ab"]);
        }
    }
}

pub mod top_three {
    //! Level 2. Return the three largest numbers, the largest first; all of them if there are fewer.
    //!
    //! top_three(&[4, 9, 1, 7]) == [9, 7, 4]

    pub fn top_three(numbers: &[i32]) -> Vec<i32> {
        let mut result = numbers.to_vec();
        result.sort_unstable_by_key(|&n| std::cmp::Reverse(n));
        result.truncate(3);
        result
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(top_three(&[4, 9, 1, 7]), [9, 7, 4]);
        }

        #[test]
        fn usual() {
            assert_eq!(top_three(&[1, 2, 3]), [3, 2, 1]);
            assert_eq!(top_three(&[5, 5, 5, 5]), [5, 5, 5]);
            assert_eq!(top_three(&[-1, -2, -3, -4]), [-1, -2, -3]);
        }

        #[test]
        fn short() {
            assert_eq!(top_three(&[]), Vec::<i32>::new());
            assert_eq!(top_three(&[2]), [2]);
            assert_eq!(top_three(&[1, 8]), [8, 1]);
        }
    }
}

pub mod ignoring_case {
    //! Level 2. Return the names in alphabetical order without looking at the case of ASCII letters.
    //! Names that are equal then keep their order.
    //!
    //! ignoring_case(&["bob", "Ann", "carl"]) == ["Ann", "bob", "carl"]

    pub fn ignoring_case<'a>(names: &[&'a str]) -> Vec<&'a str> {
        let mut sorted = names.to_vec();
        sorted.sort_by_key(|name| name.to_ascii_lowercase());
        sorted
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                ignoring_case(&["bob", "Ann", "carl"]),
                ["Ann", "bob", "carl"]
            );
        }

        #[test]
        fn usual() {
            assert_eq!(ignoring_case(&["Zed", "amy"]), ["amy", "Zed"]);
            assert_eq!(ignoring_case(&["b", "B", "a"]), ["a", "b", "B"]);
            assert_eq!(ignoring_case(&["B", "b", "A"]), ["A", "B", "b"]);
        }

        #[test]
        fn edges() {
            assert_eq!(ignoring_case(&[]), Vec::<&str>::new());
            assert_eq!(ignoring_case(&["x", ""]), ["", "x"]);
        }
    }
}

pub mod median_of {
    //! Level 2. Return the value in the middle of the sorted numbers; with an even count the mean of the
    //! two in the middle. There is at least one number.
    //!
    //! median_of(&[3.0, 1.0, 2.0]) == 2.0
    //! median_of(&[1.0, 4.0]) == 2.5

    pub fn median_of(numbers: &[f64]) -> f64 {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        let half = sorted.len() / 2;
        if sorted.len() % 2 == 1 {
            sorted[half]
        } else {
            (sorted[half - 1] + sorted[half]) / 2.0
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(median_of(&[3.0, 1.0, 2.0]), 2.0);
            assert_eq!(median_of(&[1.0, 4.0]), 2.5);
        }

        #[test]
        fn odd() {
            assert_eq!(median_of(&[7.5]), 7.5);
            assert_eq!(median_of(&[9.0, -1.0, 4.0, 4.0, 100.0]), 4.0);
        }

        #[test]
        fn even() {
            assert_eq!(median_of(&[4.0, 1.0, 3.0, 2.0]), 2.5);
            assert_eq!(median_of(&[-1.0, 1.0]), 0.0);
            assert_eq!(median_of(&[5.0; 6]), 5.0);
        }
    }
}

pub mod sort_by_score {
    //! Level 2. Each pair is a name and a score. Return the names with the highest score first; equal
    //! scores go by the alphabet.
    //!
    //! sort_by_score(&[("ben", 5), ("cat", 9), ("ann", 5)]) == ["cat", "ann", "ben"]

    pub fn sort_by_score<'a>(entries: &[(&'a str, i32)]) -> Vec<&'a str> {
        let mut entries = entries.to_vec();
        entries.sort_by_key(|&(name, score)| (-score, name));
        entries.into_iter().map(|(name, _)| name).collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                sort_by_score(&[("ben", 5), ("cat", 9), ("ann", 5)]),
                ["cat", "ann", "ben"]
            );
        }

        #[test]
        fn usual() {
            assert_eq!(sort_by_score(&[("a", 1), ("b", 2)]), ["b", "a"]);
            assert_eq!(
                sort_by_score(&[("z", 0), ("y", 0), ("x", 0)]),
                ["x", "y", "z"]
            );
        }

        #[test]
        fn edges() {
            assert_eq!(sort_by_score(&[]), Vec::<&str>::new());
            assert_eq!(
                sort_by_score(&[("p", -5), ("q", 3), ("r", -1)]),
                ["q", "r", "p"]
            );
            assert_eq!(sort_by_score(&[("s", 1)]), ["s"]);
        }
    }
}

pub mod sorting_order {
    //! Level 3. Return the indices of the numbers in such an order that the numbers at them ascend.
    //! Equal numbers go by index.
    //!
    //! sorting_order(&[30, 10, 20]) == [1, 2, 0]

    pub fn sorting_order(numbers: &[i32]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by_key(|&index| numbers[index]);
        order
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(sorting_order(&[30, 10, 20]), [1, 2, 0]);
        }

        #[test]
        fn usual() {
            assert_eq!(sorting_order(&[1, 2, 3]), [0, 1, 2]);
            assert_eq!(sorting_order(&[3, 2, 1]), [2, 1, 0]);
            assert_eq!(sorting_order(&[0, -7, 9, -7]), [1, 3, 0, 2]);
        }

        #[test]
        fn edges() {
            assert_eq!(sorting_order(&[]), Vec::<usize>::new());
            assert_eq!(sorting_order(&[5]), [0]);
            assert_eq!(sorting_order(&[4, 4, 4]), [0, 1, 2]);
        }
    }
}

pub mod merge_ranges {
    //! Level 3. Each range goes from start to end, both included. Join all ranges that overlap or share
    //! an end, and return the rest in ascending order.
    //!
    //! merge_ranges(&[(5, 8), (1, 3), (2, 4)]) == [(1, 4), (5, 8)]

    pub fn merge_ranges(ranges: &[(i32, i32)]) -> Vec<(i32, i32)> {
        let mut ranges = ranges.to_vec();
        ranges.sort_unstable();
        let mut merged: Vec<(i32, i32)> = Vec::new();
        for (start, end) in ranges {
            match merged.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        merged
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(merge_ranges(&[(5, 8), (1, 3), (2, 4)]), [(1, 4), (5, 8)]);
        }

        #[test]
        fn usual() {
            assert_eq!(merge_ranges(&[(1, 9), (2, 3)]), [(1, 9)]);
            assert_eq!(merge_ranges(&[(4, 6), (1, 4)]), [(1, 6)]);
            assert_eq!(merge_ranges(&[(1, 2), (3, 4)]), [(1, 2), (3, 4)]);
        }

        #[test]
        fn edges() {
            assert_eq!(merge_ranges(&[]), Vec::<(i32, i32)>::new());
            assert_eq!(merge_ranges(&[(5, 5)]), [(5, 5)]);
            assert_eq!(merge_ranges(&[(7, 7), (7, 7)]), [(7, 7)]);
        }

        #[test]
        fn chain() {
            assert_eq!(
                merge_ranges(&[(-9, -5), (0, 3), (-6, 0), (10, 11)]),
                [(-9, 3), (10, 11)]
            );
        }
    }
}

pub mod insert_in_order {
    //! Level 2. The numbers ascend. Put value among them in such a place that they still ascend, and
    //! return them all.
    //!
    //! insert_in_order(vec![1, 3, 9], 4) == [1, 3, 4, 9]

    pub fn insert_in_order(mut numbers: Vec<i32>, value: i32) -> Vec<i32> {
        let place = numbers.partition_point(|&n| n < value);
        numbers.insert(place, value);
        numbers
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(insert_in_order(vec![1, 3, 9], 4), [1, 3, 4, 9]);
        }

        #[test]
        fn ends() {
            assert_eq!(insert_in_order(vec![1, 3, 9], 0), [0, 1, 3, 9]);
            assert_eq!(insert_in_order(vec![1, 3, 9], 10), [1, 3, 9, 10]);
            assert_eq!(insert_in_order(vec![-5, 5], -6), [-6, -5, 5]);
        }

        #[test]
        fn edges() {
            assert_eq!(insert_in_order(vec![], 7), [7]);
            assert_eq!(insert_in_order(vec![2, 2], 2), [2, 2, 2]);
            assert_eq!(
                &insert_in_order((0..1000).collect(), 500)[499..503],
                [499, 500, 500, 501]
            );
        }
    }
}

pub mod sort_versions {
    //! Level 3. Version numbers are whole numbers joined by dots. Return the versions in ascending
    //! order, compared number by number; of two that agree so far, the shorter one comes first.
    //!
    //! sort_versions(&["1.10", "1.9", "1.9.1"]) == ["1.9", "1.9.1", "1.10"]

    pub fn sort_versions<'a>(versions: &[&'a str]) -> Vec<&'a str> {
        let mut result = versions.to_vec();
        result.sort_by_cached_key(|version| {
            version
                .split('.')
                .map(|part| part.parse().unwrap_or(0))
                .collect::<Vec<u32>>()
        });
        result
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                sort_versions(&["1.10", "1.9", "1.9.1"]),
                ["1.9", "1.9.1", "1.10"]
            );
        }

        #[test]
        fn usual() {
            assert_eq!(sort_versions(&["2", "10", "1"]), ["1", "2", "10"]);
            assert_eq!(
                sort_versions(&["0.2.0", "0.1.9", "0.1.10"]),
                ["0.1.9", "0.1.10", "0.2.0"]
            );
        }

        #[test]
        fn edges() {
            assert_eq!(sort_versions(&[]), Vec::<&str>::new());
            assert_eq!(sort_versions(&["3.1"]), ["3.1"]);
            assert_eq!(sort_versions(&["1.0.0", "1.0", "1"]), ["1", "1.0", "1.0.0"]);
        }
    }
}
