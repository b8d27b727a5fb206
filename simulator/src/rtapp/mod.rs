//! Workloads of rt-app (https://github.com/scheduler-tools/rt-app), which describes threads in JSON, as scenarios.
//!
//! Translated are what threads do, and their priorities, budgets, periods and deadlines, for policies that import these
//! ([`class`]). Anything else in a file is refused, unless it makes no difference ([`keys`]).

mod class;
mod json;
mod keys;
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use std::ops::Range;

use class::{Class, Said, Told};
use json::{Json, find, labelled, position};
use keys::{Level, event};
use names::Names;

/// What cannot become a scenario, and its place in the file: `tasks.thread0.phases.p1.timer`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The names that lead to it, separated by dots; empty if the file is no JSON.
    pub place: String,
    /// What is wrong with it.
    pub what: String,
    /// Its position in the text.
    pub at: Range<usize>,
}

impl fmt::Display for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() { out.write_str(&self.what) } else { write!(out, "{}: {}", self.place, self.what) }
    }
}

/// The longest time that a scenario can have, in microseconds.
const LONGEST: i64 = i64::MAX / 4000;

/// The most threads of a task.
const MOST_INSTANCES: i64 = 10_000_000;

/// How long a workload without an end is simulated.
pub const ENDLESS: &str = "10s";

/// How long the workload takes, in seconds; -1, rt-app's default: until all tasks end.
const DURATION: &str = "global.duration";

/// Whether the owner of a lock inherits the urgency of waiting threads.
const PROTOCOL: &str = "global.pi_enabled";

/// The class of tasks that name none.
const DEFAULT_POLICY: &str = "global.default_policy";

type Object = [(String, Json)];

/// A scenario, and where its parts come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The scenario.
    pub text: String,
    /// Offsets in the scenario, in order, and the places in the file that are translated from there on.
    places: Vec<(usize, String)>,
    /// The position where the file says that it has no end. Then the scenario's length is [`ENDLESS`].
    pub endless: Option<Range<usize>>,
    /// The position of the first priority, if the file names no class and all threads have priorities of real-time
    /// threads. They are taken for that; rt-app would take them for nice values.
    pub unclear: Option<Range<usize>>,
}

impl Translation {
    /// The position in the JSON of what the scenario says at this offset.
    pub fn origin(&self, json: &str, offset: usize) -> Option<Range<usize>> {
        let after = self.places.partition_point(|(start, _)| *start <= offset);
        let (_, place) = self.places.get(after.checked_sub(1)?)?;
        position(json, place)
    }
}

/// For whom a workload is translated.
#[derive(Clone, Copy)]
pub struct Taker<'a> {
    /// How many there are.
    pub processors: u32,
    /// The framework has locks that do nothing for their owners, like rt-app's locks unless the file says otherwise.
    pub plain: bool,
    /// Whether the policy imports a variable of threads that has this name.
    pub imports: &'a dyn Fn(&str) -> bool,
}

/// A scenario with this name. Names that scenarios cannot have are changed.
///
/// # Errors
/// The first part that is not understood, or that no scenario can say.
pub fn to_scenario(json: &str, name: &str, taker: Taker<'_>) -> Result<Translation, Wrong> {
    let parsed = Json::read(json).map_err(|(what, at)| Wrong { place: String::new(), what, at })?;
    let place = |place: &str| position(json, place).unwrap_or(0..0);
    let translated = translated(&parsed, name, taker).map_err(|wrong| Wrong { at: place(&wrong.place), ..wrong })?;
    let Translated { text, places, endless, unclear } = translated;
    let unclear = unclear.map(|unclear| place(&unclear));
    Ok(Translation { text, places, endless: endless.then(|| place(DURATION)), unclear })
}

/// A [`Translation`] with places instead of positions.
struct Translated {
    text: String,
    places: Vec<(usize, String)>,
    /// The file says that it goes on for ever.
    endless: bool,
    unclear: Option<String>,
}

