//! Structs: fields, methods and small types of one's own.

pub mod point_sum {
    //! Level 1. Return the sum of both coordinates of the point.
    //!
    //! point_sum(Point { x: 3, y: 4 }) == 7

    pub struct Point {
        pub x: i32,
        pub y: i32,
    }

    pub fn point_sum(point: Point) -> i32 {
        point.x + point.y
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(point_sum(Point { x: 3, y: 4 }), 7);
        }

        #[test]
        fn usual() {
            assert_eq!(point_sum(Point { x: 10, y: 1 }), 11);
            assert_eq!(point_sum(Point { x: -5, y: 2 }), -3);
        }

        #[test]
        fn edges() {
            assert_eq!(point_sum(Point { x: 0, y: 0 }), 0);
            assert_eq!(point_sum(Point { x: 0, y: 9 }), 9);
            assert_eq!(point_sum(Point { x: 9, y: 0 }), 9);
        }
    }
}

pub mod new_book {
    //! Level 1. Return a book with the given title and number of pages.
    //!
    //! new_book("Momo", 300) == Book { title: "Momo".to_string(), pages: 300 }

    #[derive(Debug, PartialEq)]
    pub struct Book {
        pub title: String,
        pub pages: u32,
    }

    pub fn new_book(title: &str, pages: u32) -> Book {
        Book {
            title: title.to_string(),
            pages,
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                new_book("Momo", 300),
                Book {
                    title: "Momo".to_string(),
                    pages: 300
                }
            );
        }

        #[test]
        fn usual() {
            assert_eq!(new_book("Rust", 12).title, "Rust");
            assert_eq!(new_book("Rust", 12).pages, 12);
            assert_eq!(new_book("Café", 1).title, "Café");
        }

        #[test]
        fn edges() {
            assert_eq!(new_book("", 0).title, "");
            assert_eq!(new_book("", 0).pages, 0);
            assert_eq!(new_book("x", u32::MAX).pages, u32::MAX);
        }
    }
}

pub mod origin {
    //! Level 1. Return the point whose coordinates are both zero.
    //!
    //! origin().x == 0
    //! origin().y == 0

    #[derive(Debug, PartialEq)]
    pub struct Point {
        pub x: i32,
        pub y: i32,
    }

    pub fn origin() -> Point {
        Point { x: 0, y: 0 }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(origin().x, 0);
            assert_eq!(origin().y, 0);
        }

        #[test]
        fn whole() {
            assert_eq!(origin(), Point { x: 0, y: 0 });
            assert!(origin() != Point { x: 0, y: 1 });
        }

        #[test]
        fn parts() {
            assert_eq!(origin().x, 0);
            assert_eq!(origin().y, 0);
            assert!(origin() != Point { x: 1, y: 0 });
        }
    }
}

pub mod square_area {
    //! Level 1. Return the area of the square.
    //!
    //! Square { side: 3 }.area() == 9

    pub struct Square {
        pub side: u32,
    }

    impl Square {
        pub fn area(&self) -> u32 {
            self.side * self.side
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(Square { side: 3 }.area(), 9);
        }

        #[test]
        fn small() {
            assert_eq!(Square { side: 0 }.area(), 0);
            assert_eq!(Square { side: 1 }.area(), 1);
            assert_eq!(Square { side: 2 }.area(), 4);
        }

        #[test]
        fn large() {
            assert_eq!(Square { side: 1000 }.area(), 1_000_000);
            assert_eq!(Square { side: 60_000 }.area(), 3_600_000_000);
        }
    }
}

pub mod is_older {
    //! Level 1. Say whether this person is older than the other one.
    //!
    //! Person { age: 40 }.is_older(&Person { age: 30 }) == true
    //! Person { age: 30 }.is_older(&Person { age: 30 }) == false

    pub struct Person {
        pub age: u32,
    }

    impl Person {
        pub fn is_older(&self, other: &Person) -> bool {
            self.age > other.age
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(Person { age: 40 }.is_older(&Person { age: 30 }));
            assert!(!Person { age: 30 }.is_older(&Person { age: 30 }));
        }

