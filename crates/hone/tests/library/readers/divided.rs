//! Several processes that read a file together: the same graphs, notes and errors as one process has.

use hone::graph::{Division, read_divided};
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::peers::all;
use super::*;

/// Everything about a graph, or the error.
fn told(result: Result<Graph, Error>) -> String {
    match result {
        Err(error) => format!("{error:?}"),
        Ok(graph) => {
            let pattern: Vec<&[u32]> = (0..graph.nodes() as u32)
                .map(|i| graph.neighbors(i))
                .collect();
            let weights = graph
                .weights()
                .map(|weights| weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>());
            let facts = (
                graph.is_directed(),
                graph.ids(),
                graph.dropped(),
                hone::graph::reading(&graph),
            );
            format!("{pattern:?} {weights:?} {facts:?}")
        }
    }
}

/// Reads a file alone and by several processes, in blocks and messages of so many bytes, and compares.
fn same_by_all(
    path: &Path,
    options: &ReadOptions,
    processes: usize,
    (block, round): (usize, u64),
) -> String {
    let alone = told(load(path, options));
    let together = all(processes, |toy| {
        let division = Division::among(toy).in_blocks_of(block, round);
        told(read_divided(path, options, &division, &Silent))
    });
    for (rank, told) in together.iter().enumerate() {
        assert_eq!(
            *told,
            alone,
            "process {rank} of {processes}, blocks of {block}, {}",
            path.display()
        );
    }
    alone
}

/// The same with several numbers of processes and sizes of blocks.
fn same(name: &str, content: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    let folder = folder();
    let path = put(&folder, name, content);
    let mut alone = String::new();
    for (processes, sizes) in [
        (2, (1, 0)),
        (2, (7, 50)),
        (3, (16, 1 << 20)),
        (5, (33, 64)),
        (2, (1 << 20, 1 << 20)),
    ] {
        alone = same_by_all(&path, options, processes, sizes);
    }
    alone
}

#[test]
fn files_of_every_kind() {
    let weighted = ReadOptions {
        weighted: true,
        ..default()
    };
    let directed = ReadOptions {
        directed: true,
        ..default()
    };
    for (name, content, options) in [
        ("a.txt", "0 1\n1 2\n2 0\n0 1\n3 3\n", &default()),
        (
            "a.txt",
            "# sizes\n% more\n\n5 7\r\n7 900000\r\n  5\t7  ",
            &directed,
        ),
        (
            "a.csv",
            "source,target,weight\nann,bob,1\nbob,\"c,d\",0.25\nann,bob,2\nü,7,3",
            &weighted,
        ),
        (
            "a.tsv",
            "1\t2\n-5\t9223372036854775807\n2\t99999999999999999999\n07\t1\n",
            &default(),
        ),
        ("a.txt", "#5 6\n# 7 8\n1 2\n3 4\n4 5\na b\n", &default()),
        (
            "a.csv",
            "user,item\n1,2\n2,1\nuser,item\n3,1\nNA,4\n",
            &default(),
        ),
        (
            "a.csv",
            "1,1193,5,978300760\n1,661,3,978302109\n2,1,3,978301968\n",
            &default(),
        ),
        ("a.txt", "4 6\n1 2\n2 3\n3 4\n4 1\n1 3\n2 4\n", &default()),
        (
            "a.mtx",
            "%%MatrixMarket matrix coordinate real symmetric\n% hi\n4 4 3\n2 1 0.5\n3 2 1\n4 3 2\n",
            &weighted,
        ),
        ("a.graph", "3 2\n2\n1 3\n2\n", &default()),
    ] {
        let alone = same(name, content, options);
        assert!(alone.starts_with("[["), "{alone}");
    }
    same(
        "a.csv",
        "user,item\n1,2\n2,1\n3,1\n",
        &ReadOptions {
            bipartite: Some(true),
            ..default()
        },
    );
    let compressed = same("a.txt.gz", gzip(b"0 1\n1 2\n"), &default());
    assert!(compressed.starts_with("[["), "{compressed}");
    same("builtin:karate", "", &default());
}

