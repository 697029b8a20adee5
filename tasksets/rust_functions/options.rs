//! Options: values that may be missing.

pub mod value_or_zero {
    //! Level 1. Return the value inside the option, or 0 if there is none.
    //!
    //! value_or_zero(Some(5)) == 5
    //! value_or_zero(None) == 0

    pub fn value_or_zero(value: Option<i32>) -> i32 {
        value.unwrap_or(0)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(value_or_zero(Some(5)), 5);
            assert_eq!(value_or_zero(None), 0);
        }

        #[test]
        fn there() {
            assert_eq!(value_or_zero(Some(1)), 1);
            assert_eq!(value_or_zero(Some(-9)), -9);
            assert_eq!(value_or_zero(Some(i32::MAX)), i32::MAX);
        }

        #[test]
        fn missing() {
            assert_eq!(value_or_zero(None), 0);
            assert_eq!(value_or_zero(Some(0)), 0);
            assert_eq!(value_or_zero(Some(77)), 77);
        }
    }
}

pub mod has_value {
    //! Level 1. Say whether the option holds a value.
    //!
    //! has_value(Some(3)) == true
    //! has_value(None) == false

    pub fn has_value(value: Option<i32>) -> bool {
        value.is_some()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(has_value(Some(3)));
            assert!(!has_value(None));
        }

        #[test]
        fn zero() {
            assert!(has_value(Some(0)));
            assert!(!has_value(None));
        }

        #[test]
        fn more() {
            assert!(has_value(Some(-1)));
            assert!(has_value(Some(i32::MIN)));
            assert!(!has_value(None));
        }
    }
}

pub mod wrap {
    //! Level 1. Return an option that holds the number.
    //!
    //! wrap(4) == Some(4)

    pub fn wrap(number: i32) -> Option<i32> {
        Some(number)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(wrap(4), Some(4));
        }

        #[test]
        fn usual() {
            assert_eq!(wrap(1), Some(1));
            assert_eq!(wrap(-8), Some(-8));
            assert_eq!(wrap(100), Some(100));
        }

        #[test]
        fn edges() {
            assert_eq!(wrap(0), Some(0));
            assert_eq!(wrap(i32::MIN), Some(i32::MIN));
        }
    }
}

pub mod only_if_positive {
    //! Level 1. Return the number if it is above zero, else None.
    //!
    //! only_if_positive(5) == Some(5)
    //! only_if_positive(-5) == None

    pub fn only_if_positive(number: i32) -> Option<i32> {
        (number > 0).then_some(number)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(only_if_positive(5), Some(5));
            assert_eq!(only_if_positive(-5), None);
        }

        #[test]
        fn edge() {
            assert_eq!(only_if_positive(0), None);
            assert_eq!(only_if_positive(1), Some(1));
            assert_eq!(only_if_positive(-1), None);
        }

        #[test]
        fn large() {
            assert_eq!(only_if_positive(i32::MAX), Some(i32::MAX));
            assert_eq!(only_if_positive(i32::MIN), None);
        }
    }
}

pub mod add_if_there {
    //! Level 1. Return the number plus the amount; when there is no amount, return the number unchanged.
    //!
    //! add_if_there(10, Some(5)) == 15
    //! add_if_there(10, None) == 10

    pub fn add_if_there(number: i32, amount: Option<i32>) -> i32 {
        match amount {
            Some(amount) => number + amount,
            None => number,
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(add_if_there(10, Some(5)), 15);
            assert_eq!(add_if_there(10, None), 10);
        }

        #[test]
        fn there() {
            assert_eq!(add_if_there(0, Some(7)), 7);
            assert_eq!(add_if_there(7, Some(-7)), 0);
            assert_eq!(add_if_there(3, Some(0)), 3);
        }

        #[test]
        fn missing() {
            assert_eq!(add_if_there(0, None), 0);
            assert_eq!(add_if_there(-4, None), -4);
            assert_eq!(add_if_there(-4, Some(5)), 1);
        }
    }
}

pub mod safe_divide {
    //! Level 1. Return a divided by b, or None when b is zero.
    //!
    //! safe_divide(12, 4) == Some(3)
    //! safe_divide(1, 0) == None

