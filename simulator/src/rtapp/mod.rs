//! Workloads of rt-app (https://github.com/scheduler-tools/rt-app), which describes threads in JSON, as scenarios.
//!
//! What a thread does is translated, and its priority, budget, period and deadline are, for policies that import such variables. What
//! else it asks of Linux (its class, processors) is not: that is the policy's affair.

mod json;
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use std::ops::Range;

use json::{Json, find, labelled, position};
use names::Names;

/// What cannot be a scenario, and where in the file: `tasks.thread0.phases.p1.timer`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The names on the way there, with dots; empty if it is no JSON.
    pub place: String,
    /// What is wrong with it.
    pub what: String,
    /// Where that is in the text.
    pub at: Range<usize>,
}

impl fmt::Display for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() { out.write_str(&self.what) } else { write!(out, "{}: {}", self.place, self.what) }
    }
}

/// What says how a thread is to be run, and not what it does.
const OF_LINUX: [&str; 20] = [
    "priority",
    "policy",
    "cpus",
    "nodes_membind",
    "membind_nodes",
    "numa_nodes_membind",
    "dl-runtime",
    "dl-period",
    "dl-deadline",
    "period",
    "deadline",
    "taskgroup",
    "util_min",
    "util_max",
    "slice",
    "custom_slice",
    "instance",
    "delay",
    "loop",
    "phases",
];

/// The longest time that a scenario has, in microseconds.
const LONGEST: i64 = i64::MAX / 4000;

/// The most threads of a task.
const MOST_INSTANCES: i64 = 10_000_000;

/// How long a workload is simulated that goes on until somebody ends it.
pub const ENDLESS: &str = "10s";

/// Of the whole workload, in seconds; -1, as rt-app takes it, until all tasks end.
const DURATION: &str = "global.duration";

type Object = [(String, Json)];

/// A scenario, and what each part of it says in other words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The scenario.
    pub text: String,
    /// From where on it says what stands at this place, in order.
    places: Vec<(usize, String)>,
    /// Where it says that it has no end; then [`ENDLESS`] is how long the scenario is.
    pub endless: Option<Range<usize>>,
}

impl Translation {
    /// Where that stands in the JSON which is said here in the scenario.
    pub fn origin(&self, json: &str, offset: usize) -> Option<Range<usize>> {
        let after = self.places.partition_point(|(start, _)| *start <= offset);
        let (_, place) = self.places.get(after.checked_sub(1)?)?;
        position(json, place)
    }
}

/// A scenario of this name. Names that no scenario can have are changed.
///
/// # Errors
/// The first thing that is not understood, or that no scenario can say.
pub fn to_scenario(json: &str, name: &str) -> Result<Translation, Wrong> {
    let parsed = Json::read(json).map_err(|(what, at)| Wrong { place: String::new(), what, at })?;
    let place = |place: &str| position(json, place).unwrap_or(0..0);
    let (translation, endless) =
        translated(&parsed, name).map_err(|wrong| Wrong { at: place(&wrong.place), ..wrong })?;
    Ok(Translation { endless: endless.then(|| place(DURATION)), ..translation })
}

