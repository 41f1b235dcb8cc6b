//! Files of a run through the real binary: together or not at all, never over an input, whatever stops the run.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command as Process;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;

use crate::skip;

mod databases;
mod hostile;
mod others;
mod sets;
mod signals;
mod streams;

use skip::skip;

fn binary() -> std::path::PathBuf {
    assert_cmd::cargo::cargo_bin("hone")
}

fn hone(folder: &Path, args: &str) -> Assert {
    Command::new(binary())
        .current_dir(folder)
        .args(args.split(' '))
        .assert()
}

/// A command line after some shell commands, in a process that it replaces.
fn after(folder: &Path, setup: &str, args: &str) -> Assert {
    let script = format!("{setup}; exec \"$0\" \"$@\"");
    Command::new("sh")
        .current_dir(folder)
        .args(["-c", &script])
        .arg(binary())
        .args(args.split(' '))
        .assert()
}

/// A folder with a graph of text ids, the attributes of its nodes, and the list of them.
fn folder() -> tempfile::TempDir {
    fill(tempfile::tempdir().expect("a temporary folder"))
}

fn fill(folder: tempfile::TempDir) -> tempfile::TempDir {
    let ring: String = (0..40)
        .map(|i| format!("n{i}\tn{}\nn{i}\tn{}\n", (i + 1) % 40, (i + 7) % 40))
        .collect();
    let people: String = (0..40).map(|i| format!("n{i},{}\n", i * i % 17)).collect();
    let nodes: String = (0..40).map(|i| format!("n{i}\n")).collect();
    for (name, text) in [
        ("g.tsv", ring),
        ("people.csv", format!("id,age\n{people}")),
        ("nodes.txt", nodes),
    ] {
        fs::write(folder.path().join(name), text).expect("writable");
    }
    folder
}

/// Every file with its content.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder)
        .expect("readable")
        .map(|entry| entry.expect("readable"));
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|e| {
            (
                e.file_name().to_string_lossy().into_owned(),
                fs::read(e.path()).expect("a file"),
            )
        })
        .collect()
}

const EMBED: &str = "embed g.tsv --preset hone-p --motifs edge --dim 4";

#[test]
fn files_under_dev_shm_are_files() {
    let Ok(shared) = tempfile::tempdir_in("/dev/shm") else {
        skip("there is no /dev/shm to write to");
        return;
    };
    let folder = fill(shared);
    hone(folder.path(), &format!("{EMBED} -o z.npy")).success();
    assert!(
        folder.path().join("z.ids.txt").is_file() && folder.path().join("z.npy.run.json").is_file()
    );
    let before = content(folder.path());
    hone(folder.path(), &format!("{EMBED} -o z.npy"))
        .code(2)
        .stderr(contains("z.npy exists"));
    assert_eq!(content(folder.path()), before);
    // A longer file is replaced, not written over; through a link from elsewhere too.
    let (long, elsewhere) = (
        folder.path().join("long.tsv"),
        tempfile::tempdir().expect("a folder"),
    );
    fs::write(&long, "x".repeat(1 << 20)).expect("writable");
    symlink(&long, elsewhere.path().join("link.tsv")).expect("links");
    let link = elsewhere.path().join("link.tsv");
    hone(folder.path(), &format!("{EMBED} -o {}", link.display()))
        .code(2)
        .stderr(contains("exists"));
    hone(
        folder.path(),
        &format!("{EMBED} --force -o {}", link.display()),
    )
    .success();
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert!(fs::read_to_string(&long).expect("text").ends_with('\n'));
    assert!(elsewhere.path().join("link.tsv.run.json").is_file());
}

