//! What exploration finds, and that what it finds happens.

use std::time::Duration;

use catapults_compiler::compile;
use catapults_compiler::policy::Policy;
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_simulator::explorer::{Kind, Options, Report, explore};
use catapults_tests::native;
use catapults_tests::replay::{parse, replay};

/// A policy whose handlers are these, with a queue and a stack that are READY.
fn policy(handlers: &str) -> Verified<Policy> {
    let text = format!(
        "scheduler example {{
           threadimports {{ int wish default 0; }}
           data {{ threadref current; threadref next : READY; queue ready : READY; stack late : READY; int n, sum; }}
           {handlers}
         }}"
    );
    let source = Source::new("example.sched", text);
    compile(&source, &native()).unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(&source, false))).0
}

fn explored(policy: &Verified<Policy>, threads: usize) -> Report {
    let report = explore(policy, &native(), &Options { threads, ..Options::default() }, &mut |_, _| {}).unwrap();
    let findings = [&report.counterexample, &report.starvation];
    for finding in findings.into_iter().flatten() {
        // The script that would be saved decides in the interpreter what it says.
        let script = finding.scenario.script("found");
        let lines: Vec<&str> =
            script.lines().filter(|line| !line.starts_with("//") && !line.starts_with("policy ")).collect();
        let steps: Vec<&str> = lines.iter().map(|line| line.split(" -> ").next().unwrap()).collect();
        let decided: Vec<&str> = lines.iter().copied().filter(|line| line.contains(" -> ")).collect();
        assert_eq!(replay(policy, &parse(&steps.join("\n")).unwrap()), decided);
    }
    report
}

const QUEUE: &str = "event newthread(t) { t => ready; } event switch_out(t) { t => ready; }";
const SCHEDULE: &str = "event schedule { if (|ready| > 0) ready => current; else if (|late| > 0) late => current;
                        else next => current; dispatch current; }";

#[test]
fn a_queue_is_clean_and_fair() {
    let report = explored(&policy(&format!("{QUEUE} {SCHEDULE} event event_raised(t) {{ t => ready; }}")), 3);
    assert!(report.counterexample.is_none() && report.starvation.is_none() && report.limits.is_empty(), "{report:?}");
    assert!(report.states > 30, "{}", report.states);
}

/// Whoever the policy preempts has not said so by an event of its own, and is ready all the same.
#[test]
fn a_preempted_thread_can_be_asked_for() {
    let preempting = "event newthread(t) { if (|current| == 1) current => late; t => ready; }
                      event switch_out(t) { t => ready; } event event_raised(t) { t => ready; }
                      event set_next_thread(t) { if (t in late) ready => ready; t => ready; }";
    let found = explored(&policy(&format!("{preempting} {SCHEDULE}")), 2).counterexample.unwrap();
    assert_eq!(found.kind, Kind::Guard);
    assert!(found.what.contains("`ready` is empty"), "{}", found.what);
}

#[test]
fn a_guard_that_fails_is_found_by_the_shortest_way() {
    let report = explored(&policy(&format!("{QUEUE} {SCHEDULE} event event_raised(t) {{ t => next; }}")), 3);
    let found = report.counterexample.unwrap();
    assert_eq!(found.kind, Kind::Guard);
    // Two threads are created and suspended; the second one that is resumed finds the place taken.
    assert_eq!(found.scenario.moments.len(), 6, "{}", found.scenario);
    // With one thread it cannot happen.
    assert!(
        explored(&policy(&format!("{QUEUE} {SCHEDULE} event event_raised(t) {{ t => next; }}")), 1)
            .counterexample
            .is_none()
    );
}

#[test]
fn who_comes_last_and_goes_first_starves_the_others() {
    let report = explored(&policy(&format!("{QUEUE} {SCHEDULE} event event_raised(t) {{ t => late; }}")), 2);
    assert!(report.counterexample.is_none());
    let found = report.starvation.unwrap();
    let stem = found.scenario.stem.unwrap();
    let starved = found.scenario.starved.unwrap();
    let round = &found.scenario.moments[stem..];
    assert!(round.iter().any(|moment| moment.decision.as_ref().is_some_and(|text| text.starts_with("schedule -> "))));
    let waits = |contents: &[(String, Vec<_>)]| {
        contents.iter().any(|(name, threads)| (name == "late" || name == "ready") && threads.contains(&starved))
    };
    assert!(round.iter().all(|moment| waits(&moment.contents)), "{}", found.scenario);
}

#[test]
fn counters_are_followed_only_as_far_as_they_matter() {
    // The third decision fails, and no earlier one.
    let counts = "event schedule { n++; if (n > 2) late => current; else if (|ready| > 0) ready => current;
                  else if (|late| > 0) late => current; else next => current; dispatch current; }
                  event event_raised(t) { if (t.wish > 100) t => late; else t => ready; }";
    let found = explored(&policy(&format!("{QUEUE} {counts}")), 1).counterexample.unwrap();
    assert_eq!(found.scenario.moments.len(), 6, "{}", found.scenario);
    // Harmless, however far it counts.
    let harmless = "event event_raised(t) { n++; if (n > 1000) t => late; else t => ready; }";
    let report = explored(&policy(&format!("{QUEUE} {SCHEDULE} {harmless}")), 1);
    assert!(report.counterexample.is_none() && report.limits.is_empty() && report.states < 100, "{report:?}");
}

#[test]
fn a_bound_that_is_reached_is_said() {
    let sums = "event event_raised(t) { sum = sum + t.wish; if (sum > n) t => late; else t => ready; n = sum; }";
    let report = explored(&policy(&format!("{QUEUE} {SCHEDULE} {sums}")), 1);
    let limits = report.limits.join("\n");
    assert!(
        limits.contains("is followed from -16 to 16 only") && limits.contains("`wish` takes the values 0, 1 only"),
        "{limits}"
    );
    let few = Options { threads: 2, states: 20, ..Options::default() };
    let clean = policy(&format!("{QUEUE} {SCHEDULE} event event_raised(t) {{ t => ready; }}"));
    let report = explore(&clean, &native(), &few, &mut |_, _| {}).unwrap();
    assert!(report.limits.iter().any(|limit| limit.contains("only 20 situations")), "{:?}", report.limits);
    let hurried = Options { threads: 3, time: Some(Duration::ZERO), ..Options::default() };
    let report = explore(&clean, &native(), &hurried, &mut |_, _| {}).unwrap();
    assert!(report.limits.iter().any(|limit| limit.contains("in the time given")), "{:?}", report.limits);
}

#[test]
fn behind_a_bound_the_search_goes_on() {
    // `n` is beyond the bound after the first event; what comes of it is still looked at.
    let draws = "event event_raised(t) { if (n % 3 == 0) t => late; else t => ready; }
                 event schedule { n = n * 16807 + 99; if (|ready| > 0) ready => current; else if (|late| > 0) late => current;
                 else next => current; dispatch current; }";
    let report = explored(&policy(&format!("{QUEUE} {draws}")), 2);
    assert!(report.counterexample.is_none() && report.starvation.is_none(), "{report:?}");
    assert!(report.limits.join("\n").contains("`n` is followed from -16 to 16 only"), "{:?}", report.limits);
    assert!(report.states > 50, "{}", report.states);
}
