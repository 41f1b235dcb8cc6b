//! [`Device`]: the device that a user chooses.

use std::fmt;
use std::str::FromStr;

use hone::engine::{Engine, Largest};
use hone::graph::Graph;
use hone::motif::Pairs;
use hone::{Config, Hone, Result};

use crate::Cuda;

/// Edges of a graph from which a GPU is used unless the user chooses otherwise: below, opening it takes longer than the work.
pub const LARGE: usize = 1_000_000;

/// Blocks as wide as the factors, and columns beside these, that no factorisation exceeds.
const BLOCKS: u64 = 8;
const BESIDE: u64 = 32;

/// The device on which the work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Device {
    /// The threads of this process.
    Cpu,
    /// The GPU with this number.
    Cuda(usize),
    /// The first GPU if there is one, else the threads of this process.
    Auto,
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.strip_prefix("cuda:")
                .and_then(|number| number.parse().ok())
        };
        match text {
            "cpu" => Ok(Device::Cpu),
            "cuda" => Ok(Device::Cuda(0)),
            "auto" => Ok(Device::Auto),
            other => number(other)
                .map(Device::Cuda)
                .ok_or_else(|| "use one of cpu, cuda, cuda:N (N from 0), auto".into()),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
            Device::Auto => f.write_str("auto"),
        }
    }
}

/// A device that is ready, or the threads of this process.
#[derive(Debug)]
pub struct Opened {
    cuda: Option<Cuda>,
    /// Why `auto` fell back to this process, if it did.
    pub note: Option<String>,
}

impl Device {
    /// Opens the device for work with these settings; `auto` never fails.
    pub fn open(self, config: &Config) -> Result<Opened> {
        let ready =
            |ordinal: usize| Cuda::open(ordinal).and_then(|cuda| cuda.check(config).map(|()| cuda));
        match self {
            Device::Cpu => Ok(Opened {
                cuda: None,
                note: None,
            }),
            Device::Cuda(ordinal) => Ok(Opened {
                cuda: Some(ready(ordinal)?),
                note: None,
            }),
            Device::Auto => Ok(match ready(0) {
                Ok(cuda) => Opened {
                    cuda: Some(cuda),
                    note: None,
                },
                Err(error) => Opened {
                    cuda: None,
                    note: Some(format!("using the CPU: {error}")),
                },
            }),
        }
    }
}

impl Opened {
    /// What is used for a graph when the user chooses no device: the first GPU for graphs of at least [`LARGE`] edges, if there is one
    /// with the solvers of the settings and enough free memory; else the threads of this process.
    pub fn for_graph(config: &Config, graph: &Graph) -> Opened {
        let columns =
            BLOCKS * (config.local_dim() as u64 + BESIDE) + config.log_window_dim(graph) as u64;
        let (rows, nonzeros) = (graph.nodes() as u64, 2 * graph.pattern().nnz() as u64);
        let largest = Largest {
            rows,
            nonzeros,
            columns,
            least_columns: columns,
        };
        let usable = |opened: &Opened| {
            opened
                .cuda
                .as_ref()
                .is_some_and(|cuda| cuda.plan(&largest).is_ok())
        };
        // How many pairs share a motif is not known yet.
        let suitable = graph.edges() >= LARGE && config.pairs == Pairs::Edges;
        let opened = suitable.then(|| Device::Auto.open(config).ok()).flatten();
        opened.filter(usable).unwrap_or(Opened {
            cuda: None,
            note: None,
        })
    }

    /// Runs the work on it.
    #[must_use]
    pub fn place(self, hone: Hone) -> Hone {
        match self.cuda {
            Some(cuda) => hone.on(cuda),
            None => hone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names() {
        for (text, device) in [
            ("cpu", Device::Cpu),
            ("cuda:0", Device::Cuda(0)),
            ("cuda:7", Device::Cuda(7)),
            ("auto", Device::Auto),
        ] {
            assert_eq!(
                (text.parse(), device.to_string().as_str()),
                (Ok(device), text)
            );
        }
        assert_eq!("cuda".parse(), Ok(Device::Cuda(0)));
        for wrong in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "CUDA", "cuda:0 "] {
            let error = wrong.parse::<Device>().expect_err(wrong);
            assert!(error.contains("cpu, cuda, cuda:N"), "{error}");
        }
    }
}
