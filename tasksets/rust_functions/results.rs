//! Results: functions that can fail and say why.

pub mod checked_age {
    //! Level 1. Return the age if it is at most 150, else the error "too old".
    //!
    //! checked_age(30) == Ok(30)
    //! checked_age(200) == Err("too old")

    pub fn checked_age(age: u32) -> Result<u32, &'static str> {
        if age <= 150 {
            Ok(age)
        } else {
            Err("too old")
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(checked_age(30), Ok(30));
            assert_eq!(checked_age(200), Err("too old"));
        }

        #[test]
        fn good() {
            assert_eq!(checked_age(0), Ok(0));
            assert_eq!(checked_age(150), Ok(150));
            assert_eq!(checked_age(99), Ok(99));
        }

        #[test]
        fn bad() {
            assert_eq!(checked_age(151), Err("too old"));
            assert_eq!(checked_age(u32::MAX), Err("too old"));
        }
    }
}

pub mod divide_or_error {
    //! Level 1. Return a divided by b, or the error "division by zero" when b is 0.
    //!
    //! divide_or_error(9, 3) == Ok(3)
    //! divide_or_error(9, 0) == Err("division by zero")

    pub fn divide_or_error(a: i32, b: i32) -> Result<i32, &'static str> {
        if b == 0 {
            return Err("division by zero");
        }
        Ok(a / b)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(divide_or_error(9, 3), Ok(3));
            assert_eq!(divide_or_error(9, 0), Err("division by zero"));
        }

        #[test]
        fn good() {
            assert_eq!(divide_or_error(0, 5), Ok(0));
            assert_eq!(divide_or_error(-9, 2), Ok(-4));
            assert_eq!(divide_or_error(7, 7), Ok(1));
        }

        #[test]
        fn bad() {
            assert_eq!(divide_or_error(0, 0), Err("division by zero"));
            assert_eq!(divide_or_error(-1, 0), Err("division by zero"));
            assert_eq!(divide_or_error(5, 1), Ok(5));
        }
    }
}

pub mod ok_or_minus_one {
    //! Level 1. Return the value of a success, and -1 for a failure.
    //!
    //! ok_or_minus_one(Ok(8)) == 8
    //! ok_or_minus_one(Err("lost".to_string())) == -1

    pub fn ok_or_minus_one(result: Result<i32, String>) -> i32 {
        result.unwrap_or(-1)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(ok_or_minus_one(Ok(8)), 8);
            assert_eq!(ok_or_minus_one(Err("lost".to_string())), -1);
        }

        #[test]
        fn good() {
            assert_eq!(ok_or_minus_one(Ok(0)), 0);
            assert_eq!(ok_or_minus_one(Ok(-5)), -5);
            assert_eq!(ok_or_minus_one(Ok(120)), 120);
        }

        #[test]
        fn bad() {
            assert_eq!(ok_or_minus_one(Err(String::new())), -1);
            assert_eq!(ok_or_minus_one(Err("x".to_string())), -1);
            assert_eq!(ok_or_minus_one(Ok(1)), 1);
        }
    }
}

pub mod is_success {
    //! Level 1. Say whether the result is a success.
    //!
    //! is_success(&Ok(3)) == true
    //! is_success(&Err("no".to_string())) == false

    pub fn is_success(result: &Result<i32, String>) -> bool {
        result.is_ok()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(is_success(&Ok(3)));
            assert!(!is_success(&Err("no".to_string())));
        }

        #[test]
        fn zero() {
            assert!(is_success(&Ok(0)));
            assert!(!is_success(&Err(String::new())));
        }

        #[test]
        fn more() {
            assert!(is_success(&Ok(-1)));
            assert!(!is_success(&Err("ok".to_string())));
            assert!(is_success(&Ok(99)));
        }
    }
}

pub mod error_text {
    //! Level 2. Return the text of the error, or an empty text for a success.
    //!
    //! error_text(Err("disk full".to_string())) == "disk full"
    //! error_text(Ok(4)) == ""

    pub fn error_text(result: Result<i32, String>) -> String {
        result.err().unwrap_or_default()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(error_text(Err("disk full".to_string())), "disk full");
            assert_eq!(error_text(Ok(4)), "");
        }

        #[test]
        fn bad() {
            assert_eq!(error_text(Err("e".to_string())), "e");
            assert_eq!(error_text(Err("größer".to_string())), "größer");
            assert_eq!(error_text(Err(String::new())), "");
        }

