//! NumPy arrays: `.npy` (vectors, ids beside it) and `.npz` (both in one archive).
//!
//! The format is a magic string, a header in the syntax of a Python dict, and the raw values; it
//! is written here directly so that no copy of the vectors is made.
//! Reference: NumPy Enhancement Proposal 1.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::{Embedding, text};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::graph::{NodeId, NodeIds};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The ids that belong to `path`: `z.npy` → `z.ids.txt`.
pub(super) fn ids_path(path: &Path) -> PathBuf {
    path.with_extension("ids.txt")
}

pub(super) fn write_npy(embedding: &Embedding, path: &Path, out: &mut dyn Write) -> Result<()> {
    write_vectors(&embedding.vectors, out).map_err(|e| Error::io(path, e))
}

fn write_vectors(vectors: &Block, out: &mut dyn Write) -> io::Result<()> {
    write_header("<f4", &[vectors.rows(), vectors.cols()], out)?;
    if cfg!(target_endian = "little") {
        return out.write_all(bytemuck::cast_slice(vectors.as_slice()));
    }
    vectors.as_slice().iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))
}

/// Writes magic, version and header of an array in C order, padded to 64 bytes.
pub(crate) fn write_header(dtype: &str, shape: &[usize], out: &mut dyn Write) -> io::Result<()> {
    let dims: Vec<String> = shape.iter().map(usize::to_string).collect();
    let dims = if dims.len() == 1 { format!("{},", dims[0]) } else { dims.join(", ") };
    let mut header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({dims}), }}");
    let unpadded = MAGIC.len() + 4 + header.len() + 1;
    header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let length = u16::try_from(header.len()).expect("a header of a few numbers is short");
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(header.as_bytes())
}

pub(super) fn write_npz(embedding: &Embedding, path: &Path, out: &mut (impl Write + Seek)) -> Result<()> {
    let archive = |out: &mut dyn ArchiveSink| -> io::Result<()> {
        let mut zip = zip::ZipWriter::new(out);
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default())
            .large_file(true);
        zip.start_file("ids.npy", options)?;
        write_ids(&embedding.ids, &mut zip)?;
        zip.start_file("embedding.npy", options)?;
        write_vectors(&embedding.vectors, &mut zip)?;
        zip.start_file("columns.npy", options)?;
        write_texts(|| embedding.columns.iter().map(String::as_str), &mut zip)?;
        zip.finish()?;
        Ok(())
    };
    archive(out).map_err(|e| Error::io(path, e))
}

/// What a zip archive is written to.
trait ArchiveSink: Write + Seek {}
impl<T: Write + Seek> ArchiveSink for T {}

fn write_ids(ids: &NodeIds, out: &mut dyn Write) -> io::Result<()> {
    let NodeIds::Text { .. } = ids else {
        write_header("<i8", &[ids.len()], out)?;
        let mut buffer = io::BufWriter::new(out);
        for i in 0..ids.len() as u32 {
            if let NodeId::Integer(id) = ids.get(i) {
                buffer.write_all(&id.to_le_bytes())?;
            }
        }
        return buffer.flush();
    };
    write_texts(|| (0..ids.len() as u32).map(|i| ids.get(i).to_string()), out)
}

/// Texts as an array of the width of the longest.
fn write_texts<T: AsRef<str>, I: Iterator<Item = T>>(texts: impl Fn() -> I, out: &mut dyn Write) -> io::Result<()> {
    let width = texts().map(|t| t.as_ref().chars().count()).max().unwrap_or(0).max(1);
    write_header(&format!("<U{width}"), &[texts().count()], out)?;
    let mut buffer = io::BufWriter::new(out);
    for text in texts() {
        let padded = text.as_ref().chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        for code in padded {
            buffer.write_all(&code.to_le_bytes())?;
        }
    }
    buffer.flush()
}

/// An array as read: its type, shape and raw bytes.
struct Array {
    dtype: String,
    shape: Vec<usize>,
    fortran: bool,
    bytes: Vec<u8>,
}

impl Array {
    fn read(path: &Path, reader: &mut dyn Read) -> Result<Self> {
        let broken = |what: &str| Error::input(path, format!("not a NumPy array: {what}"), "");
        let io_error = |e: io::Error| Error::reading(path, e);
        let mut start = [0; 8];
        reader.read_exact(&mut start).map_err(|_| broken("the file is too short"))?;
        if &start[..6] != MAGIC {
            return Err(broken("the magic bytes are missing"));
        }
        let wide = start[6] >= 2;
        let mut length = [0; 4];
        reader.read_exact(&mut length[..if wide { 4 } else { 2 }]).map_err(io_error)?;
        let mut header = String::new();
        let length = u64::from(u32::from_le_bytes(length));
        reader.take(length).read_to_string(&mut header).map_err(io_error)?;
        let dtype = entry(&header, "descr").and_then(|v| v.trim().strip_prefix('\'')?.split('\'').next());
        let dtype = dtype.ok_or_else(|| broken("the header has no `descr` of a plain type"))?.to_owned();
        let fortran = entry(&header, "fortran_order").is_some_and(|v| v.trim_start().starts_with("True"));
        let shape = entry(&header, "shape").and_then(|v| v.trim().strip_prefix('(')?.split(')').next());
        let shape = shape.ok_or_else(|| broken("the header has no `shape`"))?;
        let shape = shape.split(',').map(str::trim).filter(|d| !d.is_empty()).map(str::parse);
        let shape: Vec<usize> = shape.collect::<Result<_, _>>().map_err(|_| broken("`shape` is not a tuple"))?;
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(io_error)?;
        Ok(Array { dtype, shape, fortran, bytes })
    }

