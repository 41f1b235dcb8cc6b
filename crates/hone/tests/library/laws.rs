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

use std::sync::Arc;

use hone::dense::{Block, Logs, Small, orthonormalize_in};
use hone::random::Key;
use hone::space::{Fold, Host, Leaf, Map, Space, Workspace, panels, widths};
use hone::sparse::{Csr, Diagonal, Fused, Pattern, Plus};

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

/// More landmarks than a tile of any device has, and columns for two panels.
const LANDMARKS: usize = 70;
const WIDTHS: [usize; 2] = [32, 3];

/// Checks what every space guarantees.
///
/// # Panics
/// When a law is broken; the message names it.
pub(crate) fn check<S: Space>(space: &S) {
    for (rows, cols) in SHAPES {
        let case = Case::new(space, rows, cols);
        case.entries();
        case.sums();
        case.small_products();
        case.folds_and_maps();
        case.sparse_products();
        case.plain_product();
        case.epilogue();
        case.orthonormal();
        case.rows_and_logarithms();
    }
}

/// Checks what a space with the arithmetic of the host also guarantees: its bits.
///
/// # Panics
/// When a law is broken; the message names it.
pub(crate) fn check_bits<S: Space>(space: &S) {
    for (rows, cols) in SHAPES {
        let case = Case::new(space, rows, cols);
        case.bits_of_small_products();
        case.bits_of_sparse_products();
        case.bits_of_logarithms();
    }
}

/// A random matrix in panels, the same in one block of the host, and what it is multiplied with.
struct Case<'a, S: Space> {
    space: &'a S,
    rows: usize,
    cols: usize,
    panels: Vec<S::Tall>,
    truth: Block,
    small: Small,
    sparse: Csr,
    diagonals: [Diagonal; 3],
    /// Some rows have a factor of zero, as nodes without edges have.
    factors: Diagonal,
    landmarks: Block,
    scales: Vec<f32>,
    of_logs: Small,
}

impl<'a, S: Space> Case<'a, S> {
    fn new(space: &'a S, rows: usize, cols: usize) -> Self {
        let key = Key::new(7);
        let draw = |range| space.random(rows, range, key);
        let diagonal = |at: usize| {
            let value = |i: usize| ((i * 5 + at) % 9) as f32 / 4.0 - 1.0;
            Diagonal::new("d", (0..rows).map(value).collect::<Vec<_>>())
        };
        let factors: Vec<f32> = (0..rows).map(|i| (i % 6) as f32).collect();
        Case {
            space,
            rows,
            cols,
            panels: panels(cols).into_iter().map(draw).collect(),
            truth: Block::random(rows, cols, key),
            small: Small::from_fn(cols, cols, |i, j| {
                ((i * 7 + j * 3) % 11) as f64 / 11.0 - 0.4
            }),
            sparse: sparse(rows),
            diagonals: [1, 2, 3].map(diagonal),
            factors: Diagonal::new("r", factors),
            landmarks: Block::random(LANDMARKS, cols, Key::new(11)),
            scales: (0..LANDMARKS)
                .map(|j| 0.25 + (j % 9) as f32 / 8.0)
                .collect(),
            of_logs: Small::from_fn(LANDMARKS, WIDTHS.iter().sum(), |i, j| {
                ((i * 5 + j * 3) % 17) as f64 / 8.0 - 1.0
            }),
        }
    }

    fn holds(&self, law: &str, holds: bool) {
        assert!(holds, "{law}, {} × {}", self.rows, self.cols);
    }

    fn near(&self, law: &str, found: f64, truth: f64, bound: f64) {
        assert!(
            (found - truth).abs() <= bound,
            "{law}, {} × {}: {found}, not {truth}",
            self.rows,
            self.cols
        );
    }

    fn near_all(&self, law: &str, found: &Small, truth: &Small, bound: f64) {
        let pairs = found.as_slice().iter().zip(truth.as_slice());
        pairs.for_each(|(&found, &truth)| self.near(law, found, truth, bound));
    }

    fn near_block(&self, law: &str, found: &Block, truth: &Small) {
        self.near_all(law, &Small::from(found), truth, 1e-4);
    }

    fn copies(&self) -> Vec<S::Tall> {
        let copy = |panel: &S::Tall| self.space.copy(panel);
        self.panels.iter().map(copy).collect()
    }

    /// The panels as one block.
    fn gather(&self, x: Vec<S::Tall>) -> Block {
        let blocks = x.into_iter().map(|panel| self.space.export(panel));
        self.join(&blocks.collect::<Vec<_>>())
    }

