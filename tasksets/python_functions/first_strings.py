"""First functions on strings: one method or slice."""

from tasksets.python_functions.cases import cases


@cases(1, ("python",), ("CAT",), ("big Dog",), ("x",), ("blue sky",))
def capitalize_string(s: str) -> str:
    """Return s with only its first letter in upper case.

    >>> capitalize_string("hello")
    'Hello'
    >>> capitalize_string("gOOD day")
    'Good day'
    """
    return s.capitalize()


@cases(1, ("hello",), ("xy",), ("Level",), ("a b",), ("",))
def reverse_and_upper(s: str) -> str:
    """Return s reversed and in upper case.

    >>> reverse_and_upper("abc")
    'CBA'
    >>> reverse_and_upper("Dog")
    'GOD'
    """
    return s[::-1].upper()


@cases(1, ("  No",), ("OK  ",), (" Red Car ",), ("A",), (" x ",))
def strip_and_lower(s: str) -> str:
    """Return s in lower case without spaces around it.

    >>> strip_and_lower(" Hello ")
    'hello'
    >>> strip_and_lower("YES")
    'yes'
    """
    return s.strip().lower()


@cases(1, ("  new york",), ("tom  ",), (" RED CAR ",), ("a b c",), (" x ",))
def strip_and_title(s: str) -> str:
    """Return s in title case without spaces around it.

    >>> strip_and_title(" anna smith ")
    'Anna Smith'
    >>> strip_and_title("london")
    'London'
    """
    return s.strip().title()


@cases(1, ("python", 1), ("tree", 4), ("flower", 5), ("a b c", 3), ("cat", 0))
def upper_first_n(s: str, n: int) -> str:
    """Return the first n characters of s in upper case.

    >>> upper_first_n("hello", 2)
    'HE'
    >>> upper_first_n("monday", 3)
    'MON'
    """
    return s[:n].upper()


@cases(1, ("python",), ("apple",), ("zoo",), ("Mary",), ("blue sky",))
def first_character_upper(s: str) -> str:
    """Return the first character of s in upper case.

    >>> first_character_upper("hello")
    'H'
    >>> first_character_upper("Dog")
    'D'
    """
    return s[0].upper()


@cases(1, ("a", 4), ("hey", 1), ("Wow", 2), ("no ", 3), ("x", 0))
def upper_and_repeat(s: str, n: int) -> str:
    """Return s in upper case, repeated n times.

    >>> upper_and_repeat("ha", 2)
    'HAHA'
    >>> upper_and_repeat("Go", 3)
    'GOGOGO'
    """
    return s.upper() * n


@cases(1, ("dog", 4), ("x", 5), ("apple", 1), ("zoo", 0), ("Bob", 2))
def repeat_first_character(s: str, n: int) -> str:
    """Return the first character of s repeated n times.

    >>> repeat_first_character("hello", 3)
    'hhh'
    >>> repeat_first_character("cat", 2)
    'cc'
    """
    return s[0] * n


@cases(1, ("python", 3), ("cat", 3), ("dog", 1), ("abcdef", 4), ("zebra", 2))
def character_from_end(s: str, n: int) -> str:
    """Return the n-th character of s counted from the end.

    >>> character_from_end("hello", 1)
    'o'
    >>> character_from_end("hello", 2)
    'l'
    """
    return s[-n]


@cases(1, ("python", 2), ("abcdefgh", 4), ("banana", 3), ("abc", 5), ("123456789", 2))
def every_nth_character(s: str, n: int) -> str:
    """Return every n-th character of s, starting with the first.

    >>> every_nth_character("abcdef", 2)
    'ace'
    >>> every_nth_character("abcdef", 3)
    'ad'
    """
    return s[::n]


@cases(1, ("dog",), ("xy",), ("12",), ("hello",), ("a b",))
def reversed_then_string(s: str) -> str:
    """Return s reversed, followed by s.

    >>> reversed_then_string("abc")
    'cbaabc'
    >>> reversed_then_string("no")
    'onno'
    """
    return s[::-1] + s


