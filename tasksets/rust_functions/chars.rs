//! Characters: what kind they are, what comes next, and counting them in a text.

pub mod is_vowel {
    //! Level 1. Say whether the character is one of the lower-case vowels a, e, i, o and u.
    //!
    //! is_vowel('a') == true
    //! is_vowel('b') == false

    pub fn is_vowel(letter: char) -> bool {
        matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u')
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(is_vowel('a'));
            assert!(!is_vowel('b'));
        }

        #[test]
        fn vowels() {
            assert!(is_vowel('e'));
            assert!(is_vowel('i'));
            assert!(is_vowel('o'));
            assert!(is_vowel('u'));
            assert!(!is_vowel('y'));
        }

        #[test]
        fn others() {
            assert!(!is_vowel('z'));
            assert!(!is_vowel('A'));
            assert!(!is_vowel(' '));
            assert!(!is_vowel('1'));
            assert!(is_vowel('a'));
        }
    }
}

pub mod first_char {
    //! Level 1. Return the first character of the text, or None if the text is empty.
    //!
    //! first_char("rust") == Some('r')
    //! first_char("") == None

    pub fn first_char(text: &str) -> Option<char> {
        text.chars().next()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(first_char("rust"), Some('r'));
            assert_eq!(first_char(""), None);
        }

        #[test]
        fn usual() {
            assert_eq!(first_char("x"), Some('x'));
            assert_eq!(first_char(" a"), Some(' '));
            assert_eq!(first_char("42"), Some('4'));
        }

        #[test]
        fn unicode() {
            assert_eq!(first_char("éa"), Some('é'));
            assert_eq!(first_char("日本"), Some('日'));
        }
    }
}

pub mod last_char_or {
    //! Level 1. Return the last character of the text, or the fallback if the text is empty.
    //!
    //! last_char_or("rust", '-') == 't'
    //! last_char_or("", '-') == '-'

    pub fn last_char_or(text: &str, fallback: char) -> char {
        text.chars().last().unwrap_or(fallback)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(last_char_or("rust", '-'), 't');
            assert_eq!(last_char_or("", '-'), '-');
        }

        #[test]
        fn usual() {
            assert_eq!(last_char_or("a", 'z'), 'a');
            assert_eq!(last_char_or("ab ", 'z'), ' ');
        }

        #[test]
        fn edges() {
            assert_eq!(last_char_or("", 'q'), 'q');
            assert_eq!(last_char_or("né", 'z'), 'é');
            assert_eq!(last_char_or("12", '0'), '2');
        }
    }
}

pub mod count_chars {
    //! Level 1. Return how many characters the text has. An accented letter is one character.
    //!
    //! count_chars("hello") == 5
    //! count_chars("né") == 2

    pub fn count_chars(text: &str) -> usize {
        text.chars().count()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(count_chars("hello"), 5);
            assert_eq!(count_chars("né"), 2);
        }

        #[test]
        fn ascii() {
            assert_eq!(count_chars("a b"), 3);
            assert_eq!(count_chars(""), 0);
            assert_eq!(count_chars("!"), 1);
        }

        #[test]
        fn unicode() {
            assert_eq!(count_chars("日本語"), 3);
            assert_eq!(count_chars("über"), 4);
            assert_eq!(count_chars("🦀"), 1);
        }
    }
}

pub mod count_letter {
    //! Level 1. Return how often the letter occurs in the text.
    //!
    //! count_letter("banana", 'a') == 3
    //! count_letter("banana", 'x') == 0

    pub fn count_letter(text: &str, letter: char) -> usize {
        text.chars().filter(|&c| c == letter).count()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(count_letter("banana", 'a'), 3);
            assert_eq!(count_letter("banana", 'x'), 0);
        }

        #[test]
        fn usual() {
            assert_eq!(count_letter("banana", 'n'), 2);
            assert_eq!(count_letter("b", 'b'), 1);
            assert_eq!(count_letter("Bb", 'b'), 1);
        }

