"""First functions on lists and dicts: one expression."""

from tasksets.python_functions.cases import cases


@cases(1, ([5],), ([2, 4, 6, 8],), ([1, 2],), ([0, 0, 9],), ([-4, 4],))
def average_of_list(numbers: list[int]) -> float:
    """Return the average of numbers.

    >>> average_of_list([1, 2, 3])
    2.0
    >>> average_of_list([10, 20])
    15.0
    """
    return sum(numbers) / len(numbers)


@cases(1, ([], []), ([10, 20], [1]), ([7], [7]), ([-1, 2], [3, -5]), ([1, 1, 1], [2, 2]))
def sum_of_two_lists(a: list[int], b: list[int]) -> int:
    """Return the sum of all numbers in a and b.

    >>> sum_of_two_lists([1, 2], [3, 4])
    10
    >>> sum_of_two_lists([5], [])
    5
    """
    return sum(a) + sum(b)


@cases(1, ([], [3]), ([8, 2], []), ([4, 4], [8]), ([1, 2, 3], [10]), ([20, 30], [5, 5]))
def difference_of_sums(a: list[int], b: list[int]) -> int:
    """Return the sum of a minus the sum of b.

    >>> difference_of_sums([5, 5], [1, 2])
    7
    >>> difference_of_sums([1], [4])
    -3
    """
    return sum(a) - sum(b)


@cases(1, ([4, 5],), ([],), ([-10, 10, 7],), ([0, -3, 2],), ([100, -100],))
def sum_of_positives(numbers: list[int]) -> int:
    """Return the sum of the positive numbers.

    >>> sum_of_positives([1, -2, 3])
    4
    >>> sum_of_positives([-5, -1])
    0
    """
    return sum(n for n in numbers if n > 0)


@cases(1, ([4, 8, 2], 3), ([7, 7, 7, 7], 2), ([9, 1], 0), ([1, 5, 10], 2), ([-3, 3, 8], 2))
def sum_of_first_n(numbers: list[int], n: int) -> int:
    """Return the sum of the first n numbers.

    >>> sum_of_first_n([1, 2, 3, 4], 2)
    3
    >>> sum_of_first_n([5, 6], 1)
    5
    """
    return sum(numbers[:n])


@cases(1, ([4, 8, 2], 3), ([7, 7, 9, 7], 2), ([9, 1], 1), ([1, 5, 10], 2), ([-3, 3, 8], 2))
def sum_of_last_n(numbers: list[int], n: int) -> int:
    """Return the sum of the last n numbers.

    >>> sum_of_last_n([1, 2, 3, 4], 2)
    7
    >>> sum_of_last_n([5, 6], 1)
    6
    """
    return sum(numbers[-n:])


@cases(1, ([8],), ([10, 20, 30],), ([4, 4, 4, 1],), ([-1, 6, 2],), ([7, 0, 5],))
def sum_without_last(numbers: list[int]) -> int:
    """Return the sum of all numbers except the last.

    >>> sum_without_last([1, 2, 3])
    3
    >>> sum_without_last([5, 9])
    5
    """
    return sum(numbers[:-1])


@cases(1, ([],), ([3, 3, 4],), ([10, 20],), ([-4, 1],), ([100],))
def double_the_sum(numbers: list[int]) -> int:
    """Return two times the sum of numbers.

    >>> double_the_sum([1, 2])
    6
    >>> double_the_sum([5])
    10
    """
    return 2 * sum(numbers)


@cases(1, ([9, 4, 7],), ([10, 20],), ([-3, 3, 1],), ([6, 6, 2],), ([0, 8, 15, 4],))
def max_plus_min(numbers: list[int]) -> int:
    """Return the maximum plus the minimum of numbers.

    >>> max_plus_min([1, 2, 3])
    4
    >>> max_plus_min([5])
    10
    """
    return max(numbers) + min(numbers)


@cases(1, ([9, 4, 7],), ([10, 20],), ([-3, 3, 1],), ([6, 6, 2],), ([0, 8, 15, 4],))
def max_times_min(numbers: list[int]) -> int:
    """Return the maximum times the minimum of numbers.

    >>> max_times_min([1, 2, 3])
    3
    >>> max_times_min([5])
    25
    """
    return max(numbers) * min(numbers)


