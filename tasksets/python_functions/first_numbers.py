"""First functions on numbers: one line of arithmetic."""

from tasksets.python_functions.cases import cases


@cases(1, (0,), (1,), (4,), (10,), (-7,))
def square(x: int) -> int:
    """Return the square of x.

    >>> square(3)
    9
    >>> square(-5)
    25
    """
    return x * x


@cases(1, (0,), (1,), (4,), (10,), (-5,))
def cube(x: int) -> int:
    """Return the cube of x.

    >>> cube(2)
    8
    >>> cube(-3)
    -27
    """
    return x**3


@cases(1, (0,), (3,), (-2,), (10,), (-1,))
def fifth_power(x: int) -> int:
    """Return x to the power of 5.

    >>> fifth_power(2)
    32
    >>> fifth_power(1)
    1
    """
    return x**5


@cases(1, (3, 2), (10, 4), (7, 0), (1, 9), (4, 3))
def power(base: int, exponent: int) -> int:
    """Return base to the power of exponent.

    >>> power(2, 3)
    8
    >>> power(5, 2)
    25
    """
    return base**exponent


@cases(1, (0,), (1,), (4,), (100,), (49,))
def square_root(n: int) -> float:
    """Return the square root of n.

    >>> square_root(9)
    3.0
    >>> square_root(16)
    4.0
    """
    return n**0.5


@cases(1, (0,), (-1,), (12,), (-40,), (7,))
def absolute_value(n: int) -> int:
    """Return the absolute value of n.

    >>> absolute_value(-5)
    5
    >>> absolute_value(3)
    3
    """
    return abs(n)


@cases(1, (0,), (1,), (-3,), (25,), (-60,))
def minus_absolute_value(n: int) -> int:
    """Return minus the absolute value of n.

    >>> minus_absolute_value(4)
    -4
    >>> minus_absolute_value(-9)
    -9
    """
    return -abs(n)


@cases(1, (1,), (8,), (16,), (-2,), (5,))
def reciprocal(n: int) -> float:
    """Return 1 divided by n.

    >>> reciprocal(2)
    0.5
    >>> reciprocal(4)
    0.25
    """
    return 1 / n


@cases(1, (0, 8), (4, 4), (6, 0), (-2, 7), (20, 100))
def subtract_first_from_second(a: int, b: int) -> int:
    """Return b minus a.

    >>> subtract_first_from_second(3, 10)
    7
    >>> subtract_first_from_second(5, 2)
    -3
    """
    return b - a


@cases(1, (5, 0), (3, 3), (8, 2), (1, 7), (-2, 8))
def divide_second_by_first(a: int, b: int) -> float:
    """Return b divided by a.

    >>> divide_second_by_first(2, 10)
    5.0
    >>> divide_second_by_first(4, 6)
    1.5
    """
    return b / a


@cases(1, (9, 4), (2, 6), (20, 8), (15, 10), (8, 2))
def remainder(a: int, b: int) -> int:
    """Return the remainder of a divided by b.

    >>> remainder(7, 3)
    1
    >>> remainder(10, 5)
    0
    """
    return a % b


@cases(1, (5, 5), (-1, 4), (10, 0), (-3, -8), (1, 100))
def min_of_two(a: int, b: int) -> int:
    """Return the minimum of a and b.

    >>> min_of_two(3, 7)
    3
    >>> min_of_two(9, 2)
    2
    """
    return min(a, b)


@cases(1, (1, 2, 3), (7, 7, 2), (-5, -1, -9), (0, 8, 8), (6, 0, 1))
def max_of_three(a: int, b: int, c: int) -> int:
    """Return the maximum of a, b and c.

    >>> max_of_three(1, 5, 3)
    5
    >>> max_of_three(9, 2, 4)
    9
    """
    return max(a, b, c)


@cases(1, (0, 0), (2, 2), (1, 4), (-1, 3), (5, 1))
def sum_of_cubes(a: int, b: int) -> int:
    """Return the cube of a plus the cube of b.

    >>> sum_of_cubes(1, 2)
    9
    >>> sum_of_cubes(3, 0)
    27
    """
    return a**3 + b**3


@cases(1, (0, 0), (3, 0), (2, 5), (-4, 1), (6, 4))
def square_of_sum(a: int, b: int) -> int:
    """Return the square of the sum of a and b.

    >>> square_of_sum(1, 2)
    9
    >>> square_of_sum(4, 1)
    25
    """
    return (a + b) ** 2


