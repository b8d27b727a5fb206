//! Expressions, with the precedence of C.

use crate::vocabulary::{At, BinaryOperator, UnaryOperator};

use super::Feature;
use super::ast::{Expression, ExpressionKind, Name, Place, Reference};
use super::lexer::TokenKind;
use super::parser::{Parse, Parser, Reported};
use super::words::another_name;

/// An expression and the depth of its tree.
struct Deep {
    expression: Expression,
    depth: usize,
}

/// Binary operators and how strongly they bind. Those of equal strength group from the left.
const OPERATORS: [(&str, u8, BinaryOperator); 18] = [
    ("||", 1, BinaryOperator::Or),
    ("&&", 2, BinaryOperator::And),
    ("|", 3, BinaryOperator::BitOr),
    ("^", 4, BinaryOperator::BitXor),
    ("&", 5, BinaryOperator::BitAnd),
    ("==", 6, BinaryOperator::Equal),
    ("!=", 6, BinaryOperator::NotEqual),
    ("<", 7, BinaryOperator::Less),
    ("<=", 7, BinaryOperator::LessOrEqual),
    (">", 7, BinaryOperator::Greater),
    (">=", 7, BinaryOperator::GreaterOrEqual),
    ("<<", 8, BinaryOperator::ShiftLeft),
    (">>", 8, BinaryOperator::ShiftRight),
    ("+", 9, BinaryOperator::Add),
    ("-", 9, BinaryOperator::Subtract),
    ("*", 10, BinaryOperator::Multiply),
    ("/", 10, BinaryOperator::Divide),
    ("%", 10, BinaryOperator::Remainder),
];