@cases(1, ("1", "2", "3"), ("cat", "dog", "cow"), ("", "x", "y"), ("go", "od", ""), ("red", " ", "car"))
def concat_three_strings(a: str, b: str, c: str) -> str:
    """Return a, b and c joined together.

    >>> concat_three_strings("a", "b", "c")
    'abc'
    >>> concat_three_strings("Hello", " ", "you")
    'Hello you'
    """
    return a + b + c


@cases(1, ("dog", "|"), ("x", "__"), ("a b", "#"), ("", "!"), ("title", "=="))
def surround_with(s: str, c: str) -> str:
    """Return s with c before it and after it.

    >>> surround_with("hello", "*")
    '*hello*'
    >>> surround_with("cat", "-")
    '-cat-'
    """
    return c + s + c


@cases(1, (["happy", "kind"], "un"), (["1", "2", "3"], "#"), ([], "a"), (["cat"], "my "), (["b", "c"], "a"))
def add_prefix_to_all(words: list[str], prefix: str) -> list[str]:
    """Return a list with prefix added before each word.

    >>> add_prefix_to_all(["do", "read"], "re")
    ['redo', 'reread']
    >>> add_prefix_to_all(["a"], "x-")
    ['x-a']
    """
    return [prefix + word for word in words]


@cases(1, ("",), ("x",), ("python",), ("a b",), ("strawberry",))
def double_length(s: str) -> int:
    """Return two times the length of s.

    >>> double_length("cat")
    6
    >>> double_length("hello")
    10
    """
    return len(s) * 2


@cases(1, ("x",), ("ab",), ("python",), ("a b c d",), ("strawberry",))
def last_index(s: str) -> int:
    """Return the index of the last character of s.

    >>> last_index("cat")
    2
    >>> last_index("hello")
    4
    """
    return len(s) - 1


@cases(1, ("  x",), ("   ",), ("a b ",), ("python",), (" my dog ",))
def stripped_length(s: str) -> int:
    """Return the length of s without spaces around it.

    >>> stripped_length(" cat ")
    3
    >>> stripped_length("hello")
    5
    """
    return len(s.strip())


@cases(1, ("python", "py"), ("dog", "horse"), ("tree", "oak"), ("abcd", "xyz"), ("tea", "coffee"))
def shorter_string(a: str, b: str) -> str:
    """Return the shorter of the strings a and b.

    >>> shorter_string("mouse", "cat")
    'cat'
    >>> shorter_string("a", "hello")
    'a'
    """
    return min(a, b, key=len)


@cases(1, ("", 0), ("x", 2), ("python", 6), ("dog", 1), ("a b", 3))
def has_length(s: str, n: int) -> bool:
    """Return True if s has exactly n characters.

    >>> has_length("cat", 3)
    True
    >>> has_length("hello", 4)
    False
    """
    return len(s) == n


@cases(1, ("",), (" a ",), ("     ",), ("x",), (" ",))
def is_blank_string(s: str) -> bool:
    """Return True if s has only spaces or is empty.

    >>> is_blank_string("  ")
    True
    >>> is_blank_string("cat")
    False
    """
    return s.strip() == ""


@cases(1, ("banana",), ("aaaa",), ("tomato",), ("xyz",), ("eleven",))
def count_first_character(s: str) -> int:
    """Return how often the first character of s occurs in s.

    >>> count_first_character("abca")
    2
    >>> count_first_character("hello")
    1
    """
    return s.count(s[0])


@cases(1, ("python",), ("aBcD",), ("x1 y2",), ("",), ("New York",))
def count_lowercase(s: str) -> int:
    """Return the number of lower case letters in s.

    >>> count_lowercase("Hello")
    4
    >>> count_lowercase("ABC")
    0
    """
    return sum(c.islower() for c in s)


