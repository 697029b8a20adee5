"""Tasks about geometry: lengths, areas, volumes, points on a grid, rectangles, triangles and angles."""

from itertools import pairwise

from tasksets.python_functions.cases import cases


@cases(1, (3, 4), (1, 1), (0, 5), (10, 7), (12, 12))
def rectangle_area(width: int, height: int) -> int:
    """Return the area of a rectangle with the given width and height.

    >>> rectangle_area(2, 6)
    12
    >>> rectangle_area(9, 1)
    9
    """
    return width * height


@cases(1, (3, 4), (1, 1), (0, 5), (10, 7), (12, 12))
def rectangle_perimeter(width: int, height: int) -> int:
    """Return the length all around a rectangle with the given width and height.

    >>> rectangle_perimeter(2, 6)
    16
    >>> rectangle_perimeter(9, 1)
    20
    """
    return 2 * (width + height)


@cases(1, (4, 3), (5, 5), (1, 1), (0, 8), (7, 10))
def triangle_area(base: int, height: int) -> float:
    """Return the area of a triangle with the given base and height, as a float.

    >>> triangle_area(6, 2)
    6.0
    >>> triangle_area(3, 1)
    1.5
    """
    return base * height / 2


@cases(1, (2, 3, 4), (1, 1, 1), (0, 5, 6), (10, 1, 3), (7, 7, 2))
def box_volume(length: int, width: int, height: int) -> int:
    """Return the volume of a box with the given length, width and height.

    >>> box_volume(2, 2, 5)
    20
    >>> box_volume(3, 1, 1)
    3
    """
    return length * width * height


@cases(1, (2, 3, 4), (1, 1, 1), (0, 5, 6), (10, 1, 3), (7, 7, 2))
def box_surface(length: int, width: int, height: int) -> int:
    """Return the total area of the six faces of a box with the given length, width and height.

    >>> box_surface(2, 2, 2)
    24
    >>> box_surface(1, 2, 3)
    22
    """
    return 2 * (length * width + width * height + length * height)


@cases(1, (5, 5), (5, 6), (0, 0), (1, 10), (9, 9), (3, 4))
def is_square_shape(width: int, height: int) -> bool:
    """Return True if a rectangle with the given width and height is a square, else False.

    >>> is_square_shape(2, 2)
    True
    >>> is_square_shape(2, 3)
    False
    """
    return width == height


@cases(1, (60, 60), (90, 30), (1, 1), (100, 45), (20, 150))
def third_triangle_angle(a: int, b: int) -> int:
    """Return the third angle of a triangle with the angles a and b. All three add up to 180 degrees.

    >>> third_triangle_angle(90, 45)
    45
    >>> third_triangle_angle(70, 50)
    60
    """
    return 180 - a - b


@cases(1, (3,), (4,), (6,), (8,), (12,))
def polygon_angle_sum(sides: int) -> int:
    """Return the sum of the inner angles of a polygon in degrees, which is 180 times two less than its sides.

    >>> polygon_angle_sum(5)
    540
    >>> polygon_angle_sum(7)
    900
    """
    return 180 * (sides - 2)


@cases(1, (0, 0, 3, 4), (1, 1, 1, 1), (-2, 5, 2, 5), (4, -1, 0, 0), (10, 3, 7, -3))
def grid_walk_distance(x1: int, y1: int, x2: int, y2: int) -> int:
    """Return the number of steps along grid lines from the point (x1, y1) to the point (x2, y2).

    This is the distance in x plus the distance in y.

    >>> grid_walk_distance(0, 0, 2, 1)
    3
    >>> grid_walk_distance(5, 5, 4, 7)
    3
    """
    return abs(x1 - x2) + abs(y1 - y2)


