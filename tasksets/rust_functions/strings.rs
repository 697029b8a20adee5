//! Strings: joining, cutting, searching and changing text.

pub mod greet {
    //! Level 1. Return a greeting: "Hello, " with the name behind it and an exclamation mark at the end.
    //!
    //! greet("Mia") == "Hello, Mia!"

    pub fn greet(name: &str) -> String {
        format!("Hello, {name}!")
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(greet("Mia"), "Hello, Mia!");
        }

        #[test]
        fn names() {
            assert_eq!(greet("Bob"), "Hello, Bob!");
            assert_eq!(greet("you two"), "Hello, you two!");
        }

        #[test]
        fn edges() {
            assert_eq!(greet(""), "Hello, !");
            assert_eq!(greet("Zoë"), "Hello, Zoë!");
            assert_eq!(greet("!"), "Hello, !!");
        }
    }
}

pub mod text_length {
    //! Level 1. Return the number of bytes of the text.
    //!
    //! text_length("abc") == 3
    //! text_length("") == 0

    pub fn text_length(text: &str) -> usize {
        text.len()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(text_length("abc"), 3);
            assert_eq!(text_length(""), 0);
        }

        #[test]
        fn ascii() {
            assert_eq!(text_length("a"), 1);
            assert_eq!(text_length("two words"), 9);
            assert_eq!(text_length(" "), 1);
        }

        #[test]
        fn unicode() {
            assert_eq!(text_length("é"), 2);
            assert_eq!(text_length("日本"), 6);
        }
    }
}

pub mod shout {
    //! Level 1. Return the text in capital letters.
    //!
    //! shout("hey") == "HEY"
    //! shout("Room 12") == "ROOM 12"

    pub fn shout(text: &str) -> String {
        text.to_uppercase()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(shout("hey"), "HEY");
            assert_eq!(shout("Room 12"), "ROOM 12");
        }

        #[test]
        fn ascii() {
            assert_eq!(shout("abc xyz"), "ABC XYZ");
            assert_eq!(shout("DONE"), "DONE");
            assert_eq!(shout("mIxEd"), "MIXED");
        }

        #[test]
        fn edges() {
            assert_eq!(shout(""), "");
            assert_eq!(shout("123 !?"), "123 !?");
            assert_eq!(shout("été"), "ÉTÉ");
        }
    }
}

pub mod join_two {
    //! Level 1. Return the first text with the second one directly behind it.
    //!
    //! join_two("sun", "day") == "sunday"

    pub fn join_two(first: &str, second: &str) -> String {
        first.to_string() + second
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(join_two("sun", "day"), "sunday");
        }

        #[test]
        fn usual() {
            assert_eq!(join_two("day", "sun"), "daysun");
            assert_eq!(join_two("a ", "b"), "a b");
        }

        #[test]
        fn empty() {
            assert_eq!(join_two("", "x"), "x");
            assert_eq!(join_two("x", ""), "x");
            assert_eq!(join_two("", ""), "");
        }
    }
}

pub mod repeat_text {
    //! Level 1. Return the text count times in a row.
    //!
    //! repeat_text("ab", 3) == "ababab"
    //! repeat_text("x", 0) == ""

    pub fn repeat_text(text: &str, count: usize) -> String {
        text.repeat(count)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(repeat_text("ab", 3), "ababab");
            assert_eq!(repeat_text("x", 0), "");
        }

        #[test]
        fn counts() {
            assert_eq!(repeat_text("ab", 1), "ab");
            assert_eq!(repeat_text("-", 5), "-----");
            assert_eq!(repeat_text("ab", 0), "");
        }

        #[test]
        fn edges() {
            assert_eq!(repeat_text("", 9), "");
            assert_eq!(repeat_text("ö ", 2), "ö ö ");
            assert_eq!(repeat_text("z", 1000).len(), 1000);
        }
    }
}

pub mod contains_word {
    //! Level 1. Say whether the text has the word anywhere within it.
    //!
    //! contains_word("blue sky", "sky") == true
    //! contains_word("blue sky", "sea") == false

