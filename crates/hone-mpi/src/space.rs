//! [`Ranks`] as a [`Space`]: tall matrices divided by rows, whole lanes per process.
//!
//! A sparse product needs all rows of x: they are gathered from all processes, rounded to 16 bits first if the host
//! would round them too, and each process multiplies its own rows. Sums over rows are exchanged lane by lane and added
//! in order. All other operations are row by row, and done by the owner of the rows. The arithmetic is that of the
//! host.
//!
//! Cost of a product of b columns, for p processes: nnz·b/p multiply-adds, 4·N·b bytes received, half of that if
//! values are rounded, and one gathered block stored.

use std::borrow::Borrow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use hone::dense::panels::{self, Own};
use hone::dense::{Block, Columns, Logs, Small};
use hone::random::Key;
use hone::space::{Fold, Leaf, Map, Space, Workspace};
use hone::sparse::{Diagonal, Fused, Plus, Rounded, multiply_rounded, multiply_rows};

use crate::engine::own_rows;
use crate::world::World;

/// Rows of a tall matrix.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The rows of this process, and of the whole matrix.
    pub(crate) own: Own,
    pub(crate) block: Block,
}

impl Rows {
    /// Blocks with the same rows.
    fn beside(&self, blocks: Vec<Block>) -> Vec<Rows> {
        let rows = |block| Rows {
            own: self.own.clone(),
            block,
        };
        blocks.into_iter().map(rows).collect()
    }
}

impl Borrow<Block> for Rows {
    fn borrow(&self) -> &Block {
        &self.block
    }
}

/// Applies a function to the blocks of all panels, in place.
fn change(x: &mut [Rows], change: impl FnOnce(&mut [Block])) {
    let take = |panel: &mut Rows| std::mem::replace(&mut panel.block, Block::zeros(0, 0));
    let mut blocks: Vec<Block> = x.iter_mut().map(take).collect();
    change(&mut blocks);
    let panels = x.iter_mut().zip(blocks);
    panels.for_each(|(panel, block)| panel.block = block);
}

/// The processes of a job, and tall matrices divided among them.
#[derive(Debug)]
pub struct Ranks {
    pub(crate) world: World,
    pub(crate) name: String,
    /// The buffer of the last gather, for the next product.
    buffer: Mutex<Option<Block>>,
}

impl Ranks {
    /// Matrices divided among these processes.
    pub fn new(world: World) -> Self {
        let processes = if world.size() == 1 {
            "process"
        } else {
            "processes"
        };
        Ranks {
            world,
            name: format!("mpi, {} {processes}", world.size()),
            buffer: Mutex::default(),
        }
    }

    fn rows(&self, rows: usize, block: impl FnOnce(Range<usize>) -> Block) -> Rows {
        let range = self.world.own(rows);
        Rows {
            block: block(range.clone()),
            own: Own { rows, range },
        }
    }

    /// The product with exact values: all rows of `x` are gathered.
    fn multiply_exact(&self, a: &Leaf, x: &Rows, y: &mut Rows, then: &Fused<Rows>) {
        let range = y.own.range.clone();
        let product = |all: &Block| {
            own(then, |then| {
                multiply_rows(own_rows(a.matrix), range, all, &mut y.block, then);
            });
        };
        if self.world.size() == 1 {
            return product(&x.block);
        }
        let all = self.gathered(x);
        product(&all);
        self.keep(all);
    }

    /// The product with values that are rounded before they are gathered.
    fn multiply_rounded(
        &self,
        a: &Leaf,
        x: &Rows,
        y: &mut Rows,
        then: &Fused<Rows>,
        work: &mut Workspace<Rows>,
    ) {
        let (cols, range) = (x.block.cols(), y.own.range.clone());
        let right = a.right.map(|right| &right.values()[x.own.range.clone()]);
        let Rows { block, .. } = work.take(self, x.own.rows, Rounded::words(cols));
        let mut words = Rows {
            own: x.own.clone(),
            block: Rounded::of(&x.block, right, block).into_block(),
        };
        let alone = self.world.size() == 1;
        let all = if alone {
            std::mem::replace(&mut words.block, Block::zeros(0, 0))
        } else {
            self.gathered(&words)
        };
        let rounded = Rounded::from_words(all, cols);
        own(then, |then| {
            multiply_rounded(own_rows(a.matrix), range, &rounded, &mut y.block, then);
        });
        if alone {
            words.block = rounded.into_block();
        } else {
            self.keep(rounded.into_block());
        }
        work.give(words);
    }

