//! The border to CUDA: opening a device, its memory, copies, and launches of kernels.
//!
//! All work goes to one stream, so it happens in the order in which it is asked for, and memory that is freed is used
//! again by what comes later. What fails inside a verb of a space cannot be returned: it unwinds as a [`Failure`], without
//! a message of its own, and the engine catches it and returns the error.
//!
//! This file alone is unsafe: CUDA's libraries are trusted to be what their names say, and kernels to keep to the arguments
//! that they are given. Shapes are checked before, in `space.rs` and `sums.rs`; the laws of a space test the kernels.
#![allow(unsafe_code)]

use std::panic::resume_unwind;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUmemPool_attribute, CUresult};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, LaunchConfig, PushKernelArg,
    ValidAsZeroBits, result,
};
use cudarc::nvrtc;
use hone::{Error, Result};

/// What went wrong inside a verb.
pub(crate) struct Failure(pub(crate) Error);

/// A device and its one stream of work.
pub(crate) struct Driver {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    name: String,
    /// Compute capability, such as 90 for 9.0.
    pub(crate) capability: i32,
}

/// An argument of a kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arg {
    Wide(u64),
    Count(u32),
    Factor(f32),
}

/// The address of nothing.
pub(crate) const NULL: Arg = Arg::Wide(0);

/// Numbers in device memory.
#[derive(Debug)]
pub(crate) struct Memory<T>(CudaSlice<T>);

impl<T> Memory<T> {
    /// Where they are.
    pub(crate) fn address(&self) -> Arg {
        // With one stream there is no event to wait for or to record.
        Arg::Wide(self.0.device_ptr(self.0.stream()).0)
    }
}

