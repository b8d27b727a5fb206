//! The command line. What `--help` says is the documentation of the command.

mod admit;
mod live;
mod wcet;

pub use admit::{Admit, OrderName, UnitName};
pub use live::{Assignment, Replace, Set, Top};
pub use wcet::{Wcet, WcetUnit};

use crate::library::PolicyOrPath;
use crate::messages::MessageFormat;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use std::ffi::OsString;
use std::path::PathBuf;

/// Thread schedulers written as policies: checked, translated, run.
#[derive(Parser)]
#[command(name = "catapults", version, arg_required_else_help = true)]
#[command(after_help = "Exit status: 0 done; 1 something is wrong with a file or a tool; 2 wrong usage; 3 explored\n\
                  only up to a bound; 4 tasks that are not admitted; 130 or 143 interrupted; 141 nobody reads the output any more.\n\
                  A host may have a command of its own, such as `catapults linux --help`.\n\
                  An input file may be -, standard input, except recordings and what `run` runs.\n\
                  An existing file that was not named as the output is replaced only with --force.\n\
                  Output that cannot be written is an error.\n\
                  Messages are coloured on a terminal unless NO_COLOR is set.")]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    /// How errors, warnings and findings are written
    #[arg(long, global = true, value_enum, value_name = "FORMAT", default_value_t, help_heading = "Messages")]
    pub message_format: MessageFormat,
}

