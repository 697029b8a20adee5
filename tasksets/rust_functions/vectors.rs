//! Vectors: building new rows of values and changing them in place.

pub mod count_up {
    //! Level 1. Return the numbers from 1 to n in order.
    //!
    //! count_up(3) == [1, 2, 3]

    pub fn count_up(n: u32) -> Vec<u32> {
        (1..=n).collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(count_up(3), [1, 2, 3]);
        }

        #[test]
        fn small() {
            assert_eq!(count_up(0), Vec::<u32>::new());
            assert_eq!(count_up(1), [1]);
            assert_eq!(count_up(5), [1, 2, 3, 4, 5]);
        }

        #[test]
        fn large() {
            assert_eq!(count_up(1000).len(), 1000);
            assert_eq!(count_up(1000)[999], 1000);
        }
    }
}

pub mod pair_of {
    //! Level 1. Return a vector that holds a and then b.
    //!
    //! pair_of(1, 2) == [1, 2]

    pub fn pair_of(a: i32, b: i32) -> Vec<i32> {
        vec![a, b]
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(pair_of(1, 2), [1, 2]);
        }

        #[test]
        fn order() {
            assert_eq!(pair_of(2, 1), [2, 1]);
            assert_eq!(pair_of(9, 4), [9, 4]);
        }

        #[test]
        fn values() {
            assert_eq!(pair_of(0, 0), [0, 0]);
            assert_eq!(pair_of(-3, 3), [-3, 3]);
            assert_eq!(pair_of(i32::MAX, i32::MIN), [i32::MAX, i32::MIN]);
        }
    }
}

pub mod with_last {
    //! Level 1. Return the numbers with one more at the end.
    //!
    //! with_last(vec![1, 2], 9) == [1, 2, 9]

    pub fn with_last(mut numbers: Vec<i32>, last: i32) -> Vec<i32> {
        numbers.push(last);
        numbers
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(with_last(vec![1, 2], 9), [1, 2, 9]);
        }

        #[test]
        fn usual() {
            assert_eq!(with_last(vec![5], 6), [5, 6]);
            assert_eq!(with_last(vec![3, 2, 1], 0), [3, 2, 1, 0]);
        }

        #[test]
        fn edges() {
            assert_eq!(with_last(vec![], 4), [4]);
            assert_eq!(with_last(vec![7, 7], 7), [7, 7, 7]);
            assert_eq!(with_last(vec![0; 50], 1).len(), 51);
        }
    }
}

pub mod without_last {
    //! Level 1. Return the numbers without the last one. An empty vector stays empty.
    //!
    //! without_last(vec![4, 5, 6]) == [4, 5]

    pub fn without_last(mut numbers: Vec<i32>) -> Vec<i32> {
        numbers.pop();
        numbers
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(without_last(vec![4, 5, 6]), [4, 5]);
        }

        #[test]
        fn usual() {
            assert_eq!(without_last(vec![1, 2]), [1]);
            assert_eq!(without_last(vec![9, 8, 7, 6]), [9, 8, 7]);
        }

        #[test]
        fn edges() {
            assert_eq!(without_last(vec![]), Vec::<i32>::new());
            assert_eq!(without_last(vec![3]), Vec::<i32>::new());
            assert_eq!(without_last(vec![0; 5]), [0; 4]);
        }
    }
}

pub mod zeros {
    //! Level 1. Return a vector with count zeros.
    //!
    //! zeros(3) == [0, 0, 0]

    pub fn zeros(count: usize) -> Vec<i32> {
        vec![0; count]
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(zeros(3), [0, 0, 0]);
        }

        #[test]
        fn small() {
            assert_eq!(zeros(0), Vec::<i32>::new());
            assert_eq!(zeros(1), [0]);
            assert_eq!(zeros(5), [0, 0, 0, 0, 0]);
        }

        #[test]
        fn large() {
            assert_eq!(zeros(300).len(), 300);
            assert_eq!(zeros(300).iter().sum::<i32>(), 0);
        }
    }
}