impl Parser<'_> {
    pub(crate) fn expression(&mut self) -> Parse<Expression> {
        self.choice().map(|deep| deep.expression)
    }

    /// An expression without comparisons: `1s + 5ms` in `1s + 5ms <= t`.
    pub(crate) fn sum(&mut self) -> Parse<Expression> {
        const SHIFT: u8 = 8;
        self.binary(SHIFT).map(|deep| deep.expression)
    }

    // Production: expression.
    fn choice(&mut self) -> Parse<Deep> {
        let condition = self.binary(0)?;
        if !self.eat_sign("?") {
            return Ok(condition);
        }
        let one = self.deeper(Self::choice)?;
        self.expect_sign(":")?;
        let other = self.deeper(Self::choice)?;
        let depth = condition.depth.max(one.depth).max(other.depth) + 1;
        self.check_depth(self.depth + depth)?;
        let at = condition.expression.at.to(other.expression.at);
        let [condition, one, other] = [condition, one, other].map(|deep| Box::new(deep.expression));
        Ok(Deep { expression: Expression { kind: ExpressionKind::Choose(condition, one, other), at }, depth })
    }

    // Productions: or, or_sign, and, bit_or, bit_xor, bit_and, equality, comparison, shift, sum, product.
    /// All these productions in one loop (precedence climbing). Reads operators that bind more strongly than `weaker`.
    fn binary(&mut self, weaker: u8) -> Parse<Deep> {
        let mut left = self.unary()?;
        while let Some((strength, operator)) = self.eat_operator(weaker) {
            let right = self.binary(strength)?;
            let depth = left.depth.max(right.depth) + 1;
            self.check_depth(self.depth + depth)?;
            let at = left.expression.at.to(right.expression.at);
            let kind = ExpressionKind::Binary(operator, Box::new(left.expression), Box::new(right.expression));
            left = Deep { expression: Expression { kind, at }, depth };
        }
        Ok(left)
    }

    fn ends_after_percent(&self) -> bool {
        self.follows_sign(";") || self.follows_word("within") || self.follows_word("because")
    }

    fn eat_operator(&mut self, weaker: u8) -> Option<(u8, BinaryOperator)> {
        let TokenKind::Sign(sign) = self.token.kind else {
            return None;
        };
        let or = sign == "|" && self.follows_sign("|") && self.token.at.end == self.following.at.start;
        let sign = if or { "||" } else { sign };
        if sign == "%" && self.percent_ends && self.ends_after_percent() {
            return None;
        }
        let (_, strength, operator) = OPERATORS.iter().find(|(written, ..)| *written == sign)?;
        if *strength <= weaker {
            return None;
        }
        self.advance();
        if or {
            self.advance();
        }
        Some((*strength, *operator))
    }

    // Production: unary.
    fn unary(&mut self) -> Parse<Deep> {
        let kind: fn(Box<Expression>) -> ExpressionKind = match self.token.kind {
            TokenKind::Sign("-") => |operand| ExpressionKind::Unary(UnaryOperator::Negate, operand),
            TokenKind::Sign("!") => |operand| ExpressionKind::Unary(UnaryOperator::Not, operand),
            TokenKind::Sign("~") => ExpressionKind::Complement,
            TokenKind::Word
            | TokenKind::Number(_)
            | TokenKind::Duration(_)
            | TokenKind::Float(_)
            | TokenKind::Text
            | TokenKind::Sign(_)
            | TokenKind::Bad(_)
            | TokenKind::End => {
                return self.primary();
            }
        };
        let start = self.advance().at;
        let operand = self.deeper(Self::unary)?;
        let kind = kind(Box::new(operand.expression));
        Ok(Deep { expression: Expression { kind, at: self.since(start) }, depth: operand.depth + 1 })
    }

    /// An expression, and the depth of its tree.
    pub(super) fn measured(&mut self) -> Parse<(Expression, usize)> {
        self.choice().map(|deep| (deep.expression, deep.depth))
    }

    // Production: primary.
    fn primary(&mut self) -> Parse<Deep> {
        let start = self.token.at;
        let (kind, depth) = match self.token.kind {
            TokenKind::Number(value) => {
                self.advance();
                (ExpressionKind::Int(value), 1)
            }
            TokenKind::Duration(nanoseconds) => {
                self.demand(Feature::Time, "durations", start);
                self.advance();
                (ExpressionKind::Duration(nanoseconds), 1)
            }
            TokenKind::Float(value) => {
                self.demand(Feature::Floats, "numbers with a fraction", start);
                self.advance();
                (ExpressionKind::Float(value), 1)
            }
            TokenKind::Word
                if let Some(ty) = self.type_word()
                    && self.follows_sign("(") =>
            {
                self.demand_type(ty);
                self.demand(Feature::Floats, "conversions", start);
                self.advance();
                self.advance();
                let inner = self.deeper(Self::choice)?;
                self.close_parenthesis()?;
                let kind = ExpressionKind::Convert(ty, Box::new(inner.expression));
                return Ok(Deep { expression: Expression { kind, at: self.since(start) }, depth: inner.depth + 1 });
            }
            TokenKind::Sign("(") => {
                self.advance();
                let mut inner = self.deeper(Self::choice)?;
                self.close_parenthesis()?;
                inner.expression.at = self.since(start);
                return Ok(inner);
            }
            TokenKind::Sign("|") => {
                self.advance();
                let (container, depth) = self.reference("the name of a container")?;
                if self.is_sign(".") {
                    return Err(self.no_container(&container, |link, _| format!("test it: `{link} != none`")));
                }
                self.expect_sign("|")?;
                (ExpressionKind::Size(container), depth)
            }
            TokenKind::Word if self.is_word("verbatim") => {
                let (kind, depth) = self.verbatim_expression()?;
                return Ok(Deep { expression: Expression { kind, at: self.since(start) }, depth });
            }
            TokenKind::Word => self.named()?,
            TokenKind::Text | TokenKind::Sign(_) | TokenKind::Bad(_) | TokenKind::End => {
                return Err(self.expected("an expression"));
            }
        };
        Ok(Deep { expression: Expression { kind, at: self.since(start) }, depth })
    }

    fn named(&mut self) -> Parse<(ExpressionKind, usize)> {
        if let Some(word @ ("true" | "false")) = self.word() {
            self.advance();
            return Ok((ExpressionKind::Bool(word == "true"), 1));
        }
        if self.is_word("now") {
            self.demand(Feature::Time, "`now`", self.token.at);
            self.advance();
            return Ok((ExpressionKind::Now, 1));
        }
        let name = self.name("an expression")?;
        if self.is_sign("(") {
            return Ok((ExpressionKind::Call(self.call(name)?), 1));
        }
        let (first, depth) = self.element_of(name)?;
        if self.eat_word("in") {
            let (container, other) = self.reference("the name of a container")?;
            if self.is_sign(".") {
                let thread = &first.name.text;
                return Err(self.no_container(&container, |link, _| format!("compare: `{link} == {thread}`")));
            }
            return Ok((ExpressionKind::In(first, container), depth.max(other)));
        }
        if self.is_word("is") {
            self.demand(Feature::Families, "families of nodes", self.token.at);
            self.advance();
            let family = self.name("the name of a family of nodes")?;
            return Ok((ExpressionKind::Is(first, family), depth));
        }
        let (place, other) = self.place_after(first)?;
        if self.is_word("in")
            && let Place::Member { thread, member } = &place
        {
            let (link, name) = (format!("{}.{}", thread.name.text, member.text), another_name(&thread.name.text));
            let nameless = self.unexpected("an operator").note("only a thread that has a name can be looked for");
            let help = format!("give it one: `foreach {name} in {link} {{ if ({name} in …) … }}`");
            return Err(self.report(nameless.help(help)));
        }
        Ok((ExpressionKind::Place(place), depth.max(other)))
    }

    // Production: reference.
    /// A reference, and the depth of its index's tree.
    pub(crate) fn reference(&mut self, what: &str) -> Parse<(Reference, usize)> {
        let name = self.name(what)?;
        self.element_of(name)
    }

    /// The rest of a reference, after its name.
    pub(crate) fn element_of(&mut self, name: Name) -> Parse<(Reference, usize)> {
        let Some((index, depth)) = self.index()? else { return Ok((Reference::from(name), 1)) };
        let at = self.since(name.at);
        Ok((Reference { name, index: Some(Box::new(index)), at }, depth))
    }

    /// `[ expression ]`, and its depth.
    fn index(&mut self) -> Parse<Option<(Expression, usize)>> {
        if !self.eat_sign("[") {
            return Ok(None);
        }
        let index = self.deeper(Self::choice)?;
        if !self.eat_sign("]") {
            return Err(self.expected("`]` or an operator"));
        }
        if self.is_sign("[") {
            let second = self.unexpected("the end of the index").note("an array has one dimension");
            return Err(self.report(second.help("compute one index: `a[row * COLUMNS + column]`")));
        }
        Ok(Some((index.expression, index.depth + 1)))
    }

    // Production: place.
    /// The rest of a place, after its first reference; also the depth of its index's tree.
    pub(crate) fn place_after(&mut self, first: Reference) -> Parse<(Place, usize)> {
        let start = first.at;
        if self.eat_sign(".") {
            let member = self.name("the name of an attribute or import of the thread")?;
            if self.is_sign("(") {
                return Err(self.no_method(&first, &member));
            }
            if self.is_sign(".") {
                return Err(self.no_name(&first, &member));
            }
            let place = Place::Member { thread: first, member };
            let Some((index, depth)) = self.index()? else { return Ok((place, 1)) };
            let at = self.since(start);
            return Ok((Place::Element { array: Box::new(place), index: Box::new(index), at }, depth));
        }
        let place = Place::Name(first.name);
        Ok(match first.index {
            None => (place, 1),
            Some(index) => (Place::Element { array: Box::new(place), index, at: first.at }, 1),
        })
    }

    /// The `)` after an expression, with advice for the usual slips of C programmers.
    pub(crate) fn close_parenthesis(&mut self) -> Parse<At> {
        let advice = match self.token.kind {
            TokenKind::Sign(")") => return Ok(self.advance().at),
            TokenKind::Sign("=") => "`=` assigns; write `==` to compare",
            TokenKind::Word
            | TokenKind::Number(_)
            | TokenKind::Duration(_)
            | TokenKind::Float(_)
            | TokenKind::Text
            | TokenKind::Sign(_)
            | TokenKind::Bad(_)
            | TokenKind::End => {
                return Err(self.expected("`)` or an operator"));
            }
        };
        let slip = self.unexpected("`)` or an operator").help(advice);
        Err(self.report(slip))
    }

    /// The condition in the parentheses of `if ( … )`. After an error in it, skips to behind the `)`.
    pub(crate) fn condition(&mut self) -> Parse<Expression> {
        if !self.is_sign("(") {
            let bare = self.unexpected("`(`").help("a condition stands in parentheses: `(n > 0)`");
            return Err(self.report(bare));
        }
        let opened = self.advance().at;
        let condition = match self.expression() {
            Ok(condition) => self.close_parenthesis().map(|_| condition),
            Err(Reported) => Err(Reported),
        };
        Ok(condition.unwrap_or_else(|Reported| {
            self.skip_to_parenthesis(opened);
            Expression { kind: ExpressionKind::Lost, at: self.since(opened) }
        }))
    }
}
