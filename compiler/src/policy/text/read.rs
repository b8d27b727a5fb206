//! Text to policy. What it returns is well-formed: every index leads somewhere, every operand has the type it needs.

mod arrays;

use std::collections::HashMap;

use super::lexer::{Token, tokens};
use crate::policy::{
    At, Attribute, AttributeId, BinaryOperator, Block, Constant, ConstantId, Container, ContainerId, ContainerKind,
    ContainerRef, Element, Expression, Float, Handler, Import, ImportId, Local, LocalId, LocalKind, Owner, Piece,
    Place, Policy, Preamble, SortKey, Source, StateClass, Statement, StatementId, StatementKind, Test, Thread,
    ThreadImportId, Type, UnaryOperator, Value, Variable, VariableId, Verbatim,
};
use crate::vocabulary::UNITS;
use arrays::{Index, elements};

/// Why a text is no policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// What was expected and what was found.
    pub message: String,
}

impl ReadError {
    pub(super) fn new(line: usize, message: impl Into<String>) -> Self {
        ReadError { line, message: message.into() }
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

/// How deep statements and expressions can be nested: twice what the language allows, since what it leaves implicit has
/// levels of its own here. The stack is finite.
const DEEPEST: usize = 250;

/// The policy that this text describes.
///
/// # Errors
/// The first line that is not as [`print`](super::print()) would have written it, layout aside, and what was expected there.
pub fn read(text: &str) -> Result<Policy, ReadError> {
    let mut reader =
        Reader { tokens: tokens(text)?, next: 0, depth: 0, globals: Scope::default(), members: Scope::default() };
    let mut policy = reader.policy()?;
    policy.number_statements();
    Ok(policy)
}

struct Reader {
    tokens: Vec<(Token, usize)>,
    next: usize,
    depth: usize,
    /// Constants, variables, imports, containers.
    globals: Scope<Name>,
    /// Attributes and thread imports.
    members: Scope<Member>,
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Name {
    /// Arrays: the first element and the length.
    Constant(ConstantId, Type, Option<usize>),
    Variable(VariableId, Type, Option<usize>),
    Import(ImportId, Type),
    /// True: a threadref.
    Container(ContainerId, bool, Option<usize>),
    Local(LocalId, LocalKind),
}

/// What a name after a dot stands for.
#[derive(Clone, Copy)]
enum Member {
    Attribute(AttributeId, Type, Option<usize>),
    Import(ThreadImportId, Type),
}

/// The longest array.
const LONGEST: usize = 256;
/// So many containers can be told apart in generated code.
const MOST_CONTAINERS: usize = 65_535;

/// Names, each with everything it can stand for, from the outside in.
#[derive(Clone)]
struct Scope<T>(HashMap<String, Vec<T>>);

impl<T> Default for Scope<T> {
    fn default() -> Self {
        Scope(HashMap::new())
    }
}

impl<T: Copy> Scope<T> {
    fn declare(&mut self, name: &str, meaning: T) {
        self.0.entry(name.to_owned()).or_default().push(meaning);
    }
}

type Read<T> = Result<T, ReadError>;

/// Words, to be looked at and taken one by one.
impl Reader {
    fn peek(&self) -> &Token {
        self.tokens.get(self.next).map_or(&Token::End, |(token, _)| token)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.next).or(self.tokens.last()).map_or(1, |(_, line)| *line)
    }

    fn advance(&mut self) {
        self.next += 1;
    }

    fn expected<T>(&self, what: &str) -> Read<T> {
        Err(ReadError::new(self.line(), format!("expected {what}, found {}", self.peek().describe())))
    }

    fn fail<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(ReadError::new(self.line(), message))
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Token::Symbol(next) if *next == symbol);
        if found {
            self.advance();
        }
        found
    }

