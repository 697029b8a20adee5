"""Easy arithmetic tasks: one step with one to three numbers in everyday settings."""

from tasksets.python_functions.cases import cases


@cases(1, (1, 1), (4, 9), (0, 0), (6, 0), (12, 5))
def all_pets(cats: int, dogs: int) -> int:
    """Return how many pets cats and dogs make together.

    >>> all_pets(3, 2)
    5
    >>> all_pets(0, 7)
    7
    """
    return cats + dogs


@cases(1, (20, 5), (7, 7), (3, 9), (100, 1), (15, 0))
def money_left(money: int, spent: int) -> int:
    """Return money minus spent.

    >>> money_left(10, 4)
    6
    >>> money_left(8, 8)
    0
    """
    return money - spent


@cases(1, (0,), (1,), (7,), (50,), (-8,))
def double_points(points: int) -> int:
    """Return two times points.

    >>> double_points(4)
    8
    >>> double_points(-3)
    -6
    """
    return points * 2


@cases(1, (0,), (1,), (10,), (9,), (100,))
def half_of_length(length: int) -> float:
    """Return half of length as a float.

    >>> half_of_length(6)
    3.0
    >>> half_of_length(5)
    2.5
    """
    return length / 2


@cases(1, (4, 4), (10, 1), (7, 0), (12, 5), (1, 9))
def cost_of_tickets(price: int, count: int) -> int:
    """Return price times count.

    >>> cost_of_tickets(5, 3)
    15
    >>> cost_of_tickets(2, 0)
    0
    """
    return price * count


@cases(1, (0,), (1,), (3,), (10,), (25,))
def legs_of_dogs(dogs: int) -> int:
    """Return how many legs dogs have; each has 4.

    >>> legs_of_dogs(2)
    8
    >>> legs_of_dogs(5)
    20
    """
    return dogs * 4


@cases(1, (1,), (10,), (0,), (249,), (36,))
def next_page(page: int) -> int:
    """Return the page number that comes right after page.

    >>> next_page(7)
    8
    >>> next_page(99)
    100
    """
    return page + 1


@cases(1, (1,), (2,), (10,), (-1,), (33,))
def floor_below(floor: int) -> int:
    """Return the number of the floor one below floor.

    >>> floor_below(5)
    4
    >>> floor_below(0)
    -1
    """
    return floor - 1


@cases(1, (4, 4, 4), (0, 0, 0), (7, 2, 9), (20, 30, 50), (-1, 1, 8))
def total_of_three_rounds(first: int, second: int, third: int) -> int:
    """Return the sum of first, second and third.

    >>> total_of_three_rounds(1, 2, 3)
    6
    >>> total_of_three_rounds(10, 0, 5)
    15
    """
    return first + second + third


@cases(1, (0,), (1,), (4,), (7,), (12,))
def tile_area(side: int) -> int:
    """Return side multiplied by itself.

    >>> tile_area(3)
    9
    >>> tile_area(10)
    100
    """
    return side * side


@cases(1, (0,), (1,), (3,), (4,), (10,))
def cube_volume(edge: int) -> int:
    """Return edge to the power of three.

    >>> cube_volume(2)
    8
    >>> cube_volume(5)
    125
    """
    return edge**3


@cases(1, (6, 6, 6), (0, 0, 0), (1, 5, 9), (2, 2, 8), (10, 20, 60))
def mean_of_three_grades(a: int, b: int, c: int) -> float:
    """Return the average of a, b and c as a float.

    >>> mean_of_three_grades(1, 2, 3)
    2.0
    >>> mean_of_three_grades(4, 4, 1)
    3.0
    """
    return (a + b + c) / 3


@cases(1, (100, 7), (20, 10), (5, 6), (9, 1), (31, 5))
def pages_per_day(pages: int, days: int) -> int:
    """Return pages divided by days, rounded down.

    >>> pages_per_day(10, 3)
    3
    >>> pages_per_day(12, 4)
    3
    """
    return pages // days


@cases(1, (0,), (59,), (60,), (125,), (200,))
def minute_shown_on_clock(minutes: int) -> int:
    """Return the remainder of minutes divided by 60.

    >>> minute_shown_on_clock(70)
    10
    >>> minute_shown_on_clock(45)
    45
    """
    return minutes % 60


@cases(1, (0,), (1,), (5,), (11,), (-7,))
def triple_amount(amount: int) -> int:
    """Return three times amount.

    >>> triple_amount(2)
    6
    >>> triple_amount(-4)
    -12
    """
    return amount * 3


