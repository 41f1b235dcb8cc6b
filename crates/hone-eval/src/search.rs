//! On which splits the options of a method are searched.
//!
//! A grid costs one embedding per candidate and split: 250 trainings of node2vec for 25 pairs (p, q) and ten seeds. The
//! paper, and node2vec before it, search once per graph. [`Search::Once`] does the same on a split that no table
//! shows, and keeps the candidates that won there; each split of the tables then chooses among those alone.

use hone::Result;

use crate::method::{Kind, Method};

/// On which splits the options of a method are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Search {
    /// On every split, by its own validation.
    #[default]
    Every,
    /// On one split per graph, whose seed comes just before the first.
    Once,
}

impl Search {
    /// The methods, with fewer candidates where one split is searched for all. `winners` tells, for methods that have
    /// several candidates and the seed of that split, which won; none of a method that failed, which keeps them all.
    pub(crate) fn narrow(
        self,
        methods: &[Method],
        first_seed: u64,
        winners: impl FnOnce(&[Method], u64) -> Result<Vec<Vec<String>>>,
    ) -> Result<Vec<Method>> {
        let several: Vec<Method> = methods
            .iter()
            .filter(|method| method.candidates().len() > 1)
            .cloned()
            .collect();
        if self == Search::Every || several.is_empty() {
            return Ok(methods.to_vec());
        }
        let won = winners(&several, first_seed.saturating_sub(1))?;
        let narrowed = |method: &Method| match several.iter().position(|other| other == method) {
            Some(at) if !won[at].is_empty() => keep(method, &won[at]),
            _ => method.clone(),
        };
        Ok(methods.iter().map(narrowed).collect())
    }
}

/// The method with the candidates named in `won` alone.
fn keep(method: &Method, won: &[String]) -> Method {
    let kept = method
        .candidates()
        .iter()
        .filter(|candidate| won.contains(&candidate.0))
        .cloned()
        .collect();
    Method {
        name: method.name.clone(),
        kind: Kind::Vectors(kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn winners_of_the_split_before_the_first_are_kept() {
        let methods =
            ["degree", "hone-w:steps=1|2|3"].map(|text| Method::parse(text).expect("well formed"));
        let narrowed = Search::Once.narrow(&methods, 101, |several, seed| {
            assert_eq!((several.len(), seed), (1, 100));
            Ok(vec![vec!["steps=2".to_string(), "steps=2".to_string()]])
        });
        let narrowed = narrowed.expect("narrowed");
        assert_eq!(narrowed[0], methods[0]);
        assert_eq!(narrowed[1].name, methods[1].name);
        assert_eq!(narrowed[1].candidates(), &methods[1].candidates()[1..2]);
        let all = Search::Every
            .narrow(&methods, 101, |_, _| panic!("nothing is searched"))
            .expect("as it was");
        assert_eq!(all, methods);
    }
}
