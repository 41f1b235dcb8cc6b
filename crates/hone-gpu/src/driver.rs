//! The interface to CUDA: opening a device, its memory, copies, and kernel launches.
//!
//! All work goes to one stream, so it is executed in the order in which it is submitted, and freed memory is reused by
//! later work. Large copies go through two page-locked buffers, one of which is filled or emptied by the threads of
//! this process while the device copies the other. A failure inside an operation of a space cannot be returned: it
//! unwinds as a [`Failure`], without a message, and the engine catches it and returns the error.
//!
//! Only this file is unsafe: CUDA's libraries are trusted to be what their names say, and kernels to respect their
//! arguments, whose number and kinds are compared with the source of the kernel at each launch. Shapes are checked before,
//! in `space.rs`; the laws of a space test the kernels.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{self, CUdevice_attribute, CUmemPool_attribute, CUresult};
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaSlice, CudaStream, DevicePtr, DeviceRepr,
    DriverError, LaunchConfig, PushKernelArg, ValidAsZeroBits, result,
};
use cudarc::nvrtc::{self, Ptx};
use hone::message::{message, setting};
use hone::{Error, Result};
use rayon::prelude::*;

/// What went wrong inside an operation.
pub(crate) struct Failure(pub(crate) Error);

/// A device and its one stream of work.
pub(crate) struct Driver {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    pub(crate) card: Card,
    /// Number of multiprocessors.
    pub(crate) processors: usize,
    staging: Mutex<Option<Staging>>,
}

/// Compute capability that the kernels need: 8.0, for `__reduce_max_sync`.
const CAPABILITY: i32 = 80;

/// What a device is.
#[derive(Debug)]
pub(crate) struct Card {
    /// `cuda:0 (NVIDIA H200)`.
    pub(crate) name: String,
    /// Without the number: the same card under another number computes the same bits.
    pub(crate) arithmetic: String,
    /// Compute capability, such as 90 for 9.0.
    pub(crate) capability: i32,
}

impl Card {
    /// A device that has all the kernels need.
    fn new(ordinal: usize, model: &str, (major, minor): (i32, i32)) -> Result<Self> {
        let card = Card {
            name: format!("cuda:{ordinal} ({model})"),
            arithmetic: format!("cuda ({model})"),
            capability: 10 * major + minor,
        };
        if card.capability < CAPABILITY {
            let message = format!(
                "this card has compute capability {major}.{minor}, and 8.0 or newer is needed; use the device cpu (docs/gpu.md)"
            );
            return Err(Error::Device {
                device: card.name,
                message,
            });
        }
        Ok(card)
    }
}

/// Bytes of a page-locked buffer.
const PIECE: usize = 32 << 20;

/// Copies of fewer bytes need no buffer.
const SMALL: usize = 1 << 20;

/// Bytes that one thread copies at a time.
const SHARE: usize = 1 << 20;

/// Two page-locked buffers, and when the device is done with each.
struct Staging {
    buffers: [*mut u8; 2],
    events: [CudaEvent; 2],
}

// SAFETY: the buffers are memory of this process that nobody else points to.
unsafe impl Send for Staging {}

impl Staging {
    fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        context.bind_to_thread()?;
        // SAFETY: the memory is used as bytes, and written before it is read.
        let buffer =
            || unsafe { result::malloc_host(PIECE, 0) }.map(<*mut std::ffi::c_void>::cast::<u8>);
        let event = || context.new_event(None);
        Ok(Staging {
            buffers: [buffer()?, buffer()?],
            events: [event()?, event()?],
        })
    }

    /// The first bytes of a buffer, once the device is done with it.
    fn buffer(&mut self, which: usize, bytes: usize) -> Result<&mut [u8], DriverError> {
        self.events[which].synchronize()?;
        assert!(bytes <= PIECE, "a piece of a copy");
        // SAFETY: the buffer has PIECE bytes, nobody else refers to it, and the device is not copying it.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.buffers[which], bytes) })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        for (buffer, event) in self.buffers.iter().zip(&self.events) {
            // A buffer that is still being copied is not freed.
            if event.synchronize().is_ok() {
                // SAFETY: the buffer is from `malloc_host`, and nothing uses it any more. On failure it stays
                // allocated.
                let _ = unsafe { result::free_host(buffer.cast()) };
            }
        }
    }
}

