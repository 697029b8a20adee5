"""Tasks about divisibility: remainders, multiples, divisors, primes and even shares."""

import math

from tasksets.python_functions.cases import cases


@cases(1, (2,), (3,), (0,), (-7,), (-10,), (101,))
def is_even_number(number: int) -> bool:
    """Return True if number is even, else False. Zero is even.

    >>> is_even_number(8)
    True
    >>> is_even_number(5)
    False
    """
    return number % 2 == 0


@cases(1, (10, 3, 1), (10, 3, 2), (0, 4, 0), (7, 7, 1), (3, 9, 3), (25, 4, 0))
def leaves_remainder(number: int, divisor: int, remainder: int) -> bool:
    """Return True if number divided by divisor leaves exactly the given remainder, else False.

    >>> leaves_remainder(14, 4, 2)
    True
    >>> leaves_remainder(13, 4, 2)
    False
    """
    return number % divisor == remainder


@cases(1, (10, 3), (9, 3), (0, 7), (5, 8), (100, 9))
def candies_left_over(candies: int, children: int) -> int:
    """Return how many candies are left after giving each child the same largest possible number of them.

    >>> candies_left_over(11, 4)
    3
    >>> candies_left_over(8, 2)
    0
    """
    return candies % children


@cases(1, (10, 3), (9, 3), (0, 7), (5, 8), (100, 9))
def full_boxes(items: int, box_size: int) -> int:
    """Return how many boxes can be filled completely when each box holds box_size items.

    >>> full_boxes(11, 4)
    2
    >>> full_boxes(3, 5)
    0
    """
    return items // box_size


@cases(1, (10, 3), (9, 3), (0, 7), (5, 8), (100, 10), (101, 10))
def boxes_needed(items: int, box_size: int) -> int:
    """Return how many boxes are needed to hold all the items when each box holds box_size items.

    >>> boxes_needed(11, 4)
    3
    >>> boxes_needed(8, 4)
    2
    """
    return (items + box_size - 1) // box_size


@cases(1, ([12, 18],), ([7, 5, 3],), ([10],), ([100, 75, 50],), ([8, 12, 6],))
def largest_divisor_of_all(numbers: list[int]) -> int:
    """Return the largest number that divides every one of the positive numbers. The list is not empty.

    >>> largest_divisor_of_all([8, 12])
    4
    >>> largest_divisor_of_all([6, 9, 15])
    3
    """
    return math.gcd(*numbers)


@cases(1, (2, 3), (4, 6), (5, 5), (1, 8), (10, 15))
def least_common_multiple(a: int, b: int) -> int:
    """Return the smallest positive number that is a multiple of both of the positive numbers a and b.

    >>> least_common_multiple(3, 4)
    12
    >>> least_common_multiple(2, 8)
    8
    """
    return a * b // math.gcd(a, b)


@cases(1, (8, 9), (8, 12), (1, 5), (7, 7), (15, 28), (21, 14))
def share_no_factor(a: int, b: int) -> bool:
    """Return True if no number above 1 divides both of the positive numbers a and b, else False.

    >>> share_no_factor(4, 9)
    True
    >>> share_no_factor(6, 9)
    False
    """
    return math.gcd(a, b) == 1


@cases(1, (0,), (1,), (2,), (-3,), (17,))
def next_even_number(number: int) -> int:
    """Return the smallest even number that is greater than number.

    >>> next_even_number(4)
    6
    >>> next_even_number(7)
    8
    """
    return number + 2 - number % 2


@cases(1, (7, 5), (10, 5), (4, 5), (0, 3), (99, 10))
def round_down_to_multiple(number: int, base: int) -> int:
    """Return the largest multiple of base that is not greater than number. number is zero or more.

    >>> round_down_to_multiple(14, 4)
    12
    >>> round_down_to_multiple(9, 3)
    9
    """
    return number // base * base


@cases(1, (7, 5), (10, 5), (4, 6), (0, 3), (91, 10))
def amount_to_next_multiple(number: int, base: int) -> int:
    """Return the smallest amount, zero or more, that must be added to number to make it a multiple of base.

    >>> amount_to_next_multiple(13, 4)
    3
    >>> amount_to_next_multiple(12, 4)
    0
    """
    return -number % base


@cases(1, (0,), (7,), (12,), (-6,), (-5,), (1,))
def half_if_even(number: int) -> int:
    """Return half of number as an int if number is even; otherwise return number as it is.

    >>> half_if_even(10)
    5
    >>> half_if_even(9)
    9
    """
    return number // 2 if number % 2 == 0 else number


@cases(1, (1, 3), (2, 2), (0, 5), (-1, 4), (7, 7), (10, 12))
def have_same_parity(a: int, b: int) -> bool:
    """Return True if a and b are both even or both odd, else False.

    >>> have_same_parity(2, 8)
    True
    >>> have_same_parity(2, 9)
    False
    """
    return a % 2 == b % 2


