//! Bits: and, or, shifts, masks and counting.

pub mod is_bit_set {
    //! Level 1. Say whether the bit at the position is 1. Position 0 is the lowest bit, 31 the highest.
    //!
    //! is_bit_set(5, 2) == true
    //! is_bit_set(5, 1) == false

    pub fn is_bit_set(n: u32, position: u32) -> bool {
        (n >> position) & 1 == 1
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(is_bit_set(5, 2));
            assert!(!is_bit_set(5, 1));
        }

        #[test]
        fn low() {
            assert!(is_bit_set(1, 0));
            assert!(!is_bit_set(2, 0));
            assert!(is_bit_set(2, 1));
            assert!(!is_bit_set(0, 0));
        }

        #[test]
        fn high() {
            assert!(is_bit_set(1 << 31, 31));
            assert!(!is_bit_set(1 << 31, 30));
            assert!(is_bit_set(u32::MAX, 17));
            assert!(!is_bit_set(0, 31));
        }
    }
}

pub mod set_bit {
    //! Level 1. Return n with the bit at the position set to 1. Position 0 is the lowest bit.
    //!
    //! set_bit(4, 0) == 5
    //! set_bit(4, 2) == 4

    pub fn set_bit(n: u32, position: u32) -> u32 {
        n | (1 << position)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(set_bit(4, 0), 5);
            assert_eq!(set_bit(4, 2), 4);
        }

        #[test]
        fn low() {
            assert_eq!(set_bit(0, 0), 1);
            assert_eq!(set_bit(0, 3), 8);
            assert_eq!(set_bit(8, 1), 10);
        }

        #[test]
        fn high() {
            assert_eq!(set_bit(0, 31), 2_147_483_648);
            assert_eq!(set_bit(u32::MAX, 5), u32::MAX);
        }
    }
}

pub mod clear_bit {
    //! Level 1. Turn off one bit: return n with a 0 at the position, counted from 0 for the lowest bit.
    //!
    //! clear_bit(5, 0) == 4
    //! clear_bit(4, 0) == 4

    pub fn clear_bit(n: u32, position: u32) -> u32 {
        n & !(1 << position)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(clear_bit(5, 0), 4);
            assert_eq!(clear_bit(4, 0), 4);
        }

        #[test]
        fn low() {
            assert_eq!(clear_bit(0, 0), 0);
            assert_eq!(clear_bit(7, 1), 5);
            assert_eq!(clear_bit(8, 3), 0);
        }

        #[test]
        fn high() {
            assert_eq!(clear_bit(u32::MAX, 31), 2_147_483_647);
            assert_eq!(clear_bit(u32::MAX, 0), u32::MAX - 1);
            assert_eq!(clear_bit(6, 20), 6);
        }
    }
}

pub mod flip_bit {
    //! Level 1. Return n with the bit at the position changed: 1 becomes 0 and 0 becomes 1.
    //!
    //! flip_bit(5, 0) == 4
    //! flip_bit(5, 1) == 7

    pub fn flip_bit(n: u32, position: u32) -> u32 {
        n ^ (1 << position)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(flip_bit(5, 0), 4);
            assert_eq!(flip_bit(5, 1), 7);
        }

        #[test]
        fn low() {
            assert_eq!(flip_bit(0, 0), 1);
            assert_eq!(flip_bit(1, 0), 0);
            assert_eq!(flip_bit(8, 3), 0);
        }

        #[test]
        fn high() {
            assert_eq!(flip_bit(0, 31), 2_147_483_648);
            assert_eq!(flip_bit(u32::MAX, 31), 2_147_483_647);
            assert_eq!(flip_bit(flip_bit(99, 4), 4), 99);
        }
    }
}

pub mod ones_in {
    //! Level 1. Return how many bits of n are 1.
    //!
    //! ones_in(7) == 3
    //! ones_in(8) == 1

    pub fn ones_in(n: u64) -> u32 {
        n.count_ones()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(ones_in(7), 3);
            assert_eq!(ones_in(8), 1);
        }

        #[test]
        fn small() {
            assert_eq!(ones_in(0), 0);
            assert_eq!(ones_in(1), 1);
            assert_eq!(ones_in(6), 2);
            assert_eq!(ones_in(255), 8);
        }

        #[test]
        fn large() {
            assert_eq!(ones_in(u64::MAX), 64);
            assert_eq!(ones_in(1 << 63), 1);
            assert_eq!(ones_in((1 << 40) - 1), 40);
        }
    }
}

