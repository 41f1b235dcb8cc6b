//! Names of files, ids, keys and columns that would act on a terminal: messages are escaped everywhere, results where
//! they are shown on a terminal, and nowhere else.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::skip::skip;

/// Sets the title of the window, rings, clears the screen, turns what follows around.
const HOSTILE: &str = "a\u{1b}]0;t\u{7}\u{9b}2J\u{202e}\u{2066}\u{85}z";
/// The beginning of it, as it is shown.
const SHOWN: &str = r"a\u{1b}]0;t\u{7}\u{9b}2J\u{202e}";

fn binary() -> std::path::PathBuf {
    assert_cmd::cargo::cargo_bin("hone")
}

/// Arguments in which `@` stands for the hostile text.
fn arguments(line: &str) -> Vec<String> {
    line.split(' ')
        .map(|part| part.replace('@', HOSTILE))
        .collect()
}

fn hone(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(binary());
    command.current_dir(folder).args(arguments(line));
    command.output().expect("it starts")
}

/// The same with standard output, or else standard error, on a terminal: what appears there.
fn on_terminal(folder: &Path, line: &str, errors: bool) -> String {
    let quoted: Vec<String> = arguments(line)
        .iter()
        .map(|part| format!("'{part}'"))
        .collect();
    let other = if errors { ">/dev/null" } else { "2>/dev/null" };
    let line = format!("exec '{}' {} {other}", binary().display(), quoted.join(" "));
    let mut command = Command::new("script");
    command.current_dir(folder).env("SHELL", "/bin/sh");
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    let run = command.args(["-qec", &line, "/dev/null"]).output();
    let text = String::from_utf8(run.expect("it starts").stdout).expect("text");
    text.replace("\r\n", "\n")
}

fn acts(c: char) -> bool {
    let direction = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    direction || c.is_control() && !matches!(c, '\n' | '\t')
}

/// Files full of hostile names.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: String| {
        let name = name.replace('@', HOSTILE);
        fs::write(folder.path().join(name), text.replace('@', HOSTILE)).expect("writable");
    };
    let ring: String = (0..12)
        .map(|i| format!("@{i}\t@{}\n@{i}\t@{}\n", (i + 1) % 12, (i + 4) % 12))
        .collect();
    let rows: String = (0..12).map(|i| format!("@{i},{}\n", i % 3)).collect();
    write("g.tsv", ring.clone());
    write("@.tsv", ring);
    write("attributes.csv", format!("id,age@\n{rows}"));
    write(
        "labels.csv",
        format!("id,label\n{}", rows.replace(',', ",@")),
    );
    write("columns.csv", "@,b,c,d\n1,2,x,y\n2,3,x,y\n".into());
    write("broken.tsv", "1\t2\n@\n".into());
    write("broken.mtx", "%%MatrixMarket @\n".into());
    write("broken.graph", "2 1 @\n".into());
    let key = r#""dim\u001B]0;t\u0007\u009B2J\u202E" = 3"#;
    write("key.toml", key.into());
    write("syntax.toml", "seed = @\n".into());
    write("two\nlines.tsv", "0 1 2\n0\n".into());
    folder
}

