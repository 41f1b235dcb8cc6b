//! [`Cuda`] as an [`Engine`]: singular value decompositions of motif matrices on the device.
//!
//! Motifs are counted by this process, and so is what is small or dense: matrices that are decomposed whole, and the
//! decomposition of Y through its Gram matrix. Before the work, what the largest factorisation needs is compared with the
//! memory of the device; what fails later, for memory or otherwise, is an error too.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use hone::Result;
use hone::dense::Panels;
use hone::engine::{Engine, Largest};
use hone::factor::svd::svd_in;
use hone::factor::{Factors, Solver, Task};
use hone::operator::Operator;

use crate::Cuda;
use crate::driver::{Failure, no_room};

/// Bytes beside matrices and panels: kernels, partial sums, what the allocator rounds up.
const BESIDE: u64 = 256 << 20;

impl Engine for Cuda {
    fn name(&self) -> &str {
        self.driver.name()
    }

    fn has(&self, solver: &Solver) -> bool {
        matches!(solver, Solver::Svd(_))
    }

    fn plan(&self, largest: &Largest) -> Result<()> {
        let (need, free) = (memory(largest), self.free_memory()?);
        if need > free { Err(no_room(self.name(), need, false, free)) } else { Ok(()) }
    }

    fn factor(&self, solver: &Solver, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        let Solver::Svd(options) = solver else { return Err(self.lacks(solver)) };
        self.resident.forget_unused();
        let found = catch_unwind(AssertUnwindSafe(|| svd_in(self, s, options, task)));
        self.resident.forget_unused();
        found.unwrap_or_else(|payload| match payload.downcast::<Failure>() {
            Ok(failure) => Err(failure.0),
            Err(other) => resume_unwind(other),
        })
    }
}

/// Bytes of device memory that a factorisation needs.
fn memory(largest: &Largest) -> u64 {
    let Largest { rows, nonzeros, columns } = *largest;
    // Offsets, and a column number and a value each; diagonals on both sides and a shift.
    let matrix = 8 * rows + 8 * nonzeros + 3 * 4 * rows;
    BESIDE.saturating_add(matrix).saturating_add((4 * rows).saturating_mul(columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_grows_with_all_that_is_held() {
        let base = Largest { rows: 1_000_000, nonzeros: 10_000_000, columns: 120 };
        let bytes = memory(&base);
        assert_eq!(bytes, BESIDE + 20_000_000 + 80_000_000 + 480_000_000);
        assert!(memory(&Largest { rows: 2_000_000, ..base }) > bytes);
        assert!(memory(&Largest { nonzeros: 20_000_000, ..base }) > bytes);
        assert_eq!(memory(&Largest { rows: u64::MAX / 100, columns: u64::MAX, ..base }), u64::MAX);
    }
}