fn translated(parsed: &Json, name: &str, taker: Taker<'_>) -> Result<Translated, Wrong> {
    let root = object(parsed, "")?;
    keys::of_file(root)?;
    find(root, "resources").map_or(Ok(()), keys::of_resources)?;
    let global = find(root, "global").map_or(Ok(&[][..]), |global| object(global, "global"))?;
    keys::of_global(global)?;
    let tasks = find(root, "tasks").ok_or_else(|| wrong("tasks", "there are no tasks"))?;
    let tasks = object(tasks, "tasks")?;
    let said = find(global, "default_policy").map(|value| Class::read(value, DEFAULT_POLICY)).transpose()?;
    let unclear = said.is_none().then(|| class::unclear(tasks)).flatten();
    let usual = said.unwrap_or(if unclear.is_some() { Class::Fifo } else { Class::Nice });
    let tasks = tasks_of(tasks, usual, taker.processors)?;
    let forked = forked(&tasks);
    let mut workload = Workload {
        names: BTreeMap::new(),
        timers: timers(&tasks),
        priorities: priorities(&tasks),
        imports: taker.imports,
        forked,
        endless: false,
        places: Vec::new(),
    };
    met(&tasks, &workload.forked)?;
    let mut threads = String::new();
    for task in &tasks {
        workload.threads(task, &tasks, &mut threads)?;
    }
    let mut text = format!("scenario {} {{\n", Names::default().of(name));
    let duration = find(global, "duration");
    let mut places = vec![(0, "tasks".to_owned())];
    let seconds = duration.map_or(Ok(-1), |duration| whole(duration, DURATION, -1, LONGEST / 1_000_000))?;
    if seconds > 0 {
        places.push((text.len(), DURATION.to_owned()));
        let _ = writeln!(text, "  duration {seconds}s;");
    } else if workload.endless {
        let _ = writeln!(text, "  duration {ENDLESS};");
    }
    if let Some(protocol) = protocol(global, taker.plain) {
        places.push((text.len(), PROTOCOL.to_owned()));
        for lock in workload.names.get("lock").into_iter().flat_map(Names::all) {
            let _ = writeln!(text, "  lock {lock} protocol {protocol};");
        }
    }
    places.extend(workload.places.into_iter().map(|(start, place)| (text.len() + start, place)));
    text.push_str(&threads);
    text.push_str("}\n");
    let endless = duration.is_some() && seconds <= 0 && workload.endless;
    Ok(Translated { text, places, endless, unclear })
}

/// The protocol of locks; `None`: the default.
fn protocol(global: &Object, plain: bool) -> Option<&'static str> {
    match find(global, "pi_enabled") {
        Some(Json::Flag(true)) => Some("inheritance"),
        Some(_) => Some("none"),
        None => plain.then_some("none"),
    }
}

#[derive(Clone)]
struct Task<'j> {
    name: &'j str,
    place: String,
    what: &'j Object,
    instances: i64,
    /// The phases, each with its place. A task without phases is its own phase.
    phases: Vec<(String, &'j Object)>,
    /// The task's class, and each phase's.
    class: Class,
    classes: Vec<Class>,
    /// How often it repeats all phases; -1: for ever.
    rounds: i64,
}

