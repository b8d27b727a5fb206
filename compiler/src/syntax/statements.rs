//! Statements and blocks.

use crate::diagnostics::Diagnostic;
use crate::vocabulary::{At, BinaryOperator, Leave, Type};

use super::Feature;
use super::ast::{Block, Expression, ExpressionKind, Place, Statement, StatementKind};
use super::habits;
use super::lexer::TokenKind;
use super::parser::{Parse, Parser, Reported};
use super::words::{another_name, nearest};

/// The signs that assign, and what they compute.
const ASSIGNMENTS: [(&str, Option<BinaryOperator>); 11] = [
    ("=", None),
    ("+=", Some(BinaryOperator::Add)),
    ("-=", Some(BinaryOperator::Subtract)),
    ("*=", Some(BinaryOperator::Multiply)),
    ("/=", Some(BinaryOperator::Divide)),
    ("%=", Some(BinaryOperator::Remainder)),
    ("&=", Some(BinaryOperator::BitAnd)),
    ("|=", Some(BinaryOperator::BitOr)),
    ("^=", Some(BinaryOperator::BitXor)),
    ("<<=", Some(BinaryOperator::ShiftLeft)),
    (">>=", Some(BinaryOperator::ShiftRight)),
];

impl Parser<'_> {
    // Productions: block, declaration, locals, local.
    pub(crate) fn block(&mut self, what: &str) -> Parse<Block> {
        let opened = self.expect_sign("{")?;
        self.deeper(|parser| {
            let mut statements = Vec::new();
            while !parser.is_sign("}") && !parser.is_end() && !parser.starts_handler() && !parser.leaves(opened) {
                statements.extend(parser.statement());
            }
            // An unclosed block keeps its statements.
            let _reported = parser.expect_close(opened, what);
            Ok(Block { statements, at: parser.since(opened) })
        })
    }

    /// Whether an `else` follows that, by its indentation, belongs to the `if` of the open block: a `}` is missing.
    fn leaves(&self, opened: At) -> bool {
        self.is_word("else") && self.is_outdented(opened, self.token.at)
    }

    /// A statement. One that cannot be read is skipped and becomes [`StatementKind::Lost`]. `None` for a lone `;`.
    fn statement(&mut self) -> Option<Statement> {
        let start = self.token.at;
        match self.statement_kind(start) {
            Ok(None) => None,
            Ok(Some(statement)) => Some(statement),
            Err(Reported) => {
                self.skip_statement(start);
                Some(Statement { kind: StatementKind::Lost, at: self.since(start) })
            }
        }
    }

    // Production: statement.
    fn statement_kind(&mut self, start: At) -> Parse<Option<Statement>> {
        if self.eat_sign(";") {
            return Ok(None);
        }
        if self.is_sign("{") {
            let block = self.block("the block")?;
            return Ok(Some(Statement { at: block.at, kind: StatementKind::Block(block) }));
        }
        if self.refused_loop(start) {
            return Ok(Some(Statement { kind: StatementKind::Lost, at: self.since(start) }));
        }
        match self.word() {
            Some("if") => self.conditional(start).map(Some),
            Some("foreach") => self.visit(start).map(Some),
            Some("for" | "while" | "do") => self.repetition(start).map(Some),
            Some(_) | None => self.plain(start).map(Some),
        }
    }

    /// A statement that contains no others. Its own function, so that nested statements do not pay for its stack frame.
    // Production: statement.
    fn plain(&mut self, start: At) -> Parse<Statement> {
        let kind = match self.word() {
            Some("else") => {
                return Err(self.report(Diagnostic::error(
                    "E0101",
                    "`else` without `if`",
                    start,
                    "there is no `if` before it",
                )));
            }
            Some(_) if let Some(ty) = self.type_word() => self.declare(ty)?,
            Some("const") => return Err(self.misplaced("constants")),
            Some("queue" | "stack" | "pqueue" | "pstack") => return Err(self.misplaced("containers")),
            Some("node") => {
                let title = "nodes are kept in the `nodes` section, not in a handler";
                let node = Diagnostic::error("E0101", title, self.token.at, "not in a handler");
                return Err(
                    self.report(node.help("put it into `nodes { … }`; `foreach n in c` names each node in `c`"))
                );
            }
            Some("threadref") => self.cursors()?,
            Some("return") => {
                self.advance();
                let value = if self.is_sign(";") { None } else { Some(self.expression()?) };
                StatementKind::Return(value)
            }
            Some("dispatch") => {
                self.advance();
                let (slot, _) = self.reference("the name of a threadref")?;
                if self.is_sign(".") {
                    let first = |link: &str, name: &str| {
                        format!(
                            "move its thread to one of `data` first: `foreach {name} in {link} {{ if ({name} in …) {name} => current; }}`"
                        )
                    };
                    return Err(self.no_container(&slot, first));
                }
                StatementKind::Dispatch(slot)
            }
            Some("destroy") => {
                self.advance();
                let (source, _) = self.reference("the name of a thread or container")?;
                if self.is_sign(".") {
                    let end = |_: &str, _: &str| "a thread is destroyed in the event that says it has ended".to_owned();
                    return Err(self.no_container(&source, end));
                }
                StatementKind::Destroy(source)
            }
            Some("fail") => self.failure()?,
            Some("break") => self.leave(Leave::Loop),
            Some("continue") => self.leave(Leave::Turn),
            Some("verbatim") => {
                let kind = self.verbatim_statement()?;
                return Ok(Statement { kind, at: self.since(start) });
            }
            Some("enum") => return Err(self.misplaced_enumeration("a statement")),
            Some(_) => self.change()?,
            None if matches!(self.token.kind, TokenKind::Sign("++" | "--")) => self.change()?,
            None => return Err(self.expected("a statement")),
        };
        self.finish(start, kind)
    }

    pub(super) fn finish(&mut self, start: At, kind: StatementKind) -> Parse<Statement> {
        let at = self.since(start);
        self.expect_semicolon()?;
        Ok(Statement { kind, at })
    }

    /// `int a, b = 1` in a handler.
    pub(super) fn declare(&mut self, ty: Type) -> Parse<StatementKind> {
        let variables = self.variables(ty, "=", false)?;
        if let Some(array) = variables.iter().find(|variable| variable.array.is_some()) {
            let title = "arrays are declared in a section, not in a handler";
            let diagnostic = Diagnostic::error("E0101", title, array.name.at, "not in a handler");
            self.report(diagnostic.help("move it to `data { … }`, or to `thread { … }` if each thread has one"));
            let names = variables.iter().map(|variable| variable.name.text.clone());
            self.lost.names.extend(names);
        }
        let single = variables.into_iter().filter(|variable| variable.array.is_none());
        Ok(StatementKind::Declare(single.collect()))
    }

    fn misplaced(&mut self, what: &str) -> Reported {
        let word = self.written(self.token.at);
        let title = format!("{what} are declared in the `data` section, not in a handler");
        let help = format!("move the `{word}` line to `data {{ … }}`");
        self.report(Diagnostic::error("E0101", title, self.token.at, "not in a handler").help(help))
    }

    // Production: statement.
    fn conditional(&mut self, start: At) -> Parse<Statement> {
        self.advance();
        let condition = self.condition()?;
        let at = self.since(start);
        let then = self.branch()?;
        let otherwise = if self.eat_word("else") { self.branch()? } else { Block::default() };
        Ok(Statement { kind: StatementKind::If { condition, then, otherwise }, at })
    }

    /// A block, or a single statement as a block of one.
    pub(super) fn branch(&mut self) -> Parse<Block> {
        if self.is_sign("{") {
            return self.block("the block");
        }
        let start = self.token.at;
        if self.is_sign("}") || self.is_end() || self.starts_handler() {
            return Err(self.expected("a statement"));
        }
        if self.type_word().is_some() || self.is_word("threadref") {
            let title = "a declaration alone in a branch can never be used";
            return Err(self.report(Diagnostic::error("E0101", title, start, "expected a statement or a block")));
        }
        if self.is_word("verbatim") {
            let title = "`verbatim` must be in a block";
            let alone =
                Diagnostic::error("E0101", title, start, "expected `{`").note("an `else` after it belongs to it");
            // It is read nevertheless, to report the errors in it.
            self.report(alone.help("put braces around it"));
        }
        let statements = self.deeper(|parser| Ok(parser.statement().into_iter().collect()))?;
        Ok(Block { statements, at: self.since(start) })
    }

    // Production: declaration.
    fn cursors(&mut self) -> Parse<StatementKind> {
        self.advance();
        let mut names = vec![self.name("a name for the cursor of a `foreach`")?];
        while self.eat_sign(",") {
            names.push(self.name("a name for the cursor of a `foreach`")?);
        }
        Ok(StatementKind::DeclareCursor(names))
    }

    fn leave(&mut self, what: Leave) -> StatementKind {
        self.advance();
        StatementKind::Leave(what)
    }

    fn failure(&mut self) -> Parse<StatementKind> {
        let at = self.token.at;
        if self.demand(Feature::Failure, "`fail`", at) {
            return Err(Reported);
        }
        self.advance();
        if self.token.kind != TokenKind::Text {
            return Err(self.expected("the reason, as a string"));
        }
        Ok(StatementKind::Fail(self.reason()?))
    }

    // Productions: assignment, statement.
    pub(super) fn change(&mut self) -> Parse<StatementKind> {
        if let TokenKind::Sign(sign @ ("++" | "--")) = self.token.kind {
            let at = self.advance().at;
            let (first, _) = self.reference("the name of a variable")?;
            let (place, _) = self.place_after(first)?;
            return Ok(StatementKind::Assign { place, operator: Some(step(sign)), value: one(at) });
        }
        let name = self.name("a statement")?;
        let name_at = name.at;
        if self.is_sign("(") {
            let call = self.call(name)?;
            // `whlie (c) {` was not meant as a call.
            return if self.is_sign("{") {
                Err(self.no_statement(name_at, "`;`"))
            } else {
                Ok(StatementKind::Call(call))
            };
        }
        let (source, _) = self.element_of(name)?;
        if self.eat_sign("=>") {
            let (destination, _) = self.reference("the name of a container")?;
            if self.is_sign(".") {
                let thread = &source.name.text;
                return Err(self.no_container(&destination, |link, _| format!("assign it: `{link} = {thread};`")));
            }
            if self.is_sign("=>") {
                let chained =
                    self.unexpected("`;`").help("a thread moves one step at a time: write a statement for each");
                return Err(self.report(chained));
            }
            return Ok(StatementKind::Transfer { source, destination });
        }
        let (place, _) = self.place_after(source)?;
        let TokenKind::Sign(sign) = self.token.kind else {
            return Err(match place {
                Place::Name(_) => self.no_statement(name_at, "`=>` or `=`"),
                Place::Element { .. } | Place::Member { .. } => self.expected("`=>` or `=`"),
            });
        };
        if sign == "++" || sign == "--" {
            let at = self.advance().at;
            return Ok(StatementKind::Assign { place, operator: Some(step(sign)), value: one(at) });
        }
        let two = sign == "|" && self.follows_sign("=") && self.token.at.end == self.following.at.start;
        let sign = if two { "|=" } else { sign };
        if let (Place::Member { thread, member }, "=>") = (&place, sign) {
            let link = format!("{}.{}", thread.name.text, member.text);
            let name = another_name(&thread.name.text);
            let moved = self.unexpected("`=`").note("only a thread that has a name can be moved");
            return Err(self.report(moved.help(format!("give it one: `foreach {name} in {link} {{ {name} => …; }}`"))));
        }
        match ASSIGNMENTS.iter().find(|(written, _)| *written == sign) {
            Some((_, operator)) => {
                self.advance();
                if two {
                    self.advance();
                }
                Ok(StatementKind::Assign { place, operator: *operator, value: self.expression()? })
            }
            None if sign == ">" => {
                let arrow =
                    self.unexpected("`=>` or `=`").help("a thread is moved with `=>`, its attributes follow a `.`");
                Err(self.report(arrow))
            }
            None if matches!(place, Place::Name(_)) && (sign == "<" || sign == "<=") => {
                let back = self.unexpected("`=>` or `=`");
                Err(self.report(back.help("a thread is moved with `=>`, from the left to the right: `t => ready;`")))
            }
            None if sign == ":" => {
                let colon = self.unexpected("`=>` or `=`").help("write `=` to assign");
                Err(self.report(colon))
            }
            None if sign == "==" => {
                let slip = self.unexpected("`=>` or `=`").help("`==` compares; write `=` to assign");
                Err(self.report(slip))
            }
            None if sign == ";" && matches!(place, Place::Name(_)) => Err(self.no_statement(name_at, "`=>` or `=`")),
            None => Err(self.expected("`=>` or `=`")),
        }
    }

    /// Reports the first word of a statement, if it is a slip; otherwise, that `expected` should follow it.
    fn no_statement(&mut self, word_at: At, expected: &str) -> Reported {
        let word = self.written(word_at);
        let help = match habits::statement(word) {
            Some(instead) => instead.to_owned(),
            None => match nearest(word, STARTS) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => return self.expected(expected),
            },
        };
        let title = format!("`{word}` starts no statement");
        self.report(Diagnostic::error("E0101", title, word_at, "").help(help))
    }
}

/// Words that start a statement, to suggest for a misspelt one.
const STARTS: [&str; 16] = [
    "if",
    "else",
    "foreach",
    "for",
    "while",
    "do",
    "return",
    "dispatch",
    "destroy",
    "fail",
    "int",
    "bool",
    "time",
    "float",
    "threadref",
    "verbatim",
];

fn step(sign: &str) -> BinaryOperator {
    if sign == "++" { BinaryOperator::Add } else { BinaryOperator::Subtract }
}

/// What `++` adds.
fn one(at: At) -> Expression {
    Expression { kind: ExpressionKind::Int(1), at }
}