#[test]
fn node_lists() {
    let folder = folder();
    let list = put(&folder, "nodes.txt", "id\nd\nc\nb\na\n7\n");
    let options = ReadOptions {
        nodes: Some(list),
        ..default()
    };
    same("a.txt", "a b\nb c\nc d\n7 a\n", &options);
    let error = same("a.txt", "a b\nb c\nc d\nx a\nb y\n", &options);
    assert!(error.contains("line: Some(4)"), "{error}");
    same(
        "a.txt",
        "a b\n",
        &ReadOptions {
            nodes: Some(folder.path().join("none")),
            ..default()
        },
    );
}

#[test]
fn parquet_tables_by_groups() {
    use table::{Values, write, write_groups};
    let schema =
        "message m { required int64 source; required int64 target; required double weight; }";
    let rows = |first: i64, weight: f64| ([first, first + 1], [first + 1, -first], [weight, 2.0]);
    let groups: Vec<_> = (0..5).map(|at| rows(at << (8 * at), 0.5)).collect();
    let columns =
        |(u, v, w): &'_ ([i64; 2], [i64; 2], [f64; 2])| (u.to_vec(), v.to_vec(), w.to_vec());
    let bytes = |groups: &[([i64; 2], [i64; 2], [f64; 2])]| {
        let owned: Vec<_> = groups.iter().map(columns).collect();
        let values: Vec<[Values; 3]> = owned
            .iter()
            .map(|(u, v, w)| [Values::Long(u), Values::Long(v), Values::Double(w)])
            .collect();
        write_groups(
            schema,
            &values.iter().map(|values| &values[..]).collect::<Vec<_>>(),
            None,
        )
    };
    let weighted = ReadOptions {
        weighted: true,
        ..default()
    };
    assert!(same("a.parquet", bytes(&groups), &weighted).starts_with("[["));
    // Two wrong rows, of which the first is reported.
    let mut wrong = groups;
    wrong[2] = rows(3, -1.0);
    wrong[4] = rows(3, f64::NAN);
    let error = same("a.parquet", bytes(&wrong), &weighted);
    assert!(error.contains("row 4 has the weight -1"), "{error}");
    let names = "message m { required binary u (UTF8); required binary v (STRING); }";
    same(
        "a.parquet",
        write(
            names,
            &[Values::Text(&["b", "a"]), Values::Text(&["a", "7"])],
            None,
        ),
        &default(),
    );
    let empty = write(
        names,
        &[Values::Text(&["b", ""]), Values::Text(&["a", "7"])],
        None,
    );
    assert!(same("a.parquet", empty, &default()).contains("row 1 has an empty node id"));
    let whole = write(
        names,
        &[Values::Text(&["b", "a"]), Values::Text(&["a", "7"])],
        None,
    );
    same("a.parquet", &whole[..whole.len() - 9], &default());
}

#[test]
fn errors_are_those_of_one_process() {
    for (name, content) in [
        ("a.txt", ""),
        ("a.txt", "# nothing\n"),
        ("a.csv", "source,target\n"),
        ("a.txt", "0 1\n1 2\n2 3 4\n3 4\n5\n6 7\n"),
        ("a.txt", "0 1\n1 2\n2 3\n3 4\n4 5\n6"),
        ("a.txt", "0 1\n1 2\n# c\n3 4 5\n"),
        ("a.csv", "a,b\n\"c,d\ne,f\ng,\"h\n"),
        ("a.txt", "0 1 1\n1 2 x\n2 3 -1\n"),
        ("a.txt", "0 1\n1 \0\n"),
        (
            "a.mtx",
            "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n3 1\n",
        ),
        (
            "a.mtx",
            "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 4\n3 0\n",
        ),
        ("a.mtx", "%%MatrixMarket matrix something\n"),
        ("a.graph", "3 2\n2\n1 9\n2\n"),
        ("a.json", "{}"),
    ] {
        let alone = same(
            name,
            content,
            &ReadOptions {
                weighted: content.contains("-1"),
                ..default()
            },
        );
        assert!(alone.starts_with("Input"), "{alone}");
    }
    let option = ReadOptions {
        delimiter: Some("\"".into()),
        ..default()
    };
    assert!(same("a.txt", "0 1\n1 2\n", &option).starts_with("Config"));
    let folder = folder();
    let alone = same_by_all(&folder.path().join("none.txt"), &default(), 3, (8, 64));
    assert!(
        alone.starts_with("Io") || alone.contains("NotFound"),
        "{alone}"
    );
}

