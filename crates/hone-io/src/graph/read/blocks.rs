//! Splits the rest of a [`Source`] into blocks of whole lines and parses them in parallel.
//!
//! A plain file is read by every task for itself: block i is what begins in bytes
//! [i B, (i + 1) B), so no task waits for another, and several processes can each parse some of them (`Part`). A stream is read by one thread in batches,
//! each cut into blocks while the next batch is being decompressed. The results come in the order
//! of the file, and so does the error: of all wrong lines the first one is reported, with a line
//! number that is counted only then.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::source::Source;
use crate::error::{Error, Result};
use crate::memory::Allowance;
use crate::parallel;
use crate::progress::Progress;
use crate::storage::read_at;

/// Bytes a block; small enough to stay in a core's cache between reading and parsing.
pub(super) const BLOCK: usize = 1 << 20;
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
pub const LONGEST_LINE: usize = 16 * BLOCK;

/// What is wrong with a line.
#[derive(Debug)]
pub struct Fault {
    /// Lines before it in the block.
    pub line: u64,
    /// The text that cannot be parsed.
    pub text: Vec<u8>,
    /// What is wrong.
    pub message: String,
    /// What helps.
    pub remedy: String,
}

impl Fault {
    /// A fault in some line, whose number the caller of [`Fault::on_line`] adds.
    pub fn new(text: &[u8], message: impl Into<String>, remedy: impl Into<String>) -> Self {
        // More is never shown.
        let text = text[..text.len().min(1 << 10)].to_vec();
        Fault {
            line: 0,
            text,
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// The same on another line.
    pub fn on_line(mut self, line: u64) -> Self {
        self.line = line;
        self
    }

    /// The error to show, when the block begins after `lines` lines.
    pub fn into_error(self, source: &Source, lines: u64) -> Error {
        Error::input_at(
            source.path(),
            lines + self.line + 1,
            &self.text,
            self.message,
            self.remedy,
        )
    }
}

/// Applies `parse` to blocks of whole lines that together are the rest of `source`.
pub fn parse<T: Send>(
    mut source: Source,
    progress: &dyn Progress,
    parse: impl Fn(&[u8]) -> Result<T, Fault> + Sync,
) -> Result<Vec<T>> {
    match source.file() {
        Some(file) => parse_part(file, &source, Part::ALL, progress, &parse),
        None => {
            progress.stage("reading", 0);
            parse_stream(&mut source, progress, &parse)
        }
    }
}

/// Which blocks of a file a process parses: a contiguous range of them. Their bounds are the same for all processes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Bytes of a block.
    pub(super) block: usize,
    /// The number of the process, from 0, and of how many.
    pub(super) rank: usize,
    pub(super) of: usize,
}

impl Part {
    /// All blocks.
    const ALL: Part = Part {
        block: BLOCK,
        rank: 0,
        of: 1,
    };

