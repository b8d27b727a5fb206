//! Simulations: random scenarios under policies that are shipped and under random ones. No thread is lost, no time is, the same seed
//! gives the same, and a policy that was compiled decides what the interpreter decides.
//!
//! `CATAPULTS_SEED` changes what is tried, `CATAPULTS_ROUNDS` multiplies how much.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::framework::{self, Framework};
use catapults_compiler::hierarchy::Hierarchy;
use catapults_compiler::policy::{Policy, Type};
use catapults_compiler::scenario::{self, Scenario};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_simulator::sim::{self, Deciding, Ending, Keep, Kind, Object, Outcome, Record, RunBy, Sink};
use catapults_tests::compiled::{Driver, Mode};
use catapults_tests::differential::number;
use catapults_tests::hierarchies::judge;
use catapults_tests::{native, policies, root, shipped_policies};
use fastrand::Rng;

/// Scenarios for each policy.
const SCENARIOS: u64 = 12;
/// Those in which threads wait for locks.
const LOCKING: u64 = 60;
/// Random policies, and how many of those that are accepted are compiled as well.
const RANDOM: u64 = 150;
const COMPILED: u64 = 40;

#[test]
fn compiled_policies_decide_what_the_interpreter_decides() {
    let framework = native();
    let folder = tempfile::tempdir().unwrap();
    let driver = Driver::of_build(&framework, folder.path(), "shared");
    let mut rng = Rng::with_seed(number("CATAPULTS_SEED", 1));
    let mut records = 0;
    for path in shipped_policies() {
        let verified = compiled(&path, &framework);
        let object = object(&driver, &verified, &framework, 0);
        for _ in 0..SCENARIOS * number("CATAPULTS_ROUNDS", 1) {
            let text = random_scenario(&mut rng, &[verified.policy()], &[]);
            let deciding = Deciding::Policy(&verified);
            records += same(&text, deciding, &framework, std::slice::from_ref(&object));
            let text = locking_scenario(&mut rng, verified.policy(), &[]);
            records += same(&text, deciding, &framework, std::slice::from_ref(&object));
        }
    }
    for (index, name) in ["desktop", "isolation", "partitioned", "workstation"].into_iter().enumerate() {
        let hierarchy = hierarchy(name, &framework);
        let objects: Vec<Object> = hierarchy
            .policies()
            .iter()
            .enumerate()
            .map(|(place, policy)| object(&driver, policy, &framework, index * 16 + place + 1))
            .collect();
        let policies: Vec<&Policy> = hierarchy.policies().iter().map(Verified::policy).collect();
        let names: Vec<&str> = hierarchy.nodes().iter().map(|node| node.name.as_str()).collect();
        for _ in 0..SCENARIOS * number("CATAPULTS_ROUNDS", 1) {
            let text = random_scenario(&mut rng, &policies, &names);
            records += same(&text, Deciding::Hierarchy(&hierarchy), &framework, &objects);
            let text = locking_scenario(&mut rng, policies[0], &names);
            records += same(&text, Deciding::Hierarchy(&hierarchy), &framework, &objects);
        }
    }
    println!("{records} records");
    assert!(records > 20_000, "only {records} records");
}

/// On several processors a turn is lent to a thread that may be dispatched elsewhere meanwhile.
#[test]
fn threads_that_wait_for_locks_all_end() {
    let framework = native();
    let seed = number("CATAPULTS_SEED", 1);
    let mut lent = 0;
    let mut all_end = |text: String, deciding: Deciding<'_>| {
        let (outcome, records) = simulated(&text, deciding, &framework, RunBy::Interpreter);
        assert_eq!(outcome.ending, Ending::AllEnded, "{text}");
        for tally in &outcome.tallies {
            assert_eq!(tally.jobs, tally.came, "{text}");
        }
        lent += records.iter().filter(|record| record.contains(" Lent ")).count();
    };
    // Each has a sequence of its own: another policy does not change what this one meets.
    for path in shipped_policies() {
        let verified = compiled(&path, &framework);
        let mut rng = Rng::with_seed(seed);
        for _ in 0..LOCKING * number("CATAPULTS_ROUNDS", 1) {
            all_end(locking_scenario(&mut rng, verified.policy(), &[]), Deciding::Policy(&verified));
        }
    }
    for name in ["desktop", "isolation", "partitioned", "workstation"] {
        let hierarchy = hierarchy(name, &framework);
        let names: Vec<&str> = hierarchy.nodes().iter().map(|node| node.name.as_str()).collect();
        let mut rng = Rng::with_seed(seed);
        for _ in 0..LOCKING * number("CATAPULTS_ROUNDS", 1) {
            let text = locking_scenario(&mut rng, hierarchy.policies()[0].policy(), &names);
            all_end(text, Deciding::Hierarchy(&hierarchy));
        }
    }
    println!("{lent} turns lent");
    assert!(lent > 10_000, "only {lent} turns lent");
}

