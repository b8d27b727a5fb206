//! What the verifier proves and what it leaves to be guarded, statement by statement.
//!
//! Each case is the body of a handler, and the guards that are left in it. A guard too many is a proof lost; a guard too few is
//! a proof of what is not so.

use catapults_compiler::compile;
use catapults_compiler::framework::Framework;
use catapults_compiler::interp::{Machine, Stop, ThreadId, Variables};
use catapults_compiler::policy::StatementKind::{Foreach, If, Loop};
use catapults_compiler::policy::Value;
use catapults_compiler::policy::text::Heads;
use catapults_compiler::source::Source;
use catapults_compiler::verify::Guard;
use catapults_tests::native;

/// The guards left in `event NAME`, of a policy with threadrefs `s`, `u` and queues `a`, `b`, `c`, all READY.
fn guards(event: &str, body: &str) -> Vec<String> {
    // Whatever the others do, any container can hold threads, and `v` anything.
    let anywhere =
        "v = pick; if (pick == 1) t => b; else if (pick == 2) t => c; else if (pick == 3 && |s| == 0) t => s;
                    else if (pick == 4 && |u| == 0) t => u; else t => a;";
    let others: String = [
        ("newthread(t)", "t => a;"),
        ("switch_out(t)", anywhere),
        ("event_raised(t)", anywhere),
        ("set_next_thread(t)", "t => a;"),
        (
            "schedule",
            "if (|a| > 0) a => current; else if (|b| > 0) b => current; else if (|c| > 0) c => current;
             else if (|s| > 0) s => current; else u => current; dispatch current;",
        ),
    ]
    .into_iter()
    .filter(|(name, _)| *name != event)
    .map(|(name, body)| format!("event {name} {{ {body} }}\n"))
    .collect();
    let text = format!(
        "scheduler example {{
           thread {{ int key; }}
           imports {{ int pick default 0; }}
           data {{ threadref current; threadref s : READY, u : READY; queue a : READY, b : READY, c : READY; int v; }}
           event {event} {{ {body} }}\n{others} }}"
    );
    let source = Source::new("example.sched", text);
    let (verified, _) =
        compile(&source, &native()).unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(&source, false)));
    let policy = verified.policy();
    let name = event.split('(').next().unwrap();
    let handler = policy.events.iter().find(|handler| handler.name == name).unwrap();
    let heads = Heads::of(policy, handler);
    let mut found = Vec::new();
    let mut pending: Vec<_> = handler.body.iter().rev().collect();
    while let Some(statement) = pending.pop() {
        for guard in &verified.facts(statement.id).guards {
            assert!(matches!(guard, Guard::Holds(_) | Guard::Vacant(_)));
            found.push(verified.guard_text(&heads, statement, guard));
        }
        if let If { then, otherwise, .. } = &statement.kind {
            pending.extend(then.iter().chain(otherwise).rev());
        } else if let Foreach { body, .. } = &statement.kind {
            pending.extend(body.iter().rev());
        } else if let Loop { body, step, .. } = &statement.kind {
            pending.extend(body.iter().chain(step).rev());
        }
    }
    found
}

fn in_newthread(body: &str) -> Vec<String> {
    // Somebody comes first.
    guards("newthread(t)", &format!("if (pick == 5) {{ t => a; return; }} {body} t => c;"))
}

fn named(body: &str) -> Vec<String> {
    guards("set_next_thread(t)", body)
}

#[test]
fn tests_prove_and_their_absence_guards() {
    assert_eq!(in_newthread("a => b;"), ["`a` is empty in `a => b`"]);
    assert_eq!(in_newthread("a => s;"), ["`a` is empty in `a => s`", "`s` already holds a thread in `a => s`"]);
    assert!(in_newthread("if (|a| > 0 && |s| == 0) a => s;").is_empty());
    assert!(in_newthread("if (|a| == 0 || |s| != 0) v = 1; else a => s;").is_empty());
    assert!(in_newthread("if (!empty(a) && empty(s)) a => s;").is_empty());
    assert_eq!(in_newthread("if (empty(b)) a => c;"), ["`a` is empty in `a => c`"]);
    assert!(in_newthread("if (!(0 < |a|)) v = 1; else a => b;").is_empty());
    assert_eq!(in_newthread("if (|a| >= 0) a => b;"), ["`a` is empty in `a => b`"]);
    assert_eq!(in_newthread("if (|a| < 5) a => b;"), ["`a` is empty in `a => b`"]);
    assert_eq!(in_newthread("if (|a| > 0 || v > 0) a => b;"), ["`a` is empty in `a => b`"]);
}

#[test]
fn transfers_count() {
    assert!(in_newthread("if (|a| > 1) { a => b; a => c; b => c; }").is_empty());
    assert_eq!(in_newthread("if (|a| > 0) { a => b; a => c; }"), ["`a` is empty in `a => c`"]);
    assert!(
        in_newthread("if (|s| == 1 && |u| == 0) { s => u; a => s; }").iter().all(|text| text.contains("`a` is empty"))
    );
}