    fn join(&self, x: &[Block]) -> Block {
        let mut all = Block::zeros(self.rows, x.iter().map(Block::cols).sum());
        for i in 0..self.rows {
            let values: Vec<f32> = x.iter().flat_map(|panel| panel.row(i).to_vec()).collect();
            all.row_mut(i).copy_from_slice(&values);
        }
        all
    }

    fn logs(&self) -> (&Diagonal, Logs<'_>) {
        let logs = Logs {
            landmarks: &self.landmarks,
            scales: &self.scales,
        };
        (&self.factors, logs)
    }

    /// The first panel in a block.
    fn first(&self) -> Block {
        self.truth.columns(panels(self.cols)[0].clone())
    }

    /// An epilogue with everything that a product can do at once.
    fn then<'b, T>(&'b self, scale: f32, plus: &'b [Plus<'b, T>]) -> Fused<'b, T> {
        Fused {
            scale,
            left: Some(&self.diagonals[0]),
            plus,
            accumulate: true,
        }
    }

    /// More terms than any product has, with a diagonal and without.
    fn summands<'b, T>(&'b self, block: &'b T) -> [Plus<'b, T>; 5] {
        let factors = [0.5, 0.25, -1.0, 2.0, -1.5].into_iter().enumerate();
        let terms: Vec<Plus<'b, T>> = factors
            .map(|(at, factor)| Plus {
                factor,
                diagonal: (at % 2 == 0).then_some(&self.diagonals[2]),
                block,
            })
            .collect();
        [terms[0], terms[1], terms[2], terms[3], terms[4]]
    }

    fn leaf(&self, rounded: bool) -> Leaf<'_> {
        Leaf {
            matrix: &self.sparse,
            right: Some(&self.diagonals[1]),
            rounded,
        }
    }

    /// Entries depend on key, row and column alone, survive import and export, and are the same when brought back.
    fn entries(&self) {
        let all = self.gather(self.copies());
        self.holds("random entries", all == self.truth);
        let again = self.space.export(self.space.import(&self.truth));
        self.holds("import and export", again == self.truth);
        let zeros = self.space.export(self.space.zeros(self.rows, self.cols));
        self.holds("zeros", zeros.as_slice().iter().all(|&x| x == 0.0));
        let mut aside = self.copies();
        for (panel, range) in aside.iter_mut().zip(panels(self.cols)) {
            let shape = (self.rows, range.len());
            self.holds("shape", self.space.shape(panel) == shape);
            let folder = std::env::temp_dir();
            let put = self.space.put_aside(panel, &folder);
            put.expect("a folder for temporary files");
            let same = self.space.shape(panel) == shape;
            self.holds("shape of what is aside", same);
        }
        let back = |panel| self.space.bring_back(panel).expect("readable");
        aside.iter_mut().for_each(back);
        self.holds("what was put aside", self.gather(aside) == self.truth);
    }

    /// XᵀX and XᵀY: close to the naive sums, the same when repeated, and the same for each panel alone.
    fn sums(&self) {
        let gram = self.space.gram(&self.panels);
        let other = [self.space.random(self.rows, 0..2, Key::new(8))];
        let cross = self.space.cross(&self.panels, &other);
        let b = Block::random(self.rows, 2, Key::new(8));
        for (law, found, right) in [("gram", &gram, &self.truth), ("cross", &cross, &b)] {
            let truth = Small::from_fn(self.cols, right.cols(), |i, j| {
                let term =
                    |row: usize| f64::from(self.truth.get(row, i)) * f64::from(right.get(row, j));
                (0..self.rows).map(term).sum()
            });
            self.near_all(law, found, &truth, 1e-10 * self.rows as f64);
        }
        self.holds("gram, repeated", gram == self.space.gram(&self.panels));
        let again = self.space.cross(&self.panels, &other);
        self.holds("cross, repeated", cross == again);
        for (range, panel) in panels(self.cols).into_iter().zip(&self.panels) {
            let alone = self.space.gram(std::slice::from_ref(panel));
            let inside = Small::from_fn(range.len(), range.len(), |i, j| {
                gram.get(range.start + i, range.start + j)
            });
            let bound = 1e-12 * self.rows as f64;
            self.near_all("Gram matrix of a panel", &alone, &inside, bound);
        }
    }

    /// X·M, Y + X·M and the same in place.
    fn small_products(&self) {
        let (space, x, m) = (self.space, &self.panels, &self.small);
        let entry = |i: usize, j: usize| -> f64 {
            let term = |k: usize| f64::from(self.truth.get(i, k)) * f64::from(m.get(k, j) as f32);
            (0..self.cols).map(term).sum()
        };
        let truth = Small::from_fn(self.rows, self.cols, entry);
        let widths = widths(self.cols);
        let product = self.gather(space.times(x, m, &widths));
        self.near_block("product with a small matrix", &product, &truth);
        let again = self.gather(space.times(x, m, &widths));
        self.holds("product with a small matrix, repeated", product == again);
        let last = Small::from_fn(self.cols, 1, |i, _| m.get(i, self.cols - 1));
        let one = self.gather(space.times(x, &last, &[1]));
        let truth_of_last = Small::from_fn(self.rows, 1, |i, _| truth.get(i, self.cols - 1));
        self.near_block("a product of another width", &one, &truth_of_last);
        let mut changed = self.copies();
        space.transform(&mut changed, m);
        self.holds("transform", self.gather(changed) == product);
        let mut sum = self.copies();
        space.subtract_times(&mut sum, x, m);
        let mut less = Small::from(&self.truth);
        less.add_scaled(-1.0, &truth);
        self.near_block("sum of products", &self.gather(sum), &less);
    }

    /// Lengths, extremes, and changes of all entries.
    fn folds_and_maps(&self) {
        let space = self.space;
        let lengths = space.fold(&self.panels, Fold::Length);
        let extremes = space.fold(&self.panels, Fold::Extreme);
        let again = space.fold(&self.panels, Fold::Length);
        self.holds("length of a column, repeated", lengths == again);
        for j in 0..self.cols {
            let column = || (0..self.rows).map(|i| f64::from(self.truth.get(i, j)));
            let length = column().map(|x| x * x).sum::<f64>().sqrt();
            self.near("length of a column", lengths[j], length, 1e-12 * length);
            let larger = |most: f64, x: f64| if x.abs() > most.abs() { x } else { most };
            let extreme = column().fold(0.0, larger);
            self.holds("extreme of a column", extremes[j] == extreme);
        }
        let factors: Vec<f64> = (0..self.cols).map(|j| j as f64 - 1.5).collect();
        let lost: Vec<bool> = (0..self.cols).map(|j| j % 3 == 0).collect();
        let maps = [
            Map::Scale(&factors),
            Map::Redraw(&lost, Key::new(9)),
            Map::Zero,
        ];
        let [scaled, redrawn, zero] = maps.map(|map| {
            let mut x = self.copies();
            space.map(&mut x, &map);
            self.gather(x)
        });
        let fresh = Block::random(self.rows, self.cols, Key::new(9));
        for i in 0..self.rows {
            for j in 0..self.cols {
                let x = self.truth.get(i, j);
                let product = (f64::from(x) * factors[j]) as f32;
                self.holds("scaled column", scaled.get(i, j) == product);
                let expected = if lost[j] { fresh.get(i, j) } else { x };
                self.holds("redrawn column", redrawn.get(i, j) == expected);
                self.holds("zero", zero.get(i, j) == 0.0);
            }
        }
    }

    /// Everything a product can do at once, exact and rounded.
    fn sparse_products(&self) {
        let [left, right, shift] = &self.diagonals;
        for rounded in [false, true] {
            for (panel, range) in self.panels.iter().zip(panels(self.cols)) {
                let (key, plus) = (Key::new(10), self.summands(panel));
                let mut y = self.space.random(self.rows, range.clone(), key);
                let (then, work) = (self.then(-2.0, &plus), &mut Workspace::default());
                self.space
                    .multiply(&self.leaf(rounded), panel, &mut y, &then, work);
                let y = self.space.export(y);
                let before = Block::random_part(0..self.rows, range.clone(), key);
                for i in 0..self.rows {
                    for (at, j) in range.clone().enumerate() {
                        let (sum, size) = self.sparse_row(i, j, |k| right.values()[k]);
                        let shift = f64::from(shift.values()[i]);
                        let own = (0.5 * shift + 0.25 - shift + 2.0 - 1.5 * shift)
                            * f64::from(self.truth.get(i, j));
                        let left = f64::from(left.values()[i]);
                        let truth = -2.0 * left * sum + own + f64::from(before.get(i, at));
                        let rounding = if rounded {
                            2.0 * size / 128.0 + 1e-5
                        } else {
                            0.0
                        };
                        let bound = rounding.max(1e-5 * (1.0 + size));
                        self.near("sparse product", f64::from(y.get(i, at)), truth, bound);
                    }
                }
            }
        }
    }

    /// Σ_k a_ik d_k x_kj, and the sum of the absolute values of its terms.
    fn sparse_row(&self, i: usize, j: usize, d: impl Fn(usize) -> f32) -> (f64, f64) {
        let (columns, values) = self.sparse.row(i);
        let term = |(&k, &a): (&u32, &f32)| {
            let k = k as usize;
            f64::from(a) * f64::from(d(k) * self.truth.get(k, j))
        };
        let terms = columns.iter().zip(values).map(term);
        terms.fold((0.0, 0.0), |(sum, size), term| {
            (sum + term, size + term.abs())
        })
    }

    /// A product alone, into a matrix whose content must not matter.
    fn plain_product(&self) {
        let (space, range) = (self.space, panels(self.cols)[0].clone());
        let leaf = Leaf {
            right: None,
            ..self.leaf(false)
        };
        let nothing = vec![f32::NAN; self.rows * range.len()];
        let nothing = space.import(&Block::from_vec(self.rows, range.len(), nothing));
        let [y, again] = [nothing, space.zeros(self.rows, range.len())].map(|mut y| {
            let (then, work) = (Fused::default(), &mut Workspace::default());
            space.multiply(&leaf, &self.panels[0], &mut y, &then, work);
            space.export(y)
        });
        self.holds("sparse product, repeated", again == y);
        for i in 0..self.rows {
            for j in range.clone() {
                let (truth, size) = self.sparse_row(i, j, |_| 1.0);
                let (found, bound) = (f64::from(y.get(i, j)), 1e-5 * (1.0 + size));
                self.near("plain sparse product", found, truth, bound);
            }
        }
    }

    /// Rows times a diagonal, and what follows a product that was computed elsewhere.
    fn epilogue(&self) {
        let (space, block, left) = (self.space, self.first(), &self.diagonals[0]);
        let mut y = space.zeros(self.rows, block.cols());
        space.scale_rows(left, &self.panels[0], &mut y);
        let mut sum = space.copy(&self.panels[0]);
        let then = Fused {
            scale: 3.0,
            accumulate: true,
            ..Fused::default()
        };
        space.finish(&y, &mut sum, &then);
        let (y, sum) = (space.export(y), space.export(sum));
        for i in 0..self.rows {
            for j in 0..block.cols() {
                let scaled = left.values()[i] * block.get(i, j);
                self.holds("scaled rows", y.get(i, j) == scaled);
                let truth = f64::from(block.get(i, j) + 3.0 * scaled);
                let law = "what follows a product";
                self.near(law, f64::from(sum.get(i, j)), truth, 1e-6);
            }
        }
    }

    /// Orthonormal columns, as far as there are rows for them.
    fn orthonormal(&self) {
        let mut x = self.copies();
        let kept = orthonormalize_in(self.space, &mut x);
        let kept_ones: Vec<f64> = kept.iter().map(|&kept| f64::from(u8::from(kept))).collect();
        let unit = Small::diagonal(&kept_ones);
        self.near_all("orthonormal columns", &self.space.gram(&x), &unit, 1e-5);
        let all = kept.iter().all(|&kept| kept);
        self.holds("lost columns", self.rows < self.cols || all);
    }

    /// Rows as they are, in any order and repeatedly; logarithms by their definition; rows of the length asked for.
    fn rows_and_logarithms(&self) {
        let place = |k: usize| (k * 977 + 3) % self.rows;
        let which: Vec<usize> = (0..self.rows.min(40)).map(place).collect();
        let picked = self.space.pick(&self.panels, &which);
        let shape = (which.len(), self.cols);
        self.holds(
            "shape of picked rows",
            (picked.rows(), picked.cols()) == shape,
        );
        for (k, &row) in which.iter().enumerate() {
            self.holds("picked row", picked.row(k) == self.truth.row(row));
        }
        let m = &self.of_logs;
        let find = || {
            let found = self.space.log_times(&self.panels, self.logs(), m, &WIDTHS);
            self.gather(found)
        };
        let found = find();
        self.holds("product with logarithms, repeated", found == find());
        let mut shortened = self.copies();
        self.space.map(&mut shortened, &Map::Shorten(0.75));
        let shortened = self.gather(shortened);
        for i in 0..self.rows {
            let row: Vec<f64> = self.truth.row(i).iter().map(|&x| f64::from(x)).collect();
            let factor = f64::from(self.factors.values()[i]);
            let log = |k: usize| {
                let mark = self.landmarks.row(k).iter();
                let dot: f64 = row.iter().zip(mark).map(|(a, &b)| a * f64::from(b)).sum();
                (factor * dot).max(1.0).ln() * f64::from(self.scales[k])
            };
            let logs: Vec<f64> = (0..LANDMARKS).map(log).collect();
            for j in 0..m.cols() {
                let terms = || logs.iter().enumerate().map(|(k, log)| log * m.get(k, j));
                let (truth, size) = (terms().sum(), terms().map(f64::abs).sum::<f64>());
                let (found, bound) = (f64::from(found.get(i, j)), 1e-4 * (1.0 + size));
                self.near("product with logarithms", found, truth, bound);
            }
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            for (&short, x) in shortened.row(i).iter().zip(&row) {
                let truth = x / length.powf(0.75);
                self.near("shortened row", f64::from(short), truth, 1e-6);
            }
        }
    }

    /// Sums over rows and products with small matrices.
    fn bits_of_small_products(&self) {
        let (space, x, host) = (self.space, &self.panels, std::slice::from_ref(&self.truth));
        self.holds("bits of a Gram matrix", space.gram(x) == Host.gram(host));
        let other = Block::random(self.rows, 2, Key::new(8));
        let cross = space.cross(x, &[space.import(&other)]);
        self.holds(
            "bits of a cross product",
            cross == Host.cross(host, &[other]),
        );
        let [lengths, same] = [space.fold(x, Fold::Length), Host.fold(host, Fold::Length)];
        self.holds("bits of lengths", lengths == same);
        let narrow = Small::from_fn(self.cols, 1, |i, _| i as f64 - 1.0);
        for (m, panels) in [(&self.small, widths(self.cols)), (&narrow, vec![1])] {
            let product = self.gather(space.times(x, m, &panels));
            let same = Host.times(host, m, &[m.cols()]).remove(0);
            self.holds("bits of a product", product == same);
        }
        let (mut sum, mut same) = (self.copies(), [self.truth.clone()]);
        space.subtract_times(&mut sum, x, &self.small);
        Host.subtract_times(&mut same, host, &self.small);
        self.holds("bits of a sum of products", self.gather(sum) == same[0]);
    }

    /// Sparse products with every epilogue, exact and rounded, and the epilogue of a product computed elsewhere.
    fn bits_of_sparse_products(&self) {
        let (first, block) = (&self.panels[0], self.first());
        let (plus, plus_here) = (self.summands(first), self.summands(&block));
        for rounded in [false, true] {
            let (leaf, work) = (self.leaf(rounded), &mut Workspace::default());
            let (mut y, mut same) = (self.space.copy(first), block.clone());
            let then = self.then(-2.0, &plus);
            self.space.multiply(&leaf, first, &mut y, &then, work);
            let (then, work) = (self.then(-2.0, &plus_here), &mut Workspace::default());
            Host.multiply(&leaf, &block, &mut same, &then, work);
            self.holds("bits of a sparse product", self.space.export(y) == same);
        }
        let (mut y, mut same) = (self.space.copy(first), block.clone());
        self.space.finish(first, &mut y, &self.then(3.0, &plus));
        Host.finish(&block, &mut same, &self.then(3.0, &plus_here));
        let law = "bits of what follows a product";
        self.holds(law, self.space.export(y) == same);
    }

    /// Products with logarithms, and shortened rows, of the host.
    fn bits_of_logarithms(&self) {
        let (space, m) = (self.space, &self.of_logs);
        let own = self.gather(space.log_times(&self.panels, self.logs(), m, &WIDTHS));
        let blocks = self.copies().into_iter().map(|panel| space.export(panel));
        let mut blocks: Vec<Block> = blocks.collect();
        let host = self.join(&Host.log_times(&blocks, self.logs(), m, &WIDTHS));
        self.holds("bits of a product with logarithms", own == host);
        let mut own = self.copies();
        space.map(&mut own, &Map::Shorten(0.5));
        Host.map(&mut blocks, &Map::Shorten(0.5));
        let same = self.gather(own) == self.join(&blocks);
        self.holds("bits of shortened rows", same);
    }
}

/// A sparse matrix with rows of 0 to 6 entries, and a few that are nearly full.
fn sparse(rows: usize) -> Csr {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows {
        let length = if i % 499 == 3 { rows.min(2000) } else { i % 7 };
        let place = |k: usize| ((i * 31 + k * 977) % rows) as u32;
        let mut row: Vec<u32> = (0..length).map(place).collect();
        row.sort_unstable();
        row.dedup();
        let value = |&j: &u32| ((i as u32 * 3 + j) % 13) as f32 / 6.0 - 1.0;
        values.extend(row.iter().map(value));
        columns.extend(row);
        offsets.push(columns.len());
    }
    let pattern = Pattern::new(offsets, columns, rows);
    Csr::new(Arc::new(pattern), values.into())
}
