//! Conformance tests of a [`Space`]: one function that every implementation has to pass, and one for those with the
//! arithmetic of the host.
//!
//! [`check`]: operations are compared with naive loops in f64 that share no code with any space, within the bounds of
//! f32 products and f64 sums, on shapes that cross the limits of panels, lanes and chunks, on rows that are empty or
//! long and on matrices without rows or columns. Elementwise operations (copies, random numbers, scaling, redrawing)
//! are exact. Every operation gives the same bits when repeated, and the result for a panel does not depend on the
//! panels next to it.
//!
//! [`check_bits`]: sums over rows and products with small and sparse matrices have the same bits as [`Host`], which are
//! those of one process with any number of threads: then a whole embedding has the same bits too. A space that divides
//! rows among processes passes this test; a device does not: it fuses multiplications with additions, and sums in the
//! order of its blocks of threads. Its results are as accurate, and the same from run to run.

mod logarithms;

use std::sync::Arc;

use super::{Fold, Host, Leaf, Map, Space, Workspace, panels};
use crate::dense::{Block, Small, orthonormalize_in};
use crate::random::Key;
use crate::sparse::{Csr, Diagonal, Fused, Pattern, Plus};

/// Shapes that cross the limits of lanes (256 rows, 64 lanes) and panels (32 columns).
const SHAPES: [(usize, usize); 7] = [
    (0, 3),
    (1, 1),
    (255, 8),
    (700, 33),
    (1365, 24),
    (5000, 40),
    (17_000, 5),
];

/// Checks what every space guarantees.
///
/// # Panics
/// When a law is broken; the message names it.
pub fn check<S: Space>(space: &S) {
    for (rows, cols) in SHAPES {
        let wide = Wide::new(space, rows, cols);
        wide.random_entries();
        wide.aside();
        wide.sums();
        wide.small_products();
        wide.folds_and_maps();
        wide.sparse_products();
        wide.orthonormal();
        wide.rows_and_logarithms();
    }
}

/// Checks what a space with the arithmetic of the host also guarantees: its bits.
///
/// # Panics
/// When a law is broken; the message names it.
pub fn check_bits<S: Space>(space: &S) {
    for (rows, cols) in SHAPES {
        let wide = Wide::new(space, rows, cols);
        wide.bits_of_the_host();
        wide.bits_of_sparse_products();
        wide.bits_of_logarithms();
    }
}

/// A random matrix in panels, and the same in one block of the host.
struct Wide<'a, S: Space> {
    space: &'a S,
    rows: usize,
    cols: usize,
    panels: Vec<S::Tall>,
    truth: Block,
}

impl<'a, S: Space> Wide<'a, S> {
    fn new(space: &'a S, rows: usize, cols: usize) -> Self {
        let key = Key::new(7);
        let panels = panels(cols)
            .into_iter()
            .map(|range| space.random(rows, range, key))
            .collect();
        Wide {
            space,
            rows,
            cols,
            panels,
            truth: Block::random(rows, cols, key),
        }
    }

    fn copies(&self) -> Vec<S::Tall> {
        self.panels
            .iter()
            .map(|panel| self.space.copy(panel))
            .collect()
    }

    /// The panels as one block.
    fn gather(&self, x: Vec<S::Tall>) -> Block {
        self.gather_host(
            &x.into_iter()
                .map(|panel| self.space.export(panel))
                .collect::<Vec<_>>(),
        )
    }

    fn gather_host(&self, x: &[Block]) -> Block {
        let cols = x.iter().map(Block::cols).sum();
        let mut all = Block::zeros(self.rows, cols);
        for i in 0..self.rows {
            let values: Vec<f32> = x.iter().flat_map(|panel| panel.row(i).to_vec()).collect();
            all.row_mut(i).copy_from_slice(&values);
        }
        all
    }

    fn what(&self) -> String {
        format!("{} × {}", self.rows, self.cols)
    }

    /// Entries depend on key, row and column alone, and survive import and export.
    fn random_entries(&self) {
        assert_eq!(
            self.gather(self.copies()),
            self.truth,
            "random entries, {}",
            self.what()
        );
        let again = self.space.export(self.space.import(&self.truth));
        assert_eq!(again, self.truth, "import and export, {}", self.what());
        for (panel, range) in self.panels.iter().zip(panels(self.cols)) {
            assert_eq!(
                self.space.shape(panel),
                (self.rows, range.len()),
                "shape, {}",
                self.what()
            );
        }
        let zeros = self.space.export(self.space.zeros(self.rows, self.cols));
        assert!(
            zeros.as_slice().iter().all(|&x| x == 0.0),
            "zeros, {}",
            self.what()
        );
    }

