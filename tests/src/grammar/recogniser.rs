//! Whether a text is of a grammar: the grammar's productions, interpreted.

use std::collections::HashMap;
use std::rc::Rc;

use catapults_compiler::syntax::grammar::{Form, Grammar, is_lexical};

use super::tokens::{self, Forms, closure, sequence, sorted};

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
    let (forms, productions) = (tokens::forms(grammar), productions(grammar));
    let first = tokens::skip_blank(&forms, text, 0);
    let mut recogniser = Recogniser {
        productions: &productions,
        forms: &forms,
        text,
        known: vec![Vec::new(); text.len() + 1],
        tokens: vec![None; text.len() + 1],
        furthest: 0,
    };
    if recogniser.production(0, first).contains(&text.len()) {
        return Verdict::Accepted;
    }
    Verdict::Refused(recogniser.furthest.max(first))
}

/// A production among tokens, with numbers in place of names: texts are many.
enum Rule<'a> {
    Literal(&'a str),
    /// What is made of characters: a name, and the form of the whole token.
    Lexical(&'a str, &'a Form),
    Production(usize),
    Then(Vec<Rule<'a>>),
    Either(Vec<Rule<'a>>),
    Maybe(Box<Rule<'a>>),
    Many(Box<Rule<'a>>),
    OneOrMore(Box<Rule<'a>>),
    Without(Box<Rule<'a>>, Box<Rule<'a>>),
}

/// All productions, in the grammar's order.
fn productions(grammar: &Grammar) -> Vec<Rule<'_>> {
    let numbers: HashMap<&str, usize> =
        grammar.productions().enumerate().map(|(number, production)| (production.name.as_str(), number)).collect();
    grammar
        .productions()
        .map(|production| match is_lexical(&production.name) {
            true => Rule::Lexical(&production.name, &production.form),
            false => numbered(&production.form, &numbers),
        })
        .collect()
}

fn numbered<'a>(form: &'a Form, numbers: &HashMap<&str, usize>) -> Rule<'a> {
    let all = |forms: &'a [Form]| forms.iter().map(|form| numbered(form, numbers)).collect();
    let one = |form: &'a Form| Box::new(numbered(form, numbers));
    match form {
        Form::Text(literal) => Rule::Literal(literal),
        Form::Name(name) => Rule::Production(numbers[name.as_str()]),
        Form::Then(forms) => Rule::Then(all(forms)),
        Form::Either(forms) => Rule::Either(all(forms)),
        Form::Maybe(form) => Rule::Maybe(one(form)),
        Form::Many(form) => Rule::Many(one(form)),
        Form::OneOrMore(form) => Rule::OneOrMore(one(form)),
        Form::Without(form, other) => Rule::Without(one(form), one(other)),
        Form::Characters(_) | Form::Only(..) => panic!("{form:?} among tokens"),
    }
}

struct Recogniser<'a> {
    productions: &'a [Rule<'a>],
    forms: &'a Forms<'a>,
    text: &'a str,
    /// Where a text of a production can end, by where it starts and by the production's number. All ends are where the
    /// next token starts.
    known: Vec<Vec<Option<Rc<[usize]>>>>,
    /// The end of the token that starts somewhere, and where the next one starts.
    tokens: Vec<Option<Option<(usize, usize)>>>,
    /// Up to here something could be made of the text.
    furthest: usize,
}

impl<'a> Recogniser<'a> {
    /// The grammar is not left-recursive, so this ends.
    fn production(&mut self, number: usize, at: usize) -> Rc<[usize]> {
        let productions = self.productions;
        self.known[at].resize(productions.len(), None);
        if let Some(known) = &self.known[at][number] {
            return known.clone();
        }
        let mut found = Vec::new();
        self.ends(&productions[number], at, &mut found);
        let ends: Rc<[usize]> = sorted(found).into();
        self.known[at][number] = Some(ends.clone());
        ends
    }

    /// Adds where a text of this rule that starts here can end.
    fn ends(&mut self, rule: &Rule<'a>, at: usize, found: &mut Vec<usize>) {
        match rule {
            Rule::Literal(literal) => found.extend(self.literal(literal, at)),
            Rule::Lexical(name, form) => found.extend(self.lexical(name, form, at)),
            Rule::Production(number) => found.extend_from_slice(&self.production(*number, at)),
            Rule::Then(rules) => sequence(rules, at, found, |rule, at, found| self.ends(rule, at, found)),
            Rule::Either(rules) => rules.iter().for_each(|rule| self.ends(rule, at, found)),
            Rule::Maybe(rule) => {
                found.push(at);
                self.ends(rule, at, found);
            }
            Rule::Many(rule) => closure(vec![at], found, |at, found| self.ends(rule, at, found)),
            Rule::OneOrMore(rule) => {
                let mut once = Vec::new();
                self.ends(rule, at, &mut once);
                closure(once, found, |at, found| self.ends(rule, at, found));
            }
            Rule::Without(rule, other) => {
                let mut others = Vec::new();
                self.ends(other, at, &mut others);
                if others.is_empty() {
                    self.ends(rule, at, found);
                }
            }
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
    fn lexical(&mut self, name: &str, form: &Form, at: usize) -> Option<usize> {
        let (forms, text) = (self.forms, self.text);
        let next = if name == tokens::RAW {
            tokens::raw(forms, text, at).map(|end| tokens::skip_blank(forms, text, end))
        } else {
            self.token(at).filter(|(end, _)| tokens::is(forms, form, &text[at..*end])).map(|(_, next)| next)
        };
        self.furthest = self.furthest.max(next.unwrap_or(0));
        next
    }

    fn token(&mut self, at: usize) -> Option<(usize, usize)> {
        let (forms, text) = (self.forms, self.text);
        *self.tokens[at].get_or_insert_with(|| {
            tokens::token(forms, text, at).map(|end| (end, tokens::skip_blank(forms, text, end)))
        })
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
