"""Tasks on conditions: ranges, comparisons, choosing between values and small rules."""

from tasksets.python_functions.cases import cases


@cases(1, (0, 0), (3, 5), (-1, -4), (10, 9), (-2, 2))
def larger_of_two(a: int, b: int) -> int:
    """Return the larger of the two numbers a and b.

    >>> larger_of_two(4, 7)
    7
    >>> larger_of_two(12, 3)
    12
    """
    return max(a, b)


@cases(1, (0,), (1,), (2,), (-1,), (10,), (7,))
def even_or_odd_word(number: int) -> str:
    """Return 'even' if number is even and 'odd' if it is odd.

    >>> even_or_odd_word(4)
    'even'
    >>> even_or_odd_word(9)
    'odd'
    """
    return "even" if number % 2 == 0 else "odd"


@cases(1, (3, 1, 2), (5, 9, 7), (-1, 0, -2), (8, 8, 8), (4, 4, 0), (0, 100, 50))
def middle_of_three(a: int, b: int, c: int) -> int:
    """Return the number that is in the middle when a, b and c are sorted.

    >>> middle_of_three(1, 5, 3)
    3
    >>> middle_of_three(20, 10, 30)
    20
    """
    return sorted([a, b, c])[1]


@cases(1, (0,), (5,), (-3,), (100,), (-1,), (1,))
def sign_word(number: int) -> str:
    """Return 'positive', 'negative' or 'zero' for number.

    >>> sign_word(8)
    'positive'
    >>> sign_word(-8)
    'negative'
    """
    return "positive" if number > 0 else "negative" if number < 0 else "zero"


@cases(1, (0,), (49,), (50,), (51,), (100,), (12,))
def pass_or_fail(points: int) -> str:
    """Return 'pass' if points is at least 50, otherwise 'fail'.

    >>> pass_or_fail(75)
    'pass'
    >>> pass_or_fail(30)
    'fail'
    """
    return "pass" if points >= 50 else "fail"


@cases(1, (5, 1, 10), (1, 1, 10), (10, 1, 10), (0, 1, 10), (11, 1, 10), (-5, -9, -6))
def is_within_limits(value: int, low: int, high: int) -> bool:
    """Return True if value is at least low and at most high, otherwise False.

    >>> is_within_limits(3, 2, 4)
    True
    >>> is_within_limits(7, 2, 4)
    False
    """
    return low <= value <= high


@cases(1, (0,), (3,), (5,), (6,), (65,), (64,), (40,))
def ticket_price_for_age(age: int) -> int:
    """Return the ticket price: 0 below age 6, 5 from age 65 on, and 10 for all others.

    >>> ticket_price_for_age(30)
    10
    >>> ticket_price_for_age(80)
    5
    """
    return 0 if age < 6 else 5 if age >= 65 else 10


@cases(1, (0,), (99,), (100,), (101,), (250,), (50,))
def price_after_large_order_discount(price: int) -> int:
    """Return price minus 10 if price is at least 100, otherwise the unchanged price.

    >>> price_after_large_order_discount(120)
    110
    >>> price_after_large_order_discount(40)
    40
    """
    return price - 10 if price >= 100 else price


@cases(1, (100, 0), (100, 25), (80, 50), (200, 10), (60, 100))
def price_with_percent_off(price: int, percent: int) -> float:
    """Return price lowered by the given percent, as a float.

    >>> price_with_percent_off(100, 20)
    80.0
    >>> price_with_percent_off(50, 10)
    45.0
    """
    return price * (100 - percent) / 100


@cases(1, ("red",), ("yellow",), ("",), ("pink",), ("Green",))
def traffic_light_action(color: str) -> str:
    """Return 'stop' for 'red', 'wait' for 'yellow', 'go' for 'green', and 'unknown' for any other color.

    >>> traffic_light_action("green")
    'go'
    >>> traffic_light_action("blue")
    'unknown'
    """
    return {"red": "stop", "yellow": "wait", "green": "go"}.get(color, "unknown")


@cases(1, (None, 5), (0, 5), (3, 5), (None, -1), (-2, 0))
def value_or_fallback(value: int | None, fallback: int) -> int:
    """Return value, or fallback if value is None. A value of 0 is returned as 0.

    >>> value_or_fallback(7, 1)
    7
    >>> value_or_fallback(None, 1)
    1
    """
    return fallback if value is None else value


