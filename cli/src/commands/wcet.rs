//! `catapults wcet`.

mod clocks;
mod data;
mod shown;

use super::{compile_source, read_source};
use crate::arguments::{Wcet, WcetUnit};
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks::{self, nearest};
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::policy::{Handler, Owner, Policy};
use catapults_compiler::steps::{Bound, Counts, Steps};
use catapults_compiler::vocabulary::At;
use std::collections::BTreeSet;
use std::path::Path;

/// So many threads and nodes, if nobody says how many.
const THREADS: u64 = 16;
const NODES: u64 = 16;

/// A policy whose handlers have bounds.
struct Bounded<'a> {
    file: &'a Path,
    policy: &'a Policy,
    counts: Counts,
    rows: Vec<Row<'a>>,
    /// With their paths.
    explained: bool,
}

/// Handlers that the policy writes as one, and that take the same.
struct Row<'a> {
    bound: &'a Bound<'a>,
    events: Vec<&'a str>,
}

pub fn wcet(console: &Console, arguments: &Wcet) -> Result<(), Failure> {
    match arguments.unit {
        WcetUnit::Steps => in_steps(console, arguments),
        WcetUnit::Clocks => clocks::wcet(console, arguments),
    }
}

fn in_steps(console: &Console, arguments: &Wcet) -> Result<(), Failure> {
    let framework = frameworks::find(console, &arguments.framework.framework)?.framework;
    let file = &arguments.file;
    let source = read_source(file)?;
    let verified = compile_source(console, file, &source, &framework)?;
    let policy = verified.policy();
    let counts = counts(arguments, policy)?;
    let wanted = arguments.explain.as_deref();
    wanted.map_or(Ok(()), |wanted| is_handled(policy, wanted))?;
    let is_wanted = |handler: &Handler| wanted.is_none_or(|wanted| is_called(handler, wanted));
    let (found, refused) = Steps::of(&verified, &framework).bounds(counts, &is_wanted);
    let bounded = Bounded { file, policy, counts, rows: rows(&found), explained: wanted.is_some() };
    if !bounded.rows.is_empty() {
        console.result(&shown::text(&bounded))?;
        if console.is_json() {
            console.record(&data::object(&bounded));
        }
    }
    if refused.has_errors() { Err(Failure::Diagnostics(Box::new((source, refused)))) } else { Ok(()) }
}

fn error(title: String, help: String) -> Diagnostic {
    Diagnostic::error("E0552", title, At::default(), "").help(help)
}

/// The numbers for which bounds are computed.
fn counts(arguments: &Wcet, policy: &Policy) -> Result<Counts, Failure> {
    let capacity = policy.capacity.map(u64::from);
    let threads = arguments.threads.or(capacity).unwrap_or(THREADS);
    if let Some(most) = capacity.filter(|most| threads > *most) {
        let title = format!("no more than {most} threads can live at a time under `{}`", policy.framework);
        return Err(Failure::of_usage("--threads", error(title, format!("write --threads {most}, or leave it out"))));
    }
    if arguments.nodes.is_some() && !policy.has_nodes() {
        let title = format!("`{}` has no nodes", policy.name);
        return Err(Failure::of_usage("--nodes", error(title, "leave --nodes out".to_owned())));
    }
    Ok(Counts { threads, nodes: arguments.nodes.unwrap_or(if policy.has_nodes() { NODES } else { 1 }) })
}

/// Whether a handler has this name, or is written or shown with it.
fn is_called(handler: &Handler, wanted: &str) -> bool {
    let shown = wanted.strip_suffix(".*").filter(|_| handler.owner == Owner::Framework);
    handler.name == wanted || handler.written == wanted || shown == Some(family(handler))
}

fn is_handled(policy: &Policy, wanted: &str) -> Result<(), Failure> {
    let handlers = || policy.events.iter().chain(&policy.queries);
    if handlers().any(|handler| is_called(handler, wanted)) {
        return Ok(());
    }
    let names: BTreeSet<String> = handlers().map(|handler| handler.name.clone()).collect();
    let help = match nearest(wanted, &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`catapults wcet` without --explain lists them".to_owned(),
    };
    let title = format!("`{}` handles no event and no query `{wanted}`", policy.name);
    Err(Failure::of_usage("--explain", error(title, help)))
}

/// Those of which each is a line.
fn rows<'a>(found: &'a [Bound<'a>]) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    for bound in found {
        let own = |bound: &Bound<'_>| (bound.handler.at, family(bound.handler).to_owned(), bound.steps);
        let same = |row: &&mut Row<'_>| own(row.bound) == own(bound) && row.bound.formula == bound.formula;
        match rows.iter_mut().find(same) {
            Some(row) => row.events.push(&bound.handler.name),
            None => rows.push(Row { bound, events: vec![&bound.handler.name] }),
        }
    }
    rows
}

/// What handlers have in common that are one. The framework's own are repeated for each event of a family.
fn family(handler: &Handler) -> &str {
    match handler.owner {
        Owner::Policy => &handler.written,
        Owner::Framework => handler.name.split('.').next().unwrap_or_default(),
    }
}

impl Row<'_> {
    /// As the policy writes it, if it handles several events.
    fn name(&self) -> String {
        let handler = self.bound.handler;
        match (self.events.as_slice(), handler.owner) {
            ([only], _) => (*only).to_owned(),
            (_, Owner::Policy) => handler.written.clone(),
            (_, Owner::Framework) => format!("{}.*", family(handler)),
        }
    }

    fn is_query(&self) -> bool {
        self.bound.handler.returns.is_some()
    }
}
