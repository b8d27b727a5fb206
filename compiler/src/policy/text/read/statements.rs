//! The inside of a handler: its locals and statements.

use super::{Name, Read, ReadError, Reader, Scope, Token, numbered};
use crate::policy::{
    At, Block, ContainerRef, Leave, Local, LocalId, LocalKind, Piece, Place, Reason, Source, Statement, StatementId,
    StatementKind, Test, Thread, Type, Verbatim,
};

/// Reads the inside of one handler.
pub(super) struct HandlerReader {
    pub(super) scope: Scope<Name>,
    pub(super) bits: u8,
    pub(super) returns: Option<Type>,
    /// How many open loops can be left here.
    pub(super) loops: usize,
}

impl HandlerReader {
    pub(super) fn read(mut self, reader: &mut Reader, locals: &mut Vec<Local>) -> Read<Block> {
        for (index, local) in locals.iter().enumerate() {
            self.scope.declare(&local.name, Name::Local(LocalId(index), local.kind));
        }
        while let Some(kind) = declared_kind(reader) {
            reader.advance();
            let name = reader.word("the name of a local")?;
            reader.symbol(";")?;
            self.scope.declare(&name, Name::Local(LocalId(locals.len()), kind));
            locals.push(Local { name, kind });
        }
        self.block(reader)
    }

    /// Statements through the `}`.
    pub(super) fn block(&mut self, reader: &mut Reader) -> Read<Block> {
        let mut block = Block::new();
        while !reader.accept("}") {
            block.push(reader.nested(|reader| self.statement(reader))?);
        }
        Ok(block)
    }

    fn statement(&mut self, reader: &mut Reader) -> Read<Statement> {
        let starts_name = starts_name(reader);
        if !starts_name && reader.accept_word("if") {
            reader.symbol("(")?;
            let condition = self.expression_of(Type::Bool, reader)?;
            reader.symbol(")")?;
            let at = reader.places()?;
            reader.symbol("{")?;
            let then = self.block(reader)?;
            let otherwise = if reader.accept_word("else") {
                reader.symbol("{")?;
                self.block(reader)?
            } else {
                Block::new()
            };
            return Ok(statement(StatementKind::If { condition, then, otherwise }, at));
        }
        if !starts_name && reader.accept_word("foreach") {
            let cursor = self.thread(reader)?;
            reader.keyword("in")?;
            if let Some((thread, link)) = self.link(reader) {
                let at = reader.places()?;
                reader.symbol("{")?;
                let body = self.within(self.loops + 1, reader)?;
                return Ok(statement(StatementKind::Follow { cursor, thread, link, body }, at));
            }
            let container = self.container(reader)?;
            let at = reader.places()?;
            reader.symbol("{")?;
            let body = self.within(self.loops + 1, reader)?;
            return Ok(statement(StatementKind::Foreach { cursor, container, body }, at));
        }
        if !starts_name && reader.accept_word("verbatim") {
            let text = self.verbatim(None, reader)?.0;
            if reader.accept(";") {
                let at = reader.places()?;
                return Ok(statement(StatementKind::Verbatim { text, otherwise: None }, at));
            }
            reader.keyword("else")?;
            let at = reader.places()?;
            reader.symbol("{")?;
            let otherwise = Some(self.within(0, reader)?);
            return Ok(statement(StatementKind::Verbatim { text, otherwise }, at));
        }
        let test = if !starts_name && reader.accept_word("do") { Test::After } else { Test::Before };
        if test == Test::After || !starts_name && matches!(reader.peek(), Token::Word(word) if word == "while") {
            return self.repetition(test, reader);
        }
        let kind = if starts_name { self.named(reader)? } else { self.simple(reader)? };
        reader.symbol(";")?;
        let at = reader.places()?;
        Ok(statement(kind, at))
    }

    /// After `verbatim`: `c ("print(", x, ");")`, or if `typed`, `c int ("f(", x, ")")`.
    pub(super) fn verbatim(&mut self, typed: Option<()>, reader: &mut Reader) -> Read<(Verbatim, Type)> {
        let language = reader.word("a language")?;
        let ty = if typed.is_some() { reader.ty()? } else { Type::Int };
        reader.symbol("(")?;
        let mut pieces = Vec::new();
        while !reader.accept(")") {
            if !pieces.is_empty() {
                reader.symbol(",")?;
            }
            pieces.push(self.piece(reader)?);
        }
        Ok((Verbatim { language, pieces }, ty))
    }

