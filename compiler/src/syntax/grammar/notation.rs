//! Reads and prints the notation of a grammar.

use std::fmt::{self, Display, Formatter, Write};

use super::{Characters, Feature, Form, Grammar, Production, Section};

/// How long filled lines can be.
const WIDTH: usize = 110;

impl Grammar {
    /// Reads a grammar. The error says what is wrong with the text.
    pub fn read(text: &str) -> Result<Grammar, String> {
        Reader { symbols: symbols(text)?, next: 0 }.grammar()
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Symbol {
    Comment(String),
    Name(String),
    Text(String),
    Characters(Characters),
    Feature(Feature),
    /// `::=`
    Is,
    /// `( ) | ? * + -`
    Sign(char),
}

fn symbols(text: &str) -> Result<Vec<Symbol>, String> {
    let mut symbols = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let upto =
            |end: &str| after.split_once(end).ok_or_else(|| format!("`{first}` without `{end}`: {}", line(rest)));
        let (symbol, left) = match first {
            '/' if after.starts_with('*') => {
                let (comment, left) = after[1..].split_once("*/").ok_or("a comment is never closed")?;
                (Symbol::Comment(comment.trim().to_owned()), left)
            }
            '"' | '\'' => upto(if first == '"' { "\"" } else { "'" })
                .map(|(inside, left)| (Symbol::Text(inside.to_owned()), left))?,
            '[' => {
                let (inside, left) = upto("]")?;
                (Symbol::Characters(characters(inside)?), left)
            }
            '<' => {
                let (word, left) = upto(">")?;
                let feature = Feature::ALL.into_iter().find(|feature| feature.word() == word);
                (Symbol::Feature(feature.ok_or_else(|| format!("there is no feature `{word}`"))?), left)
            }
            ':' => (Symbol::Is, after.strip_prefix(":=").ok_or_else(|| line(rest))?),
            '(' | ')' | '|' | '?' | '*' | '+' | '-' => (Symbol::Sign(first), after),
            letter if letter.is_ascii_alphabetic() => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                (Symbol::Name(rest[..end].to_owned()), &rest[end..])
            }
            _ => return Err(line(rest)),
        };
        symbols.push(symbol);
        rest = left.trim_start();
    }
    Ok(symbols)
}

fn line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// Reads the characters in `[…]`.
fn characters(inside: &str) -> Result<Characters, String> {
    let (not, mut rest) = inside.strip_prefix('^').map_or((false, inside), |rest| (true, rest));
    let mut ranges = Vec::new();
    while !rest.is_empty() {
        let (first, left) = character(rest)?;
        let (last, left) = match left.strip_prefix('-').filter(|left| !left.is_empty()) {
            Some(left) => character(left)?,
            None => (first, left),
        };
        ranges.push((first, last));
        rest = left;
    }
    Ok(Characters { not, ranges })
}

/// The first character, which may be written as a code, and the rest.
fn character(text: &str) -> Result<(char, &str), String> {
    if let Some(digits) = text.strip_prefix("#x") {
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        let code = u32::from_str_radix(&digits[..end], 16).ok().and_then(char::from_u32);
        return code.map(|code| (code, &digits[end..])).ok_or_else(|| format!("no character: {text}"));
    }
    text.chars().next().map(|first| (first, &text[first.len_utf8()..])).ok_or_else(|| "no character".to_owned())
}

struct Reader {
    symbols: Vec<Symbol>,
    next: usize,
}

impl Reader {
    fn grammar(mut self) -> Result<Grammar, String> {
        let mut grammar = Grammar::default();
        while let Some(symbol) = self.symbols.get(self.next).cloned() {
            self.next += 1;
            if let Symbol::Comment(comment) = symbol {
                grammar.sections.push(Section { comment, productions: Vec::new() });
            } else if let Symbol::Name(name) = symbol
                && self.symbols.get(self.next) == Some(&Symbol::Is)
            {
                self.next += 1;
                let production = Production { name, form: self.alternatives()? };
                let section = grammar.sections.last_mut().ok_or("a production before the first comment")?;
                section.productions.push(production);
            } else {
                return Err(format!("symbol {} starts no production", self.next));
            }
        }
        Ok(grammar)
    }

