//! Choices that say two things about one setting are refused, and both are named.

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;

use super::{folder, hone};

#[test]
fn a_preset_and_a_file_may_not_contradict_each_other() {
    let folder = folder();
    let file = |name: &str, args: &[&str]| {
        let printed = hone().arg("config").args(args).assert().success();
        let path = folder.path().join(name);
        fs::write(&path, &printed.get_output().stdout).expect("writable");
        path
    };
    let config = |preset: &str, file: &Path| hone().args(["config", "--preset", preset, "--config"]).arg(file).assert();
    let full = file("full.toml", &["--preset", "hone-p"]);
    let refused = config("hone-l", &full).code(2);
    refused.stderr(contains("--preset").and(contains("psi is \"l\" in the preset and \"p\" in the file")));
    config("hone", &full).code(2).stderr(contains("contradict"));
    config("hone-p", &full).success();
    // What the preset does not speak of, or leaves to a rule, is the file's.
    let tuned = file("tuned.toml", &["--preset", "hone-l", "--set", "local.dim=8", "--steps", "3"]);
    config("hone-l", &tuned).success().stdout(contains("dim = 8").and(contains("steps = 3")));
    let small = folder.path().join("small.toml");
    fs::write(&small, "[local]\ndim = 24\n").expect("writable");
    config("hone", &small).success().stdout(contains("dim = 24").and(contains("psi = \"a-norm\"")));
    hone().args(["-q", "embed", "builtin:karate", "-o"]).arg(folder.path().join("a.npy")).assert().success();
    config("hone", &folder.path().join("a.npy.run.json")).success();
    config("hone-p", &folder.path().join("a.npy.run.json")).code(2).stderr(contains("leave one of the two out"));
}

#[test]
fn an_option_and_a_setting_may_not_contradict_each_other() {
    let cases: [(&str, &[&str], &str, &str); 8] = [
        ("embed", &["--dim", "32"], "global.dim=16", "--dim gives 32, and --set global.dim=16 something else"),
        ("embed", &["--steps", "2"], "steps=auto", "--steps gives 2, and --set steps=auto"),
        ("embed", &["--motifs", "edge"], "motifs=triangle", "--motifs gives edge, and --set motifs=triangle"),
        ("embed", &["--solver", "nmf"], "global.solver.method=svd", "--solver gives nmf"),
        ("embed", &["--seed", "7"], "seed=8", "--seed gives 7"),
        ("embed", &["--vectors", "local"], "global.output=global", "--vectors gives local"),
        (
            "features",
            &["--depth", "2"],
            "attributes.features.depth=1",
            "--depth gives 2, and --set attributes.features",
        ),
        ("features", &["--psi", "p"], "psi=w", "--psi gives p, and --set psi=w"),
    ];
    for (command, option, setting, said) in cases {
        let run = hone().args([command, "builtin:karate", "-o", "-"]).args(option).args(["--set", setting]).assert();
        run.code(2).stderr(contains(said).and(contains("leave one of them out")));
    }
    let same: [(&str, &[&str], &str); 4] = [
        ("embed", &["--dim", "16"], "global.dim=16"),
        ("embed", &["--dim", "16"], "local.dim=8"),
        ("embed", &["--motifs", "edge,triangle"], "motifs=[\"edge\", \"triangle\"]"),
        ("features", &["--depth", "0"], "attributes.features.depth=0"),
    ];
    for (command, option, setting) in same {
        let run =
            hone().args([command, "builtin:karate", "-q", "-o", "-"]).args(option).args(["--set", setting]).assert();
        run.success();
    }
}