/// Copies bytes with all threads.
fn copy_bytes(from: &[u8], to: &mut [u8]) {
    to.par_chunks_mut(SHARE)
        .zip(from.par_chunks(SHARE))
        .for_each(|(to, from)| to.copy_from_slice(from));
}

/// An argument of a kernel. Whole numbers and addresses become as wide as the kernel declares them.
#[derive(Debug, Clone)]
pub(crate) enum Arg {
    Wide(u64),
    Count(u32),
    Factor(f32),
    Real(f64),
    /// Several arguments.
    List(Vec<Arg>),
}

/// Arguments of a kernel.
macro_rules! args {
    ($($arg:expr),* $(,)?) => { [$($crate::driver::Arg::from($arg)),*] };
}
pub(crate) use args;

macro_rules! arg_from {
    ($($of:ty => |$value:ident| $arg:expr),* $(,)?) => {
        $(impl From<$of> for Arg {
            fn from($value: $of) -> Arg {
                $arg
            }
        })*
    };
}

arg_from! {
    u64 => |value| Arg::Wide(value),
    usize => |value| Arg::Wide(value as u64),
    u32 => |value| Arg::Wide(value.into()),
    bool => |value| Arg::Wide(value.into()),
    f32 => |value| Arg::Factor(value),
    f64 => |value| Arg::Real(value),
    Vec<Arg> => |list| Arg::List(list),
}

impl<T> From<&Memory<T>> for Arg {
    fn from(memory: &Memory<T>) -> Arg {
        Arg::Wide(memory.at(0))
    }
}

/// What is absent is the null address.
impl<T> From<Option<&T>> for Arg
where
    for<'a> &'a T: Into<Arg>,
{
    fn from(argument: Option<&T>) -> Arg {
        argument.map_or(Arg::NULL, Into::into)
    }
}

impl Arg {
    /// The null address.
    pub(crate) const NULL: Arg = Arg::Wide(0);

    /// The arguments as a kernel takes them.
    ///
    /// # Panics
    /// When it takes others.
    fn fitted(args: &[Arg], takes: &[Kind]) -> Vec<Arg> {
        let flat = args.iter().flat_map(|arg| match arg {
            Arg::List(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        });
        let fitted = flat.zip(takes).map(|(arg, kind)| match (arg, kind) {
            (Arg::Wide(value), Kind::Count) => u32::try_from(*value).ok().map(Arg::Count),
            (Arg::Wide(_), Kind::Wide)
            | (Arg::Factor(_), Kind::Factor)
            | (Arg::Real(_), Kind::Real) => Some(arg.clone()),
            _ => None,
        });
        let fitted: Option<Vec<Arg>> = fitted.collect();
        let given: usize = args.iter().map(Arg::count).sum();
        fitted
            .filter(|_| given == takes.len())
            .unwrap_or_else(|| panic!("arguments of a kernel that takes {takes:?}: {args:?}"))
    }

    fn count(&self) -> usize {
        match self {
            Arg::List(list) => list.len(),
            _ => 1,
        }
    }
}

/// What a kernel declares an argument to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Wide,
    Count,
    Factor,
    Real,
}

/// A kernel, and the arguments that it takes.
#[derive(Debug)]
pub(crate) struct Kernel {
    function: CudaFunction,
    takes: Vec<Kind>,
}

/// Kernels by their names.
pub(crate) type Kernels = HashMap<String, Kernel>;

