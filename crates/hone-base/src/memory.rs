//! Memory of the machine and of this process, if the system reports it; and [`Allowance`], how much a reader or a count
//! may take.
//!
//! Linux is asked directly, as it also knows control groups and peaks; for other systems the crate `sysinfo` knows whom to ask.
//! If a system says nothing, nothing is refused.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};
use crate::message::{Message, message, setting};

/// Available bytes: free memory, or less if a control group limits it.
#[cfg(not(target_os = "linux"))]
pub fn available() -> Option<u64> {
    other_systems::available()
}

/// Bytes this process holds now.
#[cfg(not(target_os = "linux"))]
pub fn resident() -> Option<u64> {
    other_systems::resident()
}

/// Systems other than Linux; compiled for tests everywhere, so that they are tested everywhere.
#[cfg(any(not(target_os = "linux"), test))]
mod other_systems {
    use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

    use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, get_current_pid};

    /// Kept, because a new one takes longer than to ask it again; none for a system that it does not know.
    fn system() -> Option<MutexGuard<'static, System>> {
        static SYSTEM: LazyLock<Option<Mutex<System>>> =
            LazyLock::new(|| System::new().ok().map(Mutex::new));
        let system = SYSTEM.as_ref()?.lock();
        Some(system.unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn available() -> Option<u64> {
        let mut system = system()?;
        system.refresh_memory();
        Some(system.available_memory()).filter(|_| system.total_memory() > 0)
    }

    pub(super) fn resident() -> Option<u64> {
        let mut system = system()?;
        let process = get_current_pid().ok()?;
        system.refresh_processes_specifics(
            ProcessesToUpdate::Some(&[process]),
            false,
            ProcessRefreshKind::nothing().with_memory(),
        );
        Some(system.process(process)?.memory())
    }
}

/// Available bytes: free memory, or less if a control group limits it.
#[cfg(target_os = "linux")]
pub fn available() -> Option<u64> {
    let free = field("/proc/meminfo", "MemAvailable:")?;
    let limit = read_number("/sys/fs/cgroup/memory.max");
    let used = read_number("/sys/fs/cgroup/memory.current");
    let group = limit.map(|limit| limit.saturating_sub(used.unwrap_or(0)));
    Some(group.map_or(free, |group| group.min(free)))
}

/// Peak memory of this process, in bytes; only Linux says.
pub fn peak() -> Option<u64> {
    field("/proc/self/status", "VmHWM:")
}

/// Bytes this process holds now.
#[cfg(target_os = "linux")]
pub fn resident() -> Option<u64> {
    field("/proc/self/status", "VmRSS:")
}

/// The memory limit of this process while it reads files or counts motifs.
///
/// Sizes that a file declares are compared with it before anything is allocated, and what only shows while reading
/// (how far compressed data expands) every few megabytes. It decides only whether to refuse, never a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    limit: Option<u64>,
    /// Whether what is read may have no end, and thus use up all it may.
    endless: bool,
}

/// Bytes by which the memory of a process varies from one run to the next: no reason to refuse a limit that was enough.
const SLACK: u64 = 4 << 20;

/// Bytes read between two looks at the memory that is held.
const WATCH: u64 = 2 << 20;

impl Allowance {
    /// A limit in bytes, or what the machine has free.
    pub fn new(limit: Option<u64>) -> Self {
        let free = || Some(available()?.saturating_add(resident().unwrap_or(0)));
        Allowance {
            limit: limit.or_else(free),
            endless: false,
        }
    }

    /// The same while a stream is read: it is refused before the limit is reached, not a little after.
    pub fn of_stream(self) -> Self {
        Allowance {
            endless: true,
            ..self
        }
    }

    /// Bytes that may be allocated in addition to those in use; the largest number if no limit is known.
    pub fn remaining(&self) -> u64 {
        self.limit.map_or(u64::MAX, |limit| {
            limit.saturating_sub(resident().unwrap_or(0))
        })
    }

    /// What the process would hold with `more` bytes beyond those held now, and the limit, where that is too much.
    pub fn exceeded(&self, more: u64) -> Option<(u64, u64)> {
        let need = resident().unwrap_or(0).saturating_add(more);
        let limit = self.limit?;
        let exceeded = match self.endless {
            true => need.saturating_add(SLACK) > limit,
            false => need > limit.saturating_add(SLACK),
        };
        exceeded.then_some((need.max(limit), limit))
    }