        #[test]
        fn good() {
            assert_eq!(error_text(Ok(0)), "");
            assert_eq!(error_text(Ok(-7)), "");
            assert_eq!(error_text(Err("0".to_string())), "0");
        }
    }
}

pub mod find_user {
    //! Level 2. Names are listed by user number, starting at 0. Return the name for the number, or the
    //! error "no user N" with the number in place of N.
    //!
    //! find_user(&["ann", "ben"], 1) == Ok("ben")
    //! find_user(&["ann", "ben"], 5) == Err("no user 5".to_string())

    pub fn find_user<'a>(names: &[&'a str], number: usize) -> Result<&'a str, String> {
        names
            .get(number)
            .copied()
            .ok_or_else(|| format!("no user {number}"))
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(find_user(&["ann", "ben"], 1), Ok("ben"));
            assert_eq!(find_user(&["ann", "ben"], 5), Err("no user 5".to_string()));
        }

        #[test]
        fn good() {
            assert_eq!(find_user(&["ann", "ben"], 0), Ok("ann"));
            assert_eq!(find_user(&["x", "y", "z"], 2), Ok("z"));
            assert_eq!(find_user(&[""], 0), Ok(""));
        }

        #[test]
        fn bad() {
            assert_eq!(find_user(&[], 0), Err("no user 0".to_string()));
            assert_eq!(find_user(&["ann"], 1), Err("no user 1".to_string()));
            assert_eq!(find_user(&["ann"], 123), Err("no user 123".to_string()));
        }
    }
}

pub mod checked_password {
    //! Level 2. Return Ok if the password has at least 8 characters and a digit. Else return the error
    //! "too short", or "no digit" when only the digit is missing.
    //!
    //! checked_password("secret123") == Ok(())
    //! checked_password("abc") == Err("too short")

    pub fn checked_password(password: &str) -> Result<(), &'static str> {
        if password.chars().count() < 8 {
            Err("too short")
        } else if !password.chars().any(|c| c.is_ascii_digit()) {
            Err("no digit")
        } else {
            Ok(())
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(checked_password("secret123"), Ok(()));
            assert_eq!(checked_password("abc"), Err("too short"));
        }

        #[test]
        fn good() {
            assert_eq!(checked_password("12345678"), Ok(()));
            assert_eq!(checked_password("abcdefg1"), Ok(()));
            assert_eq!(checked_password("pässwör7"), Ok(()));
        }

        #[test]
        fn bad() {
            assert_eq!(checked_password(""), Err("too short"));
            assert_eq!(checked_password("abc1234"), Err("too short"));
            assert_eq!(checked_password("abcdefgh"), Err("no digit"));
            assert_eq!(checked_password("ééééééé"), Err("too short"));
        }
    }
}

pub mod withdraw {
    //! Level 2. Return what is left of the balance when amount is taken out. When the balance is too
    //! small, the error says how much is missing.
    //!
    //! withdraw(100, 30) == Ok(70)
    //! withdraw(20, 50) == Err(30)

    pub fn withdraw(balance: u32, amount: u32) -> Result<u32, u32> {
        balance.checked_sub(amount).ok_or_else(|| amount - balance)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(withdraw(100, 30), Ok(70));
            assert_eq!(withdraw(20, 50), Err(30));
        }

        #[test]
        fn good() {
            assert_eq!(withdraw(30, 30), Ok(0));
            assert_eq!(withdraw(5, 0), Ok(5));
            assert_eq!(withdraw(0, 0), Ok(0));
        }

        #[test]
        fn bad() {
            assert_eq!(withdraw(0, 1), Err(1));
            assert_eq!(withdraw(9, 10), Err(1));
            assert_eq!(withdraw(1, u32::MAX), Err(u32::MAX - 1));
        }
    }
}

pub mod first_failure {
    //! Level 2. Return the message of the first failure, or None when all results are successes.
    //!
    //! first_failure(&[Ok(1), Err("bad"), Err("worse")]) == Some("bad")
    //! first_failure(&[Ok(1)]) == None

    pub fn first_failure<'a>(results: &[Result<i32, &'a str>]) -> Option<&'a str> {
        results.iter().find_map(|result| result.err())
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                first_failure(&[Ok(1), Err("bad"), Err("worse")]),
                Some("bad")
            );
            assert_eq!(first_failure(&[Ok(1)]), None);
        }

        #[test]
        fn some() {
            assert_eq!(first_failure(&[Err("a")]), Some("a"));
            assert_eq!(first_failure(&[Ok(0), Ok(1), Err("end")]), Some("end"));
            assert_eq!(first_failure(&[Err(""), Err("b")]), Some(""));
        }

        #[test]
        fn none() {
            assert_eq!(first_failure(&[]), None);
            assert_eq!(first_failure(&[Ok(0), Ok(0)]), None);
        }
    }
}

