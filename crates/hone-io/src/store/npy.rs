//! NumPy arrays: `.npy` (vectors, ids beside it) and `.npz` (both in one archive).
//!
//! The format is a magic string, a header in the syntax of a Python dict, and the raw values; it
//! is written here directly so that no copy of the vectors is made.
//! Reference: NumPy Enhancement Proposal 1.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::mem::ManuallyDrop;
use std::path::Path;

use super::shared::RowPieces;
use super::{Embedding, read_names, text};
use crate::dense::Block;
use crate::error::{Error, Result, unwrapped};
use crate::graph::{NodeId, NodeIds};
use crate::memory::Allowance;
use crate::output::Output;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Bytes decoded at a time.
const PIECE: usize = 1 << 18;
/// Bytes of a header that are read; a plain one has about a hundred.
const LONGEST_HEADER: u32 = 1 << 20;
/// Characters of a text that are read.
const LONGEST_TEXT: usize = 1 << 20;

pub(super) use crate::output::companions::ids as ids_path;

/// Writes rows as an array.
pub(super) fn write(rows: &RowPieces, out: &mut dyn Write) -> io::Result<()> {
    write_header("<f4", &[rows.len(), rows.cols()], out)?;
    rows.each(|_, values| out.write_all(bytemuck::cast_slice(values)))
}

/// Writes magic, version and header of an array in C order, padded to 64 bytes.
pub fn write_header(dtype: &str, shape: &[usize], out: &mut dyn Write) -> io::Result<()> {
    let dims: Vec<String> = shape.iter().map(usize::to_string).collect();
    let dims = if dims.len() == 1 {
        format!("{},", dims[0])
    } else {
        dims.join(", ")
    };
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

/// Writes an archive.
pub(super) fn write_npz(rows: &RowPieces, path: &Path, out: &mut Output) -> Result<()> {
    let archive = || -> io::Result<()> {
        // One that is given up is not dropped: it would be finished, and print that it cannot be.
        let mut zip = ManuallyDrop::new(zip::ZipWriter::new(out));
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default())
            .large_file(true);
        zip.start_file("ids.npy", options)?;
        write_ids(rows.ids(), &mut *zip)?;
        zip.start_file("embedding.npy", options)?;
        write(rows, &mut *zip)?;
        zip.start_file("columns.npy", options)?;
        write_texts(|| rows.names().iter().map(String::as_str), &mut *zip)?;
        // A full disk shows here, not while the archive is finished.
        zip.flush()?;
        ManuallyDrop::into_inner(zip).finish()?;
        Ok(())
    };
    archive().map_err(|e| Error::io(path, e))
}

pub(super) fn write_ids(ids: &NodeIds, out: &mut dyn Write) -> io::Result<()> {
    if let NodeIds::Text { .. } = ids {
        let texts = || (0..ids.len() as u32).map(|i| ids.get(i).to_string());
        return write_texts(texts, out);
    }
    write_header("<i8", &[ids.len()], out)?;
    let mut buffer = io::BufWriter::new(out);
    for i in 0..ids.len() as u32 {
        if let NodeId::Integer(id) = ids.get(i) {
            buffer.write_all(&id.to_le_bytes())?;
        }
    }
    buffer.flush()
}

/// Texts as an array of the width of the longest.
fn write_texts<T: AsRef<str>, I: Iterator<Item = T>>(
    texts: impl Fn() -> I,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lengths = texts().map(|text| text.as_ref().chars().count());
    let width = lengths.max().unwrap_or(0).max(1);
    write_header(&format!("<U{width}"), &[texts().count()], out)?;
    let mut buffer = io::BufWriter::new(out);
    for text in texts() {
        let codes = text.as_ref().chars().map(u32::from);
        for code in codes.chain(std::iter::repeat(0)).take(width) {
            buffer.write_all(&code.to_le_bytes())?;
        }
    }
    buffer.flush()
}

/// An array that is being read: its values are decoded as they come, and only as many as the header promises.
struct Array<'a> {
    path: &'a Path,
    dtype: String,
    shape: Vec<usize>,
    fortran: bool,
    reader: &'a mut dyn Read,
    allowance: Allowance,
}

