"""First functions that answer yes or no."""

from tasksets.python_functions.cases import cases


@cases(1, (0,), (9,), (-6,), (-3,), (100,), (51,))
def is_even(n: int) -> bool:
    """Return True if n is even.

    >>> is_even(4)
    True
    >>> is_even(7)
    False
    """
    return n % 2 == 0


@cases(1, (0,), (1,), (-7,), (-2,), (33,), (40,))
def is_odd(n: int) -> bool:
    """Return True if n is odd.

    >>> is_odd(5)
    True
    >>> is_odd(8)
    False
    """
    return n % 2 == 1


@cases(1, (0,), (1,), (-1,), (28,), (-40,), (2,))
def is_positive(n: int) -> bool:
    """Return True if n is greater than zero.

    >>> is_positive(5)
    True
    >>> is_positive(-3)
    False
    """
    return n > 0


@cases(1, (0,), (3,), (5,), (-6,), (13,), (30,), (20,))
def is_multiple_of_three(n: int) -> bool:
    """Return True if n is a multiple of three.

    >>> is_multiple_of_three(9)
    True
    >>> is_multiple_of_three(10)
    False
    """
    return n % 3 == 0


@cases(1, (0, 5), (4, 0), (1, 1), (-2, -6), (-1, 8), (10, 7), (3, -4), (0, -2))
def both_positive(a: int, b: int) -> bool:
    """Return True if both a and b are positive.

    >>> both_positive(2, 3)
    True
    >>> both_positive(2, -3)
    False
    """
    return a > 0 and b > 0


@cases(1, (1, 1, 10), (10, 1, 10), (0, 1, 10), (11, 1, 10), (-3, -5, 0), (20, 21, 30), (7, 7, 7))
def is_between(n: int, low: int, high: int) -> bool:
    """Return True if n is from low to high.

    >>> is_between(5, 1, 10)
    True
    >>> is_between(12, 1, 10)
    False
    """
    return low <= n <= high


@cases(1, (3, 4), (7, 9), (0, 6), (10, 10), (-4, 12), (1, 1), (8, 3))
def both_even(a: int, b: int) -> bool:
    """Return True if both a and b are even.

    >>> both_even(2, 8)
    True
    >>> both_even(2, 5)
    False
    """
    return a % 2 == 0 and b % 2 == 0


@cases(1, (5, 0), (0, 0), (1, -1), (7, 1), (0, -2), (-3, 3))
def either_zero(a: int, b: int) -> bool:
    """Return True if a or b is zero.

    >>> either_zero(0, 4)
    True
    >>> either_zero(2, 3)
    False
    """
    return a == 0 or b == 0


@cases(1, (5, -2), (0, 0), (-3, -8), (7, 0), (0, -1), (9, 6), (-5, 2), (-1, 3))
def either_negative(a: int, b: int) -> bool:
    """Return True if a or b is negative.

    >>> either_negative(-1, 4)
    True
    >>> either_negative(2, 3)
    False
    """
    return a < 0 or b < 0


@cases(1, (0,), (2,), (7,), (-3,), (44,), (1,), (10,), (-8,))
def is_positive_even(n: int) -> bool:
    """Return True if n is positive and even.

    >>> is_positive_even(6)
    True
    >>> is_positive_even(-6)
    False
    """
    return n > 0 and n % 2 == 0


@cases(1, (0.0,), (7.25,), (-3.0,), (-1.5,), (0.5,), (10.0,))
def is_whole_number(x: float) -> bool:
    """Return True if x is a whole number.

    >>> is_whole_number(4.0)
    True
    >>> is_whole_number(2.5)
    False
    """
    return x == int(x)


@cases(1, (5, 2, 8), (3, 3, 1), (3, 1, 3), (0, -2, -1), (7, 6, 5), (10, 11, 12), (2, 5, 1))
def is_larger_than_both(n: int, a: int, b: int) -> bool:
    """Return True if n is larger than both a and b.

    >>> is_larger_than_both(9, 4, 6)
    True
    >>> is_larger_than_both(5, 8, 2)
    False
    """
    return n > a and n > b


@cases(1, (5, 4), (3, 3), (-1, 0), (0, -1), (10, 1), (2, -1))
def are_neighbors(a: int, b: int) -> bool:
    """Return True if a and b differ by exactly one.

    >>> are_neighbors(4, 5)
    True
    >>> are_neighbors(4, 6)
    False
    """
    return abs(a - b) == 1