@cases(1, (0, 0, 3, 4), (1, 1, 1, 1), (-2, 5, 2, 5), (4, -1, 0, 0), (10, 3, 7, -4))
def king_steps(x1: int, y1: int, x2: int, y2: int) -> int:
    """Return the larger of the distance in x and the distance in y between (x1, y1) and (x2, y2).

    >>> king_steps(0, 0, 2, 1)
    2
    >>> king_steps(5, 5, 4, 8)
    3
    """
    return max(abs(x1 - x2), abs(y1 - y2))


@cases(1, (0, 0, 3, 4), (1, 1, 1, 1), (-2, 5, 2, 5), (4, -1, 0, 0), (10, 3, 7, -3))
def squared_distance(x1: int, y1: int, x2: int, y2: int) -> int:
    """Return the square of the straight-line distance from (x1, y1) to (x2, y2).

    >>> squared_distance(0, 0, 2, 1)
    5
    >>> squared_distance(5, 5, 4, 8)
    10
    """
    return (x1 - x2) ** 2 + (y1 - y2) ** 2


@cases(1, ([1, 2],), ([0, 0],), ([-3, 5],), ([7, -7],), ([0, 4],))
def swap_coordinates(point: list[int]) -> list[int]:
    """Return the point [x, y] with its two coordinates swapped.

    >>> swap_coordinates([3, 8])
    [8, 3]
    >>> swap_coordinates([-1, 0])
    [0, -1]
    """
    return [point[1], point[0]]


@cases(1, ([1, 2], [3, 4]), ([0, 0], [5, -5]), ([-1, -1], [1, 1]), ([7, 3], [0, 0]), ([2, 9], [-3, -9]))
def move_point(point: list[int], step: list[int]) -> list[int]:
    """Return the point [x, y] after moving it by step [dx, dy].

    >>> move_point([2, 2], [1, 3])
    [3, 5]
    >>> move_point([4, 0], [-4, 1])
    [0, 1]
    """
    return [point[0] + step[0], point[1] + step[1]]


@cases(1, ([0, 0], [4, 6]), ([1, 1], [2, 2]), ([-3, 5], [3, -5]), ([7, 7], [7, 7]), ([0, 1], [5, 1]))
def midpoint_of(start: list[int], end: list[int]) -> list[float]:
    """Return the point halfway between the points start and end, each [x, y], as a list of two floats.

    >>> midpoint_of([0, 0], [2, 10])
    [1.0, 5.0]
    >>> midpoint_of([1, 0], [2, 0])
    [1.5, 0.0]
    """
    return [(start[0] + end[0]) / 2, (start[1] + end[1]) / 2]


@cases(1, ([3, 4],), ([0, 0],), ([-2, 5],), ([6, -6],), ([0, -1],))
def mirror_left_right(point: list[int]) -> list[int]:
    """Return the point [x, y] mirrored at the vertical line x = 0, so that x changes its sign.

    >>> mirror_left_right([1, 2])
    [-1, 2]
    >>> mirror_left_right([-5, -3])
    [5, -3]
    """
    return [-point[0], point[1]]


@cases(1, ([3, 4],), ([1, 0],), ([-2, 5],), ([6, -6],), ([0, -1],))
def quarter_turn_left(point: list[int]) -> list[int]:
    """Return the point [x, y] turned a quarter to the left around the origin, which gives [-y, x].

    >>> quarter_turn_left([1, 2])
    [-2, 1]
    >>> quarter_turn_left([-5, -3])
    [3, -5]
    """
    return [-point[1], point[0]]


@cases(1, ([3, 4], 2), ([1, 0], -1), ([-2, 5], 0), ([6, -6], 10), ([0, 1], 3))
def scale_point(point: list[int], factor: int) -> list[int]:
    """Return the point with each of its coordinates multiplied by factor. It may have two or more of them.

    >>> scale_point([1, 2], 5)
    [5, 10]
    >>> scale_point([1, 2, 3], 2)
    [2, 4, 6]
    """
    return [coordinate * factor for coordinate in point]


