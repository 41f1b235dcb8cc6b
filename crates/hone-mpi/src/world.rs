//! [`World`]: the processes of a job, which rows each of them owns, and what they exchange. The only user of MPI.
//!
//! A process owns whole lanes of rows ([`lane_rows`]), divided as evenly as possible: with 64 lanes, 2, 4, 8, …
//! processes own equally many, and beyond 64 some have no rows. Calls are made by the thread that started MPI. A call
//! that fails ends the job: this is MPI's default error handler.
//!
//! Cost, for p processes: [`gather`](World::gather) sends each process the rows of all others once, (p − 1)/p
//! of the matrix; so does [`gather_bytes`](communicator::Communicator::gather_bytes). [`add_in_order`](World::add_in_order) sends one sum from process to process and then to all:
//! 2 sums per process, p messages one after the other.

use std::ops::Range;

use hone::communicator;
use hone::dense::{Block, lane_rows};
use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// Maximum number of values per call, whose counts are 32 bits.
const MOST: usize = 1 << 30;

/// Values that are sent or added at a time.
const PIECE: usize = 1 << 20;

/// The processes of a job. All of them make the same calls in the same order.
#[derive(Debug, Clone, Copy)]
pub struct World {
    rank: usize,
    size: usize,
    most: usize,
}

impl World {
    /// The processes of this job, once MPI has been started.
    ///
    /// # Panics
    /// When it has not.
    pub fn of_job() -> Self {
        let all = SimpleCommunicator::world();
        World {
            rank: all.rank() as usize,
            size: all.size() as usize,
            most: MOST,
        }
    }

    /// The same, with at most this many values per call: for tests of large matrices.
    #[must_use]
    pub fn with_calls_of(self, most: usize) -> Self {
        World { most, ..self }
    }

    /// The number of this process, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of processes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The rows of a matrix with `rows` rows that this process owns.
    pub fn own(&self, rows: usize) -> Range<usize> {
        self.owned(rows, self.rank)
    }

    fn owned(&self, rows: usize, rank: usize) -> Range<usize> {
        let length = lane_rows(rows);
        let lanes = rows.div_ceil(length);
        let at = |rank: usize| (rank * lanes / self.size * length).min(rows);
        at(rank)..at(rank + 1)
    }

    /// All rows of a matrix, given those that this process owns, into `all`.
    pub fn gather(&self, own: &Block, all: &mut Block) {
        let (rows, cols) = (all.rows(), all.cols());
        assert_eq!(
            (own.rows(), own.cols()),
            (self.own(rows).len(), cols),
            "shape of the rows of a process"
        );
        let lengths = (0..self.size).map(|rank| self.owned(rows, rank).len() * cols);
        let lengths: Vec<usize> = lengths.collect();
        self.gather_into(own.as_slice(), &lengths, all.as_mut_slice());
    }

    /// The values of all processes, one process after the other, and how many each has.
    pub(crate) fn gather_values<T>(&self, own: &[T]) -> (Vec<T>, Vec<usize>)
    where
        T: Equivalence + Copy + Default,
    {
        let mut lengths = vec![0u64; self.size];
        SimpleCommunicator::world().all_gather_into(&(own.len() as u64), &mut lengths[..]);
        let lengths: Vec<usize> = lengths.into_iter().map(|length| length as usize).collect();
        let mut all = vec![T::default(); lengths.iter().sum()];
        self.gather_into(own, &lengths, &mut all);
        (all, lengths)
    }

    /// The same into `all`, given how many values each process has.
    fn gather_into<T: Equivalence + Copy>(&self, own: &[T], lengths: &[usize], all: &mut [T]) {
        let world = SimpleCommunicator::world();
        if all.is_empty() {
            // MPI refuses buffers of no length.
            return;
        }
        if all.len() <= self.most {
            let counts: Vec<i32> = lengths.iter().map(|&length| length as i32).collect();
            let starts = counts.iter().scan(0, |end, &length| {
                *end += length;
                Some(*end - length)
            });
            let starts: Vec<i32> = starts.collect();
            let mut all = PartitionMut::new(all, counts, starts);
            return world.all_gather_varcount_into(own, &mut all);
        }
        let mut rest = all;
        for (rank, &length) in lengths.iter().enumerate() {
            let (values, others) = rest.split_at_mut(length);
            rest = others;
            if rank == self.rank {
                values.copy_from_slice(own);
            }
            let owner = world.process_at_rank(rank as i32);
            values
                .chunks_mut(self.most)
                .for_each(|piece| owner.broadcast_into(piece));
        }
    }

    /// Adds the partial sums of all processes to `sum`, those of the first process first, each in its order; all
    /// processes get the result, with the same bits as a single process.
    pub fn add_in_order<'a>(&self, parts: impl IntoIterator<Item = &'a [f64]>, sum: &mut [f64]) {
        let world = SimpleCommunicator::world();
        if self.rank > 0 {
            world
                .process_at_rank(self.rank as i32 - 1)
                .receive_into(sum);
        }
        for part in parts {
            sum.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        if self.rank + 1 < self.size {
            world.process_at_rank(self.rank as i32 + 1).send(&*sum);
        }
        world
            .process_at_rank(self.size as i32 - 1)
            .broadcast_into(sum);
    }

    /// The values of every process, in the order of their numbers.
    pub fn all(&self, own: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; own.len() * self.size];
        SimpleCommunicator::world().all_gather_into(own, &mut all[..]);
        all
    }

    /// The sum of integers over all processes, in place.
    fn add_counts<T: Equivalence + Copy>(&self, counts: &mut [T]) {
        let world = SimpleCommunicator::world();
        for piece in counts.chunks_mut(self.most.min(PIECE)) {
            let own = piece.to_vec();
            world.all_reduce_into(&own[..], piece, SystemOperation::sum());
        }
    }

    /// How many processes of the job run on this machine.
    pub fn on_this_machine(&self) -> usize {
        SimpleCommunicator::world().split_shared(0).size() as usize
    }
}

/// All processes read a graph and count its motifs together: each parses a part, and does a share of the sweeps.
impl communicator::Communicator for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn add_u32(&self, values: &mut [u32]) {
        self.add_counts(values);
    }

    fn add_u64(&self, values: &mut [u64]) {
        self.add_counts(values);
    }

    fn gather_bytes(&self, own: &[u8]) -> Vec<Vec<u8>> {
        let (all, lengths) = self.gather_values(own);
        let mut rest = &all[..];
        let of = |length| rest.split_off(..length).unwrap_or_default().to_vec();
        lengths.into_iter().map(of).collect()
    }
}