#[derive(Subcommand)]
pub enum Command {
    /// Show what a policy changes: one scenario under two policies, side by side
    ///
    /// Simulates a small server under the policies `round_robin` and `cow` of the library. All is in this program: no file,
    /// no compiler and no network is needed.
    Demo,
    New(New),
    Check(Check),
    Explore(Explore),
    Fmt(Fmt),
    Build(Build),
    Run(Run),
    Top(Top),
    Set(Set),
    Replace(Replace),
    Sim(Sim),
    Test(Test),
    Admit(Admit),
    Wcet(Wcet),
    Ir(Ir),
    Grammar(Grammar),
    Explain(Explain),
    Completions(Completions),
    Manual(Manual),
    Unpack(Unpack),
    /// Work with the descriptions of hosts
    Framework {
        #[command(subcommand)]
        command: FrameworkCommand,
    },
    /// Work with recordings of which thread ran when
    Trace {
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// The command of a host, and its arguments
    #[command(external_subcommand)]
    Host(Vec<OsString>),
}

/// Write a policy, and a scenario that tests it, to start from
///
/// Makes NAME.sched and NAME.scenario, and replaces nothing. The policy is safe to run, and does what its scenario
/// expects. What it handles is explained in comments.
#[derive(Args)]
pub struct New {
    #[command(flatten)]
    pub framework: FrameworkOption,
    /// Begin with this policy: one of the library (docs/policies.md), or the path of another
    #[arg(long, value_name = "POLICY|FILE.sched", value_parser = PolicyOrPath, hide_possible_values = true)]
    pub like: Option<PathBuf>,
    /// The name of the new policy: letters, digits and underscores. A folder can stand before it
    #[arg(value_name = "NAME")]
    pub name: PathBuf,
}

#[derive(Args)]
pub struct FrameworkOption {
    /// The host: the path of a framework description, or its name
    ///
    /// A name is looked for as NAME/NAME.framework, or NAME.framework, in $CATAPULTS_FRAMEWORKS, in the `frameworks` folders
    /// above the catapults program, and in ../share/catapults/frameworks beside the program's folder; then among the frameworks
    /// that are in the program; then in the `frameworks` folders above the current directory.
    #[arg(long, value_name = "NAME|FILE", default_value = "native")]
    pub framework: String,
}

/// Check whether policies and hierarchies are safe to run
///
/// Reports every error and warning in every file, and in the policies of every hierarchy and scenario. Nothing is
/// written or simulated.
#[derive(Args)]
pub struct Check {
    #[command(flatten)]
    pub framework: FrameworkOption,
    /// For each guard that remains at run time, say why it could not be proved and what would remove it
    #[arg(long)]
    pub explain_guards: bool,
    /// Fail if more than this percentage of the transfers in all files together keep a guard
    #[arg(long, value_name = "PERCENT", value_parser = whole::<u8, 0, 100>, allow_negative_numbers = true)]
    pub most_guarded: Option<u8>,
    /// The policies (.sched), hierarchies (.hierarchy) and scenarios (.scenario)
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// Try every order of events that the framework allows, for a few threads
///
/// Looks for threads that are lost or held twice, guards that fail, processors that idle with work ready, event types
/// that are not kept, and ready threads that are never dispatched (starvation, which is an error only with --fair). A
/// finding is shown as the shortest sequence of steps, with what the containers hold after each.
///
/// Exit status: 0 explored completely, and nothing found; 1 a counterexample, or a policy that is refused; 3 nothing
/// found, but a bound was reached; 130 or 143 interrupted (SIGINT, SIGTERM), with the results so far.
#[derive(Args)]
pub struct Explore {
    #[command(flatten)]
    pub framework: FrameworkOption,
    /// How many threads may live at once
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole::<u8, 1, 8>, allow_negative_numbers = true)]
    pub threads: u8,
    /// How many situations to keep, at some 100 to 300 bytes each
    #[arg(long, value_name = "N", default_value_t = 4_000_000, value_parser = whole::<u32, 1, 100_000_000>, allow_negative_numbers = true)]
    pub states: u32,
    /// How many seconds to take for each policy; 0: no limit
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = whole::<u32, 0, 1_000_000>, allow_negative_numbers = true)]
    pub seconds: u32,
    /// How far to follow variables that are more than counters: from -N to N
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = whole::<i64, 1, { i64::MAX as u64 }>, allow_negative_numbers = true)]
    pub bound: i64,
    /// Make starvation an error, too
    ///
    /// Starvation that the policy's header states is none: in a part `// Starves:` that says which threads starve, and
    /// when.
    #[arg(long)]
    pub fair: bool,
    /// Write the first counterexample as a scenario that fails, or as a script to replay
    #[arg(long, value_name = "FILE.scenario|FILE.script")]
    pub save: Option<PathBuf>,
    /// Replace an existing script, if no scenario shows the counterexample
    #[arg(long)]
    pub force: bool,
    /// The policies (.sched)
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// Format policies, families of nodes, hierarchies, scenarios and framework descriptions
///
/// There is one style: two spaces of indentation, at most 120 characters in a line, comments where they are. Formatting
/// never changes what a policy means, and formatting again changes nothing. A file that cannot be read is left alone.
#[derive(Args)]
pub struct Fmt {
    /// Write nothing: show what would change, and end with status 1 if anything would
    #[arg(long)]
    pub check: bool,
    /// The policies (.sched), hierarchies (.hierarchy), scenarios (.scenario), descriptions (.framework), or folders of
    /// them; `-` alone formats standard input to standard output
    #[arg(value_name = "FILE|FOLDER", required = true)]
    pub files: Vec<PathBuf>,
}

