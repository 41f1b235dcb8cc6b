//! Motif sets as they are written in configurations and options.

use hone_graph::motif::{Graphlet, Motif, MotifSet, Orbit};
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Config {
    motifs: MotifSet,
}

fn names(set: &MotifSet) -> Vec<&'static str> {
    set.motifs().into_iter().map(Motif::name).collect()
}

fn parse(text: &str) -> MotifSet {
    text.parse().expect("a set")
}

#[test]
fn words_lists_and_sizes() {
    assert_eq!(parse("all"), MotifSet::Orbits);
    assert_eq!(parse("orbits").motifs().len(), 13);
    assert_eq!(
        names(&parse("graphlets")),
        Graphlet::ALL.map(Graphlet::name)
    );
    assert_eq!(names(&parse("size3")), ["edge", "path3", "triangle"]);
    assert_eq!(names(&parse("clique4, triangle")), ["clique4", "triangle"]);
    assert_eq!(
        names(&parse("graphlets").at_most(3)),
        ["edge", "path3", "triangle"]
    );
    assert_eq!(names(&parse("path4").at_most(3)), [""; 0]);
    assert_eq!(MotifSet::default(), MotifSet::Orbits);
}

#[test]
fn survives_a_configuration_file() {
    for text in [
        "all",
        "graphlets",
        "size2",
        "edge",
        "diamond,tailed-far,edge",
    ] {
        let config = Config {
            motifs: parse(text),
        };
        let written = toml::to_string(&config).expect("toml");
        assert_eq!(
            toml::from_str::<Config>(&written).expect("the same"),
            config,
            "{written}"
        );
        let written = serde_json::to_string(&config).expect("json");
        assert_eq!(
            serde_json::from_str::<Config>(&written).expect("the same"),
            config,
            "{written}"
        );
    }
    let sized: Config = toml::from_str("motifs = { size = 3 }").expect("a size");
    assert_eq!(sized.motifs, MotifSet::Size(3));
}

#[test]
fn errors_say_what_there_is() {
    let message = |text: &str| text.parse::<MotifSet>().expect_err(text).to_string();
    let unknown = message("edge,hexagon");
    assert!(unknown.contains("`hexagon`"), "{unknown}");
    assert!(
        unknown.contains("`motif::catalogue` lists all"),
        "{unknown}"
    );
    for (word, name) in [
        ("wedge", "path3"),
        ("Square", "cycle4"),
        ("4-clique", "clique4"),
        ("paw", "tailed-triangle"),
        ("feed-forward", "030T"),
    ] {
        let (unknown, known) = (message(word), name.parse::<Motif>().is_ok());
        assert!(
            known && unknown.contains(&format!("did you mean `{name}`?")),
            "{unknown}"
        );
    }
    assert!(message("edge,edge").contains("twice"));
    assert!(message("").contains("no motif is left"));
    assert!(message("size5").contains("2, 3 or 4"));
    let file = toml::from_str::<Config>("motifs = [\"edge\", \"tringle\"]")
        .expect_err("unknown")
        .to_string();
    assert!(file.contains("`tringle` is not a motif"), "{file}");
    assert!(toml::from_str::<Config>("motifs = { sise = 3 }").is_err());
    assert!(toml::from_str::<Config>("motifs = []").is_err());
}

#[test]
fn a_graphlet_weighs_what_its_orbits_weigh() {
    let counts: [u64; 13] = std::array::from_fn(|i| 1 << i);
    assert_eq!(
        "path4".parse::<Motif>().expect("a motif").weight(&counts),
        Some(8 + 16)
    );
    assert_eq!(
        "tailed-triangle"
            .parse::<Motif>()
            .expect("a motif")
            .weight(&counts),
        Some(128 + 256 + 512)
    );
    assert_eq!(
        "diamond".parse::<Motif>().expect("a motif").weight(&counts),
        Some(1024 + 2048)
    );
    assert_eq!(
        Motif::Graphlet(Graphlet::Path4).weight(&[u64::MAX; 13]),
        None
    );
    for orbit in Orbit::ALL {
        assert!(orbit.graphlet().orbits().contains(&orbit));
        assert_eq!(
            Motif::Orbit(orbit).weight(&counts),
            Some(1 << orbit.index())
        );
    }
}