pub mod reversed {
    //! Level 1. Return the numbers in the opposite order.
    //!
    //! reversed(&[1, 2, 3]) == [3, 2, 1]

    pub fn reversed(numbers: &[i32]) -> Vec<i32> {
        numbers.iter().rev().copied().collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(reversed(&[1, 2, 3]), [3, 2, 1]);
        }

        #[test]
        fn usual() {
            assert_eq!(reversed(&[5, 9]), [9, 5]);
            assert_eq!(reversed(&[1, 1, 2]), [2, 1, 1]);
            assert_eq!(reversed(&[-1, 0, 1]), [1, 0, -1]);
        }

        #[test]
        fn edges() {
            assert_eq!(reversed(&[]), Vec::<i32>::new());
            assert_eq!(reversed(&[7]), [7]);
        }
    }
}

pub mod put_together {
    //! Level 1. Return the numbers of the first slice with those of the second slice behind them.
    //!
    //! put_together(&[1, 2], &[3]) == [1, 2, 3]

    pub fn put_together(first: &[i32], second: &[i32]) -> Vec<i32> {
        [first, second].concat()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(put_together(&[1, 2], &[3]), [1, 2, 3]);
        }

        #[test]
        fn usual() {
            assert_eq!(put_together(&[3], &[1, 2]), [3, 1, 2]);
            assert_eq!(put_together(&[5, 5], &[5]), [5, 5, 5]);
        }

        #[test]
        fn empty() {
            assert_eq!(put_together(&[], &[4]), [4]);
            assert_eq!(put_together(&[4], &[]), [4]);
            assert_eq!(put_together(&[], &[]), Vec::<i32>::new());
        }
    }
}

pub mod clear_negative {
    //! Level 2. Remove all negative numbers from the vector, in place. The others keep their order.
    //!
    //! let mut n = vec![3, -1, 4]; clear_negative(&mut n); n == [3, 4]

    pub fn clear_negative(numbers: &mut Vec<i32>) {
        numbers.retain(|&n| n >= 0);
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let mut n = vec![3, -1, 4];
            clear_negative(&mut n);
            assert_eq!(n, [3, 4]);
        }

        #[test]
        fn usual() {
            let mut n = vec![-5, 2, -5, 0, 7];
            clear_negative(&mut n);
            assert_eq!(n, [2, 0, 7]);
        }

        #[test]
        fn all() {
            let mut n = vec![-1, -2];
            clear_negative(&mut n);
            assert_eq!(n.len(), 0);
            let mut m = vec![1, -9, 2];
            clear_negative(&mut m);
            assert_eq!(m, [1, 2]);
        }

        #[test]
        fn mixed() {
            let mut n: Vec<i32> = (-50..50).collect();
            clear_negative(&mut n);
            assert_eq!(n.len(), 50);
            assert_eq!(n[0], 0);
            let mut e = vec![];
            clear_negative(&mut e);
            assert_eq!(e, Vec::<i32>::new());
        }
    }
}

pub mod swap_ends {
    //! Level 2. Swap the first and the last number of the slice. With fewer than two numbers nothing
    //! changes.
    //!
    //! let mut n = [1, 2, 3]; swap_ends(&mut n); n == [3, 2, 1]

    pub fn swap_ends(numbers: &mut [i32]) {
        if let [first, .., last] = numbers {
            std::mem::swap(first, last);
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let mut n = [1, 2, 3];
            swap_ends(&mut n);
            assert_eq!(n, [3, 2, 1]);
        }

        #[test]
        fn usual() {
            let mut n = [4, 5];
            swap_ends(&mut n);
            assert_eq!(n, [5, 4]);
            let mut m = [1, 2, 3, 4];
            swap_ends(&mut m);
            assert_eq!(m, [4, 2, 3, 1]);
        }

        #[test]
        fn short() {
            let mut n = [8];
            swap_ends(&mut n);
            assert_eq!(n, [8]);
            swap_ends(&mut []);
            let mut m = [6, 0, 7];
            swap_ends(&mut m);
            assert_eq!(m, [7, 0, 6]);
        }

        #[test]
        fn long() {
            let mut n: Vec<i32> = (0..50).collect();
            swap_ends(&mut n);
            assert_eq!((n[0], n[49]), (49, 0));
            assert_eq!(&n[1..49], (1..49).collect::<Vec<i32>>());
        }
    }
}