    /// A matrix that was put aside is unchanged when brought back, and keeps its shape meanwhile.
    fn aside(&self) {
        let mut panels = self.copies();
        for panel in &mut panels {
            let shape = self.space.shape(panel);
            self.space
                .put_aside(panel, &std::env::temp_dir())
                .expect("a folder for temporary files");
            assert_eq!(
                self.space.shape(panel),
                shape,
                "shape of what is aside, {}",
                self.what()
            );
        }
        panels
            .iter_mut()
            .for_each(|panel| self.space.bring_back(panel).expect("readable"));
        assert_eq!(
            self.gather(panels),
            self.truth,
            "what was put aside, {}",
            self.what()
        );
    }

    /// XᵀX and XᵀY: close to the naive sums, the same when repeated, and the same for each panel alone.
    fn sums(&self) {
        let gram = self.space.gram(&self.panels);
        let other = self.space.random(self.rows, 0..2, Key::new(8));
        let other = [other];
        let cross = self.space.cross(&self.panels, &other);
        let b = Block::random(self.rows, 2, Key::new(8));
        for (found, right, name) in [(&gram, &self.truth, "gram"), (&cross, &b, "cross")] {
            let entry = |i: usize, j: usize| -> f64 {
                let term =
                    |row: usize| f64::from(self.truth.get(row, i)) * f64::from(right.get(row, j));
                (0..self.rows).map(term).sum()
            };
            let truth = Small::from_fn(self.cols, right.cols(), entry);
            near(
                found,
                &truth,
                1e-10 * self.rows as f64,
                &format!("{name}, {}", self.what()),
            );
        }
        let again = (
            self.space.gram(&self.panels),
            self.space.cross(&self.panels, &other),
        );
        assert!(
            (gram.as_slice(), cross.as_slice()) == (again.0.as_slice(), again.1.as_slice()),
            "sums, repeated"
        );
        for (range, panel) in panels(self.cols).into_iter().zip(&self.panels) {
            let alone = self.space.gram(std::slice::from_ref(panel));
            let inside = Small::from_fn(range.len(), range.len(), |i, j| {
                gram.get(range.start + i, range.start + j)
            });
            near(
                &alone,
                &inside,
                1e-12 * self.rows as f64,
                &format!("Gram matrix of a panel, {}", self.what()),
            );
        }
    }

    /// X·M, Y + X·M and the same in place.
    fn small_products(&self) {
        let m = Small::from_fn(self.cols, self.cols, |i, j| {
            ((i * 7 + j * 3) % 11) as f64 / 11.0 - 0.4
        });
        let entry = |i: usize, j: usize| -> f64 {
            (0..self.cols)
                .map(|k| f64::from(self.truth.get(i, k)) * f64::from(m.get(k, j) as f32))
                .sum()
        };
        let truth = Small::from_fn(self.rows, self.cols, entry);
        let widths: Vec<usize> = panels(self.cols).iter().map(std::ops::Range::len).collect();
        let product = self.gather(self.space.times(&self.panels, &m, &widths));
        near_block(
            &product,
            &truth,
            &format!("product with a small matrix, {}", self.what()),
        );
        let again = self.gather(self.space.times(&self.panels, &m, &widths));
        assert_eq!(
            product,
            again,
            "product with a small matrix, repeated, {}",
            self.what()
        );
        let last = Small::from_fn(self.cols, 1, |i, _| m.get(i, self.cols - 1));
        let one = self.gather(self.space.times(&self.panels, &last, &[1]));
        let truth_of_last = Small::from_fn(self.rows, 1, |i, _| truth.get(i, self.cols - 1));
        near_block(
            &one,
            &truth_of_last,
            &format!("a product of another width, {}", self.what()),
        );
        let mut changed = self.copies();
        self.space.transform(&mut changed, &m);
        assert_eq!(self.gather(changed), product, "transform, {}", self.what());
        let mut sum = self.copies();
        self.space.add_times(&mut sum, &self.panels, &m, -1.0);
        let less = Small::from_fn(self.rows, self.cols, |i, j| {
            f64::from(self.truth.get(i, j)) - truth.get(i, j)
        });
        let sum = self.gather(sum);
        near_block(&sum, &less, &format!("sum of products, {}", self.what()));
    }

