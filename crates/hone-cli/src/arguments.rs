//! Options of several commands, each declared once: a command flattens those that it has.

use hone::motif::Sample;

/// What becomes of files that exist.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct ReplaceArgs {
    /// Replace output files that exist.
    #[arg(short, long, global = true)]
    pub(crate) force: bool,
}

/// Where random numbers begin.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct SeedArgs {
    /// Seed of all random numbers [default: 0].
    #[arg(long, global = true, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// How motifs are counted where exact counts take too long.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SampleArgs {
    /// Estimate motif counts from at most cap=64 (4 to 1024) neighbours per node, or with error=0.1,confidence=0.95,
    /// which tries several caps: for graphs with hubs that take minutes to count [default: exact].
    #[arg(long, value_name = "HOW")]
    pub(crate) sample: Option<Sample>,
    #[command(flatten)]
    pub(crate) seed: SeedArgs,
}