@cases(1, (17, 5), (20, 4), (0, 3), (3, 10), (55, 7))
def quotient_and_remainder(number: int, divisor: int) -> list[int]:
    """Return a list with the whole quotient of number divided by divisor and then the remainder.

    >>> quotient_and_remainder(14, 3)
    [4, 2]
    >>> quotient_and_remainder(2, 6)
    [0, 2]
    """
    return [number // divisor, number % divisor]


@cases(1, ([1, 2, 3, 4], 2), ([], 3), ([5, 7], 5), ([0, -2, -3], 3), ([8, 6, 8], 4))
def drop_multiples(numbers: list[int], base: int) -> list[int]:
    """Return a list of the numbers that are not divisible by base, in the same order.

    >>> drop_multiples([3, 10, 6], 3)
    [10]
    >>> drop_multiples([1, 5], 2)
    [1, 5]
    """
    return [n for n in numbers if n % base != 0]


@cases(1, ([3, 6, 7], 3), ([], 2), ([1, 2], 5), ([0, 4, 8, 9], 4), ([10, 20], 10))
def count_divisible(numbers: list[int], divisor: int) -> int:
    """Return how many of the numbers are divisible by divisor.

    >>> count_divisible([5, 10, 11], 5)
    2
    >>> count_divisible([7], 2)
    0
    """
    return sum(n % divisor == 0 for n in numbers)


@cases(1, ([1, 2, 3],), ([],), ([2, 4],), ([-1, -3],), ([0, 9, 10, 11],))
def sum_odd_numbers(numbers: list[int]) -> int:
    """Return the sum of the odd numbers in numbers, or 0 if there are none.

    >>> sum_odd_numbers([5, 6, 7])
    12
    >>> sum_odd_numbers([8])
    0
    """
    return sum(n for n in numbers if n % 2 == 1)


@cases(1, (6, 2, 3), (4, 2, 3), (0, 5, 7), (30, 5, 6), (9, 3, 4), (7, 2, 3))
def divisible_by_both(number: int, a: int, b: int) -> bool:
    """Return True if number is divisible by a and also by b, else False.

    >>> divisible_by_both(20, 4, 5)
    True
    >>> divisible_by_both(8, 4, 5)
    False
    """
    return number % a == 0 and number % b == 0


@cases(1, (6, 4, 3), (5, 2, 3), (8, 3, 5), (25, 5, 10), (0, 3, 5), (14, 3, 7), (14, 7, 14))
def divisible_by_exactly_one(number: int, a: int, b: int) -> bool:
    """Return True if number is divisible by exactly one of a and b, else False.

    >>> divisible_by_exactly_one(9, 3, 5)
    True
    >>> divisible_by_exactly_one(15, 3, 5)
    False
    """
    return (number % a == 0) != (number % b == 0)


@cases(1, (10, 2), (10, 3), (7, 10), (0, 4), (100, 7))
def count_multiples_up_to(limit: int, base: int) -> int:
    """Return how many of the numbers from 1 to limit are multiples of base.

    >>> count_multiples_up_to(9, 3)
    3
    >>> count_multiples_up_to(5, 2)
    2
    """
    return limit // base


@cases(1, (0, 3, 7), (6, 1, 7), (2, 10, 5), (0, 0, 4), (3, 21, 7))
def position_on_circle(start: int, steps: int, size: int) -> int:
    """Return the position reached after moving steps forward on a circle of places 0 to size - 1.

    After the last place comes place 0 again.

    >>> position_on_circle(5, 3, 6)
    2
    >>> position_on_circle(1, 1, 4)
    2
    """
    return (start + steps) % size


@cases(1, (10, 15), (3, 4), (7, 7), (100, 20), (8, 12))
def simplify_fraction(top: int, bottom: int) -> list[int]:
    """Return the fraction top / bottom in lowest terms as a list of two numbers. Both inputs are positive.

    >>> simplify_fraction(6, 8)
    [3, 4]
    >>> simplify_fraction(9, 3)
    [3, 1]
    """
    return [top // math.gcd(top, bottom), bottom // math.gcd(top, bottom)]


@cases(1, (1, 3), (3, 3), (4, 3), (10, 4), (6, 1), (2, 5))
def team_of_player(player: int, teams: int) -> int:
    """Return the team of a player when the players 1, 2, 3 and so on join the teams from 1 to teams in turn.

    After the last team comes team 1 again.

    >>> team_of_player(5, 4)
    1
    >>> team_of_player(2, 2)
    2
    """
    return (player - 1) % teams + 1


@cases(1, ([2, 4], 2), ([2, 5], 2), ([], 3), ([9, 3, 0], 3), ([7], 5), ([10, 20, 31], 10))
def all_divisible_by(numbers: list[int], divisor: int) -> bool:
    """Return True if every number is divisible by divisor, else False. An empty list gives True.

    >>> all_divisible_by([5, 15], 5)
    True
    >>> all_divisible_by([5, 16], 5)
    False
    """
    return all(n % divisor == 0 for n in numbers)


@cases(1, ([3, 4, 5], 3), ([], 2), ([-1, 10], 4), ([8], 8), ([6, 7, 8, 9], 5))
def remainders_of_list(numbers: list[int], divisor: int) -> list[int]:
    """Return a list with the remainder of each number divided by the positive divisor.

    >>> remainders_of_list([10, 11, 12], 10)
    [0, 1, 2]
    >>> remainders_of_list([7], 2)
    [1]
    """
    return [n % divisor for n in numbers]


@cases(2, (1,), (6,), (7,), (16,), (30,))
def list_divisors(number: int) -> list[int]:
    """Return all positive divisors of the positive number, from small to large.

    >>> list_divisors(10)
    [1, 2, 5, 10]
    >>> list_divisors(3)
    [1, 3]
    """
    return [d for d in range(1, number + 1) if number % d == 0]


@cases(2, (1,), (2,), (12,), (13,), (36,))
def count_divisors(number: int) -> int:
    """Return how many positive divisors the positive number has.

    >>> count_divisors(6)
    4
    >>> count_divisors(9)
    3
    """
    return sum(number % d == 0 for d in range(1, number + 1))


@cases(2, (1,), (7,), (12,), (28,), (20,))
def sum_smaller_divisors(number: int) -> int:
    """Return the sum of the positive divisors of number that are smaller than number. For 1 this is 0.

    >>> sum_smaller_divisors(6)
    6
    >>> sum_smaller_divisors(10)
    8
    """
    return sum(d for d in range(1, number) if number % d == 0)


@cases(2, (0,), (1,), (2,), (9,), (17,), (51,), (97,))
def is_prime_number(number: int) -> bool:
    """Return True if number is prime, else False. Numbers below 2 are not prime.

    >>> is_prime_number(7)
    True
    >>> is_prime_number(8)
    False
    """
    return number > 1 and all(number % d for d in range(2, number))


@cases(2, (2,), (9,), (35,), (49,), (13,), (100,))
def smallest_divisor_above_one(number: int) -> int:
    """Return the smallest divisor of number that is greater than 1. The number is at least 2.

    >>> smallest_divisor_above_one(15)
    3
    >>> smallest_divisor_above_one(11)
    11
    """
    divisor = 2
    while number % divisor != 0:
        divisor += 1
    return divisor


@cases(2, (2,), (3,), (12,), (13,), (45,), (49,))
def largest_smaller_divisor(number: int) -> int:
    """Return the largest divisor of number that is smaller than number. The number is at least 2.

    >>> largest_smaller_divisor(10)
    5
    >>> largest_smaller_divisor(7)
    1
    """
    return max(d for d in range(1, number) if number % d == 0)


@cases(2, (1,), (8,), (7,), (12,), (96,))
def times_divisible_by_two(number: int) -> int:
    """Return how many times the positive number can be divided by 2 before it becomes odd.

    >>> times_divisible_by_two(20)
    2
    >>> times_divisible_by_two(9)
    0
    """
    count = 0
    while number % 2 == 0:
        number //= 2
        count += 1
    return count


@cases(2, (12, 18), (5, 7), (8, 8), (10, 4), (1, 6))
def common_divisors(a: int, b: int) -> list[int]:
    """Return all numbers that divide both of the positive numbers a and b, from small to large.

    >>> common_divisors(6, 9)
    [1, 3]
    >>> common_divisors(4, 8)
    [1, 2, 4]
    """
    return [d for d in range(1, min(a, b) + 1) if a % d == 0 and b % d == 0]


@cases(2, (10, 3, 5), (1, 2, 3), (0, 4, 7), (16, 4, 6), (7, 7, 2))
def sum_multiples_of_either(limit: int, a: int, b: int) -> int:
    """Return the sum of the numbers from 1 to limit that are divisible by a or by b. Count each number once.

    >>> sum_multiples_of_either(6, 2, 3)
    15
    >>> sum_multiples_of_either(5, 5, 4)
    9
    """
    return sum(n for n in range(1, limit + 1) if n % a == 0 or n % b == 0)


@cases(2, (1, 10, 3), (5, 5, 5), (4, 6, 7), (-4, 4, 2), (10, 30, 10))
def multiples_between(low: int, high: int, base: int) -> list[int]:
    """Return a list of all multiples of base from low to high, both included.

    >>> multiples_between(7, 15, 4)
    [8, 12]
    >>> multiples_between(1, 2, 3)
    []
    """
    return [n for n in range(low, high + 1) if n % base == 0]


@cases(2, ([7, 8, 9],), ([],), ([1, 3],), ([5, -2, 4],), ([0],))
def first_even_or_none(numbers: list[int]) -> int | None:
    """Return the first even number in the list, or None if there is none.

    >>> first_even_or_none([3, 6, 2])
    6
    >>> first_even_or_none([5])
    None
    """
    return next((n for n in numbers if n % 2 == 0), None)


@cases(2, ([1, 2, 3],), ([],), ([4, 6],), ([7],), ([0, -1, -2, 8],), ([5, 2],))
def more_even_than_odd(numbers: list[int]) -> int:
    """Return how many of the numbers are even minus how many are odd. An empty list gives 0.

    >>> more_even_than_odd([2, 4, 5])
    1
    >>> more_even_than_odd([1, 3, 9])
    -3
    """
    even = sum(n % 2 == 0 for n in numbers)
    return even - (len(numbers) - even)


@cases(2, (3,), (5,), (15,), (7,), (30,), (8,), (9,))
def tick_tock_word(number: int) -> str:
    """Return 'tick' if number is divisible by 3, 'tock' if by 5 and 'ticktock' if by both.

    If it is divisible by neither, return an empty string.

    >>> tick_tock_word(6)
    'tick'
    >>> tick_tock_word(10)
    'tock'
    >>> tick_tock_word(45)
    'ticktock'
    """
    return ("tick" if number % 3 == 0 else "") + ("tock" if number % 5 == 0 else "")


@cases(2, (124,), (12,), (7,), (135,), (20,), (23,), (406,))
def divisible_by_digit_sum(number: int) -> bool:
    """Return True if the positive number is divisible by the sum of its decimal digits, else False.

    >>> divisible_by_digit_sum(18)
    True
    >>> divisible_by_digit_sum(19)
    False
    """
    return number % sum(int(digit) for digit in str(number)) == 0


@cases(2, (7, 3), (9, 3), (1, 4), (10, 4), (3, 5))
def fair_shares(items: int, people: int) -> list[int]:
    """Return a list with how many items each of the people gets when they are shared as evenly as possible.

    People who get one item more come first.

    >>> fair_shares(8, 3)
    [3, 3, 2]
    >>> fair_shares(4, 2)
    [2, 2]
    """
    return [items // people + (i < items % people) for i in range(people)]


@cases(3, (1,), (2,), (10,), (20,), (3,))
def primes_up_to(limit: int) -> list[int]:
    """Return a list of all prime numbers from 2 to limit, from small to large.

    >>> primes_up_to(7)
    [2, 3, 5, 7]
    >>> primes_up_to(0)
    []
    """
    primes: list[int] = []
    for n in range(2, limit + 1):
        if all(n % p != 0 for p in primes):
            primes.append(n)
    return primes


@cases(3, (1,), (7,), (12,), (64,), (90,))
def prime_factor_list(number: int) -> list[int]:
    """Return the prime factors of the positive number from small to large, each as often as it occurs.

    For 1 return an empty list.

    >>> prime_factor_list(20)
    [2, 2, 5]
    >>> prime_factor_list(3)
    [3]
    """
    factors = []
    divisor = 2
    while number > 1:
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
        divisor += 1
    return factors


@cases(3, (1,), (2,), (8,), (13,), (24,))
def next_prime_after(number: int) -> int:
    """Return the smallest prime number that is greater than number.

    >>> next_prime_after(5)
    7
    >>> next_prime_after(10)
    11
    """
    candidate = max(number + 1, 2)
    while any(candidate % d == 0 for d in range(2, candidate)):
        candidate += 1
    return candidate


@cases(3, (7, 5), (8, 5), (-3, 4), (0, 9), (26, 10), (11, 3))
def nearest_multiple(number: int, base: int) -> int:
    """Return the multiple of base that is closest to number. If two are equally close, return the larger one.

    >>> nearest_multiple(13, 4)
    12
    >>> nearest_multiple(5, 2)
    6
    """
    lower = number // base * base
    upper = lower + base
    return lower if number - lower < upper - number else upper


@cases(3, ([1, 2, 3, 4, 5], 3), ([], 2), ([6, 9], 3), ([2, 4, 7], 2), ([10], 4))
def group_by_remainder(numbers: list[int], divisor: int) -> list[list[int]]:
    """Return as many lists as divisor says: the list at index r has the numbers with remainder r, in order.

    The remainder is that of the number divided by divisor.

    >>> group_by_remainder([1, 2, 3], 2)
    [[2], [1, 3]]
    >>> group_by_remainder([5, 9], 3)
    [[9], [], [5]]
    """
    groups: list[list[int]] = [[] for _ in range(divisor)]
    for n in numbers:
        groups[n % divisor].append(n)
    return groups
