"""Tasks about building strings from values: padding, joining, labels, messages and small layouts."""

from tasksets.python_functions.cases import cases


@cases(1, ("Ann",), ("",), ("Bob Smith",), ("x",), ("world",))
def make_greeting(name: str) -> str:
    """Return the greeting "Hello, NAME!" with NAME replaced by name.

    >>> make_greeting("Eve")
    'Hello, Eve!'
    >>> make_greeting("Tom")
    'Hello, Tom!'
    """
    return f"Hello, {name}!"


@cases(1, (5, 3), (42, 2), (123, 2), (0, 1), (9, 5))
def pad_number_with_zeros(number: int, width: int) -> str:
    """Return the non-negative number as text, filled with zeros on the left to at least width characters.

    >>> pad_number_with_zeros(7, 3)
    '007'
    >>> pad_number_with_zeros(1234, 2)
    '1234'
    """
    return str(number).zfill(width)


@cases(1, ("cat", 5), ("", 2), ("hello", 3), ("ab", 2), ("x", 4))
def pad_right_with_spaces(text: str, width: int) -> str:
    """Return text followed by spaces so that it has at least width characters; longer text stays unchanged.

    >>> pad_right_with_spaces("hi", 4)
    'hi  '
    >>> pad_right_with_spaces("python", 3)
    'python'
    """
    return text.ljust(width)


@cases(1, ("cat", 5), ("", 2), ("hello", 3), ("ab", 2), ("x", 4))
def pad_left_with_dots(text: str, width: int) -> str:
    """Return text with dots put before it so that it has at least width characters.

    >>> pad_left_with_dots("hi", 4)
    '..hi'
    >>> pad_left_with_dots("python", 3)
    'python'
    """
    return text.rjust(width, ".")


@cases(1, (["a", "b", "c"],), ([],), (["one"],), (["x", ""],), (["red", "green"],))
def join_with_commas(items: list[str]) -> str:
    """Return the items joined with a comma and a space between them; an empty list gives an empty string.

    >>> join_with_commas(["tea", "milk"])
    'tea, milk'
    >>> join_with_commas(["1", "2", "3"])
    '1, 2, 3'
    """
    return ", ".join(items)


@cases(1, ("apple", 3), ("pear", 0), ("", 1), ("box", 12), ("cup", 1))
def item_with_count(item: str, count: int) -> str:
    """Return the item, then " x", then the count.

    >>> item_with_count("egg", 6)
    'egg x6'
    >>> item_with_count("bread", 2)
    'bread x2'
    """
    return f"{item} x{count}"


@cases(1, ("hello",), ("",), ("a b",), ("[x]",), ("42",))
def wrap_in_brackets(text: str) -> str:
    """Return text with "[" before it and "]" after it.

    >>> wrap_in_brackets("note")
    '[note]'
    >>> wrap_in_brackets("1, 2")
    '[1, 2]'
    """
    return f"[{text}]"


@cases(1, (3.14159,), (2.0,), (0.0,), (-1.5,), (99.999,))
def format_two_decimals(number: float) -> str:
    """Return the number as text with exactly two digits after the point.

    >>> format_two_decimals(1.5)
    '1.50'
    >>> format_two_decimals(2.71828)
    '2.72'
    """
    return f"{number:.2f}"


@cases(1, (1234567,), (0,), (999,), (1000,), (-25000,))
def format_thousands(number: int) -> str:
    """Return the number as text with a comma between each group of three digits.

    >>> format_thousands(12345)
    '12,345'
    >>> format_thousands(12)
    '12'
    """
    return f"{number:,}"


@cases(1, (7, 5), (0, 0), (23, 59), (12, 30), (9, 41))
def format_clock_time(hour: int, minute: int) -> str:
    """Return the time as HH:MM with two digits for the hour and two digits for the minute.

    >>> format_clock_time(8, 15)
    '08:15'
    >>> format_clock_time(14, 3)
    '14:03'
    """
    return f"{hour:02d}:{minute:02d}"