/// And whether it says that it goes on for ever.
fn translated(parsed: &Json, name: &str) -> Result<(Translation, bool), Wrong> {
    let root = object(parsed, "")?;
    let tasks = find(root, "tasks").ok_or_else(|| wrong("tasks", "there are no tasks"))?;
    let tasks = tasks_of(object(tasks, "tasks")?)?;
    let mut workload = Workload {
        names: BTreeMap::new(),
        forked: forked(&tasks),
        timers: BTreeMap::new(),
        endless: false,
        places: Vec::new(),
    };
    workload.timers = timers(&tasks, &workload.forked);
    let mut threads = String::new();
    for task in &tasks {
        workload.threads(task, &tasks, &mut threads)?;
    }
    let mut text = format!("scenario {} {{\n", Names::default().of(name));
    let duration = match find(root, "global") {
        Some(global) => find(object(global, "global")?, "duration"),
        None => None,
    };
    let mut places = vec![(0, "tasks".to_owned())];
    let seconds = duration.map_or(Ok(-1), |duration| whole(duration, DURATION, -1, LONGEST / 1_000_000))?;
    if seconds > 0 {
        places.push((text.len(), DURATION.to_owned()));
        let _ = writeln!(text, "  duration {seconds}s;");
    } else if workload.endless {
        let _ = writeln!(text, "  duration {ENDLESS};");
    }
    places.extend(workload.places.into_iter().map(|(start, place)| (text.len() + start, place)));
    text.push_str(&threads);
    text.push_str("}\n");
    let endless = duration.is_some() && seconds <= 0 && workload.endless;
    Ok((Translation { text, places, endless: None }, endless))
}

struct Task<'j> {
    name: &'j str,
    place: String,
    what: &'j Object,
    instances: i64,
    /// What it does, each with the place; the task itself if it has no phases.
    phases: Vec<(String, &'j Object)>,
}

fn tasks_of(tasks: &Object) -> Result<Vec<Task<'_>>, Wrong> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for (name, what) in tasks {
        let place = format!("tasks.{name}");
        if !seen.insert(name.as_str()) {
            return Err(wrong(&format!("{place}[2]"), "there are two tasks of this name"));
        }
        let what = object(what, &place)?;
        let instances = find(what, "instance")
            .map_or(Ok(1), |value| whole(value, &format!("{place}.instance"), 0, MOST_INSTANCES))?;
        let phases = match find(what, "phases") {
            Some(phases) => {
                let place = format!("{place}.phases");
                let all = labelled(object(phases, &place)?).map(|(label, _, phase)| {
                    let place = format!("{place}.{label}");
                    object(phase, &place).map(|phase| (place.clone(), phase))
                });
                all.collect::<Result<_, _>>()?
            }
            None => vec![(place.clone(), what)],
        };
        all.push(Task { name, place, what, instances, phases });
    }
    Ok(all)
}

impl<'j> Task<'j> {
    /// What it does in a round: the place of each, its kind, and what with.
    fn events(&self) -> impl Iterator<Item = (String, &'j str, &'j Json)> + '_ {
        self.phases.iter().flat_map(|(place, phase)| {
            let events = labelled(phase).filter(|(_, event, _)| !OF_LINUX.contains(event));
            events.map(move |(label, event, what)| (format!("{place}.{label}"), kind(event), what))
        })
    }

    fn has_phases(&self) -> bool {
        find(self.what, "phases").is_some()
    }
}