@cases(1, (0,), (2,), (4,), (5,), (10,))
def two_to_the_power(steps: int) -> int:
    """Return 2 to the power of steps.

    >>> two_to_the_power(3)
    8
    >>> two_to_the_power(1)
    2
    """
    return 2**steps


@cases(1, (0,), (1,), (3,), (-2,), (10,))
def fourth_power(number: int) -> int:
    """Return number to the power of four.

    >>> fourth_power(2)
    16
    >>> fourth_power(-1)
    1
    """
    return number**4


@cases(1, (0,), (1,), (-1,), (25,), (-300,))
def opposite_number(number: int) -> int:
    """Return number with the opposite sign.

    >>> opposite_number(4)
    -4
    >>> opposite_number(-9)
    9
    """
    return -number


@cases(1, (2024, 10), (2000, 1), (1950, 50), (2010, 0), (1987, 33))
def birth_year(year: int, age: int) -> int:
    """Return year minus age, the year of birth.

    >>> birth_year(2020, 20)
    2000
    >>> birth_year(1999, 9)
    1990
    """
    return year - age


@cases(1, (1, 1), (7, 20), (0, 18), (64, 3), (40, 40))
def age_later(age: int, years: int) -> int:
    """Return the age that someone has after the given years.

    >>> age_later(10, 5)
    15
    >>> age_later(33, 0)
    33
    """
    return age + years


@cases(1, (50, 20, 10), (9, 1, 2), (7, 0, 0), (100, 99, 1), (30, 4, 11))
def change_after_two_items(paid: int, first: int, second: int) -> int:
    """Return paid minus first and minus second.

    >>> change_after_two_items(20, 5, 3)
    12
    >>> change_after_two_items(10, 5, 5)
    0
    """
    return paid - first - second


@cases(1, (10, 2, 5), (1, 1, 1), (4, 0, 6), (3, 7, 0), (8, 8, 2))
def order_cost_with_fee(price: int, count: int, fee: int) -> int:
    """Return price times count, plus fee.

    >>> order_cost_with_fee(2, 3, 1)
    7
    >>> order_cost_with_fee(5, 1, 4)
    9
    """
    return price * count + fee


@cases(1, (2, 0), (2, 5), (0, 0), (10, 1), (3, 4))
def wheels_on_street(cars: int, bikes: int) -> int:
    """Return 4 times cars plus 2 times bikes.

    >>> wheels_on_street(1, 1)
    6
    >>> wheels_on_street(0, 3)
    6
    """
    return 4 * cars + 2 * bikes


@cases(1, (0, 1), (2, 2), (0, 0), (5, 3), (1, 9))
def worth_of_coins(tens: int, fives: int) -> int:
    """Return 10 times tens plus 5 times fives.

    >>> worth_of_coins(1, 2)
    20
    >>> worth_of_coins(3, 0)
    30
    """
    return 10 * tens + 5 * fives


@cases(1, (0,), (1,), (5,), (10,), (22,))
def fence_around_square(side: int) -> int:
    """Return the length around a square with the given side.

    >>> fence_around_square(3)
    12
    >>> fence_around_square(8)
    32
    """
    return side * 4


@cases(1, (0,), (1,), (3,), (4,), (10,))
def eggs_in_cartons(cartons: int) -> int:
    """Return 12 times cartons.

    >>> eggs_in_cartons(2)
    24
    >>> eggs_in_cartons(5)
    60
    """
    return cartons * 12


@cases(1, (60, 3), (100, 0), (5, 5), (80, 4), (12, 10))
def distance_driven(speed: int, hours: int) -> int:
    """Return the distance, which is speed times hours.

    >>> distance_driven(50, 2)
    100
    >>> distance_driven(30, 1)
    30
    """
    return speed * hours


@cases(1, (0,), (1,), (4,), (10,), (100,))
def quarter_of_amount(amount: int) -> float:
    """Return amount divided by four as a float.

    >>> quarter_of_amount(8)
    2.0
    >>> quarter_of_amount(2)
    0.5
    """
    return amount / 4


@cases(1, (0,), (100,), (25,), (1000,), (350,))
def one_percent_of(amount: int) -> float:
    """Return amount divided by 100 as a float.

    >>> one_percent_of(200)
    2.0
    >>> one_percent_of(50)
    0.5
    """
    return amount / 100


@cases(1, (10, 10, 20), (3, 7, 1), (6, 6, 0), (8, 5, 15), (1, 9, 2))
def lawn_without_pond(length: int, width: int, pond: int) -> int:
    """Return length times width, minus pond.

    >>> lawn_without_pond(5, 4, 3)
    17
    >>> lawn_without_pond(2, 2, 4)
    0
    """
    return length * width - pond


