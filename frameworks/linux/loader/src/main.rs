//! Loads policies that were compiled for BPF into the kernel of this machine. The exit status is 2 for wrong usage, 1 if the kernel
//! refuses, and 3 if a policy was ejected.

mod cost;
mod kernel;
mod program;
mod programs;
mod scheduler;
mod script;
mod texts;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Policies in the Linux kernel
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Schedule the whole machine by a policy, until stopped
    Load {
        /// What `catapults build --framework linux` has made of the policy
        object: String,
        /// The kernel ends the policy if a thread that could run waits for so many seconds
        #[arg(long, value_name = "SECONDS", default_value_t = scheduler::LONGEST_WAIT, value_parser = clap::value_parser!(u32).range(1..=30))]
        longest_wait: u32,
    },
    /// Run a program under a policy, with all that it starts
    Run {
        /// What `catapults build --framework linux` has made of the policy
        object: String,
        /// The program and its arguments
        #[arg(required = true, last = true)]
        program: Vec<OsString>,
    },
    /// Say which policy schedules, and what it has done
    Status {
        /// And then each second, until it is out, what it does in that time
        #[arg(long)]
        watch: bool,
    },
    /// Give the kernel back its own scheduler
    Stop,
    /// Follow scripts, as docs/frameworks.md says ("Taking steps")
    Steps {
        /// What `catapults build --framework linux --as steps` has made of the policy
        object: String,
    },
    /// Say what the kernel's verifier takes to accept each program
    Cost {
        /// Objects of policies
        #[arg(required = true)]
        objects: Vec<String>,
    },
    /// Become a program that the loaded policy schedules
    #[command(hide = true)]
    Enter {
        /// The program and its arguments
        #[arg(required = true, last = true)]
        program: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Load { object, longest_wait } => {
            kernel::check_scheduler().and_then(|()| scheduler::load(&object, longest_wait))
        }
        Command::Run { object, program } => kernel::check_scheduler().and_then(|()| program::run(&object, &program)),
        Command::Status { watch } => scheduler::status(watch).map(|()| ExitCode::SUCCESS),
        Command::Stop => scheduler::stop().map(|()| ExitCode::SUCCESS),
        Command::Steps { object } => kernel::check().and_then(|()| script::follow(&object)).map(|()| ExitCode::SUCCESS),
        Command::Cost { objects } => kernel::check().and_then(|()| cost::print(&objects)).map(|()| ExitCode::SUCCESS),
        Command::Enter { program } => program::enter(&program),
    };
    done.unwrap_or_else(|said| {
        eprintln!("catapults-linux: {said}");
        ExitCode::FAILURE
    })
}
