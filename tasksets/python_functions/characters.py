"""Tasks about single characters: letter, digit and case tests, counts by kind, and character codes."""

from tasksets.python_functions.cases import cases


@cases(1, ("a",), ("Z",), ("5",), ("!",), ("q",), (" ",))
def is_letter(character: str) -> bool:
    """Return True if the character is a letter, else False.

    >>> is_letter("m")
    True
    >>> is_letter("7")
    False
    """
    return character.isalpha()


@cases(1, ("0",), ("9",), ("x",), ("-",), ("4",), ("",))
def is_single_digit(text: str) -> bool:
    """Return True if text is exactly one of the digits 0 to 9, else False.

    >>> is_single_digit("7")
    True
    >>> is_single_digit("12")
    False
    """
    return len(text) == 1 and text in "0123456789"


@cases(1, ("a",), ("E",), ("z",), ("u",), ("T",), ("i",), ("1",))
def is_vowel(character: str) -> bool:
    """Return True if the single character is one of a, e, i, o, u in lower or upper case, else False.

    >>> is_vowel("o")
    True
    >>> is_vowel("b")
    False
    """
    return character.lower() in "aeiou"


@cases(1, ("b",), ("A",), ("7",), ("Z",), ("?",), ("k",))
def is_consonant(character: str) -> bool:
    """Return True if the single character is a letter other than a, e, i, o, u in either case, else False.

    >>> is_consonant("t")
    True
    >>> is_consonant("e")
    False
    """
    return character.isalpha() and character.lower() not in "aeiou"


@cases(1, ("A",), ("z",), ("0",), (" ",), ("!",))
def code_of_character(character: str) -> int:
    """Return the Unicode code number of the single character.

    >>> code_of_character("a")
    97
    >>> code_of_character("B")
    66
    """
    return ord(character)


@cases(1, (65,), (122,), (48,), (33,), (110,))
def character_from_code(code: int) -> str:
    """Return the character with the given Unicode code number.

    >>> character_from_code(97)
    'a'
    >>> character_from_code(66)
    'B'
    """
    return chr(code)


@cases(1, ("b",), ("z",), ("m",), ("y",), ("e",))
def letter_position_in_alphabet(letter: str) -> int:
    """Return the position of a lower case letter in the alphabet, where a is 1 and z is 26.

    >>> letter_position_in_alphabet("a")
    1
    >>> letter_position_in_alphabet("c")
    3
    """
    return ord(letter) - ord("a") + 1


@cases(1, (2,), (26,), (13,), (5,), (20,))
def letter_at_alphabet_position(position: int) -> str:
    """Return the lower case letter at the position 1 to 26 of the alphabet, where 1 is a.

    >>> letter_at_alphabet_position(1)
    'a'
    >>> letter_at_alphabet_position(4)
    'd'
    """
    return chr(ord("a") + position - 1)


@cases(1, ("Hello World",), ("abc",), ("",), ("ABC",), ("a1B2!",))
def swap_letter_case(text: str) -> str:
    """Return text with upper case letters made lower case and lower case letters made upper case.

    >>> swap_letter_case("Cat")
    'cAT'
    >>> swap_letter_case("iPhone 5")
    'IpHONE 5'
    """
    return text.swapcase()


@cases(1, ("good morning",), ("",), ("x",), ("aBC",), ("9 lives",))
def uppercase_first_letter(text: str) -> str:
    """Return text with its first character in upper case and all others unchanged; empty text stays empty.

    >>> uppercase_first_letter("hello")
    'Hello'
    >>> uppercase_first_letter("iPod")
    'IPod'
    """
    return text[:1].upper() + text[1:]


@cases(1, ("a1b22",), ("",), ("abc",), ("2024-05-06",), ("room 7",))
def count_digit_characters(text: str) -> int:
    """Return how many characters of text are digits.

    >>> count_digit_characters("b52")
    2
    >>> count_digit_characters("none")
    0
    """
    return sum(character.isdigit() for character in text)


@cases(1, ("Hello World",), ("",), ("abc",), ("NASA",), ("A1 b2 C3",))
def count_uppercase(text: str) -> int:
    """Return how many characters of text are upper case letters.

    >>> count_uppercase("Good Day")
    2
    >>> count_uppercase("xyz!")
    0
    """
    return sum(character.isupper() for character in text)


@cases(1, ("education",), ("",), ("rhythm",), ("AEIou",), ("green tea",))
def count_vowels(text: str) -> int:
    """Return how many characters of text are vowels: a, e, i, o, u in lower or upper case.

    >>> count_vowels("banana")
    3
    >>> count_vowels("Ox")
    1
    """
    return sum(character in "aeiou" for character in text.lower())


