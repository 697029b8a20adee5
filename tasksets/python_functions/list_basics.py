"""Easy list tasks: one index, slice, built-in function or simple comprehension."""

from tasksets.python_functions.cases import cases


@cases(1, ([5, 6],), ([0],), ([9, 8, 7],), ([-1, 4],), ([2, 2, 3],))
def first_in_list(items: list[int]) -> int:
    """Return the first item of items.

    >>> first_in_list([3, 1, 2])
    3
    >>> first_in_list([7])
    7
    """
    return items[0]


@cases(1, ([5, 6],), ([0],), ([9, 8, 4],), ([4, -1],), ([2, 2, 3],))
def last_in_list(items: list[int]) -> int:
    """Return the last item of items.

    >>> last_in_list([3, 1, 2])
    2
    >>> last_in_list([7])
    7
    """
    return items[-1]


@cases(
    1, (["red", "blue"],), (["one", "two", "three"],), (["p", "p"],), (["cat", "dog", "fish"],), (["m", ""],)
)
def second_in_list(items: list[str]) -> str:
    """Return the second item of items.

    >>> second_in_list(["a", "b", "c"])
    'b'
    >>> second_in_list(["x", "y"])
    'y'
    """
    return items[1]


@cases(1, ([5, 6],), ([4, 3, 2, 1],), ([0, 0],), ([7, -1, 3],), ([10, 20, 30, 40],))
def one_before_last(items: list[int]) -> int:
    """Return the item just before the last one in items.

    >>> one_before_last([1, 2, 3])
    2
    >>> one_before_last([8, 9])
    8
    """
    return items[-2]


@cases(
    1, (["red", "blue"], 0), (["a", "b", "c"], 2), (["one", "two", "three"], 1), (["z", "y"], 1), (["m"], 0)
)
def item_at_index(items: list[str], index: int) -> str:
    """Return the item of items at index.

    >>> item_at_index(["a", "b"], 1)
    'b'
    >>> item_at_index(["x"], 0)
    'x'
    """
    return items[index]


@cases(
    1,
    (["x"],),
    (["a", "b", "c"],),
    (["p", "p", "p", "p"],),
    (["", ""],),
    (["red", "blue", "green", "pink", "gray"],),
)
def number_of_items(items: list[str]) -> int:
    """Return how many items there are in items.

    >>> number_of_items(["a", "b"])
    2
    >>> number_of_items([])
    0
    """
    return len(items)


@cases(1, ([5],), ([10, 20],), ([0, 0],), ([4, 4, 4],), ([7, -2],))
def add_up_prices(prices: list[int]) -> int:
    """Return the sum of prices.

    >>> add_up_prices([1, 2, 3])
    6
    >>> add_up_prices([])
    0
    """
    return sum(prices)


@cases(1, ([1, 2],), ([8, 3, 8],), ([-4, -2],), ([0],), ([10, 30, 20],))
def highest_score(scores: list[int]) -> int:
    """Return the largest number in scores.

    >>> highest_score([3, 9, 4])
    9
    >>> highest_score([5])
    5
    """
    return max(scores)


@cases(1, ([1, 2],), ([8, 3, 8],), ([-4, -2],), ([0],), ([30, 10, 20],))
def lowest_price(prices: list[int]) -> int:
    """Return the smallest number in prices.

    >>> lowest_price([3, 9, 4])
    3
    >>> lowest_price([5])
    5
    """
    return min(prices)


@cases(1, ([9, 8, 7],), ([],), ([4, 4, 1],), ([10, 30, 20],), ([6],))
def sort_ages(ages: list[int]) -> list[int]:
    """Return ages sorted from small to large.

    >>> sort_ages([3, 1, 2])
    [1, 2, 3]
    >>> sort_ages([7, 5])
    [5, 7]
    """
    return sorted(ages)


@cases(1, (["c", "a", "b"],), ([],), (["Tom", "Max", "Kim"],), (["x", "x", "a"],), (["sun", "moon"],))
def names_in_order(names: list[str]) -> list[str]:
    """Return names sorted in alphabetical order.

    >>> names_in_order(["Bob", "Ann"])
    ['Ann', 'Bob']
    >>> names_in_order(["Eve"])
    ['Eve']
    """
    return sorted(names)