#[test]
fn random_policies_lose_no_thread_and_no_time() {
    let framework = native();
    let folder = tempfile::tempdir().unwrap();
    let driver = Driver::of_build(&framework, folder.path(), "shared");
    let mut rng = Rng::with_seed(number("CATAPULTS_SEED", 1));
    let (mut accepted, mut out) = (0, 0);
    for _ in 0..RANDOM * number("CATAPULTS_ROUNDS", 1) {
        let bytes: Vec<u8> = (0..rng.usize(50..400)).map(|_| rng.u8(..)).collect();
        let text = policies::random(&bytes);
        let Ok((verified, _)) = catapults_compiler::compile(&Source::new("random.sched", text.clone()), &framework)
        else {
            continue;
        };
        if verified.uninterpretable().is_some() {
            continue;
        }
        accepted += 1;
        let scenario = random_scenario(&mut rng, &[verified.policy()], &[]);
        let (outcome, _) = simulated(&scenario, Deciding::Policy(&verified), &framework, RunBy::Interpreter);
        // A guard that fails, a loop that does not end, and a scheduler of nodes that dispatches nothing, are the policy's affair.
        out += u64::from(matches!(outcome.ending, Ending::Out(_)));
        if accepted <= COMPILED * number("CATAPULTS_ROUNDS", 1) {
            let object = object(&driver, &verified, &framework, 0);
            same(&scenario, Deciding::Policy(&verified), &framework, std::slice::from_ref(&object));
        }
    }
    println!("{accepted} policies, {out} out");
    assert!(accepted > 20 && out < accepted, "{accepted} policies, {out} out");
}

/// Numbers are compared as they are written and counted, and none is rounded on the way.
#[test]
fn expectations_compare_exactly() {
    let threads = "thread A { run 7ms; }\n  thread B * 2 { run 14500us; }\n  thread C * 2 at 90ms { run 1ns; }";
    let held = [
        ("share of A = 7%", true),
        ("share of A = 7.0%", true),
        ("share of A <= 7%", true),
        ("share of A >= 7%", true),
        ("share of A < 7%", false),
        ("share of A = 7.00000000000000000001%", false),
        ("share of A < 7.00000000000000000001%", true),
        ("share of A = 6.9% within 0.1%", true),
        ("share of A = 6.9% within 0.0999999999999999999999%", false),
        ("share of A from 0ms to 30ms = 23.33%", false),
        ("share of A from 0ms to 30ms > 23.33333333333333333333%", true),
        ("share of A from 0ms to 30ms < 23.33333333333333333334%", true),
        ("share of B = 29%", true),
        ("idle = 64%", false),
        ("idle = 64% within 0.000002%", true),
        ("idle = 64% within 0.00000199%", false),
        ("idle from 0ms to 36ms = 0%", true),
        ("mean response of B = 28750us", true),
        ("mean response of C = 1ns", false),
        ("mean response of C > 1ns", true),
        ("mean response of C < 2ns", true),
        ("mean response of C = 1ns within 50%", true),
        ("mean response of C = 1ns within 49.9%", false),
        ("median response of B = 21500us", true),
        ("response of A = 7ms", true),
        ("response of A = 6650us within 5.2631578947%", false),
        ("response of A = 6650us within 5.2631578948%", true),
        ("response of A = 7350us within 4.7619047620%", true),
        ("response of A = 7350us within 4.7619047619%", false),
        ("jobs of B = 2", true),
        ("jobs of B = 1 within 100%", true),
        ("jobs of B = 1 within 99.9%", false),
    ];
    compare(threads, &held);
}