/// Whom somebody creates while the workload runs.
fn forked(tasks: &[Task<'_>]) -> BTreeSet<String> {
    let events = tasks.iter().flat_map(Task::events);
    events
        .filter_map(
            |(_, kind, what)| if let ("fork", Json::Text(name)) = (kind, what) { Some(name.clone()) } else { None },
        )
        .collect()
}

/// How many threads use each timer, by the name that tasks give it; of forked ones there can be several.
fn timers(tasks: &[Task<'_>], forked: &BTreeSet<String>) -> BTreeMap<String, i64> {
    let mut users = BTreeMap::new();
    for task in tasks {
        let names: BTreeSet<&str> =
            task.events().filter(|(_, kind, _)| *kind == "timer").filter_map(|(_, _, what)| timer_name(what)).collect();
        for name in names {
            let copies = if forked.contains(task.name) { 2 } else { 0 };
            *users.entry(name.to_owned()).or_insert(0_i64) += task.instances + copies;
        }
    }
    users
}

/// As in rt-app, which gives each thread a timer of its own by these names only.
fn is_shared(timers: &BTreeMap<String, i64>, name: &str) -> bool {
    !name.starts_with("unique") && timers.get(name).is_some_and(|users| *users > 1)
}

fn timer_name(what: &Json) -> Option<&str> {
    let Json::Object(of) = what else { return None };
    if let Some(Json::Text(name)) = find(of, "ref") { Some(name) } else { None }
}

/// What is known of all tasks.
struct Workload {
    /// By kind.
    names: BTreeMap<&'static str, Names>,
    forked: BTreeSet<String>,
    timers: BTreeMap<String, i64>,
    /// Some thread has no end.
    endless: bool,
    /// As in [`Translation`], from the first thread on.
    places: Vec<(usize, String)>,
}

impl Workload {
    fn name(&mut self, kind: &'static str, name: &str) -> String {
        self.names.entry(kind).or_default().of(name)
    }

    /// A task comes by itself, as often as it has instances, and whenever it is forked: threads of two names, if it does both.
    fn threads(&mut self, task: &Task<'_>, tasks: &[Task<'_>], text: &mut String) -> Result<(), Wrong> {
        if task.instances > 0 {
            let name = self.name("task", task.name);
            self.thread(task, tasks, &name, text)?;
        }
        if self.forked.contains(task.name) {
            let name = self.forked_name(task.name);
            self.thread(&Task { instances: 1, ..task.again() }, tasks, &name, text)?;
        }
        Ok(())
    }

    fn forked_name(&mut self, task: &str) -> String {
        self.name("task", &format!("{task} forked"))
    }

    fn thread(&mut self, task: &Task<'_>, tasks: &[Task<'_>], name: &str, text: &mut String) -> Result<(), Wrong> {
        let Task { place, what, .. } = task;
        self.places.push((text.len(), place.clone()));
        let _ = write!(text, "  thread {name}");
        if task.instances > 1 {
            let _ = write!(text, " * {}", task.instances);
        }
        if let Some(delay) = find(what, "delay") {
            self.places.push((text.len(), format!("{place}.delay")));
            let _ = write!(text, " at {}us", microseconds(delay, &format!("{place}.delay"))?);
        }
        let rounds = find(what, "loop").map_or(Ok(-1), |rounds| self::rounds(rounds, &format!("{place}.loop")))?;
        let period = if rounds < 0 { period(task, &self.timers)? } else { None };
        let periodic = period.is_some();
        if let Some((period, place)) = period {
            self.places.push((text.len(), place));
            let _ = write!(text, " period {period}us");
        }
        let given = attributes(what, place)?;
        if !given.is_empty() {
            text.push_str(" with {");
            for (given, place) in given {
                self.places.push((text.len(), place));
                let _ = write!(text, " {given};");
            }
            text.push_str(" }");
        }
        self.places.push((text.len(), place.clone()));
        text.push_str(" {\n");
        if task.events().next().is_none() {
            return Err(wrong(place, "it does nothing; say what: `\"run\": 1000`"));
        }
        self.endless |= rounds < 0;
        // A periodic thread does all again each period.
        let depth = usize::from(!periodic && rounds != 1);
        if depth == 1 {
            let times = if rounds < 0 { String::new() } else { format!("{rounds} ") };
            let _ = writeln!(text, "    repeat {times}{{");
        }
        for (phase_place, phase) in &task.phases {
            // Of a task without phases they are its own.
            let given = if task.has_phases() { attributes(phase, phase_place)? } else { Vec::new() };
            for (given, place) in given {
                self.places.push((text.len(), place));
                let _ = writeln!(text, "{}set {given};", "  ".repeat(depth + 2));
            }
            if phase.iter().all(|(event, _)| OF_LINUX.contains(&event.as_str())) {
                continue;
            }
            let rounds = find(phase, "loop").filter(|_| task.has_phases());
            let rounds = rounds.map_or(Ok(1), |rounds| self::rounds(rounds, &format!("{phase_place}.loop")))?;
            self.endless |= rounds < 0;
            let deeper = if rounds == 1 { depth } else { depth + 1 };
            let indent = "  ".repeat(depth + 2);
            self.places.push((text.len(), phase_place.clone()));
            if rounds < 0 {
                let _ = writeln!(text, "{indent}repeat {{");
            } else if rounds != 1 {
                let _ = writeln!(text, "{indent}repeat {rounds} {{");
            }
            for (label, event, argument) in labelled(phase).filter(|(_, event, _)| !OF_LINUX.contains(event)) {
                // It is the thread's period.
                if periodic && kind(event) == "timer" {
                    continue;
                }
                let place = format!("{phase_place}.{label}");
                let line = self.happens(task, tasks, kind(event), argument, &place)?;
                self.places.push((text.len(), place));
                let _ = writeln!(text, "{}{line}", "  ".repeat(deeper + 2));
            }
            if rounds != 1 {
                let _ = writeln!(text, "{indent}}}");
            }
        }
        if depth == 1 {
            text.push_str("    }\n");
        }
        text.push_str("  }\n");
        Ok(())
    }

    fn happens(
        &mut self,
        task: &Task<'_>,
        tasks: &[Task<'_>],
        event: &str,
        what: &Json,
        place: &str,
    ) -> Result<String, Wrong> {
        let known = |name: &str| {
            tasks
                .iter()
                .any(|task| task.name == name)
                .then_some(())
                .ok_or_else(|| wrong(place, format!("there is no task `{name}`")))
        };
        Ok(match event {
            "run" | "runtime" => format!("run {}us;", microseconds(what, place)?),
            "sleep" => format!("sleep {}us;", microseconds(what, place)?),
            "lock" => format!("lock {};", self.name("lock", named(what, place)?)),
            "unlock" => format!("unlock {};", self.name("lock", named(what, place)?)),
            "signal" => format!("signal {};", self.name("port", named(what, place)?)),
            "broad" => format!("broadcast {};", self.name("port", named(what, place)?)),
            "wait" | "sync" => {
                let of = object(what, place)?;
                let part = |name: &str| {
                    find(of, name)
                        .map_or_else(|| Err(wrong(place, format!("there is no `{name}`"))), |one| named(one, place))
                };
                let (condition, mutex) = (self.name("port", part("ref")?), self.name("lock", part("mutex")?));
                if event == "wait" {
                    format!("unlock {mutex}; receive {condition}; lock {mutex};")
                } else {
                    format!("signal {condition}; unlock {mutex}; receive {condition}; lock {mutex};")
                }
            }
            // Without a name, it is the task's own.
            "suspend" => {
                let name = named(what, place)?;
                format!("receive {};", self.name("port", &resumed(if name.is_empty() { task.name } else { name })))
            }
            "resume" => {
                let name = named(what, place)?;
                let suspends =
                    |(_, kind, what): (String, &str, &Json)| kind == "suspend" && *what == Json::Text(name.to_owned());
                if !tasks.iter().any(|task| task.name == name || task.events().any(suspends)) {
                    return Err(wrong(place, format!("nobody suspends himself as `{name}`")));
                }
                format!("broadcast {};", self.name("port", &resumed(name)))
            }
            "fork" => {
                let name = named(what, place)?;
                known(name)?;
                format!("spawn {};", self.forked_name(name))
            }
            "yield" => "yield;".to_owned(),
            "barrier" => format!("barrier {};", self.name("barrier", named(what, place)?)),
            "timer" => self.timer(what, place)?,
            "mem" | "iorun" => {
                let device = if event == "mem" { "memory" } else { "a device" };
                let what = format!(
                    "how long it takes to write so many bytes to {device} is not known; write `run` or `sleep` for how long it takes"
                );
                return Err(wrong(place, what));
            }
            other => {
                let what = format!(
                    "`{other}` cannot be simulated; leave it out, or write `run` or `sleep` for how long it takes"
                );
                return Err(wrong(place, what));
            }
        })
    }

    fn timer(&mut self, what: &Json, place: &str) -> Result<String, Wrong> {
        let of = object(what, place)?;
        let period = find(of, "period").ok_or_else(|| wrong(place, "there is no `period`"))?;
        let period = microseconds(period, &format!("{place}.period"))?;
        let name = timer_name(what).ok_or_else(|| wrong(place, "there is no `ref`"))?;
        let absolute = match find(of, "mode") {
            None => false,
            Some(Json::Text(mode)) if mode == "relative" => false,
            Some(Json::Text(mode)) if mode == "absolute" => true,
            Some(_) => {
                return Err(wrong(&format!("{place}.mode"), "this is neither `\"relative\"` nor `\"absolute\"`"));
            }
        };
        let shared = if is_shared(&self.timers, name) { "shared " } else { "" };
        let absolute = if absolute { "absolute " } else { "" };
        Ok(format!("{shared}{absolute}timer {} {period}us;", self.name("timer", name)))
    }
}

impl<'j> Task<'j> {
    fn again(&self) -> Task<'j> {
        Task {
            name: self.name,
            place: self.place.clone(),
            what: self.what,
            instances: self.instances,
            phases: self.phases.clone(),
        }
    }
}

