"""Tasks natural by recursion or repeated steps: digits, sequences, nested lists and powers."""

import itertools
from typing import Any

from tasksets.python_functions.cases import cases


@cases(1, (0,), (1,), (2,), (6,), (10,))
def factorial(n: int) -> int:
    """Return n factorial, the product of the numbers from 1 to n. The factorial of 0 is 1.

    >>> factorial(3)
    6
    >>> factorial(5)
    120
    """
    return 1 if n == 0 else n * factorial(n - 1)


@cases(1, (0,), (1,), (2,), (5,), (8,), (9,))
def every_second_factorial(n: int) -> int:
    """Return n times n - 2 times n - 4 and so on, as long as the factor is positive. For n = 0 return 1.

    >>> every_second_factorial(6)
    48
    >>> every_second_factorial(3)
    3
    """
    return 1 if n < 2 else n * every_second_factorial(n - 2)


@cases(1, (0,), (7,), (10,), (999,), (1234,))
def add_up_digits(n: int) -> int:
    """Return the sum of the digits of n. n is not negative.

    >>> add_up_digits(52)
    7
    >>> add_up_digits(808)
    16
    """
    return sum(int(digit) for digit in str(n))


@cases(1, (0,), (7,), (10,), (999,), (123456,), (5000,))
def number_of_digits(n: int) -> int:
    """Return how many digits n has when written down. n is not negative; 0 has one digit.

    >>> number_of_digits(52)
    2
    >>> number_of_digits(1808)
    4
    """
    return len(str(n))


@cases(1, (0,), (7,), (10,), (123,), (4005,))
def digits_as_list(n: int) -> list[int]:
    """Return the digits of n from left to right as a list of ints. n is not negative.

    >>> digits_as_list(52)
    [5, 2]
    >>> digits_as_list(808)
    [8, 0, 8]
    """
    return [int(digit) for digit in str(n)]


@cases(1, (2, 0), (2, 10), (3, 1), (-2, 3), (0, 5), (10, 4))
def power_by_multiplying(base: int, exponent: int) -> int:
    """Return base multiplied by itself exponent times; with exponent 0 return 1.

    >>> power_by_multiplying(2, 3)
    8
    >>> power_by_multiplying(5, 2)
    25
    """
    return base**exponent


@cases(1, (0,), (1,), (2,), (3,), (10,), (15,))
def fibonacci_number(n: int) -> int:
    """Return Fibonacci number n: number 0 is 0, number 1 is 1, and each later one is the sum of the last two.

    >>> fibonacci_number(4)
    3
    >>> fibonacci_number(7)
    13
    """
    return n if n < 2 else fibonacci_number(n - 1) + fibonacci_number(n - 2)


@cases(1, (0, 1), (10, 3), (5, 5), (6, 1), (7, 10), (20, 5))
def countdown_by_step(start: int, step: int) -> list[int]:
    """Return the list of start, start minus step and so on, as long as the number is not negative.

    >>> countdown_by_step(6, 2)
    [6, 4, 2, 0]
    >>> countdown_by_step(8, 3)
    [8, 5, 2]
    """
    return list(range(start, -1, -step))


@cases(1, ("",), ("a",), ("abc",), ("noon",), ("x y",))
def shrinking_endings(text: str) -> list[str]:
    """Return a list of text, text without its first character, and so on, down to the last character.

    >>> shrinking_endings("cat")
    ['cat', 'at', 't']
    >>> shrinking_endings("no")
    ['no', 'o']
    """
    return [text[i:] for i in range(len(text))]


@cases(1, (12, 18), (7, 5), (10, 0), (100, 75), (9, 9))
def greatest_common_divisor(a: int, b: int) -> int:
    """Return the greatest common divisor of a and b. If b is 0, it is a.

    >>> greatest_common_divisor(8, 12)
    4
    >>> greatest_common_divisor(15, 5)
    5
    """
    return a if b == 0 else greatest_common_divisor(b, a % b)


@cases(1, (2, 0), (2, 5), (7, 2), (10, 3), (3, 4), (9, 1))
def last_digit_of_power(base: int, exponent: int) -> int:
    """Return the last digit of base to the power of exponent. Neither is negative.

    >>> last_digit_of_power(2, 4)
    6
    >>> last_digit_of_power(3, 3)
    7
    """
    return base**exponent % 10