fn tasks_of(tasks: &Object, usual: Class, processors: u32) -> Result<Vec<Task<'_>>, Wrong> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for (name, what) in tasks {
        let place = format!("tasks.{name}");
        if !seen.insert(name.as_str()) {
            return Err(wrong(&format!("{place}[2]"), "there are two tasks of this name"));
        }
        let what = object(what, &place)?;
        let of_phases = find(what, "phases");
        let level = if of_phases.is_some() { Level::Task } else { Level::TaskAlone };
        keys::of_task(what, &place, level, processors)?;
        let instances = find(what, "instance")
            .map_or(Ok(1), |value| whole(value, &format!("{place}.instance"), 0, MOST_INSTANCES))?;
        let rounds = find(what, "loop").map_or(Ok(-1), |rounds| self::rounds(rounds, &format!("{place}.loop")))?;
        let phases = match of_phases {
            Some(phases) => {
                let place = format!("{place}.phases");
                let all = labelled(object(phases, &place)?).map(|(label, _, phase)| {
                    let place = format!("{place}.{label}");
                    let phase = object(phase, &place)?;
                    keys::of_task(phase, &place, Level::Phase, processors)?;
                    Ok((place, phase))
                });
                all.collect::<Result<_, _>>()?
            }
            None => vec![(place.clone(), what)],
        };
        let class = Said::by_task(what, &place, of_phases.is_some()).class()?.unwrap_or(usual);
        let classes = match of_phases {
            Some(_) => class::of_phases(class, &phases, rounds != 1)?,
            None => vec![class],
        };
        all.push(Task { name, place, what, instances, phases, class, classes, rounds });
    }
    Ok(all)
}

impl<'j> Task<'j> {
    /// What it does in a round: the place, kind and argument of each event.
    fn events(&self) -> impl Iterator<Item = (String, &'static str, &'j Json)> + '_ {
        self.phases.iter().flat_map(|(place, phase)| {
            labelled(phase)
                .filter_map(move |(label, name, what)| event(name).map(|kind| (format!("{place}.{label}"), kind, what)))
        })
    }

    fn has_phases(&self) -> bool {
        find(self.what, "phases").is_some()
    }

    /// What the task says of how it is scheduled.
    fn said(&self) -> Said<'_> {
        Said::by_task(self.what, &self.place, self.has_phases())
    }

    fn said_by_phases(&self) -> impl Iterator<Item = Said<'_>> {
        self.phases.iter().filter(|_| self.has_phases()).map(|(place, phase)| Said::by_phase(phase, place))
    }
}