@cases(1, (2024, 1, 5), (1999, 12, 31), (2000, 2, 29), (2010, 10, 1), (2023, 7, 14))
def format_iso_date(year: int, month: int, day: int) -> str:
    """Return the date as YYYY-MM-DD with four digits for the year and two each for the month and day.

    >>> format_iso_date(2025, 3, 9)
    '2025-03-09'
    >>> format_iso_date(1987, 11, 20)
    '1987-11-20'
    """
    return f"{year:04d}-{month:02d}-{day:02d}"


@cases(1, ("Ada", "Lovelace"), ("Alan", "Turing"), ("", "Prince"), ("x", "y"), ("Mary Ann", "Lee"))
def last_name_first(first_name: str, last_name: str) -> str:
    """Return the last name, a comma, a space and the first name.

    >>> last_name_first("Grace", "Hopper")
    'Hopper, Grace'
    >>> last_name_first("Bo", "Li")
    'Li, Bo'
    """
    return f"{last_name}, {first_name}"


@cases(1, (3, 4), (0, 0), (-1, 2), (10, -5), (7, 7))
def format_point(x: int, y: int) -> str:
    """Return the point as text: "(", x, a comma, a space, y and ")".

    >>> format_point(1, 2)
    '(1, 2)'
    >>> format_point(-3, 0)
    '(-3, 0)'
    """
    return f"({x}, {y})"


@cases(1, ("color", "red"), ("", ""), ("a", "1"), ("file name", "x.txt"), ("size", "10 cm"))
def key_value_line(key: str, value: str) -> str:
    """Return the key, an equals sign and the value, without spaces between.

    >>> key_value_line("name", "Bob")
    'name=Bob'
    >>> key_value_line("port", "80")
    'port=80'
    """
    return f"{key}={value}"


@cases(1, ([1, 2, 3],), ([],), ([7],), ([-1, 0],), ([10, 20, 30, 40],))
def numbers_joined_by_dashes(numbers: list[int]) -> str:
    """Return the numbers as one text with a dash between neighbours; an empty list gives an empty string.

    >>> numbers_joined_by_dashes([4, 5])
    '4-5'
    >>> numbers_joined_by_dashes([2024, 1, 9])
    '2024-1-9'
    """
    return "-".join(str(number) for number in numbers)


@cases(1, (0.5,), (0.0,), (1.0,), (0.257,), (1.5,))
def format_percent(fraction: float) -> str:
    """Return the fraction as a whole percentage followed by "%", so 0.5 becomes 50%.

    >>> format_percent(0.25)
    '25%'
    >>> format_percent(0.1)
    '10%'
    """
    return f"{fraction:.0%}"


@cases(1, (10,), (0,), (255,), (1,), (6,))
def to_binary_text(number: int) -> str:
    """Return the binary digits of the non-negative number as text, without any prefix.

    >>> to_binary_text(5)
    '101'
    >>> to_binary_text(8)
    '1000'
    """
    return f"{number:b}"


@cases(1, ("hi", 6), ("", 4), ("cat", 7), ("hello", 3), ("ab", 2))
def center_in_stars(text: str, width: int) -> str:
    """Return text centred in a field of width characters filled with "*"; longer text stays unchanged.

    >>> center_in_stars("ok", 8)
    '***ok***'
    >>> center_in_stars("sun", 5)
    '*sun*'
    """
    return text.center(width, "*")


@cases(1, ("Menu",), ("",), ("A",), ("Chapter 1",), ("Results",))
def underline_length_line(title: str) -> str:
    """Return a line of "=" characters that is as long as the title.

    >>> underline_length_line("Notes")
    '====='
    >>> underline_length_line("Hi")
    '=='
    """
    return "=" * len(title)


@cases(1, (5,), (-5,), (0,), (100,), (-1,))
def number_with_sign(number: int) -> str:
    """Return the number as text, always with a sign: "+" for zero and above, "-" for below zero.

    >>> number_with_sign(3)
    '+3'
    >>> number_with_sign(-12)
    '-12'
    """
    return f"{number:+d}"


