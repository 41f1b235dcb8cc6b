//! [`Source`]: where bytes come from. A plain file can be read at any place by many threads;
//! standard input, pipes and compressed files only in a row.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::blocks::LONGEST_LINE;
use crate::columnar::{BEGINNING, unchanged};
use crate::error::{Error, Result};
use crate::memory::Allowance;
use crate::message::{message, setting};
use crate::storage::read_at;

/// Bytes asked of a stream at once. No more: what is requested is zeroed first, and a stream may give little of it.
const STEP: usize = 1 << 16;
/// Bytes read between two memory checks.
const WATCH: u64 = 2 << 20;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// What frames of zstd begin with that hold no data; a file may begin with one. The first byte has any last digit.
const SKIPPABLE: &[u8] = &[0x50, 0x2a, 0x4d, 0x18];
/// Windows of zstd that are read, as powers of two: the least that every decoder has, and the most of the format.
const WINDOWS: std::ops::RangeInclusive<u32> = 20..=31;

/// An opened input, with the bytes that were looked at but not used yet.
pub struct Source {
    path: PathBuf,
    /// A regular file, compressed or not, perhaps as standard input, and what the system said of it first.
    regular: Option<(File, Metadata)>,
    /// What can be read in a row only, and what it is when it breaks; none for a file that is not compressed.
    stream: Option<(Box<dyn Read + Send>, &'static str)>,
    /// Bytes at `position` and after, already read.
    ahead: Vec<u8>,
    /// Bytes used up.
    position: u64,
    /// Lines used up.
    lines: u64,
    ended: bool,
    allowance: Allowance,
    /// Bytes read when memory is checked again.
    watch: u64,
}

/// The regular file that standard input comes from, if it does.
#[cfg(unix)]
fn redirected() -> Option<(File, Metadata)> {
    use std::os::fd::AsFd;

    let file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    let metadata = file.metadata().ok().filter(Metadata::is_file)?;
    Some((file, metadata))
}

impl Source {
    /// Opens a file, or standard input for `-`; finds out whether it is compressed.
    pub fn open(input: &Path, allowance: Allowance) -> Result<Source> {
        let mut source = Source {
            path: input.to_path_buf(),
            regular: None,
            stream: None,
            ahead: Vec::new(),
            position: 0,
            lines: 0,
            ended: false,
            allowance: allowance.of_stream(),
            watch: WATCH,
        };
        if input == Path::new("-") {
            source.set_stream(Box::new(io::stdin()))?;
            #[cfg(unix)]
            {
                source.regular = redirected();
            }
            return Ok(source);
        }
        let io_error = |error| Error::io(input, error);
        let mut file = File::open(input).map_err(io_error)?;
        let metadata = file.metadata().map_err(io_error)?;
        if metadata.is_dir() {
            let message = "this is a directory";
            return Err(Error::input(input, message, "name a file in it"));
        }
        if !metadata.is_file() {
            source.set_stream(Box::new(file))?;
            return Ok(source);
        }
        source.allowance = allowance;
        let mut magic = Vec::new();
        let begin = (&mut file).take(4).read_to_end(&mut magic);
        begin.map_err(io_error)?;
        if magic.starts_with(GZIP) || is_zstd(&magic) {
            let packed = File::open(input).map_err(io_error)?;
            source.set_stream(Box::new(io::BufReader::with_capacity(STEP, packed)))?;
        } else if let Some(extension) = input.extension()
            && ["gz", "zst", "zstd", "bgz"]
                .iter()
                .any(|packed| extension == *packed)
            && metadata.len() > 0
        {
            let extension = extension.display();
            let message =
                format!("this is not compressed data, despite its extension .{extension}");
            let remedy = "drop that ending, or download the file again";
            return Err(Error::input(input, message, remedy));
        }
        source.regular = Some((file, metadata));
        Ok(source)
    }

    /// Reads in a row from now on, decompressed if it begins like that.
    fn set_stream(&mut self, mut raw: Box<dyn Read + Send>) -> Result<()> {
        let io_error = |error| Error::io(&self.path, error);
        let mut magic = Vec::new();
        let begin = (&mut raw).take(4).read_to_end(&mut magic);
        begin.map_err(io_error)?;
        let (gzip, zstd) = (magic.starts_with(GZIP), is_zstd(&magic));
        let raw = io::Cursor::new(magic).chain(raw);
        self.stream = Some(if gzip {
            (Box::new(MultiGzDecoder::new(raw)), "gzip")
        } else if zstd {
            let mut decoder = zstd::Decoder::new(raw).map_err(io_error)?;
            // The decoder keeps as much of what came out as a frame asks for.
            let most = (self.allowance.remaining() / 2).max(1).ilog2();
            let most = most.clamp(*WINDOWS.start(), *WINDOWS.end());
            decoder.window_log_max(most).map_err(io_error)?;
            (Box::new(decoder), "zstd")
        } else {
            (Box::new(raw), "")
        });
        Ok(())
    }