    pub fn safe_divide(a: u32, b: u32) -> Option<u32> {
        a.checked_div(b)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(safe_divide(12, 4), Some(3));
            assert_eq!(safe_divide(1, 0), None);
        }

        #[test]
        fn usual() {
            assert_eq!(safe_divide(7, 2), Some(3));
            assert_eq!(safe_divide(0, 5), Some(0));
            assert_eq!(safe_divide(9, 9), Some(1));
        }

        #[test]
        fn zero() {
            assert_eq!(safe_divide(0, 0), None);
            assert_eq!(safe_divide(u32::MAX, 0), None);
            assert_eq!(safe_divide(u32::MAX, 1), Some(u32::MAX));
        }
    }
}

pub mod item_at {
    //! Level 2. Return the number at the index, or None when the index is negative or too large.
    //!
    //! item_at(&[4, 5, 6], 1) == Some(5)
    //! item_at(&[4, 5, 6], -1) == None

    pub fn item_at(numbers: &[i32], index: i64) -> Option<i32> {
        let index = usize::try_from(index).ok()?;
        numbers.get(index).copied()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(item_at(&[4, 5, 6], 1), Some(5));
            assert_eq!(item_at(&[4, 5, 6], -1), None);
        }

        #[test]
        fn inside() {
            assert_eq!(item_at(&[4, 5, 6], 0), Some(4));
            assert_eq!(item_at(&[4, 5, 6], 2), Some(6));
            assert_eq!(item_at(&[0], 0), Some(0));
        }

        #[test]
        fn outside() {
            assert_eq!(item_at(&[4, 5, 6], 3), None);
            assert_eq!(item_at(&[], 0), None);
            assert_eq!(item_at(&[1, 2], i64::MIN), None);
            assert_eq!(item_at(&[1, 2], i64::MAX), None);
        }
    }
}

pub mod first_longer_than {
    //! Level 2. Return the first word with more than limit bytes, or None if there is no such word.
    //!
    //! first_longer_than(&["a", "bird", "house"], 3) == Some("bird")
    //! first_longer_than(&["a"], 3) == None

    pub fn first_longer_than<'a>(words: &[&'a str], limit: usize) -> Option<&'a str> {
        words.iter().copied().find(|word| word.len() > limit)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(first_longer_than(&["a", "bird", "house"], 3), Some("bird"));
            assert_eq!(first_longer_than(&["a"], 3), None);
        }

        #[test]
        fn found() {
            assert_eq!(first_longer_than(&["one", "two"], 2), Some("one"));
            assert_eq!(first_longer_than(&["", "x"], 0), Some("x"));
            assert_eq!(first_longer_than(&["éé"], 3), Some("éé"));
        }

        #[test]
        fn missing() {
            assert_eq!(first_longer_than(&[], 0), None);
            assert_eq!(first_longer_than(&["abc", "def"], 3), None);
        }
    }
}

pub mod sum_of_options {
    //! Level 2. Return the sum of both values when both are there, else None.
    //!
    //! sum_of_options(Some(2), Some(3)) == Some(5)
    //! sum_of_options(Some(2), None) == None

    pub fn sum_of_options(a: Option<i32>, b: Option<i32>) -> Option<i32> {
        Some(a? + b?)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(sum_of_options(Some(2), Some(3)), Some(5));
            assert_eq!(sum_of_options(Some(2), None), None);
        }

        #[test]
        fn there() {
            assert_eq!(sum_of_options(Some(0), Some(0)), Some(0));
            assert_eq!(sum_of_options(Some(-4), Some(1)), Some(-3));
        }

        #[test]
        fn missing() {
            assert_eq!(sum_of_options(None, Some(1)), None);
            assert_eq!(sum_of_options(None, None), None);
            assert_eq!(sum_of_options(Some(0), None), None);
        }
    }
}

pub mod larger_option {
    //! Level 2. Return the larger of the values that are there, or None when both are missing.
    //!
    //! larger_option(Some(2), Some(9)) == Some(9)
    //! larger_option(None, Some(4)) == Some(4)

    pub fn larger_option(a: Option<i32>, b: Option<i32>) -> Option<i32> {
        a.max(b)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(larger_option(Some(2), Some(9)), Some(9));
            assert_eq!(larger_option(None, Some(4)), Some(4));
        }

