"""Tasks on counting: frequencies, duplicates, distinct values and groups."""

from collections import Counter

from tasksets.python_functions.cases import cases


@cases(1, ([], 1), ([1, 1, 1], 1), ([1, 2, 3, 2], 2), ([0, -1, 0], 0), ([5, 6], 7), ([-2, -2, 2], -2))
def times_in_list(numbers: list[int], target: int) -> int:
    """Return how many times target occurs in numbers.

    >>> times_in_list([1, 2, 1], 1)
    2
    >>> times_in_list([4, 5], 9)
    0
    """
    return numbers.count(target)


@cases(1, ("",), ("one",), ("no no no",), ("to be or not to be",), ("a  b  a",))
def count_distinct_words(sentence: str) -> int:
    """Return how many different words there are in sentence. Words are separated by spaces.

    >>> count_distinct_words("the cat and the dog")
    4
    >>> count_distinct_words("go go")
    1
    """
    return len(set(sentence.split()))


@cases(1, ([], []), ([1, 2], [2, 3]), ([1, 1], []), ([5, 4], [4, 5]), ([3, 0, 9], [-1, 3]))
def values_in_only_one_list(first: list[int], second: list[int]) -> list[int]:
    """Return a sorted list of the different values that occur in just one of the two lists.

    >>> values_in_only_one_list([1, 2, 3], [3, 4])
    [1, 2, 4]
    >>> values_in_only_one_list([7, 7], [7, 5])
    [5]
    """
    return sorted(set(first) ^ set(second))


@cases(
    1, ([],), (["A", "a"],), (["x", "y", "Z"],), (["Tom", "tom", "TOM", "ann"],), (["Hi", "ho", "hI", "HO"],)
)
def count_distinct_ignoring_case(words: list[str]) -> int:
    """Return how many different words there are if upper and lower case letters count as equal.

    >>> count_distinct_ignoring_case(["Cat", "cat", "dog"])
    2
    >>> count_distinct_ignoring_case(["NO"])
    1
    """
    return len({word.lower() for word in words})


@cases(1, ([1],), ([1, 1],), ([1, 2],), ([3, 3, 3, 3],), ([0, 0, 1],), ([],))
def all_values_equal(numbers: list[int]) -> bool:
    """Return True if all values in numbers are equal; also for an empty list. Otherwise return False.

    >>> all_values_equal([7, 7, 7])
    True
    >>> all_values_equal([7, 7, 8])
    False
    """
    return len(set(numbers)) <= 1


@cases(1, ([],), ([0],), ([None],), ([None, 0, None],), ([1, None, None, None, -2],))
def count_missing_values(values: list[int | None]) -> int:
    """Return how many of the values are None. Zeros are not None.

    >>> count_missing_values([1, None, 3])
    1
    >>> count_missing_values([None, None])
    2
    """
    return values.count(None)


@cases(1, ([], 0), ([1, 2, 3], 1), ([5, 5, 5], 5), ([-1, 0, 1, 8], -2), ([10, 20, 10], 10))
def count_other_values(numbers: list[int], target: int) -> int:
    """Return how many of the numbers are not equal to target.

    >>> count_other_values([1, 5, 1], 5)
    2
    >>> count_other_values([3, 4, 6], 9)
    3
    """
    return len(numbers) - numbers.count(target)


@cases(1, ([], 2), ([3, 6, 7], 3), ([1, 2], 5), ([0, 10, -10, 4], 5), ([7, 14, 21, 28], 7))
def count_multiples(numbers: list[int], divisor: int) -> int:
    """Return how many of the numbers can be divided by divisor without a remainder.

    >>> count_multiples([4, 8, 9], 4)
    2
    >>> count_multiples([5, 6], 6)
    1
    """
    return sum(1 for number in numbers if number % divisor == 0)


