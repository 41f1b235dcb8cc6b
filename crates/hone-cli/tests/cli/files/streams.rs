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