@cases(1, (7, 27), (30, 100), (31, 13), (5, 5), (44, 45), (8, 9), (29, 13))
def same_last_digit(a: int, b: int) -> bool:
    """Return True if a and b have the same last digit.

    >>> same_last_digit(13, 43)
    True
    >>> same_last_digit(12, 15)
    False
    """
    return a % 10 == b % 10


@cases(1, (1, 1, 10), (10, 1, 10), (0, 1, 10), (11, 1, 10), (-6, -5, 5), (0, -5, 5))
def is_outside(n: int, low: int, high: int) -> bool:
    """Return True if n is less than low or greater than high.

    >>> is_outside(12, 1, 10)
    True
    >>> is_outside(5, 1, 10)
    False
    """
    return n < low or n > high


@cases(1, (-5, 5), (6, 6), (2, 1), (0, 0), (-7, 8), (1, -2))
def have_same_absolute_value(a: int, b: int) -> bool:
    """Return True if a and b have the same absolute value.

    >>> have_same_absolute_value(3, -3)
    True
    >>> have_same_absolute_value(3, -4)
    False
    """
    return abs(a) == abs(b)


@cases(1, (3, -4), (-3, -4), (0, -6), (-1, 0), (-1, 1), (6, 7))
def product_is_negative(a: int, b: int) -> bool:
    """Return True if a times b is less than zero.

    >>> product_is_negative(-2, 5)
    True
    >>> product_is_negative(2, 5)
    False
    """
    return a * b < 0


@cases(1, (5, 2, 10), (5, 2, 7), (0, 9, 0), (0, 9, 9), (-2, 3, -6), (6, 6, 35))
def is_product(a: int, b: int, n: int) -> bool:
    """Return True if a times b equals n.

    >>> is_product(3, 4, 12)
    True
    >>> is_product(3, 4, 7)
    False
    """
    return a * b == n


@cases(1, (1, 3, 2), (2, 1, 3), (4, 4, 5), (4, 5, 5), (-3, 0, 8), (10, 20, 21))
def are_increasing(a: int, b: int, c: int) -> bool:
    """Return True if a, b and c are increasing.

    >>> are_increasing(1, 2, 3)
    True
    >>> are_increasing(3, 2, 1)
    False
    """
    return a < b < c


@cases(1, ("",), ("A",), ("cat",), ("doG",), ("two Words",), ("a1 b2",), ("OK",), ("x",))
def has_capital_letter(s: str) -> bool:
    """Return True if s has at least one capital letter.

    >>> has_capital_letter("Hello")
    True
    >>> has_capital_letter("hello")
    False
    """
    return s != s.lower()


@cases(1, ("pizza", "a"), ("dad", "a"), ("noon", "n"), ("bob", "d"), ("tree", "t"), ("sun", "u"), ("x", "x"))
def starts_or_ends_with(s: str, letter: str) -> bool:
    """Return True if s starts or ends with letter.

    >>> starts_or_ends_with("apple", "a")
    True
    >>> starts_or_ends_with("apple", "p")
    False
    """
    return s.startswith(letter) or s.endswith(letter)


@cases(
    1,
    ("o", "cat", "dog"),
    ("un", "sun", "run"),
    ("z", "zoo", "tea"),
    ("e", "milk", "pan"),
    ("ee", "red", "tree"),
    ("th", "hat", "top"),
)
def is_in_either(part: str, a: str, b: str) -> bool:
    """Return True if part is in a or in b.

    >>> is_in_either("a", "cat", "dog")
    True
    >>> is_in_either("x", "cat", "dog")
    False
    """
    return part in a or part in b


@cases(1, ("oops",), ("pool",), ("aba",), ("eel",), ("noon",), ("llama",), ("tt",), ("up",))
def first_two_letters_equal(s: str) -> bool:
    """Return True if the first two letters of s are equal.

    >>> first_two_letters_equal("aardvark")
    True
    >>> first_two_letters_equal("apple")
    False
    """
    return s[0] == s[1]


@cases(
    1,
    ("dog", "o", "g"),
    ("dog", "g", "o"),
    ("python", "p", "y"),
    ("table", "e", "b"),
    ("house", "h", "s"),
    ("sun", "n", "s"),
)
def letter_comes_before(s: str, a: str, b: str) -> bool:
    """Return True if letter a comes before letter b in s.

    >>> letter_comes_before("cat", "c", "t")
    True
    >>> letter_comes_before("cat", "t", "c")
    False
    """
    return s.index(a) < s.index(b)


