//! Ownership and borrowing: moving, lending, changing in place, lifetimes.

pub mod add_one_to {
    //! Level 1. Increase the number behind the reference by one.
    //!
    //! let mut n = 4; add_one_to(&mut n); n == 5

    pub fn add_one_to(number: &mut i32) {
        *number += 1;
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let mut n = 4;
            add_one_to(&mut n);
            assert_eq!(n, 5);
        }

        #[test]
        fn usual() {
            let mut n = 0;
            add_one_to(&mut n);
            assert_eq!(n, 1);
            add_one_to(&mut n);
            assert_eq!(n, 2);
        }

        #[test]
        fn negative() {
            let mut n = -1;
            add_one_to(&mut n);
            assert_eq!(n, 0);
            let mut m = 999;
            add_one_to(&mut m);
            assert_eq!(m, 1000);
        }

        #[test]
        fn edge() {
            let mut n = i32::MIN;
            add_one_to(&mut n);
            assert_eq!(n, -2_147_483_647);
        }
    }
}

pub mod push_mark {
    //! Level 1. Put an exclamation mark at the end of the text.
    //!
    //! let mut text = String::from("hey"); push_mark(&mut text); text == "hey!"

    pub fn push_mark(text: &mut String) {
        text.push('!');
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let mut text = String::from("hey");
            push_mark(&mut text);
            assert_eq!(text, "hey!");
        }

        #[test]
        fn usual() {
            let mut text = String::from("go");
            push_mark(&mut text);
            assert_eq!(text, "go!");
            push_mark(&mut text);
            assert_eq!(text, "go!!");
        }

        #[test]
        fn long() {
            let mut text = "a".repeat(99);
            push_mark(&mut text);
            assert_eq!(text.len(), 100);
        }

        #[test]
        fn edges() {
            let mut text = String::new();
            push_mark(&mut text);
            assert_eq!(text, "!");
            let mut other = String::from("é ");
            push_mark(&mut other);
            assert_eq!(other, "é !");
        }
    }
}

pub mod swap_values {
    //! Level 1. Exchange the numbers behind the two references.
    //!
    //! let (mut a, mut b) = (1, 2); swap_values(&mut a, &mut b); (a, b) == (2, 1)

    pub fn swap_values(a: &mut i32, b: &mut i32) {
        std::mem::swap(a, b);
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let (mut a, mut b) = (1, 2);
            swap_values(&mut a, &mut b);
            assert_eq!((a, b), (2, 1));
        }

        #[test]
        fn usual() {
            let (mut a, mut b) = (-5, 9);
            swap_values(&mut a, &mut b);
            assert_eq!(a, 9);
            assert_eq!(b, -5);
        }

        #[test]
        fn edges() {
            let (mut a, mut b) = (0, 7);
            swap_values(&mut a, &mut b);
            assert_eq!((a, b), (7, 0));
            swap_values(&mut a, &mut b);
            assert_eq!((a, b), (0, 7));
        }

        #[test]
        fn same() {
            let (mut a, mut b) = (4, 4);
            swap_values(&mut a, &mut b);
            assert_eq!((a, b), (4, 4));
        }
    }
}

pub mod copy_of {
    //! Level 1. Return a vector of one's own with the same numbers as the slice.
    //!
    //! copy_of(&[1, 2]) == [1, 2]

    pub fn copy_of(numbers: &[i32]) -> Vec<i32> {
        numbers.to_vec()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(copy_of(&[1, 2]), [1, 2]);
        }

        #[test]
        fn usual() {
            assert_eq!(copy_of(&[5]), [5]);
            assert_eq!(copy_of(&[3, -3, 3]), [3, -3, 3]);
            assert_eq!(copy_of(&[0, 1]), [0, 1]);
        }

        #[test]
        fn edges() {
            assert_eq!(copy_of(&[]), Vec::<i32>::new());
            assert_eq!(copy_of(&[8; 70]), [8; 70]);
        }
    }
}

pub mod double_in_place {
    //! Level 2. Double every number of the slice in place.
    //!
    //! let mut n = [1, 2, 3]; double_in_place(&mut n); n == [2, 4, 6]