    fn piece(&mut self, reader: &mut Reader) -> Read<Piece> {
        if matches!(reader.peek(), Token::Text(_)) {
            return Ok(Piece::Text(reader.text("text")?));
        }
        let names_thread = matches!(reader.tokens.get(reader.next + 1), Some((Token::Word(_), _)));
        if names_thread && reader.accept_word("thread") {
            return match self.name(reader)? {
                Name::Local(local, LocalKind::Thread | LocalKind::Node) => Ok(Piece::Thread(Thread::Local(local))),
                Name::Container(slot, true, None) => Ok(Piece::Thread(Thread::Slot(slot))),
                Name::Local(_, LocalKind::Value(_))
                | Name::Container(..)
                | Name::Constant(..)
                | Name::Variable(..)
                | Name::Import(..) => reader.fail("expected a thread before this"),
            };
        }
        if reader.accept_word("now") {
            return Ok(Piece::Now);
        }
        let (expression, _) = self.read_name(reader)?;
        Piece::naming(expression).map_or_else(|| reader.fail("expected a name before this"), Ok)
    }

    /// `while (c) @1:2..3 { … } step { … }`
    fn repetition(&mut self, test: Test, reader: &mut Reader) -> Read<Statement> {
        reader.keyword("while")?;
        let condition = self.in_parentheses(Type::Bool, reader)?;
        let at = reader.places()?;
        reader.symbol("{")?;
        let body = self.within(self.loops + 1, reader)?;
        let step = if !starts_name(reader) && reader.accept_word("step") {
            reader.symbol("{")?;
            self.within(0, reader)?
        } else {
            Block::new()
        };
        Ok(statement(StatementKind::Loop { condition, test, body, step }, at))
    }

    /// A block in which `loops` loops can be left.
    fn within(&mut self, loops: usize, reader: &mut Reader) -> Read<Block> {
        let outside = std::mem::replace(&mut self.loops, loops);
        let block = self.block(reader);
        self.loops = outside;
        block
    }

    fn simple(&mut self, reader: &mut Reader) -> Read<StatementKind> {
        if reader.accept_word("send") {
            let source = self.source(reader)?;
            reader.keyword("to")?;
            let node = match self.named_thread(reader)? {
                Some(node) => node,
                None => return reader.fail("expected a node before this"),
            };
            return Ok(StatementKind::Send { source, node });
        }
        if reader.accept_word("destroy") {
            return Ok(StatementKind::Destroy { source: self.source(reader)? });
        }
        if reader.accept_word("dispatch") {
            return match self.name(reader)? {
                Name::Container(slot, true, length) => match self.element(slot, length, reader)? {
                    ContainerRef::One(slot) => Ok(StatementKind::Dispatch { slot }),
                    ContainerRef::Element { .. } | ContainerRef::Whole { .. } => {
                        reader.fail("only a threadref can be dispatched")
                    }
                },
                Name::Container(..) | Name::Constant(..) | Name::Variable(..) | Name::Import(..) | Name::Local(..) => {
                    reader.fail("only a threadref can be dispatched")
                }
            };
        }
        if reader.accept_word("return") {
            let value = match self.returns {
                Some(ty) => Some(self.expression_of(ty, reader)?),
                None => None,
            };
            return Ok(StatementKind::Return { value });
        }
        for what in [Leave::Loop, Leave::Turn] {
            if reader.accept_word(what.word()) {
                return if self.loops > 0 {
                    Ok(StatementKind::Leave { what })
                } else {
                    reader.fail(format!("`{}` stands in no loop", what.word()))
                };
            }
        }
        if reader.accept_word("fail") {
            return Ok(StatementKind::Fail { reason: self.reason(reader)? });
        }
        reader.expected("a statement")
    }

    /// Texts and values, in turn.
    fn reason(&mut self, reader: &mut Reader) -> Read<Reason> {
        let mut reason = Reason { texts: vec![reader.text("a reason, in quotes")?], values: Vec::new() };
        while reader.accept(",") {
            let (value, ty) = self.expression(reader)?;
            if ty == Type::Float || reason.values.len() == Reason::MOST_VALUES {
                return reader.fail("a reason has at most four values, and none is a float");
            }
            reason.values.push((value, ty));
            reader.symbol(",")?;
            reason.texts.push(reader.text("what follows the value, in quotes")?);
        }
        if !reason.values.is_empty() && reason.longest() > Reason::MOST_BYTES {
            return reader.fail("the reason may be too long");
        }
        Ok(reason)
    }

