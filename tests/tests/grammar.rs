//! The grammar that `catapults grammar` prints and the parser are one language: programs made from the grammar are parsed,
//! what is parsed is of the grammar, and of texts that are nearly programs both say the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use catapults_compiler::compile;
use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::framework::{self, Framework, covers};
use catapults_compiler::hierarchy;
use catapults_compiler::scenario;
use catapults_compiler::source::Source;
use catapults_compiler::syntax::ast::HandlerKind;
use catapults_compiler::syntax::grammar::{Form, Grammar, is_lexical};
use catapults_compiler::syntax::{Feature, parse};
use catapults_tests::choices::Choices;
use catapults_tests::examples::{documents, examples};
use catapults_tests::grammar::generator::Generator;
use catapults_tests::grammar::recogniser::{Verdict, recognise};
use catapults_tests::repository::below;
use catapults_tests::{framework_at, framework_for, policies, processor_time, root};
use proptest::prelude::*;
use proptest::sample::Index;

/// A framework, and the grammar that is printed for it, read back.
struct Language {
    framework: Framework,
    grammar: Grammar,
}

impl Language {
    fn of(framework: Framework) -> Self {
        let grammar = Grammar::read(&framework.grammar().to_string()).unwrap();
        Language { framework, grammar }
    }

    /// Why the parser refuses a text. Events and queries that the framework has not are no syntax of its policies.
    fn refused(&self, text: &str) -> Option<String> {
        let source = Source::from_bytes("text.sched", text.as_bytes().to_vec()).unwrap();
        let mut diagnostics = Diagnostics::new();
        let tree = parse(&source, &self.framework.dialect, &mut diagnostics);
        if diagnostics.iter().any(|diagnostic| diagnostic.code.starts_with("E01")) {
            return Some(diagnostics.render(&source, false));
        }
        let events: Vec<&str> =
            self.framework.events.iter().chain(&self.framework.unraised).map(|event| event.name.as_str()).collect();
        let queries: Vec<&str> = self.framework.queries.iter().map(|query| query.name.as_str()).collect();
        let mut named = tree.handlers.iter().flat_map(|handler| handler.names.iter().map(|name| (handler.kind, name)));
        let unknown = named.find(|(kind, written)| {
            let known = if *kind == HandlerKind::Event { &events } else { &queries };
            let timed = *kind == HandlerKind::Event && self.of_a_timer(&written.text);
            !timed && !known.iter().any(|name| covers(&written.text, name))
        });
        unknown.map(|(kind, name)| format!("there is no {kind:?} `{}`", name.text))
    }

    /// Whether a policy could have the timer whose event this is.
    fn of_a_timer(&self, event: &str) -> bool {
        let Some(family) = &self.framework.timer else { return false };
        let Some(timer) = event.strip_prefix(&format!("{}.", family.name)) else { return false };
        let is_name = || self.refused(&format!("scheduler {timer} {{ }}")).is_none();
        timer == "*" || !timer.contains('.') && is_name()
    }

    /// Both say the same; whether they accept the text.
    fn agree(&self, text: &str) -> Result<bool, String> {
        match (self.refused(text), recognise(&self.grammar, text)) {
            (None, Verdict::Accepted) => Ok(true),
            (Some(_), Verdict::Refused(_)) => Ok(false),
            (Some(why), Verdict::Accepted) => Err(format!("of the grammar, and refused:\n{why}\nin:\n{text}")),
            (None, Verdict::Refused(at)) => {
                Err(format!("parsed, and not of the grammar:\n{}\u{2039}here\u{203a}{}", &text[..at], &text[at..]))
            }
        }
    }

    /// Nothing crashes or hangs in what comes after the parser.
    fn survive(&self, text: &str) {
        let start = processor_time();
        let source = Source::from_bytes("text.sched", text.as_bytes().to_vec()).unwrap();
        let said = match compile(&source, &self.framework) {
            Ok((_, warnings)) => warnings.render(&source, false),
            Err(errors) => errors.render(&source, false),
        };
        assert!(processor_time() - start < Duration::from_secs(20), "{said}\n{text}");
    }
}

