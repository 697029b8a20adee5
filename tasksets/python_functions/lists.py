"""Tasks about building and transforming lists."""

from tasksets.python_functions.cases import cases


@cases(1, ([1, 2, 3, 4],), ([],), ([7],), ([9, 8, 7],), ([0, 0, 1, 1, 2, 2],))
def first_half(items: list[int]) -> list[int]:
    """Return the first half of the list; with an odd length the middle item is left out.

    >>> first_half([5, 6])
    [5]
    >>> first_half([1, 2, 3, 4, 5])
    [1, 2]
    """
    return items[: len(items) // 2]


@cases(1, ([1, 2, 3],), ([],), ([4],), ([4, 5],), ([0, -1, -2, -3, 9],))
def without_ends(items: list[int]) -> list[int]:
    """Return the list without its first and its last item; lists of up to two items give [].

    >>> without_ends([10, 20, 30, 40])
    [20, 30]
    >>> without_ends([1, 1])
    []
    """
    return items[1:-1]


@cases(1, ([1],), ([],), ([3, 3],), ([0, -5, 8],), ([7, 6, 5, 4],))
def wrap_each_item(items: list[int]) -> list[list[int]]:
    """Return a list in which every item is wrapped in its own one-item list.

    >>> wrap_each_item([1, 2])
    [[1], [2]]
    >>> wrap_each_item([9])
    [[9]]
    """
    return [[item] for item in items]


@cases(1, ([1, 2, 3], 1), ([], 5), ([0, 0], -4), ([10], 0), ([-3, 3, 8], 3))
def add_to_each(numbers: list[int], amount: int) -> list[int]:
    """Return a new list with amount added to every number.

    >>> add_to_each([1, 2], 10)
    [11, 12]
    >>> add_to_each([5], -5)
    [0]
    """
    return [number + amount for number in numbers]


@cases(1, (0,), (1,), (2,), (5,), (8,))
def first_squares(count: int) -> list[int]:
    """Return the squares of 1, 2, ..., count as a list; count 0 gives [].

    >>> first_squares(3)
    [1, 4, 9]
    >>> first_squares(4)
    [1, 4, 9, 16]
    """
    return [number * number for number in range(1, count + 1)]


@cases(1, (["a", "bb", "ccc"], 1), ([], 2), (["", "x"], 0), (["tree", "leaf"], 4), (["one", "three"], 3))
def words_longer_than(words: list[str], length: int) -> list[str]:
    """Return the words that have more than length characters, in their original order.

    >>> words_longer_than(["hi", "hello"], 3)
    ['hello']
    >>> words_longer_than(["cat", "dog"], 2)
    ['cat', 'dog']
    """
    return [word for word in words if len(word) > length]


@cases(1, ([1, 2, 1], 1), ([], 3), ([4, 4, 4], 4), ([5, 6], 7), ([0, 1, 0, 2], 0))
def remove_every(items: list[int], value: int) -> list[int]:
    """Return the list with every item equal to value removed.

    >>> remove_every([3, 4, 3], 3)
    [4]
    >>> remove_every([1, 2], 9)
    [1, 2]
    """
    return [item for item in items if item != value]


@cases(1, ([1, 2], 3), ([], 4), ([5], 0), ([0, 1, 2], 1), ([-1, -2], 2))
def repeat_list(items: list[int], times: int) -> list[int]:
    """Return the whole list repeated times times, one copy after another.

    >>> repeat_list([1, 2], 2)
    [1, 2, 1, 2]
    >>> repeat_list([7], 3)
    [7, 7, 7]
    """
    return items * times


@cases(1, (["a"],), ([],), (["x", "y"],), (["red", "green", "blue"],), (["1", "2", "3", "4"],))
def reverse_items(items: list[str]) -> list[str]:
    """Return the items in reverse order.

    >>> reverse_items(["a", "b", "c"])
    ['c', 'b', 'a']
    >>> reverse_items(["up", "down"])
    ['down', 'up']
    """
    return items[::-1]


@cases(1, ([1, 2, 3, 4],), ([],), ([5],), ([9, 8, 7],), ([0, 0, 1, 1, 2],))
def every_second_item(items: list[int]) -> list[int]:
    """Return the items at positions 0, 2, 4 and so on.

    >>> every_second_item([10, 20, 30])
    [10, 30]
    >>> every_second_item([1, 2])
    [1]
    """
    return items[::2]


@cases(1, ([1, 2], 3), ([], 1), ([0], 0), ([5, 4], -3), ([8, 8, 8], 9))
def prepend_item(items: list[int], item: int) -> list[int]:
    """Return a new list that starts with item, followed by all of items.

    >>> prepend_item([2, 3], 1)
    [1, 2, 3]
    >>> prepend_item([7], 6)
    [6, 7]
    """
    return [item, *items]


@cases(1, (0,), (1,), (2,), (4,), (7,))
def countdown_from(start: int) -> list[int]:
    """Return the numbers from start down to 1; start 0 gives [].

    >>> countdown_from(3)
    [3, 2, 1]
    >>> countdown_from(5)
    [5, 4, 3, 2, 1]
    """
    return list(range(start, 0, -1))


@cases(1, ([1, -1],), ([],), ([0],), ([-7, -8],), ([3, -4, 5],))
def absolute_values(numbers: list[int]) -> list[int]:
    """Return a list with the absolute value of every number.

    >>> absolute_values([-2, 2])
    [2, 2]
    >>> absolute_values([-9])
    [9]
    """
    return [abs(number) for number in numbers]


@cases(1, (["a"],), ([],), (["", "x"],), (["red", "green"],), (["one", "two", "three", "four"],))
def lengths_of_words(words: list[str]) -> list[int]:
    """Return a list with the length of every word.

    >>> lengths_of_words(["hi", "you"])
    [2, 3]
    >>> lengths_of_words([""])
    [0]
    """
    return [len(word) for word in words]


@cases(1, ([1, 2, 3],), ([],), ([5, 7],), ([0, -2, 9],), ([8, 8, 6],))
def keep_even_numbers(numbers: list[int]) -> list[int]:
    """Return only the even numbers, in their original order.

    >>> keep_even_numbers([1, 2, 4, 5])
    [2, 4]
    >>> keep_even_numbers([3])
    []
    """
    return [number for number in numbers if number % 2 == 0]


@cases(1, ([None],), ([],), ([1, None, 2],), ([0, 5],), ([None, -3, None],))
def none_to_zero(values: list[int | None]) -> list[int]:
    """Return the list with every None replaced by 0.

    >>> none_to_zero([3, None])
    [3, 0]
    >>> none_to_zero([None, None, 4])
    [0, 0, 4]
    """
    return [0 if value is None else value for value in values]


@cases(1, ([1, 2],), ([],), ([0],), ([-5, 5],), ([10, 100, 1000],))
def numbers_as_strings(numbers: list[int]) -> list[str]:
    """Return a list with every number turned into a string.

    >>> numbers_as_strings([7, 8])
    ['7', '8']
    >>> numbers_as_strings([-1])
    ['-1']
    """
    return [str(number) for number in numbers]


@cases(1, ([[1], [2]],), ([],), ([[], [3]],), ([[0, 0], [], [4, 5]],), ([[9, 8, 7]],))
def join_inner_lists(lists: list[list[int]]) -> list[int]:
    """Return one flat list with all items of the inner lists, in order.

    >>> join_inner_lists([[1, 2], [3]])
    [1, 2, 3]
    >>> join_inner_lists([[5], [], [6]])
    [5, 6]
    """
    return [item for inner in lists for item in inner]


@cases(1, ([1, 2], [3, 4]), ([], []), ([5], [0]), ([-1, 2, -3], [4, 4, 4]), ([10, 1], [1, 10]))
def multiply_pairwise(left: list[int], right: list[int]) -> list[int]:
    """Return the products of the items at equal positions of two lists of equal length.

    >>> multiply_pairwise([2, 3], [4, 5])
    [8, 15]
    >>> multiply_pairwise([6], [-1])
    [-6]
    """
    return [a * b for a, b in zip(left, right, strict=True)]


@cases(1, (["a"], [1]), ([], []), (["x", "y"], [0, -1]), (["p", "q", "r"], [3, 2, 1]), (["", "z"], [5, 5]))
def pair_with_numbers(names: list[str], numbers: list[int]) -> list[list[str | int]]:
    """Return a list of [name, number] pairs made from two lists of equal length.

    >>> pair_with_numbers(["a", "b"], [1, 2])
    [['a', 1], ['b', 2]]
    >>> pair_with_numbers(["tom"], [30])
    [['tom', 30]]
    """
    return [[name, number] for name, number in zip(names, numbers, strict=True)]


@cases(1, (["a"],), ([],), (["x", "y"],), (["red", "green", "blue"],), (["", "end"],))
def numbered_lines(lines: list[str]) -> list[str]:
    """Return each line with its number and ". " in front, counting from 1.

    >>> numbered_lines(["milk", "eggs"])
    ['1. milk', '2. eggs']
    >>> numbered_lines(["go"])
    ['1. go']
    """
    return [f"{number}. {line}" for number, line in enumerate(lines, start=1)]


@cases(1, (2, 3), (5, 0), (0, 4), (-3, 2), (10, 1))
def first_multiples(number: int, count: int) -> list[int]:
    """Return the first count multiples of number, starting with number itself.

    >>> first_multiples(3, 4)
    [3, 6, 9, 12]
    >>> first_multiples(7, 2)
    [7, 14]
    """
    return [number * factor for factor in range(1, count + 1)]


@cases(1, ([1, -1],), ([],), ([-4, -5],), ([0, 2],), ([7, -7, 3, -3],))
def negatives_to_zero(numbers: list[int]) -> list[int]:
    """Return the list with every negative number replaced by 0.

    >>> negatives_to_zero([5, -2])
    [5, 0]
    >>> negatives_to_zero([-1, 4, 6])
    [0, 4, 6]
    """
    return [max(0, number) for number in numbers]


@cases(1, ([1, 2], 1, 9), ([], 0, 5), ([3, 4], 0, 2), ([3, 4], 2, 5), ([0, 0, 0, 0], 2, 1))
def insert_at_position(items: list[int], position: int, item: int) -> list[int]:
    """Return a new list with item inserted so that it stands at position.

    >>> insert_at_position([1, 3], 1, 2)
    [1, 2, 3]
    >>> insert_at_position([7, 8], 0, 6)
    [6, 7, 8]
    """
    return [*items[:position], item, *items[position:]]


@cases(1, ([1, 2, 1], 1, 5), ([], 0, 1), ([3, 3], 3, 4), ([6, 7], 8, 9), ([0, -1, 0], 0, -1))
def replace_value(items: list[int], old: int, new: int) -> list[int]:
    """Return the list with every item equal to old replaced by new.

    >>> replace_value([1, 2, 2], 2, 7)
    [1, 7, 7]
    >>> replace_value([4, 5], 6, 0)
    [4, 5]
    """
    return [new if item == old else item for item in items]


@cases(2, ([1, 2, 3], 1), ([], 2), ([4, 5], 0), ([4, 5], 2), ([7, 8, 9], 10))
def drop_last_items(items: list[int], count: int) -> list[int]:
    """Return the list without its last count items; if count is the length or more, return [].

    >>> drop_last_items([1, 2, 3, 4], 2)
    [1, 2]
    >>> drop_last_items([6], 0)
    [6]
    """
    return items[: max(0, len(items) - count)]


@cases(2, ([1, 2, 3],), ([],), ([4],), ([5, 6],), ([0, 1, 1, 9],))
def swap_first_and_last(items: list[int]) -> list[int]:
    """Return the list with its first and last item exchanged; shorter lists than two stay as they are.

    >>> swap_first_and_last([1, 2, 3, 4])
    [4, 2, 3, 1]
    >>> swap_first_and_last([8])
    [8]
    """
    if len(items) < 2:
        return items
    return [items[-1], *items[1:-1], items[0]]


@cases(2, ([1, 2, 3], 1), ([], 2), ([1, 2, 3], 0), ([4, 5, 6], 4), ([7, 8], 2), ([1, 2, 3, 4], 3))
def rotate_left(items: list[int], steps: int) -> list[int]:
    """Return the list rotated left: each step moves the first item to the end. An empty list gives [].

    >>> rotate_left([1, 2, 3, 4], 1)
    [2, 3, 4, 1]
    >>> rotate_left([5, 6, 7], 2)
    [7, 5, 6]
    """
    if not items:
        return []
    steps %= len(items)
    return items[steps:] + items[:steps]


@cases(2, ([1, 2, 3, 4], 2), ([], 3), ([1, 2, 3], 2), ([5, 6], 5), ([7, 8, 9], 1))
def split_in_chunks(items: list[int], size: int) -> list[list[int]]:
    """Return the list cut into pieces of size items; the last piece may be shorter.

    >>> split_in_chunks([1, 2, 3, 4, 5], 2)
    [[1, 2], [3, 4], [5]]
    >>> split_in_chunks([6, 7], 2)
    [[6, 7]]
    """
    return [items[start : start + size] for start in range(0, len(items), size)]


@cases(2, ([1, 1, 1],), ([],), ([5],), ([3, -3, 4],), ([0, 2, 0, 8],))
def running_totals(numbers: list[int]) -> list[int]:
    """Return a list in which each number is replaced by the sum of all numbers up to and including it.

    >>> running_totals([1, 2, 3])
    [1, 3, 6]
    >>> running_totals([10, -4])
    [10, 6]
    """
    totals = []
    total = 0
    for number in numbers:
        total += number
        totals.append(total)
    return totals


@cases(2, ([1, 2],), ([],), ([6],), ([5, 3, 10],), ([0, 0, -4, 4],))
def steps_between(numbers: list[int]) -> list[int]:
    """Return the differences between each number and the one before it; fewer than two numbers give [].

    >>> steps_between([1, 4, 9])
    [3, 5]
    >>> steps_between([8, 2])
    [-6]
    """
    return [numbers[i] - numbers[i - 1] for i in range(1, len(numbers))]


@cases(2, ([1, 1, 2],), ([],), ([3, 2, 3, 2],), ([5],), ([0, -1, 0, 4, -1],))
def unique_in_order(items: list[int]) -> list[int]:
    """Return the list without repeated items, keeping the first of each in order.

    >>> unique_in_order([2, 1, 2])
    [2, 1]
    >>> unique_in_order([4, 4, 4])
    [4]
    """
    return list(dict.fromkeys(items))


@cases(2, ([1, 2], [3, 4]), ([], []), ([5], [6]), ([0, 0, 0], [1, 2, 3]), ([9, 7], [-9, -7]))
def alternate_items(left: list[int], right: list[int]) -> list[int]:
    """Return one list that takes items by turns from two lists of equal length, left first.

    >>> alternate_items([1, 3], [2, 4])
    [1, 2, 3, 4]
    >>> alternate_items([8], [9])
    [8, 9]
    """
    mixed = []
    for a, b in zip(left, right, strict=True):
        mixed.append(a)
        mixed.append(b)
    return mixed


@cases(2, ([1, 2, 3], 0), ([], 5), ([4], 9), ([6, 7], -1), ([0, 0, 0, 0], 1))
def put_between(items: list[int], separator: int) -> list[int]:
    """Return the list with separator between each two neighbouring items, but not at the ends.

    >>> put_between([1, 2], 0)
    [1, 0, 2]
    >>> put_between([5, 6, 7], 9)
    [5, 9, 6, 9, 7]
    """
    result = []
    for item in items:
        result += [item, separator]
    return result[:-1]


@cases(2, ([1, 2, 3], 0), ([1, 2, 3], 3), ([4], 0), ([7, 8, 9], 2), ([], 0), ([5, 6], 1))
def remove_at_position(items: list[int], position: int) -> list[int]:
    """Return the list without the item at position; if there is no such position, return it unchanged.

    >>> remove_at_position([1, 2, 3], 1)
    [1, 3]
    >>> remove_at_position([4, 5], 6)
    [4, 5]
    """
    return items[:position] + items[position + 1 :]


@cases(2, ([1, 1, 2],), ([],), ([3],), ([4, 4, 4, 4],), ([5, 6, 6, 5, 5],))
def collapse_repeats(items: list[int]) -> list[int]:
    """Return the list with each run of equal neighbours reduced to one item.

    >>> collapse_repeats([1, 1, 2, 2, 1])
    [1, 2, 1]
    >>> collapse_repeats([7, 7])
    [7]
    """
    result: list[int] = []
    for item in items:
        if not result or result[-1] != item:
            result.append(item)
    return result


@cases(2, ([1, 2], 2), ([], 3), ([5, 6], 0), ([7], 4), ([0, -1, 0], 1))
def repeat_each_item(items: list[int], times: int) -> list[int]:
    """Return a list in which every item appears times times in a row.

    >>> repeat_each_item([1, 2], 3)
    [1, 1, 1, 2, 2, 2]
    >>> repeat_each_item([9], 2)
    [9, 9]
    """
    return [item for item in items for _ in range(times)]


@cases(2, ([1, 2],), ([],), ([5],), ([7, 8, 9],), ([0, 0, 1, 1],))
def neighbour_pairs(items: list[int]) -> list[list[int]]:
    """Return a list of [item, next item] for all neighbours; fewer than two items give [].

    >>> neighbour_pairs([1, 2, 3])
    [[1, 2], [2, 3]]
    >>> neighbour_pairs([6, 4])
    [[6, 4]]
    """
    return [items[i : i + 2] for i in range(len(items) - 1)]


@cases(2, ([1, 2, 3], 1), ([], 0), ([4, 5], 2), ([4, 5], 0), ([6, 7, 8, 9], 2))
def split_at_position(items: list[int], position: int) -> list[list[int]]:
    """Return a list of two lists: the items before position, and the items from position on.

    >>> split_at_position([1, 2, 3, 4], 3)
    [[1, 2, 3], [4]]
    >>> split_at_position([9], 0)
    [[], [9]]
    """
    return [items[:position], items[position:]]


@cases(2, (1,), (0,), (2,), (4,), (5,))
def number_staircase(height: int) -> list[list[int]]:
    """Return height rows, where row number k is the list [1, 2, ..., k]; height 0 gives [].

    >>> number_staircase(3)
    [[1], [1, 2], [1, 2, 3]]
    >>> number_staircase(6)
    [[1], [1, 2], [1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]]
    """
    return [list(range(1, row + 1)) for row in range(1, height + 1)]


@cases(2, ([1, 2, 3, 4],), ([],), ([5],), ([0, -1, 2],), ([7, 9],))
def evens_then_odds(numbers: list[int]) -> list[int]:
    """Return all even numbers followed by all odd numbers, each group in its original order.

    >>> evens_then_odds([3, 2, 1, 6])
    [2, 6, 3, 1]
    >>> evens_then_odds([1, 8])
    [8, 1]
    """
    return [n for n in numbers if n % 2 == 0] + [n for n in numbers if n % 2 != 0]


@cases(3, ([1, 0, 2], 0), ([], 5), ([3, 4], 9), ([0, 1, 0], 0), ([5, 7, 7, 6], 7))
def split_on_value(items: list[int], separator: int) -> list[list[int]]:
    """Return the lists of items between the separators, which are left out.

    Two separators in a row give an empty list between them, and an empty input gives [[]].

    >>> split_on_value([1, 2, 0, 3], 0)
    [[1, 2], [3]]
    >>> split_on_value([4, 8], 8)
    [[4], []]
    """
    parts: list[list[int]] = [[]]
    for item in items:
        if item == separator:
            parts.append([])
        else:
            parts[-1].append(item)
    return parts


@cases(3, (["a", "a", "b"],), ([],), (["x"],), (["y", "y", "y"],), (["a", "b", "b", "a"],))
def run_length_pairs(items: list[str]) -> list[list[str | int]]:
    """Return a list of [item, count] for each run of equal neighbours, in order.

    >>> run_length_pairs(["a", "b", "b"])
    [['a', 1], ['b', 2]]
    >>> run_length_pairs(["z", "z"])
    [['z', 2]]
    """
    pairs: list[list] = []
    for item in items:
        if pairs and pairs[-1][0] == item:
            pairs[-1][1] += 1
        else:
            pairs.append([item, 1])
    return pairs


@cases(3, ([1, 2, 3], [4]), ([], []), ([], [1, 2]), ([5, 6], [7, 8]), ([0], [1, 2, 3]))
def take_turns(left: list[int], right: list[int]) -> list[int]:
    """Return items taken by turns from left and right, left first; when one list ends, the rest of
    the other follows.

    >>> take_turns([1, 3, 5, 6], [2, 4])
    [1, 2, 3, 4, 5, 6]
    >>> take_turns([7], [8, 9])
    [7, 8, 9]
    """
    result = []
    for i in range(max(len(left), len(right))):
        result += left[i : i + 1] + right[i : i + 1]
    return result


@cases(3, ([3, 1, 2], 2), ([], 0), ([5, 5], 5), ([9, 1, 8, 2], 4), ([-1, 0, 1, 0], 0))
def split_around_pivot(numbers: list[int], pivot: int) -> list[list[int]]:
    """Return three lists in a list: the numbers below pivot, those equal to it, and those above it.

    >>> split_around_pivot([4, 1, 3, 7], 3)
    [[1], [3], [4, 7]]
    >>> split_around_pivot([6, 2], 8)
    [[6, 2], [], []]
    """
    below = [n for n in numbers if n < pivot]
    equal = [n for n in numbers if n == pivot]
    above = [n for n in numbers if n > pivot]
    return [below, equal, above]
