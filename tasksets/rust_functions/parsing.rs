//! Parsing: numbers and small formats out of text, and text out of numbers.

pub mod number_to_text {
    //! Level 1. Return the number as decimal text.
    //!
    //! number_to_text(42) == "42"
    //! number_to_text(-7) == "-7"

    pub fn number_to_text(number: i32) -> String {
        number.to_string()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(number_to_text(42), "42");
            assert_eq!(number_to_text(-7), "-7");
        }

        #[test]
        fn usual() {
            assert_eq!(number_to_text(0), "0");
            assert_eq!(number_to_text(5), "5");
            assert_eq!(number_to_text(1000), "1000");
        }

        #[test]
        fn large() {
            assert_eq!(number_to_text(i32::MAX), "2147483647");
            assert_eq!(number_to_text(i32::MIN), "-2147483648");
        }
    }
}

pub mod text_to_number {
    //! Level 1. Return the whole number that the text says, or None if it says none.
    //!
    //! text_to_number("42") == Some(42)
    //! text_to_number("x") == None

    pub fn text_to_number(text: &str) -> Option<i32> {
        text.parse().ok()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(text_to_number("42"), Some(42));
            assert_eq!(text_to_number("x"), None);
        }

        #[test]
        fn good() {
            assert_eq!(text_to_number("0"), Some(0));
            assert_eq!(text_to_number("-15"), Some(-15));
            assert_eq!(text_to_number("007"), Some(7));
        }

        #[test]
        fn bad() {
            assert_eq!(text_to_number(""), None);
            assert_eq!(text_to_number("1.5"), None);
            assert_eq!(text_to_number("3 "), None);
            assert_eq!(text_to_number("99999999999"), None);
        }
    }
}

pub mod digit_value {
    //! Level 1. Return the value of a decimal digit, or None if the character is not one.
    //!
    //! digit_value('7') == Some(7)
    //! digit_value('x') == None

    pub fn digit_value(character: char) -> Option<u32> {
        character.to_digit(10)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(digit_value('7'), Some(7));
            assert_eq!(digit_value('x'), None);
        }

        #[test]
        fn digits() {
            assert_eq!(digit_value('0'), Some(0));
            assert_eq!(digit_value('9'), Some(9));
            assert_eq!(digit_value('1'), Some(1));
        }

        #[test]
        fn others() {
            assert_eq!(digit_value('a'), None);
            assert_eq!(digit_value(' '), None);
            assert_eq!(digit_value('-'), None);
            assert_eq!(digit_value('²'), None);
        }
    }
}

pub mod split_on_commas {
    //! Level 1. Return the parts of the text between its commas.
    //!
    //! split_on_commas("a,b,c") == ["a", "b", "c"]

    pub fn split_on_commas(text: &str) -> Vec<&str> {
        text.split(',').collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(split_on_commas("a,b,c"), ["a", "b", "c"]);
        }

        #[test]
        fn usual() {
            assert_eq!(split_on_commas("one"), ["one"]);
            assert_eq!(split_on_commas("x y,z"), ["x y", "z"]);
            assert_eq!(split_on_commas("1,2"), ["1", "2"]);
        }

        #[test]
        fn edges() {
            assert_eq!(split_on_commas(""), [""]);
            assert_eq!(split_on_commas(","), ["", ""]);
            assert_eq!(split_on_commas("é,,ö"), ["é", "", "ö"]);
        }
    }
}

pub mod sum_of_words {
    //! Level 2. The text holds whole numbers with white space between them. Return their sum and skip
    //! words that are no numbers.
    //!
    //! sum_of_words("10 apples and 5 pears") == 15

    pub fn sum_of_words(text: &str) -> i64 {
        text.split_whitespace()
            .filter_map(|word| word.parse::<i64>().ok())
            .sum()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(sum_of_words("10 apples and 5 pears"), 15);
        }

        #[test]
        fn usual() {
            assert_eq!(sum_of_words("1 2 3"), 6);
            assert_eq!(sum_of_words("-4 4"), 0);
            assert_eq!(sum_of_words("7"), 7);
        }

        #[test]
        fn edges() {
            assert_eq!(sum_of_words(""), 0);
            assert_eq!(sum_of_words("no numbers"), 0);
            assert_eq!(sum_of_words("3x 4 5.5"), 4);
            assert_eq!(sum_of_words(" \n9\t1 "), 10);
        }
    }
}

pub mod key_and_value {
    //! Level 2. Read a line "key = value" and return both without the white space around them. Return
    //! None when there is no equals sign; only the first one counts.
    //!
    //! key_and_value("color = red") == Some(("color", "red"))
    //! key_and_value("color") == None

    pub fn key_and_value(line: &str) -> Option<(&str, &str)> {
        let (key, value) = line.split_once('=')?;
        Some((key.trim(), value.trim()))
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(key_and_value("color = red"), Some(("color", "red")));
            assert_eq!(key_and_value("color"), None);
        }

        #[test]
        fn usual() {
            assert_eq!(key_and_value("a=b"), Some(("a", "b")));
            assert_eq!(key_and_value("  size=  10 cm "), Some(("size", "10 cm")));
            assert_eq!(key_and_value("x=y=z"), Some(("x", "y=z")));
        }

