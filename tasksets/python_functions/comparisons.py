"""Easy yes-or-no tasks: one comparison of numbers, strings or lists."""

from tasksets.python_functions.cases import cases


@cases(1, (180, 179), (160, 160), (100, 190), (200, 20), (175, 176), (158, 140))
def is_taller(mine: int, yours: int) -> bool:
    """Return True if mine is greater than yours.

    >>> is_taller(170, 160)
    True
    >>> is_taller(150, 155)
    False
    """
    return mine > yours


@cases(1, (1, 2), (2, 2), (30, 10), (0, 15), (7, 6), (8, 20))
def arrives_sooner(mine: int, other: int) -> bool:
    """Return True if mine is less than other.

    >>> arrives_sooner(5, 9)
    True
    >>> arrives_sooner(9, 5)
    False
    """
    return mine < other


@cases(1, (0, 0), (1, -1), (12, 12), (3, 30), (-7, -7), (9, 8))
def is_same_number(a: int, b: int) -> bool:
    """Return True if a and b are equal.

    >>> is_same_number(4, 4)
    True
    >>> is_same_number(4, 5)
    False
    """
    return a == b


@cases(1, ("a", "b"), ("tree", "tree"), ("", "x"), ("", ""), ("Home", "home"), ("red", "red"))
def are_different_words(first: str, second: str) -> bool:
    """Return True if first and second are not equal.

    >>> are_different_words("cat", "dog")
    True
    >>> are_different_words("sun", "sun")
    False
    """
    return first != second


@cases(1, (18,), (17,), (0,), (65,), (19,), (5,))
def is_adult(age: int) -> bool:
    """Return True if age is at least 18.

    >>> is_adult(20)
    True
    >>> is_adult(10)
    False
    """
    return age >= 18


@cases(1, (0,), (1,), (-1,), (30,), (-20,), (5,))
def is_freezing(degrees: int) -> bool:
    """Return True if degrees is zero or less.

    >>> is_freezing(-4)
    True
    >>> is_freezing(12)
    False
    """
    return degrees <= 0


@cases(1, (0, 0), (4, 4), (-7, 7), (5, -6), (10, -10), (0, 1))
def has_zero_sum(a: int, b: int) -> bool:
    """Return True if a plus b is zero.

    >>> has_zero_sum(3, -3)
    True
    >>> has_zero_sum(1, 2)
    False
    """
    return a + b == 0


@cases(1, (1,), (2,), (0,), (77,), (100,), (15,))
def is_odd_number(number: int) -> bool:
    """Return True if number is odd.

    >>> is_odd_number(3)
    True
    >>> is_odd_number(8)
    False
    """
    return number % 2 == 1


@cases(1, (0,), (1,), (-1,), (40,), (-50,), (9,))
def is_gain(change: int) -> bool:
    """Return True if change is greater than zero.

    >>> is_gain(6)
    True
    >>> is_gain(-2)
    False
    """
    return change > 0


@cases(1, (10,), (1,), (300,), (99,), (101,), (50,))
def ends_in_zero(number: int) -> bool:
    """Return True if number divided by 10 leaves no remainder.

    >>> ends_in_zero(20)
    True
    >>> ends_in_zero(25)
    False
    """
    return number % 10 == 0


@cases(1, (9, 3), (3, 9), (0, 0), (15, 5), (12, 3), (5, 5))
def is_three_times(big: int, small: int) -> bool:
    """Return True if big equals 3 times small.

    >>> is_three_times(6, 2)
    True
    >>> is_three_times(7, 2)
    False
    """
    return big == 3 * small


@cases(1, (100,), (99,), (999,), (1000,), (500,), (7,))
def has_three_digits(number: int) -> bool:
    """Return True if number is from 100 to 999.

    >>> has_three_digits(250)
    True
    >>> has_three_digits(42)
    False
    """
    return 100 <= number <= 999


@cases(1, (5, 5), (10, 10), (0, 10), (1, 1), (12, -2), (7, 2))
def sum_is_ten(a: int, b: int) -> bool:
    """Return True if a plus b equals 10.

    >>> sum_is_ten(4, 6)
    True
    >>> sum_is_ten(4, 5)
    False
    """
    return a + b == 10