    fn eat(&mut self, sign: char) -> bool {
        let found = self.symbols.get(self.next) == Some(&Symbol::Sign(sign));
        self.next += usize::from(found);
        found
    }

    fn alternatives(&mut self) -> Result<Form, String> {
        let mut forms = vec![self.sequence()?];
        while self.eat('|') {
            forms.push(self.sequence()?);
        }
        Ok(if forms.len() == 1 { forms.remove(0) } else { Form::Either(forms) })
    }

    fn sequence(&mut self) -> Result<Form, String> {
        if let Some(Symbol::Feature(feature)) = self.symbols.get(self.next).cloned() {
            self.next += 1;
            return Ok(Form::Only(feature, Box::new(self.sequence()?)));
        }
        let mut forms = Vec::new();
        while !self.ends_sequence() {
            let form = self.repeated()?;
            forms.push(if self.eat('-') { Form::Without(Box::new(form), Box::new(self.repeated()?)) } else { form });
        }
        Ok(if forms.len() == 1 { forms.remove(0) } else { Form::Then(forms) })
    }

    fn ends_sequence(&self) -> bool {
        match self.symbols.get(self.next) {
            None | Some(Symbol::Comment(_) | Symbol::Sign('|' | ')')) => true,
            Some(Symbol::Name(_)) => self.symbols.get(self.next + 1) == Some(&Symbol::Is),
            Some(Symbol::Text(_) | Symbol::Characters(_) | Symbol::Feature(_) | Symbol::Is | Symbol::Sign(_)) => false,
        }
    }

    fn repeated(&mut self) -> Result<Form, String> {
        let mut form = match self.symbols.get(self.next).cloned() {
            Some(Symbol::Name(name)) => Form::Name(name),
            Some(Symbol::Text(text)) => Form::Text(text),
            Some(Symbol::Characters(characters)) => Form::Characters(characters),
            Some(Symbol::Sign('(')) => {
                self.next += 1;
                let form = self.alternatives()?;
                if self.symbols.get(self.next) != Some(&Symbol::Sign(')')) {
                    return Err("`(` without `)`".to_owned());
                }
                form
            }
            Some(Symbol::Comment(_) | Symbol::Feature(_) | Symbol::Is | Symbol::Sign(_)) | None => {
                return Err(format!("a form is expected at symbol {}", self.next + 1));
            }
        };
        self.next += 1;
        loop {
            form = if self.eat('?') {
                Form::Maybe(Box::new(form))
            } else if self.eat('*') {
                Form::Many(Box::new(form))
            } else if self.eat('+') {
                Form::OneOrMore(Box::new(form))
            } else {
                return Ok(form);
            };
        }
    }
}

impl Display for Grammar {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let widest = self.productions().map(|production| production.name.len()).max().unwrap_or_default();
        for (index, section) in self.sections.iter().enumerate() {
            writeln!(out, "{}/* {} */", if index > 0 { "\n" } else { "" }, section.comment)?;
            for production in &section.productions {
                writeln!(out, "{}", production.aligned(widest))?;
            }
        }
        Ok(())
    }
}

impl Display for Production {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.aligned(self.name.len()))
    }
}