@cases(
    1, ("level", "l"), ("pizza", "a"), ("dad", "a"), ("noon", "n"), ("bob", "d"), ("x", "x"), ("pizza", "p")
)
def starts_and_ends_with(s: str, letter: str) -> bool:
    """Return True if s starts and ends with letter.

    >>> starts_and_ends_with("anna", "a")
    True
    >>> starts_and_ends_with("apple", "a")
    False
    """
    return s.startswith(letter) and s.endswith(letter)


@cases(1, ("",), ("ab",), ("cat",), ("bubble",), ("abba",), ("baa",), ("tub",), ("aaabb",))
def has_more_a_than_b(s: str) -> bool:
    """Return True if s has more "a" than "b".

    >>> has_more_a_than_b("banana")
    True
    >>> has_more_a_than_b("bob")
    False
    """
    return s.count("a") > s.count("b")


@cases(
    1, ("cat", "DOG"), ("OK", "GO"), ("A", "B"), ("Cat", "Dog"), ("X", "Yes"), ("TEA", "BUS"), ("sun", "sea")
)
def both_upper_case(a: str, b: str) -> bool:
    """Return True if both a and b are upper case.

    >>> both_upper_case("CAT", "DOG")
    True
    >>> both_upper_case("CAT", "dog")
    False
    """
    return a.isupper() and b.isupper()


@cases(1, ("dog ",), ("big dog",), (" a ",), ("",), ("hello you",), ("  two words",))
def has_outer_spaces(s: str) -> bool:
    """Return True if s starts or ends with a space.

    >>> has_outer_spaces(" cat")
    True
    >>> has_outer_spaces("cat")
    False
    """
    return s != s.strip()


@cases(
    1,
    ("bye", "bye"),
    ("byebye", "bye"),
    ("aa", "a"),
    ("aaa", "a"),
    ("tom tom", "tom"),
    ("choochoo", "choo"),
    ("", ""),
)
def is_word_twice(s: str, word: str) -> bool:
    """Return True if s is word written twice.

    >>> is_word_twice("haha", "ha")
    True
    >>> is_word_twice("hat", "ha")
    False
    """
    return s == word * 2


@cases(1, ("dog", "cow"), ("", "a"), ("a", ""), ("zoo", "apple"), ("banana", "kiwi"), ("to", "two"))
def is_shorter(a: str, b: str) -> bool:
    """Return True if a is shorter than b.

    >>> is_shorter("cat", "house")
    True
    >>> is_shorter("house", "cat")
    False
    """
    return len(a) < len(b)


@cases(
    1,
    ("moon", "noon", "o"),
    ("moon", "noon", "n"),
    ("tree", "see", "e"),
    ("dog", "dot", "g"),
    ("tea", "sun", "x"),
    ("all", "ball", "b"),
)
def same_letter_count(a: str, b: str, letter: str) -> bool:
    """Return True if a and b have letter equally often.

    >>> same_letter_count("cat", "hat", "a")
    True
    >>> same_letter_count("banana", "hat", "a")
    False
    """
    return a.count(letter) == b.count(letter)


@cases(1, ("2024", 24), ("2024", 42), ("abc", 0), ("a10b", 10), ("a1b0", 10), ("5 apples", 5))
def contains_number(s: str, n: int) -> bool:
    """Return True if the digits of n are in s.

    >>> contains_number("room 7", 7)
    True
    >>> contains_number("room 7", 8)
    False
    """
    return str(n) in s


@cases(
    1,
    ("tree", "dog", "apple"),
    ("tree", "apple", "dog"),
    ("banana", "kiwi", "pear"),
    ("sun", "sea", "a"),
    ("sun", "a", "sea"),
    ("abc", "", "zz"),
)
def is_longer_than_both(s: str, a: str, b: str) -> bool:
    """Return True if s is longer than both a and b.

    >>> is_longer_than_both("house", "cat", "dog")
    True
    >>> is_longer_than_both("cat", "house", "dog")
    False
    """
    return len(s) > len(a) and len(s) > len(b)


@cases(1, ("dog", "x"), ("hello", "l"), ("hello", "h"), ("moon", "n"), ("zoo", "o"), ("tree", "t"))
def letter_appears_once(s: str, letter: str) -> bool:
    """Return True if letter appears exactly once in s.

    >>> letter_appears_once("cat", "a")
    True
    >>> letter_appears_once("banana", "a")
    False
    """
    return s.count(letter) == 1


