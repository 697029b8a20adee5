"""Easy string tasks: one method, index, slice or concatenation."""

from tasksets.python_functions.cases import cases


@cases(1, ("dog",), ("",), ("Red Car",), ("abc1",), ("OK",))
def all_upper_case(text: str) -> str:
    """Return text in upper case.

    >>> all_upper_case("cat")
    'CAT'
    >>> all_upper_case("Hi")
    'HI'
    """
    return text.upper()


@cases(1, ("DOG",), ("",), ("Red Car",), ("ABC1",), ("ok",))
def all_lower_case(text: str) -> str:
    """Return text in lower case.

    >>> all_lower_case("CAT")
    'cat'
    >>> all_lower_case("Hi")
    'hi'
    """
    return text.lower()


@cases(1, ("yes",), ("",), ("Hey",), ("stop!",), ("a b",))
def add_exclamation(text: str) -> str:
    """Return text with "!" added at the end.

    >>> add_exclamation("Wow")
    'Wow!'
    >>> add_exclamation("no")
    'no!'
    """
    return text + "!"


@cases(1, ("Eve",), ("Tom",), ("",), ("Mr. Lee",), ("friend",))
def dear_name(name: str) -> str:
    """Return "Dear " followed by name.

    >>> dear_name("Ann")
    'Dear Ann'
    >>> dear_name("Bob")
    'Dear Bob'
    """
    return "Dear " + name


@cases(1, ("dog",), ("a",), ("Moon",), ("xyz",), ("42",))
def first_letter_of(word: str) -> str:
    """Return the first character of word.

    >>> first_letter_of("cat")
    'c'
    >>> first_letter_of("Bus")
    'B'
    """
    return word[0]


@cases(1, ("dog",), ("b",), ("Moon",), ("xyz",), ("42",))
def last_letter_of(word: str) -> str:
    """Return the last character of word.

    >>> last_letter_of("cat")
    't'
    >>> last_letter_of("sea")
    'a'
    """
    return word[-1]


@cases(1, ("dog",), ("me",), ("sky",), ("White",), ("10",))
def second_letter_of(word: str) -> str:
    """Return the second character of word.

    >>> second_letter_of("cat")
    'a'
    >>> second_letter_of("up")
    'p'
    """
    return word[1]


@cases(1, ("snow",), ("a",), ("Table",), ("up",), ("123",))
def cut_first_letter(word: str) -> str:
    """Return word without its first character.

    >>> cut_first_letter("cat")
    'at'
    >>> cut_first_letter("x")
    ''
    """
    return word[1:]


@cases(1, ("snow",), ("a",), ("Table",), ("up",), ("123",))
def cut_last_letter(word: str) -> str:
    """Return word without its last character.

    >>> cut_last_letter("cat")
    'ca'
    >>> cut_last_letter("x")
    ''
    """
    return word[:-1]


@cases(1, ("friday",), ("hi",), ("bread",), ("",), ("12345",))
def first_three_letters(word: str) -> str:
    """Return the first three characters of word.

    >>> first_three_letters("monday")
    'mon'
    >>> first_three_letters("car")
    'car'
    """
    return word[:3]


@cases(1, ("friday",), ("it",), ("bread",), ("box",), ("2024",))
def last_two_letters(word: str) -> str:
    """Return the last two characters of word.

    >>> last_two_letters("monday")
    'ay'
    >>> last_two_letters("go")
    'go'
    """
    return word[-2:]


@cases(1, ("",), ("x",), ("hello",), ("two words",), ("ab",))
def length_of_text(text: str) -> int:
    """Return how many characters text has.

    >>> length_of_text("cat")
    3
    >>> length_of_text("a b")
    3
    """
    return len(text)


@cases(1, ("rain", "bow"), ("", ""), ("x", "y"), ("foot", "ball"), ("12", "34"))
def glue_words(first: str, second: str) -> str:
    """Return first followed directly by second.

    >>> glue_words("sun", "day")
    'sunday'
    >>> glue_words("a", "")
    'a'
    """
    return first + second


@cases(1, ("Tom", "Fox"), ("Eve", "Stone"), ("A", "B"), ("Max", "Hill"), ("Kim", "West"))
def full_name(given: str, family: str) -> str:
    """Return given, a space and family as one string.

    >>> full_name("Ann", "Lee")
    'Ann Lee'
    >>> full_name("Bo", "Day")
    'Bo Day'
    """
    return given + " " + family


@cases(1, ("in", "out"), ("1", "2"), ("", ""), ("T", "shirt"), ("x", ""))
def join_with_dash(first: str, second: str) -> str:
    """Return first, "-" and second as one string.

    >>> join_with_dash("a", "b")
    'a-b'
    >>> join_with_dash("up", "down")
    'up-down'
    """
    return first + "-" + second


