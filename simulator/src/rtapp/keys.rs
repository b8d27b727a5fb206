//! What may stand in rt-app's files, and where. What rt-app would ignore is refused, and so is what scenarios cannot
//! say: so what is simulated is what was written.

use std::collections::BTreeMap;

use super::json::{Json, labelled};
use super::{Object, Wrong, named, wrong};

/// Where a name stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// A task that has `phases`.
    Task,
    /// A task without `phases`, which is its own only phase.
    TaskAlone,
    Phase,
}

/// What tasks and phases do. A name belongs to the first of these with which it begins, as in rt-app: so `run2` is
/// `run`, and `run_in`, too.
const EVENTS: [&str; 20] = [
    "lock", "unlock", "wait", "signal", "broad", "sync", "sleep", "runtime", "run", "timer", "suspend", "resume",
    "memrun", "mem", "iorun", "yield", "barrier", "fork", "sem_post", "sem_wait",
];

/// The kind of event, if the name is one.
pub(super) fn event(name: &str) -> Option<&'static str> {
    EVENTS.into_iter().find(|event| name.starts_with(event))
}

/// What tasks and phases can say of how threads are scheduled, or how often.
const OF_BOTH: [&str; 6] = ["loop", "policy", "priority", "dl-runtime", "dl-period", "dl-deadline"];

/// What only tasks can say.
const OF_TASKS: [&str; 5] = ["instance", "delay", "phases", "period", "deadline"];

/// Parts of `global` that do not change what threads do: how rt-app measures and logs, and how it fills time.
const OF_NO_EFFECT: [&str; 11] = [
    "calibration",
    "gnuplot",
    "lock_pages",
    "logdir",
    "log_basename",
    "log_size",
    "ftrace",
    "frag",
    "io_device",
    "mem_buffer_size",
    "cumulative_slack",
];

/// Checks the top level of a file.
pub(super) fn of_file(root: &Object) -> Result<(), Wrong> {
    once(root, "", |name, place, _| match name {
        "tasks" | "global" | "resources" => Ok(()),
        _ => Err(unknown(name, place, "a file has `tasks` and `global`")),
    })
}

pub(super) fn of_global(global: &Object) -> Result<(), Wrong> {
    once(global, "global", |name, place, value| match name {
        "duration" | "default_policy" => Ok(()),
        "pi_enabled" => match value {
            Json::Flag(_) => Ok(()),
            Json::Text(_) | Json::Whole(_) | Json::Object(_) | Json::List(_) | Json::Other => {
                Err(wrong(place, "this is neither `true` nor `false`"))
            }
        },
        _ if OF_NO_EFFECT.contains(&name) => Ok(()),
        _ => Err(unknown(name, place, "of `global`, `duration`, `default_policy` and `pi_enabled` are simulated")),
    })
}

/// Checks a task, or a phase of one. `processors`: how many are simulated.
pub(super) fn of_task(of: &Object, place: &str, level: Level, processors: u32) -> Result<(), Wrong> {
    let plain = of.iter().filter(|(name, _)| event(name).is_none());
    once_of(plain, place, |name, place, value| property(name, place, value, level, processors))?;
    if level != Level::Task {
        return Ok(());
    }
    for (label, name, _) in labelled(of) {
        // `runtime` is the budget there: see `class`.
        if event(name).is_some() && name != "runtime" {
            let what = "a task with `phases` does only what they say: rt-app ignores this; write it in one of them";
            return Err(wrong(&format!("{place}.{label}"), what));
        }
    }
    Ok(())
}

fn property(name: &str, place: &str, value: &Json, level: Level, processors: u32) -> Result<(), Wrong> {
    match name {
        _ if OF_BOTH.contains(&name) => Ok(()),
        _ if OF_TASKS.contains(&name) && level != Level::Phase => Ok(()),
        "delay" => {
            let what =
                "rt-app reads `delay` in a task, and ignores it in a phase; write it in the task, or `sleep` here";
            Err(wrong(place, what))
        }
        _ if OF_TASKS.contains(&name) => {
            Err(wrong(place, format!("rt-app reads `{name}` in a task, and ignores it in a phase")))
        }
        "cpus" => all_processors(value, place, processors),
        // No group, as in rt-app.
        "taskgroup" if *value == Json::Text(String::new()) => Ok(()),
        "taskgroup" => Err(wrong(place, "groups of tasks are not simulated; a hierarchy of policies has some")),
        "util_min" | "util_max" if *value == Json::Whole(-1) => Ok(()),
        "util_min" | "util_max" => Err(wrong(place, "policies are not told what utilization to assume; leave it out")),
        "nodes_membind" => Err(wrong(place, "the placement of memory is not simulated; leave it out")),
        _ => Err(unknown(name, place, "leave it out; docs/scenarios.md lists what can be")),
    }
}

/// A thread that may run on every processor asks for nothing.
fn all_processors(value: &Json, place: &str, processors: u32) -> Result<(), Wrong> {
    let Json::List(list) = value else { return Err(wrong(place, "this is no list of processors, `[0, 1]`")) };
    let mut allowed = Vec::new();
    for one in list {
        match one {
            Json::Whole(number) if *number >= 0 => allowed.push(*number),
            Json::Whole(_) | Json::Text(_) | Json::Object(_) | Json::List(_) | Json::Flag(_) | Json::Other => {
                return Err(wrong(place, "this is no list of processors, `[0, 1]`"));
            }
        }
    }
    let there = i64::from(processors);
    if let Some(none) = allowed.iter().find(|number| **number >= there) {
        let what = format!(
            "processor {none} is not among the {processors} that are simulated, which count from 0; `--processors` says how many"
        );
        return Err(wrong(place, what));
    }
    if (0..there).all(|number| allowed.contains(&number)) {
        return Ok(());
    }
    let what =
        format!("a thread that may run on only some of the {processors} processors is not simulated; leave it out");
    Err(wrong(place, what))
}

fn unknown(name: &str, place: &str, help: &str) -> Wrong {
    wrong(place, format!("`{name}` cannot be simulated: {help}"))
}

/// Visits the members of an object, with their places. No name may occur twice.
fn once(of: &Object, place: &str, each: impl Fn(&str, &str, &Json) -> Result<(), Wrong>) -> Result<(), Wrong> {
    once_of(of.iter(), place, each)
}

fn once_of<'j>(
    of: impl Iterator<Item = &'j (String, Json)>,
    above: &str,
    each: impl Fn(&str, &str, &Json) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    let mut seen: BTreeMap<&str, ()> = BTreeMap::new();
    for (name, value) in of {
        let place = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        if seen.insert(name, ()).is_some() {
            return Err(wrong(&format!("{place}[2]"), format!("`{name}` is said twice")));
        }
        each(name, &place, value)?;
    }
    Ok(())
}

/// Old versions demand declared resources. Newer ones do not need them.
pub(super) fn of_resources(resources: &Json) -> Result<(), Wrong> {
    let Json::Object(resources) = resources else { return Err(wrong("resources", "this is no object, `{ … }`")) };
    for (label, name, of) in labelled(resources) {
        let place = format!("resources.{label}");
        let Json::Object(of) = of else { return Err(wrong(&place, format!("`{name}` is no object, `{{ … }}`"))) };
        once(of, &place, |name, place, value| match name {
            "type" => named(value, place).map(drop),
            _ => Err(unknown(name, place, "a resource has a `type`")),
        })?;
    }
    Ok(())
}
