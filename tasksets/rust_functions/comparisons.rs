//! Comparisons: larger, smaller, between, equal, and choices that follow from them.

pub mod is_positive {
    //! Level 1. Say whether n is greater than zero.
    //!
    //! is_positive(3) == true
    //! is_positive(-3) == false

    pub fn is_positive(n: i32) -> bool {
        n > 0
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(is_positive(3));
            assert!(!is_positive(-3));
        }

        #[test]
        fn around_zero() {
            assert!(!is_positive(0));
            assert!(is_positive(1));
            assert!(!is_positive(-1));
        }

        #[test]
        fn large() {
            assert!(is_positive(i32::MAX));
            assert!(!is_positive(i32::MIN));
            assert!(is_positive(500));
        }
    }
}

pub mod is_equal {
    //! Level 1. Say whether the two numbers are the same.
    //!
    //! is_equal(4, 4) == true
    //! is_equal(4, 5) == false

    pub fn is_equal(a: i32, b: i32) -> bool {
        a == b
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(is_equal(4, 4));
            assert!(!is_equal(4, 5));
        }

        #[test]
        fn zero() {
            assert!(is_equal(0, 0));
            assert!(!is_equal(0, 1));
            assert!(!is_equal(1, 0));
        }

        #[test]
        fn signs() {
            assert!(!is_equal(3, -3));
            assert!(is_equal(-3, -3));
            assert!(!is_equal(-3, 3));
        }
    }
}

pub mod can_vote {
    //! Level 1. Say whether someone of this age may vote. People may vote from 18 years on.
    //!
    //! can_vote(20) == true
    //! can_vote(17) == false

    pub fn can_vote(age: u32) -> bool {
        age >= 18
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(can_vote(20));
            assert!(!can_vote(17));
        }

        #[test]
        fn edge() {
            assert!(can_vote(18));
            assert!(!can_vote(16));
            assert!(can_vote(19));
        }

        #[test]
        fn far() {
            assert!(!can_vote(0));
            assert!(can_vote(100));
            assert!(!can_vote(9));
        }
    }
}

pub mod larger {
    //! Level 1. Return whichever number is the larger one.
    //!
    //! larger(3, 8) == 8
    //! larger(5, -5) == 5

    pub fn larger(a: i32, b: i32) -> i32 {
        a.max(b)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(larger(3, 8), 8);
            assert_eq!(larger(5, -5), 5);
        }

        #[test]
        fn order() {
            assert_eq!(larger(1, 2), 2);
            assert_eq!(larger(2, 1), 2);
            assert_eq!(larger(6, 6), 6);
        }

        #[test]
        fn negative() {
            assert_eq!(larger(-4, -9), -4);
            assert_eq!(larger(-9, -4), -4);
            assert_eq!(larger(0, -1), 0);
        }
    }
}

pub mod smallest_of_three {
    //! Level 1. Return the smallest of three numbers.
    //!
    //! smallest_of_three(6, 4, 5) == 4

    pub fn smallest_of_three(a: i32, b: i32, c: i32) -> i32 {
        a.min(b).min(c)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(smallest_of_three(6, 4, 5), 4);
        }

        #[test]
        fn place() {
            assert_eq!(smallest_of_three(1, 5, 9), 1);
            assert_eq!(smallest_of_three(5, 9, 2), 2);
            assert_eq!(smallest_of_three(9, 1, 5), 1);
        }

        #[test]
        fn equal() {
            assert_eq!(smallest_of_three(4, 4, 4), 4);
            assert_eq!(smallest_of_three(4, 4, 7), 4);
        }

        #[test]
        fn negative() {
            assert_eq!(smallest_of_three(-1, -3, -2), -3);
            assert_eq!(smallest_of_three(0, 1, -7), -7);
        }
    }
}

pub mod between {
    //! Level 1. Say whether n lies between low and high, both ends included.
    //!
    //! between(5, 1, 10) == true
    //! between(11, 1, 10) == false

    pub fn between(n: i32, low: i32, high: i32) -> bool {
        low <= n && n <= high
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(between(5, 1, 10));
            assert!(!between(11, 1, 10));
        }

        #[test]
        fn ends() {
            assert!(between(1, 1, 10));
            assert!(between(10, 1, 10));
            assert!(!between(0, 1, 10));
        }

        #[test]
        fn negative() {
            assert!(between(-3, -5, -1));
            assert!(!between(-6, -5, -1));
            assert!(!between(0, -5, -1));
        }

        #[test]
        fn single() {
            assert!(between(4, 4, 4));
            assert!(!between(5, 4, 4));
            assert!(!between(3, 4, 4));
        }
    }
}