    /// A transfer or an assignment.
    fn named(&mut self, reader: &mut Reader) -> Read<StatementKind> {
        if let Some((thread, link)) = self.link(reader) {
            reader.symbol("=")?;
            return Ok(StatementKind::Link { thread, link, to: self.referent(reader)? });
        }
        let (place, ty) = match self.name(reader)? {
            Name::Container(first, slot, length) => {
                let container = self.element(first, length, reader)?;
                if reader.accept("=>") {
                    let source = Source::Container(container);
                    return Ok(StatementKind::Transfer { source, destination: self.destination(reader)? });
                }
                match container {
                    ContainerRef::One(container) if slot => self.member_of(Thread::Slot(container), reader)?,
                    ContainerRef::One(_) | ContainerRef::Element { .. } | ContainerRef::Whole { .. } => {
                        return reader.expected("`=>`");
                    }
                }
            }
            Name::Local(local, LocalKind::Thread | LocalKind::Node) => {
                if reader.accept("=>") {
                    let source = Source::Thread(local);
                    return Ok(StatementKind::Transfer { source, destination: self.destination(reader)? });
                }
                self.member_of(Thread::Local(local), reader)?
            }
            Name::Local(local, LocalKind::Value(ty)) => (Place::Local(local), ty),
            Name::Variable(variable, ty, length) => (self.variable(variable, length, reader)?, ty),
            Name::Import(import, ty) => (Place::Import(import), ty),
            Name::Constant(..) => return reader.fail("a constant cannot be assigned"),
        };
        reader.symbol("=")?;
        Ok(StatementKind::Set { place, value: self.expression_of(ty, reader)? })
    }

    pub(super) fn source(&mut self, reader: &mut Reader) -> Read<Source> {
        match self.name(reader)? {
            Name::Container(first, _, length) => Ok(Source::Container(self.element(first, length, reader)?)),
            Name::Local(local, LocalKind::Thread | LocalKind::Node) => Ok(Source::Thread(local)),
            Name::Local(_, LocalKind::Value(_)) | Name::Constant(..) | Name::Variable(..) | Name::Import(..) => {
                reader.fail("expected a thread or a container before this")
            }
        }
    }

    pub(super) fn container(&mut self, reader: &mut Reader) -> Read<ContainerRef> {
        match self.name(reader)? {
            Name::Container(first, _, length) => self.element(first, length, reader),
            Name::Local(..) | Name::Constant(..) | Name::Variable(..) | Name::Import(..) => {
                reader.fail("expected a container before this")
            }
        }
    }

    pub(super) fn thread(&mut self, reader: &mut Reader) -> Read<LocalId> {
        match self.name(reader)? {
            Name::Local(local, LocalKind::Thread | LocalKind::Node) => Ok(local),
            Name::Local(_, LocalKind::Value(_))
            | Name::Container(..)
            | Name::Constant(..)
            | Name::Variable(..)
            | Name::Import(..) => reader.fail("expected a thread before this"),
        }
    }

    pub(super) fn name(&mut self, reader: &mut Reader) -> Read<Name> {
        let line = reader.line();
        let name = reader.word("a name")?;
        let nth = reader.nth()?;
        let outer = reader.globals.0.get(&name).map_or(&[][..], Vec::as_slice);
        let inner = self.scope.0.get(&name).map_or(&[][..], Vec::as_slice);
        match outer.iter().chain(inner).nth(nth) {
            Some(meaning) => Ok(*meaning),
            None => Err(ReadError::new(line, format!("nothing is called `{}`", numbered(&name, nth)))),
        }
    }
}

/// The kind of the local that the next two words declare, if they declare one: `int x`.
fn declared_kind(reader: &Reader) -> Option<LocalKind> {
    let (Token::Word(word), Some((Token::Word(_), _))) = (reader.peek(), reader.tokens.get(reader.next + 1)) else {
        return None;
    };
    match word.as_str() {
        "thread" => Some(LocalKind::Thread),
        "node" => Some(LocalKind::Node),
        word => Type::from_word(word).map(LocalKind::Value),
    }
}

/// Whether a name comes next, and not a word of the text form: a name is followed by `#`, `.`, `[`, `=`, `=>`, `==` or
/// `in`. The other words before `==` are never names.
pub(super) fn starts_name(reader: &Reader) -> bool {
    let follows = reader.tokens.get(reader.next + 1).map(|(token, _)| token);
    let name_follows = match follows {
        Some(Token::Symbol(symbol)) => ["#", ".", "[", "=", "=>", "==", "!="].contains(symbol),
        Some(Token::Word(word)) => word == "in",
        Some(Token::Number(_) | Token::Float(_) | Token::Text(_) | Token::End) | None => false,
    };
    matches!(reader.peek(), Token::Word(word) if !["now", "true", "false"].contains(&word.as_str())) && name_follows
}

fn statement(kind: StatementKind, (at, called): (At, Option<At>)) -> Statement {
    Statement { id: StatementId(0), kind, at, called }
}
