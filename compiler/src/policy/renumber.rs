//! A policy in the numbers of another one that has all of its parts.

use super::{
    AttributeId, Block, ConstantId, Container, ContainerId, ContainerKind, ContainerRef, Expression, Handler, ImportId,
    LinkId, LocalId, Piece, Place, Reason, Referent, SortKey, Source, Statement, StatementId, StatementKind, Thread,
    ThreadImportId, VariableId, Verbatim,
};

/// The new number of each part, by its old one. The elements of an array stay adjacent.
#[derive(Clone, Debug, Default)]
pub struct Renumbering {
    /// Of constants.
    pub constants: Vec<usize>,
    /// Of attributes.
    pub attributes: Vec<usize>,
    /// Of links.
    pub links: Vec<usize>,
    /// Of thread imports.
    pub thread_imports: Vec<usize>,
    /// Of imports.
    pub imports: Vec<usize>,
    /// Of variables.
    pub variables: Vec<usize>,
    /// Of containers.
    pub containers: Vec<usize>,
}

impl Renumbering {
    /// The body of a handler. Its locals that are no parameters move back by `by`. Its statements have no numbers:
    /// [`super::Policy::number_statements`] gives them.
    #[must_use]
    pub fn body(&self, handler: &Handler, by: usize) -> Block {
        Within { all: self, parameters: handler.parameters, by }.block(&handler.body)
    }

    /// A container.
    #[must_use]
    pub fn declared(&self, container: &Container) -> Container {
        let keys = |keys: &[SortKey]| {
            let key = |key: &SortKey| SortKey { attribute: self.attribute(key.attribute), ..*key };
            keys.iter().map(key).collect()
        };
        let kind = match &container.kind {
            ContainerKind::Pqueue(all) => ContainerKind::Pqueue(keys(all)),
            ContainerKind::Pstack(all) => ContainerKind::Pstack(keys(all)),
            kind @ (ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack) => kind.clone(),
        };
        Container { kind, ..container.clone() }
    }

    /// The number of a container.
    #[must_use]
    pub fn id(&self, container: ContainerId) -> ContainerId {
        ContainerId(self.containers[container.0])
    }

    /// What names a container, for one of a handler whose locals move back by `by`.
    #[must_use]
    pub fn container(&self, container: &ContainerRef, handler: &Handler, by: usize) -> ContainerRef {
        Within { all: self, parameters: handler.parameters, by }.container(container)
    }

    fn attribute(&self, attribute: AttributeId) -> AttributeId {
        AttributeId(self.attributes[attribute.0])
    }

    fn link(&self, link: LinkId) -> LinkId {
        LinkId(self.links[link.0])
    }

    fn constant(&self, constant: ConstantId) -> ConstantId {
        ConstantId(self.constants[constant.0])
    }

    fn variable(&self, variable: VariableId) -> VariableId {
        VariableId(self.variables[variable.0])
    }
}

/// Within a handler.
struct Within<'a> {
    all: &'a Renumbering,
    parameters: usize,
    by: usize,
}

