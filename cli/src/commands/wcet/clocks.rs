//! `catapults wcet --unit clocks`: bounds of what the application calls, in the code that the processor runs.

mod data;
mod program;
mod refused;
mod shown;

use super::{counts, error};
use crate::arguments::Wcet;
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks::{self, nearest};
use catapults_compiler::source::Source;
use catapults_compiler::steps::{Counts, Steps};
use catapults_wcet::bound::{Bound, bounds};
use catapults_wcet::host::Host;
use catapults_wcet::processors;
use program::Program;
use std::collections::BTreeSet;
use std::path::Path;

/// A program whose entries have bounds.
struct Bounded<'a> {
    file: &'a Path,
    framework: &'a str,
    /// The policy's source.
    source: &'a Source,
    program: &'a Program,
    counts: Counts,
    /// How many threads there can be at the most, if the framework sees to it.
    capacity: Option<u64>,
    bounds: Vec<Bound>,
    /// With their paths.
    explained: bool,
}

pub fn wcet(console: &Console, arguments: &Wcet) -> Result<(), Failure> {
    let found = frameworks::find(console, &arguments.framework.framework)?;
    let file = &arguments.file;
    let source = super::read_source(file)?;
    let verified = super::compile_source(console, file, &source, &found.framework)?;
    let counts = counts(arguments, verified.policy())?;
    let handled: BTreeSet<String> = verified.policy().events.iter().map(|handler| handler.name.clone()).collect();
    let turns = Steps::of(&verified, &found.framework).turns();
    let program = Program::of(console, &found, verified)?;
    let processor = program.processor()?;
    let wanted = arguments.explain.as_deref();
    wanted.map_or(Ok(()), |wanted| is_called(&program, wanted))?;
    let turns = |place: &str| turns.get(place).copied();
    let capacity = found.framework.capacity.map(u64::from);
    let host = Host { image: &program.image, processor, costs: &program.costs, turns: &turns, counts, capacity };
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for (entry, found) in bounds(&host).into_iter().filter(|(entry, _)| wanted.is_none_or(|wanted| entry == wanted)) {
        match found {
            Ok(mut bound) => {
                bound.events.retain(|event| handled.contains(event));
                known.push(bound);
            }
            Err(refused) => unknown.push((entry, refused)),
        }
    }
    let framework = found.framework.name.as_str();
    let explained = wanted.is_some();
    let bounded =
        Bounded { file, framework, source: &source, program: &program, counts, capacity, bounds: known, explained };
    if !bounded.bounds.is_empty() {
        console.result(&shown::text(&bounded))?;
        if console.is_json() {
            console.record(&data::object(&bounded));
        }
    }
    refused::told(console, &bounded, unknown)
}

impl Program {
    /// The processor for which the program is.
    fn processor(&self) -> Result<&'static dyn processors::Processor, Failure> {
        let name = &self.costs.processor;
        processors::named(name).ok_or_else(|| {
            let known = processors::NAMES.join("`, `");
            Failure::of(
                &self.told_by.display().to_string(),
                error(format!("clocks are not known of a processor `{name}`"), format!("there is `{known}`")),
            )
        })
    }
}

fn is_called(program: &Program, wanted: &str) -> Result<(), Failure> {
    if program.costs.entries.iter().any(|(entry, _)| entry == wanted) {
        return Ok(());
    }
    let names: BTreeSet<String> = program.costs.entries.iter().map(|(entry, _)| entry.clone()).collect();
    let raising = program.costs.entries.iter().filter(|(_, events)| events.iter().any(|event| event == wanted));
    let raising: Vec<&str> = raising.map(|(entry, _)| entry.as_str()).collect();
    let help = match (raising.as_slice(), nearest(wanted, &names)) {
        ([_, ..], _) => format!("clocks are of whole functions, and these raise `{wanted}`: {}", raising.join(", ")),
        ([], Some(near)) => format!("did you mean `{near}`?"),
        ([], None) => "`catapults wcet --unit clocks` without --explain lists them".to_owned(),
    };
    let title = format!("the application can call no function `{wanted}`");
    Err(Failure::of_usage("--explain", error(title, help)))
}
