//! Random texts of a grammar.

use std::collections::{BTreeMap, BTreeSet};

use catapults_compiler::syntax::grammar::{Characters, Form, Grammar, is_lexical};

use super::tokens::{self, Forms};
use crate::choices::Choices;

/// Makes texts of a grammar.
#[derive(Debug)]
pub struct Generator<'a> {
    grammar: &'a Grammar,
    forms: Forms<'a>,
    /// How many productions stand within each other at least, in a text of each production.
    least: BTreeMap<&'a str, usize>,
}

/// A way that a text takes where the grammar leaves a choice: with a form of the grammar, or without it. It is known by
/// its place in the grammar, and holds as long as that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    form: *const Form,
    taken: bool,
}

impl Way {
    fn with(form: &Form) -> Self {
        Way { form, taken: true }
    }

    fn without(form: &Form) -> Self {
        Way { form, taken: false }
    }
}

/// Productions within productions: parentheses and blocks some five deep, far from the limit of the parser.
const DEEPEST: usize = 100;
/// Names that occur often, so that something is often meant by them.
const NAMES: [&str; 12] =
    ["ready", "current", "t", "a", "left", "q", "f", "n", "empty", "function", "nodal", "globally"];

impl<'a> Generator<'a> {
    /// For this grammar.
    pub fn new(grammar: &'a Grammar) -> Self {
        let mut generator = Generator { grammar, forms: tokens::forms(grammar), least: BTreeMap::new() };
        loop {
            let mut found = BTreeMap::new();
            for production in grammar.productions() {
                if let Some(depth) = generator.depth(&production.form) {
                    found.insert(production.name.as_str(), depth + 1);
                }
            }
            if found == generator.least {
                return generator;
            }
            generator.least = found;
        }
    }

    /// The tokens of a text. The same choices give the same tokens; when they run out the rest is as short as can be.
    /// `used` gets each way that was taken; those that it has not yet are preferred.
    pub fn tokens(&self, choices: &mut Choices<'_>, used: &mut BTreeSet<Way>) -> Vec<String> {
        let start = &self.grammar.productions().next().expect("a grammar has productions").name;
        let mut tokens = Vec::new();
        self.production(start, DEEPEST, choices, used, &mut tokens);
        tokens
    }

    /// All ways through the productions of tokens, and what they are.
    pub fn ways(&self) -> BTreeMap<Way, String> {
        let mut all = BTreeMap::new();
        for production in self.grammar.productions().filter(|production| !is_lexical(&production.name)) {
            let of = &production.name;
            let with = |form: &Form| (Way::with(form), format!("{of}: {form}"));
            let without = |form: &Form| (Way::without(form), format!("{of}: no {form}"));
            production.form.each(&mut |form| match form {
                Form::Either(forms) => all.extend(forms.iter().map(with)),
                Form::Maybe(form) | Form::Many(form) => all.extend([with(form), without(form)]),
                Form::Text(_) | Form::Characters(_) | Form::Name(_) | Form::Then(_) | Form::OneOrMore(_) => {}
                Form::Without(..) | Form::Only(..) => {}
            });
        }
        all
    }

    /// All literals of the grammar, and some tokens that are none.
    pub fn words(&self) -> Vec<String> {
        let mut words: BTreeSet<String> = BTreeSet::new();
        for production in self.grammar.productions() {
            production.form.each(&mut |form| {
                if let Form::Text(text) = form {
                    words.insert(text.clone());
                }
            });
        }
        let others = ["ready", "t", "x", "12", "0x1F", "010", "1.5", "25ms", "\"text\"", "?", "&", "->", "[", "]", "é"];
        words.extend(others.map(str::to_owned));
        // What later versions may read.
        words.extend(["time", "float", "verbatim", "node", "global", "properties"].map(str::to_owned));
        words.into_iter().collect()
    }

    /// The tokens with blanks between them; the blanks are random too.
    pub fn text(&self, tokens: &[String], choices: &mut Choices<'_>) -> String {
        let mut text = String::new();
        for token in tokens {
            text.push_str(token);
            text.push_str(if choices.chance(10) { "\n" } else { " " });
            if choices.chance(5) {
                text.push_str(&self.characters("BLANK", choices));
                text.push('\n');
            }
        }
        text
    }

    /// A text of a lexical production.
    pub fn characters(&self, name: &str, choices: &mut Choices<'_>) -> String {
        let mut text = String::new();
        let form = Form::Name(name.to_owned());
        self.spell(&form, choices, &mut text);
        // Pieces of text in another language can join to others, and to what follows.
        let ends = |after: &&str| tokens::raw(&self.forms, &format!("{text}{after}"), 0) == Some(text.len());
        if name == tokens::RAW && !["\"", "'", "*/", "}"].iter().all(ends) {
            return "{ $a++; }".to_owned();
        }
        text
    }

