//! A random script for a hierarchy, made while it is followed in the simulator.

use std::collections::BTreeSet;

use catapults_compiler::framework::Framework;
use catapults_compiler::hierarchy::Hierarchy;
use catapults_compiler::policy::{Policy, Type};
use catapults_compiler::vocabulary::Value;
use catapults_simulator::sim::Out;
use fastrand::Rng;

use super::simulated::{Log, Simulated};

const STEPS: usize = 250;
/// Locks.
const WORDS: usize = 3;

/// How often something has happened that steps may come to or not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// A thread took a step on the turn of another.
    pub donated: usize,
    /// A thread went over to another scheduler.
    pub attached: usize,
    /// A scheduler got another policy.
    pub replaced: usize,
    /// A scheduler was removed.
    pub ended: usize,
}

/// What a step may change.
struct Look<'a> {
    /// Of the schedulers that are there.
    policies: Vec<Option<&'a str>>,
    /// Who runs, and under which scheduler it is.
    runs: Option<(u32, Option<usize>)>,
    on_its_own_turn: bool,
}

impl<'a> Look<'a> {
    fn at(hierarchy: &Hierarchy, tree: &Simulated<'a, '_>) -> Self {
        let policy = |index| tree.is_there(index).then(|| tree.policy(index).name.as_str());
        Look {
            policies: (0..hierarchy.nodes().len()).map(policy).collect(),
            runs: tree.running().map(|current| (current, tree.scheduler_of(current))),
            on_its_own_turn: tree.has_its_own_turn(),
        }
    }
}

impl Seen {
    fn count(&mut self, before: &Look, after: &Look, tree: &Simulated) {
        if let Some((thread, under)) = before.runs {
            self.donated += usize::from(!before.on_its_own_turn);
            self.attached += usize::from(tree.lives(thread) && tree.scheduler_of(thread) != under);
        }
        for (before, after) in before.policies.iter().zip(&after.policies) {
            self.replaced += usize::from(before.is_some() && after.is_some() && before != after);
            self.ended += usize::from(before.is_some() && after.is_none());
        }
    }
}

/// A script, and what becomes of it.
pub struct Followed {
    pub(super) script: Vec<String>,
    /// The numbers of schedulers, as the threads that they are to their parents.
    schedulers: BTreeSet<u32>,
    /// What happens.
    pub(super) events: Vec<String>,
    /// How much of it has happened before each line of the script.
    pub(super) before: Vec<usize>,
    /// Who asks for each line of the script, and for one more at its end; 0: nobody runs.
    pub(super) steps: Vec<String>,
}

impl Followed {
    /// Whether a line of the native dispatcher says what the simulator says, too: that does not say which threads ran when.
    pub(super) fn has_such(&self, line: &str) -> bool {
        let mut words = line.split(' ');
        match (words.next(), words.next().and_then(|number| number.parse().ok())) {
            (Some("dispatched" | "switched_out"), Some(number)) => self.schedulers.contains(&number),
            (Some("idle"), _) => false,
            _ => true,
        }
    }

    /// The script, each line with its number, who asks for it in the simulator and in the native dispatcher, and what happens by it.
    pub(super) fn told(&self, native: &[String]) -> String {
        let ends = self.before.iter().skip(1).copied().chain([self.events.len()]);
        let happens = self.before.iter().zip(ends).map(|(from, to)| self.events[*from..to].join(", "));
        let lines = self.script.iter().zip(&self.steps).zip(happens).enumerate();
        let told = |(index, ((line, asks), happens)): (usize, ((&String, &String), String))| {
            let native = native.get(index).map_or("nobody", String::as_str);
            format!("{}\t{asks}, {native}: {line}\t{happens}\n", index + 1)
        };
        lines.map(told).collect()
    }
}

