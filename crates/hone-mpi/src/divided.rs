//! [`Divided`]: the weights of a motif graph, of which each process holds those of its own rows.
//!
//! Products need no others. Sums of rows are exchanged, 8 bytes per node. All values are gathered only if something
//! reads them one by one. Cost: 4·nnz/p bytes per process, and 8·N received for each vector of sums.

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use hone::communicator::Communicator;
use hone::dense::Block;
use hone::sparse::{Csr, Diagonal, Pattern, RemoteValues};

use crate::world::World;

/// Values of a square sparse matrix, divided by rows. All processes call the same functions in the same order.
#[derive(Debug)]
pub(crate) struct Divided {
    world: World,
    rows: Range<usize>,
    /// The rows of this process.
    own: Csr,
    sums: OnceLock<Arc<Vec<f64>>>,
}

impl Divided {
    /// The values of the rows of this process.
    pub(crate) fn new(world: World, pattern: Arc<Pattern>, values: Vec<f32>) -> Self {
        let rows = world.own(pattern.rows());
        let own = Csr::of_rows(pattern, &rows, values.into());
        Divided {
            world,
            rows,
            own,
            sums: OnceLock::new(),
        }
    }
}

/// The matrix to multiply the rows of this process with.
pub(crate) fn own_rows(matrix: &Csr) -> &Csr {
    let divided = matrix
        .remote_values()
        .and_then(|values| values.as_any().downcast_ref::<Divided>());
    divided.map_or(matrix, |divided| &divided.own)
}

impl RemoteValues for Divided {
    fn read(&self) -> Vec<f32> {
        let bytes = self
            .own
            .values()
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect::<Vec<u8>>();
        let value = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        self.world
            .gather_bytes(&bytes)
            .iter()
            .flat_map(|bytes| bytes.chunks_exact(4).map(value))
            .collect()
    }

    fn times_vector(&self, x: &[f64]) -> Vec<f64> {
        // Two words per value: nothing is computed with them on the way.
        let halves = |value: f64| {
            [value.to_bits() as u32, (value.to_bits() >> 32) as u32].map(f32::from_bits)
        };
        let own = self
            .own
            .rows_times_vector(self.rows.clone(), x)
            .into_iter()
            .flat_map(halves)
            .collect();
        let mut all = Block::zeros(x.len(), 2);
        self.world
            .gather(&Block::from_vec(self.rows.len(), 2, own), &mut all);
        let whole = |row: &[f32]| {
            f64::from_bits(u64::from(row[0].to_bits()) | u64::from(row[1].to_bits()) << 32)
        };
        all.as_slice().chunks_exact(2).map(whole).collect()
    }

    fn row_sums(&self) -> Arc<Vec<f64>> {
        Arc::clone(
            self.sums
                .get_or_init(|| Arc::new(self.times_vector(&vec![1.0; self.own.cols()]))),
        )
    }

    fn squares(&self) -> f64 {
        self.world.all(&[self.own.squares()]).into_iter().sum()
    }

    fn scaled(&self, scale: f64, left: &Diagonal, right: &Diagonal) -> Arc<dyn RemoteValues> {
        let own = self.own.scaled_by(scale, left, right);
        Arc::new(Divided {
            world: self.world,
            rows: self.rows.clone(),
            own,
            sums: OnceLock::new(),
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