        #[test]
        fn there() {
            assert_eq!(larger_option(Some(9), Some(2)), Some(9));
            assert_eq!(larger_option(Some(-5), Some(-7)), Some(-5));
            assert_eq!(larger_option(Some(1), Some(1)), Some(1));
        }

        #[test]
        fn missing() {
            assert_eq!(larger_option(Some(-4), None), Some(-4));
            assert_eq!(larger_option(None, None), None);
            assert_eq!(larger_option(None, Some(-8)), Some(-8));
        }
    }
}

pub mod present_values {
    //! Level 2. Return the values of all options that hold one, in order.
    //!
    //! present_values(&[Some(1), None, Some(3)]) == [1, 3]

    pub fn present_values(values: &[Option<i32>]) -> Vec<i32> {
        values.iter().flatten().copied().collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(present_values(&[Some(1), None, Some(3)]), [1, 3]);
        }

        #[test]
        fn usual() {
            assert_eq!(present_values(&[None, Some(0), None]), [0]);
            assert_eq!(present_values(&[Some(5), Some(5)]), [5, 5]);
        }

        #[test]
        fn none() {
            assert_eq!(present_values(&[]), Vec::<i32>::new());
            assert_eq!(present_values(&[None, None]), Vec::<i32>::new());
            assert_eq!(present_values(&[Some(-1)]), [-1]);
        }
    }
}

pub mod all_present {
    //! Level 3. Return all values in order, or None as soon as a single one is missing.
    //!
    //! all_present(&[Some(1), Some(2)]) == Some(vec![1, 2])
    //! all_present(&[Some(1), None]) == None

    pub fn all_present(values: &[Option<i32>]) -> Option<Vec<i32>> {
        values.iter().copied().collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(all_present(&[Some(1), Some(2)]), Some(vec![1, 2]));
            assert_eq!(all_present(&[Some(1), None]), None);
        }

        #[test]
        fn there() {
            assert_eq!(all_present(&[]), Some(vec![]));
            assert_eq!(all_present(&[Some(0)]), Some(vec![0]));
            assert_eq!(
                all_present(&[Some(3), Some(-3), Some(3)]),
                Some(vec![3, -3, 3])
            );
        }

        #[test]
        fn missing() {
            assert_eq!(all_present(&[None]), None);
            assert_eq!(all_present(&[None, Some(1), Some(2)]), None);
            assert_eq!(all_present(&[Some(1), Some(2), None]), None);
        }
    }
}

pub mod take_fuel {
    //! Level 3. Take the amount out of the tank and return it. When the tank holds less than that or
    //! there is no tank, change nothing and return None.
    //!
    //! let mut tank = Some(10); take_fuel(&mut tank, 4) == Some(4)
    //! let mut empty = None; take_fuel(&mut empty, 1) == None

    pub fn take_fuel(tank: &mut Option<u32>, amount: u32) -> Option<u32> {
        let level = tank.as_mut()?;
        *level = level.checked_sub(amount)?;
        Some(amount)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let mut tank = Some(10);
            assert_eq!(take_fuel(&mut tank, 4), Some(4));
            let mut empty = None;
            assert_eq!(take_fuel(&mut empty, 1), None);
        }

        #[test]
        fn enough() {
            let mut tank = Some(10);
            assert_eq!(take_fuel(&mut tank, 4), Some(4));
            assert_eq!(tank, Some(6));
            assert_eq!(take_fuel(&mut tank, 6), Some(6));
            assert_eq!(tank, Some(0));
            assert_eq!(take_fuel(&mut tank, 0), Some(0));
        }

        #[test]
        fn too_little() {
            let mut tank = Some(3);
            assert_eq!(take_fuel(&mut tank, 4), None);
            assert_eq!(tank, Some(3));
            assert_eq!(take_fuel(&mut tank, 3), Some(3));
            assert_eq!(take_fuel(&mut tank, 1), None);
        }

        #[test]
        fn missing() {
            let mut tank = None;
            assert_eq!(take_fuel(&mut tank, 0), None);
            assert_eq!(tank, None);
        }
    }
}