        #[test]
        fn order() {
            assert!(!Person { age: 3 }.is_older(&Person { age: 4 }));
            assert!(Person { age: 4 }.is_older(&Person { age: 3 }));
        }

        #[test]
        fn edges() {
            assert!(!Person { age: 0 }.is_older(&Person { age: 0 }));
            assert!(Person { age: 1 }.is_older(&Person { age: 0 }));
            assert!(!Person { age: 0 }.is_older(&Person { age: 1 }));
        }
    }
}

pub mod counter_step {
    //! Level 1. Increase the counter's value by one.
    //!
    //! let mut c = Counter { value: 4 }; c.step(); c.value == 5

    pub struct Counter {
        pub value: i32,
    }

    impl Counter {
        pub fn step(&mut self) {
            self.value += 1;
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let mut c = Counter { value: 4 };
            c.step();
            assert_eq!(c.value, 5);
        }

        #[test]
        fn once() {
            let mut c = Counter { value: 0 };
            c.step();
            assert_eq!(c.value, 1);
            c.step();
            assert_eq!(c.value, 2);
        }

        #[test]
        fn negative() {
            let mut c = Counter { value: -1 };
            c.step();
            assert_eq!(c.value, 0);
            c.step();
            assert_eq!(c.value, 1);
        }

        #[test]
        fn often() {
            let mut c = Counter { value: 10 };
            (0..90).for_each(|_| c.step());
            assert_eq!(c.value, 100);
        }
    }
}

pub mod full_name {
    //! Level 1. Return the first name and the last name with a space between them.
    //!
    //! Name { first: "Ada", last: "Byron" }.full() == "Ada Byron"

    pub struct Name {
        pub first: &'static str,
        pub last: &'static str,
    }

    impl Name {
        pub fn full(&self) -> String {
            format!("{} {}", self.first, self.last)
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                Name {
                    first: "Ada",
                    last: "Byron"
                }
                .full(),
                "Ada Byron"
            );
        }

        #[test]
        fn usual() {
            assert_eq!(
                Name {
                    first: "Bo",
                    last: "Li"
                }
                .full(),
                "Bo Li"
            );
            assert_eq!(
                Name {
                    first: "Li",
                    last: "Bo"
                }
                .full(),
                "Li Bo"
            );
        }

        #[test]
        fn edges() {
            assert_eq!(
                Name {
                    first: "",
                    last: ""
                }
                .full(),
                " "
            );
            assert_eq!(
                Name {
                    first: "Zoë",
                    last: "Ärm el"
                }
                .full(),
                "Zoë Ärm el"
            );
            assert_eq!(
                Name {
                    first: "x",
                    last: ""
                }
                .full(),
                "x "
            );
        }
    }
}

pub mod move_point {
    //! Level 2. Return the point that lies dx further along x and dy further along y. The given point
    //! stays as it is.
    //!
    //! move_point(&Point { x: 1, y: 2 }, 3, -2) == Point { x: 4, y: 0 }

    #[derive(Debug, Clone, PartialEq)]
    pub struct Point {
        pub x: i32,
        pub y: i32,
    }

    pub fn move_point(point: &Point, dx: i32, dy: i32) -> Point {
        Point {
            x: point.x + dx,
            y: point.y + dy,
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                move_point(&Point { x: 1, y: 2 }, 3, -2),
                Point { x: 4, y: 0 }
            );
        }

        #[test]
        fn usual() {
            assert_eq!(
                move_point(&Point { x: 0, y: 0 }, 5, 6),
                Point { x: 5, y: 6 }
            );
            assert_eq!(
                move_point(&Point { x: 5, y: 6 }, -5, 1),
                Point { x: 0, y: 7 }
            );
        }

        #[test]
        fn unchanged() {
            let p = Point { x: 8, y: 9 };
            assert_eq!(move_point(&p, 0, 0), p);
            assert_eq!(move_point(&p, 1, 1), Point { x: 9, y: 10 });
            assert_eq!(p, Point { x: 8, y: 9 });
        }
    }
}

pub mod deposit {
    //! Level 2. Add the amount to the account's balance and return the new balance. An amount that is
    //! negative is ignored.
    //!
    //! Account { balance: 10 }.deposit(5) == 15
    //! Account { balance: 10 }.deposit(-5) == 10

