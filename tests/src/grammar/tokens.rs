//! What the grammar says of characters: where tokens are, and what they are.

use std::collections::HashMap;

use catapults_compiler::syntax::grammar::{Form, Grammar};

/// The forms of a grammar's productions, by name.
pub(super) type Forms<'a> = HashMap<&'a str, &'a Form>;

pub(super) fn forms(grammar: &Grammar) -> Forms<'_> {
    grammar.productions().map(|production| (production.name.as_str(), &production.form)).collect()
}

/// The end of the token that starts here, which is as long as can be.
pub(super) fn token(forms: &Forms<'_>, text: &str, at: usize) -> Option<usize> {
    longest(forms, "TOKEN", text, at)
}

/// Where the next token starts: what has no meaning is passed.
pub(super) fn skip_blank(forms: &Forms<'_>, text: &str, mut at: usize) -> usize {
    if at == 0 && text.starts_with('\u{feff}') {
        at = '\u{feff}'.len_utf8();
    }
    while let Some(end) = longest(forms, "BLANK", text, at) {
        at = end;
    }
    at
}

/// The end of the text of another language that starts here.
pub(super) fn raw(forms: &Forms<'_>, text: &str, at: usize) -> Option<usize> {
    longest(forms, RAW, text, at)
}

/// Text of another language.
pub(super) const RAW: &str = "RAW";
/// What such a text consists of, each as long as can be.
const PIECE: &str = "PIECE";

/// Whether the whole text is of a lexical form.
pub(super) fn is(forms: &Forms<'_>, form: &Form, text: &str) -> bool {
    ends(forms, form, text, 0).contains(&text.len())
}

fn longest(forms: &Forms<'_>, name: &str, text: &str, at: usize) -> Option<usize> {
    ends(forms, &Form::Name(name.to_owned()), text, at).last().copied()
}

/// Where a text of this form that starts here can end, in rising order.
fn ends(forms: &Forms<'_>, form: &Form, text: &str, at: usize) -> Vec<usize> {
    let rest = &text[at..];
    match form {
        Form::Text(literal) if rest.starts_with(literal.as_str()) => vec![at + literal.len()],
        Form::Text(_) => Vec::new(),
        Form::Characters(characters) => {
            let first = rest.chars().next().filter(|first| characters.contain(*first));
            first.map(|first| at + first.len_utf8()).into_iter().collect()
        }
        Form::Name(name) => {
            let mut found = ends(forms, forms[name.as_str()], text, at);
            if name == PIECE { found.pop().into_iter().collect() } else { found }
        }
        Form::Then(steps) => {
            let mut reached = vec![at];
            for form in steps {
                reached = sorted(reached.into_iter().flat_map(|at| ends(forms, form, text, at)).collect());
            }
            reached
        }
        Form::Either(alternatives) => {
            sorted(alternatives.iter().flat_map(|form| ends(forms, form, text, at)).collect())
        }
        Form::Maybe(form) => sorted(ends(forms, form, text, at).into_iter().chain([at]).collect()),
        Form::Many(form) => closure(vec![at], |at| ends(forms, form, text, at)),
        Form::OneOrMore(form) => closure(ends(forms, form, text, at), |at| ends(forms, form, text, at)),
        Form::Without(form, other) => {
            let other = ends(forms, other, text, at);
            ends(forms, form, text, at).into_iter().filter(|end| !other.contains(end)).collect()
        }
        Form::Only(feature, _) => panic!("{feature:?} in a printed grammar"),
    }
}

/// What any number of turns reaches. Each turn goes on from the first place that none has gone on from.
pub(super) fn closure(start: Vec<usize>, mut turn: impl FnMut(usize) -> Vec<usize>) -> Vec<usize> {
    let (mut reached, mut done) = (start, 0);
    while let Some(at) = reached.get(done).copied() {
        done += 1;
        let further = turn(at);
        if further.iter().any(|end| !reached.contains(end)) {
            reached.extend(further);
            reached = sorted(reached);
        }
    }
    reached
}

/// In rising order, each once.
pub(super) fn sorted(mut ends: Vec<usize>) -> Vec<usize> {
    if ends.len() > 1 {
        ends.sort_unstable();
        ends.dedup();
    }
    ends
}
