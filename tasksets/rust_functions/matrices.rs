//! Matrices: rows of rows, walked by row, by column and by diagonal.

pub mod cell_at {
    //! Level 1. Return the number in the given row and column; both are counted from 0 and lie within
    //! the matrix.
    //!
    //! cell_at(&[vec![1, 2], vec![3, 4]], 1, 0) == 3

    pub fn cell_at(matrix: &[Vec<i32>], row: usize, column: usize) -> i32 {
        matrix[row][column]
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(cell_at(&[vec![1, 2], vec![3, 4]], 1, 0), 3);
        }

        #[test]
        fn square() {
            let m = [vec![1, 2], vec![3, 4]];
            assert_eq!(cell_at(&m, 0, 0), 1);
            assert_eq!(cell_at(&m, 0, 1), 2);
            assert_eq!(cell_at(&m, 1, 1), 4);
        }

        #[test]
        fn wide() {
            let m = [vec![5, 6, 7]];
            assert_eq!(cell_at(&m, 0, 2), 7);
            assert_eq!(cell_at(&m, 0, 1), 6);
            assert_eq!(cell_at(&[vec![0], vec![-9]], 1, 0), -9);
        }
    }
}

pub mod matrix_sum {
    //! Level 1. Return the sum of all numbers of the matrix.
    //!
    //! matrix_sum(&[vec![1, 2], vec![3, 4]]) == 10

    pub fn matrix_sum(matrix: &[Vec<i32>]) -> i32 {
        matrix.iter().flatten().sum()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(matrix_sum(&[vec![1, 2], vec![3, 4]]), 10);
        }

        #[test]
        fn usual() {
            assert_eq!(matrix_sum(&[vec![5]]), 5);
            assert_eq!(matrix_sum(&[vec![1, -1], vec![2, 3]]), 5);
            assert_eq!(matrix_sum(&[vec![1], vec![2], vec![3]]), 6);
        }

        #[test]
        fn edges() {
            assert_eq!(matrix_sum(&[]), 0);
            assert_eq!(matrix_sum(&[vec![], vec![]]), 0);
            assert_eq!(matrix_sum(&vec![vec![1; 50]; 20]), 1000);
        }
    }
}

pub mod zero_matrix {
    //! Level 1. Return a matrix of zeros with the given number of rows and columns.
    //!
    //! zero_matrix(2, 3) == [[0, 0, 0], [0, 0, 0]]

    pub fn zero_matrix(rows: usize, columns: usize) -> Vec<Vec<i32>> {
        vec![vec![0; columns]; rows]
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(zero_matrix(2, 3), [[0, 0, 0], [0, 0, 0]]);
        }

        #[test]
        fn usual() {
            assert_eq!(zero_matrix(1, 1), [[0]]);
            assert_eq!(zero_matrix(3, 1), [[0], [0], [0]]);
            assert_eq!(zero_matrix(1, 2), [[0, 0]]);
        }

        #[test]
        fn edges() {
            assert_eq!(zero_matrix(0, 4), Vec::<Vec<i32>>::new());
            assert_eq!(zero_matrix(2, 0), vec![Vec::<i32>::new(); 2]);
            assert_eq!(zero_matrix(40, 30).concat().len(), 1200);
        }
    }
}

pub mod row_sums {
    //! Level 1. Return the sum of each row.
    //!
    //! row_sums(&[vec![1, 2], vec![3, 4]]) == [3, 7]

    pub fn row_sums(matrix: &[Vec<i32>]) -> Vec<i32> {
        matrix.iter().map(|row| row.iter().sum()).collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(row_sums(&[vec![1, 2], vec![3, 4]]), [3, 7]);
        }

        #[test]
        fn usual() {
            assert_eq!(row_sums(&[vec![5, 5, 5]]), [15]);
            assert_eq!(row_sums(&[vec![1], vec![2], vec![-3]]), [1, 2, -3]);
        }

        #[test]
        fn edges() {
            assert_eq!(row_sums(&[]), Vec::<i32>::new());
            assert_eq!(row_sums(&[vec![], vec![4]]), [0, 4]);
            assert_eq!(row_sums(&vec![vec![2; 10]; 3]), [20; 3]);
        }
    }
}

