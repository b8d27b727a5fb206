//! `make differential`: every framework takes the interpreter's decisions. For each: the scripts of `tests/run` and the policies that its
//! dialect allows, then random policies, as many as the argument says (1000), all in random orders of events; the framework's own
//! test, if there is one (`tests/tests/NAME.rs`), and that of hierarchies where there are such (`tests/tests/tree.rs`). Further arguments are the names of frameworks; without, it is all. A difference is made short and saved in `tests/run`. The exit status is 1 if
//! there is one.

use std::io::Write;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use catapults_compiler::framework::Feature;
use catapults_tests::differential::{Compared, Target, frameworks, has_own_test, name, number};
use catapults_tests::root;

/// Random orders of events that a policy meets: one that people wrote, and a random one.
const ORDERS: u64 = 200;
const FEW: u64 = 40;
/// Random policies of one piece of work.
const PIECE: usize = 10;
/// How much longer a framework's own test takes here.
const ROUNDS: &str = "5";

/// A piece of work: what it is called, which framework it is of, and the work.
type Piece<'a> = (String, usize, Box<dyn Fn() -> Result<Compared, String> + Send + Sync + 'a>);

fn main() -> ExitCode {
    let wanted: usize = match std::env::args().nth(1).map(|argument| argument.parse()) {
        None => 1000,
        Some(Ok(wanted)) => wanted,
        Some(Err(_)) => {
            eprintln!("differential: the argument is a number, how many random policies each framework gets");
            return ExitCode::from(2);
        }
    };
    let start = Instant::now();
    let seed = number("CATAPULTS_SEED", 1);
    let only: Vec<String> = std::env::args().skip(2).collect();
    let mut frameworks = frameworks();
    if let Some(unknown) = only.iter().find(|name| !frameworks.iter().any(|framework| framework.name == **name)) {
        eprintln!("differential: there is no framework `{unknown}`");
        return ExitCode::from(2);
    }
    frameworks.retain(|framework| only.is_empty() || only.contains(&framework.name));
    let targets: Vec<Option<Target>> = frameworks.iter().map(|framework| Target::new(framework)).collect();
    let simulated: Vec<Option<Target>> = frameworks.iter().map(|framework| Target::simulated(framework)).collect();

    let mut pieces: Vec<Piece> = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let Some(target) = target else { continue };
        let host = &target.framework.name;
        for path in target.scripts() {
            pieces.push((format!("{host}: {}", name(&path)), index, Box::new(move || target.script(&path))));
        }
        for path in target.policies() {
            let called = format!("{host}: {} in random orders", name(&path));
            pieces.push((called, index, Box::new(move || target.orders(&path, seed, ORDERS))));
        }
        for piece in 0..wanted.div_ceil(PIECE) {
            let (seed, policies) = (seed * 100_000 + piece as u64, PIECE.min(wanted - piece * PIECE));
            let called = format!("{host}: random policies of seed {seed}");
            pieces.push((called, index, Box::new(move || target.random_policies(seed, policies, FEW))));
        }
    }
    for (index, target) in simulated.iter().enumerate() {
        let Some(target) = target else { continue };
        let host = &target.framework.name;
        for path in target.scripts() {
            pieces.push((format!("{host} simulated: {}", name(&path)), index, Box::new(move || target.script(&path))));
        }
        for path in target.policies() {
            let called = format!("{host} simulated: {} in random orders", name(&path));
            pieces.push((called, index, Box::new(move || target.orders(&path, seed, 3))));
        }
    }
    let mut totals = work(&pieces, frameworks.len());
    for (framework, total) in frameworks.iter().zip(&mut totals) {
        if has_own_test(framework) {
            println!("{}: its own test", framework.name);
            total.own(&framework.name);
        }
        // In the interpreter and in the native dispatcher.
        if framework.dialect.features.contains(&Feature::Hierarchies) {
            println!("{}: hierarchies", framework.name);
            total.own("tree");
        }
    }

    println!();
    for (framework, Total { compared, differences }) in frameworks.iter().zip(&totals) {
        println!(
            "{:10} {:6} policies ({} with nodes) {:8} orders of events {:10} decisions {differences:3} differences",
            framework.name, compared.policies, compared.with_nodes, compared.orders, compared.decisions
        );
    }
    println!("{:.0} s", start.elapsed().as_secs_f64());
    let names: Vec<&str> = frameworks.iter().map(|framework| framework.name.as_str()).collect();
    let differences: usize = totals.iter().map(|total| total.differences).sum();
    let decisions: usize = totals.iter().map(|total| total.compared.decisions).sum();
    println!("differences {differences} of {decisions} ({})", names.join(", "));
    if differences == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What became of a framework.
#[derive(Clone, Copy, Default)]
struct Total {
    compared: Compared,
    differences: usize,
}

impl Total {
    /// Runs a framework's own test. What it compared it says itself, in a line `differences 0 of 100 decisions …`.
    fn own(&mut self, called: &str) {
        let mut test = Command::new(env!("CARGO"));
        test.args(["test", "--release", "--quiet", "--locked", "-p", "catapults-tests", "--test", called]);
        test.args(["--", "--nocapture"]).current_dir(root()).env("CATAPULTS_ROUNDS", ROUNDS);
        let said = test.output().map(|output| (output.status.success(), output));
        let Ok((true, output)) = said else {
            self.differences += 1;
            println!("{called}: the test failed");
            if let Ok((_, output)) = said {
                println!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            }
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout);
        // A dot for another test of the file may stand before it.
        let said = text.lines().find_map(|line| line.trim_start_matches('.').strip_prefix("differences 0 of "));
        let counted: Option<usize> = said.and_then(|said| said.split(' ').next()?.parse().ok());
        match counted {
            Some(decisions) => self.compared.decisions += decisions,
            None => {
                self.differences += 1;
                println!("{called}: the test passes, and does not say what it compared");
            }
        }
    }
}

/// Does all pieces, on all processors.
fn work(pieces: &[Piece], frameworks: usize) -> Vec<Total> {
    let (next, totals) = (AtomicUsize::new(0), Mutex::new(vec![Total::default(); frameworks]));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((called, framework, piece)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = piece();
                    let mut totals = totals.lock().unwrap();
                    match result {
                        Ok(compared) => totals[*framework].compared = totals[*framework].compared.and(compared),
                        Err(said) => {
                            totals[*framework].differences += 1;
                            println!("{called}: {said}");
                        }
                    }
                    progress(next.load(Ordering::Relaxed).min(pieces.len()), pieces.len());
                }
            });
        }
    });
    totals.into_inner().unwrap()
}

fn progress(done: usize, all: usize) {
    if done.is_multiple_of(25) || done == all {
        eprintln!("differential: {done} of {all}");
        let _ = std::io::stderr().flush();
    }
}