@cases(1, ([9, 8], [7]), ([1, 2], [3, 4]), ([5, 5], [5]), ([0, -2], [4]), ([10, 30], [20, 12]))
def min_of_two_lists(a: list[int], b: list[int]) -> int:
    """Return the smallest number in a and b.

    >>> min_of_two_lists([3, 2], [5, 1])
    1
    >>> min_of_two_lists([4], [6])
    4
    """
    return min(a + b)


@cases(1, ([9, 8], [7]), ([1, 10], [2, 3]), ([5, 5], [5]), ([0, -2], [4]), ([10, 30], [20, 12]))
def sum_of_max_values(a: list[int], b: list[int]) -> int:
    """Return the maximum of a plus the maximum of b.

    >>> sum_of_max_values([1, 2], [3, 4])
    6
    >>> sum_of_max_values([5], [1])
    6
    """
    return max(a) + max(b)


@cases(1, ([4, 8, 6, 2],), ([10, 30, 20],), ([-1, -5, -3],), ([7, 0, 1],), ([5, 6, 3, 12, 9],))
def second_largest(numbers: list[int]) -> int:
    """Return the second largest number.

    >>> second_largest([1, 2, 3])
    2
    >>> second_largest([9, 5])
    5
    """
    return sorted(numbers)[-2]


@cases(
    1,
    (["red", "blue"], "blue"),
    (["a", "b", "c", "d"], "d"),
    (["one"], "one"),
    (["cat", "dog", "cow"], "cow"),
    (["k", "m", "k"], "k"),
)
def index_of_item(items: list[str], item: str) -> int:
    """Return the index of item in items.

    >>> index_of_item(["a", "b", "c"], "b")
    1
    >>> index_of_item(["x", "y"], "x")
    0
    """
    return items.index(item)


@cases(1, ([4],), ([1, 2, 3, 4],), ([-5, -1, -3],), ([0, 7, 7],), ([3, 2, 10, 6],))
def index_of_max(numbers: list[int]) -> int:
    """Return the index of the maximum of numbers.

    >>> index_of_max([1, 5, 3])
    1
    >>> index_of_max([9, 2])
    0
    """
    return numbers.index(max(numbers))


@cases(1, ([4],), ([4, 3, 2, 1],), ([-1, -5, -3],), ([7, 0, 0],), ([3, 5, 1, 6],))
def index_of_min(numbers: list[int]) -> int:
    """Return the index of the minimum of numbers.

    >>> index_of_min([5, 1, 3])
    1
    >>> index_of_min([2, 9])
    0
    """
    return numbers.index(min(numbers))


@cases(1, ([2, 2, 2],), ([9, 1, 4],), ([0, 6, 6, 6, 6, 1],), ([4, 4],), ([-1, -1, -2],))
def count_max(numbers: list[int]) -> int:
    """Return how many times the maximum occurs in numbers.

    >>> count_max([1, 3, 3])
    2
    >>> count_max([5])
    1
    """
    return numbers.count(max(numbers))


@cases(1, ([4, 4], [4], 4), ([], [7], 7), ([0, 1, 0], [1, 0, 2, 0], 0), ([5, 6], [6], 6), ([8], [], 1))
def count_in_two_lists(a: list[int], b: list[int], value: int) -> int:
    """Return how many times value occurs in a and b.

    >>> count_in_two_lists([1, 2], [2, 2], 2)
    3
    >>> count_in_two_lists([1], [3], 5)
    0
    """
    return a.count(value) + b.count(value)


@cases(1, ([5, 6, 7],), ([],), ([0, 0, 9],), ([-4, 4, -2, 2],), ([10, 20, 30, -1, 40],))
def count_positives(numbers: list[int]) -> int:
    """Return how many numbers are positive.

    >>> count_positives([1, -2, 3])
    2
    >>> count_positives([-1, 0])
    0
    """
    return sum(n > 0 for n in numbers)


@cases(1, ([1, 2, 3], 10), ([], 5), ([7, 3, 8, 2], 3), ([0, -1, -2, 6], 1), ([10, 20, 30], 5))
def count_below(numbers: list[int], limit: int) -> int:
    """Return how many numbers are less than limit.

    >>> count_below([1, 5, 9], 6)
    2
    >>> count_below([4, 4], 4)
    0
    """
    return sum(n < limit for n in numbers)