#[test]
fn descriptors_are_streams_by_any_name() {
    let folder = folder();
    symlink("/dev/stdout", folder.path().join("out.tsv")).expect("links");
    for path in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "out.tsv"] {
        if Path::new(path).starts_with("/proc") && !Path::new(path).exists() {
            skip(&format!("{path} does not exist here"));
            continue;
        }
        hone(folder.path(), &format!("{EMBED} -q -o {path}"))
            .success()
            .stdout(contains("id\tz0").and(contains("\nn39\t")));
    }
    // Further descriptors add to what they were opened on, and emptied where asked for.
    after(
        folder.path(),
        "echo head >log; exec 3>>log",
        &format!("{EMBED} -q --output-format tsv -o /dev/fd/3"),
    )
    .success();
    let log = fs::read_to_string(folder.path().join("log")).expect("text");
    assert!(
        log.starts_with("head\nid\tz0") && log.lines().count() == 42,
        "{log}"
    );
    hone(
        folder.path(),
        &format!("{EMBED} -o /dev/fd/77 --output-format tsv"),
    )
    .code(2)
    .stderr(contains("descriptor"));
    assert!(
        !content(folder.path())
            .keys()
            .any(|name| name.ends_with(".run.json"))
    );
    hone(folder.path(), &format!("{EMBED} -q -o /dev/full"))
        .code(1)
        .stderr(contains("free some space"));
}

#[test]
fn a_disk_that_is_full_changes_nothing() {
    let folder = folder();
    let name = "node".repeat(500);
    let long: String = (0..40)
        .map(|i| format!("{name}{i}\t{name}{}\n", (i + 1) % 40))
        .collect();
    fs::write(folder.path().join("long.tsv"), long).expect("writable");
    for out in ["z.npy", "z.tsv"] {
        hone(folder.path(), &format!("{EMBED} -q -o {out} --force")).success();
    }
    hone(folder.path(), "count g.tsv -o c.npy -q").success();
    let before = content(folder.path());
    // The vectors fit (under 4 KiB), ids of 2000 letters do not; then neither do.
    let wide = "embed g.tsv -q --force --preset hone-p --dim 64 -o";
    let thin = "embed long.tsv -q --force --preset hone-p --motifs edge --dim 4 -o";
    for command in [
        format!("{thin} z.npy"),
        format!("{wide} z.npy"),
        format!("{wide} z.tsv"),
    ] {
        let failed = after(folder.path(), "ulimit -f 8", &command).code(1);
        failed.stderr(contains("error: z.").and(contains("ulimit -f")));
        assert_eq!(content(folder.path()), before, "{command}");
    }
    after(
        folder.path(),
        "ulimit -f 1",
        "count g.tsv -q --force -o c.npy",
    )
    .code(1);
    after(
        folder.path(),
        "ulimit -f 1",
        "generate er --nodes 9000 --degree 4 -o g2.tsv",
    )
    .code(1);
    let now = content(folder.path());
    assert_eq!(
        now.keys().collect::<Vec<_>>(),
        before.keys().collect::<Vec<_>>()
    );
}

#[test]
fn a_small_file_system_that_is_full_changes_nothing() {
    let folder = folder();
    // Twice the same output, the second one too large; what is there then must be what was there before.
    let script = "mount -t tmpfs -o size=64k none small && mkdir small/d && \"$0\" $1 && cp -r small/d before && \
                  { \"$0\" $2; code=$?; diff -r small/d before && ls -A small/d | wc -l && exit $code; }";
    fs::create_dir(folder.path().join("small")).expect("writable");
    let run = Process::new("unshare")
        .args(["-rm", "sh", "-c", script])
        .arg(binary())
        .arg(format!("{EMBED} -q -o small/d/z.npy"))
        .arg("embed g.tsv -q -o small/d/z.npy --force --preset hone-p --set local.dim=40 --set global.output=local")
        .current_dir(folder.path())
        .output();
    match run {
        Ok(output)
            if !String::from_utf8_lossy(&output.stderr).contains("unshare:")
                && output.status.code() != Some(32) =>
        {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{text}");
            assert!(text.contains("free some space"), "{text}");
            assert!(
                String::from_utf8_lossy(&output.stdout).ends_with("4\n"),
                "vectors, ids, columns and record, as before"
            );
        }
        _ => skip("a file system of its own cannot be mounted here"),
    }
}