/// The kernels that a source declares, each with what it takes.
///
/// # Panics
/// When it declares an argument of another kind.
fn declared(source: &str) -> impl Iterator<Item = (&str, Vec<Kind>)> {
    source.split("__global__").skip(1).map(move |text| {
        let head = text.split_once('{').map_or("", |(head, _)| head).trim_end();
        let list = head
            .strip_suffix(')')
            .and_then(|head| head.rsplit_once('('));
        let (before, list) = list.expect("a kernel has a list of parameters");
        let name = before
            .rsplit(char::is_whitespace)
            .next()
            .unwrap_or_default();
        (name, kinds(source, list))
    })
}

/// The kinds in a list of parameters; those of a macro follow `#define` on lines that end with a backslash, except the last.
fn kinds(source: &str, list: &str) -> Vec<Kind> {
    let kind = |parameter: &str| match parameter.trim().split_once(' ') {
        _ if parameter.contains('*') => vec![Kind::Wide],
        Some(("u64", _)) => vec![Kind::Wide],
        Some(("u32", _)) => vec![Kind::Count],
        Some(("float", _)) => vec![Kind::Factor],
        Some(("double", _)) => vec![Kind::Real],
        Some(_) => panic!("a parameter of a kernel: {parameter}"),
        None => {
            let define = format!("#define {} ", parameter.trim());
            let (_, text) = source.split_once(&define).expect("a macro of the source");
            let mut ends = text.match_indices('\n').map(|(at, _)| at);
            let end = ends.find(|&at| !text[..at].ends_with('\\'));
            kinds(source, &text[..end.unwrap_or(text.len())].replace('\\', ""))
        }
    };
    list.split(',').flat_map(kind).collect()
}

/// Numbers in device memory.
#[derive(Debug)]
pub(crate) struct Memory<T>(CudaSlice<T>);

impl<T> Memory<T> {
    /// The address of index `at`.
    pub(crate) fn at(&self, at: usize) -> u64 {
        assert!(at <= self.0.len(), "a place in device memory");
        // With one stream there is no event to wait for or to record.
        self.0.device_ptr(self.0.stream()).0 + (at * size_of::<T>()) as u64
    }
}

impl Driver {
    pub(crate) fn open(ordinal: usize) -> Result<Self> {
        // SAFETY: looks for a library, and calls no function of it.
        if !unsafe { sys::is_culib_present() } {
            let message = "the NVIDIA driver (libcuda) is not installed, or not in the library path; install it";
            return Err(missing(ordinal, message));
        }
        let reported = |error| {
            format!(
                "the NVIDIA driver reports: {}; check it with nvidia-smi",
                said(error)
            )
        };
        let fails = |error: DriverError| missing(ordinal, &reported(error));
        result::init().map_err(fails)?;
        let count = CudaContext::device_count().map_err(fails)?;
        if usize::try_from(count).is_ok_and(|count| ordinal >= count) {
            let message = match count {
                0 => "no device is visible; check nvidia-smi and the variable CUDA_VISIBLE_DEVICES"
                    .to_owned(),
                1 => "there is no such device; use cuda:0".to_owned(),
                count => format!(
                    "there is no such device; use one of cuda:0 to cuda:{}",
                    count - 1
                ),
            };
            return Err(missing(ordinal, &message));
        }
        // SAFETY: as above.
        if !unsafe { nvrtc::sys::is_culib_present() } {
            let message = "CUDA's runtime compiler (libnvrtc) is not installed, or not in the library path; install it";
            return Err(missing(ordinal, message));
        }
        let context = CudaContext::new(ordinal).map_err(fails)?;
        // SAFETY: events order several streams; there is one.
        unsafe { context.disable_event_tracking() };
        let capability = context.compute_capability().map_err(fails)?;
        let card = Card::new(ordinal, &context.name().map_err(fails)?, capability)?;
        let (stream, staging) = (context.default_stream(), Mutex::default());
        let processors =
            context.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        let processors = processors.map_err(fails)?.unsigned_abs() as usize;
        let driver = Driver {
            context,
            stream,
            card,
            processors,
            staging,
        };
        driver.keep_freed_memory().map_err(fails)?;
        Ok(driver)
    }

    pub(crate) fn name(&self) -> &str {
        &self.card.name
    }