@cases(1, ("hello",), ("42",), ("Room 7",), ("",), ("x-y-z!",))
def count_letters(s: str) -> int:
    """Return the number of letters in s.

    >>> count_letters("abc123")
    3
    >>> count_letters("a b")
    2
    """
    return sum(c.isalpha() for c in s)


@cases(1, ("banana", "n", 3), ("abcabc", "a", 1), ("hello", "h", 1), ("dog", "g", 0), ("a-b-c", "-", 2))
def find_from_index(s: str, c: str, start: int) -> int:
    """Return the index of c in s, searching from start.

    >>> find_from_index("banana", "a", 2)
    3
    >>> find_from_index("hello", "l", 0)
    2
    """
    return s.find(c, start)


@cases(
    1, ("aaa", "a", "b"), ("cat cat", "cat", "dog"), ("1-2-3", "-", "+"), ("mess", "s", ""), ("zoo", "o", "0")
)
def replace_first(s: str, old: str, new: str) -> str:
    """Return s with the first old replaced by new.

    >>> replace_first("banana", "a", "o")
    'bonana'
    >>> replace_first("hello", "l", "L")
    'heLlo'
    """
    return s.replace(old, new, 1)


@cases(1, ("1-2-3", "-"), ("zoo", "o"), ("a b c", " "), ("xxx", "x"), ("tree", "t"))
def remove_character(s: str, c: str) -> str:
    """Return s without the character c.

    >>> remove_character("banana", "a")
    'bnn'
    >>> remove_character("hello", "l")
    'heo'
    """
    return s.replace(c, "")


@cases(1, ("**a*b**", "*"), ("!wow", "!"), ("end...", "."), ("000", "0"), ("_my_name_", "_"))
def strip_character(s: str, c: str) -> str:
    """Return s without the character c at both ends.

    >>> strip_character("--hi--", "-")
    'hi'
    >>> strip_character("xcatx", "x")
    'cat'
    """
    return s.strip(c)


@cases(1, ("**a*b**", "*"), ("!wow!", "!"), ("...end.", "."), ("xxx", "x"), ("__init__", "_"))
def strip_left_character(s: str, c: str) -> str:
    """Return s without the character c at its start.

    >>> strip_left_character("--hi--", "-")
    'hi--'
    >>> strip_left_character("007", "0")
    '7'
    """
    return s.lstrip(c)


@cases(1, ("**a*b**", "*"), ("!wow!", "!"), (".end...", "."), ("xxx", "x"), ("__init__", "_"))
def strip_right_character(s: str, c: str) -> str:
    """Return s without the character c at its end.

    >>> strip_right_character("--hi--", "-")
    '--hi'
    >>> strip_right_character("700", "0")
    '7'
    """
    return s.rstrip(c)


@cases(1, ("a", 3), ("dog", 9), ("ab", 4), ("hello", 11), ("x", 7))
def center_string(s: str, width: int) -> str:
    """Return s centered with spaces in the given width.

    >>> center_string("hi", 6)
    '  hi  '
    >>> center_string("cat", 5)
    ' cat '
    """
    return s.center(width)


@cases(1, ("1-2-3", "-"), ("cat", "-"), ("10:30", ":"), ("x/y", "/"), ("a;;b", ";"))
def split_string(s: str, sep: str) -> list[str]:
    """Return the list of parts of s between sep.

    >>> split_string("a,b,c", ",")
    ['a', 'b', 'c']
    >>> split_string("red car", " ")
    ['red', 'car']
    """
    return s.split(sep)


@cases(1, ("1-2-3-4", "-"), ("cat", "-"), ("10:30", ":"), ("x/y/z", "/"), ("a;;b;c;d", ";"))
def count_parts(s: str, sep: str) -> int:
    """Return the number of parts of s between sep.

    >>> count_parts("a,b,c", ",")
    3
    >>> count_parts("red car", " ")
    2
    """
    return len(s.split(sep))


