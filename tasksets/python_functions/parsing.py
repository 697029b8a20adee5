"""Tasks about getting values out of strings: splitting, key=value pairs, numbers and csv-like lines."""

from tasksets.python_functions.cases import cases


@cases(1, ("42",), ("-7",), ("0",), (" 15 ",), ("1000",))
def text_to_int(text: str) -> int:
    """Return the whole number written in text; spaces around it are allowed.

    >>> text_to_int("12")
    12
    >>> text_to_int(" -3")
    -3
    """
    return int(text)


@cases(1, ("3.5",), ("-0.25",), ("0",), ("10",), ("99.9",))
def text_to_float(text: str) -> float:
    """Return the number written in text as a float.

    >>> text_to_float("1.5")
    1.5
    >>> text_to_float("7")
    7.0
    """
    return float(text)


@cases(1, ("a,b,c",), ("one",), ("x,,y",), (",",), ("red,green",))
def split_at_commas(line: str) -> list[str]:
    """Return the list of the parts of line between commas; empty parts are kept.

    >>> split_at_commas("tea,milk")
    ['tea', 'milk']
    >>> split_at_commas("1,2,3")
    ['1', '2', '3']
    """
    return line.split(",")


@cases(1, ("1,2,3",), ("7",), ("-1,0",), ("10,20,30,40",), ("5,5",))
def comma_numbers(line: str) -> list[int]:
    """Return the list of the whole numbers in line, which are separated by commas.

    >>> comma_numbers("4,5")
    [4, 5]
    >>> comma_numbers("100")
    [100]
    """
    return [int(part) for part in line.split(",")]


@cases(1, ("1 2 3",), ("",), ("-4 4",), ("10  20",), ("7",))
def sum_of_numbers_in_line(line: str) -> int:
    """Return the sum of the whole numbers in line, separated by spaces; an empty line gives 0.

    >>> sum_of_numbers_in_line("5 6")
    11
    >>> sum_of_numbers_in_line("1 -1 3")
    3
    """
    return sum(int(part) for part in line.split())


@cases(1, ("color=red",), ("a=1",), ("x=",), ("long name=v",), ("=5",))
def key_of_pair(pair: str) -> str:
    """Return the part of pair before its only equals sign.

    >>> key_of_pair("name=Bob")
    'name'
    >>> key_of_pair("port=80")
    'port'
    """
    return pair.split("=")[0]


@cases(1, ("color=red",), ("a=1",), ("x=",), ("expr=a=b",), ("size=10 cm",))
def value_of_pair(pair: str) -> str:
    """Return the part of pair after its first equals sign; there is always one.

    >>> value_of_pair("name=Bob")
    'Bob'
    >>> value_of_pair("k=v=w")
    'v=w'
    """
    return pair.split("=", 1)[1]


@cases(1, ("ann@example.com",), ("b@x",), ("info@my.site.org",), ("a.b@c.de",), ("@home",))
def email_domain(address: str) -> str:
    """Return the part of the e-mail address after the "@".

    >>> email_domain("bob@mail.net")
    'mail.net'
    >>> email_domain("eve@a.org")
    'a.org'
    """
    return address.split("@")[1]


@cases(1, ("notes.txt",), ("archive.tar.gz",), ("a.py",), ("my.file.md",), ("x.",))
def file_extension(filename: str) -> str:
    """Return the part of the filename after its last dot; there is always a dot.

    >>> file_extension("photo.png")
    'png'
    >>> file_extension("data.v2.csv")
    'csv'
    """
    return filename.split(".")[-1]


@cases(1, ("/home/ann/notes.txt",), ("a/b",), ("file",), ("x/y/",), ("/top",))
def last_path_part(path: str) -> str:
    """Return the part of the path after its last slash, or the whole path if it has no slash.

    >>> last_path_part("/usr/bin/python")
    'python'
    >>> last_path_part("readme")
    'readme'
    """
    return path.split("/")[-1]


