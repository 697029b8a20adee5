//! Traits and generics: one function for many types, and types that promise something.

pub mod first_item {
    //! Level 1. Return a copy of the first item of any kind, or None if there is no item.
    //!
    //! first_item(&[3, 4]) == Some(3)

    pub fn first_item<T: Clone>(items: &[T]) -> Option<T> {
        items.first().cloned()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(first_item(&[3, 4]), Some(3));
        }

        #[test]
        fn kinds() {
            assert_eq!(first_item(&['x', 'y']), Some('x'));
            assert_eq!(first_item(&["one", "two"]), Some("one"));
            assert_eq!(first_item(&[vec![1], vec![]]), Some(vec![1]));
        }

        #[test]
        fn edges() {
            assert_eq!(first_item::<i32>(&[]), None);
            assert_eq!(first_item(&[0.5]), Some(0.5));
        }
    }
}

pub mod larger_of {
    //! Level 1. Return the larger of two values of the same kind; when they are equal, either one will
    //! do.
    //!
    //! larger_of(3, 8) == 8
    //! larger_of("ant", "bee") == "bee"

    pub fn larger_of<T: PartialOrd>(a: T, b: T) -> T {
        if b > a {
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
            assert_eq!(larger_of(3, 8), 8);
            assert_eq!(larger_of("ant", "bee"), "bee");
        }

        #[test]
        fn numbers() {
            assert_eq!(larger_of(8, 3), 8);
            assert_eq!(larger_of(-1, -2), -1);
            assert_eq!(larger_of(2.5, 2.75), 2.75);
            assert_eq!(larger_of(6, 6), 6);
        }

        #[test]
        fn others() {
            assert_eq!(larger_of('z', 'a'), 'z');
            assert_eq!(larger_of((1, 9), (2, 0)), (2, 0));
            assert_eq!(larger_of(String::from("b"), String::from("ab")), "b");
        }
    }
}

pub mod repeat_item {
    //! Level 1. Return a vector that holds the item count times.
    //!
    //! repeat_item('x', 3) == ['x', 'x', 'x']

    pub fn repeat_item<T: Clone>(item: T, count: usize) -> Vec<T> {
        vec![item; count]
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(repeat_item('x', 3), ['x', 'x', 'x']);
        }

        #[test]
        fn kinds() {
            assert_eq!(repeat_item(7, 2), [7, 7]);
            assert_eq!(repeat_item("ab", 1), ["ab"]);
            assert_eq!(repeat_item(String::from("s"), 2), ["s", "s"]);
        }

        #[test]
        fn edges() {
            assert_eq!(repeat_item(1, 0), Vec::<i32>::new());
            assert_eq!(repeat_item(true, 50), [true; 50]);
        }
    }
}

pub mod count_matching {
    //! Level 2. Return for how many of the items the test says true.
    //!
    //! count_matching(&[1, 2, 3], |n| *n > 1) == 2

    pub fn count_matching<T>(items: &[T], test: impl Fn(&T) -> bool) -> usize {
        items.iter().filter(|item| test(item)).count()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(count_matching(&[1, 2, 3], |n| *n > 1), 2);
        }

        #[test]
        fn usual() {
            assert_eq!(
                count_matching(&["a", "bb", "cc"], |word| word.len() == 2),
                2
            );
            assert_eq!(count_matching(&[1, 2, 3], |n| n % 2 == 1), 2);
            assert_eq!(count_matching(&['x'], |_| true), 1);
        }

        #[test]
        fn edges() {
            assert_eq!(count_matching(&[] as &[i32], |_| true), 0);
            assert_eq!(count_matching(&[5; 9], |_| false), 0);
            assert_eq!(count_matching(&[5; 9], |n| *n == 5), 9);
        }
    }
}

pub mod apply_twice {
    //! Level 2. Call the function on the value, then call it once more on what it returned, and return
    //! the second result.
    //!
    //! apply_twice(|n| n * 3, 2) == 18

    pub fn apply_twice<T>(function: impl Fn(T) -> T, value: T) -> T {
        function(function(value))
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(apply_twice(|n| n * 3, 2), 18);
        }

        #[test]
        fn numbers() {
            assert_eq!(apply_twice(|n| n + 1, 5), 7);
            assert_eq!(apply_twice(|n: i32| -n, 4), 4);
            assert_eq!(apply_twice(|n| n * n, 3), 81);
        }

        #[test]
        fn others() {
            assert_eq!(
                apply_twice(|text: String| text + "!", String::from("hi")),
                "hi!!"
            );
            assert!(apply_twice(|b: bool| !b, true));
        }
    }
}

pub mod describe_animal {
    //! Level 2. An animal has a name and a sound. Return the text "NAME says SOUND" for it.
    //!
    //! describe_animal(&Dog) == "dog says woof"

    pub trait Animal {
        fn name(&self) -> String;
        fn sound(&self) -> String;
    }

    pub struct Dog;

