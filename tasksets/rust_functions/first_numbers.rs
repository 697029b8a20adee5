//! First functions on numbers: one line of arithmetic.

pub mod double {
    //! Level 1. Return twice the number n.
    //!
    //! double(4) == 8
    //! double(-3) == -6

    pub fn double(n: i32) -> i32 {
        n * 2
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(double(4), 8);
            assert_eq!(double(-3), -6);
        }

        #[test]
        fn small() {
            assert_eq!(double(0), 0);
            assert_eq!(double(1), 2);
            assert_eq!(double(-1), -2);
        }

        #[test]
        fn large() {
            assert_eq!(double(1_000_000), 2_000_000);
            assert_eq!(double(-750), -1500);
        }
    }
}

pub mod add_ten {
    //! Level 1. Return the number that is ten larger than n.
    //!
    //! add_ten(5) == 15
    //! add_ten(-10) == 0

    pub fn add_ten(n: i32) -> i32 {
        n + 10
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(add_ten(5), 15);
            assert_eq!(add_ten(-10), 0);
        }

        #[test]
        fn small() {
            assert_eq!(add_ten(0), 10);
            assert_eq!(add_ten(1), 11);
            assert_eq!(add_ten(-25), -15);
        }

        #[test]
        fn large() {
            assert_eq!(add_ten(99_990), 100_000);
            assert_eq!(add_ten(12_345), 12_355);
        }
    }
}

pub mod one_less {
    //! Level 1. Return the number that comes right before n.
    //!
    //! one_less(8) == 7

    pub fn one_less(n: i32) -> i32 {
        n - 1
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(one_less(8), 7);
        }

        #[test]
        fn small() {
            assert_eq!(one_less(1), 0);
            assert_eq!(one_less(0), -1);
            assert_eq!(one_less(-4), -5);
        }

        #[test]
        fn large() {
            assert_eq!(one_less(1000), 999);
            assert_eq!(one_less(-1_000_000), -1_000_001);
        }
    }
}

pub mod sum_of_two {
    //! Level 1. Return the two numbers added together.
    //!
    //! sum_of_two(2, 3) == 5
    //! sum_of_two(-4, 4) == 0

    pub fn sum_of_two(a: i32, b: i32) -> i32 {
        a + b
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(sum_of_two(2, 3), 5);
            assert_eq!(sum_of_two(-4, 4), 0);
        }

        #[test]
        fn small() {
            assert_eq!(sum_of_two(0, 7), 7);
            assert_eq!(sum_of_two(7, 0), 7);
            assert_eq!(sum_of_two(1, 1), 2);
        }

        #[test]
        fn negative() {
            assert_eq!(sum_of_two(-5, -6), -11);
            assert_eq!(sum_of_two(10, -3), 7);
        }

        #[test]
        fn large() {
            assert_eq!(sum_of_two(1_000_000, 2_000_000), 3_000_000);
        }
    }
}

pub mod difference {
    //! Level 1. Return what is left of a when b is taken away from it.
    //!
    //! difference(9, 4) == 5
    //! difference(4, 9) == -5

    pub fn difference(a: i32, b: i32) -> i32 {
        a - b
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(difference(9, 4), 5);
            assert_eq!(difference(4, 9), -5);
        }

        #[test]
        fn small() {
            assert_eq!(difference(0, 0), 0);
            assert_eq!(difference(0, 3), -3);
            assert_eq!(difference(3, 0), 3);
        }

        #[test]
        fn negative() {
            assert_eq!(difference(-2, -5), 3);
            assert_eq!(difference(-2, 5), -7);
        }
    }
}

pub mod product_of_three {
    //! Level 1. Return the product of three numbers.
    //!
    //! product_of_three(2, 3, 4) == 24
    //! product_of_three(-1, 5, 2) == -10

    pub fn product_of_three(a: i32, b: i32, c: i32) -> i32 {
        a * b * c
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(product_of_three(2, 3, 4), 24);
            assert_eq!(product_of_three(-1, 5, 2), -10);
        }

        #[test]
        fn with_zero() {
            assert_eq!(product_of_three(0, 8, 9), 0);
            assert_eq!(product_of_three(8, 0, 9), 0);
            assert_eq!(product_of_three(8, 9, 0), 0);
        }