    /// All rows of a matrix, in a buffer to be returned with [`keep`](Ranks::keep).
    fn gathered(&self, own: &Rows) -> Block {
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        let last = buffer.take();
        let fits = |block: &Block| (block.rows(), block.cols()) == (own.own.rows, own.block.cols());
        let mut all = last
            .filter(fits)
            .unwrap_or_else(|| Block::zeros(own.own.rows, own.block.cols()));
        self.world.gather(&own.block, &mut all);
        all
    }

    /// Keeps a buffer for the next product.
    fn keep(&self, all: Block) {
        *self.buffer.lock().unwrap_or_else(PoisonError::into_inner) = Some(all);
    }

    /// Frees the buffers that products keep for the next.
    pub(crate) fn forget(&self) {
        *self.buffer.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The sum of partial sums of all processes, in the order of rows.
    pub(crate) fn summed(&self, rows: usize, cols: usize, parts: &[Small]) -> Small {
        let mut sum = Small::zeros(rows, cols);
        self.world
            .add_in_order(parts.iter().map(Small::as_slice), sum.as_mut_slice());
        sum
    }

    /// Lengths of the columns of some blocks side by side, given the rows of this process.
    pub(crate) fn lengths_of(&self, x: &[(&Block, &Own)]) -> Vec<f64> {
        // Lanes of all panels side by side, so that one exchange is enough.
        let mut lanes: Vec<Vec<f64>> = Vec::new();
        for (block, own) in x {
            let mut at = 0;
            block.square_parts(own, |part| {
                match lanes.get_mut(at) {
                    Some(lane) => lane.extend(part),
                    None => lanes.push(part),
                }
                at += 1;
            });
        }
        let mut sum = vec![0.0; x.iter().map(|(block, _)| block.cols()).sum()];
        self.world
            .add_in_order(lanes.iter().map(Vec::as_slice), &mut sum);
        sum.into_iter().map(f64::sqrt).collect()
    }

    fn extremes<'a>(&self, x: impl Iterator<Item = &'a Block>) -> Vec<f64> {
        let own: Vec<f64> = x.flat_map(Block::column_extremes).collect();
        let mut most = vec![0.0f64; own.len()];
        // In case of a tie, the first process wins.
        for of_rank in self.world.all(&own).chunks_exact(own.len().max(1)) {
            let larger = most
                .iter_mut()
                .zip(of_rank)
                .filter(|(most, x)| x.abs() > most.abs());
            larger.for_each(|(most, &x)| *most = x);
        }
        most
    }
}

/// The epilogue of a product, for the rows of this process.
fn own<'then>(then: &Fused<'then, Rows>, go: impl FnOnce(&Fused)) {
    let own = |plus: &Plus<'then, Rows>| Plus {
        factor: plus.factor,
        diagonal: plus.diagonal,
        block: &plus.block.block,
    };
    let plus: Vec<Plus> = then.plus.iter().map(own).collect();
    go(&Fused {
        scale: then.scale,
        left: then.left,
        plus: &plus,
        accumulate: then.accumulate,
    });
}

impl Space for Ranks {
    type Tall = Rows;

    fn zeros(&self, rows: usize, cols: usize) -> Rows {
        self.rows(rows, |range| Block::zeros(range.len(), cols))
    }

    fn random(&self, rows: usize, cols: Range<usize>, key: Key) -> Rows {
        self.rows(rows, |range| Block::random_part(range, cols, key))
    }

    fn import(&self, block: &Block) -> Rows {
        let own = |range: Range<usize>| {
            Block::from_vec(range.len(), block.cols(), block.rows_slice(range).to_vec())
        };
        self.rows(block.rows(), own)
    }

    fn export(&self, x: Rows) -> Block {
        if self.world.size() == 1 {
            return x.block;
        }
        let mut all = Block::zeros(x.own.rows, x.block.cols());
        self.world.gather(&x.block, &mut all);
        all
    }

    fn copy(&self, x: &Rows) -> Rows {
        x.clone()
    }

    fn shape(&self, x: &Rows) -> (usize, usize) {
        (x.own.rows, x.block.cols())
    }

