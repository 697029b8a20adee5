//! Tuples: a few values in one, taken apart and put together.

pub mod swap_pair {
    //! Level 1. Return the two values in the other order.
    //!
    //! swap_pair((1, 2)) == (2, 1)

    pub fn swap_pair(pair: (i32, i32)) -> (i32, i32) {
        (pair.1, pair.0)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(swap_pair((1, 2)), (2, 1));
        }

        #[test]
        fn usual() {
            assert_eq!(swap_pair((5, 9)), (9, 5));
            assert_eq!(swap_pair((9, 5)), (5, 9));
        }

        #[test]
        fn edges() {
            assert_eq!(swap_pair((0, -1)), (-1, 0));
            assert_eq!(swap_pair((7, 7)), (7, 7));
            assert_eq!(swap_pair((i32::MIN, i32::MAX)), (i32::MAX, i32::MIN));
        }
    }
}

pub mod make_pair {
    //! Level 1. Return a tuple of the name and the age.
    //!
    //! make_pair("Ida", 30) == ("Ida", 30)

    pub fn make_pair(name: &str, age: u32) -> (&str, u32) {
        (name, age)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(make_pair("Ida", 30), ("Ida", 30));
        }

        #[test]
        fn usual() {
            assert_eq!(make_pair("Bo", 1), ("Bo", 1));
            assert_eq!(make_pair("Zoë", 88), ("Zoë", 88));
        }

        #[test]
        fn edges() {
            assert_eq!(make_pair("", 0), ("", 0));
            assert_eq!(make_pair("0", 7), ("0", 7));
            assert_eq!(make_pair("a b", u32::MAX), ("a b", u32::MAX));
        }
    }
}

pub mod sum_of_pair {
    //! Level 1. Return the sum of the two parts of the tuple.
    //!
    //! sum_of_pair((3, 4)) == 7

    pub fn sum_of_pair(pair: (i32, i32)) -> i32 {
        let (a, b) = pair;
        a + b
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(sum_of_pair((3, 4)), 7);
        }

        #[test]
        fn usual() {
            assert_eq!(sum_of_pair((10, 20)), 30);
            assert_eq!(sum_of_pair((-5, 2)), -3);
            assert_eq!(sum_of_pair((1, 1)), 2);
        }

        #[test]
        fn edges() {
            assert_eq!(sum_of_pair((0, 0)), 0);
            assert_eq!(sum_of_pair((8, 0)), 8);
            assert_eq!(sum_of_pair((0, -8)), -8);
        }
    }
}

pub mod first_of_three {
    //! Level 1. Return the first part of the triple.
    //!
    //! first_of_three((7, 8, 9)) == 7

    pub fn first_of_three(triple: (i32, i32, i32)) -> i32 {
        triple.0
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(first_of_three((7, 8, 9)), 7);
        }

        #[test]
        fn usual() {
            assert_eq!(first_of_three((1, 2, 3)), 1);
            assert_eq!(first_of_three((-4, 0, 4)), -4);
        }

        #[test]
        fn edges() {
            assert_eq!(first_of_three((0, 1, 1)), 0);
            assert_eq!(first_of_three((5, 5, 6)), 5);
            assert_eq!(first_of_three((i32::MAX, 0, 0)), i32::MAX);
        }
    }
}

pub mod quotient_and_rest {
    //! Level 1. Divide a by b and return the whole quotient together with the remainder. The divisor b
    //! is not zero.
    //!
    //! quotient_and_rest(17, 5) == (3, 2)

    pub fn quotient_and_rest(a: u32, b: u32) -> (u32, u32) {
        (a / b, a % b)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(quotient_and_rest(17, 5), (3, 2));
        }

        #[test]
        fn usual() {
            assert_eq!(quotient_and_rest(20, 4), (5, 0));
            assert_eq!(quotient_and_rest(3, 7), (0, 3));
            assert_eq!(quotient_and_rest(9, 1), (9, 0));
        }

        #[test]
        fn edges() {
            assert_eq!(quotient_and_rest(0, 3), (0, 0));
            assert_eq!(quotient_and_rest(u32::MAX, 10), (429_496_729, 5));
        }
    }
}