@cases(1, (12,), (5,), (36,), (47,), (120,))
def full_dozens(eggs: int) -> int:
    """Return how many full groups of 12 eggs there are.

    >>> full_dozens(25)
    2
    >>> full_dozens(11)
    0
    """
    return eggs // 12


@cases(1, (0,), (1,), (2,), (15,), (40,))
def pairs_of_socks(socks: int) -> int:
    """Return socks divided by two, rounded down.

    >>> pairs_of_socks(6)
    3
    >>> pairs_of_socks(9)
    4
    """
    return socks // 2


@cases(1, (100,), (7,), (999,), (2024,), (4510,))
def last_two_digits(number: int) -> int:
    """Return the remainder of number divided by 100.

    >>> last_two_digits(1234)
    34
    >>> last_two_digits(56)
    56
    """
    return number % 100


@cases(1, (0,), (7,), (8,), (20,), (33,))
def days_after_full_weeks(days: int) -> int:
    """Return the remainder of days divided by 7.

    >>> days_after_full_weeks(10)
    3
    >>> days_after_full_weeks(6)
    6
    """
    return days % 7


@cases(1, (2, 2, 2), (10, 5, 1), (3, 3, 0), (-1, 4, 7), (6, 1, 10))
def sum_times_factor(a: int, b: int, factor: int) -> int:
    """Return the sum of a and b, multiplied by factor.

    >>> sum_times_factor(1, 2, 3)
    9
    >>> sum_times_factor(4, 0, 5)
    20
    """
    return (a + b) * factor


@cases(1, (10,), (0,), (100,), (-5,), (42,))
def ten_less(number: int) -> int:
    """Return number minus 10.

    >>> ten_less(15)
    5
    >>> ten_less(3)
    -7
    """
    return number - 10


@cases(1, (0,), (1,), (50,), (900,), (-30,))
def add_one_hundred(number: int) -> int:
    """Return number plus 100.

    >>> add_one_hundred(5)
    105
    >>> add_one_hundred(-100)
    0
    """
    return number + 100


@cases(1, (0,), (100,), (25,), (50,), (130,))
def rest_to_one_hundred(number: int) -> int:
    """Return 100 minus number.

    >>> rest_to_one_hundred(60)
    40
    >>> rest_to_one_hundred(1)
    99
    """
    return 100 - number


@cases(1, (20, 5), (7, 2), (0, 6), (30, 4), (11, 1))
def share_of_bill(bill: int, people: int) -> float:
    """Return bill divided by people as a float.

    >>> share_of_bill(10, 4)
    2.5
    >>> share_of_bill(9, 3)
    3.0
    """
    return bill / people


@cases(1, (5, 0), (1, 1), (3, 9), (10, 2), (4, 6))
def quiz_score(right: int, wrong: int) -> int:
    """Return 3 times right minus wrong.

    >>> quiz_score(2, 1)
    5
    >>> quiz_score(0, 4)
    -4
    """
    return 3 * right - wrong


@cases(1, (100, 10, 4), (7, 0, 9), (1, 1, 1), (20, 6, 0), (50, 25, 3))
def savings_after_weeks(saved: int, weekly: int, weeks: int) -> int:
    """Return saved plus weekly times weeks.

    >>> savings_after_weeks(10, 5, 2)
    20
    >>> savings_after_weeks(0, 3, 3)
    9
    """
    return saved + weekly * weeks


@cases(1, (0,), (1,), (4,), (10,), (-5,))
def square_minus_one(number: int) -> int:
    """Return the square of number, minus one.

    >>> square_minus_one(3)
    8
    >>> square_minus_one(-2)
    3
    """
    return number * number - 1


@cases(1, (0, 0), (10, 4), (2, 3), (-1, 1), (7, 0))
def square_of_difference(a: int, b: int) -> int:
    """Return the square of a minus b.

    >>> square_of_difference(5, 3)
    4
    >>> square_of_difference(1, 4)
    9
    """
    return (a - b) ** 2


@cases(1, (0,), (1,), (3,), (10,), (-4,))
def times_next_number(number: int) -> int:
    """Return number multiplied by number plus one.

    >>> times_next_number(2)
    6
    >>> times_next_number(5)
    30
    """
    return number * (number + 1)


@cases(1, (100,), (7,), (999,), (1000,), (4321,))
def full_hundreds(number: int) -> int:
    """Return how many times 100 fits into number.

    >>> full_hundreds(250)
    2
    >>> full_hundreds(99)
    0
    """
    return number // 100
