//! [`Sum`]: length and checksum of bytes, counted while they pass.

use std::io::{self, Read};

/// Length and CRC-32 (IEEE 802.3) of the bytes so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sum {
    bytes: u64,
    hasher: crc32fast::Hasher,
}

impl Sum {
    pub(crate) fn add(&mut self, data: &[u8]) {
        self.hasher.update(data);
        self.bytes += data.len() as u64;
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn crc32(&self) -> u32 {
        self.hasher.clone().finalize()
    }
}

/// That of all that is left to read.
pub(crate) fn checksum(reader: &mut dyn Read) -> io::Result<Sum> {
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
