//! The web server: what its threads did under FIFO is recorded, done again in a simulation under the policy that prefers what is nearly
//! sent, and compared with what the server then does under that.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use catapults_compiler::framework::Framework;
use catapults_compiler::source::Source;
use catapults_simulator::sim::{Kind, Record, Sink};
use catapults_simulator::trace::{Doing, Reader, Reason, States, What, Whose};
use serde_json::{Value, json};

use super::Row;
use super::scenario;
use crate::client::Load;
use crate::files::{self, Served};
use crate::place::Place;
use crate::process::Processors;
use crate::server::{Cow, Host};
use crate::statistics::median;

/// What is recorded, then what is predicted.
const POLICIES: [&str; 2] = ["fifo", "cow"];
/// Sizes of files and how often they are asked for. The first is sent by one call, whatever a turn is.
const FILES: [(u64, f64); 3] = [(8 << 10, 0.6), (32 << 10, 0.3), (128 << 10, 0.1)];
/// Bytes of a turn: so few that the server, not the client, is the limit.
const TURN: u32 = 1024;
/// How far apart, in nanoseconds, the runtime looks whether requests have come while handlers take turns: `SHORT` to `LONG` of
/// `frameworks/native/dispatcher/idle.c`.
const POLL: u64 = 40_000;
/// Connections that are kept, and a handler for each.
const HANDLERS: usize = 20;
/// Of each handler so many turns are simulated, again and again: more are more text than a scenario may have.
const MOST: usize = 75_000 / HANDLERS;

/// What was found.
pub struct Found {
    pub rows: Vec<Row>,
    /// Nanoseconds from one thread to the next that no thread has.
    pub dispatch: f64,
    pub repeats: Value,
}

/// How requests fared, in reality or simulated.
#[derive(Clone, Debug, Default)]
struct Responses {
    /// By the size of the file, in milliseconds.
    all: [Vec<f64>; FILES.len()],
    /// From the first to the last, in seconds.
    seconds: f64,
    batches: usize,
}

impl Responses {
    fn mean(&self, size: usize) -> f64 {
        self.all[size].iter().sum::<f64>() / self.all[size].len() as f64
    }

    fn mean_of_all(&self) -> f64 {
        self.all.iter().flatten().sum::<f64>() / self.count() as f64
    }

    fn count(&self) -> usize {
        self.all.iter().map(Vec::len).sum()
    }

    /// How many came before anything else ran.
    fn together(&self) -> f64 {
        self.count() as f64 / self.batches as f64
    }

    fn rate(&self) -> f64 {
        self.count() as f64 / self.seconds
    }
}

/// What a handler does, one thing after the other; times in nanoseconds.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Run(u64),
    Yield,
    /// For the client to take more.
    Write(u64),
}

/// From when it is there until the next one is waited for.
#[derive(Clone, Debug, Default)]
struct Request {
    /// How long it was waited for.
    wait: u64,
    released: u64,
    done: u64,
    phases: Vec<Phase>,
}

impl Request {
    fn turns(&self) -> usize {
        self.phases.iter().filter(|phase| matches!(phase, Phase::Yield)).count()
    }
}

