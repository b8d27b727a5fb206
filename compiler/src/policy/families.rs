//! Families of nodes in a policy.
//!
//! Each node is of one family, whose number is a constant. What a family declares of its own is in the instances of all
//! nodes, and used in those of its own nodes alone: handlers begin by asking which family the node here is of.

use super::{AttributeId, ConstantId, Policy, VariableId};

/// The families of a policy's nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Families {
    /// In the order of their numbers, which begin at 0.
    pub all: Vec<Family>,
    /// The property of a node that says which family it is of. The host sets it before the node arrives.
    pub of_node: AttributeId,
    /// The variable of an instance that says which family its node is of. The host sets it before `init`; nothing else
    /// assigns it. `None`: this is the policy of one of the families alone.
    pub here: Option<VariableId>,
}

/// A family of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// Its number, under its name.
    pub number: ConstantId,
    /// A global variable: how many nodes of it have arrived and not departed. The handlers count them.
    pub count: VariableId,
    /// What its nodes tell, beside what all nodes do.
    pub properties: Vec<AttributeId>,
}

impl Families {
    /// The names of all families, in the order of their numbers.
    pub fn names<'a>(&'a self, policy: &'a Policy) -> impl Iterator<Item = &'a str> {
        self.all.iter().map(|family| policy.constants[family.number.0].name.as_str())
    }
}