    /// The input as the user named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How much memory reading may use.
    pub fn allowance(&self) -> Allowance {
        self.allowance
    }

    /// Bytes read but not used.
    pub fn ahead(&self) -> &[u8] {
        &self.ahead
    }

    /// Lines used up.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Bytes used up.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether nothing comes after what is [`Source::ahead`].
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The whole length in bytes, where known.
    pub fn size(&self) -> Option<u64> {
        self.plain().map(|(_, metadata)| metadata.len())
    }

    /// Bytes after those used up, of a plain file; else 0.
    pub fn rest(&self) -> u64 {
        self.size()
            .map_or(0, |len| len.saturating_sub(self.position))
    }

    /// Reads on until at least `wanted` bytes are ahead or the input ends; fails when more is held then than may be.
    pub fn fill(&mut self, wanted: usize) -> Result<()> {
        // No more than is wanted: vectors that grow by themselves double.
        self.ahead
            .reserve_exact((wanted + STEP).saturating_sub(self.ahead.len()));
        while self.ahead.len() < wanted && !self.ended {
            let old = self.ahead.len();
            if self.position + old as u64 >= self.watch {
                self.allowance.check(&self.path, WATCH)?;
                self.watch = self.position + old as u64 + WATCH;
            }
            self.ahead.resize(old + STEP, 0);
            let to = &mut self.ahead[old..];
            let outcome = match (&mut self.stream, &self.regular) {
                (Some((stream, _)), _) => stream.read(to),
                (None, Some((file, _))) => read_at(file, to, self.position + old as u64),
                (None, None) => Ok(0),
            };
            let read = match outcome {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    self.ahead.truncate(old);
                    continue;
                }
                Err(error) => return Err(self.broken(error)),
                Ok(read) => read,
            };
            self.ahead.truncate(old + read);
            self.ended = read == 0;
            if self.ended {
                self.check_unchanged()?;
            }
        }
        Ok(())
    }

    /// Fails for a file that has another length or time than when it was opened: what was read is neither the old one nor the new
    /// one.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        let Some((file, before)) = &self.regular else {
            return Ok(());
        };
        let now = file
            .metadata()
            .map_err(|error| Error::io(&self.path, error))?;
        unchanged(&self.path, before, &now)
    }

    /// Marks the first `bytes` of what is ahead as used.
    pub fn skip(&mut self, bytes: usize) {
        self.lines += memchr::memchr_iter(b'\n', &self.ahead[..bytes]).count() as u64;
        self.position += bytes as u64;
        self.ahead.drain(..bytes);
    }

    /// Takes the first `bytes` of what is ahead, without a copy of them.
    pub fn take(&mut self, bytes: usize) -> Vec<u8> {
        let rest = self.ahead[bytes..].to_vec();
        let mut taken = std::mem::replace(&mut self.ahead, rest);
        taken.truncate(bytes);
        self.lines += memchr::memchr_iter(b'\n', &taken).count() as u64;
        self.position += bytes as u64;
        taken
    }

    /// Takes everything up to the end.
    pub fn take_all(&mut self) -> Result<Vec<u8>> {
        let mut wanted = STEP;
        while !self.ended {
            self.fill(wanted)?;
            wanted = 2 * self.ahead.len().max(STEP);
        }
        Ok(std::mem::take(&mut self.ahead))
    }

    /// The file behind the source, when it is a plain one.
    pub fn file(&self) -> Option<&File> {
        self.plain().map(|(file, _)| file)
    }

    fn plain(&self) -> Option<&(File, Metadata)> {
        self.regular.as_ref().filter(|_| self.stream.is_none())
    }

    /// Fails when the beginning cannot be text in UTF-8 or there is none, which `needs` remedies;
    /// skips a byte order mark.
    pub fn check_text(&mut self, needs: &str) -> Result<()> {
        self.fill(1 << 13)?;
        let head = &self.ahead[..self.ahead.len().min(1 << 13)];
        if head.is_empty() {
            return Err(Error::input(&self.path, "the file is empty", needs));
        }
        if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
            return Err(Error::input(
                &self.path,
                "the text is in UTF-16",
                "save it as UTF-8",
            ));
        }
        let binaries: [(&[u8], &str); 4] = [
            (b"BZh", "compressed with bzip2"),
            (b"\xfd7zXZ\0", "compressed with xz"),
            (b"PK\x03\x04", "a zip archive"),
            (BEGINNING, "a Parquet file"),
        ];
        if let Some((_, what)) = binaries.iter().find(|(magic, _)| head.starts_with(magic)) {
            let remedy = "unpack it, compress it with gzip or zstd instead, or name its format";
            return Err(Error::input(
                &self.path,
                format!("this is {what}, not text"),
                remedy,
            ));
        }
        check_lines(&self.path, head, 0)?;
        if head.starts_with(b"\xef\xbb\xbf") {
            self.skip(3);
        }
        Ok(())
    }

    /// An error of the operating system or of a decoder.
    pub fn broken(&self, error: io::Error) -> Error {
        match self.stream.as_ref().map_or("", |(_, name)| *name) {
            "zstd" if error.to_string().contains("too much memory") => {
                let message =
                    "the zstd data was compressed with a longer window than memory allows";
                Error::input(
                    &self.path,
                    message,
                    message![
                        "raise ",
                        setting("memory_limit"),
                        ", or compress it again with a shorter window (zstd: without --long)"
                    ],
                )
            }
            name if !name.is_empty() => {
                let message = format!("the {name} data is truncated or damaged ({error})");
                Error::input(&self.path, message, "compress or download the file again")
            }
            _ => Error::io(&self.path, error),
        }
    }
}

