//! Examples of formatted texts.

use super::*;

fn formatted(text: &str) -> String {
    match format(&Source::new("x.sched", text)) {
        Ok(formatted) => formatted,
        Err(why) => format!("{why:?}"),
    }
}

/// Formatting makes `expected` of the text, and keeps that.
fn becomes(text: &str, expected: &str) {
    assert_eq!(formatted(text), expected);
    assert_eq!(formatted(expected), expected);
}

/// As `becomes`, for the inside of a scheduler.
fn inside(text: &str, expected: &str) {
    let indented: String =
        expected.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect();
    becomes(&format!("scheduler x {{\n{text}\n}}"), &format!("scheduler x {{\n{indented}}}\n"));
}

#[test]
fn spaces_and_indentation() {
    becomes("scheduler   x{thread{int a;}}", "scheduler x {\n  thread { int a; }\n}\n");
    becomes("\n\n\nscheduler x{\n\n}\n\n", "scheduler x { }\n");
    inside(
        "event\tblock.io . *( t ){\nx=-1- -y*( a+b )%!c ;++x;x ++;f( a,|c|)\n;}",
        "event block.io.*(t) {\n  x = -1 - -y * (a + b) % !c; ++x; x++; f(a, |c|);\n}",
    );
    inside("event a ,b . c,d.*( t ) { }\nevent e { }", "event a, b.c, d.*(t) { }\nevent e              { }");
    inside("data{pqueue q   reverse sortable on a,b:READY;}", "data { pqueue q reverse sortable on a, b : READY; }");
    inside("event e { for( ;; ){ x ++; }\n}", "event e {\n  for (;;) { x++; }\n}");
}

#[test]
fn bars() {
    inside(
        "event e { if (|a|>0||| b |<2||t in c)\nx=|a|; }",
        "event e {\n  if (|a| > 0 || |b| < 2 || t in c)\n    x = |a|;\n}",
    );
}

#[test]
fn blocks_stand_on_one_line_if_they_did() {
    inside("event e {\nx => y; }", "event e {\n  x => y;\n}");
    inside("event e {\n\n}\nevent long(t) { }", "event e       { }\nevent long(t) { }");
    inside(
        "event e { if (a) { x => y; } else { z => y; } }\nquery q(t) { return 1; }\nquery long(t) { return 1; }",
        "event e { if (a) { x => y; } else { z => y; } }\nquery q(t)    { return 1; }\nquery long(t) { return 1; }",
    );
    inside(
        "event e {\nif (a) { x => y; }\nelse { z => y; }\n}",
        "event e {\n  if (a) {\n    x => y;\n  } else {\n    z => y;\n  }\n}",
    );
    inside("event e {\nif (a) x => y;\nelse\nz => y; }", "event e {\n  if (a) x => y;\n  else\n    z => y;\n}");
}

#[test]
fn lines_between_statements_are_the_authors_but_for_one() {
    inside("event e {\n\n\na++; b++;\n\n\n\nc++;\n\n}", "event e {\n  a++; b++;\n\n  c++;\n}");
}

#[test]
fn comments_stay_where_they_stand() {
    inside(
        "// one\n\n\n  // two\nthread { // three\nint a;// four\n/* five */ int b; /* six */ int c;\n// seven\n}\n// eight",
        "// one\n\n// two\nthread { // three\n  int a; // four\n  /* five */ int b; /* six */ int c;\n  // seven\n}\n// eight",
    );
    inside(
        "event e {\nif (a) // one\nx++;\n// two\nelse // three\n{ y++; } // four\n}",
        "event e {\n  if (a) // one\n    x++;\n  // two\n  else // three\n  {\n    y++;\n  } // four\n}",
    );
    inside("data { int a, // one\nb; // two\n}", "data {\n  int a, // one\n      b; // two\n}");
    becomes(
        "scheduler x {\n/* a\n    * b\n */\n/* c\nd */ }",
        "scheduler x {\n  /* a\n   * b\n   */\n  /* c\nd */\n}\n",
    );
}

#[test]
fn comments_after_code_stay_aligned() {
    inside(
        "data {\nint a;         // one\nint bb;        // two\n               // more\nint c;\nint d;   // three\nint e; // four\n}",
        "data {\n  int a;     // one\n  int bb;    // two\n             // more\n  int c;\n  int d; // three\n  int e; // four\n}",
    );
    // One alone moves to its code, unless the file has others in that column.
    inside("data {\n  int a;     // one\n}", "data {\n  int a; // one\n}");
    inside(
        "data {\n  int a;       // one\n  int b;\n  int c;       // two\n}",
        "data {\n  int a;     // one\n  int b;\n  int c;     // two\n}",
    );
}

#[test]
fn long_lines_are_broken_where_it_hurts_least() {
    let name = "n".repeat(30);
    inside(
        &format!("event e {{ if (({name} > 1 || {name} == {name}) && {name} < 3) x => y; }}"),
        &format!("event e {{\n  if (({name} > 1 || {name} == {name})\n      && {name} < 3)\n    x => y;\n}}"),
    );
    inside(
        &format!("data {{ int {name}, {name}, {name}, {name}; }}"),
        &format!("data {{\n  int {name}, {name}, {name},\n      {name};\n}}"),
    );
}