@cases(
    1,
    (["hello"],),
    (["to", "be"],),
    (["one", "three", "seven"],),
    (["banana", "fig"],),
    (["x", "y", "zebra"],),
)
def max_word_length(words: list[str]) -> int:
    """Return the length of the longest word.

    >>> max_word_length(["a", "abc"])
    3
    >>> max_word_length(["tree", "sun"])
    4
    """
    return max(len(word) for word in words)


@cases(
    1,
    (["hello"],),
    (["to", "bee"],),
    (["three", "one", "seven"],),
    (["banana", "apple"],),
    (["xyz", "yard", "zebra"],),
)
def min_word_length(words: list[str]) -> int:
    """Return the length of the shortest word.

    >>> min_word_length(["a", "abc"])
    1
    >>> min_word_length(["tree", "sun"])
    3
    """
    return min(len(word) for word in words)


@cases(1, ([], []), ([1, 2, 3], [4, 5, 6]), ([0, 1], [9, 7]), ([2, 2], [10, 5]), ([-1, 3], [4, 2]))
def dot_product(a: list[int], b: list[int]) -> int:
    """Return the dot product of a and b.

    >>> dot_product([1, 2], [3, 4])
    11
    >>> dot_product([5], [2])
    10
    """
    return sum(x * y for x, y in zip(a, b, strict=True))


@cases(1, ([4, 8, 6, 2],), ([7],), ([9, 1, 9],), ([10, 20, 30],), ([0, 5, 3, 2, 6],))
def first_and_last(items: list[int]) -> list[int]:
    """Return a list of the first and the last item.

    >>> first_and_last([1, 2, 3])
    [1, 3]
    >>> first_and_last([5])
    [5, 5]
    """
    return [items[0], items[-1]]


@cases(
    1, ([7, 8, 9], 1, 2), ([1, 2, 3, 4, 5], 0, 3), ([4, 5, 6], 2, 3), ([1, 2], 1, 1), ([9, 8, 7, 6, 5], 2, 5)
)
def slice_list(items: list[int], start: int, end: int) -> list[int]:
    """Return the items from index start up to index end, excluded.

    >>> slice_list([1, 2, 3, 4], 1, 3)
    [2, 3]
    >>> slice_list([5, 6], 0, 1)
    [5]
    """
    return items[start:end]


@cases(1, ([4, 8, 2], 3), ([7, 1, 9, 5], 2), ([9, 1, 3], 1), ([1, 5, 10, 12, 15], 4), ([0, 3, 8], 2))
def last_n_items(items: list[int], n: int) -> list[int]:
    """Return the last n items of items.

    >>> last_n_items([1, 2, 3], 2)
    [2, 3]
    >>> last_n_items([5, 6], 1)
    [6]
    """
    return items[-n:]


@cases(
    1, ([1, 2, 3, 4, 5, 6, 7], 3), ([9, 8, 7], 2), ([4, 5, 6, 7, 8], 4), ([1, 2], 5), ([0, 1, 2, 3, 4, 5], 2)
)
def every_nth_item(items: list[int], n: int) -> list[int]:
    """Return every n-th item, starting with the first.

    >>> every_nth_item([1, 2, 3, 4], 2)
    [1, 3]
    >>> every_nth_item([5, 6, 7], 1)
    [5, 6, 7]
    """
    return items[::n]


@cases(1, ([7], 7), ([3, 4, 5], 9), ([0, 0], 1), ([10, 20], 30), ([-1], 2))
def add_at_both_ends(items: list[int], item: int) -> list[int]:
    """Return items with item added at both ends.

    >>> add_at_both_ends([1, 2], 0)
    [0, 1, 2, 0]
    >>> add_at_both_ends([], 5)
    [5, 5]
    """
    return [item, *items, item]


@cases(1, ([], [], []), ([1, 2], [3, 4], [5, 6]), ([9], [8, 7], []), ([], [0], [1]), ([5], [5], [5]))
def join_three_lists(a: list[int], b: list[int], c: list[int]) -> list[int]:
    """Return a, b and c as one list.

    >>> join_three_lists([1], [2], [3])
    [1, 2, 3]
    >>> join_three_lists([4, 5], [], [6])
    [4, 5, 6]
    """
    return a + b + c


