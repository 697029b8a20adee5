//! Booleans: and, or, not, and questions with a yes or a no.

pub mod both {
    //! Level 1. Say whether both values are true.
    //!
    //! both(true, true) == true
    //! both(true, false) == false

    pub fn both(a: bool, b: bool) -> bool {
        a && b
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(both(true, true));
            assert!(!both(true, false));
        }

        #[test]
        fn mixed() {
            assert!(!both(false, true));
            assert!(both(true, true));
        }

        #[test]
        fn all() {
            assert!(!both(false, false));
            assert!(both(true, true));
            assert!(!both(true, false));
            assert!(!both(false, true));
        }
    }
}

pub mod either {
    //! Level 1. Say whether at least one of the two values is true.
    //!
    //! either(true, false) == true
    //! either(false, false) == false

    pub fn either(a: bool, b: bool) -> bool {
        a || b
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(either(true, false));
            assert!(!either(false, false));
        }

        #[test]
        fn mixed() {
            assert!(either(false, true));
            assert!(!either(false, false));
        }

        #[test]
        fn all() {
            assert!(either(true, true));
            assert!(either(true, false));
            assert!(either(false, true));
            assert!(!either(false, false));
        }
    }
}

pub mod opposite {
    //! Level 1. Return the other truth value.
    //!
    //! opposite(true) == false

    pub fn opposite(value: bool) -> bool {
        !value
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(!opposite(true));
        }

        #[test]
        fn turned() {
            assert!(opposite(false));
            assert!(!opposite(true));
        }

        #[test]
        fn twice() {
            assert!(opposite(opposite(true)));
            assert!(!opposite(opposite(false)));
            assert!(opposite(opposite(opposite(false))));
        }
    }
}

pub mod exactly_one {
    //! Level 1. Say whether one of the two values is true and the other one is not.
    //!
    //! exactly_one(true, false) == true
    //! exactly_one(true, true) == false

    pub fn exactly_one(a: bool, b: bool) -> bool {
        a != b
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(exactly_one(true, false));
            assert!(!exactly_one(true, true));
        }

        #[test]
        fn differing() {
            assert!(exactly_one(false, true));
            assert!(!exactly_one(true, true));
        }

        #[test]
        fn all() {
            assert!(!exactly_one(false, false));
            assert!(exactly_one(true, false));
            assert!(exactly_one(false, true));
        }
    }
}

pub mod neither {
    //! Level 1. Say whether none of the two values is true.
    //!
    //! neither(false, false) == true
    //! neither(true, false) == false

    pub fn neither(a: bool, b: bool) -> bool {
        !(a || b)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(neither(false, false));
            assert!(!neither(true, false));
        }

        #[test]
        fn mixed() {
            assert!(!neither(false, true));
            assert!(neither(false, false));
        }

        #[test]
        fn all() {
            assert!(!neither(true, true));
            assert!(neither(false, false));
            assert!(!neither(true, false));
        }
    }
}

pub mod is_even {
    //! Level 1. Say whether n can be divided by two without a remainder.
    //!
    //! is_even(4) == true
    //! is_even(7) == false

    pub fn is_even(n: i32) -> bool {
        n % 2 == 0
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(is_even(4));
            assert!(!is_even(7));
        }

        #[test]
        fn small() {
            assert!(is_even(0));
            assert!(!is_even(1));
            assert!(is_even(2));
        }

        #[test]
        fn negative() {
            assert!(is_even(-8));
            assert!(!is_even(-3));
            assert!(!is_even(-1));
        }

        #[test]
        fn large() {
            assert!(is_even(1_000_000));
            assert!(!is_even(2_147_483_647));
        }
    }
}

pub mod stay_home {
    //! Level 1. Stay at home when it rains and there is no umbrella. Say whether to stay at home.
    //!
    //! stay_home(true, false) == true
    //! stay_home(true, true) == false

    pub fn stay_home(raining: bool, has_umbrella: bool) -> bool {
        raining && !has_umbrella
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(stay_home(true, false));
            assert!(!stay_home(true, true));
        }

        #[test]
        fn dry() {
            assert!(!stay_home(false, false));
            assert!(!stay_home(false, true));
            assert!(stay_home(true, false));
        }

        #[test]
        fn all() {
            assert!(stay_home(true, false));
            assert!(!stay_home(true, true));
            assert!(!stay_home(false, true));
        }
    }
}

pub mod bool_to_number {
    //! Level 1. Return 1 for true and 0 for false.
    //!
    //! bool_to_number(true) == 1
    //! bool_to_number(false) == 0

    pub fn bool_to_number(value: bool) -> i32 {
        i32::from(value)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(bool_to_number(true), 1);
            assert_eq!(bool_to_number(false), 0);
        }

        #[test]
        fn both_values() {
            assert_eq!(bool_to_number(true), 1);
            assert_eq!(bool_to_number(false), 0);
        }

        #[test]
        fn questions() {
            assert_eq!(bool_to_number(3 > 2), 1);
            assert_eq!(bool_to_number(2 > 3), 0);
            assert_eq!(bool_to_number(true) + bool_to_number(true), 2);
        }
    }
}

