//! The experiments, one a file.

mod link;
mod nodes;
mod runtime;
mod scaling;
mod structure;

pub use link::{LinkCell, LinkConfig, Outcome, Protocol, link};
pub use nodes::{NodeScore, NodesCell, NodesConfig, nodes};
pub use runtime::{RuntimeConfig, Times, runtime};
pub use scaling::{FITTED_FROM, Scaling, ScalingRun, bandwidth, machine};
pub use structure::{StructureCell, Symmetric, structure, symmetric_graphs};

use hone::Progress;

/// Progress of the work within one cell: it may be cancelled, but the bar and the notes belong to
/// the whole experiment.
struct Within<'a>(&'a dyn Progress);

impl Progress for Within<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
