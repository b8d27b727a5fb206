//! Bounds in clocks: no call of the library for Rabbit processors takes longer on the simulated processor than its bound says, whatever
//! the threads do. `CATAPULTS_WCET` says how many times as much is tried as usual (`make wcet`).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;

use catapults_compiler::compile;
use catapults_compiler::policy::Policy;
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_tests::clocks::{Built, Observed, Run, counts, folder_of_sdcc};
use catapults_tests::{framework_at, policies, policy_at, root, shipped_policies};
use catapults_wcet::processors::Rabbit;
use catapults_wcet::processors::rabbit::Counted;
use fastrand::Rng;

const RABBIT: &str = "frameworks/rabbit/rabbit.framework";

/// How many threads live at the most, in turn.
const THREADS: [u8; 5] = [1, 2, 4, 8, 16];

/// By the simulator's numbers, so that bounds can be compared to the clock; and by those that `catapults wcet` counts.
const SIMULATED: Rabbit = Rabbit { counted: Counted::Simulated };
const SHOWN: Rabbit = Rabbit { counted: Counted::Most };

/// What was found of a policy.
#[derive(Default)]
struct Found {
    /// Functions of policies, for a number of threads, that were called and have a bound.
    compared: usize,
    /// Those of which a call took longer.
    below: Vec<String>,
    /// Those of which a call took just as long.
    exact: usize,
    /// Functions without a bound, and why.
    refused: BTreeSet<String>,
    calls: u64,
    /// The greatest ratio of a bound to the longest call, and where.
    worst: (f64, String),
    /// By policy: the same.
    lines: Vec<String>,
}

#[test]
fn no_call_takes_longer_than_its_bound() {
    folder_of_sdcc().unwrap();
    let (mut policies, more) = (accepted(library()), usual());
    policies.extend(accepted(vec![Source::new("arithmetic.sched", ARITHMETIC)]));
    policies.extend(accepted(random(2 * more)));
    assert!(policies.len() > 8, "{} policies", policies.len());
    let (found, queue) = (Mutex::new(Found::default()), Mutex::new(policies));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                // The queue is free while a policy runs.
                while let Some((name, verified)) = { queue.lock().unwrap().pop() } {
                    let own = compared(&name, &verified, more);
                    found.lock().unwrap().add(own);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.lines.sort();
    println!("{}", found.lines.join("\n"));
    found.refused.iter().for_each(|refused| println!("without a bound: {refused}"));
    assert!(found.compared > 300, "only {} bounds were compared", found.compared);
    println!("{} calls; {} of {} bounds taken to the clock", found.calls, found.exact, found.compared);
    let (ratio, place) = &found.worst;
    println!(
        "wcet: bounds {} below observed of {}; worst ratio {ratio:.2} ({place})",
        found.below.len(),
        found.compared
    );
    let of_random = |refused: &&String| is_random(refused);
    let others: Vec<&String> = found.refused.iter().filter(|refused| !of_random(refused)).collect();
    assert!(others.is_empty(), "without a bound: {others:?}");
    assert!(found.below.is_empty(), "{}", found.below.join("\n"));
    // A bound that is too low by one clock is found where one is taken to the clock.
    assert!(found.exact * 5 > found.compared, "only {} of {} bounds are reached", found.exact, found.compared);
}

/// What the compiler of C has routines for, with loops of their own.
const ARITHMETIC: &str = "scheduler arithmetic {
  threadimports { int a default 7; int b default 3; }
  data { threadref current; queue ready; int _sum; }
  event newthread, event_raised(t) { _sum += t.a * t.b; t => ready; }
  event switch_out(t) { _sum += t.a / t.b; _sum += t.a % t.b; _sum += t.a << t.b; _sum += t.a >> t.b; t => ready; }
  event schedule { ready => current; dispatch current; }
}
";

