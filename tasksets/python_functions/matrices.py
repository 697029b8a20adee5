"""Tasks about lists of lists: rows, columns, transposes, sums, diagonals, grids."""

from tasksets.python_functions.cases import cases


@cases(1, ([[1, 2], [3, 4]],), ([],), ([[5]],), ([[0, 0, 0]],), ([[-1, 1], [2, 8], [9, -9]],))
def row_sums(matrix: list[list[int]]) -> list[int]:
    """Return a list with the sum of each row.

    >>> row_sums([[1, 1], [2, 3]])
    [2, 5]
    >>> row_sums([[4, 5, 6]])
    [15]
    """
    return [sum(row) for row in matrix]


@cases(1, ([[1, 2], [3, 4]], 0), ([], 2), ([[5]], 0), ([[1, 2, 3], [4, 5, 6]], 2), ([[7, 8], [9, 0]], 1))
def get_column(matrix: list[list[int]], column: int) -> list[int]:
    """Return the items of the column with the given number, from top to bottom, counting from 0.

    >>> get_column([[1, 2], [3, 4]], 1)
    [2, 4]
    >>> get_column([[6, 7, 8]], 0)
    [6]
    """
    return [row[column] for row in matrix]


@cases(1, ([[1, 2], [3, 4]],), ([],), ([[5]],), ([[0, 0], [0, 0]],), ([[-1, 1, 7], [2, 2, -4]],))
def matrix_total(matrix: list[list[int]]) -> int:
    """Return the sum of all numbers in the matrix; an empty matrix gives 0.

    >>> matrix_total([[1, 1], [2, 3]])
    7
    >>> matrix_total([[10, -3]])
    7
    """
    return sum(sum(row) for row in matrix)


@cases(1, (1, 2), (0, 3), (2, 0), (3, 1), (2, 4))
def zero_grid(rows: int, columns: int) -> list[list[int]]:
    """Return a grid of zeros with the given number of rows and columns.

    >>> zero_grid(2, 3)
    [[0, 0, 0], [0, 0, 0]]
    >>> zero_grid(1, 1)
    [[0]]
    """
    return [[0] * columns for _ in range(rows)]


@cases(1, ([[1, 2], [3, 4]],), ([],), ([[5, 6]],), ([[1], [2], [3]],), ([[0, 1], [0, 1], [7, 7]],))
def flip_upside_down(grid: list[list[int]]) -> list[list[int]]:
    """Return the grid with its rows in reverse order.

    >>> flip_upside_down([[1, 1], [2, 2]])
    [[2, 2], [1, 1]]
    >>> flip_upside_down([[9]])
    [[9]]
    """
    return grid[::-1]


@cases(1, ([[1, 2], [3, 4]],), ([],), ([[5, 6, 7]],), ([[1], [2], [3]],), ([[0, 1, 1], [8, 7, 7]],))
def mirror_rows(grid: list[list[int]]) -> list[list[int]]:
    """Return the grid with the items of each row in reverse order.

    >>> mirror_rows([[1, 2], [5, 6]])
    [[2, 1], [6, 5]]
    >>> mirror_rows([[9, 8, 7]])
    [[7, 8, 9]]
    """
    return [row[::-1] for row in grid]


@cases(1, ([[1, 2], [3, 4]],), ([],), ([[5, 6, 7]],), ([[1], [2]],), ([[1, 2, 3], [4, 5, 6]],))
def transpose(matrix: list[list[int]]) -> list[list[int]]:
    """Return the matrix with rows and columns exchanged; an empty matrix gives [].

    >>> transpose([[1, 2], [5, 6], [8, 9]])
    [[1, 5, 8], [2, 6, 9]]
    >>> transpose([[4]])
    [[4]]
    """
    return [list(column) for column in zip(*matrix, strict=True)]


@cases(1, ([[1, 2], [3, 4]], 2), ([], 5), ([[5]], 0), ([[1, -1], [0, 2]], -1), ([[3, 3, 3]], 3))
def scale_matrix(matrix: list[list[int]], factor: int) -> list[list[int]]:
    """Return the matrix with every number multiplied by factor.

    >>> scale_matrix([[1, 2], [3, 0]], 10)
    [[10, 20], [30, 0]]
    >>> scale_matrix([[4]], 2)
    [[8]]
    """
    return [[number * factor for number in row] for row in matrix]