    pub fn double_in_place(numbers: &mut [i32]) {
        for number in numbers {
            *number *= 2;
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let mut n = [1, 2, 3];
            double_in_place(&mut n);
            assert_eq!(n, [2, 4, 6]);
        }

        #[test]
        fn usual() {
            let mut n = [5, -5];
            double_in_place(&mut n);
            assert_eq!(n, [10, -10]);
            double_in_place(&mut n[..1]);
            assert_eq!(n, [20, -10]);
        }

        #[test]
        fn edges() {
            let mut n = [0];
            double_in_place(&mut n);
            assert_eq!(n, [0]);
            let mut m = vec![7; 50];
            double_in_place(&mut m);
            assert_eq!(m, [14; 50]);
            let mut none: [i32; 0] = [];
            double_in_place(&mut none);
            assert_eq!(none, []);
        }
    }
}

pub mod take_text {
    //! Level 2. Return the text behind the reference and leave an empty text in its place.
    //!
    //! let mut text = String::from("gold"); take_text(&mut text) == "gold"

    pub fn take_text(text: &mut String) -> String {
        std::mem::take(text)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let mut text = String::from("gold");
            assert_eq!(take_text(&mut text), "gold");
        }

        #[test]
        fn taken() {
            let mut text = String::from("a b");
            assert_eq!(take_text(&mut text), "a b");
            assert_eq!(text, "");
            assert_eq!(take_text(&mut text), "");
        }

        #[test]
        fn again() {
            let mut text = String::from("é");
            let taken = take_text(&mut text);
            text.push('x');
            assert_eq!(taken, "é");
            assert_eq!(text, "x");
        }
    }
}

pub mod longest_word {
    //! Level 2. Return the longest word by bytes as a part of the text, of equals the first one. Return
    //! an empty text if there is no word.
    //!
    //! longest_word("a quick fox") == "quick"

    pub fn longest_word(text: &str) -> &str {
        text.split_whitespace()
            .rev()
            .max_by_key(|word| word.len())
            .unwrap_or("")
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(longest_word("a quick fox"), "quick");
        }

        #[test]
        fn usual() {
            assert_eq!(longest_word("one three four"), "three");
            assert_eq!(longest_word("aa bb cc"), "aa");
            assert_eq!(longest_word("word"), "word");
        }

        #[test]
        fn edges() {
            assert_eq!(longest_word(""), "");
            assert_eq!(longest_word("   "), "");
            assert_eq!(longest_word(" x  éé y "), "éé");
        }
    }
}

pub mod split_in_two {
    //! Level 2. Return the first half and the second half of the slice without copying. When the count
    //! is odd, the first half has one more.
    //!
    //! split_in_two(&[1, 2, 3, 4]) == (&[1, 2][..], &[3, 4][..])

    pub fn split_in_two(numbers: &[i32]) -> (&[i32], &[i32]) {
        numbers.split_at(numbers.len().div_ceil(2))
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(split_in_two(&[1, 2, 3, 4]), (&[1, 2][..], &[3, 4][..]));
        }

        #[test]
        fn usual() {
            assert_eq!(split_in_two(&[1, 2, 3]), (&[1, 2][..], &[3][..]));
            assert_eq!(split_in_two(&[9, 8]), (&[9][..], &[8][..]));
            assert_eq!(split_in_two(&[1, 2, 3, 4, 5]).1, [4, 5]);
        }

        #[test]
        fn edges() {
            assert_eq!(split_in_two(&[7]).0, [7]);
            assert_eq!(split_in_two(&[7]).1, [0; 0]);
            assert_eq!(split_in_two(&[]).0, [0; 0]);
            assert_eq!(split_in_two(&[0; 101]).0.len(), 51);
        }
    }
}

pub mod move_all {
    //! Level 2. Move all numbers of the first vector to the end of the second one; the first vector is
    //! empty afterwards.
    //!
    //! let (mut a, mut b) = (vec![1, 2], vec![9]); move_all(&mut a, &mut b); b == [9, 1, 2]

    pub fn move_all(from: &mut Vec<i32>, to: &mut Vec<i32>) {
        to.append(from);
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let (mut a, mut b) = (vec![1, 2], vec![9]);
            move_all(&mut a, &mut b);
            assert_eq!(b, [9, 1, 2]);
        }

        #[test]
        fn usual() {
            let (mut a, mut b) = (vec![4], vec![5, 6]);
            move_all(&mut a, &mut b);
            assert_eq!(a, Vec::<i32>::new());
            assert_eq!(b, [5, 6, 4]);
        }