        #[test]
        fn edges() {
            assert_eq!(count_letter("", 'a'), 0);
            assert_eq!(count_letter("a a a", ' '), 2);
            assert_eq!(count_letter("éée", 'é'), 2);
        }
    }
}

pub mod reverse_text {
    //! Level 1. Return the characters of the text from the last to the first.
    //!
    //! reverse_text("abc") == "cba"

    pub fn reverse_text(text: &str) -> String {
        text.chars().rev().collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(reverse_text("abc"), "cba");
        }

        #[test]
        fn usual() {
            assert_eq!(reverse_text("stone"), "enots");
            assert_eq!(reverse_text("x"), "x");
            assert_eq!(reverse_text("a b"), "b a");
        }

        #[test]
        fn edges() {
            assert_eq!(reverse_text(""), "");
            assert_eq!(reverse_text("aé日"), "日éa");
            assert_eq!(reverse_text("level"), "level");
        }
    }
}

pub mod digits_only {
    //! Level 1. Return the decimal digits 0 to 9 of the text in their order and leave out everything
    //! else.
    //!
    //! digits_only("a1b22") == "122"

    pub fn digits_only(text: &str) -> String {
        text.chars().filter(char::is_ascii_digit).collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(digits_only("a1b22"), "122");
        }

        #[test]
        fn usual() {
            assert_eq!(digits_only("2024-05-17"), "20240517");
            assert_eq!(digits_only("007"), "007");
            assert_eq!(digits_only("tel. 12 34"), "1234");
        }

        #[test]
        fn none() {
            assert_eq!(digits_only(""), "");
            assert_eq!(digits_only("no digits"), "");
            assert_eq!(digits_only("x9"), "9");
        }
    }
}

pub mod next_letter {
    //! Level 2. Return the lower-case letter that follows in the alphabet. After z comes a. Other
    //! characters come back unchanged.
    //!
    //! next_letter('b') == 'c'
    //! next_letter('z') == 'a'

    pub fn next_letter(letter: char) -> char {
        match letter {
            'z' => 'a',
            'a'..='y' => (letter as u8 + 1) as char,
            other => other,
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(next_letter('b'), 'c');
            assert_eq!(next_letter('z'), 'a');
        }

        #[test]
        fn letters() {
            assert_eq!(next_letter('a'), 'b');
            assert_eq!(next_letter('y'), 'z');
            assert_eq!(next_letter('m'), 'n');
        }

        #[test]
        fn others() {
            assert_eq!(next_letter('A'), 'A');
            assert_eq!(next_letter('5'), '5');
            assert_eq!(next_letter('é'), 'é');
            assert_eq!(next_letter('{'), '{');
        }
    }
}

pub mod letter_position {
    //! Level 2. Return the place of an ASCII letter in the alphabet, 1 for a and 26 for z, in either
    //! case. Other characters give None.
    //!
    //! letter_position('c') == Some(3)
    //! letter_position('?') == None

    pub fn letter_position(letter: char) -> Option<u32> {
        letter
            .is_ascii_alphabetic()
            .then(|| letter.to_ascii_lowercase() as u32 - 'a' as u32 + 1)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(letter_position('c'), Some(3));
            assert_eq!(letter_position('?'), None);
        }

        #[test]
        fn letters() {
            assert_eq!(letter_position('a'), Some(1));
            assert_eq!(letter_position('z'), Some(26));
            assert_eq!(letter_position('Z'), Some(26));
            assert_eq!(letter_position('B'), Some(2));
        }

        #[test]
        fn others() {
            assert_eq!(letter_position('1'), None);
            assert_eq!(letter_position(' '), None);
            assert_eq!(letter_position('é'), None);
            assert_eq!(letter_position('['), None);
        }
    }
}

pub mod swap_case {
    //! Level 2. Return the text with upper-case ASCII letters made lower case and the other way round.
    //!
    //! swap_case("Hello") == "hELLO"