@cases(1, ("",), ("a",), ("one two",), ("  many   spaces here ",), ("a b c d e",))
def count_words(text: str) -> int:
    """Return the number of words in text. Words are separated by spaces.

    >>> count_words("good morning")
    2
    >>> count_words("I like green tea")
    4
    """
    return len(text.split())


@cases(1, ("",), ("Stop!",), ("One. Two. Three.",), ("Really? Yes! Good.  Bye.",), ("no end",))
def count_sentence_ends(text: str) -> int:
    """Return how many characters of text are '.', '!' or '?'.

    >>> count_sentence_ends("Hi! How are you?")
    2
    >>> count_sentence_ends("It rains.")
    1
    """
    return sum(1 for char in text if char in ".!?")


@cases(1, ([True],), ([],), ([False, False],), ([True, False, True],), ([True, True, True, False, True],))
def count_true(flags: list[bool]) -> int:
    """Return how many of the flags are True.

    >>> count_true([True, True, False])
    2
    >>> count_true([False])
    0
    """
    return flags.count(True)


@cases(
    1,
    ([], "a"),
    (["apple", "bob"], "a"),
    (["ab", "abc", "b"], "ab"),
    (["x"], "xy"),
    (["no", "not", "now"], "no"),
)
def count_words_with_prefix(words: list[str], prefix: str) -> int:
    """Return how many of the words start with prefix.

    >>> count_words_with_prefix(["cat", "car", "dog"], "ca")
    2
    >>> count_words_with_prefix(["sun", "moon"], "s")
    1
    """
    return sum(1 for word in words if word.startswith(prefix))


@cases(1, ([], 3), (["a", "bb", "ccc"], 1), (["one", "two", "four"], 3), (["", ""], 0), (["x", "yy"], 5))
def count_words_of_length(words: list[str], length: int) -> int:
    """Return how many of the words have exactly the given length.

    >>> count_words_of_length(["cat", "horse", "dog"], 3)
    2
    >>> count_words_of_length(["hi", "all"], 2)
    1
    """
    return sum(len(word) == length for word in words)


@cases(
    1, ([], []), ([1, 2], [2, 3]), ([1, 1, 2], [1]), ([5, 6], [7]), ([3, 2, 1], [1, 2, 3]), ([0, -1], [-1, 4])
)
def count_shared_values(first: list[int], second: list[int]) -> int:
    """Return how many different values occur in both lists.

    >>> count_shared_values([1, 2, 3], [3, 1, 9])
    2
    >>> count_shared_values([4, 4], [4, 4])
    1
    """
    return len(set(first) & set(second))


@cases(1, ([],), (["a"],), (["a", "b", "a"],), (["x", "x", "x"],), (["red", "blue", "red", "blue"],))
def frequency_of_words(words: list[str]) -> dict[str, int]:
    """Return a dict that maps each word to the number of times it occurs in words.

    >>> frequency_of_words(["a", "b", "b"])
    {'a': 1, 'b': 2}
    >>> frequency_of_words(["tea", "tea"])
    {'tea': 2}
    """
    return {word: words.count(word) for word in words}


@cases(1, ("",), ("sky",), ("banana",), ("queue",), ("education",))
def counts_of_vowels(text: str) -> list[int]:
    """Return a list of how often the letters a, e, i, o and u occur in text, in this order.

    >>> counts_of_vowels("hello")
    [0, 1, 0, 1, 0]
    >>> counts_of_vowels("asia")
    [2, 0, 1, 0, 0]
    """
    return [text.count(vowel) for vowel in "aeiou"]


@cases(1, ([],), (["x"],), (["a", "b", "b"],), (["p", "q", "r"],), (["no", "no", "yes", "no", "no"],))
def votes_of_the_winner(votes: list[str]) -> int:
    """Return how many times the most frequent name occurs in votes, or 0 if there are no votes.

    >>> votes_of_the_winner(["ann", "bob", "ann"])
    2
    >>> votes_of_the_winner(["tim", "tim", "tim"])
    3
    """
    return max((votes.count(name) for name in votes), default=0)