    fn count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1usize, |product, &d| product.checked_mul(d))
    }

    fn into_block(self, path: &Path) -> Result<Block> {
        let wrong = |message: String| {
            Error::input(path, message, "save a two-dimensional array of float32, float64, integers or booleans")
        };
        let (rows, cols) = match *self.shape.as_slice() {
            [rows, cols] => (rows, cols),
            [rows] => (rows, 1),
            _ => return Err(wrong(format!("the array has {} dimensions, not 2", self.shape.len()))),
        };
        let Some((size, number)) = decoder(&self.dtype) else {
            return Err(wrong(format!("the array has type {}, not a plain number", self.dtype)));
        };
        let values: Vec<f32> = self.bytes.chunks_exact(size).map(number).collect();
        if Some(values.len()) != self.count() {
            return Err(wrong(format!("the array should have {rows} × {cols} values, the file has {}", values.len())));
        }
        if !self.fortran {
            return Ok(Block::from_vec(rows, cols, values));
        }
        let c_order = (0..rows * cols).map(|e| values[e % cols * rows + e / cols]).collect();
        Ok(Block::from_vec(rows, cols, c_order))
    }

    fn into_ids(self, path: &Path) -> Result<NodeIds> {
        if self.dtype == "<i8" {
            let words = self.bytes.chunks_exact(8);
            let ids = words.map(|b| i64::from_le_bytes(b.try_into().expect("eight bytes"))).collect();
            return Ok(NodeIds::from_integers(ids));
        }
        self.into_texts(path).map(|ids| NodeIds::from_texts(&ids))
    }

    fn into_texts(self, path: &Path) -> Result<Vec<String>> {
        let width = self.dtype.strip_prefix("<U").and_then(|w| w.parse::<usize>().ok()).filter(|&w| w > 0);
        let Some(width) = width.filter(|&width| width <= 1 << 24) else {
            return Err(Error::input(path, format!("ids have type {}", self.dtype), "use int64 or text ids"));
        };
        let text = |bytes: &[u8]| -> String {
            let codes = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            codes.take_while(|&c| c != 0).filter_map(char::from_u32).collect()
        };
        Ok(self.bytes.chunks_exact(4 * width).map(text).collect())
    }
}

/// How the bytes of a value become a float.
type Decode = fn(&[u8]) -> f32;

/// The number of bytes of a value of a NumPy type, and how they become a float.
fn decoder(dtype: &str) -> Option<(usize, Decode)> {
    macro_rules! of {
        ($number:ty, $from:ident) => {
            (size_of::<$number>(), |b: &[u8]| <$number>::$from(b.try_into().expect("whole values")) as f32)
        };
    }
    Some(match dtype {
        "<f4" => of!(f32, from_le_bytes),
        "<f8" => of!(f64, from_le_bytes),
        "<i8" => of!(i64, from_le_bytes),
        "<i4" => of!(i32, from_le_bytes),
        "<i2" => of!(i16, from_le_bytes),
        "<u8" => of!(u64, from_le_bytes),
        "<u4" => of!(u32, from_le_bytes),
        "<u2" => of!(u16, from_le_bytes),
        ">f4" => of!(f32, from_be_bytes),
        ">f8" => of!(f64, from_be_bytes),
        ">i8" => of!(i64, from_be_bytes),
        ">i4" => of!(i32, from_be_bytes),
        "|i1" => of!(i8, from_le_bytes),
        "|u1" => of!(u8, from_le_bytes),
        "|b1" => (1, |b: &[u8]| f32::from(b[0] != 0)),
        _ => return None,
    })
}

/// The text after `'key':` in a header.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let after = header.split_once(&format!("'{key}'"))?.1;
    after.trim_start().strip_prefix(':').map(str::trim_start)
}

pub(super) fn read_npy(path: &Path) -> Result<Embedding> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let (vectors, ids) = read_npy_array(path, &mut BufReader::new(file))?;
    let ids = ids.unwrap_or(NodeIds::Sequential(vectors.rows()));
    Ok(Embedding::new(ids, vectors))
}

/// An array of numbers, a row each, and the ids beside it, if there are any.
pub(crate) fn read_npy_array(path: &Path, reader: &mut dyn Read) -> Result<(Block, Option<NodeIds>)> {
    let vectors = Array::read(path, reader)?.into_block(path)?;
    let sidecar = ids_path(path);
    let ids = sidecar.exists().then(|| text::read_ids(&sidecar)).transpose()?;
    if let Some(ids) = ids.as_ref().filter(|ids| ids.len() != vectors.rows()) {
        let message = format!("{} ids for {} rows of {}", ids.len(), vectors.rows(), path.display());
        return Err(Error::input(&sidecar, message, "write both files anew"));
    }
    Ok((vectors, ids))
}

pub(super) fn read_npz(path: &Path) -> Result<Embedding> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let broken = |what: String| Error::input(path, what, "an .npz with arrays `ids` and `embedding` is expected");
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(|e| broken(e.to_string()))?;
    let named = archive.index_for_name("columns.npy").is_some();
    let mut array = |name: &str| -> Result<Array> {
        let mut member = archive.by_name(name).map_err(|e| broken(format!("{name}: {e}")))?;
        Array::read(path, &mut member)
    };
    let ids = array("ids.npy")?.into_ids(path)?;
    let vectors = array("embedding.npy")?.into_block(path)?;
    if ids.len() != vectors.rows() {
        return Err(broken(format!("{} ids for {} rows", ids.len(), vectors.rows())));
    }
    let columns = if named { array("columns.npy")?.into_texts(path)? } else { Vec::new() };
    if columns.len() != vectors.cols() {
        return Ok(Embedding::new(ids, vectors));
    }
    Ok(Embedding::with_columns(ids, vectors, columns))
}