    /// Refuses work that needs `more` bytes beyond those held now.
    pub fn check_work(&self, stage: &str, more: u64, remedy: impl Into<Message>) -> Result<()> {
        self.exceeded(more).map_or(Ok(()), |(need, limit)| {
            Err(Error::Memory {
                stage: stage.into(),
                need,
                least: false,
                limit,
                remedy: remedy.into(),
            })
        })
    }

    /// Refuses to read a file that needs `more` bytes beyond those held now.
    pub fn check(&self, path: impl AsRef<Path>, more: u64) -> Result<()> {
        self.exceeded(more).map_or(Ok(()), |(need, limit)| {
            Err(Error::Memory {
                stage: format!("reading {}", path.as_ref().display()),
                need,
                // The rest of the file, and the work that follows, are not known yet.
                least: true,
                limit,
                remedy: message![
                    "raise ",
                    setting("memory_limit"),
                    " (later stages may need more, and report it), or give a smaller file"
                ],
            })
        })
    }

    /// All bytes of a file or of a stream. `each` says how many bytes of memory one of them takes, with what is made of it:
    /// more than there is room for is refused as soon as it shows. After every few megabytes `check` sees all that
    /// has been read, and how much of it was there before; it refuses what cannot become a file of its kind, since a stream may have no end.
    pub fn read(
        &self,
        path: impl AsRef<Path>,
        each: u64,
        mut check: impl FnMut(&[u8], usize) -> Result<()>,
    ) -> Result<Vec<u8>> {
        let path = path.as_ref();
        let wrong = |error| Error::io(path, error);
        let mut file = File::open(path).map_err(wrong)?;
        // Streams have none.
        let length = file.metadata().map_err(wrong)?.len();
        let mut bytes = Vec::new();
        loop {
            let held = bytes.len() as u64;
            let more = length.max(held).saturating_mul(each).saturating_sub(held);
            match length {
                0 => self.of_stream().check(path, more + WATCH)?,
                _ => self.check(path, more)?,
            }
            if held == 0 {
                let room = bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX));
                room.map_err(|_| wrong(std::io::ErrorKind::OutOfMemory.into()))?;
            }
            let read = (&mut file).take(WATCH).read_to_end(&mut bytes);
            if read.map_err(wrong)? == 0 {
                return Ok(bytes);
            }
            check(&bytes, held as usize)?;
        }
    }
}

/// Seconds of processor time that all threads of this process have taken, in steps of 10 ms.
pub fn processor_seconds() -> Option<f64> {
    /// Linux counts in hundredths of a second here, whatever the machine.
    const TICKS: f64 = 100.0;
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may hold anything.
    let mut fields = text
        .get(text.rfind(')')? + 1..)?
        .split_ascii_whitespace()
        .skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    let (user, system) = (next()?, next()?);
    Some((user + system) as f64 / TICKS)
}

fn field(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn read_number(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Reads a size: `8G` and `8GiB` are 8 · 1024³ bytes, `8GB` is 8 · 1000³, a plain number is one of bytes; also K, M and T.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let upper = text.trim().to_ascii_uppercase();
    let at = upper
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(upper.len());
    let (number, unit) = upper.split_at(at);
    let (prefix, step) = match (unit.strip_suffix("IB"), unit.strip_suffix('B')) {
        (Some(prefix), _) if !prefix.is_empty() => (prefix, 1024f64),
        (None, Some(prefix)) => (prefix, 1000.0),
        _ => (unit, 1024.0),
    };
    let power = ["", "K", "M", "G", "T"]
        .iter()
        .position(|&known| known == prefix)?;
    let number: f64 = number.trim().parse().ok()?;
    let bytes = number * step.powi(i32::try_from(power).ok()?);
    (1.0..1e18).contains(&bytes).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_other_systems_say_is_what_linux_says() {
        let free = field("/proc/meminfo", "MemAvailable:");
        for (ours, theirs) in [
            (resident(), other_systems::resident()),
            (free, other_systems::available()),
        ] {
            // Other tests and processes take and free memory meanwhile.
            let (ours, theirs) = (ours.expect("Linux says"), theirs.expect("known"));
            assert!(
                theirs > ours / 4 && theirs < 4 * ours,
                "{theirs} and {ours}"
            );
        }
    }
}
