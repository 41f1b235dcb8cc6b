//! Weights: what makes them count, and where they are not used.

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;

use super::{folder, graph_file, hone, presets};

#[test]
fn weighted_alone_makes_weights_count() {
    let folder = folder();
    let graph = graph_file(folder.path());
    let embed = |options: &[&str]| {
        let mut run = hone();
        run.args(["embed", "-o", "-", "--output-format", "tsv", "--dim", "8"])
            .arg(&graph)
            .args(options);
        let run = run.assert().success();
        (
            run.get_output().stdout.clone(),
            String::from_utf8_lossy(&run.get_output().stderr).into_owned(),
        )
    };
    for preset in ["hone", "hone-w", "hone-p"] {
        let (plain, dropped) = embed(&["--preset", preset]);
        assert!(dropped.contains("--weighted"), "{dropped}");
        let (weighted, said) = embed(&["--preset", preset, "--weighted"]);
        assert!(
            weighted != plain && !said.contains("--weighted"),
            "{preset}: {said}"
        );
        assert_eq!(
            weighted,
            embed(&["--preset", preset, "--weighted", "--set", "weights=true"]).0
        );
        assert_eq!(
            weighted,
            embed(&["--preset", preset, "--set", "weights=true"]).0,
            "{preset}: the setting alone"
        );
        let (ignored, said) = embed(&["--preset", preset, "--weighted", "--set", "weights=false"]);
        assert!(
            ignored == plain && said.contains("edge weights are ignored"),
            "{preset}: {said}"
        );
    }
    // What cannot use them says so once, with or without the option, and recommends nothing.
    for command in ["count", "features", "roles"] {
        for option in [&[][..], &["--weighted"]] {
            let run = hone()
                .arg(command)
                .arg(&graph)
                .args(option)
                .assert()
                .success();
            let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
            assert_eq!(
                said.matches("are not used").count(),
                1,
                "{command} {option:?}: {said}"
            );
            assert!(!said.contains("--weighted"), "{command} {option:?}: {said}");
        }
    }
    let vectors = folder.path().join("z.npy");
    hone()
        .args(["-q", "embed", "--dim", "8"])
        .arg(&graph)
        .arg("-o")
        .arg(&vectors)
        .assert()
        .success();
    let pictures: [&[&str]; 2] = [
        &["draw", "-o", "a.svg"],
        &["map", "-o", "a.html", "--vectors", "z.npy"],
    ];
    for command in pictures {
        let run = hone()
            .current_dir(folder.path())
            .args(command)
            .arg(&graph)
            .arg("--weighted")
            .assert()
            .success();
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert_eq!(
            said.matches("weights are not used here").count(),
            1,
            "{command:?}: {said}"
        );
    }
    let diffused = hone()
        .args(["features", "--diffuse", "1", "--weighted"])
        .arg(&graph)
        .assert()
        .success();
    diffused.stderr(contains("not used").not());
}

#[test]
fn large_and_tiny_weights_neither_overflow_nor_vanish() {
    let folder = folder();
    let scaled = |name: &str, weight: &dyn Fn(usize) -> String| {
        let text = fs::read_to_string(graph_file(folder.path())).expect("just written");
        let line = |(i, line): (usize, &str)| {
            let (edge, _) = line.rsplit_once('\t').expect("three columns");
            format!("{edge}\t{}\n", weight(i))
        };
        let path = folder.path().join(name);
        fs::write(
            &path,
            text.lines().enumerate().map(line).collect::<String>(),
        )
        .expect("writable");
        path
    };
    let ones = scaled("ones.tsv", &|_| "1".into());
    let vectors = |graph: &Path, preset: &str| {
        let run = hone()
            .args(["-q", "embed", "-o", "-", "--weighted", "--preset", preset])
            .arg(graph)
            .assert()
            .success();
        run.get_output().stdout.clone()
    };
    let expected: Vec<_> = presets()
        .into_iter()
        .map(|preset| (vectors(&ones, &preset), preset))
        .collect();
    for weight in ["1e38", "1e-38"] {
        // A power of two near it: all results are those of weights of one, to the bit.
        let power = (weight.parse::<f64>().expect("a number").log2().floor()).exp2();
        let graph = scaled("scaled.tsv", &|_| format!("{power:e}"));
        for (of_ones, preset) in &expected {
            assert!(vectors(&graph, preset) == *of_ones, "{weight} {preset}");
        }
    }
    let mixed = scaled("mixed.tsv", &|i| ["1e30", "1", "1e-30"][i % 3].into());
    for preset in presets() {
        let table = String::from_utf8(vectors(&mixed, &preset)).expect("text");
        assert!(!table.contains("NaN") && !table.contains("inf"), "{preset}");
    }
}
