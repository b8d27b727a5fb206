//! Follows scripts (docs/frameworks.md, "Taking steps"): reads lines, has the kernel run a program for each, and answers with a line.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Write, stdin, stdout};

use crate::programs::{Programs, Step};
use crate::texts::{Import, Stop, filled};

/// Answers all lines of the standard input.
pub fn follow(object: &str) -> Result<(), String> {
    let mut host =
        Host { programs: Programs::load(object)?, known: BTreeSet::new(), variables: BTreeMap::new(), is_out: false };
    host.restart()?;
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let said = match words[..] {
            [] => continue,
            ["restart"] => {
                host.restart()?;
                continue;
            }
            _ if host.is_out => return Err(format!("the policy is out: {line}")),
            ref words => host.take(words).map_err(|said| format!("{line}: {said}"))?,
        };
        writeln!(out, "{said}").map_err(|error| error.to_string())?;
    }
    out.flush().map_err(|error| error.to_string())
}

struct Host {
    programs: Programs,
    /// The threads that live.
    known: BTreeSet<u64>,
    /// What the script has assigned to imported variables, by the numbers of the thread and of the variable. They are the application's:
    /// a thread that comes after another of its number finds them.
    variables: BTreeMap<(u64, i64), i64>,
    /// A guard has failed.
    is_out: bool,
}

impl Host {
    fn restart(&mut self) -> Result<(), String> {
        self.known.clear();
        self.variables.clear();
        self.is_out = false;
        self.programs.run("restart", Step::default()).map(|_| ())
    }

    /// Takes a step. What is answered.
    fn take(&mut self, words: &[&str]) -> Result<String, String> {
        match *words {
            ["ask", query] => self.ask(query, Step::default()),
            ["ask", query, thread] => {
                let thread = self.thread(thread)?;
                self.ask(query, Step { thread, ..Step::default() })
            }
            ["set_import", name, value] => {
                let (which, value) = assigned(&self.programs.texts.imports, name, value)?;
                self.silently("set_import", Step { which, value, ..Step::default() })
            }
            ["set_thread_import", thread, name, value] => {
                let thread = self.thread(thread)?;
                let (which, value) = assigned(&self.programs.texts.thread_imports, name, value)?;
                self.variables.insert((thread, which), value);
                self.silently("set_thread_import", Step { thread, which, value, ..Step::default() })
            }
            ["at", instant] => self.silently("at", Step { value: time(instant)?, ..Step::default() }),
            ["expire"] => self.expire(),
            ["schedule"] => {
                let done = self.programs.run("schedule", Step::default())?;
                Ok(match self.stopped(&done)? {
                    Some(said) => said,
                    None if done.answer < 0 => String::new(),
                    None => done.answer.to_string(),
                })
            }
            [event] => self.event(&event.replace('.', "_"), Step::default()),
            [event, thread] => {
                let thread = self.thread(thread)?;
                let step = Step { thread, ..Step::default() };
                let timeouts = &self.programs.texts.timeouts;
                match timeouts.iter().position(|timeout| timeout == event) {
                    Some(which) => self.event("timeout", Step { which: number(which)?, ..step }),
                    None => self.event(&event.replace('.', "_"), step),
                }
            }
            _ => Err("this is no step".to_owned()),
        }
    }

    /// Raises an event of a thread.
    fn event(&mut self, program: &str, step: Step) -> Result<String, String> {
        let done = self.programs.run(program, step)?;
        self.forget_gone(&done);
        Ok(self.stopped(&done)?.unwrap_or_default())
    }

    /// Raises the event of the timer that expires next, if its instant has come.
    fn expire(&mut self) -> Result<String, String> {
        if !self.programs.has("expire") {
            return Ok("nothing".to_owned());
        }
        let done = self.programs.run("expire", Step::default())?;
        if done.answer < 0 {
            return Ok("nothing".to_owned());
        }
        self.forget_gone(&done);
        if let Some(said) = self.stopped(&done)? {
            return Ok(said);
        }
        let timeout = usize::try_from(done.which).ok().and_then(|which| self.programs.texts.timeouts.get(which));
        Ok(format!("{} {}", timeout.ok_or("a timer without an event has expired")?, done.answer))
    }

    fn ask(&self, query: &str, step: Step) -> Result<String, String> {
        let answer = self.programs.run(query, step)?.answer;
        match query {
            "is_ready" | "can_switch_to" => Ok((answer != 0).to_string()),
            _ => Ok(answer.to_string()),
        }
    }

    fn silently(&self, program: &str, step: Step) -> Result<String, String> {
        self.programs.run(program, step).map(|_| String::new())
    }

    /// The number of a thread. One that is not known is set up.
    fn thread(&mut self, word: &str) -> Result<u64, String> {
        let thread = word.parse::<u64>().ok().filter(|thread| *thread < THREADS);
        let thread = thread.ok_or_else(|| format!("`{word}` is no number of a thread below {THREADS}"))?;
        if self.known.insert(thread) {
            self.programs.run("adopt", Step { thread, ..Step::default() })?;
            for ((_, which), value) in self.variables.range((thread, i64::MIN)..=(thread, i64::MAX)) {
                let step = Step { thread, which: *which, value: *value, ..Step::default() };
                self.programs.run("set_thread_import", step)?;
            }
        }
        Ok(thread)
    }

    /// A thread that is in no container is gone: destroyed, or refused.
    fn forget_gone(&mut self, done: &Step) {
        if done.gone != 0 {
            self.known.remove(&done.thread);
        }
    }

    /// Why the handler stopped, if it did.
    fn stopped(&mut self, done: &Step) -> Result<Option<String>, String> {
        let Some(index) = usize::try_from(done.stop).ok().and_then(|stop| stop.checked_sub(1)) else {
            return Ok(None);
        };
        let stop = self.programs.texts.stops.get(index);
        let Stop { is_refusal, line, text } = stop.ok_or("the handler stopped for a reason without a text")?;
        self.is_out = !is_refusal;
        Ok(Some(if *is_refusal {
            format!("fail {}", filled(text, &done.told))
        } else {
            format!("guard {line} {text}")
        }))
    }
}

/// `CATAPULTS_THREADS` of bpf/steps.bpf.c.
const THREADS: u64 = 4096;

/// The number of an imported variable, and what is assigned to it.
fn assigned(imports: &[Import], name: &str, value: &str) -> Result<(i64, i64), String> {
    let which = imports.iter().position(|import| import.name == name);
    let which = which.ok_or_else(|| format!("the policy does not import {name}"))?;
    let value = match imports[which].ty.as_str() {
        "bool" => i64::from(value == "true"),
        "time" => time(value)?,
        _ => value.parse().map_err(|_| format!("`{value}` is no number"))?,
    };
    Ok((number(which)?, value))
}

fn number(index: usize) -> Result<i64, String> {
    i64::try_from(index).map_err(|error| error.to_string())
}

/// `25ms` in nanoseconds.
fn time(word: &str) -> Result<i64, String> {
    let wrong = || format!("`{word}` is no time");
    let unit = word.find(|character: char| character.is_ascii_alphabetic()).ok_or_else(wrong)?;
    let (count, unit) = word.split_at(unit);
    let length: i64 = match unit {
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1000,
        "ns" => 1,
        _ => return Err(wrong()),
    };
    Ok(count.parse::<i64>().map_err(|_| wrong())?.wrapping_mul(length))
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_have_units() {
        assert_eq!((time("25ms"), time("-3s"), time("7ns")), (Ok(25_000_000), Ok(-3_000_000_000), Ok(7)));
        assert!(time("25").is_err() && time("ms").is_err() && time("1min").is_err());
    }
}