    fn symbol(&mut self, symbol: &str) -> Read<()> {
        if self.accept(symbol) { Ok(()) } else { self.expected(&format!("`{symbol}`")) }
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(next) if next == word);
        if found {
            self.advance();
        }
        found
    }

    fn keyword(&mut self, word: &str) -> Read<()> {
        if self.accept_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    fn word(&mut self, what: &str) -> Read<String> {
        match self.peek() {
            Token::Word(word) => {
                let word = word.clone();
                self.advance();
                Ok(word)
            }
            Token::Number(_) | Token::Float(_) | Token::Text(_) | Token::Symbol(_) | Token::End => self.expected(what),
        }
    }

    fn number<T: TryFrom<u64>>(&mut self, what: &str) -> Read<T> {
        if let Token::Number(number) = self.peek() {
            let Ok(small) = T::try_from(*number) else { return self.fail(format!("{number} is too big for {what}")) };
            self.advance();
            return Ok(small);
        }
        self.expected(what)
    }

    fn text(&mut self, what: &str) -> Read<String> {
        if let Token::Text(text) = self.peek() {
            let text = text.clone();
            self.advance();
            return Ok(text);
        }
        self.expected(what)
    }

    /// `block.io.read`, `block.*`
    fn dotted(&mut self, what: &str) -> Read<String> {
        let mut name = if self.accept("*") { "*".to_owned() } else { self.word(what)? };
        while self.accept(".") {
            name.push('.');
            if self.accept("*") {
                name.push('*');
            } else {
                name += &self.word("the rest of a name")?;
            }
        }
        Ok(name)
    }

    /// `framework`, if the framework owns it.
    fn owner(&mut self) -> Owner {
        if self.accept_word("framework") { Owner::Framework } else { Owner::Policy }
    }

    /// `@12:300..310`
    fn at(&mut self) -> Read<At> {
        self.symbol("@")?;
        let line = self.number("a line")?;
        self.symbol(":")?;
        let start = self.number("where it starts")?;
        self.symbol("..")?;
        let end = self.number("where it ends")?;
        Ok(At { start, end, line })
    }

    fn ty(&mut self) -> Read<Type> {
        let ty = match self.peek() {
            Token::Word(word) => Type::from_word(word),
            Token::Number(_) | Token::Float(_) | Token::Text(_) | Token::Symbol(_) | Token::End => None,
        };
        let Some(ty) = ty else { return self.expected("`int`, `bool`, `time` or `float`") };
        self.advance();
        Ok(ty)
    }

    /// A number with its sign, `true`, `false`, or a number of nanoseconds or a longer unit.
    fn value(&mut self, bits: u8) -> Read<Value> {
        if self.accept_word("true") {
            return Ok(Value::Bool(true));
        }
        if self.accept_word("false") {
            return Ok(Value::Bool(false));
        }
        let negative = self.accept("-");
        if let Token::Float(float) = *self.peek() {
            self.advance();
            return Ok(Value::Float(if negative { Float::new(-float.get()) } else { float }));
        }
        let magnitude = i128::from(self.number::<u64>("a value")?);
        let value = if negative { -magnitude } else { magnitude };
        let unit = match self.peek() {
            Token::Word(word) => UNITS.into_iter().find(|(unit, _)| unit == word),
            Token::Number(_) | Token::Float(_) | Token::Text(_) | Token::Symbol(_) | Token::End => None,
        };
        if let Some((unit, length)) = unit {
            self.advance();
            return match i64::try_from(value * i128::from(length)) {
                Ok(time) => Ok(Value::Time(time)),
                Err(_) => self.fail(format!("{value}{unit} does not fit a time")),
            };
        }
        let range = -(1_i128 << (bits - 1))..1_i128 << (bits - 1);
        match i64::try_from(value) {
            Ok(small) if range.contains(&value) => Ok(Value::Int(small)),
            Ok(_) | Err(_) => self.fail(format!("{value} does not fit an int of {bits} bits")),
        }
    }

    fn value_of(&mut self, ty: Type, bits: u8) -> Read<Value> {
        let line = self.line();
        let value = self.value(bits)?;
        if value.ty() == ty {
            Ok(value)
        } else {
            Err(ReadError::new(line, format!("expected a value of type {}", ty.word())))
        }
    }

    /// Counts a level of nesting while `inside` reads it.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == DEEPEST {
            return self.fail(format!("nested more than {DEEPEST} deep"));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }
}

/// Declarations.
impl Reader {
    fn policy(&mut self) -> Read<Policy> {
        self.keyword("policy")?;
        let name = self.word("the name of the policy")?;
        self.keyword("framework")?;
        let framework = self.word("the name of the framework")?;
        self.keyword("source")?;
        let source = self.text("the name of the source, in quotes")?;
        self.keyword("int")?;
        let int_bits = self.number("the width of int")?;
        if ![16, 32, 64].contains(&int_bits) {
            return self.fail(format!("int has 16, 32 or 64 bits, not {int_bits}"));
        }
        let mut policy = Policy {
            name,
            framework,
            source,
            int_bits,
            preamble: Vec::new(),
            constants: Vec::new(),
            attributes: Vec::new(),
            thread_imports: Vec::new(),
            imports: Vec::new(),
            variables: Vec::new(),
            containers: Vec::new(),
            events: Vec::new(),
            queries: Vec::new(),
        };
        self.declarations(&mut policy)?;
        while self.accept_word("event") {
            let handler = self.handler(false, &policy)?;
            policy.events.push(handler);
        }
        while self.accept_word("query") {
            let handler = self.handler(true, &policy)?;
            policy.queries.push(handler);
        }
        if *self.peek() == Token::End {
            Ok(policy)
        } else {
            self.expected("a declaration, in the order in which they are printed")
        }
    }

