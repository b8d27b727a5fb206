//! What exploration finds, and that what it finds happens.

use std::time::Duration;

use catapults_compiler::compile;
use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario::{self, FileName};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_simulator::explorer::{Finding, Kind, Options, Report, Scenario, explore};
use catapults_simulator::script::Step;
use catapults_simulator::sim::{self, Deciding, Ending, Keep, Nowhere, Outcome, RunBy};
use catapults_tests::choices::Choices;
use catapults_tests::host::Host;
use catapults_tests::replay::{parse, replay};
use catapults_tests::{native, policies};

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

/// Any number can be drawn, and what is found says which.
#[test]
fn a_draw_that_breaks_a_guard_is_found() {
    let handlers = "event newthread, switch_out(t) { t => ready; } event event_raised(t) { t => late; }
                    event schedule { if (random(9) == 7 || |ready| == 0) late => current; else ready => current;
                                     dispatch current; }";
    let finding = explored(&policy(handlers), 2).counterexample.unwrap();
    assert_eq!(finding.kind, Kind::Guard, "{finding:?}");
    assert!(finding.scenario.script("found").contains("draw 7\nschedule -> guard"), "{}", finding.scenario);
}

/// Chance does not give the same for ever.
#[test]
fn what_is_drawn_starves_nobody() {
    let handlers = "event newthread, event_raised, switch_out(t) { if (n == 0) t => ready; else t => late; }
                    event schedule { n = random(2); if (|late| > 0 && n == 0 || |ready| == 0) late => current; else ready => current;
                                     dispatch current; }";
    let report = explored(&policy(handlers), 3);
    assert!(report.starvation.is_none() && report.counterexample.is_none(), "{report:?}");
    let always = handlers.replace("n = random(2);", "n = 1;");
    assert!(explored(&policy(&always), 3).starvation.is_some());
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
    // The same downwards.
    let down = counts.replace("n++; if (n > 2)", "n--; if (n < -2)");
    let found = explored(&policy(&format!("{QUEUE} {down}")), 1).counterexample.unwrap();
    assert_eq!(found.scenario.moments.len(), 6, "{}", found.scenario);
    let harmless = "event event_raised(t) { n--; if (n < -1000) t => late; else t => ready; }";
    let report = explored(&policy(&format!("{QUEUE} {SCHEDULE} {harmless}")), 1);
    assert!(report.counterexample.is_none() && report.limits.is_empty() && report.states < 100, "{report:?}");
    // Both ways it is no counter.
    let both = "event event_raised(t) { n--; if (n < -1000) t => late; else t => ready; }
                event set_next_thread(t) { n++; t => ready; }";
    let report = explored(&policy(&format!("{QUEUE} {SCHEDULE} {both}")), 1);
    assert!(report.limits.join(" ").contains("`n` is followed from -16 to 16 only"), "{:?}", report.limits);
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

/// The same with instants and a timer for each thread.
fn timed(handlers: &str) -> Verified<Policy> {
    let text = format!(
        "scheduler timed {{
           thread {{ timer wait; time came, due; }}
           threadimports {{ time deadline default 0ms; }}
           data {{ threadref current; threadref next : READY; pqueue urgent reverse sortable on due : READY;
                   pqueue turned sortable on due : READY; queue ready : READY;
                   stack late : READY; bool expired; time last; }}
           {handlers}
         }}"
    );
    let source = Source::new("timed.sched", text);
    compile(&source, &native()).unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(&source, false))).0
}

/// The events of a scenario, without the steps of the clock and of the application.
fn events(scenario: &Scenario) -> Vec<String> {
    let raised = scenario.moments.iter().filter(|moment| matches!(moment.step, Step::Raise(..)));
    raised.map(|moment| moment.step.to_string()).collect()
}

#[test]
fn a_timer_that_is_not_armed_again_starves() {
    let with = |again: &str| {
        timed(&format!(
            "event newthread(t)    {{ t.wait = now + 5ms; t => late; }}
             event event_raised(t) {{ t.wait = now + 5ms; t => late; }}
             event switch_out(t)   {{ {again} t => late; }}
             event timeout.wait(t) {{ if (t in late) t => ready; }}
             event schedule {{ if (|ready| > 0) ready => current; else late => current; dispatch current; }}"
        ))
    };
    let sound = explored(&with("t.wait = now + 5ms;"), 2);
    assert!(sound.counterexample.is_none() && sound.starvation.is_none(), "{:?}", sound.starvation);
    let broken = explored(&with(""), 2);
    let found = broken.starvation.unwrap();
    let round = &found.scenario.moments[found.scenario.stem.unwrap()..];
    // While thread 1, whose timer has expired, waits, the other one runs, and time passes.
    assert!(round.iter().any(|moment| matches!(moment.step, Step::At(_))), "{}", found.scenario);
    assert!(found.scenario.moments.iter().any(|moment| moment.step.to_string().starts_with("timeout.wait")));
}