@cases(1, ("good morning",), ("how are you",), ("",), ("my cat",), ("a b c d",), ("big dog",))
def has_two_words(s: str) -> bool:
    """Return True if s has exactly two words.

    >>> has_two_words("hello world")
    True
    >>> has_two_words("hello")
    False
    """
    return len(s.split()) == 2


@cases(
    1,
    ("sunny", "sun"),
    ("sun", "run"),
    ("go", "go"),
    ("fish", "catfish"),
    ("tea", "teapot"),
    ("pot", "teapot"),
)
def one_starts_with_other(a: str, b: str) -> bool:
    """Return True if a starts with b or b with a.

    >>> one_starts_with_other("cat", "catfish")
    True
    >>> one_starts_with_other("cat", "dog")
    False
    """
    return a.startswith(b) or b.startswith(a)


@cases(1, ("moon",), ("sun",), ("abca",), ("python",), ("aa",), ("z",))
def has_unique_letters(s: str) -> bool:
    """Return True if all letters in s are different.

    >>> has_unique_letters("cat")
    True
    >>> has_unique_letters("hello")
    False
    """
    return len(set(s)) == len(s)


@cases(1, ("z",), ("abc",), ("tt",), ("abba",), ("oooo",), ("xyx",))
def all_letters_same(s: str) -> bool:
    """Return True if all letters in s are the same.

    >>> all_letters_same("aaa")
    True
    >>> all_letters_same("aab")
    False
    """
    return len(set(s)) == 1


@cases(1, ([5, 6], []), ([], []), ([0], [0]), ([7, 8], [7]), ([], [9]), ([1, 2], [3, 4, 5]))
def either_list_empty(a: list[int], b: list[int]) -> bool:
    """Return True if list a or list b is empty.

    >>> either_list_empty([], [1, 2])
    True
    >>> either_list_empty([3], [4])
    False
    """
    return len(a) == 0 or len(b) == 0


@cases(1, ([], 0), ([5], 5), ([6, 1], 5), ([9, 10], 4), ([-3, -1], -2), ([7, 2], 20))
def any_above(numbers: list[int], limit: int) -> bool:
    """Return True if any number is above limit.

    >>> any_above([1, 8, 3], 5)
    True
    >>> any_above([1, 2, 3], 5)
    False
    """
    return any(n > limit for n in numbers)


@cases(1, ([],), ([7],), ([4],), ([9, 11],), ([0, 8],), ([13, 2, 1],), ([10, 12, 5],))
def any_odd(numbers: list[int]) -> bool:
    """Return True if any number is odd.

    >>> any_odd([2, 3, 4])
    True
    >>> any_odd([2, 4, 6])
    False
    """
    return any(n % 2 == 1 for n in numbers)


@cases(1, ([1, 9], 1, 9), ([0, 4], 1, 9), ([2, 10], 1, 9), ([-2, 0], -5, 5), ([7], 7, 7), ([20, 4], 5, 10))
def all_between(numbers: list[int], low: int, high: int) -> bool:
    """Return True if all numbers are from low to high.

    >>> all_between([3, 5], 1, 9)
    True
    >>> all_between([3, 12], 1, 9)
    False
    """
    return all(low <= n <= high for n in numbers)


@cases(1, ([], []), ([1], []), ([5, 5, 5], [1, 2, 3]), ([1, 2], [1, 2, 0]), ([9], [8]), ([3], [1, 2]))
def same_list_length(a: list[int], b: list[int]) -> bool:
    """Return True if a and b have the same number of items.

    >>> same_list_length([1, 2], [3, 4])
    True
    >>> same_list_length([1, 2], [3])
    False
    """
    return len(a) == len(b)


@cases(1, ([],), ([-1],), ([3, -3],), ([-4, 1, 2],), ([10, -9],), ([-2, 8],), ([6, -7],))
def sum_is_negative(numbers: list[int]) -> bool:
    """Return True if the sum of numbers is negative.

    >>> sum_is_negative([-5, 2])
    True
    >>> sum_is_negative([5, -2])
    False
    """
    return sum(numbers) < 0


@cases(1, ([4],), ([6, 6],), ([8, 9, 7],), ([2, 1, 5],), ([0, -1],), ([3, 2, 3],), ([10, 0, 9],))
def first_greater_than_last(numbers: list[int]) -> bool:
    """Return True if the first number is greater than the last.

    >>> first_greater_than_last([5, 1, 2])
    True
    >>> first_greater_than_last([1, 9, 3])
    False
    """
    return numbers[0] > numbers[-1]


