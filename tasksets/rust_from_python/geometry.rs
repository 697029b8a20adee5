//! Geometry: Rust for the tasks of python-functions.

pub fn rectangle_area(width: u64, height: u64) -> u64 {
    width * height
}

pub fn rectangle_perimeter(width: u64, height: u64) -> u64 {
    2 * (width + height)
}

/// Return the area of a triangle with the given base and height, as a floating-point number.
pub fn triangle_area(base: u32, height: u32) -> f64 {
    f64::from(base) * f64::from(height) / 2.0
}

pub fn box_volume(length: u64, width: u64, height: u64) -> u64 {
    [length, width, height].iter().product()
}

pub fn box_surface(length: u64, width: u64, height: u64) -> u64 {
    2 * (length * width + width * height + length * height)
}

/// Return true if a rectangle with the given width and height is a square, else false.
pub fn is_square_shape(width: u64, height: u64) -> bool {
    width == height
}

pub fn third_triangle_angle(a: u32, b: u32) -> u32 {
    180 - a - b
}

pub fn polygon_angle_sum(sides: u32) -> u32 {
    180 * (sides - 2)
}

pub fn grid_walk_distance(x1: i64, y1: i64, x2: i64, y2: i64) -> i64 {
    (x1 - x2).abs() + (y1 - y2).abs()
}

pub fn king_steps(x1: i64, y1: i64, x2: i64, y2: i64) -> u64 {
    x1.abs_diff(x2).max(y1.abs_diff(y2))
}

pub fn squared_distance(x1: i64, y1: i64, x2: i64, y2: i64) -> i64 {
    let dx = x1 - x2;
    let dy = y1 - y2;
    dx * dx + dy * dy
}

/// Return the point (x, y) with its two coordinates swapped.
pub fn swap_coordinates(point: (i64, i64)) -> (i64, i64) {
    let (x, y) = point;
    (y, x)
}

pub fn move_point(point: [i64; 2], step: [i64; 2]) -> [i64; 2] {
    [point[0] + step[0], point[1] + step[1]]
}

/// Return the point halfway between the points start and end, all of the form (x, y).
pub fn midpoint_of(start: (i64, i64), end: (i64, i64)) -> (f64, f64) {
    let x = (start.0 + end.0) as f64 / 2.0;
    let y = (start.1 + end.1) as f64 / 2.0;
    (x, y)
}

/// Return the point (x, y) mirrored at the vertical line x = 0, so that x changes its sign.
pub fn mirror_left_right(point: (i64, i64)) -> (i64, i64) {
    (-point.0, point.1)
}

pub fn quarter_turn_left(point: [i64; 2]) -> [i64; 2] {
    let [x, y] = point;
    [-y, x]
}

pub fn scale_point(point: &[i64], factor: i64) -> Vec<i64> {
    point.iter().map(|coordinate| coordinate * factor).collect()
}

pub fn normalize_angle(degrees: i64) -> i64 {
    degrees.rem_euclid(360)
}

/// Return true if the angle is less than 90 degrees, else false.
pub fn is_sharp_angle(degrees: u32) -> bool {
    degrees < 90
}

pub fn frame_area(outer_side: u64, inner_side: u64) -> u64 {
    outer_side.pow(2) - inner_side.pow(2)
}

/// Return true if the point (x, y) is at most radius away from (0, 0), else false.
pub fn is_inside_circle(x: i64, y: i64, radius: i64) -> bool {
    x * x + y * y <= radius * radius
}

/// Return the product of the first numbers plus the product of the second numbers of the (x, y)
/// pairs a and b.
pub fn dot_product_2d(a: (i64, i64), b: (i64, i64)) -> i64 {
    let (ax, ay) = a;
    let (bx, by) = b;
    ax * bx + ay * by
}

pub fn perimeter_from_sides(sides: &[u64]) -> u64 {
    sides.iter().sum()
}

pub fn grid_corner_points(columns: usize, rows: usize) -> usize {
    (columns + 1) * (rows + 1)
}

/// Return true if the points a and b, each (x, y), have the same x or the same y, else false.
pub fn on_a_grid_line(a: (i64, i64), b: (i64, i64)) -> bool {
    a.0 == b.0 || a.1 == b.1
}

/// Return true if a picture (width, height) fits into a frame (width, height), else false.
/// The picture may be turned by a quarter, and equal lengths fit.
pub fn picture_fits_frame(picture: (u32, u32), frame: (u32, u32)) -> bool {
    let fits = |width, height| width <= frame.0 && height <= frame.1;
    fits(picture.0, picture.1) || fits(picture.1, picture.0)
}

/// Return true if the square of the longest side is the sum of the squares of the other two, else
/// false.
pub fn has_right_angle(a: u64, b: u64, c: u64) -> bool {
    let mut sides = [a, b, c];
    sides.sort_unstable();
    let [short, middle, longest] = sides.map(|side| side * side);
    short + middle == longest
}

pub fn count_different_sides(a: u64, b: u64, c: u64) -> usize {
    use std::collections::HashSet;

    let lengths = HashSet::from([a, b, c]);
    lengths.len()
}