    impl Animal for Dog {
        fn name(&self) -> String {
            "dog".to_string()
        }

        fn sound(&self) -> String {
            "woof".to_string()
        }
    }

    pub fn describe_animal(animal: &dyn Animal) -> String {
        format!("{} says {}", animal.name(), animal.sound())
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(describe_animal(&Dog), "dog says woof");
        }

        #[test]
        fn other_kind() {
            struct Duck(&'static str);
            impl Animal for Duck {
                fn name(&self) -> String {
                    "duck".to_string()
                }
                fn sound(&self) -> String {
                    self.0.to_string()
                }
            }
            assert_eq!(describe_animal(&Duck("quack")), "duck says quack");
            assert_eq!(describe_animal(&Duck("")), "duck says ");
            assert_eq!(describe_animal(&Duck("quäk")), "duck says quäk");
        }

        #[test]
        fn dogs() {
            assert_eq!(describe_animal(&Dog), "dog says woof");
            assert_eq!(describe_animal(&Dog).len(), 13);
        }
    }
}

pub mod display_money {
    //! Level 2. Show money as euros and cents with a dot between them and always two digits for the
    //! cents.
    //!
    //! Money { cents: 1234 }.to_string() == "12.34"
    //! Money { cents: 5 }.to_string() == "0.05"

    use std::fmt;

    pub struct Money {
        pub cents: u64,
    }

    impl fmt::Display for Money {
        fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
            write!(f, "{}.{:02}", self.cents / 100, self.cents % 100)
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(Money { cents: 1234 }.to_string(), "12.34");
            assert_eq!(Money { cents: 5 }.to_string(), "0.05");
        }

        #[test]
        fn small() {
            assert_eq!(Money { cents: 0 }.to_string(), "0.00");
            assert_eq!(Money { cents: 99 }.to_string(), "0.99");
            assert_eq!(Money { cents: 100 }.to_string(), "1.00");
            assert_eq!(Money { cents: 110 }.to_string(), "1.10");
        }

        #[test]
        fn large() {
            assert_eq!(Money { cents: 100_000_001 }.to_string(), "1000000.01");
            assert_eq!(format!("{} EUR", Money { cents: 250 }), "2.50 EUR");
        }
    }
}

pub mod add_vectors {
    //! Level 2. Add two vectors with the operator +, part by part.
    //!
    //! Vector { x: 1, y: 2 } + Vector { x: 3, y: 4 } == Vector { x: 4, y: 6 }

    use std::ops::Add;

    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Vector {
        pub x: i32,
        pub y: i32,
    }

    impl Add for Vector {
        type Output = Vector;

        fn add(self, other: Vector) -> Vector {
            Vector {
                x: self.x + other.x,
                y: self.y + other.y,
            }
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                Vector { x: 1, y: 2 } + Vector { x: 3, y: 4 },
                Vector { x: 4, y: 6 }
            );
        }

        #[test]
        fn usual() {
            assert_eq!(
                Vector { x: 5, y: 0 } + Vector { x: 0, y: 7 },
                Vector { x: 5, y: 7 }
            );
            assert_eq!(
                Vector { x: -1, y: 2 } + Vector { x: 1, y: -2 },
                Vector { x: 0, y: 0 }
            );
        }

        #[test]
        fn chain() {
            let one = Vector { x: 1, y: 10 };
            assert_eq!(one + one + one, Vector { x: 3, y: 30 });
            assert_eq!(one + Vector { x: 0, y: 0 }, one);
            assert_eq!((one + one).y, 20);
        }
    }
}

pub mod countdown_iterator {
    //! Level 2. Counting down gives left, left - 1 and so on to 1, and then nothing more. Return the
    //! next number.
    //!
    //! Countdown { left: 3 }.collect::<Vec<u32>>() == [3, 2, 1]

    pub struct Countdown {
        pub left: u32,
    }

    impl Iterator for Countdown {
        type Item = u32;

        fn next(&mut self) -> Option<u32> {
            let current = self.left;
            self.left = current.checked_sub(1)?;
            Some(current)
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(Countdown { left: 3 }.collect::<Vec<u32>>(), [3, 2, 1]);
        }

        #[test]
        fn whole() {
            assert_eq!(Countdown { left: 1 }.collect::<Vec<u32>>(), [1]);
            assert_eq!(
                Countdown { left: 0 }.collect::<Vec<u32>>(),
                Vec::<u32>::new()
            );
            assert_eq!(Countdown { left: 100 }.sum::<u32>(), 5050);
        }

        #[test]
        fn stepwise() {
            let mut count = Countdown { left: 2 };
            assert_eq!(count.next(), Some(2));
            assert_eq!(count.next(), Some(1));
            assert_eq!(count.next(), None);
            assert_eq!(count.next(), None);
        }
    }
}

pub mod total_area {
    //! Level 2. Return the sum of the areas of all shapes.
    //!
    //! total_area(&[Box::new(Square(2.0)), Box::new(Strip(1.5, 2.0))]) == 7.0

