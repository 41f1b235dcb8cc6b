//! [`Communicator`]: processes that read a graph and count its motifs together.
//!
//! All of them run the same program on the same input and call the same functions in the same order. Each parses a part of
//! a file (`graph::read_divided`) and does a share of the sweeps
//! (`Sample::count_motifs_with`); then they exchange what they found, and all
//! of them have all of it.

/// Processes that work together. All of them call the same functions in the same order.
pub trait Communicator: Sync {
    /// The number of this process, from 0.
    fn rank(&self) -> usize;
    /// Number of processes.
    fn size(&self) -> usize;
    /// Adds the values of all processes, element by element; each process gets the sums.
    fn add_u32(&self, values: &mut [u32]);
    /// The same for longer numbers.
    fn add_u64(&self, values: &mut [u64]);
    /// The bytes of every process, in the order of their numbers; each process may have another number of them.
    fn gather_bytes(&self, own: &[u8]) -> Vec<Vec<u8>>;
}

/// A process that works alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct SingleProcess;

impl Communicator for SingleProcess {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn add_u32(&self, _values: &mut [u32]) {}

    fn add_u64(&self, _values: &mut [u64]) {}

    fn gather_bytes(&self, own: &[u8]) -> Vec<Vec<u8>> {
        vec![own.to_vec()]
    }
}
