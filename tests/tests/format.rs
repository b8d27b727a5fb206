//! Formatting keeps the meaning and the comments of whatever can be read, and formatting again changes nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::format::{Unformatted, WIDTH, format};
use catapults_compiler::framework;
use catapults_compiler::hierarchy;
use catapults_compiler::scenario;
use catapults_compiler::source::Source;
use catapults_compiler::syntax::grammar::Grammar;
use catapults_compiler::syntax::{self, Dialect};
use catapults_tests::choices::Choices;
use catapults_tests::grammar::generator::Generator;
use catapults_tests::repository::below;
use catapults_tests::{native, policies, processor_time, root, shipped_policies};
use proptest::prelude::*;
use proptest::sample::Index;

/// The text of a policy, a hierarchy or a framework description, formatted; `None` if it cannot be read. Everything that is promised of it is
/// tested here.
fn judged(text: &str) -> Option<String> {
    let source = Source::new("x.sched", text);
    let formatted = match format(&source) {
        Ok(formatted) => formatted,
        Err(Unformatted::Refused(diagnostics)) => {
            assert!(diagnostics.has_errors());
            assert!(tree(text).is_none(), "refused, and it can be read:\n{text}");
            return None;
        }
        Err(Unformatted::Mistake) => panic!("formatting would change the meaning:\n{text}"),
    };
    assert_eq!(tree(text), tree(&formatted), "another meaning:\n{text}\nbecame\n{formatted}");
    assert_eq!(comments(text), comments(&formatted), "other comments:\n{text}\nbecame\n{formatted}");
    match format(&Source::new("x.sched", formatted.as_str())) {
        Ok(again) => assert_eq!(formatted, again, "formatting again changes something, of\n{text}"),
        Err(why) => panic!("{why:?}, of\n{formatted}"),
    }
    assert!(formatted.ends_with('\n') && !formatted.ends_with("\n\n") && !formatted.starts_with('\n'), "{formatted}");
    let as_it_is = text.contains("/*") || text.contains("verbatim");
    assert!(as_it_is || !formatted.contains("\n\n\n"), "{formatted}");
    Some(formatted)
}

/// What the text says, without its places; `None` if there are errors, which a description that can be formatted may have.
fn tree(text: &str) -> Option<String> {
    let source = Source::new("x.sched", text);
    let first = syntax::tokens(text).next().map(|at| &text[at.start as usize..at.end as usize]);
    if first == Some("framework") {
        return framework::read(&source).ok().map(|framework| without_places(&format!("{framework:?}")));
    }
    let mut diagnostics = Diagnostics::new();
    if first == Some("hierarchy") {
        let draft = hierarchy::read(&source, &native(), &mut diagnostics);
        return (!diagnostics.has_errors()).then(|| without_places(&format!("{draft:?}")));
    }
    if first == Some("scenario") {
        let drafts = scenario::read(&source, &mut diagnostics);
        return (!diagnostics.has_errors()).then(|| without_places(&format!("{drafts:?}")));
    }
    let tree = syntax::parse(&source, &Dialect::of_everything(), &mut diagnostics);
    (!diagnostics.has_errors()).then(|| without_places(&format!("{tree:?}")))
}

fn without_places(written: &str) -> String {
    let mut parts = written.split("At {");
    let mut without = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (place, rest) = part.split_once('}').unwrap();
        assert!(place.contains("line: "), "{place}");
        without.push_str(rest);
    }
    without
}

