//! Between tables: the text of COPY through pipes, a column of vectors, folders of Parquet files.

use super::*;

fn piped(folder: &Path, args: &str, input: &[u8]) -> Assert {
    let mut run = Command::new(binary());
    run.current_dir(folder).args(args.split(' '));
    run.write_stdin(input).assert()
}

fn output(run: Assert) -> Vec<u8> {
    run.success().get_output().stdout.clone()
}

fn errors(run: Assert) -> String {
    String::from_utf8_lossy(&run.failure().get_output().stderr).into_owned()
}

#[test]
fn edges_and_vectors_go_through_pipes_as_copy_text() {
    let folder = folder();
    let edges = fs::read(folder.path().join("g.tsv")).expect("there");
    let pipe = |args: &str| piped(folder.path(), args, &edges);
    let text = output(pipe("embed - -o - --dim 8 -q --format pgvector"));
    let same = output(pipe(
        "embed - -o - --dim 8 -q --output-format pgvector --delimiter copy",
    ));
    assert_eq!(text, same);
    let text = String::from_utf8(text).expect("UTF-8");
    assert_eq!(text.lines().count(), 40);
    // The numbers of a table in another format, taken apart by hand.
    let table = output(pipe("embed - -o - --dim 8 -q --output-format csv"));
    let table = String::from_utf8(table).expect("UTF-8");
    let expected: String = table
        .lines()
        .skip(1)
        .map(|line| {
            let (id, values) = line.split_once(',').expect("an id");
            format!("{id}\t[{values}]\n")
        })
        .collect();
    assert_eq!(text, expected);
    let binary = output(pipe("embed - -o - --dim 8 -q --output-format pgcopy"));
    assert!(binary.starts_with(b"PGCOPY\n\xff\r\n\0") && binary.ends_with(b"\xff\xff"));
    // What the database gives back is read like a file.
    fs::write(folder.path().join("z.csv"), &table).expect("written");
    let similar = |run: Assert| output(run);
    let asked = "--node n3 -q --by all";
    let file = similar(hone(folder.path(), &format!("similar z.csv {asked}")));
    for (bytes, format) in [(text.as_bytes(), "pgvector"), (&binary, "pgcopy")] {
        let args = format!("similar /dev/stdin --vectors-format {format} {asked}");
        let plain = similar(piped(folder.path(), &args, bytes));
        assert_eq!(plain.len(), file.len(), "{format}");
    }
}

#[test]
fn nulls_and_backslashes_of_copy_are_named() {
    let folder = folder();
    let run = |args: &str, input: &str| errors(piped(folder.path(), args, input.as_bytes()));
    let error = run("embed - -o - -q", "a\tb\nb\t\\N\n");
    assert!(error.contains("line 2: a null (\\N)"), "{error}");
    let error = run("embed - -o - -q", "a\tC:\\temp\n");
    assert!(
        error.contains("--delimiter copy decodes the text of COPY"),
        "{error}"
    );
}

#[test]
fn names_of_columns_survive_in_every_format() {
    let folder = folder();
    hone(folder.path(), "embed g.tsv --dim 8 -q -o z.npz").success();
    let expected = output(hone(folder.path(), "similar z.npz --node n3 -q"));
    for (file, format) in [
        ("z.pgvector", ""),
        ("z.pgcopy", ""),
        ("v.parquet", " --output-format parquet-vector"),
        ("v/", " --output-format parquet-vector --rows-per-file 7"),
        ("parts/", " --rows-per-file 15"),
    ] {
        let run = format!("embed g.tsv --dim 8 -q -o {file}{format}");
        hone(folder.path(), &run).success();
        let found = output(hone(folder.path(), &format!("similar {file} --node n3 -q")));
        assert_eq!(found, expected, "{file}");
    }
    let parts = |name: &str| {
        fs::read_dir(folder.path().join(name))
            .expect("there")
            .count()
    };
    assert_eq!((parts("v"), parts("parts")), (6, 3));
    assert!(folder.path().join("z.pgcopy.columns.txt").exists());
    // Halves are near enough for the same nearest node.
    hone(
        folder.path(),
        "embed g.tsv --dim 8 -q -o h.pgcopy --output-format pgcopy-half",
    )
    .success();
    hone(folder.path(), "similar h.pgcopy --node n3 -q").success();
    let error = errors(hone(
        folder.path(),
        "embed g.tsv -o z.tsv --rows-per-file 7",
    ));
    assert!(
        error.contains("--rows-per-file") && error.contains("z.tsv is one file"),
        "{error}"
    );
    let error = errors(hone(
        folder.path(),
        "embed g.tsv -o w.parquet --layout vector",
    ));
    assert!(error.contains("--output-format parquet-vector"), "{error}");
}

#[test]
fn a_folder_of_parquet_files_is_a_graph() {
    let folder = folder();
    for (at, seed) in ["a", "b"].into_iter().zip([1, 2]) {
        let name = format!("{at}.parquet");
        let run = format!("generate er --nodes 30 --degree 4 --seed {seed} -o {name}");
        hone(folder.path(), &run).success();
        let partition = folder.path().join(format!("edges/part={seed}"));
        fs::create_dir_all(&partition).expect("made");
        fs::rename(folder.path().join(&name), partition.join(&name)).expect("moved");
    }
    fs::write(folder.path().join("edges/_SUCCESS"), "").expect("written");
    hone(folder.path(), "embed edges/ --dim 8 -q -o vectors/").success();
    assert!(folder.path().join("vectors/part-00000.parquet").exists());
    // The record repeats the run, and knows a changed folder.
    hone(
        folder.path(),
        "embed --config vectors.run.json -q -o again.parquet",
    )
    .success();
    let bytes = |name: &str| fs::read(folder.path().join(name)).expect("there");
    assert_eq!(bytes("again.parquet"), bytes("vectors/part-00000.parquet"));
    let more = "generate er --nodes 30 --degree 4 --seed 3 -o edges/c.parquet";
    hone(folder.path(), more).success();
    fs::remove_file(folder.path().join("edges/c.parquet.run.json")).ok();
    let error = errors(hone(
        folder.path(),
        "embed --config vectors.run.json -q -o third.parquet",
    ));
    assert!(
        error.contains("not the graph of vectors.run.json"),
        "{error}"
    );
    for output in ["edges/", "edges/z.parquet", "edges/z/"] {
        let error = errors(hone(
            folder.path(),
            &format!("embed edges -q -f -o {output}"),
        ));
        assert!(error.contains("edges"), "{error}");
        assert!(!folder.path().join("edges/z.parquet").exists());
    }
}