@cases(1, (370,), (0,), (360,), (-90,), (725,), (359,))
def normalize_angle(degrees: int) -> int:
    """Return the angle in degrees brought into the range from 0 to 359 by whole turns.

    >>> normalize_angle(400)
    40
    >>> normalize_angle(-10)
    350
    """
    return degrees % 360


@cases(1, (45,), (90,), (0,), (135,), (89,), (180,))
def is_sharp_angle(degrees: int) -> bool:
    """Return True if the angle is less than 90 degrees, else False.

    >>> is_sharp_angle(30)
    True
    >>> is_sharp_angle(120)
    False
    """
    return degrees < 90


@cases(1, (4, 2), (0, 0), (5, 1), (10, 3), (6, 6))
def frame_area(outer_side: int, inner_side: int) -> int:
    """Return the area of a square with side outer_side after a square with side inner_side is cut out of it.

    >>> frame_area(3, 1)
    8
    >>> frame_area(5, 4)
    9
    """
    return outer_side**2 - inner_side**2


@cases(1, (2, 2, 5), (0, 0, 1), (3, 4, 5), (3, 4, 4), (-6, 0, 5), (-2, 1, 3))
def is_inside_circle(x: int, y: int, radius: int) -> bool:
    """Return True if the point (x, y) is at most radius away from (0, 0), else False.

    >>> is_inside_circle(1, 1, 2)
    True
    >>> is_inside_circle(2, 2, 2)
    False
    """
    return x * x + y * y <= radius * radius


@cases(1, ([1, 2], [3, 4]), ([0, 0], [5, 5]), ([1, -1], [1, 1]), ([2, 0], [2, 3]), ([-4, 2], [3, 5]))
def dot_product_2d(a: list[int], b: list[int]) -> int:
    """Return the product of the first numbers plus the product of the second numbers of [x, y] pairs a and b.

    >>> dot_product_2d([2, 3], [4, 1])
    11
    >>> dot_product_2d([1, 0], [6, 9])
    6
    """
    return a[0] * b[0] + a[1] * b[1]


@cases(1, ([3, 4, 5],), ([],), ([10],), ([1, 1, 1, 1],), ([6, 2, 7, 3, 8],))
def perimeter_from_sides(sides: list[int]) -> int:
    """Return the perimeter of a shape with the given side lengths. No sides give 0.

    >>> perimeter_from_sides([2, 2, 3])
    7
    >>> perimeter_from_sides([4, 4, 4, 4])
    16
    """
    return sum(sides)


@cases(1, (1, 1), (3, 3), (2, 5), (10, 1), (4, 6))
def grid_corner_points(columns: int, rows: int) -> int:
    """Return how many corner points a grid with the given columns and rows of squares has, edges included.

    >>> grid_corner_points(2, 2)
    9
    >>> grid_corner_points(1, 3)
    8
    """
    return (columns + 1) * (rows + 1)


@cases(
    1,
    ([0, 0], [3, 0]),
    ([1, 2], [2, 1]),
    ([4, 4], [4, -4]),
    ([0, 7], [7, 0]),
    ([-1, 5], [6, 5]),
    ([2, 3], [4, 5]),
)
def on_a_grid_line(a: list[int], b: list[int]) -> bool:
    """Return True if the points a and b, each [x, y], have the same x or the same y, else False.

    >>> on_a_grid_line([1, 5], [1, 9])
    True
    >>> on_a_grid_line([1, 5], [2, 9])
    False
    """
    return a[0] == b[0] or a[1] == b[1]


@cases(
    2,
    ([1, 2], [2, 3]),
    ([2, 1], [1, 2]),
    ([5, 1], [4, 4]),
    ([6, 2], [3, 6]),
    ([3, 3], [2, 9]),
    ([4, 5], [5, 3]),
)
def picture_fits_frame(picture: list[int], frame: list[int]) -> bool:
    """Return True if a picture [width, height] fits into a frame [width, height], else False.

    The picture may be turned by a quarter, and equal lengths fit.

    >>> picture_fits_frame([4, 1], [2, 5])
    True
    >>> picture_fits_frame([3, 3], [2, 5])
    False
    """
    return min(picture) <= min(frame) and max(picture) <= max(frame)