    pub fn contains_word(text: &str, word: &str) -> bool {
        text.contains(word)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(contains_word("blue sky", "sky"));
            assert!(!contains_word("blue sky", "sea"));
        }

        #[test]
        fn places() {
            assert!(contains_word("skyline", "sky"));
            assert!(contains_word("the sky", "the"));
            assert!(!contains_word("the sky", "Sky"));
        }

        #[test]
        fn edges() {
            assert!(contains_word("abc", ""));
            assert!(!contains_word("", "a"));
            assert!(!contains_word("ab", "abc"));
            assert!(contains_word("abc", "abc"));
        }
    }
}

pub mod trimmed {
    //! Level 1. Return the text without the white space at its start and its end.
    //!
    //! trimmed("  hi ") == "hi"
    //! trimmed("a b") == "a b"

    pub fn trimmed(text: &str) -> &str {
        text.trim()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(trimmed("  hi "), "hi");
            assert_eq!(trimmed("a b"), "a b");
        }

        #[test]
        fn ends() {
            assert_eq!(trimmed("left "), "left");
            assert_eq!(trimmed("\tright"), "right");
            assert_eq!(trimmed(" a  b "), "a  b");
        }

        #[test]
        fn empty() {
            assert_eq!(trimmed(""), "");
            assert_eq!(trimmed("   "), "");
            assert_eq!(trimmed("\n x \n"), "x");
        }
    }
}

pub mod is_blank {
    //! Level 1. Say whether the text has nothing but white space, or nothing at all.
    //!
    //! is_blank("   ") == true
    //! is_blank(" a ") == false

    pub fn is_blank(text: &str) -> bool {
        text.trim().is_empty()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(is_blank("   "));
            assert!(!is_blank(" a "));
        }

        #[test]
        fn blank() {
            assert!(is_blank(""));
            assert!(is_blank("\n\t "));
            assert!(!is_blank("."));
        }

        #[test]
        fn filled() {
            assert!(!is_blank("0"));
            assert!(!is_blank("  x"));
            assert!(is_blank(" "));
        }
    }
}

pub mod file_extension {
    //! Level 2. Return what stands behind the last dot of a file name, or None when there is no dot.
    //!
    //! file_extension("photo.jpg") == Some("jpg")
    //! file_extension("notes") == None

    pub fn file_extension(name: &str) -> Option<&str> {
        name.rsplit_once('.').map(|(_, extension)| extension)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(file_extension("photo.jpg"), Some("jpg"));
            assert_eq!(file_extension("notes"), None);
        }

        #[test]
        fn dots() {
            assert_eq!(file_extension("a.tar.gz"), Some("gz"));
            assert_eq!(file_extension("end."), Some(""));
            assert_eq!(file_extension(".hidden"), Some("hidden"));
        }

        #[test]
        fn none() {
            assert_eq!(file_extension(""), None);
            assert_eq!(file_extension("README"), None);
        }
    }
}

pub mod count_words {
    //! Level 1. Return how many words the text has. Words are separated by white space.
    //!
    //! count_words("one two three") == 3
    //! count_words("") == 0

    pub fn count_words(text: &str) -> usize {
        text.split_whitespace().count()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(count_words("one two three"), 3);
            assert_eq!(count_words(""), 0);
        }

        #[test]
        fn spaces() {
            assert_eq!(count_words("  a   b "), 2);
            assert_eq!(count_words("word"), 1);
            assert_eq!(count_words("a\nb\tc"), 3);
        }

        #[test]
        fn edges() {
            assert_eq!(count_words("    "), 0);
            assert_eq!(count_words("it's fine, really"), 3);
        }
    }
}

pub mod reverse_words {
    //! Level 2. Return the words of the text in the opposite order, with one space between them.
    //!
    //! reverse_words("red green blue") == "blue green red"

    pub fn reverse_words(text: &str) -> String {
        text.split_whitespace().rev().collect::<Vec<_>>().join(" ")
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(reverse_words("red green blue"), "blue green red");
        }

        #[test]
        fn usual() {
            assert_eq!(reverse_words("a b"), "b a");
            assert_eq!(reverse_words("alone"), "alone");
            assert_eq!(reverse_words("1 2 3 4"), "4 3 2 1");
        }