/// Of B a job is not done that has taken 20 ms in the end, longer than the one before: it takes longer than that. What A does for ever
/// is no job that could be done. The job of C that is done took longer than the other has by then.
#[test]
fn jobs_that_are_not_done_are_longer_than_they_have_taken() {
    let threads = "thread B period 80ms { run 10ms; }\n  thread C period 60ms { run 45ms; }
  thread A at 75ms { repeat { run 1ms; } }";
    let held = [
        ("jobs of B = 1", true),
        ("worst response of B < 20ms", false),
        ("worst response of B <= 20ms", false),
        ("worst response of B = 20ms", false),
        ("worst response of B = 20ms within 1ms", true),
        ("worst response of B = 19ms within 1ms", false),
        ("worst response of B = 30ms", false),
        ("worst response of B >= 20ms", true),
        ("worst response of B > 20ms", true),
        ("worst response of B >= 20000001ns", false),
        ("worst response of B <= 20000001ns", true),
        ("response of B > 20ms", true),
        ("worst response of B from 50ms to 100ms > 20ms", true),
        ("worst response of B from 0ms to 99ms > 20ms", false),
        ("p99 response of B = 10ms", true),
        ("worst response of A >= 1ms", false),
        ("worst response of A <= 1ms", false),
        ("worst response of C = 55ms", true),
    ];
    compare(threads, &held);
}

/// In 100 ms under `fifo`.
fn compare(threads: &str, held: &[(&str, bool)]) {
    let framework = native();
    let verified = compiled(&root().join("policies/fifo.sched"), &framework);
    let expected: String =
        held.iter().fold(String::new(), |text, (expected, _)| format!("{text}  expect {expected};\n"));
    let text = format!("scenario exact {{\n  duration 100ms;\n  {threads}\n{expected}}}\n");
    let (outcome, _) = simulated(&text, Deciding::Policy(&verified), &framework, RunBy::Interpreter);
    for (verdict, (expected, holds)) in outcome.verdicts.iter().zip(held) {
        assert_eq!(verdict.holds, *holds, "{expected}: {}", verdict.found);
    }
}

/// Simulates twice and compiled; how many records there are.
fn same(text: &str, deciding: Deciding<'_>, framework: &Framework, objects: &[Object]) -> usize {
    let (outcome, first) = simulated(text, deciding, framework, RunBy::Interpreter);
    let (_, again) = simulated(text, deciding, framework, RunBy::Interpreter);
    assert_eq!(first, again, "twice the same is not the same\n{text}");
    if let Ending::Out(out) = &outcome.ending
        && out.why.contains("a loop does not end")
    {
        return first.len(); // compiled, it does not end either
    }
    let (compiled, other) = simulated(text, deciding, framework, RunBy::Objects(objects));
    let place = first.iter().zip(&other).take_while(|(left, right)| left == right).count();
    let from = place.saturating_sub(6);
    assert!(
        first == other,
        "record {place}: interpreted {:?}\ncompiled {:?}\n{text}",
        &first[from..(place + 2).min(first.len())],
        &other[from..(place + 2).min(other.len())]
    );
    assert_eq!(format!("{:?}", outcome.verdicts), format!("{:?}", compiled.verdicts));
    assert_eq!(outcome.ending, compiled.ending, "{text}");
    first.len()
}

/// What happened, and by which lines.
fn simulated(text: &str, deciding: Deciding<'_>, framework: &Framework, run_by: RunBy<'_>) -> (Outcome, Vec<String>) {
    let scenario = checked(text, deciding, framework);
    let mut seen = Seen { names: sim::event_names(deciding, framework), records: Vec::new() };
    let outcome = sim::simulate(&scenario, deciding, framework, run_by, Keep::Beginning, &mut seen).unwrap();
    if let Ending::Out(out) = &outcome.ending {
        let known = ["a guard fails", "a loop does not end", "a deadlock"].iter().any(|why| out.why.contains(why));
        assert!(known, "{out:?}\n{text}");
    } else {
        let ran: i128 = outcome.tallies.iter().map(|tally| tally.ran).sum();
        assert!(ran <= outcome.capacity, "{ran} of {} were used\n{text}", outcome.capacity);
        for (thread, tally) in scenario.threads.iter().zip(&outcome.tallies) {
            assert!(tally.dispatches >= tally.jobs.min(1), "{} did a job and never ran\n{text}", thread.name);
        }
    }
    (outcome, seen.records)
}