    pub trait Shape {
        fn area(&self) -> f64;
    }

    pub struct Square(pub f64);
    pub struct Strip(pub f64, pub f64);

    impl Shape for Square {
        fn area(&self) -> f64 {
            self.0 * self.0
        }
    }

    impl Shape for Strip {
        fn area(&self) -> f64 {
            self.0 * self.1
        }
    }

    pub fn total_area(shapes: &[Box<dyn Shape>]) -> f64 {
        shapes.iter().map(|shape| shape.area()).sum()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                total_area(&[Box::new(Square(2.0)), Box::new(Strip(1.5, 2.0))]),
                7.0
            );
        }

        #[test]
        fn usual() {
            assert_eq!(total_area(&[Box::new(Square(3.0))]), 9.0);
            assert_eq!(
                total_area(&[
                    Box::new(Strip(0.5, 4.0)),
                    Box::new(Square(1.0)),
                    Box::new(Strip(1.0, 1.0))
                ]),
                4.0
            );
        }

        #[test]
        fn edges() {
            assert_eq!(total_area(&[]), 0.0);
            assert_eq!(total_area(&[Box::new(Square(0.0))]), 0.0);
            assert_eq!(total_area(&[Box::new(Strip(2.0, 8.0))]), 16.0);
        }
    }
}

pub mod max_by_score {
    //! Level 3. Return a reference to the item with the highest score; of equals the first one. Return
    //! None if there is no item.
    //!
    //! max_by_score(&["a", "ccc", "bb"], |word| word.len() as i64) == Some(&"ccc")

    pub fn max_by_score<T>(items: &[T], score: impl Fn(&T) -> i64) -> Option<&T> {
        let mut best: Option<(&T, i64)> = None;
        for item in items {
            let points = score(item);
            if best.is_none_or(|(_, most)| points > most) {
                best = Some((item, points));
            }
        }
        best.map(|(item, _)| item)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                max_by_score(&["a", "ccc", "bb"], |word| word.len() as i64),
                Some(&"ccc")
            );
        }

        #[test]
        fn usual() {
            assert_eq!(
                max_by_score(&[3, -8, 5], |n| i64::from(*n).abs()),
                Some(&-8)
            );
            assert_eq!(max_by_score(&[3, -8, 5], |n| -i64::from(*n)), Some(&-8));
            assert_eq!(max_by_score(&[3, -8, 5], |n| i64::from(*n)), Some(&5));
        }

        #[test]
        fn edges() {
            assert_eq!(max_by_score(&[] as &[u8], |_| 0), None);
            assert_eq!(max_by_score(&["x", "y"], |_| 7), Some(&"x"));
            assert_eq!(max_by_score(&['q'], |_| i64::MIN), Some(&'q'));
        }
    }
}

pub mod compose_functions {
    //! Level 3. Return a function that calls first on its argument and then second on the result.
    //!
    //! compose_functions(|n: i32| n + 1, |n| n * 10)(4) == 50

    pub fn compose_functions<A, B, C>(
        first: impl Fn(A) -> B,
        second: impl Fn(B) -> C,
    ) -> impl Fn(A) -> C {
        move |value| second(first(value))
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(compose_functions(|n: i32| n + 1, |n| n * 10)(4), 50);
        }

        #[test]
        fn order() {
            assert_eq!(compose_functions(|n: i32| n * 10, |n| n + 1)(4), 41);
            assert_eq!(compose_functions(|n: i32| n - 1, |n| n * n)(0), 1);
        }

        #[test]
        fn kinds() {
            assert!(compose_functions(|text: &str| text.len(), |n| n > 3)(
                "four"
            ));
            assert_eq!(
                compose_functions(|n: u8| n.to_string(), |text| text + "%")(7),
                "7%"
            );
            assert!(!compose_functions(|text: &str| text.len(), |n| n > 3)(
                "one"
            ));
        }
    }
}

pub mod add_all {
    //! Level 3. Add up all items of a kind that has a default and can be added; begin with the default.
    //!
    //! add_all(&[1, 2, 3]) == 6

    use std::ops::Add;

    pub fn add_all<T: Copy + Default + Add<Output = T>>(items: &[T]) -> T {
        items.iter().fold(T::default(), |sum, &item| sum + item)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(add_all(&[1, 2, 3]), 6);
        }

        #[test]
        fn numbers() {
            assert_eq!(add_all(&[0.5, 0.25]), 0.75);
            assert_eq!(add_all(&[200_u8, 55]), 255);
            assert_eq!(add_all(&[-4_i64, 4, -9]), -9);
        }

        #[test]
        fn edges() {
            assert_eq!(add_all::<i32>(&[]), 0);
            assert_eq!(add_all(&[41]), 41);
            assert_eq!(add_all(&[3_u64; 1000]), 3000);
        }
    }
}