@cases(1, ([],), ([1, 2, 3],), ([9, 7],), ([0, 1, 0, 2],), ([4, 4],))
def list_and_reverse(items: list[int]) -> list[int]:
    """Return items followed by items in reverse order.

    >>> list_and_reverse([1, 2])
    [1, 2, 2, 1]
    >>> list_and_reverse([5])
    [5, 5]
    """
    return items + items[::-1]


@cases(1, ([4, 4], 7), ([10, 20, 30], 1), ([6, 5], 2), ([8], 3), ([0, 1, 2, 3], 5))
def replace_first_item(items: list[int], value: int) -> list[int]:
    """Return items with the first item replaced by value.

    >>> replace_first_item([1, 2, 3], 9)
    [9, 2, 3]
    >>> replace_first_item([5], 0)
    [0]
    """
    return [value, *items[1:]]


@cases(1, ([4, 4], 7), ([10, 20, 30], 1), ([6, 5], 2), ([8], 3), ([0, 1, 2, 3], 5))
def replace_last_item(items: list[int], value: int) -> list[int]:
    """Return items with the last item replaced by value.

    >>> replace_last_item([1, 2, 3], 9)
    [1, 2, 9]
    >>> replace_last_item([5], 0)
    [0]
    """
    return [*items[:-1], value]


@cases(1, ([7],), ([1, 2, 3, 4],), ([9, 8, 7],), ([0, 0, 5],), ([10, 20, 30, 40, 50],))
def move_last_to_front(items: list[int]) -> list[int]:
    """Return items with the last item moved to the front.

    >>> move_last_to_front([1, 2, 3])
    [3, 1, 2]
    >>> move_last_to_front([5, 6])
    [6, 5]
    """
    return items[-1:] + items[:-1]


@cases(1, ([4, 5], 1), ([], 2), ([2, 3], 4), ([-2, 3], 3), ([10, 0, 1], 2))
def power_of_each(numbers: list[int], power: int) -> list[int]:
    """Return a list with each number raised to power.

    >>> power_of_each([1, 2, 3], 2)
    [1, 4, 9]
    >>> power_of_each([2], 3)
    [8]
    """
    return [n**power for n in numbers]


@cases(1, ([10, 20],), ([],), ([1, 3, 7],), ([-6, 8],), ([0, 100],))
def half_of_each(numbers: list[int]) -> list[float]:
    """Return a list with half of each number.

    >>> half_of_each([2, 4])
    [1.0, 2.0]
    >>> half_of_each([5])
    [2.5]
    """
    return [n / 2 for n in numbers]


@cases(1, ([], []), ([1, 2, 3], [4, 5, 6]), ([0, 1], [9, 7]), ([10, 20], [-1, -2]), ([2, 2, 2], [1, 0, 3]))
def add_lists(a: list[int], b: list[int]) -> list[int]:
    """Return the sums of the pairs of a and b.

    >>> add_lists([1, 2], [3, 4])
    [4, 6]
    >>> add_lists([5], [2])
    [7]
    """
    return [x + y for x, y in zip(a, b, strict=True)]


@cases(1, ([], []), ([9, 8, 7], [1, 1, 1]), ([0, 1], [9, 7]), ([10, 20], [-1, 2]), ([2, 5, 2], [2, 0, 3]))
def subtract_lists(a: list[int], b: list[int]) -> list[int]:
    """Return the differences of the pairs of a and b.

    >>> subtract_lists([5, 6], [1, 2])
    [4, 4]
    >>> subtract_lists([3], [4])
    [-1]
    """
    return [x - y for x, y in zip(a, b, strict=True)]


@cases(1, ([], []), ([1, 7, 3], [4, 5, 6]), ([0, 8], [9, 7]), ([10, 20], [30, 2]), ([2, 2, 2], [1, 0, 3]))
def max_of_pairs(a: list[int], b: list[int]) -> list[int]:
    """Return the larger number of each pair of a and b.

    >>> max_of_pairs([1, 5], [3, 4])
    [3, 5]
    >>> max_of_pairs([5], [2])
    [5]
    """
    return [max(x, y) for x, y in zip(a, b, strict=True)]


@cases(1, ([5, 6],), ([0, -3, 0, 4],), ([],), ([7, 0],), ([0, 10, 100, 0],))
def remove_zeros(numbers: list[int]) -> list[int]:
    """Return the numbers that are not zero.

    >>> remove_zeros([1, 0, 2])
    [1, 2]
    >>> remove_zeros([0, 0])
    []
    """
    return [n for n in numbers if n != 0]