@cases(2, (3, 4, 5), (5, 3, 4), (2, 3, 4), (13, 12, 5), (1, 1, 1), (6, 7, 8))
def has_right_angle(a: int, b: int, c: int) -> bool:
    """Return True if the square of the longest side is the sum of the squares of the other two, else False.

    >>> has_right_angle(6, 8, 10)
    True
    >>> has_right_angle(5, 6, 7)
    False
    """
    short, middle, longest = sorted([a, b, c])
    return short**2 + middle**2 == longest**2


@cases(2, (3, 3, 3), (3, 4, 5), (2, 2, 3), (4, 1, 4), (7, 8, 8), (9, 10, 11))
def count_different_sides(a: int, b: int, c: int) -> int:
    """Return how many different lengths the three sides a, b and c have.

    >>> count_different_sides(5, 5, 5)
    1
    >>> count_different_sides(2, 3, 2)
    2
    """
    return len({a, b, c})


@cases(2, (45,), (90,), (1,), (135,), (91,), (179,))
def angle_kind(degrees: int) -> str:
    """Return 'sharp' for an angle below 90 degrees, 'right' for exactly 90 and 'blunt' for a larger one.

    >>> angle_kind(30)
    'sharp'
    >>> angle_kind(120)
    'blunt'
    """
    if degrees < 90:
        return "sharp"
    return "right" if degrees == 90 else "blunt"


@cases(2, ([1, 2], "x"), ([1, 2], "y"), ([0, 0], "x"), ([-4, 5], "y"), ([-3, -3], "x"))
def mirror_at_axis(point: list[int], axis: str) -> list[int]:
    """Return the point [x, y] mirrored at an axis: y changes its sign for axis 'x', and x does for axis 'y'.

    >>> mirror_at_axis([3, 4], "x")
    [3, -4]
    >>> mirror_at_axis([3, 4], "y")
    [-3, 4]
    """
    if axis == "x":
        return [point[0], -point[1]]
    return [-point[0], point[1]]


@cases(
    2,
    ([[1, 2], [3, 0]],),
    ([[5, 5]],),
    ([[-1, 4], [2, -3], [0, 0]],),
    ([[0, 0], [0, 9]],),
    ([[7, 1], [2, 8]],),
)
def bounding_box(points: list[list[int]]) -> list[int]:
    """Return [smallest x, smallest y, largest x, largest y] of the points [x, y]. The list is not empty.

    >>> bounding_box([[1, 1], [4, 2]])
    [1, 1, 4, 2]
    >>> bounding_box([[3, 0], [0, 5]])
    [0, 0, 3, 5]
    """
    xs = [point[0] for point in points]
    ys = [point[1] for point in points]
    return [min(xs), min(ys), max(xs), max(ys)]


@cases(2, (0, 5, 3, 8), (0, 2, 3, 5), (0, 10, 2, 4), (-5, 0, 0, 5), (6, 9, 1, 7))
def overlap_length(start1: int, end1: int, start2: int, end2: int) -> int:
    """Return the length that the stretch from start1 to end1 shares with the one from start2 to end2.

    If they share nothing, return 0.

    >>> overlap_length(0, 4, 1, 9)
    3
    >>> overlap_length(0, 1, 5, 6)
    0
    """
    return max(0, min(end1, end2) - max(start1, start2))


@cases(2, (0, 0, 4, 3), (4, 3, 4, 3), (5, 1, 4, 3), (2, -1, 4, 3), (1, 2, 2, 2), (0, 3, 5, 2))
def is_inside_rectangle(x: int, y: int, width: int, height: int) -> bool:
    """Return True if the point (x, y) is in the rectangle from (0, 0) to (width, height), else False.

    Points on the border count as inside.

    >>> is_inside_rectangle(1, 1, 3, 2)
    True
    >>> is_inside_rectangle(1, 4, 3, 2)
    False
    """
    return 0 <= x <= width and 0 <= y <= height


