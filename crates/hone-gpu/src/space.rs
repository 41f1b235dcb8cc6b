//! [`Cuda`] as a [`Space`]: each operation is one or two kernels, and returns before they are done, unless it
//! returns numbers.
//!
//! A sparse product assigns each row to some lanes of a warp, rows with many nonzeros to a block
//! (`kernels/spmm.cu`); diagonals, shifts and sums are fused into its one write. Products with small matrices
//! go panel by panel, four at a time (`kernels/dense.cu`). Random numbers are those of the host, bit for
//! bit. Gathered values are never rounded to 16 bits: that would need one more pass.
//!
//! Sums over rows: Gram and cross products, lengths, extremes.
//!
//! Rows are divided into parts by their number alone; each part is summed by one block in f64, and parts are
//! added first to last. Nothing depends on the device, on timing, or on how many panels there are: each pair
//! of panels is summed separately.
//! Cost of a Gram matrix of b columns: rows·b² multiply-adds in f64 (half of it by symmetry), 4b bytes per row and pair
//! of panels.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use hone::Result;
use hone::dense::panels::Own;
use hone::dense::{Block, Columns, Logs, Small};
use hone::random::Key;
use hone::space::{Fold, Leaf, Map, Space, Workspace};
use hone::sparse::{Diagonal, Fused, Plus};

use crate::Cuda;
use crate::driver::{Arg, Kernel, Memory, NULL};
use crate::resident::LONGEST;

/// Terms that a kernel adds to a product.
const SUMMANDS: usize = 3;

/// Panels that one launch multiplies with a small matrix.
const AT_ONCE: usize = 4;

/// Rows that a block multiplies with a small matrix.
const TILE: usize = 64;

/// Threads of a block.
const THREADS: usize = 256;

/// Threads of a block that multiplies one long row.
const LONG_THREADS: u32 = 512;

/// The arguments of a product's epilogue, and the diagonals that they point to.
struct Then {
    args: Vec<Arg>,
    _held: Vec<Arc<Memory<f32>>>,
}

impl Cuda {
    /// A panel with arbitrary content.
    pub(crate) fn panel(&self, rows: usize, cols: usize) -> Panel {
        Panel::new(rows, cols, self.driver.reserve(rows * cols))
    }

    /// Starts a kernel with one thread per value.
    fn for_values(&self, kernel: &Kernel, of: &Panel, rest: &[Arg]) {
        if of.len() > 0 {
            let args: Vec<Arg> = [wide(of.len()), of.width()]
                .into_iter()
                .chain(rest.iter().copied())
                .collect();
            self.driver.launch(
                kernel,
                (of.len().div_ceil(THREADS), 1),
                THREADS as u32,
                &args,
            );
        }
    }

    fn then(
        &self,
        scale: f32,
        left: Option<&Diagonal>,
        accumulate: bool,
        plus: &[Plus<Panel>],
    ) -> Then {
        let mut held = Vec::new();
        let mut diagonal = |diagonal: Option<&Diagonal>| match diagonal {
            None => NULL,
            Some(diagonal) => {
                let values = self.resident.diagonal(&self.driver, diagonal);
                held.push(values.clone());
                values.address()
            }
        };
        let mut args = vec![
            Arg::Factor(scale),
            diagonal(left),
            Arg::Count(accumulate.into()),
        ];
        for at in 0..SUMMANDS {
            match plus.get(at) {
                None => args.extend([Arg::Factor(0.0), NULL, NULL]),
                Some(plus) => {
                    args.extend([
                        Arg::Factor(plus.factor),
                        diagonal(plus.diagonal),
                        plus.block.address(),
                    ]);
                }
            }
        }
        Then { args, _held: held }
    }

    /// The first part of the epilogue, which the kernel of the product does.
    fn first(&self, then: &Fused<Panel>) -> Then {
        self.then(
            then.scale,
            then.left,
            then.accumulate,
            &then.plus[..then.plus.len().min(SUMMANDS)],
        )
    }

    /// Terms beyond those that the kernel of the product adds.
    fn add_rest(&self, y: &Panel, then: &Fused<Panel>) {
        for plus in then.plus.chunks(SUMMANDS).skip(1) {
            let then = self.then(0.0, None, true, plus);
            self.for_values(
                self.programs.kernel("finish"),
                y,
                &[&[NULL, y.address()], &*then.args].concat(),
            );
        }
    }