pub mod ordered_pair {
    //! Level 1. Return the two numbers as a pair with the smaller one first.
    //!
    //! ordered_pair(9, 4) == (4, 9)

    pub fn ordered_pair(a: i32, b: i32) -> (i32, i32) {
        if a <= b {
            (a, b)
        } else {
            (b, a)
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(ordered_pair(9, 4), (4, 9));
        }

        #[test]
        fn usual() {
            assert_eq!(ordered_pair(1, 2), (1, 2));
            assert_eq!(ordered_pair(2, 1), (1, 2));
            assert_eq!(ordered_pair(3, 3), (3, 3));
        }

        #[test]
        fn negative() {
            assert_eq!(ordered_pair(-1, -2), (-2, -1));
            assert_eq!(ordered_pair(0, -5), (-5, 0));
            assert_eq!(ordered_pair(-5, 0), (-5, 0));
        }
    }
}

pub mod smallest_and_largest {
    //! Level 2. Return a pair of the smallest and the largest value. An empty slice gives None.
    //!
    //! smallest_and_largest(&[4, 1, 9]) == Some((1, 9))
    //! smallest_and_largest(&[]) == None

    pub fn smallest_and_largest(numbers: &[i32]) -> Option<(i32, i32)> {
        Some((*numbers.iter().min()?, *numbers.iter().max()?))
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(smallest_and_largest(&[4, 1, 9]), Some((1, 9)));
            assert_eq!(smallest_and_largest(&[]), None);
        }

        #[test]
        fn usual() {
            assert_eq!(smallest_and_largest(&[2, 3]), Some((2, 3)));
            assert_eq!(smallest_and_largest(&[3, 2]), Some((2, 3)));
            assert_eq!(smallest_and_largest(&[-1, -9, -4]), Some((-9, -1)));
        }

        #[test]
        fn edges() {
            assert_eq!(smallest_and_largest(&[5]), Some((5, 5)));
            assert_eq!(smallest_and_largest(&[0, 0]), Some((0, 0)));
            assert_eq!(smallest_and_largest(&[]), None);
        }
    }
}

pub mod hours_minutes {
    //! Level 2. The two parts of a journey take so many minutes each. Return the time of both together
    //! as full hours and remaining minutes: "H h M min".
    //!
    //! hours_minutes((90, 0)) == "1 h 30 min"
    //! hours_minutes((50, 20)) == "1 h 10 min"

    pub fn hours_minutes(parts: (u32, u32)) -> String {
        let total = parts.0 + parts.1;
        format!("{} h {} min", total / 60, total % 60)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(hours_minutes((90, 0)), "1 h 30 min");
            assert_eq!(hours_minutes((50, 20)), "1 h 10 min");
        }

        #[test]
        fn usual() {
            assert_eq!(hours_minutes((30, 29)), "0 h 59 min");
            assert_eq!(hours_minutes((30, 30)), "1 h 0 min");
            assert_eq!(hours_minutes((100, 45)), "2 h 25 min");
        }

        #[test]
        fn edges() {
            assert_eq!(hours_minutes((0, 0)), "0 h 0 min");
            assert_eq!(hours_minutes((0, 1440)), "24 h 0 min");
        }
    }
}

pub mod steps_between {
    //! Level 2. Walking goes along streets only, never diagonally. Return the number of steps from one
    //! point to another point of the grid.
    //!
    //! steps_between((0, 0), (3, 4)) == 7

    pub fn steps_between(start: (i32, i32), end: (i32, i32)) -> u32 {
        start.0.abs_diff(end.0) + start.1.abs_diff(end.1)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(steps_between((0, 0), (3, 4)), 7);
        }

        #[test]
        fn usual() {
            assert_eq!(steps_between((3, 4), (0, 0)), 7);
            assert_eq!(steps_between((1, 9), (4, 2)), 10);
            assert_eq!(steps_between((5, 5), (5, 9)), 4);
        }

        #[test]
        fn edges() {
            assert_eq!(steps_between((2, 2), (2, 2)), 0);
            assert_eq!(steps_between((-3, 4), (3, -4)), 14);
            assert_eq!(steps_between((-1, 0), (1, 0)), 2);
        }
    }
}

