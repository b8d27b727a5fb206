//! Prints a policy as text.

use std::fmt::Write;

use super::names::{Names, plain};
use crate::policy::{
    Asked, At, Block, Container, ContainerKind, ContainerRef, Element, Entity, Expression, Handler, Import, LinkId,
    Local, LocalKind, Owner, Piece, Place, Policy, Reason, Referent, SortKey, Source, Statement, StatementKind, Test,
    Thread, UnaryOperator, Value, Verbatim,
};

/// A policy as text, which [`read`](super::read()) turns into the same policy.
pub fn print(policy: &Policy) -> String {
    let names = Names::of(policy);
    let mut out =
        format!("policy {}\nframework {}\nsource {}\n", policy.name, policy.framework, quoted(&policy.source));
    for used in &policy.used {
        line(&mut out, format_args!("uses {} from {}", quoted(&used.name), used.start));
    }
    line(&mut out, format_args!("int {}", policy.int_bits));
    if let Some(capacity) = policy.capacity {
        line(&mut out, format_args!("capacity threads {capacity}"));
    }
    for preamble in in_section(&policy.preamble, &mut out) {
        let (text, place) = (quoted(&preamble.text), at(preamble.at));
        line(&mut out, format_args!("verbatim {} {text}{place}", preamble.language));
    }
    for constants in in_section(&policy.constants, &mut out) {
        if let Some((length, elements)) = array(constants.element, &policy.constants, constants) {
            let values = elements.iter().map(|constant| constant.value);
            let name = Element::array(&constants.name);
            line(&mut out, format_args!("const {name}{length} = {}", values_in_order(values)));
        }
    }
    for attribute in in_section(&policy.attributes, &mut out) {
        if let Some(event) = &attribute.timer {
            line(&mut out, format_args!("timer {} raises {event}", attribute.name));
            continue;
        }
        if let Some((length, elements)) = array(attribute.element, &policy.attributes, attribute) {
            let initial = values_in_order(elements.iter().map(|attribute| attribute.initial));
            let (name, ty) = (Element::array(&attribute.name), attribute.ty.word());
            let word = match attribute.of {
                Entity::Thread => "attribute",
                Entity::Node => "property",
            };
            line(&mut out, format_args!("{word} {name}{length}: {ty} = {initial}"));
        }
    }
    for link in in_section(&policy.links, &mut out) {
        line(&mut out, format_args!("link {}", link.name));
    }
    for import in in_section(&policy.thread_imports, &mut out) {
        import_line(&mut out, "threadimport", import);
    }
    for import in in_section(&policy.imports, &mut out) {
        import_line(&mut out, "import", import);
    }
    for variable in in_section(&policy.variables, &mut out) {
        if let Some((length, elements)) = array(variable.element, &policy.variables, variable) {
            let initial = values_in_order(elements.iter().map(|variable| variable.initial));
            let (name, ty) = (Element::array(&variable.name), variable.ty.word());
            let word = if variable.global { "global" } else { "variable" };
            line(&mut out, format_args!("{word} {name}{length}: {ty} = {initial}"));
        }
    }
    if let Some(families) = &policy.families {
        for family in in_section(&families.all, &mut out) {
            let (constant, variable) = (&names.constants[family.number.0], &names.variables[family.count.0]);
            let told: Vec<&str> = family.properties.iter().map(|id| names.attributes[id.0].as_str()).collect();
            let told = if told.is_empty() { String::new() } else { format!(" tells {}", told.join(", ")) };
            line(&mut out, format_args!("family {constant} counted {variable}{told}"));
        }
        let here = families.here.map(|here| format!(" here {}", names.variables[here.0])).unwrap_or_default();
        line(&mut out, format_args!("families told {}{here}", names.attributes[families.of_node.0]));
    }
    for container in in_section(&policy.containers, &mut out) {
        if let Some((length, _)) = array(container.element, &policy.containers, container) {
            container_line(&mut out, container, &length, &names);
        }
    }
    for handler in policy.events.iter().chain(&policy.queries) {
        let locals = names.locals(handler);
        Printer { names: &names, locals: &locals, none: "no thread" }.handler(handler, &mut out);
    }
    out
}