    /// The blocks of lines of `total` bytes in all.
    fn blocks(self, total: u64) -> Range<usize> {
        share(
            total.div_ceil(self.block as u64) as usize,
            self.rank,
            self.of,
        )
    }
}

/// The items of `count` that process `rank` does, of several: as evenly as possible, in the order of the processes.
pub(super) fn share(count: usize, rank: usize, of: usize) -> Range<usize> {
    let at = |rank: usize| (count as u128 * rank as u128 / of.max(1) as u128) as usize;
    at(rank)..at(rank + 1)
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

/// Parses the blocks of one process; the first error of them is returned, with its line in the whole file.
pub(super) fn parse_part<T: Send>(
    file: &File,
    source: &Source,
    part: Part,
    progress: &dyn Progress,
    parse: &(impl Fn(&[u8]) -> Result<T, Fault> + Sync),
) -> Result<Vec<T>> {
    let lines = Lines::new(file, source, part.block);
    let blocks = part.blocks(lines.end - lines.begin);
    let bytes = |block: usize| lines.start(block + 1) - lines.start(block);
    progress.stage(
        "reading",
        lines.start(blocks.end) - lines.start(blocks.start),
    );
    let first_failed = AtomicUsize::new(usize::MAX);
    // Those that no thread is using.
    let buffers = Mutex::new(Vec::<Vec<u8>>::new());
    let buffers = || buffers.lock().unwrap_or_else(PoisonError::into_inner);
    let results: Vec<Result<T, Failure>> = parallel::map(blocks.len(), |at| {
        let block = blocks.start + at;
        if first_failed.load(Ordering::Relaxed) < block {
            return Err(Failure::Moot);
        }
        let mut buffer = buffers().pop().unwrap_or_default();
        let result = lines
            .allowed(block)
            .and_then(|()| lines.read_block(block, &mut buffer))
            .and_then(|lines| parse(lines).map_err(Failure::Fault));
        let result = if progress.cancelled() {
            Err(Failure::Interrupted)
        } else {
            result
        };
        if result.is_err() {
            first_failed.fetch_min(block, Ordering::Relaxed);
        }
        progress.advance(bytes(block));
        buffers().push(buffer);
        result
    });
    // Before errors: of a file that changed, any line may be cut.
    source.check_unchanged()?;
    let mut parsed = Vec::with_capacity(results.len());
    for (block, result) in blocks.zip(results) {
        parsed.push(result.map_err(|failure| lines.error(source, block, failure))?);
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
    /// Bytes of a block.
    block: usize,
    begin: u64,
    end: u64,
}

impl<'a> Lines<'a> {
    /// The rest of a source.
    fn new(file: &'a File, source: &'a Source, block: usize) -> Self {
        let (path, allowance, begin) = (source.path(), source.allowance(), source.position());
        Lines {
            path,
            allowance,
            longest: longest(source),
            file,
            block,
            begin,
            end: begin + source.rest(),
        }
    }

    /// Where a block begins; the end of the file for those after the last.
    fn start(&self, block: usize) -> u64 {
        (self.begin + block as u64 * self.block as u64).min(self.end)
    }

    /// Refuses to go on, now and then, if more memory is held than may be.
    fn allowed(&self, block: usize) -> Result<(), Failure> {
        if block % WATCH < WATCH - 1 {
            return Ok(());
        }
        self.allowance.check(self.path, 0).map_err(Failure::Refused)
    }

    /// The error of a block that failed.
    fn error(&self, source: &Source, block: usize, failure: Failure) -> Error {
        match failure {
            Failure::Fault(fault) => match self.lines_before(block) {
                Ok(before) => fault.into_error(source, source.lines() + before),
                Err(error) => Error::io(self.path, error),
            },
            Failure::Io(error) => Error::io(self.path, error),
            Failure::Refused(error) => error,
            Failure::Interrupted | Failure::Moot => Error::Interrupted,
        }
    }

    /// The lines that begin in a block; the last may end beyond it.
    fn read_block<'b>(&self, block: usize, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], Failure> {
        // One byte more in front shows whether a line begins right at the block's.
        let lead = usize::from(block > 0);
        let from = self.start(block) - lead as u64;
        self.read_exactly(from, self.block + lead, buffer)?;
        let first = if block == 0 {
            0
        } else {
            memchr::memchr(b'\n', buffer).map_or(buffer.len(), |at| at + 1)
        };
        if first == buffer.len() {
            return Ok(&[]);
        }
        let (mut piece, mut watched) = (Vec::new(), buffer.len());
        while buffer.last() != Some(&b'\n') && from + (buffer.len() as u64) < self.end {
            if buffer.len() - watched >= BLOCK {
                self.allowance
                    .check(self.path, 2 * buffer.len() as u64)
                    .map_err(Failure::Refused)?;
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
        let end = self.start(block);
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
    Fault::new(
        text,
        message,
        "is this really a text file with one record per line?",
    )
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
    if source.is_thrifty() {
        BLOCK
    } else {
        LONGEST_LINE
    }
}

/// Whole lines, as many bytes of them as memory allows; empty at the end.
fn next_batch(source: &mut Source) -> Result<Vec<u8>> {
    let share = || {
        usize::try_from(source.allowance().remaining() / SHARE)
            .unwrap_or(BATCH)
            .clamp(LEAST_BATCH, BATCH)
    };
    let size = if source.is_thrifty() { BLOCK } else { share() };
    let mut wanted = size;
    loop {
        source.fill(wanted)?;
        let ahead = source.ahead();
        let whole = if source.ended() {
            ahead.len()
        } else {
            memchr::memrchr(b'\n', ahead).map_or(0, |at| at + 1)
        };
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
