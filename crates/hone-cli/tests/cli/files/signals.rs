//! Runs that are stopped by a signal.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
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

fn wait_for(mut condition: impl FnMut() -> bool) {
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
    for (ignored, signal, number) in [
        ("INT", "-TERM", 15),
        ("INT", "-HUP", 1),
        ("HUP", "-TERM", 15),
        ("HUP INT QUIT", "-TERM", 15),
        ("INT", "-QUIT", 3),
        ("INT", "-XCPU", 24),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let child = begun(folder.path(), &format!("ulimit -c 0; trap '' {ignored}"));
        for name in ignored.split(' ') {
            kill(&format!("-{name}"), &child);
        }
        kill(signal, &child);
        let done = child.wait_with_output().expect("ends");
        assert_eq!(done.status.signal(), Some(number), "{ignored} {signal}");
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
    assert_eq!(done.status.signal(), Some(15));
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

/// Whoever starts the command learns how it ended: the loop of a shell goes on after an error, not after Ctrl-C.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_the_loop_that_runs_the_command() {
    if ignored_already(&[2]) {
        return skip("an interrupt is ignored here");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = "\"$0\" -q generate er --nodes 4000000000 --degree 1 -o a.tsv";
    let mut shell = Process::new("bash");
    shell
        .args(["-c", &format!("for i in 1 2; do echo >>log; {run}; done")])
        .arg(binary())
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .process_group(0);
    let Ok(mut shell) = shell.spawn() else {
        return skip("there is no bash");
    };
    let has = |ending: &str| {
        content(folder.path())
            .keys()
            .any(|name| name.ends_with(ending))
    };
    let runs = || fs::read(folder.path().join("log")).map_or(0, |log| log.len());
    wait_for(|| has(".part"));
    // To the whole group, as the terminal does.
    let group = format!("-{}", shell.id());
    let send = |signal: &str| Process::new("kill").args([signal, "--", &group]).status();
    send("-INT").expect("kill");
    wait_for(|| shell.try_wait().expect("a child").is_some() || runs() > 1);
    let _ = send("-KILL");
    assert_eq!(runs(), 1, "the loop goes on");
}