    /// Sums over rows and products with small matrices.
    fn bits_of_the_host(&self) {
        let host = std::slice::from_ref(&self.truth);
        let gram = self.space.gram(&self.panels);
        assert_eq!(
            gram.as_slice(),
            Host.gram(host).as_slice(),
            "bits of a Gram matrix, {}",
            self.what()
        );
        let other = Block::random(self.rows, 2, Key::new(8));
        let cross = self.space.cross(&self.panels, &[self.space.import(&other)]);
        let same = Host.cross(host, &[other]);
        assert_eq!(
            cross.as_slice(),
            same.as_slice(),
            "bits of a cross product, {}",
            self.what()
        );
        let lengths = self.space.fold(&self.panels, Fold::Length);
        assert_eq!(
            lengths,
            Host.fold(host, Fold::Length),
            "bits of lengths, {}",
            self.what()
        );
        let m = Small::from_fn(self.cols, self.cols, |i, j| {
            ((i * 7 + j * 3) % 11) as f64 / 11.0 - 0.4
        });
        let widths: Vec<usize> = panels(self.cols).iter().map(std::ops::Range::len).collect();
        let product = self.gather(self.space.times(&self.panels, &m, &widths));
        assert_eq!(
            product,
            Host.times(host, &m, &[self.cols]).remove(0),
            "bits of a product, {}",
            self.what()
        );
        let narrow = Small::from_fn(self.cols, 1, |i, _| i as f64 - 1.0);
        let one = self.gather(self.space.times(&self.panels, &narrow, &[1]));
        assert_eq!(
            one,
            Host.times(host, &narrow, &[1]).remove(0),
            "bits of a narrow product, {}",
            self.what()
        );
        let (mut sum, mut same) = (self.copies(), [self.truth.clone()]);
        self.space.add_times(&mut sum, &self.panels, &m, -1.0);
        Host.add_times(&mut same, host, &m, -1.0);
        assert_eq!(
            self.gather(sum),
            same[0],
            "bits of a sum of products, {}",
            self.what()
        );
    }

    /// Sparse products with every epilogue, exact and rounded, and the epilogue of a product computed elsewhere.
    fn bits_of_sparse_products(&self) {
        let (a, range) = (matrix(self.rows), panels(self.cols)[0].clone());
        let [left, right, shift] = [1, 2, 3].map(|at| diagonal(self.rows, at));
        let (first, block) = (&self.panels[0], self.truth.columns(range));
        for rounded in [false, true] {
            let leaf = Leaf {
                matrix: &a,
                right: Some(&right),
                rounded,
            };
            let (mut y, mut same) = (self.space.copy(first), block.clone());
            let plus = summands(first, &shift);
            let then = Fused {
                scale: -2.0,
                left: Some(&left),
                plus: &plus,
                accumulate: true,
            };
            self.space
                .multiply(&leaf, first, &mut y, &then, &mut Workspace::default());
            let plus = summands(&block, &shift);
            let then = Fused {
                scale: -2.0,
                left: Some(&left),
                plus: &plus,
                accumulate: true,
            };
            Host.multiply(&leaf, &block, &mut same, &then, &mut Workspace::default());
            assert_eq!(
                self.space.export(y),
                same,
                "bits of a sparse product, {}",
                self.what()
            );
        }
        let (mut y, mut same) = (self.space.copy(first), block.clone());
        let plus = summands(first, &shift);
        self.space.finish(
            first,
            &mut y,
            &Fused {
                scale: 3.0,
                left: Some(&left),
                plus: &plus,
                accumulate: true,
            },
        );
        let plus = summands(&block, &shift);
        Host.finish(
            &block,
            &mut same,
            &Fused {
                scale: 3.0,
                left: Some(&left),
                plus: &plus,
                accumulate: true,
            },
        );
        assert_eq!(
            self.space.export(y),
            same,
            "bits of what follows a product, {}",
            self.what()
        );
    }