    pub struct Account {
        pub balance: i64,
    }

    impl Account {
        pub fn deposit(&mut self, amount: i64) -> i64 {
            self.balance += amount.max(0);
            self.balance
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(Account { balance: 10 }.deposit(5), 15);
            assert_eq!(Account { balance: 10 }.deposit(-5), 10);
        }

        #[test]
        fn usual() {
            let mut a = Account { balance: 0 };
            assert_eq!(a.deposit(7), 7);
            assert_eq!(a.deposit(3), 10);
            assert_eq!(a.balance, 10);
        }

        #[test]
        fn ignored() {
            let mut a = Account { balance: 4 };
            assert_eq!(a.deposit(-1), 4);
            assert_eq!(a.deposit(0), 4);
            assert_eq!(a.balance, 4);
        }

        #[test]
        fn negative_balance() {
            let mut a = Account { balance: -20 };
            assert_eq!(a.deposit(5), -15);
        }
    }
}

pub mod total_value {
    //! Level 2. Return what all items cost together: the price of each one times its count.
    //!
    //! total_value(&[Item { price: 5, count: 2 }, Item { price: 1, count: 3 }]) == 13

    pub struct Item {
        pub price: u32,
        pub count: u32,
    }

    pub fn total_value(items: &[Item]) -> u32 {
        items.iter().map(|item| item.price * item.count).sum()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                total_value(&[Item { price: 5, count: 2 }, Item { price: 1, count: 3 }]),
                13
            );
        }

        #[test]
        fn usual() {
            assert_eq!(total_value(&[Item { price: 7, count: 6 }]), 42);
            assert_eq!(
                total_value(&[Item { price: 1, count: 1 }, Item { price: 2, count: 2 }]),
                5
            );
        }

        #[test]
        fn edges() {
            assert_eq!(total_value(&[]), 0);
            assert_eq!(total_value(&[Item { price: 9, count: 0 }]), 0);
            assert_eq!(
                total_value(&[Item { price: 0, count: 9 }, Item { price: 4, count: 1 }]),
                4
            );
        }
    }
}

pub mod longest_track {
    //! Level 2. Return the title of the track that takes the most seconds, of equals the first one.
    //! Return None if there is no track.
    //!
    //! longest_track(&[Track { title: "a", seconds: 90 }, Track { title: "b", seconds: 120 }]) == Some("b")

    pub struct Track {
        pub title: &'static str,
        pub seconds: u32,
    }

    pub fn longest_track(tracks: &[Track]) -> Option<&'static str> {
        tracks
            .iter()
            .rev()
            .max_by_key(|track| track.seconds)
            .map(|track| track.title)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                longest_track(&[
                    Track {
                        title: "a",
                        seconds: 90
                    },
                    Track {
                        title: "b",
                        seconds: 120
                    }
                ]),
                Some("b")
            );
        }

        #[test]
        fn usual() {
            assert_eq!(
                longest_track(&[Track {
                    title: "x",
                    seconds: 5
                }]),
                Some("x")
            );
            assert_eq!(
                longest_track(&[
                    Track {
                        title: "x",
                        seconds: 5
                    },
                    Track {
                        title: "y",
                        seconds: 4
                    }
                ]),
                Some("x")
            );
        }

        #[test]
        fn edges() {
            assert_eq!(longest_track(&[]), None);
            assert_eq!(
                longest_track(&[
                    Track {
                        title: "p",
                        seconds: 3
                    },
                    Track {
                        title: "q",
                        seconds: 3
                    },
                    Track {
                        title: "r",
                        seconds: 1
                    }
                ]),
                Some("p")
            );
            assert_eq!(
                longest_track(&[Track {
                    title: "",
                    seconds: 0
                }]),
                Some("")
            );
        }
    }
}

pub mod rectangles_overlap {
    //! Level 3. A rectangle has a lower left corner, a width and a height. Say whether both share an
    //! area; touching edges are not enough.
    //!
    //! Rect { x: 0, y: 0, width: 4, height: 4 }.overlaps(&Rect { x: 2, y: 2, width: 4, height: 4 }) == true
    //! Rect { x: 0, y: 0, width: 2, height: 2 }.overlaps(&Rect { x: 2, y: 0, width: 2, height: 2 }) == false

