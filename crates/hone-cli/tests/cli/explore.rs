//! The real binary: similar nodes, roles, layouts and maps.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use hone::memory::Allowance;
use hone::store::table::{Column, TableReader};
use predicates::prelude::*;
use predicates::str::contains;

fn hone() -> Command {
    let mut command = Command::cargo_bin("hone").expect("the binary of this package");
    command.env_remove("NO_COLOR");
    command
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Vectors of the karate club.
fn vectors(folder: &Path) -> String {
    let path = folder.join("karate.npy").display().to_string();
    hone()
        .args(["-q", "embed", "builtin:karate", "-o", &path])
        .assert()
        .success();
    path
}

fn json(output: &[u8]) -> serde_json::Value {
    serde_json::from_slice(output).expect("JSON")
}

#[test]
fn similar_answers_lists_and_refuses() {
    let folder = folder();
    let vectors = vectors(folder.path());
    let lines = hone()
        .args(["similar", &vectors, "--node", "33", "--top", "3"])
        .assert()
        .success();
    lines.stdout(predicate::function(|text: &str| {
        text.lines().count() == 4 && text.contains("33\t1\t32\t")
    }));
    let two = hone()
        .args([
            "similar",
            &vectors,
            "--node",
            "0",
            "--node",
            "33",
            "--json",
            "--by",
            "structure",
        ])
        .assert();
    let two = json(&two.success().get_output().stdout);
    assert_eq!(
        (
            two[1]["question"].as_str(),
            two[0]["nodes"].as_array().map(Vec::len)
        ),
        (Some("33"), Some(10))
    );
    let both = ["--positive", "0", "--positive", "1", "--negative", "33"];
    hone()
        .args(["similar", &vectors])
        .args(both)
        .assert()
        .success()
        .stdout(contains("+0 +1 -33\t1\t"));
    let refused: [(&[&str], &str); 5] = [
        (
            &["--node", "333"],
            "--node: no node is called `333`; did you mean `33`",
        ),
        (&[], "give --node ID, --positive ID, --all or --prepared"),
        (&["--node", "0", "--all"], "give only one of --node"),
        (
            &["--node", "0", "-o", "x.npz"],
            "a table cannot be written as `.npz`",
        ),
        (&["--node", "0", "--by", "shape"], "shape"),
    ];
    for (args, text) in refused {
        hone()
            .args(["similar", &vectors])
            .args(args)
            .assert()
            .code(2)
            .stderr(contains(text));
    }
}

#[test]
fn similar_writes_the_neighbours_of_all_nodes() {
    let folder = folder();
    let vectors = vectors(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    for name in ["knn.tsv", "knn.csv.gz", "knn.parquet", "knn.npy"] {
        hone()
            .args([
                "-q",
                "similar",
                &vectors,
                "--all",
                "--top",
                "4",
                "-o",
                &path(name),
            ])
            .assert()
            .success();
        let record = json(&fs::read(path(&format!("{name}.run.json"))).expect("a record"));
        assert_eq!(
            (record["top"].as_u64(), record["nodes"].as_u64()),
            (Some(4), Some(34)),
            "{name}"
        );
    }
    assert_eq!(
        fs::read_to_string(path("knn.tsv"))
            .expect("text")
            .lines()
            .count(),
        1 + 34 * 4
    );
    hone()
        .args(["similar", &vectors, "--all", "-o", &path("knn.tsv")])
        .assert()
        .code(2)
        .stderr(contains("--force"));
    let args = [
        "similar",
        &vectors,
        "--all",
        "--search",
        "approximate",
        "-o",
        &path("near.tsv"),
    ];
    hone()
        .args(args)
        .assert()
        .success()
        .stderr(contains("% of the true neighbours"));
    hone()
        .args(["similar", &vectors, "--all", "-o", &vectors, "--force"])
        .assert()
        .code(2)
        .stderr(contains("input"));
}

#[test]
fn roles_print_write_and_explain() {
    let folder = folder();
    let path = folder.path().join("roles.tsv").display().to_string();
    let shown = hone()
        .args(["roles", "builtin:karate", "-o", &path])
        .assert()
        .success();
    shown.stdout(contains("role").and(contains("links between roles")));
    let table = fs::read_to_string(&path).expect("text");
    assert!(
        table.starts_with("id\trole\tmembership\t") && table.lines().count() == 35,
        "{table}"
    );
    assert_eq!(
        json(&fs::read(format!("{path}.run.json")).expect("a record"))["command"],
        "roles"
    );
    let three = hone()
        .args([
            "roles",
            "builtin:karate",
            "--roles",
            "3",
            "--json",
            "--explain",
            "0",
        ])
        .assert()
        .success();
    let three = json(&three.get_output().stdout);
    assert_eq!(three["roles"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        three["explanations"][0]["reasons"].as_array().map(Vec::len),
        Some(3)
    );
    hone()
        .args(["roles", "builtin:karate", "--explain", "5"])
        .assert()
        .success()
        .stdout(contains("5 is a"));
    let run = |args: &[&str]| {
        let mut run = hone();
        run.current_dir(folder.path())
            .args(["roles", "builtin:karate", "--explain", "all"]);
        let done = run.args(args).assert().success();
        String::from_utf8(done.get_output().stdout.clone()).expect("text")
    };
    let all = run(&[]);
    let mut lines = all.lines();
    let head: Vec<&str> = lines.next().expect("a head").split_whitespace().collect();
    assert_eq!(head, ["id", "role", "membership", "because", "otherwise"]);
    assert!(
        lines.clone().count() == 34 && lines.all(|line| line.contains("(mean ")),
        "{all}"
    );
    let explained = json(run(&["--json"]).as_bytes());
    let texts = explained["explanations"].as_array().expect("a list");
    assert_eq!(texts.len(), 34);
    run(&["-o", "all.csv"]);
    let table = fs::read_to_string(folder.path().join("all.csv")).expect("a table");
    let text = texts[5]["text"].as_str().expect("a sentence");
    assert!(
        table
            .lines()
            .next()
            .expect("a head")
            .ends_with(",explanation")
    );
    assert!(
        table
            .lines()
            .nth(6)
            .expect("node 5")
            .ends_with(&format!("\"{text}\"")),
        "{table}"
    );
    // Memberships have four decimals at most.
    let memberships = table.lines().nth(1).expect("a node").split(',').skip(2);
    let numbers = memberships.take_while(|field| field.parse::<f64>().is_ok());
    let long = |field: &str| {
        field
            .split_once('.')
            .is_some_and(|(_, decimals)| decimals.len() > 4)
    };
    assert!(
        numbers.clone().count() > 3 && !numbers.into_iter().any(long),
        "{table}"
    );
    for (args, text) in [
        (["--explain", "Zoe"], "--explain: no node is called `Zoe`"),
        (["--roles", "99"], "a number from 1 to 12"),
        (["-o", "roles.npy"], "do not fit an array"),
    ] {
        hone()
            .args(["roles", "builtin:karate"])
            .args(args)
            .assert()
            .code(2)
            .stderr(contains(text));
    }
}

#[test]
fn layouts_are_the_same_for_any_number_of_threads() {
    let folder = folder();
    let vectors = vectors(folder.path());
    let run = |threads: &str, name: &str| {
        let path = folder.path().join(name);
        let args = [
            "-q",
            "layout",
            &vectors,
            "-o",
            &path.display().to_string(),
            "--threads",
            threads,
        ];
        hone().args(args).assert().success();
        fs::read(path).expect("written")
    };
    let one = run("1", "one.tsv");
    assert!(one == run("2", "two.tsv") && one == run("7", "seven.tsv"));
    assert!(
        String::from_utf8(one)
            .expect("text")
            .starts_with("id\tx\ty\n0\t")
    );
    let pca = ["layout", &vectors, "--layout", "pca"];
    hone()
        .args(pca)
        .assert()
        .success()
        .stdout(predicate::function(|text: &str| text.lines().count() == 35));
}

#[test]
fn maps_and_pictures_are_written_together() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(
        path("labels.tsv"),
        (0..34)
            .map(|i| format!("{i}\tclub {}\n", i % 2))
            .collect::<String>(),
    )
    .expect("written");
    let args = [
        "map",
        "builtin:karate",
        "--labels",
        &path("labels.tsv"),
        "--title",
        "<b>club</b>",
    ];
    let files = [
        "-o",
        &path("map.html"),
        "-o",
        &path("map.svg"),
        "-o",
        &path("map.png"),
        "-o",
        &path("points.parquet"),
    ];
    hone()
        .args(args)
        .args(files)
        .assert()
        .success()
        .stderr(contains("wrote"));
    let page = fs::read_to_string(path("map.html")).expect("a page");
    assert!(
        page.contains("&lt;b&gt;club&lt;/b&gt;")
            && !page.contains("<b>club")
            && page.contains("club 1")
    );
    assert!(
        fs::read_to_string(path("map.svg"))
            .expect("a picture")
            .contains(">club 0</text>")
    );
    assert!(
        fs::read(path("map.png"))
            .expect("a picture")
            .starts_with(b"\x89PNG")
    );
    let table = TableReader::open(Path::new(&path("points.parquet")), Allowance::new(None));
    let table = table.expect("a table");
    assert_eq!(table.rows(), 34);
    assert_eq!(
        table.columns(),
        [
            "id",
            "x",
            "y",
            "role",
            "label",
            "neighbors.ids.list.element",
            "neighbors.distances.list.element"
        ]
    );
    let labels: Vec<String> = (0..34).map(|i| format!("club {}", i % 2)).collect();
    assert_eq!(table.column("label").expect("read"), Column::Texts(labels));
    hone().args(["map", "builtin:karate"]).assert().code(2);
    // A column of points for something else.
    fs::write(path("places.csv"), "id,x\n1,7\n2,8\n").expect("written");
    let points = ["map", "builtin:karate", "-o", &path("places.parquet")];
    hone()
        .args(points)
        .args(["--attributes", &path("places.csv")])
        .assert()
        .code(2)
        .stderr(contains("a column is called `x`"));
    // Vectors of another graph.
    let own = ["-q", "embed", "builtin:star", "-o", &path("star.npy")];
    hone().args(own).assert().success();
    let wrong = [
        "map",
        "builtin:karate",
        "-o",
        &path("other.html"),
        "--vectors",
        &path("star.npy"),
    ];
    hone()
        .args(wrong)
        .assert()
        .code(2)
        .stderr(contains("there is no vector of node"));
    assert!(!Path::new(&path("other.html")).exists());
}

/// SHA-256 as policies of pages write it, by its definition (FIPS 180-4).
fn hash(text: &str) -> String {
    // The first 32 bits of the fractions of roots of primes.
    let primes = (2u32..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
    let fraction = |root: f64| ((root.fract()) * 4_294_967_296.0) as u32;
    let first: Vec<f64> = primes.take(64).map(f64::from).collect();
    let constants: Vec<u32> = first.iter().map(|p| fraction(p.cbrt())).collect();
    let mut state: Vec<u32> = first[..8].iter().map(|p| fraction(p.sqrt())).collect();
    let mut bytes = text.as_bytes().to_vec();
    let bits = 8 * bytes.len() as u64;
    bytes.push(0x80);
    bytes.resize((bytes.len() + 8).next_multiple_of(64) - 8, 0);
    bytes.extend(bits.to_be_bytes());
    for block in bytes.chunks(64) {
        let words = block.chunks(4);
        let mut w: Vec<u32> = words
            .map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        for t in 16..64 {
            let turned =
                |x: u32, [a, b, c]: [u32; 3]| x.rotate_right(a) ^ x.rotate_right(b) ^ x >> c;
            let (s0, s1) = (
                turned(w[t - 15], [7, 18, 3]),
                turned(w[t - 2], [17, 19, 10]),
            );
            w.push(
                w[t - 16]
                    .wrapping_add(s0)
                    .wrapping_add(w[t - 7])
                    .wrapping_add(s1),
            );
        }
        let mut v = state.clone();
        for t in 0..64 {
            let turned = |x: u32, [a, b, c]: [u32; 3]| {
                x.rotate_right(a) ^ x.rotate_right(b) ^ x.rotate_right(c)
            };
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            let terms = [v[7], turned(v[4], [6, 11, 25]), choice, constants[t], w[t]];
            let one = terms.into_iter().fold(0, u32::wrapping_add);
            v[3] = v[3].wrapping_add(one);
            v[7] = one
                .wrapping_add(turned(v[0], [2, 13, 22]))
                .wrapping_add(majority);
            v.rotate_right(1);
        }
        state
            .iter_mut()
            .zip(v)
            .for_each(|(s, v)| *s = s.wrapping_add(v));
    }
    let bytes: Vec<u8> = state.iter().flat_map(|word| word.to_be_bytes()).collect();
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::from("'sha256-");
    for three in bytes.chunks(3) {
        let bits =
            three.iter().fold(0u32, |bits, b| bits << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        let digit = |d: usize| char::from(digits[(bits >> (18 - 6 * d) & 63) as usize]);
        text.extend((0..4).map(|d| if d <= three.len() { digit(d) } else { '=' }));
    }
    text + "'"
}

/// Pages run their own script and nothing else: its hash is in their policy, like that of their style, and nothing is loaded or sent.
#[test]
fn policies_of_pages_name_hashes() {
    assert_eq!(
        hash("abc"),
        "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='"
    );
    let folder = folder();
    let page = |args: &[&str]| {
        let path = folder.path().join("page.html");
        let file = path.display().to_string();
        hone()
            .arg("-q")
            .args(args)
            .args([&file, "-f"])
            .assert()
            .success();
        fs::read_to_string(path).expect("a page")
    };
    let inside = |page: &str, from: &str, to: &str| {
        let (_, rest) = page.split_once(from)?;
        Some(rest.split_once(to)?.0.to_owned())
    };
    let link = [
        "eval",
        "link",
        "builtin:karate",
        "--methods",
        "degree,random:dim=2",
        "-o",
    ];
    for (page, has_script) in [
        (page(&["map", "builtin:karate", "-o"]), true),
        (page(&link), false),
    ] {
        let policy = inside(&page, "Content-Security-Policy\" content=\"", "\"").expect("a policy");
        for part in [
            "default-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(
            !policy.contains("unsafe") && !page.contains(" style=\""),
            "{policy}"
        );
        let style = hash(&inside(&page, "<style>", "</style>").expect("a style"));
        assert!(
            policy.contains(&format!("style-src {style}")),
            "the style is {style}"
        );
        let script =
            inside(&page, "<script type=\"module\">", "</script>").map(|script| hash(&script));
        assert_eq!(script.is_some(), has_script);
        if let Some(script) = script {
            assert!(
                policy.contains(&format!("script-src {script}")),
                "the script is {script}"
            );
        }
    }
}

/// Runs in a folder, from there.
fn run_in(folder: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    hone().current_dir(folder).arg("-q").args(args).assert()
}

#[test]
fn records_repeat_similar_layout_roles_and_map() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    for inner in ["first", "elsewhere"] {
        fs::create_dir(at(inner)).expect("writable");
    }
    let first = at("first");
    hone()
        .args([
            "-q",
            "generate",
            "sbm",
            "--nodes",
            "60",
            "--degree",
            "8",
            "--communities",
            "3",
            "-o",
        ])
        .arg(at("first/g.tsv"))
        .assert()
        .success();
    fs::write(
        at("first/labels.tsv"),
        (0..60)
            .map(|i| format!("{i}\tl{}\n", i % 3))
            .collect::<String>(),
    )
    .expect("writable");
    let run = |args: &str| run_in(&first, &args.split(' ').collect::<Vec<_>>()).success();
    run("embed g.tsv -o z.npy --dim 16");
    let runs = [
        (
            "similar z.npy --node 3 --node 5 --top 4 --by structure -o near.tsv",
            "near.tsv",
        ),
        (
            "similar z.npy --positive 3 --negative 5 -o sum.csv",
            "sum.csv",
        ),
        (
            "similar z.npy --all --top 3 --search approximate --seed 9 -o all.tsv",
            "all.tsv",
        ),
        ("similar z.npy --prepared --by all -o rows.npy", "rows.npy"),
        (
            "layout z.npy -o xy.tsv --by proximity --neighbours 5 --iterations 50 --layout-seed 3",
            "xy.tsv",
        ),
        (
            "roles g.tsv --roles 3 --sample cap=8 --seed 4 -o roles.tsv",
            "roles.tsv",
        ),
        (
            "map g.tsv -o map.html --vectors z.npy --labels labels.tsv --title T --iterations 50",
            "map.html",
        ),
        (
            "map g.tsv -o map.svg -o map.png --layout pca --by structure --colour degree --shapes",
            "map.svg",
        ),
        ("map g.tsv -o alone.png --layout pca", "alone.png"),
    ];
    for (line, file) in runs {
        run(line);
        let command = line.split(' ').next().expect("a command");
        let config = format!("../first/{file}.run.json");
        let again = run_in(
            &at("elsewhere"),
            &[command, "-o", file, "--config", &config],
        );
        again.success();
        let same = fs::read(at("elsewhere").join(file)).ok() == fs::read(first.join(file)).ok();
        assert!(same, "{line}");
    }
    // What the command line says wins, and what is not of this command or has changed is refused.
    let few = [
        "similar",
        "z.npy",
        "--top",
        "1",
        "--config",
        "near.tsv.run.json",
    ];
    let few = run_in(&first, &few).success();
    assert_eq!(
        few.get_output()
            .stdout
            .iter()
            .filter(|&&b| b == b'\n')
            .count(),
        3
    );
    let wrong = run_in(&first, &["layout", "--config", "near.tsv.run.json"]).code(2);
    wrong.stderr(contains(
        "not the record of `hone layout`: it is of `hone similar`",
    ));
    run_in(&first, &["similar", "--config", "z.npy.run.json"])
        .code(2)
        .stderr(contains("it is the record of an embedding"));
    run("embed g.tsv -o z.npy --dim 16 --seed 2 --preset hone-p --force");
    for args in [
        &["layout", "--config", "xy.tsv.run.json"][..],
        &["map", "-o", "b.html", "--config", "map.html.run.json"],
    ] {
        run_in(&first, args)
            .code(2)
            .stderr(contains("not the file of").and(contains("--changed allow")));
        run_in(&first, &[args, &["--changed", "allow"]].concat()).success();
    }
    fs::remove_file(at("first/labels.tsv")).expect("there");
    let lost = run_in(
        &at("elsewhere"),
        &[
            "map",
            "-o",
            "c.html",
            "--config",
            "../first/map.html.run.json",
        ],
    )
    .code(2);
    lost.stderr(contains("labels.tsv").and(contains("neither in ../first nor in this folder")));
    for (args, said) in [
        (
            ["similar", "z.npy", "--node", "1", "--search", "exact"],
            "--search: only applies to --all",
        ),
        (
            ["similar", "z.npy", "--node", "1", "--seed", "1"],
            "--seed: only applies to --all",
        ),
    ] {
        run_in(&first, &args).code(2).stderr(contains(said));
    }
    run_in(&first, &["roles", "g.tsv", "--seed", "1"])
        .code(2)
        .stderr(contains("--seed: only applies to --sample"));
}

#[test]
fn prepared_rows_are_compared_as_they_are() {
    let folder = folder();
    vectors(folder.path());
    let run = |line: &str| run_in(folder.path(), &line.split(' ').collect::<Vec<_>>());
    let answer = |file: &str| {
        let found = run(&format!("similar {file} --node 33 --top 12")).success();
        String::from_utf8_lossy(&found.get_output().stdout).into_owned()
    };
    let expected = answer("karate.npy");
    for file in ["rows.npy", "rows.tsv", "rows.parquet", "rows.npz"] {
        run(&format!("similar karate.npy --prepared -o {file}")).success();
        assert_eq!(answer(file), expected, "{file}");
        run(&format!("similar {file} --prepared -o again.npy --force")).success();
        run(&format!("similar {file} --node 3 --by structure"))
            .code(2)
            .stderr(contains("prepared for another comparison"));
    }
    let same = |name: &str| fs::read(folder.path().join(name)).expect("written");
    assert_eq!(same("rows.npy"), same("again.npy"));
    let printed = run("similar karate.npy --prepared --by proximity --output-format csv").success();
    printed.stdout(predicate::function(|text: &str| {
        text.starts_with("id,prepared_direction0,") && text.lines().count() == 35
    }));
    let wrong = [
        ("--prepared --all", "--node: give only one of"),
        ("--prepared --top 3", "--top: does not apply to --prepared"),
        (
            "--prepared --search exact",
            "--search: only applies to --all",
        ),
        ("--prepared --json", "standard output has the result"),
        ("--all --output-format csv", "--prepared"),
        (
            "--prepared -o rows.png",
            "no embedding format has this extension",
        ),
    ];
    for (options, message) in wrong {
        run(&format!("similar karate.npy {options}"))
            .code(2)
            .stderr(contains(message));
    }
}

#[test]
fn vectors_of_other_tools_keep_their_first_row() {
    let folder = folder();
    fs::write(
        folder.path().join("v.tsv"),
        "a\t1\t2\nb\t1\t2.1\nc\t-3\t1\n",
    )
    .expect("writable");
    let near = run_in(
        folder.path(),
        &["similar", "v.tsv", "--node", "a", "--top", "1"],
    )
    .success();
    near.stdout(contains("a\t1\tb\t"));
    fs::write(folder.path().join("v.tsv"), "a 1 2\nb 1 2.1\n").expect("writable");
    let wrong = run_in(folder.path(), &["similar", "v.tsv", "--node", "a"]).code(2);
    wrong.stderr(contains(
        "v.tsv, line 1: only one column: this format has tabs between columns",
    ));
}

#[test]
fn two_vectors_of_one_node_are_refused() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let lines = "id\tz0\tz1\n\"a\nb\"\t1\t0\nc\t0\t1\nd\t1\t1\nc\t2\t1\n";
    fs::write(at("z.tsv"), lines).expect("writable");
    fs::write(at("z.w2v"), "3 2\na 1 0\nb 0 1\na 1 1\n").expect("writable");
    fs::write(at("z.csv"), "7,1,0\n8,0,1\n7,1,1\n").expect("writable");
    hone()
        .current_dir(folder.path())
        .args(["-q", "embed", "builtin:karate", "-o", "k.npy"])
        .assert()
        .success();
    fs::remove_file(at("k.npy.run.json")).expect("there");
    let ids: String = (0..34)
        .map(|i| format!("{}\n", if i == 20 { 3 } else { i }))
        .collect();
    fs::write(at("k.ids.txt"), ids).expect("writable");
    for (name, said) in [
        ("z.tsv", "z.tsv: node `c` has two vectors, in lines 4 and 6"),
        ("z.w2v", "node `a` has two vectors, in lines 2 and 4"),
        ("z.csv", "node `7` has two vectors, in lines 1 and 3"),
        (
            "k.npy",
            "node `3` has two vectors, in rows 3 and 20, from 0",
        ),
    ] {
        let commands: [&[&str]; 3] = [
            &["similar", name, "--node", "a"],
            &["layout", name, "-o", "xy.tsv"],
            &[
                "eval",
                "link",
                "builtin:karate",
                "--methods",
                "log-degree",
                "--seeds",
                "1",
                "--embedding",
                name,
            ],
        ];
        for command in commands {
            let run = hone()
                .current_dir(folder.path())
                .args(command)
                .assert()
                .code(2);
            run.stderr(contains(said).and(contains("one row per node")));
        }
    }
}
