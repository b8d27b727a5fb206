//! The grammar as data, for people and for tests: exactly what the hand-written parser accepts.
//!
//! The productions are the files `grammar/*.ebnf`, in the EBNF of W3C's XML recommendation. `<loops>` before an
//! alternative means: only in dialects with [`Feature::Loops`]. A change of the parser requires a change of these
//! files; the test `grammar` of the tests package compares the two.

mod notation;

use std::collections::BTreeSet;

use super::lexer::SIGNS;
use super::words::RESERVED;
use super::{Dialect, Feature, parser};
use crate::source::Source;

/// The productions of policies. The very first one is the start symbol.
const POLICIES: [&str; 4] = [
    include_str!("grammar/scheduler.ebnf"),
    include_str!("grammar/statements.ebnf"),
    include_str!("grammar/expressions.ebnf"),
    include_str!("grammar/tokens.ebnf"),
];

/// Productions in capitals are made of characters, all others of tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grammar {
    /// In reading order. The first production is the start symbol.
    pub sections: Vec<Section>,
}

/// Productions that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The comment above them.
    pub comment: String,
    /// In reading order.
    pub productions: Vec<Production>,
}

/// `name ::= form`
#[derive(Clone, Debug, PartialEq)]
pub struct Production {
    /// The name that other productions use for it.
    pub name: String,
    /// What it is made of.
    pub form: Form,
}

/// The right side of a production, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// `"while"`
    Text(String),
    /// `[A-Za-z]`, `[^#xA]`: one character.
    Characters(Characters),
    /// The production of this name.
    Name(String),
    /// `a b`: one after the other. An empty list stands for the empty text.
    Then(Vec<Form>),
    /// `a | b`: any one of these. An empty list stands for no text at all.
    Either(Vec<Form>),
    /// `a?`
    Maybe(Box<Form>),
    /// `a*`
    Many(Box<Form>),
    /// `a+`
    OneOrMore(Box<Form>),
    /// `a - b`: a text of form `a` that is not of form `b`.
    Without(Box<Form>, Box<Form>),
    /// `<loops> a`: exists only in dialects with the feature. [`for_policies`] leaves none.
    Only(Feature, Box<Form>),
}

/// A set of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Characters {
    /// Whether the set is all characters but these.
    pub not: bool,
    /// From the first to the last, both included.
    pub ranges: Vec<(char, char)>,
}

impl Section {
    fn has(&self, name: &str) -> bool {
        self.productions.iter().any(|production| production.name == name)
    }

    fn is_of_expressions(&self) -> bool {
        self.has("expression") || self.has("TOKEN")
    }
}

impl Characters {
    /// Whether the character is one of them.
    pub fn contain(&self, character: char) -> bool {
        self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&character)) != self.not
    }
}

impl Grammar {
    /// The production of this name.
    pub fn production(&self, name: &str) -> Option<&Production> {
        self.productions().find(|production| production.name == name)
    }

    fn insert_after(&mut self, name: &str, production: Production) {
        for section in &mut self.sections {
            if let Some(place) = section.productions.iter().position(|production| production.name == name) {
                section.productions.insert(place + 1, production);
                return;
            }
        }
    }

    /// All productions, in reading order.
    pub fn productions(&self) -> impl Iterator<Item = &Production> {
        self.sections.iter().flat_map(|section| &section.productions)
    }
}

/// The grammar of the policies of a framework with these events and queries. What its dialect lacks is absent.
pub fn for_policies(dialect: &Dialect, events: &[&str], queries: &[&str]) -> Grammar {
    let mut grammar = written();
    let mut names = named("event", "The events and queries of the framework; a family stands for its members", events);
    names.productions.extend(named("query", "", queries).productions);
    let place = grammar.sections.iter().position(|section| section.has("handler"));
    grammar.sections.insert(place.map_or(0, |place| place + 1), names);
    let features: BTreeSet<Feature> = dialect.features.clone();
    specialise(&mut grammar, &features);
    let optional: Vec<&str> = dialect.features.iter().map(|feature| feature.word()).collect();
    let optional = if optional.is_empty() { "none".to_owned() } else { optional.join(", ") };
    let whom =
        format!("Policies for the framework `{}`. Optional parts of the language: {optional}.", dialect.framework);
    complete(grammar, &whom)
}