/// Return "sharp" for an angle below 90 degrees, "right" for exactly 90 and "blunt" for a larger
/// one.
pub fn angle_kind(degrees: u32) -> String {
    let kind = match degrees {
        0..=89 => "sharp",
        90 => "right",
        _ => "blunt",
    };
    kind.to_string()
}

/// Return the point (x, y) mirrored at an axis: y changes its sign for axis 'x', and x does for
/// axis 'y'.
pub fn mirror_at_axis(point: (i64, i64), axis: char) -> (i64, i64) {
    let (x, y) = point;
    if axis == 'x' {
        (x, -y)
    } else {
        (-x, y)
    }
}

/// Return [smallest x, smallest y, largest x, largest y] of the points [x, y]. There is at least
/// one point.
pub fn bounding_box(points: &[[i64; 2]]) -> [i64; 4] {
    let [mut left, mut bottom] = points[0];
    let [mut right, mut top] = points[0];
    for &[x, y] in &points[1..] {
        left = left.min(x);
        bottom = bottom.min(y);
        right = right.max(x);
        top = top.max(y);
    }
    [left, bottom, right, top]
}

pub fn overlap_length(start1: i64, end1: i64, start2: i64, end2: i64) -> i64 {
    let start = start1.max(start2);
    let end = end1.min(end2);
    (end - start).max(0)
}

/// Return true if the point (x, y) is in the rectangle from (0, 0) to (width, height), else false.
/// Points on the border count as inside.
pub fn is_inside_rectangle(x: i64, y: i64, width: i64, height: i64) -> bool {
    (0..=width).contains(&x) && (0..=height).contains(&y)
}

pub fn angle_between(a: i64, b: i64) -> i64 {
    let difference = (a - b).abs();
    difference.min(360 - difference)
}

/// Return the length of a path through the points (x, y), adding distances in x and in y.
/// Fewer than two points give 0.
pub fn grid_path_length(points: &[(i64, i64)]) -> i64 {
    points
        .windows(2)
        .map(|pair| (pair[0].0 - pair[1].0).abs() + (pair[0].1 - pair[1].1).abs())
        .sum()
}

/// Return the position (x, y) after starting at (0, 0) and following the moves.
/// 'N' adds 1 to y, 'S' takes 1 from y, 'E' adds 1 to x and 'W' takes 1 from x.
pub fn position_after_moves(moves: &str) -> (i64, i64) {
    let mut position = (0, 0);
    for step in moves.chars() {
        match step {
            'N' => position.1 += 1,
            'S' => position.1 -= 1,
            'E' => position.0 += 1,
            'W' => position.0 -= 1,
            _ => {}
        }
    }
    position
}

pub fn turn_right(direction: char, turns: usize) -> char {
    let order = ['N', 'E', 'S', 'W'];
    let start = order.iter().position(|&c| c == direction).unwrap_or(0);
    order[(start + turns) % order.len()]
}

/// Return the point (x, y) that is closest to (0, 0) in a straight line. There is at least one
/// point.
pub fn closest_to_origin(points: &[(i64, i64)]) -> (i64, i64) {
    let square = |(x, y): (i64, i64)| x * x + y * y;
    let mut closest = points[0];
    for &point in points {
        if square(point) < square(closest) {
            closest = point;
        }
    }
    closest
}

/// Return the sum of the areas of all rectangles, each given as (width, height). No rectangles
/// give 0.
pub fn total_rectangle_area(rectangles: &[(u64, u64)]) -> u64 {
    rectangles
        .iter()
        .map(|(width, height)| width * height)
        .sum()
}

pub fn whole_tiles_that_fit(width: u32, height: u32, tile_width: u32, tile_height: u32) -> u32 {
    let columns = width / tile_width;
    let rows = height / tile_height;
    columns * rows
}

pub fn staircase_blocks(steps: u64) -> Vec<u64> {
    (1..=steps)
        .scan(0, |total, step| {
            *total += step;
            Some(*total)
        })
        .collect()
}

/// Return the area of the polygon with the given corners (x, y) in order, as a floating-point
/// number. It is half the absolute value of the sum of x1 * y2 - x2 * y1 over all sides from
/// (x1, y1) to (x2, y2), where the last side goes back to the first corner.
pub fn polygon_area(corners: &[(i64, i64)]) -> f64 {
    let next_corners = corners.iter().cycle().skip(1);
    let total: i64 = corners
        .iter()
        .zip(next_corners)
        .map(|((x1, y1), (x2, y2))| x1 * y2 - x2 * y1)
        .sum();
    total.abs() as f64 / 2.0
}

pub fn robot_position(commands: &str) -> [i64; 2] {
    let (mut x, mut y) = (0, 0);
    let (mut dx, mut dy) = (0, 1);
    for command in commands.chars() {
        match command {
            'F' => {
                x += dx;
                y += dy;
            }
            'L' => (dx, dy) = (-dy, dx),
            _ => (dx, dy) = (dy, -dx),
        }
    }
    [x, y]
}

/// Return all (width, height) pairs with width * height equal to area and width not above height.
/// Pairs with a smaller width come first; an area of 0 gives no pairs.
pub fn rectangles_with_area(area: i64) -> Vec<(i64, i64)> {
    (1..=area)
        .take_while(|width| width * width <= area)
        .filter(|width| area % width == 0)
        .map(|width| (width, area / width))
        .collect()
}