@cases(1, ([], 1, 5), ([1, 5], 1, 5), ([0, 6], 1, 5), ([2, 3, 9, 4], 2, 4), ([-3, -1, 0], -2, 0))
def count_in_range(numbers: list[int], low: int, high: int) -> int:
    """Return how many numbers lie between low and high, both included.

    >>> count_in_range([1, 5, 10], 2, 10)
    2
    >>> count_in_range([7], 8, 9)
    0
    """
    return sum(1 for number in numbers if low <= number <= high)


@cases(1, ([], 2), ([1, 1], 2), ([1, 1, 2], 1), ([4, 4, 4], 4), ([0, 0, 0, 5], 0), ([7, 8, 7], 7))
def occurs_exactly_twice(numbers: list[int], target: int) -> bool:
    """Return True if target occurs exactly two times in numbers, otherwise False.

    >>> occurs_exactly_twice([3, 1, 3], 3)
    True
    >>> occurs_exactly_twice([3, 1, 3], 1)
    False
    """
    return numbers.count(target) == 2


@cases(1, ([], []), ([1, 1, 2], [2, 1]), ([1, 2], [1, 3]), ([4, 4], [4]), ([0], []), ([3, 2, 1], [1, 2]))
def have_same_distinct_values(first: list[int], second: list[int]) -> bool:
    """Return True if both lists have the same values, no matter how often and in which order.

    >>> have_same_distinct_values([5, 6, 5], [6, 5])
    True
    >>> have_same_distinct_values([5, 6], [5, 7])
    False
    """
    return set(first) == set(second)


@cases(1, ([],), ([4],), ([1, 1, 2],), ([3, 3, 3, 3],), ([0, 1, 0, 1, 2],))
def number_of_repeats(numbers: list[int]) -> int:
    """Return how many values must be removed from numbers so that no value occurs twice.

    >>> number_of_repeats([5, 5, 6])
    1
    >>> number_of_repeats([2, 2, 2, 1, 1])
    3
    """
    return len(numbers) - len(set(numbers))


@cases(2, ([], 1), ([3, 1, 3], 2), ([5, 5, 5, 2, 2, 1], 2), ([1, 2], 3), ([9, 8, 9], 1), ([0, 0, 0], 3))
def values_occurring_at_least(numbers: list[int], times: int) -> list[int]:
    """Return a sorted list of the different values that occur at least the given number of times.

    >>> values_occurring_at_least([4, 4, 1, 1, 1, 7], 2)
    [1, 4]
    >>> values_occurring_at_least([6, 6], 3)
    []
    """
    return sorted({number for number in numbers if numbers.count(number) >= times})


@cases(2, ([],), ([2, 1, 2],), ([3, 3, 3],), ([1, 2, 3],), ([5, 0, 5, 0, 7],))
def sorted_duplicated_values(numbers: list[int]) -> list[int]:
    """Return a sorted list of the values that occur more than once in numbers, each listed once.

    >>> sorted_duplicated_values([4, 1, 4, 1, 2])
    [1, 4]
    >>> sorted_duplicated_values([6, 6, 6])
    [6]
    """
    return sorted({number for number in numbers if numbers.count(number) > 1})


@cases(2, ([],), ([2, 1, 2],), ([3, 3, 3],), ([1, 2, 3],), ([5, 0, 5, 0, 7],))
def positions_of_repeats(numbers: list[int]) -> list[int]:
    """Return a list of all positions (from 0) whose number already occurred at an earlier position.

    >>> positions_of_repeats([4, 1, 4, 4])
    [2, 3]
    >>> positions_of_repeats([9, 9])
    [1]
    """
    return [i for i, number in enumerate(numbers) if number in numbers[:i]]


