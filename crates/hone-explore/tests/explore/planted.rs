//! Graphs with known roles: stars, cliques, chains and bridges, joined at random.

use hone::graph::{Graph, GraphBuilder};
use hone::random::Key;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

/// How many of each; bridges besides those that join everything.
pub(crate) struct Design {
    pub(crate) stars: usize,
    pub(crate) cliques: usize,
    pub(crate) chains: usize,
    pub(crate) bridges: usize,
}

pub(crate) struct Planted {
    pub(crate) graph: Graph,
    /// The word that each node was planted with.
    pub(crate) words: Vec<&'static str>,
}

struct Builder {
    rng: Xoshiro256PlusPlus,
    edges: Vec<(u32, u32)>,
    words: Vec<&'static str>,
    /// Nodes that others may be joined to, by dense part.
    parts: Vec<Vec<u32>>,
}

impl Builder {
    fn below(&mut self, n: usize) -> usize {
        (self.rng.next_u64() % n as u64) as usize
    }

    fn node(&mut self, word: &'static str) -> u32 {
        self.words.push(word);
        self.words.len() as u32 - 1
    }

    fn some(&mut self, part: usize) -> u32 {
        let at = self.below(self.parts[part].len());
        self.parts[part][at]
    }

    fn star(&mut self) {
        let centre = self.node("star centre");
        for _ in 0..10 + self.below(6) {
            let leaf = self.node("star leaf");
            self.edges.push((centre, leaf));
        }
        self.parts.push(vec![centre]);
    }

    fn clique(&mut self) {
        let members: Vec<u32> = (0..7 + self.below(3))
            .map(|_| self.node("clique member"))
            .collect();
        for (at, &a) in members.iter().enumerate() {
            self.edges.extend(members[..at].iter().map(|&b| (a, b)));
        }
        self.parts.push(members);
    }

    /// A node between two parts.
    fn bridge(&mut self, a: usize, b: usize) {
        let (bridge, a, b) = (self.node("bridge"), self.some(a), self.some(b));
        self.edges.extend([(bridge, a), (bridge, b)]);
    }

    /// A path between two parts, joined to both by a bridge.
    fn chain(&mut self, a: usize, b: usize) {
        let mut last = self.some(a);
        let length = 15 + self.below(10);
        for at in 0..length {
            let next = self.node(if at == 0 || at + 1 == length {
                "bridge"
            } else {
                "chain"
            });
            self.edges.push((last, next));
            last = next;
        }
        let end = self.some(b);
        self.edges.push((last, end));
    }
}

pub(crate) fn planted(design: &Design, seed: u64) -> Planted {
    let rng = Key::new(seed).with("planted", 0).rng();
    let mut builder = Builder {
        rng,
        edges: Vec::new(),
        words: Vec::new(),
        parts: Vec::new(),
    };
    (0..design.stars).for_each(|_| builder.star());
    (0..design.cliques).for_each(|_| builder.clique());
    let parts = builder.parts.len();
    for part in 1..parts {
        let earlier = builder.below(part);
        builder.bridge(part, earlier);
    }
    for _ in 0..design.bridges {
        let (a, b) = (builder.below(parts), builder.below(parts));
        builder.bridge(a, if a == b { (b + 1) % parts } else { b });
    }
    for _ in 0..design.chains {
        let (a, b) = (builder.below(parts), builder.below(parts));
        builder.chain(a, if a == b { (b + 1) % parts } else { b });
    }
    let nodes = builder.words.len();
    let graph = GraphBuilder::undirected(nodes)
        .edges(builder.edges)
        .build()
        .expect("a simple graph");
    Planted {
        graph,
        words: builder.words,
    }
}