@cases(1, ("b", "bold"), ("p", ""), ("h1", "Title"), ("li", "one two"), ("i", "x"))
def wrap_in_tag(tag: str, text: str) -> str:
    """Return text between an opening tag like <b> and the closing tag like </b>.

    >>> wrap_in_tag("em", "hi")
    '<em>hi</em>'
    >>> wrap_in_tag("td", "42")
    '<td>42</td>'
    """
    return f"<{tag}>{text}</{tag}>"


@cases(1, ("milk", True), ("eggs", False), ("", False), ("call Bob", True), ("x", False))
def checklist_line(item: str, done: bool) -> str:
    """Return "[x] " followed by the item if done is True, else "[ ] " followed by the item.

    >>> checklist_line("bread", True)
    '[x] bread'
    >>> checklist_line("tea", False)
    '[ ] tea'
    """
    return f"[{'x' if done else ' '}] {item}"


@cases(1, (3, "cat"), (1, "dog"), (0, "box"), (2, "tree"), (100, "star"))
def count_with_plural(count: int, word: str) -> str:
    """Return the count, a space and the word, with "s" added to the word unless count is 1.

    >>> count_with_plural(1, "book")
    '1 book'
    >>> count_with_plural(4, "book")
    '4 books'
    """
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


@cases(1, (3, 5), (-2, 2), (0, 0), (10, -4), (7, 1))
def addition_sentence(first: int, second: int) -> str:
    """Return the addition with its result as text, in the form "A + B = SUM".

    >>> addition_sentence(1, 2)
    '1 + 2 = 3'
    >>> addition_sentence(10, 5)
    '10 + 5 = 15'
    """
    return f"{first} + {second} = {first + second}"


@cases(1, (["home", "user"],), ([],), (["a"],), (["var", "log", "app"],), (["x", "y", "z", "w"],))
def absolute_path_text(parts: list[str]) -> str:
    """Return a path that starts with "/" and has the parts with "/" between; no parts give "/".

    >>> absolute_path_text(["usr", "bin"])
    '/usr/bin'
    >>> absolute_path_text(["tmp"])
    '/tmp'
    """
    return "/" + "/".join(parts)


@cases(2, (["apple", "pear", "fig"],), (["one"],), ([],), (["a", "b"],), (["w", "x", "y", "z"],))
def join_with_and(words: list[str]) -> str:
    """Return the words joined with ", ", but with " and " before the last; no words give an empty string.

    >>> join_with_and(["tea", "milk", "sugar"])
    'tea, milk and sugar'
    >>> join_with_and(["red", "blue"])
    'red and blue'
    """
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + " and " + words[-1]


@cases(2, (["a", "b"],), ([],), (["wash", "dry", "fold"],), (["x"],), (["", "y"],))
def number_the_items(items: list[str]) -> list[str]:
    """Return each item with its number, a dot and a space before it, counting from 1.

    >>> number_the_items(["tea", "milk"])
    ['1. tea', '2. milk']
    >>> number_the_items(["only"])
    ['1. only']
    """
    return [f"{number}. {item}" for number, item in enumerate(items, 1)]


@cases(2, ("hello world", 8), ("short", 10), ("", 3), ("exact", 5), ("a long sentence", 6))
def shorten_with_dots(text: str, limit: int) -> str:
    """Return text if it has at most limit characters, else its first limit - 3 characters and "...".

    >>> shorten_with_dots("good morning", 7)
    'good...'
    >>> shorten_with_dots("hi", 5)
    'hi'
    """
    return text if len(text) <= limit else text[: limit - 3] + "..."


@cases(2, (90,), (0,), (3600,), (59,), (725,))
def format_minutes_seconds(seconds: int) -> str:
    """Return the seconds as M:SS, with minutes as they are and always two digits for the seconds.

    >>> format_minutes_seconds(65)
    '1:05'
    >>> format_minutes_seconds(130)
    '2:10'
    """
    return f"{seconds // 60}:{seconds % 60:02d}"


