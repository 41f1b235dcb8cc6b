//! The allocator of the system, which ends the run in order where it has no memory left, and returns what is freed.
//!
//! Where an allocation fails, Rust's own answer is to abort: without a word on what helps, and with unfinished files left behind.
//! Libraries below us allocate too, so this is the one place that sees every request. Linux usually promises more memory
//! than it has, and kills a process later; what is said here is what `ulimit -v` and systems that promise less lead to.
//!
//! glibc allocates blocks above a threshold on separate pages, and raises that threshold, up to 32 MB, whenever such a
//! block is freed. Smaller blocks are then in a heap that cannot shrink below the last block in use: at 10⁶ nodes this
//! wastes some 75 MB (peak 1.24 GiB; 1.17 with a fixed threshold). Other systems are not changed.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::exit;

#[global_allocator]
static MEMORY: Memory = Memory;

struct Memory;

fn granted(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() && exit::ends_for(size) {
        exit::out_of_memory(size);
    }
    block
}

// SAFETY: every call is passed on to the allocator of the system, and its answer is returned; a block is never touched. Where there
// is none the process ends instead of unwinding.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the one that is needed.
        granted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        granted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        granted(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Fixes the size from which blocks are on separate pages.
pub(crate) fn give_back_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fix_threshold();
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
        give_back_large_blocks();
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