/// All dialects there are, and one with everything and one with nothing.
fn languages() -> Vec<Language> {
    let mut paths = Vec::new();
    for folder in ["tests/ui/frameworks", "frameworks"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let inside = path.join(path.file_name().unwrap()).with_extension("framework");
            paths.extend(
                [path, inside].into_iter().filter(|path| path.extension().is_some_and(|end| end == "framework")),
            );
        }
    }
    paths.retain(|path| path.is_file());
    paths.sort();
    assert!(paths.len() >= 2);
    let framework = |path: &PathBuf| framework_at(path.strip_prefix(root()).unwrap().to_str().unwrap());
    paths.iter().map(|path| Language::of(framework(path))).collect()
}

/// So many programs are made of each grammar, and more until all of it has been used.
const ENOUGH: usize = 1500;

/// Programs of the grammar are parsed, and together they use all that the grammar has.
#[test]
fn what_the_grammar_makes_is_parsed() {
    for language in languages() {
        let generator = Generator::new(&language.grammar);
        let mut random = fastrand::Rng::with_seed(7);
        let (all, mut used) = (generator.ways(), BTreeSet::new());
        for round in 0.. {
            let unused = || all.iter().filter(|(way, _)| !used.contains(*way)).map(|(_, what)| what);
            if round >= ENOUGH && unused().next().is_none() {
                break;
            }
            let name = &language.framework.name;
            assert!(round < 150 * ENOUGH, "{name}: never made: {:#?}", unused().collect::<Vec<_>>());
            let bytes: Vec<u8> = (0..random.usize(0..600)).map(|_| random.u8(..)).collect();
            let mut choices = Choices::new(&bytes);
            let before = used.len();
            let tokens = generator.tokens(&mut choices, &mut used);
            // In the end only those count that have something new.
            if round >= ENOUGH && used.len() == before {
                continue;
            }
            let bytes: Vec<u8> = (0..tokens.len()).map(|_| random.u8(..)).collect();
            let text = generator.text(&tokens, &mut Choices::new(&bytes));
            assert_eq!(language.refused(&text), None, "{text}");
            assert_eq!(recognise(&language.grammar, &text), Verdict::Accepted, "{text}");
        }
    }
}

/// Everything in the repository that is, or nearly is, a policy.
#[test]
fn the_repository_is_of_the_grammar() {
    // Recognition of what is nested deeply needs a large stack.
    let reader = std::thread::Builder::new().stack_size(256 << 20).spawn(compare_the_repository).unwrap();
    reader.join().unwrap();
}

fn compare_the_repository() {
    let mut texts: Vec<(String, Vec<u8>)> = Vec::new();
    for folder in ["policies", "tests/run", "tests/ui", "tests/figures"] {
        let policies = below(&[folder], "sched").into_iter();
        texts.extend(policies.map(|path| (path.display().to_string(), fs::read(&path).unwrap())));
    }
    for document in documents() {
        let policies = examples(&document).into_iter().filter(|example| example.language == "sched");
        texts.extend(policies.map(|example| (format!("{}:{}", document.display(), example.line), example.completed())));
    }
    let (mut accepted, mut refused) = (0, 0);
    for (name, bytes) in texts {
        // What is no text, is too long or is nested too deeply is no matter of the grammar.
        let Ok(source) = Source::from_bytes("text.sched", bytes) else { continue };
        let language = Language::of(framework_for(&source));
        if language.refused(&source.text).is_some_and(|why| why.contains("[E0106]") || why.contains("[E0105]")) {
            continue;
        }
        match language.agree(&source.text) {
            Ok(true) => accepted += 1,
            Ok(false) => refused += 1,
            Err(wrong) => panic!("{name}: {wrong}"),
        }
    }
    assert!(accepted > 150 && refused > 20, "{accepted} {refused}");
}