#[test]
fn one_of_several_holds_a_thread_until_it_may_have_left() {
    assert!(in_newthread("if (|a| + |b| > 0) { if (|a| == 0) b => c; }").is_empty());
    // Moving within the set keeps the knowledge, moving out of it does not.
    assert!(in_newthread("if (|a| + |b| > 0) { if (|a| > 0) a => b; if (|a| == 0) b => c; }").is_empty());
    assert_eq!(
        in_newthread("if (|a| + |b| > 0) { if (|a| > 0) a => c; if (|a| == 0) b => c; }"),
        ["`b` is empty in `b => c`"]
    );
    // What a later condition tells.
    assert!(
        in_newthread("if (|a| > 0) v = 1; else { v = 2; } if (|a| > 0 || |b| > 0) { if (|b| == 0) a => c; }")
            .is_empty()
    );
}

#[test]
fn a_named_thread_is_followed() {
    // It is READY: in one of five containers. After it has left one of them, that one need not be empty, nor hold one less.
    assert_eq!(named("t => a; s => b;"), ["`s` is empty in `s => b`"]);
    assert!(named("if (t in s) { t => a; b => s; }").iter().all(|text| text.contains("`b` is empty")));
    assert_eq!(
        named("if (|s| == 1 && |u| == 1) { t => a; b => s; }"),
        ["`b` is empty in `b => s`", "`s` already holds a thread in `b => s`"]
    );
    assert!(named("if (t in a) { a => b; t => c; }").is_empty());
    // One of `a` and `b` held a thread, but that may have been `t`.
    let either = "if (|a| + |b| > 0 && !(t in c) && !(t in s) && !(t in u))";
    assert_eq!(named(&format!("{either} {{ t => c; if (|a| == 0) b => c; }}")), ["`b` is empty in `b => c`"]);
    assert!(named(&format!("{either} {{ t => b; if (|a| == 0) b => c; }}")).is_empty());
    assert!(named("if (!(t in a) && !(t in b) && !(t in c) && |s| == 0) { u => a; t => b; }").is_empty());
}

#[test]
fn a_visited_thread_can_be_a_named_one() {
    // The loop may have moved `t` from `a` to `b`, so that `a` need not hold a thread any more.
    assert_eq!(named("if (t in a) { foreach x in a { x => b; } a => c; t => c; }"), ["`a` is empty in `a => c`"]);
    assert!(named("if (t in a) { foreach x in b { x => c; } a => c; t => c; }").is_empty());
}

#[test]
fn loops_forget_what_their_rounds_change() {
    assert_eq!(in_newthread("if (|a| > 2) { foreach x in a { x => b; } a => c; }"), ["`a` is empty in `a => c`"]);
    assert!(in_newthread("if (|b| > 0) { foreach x in a { x => b; } b => c; }").is_empty());
    assert_eq!(
        in_newthread("if (|s| == 0) { foreach x in a { if (x.key > 1) x => s; } }"),
        ["`s` already holds a thread in `x => s`"]
    );
    assert!(in_newthread("foreach x in a { if (|s| == 0) x => s; }").is_empty());
}

#[test]
fn the_event_type_is_known() {
    // Something is ready and nothing runs when `schedule` is raised.
    assert!(
        guards(
            "schedule",
            "if (|a| > 0) a => current; else if (|b| > 0) b => current; else if (|c| > 0) c => current;
         else if (|s| > 0) s => current; else u => current; dispatch current;"
        )
        .is_empty()
    );
    assert_eq!(guards("schedule", "a => current; dispatch current;"), ["`a` is empty in `a => current`"]);
    // The thread that is switched out leaves its slot empty, whatever came before.
    assert!(guards("switch_out(t)", "t => a;").is_empty());
}

#[test]
fn a_loop_leaves_its_condition_false() {
    assert!(in_newthread("while (|a| > 0) a => b;").is_empty());
    assert!(
        in_newthread("while (|a| == 0 && |b| > 0) b => c; while (|a| + |b| > 0) { if (|a| > 0) a => c; else b => c; }")
            .is_empty()
    );
    assert!(in_newthread("while (|s| > 0) s => a; a => s;").iter().all(|text| text.contains("`a` is empty")));
    assert!(
        in_newthread("if (|b| > 0) { while (|a| < 1) b => a; a => c; }")
            .iter()
            .all(|text| text.contains("`b` is empty"))
    );
    assert!(in_newthread("for (int i = 0; |s| == 0 && |a| > 0; i++) a => s;").is_empty());
}