@cases(1, ("a b c",), ("",), ("word",), ("   ",), ("to be or not",))
def count_spaces(text: str) -> int:
    """Return how many spaces text contains.

    >>> count_spaces("good day")
    1
    >>> count_spaces(" x ")
    2
    """
    return text.count(" ")


@cases(1, ("a1b2",), ("",), ("abc",), ("2024-05-06",), ("no. 7!",))
def keep_digits(text: str) -> str:
    """Return only the digits of text, in order, as one string.

    >>> keep_digits("b52x")
    '52'
    >>> keep_digits("tel: 01 23")
    '0123'
    """
    return "".join(character for character in text if character.isdigit())


@cases(1, ("a1b2",), ("",), ("123",), ("Good day!",), ("x-y_Z",))
def keep_letters(text: str) -> str:
    """Return only the letters of text, in order, as one string.

    >>> keep_letters("b52x")
    'bx'
    >>> keep_letters("Hi, Bo")
    'HiBo'
    """
    return "".join(character for character in text if character.isalpha())


@cases(1, ("education",), ("",), ("rhythm",), ("AEIou",), ("Green Tea",))
def remove_vowels(text: str) -> str:
    """Return text without the vowels a, e, i, o, u in lower or upper case.

    >>> remove_vowels("banana")
    'bnn'
    >>> remove_vowels("Idea!")
    'd!'
    """
    return "".join(character for character in text if character not in "aeiouAEIOU")


@cases(1, ("12345",), ("12a",), ("",), ("0",), ("-5",), ("7 7",), ("99",))
def only_digits(text: str) -> bool:
    """Return True if text is not empty and all of its characters are digits, else False.

    >>> only_digits("2024")
    True
    >>> only_digits("3.5")
    False
    """
    return text.isdigit()


@cases(1, ("Hello",), ("HELLO",), ("a",), ("A1",), ("b2b",), ("123",))
def has_lowercase(text: str) -> bool:
    """Return True if text contains at least one lower case letter, else False.

    >>> has_lowercase("NASa")
    True
    >>> has_lowercase("NASA")
    False
    """
    return any(character.islower() for character in text)


@cases(1, ("room 7",), ("room",), ("",), ("0",), ("x9y",), ("one two",))
def has_digit(text: str) -> bool:
    """Return True if text contains at least one digit, else False.

    >>> has_digit("abc1")
    True
    >>> has_digit("abc")
    False
    """
    return any(character.isdigit() for character in text)


@cases(1, ("Anna",), ("bob",), ("X",), ("1a",), ("éclair",), ("McDonald",))
def starts_with_capital(text: str) -> bool:
    """Return True if the first character of the non-empty text is an upper case letter, else False.

    >>> starts_with_capital("Paris")
    True
    >>> starts_with_capital("paris")
    False
    """
    return text[0].isupper()


@cases(1, ("b", "e"), ("z", "a"), ("m", "m"), ("a", "z"), ("k", "j"))
def letter_distance(first: str, second: str) -> int:
    """Return how many steps apart the two lower case letters are in the alphabet, never negative.

    >>> letter_distance("a", "d")
    3
    >>> letter_distance("h", "f")
    2
    """
    return abs(ord(first) - ord(second))


@cases(1, ("a", "A"), ("b", "c"), ("Z", "z"), ("x", "x"), ("Q", "P"), ("m", "N"))
def same_letter_any_case(first: str, second: str) -> bool:
    """Return True if the two letters are the same when upper and lower case are not distinguished, else False.

    >>> same_letter_any_case("k", "K")
    True
    >>> same_letter_any_case("k", "L")
    False
    """
    return first.lower() == second.lower()


@cases(1, ("hello", "upper"), ("Hello", "lower"), ("", "upper"), ("aBc", "lower"), ("a1", "upper"))
def change_case(text: str, mode: str) -> str:
    """Return text in upper case if mode is "upper", or in lower case if mode is "lower".

    >>> change_case("Cat", "upper")
    'CAT'
    >>> change_case("Cat", "lower")
    'cat'
    """
    return text.upper() if mode == "upper" else text.lower()


@cases(1, ("abc",), ("",), ("A",), ("Hi!",), ("019",))
def list_character_codes(text: str) -> list[int]:
    """Return the list of the Unicode code numbers of the characters of text.

    >>> list_character_codes("ab")
    [97, 98]
    >>> list_character_codes("C")
    [67]
    """
    return [ord(character) for character in text]


