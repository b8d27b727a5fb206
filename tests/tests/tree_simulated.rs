//! Hierarchies of schedulers in the simulator: after each step the thread runs that does in the reference (`tests/src/reference`),
//! on the same turn.
//!
//! The steps are those that scenarios come to, in any order that is legal, on one processor. What only hosts do (schedulers that go
//! and come, other policies, threads that go from one scheduler to another) `tree.rs` tries in the native dispatcher.
//!
//! Random trees of the library's policies. `CATAPULTS_SEED` changes what is tried, `CATAPULTS_ROUNDS` multiplies how much.

use std::collections::{BTreeMap, VecDeque};
use std::fs;

use catapults_compiler::framework::Framework;
use catapults_compiler::hierarchy::Hierarchy;
use catapults_compiler::interp::ThreadId;
use catapults_compiler::policy::Type;
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::Value;
use catapults_simulator::sim::{Admitted, Deciding, Dispatcher, Interpreted, Nowhere, Out, dispatcher};
use catapults_tests::differential::number;
use catapults_tests::hierarchies::{judge, random, said};
use catapults_tests::reference::Tree;
use catapults_tests::{native, root};
use fastrand::Rng;

/// Random hierarchies, and scripts for each.
const RANDOM: u64 = 60;
const SCRIPTS: u64 = 20;
const STEPS: usize = 250;
const LOCKS: usize = 3;

#[test]
fn the_simulator_decides_what_the_reference_decides() {
    let framework = native();
    let mut rng = Rng::with_seed(number("CATAPULTS_SEED", 1));
    let mut texts = Vec::new();
    for name in ["desktop", "isolation"] {
        texts.push(fs::read_to_string(root().join(format!("policies/{name}.hierarchy"))).unwrap());
    }
    texts.extend((0..RANDOM * number("CATAPULTS_ROUNDS", 1)).map(|index| random(&mut rng, &format!("random{index}"))));
    let (mut steps, mut out, mut lent) = (0, 0, 0);
    for text in &texts {
        let judged = judge(&Source::new("tree.hierarchy", text.as_str()), &framework);
        let hierarchy = judged.hierarchy.as_ref().unwrap_or_else(|| panic!("{}\n{text}", said(&judged)));
        // Some policies refuse some schedulers, as they refuse threads.
        if Tree::new(hierarchy).is_err() {
            continue;
        }
        for _ in 0..SCRIPTS {
            let mut script = Vec::new();
            match follow(hierarchy, &framework, &mut rng, &mut script, &mut lent) {
                Ok(is_out) => out += u64::from(is_out),
                Err(difference) => panic!("{difference}\n{text}\n{}", script.join("\n")),
            }
            steps += script.len();
        }
    }
    // A policy of the library that is out ends a script; few do.
    assert!(steps > 100_000 && out * 20 < texts.len() as u64 * SCRIPTS, "{steps} steps, {out} policies out");
    assert!(lent > 1_000, "{lent} steps on the turn of another");
    println!("differences 0 of {steps} steps in {} hierarchies", texts.len());
}

/// The same threads in both. The simulator uses numbers again.
struct Both<'a, 's> {
    reference: Tree<'a>,
    simulated: Dispatcher<'s, Interpreted<'a>>,
    /// By their numbers in the reference.
    threads: BTreeMap<ThreadId, ThreadId>,
    locks: Vec<Lock>,
}

#[derive(Default)]
struct Lock {
    owner: Option<ThreadId>,
    waiting: VecDeque<ThreadId>,
}

/// What became of a step: in the reference, in the simulator.
type Done = (Result<(), String>, Result<(), Out>);

/// Whether a policy was out at the end. `Err`: a difference.
fn follow(
    hierarchy: &Hierarchy,
    framework: &Framework,
    rng: &mut Rng,
    script: &mut Vec<String>,
    lent: &mut usize,
) -> Result<bool, String> {
    let mut nowhere = Nowhere;
    let mut simulated = dispatcher(Deciding::Hierarchy(hierarchy), framework, 1, &mut nowhere).unwrap();
    simulated.start().map_err(|out| format!("{out:?}"))?;
    let reference = Tree::new(hierarchy).map_err(|out| out.to_string())?;
    let locks = (0..LOCKS).map(|_| Lock::default()).collect();
    let mut both = Both { reference, simulated, threads: BTreeMap::new(), locks };
    let mut done = both.start(hierarchy.default());
    let mut now = 0;
    loop {
        // The reference looks for timers at each decision.
        let expired = done.1.and_then(|()| {
            let decides = both.simulated.turn(0).is_none() && both.reference.running().is_some();
            if decides { both.simulated.expire().map(|_| ()) } else { Ok(()) }
        });
        let settled = expired.and_then(|()| both.simulated.settle());
        match (done.0, settled) {
            (Ok(()), Ok(())) => {}
            (Err(_), Err(_)) => return Ok(true),
            (Err(out), Ok(())) => return Err(format!("only in the reference a policy is out: {out}")),
            (Ok(()), Err(out)) => return Err(format!("only in the simulator a policy is out: {out:?}")),
        }
        both.compare()?;
        *lent += usize::from(both.reference.turn() != both.reference.running());
        if script.len() >= STEPS || !both.threads.keys().any(|thread| both.reference.lives(*thread)) {
            return Ok(false);
        }
        done = both.step(hierarchy, rng, &mut now, script);
    }
}