impl Within<'_> {
    fn local(&self, local: LocalId) -> LocalId {
        if local.0 < self.parameters { local } else { LocalId(local.0 + self.by) }
    }

    fn container(&self, container: &ContainerRef) -> ContainerRef {
        match container {
            ContainerRef::One(only) => ContainerRef::One(self.all.id(*only)),
            ContainerRef::Element { first, length, index } => {
                ContainerRef::Element { first: self.all.id(*first), length: *length, index: self.boxed(index) }
            }
            ContainerRef::Whole { first, length } => {
                ContainerRef::Whole { first: self.all.id(*first), length: *length }
            }
        }
    }

    fn block(&self, block: &Block) -> Block {
        let statement = |statement: &Statement| Statement {
            id: StatementId(0),
            kind: self.kind(&statement.kind),
            at: statement.at,
            called: statement.called,
        };
        block.iter().map(statement).collect()
    }

    fn kind(&self, kind: &StatementKind) -> StatementKind {
        match kind {
            StatementKind::Set { place, value } => {
                StatementKind::Set { place: self.place(place), value: self.expression(value) }
            }
            StatementKind::Link { thread, link, to } => {
                StatementKind::Link { thread: self.thread(*thread), link: self.all.link(*link), to: self.referent(to) }
            }
            StatementKind::Transfer { source, destination } => {
                StatementKind::Transfer { source: self.source(source), destination: self.container(destination) }
            }
            StatementKind::Send { source, node } => {
                StatementKind::Send { source: self.source(source), node: self.thread(*node) }
            }
            StatementKind::Destroy { source } => StatementKind::Destroy { source: self.source(source) },
            StatementKind::Dispatch { slot } => StatementKind::Dispatch { slot: self.all.id(*slot) },
            StatementKind::If { condition, then, otherwise } => StatementKind::If {
                condition: self.expression(condition),
                then: self.block(then),
                otherwise: self.block(otherwise),
            },
            StatementKind::Foreach { cursor, container, body } => StatementKind::Foreach {
                cursor: self.local(*cursor),
                container: self.container(container),
                body: self.block(body),
            },
            StatementKind::Follow { cursor, thread, link, body } => StatementKind::Follow {
                cursor: self.local(*cursor),
                thread: self.thread(*thread),
                link: self.all.link(*link),
                body: self.block(body),
            },
            StatementKind::Loop { condition, test, body, step } => StatementKind::Loop {
                condition: self.expression(condition),
                test: *test,
                body: self.block(body),
                step: self.block(step),
            },
            StatementKind::Return { value } => {
                StatementKind::Return { value: value.as_ref().map(|value| self.expression(value)) }
            }
            StatementKind::Leave { what } => StatementKind::Leave { what: *what },
            StatementKind::Fail { reason } => {
                let values = reason.values.iter().map(|(value, ty)| (self.expression(value), *ty)).collect();
                StatementKind::Fail { reason: Reason { values, ..reason.clone() } }
            }
            StatementKind::Verbatim { text, otherwise } => StatementKind::Verbatim {
                text: self.verbatim(text),
                otherwise: otherwise.as_ref().map(|otherwise| self.block(otherwise)),
            },
        }
    }

    fn source(&self, source: &Source) -> Source {
        match source {
            Source::Container(container) => Source::Container(self.container(container)),
            Source::Thread(local) => Source::Thread(self.local(*local)),
        }
    }

    fn thread(&self, thread: Thread) -> Thread {
        match thread {
            Thread::Local(local) => Thread::Local(self.local(local)),
            Thread::Slot(slot) => Thread::Slot(self.all.id(slot)),
            Thread::First(container) => Thread::First(self.all.id(container)),
        }
    }

    fn referent(&self, referent: &Referent) -> Referent {
        match referent {
            Referent::None => Referent::None,
            Referent::Thread(local) => Referent::Thread(self.local(*local)),
            Referent::Held(container) => Referent::Held(self.container(container)),
            Referent::Linked(thread, link) => Referent::Linked(self.thread(*thread), self.all.link(*link)),
        }
    }

    fn place(&self, place: &Place) -> Place {
        match place {
            Place::Variable(variable) => Place::Variable(self.all.variable(*variable)),
            Place::VariableElement { first, length, index } => {
                Place::VariableElement { first: self.all.variable(*first), length: *length, index: self.boxed(index) }
            }
            Place::Import(import) => Place::Import(ImportId(self.all.imports[import.0])),
            Place::Local(local) => Place::Local(self.local(*local)),
            Place::Attribute(thread, attribute) => {
                Place::Attribute(self.thread(*thread), self.all.attribute(*attribute))
            }
            Place::AttributeElement { thread, first, length, index } => Place::AttributeElement {
                thread: self.thread(*thread),
                first: self.all.attribute(*first),
                length: *length,
                index: self.boxed(index),
            },
            Place::ThreadImport(thread, import) => {
                Place::ThreadImport(self.thread(*thread), ThreadImportId(self.all.thread_imports[import.0]))
            }
        }
    }

    fn boxed(&self, expression: &Expression) -> Box<Expression> {
        Box::new(self.expression(expression))
    }

    fn expression(&self, expression: &Expression) -> Expression {
        match expression {
            Expression::Literal(value) => Expression::Literal(*value),
            Expression::Constant(constant) => Expression::Constant(self.all.constant(*constant)),
            Expression::ConstantElement { first, length, index } => Expression::ConstantElement {
                first: self.all.constant(*first),
                length: *length,
                index: self.boxed(index),
            },
            Expression::Read(place) => Expression::Read(self.place(place)),
            Expression::Now => Expression::Now,
            Expression::Size(container) => Expression::Size(self.container(container)),
            Expression::In(thread, container, asked) => {
                Expression::In(self.thread(*thread), self.container(container), *asked)
            }
            Expression::Same(one, other) => Expression::Same(self.local(*one), self.local(*other)),
            Expression::Linked { thread, link, to } => {
                Expression::Linked { thread: self.thread(*thread), link: self.all.link(*link), to: self.referent(to) }
            }
            Expression::Convert(ty, operand) => Expression::Convert(*ty, self.boxed(operand)),
            Expression::Unary(operator, operand) => Expression::Unary(*operator, self.boxed(operand)),
            Expression::Binary(operator, left, right) => {
                Expression::Binary(*operator, self.boxed(left), self.boxed(right))
            }
            Expression::NotZero(operand) => Expression::NotZero(self.boxed(operand)),
            Expression::Choose(condition, one, other) => {
                Expression::Choose(self.boxed(condition), self.boxed(one), self.boxed(other))
            }
            Expression::Random(bound) => Expression::Random(self.boxed(bound)),
            Expression::Verbatim { ty, text, otherwise } => Expression::Verbatim {
                ty: *ty,
                text: self.verbatim(text),
                otherwise: otherwise.as_ref().map(|otherwise| self.boxed(otherwise)),
            },
        }
    }

    fn verbatim(&self, text: &Verbatim) -> Verbatim {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => Piece::Text(text.clone()),
            Piece::Constant(constant) => Piece::Constant(self.all.constant(*constant)),
            Piece::Place(place) => Piece::Place(self.place(place)),
            Piece::Now => Piece::Now,
            Piece::Thread(thread) => Piece::Thread(self.thread(*thread)),
        };
        Verbatim { language: text.language.clone(), pieces: text.pieces.iter().map(piece).collect() }
    }
}
