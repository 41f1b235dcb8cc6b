//! Splits the rest of a [`Source`] into blocks of whole lines and parses them in parallel.
//!
//! A plain file is read by every task for itself: block i is what begins in bytes
//! [i B, (i + 1) B), so no task waits for another. A stream is read by one thread in batches,
//! each cut into blocks while the next batch is being decompressed. The results come in the order
//! of the file, and so does the error: of all wrong lines the first one is reported, with a line
//! number that is counted only then.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::source::Source;
use crate::aside::read_at;
use crate::error::{Error, Result};
use crate::memory::Allowance;
use crate::parallel;
use crate::progress::Progress;

/// Bytes a block; small enough to stay in a core's cache between reading and parsing.
const BLOCK: usize = 1 << 20;
/// Bytes of a batch of a stream, at most and at least.
const BATCH: usize = 16 * BLOCK;
const LEAST_BATCH: usize = BLOCK / 4;
/// A batch takes one part in this many of the remaining memory: two are in memory at once, and the parsed data may take
/// several times its bytes.
const SHARE: u64 = 32;
/// Blocks that a batch is cut into.
const BLOCKS: usize = 16;
/// Blocks of a file between two memory checks.
const WATCH: usize = 4;
/// A line longer than this is no line of a table.
pub(crate) const LONGEST_LINE: usize = 16 * BLOCK;

/// What is wrong with a line.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Lines before it in the block.
    pub(crate) line: u64,
    pub(crate) text: Vec<u8>,
    pub(crate) message: String,
    pub(crate) remedy: String,
}

impl Fault {
    /// A fault in some line, whose number the caller of [`Fault::on_line`] adds.
    pub(crate) fn new(text: &[u8], message: impl Into<String>, remedy: impl Into<String>) -> Self {
        // More is never shown.
        let text = text[..text.len().min(1 << 10)].to_vec();
        Fault { line: 0, text, message: message.into(), remedy: remedy.into() }
    }

    pub(crate) fn on_line(mut self, line: u64) -> Self {
        self.line = line;
        self
    }

    /// The error to show, when the block begins after `lines` lines.
    pub(crate) fn into_error(self, source: &Source, lines: u64) -> Error {
        Error::input_at(source.path(), lines + self.line + 1, &self.text, self.message, self.remedy)
    }
}

/// Applies `parse` to blocks of whole lines that together are the rest of `source`.
pub(crate) fn parse<T: Send>(
    mut source: Source,
    progress: &dyn Progress,
    parse: impl Fn(&[u8]) -> Result<T, Fault> + Sync,
) -> Result<Vec<T>> {
    let total = source.len().map_or(0, |len| len.saturating_sub(source.position()));
    progress.stage("reading", total);
    match source.file() {
        Some(file) => parse_file(file, &source, total, progress, &parse),
        None => parse_stream(&mut source, progress, &parse),
    }
}

/// Why a block gave nothing.
enum Failure {
    Fault(Fault),
    Io(io::Error),
    Interrupted,
    /// The memory limit is exceeded.
    Refused(Error),
    /// An earlier block failed.
    Moot,
}

fn parse_file<T: Send>(
    file: &File,
    source: &Source,
    total: u64,
    progress: &dyn Progress,
    parse: &(impl Fn(&[u8]) -> Result<T, Fault> + Sync),
) -> Result<Vec<T>> {
    let (path, allowance) = (source.path(), source.allowance());
    let first_failed = AtomicUsize::new(usize::MAX);
    let (begin, longest) = (source.position(), longest(source));
    let range = Lines { path, allowance, longest, file, begin, end: begin + total };
    // Those that no thread is using.
    let buffers = Mutex::new(Vec::<Vec<u8>>::new());
    let buffers = || buffers.lock().unwrap_or_else(PoisonError::into_inner);
    let results: Vec<Result<T, Failure>> = parallel::map(total.div_ceil(BLOCK as u64) as usize, |block| {
        if first_failed.load(Ordering::Relaxed) < block {
            return Err(Failure::Moot);
        }
        let mut buffer = buffers().pop().unwrap_or_default();
        let allowed =
            if block % WATCH == WATCH - 1 { allowance.check(path, 0).map_err(Failure::Refused) } else { Ok(()) };
        let result = allowed
            .and_then(|()| range.read_block(block, &mut buffer))
            .and_then(|lines| parse(lines).map_err(Failure::Fault));
        let result = if progress.cancelled() { Err(Failure::Interrupted) } else { result };
        if result.is_err() {
            first_failed.fetch_min(block, Ordering::Relaxed);
        }
        progress.advance(BLOCK.min((total - (block * BLOCK) as u64) as usize) as u64);
        buffers().push(buffer);
        result
    });
    let mut parsed = Vec::with_capacity(results.len());
    for (block, result) in results.into_iter().enumerate() {
        match result {
            Ok(value) => parsed.push(value),
            Err(Failure::Fault(fault)) => {
                let before = range.lines_before(block).map_err(|error| Error::io(source.path(), error))?;
                return Err(fault.into_error(source, source.lines() + before));
            }
            Err(Failure::Io(error)) => return Err(Error::io(source.path(), error)),
            Err(Failure::Refused(error)) => return Err(error),
            Err(Failure::Interrupted | Failure::Moot) => return Err(Error::Interrupted),
        }
    }
    Ok(parsed)
}

/// The part of a file that holds the lines.
struct Lines<'a> {
    path: &'a Path,
    allowance: Allowance,
    /// Bytes of the longest line that is read.
    longest: usize,
    file: &'a File,
    begin: u64,
    end: u64,
}

