//! Bounds in steps: no handler takes more steps in the interpreter than `steps` says, whatever the order of events.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::cell::RefCell;
use std::collections::BTreeMap;

use catapults_compiler::compile;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::source::Source;
use catapults_compiler::steps::{Counts, Steps};
use catapults_compiler::verify::Verified;
use catapults_tests::choices::Choices;
use catapults_tests::host::{Host, Observed};
use catapults_tests::{native, policies, shipped_policies};
use fastrand::Rng;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// How many threads there are at the most, in turn.
const THREADS: [usize; 5] = [1, 2, 4, 8, 16];

/// What handlers take at the most: by name, threads and nodes. `None`: this handler has no bound.
struct Bounds<'a> {
    steps: Steps<'a>,
    known: RefCell<BTreeMap<(usize, usize), OfAll>>,
}

/// By handler: the most steps, and what the formula gives.
type OfAll = BTreeMap<String, (u128, u128)>;

impl<'a> Bounds<'a> {
    fn new(verified: &'a Verified<Policy>, framework: &Framework) -> Self {
        Bounds { steps: Steps::of(verified, framework), known: RefCell::default() }
    }

    fn of(&self, handler: &str, threads: usize, nodes: usize) -> Option<u128> {
        let mut known = self.known.borrow_mut();
        let of_all = known.entry((threads, nodes)).or_insert_with(|| {
            let counts = Counts { threads: threads as u64, nodes: nodes as u64 };
            let (found, _) = self.steps.bounds(counts, &|_| true);
            for one in &found {
                let on_path: u128 = one.path.iter().map(|line| line.visit.steps).sum();
                assert_eq!(on_path, one.steps, "{}: the path of {counts:?}", one.handler.name);
            }
            found.iter().map(|one| (one.handler.name.clone(), (one.steps, one.formula.value(counts)))).collect()
        });
        let (steps, formula) = of_all.get(handler).copied()?;
        assert!(steps <= formula, "{handler}: {steps} steps, but {formula} by the formula, of {threads} and {nodes}");
        Some(steps)
    }

    /// The first handler that took more than its bound, less so many steps.
    fn exceeded(&self, observed: &Observed, less: u128) -> Option<String> {
        observed.iter().find_map(|((handler, threads, nodes), steps)| {
            let most = self.of(handler, *threads, *nodes)?.saturating_sub(less);
            (u128::from(*steps) > most).then(|| {
                format!("`{handler}` took {steps} steps of {threads} threads and {nodes} nodes, at most {most}")
            })
        })
    }
}

/// What is observed in a random order of events.
fn observed(verified: &Verified<Policy>, framework: &Framework, threads: usize, events: &[u8]) -> Observed {
    let framework = framework.as_met(verified.policy().timers(), verified.policy().has_nodes());
    let mut choices = Choices::new(events);
    let mut host = Host::new(verified, &framework).unwrap();
    host.most = threads;
    while !host.out && choices.any_left() {
        host.anything(&mut choices).unwrap();
    }
    host.observed
}

/// What was found of the library.
#[derive(Default)]
struct Found {
    /// Handlers with a bound that ran.
    handlers: usize,
    /// Those that took as many steps as their bound says.
    exact: usize,
    /// The greatest ratio of bound to what was observed, and where.
    worst: (f64, String),
}

#[test]
fn the_library_keeps_its_bounds() {
    let framework = native();
    let mut found = Found::default();
    for path in shipped_policies() {
        let source = catapults_tests::policy_at(&path);
        let (verified, _) = compile(&source, &framework).unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"));
        let bounds = Bounds::new(&verified, &framework);
        let mut all = Observed::new();
        for threads in THREADS {
            let mut rng = Rng::with_seed(threads as u64);
            for _ in 0..6 {
                let events: Vec<u8> = std::iter::repeat_with(|| rng.u8(..)).take(1500).collect();
                for (key, steps) in observed(&verified, &framework, threads, &events) {
                    let most = all.entry(key).or_insert(0);
                    *most = steps.max(*most);
                }
            }
        }
        if let Some(exceeded) = bounds.exceeded(&all, 0) {
            panic!("{}: {exceeded}", path.display());
        }
        // So this test would find bounds that are wrong by one step.
        assert!(bounds.exceeded(&all, 1).is_some(), "{}: no bound is reached", path.display());
        found.add(&path.file_stem().unwrap().to_string_lossy(), &bounds, &all);
    }
    println!(
        "bounds: 0 exceeded of {} handlers; {} of them taken to the step; worst ratio {:.2} ({})",
        found.handlers, found.exact, found.worst.0, found.worst.1
    );
    assert!(found.exact * 2 > found.handlers, "only {} of {} bounds are reached", found.exact, found.handlers);
}

impl Found {
    /// Each handler at the numbers of threads and nodes where it comes nearest to its bound.
    fn add(&mut self, policy: &str, bounds: &Bounds, all: &Observed) {
        let mut nearest: BTreeMap<&str, f64> = BTreeMap::new();
        for ((handler, threads, nodes), steps) in all {
            let Some(most) = bounds.of(handler, *threads, *nodes) else { continue };
            let ratio =
                if *steps == 0 { if most == 0 { 1.0 } else { f64::INFINITY } } else { most as f64 / *steps as f64 };
            let known = nearest.entry(handler).or_insert(f64::INFINITY);
            *known = ratio.min(*known);
        }
        for (handler, ratio) in nearest {
            self.handlers += 1;
            self.exact += usize::from(ratio <= 1.0);
            if ratio > self.worst.0 {
                self.worst = (ratio, format!("`{handler}` of {policy}"));
            }
        }
    }
}

#[test]
fn random_policies_keep_their_bounds() {
    let frameworks =
        [(64, None), (16, Some(3))].map(|(int_bits, capacity)| Framework { int_bits, capacity, ..native() });
    let bounded = RefCell::new((0_usize, 0_usize));
    let strategy = (0..frameworks.len(), 0..THREADS.len(), vec(any::<u8>(), 0..400), vec(any::<u8>(), 0..900));
    let mut runner = TestRunner::new(Config {
        cases: cases(600),
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::default()
    });
    let result = runner.run(&strategy, |(framework, threads, policy, events)| {
        let framework = &frameworks[framework];
        let text = policies::random(&policy);
        let Ok((verified, _)) = compile(&Source::new("random.sched", text.clone()), framework) else { return Ok(()) };
        let bounds = Bounds::new(&verified, framework);
        let observed = observed(&verified, framework, THREADS[threads], &events);
        let of = |(handler, threads, nodes): &(String, usize, usize)| bounds.of(handler, *threads, *nodes).is_some();
        let mut counted = bounded.borrow_mut();
        counted.0 += observed.keys().filter(|key| of(key)).count();
        counted.1 += observed.len();
        match bounds.exceeded(&observed, 0) {
            Some(exceeded) => Err(TestCaseError::fail(format!("{exceeded}\n{text}"))),
            None => Ok(()),
        }
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let (bounded, all) = *bounded.borrow();
    println!("{bounded} of {all} observations of handlers with a bound");
    assert!(bounded * 2 > all, "only {bounded} of {all} have a bound");
}

/// `PROPTEST_CASES`, or so many.
fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}