impl Both<'_, '_> {
    /// The same runs on the same turn.
    fn compare(&self) -> Result<(), String> {
        let expected = [self.reference.running(), self.reference.turn()];
        let happened = [self.simulated.current(0), self.simulated.turn(0)];
        let of = |thread: Option<ThreadId>| thread.map(|thread| self.threads[&thread]);
        if expected.map(of) == happened {
            return Ok(());
        }
        let known =
            |thread: ThreadId| self.threads.iter().rev().find(|(_, number)| **number == thread).map(|one| one.0.0);
        let said = |runs: [Option<u32>; 2]| format!("{} on the turn of {}", runs[0].unwrap_or(0), runs[1].unwrap_or(0));
        let expected = said(expected.map(|thread| thread.map(|thread| thread.0)));
        let happened = said(happened.map(|thread| thread.and_then(known)));
        Err(format!("in the simulator {happened} runs, in the reference {expected}"))
    }

    fn start(&mut self, under: usize) -> Done {
        let expected = self.reference.start(under);
        self.came(expected, under, &[])
    }

    fn came(&mut self, expected: Result<ThreadId, impl ToString>, under: usize, values: &[(&str, Value)]) -> Done {
        let happened = self.simulated.create(0, Some(under), values, None);
        match (expected, happened) {
            (Ok(number), Ok(Admitted::Yes(thread))) => {
                self.threads.insert(number, thread);
                (Ok(()), Ok(()))
            }
            (expected, happened) => (expected.map(|_| ()).map_err(|out| out.to_string()), happened.map(|_| ())),
        }
    }

    /// One step. A thread that runs takes it; while none does, it happens outside.
    fn step(&mut self, hierarchy: &Hierarchy, rng: &mut Rng, now: &mut i64, script: &mut Vec<String>) -> Done {
        let living: Vec<ThreadId> = self.threads.keys().copied().filter(|one| self.reference.lives(*one)).collect();
        let any = living[rng.usize(0..living.len())];
        let thread = self.threads[&any];
        let choice = rng.u32(0..100);
        let runs = self.reference.running();
        let mut say = |text: String| script.push(text);
        let choice = if runs.is_none() { if choice < 60 { 50 } else { 95 } } else { choice };
        match choice {
            0..12 => {
                let scheduler = rng.usize(0..hierarchy.nodes().len());
                let values = values(self.reference.policy(scheduler).thread_imports.iter(), rng);
                say(format!("create {scheduler} {values:?}"));
                let expected = self.reference.create(scheduler, &values);
                self.came(expected, scheduler, &values)
            }
            12..33 => {
                say("yield".to_owned());
                said_by(self.reference.yields(), self.simulated.yields(0))
            }
            33..40 => {
                say(format!("yield_to {}", any.0));
                said_by(self.reference.yields_to(any), self.simulated.yields_to(0, thread))
            }
            40..47 => {
                let name = ["block.io.read", "block.lock", "block.sleep"][rng.usize(0..3)];
                say(name.to_owned());
                let event = self.simulated.event(name).unwrap();
                said_by(self.reference.blocks(name), self.simulated.blocks(0, event))
            }
            // A barrier, or a broadcast.
            47..50 if runs.is_some() => {
                let waits = |one: &ThreadId| self.reference.is_blocked(*one) && !self.reference.waits(*one);
                let mut woken: Vec<ThreadId> = living.iter().copied().filter(waits).collect();
                rng.shuffle(&mut woken);
                say(format!("unblock {:?}", woken.iter().map(|one| one.0).collect::<Vec<u32>>()));
                let threads: Vec<ThreadId> = woken.iter().map(|one| self.threads[one]).collect();
                said_by(self.reference.unblock_all(&woken), self.simulated.unblocks(&threads))
            }
            // Who waits for a lock gets it by `unlock`.
            50..61 if !self.reference.waits(any) => {
                say(format!("unblock {}", any.0));
                let expected = if runs.is_some() {
                    self.reference.unblock(any)
                } else {
                    self.reference.outside(|tree| tree.unblock(any))
                };
                said_by(expected, self.simulated.unblocks(&[thread]))
            }
            61..65 => {
                say(format!("suspend {}", any.0));
                said_by(self.reference.suspends(any), self.simulated.suspends(thread))
            }
            65..71 => {
                say(format!("resume {}", any.0));
                said_by(self.reference.resumes(any), self.simulated.resumes(thread))
            }
            // A lock's owner has not ended.
            71..73 if self.locks.iter().all(|lock| lock.owner != runs) => {
                say("exit".to_owned());
                said_by(self.reference.exits(), self.simulated.exits(0))
            }
            // Timers of no time at all expire with it in the reference.
            73..79 if self.simulated.next_timeout().is_none_or(|due| due > *now) => {
                say("tick".to_owned());
                said_by(self.reference.ticks(), self.simulated.ticks(0))
            }
            79..82 if runs.is_some() => {
                let under = self.reference.scheduler_of(any).map(|under| self.reference.policy(under));
                let values = values(under.iter().flat_map(|policy| &policy.thread_imports), rng);
                match values.first() {
                    Some((name, value)) => {
                        say(format!("changed {} {name} {value:?}", any.0));
                        said_by(self.reference.sets(any, name, *value), self.simulated.set_of(thread, name, *value))
                    }
                    None => {
                        let instant = *now - rng.i64(0..30_000_000);
                        say(format!("released {} {instant}", any.0));
                        self.simulated.set_release(thread, instant);
                        said_by(self.reference.releases(any, instant), self.simulated.releases(thread))
                    }
                }
            }
            79..92 => self.locks_or_unlocks(runs, rng, &mut say),
            _ => {
                *now += rng.i64(1..30_000_000);
                say(format!("at {now}"));
                let now = *now;
                self.simulated.set_now(now);
                let expected = if runs.is_some() {
                    self.reference.set_now(now);
                    self.reference.expires()
                } else {
                    self.reference.outside(|tree| {
                        tree.set_now(now);
                        Ok(())
                    })
                };
                said_by(expected, self.simulated.expire().map(|_| ()))
            }
        }
    }