/// The statements of one handler, each on one line as in the source, without its bodies and its place:
/// `ready => current;`, `if (x > 0)`. Names are those of the source.
pub struct Heads {
    names: Names,
    locals: Vec<String>,
}

impl Heads {
    /// The statements of a handler.
    pub fn of(policy: &Policy, handler: &Handler) -> Self {
        let Heads { names, locals } = Heads::numbered(policy, handler);
        Heads { names: names.plain(), locals: locals.into_iter().map(plain).collect() }
    }

    /// As `of`, with numbers that tell equal names apart.
    pub fn numbered(policy: &Policy, handler: &Handler) -> Self {
        let names = Names::of(policy);
        let locals = names.locals(handler);
        Heads { names, locals }
    }

    /// A statement of the handler.
    pub fn head(&self, statement: &Statement) -> String {
        self.printer().head(statement)
    }

    /// A container, as the source names it: `ready`, `ready[t.level]`.
    pub fn container(&self, container: &ContainerRef) -> String {
        self.printer().container(container)
    }

    /// An expression of the handler, about as the policy writes it.
    pub fn expression(&self, expression: &Expression) -> String {
        let expression = if let Expression::NotZero(operand) = expression { operand } else { expression };
        let text = self.printer().expression(expression);
        text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(&text).to_owned()
    }

    fn printer(&self) -> Printer<'_> {
        Printer { names: &self.names, locals: &self.locals, none: "none" }
    }
}

/// A container, as the source names it: `ready`, `ready[t.level]`.
pub fn container(policy: &Policy, handler: &Handler, container: &ContainerRef) -> String {
    Heads::of(policy, handler).container(container)
}

/// The items, with an empty line before the first.
fn in_section<'a, T>(items: &'a [T], out: &mut String) -> std::slice::Iter<'a, T> {
    if !items.is_empty() {
        out.push('\n');
    }
    items.iter()
}

fn line(out: &mut String, text: std::fmt::Arguments) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

/// What is printed after the name (the length of an array, or nothing), and all elements, starting with `first`.
/// `None` for later elements, which are printed with the first.
fn array<'a, T>(element: Option<Element>, all: &'a [T], first: &'a T) -> Option<(String, &'a [T])> {
    let Some(Element { index, length }) = element else { return Some((String::new(), std::slice::from_ref(first))) };
    let start = all.iter().position(|one| std::ptr::eq(one, first))?;
    (index == 0).then(|| (format!("[{length}]"), &all[start..all.len().min(start + length)]))
}

fn values_in_order(values: impl Iterator<Item = Value>) -> String {
    values.map(value).collect::<Vec<_>>().join(", ")
}

fn import_line(out: &mut String, word: &str, import: &Import) {
    line(out, format_args!("{word} {}: {} default {}", import.name, import.ty.word(), value(import.default)));
}

fn container_line(out: &mut String, container: &Container, length: &str, names: &Names) {
    let kind = match &container.kind {
        ContainerKind::Threadref => "threadref".to_owned(),
        ContainerKind::Queue => "queue".to_owned(),
        ContainerKind::Stack => "stack".to_owned(),
        ContainerKind::Pqueue(keys) => format!("pqueue({})", sort_keys(keys, names)),
        ContainerKind::Pstack(keys) => format!("pstack({})", sort_keys(keys, names)),
    };
    let class = container.class.word();
    let word = match container.holds {
        Entity::Thread => "container",
        Entity::Node => "nodes",
    };
    line(
        out,
        format_args!(
            "{word} {}{length}: {kind} {class}{}{}",
            Element::array(&container.name),
            owner(container.owner),
            at(container.at)
        ),
    );
}

fn sort_keys(keys: &[SortKey], names: &Names) -> String {
    let words = keys.iter().map(|key| {
        let attribute = name(&names.attributes, key.attribute.0);
        if key.reverse { format!("reverse {attribute}") } else { attribute.to_owned() }
    });
    words.collect::<Vec<_>>().join(", ")
}

/// What is needed to print the inside of one handler.
struct Printer<'a> {
    names: &'a Names,
    locals: &'a [String],
    /// What a link names that names no thread. The policy may declare `none` as something else.
    none: &'static str,
}

