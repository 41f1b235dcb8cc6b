//! [`Ranks`] as an [`Engine`]: exact counts, singular value decompositions, Y and Z by all processes together.
//!
//! Every process does other solvers, joint models and small work for itself, with the same bits.

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use hone::Result;
use hone::communicator::Communicator;
use hone::dense::panels::Own;
use hone::dense::{Block, Columns, Group, Norm, Panels, Small, lane_rows};
use hone::engine::{Counting, Cpu, Engine, Local, Request, Window};
use hone::factor::log_window::View;
use hone::factor::svd::{MOST_IN_PIECES, svd_in, svd_there};
use hone::factor::{Factors, Solver, Task};
use hone::graph::Graph;
use hone::motif::{Counts, Motif, MotifGraph, MotifRows, Weighting, overflow, shares_pattern};
use hone::operator::Operator;
use hone::space::{Fold, Space};
use hone::sparse::{Csr, Diagonal, Pattern, RemoteValues};

use crate::space::Ranks;
use crate::world::World;

impl Engine for Ranks {
    fn name(&self) -> &str {
        &self.name
    }

    fn arithmetic(&self) -> &str {
        Cpu.name()
    }

    fn communicator(&self) -> &dyn Communicator {
        &self.world
    }

    fn own(&self, rows: usize) -> Own {
        // A single lane is not divided: every process has it.
        if rows <= lane_rows(rows) {
            Own::all(rows)
        } else {
            Own {
                rows,
                range: self.world.own(rows),
            }
        }
    }

    fn gram(&self, y: &Columns) -> Small {
        self.gram_of(y)
    }

    fn lengths(&self, x: &Block, own: &Own) -> Vec<f64> {
        if own.is_all() {
            x.column_norms(Norm::L2)
        } else {
            self.lengths_of(&[(x, own)])
        }
    }

    fn motif_graph(
        &self,
        counts: &Counts,
        graph: &Graph,
        motif: Motif,
        weighting: Weighting,
        rows: &Own,
    ) -> Result<MotifGraph> {
        // Matrices that may be decomposed component by component are read entry by entry.
        if rows.is_all() || graph.is_directed() || graph.nodes() <= MOST_IN_PIECES {
            return counts.motif_graph(graph, motif, weighting);
        }
        let pattern = graph.pattern();
        let mut part = counts.motif_rows(graph, motif, weighting, rows.range.clone())?;
        let mut sums = [
            part.nonzeros as u64,
            part.below_delta as u64,
            u64::from(!part.finite),
        ];
        self.world.add_u64(&mut sums);
        let [nnz, below_delta, beyond] = sums.map(|sum| sum as usize);
        if beyond > 0 {
            return Err(overflow(motif));
        }
        let total = self.world.all(&[part.total]).into_iter().sum();
        let values = std::mem::take(&mut part.values);
        if !shares_pattern(nnz, pattern.nnz()) {
            let first = pattern.offsets()[rows.range.start];
            let part = MotifRows {
                below_delta,
                total,
                ..part
            };
            let own = (first as u64..)
                .zip(values)
                .filter(|(_, value)| *value != 0.0);
            let (places, values): (Vec<u64>, Vec<f32>) = own.unzip();
            let (places, _) = self.world.gather_values(&places);
            let (values, _) = self.world.gather_values(&values);
            let places = places.into_iter().map(|place| place as usize);
            return MotifGraph::of_weights((motif, pattern), places.zip(values), &part);
        }
        let values = Divided::new(self.world, pattern.clone(), values);
        let matrix = Csr::with_remote_values(pattern.clone(), Arc::new(values));
        Ok(MotifGraph {
            motif,
            nodes: None,
            matrix,
            scale: part.scale,
            total,
            nnz,
            below_delta,
        })
    }

    fn products(&self, x: &Columns) -> Result<Small> {
        let (own, mut parts) = (self.own(x.rows()), Vec::new());
        if own.is_all() {
            return Ok(x.gram());
        }
        x.gram_parts(&own, |part| parts.push(part));
        Ok(self.summed(x.cols(), x.cols(), &parts))
    }

    fn times(&self, x: &Columns, matrix: &Small) -> Result<Block> {
        let Own { rows, range } = self.own(x.rows());
        let own = x.rows_times(range, matrix);
        if own.rows() == rows {
            return Ok(own);
        }
        let mut all = Block::zeros(rows, matrix.cols());
        self.world.gather(&own, &mut all);
        Ok(all)
    }

    fn has(&self, _solver: &Solver) -> bool {
        true
    }

    fn has_joint_models(&self) -> bool {
        true
    }

    fn count(&self, graph: &Graph, how: Counting<'_>) -> Result<Counts> {
        how.sample.count_motifs_with(
            graph,
            how.motifs,
            (how.seed, how.allowance),
            &self.world,
            how.progress,
        )
    }

    fn factor(&self, solver: &Solver, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        let found = match solver {
            Solver::Svd(options) => svd_in(self, s, options, task),
            _ => solver.factor_panels(s, task),
        };
        self.forget();
        found
    }

    fn local(
        &self,
        solver: &Solver,
        s: &Operator,
        task: &Task,
        request: &Request,
    ) -> Result<Local> {
        let Solver::Svd(options) = solver else {
            return self.local_here(solver, s, task, request);
        };
        if !request.own_rows {
            return self.local_here(solver, s, task, request);
        }
        let found = svd_there(self, s, options, task)?;
        self.forget();
        let found = request.shaped_in(self, found, task, |panels| {
            let (rows, lengths) = (panels[0].own.rows, self.fold(&panels, Fold::Length));
            let blocks: Vec<Block> = panels.into_iter().map(|panel| panel.block).collect();
            Ok(Group::own_rows(blocks.into(), rows, lengths))
        });
        self.forget();
        found
    }

    fn window(&self, window: &Window, u: &mut Panels, task: &Task) -> Result<View> {
        let found = window.spanned_through(self, u, task);
        self.forget();
        found
    }
}

/// The weights of a motif graph, of which each process holds those of its own rows. All processes call the same functions in
/// the same order.
///
/// Products need no others. Sums of rows are exchanged, 8 bytes per node. All values are gathered only if something
/// reads them one by one. Cost: 4·nnz/p bytes per process, and 8·N received for each vector of sums.
#[derive(Debug)]
struct Divided {
    world: World,
    rows: Range<usize>,
    /// The rows of this process.
    own: Csr,
    sums: OnceLock<Arc<Vec<f64>>>,
}

impl Divided {
    /// The values of the rows of this process.
    fn new(world: World, pattern: Arc<Pattern>, values: Vec<f32>) -> Self {
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
        self.world.gather_values(self.own.values()).0
    }

    fn times_vector(&self, x: &[f64]) -> Vec<f64> {
        let own = self.own.rows_times_vector(self.rows.clone(), x);
        self.world.gather_values(&own).0
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
