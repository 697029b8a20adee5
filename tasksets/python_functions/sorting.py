"""Tasks about sorting: keys, ranks, merges, order checks, smallest and largest few."""

from tasksets.python_functions.cases import cases


@cases(1, ([1, 2],), ([],), ([5],), ([3, -1, 3],), ([0, 9, 4, 7],))
def sort_descending(numbers: list[int]) -> list[int]:
    """Return the numbers sorted from largest to smallest.

    >>> sort_descending([2, 3, 1])
    [3, 2, 1]
    >>> sort_descending([4, 6])
    [6, 4]
    """
    return sorted(numbers, reverse=True)


@cases(1, (["bb", "a"],), ([],), (["x", "y"],), (["green", "red", "blue"],), (["one", "", "three", "four"],))
def sort_by_length(words: list[str]) -> list[str]:
    """Return the words sorted from shortest to longest; equally long words keep their order.

    >>> sort_by_length(["hello", "hi", "you"])
    ['hi', 'you', 'hello']
    >>> sort_by_length(["b", "a"])
    ['b', 'a']
    """
    return sorted(words, key=len)


@cases(1, (["b", "A"],), ([],), (["x", "Y", "Z"],), (["Dog", "cat", "Ant"],), (["a", "A"],))
def sort_ignoring_case(words: list[str]) -> list[str]:
    """Return the words in alphabetical order, treating upper and lower case letters as equal.

    >>> sort_ignoring_case(["pear", "Apple"])
    ['Apple', 'pear']
    >>> sort_ignoring_case(["Zoo", "bus", "Car"])
    ['bus', 'Car', 'Zoo']
    """
    return sorted(words, key=str.lower)


@cases(1, (["ab", "ba"],), ([],), (["x"],), (["cat", "dog", "sea"],), (["pen", "ink", "map", "ham"],))
def sort_by_last_letter(words: list[str]) -> list[str]:
    """Return the words sorted by their last letter; no word is empty and ties keep their order.

    >>> sort_by_last_letter(["as", "be"])
    ['be', 'as']
    >>> sort_by_last_letter(["sun", "sea", "old"])
    ['sea', 'old', 'sun']
    """
    return sorted(words, key=lambda word: word[-1])


@cases(1, ([1, -2],), ([],), ([-3, 2],), ([5, -5, 0],), ([-9, 4, -1, 7],))
def sort_by_absolute_value(numbers: list[int]) -> list[int]:
    """Return the numbers sorted by absolute value, smallest first; ties keep their order.

    >>> sort_by_absolute_value([-4, 1, 3])
    [1, 3, -4]
    >>> sort_by_absolute_value([2, -2])
    [2, -2]
    """
    return sorted(numbers, key=abs)


@cases(1, ([1, 2],), ([],), ([2, 1],), ([3, 3],), ([5, 6, 4],), ([-3, 0, 2, 1],))
def is_ascending(numbers: list[int]) -> bool:
    """Return True if no number is smaller than the one before it; an empty list gives True.

    >>> is_ascending([1, 2, 2])
    True
    >>> is_ascending([1, 3, 2])
    False
    """
    return numbers == sorted(numbers)


@cases(1, ([3, 1, 2], 1), ([], 2), ([5, 4], 0), ([7, 7, 6], 2), ([0, -1, 9], 5))
def smallest_few(numbers: list[int], count: int) -> list[int]:
    """Return the count smallest numbers in increasing order, or all of them if there are fewer.

    >>> smallest_few([4, 1, 3], 2)
    [1, 3]
    >>> smallest_few([8], 3)
    [8]
    """
    return sorted(numbers)[:count]


@cases(1, ([3, 1, 2], 1), ([], 2), ([5, 4], 0), ([7, 7, 6], 2), ([0, -1, 9], 5))
def largest_few(numbers: list[int], count: int) -> list[int]:
    """Return the count largest numbers, largest first, or all of them if there are fewer.

    >>> largest_few([4, 1, 3], 2)
    [4, 3]
    >>> largest_few([8, 9], 3)
    [9, 8]
    """
    return sorted(numbers, reverse=True)[:count]