    fn depth(&self, form: &'a Form) -> Option<usize> {
        match form {
            Form::Text(_) | Form::Characters(_) | Form::Maybe(_) | Form::Many(_) => Some(0),
            Form::Name(name) => self.least.get(name.as_str()).copied(),
            Form::Then(forms) => forms.iter().try_fold(0, |deepest, form| Some(usize::max(deepest, self.depth(form)?))),
            Form::Either(forms) => forms.iter().filter_map(|form| self.depth(form)).min(),
            Form::OneOrMore(form) | Form::Without(form, _) => self.depth(form),
            Form::Only(feature, _) => panic!("{feature:?} in a printed grammar"),
        }
    }

    fn production(
        &self,
        name: &str,
        left: usize,
        choices: &mut Choices<'_>,
        used: &mut BTreeSet<Way>,
        tokens: &mut Vec<String>,
    ) {
        if is_lexical(name) {
            let often = name == "NAME" && !choices.chance(5);
            tokens.push(if often { choices.one_of(&NAMES).to_owned() } else { self.characters(name, choices) });
            return;
        }
        let form = self.forms[name];
        self.form(name, form, left.saturating_sub(1), choices, used, tokens);
    }

    fn form(
        &self,
        of: &str,
        form: &Form,
        left: usize,
        choices: &mut Choices<'_>,
        used: &mut BTreeSet<Way>,
        tokens: &mut Vec<String>,
    ) {
        let shallow = |form: &Form| self.depth(form).is_some_and(|depth| depth <= left);
        match form {
            Form::Text(literal) => tokens.push(literal.clone()),
            Form::Name(name) => self.production(name, left, choices, used, tokens),
            Form::Then(forms) => forms.iter().for_each(|form| self.form(of, form, left, choices, used, tokens)),
            Form::Either(forms) => {
                let mut possible: Vec<&Form> = forms.iter().filter(|form| shallow(form)).collect();
                if possible.is_empty() || !choices.any_left() {
                    possible =
                        forms.iter().min_by_key(|form| self.depth(form).unwrap_or(usize::MAX)).into_iter().collect();
                }
                let fresh = |form: &&Form| !used.contains(&Way::with(form));
                if possible.iter().any(&fresh) && choices.chance(50) {
                    possible.retain(fresh);
                }
                let taken = possible[choices.below(possible.len())];
                used.insert(Way::with(taken));
                self.form(of, taken, left, choices, used, tokens);
            }
            Form::Maybe(form) => {
                let fresh = !used.contains(&Way::with(form));
                let taken = choices.chance(if fresh { 75 } else { 50 }) && shallow(form);
                used.insert(if taken { Way::with(form) } else { Way::without(form) });
                if taken {
                    self.form(of, form, left, choices, used, tokens);
                }
            }
            Form::Many(repeated) | Form::OneOrMore(repeated) => {
                let mut times = usize::from(matches!(form, Form::OneOrMore(_)));
                let form = repeated;
                let fresh = !used.contains(&Way::with(form));
                while times < 12
                    && choices.chance(if of == "scheduler" || of == "block" || (fresh && times == 0) { 75 } else { 15 })
                    && shallow(form)
                {
                    times += 1;
                }
                used.insert(if times > 0 { Way::with(form) } else { Way::without(form) });
                for _ in 0..times {
                    self.form(of, form, left, choices, used, tokens);
                }
            }
            Form::Without(form, _) => self.form(of, form, left, choices, used, tokens),
            Form::Characters(_) | Form::Only(..) => panic!("{form:?} among tokens"),
        }
    }

    fn spell(&self, form: &Form, choices: &mut Choices<'_>, text: &mut String) {
        match form {
            Form::Text(literal) => text.push_str(literal),
            Form::Characters(characters) => text.push(one_of(characters, choices)),
            Form::Name(name) => self.spell(self.forms[name.as_str()], choices, text),
            Form::Then(forms) => forms.iter().for_each(|form| self.spell(form, choices, text)),
            Form::Either(forms) => self.spell(&forms[choices.below(forms.len())], choices, text),
            Form::Maybe(form) => {
                if choices.chance(50) {
                    self.spell(form, choices, text);
                }
            }
            Form::Many(form) => {
                while choices.chance(60) {
                    self.spell(form, choices, text);
                }
            }
            Form::OneOrMore(form) => {
                self.spell(form, choices, text);
                while choices.chance(60) {
                    self.spell(form, choices, text);
                }
            }
            Form::Without(form, other) => {
                let mut spelt = String::new();
                self.spell(form, choices, &mut spelt);
                while tokens::is(&self.forms, other, &spelt) {
                    spelt.push('_');
                }
                text.push_str(&spelt);
            }
            Form::Only(feature, _) => panic!("{feature:?} in a printed grammar"),
        }
    }
}

/// A character of the set; of those that are not in a set, one that is likely to matter.
fn one_of(characters: &Characters, choices: &mut Choices<'_>) -> char {
    if characters.not {
        let likely: Vec<char> = "ab0 \\\"*/'{;é\t|".chars().filter(|c| characters.contain(*c)).collect();
        return choices.one_of(&likely);
    }
    let (first, last) = choices.one_of(&characters.ranges);
    let wanted =
        u32::from(first) + u32::try_from(choices.below(256)).unwrap() % (u32::from(last) - u32::from(first) + 1);
    char::from_u32(wanted).unwrap_or(first)
}
