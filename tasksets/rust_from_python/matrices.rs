//! Matrices: Rust for the tasks of python-functions.

pub fn row_sums(matrix: &[Vec<i64>]) -> Vec<i64> {
    matrix.iter().map(|row| row.iter().sum()).collect()
}

pub fn get_column(matrix: &[Vec<i64>], column: usize) -> Vec<i64> {
    matrix.iter().map(|row| row[column]).collect()
}

pub fn matrix_total(matrix: &[Vec<i64>]) -> i64 {
    matrix.iter().flatten().sum()
}

pub fn zero_grid(rows: usize, columns: usize) -> Vec<Vec<i64>> {
    vec![vec![0; columns]; rows]
}

pub fn flip_upside_down(grid: &[Vec<i64>]) -> Vec<Vec<i64>> {
    grid.iter().rev().cloned().collect()
}

pub fn mirror_rows(grid: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut mirrored = grid.to_vec();
    for row in &mut mirrored {
        row.reverse();
    }
    mirrored
}

/// Return the matrix with rows and columns exchanged; an empty matrix gives an empty one.
pub fn transpose(matrix: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let columns = matrix.first().map_or(0, Vec::len);
    (0..columns)
        .map(|column| matrix.iter().map(|row| row[column]).collect())
        .collect()
}

pub fn scale_matrix(matrix: &[Vec<i64>], factor: i64) -> Vec<Vec<i64>> {
    matrix
        .iter()
        .map(|row| row.iter().map(|number| number * factor).collect())
        .collect()
}

pub fn matrix_to_list(matrix: &[Vec<i64>]) -> Vec<i64> {
    matrix.concat()
}

pub fn main_diagonal(matrix: &[Vec<i64>]) -> Vec<i64> {
    matrix.iter().enumerate().map(|(i, row)| row[i]).collect()
}

pub fn largest_cell(matrix: &[Vec<i64>]) -> i64 {
    let mut largest = matrix[0][0];
    for row in matrix {
        for &number in row {
            if number > largest {
                largest = number;
            }
        }
    }
    largest
}

pub fn largest_of_each_row(matrix: &[Vec<i64>]) -> Vec<i64> {
    matrix
        .iter()
        .filter_map(|row| row.iter().copied().max())
        .collect()
}

pub fn count_cells(grid: &[Vec<i64>]) -> usize {
    grid.iter().map(Vec::len).sum()
}

/// Return true if every row has as many items as there are rows; an empty matrix gives true.
pub fn is_square(matrix: &[Vec<i64>]) -> bool {
    matrix.iter().all(|row| row.len() == matrix.len())
}

/// Return true if some row of the grid contains value.
pub fn grid_contains(grid: &[Vec<i64>], value: i64) -> bool {
    grid.iter().any(|row| row.contains(&value))
}

pub fn count_in_grid(grid: &[Vec<&str>], value: &str) -> usize {
    let mut count = 0;
    for row in grid {
        for &cell in row {
            if cell == value {
                count += 1;
            }
        }
    }
    count
}

pub fn bottom_right_cell(grid: &[Vec<i64>]) -> i64 {
    let last_row = &grid[grid.len() - 1];
    last_row[last_row.len() - 1]
}

pub fn row_lengths(rows: &[Vec<i64>]) -> Vec<usize> {
    rows.iter().map(|row| row.len()).collect()
}

pub fn append_column(matrix: &[Vec<i64>], column: &[i64]) -> Vec<Vec<i64>> {
    let mut wider = matrix.to_vec();
    for (row, &item) in wider.iter_mut().zip(column) {
        row.push(item);
    }
    wider
}

pub fn drop_first_column(matrix: &[Vec<i64>]) -> Vec<Vec<i64>> {
    matrix.iter().map(|row| row[1..].to_vec()).collect()
}

/// Return the mean of each row as a floating-point number; no row is empty.
pub fn row_means(matrix: &[Vec<i64>]) -> Vec<f64> {
    let mut means = Vec::new();
    for row in matrix {
        let sum: i64 = row.iter().sum();
        means.push(sum as f64 / row.len() as f64);
    }
    means
}

pub fn grid_to_lines(grid: &[Vec<&str>]) -> Vec<String> {
    grid.iter().map(|row| row.concat()).collect()
}

pub fn lines_to_grid(lines: &[&str]) -> Vec<Vec<char>> {
    lines.iter().map(|line| line.chars().collect()).collect()
}

pub fn sort_each_row(matrix: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut sorted = matrix.to_vec();
    sorted.iter_mut().for_each(|row| row.sort_unstable());
    sorted
}

pub fn count_rows_with(matrix: &[Vec<i64>], value: i64) -> usize {
    matrix.iter().filter(|row| row.contains(&value)).count()
}

/// Return (number of rows, number of columns); an empty matrix gives (0, 0).
pub fn rows_and_columns(matrix: &[Vec<i64>]) -> (usize, usize) {
    match matrix.first() {
        Some(row) => (matrix.len(), row.len()),
        None => (0, 0),
    }
}

/// Return the sum of each column, from left to right; an empty matrix gives no sums.
pub fn column_sums(matrix: &[Vec<i64>]) -> Vec<i64> {
    let Some(first) = matrix.first() else {
        return Vec::new();
    };
    let mut sums = vec![0; first.len()];
    for row in matrix {
        for (sum, number) in sums.iter_mut().zip(row) {
            *sum += number;
        }
    }
    sums
}

