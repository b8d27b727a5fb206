//! What the verifier relates: flags and numbers that remember containers, indices at which something was found, what a loop has done.
//!
//! Each case is the body of `schedule`, and the guards that are left in the policy.

use catapults_compiler::compile;
use catapults_compiler::source::Source;
use catapults_tests::native;

/// What is said of the guards of a policy with this body: threads are in `ready`, `other`, or an element of `q`. `Err`: it is refused.
fn guards(schedule: &str) -> Result<Vec<String>, String> {
    let anywhere = "int k = load; if (k < 0) t => ready; else if (k > 3) t => other; else t => q[k];";
    let text = format!(
        "scheduler example {{
           thread {{ int p; time started; }}
           threadimports {{ int tickets default 1; }}
           imports {{ int load default 0; float weight default 0.5; bool gate default true; }}
           data {{ threadref current; queue ready; queue other : READY; queue q[4] : READY; int n; bool flag; }}
           event newthread(t) {{ {anywhere} }}
           event switch_out(t) {{ t.p++; {anywhere} }}
           event event_raised(t) {{ {anywhere} }}
           event schedule {{ {schedule} dispatch current; }}
         }}"
    );
    let source = Source::new("example.sched", text);
    match compile(&source, &native()) {
        Ok((verified, _)) => Ok(verified.guards_left().iter().map(|left| left.tested.clone()).collect()),
        Err(diagnostics) => Err(diagnostics.render(&source, false)),
    }
}

/// Where no thread is in the array, one of the others has one.
const ELSE: &str = "else if (|q| > 0) q => current; else if (|ready| > 0) ready => current; else other => current;";

fn proved(body: &str) {
    let body = body.replace("ELSE", ELSE);
    assert_eq!(guards(&body), Ok(Vec::new()), "{body}");
}

fn guarded(body: &str) {
    let body = body.replace("ELSE", ELSE);
    let said = guards(&body);
    let refused = said.as_ref().is_err_and(|said| said.contains("error[E0417]"));
    assert!(refused || said.as_ref().is_ok_and(|guards| !guards.is_empty()), "{body}: {said:?}");
}

#[test]
fn a_flag_remembers_whether_threads_are_there() {
    proved("bool has = |ready| > 0; if (has) ready => current; ELSE");
    proved("bool none = !(|ready| > 0); if (!none) ready => current; ELSE");
    proved("bool a = |ready| > 0; bool b = |other| > 0; bool both = a && b; if (both) other => current; ELSE");
    proved("bool a = |ready| > 0; bool b = a || false; n++; if (b) ready => current; ELSE");
    proved(
        "bool any = |ready| > 0 || |other| > 0; if (any) { if (|ready| > 0) ready => current; else other => current; } ELSE",
    );
    proved("flag = |ready| > 0; if (flag) ready => current; ELSE");
    proved(
        "bool found = false; if (|ready| > 0) { ready => current; found = true; } if (!found) { if (|ready| > 0) ready => current; ELSE }",
    );
    proved(
        "bool taken = |ready| > 0; if (taken) ready => current; int c = load; if (!taken) { if (c < 0) n++; if (|ready| > 0) ready => current; ELSE }",
    );
    // It is forgotten when it is no longer so.
    guarded("bool has = |ready| > 0; if (has && gate) ready => other; if (has) ready => current; ELSE");
    guarded("bool has = |ready| > 0; if (gate) has = true; if (has) ready => current; ELSE");
}

#[test]
fn a_number_remembers_whether_threads_are_there() {
    proved("int c = |ready|; if (c > 0) ready => current; ELSE");
    proved("int c = |ready|; n = c; if (c != 0) ready => current; ELSE");
    proved(
        "int which = 0; if (|ready| > 0) which = 1; else if (|other| > 0) which = 2; if (which == 1) ready => current; else if (which == 2) other => current; ELSE",
    );
    guarded("int c = |ready| + load; if (c > 0) ready => current; ELSE");
}

