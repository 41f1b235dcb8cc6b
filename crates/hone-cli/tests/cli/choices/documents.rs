//! Every console example of the README and of the pages in docs/ and reports/ runs, page by page, in order, in one folder per page.
//!
//! Lines below a command are what it prints: `...` stands for any lines, and sizes of memory and seconds may differ. Without
//! such lines a command may print anything. A block that cannot run in a test says why: `console skip: reason`. Larger
//! numbers are made smaller, as in examples of help texts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::examples::smaller;
use super::{folder, hone};

/// A command of a page, and the lines that it should print.
struct Step {
    command: String,
    expected: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages; none where the crate is tested outside the repository.
fn pages() -> Vec<PathBuf> {
    let folder = |name: &str| fs::read_dir(root().join(name)).into_iter().flatten();
    let mut all: Vec<PathBuf> = folder("docs")
        .chain(folder("reports"))
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "md"))
        .collect();
    all.sort();
    if all.is_empty() {
        return all;
    }
    all.extend(["README.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
    all
}

/// The fenced blocks of a page: what stands behind the fence, and the lines.
fn blocks(text: &str) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(info) => {
                open = true;
                all.push((info.trim().to_owned(), Vec::new()));
            }
            None if open => all.last_mut().expect("a block").1.push(line.to_owned()),
            None => assert!(
                !line.starts_with("    hone "),
                "an example outside a console block: {line}"
            ),
        }
    }
    assert!(!open, "a block without an end");
    all
}

fn steps(text: &str) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::new();
    for (info, lines) in blocks(text) {
        let is_console = info.split(' ').next() == Some("console");
        assert!(
            is_console || !lines.iter().any(|line| line.starts_with("$ ")),
            "commands in a block of {info}"
        );
        if !is_console || info.starts_with("console skip: ") {
            continue;
        }
        assert_eq!(info, "console");
        for line in lines {
            match line.strip_prefix("$ ") {
                Some(command) => all.push(Step {
                    command: command.to_owned(),
                    expected: Vec::new(),
                }),
                None => all
                    .last_mut()
                    .expect("a command before its output")
                    .expected
                    .push(line),
            }
        }
    }
    all
}

/// Files that examples read, small.
fn stand_ins(folder: &Path) {
    let names = ["alice", "bob", "king", "woman", "man"];
    let name = |i: usize| {
        names
            .get(i)
            .map_or_else(|| i.to_string(), ToString::to_string)
    };
    let edge = |i: usize, step: usize| format!("{}\t{}\n", name(i), name((i * step + 1) % 60));
    let graph: String = (0..60)
        .flat_map(|i| [edge(i, 7), edge(i, 3), edge(i, 11)])
        .collect();
    let lines = |of: &dyn Fn(usize) -> String| (0..60).map(of).collect::<String>();
    let write = |file: &str, text: &str| fs::write(folder.join(file), text).expect("writable");
    for inner in ["DIR", "docs"] {
        fs::create_dir(folder.join(inner)).expect("writable");
    }
    for file in [
        "graph.tsv",
        "hubs.tsv",
        "a.tsv",
        "b.tsv",
        "DIR/soc-hamsterster.edges",
    ] {
        write(file, &graph);
    }
    let paid = |(i, line): (usize, &str)| format!("{line}\t{}\n", 1 + i % 9);
    write(
        "transfers.tsv",
        &graph.lines().enumerate().map(paid).collect::<String>(),
    );
    write(
        "people.csv",
        &format!(
            "id,age\n{}",
            lines(&|i| format!("{},{}\n", name(i), 20 + i % 7))
        ),
    );
    write(
        "labels.tsv",
        &lines(&|i| format!("{}\t{}\n", name(i), i / 30)),
    );
}

/// A line without what differs from run to run or from machine to machine: sizes of memory, seconds, last digits.
fn settled(line: &str) -> String {
    const UNITS: [&str; 3] = ["KiB", "MiB", "GiB"];
    let words: Vec<&str> = line.split([' ', '\t']).collect();
    let timed = line.starts_with("seconds: ");
    let settle = |(at, word): (usize, &&str)| match word.trim_end_matches(',').parse::<f64>() {
        Ok(_) if timed || words.get(at + 1).is_some_and(|unit| UNITS.contains(unit)) => {
            "#".to_owned()
        }
        Ok(number)
            if word
                .split_once('.')
                .is_some_and(|(_, decimals)| decimals.len() > 5) =>
        {
            format!("{number:.4}")
        }
        _ if UNITS.contains(word) => String::new(),
        _ => (*word).to_owned(),
    };
    words
        .iter()
        .enumerate()
        .map(settle)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether the lines are those expected.
fn agree(expected: &[String], found: &[String]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((any, rest)) if any == "..." => {
            (0..=found.len()).any(|skipped| agree(rest, &found[skipped..]))
        }
        Some((line, rest)) => match found.split_first() {
            Some((first, others)) => settled(line) == settled(first) && agree(rest, others),
            None => false,
        },
    }
}