    /// As threads of scenarios do: who waits first has it first.
    fn locks_or_unlocks(&mut self, runs: Option<ThreadId>, rng: &mut Rng, say: &mut dyn FnMut(String)) -> Done {
        let Some(runs) = runs else { return (Ok(()), Ok(())) };
        let mine = self.locks.iter().position(|lock| lock.owner == Some(runs));
        if let Some(index) = mine.filter(|_| rng.bool()) {
            let heir = self.locks[index].waiting.pop_front();
            say(format!("unlock {index} {}", heir.map_or(0, |heir| heir.0)));
            self.locks[index].owner = heir;
            let expected = self.reference.unlocks(index, heir);
            let Some(heir) = heir else { return said_by(expected, Ok(())) };
            let waiting: Vec<ThreadId> = self.locks[index].waiting.iter().map(|one| self.threads[one]).collect();
            let heir = self.threads[&heir];
            let simulated = &mut self.simulated;
            let happened = simulated.has(heir).and_then(|()| {
                simulated.redirects(waiting.into_iter(), Some(heir));
                simulated.regains(0)
            });
            return said_by(expected, happened);
        }
        let index = rng.usize(0..LOCKS);
        match self.locks[index].owner {
            Some(owner) if self.leads_to(owner, runs) => (Ok(()), Ok(())),
            Some(owner) => {
                say(format!("lock {index}"));
                self.locks[index].waiting.push_back(runs);
                said_by(self.reference.locks(index), self.simulated.waits(0, self.threads[&owner]))
            }
            None => {
                say(format!("lock {index}"));
                self.locks[index].owner = Some(runs);
                said_by(self.reference.locks(index), Ok(()))
            }
        }
    }

    /// Whether the one waits for the other, or is it.
    fn leads_to(&self, from: ThreadId, to: ThreadId) -> bool {
        let waits_for = |one: &ThreadId| self.locks.iter().find(|lock| lock.waiting.contains(one))?.owner;
        std::iter::successors(Some(from), waits_for).any(|one| one == to)
    }
}

fn said_by(expected: Result<(), impl ToString>, happened: Result<(), Out>) -> Done {
    (expected.map_err(|out| out.to_string()), happened)
}

/// For some of the variables that the policy imports of threads.
fn values<'a>(
    imports: impl Iterator<Item = &'a catapults_compiler::policy::Import>,
    rng: &mut Rng,
) -> Vec<(&'a str, Value)> {
    // What the host keeps it also sets.
    imports
        .filter(|import| !["consumed", "release"].contains(&import.name.as_str()))
        .filter_map(|import| {
            let value = match import.ty {
                Type::Int => Value::Int(rng.i64(-5..80)),
                Type::Time => Value::Time(rng.i64(1..50_000_000)),
                Type::Bool => Value::Bool(rng.bool()),
                Type::Float => return None,
            };
            rng.bool().then_some((import.name.as_str(), value))
        })
        .collect()
}