impl Printer<'_> {
    fn handler(&self, handler: &Handler, out: &mut String) {
        let (parameters, others) = handler.locals.split_at(handler.parameters.min(handler.locals.len()));
        let parameter = |local: &Local| match local.kind {
            LocalKind::Node => format!("node {}", local.name),
            LocalKind::Thread | LocalKind::Value(_) => local.name.clone(),
        };
        let parameters = parameters.iter().map(parameter).collect::<Vec<_>>().join(", ");
        let word = match (handler.returns, handler.global) {
            (Some(_), _) => "query",
            (None, true) => "global event",
            (None, false) => "event",
        };
        let returns = handler.returns.map(|ty| format!(": {}", ty.word())).unwrap_or_default();
        let written = if handler.written == handler.name { String::new() } else { format!(" as {}", handler.written) };
        let (owner, place) = (owner(handler.owner), at(handler.at));
        line(out, format_args!("\n{word} {}({parameters}){returns}{written}{owner}{place} {{", handler.name));
        for local in others {
            let kind = match local.kind {
                LocalKind::Thread => "thread",
                LocalKind::Node => "node",
                LocalKind::Value(ty) => ty.word(),
            };
            line(out, format_args!("  {kind} {};", local.name));
        }
        self.block(&handler.body, 1, out);
        out.push_str("}\n");
    }

    fn block(&self, block: &Block, depth: usize, out: &mut String) {
        for statement in block {
            let indent = "  ".repeat(depth);
            let places = at(statement.at) + &statement.called.map(at).unwrap_or_default();
            let head = match &statement.kind {
                // The names alone do not tell it from a transfer.
                StatementKind::Send { source, node } => {
                    format!("send {} to {};", self.source(source), self.thread(*node))
                }
                StatementKind::Set { .. }
                | StatementKind::Link { .. }
                | StatementKind::Transfer { .. }
                | StatementKind::Destroy { .. }
                | StatementKind::Dispatch { .. }
                | StatementKind::If { .. }
                | StatementKind::Foreach { .. }
                | StatementKind::Follow { .. }
                | StatementKind::Loop { .. }
                | StatementKind::Return { .. }
                | StatementKind::Verbatim { .. }
                | StatementKind::Leave { .. }
                | StatementKind::Fail { .. } => self.head(statement),
            };
            line(out, format_args!("{indent}{head}{places}{}", opening(statement)));
            match &statement.kind {
                StatementKind::If { then, otherwise, .. } => {
                    self.block(then, depth + 1, out);
                    if !otherwise.is_empty() {
                        line(out, format_args!("{indent}}} else {{"));
                        self.block(otherwise, depth + 1, out);
                    }
                    line(out, format_args!("{indent}}}"));
                }
                StatementKind::Foreach { body, .. }
                | StatementKind::Follow { body, .. }
                | StatementKind::Verbatim { otherwise: Some(body), .. } => {
                    self.block(body, depth + 1, out);
                    line(out, format_args!("{indent}}}"));
                }
                StatementKind::Loop { body, step, .. } => {
                    self.block(body, depth + 1, out);
                    if !step.is_empty() {
                        line(out, format_args!("{indent}}} step {{"));
                        self.block(step, depth + 1, out);
                    }
                    line(out, format_args!("{indent}}}"));
                }
                StatementKind::Set { .. }
                | StatementKind::Link { .. }
                | StatementKind::Transfer { .. }
                | StatementKind::Send { .. }
                | StatementKind::Destroy { .. }
                | StatementKind::Dispatch { .. }
                | StatementKind::Return { .. }
                | StatementKind::Verbatim { otherwise: None, .. }
                | StatementKind::Leave { .. }
                | StatementKind::Fail { .. } => {}
            }
        }
    }

    /// Texts and values, in turn: `"a load of ", (booked + load), ""`.
    fn reason(&self, reason: &Reason) -> String {
        let mut texts = reason.texts.iter().map(|text| quoted(text));
        let mut out = texts.next().unwrap_or_default();
        for ((value, _), text) in reason.values.iter().zip(texts) {
            let _ = write!(out, ", {}, {text}", self.expression(value));
        }
        out
    }

    fn head(&self, statement: &Statement) -> String {
        match &statement.kind {
            StatementKind::Set { place, value } => format!("{} = {};", self.place(place), self.expression(value)),
            StatementKind::Transfer { source, destination } => {
                format!("{} => {};", self.source(source), self.container(destination))
            }
            StatementKind::Send { source, node } => format!("{} => {};", self.source(source), self.thread(*node)),
            StatementKind::Destroy { source } => format!("destroy {};", self.source(source)),
            StatementKind::Dispatch { slot } => format!("dispatch {};", name(&self.names.containers, slot.0)),
            StatementKind::If { condition, .. } => format!("if ({})", self.expression(condition)),
            StatementKind::Foreach { cursor, container, .. } => {
                format!("foreach {} in {}", name(self.locals, cursor.0), self.container(container))
            }
            StatementKind::Link { thread, link, to } => {
                format!("{} = {};", self.link(*thread, *link), self.referent(to))
            }
            StatementKind::Follow { cursor, thread, link, .. } => {
                format!("foreach {} in {}", name(self.locals, cursor.0), self.link(*thread, *link))
            }
            StatementKind::Loop { condition, test: Test::Before, .. } => {
                format!("while ({})", self.expression(condition))
            }
            StatementKind::Loop { condition, test: Test::After, .. } => {
                format!("do while ({})", self.expression(condition))
            }
            StatementKind::Return { value: None } => "return;".to_owned(),
            StatementKind::Return { value: Some(value) } => format!("return {};", self.expression(value)),
            StatementKind::Leave { what } => format!("{};", what.word()),
            StatementKind::Fail { reason } => format!("fail {};", self.reason(reason)),
            StatementKind::Verbatim { text, otherwise } => {
                let end = if otherwise.is_some() { " else" } else { ";" };
                format!("verbatim {} {}{end}", text.language, self.pieces(text))
            }
        }
    }

    fn source(&self, source: &Source) -> String {
        match source {
            Source::Container(container) => self.container(container),
            Source::Thread(local) => name(self.locals, local.0).to_owned(),
        }
    }

    fn container(&self, container: &ContainerRef) -> String {
        let containers = &self.names.containers;
        match container {
            ContainerRef::One(only) => name(containers, only.0).to_owned(),
            ContainerRef::Element { first, index, .. } => self.element(containers, first.0, index),
            ContainerRef::Whole { first, .. } => Element::array(name(containers, first.0)).to_owned(),
        }
    }

    /// `ready[i]`
    fn element(&self, names: &[String], first: usize, index: &Expression) -> String {
        format!("{}[{}]", Element::array(name(names, first)), self.expression(index))
    }

    fn thread(&self, thread: Thread) -> &str {
        match thread {
            Thread::Local(local) => name(self.locals, local.0),
            Thread::Slot(container) | Thread::First(container) => name(&self.names.containers, container.0),
        }
    }

    /// `t.owner`
    fn link(&self, thread: Thread, link: LinkId) -> String {
        format!("{}.{}", self.thread(thread), name(&self.names.links, link.0))
    }

    fn referent(&self, to: &Referent) -> String {
        match to {
            Referent::None => self.none.to_owned(),
            Referent::Thread(local) => name(self.locals, local.0).to_owned(),
            Referent::Held(slot) => self.container(slot),
            Referent::Linked(thread, link) => self.link(*thread, *link),
        }
    }

    fn place(&self, place: &Place) -> String {
        match place {
            Place::Variable(variable) => name(&self.names.variables, variable.0).to_owned(),
            Place::VariableElement { first, index, .. } => self.element(&self.names.variables, first.0, index),
            Place::Local(local) => name(self.locals, local.0).to_owned(),
            Place::Import(import) => name(&self.names.imports, import.0).to_owned(),
            Place::Attribute(thread, attribute) => {
                format!("{}.{}", self.thread(*thread), name(&self.names.attributes, attribute.0))
            }
            Place::AttributeElement { thread, first, index, .. } => {
                format!("{}.{}", self.thread(*thread), self.element(&self.names.attributes, first.0, index))
            }
            Place::ThreadImport(thread, import) => {
                format!("{}.{}", self.thread(*thread), name(&self.names.thread_imports, import.0))
            }
        }
    }

    fn expression(&self, expression: &Expression) -> String {
        match expression {
            Expression::Literal(literal) => value(*literal),
            Expression::Constant(constant) => name(&self.names.constants, constant.0).to_owned(),
            Expression::ConstantElement { first, index, .. } => self.element(&self.names.constants, first.0, index),
            Expression::Read(place) => self.place(place),
            Expression::Size(container) => format!("|{}|", self.container(container)),
            Expression::Now => "now".to_owned(),
            Expression::In(thread, container, Asked::In) => {
                format!("({} in {})", self.thread(*thread), self.container(container))
            }
            Expression::In(thread, container, Asked::Equal) => {
                format!("({} == {})", self.thread(*thread), self.container(container))
            }
            Expression::In(thread, container, Asked::Mirrored) => {
                format!("({} == {})", self.container(container), self.thread(*thread))
            }
            Expression::Same(one, other) => {
                format!("({} == {})", self.thread(Thread::Local(*one)), self.thread(Thread::Local(*other)))
            }
            Expression::Linked { thread, link, to } => {
                format!("({} == {})", self.link(*thread, *link), self.referent(to))
            }
            Expression::Convert(ty, operand) => format!("{}({})", ty.word(), self.expression(operand)),
            Expression::Unary(UnaryOperator::Negate, operand) => format!("-({})", self.expression(operand)),
            // No index stands to the left of the operator.
            Expression::Unary(UnaryOperator::Not, operand) if operand.compares_threads() => {
                self.expression(operand).replacen(" == ", " != ", 1)
            }
            Expression::Unary(UnaryOperator::Not, operand) => format!("!({})", self.expression(operand)),
            Expression::Choose(condition, one, other) => {
                let (condition, one) = (self.expression(condition), self.expression(one));
                format!("({condition} ? {one} : {})", self.expression(other))
            }
            Expression::Binary(operator, left, right) if operator.is_called() => {
                format!("{}({}, {})", operator.word(), self.expression(left), self.expression(right))
            }
            Expression::Binary(operator, left, right) => {
                format!("({} {} {})", self.expression(left), operator.word(), self.expression(right))
            }
            Expression::NotZero(operand) => format!("nonzero({})", self.expression(operand)),
            Expression::Random(below) => format!("random({})", self.expression(below)),
            Expression::Verbatim { ty, text, otherwise } => {
                let otherwise = otherwise.as_ref().map(|other| format!(" else ({})", self.expression(other)));
                let (pieces, otherwise) = (self.pieces(text), otherwise.unwrap_or_default());
                format!("verbatim {} {} {pieces}{otherwise}", text.language, ty.word())
            }
        }
    }

    /// `("print(", x, ");")`
    fn pieces(&self, text: &Verbatim) -> String {
        let pieces = text.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => quoted(text),
            Piece::Constant(constant) => name(&self.names.constants, constant.0).to_owned(),
            Piece::Place(place) => self.place(place),
            Piece::Now => "now".to_owned(),
            Piece::Thread(thread) => format!("thread {}", self.thread(*thread)),
        });
        format!("({})", pieces.collect::<Vec<_>>().join(", "))
    }
}

/// The name at an index. A policy with invalid indices still prints, so that it can be looked at.
fn name(names: &[String], index: usize) -> &str {
    names.get(index).map_or("?", String::as_str)
}

fn opening(statement: &Statement) -> &'static str {
    let blocks = match statement.kind {
        StatementKind::If { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Loop { .. }
        | StatementKind::Verbatim { otherwise: Some(_), .. } => true,
        StatementKind::Set { .. }
        | StatementKind::Link { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Dispatch { .. }
        | StatementKind::Return { .. }
        | StatementKind::Verbatim { otherwise: None, .. }
        | StatementKind::Leave { .. }
        | StatementKind::Fail { .. } => false,
    };
    if blocks { " {" } else { "" }
}

fn owner(owner: Owner) -> &'static str {
    match owner {
        Owner::Policy => "",
        Owner::Framework => " framework",
    }
}

fn at(at: At) -> String {
    format!(" @{}:{}..{}", at.line, at.start, at.end)
}

fn value(value: Value) -> String {
    value.to_string()
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            _ if character.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}
