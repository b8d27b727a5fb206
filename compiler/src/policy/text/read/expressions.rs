//! Expressions and their types.

use super::arrays::Index;
use super::statements::{HandlerReader, starts_name};
use super::{Name, Read, ReadError, Reader, Token};
use crate::policy::{
    Asked, BinaryOperator, ConstantId, ContainerRef, Expression, LocalKind, Place, Thread, Type, UnaryOperator,
};

impl HandlerReader {
    pub(super) fn expression_of(&mut self, ty: Type, reader: &mut Reader) -> Read<Expression> {
        let line = reader.line();
        let (expression, found) = self.expression(reader)?;
        if found == ty {
            return Ok(expression);
        }
        Err(ReadError::new(
            line,
            format!("expected an expression of type {}, found one of type {}", ty.word(), found.word()),
        ))
    }

    pub(super) fn expression(&mut self, reader: &mut Reader) -> Read<(Expression, Type)> {
        reader.nested(|reader| self.operand(reader))
    }

    fn operand(&mut self, reader: &mut Reader) -> Read<(Expression, Type)> {
        if reader.accept("|") {
            let container = self.container(reader)?;
            reader.symbol("|")?;
            return Ok((Expression::Size(container), Type::Int));
        }
        if reader.accept("!") {
            let operand = self.in_parentheses(Type::Bool, reader)?;
            return Ok((Expression::Unary(UnaryOperator::Not, Box::new(operand)), Type::Bool));
        }
        if *reader.peek() == Token::Symbol("-")
            && matches!(reader.tokens.get(reader.next + 1), Some((Token::Symbol("("), _)))
        {
            reader.advance();
            reader.symbol("(")?;
            let (operand, ty) = self.expression(reader)?;
            if ty == Type::Bool {
                return reader.fail("`-` needs a number");
            }
            reader.symbol(")")?;
            return Ok((Expression::Unary(UnaryOperator::Negate, Box::new(operand)), ty));
        }
        if reader.accept("(") {
            return self.parenthesized(reader);
        }
        if matches!(reader.peek(), Token::Word(word) if word == "nonzero")
            && matches!(reader.tokens.get(reader.next + 1), Some((Token::Symbol("("), _)))
        {
            reader.advance();
            let operand = self.in_parentheses(Type::Int, reader)?;
            return Ok((Expression::NotZero(Box::new(operand)), Type::Bool));
        }
        if matches!(reader.peek(), Token::Word(word) if word == "random")
            && matches!(reader.tokens.get(reader.next + 1), Some((Token::Symbol("("), _)))
        {
            reader.advance();
            return Ok((Expression::Random(Box::new(self.in_parentheses(Type::Int, reader)?)), Type::Int));
        }
        if let Token::Word(word) = reader.peek()
            && let Some(ty @ (Type::Int | Type::Float)) = Type::from_word(word)
            && matches!(reader.tokens.get(reader.next + 1), Some((Token::Symbol("("), _)))
        {
            reader.advance();
            let operand = self.in_parentheses(if ty == Type::Int { Type::Float } else { Type::Int }, reader)?;
            return Ok((Expression::Convert(ty, Box::new(operand)), ty));
        }
        if let Token::Word(word) = reader.peek()
            && let Some(operator) = BinaryOperator::from_word(word)
            && matches!(reader.tokens.get(reader.next + 1), Some((Token::Symbol("("), _)))
        {
            reader.advance();
            reader.symbol("(")?;
            let (left, ty) = self.expression(reader)?;
            reader.symbol(",")?;
            return self.joined(operator, (left, ty), reader);
        }
        if reader.accept_word("now") {
            return Ok((Expression::Now, Type::Time));
        }
        if matches!(reader.peek(), Token::Word(word) if word == "verbatim")
            && matches!(reader.tokens.get(reader.next + 1), Some((Token::Word(_), _)))
        {
            reader.advance();
            let (text, ty) = self.verbatim(Some(()), reader)?;
            let otherwise =
                if reader.accept_word("else") { Some(Box::new(self.in_parentheses(ty, reader)?)) } else { None };
            return Ok((Expression::Verbatim { ty, text, otherwise }, ty));
        }
        let literal = match reader.peek() {
            Token::Number(_) | Token::Float(_) | Token::Symbol("-") => true,
            Token::Word(word) => word == "true" || word == "false",
            Token::Symbol(_) | Token::Text(_) | Token::End => false,
        };
        if literal {
            let value = reader.value(self.bits)?;
            return Ok((Expression::Literal(value), value.ty()));
        }
        self.read_name(reader)
    }

    pub(super) fn in_parentheses(&mut self, ty: Type, reader: &mut Reader) -> Read<Expression> {
        reader.symbol("(")?;
        let operand = self.expression_of(ty, reader)?;
        reader.symbol(")")?;
        Ok(operand)
    }

