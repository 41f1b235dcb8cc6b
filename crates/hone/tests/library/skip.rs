//! Tests that cannot run on a machine say so: on standard error, and in the file that `HONE_SKIPPED` names, which
//! `./check` prints at its end.

use std::io::Write;

/// Says that the present test, or a part of it, does not run here, and why.
pub(crate) fn skip(reason: &str) {
    let thread = std::thread::current();
    let line = format!("{}: {reason}\n", thread.name().unwrap_or("a test"));
    eprint!("skipped {line}");
    if let Some(file) = std::env::var_os("HONE_SKIPPED") {
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(file);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .expect("HONE_SKIPPED names a file");
    }
}