@cases(1, ("10:30", ":"), ("red car", " "), ("anna@mail", "@"), ("x/y", "/"), ("one,two,three", ","))
def text_before(s: str, sep: str) -> str:
    """Return the part of s before the first sep.

    >>> text_before("key=value", "=")
    'key'
    >>> text_before("a-b-c", "-")
    'a'
    """
    return s.split(sep)[0]


@cases(1, ("a b c d", 3), ("one two three", 1), ("my dog", 2), ("I like tea", 0), ("we are all here", 2))
def first_n_words(s: str, n: int) -> list[str]:
    """Return a list of the first n words of s.

    >>> first_n_words("red green blue", 2)
    ['red', 'green']
    >>> first_n_words("hello you", 1)
    ['hello']
    """
    return s.split()[:n]


@cases(1, ("a b c d",), ("one",), ("my dog",), ("I like tea",), ("",))
def reverse_word_list(s: str) -> list[str]:
    """Return the list of words of s in reverse order.

    >>> reverse_word_list("red green blue")
    ['blue', 'green', 'red']
    >>> reverse_word_list("hello you")
    ['you', 'hello']
    """
    return s.split()[::-1]


@cases(1, ("a b c",), ("one",), ("My Dog",), ("I like tea",), ("",))
def upper_words(s: str) -> list[str]:
    """Return the list of words of s in upper case.

    >>> upper_words("red car")
    ['RED', 'CAR']
    >>> upper_words("Hello you")
    ['HELLO', 'YOU']
    """
    return s.upper().split()


@cases(1, ("a b a b a", "a"), ("hello you", "me"), ("cats cat", "cat"), ("no no no no", "no"), ("", "x"))
def count_word(s: str, word: str) -> int:
    """Return how many times word is in the words of s.

    >>> count_word("the cat and the dog", "the")
    2
    >>> count_word("red car", "car")
    1
    """
    return s.split().count(word)


@cases(1, ("a b c", "b"), ("cats", "cat"), ("I like tea", "tea"), ("one two", "three"), ("the end", "the"))
def is_word_in(s: str, word: str) -> bool:
    """Return True if word is one of the words of s.

    >>> is_word_in("my red car", "red")
    True
    >>> is_word_in("hello you", "he")
    False
    """
    return word in s.split()


@cases(1, ("one   two  three",), ("  x",), ("my dog  ",), ("red     car",), ("    ",))
def remove_extra_spaces(s: str) -> str:
    """Return the words of s joined with single spaces.

    >>> remove_extra_spaces("a  b")
    'a b'
    >>> remove_extra_spaces(" hello you ")
    'hello you'
    """
    return " ".join(s.split())


@cases(1, (["1", "2", "3"], "+"), (["x"], ","), ([], "-"), (["cat", "dog"], ""), (["2024", "05", "01"], "/"))
def join_strings(words: list[str], sep: str) -> str:
    """Return words joined with sep.

    >>> join_strings(["a", "b", "c"], "-")
    'a-b-c'
    >>> join_strings(["red", "car"], " ")
    'red car'
    """
    return sep.join(words)


@cases(1, (["a", "b", "c"],), ([],), (["my", "Dog"],), (["i", "like", "tea"],), (["go"],))
def join_words_upper(words: list[str]) -> str:
    """Return words joined with spaces, in upper case.

    >>> join_words_upper(["red", "car"])
    'RED CAR'
    >>> join_words_upper(["Hello"])
    'HELLO'
    """
    return " ".join(words).upper()


@cases(1, ([" a ", "b"],), (["  x"],), (["my  ", " dog"],), (["one two "],), ([" go ", "  ", "now"],))
def strip_each_word(words: list[str]) -> list[str]:
    """Return a list with each word stripped of spaces.

    >>> strip_each_word([" red", "car "])
    ['red', 'car']
    >>> strip_each_word(["hi"])
    ['hi']
    """
    return [word.strip() for word in words]


@cases(1, (0, 0), (7, -2), (99, 1), (-4, -6), (12, 30))
def sum_as_string(a: int, b: int) -> str:
    """Return the sum of a and b as a string.

    >>> sum_as_string(2, 3)
    '5'
    >>> sum_as_string(10, 5)
    '15'
    """
    return str(a + b)


