"""Tasks about conversions: units, temperatures, time spans, money, number bases and simple codes."""

from tasksets.python_functions.cases import cases


@cases(1, (0,), (1,), (5,), (90,), (60,))
def minutes_to_seconds(minutes: int) -> int:
    """Return how many seconds are in the given number of minutes.

    >>> minutes_to_seconds(2)
    120
    >>> minutes_to_seconds(10)
    600
    """
    return minutes * 60


@cases(1, (0,), (59,), (60,), (125,), (3600,))
def whole_minutes_in_seconds(seconds: int) -> int:
    """Return how many whole minutes are in the given number of seconds.

    >>> whole_minutes_in_seconds(130)
    2
    >>> whole_minutes_in_seconds(30)
    0
    """
    return seconds // 60


@cases(1, (0, 0), (1, 0), (2, 5), (0, 23), (10, 12))
def days_and_hours_to_hours(days: int, hours: int) -> int:
    """Return the total number of hours in the given days and hours.

    >>> days_and_hours_to_hours(1, 1)
    25
    >>> days_and_hours_to_hours(0, 7)
    7
    """
    return days * 24 + hours


@cases(1, (0, 6), (1, 0), (2, 3), (52, 1), (4, 4))
def weeks_and_days_to_days(weeks: int, days: int) -> int:
    """Return the total number of days in the given weeks and days.

    >>> weeks_and_days_to_days(1, 2)
    9
    >>> weeks_and_days_to_days(3, 0)
    21
    """
    return weeks * 7 + days