        #[test]
        fn edges() {
            assert_eq!(key_and_value(""), None);
            assert_eq!(key_and_value("="), Some(("", "")));
            assert_eq!(key_and_value("k="), Some(("k", "")));
        }
    }
}

pub mod time_to_minutes {
    //! Level 2. Read a time of day "HH:MM" and return the minutes since midnight. Hours from 0 to 23 and
    //! minutes from 0 to 59 are right, everything else gives None.
    //!
    //! time_to_minutes("01:30") == Some(90)
    //! time_to_minutes("25:00") == None

    pub fn time_to_minutes(time: &str) -> Option<u32> {
        let (hours, minutes) = time.split_once(':')?;
        let hours: u32 = hours.parse().ok()?;
        let minutes: u32 = minutes.parse().ok()?;
        (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(time_to_minutes("01:30"), Some(90));
            assert_eq!(time_to_minutes("25:00"), None);
        }

        #[test]
        fn good() {
            assert_eq!(time_to_minutes("00:00"), Some(0));
            assert_eq!(time_to_minutes("23:59"), Some(1439));
            assert_eq!(time_to_minutes("12:05"), Some(725));
        }

        #[test]
        fn bad() {
            assert_eq!(time_to_minutes("24:00"), None);
            assert_eq!(time_to_minutes("10:60"), None);
            assert_eq!(time_to_minutes("1030"), None);
            assert_eq!(time_to_minutes(""), None);
            assert_eq!(time_to_minutes("aa:bb"), None);
            assert_eq!(time_to_minutes("-1:10"), None);
        }
    }
}

pub mod hex_color {
    //! Level 2. Read a color "#RRGGBB" of three hexadecimal numbers with two digits each. Return None
    //! for anything else.
    //!
    //! hex_color("#ff8000") == Some((255, 128, 0))
    //! hex_color("ff8000") == None

    pub fn hex_color(text: &str) -> Option<(u8, u8, u8)> {
        let digits = text.strip_prefix('#')?;
        if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let part = |start: usize| u8::from_str_radix(&digits[start..start + 2], 16).ok();
        Some((part(0)?, part(2)?, part(4)?))
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(hex_color("#ff8000"), Some((255, 128, 0)));
            assert_eq!(hex_color("ff8000"), None);
        }

        #[test]
        fn good() {
            assert_eq!(hex_color("#000000"), Some((0, 0, 0)));
            assert_eq!(hex_color("#FFfFff"), Some((255, 255, 255)));
            assert_eq!(hex_color("#010203"), Some((1, 2, 3)));
        }

        #[test]
        fn bad() {
            assert_eq!(hex_color(""), None);
            assert_eq!(hex_color("#"), None);
            assert_eq!(hex_color("#12345"), None);
            assert_eq!(hex_color("#1234567"), None);
            assert_eq!(hex_color("#gg0000"), None);
            assert_eq!(hex_color("#éé00"), None);
            assert_eq!(hex_color("#+1+2+3"), None);
        }
    }
}

pub mod with_thousands {
    //! Level 2. Return the number with a comma between each three digits, counted from the right.
    //!
    //! with_thousands(1234567) == "1,234,567"
    //! with_thousands(12) == "12"

    pub fn with_thousands(number: u64) -> String {
        let digits = number.to_string();
        let groups: Vec<_> = digits
            .as_bytes()
            .rchunks(3)
            .rev()
            .map(String::from_utf8_lossy)
            .collect();
        groups.join(",")
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(with_thousands(1234567), "1,234,567");
            assert_eq!(with_thousands(12), "12");
        }

        #[test]
        fn small() {
            assert_eq!(with_thousands(0), "0");
            assert_eq!(with_thousands(999), "999");
            assert_eq!(with_thousands(1000), "1,000");
        }

        #[test]
        fn large() {
            assert_eq!(with_thousands(10_050), "10,050");
            assert_eq!(with_thousands(123_456), "123,456");
            assert_eq!(with_thousands(u64::MAX), "18,446,744,073,709,551,615");
        }
    }
}

pub mod roman_value {
    //! Level 3. Return the value of a Roman number in capital letters. A letter in front of a larger one
    //! is taken away, else it is added. Letters: I 1, V 5, X 10, L 50, C 100, D 500, M 1000; other
    //! characters give None, and an empty text is 0.
    //!
    //! roman_value("XIV") == Some(14)
    //! roman_value("ABC") == None

    pub fn roman_value(text: &str) -> Option<u32> {
        let mut total = 0;
        let mut largest = 0;
        for letter in text.chars().rev() {
            let value = match letter {
                'I' => 1,
                'V' => 5,
                'X' => 10,
                'L' => 50,
                'C' => 100,
                'D' => 500,
                'M' => 1000,
                _ => return None,
            };
            if value < largest {
                total -= value;
            } else {
                total += value;
                largest = value;
            }
        }
        Some(total)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(roman_value("XIV"), Some(14));
            assert_eq!(roman_value("ABC"), None);
        }