    fn check_summands(then: &Fused<Panel>, y: &Panel) {
        let fits =
            |diagonal: Option<&Diagonal>| diagonal.is_none_or(|d| d.values().len() == y.rows);
        assert!(
            fits(then.left) && then.plus.iter().all(|plus| fits(plus.diagonal)),
            "diagonals of a product"
        );
        let same = |plus: &Plus<Panel>| (plus.block.rows, plus.block.cols) == (y.rows, y.cols);
        assert!(then.plus.iter().all(same), "summands of a product");
    }

    /// Y ← [Y] + factor · X·M for one panel of Y, whose first column is column `first` of M.
    fn combine(
        &self,
        y: &Panel,
        x: &[&Panel],
        matrix: &Small,
        factor: f32,
        first: usize,
        add: bool,
    ) {
        let mut row = 0;
        for (at, some) in x.chunks(AT_ONCE).enumerate() {
            let mut small = vec![0.0f32; some.len() * SIDE * SIDE];
            let mut args = vec![wide(y.rows)];
            for (panel, small) in some.iter().zip(small.chunks_exact_mut(SIDE * SIDE)) {
                for k in 0..panel.cols {
                    (0..y.cols).for_each(|j| {
                        small[k * SIDE + j] = factor * matrix.get(row + k, first + j) as f32;
                    });
                }
                row += panel.cols;
                args.extend([panel.address(), panel.width()]);
            }
            (some.len()..AT_ONCE).for_each(|_| args.extend([NULL, Arg::Count(0)]));
            let small = self.driver.upload(&small);
            args.extend([
                small.address(),
                y.address(),
                y.width(),
                Arg::Count((add || at > 0).into()),
            ]);
            self.driver.launch(
                self.programs.kernel("combine"),
                (y.rows.div_ceil(TILE), 1),
                THREADS as u32,
                &args,
            );
        }
    }

    /// Divides each row of all panels together by its length to a power.
    fn shorten(&self, panels: &[Panel], power: f64) {
        let rows = panels.first().map_or(0, |panel| panel.rows);
        let squares = self.driver.zeros::<f64>(rows);
        for panel in panels.iter().filter(|panel| panel.len() > 0) {
            let args = [
                wide(rows),
                panel.width(),
                panel.address(),
                squares.address(),
            ];
            self.start("add_squares", rows.div_ceil(THREADS), &args);
        }
        for panel in panels.iter().filter(|panel| panel.len() > 0) {
            let args = [
                wide(panel.len()),
                panel.width(),
                squares.address(),
                Arg::Real(power),
                panel.address(),
            ];
            self.start("shorten", panel.len().div_ceil(THREADS), &args);
        }
    }

    /// The same for all panels of Y.
    fn combine_all(&self, y: &[Panel], x: &[Panel], matrix: &Small, factor: f32, add: bool) {
        let width = |side: &[Panel]| side.iter().map(|panel| panel.cols).sum::<usize>();
        assert_eq!(
            (matrix.rows(), matrix.cols()),
            (width(x), width(y)),
            "shapes of a product with a small matrix"
        );
        assert!(
            x.iter().chain(y).all(|panel| panel.cols <= SIDE),
            "panels have at most {SIDE} columns"
        );
        assert!(
            x.iter().all(|panel| panel.rows == y[0].rows),
            "rows of a product with a small matrix"
        );
        let x: Vec<&Panel> = x.iter().filter(|panel| panel.cols > 0).collect();
        let mut first = 0;
        for panel in y {
            if panel.len() > 0 {
                self.combine(panel, &x, matrix, factor, first, add);
            }
            first += panel.cols;
        }
    }
}

impl Space for Cuda {
    type Tall = Panel;

    fn zeros(&self, rows: usize, cols: usize) -> Panel {
        Panel::new(rows, cols, self.driver.zeros(rows * cols))
    }

    fn random(&self, rows: usize, cols: Range<usize>, key: Key) -> Panel {
        let panel = self.panel(rows, cols.len());
        self.for_values(
            self.programs.kernel("draw"),
            &panel,
            &[
                wide(cols.start),
                Arg::Wide(key.bits()),
                NULL,
                panel.address(),
            ],
        );
        panel
    }

    fn import(&self, block: &Block) -> Panel {
        Panel::new(
            block.rows(),
            block.cols(),
            self.driver.upload(block.as_slice()),
        )
    }

    fn export(&self, x: Panel) -> Block {
        if let Some(values) = x.aside {
            return Block::from_vec(x.rows, x.cols, values);
        }
        let mut block = Block::zeros(x.rows, x.cols);
        self.driver.download(&x.values, block.as_mut_slice());
        block
    }

