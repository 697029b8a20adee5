//! Recursion: numbers, lists and trees that are made of smaller ones.

pub mod factorial {
    //! Level 1. Return the product of all whole numbers from 1 to n. For 0 it is 1.
    //!
    //! factorial(5) == 120
    //! factorial(0) == 1

    pub fn factorial(n: u64) -> u64 {
        if n == 0 {
            1
        } else {
            n * factorial(n - 1)
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(factorial(5), 120);
            assert_eq!(factorial(0), 1);
        }

        #[test]
        fn small() {
            assert_eq!(factorial(1), 1);
            assert_eq!(factorial(2), 2);
            assert_eq!(factorial(3), 6);
            assert_eq!(factorial(6), 720);
        }

        #[test]
        fn large() {
            assert_eq!(factorial(12), 479_001_600);
            assert_eq!(factorial(20), 2_432_902_008_176_640_000);
        }
    }
}

pub mod count_digits {
    //! Level 1. Return how many decimal digits n has. The number 0 has one digit.
    //!
    //! count_digits(4096) == 4
    //! count_digits(0) == 1

    pub fn count_digits(n: u64) -> u32 {
        if n < 10 {
            1
        } else {
            1 + count_digits(n / 10)
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(count_digits(4096), 4);
            assert_eq!(count_digits(0), 1);
        }

        #[test]
        fn small() {
            assert_eq!(count_digits(7), 1);
            assert_eq!(count_digits(9), 1);
            assert_eq!(count_digits(10), 2);
            assert_eq!(count_digits(100), 3);
        }

        #[test]
        fn large() {
            assert_eq!(count_digits(999_999), 6);
            assert_eq!(count_digits(u64::MAX), 20);
        }
    }
}

pub mod rabbit_pairs {
    //! Level 2. There is 1 pair in month 1 and 1 pair in month 2. In each later month there are as many
    //! pairs as in the two months before together. Return the pairs of a month, 0 for month 0.
    //!
    //! rabbit_pairs(6) == 8

    pub fn rabbit_pairs(month: u32) -> u64 {
        fn after(steps: u32, current: u64, next: u64) -> u64 {
            match steps {
                0 => current,
                _ => after(steps - 1, next, current + next),
            }
        }
        after(month, 0, 1)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(rabbit_pairs(6), 8);
        }

        #[test]
        fn small() {
            assert_eq!(rabbit_pairs(0), 0);
            assert_eq!(rabbit_pairs(1), 1);
            assert_eq!(rabbit_pairs(2), 1);
            assert_eq!(rabbit_pairs(3), 2);
            assert_eq!(rabbit_pairs(7), 13);
        }

        #[test]
        fn large() {
            assert_eq!(rabbit_pairs(30), 832_040);
            assert_eq!(rabbit_pairs(90), 2_880_067_194_370_816_120);
        }
    }
}

pub mod to_binary {
    //! Level 2. Return the number in binary notation, without leading zeros. Zero is "0".
    //!
    //! to_binary(10) == "1010"
    //! to_binary(0) == "0"

    pub fn to_binary(n: u32) -> String {
        match n {
            0 | 1 => n.to_string(),
            _ => to_binary(n / 2) + &to_binary(n % 2),
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(to_binary(10), "1010");
            assert_eq!(to_binary(0), "0");
        }

        #[test]
        fn small() {
            assert_eq!(to_binary(1), "1");
            assert_eq!(to_binary(2), "10");
            assert_eq!(to_binary(7), "111");
            assert_eq!(to_binary(8), "1000");
        }

        #[test]
        fn large() {
            assert_eq!(to_binary(255), "11111111");
            assert_eq!(to_binary(1 << 20).len(), 21);
            assert_eq!(to_binary(u32::MAX), "1".repeat(32));
        }
    }
}

pub mod stair_ways {
    //! Level 2. A staircase is climbed by one or two steps at a time. Return in how many ways one can
    //! climb n steps; for no step at all there is one way.
    //!
    //! stair_ways(3) == 3

    pub fn stair_ways(n: u32) -> u64 {
        let mut ways = (1, 1);
        for _ in 0..n {
            ways = (ways.1, ways.0 + ways.1);
        }
        ways.0
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(stair_ways(3), 3);
        }

        #[test]
        fn small() {
            assert_eq!(stair_ways(0), 1);
            assert_eq!(stair_ways(1), 1);
            assert_eq!(stair_ways(2), 2);
            assert_eq!(stair_ways(4), 5);
        }