@cases(1, (2, 0), (2, 4), (5, 1), (3, 3), (-1, 4), (7, 2))
def powers_list(base: int, count: int) -> list[int]:
    """Return a list of the first count powers of base, beginning with base to the power of 0.

    >>> powers_list(2, 3)
    [1, 2, 4]
    >>> powers_list(10, 2)
    [1, 10]
    """
    return [base**i for i in range(count)]


@cases(1, (0,), (1,), (2,), (5,), (6,))
def count_up_and_down(n: int) -> list[int]:
    """Return the list of numbers from 1 up to n and back down to 1, with n only once. For n = 0 return [].

    >>> count_up_and_down(3)
    [1, 2, 3, 2, 1]
    >>> count_up_and_down(4)
    [1, 2, 3, 4, 3, 2, 1]
    """
    return list(range(1, n + 1)) + list(range(n - 1, 0, -1))


@cases(1, ([],), ([4],), ([1, 2],), ([5, 1, 5, 1],), ([0, -3, 2],))
def alternating_sum(numbers: list[int]) -> int:
    """Return the first number minus the second plus the third minus the fourth and so on; 0 if empty.

    >>> alternating_sum([9, 4])
    5
    >>> alternating_sum([10, 3, 1])
    8
    """
    return sum(numbers[::2]) - sum(numbers[1::2])


@cases(1, ([],), ([[]],), ([[1], [2, 3]],), ([[4, 5], [], [6]],), ([[0, 0], [-1]],))
def sum_of_inner_lists(lists: list[list[int]]) -> list[int]:
    """Return a list with the sum of each inner list. The sum of an empty list is 0.

    >>> sum_of_inner_lists([[1, 2], [3]])
    [3, 3]
    >>> sum_of_inner_lists([[10, -4], [], [5]])
    [6, 0, 5]
    """
    return [sum(inner) for inner in lists]


@cases(1, (1, 1), (9, 2), (5, 6), (2, 3), (8, 1))
def number_of_equal_digits(digit: int, times: int) -> int:
    """Return the number that is written as digit (1 to 9) repeated the given number of times (at least 1).

    >>> number_of_equal_digits(7, 3)
    777
    >>> number_of_equal_digits(1, 5)
    11111
    """
    return int(str(digit) * times)


@cases(1, (0,), (7,), (12,), (121,), (1231,), (4554,), (100,))
def digits_read_same_backwards(n: int) -> bool:
    """Return True if the digits of n are the same read from the left and from the right. n is not negative.

    >>> digits_read_same_backwards(88)
    True
    >>> digits_read_same_backwards(89)
    False
    """
    return str(n) == str(n)[::-1]


@cases(1, (1,), (2,), (7,), (10,), (27,), (100,))
def collatz_step(n: int) -> int:
    """Return n divided by 2 if n is even, or 3 times n plus 1 if n is odd.

    >>> collatz_step(6)
    3
    >>> collatz_step(5)
    16
    """
    return n // 2 if n % 2 == 0 else 3 * n + 1


@cases(1, (100, 0), (100, 1), (80, 3), (7, 1), (1000, 10))
def halve_repeatedly(amount: int, times: int) -> int:
    """Return amount after it was divided by 2 (rounding down) the given number of times.

    >>> halve_repeatedly(20, 2)
    5
    >>> halve_repeatedly(9, 1)
    4
    """
    return amount // 2**times


