//! Policies of some 10,000 lines, which nobody would write: a shape for each thing that a policy can have too many of.

use std::fmt::Write;

/// Lines of a policy, about.
pub const LINES: usize = 10_000;

/// A policy that the compiler accepts.
pub struct Large {
    /// What there is much of; also the name of its file.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

/// All of them.
pub fn policies() -> Vec<Large> {
    vec![statements(), nesting(), declarations(), functions(), family(), containers(), loops(), guards()]
}

/// One handler with a chain of decisions after the other.
fn statements() -> Large {
    let chain = "if (v == 0) w = 1;\n".to_owned()
        + &lines(40, |n| format!("else if (|late| > {n}) late => later;\nelse if (v == {n}) w = w * v + {n};\n"));
    large("statements", "", "", &format!("event newthread(t) {{\n{}t => ready;\n}}\n", chain.repeat(LINES / 81)))
}

/// Blocks in blocks, nearly as deep as they may be.
fn nesting() -> Large {
    let deep = lines(90, |n| format!("if (v > {n}) {{\n")) + "if (|late| > 0) late => ready;\n" + &"}\n".repeat(90);
    large("nesting", "", "", &format!("event newthread(t) {{\n{}t => ready;\n}}\n", deep.repeat(LINES / 181)))
}

/// Constants, variables and attributes, all of them used.
fn declarations() -> Large {
    let many = LINES / 6;
    let data = lines(many, |n| format!("const int K{n} = {n};\nint v{n} = K{n};\n"));
    let attributes = lines(many, |n| format!("int a{n} = {n};\n"));
    let uses = lines(many, |n| format!("t.a{n} = K{n};\nif (v{n} > K{n})\nv{n} = t.a{n};\n"));
    large("declarations", &data, &attributes, &format!("event newthread(t) {{\n{uses}t => ready;\n}}\n"))
}

/// Functions as long as calls may be.
fn functions() -> Large {
    let functions = lines(100, |n| format!("function f{n}() {{\n{}}}\n", "if (v > w)\nv++;\n".repeat(48)));
    let calls = lines(100, |n| format!("f{n}();\n"));
    large("functions", "", "", &format!("{functions}event newthread(t) {{\n{calls}t => ready;\n}}\n"))
}

/// A handler that is repeated for each member of a family.
fn family() -> Large {
    let body = lines(LINES / 2, |n| format!("if (|late| > 0 && v == {n})\nlate => ready;\n"));
    let handlers = format!("event newthread(t) {{ t => ready; }}\nevent block.*(t) {{\n{body}t => parked;\n}}\n");
    large("family", "queue parked : BLOCKED;\n", "", &handlers)
}

/// Nearly as many containers as there may be, threads going from each to others.
fn containers() -> Large {
    let data = lines(90, |n| format!("{} c{n} : READY;\n", if n % 2 == 0 { "queue" } else { "threadref" }));
    let step = |n: usize| {
        let (from, to) = (n % 90, (n * 7 + 1) % 90);
        format!("if (|c{from}| > 0 && |c{to}| == 0)\nc{from} => c{to};\n")
    };
    let body = lines(LINES / 2, step);
    let first = "if (t.a > 1) t => later; else if (t.a > 0) t => c0; else t => ready;";
    let handlers = format!("event newthread(t) {{ {first} }}\nevent block.*(t) {{\n{body}t => parked;\n}}\n");
    large("containers", &(data + "queue parked : BLOCKED;\n"), "", &handlers)
}

/// Loops in loops and one after the other, with much in each.
fn loops() -> Large {
    let visit = |n| {
        format!("foreach x{n} in late {{\n{}}}\n", "if (x0.a > w)\nv++;\n".replace("x0", &format!("x{n}")).repeat(40))
    };
    let turns = lines(30, |n| {
        format!("while (v < {n} && |late| > w) {{\nv++;\n{}", "if (|late| > v)\nlate => later;\n".repeat(30))
    }) + &"}\n".repeat(30);
    let body = lines(60, visit) + &turns.repeat(2);
    large("loops", "", "", &format!("event newthread(t) {{\n{body}t => ready;\n}}\n"))
}

/// Transfers of which nothing is known: each keeps a guard that says what it is for.
fn guards() -> Large {
    let body = lines(LINES / 2, |n| format!("if (v == {n})\nlate => later;\n"));
    let handlers = format!("event newthread(t) {{ t => ready; }}\nevent block.*(t) {{\n{body}t => parked;\n}}\n");
    large("guards", "queue parked : BLOCKED;\n", "", &handlers)
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

fn large(name: &'static str, data: &str, attributes: &str, handlers: &str) -> Large {
    let mut text = String::from("scheduler large {\n");
    // Writing to a string cannot fail.
    let _ = write!(text, "thread {{\nint a;\n{attributes}}}\ndata {{\nthreadref current;\nqueue ready : READY;\n");
    let _ = write!(text, "queue late : READY, later : READY;\nint v, w;\n{data}}}\n{handlers}");
    // So that `late` can hold threads, and `v` and `w` any number: else the verifier knows that much of this is never done.
    text.push_str("event switch_out(t) { v = t.a; w = t.a; t => ready; }\n");
    text.push_str("event event_raised(t) { if (t.a > 1) t => late; else t => ready; }\n");
    text.push_str("event schedule {\nif (|ready| > 0) ready => current;\nelse if (|late| > 0) late => current;\n");
    text.push_str("else later => current;\ndispatch current;\n}\n}\n");
    Large { name, text }
}
