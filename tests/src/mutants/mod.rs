//! Is the verifier worth trusting? Policies are derived from whole ones by breaking them, and each is given to the
//! compiler, to a host that raises legal events in random order, and to the explorer. What the compiler accepts and the host
//! sees break an invariant has escaped; nothing may.

mod derive;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::source::Source;
use catapults_compiler::syntax::{ast::Scheduler, parse};
use catapults_compiler::verify::{Verified, verify};
use catapults_compiler::{check::check, compile};
use catapults_simulator::explorer::{Kind, Options, explore};

use crate::choices::Choices;
use crate::host::Host;
use crate::{named_policy, native, root, shipped_policies};
use derive::{Mutation, mutated, mutations};

/// What became of a mutant. An earlier one outweighs a later one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Accepted, and yet an invariant was broken, in this way.
    Escaped(String),
    /// Refused by the compiler.
    Rejected,
    /// Accepted, with a guard that the original has not, or a guard that failed.
    Guarded,
    /// Accepted, and the explorer finds a guard that fails, a loop that the compiler warned of, or starvation where the original has none.
    Explored,
    /// Safe; it decides otherwise than the original in some order of events.
    Otherwise,
    /// Safe; it decides what the original decides in every order tried.
    Equivalent,
}

/// A mutant that was judged.
#[derive(Debug)]
pub struct Judged {
    /// The policy and the changes.
    pub name: String,
    /// The sort of the first change.
    pub sort: &'static str,
    /// What became of it.
    pub fate: Fate,
}

/// A shipped policy.
struct Original {
    source: Source,
    tree: Scheduler,
    guards: usize,
    starves: bool,
    /// What it decides in each random order.
    decisions: Vec<Vec<String>>,
}

/// A mutant to be judged.
struct Mutant {
    original: usize,
    changes: Vec<Mutation>,
}

/// How many random orders of events each mutant meets, and how many steps each takes.
const HOSTS: u64 = 24;
const STEPS: usize = 120;

/// How far the explorer goes with each.
const EXPLORATION: Options = Options { threads: 2, states: 3_000, bound: 4, starvation: true, time: None, stop: None };

