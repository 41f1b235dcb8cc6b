//! Mutations inside compressed files: what is packed is mutated and packed again, since mutated packings are mostly
//! refused by their checksums.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;

use crate::mutate::{LONGEST, Random, mutate};
use crate::target::Target;

/// The packing of a target's files mutated from within, half of the time; none for files that are not packed.
pub(crate) fn mutated(target: &Target, bytes: &[u8], key: &[u8; 8]) -> Option<Vec<u8>> {
    let mut random = Random::new(u64::from_le_bytes(*key));
    if random.below(2) == 0 {
        return None;
    }
    match target.extension {
        "txt.gz" => {
            let mut inside = Vec::new();
            flate2::read::MultiGzDecoder::new(bytes)
                .take(LONGEST as u64)
                .read_to_end(&mut inside)
                .ok()?;
            gzip(&mutate(&inside, &inside, target.tokens, &mut random))
        }
        "txt.zst" => {
            let mut inside = Vec::new();
            zstd::Decoder::new(bytes)
                .ok()?
                .take(LONGEST as u64)
                .read_to_end(&mut inside)
                .ok()?;
            zstd::encode_all(&*mutate(&inside, &inside, target.tokens, &mut random), 1).ok()
        }
        "npz" => archive(bytes, &mut random),
        _ => None,
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}

/// An archive with its members mutated, stored or deflated.
fn archive(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut old = zip::ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut new = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for i in 0..old.len().min(8) {
        let mut member = old.by_index(i).ok()?;
        let mut inside = Vec::new();
        member
            .by_ref()
            .take(LONGEST as u64)
            .read_to_end(&mut inside)
            .ok()?;
        if random.below(2) == 0 {
            inside = mutate(
                &inside,
                &inside,
                &["'descr': ", "'<U9'", "'<i8'", "'shape': (", "9", ", "],
                random,
            );
        }
        let method = [
            zip::CompressionMethod::Stored,
            zip::CompressionMethod::Deflated,
        ][random.below(2)];
        new.start_file(
            member.name().ok()?.into_owned(),
            SimpleFileOptions::default().compression_method(method),
        )
        .ok()?;
        new.write_all(&inside).ok()?;
    }
    Some(new.finish().ok()?.into_inner())
}
