"""Tasks about whole strings: slicing, searching, replacing, reversing and rearranging text."""

from tasksets.python_functions.cases import cases


@cases(1, ("stone",), ("",), ("x",), ("level up",), ("12345",))
def reverse_text(text: str) -> str:
    """Return text with its characters in reverse order.

    >>> reverse_text("abc")
    'cba'
    >>> reverse_text("hi!")
    '!ih'
    """
    return text[::-1]


@cases(1, ("ab", 3), ("ab", 0), ("", 4), ("-", 6), ("hey ", 1))
def repeat_text(text: str, times: int) -> str:
    """Return text repeated the given number of times, with nothing between.

    >>> repeat_text("ha", 2)
    'haha'
    >>> repeat_text("z", 5)
    'zzzzz'
    """
    return text * times


@cases(1, ("window", 3), ("window", 0), ("cat", 10), ("", 2), ("green tea", 6))
def first_characters(text: str, count: int) -> str:
    """Return the first count characters of text, or all of text if it is shorter.

    >>> first_characters("python", 2)
    'py'
    >>> first_characters("no", 5)
    'no'
    """
    return text[:count]


@cases(1, ("window", 3), ("cat", 3), ("cat", 10), ("", 2), ("green tea", 1))
def last_characters(text: str, count: int) -> str:
    """Return the last count characters of text (count is at least 1), or all of text if it is shorter.

    >>> last_characters("python", 2)
    'on'
    >>> last_characters("no", 5)
    'no'
    """
    return text[-count:]


@cases(1, ("apple",), ("ab",), ("xyz",), ("hello world",), ("(note)",))
def strip_both_ends(text: str) -> str:
    """Return text without its first and its last character. The text has at least two characters.

    >>> strip_both_ends("house")
    'ous'
    >>> strip_both_ends("no")
    ''
    """
    return text[1:-1]


@cases(1, ("abcdef",), ("",), ("q",), ("12",), ("banana",))
def every_second_character(text: str) -> str:
    """Return the characters at positions 0, 2, 4 and so on of text.

    >>> every_second_character("python")
    'pto'
    >>> every_second_character("abc")
    'ac'
    """
    return text[::2]


@cases(1, ("banana", "a"), ("", "x"), ("mississippi", "s"), ("hello", "z"), ("a b c d", " "))
def count_letter_in_text(text: str, letter: str) -> int:
    """Return how many times the character letter occurs in text.

    >>> count_letter_in_text("pepper", "p")
    3
    >>> count_letter_in_text("tree", "a")
    0
    """
    return text.count(letter)


@cases(1, ("green tea",), ("",), ("nospace",), ("  a  ",), ("one two three",))
def remove_spaces(text: str) -> str:
    """Return text with all spaces removed.

    >>> remove_spaces("a b c")
    'abc'
    >>> remove_spaces(" hi there ")
    'hithere'
    """
    return text.replace(" ", "")


@cases(1, ("racecar",), ("ab",), ("",), ("noon",), ("Noon",), ("paper",))
def is_palindrome(text: str) -> bool:
    """Return True if text reads the same forwards and backwards, else False. Empty text gives True.

    >>> is_palindrome("level")
    True
    >>> is_palindrome("python")
    False
    """
    return text == text[::-1]


@cases(1, ("sunflower", "flower"), ("cat", "dog"), ("abc", ""), ("", "a"), ("Hello", "hello"), ("xyz", "yz"))
def contains_text(text: str, part: str) -> bool:
    """Return True if part occurs somewhere in text, else False.

    >>> contains_text("football", "ball")
    True
    >>> contains_text("football", "bat")
    False
    """
    return part in text


@cases(1, ("cat", "category"), ("dog", "do"), ("", "x"), ("same", "name"), ("four", "five"))
def longer_text(first: str, second: str) -> str:
    """Return the longer of the two strings; return first if they have the same length.

    >>> longer_text("kiwi", "fig")
    'kiwi'
    >>> longer_text("one", "seven")
    'seven'
    """
    return first if len(first) >= len(second) else second


@cases(1, ("dcba",), ("",), ("banana",), ("z",), ("3210",))
def sort_characters(text: str) -> str:
    """Return the characters of text sorted in ascending order, as one string.

    >>> sort_characters("hello")
    'ehllo'
    >>> sort_characters("cab")
    'abc'
    """
    return "".join(sorted(text))


@cases(1, ("banana",), ("",), ("aaaa",), ("abc",), ("Aa",))
def count_distinct_characters(text: str) -> int:
    """Return how many different characters occur in text.

    >>> count_distinct_characters("hello")
    4
    >>> count_distinct_characters("xx")
    1
    """
    return len(set(text))