    fn multiply(
        &self,
        a: &Leaf,
        x: &Rows,
        y: &mut Rows,
        then: &Fused<Rows>,
        work: &mut Workspace<Rows>,
    ) {
        if a.rounded && Rounded::words(x.block.cols()) < x.block.cols() {
            return self.multiply_rounded(a, x, y, then, work);
        }
        let Some(right) = a.right else {
            return self.multiply_exact(a, x, y, then);
        };
        let mut scaled = work.take(self, x.own.rows, x.block.cols());
        self.scale_rows(right, x, &mut scaled);
        self.multiply_exact(a, &scaled, y, then);
        work.give(scaled);
    }

    fn finish(&self, product: &Rows, y: &mut Rows, then: &Fused<Rows>) {
        own(then, |then| {
            then.finish_part(
                y.own.rows,
                y.own.range.clone(),
                &product.block,
                &mut y.block,
            );
        });
    }

    fn scale_rows(&self, factors: &Diagonal, x: &Rows, y: &mut Rows) {
        let factors = &factors.values()[x.own.range.clone()];
        let scale = |i: usize, row: &mut [f32]| {
            row.iter_mut()
                .zip(x.block.row(i))
                .for_each(|(to, &from)| *to = factors[i] * from);
        };
        y.block.update_rows(scale);
    }

    fn gram_of(&self, y: &Columns) -> Small {
        if y.own().is_all() {
            return y.gram();
        }
        let mut parts = Vec::new();
        y.gram_parts(y.own(), |part| parts.push(part));
        self.summed(y.cols(), y.cols(), &parts)
    }

    fn extremes_of(&self, x: &Block, own: &Own) -> Vec<f64> {
        if own.is_all() {
            x.column_extremes()
        } else {
            self.extremes([x].into_iter())
        }
    }

    fn gram(&self, x: &[Rows]) -> Small {
        let (width, mut parts) = (panels::width(x), Vec::new());
        panels::gram_parts(x, &x[0].own, |part| parts.push(part));
        self.summed(width, width, &parts)
    }

    fn cross(&self, x: &[Rows], y: &[Rows]) -> Small {
        let mut parts = Vec::new();
        panels::cross_parts(x, y, &x[0].own, |part| parts.push(part));
        self.summed(panels::width(x), panels::width(y), &parts)
    }

    fn times(&self, x: &[Rows], matrix: &Small, widths: &[usize]) -> Vec<Rows> {
        x[0].beside(panels::times(x, matrix, widths))
    }

    fn subtract_times(&self, y: &mut [Rows], x: &[Rows], matrix: &Small) {
        change(y, |y| panels::subtract_times(y, x, matrix));
    }

    fn transform(&self, x: &mut [Rows], matrix: &Small) {
        change(x, |x| panels::transform(x, matrix));
    }

    fn fold(&self, x: &[Rows], fold: Fold) -> Vec<f64> {
        match fold {
            Fold::Length => {
                let blocks = x.iter().map(|panel| (&panel.block, &panel.own));
                self.lengths_of(&blocks.collect::<Vec<_>>())
            }
            Fold::Extreme => self.extremes(x.iter().map(|panel| &panel.block)),
        }
    }

    fn pick(&self, x: &[Rows], rows: &[usize]) -> Block {
        let (cols, range) = (panels::width(x), x[0].own.range.clone());
        let (places, own): (Vec<usize>, Vec<usize>) = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| range.contains(row))
            .map(|(k, row)| (k, row - range.start))
            .unzip();
        let own = panels::pick(x, &own);
        let mut part = vec![0.0; rows.len() * cols];
        for (k, &place) in places.iter().enumerate() {
            let to = part[place * cols..][..cols].iter_mut();
            to.zip(own.row(k))
                .for_each(|(to, &value)| *to = f64::from(value));
        }
        // Each row is that of one process, beside zeros.
        let mut all = vec![0.0; part.len()];
        self.world.add_in_order([&*part], &mut all);
        Block::from_vec(
            rows.len(),
            cols,
            all.into_iter().map(|value| value as f32).collect(),
        )
    }

    fn log_times(
        &self,
        x: &[Rows],
        (factors, logs): (&Diagonal, Logs),
        matrix: &Small,
        widths: &[usize],
    ) -> Vec<Rows> {
        let factors = &factors.values()[x[0].own.range.clone()];
        x[0].beside(logs.times(x, factors, matrix, widths))
    }

    fn map(&self, x: &mut [Rows], map: &Map) {
        let first = x.first().map_or(0, |panel| panel.own.range.start);
        change(x, |x| map.change(x, first));
    }
}