    pub fn swap_case(text: &str) -> String {
        text.chars()
            .map(|c| {
                if c.is_ascii_uppercase() {
                    c.to_ascii_lowercase()
                } else {
                    c.to_ascii_uppercase()
                }
            })
            .collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(swap_case("Hello"), "hELLO");
        }

        #[test]
        fn letters() {
            assert_eq!(swap_case("abc"), "ABC");
            assert_eq!(swap_case("ABC"), "abc");
            assert_eq!(swap_case("rUsT 2"), "RuSt 2");
        }

        #[test]
        fn others() {
            assert_eq!(swap_case(""), "");
            assert_eq!(swap_case("12-3"), "12-3");
            assert_eq!(swap_case("é A"), "é a");
        }
    }
}

pub mod without_vowels {
    //! Level 2. Return the text without the vowels a, e, i, o and u, neither small nor capital ones.
    //!
    //! without_vowels("Education") == "dctn"

    pub fn without_vowels(text: &str) -> String {
        text.chars()
            .filter(|c| !"aeiouAEIOU".contains(*c))
            .collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(without_vowels("Education"), "dctn");
        }

        #[test]
        fn usual() {
            assert_eq!(without_vowels("rhythm"), "rhythm");
            assert_eq!(without_vowels("Apple pie"), "ppl p");
            assert_eq!(without_vowels("sky"), "sky");
        }

        #[test]
        fn edges() {
            assert_eq!(without_vowels(""), "");
            assert_eq!(without_vowels("aeiouAEIOU"), "");
            assert_eq!(without_vowels("é1"), "é1");
        }
    }
}

pub mod shift_letters {
    //! Level 3. Move each lower-case ASCII letter forward by shift places in the alphabet and begin
    //! again at a after z. Other characters stay.
    //!
    //! shift_letters("abc", 2) == "cde"
    //! shift_letters("xyz!", 3) == "abc!"

    pub fn shift_letters(text: &str, shift: u32) -> String {
        text.chars()
            .map(|c| {
                if c.is_ascii_lowercase() {
                    let place = (c as u32 - 'a' as u32 + shift % 26) % 26;
                    (b'a' + place as u8) as char
                } else {
                    c
                }
            })
            .collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(shift_letters("abc", 2), "cde");
            assert_eq!(shift_letters("xyz!", 3), "abc!");
        }

        #[test]
        fn shifts() {
            assert_eq!(shift_letters("hello", 0), "hello");
            assert_eq!(shift_letters("hello", 26), "hello");
            assert_eq!(shift_letters("hello", 13), "uryyb");
            assert_eq!(shift_letters("az", 27), "ba");
        }

        #[test]
        fn others() {
            assert_eq!(shift_letters("", 4), "");
            assert_eq!(shift_letters("ABC 12 é", 5), "ABC 12 é");
        }

        #[test]
        fn large() {
            assert_eq!(shift_letters("a", u32::MAX), "v");
        }
    }
}

pub mod palindrome_letters {
    //! Level 3. Say whether the letters and digits of the text read the same from both ends. Case and
    //! all other characters do not matter.
    //!
    //! palindrome_letters("Never odd or even") == true
    //! palindrome_letters("Rust") == false

    pub fn palindrome_letters(text: &str) -> bool {
        let letters: Vec<char> = text
            .chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect();
        letters.iter().eq(letters.iter().rev())
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(palindrome_letters("Never odd or even"));
            assert!(!palindrome_letters("Rust"));
        }

        #[test]
        fn yes() {
            assert!(palindrome_letters("Anna"));
            assert!(palindrome_letters(""));
            assert!(palindrome_letters("..."));
            assert!(palindrome_letters("1-2-1"));
            assert!(!palindrome_letters("ab"));
        }

        #[test]
        fn no() {
            assert!(!palindrome_letters("palindrome"));
            assert!(!palindrome_letters("1 2"));
            assert!(!palindrome_letters("abca"));
            assert!(palindrome_letters("Été"));
        }
    }
}