@cases(
    1, (True, "yes", "no"), (False, "yes", "no"), (True, "", "x"), (False, "a", ""), (False, "left", "right")
)
def choose_text(condition: bool, if_true: str, if_false: str) -> str:
    """Return if_true when condition is True, otherwise if_false.

    >>> choose_text(True, "on", "off")
    'on'
    >>> choose_text(False, "day", "night")
    'night'
    """
    return if_true if condition else if_false


@cases(1, (1, 1, 1), (3, 4, 5), (1, 2, 3), (10, 2, 3), (2, 10, 3), (5, 5, 9), (0, 1, 1))
def sides_make_triangle(a: int, b: int, c: int) -> bool:
    """Return True if every two of the lengths a, b and c add up to more than the third, otherwise False.

    >>> sides_make_triangle(2, 3, 4)
    True
    >>> sides_make_triangle(1, 1, 5)
    False
    """
    return a + b > c and a + c > b and b + c > a


@cases(1, (159,), (160,), (179,), (180,), (120,), (205,))
def shirt_size(height: int) -> str:
    """Return 'S' if height is below 160, 'M' if it is from 160 to 179, and 'L' from 180 on.

    >>> shirt_size(150)
    'S'
    >>> shirt_size(170)
    'M'
    """
    return "S" if height < 160 else "M" if height < 180 else "L"


@cases(1, (6, 3), (7, 3), (0, 5), (10, 4), (9, 9), (3, 6))
def divides_evenly(number: int, divisor: int) -> bool:
    """Return True if number can be divided by divisor without a remainder, otherwise False.

    >>> divides_evenly(12, 4)
    True
    >>> divides_evenly(13, 4)
    False
    """
    return number % divisor == 0


@cases(1, (0, 0), (4, 5), (12, 10), (-3, 3), (20, 21), (7, 0))
def score_after_win(score: int, points: int) -> int:
    """Return the sum of score and points, but never more than 21.

    >>> score_after_win(10, 5)
    15
    >>> score_after_win(18, 9)
    21
    """
    return min(score + points, 21)


@cases(1, (10, 3), (3, 10), (5, 5), (0, 1), (100, 99))
def health_after_damage(health: int, damage: int) -> int:
    """Return health minus damage, but never less than 0.

    >>> health_after_damage(20, 6)
    14
    >>> health_after_damage(4, 9)
    0
    """
    return max(health - damage, 0)


@cases(1, (3, 5, 10), (3, 5, 3), (0, 0, 0), (7, 2, -4), (1, 9, 6))
def nearer_number(a: int, b: int, target: int) -> int:
    """Return the one of a and b that is nearer to target; return a if both are equally near.

    >>> nearer_number(1, 8, 6)
    8
    >>> nearer_number(4, 6, 5)
    4
    """
    return a if abs(a - target) <= abs(b - target) else b


@cases(1, ([], 0), ([], 1), ([5, 5], 10), ([1, 2, 2], 6), ([10], 3), ([2, 2, 2], 7))
def can_pay_with_coins(coins: list[int], price: int) -> bool:
    """Return True if the coins together are worth at least price, otherwise False.

    >>> can_pay_with_coins([5, 2, 1], 7)
    True
    >>> can_pay_with_coins([5, 1], 8)
    False
    """
    return sum(coins) >= price


@cases(1, (0, "red"), (1, "red"), (5, "green"), (5, "red"), (0, "green"), (2, "yellow"))
def may_cross_street(cars: int, light: str) -> bool:
    """Return True if light is 'green' or there are no cars, otherwise False.

    >>> may_cross_street(3, "green")
    True
    >>> may_cross_street(3, "red")
    False
    """
    return light == "green" or cars == 0


@cases(1, (0, 0), (5, 1000), (20, 0), (19, 50), (20, 49), (100, 200))
def shipping_fee(total: int, weight: int) -> int:
    """Return 0 if total is at least 20 and weight is below 50; otherwise return 3 plus weight divided by 10.

    Round the division down.

    >>> shipping_fee(25, 8)
    0
    >>> shipping_fee(12, 45)
    7
    """
    return 0 if total >= 20 and weight < 50 else 3 + weight // 10


@cases(2, (100,), (90,), (89,), (75,), (74,), (60,), (59,), (0,))
def letter_grade(points: int) -> str:
    """Return 'A' for 90 points or more, 'B' for 75 or more, 'C' for 60 or more, and 'F' for fewer.

    >>> letter_grade(95)
    'A'
    >>> letter_grade(65)
    'C'
    """
    if points >= 90:
        return "A"
    if points >= 75:
        return "B"
    return "C" if points >= 60 else "F"


