//! A first placement of a connected graph: distances to a few nodes, in two dimensions (PivotMDS).
//!
//! Breadth-first distances to at most 50 pivots, each the node farthest from those before it, are squared, double-centred
//! and projected to their two leading directions: classical scaling, with a sample of the columns. It shows the whole
//! graph at once, which forces alone reach only after many steps or never. O(50 (N + M)) time, O(50 N) memory.
//! Reference: Brandes and Pich, Eigensolver methods for progressive multidimensional scaling (2006).

use std::collections::VecDeque;

use super::quadtree::Point;

const PIVOTS: usize = 50;
/// Steps of the power iteration; the matrix is tiny and the picture needs no more digits.
const STEPS: usize = 200;

/// Coordinates of all nodes of a connected graph, given by its sorted neighbourhoods.
pub(super) fn place(neighbours: &[Vec<u32>]) -> Vec<Point> {
    let columns = centred(distances(neighbours));
    let gram = gram(&columns);
    let first = leading(&gram, &[]);
    let second = leading(&gram, std::slice::from_ref(&first));
    let project = |axis: &[f64], i: usize| {
        columns
            .iter()
            .zip(axis)
            .map(|(column, a)| column[i] * a)
            .sum()
    };
    (0..neighbours.len())
        .map(|i| [project(&first, i), project(&second, i)])
        .collect()
}

/// Distances to the pivots, a column each; the first pivot is the node of most neighbours.
fn distances(neighbours: &[Vec<u32>]) -> Vec<Vec<f64>> {
    let n = neighbours.len();
    let mut pivot = (0..n)
        .max_by_key(|&i| (neighbours[i].len(), std::cmp::Reverse(i)))
        .unwrap_or(0);
    let mut nearest = vec![u32::MAX; n];
    let mut columns = Vec::new();
    while columns.len() < PIVOTS.min(n) {
        let distance = breadth_first(neighbours, pivot);
        nearest
            .iter_mut()
            .zip(&distance)
            .for_each(|(near, &d)| *near = d.min(*near));
        columns.push(distance.into_iter().map(|d| f64::from(d).powi(2)).collect());
        pivot = (0..n)
            .max_by_key(|&i| (nearest[i], std::cmp::Reverse(i)))
            .unwrap_or(0);
    }
    columns
}

fn breadth_first(neighbours: &[Vec<u32>], start: usize) -> Vec<u32> {
    let mut distance = vec![u32::MAX; neighbours.len()];
    distance[start] = 0;
    let mut queue = VecDeque::from([start]);
    while let Some(u) = queue.pop_front() {
        for &v in &neighbours[u] {
            if distance[v as usize] == u32::MAX {
                distance[v as usize] = distance[u] + 1;
                queue.push_back(v as usize);
            }
        }
    }
    distance
}

/// Squared distances less the means of their row and column, times −½.
fn centred(mut columns: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let (n, k) = (
        columns.first().map_or(1, Vec::len) as f64,
        columns.len() as f64,
    );
    let of_column: Vec<f64> = columns
        .iter()
        .map(|column| column.iter().sum::<f64>() / n)
        .collect();
    let of_row: Vec<f64> = (0..n as usize)
        .map(|i| {
            columns
                .iter()
                .map(|column| column.get(i).unwrap_or(&0.0))
                .sum::<f64>()
                / k
        })
        .collect();
    let all = of_column.iter().sum::<f64>() / k;
    for (column, mean) in columns.iter_mut().zip(of_column) {
        column
            .iter_mut()
            .zip(&of_row)
            .for_each(|(value, row)| *value = -0.5 * (*value - mean - row + all));
    }
    columns
}

fn gram(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum();
    columns
        .iter()
        .map(|a| columns.iter().map(|b| dot(a, b)).collect())
        .collect()
}

/// The leading eigenvector of a symmetric matrix, orthogonal to those already known; zero if there is none.
fn leading(matrix: &[Vec<f64>], known: &[Vec<f64>]) -> Vec<f64> {
    let k = matrix.len();
    let mut vector: Vec<f64> = (0..k)
        .map(|i| 1.0 + 0.37 * ((i * i) % 7) as f64 - 0.11 * i as f64)
        .collect();
    for _ in 0..STEPS {
        for other in known {
            let overlap: f64 = vector.iter().zip(other).map(|(a, b)| a * b).sum();
            vector
                .iter_mut()
                .zip(other)
                .for_each(|(a, b)| *a -= overlap * b);
        }
        let next: Vec<f64> = matrix
            .iter()
            .map(|row| row.iter().zip(&vector).map(|(a, b)| a * b).sum())
            .collect();
        let length = next.iter().map(|v: &f64| v * v).sum::<f64>().sqrt();
        if length
            < 1e-9
                * matrix
                    .iter()
                    .flatten()
                    .fold(f64::MIN_POSITIVE, |m: f64, v| m.max(v.abs()))
        {
            return vec![0.0; k];
        }
        vector = next.into_iter().map(|v| v / length).collect();
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(n: u32) -> Vec<Vec<u32>> {
        (0..n).map(|i| vec![(i + n - 1) % n, (i + 1) % n]).collect()
    }

    #[test]
    fn a_path_is_a_line_and_a_ring_is_round() {
        let path: Vec<Vec<u32>> = (0..30u32)
            .map(|i| {
                (i.saturating_sub(1)..=(i + 1).min(29))
                    .filter(|&j| j != i)
                    .collect()
            })
            .collect();
        let line: Vec<f64> = place(&path).iter().map(|p| p[0]).collect();
        assert!(
            line.windows(2)
                .all(|w| (w[1] - w[0]).signum() == (line[1] - line[0]).signum()),
            "{line:?}"
        );
        let round = place(&ring(40));
        let radius: Vec<f64> = round
            .iter()
            .map(|p| (p[0].powi(2) + p[1].powi(2)).sqrt())
            .collect();
        let (low, high) = radius
            .iter()
            .fold((f64::MAX, 0.0f64), |(l, h), &r| (l.min(r), h.max(r)));
        assert!(high < 1.5 * low, "{low} {high}");
    }

    #[test]
    fn tiny_graphs_are_placed() {
        assert_eq!(place(&[vec![]]), [[0.0; 2]]);
        let two = place(&[vec![1], vec![0]]);
        assert!((two[0][0] - two[1][0]).abs() > 0.1, "{two:?}");
    }
}
