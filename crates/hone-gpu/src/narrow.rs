//! Columns of integers, narrowed on the device and copied to this process.

use cudarc::driver::DeviceRepr;
use hone::motif::{Column, Sizes};

use crate::Cuda;
use crate::driver::Memory;
use crate::panel::{count, wide};
use crate::ranked::{THREADS, flag};

/// Blocks that scan all values.
const BLOCKS: usize = 2048;

impl Cuda {
    /// The first values of u32 or u64 as a column.
    pub(crate) fn narrowed<T: DeviceRepr>(&self, values: &Memory<T>, length: usize) -> Column {
        let (driver, eight) = (&self.driver, flag(size_of::<T>() == 8));
        let over = driver.zeros::<u64>(3);
        let blocks = length.div_ceil(THREADS).min(BLOCKS);
        self.start(
            "sizes",
            blocks,
            &[wide(length), eight, values.address(), over.address()],
        );
        let mut sizes = [0u64; 3];
        driver.download(&over, &mut sizes);
        let (bytes, beyond) = Sizes::new(sizes.map(|size| size as usize)).width(length);
        let (places, listed) = (driver.reserve::<u64>(beyond), driver.reserve::<u64>(beyond));
        let (out, next) = (driver.reserve::<u8>(length * bytes), driver.zeros::<u64>(1));
        let to = [
            count(bytes),
            out.address(),
            places.address(),
            listed.address(),
            next.address(),
        ];
        let args = [&[wide(length), eight, values.address()], &to[..]].concat();
        self.start("narrow", length.div_ceil(THREADS), &args);
        let (mut places_here, mut listed_here) = (vec![0u64; beyond], vec![0u64; beyond]);
        driver.download(&places, &mut places_here);
        driver.download(&listed, &mut listed_here);
        let beyond = places_here
            .into_iter()
            .map(|place| place as usize)
            .zip(listed_here)
            .collect();
        let mut narrow = vec![0u8; length * bytes];
        driver.download(&out, &mut narrow);
        Column::of(bytes, narrow, beyond)
    }
}
