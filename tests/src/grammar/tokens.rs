//! What the grammar says of characters: where tokens are, and what they are.

use std::collections::BTreeSet;

use catapults_compiler::syntax::grammar::{Form, Grammar};

/// The end of the token that starts here, which is as long as can be.
pub(super) fn token(grammar: &Grammar, text: &str, at: usize) -> Option<usize> {
    longest(grammar, "TOKEN", text, at)
}

/// Where the next token starts: what has no meaning is passed.
pub(super) fn skip_blank(grammar: &Grammar, text: &str, mut at: usize) -> usize {
    if at == 0 && text.starts_with('\u{feff}') {
        at = '\u{feff}'.len_utf8();
    }
    while let Some(end) = longest(grammar, "BLANK", text, at) {
        at = end;
    }
    at
}

/// The end of the text of another language that starts here.
pub(super) fn raw(grammar: &Grammar, text: &str, at: usize) -> Option<usize> {
    longest(grammar, RAW, text, at)
}

/// Text of another language.
pub(super) const RAW: &str = "RAW";
/// What such a text consists of, each as long as can be.
const PIECE: &str = "PIECE";

/// Whether the whole text is of a lexical form.
pub(super) fn is(grammar: &Grammar, form: &Form, text: &str) -> bool {
    ends(grammar, form, text, 0).contains(&text.len())
}

fn longest(grammar: &Grammar, name: &str, text: &str, at: usize) -> Option<usize> {
    ends(grammar, &Form::Name(name.to_owned()), text, at).last().copied()
}

/// Where a text of this form that starts here can end.
fn ends(grammar: &Grammar, form: &Form, text: &str, at: usize) -> BTreeSet<usize> {
    let rest = &text[at..];
    match form {
        Form::Text(literal) if rest.starts_with(literal.as_str()) => BTreeSet::from([at + literal.len()]),
        Form::Text(_) => BTreeSet::new(),
        Form::Characters(characters) => {
            rest.chars().next().filter(|c| characters.contain(*c)).map(|c| at + c.len_utf8()).into_iter().collect()
        }
        Form::Name(name) => {
            let mut found = ends(grammar, &grammar.production(name).unwrap().form, text, at);
            if name == PIECE { found.pop_last().into_iter().collect() } else { found }
        }
        Form::Then(forms) => {
            let mut reached = BTreeSet::from([at]);
            for form in forms {
                reached = reached.into_iter().flat_map(|at| ends(grammar, form, text, at)).collect();
            }
            reached
        }
        Form::Either(forms) => forms.iter().flat_map(|form| ends(grammar, form, text, at)).collect(),
        Form::Maybe(form) => ends(grammar, form, text, at).into_iter().chain([at]).collect(),
        Form::Many(form) => closure(grammar, form, text, BTreeSet::from([at])),
        Form::OneOrMore(form) => closure(grammar, form, text, ends(grammar, form, text, at)),
        Form::Without(form, other) => {
            let other = ends(grammar, other, text, at);
            ends(grammar, form, text, at).into_iter().filter(|end| !other.contains(end)).collect()
        }
        Form::Only(feature, _) => panic!("{feature:?} in a printed grammar"),
    }
}

fn closure(grammar: &Grammar, form: &Form, text: &str, start: BTreeSet<usize>) -> BTreeSet<usize> {
    let mut reached = start.clone();
    let mut open: Vec<usize> = start.into_iter().collect();
    while let Some(at) = open.pop() {
        open.extend(ends(grammar, form, text, at).into_iter().filter(|end| reached.insert(*end)));
    }
    reached
}
