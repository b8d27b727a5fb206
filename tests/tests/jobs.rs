//! Jobs: `edf` is EDF, whether or not its threads are late, and whatever they wait for in the middle of a job. Compared with the schedule
//! that is made here, a millisecond at a time, of random sets of tasks.
//!
//! `CATAPULTS_SEED` changes what is tried, `CATAPULTS_ROUNDS` multiplies how much.

use std::fmt::Write;

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::framework::Framework;
use catapults_compiler::interp::ThreadId;
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario;
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_simulator::sim::{self, Deciding, Keep, Kind, Record, RunBy, Sink};
use catapults_tests::differential::number;
use catapults_tests::{framework_at, native, root};
use fastrand::Rng;

/// A policy for several hosts has a handler for an event that some of them never raise: it is left out there, and errors in it are not.
#[test]
fn handlers_of_events_that_are_never_raised_are_left_out() {
    let text = |body: &str| {
        let handlers =
            "event newthread, switch_out, event_raised(t) { t => ready; } event block.*(t) { t => blocked; }";
        let schedule = "event schedule { ready => current; dispatch current; }";
        let data = "data { threadref current; queue ready, blocked; int jobs; }";
        format!("scheduler s {{ {data} {handlers} {schedule} event release(t) {{ {body} }} }}")
    };
    let handled = |framework: &Framework, body: &str| {
        let compiled = catapults_compiler::compile(&Source::new("s.sched", text(body)), framework);
        compiled.map(|(policy, _)| policy.policy().events.iter().any(|event| event.name == "release"))
    };
    let pth = framework_at("frameworks/pth/pth.framework");
    assert!(handled(&native(), "jobs++;").unwrap());
    assert!(!handled(&pth, "jobs++;").unwrap());
    let refused = handled(&pth, "jobs += none;").unwrap_err();
    assert!(refused.has_errors());
    // What becomes of the thread is for those hosts to say that raise the event.
    assert!(handled(&native(), "t => blocked;").is_err());
    assert!(!handled(&pth, "t => blocked;").unwrap());
}

const SETS: u64 = 100;
/// Milliseconds.
const END: usize = 400;
const MS: i64 = 1_000_000;

/// In milliseconds.
#[derive(Clone, Copy, Debug)]
struct Task {
    offset: i64,
    period: i64,
    /// A job runs, sleeps if it has to run more, and runs.
    runs: [i64; 2],
    sleeps: i64,
}

/// Where a task is, of those that are done a millisecond at a time.
#[derive(Clone, Copy, Debug)]
struct At {
    job: i64,
    /// Whether the job has slept.
    second: bool,
    left: i64,
    /// It sleeps until then.
    until: i64,
}

impl Task {
    fn begins(&self) -> At {
        At { job: 0, second: false, left: self.runs[0], until: self.offset }
    }

    fn release(&self, at: &At) -> i64 {
        self.offset + at.job * self.period
    }

    fn deadline(&self, at: &At) -> i64 {
        self.release(at) + self.period
    }

    fn is_ready(&self, at: &At, now: i64) -> bool {
        self.release(at) <= now && at.until <= now
    }

    /// It has run for a millisecond, until `now`.
    fn has_run(&self, at: &mut At, now: i64) {
        at.left -= 1;
        if at.left > 0 {
        } else if !at.second && self.runs[1] > 0 {
            *at = At { second: true, left: self.runs[1], until: now + self.sleeps, ..*at };
        } else {
            *at = At { job: at.job + 1, second: false, left: self.runs[0], until: now };
        }
    }
}

/// Who ran in each millisecond.
struct Ran {
    numbers: Vec<ThreadId>,
    running: Option<usize>,
    slots: Vec<Option<usize>>,
}

impl Ran {
    fn until(&mut self, time: i64) {
        assert_eq!(time % MS, 0, "something happens between two milliseconds");
        while (self.slots.len() as i64) < time / MS && self.slots.len() < END {
            self.slots.push(self.running);
        }
    }

    fn is(&self, thread: ThreadId) -> usize {
        self.numbers.iter().position(|one| *one == thread).unwrap()
    }
}

impl Sink for Ran {
    fn record(&mut self, record: &Record) {
        self.until(record.time);
        match record.kind {
            Kind::Dispatched => self.running = Some(self.is(record.thread)),
            Kind::Blocked | Kind::Preempted | Kind::SwitchedOut | Kind::Idle => self.running = None,
            Kind::New | Kind::Refused | Kind::Lent | Kind::Raised | Kind::Suspended | Kind::Resumed | Kind::Exited => {}
        }
    }

    fn named(&mut self, _: i64, thread: ThreadId, name: &str) {
        let index: usize = name.strip_prefix('T').unwrap().parse().unwrap();
        if self.numbers.len() <= index {
            self.numbers.resize(index + 1, ThreadId(0));
        }
        self.numbers[index] = thread;
    }
}

