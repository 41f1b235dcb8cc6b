//! Runs that are stopped by a signal.

use std::fs;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use super::skip::skip;
use super::{binary, content, hone};

/// Starts a long run that has begun a file, after some shell commands.
fn begun(folder: &Path, setup: &str) -> std::process::Child {
    let script =
        format!("{setup}; exec \"$0\" -q generate er --nodes 4000000000 --degree 1 -o a.tsv");
    let child = Process::new("sh")
        .args(["-c", &script])
        .arg(binary())
        .current_dir(folder)
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    wait_for(|| content(folder).keys().any(|name| name.ends_with(".part")));
    child
}

fn wait_for(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(120), "in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn kill(signal: &str, child: &std::process::Child) {
    assert!(
        Process::new("kill")
            .args([signal, &child.id().to_string()])
            .status()
            .expect("kill")
            .success()
    );
}

/// Whether whoever runs the tests has these signals ignored, which stay so by design.
#[cfg(target_os = "linux")]
pub(crate) fn ignored_already(signals: &[u32]) -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .expect("Linux");
    let mask = u64::from_str_radix(mask.trim(), 16).expect("a mask");
    signals.iter().any(|signal| mask >> (signal - 1) & 1 == 1)
}

#[cfg(target_os = "linux")]
#[test]
fn signals_that_are_not_ignored_are_handled() {
    if ignored_already(&[1, 3, 15]) {
        skip("hang-ups or kills are ignored here");
        return;
    }
    // What a shell does for a job in the background, and what nohup does.
    for (ignored, signal) in [
        ("INT", "-TERM"),
        ("INT", "-HUP"),
        ("HUP", "-TERM"),
        ("HUP INT QUIT", "-TERM"),
        ("INT", "-QUIT"),
        ("INT", "-XCPU"),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let child = begun(folder.path(), &format!("trap '' {ignored}"));
        for name in ignored.split(' ') {
            kill(&format!("-{name}"), &child);
        }
        kill(signal, &child);
        let done = child.wait_with_output().expect("ends");
        assert_eq!(done.status.code(), Some(130), "{ignored} {signal}");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(
            said, "interrupted: nothing was written\n",
            "{ignored} {signal}"
        );
        assert!(content(folder.path()).is_empty(), "{ignored} {signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    hone(
        folder.path(),
        "generate er --nodes 30000 --degree 6 -o g.tsv",
    )
    .success();
    let child = Process::new(binary())
        .args("embed g.tsv -q -o z.npy --preset hone-w --steps 8 --checkpoint saved".split(' '))
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    wait_for(|| folder.path().join("saved/counts").is_file());
    kill("-TERM", &child);
    let done = child.wait_with_output().expect("ends");
    assert_eq!(done.status.code(), Some(130));
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(
        said,
        "interrupted: finished stages are saved in saved; run the same command with --resume to continue\n"
    );
    assert!(
        !content(folder.path())
            .keys()
            .any(|name| name.starts_with('.') || name.starts_with('z'))
    );
}
