"""Tasks about plain numbers: arithmetic, digits, comparisons and simple sequences."""

from itertools import pairwise

from tasksets.python_functions.cases import cases


@cases(1, (3, 10), (10, 3), (-4, 4), (6, 6), (0, -9))
def absolute_difference(a: int, b: int) -> int:
    """Return how far apart a and b are, as a number that is never negative.

    >>> absolute_difference(2, 7)
    5
    >>> absolute_difference(1, -1)
    2
    """
    return abs(a - b)


@cases(1, (-1,), (0,), (1,), (-500,), (12,), (-7,))
def is_below_zero(number: int) -> bool:
    """Return True if number is less than zero, else False.

    >>> is_below_zero(-3)
    True
    >>> is_below_zero(8)
    False
    """
    return number < 0


@cases(1, (0,), (1,), (-1,), (10,), (-6,))
def double_plus_one(number: int) -> int:
    """Return two times number, plus one.

    >>> double_plus_one(4)
    9
    >>> double_plus_one(-3)
    -5
    """
    return 2 * number + 1


@cases(1, (3, 4), (0, 0), (-1, 2), (-3, -3), (10, 0))
def sum_of_two_squares(a: int, b: int) -> int:
    """Return the square of a plus the square of b.

    >>> sum_of_two_squares(1, 2)
    5
    >>> sum_of_two_squares(-2, 0)
    4
    """
    return a * a + b * b


@cases(1, (0,), (1,), (3,), (-2,), (10,))
def cube_minus_itself(number: int) -> int:
    """Return the cube of number minus number.

    >>> cube_minus_itself(2)
    6
    >>> cube_minus_itself(-3)
    -24
    """
    return number**3 - number


@cases(1, (0,), (9,), (10,), (987,), (4002,))
def last_digit_of(number: int) -> int:
    """Return the last decimal digit of number, which is zero or more.

    >>> last_digit_of(35)
    5
    >>> last_digit_of(1)
    1
    """
    return number % 10


@cases(1, (0,), (7,), (10,), (12345,), (908,))
def drop_last_digit(number: int) -> int:
    """Return number without its last decimal digit; a number below 10 gives 0. The number is never negative.

    >>> drop_last_digit(63)
    6
    >>> drop_last_digit(5)
    0
    """
    return number // 10


@cases(1, (0,), (7,), (10,), (345,), (9081,), (260,))
def tens_digit_of(number: int) -> int:
    """Return the tens digit of number, the second from the right, or 0 if number is below 10.

    >>> tens_digit_of(472)
    7
    >>> tens_digit_of(3)
    0
    """
    return number // 10 % 10


@cases(1, (5, 1, 9), (1, 1, 9), (9, 1, 9), (0, -1, 1), (-3, -5, -2), (12, 0, 10))
def is_strictly_between(value: int, low: int, high: int) -> bool:
    """Return True if value is greater than low and less than high, else False.

    >>> is_strictly_between(3, 2, 4)
    True
    >>> is_strictly_between(4, 2, 4)
    False
    """
    return low < value < high


@cases(1, (3, -8), (8, -3), (0, 0), (-5, -6), (-4, 4))
def largest_magnitude(a: int, b: int) -> int:
    """Return the larger of the absolute values of a and b.

    >>> largest_magnitude(-9, 2)
    9
    >>> largest_magnitude(1, 6)
    6
    """
    return max(abs(a), abs(b))


@cases(1, (1, 2, 3), (3, 2, 1), (5, -5, 0), (4, 4, 4), (-1, -2, -2))
def smallest_of_three(a: int, b: int, c: int) -> int:
    """Return the smallest of the three numbers.

    >>> smallest_of_three(7, 3, 9)
    3
    >>> smallest_of_three(0, 0, -1)
    -1
    """
    return min(a, b, c)


@cases(1, (1, 5, 3), (2, 2, 2), (-4, 0, 4), (9, 1, 1), (-7, -5, -6))
def spread_of_three(a: int, b: int, c: int) -> int:
    """Return the largest of the three numbers minus the smallest.

    >>> spread_of_three(4, 10, 6)
    6
    >>> spread_of_three(-1, 0, 0)
    1
    """
    return max(a, b, c) - min(a, b, c)