@cases(1, ([[1, 2], [3, 4]],), ([],), ([[5]],), ([[0], [1], [2]],), ([[9, 8, 7], [6, 5, 4]],))
def matrix_to_list(matrix: list[list[int]]) -> list[int]:
    """Return all numbers of the matrix in one list, row after row.

    >>> matrix_to_list([[1, 5], [2, 6]])
    [1, 5, 2, 6]
    >>> matrix_to_list([[3, 3]])
    [3, 3]
    """
    return [number for row in matrix for number in row]


@cases(1, ([[1, 2], [3, 4]],), ([],), ([[5]],), ([[1, 0, 0], [0, 2, 0], [0, 0, 3]],), ([[-1, 9], [9, -2]],))
def main_diagonal(matrix: list[list[int]]) -> list[int]:
    """Return the numbers on the diagonal from top left to bottom right of a square matrix.

    >>> main_diagonal([[1, 8], [9, 5]])
    [1, 5]
    >>> main_diagonal([[7]])
    [7]
    """
    return [matrix[i][i] for i in range(len(matrix))]


@cases(1, ([[1, 2], [3, 4]],), ([[5]],), ([[0, 9], [8, 1]],), ([[-3, -1, -2]],), ([[6], [7], [2]],))
def largest_cell(matrix: list[list[int]]) -> int:
    """Return the largest number in a matrix that has no empty rows.

    >>> largest_cell([[1, 8], [5, 2]])
    8
    >>> largest_cell([[3, 3]])
    3
    """
    return max(max(row) for row in matrix)


@cases(1, ([[1, 2], [3, 4]],), ([],), ([[5]],), ([[-3, -1, -2]],), ([[6, 0], [7, 9], [2, 2]],))
def largest_of_each_row(matrix: list[list[int]]) -> list[int]:
    """Return a list with the largest number of each row; no row is empty.

    >>> largest_of_each_row([[1, 8], [5, 2]])
    [8, 5]
    >>> largest_of_each_row([[3, 4, 3]])
    [4]
    """
    return [max(row) for row in matrix]


@cases(1, ([[1, 2], [3, 4]],), ([],), ([[]],), ([[1], [2], [3]],), ([[1, 2, 3], [4], [5, 6]],))
def count_cells(grid: list[list[int]]) -> int:
    """Return how many items all rows of the grid have together; rows may differ in length.

    >>> count_cells([[1, 2, 3], [4, 5, 6]])
    6
    >>> count_cells([[7], [8, 9]])
    3
    """
    return sum(len(row) for row in grid)


@cases(1, ([[1, 2], [3, 4]],), ([],), ([[1, 2]],), ([[5]],), ([[1], [2]],), ([[1, 2, 3], [4, 5, 6]],))
def is_square(matrix: list[list[int]]) -> bool:
    """Return True if every row has as many items as there are rows; an empty matrix gives True.

    >>> is_square([[1, 0], [0, 1]])
    True
    >>> is_square([[1, 2, 3]])
    False
    """
    return all(len(row) == len(matrix) for row in matrix)


@cases(1, ([[1, 2], [3, 4]], 3), ([], 1), ([[5]], 6), ([[0, 0], [0, 9]], 9), ([[7], [8]], 7), ([[1, 1]], 0))
def grid_contains(grid: list[list[int]], value: int) -> bool:
    """Return True if some row of the grid contains value.

    >>> grid_contains([[1, 2], [5, 6]], 5)
    True
    >>> grid_contains([[1], [2]], 3)
    False
    """
    return any(value in row for row in grid)


@cases(1, ([["x", "o"], ["x", "x"]], "x"), ([], "a"), ([["b"]], "c"), ([["o", "o"]], "o"), ([["p", ""]], ""))
def count_in_grid(grid: list[list[str]], value: str) -> int:
    """Return how many cells of the grid are equal to value.

    >>> count_in_grid([["a", "b"], ["b", "c"]], "b")
    2
    >>> count_in_grid([["x"]], "y")
    0
    """
    return sum(row.count(value) for row in grid)


