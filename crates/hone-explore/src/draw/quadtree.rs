//! Repulsion among many points by a quadtree (Barnes and Hut 1986): points far away act as one.
//!
//! Building takes O(N log N), the force on a point O(log N) steps. The tree is built in node order by one thread, and
//! every force is summed in the order of the tree, so the result does not depend on the number of threads.

/// A point of the plane.
pub(super) type Point = [f64; 2];

/// A cell is taken as one point when it is smaller than this share of its distance.
const OPENING: f64 = 0.6;
/// Points closer than any two of 64 halvings apart share a cell.
const DEPTH: u32 = 48;

/// A square cell: its points' number and centre, and its four quarters or its only point.
#[derive(Debug, Clone)]
struct Cell {
    /// Sum of the points; divided by `count` it is their centre.
    sum: Point,
    count: f64,
    /// Index of the first of four quarters; 0 for a leaf.
    quarters: u32,
    /// Width of the cell.
    width: f64,
    /// Lower left corner.
    corner: Point,
}

/// The tree over some points.
#[derive(Debug)]
pub(super) struct Quadtree {
    cells: Vec<Cell>,
}

impl Quadtree {
    pub(super) fn new(points: &[Point]) -> Self {
        let bound = |pick: fn(f64, f64) -> f64, start: f64, axis: usize| {
            points.iter().map(|p| p[axis]).fold(start, pick)
        };
        let low = [0, 1].map(|axis| bound(f64::min, f64::INFINITY, axis));
        let high = [0, 1].map(|axis| bound(f64::max, f64::NEG_INFINITY, axis));
        let width = (high[0] - low[0])
            .max(high[1] - low[1])
            .max(f64::MIN_POSITIVE)
            * 1.000_001;
        let root = Cell {
            sum: [0.0; 2],
            count: 0.0,
            quarters: 0,
            width,
            corner: low,
        };
        let mut tree = Quadtree { cells: vec![root] };
        points.iter().for_each(|&point| tree.insert(point));
        tree
    }

    fn insert(&mut self, point: Point) {
        let (mut at, mut depth) = (0, 0);
        loop {
            let occupied = self.cells[at].count > 0.0;
            if self.cells[at].quarters == 0 && occupied && depth < DEPTH {
                self.divide(at);
            }
            let cell = &mut self.cells[at];
            cell.sum = [cell.sum[0] + point[0], cell.sum[1] + point[1]];
            cell.count += 1.0;
            if cell.quarters == 0 {
                return;
            }
            at = cell.quarters as usize + quarter(cell, point);
            depth += 1;
        }
    }

    /// Gives a leaf four quarters and moves its points to one of them.
    fn divide(&mut self, at: usize) {
        let Cell {
            sum,
            count,
            width,
            corner,
            ..
        } = self.cells[at];
        let first = self.cells.len();
        for k in 0..4 {
            let half = width / 2.0;
            let corner = [
                corner[0] + half * f64::from(k % 2),
                corner[1] + half * f64::from(k / 2),
            ];
            self.cells.push(Cell {
                sum: [0.0; 2],
                count: 0.0,
                quarters: 0,
                width: half,
                corner,
            });
        }
        self.cells[at].quarters = u32::try_from(first).expect("a drawing has far fewer points");
        let home = first + quarter(&self.cells[at], [sum[0] / count, sum[1] / count]);
        (self.cells[home].sum, self.cells[home].count) = (sum, count);
    }

    /// The sum over all other points of (p − q) / |p − q|³, at the precision of the opening angle.
    pub(super) fn repulsion(&self, point: Point, stack: &mut Vec<u32>) -> Point {
        let mut force = [0.0; 2];
        stack.clear();
        stack.push(0);
        while let Some(at) = stack.pop() {
            let cell = &self.cells[at as usize];
            if cell.count == 0.0 {
                continue;
            }
            let away = [
                point[0] - cell.sum[0] / cell.count,
                point[1] - cell.sum[1] / cell.count,
            ];
            let square = away[0] * away[0] + away[1] * away[1];
            if cell.quarters == 0 || cell.width * cell.width < OPENING * OPENING * square {
                if square > 0.0 {
                    let weight = cell.count / (square * square.sqrt());
                    force = [force[0] + weight * away[0], force[1] + weight * away[1]];
                }
            } else {
                stack.extend((0..4).map(|k| cell.quarters + k));
            }
        }
        force
    }
}

fn quarter(cell: &Cell, point: Point) -> usize {
    let half = cell.width / 2.0;
    usize::from(point[0] >= cell.corner[0] + half)
        + 2 * usize::from(point[1] >= cell.corner[1] + half)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum as it is written down.
    fn exact(points: &[Point], point: Point) -> Point {
        let mut force = [0.0; 2];
        for q in points {
            let away = [point[0] - q[0], point[1] - q[1]];
            let square = away[0].powi(2) + away[1].powi(2);
            if square > 0.0 {
                force = [
                    force[0] + away[0] / square.powf(1.5),
                    force[1] + away[1] / square.powf(1.5),
                ];
            }
        }
        force
    }

    #[test]
    fn forces_are_nearly_exact() {
        let points: Vec<Point> = (0..500u32)
            .map(|i| {
                [
                    f64::from(i * 7919 % 1009) / 100.0,
                    f64::from(i * 104_729 % 997) / 150.0,
                ]
            })
            .collect();
        let tree = Quadtree::new(&points);
        let (mut error, mut size) = (0.0, 0.0);
        for &point in &points {
            let (a, b) = (
                tree.repulsion(point, &mut Vec::new()),
                exact(&points, point),
            );
            error += (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
            size += b[0].powi(2) + b[1].powi(2);
        }
        assert!(
            (error / size).sqrt() < 0.08,
            "relative error {}",
            (error / size).sqrt()
        );
    }

    #[test]
    fn points_on_top_of_each_other_are_no_trouble() {
        let tree = Quadtree::new(&[[1.0, 1.0]; 20]);
        assert_eq!(tree.repulsion([1.0, 1.0], &mut Vec::new()), [0.0; 2]);
        let push = tree.repulsion([2.0, 1.0], &mut Vec::new());
        assert!((push[0] - 20.0).abs() < 1e-9 && push[1].abs() < 1e-9);
        assert_eq!(
            Quadtree::new(&[]).repulsion([0.0; 2], &mut Vec::new()),
            [0.0; 2]
        );
    }
}