/// Derives `wanted` mutants of the shipped policies and judges them, on so many kernel threads. All single changes come first,
/// then pairs of them by chance; if fewer are wanted, an even choice of the single ones.
pub fn judge(wanted: usize, workers: usize) -> Vec<Judged> {
    let framework = native();
    let originals: Vec<Original> = policies().iter().map(|path| original(path, &framework)).collect();
    let mutants = derived(&originals, wanted);
    let share = mutants.len().div_ceil(workers.max(1)).max(1);
    let (framework, originals) = (&framework, &originals);
    std::thread::scope(|scope| {
        let judge = |part: &'_ [Mutant]| part.iter().map(|mutant| judged(mutant, originals, framework)).collect();
        let workers: Vec<_> =
            mutants.chunks(share).map(|part| scope.spawn(move || -> Vec<Judged> { judge(part) })).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

/// The shipped policies, and tests that use what no shipped policy does: arrays of containers, several timers, threads that are moved before they are given away.
fn policies() -> Vec<PathBuf> {
    let tests =
        ["levels", "timers", "nodes", "stealing", "links"].map(|name| root().join(format!("tests/run/{name}.sched")));
    shipped_policies().into_iter().chain(tests).collect()
}

/// How many have which fate, by the sort of change.
pub fn table(judged: &[Judged]) -> String {
    let heads = ["change", "mutants", "rejected", "guarded", "explored", "otherwise", "equivalent", "ESCAPED"];
    let mut rows: BTreeMap<&str, [usize; 7]> = BTreeMap::new();
    for one in judged {
        let column = match one.fate {
            Fate::Rejected => 1,
            Fate::Guarded => 2,
            Fate::Explored => 3,
            Fate::Otherwise => 4,
            Fate::Equivalent => 5,
            Fate::Escaped(_) => 6,
        };
        for sort in [one.sort, "~ all"] {
            let row = rows.entry(sort).or_default();
            row[0] += 1;
            row[column] += 1;
        }
    }
    let mut text = format!("{:<22}", heads[0]);
    heads[1..].iter().for_each(|head| text.push_str(&format!("{head:>11}")));
    for (sort, row) in rows {
        text.push_str(&format!("\n{:<22}", sort.trim_start_matches("~ ")));
        row.iter().for_each(|count| text.push_str(&format!("{count:>11}")));
    }
    text
}

fn original(path: &Path, framework: &Framework) -> Original {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let source = named_policy(name, path);
    let (verified, _) =
        compile(&source, framework).unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(&source, false)));
    let tree = parse(&source, &framework.dialect, &mut Diagnostics::new());
    let report = explore(&verified, framework, &EXPLORATION, &mut |_, _| {}).unwrap();
    let mut decisions = Vec::new();
    for seed in 0..HOSTS {
        decisions.push(driven(&verified, framework, seed).unwrap_or_else(|wrong| panic!("{}: {wrong}", source.name)).0);
    }
    let guards = verified.explain_guards().count();
    Original { tree, guards, starves: report.starvation.is_some(), decisions, source }
}

fn derived(originals: &[Original], wanted: usize) -> Vec<Mutant> {
    let each: Vec<Vec<Mutation>> = originals.iter().map(|original| mutations(&original.tree)).collect();
    let mut single: Vec<Mutant> = Vec::new();
    for (original, all) in each.iter().enumerate() {
        let real = all.iter().filter(|change| mutated(&originals[original].tree, change).is_some());
        single.extend(real.map(|change| Mutant { original, changes: vec![change.clone()] }));
    }
    if wanted <= single.len() {
        let (step, mut kept) = (single.len(), Vec::new());
        for (index, mutant) in single.into_iter().enumerate() {
            if index * wanted / step != (index + 1) * wanted / step {
                kept.push(mutant);
            }
        }
        return kept;
    }
    let mut rng = fastrand::Rng::with_seed(1);
    while single.len() < wanted {
        let original = rng.usize(..originals.len());
        let (Some(first), Some(second)) = (rng.choice(&each[original]), rng.choice(&each[original])) else { continue };
        let twice = mutated(&originals[original].tree, first).and_then(|once| mutated(&once, second));
        if twice.is_some_and(|twice| twice != originals[original].tree) {
            single.push(Mutant { original, changes: vec![first.clone(), second.clone()] });
        }
    }
    single
}

fn judged(mutant: &Mutant, originals: &[Original], framework: &Framework) -> Judged {
    let original = &originals[mutant.original];
    let mut tree = original.tree.clone();
    let mut name = original.source.name.clone();
    for change in &mutant.changes {
        name.push_str(&format!("; {}", change.describe(&tree)));
        tree = mutated(&tree, change).unwrap_or(tree);
    }
    Judged { name, sort: mutant.changes[0].sort(), fate: fate(original, &tree, framework) }
}

fn fate(original: &Original, tree: &Scheduler, framework: &Framework) -> Fate {
    let mut diagnostics = Diagnostics::new();
    let policy = check(&original.source, tree, framework, &mut diagnostics);
    let verified = policy.and_then(|policy| verify(policy, framework, &mut diagnostics));
    let Some(verified) = verified.filter(|_| !diagnostics.has_errors()) else { return Fate::Rejected };
    let (mut out, mut decisions) = (false, Vec::new());
    for seed in 0..HOSTS {
        match driven(&verified, framework, seed) {
            Ok((decided, guard_failed)) => {
                out |= guard_failed;
                decisions.push(decided);
            }
            Err(wrong) => return Fate::Escaped(wrong),
        }
    }
    let report = match explore(&verified, framework, &EXPLORATION, &mut |_, _| {}) {
        Ok(report) => report,
        Err(wrong) => return Fate::Escaped(wrong),
    };
    // Of loops that may not end the compiler warns, and nothing more is promised.
    let warned = diagnostics.iter().any(|diagnostic| diagnostic.code == "E0413");
    let said = |kind: Kind| kind == Kind::Guard || kind == Kind::Overrun && warned;
    match &report.counterexample {
        Some(found) if !said(found.kind) => {
            return Fate::Escaped(format!("{}: {}\n{}", found.kind, found.what, found.scenario));
        }
        Some(_) | None => {}
    }
    if out || verified.explain_guards().count() > original.guards {
        Fate::Guarded
    } else if report.counterexample.is_some() || report.starvation.is_some() && !original.starves {
        Fate::Explored
    } else if decisions == original.decisions {
        Fate::Equivalent
    } else {
        Fate::Otherwise
    }
}

/// A random order of legal events: what is decided, and whether a guard failed.
///
/// # Errors
/// The invariant that was broken.
fn driven(verified: &Verified<Policy>, framework: &Framework, seed: u64) -> Result<(Vec<String>, bool), String> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut bytes = vec![0; STEPS * 6];
    rng.fill(&mut bytes);
    let mut choices = Choices::new(&bytes);
    let framework = framework.as_met(verified.policy().timers(), verified.policy().has_nodes());
    let mut host = Host::new(verified, &framework)?;
    for _ in 0..STEPS {
        if !host.out {
            host.anything(&mut choices)?;
        }
    }
    Ok((host.decisions, host.out))
}