        #[test]
        fn large() {
            assert_eq!(stair_ways(10), 89);
            assert_eq!(stair_ways(60), 2_504_730_781_961);
        }
    }
}

pub mod hanoi_moves {
    //! Level 2. Return how many moves the tower game needs to bring n disks from one peg to another:
    //! move all but the lowest disk away, then the lowest, then the others on top of it.
    //!
    //! hanoi_moves(2) == 3

    pub fn hanoi_moves(n: u32) -> u64 {
        match n {
            0 => 0,
            _ => 2 * hanoi_moves(n - 1) + 1,
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(hanoi_moves(2), 3);
        }

        #[test]
        fn small() {
            assert_eq!(hanoi_moves(0), 0);
            assert_eq!(hanoi_moves(1), 1);
            assert_eq!(hanoi_moves(3), 7);
            assert_eq!(hanoi_moves(4), 15);
        }

        #[test]
        fn large() {
            assert_eq!(hanoi_moves(20), 1_048_575);
            assert_eq!(hanoi_moves(50), 1_125_899_906_842_623);
        }
    }
}

pub mod list_total {
    //! Level 2. A list is either empty or a number with another list behind it. Return the sum of its
    //! numbers.
    //!
    //! list_total(&List::Node(3, Box::new(List::Empty))) == 3

    pub enum List {
        Empty,
        Node(i32, Box<List>),
    }

    pub fn list_total(list: &List) -> i32 {
        match list {
            List::Empty => 0,
            List::Node(number, rest) => number + list_total(rest),
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(list_total(&List::Node(3, Box::new(List::Empty))), 3);
        }

        #[test]
        fn short() {
            assert_eq!(list_total(&List::Empty), 0);
            assert_eq!(list_total(&List::Node(-8, Box::new(List::Empty))), -8);
        }

        #[test]
        fn two() {
            let two = List::Node(1, Box::new(List::Node(2, Box::new(List::Empty))));
            assert_eq!(list_total(&two), 3);
            assert_eq!(list_total(&List::Node(10, Box::new(two))), 13);
        }

        #[test]
        fn long() {
            let list = (0..100).fold(List::Empty, |rest, n| List::Node(n, Box::new(rest)));
            assert_eq!(list_total(&list), 4950);
        }
    }
}

pub mod tree_depth {
    //! Level 2. Return the number of nodes on the longest way from the root of the tree down to a leaf;
    //! no tree has depth 0.
    //!
    //! tree_depth(&None) == 0
    //! tree_depth(&Some(Box::new(Node { left: None, right: None }))) == 1

    pub struct Node {
        pub left: Option<Box<Node>>,
        pub right: Option<Box<Node>>,
    }

    pub fn tree_depth(tree: &Option<Box<Node>>) -> usize {
        match tree {
            None => 0,
            Some(node) => 1 + tree_depth(&node.left).max(tree_depth(&node.right)),
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(tree_depth(&None), 0);
            assert_eq!(
                tree_depth(&Some(Box::new(Node {
                    left: None,
                    right: None
                }))),
                1
            );
        }

        #[test]
        fn left() {
            let leaf = Some(Box::new(Node {
                left: None,
                right: None,
            }));
            let tree = Some(Box::new(Node {
                left: leaf,
                right: None,
            }));
            assert_eq!(tree_depth(&tree), 2);
            assert_eq!(
                tree_depth(&Some(Box::new(Node {
                    left: tree,
                    right: None
                }))),
                3
            );
        }

        #[test]
        fn right() {
            let leaf = Some(Box::new(Node {
                left: None,
                right: None,
            }));
            let tree = Some(Box::new(Node {
                left: None,
                right: leaf,
            }));
            assert_eq!(tree_depth(&tree), 2);
            assert_eq!(
                tree_depth(&Some(Box::new(Node {
                    left: Some(Box::new(Node {
                        left: None,
                        right: None
                    })),
                    right: tree
                }))),
                3
            );
        }
    }
}

pub mod digital_root {
    //! Level 2. Add up the decimal digits of n, then those of the sum, and so on until one digit is
    //! left. Return that digit.
    //!
    //! digital_root(987) == 6

    pub fn digital_root(n: u64) -> u64 {
        if n < 10 {
            return n;
        }
        digital_root(n / 10 + n % 10)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(digital_root(987), 6);
        }

        #[test]
        fn small() {
            assert_eq!(digital_root(0), 0);
            assert_eq!(digital_root(9), 9);
            assert_eq!(digital_root(10), 1);
            assert_eq!(digital_root(18), 9);
        }