    fn declarations(&mut self, policy: &mut Policy) -> Read<()> {
        let bits = policy.int_bits;
        while self.accept_word("verbatim") {
            let language = self.word("a language")?;
            let text = self.text("verbatim text, in quotes")?;
            policy.preamble.push(Preamble { language, text, at: self.at()? });
        }
        while self.accept_word("const") {
            let name = self.word("a name")?;
            let length = self.length()?;
            self.symbol("=")?;
            let value = self.value(bits)?;
            let ty = value.ty();
            self.globals.declare(&name, Name::Constant(ConstantId(policy.constants.len()), ty, length));
            for (name, element) in elements(&name, length) {
                let value =
                    if element.is_none_or(|element| element.index == 0) { value } else { self.next_value(ty, bits)? };
                policy.constants.push(Constant { name, element, value });
            }
        }
        loop {
            let attribute = AttributeId(policy.attributes.len());
            if self.accept_word("attribute") {
                let (name, length, ty) = self.typed_name()?;
                self.members.declare(&name, Member::Attribute(attribute, ty, length));
                for (name, element) in elements(&name, length) {
                    let initial = self.initial(element, ty, bits)?;
                    policy.attributes.push(Attribute { name, element, ty, initial, timer: None });
                }
            } else if self.accept_word("timer") {
                let (name, ty, initial) = (self.word("a name")?, Type::Time, Value::Time(0));
                self.keyword("raises")?;
                let timer = Some(self.dotted("the name of an event")?);
                self.members.declare(&name, Member::Attribute(attribute, ty, None));
                policy.attributes.push(Attribute { name, element: None, ty, initial, timer });
            } else {
                break;
            }
        }
        while self.accept_word("threadimport") {
            let import = self.import(bits)?;
            let id = ThreadImportId(policy.thread_imports.len());
            self.members.declare(&import.name, Member::Import(id, import.ty));
            policy.thread_imports.push(import);
        }
        // Names are numbered in the order constants, variables, imports, although imports are printed first.
        while self.accept_word("import") {
            policy.imports.push(self.import(bits)?);
        }
        while self.accept_word("variable") {
            let (name, length, ty) = self.typed_name()?;
            self.globals.declare(&name, Name::Variable(VariableId(policy.variables.len()), ty, length));
            for (name, element) in elements(&name, length) {
                let initial = self.initial(element, ty, bits)?;
                policy.variables.push(Variable { name, element, ty, initial });
            }
        }
        for (index, import) in policy.imports.iter().enumerate() {
            self.globals.declare(&import.name, Name::Import(ImportId(index), import.ty));
        }
        while self.accept_word("container") {
            let (container, length) = self.container()?;
            let slot = container.kind == ContainerKind::Threadref;
            let first = ContainerId(policy.containers.len());
            if first.0 + length.unwrap_or(1) > MOST_CONTAINERS {
                return self.fail(format!("more than {MOST_CONTAINERS} containers"));
            }
            self.globals.declare(&container.name, Name::Container(first, slot, length));
            for (name, element) in elements(&container.name, length) {
                policy.containers.push(Container { name, element, ..container.clone() });
            }
        }
        Ok(())
    }

    fn typed_name(&mut self) -> Read<(String, Option<usize>, Type)> {
        let name = self.word("a name")?;
        let length = self.length()?;
        self.symbol(":")?;
        Ok((name, length, self.ty()?))
    }

    /// `[4]`, of an array.
    fn length(&mut self) -> Read<Option<usize>> {
        if !self.accept("[") {
            return Ok(None);
        }
        let length = self.number("the length of an array")?;
        if length == 0 || length > LONGEST {
            return self.fail(format!("an array has 1 to {LONGEST} elements, not {length}"));
        }
        self.symbol("]")?;
        Ok(Some(length))
    }

