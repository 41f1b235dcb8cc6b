//! [`Sum`]: length and checksum of bytes, counted while they pass.

use std::io::{self, Read};

/// Length and CRC-32 (IEEE 802.3) of the bytes so far.
#[derive(Debug, Clone, Default)]
pub struct Sum {
    bytes: u64,
    hasher: crc32fast::Hasher,
}

impl Sum {
    /// Adds bytes.
    pub fn add(&mut self, data: &[u8]) {
        self.hasher.update(data);
        self.bytes += data.len() as u64;
    }

    /// Those of bytes that were measured elsewhere.
    pub fn of(bytes: u64, crc32: u32) -> Self {
        Sum {
            bytes,
            hasher: crc32fast::Hasher::new_with_initial_len(crc32, bytes),
        }
    }

    /// Adds bytes that were measured separately.
    pub fn append(&mut self, next: &Sum) {
        self.hasher.combine(&next.hasher);
        self.bytes += next.bytes;
    }

    /// Number of bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Their checksum.
    pub fn crc32(&self) -> u32 {
        self.hasher.clone().finalize()
    }
}

/// That of all that is left to read.
pub fn checksum(reader: &mut dyn Read) -> io::Result<Sum> {
    let (mut sum, mut buffer) = (Sum::default(), vec![0; 1 << 16]);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(sum),
            Ok(read) => sum.add(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_parts_are_that_of_the_whole() {
        let data: Vec<u8> = (0..5000u32).map(|i| (i * i % 251) as u8).collect();
        let sum = |bytes: &[u8]| {
            let mut sum = Sum::default();
            sum.add(bytes);
            sum
        };
        for (first, second) in [(0, 0), (0, 5000), (1234, 4321)] {
            let mut joined = sum(&data[..first]);
            for part in [&data[first..second], &data[second..]] {
                let part = sum(part);
                joined.append(&Sum::of(part.bytes(), part.crc32()));
            }
            assert_eq!(
                (joined.bytes(), joined.crc32()),
                (5000, sum(&data).crc32()),
                "{first} {second}"
            );
        }
    }
}