@cases(1, (0,), (1,), (2,), (5,), (8,))
def triangular_numbers(count: int) -> list[int]:
    """Return the first count sums of the form 1, 1 + 2, 1 + 2 + 3 and so on.

    >>> triangular_numbers(3)
    [1, 3, 6]
    >>> triangular_numbers(4)
    [1, 3, 6, 10]
    """
    return [i * (i + 1) // 2 for i in range(1, count + 1)]


@cases(1, ("", 3), ("ab", 0), ("ab", 1), ("-", 10), ("xyz", 2))
def repeat_text_with_comma(text: str, times: int) -> str:
    """Return text repeated the given number of times, with a comma between the copies.

    >>> repeat_text_with_comma("no", 3)
    'no,no,no'
    >>> repeat_text_with_comma("a", 2)
    'a,a'
    """
    return ",".join([text] * times)


@cases(2, ([],), (5,), ([1, [2, [3]]],), ([[[]], 4],), ([-1, [1, 1], [[1]]],))
def nested_sum(item: Any) -> int:
    """Return the sum of all ints in item, which is an int or a list of such items, nested to any depth.

    >>> nested_sum([1, [2, 3]])
    6
    >>> nested_sum([[4], [[5]], 0])
    9
    """
    return item if isinstance(item, int) else sum(nested_sum(part) for part in item)


@cases(2, ([],), (5,), ([1, 2],), ([1, [2, [3]]],), ([[[[]]], 4],))
def nesting_depth(item: Any) -> int:
    """Return how deeply lists are nested in item: 0 for an int, 1 for a flat or empty list, and so on.

    >>> nesting_depth([1, [2, 3]])
    2
    >>> nesting_depth([4])
    1
    """
    return 1 + max(map(nesting_depth, item), default=0) if isinstance(item, list) else 0


@cases(2, ([],), ([1],), ([1, [2, [3]]],), ([[[]], 4],), ([[5, [6, 7]], 8, [9]],))
def flatten_deeply(items: list[Any]) -> list[int]:
    """Return a flat list of all ints in items, which holds ints and lists nested to any depth.

    >>> flatten_deeply([1, [2, [3, 4]]])
    [1, 2, 3, 4]
    >>> flatten_deeply([[[5]]])
    [5]
    """
    result = []
    for item in items:
        result.extend(flatten_deeply(item) if isinstance(item, list) else [item])
    return result


@cases(2, (0,), (7,), (38,), (999,), (12345,), (10,))
def repeated_digit_sum(n: int) -> int:
    """Replace n by the sum of its digits until it has only one digit, and return that digit.

    >>> repeated_digit_sum(49)
    4
    >>> repeated_digit_sum(21)
    3
    """
    while n >= 10:
        n = sum(int(digit) for digit in str(n))
    return n


@cases(2, (1,), (2,), (3,), (7,), (16,), (27,))
def collatz_step_count(n: int) -> int:
    """Return the number of steps from n to 1: an even n becomes n divided by 2, an odd n becomes 3 * n + 1.

    >>> collatz_step_count(4)
    2
    >>> collatz_step_count(5)
    5
    """
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@cases(2, (0,), (1,), (2,), (5,), (8,))
def fibonacci_list(count: int) -> list[int]:
    """Return the first count Fibonacci numbers: 0, 1, and then always the sum of the last two.

    >>> fibonacci_list(4)
    [0, 1, 1, 2]
    >>> fibonacci_list(6)
    [0, 1, 1, 2, 3, 5]
    """
    numbers = [0, 1]
    while len(numbers) < count:
        numbers.append(numbers[-1] + numbers[-2])
    return numbers[:count]


@cases(2, (1,), (2,), (7,), (8,), (100,), (1024,))
def halvings_until_one(n: int) -> int:
    """Return how many times n must be divided by 2, rounding down, until it is 1. n is at least 1.

    >>> halvings_until_one(4)
    2
    >>> halvings_until_one(9)
    3
    """
    steps = 0
    while n > 1:
        n //= 2
        steps += 1
    return steps


@cases(2, (0,), (7,), (10,), (999,), (1203,), (25,))
def product_of_nonzero_digits(n: int) -> int:
    """Return the product of all digits of n that are not 0. If there are none, return 1.

    >>> product_of_nonzero_digits(52)
    10
    >>> product_of_nonzero_digits(304)
    12
    """
    product = 1
    for digit in str(n):
        if digit != "0":
            product *= int(digit)
    return product


@cases(2, (5, 0), (9, 3), (10, 7), (100, 75), (3, 8), (21, 13))
def remainder_steps(a: int, b: int) -> int:
    """Return how many times the pair a, b can be replaced by b, a % b until b is 0.

    >>> remainder_steps(8, 6)
    2
    >>> remainder_steps(20, 5)
    1
    """
    steps = 0
    while b != 0:
        a, b = b, a % b
        steps += 1
    return steps


@cases(2, (0,), (1,), (2,), (5,), (10,))
def ways_to_climb(stairs: int) -> int:
    """Return in how many ways one can climb the stairs with steps of 1 or 2 stairs. 0 stairs: 1 way.

    >>> ways_to_climb(3)
    3
    >>> ways_to_climb(4)
    5
    """
    return 1 if stairs < 2 else ways_to_climb(stairs - 1) + ways_to_climb(stairs - 2)


@cases(2, (100, 100), (100, 101), (100, 500), (1, 1000), (50, 20), (3, 4))
def doublings_to_reach(start: int, goal: int) -> int:
    """Return how many times start must be doubled until it is at least goal. start is positive.

    >>> doublings_to_reach(5, 20)
    2
    >>> doublings_to_reach(10, 70)
    3
    """
    count = 0
    while start < goal:
        start *= 2
        count += 1
    return count


@cases(2, ([],), ([4],), ([1, 3, 2],), ([5, -5, 10],), ([-3, -4, -1],))
def running_maximum(numbers: list[int]) -> list[int]:
    """Return a list whose item i is the largest of the numbers from the first up to item i.

    >>> running_maximum([1, 4, 2])
    [1, 4, 4]
    >>> running_maximum([10, -1])
    [10, 10]
    """
    return [max(numbers[: i + 1]) for i in range(len(numbers))]


@cases(2, ([],), ([4],), ([1, 4],), ([1, 4, 9, 16],), ([5, 5, 0, 7, 2],))
def differences_down_to_one(numbers: list[int]) -> list[int]:
    """Replace the list by the differences of neighbours (right minus left) until at most one number is left.

    Return that last list.

    >>> differences_down_to_one([3, 8])
    [5]
    >>> differences_down_to_one([1, 2, 4])
    [1]
    """
    while len(numbers) > 1:
        numbers = [right - left for left, right in itertools.pairwise(numbers)]
    return numbers


@cases(3, (1,), (2,), (4,), (5,), (7,))
def pascal_row(row: int) -> list[int]:
    """Return a row of Pascal's triangle; row 1 is [1]. Inner numbers are sums of two neighbours above.

    >>> pascal_row(3)
    [1, 2, 1]
    >>> pascal_row(6)
    [1, 5, 10, 10, 5, 1]
    """
    numbers = [1]
    for _ in range(row - 1):
        numbers = [1] + [a + b for a, b in itertools.pairwise(numbers)] + [1]
    return numbers


@cases(3, ([],), ([1],), ([1, 2],), ([2, 1, 3],), ([7, 0],))
def all_sublists_in_order(items: list[int]) -> list[list[int]]:
    """Return all lists that come from items by leaving out any of them.

    First come those without the first item, then those with it, each group built by the same rule.

    >>> all_sublists_in_order([5, 6])
    [[], [6], [5], [5, 6]]
    >>> all_sublists_in_order([9])
    [[], [9]]
    """
    if not items:
        return [[]]
    rest = all_sublists_in_order(items[1:])
    return rest + [[items[0], *part] for part in rest]


@cases(3, ("",), ("()",), ("(())",), ("()()",), ("((())())",), ("a(b(c)d)e",))
def deepest_bracket_level(text: str) -> int:
    """Return how many round brackets are open at most at the same time in text. All brackets are closed.

    >>> deepest_bracket_level("(()())")
    2
    >>> deepest_bracket_level("x + (y)")
    1
    """
    depth = deepest = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        deepest = max(deepest, depth)
    return deepest


@cases(3, ("1", 1), ("1", 2), ("1", 4), ("3", 0), ("22", 1), ("5", 3))
def look_and_say(text: str, steps: int) -> str:
    """In each step replace every run of one digit by its length and the digit; return text after all steps.

    >>> look_and_say("1", 3)
    '1211'
    >>> look_and_say("77", 2)
    '1217'
    """
    for _ in range(steps):
        result, count = "", 0
        for i, digit in enumerate(text):
            count += 1
            if text[i + 1 : i + 2] != digit:
                result += f"{count}{digit}"
                count = 0
        text = result
    return text