@cases(1, (4, 4), (3, 0), (10, 5), (0, 3), (6, 5))
def cube_of_difference(a: int, b: int) -> int:
    """Return the cube of a minus b.

    >>> cube_of_difference(5, 3)
    8
    >>> cube_of_difference(1, 2)
    -1
    """
    return (a - b) ** 3


@cases(1, (0, 7), (1, 1), (2, 2), (-3, 1), (5, 4))
def square_of_product(a: int, b: int) -> int:
    """Return the square of a times b.

    >>> square_of_product(2, 3)
    36
    >>> square_of_product(1, 5)
    25
    """
    return (a * b) ** 2


@cases(1, (6, 6), (10, 0), (0, 8), (7, 2), (-1, 5))
def half_of_difference(a: int, b: int) -> float:
    """Return half of a minus b.

    >>> half_of_difference(9, 3)
    3.0
    >>> half_of_difference(5, 4)
    0.5
    """
    return (a - b) / 2


@cases(1, (0, 6), (1, 1), (2, 7), (-3, 2), (10, 10))
def double_product(a: int, b: int) -> int:
    """Return two times a times b.

    >>> double_product(3, 4)
    24
    >>> double_product(1, 5)
    10
    """
    return 2 * a * b


@cases(1, (4, 4), (9, 0), (0, 7), (12, 5), (-1, -2))
def double_difference(a: int, b: int) -> int:
    """Return two times the difference a minus b.

    >>> double_difference(5, 3)
    4
    >>> double_difference(2, 6)
    -8
    """
    return 2 * (a - b)


@cases(1, (0, 0), (5, 5), (1, 8), (-3, 1), (10, 20))
def sum_plus_one(a: int, b: int) -> int:
    """Return a plus b plus one.

    >>> sum_plus_one(2, 3)
    6
    >>> sum_plus_one(0, 4)
    5
    """
    return a + b + 1


@cases(1, (0, 0), (5, 5), (1, 8), (-3, 2), (10, 7))
def product_plus_one(a: int, b: int) -> int:
    """Return a times b, plus one.

    >>> product_plus_one(2, 3)
    7
    >>> product_plus_one(0, 4)
    1
    """
    return a * b + 1


@cases(1, (0, 0, 3), (7, 2, 0), (10, 5, 5), (-1, 6, 2), (20, 30, 9))
def add_and_subtract(a: int, b: int, c: int) -> int:
    """Return a plus b, minus c.

    >>> add_and_subtract(5, 3, 2)
    6
    >>> add_and_subtract(1, 1, 4)
    -2
    """
    return a + b - c


@cases(1, (6, 6, 3), (7, 0, 2), (1, 4, 5), (9, 8, 7), (10, 5, 0))
def subtract_and_multiply(a: int, b: int, c: int) -> int:
    """Return a minus b, multiplied by c.

    >>> subtract_and_multiply(5, 2, 4)
    12
    >>> subtract_and_multiply(3, 1, 10)
    20
    """
    return (a - b) * c


@cases(1, (0, 8, 4), (3, 0, 1), (10, 20, 3), (7, 2, 2), (-5, 1, 4))
def sum_divided_by(a: int, b: int, c: int) -> float:
    """Return the sum of a and b, divided by c.

    >>> sum_divided_by(4, 6, 5)
    2.0
    >>> sum_divided_by(1, 2, 2)
    1.5
    """
    return (a + b) / c


@cases(1, (0, 8, 4), (3, 3, 1), (10, 20, 8), (7, 2, 7), (-4, 2, 16))
def product_divided_by(a: int, b: int, c: int) -> float:
    """Return a times b, divided by c.

    >>> product_divided_by(4, 6, 3)
    8.0
    >>> product_divided_by(5, 1, 2)
    2.5
    """
    return a * b / c


@cases(1, (1, 2, 4), (7, 3, 0), (0, 5, 2), (4, 3, 2), (2, 1, 9))
def multiply_by_power(amount: int, factor: int, times: int) -> int:
    """Return amount times factor to the power of times.

    >>> multiply_by_power(5, 2, 3)
    40
    >>> multiply_by_power(3, 10, 2)
    300
    """
    return amount * factor**times


@cases(1, (0, 0), (5, -5), (6, 1), (-7, 0), (-10, 20))
def sum_of_absolute_values(a: int, b: int) -> int:
    """Return the absolute value of a plus the absolute value of b.

    >>> sum_of_absolute_values(-2, 3)
    5
    >>> sum_of_absolute_values(-4, -1)
    5
    """
    return abs(a) + abs(b)