/// The grammars in the references of the languages: `UPDATE=1 cargo test -p catapults-tests --test grammar`.
#[test]
fn the_references_show_the_grammars() {
    for (name, grammar) in [
        ("docs/language.md", catapults_tests::native().grammar()),
        ("docs/hierarchies.md", hierarchy::grammar(&catapults_tests::native().dialect)),
        ("docs/scenarios.md", scenario::grammar()),
        ("docs/frameworks.md", framework::grammar()),
    ] {
        let document = fs::read_to_string(root().join(name)).unwrap();
        let (before, rest) = document.split_once("```ebnf\n").unwrap();
        let (_, after) = rest.split_once("```").unwrap();
        let current = format!("{before}```ebnf\n{grammar}```{after}");
        if std::env::var_os("UPDATE").is_some() {
            fs::write(root().join(name), &current).unwrap();
        } else {
            assert!(
                document == current,
                "{name} is out of date; UPDATE=1 cargo test -p catapults-tests --test grammar"
            );
        }
    }
}

/// What the grammar has is explained in the reference: each of its words and signs stands there.
#[test]
fn the_reference_speaks_of_all_words() {
    let document = fs::read_to_string(root().join("docs/language.md")).unwrap();
    let nodes = fs::read_to_string(root().join("docs/nodes.md")).unwrap();
    let reference = format!("{}{nodes}", document.split_once("\n## Grammar\n").unwrap().0);
    let mut native = catapults_tests::native();
    (native.events, native.queries, native.unraised) = (Vec::new(), Vec::new(), Vec::new());
    native.dialect.features = Feature::ALL.into();
    let words: BTreeSet<&str> = reference.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let mut missing = BTreeSet::new();
    for production in native.grammar().productions().filter(|production| !is_lexical(&production.name)) {
        production.form.each(&mut |form| match form {
            Form::Text(text) if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                missing.extend((!words.contains(text.as_str())).then(|| text.clone()));
            }
            Form::Text(text) => missing.extend((!reference.contains(text.as_str())).then(|| text.clone())),
            Form::Characters(_) | Form::Name(_) | Form::Then(_) | Form::Either(_) | Form::Maybe(_) => {}
            Form::Many(_) | Form::OneOrMore(_) | Form::Without(..) | Form::Only(..) => {}
        });
    }
    assert!(missing.is_empty(), "docs/language.md and docs/nodes.md say nothing of {missing:?}");
}

/// Parse functions say in a comment which productions they read; the productions themselves stand in one place.
#[test]
fn every_production_is_named_by_a_parse_function() {
    let mut native = catapults_tests::native();
    native.dialect.features = Feature::ALL.into();
    assert_eq!(named_in(&["compiler/src/syntax"]), productions(&native.grammar()));
    for (grammar, folder) in [
        (framework::grammar(), "compiler/src/framework"),
        (hierarchy::grammar(&native.dialect), "compiler/src/hierarchy"),
        (scenario::grammar(), "compiler/src/scenario"),
    ] {
        let all = productions(&native.grammar()).union(&productions(&grammar)).cloned().collect();
        assert_eq!(named_in(&["compiler/src/syntax", folder]), all);
    }
}

fn productions(grammar: &Grammar) -> BTreeSet<String> {
    grammar.productions().map(|production| production.name.clone()).filter(|name| !is_lexical(name)).collect()
}

/// The productions that are named in comments of the sources in some folders.
fn named_in(folders: &[&str]) -> BTreeSet<String> {
    let text = written(folders, "rs").concat();
    let comments = text.lines().filter_map(|line| line.trim().strip_prefix("// Production")?.split_once(": "));
    comments.flat_map(|(_, names)| names.trim_end_matches('.').split(", ").map(str::to_owned)).collect()
}