#[test]
fn messages_never_act_on_a_terminal() {
    let folder = folder();
    let path = folder.path();
    assert!(
        hone(path, "-q embed g.tsv -o z.tsv --dim 4")
            .status
            .success()
    );
    assert!(
        hone(path, "-q embed g.tsv -o @z.npy --dim 4")
            .status
            .success()
    );
    assert!(
        hone(
            path,
            "-q embed g.tsv -o old.npy --dim 4 --save-model m.hone"
        )
        .status
        .success()
    );
    let record = path.join("old.npy.run.json");
    let text = fs::read_to_string(&record).expect("written");
    let version = serde_json::Value::from(HOSTILE).to_string();
    let own = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(&record, text.replacen(&own, &version, 1)).expect("writable");
    let mut wrong = Vec::new();
    for line in [
        "info missing@.tsv",
        "info @.tsv --source nope@ --target 1",
        "info columns.csv",
        "info columns.csv --source nope",
        "info broken.tsv",
        "info broken.mtx",
        "info broken.graph",
        "info g.tsv --@",
        "info builtin:@",
        "embed @.tsv -o other@.tsv --dim 4",
        "-v embed @.tsv -o other@.tsv --dim 4",
        "embed g.tsv -o no@/z.tsv",
        "embed g.tsv -o k.tsv --config key.toml",
        "embed g.tsv -o k.tsv --config syntax.toml",
        "embed g.tsv -o k.tsv --config @.toml",
        "embed g.tsv -o k.tsv --set @=3",
        "embed g.tsv -o k.tsv --motifs @",
        "embed g.tsv -o k.tsv --preset @",
        "embed -o again.npy --config old.npy.run.json",
        "embed g.tsv -o k.tsv --attributes @.csv",
        "embed g.tsv -o k.tsv --node-list g.tsv --attributes columns.csv",
        "similar z.tsv --node a",
        "similar z.tsv --node @",
        "similar @z.npy --node a",
        "similar missing@.npy --node a",
        "roles g.tsv --explain @",
        "count @.tsv -o count@.tsv",
        "features @.tsv -o features@.tsv",
        "layout @z.npy -o layout@.tsv",
        "draw @.tsv -o draw@.svg",
        "map @.tsv -o map@.html",
        "generate er --nodes 9 --degree 2 -o er@.tsv",
        "place @.tsv -o placed@.tsv --model m.hone",
        "place g.tsv -o k.tsv --model missing@.hone",
        "coefficients @.tsv -o coefficients@.tsv",
        "significance @.tsv --random 5",
        "significance g.tsv --null-model @",
        "compare @.tsv missing@.tsv",
        "cluster @.tsv --node 0",
        "cluster g.tsv --node @",
        "cluster g.tsv --motif @",
        "eval link @.tsv --methods @ --seeds 1",
        "eval link g.tsv --methods hone:@=3 --seeds 1",
        "eval link g.tsv --methods file:missing@.npy --seeds 1",
        "eval link g.tsv --methods degree --seeds 1 -o e@.csv",
        "eval nodes g.tsv --labels missing@.csv --methods degree",
        "tune g.tsv -o best@.toml --candidate @",
    ] {
        let said = String::from_utf8(hone(path, line).stderr).expect("text");
        if said.contains(acts) || !said.contains(r"\u{9b}2J\u{202e}") || said.contains("panicked") {
            wrong.push((line, said));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let said = hone(path, "info two\nlines.tsv").stderr;
    let said = String::from_utf8(said).expect("text");
    assert!(
        said.starts_with(r"error: two\nlines.tsv, line 2: "),
        "{said}"
    );
}

#[test]
fn what_messages_quote_has_one_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    let write = |name: &str, text: &str| fs::write(path.join(name), text).expect("writable");
    let ring: String = (0..9).map(|i| format!("{i}\t{}\n", (i + 1) % 9)).collect();
    write("g.tsv", &ring);
    let rows: String = (0..9)
        .map(|i| format!("\"{i}\r\nerror: forged\"\t{i}\t1\n"))
        .collect();
    let ids = format!("id\tz0\tz1\n{rows}");
    write("ids.tsv", &ids);
    write("key.toml", "\"dim\\nerror: forged\" = 3\n");
    write("value.toml", "model = \"svd\\nerror: forged\"\n");
    assert!(
        hone(path, "-q embed g.tsv -o old.npy --dim 4")
            .status
            .success()
    );
    let record = path.join("old.npy.run.json");
    let text = fs::read_to_string(&record).expect("written");
    let own = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    write(
        "old.npy.run.json",
        &text.replacen(&own, "\"9\\nerror: forged\"", 1),
    );
    let mut wrong = Vec::new();
    for line in [
        "similar ids.tsv --node 7",
        "embed g.tsv -o k.tsv --config key.toml",
        "embed g.tsv -o k.tsv --config value.toml",
        "embed -o again.npy --config old.npy.run.json",
        "embed g.tsv -o @.npy",
        "embed g.tsv -o no@/z.npy",
        "embed g.tsv -o k.tsv --set @=3",
        "embed g.tsv -o k.tsv --set model=@",
        "embed g.tsv -o k.tsv --motifs @",
        "embed g.tsv -o k.tsv --dim @",
        "embed g.tsv -o k.tsv --dim=@",
        "embed g.tsv -o k.tsv --@",
        "info builtin:@",
        "info @.tsv",
        "info g.tsv --source @ --target 1",
        "roles g.tsv --explain @",
        "similar old.npy --node @",
        "eval link g.tsv --methods @ --seeds 1",
        "eval link g.tsv --methods file:@.npy --seeds 1",
    ] {
        let line = line.replace('@', "a\nerror:\u{a0}forged");
        let said = String::from_utf8(hone(path, &line).stderr).expect("text");
        let forged = |line: &str| line.replace('\u{a0}', " ").starts_with("error: forged");
        if said.lines().any(forged) || !said.contains(r"\nerror:") || said.contains('\r') {
            wrong.push((line, said));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn results_are_escaped_on_a_terminal_and_nowhere_else() {
    let folder = folder();
    let path = folder.path();
    assert!(
        hone(path, "-q embed g.tsv -o z.tsv --dim 4 --save-model m.hone")
            .status
            .success()
    );
    fs::copy(path.join("z.tsv"), path.join(format!("{HOSTILE}z.tsv"))).expect("copied");
    let commands = [
        ("embed g.tsv -o - --dim 4", false),
        ("embed g.tsv -o /dev/stdout --dim 4", false),
        ("place g.tsv -o - --model m.hone", false),
        ("count g.tsv -o -", false),
        ("coefficients g.tsv -o -", false),
        ("compare @.tsv g.tsv", false),
        ("compare @.tsv g.tsv --json", true),
        ("cluster g.tsv --node @0", false),
        ("cluster g.tsv --node @0 --json", true),
        ("features g.tsv -o -", false),
        ("similar z.tsv --node @0", false),
        ("similar z.tsv --node @0 --json", true),
        ("roles g.tsv --explain @0", false),
        ("roles g.tsv --explain @0 --json", true),
        ("roles g.tsv -o -", false),
        ("layout z.tsv -o -", false),
        (
            "eval link g.tsv --methods degree,file:@z.tsv --seeds 2",
            false,
        ),
        (
            "eval link g.tsv --methods file:@z.tsv --seeds 2 --json",
            true,
        ),
    ];
    for (line, json) in commands {
        let piped = String::from_utf8(hone(path, &format!("-q {line}")).stdout).expect("text");
        if json {
            assert!(!piped.contains(acts), "{line}: {piped:?}");
            let read: serde_json::Value = serde_json::from_str(&piped).expect("JSON");
            assert!(read.to_string().contains('\u{9b}'), "{line}: {read}");
        } else {
            assert!(piped.contains(HOSTILE), "{line}: {piped:?}");
        }
    }
    if !Path::new("/usr/bin/script").exists() {
        return skip("there is no `script` here to open a terminal");
    }
    for (line, json) in commands {
        let shown = on_terminal(path, &format!("-q {line}"), false);
        // Our own are the bold cells of tables.
        let shown = shown.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
        assert!(!shown.contains(acts), "{line}: {shown:?}");
        assert!(json || shown.contains(SHOWN), "{line}: {shown:?}");
    }
    for line in [
        "embed @.tsv -o k@.tsv",
        "eval link @.tsv --seeds 2",
        "map @.tsv -o map@.html",
        "place @.tsv -o placed@.tsv --model m.hone",
        "coefficients @.tsv --json",
        "significance @.tsv --random 5",
        "significance @.tsv --random 5 --json",
        "compare @.tsv @.tsv",
        "cluster @.tsv",
    ] {
        let said = on_terminal(path, line, true);
        // Our own move the bar and colour the word `error`; the hostile one sets the title.
        assert!(!said.contains("\u{1b}]"), "{line}: {said:?}");
        let said = said.replace(['\u{1b}', '\r'], "");
        assert!(!said.contains(acts), "{line}: {said:?}");
    }
}