        #[test]
        fn single() {
            assert_eq!(roman_value("I"), Some(1));
            assert_eq!(roman_value("V"), Some(5));
            assert_eq!(roman_value("D"), Some(500));
            assert_eq!(roman_value(""), Some(0));
        }

        #[test]
        fn usual() {
            assert_eq!(roman_value("III"), Some(3));
            assert_eq!(roman_value("IX"), Some(9));
            assert_eq!(roman_value("XLII"), Some(42));
            assert_eq!(roman_value("MCMXCIV"), Some(1994));
            assert_eq!(roman_value("MMXXVI"), Some(2026));
        }

        #[test]
        fn bad() {
            assert_eq!(roman_value("xiv"), None);
            assert_eq!(roman_value("X I"), None);
            assert_eq!(roman_value("Q"), None);
        }
    }
}

pub mod brackets_match {
    //! Level 3. Say whether all brackets (), [] and {} in the text are closed by their own kind and in
    //! the right order. Other characters do not matter.
    //!
    //! brackets_match("a(b[c])") == true
    //! brackets_match("(]") == false

    pub fn brackets_match(text: &str) -> bool {
        let mut open = Vec::new();
        for character in text.chars() {
            match character {
                '(' => open.push(')'),
                '[' => open.push(']'),
                '{' => open.push('}'),
                ')' | ']' | '}' if open.pop() != Some(character) => return false,
                _ => {}
            }
        }
        open.is_empty()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(brackets_match("a(b[c])"));
            assert!(!brackets_match("(]"));
        }

        #[test]
        fn yes() {
            assert!(brackets_match(""));
            assert!(brackets_match("no brackets"));
            assert!(brackets_match("{[()]}()"));
            assert!(brackets_match("((()))"));
            assert!(!brackets_match("((())"));
        }

        #[test]
        fn no() {
            assert!(!brackets_match(")"));
            assert!(!brackets_match("("));
            assert!(!brackets_match("([)]"));
            assert!(!brackets_match("())("));
            assert!(!brackets_match("{]"));
            assert!(brackets_match("é(ü)"));
        }
    }
}

pub mod eval_sum {
    //! Level 3. Evaluate a text of whole numbers joined by + and -, such as "3 + 4-2", with spaces
    //! allowed around the numbers. Return None if the text has another form.
    //!
    //! eval_sum("3 + 4-2") == Some(5)
    //! eval_sum("3 +") == None

    pub fn eval_sum(text: &str) -> Option<i64> {
        let mut total = 0;
        let mut sign = 1;
        let mut rest = text;
        loop {
            let end = rest.find(['+', '-']).unwrap_or(rest.len());
            let number = rest[..end].trim();
            if !number.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            total += sign * number.parse::<i64>().ok()?;
            if end == rest.len() {
                return Some(total);
            }
            sign = if rest[end..].starts_with('+') { 1 } else { -1 };
            rest = &rest[end + 1..];
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(eval_sum("3 + 4-2"), Some(5));
            assert_eq!(eval_sum("3 +"), None);
        }

        #[test]
        fn good() {
            assert_eq!(eval_sum("7"), Some(7));
            assert_eq!(eval_sum("1+2+3"), Some(6));
            assert_eq!(eval_sum(" 10 - 20 "), Some(-10));
            assert_eq!(eval_sum("0-0"), Some(0));
        }

        #[test]
        fn bad() {
            assert_eq!(eval_sum(""), None);
            assert_eq!(eval_sum("+"), None);
            assert_eq!(eval_sum("1 2"), None);
            assert_eq!(eval_sum("2*3"), None);
            assert_eq!(eval_sum("1--2"), None);
            assert_eq!(eval_sum("x+1"), None);
        }

        #[test]
        fn long() {
            assert_eq!(eval_sum(&vec!["1"; 1000].join("+")), Some(1000));
        }
    }
}

pub mod nested_depth {
    //! Level 3. Return how deep the round brackets of the text are nested at most. When they do not
    //! match, return None.
    //!
    //! nested_depth("(a(b))") == Some(2)
    //! nested_depth("(()") == None

    pub fn nested_depth(text: &str) -> Option<usize> {
        let mut depth: usize = 0;
        let mut deepest = 0;
        for character in text.chars() {
            if character == '(' {
                depth += 1;
                deepest = deepest.max(depth);
            } else if character == ')' {
                depth = depth.checked_sub(1)?;
            }
        }
        (depth == 0).then_some(deepest)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(nested_depth("(a(b))"), Some(2));
            assert_eq!(nested_depth("(()"), None);
        }

        #[test]
        fn good() {
            assert_eq!(nested_depth(""), Some(0));
            assert_eq!(nested_depth("()()"), Some(1));
            assert_eq!(nested_depth("((()))()"), Some(3));
            assert_eq!(nested_depth("é"), Some(0));
        }

        #[test]
        fn bad() {
            assert_eq!(nested_depth(")"), None);
            assert_eq!(nested_depth("("), None);
            assert_eq!(nested_depth(")("), None);
            assert_eq!(nested_depth("())(()"), None);
        }
    }
}