@cases(1, (0, 0), (6, -6), (-7, -1), (1, -9), (10, -4))
def absolute_sum(a: int, b: int) -> int:
    """Return the absolute value of a plus b.

    >>> absolute_sum(-5, 2)
    3
    >>> absolute_sum(3, 4)
    7
    """
    return abs(a + b)


@cases(1, (0, -8), (1, -6), (-7, -1), (-10, 3), (2, 9))
def absolute_product(a: int, b: int) -> int:
    """Return the absolute value of a times b.

    >>> absolute_product(-5, 2)
    10
    >>> absolute_product(3, 4)
    12
    """
    return abs(a * b)


@cases(1, (4, 4), (0, 6), (1, 0), (-5, 2), (10, 9))
def square_of_larger(a: int, b: int) -> int:
    """Return the square of the larger number of a and b.

    >>> square_of_larger(2, 3)
    9
    >>> square_of_larger(5, 1)
    25
    """
    return max(a, b) ** 2


@cases(1, (5, 5), (0, 6), (1, -1), (-5, 2), (10, 8))
def double_of_smaller(a: int, b: int) -> int:
    """Return two times the smaller number of a and b.

    >>> double_of_smaller(2, 3)
    4
    >>> double_of_smaller(9, 4)
    8
    """
    return 2 * min(a, b)


@cases(1, (0,), (1,), (3,), (-4,), (10,))
def square_plus_one(x: int) -> int:
    """Return the square of x, plus one.

    >>> square_plus_one(2)
    5
    >>> square_plus_one(5)
    26
    """
    return x * x + 1


@cases(1, (0,), (1,), (4,), (-2,), (10,))
def square_minus_itself(x: int) -> int:
    """Return the square of x, minus x.

    >>> square_minus_itself(3)
    6
    >>> square_minus_itself(5)
    20
    """
    return x * x - x


@cases(1, (0,), (1,), (4,), (-2,), (10,))
def double_square(x: int) -> int:
    """Return two times the square of x.

    >>> double_square(3)
    18
    >>> double_square(5)
    50
    """
    return 2 * x**2


@cases(1, (0,), (1,), (6,), (-2,), (10,))
def half_of_square(x: int) -> float:
    """Return half of the square of x.

    >>> half_of_square(4)
    8.0
    >>> half_of_square(3)
    4.5
    """
    return x**2 / 2


@cases(1, (0,), (1,), (6,), (-3,), (9,))
def next_square(n: int) -> int:
    """Return the square of n plus 1.

    >>> next_square(2)
    9
    >>> next_square(4)
    25
    """
    return (n + 1) ** 2


@cases(1, (2,), (5,), (7,), (50,), (0,))
def odd_number_at(n: int) -> int:
    """Return two times n, minus one.

    >>> odd_number_at(3)
    5
    >>> odd_number_at(10)
    19
    """
    return 2 * n - 1


@cases(1, (0,), (1,), (10,), (-4,), (8,))
def half_plus_one(n: int) -> float:
    """Return half of n, plus one.

    >>> half_plus_one(6)
    4.0
    >>> half_plus_one(3)
    2.5
    """
    return n / 2 + 1


@cases(1, (0,), (4,), (1,), (100,), (20,))
def three_quarters_of(n: int) -> float:
    """Return three quarters of n.

    >>> three_quarters_of(8)
    6.0
    >>> three_quarters_of(2)
    1.5
    """
    return n * 3 / 4


@cases(1, (0,), (1,), (4,), (10,), (-6,))
def one_and_a_half_times(n: int) -> float:
    """Return 1.5 times n.

    >>> one_and_a_half_times(2)
    3.0
    >>> one_and_a_half_times(5)
    7.5
    """
    return n * 1.5


@cases(1, (0.1,), (1.9,), (3.4,), (10.6,), (-2.8,))
def round_to_integer(x: float) -> int:
    """Return x rounded to the nearest integer.

    >>> round_to_integer(2.7)
    3
    >>> round_to_integer(4.2)
    4
    """
    return round(x)


@cases(1, (0.5,), (1.75,), (3.0,), (10.125,), (7.25,))
def fractional_part(x: float) -> float:
    """Return the part of x after the decimal point.

    >>> fractional_part(2.5)
    0.5
    >>> fractional_part(4.25)
    0.25
    """
    return x % 1


@cases(1, (0, 0), (1, 2), (7, 10), (3, 9), (100, 51))
def integer_average(a: int, b: int) -> int:
    """Return the average of a and b, rounded down.

    >>> integer_average(2, 5)
    3
    >>> integer_average(4, 6)
    5
    """
    return (a + b) // 2