pub mod column_sum {
    //! Level 2. Return the sum of the numbers in one column, counted from 0. Rows that are too short for
    //! it are skipped.
    //!
    //! column_sum(&[vec![1, 2], vec![3, 4]], 1) == 6

    pub fn column_sum(matrix: &[Vec<i32>], column: usize) -> i32 {
        matrix.iter().filter_map(|row| row.get(column)).sum()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(column_sum(&[vec![1, 2], vec![3, 4]], 1), 6);
        }

        #[test]
        fn usual() {
            assert_eq!(column_sum(&[vec![1, 2], vec![3, 4]], 0), 4);
            assert_eq!(column_sum(&[vec![7, 8, 9]], 2), 9);
            assert_eq!(column_sum(&[vec![1], vec![-1], vec![5]], 0), 5);
        }

        #[test]
        fn edges() {
            assert_eq!(column_sum(&[], 0), 0);
            assert_eq!(column_sum(&[vec![1, 2], vec![3]], 1), 2);
            assert_eq!(column_sum(&[vec![1, 2]], 2), 0);
        }
    }
}

pub mod transposed {
    //! Level 2. Return the matrix with rows and columns exchanged. All rows are equally long.
    //!
    //! transposed(&[vec![1, 2, 3], vec![4, 5, 6]]) == [[1, 4], [2, 5], [3, 6]]

    pub fn transposed(matrix: &[Vec<i32>]) -> Vec<Vec<i32>> {
        let columns = matrix.first().map_or(0, Vec::len);
        (0..columns)
            .map(|column| matrix.iter().map(|row| row[column]).collect())
            .collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                transposed(&[vec![1, 2, 3], vec![4, 5, 6]]),
                [[1, 4], [2, 5], [3, 6]]
            );
        }

        #[test]
        fn usual() {
            assert_eq!(transposed(&[vec![1, 2], vec![3, 4]]), [[1, 3], [2, 4]]);
            assert_eq!(transposed(&[vec![7, 8]]), [[7], [8]]);
            assert_eq!(transposed(&[vec![7], vec![8]]), [[7, 8]]);
        }

        #[test]
        fn edges() {
            assert_eq!(transposed(&[]), Vec::<Vec<i32>>::new());
            assert_eq!(transposed(&[vec![9]]), [[9]]);
        }
    }
}

pub mod trace_of {
    //! Level 2. Return the sum of the numbers on the main diagonal of a square matrix.
    //!
    //! trace_of(&[vec![1, 2], vec![3, 4]]) == 5

    pub fn trace_of(matrix: &[Vec<i32>]) -> i32 {
        matrix.iter().enumerate().map(|(i, row)| row[i]).sum()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(trace_of(&[vec![1, 2], vec![3, 4]]), 5);
        }

        #[test]
        fn usual() {
            assert_eq!(trace_of(&[vec![6]]), 6);
            assert_eq!(trace_of(&[vec![1, 0, 9], vec![0, 2, 0], vec![9, 0, 3]]), 6);
            assert_eq!(trace_of(&[vec![-1, 5], vec![5, 1]]), 0);
        }

        #[test]
        fn edges() {
            assert_eq!(trace_of(&[]), 0);
            assert_eq!(trace_of(&vec![vec![1; 30]; 30]), 30);
            assert_eq!(trace_of(&[vec![0, 7], vec![8, 0]]), 0);
        }
    }
}

pub mod identity_matrix {
    //! Level 2. Return the square matrix of the given size with ones on the main diagonal and zeros
    //! elsewhere.
    //!
    //! identity_matrix(2) == [[1, 0], [0, 1]]

    pub fn identity_matrix(size: usize) -> Vec<Vec<i32>> {
        (0..size)
            .map(|row| (0..size).map(|column| i32::from(row == column)).collect())
            .collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(identity_matrix(2), [[1, 0], [0, 1]]);
        }

        #[test]
        fn usual() {
            assert_eq!(identity_matrix(1), [[1]]);
            assert_eq!(identity_matrix(3), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]);
        }

        #[test]
        fn edges() {
            assert_eq!(identity_matrix(0), Vec::<Vec<i32>>::new());
            assert_eq!(identity_matrix(25).concat().iter().sum::<i32>(), 25);
            assert_eq!(identity_matrix(25)[24][24], 1);
        }
    }
}