fn run(page: &Path) {
    let text = fs::read_to_string(page).expect("readable");
    let folder = folder();
    stand_ins(folder.path());
    let binary = assert_cmd::cargo::cargo_bin("hone");
    let path = format!(
        "{}:{}",
        binary.parent().expect("a folder").display(),
        std::env::var("PATH").expect("set")
    );
    for Step { command, expected } in steps(&text) {
        let without_comment = command.split("  #").next().unwrap_or(&command).trim_end();
        let line = smaller(&without_comment.replace("cargo run --profile quick -- ", "hone "));
        let run = Command::new("bash")
            .args(["-c", &format!("set -e -o pipefail; {{ {line}\n}} 2>&1")])
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .env("PATH", &path)
            .output()
            .expect("bash");
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        let place = format!("{}: $ {command}", page.display());
        assert!(run.status.success(), "{place}\n{said}");
        let found: Vec<String> = said.lines().map(str::to_owned).collect();
        assert!(
            expected.is_empty() || agree(&expected, &found),
            "{place}\n{said}"
        );
    }
}

#[test]
fn every_console_example_of_the_pages_runs() {
    for page in pages() {
        run(&page);
    }
}

/// The pages in docs/ can be read in an afternoon: 25 000 words, the contents included.
#[test]
fn the_pages_are_short() {
    const MOST: usize = 25_000;
    let count = |page: &PathBuf| {
        let text = fs::read_to_string(page).expect("readable");
        text.split_whitespace().count()
    };
    let docs: Vec<PathBuf> = pages()
        .into_iter()
        .filter(|page| page.parent().is_some_and(|folder| folder.ends_with("docs")))
        .collect();
    let words: usize = docs.iter().map(count).sum();
    assert!(
        words <= MOST,
        "docs/ has {words} words, {MOST} at most: shorten pages, or move experiments to reports/"
    );
}

/// A page says what it answers before anything else.
#[test]
fn every_page_opens_with_what_it_answers() {
    for page in pages() {
        let text = fs::read_to_string(&page).expect("readable");
        let mut lines = text.lines().filter(|line| !line.is_empty());
        let title = lines.next().unwrap_or_default();
        assert!(title.starts_with("# "), "{}: no title", page.display());
        let opening = lines.next().unwrap_or_default();
        assert!(
            page.ends_with("SUMMARY.md") || !opening.starts_with(['#', '`', '|', '$', '!']),
            "{}: begins with {opening}",
            page.display()
        );
    }
}

/// Rust in the pages is part of an example that the checks compile and run.
#[test]
fn rust_of_the_pages_is_in_the_examples() {
    for page in pages() {
        for (info, lines) in blocks(&fs::read_to_string(&page).expect("readable")) {
            let examples = fs::read_dir(root().join("crates/hone/examples")).expect("a folder");
            let mut examples = examples
                .map(|entry| fs::read_to_string(entry.expect("a file").path()).expect("text"));
            let code = lines.join("\n");
            assert!(
                info != "rust" || examples.any(|example| example.contains(&code)),
                "{}:\n{code}",
                page.display()
            );
        }
    }
}

/// `docs/configuration.md`: all settings of the default, as `hone config` prints them, and what another preset changes.
#[test]
fn the_page_of_settings_is_what_the_command_prints() {
    let path = root().join("docs/configuration.md");
    let Ok(page) = fs::read_to_string(&path) else {
        return;
    };
    let printed = |preset: &str| {
        let run = hone()
            .args(["config", "--preset", preset])
            .assert()
            .success();
        String::from_utf8_lossy(&run.get_output().stdout)
            .trim_end()
            .to_owned()
    };
    let default = printed("hone");
    let mut made = page.clone();
    for (mark, listing) in [
        ("hone config --preset hone", default.clone()),
        ("what hone-p changes", changes(&printed("hone-p"), &default)),
    ] {
        let (begin, end) = (format!("<!-- {mark} -->\n```toml\n"), "\n```\n");
        let at = made.find(&begin).expect("a mark") + begin.len();
        let length = made[at..].find(end).expect("an end");
        made.replace_range(at..at + length, &listing);
    }
    if std::env::var_os("HONE_WRITE_DOCS").is_some() {
        fs::write(&path, &made).expect("writable");
    }
    assert!(
        page == made,
        "docs/configuration.md is out of date: run this test once with HONE_WRITE_DOCS=1"
    );
}

/// The settings of `listing` that `default` does not have, under their tables.
fn changes(listing: &str, default: &str) -> String {
    let settings = |text: &str| -> Vec<(String, String)> {
        let mut table = String::new();
        let mut settings = Vec::new();
        for line in text.lines() {
            if line.starts_with('[') {
                line.clone_into(&mut table);
            } else if !line.is_empty() && !line.starts_with('#') {
                settings.push((table.clone(), line.to_owned()));
            }
        }
        settings
    };
    let default = settings(default);
    let mut text = String::new();
    let mut table = String::new();
    for (of, line) in settings(listing) {
        if !default.contains(&(of.clone(), line.clone())) {
            if of != table {
                text = text + "\n" + &of + "\n";
                table = of;
            }
            text = text + &line + "\n";
        }
    }
    text.trim_end().to_owned()
}