@cases(2, ({"a": 1, "b": 2},), ({},), ({"x": 0},), ({"h": -5, "w": 10},), ({"n": 7, "m": 7, "k": 1},))
def dict_to_query_text(values: dict[str, int]) -> str:
    """Return the pairs of the dict as key=value, joined with "&"; an empty dict gives an empty string.

    >>> dict_to_query_text({"page": 2, "size": 10})
    'page=2&size=10'
    >>> dict_to_query_text({"id": 5})
    'id=5'
    """
    return "&".join(f"{key}={value}" for key, value in values.items())


@cases(2, (1,), (2,), (3,), (4,), (11,), (22,), (13,))
def ordinal_text(number: int) -> str:
    """Return the number from 1 to 99 with its ending st, nd, rd or th; 11, 12 and 13 get th.

    >>> ordinal_text(21)
    '21st'
    >>> ordinal_text(12)
    '12th'
    """
    if 11 <= number <= 13:
        return f"{number}th"
    endings = {1: "st", 2: "nd", 3: "rd"}
    return str(number) + endings.get(number % 10, "th")


@cases(2, ("1234567890123456",), ("1234",), ("12",), ("",), ("98765",))
def mask_all_but_last_four(text: str) -> str:
    """Return text with every character except the last four replaced by "*"; short text stays unchanged.

    >>> mask_all_but_last_four("12345678")
    '****5678'
    >>> mask_all_but_last_four("abc")
    'abc'
    """
    return "*" * (len(text) - 4) + text[-4:]


@cases(
    2, (["A", "B"], [3, 5]), ([], []), (["Ann"], [0]), (["x", "y", "z"], [1, 2, 3]), (["p", "q"], [-1, 10])
)
def score_lines(names: list[str], scores: list[int]) -> list[str]:
    """Return one line "NAME: SCORE" for each name and the score at the same place in the other list.

    >>> score_lines(["Eve", "Tom"], [7, 9])
    ['Eve: 7', 'Tom: 9']
    >>> score_lines(["Bo"], [100])
    ['Bo: 100']
    """
    return [f"{name}: {score}" for name, score in zip(names, scores, strict=True)]


@cases(2, (0, 10), (10, 10), (5, 10), (1, 4), (2, 5))
def progress_bar(done: int, total: int) -> str:
    """Return a bar of total characters: a "#" for each step done and a "-" for each step left.

    >>> progress_bar(2, 6)
    '##----'
    >>> progress_bar(3, 3)
    '###'
    """
    return "#" * done + "-" * (total - done)


@cases(2, (4,), (0,), (1,), (2,), (5,))
def star_triangle(height: int) -> list[str]:
    """Return a list of height strings of stars: one star in the first, two in the second and so on.

    A height of zero or less gives an empty list.

    >>> star_triangle(3)
    ['*', '**', '***']
    >>> star_triangle(-1)
    []
    """
    return ["*" * row for row in range(1, height + 1)]


@cases(2, ("Ada Lovelace",), ("cher",), ("john ronald tolkien",), ("",), ("Mary  Ann Lee",))
def initials_with_dots(name: str) -> str:
    """Return the first letter of each word of name in upper case with a dot after each; no words give "".

    >>> initials_with_dots("Grace Hopper")
    'G.H.'
    >>> initials_with_dots("bob")
    'B.'
    """
    return "".join(word[0].upper() + "." for word in name.split())


@cases(2, (255, 0, 128), (0, 0, 0), (255, 255, 255), (1, 2, 3), (16, 32, 200))
def color_to_hex(red: int, green: int, blue: int) -> str:
    """Return the colour as "#" and two lower case hexadecimal digits each for red, green and blue.

    >>> color_to_hex(255, 165, 0)
    '#ffa500'
    >>> color_to_hex(10, 11, 12)
    '#0a0b0c'
    """
    return f"#{red:02x}{green:02x}{blue:02x}"


