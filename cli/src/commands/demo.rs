//! `catapults demo`: a scenario of the library under two of its policies. All are part of the program.

use super::sim::{names, unsimulated};
use crate::console::Console;
use crate::failure::Failure;
use crate::in_memory::Under;
use crate::next;
use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::framework::{self, Framework};
use catapults_compiler::source::Source;
use catapults_simulator::sim::{Outcome, Tally, exact};
use std::env;
use std::fmt::Write;
use std::io;
use terminal_size::{Width, terminal_size_of};

/// A file of the repository: its name, and its text.
type File = (&'static str, &'static str);

const FRAMEWORK: File = ("native.framework", include_str!("../../../frameworks/native/native.framework"));
const ONE: File = ("round_robin.sched", include_str!("../../../policies/round_robin.sched"));
const OTHER: File = ("cow.sched", include_str!("../../../policies/cow.sched"));
const SCENARIOS: File = ("cow.scenario", include_str!("../../../policies/cow.scenario"));
/// Which of the scenarios. Its threads are files and pages, in this order.
const ONLY: &str = "small_server";

/// The narrowest two panels beside each other, and what is between them.
const NARROWEST: usize = 36;
const GAP: usize = 2;

pub fn demo(console: &Console) -> Result<(), Failure> {
    let source = of(FRAMEWORK);
    let framework = framework::read(&source).map_err(|errors| told(console, &source, &errors))?;
    let (one, other) = (panel(console, ONE, &framework)?, panel(console, OTHER, &framework)?);
    console.result(&shown(&one, &other, width()))
}

/// The scenario under one of the policies.
struct Panel {
    policy: String,
    names: Vec<(String, bool)>,
    outcome: Outcome,
}

fn panel(console: &Console, policy: File, framework: &Framework) -> Result<Panel, Failure> {
    let (source, scenarios) = (of(policy), of(SCENARIOS));
    let compiled = catapults_compiler::compile(&source, framework);
    let (policy, _) = compiled.map_err(|errors| told(console, &source, &errors))?;
    let staged = Under { policy: &policy, instead: true }.judge(&scenarios, framework, &|name| name == ONLY);
    let Some((scenario, under)) = staged.scenarios.first() else {
        return Err(told(console, &scenarios, &staged.said));
    };
    let outcome = under.simulate(scenario, framework).map_err(|why| unsimulated(&framework.name, &why))?;
    Ok(Panel { policy: policy.policy().name.clone(), names: names(scenario), outcome })
}

fn of((name, text): File) -> Source {
    Source::new(name, text)
}

fn told(console: &Console, source: &Source, diagnostics: &Diagnostics) -> Failure {
    console.diagnostics(source, diagnostics);
    Failure::Said
}

/// The width of the terminal; if there is none, what is usual.
fn width() -> usize {
    let of_terminal = terminal_size_of(io::stdout()).map(|(Width(width), _)| usize::from(width));
    let asked = || env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    of_terminal.or_else(asked).unwrap_or(80)
}

fn shown(one: &Panel, other: &Panel, width: usize) -> String {
    let filled = |text: &str| format!("{}\n\n", textwrap::fill(text, width));
    let mut text = filled(
        "A small server, in simulated time: files are sent piece by piece, and pages are asked for meanwhile. \
         The same threads under two policies:",
    );
    text.push_str(&panels(one, other, width));
    text.push('\n');
    text.push_str(&filled("█ runs, ░ could run and waits for its turn"));
    text.push_str(&filled(&difference(one, other)));
    text.push_str(&filled("Next, a policy of your own that begins like this one: see what it does, and test it."));
    let like = vec!["new", "mine", "--like", other.policy.as_str()];
    text.push_str(&next::lines(&[like, vec!["sim", "mine.scenario"], vec!["test", "mine.scenario"]]));
    text
}

/// The two timelines, beside each other if there is room.
fn panels(one: &Panel, other: &Panel, width: usize) -> String {
    let drawn = |panel: &Panel, width: usize| {
        format!("  under {}\n\n{}", panel.policy, panel.outcome.timeline.picture_within(width, &panel.names))
    };
    if width < 2 * NARROWEST + GAP {
        return format!("{}\n{}", drawn(one, width), drawn(other, width));
    }
    let half = (width - GAP) / 2;
    let (left, right) = (drawn(one, half), drawn(other, half));
    let wide = left.lines().map(|line| line.chars().count()).max().unwrap_or(0) + GAP;
    let (mut left, mut right) = (left.lines(), right.lines());
    let mut text = String::new();
    loop {
        let (beside, line) = (left.next(), right.next());
        if beside.is_none() && line.is_none() {
            return text;
        }
        let line = format!("{:wide$}{}", beside.unwrap_or_default(), line.unwrap_or_default());
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// What changes, and for whom.
fn difference(one: &Panel, other: &Panel) -> String {
    let worst = |tally: &Tally| tally.worst_response().map_or("–".to_owned(), |(taken, _)| exact(taken));
    let kinds = one.names.iter().zip(one.outcome.tallies.iter().zip(&other.outcome.tallies));
    let kinds = kinds.map(|((name, _), (before, after))| {
        let (before, after) = (worst(before), worst(after));
        let change = if before == after { "as before".to_owned() } else { format!("instead of {before}") };
        format!("the slowest {name} takes {after} {change}")
    });
    let kinds: Vec<String> = kinds.collect();
    format!("Under {}, which knows how much of each answer is left to send, {}.", other.policy, kinds.join(", and "))
}