    fn copy(&self, x: &Panel) -> Panel {
        Panel {
            rows: x.rows,
            cols: x.cols,
            values: self.driver.copy(&x.values),
            aside: x.aside.clone(),
        }
    }

    fn put_aside(&self, x: &mut Panel, _folder: &Path) -> Result<()> {
        if x.aside.is_none() {
            let mut values = vec![0.0; x.len()];
            self.driver.download(&x.values, &mut values);
            (x.values, x.aside) = (self.driver.reserve(0), Some(values));
        }
        Ok(())
    }

    fn bring_back(&self, x: &mut Panel) -> Result<()> {
        if let Some(values) = x.aside.take() {
            x.values = self.driver.upload(&values);
        }
        Ok(())
    }

    fn shape(&self, x: &Panel) -> (usize, usize) {
        (x.rows, x.cols)
    }

    fn multiply(
        &self,
        a: &Leaf,
        x: &Panel,
        y: &mut Panel,
        then: &Fused<Panel>,
        _work: &mut Workspace<Panel>,
    ) {
        assert_eq!(
            x.rows,
            a.matrix.cols(),
            "rows of the block in a sparse product"
        );
        assert_eq!(
            (y.rows, y.cols),
            (a.matrix.rows(), x.cols),
            "shape of the result of a sparse product"
        );
        assert!(
            a.right.is_none_or(|right| right.values().len() == x.rows),
            "diagonal of a sparse product"
        );
        Self::check_summands(then, y);
        if y.len() == 0 {
            return;
        }
        let driver = &self.driver;
        let matrix = self.resident_matrix(a.matrix);
        let right = a.right.map(|right| self.resident.diagonal(driver, right));
        let products = self.programs.products(driver, x.cols);
        let lanes = crate::programs::Shape::of(x.cols).lanes;
        let (positions, first) = (&matrix.positions, self.first(then));
        let right = right.as_ref().map_or(NULL, |right| right.address());
        let common = [
            positions.offsets.address(),
            positions.columns.address(),
            matrix.values.address(),
            right,
            x.address(),
            y.address(),
            y.width(),
        ];
        let args = [&[wide(y.rows)], &common[..], &[count(LONGEST)], &first.args].concat();
        driver.launch(
            &products.short,
            (y.rows.div_ceil(THREADS / lanes), 1),
            THREADS as u32,
            &args,
        );
        let (which, long) = &positions.long;
        if *long > 0 {
            let args = [&[which.address()], &common[..], &first.args].concat();
            driver.launch(&products.long, (*long, 1), LONG_THREADS, &args);
        }
        self.add_rest(y, then);
    }

    fn finish(&self, product: &Panel, y: &mut Panel, then: &Fused<Panel>) {
        assert_eq!(
            (product.rows, product.cols),
            (y.rows, y.cols),
            "shape of what follows a product"
        );
        Self::check_summands(then, y);
        let first = self.first(then);
        self.for_values(
            self.programs.kernel("finish"),
            y,
            &[&[product.address(), y.address()], &*first.args].concat(),
        );
        self.add_rest(y, then);
    }

    fn scale_rows(&self, factors: &Diagonal, x: &Panel, y: &mut Panel) {
        assert!(
            factors.values().len() == x.rows && (x.rows, x.cols) == (y.rows, y.cols),
            "shapes of scaled rows"
        );
        let factors = self.resident.diagonal(&self.driver, factors);
        self.for_values(
            self.programs.kernel("scale_rows"),
            x,
            &[factors.address(), x.address(), y.address()],
        );
    }

    fn extremes_of(&self, x: &Block, _own: &Own) -> Vec<f64> {
        x.column_extremes()
    }

    fn gram(&self, x: &[Panel]) -> Small {
        self.gram_among(&x.iter().collect::<Vec<_>>())
    }

    fn gram_of(&self, y: &Columns) -> Small {
        self.gram_of_columns(y)
    }

    fn signed_times(&self, y: &Columns, matrix: &Small) -> (Block, Vec<f64>) {
        self.signed_product(y, matrix)
    }

    fn cross(&self, x: &[Panel], y: &[Panel]) -> Small {
        if x.iter().any(|panel| panel.aside.is_some()) {
            return self.cross_with_aside(x, y);
        }
        self.cross_of(&x.iter().collect::<Vec<_>>(), &y.iter().collect::<Vec<_>>())
    }

    fn times(&self, x: &[Panel], matrix: &Small, widths: &[usize]) -> Vec<Panel> {
        let rows = x.first().map_or(0, |panel| panel.rows);
        let y: Vec<Panel> = widths.iter().map(|&cols| self.zeros(rows, cols)).collect();
        self.combine_all(&y, x, matrix, 1.0, false);
        y
    }