@cases(1, ([], 1, 2), ([5, 6], 7, 5), ([5, 6], 5, 7), ([5, 6], 6, 5), ([0], 1, 2), ([3, 3, 8], 4, 9))
def contains_neither(items: list[int], a: int, b: int) -> bool:
    """Return True if neither a nor b is in items.

    >>> contains_neither([1, 2], 3, 4)
    True
    >>> contains_neither([1, 2], 1, 4)
    False
    """
    return a not in items and b not in items


@cases(1, ([],), ([""],), (["cat", "dog", ""],), (["hello"],), (["", "x"],), ([" ", "y"],))
def has_empty_string(words: list[str]) -> bool:
    """Return True if any of the words is an empty string.

    >>> has_empty_string(["a", "", "b"])
    True
    >>> has_empty_string(["a", "b"])
    False
    """
    return "" in words


@cases(
    1,
    ([True],),
    ([False],),
    ([],),
    ([True, False],),
    ([True, True],),
    ([False, False, False],),
    ([False, False, True],),
)
def none_true(flags: list[bool]) -> bool:
    """Return True if none of the flags is true.

    >>> none_true([False, False])
    True
    >>> none_true([False, True])
    False
    """
    return not any(flags)


@cases(
    1,
    (["a"],),
    (["B"],),
    (["Red", "blue"],),
    (["one", "two", "three"],),
    (["SUN", "SEA"],),
    (["tea", "egg"],),
)
def all_lower_words(words: list[str]) -> bool:
    """Return True if all words are in lower case.

    >>> all_lower_words(["cat", "dog"])
    True
    >>> all_lower_words(["cat", "Dog"])
    False
    """
    return all(word.islower() for word in words)


@cases(1, ([], 0), ([4, 4], 8), ([4, 4], 4), ([-1, 1], 0), ([10], 1), ([5, 6], 12))
def sum_equals(numbers: list[int], total: int) -> bool:
    """Return True if the sum of numbers equals total.

    >>> sum_equals([1, 2, 3], 6)
    True
    >>> sum_equals([1, 2, 3], 5)
    False
    """
    return sum(numbers) == total


@cases(1, ([4], 4), ([9, 2], 9), ([9, 2], 2), ([2, 8], 8), ([2, 8], 10), ([-3, -1], -1), ([1, 2, 3], 1))
def is_maximum(numbers: list[int], n: int) -> bool:
    """Return True if n is the largest of numbers.

    >>> is_maximum([1, 5, 3], 5)
    True
    >>> is_maximum([1, 5, 3], 3)
    False
    """
    return n == max(numbers)


@cases(1, ([], 3), ([5, 5, 5], 5), ([4, 4], 4), ([4, 4], 5), ([7, 8, 9], 9), ([0, 3, 0], 0))
def appears_more_than_once(items: list[int], item: int) -> bool:
    """Return True if item appears in items more than once.

    >>> appears_more_than_once([1, 2, 1], 1)
    True
    >>> appears_more_than_once([1, 2, 1], 2)
    False
    """
    return items.count(item) > 1


@cases(
    1,
    ([4], [4]),
    ([3, 7, 1], [6, 6, 6]),
    ([8, 0], [1, 9]),
    ([-1], [-2, -3]),
    ([2, 3], [3, 1]),
    ([10], [9, 9]),
)
def has_larger_maximum(a: list[int], b: list[int]) -> bool:
    """Return True if the maximum of a is above that of b.

    >>> has_larger_maximum([1, 9], [5, 2])
    True
    >>> has_larger_maximum([1, 2], [5, 2])
    False
    """
    return max(a) > max(b)


@cases(1, ([5], 5), ([1, 9], 4), ([1, 9], 5), ([3, 3, 6], 3), ([10, 0], 7), ([2, 2, 2], 1))
def is_average_above(numbers: list[int], limit: int) -> bool:
    """Return True if the average of numbers is above limit.

    >>> is_average_above([4, 8], 5)
    True
    >>> is_average_above([2, 4], 5)
    False
    """
    return sum(numbers) / len(numbers) > limit


