//! What the verifier proves of arrays of containers: by an index as long as it names the same element, and of an array as a whole.

use catapults_compiler::compile;
use catapults_compiler::policy::text::Heads;
use catapults_compiler::policy::{Block, Policy};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_tests::native;

/// The guards left in `set_next_thread(t)` of a policy with arrays of queues `a` and threadrefs `s`, and a queue `q`, all READY.
fn guards(body: &str) -> Vec<String> {
    let text = format!(
        "scheduler example {{
           thread {{ int level; int row[2]; }}
           imports {{ int far default 0; }}
           data {{
             const int W[3] = {{ 2, 1, 0 }};
             threadref current, s[2] : READY;
             queue a[3] : READY, q : READY;
             int i, j, at[2];
           }}
           function int bounded(int value) {{ if (value > 2) return 2; return value; }}
           function raise(u) {{ u.level++; }}
           event newthread(t) {{ t => q; }}
           event switch_out(t) {{ i = far; j = far * 2; at[j] = i; if (|s[far]| == 0) t => q; else t => a[j]; }}
           event event_raised(t) {{ int k = far; if (|s[k]| == 0) t => s[k]; else t => a[t.level]; }}
           event set_next_thread(t) {{ {body} }}
           event schedule {{ if (|a| > 0) a => current; else if (|s| > 0) s => current; else q => current; dispatch current; }}
         }}"
    );
    let source = Source::new("example.sched", text);
    let (verified, _) =
        compile(&source, &native()).unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(&source, false)));
    let handler = verified.policy().events.iter().find(|handler| handler.name == "set_next_thread").unwrap();
    let mut found = Vec::new();
    collect(&verified, &Heads::of(verified.policy(), handler), &handler.body, &mut found);
    found
}

fn collect(verified: &Verified<Policy>, heads: &Heads, block: &Block, found: &mut Vec<String>) {
    for statement in block {
        let facts = verified.facts(statement.id);
        found.extend(facts.guards.iter().map(|guard| verified.guard_text(heads, statement, guard)));
        statement.blocks().for_each(|inner| collect(verified, heads, inner, found));
    }
}

fn proved(body: &str) {
    assert_eq!(guards(body), Vec::<String>::new(), "{body}");
}

fn guarded(body: &str) {
    assert!(!guards(body).is_empty(), "{body}");
}

#[test]
fn an_index_that_keeps_its_value_names_the_same_element() {
    proved("if (|a[i]| > 0) a[i] => q;");
    proved("if (|a[t.level]| > 0) a[t.level] => q;");
    proved("if (|a[i + 1]| > 0 && j > 2) { j = 4; t.level = 3; a[i + 1] => q; }");
    proved("if (|a[W[i]]| > 0) a[W[i]] => q;");
    proved("if (|a[at[i]]| > 0) { t.row[i] = 2; a[at[i]] => q; }");
    proved("int k = far; if (|a[k]| > 0) a[k] => a[far];");
    proved("int k = bounded(far); if (|a[k]| > 0) a[k] => q;");
    proved("if (|a[t.row[1]]| > 0) { t.row[0] = 1; a[t.row[1]] => q; }");
    proved("for (int k = 1; k < 3; k++) if (|a[k]| > 0) a[k] => a[k - 1];");
    proved("while (|a[i]| > 0) a[i] => q;");
    assert_eq!(guards("a[i] => q;"), ["`a[i]` is empty in `a[i] => q`"]);
}