/// What is said of how a thread, or a phase of it, is to be run that policies import, each with its place.
fn attributes(of: &Object, place: &str) -> Result<Vec<(String, String)>, Wrong> {
    let mut given = Vec::new();
    if let Some(value) = find(of, "priority") {
        let place = format!("{place}.priority");
        let priority = whole(value, &place, i64::from(i32::MIN), i64::from(i32::MAX))?;
        given.push((format!("priority = {priority}"), place));
    }
    for (name, variable) in [("dl-runtime", "budget"), ("dl-period", "period"), ("dl-deadline", "deadline")] {
        if let Some(value) = find(of, name) {
            let place = format!("{place}.{name}");
            given.push((format!("{variable} = {}us", microseconds(value, &place)?), place));
        }
    }
    Ok(given)
}

/// What a suspended task waits for.
fn resumed(name: &str) -> String {
    format!("{name} resumed")
}

/// The period, if the only timer is the last thing that the thread does in a round, and its own.
fn period(task: &Task<'_>, timers: &BTreeMap<String, i64>) -> Result<Option<(i64, String)>, Wrong> {
    let mut events = task.events().filter(|(_, kind, _)| *kind == "timer");
    let (Some((place, _, timer)), None) = (events.next(), events.next()) else { return Ok(None) };
    let once = |(_, phase): &(String, &Object)| {
        !task.has_phases() || find(phase, "loop").is_none_or(|rounds| *rounds == Json::Whole(1))
    };
    let last = task.events().last().is_some_and(|(_, kind, _)| kind == "timer") && task.phases.last().is_some_and(once);
    let endless = task.has_phases()
        && task.phases.iter().any(|(_, phase)| find(phase, "loop").is_some_and(|rounds| *rounds == Json::Whole(-1)));
    if !last || endless || timer_name(timer).is_some_and(|name| is_shared(timers, name)) {
        return Ok(None);
    }
    let of = object(timer, &place)?;
    let period = find(of, "period").ok_or_else(|| wrong(&place, "there is no `period`"))?;
    let place = format!("{place}.period");
    let period = microseconds(period, &place)?;
    Ok((period > 0).then_some((period, place)))
}

