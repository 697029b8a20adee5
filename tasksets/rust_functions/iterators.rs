//! Iterators: mapping, filtering, zipping, folding and ranges.

pub mod doubled {
    //! Level 1. Return every number doubled, in the same order.
    //!
    //! doubled(&[1, 2, 3]) == [2, 4, 6]

    pub fn doubled(numbers: &[i32]) -> Vec<i32> {
        numbers.iter().map(|n| n * 2).collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(doubled(&[1, 2, 3]), [2, 4, 6]);
        }

        #[test]
        fn usual() {
            assert_eq!(doubled(&[5]), [10]);
            assert_eq!(doubled(&[0, -4]), [0, -8]);
            assert_eq!(doubled(&[10, 20]), [20, 40]);
        }

        #[test]
        fn edges() {
            assert_eq!(doubled(&[]), Vec::<i32>::new());
            assert_eq!(doubled(&[1; 30]), [2; 30]);
        }
    }
}

pub mod only_even {
    //! Level 1. Return the even numbers and leave out the others.
    //!
    //! only_even(&[1, 2, 3, 4]) == [2, 4]

    pub fn only_even(numbers: &[i32]) -> Vec<i32> {
        numbers.iter().copied().filter(|n| n % 2 == 0).collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(only_even(&[1, 2, 3, 4]), [2, 4]);
        }

        #[test]
        fn usual() {
            assert_eq!(only_even(&[8, 6, 7]), [8, 6]);
            assert_eq!(only_even(&[0, 1]), [0]);
            assert_eq!(only_even(&[-2, -1, 2]), [-2, 2]);
        }

        #[test]
        fn none() {
            assert_eq!(only_even(&[]), Vec::<i32>::new());
            assert_eq!(only_even(&[1, 3, -5]), Vec::<i32>::new());
            assert_eq!(only_even(&[4]), [4]);
        }
    }
}

pub mod count_above {
    //! Level 1. Return how many of the numbers are larger than limit.
    //!
    //! count_above(&[1, 5, 9], 4) == 2

    pub fn count_above(numbers: &[i32], limit: i32) -> usize {
        numbers.iter().filter(|&&n| n > limit).count()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(count_above(&[1, 5, 9], 4), 2);
        }

        #[test]
        fn usual() {
            assert_eq!(count_above(&[1, 5, 9], 0), 3);
            assert_eq!(count_above(&[1, 5, 9], 5), 1);
            assert_eq!(count_above(&[4, 4], 3), 2);
        }

        #[test]
        fn edges() {
            assert_eq!(count_above(&[], 0), 0);
            assert_eq!(count_above(&[-3, -1], -2), 1);
            assert_eq!(count_above(&[7], 7), 0);
        }
    }
}

pub mod squares_until {
    //! Level 1. Return the squares of 1, 2, 3 and so on up to the square of n.
    //!
    //! squares_until(4) == [1, 4, 9, 16]

    pub fn squares_until(n: u32) -> Vec<u32> {
        (1..=n).map(|i| i * i).collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(squares_until(4), [1, 4, 9, 16]);
        }

        #[test]
        fn small() {
            assert_eq!(squares_until(0), Vec::<u32>::new());
            assert_eq!(squares_until(1), [1]);
            assert_eq!(squares_until(2), [1, 4]);
        }

        #[test]
        fn large() {
            assert_eq!(squares_until(100).len(), 100);
            assert_eq!(squares_until(100)[99], 10_000);
        }
    }
}

pub mod word_lengths {
    //! Level 1. Return the number of bytes of each word.
    //!
    //! word_lengths(&["a", "tree"]) == [1, 4]

    pub fn word_lengths(words: &[&str]) -> Vec<usize> {
        words.iter().map(|word| word.len()).collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(word_lengths(&["a", "tree"]), [1, 4]);
        }

        #[test]
        fn usual() {
            assert_eq!(word_lengths(&["one", "three", ""]), [3, 5, 0]);
            assert_eq!(word_lengths(&["x y"]), [3]);
        }

        #[test]
        fn edges() {
            assert_eq!(word_lengths(&[]), Vec::<usize>::new());
            assert_eq!(word_lengths(&["é"]), [2]);
            assert_eq!(word_lengths(&["aa", "bb"]), [2, 2]);
        }
    }
}

pub mod product_all {
    //! Level 1. Return the product of all numbers; without numbers it is 1.
    //!
    //! product_all(&[2, 3, 4]) == 24
    //! product_all(&[]) == 1