@cases(1, (45,), (9,), (1000,), (987,), (2468,))
def reverse_number(n: int) -> str:
    """Return the digits of n reversed, as a string.

    >>> reverse_number(123)
    '321'
    >>> reverse_number(70)
    '07'
    """
    return str(n)[::-1]


@cases(1, (0, 4), (7, 1), (10, 3), (9, 0), (42, 2))
def repeat_number(n: int, times: int) -> str:
    """Return n as a string repeated the given number of times.

    >>> repeat_number(5, 3)
    '555'
    >>> repeat_number(12, 2)
    '1212'
    """
    return str(n) * times


@cases(1, ("level ", 1), ("", 7), ("a", 0), ("file_", 10), ("Player", 2))
def string_with_number(s: str, n: int) -> str:
    """Return s followed by the number n.

    >>> string_with_number("room", 5)
    'room5'
    >>> string_with_number("x", 12)
    'x12'
    """
    return s + str(n)


@cases(1, ("0",), ("7",), ("-3",), ("25",), ("100",))
def double_number_string(s: str) -> int:
    """Return two times the integer in the string s.

    >>> double_number_string("4")
    8
    >>> double_number_string("10")
    20
    """
    return int(s) * 2


@cases(1, ("cat",), ("DOG",), ("red car",), ("aB",), ("x",))
def is_lower_case(s: str) -> bool:
    """Return True if s is in lower case.

    >>> is_lower_case("hello")
    True
    >>> is_lower_case("Hello")
    False
    """
    return s.islower()


@cases(1, ("Red Car",), ("DOG",), ("Red car",), ("Anna",), ("my Dog",))
def is_title_case(s: str) -> bool:
    """Return True if s is in title case.

    >>> is_title_case("Hello You")
    True
    >>> is_title_case("hello")
    False
    """
    return s.istitle()


@cases(1, ("hello",), ("x-1",), ("2024",), ("hi!",), ("Room7",))
def is_alphanumeric(s: str) -> bool:
    """Return True if s has only letters and digits.

    >>> is_alphanumeric("abc123")
    True
    >>> is_alphanumeric("a b")
    False
    """
    return s.isalnum()


@cases(1, ("live", "evil"), ("ab", "ab"), ("xyz", "zyx"), ("hello", "oleh"), ("12", "21"))
def is_reverse(a: str, b: str) -> bool:
    """Return True if b is a reversed.

    >>> is_reverse("abc", "cba")
    True
    >>> is_reverse("cat", "dog")
    False
    """
    return a[::-1] == b


@cases(1, ("abc1",), ("1abc",), ("2024",), ("x9y",), ("level 0",))
def ends_with_digit(s: str) -> bool:
    """Return True if the last character of s is a digit.

    >>> ends_with_digit("room7")
    True
    >>> ends_with_digit("cat")
    False
    """
    return s[-1].isdigit()


@cases(1, ("banana",), ("dry",), ("audio",), ("python",), ("",))
def list_vowels(s: str) -> list[str]:
    """Return a list of the lower case vowels in s.

    >>> list_vowels("hello")
    ['e', 'o']
    >>> list_vowels("cat")
    ['a']
    """
    return [c for c in s if c in "aeiou"]


@cases(1, ("Good morning", "Bob"), ("Bye", "Eve"), ("Welcome", "Mr Smith"), ("Hey", "you"), ("Thanks", "Mia"))
def greet_with(greeting: str, name: str) -> str:
    """Return greeting, a comma and a space, name and an exclamation mark.

    >>> greet_with("Hello", "Anna")
    'Hello, Anna!'
    >>> greet_with("Hi", "Tom")
    'Hi, Tom!'
    """
    return f"{greeting}, {name}!"