/// The words of all comments, those in verbatim text too: there are strings in both quotes, which end on their line.
fn comments(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(['"', '\'', '/']) {
        rest = &rest[start..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(inside) = rest.strip_prefix("/*") {
            inside.find("*/").map_or(rest.len(), |length| length + 4)
        } else {
            rest = &rest[quoted(rest).unwrap_or(1)..];
            continue;
        };
        found.push(rest[..length].split_whitespace().collect::<Vec<_>>().join(" "));
        rest = &rest[length..];
    }
    found
}

/// The length of the string that a text starts with. A quote that is not closed on its line, or the next where it is escaped, starts none.
fn quoted(text: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    let quote = characters.next().filter(|(_, first)| matches!(first, '"' | '\''))?.1;
    let mut escaped = false;
    for (at, character) in characters {
        match character {
            _ if escaped => escaped = false,
            '\n' => return None,
            '\\' => escaped = true,
            _ if character == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Every policy, hierarchy and framework description of the repository, and every example of its documents.
fn corpus() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    let folders = ["policies", "tests/run", "tests/ui", "tests/figures", "docs", "frameworks"];
    for ending in ["sched", "hierarchy", "scenario", "framework", "md"] {
        for path in below(&folders, ending) {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            if ending == "md" {
                texts.extend(examples(&text).into_iter().map(|example| (name.clone(), example)));
            } else {
                texts.push((name, text));
            }
        }
    }
    texts.sort();
    texts
}

/// What stands between ```` ```sched ```` and ```` ``` ````, as a scheduler.
fn examples(document: &str) -> Vec<String> {
    let blocks = document.split("```sched").skip(1).filter_map(|rest| rest.split("```").next());
    let inside = blocks.filter_map(|block| block.split_once('\n')).map(|(_, inside)| inside);
    inside
        .map(|text| match text.contains("scheduler ") {
            true => text.to_owned(),
            false => format!("scheduler example {{\n{text}}}\n"),
        })
        .collect()
}

/// Tokens with white space and comments between any two of them.
fn scattered<'a>(tokens: impl Iterator<Item = &'a str>, bytes: &[u8]) -> String {
    let mut choices = Choices::new(bytes);
    let mut out = String::new();
    for token in tokens {
        match choices.chance(40) {
            true => out.push_str(MARKS[choices.below(MARKS.len())]),
            false => out.push(' '),
        }
        out.push_str(token);
    }
    out
}

/// The tokens of a text. Two bars that stand side by side are an operator.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens: Vec<(usize, &str)> = Vec::new();
    for at in syntax::tokens(text) {
        let (start, end) = (at.start as usize, at.end as usize);
        match tokens.last_mut() {
            Some((first, bar)) if *bar == "|" && &text[start..end] == "|" && *first + 1 == start => {
                *bar = &text[*first..end];
            }
            Some(_) | None => tokens.push((start, &text[start..end])),
        }
    }
    tokens.into_iter().map(|(_, token)| token).collect()
}

/// White space and comments.
const MARKS: [&str; 14] = [
    " // a comment\n",
    "\n// a comment\n",
    "\n\n\n// a comment\n  // another\n",
    " /* inline */ ",
    "\n/* a line */\n",
    "\n  /* of two\n     lines */ ",
    " /* of\n * two\n */\n",
    "\n",
    "\r\n",
    "\n\n\n",
    "\t",
    "   ",
    " /**/ // é\u{2003}\n",
    " //\n",
];

/// The text with other white space, and with comments, where white space is or may be.
fn sprinkled(text: &str, bytes: &[u8]) -> String {
    let mut choices = Choices::new(bytes);
    let (mut out, mut string) = (String::new(), false);
    for character in text.chars() {
        string ^= character == '"';
        let mark = |choices: &mut Choices| MARKS[choices.below(MARKS.len())];
        if !string && character.is_whitespace() {
            let other = if choices.chance(12) { mark(&mut choices) } else { " " };
            out.push_str(if character == '\n' && choices.chance(50) { "\n" } else { other });
        } else {
            if !string
                && "{};(),=".contains(character)
                && choices.chance(5)
                && !out.ends_with(['=', '!', '<', '>', '+', '-', '*', '/', '%'])
            {
                out.push_str(mark(&mut choices));
            }
            out.push(character);
        }
    }
    out
}

#[test]
fn keeps_all_policies_and_examples() {
    let formatted = corpus().iter().filter(|(_, text)| judged(text).is_some()).count();
    assert!(formatted > 60, "only {formatted} can be read");
}

#[test]
fn what_is_shipped_is_formatted() {
    let others = corpus().into_iter().filter(|(name, _)| {
        name.starts_with("frameworks/") && !name.ends_with(".md")
            || name.starts_with("policies/") && (name.ends_with(".hierarchy") || name.ends_with(".scenario"))
    });
    let policies = shipped_policies().into_iter().map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        (path.display().to_string(), text)
    });
    for (name, text) in policies.chain(others) {
        assert_eq!(judged(&text).unwrap(), text, "{name}: run `make format`");
    }
}

#[test]
fn line_ends_and_a_byte_order_mark_make_no_difference() {
    for path in shipped_policies() {
        let text = fs::read_to_string(&path).unwrap();
        let other = format!("\u{feff}{}", text.trim_end().replace('\n', "\r\n"));
        assert_eq!(judged(&other).unwrap(), text);
    }
}

#[test]
fn no_line_is_longer_than_it_must_be() {
    for (name, text) in corpus() {
        let Some(formatted) = judged(&text) else { continue };
        for line in formatted.lines().filter(|line| !line.contains("//") && !line.contains('"')) {
            // Some cases are nested so deeply that nothing fits.
            let deep = line.starts_with(&" ".repeat(80));
            assert!(deep || line.chars().count() <= WIDTH, "{name}: {line}");
        }
    }
}