#[test]
fn files_of_two_runs_are_not_taken_for_one() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    hone(folder.path(), &format!("{EMBED} -q -o a.npy")).success();
    hone(
        folder.path(),
        &format!("{EMBED} -q -o b.npy --node-list nodes.txt --seed 3 --set local.dim=5"),
    )
    .success();
    hone(folder.path(), &format!("{EMBED} -q -o c.tsv")).success();
    fs::write(
        path("labels.tsv"),
        (0..40)
            .map(|i| format!("n{i}\t{}\n", i % 2))
            .collect::<String>(),
    )
    .expect("writable");
    let judge = |file: &str| {
        hone(
            folder.path(),
            &format!("eval nodes g.tsv --labels labels.tsv --methods degree,file:{file} --seeds 1"),
        )
    };
    let use_as_attributes = |file: &str| {
        hone(
            folder.path(),
            &format!("features g.tsv -o - -q --attributes {file}"),
        )
    };
    judge("a.npy").success();
    use_as_attributes("a.npy").success();
    let ids = fs::read_to_string(path("a.ids.txt")).expect("text");
    let turned: Vec<&str> = ids.lines().rev().collect();
    fs::write(path("a.ids.txt"), turned.join("\n") + "\n").expect("writable");
    for refused in [judge("a.npy"), use_as_attributes("a.npy")] {
        refused
            .code(2)
            .stderr(contains("a.ids.txt has different content").and(contains("files of two runs")));
    }
    fs::copy(path("b.npy"), path("a.npy")).expect("writable");
    judge("a.npy").code(2);
    fs::remove_file(path("a.npy.run.json")).expect("there");
    judge("a.npy").success();
    // A record that is not of the vectors beside it.
    fs::write(
        path("c.tsv"),
        fs::read_to_string(path("c.tsv"))
            .expect("text")
            .replace('1', "2"),
    )
    .expect("writable");
    judge("c.tsv")
        .code(2)
        .stderr(contains("c.tsv has different content"));
    fs::remove_file(path("b.ids.txt")).expect("there");
    judge("b.npy")
        .code(2)
        .stderr(contains("b.ids.txt is missing"));
    // A record that a crash has cut off.
    fs::write(path("b.npy.run.json"), "{").expect("writable");
    judge("b.npy")
        .code(2)
        .stderr(contains("the record of b.npy is damaged"));
}

#[test]
fn a_failing_run_leaves_the_record_of_the_one_before() {
    let folder = folder();
    hone(folder.path(), &format!("{EMBED} -q -o z.tsv")).success();
    let before = content(folder.path());
    hone(folder.path(), "embed g.tsv -q -o z.tsv --force --memory 1k").code(2);
    hone(folder.path(), "embed nowhere.tsv -q -o z.tsv --force").code(2);
    assert_eq!(content(folder.path()), before);
}

#[test]
fn records_keep_permissions_and_links() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    hone(folder.path(), &format!("{EMBED} -q -o z.npy")).success();
    fs::create_dir(path("far")).expect("writable");
    fs::rename(path("z.npy.run.json"), path("far/record")).expect("there");
    symlink("far/record", path("z.npy.run.json")).expect("links");
    for name in ["z.npy", "z.ids.txt", "far/record"] {
        fs::set_permissions(path(name), fs::Permissions::from_mode(0o640)).expect("mine");
    }
    hone(
        folder.path(),
        &format!("{EMBED} -q -o z.npy --force --seed 9"),
    )
    .success();
    assert!(
        fs::symlink_metadata(path("z.npy.run.json"))
            .expect("there")
            .is_symlink()
    );
    assert!(
        fs::read_to_string(path("far/record"))
            .expect("text")
            .contains("\"seed\": 9")
    );
    for name in ["z.npy", "z.ids.txt", "far/record"] {
        assert_eq!(
            fs::metadata(path(name)).expect("there").mode() & 0o777,
            0o640,
            "{name}"
        );
    }
}