    /// The kernels of a program that was compiled from this source.
    pub(crate) fn load(&self, program: Ptx, source: &str) -> Result<Kernels> {
        let failed = |error| self.error(error, 0);
        let module = self.context.load_module(program).map_err(failed)?;
        let kernel = |(name, takes): (&str, Vec<Kind>)| {
            let function = module.load_function(name).map_err(failed)?;
            Ok((name.to_owned(), Kernel { function, takes }))
        };
        declared(source).map(kernel).collect()
    }

    /// Freed memory is kept for the next allocations: returning it takes milliseconds.
    fn keep_freed_memory(&self) -> Result<(), DriverError> {
        if !self.context.has_async_alloc() {
            return Ok(());
        }
        let mut all = u64::MAX;
        let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the attribute is a u64, and is read during the call.
        unsafe { sys::cuMemPoolSetAttribute(self.pool()?, attribute, (&raw mut all).cast()) }
            .result()
    }

    fn pool(&self) -> Result<sys::CUmemoryPool, DriverError> {
        // SAFETY: the device is that of an open context.
        unsafe { result::device::get_mem_pool(self.context.cu_device()) }
    }

    fn pool_bytes(&self, attribute: CUmemPool_attribute) -> Result<u64, DriverError> {
        let mut bytes = 0u64;
        // SAFETY: the attribute is a u64, and is written during the call.
        unsafe { sys::cuMemPoolGetAttribute(self.pool()?, attribute, (&raw mut bytes).cast()) }
            .result()?;
        Ok(bytes)
    }

    /// Bytes that can be allocated: free memory, and memory kept from earlier work.
    pub(crate) fn free_memory(&self) -> Result<u64> {
        let ask = || {
            self.stream.synchronize()?;
            let (free, _) = self.context.mem_get_info()?;
            if !self.context.has_async_alloc() {
                return Ok(free as u64);
            }
            let reserved =
                self.pool_bytes(CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
            let used = self.pool_bytes(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?;
            Ok(free as u64 + reserved.saturating_sub(used))
        };
        ask().map_err(|error| self.error(error, 0))
    }

    /// Numbers with arbitrary content.
    pub(crate) fn reserve<T: DeviceRepr>(&self, count: usize) -> Memory<T> {
        // SAFETY: kernels write before they read, and nothing else reads device memory. Zero bytes cannot be allocated.
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

    /// A copy of numbers in host memory.
    pub(crate) fn upload<T: DeviceRepr>(&self, values: &[T]) -> Memory<T> {
        let mut memory = self.reserve(values.len());
        let bytes = size_of_val(values);
        if bytes >= SMALL {
            // SAFETY: plain numbers are bytes.
            let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), bytes) };
            self.must(
                self.upload_bytes(bytes, memory.0.device_ptr(&self.stream).0),
                0,
            );
        } else if !values.is_empty() {
            self.must(
                self.stream
                    .memcpy_htod(values, &mut memory.0.slice_mut(..values.len())),
                0,
            );
        }
        memory
    }

    /// Copies bytes to the device through page-locked buffers.
    fn upload_bytes(&self, bytes: &[u8], to: sys::CUdeviceptr) -> Result<(), DriverError> {
        let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let staging = Self::staged(&mut staging, &self.context)?;
        for (at, piece) in bytes.chunks(PIECE).enumerate() {
            let buffer = staging.buffer(at % 2, piece.len())?;
            copy_bytes(piece, buffer);
            // SAFETY: the memory was reserved for as many bytes; the buffer is not touched until its event has
            // occurred.
            unsafe {
                result::memcpy_htod_async(to + (at * PIECE) as u64, buffer, self.stream.cu_stream())
            }?;
            staging.events[at % 2].record(&self.stream)?;
        }
        Ok(())
    }