/// The grammar of framework descriptions. `own`: the productions that policies do not share.
pub(crate) fn for_descriptions(own: &str) -> Grammar {
    let mut grammar = Grammar::read(own).unwrap_or_default();
    grammar.insert_after("item", words("feature", Feature::ALL.map(Feature::word)));
    let policies = written();
    let shared = ["parameters", "type", "class"].iter().filter_map(|name| policies.production(name)).cloned().collect();
    grammar.sections.push(Section { comment: "As in policies".to_owned(), productions: shared });
    grammar.sections.extend(policies.sections.into_iter().filter(|section| section.has("TOKEN")));
    specialise(&mut grammar, &Feature::ALL.into());
    complete(grammar, "Framework descriptions.")
}

/// The grammar of hierarchies for frameworks of a dialect. `own`: the productions that policies do not share.
/// Empty in a dialect without hierarchies.
pub(crate) fn for_hierarchies(own: &str, dialect: &Dialect) -> Grammar {
    if !dialect.features.contains(&Feature::Hierarchies) {
        return Grammar::default();
    }
    let mut grammar = Grammar::read(own).unwrap_or_default();
    let policies = written();
    let shared = policies.production("type").cloned().into_iter().collect();
    grammar.sections.push(Section { comment: "As in policies".to_owned(), productions: shared });
    grammar.sections.extend(policies.sections.into_iter().filter(Section::is_of_expressions));
    specialise(&mut grammar, &known_before(&dialect.features));
    complete(grammar, &format!("Hierarchies of schedulers for the framework `{}`.", dialect.framework))
}

/// The grammar of scenarios. `own`: the productions that policies do not share.
pub(crate) fn for_scenarios(own: &str) -> Grammar {
    let mut grammar = Grammar::read(own).unwrap_or_default();
    let policies = written();
    let shared = policies.production("type").cloned().into_iter().collect();
    grammar.sections.push(Section { comment: "As in policies".to_owned(), productions: shared });
    grammar.sections.extend(policies.sections.into_iter().filter(Section::is_of_expressions));
    specialise(&mut grammar, &known_before(&Feature::ALL.into()));
    complete_up_to(Source::LONGEST_SCENARIOS, grammar, "Scenarios.")
}

/// Of these, what can stand in an expression whose value is known before anything runs.
fn known_before(features: &BTreeSet<Feature>) -> BTreeSet<Feature> {
    features.iter().copied().filter(|feature| *feature != Feature::Verbatim).collect()
}

/// Adds the productions that follow from the others, and the comment at the top.
fn complete(grammar: Grammar, whom: &str) -> Grammar {
    complete_up_to(Source::LONGEST, grammar, whom)
}

/// As `complete`, for files of at most `longest` bytes.
fn complete_up_to(longest: usize, mut grammar: Grammar, whom: &str) -> Grammar {
    let signs = signs(&grammar);
    grammar.insert_after("NAME", words("RESERVED", RESERVED));
    grammar.insert_after("TEXT", words("SIGN", signs));
    grammar.sections.insert(0, about(whom, longest));
    grammar
}

/// All productions of policies, with their features. The unit tests check them.
fn written() -> Grammar {
    let mut grammar = Grammar::default();
    for part in POLICIES {
        grammar.sections.extend(Grammar::read(part).unwrap_or_default().sections);
    }
    grammar
}

/// The comment at the top: what the grammar describes, and how to read it.
fn about(whom: &str, longest: usize) -> Section {
    let (deepest, longest) = (parser::DEEPEST, longest >> 20);
    let comment = format!(
        "{whom}

   The notation is the EBNF of the XML recommendation, https://www.w3.org/TR/xml/#sec-notation:
   a? a* a+ (a | b), a - b is a but no b, [a-z] is a character, [^a-z] any other, #xA the one
   with this code. Names in small letters are made of tokens, names in capitals of characters.
   A file has at most {longest} MiB; blocks and expressions are nested at most {deepest} levels deep."
    );
    Section { comment, productions: Vec::new() }
}