/// Whether a text is no framework description, by its syntax; `None`: other mistakes keep the reader from saying so.
fn description_refused(text: &str) -> Option<bool> {
    let source = Source::from_bytes("text.framework", text.as_bytes().to_vec()).unwrap();
    let Err(errors) = framework::read(&source) else { return Some(false) };
    let is_syntax = |one: &Diagnostic| {
        one.code == "E0201" || one.code.starts_with("E01") || one.title.starts_with("a default handler can only")
    };
    if errors.iter().next().is_some_and(is_syntax) {
        return Some(true);
    }
    // Names, values and repetitions are judged while the text is read, and what follows them is passed.
    (!errors.iter().any(is_syntax) && !errors.iter().any(|one| ["E0202", "E0203", "E0205"].contains(&one.code)))
        .then_some(false)
}

/// Descriptions, likewise: those of the repository, and those that the grammar makes, with and without changes.
#[test]
fn descriptions_are_of_their_grammar() {
    let grammar = Grammar::read(&framework::grammar().to_string()).unwrap();
    let folders = ["frameworks/native", "tests/ui"];
    are_of(&grammar, written(&folders, "framework"), 100, description_refused);
}

/// Hierarchies, likewise.
#[test]
fn hierarchies_are_of_their_grammar() {
    let native = catapults_tests::native();
    let grammar = Grammar::read(&hierarchy::grammar(&native.dialect).to_string()).unwrap();
    let refused = |text: &str| {
        let source = Source::from_bytes("text.hierarchy", text.as_bytes().to_vec()).unwrap();
        let mut diagnostics = Diagnostics::new();
        hierarchy::read(&source, &native, &mut diagnostics);
        Some(diagnostics.has_errors())
    };
    let mut texts = written(&["policies", "tests/ui"], "hierarchy");
    // That is said of a framework without hierarchies.
    texts.retain(|text| !text.starts_with("// framework: plain"));
    are_of(&grammar, texts, 700, refused);
}

/// Scenarios, likewise.
#[test]
fn scenarios_are_of_their_grammar() {
    let grammar = Grammar::read(&scenario::grammar().to_string()).unwrap();
    let refused = |text: &str| {
        let source = Source::from_bytes("text.scenario", text.as_bytes().to_vec()).unwrap();
        let mut diagnostics = Diagnostics::new();
        scenario::read(&source, &mut diagnostics);
        Some(diagnostics.has_errors())
    };
    are_of(&grammar, written(&["policies", "tests/ui"], "scenario"), 700, refused);
}