    pub fn product_all(numbers: &[i64]) -> i64 {
        numbers.iter().product()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(product_all(&[2, 3, 4]), 24);
            assert_eq!(product_all(&[]), 1);
        }

        #[test]
        fn usual() {
            assert_eq!(product_all(&[7]), 7);
            assert_eq!(product_all(&[5, 0, 9]), 0);
            assert_eq!(product_all(&[-1, 3]), -3);
        }

        #[test]
        fn large() {
            assert_eq!(product_all(&[10; 15]), 1_000_000_000_000_000);
            assert_eq!(product_all(&[1; 99]), 1);
        }
    }
}

pub mod dot_product {
    //! Level 2. Multiply the numbers that stand at the same place in both slices and return the sum of
    //! these products. Both slices are equally long.
    //!
    //! dot_product(&[1, 2, 3], &[4, 5, 6]) == 32

    pub fn dot_product(a: &[i32], b: &[i32]) -> i32 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(dot_product(&[1, 2, 3], &[4, 5, 6]), 32);
        }

        #[test]
        fn usual() {
            assert_eq!(dot_product(&[2], &[9]), 18);
            assert_eq!(dot_product(&[1, 0], &[0, 1]), 0);
            assert_eq!(dot_product(&[-1, 2], &[3, 4]), 5);
        }

        #[test]
        fn edges() {
            assert_eq!(dot_product(&[], &[]), 0);
            assert_eq!(dot_product(&[1; 100], &[3; 100]), 300);
        }
    }
}

pub mod sum_of_odd_squares {
    //! Level 2. Return the sum of the squares of the odd numbers.
    //!
    //! sum_of_odd_squares(&[1, 2, 3]) == 10

    pub fn sum_of_odd_squares(numbers: &[i64]) -> i64 {
        numbers.iter().filter(|&n| n % 2 != 0).map(|n| n * n).sum()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(sum_of_odd_squares(&[1, 2, 3]), 10);
        }

        #[test]
        fn usual() {
            assert_eq!(sum_of_odd_squares(&[5, 5]), 50);
            assert_eq!(sum_of_odd_squares(&[2, 4, 7]), 49);
            assert_eq!(sum_of_odd_squares(&[-3, -4]), 9);
        }

        #[test]
        fn edges() {
            assert_eq!(sum_of_odd_squares(&[]), 0);
            assert_eq!(sum_of_odd_squares(&[0, 2]), 0);
            assert_eq!(sum_of_odd_squares(&[100_001]), 10_000_200_001);
        }
    }
}

pub mod multiples_below {
    //! Level 2. Return the multiples of step that are below limit, beginning with step itself. Step is
    //! at least 1.
    //!
    //! multiples_below(3, 10) == [3, 6, 9]

    pub fn multiples_below(step: usize, limit: usize) -> Vec<usize> {
        (step..limit).step_by(step).collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(multiples_below(3, 10), [3, 6, 9]);
        }

        #[test]
        fn usual() {
            assert_eq!(multiples_below(5, 11), [5, 10]);
            assert_eq!(multiples_below(1, 4), [1, 2, 3]);
            assert_eq!(multiples_below(4, 9), [4, 8]);
        }

        #[test]
        fn edges() {
            assert_eq!(multiples_below(5, 5), Vec::<usize>::new());
            assert_eq!(multiples_below(9, 3), Vec::<usize>::new());
            assert_eq!(multiples_below(2, 0), Vec::<usize>::new());
            assert_eq!(multiples_below(5, 6), [5]);
        }
    }
}

pub mod differences {
    //! Level 2. Return how much each number differs from the one before it. There is one result less
    //! than numbers.
    //!
    //! differences(&[1, 4, 9]) == [3, 5]

    pub fn differences(numbers: &[i32]) -> Vec<i32> {
        numbers.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(differences(&[1, 4, 9]), [3, 5]);
        }

        #[test]
        fn usual() {
            assert_eq!(differences(&[5, 5, 5]), [0, 0]);
            assert_eq!(differences(&[9, 4]), [-5]);
            assert_eq!(differences(&[-1, 1, -1]), [2, -2]);
        }

        #[test]
        fn short() {
            assert_eq!(differences(&[]), Vec::<i32>::new());
            assert_eq!(differences(&[3]), Vec::<i32>::new());
            assert_eq!(differences(&[0, 7]), [7]);
        }
    }
}