/// `CATAPULTS_WCET`, or 1.
fn usual() -> usize {
    std::env::var("CATAPULTS_WCET").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// The policies that are shipped, and those of the host's tests.
fn library() -> Vec<Source> {
    let of_tests = ["frameworks/rabbit/tests/draws.sched", "frameworks/rabbit/tests/refused.sched"];
    let all = shipped_policies().into_iter().chain(of_tests.map(|path| root().join(path)));
    all.map(|path: PathBuf| policy_at(&path)).collect()
}

fn is_random(policy: &str) -> bool {
    policy.starts_with("random")
}

fn random(number: usize) -> Vec<Source> {
    let framework = framework_at(RABBIT);
    let mut rng = Rng::with_seed(7);
    let mut sources = Vec::new();
    while sources.len() < number {
        let bytes: Vec<u8> = std::iter::repeat_with(|| rng.u8(..)).take(300).collect();
        let source = Source::new(format!("random{}.sched", sources.len()), policies::random_for(&framework, &bytes));
        if compile(&source, &framework).is_ok() {
            sources.push(source);
        }
    }
    sources
}

/// Those that the dialect allows.
fn accepted(sources: Vec<Source>) -> Vec<(String, Verified<Policy>)> {
    let framework = framework_at(RABBIT);
    let compiled = sources.into_iter().filter_map(|source| {
        let name = source.name.rsplit('/').next().unwrap().trim_end_matches(".sched").to_owned();
        Some((name, compile(&source, &framework).ok()?.0))
    });
    compiled.collect()
}

fn compared(name: &str, verified: &Verified<Policy>, more: usize) -> Found {
    let mut found = Found::default();
    let built = match Built::of(verified, &framework_at(RABBIT)) {
        Ok(built) => built,
        // SDCC does not translate all of C.
        Err(error) if is_random(name) => {
            found.lines.push(format!("{name}: not built: {}", error.lines().next().unwrap_or_default()));
            return found;
        }
        Err(error) => panic!("{name}: {error}"),
    };
    for threads in THREADS {
        let mut observed = Observed::new();
        for values in 0..4 {
            // Many random policies say more than many runs of one.
            let seeds = if is_random(name) { 1 } else { more };
            for seed in 1..=u16::try_from(seeds).unwrap() {
                let run = Run { threads, seed: seed.wrapping_mul(0x5bd1) | 1, actions: 1000, values };
                let (own, failed) = built.observed(run).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(!failed || is_random(name), "{name}: {run:?}: a guard failed");
                for (function, (clocks, calls)) in own {
                    let known = observed.entry(function).or_default();
                    *known = (known.0.max(clocks), known.1 + calls);
                }
            }
        }
        found.compare(name, &built, threads, &observed);
    }
    let (ratio, place) = &found.worst;
    let worst = if place.is_empty() { String::new() } else { format!("; worst ratio {ratio:.2} ({place})") };
    found.lines.push(format!("{name}: {} of {} bounds taken to the clock{worst}", found.exact, found.compared));
    found
}

impl Found {
    fn compare(&mut self, policy: &str, built: &Built, threads: u8, observed: &Observed) {
        let shown = built.bounds(&SHOWN, u64::from(threads));
        for ((function, simulated), (_, shown)) in built.bounds(&SIMULATED, u64::from(threads)).into_iter().zip(shown) {
            let (simulated, shown) = match (simulated, shown) {
                (Ok(simulated), Ok(shown)) => (simulated, shown),
                (Err(refused), _) | (_, Err(refused)) => {
                    let line = refused.source.as_ref().map(|source| source.text.clone()).unwrap_or_default();
                    self.refused.insert(format!("{policy}: {} ({}: {line})", refused.title(), refused.function));
                    continue;
                }
            };
            for bound in [&simulated, &shown] {
                let on_path: u128 = bound.cost.path.visits().iter().map(|(_, visit)| visit.clocks).sum();
                assert_eq!(on_path, bound.cost.clocks, "{policy}: the path of {function}");
                let formula = bound.cost.formula.value(counts(u64::from(threads)));
                assert!(bound.cost.clocks <= formula, "{policy}: {function}, {} by its formula", bound.cost.formula);
            }
            assert!(simulated.cost.clocks <= shown.cost.clocks, "{policy}: {function}");
            let Some((clocks, calls)) = observed.get(&function) else { continue };
            let (clocks, most) = (u128::from(*clocks), simulated.cost.clocks);
            let place = format!("{function} of {policy}, {threads} threads");
            self.compared += 1;
            self.calls += calls;
            self.exact += usize::from(clocks == most);
            if clocks > most {
                self.below.push(format!("{place}: {clocks} clocks, at most {most}"));
            }
            let ratio = shown.cost.clocks as f64 / clocks as f64;
            // One thread has nobody to yield to or to signal; and a random policy can be out before much has been called.
            if ratio > self.worst.0 && threads > 1 && !is_random(policy) {
                self.worst = (ratio, place);
            }
        }
    }

    fn add(&mut self, other: Found) {
        self.compared += other.compared;
        self.below.extend(other.below);
        self.exact += other.exact;
        self.refused.extend(other.refused);
        self.calls += other.calls;
        self.lines.extend(other.lines);
        if other.worst.0 > self.worst.0 {
            self.worst = other.worst;
        }
    }
}