/// A production for these events or queries, and one for their families.
fn named(kind: &str, comment: &str, names: &[&str]) -> Section {
    let mut families: BTreeSet<String> = BTreeSet::new();
    for name in names {
        families.extend(name.match_indices('.').map(|(dot, _)| format!("{}.*", &name[..dot])));
    }
    let family = format!("{kind}_family");
    let mut members: Vec<Form> = names.iter().map(|name| dotted(name)).collect();
    if !families.is_empty() {
        members.push(Form::Name(family.clone()));
    }
    let mut productions = vec![Production { name: kind.to_owned(), form: Form::Either(members) }];
    if !families.is_empty() {
        let families = families.iter().map(|name| dotted(name)).collect();
        productions.push(Production { name: family, form: Form::Either(families) });
    }
    Section { comment: comment.to_owned(), productions }
}

/// `"block" "." "io"` for `block.io`, `"timeout" "." NAME` for `timeout.NAME`.
fn dotted(name: &str) -> Form {
    let mut parts = Vec::new();
    for word in name.split('.') {
        if !parts.is_empty() {
            parts.push(Form::Text(".".to_owned()));
        }
        parts.push(if word == "NAME" { Form::Name(word.to_owned()) } else { Form::Text(word.to_owned()) });
    }
    Form::Then(parts)
}

fn words<'a>(name: &str, words: impl IntoIterator<Item = &'a str>) -> Production {
    let form = Form::Either(words.into_iter().map(|word| Form::Text(word.to_owned())).collect());
    Production { name: name.to_owned(), form }
}

/// The signs that the productions use as tokens.
fn signs(grammar: &Grammar) -> Vec<&'static str> {
    let mut used = BTreeSet::new();
    for production in grammar.productions().filter(|production| !is_lexical(&production.name)) {
        production.form.each(&mut |form| {
            if let Form::Text(text) = form {
                used.insert(text.clone());
            }
        });
    }
    SIGNS.into_iter().filter(|sign| used.contains(*sign)).collect()
}

/// Whether a production of this name is made of characters.
pub fn is_lexical(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
}

/// Removes what needs other features, and productions that nothing uses any more.
fn specialise(grammar: &mut Grammar, features: &BTreeSet<Feature>) {
    let mut impossible: BTreeSet<String> = BTreeSet::new();
    loop {
        for production in grammar.sections.iter_mut().flat_map(|section| &mut section.productions) {
            production.form = production.form.simplified(features, &impossible);
        }
        let found = grammar.productions().filter(|production| production.form.is_impossible());
        let found: BTreeSet<String> = found.map(|production| production.name.clone()).collect();
        if found == impossible {
            break;
        }
        impossible = found;
    }
    let mut reached: BTreeSet<String> = BTreeSet::from(["TOKEN", "TEXT", "BLANK"].map(str::to_owned));
    let mut open: Vec<String> = reached.iter().cloned().collect();
    open.extend(grammar.productions().next().map(|start| start.name.clone()));
    reached.extend(open.iter().cloned());
    while let Some(name) = open.pop() {
        let Some(production) = grammar.production(&name) else { continue };
        production.form.each(&mut |form| {
            if let Form::Name(used) = form
                && reached.insert(used.clone())
            {
                open.push(used.clone());
            }
        });
    }
    for section in &mut grammar.sections {
        section.productions.retain(|production| reached.contains(&production.name));
    }
    grammar.sections.retain(|section| !section.productions.is_empty());
}

impl Form {
    /// The form and all within it.
    pub fn each(&self, visit: &mut impl FnMut(&Form)) {
        visit(self);
        match self {
            Form::Text(_) | Form::Characters(_) | Form::Name(_) => {}
            Form::Then(forms) | Form::Either(forms) => forms.iter().for_each(|form| form.each(visit)),
            Form::Maybe(form) | Form::Many(form) | Form::OneOrMore(form) | Form::Only(_, form) => form.each(visit),
            Form::Without(form, other) => {
                form.each(visit);
                other.each(visit);
            }
        }
    }

    /// Whether no text has this form.
    fn is_impossible(&self) -> bool {
        matches!(self, Form::Either(none) if none.is_empty())
    }

