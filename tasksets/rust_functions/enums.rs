//! Enums and match: one of several kinds, and what follows from each.

pub mod light_seconds {
    //! Level 1. A red light lasts 30 seconds, a yellow one 5 and a green one 20. Return how long the
    //! light lasts.
    //!
    //! light_seconds(Light::Yellow) == 5

    pub enum Light {
        Red,
        Yellow,
        Green,
    }

    pub fn light_seconds(light: Light) -> u32 {
        match light {
            Light::Red => 30,
            Light::Yellow => 5,
            Light::Green => 20,
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(light_seconds(Light::Yellow), 5);
        }

        #[test]
        fn each() {
            assert_eq!(light_seconds(Light::Red), 30);
            assert_eq!(light_seconds(Light::Green), 20);
            assert_eq!(light_seconds(Light::Yellow), 5);
        }

        #[test]
        fn together() {
            assert_eq!(light_seconds(Light::Red) + light_seconds(Light::Green), 50);
            assert_eq!(light_seconds(Light::Red) - light_seconds(Light::Yellow), 25);
        }
    }
}

pub mod next_light {
    //! Level 1. After green comes yellow, after yellow red, and after red green. Return the light that
    //! comes next.
    //!
    //! next_light(Light::Green) == Light::Yellow

    #[derive(Debug, PartialEq)]
    pub enum Light {
        Red,
        Yellow,
        Green,
    }

    pub fn next_light(light: Light) -> Light {
        match light {
            Light::Green => Light::Yellow,
            Light::Yellow => Light::Red,
            Light::Red => Light::Green,
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(next_light(Light::Green), Light::Yellow);
        }

        #[test]
        fn each() {
            assert_eq!(next_light(Light::Yellow), Light::Red);
            assert_eq!(next_light(Light::Red), Light::Green);
            assert_eq!(next_light(Light::Green), Light::Yellow);
        }

        #[test]
        fn round() {
            assert_eq!(next_light(next_light(Light::Red)), Light::Yellow);
            assert_eq!(next_light(next_light(next_light(Light::Red))), Light::Red);
        }
    }
}

pub mod is_weekend {
    //! Level 1. Say whether the day is a Saturday or a Sunday.
    //!
    //! is_weekend(Day::Sunday) == true
    //! is_weekend(Day::Monday) == false

    pub enum Day {
        Monday,
        Tuesday,
        Wednesday,
        Thursday,
        Friday,
        Saturday,
        Sunday,
    }

    pub fn is_weekend(day: Day) -> bool {
        matches!(day, Day::Saturday | Day::Sunday)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(is_weekend(Day::Sunday));
            assert!(!is_weekend(Day::Monday));
        }

        #[test]
        fn edges() {
            assert!(is_weekend(Day::Saturday));
            assert!(!is_weekend(Day::Friday));
            assert!(is_weekend(Day::Sunday));
        }

        #[test]
        fn others() {
            assert!(!is_weekend(Day::Tuesday));
            assert!(!is_weekend(Day::Wednesday));
            assert!(!is_weekend(Day::Thursday));
            assert!(is_weekend(Day::Saturday));
        }
    }
}

pub mod small_number_name {
    //! Level 1. Return "one", "two" or "three" for 1, 2 and 3, and "many" for everything else.
    //!
    //! small_number_name(2) == "two"
    //! small_number_name(8) == "many"

    pub fn small_number_name(n: u32) -> &'static str {
        match n {
            1 => "one",
            2 => "two",
            3 => "three",
            _ => "many",
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(small_number_name(2), "two");
            assert_eq!(small_number_name(8), "many");
        }

        #[test]
        fn small() {
            assert_eq!(small_number_name(1), "one");
            assert_eq!(small_number_name(2), "two");
            assert_eq!(small_number_name(3), "three");
        }

        #[test]
        fn others() {
            assert_eq!(small_number_name(0), "many");
            assert_eq!(small_number_name(4), "many");
            assert_eq!(small_number_name(u32::MAX), "many");
        }
    }
}

pub mod grade_letter {
    //! Level 1. Return 'A' for 90 points and more, 'B' for 70 to 89, 'C' for 50 to 69 and 'F' for fewer.
    //!
    //! grade_letter(95) == 'A'
    //! grade_letter(49) == 'F'

