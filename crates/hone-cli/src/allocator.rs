//! The allocator of the system, which ends the run in order where it has no memory left, and returns what is freed.
//!
//! Where an allocation fails, Rust's own answer is to abort: without a word on what helps, and with unfinished files left behind.
//! Libraries below us allocate too, so this is the one place that sees every request. A thread that waits for this cleans up, because
//! the one whose request failed may hold locks that this takes. It and small requests get what is left from a reserve of our own. Linux
//! usually promises more memory than it has, and kills a process later; what is said here is what `ulimit -v` and systems that promise
//! less lead to.
//!
//! glibc allocates blocks above a threshold on separate pages, and raises that threshold, up to 32 MB, whenever such a
//! block is freed. Smaller blocks are then in a heap that cannot shrink below the last block in use: at 10⁶ nodes this
//! wastes some 75 MB (peak 1.24 GiB; 1.17 with a fixed threshold). Other systems are not changed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::exit::{self, Want};

#[global_allocator]
static MEMORY: Memory = Memory;

static RESERVE: Reserve = Reserve {
    bytes: UnsafeCell::new([0; Reserve::SIZE]),
    used: AtomicUsize::new(0),
};

struct Memory;

/// What is granted when the system has no more: small requests, and those of what cleans up. Each byte is granted once.
struct Reserve {
    bytes: UnsafeCell<[u8; Reserve::SIZE]>,
    used: AtomicUsize,
}

// SAFETY: no reference to the bytes is made, and none of them is granted twice.
#[allow(unsafe_code)]
unsafe impl Sync for Reserve {}

impl Reserve {
    const SIZE: usize = 1 << 20;

    /// A block of zeros among the first `most` bytes; none where these are used up.
    fn grant(&self, layout: Layout, most: usize) -> *mut u8 {
        let start = self.bytes.get().cast::<u8>();
        let begin = |used: usize| used + start.wrapping_add(used).align_offset(layout.align());
        let end = |used: usize| {
            Some(begin(used).saturating_add(layout.size())).filter(|end| *end <= most)
        };
        match self.used.fetch_update(Relaxed, Relaxed, end) {
            Ok(used) => start.wrapping_add(begin(used)),
            Err(_) => null_mut(),
        }
    }

    fn has(&self, block: *mut u8) -> bool {
        let start = self.bytes.get().addr();
        (start..start + Self::SIZE).contains(&block.addr())
    }
}

/// A block in place of one that the system has refused: the run is about to end.
fn refused(layout: Layout) -> *mut u8 {
    match exit::out_of_memory(layout.size()) {
        Want::ToCleanUp => RESERVE.grant(layout, Reserve::SIZE),
        Want::ToGoOn => RESERVE.grant(layout, Reserve::SIZE / 2),
        Want::TooMuch => null_mut(),
    }
}

// SAFETY: every call is passed on to the allocator of the system, and its answer is returned; where that is none, the block is one
// of the reserve, which is never given back.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the one that is needed.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() {
            refused(layout)
        } else {
            block
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() {
            refused(layout)
        } else {
            block
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !RESERVE.has(block) {
            // SAFETY: as above; the block is one of the system.
            let larger = unsafe { System.realloc(block, layout, size) };
            if !larger.is_null() {
                return larger;
            }
        }
        // SAFETY: the caller promises that the size is valid with this alignment. Both blocks are at least as long as what is copied,
        // and neither is part of the other.
        unsafe {
            let other = refused(Layout::from_size_align_unchecked(size, layout.align()));
            if !other.is_null() {
                other.copy_from_nonoverlapping(block, size.min(layout.size()));
                self.dealloc(block, layout);
            }
            other
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !RESERVE.has(block) {
            // SAFETY: as above.
            unsafe { System.dealloc(block, layout) }
        }
    }
}

/// Fixes the size from which blocks are on separate pages, and prepares for the end of memory.
pub(crate) fn prepare() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fix_threshold();
    exit::prepare_for_want_of_memory();
}

/// Bytes from which a block is on separate pages.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 1 << 20;

/// Free bytes that a heap keeps for the next blocks. A fixed size above would leave it at 128 kB, and pages that are freed and taken
/// again all the time are a fifth of all page faults of `hone-p` at 10⁶ nodes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const FREE: i32 = 4 << 20;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
fn fix_threshold() {
    // SAFETY: `mallopt` takes two numbers, changes a parameter of the allocator under its lock, and touches no block.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, FREE);
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;
    use hone::memory::resident;

    /// Blocks of 8 MB below a small one that stays: without a fixed size they would stay too, once one of them was freed.
    #[test]
    fn freed_blocks_go_back_though_a_later_one_stays() {
        fix_threshold();
        let block = || vec![1u8; 8 << 20];
        drop(std::hint::black_box(block()));
        let blocks: Vec<Vec<u8>> = (0..12).map(|_| block()).collect();
        let small = std::hint::black_box(vec![1u8; 1 << 10]);
        let full = resident().expect("Linux says");
        drop(std::hint::black_box(blocks));
        let left = full - resident().expect("Linux says").min(full);
        assert!(left > 80 << 20, "{left} bytes went back");
        drop(small);
    }
}
