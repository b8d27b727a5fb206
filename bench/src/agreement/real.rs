//! A scenario on the native runtime, by `bench/agreement/threads.c`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use catapults_compiler::scenario::{Amount, Phase, Scenario, Thread};
use catapults_compiler::vocabulary::Value;

use super::scenario::{Fate, Response};
use crate::place::Place;
use crate::process::{Processors, ending, limited};
use crate::statistics::median;

/// One run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Nanoseconds of a unit of work.
    pub unit: f64,
    /// The part of the processors' time for which kernel threads of ours waited for others.
    pub lost: f64,
    pub fates: Vec<Fate>,
}

/// Writes a scenario down as `threads.c` reads it.
///
/// # Errors
///
/// When it has something that is not run there.
pub fn written(scenario: &Scenario) -> Result<String> {
    let mut text = String::new();
    if !scenario.moments.is_empty() {
        bail!("in {} something happens from outside, which is not run here", scenario.name);
    }
    writeln!(text, "processors {}\ntick {}", scenario.processors, scenario.tick)?;
    writeln!(text, "duration {}", scenario.duration.unwrap_or(0))?;
    writeln!(text, "locks {}\nports {}", scenario.locks.len(), scenario.ports.len())?;
    for value in &scenario.values {
        writeln!(text, "set {}", assigned(&value.name, &value.value)?)?;
    }
    for thread in &scenario.threads {
        write_thread(&mut text, thread).with_context(|| format!("thread {} of {}", thread.name, scenario.name))?;
    }
    Ok(text)
}

fn write_thread(text: &mut String, thread: &Thread) -> Result<()> {
    let (Some(count), None, false, None) = (thread.count, &thread.every, thread.spawned, thread.under) else {
        bail!("threads that come one after the other, or under a hierarchy, are not run here");
    };
    if fixed(&thread.start)? != 0 {
        bail!("all threads are to come at the beginning");
    }
    writeln!(text, "thread {} {count} {}", thread.name, thread.period.unwrap_or(0))?;
    for value in &thread.values {
        writeln!(text, "with {}", assigned(&value.name, &value.value)?)?;
    }
    for phase in &thread.phases {
        match phase {
            Phase::Run(amount) => writeln!(text, "run {}", fixed(amount)?)?,
            Phase::Block(event, amount) if event == "block.sleep" => writeln!(text, "sleep {}", fixed(amount)?)?,
            Phase::Block(event, amount) if event == "block.io.read" => writeln!(text, "block {}", fixed(amount)?)?,
            Phase::Yield => writeln!(text, "yield")?,
            Phase::Lock(lock) => writeln!(text, "lock {lock}")?,
            Phase::Unlock(lock) => writeln!(text, "unlock {lock}")?,
            Phase::Send(port) => writeln!(text, "send {port}")?,
            Phase::Receive(port) => writeln!(text, "receive {port}")?,
            Phase::Jump(to) => writeln!(text, "jump {to}")?,
            Phase::Repeat { times, end } => writeln!(text, "repeat {times} {end}")?,
            Phase::Again(to) => writeln!(text, "again {to}")?,
            Phase::Exit => writeln!(text, "exit")?,
            Phase::End => writeln!(text, "end")?,
            Phase::Block(..)
            | Phase::YieldTo(_)
            | Phase::Wait(_)
            | Phase::Post(_)
            | Phase::Spawn(_)
            | Phase::Join(_)
            | Phase::Signal(_)
            | Phase::Broadcast(_)
            | Phase::Barrier(_)
            | Phase::Timer(..)
            | Phase::Suspend(_)
            | Phase::Resume(_)
            | Phase::Set(_) => bail!("{phase:?} is not run here"),
        }
    }
    Ok(())
}

fn fixed(amount: &Amount) -> Result<i64> {
    match amount {
        Amount::Fixed(Value::Int(number) | Value::Time(number)) => Ok(*number),
        Amount::Fixed(_)
        | Amount::Uniform(..)
        | Amount::Exponential(_)
        | Amount::Pareto { .. }
        | Amount::Listed(..) => {
            bail!("{amount:?}: what is drawn is drawn otherwise in reality; numbers are to be fixed")
        }
    }
}

fn assigned(name: &str, amount: &Amount) -> Result<String> {
    Ok(match amount {
        Amount::Fixed(Value::Bool(truth)) => format!("bool {name} {}", i32::from(*truth)),
        Amount::Fixed(Value::Int(number)) => format!("int {name} {number}"),
        Amount::Fixed(Value::Time(number)) => format!("time {name} {number}"),
        Amount::Fixed(_)
        | Amount::Uniform(..)
        | Amount::Exponential(_)
        | Amount::Pareto { .. }
        | Amount::Listed(..) => bail!("{name}: {amount:?} is not run here"),
    })
}

