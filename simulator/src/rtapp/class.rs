//! Linux's classes of threads, and what priorities, budgets and deadlines mean in each: what a policy is told of them.
//!
//! Our policies take higher priorities for more urgent. A real-time priority is told as it is, 1 to 99. A nice value is the more urgent the
//! less it is, and no thread that has one is as urgent as one of the real-time classes: -20 to 19 are told as 0 to -39. `SCHED_IDLE`
//! is below all of them, `SCHED_DEADLINE` above.

use super::json::{Json, find};
use super::{LONGEST, Object, Wrong, microseconds, named, whole, wrong};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Nice,
    Idle,
    RealTime,
    Deadline,
}

impl Class {
    /// Of the policy that stands there.
    pub(super) fn read(value: &Json, place: &str) -> Result<Class, Wrong> {
        Ok(match named(value, place)? {
            "SCHED_OTHER" | "SCHED_BATCH" => Class::Nice,
            "SCHED_IDLE" => Class::Idle,
            "SCHED_FIFO" | "SCHED_RR" => Class::RealTime,
            "SCHED_DEADLINE" => Class::Deadline,
            other => {
                let all = "SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR and SCHED_DEADLINE";
                return Err(wrong(place, format!("there is no policy `{other}` of Linux's; there are {all}")));
            }
        })
    }

    /// How urgent a thread is for our policies whose `priority` in rt-app's file is this; without one, what rt-app takes.
    fn urgency(self, priority: Option<i64>) -> i64 {
        match self {
            Class::Nice => -20 - priority.unwrap_or(0),
            // Linux does not look at it.
            Class::Idle => -60,
            Class::RealTime => priority.unwrap_or(10),
            Class::Deadline => 100,
        }
    }

    fn range(self) -> (i64, i64, &'static str) {
        match self {
            Class::Nice | Class::Idle => (-20, 19, "a nice value is"),
            Class::RealTime => (1, 99, "a real-time priority is"),
            Class::Deadline => (0, 0, "SCHED_DEADLINE has none but 0, and this is"),
        }
    }
}

/// What a task or a phase says of how its thread is to be run.
pub(super) struct Said<'j> {
    of: &'j Object,
    place: &'j str,
    /// Of a task; it is where `period` and `deadline` stand in old files.
    is_task: bool,
    /// A task that has phases: `runtime` is no event there.
    has_phases: bool,
}

/// A value for a variable that policies import, and the place of what says it.
pub(super) type Told = (String, String);

impl<'j> Said<'j> {
    pub(super) fn by_task(of: &'j Object, place: &'j str, has_phases: bool) -> Self {
        Said { of, place, is_task: true, has_phases }
    }

    pub(super) fn by_phase(of: &'j Object, place: &'j str) -> Self {
        Said { of, place, is_task: false, has_phases: false }
    }

    fn at(&self, name: &str) -> String {
        format!("{}.{name}", self.place)
    }

    /// The class that it names.
    pub(super) fn class(&self) -> Result<Option<Class>, Wrong> {
        find(self.of, "policy").map(|value| Class::read(value, &self.at("policy"))).transpose()
    }

    /// Where its priority stands, or the class of which it is the usual one.
    pub(super) fn place_of_priority(&self) -> Option<String> {
        ["priority", "policy"].into_iter().find(|name| find(self.of, name).is_some()).map(|name| self.at(name))
    }

    pub(super) fn has_priority(&self) -> bool {
        find(self.of, "priority").is_some()
    }

    /// How urgent it is in this class, if that is said, by a priority or by another class.
    pub(super) fn urgency(&self, class: Class) -> Result<Option<i64>, Wrong> {
        let Some(value) = find(self.of, "priority") else {
            let usual = self.is_task || find(self.of, "policy").is_some();
            return Ok(usual.then(|| class.urgency(None)));
        };
        let (least, most, what) = class.range();
        let place = self.at("priority");
        let priority = whole(value, &place, i64::MIN, i64::MAX)?;
        if !(least..=most).contains(&priority) {
            let from = if least == most {
                String::new()
            } else {
                format!(" a whole number from {least} to {most}, and this is")
            };
            return Err(wrong(&place, format!("{what}{from} {priority}")));
        }
        Ok(Some(class.urgency(Some(priority))))
    }

