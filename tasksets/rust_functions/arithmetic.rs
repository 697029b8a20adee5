//! Arithmetic: divisions, remainders, powers, rounding and sums with a formula.

pub mod average_of_two {
    //! Level 1. Return the mean of the two numbers.
    //!
    //! average_of_two(2.0, 4.0) == 3.0
    //! average_of_two(1.0, 2.0) == 1.5

    pub fn average_of_two(a: f64, b: f64) -> f64 {
        (a + b) / 2.0
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(average_of_two(2.0, 4.0), 3.0);
            assert_eq!(average_of_two(1.0, 2.0), 1.5);
        }

        #[test]
        fn same() {
            assert_eq!(average_of_two(5.0, 5.0), 5.0);
            assert_eq!(average_of_two(0.0, 0.0), 0.0);
        }

        #[test]
        fn mixed() {
            assert_eq!(average_of_two(-3.0, 3.0), 0.0);
            assert_eq!(average_of_two(-1.0, -2.0), -1.5);
            assert_eq!(average_of_two(10.0, 0.5), 5.25);
        }
    }
}

pub mod rest_of_division {
    //! Level 1. Return what remains when total sweets are shared evenly among children. There is at
    //! least one child.
    //!
    //! rest_of_division(10, 3) == 1
    //! rest_of_division(8, 4) == 0

    pub fn rest_of_division(total: u32, children: u32) -> u32 {
        total % children
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(rest_of_division(10, 3), 1);
            assert_eq!(rest_of_division(8, 4), 0);
        }

        #[test]
        fn small() {
            assert_eq!(rest_of_division(0, 5), 0);
            assert_eq!(rest_of_division(3, 5), 3);
            assert_eq!(rest_of_division(7, 1), 0);
        }

        #[test]
        fn large() {
            assert_eq!(rest_of_division(1_000_000, 7), 1);
            assert_eq!(rest_of_division(4_294_967_295, 1000), 295);
        }
    }
}

pub mod boxes_needed {
    //! Level 2. Return how many boxes are needed to pack all items when a box holds size items. The last
    //! box may stay partly empty; size is at least 1.
    //!
    //! boxes_needed(10, 4) == 3
    //! boxes_needed(8, 4) == 2

    pub fn boxes_needed(items: u32, size: u32) -> u32 {
        items.div_ceil(size)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(boxes_needed(10, 4), 3);
            assert_eq!(boxes_needed(8, 4), 2);
        }

        #[test]
        fn edges() {
            assert_eq!(boxes_needed(0, 5), 0);
            assert_eq!(boxes_needed(1, 5), 1);
            assert_eq!(boxes_needed(5, 5), 1);
            assert_eq!(boxes_needed(6, 5), 2);
        }

        #[test]
        fn large() {
            assert_eq!(boxes_needed(1_000_001, 1000), 1001);
            assert_eq!(boxes_needed(7, 1), 7);
        }
    }
}

pub mod celsius_to_fahrenheit {
    //! Level 1. Convert degrees Celsius to degrees Fahrenheit: 0 °C is 32 °F, and each degree Celsius is
    //! 1.8 degrees Fahrenheit.
    //!
    //! celsius_to_fahrenheit(0.0) == 32.0
    //! celsius_to_fahrenheit(100.0) == 212.0

    pub fn celsius_to_fahrenheit(celsius: f64) -> f64 {
        celsius * 1.8 + 32.0
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(celsius_to_fahrenheit(0.0), 32.0);
            assert_eq!(celsius_to_fahrenheit(100.0), 212.0);
        }

        #[test]
        fn warm() {
            assert_eq!(celsius_to_fahrenheit(10.0), 50.0);
            assert_eq!(celsius_to_fahrenheit(25.0), 77.0);
            assert_eq!(celsius_to_fahrenheit(50.0), 122.0);
        }

        #[test]
        fn cold() {
            assert_eq!(celsius_to_fahrenheit(-10.0), 14.0);
            assert_eq!(celsius_to_fahrenheit(-40.0), -40.0);
        }
    }
}

pub mod sum_to {
    //! Level 1. Return the sum of all whole numbers from 1 up to n, n included.
    //!
    //! sum_to(4) == 10
    //! sum_to(1) == 1

    pub fn sum_to(n: u64) -> u64 {
        n * (n + 1) / 2
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(sum_to(4), 10);
            assert_eq!(sum_to(1), 1);
        }

        #[test]
        fn small() {
            assert_eq!(sum_to(0), 0);
            assert_eq!(sum_to(2), 3);
            assert_eq!(sum_to(3), 6);
            assert_eq!(sum_to(10), 55);
        }

        #[test]
        fn large() {
            assert_eq!(sum_to(1000), 500_500);
            assert_eq!(sum_to(1_000_000), 500_000_500_000);
        }
    }
}

pub mod power_of {
    //! Level 1. Return base raised to the power exponent. The result fits the type.
    //!
    //! power_of(2, 5) == 32
    //! power_of(7, 0) == 1