@cases(1, ([2, 1, 2],), ([],), ([5],), ([0, -1, 0, -1],), ([9, 7, 8],))
def sorted_without_duplicates(numbers: list[int]) -> list[int]:
    """Return the different numbers of the list in increasing order, each once.

    >>> sorted_without_duplicates([3, 1, 3])
    [1, 3]
    >>> sorted_without_duplicates([4, 4])
    [4]
    """
    return sorted(set(numbers))


@cases(1, ([1, 2],), ([5, 5],), ([3, 9, 1],), ([0, -4, -2, 7],), ([10, 30, 20],))
def second_smallest(numbers: list[int]) -> int:
    """Return the number that comes second when a list of at least two numbers is sorted upwards.

    >>> second_smallest([8, 3, 6])
    6
    >>> second_smallest([2, 2, 7])
    2
    """
    return sorted(numbers)[1]


@cases(1, ([5],), ([1, 3, 2],), ([9, 9, 1],), ([0, -5, 4, 8, 2],), ([7, 6, 5, 4, 3],))
def middle_by_size(numbers: list[int]) -> int:
    """Return the middle number in sorted order of a list with an odd number of items.

    >>> middle_by_size([6, 1, 4])
    4
    >>> middle_by_size([10, 50, 20, 40, 30])
    30
    """
    return sorted(numbers)[len(numbers) // 2]


@cases(1, ("ba",), ("",), ("x",), ("banana",), ("zebra",))
def sort_letters(word: str) -> str:
    """Return a string with the letters of the word in alphabetical order.

    >>> sort_letters("cat")
    'act'
    >>> sort_letters("noon")
    'nnoo'
    """
    return "".join(sorted(word))


@cases(1, ("b a",), ("",), ("word",), ("the old cat",), ("to be or not",))
def sort_sentence_words(sentence: str) -> str:
    """Return the sentence with its words in alphabetical order, separated by single spaces.

    >>> sort_sentence_words("one two six")
    'one six two'
    >>> sort_sentence_words("red blue")
    'blue red'
    """
    return " ".join(sorted(sentence.split()))


@cases(1, ([[1, 2], [2, 1]],), ([],), ([[5, 5]],), ([[0, 3], [9, -1], [4, 2]],), ([[1, 7], [2, 7], [3, 6]],))
def sort_pairs_by_second(pairs: list[list[int]]) -> list[list[int]]:
    """Return the pairs sorted by their second number; ties keep their order.

    >>> sort_pairs_by_second([[1, 9], [2, 4]])
    [[2, 4], [1, 9]]
    >>> sort_pairs_by_second([[8, 0], [7, 1]])
    [[8, 0], [7, 1]]
    """
    return sorted(pairs, key=lambda pair: pair[1])


@cases(1, ([2, 1], [3]), ([], []), ([5], [4]), ([0, 9], [-1, 0]), ([7], []))
def join_and_sort(left: list[int], right: list[int]) -> list[int]:
    """Return all numbers of both lists as one sorted list.

    >>> join_and_sort([3, 1], [2])
    [1, 2, 3]
    >>> join_and_sort([6], [6])
    [6, 6]
    """
    return sorted(left + right)


@cases(1, ("ab", "ba"), ("", ""), ("a", "b"), ("tea", "eat"), ("noon", "no"), ("listen", "listed"))
def have_same_letters(first: str, second: str) -> bool:
    """Return True if the two words use exactly the same letters equally often, in any order.

    >>> have_same_letters("arm", "ram")
    True
    >>> have_same_letters("aab", "abb")
    False
    """
    return sorted(first) == sorted(second)


@cases(1, ([12, 21],), ([],), ([5],), ([30, 4, 17],), ([99, 18, 8, 100],))
def sort_by_last_digit(numbers: list[int]) -> list[int]:
    """Return the numbers, none of them negative, sorted by their last digit; ties keep their order.

    >>> sort_by_last_digit([19, 31, 25])
    [31, 25, 19]
    >>> sort_by_last_digit([42, 12])
    [42, 12]
    """
    return sorted(numbers, key=lambda number: number % 10)


@cases(1, ([1, 5, 9], 6), ([], 0), ([4, 6], 5), ([-3, 3, 0], 2), ([10, 20, 30], 31))
def sort_by_distance_to(numbers: list[int], target: int) -> list[int]:
    """Return the numbers sorted by their distance to target, closest first; ties keep their order.

    >>> sort_by_distance_to([1, 8, 4], 5)
    [4, 8, 1]
    >>> sort_by_distance_to([7, 3], 2)
    [3, 7]
    """
    return sorted(numbers, key=lambda number: abs(number - target))


@cases(
    1,
    ([{"a": 2}, {"a": 1}], "a"),
    ([], "x"),
    ([{"x": 5, "y": 0}], "y"),
    ([{"x": 1, "y": 9}, {"x": 2, "y": 8}], "y"),
    ([{"x": 3, "y": 9}, {"x": 4, "y": 8}], "x"),
)
def sort_records_by(records: list[dict[str, int]], key: str) -> list[dict[str, int]]:
    """Return the dictionaries sorted by the value that each of them has for key.

    >>> sort_records_by([{"age": 9}, {"age": 7}], "age")
    [{'age': 7}, {'age': 9}]
    >>> sort_records_by([{"n": 1}, {"n": 2}], "n")
    [{'n': 1}, {'n': 2}]
    """
    return sorted(records, key=lambda record: record[key])


@cases(1, ({"a": 2, "b": 1},), ({},), ({"x": 0},), ({"p": 3, "q": -3, "r": 1},), ({"m": 1, "k": 2, "l": 3},))
def keys_sorted_by_value(scores: dict[str, int]) -> list[str]:
    """Return the keys of the dictionary sorted by their values, the smallest value first.

    >>> keys_sorted_by_value({"tom": 7, "ann": 4})
    ['ann', 'tom']
    >>> keys_sorted_by_value({"z": 1, "y": 5})
    ['z', 'y']
    """
    return sorted(scores, key=lambda name: scores[name])


@cases(1, (0,), (7,), (12,), (5050,), (98765,), (1349,))
def largest_from_digits(number: int) -> int:
    """Return the largest number that can be written with the digits of a number that is not negative.

    >>> largest_from_digits(132)
    321
    >>> largest_from_digits(100)
    100
    """
    return int("".join(sorted(str(number), reverse=True)))


@cases(1, ([[3], [1]],), ([],), ([[], [-1]],), ([[1, 2], [0, 2], [9]],), ([[5, 5], [4, 7], [1, 1, 1]],))
def sort_lists_by_sum(lists: list[list[int]]) -> list[list[int]]:
    """Return the inner lists sorted by the sum of their numbers, the smallest sum first.

    >>> sort_lists_by_sum([[4, 4], [5]])
    [[5], [4, 4]]
    >>> sort_lists_by_sum([[1], [2, 2]])
    [[1], [2, 2]]
    """
    return sorted(lists, key=sum)


@cases(1, ([1, 2, 3],), ([],), ([5],), ([9, 8, 7, 6],), ([0, 0, -4, 3],))
def sorted_without_extremes(numbers: list[int]) -> list[int]:
    """Return the sorted numbers without one smallest and one largest; up to two numbers give [].

    >>> sorted_without_extremes([5, 1, 9])
    [5]
    >>> sorted_without_extremes([3, 8])
    []
    """
    return sorted(numbers)[1:-1]


@cases(1, (["2", "1"],), ([],), (["7"],), (["100", "20", "3"],), (["-5", "0", "-10"],))
def sort_number_strings(texts: list[str]) -> list[str]:
    """Return the strings sorted by the whole number that each of them stands for.

    >>> sort_number_strings(["10", "9"])
    ['9', '10']
    >>> sort_number_strings(["3", "11", "2"])
    ['2', '3', '11']
    """
    return sorted(texts, key=int)


@cases(1, (["ab", "ba"],), ([],), (["x"],), (["walking", "ringed", "sofa"],), (["cat", "bat", "dog"],))
def sort_by_reversed_word(words: list[str]) -> list[str]:
    """Return the words sorted as if each of them were written backwards.

    >>> sort_by_reversed_word(["az", "zb"])
    ['zb', 'az']
    >>> sort_by_reversed_word(["on", "an"])
    ['an', 'on']
    """
    return sorted(words, key=lambda word: word[::-1])


@cases(2, ([1, 2],), ([],), ([3, 5, 1],), ([4, 3, 2, 1],), ([0, -1, -2],))
def sort_evens_first(numbers: list[int]) -> list[int]:
    """Return the even numbers in increasing order, followed by the odd numbers in increasing order.

    >>> sort_evens_first([3, 4, 1, 2])
    [2, 4, 1, 3]
    >>> sort_evens_first([7, 6])
    [6, 7]
    """
    return sorted(numbers, key=lambda number: (number % 2, number))


@cases(2, (["b", "a"],), ([],), (["xx", "y"],), (["cat", "ant", "bee", "ox"],), (["", "z", "aa", "b"],))
def sort_by_length_then_alphabet(words: list[str]) -> list[str]:
    """Return the words sorted by length; words of equal length are in alphabetical order.

    >>> sort_by_length_then_alphabet(["dog", "ape", "a"])
    ['a', 'ape', 'dog']
    >>> sort_by_length_then_alphabet(["no", "go"])
    ['go', 'no']
    """
    return sorted(words, key=lambda word: (len(word), word))


@cases(2, ([10, 20, 30], 20), ([], 5), ([7, 7], 7), ([3, 2, 1], 0), ([50, 60], 99))
def rank_of_score(scores: list[int], score: int) -> int:
    """Return 1 plus the number of scores that are higher than score.

    >>> rank_of_score([5, 9, 7], 7)
    2
    >>> rank_of_score([4, 4], 3)
    3
    """
    return 1 + sum(other > score for other in scores)


@cases(2, ([10, 20],), ([],), ([5],), ([7, 7, 3],), ([1, 4, 2, 3],))
def ranks_from_highest(scores: list[int]) -> list[int]:
    """Return the rank of each score: 1 for the highest; equal scores have the same rank.

    The rank of a score is 1 plus the number of scores that are higher.

    >>> ranks_from_highest([5, 9, 7])
    [3, 1, 2]
    >>> ranks_from_highest([8, 8])
    [1, 1]
    """
    return [1 + sum(other > score for other in scores) for score in scores]


@cases(2, ([2, 1],), ([],), ([5],), ([7, 9, 8],), ([3, 0, 3, -1],))
def positions_in_sorted_order(numbers: list[int]) -> list[int]:
    """Return the positions of the numbers, ordered from the smallest number to the largest.

    Equal numbers keep the order of their positions.

    >>> positions_in_sorted_order([30, 10, 20])
    [1, 2, 0]
    >>> positions_in_sorted_order([4, 4])
    [0, 1]
    """
    return sorted(range(len(numbers)), key=lambda position: numbers[position])


@cases(2, (["a", "bb"],), ([],), (["xx", "y"],), (["on", "it"],), (["one", "three", "two"],), (["ab", ""],))
def is_sorted_by_length(words: list[str]) -> bool:
    """Return True if no word is shorter than the word before it; an empty list gives True.

    >>> is_sorted_by_length(["a", "to", "of"])
    True
    >>> is_sorted_by_length(["hello", "you"])
    False
    """
    return all(len(words[i - 1]) <= len(words[i]) for i in range(1, len(words)))


@cases(2, ([1, 3], 2), ([], 5), ([4, 6], 1), ([4, 6], 9), ([-2, 0, 0, 1], 0))
def insert_in_order(numbers: list[int], number: int) -> list[int]:
    """Return the sorted list with number added at a place that keeps the list sorted.

    >>> insert_in_order([1, 2, 4], 3)
    [1, 2, 3, 4]
    >>> insert_in_order([7], 5)
    [5, 7]
    """
    return sorted([*numbers, number])


@cases(2, ({"a": 2, "b": 3}, 1), ({}, 2), ({"x": 0}, 5), ({"p": 3, "q": 9, "r": 1}, 2), ({"m": 1, "k": 2}, 0))
def names_of_top_scorers(scores: dict[str, int], count: int) -> list[str]:
    """Return the count names with the highest scores, highest first; no two scores are equal.

    >>> names_of_top_scorers({"tom": 7, "ann": 9, "eve": 8}, 2)
    ['ann', 'eve']
    >>> names_of_top_scorers({"z": 1, "y": 5}, 1)
    ['y']
    """
    return sorted(scores, key=lambda name: scores[name], reverse=True)[:count]


@cases(2, ([1, 2],), ([5],), ([3, 1, 2],), ([4, 0, 8, 1],), ([-1, -3],), ([9, 9, 9, 1, 1],))
def median_of(numbers: list[int]) -> float:
    """Return the median of a list that is not empty, as a float.

    With an even number of items it is the mean of the two middle numbers in sorted order.

    >>> median_of([7, 1, 4])
    4.0
    >>> median_of([1, 2, 3, 10])
    2.5
    """
    ordered = sorted(numbers)
    middle = len(ordered) // 2
    if len(ordered) % 2 == 1:
        return float(ordered[middle])
    return (ordered[middle - 1] + ordered[middle]) / 2


@cases(2, (["aa", "b"],), ([],), (["sky"],), (["idea", "tree", "dog"],), (["ice", "owl", "fly", "audio"],))
def sort_by_vowel_count(words: list[str]) -> list[str]:
    """Return the lower-case words sorted by how many vowels (a, e, i, o, u) they contain.

    Words with equally many vowels keep their order.

    >>> sort_by_vowel_count(["banana", "cat"])
    ['cat', 'banana']
    >>> sort_by_vowel_count(["house", "my", "red"])
    ['my', 'red', 'house']
    """
    return sorted(words, key=lambda word: sum(letter in "aeiou" for letter in word))


@cases(2, ([0, 1],), ([],), ([0, 0],), ([3, 0, -2, 0, 5],), ([4, 6],))
def move_zeros_to_end(numbers: list[int]) -> list[int]:
    """Return the list with all zeros moved to the end; the other numbers keep their order.

    >>> move_zeros_to_end([0, 5, 0, 4])
    [5, 4, 0, 0]
    >>> move_zeros_to_end([1, 0])
    [1, 0]
    """
    return sorted(numbers, key=lambda number: number == 0)


@cases(2, ([1, 5],), ([4, 4],), ([9, 2, 7],), ([0, -6, 10],), ([30, 10, 25, 50],))
def smallest_gap(numbers: list[int]) -> int:
    """Return the smallest difference between any two of the numbers; there are at least two.

    >>> smallest_gap([10, 1, 7])
    3
    >>> smallest_gap([5, 8, 5])
    0
    """
    ordered = sorted(numbers)
    return min(ordered[i] - ordered[i - 1] for i in range(1, len(ordered)))


@cases(2, ([1, 2],), ([],), ([2, 1],), ([5, 4, 3, 2],), ([1, 9, 3, 8],))
def count_drops(numbers: list[int]) -> int:
    """Return how many numbers are smaller than the number directly before them.

    >>> count_drops([3, 1, 2])
    1
    >>> count_drops([4, 4])
    0
    """
    return sum(numbers[i] < numbers[i - 1] for i in range(1, len(numbers)))


@cases(
    2,
    (["b", "a"], ["a", "b"]),
    ([], ["x"]),
    (["x"], ["y", "x"]),
    (["l", "s", "m", "s"], ["s", "m", "l"]),
    (["hi", "lo", "hi"], ["hi", "lo"]),
)
def sort_by_given_order(items: list[str], order: list[str]) -> list[str]:
    """Return the items sorted by their position in order, which contains each of them.

    >>> sort_by_given_order(["low", "high"], ["high", "mid", "low"])
    ['high', 'low']
    >>> sort_by_given_order(["c", "a", "c"], ["c", "b", "a"])
    ['c', 'c', 'a']
    """
    return sorted(items, key=order.index)


@cases(2, ([1, 2],), ([],), ([5],), ([3, 3, 1],), ([9, 4, 6, 4],), ([7, 7],))
def second_largest_different(numbers: list[int]) -> int | None:
    """Return the second largest of the different numbers, or None if there are fewer than two.

    >>> second_largest_different([5, 8, 8, 2])
    5
    >>> second_largest_different([6, 6])
    None
    """
    different = sorted(set(numbers))
    return different[-2] if len(different) > 1 else None


@cases(2, ([1, 2],), ([],), ([2, 1],), ([3, 3],), ([4, 6, 5],), ([-1, 0, 7],), ([1, 2, 2, 3],))
def is_strictly_increasing(numbers: list[int]) -> bool:
    """Return True if every number is greater than the one before it; an empty list gives True.

    >>> is_strictly_increasing([1, 3, 4])
    True
    >>> is_strictly_increasing([1, 1, 2])
    False
    """
    return all(numbers[i - 1] < numbers[i] for i in range(1, len(numbers)))


@cases(3, ([1, 3], [2]), ([], []), ([5], []), ([0, 4], [1, 2, 9]), ([-1, 3, 3], [3, 7]))
def merge_sorted_lists(left: list[int], right: list[int]) -> list[int]:
    """Return one sorted list with all numbers of two lists that are already sorted upwards.

    >>> merge_sorted_lists([1, 4], [2, 3])
    [1, 2, 3, 4]
    >>> merge_sorted_lists([], [6])
    [6]
    """
    merged = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]