@cases(1, ("hello", "l"), ("hello", "z"), ("banana", "n"), ("", "a"), ("stop", "p"))
def find_position(text: str, letter: str) -> int:
    """Return the index of the first occurrence of letter in text, or -1 if it does not occur.

    >>> find_position("python", "t")
    2
    >>> find_position("python", "x")
    -1
    """
    return text.find(letter)


@cases(1, ("banana", "n"), ("hello", "z"), ("level", "l"), ("", "a"), ("x.y.z", "."))
def find_last_position(text: str, letter: str) -> int:
    """Return the index of the last occurrence of letter in text, or -1 if it does not occur.

    >>> find_last_position("kiwi", "i")
    3
    >>> find_last_position("kiwi", "a")
    -1
    """
    return text.rfind(letter)


@cases(1, ("a-b-c", "-", "+"), ("hello", "l", "L"), ("", "a", "b"), ("none", "z", "y"), ("tot", "t", ""))
def replace_letter(text: str, old: str, new: str) -> str:
    """Return text with every occurrence of old replaced by new.

    >>> replace_letter("banana", "a", "o")
    'bonono'
    >>> replace_letter("1.5", ".", ",")
    '1,5'
    """
    return text.replace(old, new)


@cases(1, ("  hi  ",), ("",), ("   ",), ("a b",), ("end ",))
def trim_spaces(text: str) -> str:
    """Return text without spaces at its beginning and end; spaces in the middle stay.

    >>> trim_spaces("  sun")
    'sun'
    >>> trim_spaces(" red car ")
    'red car'
    """
    return text.strip(" ")


@cases(1, ("unhappy", "un"), ("happy", "un"), ("", "a"), ("aab", "a"), ("report.txt", "report"))
def drop_prefix(text: str, prefix: str) -> str:
    """Return text without prefix at its start; return text unchanged if it does not start with prefix.

    >>> drop_prefix("redo", "re")
    'do'
    >>> drop_prefix("open", "re")
    'open'
    """
    return text.removeprefix(prefix)


@cases(1, ("notes.txt", ".txt"), ("notes.md", ".txt"), ("", "s"), ("boss", "s"), ("jumping", "ing"))
def drop_suffix(text: str, suffix: str) -> str:
    """Return text without suffix at its end; return text unchanged if it does not end with suffix.

    >>> drop_suffix("photo.png", ".png")
    'photo'
    >>> drop_suffix("cats", "es")
    'cats'
    """
    return text.removesuffix(suffix)


@cases(1, ("hello", 1), ("a", 0), ("python", 5), ("xyz", 0), ("green", 2))
def remove_character_at(text: str, index: int) -> str:
    """Return text without the character at the given index. The index is always valid.

    >>> remove_character_at("cart", 2)
    'cat'
    >>> remove_character_at("stop", 0)
    'top'
    """
    return text[:index] + text[index + 1 :]


@cases(1, ("cat", 2, "r"), ("", 0, "new"), ("ab", 0, "-"), ("ab", 2, "!"), ("sunday", 3, " "))
def insert_text_at(text: str, index: int, part: str) -> str:
    """Return text with part inserted before position index; an index equal to the length appends part.

    >>> insert_text_at("hllo", 1, "e")
    'hello'
    >>> insert_text_at("go", 2, "al")
    'goal'
    """
    return text[:index] + part + text[index:]


@cases(1, ("hello",), ("ab",), ("",), ("x",), ("abba",))
def mirror_text(text: str) -> str:
    """Return text followed by its own reverse.

    >>> mirror_text("cat")
    'cattac'
    >>> mirror_text("no")
    'noon'
    """
    return text + text[::-1]


@cases(1, ("abcdef", 2), ("abc", 0), ("abc", 3), ("x", 1), ("stone", 4))
def rotate_text_left(text: str, count: int) -> str:
    """Return text with its first count characters moved to the end. The count is not larger than the length.

    >>> rotate_text_left("hello", 1)
    'elloh'
    >>> rotate_text_left("table", 3)
    'letab'
    """
    return text[count:] + text[:count]


@cases(1, ("level",), ("ab",), ("x",), ("stars",), ("hello",), ("Anna",))
def same_first_and_last(text: str) -> bool:
    """Return True if the first and the last character of the non-empty text are equal, else False.

    >>> same_first_and_last("window")
    True
    >>> same_first_and_last("door")
    False
    """
    return text[0] == text[-1]