    pub fn power_of(base: i64, exponent: u32) -> i64 {
        base.pow(exponent)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(power_of(2, 5), 32);
            assert_eq!(power_of(7, 0), 1);
        }

        #[test]
        fn small() {
            assert_eq!(power_of(0, 3), 0);
            assert_eq!(power_of(1, 50), 1);
            assert_eq!(power_of(9, 1), 9);
            assert_eq!(power_of(3, 4), 81);
        }

        #[test]
        fn negative() {
            assert_eq!(power_of(-2, 3), -8);
            assert_eq!(power_of(-2, 4), 16);
        }

        #[test]
        fn large() {
            assert_eq!(power_of(10, 18), 1_000_000_000_000_000_000);
        }
    }
}

pub mod clock_hour {
    //! Level 2. A clock shows hours from 0 to 23. Return the hour that it shows some hours after start;
    //! hours may be negative, which means before.
    //!
    //! clock_hour(22, 5) == 3
    //! clock_hour(1, -2) == 23

    pub fn clock_hour(start: i32, hours: i32) -> i32 {
        (start + hours).rem_euclid(24)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(clock_hour(22, 5), 3);
            assert_eq!(clock_hour(1, -2), 23);
        }

        #[test]
        fn same_day() {
            assert_eq!(clock_hour(8, 3), 11);
            assert_eq!(clock_hour(8, -8), 0);
            assert_eq!(clock_hour(0, 0), 0);
            assert_eq!(clock_hour(23, 1), 0);
        }

        #[test]
        fn many_days() {
            assert_eq!(clock_hour(5, 48), 5);
            assert_eq!(clock_hour(5, -50), 3);
            assert_eq!(clock_hour(0, -1), 23);
        }
    }
}

pub mod digit_sum {
    //! Level 2. Return the sum of the decimal digits of n.
    //!
    //! digit_sum(253) == 10
    //! digit_sum(0) == 0

    pub fn digit_sum(n: u64) -> u64 {
        let mut rest = n;
        let mut sum = 0;
        while rest > 0 {
            sum += rest % 10;
            rest /= 10;
        }
        sum
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(digit_sum(253), 10);
            assert_eq!(digit_sum(0), 0);
        }

        #[test]
        fn small() {
            assert_eq!(digit_sum(7), 7);
            assert_eq!(digit_sum(10), 1);
            assert_eq!(digit_sum(99), 18);
            assert_eq!(digit_sum(1001), 2);
        }

        #[test]
        fn large() {
            assert_eq!(digit_sum(9_999_999_999), 90);
            assert_eq!(digit_sum(1_000_000_000_000), 1);
        }
    }
}

pub mod largest_common_divisor {
    //! Level 2. Return the largest whole number that divides both a and b. When one of them is 0, the
    //! answer is the other one.
    //!
    //! largest_common_divisor(12, 18) == 6
    //! largest_common_divisor(7, 5) == 1

    pub fn largest_common_divisor(a: u64, b: u64) -> u64 {
        let (mut a, mut b) = (a, b);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(largest_common_divisor(12, 18), 6);
            assert_eq!(largest_common_divisor(7, 5), 1);
        }

        #[test]
        fn zeros() {
            assert_eq!(largest_common_divisor(0, 9), 9);
            assert_eq!(largest_common_divisor(9, 0), 9);
            assert_eq!(largest_common_divisor(0, 0), 0);
        }

        #[test]
        fn usual() {
            assert_eq!(largest_common_divisor(10, 10), 10);
            assert_eq!(largest_common_divisor(100, 75), 25);
            assert_eq!(largest_common_divisor(17, 51), 17);
        }

        #[test]
        fn large() {
            assert_eq!(largest_common_divisor(1_000_000_007, 998_244_353), 1);
            assert_eq!(largest_common_divisor(1 << 40, 1 << 35), 1 << 35);
        }
    }
}

pub mod round_to_ten {
    //! Level 2. Return the multiple of ten that is nearest to n. A number that ends in 5 is rounded up.
    //!
    //! round_to_ten(43) == 40
    //! round_to_ten(45) == 50

    pub fn round_to_ten(n: u32) -> u32 {
        (n + 5) / 10 * 10
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(round_to_ten(43), 40);
            assert_eq!(round_to_ten(45), 50);
        }

        #[test]
        fn small() {
            assert_eq!(round_to_ten(0), 0);
            assert_eq!(round_to_ten(4), 0);
            assert_eq!(round_to_ten(5), 10);
            assert_eq!(round_to_ten(10), 10);
        }

        #[test]
        fn larger() {
            assert_eq!(round_to_ten(994), 990);
            assert_eq!(round_to_ten(995), 1000);
            assert_eq!(round_to_ten(1_000_006), 1_000_010);
        }
    }
}