fn is_zstd(magic: &[u8]) -> bool {
    magic.starts_with(ZSTD)
        || magic.len() == 4 && magic[0] & 0xf0 == SKIPPABLE[0] && magic[1..] == SKIPPABLE[1..]
}

impl Read for Source {
    /// What is ahead, then the rest; for formats that are not text.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill(1).map_err(io::Error::other)?;
        let taken = self.ahead.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&self.ahead[..taken]);
        self.position += taken as u64;
        self.ahead.drain(..taken);
        Ok(taken)
    }
}

/// What is said of NUL bytes in text.
pub const BINARY: (&str, &str) = (
    "a NUL byte: this looks like a binary file",
    "give a text file, or name its format if it has the wrong extension",
);

/// Refuses text of which the bytes from `seen` on cannot be lines: a NUL byte, or a line that is longer than any.
pub fn check_lines(path: &Path, text: &[u8], seen: usize) -> Result<()> {
    let begin = |end: usize| memchr::memrchr(b'\n', &text[..end]).map_or(0, |newline| newline + 1);
    let refuse = |begin: usize, end: usize, message: &str, remedy: &str| {
        let line = memchr::memchr_iter(b'\n', &text[..begin]).count() as u64 + 1;
        Err(Error::input_at(
            path,
            line,
            &text[begin..end],
            message,
            remedy,
        ))
    };
    if let Some(at) = memchr::memchr(0, &text[seen..]).map(|at| seen + at) {
        return refuse(begin(at), at + 1, BINARY.0, BINARY.1);
    }
    let last = begin(text.len());
    if text.len() - last > LONGEST_LINE {
        let message = format!("a line of more than {} MiB", LONGEST_LINE >> 20);
        return refuse(last, text.len(), &message, "end lines with line feeds");
    }
    Ok(())
}

/// The extension in lower case, that of the compression left out.
pub fn extension(path: &Path) -> Option<String> {
    let lower = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    match lower(path)?.as_str() {
        "gz" | "zst" | "zstd" | "bgz" => lower(Path::new(path.file_stem()?)),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory;

    /// All of it is kept, as a line without an end would be.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_stream_without_an_end_is_refused_below_the_limit() {
        let limit = memory::resident().expect("Linux says") + (64 << 20);
        let allowance = Allowance::new(Some(limit));
        let mut source = Source::open(Path::new("/dev/zero"), allowance).expect("it opens");
        let error = source.take_all().expect_err("it has no end").to_string();
        assert!(
            error.contains("reading /dev/zero needs more than"),
            "{error}"
        );
        let peak = memory::peak().expect("Linux says");
        assert!(peak <= limit, "{peak} of {limit}");
    }
}