    /// The form without what needs other features or an `impossible` production.
    fn simplified(&self, features: &BTreeSet<Feature>, impossible: &BTreeSet<String>) -> Form {
        let simple = |form: &Form| form.simplified(features, impossible);
        let none = Form::Either(Vec::new());
        let nothing = Form::Then(Vec::new());
        match self {
            Form::Name(name) if impossible.contains(name) => none,
            Form::Text(_) | Form::Characters(_) | Form::Name(_) => self.clone(),
            Form::Then(forms) => {
                let mut forms: Vec<Form> = forms.iter().map(simple).filter(|form| *form != nothing).collect();
                if forms.iter().any(Form::is_impossible) {
                    return none;
                }
                if forms.len() == 1 { forms.remove(0) } else { Form::Then(forms) }
            }
            Form::Either(forms) => {
                let mut forms: Vec<Form> = forms.iter().map(simple).filter(|form| !form.is_impossible()).collect();
                if forms.len() == 1 { forms.remove(0) } else { Form::Either(forms) }
            }
            Form::Maybe(form) | Form::Many(form) if simple(form).is_impossible() => nothing,
            Form::Maybe(form) => Form::Maybe(Box::new(simple(form))),
            Form::Many(form) => Form::Many(Box::new(simple(form))),
            Form::OneOrMore(form) if simple(form).is_impossible() => none,
            Form::OneOrMore(form) => Form::OneOrMore(Box::new(simple(form))),
            Form::Without(form, other) => Form::Without(Box::new(simple(form)), Box::new(simple(other))),
            Form::Only(feature, form) if features.contains(feature) => simple(form),
            Form::Only(..) => none,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(features: &[Feature]) -> Dialect {
        Dialect { framework: "f".to_owned(), features: features.iter().copied().collect() }
    }

    fn text(name: &str, grammar: &Grammar) -> String {
        grammar.production(name).unwrap().to_string()
    }

    #[test]
    fn the_productions_are_well_written() {
        for part in POLICIES {
            Grammar::read(part).unwrap();
        }
        let grammar = for_policies(&dialect(&Feature::ALL), &["schedule", "block.io"], &["size"]);
        let names: Vec<&str> = grammar.productions().map(|production| production.name.as_str()).collect();
        assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len(), "a production stands there twice");
        for production in grammar.productions() {
            production.form.each(&mut |form| match form {
                Form::Name(name) => assert!(names.contains(&name.as_str()), "there is no production `{name}`"),
                Form::Text(text) if !is_lexical(&production.name) => {
                    let word = text.starts_with(|c: char| c.is_ascii_alphabetic());
                    let bars = ["||", "|="].contains(&text.as_str());
                    assert!(word || bars || SIGNS.contains(&text.as_str()), "`{text}` is no token");
                }
                Form::Text(_) | Form::Characters(_) | Form::Then(_) | Form::Either(_) | Form::Maybe(_) => {}
                Form::Many(_) | Form::OneOrMore(_) | Form::Without(..) => {}
                Form::Only(..) => panic!("a feature is left"),
            });
        }
    }

    /// A feature without a production has no syntax. The grammar of policies has no production of hierarchies.
    #[test]
    fn every_feature_adds_to_the_grammar() {
        for feature in Feature::ALL {
            let without: Vec<Feature> = Feature::ALL.into_iter().filter(|other| *other != feature).collect();
            let (all, less) = (dialect(&Feature::ALL), dialect(&without));
            let own = "hierarchy ::= \"hierarchy\" NAME";
            let size = |dialect| {
                let policies = for_policies(dialect, &["schedule"], &[]).to_string();
                policies.len() + for_hierarchies(own, dialect).to_string().len()
            };
            assert!(size(&all) > size(&less) + feature.word().len() + 2, "{feature:?}");
        }
    }

    #[test]
    fn what_a_dialect_lacks_is_absent() {
        let plain = for_policies(&dialect(&[]), &["schedule", "block.io.read", "block.io.write"], &[]);
        assert!(!plain.to_string().contains("\"while\" \"(\""));
        assert_eq!(text("handler", &plain), "handler ::= \"event\" event ( \",\" event )* parameters? block");
        let families = "event_family ::= \"block\" \".\" \"*\" | \"block\" \".\" \"io\" \".\" \"*\"";
        assert_eq!(text("event_family", &plain), families);
    }

    #[test]
    fn what_is_printed_can_be_read() {
        let grammar = for_policies(&dialect(&Feature::ALL), &["schedule", "block.io"], &["size"]);
        let again = Grammar::read(&grammar.to_string()).unwrap();
        assert_eq!(again.productions().collect::<Vec<_>>(), grammar.productions().collect::<Vec<_>>());
        assert_eq!(again.to_string(), grammar.to_string());
    }
}
