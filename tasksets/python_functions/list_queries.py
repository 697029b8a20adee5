"""Tasks about asking things of a list: conditions, counts, positions, sums, smallest and largest."""

from tasksets.python_functions.cases import cases


@cases(1, ([1, 0],), ([],), ([5, 6],), ([0, 0],), ([-1, 1, 0, 2],), ([10],))
def contains_zero(numbers: list[int]) -> bool:
    """Return True if 0 is one of the numbers, otherwise False.

    >>> contains_zero([3, 0, 4])
    True
    >>> contains_zero([1, 2])
    False
    """
    return 0 in numbers


@cases(1, ([1, 2],), ([],), ([0],), ([3, -3],), ([9, 8, 7],), ([-1, -2],))
def all_positive(numbers: list[int]) -> bool:
    """Return True if every number is greater than 0; an empty list gives True.

    >>> all_positive([5, 6])
    True
    >>> all_positive([5, 0])
    False
    """
    return all(number > 0 for number in numbers)


@cases(1, (["a", "bbb"], 2), ([], 0), (["tree"], 4), (["", "x"], 0), (["cat", "dog"], 5), (["hello"], 3))
def any_word_longer_than(words: list[str], length: int) -> bool:
    """Return True if at least one word has more than length characters.

    >>> any_word_longer_than(["hi", "there"], 4)
    True
    >>> any_word_longer_than(["hi", "you"], 3)
    False
    """
    return any(len(word) > length for word in words)


@cases(1, ([1, 2, 3],), ([],), ([2, 4, 6],), ([0],), ([-2, -3, 8, 5],))
def count_evens(numbers: list[int]) -> int:
    """Return how many of the numbers are even.

    >>> count_evens([1, 2, 4])
    2
    >>> count_evens([7])
    0
    """
    return sum(number % 2 == 0 for number in numbers)


@cases(1, (["a", "b", "a"], "a"), ([], "x"), (["x", "x", "x"], "x"), (["A", "a"], "a"), (["p", "q"], "r"))
def count_votes_for(votes: list[str], name: str) -> int:
    """Return how many times name appears in votes.

    >>> count_votes_for(["ann", "bob", "ann"], "ann")
    2
    >>> count_votes_for(["ann"], "eve")
    0
    """
    return votes.count(name)


@cases(1, ([1, -1],), ([],), ([-5, -6],), ([0, 4],), ([3, -2, 3, -8],))
def sum_of_negatives(numbers: list[int]) -> int:
    """Return the sum of the numbers below 0; 0 if there are none.

    >>> sum_of_negatives([-2, 5, -3])
    -5
    >>> sum_of_negatives([1])
    0
    """
    return sum(number for number in numbers if number < 0)


@cases(1, (["a", "b"], "b"), ([], "a"), (["x"], "y"), (["p", "q", "p"], "p"), (["", "k", "m"], "m"))
def position_or_minus_one(items: list[str], item: str) -> int:
    """Return the position of the first item equal to item, or -1 if it is not in the list.

    >>> position_or_minus_one(["a", "b", "c", "b"], "b")
    1
    >>> position_or_minus_one(["a"], "z")
    -1
    """
    return items.index(item) if item in items else -1


@cases(1, ([1, 2],), ([],), ([0],), ([5, 6, -7],), ([3, 3, 4, 8],))
def last_or_none(items: list[int]) -> int | None:
    """Return the last item of the list, or None if the list is empty.

    >>> last_or_none([4, 5])
    5
    >>> last_or_none([9])
    9
    """
    return items[-1] if items else None


@cases(1, ([1, 2], 0), ([], 5), ([0, 3], 9), ([-4], 4), ([], -1))
def first_or_default(items: list[int], default: int) -> int:
    """Return the first item of the list, or default if the list is empty.

    >>> first_or_default([7, 8], 0)
    7
    >>> first_or_default([], 3)
    3
    """
    return items[0] if items else default


