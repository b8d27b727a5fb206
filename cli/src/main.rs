//! The catapults command: the only part of the compiler that touches files, compilers and programs.

mod arguments;
mod artefact;
mod beneath;
mod blame;
mod built;
mod cache;
mod commands;
mod console;
mod described;
mod embedded;
mod failure;
mod files;
mod frameworks;
mod in_memory;
mod interrupt;
mod library;
mod live;
mod messages;
mod moved;
mod next;
mod program;
mod said;
mod scenarios;
mod sites;
mod streams;
mod structures;
mod symbols;
mod table;
mod used;

use arguments::{Arguments, Command, FrameworkCommand, TraceCommand};
use clap::{CommandFactory, Parser};
use console::Console;
use failure::Failure;
use messages::MessageFormat;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(said) => return not_a_command(&said),
    };
    if let Command::Host(words) = &arguments.command
        && !words.first().is_some_and(|name| commands::host::is_host(name))
        && let Err(said) = without_hosts().try_get_matches()
    {
        return not_a_command(&said);
    }
    let console = Console::new(arguments.message_format);
    interrupt::watch();
    let done = done(&console, arguments.command);
    // Lost messages are a worse failure than a bound that was reached.
    let done = match (done, console.unsaid()) {
        (Ok(()) | Err(Failure::Bounded), Some(unsaid)) => Err(unsaid),
        (done, _) => done,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console.failure(&failure);
            failure.exit_code()
        }
    }
}

/// The command line where no word names a host: it says which of its own commands was perhaps meant.
fn without_hosts() -> clap::Command {
    Arguments::command().external_subcommand_value_parser(None).allow_external_subcommands(false)
}

fn done(console: &Console, command: Command) -> Result<(), Failure> {
    // What a program writes is its own business.
    if !matches!(command, Command::Run(_) | Command::Host(_)) {
        streams::output_is_open()?;
    }
    match command {
        Command::Demo => commands::demo::demo(console),
        Command::New(arguments) => commands::new::new(console, &arguments),
        Command::Check(arguments) => commands::check::check(console, &arguments),
        Command::Explore(arguments) => commands::explore::explore(console, &arguments),
        Command::Build(arguments) => commands::build::build(console, &arguments),
        Command::Fmt(arguments) => commands::fmt::fmt(console, &arguments),
        Command::Run(arguments) => commands::run::run(console, &arguments),
        Command::Host(words) => commands::host::host(console, &words),
        Command::Top(arguments) => commands::top::top(console, &arguments),
        Command::Set(arguments) => commands::set::set(console, &arguments),
        Command::Replace(arguments) => commands::replace::replace(console, &arguments),
        Command::Sim(arguments) => commands::sim::sim(console, &arguments),
        Command::Admit(arguments) => commands::admit::admit(console, &arguments),
        Command::Wcet(arguments) => commands::wcet::wcet(console, &arguments),
        Command::Test(arguments) => commands::test::test(console, &arguments),
        Command::Ir(arguments) => commands::ir::ir(console, &arguments),
        Command::Grammar(arguments) => commands::grammar::grammar(console, &arguments),
        Command::Explain(arguments) => commands::explain::explain(console, &arguments),
        Command::Completions(arguments) => commands::completions::completions(console, &arguments),
        Command::Manual(arguments) => commands::manual::manual(console, &arguments),
        Command::Unpack(arguments) => commands::unpack::unpack(console, &arguments),
        Command::Framework { command } => match command {
            FrameworkCommand::Check(arguments) => commands::framework::check(console, &arguments),
            FrameworkCommand::List => commands::framework::list(console),
        },
        Command::Trace { command } => match command {
            TraceCommand::Show(arguments) => commands::trace::show(console, &arguments),
            TraceCommand::Summary(arguments) => commands::trace::summary(console, &arguments),
            TraceCommand::Plot(arguments) => commands::trace::plot(console, &arguments),
            TraceCommand::Html(arguments) => commands::trace::html(console, &arguments),
            TraceCommand::Compare(arguments) => commands::trace::compare(console, &arguments),
            TraceCommand::Export(arguments) => commands::trace::export(console, &arguments),
            TraceCommand::ToScenario(arguments) => commands::trace::to_scenario(console, &arguments),
            TraceCommand::Import(arguments) => commands::trace::import(console, &arguments),
        },
    }
}

/// `--help`, `--version`, or wrong usage. A failure to write them is an error, too.
fn not_a_command(said: &clap::Error) -> ExitCode {
    if said.use_stderr() {
        // Nothing can be done if standard error is closed, and the command fails anyway.
        let _ = said.print();
        return ExitCode::from(2);
    }
    let text = said.render();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || !io::stdout().is_terminal();
    let text = if plain { text.to_string() } else { text.ansi().to_string() };
    let mut out = io::stdout().lock();
    let mut written =
        || out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::of_output(&error));
    match streams::output_is_open().and_then(|()| written()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            Console::new(MessageFormat::Human).failure(&failure);
            failure.exit_code()
        }
    }
}