@cases(1, ("no",), ("",), ("bye ",), ("1",), ("Tick",))
def say_twice(text: str) -> str:
    """Return text two times in a row.

    >>> say_twice("ha")
    'haha'
    >>> say_twice("x")
    'xx'
    """
    return text * 2


@cases(1, (0,), (2,), (4,), (7,), (10,))
def row_of_stars(count: int) -> str:
    """Return a string of count stars "*".

    >>> row_of_stars(3)
    '***'
    >>> row_of_stars(1)
    '*'
    """
    return "*" * count


@cases(1, ("good day",), ("a b c",), ("",), ("my small house",), ("moon",))
def words_with_capitals(text: str) -> str:
    """Return text with every word starting in upper case.

    >>> words_with_capitals("red car")
    'Red Car'
    >>> words_with_capitals("hello")
    'Hello'
    """
    return text.title()


@cases(1, (" dog",), ("fish",), ("   x ",), ("sun ",), ("  two words",))
def cut_leading_spaces(text: str) -> str:
    """Return text without the spaces at its start.

    >>> cut_leading_spaces("  cat")
    'cat'
    >>> cut_leading_spaces(" a b")
    'a b'
    """
    return text.lstrip()


@cases(1, ("dog ",), ("fish",), (" x   ",), (" sun",), ("two words  ",))
def cut_trailing_spaces(text: str) -> str:
    """Return text without the spaces at its end.

    >>> cut_trailing_spaces("cat  ")
    'cat'
    >>> cut_trailing_spaces("a b ")
    'a b'
    """
    return text.rstrip()


@cases(1, ("one two three",), ("a b",), ("sun",), ("I am here",), ("x y z w",))
def words_of(text: str) -> list[str]:
    """Return the list of words in text, split at spaces.

    >>> words_of("red car")
    ['red', 'car']
    >>> words_of("hi")
    ['hi']
    """
    return text.split()


@cases(1, ("1-2-3",), ("up-down",), ("x",), ("2024-05-06",), ("a-",))
def split_at_dashes(text: str) -> list[str]:
    """Return text split at each "-" as a list.

    >>> split_at_dashes("a-b")
    ['a', 'b']
    >>> split_at_dashes("cat")
    ['cat']
    """
    return text.split("-")


@cases(1, ("my file",), ("one two three",), ("x",), (" ",), ("a b c d",))
def spaces_to_underscores(text: str) -> str:
    """Return text with every space replaced by "_".

    >>> spaces_to_underscores("a b")
    'a_b'
    >>> spaces_to_underscores("cat")
    'cat'
    """
    return text.replace(" ", "_")


@cases(1, ("1-2-3",), ("-",), ("x-ray",), ("2024-05-06",), ("no",))
def remove_dashes(text: str) -> str:
    """Return text without any "-".

    >>> remove_dashes("a-b")
    'ab'
    >>> remove_dashes("cat")
    'cat'
    """
    return text.replace("-", "")


@cases(1, ("cat",), ("",), ("aa",), ("papaya",), ("abracadabra",))
def count_letter_a(text: str) -> int:
    """Return how often "a" occurs in text.

    >>> count_letter_a("banana")
    3
    >>> count_letter_a("dog")
    0
    """
    return text.count("a")


@cases(1, ("hello you",), (" x",), ("my big dog",), ("seven up",), ("good day",))
def position_of_first_space(text: str) -> int:
    """Return the index of the first space in text.

    >>> position_of_first_space("a b")
    1
    >>> position_of_first_space("red car")
    3
    """
    return text.index(" ")


@cases(1, ("cat",), ("",), ("Yes",), ("one two",), ("7",))
def in_quotes(text: str) -> str:
    """Return text with a single quote ' on each side.

    >>> in_quotes("hi")
    "'hi'"
    >>> in_quotes("a b")
    "'a b'"
    """
    return "'" + text + "'"


@cases(1, ("dog", 0), ("dog", 2), ("window", 3), ("x", 0), ("green", 1))
def letter_at_index(word: str, index: int) -> str:
    """Return the character of word at index.

    >>> letter_at_index("cat", 1)
    'a'
    >>> letter_at_index("house", 4)
    'e'
    """
    return word[index]


@cases(1, ("garden", 3), ("sun", 1), ("a", 1), ("window", 4), ("blue sky", 5))
def text_from_index(text: str, start: int) -> str:
    """Return the part of text from index start on.

    >>> text_from_index("hello", 2)
    'llo'
    >>> text_from_index("cat", 0)
    'cat'
    """
    return text[start:]


@cases(1, ("garden", 2, 5), ("sun", 0, 3), ("abc", 1, 1), ("window", 0, 3), ("yellow", 3, 6))
def text_between_indexes(text: str, start: int, end: int) -> str:
    """Return text from index start up to index end, excluded.

    >>> text_between_indexes("hello", 1, 3)
    'el'
    >>> text_between_indexes("cat", 0, 2)
    'ca'
    """
    return text[start:end]