@cases(1, (5, 10), (10, 5), (0, 0), (4, 9), (25, 50), (7, 7))
def is_half_of(small: int, big: int) -> bool:
    """Return True if two times small equals big.

    >>> is_half_of(3, 6)
    True
    >>> is_half_of(6, 3)
    False
    """
    return small * 2 == big


@cases(1, (5, 5, 10), (9, 9, 10), (0, 0, 1), (3, 4, 6), (20, 1, 0), (2, 2, 50))
def sum_exceeds_limit(a: int, b: int, limit: int) -> bool:
    """Return True if a plus b is greater than limit.

    >>> sum_exceeds_limit(5, 6, 10)
    True
    >>> sum_exceeds_limit(1, 2, 9)
    False
    """
    return a + b > limit


@cases(1, (0, 1), (1, 0), (9, 10), (7, 7), (-1, 0), (2, 12))
def is_next_number(a: int, b: int) -> bool:
    """Return True if b equals a plus one.

    >>> is_next_number(3, 4)
    True
    >>> is_next_number(3, 5)
    False
    """
    return b == a + 1


@cases(1, ("x", ""), ("hi", "you"), ("", ""), (" ", "y"), ("", "cat"), ("dog", "dog"))
def is_one_text_empty(first: str, second: str) -> bool:
    """Return True if first or second is an empty string.

    >>> is_one_text_empty("", "a")
    True
    >>> is_one_text_empty("b", "c")
    False
    """
    return first == "" or second == ""


@cases(1, ("bread",), ("",), ("house",), ("banana",), ("water",), ("milk",))
def has_five_letters(word: str) -> bool:
    """Return True if word has exactly 5 characters.

    >>> has_five_letters("apple")
    True
    >>> has_five_letters("pear")
    False
    """
    return len(word) == 5


@cases(1, ("cat", 3), ("cats", 3), ("", 0), ("a", 0), ("window", 10), ("garden", 5))
def is_longer_than(text: str, size: int) -> bool:
    """Return True if text has more characters than size.

    >>> is_longer_than("hello", 3)
    True
    >>> is_longer_than("hi", 3)
    False
    """
    return len(text) > size


@cases(1, ("", ""), ("a", ""), ("sun", "sky"), ("moon", "star"), ("red", "green"), ("x", "yz"))
def have_equal_lengths(first: str, second: str) -> bool:
    """Return True if first and second are equally long.

    >>> have_equal_lengths("cat", "dog")
    True
    >>> have_equal_lengths("cat", "bird")
    False
    """
    return len(first) == len(second)


@cases(1, ("ant",), ("cat",), ("a",), ("Anna",), ("arm",), ("sea",))
def starts_with_a(word: str) -> bool:
    """Return True if word starts with "a".

    >>> starts_with_a("apple")
    True
    >>> starts_with_a("banana")
    False
    """
    return word.startswith("a")


@cases(1, (".",), ("a.b",), ("I am here.",), ("Why?",), ("Yes.",), (".no",))
def ends_with_dot(text: str) -> bool:
    """Return True if text ends with a dot.

    >>> ends_with_dot("Done.")
    True
    >>> ends_with_dot("Done")
    False
    """
    return text.endswith(".")


@cases(1, ("egg",), ("dog",), ("we",), ("",), ("bird",), ("lemon",))
def has_letter_e(word: str) -> bool:
    """Return True if "e" is in word.

    >>> has_letter_e("tree")
    True
    >>> has_letter_e("cat")
    False
    """
    return "e" in word


@cases(1, ("hello you",), ("hello",), (" ",), ("",), ("one two three",), ("x_y",))
def has_space(text: str) -> bool:
    """Return True if text has at least one space.

    >>> has_space("a b")
    True
    >>> has_space("ab")
    False
    """
    return " " in text


