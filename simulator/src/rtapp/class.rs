//! Linux's scheduling classes, and what policies are told of their priorities, budgets and deadlines.
//!
//! To our policies, higher priorities are more urgent. Real-time priorities, 1 to 99, are told as they are. Nice values
//! are more urgent the lower they are, and less urgent than any real-time class: -20 to 19 are told as 0 to -39.
//! `SCHED_IDLE` is below all of them, `SCHED_DEADLINE` above.
//!
//! Policies of Linux import `nice`, `class` and `rt_priority`, and are told these as Linux has them ([`Priority`]).

use super::json::{Json, find};
use super::{LONGEST, Object, Wrong, microseconds, named, whole, wrong};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Nice,
    Idle,
    RoundRobin,
    Fifo,
    Deadline,
}

impl Class {
    /// The class of the `policy` in the file.
    pub(super) fn read(value: &Json, place: &str) -> Result<Class, Wrong> {
        Ok(match named(value, place)? {
            "SCHED_OTHER" | "SCHED_BATCH" => Class::Nice,
            "SCHED_IDLE" => Class::Idle,
            "SCHED_FIFO" => Class::Fifo,
            "SCHED_RR" => Class::RoundRobin,
            "SCHED_DEADLINE" => Class::Deadline,
            other => {
                let all = "SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR and SCHED_DEADLINE";
                return Err(wrong(place, format!("Linux has no policy `{other}`; it has {all}")));
            }
        })
    }

    /// The priority of a thread with this `priority` in rt-app's file, or with rt-app's default.
    fn priority(self, priority: Option<i64>) -> Priority {
        let nice = |nice, urgency| Priority { urgency, nice, class: 0, rt_priority: 0 };
        let real_time = |urgency, class, rt_priority| Priority { urgency, nice: 0, class, rt_priority };
        match self {
            Class::Nice => nice(priority.unwrap_or(0), -20 - priority.unwrap_or(0)),
            // Linux ignores its nice value.
            Class::Idle => nice(19, -60),
            Class::Fifo => real_time(priority.unwrap_or(10), 1, priority.unwrap_or(10)),
            Class::RoundRobin => real_time(priority.unwrap_or(10), 2, priority.unwrap_or(10)),
            Class::Deadline => real_time(100, 1, 99),
        }
    }

    fn range(self) -> (i64, i64, &'static str) {
        match self {
            Class::Nice | Class::Idle => (-20, 19, "a nice value is"),
            Class::Fifo | Class::RoundRobin => (1, 99, "a real-time priority is"),
            Class::Deadline => (0, 0, "SCHED_DEADLINE has none but 0, and this is"),
        }
    }
}

/// How urgent a thread is, in the terms that policies may import.
pub(super) struct Priority {
    /// `priority`: one order for all classes.
    urgency: i64,
    /// `nice`, `class` and `rt_priority`, as Linux 2.4 has them: for the real-time classes FIFO and round-robin the class is 1 and 2,
    /// and the priority from 1 to 99. SCHED_IDLE is told as nice 19, SCHED_DEADLINE as FIFO with 99: these came later.
    nice: i64,
    class: i64,
    rt_priority: i64,
}

impl Priority {
    /// The values of those that the policy imports. One that imports none of Linux's is told of `priority`, even if it does not
    /// import that either: then it hears that nothing tells it who is more urgent.
    pub(super) fn told(&self, imports: &dyn Fn(&str) -> bool) -> Vec<String> {
        let linux = [("nice", self.nice), ("class", self.class), ("rt_priority", self.rt_priority)];
        let linux: Vec<_> = linux.into_iter().filter(|(name, _)| imports(name)).collect();
        let common = (linux.is_empty() || imports("priority")).then_some(("priority", self.urgency));
        common.into_iter().chain(linux).map(|(name, value)| format!("{name} = {value}")).collect()
    }
}

/// What a task or phase says of how its thread is scheduled.
pub(super) struct Said<'j> {
    of: &'j Object,
    place: &'j str,
    /// It is a task: in old files, `period` and `deadline` stand there.
    is_task: bool,
    /// It is a task with phases: there, `runtime` is no event.
    has_phases: bool,
}

/// A value for a variable that policies import, and the place in the file that says it.
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

    /// The class that it names, if any.
    pub(super) fn class(&self) -> Result<Option<Class>, Wrong> {
        find(self.of, "policy").map(|value| Class::read(value, &self.at("policy"))).transpose()
    }

    /// The place of its priority, or of the class whose default it takes.
    pub(super) fn place_of_priority(&self) -> Option<String> {
        ["priority", "policy"].into_iter().find(|name| find(self.of, name).is_some()).map(|name| self.at(name))
    }

    pub(super) fn has_priority(&self) -> bool {
        find(self.of, "priority").is_some()
    }

    /// How urgent it is in this class, if it says so by a priority or another class.
    pub(super) fn priority(&self, class: Class) -> Result<Option<Priority>, Wrong> {
        let Some(value) = find(self.of, "priority") else {
            let usual = self.is_task || find(self.of, "policy").is_some();
            return Ok(usual.then(|| class.priority(None)));
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
        Ok(Some(class.priority(Some(priority))))
    }

    /// Budget, period and deadline, which only `SCHED_DEADLINE` has.
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
        // As in rt-app. Without a deadline, policies that use one take the period's.
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

/// The class of a thread at the beginning of each phase. A phase's `policy` holds from then on.
///
/// # Errors
/// A phase names a priority or budget without a class, and would have another class in later rounds than in the first.
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
            let what = "the thread has one class the first time, and another in later rounds: write the `policy`, too";
            return Err(wrong(&said.at(name), what));
        }
        classes.push(first);
    }
    Ok(classes)
}

/// The place of the first priority, if no task or phase names a class and each priority is from 1 to 99. Then these are
/// most likely real-time threads whose class is missing: of nice values, some would be below 0 or missing.
pub(super) fn unclear(tasks: &Object) -> Option<String> {
    let mut first = None;
    for (name, what) in tasks {
        let Json::Object(what) = what else { return None };
        let (least, most, _) = Class::Fifo.range();
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

/// The longest time in a file, in microseconds, must be one that scenarios can have.
const _: () = assert!(LONGEST < i64::MAX / 1000);
