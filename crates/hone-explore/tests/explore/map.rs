//! Maps: one file without links to anywhere, names that are never markup, pictures that are well formed.

use std::io::Read;

use hone::dense::Block;
use hone::graph::{Graph, GraphBuilder, NodeIds, builtin};
use hone::{Config, Hone, Silent};
use hone_explore::{
    By, Colour, Layout, Map, Neighbour, Neighbours, Placed, RoleOptions, Roles, Space,
    read_attributes, read_labels,
};

fn parts(graph: &Graph) -> (Placed, Roles) {
    let embedding = Hone::new(Config::default())
        .expect("the default")
        .embed(graph, &Silent)
        .expect("vectors")
        .embedding;
    let space = Space::of(&embedding, By::All).expect("vectors");
    let placed = Layout {
        steps: Some(30),
        ..Layout::default()
    }
    .place(&space, &Silent)
    .expect("placed");
    (
        placed,
        RoleOptions::default().find(graph, &Silent).expect("roles"),
    )
}

fn map<'a>(
    graph: &'a Graph,
    (placed, roles): &'a (Placed, Roles),
    colours: Vec<Colour>,
) -> Map<'a> {
    Map {
        graph,
        title: "</script><b>{{meta}}".into(),
        positions: &placed.positions,
        roles,
        neighbours: placed.neighbours.as_ref(),
        colours,
    }
}

#[test]
fn a_page_is_whole_and_loads_nothing() {
    let names = [
        "<script>alert(1)</script>",
        "\"quoted\" 'id'",
        "🦀",
        "שלום",
        "a&b",
        "</title>",
    ];
    let edges = vec![(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5)];
    let graph = GraphBuilder::undirected(6)
        .edges(edges)
        .build()
        .expect("a graph");
    let graph = graph
        .with_ids(NodeIds::from_texts(&names))
        .expect("six names");
    let found = parts(&graph);
    let label = Colour::Categories {
        name: "<i>".into(),
        names: vec!["</script><script>alert(2)</script>".into(), "b".into()],
        of: vec![0, 1, 0, 1, 0, 1],
    };
    let html = map(&graph, &found, vec![label])
        .html(&Silent)
        .expect("a page");
    for part in [
        "http://",
        "https://",
        "//cdn",
        "<script>alert",
        "src=",
        "@import",
    ] {
        let allowed = html.matches("http://www.w3.org/2000/svg").count();
        assert_eq!(
            html.matches(part).count(),
            if part == "http://" { allowed } else { 0 },
            "{part}"
        );
    }
    assert_eq!(
        html.matches("<script").count(),
        html.matches("</script>").count()
    );
    for section in [
        "core", "ids", "colours", "counts", "reasons", "near", "edges",
    ] {
        assert!(
            html.contains(&format!("id=\"data-{section}\"")),
            "{section}"
        );
    }
    assert!(html.contains("<title>&lt;/script&gt;&lt;b&gt;{{meta}}</title>"));
}

/// The bytes of a section of a page.
fn section(html: &str, name: &str) -> Vec<u8> {
    let (_, rest) = html
        .split_once(&format!("id=\"data-{name}\">"))
        .expect("a section");
    let text = rest.split_once('<').expect("its end").0;
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let bytes = text.as_bytes().chunks(4).flat_map(|four| {
        let used = four.iter().filter(|&&c| c != b'=').count();
        let bits = four
            .iter()
            .fold(0u32, |bits, &c| bits << 6 | u32::from(digit(c) & 63));
        bits.to_be_bytes()[1..used].to_vec()
    });
    let packed: Vec<u8> = bytes.collect();
    let mut plain = Vec::new();
    flate2::read::ZlibDecoder::new(&packed[..])
        .read_to_end(&mut plain)
        .expect("packed");
    plain
}

