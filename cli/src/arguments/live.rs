//! The arguments of the commands that ask a running program.

use super::whole;
use clap::Args;
use std::path::PathBuf;

/// Show the threads of a program that runs under a policy, and what each waits for
///
/// On a terminal the table is shown anew each second, until it is interrupted; elsewhere once. The process can be one
/// that `catapults run` started, or one that was written to a host which is asked in the same way (docs/live.md). It must
/// be the caller's own.
#[derive(Args)]
pub struct Top {
    /// Show one table, also on a terminal
    #[arg(long)]
    pub once: bool,
    /// Write all that is known once, as an object for programs (docs/live.md)
    #[arg(long)]
    pub json: bool,
    /// The process
    #[arg(value_name = "PID", value_parser = process)]
    pub process: u32,
}

/// Set a variable that the policy of a running program imports
///
/// What the policy reads is set: the application's own variable, or the default in place of one. For a thread's variable
/// the event `changed` is raised. What can be set, `catapults top --json` lists.
#[derive(Args)]
pub struct Set {
    /// Set it for this thread
    #[arg(long, value_name = "NUMBER|NAME")]
    pub thread: Option<String>,
    /// The process
    #[arg(value_name = "PID", value_parser = process)]
    pub process: u32,
    /// The variable, and its value: a whole number, `true` or `false`, a time such as 25ms, or a number
    #[arg(value_name = "NAME=VALUE", value_parser = assignment)]
    pub assignment: Assignment,
}

/// What is to be set.
#[derive(Clone)]
pub struct Assignment {
    pub name: String,
    pub value: String,
}

/// Replace the policy of a running program
///
/// The policy is built as `catapults run` builds it. Its threads go on under the new one. If that does not fit, or refuses
/// a thread, they go on under the old one.
#[derive(Args)]
pub struct Replace {
    /// The process
    #[arg(value_name = "PID", value_parser = process)]
    pub process: u32,
    /// The policy: a .sched file, or what `catapults build` made of one
    #[arg(value_name = "POLICY")]
    pub policy: PathBuf,
}

/// The number of a process.
fn process(text: &str) -> Result<u32, String> {
    whole::<u32, 1, { i32::MAX as u64 }>(text)
}

fn assignment(text: &str) -> Result<Assignment, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && name.len() < 128 && !name.contains(char::is_whitespace) => {
            Ok(Assignment { name: name.to_owned(), value: value.to_owned() })
        }
        _ => Err("it must be NAME=VALUE".to_owned()),
    }
}