    /// `(a + b)` or `(t in c)`, after the `(`.
    fn parenthesized(&mut self, reader: &mut Reader) -> Read<(Expression, Type)> {
        let start = reader.next;
        if let Some((thread, link)) = self.link(reader) {
            let Some(equal) = equality(reader) else { return reader.expected("`==` or `!=`") };
            let to = self.referent(reader)?;
            reader.symbol(")")?;
            return Ok((equal(Expression::Linked { thread, link, to }), Type::Bool));
        }
        if starts_name(reader)
            && let Some(thread) = self.named_thread(reader)?
        {
            if reader.accept_word("in") {
                let container = self.container(reader)?;
                reader.symbol(")")?;
                return Ok((Expression::In(thread, container, Asked::In), Type::Bool));
            }
            if let Some(equal) = equality(reader) {
                let compared = self.compared(thread, reader)?;
                reader.symbol(")")?;
                return Ok((equal(compared), Type::Bool));
            }
        }
        reader.next = start;
        let (left, ty) = self.expression(reader)?;
        if reader.accept("?") {
            if ty != Type::Bool {
                return reader.fail("before `?` stands a bool");
            }
            let (one, ty) = self.expression(reader)?;
            reader.symbol(":")?;
            let other = self.expression_of(ty, reader)?;
            reader.symbol(")")?;
            return Ok((Expression::Choose(Box::new(left), Box::new(one), Box::new(other)), ty));
        }
        let operator = match reader.peek() {
            Token::Symbol(symbol) => BinaryOperator::from_word(symbol),
            Token::Word(_) | Token::Number(_) | Token::Float(_) | Token::Text(_) | Token::End => None,
        };
        let Some(operator) = operator else { return reader.expected("an operator") };
        reader.advance();
        self.joined(operator, (left, ty), reader)
    }

    /// A thread compared with the thread or threadref that comes next.
    fn compared(&mut self, one: Thread, reader: &mut Reader) -> Read<Expression> {
        let start = reader.next;
        let other = self.named_thread(reader)?;
        Ok(match (one, other) {
            (Thread::Local(one), Some(Thread::Local(other))) => Expression::Same(one, other),
            (Thread::Slot(slot), Some(thread @ Thread::Local(_))) => {
                Expression::In(thread, ContainerRef::One(slot), Asked::Mirrored)
            }
            (thread, Some(Thread::Slot(_) | Thread::First(_)) | None) => {
                reader.next = start;
                Expression::In(thread, self.container(reader)?, Asked::Equal)
            }
            (Thread::First(_), Some(Thread::Local(_))) => return reader.fail("only a name is compared"),
        })
    }

    /// The right operand, and the `)` after it.
    fn joined(
        &mut self,
        operator: BinaryOperator,
        (left, ty): (Expression, Type),
        reader: &mut Reader,
    ) -> Read<(Expression, Type)> {
        let (right, other) = self.expression(reader)?;
        let Some(result) = operator.joins(ty, other) else {
            return reader.fail(format!("`{}` does not join {} and {}", operator.word(), ty.word(), other.word()));
        };
        reader.symbol(")")?;
        Ok((Expression::Binary(operator, Box::new(left), Box::new(right)), result))
    }

    pub(super) fn read_name(&mut self, reader: &mut Reader) -> Read<(Expression, Type)> {
        if !matches!(reader.peek(), Token::Word(_)) {
            return reader.expected("an expression");
        }
        let (place, ty) = match self.name(reader)? {
            Name::Constant(constant, ty, None) => return Ok((Expression::Constant(constant), ty)),
            Name::Constant(first, ty, Some(length)) => {
                return match self.index(length, reader)? {
                    None => reader.expected("`[`"),
                    Some(Index::Constant(index)) => Ok((Expression::Constant(ConstantId(first.0 + index)), ty)),
                    Some(Index::Computed(index)) => Ok((Expression::ConstantElement { first, length, index }, ty)),
                };
            }
            Name::Variable(variable, ty, length) => (self.variable(variable, length, reader)?, ty),
            Name::Import(import, ty) => (Place::Import(import), ty),
            Name::Local(local, LocalKind::Value(ty)) => (Place::Local(local), ty),
            Name::Local(local, LocalKind::Thread | LocalKind::Node) => self.member_of(Thread::Local(local), reader)?,
            Name::Container(first, true, length) => match self.element(first, length, reader)? {
                ContainerRef::One(slot) => self.member_of(Thread::Slot(slot), reader)?,
                ContainerRef::Element { .. } | ContainerRef::Whole { .. } => {
                    return reader.fail("only a threadref that is known before run time names its thread");
                }
            },
            Name::Container(first, false, length) => match self.element(first, length, reader)? {
                ContainerRef::One(container) => self.member_of(Thread::First(container), reader)?,
                ContainerRef::Element { .. } | ContainerRef::Whole { .. } => {
                    return reader.fail("only a container that is known before run time names its first thread");
                }
            },
        };
        Ok((Expression::Read(place), ty))
    }
}

/// What `==` or `!=` makes of a comparison of threads, if one of them comes next.
fn equality(reader: &mut Reader) -> Option<fn(Expression) -> Expression> {
    if reader.accept("==") {
        return Some(|equal| equal);
    }
    reader.accept("!=").then_some(|equal| Expression::Unary(UnaryOperator::Not, Box::new(equal)))
}