    pub struct Rect {
        pub x: i32,
        pub y: i32,
        pub width: i32,
        pub height: i32,
    }

    impl Rect {
        pub fn overlaps(&self, other: &Rect) -> bool {
            let wide = (self.x + self.width).min(other.x + other.width) - self.x.max(other.x);
            let high = (self.y + self.height).min(other.y + other.height) - self.y.max(other.y);
            wide > 0 && high > 0
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(Rect {
                x: 0,
                y: 0,
                width: 4,
                height: 4
            }
            .overlaps(&Rect {
                x: 2,
                y: 2,
                width: 4,
                height: 4
            }));
            assert!(!Rect {
                x: 0,
                y: 0,
                width: 2,
                height: 2
            }
            .overlaps(&Rect {
                x: 2,
                y: 0,
                width: 2,
                height: 2
            }));
        }

        #[test]
        fn inside() {
            let big = Rect {
                x: 0,
                y: 0,
                width: 10,
                height: 10,
            };
            let small = Rect {
                x: 3,
                y: 3,
                width: 1,
                height: 1,
            };
            assert!(big.overlaps(&small));
            assert!(small.overlaps(&big));
            assert!(!Rect {
                x: 20,
                y: 3,
                width: 1,
                height: 1
            }
            .overlaps(&big));
        }

        #[test]
        fn apart() {
            let a = Rect {
                x: -5,
                y: -5,
                width: 3,
                height: 3,
            };
            let b = Rect {
                x: -4,
                y: 9,
                width: 3,
                height: 3,
            };
            assert!(!a.overlaps(&b));
            assert!(!b.overlaps(&a));
            assert!(a.overlaps(&a));
        }

        #[test]
        fn edges() {
            let a = Rect {
                x: 0,
                y: 0,
                width: 2,
                height: 2,
            };
            assert!(!a.overlaps(&Rect {
                x: 0,
                y: 2,
                width: 2,
                height: 2
            }));
            assert!(a.overlaps(&Rect {
                x: 1,
                y: -1,
                width: 2,
                height: 2
            }));
            assert!(!a.overlaps(&Rect {
                x: 1,
                y: 1,
                width: 0,
                height: 5
            }));
        }
    }
}

pub mod bounded_stack {
    //! Level 3. A stack keeps at most limit numbers. Put a number on top; when the stack was full before
    //! that, the lowest number falls out and is returned.
    //!
    //! let mut s = Stack { limit: 2, numbers: vec![1, 2] }; s.put(3) == Some(1)
    //! let mut t = Stack { limit: 2, numbers: vec![1] }; t.put(3) == None

    pub struct Stack {
        pub limit: usize,
        pub numbers: Vec<i32>,
    }

    impl Stack {
        pub fn put(&mut self, number: i32) -> Option<i32> {
            self.numbers.push(number);
            (self.numbers.len() > self.limit).then(|| self.numbers.remove(0))
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            let mut s = Stack {
                limit: 2,
                numbers: vec![1, 2],
            };
            assert_eq!(s.put(3), Some(1));
            let mut t = Stack {
                limit: 2,
                numbers: vec![1],
            };
            assert_eq!(t.put(3), None);
        }

        #[test]
        fn fill() {
            let mut s = Stack {
                limit: 3,
                numbers: vec![],
            };
            assert_eq!(s.put(5), None);
            assert_eq!(s.put(6), None);
            assert_eq!(s.put(7), None);
            assert_eq!(s.put(8), Some(5));
            assert_eq!(s.numbers, [6, 7, 8]);
        }

        #[test]
        fn single() {
            let mut s = Stack {
                limit: 1,
                numbers: vec![],
            };
            assert_eq!(s.put(4), None);
            assert_eq!(s.put(9), Some(4));
            assert_eq!(s.numbers, [9]);
        }

        #[test]
        fn no_room() {
            let mut s = Stack {
                limit: 0,
                numbers: vec![],
            };
            assert_eq!(s.put(4), Some(4));
            assert!(s.numbers.is_empty());
        }
    }
}