    /// `= 1`, or of a later element `, 1`.
    fn initial(&mut self, element: Option<Element>, ty: Type, bits: u8) -> Read<Value> {
        if element.is_some_and(|element| element.index > 0) {
            return self.next_value(ty, bits);
        }
        self.symbol("=")?;
        self.value_of(ty, bits)
    }

    fn next_value(&mut self, ty: Type, bits: u8) -> Read<Value> {
        self.symbol(",")?;
        self.value_of(ty, bits)
    }

    fn import(&mut self, bits: u8) -> Read<Import> {
        let (name, length, ty) = self.typed_name()?;
        if length.is_some() {
            return self.fail("an import is no array");
        }
        self.keyword("default")?;
        let default = self.value_of(ty, bits)?;
        Ok(Import { name, ty, default })
    }

    fn container(&mut self) -> Read<(Container, Option<usize>)> {
        let name = self.word("a name")?;
        let length = self.length()?;
        self.symbol(":")?;
        let kind = match self.word("a kind of container")?.as_str() {
            "threadref" => ContainerKind::Threadref,
            "queue" => ContainerKind::Queue,
            "stack" => ContainerKind::Stack,
            "pqueue" => ContainerKind::Pqueue(self.sort_keys()?),
            "pstack" => ContainerKind::Pstack(self.sort_keys()?),
            other => {
                return self
                    .fail(format!("`{other}` is no kind of container: threadref, queue, stack, pqueue, pstack"));
            }
        };
        let word = self.word("a state class")?;
        let Some(class) = StateClass::from_word(&word) else {
            return self.fail(format!("`{word}` is no state class: RUNNING, READY, BLOCKED, TERMINATED"));
        };
        let container = Container { name, element: None, kind, class, owner: self.owner(), at: self.at()? };
        Ok((container, length))
    }

    fn sort_keys(&mut self) -> Read<Vec<SortKey>> {
        self.symbol("(")?;
        let mut keys = Vec::new();
        loop {
            // An attribute can have this name: then `reverse` stands alone.
            let mut name = self.word("a sort key")?;
            let reverse = name == "reverse" && matches!(self.peek(), Token::Word(_));
            if reverse {
                name = self.word("a sort key")?;
            }
            let Member::Attribute(attribute, _, None) = self.member(&name)? else {
                return self.fail(format!("`{name}` is no attribute of threads, so nothing is sorted by it"));
            };
            keys.push(SortKey { attribute, reverse });
            if !self.accept(",") {
                break;
            }
        }
        self.symbol(")")?;
        Ok(keys)
    }

    fn handler(&mut self, query: bool, policy: &Policy) -> Read<Handler> {
        let name = self.dotted("the name of an event or query")?;
        let mut locals = Vec::new();
        self.symbol("(")?;
        if !self.accept(")") {
            loop {
                locals.push(Local { name: self.word("a parameter")?, kind: LocalKind::Thread });
                if !self.accept(",") {
                    break;
                }
            }
            self.symbol(")")?;
        }
        let parameters = locals.len();
        let returns = if query {
            self.symbol(":")?;
            Some(self.ty()?)
        } else {
            None
        };
        let written = if self.accept_word("as") { self.dotted("a written name")? } else { name.clone() };
        let (owner, at) = (self.owner(), self.at()?);
        self.symbol("{")?;
        let body = HandlerReader { scope: Scope::default(), bits: policy.int_bits, returns };
        body.read(self, &mut locals).map(|body| Handler { name, written, locals, parameters, returns, body, owner, at })
    }

    fn member(&mut self, name: &str) -> Read<Member> {
        let nth = self.nth()?;
        match self.members.0.get(name).and_then(|meanings| meanings.get(nth)) {
            Some(member) => Ok(*member),
            None => self.fail(format!("threads have no `{}`", numbered(name, nth))),
        }
    }

    /// `#2`, or nothing for 0.
    fn nth(&mut self) -> Read<usize> {
        if self.accept("#") { self.number("which of that name") } else { Ok(0) }
    }
}

fn numbered(name: &str, nth: usize) -> String {
    if nth == 0 { name.to_owned() } else { format!("{name}#{nth}") }
}

/// Reads the inside of one handler.
struct HandlerReader {
    scope: Scope<Name>,
    bits: u8,
    returns: Option<Type>,
}

