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

use hone::Result;
use hone::dense::{Block, Columns, Logs, Small};
use hone::random::Key;
use hone::space::{Fold, Leaf, Map, Space, Workspace};
use hone::sparse::{Diagonal, Fused, Plus};

use crate::driver::{Arg, Memory, args};
use crate::programs::Shape;
use crate::resident::LONGEST;
use crate::{Cuda, THREADS};

/// Terms that a kernel adds to a product.
const SUMMANDS: usize = 3;

/// Panels that one launch multiplies with a small matrix.
const AT_ONCE: usize = 4;

/// Rows that a block multiplies with a small matrix.
const TILE: usize = 64;

/// Threads of a block that multiplies one long row.
const LONG_THREADS: u32 = 512;

/// Columns of the widest panel.
pub(crate) const SIDE: usize = 32;

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

    /// The address of a value.
    ///
    /// # Panics
    /// When the values are aside.
    pub(crate) fn at(&self, index: usize) -> u64 {
        assert!(self.aside.is_none(), "a panel in use is on the device");
        self.values.at(index)
    }
}

impl From<&Panel> for Arg {
    fn from(panel: &Panel) -> Arg {
        panel.at(0).into()
    }
}

/// Columns of all panels.
pub(crate) fn width(x: &[Panel]) -> usize {
    x.iter().map(|panel| panel.cols).sum()
}

impl Cuda {
    /// A panel with arbitrary content.
    pub(crate) fn panel(&self, rows: usize, cols: usize) -> Panel {
        Panel::new(rows, cols, self.driver.reserve(rows * cols))
    }

    /// Where a diagonal is. Its copy is kept as long as the diagonal.
    fn diagonal(&self, diagonal: Option<&Diagonal>) -> Arg {
        diagonal.map_or(Arg::NULL, |diagonal| {
            Arg::from(&*self.resident.diagonal(&self.driver, diagonal))
        })
    }

    /// The arguments of a product's epilogue, with as many terms as a kernel adds.
    fn then(
        &self,
        scale: f32,
        left: Option<&Diagonal>,
        accumulate: bool,
        plus: &[Plus<Panel>],
    ) -> Arg {
        let mut then = args![scale, self.diagonal(left), accumulate].to_vec();
        for at in 0..SUMMANDS {
            then.extend(match plus.get(at) {
                None => [Arg::Factor(0.0), Arg::NULL, Arg::NULL],
                Some(plus) => args![plus.factor, self.diagonal(plus.diagonal), plus.block],
            });
        }
        then.into()
    }

    /// The first part of the epilogue, which the kernel of the product does.
    fn first(&self, then: &Fused<Panel>) -> Arg {
        self.then(then.scale, then.left, then.accumulate, then.plus)
    }

    /// Terms beyond those that the kernel of the product adds.
    fn add_rest(&self, y: &Panel, then: &Fused<Panel>) {
        for plus in then.plus.chunks(SUMMANDS).skip(1) {
            let args = args![y.cols, Arg::NULL, y, self.then(0.0, None, true, plus)];
            self.per_value("finish", y.len(), &args);
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
            let mut panels = Vec::new();
            for (panel, small) in some.iter().zip(small.chunks_exact_mut(SIDE * SIDE)) {
                for k in 0..panel.cols {
                    for j in 0..y.cols {
                        small[k * SIDE + j] = factor * matrix.get(row + k, first + j) as f32;
                    }
                }
                row += panel.cols;
                panels.extend(args![*panel, panel.cols]);
            }
            panels.resize(2 * AT_ONCE, Arg::NULL);
            let small = self.driver.upload(&small);
            let args = args![y.rows, panels, &small, y, y.cols, add || at > 0];
            self.launch("combine", (y.rows.div_ceil(TILE), 1), THREADS, &args);
        }
    }