    fn add_times(&self, y: &mut [Panel], x: &[Panel], matrix: &Small, sign: f32) {
        self.combine_all(y, x, matrix, sign, true);
    }

    fn transform(&self, x: &mut [Panel], matrix: &Small) {
        // A single panel is changed in place; several are read by each other's kernels.
        if let [only] = x {
            assert!(
                only.cols <= SIDE && (matrix.rows(), matrix.cols()) == (only.cols, only.cols),
                "a square matrix"
            );
            if only.len() > 0 {
                self.combine(only, &[only], matrix, 1.0, 0, false);
            }
            return;
        }
        self.transform_in_place(x, matrix);
    }

    fn fold(&self, x: &[Panel], fold: Fold) -> Vec<f64> {
        x.iter()
            .flat_map(|panel| self.folded(panel, fold))
            .collect()
    }

    fn map(&self, x: &mut [Panel], map: &Map) {
        if let Map::Shorten(power) = map {
            return self.shorten(x, *power);
        }
        let mut first = 0;
        for panel in x {
            let cols = first..first + panel.cols;
            first = cols.end;
            match map {
                Map::Zero => self.driver.clear(&mut panel.values),
                Map::Scale(factors) => {
                    let factors = self.driver.upload(&factors[cols]);
                    self.for_values(
                        self.programs.kernel("scale_columns"),
                        panel,
                        &[factors.address(), panel.address()],
                    );
                }
                Map::Redraw(which, key) => {
                    let marks: Vec<u32> = which[cols.clone()]
                        .iter()
                        .map(|&marked| marked.into())
                        .collect();
                    let marks = self.driver.upload(&marks);
                    let args = [
                        wide(cols.start),
                        Arg::Wide(key.bits()),
                        marks.address(),
                        panel.address(),
                    ];
                    self.for_values(self.programs.kernel("draw"), panel, &args);
                }
                Map::Shorten(_) => unreachable!("done above"),
            }
        }
    }

    fn pick(&self, x: &[Panel], rows: &[usize]) -> Block {
        self.picked(x, rows)
    }

    fn log_times(
        &self,
        x: &[Panel],
        logs: (&Diagonal, Logs),
        matrix: &Small,
        widths: &[usize],
    ) -> Vec<Panel> {
        self.logs_times(x, logs, matrix, widths)
    }
}

/// Some columns of a tall matrix, on a device.
#[derive(Debug)]
pub struct Panel {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Empty while the values are aside.
    pub(crate) values: Memory<f32>,
    /// The values in the memory of this process, while the device needs its own for others.
    pub(crate) aside: Option<Vec<f32>>,
}

impl Panel {
    pub(crate) fn new(rows: usize, cols: usize, values: Memory<f32>) -> Self {
        Panel {
            rows,
            cols,
            values,
            aside: None,
        }
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.rows * self.cols
    }

    /// # Panics
    /// When the values are aside.
    pub(crate) fn address(&self) -> Arg {
        assert!(self.aside.is_none(), "a panel in use is on the device");
        self.values.address()
    }

    pub(crate) fn width(&self) -> Arg {
        count(self.cols)
    }
}

/// A small number as an argument of a kernel.
pub(crate) fn count(value: usize) -> Arg {
    Arg::Count(u32::try_from(value).expect("a count of a kernel"))
}

/// An address as a number.
pub(crate) fn number(address: Arg) -> u64 {
    if let Arg::Wide(address) = address {
        address
    } else {
        0
    }
}

/// A number as an argument of a kernel.
pub(crate) fn wide(value: usize) -> Arg {
    Arg::Wide(value as u64)
}

/// Columns of the widest panel.
pub(crate) const SIDE: usize = 32;

/// Maximum number of parts.
const PARTS: usize = 1024;

/// The rows of a part are a multiple of this.
const UNIT: usize = 256;

/// Rows of each part, and how many parts there are.
fn parts(rows: usize) -> (usize, usize) {
    let part = rows.div_ceil(UNIT).div_ceil(PARTS).max(1) * UNIT;
    (part, rows.div_ceil(part))
}

/// First columns of the panels, and the total number.
fn columns(x: &[&Panel]) -> (Vec<usize>, usize) {
    let mut all = 0;
    let first = x.iter().map(|panel| {
        assert!(
            panel.cols <= SIDE && panel.rows == x[0].rows,
            "panels of one matrix"
        );
        all += panel.cols;
        all - panel.cols
    });
    (first.collect(), all)
}