@cases(
    1,
    ([7, 8], 0, 7),
    ([7, 8], 0, 8),
    ([1, 2, 3], 2, 3),
    ([1, 2, 3], 2, 2),
    ([9, 9, 0], 1, 9),
    ([3, 1, 0], 0, 0),
)
def is_item_at(items: list[int], index: int, item: int) -> bool:
    """Return True if the item at index equals item.

    >>> is_item_at([4, 5, 6], 1, 5)
    True
    >>> is_item_at([4, 5, 6], 1, 4)
    False
    """
    return items[index] == item


@cases(
    1,
    (["dog"], 3),
    (["dog"], 2),
    (["a", "house"], 2),
    (["house", "a"], 2),
    (["one", "three", "four"], 2),
    (["hello", "world"], 4),
)
def all_longer_than(words: list[str], n: int) -> bool:
    """Return True if all words have more than n letters.

    >>> all_longer_than(["apple", "tree"], 3)
    True
    >>> all_longer_than(["apple", "cat"], 3)
    False
    """
    return all(len(word) > n for word in words)


@cases(
    1,
    ([], "a"),
    (["apple"], "a"),
    (["sun", "moon"], "n"),
    (["egg", "tea", "egg"], "t"),
    (["bus", "car"], "b"),
    (["red", "blue"], "d"),
)
def any_starts_with(words: list[str], letter: str) -> bool:
    """Return True if any of the words starts with letter.

    >>> any_starts_with(["cat", "dog"], "d")
    True
    >>> any_starts_with(["cat", "dog"], "t")
    False
    """
    return any(word.startswith(letter) for word in words)


@cases(
    1,
    ({"x": 0}, ["x"]),
    ({"x": 5}, ["y"]),
    ({}, ["k"]),
    ({"p": 1, "q": 2, "r": 3}, ["r", "p"]),
    ({"p": 1, "q": 2}, ["s", "q"]),
    ({"m": 4}, []),
)
def has_all_keys(d: dict[str, int], keys: list[str]) -> bool:
    """Return True if all keys are in d.

    >>> has_all_keys({"a": 1, "b": 2}, ["a", "b"])
    True
    >>> has_all_keys({"a": 1}, ["a", "b"])
    False
    """
    return all(key in d for key in keys)


@cases(
    1,
    ({}, "a", "b"),
    ({"y": 3}, "x", "y"),
    ({"a": 0, "b": 0}, "b", "a"),
    ({"a": 1, "c": 2, "d": 3}, "a", "d"),
    ({"k": 5}, "m", "n"),
    ({"m": 0, "k": 5}, "k", "m"),
    ({"k": 1}, "k", "m"),
)
def has_both_keys(d: dict[str, int], a: str, b: str) -> bool:
    """Return True if both a and b are keys of d.

    >>> has_both_keys({"x": 1, "y": 2}, "x", "y")
    True
    >>> has_both_keys({"x": 1}, "x", "y")
    False
    """
    return a in d and b in d


@cases(
    1,
    ({}, "x"),
    ({"x": 0}, "x"),
    ({"cat": 2, "dog": 3}, "cow"),
    ({"cat": 2, "dog": 3}, "dog"),
    ({"k": 5}, "m"),
    ({"k": 5, "m": 6}, "k"),
)
def is_missing_key(d: dict[str, int], key: str) -> bool:
    """Return True if key is not in d.

    >>> is_missing_key({"a": 1}, "b")
    True
    >>> is_missing_key({"a": 1}, "a")
    False
    """
    return key not in d


@cases(
    1,
    ({}, "a", "b"),
    ({"y": 3}, "x", "y"),
    ({"a": 0, "b": 0}, "b", "a"),
    ({"cat": 1}, "c", "a"),
    ({"k": 0}, "k", "n"),
    ({"k": 5}, "m", "n"),
)
def has_either_key(d: dict[str, int], a: str, b: str) -> bool:
    """Return True if a or b is a key of d.

    >>> has_either_key({"x": 1}, "x", "y")
    True
    >>> has_either_key({"x": 1}, "y", "z")
    False
    """
    return a in d or b in d


@cases(
    1,
    ({"x": 0}, "x", 0),
    ({"x": 5}, "x", 0),
    ({"cat": 3, "dog": 4}, "dog", 4),
    ({"cat": 3, "dog": 4}, "dog", 3),
    ({"k": -1}, "k", -1),
    ({"k": 7}, "k", 8),
)
def key_has_value(d: dict[str, int], key: str, value: int) -> bool:
    """Return True if the value of key in d equals value.

    >>> key_has_value({"a": 1}, "a", 1)
    True
    >>> key_has_value({"a": 1, "b": 2}, "a", 2)
    False
    """
    return d[key] == value