        #[test]
        fn spaces() {
            assert_eq!(reverse_words("  x   y "), "y x");
            assert_eq!(reverse_words(""), "");
            assert_eq!(reverse_words("   "), "");
        }
    }
}

pub mod initials {
    //! Level 2. Return the first letter of each word of a name in upper case, with nothing between them.
    //!
    //! initials("ada king lovelace") == "AKL"

    pub fn initials(name: &str) -> String {
        name.split_whitespace()
            .filter_map(|word| word.chars().next())
            .flat_map(char::to_uppercase)
            .collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(initials("ada king lovelace"), "AKL");
        }

        #[test]
        fn usual() {
            assert_eq!(initials("Grace Hopper"), "GH");
            assert_eq!(initials("plato"), "P");
        }

        #[test]
        fn edges() {
            assert_eq!(initials(""), "");
            assert_eq!(initials("  x  y "), "XY");
            assert_eq!(initials("élodie ôrsay"), "ÉÔ");
        }
    }
}

pub mod censor {
    //! Level 2. Return the text with every place where the word stands replaced by as many stars as the
    //! word has characters.
    //!
    //! censor("the cat sat", "cat") == "the *** sat"
    //! censor("aha", "x") == "aha"

    pub fn censor(text: &str, word: &str) -> String {
        text.replace(word, &"*".repeat(word.chars().count()))
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(censor("the cat sat", "cat"), "the *** sat");
            assert_eq!(censor("aha", "x"), "aha");
        }

        #[test]
        fn many() {
            assert_eq!(censor("ab ab", "ab"), "** **");
            assert_eq!(censor("aaa", "a"), "***");
            assert_eq!(censor("banana", "an"), "b****a");
        }

        #[test]
        fn edges() {
            assert_eq!(censor("", "a"), "");
            assert_eq!(censor("naïve", "ï"), "na*ve");
            assert_eq!(censor("Cat", "cat"), "Cat");
        }
    }
}

pub mod shorten {
    //! Level 3. Return the text unchanged if it has at most limit characters. Else return its first
    //! characters and "..." so that the result has limit characters; limit is at least 3.
    //!
    //! shorten("a long story", 9) == "a long..."
    //! shorten("short", 9) == "short"

    pub fn shorten(text: &str, limit: usize) -> String {
        if text.chars().count() <= limit {
            return text.to_string();
        }
        let start: String = text.chars().take(limit - 3).collect();
        start + "..."
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(shorten("a long story", 9), "a long...");
            assert_eq!(shorten("short", 9), "short");
        }

        #[test]
        fn edge() {
            assert_eq!(shorten("12345", 5), "12345");
            assert_eq!(shorten("123456", 5), "12...");
            assert_eq!(shorten("abcd", 3), "...");
        }

        #[test]
        fn unicode() {
            assert_eq!(shorten("ééééé", 5), "ééééé");
            assert_eq!(shorten("éééééé", 4), "é...");
        }

        #[test]
        fn empty() {
            assert_eq!(shorten("", 3), "");
        }
    }
}

pub mod run_lengths {
    //! Level 3. Write each stretch of equal characters as the character with its length behind it.
    //!
    //! run_lengths("aaab") == "a3b1"
    //! run_lengths("") == ""

    pub fn run_lengths(text: &str) -> String {
        let mut result = String::new();
        let mut rest = text.chars().peekable();
        while let Some(current) = rest.next() {
            let mut count = 1;
            while rest.next_if_eq(&current).is_some() {
                count += 1;
            }
            result.push_str(&format!("{current}{count}"));
        }
        result
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(run_lengths("aaab"), "a3b1");
            assert_eq!(run_lengths(""), "");
        }

        #[test]
        fn usual() {
            assert_eq!(run_lengths("abc"), "a1b1c1");
            assert_eq!(run_lengths("aabba"), "a2b2a1");
            assert_eq!(run_lengths("zz"), "z2");
        }

        #[test]
        fn long() {
            assert_eq!(run_lengths("xxxxxxxxxxxx"), "x12");
            assert_eq!(run_lengths("  é"), " 2é1");
        }
    }
}