#[test]
fn a_deadline_compared_the_wrong_way_round_starves() {
    let with = |queue: &str| {
        timed(&format!(
            "event newthread, event_raised, switch_out(t) {{
               t.due = now + 5ms;
               t => {queue};
               if (|current| == 1 && t.due < current.due)
                 current => {queue};
             }}
             event timeout.*(t) {{ }}
             event schedule {{ {queue} => current; dispatch current; }}"
        ))
    };
    let sound = explored(&with("urgent"), 3);
    assert!(sound.counterexample.is_none() && sound.starvation.is_none(), "{:?}", sound.starvation);
    let found = explored(&with("turned"), 2).starvation.unwrap();
    let round = &found.scenario.moments[found.scenario.stem.unwrap()..];
    assert!(round.iter().any(|moment| matches!(moment.step, Step::At(_))), "{}", found.scenario);
}

#[test]
fn a_decision_that_trusts_a_timer_is_found() {
    // What is late may have gone by the time that its timer expires.
    let trusting = "event newthread(t)    { t.wait = now + 5ms; t => late; }
                    event event_raised(t) { t => ready; } event switch_out(t) { t => ready; }
                    event timeout.wait(t) { expired = true; }
                    event schedule {
                      if (expired) { expired = false; late => current; }
                      else if (|ready| > 0) ready => current;
                      else late => current;
                      dispatch current;
                    }";
    let found = explored(&timed(trusting), 2).counterexample.unwrap();
    assert_eq!(found.kind, Kind::Guard);
    assert_eq!(events(&found.scenario).len(), 5, "{}", found.scenario);
    let times: Vec<&Step> =
        found.scenario.moments.iter().map(|moment| &moment.step).filter(|step| matches!(step, Step::At(_))).collect();
    assert_eq!(times, [&Step::At(5_000_000)], "{}", found.scenario);
}

#[test]
fn a_guard_that_fails_only_after_a_while_is_found() {
    let late = "event newthread(t)    { t.came = now; t => ready; }
                event event_raised(t) { t => ready; }
                event switch_out(t)   { if (now - t.came > 7ms) t => next; else t => ready; }
                event timeout.*(t)    { }
                event schedule { if (|ready| > 0) ready => current; else next => current; dispatch current; }";
    let report = explored(&timed(late), 2);
    let found = report.counterexample.unwrap();
    assert_eq!((found.kind, events(&found.scenario).len()), (Kind::Guard, 6), "{}", found.scenario);
    // Only the order of the instants matters once they are more than 7 ms past: with one thread there are few situations.
    let report = explored(&timed(late), 1);
    assert!(report.counterexample.is_none() && report.starvation.is_none() && report.states < 200, "{}", report.states);
    assert!(
        report.limits.iter().all(|limit| limit.starts_with("time passes in steps of 0ns, 7ms")),
        "{:?}",
        report.limits
    );
}

#[test]
fn instants_of_the_application_are_relative_to_now() {
    let missed = "event newthread(t)    { t => ready; } event event_raised(t) { t => ready; }
                  event switch_out(t)   { if (t.deadline != 0ms && now > t.deadline) t => next; else t => ready; }
                  event timeout.*(t)    { }
                  event schedule { if (|ready| > 0) ready => current; else next => current; dispatch current; }";
    let report = explored(&timed(missed), 2);
    let limits = report.limits.join("; ");
    assert!(limits.contains("`deadline` takes the values 0ns, now - 1ms, now, now + 1ms only"), "{limits}");
    let found = report.counterexample.unwrap();
    assert_eq!(events(&found.scenario).len(), 6, "{}", found.scenario);
    assert!(found.scenario.moments.iter().any(|moment| matches!(moment.step, Step::SetThreadImport(..))));
}

#[test]
fn a_time_that_is_instant_and_duration_is_followed_on_the_clock() {
    let both = "event newthread(t)    { t.came = now; if (t.came > 3ms) t => next; else t => ready; }
                event event_raised(t) { t => ready; } event switch_out(t) { t => ready; } event timeout.*(t) { }
                event schedule { if (|ready| > 0) ready => current; else next => current; dispatch current; }";
    let report = explored(&timed(both), 2);
    let limits = report.limits.join("; ");
    assert!(limits.contains("and ends at 12ms"), "{limits}");
    assert_eq!(events(&report.counterexample.unwrap().scenario).len(), 5);
    // Harmless, it still is no proof, and starvation is not looked for where the clock has an end.
    let report = explored(&timed(&both.replace("t => next", "t => ready")), 2);
    let limits = report.limits.join("; ");
    assert!(report.counterexample.is_none() && limits.contains("starvation was not looked for"), "{limits}");
}

