//! Links of threads, and what they name.

use super::statements::HandlerReader;
use super::{LocalKind, Member, Name, Read, Reader, Token};
use crate::policy::{ContainerRef, LinkId, Referent, Thread};

impl HandlerReader {
    /// `t.owner`, if a link comes next. Otherwise, nothing is read.
    pub(super) fn link(&mut self, reader: &mut Reader) -> Option<(Thread, LinkId)> {
        let start = reader.next;
        let link = self.link_after_all(reader);
        if link.is_none() {
            reader.next = start;
        }
        link
    }

    fn link_after_all(&mut self, reader: &mut Reader) -> Option<(Thread, LinkId)> {
        if !matches!(reader.peek(), Token::Word(_)) {
            return None;
        }
        let thread = self.owner_of_link(reader)?;
        if !reader.accept(".") {
            return None;
        }
        let name = reader.word("a link").ok()?;
        match reader.member(&name).ok()? {
            Member::Link(link) => Some((thread, link)),
            Member::Attribute(..) | Member::Import(..) => None,
        }
    }

    fn owner_of_link(&mut self, reader: &mut Reader) -> Option<Thread> {
        let start = reader.next;
        if let Some(thread) = self.named_thread(reader).ok()? {
            return Some(thread);
        }
        reader.next = start;
        let Name::Container(first, false, length) = self.name(reader).ok()? else { return None };
        // Only a constant index may be read twice.
        if length.is_some() && !matches!(reader.tokens.get(reader.next + 1), Some((Token::Number(_), _))) {
            return None;
        }
        match self.element(first, length, reader).ok()? {
            ContainerRef::One(container) => Some(Thread::First(container)),
            ContainerRef::Element { .. } | ContainerRef::Whole { .. } => None,
        }
    }

    /// `no thread`, or something that names a thread.
    pub(super) fn referent(&mut self, reader: &mut Reader) -> Read<Referent> {
        let after = reader.tokens.get(reader.next + 1);
        if matches!(after, Some((Token::Word(word), _)) if word == "thread") && reader.accept_word("no") {
            reader.keyword("thread")?;
            return Ok(Referent::None);
        }
        if let Some((thread, link)) = self.link(reader) {
            return Ok(Referent::Linked(thread, link));
        }
        match self.name(reader)? {
            Name::Local(local, LocalKind::Thread) => Ok(Referent::Thread(local)),
            Name::Container(slot, true, length) => match self.element(slot, length, reader)? {
                one @ ContainerRef::One(_) => Ok(Referent::Held(one)),
                ContainerRef::Element { .. } | ContainerRef::Whole { .. } => {
                    reader.fail("expected a threadref that is known before run time")
                }
            },
            Name::Local(_, LocalKind::Node | LocalKind::Value(_))
            | Name::Container(..)
            | Name::Constant(..)
            | Name::Variable(..)
            | Name::Import(..) => reader.fail("expected a thread before this"),
        }
    }
}
