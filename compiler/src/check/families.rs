//! Families of nodes in a policy: their numbers, how many nodes there are of each, and `n is fast`.

use crate::framework::{Event, Move, Stage};
use crate::policy::{
    Attribute, BinaryOperator, Block, Constant, ConstantId, Entity, Expression, Families, Family, Handler, LocalId,
    Place, Policy, StatementKind, Thread, Variable, VariableId,
};
use crate::syntax::ast::{self, Name, Reference};
use crate::vocabulary::{StateClass, Type, Value};

use super::expressions::Lowering;
use super::statements::at;
use super::symbols::{Symbol, Symbols, Wanted};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::AttributeId;

/// The property that says of which family a node is.
const TOLD: &str = "family";

/// Enters the families of a tree, behind what else it declares of each kind.
pub(super) fn declare<'a>(
    tree: &'a ast::Scheduler,
    symbols: &mut Symbols<'a>,
    policy: &mut Policy,
    diagnostics: &mut Diagnostics,
) {
    if tree.families.is_empty() {
        return;
    }
    let mut all = Vec::new();
    for (number, family) in (0..).zip(&tree.families) {
        symbols.declare(&family.name, Symbol::Family(all.len()), diagnostics);
        let name = &family.name.text;
        let of_node = |told: &ast::Variable| {
            let is_it = |one: &Attribute| one.of == Entity::Node && one.name == told.name.text;
            policy.attributes.iter().position(is_it).map(AttributeId)
        };
        let properties = family.tree.iter().flat_map(|file| &file.properties).filter_map(of_node).collect();
        let count = VariableId(policy.variables.len());
        all.push(Family { number: ConstantId(policy.constants.len()), count, properties });
        policy.constants.push(Constant { name: name.clone(), element: None, value: Value::Int(number) });
        let (name, initial) = (format!("{name}_nodes"), Value::Int(0));
        policy.variables.push(Variable { name, global: true, element: None, ty: Type::Int, initial });
    }
    let of_node = AttributeId(policy.attributes.len());
    let (name, of, ty, initial) = (TOLD.to_owned(), Entity::Node, Type::Int, Value::Int(0));
    policy.attributes.push(Attribute { name, of, element: None, ty, initial, timer: None });
    policy.families = Some(Families { all, of_node, here: None });
}

/// What happens before the handler of a node that arrives or departs: its family has a node more, or less.
pub(super) fn counted(event: &Event, handler: &Handler, policy: &Policy) -> Block {
    let (Some(families), Some((node, more))) = (&policy.families, changing(event)) else { return Block::new() };
    let operator = if more { BinaryOperator::Add } else { BinaryOperator::Subtract };
    let one = || Expression::Literal(Value::Int(1));
    let mut counted = Block::new();
    for family in families.all.iter().rev() {
        let place = Place::Variable(family.count);
        let value = Expression::Binary(operator, Box::new(Expression::Read(place.clone())), Box::new(one()));
        let then = vec![at(handler.at, StatementKind::Set { place, value })];
        let condition = is_of(families, family, Thread::Local(node));
        let otherwise = std::mem::take(&mut counted);
        counted.push(at(handler.at, StatementKind::If { condition, then, otherwise }));
    }
    counted
}

/// The node that an event says arrives, which is not counted before its end.
pub(super) fn arriving(event: &Event) -> Option<LocalId> {
    changing(event).filter(|(_, more)| *more).map(|(node, _)| node)
}

/// The node that arrives (`true`) or departs.
fn changing(event: &Event) -> Option<(LocalId, bool)> {
    let moves = event.rules.iter().flat_map(|rule| &rule.moves).filter(|_| event.is_global());
    moves.into_iter().find_map(|step| match step {
        Move::Parameter(index, from, to) if event.names(*index, Entity::Node) => match (from, to) {
            (Stage::New, Stage::In(StateClass::Ready)) => Some((LocalId(*index), true)),
            (Stage::In(StateClass::Ready), Stage::In(StateClass::Terminated)) => Some((LocalId(*index), false)),
            (Stage::New | Stage::In(_) | Stage::Placed, Stage::New | Stage::In(_) | Stage::Placed) => None,
        },
        Move::Parameter(..) | Move::One(..) => None,
    })
}

fn is_of(families: &Families, family: &Family, node: Thread) -> Expression {
    let told = Expression::Read(Place::Attribute(node, families.of_node));
    Expression::Binary(BinaryOperator::Equal, Box::new(told), Box::new(Expression::Constant(family.number)))
}

impl Lowering<'_, '_> {
    /// `n is fast`
    pub(super) fn is_of_family(&mut self, node: &Reference, family: &Name) -> Option<(Expression, Type)> {
        let owner = self.owner(node);
        let found = self.family(family);
        let (owner, found) = (owner?, found?);
        let families = self.policy.families.as_ref()?;
        if self.entity(owner) != Entity::Node {
            let title = format!("`{}` is a thread, and only nodes are of a family", node.name.text);
            self.diagnostics.push(Diagnostic::error("E0330", title, node.at, "a thread"));
            return None;
        }
        Some((is_of(families, families.all.get(found)?, owner), Type::Bool))
    }

    /// Whether a name is that of a family.
    pub(super) fn is_family(&self, name: &Name) -> bool {
        self.scope.find(&name.text).is_none() && matches!(self.symbols.find(&name.text), Some((Symbol::Family(_), _)))
    }

    /// `|fast|`, of a family. In `arrival`, the node that arrives is not counted yet.
    pub(super) fn nodes_of(&mut self, named: &Reference) -> Option<(Expression, Type)> {
        let families = self.policy.families.as_ref()?;
        let Some((Symbol::Family(index), _)) = self.symbols.find(&named.name.text) else { return None };
        let family = families.all.get(index)?;
        let all = Expression::Read(Place::Variable(family.count));
        let Some(node) = self.arriving else { return Some((all, Type::Int)) };
        let [one, none] = [1, 0].map(|number| Box::new(Expression::Literal(Value::Int(number))));
        let own = Expression::Choose(Box::new(is_of(families, family, Thread::Local(node))), one, none);
        Some((Expression::Binary(BinaryOperator::Subtract, Box::new(all), Box::new(own)), Type::Int))
    }

    /// The number of a family.
    fn family(&mut self, name: &Name) -> Option<usize> {
        match self.symbols.find(&name.text) {
            Some((Symbol::Family(index), _)) => Some(index),
            Some((other, declared)) => {
                let title = format!("`{}` is {}, not a family of nodes", name.text, other.described());
                let wrong = Diagnostic::error("E0309", title, name.at, "expected a family");
                self.diagnostics.push(wrong.related(declared, "declared here"));
                None
            }
            None => {
                let fits = |symbol| matches!(symbol, Symbol::Family(_));
                self.symbols.unknown(name, Wanted::Family, None, fits, self.diagnostics);
                None
            }
        }
    }
}