/// The page has what the command says, word by word: each node's sentence is made of parts of the section alone.
#[test]
fn pages_give_the_reasons_of_the_command() {
    let mut arcs: Vec<(u32, u32)> = (0..60)
        .map(|i| (i, i * i % 17))
        .filter(|(i, j)| i != j)
        .collect();
    arcs.extend((0..20).map(|i| (i, i + 20)));
    let arcs = GraphBuilder::directed(62)
        .edges(arcs)
        .build()
        .expect("arcs");
    for graph in [builtin("karate").expect("built in"), arcs] {
        let n = graph.nodes();
        let found = parts(&graph);
        let html = map(&graph, &found, Vec::new())
            .html(&Silent)
            .expect("a page");
        let bytes = section(&html, "reasons");
        let mut at = 0;
        let mut take = |count: usize| {
            at += count;
            bytes[at - count..at].to_vec()
        };
        let varint = |take: &mut dyn FnMut(usize) -> Vec<u8>| {
            let mut value = 0;
            for shift in (0..).step_by(7) {
                let byte = take(1)[0];
                value |= usize::from(byte & 127) << shift;
                if byte < 128 {
                    break;
                }
            }
            value
        };
        let count = varint(&mut take);
        let lengths: Vec<usize> = (0..count).map(|_| varint(&mut take)).collect();
        let text = |length: &usize| String::from_utf8(take(*length)).expect("text");
        let phrases: Vec<String> = lengths.iter().map(text).collect();
        let percents = take(n);
        let mut shown: Vec<String> = percents
            .into_iter()
            .map(|percent| {
                let said: Vec<usize> = (0..4).map(|_| varint(&mut take)).collect();
                let said: Vec<&str> = said
                    .iter()
                    .map(|&part| part.checked_sub(1).map_or("", |at| phrases[at].as_str()))
                    .collect();
                let mut because: Vec<&str> = said[..3].to_vec();
                because.retain(|part| !part.is_empty());
                let listed = match because.pop() {
                    None => String::new(),
                    Some(last) if because.is_empty() => format!(" because {last}"),
                    Some(last) => format!(" because {} and {last}", because.join(", ")),
                };
                format!("({percent} %){listed}. {}", said[3])
            })
            .collect();
        // What follows the name of the role, and its number in brackets if it has one.
        let command = |node: u32| {
            let text = found.1.explain(node, "n").text;
            let percent = text.find(" %").expect("a membership");
            text[text[..percent].rfind('(').expect("its bracket")..].to_owned()
        };
        let mut told: Vec<String> = (0..n as u32).map(command).collect();
        shown.sort();
        told.sort();
        assert_eq!(shown, told);
    }
}

#[test]
fn the_same_page_for_any_number_of_threads() {
    let graph = builtin("karate").expect("built in");
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| {
            map(&graph, &parts(&graph), Vec::new())
                .html(&Silent)
                .expect("a page")
        })
    };
    assert!(with(1) == with(7));
}

#[test]
fn tiny_graphs_and_parts_that_do_not_fit() {
    for (nodes, edges) in [(1, vec![]), (2, vec![(0, 1)]), (5, vec![])] {
        let graph = GraphBuilder::undirected(nodes)
            .edges(edges)
            .build()
            .expect("a graph");
        let found = parts(&graph);
        assert!(map(&graph, &found, Vec::new()).html(&Silent).is_ok());
        assert!(map(&graph, &found, Vec::new()).svg().is_ok());
        assert!(map(&graph, &found, Vec::new()).png(64).is_ok());
        let wrong = Colour::Numbers {
            name: "age".into(),
            values: vec![1.0; nodes + 1],
        };
        let error = map(&graph, &found, vec![wrong])
            .html(&Silent)
            .expect_err("one too many")
            .to_string();
        assert!(error.contains("age"), "{error}");
    }
}

#[test]
fn pictures_are_well_formed() {
    let graph = builtin("karate").expect("built in");
    let found = parts(&graph);
    let svg = map(&graph, &found, Vec::new()).svg().expect("a picture");
    assert!(svg.matches("<circle").count() >= 34 && svg.ends_with("</svg>\n"));
    let png = map(&graph, &found, Vec::new()).png(200).expect("a picture");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&png[16..24], [0, 0, 0, 200, 0, 0, 0, 163]);
    assert!(map(&graph, &found, Vec::new()).png(5).is_err());
}