@cases(1, (1, 1), (0, 5), (3, 12), (1, 16), (25, 4))
def geometric_mean(a: int, b: int) -> float:
    """Return the square root of a times b.

    >>> geometric_mean(4, 9)
    6.0
    >>> geometric_mean(2, 8)
    4.0
    """
    return (a * b) ** 0.5


@cases(1, (5, 5), (0, 3), (20, 19), (99, 2), (46, 51))
def last_digit_of_sum(a: int, b: int) -> int:
    """Return the last digit of a plus b.

    >>> last_digit_of_sum(7, 8)
    5
    >>> last_digit_of_sum(12, 4)
    6
    """
    return (a + b) % 10


@cases(1, (5, 5), (0, 3), (11, 19), (9, 2), (46, 1))
def last_digit_of_product(a: int, b: int) -> int:
    """Return the last digit of a times b.

    >>> last_digit_of_product(7, 8)
    6
    >>> last_digit_of_product(12, 4)
    8
    """
    return a * b % 10


@cases(1, (0,), (3,), (5,), (12,), (28,))
def last_digit_of_square(n: int) -> int:
    """Return the last digit of the square of n.

    >>> last_digit_of_square(4)
    6
    >>> last_digit_of_square(7)
    9
    """
    return n * n % 10


@cases(1, (0,), (2,), (7,), (10,), (30,))
def days_to_hours(days: int) -> int:
    """Return how many hours are in the given days.

    >>> days_to_hours(1)
    24
    >>> days_to_hours(3)
    72
    """
    return days * 24


@cases(1, (0,), (30,), (120,), (15,), (600,))
def minutes_to_hours(minutes: int) -> float:
    """Return minutes as hours, as a float.

    >>> minutes_to_hours(60)
    1.0
    >>> minutes_to_hours(90)
    1.5
    """
    return minutes / 60


@cases(1, (0,), (48,), (6,), (36,), (240,))
def hours_to_days(hours: int) -> float:
    """Return hours as days, as a float.

    >>> hours_to_days(24)
    1.0
    >>> hours_to_days(12)
    0.5
    """
    return hours / 24


@cases(1, (1,), (100,), (-273,), (-10,), (37,))
def celsius_to_kelvin(celsius: int) -> int:
    """Return celsius plus 273.

    >>> celsius_to_kelvin(0)
    273
    >>> celsius_to_kelvin(20)
    293
    """
    return celsius + 273


@cases(1, (0,), (1,), (4,), (5,), (10,))
def cube_surface_area(side: int) -> int:
    """Return the surface area of a cube with the given side.

    >>> cube_surface_area(2)
    24
    >>> cube_surface_area(3)
    54
    """
    return 6 * side**2


@cases(1, (1, 1), (10, 6), (7, 9), (4, 0), (8, 3))
def isosceles_perimeter(leg: int, base: int) -> int:
    """Return two times leg plus base.

    >>> isosceles_perimeter(5, 4)
    14
    >>> isosceles_perimeter(3, 2)
    8
    """
    return 2 * leg + base


@cases(1, (1, 1), (4, 2), (0, 6), (1, 9), (10, 3))
def square_prism_volume(side: int, height: int) -> int:
    """Return side squared times height.

    >>> square_prism_volume(2, 5)
    20
    >>> square_prism_volume(3, 1)
    9
    """
    return side**2 * height


@cases(1, (3, 3), (0, 5), (12, 2), (1, 6), (30, 10))
def pyramid_volume(base: int, height: int) -> float:
    """Return base times height divided by 3.

    >>> pyramid_volume(6, 4)
    8.0
    >>> pyramid_volume(9, 1)
    3.0
    """
    return base * height / 3


@cases(1, (100, 2.0), (5, 0.5), (40, 1.0), (36, 1.5), (0, 2.0))
def body_mass_index(weight: int, height: float) -> float:
    """Return weight divided by the square of height.

    >>> body_mass_index(80, 2.0)
    20.0
    >>> body_mass_index(20, 1.0)
    20.0
    """
    return weight / height**2


@cases(1, (0,), (1,), (6,), (-8,), (10,))
def square_of_half(x: int) -> float:
    """Return the square of half of x.

    >>> square_of_half(4)
    4.0
    >>> square_of_half(3)
    2.25
    """
    return (x / 2) ** 2


@cases(1, (0, 0), (4, 1), (2, 5), (10, -3), (7, 4))
def first_plus_square(a: int, b: int) -> int:
    """Return a plus the square of b.

    >>> first_plus_square(1, 3)
    10
    >>> first_plus_square(5, 2)
    9
    """
    return a + b * b