@cases(1, ([[1, 2], [3, 4]],), ([[5]],), ([[1, 2, 3]],), ([[6], [7], [8]],), ([[0, 0], [0, -9]],))
def bottom_right_cell(grid: list[list[int]]) -> int:
    """Return the last item of the last row of a grid that has no empty rows.

    >>> bottom_right_cell([[1, 8], [5, 2]])
    2
    >>> bottom_right_cell([[9, 4]])
    4
    """
    return grid[-1][-1]


@cases(1, ([[1, 2], [3]],), ([],), ([[]],), ([[1], [2], [3]],), ([[1, 2, 3], [], [5, 6]],))
def row_lengths(rows: list[list[int]]) -> list[int]:
    """Return a list with the number of items in each row.

    >>> row_lengths([[4, 5, 6], [7]])
    [3, 1]
    >>> row_lengths([[], [8, 9]])
    [0, 2]
    """
    return [len(row) for row in rows]


@cases(1, ([[1], [2]], [3, 4]), ([], []), ([[5, 6]], [7]), ([[], []], [0, 1]), ([[1, 1], [2, 2]], [-1, -2]))
def append_column(matrix: list[list[int]], column: list[int]) -> list[list[int]]:
    """Return the matrix with one item of column added at the end of each row.

    >>> append_column([[1, 2], [3, 4]], [8, 9])
    [[1, 2, 8], [3, 4, 9]]
    >>> append_column([[5]], [6])
    [[5, 6]]
    """
    return [[*row, item] for row, item in zip(matrix, column, strict=True)]


@cases(1, ([[1, 2], [3, 4]],), ([],), ([[5]],), ([[1, 2, 3]],), ([[0, 9], [8, 7], [6, 5]],))
def drop_first_column(matrix: list[list[int]]) -> list[list[int]]:
    """Return the matrix without the first item of each row.

    >>> drop_first_column([[1, 2, 3], [4, 5, 6]])
    [[2, 3], [5, 6]]
    >>> drop_first_column([[7, 8]])
    [[8]]
    """
    return [row[1:] for row in matrix]


@cases(1, ([[1, 2], [3, 4]],), ([],), ([[5]],), ([[0, 0, 3]],), ([[-1, 1], [2, 8], [9, -8]],))
def row_means(matrix: list[list[int]]) -> list[float]:
    """Return a list with the mean of each row as a float; no row is empty.

    >>> row_means([[2, 4], [1, 2]])
    [3.0, 1.5]
    >>> row_means([[6]])
    [6.0]
    """
    return [sum(row) / len(row) for row in matrix]


@cases(1, ([["a", "b"], ["c", "d"]],), ([],), ([["x"]],), ([["#", ".", "#"]],), ([["o"], ["k"], [""]],))
def grid_to_lines(grid: list[list[str]]) -> list[str]:
    """Return one string per row, made by joining the characters of the row.

    >>> grid_to_lines([["h", "i"], ["y", "o"]])
    ['hi', 'yo']
    >>> grid_to_lines([["c", "a", "t"]])
    ['cat']
    """
    return ["".join(row) for row in grid]


@cases(1, (["ab", "cd"],), ([],), (["x"],), (["#.#", "..."],), (["", "k"],))
def lines_to_grid(lines: list[str]) -> list[list[str]]:
    """Return one row per line, each row a list of the characters of the line.

    >>> lines_to_grid(["hi", "yo"])
    [['h', 'i'], ['y', 'o']]
    >>> lines_to_grid(["cat"])
    [['c', 'a', 't']]
    """
    return [list(line) for line in lines]


@cases(1, ([[2, 1], [4, 3]],), ([],), ([[5]],), ([[9, 0, 3]],), ([[1, 2], [8, -8], [0, 0]],))
def sort_each_row(matrix: list[list[int]]) -> list[list[int]]:
    """Return the matrix with the numbers of each row in increasing order; the rows stay in place.

    >>> sort_each_row([[3, 1], [2, 0]])
    [[1, 3], [0, 2]]
    >>> sort_each_row([[7, 8, 6]])
    [[6, 7, 8]]
    """
    return [sorted(row) for row in matrix]


@cases(1, ([[1, 2], [1, 3]], 1), ([], 4), ([[5, 5]], 5), ([[6], [7]], 8), ([[0, 1], [2, 0], [0, 0]], 0))
def count_rows_with(matrix: list[list[int]], value: int) -> int:
    """Return how many rows contain value at least once.

    >>> count_rows_with([[1, 2], [3, 4]], 4)
    1
    >>> count_rows_with([[6, 6], [6, 1]], 6)
    2
    """
    return sum(value in row for row in matrix)