@cases(2, (10, 350), (0, 180), (90, 45), (0, 0), (270, 10), (5, 200))
def angle_between(a: int, b: int) -> int:
    """Return the smaller angle between two directions a and b, both from 0 to 359 degrees.

    The result is from 0 to 180.

    >>> angle_between(30, 80)
    50
    >>> angle_between(0, 300)
    60
    """
    difference = abs(a - b)
    return min(difference, 360 - difference)


@cases(2, ([[0, 0], [0, 3], [4, 3]],), ([],), ([[5, 5]],), ([[1, 1], [-1, 1]],), ([[0, 0], [2, 2], [0, 0]],))
def grid_path_length(points: list[list[int]]) -> int:
    """Return the length of a path through the points [x, y], adding distances in x and in y.

    Fewer than two points give 0.

    >>> grid_path_length([[0, 0], [1, 2]])
    3
    >>> grid_path_length([[0, 0], [5, 0], [5, 1]])
    6
    """
    return sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(points))


@cases(2, ("",), ("N",), ("NNE",), ("SWSW",), ("NS",), ("EEEN",))
def position_after_moves(moves: str) -> list[int]:
    """Return the position [x, y] after starting at [0, 0] and following the moves.

    'N' adds 1 to y, 'S' takes 1 from y, 'E' adds 1 to x and 'W' takes 1 from x.

    >>> position_after_moves("NE")
    [1, 1]
    >>> position_after_moves("WWS")
    [-2, -1]
    """
    return [moves.count("E") - moves.count("W"), moves.count("N") - moves.count("S")]


@cases(2, ("N", 1), ("N", 4), ("E", 2), ("W", 1), ("S", 3), ("W", 7))
def turn_right(direction: str, turns: int) -> str:
    """Return the direction after that many quarter turns to the right, in the order 'N', 'E', 'S', 'W'.

    >>> turn_right("E", 1)
    'S'
    >>> turn_right("S", 2)
    'N'
    """
    order = "NESW"
    return order[(order.index(direction) + turns) % 4]


@cases(
    2,
    ([[3, 4], [1, 1]],),
    ([[5, 0]],),
    ([[0, 0], [-1, -1]],),
    ([[2, 2], [1, 2], [-9, 0]],),
    ([[-2, 0], [3, 3]],),
)
def closest_to_origin(points: list[list[int]]) -> list[int]:
    """Return the point [x, y] that is closest to [0, 0] in a straight line. There is at least one point.

    >>> closest_to_origin([[5, 5], [1, 2]])
    [1, 2]
    >>> closest_to_origin([[0, 3], [4, 4]])
    [0, 3]
    """
    return min(points, key=lambda point: point[0] ** 2 + point[1] ** 2)


@cases(2, ([[1, 2], [3, 4]],), ([[5, 5]],), ([],), ([[0, 9], [2, 2]],), ([[7, 1], [1, 7], [2, 0]],))
def total_rectangle_area(rectangles: list[list[int]]) -> int:
    """Return the sum of the areas of all rectangles, each given as [width, height]. No rectangles give 0.

    >>> total_rectangle_area([[2, 3], [1, 4]])
    10
    >>> total_rectangle_area([[6, 2]])
    12
    """
    return sum(width * height for width, height in rectangles)


