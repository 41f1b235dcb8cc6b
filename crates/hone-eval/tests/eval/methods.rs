//! Methods by name: lists, options, grids, and slips.

use hone_eval::baseline::Node2Vec;
use hone_eval::method::{Embedder, Method, registry, split_list};

fn candidates(text: &str, grid: bool) -> Vec<(String, Embedder)> {
    let method = Method::parse_searched(text, grid).expect("well formed");
    method.candidates
}

#[test]
fn options_stay_with_their_method() {
    assert_eq!(
        split_list("hone-p,node2vec:p=0.5|2,q=1, degree"),
        ["hone-p", "node2vec:p=0.5|2,q=1", "degree"]
    );
    assert_eq!(split_list("a,b"), ["a", "b"]);
}

#[test]
fn every_name_of_the_registry_is_built() {
    for (name, _) in registry() {
        Method::parse(&name).expect("built");
        Method::parse_searched(&name, true).expect("built");
    }
    assert_eq!(candidates("hone-w", true).len(), 4);
    assert_eq!(candidates("node2vec", true).len(), 25);
    assert_eq!(candidates("node2vec:p=2", true).len(), 5);
    assert_eq!(candidates("node2vec", false).len(), 1);
}

#[test]
fn options_are_set_and_multiplied() {
    let found = candidates("node2vec:p=0.5|2,dim=64", false);
    assert_eq!(found[1].0, "p=2,dim=64");
    assert_eq!(
        found[1].1,
        Embedder::Node2Vec(Node2Vec {
            p: 2.0,
            dim: 64,
            ..Node2Vec::default()
        })
    );
}

#[test]
fn presets_take_the_names_that_others_take() {
    for (short, dotted) in [
        ("hone-p:dim=32", "hone-p:global.dim=32"),
        ("hone:dim=64|128", "hone:global.dim=64|128"),
        (
            "hone-w:local-dim=8,solver=als",
            "hone-w:local.dim=8,local.solver.method=als,global.solver.method=als",
        ),
        (
            "hone-p:solver=autoencoder",
            "hone-p:global.solver.method=autoencoder",
        ),
        ("hone-p:vectors=local", "hone-p:global.output=local"),
    ] {
        let of = |text| {
            candidates(text, false)
                .into_iter()
                .map(|c| c.1)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(short), of(dotted), "{short}");
    }
}

#[test]
fn a_method_keeps_options_that_are_given_before_it() {
    let found = candidates(
        "hone-p:local.solver.sweeps=3,local.solver.method=ccd",
        false,
    );
    assert_eq!(
        found[0].1,
        candidates(
            "hone-p:local.solver.method=ccd,local.solver.sweeps=3",
            false
        )[0]
        .1
    );
}

#[test]
fn slips_are_named() {
    for (text, part) in [
        (
            "node3vec",
            "`node3vec` is not a method; did you mean `node2vec`?",
        ),
        (
            "node2vec:wlks=1",
            "`node2vec`: `wlks` is not a setting here; did you mean `walks`?",
        ),
        ("node2vec:p=x", "found string \"x\", expected a number"),
        ("line:dim", "`dim` is not key=value"),
        (
            "hone-w:psy=1",
            "`hone-w`: psy: there is no such setting; did you mean `psi`?",
        ),
        (
            "hone:stps=2",
            "`hone`: stps: there is no such setting; did you mean `steps`?",
        ),
        (
            "node2vec:dim=0",
            "`node2vec`: dim is 0; must be from 1 to 65536",
        ),
        (
            "node2vec:dim=18446744073709551615",
            "`node2vec`: dim is 18446744073709551615",
        ),
        ("deepwalk:walks=9223372036854775807", "`deepwalk`: walks is"),
        (
            "node2vec:length=1",
            "`node2vec`: length is 1; must be from 2",
        ),
        ("node2vec:window=99999999999", "`node2vec`: window is"),
        ("node2vec:epochs=99999999999", "`node2vec`: epochs is"),
        ("node2vec:negatives=99999999999", "`node2vec`: negatives is"),
        ("node2vec:p=0", "`node2vec`: p is 0"),
        ("line:samples=18446744073709551615", "`line`: samples is"),
        ("line-both:dim=1", "`line-both`: dim is 1; must be from 2"),
        (
            "grarep:steps=17",
            "`grarep`: steps is 17; must be from 1 to 16",
        ),
        ("netmf:window=0", "`netmf`: window is 0; must be from 1"),
        ("netmf:rank=0", "`netmf`: rank is 0"),
        ("prone:order=1", "`prone`: order is 1; must be from 2"),
        ("prone:theta=-1", "`prone`: theta is -1"),
        (
            "hope:decay=1",
            "`hope`: decay is 1; must be between 0 and 1",
        ),
        ("hope:dim=1", "`hope`: dim is 1; must be from 2"),
        ("rolx:share=1", "`rolx`: share is 1"),
        ("rolx:values=squares", "use one of bins, logs"),
        ("rolx:depth=9", "`rolx`: depth is 9; must be from 0 to 8"),
        ("graphwave:scales=0", "`graphwave`: scales is 0"),
        ("graphwave:dim=8", "`dim` is not a setting here; use one of"),
        ("spectral:dim=99999999", "`spectral`: dim is"),
        ("random:dim=99999999", "`random`: dim is"),
        (
            "degree:columns=9",
            "`degree`: columns is 9; must be from 1 to 8",
        ),
        (
            "hone-w:dim=0",
            "`hone-w`: global.dim: 0 is not between 1 and 65536",
        ),
        ("hone-w:seed=3", "its own seed"),
        ("katz:beta=1", "no option `beta`"),
        ("degree:dim=1", "`dim` is not a setting here"),
    ] {
        let error = Method::parse(text).expect_err("refused").to_string();
        assert!(error.contains(part), "{error}");
    }
}