/// Records, simulates and measures, some times.
pub fn measure(place: &Place, framework: &Framework, repeats: u32, seconds: u32) -> Result<Found> {
    let root = place.folder("build/agreement/files")?;
    let mut served = Vec::new();
    for (bytes, weight) in FILES {
        let file = files::single(&root, &bytes.to_string(), bytes)?;
        served.extend(file.into_iter().map(|file| Served { weight, ..file }));
    }
    let mut runs = Vec::new();
    for repeat in 0..repeats {
        eprintln!("agreement: the web server, {} of {repeats}", repeat + 1);
        runs.push(run(place, framework, &root, &served, repeat, seconds)?);
    }
    let of = |number: &dyn Fn(&Run) -> f64| median(&runs.iter().map(number).collect::<Vec<_>>());
    let more = |number: &dyn Fn(&Run) -> [f64; 2]| 100.0 * (of(&|run| number(run)[1] / number(run)[0]) - 1.0);
    // What is known to differ between what was recorded, what was simulated of it, and what was measured.
    let reason = |index: usize| {
        format!(
            "requests were noticed {:.1} at a time, simulated {:.1}; one took {:+.0} % of the processor's time beside what was recorded",
            of(&|run| run.real[index].together()),
            of(&|run| run.simulated[index].together()),
            more(&|run| [run.work[0], run.work[index]])
        )
    };
    let mut rows = Vec::new();
    for (index, policy) in POLICIES.iter().enumerate() {
        let mut add = |measure: String, unit, number: &dyn Fn(&Responses) -> f64| {
            let simulated = of(&|run| number(&run.simulated[index]));
            let real = of(&|run| number(&run.real[index]));
            let mut row = Row::new(("cow, the web server", policy, 1), measure, simulated, real, unit);
            row.reason = row.is_missed().then(|| reason(index));
            rows.push(row);
        };
        add("requests".to_owned(), "/s", &Responses::rate);
        for (size, (bytes, _)) in FILES.iter().enumerate() {
            add(format!("mean response of {} KiB", bytes >> 10), "ms", &|responses| responses.mean(size));
        }
    }
    let ratio = |of: &[Responses; 2]| of[1].mean_of_all() / of[0].mean_of_all();
    let (simulated, seen) = (of(&|run| ratio(&run.simulated)), of(&|run| run.seen[1] / run.seen[0]));
    let measure = "mean response of all that the client sees, beside that under fifo".to_owned();
    let mut row = Row::new(("cow, the web server", POLICIES[1], 1), measure, simulated, seen, "×");
    row.reason = row.is_missed().then(|| reason(1));
    rows.push(row);
    let told: Vec<Value> = runs.iter().map(Run::told).collect();
    Ok(Found { rows, dispatch: of(&|run| run.dispatch), repeats: json!(told) })
}

/// One recording, by policy what was simulated of it, and what was measured.
struct Run {
    simulated: [Responses; 2],
    real: [Responses; 2],
    /// Mean response times that the client saw, in microseconds.
    seen: [f64; 2],
    /// What a request took of the processor, in nanoseconds.
    work: [f64; 2],
    dispatch: f64,
}

impl Run {
    fn told(&self) -> Value {
        let responses = |of: &Responses| {
            let means: Vec<f64> = (0..FILES.len()).map(|size| of.mean(size)).collect();
            json!({"requests": of.count(), "seconds": of.seconds, "together": of.together(), "means": means})
        };
        json!({
            "simulated": self.simulated.iter().map(responses).collect::<Vec<_>>(),
            "real": self.real.iter().map(responses).collect::<Vec<_>>(),
            "seen": self.seen,
            "work": self.work,
            "dispatch": self.dispatch,
        })
    }
}

fn run(place: &Place, framework: &Framework, root: &Path, served: &[Served], repeat: u32, seconds: u32) -> Result<Run> {
    let mut recordings = Vec::new();
    let mut seen = Vec::new();
    for policy in POLICIES {
        let (recording, mean) = record(place, root, served, policy, repeat, seconds)?;
        recordings.push(recording);
        seen.push(mean);
    }
    let recording = &recordings[0];
    let mut simulated = Vec::new();
    for policy in POLICIES {
        let text = written(recording, policy, seconds)?;
        simulated.push(simulate(place, framework, Source::new("the recorded requests", text))?);
    }
    let real: Vec<Responses> = recordings.iter().map(Recording::responses).collect();
    Ok(Run {
        simulated: <[Responses; 2]>::try_from(simulated).ok().context("two policies")?,
        real: <[Responses; 2]>::try_from(real).ok().context("two policies")?,
        seen: <[f64; 2]>::try_from(seen).ok().context("two policies")?,
        work: [recordings[0].work(), recordings[1].work()],
        dispatch: recording.dispatch,
    })
}

/// What the handlers did while there was load.
struct Recording {
    /// By handler, in order.
    requests: Vec<Vec<Request>>,
    batches: usize,
    /// In nanoseconds.
    length: u64,
    dispatch: f64,
}