/// A script for a hierarchy whose policies refuse none of its schedulers.
pub(super) fn follow(hierarchy: &Hierarchy, framework: &Framework, rng: &mut Rng, seen: &mut Seen) -> Followed {
    let (mut script, mut steps, mut before) = (Vec::new(), Vec::new(), Vec::new());
    let runs = |tree: &Simulated| tree.running().unwrap_or(0).to_string();
    let mut log = Log::default();
    let mut tree = match Simulated::new(hierarchy, framework, &mut log) {
        Ok(tree) => tree,
        Err(refused) => panic!("{refused:?}"),
    };
    let mut now = 0;
    let mut last = tree.start(hierarchy.default());
    for _ in 0..STEPS {
        let Ok(most) = last else { break };
        let look = Look::at(hierarchy, &tree);
        let (taker, happened) = (runs(&tree), tree.log().lines().len());
        last = step(hierarchy, &mut tree, rng, most, &mut now, &mut script).map(|new| new.unwrap_or(most));
        steps.resize(script.len(), taker);
        before.resize(script.len(), happened);
        seen.count(&look, &Look::at(hierarchy, &tree), &tree);
    }
    let (schedulers, mut events) = (tree.log().schedulers(), tree.log().lines());
    match last {
        Err(out) => {
            let why = ["a guard fails: ", "it refuses a thread: "]
                .iter()
                .fold(out.why.as_str(), |why, start| why.trim_start_matches(start));
            let out = format!("out {}: {why}", out.event);
            events.push(out.clone());
            steps.push(out);
        }
        Ok(_) => {
            steps.push(runs(&tree));
        }
    }
    Followed { script, schedulers, events, before, steps }
}

/// One step; the number of the thread that it created.
fn step(
    hierarchy: &Hierarchy,
    tree: &mut Simulated,
    rng: &mut Rng,
    most: u32,
    now: &mut i64,
    script: &mut Vec<String>,
) -> Result<Option<u32>, Out> {
    let any = rng.u32(1..=most);
    let mut say = |text: String| script.push(text);
    let choice = rng.u32(0..100);
    if tree.running().is_none() {
        return match choice {
            0..50 => {
                say(format!("unblock {}", any));
                tree.outside(|tree| tree.unblocks(any))
            }
            _ => {
                *now += rng.i64(0..30_000_000);
                say(format!("at {now}"));
                let now = *now;
                tree.outside(|tree| {
                    tree.set_now(now);
                    Ok(())
                })
            }
        }
        .map(|()| None);
    }
    match choice {
        0..12 => {
            let there: Vec<usize> = (0..hierarchy.nodes().len()).filter(|one| tree.is_there(*one)).collect();
            let scheduler = there[rng.usize(0..there.len())];
            let values = values(tree.policy(scheduler), rng, &mut say);
            say(format!("create {scheduler}"));
            return tree.create(scheduler, &values).map(Some);
        }
        12..35 => {
            say("yield".to_owned());
            tree.yields()
        }
        35..41 => {
            say(format!("yield_to {}", any));
            // Of a thread that has ended there is nothing to be asked.
            tree.yields_to(any)
        }
        41..51 => {
            let event = ["block.io.read", "block.lock", "block.sleep"][rng.usize(0..3)];
            say(event.to_owned());
            tree.blocks(event)
        }
        51..61 => {
            say(format!("unblock {}", any));
            tree.unblocks(any)?;
            tree.goes_on()
        }
        61..65 => {
            say(format!("suspend {}", any));
            tree.suspends(any)
        }
        65..71 => {
            say(format!("resume {}", any));
            tree.resumes(any)
        }
        // The word would name a thread that there is not.
        71..73 if tree.has_its_own_turn() && tree.running().is_some_and(|current| !tree.is_named(current)) => {
            say("exit".to_owned());
            tree.exits()
        }
        71..78 => {
            say("tick".to_owned());
            tree.ticks()
        }
        78..80 => {
            let mut woken: Vec<u32> =
                (1..=most).filter(|thread| tree.is_blocked(*thread) && !tree.waits(*thread)).collect();
            rng.shuffle(&mut woken);
            woken.iter().for_each(|thread| say(format!("also {thread}")));
            say("decide".to_owned());
            tree.unblock_all(&woken)
        }
        80..87 => waiting(tree, rng, &mut say),
        87..94 => of_schedulers(hierarchy, tree, rng, &mut say),
        94..97 => told(tree, any, *now, rng, &mut say),
        _ => {
            *now += rng.i64(0..30_000_000);
            say(format!("at {now}"));
            tree.set_now(*now);
            Ok(())
        }
    }
    .map(|()| None)
}

