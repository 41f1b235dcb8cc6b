//! [`Host`]: tall matrices in the memory of this process, worked on by its threads.

use std::ops::Range;
use std::path::Path;

use super::{Fold, Leaf, Map, Space, Workspace, shorten};
use crate::dense::panels::{self, Own};
use crate::dense::{Block, Columns, Logs, Norm, Small};
use crate::error::Result;
use crate::random::Key;
use crate::sparse::Multiply;
use crate::sparse::{Diagonal, Fused, Rounded};

/// The memory of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Host;

impl Space for Host {
    type Tall = Block;

    fn zeros(&self, rows: usize, cols: usize) -> Block {
        Block::zeros(rows, cols)
    }

    fn random(&self, rows: usize, cols: Range<usize>, key: Key) -> Block {
        Block::random_part(0..rows, cols, key)
    }

    fn import(&self, block: &Block) -> Block {
        block.clone()
    }

    fn export(&self, x: Block) -> Block {
        x
    }

    fn copy(&self, x: &Block) -> Block {
        x.clone()
    }

    fn put_aside(&self, x: &mut Block, folder: &Path) -> Result<()> {
        x.put_aside(folder)
    }

    fn bring_back(&self, x: &mut Block) -> Result<()> {
        x.bring_back()
    }

    fn shape(&self, x: &Block) -> (usize, usize) {
        (x.rows(), x.cols())
    }

    fn multiply(&self, a: &Leaf, x: &Block, y: &mut Block, then: &Fused, work: &mut Workspace) {
        if a.rounded && Rounded::words(x.cols()) < x.cols() {
            let words = work.take(self, x.rows(), Rounded::words(x.cols()));
            let rounded = Rounded::of(x, a.right.map(Diagonal::values), words);
            a.matrix.multiply_rounded(&rounded, y, then);
            return work.give(rounded.into_block());
        }
        let Some(right) = a.right else {
            return a.matrix.multiply_fused(x, y, then);
        };
        let mut scaled = work.take(self, x.rows(), x.cols());
        self.scale_rows(right, x, &mut scaled);
        a.matrix.multiply_fused(&scaled, y, then);
        work.give(scaled);
    }

    fn finish(&self, product: &Block, y: &mut Block, then: &Fused) {
        then.finish_part(y.rows(), 0..y.rows(), product, y);
    }

    fn scale_rows(&self, factors: &Diagonal, x: &Block, y: &mut Block) {
        let factors = factors.values();
        y.update_rows(|i, row| {
            row.iter_mut()
                .zip(x.row(i))
                .for_each(|(to, &from)| *to = factors[i] * from);
        });
    }

    fn gram_of(&self, y: &Columns) -> Small {
        y.gram()
    }

    fn extremes_of(&self, x: &Block, _own: &Own) -> Vec<f64> {
        x.column_extremes()
    }

    fn gram(&self, x: &[Block]) -> Small {
        panels::gram(x)
    }

    fn cross(&self, x: &[Block], y: &[Block]) -> Small {
        panels::cross(x, y)
    }

    fn times(&self, x: &[Block], matrix: &Small, widths: &[usize]) -> Vec<Block> {
        panels::times(x, matrix, widths)
    }

    fn add_times(&self, y: &mut [Block], x: &[Block], matrix: &Small, sign: f32) {
        panels::add_times(y, x, matrix, sign);
    }

    fn transform(&self, x: &mut [Block], matrix: &Small) {
        panels::transform(x, matrix);
    }

    fn fold(&self, x: &[Block], fold: Fold) -> Vec<f64> {
        let of = |panel: &Block| match fold {
            Fold::Length => panel.column_norms(Norm::L2),
            Fold::Extreme => panel.column_extremes(),
        };
        x.iter().flat_map(of).collect()
    }

    fn map(&self, x: &mut [Block], map: &Map) {
        if let Map::Shorten(power) = map {
            return panels::update_rows(x, |row| shorten(row, *power));
        }
        let mut first = 0;
        for panel in x {
            let cols = first..first + panel.cols();
            first = cols.end;
            match map {
                Map::Zero => panel.as_mut_slice().fill(0.0),
                Map::Scale(factors) => panel.scale_columns(&factors[cols]),
                Map::Redraw(which, key) => panel.redraw(cols.clone(), 0, &which[cols], *key),
                Map::Shorten(_) => unreachable!("done above"),
            }
        }
    }

    fn pick(&self, x: &[Block], rows: &[usize]) -> Block {
        panels::pick(x, rows)
    }

    fn log_times(
        &self,
        x: &[Block],
        (factors, logs): (&Diagonal, Logs),
        matrix: &Small,
        widths: &[usize],
    ) -> Vec<Block> {
        logs.times(x, factors.values(), matrix, widths)
    }
}

impl Workspace<Block> {
    /// A block of that shape with arbitrary content.
    pub fn block(&mut self, rows: usize, cols: usize) -> Block {
        self.take(&Host, rows, cols)
    }
}
