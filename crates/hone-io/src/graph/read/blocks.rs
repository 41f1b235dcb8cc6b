//! Splits the rest of a [`Source`] into blocks of whole lines and parses them in parallel.
//!
//! A plain file is read by every task for itself: block i is what begins in bytes
//! [i B, (i + 1) B), so no task waits for another, and several processes can each parse some of them. A stream is read by one thread in batches,
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
use crate::message::Message;
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
    pub remedy: Message,
}

impl Fault {
    /// A fault in some line, whose number the caller of [`Fault::on_line`] adds.
    pub fn new(text: &[u8], message: impl Into<String>, remedy: impl Into<Message>) -> Self {
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
    source: Source,
    progress: &dyn Progress,
    parse: impl Fn(&[u8]) -> Result<T, Fault> + Sync,
) -> Result<Vec<T>> {
    match source.file() {
        Some(file) => {
            let all = 0..source.rest().div_ceil(BLOCK as u64) as usize;
            parse_part(file, &source, BLOCK, all, progress, &parse)
        }
        None => {
            progress.stage("reading", 0);
            parse_stream(source, progress, &parse)
        }
    }
}

/// The items of `count` that process `rank` does, of several: as evenly as possible, in the order of the processes.
pub(super) fn share(count: usize, rank: usize, of: usize) -> Range<usize> {
    let at = |rank: usize| (count as u128 * rank as u128 / of.max(1) as u128) as usize;
    at(rank)..at(rank + 1)
}

/// Why a block gave nothing. The line of a fault in the file is counted only when it is reported.
enum Failure {
    Fault(Fault),
    Error(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

/// Parses some blocks of so many bytes, those of one process; the first error of them is returned, with its line in the whole file.
pub(super) fn parse_part<T: Send>(
    file: &File,
    source: &Source,
    block: usize,
    blocks: Range<usize>,
    progress: &dyn Progress,
    parse: &(impl Fn(&[u8]) -> Result<T, Fault> + Sync),
) -> Result<Vec<T>> {
    let lines = Lines {
        file,
        path: source.path(),
        allowance: source.allowance(),
        block,
        begin: source.position(),
        end: source.position() + source.rest(),
    };
    let bytes = lines.start(blocks.end) - lines.start(blocks.start);
    progress.stage("reading", bytes);
    let first_failed = AtomicUsize::new(usize::MAX);
    // Those that no thread is using.
    let buffers = Mutex::new(Vec::<Vec<u8>>::new());
    let buffers = || buffers.lock().unwrap_or_else(PoisonError::into_inner);
    let results: Vec<Result<T, Failure>> = parallel::map(blocks.len(), |at| {
        let block = blocks.start + at;
        if progress.cancelled() || first_failed.load(Ordering::Relaxed) < block {
            return Err(Error::Interrupted.into());
        }
        let mut buffer = buffers().pop().unwrap_or_default();
        let result = lines
            .read(block, &mut buffer)
            .and_then(|lines| parse(lines).map_err(Failure::Fault));
        if result.is_err() {
            first_failed.fetch_min(block, Ordering::Relaxed);
        }
        progress.advance(lines.start(block + 1) - lines.start(block));
        buffers().push(buffer);
        result
    });
    // Before errors: of a file that changed, any line may be cut.
    source.check_unchanged()?;
    let results = blocks.zip(results);
    let done = results
        .map(|(block, result)| result.map_err(|failure| lines.error(source, block, failure)));
    let done = done.collect();
    progress.check()?;
    done
}

/// The part of a file that holds the lines.
struct Lines<'a> {
    file: &'a File,
    path: &'a Path,
    allowance: Allowance,
    /// Bytes of a block.
    block: usize,
    begin: u64,
    end: u64,
}

impl Lines<'_> {
    /// Where a block begins; the end of the file for those after the last.
    fn start(&self, block: usize) -> u64 {
        (self.begin + block as u64 * self.block as u64).min(self.end)
    }