pub mod every_second {
    //! Level 2. Return every second number, starting with the first one.
    //!
    //! every_second(&[10, 20, 30, 40]) == [10, 30]

    pub fn every_second(numbers: &[i32]) -> Vec<i32> {
        numbers.iter().step_by(2).copied().collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(every_second(&[10, 20, 30, 40]), [10, 30]);
        }

        #[test]
        fn usual() {
            assert_eq!(every_second(&[1, 2, 3, 4, 5]), [1, 3, 5]);
            assert_eq!(every_second(&[7, 8]), [7]);
        }

        #[test]
        fn edges() {
            assert_eq!(every_second(&[]), Vec::<i32>::new());
            assert_eq!(every_second(&[6]), [6]);
            assert_eq!(every_second(&[0, 1, 0, 1]), [0, 0]);
        }
    }
}

pub mod in_chunks {
    //! Level 2. Cut the numbers into rows of size numbers each; the last row may be shorter. Size is at
    //! least 1.
    //!
    //! in_chunks(&[1, 2, 3, 4, 5], 2) == [vec![1, 2], vec![3, 4], vec![5]]

    pub fn in_chunks(numbers: &[i32], size: usize) -> Vec<Vec<i32>> {
        numbers.chunks(size).map(<[i32]>::to_vec).collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                in_chunks(&[1, 2, 3, 4, 5], 2),
                [vec![1, 2], vec![3, 4], vec![5]]
            );
        }

        #[test]
        fn usual() {
            assert_eq!(in_chunks(&[1, 2, 3, 4], 2), [[1, 2], [3, 4]]);
            assert_eq!(in_chunks(&[1, 2, 3], 1), [[1], [2], [3]]);
        }

        #[test]
        fn edges() {
            assert_eq!(in_chunks(&[], 3), Vec::<Vec<i32>>::new());
            assert_eq!(in_chunks(&[1, 2], 9), [[1, 2]]);
            assert_eq!(in_chunks(&[0; 10], 4).len(), 3);
        }
    }
}

pub mod rotate_left_by {
    //! Level 2. Return the numbers moved steps places to the left; those that fall out at the front come
    //! back at the end. Steps may be larger than the number of numbers.
    //!
    //! rotate_left_by(&[1, 2, 3, 4], 1) == [2, 3, 4, 1]

    pub fn rotate_left_by(numbers: &[i32], steps: usize) -> Vec<i32> {
        let mut result = numbers.to_vec();
        if !result.is_empty() {
            result.rotate_left(steps % numbers.len());
        }
        result
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(rotate_left_by(&[1, 2, 3, 4], 1), [2, 3, 4, 1]);
        }

        #[test]
        fn usual() {
            assert_eq!(rotate_left_by(&[1, 2, 3, 4], 3), [4, 1, 2, 3]);
            assert_eq!(rotate_left_by(&[1, 2, 3], 0), [1, 2, 3]);
        }

        #[test]
        fn wrap() {
            assert_eq!(rotate_left_by(&[1, 2, 3], 3), [1, 2, 3]);
            assert_eq!(rotate_left_by(&[1, 2, 3], 7), [2, 3, 1]);
            assert_eq!(rotate_left_by(&[1, 2], 1001), [2, 1]);
        }

        #[test]
        fn empty() {
            assert_eq!(rotate_left_by(&[], 5), Vec::<i32>::new());
            assert_eq!(rotate_left_by(&[9], 5), [9]);
        }
    }
}

