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
    let mut found = Vec::new();
    ends(forms, form, text, 0, &mut found);
    found.contains(&text.len())
}

fn longest(forms: &Forms<'_>, name: &str, text: &str, at: usize) -> Option<usize> {
    let mut found = Vec::new();
    ends(forms, forms[name], text, at, &mut found);
    found.into_iter().max()
}

/// Adds where a text of this form that starts here can end.
fn ends(forms: &Forms<'_>, form: &Form, text: &str, at: usize, found: &mut Vec<usize>) {
    let rest = &text[at..];
    match form {
        Form::Text(literal) => found.extend(rest.starts_with(literal.as_str()).then(|| at + literal.len())),
        Form::Characters(characters) => {
            let first = rest.chars().next().filter(|first| characters.contain(*first));
            found.extend(first.map(|first| at + first.len_utf8()));
        }
        Form::Name(name) if name == PIECE => found.extend(longest(forms, name, text, at)),
        Form::Name(name) => ends(forms, forms[name.as_str()], text, at, found),
        Form::Then(steps) => sequence(steps, at, found, |form, at, found| ends(forms, form, text, at, found)),
        Form::Either(alternatives) => alternatives.iter().for_each(|form| ends(forms, form, text, at, found)),
        Form::Maybe(form) => {
            found.push(at);
            ends(forms, form, text, at, found);
        }
        Form::Many(form) => closure(vec![at], found, |at, found| ends(forms, form, text, at, found)),
        Form::OneOrMore(form) => {
            let mut once = Vec::new();
            ends(forms, form, text, at, &mut once);
            closure(once, found, |at, found| ends(forms, form, text, at, found));
        }
        Form::Without(form, other) => {
            let (mut with, mut without) = (Vec::new(), Vec::new());
            ends(forms, form, text, at, &mut with);
            ends(forms, other, text, at, &mut without);
            found.extend(with.into_iter().filter(|end| !without.contains(end)));
        }
        Form::Only(feature, _) => panic!("{feature:?} in a printed grammar"),
    }
}

/// Adds what is reached by one step after the other.
pub(super) fn sequence<Step>(
    steps: &[Step],
    at: usize,
    found: &mut Vec<usize>,
    mut take: impl FnMut(&Step, usize, &mut Vec<usize>),
) {
    let (mut reached, mut next) = (vec![at], Vec::new());
    for step in steps {
        reached.iter().for_each(|at| take(step, *at, &mut next));
        if next.is_empty() {
            return;
        }
        (reached, next) = (sorted(next), reached);
        next.clear();
    }
    found.extend(reached);
}

/// Adds what any number of turns reaches. Each turn goes on from the first place that none has gone on from.
pub(super) fn closure(start: Vec<usize>, found: &mut Vec<usize>, mut turn: impl FnMut(usize, &mut Vec<usize>)) {
    let (mut reached, mut further, mut done) = (sorted(start), Vec::new(), 0);
    while let Some(at) = reached.get(done).copied() {
        done += 1;
        turn(at, &mut further);
        for end in further.drain(..) {
            if let Err(place) = reached.binary_search(&end) {
                reached.insert(place, end);
            }
        }
    }
    found.extend(reached);
}

/// In rising order, each once.
pub(super) fn sorted(mut ends: Vec<usize>) -> Vec<usize> {
    if ends.len() > 1 {
        ends.sort_unstable();
        ends.dedup();
    }
    ends
}