impl HandlerReader {
    fn read(mut self, reader: &mut Reader, locals: &mut Vec<Local>) -> Read<Block> {
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

    /// Statements up to and with `}`.
    fn block(&mut self, reader: &mut Reader) -> Read<Block> {
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
            let at = reader.at()?;
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
            let container = self.container(reader)?;
            let at = reader.at()?;
            reader.symbol("{")?;
            let body = self.block(reader)?;
            return Ok(statement(StatementKind::Foreach { cursor, container, body }, at));
        }
        if !starts_name && reader.accept_word("verbatim") {
            let text = self.verbatim(None, reader)?.0;
            if reader.accept(";") {
                let at = reader.at()?;
                return Ok(statement(StatementKind::Verbatim { text, otherwise: None }, at));
            }
            reader.keyword("else")?;
            let at = reader.at()?;
            reader.symbol("{")?;
            let otherwise = Some(self.block(reader)?);
            return Ok(statement(StatementKind::Verbatim { text, otherwise }, at));
        }
        let test = if !starts_name && reader.accept_word("do") { Test::After } else { Test::Before };
        if test == Test::After || !starts_name && matches!(reader.peek(), Token::Word(word) if word == "while") {
            return self.repetition(test, reader);
        }
        let kind = if starts_name { self.named(reader)? } else { self.simple(reader)? };
        reader.symbol(";")?;
        let at = reader.at()?;
        Ok(statement(kind, at))
    }