impl Lines<'_> {
    /// The lines that begin in a block; the last may end beyond it.
    fn read_block<'b>(&self, block: usize, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], Failure> {
        // One byte more in front shows whether a line begins right at the block's.
        let lead = usize::from(block > 0);
        let from = self.begin + (block * BLOCK - lead) as u64;
        self.read_exactly(from, BLOCK + lead, buffer)?;
        let first = if block == 0 { 0 } else { memchr::memchr(b'\n', buffer).map_or(buffer.len(), |at| at + 1) };
        if first == buffer.len() {
            return Ok(&[]);
        }
        let (mut piece, mut watched) = (Vec::new(), buffer.len());
        while buffer.last() != Some(&b'\n') && from + (buffer.len() as u64) < self.end {
            if buffer.len() - watched >= BLOCK {
                self.allowance.check(self.path, 2 * buffer.len() as u64).map_err(Failure::Refused)?;
                watched = buffer.len();
            }
            if buffer.len() - first > self.longest {
                let begin = memchr::memrchr(b'\n', buffer).map_or(first, |at| at + 1);
                let line = memchr::memchr_iter(b'\n', &buffer[first..begin]).count() as u64;
                return Err(Failure::Fault(long_line(&buffer[begin..]).on_line(line)));
            }
            self.read_exactly(from + buffer.len() as u64, 1 << 14, &mut piece)?;
            if piece.is_empty() {
                break;
            }
            let wanted = memchr::memchr(b'\n', &piece).map_or(piece.len(), |at| at + 1);
            buffer.extend_from_slice(&piece[..wanted]);
        }
        Ok(&buffer[first..])
    }

    /// Lines that begin before a block.
    fn lines_before(&self, block: usize) -> io::Result<u64> {
        let end = self.begin + (block * BLOCK) as u64;
        let (mut at, mut lines, mut ends_line) = (self.begin, 0, true);
        let mut buffer = vec![0; BLOCK];
        while at < end {
            let wanted = BLOCK.min((end - at) as usize);
            let read = read_at(self.file, &mut buffer[..wanted], at)?;
            if read == 0 {
                break;
            }
            lines += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
            ends_line = buffer[read - 1] == b'\n';
            at += read as u64;
        }
        Ok(lines + u64::from(!ends_line))
    }

    /// Reads `length` bytes, fewer only at the end.
    fn read_exactly(&self, from: u64, length: usize, buffer: &mut Vec<u8>) -> Result<(), Failure> {
        let length = length.min(self.end.saturating_sub(from) as usize);
        buffer.resize(length, 0);
        let mut done = 0;
        while done < length {
            match read_at(self.file, &mut buffer[done..], from + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::Io(error)),
            }
        }
        buffer.truncate(done);
        Ok(())
    }
}

pub(super) fn long_line(text: &[u8]) -> Fault {
    let message = format!("a line of more than {} MiB", LONGEST_LINE >> 20);
    Fault::new(text, message, "is this really a text file with one record per line?")
}

fn parse_stream<T: Send>(
    source: &mut Source,
    progress: &dyn Progress,
    parse: &(impl Fn(&[u8]) -> Result<T, Fault> + Sync),
) -> Result<Vec<T>> {
    let mut parsed = Vec::new();
    let mut lines = source.lines();
    let mut batch = next_batch(source)?;
    while !batch.is_empty() {
        progress.check()?;
        let blocks = cut(&batch);
        let work = || parallel::map(blocks.len(), |block| parse(blocks[block]));
        let (results, next) = rayon::join(work, || next_batch(source));
        for (block, result) in blocks.iter().zip(results) {
            parsed.push(result.map_err(|fault| fault.into_error(source, lines))?);
            lines += memchr::memchr_iter(b'\n', block).count() as u64;
        }
        progress.advance(batch.len() as u64);
        batch = next?;
    }
    Ok(parsed)
}

/// The longest line that is read.
fn longest(source: &Source) -> usize {
    if source.is_thrifty() { BLOCK } else { LONGEST_LINE }
}

/// Whole lines, as many bytes of them as memory allows; empty at the end.
fn next_batch(source: &mut Source) -> Result<Vec<u8>> {
    let share = || usize::try_from(source.allowance().room() / SHARE).unwrap_or(BATCH).clamp(LEAST_BATCH, BATCH);
    let size = if source.is_thrifty() { BLOCK } else { share() };
    let mut wanted = size;
    loop {
        source.fill(wanted)?;
        let ahead = source.ahead();
        let whole = if source.ended() { ahead.len() } else { memchr::memrchr(b'\n', ahead).map_or(0, |at| at + 1) };
        if whole > 0 || ahead.is_empty() {
            return Ok(source.take(whole));
        }
        if ahead.len() > longest(source) {
            return Err(long_line(ahead).into_error(source, source.lines()));
        }
        wanted = ahead.len() + size.max(ahead.len() / 4);
        // It may be copied when it grows, and its names are.
        source.allowance().check(source.path(), 2 * wanted as u64)?;
    }
}

/// Cuts a batch at ends of lines into blocks.
fn cut(batch: &[u8]) -> Vec<&[u8]> {
    let size = (batch.len() / BLOCKS + 1).max(LEAST_BATCH);
    let mut blocks = Vec::new();
    let mut rest = batch;
    while !rest.is_empty() {
        let from = size.min(rest.len());
        let end = memchr::memchr(b'\n', &rest[from..]).map_or(rest.len(), |at| from + at + 1);
        let (block, tail) = rest.split_at(end);
        blocks.push(block);
        rest = tail;
    }
    blocks
}