@cases(1, ("GO",), ("go",), ("HELP!",), ("Wow",), ("A",), ("no WAY",))
def is_shouting(text: str) -> bool:
    """Return True if all letters of text are upper case.

    >>> is_shouting("STOP")
    True
    >>> is_shouting("Stop")
    False
    """
    return text.isupper()


@cases(1, ("Cat", "cat"), ("cats", "cat"), ("blue", "blue"), ("Red", "green"), ("SUN", "sun"), ("", "moon"))
def is_answer_right(answer: str, solution: str) -> bool:
    """Return True if answer in lower case equals solution.

    >>> is_answer_right("YES", "yes")
    True
    >>> is_answer_right("no", "yes")
    False
    """
    return answer.lower() == solution


@cases(1, ("hello", "he"), ("hello", "lo"), ("tree", "t"), ("tree", "e"), ("car", "car"), ("car", "care"))
def begins_with_part(text: str, part: str) -> bool:
    """Return True if text starts with part.

    >>> begins_with_part("sunday", "sun")
    True
    >>> begins_with_part("sunday", "day")
    False
    """
    return text.startswith(part)


@cases(1, ("hello", "lo"), ("hello", "he"), ("tree", "ee"), ("tree", "r"), ("car", "car"), ("car", "scar"))
def finishes_with_part(text: str, part: str) -> bool:
    """Return True if text ends with part.

    >>> finishes_with_part("sunday", "day")
    True
    >>> finishes_with_part("sunday", "sun")
    False
    """
    return text.endswith(part)


@cases(1, ("sun", "m"), ("sun", "n"), ("", "b"), ("bee", "b"), ("lion", "z"), ("zoo", "z"))
def lacks_letter(text: str, letter: str) -> bool:
    """Return True if letter is not in text.

    >>> lacks_letter("dog", "a")
    True
    >>> lacks_letter("cat", "a")
    False
    """
    return letter not in text


@cases(1, ("a", "b"), ("b", "a"), ("car", "care"), ("sun", "sun"), ("map", "nap"), ("zoo", "yes"))
def comes_first_in_alphabet(first: str, second: str) -> bool:
    """Return True if first is less than second as text.

    >>> comes_first_in_alphabet("ant", "bee")
    True
    >>> comes_first_in_alphabet("dog", "cat")
    False
    """
    return first < second


@cases(1, ([], []), ([1, 2, 3], []), ([4], []), ([], [5, 6, 7]), ([8], [9]), ([1, 1], [2, 2]))
def are_short_together(left: list[int], right: list[int]) -> bool:
    """Return True if left and right together have fewer than 3 items.

    >>> are_short_together([1], [2])
    True
    >>> are_short_together([1, 2], [3])
    False
    """
    return len(left) + len(right) < 3


@cases(1, ([5, 5],), ([],), ([0, -1],), ([1, 2, 3],), ([9, 4],), ([2],))
def has_two_items(items: list[int]) -> bool:
    """Return True if items has exactly two items.

    >>> has_two_items([1, 2])
    True
    >>> has_two_items([1])
    False
    """
    return len(items) == 2


@cases(1, ([3], 3), ([], 1), ([4, 5, 6], 6), ([4, 5, 6], 7), ([0, 0], 0), ([-1], 1))
def has_item(items: list[int], item: int) -> bool:
    """Return True if item is in items.

    >>> has_item([1, 2], 2)
    True
    >>> has_item([1, 2], 5)
    False
    """
    return item in items


@cases(
    1,
    ([], "Eve"),
    (["Bob", "Eve"], "Eve"),
    (["Tom"], "tom"),
    (["Tom"], "Tom"),
    (["A", "B"], "C"),
    (["Kim", "Lee"], "Kim"),
)
def is_missing_name(names: list[str], name: str) -> bool:
    """Return True if name is not in names.

    >>> is_missing_name(["Ann"], "Bob")
    True
    >>> is_missing_name(["Ann"], "Ann")
    False
    """
    return name not in names


@cases(1, ([0],), ([1],), ([0, 0],), ([5, 0, 0],), ([0, 9, 8],), ([-3, 2],))
def first_is_zero(numbers: list[int]) -> bool:
    """Return True if the first of numbers is zero.

    >>> first_is_zero([0, 4])
    True
    >>> first_is_zero([4, 0])
    False
    """
    return numbers[0] == 0