/// Translate a policy or a hierarchy, and build what the host loads
///
/// Writes the generated source and the artefact, whose name the framework description gives.
#[derive(Args)]
pub struct Build {
    #[command(flatten)]
    pub framework: FrameworkOption,
    /// What to make: one of the framework's `build` clauses, or `source` for the generated source alone
    ///
    /// The default is the first one in the framework description.
    #[arg(long = "as", value_name = "KIND")]
    pub kind: Option<String>,
    /// The folder to write into; it is made if it is missing
    #[arg(short, long, value_name = "FOLDER", default_value = "build")]
    pub output: PathBuf,
    /// Replace files in that folder that `catapults build` did not make
    #[arg(long)]
    pub force: bool,
    /// The policy (.sched) or hierarchy (.hierarchy)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Run a program under a policy or a hierarchy
///
/// A .sched or .hierarchy file is built first, unless an earlier build is up to date. Builds are kept in
/// $XDG_CACHE_HOME/catapults, or else ~/.cache/catapults, or else a folder of yours in $TMPDIR. The exit status is the program's.
#[derive(Args)]
#[command(
    override_usage = "catapults run [--framework NAME|FILE] [--program FILE.program] POLICY -- PROGRAM [ARGUMENTS]..."
)]
pub struct Run {
    #[command(flatten)]
    pub framework: FrameworkOption,
    /// A description of the program: which of its functions and variables policies import (docs/unmodified.md)
    #[arg(long = "program", value_name = "FILE.program")]
    pub description: Option<PathBuf>,
    /// The policy: a .sched or .hierarchy file, or what `catapults build` made of one
    #[arg(value_name = "POLICY")]
    pub policy: PathBuf,
    /// The program and its arguments
    #[arg(value_name = "PROGRAM", last = true, required = true, num_args = 1..)]
    pub program: Vec<OsString>,
}