pub fn swap_rows(matrix: &[Vec<i64>], first: usize, second: usize) -> Vec<Vec<i64>> {
    let mut result = matrix.to_vec();
    result.swap(first, second);
    result
}

pub fn other_diagonal(matrix: &[Vec<i64>]) -> Vec<i64> {
    let columns = (0..matrix.len()).rev();
    matrix
        .iter()
        .zip(columns)
        .map(|(row, column)| row[column])
        .collect()
}

pub fn identity_matrix(size: usize) -> Vec<Vec<i64>> {
    let mut matrix = vec![vec![0; size]; size];
    for (i, row) in matrix.iter_mut().enumerate() {
        row[i] = 1;
    }
    matrix
}

pub fn add_matrices(left: &[Vec<i64>], right: &[Vec<i64>]) -> Vec<Vec<i64>> {
    left.iter()
        .zip(right)
        .map(|(a, b)| a.iter().zip(b).map(|(x, y)| x + y).collect())
        .collect()
}

pub fn rotate_clockwise(grid: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let columns = grid.first().map_or(0, |row| row.len());
    let mut turned = Vec::with_capacity(columns);
    for column in 0..columns {
        turned.push(grid.iter().rev().map(|row| row[column]).collect());
    }
    turned
}

pub fn matrix_times_vector(matrix: &[Vec<i64>], vector: &[i64]) -> Vec<i64> {
    matrix
        .iter()
        .map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
        .collect()
}

/// Return true if a square matrix stays the same when rows and columns are exchanged.
pub fn is_symmetric(matrix: &[Vec<i64>]) -> bool {
    let size = matrix.len();
    (0..size).all(|i| (0..i).all(|j| matrix[i][j] == matrix[j][i]))
}

/// Return the row and the column, as Some((row, column)), of the first cell equal to value,
/// searching row by row. Return None if there is no such cell.
pub fn find_cell(grid: &[Vec<i64>], value: i64) -> Option<(usize, usize)> {
    for (i, row) in grid.iter().enumerate() {
        if let Some(j) = row.iter().position(|&item| item == value) {
            return Some((i, j));
        }
    }
    None
}

pub fn multiplication_table(size: u64) -> Vec<Vec<u64>> {
    (1..=size)
        .map(|row| (1..=size).map(|column| row * column).collect())
        .collect()
}

pub fn checkerboard(rows: usize, columns: usize) -> Vec<Vec<u8>> {
    let mut grid = vec![vec![0; columns]; rows];
    for (i, row) in grid.iter_mut().enumerate() {
        for (j, cell) in row.iter_mut().enumerate() {
            if (i + j) % 2 == 1 {
                *cell = 1;
            }
        }
    }
    grid
}

pub fn list_to_rows(items: &[i64], width: usize) -> Vec<Vec<i64>> {
    items.chunks(width).map(|chunk| chunk.to_vec()).collect()
}

pub fn row_with_largest_sum(matrix: &[Vec<i64>]) -> usize {
    let sums: Vec<i64> = matrix.iter().map(|row| row.iter().sum()).collect();
    let mut best = 0;
    for (position, &sum) in sums.iter().enumerate() {
        if sum > sums[best] {
            best = position;
        }
    }
    best
}

pub fn counting_grid(rows: usize, columns: usize) -> Vec<Vec<usize>> {
    (0..rows)
        .map(|row| (row * columns + 1..=(row + 1) * columns).collect())
        .collect()
}

pub fn top_left_block(grid: &[Vec<i64>], rows: usize, columns: usize) -> Vec<Vec<i64>> {
    grid.iter()
        .take(rows)
        .map(|row| row.iter().copied().take(columns).collect())
        .collect()
}

pub fn multiply_matrices(left: &[Vec<i64>], right: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let columns = right.first().map_or(0, Vec::len);
    let mut product = vec![vec![0; columns]; left.len()];
    for (i, row) in left.iter().enumerate() {
        for (a, right_row) in row.iter().zip(right) {
            for (j, b) in right_row.iter().enumerate() {
                product[i][j] += a * b;
            }
        }
    }
    product
}

pub fn sum_of_side_neighbours(grid: &[Vec<i64>], row: usize, column: usize) -> i64 {
    let mut total = 0;
    if row > 0 {
        total += grid[row - 1][column];
    }
    if row + 1 < grid.len() {
        total += grid[row + 1][column];
    }
    if column > 0 {
        total += grid[row][column - 1];
    }
    if column + 1 < grid[row].len() {
        total += grid[row][column + 1];
    }
    total
}

pub fn border_sum(grid: &[Vec<i64>]) -> i64 {
    match grid {
        [] => 0,
        [only] => only.iter().sum(),
        [first, inner @ .., last] => {
            let mut total: i64 = first.iter().sum();
            total += last.iter().sum::<i64>();
            for row in inner {
                total += match row.as_slice() {
                    [] => 0,
                    [only] => *only,
                    [left, .., right] => left + right,
                };
            }
            total
        }
    }
}

pub fn snake_order(grid: &[Vec<i64>]) -> Vec<i64> {
    let mut path = Vec::new();
    for (number, row) in grid.iter().enumerate() {
        if number % 2 == 0 {
            path.extend(row);
        } else {
            path.extend(row.iter().rev());
        }
    }
    path
}