/// Runs the server under a policy and load. Also how long responses took, for the client.
fn record(
    place: &Place,
    root: &Path,
    served: &[Served],
    policy: &str,
    repeat: u32,
    seconds: u32,
) -> Result<(Recording, f64)> {
    let processors = Processors::first_two()?;
    let work = place.folder("build/agreement")?;
    let (log, trace) = (work.join("server.log"), work.join(format!("cow.{policy}.trace")));
    let (handlers, turn) = (HANDLERS, Some(TURN));
    let cow = Cow { on: Host::Native(policy), handlers, root, turn, trace: Some(&trace), log: &log };
    let server = cow.start(place, processors)?;
    server.warm(served)?;
    let load = Load {
        connections: HANDLERS,
        seconds,
        close: false,
        files: served,
        processors: &[processors.client],
        seed: u64::from(repeat),
    };
    let outcome = load.run(place, server.address())?;
    server.stop()?;
    let file = File::open(&trace).with_context(|| format!("the server left no {}", trace.display()))?;
    let recording = read(file, seconds).with_context(|| trace.display().to_string())?;
    Ok((recording, outcome.mean))
}

/// Reads a trace: of its load nine tenths, without its beginning and its end. Handlers are those that wait for requests.
fn read(file: File, seconds: u32) -> Result<Recording> {
    let mut trace = Reader::new(file)?;
    let mut threads = HashMap::<u32, Following>::new();
    let mut choosing = Vec::new();
    let mut states = States::of(&trace);
    let mut stays = Vec::new();
    let mut dispatches = Vec::new();
    let mut batches = Batches::default();
    while let Some(record) = trace.next_record()? {
        states.record(&record, &mut stays)?;
        for stay in stays.drain(..) {
            if matches!(stay.whose, Whose::Processor(_, Doing::Choosing)) {
                choosing.push((stay.since, stay.until - stay.since));
            }
        }
        let step = match record.what {
            What::Dispatched | What::Lent { .. } => Step::Runs,
            What::Preempted => Step::Stops,
            What::SwitchedOut => Step::Yields,
            What::Blocked(Reason::Read) => Step::WaitsForRequest,
            What::Blocked(_) => Step::Waits,
            What::Raised => Step::Wakes,
            What::New
            | What::Named { .. }
            | What::Exited
            | What::Refused
            | What::PolicyOut
            | What::Suspended
            | What::Resumed
            | What::Idle
            | What::Value { .. }
            | What::Lost { .. } => continue,
        };
        if step == Step::Runs {
            dispatches.push(record.time_ns);
        }
        let thread = threads.entry(record.thread).or_default();
        batches.takes(record.time_ns, step, thread);
        thread.takes(record.time_ns, step);
    }
    let all = threads.values().flat_map(|thread| &thread.requests);
    let (mut first, mut last) = (u64::MAX, 0);
    for request in all {
        (first, last) = (first.min(request.released), last.max(request.done));
    }
    ensure!(last > 0, "there is no request in it");
    let length = u64::from(seconds) * 1_000_000_000;
    // The ring may not hold all of it.
    let begin = first.max(last.saturating_sub(length));
    let (from, to) = (begin + (last - begin) / 20, last - (last - begin) / 20);
    let within = |instant: u64| (from..to).contains(&instant);
    let mut numbers: Vec<u32> = threads.keys().copied().collect();
    numbers.sort_unstable();
    let mut requests = Vec::new();
    for number in numbers {
        let mut of_thread = threads.remove(&number).map_or(Vec::new(), |thread| thread.requests);
        of_thread.retain(|request| within(request.released) && within(request.done));
        requests.push(of_thread);
    }
    requests.retain(|requests| !requests.is_empty());
    ensure!(requests.len() == HANDLERS, "of {HANDLERS} handlers {} had requests", requests.len());
    let lost: u64 = choosing.iter().filter(|(since, _)| within(*since)).map(|(_, length)| length).sum();
    let dispatches = dispatches.iter().filter(|instant| within(**instant)).count();
    let batches = batches.0.iter().filter(|instant| within(**instant)).count();
    Ok(Recording { requests, batches, length: to - from, dispatch: lost as f64 / dispatches.max(1) as f64 })
}