@cases(2, ([],), (["a"],), (["cat", "dog", "horse"],), (["x", "yy", "zz", "w"],), (["", "abc"],))
def count_words_by_length(words: list[str]) -> dict[str, int]:
    """Return a dict that maps each word length, written as a str, to the number of words of that length.

    >>> count_words_by_length(["hi", "no", "yes"])
    {'2': 2, '3': 1}
    >>> count_words_by_length(["four"])
    {'4': 1}
    """
    counts: dict[str, int] = {}
    for word in words:
        key = str(len(word))
        counts[key] = counts.get(key, 0) + 1
    return counts


@cases(
    2, ([],), (["apple"],), (["bear", "ant", "bee"],), (["x", "y", "x"],), (["cat", "cow", "dog", "crow"],)
)
def group_words_by_first_letter(words: list[str]) -> dict[str, list[str]]:
    """Return a dict that maps each first letter to the list of words that start with it, in order.

    >>> group_words_by_first_letter(["ant", "bat", "axe"])
    {'a': ['ant', 'axe'], 'b': ['bat']}
    >>> group_words_by_first_letter(["sun"])
    {'s': ['sun']}
    """
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(word[0], []).append(word)
    return groups


@cases(2, ([],), ([2],), ([1, 3],), ([0, 2, 4, 5],), ([-2, -1, 6, 7],))
def count_even_and_odd(numbers: list[int]) -> dict[str, int]:
    """Return a dict with the number of even numbers under 'even' and of odd numbers under 'odd'.

    >>> count_even_and_odd([1, 2, 4])
    {'even': 2, 'odd': 1}
    >>> count_even_and_odd([7, 9])
    {'even': 0, 'odd': 2}
    """
    even = sum(1 for number in numbers if number % 2 == 0)
    return {"even": even, "odd": len(numbers) - even}


@cases(2, ([], 1), ([1, 2], 1), ([3, 3, 3], 3), ([1, 2, 3, 4], 2), ([5, 6], 7), ([0, 0, 0, 1], 0))
def share_of_value(numbers: list[int], target: int) -> float:
    """Return which part of the numbers equals target, as a float from 0.0 to 1.0. An empty list gives 0.0.

    >>> share_of_value([2, 2, 5, 6], 2)
    0.5
    >>> share_of_value([8], 8)
    1.0
    """
    return numbers.count(target) / len(numbers) if numbers else 0.0


@cases(2, ([],), (["a"],), (["a", "a", "a"],), (["x", "y", "x", "y"],), (["p", "q", "p", "r", "p"],))
def occurrence_numbers(words: list[str]) -> list[int]:
    """Return a list that replaces every word by how many times it has occurred up to and including there.

    >>> occurrence_numbers(["b", "c", "b"])
    [1, 1, 2]
    >>> occurrence_numbers(["no", "no"])
    [1, 2]
    """
    return [words[: i + 1].count(word) for i, word in enumerate(words)]


@cases(2, ([1],), ([1, 2],), ([3, 3, 1],), ([1, 2, 1, 3],), ([5, 5, 5, 1, 2, 3],), ([4, 4, 1, 1],))
def has_majority(numbers: list[int]) -> bool:
    """Return True if some value makes up more than half of numbers, otherwise False.

    >>> has_majority([2, 2, 3])
    True
    >>> has_majority([2, 3])
    False
    """
    return any(numbers.count(number) * 2 > len(numbers) for number in numbers)


@cases(2, ([],), ([7],), ([1, 1, 2, 1],), ([3, 3, 3],), ([1, 2, 1, 2],), ([0, 0, 5, 5],))
def count_equal_neighbours(numbers: list[int]) -> int:
    """Return how many positions hold the same value as the position directly before them.

    >>> count_equal_neighbours([4, 4, 5])
    1
    >>> count_equal_neighbours([6, 6, 6, 6])
    3
    """
    return sum(1 for i in range(1, len(numbers)) if numbers[i] == numbers[i - 1])