@cases(1, ("2024-01-05",), ("1999-12-31",), ("2000-02-29",), ("0800-06-01",), ("2031-10-10",))
def year_of_date(date: str) -> int:
    """Return the year of a date written as YYYY-MM-DD, as a number.

    >>> year_of_date("2025-03-09")
    2025
    >>> year_of_date("1987-11-20")
    1987
    """
    return int(date[:4])


@cases(1, ("2024-01-05",), ("1999-12-31",), ("2000-02-29",), ("1950-06-01",), ("2031-10-10",))
def month_of_date(date: str) -> int:
    """Return the month of a date written as YYYY-MM-DD, as a number from 1 to 12.

    >>> month_of_date("2025-03-09")
    3
    >>> month_of_date("1987-11-20")
    11
    """
    return int(date.split("-")[1])


@cases(1, ("07:05",), ("00:00",), ("23:59",), ("12:30",), ("01:01",))
def clock_time_to_minutes(time: str) -> int:
    """Return how many minutes after midnight the time HH:MM is.

    >>> clock_time_to_minutes("01:30")
    90
    >>> clock_time_to_minutes("10:00")
    600
    """
    return int(time[:2]) * 60 + int(time[3:])


@cases(1, ("yes",), ("no",), ("YES",), ("",), ("Yes",), ("y",))
def parse_yes(text: str) -> bool:
    """Return True if text is "yes" in any mix of upper and lower case, else False.

    >>> parse_yes("yEs")
    True
    >>> parse_yes("maybe")
    False
    """
    return text.lower() == "yes"


@cases(1, ("25%",), ("0%",), ("100%",), ("-5%",), ("7%",))
def percent_to_int(text: str) -> int:
    """Return the whole number before the percent sign at the end of text.

    >>> percent_to_int("50%")
    50
    >>> percent_to_int("3%")
    3
    """
    return int(text[:-1])


@cases(1, ("1,234",), ("0",), ("1,000,000",), ("-12,345",), ("999",))
def parse_number_with_commas(text: str) -> int:
    """Return the whole number in text, which may have commas between groups of digits.

    >>> parse_number_with_commas("12,000")
    12000
    >>> parse_number_with_commas("42")
    42
    """
    return int(text.replace(",", ""))


@cases(1, ("3,5",), ("0,25",), ("-1,0",), ("12",), ("100,125",))
def parse_decimal_comma(text: str) -> float:
    """Return the number in text, written with a comma as the decimal mark, as a float.

    >>> parse_decimal_comma("1,5")
    1.5
    >>> parse_decimal_comma("2,75")
    2.75
    """
    return float(text.replace(",", "."))


@cases(1, ("101",), ("0",), ("1111",), ("1",), ("100000",))
def binary_text_to_int(digits: str) -> int:
    """Return the number whose binary digits are given as text.

    >>> binary_text_to_int("110")
    6
    >>> binary_text_to_int("1000")
    8
    """
    return int(digits, 2)


@cases(1, ("ff",), ("0",), ("1A",), ("10",), ("abc",))
def hex_text_to_int(digits: str) -> int:
    """Return the number whose hexadecimal digits, in lower or upper case, are given as text.

    >>> hex_text_to_int("1f")
    31
    >>> hex_text_to_int("A")
    10
    """
    return int(digits, 16)


@cases(1, ("a b c", 1), ("one", 0), ("  x   y ", 1), ("red green blue", 2), ("p q r s", 3))
def field_at(line: str, index: int) -> str:
    """Return the field of line at the index, counting from 0; fields are separated by spaces.

    >>> field_at("tea milk sugar", 0)
    'tea'
    >>> field_at("tea milk sugar", 2)
    'sugar'
    """
    return line.split()[index]