#[test]
fn inputs_are_never_written_over() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    hone(folder.path(), &format!("{EMBED} -q -o z.npy")).success();
    fs::write(path("c.toml"), "seed = 3\n").expect("writable");
    fs::write(path("labels.tsv"), "n0\t1\nn1\t0\n").expect("writable");
    fs::hard_link(path("people.csv"), path("hard.csv")).expect("links");
    symlink("people.csv", path("soft.csv")).expect("links");
    fs::copy(path("people.csv"), path("p.tsv.run.json")).expect("writable");
    let before = content(folder.path());
    let cases = [
        ("embed g.tsv -o g.tsv", "g.tsv is the input"),
        (
            "embed g.tsv -o people.csv --attributes people.csv",
            "people.csv is the input of --attributes",
        ),
        (
            "embed g.tsv -o hard.csv --attributes people.csv",
            "hard.csv is the input of --attributes",
        ),
        (
            "embed g.tsv -o soft.csv --attributes people.csv",
            "soft.csv is the input of --attributes",
        ),
        (
            "embed g.tsv -o people.csv --set attributes.file=people.csv",
            "people.csv is the input of --attributes",
        ),
        (
            "embed g.tsv -o p.tsv --attributes p.tsv.run.json",
            "p.tsv.run.json is the input of --attributes",
        ),
        (
            "embed g.tsv -o z.npy --attributes z.npy",
            "z.npy is the input of --attributes",
        ),
        (
            "embed g.tsv -o nodes.txt --output-format tsv --node-list nodes.txt",
            "nodes.txt is the input of --node-list",
        ),
        (
            "embed g.tsv -o c.toml --output-format tsv --config c.toml",
            "c.toml is the input of --config",
        ),
        (
            "embed g.tsv -o z.npy --config z.npy.run.json",
            "z.npy.run.json is the input of --config",
        ),
        (
            "count g.tsv -o nodes.txt --node-list nodes.txt",
            "nodes.txt is the input of --node-list",
        ),
        (
            "features g.tsv -o people.csv --attributes people.csv",
            "people.csv is the input of --attributes",
        ),
        (
            "features g.tsv -o c.toml --output-format tsv --config c.toml",
            "c.toml is the input of --config",
        ),
    ];
    let judge = "eval nodes g.tsv --labels labels.tsv --methods degree,file:z.npy --seeds 1";
    let judged = [
        ("-o g.tsv", "--output: g.tsv is the input;"),
        ("-o labels.tsv", "labels.tsv is the input of --labels"),
        ("-o z.ids.txt", "z.ids.txt is the input of --methods"),
        (
            "-o nodes.txt --node-list nodes.txt",
            "nodes.txt is the input of --node-list",
        ),
        ("-o r.csv -o r.csv", "two outputs go to r.csv"),
    ];
    for (command, message) in
        judged.map(|(outputs, message)| (format!("{judge} {outputs}"), message))
    {
        hone(folder.path(), &format!("{command} --force"))
            .code(2)
            .stderr(contains(message));
        assert_eq!(content(folder.path()), before, "{command}");
    }
    for (command, message) in cases {
        hone(folder.path(), &format!("{command} --force"))
            .code(2)
            .stderr(contains(message));
        assert_eq!(content(folder.path()), before, "{command}");
    }
}

#[test]
fn standard_input_is_not_written_over() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::hard_link(path("g.tsv"), path("hard.tsv")).expect("links");
    fs::copy(path("g.tsv"), path("z.tsv.run.json")).expect("writable");
    let before = content(folder.path());
    for (from, command) in [
        ("g.tsv", "count - -o g.tsv"),
        ("hard.tsv", "count - -o g.tsv"),
        ("g.tsv", "count /dev/stdin -o hard.tsv"),
        ("g.tsv", "embed - -o g.tsv"),
        ("g.tsv", "features - -o g.tsv"),
        ("g.tsv", "roles - -o g.tsv"),
        ("nodes.txt", "count g.tsv --node-list - -o nodes.txt"),
    ] {
        after(
            folder.path(),
            &format!("exec <{from}"),
            &format!("{command} --force"),
        )
        .code(2)
        .stderr(contains("tsv is the input;").or(contains("is the input of --node-list")));
        assert_eq!(content(folder.path()), before, "{command}");
    }
    let beside = "embed - -q -o z.tsv --force";
    after(folder.path(), "exec <z.tsv.run.json", beside)
        .code(2)
        .stderr(contains("z.tsv.run.json is the input;"));
    assert_eq!(content(folder.path()), before);
    // What is read from elsewhere is no reason.
    after(folder.path(), "exec <g.tsv", "count - -q -o c.tsv").success();
    after(
        folder.path(),
        "exec <hard.tsv",
        "count - -q -o c.tsv --force",
    )
    .success();
}