#[test]
fn a_long_policy_takes_no_long_time() {
    let many = "event block.io.read(t) { if (t.a == 1 || t.b == 2) { t => ready; } else foreach x in ready x => c; } ";
    let on_one_line = format!("scheduler x {{ {} }}", many.repeat(4_000));
    let start = processor_time();
    let source = Source::new("x.sched", on_one_line);
    assert!(format(&source).is_ok());
    let names = Source::new("x.sched", format!("scheduler x {{ event a{} {{ }} }}", ".a".repeat(200_000)));
    assert!(format(&names).is_ok());
    let taken = processor_time() - start;
    assert!(taken.as_secs() < 60, "{taken:?}");
}

/// How many random texts of each kind; `PROPTEST_CASES` says otherwise.
fn cases() -> u32 {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    if asked { ProptestConfig::default().cases } else { 200 }
}

/// What the grammar of policies makes, that of hierarchies, or that of descriptions.
fn made(grammar: &Grammar, bytes: &[u8]) -> Vec<String> {
    let grammar = Grammar::read(&grammar.to_string()).unwrap();
    Generator::new(&grammar).tokens(&mut Choices::new(bytes), &mut BTreeSet::new())
}

/// What is refused of a policy are values of reasons.
fn reasons_alone_are_wrong(text: &str) -> bool {
    let mut diagnostics = Diagnostics::new();
    let _ = syntax::parse(&Source::new("x.sched", text), &Dialect::of_everything(), &mut diagnostics);
    diagnostics.iter().all(|diagnostic| diagnostic.code == "E0334")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keeps_random_policies(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        assert!(judged(&policies::random(&bytes)).is_some());
    }

    #[test]
    fn keeps_random_policies_with_comments_anywhere(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        more in prop::collection::vec(any::<u8>(), 0..2000),
    ) {
        assert!(judged(&sprinkled(&policies::random(&bytes), &more)).is_some());
    }

    #[test]
    fn keeps_random_policies_with_comments_between_all_tokens(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        more in prop::collection::vec(any::<u8>(), 0..4000),
    ) {
        let text = policies::random(&bytes);
        assert!(judged(&scattered(tokens(&text).into_iter(), &more)).is_some());
    }

    #[test]
    fn keeps_what_the_grammar_makes_with_comments_between_all_tokens(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        more in prop::collection::vec(any::<u8>(), 0..4000),
    ) {
        let grammar = native().grammar();
        let text = scattered(made(&grammar, &bytes).iter().map(String::as_str), &more);
        // No grammar says that all alternatives of a verbatim value have one type, and this one not that values of reasons are expressions.
        assert!(judged(&text).is_some() || text.contains("verbatim") || reasons_alone_are_wrong(&text), "refused:\n{text}");
    }

    #[test]
    fn keeps_descriptions_with_comments_between_all_tokens(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        more in prop::collection::vec(any::<u8>(), 0..4000),
    ) {
        judged(&scattered(made(&framework::grammar(), &bytes).iter().map(String::as_str), &more));
    }

    #[test]
    fn keeps_scenarios_with_comments_between_all_tokens(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        more in prop::collection::vec(any::<u8>(), 0..4000),
    ) {
        let text = scattered(made(&scenario::grammar(), &bytes).iter().map(String::as_str), &more);
        assert!(judged(&text).is_some() || text.contains("verbatim"), "refused:\n{text}");
    }

    #[test]
    fn keeps_hierarchies_with_comments_between_all_tokens(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        more in prop::collection::vec(any::<u8>(), 0..4000),
    ) {
        let grammar = hierarchy::grammar(&native().dialect);
        let text = scattered(made(&grammar, &bytes).iter().map(String::as_str), &more);
        assert!(judged(&text).is_some() || text.contains("verbatim"), "refused:\n{text}");
    }

    #[test]
    fn keeps_written_policies_with_comments_anywhere(
        which in any::<Index>(),
        more in prop::collection::vec(any::<u8>(), 0..4000),
    ) {
        let texts = corpus();
        let (_, text) = which.get(&texts);
        let without: String = text.lines().filter(|line| !line.contains("//")).map(|line| format!("{line}\n")).collect();
        judged(&sprinkled(&without, &more));
    }

    #[test]
    fn survives_what_is_broken(which in any::<Index>(), cuts in prop::collection::vec((any::<Index>(), 0..30_usize), 0..4)) {
        let texts = corpus();
        let mut characters: Vec<char> = which.get(&texts).1.chars().collect();
        for (at, length) in cuts {
            let at = at.index(characters.len() + 1);
            characters.drain(at..(at + length).min(characters.len()));
        }
        judged(&characters.into_iter().collect::<String>());
    }
}

#[test]
fn the_readers_of_this_file_read_right() {
    assert_eq!(comments("a // b  c\n \"/* no \\\" */\" / /* d\n e */ \"//\" //f"), ["// b c", "/* d e */", "//f"]);
    assert!(tree("scheduler x { }").unwrap().contains("Scheduler"));
    assert!(Path::new("x").is_relative());
}