@cases(1, (0,), (59,), (60,), (145,), (1439,))
def split_into_hours_and_minutes(minutes: int) -> list[int]:
    """Return the given minutes as a list [hours, minutes], where the minutes are below 60.

    >>> split_into_hours_and_minutes(75)
    [1, 15]
    >>> split_into_hours_and_minutes(20)
    [0, 20]
    """
    return [minutes // 60, minutes % 60]


@cases(1, (0,), (1,), (3,), (-2,), (250,))
def meters_to_centimeters(meters: int) -> int:
    """Return the length in centimeters of a length in meters. One meter is 100 centimeters.

    >>> meters_to_centimeters(2)
    200
    >>> meters_to_centimeters(15)
    1500
    """
    return meters * 100


@cases(1, (1000,), (500,), (0,), (2500,), (42000,))
def grams_to_kilograms(grams: int) -> float:
    """Return the weight in kilograms, as a float, of a weight in grams. One kilogram is 1000 grams.

    >>> grams_to_kilograms(3000)
    3.0
    >>> grams_to_kilograms(1500)
    1.5
    """
    return grams / 1000


@cases(1, (0, 11), (5, 0), (6, 2), (1, 1), (10, 10))
def feet_and_inches_to_inches(feet: int, inches: int) -> int:
    """Return the total number of inches in the given feet and inches. One foot is 12 inches.

    >>> feet_and_inches_to_inches(5, 3)
    63
    >>> feet_and_inches_to_inches(1, 0)
    12
    """
    return feet * 12 + inches


@cases(1, (0,), (100,), (-40,), (25,), (5,))
def celsius_to_fahrenheit(celsius: int) -> float:
    """Return the temperature in Fahrenheit: the temperature in Celsius times 9, divided by 5, plus 32.

    >>> celsius_to_fahrenheit(10)
    50.0
    >>> celsius_to_fahrenheit(20)
    68.0
    """
    return celsius * 9 / 5 + 32


@cases(1, (32,), (212,), (-40,), (77,), (41,))
def fahrenheit_to_celsius(fahrenheit: int) -> float:
    """Return the temperature in Celsius: the temperature in Fahrenheit minus 32, times 5, divided by 9.

    >>> fahrenheit_to_celsius(50)
    10.0
    >>> fahrenheit_to_celsius(68)
    20.0
    """
    return (fahrenheit - 32) * 5 / 9


@cases(1, (-300,), (-273,), (0,), (25,), (-280,), (-274,))
def is_possible_celsius(celsius: int) -> bool:
    """Return True if the whole number of degrees Celsius is -273 or more, else False.

    >>> is_possible_celsius(100)
    True
    >>> is_possible_celsius(-400)
    False
    """
    return celsius >= -273


@cases(1, (0, 0), (3, 50), (0, 99), (12, 5), (100, 0))
def dollars_to_cents(dollars: int, cents: int) -> int:
    """Return the amount of money in cents. One dollar is 100 cents.

    >>> dollars_to_cents(2, 25)
    225
    >>> dollars_to_cents(1, 0)
    100
    """
    return dollars * 100 + cents


@cases(1, (10, 3), (0, 5), (7, 1), (20, 20), (3, 100))
def exchange_money(amount: int, rate: int) -> int:
    """Return how much amount is worth in another currency, when one unit is worth rate units of the other.

    >>> exchange_money(5, 4)
    20
    >>> exchange_money(12, 2)
    24
    """
    return amount * rate


@cases(1, (1, 2), (1, 4), (3, 4), (0, 5), (5, 5))
def share_to_percent(part: int, whole: int) -> float:
    """Return which percentage part is of whole, as a float.

    >>> share_to_percent(1, 8)
    12.5
    >>> share_to_percent(3, 2)
    150.0
    """
    return part * 100 / whole


@cases(1, (50, 80), (25, 4), (0, 9), (100, 7), (10, 200))
def percent_of(percent: int, amount: int) -> float:
    """Return percent hundredths of amount, as a float.

    >>> percent_of(50, 10)
    5.0
    >>> percent_of(25, 10)
    2.5
    """
    return percent * amount / 100


@cases(1, (0,), (7,), (8,), (64,), (100,))
def number_to_octal(number: int) -> str:
    """Return number in base 8 as text without a prefix. The number is zero or more.

    >>> number_to_octal(10)
    '12'
    >>> number_to_octal(5)
    '5'
    """
    return f"{number:o}"


@cases(1, (0,), (1,), (6,), (15,), (64,), (23,))
def ones_in_binary(number: int) -> int:
    """Return how many digits 1 there are in the binary form of number, which is zero or more.

    >>> ones_in_binary(5)
    2
    >>> ones_in_binary(8)
    1
    """
    return f"{number:b}".count("1")


@cases(1, (0,), (9,), (10,), (255,), (4096,))
def number_to_hex(number: int) -> str:
    """Return number in base 16 with small letters and without a prefix. The number is zero or more.

    >>> number_to_hex(26)
    '1a'
    >>> number_to_hex(15)
    'f'
    """
    return f"{number:x}"


@cases(1, ("7", 8), ("10", 8), ("ff", 16), ("21", 3), ("101", 10))
def number_from_base(text: str, base: int) -> int:
    """Return the number that is written in text in the given base, which is from 2 to 36.

    >>> number_from_base("12", 5)
    7
    >>> number_from_base("11", 2)
    3
    """
    return int(text, base)


@cases(1, ("a",), ("A",), ("z",), ("0",), (" ",))
def character_to_code(character: str) -> int:
    """Return the code point number of a single character.

    >>> character_to_code("b")
    98
    >>> character_to_code("B")
    66
    """
    return ord(character)


@cases(1, (1,), (3,), (26,), (13,), (20,))
def letter_at_position(position: int) -> str:
    """Return the small letter at the given position of the alphabet, where 'a' has position 1 and 'z' 26.

    >>> letter_at_position(2)
    'b'
    >>> letter_at_position(25)
    'y'
    """
    return chr(ord("a") + position - 1)


@cases(1, (True,), (False,), (0,), (1,), (7,), (-1,))
def truth_to_yes_no(value: bool | float) -> str:
    """Return 'yes' if value counts as true and 'no' if it counts as false, as the number 0 does.

    >>> truth_to_yes_no(3)
    'yes'
    >>> truth_to_yes_no(0.0)
    'no'
    """
    return "yes" if value else "no"


@cases(1, (60, 2), (0, 5), (7, 2), (90, 4), (100, 8))
def speed_from_trip(kilometers: int, hours: int) -> float:
    """Return the average speed in kilometers per hour, as a float.

    >>> speed_from_trip(100, 2)
    50.0
    >>> speed_from_trip(5, 2)
    2.5
    """
    return kilometers / hours


@cases(1, (5,), (0,), (18,), (36,), (100,))
def speed_to_kilometers_per_hour(meters_per_second: int) -> float:
    """Return the speed in kilometers per hour, as a float: it is 3.6 times the speed in meters per second.

    Calculate it as the speed times 18, divided by 5.

    >>> speed_to_kilometers_per_hour(10)
    36.0
    >>> speed_to_kilometers_per_hour(1)
    3.6
    """
    return meters_per_second * 18 / 5


@cases(1, (0, 500), (1, 0), (2, 750), (10, 5), (0, 0))
def liters_to_milliliters(liters: int, milliliters: int) -> int:
    """Return the total volume in milliliters. One liter is 1000 milliliters.

    >>> liters_to_milliliters(1, 250)
    1250
    >>> liters_to_milliliters(3, 0)
    3000
    """
    return liters * 1000 + milliliters


@cases(2, (0,), (59,), (3600,), (3661,), (86399,))
def split_seconds(seconds: int) -> list[int]:
    """Return the given seconds as a list [hours, minutes, seconds], where minutes and seconds are below 60.

    >>> split_seconds(3725)
    [1, 2, 5]
    >>> split_seconds(60)
    [0, 1, 0]
    """
    return [seconds // 3600, seconds // 60 % 60, seconds % 60]


@cases(2, (0.5,), (0.0,), (2.0,), (1.25,), (7.75,))
def decimal_hours_to_clock(hours: float) -> list[int]:
    """Return a number of hours such as 1.5 as a list [hours, minutes] of two ints.

    >>> decimal_hours_to_clock(1.5)
    [1, 30]
    >>> decimal_hours_to_clock(3.25)
    [3, 15]
    """
    minutes = int(hours * 60)
    return [minutes // 60, minutes % 60]


@cases(2, ("0:05",), ("1:00",), ("2:30",), ("10:01",), ("0:59",))
def track_time_to_seconds(text: str) -> int:
    """Return the seconds in a text such as '3:07', with minutes before the colon and seconds after it.

    >>> track_time_to_seconds("3:07")
    187
    >>> track_time_to_seconds("0:30")
    30
    """
    minutes, seconds = text.split(":")
    return int(minutes) * 60 + int(seconds)


@cases(2, (0,), (5,), (99,), (100,), (1234,), (50,))
def cents_to_price(cents: int) -> str:
    """Return an amount of cents as text with a dollar sign, a point and two digits of cents, such as '$2.05'.

    >>> cents_to_price(205)
    '$2.05'
    >>> cents_to_price(40)
    '$0.40'
    """
    return f"${cents // 100}.{cents % 100:02d}"


@cases(2, ([],), ([0],), ([100, 0],), ([15, -5],), ([-40, 20, 35],))
def convert_celsius_list(temperatures: list[int]) -> list[float]:
    """Return a list with each Celsius temperature in Fahrenheit: times 9, divided by 5, plus 32.

    >>> convert_celsius_list([10, 20])
    [50.0, 68.0]
    >>> convert_celsius_list([5])
    [41.0]
    """
    return [t * 9 / 5 + 32 for t in temperatures]


@cases(2, (0, "C"), (100, "C"), (32, "F"), (-40, "C"), (77, "F"), (41, "F"))
def switch_temperature_scale(degrees: int, scale: str) -> float:
    """Return degrees in the other scale: for scale 'C' convert Celsius to Fahrenheit, for 'F' the other way.

    Fahrenheit is Celsius times 9, divided by 5, plus 32.

    >>> switch_temperature_scale(10, "C")
    50.0
    >>> switch_temperature_scale(68, "F")
    20.0
    """
    if scale == "C":
        return degrees * 9 / 5 + 32
    return (degrees - 32) * 5 / 9


@cases(2, (3, "km"), (3, "cm"), (0, "m"), (7, "m"), (250, "mm"), (12, "cm"))
def length_in_millimeters(amount: int, unit: str) -> int:
    """Return a length in millimeters. The unit is 'mm', 'cm' (10 mm), 'm' (1000 mm) or 'km' (1000000 mm).

    >>> length_in_millimeters(2, "cm")
    20
    >>> length_in_millimeters(5, "m")
    5000
    """
    return amount * {"mm": 1, "cm": 10, "m": 1000, "km": 1000000}[unit]


@cases(2, ([4, 2], 2, 4), ([], 3, 6), ([9, 6, 3], 3, 1), ([10], 5, 5), ([0, 8], 4, 3))
def scale_recipe(amounts: list[int], servings: int, wanted: int) -> list[int]:
    """Return the amounts of a recipe for a number of servings changed to the wanted number of servings.

    Each result is a whole number: the amount times wanted, divided by servings.

    >>> scale_recipe([2, 6], 2, 3)
    [3, 9]
    >>> scale_recipe([5], 1, 4)
    [20]
    """
    return [amount * wanted // servings for amount in amounts]


@cases(2, (999,), (0,), (1000,), (12345,), (3999,), (1500,))
def meters_as_text(meters: int) -> str:
    """Return the whole kilometers and ' km' as text if meters is 1000 or more, else the meters and ' m'.

    >>> meters_as_text(2700)
    '2 km'
    >>> meters_as_text(150)
    '150 m'
    """
    if meters >= 1000:
        return f"{meters // 1000} km"
    return f"{meters} m"


@cases(2, ([],), ([30],), ([60, 60],), ([90, 15, 15],), ([45, 45, 45, 15],))
def total_hours_of_sessions(minutes: list[int]) -> float:
    """Return the total length of all sessions in hours, as a float. The lengths are given in minutes.

    >>> total_hours_of_sessions([60, 30])
    1.5
    >>> total_hours_of_sessions([120, 60])
    3.0
    """
    return sum(minutes) / 60


@cases(2, (0,), (6,), (7,), (15,), (30,), (365,))
def days_as_weeks_text(days: int) -> str:
    """Return the days as text such as '2w 3d': the whole weeks with 'w', a space and the days left with 'd'.

    >>> days_as_weeks_text(17)
    '2w 3d'
    >>> days_as_weeks_text(5)
    '0w 5d'
    """
    return f"{days // 7}w {days % 7}d"


@cases(2, (0, 4), (5, 4), (5, 3), (15, 4), (3, 8), (1, 1))
def binary_with_width(number: int, width: int) -> str:
    """Return the binary digits of number with zeros in front so that the text has at least width characters.

    >>> binary_with_width(2, 4)
    '0010'
    >>> binary_with_width(7, 2)
    '111'
    """
    return f"{number:b}".zfill(width)


@cases(2, ([True, False, True],), ([],), ([False],), ([True, True, True, True],), ([False, True, False],))
def flags_to_number(flags: list[bool]) -> int:
    """Return the number whose binary digits are the flags, with True for 1 and False for 0. No flags give 0.

    >>> flags_to_number([True, False])
    2
    >>> flags_to_number([False, True, True])
    3
    """
    number = 0
    for flag in flags:
        number = number * 2 + flag
    return number


@cases(2, ("abc",), ("",), ("zoo",), ("hi",), ("m",))
def word_to_letter_positions(word: str) -> list[int]:
    """Return a list with the position in the alphabet of each letter of a word in small letters; 'a' is 1.

    >>> word_to_letter_positions("bad")
    [2, 1, 4]
    >>> word_to_letter_positions("y")
    [25]
    """
    return [ord(letter) - ord("a") + 1 for letter in word]


@cases(2, (4, 2, "dozen"), (0, 5, "single"), (1, 0, "pair"), (3, 1, "pair"), (2, 7, "dozen"))
def packs_to_pieces(packs: int, loose: int, kind: str) -> int:
    """Return the number of pieces in all packs plus the loose ones.

    A 'single' pack has 1 piece, a 'pair' has 2 and a 'dozen' has 12.

    >>> packs_to_pieces(2, 1, "dozen")
    25
    >>> packs_to_pieces(4, 0, "pair")
    8
    """
    return packs * {"single": 1, "pair": 2, "dozen": 12}[kind] + loose


@cases(2, (0,), (19,), (20,), (59,), (100,), (85,))
def points_to_stars(points: int) -> str:
    """Return a text with one '*' for every full 20 points. Fewer than 20 points give an empty string.

    >>> points_to_stars(45)
    '**'
    >>> points_to_stars(10)
    ''
    """
    return "*" * (points // 20)


@cases(3, (0, 2), (10, 2), (10, 3), (63, 8), (99, 10), (7, 9))
def digits_in_base(number: int, base: int) -> list[int]:
    """Return the digits of number in the given base, from 2 to 10, as a list of ints from left to right.

    The number is zero or more, and 0 has the single digit 0.

    >>> digits_in_base(6, 2)
    [1, 1, 0]
    >>> digits_in_base(14, 5)
    [2, 4]
    """
    digits = [number % base]
    while number >= base:
        number //= base
        digits.insert(0, number % base)
    return digits


@cases(3, (0, [10, 5, 1]), (18, [10, 5, 1]), (30, [25, 10, 5]), (7, [2, 1]), (99, [50, 20, 10, 1]), (4, [1]))
def coins_for_amount(amount: int, coins: list[int]) -> list[int]:
    """Return how many of each coin are used to pay amount with as many as possible of each coin in turn.

    The coins are given from large to small, and the amount can always be paid exactly.

    >>> coins_for_amount(27, [10, 5, 1])
    [2, 1, 2]
    >>> coins_for_amount(6, [5, 2, 1])
    [1, 0, 1]
    """
    counts = []
    for coin in coins:
        counts.append(amount // coin)
        amount %= coin
    return counts


@cases(3, (2, "km", "m"), (50, "cm", "m"), (0, "m", "km"), (3, "m", "m"), (500, "m", "km"), (4, "m", "cm"))
def convert_length(amount: int, source: str, target: str) -> float:
    """Return a length given in the source unit as a float in the target unit.

    The units are 'cm', 'm' (100 cm) and 'km' (100000 cm).

    >>> convert_length(3, "m", "cm")
    300.0
    >>> convert_length(1500, "m", "km")
    1.5
    """
    centimeters = {"cm": 1, "m": 100, "km": 100000}
    return amount * centimeters[source] / centimeters[target]


@cases(3, (0,), (999,), (1000,), (45678,), (1000000,), (999999,), (7250000,))
def short_count(number: int) -> str:
    """Return number as short text: whole thousands with 'K' from 1000, whole millions with 'M' from 1000000.

    A number below 1000 is written as it is.

    >>> short_count(2500)
    '2K'
    >>> short_count(3999999)
    '3M'
    >>> short_count(12)
    '12'
    """
    if number >= 1000000:
        return f"{number // 1000000}M"
    if number >= 1000:
        return f"{number // 1000}K"
    return str(number)