@cases(1, ([5, 6],), ([0],), ([9, 8, 7, 6],), ([4, -1, 3],), ([2, 2],))
def all_but_first(items: list[int]) -> list[int]:
    """Return items without the first item.

    >>> all_but_first([1, 2, 3])
    [2, 3]
    >>> all_but_first([7])
    []
    """
    return items[1:]


@cases(1, ([5, 6],), ([0],), ([9, 8, 7, 6],), ([4, -1, 3],), ([2, 2],))
def all_but_last(items: list[int]) -> list[int]:
    """Return items without the last item.

    >>> all_but_last([1, 2, 3])
    [1, 2]
    >>> all_but_last([7])
    []
    """
    return items[:-1]


@cases(
    1,
    (["p", "q"],),
    ([],),
    (["red", "blue", "green"],),
    (["one", "two", "three", "four"],),
    (["m", "m", "n"],),
)
def first_two_items(items: list[str]) -> list[str]:
    """Return a list of the first two items of items.

    >>> first_two_items(["a", "b", "c"])
    ['a', 'b']
    >>> first_two_items(["x"])
    ['x']
    """
    return items[:2]


@cases(1, ([7, 8, 9],), ([],), ([5, 4, 3, 2, 1],), ([0],), ([10, 20, 30, 40],))
def last_three_items(items: list[int]) -> list[int]:
    """Return a list of the last three items of items.

    >>> last_three_items([1, 2, 3, 4])
    [2, 3, 4]
    >>> last_three_items([5, 6])
    [5, 6]
    """
    return items[-3:]


@cases(1, ([9, 8, 7], 2), ([6], 1), ([3, 3, 4, 4], 2), ([10, 20], 1), ([5, 6, 7, 8], 3))
def items_from_index(items: list[int], start: int) -> list[int]:
    """Return the items from index start to the end.

    >>> items_from_index([1, 2, 3], 1)
    [2, 3]
    >>> items_from_index([4, 5], 0)
    [4, 5]
    """
    return items[start:]


@cases(1, ([9, 8, 7], 1), ([6], 1), ([3, 3, 4, 4], 3), ([10, 20], 2), ([5, 6, 7, 8], 2))
def items_before_index(items: list[int], end: int) -> list[int]:
    """Return the items that come before index end.

    >>> items_before_index([1, 2, 3], 2)
    [1, 2]
    >>> items_before_index([4, 5], 0)
    []
    """
    return items[:end]


@cases(1, ([7, 8, 9],), ([],), ([1, 2, 3, 4, 5, 6, 7],), ([0, 0, 0, 3],), ([9, 8, 7, 6, 5],))
def every_third_item(items: list[int]) -> list[int]:
    """Return every third item of items, starting with the first.

    >>> every_third_item([1, 2, 3, 4])
    [1, 4]
    >>> every_third_item([5])
    [5]
    """
    return items[::3]


@cases(
    1,
    (["p", "q"],),
    ([],),
    (["a", "b", "c", "d"],),
    (["one", "two", "three", "four", "five"],),
    (["m", "n", "o", "m", "p", "o"],),
)
def items_at_odd_indexes(items: list[str]) -> list[str]:
    """Return the items at indexes 1, 3, 5 and so on.

    >>> items_at_odd_indexes(["a", "b", "c"])
    ['b']
    >>> items_at_odd_indexes(["x"])
    []
    """
    return items[1::2]


@cases(1, ([4], 4), ([], 0), ([9, 8], 7), ([0, 0], 1), ([1, 2, 3], -4))
def with_item_at_end(items: list[int], item: int) -> list[int]:
    """Return items with item added at the end.

    >>> with_item_at_end([1, 2], 3)
    [1, 2, 3]
    >>> with_item_at_end([], 5)
    [5]
    """
    return [*items, item]


@cases(1, (["p", "q"], ["r"]), ([], []), (["one"], []), (["red"], ["blue", "red"]), (["m"], ["m"]))
def join_two_lists(left: list[str], right: list[str]) -> list[str]:
    """Return one list with left followed by right.

    >>> join_two_lists(["a"], ["b"])
    ['a', 'b']
    >>> join_two_lists([], ["x"])
    ['x']
    """
    return left + right


@cases(1, (0, 0), (3, 1), (-1, 4), (10, 20), (7, -7))
def pair_as_list(a: int, b: int) -> list[int]:
    """Return a list that contains a and b.

    >>> pair_as_list(1, 2)
    [1, 2]
    >>> pair_as_list(5, 5)
    [5, 5]
    """
    return [a, b]