@cases(2, ([[1, 2], [3, 4]],), ([],), ([[5]],), ([[1], [2], [3]],), ([[0, 0, 0, 0], [1, 1, 1, 1]],))
def rows_and_columns(matrix: list[list[int]]) -> list[int]:
    """Return [number of rows, number of columns]; an empty matrix gives [0, 0].

    >>> rows_and_columns([[1, 2, 3], [4, 5, 6]])
    [2, 3]
    >>> rows_and_columns([[7, 8]])
    [1, 2]
    """
    return [len(matrix), len(matrix[0]) if matrix else 0]


@cases(2, ([[1, 2], [3, 4]],), ([],), ([[5, 6]],), ([[1], [2], [3]],), ([[-1, 1, 0], [2, 8, 0]],))
def column_sums(matrix: list[list[int]]) -> list[int]:
    """Return a list with the sum of each column; an empty matrix gives [].

    >>> column_sums([[1, 1], [2, 3]])
    [3, 4]
    >>> column_sums([[4, 5, 6]])
    [4, 5, 6]
    """
    return [sum(column) for column in zip(*matrix, strict=True)]


@cases(
    2,
    ([[1], [2]], 0, 1),
    ([[5, 6]], 0, 0),
    ([[1], [2], [3]], 0, 2),
    ([[4, 4], [5, 5], [6, 6]], 2, 1),
    ([[7], [8], [9], [0]], 1, 3),
)
def swap_rows(matrix: list[list[int]], first: int, second: int) -> list[list[int]]:
    """Return the matrix with the rows at positions first and second exchanged.

    >>> swap_rows([[1, 1], [2, 2], [3, 3]], 0, 1)
    [[2, 2], [1, 1], [3, 3]]
    >>> swap_rows([[8], [9]], 1, 0)
    [[9], [8]]
    """
    result = list(matrix)
    result[first], result[second] = result[second], result[first]
    return result


@cases(2, ([[1, 2], [3, 4]],), ([],), ([[5]],), ([[0, 0, 1], [0, 2, 0], [3, 0, 0]],), ([[-1, 9], [8, -2]],))
def other_diagonal(matrix: list[list[int]]) -> list[int]:
    """Return the numbers on the diagonal from top right to bottom left of a square matrix.

    >>> other_diagonal([[1, 8], [9, 5]])
    [8, 9]
    >>> other_diagonal([[7]])
    [7]
    """
    return [row[len(matrix) - 1 - i] for i, row in enumerate(matrix)]


