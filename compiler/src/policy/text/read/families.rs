//! Families of nodes.

use super::{Member, Name, Read, Reader, numbered};
use crate::policy::{AttributeId, Families, Family, VariableId};

impl Reader {
    /// The lines of all families, and the one that says where they are told.
    pub(super) fn families(&mut self) -> Read<Option<Families>> {
        let mut all = Vec::new();
        while self.accept_word("family") {
            let Name::Constant(number, _, None) = self.declared("a constant")? else {
                return self.fail("expected a single constant before this");
            };
            self.keyword("counted")?;
            let (count, mut properties) = (self.variable()?, Vec::new());
            if self.accept_word("tells") {
                properties.push(self.property()?);
                while self.accept(",") {
                    properties.push(self.property()?);
                }
            }
            all.push(Family { number, count, properties });
        }
        if all.is_empty() {
            return Ok(None);
        }
        self.keyword("families")?;
        self.keyword("told")?;
        let of_node = self.property()?;
        let here = if self.accept_word("here") { Some(self.variable()?) } else { None };
        Ok(Some(Families { all, of_node, here }))
    }

    fn property(&mut self) -> Read<AttributeId> {
        let name = self.word("a property")?;
        match self.member(&name)? {
            Member::Attribute(property, _, None) => Ok(property),
            Member::Attribute(..) | Member::Link(_) | Member::Import(..) => {
                self.fail("expected a single property before this")
            }
        }
    }

    fn variable(&mut self) -> Read<VariableId> {
        match self.declared("a variable")? {
            Name::Variable(variable, _, None) => Ok(variable),
            Name::Variable(..) | Name::Constant(..) | Name::Import(..) | Name::Container(..) | Name::Local(..) => {
                self.fail("expected a single variable before this")
            }
        }
    }

    /// A name that has been declared.
    fn declared(&mut self, what: &str) -> Read<Name> {
        let name = self.word(what)?;
        let nth = self.nth()?;
        match self.globals.0.get(&name).and_then(|meanings| meanings.get(nth)) {
            Some(meaning) => Ok(*meaning),
            None => self.fail(format!("`{}` is not declared before", numbered(&name, nth))),
        }
    }
}