        #[test]
        fn empty() {
            let (mut a, mut b) = (vec![3, 3], vec![]);
            move_all(&mut a, &mut b);
            assert_eq!(b, [3, 3]);
            move_all(&mut a, &mut b);
            assert_eq!(b, [3, 3]);
            assert_eq!(a.len(), 0);
        }
    }
}

pub mod largest_mut {
    //! Level 3. Return a mutable reference to the largest number, to the first one of equals. Return
    //! None if there are no numbers.
    //!
    //! let mut n = [3, 9, 4]; *largest_mut(&mut n).unwrap() = 0; n == [3, 0, 4]

    pub fn largest_mut(numbers: &mut [i32]) -> Option<&mut i32> {
        numbers.iter_mut().rev().max_by_key(|number| **number)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let mut n = [3, 9, 4];
            *largest_mut(&mut n).unwrap() = 0;
            assert_eq!(n, [3, 0, 4]);
        }

        #[test]
        fn change() {
            let mut n = [5, 8, 8];
            *largest_mut(&mut n).unwrap() -= 10;
            assert_eq!(n, [5, -2, 8]);
            *largest_mut(&mut n).unwrap() = 1;
            assert_eq!(n, [5, -2, 1]);
        }

        #[test]
        fn edges() {
            assert_eq!(largest_mut(&mut []), None);
            assert_eq!(largest_mut(&mut [-6]), Some(&mut -6));
            assert_eq!(largest_mut(&mut [-6, -4]), Some(&mut -4));
        }
    }
}

pub mod add_shared {
    //! Level 3. Several owners share one counter. Add the amount to it through one of them and return
    //! how many owners there are.
    //!
    //! let counter = Rc::new(Cell::new(1)); add_shared(&counter, 4) == 1

    use std::cell::Cell;
    use std::rc::Rc;

    pub fn add_shared(counter: &Rc<Cell<i32>>, amount: i32) -> usize {
        counter.set(counter.get() + amount);
        Rc::strong_count(counter)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let counter = Rc::new(Cell::new(1));
            assert_eq!(add_shared(&counter, 4), 1);
        }

        #[test]
        fn single() {
            let counter = Rc::new(Cell::new(0));
            assert_eq!(add_shared(&counter, 7), 1);
            assert_eq!(counter.get(), 7);
            assert_eq!(add_shared(&counter, -9), 1);
            assert_eq!(counter.get(), -2);
        }

        #[test]
        fn several() {
            let counter = Rc::new(Cell::new(10));
            let other = Rc::clone(&counter);
            assert_eq!(add_shared(&other, 5), 2);
            assert_eq!(counter.get(), 15);
            let third = Rc::clone(&other);
            assert_eq!(add_shared(&counter, 0), 3);
            assert_eq!(third.get(), 15);
        }
    }
}

pub mod replace_longest {
    //! Level 3. Replace the longest text of the vector by the new one and return the old one; of equals
    //! the first. Return None and change nothing when the vector is empty.
    //!
    //! let mut texts = vec!["a".to_string(), "bcd".to_string()]; replace_longest(&mut texts, "x".to_string()) == Some("bcd".to_string())

    pub fn replace_longest(texts: &mut [String], new: String) -> Option<String> {
        let longest = texts.iter().map(String::len).max()?;
        let place = texts.iter_mut().find(|text| text.len() == longest)?;
        Some(std::mem::replace(place, new))
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let mut texts = vec!["a".to_string(), "bcd".to_string()];
            assert_eq!(
                replace_longest(&mut texts, "x".to_string()),
                Some("bcd".to_string())
            );
        }

        #[test]
        fn usual() {
            let mut texts = vec!["a".to_string(), "bcd".to_string(), "e".to_string()];
            assert_eq!(
                replace_longest(&mut texts, "x".to_string()),
                Some("bcd".to_string())
            );
            assert_eq!(texts, ["a", "x", "e"]);
        }

        #[test]
        fn equal() {
            let mut texts = vec!["ab".to_string(), "cd".to_string()];
            assert_eq!(
                replace_longest(&mut texts, "xyz".to_string()),
                Some("ab".to_string())
            );
            assert_eq!(texts, ["xyz", "cd"]);
            assert_eq!(
                replace_longest(&mut texts, String::new()),
                Some("xyz".to_string())
            );
            assert_eq!(texts, ["", "cd"]);
        }

        #[test]
        fn empty() {
            let mut texts: Vec<String> = vec![];
            assert_eq!(replace_longest(&mut texts, "x".to_string()), None);
            assert_eq!(texts.len(), 0);
        }
    }
}