    /// The error of a block that failed.
    fn error(&self, source: &Source, block: usize, failure: Failure) -> Error {
        let fault = match failure {
            Failure::Fault(fault) => fault,
            Failure::Error(error) => return error,
        };
        match self.lines_before(block) {
            Ok(before) => fault.into_error(source, source.lines() + before),
            Err(error) => error,
        }
    }

    /// The lines that begin in a block; the last may end beyond it.
    fn read<'b>(&self, block: usize, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], Failure> {
        if block % WATCH == WATCH - 1 {
            self.allowance.check(self.path, 0)?;
        }
        // One byte more in front shows whether a line begins right at the block's.
        let lead = usize::from(block > 0);
        let from = self.start(block) - lead as u64;
        self.fill(buffer, 0, self.block + lead, from)?;
        let first = match block {
            0 => 0,
            _ => memchr::memchr(b'\n', buffer).map_or(buffer.len(), |at| at + 1),
        };
        if first == buffer.len() {
            return Ok(&[]);
        }
        let mut watched = buffer.len();
        while buffer.last() != Some(&b'\n') && from + (buffer.len() as u64) < self.end {
            let read = buffer.len();
            if read - watched >= BLOCK {
                self.allowance.check(self.path, 2 * read as u64)?;
                watched = read;
            }
            if read - first > LONGEST_LINE {
                let begin = memchr::memrchr(b'\n', buffer).map_or(first, |at| at + 1);
                let line = memchr::memchr_iter(b'\n', &buffer[first..begin]).count() as u64;
                return Err(Failure::Fault(long_line(&buffer[begin..]).on_line(line)));
            }
            self.fill(buffer, read, 1 << 14, from)?;
            if buffer.len() == read {
                break;
            }
            let end = memchr::memchr(b'\n', &buffer[read..]);
            buffer.truncate(end.map_or(buffer.len(), |at| read + at + 1));
        }
        Ok(&buffer[first..])
    }

    /// Lines that begin before a block.
    fn lines_before(&self, block: usize) -> Result<u64> {
        let (mut lines, mut ends_line, mut buffer) = (0, true, Vec::new());
        let (mut at, end) = (self.start(0), self.start(block));
        while at < end {
            self.fill(&mut buffer, 0, BLOCK.min((end - at) as usize), at)?;
            let Some(last) = buffer.last() else { break };
            lines += memchr::memchr_iter(b'\n', &buffer).count() as u64;
            ends_line = *last == b'\n';
            at += buffer.len() as u64;
        }
        Ok(lines + u64::from(!ends_line))
    }

    /// Reads `more` bytes, fewer only at the end, behind the first `done` of a buffer, which begins at `from` in the file.
    fn fill(&self, buffer: &mut Vec<u8>, mut done: usize, more: usize, from: u64) -> Result<()> {
        let rest = self.end.saturating_sub(from + done as u64);
        buffer.resize(done + more.min(rest as usize), 0);
        while done < buffer.len() {
            match read_at(self.file, &mut buffer[done..], from + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(self.path, error)),
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
    mut source: Source,
    progress: &dyn Progress,
    parse: &(impl Fn(&[u8]) -> Result<T, Fault> + Sync),
) -> Result<Vec<T>> {
    let mut parsed = Vec::new();
    let mut lines = source.lines();
    let mut batch = next_batch(&mut source)?;
    while !batch.is_empty() {
        progress.check()?;
        let blocks = cut(&batch);
        let work = || parallel::map(blocks.len(), |block| parse(blocks[block]));
        let (results, next) = rayon::join(work, || next_batch(&mut source));
        for (block, result) in blocks.iter().zip(results) {
            parsed.push(result.map_err(|fault| fault.into_error(&source, lines))?);
            lines += memchr::memchr_iter(b'\n', block).count() as u64;
        }
        progress.advance(batch.len() as u64);
        batch = next?;
    }
    Ok(parsed)
}

/// Whole lines, as many bytes of them as memory allows; empty at the end.
fn next_batch(source: &mut Source) -> Result<Vec<u8>> {
    let size = usize::try_from(source.allowance().remaining() / SHARE)
        .unwrap_or(BATCH)
        .clamp(LEAST_BATCH, BATCH);
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
        if ahead.len() > LONGEST_LINE {
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
