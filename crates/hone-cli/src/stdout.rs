//! Whether standard output takes anything.
//!
//! Where it is closed, the runtime of the language opens `/dev/null` in its place before `main`, and it takes a write to a
//! descriptor that is open for reading alone for a success: results would be lost without a word. So the descriptor is
//! looked at before the runtime is. Elsewhere than on Linux it is not.

use std::io;

/// Fails where whatever is written would be lost.
pub(crate) fn check() -> io::Result<()> {
    if lost() {
        return Err(io::Error::other(
            "it is closed, or open for reading alone; redirect it, or name a file",
        ));
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn lost() -> bool {
    false
}

#[cfg(target_os = "linux")]
use linux::lost;

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use rustix::fs::{OFlags, fcntl_getfl};

    static LOST: AtomicBool = AtomicBool::new(false);

    pub(super) fn lost() -> bool {
        LOST.load(Relaxed)
    }

    // SAFETY: the system calls the functions in this section once each, before `main`. This one makes a single call of the
    // system and needs nothing of the runtime.
    #[allow(unsafe_code)]
    #[unsafe(link_section = ".init_array")]
    #[used]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        let flags = fcntl_getfl(rustix::stdio::stdout());
        LOST.store(
            flags.map_or(true, |flags| flags & OFlags::ACCMODE == OFlags::RDONLY),
            Relaxed,
        );
    }
}