impl Recording {
    fn work(&self) -> f64 {
        let run = |phase: &Phase| if let Phase::Run(length) = phase { *length } else { 0 };
        let sum: u64 = self.requests.iter().flatten().flat_map(|request| &request.phases).map(run).sum();
        sum as f64 / self.requests.iter().map(Vec::len).sum::<usize>() as f64
    }

    fn responses(&self) -> Responses {
        let seconds = self.length as f64 / 1e9;
        let mut responses = Responses { seconds, batches: self.batches, ..Responses::default() };
        for request in self.requests.iter().flatten() {
            responses.all[size_of(request.turns())].push((request.done - request.released) as f64 / 1e6);
        }
        responses
    }
}

/// Which of the files it was, by how often its handler yielded.
fn size_of(turns: usize) -> usize {
    let of_file = |bytes: u64| usize::try_from(bytes / u64::from(TURN)).unwrap_or(0);
    let between = |one: u64, other: u64| (of_file(one) + of_file(other)) / 2;
    match turns {
        0 => 0,
        some if some < between(FILES[1].0, FILES[2].0) => 1,
        _ => 2,
    }
}

/// What happens to a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Runs,
    /// It could go on.
    Stops,
    Yields,
    WaitsForRequest,
    Waits,
    Wakes,
}

/// When requests came, those counted once that came before anything else ran.
#[derive(Default)]
struct Batches(Vec<u64>, bool);

impl Batches {
    fn takes(&mut self, now: u64, step: Step, thread: &Following) {
        match step {
            Step::Wakes if thread.awaits => {
                if !std::mem::replace(&mut self.1, true) {
                    self.0.push(now);
                }
            }
            Step::Runs => self.1 = false,
            Step::Wakes | Step::Stops | Step::Yields | Step::WaitsForRequest | Step::Waits => {}
        }
    }
}

/// A handler, as records come.
#[derive(Default)]
struct Following {
    /// Since when it runs; since when it waits.
    runs: Option<u64>,
    waits: Option<u64>,
    /// What it does with the request, if it has one.
    at: Option<Request>,
    /// It waits for one.
    awaits: bool,
    ran: u64,
    requests: Vec<Request>,
}

impl Following {
    fn takes(&mut self, now: u64, step: Step) {
        if step == Step::Runs {
            self.runs = Some(now);
            return;
        }
        self.ran += self.runs.take().map_or(0, |since| now - since);
        let ran = std::mem::take(&mut self.ran);
        match step {
            Step::Runs => {}
            Step::Stops => self.ran = ran,
            Step::Yields => {
                if let Some(request) = &mut self.at {
                    request.phases.extend([Phase::Run(ran), Phase::Yield]);
                }
            }
            Step::Waits | Step::WaitsForRequest => {
                self.waits = Some(now);
                if let Some(request) = &mut self.at {
                    request.phases.push(Phase::Run(ran));
                }
                self.awaits = step == Step::WaitsForRequest;
                if self.awaits
                    && let Some(request) = self.at.take()
                {
                    self.requests.push(Request { done: now, ..request });
                }
            }
            Step::Wakes => {
                let waited = self.waits.take().map(|since| now - since);
                match (&mut self.at, waited) {
                    (_, Some(wait)) if std::mem::take(&mut self.awaits) => {
                        self.at = Some(Request { wait, released: now, ..Request::default() });
                    }
                    (Some(request), Some(waited)) => request.phases.push(Phase::Write(waited)),
                    (_, _) => {}
                }
            }
        }
    }
}