@cases(2, ([72, 105],), ([],), ([65],), ([99, 97, 116],), ([49, 50, 33],))
def text_from_codes(codes: list[int]) -> str:
    """Return the string made of the characters with the given Unicode code numbers, in order.

    >>> text_from_codes([97, 98])
    'ab'
    >>> text_from_codes([79, 75])
    'OK'
    """
    return "".join(chr(code) for code in codes)


@cases(2, ("a1b2c3",), ("",), ("abc",), ("9",), ("2024-05-06",))
def sum_of_digits_in_text(text: str) -> int:
    """Return the sum of all single digits that occur in text, or 0 if there are none.

    >>> sum_of_digits_in_text("b52")
    7
    >>> sum_of_digits_in_text("1 and 9")
    10
    """
    return sum(int(character) for character in text if character.isdigit())


@cases(2, ("a",), ("y",), ("z",), ("m",), ("s",))
def next_letter_wrapping(letter: str) -> str:
    """Return the lower case letter after the given one in the alphabet; after z comes a.

    >>> next_letter_wrapping("b")
    'c'
    >>> next_letter_wrapping("k")
    'l'
    """
    return "a" if letter == "z" else chr(ord(letter) + 1)


@cases(2, ("a",), ("Q",), ("5",), (" ",), ("!",), ("0",))
def kind_of_character(character: str) -> str:
    """Return "letter", "digit" or "other", according to what the single character is.

    >>> kind_of_character("x")
    'letter'
    >>> kind_of_character("-")
    'other'
    """
    if character.isalpha():
        return "letter"
    return "digit" if character.isdigit() else "other"


@cases(2, ("a1b2!",), ("",), ("Hello World",), ("12-34",), ("???",))
def count_character_kinds(text: str) -> dict[str, int]:
    """Return a dict with the keys "letters", "digits" and "others" and how many of each text contains.

    >>> count_character_kinds("b52!")
    {'letters': 1, 'digits': 2, 'others': 1}
    >>> count_character_kinds("ok")
    {'letters': 2, 'digits': 0, 'others': 0}
    """
    letters = sum(character.isalpha() for character in text)
    digits = sum(character.isdigit() for character in text)
    return {"letters": letters, "digits": digits, "others": len(text) - letters - digits}


@cases(2, ("banana",), ("",), ("Aa",), ("hello",), ("1 1",))
def character_counts(text: str) -> dict[str, int]:
    """Return a dict from each character of text to how often it occurs, in order of first occurrence.

    >>> character_counts("noon")
    {'n': 2, 'o': 2}
    >>> character_counts("abb")
    {'a': 1, 'b': 2}
    """
    return {character: text.count(character) for character in text}


@cases(2, ("good morning",), ("",), ("x",), ("a1b2c3",), ("ABCD",))
def alternate_case(text: str) -> str:
    """Return text with characters at even positions in upper case and those at odd positions in lower case.

    >>> alternate_case("hello")
    'HeLlO'
    >>> alternate_case("WOW")
    'WoW'
    """
    return "".join(c.upper() if i % 2 == 0 else c.lower() for i, c in enumerate(text))


@cases(2, ("abc",), ("",), ("az",), ("bad",), ("z",))
def alphabet_value_of_word(word: str) -> int:
    """Return the sum of the alphabet positions (a is 1, z is 26) of the letters of a lower case word.

    >>> alphabet_value_of_word("cab")
    6
    >>> alphabet_value_of_word("ee")
    10
    """
    return sum(ord(letter) - 96 for letter in word)


@cases(2, ("hello world",), ("",), ("rhythm",), ("AbE",), ("iou",))
def mask_vowels(text: str) -> str:
    """Return text with each vowel (a, e, i, o, u in either case) replaced by "*".

    >>> mask_vowels("banana")
    'b*n*n*'
    >>> mask_vowels("Idea!")
    '*d**!'
    """
    return "".join("*" if character in "aeiouAEIOU" else character for character in text)


@cases(2, ("room 7",), ("none",), ("",), ("9 to 5",), ("ab12",))
def first_digit_in_text(text: str) -> int:
    """Return the first digit that occurs in text as a number, or -1 if text has no digit.

    >>> first_digit_in_text("b52")
    5
    >>> first_digit_in_text("xyz")
    -1
    """
    for character in text:
        if character.isdigit():
            return int(character)
    return -1


@cases(2, ("Hello World",), ("ABC",), ("abc",), ("",), ("aB",))
def more_upper_than_lower(text: str) -> str:
    """Return "upper" if text has more upper than lower case letters, "lower" if fewer, else "equal".

    >>> more_upper_than_lower("NASa")
    'upper'
    >>> more_upper_than_lower("XxYy")
    'equal'
    """
    upper = sum(character.isupper() for character in text)
    lower = sum(character.islower() for character in text)
    return "upper" if upper > lower else "lower" if lower > upper else "equal"