@cases(2, (0,), (1,), (4,), (5,), (6,))
def identity_matrix(size: int) -> list[list[int]]:
    """Return a square matrix of the given size with 1 on the main diagonal and 0 elsewhere.

    >>> identity_matrix(2)
    [[1, 0], [0, 1]]
    >>> identity_matrix(3)
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    return [[int(row == column) for column in range(size)] for row in range(size)]


@cases(
    2,
    ([[1, 2]], [[3, 4]]),
    ([], []),
    ([[5]], [[-5]]),
    ([[1], [2]], [[10], [20]]),
    ([[0, 1], [2, 3]], [[4, 4], [4, 4]]),
)
def add_matrices(left: list[list[int]], right: list[list[int]]) -> list[list[int]]:
    """Return the matrix of the sums of the numbers at equal places in two matrices of equal shape.

    >>> add_matrices([[1, 1], [1, 1]], [[1, 2], [3, 4]])
    [[2, 3], [4, 5]]
    >>> add_matrices([[6]], [[7]])
    [[13]]
    """
    return [[left[i][j] + right[i][j] for j in range(len(left[i]))] for i in range(len(left))]


@cases(2, ([[1, 2], [3, 4]],), ([],), ([[5, 6, 7]],), ([[1], [2]],), ([[1, 2, 3], [4, 5, 6]],))
def rotate_clockwise(grid: list[list[int]]) -> list[list[int]]:
    """Return the grid turned by 90 degrees clockwise: its first row becomes the last column.

    >>> rotate_clockwise([[1, 2], [5, 6], [8, 9]])
    [[8, 5, 1], [9, 6, 2]]
    >>> rotate_clockwise([[4, 3]])
    [[4], [3]]
    """
    return [list(column) for column in zip(*grid[::-1], strict=True)]


@cases(
    2,
    ([[1, 2], [3, 4]], [1, 1]),
    ([], [5]),
    ([[5]], [0]),
    ([[1, 0], [0, 1]], [7, -8]),
    ([[2, 3, 4]], [1, 2, 3]),
)
def matrix_times_vector(matrix: list[list[int]], vector: list[int]) -> list[int]:
    """Return for each row the sum of the products of its numbers with the numbers of vector.

    >>> matrix_times_vector([[1, 2], [3, 4]], [10, 1])
    [12, 34]
    >>> matrix_times_vector([[2, 2]], [3, 4])
    [14]
    """
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


@cases(
    2,
    ([[1, 2], [2, 1]],),
    ([],),
    ([[1, 2], [3, 4]],),
    ([[0, 1], [-1, 0]],),
    ([[9]],),
    ([[1, 2, 3], [2, 4, 5], [3, 6, 7]],),
)
def is_symmetric(matrix: list[list[int]]) -> bool:
    """Return True if a square matrix stays the same when rows and columns are exchanged.

    >>> is_symmetric([[5, 7], [7, 6]])
    True
    >>> is_symmetric([[5, 7], [8, 6]])
    False
    """
    return all(matrix[i][j] == matrix[j][i] for i in range(len(matrix)) for j in range(len(matrix)))


@cases(2, ([[1, 2], [3, 4]], 3), ([], 1), ([[5, 5], [5, 5]], 5), ([[0, 1, 9]], 9), ([[7], [8]], 6))
def find_cell(grid: list[list[int]], value: int) -> list[int] | None:
    """Return [row, column] of the first cell equal to value, searching row by row; None if missing.

    >>> find_cell([[4, 6], [6, 8]], 6)
    [0, 1]
    >>> find_cell([[1]], 2)
    None
    """
    for i, row in enumerate(grid):
        for j, item in enumerate(row):
            if item == value:
                return [i, j]
    return None


@cases(2, (0,), (1,), (4,), (5,), (6,))
def multiplication_table(size: int) -> list[list[int]]:
    """Return a square table in which row a and column b, both counted from 1, hold a times b.

    >>> multiplication_table(2)
    [[1, 2], [2, 4]]
    >>> multiplication_table(3)
    [[1, 2, 3], [2, 4, 6], [3, 6, 9]]
    """
    return [[row * column for column in range(1, size + 1)] for row in range(1, size + 1)]


@cases(2, (1, 1), (0, 4), (2, 2), (3, 2), (1, 5))
def checkerboard(rows: int, columns: int) -> list[list[int]]:
    """Return a grid of 0 and 1 that alternate along every row and column, with 0 at the top left.

    >>> checkerboard(2, 3)
    [[0, 1, 0], [1, 0, 1]]
    >>> checkerboard(1, 2)
    [[0, 1]]
    """
    return [[(row + column) % 2 for column in range(columns)] for row in range(rows)]


@cases(2, ([1, 2, 3, 4], 2), ([], 3), ([5], 1), ([1, 2, 3, 4, 5, 6], 3), ([7, 8, 9], 1))
def list_to_rows(items: list[int], width: int) -> list[list[int]]:
    """Return the items as rows of width items each; the number of items is a multiple of width.

    >>> list_to_rows([1, 2, 3, 4, 5, 6], 2)
    [[1, 2], [3, 4], [5, 6]]
    >>> list_to_rows([8, 9], 2)
    [[8, 9]]
    """
    return [items[start : start + width] for start in range(0, len(items), width)]


@cases(2, ([[1, 2], [3, 4]],), ([[5]],), ([[9, 9], [0, 1]],), ([[1], [1]],), ([[-5, 0], [-1, -1], [2, 2]],))
def row_with_largest_sum(matrix: list[list[int]]) -> int:
    """Return the position of the row with the largest sum, the first one on a tie; there is a row.

    >>> row_with_largest_sum([[1, 1], [5, 0], [2, 2]])
    1
    >>> row_with_largest_sum([[3], [2]])
    0
    """
    sums = [sum(row) for row in matrix]
    return sums.index(max(sums))


@cases(2, (1, 3), (0, 2), (3, 1), (2, 2), (3, 3))
def counting_grid(rows: int, columns: int) -> list[list[int]]:
    """Return a grid filled row by row with 1, 2, 3 and so on.

    >>> counting_grid(2, 3)
    [[1, 2, 3], [4, 5, 6]]
    >>> counting_grid(2, 1)
    [[1], [2]]
    """
    return [[row * columns + column + 1 for column in range(columns)] for row in range(rows)]


@cases(
    2,
    ([[1, 2], [3, 4]], 1, 1),
    ([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 2, 2),
    ([[5]], 0, 1),
    ([[6, 7]], 1, 2),
    ([[1, 2, 3], [4, 5, 6]], 2, 1),
)
def top_left_block(grid: list[list[int]], rows: int, columns: int) -> list[list[int]]:
    """Return the first columns items of each of the first rows rows of the grid.

    >>> top_left_block([[1, 2, 3], [4, 5, 6]], 1, 2)
    [[1, 2]]
    >>> top_left_block([[7, 8], [9, 0]], 2, 1)
    [[7], [9]]
    """
    return [row[:columns] for row in grid[:rows]]


@cases(
    3,
    ([[1]], [[5]]),
    ([[1, 2], [3, 4]], [[1, 0], [0, 1]]),
    ([[1, 2]], [[3], [4]]),
    ([[2], [3]], [[4, 5]]),
    ([[0, 1], [1, 0]], [[7, 8], [9, -9]]),
)
def multiply_matrices(left: list[list[int]], right: list[list[int]]) -> list[list[int]]:
    """Return the matrix product of left and right.

    The cell in row i and column j is the sum of the products of row i of left and column j of right.

    >>> multiply_matrices([[1, 2], [3, 4]], [[2, 0], [1, 1]])
    [[4, 2], [10, 4]]
    >>> multiply_matrices([[3]], [[4]])
    [[12]]
    """
    columns = list(zip(*right, strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left]


@cases(
    3,
    ([[1, 1], [1, 1]], 0, 0),
    ([[5]], 0, 0),
    ([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 1, 1),
    ([[1, 2, 3]], 0, 2),
    ([[1, 2], [3, 4], [5, 6]], 1, 0),
)
def sum_of_side_neighbours(grid: list[list[int]], row: int, column: int) -> int:
    """Return the sum of the cells directly above, below, left and right of the given cell.

    Places outside the grid count as 0.

    >>> sum_of_side_neighbours([[1, 2], [3, 4]], 0, 0)
    5
    >>> sum_of_side_neighbours([[7, 8, 9]], 0, 1)
    16
    """
    total = 0
    for i, j in [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]:
        if 0 <= i < len(grid) and 0 <= j < len(grid[0]):
            total += grid[i][j]
    return total


@cases(3, ([[1, 2], [3, 4]],), ([],), ([[5]],), ([[1, 2, 3], [4, 50, 6], [7, 8, 9]],), ([[1], [2], [3]],))
def border_sum(grid: list[list[int]]) -> int:
    """Return the sum of all cells in the first or last row or the first or last column.

    Each cell counts once, and an empty grid gives 0.

    >>> border_sum([[1, 1, 1], [1, 9, 1], [1, 1, 1]])
    8
    >>> border_sum([[2, 3, 4]])
    9
    """
    total = 0
    for i, row in enumerate(grid):
        for j, cell in enumerate(row):
            if i in (0, len(grid) - 1) or j in (0, len(row) - 1):
                total += cell
    return total


@cases(3, ([[1, 2], [3, 4]],), ([],), ([[5, 6]],), ([[1], [2], [3]],), ([[1, 2, 3], [4, 5, 6], [7, 8, 9]],))
def snake_order(grid: list[list[int]]) -> list[int]:
    """Return all cells row by row, the first row from left to right, the next from right to left,
    and so on by turns.

    >>> snake_order([[1, 2, 3], [4, 5, 6]])
    [1, 2, 3, 6, 5, 4]
    >>> snake_order([[7, 8], [9, 0], [1, 2]])
    [7, 8, 0, 9, 1, 2]
    """
    path = []
    for number, row in enumerate(grid):
        path += row if number % 2 == 0 else row[::-1]
    return path