@cases(1, ([5, 7],), ([10, 11, 12, 13],), ([],), ([9, 0, 2],), ([-3, 8, 15],))
def keep_odd_numbers(numbers: list[int]) -> list[int]:
    """Return a list of the odd numbers.

    >>> keep_odd_numbers([1, 2, 3])
    [1, 3]
    >>> keep_odd_numbers([4, 6])
    []
    """
    return [n for n in numbers if n % 2 != 0]


@cases(1, ([10, 20, 30], 15), ([7, 8], 1), ([], 0), ([4, 6, 5], 5), ([-3, 0, 2], -1))
def numbers_above(numbers: list[int], limit: int) -> list[int]:
    """Return the numbers greater than limit.

    >>> numbers_above([1, 5, 9], 4)
    [5, 9]
    >>> numbers_above([2, 3], 3)
    []
    """
    return [n for n in numbers if n > limit]


@cases(1, ([10, 20, 30], 25), ([7, 8], 9), ([], 1), ([4, 6, 5], 5), ([-3, 0, 2], 1))
def numbers_below(numbers: list[int], limit: int) -> list[int]:
    """Return the numbers less than limit.

    >>> numbers_below([1, 5, 9], 6)
    [1, 5]
    >>> numbers_below([2, 3], 2)
    []
    """
    return [n for n in numbers if n < limit]


@cases(1, ([],), ([3, 5, 6],), ([0, 1, 2, 3],), ([7],), ([10, 20, 31],))
def are_numbers_even(numbers: list[int]) -> list[bool]:
    """Return a list with True for each even number, else False.

    >>> are_numbers_even([1, 2])
    [False, True]
    >>> are_numbers_even([4])
    [True]
    """
    return [n % 2 == 0 for n in numbers]


@cases(1, ([4, 4, 4],), ([1, 2, 3, 2],), ([],), ([9, 7, 9, 8],), ([0, -1, 0, 6],))
def unique_sorted_descending(numbers: list[int]) -> list[int]:
    """Return the different numbers sorted from large to small.

    >>> unique_sorted_descending([1, 3, 1])
    [3, 1]
    >>> unique_sorted_descending([2, 5])
    [5, 2]
    """
    return sorted(set(numbers), reverse=True)


@cases(1, (0, 3), (2, 6), (-1, 1), (10, 12), (7, 8))
def list_range(start: int, end: int) -> list[int]:
    """Return the numbers from start to end, both included.

    >>> list_range(1, 4)
    [1, 2, 3, 4]
    >>> list_range(5, 5)
    [5]
    """
    return list(range(start, end + 1))


@cases(1, (9, 8, 7), (0, 0, 1), (-1, 4, 2), (10, 20, 30), (3, 1, 2))
def three_as_list(a: int, b: int, c: int) -> list[int]:
    """Return a list of a, b and c.

    >>> three_as_list(1, 2, 3)
    [1, 2, 3]
    >>> three_as_list(5, 5, 5)
    [5, 5, 5]
    """
    return [a, b, c]


@cases(1, (["Dog", "CAT"],), ([],), (["X", "y", "Z"],), (["Red", "Blue"],), (["ONE", "two"],))
def lower_all(words: list[str]) -> list[str]:
    """Return a list with each word in lower case.

    >>> lower_all(["A", "Bc"])
    ['a', 'bc']
    >>> lower_all(["HELLO"])
    ['hello']
    """
    return [word.lower() for word in words]


@cases(1, (["dog", "cat"],), ([],), (["x", "Y", "z"],), (["red", "BLUE"],), (["one two"],))
def capitalize_all(words: list[str]) -> list[str]:
    """Return a list with each word capitalized.

    >>> capitalize_all(["anna", "bob"])
    ['Anna', 'Bob']
    >>> capitalize_all(["hello"])
    ['Hello']
    """
    return [word.capitalize() for word in words]


@cases(1, (["dog", "cat"],), ([],), (["x", "yz"],), (["red", "green"],), (["one", "two", "three"],))
def last_letters_of_words(words: list[str]) -> list[str]:
    """Return a list with the last letter of each word.

    >>> last_letters_of_words(["abc", "de"])
    ['c', 'e']
    >>> last_letters_of_words(["hello"])
    ['o']
    """
    return [word[-1] for word in words]