    /// Budget, period and deadline of `SCHED_DEADLINE`; no other class has them.
    pub(super) fn reservation(&self, class: Class) -> Result<Vec<Told>, Wrong> {
        let legacy = |name: &'static str| self.is_task.then_some(name);
        let names = [
            ("dl-runtime", legacy("runtime").filter(|_| self.has_phases), "budget"),
            ("dl-period", legacy("period"), "period"),
            ("dl-deadline", legacy("deadline"), "deadline"),
        ];
        let mut told = Vec::new();
        let mut times = [None, None, None];
        for (index, (name, old, variable)) in names.into_iter().enumerate() {
            let named = [Some(name), old].into_iter().flatten().filter(|name| find(self.of, name).is_some());
            let named: Vec<&str> = named.collect();
            let (Some(first), second) = (named.first(), named.get(1)) else { continue };
            if let Some(second) = second {
                return Err(wrong(&self.at(second), format!("`{first}` says the same: write one of the two")));
            }
            let place = self.at(first);
            if class != Class::Deadline {
                let what = match (*first, class) {
                    ("dl-runtime", Class::Nice) => "the length of a slice of a thread is not simulated",
                    _ => "a thread that is not of SCHED_DEADLINE has none",
                };
                let help = "leave it out, or write `\"policy\": \"SCHED_DEADLINE\"`";
                return Err(wrong(&place, format!("{what}; {help}")));
            }
            let value = find(self.of, first).map_or(Ok(0), |value| microseconds(value, &place))?;
            times[index] = Some((value, place.clone()));
            told.push((format!("{variable} = {value}us"), place));
        }
        let [budget, period, deadline] = times;
        // As rt-app has it. A deadline that is not said is the period's for whoever goes by it.
        if let (Some((value, place)), None) = (&budget, &period) {
            told.insert(1, (format!("period = {value}us"), place.clone()));
        }
        let order = [
            (budget.as_ref(), deadline.as_ref().or(period.as_ref()), "the budget of a job is longer than its deadline"),
            (deadline.as_ref(), period.as_ref(), "the deadline is later than the period"),
        ];
        for (less, more, what) in order {
            if let (Some((less, place)), Some((more, _))) = (less, more)
                && less > more
            {
                return Err(wrong(place, format!("{what}: Linux refuses that")));
            }
        }
        Ok(told)
    }
}

/// The class of a thread when each of its phases begins: `policy` holds from then on.
///
/// # Errors
/// A phase says a priority, or a budget, and no class, and has another one the first time than when the thread does all again.
pub(super) fn of_phases(task: Class, phases: &[(String, &Object)], again: bool) -> Result<Vec<Class>, Wrong> {
    let last = phases.iter().rev().find_map(|(place, phase)| Said::by_phase(phase, place).class().transpose());
    let last = last.transpose()?.filter(|_| again).unwrap_or(task);
    let mut classes = Vec::new();
    let (mut first, mut later) = (task, last);
    for (place, phase) in phases {
        let said = Said::by_phase(phase, place);
        if let Some(class) = said.class()? {
            (first, later) = (class, class);
        } else if first != later
            && let Some(name) = ["priority", "dl-runtime", "dl-period", "dl-deadline"]
                .into_iter()
                .find(|name| find(phase, name).is_some())
        {
            let what = "the thread is of one class the first time, and of another when it does this again: write the `policy`, too";
            return Err(wrong(&said.at(name), what));
        }
        classes.push(first);
    }
    Ok(classes)
}

/// Where the first priority stands, if no task says its class, nor any phase, and each has a priority from 1 to 99: a file of real-time
/// threads, most likely, whose class is missing. One of nice values has some below 0, or threads that say none.
pub(super) fn unclear(tasks: &Object) -> Option<String> {
    let mut first = None;
    for (name, what) in tasks {
        let Json::Object(what) = what else { return None };
        let (least, most, _) = Class::RealTime.range();
        let priority = |of: &Object| match find(of, "priority") {
            Some(Json::Whole(priority)) => Some((least..=most).contains(priority)),
            Some(_) | None => None,
        };
        let phases = match find(what, "phases") {
            Some(Json::Object(phases)) => phases.as_slice(),
            Some(_) | None => &[],
        };
        for (_, phase) in phases {
            let Json::Object(phase) = phase else { return None };
            if find(phase, "policy").is_some() || priority(phase) == Some(false) {
                return None;
            }
        }
        if find(what, "policy").is_some() || priority(what) != Some(true) {
            return None;
        }
        first.get_or_insert_with(|| format!("tasks.{name}.priority"));
    }
    first
}

/// The longest time that a file can say, in microseconds, is one that a scenario has.
const _: () = assert!(LONGEST < i64::MAX / 1000);
