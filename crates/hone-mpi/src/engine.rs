//! [`Ranks`] as an [`Engine`]: singular value decompositions by all processes together.
//!
//! Other solvers, joint models and what is small are done by every process for itself, with the same bits.

use hone::Result;
use hone::dense::Panels;
use hone::engine::{Cpu, Engine};
use hone::factor::svd::svd_in;
use hone::factor::{Factors, Solver, Task};
use hone::operator::Operator;

use crate::space::Ranks;

impl Engine for Ranks {
    fn name(&self) -> &str {
        &self.name
    }

    fn arithmetic(&self) -> &str {
        Cpu.name()
    }

    fn processes(&self) -> usize {
        self.world.size()
    }

    fn leads(&self) -> bool {
        self.world.rank() == 0
    }

    fn meet(&self) {
        self.world.meet();
    }

    fn has(&self, _solver: &Solver) -> bool {
        true
    }

    fn has_joint_models(&self) -> bool {
        true
    }

    fn factor(&self, solver: &Solver, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        let found = match solver {
            Solver::Svd(options) => svd_in(self, s, options, task),
            _ => solver.factor_panels(s, task),
        };
        self.forget();
        found
    }
}
