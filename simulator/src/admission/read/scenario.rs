//! Scenarios, and workloads of rt-app, which become scenarios first. Their threads with a period are the tasks; nothing is simulated.
//!
//! What a thread tells its policy (`budget`, `period`, `deadline`) is judged, and where it tells nothing, what its phases do.

use std::ops::Range;

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario::{
    Amount, Decides, Draft, FileName, Found as Deciding, Phase, Protocol, Scenario, Subject, Surroundings, Thread,
};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_compiler::vocabulary::{At, Value};
use catapults_compiler::{Staged, compile, compile_scenarios};

use super::{Found, Wrong};
use crate::admission::{LONGEST, MOST_TASKS, Task, TaskSet};
use crate::rtapp::{self, Taker};

/// In place of the scenario's policy: it has all variables of threads that are judged.
const POLICY: &str = "scheduler judged {
  threadimports {
    time period default 0ms;
    time deadline default 0ms;
    time budget default 0ms;
    int priority default 0;
  }
  data {
    threadref current;
    queue ready;
  }
  event newthread, switch_out, event_raised(t) { t => ready; }
  event schedule {
    ready => current;
    dispatch current;
  }
}
";

const VARIABLES: [&str; 4] = ["period", "deadline", "budget", "priority"];

/// Why there is no set.
#[derive(Debug)]
pub enum NotRead {
    /// Something in the text is wrong as a set of tasks.
    Wrong(Wrong),
    /// The scenario is wrong. Places are in its text; of a workload, in that of the scenario that it became.
    Refused(Source, Diagnostics),
    /// The workload of rt-app is wrong.
    Workload(rtapp::Wrong),
}

impl From<Wrong> for NotRead {
    fn from(wrong: Wrong) -> Self {
        NotRead::Wrong(wrong)
    }
}

/// A set, and the policy that the scenario names.
#[derive(Clone, Debug)]
pub struct OfScenario {
    /// See there.
    pub found: Found,
    /// A path from the scenario's folder.
    pub policy: Option<String>,
}

/// Reads the scenario of this name, or the only one.
///
/// # Errors
/// What is wrong, or cannot be judged.
pub fn of_scenario(source: &Source, framework: &Framework, only: Option<&str>) -> Result<OfScenario, NotRead> {
    let (scenario, policy) = checked(source, framework, only)?;
    let found = found(&scenario, &|at| at.start as usize..at.end as usize)?;
    Ok(OfScenario { found, policy })
}

/// Reads a workload of rt-app.
///
/// # Errors
/// What is wrong, or cannot be judged.
pub fn of_rtapp(json: &Source, framework: &Framework, processors: u32) -> Result<Found, NotRead> {
    let imports = |name: &str| VARIABLES.contains(&name);
    let taker = Taker { processors, plain: true, imports: &imports };
    let translation = rtapp::to_scenario(&json.text, "workload", taker).map_err(NotRead::Workload)?;
    let source = Source::new("workload.scenario", translation.text.as_str());
    let (scenario, _) = checked(&source, framework, None)?;
    found(&scenario, &|at| translation.origin(&json.text, at.start as usize).unwrap_or(0..0))
}

fn checked(source: &Source, framework: &Framework, only: Option<&str>) -> Result<(Scenario, Option<String>), NotRead> {
    let refused = |said| NotRead::Refused(source.clone(), said);
    let judged = Source::new("judged.sched", POLICY);
    let (policy, _) = compile(&judged, framework).map_err(refused)?;
    let mut judging = Judging { policy: &policy, named: Vec::new() };
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let Staged { mut scenarios, names, said, .. } = compile_scenarios(source, framework, &wanted, &mut judging);
    if said.has_errors() {
        return Err(refused(said));
    }
    let listed = || names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if scenarios.len() > 1 {
        let what = format!("there are {} scenarios", scenarios.len());
        return Err(Wrong::new(0..0, what, format!("say which one with --only NAME: {}", listed())).into());
    }
    match (scenarios.pop(), only) {
        (Some((scenario, _)), _) => Ok((scenario, judging.named.pop().flatten())),
        (None, Some(only)) => {
            Err(Wrong::new(0..0, format!("there is no scenario `{only}`"), format!("there is {}", listed())).into())
        }
        (None, None) => Err(Wrong::new(0..0, "there is no scenario", "docs/scenarios.md says what one is").into()),
    }
}

struct Judging<'a> {
    policy: &'a Verified<Policy>,
    /// The policies that the wanted scenarios name.
    named: Vec<Option<String>>,
}