#[test]
fn verbatim_is_kept() {
    let scanned = |text: &str| scan::scan(text).iter().map(|token| token.text.to_owned()).collect::<Vec<_>>();
    let text = "x = verbatim c int { a  +\n { b } } + 1;";
    assert_eq!(scanned(text), ["x", "=", "verbatim", "c", "int", "{ a  +\n { b } }", "+", "1", ";", ""]);
    let laid_out = |text: &str| layout::lay_out(&scan::scan(text));
    let text =
        "scheduler x {\nevent e {\nx=1;\nverbatim c {\n a( ) ;\n} verbatim d { b( ) }\ny=verbatim c int { c  }+1; } }";
    let expected = "scheduler x {\n  event e {\n    x = 1;\n    verbatim c {\n a( ) ;\n}\n    verbatim d { b( ) }\n    y = verbatim c int { c  } + 1;\n  }\n}\n";
    assert_eq!(laid_out(text), expected);
    assert_eq!(laid_out(expected), expected);
}

#[test]
fn what_stands_for_verbatim_text_is_laid_out() {
    inside(
        "event e {\nverbatim c { puts(\"}\"); /* } */ }else{x=1;}\nverbatim c {a} else verbatim d { b }\nx=verbatim c int {'{'} else 1+2; }",
        "event e {\n  verbatim c { puts(\"}\"); /* } */ } else { x = 1; }\n  verbatim c {a} else verbatim d { b }\n  x = verbatim c int {'{'} else 1 + 2;\n}",
    );
}

#[test]
fn alternatives_stand_beside_one_another_while_they_fit() {
    let long = "a".repeat(60);
    inside(
        &format!("event e {{ verbatim c {{ {long} }} else verbatim d {{ {long} }}\nelse {{ x = 1; }} }}"),
        &format!("event e {{\n  verbatim c {{ {long} }}\n  else verbatim d {{ {long} }} else {{\n    x = 1;\n  }}\n}}"),
    );
    inside(
        "event e {\nverbatim c { a } // one\nelse\nverbatim d { b }\n}",
        "event e {\n  verbatim c { a } // one\n  else verbatim d { b }\n}",
    );
}

#[test]
fn what_is_not_known_yet_is_laid_out_by_its_signs() {
    let laid_out = |text: &str| layout::lay_out(&scan::scan(text));
    let text = "scheduler x {\ndata {\nconst int w[3]={1,2,-3};\nqueue ready[ 5 ]:READY;\ntimer slice;\n}\nevent timeout.*(t) { t.slice=now+10ms*1.5; foreach u in ready[ |a[1]|-1 ] u=>ready[2]; }\n}";
    let expected = "scheduler x {\n  data {\n    const int w[3] = { 1, 2, -3 };\n    queue ready[5] : READY;\n    timer slice;\n  }\n  event timeout.*(t) { t.slice = now + 10ms * 1.5; foreach u in ready[|a[1]| - 1] u => ready[2]; }\n}\n";
    assert_eq!(laid_out(text), expected);
    assert_eq!(laid_out(expected), expected);
}

/// Comments that only the layout puts in one column, or at the end of a line.
#[test]
fn what_is_laid_out_anew_stays() {
    let twice = |text: &str| {
        let once = formatted(text);
        assert_eq!(formatted(&once), once, "of {text}");
    };
    twice("scheduler x {\n  data\n// a\n{ //\n   //\n const /**/ // b\nint K = 2; } }");
    twice("scheduler x { event a(t) { t => b; } /**/ // c\n  event d /* e */  /* f\n * g\n */\n { b => t; } }");
    // A tabulator in text that is kept as it is.
    twice("scheduler x { event a(t) { b = verbatim c int { 1\n/\t2 } else /**/ // c\n1; t => b; /**/ // d\n } }");
}

#[test]
fn descriptions() {
    becomes(
        "framework x{\nabi 1 ;language c;\ncontainer a:READY;\ndialect{loops;time;}\nevent b.c(t){t:NEW->READY|one READY->RUNNING}\
         default{t=>a;}\nevent dd . e(t){some READY,none RUNNING:t:NEW->READY}default like b.c;\n\nquery n:int=count READY,\nRUNNING;\n\
         query long(t):bool=t in READY;\n}",
        "framework x {\n  abi 1; language c;\n  container a : READY;\n  dialect { loops; time; }\n  \
         event b.c(t)  { t: NEW -> READY | one READY -> RUNNING } default { t => a; }\n  \
         event dd.e(t) { some READY, none RUNNING: t: NEW -> READY } default like b.c;\n\n  \
         query n : int        = count READY, RUNNING;\n  query long(t) : bool = t in READY;\n}\n",
    );
    becomes(
        "framework x {\nsequence s{a(b|c.*\nd)*e?\n|f // why\ng}\nbuild s \"x\" {\n\"cc\",\"-a\" unless floats,\n\"-b\"\n,\"-c\"}\n}",
        "framework x {\n  sequence s {\n    a ( b | c.* d )* e?\n    | f // why\n    g\n  }\n  build s \"x\" {\n    \
         \"cc\", \"-a\" unless floats,\n    \"-b\", \"-c\"\n  }\n}\n",
    );
}

#[test]
fn hierarchies() {
    becomes(
        "hierarchy x{const int A=1,B = 2;\nscheduler a:\"b.sched\" ;scheduler c:d under a{e=A+ 1;}\n  with{f=10ms;}\n\
         scheduler g : h with { i = 1; }\nscheduler j : k under a {\nl=1; } with { m=2; }default c;}",
        "hierarchy x {\n  const int A = 1, B = 2;\n  scheduler a : \"b.sched\";\n  scheduler c : d under a {\n    e = A + 1;\n  } \
         with {\n    f = 10ms;\n  }\n  scheduler g : h with { i = 1; }\n  scheduler j : k under a {\n    l = 1;\n  } \
         with {\n    m = 2;\n  }\n  default c;\n}\n",
    );
}
