//! Names of roles, from the ratios of their typical node, in the terms of the field.
//!
//! | name | what it says |
//! |---|---|
//! | isolated | no neighbours |
//! | star leaf | one neighbour, which has many others that are not linked |
//! | periphery | one neighbour, in a dense part; or few neighbours and nothing else that stands out |
//! | chain end | one neighbour, which has few others |
//! | chain | two neighbours or so, that have as few |
//! | bridge | few neighbours, not linked, that have many |
//! | star centre | many neighbours, not linked, that have few |
//! | hub | at least twice as many neighbours as the average node, and 1.5 times as many as its own neighbours have |
//! | clique member | nearly all neighbours linked to each other, in cliques of four |
//! | near-clique | more than half of the pairs of neighbours linked |
//! | triangle corner | the same with few neighbours |
//! | community member | a good part of the pairs of neighbours linked |
//! | core | more neighbours than the average node, that have many |
//! | connector | neighbours that are not linked, as many as they have |
//!
//! In a directed graph with one-way arcs a prefix is added to these names, for nodes to which it applies:
//!
//! | | |
//! |---|---|
//! | source | arcs lead to at least three quarters of the neighbours, and none back |
//! | sink | arcs come from at least three quarters of the neighbours, and none leads back |
//! | mutual | arcs both ways with more than half of the neighbours |
//! | broker | none of these, and neighbours that are mostly not linked: arcs come from some and lead to others |

use super::signature::Signature;

/// Share of neighbours on one side from which a node is a source or a sink.
const ONE_SIDED: f64 = 0.75;

/// The name for the ratios of a typical node of a graph with one-way arcs.
pub(crate) fn name_of_arcs(ratios: &Signature, mean_degree: f64) -> String {
    let [degree, _, closed, .., out, into] = *ratios;
    let name = name(ratios, mean_degree);
    let word = if degree < 0.75 {
        return name.to_owned();
    } else if out >= ONE_SIDED {
        "source"
    } else if into >= ONE_SIDED {
        "sink"
    } else if out + into < 0.5 {
        "mutual"
    } else if closed < 0.5 && degree >= 1.5 {
        "broker"
    } else {
        return name.to_owned();
    };
    format!("{word} {name}")
}

/// The name for the ratios of a typical node (see `signature`), in a graph of this mean degree, directions aside.
pub(crate) fn name(ratios: &Signature, mean_degree: f64) -> &'static str {
    let [degree, around, closed, open, closed_around, cliques, ..] = *ratios;
    if degree < 0.75 {
        return "isolated";
    }
    if degree < 1.5 && closed < 0.25 && open < 0.5 {
        return leaf(around, closed_around);
    }
    if closed < 0.2 && degree >= 3.5 && around < degree / 2.0 && around < 3.0 {
        return "star centre";
    }
    if is_hub(ratios, mean_degree) {
        return "hub";
    }
    if closed >= 0.7 && cliques >= 0.4 && degree >= 3.0 {
        return "clique member";
    }
    if closed >= 0.5 {
        return if degree < 3.0 {
            "triangle corner"
        } else {
            "near-clique"
        };
    }
    if closed < 0.2 {
        return sparse(degree, around, mean_degree);
    }
    if degree > 1.5 * mean_degree {
        "core"
    } else {
        "community member"
    }
}

/// How many times the degree of the average node, and of its own neighbours, a hub has.
const FAR: f64 = 2.0;
const ABOVE: f64 = 1.5;

/// Whether these are the ratios of a hub, in a graph of this mean degree.
pub(super) fn is_hub(ratios: &Signature, mean_degree: f64) -> bool {
    let [degree, around, ..] = *ratios;
    degree >= 3.0 && degree >= FAR * mean_degree && degree >= ABOVE * around
}

/// Of nodes with one neighbour.
fn leaf(around: f64, closed_around: f64) -> &'static str {
    if closed_around > 0.25 {
        "periphery"
    } else if around > 3.0 {
        "star leaf"
    } else {
        "chain end"
    }
}

/// Of nodes whose neighbours are not linked.
fn sparse(degree: f64, around: f64, mean_degree: f64) -> &'static str {
    if degree < 2.6 && around < 3.0 {
        "chain"
    } else if degree < 5.0 && around > 2.0 * degree {
        "bridge"
    } else if degree > 1.5 * mean_degree {
        "core"
    } else if degree < mean_degree / 2.0 {
        "periphery"
    } else {
        "connector"
    }
}

/// Numbers those that share a name.
pub(crate) fn numbered(names: &[String]) -> Vec<String> {
    let number = |at: usize| {
        names[..=at]
            .iter()
            .filter(|name| **name == names[at])
            .count()
    };
    let alone = |at: usize| names.iter().filter(|name| **name == names[at]).count() == 1;
    let full = |at: usize| {
        if alone(at) {
            names[at].clone()
        } else {
            format!("{} {}", names[at], number(at))
        }
    };
    (0..names.len()).map(full).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typical_nodes_have_their_names() {
        let cases = [
            ([0.0; 8], "isolated"),
            ([1.0, 13.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "star leaf"),
            ([1.0, 8.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], "periphery"),
            ([1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "chain end"),
            ([2.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], "chain"),
            ([2.0, 9.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0], "bridge"),
            ([12.0, 1.2, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], "star centre"),
            ([7.2, 7.1, 0.92, 0.08, 0.0, 0.87, 0.0, 0.0], "clique member"),
            ([7.0, 7.0, 0.6, 0.4, 0.0, 0.2, 0.0, 0.0], "near-clique"),
            ([2.0, 5.0, 1.0, 0.0, 0.5, 0.0, 0.0, 0.0], "triangle corner"),
            ([40.0, 9.0, 0.1, 0.9, 0.3, 0.02, 0.0, 0.0], "hub"),
        ];
        for (ratios, expected) in cases {
            assert_eq!(name(&ratios, 4.0), expected, "{ratios:?}");
        }
        assert_eq!(
            numbered(&["hub", "chain", "hub"].map(str::to_owned)),
            ["hub 1", "chain", "hub 2"]
        );
    }

    #[test]
    fn directions_go_before_the_names() {
        let cases = [
            ([0.0; 8], "isolated"),
            (
                [1.0, 13.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
                "source star leaf",
            ),
            ([1.0, 13.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], "sink star leaf"),
            ([2.0, 9.0, 0.0, 1.0, 0.5, 0.0, 0.5, 0.5], "broker bridge"),
            ([40.0, 9.0, 0.1, 0.9, 0.3, 0.02, 0.1, 0.9], "sink hub"),
            (
                [7.2, 7.1, 0.92, 0.08, 0.0, 0.87, 0.1, 0.1],
                "mutual clique member",
            ),
            ([7.2, 7.1, 0.92, 0.08, 0.0, 0.87, 0.5, 0.5], "clique member"),
        ];
        for (ratios, expected) in cases {
            assert_eq!(name_of_arcs(&ratios, 4.0), expected, "{ratios:?}");
        }
    }
}