impl Cuda {
    /// XᵀX.
    pub(crate) fn gram_among(&self, x: &[&Panel]) -> Small {
        let (first, all) = columns(x);
        let pairs: Vec<(usize, usize)> = (0..x.len())
            .flat_map(|p| (p..x.len()).map(move |q| (p, q)))
            .collect();
        let mut gram = Small::zeros(all, all);
        self.tiles(x, x, &pairs, |(p, q), i, j, value| {
            gram.set(first[p] + i, first[q] + j, value);
            gram.set(first[q] + j, first[p] + i, value);
        });
        gram
    }

    /// XᵀY.
    pub(crate) fn cross_of(&self, x: &[&Panel], y: &[&Panel]) -> Small {
        let ((above, a), (before, b)) = (columns(x), columns(y));
        assert!(
            x.is_empty() || y.is_empty() || x[0].rows == y[0].rows,
            "rows of a cross product"
        );
        let pairs: Vec<(usize, usize)> = (0..x.len())
            .flat_map(|p| (0..y.len()).map(move |q| (p, q)))
            .collect();
        let mut cross = Small::zeros(a, b);
        self.tiles(x, y, &pairs, |(p, q), i, j, value| {
            cross.set(above[p] + i, before[q] + j, value);
        });
        cross
    }

    /// Products of pairs of panels, entry by entry.
    fn tiles(
        &self,
        x: &[&Panel],
        y: &[&Panel],
        pairs: &[(usize, usize)],
        mut entry: impl FnMut((usize, usize), usize, usize, f64),
    ) {
        const TILE: usize = SIDE * SIDE;
        let rows = x.first().map_or(0, |panel| panel.rows);
        if rows == 0 || pairs.is_empty() {
            return;
        }
        let (part, parts) = parts(rows);
        let (driver, sums) = (&self.driver, self.driver.reserve::<f64>(parts * TILE));
        let totals = driver.reserve::<f64>(pairs.len() * TILE);
        for (at, &(p, q)) in pairs.iter().enumerate() {
            let (x, y) = (x[p], y[q]);
            let args = [
                wide(rows),
                wide(part),
                x.address(),
                x.width(),
                y.address(),
                y.width(),
                sums.address(),
            ];
            driver.launch(self.programs.kernel("cross_parts"), (parts, 1), 256, &args);
            let args = [count(parts), sums.address(), totals.address_at(at * TILE)];
            driver.launch(
                self.programs.kernel("add_parts"),
                (TILE / 256, 1),
                256,
                &args,
            );
        }
        let mut found = vec![0.0f64; pairs.len() * TILE];
        driver.download(&totals, &mut found);
        for (&(p, q), tile) in pairs.iter().zip(found.chunks_exact(TILE)) {
            for i in 0..x[p].cols {
                (0..y[q].cols).for_each(|j| entry((p, q), i, j, tile[i * SIDE + j]));
            }
        }
    }

    /// One number per column.
    pub(crate) fn folded(&self, x: &Panel, fold: Fold) -> Vec<f64> {
        let mut folded = vec![0.0f64; x.cols];
        if x.len() == 0 {
            return folded;
        }
        let (part, parts) = parts(x.rows);
        let found = self.driver.reserve::<f64>(parts * x.cols);
        let kernel = match fold {
            Fold::Length => self.programs.kernel("square_parts"),
            Fold::Extreme => self.programs.kernel("extreme_parts"),
        };
        let args = [
            wide(x.rows),
            wide(part),
            x.address(),
            x.width(),
            found.address(),
        ];
        self.driver
            .launch(kernel, (parts, x.cols.div_ceil(SIDE)), 256, &args);
        let mut of_parts = vec![0.0f64; parts * x.cols];
        self.driver.download(&found, &mut of_parts);
        for of_part in of_parts.chunks_exact(x.cols) {
            for (all, &own) in folded.iter_mut().zip(of_part) {
                match fold {
                    Fold::Length => *all += own,
                    Fold::Extreme if own.abs() > all.abs() => *all = own,
                    Fold::Extreme => {}
                }
            }
        }
        if fold == Fold::Length {
            folded.into_iter().map(f64::sqrt).collect()
        } else {
            folded
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_rows() {
        for rows in [
            1,
            255,
            256,
            257,
            262_144,
            262_145,
            10_000_000,
            4_000_000_000,
        ] {
            let (part, parts) = parts(rows);
            assert!(part.is_multiple_of(UNIT) && parts <= PARTS, "{rows}");
            assert!(part * parts >= rows && part * (parts - 1) < rows, "{rows}");
        }
    }
}