#[test]
fn an_index_at_which_something_was_found() {
    proved(
        "int best = -1; for (int i = 0; i < 4; i++) if (|q[i]| > 0) best = i; if (best >= 0) q[best] => current; ELSE",
    );
    proved(
        "int best = -1; for (int i = 3; i >= 0; i--) { if (|q[i]| > 0) best = i; } if (best >= 0) q[best] => current; ELSE",
    );
    proved(
        "int best = -1; for (int i = 0; i < 4; i++) if (best < 0 && |q[i]| > 0) best = i; if (best != -1) q[best] => current; ELSE",
    );
    // Nothing was found: so none is in the array.
    proved(
        "int best = -1; for (int i = 0; i < 4; i++) if (|q[i]| > 0) best = i; if (best >= 0) q[best] => current; else if (|ready| > 0) ready => current; else other => current;",
    );
    proved(
        "int i = 0; while (i < 3 && |q[i]| == 0) i++; if (|q[i]| > 0) q[i] => current; else if (|ready| > 0) ready => current; else other => current;",
    );
    proved("int best = 4; if (|q[1]| > 0) best = 1; if (|q[0]| > 0) best = 0; if (best < 4) q[best] => current; ELSE");
    guarded(
        "int best = -1; for (int i = 0; i < 4; i++) if (|q[i]| > 0 || gate) best = i; if (best >= 0) q[best] => current; ELSE",
    );
    guarded(
        "int best = -1; for (int i = 0; i < 4; i++) if (|q[i]| > 0) best = i; if (best >= 0) { if (gate) best = load; q[best] => current; } ELSE",
    );
}

#[test]
fn what_the_rounds_of_a_loop_have_done() {
    proved(
        "foreach t in ready { if (|current| == 0) t => current; } if (|current| == 0) { if (|q| > 0) q => current; else other => current; }",
    );
    proved(
        "bool found = false; foreach t in ready { if (!found && t.p > 1) { t => current; found = true; } } if (!found) { if (|ready| > 0) ready => current; ELSE }",
    );
    proved(
        "int win = load; foreach t in ready { if (win >= 0) { win -= t.tickets; if (win < 0 && |current| == 0) t => current; } } if (|current| == 0) { if (|ready| > 0) ready => current; ELSE }",
    );
    proved(
        "int win = 7; foreach t in ready { if (win >= 0) { win -= t.tickets; if (win < 0) t => current; } } if (|current| == 0) { if (|ready| > 0) ready => current; ELSE } current.started = now;",
    );
    guarded(
        "int win = 7; foreach t in ready { if (win >= -1) { win -= t.tickets; if (win < 0) t => current; } } if (|current| == 0) { if (|ready| > 0) ready => current; ELSE }",
    );
}

#[test]
fn a_variable_below_a_size() {
    proved("for (int i = 0; i < |ready|; i++) ready => other; if (|ready| > 0) ready => current; ELSE");
    proved(
        "for (int i = 0; i < |ready|; i++) { ready => other; if (|other| > 0) other => ready; } if (|ready| > 0) ready => current; ELSE",
    );
    guarded(
        "int c = |ready| + load; for (int i = 0; i < c; i++) ready => other; if (|ready| > 0) ready => current; ELSE",
    );
}