@cases(3, (["b", "a", "b"],), ([],), (["x"],), (["q", "p"],), (["n", "m", "n", "m", "k", "k", "k"],))
def sort_by_frequency(items: list[str]) -> list[str]:
    """Return the different items, most frequent first; equally frequent ones in alphabetical order.

    >>> sort_by_frequency(["a", "c", "c", "b"])
    ['c', 'a', 'b']
    >>> sort_by_frequency(["z", "y", "y", "z"])
    ['y', 'z']
    """
    return sorted(set(items), key=lambda item: (-items.count(item), item))


@cases(3, ([2, 1],), ([],), ([5],), ([3, 2, 1, 0],), ([1, 9, 4, 8, 8],))
def one_bubble_pass(numbers: list[int]) -> list[int]:
    """Return the list after one pass from left to right that swaps neighbours standing in wrong order.

    The pass makes the list one step more sorted and brings the largest number to the end.

    >>> one_bubble_pass([3, 1, 2])
    [1, 2, 3]
    >>> one_bubble_pass([5, 7, 6, 4])
    [5, 6, 4, 7]
    """
    result = list(numbers)
    for i in range(1, len(result)):
        if result[i - 1] > result[i]:
            result[i - 1], result[i] = result[i], result[i - 1]
    return result


@cases(3, ([1, 2, 3],), ([],), ([5],), ([8, 6, 7, 9],), ([0, -1, 4, 4, 2],))
def largest_smallest_by_turns(numbers: list[int]) -> list[int]:
    """Return the numbers as: largest, smallest, second largest, second smallest, and so on.

    >>> largest_smallest_by_turns([1, 2, 3, 4])
    [4, 1, 3, 2]
    >>> largest_smallest_by_turns([6, 9])
    [9, 6]
    """
    ordered = sorted(numbers)
    result = []
    while ordered:
        result.append(ordered.pop())
        if ordered:
            result.append(ordered.pop(0))
    return result