/// The tasks that other tasks create while the workload runs.
fn forked(tasks: &[Task<'_>]) -> BTreeSet<String> {
    let events = tasks.iter().flat_map(Task::events);
    events
        .filter_map(
            |(_, kind, what)| if let ("fork", Json::Text(name)) = (kind, what) { Some(name.clone()) } else { None },
        )
        .collect()
}

/// The place of the first thing that says a priority, if a thread names one or threads have different classes.
/// Otherwise, policies are told no priorities.
fn priorities(tasks: &[Task<'_>]) -> Option<String> {
    let said = || tasks.iter().flat_map(|task| std::iter::once(task.said()).chain(task.said_by_phases()));
    let classes: BTreeSet<Class> =
        tasks.iter().flat_map(|task| task.classes.iter().copied().chain([task.class])).collect();
    let any = classes.len() > 1 || said().any(|said| said.has_priority());
    let first = || said().find(Said::has_priority).or_else(|| said().find(|said| said.place_of_priority().is_some()));
    any.then(|| first().and_then(|said| said.place_of_priority()).unwrap_or_else(|| DEFAULT_POLICY.to_owned()))
}

/// In rt-app, a barrier waits for as many threads as the file names it, without forked ones. And times of forked
/// threads count from the start of the workload.
fn met(tasks: &[Task<'_>], forked: &BTreeSet<String>) -> Result<(), Wrong> {
    for task in tasks {
        let is_forked = forked.contains(task.name);
        if is_forked && find(task.what, "delay").is_some() {
            let what = "in rt-app, the delay of a forked task counts from the start of the workload; write `sleep` as its first phase";
            return Err(wrong(&format!("{}.delay", task.place), what));
        }
        let mut barriers = BTreeSet::new();
        for (place, kind, what) in task.events() {
            match (kind, what) {
                ("barrier", _) if is_forked => {
                    return Err(wrong(
                        &place,
                        "a forked thread cannot come to a barrier: rt-app counts only threads that exist from the start",
                    ));
                }
                ("barrier", Json::Text(name)) if !barriers.insert(name) => {
                    let what = "the task comes to this barrier twice: rt-app would wait for twice as many threads, for ever; give it another name here";
                    return Err(wrong(&place, what));
                }
                ("timer", _) if is_forked => {
                    let what =
                        "in rt-app, the timer of a forked task counts from the start of the workload; write `sleep`";
                    return Err(wrong(&place, what));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// What is known of a timer.
#[derive(Default)]
struct Timer {
    /// How many threads share it.
    users: i64,
    /// Some use says that it makes up for missed periods, so it does in all uses.
    absolute: bool,
}

/// The timers, by the names that tasks give them.
fn timers(tasks: &[Task<'_>]) -> BTreeMap<String, Timer> {
    let mut timers: BTreeMap<String, Timer> = BTreeMap::new();
    for task in tasks {
        let mut names = BTreeSet::new();
        for (_, _, what) in task.events().filter(|(_, kind, _)| *kind == "timer") {
            let Some(name) = timer_name(what) else { continue };
            let timer = timers.entry(timer_key(task, name)).or_default();
            timer.absolute |= is_absolute(what);
            if names.insert(name) {
                timer.users += task.instances;
            }
        }
    }
    timers
}

/// A thread's own timer is not the timer of another task.
fn timer_key(task: &Task<'_>, name: &str) -> String {
    if is_own(name) { format!("{}.{name}", task.place) } else { name.to_owned() }
}

/// As in rt-app, which gives each thread its own timer only for such names.
fn is_own(name: &str) -> bool {
    name.starts_with("unique")
}

fn is_absolute(timer: &Json) -> bool {
    let Json::Object(of) = timer else { return false };
    matches!(find(of, "mode"), Some(Json::Text(mode)) if mode == "absolute")
}

fn timer_name(what: &Json) -> Option<&str> {
    let Json::Object(of) = what else { return None };
    if let Some(Json::Text(name)) = find(of, "ref") { Some(name) } else { None }
}

/// What is known of all tasks.
struct Workload<'a> {
    /// By kind.
    names: BTreeMap<&'static str, Names>,
    forked: BTreeSet<String>,
    timers: BTreeMap<String, Timer>,
    /// The place for priorities, as in [`priorities`], if policies are told these.
    priorities: Option<String>,
    /// As in [`Taker`].
    imports: &'a dyn Fn(&str) -> bool,
    /// Whether any thread has no end.
    endless: bool,
    /// As in [`Translation`], but from the first thread on.
    places: Vec<(usize, String)>,
}

impl Workload<'_> {
    fn name(&mut self, kind: &'static str, name: &str) -> String {
        self.names.entry(kind).or_default().of(name)
    }

    /// A task starts with its instances, and whenever it is forked. If it does both, its threads have two names.
    fn threads(&mut self, task: &Task<'_>, tasks: &[Task<'_>], text: &mut String) -> Result<(), Wrong> {
        if task.instances > 0 {
            let name = self.name("task", task.name);
            self.thread(task, tasks, &name, text)?;
        }
        if self.forked.contains(task.name) {
            let name = self.forked_name(task.name);
            self.thread(&Task { instances: 1, ..task.clone() }, tasks, &name, text)?;
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
        let rounds = task.rounds;
        let period = if rounds < 0 { period(task, &self.timers)? } else { None };
        let periodic = period.is_some();
        if let Some((period, absolute, place)) = period {
            self.places.push((text.len(), place));
            let _ = write!(text, " {}period {period}us", if absolute { "" } else { "relative " });
        }
        let given = self.given(&task.said(), task.class)?;
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
        // A periodic thread repeats all in each period.
        let depth = usize::from(!periodic && rounds != 1);
        if depth == 1 {
            let times = if rounds < 0 { String::new() } else { format!("{rounds} ") };
            let _ = writeln!(text, "    repeat {times}{{");
        }
        for ((phase_place, phase), class) in task.phases.iter().zip(&task.classes) {
            // The values of a task without phases were given above.
            let said = Said::by_phase(phase, phase_place);
            let given = if task.has_phases() { self.given(&said, *class)? } else { Vec::new() };
            for (given, place) in given {
                self.places.push((text.len(), place));
                let _ = writeln!(text, "{}set {given};", "  ".repeat(depth + 2));
            }
            if phase.iter().all(|(name, _)| event(name).is_none()) {
                return Err(wrong(phase_place, "it does nothing; say what: `\"run\": 1000`"));
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
            for (label, name, argument) in labelled(phase) {
                let Some(kind) = event(name) else { continue };
                // The timer is the thread's period.
                if periodic && kind == "timer" {
                    continue;
                }
                let place = format!("{phase_place}.{label}");
                let line = self.happens(task, tasks, kind, argument, &place)?;
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
            "run" => format!("run {}us;", microseconds(what, place)?),
            "runtime" => {
                let what = "`runtime` computes until so much time has passed, even if others run meanwhile, which no scenario can say; write `run` for how long it computes";
                return Err(wrong(place, what));
            }
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
            "suspend" => {
                let port = resumed(suspended(task, tasks, what, place)?);
                format!("receive {};", self.name("port", &port))
            }
            "resume" => {
                let name = named(what, place)?;
                let suspends = |task: &Task<'_>| {
                    task.events().any(|(place, kind, what)| {
                        kind == "suspend" && suspended(task, tasks, what, &place) == Ok(name)
                    })
                };
                if !tasks.iter().any(|task| task.name == name || suspends(task)) {
                    return Err(wrong(place, format!("no task suspends itself as `{name}`")));
                }
                format!("broadcast {};", self.name("port", &resumed(name)))
            }
            "sem_post" => format!("send {};", self.name("port", &format!("{} semaphore", named(what, place)?))),
            "sem_wait" => format!("receive {};", self.name("port", &format!("{} semaphore", named(what, place)?))),
            "fork" => {
                let name = named(what, place)?;
                known(name)?;
                format!("spawn {};", self.forked_name(name))
            }
            "yield" => "yield;".to_owned(),
            "barrier" => format!("barrier {};", self.name("barrier", named(what, place)?)),
            "timer" => self.timer(task, what, place)?,
            other => {
                let bytes = match other {
                    "iorun" => "to write so many bytes to a device",
                    "mem" => "to write so many bytes to memory",
                    _ => "to go through so much memory",
                };
                let what =
                    format!("how long it takes {bytes} is not known; write `run` or `sleep` for how long it takes");
                return Err(wrong(place, what));
            }
        })
    }

    /// What policies are told of how a thread or phase is scheduled, each with its place.
    fn given(&self, said: &Said<'_>, class: Class) -> Result<Vec<Told>, Wrong> {
        let mut told = Vec::new();
        let priority = said.priority(class)?;
        if let (Some(first), Some(priority)) = (&self.priorities, priority) {
            let place = if said.has_priority() { said.place_of_priority() } else { None };
            let place = place.unwrap_or_else(|| first.clone());
            told.extend(priority.told(self.imports).into_iter().map(|value| (value, place.clone())));
        }
        told.extend(said.reservation(class)?);
        Ok(told)
    }

    fn timer(&mut self, task: &Task<'_>, what: &Json, place: &str) -> Result<String, Wrong> {
        let of = object(what, place)?;
        let period = find(of, "period").ok_or_else(|| wrong(place, "there is no `period`"))?;
        let period = microseconds(period, &format!("{place}.period"))?;
        let name = timer_name(what).ok_or_else(|| wrong(place, "there is no `ref`"))?;
        timer_is_known(of, place)?;
        let timer = self.timers.get(&timer_key(task, name));
        let shared = if !is_own(name) && timer.is_some_and(|timer| timer.users > 1) { "shared " } else { "" };
        let absolute = if timer.is_some_and(|timer| timer.absolute) { "absolute " } else { "" };
        Ok(format!("{shared}{absolute}timer {} {period}us;", self.name("timer", name)))
    }
}

/// Checks that all that a timer says can be simulated.
fn timer_is_known(of: &Object, place: &str) -> Result<(), Wrong> {
    for (label, name, value) in labelled(of) {
        let place = format!("{place}.{label}");
        match (name, value) {
            _ if label != name => return Err(wrong(&place, format!("`{name}` is said twice"))),
            ("ref" | "period", _) => {}
            ("mode", Json::Text(mode)) if mode == "relative" || mode == "absolute" => {}
            ("mode", _) => return Err(wrong(&place, "this is neither `\"relative\"` nor `\"absolute\"`")),
            (other, _) => {
                return Err(wrong(&place, format!("a timer has no `{other}`: it has `ref`, `period` and `mode`")));
            }
        }
    }
    Ok(())
}

/// The name by which it is resumed: its task's, as in rt-app since 2025. Before, it was the name in the file. Some
/// files rely on that, with names that no task has.
fn suspended<'v>(task: &Task<'v>, tasks: &[Task<'_>], what: &'v Json, place: &str) -> Result<&'v str, Wrong> {
    let name = match what {
        Json::Text(name) => name.as_str(),
        Json::Whole(_) | Json::Object(_) | Json::List(_) | Json::Flag(_) | Json::Other => "",
    };
    if name.is_empty() || name == task.name {
        return Ok(task.name);
    }
    if tasks.iter().any(|other| other.name == name) {
        let what =
            format!("a task suspends itself, and `{name}` is another one; write `\"suspend\": \"{}\"`", task.name);
        return Err(wrong(place, what));
    }
    Ok(name)
}

/// What a suspended task waits for.
fn resumed(name: &str) -> String {
    format!("{name} resumed")
}

/// The period, if the last event of a round is its only timer, and its own. Also, whether it makes up for missed ones.
fn period(task: &Task<'_>, timers: &BTreeMap<String, Timer>) -> Result<Option<(i64, bool, String)>, Wrong> {
    let mut events = task.events().filter(|(_, kind, _)| *kind == "timer");
    let (Some((place, _, timer)), None) = (events.next(), events.next()) else { return Ok(None) };
    let once = |(_, phase): &(String, &Object)| {
        !task.has_phases() || find(phase, "loop").is_none_or(|rounds| *rounds == Json::Whole(1))
    };
    let last = task.events().last().is_some_and(|(_, kind, _)| kind == "timer") && task.phases.last().is_some_and(once);
    let endless = task.has_phases()
        && task.phases.iter().any(|(_, phase)| find(phase, "loop").is_some_and(|rounds| *rounds == Json::Whole(-1)));
    let known = timer_name(timer).and_then(|name| timers.get(&timer_key(task, name)));
    let Some(known) = known.filter(|known| last && !endless && is_of_one(timer, known)) else { return Ok(None) };
    let of = object(timer, &place)?;
    timer_is_known(of, &place)?;
    let period = find(of, "period").ok_or_else(|| wrong(&place, "there is no `period`"))?;
    let place = format!("{place}.period");
    let period = microseconds(period, &place)?;
    Ok((period > 0).then_some((period, known.absolute, place)))
}

/// Whether only one thread uses a timer.
fn is_of_one(timer: &Json, known: &Timer) -> bool {
    timer_name(timer).is_some_and(is_own) || known.users <= 1
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
        Json::Whole(_) | Json::Text(_) | Json::Object(_) | Json::List(_) | Json::Flag(_) | Json::Other => {
            Err(wrong(place, format!("this is no whole number from {least} to {most}")))
        }
    }
}

/// -1: without an end.
fn rounds(value: &Json, place: &str) -> Result<i64, Wrong> {
    match value {
        Json::Whole(rounds) if *rounds == -1 || *rounds > 0 => Ok(*rounds),
        Json::Whole(_) | Json::Text(_) | Json::Object(_) | Json::List(_) | Json::Flag(_) | Json::Other => {
            Err(wrong(place, "this is no whole number above 0, nor -1 for ever"))
        }
    }
}

fn wrong(place: &str, what: impl Into<String>) -> Wrong {
    Wrong { place: place.to_owned(), what: what.into(), at: 0..0 }
}

#[cfg(test)]
mod tests;