@cases(1, (["dog", "cat", ""],), (["", "", "x"],), (["red"],), ([],), (["", "one", "", "two"],))
def remove_empty_strings(words: list[str]) -> list[str]:
    """Return the words that are not empty.

    >>> remove_empty_strings(["a", "", "b"])
    ['a', 'b']
    >>> remove_empty_strings([""])
    []
    """
    return [word for word in words if word]


@cases(1, ([4, 5], [5, 4], 4), ([6], [7], 7), ([8, 9], [9], 9), ([1, 2], [3, 4], 5), ([0], [1, 2], 0))
def is_in_both_lists(a: list[int], b: list[int], item: int) -> bool:
    """Return True if item is in a and in b.

    >>> is_in_both_lists([1, 2], [2, 3], 2)
    True
    >>> is_in_both_lists([1], [2], 1)
    False
    """
    return item in a and item in b


@cases(1, ([], []), ([3, 1], [1, 3]), ([9, 7], [8]), ([6, 6], []), ([0, 4, 2], [2, 5, 0]))
def union_of_lists(a: list[int], b: list[int]) -> list[int]:
    """Return the sorted union of a and b.

    >>> union_of_lists([1, 2], [2, 3])
    [1, 2, 3]
    >>> union_of_lists([5], [4])
    [4, 5]
    """
    return sorted(set(a) | set(b))


@cases(1, ([3, 1], [1, 3]), ([9, 7, 8], [8, 6, 9]), ([6, 6], [6]), ([0, 4, 2], [2, 5, 0]), ([1], []))
def intersection_of_lists(a: list[int], b: list[int]) -> list[int]:
    """Return the sorted intersection of a and b.

    >>> intersection_of_lists([1, 2], [2, 3])
    [2]
    >>> intersection_of_lists([5], [4])
    []
    """
    return sorted(set(a) & set(b))


@cases(1, ([3, 1], [2]), ([9, 7, 8], [8, 6]), ([6, 6], []), ([0, 4, 2], [2, 5]), ([1], [1, 2]))
def difference_of_lists(a: list[int], b: list[int]) -> list[int]:
    """Return the sorted items of a that are not in b.

    >>> difference_of_lists([1, 2], [2, 3])
    [1]
    >>> difference_of_lists([5], [5])
    []
    """
    return sorted(set(a) - set(b))


@cases(
    1,
    ({"x": 5},),
    ({"z": 1, "y": 2},),
    ({"dog": 4, "bird": 2, "cat": 4},),
    ({"one": 1, "two": 2},),
    ({"k": 0, "b": 0, "m": 0},),
)
def list_of_dict_keys(data: dict[str, int]) -> list[str]:
    """Return the keys of data as a list.

    >>> list_of_dict_keys({"a": 1, "b": 2})
    ['a', 'b']
    >>> list_of_dict_keys({})
    []
    """
    return list(data.keys())


@cases(
    1,
    ({"dog": 4, "bird": 2}, "bird"),
    ({"one": 1, "two": 2, "three": 3}, "three"),
    ({"k": 0}, "k"),
    ({"z": 9, "y": 8}, "z"),
    ({"p": 7, "q": 6, "r": 5}, "q"),
)
def get_value(data: dict[str, int], key: str) -> int:
    """Return the value of key in data.

    >>> get_value({"a": 1, "b": 2}, "b")
    2
    >>> get_value({"x": 5}, "x")
    5
    """
    return data[key]


@cases(1, ("x", 0), ("age", 30), ("one", 1), ("b", -2), ("price", 99))
def make_dict(key: str, value: int) -> dict[str, int]:
    """Return a dict with key and its value.

    >>> make_dict("a", 1)
    {'a': 1}
    >>> make_dict("dog", 4)
    {'dog': 4}
    """
    return {key: value}


@cases(
    1,
    ({"dog": 4, "bird": 2},),
    ({"one": 10, "two": 20, "three": 30},),
    ({"k": 0, "l": 3},),
    ({"z": 9, "y": 8, "w": 12},),
    ({"p": 7, "q": -6},),
)
def smallest_dict_value(data: dict[str, int]) -> int:
    """Return the smallest value of data.

    >>> smallest_dict_value({"a": 1, "b": 2})
    1
    >>> smallest_dict_value({"x": 5})
    5
    """
    return min(data.values())