pub mod flip_rows {
    //! Level 2. Return each row from right to left, as in a mirror that stands beside the matrix.
    //!
    //! flip_rows(vec![vec![1, 2], vec![3, 4]]) == [[2, 1], [4, 3]]

    pub fn flip_rows(mut matrix: Vec<Vec<i32>>) -> Vec<Vec<i32>> {
        for row in &mut matrix {
            row.reverse();
        }
        matrix
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(flip_rows(vec![vec![1, 2], vec![3, 4]]), [[2, 1], [4, 3]]);
        }

        #[test]
        fn usual() {
            assert_eq!(flip_rows(vec![vec![1, 2, 3]]), [[3, 2, 1]]);
            assert_eq!(flip_rows(vec![vec![1], vec![2]]), [[1], [2]]);
            assert_eq!(flip_rows(vec![vec![0, 1], vec![1, 0]]), [[1, 0], [0, 1]]);
        }

        #[test]
        fn edges() {
            assert_eq!(flip_rows(vec![]), Vec::<Vec<i32>>::new());
            assert_eq!(flip_rows(vec![vec![], vec![5, 6]]), [vec![], vec![6, 5]]);
        }
    }
}

pub mod largest_cell {
    //! Level 2. Return the row and the column of the largest number, of equals the one that is read
    //! first. Return None if there is no number.
    //!
    //! largest_cell(&[vec![1, 9], vec![3, 4]]) == Some((0, 1))

    pub fn largest_cell(matrix: &[Vec<i32>]) -> Option<(usize, usize)> {
        let largest = matrix.iter().flatten().max()?;
        matrix.iter().enumerate().find_map(|(row, numbers)| {
            let column = numbers.iter().position(|n| n == largest)?;
            Some((row, column))
        })
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(largest_cell(&[vec![1, 9], vec![3, 4]]), Some((0, 1)));
        }

        #[test]
        fn usual() {
            assert_eq!(largest_cell(&[vec![1, 2], vec![3, 4]]), Some((1, 1)));
            assert_eq!(largest_cell(&[vec![-5], vec![-2], vec![-9]]), Some((1, 0)));
            assert_eq!(largest_cell(&[vec![1, 7], vec![7, 7]]), Some((0, 1)));
        }

        #[test]
        fn edges() {
            assert_eq!(largest_cell(&[]), None);
            assert_eq!(largest_cell(&[vec![], vec![]]), None);
            assert_eq!(largest_cell(&[vec![], vec![0]]), Some((1, 0)));
        }
    }
}

pub mod multiply_matrices {
    //! Level 3. Return the matrix product of a and b. The rows of a are as long as b has rows, and both
    //! have at least one row and one column.
    //!
    //! multiply_matrices(&[vec![1, 2], vec![3, 4]], &[vec![5, 6], vec![7, 8]]) == [[19, 22], [43, 50]]

    pub fn multiply_matrices(a: &[Vec<i64>], b: &[Vec<i64>]) -> Vec<Vec<i64>> {
        a.iter()
            .map(|row| {
                (0..b[0].len())
                    .map(|column| row.iter().zip(b).map(|(x, other)| x * other[column]).sum())
                    .collect()
            })
            .collect()
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                multiply_matrices(&[vec![1, 2], vec![3, 4]], &[vec![5, 6], vec![7, 8]]),
                [[19, 22], [43, 50]]
            );
        }

        #[test]
        fn small() {
            assert_eq!(multiply_matrices(&[vec![3]], &[vec![-4]]), [[-12]]);
            assert_eq!(
                multiply_matrices(&[vec![1, 0], vec![0, 1]], &[vec![7, 8], vec![9, 6]]),
                [[7, 8], [9, 6]]
            );
        }

        #[test]
        fn shapes() {
            assert_eq!(
                multiply_matrices(&[vec![1, 2, 3]], &[vec![4], vec![5], vec![6]]),
                [[32]]
            );
            assert_eq!(
                multiply_matrices(&[vec![1], vec![2]], &[vec![3, 4]]),
                [[3, 4], [6, 8]]
            );
        }

        #[test]
        fn order() {
            assert_eq!(
                multiply_matrices(&[vec![0, 1], vec![0, 0]], &[vec![0, 0], vec![1, 0]]),
                [[1, 0], [0, 0]]
            );
            assert_eq!(
                multiply_matrices(&[vec![0, 0], vec![1, 0]], &[vec![0, 1], vec![0, 0]]),
                [[0, 0], [0, 1]]
            );
        }
    }
}

