//! Memory of a block: the heap for small ones, anonymous huge pages for large ones.
//!
//! Products gather rows of a block at random; with 4 kB pages nearly each gather misses the TLB.
//! Where the system only gives huge pages to those who ask (`madvise`), we ask.

use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// Blocks from this many bytes live on pages of their own.
const LARGE: usize = 4 << 20;

/// A zero-initialised run of f32 values.
#[derive(Debug)]
pub(super) enum Pages {
    Heap(Vec<f32>),
    Mapped(MmapMut),
}

impl Pages {
    /// `len` zeros.
    pub(super) fn zeros(len: usize) -> Self {
        let bytes = len.checked_mul(size_of::<f32>()).expect("a block fits the address space");
        if bytes < LARGE {
            return Pages::Heap(vec![0.0; len]);
        }
        // A map that is refused leaves the decision to the allocator.
        match MmapMut::map_anon(bytes) {
            Ok(map) => {
                ask_for_huge_pages(&map);
                Pages::Mapped(map)
            }
            Err(_) => Pages::Heap(vec![0.0; len]),
        }
    }
}

#[cfg(target_os = "linux")]
fn ask_for_huge_pages(map: &MmapMut) {
    // Only a hint: a kernel without huge pages says no, and the map works as it is.
    let _ = map.advise(memmap2::Advice::HugePage);
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_map: &MmapMut) {}

impl Deref for Pages {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        match self {
            Pages::Heap(data) => data,
            Pages::Mapped(map) => bytemuck::cast_slice(map),
        }
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [f32] {
        match self {
            Pages::Heap(data) => data,
            Pages::Mapped(map) => bytemuck::cast_slice_mut(map),
        }
    }
}

impl Clone for Pages {
    fn clone(&self) -> Self {
        let mut copy = Pages::zeros(self.len());
        copy.copy_from_slice(self);
        copy
    }
}