@cases(1, ("a;b;c",), ("",), ("x",), (";;",), ("1;2",))
def count_semicolon_fields(line: str) -> int:
    """Return the number of fields in line, separated by semicolons; a line without semicolons is one field.

    >>> count_semicolon_fields("tea;milk")
    2
    >>> count_semicolon_fields("p;q;r;s")
    4
    """
    return len(line.split(";"))


@cases(1, ("$5",), ("$0",), ("$12.50",), ("$100",), ("$0.99",))
def parse_price(text: str) -> float:
    """Return the price written after a dollar sign, as a float.

    >>> parse_price("$3.25")
    3.25
    >>> parse_price("$7")
    7.0
    """
    return float(text[1:])


@cases(1, ("a , b,c ",), ("one",), (" x ",), ("red,  green , blue",), (",a",))
def split_and_trim(line: str) -> list[str]:
    """Return the parts of line between commas, each without spaces at its beginning and end.

    >>> split_and_trim("tea, milk")
    ['tea', 'milk']
    >>> split_and_trim(" 1 ,2")
    ['1', '2']
    """
    return [part.strip() for part in line.split(",")]


@cases(1, ("3x4",), ("10x2",), ("0x9",), ("7x7",), ("12x12",))
def area_of_size_text(size: str) -> int:
    """Return width times height for a size written as WIDTHxHEIGHT.

    >>> area_of_size_text("2x5")
    10
    >>> area_of_size_text("3x3")
    9
    """
    return int(size.split("x")[0]) * int(size.split("x")[1])


@cases(1, ("3 8 5",), ("7",), ("-1 -9",), ("10 9 100",), ("0 0",))
def largest_number_in_line(line: str) -> int:
    """Return the largest of the whole numbers in line, which are separated by spaces.

    >>> largest_number_in_line("4 6 2")
    6
    >>> largest_number_in_line("-3 -5")
    -3
    """
    return max(int(part) for part in line.split())


@cases(2, ("a=1;b=2",), ("x=5",), ("",), ("k=v;k2=",), ("w=10;h=20;d=30",))
def parse_pairs(line: str) -> dict[str, str]:
    """Return a dict of the key=value pairs in line, separated by semicolons; an empty line gives {}.

    >>> parse_pairs("name=Bob;age=7")
    {'name': 'Bob', 'age': '7'}
    >>> parse_pairs("port=80")
    {'port': '80'}
    """
    return dict(pair.split("=") for pair in line.split(";")) if line else {}


@cases(2, ("12",), ("abc",), ("",), ("-5",), ("007",), ("3.5",))
def int_or_zero(text: str) -> int:
    """Return the whole number in text, or 0 if text is not a whole number.

    >>> int_or_zero("42")
    42
    >>> int_or_zero("4x")
    0
    """
    try:
        return int(text)
    except ValueError:
        return 0


@cases(2, ("12 apples and 3 pears",), ("",), ("none here",), ("7",), ("buy 2 get 1 free",))
def numbers_among_words(text: str) -> list[int]:
    """Return the list of the words of text that consist of digits only, as numbers.

    >>> numbers_among_words("5 cats, 2 dogs")
    [5, 2]
    >>> numbers_among_words("hello")
    []
    """
    return [int(word) for word in text.split() if word.isdigit()]


@cases(2, ("#fff000",), ("#000000",), ("#0a0b0c",), ("#ff8000",), ("#102030",))
def parse_hex_color(color: str) -> list[int]:
    """Return the three numbers of a colour written as "#" and two hexadecimal digits each.

    >>> parse_hex_color("#ff0010")
    [255, 0, 16]
    >>> parse_hex_color("#010203")
    [1, 2, 3]
    """
    return [int(color[start : start + 2], 16) for start in (1, 3, 5)]