@cases(1, ([1], [2, 3]), ([], []), ([4, 5], [6]), ([1, 2, 3], []), ([9], [9]), ([1, 1, 1], [5, 5]))
def has_more_items(left: list[int], right: list[int]) -> bool:
    """Return True if left has more items than right.

    >>> has_more_items([1, 2], [9])
    True
    >>> has_more_items([1], [2])
    False
    """
    return len(left) > len(right)


@cases(1, ([1, 2, 1],), ([5],), ([1, 2],), ([0, 4, 0, 4],), ([7, 7],), ([3, 9, 8, 3],))
def ends_are_equal(items: list[int]) -> bool:
    """Return True if the first and the last item of a list that is not empty are equal.

    >>> ends_are_equal([4, 5, 4])
    True
    >>> ends_are_equal([4, 5])
    False
    """
    return items[0] == items[-1]


@cases(1, ([5],), ([1, 2, 3],), ([9, 8, 7, 6, 5],), ([0, -1, 0],), ([4, 4, 6, 4, 4, 1, 1],))
def middle_item(items: list[int]) -> int:
    """Return the item in the middle of a list with an odd number of items.

    >>> middle_item([4, 6, 8])
    6
    >>> middle_item([1, 2, 3, 4, 5])
    3
    """
    return items[len(items) // 2]


@cases(1, ([1, 2],), ([],), ([0],), ([-3, 3],), ([5, 1, 1],))
def sum_of_squares(numbers: list[int]) -> int:
    """Return the sum of the squares of all numbers; an empty list gives 0.

    >>> sum_of_squares([2, 3])
    13
    >>> sum_of_squares([-1])
    1
    """
    return sum(number * number for number in numbers)


@cases(1, ([1, 5],), ([],), ([4],), ([-3, 3],), ([7, 2, 9, 2],))
def spread_of(numbers: list[int]) -> int:
    """Return the largest number minus the smallest one; an empty list gives 0.

    >>> spread_of([3, 8, 4])
    5
    >>> spread_of([6, 6])
    0
    """
    return max(numbers) - min(numbers) if numbers else 0


@cases(1, ([1, 2],), ([],), ([0, 0],), ([5],), ([-4, 4, 6],))
def mean_or_zero(numbers: list[int]) -> float:
    """Return the mean of the numbers as a float, or 0.0 if the list is empty.

    >>> mean_or_zero([2, 4])
    3.0
    >>> mean_or_zero([1, 1, 2, 2])
    1.5
    """
    return sum(numbers) / len(numbers) if numbers else 0.0


@cases(1, ([1, 5, 9], 4), ([], 0), ([3, 3], 3), ([-1, -2, 5], -3), ([10, 20, 30], 25))
def count_above(numbers: list[int], limit: int) -> int:
    """Return how many numbers are greater than limit.

    >>> count_above([1, 2, 3], 1)
    2
    >>> count_above([4], 4)
    0
    """
    return sum(number > limit for number in numbers)


@cases(1, ([1, 2, 1], 1), ([], 3), ([4, 5], 6), ([0, 0, 0], 0), ([7, 8, 9], 9))
def positions_of(items: list[int], value: int) -> list[int]:
    """Return the positions of all items equal to value, in increasing order.

    >>> positions_of([5, 6, 5], 5)
    [0, 2]
    >>> positions_of([1], 2)
    []
    """
    return [position for position, item in enumerate(items) if item == value]


@cases(1, ([1, 1],), ([],), ([3],), ([4, 5, 4],), ([0, 1, 2],), ([9, 8, 9, 8],))
def has_duplicates(items: list[int]) -> bool:
    """Return True if some item appears more than once in the list.

    >>> has_duplicates([1, 2, 1])
    True
    >>> has_duplicates([1, 2])
    False
    """
    return len(set(items)) < len(items)


@cases(1, (["a", "bb"],), ([],), (["same", "size"],), (["", "x"],), (["red", "green", "blue"],))
def longest_word_or_empty(words: list[str]) -> str:
    """Return the longest word, the first one if several are equally long; "" for an empty list.

    >>> longest_word_or_empty(["hi", "hello", "you"])
    'hello'
    >>> longest_word_or_empty(["cat", "dog"])
    'cat'
    """
    return max(words, key=len, default="")


@cases(1, (["ab", "ac"], "a"), ([], "x"), (["b", "a"], "a"), (["no", "yes"], "y"), (["pre", "press"], "pre"))
def all_start_with(words: list[str], prefix: str) -> bool:
    """Return True if every word starts with prefix; an empty list gives True.

    >>> all_start_with(["sun", "sea"], "s")
    True
    >>> all_start_with(["sun", "moon"], "s")
    False
    """
    return all(word.startswith(prefix) for word in words)


@cases(1, (["a", "bb"],), ([],), ([""],), (["hello", "world"],), (["x", "", "yz", "w"],))
def total_letters(words: list[str]) -> int:
    """Return the sum of the lengths of all words.

    >>> total_letters(["hi", "you"])
    5
    >>> total_letters(["cats"])
    4
    """
    return sum(len(word) for word in words)


@cases(1, ([1, 1, 2],), ([],), ([5],), ([3, 4, 5, 6],), ([0, 0, 0],))
def count_different(items: list[int]) -> int:
    """Return how many different values the list contains.

    >>> count_different([7, 8, 7])
    2
    >>> count_different([2, 2])
    1
    """
    return len(set(items))


@cases(1, ([1, 2, 1],), ([],), ([1, 2],), ([3, 3],), ([4, 5, 6],), ([0, 7, 7, 1],))
def reads_same_backwards(items: list[int]) -> bool:
    """Return True if the list is equal to its own reverse.

    >>> reads_same_backwards([5, 6, 5])
    True
    >>> reads_same_backwards([5, 6, 6])
    False
    """
    return items == items[::-1]


@cases(1, ([1, 2, 3],), ([],), ([5],), ([4, 100],), ([-1, 7, -1, 7, -1],))
def sum_at_even_positions(numbers: list[int]) -> int:
    """Return the sum of the numbers at positions 0, 2, 4 and so on.

    >>> sum_at_even_positions([1, 50, 2])
    3
    >>> sum_at_even_positions([6, 1])
    6
    """
    return sum(numbers[::2])


@cases(1, ([1, 2], [2, 3]), ([], [1]), ([4, 5], [6]), ([7], [7]), ([0, 1, 2], [9, 0]), ([3], [-3]))
def share_an_item(left: list[int], right: list[int]) -> bool:
    """Return True if at least one item is in both lists.

    >>> share_an_item([1, 4], [4, 6])
    True
    >>> share_an_item([1], [2])
    False
    """
    return any(item in right for item in left)


@cases(2, ([1, 2, 4],), ([],), ([3, 5],), ([-2, -4],), ([9, 0, 7],))
def largest_even(numbers: list[int]) -> int | None:
    """Return the largest even number in the list, or None if there is none.

    >>> largest_even([6, 8, 9])
    8
    >>> largest_even([1])
    None
    """
    return max((number for number in numbers if number % 2 == 0), default=None)


@cases(2, ([1, 2, 1], 1), ([], 3), ([4, 4, 4], 4), ([5, 6], 7), ([8, 9], 8))
def last_position_of(items: list[int], value: int) -> int:
    """Return the position of the last item equal to value, or -1 if there is none.

    >>> last_position_of([3, 5, 3, 6, 5], 3)
    2
    >>> last_position_of([1], 2)
    -1
    """
    for position in range(len(items) - 1, -1, -1):
        if items[position] == value:
            return position
    return -1


@cases(2, ([1, 3, 2],), ([],), ([5],), ([4, 4],), ([-3, -2, -1],), ([0, 9, 9, 1],))
def position_of_largest(numbers: list[int]) -> int:
    """Return the position of the largest number, the first one if it repeats; -1 for an empty list.

    >>> position_of_largest([2, 8, 5])
    1
    >>> position_of_largest([7, 6])
    0
    """
    return numbers.index(max(numbers)) if numbers else -1


@cases(2, ([1, 5, 9], 4), ([], 0), ([3, 3], 3), ([8, 7], 2), ([-5, -1], -3))
def first_above(numbers: list[int], limit: int) -> int | None:
    """Return the first number greater than limit, or None if there is none.

    >>> first_above([2, 6, 7], 3)
    6
    >>> first_above([1], 10)
    None
    """
    for number in numbers:
        if number > limit:
            return number
    return None


@cases(2, (["a", "b", "a"],), (["x"],), (["p", "q", "q"],), (["m", "n"],), (["z", "y", "z", "y", "y"],))
def most_frequent_item(items: list[str]) -> str:
    """Return the item that appears most often in a list that is not empty; on a tie the earliest one.

    >>> most_frequent_item(["b", "a", "b"])
    'b'
    >>> most_frequent_item(["c", "d"])
    'c'
    """
    return max(items, key=items.count)


@cases(2, ([2, 0, 3],), ([],), ([0, 0],), ([-4, 5],), ([1, 2, 3, 4],))
def product_without_zeros(numbers: list[int]) -> int:
    """Return the product of all numbers that are not 0; 1 if there are none.

    >>> product_without_zeros([5, 0, 2])
    10
    >>> product_without_zeros([0])
    1
    """
    product = 1
    for number in numbers:
        if number != 0:
            product *= number
    return product


@cases(2, ([1, 2],), ([],), ([5],), ([0, -4, 4],), ([9, 3, 6],))
def smallest_and_largest(numbers: list[int]) -> list[int]:
    """Return a list of the smallest and the largest number; an empty list gives [].

    >>> smallest_and_largest([4, 1, 8])
    [1, 8]
    >>> smallest_and_largest([7])
    [7, 7]
    """
    return [min(numbers), max(numbers)] if numbers else []


@cases(2, ([1, 5],), ([],), ([4],), ([9, 2, 3],), ([0, -6, 6, 6],))
def biggest_jump(numbers: list[int]) -> int:
    """Return the largest absolute difference of two neighbours; fewer than two numbers give 0.

    >>> biggest_jump([1, 2, 7])
    5
    >>> biggest_jump([10, 4])
    6
    """
    return max((abs(numbers[i] - numbers[i - 1]) for i in range(1, len(numbers))), default=0)


@cases(2, ([1, 1],), ([],), ([4],), ([2, 3, 2],), ([0, 5, 5, 0],), ([8, 9, 9],), ([1, 2, 3],))
def has_equal_neighbours(items: list[int]) -> bool:
    """Return True if two items that stand next to each other are equal.

    >>> has_equal_neighbours([1, 2, 2])
    True
    >>> has_equal_neighbours([1, 2, 1])
    False
    """
    return any(items[i] == items[i - 1] for i in range(1, len(items)))


@cases(2, ([1, 2, 1],), ([],), ([3, 4],), ([5, 6, 6, 5],), ([0, 0],))
def first_repeated_item(items: list[int]) -> int | None:
    """Return the first item that already appeared earlier in the list, or None if nothing repeats.

    >>> first_repeated_item([7, 8, 9, 8, 7])
    8
    >>> first_repeated_item([1, 2])
    None
    """
    seen = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


@cases(2, ([1, 2, 3], [1, 5, 3]), ([], []), ([4], [5]), ([0, 0], [0, 0]), ([1, 2, 3, 4], [4, 3, 2, 4]))
def count_equal_positions(left: list[int], right: list[int]) -> int:
    """Return at how many positions two lists of equal length have equal items.

    >>> count_equal_positions([1, 2], [1, 3])
    1
    >>> count_equal_positions([5, 6, 7], [5, 6, 7])
    3
    """
    return sum(a == b for a, b in zip(left, right, strict=True))


@cases(2, ([1, 2, 1],), ([],), ([3, 3],), ([4, 5, 6],), ([0, 7, 0, 8, 8],))
def items_appearing_once(items: list[int]) -> list[int]:
    """Return the items that appear exactly once, in their original order.

    >>> items_appearing_once([5, 6, 6])
    [5]
    >>> items_appearing_once([9, 9])
    []
    """
    return [item for item in items if items.count(item) == 1]


@cases(2, ([0, 1, 3],), ([],), ([1, 2],), ([0, 1, 2, 3],), ([5, 0, 0, 1],))
def smallest_missing_number(numbers: list[int]) -> int:
    """Return the smallest whole number from 0 up that is not in the list.

    >>> smallest_missing_number([2, 0])
    1
    >>> smallest_missing_number([0, 1, 2])
    3
    """
    candidate = 0
    while candidate in numbers:
        candidate += 1
    return candidate


@cases(2, ([1, 2, 6],), ([],), ([4, 4],), ([0, 10],), ([1, 1, 1, 1, 20],))
def count_below_mean(numbers: list[int]) -> int:
    """Return how many numbers are smaller than the mean of all numbers; an empty list gives 0.

    >>> count_below_mean([1, 2, 9])
    2
    >>> count_below_mean([5])
    0
    """
    if not numbers:
        return 0
    mean = sum(numbers) / len(numbers)
    return sum(number < mean for number in numbers)


@cases(2, ([1, 5, 9], 6), ([3], 100), ([4, 8], 6), ([-2, 3], 0), ([10, 20, 30], 26))
def closest_number(numbers: list[int], target: int) -> int:
    """Return the number closest to target in a list that is not empty; on a tie the earlier one.

    >>> closest_number([1, 4, 10], 5)
    4
    >>> closest_number([7, 3], 5)
    7
    """
    return min(numbers, key=lambda number: abs(number - target))


@cases(2, ([True, False],), ([],), ([True, True, True],), ([False],), ([False, True, True, False, True],))
def is_majority_true(flags: list[bool]) -> bool:
    """Return True if more than half of the flags are True; an empty list gives False.

    >>> is_majority_true([True, True, False])
    True
    >>> is_majority_true([False, True])
    False
    """
    return sum(flags) * 2 > len(flags)


@cases(3, ([1, 1, 2],), ([],), ([5],), ([3, 3, 3, 1, 3],), ([1, 2, 2, 2, 2, 1],))
def longest_equal_run(items: list[int]) -> int:
    """Return the length of the longest run of equal neighbouring items; an empty list gives 0.

    >>> longest_equal_run([4, 5, 5, 4])
    2
    >>> longest_equal_run([7, 7, 7])
    3
    """
    best = run = 0
    for i, item in enumerate(items):
        run = run + 1 if i > 0 and items[i - 1] == item else 1
        best = max(best, run)
    return best


@cases(3, ([1, 3, 2],), ([],), ([1, 2, 3],), ([0, 5, 0, 5, 0],), ([4, 4, 4],), ([1, 9, 1, 8, 2, 7, 3],))
def count_peaks(numbers: list[int]) -> int:
    """Return how many numbers are greater than both of their neighbours; the two ends do not count.

    >>> count_peaks([1, 5, 2, 6, 3])
    2
    >>> count_peaks([3, 2, 1])
    0
    """
    count = 0
    for i in range(1, len(numbers) - 1):
        if numbers[i - 1] < numbers[i] > numbers[i + 1]:
            count += 1
    return count


@cases(3, ([1, 2, 3], 5), ([], 0), ([4], 8), ([5, 5], 10), ([1, 2, 3], 7), ([-1, 0, 1], 0), ([6, 2], 4))
def has_pair_with_sum(numbers: list[int], total: int) -> bool:
    """Return True if two numbers at different positions add up to total.

    >>> has_pair_with_sum([1, 4, 6], 7)
    True
    >>> has_pair_with_sum([3, 5], 6)
    False
    """
    for i in range(len(numbers)):
        for j in range(i + 1, len(numbers)):
            if numbers[i] + numbers[j] == total:
                return True
    return False


@cases(3, ([1, 2, 3], 3), ([], 1), ([5], 5), ([1, 1, 1], 9), ([0, 0, 4, 4], 2), ([10, 10], 1))
def position_where_total_reaches(numbers: list[int], goal: int) -> int:
    """Return the first position at which the sum of the numbers so far is goal or more; -1 if never.

    >>> position_where_total_reaches([2, 2, 2], 5)
    2
    >>> position_where_total_reaches([1], 3)
    -1
    """
    total = 0
    for position, number in enumerate(numbers):
        total += number
        if total >= goal:
            return position
    return -1