@cases(1, (0, 6), (2, 2), (4, 10), (-3, 5), (10, 1))
def square_minus_second(a: int, b: int) -> int:
    """Return the square of a, minus b.

    >>> square_minus_second(3, 1)
    8
    >>> square_minus_second(5, 4)
    21
    """
    return a * a - b


@cases(1, (0, 0), (1, 0), (20, 5), (60, 4), (30, 70))
def square_root_of_sum(a: int, b: int) -> float:
    """Return the square root of a plus b.

    >>> square_root_of_sum(4, 5)
    3.0
    >>> square_root_of_sum(10, 6)
    4.0
    """
    return (a + b) ** 0.5


@cases(1, (0, 0), (1, 25), (36, 4), (100, 0), (49, 64))
def sum_of_square_roots(a: int, b: int) -> float:
    """Return the square root of a plus the square root of b.

    >>> sum_of_square_roots(4, 9)
    5.0
    >>> sum_of_square_roots(16, 1)
    5.0
    """
    return a**0.5 + b**0.5


@cases(1, (1, 1, 3), (7, 8, 9), (10, 0, 7), (9, 9, 2), (20, 3, 8))
def remainder_of_product(a: int, b: int, n: int) -> int:
    """Return the remainder of a times b divided by n.

    >>> remainder_of_product(5, 6, 4)
    2
    >>> remainder_of_product(2, 4, 5)
    3
    """
    return a * b % n


@cases(1, (6, 7), (5, 10), (2, 4), (7, 8), (9, 6))
def remainder_of_square(a: int, b: int) -> int:
    """Return the remainder of the square of a divided by b.

    >>> remainder_of_square(4, 5)
    1
    >>> remainder_of_square(3, 2)
    1
    """
    return a * a % b


@cases(1, (0,), (-1,), (4,), (-5,), (10,))
def cube_of_absolute_value(x: int) -> int:
    """Return the cube of the absolute value of x.

    >>> cube_of_absolute_value(-2)
    8
    >>> cube_of_absolute_value(3)
    27
    """
    return abs(x) ** 3


@cases(1, (0, 4, 2), (8, 8, 8), (1, 4, 0), (20, 10, 5), (9, 3, -2))
def divide_and_add(a: int, b: int, c: int) -> float:
    """Return a divided by b, plus c.

    >>> divide_and_add(6, 3, 1)
    3.0
    >>> divide_and_add(5, 2, 4)
    6.5
    """
    return a / b + c


@cases(1, (6, 6, 3), (10, 0, 5), (1, 7, 4), (20, 2, 3), (8, -2, 4))
def subtract_and_divide(a: int, b: int, c: int) -> float:
    """Return a minus b, divided by c.

    >>> subtract_and_divide(9, 3, 2)
    3.0
    >>> subtract_and_divide(5, 4, 1)
    1.0
    """
    return (a - b) / c


@cases(1, (0, 2, 5), (6, 6, 1), (20, 2, 2), (16, 1, 8), (100, 5, 4))
def divide_twice(n: int, a: int, b: int) -> float:
    """Return n divided by a and then divided by b.

    >>> divide_twice(12, 2, 3)
    2.0
    >>> divide_twice(8, 4, 4)
    0.5
    """
    return n / a / b


@cases(1, (8, 0, 2), (0, 1, 4), (20, 7, 2), (6, 5, 3), (100, 4, 10))
def subtract_product(n: int, a: int, b: int) -> int:
    """Return n minus the product of a and b.

    >>> subtract_product(10, 2, 3)
    4
    >>> subtract_product(5, 1, 4)
    1
    """
    return n - a * b


@cases(1, (4, 4), (9, 0), (0, 7), (12, 5), (8, -2))
def difference_plus_one(a: int, b: int) -> int:
    """Return a minus b, plus one.

    >>> difference_plus_one(5, 3)
    3
    >>> difference_plus_one(2, 6)
    -3
    """
    return a - b + 1


@cases(1, (0, 0), (5, 0), (0, 8), (-6, -1), (10, 20))
def negative_sum(a: int, b: int) -> int:
    """Return minus the sum of a and b.

    >>> negative_sum(2, 3)
    -5
    >>> negative_sum(-4, 1)
    3
    """
    return -(a + b)


@cases(1, (10,), (0,), (1,), (30,), (-5,))
def distance_to_ten(n: int) -> int:
    """Return the absolute value of n minus 10.

    >>> distance_to_ten(7)
    3
    >>> distance_to_ten(15)
    5
    """
    return abs(n - 10)