@cases(1, ([3, 4, 5],), ([],), ([0, 7],), ([-1, 10],), ([6, 6],))
def double_each_number(numbers: list[int]) -> list[int]:
    """Return a list with each of numbers times two.

    >>> double_each_number([1, 2])
    [2, 4]
    >>> double_each_number([5])
    [10]
    """
    return [x * 2 for x in numbers]


@cases(1, ([3, 4, 5],), ([],), ([0, 7],), ([-1, 10],), ([6, 6],))
def one_less_each(numbers: list[int]) -> list[int]:
    """Return a list with each of numbers minus one.

    >>> one_less_each([1, 2])
    [0, 1]
    >>> one_less_each([5])
    [4]
    """
    return [x - 1 for x in numbers]


@cases(1, ([3, 4, 6],), ([],), ([0, 7],), ([-1, 10],), ([8, -8],))
def square_each_number(numbers: list[int]) -> list[int]:
    """Return a list with the square of each of numbers.

    >>> square_each_number([1, 2])
    [1, 4]
    >>> square_each_number([5])
    [25]
    """
    return [x * x for x in numbers]


@cases(1, ([3, 4],), ([],), ([-7],), ([10, -10, 6],), ([-1, -2, -3],))
def flip_each_sign(numbers: list[int]) -> list[int]:
    """Return a list with the sign of each of numbers flipped.

    >>> flip_each_sign([1, -2])
    [-1, 2]
    >>> flip_each_sign([5])
    [-5]
    """
    return [-x for x in numbers]


@cases(1, ([4, 5],), ([0],), ([-1, -2, 6],), ([0, 7, -7],), ([9, 0, 9],))
def only_positive_numbers(numbers: list[int]) -> list[int]:
    """Return a list of those numbers that are above zero.

    >>> only_positive_numbers([1, -2, 3])
    [1, 3]
    >>> only_positive_numbers([-5])
    []
    """
    return [x for x in numbers if x > 0]


@cases(1, ([10],), ([9, 10, 11],), ([1, 2, 3],), ([50, 4, 60],), ([-3, 100],))
def only_small_numbers(numbers: list[int]) -> list[int]:
    """Return a list of those numbers that are below 10.

    >>> only_small_numbers([5, 15])
    [5]
    >>> only_small_numbers([20])
    []
    """
    return [x for x in numbers if x < 10]


@cases(1, (["cat", "dog"],), ([],), (["Red"],), (["one", "TWO"],), (["x", "y", "z"],))
def shout_each_word(words: list[str]) -> list[str]:
    """Return a list with each of words in upper case.

    >>> shout_each_word(["a", "b"])
    ['A', 'B']
    >>> shout_each_word(["Hi"])
    ['HI']
    """
    return [w.upper() for w in words]


@cases(1, (["red", "blue"],), ([],), (["sun", "sky", "sea"],), (["x"],), (["Ann", "bob"],))
def first_letters_of_words(words: list[str]) -> list[str]:
    """Return a list with the first character of each of words.

    >>> first_letters_of_words(["cat", "dog"])
    ['c', 'd']
    >>> first_letters_of_words(["Hi"])
    ['H']
    """
    return [w[0] for w in words]


@cases(1, (["tree"],), ([],), (["sun", "moon", "star"],), (["book", "pen"],), (["a", "b"],))
def plural_of_each_word(words: list[str]) -> list[str]:
    """Return a list with "s" added to each of words.

    >>> plural_of_each_word(["cat", "dog"])
    ['cats', 'dogs']
    >>> plural_of_each_word(["car"])
    ['cars']
    """
    return [w + "s" for w in words]


@cases(1, (["3", "4", "5"],), ([],), (["0"],), (["-7", "7"],), (["100", "20"],))
def texts_to_numbers(texts: list[str]) -> list[int]:
    """Return a list with each of texts as an int.

    >>> texts_to_numbers(["1", "2"])
    [1, 2]
    >>> texts_to_numbers(["50"])
    [50]
    """
    return [int(t) for t in texts]


@cases(1, ([0],), ([],), ([0, 0, 0],), ([1, 2, 3],), ([5, 0, 5, 0],))
def count_zeros(numbers: list[int]) -> int:
    """Return how many zeros are in numbers.

    >>> count_zeros([0, 1, 0])
    2
    >>> count_zeros([4])
    0
    """
    return numbers.count(0)