pub mod numbered_lines {
    //! Level 2. Return each line with its number, a colon and a space in front of it. The first line has
    //! number 1.
    //!
    //! numbered_lines(&["tea", "milk"]) == ["1: tea", "2: milk"]

    pub fn numbered_lines(lines: &[&str]) -> Vec<String> {
        (1..)
            .zip(lines)
            .map(|(number, line)| format!("{number}: {line}"))
            .collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(numbered_lines(&["tea", "milk"]), ["1: tea", "2: milk"]);
        }

        #[test]
        fn usual() {
            assert_eq!(numbered_lines(&["x"]), ["1: x"]);
            assert_eq!(numbered_lines(&["b", "a", "b"]), ["1: b", "2: a", "3: b"]);
        }

        #[test]
        fn edges() {
            assert_eq!(numbered_lines(&[]), Vec::<String>::new());
            assert_eq!(numbered_lines(&["", "é"]), ["1: ", "2: é"]);
            assert_eq!(numbered_lines(&["z"; 12])[11], "12: z");
        }
    }
}

pub mod leading_positives {
    //! Level 2. Return the numbers from the start up to the first one that is not positive, which is
    //! left out.
    //!
    //! leading_positives(&[3, 1, 0, 5]) == [3, 1]

    pub fn leading_positives(numbers: &[i32]) -> Vec<i32> {
        numbers.iter().copied().take_while(|&n| n > 0).collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(leading_positives(&[3, 1, 0, 5]), [3, 1]);
        }

        #[test]
        fn usual() {
            assert_eq!(leading_positives(&[1, 2]), [1, 2]);
            assert_eq!(leading_positives(&[4, -4, 4]), [4]);
            assert_eq!(leading_positives(&[2, 0, 0]), [2]);
        }

        #[test]
        fn edges() {
            assert_eq!(leading_positives(&[]), Vec::<i32>::new());
            assert_eq!(leading_positives(&[0, 1]), Vec::<i32>::new());
            assert_eq!(leading_positives(&[-1, 1]), Vec::<i32>::new());
        }
    }
}

pub mod interleave {
    //! Level 3. Take numbers from both slices in turn, the first slice first. When one is used up, the
    //! rest of the other one follows.
    //!
    //! interleave(&[1, 3], &[2, 4, 5]) == [1, 2, 3, 4, 5]

    pub fn interleave(first: &[i32], second: &[i32]) -> Vec<i32> {
        let longest = first.len().max(second.len());
        (0..longest)
            .flat_map(|i| first.get(i).into_iter().chain(second.get(i)))
            .copied()
            .collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(interleave(&[1, 3], &[2, 4, 5]), [1, 2, 3, 4, 5]);
        }

        #[test]
        fn usual() {
            assert_eq!(interleave(&[1, 2], &[8, 9]), [1, 8, 2, 9]);
            assert_eq!(interleave(&[1, 2, 3, 4], &[0]), [1, 0, 2, 3, 4]);
        }

        #[test]
        fn empty() {
            assert_eq!(interleave(&[], &[5, 6]), [5, 6]);
            assert_eq!(interleave(&[5, 6], &[]), [5, 6]);
            assert_eq!(interleave(&[], &[]), Vec::<i32>::new());
        }
    }
}

pub mod longest_climb {
    //! Level 3. Return the length of the longest stretch of neighbouring numbers in which each one is
    //! larger than the one before.
    //!
    //! longest_climb(&[1, 2, 5, 3, 4]) == 3

    pub fn longest_climb(numbers: &[i32]) -> usize {
        numbers
            .chunk_by(|a, b| a < b)
            .map(|stretch| stretch.len())
            .max()
            .unwrap_or(0)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(longest_climb(&[1, 2, 5, 3, 4]), 3);
        }

        #[test]
        fn short() {
            assert_eq!(longest_climb(&[]), 0);
            assert_eq!(longest_climb(&[7]), 1);
            assert_eq!(longest_climb(&[7, 6]), 1);
        }

        #[test]
        fn usual() {
            assert_eq!(longest_climb(&[1, 1, 1]), 1);
            assert_eq!(longest_climb(&[3, 1, 2, 3, 4, 0, 9]), 4);
            assert_eq!(longest_climb(&[-3, -2, -1, 0]), 4);
        }

        #[test]
        fn long() {
            assert_eq!(longest_climb(&(0..500).collect::<Vec<i32>>()), 500);
        }
    }
}
