//! [`Quiet`]: the target of an archive of arrays, which reports a full disk as one error and nothing else.

use std::io::{self, Seek, SeekFrom, Write};

/// What a zip archive is written to.
pub(super) trait ArchiveSink: Write + Seek {}
impl<T: Write + Seek> ArchiveSink for T {}

/// A sink that fails once: when dropped, the archive's writer tries to finish the abandoned archive, and prints to
/// standard error if it cannot. So after the first failure the sink pretends to succeed, including positions, which the
/// writer checks.
pub(super) struct Quiet<'a> {
    out: &'a mut dyn ArchiveSink,
    failed: bool,
    position: u64,
}

impl<'a> Quiet<'a> {
    pub(super) fn new(out: &'a mut dyn ArchiveSink) -> Self {
        Quiet {
            out,
            failed: false,
            position: 0,
        }
    }

    fn once<T>(
        &mut self,
        after: T,
        act: impl FnOnce(&mut dyn ArchiveSink) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.failed {
            return Ok(after);
        }
        let done = act(self.out);
        self.failed = done
            .as_ref()
            .is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        done
    }
}

impl Write for Quiet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.once(bytes.len(), |out| out.write(bytes))?;
        self.position += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.once((), |out| out.flush())
    }
}

impl Seek for Quiet<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let pretended = match to {
            SeekFrom::Start(position) => position,
            SeekFrom::Current(by) => self.position.saturating_add_signed(by),
            SeekFrom::End(_) => self.position,
        };
        self.position = self.once(pretended, |out| out.seek(to))?;
        Ok(self.position)
    }
}