@cases(1, (0,), (1,), (2,), (10,), (100,))
def sum_up_to(n: int) -> int:
    """Return the sum of all whole numbers from 1 to n. If n is 0, return 0.

    >>> sum_up_to(4)
    10
    >>> sum_up_to(5)
    15
    """
    return sum(range(1, n + 1))


@cases(1, (5, True), (5, False), (0, True), (-3, True), (-3, False))
def negate_when(number: int, flag: bool) -> int:
    """Return number with its sign changed if flag is True; otherwise return number as it is.

    >>> negate_when(8, True)
    -8
    >>> negate_when(9, False)
    9
    """
    return -number if flag else number


@cases(1, (5,), (0,), (-5,), (100,), (-1,))
def negative_to_zero(number: int) -> int:
    """Return number, but return 0 if number is negative.

    >>> negative_to_zero(7)
    7
    >>> negative_to_zero(-7)
    0
    """
    return max(number, 0)


@cases(1, (1, 2), (-1, -9), (3, -3), (-5, 5), (100, 1), (-8, 20))
def have_same_sign(a: int, b: int) -> bool:
    """Return True if a and b are both positive or both negative, else False. Neither of them is zero.

    >>> have_same_sign(-2, -3)
    True
    >>> have_same_sign(4, -1)
    False
    """
    return (a > 0) == (b > 0)


@cases(1, (0,), (1,), (2,), (4,), (6,))
def power_of_ten(exponent: int) -> int:
    """Return 10 raised to the power exponent, which is zero or more.

    >>> power_of_ten(3)
    1000
    >>> power_of_ten(5)
    100000
    """
    return 10**exponent


@cases(1, (12, 10), (10, 10), (3, 10), (0, -5), (-8, -2))
def excess_over_limit(value: int, limit: int) -> int:
    """Return by how much value is greater than limit, or 0 if it is not greater.

    >>> excess_over_limit(9, 5)
    4
    >>> excess_over_limit(1, 5)
    0
    """
    return max(0, value - limit)


@cases(1, (10, 12, 2), (10, 13, 2), (5, 5, 0), (-1, 1, 1), (0, -4, 5), (7, 8, 0))
def is_close_enough(a: int, b: int, tolerance: int) -> bool:
    """Return True if a and b differ by at most tolerance, else False.

    >>> is_close_enough(3, 6, 3)
    True
    >>> is_close_enough(3, 7, 3)
    False
    """
    return abs(a - b) <= tolerance


@cases(1, (4, 6), (1, 2), (0, 0), (-3, 4), (-2, -6))
def average_of_two(a: int, b: int) -> float:
    """Return the average of a and b as a float.

    >>> average_of_two(3, 5)
    4.0
    >>> average_of_two(0, 1)
    0.5
    """
    return (a + b) / 2


@cases(1, (3.9,), (-3.9,), (0.0,), (7.0,), (-0.5,), (12.25,))
def whole_part(number: float) -> int:
    """Return the whole part of number as an int, dropping everything after the decimal point.

    >>> whole_part(2.75)
    2
    >>> whole_part(-1.5)
    -1
    """
    return int(number)


@cases(1, (1, 10), (5, 5), (-3, 3), (0, 1), (-9, -7))
def count_integers_in_range(low: int, high: int) -> int:
    """Return how many integers there are from low to high, both included. low is not above high.

    >>> count_integers_in_range(2, 4)
    3
    >>> count_integers_in_range(-1, 0)
    2
    """
    return high - low + 1


@cases(1, (2, 3, 1), (2, 3, 5), (10, -2, 4), (0, 0, 9), (-1, 1, 2))
def arithmetic_term(first: int, step: int, position: int) -> int:
    """Return the term at position in the sequence first, first + step, first + 2 * step and so on.

    Positions start at 1.

    >>> arithmetic_term(5, 10, 1)
    5
    >>> arithmetic_term(5, 10, 3)
    25
    """
    return first + (position - 1) * step


@cases(1, (3, 0), (3, 4), (0, 7), (-1, 3), (5, 1))
def doubled_times(start: int, times: int) -> int:
    """Return start after doubling it the given number of times. Zero times gives start itself.

    >>> doubled_times(1, 5)
    32
    >>> doubled_times(7, 2)
    28
    """
    return start * 2**times