/// The texts of the files in some folders.
fn written(folders: &[&str], ending: &str) -> Vec<String> {
    below(folders, ending).into_iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// A reader and the grammar say the same of these texts, and of those that the grammar makes, with and without changes.
fn are_of(grammar: &Grammar, mut texts: Vec<String>, least: usize, is_refused: impl Fn(&str) -> Option<bool>) {
    let generator = Generator::new(grammar);
    let (words, mut random) = (generator.words(), fastrand::Rng::with_seed(3));
    for turn in 0..2000 {
        let bytes: Vec<u8> = (0..random.usize(0..300)).map(|_| random.u8(..)).collect();
        let mut tokens = generator.tokens(&mut Choices::new(&bytes), &mut BTreeSet::new());
        if turn % 2 == 0 {
            let at = random.usize(0..tokens.len());
            match random.usize(0..4) {
                0 => drop(tokens.remove(at)),
                1 => tokens.insert(at, words[random.usize(0..words.len())].clone()),
                2 => tokens[at] = words[random.usize(0..words.len())].clone(),
                _ => tokens.truncate(at),
            }
        }
        texts.push(tokens.join(" "));
    }
    let (mut accepted, mut refused) = (0, 0);
    for text in texts {
        let Some(is_refused) = is_refused(&text) else { continue };
        let verdict = recognise(grammar, &text);
        assert_eq!(verdict != Verdict::Accepted, is_refused, "{verdict:?}\n{text}");
        *(if is_refused { &mut refused } else { &mut accepted }) += 1;
    }
    assert!(accepted > least && refused > 200, "{accepted} {refused}");
}

#[test]
fn random_policies_are_of_the_grammar() {
    let language = Language::of(catapults_tests::native());
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..200 {
        let bytes: Vec<u8> = (0..200).map(|_| random.u8(..)).collect();
        assert_eq!(language.agree(&policies::random(&bytes)), Ok(true));
    }
}

/// A change of a program.
#[derive(Clone, Debug)]
enum Change {
    /// Tokens are removed, doubled, swapped with the next one, replaced, added, or all that follow are removed.
    Delete(Index),
    Double(Index),
    Swap(Index),
    Replace(Index, Index),
    Insert(Index, Index),
    Truncate(Index),
    /// Characters, likewise.
    Erase(Index),
    Write(Index, char),
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let any_index = any::<Index>;
    let characters: Vec<char> = "|*/\"\\\n 0x1.=>-+&!_a;{}()[],:é?".chars().collect();
    prop_oneof![
        any_index().prop_map(Change::Delete),
        any_index().prop_map(Change::Double),
        any_index().prop_map(Change::Swap),
        (any_index(), any_index()).prop_map(|(at, what)| Change::Replace(at, what)),
        (any_index(), any_index()).prop_map(|(at, what)| Change::Insert(at, what)),
        any_index().prop_map(Change::Truncate),
        any_index().prop_map(Change::Erase),
        (any_index(), prop::sample::select(characters)).prop_map(|(at, what)| Change::Write(at, what)),
        any_index().prop_map(Change::Cut),
    ]
}

fn changed(mut tokens: Vec<String>, words: &[String], changes: &[Change]) -> String {
    for change in changes {
        let place = |at: &Index| at.index(tokens.len().max(1)).min(tokens.len().saturating_sub(1));
        let word = |what: &Index| words[what.index(words.len())].clone();
        match change {
            _ if tokens.is_empty() => {}
            Change::Delete(at) => drop(tokens.remove(place(at))),
            Change::Double(at) => tokens.insert(place(at), tokens[place(at)].clone()),
            Change::Swap(at) => {
                let at = place(at);
                let next = (at + 1).min(tokens.len() - 1);
                tokens.swap(at, next);
            }
            Change::Replace(at, what) => {
                let at = place(at);
                tokens[at] = word(what);
            }
            Change::Insert(at, what) => tokens.insert(place(at), word(what)),
            Change::Truncate(at) => tokens.truncate(place(at)),
            Change::Erase(_) | Change::Write(..) | Change::Cut(_) => {}
        }
    }
    let mut text: Vec<char> = tokens.join(" ").chars().collect();
    for change in changes {
        match change {
            Change::Erase(at) if !text.is_empty() => drop(text.remove(at.index(text.len()))),
            Change::Write(at, what) => text.insert(at.index(text.len() + 1), *what),
            Change::Cut(at) => text.truncate(at.index(text.len() + 1)),
            Change::Erase(_) | Change::Delete(_) | Change::Double(_) | Change::Swap(_) => {}
            Change::Replace(..) | Change::Insert(..) | Change::Truncate(_) => {}
        }
    }
    text.into_iter().collect()
}

proptest! {
    // `PROPTEST_CASES=10000` makes 120,000.
    #![proptest_config(ProptestConfig {
        cases: 12 * ProptestConfig::default().cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// The parser and the grammar agree on programs that are slightly wrong.
    #[test]
    fn of_changed_programs_both_say_the_same(
        which in any::<Index>(),
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        changes in prop::collection::vec(change(), 0..3),
    ) {
        LANGUAGES.with(|languages| {
            let (language, generator) = &languages[which.index(languages.len())];
            let tokens = generator.tokens(&mut Choices::new(&bytes), &mut BTreeSet::new());
            let text = changed(tokens, &generator.words(), &changes);
            if let Err(wrong) = language.agree(&text) {
                panic!("{wrong}");
            }
            language.survive(&text);
        });
    }
}

thread_local! {
    /// They are needed as long as the tests run.
    static LANGUAGES: Vec<(&'static Language, Generator<'static>)> = languages()
        .into_iter()
        .map(|language| Box::leak(Box::new(language)) as &'static Language)
        .map(|language| (language, Generator::new(&language.grammar)))
        .collect();
}