    pub fn grade_letter(points: u32) -> char {
        match points {
            90.. => 'A',
            70..=89 => 'B',
            50..=69 => 'C',
            _ => 'F',
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(grade_letter(95), 'A');
            assert_eq!(grade_letter(49), 'F');
        }

        #[test]
        fn edges() {
            assert_eq!(grade_letter(90), 'A');
            assert_eq!(grade_letter(89), 'B');
            assert_eq!(grade_letter(70), 'B');
            assert_eq!(grade_letter(69), 'C');
            assert_eq!(grade_letter(50), 'C');
        }

        #[test]
        fn far() {
            assert_eq!(grade_letter(0), 'F');
            assert_eq!(grade_letter(100), 'A');
            assert_eq!(grade_letter(60), 'C');
        }
    }
}

pub mod opposite_direction {
    //! Level 1. Return the direction that points the other way.
    //!
    //! opposite_direction(Direction::North) == Direction::South

    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Direction {
        North,
        East,
        South,
        West,
    }

    pub fn opposite_direction(direction: Direction) -> Direction {
        match direction {
            Direction::North => Direction::South,
            Direction::East => Direction::West,
            Direction::South => Direction::North,
            Direction::West => Direction::East,
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(opposite_direction(Direction::North), Direction::South);
        }

        #[test]
        fn each() {
            assert_eq!(opposite_direction(Direction::South), Direction::North);
            assert_eq!(opposite_direction(Direction::East), Direction::West);
            assert_eq!(opposite_direction(Direction::West), Direction::East);
        }

        #[test]
        fn twice() {
            assert_eq!(
                opposite_direction(opposite_direction(Direction::East)),
                Direction::East
            );
            assert_eq!(
                opposite_direction(opposite_direction(Direction::North)),
                Direction::North
            );
        }
    }
}

pub mod coin_total {
    //! Level 2. A penny is worth 1, a nickel 5, a dime 10 and a quarter 25. Return the worth of all
    //! coins together.
    //!
    //! coin_total(&[Coin::Dime, Coin::Penny]) == 11

    pub enum Coin {
        Penny,
        Nickel,
        Dime,
        Quarter,
    }

    pub fn coin_total(coins: &[Coin]) -> u32 {
        coins
            .iter()
            .map(|coin| match coin {
                Coin::Penny => 1,
                Coin::Nickel => 5,
                Coin::Dime => 10,
                Coin::Quarter => 25,
            })
            .sum()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(coin_total(&[Coin::Dime, Coin::Penny]), 11);
        }

        #[test]
        fn single() {
            assert_eq!(coin_total(&[Coin::Penny]), 1);
            assert_eq!(coin_total(&[Coin::Nickel]), 5);
            assert_eq!(coin_total(&[Coin::Quarter]), 25);
            assert_eq!(coin_total(&[Coin::Dime]), 10);
        }

        #[test]
        fn several() {
            assert_eq!(coin_total(&[]), 0);
            assert_eq!(
                coin_total(&[Coin::Quarter, Coin::Quarter, Coin::Nickel]),
                55
            );
            assert_eq!(
                coin_total(&[Coin::Penny, Coin::Nickel, Coin::Dime, Coin::Quarter]),
                41
            );
        }
    }
}

pub mod shape_area {
    //! Level 2. Return the area of the shape; that of a triangle is half of its base times its height.
    //!
    //! shape_area(&Shape::Rectangle(2.0, 3.0)) == 6.0
    //! shape_area(&Shape::Triangle { base: 4.0, height: 3.0 }) == 6.0

    pub enum Shape {
        Square(f64),
        Rectangle(f64, f64),
        Triangle { base: f64, height: f64 },
    }

    pub fn shape_area(shape: &Shape) -> f64 {
        match shape {
            Shape::Square(side) => side * side,
            Shape::Rectangle(width, height) => width * height,
            Shape::Triangle { base, height } => base * height / 2.0,
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(shape_area(&Shape::Rectangle(2.0, 3.0)), 6.0);
            assert_eq!(
                shape_area(&Shape::Triangle {
                    base: 4.0,
                    height: 3.0
                }),
                6.0
            );
        }

        #[test]
        fn squares() {
            assert_eq!(shape_area(&Shape::Square(3.0)), 9.0);
            assert_eq!(shape_area(&Shape::Square(0.5)), 0.25);
        }

        #[test]
        fn others() {
            assert_eq!(shape_area(&Shape::Rectangle(5.0, 0.0)), 0.0);
            assert_eq!(shape_area(&Shape::Rectangle(1.5, 4.0)), 6.0);
            assert_eq!(
                shape_area(&Shape::Triangle {
                    base: 1.0,
                    height: 1.0
                }),
                0.5
            );
        }
    }
}