@cases(2, ("1:05",), ("0:00",), ("10:30",), ("0:59",), ("2:00",))
def duration_to_seconds(duration: str) -> int:
    """Return the number of seconds in a duration written as minutes, a colon and seconds.

    >>> duration_to_seconds("1:30")
    90
    >>> duration_to_seconds("0:07")
    7
    """
    minutes, seconds = duration.split(":")
    return int(minutes) * 60 + int(seconds)


@cases(2, ("red # the color",), ("# all comment",), ("plain",), ("",), ("a # b # c",))
def strip_comment(line: str) -> str:
    """Return line without its comment, which starts at the first "#", and without spaces at the end.

    >>> strip_comment("x = 1  # set x")
    'x = 1'
    >>> strip_comment("go")
    'go'
    """
    return line.split("#")[0].rstrip()


@cases(2, ("2+3",), ("10+0",), ("7-9",), ("4*5",), ("12-2",), ("0*8",))
def evaluate_simple(expression: str) -> int:
    """Return the result of two non-negative whole numbers with one "+", "-" or "*" between them.

    >>> evaluate_simple("1+6")
    7
    >>> evaluate_simple("3*3")
    9
    """
    if "+" in expression:
        left, right = expression.split("+")
        return int(left) + int(right)
    if "-" in expression:
        left, right = expression.split("-")
        return int(left) - int(right)
    left, right = expression.split("*")
    return int(left) * int(right)


@cases(2, ("1-5",), ("3",), ("0-2",), ("7-7",), ("10-12",))
def expand_range(text: str) -> list[int]:
    """Return all whole numbers of a range written as first-last, both included; a lone number gives itself.

    >>> expand_range("2-4")
    [2, 3, 4]
    >>> expand_range("9")
    [9]
    """
    parts = [int(part) for part in text.split("-")]
    return list(range(parts[0], parts[-1] + 1))


@cases(
    2,
    ("https://example.com/page",),
    ("ftp://files.org",),
    ("http://a.b/c/d",),
    ("https://x",),
    ("ws://my.net/",),
)
def host_of_url(url: str) -> str:
    """Return the host of the url: the part after "://" and before the next slash, if there is one.

    >>> host_of_url("https://site.org/home")
    'site.org'
    >>> host_of_url("http://local")
    'local'
    """
    return url.split("://")[1].split("/")[0]


@cases(2, ("192.168.0.1",), ("256.1.1.1",), ("1.2.3",), ("0.0.0.0",), ("a.b.c.d",), ("255.255.255.255",))
def is_ip_address(text: str) -> bool:
    """Return True if text is four whole numbers from 0 to 255 with dots between them, else False.

    >>> is_ip_address("10.0.0.5")
    True
    >>> is_ip_address("10.0.0")
    False
    """
    parts = text.split(".")
    return len(parts) == 4 and all(part.isdigit() and int(part) <= 255 for part in parts)