@cases(1, ("listen", "silent"), ("abc", "abd"), ("", ""), ("aab", "abb"), ("night", "thing"), ("a", "aa"))
def are_anagrams(first: str, second: str) -> bool:
    """Return True if the two strings have the same characters in any order, equally often, else False.

    >>> are_anagrams("tea", "eat")
    True
    >>> are_anagrams("tea", "tee")
    False
    """
    return sorted(first) == sorted(second)


@cases(2, ("hello",), ("a",), ("",), ("odd",), ("planet",))
def middle_part(text: str) -> str:
    """Return the middle character of text, or the two middle characters if the length is even.

    Empty text gives an empty string.

    >>> middle_part("abcde")
    'c'
    >>> middle_part("abcd")
    'bc'
    """
    return text[(len(text) - 1) // 2 : len(text) // 2 + 1] if text else ""


@cases(2, ("abc",), ("",), ("x",), ("a-b",), ("no!",))
def double_each_character(text: str) -> str:
    """Return text with every character written twice in a row.

    >>> double_each_character("hi")
    'hhii'
    >>> double_each_character("dog")
    'ddoogg'
    """
    return "".join(letter * 2 for letter in text)


@cases(2, ("hello world", "lo"), ("abc", ""), ("", "abc"), ("banana", "n"), ("a1b2", "12"))
def remove_listed_characters(text: str, unwanted: str) -> str:
    """Return text without any character that occurs in unwanted.

    >>> remove_listed_characters("python", "py")
    'thon'
    >>> remove_listed_characters("a.b,c", ".,")
    'abc'
    """
    return "".join(letter for letter in text if letter not in unwanted)


@cases(2, ("banana",), ("",), ("aaaa",), ("abc",), ("mississippi",))
def remove_duplicate_characters(text: str) -> str:
    """Return text with only the first occurrence of each character, in the original order.

    >>> remove_duplicate_characters("hello")
    'helo'
    >>> remove_duplicate_characters("noon")
    'no'
    """
    return "".join(dict.fromkeys(text))


@cases(2, ("flower", "flow"), ("abc", "xyz"), ("", "abc"), ("same", "same"), ("interest", "internet"))
def common_prefix_of_two(first: str, second: str) -> str:
    """Return the longest string that both first and second start with; it may be empty.

    >>> common_prefix_of_two("carpet", "carbon")
    'car'
    >>> common_prefix_of_two("sun", "moon")
    ''
    """
    prefix = ""
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        prefix += a
    return prefix


@cases(2, ("karma", "karat"), ("", ""), ("abc", "abc"), ("aaa", "bbb"), ("stone", "store"))
def count_differing_positions(first: str, second: str) -> int:
    """Return at how many positions the two strings, which have equal length, differ.

    >>> count_differing_positions("cat", "cut")
    1
    >>> count_differing_positions("abcd", "badc")
    4
    """
    return sum(a != b for a, b in zip(first, second, strict=True))


@cases(2, ("abcdefg", 3), ("", 2), ("abcd", 2), ("xyz", 5), ("12345", 1))
def split_into_chunks(text: str, size: int) -> list[str]:
    """Return a list of consecutive pieces of text with size characters each; the last may be shorter.

    >>> split_into_chunks("abcde", 2)
    ['ab', 'cd', 'e']
    >>> split_into_chunks("python", 3)
    ['pyt', 'hon']
    """
    return [text[start : start + size] for start in range(0, len(text), size)]


@cases(2, ("abc", "xyz"), ("", ""), ("a", "b"), ("sun", "day"), ("1234", "5678"))
def interleave_strings(first: str, second: str) -> str:
    """Return the characters of two strings of equal length taken in turn, starting with first.

    >>> interleave_strings("ace", "bdf")
    'abcdef'
    >>> interleave_strings("no", "--")
    'n-o-'
    """
    return "".join(a + b for a, b in zip(first, second, strict=True))


@cases(2, ("banana", "a"), ("hello", "z"), ("", "x"), ("aaa", "a"), ("1-2-3", "-"))
def all_positions(text: str, letter: str) -> list[int]:
    """Return the list of all indexes at which letter occurs in text, in ascending order.

    >>> all_positions("level", "l")
    [0, 4]
    >>> all_positions("cat", "b")
    []
    """
    return [index for index, character in enumerate(text) if character == letter]


@cases(2, ("aaaa", "aa"), ("banana", "ana"), ("", "a"), ("hello", "l"), ("ababab", "abab"))
def count_overlapping(text: str, part: str) -> int:
    """Return how many times the non-empty part occurs in text, counting overlapping occurrences too.

    >>> count_overlapping("aaa", "aa")
    2
    >>> count_overlapping("house", "use")
    1
    """
    return sum(text.startswith(part, start) for start in range(len(text)))


@cases(2, ("banana",), ("abcabc",), ("x",), ("zzyy",), ("hello world",))
def most_common_character(text: str) -> str:
    """Return the character that occurs most often in the non-empty text; of equals, the earliest one.

    >>> most_common_character("pepper")
    'p'
    >>> most_common_character("abba")
    'a'
    """
    return max(text, key=text.count)


@cases(2, ("swiss",), ("aabb",), ("",), ("level",), ("hello",))
def first_unique_character(text: str) -> str:
    """Return the first character that occurs exactly once in text, or an empty string if there is none.

    >>> first_unique_character("noodle")
    'n'
    >>> first_unique_character("xxyzz")
    'y'
    """
    for letter in text:
        if text.count(letter) == 1:
            return letter
    return ""


@cases(2, ("badge",), ("",), ("x",), ("abcdef",), ("hello",))
def swap_neighbours(text: str) -> str:
    """Return text with each pair of characters swapped; a last character without a partner stays.

    >>> swap_neighbours("abcd")
    'badc'
    >>> swap_neighbours("cat")
    'act'
    """
    return "".join(text[index : index + 2][::-1] for index in range(0, len(text), 2))


@cases(2, ("hello", "world"), ("abc", "xyz"), ("", "abc"), ("banana", "bandana"), ("stone", "notes"))
def shared_characters(first: str, second: str) -> str:
    """Return the different characters that occur in both strings, sorted, as one string.

    >>> shared_characters("green", "grey")
    'egr'
    >>> shared_characters("sun", "sky")
    's'
    """
    return "".join(sorted(set(first) & set(second)))


@cases(
    2,
    ("call (now) please", "(", ")"),
    ("<b>", "<", ">"),
    ("a[]b", "[", "]"),
    ("x{1 2}y", "{", "}"),
    ("(a)(b)", "(", ")"),
)
def text_between(text: str, opening: str, closing: str) -> str:
    """Return the part of text between the first opening mark and the next closing mark; both are present.

    >>> text_between("size (cm)", "(", ")")
    'cm'
    >>> text_between("see [12] there", "[", "]")
    '12'
    """
    return text.split(opening, 1)[1].split(closing, 1)[0]


@cases(2, ("abc",), ("",), ("x",), ("stop",), ("no",))
def growing_prefixes(text: str) -> list[str]:
    """Return the list of all non-empty prefixes of text, from the shortest to the longest.

    >>> growing_prefixes("cat")
    ['c', 'ca', 'cat']
    >>> growing_prefixes("hi")
    ['h', 'hi']
    """
    return [text[: end + 1] for end in range(len(text))]


@cases(3, ("aaabbc",), ("",), ("abc",), ("zzzz",), ("aabaa",))
def run_length_text(text: str) -> str:
    """Return text with each run of equal characters replaced by the character and the length of the run.

    >>> run_length_text("aab")
    'a2b1'
    >>> run_length_text("xxxyyx")
    'x3y2x1'
    """
    result = ""
    start = 0
    for index in range(1, len(text) + 1):
        if index == len(text) or text[index] != text[start]:
            result += text[start] + str(index - start)
            start = index
    return result


@cases(3, ("aabbbc",), ("",), ("abc",), ("zzzz",), ("abbaaab",))
def longest_run_length(text: str) -> int:
    """Return the length of the longest run of equal neighbouring characters in text, or 0 for empty text.

    >>> longest_run_length("hello")
    2
    >>> longest_run_length("xyyyz")
    3
    """
    best = current = 0
    previous = ""
    for letter in text:
        current = current + 1 if letter == previous else 1
        best = max(best, current)
        previous = letter
    return best


@cases(3, ("(a(b)c)",), ("(()",), ("",), (")(",), ("())",), ("()()",), ("a)b(c",))
def brackets_balanced(text: str) -> bool:
    """Return True if every "(" in text has a matching later ")" and no ")" is left over, else False.

    >>> brackets_balanced("(1 + 2) * (3)")
    True
    >>> brackets_balanced("(x")
    False
    """
    depth = 0
    for letter in text:
        if letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
        if depth < 0:
            return False
    return depth == 0


@cases(3, ("ace", "abcde"), ("aec", "abcde"), ("", "abc"), ("abc", ""), ("cat", "concatenate"), ("aa", "a"))
def is_subsequence(part: str, text: str) -> bool:
    """Return True if the characters of part occur in text in the same order, gaps allowed, else False.

    >>> is_subsequence("pto", "python")
    True
    >>> is_subsequence("otp", "python")
    False
    """
    position = 0
    for letter in text:
        if position < len(part) and part[position] == letter:
            position += 1
    return position == len(part)
