//! `catapults top`.

use crate::arguments::Top;
use crate::console::Console;
use crate::failure::Failure;
use crate::interrupt;
use crate::live::{Live, Refusal};
use crate::said::{Kind, Said, Thread, Variable};
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use catapults_simulator::picture::visible;
use catapults_simulator::sim::duration;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_secs(1);
/// How often it is looked whether to end.
const LOOK: Duration = Duration::from_millis(50);

pub fn top(console: &Console, arguments: &Top) -> Result<(), Failure> {
    let live = Live::open(arguments.process)?;
    if arguments.json {
        return console.data(&format!("{}\n", object(arguments.process, &said(&live, arguments.process)?)));
    }
    if arguments.once || !io::stdout().is_terminal() {
        let said = said(&live, arguments.process)?;
        return console.result(&picture(arguments.process, &said, None, &Seen::default(), usize::MAX));
    }
    watch(console, &live, arguments.process)
}

pub(super) fn said(live: &Live, process: u32) -> Result<Said, Failure> {
    live.ask("look", None).map(|text| Said::read(&text)).map_err(|refusal| match refusal {
        Refusal::Lost(failure) => failure,
        Refusal::Said(why) => {
            let diagnostic =
                Diagnostic::error("E0530", format!("the process does not answer: {why}"), At::default(), "");
            Failure::of(&process.to_string(), diagnostic.help("ask again"))
        }
    })
}

// ---- On a terminal --------------------------------------------------------------------------------------------------

/// Another screen, which is left as it was.
struct Screen<'a>(&'a Console);

impl<'a> Screen<'a> {
    fn open(console: &'a Console) -> Result<Self, Failure> {
        console.data("\x1b[?1049h\x1b[?25l")?;
        Ok(Screen(console))
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        // If the terminal is gone, so is the screen.
        let _ = self.0.data("\x1b[?25h\x1b[?1049l");
    }
}

fn watch(console: &Console, live: &Live, process: u32) -> Result<(), Failure> {
    let stop = interrupt::asks();
    // How long threads run is counted while somebody looks on, and the runtime notices when nobody does.
    let counting = live.ask("watch 1", None);
    if let Err(Refusal::Lost(failure)) = counting {
        return Err(failure);
    }
    let screen = Screen::open(console)?;
    let mut before: Option<(Instant, Said)> = None;
    let mut seen = Seen::default();
    loop {
        let now = Instant::now();
        let said = said(live, process)?;
        seen.look(now, &said, before.as_ref().map(|(_, said)| said));
        let (columns, rows) = terminal_size::terminal_size().map_or((80, 24), |(width, height)| (width.0, height.0));
        let last = before.as_ref().map(|(then, said)| (now.duration_since(*then), said));
        let text = picture(process, &said, last, &seen, usize::from(rows).saturating_sub(1));
        let lines = text.lines().map(|line| line.chars().take(usize::from(columns)).collect::<String>());
        let lines: Vec<String> = lines.map(|line| format!("{}\x1b[K", visible(&line))).collect();
        console.data(&format!("\x1b[H{}\x1b[J", lines.join("\r\n")))?;
        before = Some((now, said));
        while now.elapsed() < EVERY {
            if stop.load(Ordering::Acquire) {
                drop(screen);
                return Err(Failure::Interrupted(interrupt::signal()));
            }
            thread::sleep(LOOK);
        }
    }
}

/// Since when each thread that is READY has been seen so, without having run since.
#[derive(Default)]
struct Seen(HashMap<u32, Instant>);

impl Seen {
    fn look(&mut self, now: Instant, said: &Said, before: Option<&Said>) {
        let consumed: HashMap<u32, i64> =
            before.map(|said| said.threads.iter().map(|one| (one.number, one.consumed)).collect()).unwrap_or_default();
        let still = |one: &&Thread| one.state == "READY";
        let has_run = |one: &Thread| consumed.get(&one.number).is_some_and(|before| *before != one.consumed);
        self.0 = said
            .threads
            .iter()
            .filter(still)
            .map(|one| (one.number, if has_run(one) { now } else { *self.0.get(&one.number).unwrap_or(&now) }))
            .collect();
    }

    fn since(&self, number: u32) -> Option<Duration> {
        self.0.get(&number).map(Instant::elapsed)
    }
}

// ---- The table ------------------------------------------------------------------------------------------------------

/// The order in which states are shown.
const STATES: [(&str, &str); 5] = [
    ("RUNNING", "running"),
    ("READY", "ready"),
    ("LENDING", "lending"),
    ("BLOCKED", "blocked"),
    ("SUSPENDED", "suspended"),
];