/// Simulate threads under a policy, and show what it does
///
/// A .scenario file says what the threads do (docs/scenarios.md). A policy alone is simulated with four threads that
/// compute, sleep, wait for input and yield. The same scenario always gives the same result.
#[derive(Args)]
pub struct Sim {
    #[command(flatten)]
    pub framework: FrameworkOption,
    /// Simulate under this policy, whatever the scenario says; can be repeated, to compare policies
    #[arg(long, value_name = "FILE.sched")]
    pub policy: Vec<PathBuf>,
    /// Simulate only the scenario with this name
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
    /// Draw random numbers with this seed, whatever the scenario says
    #[arg(long, value_name = "N", value_parser = whole::<u64, 0, { u64::MAX }>, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Simulate this many processors, whatever the scenario says
    #[arg(long, value_name = "N", value_parser = whole::<u32, 1, 1024>, allow_negative_numbers = true)]
    pub processors: Option<u32>,
    /// Run the policy compiled to machine code, on one processor under the native runtime's own core: several times as
    /// fast, with the same results
    #[arg(long)]
    pub compiled: bool,
    /// Draw which threads ran when, how the processors were shared, and how long it took
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Write a page for a browser: which threads ran when and why, with the lines of the policy; of two simulations, too
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Show the timeline from this time on, such as 1.5ms; the rest of the picture is of the whole time
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub from: Option<u64>,
    /// Show the timeline only before this time
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub to: Option<u64>,
    /// Print a line for each thing that happens, with the line of the policy that decided it
    #[arg(long)]
    pub log: bool,
    /// Record what happens, for `catapults trace`; with several scenarios in the file, --only says which
    #[arg(long, value_name = "FILE.trace")]
    pub trace: Option<PathBuf>,
    /// The scenario (.scenario), a workload of rt-app (.json, with --policy), or a policy (.sched) or hierarchy alone
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Run scenarios as tests: check what they expect of their policies
///
/// The policy of `edf.scenario` or `edf.overload.scenario` is `edf.sched` beside it, unless the scenario names another
/// one. In folders, scenarios that name no policy and have none beside them are run only with --policy.
#[derive(Args)]
pub struct Test {
    #[command(flatten)]
    pub framework: FrameworkOption,
    /// The policy of scenarios that name none, and have none beside them
    #[arg(long, value_name = "FILE.sched")]
    pub policy: Option<PathBuf>,
    /// Only scenarios whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Also write a report in JUnit's XML
    #[arg(long, value_name = "FILE.xml")]
    pub junit: Option<PathBuf>,
    /// Scenarios (.scenario), policies (.sched) with scenarios beside them, or folders of both
    #[arg(value_name = "FILE|FOLDER", required = true)]
    pub files: Vec<PathBuf>,
}

/// Print a policy in the compiler's own form
///
/// Fully explicit: names resolved, types and state classes written, the framework's default handlers in place.
#[derive(Args)]
pub struct Ir {
    #[command(flatten)]
    pub framework: FrameworkOption,
    /// The policy (.sched)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Print the grammar of the policies of a framework
///
/// It is exactly what the compiler reads as a policy for this framework, in the EBNF of W3C's XML recommendation. What
/// the dialect lacks is left out, and the events and queries that can be handled are listed.
#[derive(Args)]
pub struct Grammar {
    #[command(flatten)]
    pub framework: FrameworkOption,
    /// Print the grammar of the framework's hierarchies instead
    #[arg(long)]
    pub hierarchies: bool,
    /// Print the grammar of scenarios instead
    #[arg(long, conflicts_with_all = ["framework", "hierarchies"])]
    pub scenarios: bool,
    /// Print the grammar of framework descriptions instead
    #[arg(long, conflicts_with_all = ["framework", "hierarchies", "scenarios"])]
    pub framework_language: bool,
}

/// Explain an error code, or list them all
#[derive(Args)]
pub struct Explain {
    /// Such as E0401
    pub code: Option<String>,
}

/// Print the completions of this command's arguments for a shell
///
/// For bash: catapults completions bash > ~/.local/share/bash-completion/completions/catapults
#[derive(Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Write the manual pages of this command, one for each of its commands
///
/// They are what `--help` says, for `man`: in ~/.local/share/man/man1, for instance.
#[derive(Args)]
pub struct Manual {
    /// The folder to write into; it is made if it is missing
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Replace files of these names that are no manual pages of this command
    #[arg(long)]
    pub force: bool,
}

/// Write out the frameworks, policies and descriptions of programs in this command
///
/// The folders `frameworks` and `policies` are made in the folder: headers to include, sources of the runtime, policies to
/// start from. `make -C FOLDER/frameworks/native` builds the runtime there.
#[derive(Args)]
pub struct Unpack {
    /// The folder to write into, which is made; it must not be there yet, unless all of that is in it
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

#[derive(Subcommand)]
pub enum FrameworkCommand {
    Check(CheckFrameworks),
    /// List the frameworks that can be used by name, with their languages, dialects and files
    List,
}

/// Check framework descriptions
///
/// Checks whether their lines fit together (event types, sequences, default handlers), and whether what they name
/// exists. Reports every error and warning in every file. Nothing is written.
#[derive(Args)]
pub struct CheckFrameworks {
    /// The descriptions (.framework), or names of frameworks
    #[arg(value_name = "NAME|FILE", required = true)]
    pub files: Vec<String>,
}

#[derive(Subcommand)]
pub enum TraceCommand {
    Show(ShowTrace),
    Summary(Summary),
    Plot(PlotTrace),
    Html(HtmlTrace),
    Compare(Compare),
    Export(Export),
    ToScenario(ToScenario),
    Import(Import),
}

/// Which recording, and which part of it.
#[derive(Args)]
pub struct Recording {
    /// The recording of a host (CATAPULTS_TRACE=FILE.trace), or of `catapults sim --trace FILE.trace`
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,
    /// Keep only the newest N records
    #[arg(long, value_name = "N", value_parser = whole::<u64, 1, { u64::MAX }>, allow_negative_numbers = true)]
    pub newest: Option<u64>,
}

/// Print each record: the time, the processor, the thread, what happened, and the handler and line that decided it
#[derive(Args)]
pub struct ShowTrace {
    #[command(flatten)]
    pub recording: Recording,
    /// Only what happens to this thread; can be repeated
    #[arg(long, value_name = "NAME|NUMBER", allow_hyphen_values = true)]
    pub thread: Vec<String>,
    /// Only on this processor; can be repeated
    #[arg(long, value_name = "N", value_parser = whole::<u16, 0, { u16::MAX as u64 }>, allow_negative_numbers = true)]
    pub processor: Vec<u16>,
    /// Only this: dispatched, blocked, preempted and so on; can be repeated
    #[arg(long, value_name = "WORD", value_parser = KINDS)]
    pub kind: Vec<String>,
    /// Only from this time on, since recording began, such as 1.5ms
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub from: Option<u64>,
    /// Only before this time
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub to: Option<u64>,
}

/// The kinds of records, as words.
const KINDS: [&str; 16] = [
    "new",
    "named",
    "dispatched",
    "lent",
    "switched-out",
    "preempted",
    "blocked",
    "raised",
    "exited",
    "refused",
    "policy-out",
    "suspended",
    "resumed",
    "idle",
    "value",
    "lost",
];

/// Reads a whole number in a range. Errors are in plain words.
fn whole<T: TryFrom<u64>, const LEAST: u64, const MOST: u64>(text: &str) -> Result<T, String> {
    let number = text.parse::<u64>().ok().filter(|number| (LEAST..=MOST).contains(number));
    number
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| format!("write a whole number from {LEAST} to {MOST}"))
}

/// `12ms`, `1.5s`, `300us`, `70ns`, in nanoseconds.
fn duration(text: &str) -> Result<u64, String> {
    let wrong = || "write a time as 300us, 12ms or 1.5s".to_owned();
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let places: i32 = match unit {
        "ns" => 0,
        "us" => 3,
        "ms" => 6,
        "s" => 9,
        "" if text == "0" => 0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let nanoseconds = (number * 10_f64.powi(places)).round();
    // The longest time that instants have: 292 years.
    if nanoseconds <= i64::MAX as f64 {
        Ok(nanoseconds as u64)
    } else {
        Err("write a time of 292 years at most".to_owned())
    }
}

/// Say how long each thread ran, was ready and was blocked, how long it waited for a processor, and which handlers
/// decided how often
#[derive(Args)]
pub struct Summary {
    #[command(flatten)]
    pub recording: Recording,
    /// Print the histograms of how long threads were ready before they ran
    #[arg(long)]
    pub histograms: bool,
}

/// Draw which threads ran when, how the processors were shared, and how long threads were ready before they ran
///
/// Like `catapults sim --plot`. The timeline shows the beginning of a long recording, unless --from and --to say which
/// part. The rest shows all of it. Missing events are marked.
#[derive(Args)]
pub struct PlotTrace {
    #[command(flatten)]
    pub recording: Recording,
    /// Where the picture goes; otherwise beside the recording, with the ending .svg
    #[arg(short, long, value_name = "FILE.svg")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub shown: Shown,
}

/// Write a page for a browser: which threads ran when and why, with the lines of the policy
///
/// The page is one file, which loads nothing else. It shows one recording, or two under one time axis. A long recording
/// is shown from its beginning, unless --from and --to say which part. The text of a policy is in the page if its file
/// is where the recording says, or beside the recording.
#[derive(Args)]
pub struct HtmlTrace {
    #[command(flatten)]
    pub recording: Recording,
    /// Another recording, to be compared with the first
    #[arg(value_name = "OTHER.trace")]
    pub other: Option<PathBuf>,
    /// Where the page goes; otherwise beside the recording, with the ending .html
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub shown: Shown,
}

/// What of a recording is shown, and whether what was shown before is replaced.
#[derive(Args)]
pub struct Shown {
    /// Replace an existing file beside the recording
    #[arg(long)]
    pub force: bool,
    /// Show who ran when from this time on, since recording began, such as 1.5ms
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub from: Option<u64>,
    /// Show who ran when only before this time
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub to: Option<u64>,
}

/// Find the first decision that differs between two recordings, and its cause
///
/// A decision is which thread is dispatched on which processor. Succeeds if all decisions are the same.
#[derive(Args)]
pub struct Compare {
    /// The first recording
    #[arg(value_name = "A.trace")]
    pub one: PathBuf,
    /// The second recording
    #[arg(value_name = "B.trace")]
    pub other: PathBuf,
    /// Threads are the same if they have the same name, whatever their numbers
    #[arg(long)]
    pub by_name: bool,
}

/// Turn a recording into a timeline for https://ui.perfetto.dev or chrome://tracing
///
/// The ending says what is written: .json is Chrome's format, .pftrace is Perfetto's, which is smaller and quicker to
/// open.
#[derive(Args)]
pub struct Export {
    #[command(flatten)]
    pub recording: Recording,
    /// Where the timeline goes; otherwise beside the recording, with the ending .json
    #[arg(short, long, value_name = "FILE.json|FILE.pftrace")]
    pub output: Option<PathBuf>,
    /// Replace an existing file beside the recording
    #[arg(long)]
    pub force: bool,
}

/// Turn a recording into a scenario: its threads do again what they did, under any policy
///
/// Computing and waiting take as long as they did; being ready is up to the policy. Waits for other threads become
/// waits of the same length.
#[derive(Args)]
pub struct ToScenario {
    #[command(flatten)]
    pub recording: Recording,
    /// Where the scenario goes; otherwise it is printed
    #[arg(short, long, value_name = "FILE.scenario")]
    pub output: Option<PathBuf>,
    /// Stop reading after this many phases, threads and values
    #[arg(long, value_name = "NUMBER", value_parser = whole::<u64, 1, { u64::MAX }>, default_value_t = 1_000_000, allow_negative_numbers = true)]
    pub most: u64,
}

/// Make a recording from what Linux recorded of its scheduler
///
/// Reads the text of `perf sched script`, `perf script`, `trace-cmd report` or /sys/kernel/tracing/trace with the
/// events sched_switch and sched_waking or sched_wakeup, also in a page of systrace (.html). Reads also what Perfetto
/// recorded (.pftrace), with sched_switch and sched_waking.
#[derive(Args)]
pub struct Import {
    /// The text, or what Perfetto recorded; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Where the recording goes
    #[arg(short, long, value_name = "FILE.trace")]
    pub output: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    #[test]
    fn numbers_are_said_in_words() {
        let refused = |text: &str| whole::<u8, 0, 100>(text).unwrap_err();
        for text in ["nan", "inf", "-1", "101", "1e2", "50%", "", " 5", "99999999999999999999", "0x10", "½"] {
            assert_eq!(refused(text), "write a whole number from 0 to 100", "{text}");
        }
        assert_eq!((whole::<u8, 0, 100>("0"), whole::<u8, 0, 100>("100")), (Ok(0), Ok(100)));
        assert_eq!(whole::<u64, 0, { u64::MAX }>("18446744073709551615"), Ok(u64::MAX));
        for text in ["", "1", "ms", "1.5.5ms", "-1ms", "1min", "nan", "infs", "1e3ms", "99999999999999999999s"] {
            assert!(duration(text).unwrap_err().starts_with("write a time "), "{text}");
        }
        assert_eq!((duration("1.5ms"), duration("0")), (Ok(1_500_000), Ok(0)));
    }

    /// Whatever value an option gets, an error is in our words or clap's.
    #[test]
    fn no_option_says_what_rust_says() {
        fn each(command: &clap::Command, above: &[String], tried: &mut usize) {
            for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
                each(below, &[above, &[below.get_name().to_owned()]].concat(), tried);
            }
            let options = command.get_arguments().filter(|argument| argument.get_action().takes_values());
            for name in options.filter_map(clap::Arg::get_long) {
                for value in ["nan", "inf", "-1", "1.5", "", "x", "99999999999999999999999", "\u{e9}", " 1"] {
                    let given = above.iter().cloned().chain([format!("--{name}={value}")]);
                    let all = ["catapults".to_owned()].into_iter().chain(given);
                    let Err(said) = Arguments::try_parse_from(all) else { continue };
                    let said = said.to_string();
                    for word in ["digit", "string", "float literal", "parse", "overflow", "..", "target type", "Err("] {
                        assert!(!said.replace("...", "").contains(word), "{above:?} --{name}={value}: {said}");
                    }
                    *tried += 1;
                }
            }
        }
        let mut tried = 0;
        each(&Arguments::command(), &[], &mut tried);
        assert!(tried > 100, "{tried}");
    }
}
