//! HONE on several machines: a [`Space`](hone::space::Space) whose tall matrices are divided by rows among the
//! processes of an MPI job, and an [`Engine`](hone::engine::Engine) on it. The command is `hone-mpi`: `hone embed` and
//! `hone count` under `mpirun`.
//!
//! All processes run the same program on the same input, with the same bits as one process: sums over rows are added in
//! row order, whoever owns them (`hone::dense::lane_rows`).
//!
//! The crate is empty without the feature `mpi`, which needs an MPI library and clang (on Debian
//! `openmpi-bin libopenmpi-dev libclang-dev`):
//!
//! ```sh
//! cargo build --release --workspace --features hone-embed-mpi/mpi --bin hone-mpi
//! mpirun -n 4 target/release/hone-mpi embed graph.tsv -o vectors.npy
//! ```

#[cfg(feature = "mpi")]
mod engine;
#[cfg(feature = "mpi")]
mod job;
#[cfg(feature = "mpi")]
mod space;
#[cfg(feature = "mpi")]
mod world;

#[cfg(feature = "mpi")]
pub use job::main;
#[cfg(feature = "mpi")]
pub use space::{Ranks, Rows};
#[cfg(feature = "mpi")]
pub use world::World;