impl<'a> Array<'a> {
    /// Reads magic, version and header.
    fn open(path: &'a Path, reader: &'a mut dyn Read, allowance: Allowance) -> Result<Self> {
        let broken =
            |what: &str| Error::input(path, format!("not a NumPy array: {what}"), "save it again");
        let short = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => broken("the file is too short"),
            _ => unwrapped(path, error),
        };
        let mut start = [0; 8];
        reader.read_exact(&mut start).map_err(short)?;
        if &start[..6] != MAGIC {
            return Err(broken("the magic bytes are missing"));
        }
        let version = start[6];
        if !(1..=3).contains(&version) {
            let what = format!("version {version} of the format is not known");
            return Err(broken(&what));
        }
        let mut length = [0; 4];
        let digits = if version >= 2 { 4 } else { 2 };
        reader.read_exact(&mut length[..digits]).map_err(short)?;
        let length = u32::from_le_bytes(length);
        if length > LONGEST_HEADER {
            return Err(broken("its header is too long"));
        }
        let mut header = vec![0; length as usize];
        reader.read_exact(&mut header).map_err(short)?;
        let header = String::from_utf8_lossy(&header);
        // The text after `'key':`, within what opens and closes a value.
        let entry = |key: &str, open: &str, close| {
            let after = header.split_once(&format!("'{key}'"))?.1.trim_start();
            let value = after.strip_prefix(':')?.trim_start();
            value.strip_prefix(open)?.split(close).next()
        };
        let dtype = entry("descr", "'", '\'')
            .ok_or_else(|| broken("the header has no `descr` of a plain type"))?;
        let shape = entry("shape", "(", ')').ok_or_else(|| broken("the header has no `shape`"))?;
        let sizes = shape.split(',').map(str::trim).filter(|d| !d.is_empty());
        let shape: Result<Vec<usize>, _> = sizes.map(str::parse).collect();
        Ok(Array {
            path,
            dtype: dtype.to_owned(),
            shape: shape.map_err(|_| broken("`shape` is not a tuple"))?,
            fortran: entry("fortran_order", "True", ',').is_some(),
            reader,
            allowance,
        })
    }

    fn wrong(&self, message: String, remedy: &str) -> Error {
        Error::input(self.path, message, remedy)
    }

    /// All values, of `size` bytes each, which take `kept` bytes in memory.
    fn values<T>(&mut self, size: usize, kept: u64, value: impl Fn(&[u8]) -> T) -> Result<Vec<T>> {
        let wrong = |shape: &[usize], found: String| {
            let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
            let shape = shape.join(" × ");
            let message = format!("the array should have {shape} values, the file has {found}");
            Error::input(self.path, message, "save it again")
        };
        let Some(count) = product(&self.shape) else {
            return Err(wrong(&self.shape, "fewer".into()));
        };
        let all = (count as u64).saturating_mul(kept);
        self.allowance.check(self.path, all)?;
        let piece = (PIECE / size).max(1);
        // Grows with what is there: a shape that lies takes no memory.
        let (mut values, mut bytes) = (Vec::new(), Vec::new());
        let failed = |e| unwrapped(self.path, e);
        while values.len() < count {
            let wanted = piece.min(count - values.len());
            bytes.clear();
            let mut next = (&mut *self.reader).take((size * wanted) as u64);
            next.read_to_end(&mut bytes).map_err(failed)?;
            self.allowance.check(self.path, 0)?;
            values.extend(bytes.chunks_exact(size).map(&value));
            if bytes.len() < size * wanted {
                return Err(wrong(&self.shape, values.len().to_string()));
            }
        }
        bytes.clear();
        let mut rest = (&mut *self.reader).take(1);
        if rest.read_to_end(&mut bytes).map_err(failed)? > 0 {
            return Err(wrong(&self.shape, "more".into()));
        }
        values.shrink_to_fit();
        Ok(values)
    }

    /// The array as numbers, one row each.
    fn block(&mut self) -> Result<Block> {
        let remedy = "save a two-dimensional array of float32, float64, integers or booleans";
        let (rows, cols) = match *self.shape.as_slice() {
            [rows, cols] => (rows, cols),
            [rows] => (rows, 1),
            _ => {
                let message = format!("the array has {} dimensions, not 2", self.shape.len());
                return Err(self.wrong(message, remedy));
            }
        };
        let Some((size, number)) = decoder(&self.dtype) else {
            let message = format!("the array has type {}, not a plain number", self.dtype);
            return Err(self.wrong(message, remedy));
        };
        if rows > u32::MAX as usize {
            let message = format!("{rows} rows are more than 32 bits can number");
            return Err(self.wrong(message, remedy));
        }
        let values: Vec<f32> = self.values(size, if self.fortran { 8 } else { 4 }, number)?;
        if !self.fortran {
            return Ok(Block::from_vec(rows, cols, values));
        }
        let c_order = (0..values.len()).map(|e| values[e % cols * rows + e / cols]);
        Ok(Block::from_vec(rows, cols, c_order.collect()))
    }

    /// The array as ids.
    fn ids(&mut self) -> Result<NodeIds> {
        if self.dtype == "<i8" {
            let id = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            return self.values(8, 16, id).map(NodeIds::from_integers);
        }
        self.texts().map(|ids| NodeIds::from_texts(&ids))
    }

    /// The array as texts.
    fn texts(&mut self) -> Result<Vec<String>> {
        let width = self.dtype.strip_prefix("<U").and_then(|w| w.parse().ok());
        let Some(width) = width.filter(|width| (1..=LONGEST_TEXT).contains(width)) else {
            let message = format!("ids have type {}", self.dtype);
            return Err(self.wrong(message, "use int64 or text ids"));
        };
        let text = |bytes: &[u8]| -> String {
            let codes = bytes
                .as_chunks()
                .0
                .iter()
                .map(|&code| u32::from_le_bytes(code));
            codes
                .take_while(|&code| code != 0)
                .filter_map(char::from_u32)
                .collect()
        };
        // A text and its copy among the ids; few are as long as the longest.
        self.values(4 * width, 2 * 64, text)
    }
}