pub mod message_text {
    //! Level 2. Return what a message says: "quit" for Quit, the text itself for Write, and "move to
    //! X,Y" for Move.
    //!
    //! message_text(&Message::Quit) == "quit"
    //! message_text(&Message::Move { x: 3, y: -1 }) == "move to 3,-1"

    pub enum Message {
        Quit,
        Write(String),
        Move { x: i32, y: i32 },
    }

    pub fn message_text(message: &Message) -> String {
        match message {
            Message::Quit => "quit".to_string(),
            Message::Write(text) => text.clone(),
            Message::Move { x, y } => format!("move to {x},{y}"),
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(message_text(&Message::Quit), "quit");
            assert_eq!(message_text(&Message::Move { x: 3, y: -1 }), "move to 3,-1");
        }

        #[test]
        fn write() {
            assert_eq!(message_text(&Message::Write("hello".to_string())), "hello");
            assert_eq!(message_text(&Message::Write(String::new())), "");
            assert_eq!(message_text(&Message::Write("ünï".to_string())), "ünï");
        }

        #[test]
        fn others() {
            assert_eq!(message_text(&Message::Move { x: 0, y: 0 }), "move to 0,0");
            assert_eq!(
                message_text(&Message::Move { x: -7, y: 20 }),
                "move to -7,20"
            );
            assert_eq!(message_text(&Message::Quit), "quit");
        }
    }
}

pub mod turn_right {
    //! Level 2. Return the direction after the given number of quarter turns to the right.
    //!
    //! turn_right(Direction::North, 1) == Direction::East
    //! turn_right(Direction::West, 2) == Direction::East

    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Direction {
        North,
        East,
        South,
        West,
    }

    pub fn turn_right(direction: Direction, turns: u32) -> Direction {
        let all = [
            Direction::North,
            Direction::East,
            Direction::South,
            Direction::West,
        ];
        all[(direction as usize + turns as usize) % 4]
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(turn_right(Direction::North, 1), Direction::East);
            assert_eq!(turn_right(Direction::West, 2), Direction::East);
        }

        #[test]
        fn few() {
            assert_eq!(turn_right(Direction::South, 0), Direction::South);
            assert_eq!(turn_right(Direction::South, 1), Direction::West);
            assert_eq!(turn_right(Direction::West, 1), Direction::North);
            assert_eq!(turn_right(Direction::East, 3), Direction::North);
        }

        #[test]
        fn many() {
            assert_eq!(turn_right(Direction::North, 4), Direction::North);
            assert_eq!(turn_right(Direction::North, 4_000_002), Direction::South);
            assert_eq!(turn_right(Direction::East, 7), Direction::North);
        }
    }
}

pub mod calculate {
    //! Level 2. Do the operation with a and b. Dividing by zero gives None.
    //!
    //! calculate(Operation::Subtract, 7, 2) == Some(5)
    //! calculate(Operation::Divide, 7, 0) == None

    pub enum Operation {
        Add,
        Subtract,
        Multiply,
        Divide,
    }

    pub fn calculate(operation: Operation, a: i32, b: i32) -> Option<i32> {
        match operation {
            Operation::Add => Some(a + b),
            Operation::Subtract => Some(a - b),
            Operation::Multiply => Some(a * b),
            Operation::Divide => a.checked_div(b),
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(calculate(Operation::Subtract, 7, 2), Some(5));
            assert_eq!(calculate(Operation::Divide, 7, 0), None);
        }

        #[test]
        fn each() {
            assert_eq!(calculate(Operation::Add, 2, 3), Some(5));
            assert_eq!(calculate(Operation::Multiply, -2, 3), Some(-6));
            assert_eq!(calculate(Operation::Divide, 7, 2), Some(3));
            assert_eq!(calculate(Operation::Subtract, 2, 7), Some(-5));
        }

        #[test]
        fn zeros() {
            assert_eq!(calculate(Operation::Add, 0, 0), Some(0));
            assert_eq!(calculate(Operation::Multiply, 5, 0), Some(0));
            assert_eq!(calculate(Operation::Divide, 0, 0), None);
            assert_eq!(calculate(Operation::Divide, 0, 4), Some(0));
        }
    }
}