/// Runs what was [`written`] once, under a policy of the library.
///
/// # Errors
///
/// When the program is not built, or fails.
pub fn run(place: &Place, scenario: &Scenario, policy: &str, file: &Path) -> Result<Run> {
    let text = written(scenario)?;
    fs::write(file, &text).with_context(|| format!("cannot write {}", file.display()))?;
    let Processors { server, client } = Processors::first_two()?;
    let both = [server, client];
    let processors = if scenario.processors == 1 { &both[..1] } else { &both[..] };
    let output = limited(place.built("agreement/threads", "agreement")?, processors)
        .arg(file)
        .env("CATAPULTS_POLICY", place.built(&format!("policies/{policy}.so"), "build")?)
        .env_remove("CATAPULTS_TRACE")
        .env_remove("CATAPULTS_ACTIVATIONS")
        .output()
        .context("cannot start threads")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    // A policy that had to go says so there: what ran then was not it.
    if !output.status.success() || !complaint.is_empty() {
        bail!("{} under {policy} failed ({}):\n{complaint}", scenario.name, ending(output.status));
    }
    understood(&String::from_utf8_lossy(&output.stdout), scenario)
}

fn understood(text: &str, scenario: &Scenario) -> Result<Run> {
    let mut computed = BTreeMap::<&str, f64>::new();
    let mut responses = BTreeMap::<&str, Vec<f64>>::new();
    let mut numbers = BTreeMap::<&str, f64>::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let (Some(what), Some(last)) = (words.next(), words.next_back()) else { bail!("not understood: `{line}`") };
        let number: f64 = last.parse().with_context(|| format!("no number: `{line}`"))?;
        match (what, words.next()) {
            ("computed", Some(name)) => *computed.entry(name).or_default() += number,
            ("response", Some(name)) => responses.entry(name).or_default().push(number / 1e6),
            (_, None) => {
                numbers.insert(what, number);
            }
            _ => bail!("not understood: `{line}`"),
        }
    }
    let number = |name: &str| numbers.get(name).copied().with_context(|| format!("nothing was said of {name}"));
    let capacity = number("lasted")? * f64::from(scenario.processors);
    let fates = scenario.threads.iter().map(|thread| {
        let response = responses.get_mut(thread.name.as_str()).map(|all| {
            all.sort_by(f64::total_cmp);
            let place = (all.len() * 9).div_ceil(10).max(1) - 1;
            Response { jobs: all.len() as u64, mean: all.iter().sum::<f64>() / all.len() as f64, p90: all[place] }
        });
        let ran = computed.get(thread.name.as_str()).copied().unwrap_or(0.0);
        Fate { name: thread.name.clone(), share: 100.0 * ran / capacity, response }
    });
    Ok(Run { fates: fates.collect(), unit: number("unit")?, lost: number("lost")? / capacity })
}

/// Of each measure the median of all runs.
pub fn middle(runs: &[Run]) -> Vec<Fate> {
    let first = runs.first().map_or(&[][..], |run| &run.fates);
    let fates = first.iter().enumerate().map(|(place, fate)| {
        let all = |of: &dyn Fn(&Fate) -> Option<f64>| {
            let values: Vec<f64> = runs.iter().filter_map(|run| of(&run.fates[place])).collect();
            (values.len() == runs.len()).then(|| median(&values))
        };
        let mean = all(&|fate| fate.response.map(|response| response.mean));
        let p90 = all(&|fate| fate.response.map(|response| response.p90));
        let jobs = fate.response.map_or(0, |response| response.jobs);
        Fate {
            name: fate.name.clone(),
            share: all(&|fate| Some(fate.share)).unwrap_or(f64::NAN),
            response: mean.zip(p90).map(|(mean, p90)| Response { jobs, mean, p90 }),
        }
    });
    fates.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_runs() {
        let run = |share, response: Option<f64>| Run {
            unit: 1.0,
            lost: 0.0,
            fates: vec![Fate {
                name: "A".to_owned(),
                share,
                response: response.map(|mean| Response { jobs: 1, mean, p90: 2.0 * mean }),
            }],
        };
        let fates = middle(&[run(10.0, Some(3.0)), run(30.0, Some(1.0)), run(20.0, Some(2.0))]);
        assert_eq!(fates[0].share, 20.0);
        assert_eq!(fates[0].response.map(|response| (response.mean, response.p90)), Some((2.0, 4.0)));
        // One in which no job was done.
        assert!(middle(&[run(1.0, None), run(1.0, Some(1.0))])[0].response.is_none());
    }
}