pub mod sum_or_first_error {
    //! Level 3. Return the sum of all values, or the first error if there is one.
    //!
    //! sum_or_first_error(&[Ok(1), Ok(2)]) == Ok(3)
    //! sum_or_first_error(&[Ok(1), Err("x"), Err("y")]) == Err("x")

    pub fn sum_or_first_error<'a>(results: &[Result<i32, &'a str>]) -> Result<i32, &'a str> {
        results.iter().copied().sum()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(sum_or_first_error(&[Ok(1), Ok(2)]), Ok(3));
            assert_eq!(sum_or_first_error(&[Ok(1), Err("x"), Err("y")]), Err("x"));
        }

        #[test]
        fn good() {
            assert_eq!(sum_or_first_error(&[]), Ok(0));
            assert_eq!(sum_or_first_error(&[Ok(-4)]), Ok(-4));
            assert_eq!(sum_or_first_error(&[Ok(5); 10]), Ok(50));
        }

        #[test]
        fn bad() {
            assert_eq!(sum_or_first_error(&[Err("e")]), Err("e"));
            assert_eq!(sum_or_first_error(&[Err("1"), Ok(2), Err("3")]), Err("1"));
            assert_eq!(sum_or_first_error(&[Ok(9), Ok(9), Err("z")]), Err("z"));
        }
    }
}

pub mod split_results {
    //! Level 3. Return the values of the successes and the messages of the failures, each in order.
    //!
    //! split_results(vec![Ok(1), Err("no"), Ok(2)]) == (vec![1, 2], vec!["no"])

    pub fn split_results(results: Vec<Result<i32, &str>>) -> (Vec<i32>, Vec<&str>) {
        let mut values = Vec::new();
        let mut messages = Vec::new();
        for result in results {
            match result {
                Ok(value) => values.push(value),
                Err(message) => messages.push(message),
            }
        }
        (values, messages)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                split_results(vec![Ok(1), Err("no"), Ok(2)]),
                (vec![1, 2], vec!["no"])
            );
        }

        #[test]
        fn one_kind() {
            assert_eq!(split_results(vec![Ok(5), Ok(6)]), (vec![5, 6], vec![]));
            assert_eq!(
                split_results(vec![Err("a"), Err("b")]),
                (vec![], vec!["a", "b"])
            );
        }

        #[test]
        fn mixed() {
            assert_eq!(
                split_results(vec![Err("x"), Ok(0), Err("")]),
                (vec![0], vec!["x", ""])
            );
            assert_eq!(split_results(vec![]), (vec![], vec![]));
        }

        #[test]
        fn large() {
            assert_eq!(split_results(vec![Ok(3); 40]).0.len(), 40);
            assert_eq!(split_results(vec![Err("q"); 40]).1.len(), 40);
        }
    }
}

pub mod parse_pair {
    //! Level 3. Read a text of the form "A,B" as two whole numbers. Return the error "no comma" when
    //! there is no comma, and "not a number" when one side cannot be read.
    //!
    //! parse_pair("3,-4") == Ok((3, -4))
    //! parse_pair("34") == Err("no comma")

    pub fn parse_pair(text: &str) -> Result<(i32, i32), &'static str> {
        let (a, b) = text.split_once(',').ok_or("no comma")?;
        let read = |part: &str| part.parse().map_err(|_| "not a number");
        Ok((read(a)?, read(b)?))
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(parse_pair("3,-4"), Ok((3, -4)));
            assert_eq!(parse_pair("34"), Err("no comma"));
        }

        #[test]
        fn good() {
            assert_eq!(parse_pair("0,0"), Ok((0, 0)));
            assert_eq!(parse_pair("12,500"), Ok((12, 500)));
            assert_eq!(parse_pair("-1,7"), Ok((-1, 7)));
        }

        #[test]
        fn bad() {
            assert_eq!(parse_pair(""), Err("no comma"));
            assert_eq!(parse_pair(","), Err("not a number"));
            assert_eq!(parse_pair("1,x"), Err("not a number"));
            assert_eq!(parse_pair("x,1"), Err("not a number"));
            assert_eq!(parse_pair("1,2,3"), Err("not a number"));
        }

        #[test]
        fn too_large() {
            assert_eq!(parse_pair("99999999999,1"), Err("not a number"));
        }
    }
}