#[test]
fn what_is_known_by_an_index_is_forgotten_when_it_can_be_another() {
    guarded("if (|a[i]| > 0) { i = 1; a[i] => q; }");
    guarded("if (|a[i]| > 0) { i++; a[i] => q; }");
    guarded("if (|a[far]| > 0) a[far] => q;");
    guarded("if (|a[i]| > 0) a[j] => q;");
    guarded("if (|a[t.level]| > 0) { t.level = 1; a[t.level] => q; }");
    guarded("if (|a[t.level]| > 0) { foreach u in a u.level = 1; a[t.level] => q; }");
    guarded("if (|a[t.level]| > 0) { raise(t); a[t.level] => q; }");
    guarded("if (|a[at[i]]| > 0) { at[j] = 2; a[at[i]] => q; }");
    guarded("if (|a[at[0]]| > 0) { at[j] = 2; a[at[0]] => q; }");
    guarded("if (|a[t.row[i]]| > 0) { t.row[0] = 1; a[t.row[i]] => q; }");
    guarded("if (|a[|q|]| > 0) { q => q; a[|q|] => q; }");
    guarded(
        "if (|s[1]| > 0 && |a[s[1].level]| > 0) { s[1] => q; if (|a[0]| > 0) a[0] => s[1]; if (|s[1]| > 0) a[s[1].level] => q; }",
    );
    guarded("if (|a| > 0) { foreach u in a { if (|a[u.level]| > 0 && u.level > 1) j = 1; } a[j] => q; }");
    guarded("if (|a[i]| > 0) { for (int k = 0; k < 2; k++) i += k; a[i] => q; }");
    guarded("if (|a[i]| > 0) while (j > 0) { a[i] => q; j--; }");
    guarded("if (t.level > 1 && |a[i]| > 0) j = 1; a[i] => q;");
}

#[test]
fn another_index_can_name_the_same_element() {
    guarded("if (|a[i]| > 0) { if (|a[j]| > 0) a[j] => q; a[i] => q; }");
    guarded("if (|a[i]| > 0) { if (|a[2]| > 0) a[2] => q; a[i] => q; }");
    guarded("if (|a[2]| > 0) { if (|a[i]| > 0) a[i] => q; a[2] => q; }");
    guarded("if (|a[i]| > 0) { a => q; a[i] => q; }");
    guarded("if (|a[i]| > 0) { t => q; a[i] => q; }");
    guarded("if (|a[i]| > 0) { foreach u in a[j] u => q; a[i] => q; }");
    proved("if (|a[i]| > 1) { if (|a[j]| > 0) a[j] => q; a[i] => q; }");
    proved("if (|a[i]| > 0) { if (|q| > 0) q => a[j]; a[i] => q; }");
    proved("t => a[i]; a[i] => q;");
    guarded("t => a[i]; a[j] => q;");
}

#[test]
fn an_element_of_variables_remembers_a_number_of_threads() {
    proved("at[0] = |q|; if (at[0] > 0) q => a[1];");
    // It may be another one that was assigned.
    guarded("at[i] = |q|; if (at[0] > 0) q => a[1];");
    guarded("at[0] = |q|; at[i] = j; if (at[0] > 0) q => a[1];");
}

#[test]
fn slots_of_arrays_are_empty_when_tested() {
    proved("if (|s[i]| == 0) t => s[i];");
    proved("if (|s[1]| == 0) t => s[1];");
    proved("if (|s| == 0) t => s[i];");
    guarded("t => s[i];");
    guarded("if (|s[i]| == 0) { t => s[j]; if (|q| > 0) q => s[i]; }");
    guarded("if (|s[i]| == 0) { i = 1 - i; t => s[i]; }");
    proved("if (|s[i]| == 0) { t => s[i]; s[i] => q; }");
}

#[test]
fn an_array_as_a_whole_is_a_source() {
    proved("if (|a| > 0) a => q;");
    proved("if (!empty(a)) a => q;");
    proved("if (|a[i]| > 0) a => q;");
    proved("if (t in a) a => q;");
    proved("if (t in a[i]) a[i] => q;");
    proved("t => a[i]; a => q;");
    proved("if (|a| > 0) { if (|a[0]| == 0 && |a[1]| == 0) a[2] => q; }");
    proved("while (|a| > 0) a => q;");
    proved("if (|a[1]| > 0) { a => a[i]; a => q; }");
    guarded("a => q;");
    guarded("if (|a| > 0) { a => q; a => q; }");
    guarded("if (|a| > 0) a[0] => q;");
    guarded("if (|a[1]| > 0) { a => q; a[1] => q; }");
    proved("if (|a[0]| > 0 && |a[1]| > 0) { a => q; a[1] => q; }");
    guarded("if (!(t in a[i])) a => q;");
    guarded("if (t in a) { t => q; a => q; }");
}