pub mod double_times {
    //! Level 1. Return n doubled as often as times says. The result fits the type.
    //!
    //! double_times(3, 2) == 12
    //! double_times(5, 0) == 5

    pub fn double_times(n: u64, times: u32) -> u64 {
        n << times
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(double_times(3, 2), 12);
            assert_eq!(double_times(5, 0), 5);
        }

        #[test]
        fn small() {
            assert_eq!(double_times(1, 1), 2);
            assert_eq!(double_times(1, 5), 32);
            assert_eq!(double_times(0, 9), 0);
            assert_eq!(double_times(7, 3), 56);
        }

        #[test]
        fn large() {
            assert_eq!(double_times(1, 63), 9_223_372_036_854_775_808);
            assert_eq!(double_times(1000, 10), 1_024_000);
        }
    }
}

pub mod power_of_two {
    //! Level 2. Say whether n is one of 1, 2, 4, 8, 16 and so on.
    //!
    //! power_of_two(16) == true
    //! power_of_two(12) == false

    pub fn power_of_two(n: u64) -> bool {
        n != 0 && n & (n - 1) == 0
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert!(power_of_two(16));
            assert!(!power_of_two(12));
        }

        #[test]
        fn small() {
            assert!(!power_of_two(0));
            assert!(power_of_two(1));
            assert!(power_of_two(2));
            assert!(!power_of_two(3));
        }

        #[test]
        fn large() {
            assert!(power_of_two(1 << 50));
            assert!(!power_of_two((1 << 50) + 1));
            assert!(!power_of_two(u64::MAX));
            assert!(power_of_two(1 << 63));
        }
    }
}

pub mod differing_bits {
    //! Level 2. Return in how many positions the bits of the two numbers differ.
    //!
    //! differing_bits(5, 6) == 2

    pub fn differing_bits(a: u32, b: u32) -> u32 {
        (a ^ b).count_ones()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(differing_bits(5, 6), 2);
        }

        #[test]
        fn small() {
            assert_eq!(differing_bits(0, 0), 0);
            assert_eq!(differing_bits(0, 7), 3);
            assert_eq!(differing_bits(8, 7), 4);
            assert_eq!(differing_bits(9, 9), 0);
        }

        #[test]
        fn large() {
            assert_eq!(differing_bits(0, u32::MAX), 32);
            assert_eq!(differing_bits(u32::MAX, 1), 31);
        }
    }
}

pub mod lowest_one {
    //! Level 2. Return the position of the lowest bit that is 1, or None if there is none. The lowest
    //! position is 0.
    //!
    //! lowest_one(12) == Some(2)
    //! lowest_one(0) == None

    pub fn lowest_one(n: u32) -> Option<u32> {
        (n != 0).then(|| n.trailing_zeros())
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(lowest_one(12), Some(2));
            assert_eq!(lowest_one(0), None);
        }

        #[test]
        fn small() {
            assert_eq!(lowest_one(1), Some(0));
            assert_eq!(lowest_one(2), Some(1));
            assert_eq!(lowest_one(7), Some(0));
            assert_eq!(lowest_one(40), Some(3));
        }

        #[test]
        fn large() {
            assert_eq!(lowest_one(1 << 31), Some(31));
            assert_eq!(lowest_one(u32::MAX), Some(0));
            assert_eq!(lowest_one(0), None);
        }
    }
}

pub mod pack_bytes {
    //! Level 2. Return one number that has the bytes of high, middle and low beside each other, with low
    //! in the lowest eight bits.
    //!
    //! pack_bytes(1, 2, 3) == 0x010203

    pub fn pack_bytes(high: u8, middle: u8, low: u8) -> u32 {
        u32::from_be_bytes([0, high, middle, low])
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(pack_bytes(1, 2, 3), 0x010203);
        }

        #[test]
        fn single() {
            assert_eq!(pack_bytes(0, 0, 9), 9);
            assert_eq!(pack_bytes(0, 1, 0), 256);
            assert_eq!(pack_bytes(1, 0, 0), 65_536);
        }

        #[test]
        fn edges() {
            assert_eq!(pack_bytes(0, 0, 0), 0);
            assert_eq!(pack_bytes(255, 255, 255), 16_777_215);
            assert_eq!(pack_bytes(255, 0, 128), 0xff0080);
        }
    }
}

