//! The catapults command: the only part of the compiler that touches files, compilers and programs.

mod arguments;
mod artefact;
mod commands;
mod console;
mod failure;
mod files;
mod frameworks;
mod messages;
mod scenarios;

use arguments::{Arguments, Command, FrameworkCommand, TraceCommand};
use clap::Parser;
use console::Console;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let console = Console::new(arguments.message_format);
    let done = match arguments.command {
        Command::Check(arguments) => commands::check::check(&console, &arguments),
        Command::Explore(arguments) => commands::explore::explore(&console, &arguments),
        Command::Build(arguments) => commands::build::build(&console, &arguments),
        Command::Fmt(arguments) => commands::fmt::fmt(&console, &arguments),
        Command::Run(arguments) => commands::run::run(&console, &arguments),
        Command::Sim(arguments) => commands::sim::sim(&console, &arguments),
        Command::Test(arguments) => commands::test::test(&console, &arguments),
        Command::Ir(arguments) => commands::ir::ir(&console, &arguments),
        Command::Grammar(arguments) => commands::grammar::grammar(&console, &arguments),
        Command::Explain(arguments) => commands::explain::explain(&console, &arguments),
        Command::Completions(arguments) => commands::completions::completions(&console, &arguments),
        Command::Framework { command } => match command {
            FrameworkCommand::Check(arguments) => commands::framework::check(&console, &arguments),
            FrameworkCommand::List => commands::framework::list(&console),
        },
        Command::Trace { command } => match command {
            TraceCommand::Show(arguments) => commands::trace::show(&console, &arguments),
            TraceCommand::Summary(arguments) => commands::trace::summary(&console, &arguments),
            TraceCommand::Plot(arguments) => commands::trace::plot(&console, &arguments),
            TraceCommand::Compare(arguments) => commands::trace::compare(&console, &arguments),
            TraceCommand::Export(arguments) => commands::trace::export(&console, &arguments),
            TraceCommand::ToScenario(arguments) => commands::trace::to_scenario(&console, &arguments),
            TraceCommand::Import(arguments) => commands::trace::import(&console, &arguments),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console.failure(&failure);
            failure.exit_code()
        }
    }
}
