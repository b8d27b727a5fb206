//! The arguments of `catapults wcet`.

use super::{FrameworkOption, whole};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Bound how long each handler of a policy takes, in steps or in clocks
///
/// Prints for each event, and each query, the most steps that its handler takes: as a formula in the number of threads, and for
/// the numbers given. A step is a statement, a part of an expression, a turn of a loop, or a level of a sorted container
/// (docs/wcet.md); how long one takes depends on the host. What has no bound is an error.
///
/// Exit status: 0 each has a bound; 1 one has none, or the policy is refused; 2 wrong usage.
#[derive(Args)]
pub struct Wcet {
    #[command(flatten)]
    pub framework: FrameworkOption,
    /// How many threads live at the most; by default as many as the framework can have, or 16
    #[arg(long, value_name = "N", value_parser = whole::<u64, 1, 1_000_000>, allow_negative_numbers = true)]
    pub threads: Option<u64>,
    /// How many nodes there are at the most, for a policy with nodes; by default 16
    #[arg(long, value_name = "N", value_parser = whole::<u64, 1, 1_000_000>, allow_negative_numbers = true)]
    pub nodes: Option<u64>,
    /// What is counted
    #[arg(long, value_enum, default_value = "steps")]
    pub unit: WcetUnit,
    /// Print the path that takes longest in this event or query, or with clocks in this function, with the lines of the policy
    #[arg(long, value_name = "EVENT")]
    pub explain: Option<String>,
    /// The policy (.sched)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// What bounds count.
#[derive(Clone, Copy, ValueEnum)]
pub enum WcetUnit {
    /// Steps of a handler, which are the same on every host
    Steps,
    /// Clocks of the processor, for each function of the host that raises events, if the framework builds images of its code
    Clocks,
}