#[test]
fn labels_and_attributes_become_colours() {
    let folder = tempfile::tempdir().expect("a folder");
    let ids = NodeIds::from_texts(&["a", "b", "c", "d"]);
    let labels = folder.path().join("labels.tsv");
    std::fs::write(&labels, "a\t3\nb\t1\nc\t3\n").expect("written");
    let (colours, _) = read_labels(&labels, &ids, None, &Silent).expect("labels");
    let [Colour::Categories { names, of, .. }] = &colours[..] else {
        panic!("{colours:?}")
    };
    assert_eq!(
        of.iter()
            .map(|&k| names[k as usize].as_str())
            .collect::<Vec<_>>(),
        ["3", "1", "3", "(none)"]
    );
    // Several labels per node, as in files of `hone eval`; a comma in a name is no list.
    for (text, expected) in [
        ("a\t3,1\nb\t1\nc\t3\nd\t1,3\n", ["3", "1", "3", "1"]),
        (
            "a\tX, Y\nb\tZ, W\nc\tX, Y\nd\tZ, W\n",
            ["X, Y", "Z, W", "X, Y", "Z, W"],
        ),
    ] {
        std::fs::write(&labels, text).expect("written");
        let (colours, _) = read_labels(&labels, &ids, None, &Silent).expect("labels");
        let [Colour::Categories { names, of, .. }] = &colours[..] else {
            panic!("{colours:?}")
        };
        assert_eq!(
            of.iter()
                .map(|&k| names[k as usize].as_str())
                .collect::<Vec<_>>(),
            expected
        );
    }
    let people = folder.path().join("people.csv");
    // A missing number stays missing, and a mixture of numbers and words is words.
    std::fs::write(&people, "id,age,when\na,30,2021\nb,,May\nc,25,\n").expect("written");
    let (colours, _) = read_attributes(&people, &ids, None, &Silent).expect("attributes");
    let Colour::Numbers { values, .. } = &colours[0] else {
        panic!("{colours:?}")
    };
    assert_eq!(
        values
            .iter()
            .map(|value| value.is_nan())
            .collect::<Vec<_>>(),
        [false, true, false, true]
    );
    let Colour::Categories { names, of, .. } = &colours[1] else {
        panic!("{colours:?}")
    };
    assert_eq!(
        of.iter()
            .map(|&k| names[k as usize].as_str())
            .collect::<Vec<_>>(),
        ["2021", "May", "(none)", "(none)"]
    );
    std::fs::write(
        &people,
        "id,age,city\na,30,Rome\nb,20,Oslo\nc,25,Rome\nd,5,Bonn\n",
    )
    .expect("written");
    let (colours, _) = read_attributes(&people, &ids, None, &Silent).expect("attributes");
    assert_eq!(
        colours[0],
        Colour::Numbers {
            name: "age".into(),
            values: vec![30.0, 20.0, 25.0, 5.0]
        }
    );
    let Colour::Categories { name, names, of } = &colours[1] else {
        panic!("{colours:?}")
    };
    assert_eq!(
        (name.as_str(), names[of[3] as usize].as_str()),
        ("city", "Bonn")
    );
}

/// What `hone similar` says of a node is what its page says, far below −1 too.
#[test]
fn similarities_of_any_size_are_packed() {
    let graph = builtin("karate").expect("built in");
    let roles = RoleOptions::default().find(&graph, &Silent).expect("roles");
    let n = graph.nodes();
    let similarities: Vec<f32> = (0..n).map(|i| 1.0 - 0.37 * (i * i) as f32).collect();
    let near = |(row, &similarity)| Neighbour { row, similarity };
    let rows = (0..n as u32).map(|i| (i + 1) % n as u32);
    let neighbours = Neighbours::new(1, rows.zip(&similarities).map(near).collect());
    let map = Map {
        graph: &graph,
        title: String::new(),
        // All in one place: pages have the nodes in their own order.
        positions: &Block::zeros(n, 2),
        roles: &roles,
        neighbours: Some(&neighbours),
        colours: Vec::new(),
    };
    let (mut numbers, mut value, mut bits) = (Vec::new(), 0u64, 0);
    for byte in section(&map.html(&Silent).expect("a page"), "near") {
        value |= u64::from(byte & 127) << bits;
        bits += 7;
        if byte < 128 {
            numbers.push((value >> 1) as i64 ^ -((value & 1) as i64));
            (value, bits) = (0, 0);
        }
    }
    assert_eq!(numbers.len(), 2 * n);
    assert!(numbers[..n - 1].iter().all(|&step| step == 1));
    for (&code, similarity) in numbers[n..].iter().zip(similarities) {
        assert_eq!(
            format!("{:.2}", code as f64 / 100.0),
            format!("{similarity:.2}")
        );
    }
}