pub mod swap_halves {
    //! Level 2. Return the byte with its four high bits and its four low bits exchanged.
    //!
    //! swap_halves(0x2f) == 0xf2

    pub fn swap_halves(byte: u8) -> u8 {
        byte.rotate_left(4)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(swap_halves(0x2f), 0xf2);
        }

        #[test]
        fn usual() {
            assert_eq!(swap_halves(0x01), 0x10);
            assert_eq!(swap_halves(0x10), 0x01);
            assert_eq!(swap_halves(0xab), 0xba);
        }

        #[test]
        fn edges() {
            assert_eq!(swap_halves(0), 0);
            assert_eq!(swap_halves(0xff), 0xff);
            assert_eq!(swap_halves(0x80), 0x08);
        }
    }
}

pub mod lonely_number {
    //! Level 3. Every number occurs twice except one, which occurs once. Return that one.
    //!
    //! lonely_number(&[4, 7, 4]) == 7

    pub fn lonely_number(numbers: &[u32]) -> u32 {
        numbers.iter().fold(0, |mixed, n| mixed ^ n)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(lonely_number(&[4, 7, 4]), 7);
        }

        #[test]
        fn usual() {
            assert_eq!(lonely_number(&[5]), 5);
            assert_eq!(lonely_number(&[1, 2, 3, 2, 1]), 3);
            assert_eq!(lonely_number(&[9, 8, 8, 6, 6]), 9);
        }

        #[test]
        fn edges() {
            assert_eq!(lonely_number(&[0, 3, 3]), 0);
            assert_eq!(lonely_number(&[u32::MAX, 1, 1]), u32::MAX);
            assert_eq!(lonely_number(&[7, 0, 7]), 0);
        }
    }
}

pub mod mirrored_bits {
    //! Level 3. Return the number made of the lowest width bits of n in opposite order; width lies
    //! between 1 and 32. Higher bits of n are ignored.
    //!
    //! mirrored_bits(0b001, 3) == 0b100
    //! mirrored_bits(0b1101, 4) == 0b1011

    pub fn mirrored_bits(n: u32, width: u32) -> u32 {
        n.reverse_bits() >> (32 - width)
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(mirrored_bits(0b001, 3), 0b100);
            assert_eq!(mirrored_bits(0b1101, 4), 0b1011);
        }

        #[test]
        fn usual() {
            assert_eq!(mirrored_bits(0b10, 2), 0b01);
            assert_eq!(mirrored_bits(0b110010, 6), 0b010011);
            assert_eq!(mirrored_bits(1, 8), 128);
        }

        #[test]
        fn ignored() {
            assert_eq!(mirrored_bits(0b1111_0001, 4), 0b1000);
            assert_eq!(mirrored_bits(6, 1), 0);
            assert_eq!(mirrored_bits(7, 1), 1);
        }

        #[test]
        fn full() {
            assert_eq!(mirrored_bits(1, 32), 1 << 31);
            assert_eq!(mirrored_bits(u32::MAX, 32), u32::MAX);
            assert_eq!(mirrored_bits(0, 20), 0);
        }
    }
}

pub mod from_gray_code {
    //! Level 3. Neighbouring numbers have Gray codes that differ in one bit: bit i of the code tells
    //! whether bits i and i + 1 of n differ. Return the number whose Gray code is given.
    //!
    //! from_gray_code(0b110) == 4

    pub fn from_gray_code(code: u32) -> u32 {
        let mut n = code;
        let mut shift = 1;
        while shift < 32 {
            n ^= n >> shift;
            shift *= 2;
        }
        n
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(from_gray_code(0b110), 4);
        }

        #[test]
        fn small() {
            assert_eq!(from_gray_code(0), 0);
            assert_eq!(from_gray_code(1), 1);
            assert_eq!(from_gray_code(3), 2);
            assert_eq!(from_gray_code(2), 3);
            assert_eq!(from_gray_code(7), 5);
        }

        #[test]
        fn back() {
            assert_eq!(
                (0..200)
                    .map(|n| from_gray_code(n ^ (n >> 1)))
                    .collect::<Vec<u32>>(),
                (0..200).collect::<Vec<u32>>()
            );
        }

        #[test]
        fn large() {
            assert_eq!(from_gray_code(1 << 31), u32::MAX);
            assert_eq!(from_gray_code((1 << 31) | (1 << 30)), 1 << 31);
        }
    }
}