impl Driver {
    pub(crate) fn open(ordinal: usize) -> Result<Self> {
        // SAFETY: looks for a library, and calls no function of it.
        if !unsafe { sys::is_culib_present() } {
            let message = "the NVIDIA driver (libcuda) is not installed, or not in the library path";
            return Err(missing(ordinal, message));
        }
        let fails = |error: DriverError| missing(ordinal, &format!("the driver says: {}", said(error)));
        result::init().map_err(fails)?;
        let count = CudaContext::device_count().map_err(fails)?;
        if usize::try_from(count).is_ok_and(|count| ordinal >= count) {
            let message = match count {
                0 => "no device is visible; see nvidia-smi and the variable CUDA_VISIBLE_DEVICES".to_owned(),
                count => format!("there is no such device; the last of {count} is cuda:{}", count - 1),
            };
            return Err(missing(ordinal, &message));
        }
        // SAFETY: as above.
        if !unsafe { nvrtc::sys::is_culib_present() } {
            let message = "CUDA's runtime compiler (libnvrtc) is not installed, or not in the library path";
            return Err(missing(ordinal, message));
        }
        let context = CudaContext::new(ordinal).map_err(fails)?;
        // SAFETY: events order several streams; there is one.
        unsafe { context.disable_event_tracking() };
        let name = format!("cuda:{ordinal} ({})", context.name().map_err(fails)?);
        let (major, minor) = context.compute_capability().map_err(fails)?;
        let driver = Driver { stream: context.default_stream(), context, name, capability: 10 * major + minor };
        driver.keep_freed_memory().map_err(fails)?;
        Ok(driver)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// Memory that is freed stays with this process for what it allocates next: returning it takes milliseconds.
    fn keep_freed_memory(&self) -> Result<(), DriverError> {
        if !self.context.has_async_alloc() {
            return Ok(());
        }
        let mut all = u64::MAX;
        let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the attribute is a u64, and is read during the call.
        unsafe { sys::cuMemPoolSetAttribute(self.pool()?, attribute, (&raw mut all).cast()) }.result()
    }

    fn pool(&self) -> Result<sys::CUmemoryPool, DriverError> {
        // SAFETY: the device is that of an open context.
        unsafe { result::device::get_mem_pool(self.context.cu_device()) }
    }

    fn pool_bytes(&self, attribute: CUmemPool_attribute) -> Result<u64, DriverError> {
        let mut bytes = 0u64;
        // SAFETY: the attribute is a u64, and is written during the call.
        unsafe { sys::cuMemPoolGetAttribute(self.pool()?, attribute, (&raw mut bytes).cast()) }.result()?;
        Ok(bytes)
    }

    /// Bytes that can be allocated: free ones, and those kept from earlier work.
    pub(crate) fn free_memory(&self) -> Result<u64> {
        let ask = || {
            self.stream.synchronize()?;
            let (free, _) = self.context.mem_get_info()?;
            if !self.context.has_async_alloc() {
                return Ok(free as u64);
            }
            let reserved = self.pool_bytes(CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
            let used = self.pool_bytes(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?;
            Ok(free as u64 + reserved.saturating_sub(used))
        };
        ask().map_err(|error| self.error(error, 0))
    }

    /// Numbers with arbitrary content.
    pub(crate) fn reserve<T: DeviceRepr>(&self, count: usize) -> Memory<T> {
        // SAFETY: kernels write before they read, and nothing else reads device memory. Nothing cannot be allocated.
        let memory = unsafe { self.stream.alloc(count.max(1)) };
        Memory(self.must(memory, count * size_of::<T>()))
    }

    /// Numbers that are zero.
    pub(crate) fn zeros<T: DeviceRepr + ValidAsZeroBits>(&self, count: usize) -> Memory<T> {
        let mut memory = self.reserve(count);
        self.clear(&mut memory);
        memory
    }

    pub(crate) fn clear<T: DeviceRepr + ValidAsZeroBits>(&self, memory: &mut Memory<T>) {
        self.must(self.stream.memset_zeros(&mut memory.0), 0);
    }

    /// A copy of numbers of this process.
    pub(crate) fn upload<T: DeviceRepr>(&self, values: &[T]) -> Memory<T> {
        let mut memory = self.reserve(values.len());
        if !values.is_empty() {
            self.must(self.stream.memcpy_htod(values, &mut memory.0), 0);
        }
        memory
    }

    /// Copies numbers to this process, once all work before is done.
    pub(crate) fn download<T: DeviceRepr>(&self, memory: &Memory<T>, to: &mut [T]) {
        if !to.is_empty() {
            self.must(self.stream.memcpy_dtoh(&memory.0.slice(..to.len()), to), 0);
            self.must(self.stream.synchronize(), 0);
        }
    }

    pub(crate) fn copy<T: DeviceRepr>(&self, from: &Memory<T>) -> Memory<T> {
        let mut memory = self.reserve(from.0.len());
        self.must(self.stream.memcpy_dtod(&from.0, &mut memory.0), 0);
        memory
    }

    /// Starts a kernel with blocks of `threads` threads.
    pub(crate) fn launch(&self, kernel: &CudaFunction, blocks: (usize, usize), threads: u32, args: &[Arg]) {
        let mut launch = self.stream.launch_builder(kernel);
        for arg in args {
            match arg {
                Arg::Wide(value) => launch.arg(value),
                Arg::Count(value) => launch.arg(value),
                Arg::Factor(value) => launch.arg(value),
            };
        }
        let [across, down] = [blocks.0, blocks.1].map(|blocks| u32::try_from(blocks).expect("blocks of a kernel"));
        let grid = LaunchConfig { grid_dim: (across, down, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: callers pass the arguments that the kernel declares, and memory of the sizes that it reads and writes.
        let started = unsafe { launch.launch(grid) };
        self.must(started.map(drop), 0);
    }

    /// What was asked for, or a [`Failure`]. `bytes` is how much memory was asked for.
    fn must<T>(&self, result: Result<T, DriverError>, bytes: usize) -> T {
        result.unwrap_or_else(|error| resume_unwind(Box::new(Failure(self.error(error, bytes as u64)))))
    }

    /// The error of a call.
    pub(crate) fn error(&self, error: DriverError, bytes: u64) -> Error {
        if error.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            let (free, _) = self.context.mem_get_info().unwrap_or((0, 0));
            return no_room(&self.name, bytes, true, free as u64);
        }
        Error::Device { device: self.name.clone(), message: format!("the driver says: {}", said(error)) }
    }
}

/// The refusal of work that needs more memory than a device has.
pub(crate) fn no_room(name: &str, need: u64, least: bool, free: u64) -> Error {
    let remedy = "choose fewer dimensions (local.dim), use a device with more memory, or the device cpu";
    Error::Memory { stage: format!("factoring on {name}"), need, least, limit: free, remedy: remedy.into() }
}

fn missing(ordinal: usize, message: &str) -> Error {
    let message = format!("{message}; install it, or use the device cpu (docs/gpu.md)");
    Error::Device { device: format!("cuda:{ordinal}"), message }
}

/// What the driver says of an error.
fn said(error: DriverError) -> String {
    let text = error.error_string().ok().and_then(|text| text.to_str().ok());
    text.map_or_else(|| format!("{:?}", error.0), |text| format!("{text} ({:?})", error.0))
}
