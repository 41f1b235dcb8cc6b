//! Sizes, processor time, and allowances.

use std::fs;
use std::path::Path;

use hone_base::memory::{Allowance, parse_bytes, peak, processor_seconds, resident};

#[test]
#[cfg(target_os = "linux")]
fn processor_time_passes_with_work() {
    let before = processor_seconds().expect("Linux tells");
    let start = std::time::Instant::now();
    while start.elapsed().as_millis() < 200 {}
    let spent = processor_seconds().expect("Linux tells") - before;
    assert!(spent > 0.0 && spent <= 10.0, "{spent}");
}

#[test]
#[cfg(target_os = "linux")]
fn an_allowance_refuses_what_goes_beyond_it() {
    let held = resident().expect("Linux says");
    let allowance = Allowance::new(Some(held + (1 << 30)));
    assert!(allowance.check(Path::new("a"), 1 << 20).is_ok());
    for more in [1 << 31, u64::MAX] {
        let error = allowance
            .check(Path::new("a.gz"), more)
            .expect_err("too much")
            .to_string();
        assert!(
            error.contains("reading a.gz needs more than") && error.contains("memory_limit"),
            "{error}"
        );
    }
    assert!(
        Allowance::new(None)
            .check(Path::new("a"), u64::MAX)
            .is_err(),
        "free memory is a limit too"
    );
}

/// A device without an end is as good as a pipe.
#[test]
#[cfg(target_os = "linux")]
fn a_stream_without_an_end_is_refused_and_files_are_read_whole() {
    let limit = resident().expect("Linux says") + (256 << 20);
    let allowance = Allowance::new(Some(limit));
    let error = allowance
        .read("/dev/zero", 1, |_, _| Ok(()))
        .expect_err("it has no end")
        .to_string();
    assert!(
        error.contains("reading /dev/zero needs more than"),
        "{error}"
    );
    assert!(peak() <= Some(limit), "{:?} of {limit}", peak());
    let file = tempfile::NamedTempFile::new().expect("made");
    fs::write(&file, vec![7; 5 << 20]).expect("written");
    let read = allowance.read(&file, 1, |_, _| Ok(())).expect("it fits");
    assert!(read.len() == 5 << 20 && read.iter().all(|&byte| byte == 7));
    assert!(allowance.read(&file, 100, |_, _| Ok(())).is_err(), "500 MB");
}

#[test]
fn sizes_are_read_as_people_write_them() {
    assert_eq!(parse_bytes("8G"), Some(8 << 30));
    assert_eq!(parse_bytes("512 MiB"), Some(512 << 20));
    assert_eq!(parse_bytes("1.5k"), Some(1536));
    assert_eq!(parse_bytes("1.5kb"), Some(1500));
    assert_eq!(
        (parse_bytes("5MB"), parse_bytes("2 GB")),
        (Some(5_000_000), Some(2_000_000_000))
    );
    assert_eq!(
        (parse_bytes("12B"), parse_bytes("5 TiB")),
        (Some(12), Some(5 << 40))
    );
    assert_eq!(parse_bytes("12345"), Some(12345));
    for wrong in ["", "G", "-3G", "8X", "8IB", "8MBB", "nan", "inf", "0"] {
        assert_eq!(parse_bytes(wrong), None, "{wrong}");
    }
}
