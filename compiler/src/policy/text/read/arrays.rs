//! Arrays, and what follows the name of one.

use super::{HandlerReader, LocalKind, Member, Name, Read, Reader, Token};
use crate::policy::{
    AttributeId, ContainerId, ContainerRef, Element, Expression, Place, Thread, Type, Value, VariableId,
};

/// The names that a declaration declares.
pub(super) fn elements(name: &str, length: Option<usize>) -> Vec<(String, Option<Element>)> {
    match length {
        None => vec![(name.to_owned(), None)],
        Some(length) => {
            let element = |index| (format!("{name}[{index}]"), Some(Element { index, length }));
            (0..length).map(element).collect()
        }
    }
}

/// The index in the brackets after the name of an array.
pub(super) enum Index {
    /// The index of an element.
    Constant(usize),
    /// Anything else.
    Computed(Box<Expression>),
}

impl HandlerReader {
    pub(super) fn destination(&mut self, reader: &mut Reader) -> Read<ContainerRef> {
        let container = self.container(reader)?;
        match container {
            ContainerRef::Whole { .. } => reader.fail("a thread goes to one element of an array"),
            ContainerRef::One(_) | ContainerRef::Element { .. } => Ok(container),
        }
    }

    /// Reads what follows the name of a container: for an array, `[2]`, `[i]` or nothing.
    pub(super) fn element(
        &mut self,
        first: ContainerId,
        length: Option<usize>,
        reader: &mut Reader,
    ) -> Read<ContainerRef> {
        let Some(length) = length else { return Ok(ContainerRef::One(first)) };
        Ok(match self.index(length, reader)? {
            None => ContainerRef::Whole { first, length },
            Some(Index::Constant(index)) => ContainerRef::One(ContainerId(first.0 + index)),
            Some(Index::Computed(index)) => ContainerRef::Element { first, length, index },
        })
    }

    /// As `element`, for a variable, which is never used as a whole.
    pub(super) fn variable(&mut self, first: VariableId, length: Option<usize>, reader: &mut Reader) -> Read<Place> {
        let Some(length) = length else { return Ok(Place::Variable(first)) };
        Ok(match self.index(length, reader)? {
            None => return reader.expected("`[`"),
            Some(Index::Constant(index)) => Place::Variable(VariableId(first.0 + index)),
            Some(Index::Computed(index)) => Place::VariableElement { first, length, index },
        })
    }

    pub(super) fn index(&mut self, length: usize, reader: &mut Reader) -> Read<Option<Index>> {
        if !reader.accept("[") {
            return Ok(None);
        }
        let index = self.expression_of(Type::Int, reader)?;
        reader.symbol("]")?;
        if let Expression::Literal(Value::Int(constant)) = index
            && let Ok(constant) = usize::try_from(constant)
            && constant < length
        {
            return Ok(Some(Index::Constant(constant)));
        }
        Ok(Some(Index::Computed(Box::new(index))))
    }

    /// The named thread, if the name is that of a thread.
    pub(super) fn named_thread(&mut self, reader: &mut Reader) -> Read<Option<Thread>> {
        Ok(match self.name(reader)? {
            Name::Local(local, LocalKind::Thread | LocalKind::Node) => Some(Thread::Local(local)),
            Name::Container(slot, true, None) => Some(Thread::Slot(slot)),
            // Only a constant index may be read twice, or nested ones would double the time at each level.
            Name::Container(first, true, Some(length)) => match reader.tokens.get(reader.next + 1) {
                Some((Token::Number(_), _)) => match self.element(first, Some(length), reader)? {
                    ContainerRef::One(slot) => Some(Thread::Slot(slot)),
                    ContainerRef::Element { .. } | ContainerRef::Whole { .. } => None,
                },
                Some(_) | None => None,
            },
            Name::Local(_, LocalKind::Value(_))
            | Name::Container(..)
            | Name::Constant(..)
            | Name::Variable(..)
            | Name::Import(..) => None,
        })
    }

    /// `.name`, after a thread.
    pub(super) fn member_of(&mut self, thread: Thread, reader: &mut Reader) -> Read<(Place, Type)> {
        reader.symbol(".")?;
        let name = reader.word("the name of an attribute or a thread import")?;
        Ok(match reader.member(&name)? {
            Member::Attribute(attribute, ty, None) => (Place::Attribute(thread, attribute), ty),
            Member::Attribute(first, ty, Some(length)) => match self.index(length, reader)? {
                None => return reader.expected("`[`"),
                Some(Index::Constant(index)) => (Place::Attribute(thread, AttributeId(first.0 + index)), ty),
                Some(Index::Computed(index)) => (Place::AttributeElement { thread, first, length, index }, ty),
            },
            Member::Link(_) => return reader.fail("expected an attribute or a thread import before this"),
            Member::Import(import, ty) => (Place::ThreadImport(thread, import), ty),
        })
    }
}