@cases(1, ([1],), ([0],), ([2, 3],), ([5, 6, -7],), ([-9, 8],), ([3, 0],))
def last_is_positive(numbers: list[int]) -> bool:
    """Return True if the last of numbers is above zero.

    >>> last_is_positive([-1, 4])
    True
    >>> last_is_positive([4, -1])
    False
    """
    return numbers[-1] > 0


@cases(1, ([2],), ([7],), ([5, 5],), ([4, 4, 1],), ([],), ([0, 9],))
def total_is_even(numbers: list[int]) -> bool:
    """Return True if the sum of numbers is even.

    >>> total_is_even([1, 3])
    True
    >>> total_is_even([1, 2])
    False
    """
    return sum(numbers) % 2 == 0


@cases(1, ([], []), ([1], []), ([5], [5]), ([3, 3], [3]), ([7, 8, 9], [7, 8, 9]), ([4], [6]))
def are_equal_lists(left: list[int], right: list[int]) -> bool:
    """Return True if the lists left and right are equal.

    >>> are_equal_lists([1, 2], [1, 2])
    True
    >>> are_equal_lists([1, 2], [2, 1])
    False
    """
    return left == right


@cases(1, ([3], 4), ([3], 3), ([2, 8, 5], 10), ([2, 8, 5], 7), ([-1, 0], 1), ([20, 1], 15))
def largest_is_below(numbers: list[int], limit: int) -> bool:
    """Return True if the maximum of numbers is below limit.

    >>> largest_is_below([1, 5], 6)
    True
    >>> largest_is_below([1, 9], 6)
    False
    """
    return max(numbers) < limit


@cases(1, ([100],), ([101],), ([],), ([40, 40, 40],), ([99, 1],), ([200, -50],))
def total_over_hundred(numbers: list[int]) -> bool:
    """Return True if the sum of numbers is above 100.

    >>> total_over_hundred([60, 50])
    True
    >>> total_over_hundred([10, 20])
    False
    """
    return sum(numbers) > 100


@cases(1, (5, 1, 5), (2, 1, 3), (7, 7, 7), (0, 1, 2), (-1, -1, 1), (9, 8, 10))
def is_either_choice(value: int, a: int, b: int) -> bool:
    """Return True if value equals a or b.

    >>> is_either_choice(3, 3, 5)
    True
    >>> is_either_choice(4, 3, 5)
    False
    """
    return value in (a, b)


@cases(1, (1, 1), (0, 5), (7, 10), (-1, -1), (40, 2), (-6, 8))
def are_both_positive(a: int, b: int) -> bool:
    """Return True if a and b are both above zero.

    >>> are_both_positive(2, 3)
    True
    >>> are_both_positive(2, -3)
    False
    """
    return a > 0 and b > 0


@cases(1, (0, 0, 0), (1, 2, 1), (9, 9, 9), (4, 5, 5), (-3, -3, -3), (1, 2, 3))
def are_all_three_equal(a: int, b: int, c: int) -> bool:
    """Return True if a, b and c are all equal.

    >>> are_all_three_equal(2, 2, 2)
    True
    >>> are_all_three_equal(2, 2, 3)
    False
    """
    return a == b == c


@cases(1, ([],), (["x", "y", "z"],), (["x", "y"],), (["p", "q", "r", "s"],), (["", "", ""],), (["one"],))
def has_at_least_three(items: list[str]) -> bool:
    """Return True if items has three or more items.

    >>> has_at_least_three(["a", "b", "c"])
    True
    >>> has_at_least_three(["a"])
    False
    """
    return len(items) >= 3


@cases(1, (16, 4), (4, 16), (1, 1), (2, 2), (25, -5), (10, 5))
def is_square_of(big: int, small: int) -> bool:
    """Return True if big equals small times small.

    >>> is_square_of(9, 3)
    True
    >>> is_square_of(6, 3)
    False
    """
    return big == small * small