impl Production {
    /// Prints with the name padded to a width. Alternatives have lines of their own, unless short or single words.
    fn aligned(&self, width: usize) -> String {
        let start = format!("{:width$} ::= ", self.name);
        let whole = format!("{start}{}", self.form);
        let continued = " ".repeat(width + 5);
        let alternatives = match &self.form {
            Form::Either(forms) if forms.len() > 1 => forms.as_slice(),
            Form::Text(_) | Form::Characters(_) | Form::Name(_) | Form::Then(_) | Form::Either(_) | Form::Maybe(_) => {
                &[]
            }
            Form::Many(_) | Form::OneOrMore(_) | Form::Without(..) | Form::Only(..) => &[],
        };
        let single = |form: &Form| matches!(form, Form::Text(_) | Form::Characters(_) | Form::Name(_));
        if alternatives.iter().all(single) {
            let mut pieces = alternatives.iter().enumerate().map(|(index, form)| match index {
                0 => form.to_string(),
                _ => format!("| {form}"),
            });
            return if whole.len() <= WIDTH || alternatives.is_empty() {
                whole
            } else {
                filled(&start, &continued, &mut pieces)
            };
        }
        let short = |form: &Form| form.to_string().len() <= 24;
        if alternatives.len() < 4 && whole.len() <= 80 && alternatives.iter().all(short) {
            return whole;
        }
        let lines = alternatives.iter().map(Form::to_string).collect::<Vec<_>>();
        format!("{start}{}", lines.join(&format!("\n{}| ", " ".repeat(width + 3))))
    }
}

/// Joins the pieces with blanks, in lines of limited length.
fn filled(start: &str, continued: &str, pieces: &mut dyn Iterator<Item = String>) -> String {
    let mut lines = vec![start.trim_end().to_owned()];
    for piece in pieces {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + piece.len() <= WIDTH => {
                let _ = write!(line, " {piece}");
            }
            Some(_) | None => lines.push(format!("{}{piece}", &continued[..continued.len().saturating_sub(2)])),
        }
    }
    lines.join("\n")
}

impl Display for Form {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.print(out, 0)
    }
}

impl Form {
    /// How strongly the form binds: alternatives 0, sequences 1, differences 2, all else 3.
    fn strength(&self) -> u8 {
        match self {
            Form::Either(_) => 0,
            Form::Then(_) | Form::Only(..) => 1,
            Form::Without(..) => 2,
            Form::Text(_)
            | Form::Characters(_)
            | Form::Name(_)
            | Form::Maybe(_)
            | Form::Many(_)
            | Form::OneOrMore(_) => 3,
        }
    }

    fn print(&self, out: &mut Formatter<'_>, least: u8) -> fmt::Result {
        if self.strength() < least {
            out.write_str("( ")?;
            self.print(out, 0)?;
            return out.write_str(" )");
        }
        match self {
            Form::Text(text) if text.contains('"') => write!(out, "'{text}'"),
            Form::Text(text) => write!(out, "\"{text}\""),
            Form::Characters(characters) => characters.fmt(out),
            Form::Name(name) => out.write_str(name),
            Form::Then(forms) => separated(forms, out, " ", 2),
            Form::Either(forms) => separated(forms, out, " | ", 1),
            Form::Maybe(form) => form.print(out, 3).and_then(|()| out.write_str("?")),
            Form::Many(form) => form.print(out, 3).and_then(|()| out.write_str("*")),
            Form::OneOrMore(form) => form.print(out, 3).and_then(|()| out.write_str("+")),
            Form::Without(form, other) => {
                form.print(out, 3)?;
                out.write_str(" - ")?;
                other.print(out, 3)
            }
            Form::Only(feature, form) => {
                write!(out, "<{}> ", feature.word())?;
                form.print(out, 1)
            }
        }
    }
}

fn separated(forms: &[Form], out: &mut Formatter<'_>, separator: &str, least: u8) -> fmt::Result {
    for (index, form) in forms.iter().enumerate() {
        out.write_str(if index > 0 { separator } else { "" })?;
        form.print(out, least)?;
    }
    Ok(())
}

impl Display for Characters {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let code = |out: &mut Formatter<'_>, character: char| match character {
            '!'..='~' if !"]^-#".contains(character) => write!(out, "{character}"),
            other => write!(out, "#x{:X}", u32::from(other)),
        };
        out.write_str(if self.not { "[^" } else { "[" })?;
        for (first, last) in &self.ranges {
            code(out, *first)?;
            if first != last {
                out.write_str("-")?;
                code(out, *last)?;
            }
        }
        out.write_str("]")
    }
}
