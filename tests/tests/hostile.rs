//! No text whatever makes the compiler panic, run for long, or refuse without a reason.

use std::time::Duration;

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::source::Source;
use catapults_compiler::{compile, framework};
use catapults_tests::{native, processor_time};
use proptest::prelude::*;

/// Compiles the bytes as a policy and as a framework description; whatever comes of it is said in words.
fn survive(bytes: &[u8]) {
    match Source::from_bytes("hostile.sched", bytes.to_vec()) {
        Err(unreadable) => refused(&unreadable.diagnostics, &unreadable.source),
        Ok(source) => {
            if let Err(errors) = compile(&source, &native()) {
                refused(&errors, &source);
            }
            if let Err(errors) = framework::read(&source) {
                refused(&errors, &source);
            }
        }
    }
}

fn refused(errors: &Diagnostics, source: &Source) {
    assert!(errors.has_errors(), "refused without a reason");
    let said = errors.render(source, false);
    assert!(said.contains("error[E0") && said.contains("hostile.sched"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survive(&bytes);
    }

    #[test]
    fn any_text(text in "\\PC{0,300}") {
        survive(text.as_bytes());
    }
}

const LONG: usize = 1 << 20;

/// Each of these has a megabyte, and would take hours if anything looked back.
#[test]
fn long_texts_take_linear_time() {
    let shapes: [(&str, &str, &str); 24] = [
        ("", "(", ""),
        ("", "{", ""),
        ("", "}", ""),
        ("", "|", ""),
        ("", "\"", ""),
        ("", "/*", ""),
        ("", "x", ""),
        ("", "é ", ""),
        ("scheduler s { event a { ", "if (1) ", ""),
        ("scheduler s { event a { ", "x = ", ""),
        ("scheduler s { event a { ", "foreach t in c { ", ""),
        ("scheduler s { event a { ", "while (x) ", ""),
        ("scheduler s { event a { ", "for (;;) do { ", ""),
        ("scheduler s { event a { ", "do ; while (x); ", ""),
        ("scheduler s { event a { ", "f(", ""),
        ("scheduler s { function f(t) { } event schedule { ", "f(); ", "} }"),
        ("scheduler s { ", "function f(t, int a) { f(t); } ", "}"),
        ("scheduler s { event schedule { ", "t => u; ", "} }"),
        ("scheduler s { event schedule { ", "int a; ", "} }"),
        ("scheduler s { event schedule { ", "{ int a; } ", "} }"),
        ("scheduler s { data { int a = 1", " + 1", "; } }"),
        ("scheduler s { data { pqueue q sortable on a", ", a", "; } thread { int a; } }"),
        ("scheduler s { data { ", "queue a; ", "} }"),
        ("scheduler s { ", "event a { } ", "}"),
    ];
    for (start, middle, end) in shapes {
        let times = (LONG - start.len() - end.len()) / middle.len();
        within_reason(middle, &format!("{start}{}{end}", middle.repeat(times)));
    }
    let numbered = |start: &str, piece: &dyn Fn(usize) -> String, end: &str| {
        let mut text = start.to_owned();
        let mut number = 0;
        while text.len() + end.len() < LONG {
            text.push_str(&piece(number));
            number += 1;
        }
        text + end
    };
    within_reason("names", &numbered("scheduler s { data { ", &|n| format!("queue q{n}; "), "} }"));
    within_reason("locals", &numbered("scheduler s { event schedule { ", &|n| format!("int a{n}; "), "} }"));
    let rest =
        "} event switch_out(t) { t => q; } event event_raised(t) { t => q; } event schedule { q => c; dispatch c; } }";
    let whole = "scheduler s { data { threadref c; queue q; int a; } event newthread(t) { t => q; ";
    within_reason("statements", &numbered(whole, &|_| "a++; ".to_owned(), rest));
    within_reason("transfers", &numbered(whole, &|_| "t => q; ".to_owned(), rest));
    within_reason("conditions", &numbered(whole, &|n| format!("if (a == {n}) a++; "), rest));
    within_reason("ends", &numbered(whole, &|_| "if (a) return; ".to_owned(), rest));
    within_reason("guards", &numbered(whole, &|_| "if (a) q => q; ".to_owned(), rest));
    let empty_handed = "scheduler s { data { threadref c; queue q; int a; } event newthread(t) { ";
    within_reason("bad ends", &numbered(empty_handed, &|_| "if (a) return; ".to_owned(), rest));
    within_reason("loops", &numbered(whole, &|_| "foreach u in q { u => q; } ".to_owned(), rest));
    within_reason("turns", &numbered(whole, &|_| "while (|q| > a) { q => q; a++; } ".to_owned(), rest));
    let (open, close) = ("while (a > 0 && |q| > a) { q => p; if (|p| > 2) p => r; ".repeat(49), "r => q; }".repeat(49));
    let queues =
        "scheduler s { data { threadref c; queue q, p : READY, r : READY; int a; } event newthread(t) { t => q; ";
    within_reason("turns in turns", &format!("{queues}{open}{close}{rest}"));
    let chain = |n: usize| match n {
        0 => "function f0() { a++; } ".to_owned(),
        n => format!("function f{n}() {{ {} f{}(); {} }} ", "if (a > 0) { ".repeat(9), n - 1, "}".repeat(9)),
    };
    within_reason("functions", &numbered("scheduler s { data { int a; } ", &chain, "}"));
    let calls = "scheduler s { data { int a; } function f() { a++; a++; } event schedule { ";
    within_reason("calls", &numbered(calls, &|_| "f(); ".to_owned(), "} }"));
    within_reason(
        "returns",
        &numbered("scheduler s { function int f() { ", &|n| format!("if ({n}) return {n}; "), "} }"),
    );
    within_reason(
        "unknown names",
        &numbered("scheduler s { data { queue q; } event schedule { ", &|n| format!("q{n} => q; "), "} }"),
    );
}

#[test]
fn long_descriptions_take_linear_time() {
    let head = "framework f { abi 1; language c; int 64; header \"f.h\"; container c : BLOCKED; \
                event newthread(t) { t: NEW -> READY } \
                event schedule { some READY, none RUNNING: one READY -> RUNNING } ";
    let numbered = |piece: &dyn Fn(usize) -> String, end: &str| {
        let mut text = head.to_owned();
        let mut number = 0;
        while text.len() + end.len() < LONG / 4 {
            text.push_str(&piece(number));
            number += 1;
        }
        text + end + "}"
    };
    let blocks = |n| format!("event b.e{n}(t) {{ t: RUNNING -> BLOCKED }} default {{ t => c; }} ");
    within_reason("events", &numbered(&blocks, "sequence life { newthread ( schedule b.* | b.* )* }"));
    within_reason(
        "likes",
        &numbered(&|n| format!("event e{n}(t) {{ t: READY -> READY }} default like newthread; "), ""),
    );
    within_reason(
        "alternatives",
        &numbered(&|_| "t: READY -> READY | ".to_owned(), "t: READY -> READY }").replacen(
            "t: READY",
            "event e(t) { t: READY",
            1,
        ),
    );
    within_reason("containers", &numbered(&|n| format!("container c{n} : BLOCKED; "), ""));
    within_reason("sequences", &numbered(&|n| format!("sequence s{n} {{ schedule }} "), ""));
    within_reason("lives", &numbered(&|n| format!("sequence s{n} {{ newthread }} "), ""));
    within_reason("steps", &format!("{head} sequence s {{ {} }} }}", "schedule ".repeat(LONG / 40)));
    let doubled = |n: usize| match n {
        0 => "sequence s0 { ( )? } ".to_owned(),
        n => format!("sequence s{n} {{ s{0} s{0} }} ", n - 1),
    };
    within_reason("sequences in sequences", &numbered(&doubled, ""));
}

fn within_reason(name: &str, text: &str) {
    let started = processor_time();
    survive(text.as_bytes());
    let taken = processor_time() - started;
    assert!(taken < Duration::from_secs(20), "`{name}`: {taken:?}");
    eprintln!("{name}: {taken:?}");
}

#[test]
fn what_is_longer_than_that_is_refused() {
    survive(&vec![b'{'; 10 << 20]);
}

/// A name that is in many places is found without looking at all others.
#[test]
fn scenarios_with_many_names_take_linear_time() {
    let framework = native();
    for each in ["lock l#; unlock l#;", "send p#;", "receive p#;"] {
        let phases: String = (0..60_000).map(|number| each.replace('#', &number.to_string())).collect();
        let text = format!("scenario many {{ policy \"fifo.sched\"; thread A {{ {phases} }} }}");
        let start = processor_time();
        let staged = catapults_tests::scenarios::judge(&Source::new("many.scenario", text), &framework);
        assert_eq!(staged.scenarios.len(), 1, "{each}");
        let taken = processor_time() - start;
        assert!(taken < Duration::from_secs(10), "{each} takes {taken:?}");
    }
}
