//! [`Pages`]: zeroed memory of many values: on the heap for few, on anonymous huge pages for many, or in a
//! file while they are not needed.
//!
//! Products gather rows of a block at random; with 4 kB pages nearly each gather misses the TLB, and every
//! page is faulted in separately. If the system gives huge pages only on request (`madvise`), we request
//! them.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use bytemuck::Pod;
use memmap2::MmapMut;

use crate::aside::Aside;
use crate::error::Result;
use crate::parallel;

/// Runs of this many bytes or more are on separate pages.
const LARGE: usize = 2 << 20;

/// A run of values, zero at first.
#[derive(Debug)]
pub struct Pages<T> {
    here: Kind<T>,
    /// The file, if the values are in one; then there are none in memory. Not a separate variant, so that [`Deref`] in
    /// inner loops has fewer cases.
    aside: Option<Box<Aside>>,
}

#[derive(Debug)]
enum Kind<T> {
    Heap(Vec<T>),
    Mapped(MmapMut, PhantomData<T>),
}

impl<T: Pod> Pages<T> {
    /// `len` zeros.
    ///
    /// # Panics
    /// When they do not fit the address space.
    pub fn zeros(len: usize) -> Self {
        let bytes = len
            .checked_mul(size_of::<T>())
            .expect("values fit the address space");
        if bytes < LARGE {
            return Pages::from(vec![T::zeroed(); len]);
        }
        // If the map is refused, the allocator decides.
        match MmapMut::map_anon(bytes) {
            Ok(map) => {
                ask_for_huge_pages(&map);
                Pages {
                    here: Kind::Mapped(map, PhantomData),
                    aside: None,
                }
            }
            Err(_) => Pages::from(vec![T::zeroed(); len]),
        }
    }

    /// The results of `work` for each of `0..len`, computed in parallel: for small work, and results that are looked up in no order.
    pub fn collect(len: usize, work: impl Fn(usize) -> T + Sync) -> Self
    where
        T: Send,
    {
        let mut found = Pages::zeros(len);
        parallel::for_rows(&mut found, 1, |i, to: &mut [T]| to[0] = work(i));
        found
    }

    /// Moves the values to a temporary file in a folder: until they are [brought back](Pages::bring_back)
    /// there are none in memory.
    pub fn put_aside(&mut self, folder: &Path) -> Result<()> {
        if self.aside.is_none() {
            *self = Pages {
                aside: Some(Box::new(Aside::new(&self[..], folder)?)),
                here: Kind::Heap(Vec::new()),
            };
        }
        Ok(())
    }

    /// Reads the values back.
    pub fn bring_back(&mut self) -> Result<()> {
        if let Some(aside) = &self.aside {
            let mut values = Pages::zeros(aside.count());
            aside.back(&mut values)?;
            *self = values;
        }
        Ok(())
    }

    /// The file, if the values are in one.
    pub fn aside(&self) -> Option<&Aside> {
        self.aside.as_deref()
    }
}

impl<T> From<Vec<T>> for Pages<T> {
    fn from(values: Vec<T>) -> Self {
        Pages {
            here: Kind::Heap(values),
            aside: None,
        }
    }
}

#[cfg(target_os = "linux")]
fn ask_for_huge_pages(map: &MmapMut) {
    // Only a hint: a kernel without huge pages refuses, and the map works anyway.
    let _ = map.advise(memmap2::Advice::HugePage);
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_map: &MmapMut) {}

impl<T: Pod> Deref for Pages<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match &self.here {
            Kind::Heap(values) => values,
            Kind::Mapped(map, _) => bytemuck::cast_slice(map),
        }
    }
}

impl<T: Pod> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.here {
            Kind::Heap(values) => values,
            Kind::Mapped(map, _) => bytemuck::cast_slice_mut(map),
        }
    }
}

impl<T: Pod> Clone for Pages<T> {
    fn clone(&self) -> Self {
        if let Some(aside) = &self.aside {
            return Pages {
                here: Kind::Heap(Vec::new()),
                aside: Some(aside.clone()),
            };
        }
        let mut copy = Pages::zeros(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_values_are_zero_and_their_own() {
        for len in [0, 1, LARGE / 8 - 1, LARGE / 8, LARGE / 8 + 3] {
            let mut pages = Pages::<[f32; 2]>::zeros(len);
            assert_eq!(pages.len(), len);
            assert!(pages.iter().all(|&pair| pair == [0.0; 2]));
            pages
                .iter_mut()
                .zip(0u32..)
                .for_each(|(pair, i)| pair[1] = i as f32);
            let copy = pages.clone();
            pages.iter_mut().for_each(|pair| pair[1] = -1.0);
            assert!(copy.iter().zip(0u32..).all(|(pair, i)| pair[1] == i as f32));
        }
    }

    #[test]
    fn values_that_are_aside_take_no_memory_until_they_are_back() {
        let mut pages = Pages::from((0..5000).collect::<Vec<u32>>());
        let before = pages.clone();
        pages.put_aside(&std::env::temp_dir()).expect("written");
        assert!(pages.is_empty() && pages.aside().is_some());
        let mut copy = pages.clone();
        for one in [&mut pages, &mut copy] {
            one.bring_back().expect("read");
            assert_eq!(one[..], before[..]);
        }
    }
}