pub mod keep_in_range {
    //! Level 1. Return n if it lies between low and high, else the nearer of these two.
    //!
    //! keep_in_range(15, 0, 10) == 10
    //! keep_in_range(7, 0, 10) == 7

    pub fn keep_in_range(n: i32, low: i32, high: i32) -> i32 {
        n.clamp(low, high)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(keep_in_range(15, 0, 10), 10);
            assert_eq!(keep_in_range(7, 0, 10), 7);
        }

        #[test]
        fn below() {
            assert_eq!(keep_in_range(-4, 0, 10), 0);
            assert_eq!(keep_in_range(-9, -5, 5), -5);
        }

        #[test]
        fn ends() {
            assert_eq!(keep_in_range(0, 0, 10), 0);
            assert_eq!(keep_in_range(10, 0, 10), 10);
            assert_eq!(keep_in_range(3, 2, 2), 2);
        }

        #[test]
        fn inside() {
            assert_eq!(keep_in_range(5, 0, 10), 5);
            assert_eq!(keep_in_range(-3, -5, 5), -3);
        }
    }
}

pub mod sign_of {
    //! Level 1. Return 1 for a number above zero, -1 for one below zero and 0 for zero.
    //!
    //! sign_of(12) == 1
    //! sign_of(-5) == -1

    pub fn sign_of(n: i32) -> i32 {
        n.signum()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(sign_of(12), 1);
            assert_eq!(sign_of(-5), -1);
        }

        #[test]
        fn around_zero() {
            assert_eq!(sign_of(0), 0);
            assert_eq!(sign_of(1), 1);
            assert_eq!(sign_of(-1), -1);
        }

        #[test]
        fn large() {
            assert_eq!(sign_of(i32::MAX), 1);
            assert_eq!(sign_of(i32::MIN), -1);
        }
    }
}

pub mod longer_text {
    //! Level 1. Return the text with more bytes. When both are equally long, return the first one.
    //!
    //! longer_text("sun", "planet") == "planet"
    //! longer_text("abc", "xyz") == "abc"

    pub fn longer_text<'a>(first: &'a str, second: &'a str) -> &'a str {
        if second.len() > first.len() {
            second
        } else {
            first
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(longer_text("sun", "planet"), "planet");
            assert_eq!(longer_text("abc", "xyz"), "abc");
        }

        #[test]
        fn order() {
            assert_eq!(longer_text("planet", "sun"), "planet");
            assert_eq!(longer_text("a", "bb"), "bb");
        }

        #[test]
        fn empty() {
            assert_eq!(longer_text("", "x"), "x");
            assert_eq!(longer_text("x", ""), "x");
            assert_eq!(longer_text("", ""), "");
        }

        #[test]
        fn tie() {
            assert_eq!(longer_text("no", "on"), "no");
        }
    }
}

pub mod nearest_to {
    //! Level 2. Return whichever of a and b lies nearer to target. When both are equally near, return a.
    //!
    //! nearest_to(10, 8, 15) == 8
    //! nearest_to(10, 5, 15) == 5

    pub fn nearest_to(target: i32, a: i32, b: i32) -> i32 {
        if (target - b).abs() < (target - a).abs() {
            b
        } else {
            a
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(nearest_to(10, 8, 15), 8);
            assert_eq!(nearest_to(10, 5, 15), 5);
        }

        #[test]
        fn order() {
            assert_eq!(nearest_to(0, 9, 1), 1);
            assert_eq!(nearest_to(0, 1, 9), 1);
            assert_eq!(nearest_to(3, 3, 4), 3);
        }

        #[test]
        fn negative() {
            assert_eq!(nearest_to(-10, -9, 0), -9);
            assert_eq!(nearest_to(-10, 12, -30), -30);
            assert_eq!(nearest_to(0, -4, 4), -4);
        }

        #[test]
        fn tie() {
            assert_eq!(nearest_to(10, 15, 5), 15);
        }
    }
}

pub mod middle_of_three {
    //! Level 2. Return the number that is neither the largest nor the smallest of the three, once they
    //! are put in order.
    //!
    //! middle_of_three(3, 1, 2) == 2
    //! middle_of_three(5, 5, 1) == 5

    pub fn middle_of_three(a: i32, b: i32, c: i32) -> i32 {
        a.max(b).min(a.min(b).max(c))
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(middle_of_three(3, 1, 2), 2);
            assert_eq!(middle_of_three(5, 5, 1), 5);
        }