@cases(1, ("bob",), ("EVE",), ("Mr Smith",), ("x",), ("world",))
def shout_hello(name: str) -> str:
    """Return "HELLO " followed by name in upper case.

    >>> shout_hello("Anna")
    'HELLO ANNA'
    >>> shout_hello("Tom")
    'HELLO TOM'
    """
    return f"HELLO {name.upper()}"


@cases(1, ("Elizabeth",), ("Eve",), ("Jo",), ("Alexander",), ("Maria",))
def describe_name_length(name: str) -> str:
    """Return "NAME has N letters" with name and its length.

    >>> describe_name_length("Anna")
    'Anna has 4 letters'
    >>> describe_name_length("Tom")
    'Tom has 3 letters'
    """
    return f"{name} has {len(name)} letters"


@cases(1, ("python", 3), ("apple", 4), ("dog", 3), ("banana", 5), ("sunny", 2))
def remove_last_n(s: str, n: int) -> str:
    """Return s without its last n characters.

    >>> remove_last_n("hello", 2)
    'hel'
    >>> remove_last_n("cat", 1)
    'ca'
    """
    return s[:-n]


@cases(1, ("10:30", ":"), ("red car", " "), ("anna@mail", "@"), ("x/y", "/"), ("one,two,three", ","))
def text_after(s: str, sep: str) -> str:
    """Return the part of s after the first sep.

    >>> text_after("key=value", "=")
    'value'
    >>> text_after("a-b-c", "-")
    'b-c'
    """
    return s.partition(sep)[2]


@cases(1, ("orange",), ("dog",), ("ice",), ("tree",), ("under",))
def starts_with_vowel(s: str) -> bool:
    """Return True if s starts with a lower case vowel.

    >>> starts_with_vowel("apple")
    True
    >>> starts_with_vowel("cat")
    False
    """
    return s[0] in "aeiou"


@cases(1, (["hello"],), ([],), (["you", "are", "how"],), (["dog", "my"],), (["1", "2", "3", "4"],))
def join_reversed(words: list[str]) -> str:
    """Return words joined with spaces in reverse order.

    >>> join_reversed(["red", "car"])
    'car red'
    >>> join_reversed(["a", "b", "c"])
    'c b a'
    """
    return " ".join(words[::-1])


@cases(1, ("hello",), ("",), ("the cat sat",), ("dog cat cow ant",), ("x y x",))
def sorted_words(s: str) -> list[str]:
    """Return the sorted list of words of s.

    >>> sorted_words("red car")
    ['car', 'red']
    >>> sorted_words("b c a")
    ['a', 'b', 'c']
    """
    return sorted(s.split())


@cases(1, ("python is fun",), ("yes",), ("x",), ("the dog runs",), ("go home now",))
def make_sentence(s: str) -> str:
    """Return s capitalized with a "." at the end.

    >>> make_sentence("hello")
    'Hello.'
    >>> make_sentence("i am here")
    'I am here.'
    """
    return s.capitalize() + "."


@cases(1, ("one two three", "+"), ("x y", "/"), ("hello", "*"), (" hi ", "."), ("10 30", ":"))
def replace_spaces_with(s: str, c: str) -> str:
    """Return s with every space replaced by c.

    >>> replace_spaces_with("a b c", "-")
    'a-b-c'
    >>> replace_spaces_with("red car", "_")
    'red_car'
    """
    return s.replace(" ", c)


@cases(1, ("dog", "o", 1), ("dog", "x", 1), ("zoo", "o", 2), ("tree", "e", 3), ("cat", "z", 0))
def occurs_n_times(s: str, c: str, n: int) -> bool:
    """Return True if c occurs exactly n times in s.

    >>> occurs_n_times("banana", "a", 3)
    True
    >>> occurs_n_times("hello", "l", 1)
    False
    """
    return s.count(c) == n


@cases(1, ("banana", "n"), ("dog", "x"), ("zoo", "z"), ("tree", "e"), ("", "a"))
def occurs_more_than_once(s: str, c: str) -> bool:
    """Return True if c occurs more than once in s.

    >>> occurs_more_than_once("hello", "l")
    True
    >>> occurs_more_than_once("cat", "a")
    False
    """
    return s.count(c) > 1