@cases(2, ("3.5",), ("12",), ("abc",), ("",), ("-7",), ("1e3",), ("1.2.3",))
def is_number_text(text: str) -> bool:
    """Return True if text can be read as a float by Python, else False.

    >>> is_number_text("-0.5")
    True
    >>> is_number_text("five")
    False
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


@cases(2, ("name,age", "Bob,7"), ("a", "1"), ("x,y,z", "1,2,3"), ("k,v", ",5"), ("id,city", "9,Rome"))
def csv_row_to_dict(header: str, row: str) -> dict[str, str]:
    """Return a dict from each field of the header to the field at the same place in the row (comma between).

    >>> csv_row_to_dict("id,color", "3,red")
    {'id': '3', 'color': 'red'}
    >>> csv_row_to_dict("n", "x")
    {'n': 'x'}
    """
    return dict(zip(header.split(","), row.split(","), strict=True))


@cases(2, (["a,1", "b,2"], 0), (["a,1", "b,2"], 1), ([], 0), (["x,y,z"], 2), (["p,q", "r,s", "t,u"], 1))
def csv_column(rows: list[str], index: int) -> list[str]:
    """Return the field at the index, counting from 0, of each comma-separated row.

    >>> csv_column(["Bob,7", "Eve,9"], 0)
    ['Bob', 'Eve']
    >>> csv_column(["1,2,3"], 1)
    ['2']
    """
    return [row.split(",")[index] for row in rows]


@cases(2, ("buy milk @home now @today",), ("",), ("no tags",), ("@one",), ("mail me @work ok",))
def find_tags(text: str) -> list[str]:
    """Return the words of text that start with "@", without the "@".

    >>> find_tags("call @bob and @eve")
    ['bob', 'eve']
    >>> find_tags("hello")
    []
    """
    return [word[1:] for word in text.split() if word.startswith("@")]


@cases(2, ("1 2;3 4",), ("5",), ("0 0 0;1 1 1",), ("7;8;9",), ("-1 2;3 -4",))
def parse_matrix(text: str) -> list[list[int]]:
    """Return the rows of whole numbers in text: semicolons separate rows, spaces separate numbers.

    >>> parse_matrix("1 0;0 1")
    [[1, 0], [0, 1]]
    >>> parse_matrix("4 5 6")
    [[4, 5, 6]]
    """
    return [[int(part) for part in row.split()] for row in text.split(";")]


@cases(2, ("--verbose --size=3 file",), ("",), ("a b",), ("--help",), ("run --fast x --dry-run",))
def list_options(command: str) -> list[str]:
    """Return the words of command that start with "--", without these two dashes.

    >>> list_options("build --all --clean")
    ['all', 'clean']
    >>> list_options("open file")
    []
    """
    return [word[2:] for word in command.split() if word.startswith("--")]


@cases(3, ("a12b3",), ("",), ("abc",), ("007x42",), ("1-2-30",))
def extract_numbers(text: str) -> list[int]:
    """Return the list of all numbers made of neighbouring digits in text, in order.

    >>> extract_numbers("x10y2")
    [10, 2]
    >>> extract_numbers("tel 555-01")
    [555, 1]
    """
    digits = "".join(character if character.isdigit() else " " for character in text)
    return [int(part) for part in digits.split()]


@cases(3, ("1h 30m",), ("45s",), ("2h",), ("10m 5s",), ("1h 1m 1s",), ("",))
def parse_duration(text: str) -> int:
    """Return the total seconds of parts like 1h, 30m and 5s separated by spaces; empty text gives 0.

    >>> parse_duration("2m 10s")
    130
    >>> parse_duration("1h 5s")
    3605
    """
    units = {"h": 3600, "m": 60, "s": 1}
    return sum(int(part[:-1]) * units[part[-1]] for part in text.split())


@cases(3, ("1,3-5",), ("7",), ("2-4,9-10",), ("1,2,3",), ("0-1,5",))
def parse_page_list(text: str) -> list[int]:
    """Return all page numbers in a comma-separated list of pages and ranges like 3-5, both ends included.

    >>> parse_page_list("1-3,8")
    [1, 2, 3, 8]
    >>> parse_page_list("4,6")
    [4, 6]
    """
    pages = []
    for part in text.split(","):
        ends = part.split("-")
        pages.extend(range(int(ends[0]), int(ends[-1]) + 1))
    return pages


@cases(
    3, (["apple 2", "pear 1", "apple 3"],), ([],), (["x 0"],), (["a 1", "b 2", "c 3"],), (["k 5", "k -5"],)
)
def total_per_name(lines: list[str]) -> dict[str, int]:
    """Return a dict from each name to the sum of its numbers; each line is a name, a space and a number.

    >>> total_per_name(["tea 2", "milk 1", "tea 4"])
    {'tea': 6, 'milk': 1}
    >>> total_per_name(["egg 12"])
    {'egg': 12}
    """
    totals: dict[str, int] = {}
    for line in lines:
        name, number = line.split()
        totals[name] = totals.get(name, 0) + int(number)
    return totals