        #[test]
        fn orders() {
            assert_eq!(middle_of_three(1, 2, 3), 2);
            assert_eq!(middle_of_three(2, 3, 1), 2);
            assert_eq!(middle_of_three(3, 2, 1), 2);
            assert_eq!(middle_of_three(2, 1, 3), 2);
            assert_eq!(middle_of_three(1, 3, 2), 2);
        }

        #[test]
        fn equal() {
            assert_eq!(middle_of_three(4, 4, 4), 4);
            assert_eq!(middle_of_three(1, 4, 4), 4);
            assert_eq!(middle_of_three(1, 4, 1), 1);
        }

        #[test]
        fn negative() {
            assert_eq!(middle_of_three(-5, 0, 5), 0);
            assert_eq!(middle_of_three(-1, -2, -3), -2);
        }
    }
}

pub mod compare_words {
    //! Level 2. Compare two words by the alphabet without looking at upper and lower case of ASCII
    //! letters. Return the ordering of the first one to the second one.
    //!
    //! compare_words("Apple", "banana") == Ordering::Less
    //! compare_words("Tea", "tea") == Ordering::Equal

    use std::cmp::Ordering;

    pub fn compare_words(first: &str, second: &str) -> Ordering {
        first.to_ascii_lowercase().cmp(&second.to_ascii_lowercase())
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(compare_words("Apple", "banana"), Ordering::Less);
            assert_eq!(compare_words("Tea", "tea"), Ordering::Equal);
        }

        #[test]
        fn order() {
            assert_eq!(compare_words("b", "A"), Ordering::Greater);
            assert_eq!(compare_words("a", "B"), Ordering::Less);
            assert_eq!(compare_words("Z", "a"), Ordering::Greater);
        }

        #[test]
        fn prefix() {
            assert_eq!(compare_words("car", "Cart"), Ordering::Less);
            assert_eq!(compare_words("CART", "car"), Ordering::Greater);
        }

        #[test]
        fn empty() {
            assert_eq!(compare_words("", ""), Ordering::Equal);
            assert_eq!(compare_words("", "a"), Ordering::Less);
        }
    }
}

pub mod valid_triangle {
    //! Level 2. Say whether three side lengths form a triangle: each side must be shorter than the two
    //! others together.
    //!
    //! valid_triangle(3, 4, 5) == true
    //! valid_triangle(1, 2, 3) == false

    pub fn valid_triangle(a: u32, b: u32, c: u32) -> bool {
        a < b + c && b < a + c && c < a + b
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(valid_triangle(3, 4, 5));
            assert!(!valid_triangle(1, 2, 3));
        }

        #[test]
        fn good() {
            assert!(valid_triangle(1, 1, 1));
            assert!(valid_triangle(2, 2, 3));
            assert!(valid_triangle(10, 6, 7));
        }

        #[test]
        fn bad() {
            assert!(!valid_triangle(1, 1, 5));
            assert!(valid_triangle(3, 3, 5));
            assert!(!valid_triangle(5, 1, 1));
            assert!(!valid_triangle(1, 5, 1));
        }

        #[test]
        fn flat() {
            assert!(!valid_triangle(0, 0, 0));
            assert!(valid_triangle(3, 4, 2));
            assert!(!valid_triangle(2, 4, 2));
            assert!(!valid_triangle(4, 2, 2));
        }
    }
}

pub mod overlap_length {
    //! Level 3. Two stretches of a line run from start to end, start never above end. Return the length
    //! that they have in common, 0 when they do not overlap.
    //!
    //! overlap_length((0, 5), (3, 9)) == 2
    //! overlap_length((0, 2), (4, 6)) == 0

    pub fn overlap_length(first: (i32, i32), second: (i32, i32)) -> i32 {
        (first.1.min(second.1) - first.0.max(second.0)).max(0)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(overlap_length((0, 5), (3, 9)), 2);
            assert_eq!(overlap_length((0, 2), (4, 6)), 0);
        }

        #[test]
        fn inside() {
            assert_eq!(overlap_length((0, 10), (2, 5)), 3);
            assert_eq!(overlap_length((2, 5), (0, 10)), 3);
            assert_eq!(overlap_length((1, 4), (1, 4)), 3);
        }

        #[test]
        fn apart() {
            assert_eq!(overlap_length((4, 6), (0, 2)), 0);
            assert_eq!(overlap_length((0, 2), (2, 6)), 0);
            assert_eq!(overlap_length((3, 3), (0, 9)), 0);
        }

        #[test]
        fn negative() {
            assert_eq!(overlap_length((-8, -2), (-4, 7)), 2);
        }
    }
}