/// At most so many lines. `before`: what was said so long ago.
fn picture(process: u32, said: &Said, before: Option<(Duration, &Said)>, seen: &Seen, rows: usize) -> String {
    let mut text = heading(process, said, before);
    let last: HashMap<u32, i64> =
        before.map(|(_, said)| said.threads.iter().map(|one| (one.number, one.consumed)).collect()).unwrap_or_default();
    let share = |one: &Thread| {
        let (passed, consumed) = (before?.0.as_nanos(), one.consumed - last.get(&one.number).copied().unwrap_or(0));
        Some(u128::try_from(consumed).unwrap_or(0) * 1000 / passed.max(1))
    };
    let place = |one: &Thread| STATES.iter().position(|(state, _)| *state == one.state).unwrap_or(STATES.len());
    let mut threads: Vec<(usize, Option<u128>, &Thread)> =
        said.threads.iter().map(|one| (place(one), share(one), one)).collect();
    threads.sort_by_key(|(place, share, one)| (*place, std::cmp::Reverse(share.unwrap_or(0)), one.number));
    let used = text.lines().count() + 1;
    let most = rows.saturating_sub(used + 1);
    let left = threads.len().saturating_sub(most);
    let most = if left > 0 { most } else { threads.len() };
    let mut table = vec![["THREAD", "STATE", "CPU", "TIME", "READY", "NAME", "WAITS"].map(str::to_owned)];
    for (_, share, one) in threads.iter().take(most) {
        table.push([
            one.number.to_string(),
            one.state.clone(),
            share.map_or("-".to_owned(), |share| format!("{}.{}%", share / 10, share % 10)),
            if said.counted { duration(one.consumed) } else { "-".to_owned() },
            seen.since(one.number).map_or("-".to_owned(), |since| format!("{} s", since.as_secs())),
            one.name.clone(),
            waits(said, one),
        ]);
    }
    lay_out(&mut text, &table);
    if left > 0 {
        let _ = writeln!(text, "and {left} more");
    }
    text
}

fn heading(process: u32, said: &Said, before: Option<(Duration, &Said)>) -> String {
    let mut text = String::new();
    let root = said.schedulers.first();
    let source = root.map_or("", |root| &root.source);
    let source = if source.is_empty() || source == said.policy() { String::new() } else { format!(" ({source})") };
    let _ = write!(text, "process {process}, policy {}{source}, ", said.policy());
    let _ = writeln!(text, "{} processor{}", said.processors, if said.processors == 1 { "" } else { "s" });
    let states = STATES.iter().map(|(state, word)| (said.count(state), word)).filter(|(count, _)| *count > 0);
    let states: Vec<String> = states.map(|(count, word)| format!("{count} {word}")).collect();
    let threads = said.threads.len();
    let _ = write!(text, "{threads} thread{}: {}", if threads == 1 { "" } else { "s" }, states.join(", "));
    let _ = match before {
        Some((passed, before)) => {
            let passed = passed.as_millis().max(1);
            let decisions = u128::from(said.decisions.saturating_sub(before.decisions)) * 1000 / passed;
            writeln!(text, "; about {decisions} decisions a second")
        }
        None => writeln!(text, "; about {} decisions so far", said.decisions),
    };
    for scheduler in said.schedulers.iter().skip(1) {
        let _ = writeln!(text, "scheduler {}, policy {} ({})", scheduler.name, scheduler.policy, scheduler.source);
    }
    let variables: Vec<String> = said.variables.iter().filter(|one| !one.per_thread).map(value_of).collect();
    if !variables.is_empty() {
        let _ = writeln!(text, "variables: {}", variables.join(", "));
    }
    text.push('\n');
    text
}

fn value_of(one: &Variable) -> String {
    let signed = one.bits.cast_signed();
    match one.kind {
        Kind::Int => format!("{} = {signed}", one.name),
        Kind::Bool => format!("{} = {}", one.name, one.bits != 0),
        Kind::Time => format!("{} = {}", one.name, duration(signed)),
        Kind::Float => format!("{} = {}", one.name, f64::from_bits(one.bits)),
    }
}

fn waits(said: &Said, one: &Thread) -> String {
    let left = one.instant.map(|instant| duration((instant - said.now).max(0)));
    left.map_or_else(|| one.wait.clone(), |left| format!("{}, for {left} at most", one.wait))
}

/// Numbers are to the right, words to the left.
fn lay_out(text: &mut String, rows: &[[String; 7]]) {
    const RIGHT: [bool; 7] = [true, false, true, true, true, false, false];
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..RIGHT.len()).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).zip(RIGHT);
        let cells = cells.map(|((cell, width), right)| match right {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}

// ---- For programs ---------------------------------------------------------------------------------------------------

fn object(process: u32, said: &Said) -> Value {
    let name = |number: u32| said.schedulers.iter().find(|one| one.number == number).map(|one| one.name.as_str());
    let schedulers = said.schedulers.iter().map(|one| {
        json!({
            "name": one.name,
            "parent": (one.number != 0).then(|| name(one.parent)),
            "policy": one.policy,
            "source": one.source,
        })
    });
    let variables = said.variables.iter().map(|one| {
        let value = match one.kind {
            _ if one.per_thread => Value::Null,
            Kind::Int | Kind::Time => json!(one.bits.cast_signed()),
            Kind::Bool => json!(one.bits != 0),
            Kind::Float => json!(f64::from_bits(one.bits)),
        };
        json!({
            "name": one.name,
            "scheduler": name(one.scheduler),
            "of_threads": one.per_thread,
            "kind": one.kind.name(),
            "value": value,
            "kept": one.kept,
        })
    });
    let threads = said.threads.iter().map(|one| {
        json!({
            "number": one.number,
            "name": one.name,
            "state": one.state.to_lowercase(),
            "scheduler": name(one.scheduler),
            "consumed": said.counted.then_some(one.consumed),
            "waits": (!one.wait.is_empty()).then_some(&one.wait),
            "waits_for": one.waits_for,
            "left": one.instant.map(|instant| (instant - said.now).max(0)),
        })
    });
    json!({
        "type": "process",
        "process": process,
        "policy": said.policy(),
        "processors": said.processors,
        "decisions": said.decisions,
        "schedulers": schedulers.collect::<Vec<_>>(),
        "variables": variables.collect::<Vec<_>>(),
        "threads": threads.collect::<Vec<_>>(),
    })
}