#[test]
fn turns_forget_what_they_change() {
    // The second turn finds less, or more, than the first.
    assert_eq!(in_newthread("if (|a| > 2) for (int i = 0; i < v; i++) a => b;"), ["`a` is empty in `a => b`"]);
    // A few turns are followed one by one.
    assert!(in_newthread("if (|a| > 2) for (int i = 0; i < 2; i++) a => b;").is_empty());
    assert!(in_newthread("if (|a| > 2) for (int i = 3; i > 0; i--) a => b;").is_empty());
    assert_eq!(in_newthread("if (|a| > 2) for (int i = 0; i < 4; i++) a => b;"), ["`a` is empty in `a => b`"]);
    assert_eq!(
        in_newthread("if (|a| > 2) { for (int i = 0; i < v; i++) b => c; a => b; }"),
        ["`b` is empty in `b => c`"]
    );
    assert_eq!(
        named("if (|s| == 0 && |a| > 0) for (int i = 0; i < v; i++) { if (|a| > 0 && t.key < 3) a => s; }"),
        ["`s` already holds a thread in `a => s`"]
    );
    // A turn may have been taken, or none.
    assert_eq!(named("if (|b| == 0) { while (t.key > v) { t => b; v++; } b => a; }"), ["`b` is empty in `b => a`"]);
    assert_eq!(named("if (t in s) { while (t.key > v) { t => a; v++; } b => s; }").len(), 2);
    // One turn has been.
    assert!(in_newthread("do { t => b; v--; } while (v > 0); b => a;").is_empty());
    assert!(in_newthread("if (|a| > 0) do { a => b; } while (|a| > 0);").is_empty());
    // What the step does comes before the next test.
    assert_eq!(in_newthread("for (int i = 0; |a| > 0; i++) { a => b; a => c; }"), ["`a` is empty in `a => c`"]);
}

#[test]
fn a_loop_that_does_not_end_is_stopped() {
    let text = "scheduler example {
      imports { bool busy default true; }
      data { threadref current; queue ready; int turns; }
      event newthread(t)    { while (busy) turns++; t => ready; }
      event switch_out(t)   { t => ready; }
      event event_raised(t) { t => ready; }
      event schedule        { ready => current; dispatch current; }
    }";
    let source = Source::new("example.sched", text.to_owned());
    let (verified, warnings) = compile(&source, &native()).unwrap();
    assert_eq!(warnings.iter().filter(|warning| warning.code == "E0413").count(), 1);
    let mut machine = Machine::new(&verified);
    machine.spawn(ThreadId(1)).unwrap();
    let stop = machine.raise("newthread", &[ThreadId(1)], &mut Variables::default());
    assert_eq!(stop, Err(Stop::Overrun { line: 4 }));
    assert_eq!(machine.variables()[0], Value::Int(i64::try_from(Machine::MOST_TURNS).unwrap()));
}

/// A policy of which two kinds of threads are BLOCKED, and so many guards of its handlers for the one kind.
fn guards_of_blocked(framework: &Framework, resume: &str, others: &str) -> usize {
    let text = format!(
        "scheduler example {{
           thread {{ timer wake; }}
           data {{ threadref current; queue ready; queue sleeping : BLOCKED; threadref frozen : BLOCKED; }}
           event newthread(t)      {{ t => ready; }}
           event switch_out(t)     {{ t => ready; }}
           event block.*(t)        {{ t => sleeping; }}
           event event_raised(t)   {{ t => ready; }}
           event suspend_thread(t) {{ t => frozen; }}
           event resume_thread(t)  {{ {resume} }}
           event schedule          {{ ready => current; dispatch current; }}
           {}
         }}",
        if others.contains("timeout.wake") {
            others.to_owned()
        } else {
            format!("{others} event timeout.wake(t) {{ t.wake = now + 1s; }}")
        }
    );
    let source = Source::new("example.sched", text);
    let (verified, _) =
        compile(&source, framework).unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(&source, false)));
    let policy = verified.policy();
    let handler = policy.events.iter().find(|handler| handler.name == "resume_thread").unwrap();
    handler.body.iter().map(|statement| verified.facts(statement.id).guards.len()).sum()
}

/// The last but one finds `frozen` empty if `t` has been there.
const THROUGH_FROZEN: &str = "t => sleeping; t => frozen; t => ready;";

#[test]
fn a_thread_is_where_its_life_has_led_it() {
    // Only a thread that `suspend_thread` has put into `frozen` is resumed.
    assert_eq!(guards_of_blocked(&native(), THROUGH_FROZEN, ""), 0);
    // Where nothing is said of lives, any thread that is BLOCKED can be resumed.
    let mut untold = native();
    untold.sequences.retain(|sequence| sequence.name == "processor");
    assert_eq!(guards_of_blocked(&untold, THROUGH_FROZEN, ""), 1);
}

#[test]
fn threads_that_an_event_does_not_name_are_moved_too() {
    for moving in [
        "event set_next_thread(t) { if (|frozen| > 0) frozen => sleeping; t => ready; }",
        "event set_next_thread(t) { foreach x in frozen { x => sleeping; } t => ready; }",
        // A timer can expire whatever a thread waits for.
        "event timeout.wake(t) { if (t in frozen) t => sleeping; }",
    ] {
        assert_eq!(guards_of_blocked(&native(), THROUGH_FROZEN, moving), 1, "{moving}");
    }
    // What goes elsewhere does not matter.
    let ready = "event set_next_thread(t) { foreach x in ready { x => ready; } t => ready; }";
    assert_eq!(guards_of_blocked(&native(), THROUGH_FROZEN, ready), 0);
    // A timer of a thread that sleeps moves none that is frozen.
    let asleep = "event timeout.wake(t) { if (t in sleeping) t => sleeping; }";
    assert_eq!(guards_of_blocked(&native(), THROUGH_FROZEN, asleep), 0);
}
