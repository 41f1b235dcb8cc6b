//! What has been tried of each target so far, in a file: so that a million inputs may take several sittings.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hone::output::{Existing, Output};
use hone::{Error, Result, record};
use serde::{Deserialize, Serialize};

/// How often the file is written meanwhile.
const OFTEN: Duration = Duration::from_secs(5);

/// What came of a target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tally {
    pub(crate) inputs: u64,
    pub(crate) accepted: u64,
    /// Different outcomes of one process, at most.
    pub(crate) outcomes: u64,
    /// The most bytes that a process held.
    pub(crate) peak: u64,
    pub(crate) seconds: f64,
    /// Processes; each has a seed of its own.
    pub(crate) rounds: u64,
    pub(crate) failures: Vec<String>,
}

impl Tally {
    /// This one, and what another process has counted.
    pub(crate) fn with(&self, [inputs, accepted, outcomes, peak]: [u64; 4], seconds: f64) -> Tally {
        Tally {
            inputs: self.inputs + inputs,
            accepted: self.accepted + accepted,
            outcomes: self.outcomes.max(outcomes),
            peak: self.peak.max(peak),
            seconds: self.seconds + seconds,
            ..self.clone()
        }
    }
}

/// The tallies of all targets.
#[derive(Debug)]
pub(crate) struct State {
    file: Option<PathBuf>,
    tallies: BTreeMap<String, Tally>,
    saved: Instant,
}

impl State {
    /// What a file says; nothing when there is none yet.
    pub(crate) fn open(file: Option<&Path>) -> Result<State> {
        let text = file.map(record::read).transpose()?.flatten();
        let tallies = text.map(|text| serde_json::from_slice(&text)).transpose();
        let wrong = |e: serde_json::Error| {
            Error::input(
                file.unwrap_or(Path::new("")),
                format!("not a state of the fuzzer: {e}"),
                "name another file",
            )
        };
        Ok(State {
            file: file.map(Path::to_path_buf),
            tallies: tallies.map_err(wrong)?.unwrap_or_default(),
            saved: Instant::now(),
        })
    }

    pub(crate) fn tally(&mut self, target: &str) -> &mut Tally {
        self.tallies.entry(target.to_owned()).or_default()
    }

    /// Writes the file unless that was done a moment ago.
    pub(crate) fn save_now_and_then(&mut self) -> Result<()> {
        if self.saved.elapsed() < OFTEN {
            Ok(())
        } else {
            self.save()
        }
    }

    pub(crate) fn save(&mut self) -> Result<()> {
        self.saved = Instant::now();
        let Some(file) = &self.file else {
            return Ok(());
        };
        let text = serde_json::to_string_pretty(&self.tallies).expect("plain data") + "\n";
        let mut output = Output::create(file, Existing::Replace)?;
        output
            .write_all(text.as_bytes())
            .map_err(|e| output.error(e))?;
        output.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_go_on_where_they_were() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("state.json");
        let mut first = State::open(Some(&file)).expect("nothing yet");
        *first.tally("edges") = Tally::default().with([10, 4, 3, 100], 1.0);
        first.tally("edges").rounds = 1;
        first.save().expect("writable");
        let mut second = State::open(Some(&file)).expect("our own");
        let before = second.tally("edges").clone();
        // Counts of a process are of all it has done, not of what is new since the last line.
        for counts in [[5, 1, 2, 90], [8, 2, 4, 120]] {
            *second.tally("edges") = before.with(counts, 2.0);
        }
        let tally = second.tally("edges").clone();
        assert_eq!(
            (
                tally.inputs,
                tally.accepted,
                tally.outcomes,
                tally.peak,
                tally.rounds
            ),
            (18, 6, 4, 120, 1)
        );
        std::fs::write(&file, "{\"edges\": 3}").expect("writable");
        assert!(State::open(Some(&file)).is_err());
    }
}