    /// The same for all panels of Y.
    fn combine_all(&self, y: &[Panel], x: &[Panel], matrix: &Small, factor: f32, add: bool) {
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

    /// Divides each row of all panels together by its length to a power.
    fn shorten(&self, panels: &[Panel], power: f64) {
        let rows = panels.first().map_or(0, |panel| panel.rows);
        let squares = self.driver.zeros::<f64>(rows);
        let panels = || panels.iter().filter(|panel| panel.len() > 0);
        for panel in panels() {
            self.per_value("add_squares", rows, &args![panel.cols, panel, &squares]);
        }
        for panel in panels() {
            let args = args![panel.cols, &squares, power, panel];
            self.per_value("shorten", panel.len(), &args);
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
        let args = args![panel.cols, cols.start, key.bits(), Arg::NULL, &panel];
        self.per_value("draw", panel.len(), &args);
        panel
    }

    fn import(&self, block: &Block) -> Panel {
        let values = self.driver.upload(block.as_slice());
        Panel::new(block.rows(), block.cols(), values)
    }

    fn export(&self, x: Panel) -> Block {
        if let Some(values) = x.aside {
            return Block::from_vec(x.rows, x.cols, values);
        }
        let mut block = Block::zeros(x.rows, x.cols);
        self.driver.download_at(&x.values, 0, block.as_mut_slice());
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
            let values = self.driver.read(&x.values, x.len());
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
        let (matrix, shape) = (self.resident_matrix(a.matrix), Shape::of(x.cols));
        let products = self.programs.products(&self.driver, shape);
        let (positions, (which, long)) = (&matrix.positions, &matrix.positions.long);
        let common = args![
            &positions.offsets,
            &positions.columns,
            &*matrix.values,
            self.diagonal(a.right),
            x,
            &*y,
            y.cols,
        ];
        let (common, first) = (common.to_vec(), self.first(then));
        let blocks = (y.rows.div_ceil(THREADS / shape.lanes), 1);
        let args = args![y.rows, common.clone(), LONGEST, first.clone()];
        self.driver
            .launch(&products["spmm"], blocks, THREADS as u32, &args);
        if *long > 0 {
            let args = args![which, common, first];
            self.driver
                .launch(&products["spmm_long"], (*long, 1), LONG_THREADS, &args);
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
        let args = args![y.cols, product, &*y, self.first(then)];
        self.per_value("finish", y.len(), &args);
        self.add_rest(y, then);
    }

    fn scale_rows(&self, factors: &Diagonal, x: &Panel, y: &mut Panel) {
        assert!(
            factors.values().len() == x.rows && (x.rows, x.cols) == (y.rows, y.cols),
            "shapes of scaled rows"
        );
        let args = args![x.cols, self.diagonal(Some(factors)), x, &*y];
        self.per_value("scale_rows", x.len(), &args);
    }

    fn gram(&self, x: &[Panel]) -> Small {
        self.gram_among(&x.iter().collect::<Vec<_>>())
    }

    fn gram_of(&self, y: &Columns) -> Small {
        self.gram_of_columns(y)
    }

    fn times_of(&self, y: &Columns, matrix: &Small) -> Block {
        self.product_of_columns(y, matrix)
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

    fn subtract_times(&self, y: &mut [Panel], x: &[Panel], matrix: &Small) {
        self.combine_all(y, x, matrix, -1.0, true);
    }

    fn transform(&self, x: &mut [Panel], matrix: &Small) {
        // A single panel is changed in place; several are read by each other's kernels.
        match x {
            [_] => self.combine_all(x, x, matrix, 1.0, false),
            _ => self.transform_in_place(x, matrix),
        }
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
                    let args = args![panel.cols, &factors, &*panel];
                    self.per_value("scale_columns", panel.len(), &args);
                }
                Map::Redraw(which, key) => {
                    let marks = which[cols.clone()].iter().map(|&marked| marked.into());
                    let marks = self.driver.upload(&marks.collect::<Vec<u32>>());
                    let args = args![panel.cols, cols.start, key.bits(), &marks, &*panel];
                    self.per_value("draw", panel.len(), &args);
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
        self.products_of(x, x, true)
    }

    /// XᵀY.
    pub(crate) fn cross_of(&self, x: &[&Panel], y: &[&Panel]) -> Small {
        assert!(
            x.is_empty() || y.is_empty() || x[0].rows == y[0].rows,
            "rows of a cross product"
        );
        self.products_of(x, y, false)
    }

    /// XᵀY, pair of panels by pair; only one of two transposed pairs if it is symmetric.
    fn products_of(&self, x: &[&Panel], y: &[&Panel], symmetric: bool) -> Small {
        const TILE: usize = SIDE * SIDE;
        let ((above, a), (before, b)) = (columns(x), columns(y));
        let first = |p: usize| if symmetric { p } else { 0 };
        let pairs: Vec<(usize, usize)> = (0..x.len())
            .flat_map(|p| (first(p)..y.len()).map(move |q| (p, q)))
            .collect();
        let mut products = Small::zeros(a, b);
        let rows = x.first().map_or(0, |panel| panel.rows);
        if rows == 0 || pairs.is_empty() {
            return products;
        }
        let (part, parts) = parts(rows);
        let sums = self.driver.reserve::<f64>(parts * TILE);
        let totals = self.driver.reserve::<f64>(pairs.len() * TILE);
        for (at, &(p, q)) in pairs.iter().enumerate() {
            let args = args![rows, part, x[p], x[p].cols, y[q], y[q].cols, &sums];
            self.launch("cross_parts", (parts, 1), THREADS, &args);
            let args = args![parts, &sums, totals.at(at * TILE)];
            self.launch("add_parts", (TILE / THREADS, 1), THREADS, &args);
        }
        let found = self.driver.read(&totals, pairs.len() * TILE);
        for (&(p, q), tile) in pairs.iter().zip(found.chunks_exact(TILE)) {
            for (i, row) in tile.chunks_exact(SIDE).enumerate().take(x[p].cols) {
                for (j, &sum) in row.iter().enumerate().take(y[q].cols) {
                    products.set(above[p] + i, before[q] + j, sum);
                    if symmetric {
                        products.set(before[q] + j, above[p] + i, sum);
                    }
                }
            }
        }
        products
    }

    /// One number per column.
    fn folded(&self, x: &Panel, fold: Fold) -> Vec<f64> {
        let mut folded = vec![0.0f64; x.cols];
        if x.len() == 0 {
            return folded;
        }
        let (part, parts) = parts(x.rows);
        let found = self.driver.reserve::<f64>(parts * x.cols);
        let kernel = match fold {
            Fold::Length => "square_parts",
            Fold::Extreme => "extreme_parts",
        };
        let args = args![x.rows, part, x, x.cols, &found];
        self.launch(kernel, (parts, x.cols.div_ceil(SIDE)), THREADS, &args);
        let of_parts = self.driver.read(&found, parts * x.cols);
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
            folded.iter_mut().for_each(|sum| *sum = sum.sqrt());
        }
        folded
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