/// Number of values of an array of this shape.
fn product(shape: &[usize]) -> Option<usize> {
    let mut sizes = shape.iter();
    sizes.try_fold(1usize, |product, &size| product.checked_mul(size))
}

/// How the bytes of a value become a float.
type Decode = fn(&[u8]) -> f32;

/// The number of bytes of a value of a NumPy type, and how they become a float.
fn decoder(dtype: &str) -> Option<(usize, Decode)> {
    macro_rules! decoders {
        ($($name:literal: $number:ty, $from:ident;)*) => {
            match dtype {
                $($name => (size_of::<$number>(), |bytes: &[u8]| {
                    <$number>::$from(bytes.try_into().expect("whole values")) as f32
                }),)*
                "|b1" => (1, |bytes: &[u8]| f32::from(bytes[0] != 0)),
                _ => return None,
            }
        };
    }
    Some(decoders! {
        "<f4": f32, from_le_bytes;
        "<f8": f64, from_le_bytes;
        "<i8": i64, from_le_bytes;
        "<i4": i32, from_le_bytes;
        "<i2": i16, from_le_bytes;
        "<u8": u64, from_le_bytes;
        "<u4": u32, from_le_bytes;
        "<u2": u16, from_le_bytes;
        ">f4": f32, from_be_bytes;
        ">f8": f64, from_be_bytes;
        ">i8": i64, from_be_bytes;
        ">i4": i32, from_be_bytes;
        "|i1": i8, from_le_bytes;
        "|u1": u8, from_le_bytes;
    })
}

/// Refuses an array whose header promises more than fits; what is wrong with the header itself is for the reader to say.
pub(super) fn check_size(path: &Path, allowance: Allowance) -> Result<()> {
    match Array::open(path, &mut opened(path)?, allowance) {
        Ok(array) => {
            let count = product(&array.shape).unwrap_or(usize::MAX) as u64;
            allowance.check(path, count.saturating_mul(size_of::<f32>() as u64))
        }
        Err(_) => Ok(()),
    }
}

