//! Slices: sums, ends, searching and comparing a row of numbers.

pub mod sum_all {
    //! Level 1. Return the sum of all numbers.
    //!
    //! sum_all(&[1, 2, 3]) == 6
    //! sum_all(&[]) == 0

    pub fn sum_all(numbers: &[i32]) -> i32 {
        numbers.iter().sum()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(sum_all(&[1, 2, 3]), 6);
            assert_eq!(sum_all(&[]), 0);
        }

        #[test]
        fn short() {
            assert_eq!(sum_all(&[7]), 7);
            assert_eq!(sum_all(&[0, 0]), 0);
            assert_eq!(sum_all(&[-5]), -5);
        }

        #[test]
        fn long() {
            assert_eq!(sum_all(&[1; 500]), 500);
            assert_eq!(sum_all(&[10, -20, 30]), 20);
        }
    }
}

pub mod how_many {
    //! Level 1. Return how many numbers there are.
    //!
    //! how_many(&[4, 4, 4]) == 3

    pub fn how_many(numbers: &[i32]) -> usize {
        numbers.len()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(how_many(&[4, 4, 4]), 3);
        }

        #[test]
        fn short() {
            assert_eq!(how_many(&[]), 0);
            assert_eq!(how_many(&[9]), 1);
            assert_eq!(how_many(&[0, 0]), 2);
        }

        #[test]
        fn long() {
            assert_eq!(how_many(&[1; 250]), 250);
            assert_eq!(how_many(&[5, 6, 7, 8]), 4);
        }
    }
}

pub mod first_number {
    //! Level 1. Return the first number, or None if there is none.
    //!
    //! first_number(&[8, 3, 5]) == Some(8)
    //! first_number(&[]) == None

    pub fn first_number(numbers: &[i32]) -> Option<i32> {
        numbers.first().copied()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(first_number(&[8, 3, 5]), Some(8));
            assert_eq!(first_number(&[]), None);
        }

        #[test]
        fn usual() {
            assert_eq!(first_number(&[1]), Some(1));
            assert_eq!(first_number(&[-4, 9]), Some(-4));
        }

        #[test]
        fn edges() {
            assert_eq!(first_number(&[]), None);
            assert_eq!(first_number(&[0]), Some(0));
            assert_eq!(first_number(&[6; 20]), Some(6));
        }
    }
}

pub mod last_number {
    //! Level 1. Return the number at the end, or 0 if there are no numbers.
    //!
    //! last_number(&[8, 3, 5]) == 5
    //! last_number(&[]) == 0

    pub fn last_number(numbers: &[i32]) -> i32 {
        numbers.last().copied().unwrap_or(0)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(last_number(&[8, 3, 5]), 5);
            assert_eq!(last_number(&[]), 0);
        }

        #[test]
        fn usual() {
            assert_eq!(last_number(&[1]), 1);
            assert_eq!(last_number(&[9, -4]), -4);
            assert_eq!(last_number(&[2, 3]), 3);
        }

        #[test]
        fn edges() {
            assert_eq!(last_number(&[]), 0);
            assert_eq!(last_number(&[5, 0]), 0);
            assert_eq!(last_number(&[6; 20]), 6);
        }
    }
}

pub mod has_number {
    //! Level 1. Say whether the wanted number is among the numbers.
    //!
    //! has_number(&[1, 5, 9], 5) == true
    //! has_number(&[1, 5, 9], 2) == false

    pub fn has_number(numbers: &[i32], wanted: i32) -> bool {
        numbers.contains(&wanted)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(has_number(&[1, 5, 9], 5));
            assert!(!has_number(&[1, 5, 9], 2));
        }

        #[test]
        fn places() {
            assert!(has_number(&[1, 5, 9], 1));
            assert!(has_number(&[1, 5, 9], 9));
            assert!(!has_number(&[1, 5, 9], -1));
        }

        #[test]
        fn edges() {
            assert!(!has_number(&[], 0));
            assert!(has_number(&[0], 0));
            assert!(!has_number(&[3, 3], 4));
            assert!(has_number(&[-2], -2));
        }
    }
}

pub mod count_equal {
    //! Level 1. Return how often the wanted number occurs.
    //!
    //! count_equal(&[2, 5, 2], 2) == 2
    //! count_equal(&[2, 5, 2], 7) == 0

    pub fn count_equal(numbers: &[i32], wanted: i32) -> usize {
        numbers.iter().filter(|&&n| n == wanted).count()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(count_equal(&[2, 5, 2], 2), 2);
            assert_eq!(count_equal(&[2, 5, 2], 7), 0);
        }