pub mod prime_number {
    //! Level 2. Say whether n is a prime number: larger than 1 and divided by no whole number but 1 and
    //! itself.
    //!
    //! prime_number(7) == true
    //! prime_number(9) == false

    pub fn prime_number(n: i64) -> bool {
        n >= 2 && (2..).take_while(|d| d * d <= n).all(|d| n % d != 0)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(prime_number(7));
            assert!(!prime_number(9));
        }

        #[test]
        fn small() {
            assert!(!prime_number(0));
            assert!(!prime_number(1));
            assert!(!prime_number(-7));
            assert!(prime_number(2));
            assert!(prime_number(3));
            assert!(!prime_number(4));
        }

        #[test]
        fn squares() {
            assert!(!prime_number(25));
            assert!(!prime_number(49));
            assert!(!prime_number(121));
            assert!(prime_number(113));
        }

        #[test]
        fn large() {
            assert!(prime_number(1_000_003));
            assert!(!prime_number(1_000_001));
        }
    }
}

pub mod change_in_coins {
    //! Level 2. Return the smallest number of coins that pay the amount, with coins worth 10, 5 and 1.
    //!
    //! change_in_coins(27) == 5
    //! change_in_coins(10) == 1

    pub fn change_in_coins(amount: u32) -> u32 {
        amount / 10 + amount % 10 / 5 + amount % 5
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(change_in_coins(27), 5);
            assert_eq!(change_in_coins(10), 1);
        }

        #[test]
        fn small() {
            assert_eq!(change_in_coins(0), 0);
            assert_eq!(change_in_coins(1), 1);
            assert_eq!(change_in_coins(4), 4);
            assert_eq!(change_in_coins(5), 1);
            assert_eq!(change_in_coins(9), 5);
        }

        #[test]
        fn large() {
            assert_eq!(change_in_coins(99), 14);
            assert_eq!(change_in_coins(1_000_000), 100_000);
        }
    }
}

pub mod hypotenuse {
    //! Level 2. Return the length of the longest side of a right triangle from its two shorter sides.
    //!
    //! hypotenuse(3.0, 4.0) == 5.0

    pub fn hypotenuse(a: f64, b: f64) -> f64 {
        (a * a + b * b).sqrt()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(hypotenuse(3.0, 4.0), 5.0);
        }

        #[test]
        fn exact() {
            assert_eq!(hypotenuse(6.0, 8.0), 10.0);
            assert_eq!(hypotenuse(5.0, 12.0), 13.0);
            assert_eq!(hypotenuse(8.0, 15.0), 17.0);
        }

        #[test]
        fn flat() {
            assert_eq!(hypotenuse(0.0, 7.0), 7.0);
            assert_eq!(hypotenuse(7.0, 0.0), 7.0);
            assert_eq!(hypotenuse(0.0, 0.0), 0.0);
        }

        #[test]
        fn near() {
            assert!((hypotenuse(1.0, 1.0) - 2.0_f64.sqrt()).abs() < 1e-9);
        }
    }
}

pub mod collatz_steps {
    //! Level 3. Start with n, which is at least 1. While it is not 1, halve it when it is even, else
    //! triple it and add one. Return the number of steps.
    //!
    //! collatz_steps(6) == 8
    //! collatz_steps(1) == 0

    pub fn collatz_steps(n: u64) -> u32 {
        let mut current = n;
        let mut steps = 0;
        while current != 1 {
            current = if current % 2 == 1 {
                3 * current + 1
            } else {
                current / 2
            };
            steps += 1;
        }
        steps
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(collatz_steps(6), 8);
            assert_eq!(collatz_steps(1), 0);
        }

        #[test]
        fn small() {
            assert_eq!(collatz_steps(2), 1);
            assert_eq!(collatz_steps(3), 7);
            assert_eq!(collatz_steps(4), 2);
            assert_eq!(collatz_steps(7), 16);
        }

        #[test]
        fn larger() {
            assert_eq!(collatz_steps(27), 111);
            assert_eq!(collatz_steps(1 << 40), 40);
        }
    }
}

pub mod perfect_square {
    //! Level 3. Say whether n is the square of a whole number. It must be exact for large numbers too.
    //!
    //! perfect_square(49) == true
    //! perfect_square(50) == false

    pub fn perfect_square(n: u64) -> bool {
        let root = n.isqrt();
        root * root == n
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(perfect_square(49));
            assert!(!perfect_square(50));
        }

        #[test]
        fn small() {
            assert!(perfect_square(0));
            assert!(perfect_square(1));
            assert!(!perfect_square(2));
            assert!(!perfect_square(3));
            assert!(perfect_square(4));
        }

        #[test]
        fn large() {
            assert!(perfect_square(1_000_000_000_000));
            assert!(!perfect_square(999_999_999_999));
            assert!(perfect_square(4_294_967_295 * 4_294_967_295));
            assert!(!perfect_square(4_294_967_295 * 4_294_967_295 - 1));
        }
    }
}
