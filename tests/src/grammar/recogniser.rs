//! Whether a text is of a grammar: the grammar's productions, interpreted.

use std::collections::HashMap;
use std::rc::Rc;

use catapults_compiler::syntax::grammar::{Form, Grammar, is_lexical};

use super::tokens::{self, Forms, closure, sorted};

/// What the grammar says of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is of the grammar.
    Accepted,
    /// It is not; what could be read ends at this byte.
    Refused(usize),
}

/// Whether the text is of the grammar, which starts with its first production.
pub fn recognise(grammar: &Grammar, text: &str) -> Verdict {
    let start = &grammar.productions().next().expect("a grammar has productions").name;
    let mut recogniser =
        Recogniser { forms: tokens::forms(grammar), text, known: HashMap::new(), tokens: HashMap::new(), furthest: 0 };
    let first = tokens::skip_blank(&recogniser.forms, text, 0);
    if recogniser.production(start, first).contains(&text.len()) {
        return Verdict::Accepted;
    }
    Verdict::Refused(recogniser.furthest.max(first))
}

struct Recogniser<'a> {
    forms: Forms<'a>,
    text: &'a str,
    /// Where a text of a production can end, by its name and by where it starts. All ends are where the next token starts.
    known: HashMap<(&'a str, usize), Rc<[usize]>>,
    /// The end of the token that starts somewhere, and where the next one starts.
    tokens: HashMap<usize, Option<(usize, usize)>>,
    /// Up to here something could be made of the text.
    furthest: usize,
}

impl<'a> Recogniser<'a> {
    /// The grammar is not left-recursive, so this ends.
    fn production(&mut self, name: &'a str, at: usize) -> Rc<[usize]> {
        if let Some(known) = self.known.get(&(name, at)) {
            return known.clone();
        }
        let form = self.forms[name];
        let ends = if is_lexical(name) { self.lexical(name, form, at) } else { self.ends(form, at) };
        let ends: Rc<[usize]> = ends.into();
        self.known.insert((name, at), ends.clone());
        ends
    }

    fn ends(&mut self, form: &'a Form, at: usize) -> Vec<usize> {
        match form {
            Form::Text(literal) => self.literal(literal, at).into_iter().collect(),
            Form::Name(name) => self.production(name, at).to_vec(),
            Form::Then(forms) => {
                let mut reached = vec![at];
                for form in forms {
                    reached = sorted(reached.into_iter().flat_map(|at| self.ends(form, at)).collect());
                }
                reached
            }
            Form::Either(forms) => sorted(forms.iter().flat_map(|form| self.ends(form, at)).collect()),
            Form::Maybe(form) => sorted(self.ends(form, at).into_iter().chain([at]).collect()),
            Form::Many(form) => closure(vec![at], |at| self.ends(form, at)),
            Form::OneOrMore(form) => {
                let once = self.ends(form, at);
                closure(once, |at| self.ends(form, at))
            }
            Form::Without(form, other) if self.ends(other, at).is_empty() => self.ends(form, at),
            Form::Without(..) => Vec::new(),
            Form::Characters(_) | Form::Only(..) => panic!("{form:?} among tokens"),
        }
    }

    /// A literal is a token, or several with nothing between them (`||`).
    fn literal(&mut self, literal: &str, at: usize) -> Option<usize> {
        let mut start = at;
        loop {
            let (end, next) = self.token(start)?;
            if !literal.starts_with(&self.text[at..end]) {
                return None;
            }
            if end - at == literal.len() {
                self.furthest = self.furthest.max(next);
                return Some(next);
            }
            start = Some(next).filter(|next| *next == end)?;
        }
    }

    /// What is made of characters is a whole token, or text of another language.
    fn lexical(&mut self, name: &str, form: &Form, at: usize) -> Vec<usize> {
        let next = if name == tokens::RAW {
            tokens::raw(&self.forms, self.text, at).map(|end| tokens::skip_blank(&self.forms, self.text, end))
        } else {
            self.token(at).filter(|(end, _)| tokens::is(&self.forms, form, &self.text[at..*end])).map(|(_, next)| next)
        };
        self.furthest = self.furthest.max(next.unwrap_or(0));
        next.into_iter().collect()
    }

    fn token(&mut self, at: usize) -> Option<(usize, usize)> {
        let (forms, text) = (&self.forms, self.text);
        *self
            .tokens
            .entry(at)
            .or_insert_with(|| tokens::token(forms, text, at).map(|end| (end, tokens::skip_blank(forms, text, end))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> Verdict {
        let grammar = "/* a sum */ sum ::= item ( \"+\" item )* item ::= NAME | NUMBER | \"(\" sum \")\" | \"not\"? item2 \
                       item2 ::= \"{\" sum \"||\" sum \"}\" TOKEN ::= WORD | [0-9]+ | [+(){|}] WORD ::= [a-z]+ \
                       NAME ::= WORD - \"not\" NUMBER ::= [1-9] [0-9]* BLANK ::= [#x20#xA]";
        recognise(&Grammar::read(grammar).unwrap(), text)
    }

    #[test]
    fn says_what_is_of_the_grammar() {
        for text in ["a", "a + b + 12", "( a + (b) )", "not { a || b }", "{a||(b+c)}"] {
            assert_eq!(verdict(text), Verdict::Accepted, "{text}");
        }
        let refused =
            [("", 0), ("a +", 3), ("a + 012", 4), ("not", 3), ("not a", 4), ("{ a | | b }", 4), ("a b", 2), ("a $", 2)];
        for (text, at) in refused {
            assert_eq!(verdict(text), Verdict::Refused(at), "{text}");
        }
    }
}
