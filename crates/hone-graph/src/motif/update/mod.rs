//! Exact counts after edges were added or removed, from the counts before.
//!
//! Everything follows from five numbers per edge (`formula`), which change only by subgraphs that contain a
//! changed edge. Letters: A and A′ the adjacency before and after, Δ = A′ − A with its ends D, δ the growth of
//! a degree.
//!
//! * t and K, and the triangles of nodes: triangles and 4-cliques that are made or destroyed are listed (`triangles`),
//!   each at the first of its changed edges.
//! * C = (A³)_uv − d_u − d_v + 1, and A′³ − A³ = ΔAA′ + (ΔAA′)ᵀ + A′ΔA′ − ΔAΔ. The first two are walks from the ends of
//!   changed edges (`cycles`); the others need only neighbours in D (`middle`).
//! * Q = Σ d_w gains and loses triangles at old degrees, and δ_w for each triangle that is there afterwards: neighbours
//!   in D again (`middle`).
//! * R = Σ (t(u,w) + t(v,w)) gains and loses triangles at old t, and what t has grown by for each triangle at such an edge
//!   (`rims`).
//!
//! Cost: for each changed edge about Σ d_w over the small neighbours w of its ends, and some words of bits for each hub
//! among them (`cycles`); for each triangle that comes or goes the smaller rows of its edges (`rims`); Σ_e min of the
//! two ends' neighbours in D (`middle`); and one pass over the edges (`arrange`). If counting again is less work,
//! because much changed or because the graph has no hubs, it is counted again: the result is the same. Memory is linear
//! in the edges. All sums are of integers, so that no order of threads matters.

mod arrange;
mod changes;
mod cycles;
mod effort;
mod gains;
mod hubs;
mod middle;
mod rims;
mod striped;
mod triangles;
mod turned;
mod under_way;

pub use self::effort::is_light;
pub(super) use self::turned::turned;

use std::sync::Arc;

use self::changes::Changes;
use self::gains::{Gains, Sums};
use self::striped::Striped;
use self::under_way::Update;
use super::counting;
use super::counts::{Counts, Values};
use super::exact::Exact;
use crate::communicator::SingleProcess;
use crate::error::{Error, Result};
use crate::memory::Allowance;
use crate::progress::Progress;
use crate::storage::Pages;

/// Bytes per slot of the changed graph that an update takes at its peak, in addition to the old and the new counts.
const UPDATING: u64 = 60;

impl Counts {
    /// The counts after edges were added and removed, exactly as [`count`](super::count) gives them; nodes beyond those
    /// counted are new. The changed adjacency is the [`Counts::pattern`] of the result.
    ///
    /// ```
    /// use hone_graph::GraphBuilder;
    /// use hone_graph::motif::{self, Orbit};
    ///
    /// let graph = GraphBuilder::undirected(3).edges(vec![(0, 1), (1, 2)]).build()?;
    /// let counts = motif::count(&graph, &hone_graph::Silent)?;
    /// let counts = counts.update(&[(2, 0), (2, 3)], &[], &hone_graph::Silent)?;
    /// assert_eq!(counts.edge(0, 1).expect("an edge")[Orbit::Triangle.index()], 1);
    /// assert_eq!(counts.edge(2, 3).expect("an edge")[Orbit::TailedTail.index()], 1);
    /// # Ok::<(), hone_graph::Error>(())
    /// ```
    ///
    /// Fails on self-loops, edges named twice, added edges that exist and removed edges that do not; on estimates
    /// and on counts of directed motifs; when memory does not suffice, or `progress` asks to stop.
    pub fn update(
        &self,
        added: &[(u32, u32)],
        removed: &[(u32, u32)],
        progress: &dyn Progress,
    ) -> Result<Counts> {
        self.update_within(added, removed, Allowance::new(None), progress)
    }

    /// As [`Counts::update`]; refuses work for which the process would hold more than it may.
    pub fn update_within(
        &self,
        added: &[(u32, u32)],
        removed: &[(u32, u32)],
        allowance: Allowance,
        progress: &dyn Progress,
    ) -> Result<Counts> {
        let exact = self.updatable()?;
        progress.stage("sorting changes", 0);
        let changes = Changes::new(self.pattern(), added, removed)?;
        let slots = (self.pattern().nnz() + 2 * added.len()) as u64;
        let more = UPDATING
            .saturating_mul(slots)
            .saturating_add(2 * self.bytes() as u64);
        allowance.check_work("updating counts", more, "raise the memory limit")?;
        let new = Arc::new(changes.applied(self.pattern()));
        Exact::check_degrees(&new)?;
        let update = Update::new(self.pattern(), &new, exact, changes);
        match update {
            Some(update) => Ok(Counts::exact(new.clone(), update.run(progress)?)),
            None => counting::exact(new, allowance, &SingleProcess, progress),
        }
    }

    /// The primitives, if they are exact and there are no triads.
    fn updatable(&self) -> Result<&Exact> {
        if self.triads().is_some() {
            let message = "counts of directed motifs cannot be updated; count the changed graph";
            return Err(Error::config("counts", message));
        }
        match self.values() {
            Values::Exact(exact) => Ok(exact),
            Values::Estimated(_) => Err(Error::config(
                "counts",
                "estimates cannot be updated; count exactly, or estimate the changed graph",
            )),
            Values::Absent => Err(Error::config(
                "counts",
                "no edge orbits were counted; count the changed graph",
            )),
        }
    }
}

impl Update<'_> {
    fn run(self, progress: &dyn Progress) -> Result<Exact> {
        let zeros = || Pages::<u64>::zeros(self.new.nnz());
        let (mut c, mut k, mut r, mut through) = (zeros(), zeros(), zeros(), zeros());
        let of = |values| Striped::new(self.new, values);
        let gains = Gains {
            c: of(&mut c),
            k: of(&mut k),
            r: of(&mut r),
        };
        let found = triangles::list(&self, &gains, progress)?;
        rims::add_all(&self, &gains, &found, progress)?;
        let middle = middle::Middle::new(&self);
        middle.add_all(&gains, &mut through, progress)?;
        cycles::add_all(&self, &gains, progress)?;
        drop(gains);
        progress.stage("arranging counts", 0);
        let s = middle.ends();
        Ok(arrange::arrange(
            &self,
            &found,
            Sums {
                c: &c,
                k: &k,
                r: &r,
                middle: &through,
            },
            s,
        ))
    }
}
