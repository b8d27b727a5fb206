//! Reads a policy from text. The result is well-formed: every index is valid, every operand has the type it needs.

mod arrays;
mod expressions;
mod families;
mod links;
mod statements;

use std::collections::HashMap;

use super::lexer::{Token, tokens};
use crate::policy::{
    At, Attribute, AttributeId, Constant, ConstantId, Container, ContainerId, ContainerKind, Element, Entity, Float,
    Handler, Import, ImportId, Link, LinkId, Local, LocalId, LocalKind, MOST_ELEMENTS, Owner, Policy, Preamble,
    SortKey, StateClass, ThreadImportId, Type, UsedFile, Value, Variable, VariableId,
};
use crate::vocabulary::UNITS;
use arrays::elements;
use statements::HandlerReader;

/// Why a text is not a policy.
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

/// How deep statements and expressions can be nested: more than twice what the language allows, because what it leaves
/// implicit has levels of its own here. The stack is finite.
const DEEPEST: usize = 250;

/// The policy that this text describes.
///
/// # Errors
/// The first line that [`print`](super::print()) would write otherwise, layout aside, and what was expected there.
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
    /// Attributes, links and thread imports.
    members: Scope<Member>,
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Name {
    /// For an array: the first element, and the length.
    Constant(ConstantId, Type, Option<usize>),
    Variable(VariableId, Type, Option<usize>),
    Import(ImportId, Type),
    /// `true`: a threadref.
    Container(ContainerId, bool, Option<usize>),
    Local(LocalId, LocalKind),
}

/// What a name after a dot stands for.
#[derive(Clone, Copy)]
enum Member {
    Attribute(AttributeId, Type, Option<usize>),
    Link(LinkId),
    Import(ThreadImportId, Type),
}

/// How many containers generated code can tell apart.
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

/// Looks at tokens and takes them, one by one.
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

    /// `@1:2..3 @4:5..6`: the place of a statement, and if it is inlined, the call in the handler.
    fn places(&mut self) -> Read<(At, Option<At>)> {
        let at = self.at()?;
        let called = matches!(self.peek(), Token::Symbol("@")).then(|| self.at()).transpose()?;
        Ok((at, called))
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
        let mut used = Vec::new();
        while self.accept_word("uses") {
            let name = self.text("the name of a used file, in quotes")?;
            self.keyword("from")?;
            used.push(UsedFile { name, start: self.number("where it starts")? });
        }
        self.keyword("int")?;
        let int_bits = self.number("the width of int")?;
        if ![16, 32, 64].contains(&int_bits) {
            return self.fail(format!("int has 16, 32 or 64 bits, not {int_bits}"));
        }
        let mut policy = Policy {
            name,
            framework,
            source,
            used,
            int_bits,
            capacity: None,
            preamble: Vec::new(),
            constants: Vec::new(),
            attributes: Vec::new(),
            links: Vec::new(),
            thread_imports: Vec::new(),
            imports: Vec::new(),
            variables: Vec::new(),
            containers: Vec::new(),
            families: None,
            events: Vec::new(),
            queries: Vec::new(),
        };
        if self.accept_word("capacity") {
            self.keyword("threads")?;
            policy.capacity = Some(self.number("how many threads live at a time")?);
        }
        self.declarations(&mut policy)?;
        loop {
            let global = self.accept_word("global");
            if global {
                self.keyword("event")?;
            } else if !self.accept_word("event") {
                break;
            }
            let handler = self.handler(false, &policy)?;
            policy.events.push(Handler { global, ..handler });
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
            let property = self.accept_word("property");
            if property || self.accept_word("attribute") {
                let of = if property { Entity::Node } else { Entity::Thread };
                let (name, length, ty) = self.typed_name()?;
                self.members.declare(&name, Member::Attribute(attribute, ty, length));
                for (name, element) in elements(&name, length) {
                    let initial = self.initial(element, ty, bits)?;
                    policy.attributes.push(Attribute { name, of, element, ty, initial, timer: None });
                }
            } else if self.accept_word("timer") {
                let (name, ty, initial) = (self.word("a name")?, Type::Time, Value::Time(0));
                self.keyword("raises")?;
                let timer = Some(self.dotted("the name of an event")?);
                self.members.declare(&name, Member::Attribute(attribute, ty, None));
                policy.attributes.push(Attribute { name, of: Entity::Thread, element: None, ty, initial, timer });
            } else {
                break;
            }
        }
        while self.accept_word("link") {
            let name = self.word("a name")?;
            self.members.declare(&name, Member::Link(LinkId(policy.links.len())));
            policy.links.push(Link { name });
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
        loop {
            // `global event` starts a handler.
            let handler = matches!(self.tokens.get(self.next + 1), Some((Token::Word(word), _)) if word == "event")
                && !matches!(self.tokens.get(self.next + 2), Some((Token::Symbol(":" | "["), _)));
            let global = !handler && self.accept_word("global");
            if !global && !self.accept_word("variable") {
                break;
            }
            let (name, length, ty) = self.typed_name()?;
            self.globals.declare(&name, Name::Variable(VariableId(policy.variables.len()), ty, length));
            for (name, element) in elements(&name, length) {
                let initial = self.initial(element, ty, bits)?;
                policy.variables.push(Variable { name, global, element, ty, initial });
            }
        }
        for (index, import) in policy.imports.iter().enumerate() {
            self.globals.declare(&import.name, Name::Import(ImportId(index), import.ty));
        }
        policy.families = self.families()?;
        loop {
            let nodes = self.accept_word("nodes");
            if !nodes && !self.accept_word("container") {
                break;
            }
            let (mut container, length) = self.container()?;
            container.holds = if nodes { Entity::Node } else { Entity::Thread };
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

    /// `[4]`, for an array.
    fn length(&mut self) -> Read<Option<usize>> {
        if !self.accept("[") {
            return Ok(None);
        }
        let length = self.number("the length of an array")?;
        if length == 0 || length > MOST_ELEMENTS {
            return self.fail(format!("an array has 1 to {MOST_ELEMENTS} elements, not {length}"));
        }
        self.symbol("]")?;
        Ok(Some(length))
    }

    /// `= 1`, or for a later element, `, 1`.
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
        let (holds, owner, at) = (Entity::Thread, self.owner(), self.at()?);
        let container = Container { name, holds, element: None, kind, class, owner, at };
        Ok((container, length))
    }

    fn sort_keys(&mut self) -> Read<Vec<SortKey>> {
        self.symbol("(")?;
        let mut keys = Vec::new();
        loop {
            // An attribute can be called `reverse`: then the word stands alone.
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
                let named = matches!(self.tokens.get(self.next + 1), Some((Token::Word(_), _)));
                let kind = if named && self.accept_word("node") { LocalKind::Node } else { LocalKind::Thread };
                locals.push(Local { name: self.word("a parameter")?, kind });
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
        let body = HandlerReader { scope: Scope::default(), bits: policy.int_bits, returns, loops: 0 };
        let body = body.read(self, &mut locals)?;
        Ok(Handler { name, written, locals, parameters, global: false, returns, body, owner, at })
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