@cases(
    1,
    ({"x": 5}, 5),
    ({"x": 4}, 5),
    ({"p": 9, "q": 1}, 5),
    ({"p": -1, "q": 0}, 1),
    ({"m": 7, "n": 7}, 10),
    ({"m": 3, "n": 4, "o": 6}, 6),
)
def all_values_below(d: dict[str, int], limit: int) -> bool:
    """Return True if all values of d are below limit.

    >>> all_values_below({"a": 1, "b": 2}, 5)
    True
    >>> all_values_below({"a": 1, "b": 8}, 5)
    False
    """
    return all(v < limit for v in d.values())


@cases(
    1,
    ({}, {}),
    ({"a": 1, "b": 2}, {"c": 3, "d": 4}),
    ({"a": 1, "b": 2}, {"a": 1}),
    ({"k": 1}, {"k": 1, "m": 1}),
    ({"k": 5}, {"n": 0}),
    ({}, {"p": 1}),
)
def same_dict_size(a: dict[str, int], b: dict[str, int]) -> bool:
    """Return True if a and b have the same number of keys.

    >>> same_dict_size({"x": 1}, {"y": 2})
    True
    >>> same_dict_size({"x": 1}, {})
    False
    """
    return len(a) == len(b)


@cases(
    1,
    ({},),
    ({"x": 0},),
    ({"x": -1},),
    ({"x": -3, "y": 4},),
    ({"p": 5, "q": 0, "r": 9},),
    ({"p": -5, "q": -6},),
)
def any_value_negative(d: dict[str, int]) -> bool:
    """Return True if any value of d is negative.

    >>> any_value_negative({"a": 1, "b": -2})
    True
    >>> any_value_negative({"a": 1, "b": 2})
    False
    """
    return any(v < 0 for v in d.values())


@cases(
    1,
    ({"x": 0},),
    ({"x": 8},),
    ({"x": -3, "y": 4},),
    ({"p": 5, "q": 0, "r": 9},),
    ({"p": 5, "q": 6},),
    ({"m": 1, "n": 7, "o": 3},),
)
def all_values_positive(d: dict[str, int]) -> bool:
    """Return True if all values of d are positive.

    >>> all_values_positive({"a": 1, "b": 2})
    True
    >>> all_values_positive({"a": 1, "b": -2})
    False
    """
    return all(v > 0 for v in d.values())


@cases(
    1,
    ({}, 0),
    ({"x": 5}, 0),
    ({"x": 5}, 1),
    ({"x": 1, "y": 1, "z": 1}, 2),
    ({"x": 9, "y": 9}, 2),
    ({"k": 0, "m": 0}, 1),
    ({"x": 1}, 3),
)
def has_more_keys_than(d: dict[str, int], n: int) -> bool:
    """Return True if d has more than n keys.

    >>> has_more_keys_than({"a": 1, "b": 2}, 1)
    True
    >>> has_more_keys_than({"a": 1}, 3)
    False
    """
    return len(d) > n


@cases(
    1,
    ({}, 0),
    ({"x": 4, "y": 6}, 10),
    ({"x": 4, "y": 6}, 9),
    ({"p": 20}, 15),
    ({"p": 8, "q": -8}, 1),
    ({"m": 1, "n": 2, "o": 3}, 5),
)
def total_value_exceeds(d: dict[str, int], limit: int) -> bool:
    """Return True if the sum of the values exceeds limit.

    >>> total_value_exceeds({"a": 5, "b": 6}, 10)
    True
    >>> total_value_exceeds({"a": 1, "b": 2}, 10)
    False
    """
    return sum(d.values()) > limit


@cases(
    1,
    ({"x": 0}, "x"),
    ({"x": 1, "y": 2}, "x"),
    ({"x": 1, "y": 2}, "y"),
    ({"cat": 7}, "cat"),
    ({"cat": 8, "dog": 9}, "cat"),
    ({"cat": 8, "dog": 9}, "dog"),
    ({"a": 6}, "a"),
)
def is_value_even(d: dict[str, int], key: str) -> bool:
    """Return True if the value of key is even.

    >>> is_value_even({"a": 4}, "a")
    True
    >>> is_value_even({"a": 3}, "a")
    False
    """
    return d[key] % 2 == 0