pub mod run_commands {
    //! Level 3. A robot starts at 0. Forward and Back move it by their number, Reset sets it to 0, and
    //! Repeat does its list of commands so many times. Return where it ends.
    //!
    //! run_commands(&[Command::Forward(5), Command::Back(2)]) == 3
    //! run_commands(&[Command::Repeat(3, vec![Command::Forward(2)])]) == 6

    pub enum Command {
        Forward(i32),
        Back(i32),
        Reset,
        Repeat(u32, Vec<Command>),
    }

    pub fn run_commands(commands: &[Command]) -> i32 {
        run(commands, 0)
    }

    fn run(commands: &[Command], start: i32) -> i32 {
        commands.iter().fold(start, |place, command| match command {
            Command::Forward(n) => place + n,
            Command::Back(n) => place - n,
            Command::Reset => 0,
            Command::Repeat(times, inner) => (0..*times).fold(place, |at, _| run(inner, at)),
        })
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(run_commands(&[Command::Forward(5), Command::Back(2)]), 3);
            assert_eq!(
                run_commands(&[Command::Repeat(3, vec![Command::Forward(2)])]),
                6
            );
        }

        #[test]
        fn plain() {
            assert_eq!(run_commands(&[]), 0);
            assert_eq!(run_commands(&[Command::Back(4)]), -4);
            assert_eq!(
                run_commands(&[Command::Forward(9), Command::Reset, Command::Back(1)]),
                -1
            );
        }

        #[test]
        fn repeated() {
            assert_eq!(
                run_commands(&[
                    Command::Forward(1),
                    Command::Repeat(2, vec![Command::Forward(3), Command::Back(1)])
                ]),
                5
            );
            assert_eq!(
                run_commands(&[Command::Repeat(0, vec![Command::Forward(7)])]),
                0
            );
        }

        #[test]
        fn nested() {
            assert_eq!(
                run_commands(&[Command::Repeat(
                    3,
                    vec![Command::Repeat(4, vec![Command::Forward(1)])]
                )]),
                12
            );
            assert_eq!(
                run_commands(&[
                    Command::Forward(5),
                    Command::Repeat(1, vec![Command::Reset, Command::Forward(2)])
                ]),
                2
            );
        }
    }
}

pub mod expression_value {
    //! Level 3. An expression is a number, the sum of two expressions, the product of two, or one with
    //! its sign turned. Return its value.
    //!
    //! expression_value(&Expression::Negative(Box::new(Expression::Number(4)))) == -4

    pub enum Expression {
        Number(i64),
        Sum(Box<Expression>, Box<Expression>),
        Product(Box<Expression>, Box<Expression>),
        Negative(Box<Expression>),
    }

    pub fn expression_value(expression: &Expression) -> i64 {
        match expression {
            Expression::Number(n) => *n,
            Expression::Sum(a, b) => expression_value(a) + expression_value(b),
            Expression::Product(a, b) => expression_value(a) * expression_value(b),
            Expression::Negative(inner) => -expression_value(inner),
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                expression_value(&Expression::Negative(Box::new(Expression::Number(4)))),
                -4
            );
        }

        #[test]
        fn numbers() {
            assert_eq!(expression_value(&Expression::Number(0)), 0);
            assert_eq!(expression_value(&Expression::Number(-12)), -12);
        }

        #[test]
        fn pairs() {
            let n = |v| Box::new(Expression::Number(v));
            assert_eq!(expression_value(&Expression::Sum(n(2), n(3))), 5);
            assert_eq!(expression_value(&Expression::Product(n(2), n(-3))), -6);
        }

        #[test]
        fn nested() {
            let n = |v| Box::new(Expression::Number(v));
            let sum = Expression::Sum(n(1), Box::new(Expression::Product(n(4), n(5))));
            assert_eq!(expression_value(&sum), 21);
            assert_eq!(expression_value(&Expression::Negative(Box::new(sum))), -21);
        }
    }
}