@cases(1, ("dog",), ("",), ("hi",), ("aab",), ("12",))
def letters_as_list(word: str) -> list[str]:
    """Return a list of the characters of word.

    >>> letters_as_list("cat")
    ['c', 'a', 't']
    >>> letters_as_list("x")
    ['x']
    """
    return list(word)


@cases(1, (0,), (7,), (100,), (-3,), (2024,))
def number_as_text(number: int) -> str:
    """Return number as a string.

    >>> number_as_text(5)
    '5'
    >>> number_as_text(-12)
    '-12'
    """
    return str(number)


@cases(1, (0,), (1,), (100,), (42,), (7,))
def distance_label(distance: int) -> str:
    """Return distance as a string followed by " km".

    >>> distance_label(5)
    '5 km'
    >>> distance_label(12)
    '12 km'
    """
    return str(distance) + " km"


@cases(1, ("diary",), ("list",), ("my_file",), ("",), ("page1",))
def text_file_name(name: str) -> str:
    """Return name with ".txt" added at the end.

    >>> text_file_name("notes")
    'notes.txt'
    >>> text_file_name("a")
    'a.txt'
    """
    return name + ".txt"


@cases(1, ("abcdefg",), ("",), ("cat",), ("0123456789",), ("hello",))
def every_third_letter(text: str) -> str:
    """Return every third character of text, starting with the first.

    >>> every_third_letter("abcdef")
    'ad'
    >>> every_third_letter("xy")
    'x'
    """
    return text[::3]


@cases(1, ("one two three",), ("good day",), ("sun",), ("I am here",), ("big blue sky",))
def first_word_of(text: str) -> str:
    """Return the first word of text.

    >>> first_word_of("red car")
    'red'
    >>> first_word_of("hi")
    'hi'
    """
    return text.split()[0]


@cases(1, ("one two three",), ("good day",), ("sun",), ("I am here",), ("big blue sky",))
def last_word_of(text: str) -> str:
    """Return the last word of text.

    >>> last_word_of("red car")
    'car'
    >>> last_word_of("hi")
    'hi'
    """
    return text.split()[-1]


@cases(1, ("dog",), ("z",), ("hello",), ("bead",), ("mix",))
def highest_letter(word: str) -> str:
    """Return the maximum character of word.

    >>> highest_letter("cat")
    't'
    >>> highest_letter("abc")
    'c'
    """
    return max(word)


@cases(1, (["one", "two", "three"],), ([],), (["a", "b"],), (["sun"],), (["I", "am", "here"],))
def words_to_sentence(words: list[str]) -> str:
    """Return words joined with single spaces.

    >>> words_to_sentence(["red", "car"])
    'red car'
    >>> words_to_sentence(["hi"])
    'hi'
    """
    return " ".join(words)


@cases(1, (["d", "o", "g"],), ([],), (["h", "i"],), (["a", "a", "b"],), (["o", "k", "!"],))
def letters_to_word(letters: list[str]) -> str:
    """Return letters joined into one string.

    >>> letters_to_word(["c", "a", "t"])
    'cat'
    >>> letters_to_word(["x"])
    'x'
    """
    return "".join(letters)


@cases(1, ("Tom", "Fox"), ("Eve", "Stone"), ("x", "y"), ("Max", "Hill"), ("kim", "west"))
def two_initials(given: str, family: str) -> str:
    """Return the first characters of given and family together.

    >>> two_initials("Ann", "Lee")
    'AL'
    >>> two_initials("Bo", "Day")
    'BD'
    """
    return given[0] + family[0]


@cases(1, ("dog",), ("car",), ("house",), ("book",), ("a",))
def plural_with_s(word: str) -> str:
    """Return word with "s" added at the end.

    >>> plural_with_s("cat")
    'cats'
    >>> plural_with_s("tree")
    'trees'
    """
    return word + "s"


@cases(
    1, ("bob", "work.org"), ("eve", "home.net"), ("info", "shop.com"), ("x", "y.z"), ("tom.fox", "uni.edu")
)
def email_address(name: str, site: str) -> str:
    """Return name, "@" and site as one string.

    >>> email_address("ann", "mail.com")
    'ann@mail.com'
    >>> email_address("a", "b.de")
    'a@b.de'
    """
    return name + "@" + site


@cases(1, ("sun", "sky"), ("", ""), ("hello", "you"), ("x", "y"), ("green", "tea"))
def total_length(first: str, second: str) -> int:
    """Return the length of first plus the length of second.

    >>> total_length("cat", "fish")
    7
    >>> total_length("", "a")
    1
    """
    return len(first) + len(second)


@cases(1, ("bow", "rain"), ("", "x"), ("1", "2"), ("ball", "foot"), ("no", "no"))
def second_then_first(first: str, second: str) -> str:
    """Return second followed directly by first.

    >>> second_then_first("a", "b")
    'ba'
    >>> second_then_first("day", "sun")
    'sunday'
    """
    return second + first