#[derive(Clone, Copy)]
struct Judged<'a>(&'a Verified<Policy>);

impl Decides for Judged<'_> {
    fn subject(&self) -> Subject<'_> {
        Subject { policies: vec![self.0.policy()], schedulers: Vec::new(), instead: true }
    }
}

impl<'a> Surroundings for Judging<'a> {
    type Policy = Judged<'a>;

    fn policy(&mut self, draft: &Draft) -> Deciding<Judged<'a>> {
        self.named.push(draft.policy.as_ref().map(|named| named.path.clone()));
        Deciding::Instead(Judged(self.policy))
    }

    fn numbers(&mut self, _: &FileName) -> Result<Vec<i64>, String> {
        Err("no other file is read to judge a set; write the greatest number instead".to_owned())
    }
}

fn found(scenario: &Scenario, place: &dyn Fn(At) -> Range<usize>) -> Result<Found, NotRead> {
    let (mut tasks, mut places, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for thread in &scenario.threads {
        let at = place(thread.at);
        let reader = Reader { scenario, thread, place };
        let Some(period) = reader.period() else {
            notes.push(format!(
                "`{}` has no period, and is not judged: it must be less urgent than all that are",
                thread.name
            ));
            continue;
        };
        let Some(count) = thread.count else {
            let help = "write how many there are at once at the most: `thread A * 3`";
            return Err(Wrong::new(at, format!("there is no end to how many `{}` come", thread.name), help).into());
        };
        if count as usize > MOST_TASKS {
            let help = "judge the tasks of each processor in a file of its own";
            return Err(Wrong::new(at, format!("there are more than {MOST_TASKS} tasks"), help).into());
        }
        let task = reader.task(period, &mut notes)?;
        for number in 1..=count {
            let name = if count == 1 { task.name.clone() } else { format!("{}.{number}", task.name) };
            tasks.push(Task { name, ..task.clone() });
            places.push(at.clone());
        }
    }
    if scenario.switch_cost > 0 {
        notes.push(
            "each budget has two switches added to it: a job takes the processor from one other at the most".to_owned(),
        );
    }
    if !scenario.moments.is_empty() {
        notes.push("what happens from outside (`at …`) is not judged".to_owned());
    }
    if tasks.is_empty() {
        let help = "give threads that are to keep deadlines a `period`";
        return Err(Wrong::new(0..0, "no thread has a period", help).into());
    }
    let set = TaskSet::new(tasks).map_err(|senseless| {
        Wrong::new(places.get(senseless.task).cloned().unwrap_or(0..0), senseless.what, senseless.help)
    })?;
    Ok(Found { set, places, order: None, processors: Some(scenario.processors), notes })
}

struct Reader<'a> {
    scenario: &'a Scenario,
    thread: &'a Thread,
    place: &'a dyn Fn(At) -> Range<usize>,
}

/// What a stretch of phases does.
#[derive(Clone, Copy, Default)]
struct Done {
    runs: i128,
    /// The longest time within a lock, with those that it takes meanwhile.
    section: i128,
}