fn simulated(tasks: &[Task], edf: &Verified<Policy>, framework: &Framework) -> Vec<Option<usize>> {
    let mut text = format!("scenario jobs {{\n  duration {END}ms;\n");
    for (index, task) in tasks.iter().enumerate() {
        let _ =
            write!(text, "  thread T{index} at {}ms period {}ms {{ run {}ms;", task.offset, task.period, task.runs[0]);
        if task.runs[1] > 0 {
            let _ = write!(text, " sleep {}ms; run {}ms;", task.sleeps, task.runs[1]);
        }
        text.push_str(" }\n");
    }
    text.push_str("}\n");
    let source = Source::new("jobs.scenario", text.as_str());
    let mut diagnostics = Diagnostics::new();
    let drafts = scenario::read(&source, &mut diagnostics);
    let none = &mut |_: &scenario::FileName| Err("there is none".to_owned());
    let deciding = Deciding::Policy(edf);
    let scenario = scenario::check(&drafts[0], &deciding.subject(), framework, none, &mut diagnostics).unwrap();
    let mut ran = Ran { numbers: Vec::new(), running: None, slots: Vec::new() };
    sim::simulate(&scenario, deciding, framework, RunBy::Interpreter, Keep::Beginning, &mut ran).unwrap();
    ran.until(END as i64 * MS);
    ran.slots
}

/// By how many milliseconds who ran was not the one that is due first, or could not run; and the deadlines of the jobs that ran.
fn judged(tasks: &[Task], slots: &[Option<usize>]) -> (usize, Vec<Option<i64>>) {
    let mut at: Vec<At> = tasks.iter().map(Task::begins).collect();
    let (mut wrong, mut deadlines) = (0, Vec::new());
    for (now, ran) in (0..).zip(slots) {
        let ready = (0..tasks.len()).filter(|task| tasks[*task].is_ready(&at[*task], now));
        let first = ready.map(|task| tasks[task].deadline(&at[task])).min();
        let deadline = ran.map(|task| tasks[task].deadline(&at[task]));
        let could = ran.is_none_or(|task| tasks[task].is_ready(&at[task], now));
        wrong += usize::from(deadline != first || !could);
        deadlines.push(deadline);
        if let Some(task) = ran {
            tasks[*task].has_run(&mut at[*task], now + 1);
        }
    }
    (wrong, deadlines)
}

/// EDF, the first of those that are due at once.
fn scheduled(tasks: &[Task]) -> Vec<Option<i64>> {
    let mut at: Vec<At> = tasks.iter().map(Task::begins).collect();
    let each = |now: i64| {
        let ready = (0..tasks.len()).filter(|task| tasks[*task].is_ready(&at[*task], now));
        let next = ready.min_by_key(|task| tasks[*task].deadline(&at[*task]))?;
        let deadline = tasks[next].deadline(&at[next]);
        tasks[next].has_run(&mut at[next], now + 1);
        Some(deadline)
    };
    (0..END as i64).map(each).collect()
}

fn random(rng: &mut Rng, sleeping: bool) -> Vec<Task> {
    let count = rng.i64(2..6);
    let task = |rng: &mut Rng| {
        let period = rng.i64(4..30);
        // Together mostly more than there is.
        let run = rng.i64(1..(2 * period / count).max(1) + 1);
        let second = if sleeping && run > 1 && rng.bool() { rng.i64(1..run) } else { 0 };
        Task { offset: rng.i64(0..10), period, runs: [run - second, second], sleeps: rng.i64(1..8) }
    };
    (0..count).map(|_| task(rng)).collect()
}

#[test]
fn edf_is_edf_also_of_jobs_that_are_late() {
    compare(false);
}

#[test]
fn edf_is_edf_also_of_jobs_that_wait_in_the_middle() {
    compare(true);
}

fn compare(sleeping: bool) {
    let framework = native();
    let path = root().join("policies/edf.sched");
    let source = catapults_tests::named_policy("edf.sched", &path);
    let edf = catapults_compiler::compile(&source, &framework).unwrap().0;
    let mut rng = Rng::with_seed(number("CATAPULTS_SEED", 1));
    let (mut different, mut overloaded) = (0, 0);
    let sets = SETS * number("CATAPULTS_ROUNDS", 1);
    for _ in 0..sets {
        let tasks = random(&mut rng, sleeping);
        let slots = simulated(&tasks, &edf, &framework);
        let (wrong, deadlines) = judged(&tasks, &slots);
        // What is due at once may run in any order: without sleeps that changes no deadline of what runs when.
        let same = sleeping || deadlines == scheduled(&tasks);
        if wrong > 0 || !same {
            different += 1;
            println!("{wrong} ms wrong, {}: {tasks:?}", if same { "the same jobs" } else { "other jobs" });
        }
        let wanted: f64 = tasks.iter().map(|task| (task.runs[0] + task.runs[1]) as f64 / task.period as f64).sum();
        overloaded += u64::from(wanted > 1.0);
    }
    println!("edf: differences {different} of {sets}, {overloaded} of them with more to do than there is time");
    assert_eq!(different, 0);
    assert!(overloaded > sets / 3, "{overloaded} of {sets}");
}
