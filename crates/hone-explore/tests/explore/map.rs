//! Maps: one file without links to anywhere, names that are never markup, pictures that are well formed.

use std::io::Read;

use hone::dense::Block;
use hone::graph::{Graph, GraphBuilder, NodeIds, builtin};
use hone::{Config, Hone, Silent};
use hone_explore::{
    By, Colour, Layout, Map, Neighbour, Neighbours, Palette, Placed, RoleOptions, Roles, Scale,
    Space, Style, read_attributes, read_labels,
};

type Parts = (Vec<(By, Placed)>, Roles);

fn parts(graph: &Graph) -> Parts {
    let embedding = Hone::new(Config::default())
        .expect("the default")
        .embed(graph, &Silent)
        .expect("vectors")
        .embedding;
    let space = |by| Space::of(&embedding, by).expect("vectors");
    let mut spaces = vec![space(By::All)];
    spaces.extend(spaces[0].beside().map(space));
    let layout = Layout {
        steps: Some(30),
        ..Layout::default()
    };
    (
        layout.of_map(&spaces, &Silent).expect("placed"),
        RoleOptions::default().find(graph, &Silent).expect("roles"),
    )
}

fn map<'a>(graph: &'a Graph, (layouts, roles): &'a Parts, colours: Vec<Colour>) -> Map<'a> {
    Map {
        graph,
        title: "</script><b>{{meta}}".into(),
        layouts,
        roles,
        colours,
        style: Style::default(),
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
    assert_eq!(svg.matches("<path").count(), 78, "the edges");
    assert!(
        svg.contains(">&lt;/script&gt;&lt;b&gt;{{meta}}</text>"),
        "the title"
    );
    let png = map(&graph, &found, Vec::new()).png(200).expect("a picture");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&png[16..24], [0, 0, 0, 200, 0, 0, 0, 169]);
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
        (names.join(" "), &of[..]),
        ("1 3".to_owned(), &[1, 0, 1, Colour::NONE][..])
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
        (names.join(" "), &of[..]),
        (
            "2021 May".to_owned(),
            &[0, 1, Colour::NONE, Colour::NONE][..]
        )
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
    // All in one place: pages have the nodes in their own order.
    let placed = Placed {
        positions: Block::zeros(n, 2),
        neighbours: Some(neighbours),
    };
    let map = Map {
        graph: &graph,
        title: String::new(),
        layouts: &[(By::All, placed)],
        roles: &roles,
        colours: Vec::new(),
        style: Style::default(),
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

/// Labels of 60 nodes, the first of which are `names`, and the picture coloured by them.
fn labelled(names: &[&str], of: &[u16], style: Style) -> String {
    let graph = GraphBuilder::undirected(of.len())
        .edges((1..of.len() as u32).map(|i| (i / 2, i)).collect())
        .build()
        .expect("a tree");
    let found = parts(&graph);
    let label = Colour::Categories {
        name: "label".into(),
        names: names.iter().map(|&name| name.to_owned()).collect(),
        of: of.to_vec(),
    };
    let mut map = map(&graph, &found, vec![label]);
    map.style = style;
    map.svg().expect("a picture")
}

/// The runs of points of a picture, as colour and number, the legend's among them.
fn runs(svg: &str) -> Vec<(String, usize)> {
    let groups = svg.split("<g fill=\"").skip(1);
    let run = |group: &str| {
        let group = group.split("</g>").next().unwrap_or_default();
        let points = group.matches("<circle").count() + group.matches("<polygon").count();
        (group.chars().take(7).collect(), points)
    };
    groups.map(run).collect()
}

#[test]
fn the_most_frequent_groups_have_colours_of_their_own() {
    // Group k has k + 1 nodes of names 0 to 10, and five have none.
    let mut of: Vec<u16> = (0..11u16)
        .flat_map(|k| vec![k; usize::from(k) + 1])
        .collect();
    of.extend([Colour::NONE; 5]);
    let names: Vec<String> = (0..11).map(|k| (20 - k).to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let svg = labelled(&names, &of, Style::default());
    let runs = runs(&svg);
    // Grey below: the others, 1 + 2 + 3 nodes, and those without. Then the largest first, so that the smallest is on top.
    let sizes: Vec<usize> = runs[..10].iter().map(|run| run.1).collect();
    assert_eq!(sizes, [6, 5, 11, 10, 9, 8, 7, 6, 5, 4]);
    assert_eq!((&runs[0].0[..], &runs[1].0[..]), ("#b4b4b4", "#b4b4b4"));
    let mut colours: Vec<&str> = runs[2..10].iter().map(|run| &*run.0).collect();
    colours.sort_unstable();
    colours.dedup();
    assert_eq!(colours.len(), 8);
    assert!(!colours.contains(&"#b4b4b4"));
    // The legend is in numeric order, the others and those without last.
    let texts: Vec<&str> = svg
        .split("<text x=\"862.0\"")
        .skip(1)
        .filter_map(|text| text.split_once('>')?.1.split_once('<'))
        .map(|text| text.0)
        .collect();
    let named = ["10", "11", "12", "13", "14", "15", "16", "17"];
    assert_eq!(texts, [&named[..], &["(other)", "(none)"]].concat());
    // Muted points are smaller.
    let radius = |colour: &str| {
        let (_, run) = svg
            .split_once(&format!("<g fill=\"{colour}\""))
            .expect("a run");
        let (_, radius) = run.split_once(" r=\"").expect("a point");
        radius
            .split('"')
            .next()
            .expect("its radius")
            .parse::<f32>()
            .expect("a number")
    };
    assert!(radius("#b4b4b4") < 0.7 * radius(colours[0]));
    let with = |style: Style| labelled(&names, &of, style);
    let shapes = with(Style {
        shapes: true,
        ..Style::default()
    });
    assert!(shapes.contains("<polygon") && !svg.contains("<polygon"));
    let plain = with(Style {
        names: false,
        ..Style::default()
    });
    assert_eq!(
        (
            plain.matches("stroke-width").count(),
            svg.matches("stroke-width").count() > 0
        ),
        (0, true)
    );
    let wrong = Style {
        point_size: f32::NAN,
        ..Style::default()
    };
    assert!(wrong.check().is_err());
}

/// Names of groups at the edges and in the corners are whole, and below the title.
#[test]
fn names_of_groups_are_inside_the_picture() {
    let graph = GraphBuilder::undirected(9).build().expect("nine nodes");
    let (mut layouts, roles) = parts(&graph);
    layouts.truncate(1);
    let coordinates = (0..9).flat_map(|i| [(i % 3) as f32, (i / 3) as f32]);
    layouts[0].1.positions = Block::from_vec(9, 2, coordinates.collect());
    let found = (layouts, roles);
    let label = Colour::Categories {
        name: "label".into(),
        names: (0..9)
            .map(|k| format!("{k} {}", "name ".repeat(20)))
            .collect(),
        of: (0..9).collect(),
    };
    let mut map = map(&graph, &found, vec![label]);
    map.style.palette = Palette::Muted;
    let svg = map.svg().expect("a picture");
    let names: Vec<[f32; 2]> = svg
        .lines()
        .filter(|line| line.contains("paint-order"))
        .map(|line| {
            let value = |name: &str| line.split(&format!(" {name}=\"")).nth(1)?.split('"').next();
            ["x", "y"].map(|name| value(name).and_then(|it| it.parse().ok()).expect("a place"))
        })
        .collect();
    assert_eq!(names.len(), 9);
    // The square of points is 800 wide, 20 from the edge; names are cut at 190, and no shorter than 170. The title ends at 30.
    for [x, y] in names {
        assert!(
            (20.0..=650.0).contains(&x) && (44.0..=850.0).contains(&y),
            "{x} {y}"
        );
    }
}

#[test]
fn skewed_numbers_are_on_a_logarithmic_scale() {
    let graph = builtin("karate").expect("built in");
    let found = parts(&graph);
    let is_log = |values: Vec<f32>, scale| {
        let numbers = Colour::Numbers {
            name: "x".into(),
            values,
        };
        let mut map = map(&graph, &found, vec![numbers]);
        map.style.colour = Some("x".into());
        map.style.scale = scale;
        map.svg().expect("a picture").contains("log scale")
    };
    let even: Vec<f32> = (0..34).map(|i| i as f32).collect();
    let skewed: Vec<f32> = (0..34).map(|i| f32::exp(i as f32 / 2.0)).collect();
    assert!(!is_log(even.clone(), Scale::Auto) && is_log(even, Scale::Log));
    assert!(is_log(skewed.clone(), Scale::Auto) && !is_log(skewed, Scale::Linear));
    // Nothing, one value, one value many times, missing and negative ones.
    for values in [
        vec![f32::NAN; 34],
        vec![7.0; 34],
        (0..34).map(|i| -(i as f32).powi(9)).collect(),
    ] {
        for scale in [Scale::Auto, Scale::Linear, Scale::Log] {
            is_log(values.clone(), scale);
        }
    }
    let mut unknown = map(&graph, &found, Vec::new());
    unknown.style.colour = Some("hight".into());
    let error = unknown.svg().expect_err("no such colour").to_string();
    assert!(
        error.contains("hight") && error.contains("degree"),
        "{error}"
    );
    assert!(unknown.html(&Silent).is_err());
}

/// Simulated with the matrices of Machado, Oliveira and Fernandes (2009), compared in Oklab, with the grey of the others.
#[test]
fn palettes_suit_every_kind_of_colour_vision() {
    const VISIONS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ];
    const CONES: [[f64; 3]; 3] = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ];
    const OKLAB: [[f64; 3]; 3] = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ];
    let times = |m: &[[f64; 3]; 3], x: [f64; 3]| {
        m.map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>())
    };
    let of: Vec<u16> = (0..9).collect();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    for (palette, least) in [
        (Palette::Distinct, 0.08),
        (Palette::OkabeIto, 0.075),
        (Palette::Muted, 0.05),
    ] {
        let style = Style {
            palette,
            ..Style::default()
        };
        let mut colours: Vec<String> = runs(&labelled(&names, &of, style))
            .into_iter()
            .map(|run| run.0)
            .chain(["#b4b4b4".to_owned()])
            .collect();
        colours.sort_unstable();
        colours.dedup();
        assert!(colours.len() >= 8);
        let seen = |colour: &String, vision| {
            let channel = |at| u32::from_str_radix(&colour[at..at + 2], 16).expect("hexadecimal");
            let linear = [1, 3, 5].map(|at| match f64::from(channel(at)) / 255.0 {
                x if x <= 0.04045 => x / 12.92,
                x => ((x + 0.055) / 1.055).powf(2.4),
            });
            let seen = times(vision, linear).map(|x| x.clamp(0.0, 1.0));
            times(&OKLAB, times(&CONES, seen).map(f64::cbrt))
        };
        for vision in &VISIONS {
            for (k, a) in colours.iter().enumerate() {
                for b in &colours[..k] {
                    let (x, y) = (seen(a, vision), seen(b, vision));
                    let far = x
                        .iter()
                        .zip(y)
                        .map(|(x, y)| (x - y).powi(2))
                        .sum::<f64>()
                        .sqrt();
                    assert!(far > least, "{palette:?}: {a} and {b} are {far} apart");
                }
            }
        }
    }
}