@cases(2, ("a", "e"), ("x", "z"), ("m", "m"), ("c", "a"), ("p", "q"))
def letters_from_to(start: str, end: str) -> str:
    """Return the lower case letters from start to end, both included, or empty text if start is after end.

    >>> letters_from_to("b", "d")
    'bcd'
    >>> letters_from_to("k", "j")
    ''
    """
    return "".join(chr(code) for code in range(ord(start), ord(end) + 1))


@cases(
    2,
    ("the quick brown fox",),
    ("abcdefghijklmnopqrstuvwxyz",),
    ("zyxwvutsrqponmlkjihgfedcba",),
    ("abcdefghijklmnopqrstuvwxy",),
    ("",),
    ("Sphinx of black quartz, judge my vow",),
)
def uses_whole_alphabet(text: str) -> bool:
    """Return True if every letter from a to z occurs in text, in either case, else False.

    >>> uses_whole_alphabet("Pack my box with five dozen liquor jugs")
    True
    >>> uses_whole_alphabet("abc")
    False
    """
    return set("abcdefghijklmnopqrstuvwxyz") <= set(text.lower())


@cases(2, ("hello",), ("",), ("aeiou",), ("Umbrella",), ("xyz",))
def vowel_positions(text: str) -> list[int]:
    """Return the list of indexes at which text has a vowel (a, e, i, o, u in either case).

    >>> vowel_positions("banana")
    [1, 3, 5]
    >>> vowel_positions("try")
    []
    """
    return [index for index, character in enumerate(text) if character in "aeiouAEIOU"]


@cases(2, ("abc",), ("cab",), ("a",), ("aabb",), ("",), ("zyx",), ("acb",))
def letters_in_order(word: str) -> bool:
    """Return True if the letters of a lower case word are in alphabetical order, repeats allowed, else False.

    >>> letters_in_order("almost")
    True
    >>> letters_in_order("hello")
    False
    """
    return list(word) == sorted(word)


@cases(2, ("Ab3",), ("abcdefgh1",), ("Abcdefg1",), ("ABCDEFG1",), ("Password",), ("Zebra2024!",), ("",))
def is_good_password(password: str) -> bool:
    """Return True if password has at least 8 characters, an upper case letter and a digit, else False.

    >>> is_good_password("Sunshine7")
    True
    >>> is_good_password("sunshine7")
    False
    """
    return (
        len(password) >= 8
        and any(character.isupper() for character in password)
        and any(character.isdigit() for character in password)
    )


@cases(3, ("abc", 1), ("xyz", 3), ("Hello, World", 5), ("", 4), ("az", 0))
def shift_letters(text: str, shift: int) -> str:
    """Return text with each lower case letter moved shift places on in the alphabet, from z on to a.

    All other characters stay as they are.

    >>> shift_letters("abz", 2)
    'cdb'
    >>> shift_letters("Hi 5", 1)
    'Hj 5'
    """
    result = ""
    for character in text:
        if "a" <= character <= "z":
            result += chr((ord(character) - ord("a") + shift) % 26 + ord("a"))
        else:
            result += character
    return result


@cases(3, ("userName",), ("x",), ("",), ("maxItemCount",), ("plain",))
def camel_to_snake(name: str) -> str:
    """Return name with each upper case letter replaced by an underscore and that letter in lower case.

    >>> camel_to_snake("firstName")
    'first_name'
    >>> camel_to_snake("isOk")
    'is_ok'
    """
    result = ""
    for character in name:
        if character.isupper():
            result += "_" + character.lower()
        else:
            result += character
    return result


@cases(3, ("abc12de345",), ("",), ("abc",), ("7",), ("00-1234-5",))
def longest_digit_run(text: str) -> int:
    """Return the length of the longest run of neighbouring digits in text, or 0 if there are none.

    >>> longest_digit_run("a12b3")
    2
    >>> longest_digit_run("no 1984")
    4
    """
    best = current = 0
    for character in text:
        current = current + 1 if character.isdigit() else 0
        best = max(best, current)
    return best


@cases(3, ("a-bC-dEf-ghIj",), ("",), ("x",), ("12-34",), ("Tea, Pot!",))
def reverse_only_letters(text: str) -> str:
    """Return text with its letters in reverse order, while all other characters keep their places.

    >>> reverse_only_letters("ab-cd")
    'dc-ba'
    >>> reverse_only_letters("cat!")
    'tac!'
    """
    letters = [character for character in text if character.isalpha()]
    return "".join(letters.pop() if character.isalpha() else character for character in text)
