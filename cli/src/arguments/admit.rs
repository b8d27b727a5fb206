//! The arguments of `catapults admit`.

use super::{FrameworkOption, whole};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Judge whether a set of tasks keeps its deadlines, without running it
///
/// The analysis is printed: a row for each task, each test with what it found and its limit, and the verdict
/// (docs/realtime.md). All of it is exact; what would take too long is not admitted.
///
/// Exit status: 0 admitted; 4 not admitted; 1 the file cannot be read or judged; 2 wrong usage.
#[derive(Args)]
pub struct Admit {
    #[command(flatten)]
    pub framework: FrameworkOption,
    /// Which task is first: the shortest period (rm), the shortest deadline (dm), the highest priority of the file, the
    /// job that is due first (edf), or the one that can wait least (llf)
    ///
    /// By default that which the file says, or its scenario's policy.
    #[arg(long, value_enum, value_name = "ORDER")]
    pub policy: Option<OrderName>,
    /// On how many processors, whatever the file says
    #[arg(long, value_name = "N", value_parser = whole::<u32, 1, 1024>, allow_negative_numbers = true)]
    pub processors: Option<u32>,
    /// Each task stays on one processor: the first on which it fits
    #[arg(long)]
    pub partitioned: bool,
    /// In what times without a unit are
    #[arg(long, value_enum, value_name = "UNIT", default_value = "ms")]
    pub unit: UnitName,
    /// Judge only the scenario with this name
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
    /// Also write the set for POET, which makes certificates that Prosa's proofs check
    #[arg(long, value_name = "FILE.yaml")]
    pub poet: Option<PathBuf>,
    /// The tasks: POET's YAML (.yaml), a table with a line of names (.csv), a scenario (.scenario), or a workload of
    /// rt-app (.json)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Which task is first.
#[derive(Clone, Copy, ValueEnum)]
pub enum OrderName {
    Rm,
    Dm,
    #[value(alias = "fixed_priority", alias = "fp")]
    Priority,
    Edf,
    Llf,
}

/// In what a number is.
#[derive(Clone, Copy, ValueEnum)]
pub enum UnitName {
    Ns,
    Us,
    Ms,
    S,
}
