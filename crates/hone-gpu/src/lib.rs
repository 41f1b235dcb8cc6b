//! HONE on NVIDIA GPUs: a [`Space`](hone::space::Space) whose tall matrices are in the memory of a device, and an
//! [`Engine`](hone::engine::Engine) that counts motifs, builds and factors motif matrices and computes Z there.
//!
//! CUDA is loaded when a device is opened, and its kernels (`kernels/*.cu`) are compiled for that device then: the same program
//! runs with and without a GPU. [`Device`] is the user's choice, `cpu`, `cuda`, `cuda:1` or `auto`.
//!
//! ```no_run
//! use hone::{Config, Hone, Silent, graph};
//! use hone_gpu::Cuda;
//! let hone = Hone::new(Config::preset("hone-p")?)?.on(Cuda::open(0)?);
//! let run = hone.embed(&graph::builtin("karate")?, &Silent)?;
//! # Ok::<(), hone::Error>(())
//! ```

mod choice;
mod columns;
mod counting;
mod driver;
mod engine;
mod programs;
mod resident;
mod space;
mod weights;

pub use choice::{Device, LARGE, Opened};
pub use space::Panel;

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use hone::Result;

use counting::Counted;
use driver::{Arg, Driver, args};
use programs::Programs;
use resident::Resident;

/// Threads of a block, unless the work needs others, and of a warp.
const THREADS: usize = 256;
const WARP: usize = 32;

/// A GPU: its memory, its kernels, and what it keeps of graphs. Clones are the same device.
#[derive(Clone)]
pub struct Cuda(Arc<Parts>);

/// The parts of a [`Cuda`].
pub struct Parts {
    driver: Driver,
    programs: Programs,
    resident: Resident,
    /// The counts of the last graph whose motifs were counted here.
    counted: Mutex<Option<Arc<Counted>>>,
    /// Bytes that the largest factorisation of the run needs.
    needed: AtomicU64,
    /// Whether it fits only while panels that are not in use wait in the memory of this process.
    tight: AtomicBool,
    always_tight: AtomicBool,
}

impl Deref for Cuda {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Cuda {
    /// Opens a device by its number, from 0. The error says what is missing: the driver, the device, or the compiler of
    /// kernels.
    pub fn open(ordinal: usize) -> Result<Self> {
        let driver = Driver::open(ordinal)?;
        let programs = Programs::new(&driver)?;
        let (resident, counted) = (Resident::default(), Mutex::default());
        Ok(Cuda(Arc::new(Parts {
            driver,
            programs,
            resident,
            counted,
            needed: AtomicU64::new(0),
            tight: AtomicBool::new(false),
            always_tight: AtomicBool::new(false),
        })))
    }

    /// Lets all panels wait in the memory of this process that can, however much the device has: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn always_tight(self) -> Self {
        self.always_tight.store(true, Relaxed);
        self
    }

    /// Starts a kernel; without blocks there is nothing to do.
    fn launch(&self, kernel: &str, blocks: (usize, usize), threads: usize, args: &[Arg]) {
        if blocks.0 > 0 {
            let kernel = self.programs.kernel(kernel);
            self.driver.launch(kernel, blocks, threads as u32, args);
        }
    }

    /// Starts a kernel with a thread for each of `count` values: its first argument is their number.
    fn per_value(&self, kernel: &str, count: usize, args: &[Arg]) {
        let (blocks, args) = (count.div_ceil(THREADS), [&args![count][..], args].concat());
        self.launch(kernel, (blocks, 1), THREADS, &args);
    }

    /// Starts a kernel with a warp for each of `count` rows: its first argument is their number.
    fn per_row(&self, kernel: &str, count: usize, args: &[Arg]) {
        let blocks = count.div_ceil(THREADS / WARP);
        let args = [&args![count][..], args].concat();
        self.launch(kernel, (blocks, 1), THREADS, &args);
    }

    /// Bytes of free device memory, including memory kept from earlier work.
    pub fn free_memory(&self) -> Result<u64> {
        self.driver.free_memory()
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Parts").field(&self.driver.name()).finish()
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cuda").field(&self.driver.name()).finish()
    }
}