pub mod without_repeats {
    //! Level 3. Return the numbers without later repetitions: of equal numbers only the first one stays,
    //! and the order is kept.
    //!
    //! without_repeats(&[3, 1, 3, 2, 1]) == [3, 1, 2]

    pub fn without_repeats(numbers: &[i32]) -> Vec<i32> {
        let mut seen = std::collections::HashSet::new();
        numbers
            .iter()
            .copied()
            .filter(|&n| seen.insert(n))
            .collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(without_repeats(&[3, 1, 3, 2, 1]), [3, 1, 2]);
        }

        #[test]
        fn usual() {
            assert_eq!(without_repeats(&[1, 2, 3]), [1, 2, 3]);
            assert_eq!(without_repeats(&[5, 5, 5]), [5]);
            assert_eq!(without_repeats(&[2, 1, 1, 2]), [2, 1]);
        }

        #[test]
        fn edges() {
            assert_eq!(without_repeats(&[]), Vec::<i32>::new());
            assert_eq!(without_repeats(&[0, -0, 1]), [0, 1]);
            assert_eq!(without_repeats(&[4; 1000]), [4]);
        }
    }
}

pub mod running_totals {
    //! Level 2. Return for each place the sum of all numbers up to and including that place.
    //!
    //! running_totals(&[1, 2, 3]) == [1, 3, 6]

    pub fn running_totals(numbers: &[i32]) -> Vec<i32> {
        let mut total = 0;
        let mut result = Vec::new();
        for n in numbers {
            total += n;
            result.push(total);
        }
        result
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(running_totals(&[1, 2, 3]), [1, 3, 6]);
        }

        #[test]
        fn usual() {
            assert_eq!(running_totals(&[5, 5]), [5, 10]);
            assert_eq!(running_totals(&[4, -4, 4]), [4, 0, 4]);
            assert_eq!(running_totals(&[0, 0, 1]), [0, 0, 1]);
        }

        #[test]
        fn edges() {
            assert_eq!(running_totals(&[]), Vec::<i32>::new());
            assert_eq!(running_totals(&[-3]), [-3]);
            assert_eq!(running_totals(&[1; 100])[99], 100);
        }
    }
}

pub mod merge_ordered {
    //! Level 3. Both slices are in ascending order. Return all their numbers in one vector in ascending
    //! order.
    //!
    //! merge_ordered(&[1, 4, 9], &[2, 4]) == [1, 2, 4, 4, 9]

    pub fn merge_ordered(first: &[i32], second: &[i32]) -> Vec<i32> {
        let (mut i, mut j) = (0, 0);
        let mut result = Vec::with_capacity(first.len() + second.len());
        while i < first.len() && j < second.len() {
            if second[j] < first[i] {
                result.push(second[j]);
                j += 1;
            } else {
                result.push(first[i]);
                i += 1;
            }
        }
        result.extend_from_slice(&first[i..]);
        result.extend_from_slice(&second[j..]);
        result
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(merge_ordered(&[1, 4, 9], &[2, 4]), [1, 2, 4, 4, 9]);
        }

        #[test]
        fn usual() {
            assert_eq!(merge_ordered(&[1, 3, 5], &[2, 4, 6]), [1, 2, 3, 4, 5, 6]);
            assert_eq!(merge_ordered(&[7, 8], &[1, 2]), [1, 2, 7, 8]);
        }

        #[test]
        fn empty() {
            assert_eq!(merge_ordered(&[], &[1, 2]), [1, 2]);
            assert_eq!(merge_ordered(&[1, 2], &[]), [1, 2]);
            assert_eq!(merge_ordered(&[], &[]), Vec::<i32>::new());
        }

        #[test]
        fn repeated() {
            assert_eq!(merge_ordered(&[2, 2], &[2]), [2, 2, 2]);
            assert_eq!(merge_ordered(&[-5, 0], &[-7, 9]), [-7, -5, 0, 9]);
        }
    }
}