impl Reader<'_> {
    fn told(&self, name: &str) -> Option<i64> {
        let given = self.thread.values.iter().find(|given| given.name == name)?;
        let Amount::Fixed(Value::Time(value) | Value::Int(value)) = given.value else { return None };
        Some(value)
    }

    /// That of the thread, or that which it tells, or that of the timer for which it waits in each round.
    fn period(&self) -> Option<i64> {
        self.thread
            .period
            .or(self.told("period").filter(|period| *period != 0))
            .or_else(|| self.round().map(|(_, period)| period))
    }

    /// Of `repeat { …; timer NAME 20ms; }`: where the timer stands, and its time.
    fn round(&self) -> Option<(usize, i64)> {
        let last = self.thread.phases.iter().position(|phase| *phase == Phase::Jump(0))?.checked_sub(1)?;
        let Phase::Timer(timer, Amount::Fixed(Value::Time(period))) = &self.thread.phases[last] else { return None };
        (!timer.shared).then_some((last, *period))
    }

    fn task(&self, period: i64, notes: &mut Vec<String>) -> Result<Task, Wrong> {
        let name = &self.thread.name;
        let end = match self.round().filter(|_| self.thread.period.is_none()) {
            Some((last, _)) => last,
            None => self.thread.phases.len(),
        };
        let told = self.told("budget").filter(|budget| *budget != 0);
        let done = self.does(0, end, told.is_some())?;
        let runs = i64::try_from(done.runs).unwrap_or(i64::MAX);
        let budget = told.unwrap_or(runs);
        if runs > budget {
            notes.push(format!("`{name}` runs longer than the budget that it tells, which is judged"));
        }
        let switches = self.scenario.switch_cost.saturating_mul(2);
        let told = self.told("deadline").filter(|deadline| *deadline != 0);
        let deadlines = [told, self.thread.deadline].into_iter().flatten();
        Ok(Task {
            name: name.clone(),
            period,
            budget: budget.saturating_add(switches),
            deadline: deadlines.min().unwrap_or(period),
            priority: self.told("priority"),
            jitter: 0,
            blocking: 0,
            section: i64::try_from(done.section).unwrap_or(i64::MAX),
        })
    }

    fn wrong(&self, phase: usize, what: String, help: &str) -> Wrong {
        let at = self.thread.places.get(phase).copied().unwrap_or(self.thread.at);
        Wrong::new((self.place)(at), what, help)
    }

    /// What the phases from `begin` to before `end` do at the most. `told`: how long a job takes is known without them.
    fn does(&self, begin: usize, end: usize, told: bool) -> Result<Done, Wrong> {
        let name = &self.thread.name;
        let (mut done, mut held, mut section) = (Done::default(), 0i32, 0i128);
        let mut phase = begin;
        while phase < end {
            match &self.thread.phases[phase] {
                Phase::Run(amount) => match longest(amount) {
                    Some(runs) => {
                        done.runs += i128::from(runs);
                        section += if held > 0 { i128::from(runs) } else { 0 };
                    }
                    None if told && held == 0 => {}
                    None => {
                        let help =
                            "write the longest time: `run uniform(1ms, 5ms);`, or tell it: `with { budget = 5ms; }`";
                        return Err(self.wrong(
                            phase,
                            format!("how long `{name}` runs at the most is not known"),
                            help,
                        ));
                    }
                },
                Phase::Lock(lock) => {
                    if self.scenario.locks[*lock].protocol == Protocol::None {
                        let what = format!("for how long `{name}` can wait for this lock has no bound");
                        let help = "give the lock a protocol: `lock NAME protocol inheritance;`";
                        return Err(self.wrong(phase, what, help));
                    }
                    held += 1;
                }
                Phase::Unlock(_) => {
                    held -= 1;
                    if held <= 0 {
                        held = 0;
                        done.section = done.section.max(std::mem::take(&mut section));
                    }
                }
                Phase::Repeat { times, end: after } => {
                    let round = self.does(phase + 1, after.saturating_sub(1), told)?;
                    let all = round.runs.saturating_mul(i128::from(*times)).min(i128::from(LONGEST) + 1);
                    done.runs += all;
                    section += if held > 0 { all } else { 0 };
                    done.section = done.section.max(round.section);
                    phase = (*after).max(phase + 1);
                    continue;
                }
                // A reservation is for no job in particular.
                Phase::Jump(_) if told => break,
                Phase::Jump(_) => {
                    let what = format!("the job of `{name}` has no end");
                    let help = "leave `repeat` out: the period repeats the phases";
                    return Err(self.wrong(phase, what, help));
                }
                Phase::Exit => break,
                Phase::Block(..)
                | Phase::Wait(_)
                | Phase::Receive(_)
                | Phase::Barrier(_)
                | Phase::Timer(..)
                | Phase::Join(_)
                | Phase::Suspend(_)
                | Phase::YieldTo(_) => {
                    let what = format!("`{name}` waits in the middle of a job, or lets another go first");
                    let help = "the tests know of no such waits: make two threads of it, or judge it with the wait as part of its budget";
                    return Err(self.wrong(phase, what, help));
                }
                Phase::Yield
                | Phase::Post(_)
                | Phase::Send(_)
                | Phase::Signal(_)
                | Phase::Broadcast(_)
                | Phase::Spawn(_)
                | Phase::Resume(_)
                | Phase::Set(_)
                | Phase::Again(_)
                | Phase::End => {}
            }
            done.runs = done.runs.min(i128::from(LONGEST) + 1);
            phase += 1;
        }
        if held > 0 {
            let what = format!("`{name}` takes a lock here that it gives up elsewhere");
            return Err(self.wrong(begin, what, "give each lock up in the same round of phases"));
        }
        Ok(done)
    }
}