    /// Lengths, extremes, and changes of all entries.
    fn folds_and_maps(&self) {
        let lengths = self.space.fold(&self.panels, Fold::Length);
        let extremes = self.space.fold(&self.panels, Fold::Extreme);
        let again = self.space.fold(&self.panels, Fold::Length);
        for j in 0..self.cols {
            let column = || (0..self.rows).map(|i| f64::from(self.truth.get(i, j)));
            let length = column().map(|x| x * x).sum::<f64>().sqrt();
            assert!(
                (lengths[j] - length).abs() <= 1e-12 * length,
                "length of a column, {}",
                self.what()
            );
            assert_eq!(
                lengths[j],
                again[j],
                "length of a column, repeated, {}",
                self.what()
            );
            let extreme = column().fold(
                0.0f64,
                |most, x| if x.abs() > most.abs() { x } else { most },
            );
            assert_eq!(extremes[j], extreme, "extreme of a column, {}", self.what());
        }
        let factors: Vec<f64> = (0..self.cols).map(|j| j as f64 - 1.5).collect();
        let mut scaled = self.copies();
        self.space.map(&mut scaled, &Map::Scale(&factors));
        let lost: Vec<bool> = (0..self.cols).map(|j| j % 3 == 0).collect();
        let mut redrawn = self.copies();
        self.space
            .map(&mut redrawn, &Map::Redraw(&lost, Key::new(9)));
        let mut zero = self.copies();
        self.space.map(&mut zero, &Map::Zero);
        let (scaled, redrawn, zero) =
            (self.gather(scaled), self.gather(redrawn), self.gather(zero));
        let fresh = Block::random(self.rows, self.cols, Key::new(9));
        for i in 0..self.rows {
            for j in 0..self.cols {
                let x = self.truth.get(i, j);
                assert_eq!(
                    scaled.get(i, j),
                    (f64::from(x) * factors[j]) as f32,
                    "scaled column, {}",
                    self.what()
                );
                let expected = if lost[j] { fresh.get(i, j) } else { x };
                assert_eq!(
                    redrawn.get(i, j),
                    expected,
                    "redrawn column, {}",
                    self.what()
                );
                assert_eq!(zero.get(i, j), 0.0, "zero, {}", self.what());
            }
        }
    }

    /// Everything a product can do at once, exact and rounded.
    fn sparse_products(&self) {
        let a = matrix(self.rows);
        let [left, right, shift] = [1, 2, 3].map(|at| diagonal(self.rows, at));
        for rounded in [false, true] {
            for (panel, range) in self.panels.iter().zip(panels(self.cols)) {
                let mut y = self.space.random(self.rows, range.clone(), Key::new(10));
                let plus = summands(panel, &shift);
                let then = Fused {
                    scale: -2.0,
                    left: Some(&left),
                    plus: &plus,
                    accumulate: true,
                };
                let leaf = Leaf {
                    matrix: &a,
                    right: Some(&right),
                    rounded,
                };
                self.space
                    .multiply(&leaf, panel, &mut y, &then, &mut Workspace::default());
                let (y, before) = (
                    self.space.export(y),
                    Block::random_part(0..self.rows, range.clone(), Key::new(10)),
                );
                for i in 0..self.rows {
                    let (columns, values) = a.row(i);
                    for (at, j) in range.clone().enumerate() {
                        let x = |k: u32| {
                            f64::from(right.values()[k as usize] * self.truth.get(k as usize, j))
                        };
                        let terms = columns
                            .iter()
                            .zip(values)
                            .map(|(&k, &a)| f64::from(a) * x(k));
                        let (sum, size) = terms.fold((0.0, 0.0), |(s, t): (f64, f64), term| {
                            (s + term, t + term.abs())
                        });
                        let shift = f64::from(shift.values()[i]);
                        let own = (0.5 * shift + 0.25 - shift + 2.0 - 1.5 * shift)
                            * f64::from(self.truth.get(i, j));
                        let truth = -2.0 * f64::from(left.values()[i]) * sum
                            + own
                            + f64::from(before.get(i, at));
                        let bound = if rounded {
                            2.0 * size / 128.0 + 1e-5
                        } else {
                            1e-5 * (1.0 + size)
                        };
                        let bound = bound.max(1e-5 * (1.0 + size));
                        assert!(
                            (f64::from(y.get(i, at)) - truth).abs() <= bound,
                            "sparse product, {}",
                            self.what()
                        );
                    }
                }
            }
        }
        self.plain_product(&a);
        let (first, block) = (
            &self.panels[0],
            self.truth.columns(panels(self.cols)[0].clone()),
        );
        let mut y = self.space.zeros(self.rows, block.cols());
        self.space.scale_rows(&left, first, &mut y);
        let mut sum = self.space.copy(first);
        self.space.finish(
            &y,
            &mut sum,
            &Fused {
                scale: 3.0,
                accumulate: true,
                ..Fused::default()
            },
        );
        let (y, sum) = (self.space.export(y), self.space.export(sum));
        for i in 0..self.rows {
            for j in 0..block.cols() {
                let scaled = left.values()[i] * block.get(i, j);
                assert_eq!(y.get(i, j), scaled, "scaled rows, {}", self.what());
                let found = sum.get(i, j) - (block.get(i, j) + 3.0 * scaled);
                assert!(
                    found.abs() <= 1e-6,
                    "what follows a product, {}",
                    self.what()
                );
            }
        }
    }