pub(super) fn read_npy(path: &Path, allowance: Allowance) -> Result<Embedding> {
    let (vectors, ids) = read_npy_array(path, &mut opened(path)?, allowance)?;
    let ids = ids.unwrap_or(NodeIds::Sequential(vectors.rows()));
    let columns = read_names(path, vectors.cols())?;
    Embedding::of_parts(path, ids, vectors, columns)
}

fn opened(path: &Path) -> Result<BufReader<File>> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    Ok(BufReader::new(file))
}

/// An array of numbers of any dimensions, as rows of the last one.
pub(super) fn read_rows(path: &Path) -> Result<Block> {
    let mut reader = opened(path)?;
    let mut array = Array::open(path, &mut reader, Allowance::new(None))?;
    if let [outer @ .., last] = array.shape.as_slice()
        && outer.len() > 1
    {
        array.shape = vec![product(outer).unwrap_or(usize::MAX), *last];
    }
    array.block()
}

/// An array of ids.
pub(super) fn read_ids(path: &Path) -> Result<NodeIds> {
    Array::open(path, &mut opened(path)?, Allowance::new(None))?.ids()
}

/// An array of numbers, a row each, and the ids beside it, if there are any.
pub fn read_npy_array(
    path: &Path,
    reader: &mut dyn Read,
    allowance: Allowance,
) -> Result<(Block, Option<NodeIds>)> {
    let vectors = Array::open(path, reader, allowance)?.block()?;
    let sidecar = ids_path(path);
    if !sidecar.exists() {
        return Ok((vectors, None));
    }
    let ids = text::read_ids(&sidecar, allowance)?;
    if ids.len() != vectors.rows() {
        let (count, rows, path) = (ids.len(), vectors.rows(), path.display());
        let message = format!("{count} ids for {rows} rows of {path}");
        return Err(Error::input(&sidecar, message, "write both files again"));
    }
    Ok((vectors, Some(ids)))
}

/// Reads an archive, stored or compressed (`numpy.savez`, `numpy.savez_compressed`).
pub(super) fn read_npz(path: &Path, allowance: Allowance) -> Result<Embedding> {
    let found = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
    if found.is_file() {
        return read_archive(path, opened(path)?, allowance);
    }
    // An archive is read from its end.
    let check = |bytes: &[u8], _| match bytes.starts_with(b"PK") {
        true => Ok(()),
        false => Err(Error::input(path, "this is no archive", NPZ)),
    };
    let stream = io::Cursor::new(allowance.read(path, 1, check)?);
    read_archive(path, stream, allowance)
}

const NPZ: &str = "an .npz with arrays `ids` and `embedding` is expected";

fn read_archive(path: &Path, archive: impl Read + Seek, allowance: Allowance) -> Result<Embedding> {
    let broken = |what: String| Error::input(path, what, NPZ);
    let mut archive = zip::ZipArchive::new(archive).map_err(|e| broken(e.to_string()))?;
    let named = archive.index_for_name("columns.npy").is_some();
    let ids = member(&mut archive, path, "ids.npy", allowance, |array| {
        array.ids()
    })?;
    let vectors = member(&mut archive, path, "embedding.npy", allowance, |array| {
        array.block()
    })?;
    let columns = named
        .then(|| {
            member(&mut archive, path, "columns.npy", allowance, |array| {
                array.texts()
            })
        })
        .transpose()?;
    Embedding::of_parts(path, ids, vectors, columns)
}

/// One array of an archive.
fn member<T>(
    archive: &mut zip::ZipArchive<impl Read + Seek>,
    path: &Path,
    name: &str,
    allowance: Allowance,
    read: impl FnOnce(&mut Array<'_>) -> Result<T>,
) -> Result<T> {
    let member = archive.by_name(name);
    let mut member = member.map_err(|e| Error::input(path, format!("{name}: {e}"), NPZ))?;
    read(&mut Array::open(path, &mut member, allowance)?)
}