/// A closed pipe is success: the reader had enough. What is closed from the beginning has no reader.
#[cfg(target_os = "linux")]
#[test]
fn results_are_not_lost_where_standard_output_is_closed() {
    let folder = folder();
    let embed = format!("{EMBED} -q -o - --output-format tsv");
    for closed in ["exec >&-", "exec 1</dev/null"] {
        for command in [
            &*embed,
            "info g.tsv",
            "count g.tsv -q",
            "generate er --nodes 50 --degree 4",
            "count g.tsv -q -o /dev/stdout",
            "--help",
            "--version",
        ] {
            after(folder.path(), closed, command)
                .code(1)
                .stderr(contains("error: standard output: it is closed"));
        }
        let written = format!("{EMBED} -q --force -o z.tsv");
        after(folder.path(), closed, &written).success();
    }
    // Where everything is thrown away, it is on purpose.
    for wanted in ["exec >/dev/null", "exec 1<>/dev/null"] {
        after(folder.path(), wanted, "info g.tsv").success();
    }
}

#[test]
fn a_link_to_nowhere_is_not_blamed_on_this_folder() {
    let folder = folder();
    symlink("nowhere/x.tsv", folder.path().join("out.tsv")).expect("links");
    hone(folder.path(), "count g.tsv -q -o out.tsv")
        .code(2)
        .stderr(contains(
            "out.tsv: is a link to nowhere/x.tsv, and there is no folder nowhere (make it first",
        ));
    fs::create_dir(folder.path().join("nowhere")).expect("writable");
    hone(folder.path(), "count g.tsv -q -o out.tsv").success();
    assert!(folder.path().join("nowhere/x.tsv").is_file());
}

#[test]
fn a_lock_that_is_not_ours_is_left_alone() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("precious"), "mine").expect("writable");
    for name in ["file", "link", "dangling", "empty"] {
        fs::create_dir(path(name)).expect("writable");
    }
    fs::write(path("file/lock"), "mine").expect("writable");
    symlink("../precious", path("link/lock")).expect("links");
    symlink("../absent", path("dangling/lock")).expect("links");
    fs::write(path("empty/lock"), "").expect("writable");
    for name in ["file", "link", "dangling"] {
        for resume in ["", " --resume"] {
            hone(
                folder.path(),
                &format!("{EMBED} -q -o z.tsv --checkpoint {name}{resume}"),
            )
            .code(2);
        }
    }
    assert_eq!(fs::read(path("file/lock")).expect("there"), b"mine");
    assert_eq!(fs::read(path("precious")).expect("there"), b"mine");
    assert!(!path("absent").exists() && !path("z.tsv").exists());
    hone(
        folder.path(),
        &format!("{EMBED} -q -o z.tsv --checkpoint empty"),
    )
    .success();
}

#[test]
fn no_threads_is_an_error() {
    let folder = folder();
    hone(folder.path(), "info g.tsv --threads 4096")
        .code(2)
        .stderr(contains("--threads"));
    // Large stacks, so that something is left for the threads that did start when the next one does not.
    let little = "ulimit -v 400000; export RUST_MIN_STACK=104857600";
    let starved = after(folder.path(), little, "info g.tsv --threads 4").code(1);
    starved.stderr(contains("error: no threads can be started").and(contains("--threads")));
}

#[test]
fn damaged_inputs_exit_with_2_and_a_remedy() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::write(
        path("labels.tsv"),
        (0..40)
            .map(|i| format!("n{i}\t{}\n", i % 2))
            .collect::<String>(),
    )
    .expect("writable");
    fs::write(path("bad.tsv"), b"id\tz0\nn1\t1\nn\xff\t2\n").expect("writable");
    let mut names = vec!["bad.tsv".to_owned()];
    for name in ["z.tsv.gz", "z.csv.zst", "z.npz", "z.npy", "z.safetensors"] {
        hone(folder.path(), &format!("{EMBED} -q --force -o {name}")).success();
        fs::remove_file(path(&format!("{name}.run.json"))).expect("there");
        let whole = fs::read(path(name)).expect("there");
        let extension = name.split_once('.').map_or("", |(_, extension)| extension);
        fs::write(
            path(&format!("cut.{extension}")),
            &whole[..whole.len() * 3 / 5],
        )
        .expect("writable");
        names.push(format!("cut.{extension}"));
    }
    for name in names {
        let judge =
            format!("eval nodes g.tsv --labels labels.tsv --methods degree,file:{name} --seeds 1");
        for command in [judge, format!("features g.tsv -q -o - --attributes {name}")] {
            let refused = hone(folder.path(), &command).code(2);
            refused.stderr(
                contains(format!("error: {name}"))
                    .or(contains(format!(": {name}")))
                    .and(contains(" (")),
            );
        }
    }
}