@cases(1, (0,), (2,), (4,), (5,), (7,))
def numbers_from_zero(count: int) -> list[int]:
    """Return the list of numbers from 0 to count minus one.

    >>> numbers_from_zero(3)
    [0, 1, 2]
    >>> numbers_from_zero(1)
    [0]
    """
    return list(range(count))


@cases(1, (0,), (2,), (4,), (5,), (7,))
def numbers_from_one(last: int) -> list[int]:
    """Return the list of numbers from 1 to last, included.

    >>> numbers_from_one(3)
    [1, 2, 3]
    >>> numbers_from_one(1)
    [1]
    """
    return list(range(1, last + 1))


@cases(1, ([4, 0],), ([7],), ([9, 8, 7],), ([-1, 5, 1],), ([10, 20, 30, 40],))
def sum_of_first_and_last(numbers: list[int]) -> int:
    """Return the first plus the last of numbers.

    >>> sum_of_first_and_last([1, 2, 3])
    4
    >>> sum_of_first_and_last([5, 6])
    11
    """
    return numbers[0] + numbers[-1]


@cases(1, ([4, 4],), ([0, 9],), ([7, 2, 5],), ([-1, 8],), ([10, 20, 30],))
def product_of_first_two(numbers: list[int]) -> int:
    """Return the first of numbers times the second one.

    >>> product_of_first_two([2, 3, 4])
    6
    >>> product_of_first_two([5, 1])
    5
    """
    return numbers[0] * numbers[1]


@cases(1, (0,), (3,), (4,), (5,), (6,))
def list_of_zeros(count: int) -> list[int]:
    """Return a list that contains count zeros.

    >>> list_of_zeros(2)
    [0, 0]
    >>> list_of_zeros(1)
    [0]
    """
    return [0] * count


@cases(1, ([5], [5]), ([], []), ([1, 2, 3], [4, 5]), ([0, 0], []), ([9, 8], [7, 6]))
def length_of_both_lists(left: list[int], right: list[int]) -> int:
    """Return the length of left plus the length of right.

    >>> length_of_both_lists([1, 2], [3])
    3
    >>> length_of_both_lists([], [4])
    1
    """
    return len(left) + len(right)


@cases(
    1,
    (["b", "a", "c"],),
    (["sun", "moon"],),
    (["one", "two", "three"],),
    (["red"],),
    (["zoo", "yes", "web"],),
)
def first_in_alphabet(words: list[str]) -> str:
    """Return the word of words that is first alphabetically.

    >>> first_in_alphabet(["dog", "cat"])
    'cat'
    >>> first_in_alphabet(["x"])
    'x'
    """
    return min(words)


@cases(1, (0,), (4,), (6,), (7,), (10,))
def even_numbers_below(limit: int) -> list[int]:
    """Return the even numbers from 0 up to limit, excluded.

    >>> even_numbers_below(5)
    [0, 2, 4]
    >>> even_numbers_below(2)
    [0]
    """
    return list(range(0, limit, 2))


@cases(1, ([0],), ([],), ([3, 4],), ([-1, -2, 6],), ([7, 0, -7],))
def which_are_positive(numbers: list[int]) -> list[bool]:
    """Return a list with True for each positive of numbers, else False.

    >>> which_are_positive([1, -2])
    [True, False]
    >>> which_are_positive([5])
    [True]
    """
    return [x > 0 for x in numbers]


@cases(1, ([4], [4]), ([9, 1], [2, 3]), ([0], [-1, 7]), ([-5], [-6]), ([10, 20], [30, 15]))
def largest_of_both_lists(left: list[int], right: list[int]) -> int:
    """Return the largest number in left and right together.

    >>> largest_of_both_lists([1, 5], [3])
    5
    >>> largest_of_both_lists([2], [8])
    8
    """
    return max(left + right)


@cases(1, ([5, 6],), ([0, 0, 4],), ([9],), ([10, 20, 30],), ([4, -1],))
def sum_without_first(numbers: list[int]) -> int:
    """Return the sum of all numbers except the first one.

    >>> sum_without_first([1, 2, 3])
    5
    >>> sum_without_first([7])
    0
    """
    return sum(numbers[1:])


@cases(1, ("x", 3), ("cat", 0), ("no", 2), ("go", 4), ("", 1))
def copies_of_word(word: str, count: int) -> list[str]:
    """Return a list that contains word count times.

    >>> copies_of_word("a", 2)
    ['a', 'a']
    >>> copies_of_word("hi", 1)
    ['hi']
    """
    return [word] * count