fn checked(text: &str, deciding: Deciding<'_>, framework: &Framework) -> Scenario {
    let source = Source::new("random.scenario", text);
    let mut diagnostics = Diagnostics::new();
    let drafts = scenario::read(&source, &mut diagnostics);
    let none = &mut |_: &scenario::FileName| Err("there is none".to_owned());
    let scenario =
        drafts.first().and_then(|draft| scenario::check(draft, &deciding.subject(), framework, none, &mut diagnostics));
    scenario.unwrap_or_else(|| panic!("{}\n{text}", diagnostics.render(&source, false)))
}

struct Seen {
    names: Vec<String>,
    records: Vec<String>,
}

impl Sink for Seen {
    fn record(&mut self, record: &Record) {
        let Record { time, processor, thread, kind, event, line, .. } = record;
        let event = &self.names[event.index()];
        let thread = if *kind == Kind::Idle { 0 } else { thread.0 };
        self.records.push(format!("{time} {processor} {thread} {kind:?} {event}:{line}"));
    }
}

/// A few threads that do all that threads can do.
fn random_scenario(rng: &mut Rng, policies: &[&Policy], schedulers: &[&str]) -> String {
    let mut text =
        format!("scenario random {{\n  duration 300ms;\n  seed {};\n  processors {};\n", rng.u32(..), rng.u8(1..4));
    if rng.bool() {
        let _ = writeln!(text, "  switch_cost {}us;", rng.u8(0..50));
    }
    if rng.bool() {
        let _ = writeln!(text, "  poll {}us;", rng.u16(0..2000));
    }
    let threads = rng.usize(1..6);
    for index in 0..threads {
        let _ = write!(text, "  thread T{index}");
        if rng.bool() {
            let _ = write!(text, " * {}", rng.u8(1..5));
        }
        let counted = rng.u8(..4) != 0;
        if !counted {
            let _ = write!(text, " every exponential({}ms)", rng.u8(1..40));
        }
        if rng.u8(..3) == 0 {
            let _ = write!(text, " at {}ms", rng.u8(0..100));
        }
        let periodic = rng.u8(..4) == 0;
        if periodic {
            let _ = write!(text, " period {}ms", rng.u8(5..50));
        }
        if !schedulers.is_empty() && rng.bool() {
            let _ = write!(text, " under {}", schedulers[rng.usize(..schedulers.len())]);
        } else if schedulers.is_empty() {
            values(rng, policies[0], &mut text);
        }
        text.push_str(" {\n");
        phases(rng, threads, index, counted, 2, &mut text);
        if !periodic && rng.bool() {
            text.push_str("    repeat { run 1ms;\n");
            phases(rng, threads, index, counted, 1, &mut text);
            text.push_str("    }\n");
        }
        text.push_str("  }\n");
    }
    if rng.bool() {
        let thread = rng.usize(..threads);
        let _ = writeln!(text, "  at 50ms {{ suspend T{thread}; }}\n  at 90ms {{ resume T{thread}; }}");
    }
    for import in policies[0].thread_imports.iter().filter(|_| schedulers.is_empty()) {
        // Those that are ready, or run, or wait, are filed anew.
        let value = match import.ty {
            Type::Int => format!("{}", rng.u8(0..5)),
            Type::Time => format!("{}ms", rng.u8(1..50)),
            Type::Bool | Type::Float => continue,
        };
        let thread = rng.usize(..threads);
        if import.name != "consumed" && import.name != "release" {
            let _ = writeln!(text, "  at {}ms {{ set T{thread}.{} = {value}; }}", rng.u8(10..200), import.name);
        }
    }
    if rng.bool() {
        let _ = writeln!(text, "  at {}ms {{ processors {}; }}", rng.u8(10..200), rng.u8(1..4));
        let _ = writeln!(text, "  at {}ms {{ processors {}; }}", rng.u8(10..200), rng.u8(1..4));
    }
    let _ = writeln!(text, "  expect share of T0 >= 10%;\n  expect T0 runs within 20ms;\n}}");
    text
}