@cases(
    1,
    ({"Eva": 5, "Tom": 5}, "Eva", "Tom"),
    ({"Eva": 1, "Tom": 2}, "Tom", "Eva"),
    ({"Eva": 1, "Tom": 2}, "Eva", "Tom"),
    ({"Max": 0, "Lea": -1}, "Max", "Lea"),
    ({"Max": 3, "Lea": 8, "Kim": 6}, "Kim", "Max"),
    ({"Max": 3, "Lea": 8, "Kim": 6}, "Kim", "Lea"),
)
def has_higher_score(scores: dict[str, int], a: str, b: str) -> bool:
    """Return True if the score of a is higher than of b.

    >>> has_higher_score({"Ann": 9, "Bob": 7}, "Ann", "Bob")
    True
    >>> has_higher_score({"Ann": 9, "Bob": 7}, "Bob", "Ann")
    False
    """
    return scores[a] > scores[b]


@cases(
    1,
    ({"Eva": 0, "Tom": 0}, "Tom", "Eva"),
    ({"Eva": 1, "Tom": 2}, "Tom", "Eva"),
    ({"Eva": 1, "Tom": 2}, "Eva", "Tom"),
    ({"Max": 3, "Lea": 8, "Kim": 3}, "Kim", "Max"),
    ({"Max": 3, "Lea": 8, "Kim": 3}, "Lea", "Kim"),
    ({"Max": 6, "Kim": 6}, "Max", "Kim"),
)
def have_equal_scores(scores: dict[str, int], a: str, b: str) -> bool:
    """Return True if a and b have the same score.

    >>> have_equal_scores({"Ann": 7, "Bob": 7}, "Ann", "Bob")
    True
    >>> have_equal_scores({"Ann": 9, "Bob": 7}, "Ann", "Bob")
    False
    """
    return scores[a] == scores[b]


@cases(
    1,
    ({"pen": 0}, "pen"),
    ({"pen": 1, "cup": 0}, "pen"),
    ({"pen": 1, "cup": 0}, "cup"),
    ({}, "milk"),
    ({"milk": 12, "tea": 4}, "tea"),
    ({"milk": 12}, "milk"),
)
def is_in_stock(stock: dict[str, int], item: str) -> bool:
    """Return True if the stock of item is above zero.

    >>> is_in_stock({"apple": 3}, "apple")
    True
    >>> is_in_stock({"apple": 3}, "pear")
    False
    """
    return stock.get(item, 0) > 0


@cases(
    1,
    ({"tea": 2}, "tea", 2),
    ({"tea": 2}, "tea", 1),
    ({"pen": 3, "book": 10}, "book", 9),
    ({"pen": 3, "book": 10}, "pen", 9),
    ({"car": 100}, "car", 0),
    ({"egg": 0}, "egg", 0),
)
def can_afford(prices: dict[str, int], item: str, money: int) -> bool:
    """Return True if money is enough for the price of item.

    >>> can_afford({"cake": 5}, "cake", 8)
    True
    >>> can_afford({"cake": 5}, "cake", 3)
    False
    """
    return money >= prices[item]


@cases(
    1,
    ({"Eva": 0}, "Eva"),
    ({"Eva": 1, "Tom": 2}, "Tom"),
    ({"Eva": 1, "Tom": 2}, "Eva"),
    ({"Max": 3, "Lea": 8, "Kim": 6}, "Kim"),
    ({"Max": 3, "Lea": 8, "Kim": 6}, "Lea"),
    ({"Max": 4, "Lea": 5}, "Max"),
)
def has_best_score(scores: dict[str, int], name: str) -> bool:
    """Return True if name has the highest score.

    >>> has_best_score({"Ann": 9, "Bob": 7}, "Ann")
    True
    >>> has_best_score({"Ann": 9, "Bob": 7}, "Bob")
    False
    """
    return scores[name] == max(scores.values())


@cases(
    1,
    ({"x": 5},),
    ({"x": 0, "y": 0},),
    ({"x": 3, "y": 4, "z": 3},),
    ({"p": 7, "q": 8, "r": 9},),
    ({"p": 2, "q": 1},),
    ({"m": 6, "n": 6, "o": 6},),
)
def has_unique_values(d: dict[str, int]) -> bool:
    """Return True if all values of d are different.

    >>> has_unique_values({"a": 1, "b": 2})
    True
    >>> has_unique_values({"a": 1, "b": 1})
    False
    """
    return len(set(d.values())) == len(d)