@cases(2, (5,), (-3,), (0,), (120,), (-40,))
def describe_balance(amount: int) -> str:
    """Return "owes N" if the amount is negative, with N the positive size, "has N" if positive, else "even".

    >>> describe_balance(12)
    'has 12'
    >>> describe_balance(-7)
    'owes 7'
    """
    if amount < 0:
        return f"owes {-amount}"
    return f"has {amount}" if amount > 0 else "even"


@cases(2, ("Hello World",), ("one",), ("",), ("  A  big Cat ",), ("My First Post",))
def make_slug(title: str) -> str:
    """Return the words of the title in lower case with a single dash between neighbours.

    >>> make_slug("Good Morning")
    'good-morning'
    >>> make_slug("About  Us")
    'about-us'
    """
    return "-".join(title.lower().split())


@cases(
    2,
    ("Hello {name}", "name", "Bob"),
    ("no slot", "x", "1"),
    ("", "a", "b"),
    ("{a}{a}", "a", "z"),
    ("{x} and {y}", "y", "5"),
)
def fill_placeholder(template: str, name: str, value: str) -> str:
    """Return template with each occurrence of name in curly braces replaced by value.

    >>> fill_placeholder("Dear {who},", "who", "Ann")
    'Dear Ann,'
    >>> fill_placeholder("{a}-{b}", "a", "1")
    '1-{b}'
    """
    return template.replace("{" + name + "}", value)


@cases(2, ("cat", 3), ("hi", 1), ("x", 4), ("", 2), ("no", 0))
def repeat_with_dashes(word: str, times: int) -> str:
    """Return the word repeated the given number of times with a dash between neighbours; 0 times give "".

    >>> repeat_with_dashes("ha", 3)
    'ha-ha-ha'
    >>> repeat_with_dashes("go", 2)
    'go-go'
    """
    return "-".join([word] * times)


@cases(3, (3661,), (0,), (59,), (3600,), (7325,), (60,))
def describe_duration(seconds: int) -> str:
    """Return the seconds as hours, minutes and seconds like "1h 2m 5s", without the parts that are zero.

    Zero seconds give "0s".

    >>> describe_duration(125)
    '2m 5s'
    >>> describe_duration(3605)
    '1h 5s'
    """
    hours, rest = divmod(seconds, 3600)
    parts = [(hours, "h"), (rest // 60, "m"), (rest % 60, "s")]
    return " ".join(f"{value}{unit}" for value, unit in parts if value) or "0s"


@cases(3, (500,), (0,), (1023,), (2048,), (1048576,), (5242880,))
def format_file_size(size: int) -> str:
    """Return the size as whole units: "N B" below 1024, "N KB" below 1024 * 1024, else "N MB".

    KB and MB are rounded down.

    >>> format_file_size(1536)
    '1 KB'
    >>> format_file_size(100)
    '100 B'
    """
    if size < 1024:
        return f"{size} B"
    if size < 1024 * 1024:
        return f"{size // 1024} KB"
    return f"{size // (1024 * 1024)} MB"


@cases(3, ([1, 2, 3, 5],), ([],), ([7],), ([1, 3, 5],), ([4, 5, 8, 9, 10],))
def compress_ranges(numbers: list[int]) -> str:
    """Return the ascending numbers as text, with each run of consecutive numbers written as first-last.

    Single numbers stay alone; the parts are joined with a comma.

    >>> compress_ranges([1, 2, 3, 7])
    '1-3,7'
    >>> compress_ranges([2, 4, 5])
    '2,4-5'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


@cases(
    3,
    ([["a", "bb"], ["ccc", "d"]],),
    ([],),
    ([["x"]],),
    ([["one", "1"], ["three", "3"]],),
    ([["a", "b", "c"], ["dd", "", "f"]],),
)
def align_columns(rows: list[list[str]]) -> list[str]:
    """Return one line per row with each cell padded on the right to the longest cell of its column.

    The cells of a line are joined with "|". All rows have the same number of cells.

    >>> align_columns([["id", "name"], ["7", "Bo"]])
    ['id|name', '7 |Bo  ']
    >>> align_columns([["a"], ["bcd"]])
    ['a  ', 'bcd']
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["|".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