/// Threads that take locks, always in the same order, and end.
fn locking_scenario(rng: &mut Rng, policy: &Policy, schedulers: &[&str]) -> String {
    const LOCKS: usize = 4;
    let mut text = format!("scenario locking {{\n  processors {};\n", rng.u8(1..5));
    if rng.bool() {
        let _ = writeln!(text, "  switch_cost {}us;", rng.u8(0..50));
    }
    for index in 0..rng.usize(2..7) {
        let _ = write!(text, "  thread T{index} * {} at {}ms", rng.u8(1..4), rng.u8(0..40));
        if schedulers.is_empty() {
            values(rng, policy, &mut text);
        } else if rng.bool() {
            let _ = write!(text, " under {}", schedulers[rng.usize(..schedulers.len())]);
        }
        let _ = writeln!(text, " {{\n    repeat {} {{\n      run 1us;", rng.u8(1..4));
        let mut held = Vec::new();
        for lock in 0..LOCKS {
            if rng.bool() {
                let _ = writeln!(text, "      lock L{lock};");
                held.push(lock);
            }
            takes_time(rng, &mut text);
            if !held.is_empty() && rng.bool() {
                let _ = writeln!(text, "      unlock L{};", held.remove(rng.usize(..held.len())));
                takes_time(rng, &mut text);
            }
        }
        for lock in held {
            let _ = writeln!(text, "      unlock L{lock};");
            takes_time(rng, &mut text);
        }
        text.push_str("    }\n  }\n");
    }
    if rng.u8(..3) == 0 {
        let _ = writeln!(text, "  at {}ms {{ suspend T0; }}\n  at 60ms {{ resume T0; }}", rng.u8(0..60));
    }
    if rng.u8(..3) == 0 {
        let _ = writeln!(text, "  at {}ms {{ processors {}; }}", rng.u8(0..60), rng.u8(1..5));
    }
    text
}

fn takes_time(rng: &mut Rng, text: &mut String) {
    let time = rng.u8(1..8);
    match rng.u8(..10) {
        0..=3 => drop(writeln!(text, "      run {time}ms;")),
        4 => drop(writeln!(text, "      sleep {time}ms;")),
        5 => drop(writeln!(text, "      block io.read {time}ms;")),
        6 => text.push_str("      yield;\n"),
        7 => text.push_str("      yield to T0;\n"),
        _ => {}
    }
}

fn values(rng: &mut Rng, policy: &Policy, text: &mut String) {
    let mut given = Vec::new();
    let kept = ["consumed", "release"];
    for import in policy.thread_imports.iter().filter(|import| !kept.contains(&import.name.as_str())) {
        let value = match import.ty {
            _ if rng.bool() => continue,
            // What policies take for classes, priorities and tickets.
            Type::Int => format!("uniform(1, {})", rng.u8(1..4)),
            Type::Bool => rng.bool().to_string(),
            Type::Time => format!("{}ms", rng.u8(1..50)),
            Type::Float => format!("{}.5", rng.u8(0..9)),
        };
        given.push(format!("{} = {value};", import.name));
    }
    if !given.is_empty() {
        let _ = write!(text, " with {{ {} }}", given.join(" "));
    }
}

/// `counted`: how many there are of the thread is known, as a barrier must.
fn phases(rng: &mut Rng, threads: usize, me: usize, counted: bool, depth: u8, text: &mut String) {
    for _ in 0..rng.usize(1..6) {
        let other = rng.usize(..threads);
        let time = rng.u8(1..20);
        match rng.u8(..20) {
            0..=2 => drop(writeln!(text, "    run exponential({time}ms);")),
            3 => drop(writeln!(text, "    run {time}ms;")),
            4 => drop(writeln!(text, "    block io.read uniform(1ms, {time}ms);")),
            5 => drop(writeln!(text, "    sleep {time}ms;")),
            6 => text.push_str("    yield;\n"),
            7 => drop(writeln!(text, "    yield to T{other};")),
            // Always in the same order, so that no deadlock is.
            8 => drop(writeln!(text, "    lock A; run {time}us; lock B; run {time}us; unlock B; unlock A;")),
            9 => text.push_str("    send P;\n"),
            10 => text.push_str("    receive P;\n"),
            11 if other != me && depth > 1 => drop(writeln!(text, "    suspend T{other}; run 1ms; resume T{other};")),
            13 => drop(writeln!(text, "    timer C uniform(1ms, {time}ms);")),
            18 => drop(writeln!(text, "    shared timer C {time}ms;")),
            19 => drop(writeln!(text, "    shared absolute timer D uniform(1ms, {time}ms);")),
            14 if counted => text.push_str("    barrier G;\n"),
            15 => text.push_str("    signal P;\n"),
            16 => text.push_str("    broadcast P;\n"),
            12 if depth > 0 => {
                let _ = writeln!(text, "    repeat {} {{", rng.u8(1..5));
                phases(rng, threads, me, counted, depth - 1, text);
                text.push_str("    }\n");
            }
            _ => drop(writeln!(text, "    run {time}us;")),
        }
    }
}