/// `run`, of `run1`.
fn kind(event: &str) -> &str {
    event.trim_end_matches(|c: char| c.is_ascii_digit())
}

fn object<'v>(value: &'v Json, place: &str) -> Result<&'v Object, Wrong> {
    if let Json::Object(object) = value { Ok(object) } else { Err(wrong(place, "this is no object, `{ … }`")) }
}

fn named<'v>(value: &'v Json, place: &str) -> Result<&'v str, Wrong> {
    if let Json::Text(name) = value { Ok(name) } else { Err(wrong(place, "this is no name")) }
}

fn microseconds(value: &Json, place: &str) -> Result<i64, Wrong> {
    whole(value, place, 0, LONGEST)
}

fn whole(value: &Json, place: &str, least: i64, most: i64) -> Result<i64, Wrong> {
    match value {
        Json::Whole(number) if (least..=most).contains(number) => Ok(*number),
        Json::Whole(_) | Json::Text(_) | Json::Object(_) | Json::Other => {
            Err(wrong(place, format!("this is no whole number from {least} to {most}")))
        }
    }
}

/// -1: without end.
fn rounds(value: &Json, place: &str) -> Result<i64, Wrong> {
    match value {
        Json::Whole(rounds) if *rounds == -1 || *rounds > 0 => Ok(*rounds),
        Json::Whole(_) | Json::Text(_) | Json::Object(_) | Json::Other => {
            Err(wrong(place, "this is no whole number above 0, nor -1 for ever"))
        }
    }
}