@cases(
    1,
    ({"ant": 6, "bird": 2},),
    ({"one": 10, "two": 20, "three": 30},),
    ({"k": 3, "l": 0},),
    ({"z": 9, "y": 8, "w": 12},),
    ({"p": 7, "q": 9, "r": -6},),
)
def key_of_smallest_value(data: dict[str, int]) -> str:
    """Return the key of the smallest value in data.

    >>> key_of_smallest_value({"a": 1, "b": 2})
    'a'
    >>> key_of_smallest_value({"x": 5})
    'x'
    """
    return min(data, key=lambda key: data[key])


@cases(
    1,
    ({"dog": 4, "bird": 2, "fly": 6},),
    ({},),
    ({"k": 3, "l": 3, "m": 0},),
    ({"z": 9, "y": 8},),
    ({"p": -7, "q": 6, "r": 1},),
)
def sorted_dict_values(data: dict[str, int]) -> list[int]:
    """Return the sorted values of data.

    >>> sorted_dict_values({"a": 2, "b": 1})
    [1, 2]
    >>> sorted_dict_values({"x": 5})
    [5]
    """
    return sorted(data.values())


@cases(
    1,
    ({"dog": 4, "bird": 2, "fly": 6}, "bird", "fly"),
    ({"one": 1, "two": 2, "six": 6}, "one", "six"),
    ({"p": 7, "q": -6}, "q", "p"),
    ({"z": 9}, "z", "z"),
    ({"u": 10, "v": 20, "w": 30}, "v", "w"),
)
def add_two_values(data: dict[str, int], a: str, b: str) -> int:
    """Return the values of keys a and b in data, added.

    >>> add_two_values({"x": 1, "y": 2}, "x", "y")
    3
    >>> add_two_values({"k": 5, "m": 3, "n": 1}, "k", "n")
    6
    """
    return data[a] + data[b]


@cases(
    1,
    ({"dog": 4, "bird": 2, "cat": 4}, 4),
    ({}, 0),
    ({"k": 0, "l": 0, "m": 0}, 0),
    ({"z": 9, "y": 8}, 8),
    ({"p": 7, "q": 6}, 1),
)
def count_dict_value(data: dict[str, int], value: int) -> int:
    """Return how many times value occurs in the values of data.

    >>> count_dict_value({"a": 1, "b": 1}, 1)
    2
    >>> count_dict_value({"x": 5}, 4)
    0
    """
    return list(data.values()).count(value)


@cases(1, ([10, 20, 30], 10), ([], 2), ([7, 0], 3), ([-1, 1], -2), ([4, 8, 12], 5))
def subtract_from_each(numbers: list[int], n: int) -> list[int]:
    """Return a list with n subtracted from each number.

    >>> subtract_from_each([5, 6], 1)
    [4, 5]
    >>> subtract_from_each([3], 4)
    [-1]
    """
    return [number - n for number in numbers]