fn compiled(path: &Path, framework: &Framework) -> Verified<Policy> {
    catapults_compiler::compile(&catapults_tests::policy_at(path), framework).unwrap().0
}

fn hierarchy(name: &str, framework: &Framework) -> Hierarchy {
    let file = root().join(format!("policies/{name}.hierarchy"));
    judge(&Source::new(format!("{name}.hierarchy"), fs::read_to_string(file).unwrap()), framework).hierarchy.unwrap()
}

fn object(driver: &Driver, policy: &Verified<Policy>, framework: &Framework, index: usize) -> Object {
    let name = format!("{}{index}", policy.policy().name);
    Object::load(&driver.policy(policy, &name, Mode::AsBuilt).unwrap(), framework, true).unwrap()
}

/// More letters than a width of a format may have.
#[test]
fn long_names_are_shown_short() {
    let framework = native();
    let verified = compiled(&root().join("policies/fifo.sched"), &framework);
    let name = "n".repeat(70_000);
    let text = format!("scenario long {{ thread {name} {{ run 1ms; }} }}");
    let deciding = Deciding::Policy(&verified);
    let scenario = checked(&text, deciding, &framework);
    let outcome =
        sim::simulate(&scenario, deciding, &framework, RunBy::Interpreter, Keep::Beginning, &mut sim::Nowhere).unwrap();
    let picture = outcome.timeline.picture(&[(name, false)], None, &outcome.concerned());
    assert!(picture.contains(&format!("  {}…{}  █", "n".repeat(20), "n".repeat(19))), "{picture}");
}

/// Of two schedulers one has threads that yield; the root is as if there were two threads, one of which yields.
#[test]
fn who_yields_under_a_scheduler_has_not_waited() {
    let hierarchy = "hierarchy parts {
        scheduler root : linux24 with { }
        scheduler yielding : fifo under root { }
        scheduler other : fifo under root { }
        default yielding;
    }";
    let scenario = "scenario yields {
        duration 10s;
        thread yields * 2 under yielding { repeat { run 3ms; yield; } }
        thread other * 2 under other { repeat { run 1ms; yield; run 20ms; } }
        expect share of yields = 16.2% within 0.5%;
    }";
    assert_as_expected(hierarchy, scenario);
}

/// The root cannot be asked that a scheduler be next, so nobody is: one that is asked twice before it dispatches breaks its rules.
#[test]
fn all_schedulers_above_a_thread_are_asked_for_it_or_none() {
    let hierarchy = "hierarchy asked {
        scheduler root : virtual_fixed_priority with { }
        scheduler asking : fifo under root { priority = 1; }
        scheduler asked : weather under root { priority = 0; }
        default asking;
    }";
    let scenario = "scenario asks {
        duration 1s;
        thread asks under asking { repeat { run 1ms; yield to wanted; } }
        thread wanted * 2 under asked { repeat { run 3ms; yield; } }
        expect share of asks = 100%;
    }";
    assert_as_expected(hierarchy, scenario);
}

/// A framework need not have the query by which a policy says whom it could dispatch next, nor has one of that name to be that.
#[test]
fn without_the_query_a_policy_is_asked_for_whoever_is_ready() {
    let of_native = fs::read_to_string(root().join("frameworks/native/native.framework")).unwrap();
    let query = "  query can_switch_to(t) : bool = t in READY;\n";
    for instead in ["", "  query can_switch_to : int = count READY;\n"] {
        assert!(of_native.contains(query));
        let source = Source::new("native.framework", of_native.replace(query, instead));
        let framework = framework::read(&source).unwrap_or_else(|found| panic!("{}", found.render(&source, false)));
        assert_eq!(dispatched_after(NEXT, &framework), "acb");
    }
}