#[test]
fn processes_that_see_different_files_say_so() {
    let folder = folder();
    let (whole, part) = (
        put(&folder, "a.txt", "0 1\n1 2\n2 3\n"),
        put(&folder, "b.txt", "0 1\n1 2\n"),
    );
    let other = put(&folder, "c.txt", "0,1\n1,2\n2,3\n");
    let missing = folder.path().join("none.txt");
    for (second, expected) in [
        (part, "process 1 reads another file"),
        (other, "process 1 reads another"),
        (missing, "in process 1"),
    ] {
        let said = all(3, |toy| {
            let path = if hone::communicator::Communicator::rank(toy) == 1 {
                &second
            } else {
                &whole
            };
            let division = Division::among(toy).in_blocks_of(4, 64);
            read_divided(path, &default(), &division, &Silent).unwrap_err()
        });
        assert!(
            said[0].to_string().contains(expected) && said[0].is_input(),
            "{said:?}"
        );
        assert_eq!(said[0].to_string(), said[2].to_string());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_refusal_is_one_for_all() {
    let folder = folder();
    let path = put(&folder, "a.txt", "0 1\n1 2\n".repeat(20_000));
    let options = ReadOptions {
        memory: Some(1 << 20),
        ..default()
    };
    for error in all(3, |toy| {
        let division = Division::among(toy).in_blocks_of(1000, 1 << 16);
        read_divided(&path, &options, &division, &Silent).unwrap_err()
    }) {
        assert!(matches!(error, Error::Memory { .. }), "{error}");
    }
}

#[test]
fn small_files_are_not_divided() {
    let folder = folder();
    let path = put(&folder, "a.txt", "0 1\n1 2\n2 3 4\n");
    let expected = told(load(&path, &default()));
    for told in all(2, |toy| {
        told(read_divided(
            &path,
            &default(),
            &Division::among(toy),
            &Silent,
        ))
    }) {
        assert_eq!(told, expected);
    }
}

/// A line of a table of some width, right or wrong.
fn line(ids: BoxedStrategy<String>, columns: usize, wrong: bool) -> BoxedStrategy<String> {
    let weight = prop_oneof![
        Just("1".to_owned()),
        Just("0.5".to_owned()),
        Just("3e-2".to_owned())
    ];
    let edge =
        (ids.clone(), ids, weight).prop_map(move |(u, v, w)| [u, v, w][..columns].join("\t"));
    let idle = prop_oneof![
        Just(String::new()),
        Just("# note".to_owned()),
        Just("#1\t2".to_owned())
    ];
    let fault = prop_oneof![
        Just("1".to_owned()),
        Just("1\t2\tx\ty".to_owned()),
        Just("\"a\t1\t1".to_owned())
    ];
    prop_oneof![30 => edge, 2 => idle, u32::from(wrong) => fault].boxed()
}

fn table() -> impl Strategy<Value = String> {
    let integers = (0..40u32).prop_map(|id| id.to_string()).boxed();
    let wide = prop_oneof![(0..9i64).prop_map(|id| id - 4), Just(i64::MAX)]
        .prop_map(|id| id.to_string())
        .boxed();
    let names = "[a-cü]{1,3}".boxed();
    let mixed = prop_oneof![20 => integers.clone(), 1 => names.clone()].boxed();
    let ids = prop_oneof![Just(integers), Just(wide), Just(names), Just(mixed)];
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    (
        ids,
        2..4usize,
        any::<bool>(),
        any::<bool>(),
        end,
        any::<bool>(),
    )
        .prop_flat_map(|(ids, columns, header, wrong, end, last)| {
            let header = if header {
                ["source", "target", "weight"][..columns].join("\t") + end
            } else {
                String::new()
            };
            prop::collection::vec(line(ids, columns, wrong), 1..60).prop_map(move |lines| {
                format!("{header}{}{}", lines.join(end), if last { end } else { "" })
            })
        })
}

proptest! {
    #![proptest_config(Config { cases: 48, failure_persistence: None, ..Config::default() })]
    #[test]
    fn any_table(
        content in table(),
        processes in 2..5usize,
        sizes in (1..90usize, 0..400u64),
        weighted in any::<bool>(),
        directed in any::<bool>(),
    ) {
        let folder = folder();
        let path = put(&folder, "a.tsv", content);
        same_by_all(&path, &ReadOptions { weighted, directed, ..default() }, processes, sizes);
    }
}