pub mod spiral_order {
    //! Level 3. Walk through the matrix in a spiral: first row to the right, last column down, last row
    //! to the left, first column up, then inwards. Return the numbers in that order; all rows are
    //! equally long.
    //!
    //! spiral_order(&[vec![1, 2, 3], vec![4, 5, 6], vec![7, 8, 9]]) == [1, 2, 3, 6, 9, 8, 7, 4, 5]

    pub fn spiral_order(matrix: &[Vec<i32>]) -> Vec<i32> {
        let mut rest = matrix.to_vec();
        let mut result = Vec::new();
        while !rest.is_empty() {
            result.append(&mut rest.remove(0));
            let columns = rest.first().map_or(0, Vec::len);
            rest = (0..columns)
                .rev()
                .map(|column| rest.iter().map(|row| row[column]).collect())
                .collect();
        }
        result
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(
                spiral_order(&[vec![1, 2, 3], vec![4, 5, 6], vec![7, 8, 9]]),
                [1, 2, 3, 6, 9, 8, 7, 4, 5]
            );
        }

        #[test]
        fn small() {
            assert_eq!(spiral_order(&[]), Vec::<i32>::new());
            assert_eq!(spiral_order(&[vec![5]]), [5]);
            assert_eq!(spiral_order(&[vec![1, 2], vec![3, 4]]), [1, 2, 4, 3]);
        }

        #[test]
        fn flat() {
            assert_eq!(spiral_order(&[vec![1, 2, 3, 4]]), [1, 2, 3, 4]);
            assert_eq!(spiral_order(&[vec![1], vec![2], vec![3]]), [1, 2, 3]);
        }

        #[test]
        fn wide() {
            assert_eq!(
                spiral_order(&[vec![1, 2, 3, 4], vec![5, 6, 7, 8], vec![9, 10, 11, 12]]),
                [1, 2, 3, 4, 8, 12, 11, 10, 9, 5, 6, 7]
            );
        }
    }
}

pub mod count_islands {
    //! Level 3. Return how many groups of true cells there are. Cells belong together when they share a
    //! side; all rows are equally long.
    //!
    //! count_islands(&[vec![true, false], vec![false, true]]) == 2

    pub fn count_islands(map: &[Vec<bool>]) -> usize {
        let mut left = map.to_vec();
        let mut islands = 0;
        for row in 0..map.len() {
            for column in 0..map[row].len() {
                if left[row][column] {
                    islands += 1;
                    sink(&mut left, row, column);
                }
            }
        }
        islands
    }

    fn sink(map: &mut [Vec<bool>], row: usize, column: usize) {
        let cell = map.get_mut(row).and_then(|cells| cells.get_mut(column));
        if !cell.is_some_and(std::mem::take) {
            return;
        }
        sink(map, row + 1, column);
        sink(map, row, column + 1);
        sink(map, row.wrapping_sub(1), column);
        sink(map, row, column.wrapping_sub(1));
    }
    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn examples() {
            assert_eq!(count_islands(&[vec![true, false], vec![false, true]]), 2);
        }

        #[test]
        fn small() {
            assert_eq!(count_islands(&[]), 0);
            assert_eq!(count_islands(&[vec![false]]), 0);
            assert_eq!(count_islands(&[vec![true]]), 1);
            assert_eq!(count_islands(&[vec![true, false, true]]), 2);
        }

        #[test]
        fn joined() {
            assert_eq!(count_islands(&[vec![false, true], vec![true, true]]), 1);
            assert_eq!(count_islands(&[vec![true, true], vec![true, false]]), 1);
            assert_eq!(
                count_islands(&[vec![true, false, true], vec![true, true, true]]),
                1
            );
        }

        #[test]
        fn ring() {
            assert_eq!(
                count_islands(&[
                    vec![true, true, true],
                    vec![true, false, true],
                    vec![true, true, true]
                ]),
                1
            );
            assert_eq!(count_islands(&vec![vec![true; 15]; 15]), 1);
            assert_eq!(
                count_islands(&[vec![false, true], vec![true, false], vec![false, true]]),
                3
            );
        }
    }
}