/// A query may look at how long threads have run.
#[test]
fn what_runs_is_charged_before_a_policy_is_asked() {
    let may = |least: &str| {
        NEXT.replace("data {", "imports { time consumed default 0ns; }\n data {").replace(
            "event schedule",
            &format!("query can_switch_to(t) {{ return consumed >= {least} && t in ready; }}\n event schedule"),
        )
    };
    assert_eq!(dispatched_after(&may("5ms"), &native()), "acb");
    assert_eq!(dispatched_after(&may("6ms"), &native()), "abc");
}

/// In the order in which they become ready, but for one that is asked for.
const NEXT: &str = "scheduler asked {
  data { threadref current; threadref next; queue ready; }
  event newthread, switch_out, event_raised(t) { t => ready; }
  event set_next_thread(t) {
    if (!empty(next)) next => ready;
    t => next;
  }
  event schedule {
    if (!empty(next)) next => current; else ready => current;
    dispatch current;
  }
}";

/// The threads that wait for each other are said, with their locks and lines; and whoever ran until then has done so.
#[test]
fn a_stop_says_who_waits_for_whom_and_counts_what_ran() {
    let text = "scenario ring { processors 3;
        thread runs { run 100ms; }
        thread a { lock m; run 3ms; lock n; unlock n; unlock m; }
        thread b { lock n; run 5ms; lock m; unlock m; unlock n; }
    }";
    let framework = native();
    let verified = compiled(&root().join("policies/fifo.sched"), &framework);
    let (outcome, _) = simulated(text, Deciding::Policy(&verified), &framework, RunBy::Interpreter);
    let Ending::Out(out) = &outcome.ending else { panic!("{:?}", outcome.ending) };
    let a = "`a` waits for the lock `n`, which `b` has (line 3)";
    let b = "`b` waits for the lock `m`, which `a` has (line 4)";
    assert_eq!((out.time, out.why.as_str()), (5_000_000, format!("{b}; {a}: a deadlock").as_str()));
    let ran: Vec<i128> = outcome.tallies.iter().map(|tally| tally.ran).collect();
    assert_eq!((outcome.end, ran), (5_000_000, vec![5_000_000, 3_000_000, 5_000_000]));
}

/// The threads in the order in which they get the processor, when the first one asks for the last one.
fn dispatched_after(policy: &str, framework: &Framework) -> String {
    let source = Source::new("asked.sched", policy);
    let compiled = catapults_compiler::compile(&source, framework);
    let (verified, _) = compiled.unwrap_or_else(|found| panic!("{}", found.render(&source, false)));
    let text = "scenario asks { thread a { run 5ms; yield to c; } thread b { run 1ms; } thread c { run 1ms; } }";
    let (outcome, records) = simulated(text, Deciding::Policy(&verified), framework, RunBy::Interpreter);
    assert_eq!(outcome.ending, Ending::AllEnded);
    let mut order = String::new();
    for record in records.iter().filter(|record| record.contains(" Dispatched ")) {
        let number = record.split(' ').nth(2).unwrap();
        let name = ["", "a", "b", "c"][number.parse::<usize>().unwrap()];
        if !order.contains(name) {
            order.push_str(name);
        }
    }
    order
}

fn assert_as_expected(hierarchy: &str, scenario: &str) {
    let framework = native();
    let judged = judge(&Source::new("x.hierarchy", hierarchy), &framework);
    let hierarchy = judged.hierarchy.unwrap();
    let deciding = Deciding::Hierarchy(&hierarchy);
    let scenario = checked(scenario, deciding, &framework);
    let keep = Keep::Beginning;
    let outcome = sim::simulate(&scenario, deciding, &framework, RunBy::Interpreter, keep, &mut sim::Nowhere).unwrap();
    assert!(outcome.is_as_expected(), "{:?}, {:#?}", outcome.ending, outcome.verdicts);
}