    /// `c ("print(", x, ");")` or, `typed`, `c int ("f(", x, ")")`, after `verbatim`.
    fn verbatim(&mut self, typed: Option<()>, reader: &mut Reader) -> Read<(Verbatim, Type)> {
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
                Name::Local(local, LocalKind::Thread) => Ok(Piece::Thread(Thread::Local(local))),
                Name::Container(slot, true, None) => Ok(Piece::Thread(Thread::Slot(slot))),
                Name::Local(_, LocalKind::Value(_))
                | Name::Container(..)
                | Name::Constant(..)
                | Name::Variable(..)
                | Name::Import(..) => reader.fail("expected a thread before this"),
            };
        }
        match self.read_name(reader)?.0 {
            Expression::Constant(constant) => Ok(Piece::Constant(constant)),
            Expression::Read(place) => Ok(Piece::Place(place)),
            Expression::Literal(_)
            | Expression::Convert(..)
            | Expression::ConstantElement { .. }
            | Expression::Now
            | Expression::Size(_)
            | Expression::In(..)
            | Expression::Unary(..)
            | Expression::Binary(..)
            | Expression::NotZero(_)
            | Expression::Verbatim { .. } => reader.fail("expected a name before this"),
        }
    }

    /// `while (c) @1:2..3 { … } step { … }`
    fn repetition(&mut self, test: Test, reader: &mut Reader) -> Read<Statement> {
        reader.keyword("while")?;
        let condition = self.in_parentheses(Type::Bool, reader)?;
        let at = reader.at()?;
        reader.symbol("{")?;
        let body = self.block(reader)?;
        let step = if !starts_name(reader) && reader.accept_word("step") {
            reader.symbol("{")?;
            self.block(reader)?
        } else {
            Block::new()
        };
        Ok(statement(StatementKind::Loop { condition, test, body, step }, at))
    }

    fn simple(&mut self, reader: &mut Reader) -> Read<StatementKind> {
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
        if reader.accept_word("fail") {
            return Ok(StatementKind::Fail { reason: reader.text("a reason, in quotes")? });
        }
        reader.expected("a statement")
    }

    /// A transfer or an assignment.
    fn named(&mut self, reader: &mut Reader) -> Read<StatementKind> {
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
            Name::Local(local, LocalKind::Thread) => {
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

    fn source(&mut self, reader: &mut Reader) -> Read<Source> {
        match self.name(reader)? {
            Name::Container(first, _, length) => Ok(Source::Container(self.element(first, length, reader)?)),
            Name::Local(local, LocalKind::Thread) => Ok(Source::Thread(local)),
            Name::Local(_, LocalKind::Value(_)) | Name::Constant(..) | Name::Variable(..) | Name::Import(..) => {
                reader.fail("expected a thread or a container before this")
            }
        }
    }

    fn container(&mut self, reader: &mut Reader) -> Read<ContainerRef> {
        match self.name(reader)? {
            Name::Container(first, _, length) => self.element(first, length, reader),
            Name::Local(..) | Name::Constant(..) | Name::Variable(..) | Name::Import(..) => {
                reader.fail("expected a container before this")
            }
        }
    }

    fn thread(&mut self, reader: &mut Reader) -> Read<LocalId> {
        match self.name(reader)? {
            Name::Local(local, LocalKind::Thread) => Ok(local),
            Name::Local(_, LocalKind::Value(_))
            | Name::Container(..)
            | Name::Constant(..)
            | Name::Variable(..)
            | Name::Import(..) => reader.fail("expected a thread before this"),
        }
    }

    fn name(&mut self, reader: &mut Reader) -> Read<Name> {
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

    fn expression_of(&mut self, ty: Type, reader: &mut Reader) -> Read<Expression> {
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

    fn expression(&mut self, reader: &mut Reader) -> Read<(Expression, Type)> {
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
        if let Token::Word(word) = reader.peek()
            && let Some(ty @ (Type::Int | Type::Float)) = Type::from_word(word)
            && matches!(reader.tokens.get(reader.next + 1), Some((Token::Symbol("("), _)))
        {
            reader.advance();
            let operand = self.in_parentheses(if ty == Type::Int { Type::Float } else { Type::Int }, reader)?;
            return Ok((Expression::Convert(ty, Box::new(operand)), ty));
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

    fn in_parentheses(&mut self, ty: Type, reader: &mut Reader) -> Read<Expression> {
        reader.symbol("(")?;
        let operand = self.expression_of(ty, reader)?;
        reader.symbol(")")?;
        Ok(operand)
    }

    /// `(a + b)` or `(t in c)`, after the `(`.
    fn parenthesized(&mut self, reader: &mut Reader) -> Read<(Expression, Type)> {
        let start = reader.next;
        if starts_name(reader)
            && let Some(thread) = self.named_thread(reader)?
            && reader.accept_word("in")
        {
            let container = self.container(reader)?;
            reader.symbol(")")?;
            return Ok((Expression::In(thread, container), Type::Bool));
        }
        reader.next = start;
        let (left, ty) = self.expression(reader)?;
        let operator = match reader.peek() {
            Token::Symbol(symbol) => BinaryOperator::from_word(symbol),
            Token::Word(_) | Token::Number(_) | Token::Float(_) | Token::Text(_) | Token::End => None,
        };
        let Some(operator) = operator else { return reader.expected("an operator") };
        reader.advance();
        let (right, other) = self.expression(reader)?;
        let Some(result) = operator.joins(ty, other) else {
            return reader.fail(format!("`{}` does not join {} and {}", operator.word(), ty.word(), other.word()));
        };
        reader.symbol(")")?;
        Ok((Expression::Binary(operator, Box::new(left), Box::new(right)), result))
    }

    fn read_name(&mut self, reader: &mut Reader) -> Read<(Expression, Type)> {
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
            Name::Local(local, LocalKind::Thread) => self.member_of(Thread::Local(local), reader)?,
            Name::Container(first, true, length) => match self.element(first, length, reader)? {
                ContainerRef::One(slot) => self.member_of(Thread::Slot(slot), reader)?,
                ContainerRef::Element { .. } | ContainerRef::Whole { .. } => {
                    return reader.fail("only a threadref that is known before run time names its thread");
                }
            },
            Name::Container(_, false, _) => return reader.fail("a container is no value; `|c|` is how many it holds"),
        };
        Ok((Expression::Read(place), ty))
    }
}

/// What the next two words declare, if they declare a local: `int x`.
fn declared_kind(reader: &Reader) -> Option<LocalKind> {
    let (Token::Word(word), Some((Token::Word(_), _))) = (reader.peek(), reader.tokens.get(reader.next + 1)) else {
        return None;
    };
    match word.as_str() {
        "thread" => Some(LocalKind::Thread),
        word => Type::from_word(word).map(LocalKind::Value),
    }
}

/// Whether a name comes next, and not a word of the text form: a name is followed by `#`, `.`, `[`, `=`, `=>` or `in`.
fn starts_name(reader: &Reader) -> bool {
    let follows = reader.tokens.get(reader.next + 1).map(|(token, _)| token);
    let name_follows = match follows {
        Some(Token::Symbol(symbol)) => ["#", ".", "[", "=", "=>"].contains(symbol),
        Some(Token::Word(word)) => word == "in",
        Some(Token::Number(_) | Token::Float(_) | Token::Text(_) | Token::End) | None => false,
    };
    matches!(reader.peek(), Token::Word(_)) && name_follows
}

fn statement(kind: StatementKind, at: At) -> Statement {
    Statement { id: StatementId(0), kind, at }
}
