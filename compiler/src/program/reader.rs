//! Reads a description of a program. It shares the lexer of the policy language.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Source;
use crate::syntax::lexer::{TokenKind, unescape};
use crate::syntax::parser::{Parse, Parser, Reported};
use crate::vocabulary::At;

use super::{Member, Passage, Program, Text, Value, Variable};

/// The program that the text describes, or everything that is wrong with it.
pub fn read(source: &Source) -> Result<Program, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    if let Some(too_long) = source.too_long(Source::LONGEST) {
        diagnostics.push(too_long);
        return Err(diagnostics);
    }
    let parser = Parser::new(source, None, CODE, &mut diagnostics);
    let program = Reader { parser, program: Program::default() }.program();
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(program) }
}

const CODE: &str = "E0527";
/// Arguments of functions that are passed in registers.
const ARGUMENTS: u64 = 6;
/// So that numbers of variables fit where they are kept.
const MOST: usize = 256;

struct Reader<'a> {
    parser: Parser<'a>,
    program: Program,
}

impl Reader<'_> {
    /// `program mariadb for "mariadbd" { … }`
    fn program(mut self) -> Program {
        let Ok(opened) = self.header() else { return self.program };
        while !self.parser.is_sign("}") && !self.parser.is_end() {
            if let Err(Reported) = self.variable() {
                self.skip_variable();
            }
        }
        if self.parser.expect_close(opened, "the description").is_ok() && !self.parser.is_end() {
            self.parser.expected("the end of the file");
        }
        self.program
    }

    fn header(&mut self) -> Parse<At> {
        if !self.parser.is_word("program") {
            let unexpected = self.parser.unexpected("`program`");
            let help = "a description of a program is written `program NAME for \"FILE\" { int NAME = …; }`";
            return Err(self.parser.report(unexpected.help(help)));
        }
        self.parser.advance();
        self.program.name = self.parser.name("a name for the program")?;
        self.parser.expect_word("for")?;
        self.program.file = self.text("the name of the program's file, as a string")?;
        self.parser.expect_sign("{")
    }

    /// Skips the rest of a line, up to one that starts another variable, or to the end.
    fn skip_variable(&mut self) {
        loop {
            let last = self.parser.is_sign("}") && self.parser.following.kind == TokenKind::End;
            let first_of_line = self.parser.token.at.line > self.parser.previous.line;
            let starts = self.parser.is_word("thread") || self.parser.is_word("int");
            if self.parser.is_end() || last || (first_of_line && starts) {
                return;
            }
            self.parser.advance();
        }
    }

    /// `thread int NAME = …;` or `int NAME = …;`
    fn variable(&mut self) -> Parse<()> {
        let start = self.parser.token.at;
        let of_threads = self.parser.eat_word("thread");
        if !self.parser.is_word("int") {
            let unexpected = self.parser.unexpected(if of_threads { "`int`" } else { "`int` or `thread int`" });
            return Err(self.parser.report(unexpected.note("all variables of a description are of type `int`")));
        }
        self.parser.advance();
        let name = self.parser.name("a name for the variable")?;
        self.parser.expect_sign("=")?;
        let value = self.value()?;
        self.parser.expect_semicolon()?;
        let variable = Variable { name, value };
        if variable.is_of_threads() != of_threads {
            let (title, help) = match of_threads {
                true => ("a variable of the program is not a thread's own", "write `int` without `thread`"),
                false => ("what functions tell is known of each thread", "write `thread int`"),
            };
            let at = self.parser.since(start);
            return Err(self.parser.report(Diagnostic::error(CODE, title, at, "").help(help)));
        }
        if let Some(first) = self.program.variables.iter().find(|other| other.name.text == variable.name.text) {
            let title = format!("the variable `{}` is described twice", variable.name.text);
            let twice = Diagnostic::error(CODE, title, variable.name.at, "the second time");
            self.parser.report(twice.related(first.name.at, "the first time").help("give one of them another name"));
            return Ok(());
        }
        if self.program.variables.len() == MOST {
            let title = format!("a description has at most {MOST} variables");
            let many = Diagnostic::error(CODE, title, variable.name.at, "the first that is too many");
            self.parser.report(many.help("leave out those that no policy imports"));
            self.parser.give_up();
            return Err(Reported);
        }
        self.program.variables.push(variable);
        Ok(())
    }

    fn value(&mut self) -> Parse<Value> {
        if self.parser.eat_word("variable") {
            return self.text("the name of a global variable, as a string").map(Value::Global);
        }
        if self.parser.eat_word("member") {
            return self.member().map(Value::Member);
        }
        let mut passages = vec![self.passage(true)?];
        loop {
            let adds = self.parser.is_sign("+");
            if !adds && !self.parser.is_sign("-") {
                return Ok(Value::Count(passages));
            }
            self.parser.advance();
            passages.push(self.passage(adds)?);
        }
    }

    fn passage(&mut self, adds: bool) -> Parse<Passage> {
        let enters = self.parser.is_word("entered");
        if !enters && !self.parser.is_word("left") {
            let unexpected = self.parser.unexpected("`entered`, `left`, `variable` or `member`");
            let help = "what can stand here: `entered \"FUNCTION\"` and `left \"FUNCTION\"` with `+` and `-` between, `variable \"NAME\"`, \
                        `member \"STRUCTURE\" \"MEMBER\" of argument NUMBER of \"FUNCTION\"`";
            return Err(self.parser.report(unexpected.help(help)));
        }
        self.parser.advance();
        let function = self.text("the name of a function, as a string")?;
        Ok(Passage { adds, enters, function })
    }

    fn member(&mut self) -> Parse<Member> {
        let structure = self.text("the name of a structure or class, as a string")?;
        let member = self.text("the name of its member, as a string")?;
        self.parser.expect_word("of")?;
        self.parser.expect_word("argument")?;
        let TokenKind::Number(number) = self.parser.token.kind else {
            return Err(self.parser.expected("the number of an argument"));
        };
        if !(1..=ARGUMENTS).contains(&number) {
            let title = format!("arguments have the numbers 1 to {ARGUMENTS}");
            let wrong = Diagnostic::error(CODE, title, self.parser.token.at, "not one of these");
            let help = "those that are no numbers with a fraction count; `this` is the first of a member function";
            return Err(self.parser.report(wrong.help(help)));
        }
        let argument = number.to_le_bytes()[0];
        self.parser.advance();
        self.parser.expect_word("of")?;
        let function = self.text("the name of a function, as a string")?;
        Ok(Member { structure, member, argument, function })
    }

    fn text(&mut self, what: &str) -> Parse<Text> {
        if self.parser.token.kind != TokenKind::Text {
            return Err(self.parser.expected(what));
        }
        let at = self.parser.advance().at;
        let text = unescape(self.parser.written(at));
        if text.is_empty() {
            let empty = Diagnostic::error(CODE, format!("expected {what}, found an empty string"), at, "empty");
            return Err(self.parser.report(empty));
        }
        Ok(Text { text, at })
    }
}