    fn staged<'a>(
        staging: &'a mut Option<Staging>,
        context: &Arc<CudaContext>,
    ) -> Result<&'a mut Staging, DriverError> {
        context.bind_to_thread()?;
        if staging.is_none() {
            *staging = Some(Staging::new(context)?);
        }
        Ok(staging.as_mut().expect("made above"))
    }

    /// The first numbers in the memory of this process, once all earlier work is done.
    pub(crate) fn read<T: DeviceRepr + Default + Clone>(
        &self,
        memory: &Memory<T>,
        count: usize,
    ) -> Vec<T> {
        let mut values = vec![T::default(); count];
        self.download_at(memory, 0, &mut values);
        values
    }

    /// Copies numbers from index `from` on to this process, once all earlier work is done.
    pub(crate) fn download_at<T: DeviceRepr>(&self, memory: &Memory<T>, from: usize, to: &mut [T]) {
        assert!(
            from + to.len() <= memory.0.len(),
            "a stretch of device memory"
        );
        let bytes = size_of_val(to);
        if bytes >= SMALL {
            let address = memory.0.device_ptr(&self.stream).0 + (from * size_of::<T>()) as u64;
            // SAFETY: plain numbers are bytes, and any bytes are numbers.
            let bytes =
                unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr().cast::<u8>(), bytes) };
            self.must(self.download_bytes(address, bytes), 0);
        } else if !to.is_empty() {
            self.must(
                self.stream
                    .memcpy_dtoh(&memory.0.slice(from..from + to.len()), to),
                0,
            );
            self.must(self.stream.synchronize(), 0);
        }
    }

    /// Copies bytes from the device through page-locked buffers.
    fn download_bytes(&self, from: sys::CUdeviceptr, to: &mut [u8]) -> Result<(), DriverError> {
        let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let staging = Self::staged(&mut staging, &self.context)?;
        let pieces = to.len().div_ceil(PIECE);
        let size = |at: usize, all: usize| PIECE.min(all - at * PIECE);
        for at in 0..=pieces {
            if at < pieces {
                let buffer = staging.buffer(at % 2, size(at, to.len()))?;
                // SAFETY: the device has as many bytes from there on; the buffer is not touched until its
                // event has occurred.
                unsafe {
                    result::memcpy_dtoh_async(
                        buffer,
                        from + (at * PIECE) as u64,
                        self.stream.cu_stream(),
                    )
                }?;
                staging.events[at % 2].record(&self.stream)?;
            }
            if let Some(before) = at.checked_sub(1) {
                let bytes = size(before, to.len());
                copy_bytes(
                    staging.buffer(before % 2, bytes)?,
                    &mut to[before * PIECE..][..bytes],
                );
            }
        }
        Ok(())
    }

    pub(crate) fn copy<T: DeviceRepr>(&self, from: &Memory<T>) -> Memory<T> {
        let mut memory = self.reserve(from.0.len());
        self.must(self.stream.memcpy_dtod(&from.0, &mut memory.0), 0);
        memory
    }

    /// Starts a kernel with blocks of `threads` threads.
    ///
    /// # Panics
    /// When the kernel takes other arguments.
    pub(crate) fn launch(
        &self,
        kernel: &Kernel,
        blocks: (usize, usize),
        threads: u32,
        args: &[Arg],
    ) {
        let args = Arg::fitted(args, &kernel.takes);
        let mut launch = self.stream.launch_builder(&kernel.function);
        for arg in &args {
            match arg {
                Arg::Wide(value) => launch.arg(value),
                Arg::Count(value) => launch.arg(value),
                Arg::Factor(value) => launch.arg(value),
                Arg::Real(value) => launch.arg(value),
                Arg::List(_) => unreachable!("flat"),
            };
        }
        let [across, down] =
            [blocks.0, blocks.1].map(|blocks| u32::try_from(blocks).expect("blocks of a kernel"));
        let grid = LaunchConfig {
            grid_dim: (across, down, 1),
            block_dim: (threads, 1, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: these are the arguments that the kernel declares, as was checked above. It reads and writes memory of the
        // device alone, of the sizes that it is told.
        let started = unsafe { launch.launch(grid) };
        self.must(started.map(drop), 0);
    }

    /// The result, or a [`Failure`]. `bytes` is how much memory was requested.
    fn must<T>(&self, result: Result<T, DriverError>, bytes: usize) -> T {
        result.unwrap_or_else(|error| {
            resume_unwind(Box::new(Failure(self.error(error, bytes as u64))))
        })
    }

    /// The error of a call.
    pub(crate) fn error(&self, error: DriverError, bytes: u64) -> Error {
        if error.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            let (free, _) = self.context.mem_get_info().unwrap_or((0, 0));
            return no_room(self.name(), bytes, true, free as u64);
        }
        Error::Device {
            device: self.name().into(),
            message: format!("the NVIDIA driver reports: {}", said(error)),
        }
    }
}