        #[test]
        fn usual() {
            assert_eq!(count_equal(&[1, 1, 1], 1), 3);
            assert_eq!(count_equal(&[4, 5, 6], 6), 1);
            assert_eq!(count_equal(&[-1, 1], -1), 1);
        }

        #[test]
        fn edges() {
            assert_eq!(count_equal(&[], 3), 0);
            assert_eq!(count_equal(&[0; 90], 0), 90);
        }
    }
}

pub mod largest_number {
    //! Level 1. Return the largest number, or None if there are no numbers.
    //!
    //! largest_number(&[3, 9, 4]) == Some(9)
    //! largest_number(&[]) == None

    pub fn largest_number(numbers: &[i32]) -> Option<i32> {
        numbers.iter().max().copied()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(largest_number(&[3, 9, 4]), Some(9));
            assert_eq!(largest_number(&[]), None);
        }

        #[test]
        fn places() {
            assert_eq!(largest_number(&[9, 1, 2]), Some(9));
            assert_eq!(largest_number(&[1, 2, 9]), Some(9));
            assert_eq!(largest_number(&[5]), Some(5));
        }

        #[test]
        fn negative() {
            assert_eq!(largest_number(&[-7, -2, -5]), Some(-2));
            assert_eq!(largest_number(&[]), None);
            assert_eq!(largest_number(&[0, -1]), Some(0));
        }
    }
}

pub mod all_positive {
    //! Level 1. Say whether every number is greater than zero. This holds when there are no numbers.
    //!
    //! all_positive(&[4, 1, 7]) == true
    //! all_positive(&[4, -1, 7]) == false

    pub fn all_positive(numbers: &[i32]) -> bool {
        numbers.iter().all(|&n| n > 0)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(all_positive(&[4, 1, 7]));
            assert!(!all_positive(&[4, -1, 7]));
        }

        #[test]
        fn yes() {
            assert!(all_positive(&[]));
            assert!(all_positive(&[1]));
            assert!(!all_positive(&[-1]));
        }

        #[test]
        fn no() {
            assert!(!all_positive(&[0]));
            assert!(!all_positive(&[5, 5, 0]));
            assert!(!all_positive(&[-3, 2]));
            assert!(all_positive(&[2, 3]));
        }
    }
}

pub mod position_of {
    //! Level 2. Return the index of the first place where the wanted number stands, or None if it is not
    //! there.
    //!
    //! position_of(&[5, 8, 8], 8) == Some(1)
    //! position_of(&[5, 8, 8], 3) == None

    pub fn position_of(numbers: &[i32], wanted: i32) -> Option<usize> {
        numbers.iter().position(|&n| n == wanted)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(position_of(&[5, 8, 8], 8), Some(1));
            assert_eq!(position_of(&[5, 8, 8], 3), None);
        }

        #[test]
        fn places() {
            assert_eq!(position_of(&[5, 8, 9], 5), Some(0));
            assert_eq!(position_of(&[5, 8, 9], 9), Some(2));
            assert_eq!(position_of(&[0, 0, 1], 0), Some(0));
        }

        #[test]
        fn edges() {
            assert_eq!(position_of(&[], 1), None);
            assert_eq!(position_of(&[1], 1), Some(0));
            assert_eq!(position_of(&[1], -1), None);
        }
    }
}

pub mod is_ascending {
    //! Level 2. Say whether no number is smaller than the one before it.
    //!
    //! is_ascending(&[1, 2, 2, 5]) == true
    //! is_ascending(&[1, 3, 2]) == false

    pub fn is_ascending(numbers: &[i32]) -> bool {
        numbers.windows(2).all(|pair| pair[0] <= pair[1])
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(is_ascending(&[1, 2, 2, 5]));
            assert!(!is_ascending(&[1, 3, 2]));
        }

        #[test]
        fn short() {
            assert!(is_ascending(&[]));
            assert!(is_ascending(&[4]));
            assert!(!is_ascending(&[4, 3]));
            assert!(is_ascending(&[3, 4]));
        }

        #[test]
        fn long() {
            assert!(is_ascending(&[7; 60]));
            assert!(!is_ascending(&[1, 2, 3, 4, 0]));
            assert!(!is_ascending(&[9, 1, 2, 3]));
            assert!(is_ascending(&[-3, -1, 0]));
        }
    }
}