const PLACING: &str = "nodes { queue all; node chosen; } event arrival(m) { m => all; }
                       event dispatch(t) { all => chosen; t => chosen; chosen => all; }
                       event newthread, migrate, switch_out, event_raised(t) { t => ready; }";

/// Nodes come and go, and threads are placed and stolen, in the interpreter as in random orders of events.
#[test]
fn with_nodes_everything_is_tried() {
    let stealing = "event steal(m) { ready => m; } event schedule { ready => current; dispatch current; }";
    let verified = policy(&format!("{PLACING} {stealing}"));
    let few = Options { threads: 2, states: 3_000, ..Options::default() };
    let report = explore(&verified, &native(), &few, &mut |_, _| {}).unwrap();
    assert!(report.counterexample.is_none(), "{report:?}");
    assert!(report.limits.iter().any(|limit| limit.contains("2 nodes")), "{:?}", report.limits);
    assert!(report.states > 1_000, "{}", report.states);

    let framework = native().as_met([], true);
    let mut rng = fastrand::Rng::with_seed(1);
    let mut raised: std::collections::BTreeSet<String> = std::collections::BTreeSet::new();
    for _ in 0..40 {
        let mut bytes = vec![0; 2_000];
        rng.fill(&mut bytes);
        let mut choices = Choices::new(&bytes);
        let mut host = Host::new(&verified, &framework).unwrap();
        for _ in 0..300 {
            host.anything(&mut choices).unwrap();
        }
        let decided = host.decisions.iter().filter(|decision| decision.contains(" to node "));
        raised.extend(decided.map(|decision| format!("{} sends", decision.split(' ').next().unwrap())));
        let names = host.script.iter().filter(|step| matches!(step, Step::Raise(..))).map(Step::to_string);
        raised.extend(names.filter_map(|step| step.split(' ').next().map(str::to_owned)));
    }
    for event in ["arrival", "departure", "dispatch", "dispatch sends", "migrate", "steal", "steal sends", "exit"] {
        assert!(raised.contains(event), "{event}: {raised:?}");
    }
}

/// What random policies with nodes do is what the types of the events promise, or a guard stops them.
#[test]
fn random_policies_with_nodes_lose_no_thread() {
    let (framework, mut rng, mut accepted, mut states) = (native(), fastrand::Rng::with_seed(1), 0, 0);
    while accepted < 30 {
        let mut bytes = vec![0; 400];
        rng.fill(&mut bytes);
        let text = policies::random(&bytes);
        if !text.contains("\n  nodes {") {
            continue;
        }
        let source = Source::new("random.sched", text);
        let Ok((verified, _)) = compile(&source, &framework) else { continue };
        let options = Options { threads: 3, states: 400, bound: i64::MAX, ..Options::default() };
        let report = explore(&verified, &framework, &options, &mut |_, _| {}).unwrap();
        if let Some(found) = report.counterexample {
            let stopped = matches!(found.kind, Kind::Guard | Kind::Overrun);
            assert!(stopped, "{}\n{}\n{}", found.what, found.scenario, source.text);
        }
        (accepted, states) = (accepted + 1, states + report.states);
    }
    assert!(states > 2_000, "{states}");
}

#[test]
fn a_place_for_one_node_is_found_too_small() {
    let handlers = "nodes { node one; queue others; } global { int count; }
                    event arrival(m) { if (count < 2) m => one; else m => others; count++; }
                    event newthread, migrate, switch_out, event_raised(t) { t => ready; }
                    event schedule { ready => current; dispatch current; }";
    let found = explored(&policy(handlers), 1).counterexample.unwrap();
    assert_eq!(found.kind, Kind::Guard);
    assert_eq!(events(&found.scenario).iter().filter(|event| event.contains("arrival")).count(), 2);
}

// ---- As scenarios

/// What comes of a workload under a policy.
fn simulated(text: &str, policy: &Verified<Policy>) -> Outcome {
    let (source, framework) = (Source::new("found.scenario", text), native());
    let (deciding, mut diagnostics) = (Deciding::Policy(policy), Diagnostics::new());
    let drafts = scenario::read(&source, &mut diagnostics);
    let none = &mut |_: &FileName| Err("there is none".to_owned());
    let scenario = scenario::check(&drafts[0], &deciding.subject(), &framework, none, &mut diagnostics);
    let scenario = scenario.unwrap_or_else(|| panic!("{}\n{text}", diagnostics.render(&source, false)));
    sim::simulate(&scenario, deciding, &framework, RunBy::Interpreter, Keep::Beginning, &mut Nowhere).unwrap()
}