/// The refusal of work that needs more memory than a device has.
pub(crate) fn no_room(name: &str, need: u64, least: bool, free: u64) -> Error {
    let remedy = message![
        "lower ",
        setting("local.dim"),
        ", use a device with more memory, or the device cpu"
    ];
    Error::Memory {
        stage: format!("the work on {name}"),
        need,
        least,
        limit: free,
        remedy,
    }
}

fn missing(ordinal: usize, message: &str) -> Error {
    let message = format!("{message}, or use the device cpu (docs/gpu.md)");
    Error::Device {
        device: format!("cuda:{ordinal}"),
        message,
    }
}

/// The driver's description of an error.
fn said(error: DriverError) -> String {
    let text = error
        .error_string()
        .ok()
        .and_then(|text| text.to_str().ok());
    text.map_or_else(
        || format!("{:?}", error.0),
        |text| format!("{text} ({:?})", error.0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::{SOURCES, SPMM};

    #[test]
    fn cards_that_lack_an_instruction_are_refused_by_name() {
        for (capability, known) in [
            ((6, 1), false),
            ((7, 5), false),
            ((8, 0), true),
            ((8, 9), true),
            ((12, 0), true),
        ] {
            let card = Card::new(1, "NVIDIA T4", capability);
            assert_eq!(card.is_ok(), known, "{capability:?}");
        }
        let error = Card::new(1, "NVIDIA T4", (7, 5)).expect_err("too old");
        assert_eq!(
            error.to_string(),
            format!(
                "cuda:1 (NVIDIA T4): this card has compute capability 7.5, and 8.0 or newer is needed; use the device cpu ({}gpu.html)",
                hone::manual::ADDRESS
            )
        );
    }

    #[test]
    fn the_arithmetic_of_a_card_does_not_depend_on_its_number() {
        let [a, b] = [0, 3].map(|ordinal| Card::new(ordinal, "NVIDIA H200", (9, 0)).expect("new"));
        assert_eq!(
            (&*a.name, &*b.name),
            ("cuda:0 (NVIDIA H200)", "cuda:3 (NVIDIA H200)")
        );
        assert_eq!(
            (&*a.arithmetic, &*a.arithmetic),
            (&*b.arithmetic, "cuda (NVIDIA H200)")
        );
        let other = Card::new(0, "NVIDIA L40", (8, 9)).expect("new");
        assert_ne!(a.arithmetic, other.arithmetic);
    }

    #[test]
    fn kernels_take_the_arguments_that_they_declare() {
        let mut known = 0;
        for (kernel, takes) in SOURCES.into_iter().chain([SPMM]).flat_map(declared) {
            let short = takes.iter().map(|kind| match kind {
                Kind::Wide => 'w',
                Kind::Count => 'c',
                Kind::Factor => 'f',
                Kind::Real => 'r',
            });
            let expected = match kernel {
                "add_parts" => "cww",
                "shorten" => "wcwrw",
                "combine" => "wwcwcwcwcwwcc",
                // With macros.
                "finish" => "wcwwfwcfwwfwwfww",
                "weigh" => "wwwwwwwwwwwcrwrwwwww",
                "spmm_long" => "wwwwwwwcfwcfwwfwwfww",
                _ => continue,
            };
            assert_eq!(short.collect::<String>(), expected, "{kernel}");
            known += 1;
        }
        assert_eq!(known, 6);
    }
}