@cases(2, (1,), (3,), (5,), (15,), (20,), (9,), (30,))
def fizz_word(number: int) -> str:
    """Return 'fizzbuzz' if number is divisible by 3 and 5, 'fizz' if only by 3, 'buzz' if only by 5.

    Return the number as text if it is divisible by neither.

    >>> fizz_word(6)
    'fizz'
    >>> fizz_word(7)
    '7'
    """
    word = "fizz" * (number % 3 == 0) + "buzz" * (number % 5 == 0)
    return word or str(number)


@cases(
    2,
    ("rock", "paper"),
    ("rock", "scissors"),
    ("paper", "scissors"),
    ("paper", "paper"),
    ("scissors", "paper"),
    ("scissors", "scissors"),
)
def rock_paper_scissors(first: str, second: str) -> str:
    """Return 'first', 'second' or 'draw': rock beats scissors, scissors beat paper, paper beats rock.

    >>> rock_paper_scissors("paper", "rock")
    'first'
    >>> rock_paper_scissors("scissors", "rock")
    'second'
    """
    if first == second:
        return "draw"
    beats = {"rock": "scissors", "scissors": "paper", "paper": "rock"}
    return "first" if beats[first] == second else "second"


@cases(2, (1, 1, 1), (2, 2, 3), (3, 4, 5), (5, 3, 5), (7, 7, 7), (9, 8, 8), (6, 5, 4))
def triangle_kind(a: int, b: int, c: int) -> str:
    """Return 'equal' if all three sides are equal, 'two equal' if exactly two are, otherwise 'different'.

    >>> triangle_kind(4, 4, 4)
    'equal'
    >>> triangle_kind(4, 5, 4)
    'two equal'
    """
    return ["equal", "two equal", "different"][len({a, b, c}) - 1]


@cases(2, (0, 0), (3, 4), (-3, 4), (-1, -1), (5, -2), (0, 7), (2, 0))
def quadrant(x: int, y: int) -> int:
    """Return the quadrant of the point x, y, or 0 if x or y is 0.

    It is 1 for x > 0 and y > 0, 2 for x < 0 and y > 0, 3 for x < 0 and y < 0, 4 for x > 0 and y < 0.

    >>> quadrant(1, 9)
    1
    >>> quadrant(-4, -6)
    3
    """
    if x == 0 or y == 0:
        return 0
    if y > 0:
        return 1 if x > 0 else 2
    return 3 if x < 0 else 4


@cases(2, (0,), (1,), (2,), (3,), (10,), (24,))
def parking_fee(hours: int) -> int:
    """Return the parking fee: the first hour is free, each further hour costs 3, and it is never over 20.

    >>> parking_fee(4)
    9
    >>> parking_fee(12)
    20
    """
    return min(max(hours - 1, 0) * 3, 20)


@cases(2, (0,), (1000,), (1001,), (5000,), (3000,), (10000,))
def tax_on_income(income: int) -> float:
    """Return the tax as a float: nothing on the first 1000, and 20 percent on the income above 1000.

    >>> tax_on_income(2000)
    200.0
    >>> tax_on_income(500)
    0.0
    """
    return max(income - 1000, 0) * 20 / 100


@cases(2, (0, 0), (1, 0), (0, 1), (5, 5), (7, 3), (2, 9))
def vote_result(yes: int, no: int) -> str:
    """Return 'accepted' if yes is greater than no, 'rejected' if it is smaller, and 'tie' if they are equal.

    If both are 0, return 'no votes'.

    >>> vote_result(4, 2)
    'accepted'
    >>> vote_result(3, 3)
    'tie'
    """
    if yes == no:
        return "tie" if yes else "no votes"
    return "accepted" if yes > no else "rejected"


@cases(2, ("ab",), ("abc",), ("1abc",), ("abc1",), ("abc def",), ("abcdefghij",), ("abcdefghijk",), ("Z99",))
def is_valid_user_name(name: str) -> bool:
    """Return True if name has 3 to 10 characters, starts with a letter and has only letters and digits.

    >>> is_valid_user_name("anna7")
    True
    >>> is_valid_user_name("an-na")
    False
    """
    return 3 <= len(name) <= 10 and name[0].isalpha() and name.isalnum()