fn wrong(place: &str, what: impl Into<String>) -> Wrong {
    Wrong { place: place.to_owned(), what: what.into(), at: 0..0 }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

    use super::*;

    fn lines(json: &str) -> Vec<String> {
        to_scenario(json, "x").unwrap().text.lines().map(|line| line.trim().to_owned()).collect()
    }

    #[test]
    fn what_threads_do_is_translated() {
        let json = r#"{ /* two threads */
            "global": { "duration": 2, "default_policy": "SCHED_OTHER" },
            "tasks": {
                "heavy-1": { "instance": 2, "delay": 1000, "phases": {
                    "light": { "loop": 10, "run": 300, "sleep": 700 }, // a comment
                    "heavy": { "loop": 5, "run": 900, "lock": "m", "run": 50, "unlock": "m", "sleep": 100, } } },
                "tick": { "priority": 10, "run": 2000, "timer": { "ref": "unique", "period": 10000 } },
                "once": { "loop": 1, "run": 5, "resume": "heavy-1", "yield": "" },
            } }"#;
        let text = to_scenario(json, "my file").unwrap().text;
        assert_eq!(
            text,
            "scenario my_file {
  duration 2s;
  thread heavy_1 * 2 at 1000us {
    repeat {
      repeat 10 {
        run 300us;
        sleep 700us;
      }
      repeat 5 {
        run 900us;
        lock m;
        run 50us;
        unlock m;
        sleep 100us;
      }
    }
  }
  thread tick period 10000us with { priority = 10; } {
    run 2000us;
  }
  thread once {
    run 5us;
    broadcast heavy_1_resumed;
    yield;
  }
}
"
        );
    }

    #[test]
    fn how_threads_are_to_be_run_are_values() {
        let text = lines(
            r#"{"tasks": {"a": {"priority": -5, "dl-runtime": 2000, "dl-period": 9000, "dl-deadline": 8000, "loop": 1,
            "phases": {"p": {"priority": 7, "loop": 2, "run": 5}, "q": {"dl-runtime": 3}, "r": {"run": 6}}}}}"#,
        );
        assert_eq!(
            text[1..9],
            [
                "thread a with { priority = -5; budget = 2000us; period = 9000us; deadline = 8000us; } {",
                "set priority = 7;",
                "repeat 2 {",
                "run 5us;",
                "}",
                "set budget = 3us;",
                "run 6us;",
                "}"
            ]
        );
        let wrong = to_scenario(r#"{"tasks": {"a": {"priority": "high", "run": 5}}}"#, "x").unwrap_err();
        assert_eq!(wrong.place, "tasks.a.priority");
    }

    #[test]
    fn timers_and_barriers_are_phases() {
        let several = lines(
            r#"{"tasks": {"a": {"loop": 3, "run": 5, "timer": {"ref": "tick", "period": 20}, "barrier": "b",
            "timer": {"ref": "uniqueB", "period": 0}, "timer": {"ref": "uniqueB", "period": 7}}}}"#,
        );
        assert_eq!(
            several[1..9],
            [
                "thread a {",
                "repeat 3 {",
                "run 5us;",
                "timer tick 20us;",
                "barrier b;",
                "timer uniqueB 0us;",
                "timer uniqueB 7us;",
                "}"
            ]
        );
        let shared = |json| lines(json).into_iter().find(|line| line.contains("timer tick"));
        assert_eq!(
            shared(r#"{"tasks": {"a": {"instance": 2, "run": 5, "timer": {"ref": "tick", "period": 20}}}}"#).as_deref(),
            Some("shared timer tick 20us;"),
            "two threads have it together, whatever the period would be of one"
        );
        assert_eq!(
            shared(
                r#"{"tasks": {"a": {"loop": 1, "fork": "b", "fork": "b"}, "b": {"instance": 0, "run": 5,
                "timer": {"ref": "tick", "period": 20, "mode": "absolute"}}}}"#
            )
            .as_deref(),
            Some("shared absolute timer tick 20us;")
        );
        let absolute = r#"{"tasks": {"a": {"timer": {"ref": "tick", "period": 20, "mode": "absolute"}, "run": 5}}}"#;
        assert_eq!(shared(absolute).as_deref(), Some("absolute timer tick 20us;"));
        let odd = r#"{"tasks": {"a": {"timer": {"ref": "t", "period": 20, "mode": "late"}, "run": 5}}}"#;
        assert_eq!(to_scenario(odd, "x").map_err(|wrong| wrong.place), Err("tasks.a.timer.mode".to_owned()));
    }

    #[test]
    fn forked_tasks_come_when_they_are_forked_and_by_themselves() {
        let both = lines(
            r#"{"tasks": {"a": {"loop": 1, "fork": "b", "fork": "c"}, "b": {"loop": 1, "run": 5}, "c": {"instance": 0, "loop": 1, "run": 6}}}"#,
        );
        let threads: Vec<&str> = both.iter().filter(|line| line.starts_with("thread")).map(String::as_str).collect();
        assert_eq!(threads, ["thread a {", "thread b {", "thread b_forked {", "thread c_forked {"]);
        assert!(both.contains(&"spawn b_forked;".to_owned()));
    }

    #[test]
    fn what_is_said_has_an_origin() {
        let json = r#"{"global": {"duration": 3}, "tasks": {"a": {"instance": 2, "priority": 7, "dl-period": 9,
            "timer": {"ref": "t", "period": 5}, "phases": {"p": {"loop": 2, "run": 1, "run": 2, "priority": 8}}}}}"#;
        let scenario = to_scenario(json, "x").unwrap();
        let origin = |part: &str| {
            let at = scenario.text.find(part).unwrap_or_else(|| panic!("{part} in {}", scenario.text));
            let range = scenario.origin(json, at).unwrap();
            (json[..range.start].matches(&json[range.clone()]).count() + 1, &json[range])
        };
        assert_eq!(origin("scenario x"), (1, "\"tasks\""));
        assert_eq!(origin("duration"), (1, "\"duration\""));
        assert_eq!(origin("thread a"), (1, "\"a\""));
        assert_eq!(origin("priority = 7"), (1, "\"priority\""));
        assert_eq!(origin("period = 9us"), (1, "\"dl-period\""));
        assert_eq!(origin("priority = 8"), (2, "\"priority\""));
        assert_eq!(origin("repeat 2"), (1, "\"p\""));
        assert_eq!(origin("run 2us"), (2, "\"run\""));
    }

    #[test]
    fn names_stay_apart() {
        let text = lines(
            r#"{"tasks": {"thread": {"loop": 1, "run": 5, "lock": "a-b", "lock": "a_b", "unlock": "a_b", "unlock": "a-b"}}}"#,
        );
        assert_eq!(
            text[1..7],
            ["thread thread_ {", "run 5us;", "lock a_b;", "lock a_b_;", "unlock a_b_;", "unlock a_b;"]
        );
        assert!(lines(r#"{"tasks": {"a": {"run": 5}}}"#).contains(&"duration 10s;".to_owned()), "it has no end");
        let endless = |json: &str| to_scenario(json, "x").map(|translation| translation.endless);
        let said = r#"{"global": {"duration": -1}, "tasks": {"a": {"run": 5}}}"#;
        assert_eq!(endless(said).map(|place| place.map(|place| &said[place])), Ok(Some("\"duration\"")));
        assert_eq!(endless(r#"{"global": {"duration": -1}, "tasks": {"a": {"loop": 1, "run": 5}}}"#), Ok(None));
    }

    #[test]
    fn what_is_not_understood_has_a_place() {
        let said = |json: &str| to_scenario(json, "x").unwrap_err().to_string();
        assert_eq!(said(r#"{"tasks": {"a": {"iorun": 5}}}"#).split(':').next(), Some("tasks.a.iorun"));
        assert_eq!(
            said(r#"{"tasks": {"a": {"run": -5}}}"#),
            "tasks.a.run: this is no whole number from 0 to 2305843009213693"
        );
        for (body, place) in [
            (r#"{"run": 18446744073709551615}"#, "tasks.a.run"),
            (r#"{"run": 1.5}"#, "tasks.a.run"),
            (r#"{"run": "5"}"#, "tasks.a.run"),
            (r#"{"run": [5]}"#, "tasks.a.run"),
            (r#"{"loop": 0, "run": 5}"#, "tasks.a.loop"),
            (r#"{"loop": -2, "run": 5}"#, "tasks.a.loop"),
            (r#"{"instance": 10000001, "run": 5}"#, "tasks.a.instance"),
            (r#"{"delay": -1, "run": 5}"#, "tasks.a.delay"),
            (r#"{"phases": []}"#, "tasks.a.phases"),
            (r#"{"phases": {"p": {"priority": 5}}}"#, "tasks.a"),
            (r#"{"run": 5, "resume": "nobody"}"#, "tasks.a.resume"),
            (r#"{"run": 5, "fork": "nobody"}"#, "tasks.a.fork"),
            (r#"{"run": 5, "timer": {"ref": "t"}}"#, "tasks.a.timer"),
            (r#"{"run": 5, "wait": {"ref": "c"}}"#, "tasks.a.wait"),
        ] {
            let json = format!(r#"{{"tasks": {{"a": {body}}}}}"#);
            assert_eq!(to_scenario(&json, "x").map_err(|wrong| wrong.place), Err(place.to_owned()), "{body}");
        }
        assert_eq!(said(r#"{"tasks": []}"#), "tasks: this is no object, `{ … }`");
        assert_eq!(
            said(r#"{"tasks": {"a": {"run": 5}, "a": {"run": 6}}}"#),
            "tasks.a[2]: there are two tasks of this name"
        );
        assert!(said(r#"{"tasks": {"a": {"run": 1e400}}}"#).contains("out of range"));
        assert_eq!(said("/* never closed"), "EOF while parsing a value");
        let at = |json: &str| json[to_scenario(json, "x").unwrap_err().at].to_owned();
        assert_eq!(at(r#"{"tasks": {"a": {"run": 5, "run2": x}}}"#), "x");
        assert_eq!(at(r#"{"tasks": {"a": {"run": 5}, "a": {"iorun": 6}}}"#), r#""a""#);
        assert_eq!(at(r#"{"tasks": {"a": {"phases": {"p": {"timer": {"ref": "t", "period": -1}}}}}}"#), r#""period""#);
        for hostile in ["\"\\", "/", "{\"tasks\":{\"\u{e9}\":{\"run\":1}}}", "\u{0}", &"[".repeat(10_000)] {
            let _ = to_scenario(hostile, "\u{1F600}");
        }
    }
}