        #[test]
        fn large() {
            assert_eq!(digital_root(123_456_789), 9);
            assert_eq!(digital_root(u64::MAX), 6);
        }
    }
}

pub mod power_by_halving {
    //! Level 3. Return base to the power exponent, modulo modulus. The exponent may be huge, so halve it
    //! at each step; modulus lies between 1 and 4 billion.
    //!
    //! power_by_halving(3, 4, 50) == 31

    pub fn power_by_halving(base: u64, exponent: u64, modulus: u64) -> u64 {
        if exponent == 0 {
            return 1 % modulus;
        }
        let half = power_by_halving(base, exponent / 2, modulus);
        let even = half * half % modulus;
        if exponent % 2 == 1 {
            even * (base % modulus) % modulus
        } else {
            even
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(power_by_halving(3, 4, 50), 31);
        }

        #[test]
        fn small() {
            assert_eq!(power_by_halving(2, 0, 7), 1);
            assert_eq!(power_by_halving(2, 10, 1000), 24);
            assert_eq!(power_by_halving(5, 1, 3), 2);
            assert_eq!(power_by_halving(0, 5, 9), 0);
        }

        #[test]
        fn edges() {
            assert_eq!(power_by_halving(9, 0, 1), 0);
            assert_eq!(power_by_halving(0, 0, 5), 1);
        }

        #[test]
        fn large() {
            assert_eq!(power_by_halving(2, 1_000_000_006, 1_000_000_007), 1);
            assert_eq!(power_by_halving(10, u64::MAX, 11), 10);
        }
    }
}

pub mod all_subsets {
    //! Level 3. Return all selections of the numbers, the empty one too. First come those without the
    //! first number, then the same ones with it in front.
    //!
    //! all_subsets(&[1, 2]) == [vec![], vec![2], vec![1], vec![1, 2]]

    pub fn all_subsets(numbers: &[i32]) -> Vec<Vec<i32>> {
        let Some((first, rest)) = numbers.split_first() else {
            return vec![vec![]];
        };
        let without = all_subsets(rest);
        let with = without
            .iter()
            .map(|subset| [&[*first], &subset[..]].concat());
        without.iter().cloned().chain(with).collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(all_subsets(&[1, 2]), [vec![], vec![2], vec![1], vec![1, 2]]);
        }

        #[test]
        fn small() {
            assert_eq!(all_subsets(&[]), [Vec::<i32>::new()]);
            assert_eq!(all_subsets(&[7]), [vec![], vec![7]]);
        }

        #[test]
        fn three() {
            assert_eq!(
                all_subsets(&[1, 2, 3]),
                [
                    vec![],
                    vec![3],
                    vec![2],
                    vec![2, 3],
                    vec![1],
                    vec![1, 3],
                    vec![1, 2],
                    vec![1, 2, 3]
                ]
            );
            assert_eq!(all_subsets(&[5, 5]), [vec![], vec![5], vec![5], vec![5, 5]]);
        }

        #[test]
        fn large() {
            assert_eq!(all_subsets(&[0; 10]).len(), 1024);
        }
    }
}

pub mod coin_ways {
    //! Level 3. Return in how many ways the amount can be paid with coins of the given values, each as
    //! often as wanted; the order of coins does not matter. Values are different and above zero.
    //!
    //! coin_ways(5, &[1, 2, 5]) == 4
    //! coin_ways(3, &[2]) == 0

    pub fn coin_ways(amount: usize, coins: &[usize]) -> u64 {
        let mut ways = vec![0; amount + 1];
        ways[0] = 1;
        for &coin in coins {
            for sum in coin..=amount {
                ways[sum] += ways[sum - coin];
            }
        }
        ways[amount]
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(coin_ways(5, &[1, 2, 5]), 4);
            assert_eq!(coin_ways(3, &[2]), 0);
        }

        #[test]
        fn small() {
            assert_eq!(coin_ways(0, &[]), 1);
            assert_eq!(coin_ways(0, &[3]), 1);
            assert_eq!(coin_ways(4, &[]), 0);
            assert_eq!(coin_ways(4, &[4]), 1);
        }

        #[test]
        fn usual() {
            assert_eq!(coin_ways(10, &[5, 2, 1]), 10);
            assert_eq!(coin_ways(12, &[3, 4]), 2);
            assert_eq!(coin_ways(7, &[9]), 0);
        }

        #[test]
        fn large() {
            assert_eq!(coin_ways(100, &[1, 5, 10, 25, 50]), 292);
        }
    }
}