fn longest(amount: &Amount) -> Option<i64> {
    let time = |value: &Value| match value {
        Value::Time(time) => Some(*time),
        Value::Int(_) | Value::Bool(_) | Value::Float(_) => None,
    };
    match amount {
        Amount::Fixed(value) => time(value),
        Amount::Uniform(one, other) => Some(time(one)?.max(time(other)?)),
        Amount::Listed(_, values) => values.iter().copied().max(),
        Amount::Exponential(_) | Amount::Pareto { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catapults_compiler::framework;

    const NATIVE: &str = include_str!("../../../../frameworks/native/native.framework");

    fn read(text: &str) -> Result<OfScenario, NotRead> {
        let framework = framework::read(&Source::new("native.framework", NATIVE)).unwrap();
        of_scenario(&Source::new("test.scenario", text), &framework, None)
    }

    fn wrong(threads: &str) -> (String, String) {
        let text = format!("scenario s {{ duration 1s; {threads} }}");
        match read(&text) {
            Err(NotRead::Wrong(wrong)) => (wrong.what, text[wrong.at].to_owned()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_threads_tell_or_do_is_judged() {
        let read = read(
            "scenario s { policy \"dm.sched\"; processors 2; duration 1s; switch_cost 1us;
              lock shared protocol inheritance;
              thread told period 50ms with { budget = 5ms; deadline = 20ms; } { run 5ms; }
              thread does * 2 period 100ms deadline 80ms { run 1ms; repeat 3 { run uniform(1ms, 2ms); } lock shared; run 4ms; unlock shared; }
              thread round { repeat { run 2ms; timer tick 25ms; } }
              thread plain { repeat { run 1s; } } }",
        )
        .unwrap();
        let tasks: Vec<_> = read
            .found
            .set
            .tasks()
            .iter()
            .map(|task| (task.name.as_str(), task.period, task.budget, task.deadline, task.section))
            .collect();
        let (ms, cost) = (1_000_000, 2_000);
        assert_eq!(
            tasks,
            [
                ("told", 50 * ms, 5 * ms + cost, 20 * ms, 0),
                ("does.1", 100 * ms, 11 * ms + cost, 80 * ms, 4 * ms),
                ("does.2", 100 * ms, 11 * ms + cost, 80 * ms, 4 * ms),
                ("round", 25 * ms, 2 * ms + cost, 25 * ms, 0),
            ]
        );
        assert_eq!((read.policy.as_deref(), read.found.processors), (Some("dm.sched"), Some(2)));
        assert_eq!(read.found.notes.len(), 2, "{:?}", read.found.notes);
    }

    #[test]
    fn what_cannot_be_judged_has_its_place() {
        let (what, at) = wrong("thread a period 10ms { run exponential(1ms); }");
        assert!(what.contains("is not known") && at.starts_with("run"), "{what} {at}");
        let (what, at) = wrong("thread a period 10ms { run 1ms; block io.read 1ms; run 1ms; }");
        assert!(what.contains("waits in the middle") && at == "io.read", "{what} {at}");
        assert!(wrong("thread a period 10ms { repeat { run 1ms; } }").0.contains("no end"));
        assert!(wrong("thread a period 10ms { run 11ms; }").0.contains("longer than its period"));
        assert!(wrong("thread a every 5ms period 10ms { run 1ms; }").0.contains("no end to how many"));
        assert!(wrong("thread a { run 1ms; }").0.contains("no thread has a period"));
        let locked = "lock l protocol none; thread a period 10ms { lock l; run 1ms; unlock l; }";
        assert!(wrong(locked).0.contains("has no bound"));
    }

    #[test]
    fn workloads_of_rtapp_are_read() {
        let framework = framework::read(&Source::new("native.framework", NATIVE)).unwrap();
        let json = "{ \"tasks\": {
            \"a\": { \"policy\": \"SCHED_DEADLINE\", \"dl-runtime\": 2000, \"dl-period\": 10000, \"run\": 1000 },
            \"b\": { \"priority\": 10, \"policy\": \"SCHED_FIFO\", \"run\": 3000, \"timer\": { \"ref\": \"unique\", \"period\": 20000 } } } }";
        let found = of_rtapp(&Source::new("w.json", json), &framework, 1).unwrap();
        let tasks: Vec<_> =
            found.set.tasks().iter().map(|task| (task.name.as_str(), task.period, task.budget)).collect();
        assert_eq!(tasks, [("a", 10_000_000, 2_000_000), ("b", 20_000_000, 3_000_000)]);
        assert!(json[found.places[1].clone()].contains("b"), "{:?}", found.places);
    }
}
