//! HONE on NVIDIA GPUs: a [`Space`](hone::space::Space) whose tall matrices are in the memory of a device, and an
//! [`Engine`](hone::engine::Engine) that factors motif matrices there.
//!
//! CUDA is loaded when a device is opened, and its kernels (`kernels/*.cu`) are compiled for that device then: the same program
//! runs with and without a GPU. [`Device`] is the choice of a user, `cpu`, `cuda`, `cuda:1` or `auto`.
//!
//! ```no_run
//! use hone::{Config, Hone, Silent, graph};
//! use hone_gpu::Cuda;
//! let hone = Hone::new(Config::preset("hone-p")?)?.on(Cuda::open(0)?);
//! let run = hone.embed(&graph::builtin("karate")?, &Silent)?;
//! # Ok::<(), hone::Error>(())
//! ```

mod choice;
mod driver;
mod engine;
mod panel;
mod programs;
mod resident;
mod space;
mod sums;

pub use choice::{Device, Opened};
pub use panel::Panel;

use std::fmt;

use hone::Result;

use driver::Driver;
use programs::Programs;
use resident::Resident;

/// A GPU: its memory, its kernels, and the sparse matrices that it keeps.
pub struct Cuda {
    driver: Driver,
    programs: Programs,
    resident: Resident,
}

impl Cuda {
    /// Opens a device by its number, from 0. The error says what is missing: the driver, the device, or the compiler of
    /// kernels.
    pub fn open(ordinal: usize) -> Result<Self> {
        let driver = Driver::open(ordinal)?;
        let programs = Programs::new(&driver)?;
        Ok(Cuda { driver, programs, resident: Resident::default() })
    }

    /// Bytes of device memory that are free, those that earlier work has left for later work included.
    pub fn free_memory(&self) -> Result<u64> {
        self.driver.free_memory()
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cuda").field(&self.driver.name()).finish()
    }
}