@cases(1, (3, 5), (5, 3), (2, 2), (-1, -2), (0, 1), (9, -9))
def are_in_order(first: int, second: int) -> bool:
    """Return True if first is less than or equal to second, else False.

    >>> are_in_order(1, 4)
    True
    >>> are_in_order(4, 1)
    False
    """
    return first <= second


@cases(2, (5,), (-5,), (0,), (1000,), (-1,), (3,))
def sign_as_number(number: int) -> int:
    """Return 1 if number is positive, -1 if it is negative and 0 if it is zero.

    >>> sign_as_number(12)
    1
    >>> sign_as_number(-4)
    -1
    """
    return (number > 0) - (number < 0)


@cases(2, (0,), (8,), (135,), (2468,), (1234,), (907,))
def sum_of_even_digits(number: int) -> int:
    """Return the sum of the even decimal digits of number, or 0 if it has none. The number is zero or more.

    >>> sum_of_even_digits(256)
    8
    >>> sum_of_even_digits(71)
    0
    """
    return sum(int(digit) for digit in str(number) if int(digit) % 2 == 0)


@cases(2, (0,), (8,), (25,), (111,), (302,), (999,))
def multiply_digits(number: int) -> int:
    """Return the product of the decimal digits of number, which is zero or more.

    >>> multiply_digits(234)
    24
    >>> multiply_digits(105)
    0
    """
    product = 1
    for digit in str(number):
        product *= int(digit)
    return product


@cases(2, (0,), (5,), (120,), (1234,), (-57,), (-300,))
def reverse_digits_keep_sign(number: int) -> int:
    """Return the number with its decimal digits in reverse order and with the same sign.

    Zeros that come to the front disappear.

    >>> reverse_digits_keep_sign(42)
    24
    >>> reverse_digits_keep_sign(-130)
    -31
    """
    reversed_number = int(str(abs(number))[::-1])
    return -reversed_number if number < 0 else reversed_number


@cases(2, (0,), (9,), (404,), (1789,), (50,), (33333,))
def largest_digit_of(number: int) -> int:
    """Return the largest decimal digit of number, which is zero or more.

    >>> largest_digit_of(273)
    7
    >>> largest_digit_of(10)
    1
    """
    return max(int(digit) for digit in str(number))


@cases(2, (1223, 2), (5, 5), (0, 0), (777, 7), (1234, 9), (10010, 0))
def count_digit_in_number(number: int, digit: int) -> int:
    """Return how many times digit occurs among the decimal digits of number, which is zero or more.

    >>> count_digit_in_number(101, 1)
    2
    >>> count_digit_in_number(45, 3)
    0
    """
    return str(number).count(str(digit))


@cases(2, (0,), (12,), (101,), (2352,), (2353,), (77,), (100,))
def first_and_last_digit_equal(number: int) -> bool:
    """Return True if the first and the last decimal digit of number are the same, else False.

    The number is zero or more.

    >>> first_and_last_digit_equal(393)
    True
    >>> first_and_last_digit_equal(38)
    False
    """
    text = str(number)
    return text[0] == text[-1]


@cases(2, (11,), (12,), (5,), (1231,), (9876,), (100,))
def has_repeated_digit(number: int) -> bool:
    """Return True if some decimal digit occurs more than once in number, else False.

    The number is zero or more.

    >>> has_repeated_digit(343)
    True
    >>> has_repeated_digit(345)
    False
    """
    text = str(number)
    return len(set(text)) < len(text)


@cases(2, (1, 2, 3), (3, 1, 2), (9, 4, 8), (5, 5, 1), (0, -3, 3), (-1, -4, -2))
def sum_of_two_largest(a: int, b: int, c: int) -> int:
    """Return the sum of the two largest of the three numbers a, b and c.

    >>> sum_of_two_largest(10, 30, 20)
    50
    >>> sum_of_two_largest(4, 0, 4)
    8
    """
    return a + b + c - min(a, b, c)


@cases(2, (0,), (7,), (210,), (9081,), (33,), (123,))
def digits_from_small_to_large(number: int) -> list[int]:
    """Return a sorted list of the decimal digits of number as ints. The number is zero or more.

    >>> digits_from_small_to_large(645)
    [4, 5, 6]
    >>> digits_from_small_to_large(10)
    [0, 1]
    """
    return sorted(int(digit) for digit in str(number))