pub mod unzip_scores {
    //! Level 2. Return all names and all scores of the pairs, each in a vector of its own.
    //!
    //! unzip_scores(&[("ann", 3), ("ben", 5)]) == (vec!["ann", "ben"], vec![3, 5])

    pub fn unzip_scores<'a>(pairs: &[(&'a str, u32)]) -> (Vec<&'a str>, Vec<u32>) {
        pairs.iter().copied().unzip()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                unzip_scores(&[("ann", 3), ("ben", 5)]),
                (vec!["ann", "ben"], vec![3, 5])
            );
        }

        #[test]
        fn usual() {
            assert_eq!(unzip_scores(&[("x", 0)]), (vec!["x"], vec![0]));
            assert_eq!(
                unzip_scores(&[("b", 2), ("a", 1), ("b", 2)]),
                (vec!["b", "a", "b"], vec![2, 1, 2])
            );
        }

        #[test]
        fn edges() {
            assert_eq!(unzip_scores(&[]), (vec![], vec![]));
            assert_eq!(unzip_scores(&[("é", 9); 20]).0.len(), 20);
            assert_eq!(unzip_scores(&[("é", 9); 20]).1, [9; 20]);
        }
    }
}

pub mod winner_name {
    //! Level 2. Each pair holds a name and its points. Return the name with the most points; of equals
    //! the one that comes first. Return None if there are no pairs.
    //!
    //! winner_name(&[("ann", 3), ("ben", 5)]) == Some("ben")
    //! winner_name(&[("ann", 5), ("ben", 5)]) == Some("ann")

    pub fn winner_name<'a>(pairs: &[(&'a str, i32)]) -> Option<&'a str> {
        let most = pairs.iter().map(|pair| pair.1).max()?;
        pairs.iter().find(|pair| pair.1 == most).map(|pair| pair.0)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(winner_name(&[("ann", 3), ("ben", 5)]), Some("ben"));
            assert_eq!(winner_name(&[("ann", 5), ("ben", 5)]), Some("ann"));
        }

        #[test]
        fn usual() {
            assert_eq!(winner_name(&[("c", 1), ("b", 0), ("a", 1)]), Some("c"));
            assert_eq!(winner_name(&[("z", 1), ("y", 2), ("x", 3)]), Some("x"));
        }

        #[test]
        fn edges() {
            assert_eq!(winner_name(&[]), None);
            assert_eq!(winner_name(&[("solo", 0)]), Some("solo"));
            assert_eq!(winner_name(&[("p", -3), ("q", -1), ("r", -2)]), Some("q"));
        }
    }
}

pub mod add_fractions {
    //! Level 3. A fraction is a pair of numerator and denominator. Return the sum of both, with no
    //! common divisor left above and below. Denominators are above zero.
    //!
    //! add_fractions((1, 2), (1, 3)) == (5, 6)
    //! add_fractions((1, 4), (1, 4)) == (1, 2)

    pub fn add_fractions(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
        let top = a.0 * b.1 + b.0 * a.1;
        let bottom = a.1 * b.1;
        let (mut divisor, mut rest) = (top, bottom);
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        (top / divisor, bottom / divisor)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(add_fractions((1, 2), (1, 3)), (5, 6));
            assert_eq!(add_fractions((1, 4), (1, 4)), (1, 2));
        }

        #[test]
        fn usual() {
            assert_eq!(add_fractions((1, 6), (1, 10)), (4, 15));
            assert_eq!(add_fractions((3, 4), (5, 4)), (2, 1));
            assert_eq!(add_fractions((2, 3), (3, 2)), (13, 6));
        }

        #[test]
        fn zero() {
            assert_eq!(add_fractions((0, 5), (0, 7)), (0, 1));
            assert_eq!(add_fractions((0, 3), (2, 4)), (1, 2));
        }

        #[test]
        fn large() {
            assert_eq!(add_fractions((1, 1_000_000), (1, 1_000_000)), (1, 500_000));
        }
    }
}
