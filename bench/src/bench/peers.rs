//! Ours beside other thread libraries, in the loops of `bench/peers/loops.h`. Every program in `build/bench/peers` takes
//! part: adding a peer is adding a folder to `bench/peers`.

mod goals;
mod program;
mod tables;

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::place::Place;
use crate::process::Processors;
use crate::results::Goal;

use program::Program;

/// What the tables call ours, with a policy compiled in or loaded.
const COMPILED_IN: &str = "Catapults, FIFO compiled in";
const LOADED: &str = "Catapults, FIFO as shared object";
const PRIORITIES: &str = "Catapults, priorities compiled in";

/// How long a run of a slow program may be, about. Fast ones do all their operations in less.
const NANOSECONDS: f64 = 1e9;
/// Between so many operations and twice as many, instructions are counted: several turns for each of 10,000 threads.
const OPERATIONS_COUNTED: u64 = 100_000;
/// Threads of the last row, and the bytes that must be free for them.
const MILLION: u64 = 1_000_000;
const BYTES_OF_A_MILLION: f64 = 8e9;
const ROUNDS_OF_A_MILLION: u32 = 3;

/// By the names of programs, by the names of what they measured, a number for each round.
type Figures = BTreeMap<String, BTreeMap<String, Vec<f64>>>;

/// What the instructions of a loop's operation are called.
fn instructions_of(figure: &str) -> String {
    format!("{figure} instructions")
}

/// What was found: every repeat, the goals, the tables as text, and as they stand in `bench/README.md`.
pub struct Found {
    pub repeats: Value,
    pub goals: Vec<Goal>,
    pub text: String,
    pub document: String,
}

/// Runs all programs, `rounds` times in turn.
pub fn measure(place: &Place, rounds: u32) -> Result<Found> {
    let processor = Processors::first_two()?.server;
    let programs = programs(place)?;
    let mut jobs = Vec::new();
    eprintln!("bench: peers: how long does each take?");
    for (index, program) in programs.iter().enumerate() {
        for name in program.loops.keys() {
            jobs.push((index, name.clone(), program.count_within(name, NANOSECONDS, processor)));
        }
    }
    // All programs of one loop are neighbours in time.
    jobs.sort_by(|one, other| (&one.1, one.0).cmp(&(&other.1, other.0)));

    let mut figures = Figures::new();
    let mut failures = BTreeMap::<String, String>::new();
    let mut note = |program: &Program, name: &str, count: Option<u64>| match program.run(name, count, processor) {
        Ok(values) => {
            let of_program = figures.entry(program.name.clone()).or_default();
            for (what, value) in values {
                // The name that a loop has by itself, else which of its figures: memory_10000 resident_bytes.
                let key = if what == name { what } else { format!("{name}_{} {what}", count.unwrap_or_default()) };
                of_program.entry(key).or_default().push(value);
            }
        }
        Err(error) => {
            failures.insert(format!("{}, {name}", program.name), format!("{error:#}"));
        }
    };
    for round in 0..rounds {
        eprintln!("bench: peers, {} of {rounds}", round + 1);
        let half = jobs.len() * round as usize / rounds as usize; // who begins takes turns
        for (index, name, count) in jobs[half..].iter().chain(&jobs[..half]) {
            note(&programs[*index], name, Some(*count));
        }
    }
    if program::available_memory() > BYTES_OF_A_MILLION {
        for round in 0..ROUNDS_OF_A_MILLION.min(rounds) {
            eprintln!("bench: a million threads, {} of {}", round + 1, ROUNDS_OF_A_MILLION.min(rounds));
            let ours = programs.iter().find(|program| program.name == COMPILED_IN).context("ours is not there")?;
            note(ours, "memory", Some(MILLION));
        }
    } else {
        eprintln!(
            "bench: less than {:.0} GB of memory are free: a million threads are left out",
            BYTES_OF_A_MILLION / 1e9
        );
    }

    for program in programs.iter().filter(|program| [COMPILED_IN, LOADED, PRIORITIES].contains(&program.name.as_str()))
    {
        eprintln!("bench: instructions of {}", program.name);
        for name in program.loops.keys().filter(|name| *name != "memory") {
            let counted = program.instructions(name, OPERATIONS_COUNTED)?;
            figures.entry(program.name.clone()).or_default().insert(instructions_of(name), vec![counted]);
        }
    }

    let mut text = tables::medians(&programs, &figures).to_string();
    text += &format!("\n\nHow many times ours, {COMPILED_IN}:\n\n{}\n", tables::ratios(&programs, &figures));
    let mut document = tables::document(&programs, &figures);
    for (what, why) in &failures {
        eprintln!("bench: {what}: {why}");
        writeln!(document, "- {what} failed at least once: {}", why.lines().next().unwrap_or_default())?;
    }
    let counts: BTreeMap<String, u64> =
        jobs.iter().map(|(index, name, count)| (format!("{}, {name}", programs[*index].name), *count)).collect();
    let versions: BTreeMap<&str, &str> =
        programs.iter().map(|program| (program.name.as_str(), program.version.as_str())).collect();
    Ok(Found {
        goals: goals::of(&figures),
        repeats: json!({"versions": versions, "operations": counts, "figures": figures, "failures": failures}),
        text,
        document,
    })
}

fn programs(place: &Place) -> Result<Vec<Program>> {
    let fifo = place.built("policies/fifo.so", "bench")?;
    let mut programs = Vec::new();
    for (name, file, policy) in [
        (COMPILED_IN, "bench/loops-compiled-in", None),
        (LOADED, "bench/loops-loaded", Some(fifo)),
        (PRIORITIES, "bench/loops-priority", None),
    ] {
        let mut ours = Program::at(place.built(file, "bench")?, policy)?;
        name.clone_into(&mut ours.name);
        ours.loops.retain(|of, _| (of == "priority") == (name == PRIORITIES));
        programs.push(ours);
    }
    let folder = place.built("bench/peers", "bench")?;
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        files.push(entry?.path());
    }
    files.sort();
    for file in files {
        let peer = Program::at(file, None)?;
        if programs.iter().any(|program| program.name == peer.name) {
            bail!("two peers call themselves {}", peer.name);
        }
        programs.push(peer);
    }
    Ok(programs)
}