        #[test]
        fn signs() {
            assert_eq!(product_of_three(-1, -1, -1), -1);
            assert_eq!(product_of_three(-2, 3, -4), 24);
        }

        #[test]
        fn large() {
            assert_eq!(product_of_three(100, 200, 300), 6_000_000);
        }
    }
}

pub mod square {
    //! Level 1. Return n multiplied by itself.
    //!
    //! square(5) == 25
    //! square(-3) == 9

    pub fn square(n: i32) -> i32 {
        n * n
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(square(5), 25);
            assert_eq!(square(-3), 9);
        }

        #[test]
        fn small() {
            assert_eq!(square(0), 0);
            assert_eq!(square(1), 1);
            assert_eq!(square(2), 4);
            assert_eq!(square(-1), 1);
        }

        #[test]
        fn large() {
            assert_eq!(square(1000), 1_000_000);
            assert_eq!(square(-46_000), 2_116_000_000);
        }
    }
}

pub mod cube {
    //! Level 1. Return n to the power of three.
    //!
    //! cube(2) == 8
    //! cube(-2) == -8

    pub fn cube(n: i64) -> i64 {
        n * n * n
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(cube(2), 8);
            assert_eq!(cube(-2), -8);
        }

        #[test]
        fn small() {
            assert_eq!(cube(0), 0);
            assert_eq!(cube(1), 1);
            assert_eq!(cube(3), 27);
            assert_eq!(cube(-1), -1);
        }

        #[test]
        fn large() {
            assert_eq!(cube(100), 1_000_000);
            assert_eq!(cube(-1000), -1_000_000_000);
        }
    }
}

pub mod negate {
    //! Level 1. Return the number with its sign turned around.
    //!
    //! negate(7) == -7
    //! negate(-2) == 2

    pub fn negate(n: i32) -> i32 {
        -n
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(negate(7), -7);
            assert_eq!(negate(-2), 2);
        }

        #[test]
        fn small() {
            assert_eq!(negate(0), 0);
            assert_eq!(negate(1), -1);
            assert_eq!(negate(-1), 1);
        }

        #[test]
        fn large() {
            assert_eq!(negate(123_456), -123_456);
            assert_eq!(negate(-9_999), 9_999);
        }
    }
}

pub mod half {
    //! Level 1. Return half of the number as a float.
    //!
    //! half(5.0) == 2.5
    //! half(-3.0) == -1.5

    pub fn half(x: f64) -> f64 {
        x / 2.0
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(half(5.0), 2.5);
            assert_eq!(half(-3.0), -1.5);
        }

        #[test]
        fn small() {
            assert_eq!(half(0.0), 0.0);
            assert_eq!(half(1.0), 0.5);
            assert_eq!(half(-0.5), -0.25);
        }

        #[test]
        fn large() {
            assert_eq!(half(1000.0), 500.0);
            assert_eq!(half(7.5), 3.75);
        }
    }
}

pub mod last_digit {
    //! Level 1. Return the last decimal digit of n.
    //!
    //! last_digit(253) == 3
    //! last_digit(40) == 0

    pub fn last_digit(n: u32) -> u32 {
        n % 10
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(last_digit(253), 3);
            assert_eq!(last_digit(40), 0);
        }

        #[test]
        fn small() {
            assert_eq!(last_digit(0), 0);
            assert_eq!(last_digit(7), 7);
            assert_eq!(last_digit(10), 0);
            assert_eq!(last_digit(19), 9);
        }

        #[test]
        fn large() {
            assert_eq!(last_digit(4_294_967_295), 5);
            assert_eq!(last_digit(1_000_001), 1);
        }
    }
}

pub mod drop_last_digit {
    //! Level 1. Return n without its last decimal digit. A number with one digit gives 0.
    //!
    //! drop_last_digit(253) == 25
    //! drop_last_digit(8) == 0

    pub fn drop_last_digit(n: u32) -> u32 {
        n / 10
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(drop_last_digit(253), 25);
            assert_eq!(drop_last_digit(8), 0);
        }

        #[test]
        fn small() {
            assert_eq!(drop_last_digit(0), 0);
            assert_eq!(drop_last_digit(10), 1);
            assert_eq!(drop_last_digit(99), 9);
        }

        #[test]
        fn large() {
            assert_eq!(drop_last_digit(4_294_967_295), 429_496_729);
            assert_eq!(drop_last_digit(1_000_000), 100_000);
        }
    }
}