@cases(2, ([], 4), ([1, 3], 4), ([2, 2, 2], 4), ([1, 2, 3, 4], 5), ([0, -1, 1], 0))
def count_pairs_with_sum(numbers: list[int], total: int) -> int:
    """Return how many pairs of different positions in numbers have values that add up to total.

    >>> count_pairs_with_sum([1, 2, 3], 3)
    1
    >>> count_pairs_with_sum([5, 5, 5, 0], 10)
    3
    """
    size = len(numbers)
    return sum(1 for i in range(size) for j in range(i + 1, size) if numbers[i] + numbers[j] == total)


@cases(
    2, ([], ["a"]), (["a", "b"], []), (["a", "b"], ["a"]), (["x", "y", "x"], ["y", "x"]), (["p", "q"], ["r"])
)
def votes_per_candidate(votes: list[str], candidates: list[str]) -> dict[str, int]:
    """Return a dict that maps every candidate to its number of votes. Ignore votes for other names.

    >>> votes_per_candidate(["ann", "bob", "ann"], ["ann", "cy"])
    {'ann': 2, 'cy': 0}
    >>> votes_per_candidate(["bob"], ["bob"])
    {'bob': 1}
    """
    return {name: votes.count(name) for name in candidates}


@cases(2, ([],), ([0],), ([1, -1],), ([0, 0, 5, -2, 7],), ([-1, -2, -3],))
def count_signs(numbers: list[int]) -> list[int]:
    """Return a list of three counts: how many numbers are negative, zero and positive.

    >>> count_signs([1, 2, -3])
    [1, 0, 2]
    >>> count_signs([0, 4])
    [0, 1, 1]
    """
    negative = sum(1 for number in numbers if number < 0)
    positive = sum(1 for number in numbers if number > 0)
    return [negative, numbers.count(0), positive]


@cases(3, ([],), (["a"],), (["b", "a"],), (["x", "y", "x", "z", "y"],), (["c", "c", "b", "a", "a", "a"],))
def words_by_frequency(words: list[str]) -> list[str]:
    """Return the different words from the most frequent to the least; equal counts in alphabetical order.

    >>> words_by_frequency(["tea", "milk", "milk"])
    ['milk', 'tea']
    >>> words_by_frequency(["d", "c", "d", "c", "e"])
    ['c', 'd', 'e']
    """
    return sorted(set(words), key=lambda word: (-words.count(word), word))


@cases(3, ([],), (["a"],), (["ab", "ba", "c"],), (["tea", "eat", "ate"],), (["one", "two", "neo", "six"],))
def count_anagram_groups(words: list[str]) -> int:
    """Return how many groups the words form if words with the same letters in any order are one group.

    >>> count_anagram_groups(["dog", "god", "cat"])
    2
    >>> count_anagram_groups(["no", "on"])
    1
    """
    return len({"".join(sorted(word)) for word in words})


@cases(3, ([],), ([1],), ([1, 1, 2],), ([5, 5, 5],), ([0, 3, 1, 0, 0],))
def histogram_lines(numbers: list[int]) -> list[str]:
    """Return a line such as '4: **' for each different number, from small to large.

    The line has as many stars as the number has occurrences.

    >>> histogram_lines([7, 4, 7])
    ['4: *', '7: **']
    >>> histogram_lines([2, 2, 2, 2])
    ['2: ****']
    """
    return [f"{number}: {'*' * numbers.count(number)}" for number in sorted(set(numbers))]


@cases(
    3,
    ("", ""),
    ("abc", "abd"),
    ("", "a"),
    ("hello", "hole"),
    ("hello", "hell"),
    ("ab", "aab"),
    ("xyz", "zyx"),
)
def can_spell(letters: str, word: str) -> bool:
    """Return True if word can be built from letters, using each letter at most as often as it is there.

    >>> can_spell("tablet", "bat")
    True
    >>> can_spell("tab", "tat")
    False
    """
    return not Counter(word) - Counter(letters)