/// `poll` is for what somebody else has to say, and for hosts that are not idle.
#[test]
fn what_has_come_is_heard_when_the_host_looks() {
    let framework = native();
    let verified = compiled(&root().join("policies/fixed_priority.sched"), &framework);
    let deciding = Deciding::Policy(&verified);
    let first_wake = |waits: &str, computes: &str| {
        let text = format!(
            "scenario polled {{ poll 10ms; thread waits with {{ priority = 1; }} {{ {waits} run 1ms; }} thread computes {{ {computes} }} }}"
        );
        let (_, records) = simulated(&text, deciding, &framework, RunBy::Interpreter);
        let raised = records.iter().find(|record| record.contains(" Raised ")).expect("it wakes");
        raised.split(' ').next().unwrap().parse::<i64>().unwrap() / 1_000
    };
    assert_eq!(first_wake("block io.read 3ms;", "run 50ms;"), 10_000);
    assert_eq!(first_wake("block io.read 10ms;", "run 50ms;"), 10_000);
    // As soon as nobody computes.
    assert_eq!(first_wake("block io.read 3ms;", "run 7ms;"), 7_000);
    assert_eq!(first_wake("block io.read 3ms;", "run 2ms;"), 3_000);
    assert_eq!(first_wake("sleep 3ms;", "run 50ms;"), 3_000);
}

/// After a late job the next ones begin a period from then each: what was missed is not made up for.
#[test]
fn a_relative_period_begins_anew_after_a_late_job() {
    let framework = native();
    let verified = compiled(&root().join("policies/fixed_priority.sched"), &framework);
    let late = |hog: &str, period: &str, expected: &str| {
        let text = format!(
            "scenario late {{ duration 1s;
               thread hog with {{ priority = 2; }} {{ sleep 50ms; run {hog}; }}
               thread job {period} 100ms with {{ priority = 1; }} {{ run 10ms; }} {expected} }}"
        );
        let (outcome, _) = simulated(&text, Deciding::Policy(&verified), &framework, RunBy::Interpreter);
        assert!(outcome.is_as_expected(), "{period}: {:?}", outcome.verdicts);
    };
    let jobs = |period: &str, expected: &str| late("450ms", period, expected);
    // Released at 0, 100 and 510 ms, when the second one is done; then at 610, 710, 810 and 910 ms.
    jobs("relative period", "expect jobs of job = 7; expect misses of job = 1; expect worst response of job = 410ms;");
    jobs("period", "expect jobs of job = 10; expect misses of job = 4; expect worst response of job = 410ms;");
    // One that is never done is late, and keeps the next from being released.
    late("2s", "relative period", "expect jobs of job = 1; expect misses of job = 1;");
    late("2s", "period", "expect jobs of job = 1; expect misses of job = 9;");
}

/// As rt-app's: all users of a shared timer advance it, and an absolute one makes up for what it missed.
#[test]
fn timers_are_shared_and_make_up_for_what_they_missed() {
    let framework = native();
    let verified = compiled(&root().join("policies/fifo.sched"), &framework);
    let woken = |body: &str| -> Vec<String> {
        let text = format!("scenario timed {{ processors 2; {body} }}");
        let (_, records) = simulated(&text, Deciding::Policy(&verified), &framework, RunBy::Interpreter);
        let raised = records.iter().filter(|record| record.contains(" Raised "));
        raised.map(|record| record.split(' ').next().unwrap().to_owned()).collect()
    };
    let each = |timer: &str| woken(&format!("thread a * 2 {{ repeat 2 {{ {timer} T 10ms; }} }}"));
    assert_eq!(each("timer"), ["10000000", "10000000", "20000000", "20000000"]);
    // The two take turns.
    assert_eq!(each("shared timer"), ["10000000", "20000000", "30000000", "40000000"]);
    // The first one's coming is what it counts from, and its own timer of this name is another one.
    let later =
        "thread a at 5ms { shared timer T 10ms; timer T 1ms; } thread b at 8ms { sleep 1ms; shared timer T 10ms; }";
    assert_eq!(woken(later), ["9000000", "15000000", "25000000"]);
    // At 25 ms it is 5 ms late: from now 10 ms, or from when it should have been.
    let late =
        |timer: &str| woken(&format!("thread a {{ {timer} T 10ms; run 15ms; {timer} T 10ms; {timer} T 10ms; }}"));
    assert_eq!(late("timer"), ["10000000", "35000000"]);
    assert_eq!(late("absolute timer"), ["10000000", "30000000"]);
    assert_eq!(late("shared absolute timer"), ["10000000", "30000000"]);
}