#[test]
fn a_number_of_threads_that_is_counted_down() {
    proved("int c = |ready|; while (c > 0) { ready => other; c--; } if (|other| > 0) other => current; ELSE");
    proved("for (n = |ready|; n > 0; n--) ready => other; if (|other| > 0) other => current; ELSE");
    proved(
        "int c = |ready|; int d = c; while (d >= 1) { d -= 1; if (gate) ready => other; else ready => q[1]; } if (|other| > 0) other => current; ELSE",
    );
    proved(
        "int c = |ready|; while (c > 0) { ready => other; other => ready; ready => q[2]; c--; } if (|other| > 0) other => current; ELSE",
    );
    proved("n = |ready| - 1; if (n > 0) { ready => other; ready => other; } if (|other| > 0) other => current; ELSE");
    proved(
        "int c = |ready|; if (c > 2) { ready => other; ready => other; ready => other; } if (|other| > 0) other => current; ELSE",
    );
    // Fewer are counted than leave, or more counted than there are.
    guarded(
        "int c = |ready|; while (c > 0) { ready => other; if (gate) c--; } if (|other| > 0) other => current; ELSE",
    );
    guarded("int c = |ready|; while (c >= 0) { ready => other; c--; } if (|other| > 0) other => current; ELSE");
    guarded(
        "int c = |ready|; while (c > 0) { ready => other; if (gate && |ready| > 0) ready => q[1]; c--; } if (|other| > 0) other => current; ELSE",
    );
    guarded("int c = |ready|; c++; while (c > 0) { ready => other; c--; } if (|other| > 0) other => current; ELSE");
    guarded("int c = |ready|; while (c > 0) { ready => other; c = load; } if (|other| > 0) other => current; ELSE");
    guarded(
        "int c = |ready|; if (gate) ready => other; while (c > 0) { ready => other; c--; } if (|other| > 0) other => current; ELSE",
    );
    guarded(
        "int c = |ready|; c += -9223372036854775808; if (c <= 0) ready => other; if (|other| > 0) other => current; ELSE",
    );
    // The lowest number less one is the highest.
    guarded(
        "int c = |ready|; c -= 9223372036854775807; c -= 9; if (c > 0) ready => other; if (|other| > 0) other => current; ELSE",
    );
}

#[test]
fn a_number_of_threads_in_several_containers() {
    let either = "if (|ready| > 0) ready => q[1]; else other => q[2];";
    proved(&format!(
        "int c = |ready| + |other|; while (c > 0) {{ {either} c--; }} if (|other| > 0) other => current; ELSE"
    ));
    proved(&format!(
        "int c = |ready| + |other| - 1; if (c > 1) {{ {either} {either} {either} }} if (|q| > 0) q => current; ELSE"
    ));
    proved(
        "for (n = |q| + |ready|; n > 0; n--) if (|q| > 0) q => other; else ready => other; if (|other| > 0) other => current; ELSE",
    );
    proved("int c = |q|; while (c > 0) { q => other; c--; } if (|other| > 0) other => current; ELSE");
    // A thread that goes from one of them to another is counted still.
    proved(&format!(
        "int c = |ready| + |other|; if (|ready| > 0) ready => other; while (c > 0) {{ {either} c--; }} if (|q| > 0) q => current; ELSE"
    ));
    // `current` is empty before, and holds one thread at most after.
    proved("int c = |current| + |ready|; if (c > 0) ready => other; if (|other| > 0) other => current; ELSE");
    proved(
        "if (gate) { if (|q| > 0) q => current; } int c = |current| + |ready|; if (c > 1) ready => other; if (|current| == 0) { if (|other| > 0) other => current; ELSE }",
    );
    guarded(
        "if (gate) { if (|q| > 0) q => current; } int c = |current| + |ready|; if (c > 0) ready => other; if (|current| == 0) { if (|other| > 0) other => current; ELSE }",
    );
    guarded(&format!(
        "int c = |ready| + |other|; while (c >= 0) {{ {either} c--; }} if (|other| > 0) other => current; ELSE"
    ));
    guarded("int c = |ready| + |other|; while (c > 0) { ready => q[1]; c--; } if (|other| > 0) other => current; ELSE");
    guarded(&format!(
        "int c = |ready| + |other|; if (|ready| > 0) ready => q[0]; while (c > 0) {{ {either} c--; }} if (|q| > 0) q => current; ELSE"
    ));
    // One that is counted twice is there once.
    guarded(
        "int c = |ready| + |ready|; while (c > 0) { ready => other; c--; } if (|other| > 0) other => current; ELSE",
    );
    guarded("int c = |q| + |q[1]|; while (c > 0) { q => other; c--; } if (|other| > 0) other => current; ELSE");
}