pub mod yes_or_no {
    //! Level 1. Return the text "yes" for true and "no" for false.
    //!
    //! yes_or_no(true) == "yes"

    pub fn yes_or_no(value: bool) -> &'static str {
        if value {
            "yes"
        } else {
            "no"
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(yes_or_no(true), "yes");
        }

        #[test]
        fn both_values() {
            assert_eq!(yes_or_no(true), "yes");
            assert_eq!(yes_or_no(false), "no");
        }

        #[test]
        fn questions() {
            assert_eq!(yes_or_no(1 < 2), "yes");
            assert_eq!(yes_or_no(1 > 2), "no");
            assert_eq!(yes_or_no(false).len(), 2);
        }
    }
}

pub mod ticket_is_free {
    //! Level 2. Children under 6 enter for free, and so do members of any age. Say whether the ticket is
    //! free.
    //!
    //! ticket_is_free(4, false) == true
    //! ticket_is_free(30, false) == false

    pub fn ticket_is_free(age: u32, member: bool) -> bool {
        member || age < 6
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(ticket_is_free(4, false));
            assert!(!ticket_is_free(30, false));
        }

        #[test]
        fn children() {
            assert!(ticket_is_free(0, false));
            assert!(ticket_is_free(5, false));
            assert!(!ticket_is_free(6, false));
        }

        #[test]
        fn members() {
            assert!(ticket_is_free(40, true));
            assert!(ticket_is_free(5, true));
            assert!(!ticket_is_free(40, false));
        }
    }
}

pub mod majority {
    //! Level 2. Say whether at least two of the three votes are true.
    //!
    //! majority(true, true, false) == true
    //! majority(true, false, false) == false

    pub fn majority(a: bool, b: bool, c: bool) -> bool {
        u8::from(a) + u8::from(b) + u8::from(c) >= 2
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(majority(true, true, false));
            assert!(!majority(true, false, false));
        }

        #[test]
        fn two() {
            assert!(majority(true, false, true));
            assert!(majority(false, true, true));
            assert!(!majority(false, false, true));
        }

        #[test]
        fn one() {
            assert!(!majority(false, true, false));
            assert!(!majority(true, false, false));
            assert!(majority(true, true, false));
        }

        #[test]
        fn same() {
            assert!(majority(true, true, true));
            assert!(!majority(false, false, false));
        }
    }
}

pub mod leap_year {
    //! Level 2. Say whether a year is a leap year: divisible by 4, but of the full centuries only those
    //! divisible by 400.
    //!
    //! leap_year(2024) == true
    //! leap_year(1900) == false

    pub fn leap_year(year: i32) -> bool {
        (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(leap_year(2024));
            assert!(!leap_year(1900));
        }

        #[test]
        fn usual() {
            assert!(leap_year(2012));
            assert!(!leap_year(2011));
            assert!(!leap_year(2014));
            assert!(leap_year(1996));
        }

        #[test]
        fn centuries() {
            assert!(leap_year(2000));
            assert!(!leap_year(2100));
            assert!(leap_year(1600));
            assert!(!leap_year(1800));
        }
    }
}

pub mod all_equal_flags {
    //! Level 2. Say whether all flags have the same value. A slice with no flag or with one counts as
    //! equal.
    //!
    //! all_equal_flags(&[true, true, true]) == true
    //! all_equal_flags(&[true, false]) == false

    pub fn all_equal_flags(flags: &[bool]) -> bool {
        flags.windows(2).all(|pair| pair[0] == pair[1])
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(all_equal_flags(&[true, true, true]));
            assert!(!all_equal_flags(&[true, false]));
        }

        #[test]
        fn short() {
            assert!(all_equal_flags(&[]));
            assert!(all_equal_flags(&[false]));
            assert!(all_equal_flags(&[true]));
            assert!(!all_equal_flags(&[false, true]));
        }

        #[test]
        fn long() {
            assert!(all_equal_flags(&[false; 40]));
            assert!(!all_equal_flags(&[true, true, true, false]));
            assert!(!all_equal_flags(&[false, true, false, false]));
        }
    }
}

pub mod longest_true_run {
    //! Level 3. Return the length of the longest stretch of neighbouring true values.
    //!
    //! longest_true_run(&[true, true, false, true]) == 2
    //! longest_true_run(&[false]) == 0

    pub fn longest_true_run(flags: &[bool]) -> usize {
        flags
            .split(|flag| !flag)
            .map(|run| run.len())
            .max()
            .unwrap_or(0)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(longest_true_run(&[true, true, false, true]), 2);
            assert_eq!(longest_true_run(&[false]), 0);
        }

        #[test]
        fn short() {
            assert_eq!(longest_true_run(&[]), 0);
            assert_eq!(longest_true_run(&[true]), 1);
        }

        #[test]
        fn places() {
            assert_eq!(longest_true_run(&[true, false, true, true, true]), 3);
            assert_eq!(longest_true_run(&[false, true, true, false]), 2);
        }

        #[test]
        fn long() {
            assert_eq!(longest_true_run(&[true; 100]), 100);
            assert_eq!(longest_true_run(&[false; 100]), 0);
        }
    }
}