@cases(1, ("a", 1), ("dog", 0), ("my dog", 3), ("x", 8), ("hello", 5))
def indent_string(s: str, n: int) -> str:
    """Return s with n spaces before it.

    >>> indent_string("hi", 2)
    '  hi'
    >>> indent_string("cat", 4)
    '    cat'
    """
    return " " * n + s


@cases(1, ("x", "yz"), ("", "dog"), ("12", "34"), ("hello", "you"), ("no", "on"))
def reverse_concat(a: str, b: str) -> str:
    """Return a and b joined together and reversed.

    >>> reverse_concat("ab", "cd")
    'dcba'
    >>> reverse_concat("cat", "s")
    'stac'
    """
    return (a + b)[::-1]


@cases(1, (90, 1), (5, 0), (8765, 1), (1002, 3), (31415, 4))
def digit_at(n: int, i: int) -> str:
    """Return the digit of n at index i as a string.

    >>> digit_at(123, 0)
    '1'
    >>> digit_at(4567, 2)
    '6'
    """
    return str(n)[i]


@cases(1, ("0", 7), ("7", -2), ("-3", 3), ("25", 25), ("100", 1))
def add_to_number_string(s: str, n: int) -> int:
    """Return the integer in the string s plus n.

    >>> add_to_number_string("4", 1)
    5
    >>> add_to_number_string("10", 5)
    15
    """
    return int(s) + n


@cases(1, ("0",), ("7",), ("-3",), ("1",), ("12",))
def square_number_string(s: str) -> int:
    """Return the square of the integer in the string s.

    >>> square_number_string("4")
    16
    >>> square_number_string("10")
    100
    """
    return int(s) ** 2


@cases(
    1,
    (["hello", "you"],),
    (["x"],),
    (["one", "two", "three"],),
    (["banana", "fig", "plum"],),
    (["I", "am", "here"],),
)
def longest_word(words: list[str]) -> str:
    """Return the longest word in words.

    >>> longest_word(["a", "abc", "ab"])
    'abc'
    >>> longest_word(["cat", "mouse"])
    'mouse'
    """
    return max(words, key=len)


@cases(
    1,
    (["hello", "you"],),
    (["x"],),
    (["three", "four", "six"],),
    (["fig", "banana", "plum"],),
    (["here", "am", "I"],),
)
def shortest_word(words: list[str]) -> str:
    """Return the shortest word in words.

    >>> shortest_word(["abc", "a", "ab"])
    'a'
    >>> shortest_word(["cat", "mouse"])
    'cat'
    """
    return min(words, key=len)


@cases(
    1,
    (["red", "green", "blue"], "e"),
    (["one", "two", "three"], "o"),
    ([], "a"),
    (["tea", "coffee"], "f"),
    (["x", "y", "z"], "y"),
)
def words_containing(words: list[str], c: str) -> list[str]:
    """Return the words that contain c.

    >>> words_containing(["cat", "dog"], "a")
    ['cat']
    >>> words_containing(["hello"], "x")
    []
    """
    return [word for word in words if c in word]


@cases(1, ("a", 3), ("dog", 3), ("7", 6), ("hello", 10), ("x", 2))
def pad_left(s: str, width: int) -> str:
    """Return s with spaces before it up to width.

    >>> pad_left("hi", 4)
    '  hi'
    >>> pad_left("cat", 5)
    '  cat'
    """
    return s.rjust(width)


@cases(1, ("x", "yz"), ("", "dog"), ("cat", "S"), ("hello", " all"), ("No", ""))
def upper_concat(a: str, b: str) -> str:
    """Return a and b joined together in upper case.

    >>> upper_concat("ab", "cd")
    'ABCD'
    >>> upper_concat("Hi ", "you")
    'HI YOU'
    """
    return (a + b).upper()
