//! Streams: tables, archives and models that come through pipes, and those without an end. What a process does that gets little
//! memory or stack.

use super::*;

/// Runs a command with these bytes on standard input, where temporary files cannot be made.
fn piped(folder: &Path, args: &str, bytes: &[u8]) -> Assert {
    Command::new(binary())
        .current_dir(folder)
        .env("TMPDIR", "/no/such/folder")
        .args(args.split(' '))
        .write_stdin(bytes)
        .assert()
}

/// Runs a command that reads what a command of the shell writes.
fn endless(folder: &Path, source: &str, args: &str) -> Assert {
    let script = format!("{source} | \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell.current_dir(folder).args(["-c", &script]);
    shell.arg(binary()).args(args.split(' ')).assert()
}

fn output(run: Assert) -> Vec<u8> {
    run.success().get_output().stdout.clone()
}

#[test]
fn what_is_read_from_its_end_comes_through_pipes() {
    let folder = folder();
    for extension in ["parquet", "npz", "safetensors"] {
        let file = format!("z.{extension}");
        hone(folder.path(), &format!("embed g.tsv --dim 8 -q -o {file}")).success();
        let bytes = fs::read(folder.path().join(&file)).expect("written");
        let similar = |from: &str| format!("similar {from} --node n3 -q");
        let format = format!("/dev/stdin --vectors-format {extension}");
        assert_eq!(
            output(piped(folder.path(), &similar(&format), &bytes)),
            output(hone(folder.path(), &similar(&file))),
            "{extension}"
        );
    }
    hone(
        folder.path(),
        "generate er --nodes 60 --degree 4 -o a.parquet",
    )
    .success();
    let bytes = fs::read(folder.path().join("a.parquet")).expect("written");
    let [piped, read] = [
        piped(folder.path(), "info -", &bytes),
        hone(folder.path(), "info a.parquet"),
    ]
    .map(|run| String::from_utf8(output(run)).expect("text"));
    let sizes = |text: &str| -> Vec<String> {
        let facts = text.lines().filter(|line| !line.contains("a.parquet"));
        facts
            .filter(|line| line.starts_with("nodes") || line.starts_with("edges"))
            .map(str::to_owned)
            .collect()
    };
    assert!(
        sizes(&piped).len() == 2 && sizes(&piped) == sizes(&read),
        "{piped}"
    );
}

#[test]
fn text_may_begin_with_the_magic_of_parquet() {
    let folder = folder();
    let text = b"PAR1 b\nb c\nc PAR1\n";
    fs::write(folder.path().join("text"), text).expect("writable");
    for run in [
        hone(folder.path(), "info text"),
        piped(folder.path(), "info -", text),
    ] {
        run.success().stdout(contains("nodes               3\n"));
    }
}

/// A stream of zeros that begins like a Parquet file: with its magic alone, and with a page.
#[test]
fn streams_without_an_end_are_refused() {
    let folder = folder();
    let packed = |head: &[u8]| {
        zstd::encode_all(&[head, &vec![0; 96 << 20]].concat()[..], 1).expect("packed")
    };
    fs::write(folder.path().join("magic.tsv.zst"), packed(b"PAR1")).expect("writable");
    hone(folder.path(), "info magic.tsv.zst")
        .code(2)
        .stderr(contains("a NUL byte"));
    fs::write(folder.path().join("magic.parquet.zst"), packed(b"PAR1")).expect("writable");
    hone(folder.path(), "info magic.parquet.zst")
        .code(2)
        .stderr(contains("it does not begin like one"));
    // Whatever the memory: what is not of its kind shows at once.
    fs::write(folder.path().join("nul.tsv"), "n1\ta\0\n").expect("writable");
    for (command, reason) in [
        ("place g.tsv -q -o a.npy --model /dev/zero", "not a model"),
        (
            "place g.tsv -q -o a.npy --model /dev/zero --new-only",
            "not a model",
        ),
        (
            "similar /dev/zero --vectors-format safetensors --node n1",
            "not a file of tensors",
        ),
        (
            "similar /dev/zero --vectors-format npz --node n1",
            "no archive",
        ),
        (
            "similar /dev/zero --vectors-format parquet --node n1",
            "does not begin like one",
        ),
        (
            "similar /dev/zero --vectors-format npy --node n1",
            "the magic bytes are missing",
        ),
        (
            "eval nodes g.tsv --labels /dev/zero --methods degree --seeds 1",
            "a NUL byte",
        ),
        (
            "eval nodes g.tsv --labels nul.tsv --methods degree --seeds 1",
            "a NUL byte",
        ),
    ] {
        let refused = hone(folder.path(), command).code(2);
        refused.stderr(contains(reason).and(contains("needs more than").not()));
    }
    let line = "yes | tr -d '\\n'";
    endless(
        folder.path(),
        line,
        "eval nodes g.tsv --labels /dev/stdin --methods degree --seeds 1",
    )
    .code(2)
    .stderr(contains("a line of more than 16 MiB"));
    if !cfg!(target_os = "linux") {
        return skip("the memory of a process is checked with what Linux says");
    }
    fs::write(
        folder.path().join("page.zst"),
        packed(b"PAR1\x15\x00\x15\x12\x15\x0a\x00"),
    )
    .expect("writable");
    let labels: String = (0..40)
        .map(|i| format!("n{i}\t{}{}\n", i % 2, "a".repeat(1 << 18)))
        .collect();
    fs::write(folder.path().join("labels.tsv"), labels).expect("writable");
    for (head, args) in [
        (
            r#"\100\0\0\0\0\0\0\0{"__metadata__":{"format":"hone-model""#,
            "place g.tsv -q -o a.npy --model /dev/stdin --memory 80M",
        ),
        (
            r"\100\0\0\0\0\0\0\0{",
            "similar /dev/stdin --vectors-format safetensors --node n1 --memory 80M",
        ),
        (
            "PK",
            "similar /dev/stdin --vectors-format npz --node n1 --memory 80M",
        ),
    ] {
        let source = format!("(printf '{head}'; cat /dev/zero)");
        endless(folder.path(), &source, args)
            .failure()
            .stderr(contains(" needs more than ").and(contains("80 MiB")));
    }
    for command in [
        "info page.zst --memory 80M",
        "eval nodes g.tsv --labels labels.tsv --methods degree --seeds 1 --memory 80M",
        "eval roles g.tsv --labels labels.tsv --methods degree --seeds 1 --memory 80M",
        "tune g.tsv --labels labels.tsv --memory 80M",
    ] {
        hone(folder.path(), command)
            .failure()
            .stderr(contains(" needs more than ").and(contains("80 MiB")));
    }
}

/// A file on standard input that changes while it is read is an error, as one that is named.
#[test]
fn standard_input_that_changes_is_an_error() {
    use std::io::Write;
    use std::process::Stdio;
    use std::time::{Duration, SystemTime};

    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let edges: String = (0..40_000).map(|i| format!("a{i}\tb{i}\n")).collect();
    fs::write(at("in.tsv"), &edges).expect("writable");
    let made = Process::new("mkfifo").arg(at("nodes")).status();
    assert!(made.expect("starts").success());
    for changes in [false, true] {
        let input = fs::File::open(at("in.tsv")).expect("readable");
        let mut run = Process::new(binary());
        run.args(["-q", "info", "-", "--no-motifs", "--node-list"]);
        run.arg(at("nodes")).stdin(input);
        let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        // The list of nodes is opened once the beginning of the graph has been read.
        let mut nodes = fs::File::create(at("nodes")).expect("a reader");
        if changes {
            let file = fs::File::options().append(true).open(at("in.tsv"));
            let later = SystemTime::now() + Duration::from_secs(9);
            file.and_then(|file| file.set_modified(later)).expect("set");
        }
        nodes
            .write_all(edges.replace('\t', "\n").as_bytes())
            .expect("read");
        drop(nodes);
        let done = run.and_then(std::process::Child::wait_with_output);
        let done = done.expect("ends");
        let said = String::from_utf8_lossy(&done.stderr);
        let code = if changes { 2 } else { 0 };
        assert_eq!(done.status.code(), Some(code), "{said}");
        assert_eq!(said.contains("changed while it was read"), changes);
    }
}

/// What a process has held at most, looked at until it ends.
#[cfg(target_os = "linux")]
fn peak(run: &mut std::process::Child) -> u64 {
    let status = format!("/proc/{}/status", run.id());
    let mut peak = 0;
    while run.try_wait().expect("a child").is_none() {
        let status = fs::read_to_string(&status).unwrap_or_default();
        let held = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = held.and_then(|held| held.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = kib.map_or(peak, |kib| kib << 10);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    peak
}

/// A stream is read until its share of `--memory` is used up, not further: 4 MiB are what the memory of a process varies by.
#[cfg(target_os = "linux")]
#[test]
fn streams_without_an_end_keep_to_the_limit() {
    use std::process::Stdio;

    const LIMIT: u64 = 80 << 20;
    const SLACK: u64 = 4 << 20;
    let folder = folder();
    let zeros = |head: &str| format!("printf '{head}'; exec cat /dev/zero");
    let tensors = r"\100\0\0\0\0\0\0\0{";
    let model = format!(r#"{tensors}"__metadata__":{{"format":"hone-model""#);
    let rows = |row: &str| format!("exec awk 'BEGIN {{ for (;; i++) print {row} }}'");
    for (source, args) in [
        ("exec yes 'n1 n2'".to_owned(), "info - --no-motifs"),
        (rows(r#""n" i " m" i"#), "cluster -"),
        (zeros(r"PAR1\025\0\025\022\025\012\0"), "compare - g.tsv"),
        (zeros(&model), "place g.tsv -q -o a.npy --model /dev/stdin"),
        (
            zeros(tensors),
            "similar /dev/stdin --vectors-format safetensors --node n1",
        ),
        (
            zeros("PK"),
            "similar /dev/stdin --vectors-format npz --node n1",
        ),
        (
            rows(r#""n" i "\t1\t2""#),
            "similar /dev/stdin --vectors-format tsv --node n1",
        ),
        (
            rows(r#""n" i " x""#),
            "eval nodes g.tsv --labels /dev/stdin --methods degree --seeds 1",
        ),
        (
            rows(r#""n" i"#),
            "coefficients g.tsv --node-list /dev/stdin",
        ),
    ] {
        let mut feed = Process::new("sh");
        feed.args(["-c", &source])
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut feed = feed.spawn().expect("starts");
        let mut run = Process::new(binary());
        run.current_dir(folder.path()).args(args.split(' '));
        run.args(["--memory", "80M"]).stderr(Stdio::piped());
        let mut run = run.stdin(feed.stdout.take().expect("a pipe")).spawn();
        let run = run.as_mut().expect("starts");
        let held = peak(run);
        let mut said = String::new();
        let mut errors = run.stderr.take().expect("a pipe");
        std::io::Read::read_to_string(&mut errors, &mut said).expect("text");
        let _ = feed.kill();
        feed.wait().expect("ends");
        assert!(
            said.contains(" needs more than ") && said.contains("80 MiB"),
            "{args}: {said}"
        );
        assert!(held <= LIMIT + SLACK, "{args}: {held} bytes");
    }
}

/// What the system gives decides how a run ends, never whether it ends in order.
#[cfg(target_os = "linux")]
#[test]
fn little_memory_and_little_stack_end_in_order() {
    let folder = folder();
    after(folder.path(), "ulimit -s 64", "info g.tsv").success();
    after(folder.path(), "ulimit -s 64", "embed g.tsv -q -o a.npy").success();
    let mut refused = 0;
    // With the lowest ones, the first request that is refused is one of a few bytes.
    for kib in [60, 70, 80, 90, 100, 110, 120, 200, 400].map(|megabytes| 1000 * megabytes) {
        let command = "embed g.tsv -q -f -o b.npy --dim 60000 --threads 2";
        let run = after(folder.path(), &format!("ulimit -v {kib}"), command);
        let run = run.get_output();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        match run.status.code() {
            Some(0) => assert!(folder.path().join("b.npy").exists()),
            Some(1) => assert!(said.starts_with("error: "), "{kib}: {said}"),
            code => panic!("{kib} KiB: {code:?} {said}"),
        }
        refused += usize::from(said.contains("the system refused"));
    }
    assert!(refused > 0, "no limit was too low");
    let left = fs::read_dir(folder.path()).expect("readable").flatten();
    let left: Vec<_> = left
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().contains(".part"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