/// A scenario in which each handler gets its requests again and again.
fn written(recording: &Recording, policy: &str, seconds: u32) -> Result<String> {
    let mut text = format!(
        "// What {HANDLERS} handlers of the web server did under fifo, to be done again.\nscenario cow {{\n  \
         policy \"../../policies/{policy}.sched\";\n  duration {seconds}s;\n  poll {POLL}ns;\n  switch_cost {:.0}ns;\n",
        recording.dispatch
    );
    for (number, requests) in recording.requests.iter().enumerate() {
        write!(text, "  thread handler{} {{\n    repeat {{\n", number + 1)?;
        let mut turns = 0;
        for request in requests {
            if turns >= MOST {
                break;
            }
            turns += request.turns() + 1;
            // It had come by half of that before it was noticed, in the middle.
            write!(text, "      block io.read {}ns;", request.wait.saturating_sub(POLL / 2).max(1))?;
            // What is left to be sent when it yields, but for the header.
            let mut left = request.turns() * TURN as usize;
            for phase in &request.phases {
                match phase {
                    Phase::Run(length) => write!(text, " run {length}ns;")?,
                    Phase::Write(length) => write!(text, " block io.write {length}ns;")?,
                    Phase::Yield => {
                        if policy == "cow" {
                            write!(text, " set bytesleft = {left};")?;
                        }
                        text.push_str(" yield;");
                        left -= TURN as usize;
                    }
                }
            }
            text.push_str(if policy == "cow" { " set bytesleft = 0;\n" } else { "\n" });
        }
        text.push_str("    }\n  }\n");
    }
    text.push_str("}\n");
    Ok(text)
}

fn simulate(place: &Place, framework: &Framework, source: Source) -> Result<Responses> {
    let cases = scenario::read(place, framework, &source)?;
    let case = cases.first().context("there is no scenario")?;
    let names = case.event_names(framework);
    let request = names.iter().position(|name| name == "block.io.read").context("there is no event block.io.read")?;
    let mut seen = Seen { request, threads: HashMap::new(), batches: Batches::default() };
    let outcome = case.simulate(framework, &mut seen)?;
    let (seconds, batches) = (outcome.end as f64 / 1e9, seen.batches.0.len());
    let mut responses = Responses { seconds, batches, ..Responses::default() };
    for request in seen.threads.values().flat_map(|thread| &thread.requests) {
        responses.all[size_of(request.turns())].push((request.done - request.released) as f64 / 1e6);
    }
    Ok(responses)
}

/// Handlers of a simulation.
struct Seen {
    request: usize,
    threads: HashMap<u32, Following>,
    batches: Batches,
}

impl Sink for Seen {
    fn record(&mut self, record: &Record) {
        let step = match record.kind {
            Kind::Dispatched | Kind::Lent => Step::Runs,
            Kind::Preempted => Step::Stops,
            Kind::SwitchedOut => Step::Yields,
            Kind::Blocked if record.event.index() == self.request => Step::WaitsForRequest,
            Kind::Blocked => Step::Waits,
            Kind::Raised => Step::Wakes,
            Kind::New | Kind::Refused | Kind::Suspended | Kind::Resumed | Kind::Exited | Kind::Idle => return,
        };
        let thread = self.threads.entry(record.thread.0).or_default();
        self.batches.takes(record.time.unsigned_abs(), step, thread);
        thread.takes(record.time.unsigned_abs(), step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_apart() {
        let mut handler = Following::default();
        for (now, step) in [
            (0, Step::WaitsForRequest),
            (10, Step::Wakes),
            (15, Step::Runs),
            (20, Step::Yields),
            (25, Step::Runs),
            (26, Step::Stops),
            (30, Step::Runs),
            (34, Step::Waits),
            (40, Step::Wakes),
            (41, Step::Runs),
            (43, Step::WaitsForRequest),
            (50, Step::Wakes),
        ] {
            handler.takes(now, step);
        }
        let [request] = handler.requests.as_slice() else { panic!("{:?}", handler.requests) };
        assert_eq!((request.wait, request.released, request.done, request.turns()), (10, 10, 43, 1));
        let phases = format!("{:?}", request.phases);
        assert_eq!(phases, "[Run(5), Yield, Run(5), Write(6), Run(2)]");
        assert_eq!((size_of(0), size_of(31), size_of(127)), (0, 1, 2));
    }
}