#[test]
fn a_number_of_threads_that_a_loop_counts() {
    proved("n = 0; foreach t in ready n++; if (n > 2) { ready => other; ready => other; ready => current; } ELSE");
    proved(
        "int c = 0; foreach t in ready if (t.p > 1) c++; while (c > 0) { ready => other; c--; } if (|other| > 0) other => current; ELSE",
    );
    proved(
        "int c = 1; foreach t in ready { if (t.p > 9) break; c++; } if (c > 2) { ready => other; ready => current; } ELSE",
    );
    proved("int c = 0; foreach t in q c += 1; if (c > 1) { q => other; q => current; } ELSE");
    guarded("int c = 1; foreach t in ready c++; if (c > 1) { ready => other; ready => current; } ELSE");
    guarded("int c = load; foreach t in ready c++; if (c > 1) { ready => other; ready => current; } ELSE");
    guarded("int c = 0; foreach t in ready { c++; c++; } if (c > 1) { ready => other; ready => current; } ELSE");
    guarded("int c = 0; foreach t in ready c += 2; if (c > 1) { ready => other; ready => current; } ELSE");
    guarded(
        "int c = 0; foreach t in ready foreach u in other c++; if (c > 1) { ready => other; ready => current; } ELSE",
    );
    guarded(
        "int c = 0; foreach t in ready { c++; if (gate) t => other; } if (c > 1) { ready => other; ready => current; } ELSE",
    );
    guarded(
        "int c = 0; foreach t in ready { c++; if (gate) c = load; } if (c > 1) { ready => other; ready => current; } ELSE",
    );
    proved("n = 0; foreach t in ready n++; if (n > 0) ready => current; ELSE");
    proved("int c = 0; foreach t in ready if (t.p > 1) c++; if (c > 0) ready => current; ELSE");
    proved(
        "int a = 0; int b = 0; foreach t in ready if (t.p > 1) a++; else b++; if (a > 0 || b > 0) ready => current; ELSE",
    );
    guarded("int c = 0; foreach t in ready c++; if (c >= 0 && gate) ready => current; ELSE");
    guarded("int c = 0; foreach t in ready { c++; if (gate) t => other; } if (c > 0) ready => current; ELSE");
    guarded("int c = 0; foreach t in ready c++; foreach t in other c++; if (c > 0) ready => current; ELSE");
}

#[test]
fn the_index_of_the_longest_queue() {
    let longest = "int best = -1; int most = 0; for (int i = 0; i < 4; i++) if (|q[i]| > most) { best = i; most = |q[i]|; } else n++;";
    proved(&format!("{longest} if (best >= 0) q[best] => current; ELSE"));
    guarded(&format!("{longest} if (most >= 0 && best >= -1) q[best] => current; ELSE"));
    guarded(&format!("{} if (best >= 0) q[best] => current; ELSE", longest.replace("else n++;", "else best = i;")));
}

#[test]
fn floats_have_an_order() {
    let one = "{ if (|ready| > 0) ready => current; ELSE }";
    let three = |first: &str, second: &str, third: &str| {
        format!("float g = weight; if ({first}) {one} else if ({second}) {one} else if ({third}) {one}")
    };
    proved(&three("g < 1.0", "g == 1.0", "g > 1.0"));
    proved(&three("g > 1.0", "g < -0.0", "g >= 0.0"));
    // The application can change an import between two looks.
    let reads = format!("if (weight < 1.0) {one} else if (weight >= 1.0) {one}").replace("ELSE", ELSE);
    assert!(guards(&reads).is_err());
    let gap = three("g < 1.0", "g > 1.0", "g == 2.0").replace("ELSE", ELSE);
    assert!(guards(&gap).is_err());
}