    /// A product alone, into a matrix whose content must not matter.
    fn plain_product(&self, a: &Csr) {
        let range = panels(self.cols)[0].clone();
        let mut y = self.space.import(&Block::from_vec(
            self.rows,
            range.len(),
            vec![f32::NAN; self.rows * range.len()],
        ));
        let leaf = Leaf {
            matrix: a,
            right: None,
            rounded: false,
        };
        self.space.multiply(
            &leaf,
            &self.panels[0],
            &mut y,
            &Fused::default(),
            &mut Workspace::default(),
        );
        let y = self.space.export(y);
        let mut again = self.space.zeros(self.rows, range.len());
        self.space.multiply(
            &leaf,
            &self.panels[0],
            &mut again,
            &Fused::default(),
            &mut Workspace::default(),
        );
        assert_eq!(
            self.space.export(again),
            y,
            "sparse product, repeated, {}",
            self.what()
        );
        for i in 0..self.rows {
            let (columns, values) = a.row(i);
            for j in range.clone() {
                let term = |(&k, &a): (&u32, &f32)| {
                    f64::from(a) * f64::from(self.truth.get(k as usize, j))
                };
                let truth: f64 = columns.iter().zip(values).map(term).sum();
                let size: f64 = columns
                    .iter()
                    .zip(values)
                    .map(|entry| term(entry).abs())
                    .sum();
                let off = (f64::from(y.get(i, j)) - truth).abs();
                assert!(
                    off <= 1e-5 * (1.0 + size),
                    "plain sparse product, {}",
                    self.what()
                );
            }
        }
    }

    /// Orthonormal columns, as far as there are rows for them.
    fn orthonormal(&self) {
        let mut x = self.copies();
        let kept = orthonormalize_in(self.space, &mut x);
        let gram = self.space.gram(&x);
        for i in 0..self.cols {
            for j in 0..self.cols {
                let expected = f64::from(u8::from(i == j && kept[i]));
                assert!(
                    (gram.get(i, j) - expected).abs() < 1e-5,
                    "orthonormal columns, {}",
                    self.what()
                );
            }
        }
        assert!(
            self.rows < self.cols || kept.iter().all(|&kept| kept),
            "lost columns, {}",
            self.what()
        );
    }
}

fn diagonal(rows: usize, at: usize) -> Diagonal {
    Diagonal::new(
        "d",
        (0..rows)
            .map(|i| ((i * 5 + at) % 9) as f32 / 4.0 - 1.0)
            .collect::<Vec<f32>>(),
    )
}

/// More terms than any product has, with a diagonal and without.
fn summands<'a, T>(block: &'a T, shift: &'a Diagonal) -> [Plus<'a, T>; 5] {
    let factors = [
        (0.5, true),
        (0.25, false),
        (-1.0, true),
        (2.0, false),
        (-1.5, true),
    ];
    factors.map(|(factor, shifted)| Plus {
        factor,
        diagonal: shifted.then_some(shift),
        block,
    })
}

/// A sparse matrix with rows of 0 to 6 entries, and a few that are nearly full.
fn matrix(rows: usize) -> Csr {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows {
        let length = if i % 499 == 3 { rows.min(2000) } else { i % 7 };
        let mut row: Vec<u32> = (0..length)
            .map(|k| ((i * 31 + k * 977) % rows) as u32)
            .collect();
        row.sort_unstable();
        row.dedup();
        values.extend(
            row.iter()
                .map(|&j| ((i as u32 * 3 + j) % 13) as f32 / 6.0 - 1.0),
        );
        columns.extend(row);
        offsets.push(columns.len());
    }
    Csr::new(
        Arc::new(Pattern::new(offsets, columns, rows)),
        values.into(),
    )
}

fn near(found: &Small, truth: &Small, bound: f64, what: &str) {
    let near = found
        .as_slice()
        .iter()
        .zip(truth.as_slice())
        .all(|(a, b)| (a - b).abs() <= bound);
    assert!(near, "{what}");
}

fn near_block(found: &Block, truth: &Small, what: &str) {
    let near = found
        .as_slice()
        .iter()
        .zip(truth.as_slice())
        .all(|(&a, b)| (f64::from(a) - b).abs() <= 1e-4);
    assert!(near, "{what}");
}