/// The policy of a thread is told of it.
fn told(tree: &mut Simulated, thread: u32, now: i64, rng: &mut Rng, say: &mut dyn FnMut(String)) -> Result<(), Out> {
    let Some(under) = tree.scheduler_of(thread) else { return Ok(()) };
    let mut given = Vec::new();
    let values = values(tree.policy(under), rng, &mut |text| given.push(text));
    match values.first().zip(given.first()) {
        Some((&(name, value), given)) => {
            say(format!("changed {} {}", thread, given.trim_start_matches("with ")));
            tree.sets(thread, name, value)
        }
        None => {
            let instant = now - rng.i64(0..30_000_000);
            say(format!("released {} {instant}", thread));
            tree.releases(thread, instant)
        }
    }
}

/// For some of the variables that the policy imports of threads.
fn values<'a>(policy: &'a Policy, rng: &mut Rng, say: &mut dyn FnMut(String)) -> Vec<(&'a str, Value)> {
    let mut values = Vec::new();
    for import in &policy.thread_imports {
        if ["consumed", "release"].contains(&import.name.as_str()) || rng.bool() {
            continue;
        }
        let value = match import.ty {
            Type::Int => Value::Int(rng.i64(-5..80)),
            Type::Time => Value::Time(rng.i64(0..50_000_000)),
            Type::Bool => Value::Bool(rng.bool()),
            Type::Float => continue,
        };
        let number = match value {
            Value::Int(number) | Value::Time(number) => number,
            Value::Bool(truth) => i64::from(truth),
            Value::Float(_) => continue,
        };
        say(format!("with {} {number}", import.name));
        values.push((import.name.as_str(), value));
    }
    values
}

/// A lock is taken, given back, or another is waited for.
fn waiting(tree: &mut Simulated, rng: &mut Rng, say: &mut dyn FnMut(String)) -> Result<(), Out> {
    let word = rng.usize(0..WORDS);
    let waiting: Vec<u32> = (0..WORDS).flat_map(|word| tree.waiting_by(word)).collect();
    match rng.u32(0..10) {
        0..5 => {
            say(format!("lock {word}"));
            tree.locks(word)
        }
        5..9 => {
            // Most often one that it has.
            let mine = (0..WORDS).find(|word| tree.running().is_some() && tree.word(*word) == tree.running());
            let word = mine.unwrap_or(word);
            let heirs = tree.waiting_by(word);
            let heir = (!heirs.is_empty() && rng.bool()).then(|| heirs[rng.usize(0..heirs.len())]);
            say(format!("unlock {word} {}", heir.unwrap_or(0)));
            tree.unlocks(word, heir)
        }
        _ if waiting.is_empty() => Ok(()),
        _ => {
            let thread = waiting[rng.usize(0..waiting.len())];
            say(format!("redirect {} {word}", thread));
            tree.redirects(thread, word)
        }
    }
}

/// A scheduler goes or comes, gets another policy, or another thread.
fn of_schedulers(
    hierarchy: &Hierarchy,
    tree: &mut Simulated,
    rng: &mut Rng,
    say: &mut dyn FnMut(String),
) -> Result<(), Out> {
    let any = rng.usize(0..hierarchy.nodes().len());
    match rng.u32(0..8) {
        _ if tree.can_be_added(any) => {
            say(format!("add {any}"));
            tree.adds(any)
        }
        _ if !tree.is_there(any) => Ok(()),
        0..2 => {
            say(format!("remove {any}"));
            tree.removes(any)
        }
        2..4 => {
            let like = rng.usize(0..hierarchy.nodes().len());
            say(format!("replace {any} {like}"));
            tree.replaces(any, like)
        }
        _ => {
            let here = tree.running().and_then(|current| tree.scheduler_of(current)) == Some(any);
            // Others may take steps before it has a turn of its own.
            let at_once = tree.has_its_own_turn() && !here;
            let values = if at_once { values(tree.policy(any), rng, say) } else { Vec::new() };
            say(format!("attach {any}"));
            tree.attaches(any, &values)
        }
    }
}