@cases(1, ([10, 20, 35], 10), ([], 2), ([7, 0], 4), ([1, 2, 3], 3), ([100, 50, 8], 5))
def divide_each(numbers: list[int], n: int) -> list[int]:
    """Return a list with each number divided by n, rounded down.

    >>> divide_each([4, 7], 2)
    [2, 3]
    >>> divide_each([9], 3)
    [3]
    """
    return [number // n for number in numbers]


@cases(1, ([6, 7, 0],), ([],), ([10],), ([5, -2, 9],), ([-1, -4, 12],))
def double_the_positives(numbers: list[int]) -> list[int]:
    """Return a list with each positive number doubled.

    >>> double_the_positives([1, -2, 3])
    [2, 6]
    >>> double_the_positives([-5])
    []
    """
    return [n * 2 for n in numbers if n > 0]


@cases(1, ([4, 5, 6], [7, 8]), ([], []), ([9], [1, 2, 3, 4]), ([1, 1], [2, 2]), ([10], [20, 30, 40]))
def length_of_longer_list(a: list[int], b: list[int]) -> int:
    """Return the length of the longer list.

    >>> length_of_longer_list([1, 2], [3])
    2
    >>> length_of_longer_list([], [5])
    1
    """
    return max(len(a), len(b))


@cases(1, ([4, 5, 6], [7, 8]), ([], []), ([9, 8, 7], [1, 2, 3, 4]), ([1, 1], [2, 2]), ([10], [20, 30, 40]))
def length_of_shorter_list(a: list[int], b: list[int]) -> int:
    """Return the length of the shorter list.

    >>> length_of_shorter_list([1, 2], [3])
    1
    >>> length_of_shorter_list([], [5])
    0
    """
    return min(len(a), len(b))


@cases(
    1,
    ({"dog": 4, "bird": 2, "fly": 6}, 2),
    ({}, 0),
    ({"k": 3, "m": 9}, 1),
    ({"z": 9, "y": 8}, 8),
    ({"p": -7, "q": 6}, 10),
)
def keys_above(data: dict[str, int], limit: int) -> list[str]:
    """Return the keys with a value greater than limit.

    >>> keys_above({"a": 1, "b": 5}, 3)
    ['b']
    >>> keys_above({"x": 2}, 2)
    []
    """
    return [key for key in data if data[key] > limit]


@cases(
    1,
    ({"dog": 4, "bird": 2}, 2),
    ({}, 5),
    ({"k": 3, "m": 9}, 10),
    ({"z": 9, "y": 8}, -8),
    ({"p": -7, "q": 6}, 1),
)
def add_to_dict_values(data: dict[str, int], n: int) -> dict[str, int]:
    """Return data with n added to each value.

    >>> add_to_dict_values({"a": 1, "b": 5}, 3)
    {'a': 4, 'b': 8}
    >>> add_to_dict_values({"x": 2}, 1)
    {'x': 3}
    """
    return {key: value + n for key, value in data.items()}


@cases(1, (["dog", "cat", "cow"], 4), ([], 1), (["k", "m"], 10), (["one"], 1), (["p", "q", "r"], -2))
def dict_with_same_value(keys: list[str], value: int) -> dict[str, int]:
    """Return a dict with value for each of keys.

    >>> dict_with_same_value(["a", "b"], 0)
    {'a': 0, 'b': 0}
    >>> dict_with_same_value(["x"], 5)
    {'x': 5}
    """
    return {key: value for key in keys}


@cases(1, ([-3, -4],), ([],), ([10, -10],), ([0, -6, 1],), ([2, 3, 4],))
def sum_of_absolute_numbers(numbers: list[int]) -> int:
    """Return the sum of the absolute values of numbers.

    >>> sum_of_absolute_numbers([1, -2])
    3
    >>> sum_of_absolute_numbers([5])
    5
    """
    return sum(abs(n) for n in numbers)


@cases(1, ([], []), ([1, 7, 3], [4, 5, 6]), ([0, 8], [9, 7]), ([10, 20], [30, 2]), ([2, 2, 2], [1, 0, 3]))
def min_of_pairs(a: list[int], b: list[int]) -> list[int]:
    """Return the smaller number of each pair of a and b.

    >>> min_of_pairs([1, 5], [3, 4])
    [1, 4]
    >>> min_of_pairs([5], [2])
    [2]
    """
    return [min(x, y) for x, y in zip(a, b, strict=True)]


@cases(1, ([0.25, 5.75, 9.25],), ([],), ([7.75],), ([10.25, 4.0],), ([-1.75, 1.75],))
def round_all(numbers: list[float]) -> list[int]:
    """Return a list with each number rounded.

    >>> round_all([1.25, 2.75])
    [1, 3]
    >>> round_all([3.0])
    [3]
    """
    return [round(n) for n in numbers]


@cases(1, ([4],), ([10, 20, 30],), ([8, 7],), ([0, 5, -6],), ([100, 1, 2, 50],))
def first_minus_last(numbers: list[int]) -> int:
    """Return the first number minus the last number.

    >>> first_minus_last([5, 1, 3])
    2
    >>> first_minus_last([2, 9])
    -7
    """
    return numbers[0] - numbers[-1]


@cases(1, ([4],), ([10, 20, 30],), ([8, 7],), ([0, 5, -6],), ([100, 1, 2, 5],))
def first_times_last(numbers: list[int]) -> int:
    """Return the first number times the last number.

    >>> first_times_last([5, 1, 3])
    15
    >>> first_times_last([2, 9])
    18
    """
    return numbers[0] * numbers[-1]