/// The plainest workload that comes to what was found, as `explore --save` looks for it.
fn workload(finding: &Finding, policy: &Verified<Policy>) -> Option<String> {
    let texts = finding.scenario.workloads(policy.policy(), &native(), "example.sched", "found").unwrap();
    texts.into_iter().find(|text| match simulated(text, policy) {
        Outcome { ending: Ending::Out(out), .. } => finding.kind != Kind::Starvation && finding.is_of_line(out.line),
        outcome => finding.kind == Kind::Starvation && outcome.verdicts.iter().any(|verdict| !verdict.holds),
    })
}

#[test]
fn what_is_found_comes_about_in_a_simulation() {
    let usual = "event event_raised(t) { t => ready; }";
    let queue = |handlers: &str| policy(&format!("{QUEUE} {SCHEDULE} {handlers}"));
    let found = [
        // Both come, and are suspended and resumed, before anything is decided.
        ("resumed", queue("event event_raised(t) { t => next; }"), 2, Kind::Guard),
        // All come before a decision.
        ("loop", policy(&format!("{QUEUE} {usual} event schedule {{ n = 0; while (|ready| > 1 && n < 1) {{ if (sum < 0) n++; sum++; }} ready => current; dispatch current; }}")), 2, Kind::Overrun),
        // Somebody who has the processor asks for another.
        ("asked", queue(&format!("{usual} event set_next_thread(t) {{ t => next; }}")), 2, Kind::Guard),
        // Each as soon as the other one is ready.
        ("ticks", queue(&format!("{usual} event tick(t) {{ n++; if (n > 1) t => next; else t => ready; }}")), 2, Kind::Guard),
        // A timer expires, and somebody gives the processor up afterwards.
        ("expired", timed("event newthread(t) { t.wait = now + 5ms; t => late; } event event_raised, switch_out(t) { t => ready; }
                           event timeout.wait(t) { expired = true; }
                           event schedule { if (expired) { expired = false; late => current; } else if (|ready| > 0) ready => current;
                             else late => current; dispatch current; }"), 2, Kind::Guard),
        // At an instant of its own, while nothing is decided.
        ("late", timed("event newthread(t) { t.came = now; if (t.came > 3ms) t => next; else t => ready; }
                        event event_raised, switch_out(t) { t => ready; } event timeout.*(t) { }
                        event schedule { if (|ready| > 0) ready => current; else next => current; dispatch current; }"), 3, Kind::Guard),
        // Others come, again and again, before whoever runs has gone.
        ("last", queue("event event_raised(t) { t => late; }"), 2, Kind::Starvation),
        ("woken", policy(&format!("{QUEUE} event event_raised(t) {{ t => late; }}
                                   event schedule {{ if (|late| > 0) late => current; else ready => current; dispatch current; }}")), 2, Kind::Starvation),
        ("turned", timed("event newthread, event_raised, switch_out(t) { t.due = now + 5ms; t => turned;
                            if (|current| == 1 && t.due < current.due) current => turned; }
                          event timeout.*(t) { } event schedule { turned => current; dispatch current; }"), 3, Kind::Starvation),
    ];
    let fair = queue(usual);
    for (name, policy, threads, kind) in found {
        let report = explored(&policy, threads);
        let finding = report.counterexample.or(report.starvation).unwrap();
        assert_eq!(finding.kind, kind, "{name}: {}", finding.what);
        let text = workload(&finding, &policy).unwrap_or_else(|| panic!("{name}:\n{}", finding.scenario));
        // It says nothing against a policy that is fair; what that does not import is not said here.
        if kind == Kind::Starvation {
            let outcome = simulated(&text, &fair);
            assert!(outcome.is_as_expected(), "{name}: {:?}\n{text}", outcome.verdicts);
        }
    }
}

/// A host raises no tick while nobody else is ready: a script is all that is left.
#[test]
fn what_the_simulated_host_never_does_is_no_scenario() {
    let usual = "event event_raised(t) { t => ready; }";
    let policy = policy(&format!("{QUEUE} {SCHEDULE} {usual} event tick(t) {{ t => late; }}"));
    let finding = explored(&policy, 2).starvation.unwrap();
    assert_eq!(workload(&finding, &policy), None);
}