@cases(2, (12, 8, 3, 2), (5, 5, 2, 2), (1, 1, 2, 1), (10, 3, 5, 3), (7, 9, 1, 4))
def whole_tiles_that_fit(width: int, height: int, tile_width: int, tile_height: int) -> int:
    """Return how many whole tiles fit in straight rows on a floor, without turning any tile.

    >>> whole_tiles_that_fit(6, 4, 2, 2)
    6
    >>> whole_tiles_that_fit(5, 3, 2, 3)
    2
    """
    return (width // tile_width) * (height // tile_height)


@cases(2, (0,), (1,), (3,), (4,), (10,))
def staircase_blocks(steps: int) -> list[int]:
    """Return a list with the total blocks used after each step of a staircase, where step k adds k blocks.

    >>> staircase_blocks(2)
    [1, 3]
    >>> staircase_blocks(5)
    [1, 3, 6, 10, 15]
    """
    return [k * (k + 1) // 2 for k in range(1, steps + 1)]


@cases(
    3,
    (0, 0, 4, 4, 2, 2, 4, 4),
    (0, 0, 2, 2, 2, 0, 3, 3),
    (1, 1, 5, 5, 2, 3, 1, 1),
    (0, 0, 3, 9, 1, 8, 9, 9),
    (-4, -4, 5, 5, 0, 0, 7, 7),
    (0, 0, 1, 1, 6, 6, 1, 1),
)
def shared_rectangle_area(x1: int, y1: int, w1: int, h1: int, x2: int, y2: int, w2: int, h2: int) -> int:
    """Return the area that two rectangles share, or 0 if they share none.

    The first has its lower left corner at (x1, y1), width w1 and height h1; the second x2, y2, w2 and h2.

    >>> shared_rectangle_area(0, 0, 3, 3, 1, 1, 5, 5)
    4
    >>> shared_rectangle_area(0, 0, 1, 1, 2, 2, 1, 1)
    0
    """
    width = min(x1 + w1, x2 + w2) - max(x1, x2)
    height = min(y1 + h1, y2 + h2) - max(y1, y2)
    return max(0, width) * max(0, height)


@cases(
    3,
    ([[0, 0], [4, 0], [4, 3]],),
    ([[0, 0], [2, 0], [2, 2], [0, 2]],),
    ([[0, 0], [1, 0], [0, 1]],),
    ([[0, 0], [0, 5], [5, 5], [5, 0]],),
    ([[1, 1], [4, 1], [3, 3], [2, 3]],),
)
def polygon_area(corners: list[list[int]]) -> float:
    """Return the area of the polygon with the given corners [x, y] in order, as a float.

    It is half the absolute value of the sum of x1 * y2 - x2 * y1 over all sides from (x1, y1) to (x2, y2),
    where the last side goes back to the first corner.

    >>> polygon_area([[0, 0], [3, 0], [3, 1], [0, 1]])
    3.0
    >>> polygon_area([[0, 0], [3, 0], [0, 1]])
    1.5
    """
    total = 0
    for i, (x, y) in enumerate(corners):
        previous_x, previous_y = corners[i - 1]
        total += previous_x * y - x * previous_y
    return abs(total) / 2


@cases(3, ("",), ("F",), ("FFRF",), ("LF",), ("RRFF",), ("FRFRFRF",), ("FLFFLF",))
def robot_position(commands: str) -> list[int]:
    """Return the final [x, y] of a robot that starts at [0, 0] and looks up, where y grows.

    'F' moves it one step ahead, 'L' turns it a quarter to the left and 'R' a quarter to the right.

    >>> robot_position("FRF")
    [1, 1]
    >>> robot_position("LFF")
    [-2, 0]
    """
    x, y, dx, dy = 0, 0, 0, 1
    for command in commands:
        if command == "F":
            x, y = x + dx, y + dy
        elif command == "L":
            dx, dy = -dy, dx
        else:
            dx, dy = dy, -dx
    return [x, y]


@cases(3, (1,), (0,), (3,), (16,), (24,), (30,))
def rectangles_with_area(area: int) -> list[list[int]]:
    """Return all [width, height] pairs with width * height equal to area and width not above height.

    Pairs with a smaller width come first; an area of 0 gives an empty list.

    >>> rectangles_with_area(12)
    [[1, 12], [2, 6], [3, 4]]
    >>> rectangles_with_area(9)
    [[1, 9], [3, 3]]
    """
    pairs = []
    for width in range(1, area + 1):
        if area % width == 0 and width <= area // width:
            pairs.append([width, area // width])
    return pairs