pub mod mean_of {
    //! Level 2. Return the mean of the numbers, or None if there are no numbers.
    //!
    //! mean_of(&[1.0, 2.0, 6.0]) == Some(3.0)
    //! mean_of(&[]) == None

    pub fn mean_of(numbers: &[f64]) -> Option<f64> {
        if numbers.is_empty() {
            return None;
        }
        Some(numbers.iter().sum::<f64>() / numbers.len() as f64)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(mean_of(&[1.0, 2.0, 6.0]), Some(3.0));
            assert_eq!(mean_of(&[]), None);
        }

        #[test]
        fn usual() {
            assert_eq!(mean_of(&[4.0]), Some(4.0));
            assert_eq!(mean_of(&[1.0, 2.0]), Some(1.5));
            assert_eq!(mean_of(&[-2.0, 2.0]), Some(0.0));
        }

        #[test]
        fn edges() {
            assert_eq!(mean_of(&[0.0]), Some(0.0));
            assert_eq!(mean_of(&[2.5; 8]), Some(2.5));
            assert_eq!(mean_of(&[]), None);
        }
    }
}

pub mod middle_part {
    //! Level 2. Return the slice without its first and its last number. With two numbers or fewer
    //! nothing is left.
    //!
    //! middle_part(&[1, 2, 3, 4]) == [2, 3]

    pub fn middle_part(numbers: &[i32]) -> &[i32] {
        match numbers {
            [_, middle @ .., _] => middle,
            _ => &[],
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(middle_part(&[1, 2, 3, 4]), [2, 3]);
        }

        #[test]
        fn usual() {
            assert_eq!(middle_part(&[5, 6, 7]), [6]);
            assert_eq!(middle_part(&[9, 8, 7, 6, 5]), [8, 7, 6]);
        }

        #[test]
        fn short() {
            assert_eq!(middle_part(&[]), [0; 0]);
            assert_eq!(middle_part(&[3]), [0; 0]);
            assert_eq!(middle_part(&[3, 4]), [0; 0]);
        }
    }
}

pub mod second_largest {
    //! Level 3. Return the second largest of the different values, or None if there are fewer than two
    //! different values.
    //!
    //! second_largest(&[4, 9, 7]) == Some(7)
    //! second_largest(&[5, 5]) == None

    pub fn second_largest(numbers: &[i32]) -> Option<i32> {
        let largest = numbers.iter().max()?;
        numbers.iter().filter(|n| *n < largest).max().copied()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(second_largest(&[4, 9, 7]), Some(7));
            assert_eq!(second_largest(&[5, 5]), None);
        }

        #[test]
        fn repeated() {
            assert_eq!(second_largest(&[9, 9, 3]), Some(3));
            assert_eq!(second_largest(&[1, 2, 2]), Some(1));
            assert_eq!(second_largest(&[3, 1, 3, 2]), Some(2));
        }

        #[test]
        fn short() {
            assert_eq!(second_largest(&[]), None);
            assert_eq!(second_largest(&[1]), None);
            assert_eq!(second_largest(&[2, 1]), Some(1));
        }

        #[test]
        fn negative() {
            assert_eq!(second_largest(&[-1, -5, -3]), Some(-3));
        }
    }
}

pub mod best_window {
    //! Level 3. Return the largest sum of width neighbouring numbers. Return None when width is 0 or
    //! larger than the number of numbers.
    //!
    //! best_window(&[1, 5, 2, 4], 2) == Some(7)
    //! best_window(&[1, 5], 3) == None

    pub fn best_window(numbers: &[i32], width: usize) -> Option<i32> {
        if width == 0 {
            return None;
        }
        numbers
            .windows(width)
            .map(|window| window.iter().sum())
            .max()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(best_window(&[1, 5, 2, 4], 2), Some(7));
            assert_eq!(best_window(&[1, 5], 3), None);
        }

        #[test]
        fn usual() {
            assert_eq!(best_window(&[1, 5, 2, 4], 1), Some(5));
            assert_eq!(best_window(&[1, 5, 2, 4], 3), Some(11));
            assert_eq!(best_window(&[1, 5, 2, 4], 4), Some(12));
        }

        #[test]
        fn none() {
            assert_eq!(best_window(&[], 1), None);
            assert_eq!(best_window(&[4, 5], 0), None);
            assert_eq!(best_window(&[], 0), None);
        }

        #[test]
        fn negative() {
            assert_eq!(best_window(&[-4, -1, -3], 2), Some(-4));
        }
    }
}