@cases(2, (0, 0, 0, 0), (0, 0, 3, 4), (1, 1, 1, 8), (2, 5, 5, 5), (3, 3, 6, 5), (7, 2, 1, 8), (4, 4, 2, 5))
def queen_attacks(row: int, column: int, other_row: int, other_column: int) -> bool:
    """Return True if the two squares share a row, a column or a diagonal of a chess board, else False.

    >>> queen_attacks(1, 1, 3, 3)
    True
    >>> queen_attacks(1, 1, 2, 3)
    False
    """
    rows, columns = abs(row - other_row), abs(column - other_column)
    return rows == 0 or columns == 0 or rows == columns


@cases(2, ([],), ([1, 2, 3],), ([6, 6],), ([6, 1, 6, 2],), ([5, 5, 5],), ([6],))
def dice_points(rolls: list[int]) -> int:
    """Return the sum of the rolls of a die, where every 6 counts as 10 points.

    >>> dice_points([1, 6])
    11
    >>> dice_points([2, 3])
    5
    """
    return sum(10 if roll == 6 else roll for roll in rolls)


@cases(2, (1, 4, 3, 6), (1, 2, 3, 4), (1, 3, 3, 5), (0, 9, 4, 5), (5, 8, 1, 4), (-3, 0, -1, 2))
def ranges_overlap(first_low: int, first_high: int, second_low: int, second_high: int) -> bool:
    """Return True if some number is in both ranges; the low and high ends belong to a range.

    >>> ranges_overlap(2, 6, 5, 9)
    True
    >>> ranges_overlap(1, 2, 8, 9)
    False
    """
    return first_low <= second_high and second_low <= first_high


@cases(2, (0, 0), (10, 0), (0, 10), (5, 5), (9, 0), (3, 4))
def bowling_result(first: int, second: int) -> str:
    """Return 'strike' if first is 10, 'spare' if first and second together are 10, otherwise 'open'.

    >>> bowling_result(7, 3)
    'spare'
    >>> bowling_result(6, 1)
    'open'
    """
    if first == 10:
        return "strike"
    return "spare" if first + second == 10 else "open"


@cases(
    3,
    (["XXX", "OO.", "..."],),
    (["XO.", "XOX", ".O."],),
    (["XO.", "XO.", "X.."],),
    (["...", "...", "..."],),
    (["XOX", "OXO", "OXO"],),
    (["X..", "O..", "OOO"],),
)
def line_winner(board: list[str]) -> str:
    """Return 'X' or 'O', whichever fills a whole row or a whole column of the 3 by 3 board, else ''.

    The board has three rows of three characters: 'X', 'O' or '.' for an empty field. Ignore diagonals.

    >>> line_winner(["O.X", "OX.", "O.X"])
    'O'
    >>> line_winner(["X.O", "...", "XXX"])
    'X'
    """
    lines = board + ["".join(column) for column in zip(*board, strict=True)]
    return "X" if "XXX" in lines else "O" if "OOO" in lines else ""


@cases(3, (0, 0), (40, 10), (41, 10), (50, 20), (10, 15), (45, 0))
def weekly_pay(hours: int, rate: int) -> float:
    """Return the pay as a float: rate for each hour up to 40, and 1.5 times rate for each hour above 40.

    >>> weekly_pay(42, 10)
    430.0
    >>> weekly_pay(20, 5)
    100.0
    """
    return float(hours * rate + max(hours - 40, 0) * rate / 2)


@cases(3, ([],), ([10, 5],), ([1],), ([10, 10, 5],), ([1, 9],), ([1, 1, 10],), ([1, 5, 10, 10],))
def card_total(cards: list[int]) -> int:
    """Return the sum of the cards, where a card 1 counts 11 if the sum then is at most 21, otherwise 1.

    At most one card 1 counts 11.

    >>> card_total([1, 10])
    21
    >>> card_total([1, 8, 9])
    18
    """
    total = sum(cards)
    return total + 10 if 1 in cards and total + 10 <= 21 else total


@cases(3, (0,), (5,), (10,), (11,), (20,), (100,), (101,), (150,))
def stepped_unit_price_total(amount: int) -> int:
    """Return the price of amount units: the first 10 cost 5 each, the next 90 cost 4 each, all others 3 each.

    >>> stepped_unit_price_total(12)
    58
    >>> stepped_unit_price_total(3)
    15
    """
    return min(amount, 10) * 5 + min(max(amount - 10, 0), 90) * 4 + max(amount - 100, 0) * 3