@cases(2, ([],), ([7],), ([1, 2, 3],), ([0, 4],), ([9, 0, 0],))
def number_from_digits(digits: list[int]) -> int:
    """Return the number whose decimal digits are given from left to right. An empty list gives 0.

    >>> number_from_digits([4, 2])
    42
    >>> number_from_digits([5, 0, 5])
    505
    """
    number = 0
    for digit in digits:
        number = number * 10 + digit
    return number


@cases(2, (0,), (1,), (2,), (3,), (10,))
def sum_of_squares_up_to(n: int) -> int:
    """Return 1*1 + 2*2 + 3*3 and so on up to n*n. If n is 0, return 0.

    >>> sum_of_squares_up_to(4)
    30
    >>> sum_of_squares_up_to(5)
    55
    """
    return sum(i * i for i in range(1, n + 1))


@cases(2, (0,), (1,), (2,), (7,), (10,))
def plus_minus_sum(n: int) -> int:
    """Return 1 - 2 + 3 - 4 and so on up to n: odd numbers are added and even numbers subtracted.

    If n is 0, return 0.

    >>> plus_minus_sum(3)
    2
    >>> plus_minus_sum(4)
    -2
    """
    return sum(i if i % 2 else -i for i in range(1, n + 1))


@cases(2, (3, 6), (5, 5), (1, 4), (-2, -1), (0, 9), (-3, 2))
def product_of_range(low: int, high: int) -> int:
    """Return the product of all integers from low to high, both included. low is not above high.

    >>> product_of_range(2, 4)
    24
    >>> product_of_range(7, 7)
    7
    """
    product = 1
    for i in range(low, high + 1):
        product *= i
    return product


@cases(2, (0,), (1,), (3,), (16,), (24,), (99,))
def whole_square_root(number: int) -> int:
    """Return the largest whole number whose square is not greater than number, which is zero or more.

    >>> whole_square_root(10)
    3
    >>> whole_square_root(4)
    2
    """
    root = 0
    while (root + 1) ** 2 <= number:
        root += 1
    return root


@cases(2, (0, 5), (1, 5), (3, 1), (4, 2), (2, 0))
def count_up_by(count: int, step: int) -> list[int]:
    """Return a list with the given count of numbers, starting at step and growing by step each time.

    >>> count_up_by(3, 10)
    [10, 20, 30]
    >>> count_up_by(2, -1)
    [-1, -2]
    """
    return [step * i for i in range(1, count + 1)]


@cases(3, (0,), (10,), (25,), (39,), (77,), (999,))
def digit_product_steps(number: int) -> int:
    """Return how often number must be replaced by the product of its digits until one digit is left.

    The number is zero or more. A number with one digit needs 0 steps.

    >>> digit_product_steps(48)
    2
    >>> digit_product_steps(6)
    0
    """
    steps = 0
    while number >= 10:
        product = 1
        for digit in str(number):
            product *= int(digit)
        number = product
        steps += 1
    return steps


@cases(3, (0,), (1,), (2,), (7,), (16,), (100,))
def steps_to_zero_by_halving(number: int) -> int:
    """Return how many steps bring number, which is zero or more, down to 0.

    A step halves an even number and subtracts 1 from an odd number.

    >>> steps_to_zero_by_halving(4)
    3
    >>> steps_to_zero_by_halving(3)
    3
    """
    steps = 0
    while number > 0:
        number = number // 2 if number % 2 == 0 else number - 1
        steps += 1
    return steps


@cases(3, (1, 1, 0), (1, 1, 1), (1, 1, 6), (2, 5, 3), (0, 4, 5))
def add_last_two_sequence(first: int, second: int, length: int) -> list[int]:
    """Return a list of the given length that starts with first and second.

    Every later number is the sum of the two numbers before it.

    >>> add_last_two_sequence(1, 2, 5)
    [1, 2, 3, 5, 8]
    >>> add_last_two_sequence(3, 3, 2)
    [3, 3]
    """
    numbers = []
    for _ in range(length):
        numbers.append(first)
        first, second = second, first + second
    return numbers


@cases(3, (5,), (123,), (321,), (1,), (1357,), (1353,), (22,))
def digits_strictly_rise(number: int) -> bool:
    """Return True if every decimal digit of number is larger than the digit on its left, else False.

    A positive number with a single digit gives True.

    >>> digits_strictly_rise(259)
    True
    >>> digits_strictly_rise(265)
    False
    """
    return all(left < right for left, right in pairwise(str(number)))