pub mod distance_to_zero {
    //! Level 1. Return how far n lies from zero on the number line.
    //!
    //! distance_to_zero(-6) == 6
    //! distance_to_zero(4) == 4

    pub fn distance_to_zero(n: i32) -> i32 {
        n.abs()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(distance_to_zero(-6), 6);
            assert_eq!(distance_to_zero(4), 4);
        }

        #[test]
        fn small() {
            assert_eq!(distance_to_zero(0), 0);
            assert_eq!(distance_to_zero(1), 1);
            assert_eq!(distance_to_zero(-1), 1);
        }

        #[test]
        fn large() {
            assert_eq!(distance_to_zero(-2_000_000_000), 2_000_000_000);
            assert_eq!(distance_to_zero(2_000_000_000), 2_000_000_000);
        }
    }
}

pub mod floor_tiles {
    //! Level 1. Return how many square tiles, one unit wide, cover a floor of the given width and
    //! height.
    //!
    //! floor_tiles(3, 4) == 12

    pub fn floor_tiles(width: u32, height: u32) -> u32 {
        width * height
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(floor_tiles(3, 4), 12);
        }

        #[test]
        fn flat() {
            assert_eq!(floor_tiles(0, 9), 0);
            assert_eq!(floor_tiles(9, 0), 0);
            assert_eq!(floor_tiles(1, 9), 9);
        }

        #[test]
        fn usual() {
            assert_eq!(floor_tiles(7, 8), 56);
            assert_eq!(floor_tiles(8, 7), 56);
        }

        #[test]
        fn large() {
            assert_eq!(floor_tiles(60_000, 70_000), 4_200_000_000);
        }
    }
}

pub mod rectangle_perimeter {
    //! Level 1. Return the length of the border of a rectangle, all four sides together.
    //!
    //! rectangle_perimeter(3, 4) == 14

    pub fn rectangle_perimeter(width: u32, height: u32) -> u32 {
        2 * (width + height)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(rectangle_perimeter(3, 4), 14);
        }

        #[test]
        fn flat() {
            assert_eq!(rectangle_perimeter(0, 0), 0);
            assert_eq!(rectangle_perimeter(5, 0), 10);
            assert_eq!(rectangle_perimeter(0, 6), 12);
        }

        #[test]
        fn usual() {
            assert_eq!(rectangle_perimeter(1, 1), 4);
            assert_eq!(rectangle_perimeter(10, 20), 60);
        }

        #[test]
        fn large() {
            assert_eq!(rectangle_perimeter(1_000_000, 2_000_000), 6_000_000);
        }
    }
}

pub mod minutes_to_seconds {
    //! Level 1. Return how many seconds the given number of minutes lasts.
    //!
    //! minutes_to_seconds(2) == 120

    pub fn minutes_to_seconds(minutes: u64) -> u64 {
        minutes * 60
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(minutes_to_seconds(2), 120);
        }

        #[test]
        fn small() {
            assert_eq!(minutes_to_seconds(0), 0);
            assert_eq!(minutes_to_seconds(1), 60);
            assert_eq!(minutes_to_seconds(10), 600);
        }

        #[test]
        fn large() {
            assert_eq!(minutes_to_seconds(1440), 86_400);
            assert_eq!(minutes_to_seconds(100_000_000), 6_000_000_000);
        }
    }
}

pub mod total_price {
    //! Level 1. Return the price of count pieces that cost price each, plus a shipping fee.
    //!
    //! total_price(3, 5, 2) == 17
    //! total_price(0, 5, 2) == 2

    pub fn total_price(count: u32, price: u32, shipping: u32) -> u32 {
        count * price + shipping
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(total_price(3, 5, 2), 17);
            assert_eq!(total_price(0, 5, 2), 2);
        }

        #[test]
        fn usual() {
            assert_eq!(total_price(2, 10, 5), 25);
            assert_eq!(total_price(10, 1, 0), 10);
            assert_eq!(total_price(7, 6, 1), 43);
        }

        #[test]
        fn zeros() {
            assert_eq!(total_price(0, 0, 0), 0);
            assert_eq!(total_price(4, 0, 9), 9);
        }

        #[test]
        fn large() {
            assert_eq!(total_price(1000, 2000, 500), 2_000_500);
        }
    }
}
