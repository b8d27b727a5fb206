//! Verbatim text: copied, with the policy's names replaced by those in C.
//!
//! What a statement may change becomes an lvalue. Everything else becomes a value: constants, imports, sort keys and
//! timers (which are filed), and all that an expression names, since an expression changes nothing.

use super::handler::Body;
use crate::emit::shape::Shape;
use crate::policy::{AttributeId, ContainerKind, Entity, Expression, LocalKind, Piece, Place, Type, Verbatim};

/// The lines between the braces of a statement.
pub(super) fn statement(body: &mut Body, text: &Verbatim) -> Vec<String> {
    let writable = body.shape != Shape::Query;
    lines(&copied(body, text, writable))
}

/// The text of an expression, to stand in parentheses.
pub(super) fn value(body: &mut Body, text: &Verbatim) -> String {
    let text = copied(body, text, false);
    let lines = lines(&text);
    // A comment at its end must not hide the parenthesis.
    let end = if lines.last().is_some_and(|last| last.contains("//")) { "\n" } else { "" };
    format!("{}{end}", lines.join("\n"))
}

/// Text as lines, without empty lines at its ends and without their common indentation.
pub(super) fn lines(text: &str) -> Vec<String> {
    let text = text.trim_end();
    let start = text.len() - text.trim_start().len();
    let start = text[..start].rfind('\n').map_or(start, |newline| newline + 1);
    let text = &text[start..];
    // A string that continues after a backslash would lose its indentation.
    let fixed = text.contains("\\\n");
    let indented = |line: &&str| !line.trim().is_empty();
    let depth = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = if fixed { 0 } else { text.lines().filter(indented).map(depth).min().unwrap_or(0) };
    text.lines().map(|line| line.get(common..).unwrap_or_default().trim_end().to_owned()).collect()
}

fn copied(body: &mut Body, text: &Verbatim, writable: bool) -> String {
    let mut copied = String::new();
    for piece in &text.pieces {
        let piece = match piece {
            Piece::Text(text) => text.clone(),
            Piece::Constant(constant) => body.names.constants[constant.0].clone(),
            Piece::Now => {
                format!("(({}){})", super::type_name(Type::Time), super::expression::expression(body, &Expression::Now))
            }
            Piece::Thread(thread) => body.thread(*thread),
            Piece::Place(place) if writable && can_change(body, place) => body.place(place),
            Piece::Place(place) => {
                let read = super::expression::expression(body, &Expression::Read(place.clone()));
                match type_held(body, place) {
                    Some(ty) => format!("(({}){read})", super::type_name(ty)),
                    None => read,
                }
            }
        };
        copied.push_str(&piece);
    }
    copied
}

fn can_change(body: &Body, place: &Place) -> bool {
    match place {
        Place::Variable(_) | Place::VariableElement { .. } | Place::Local(_) | Place::AttributeElement { .. } => true,
        // Only the host assigns attributes of nodes.
        Place::Attribute(_, id) if body.policy.attributes[id.0].of == Entity::Node => false,
        Place::Attribute(_, attribute) => !is_sort_key(body, *attribute) && !body.is_timer(*attribute),
        Place::Import(_) | Place::ThreadImport(..) => false,
    }
}

fn is_sort_key(body: &Body, attribute: AttributeId) -> bool {
    body.policy.containers.iter().any(|container| match &container.kind {
        ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys) => keys.iter().any(|key| key.attribute == attribute),
        ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack => false,
    })
}

/// The type of an lvalue, which a cast turns into a value. What is read from the application is a value already.
fn type_held(body: &Body, place: &Place) -> Option<Type> {
    match place {
        Place::Variable(id) | Place::VariableElement { first: id, .. } => Some(body.policy.variables[id.0].ty),
        Place::Attribute(_, id) | Place::AttributeElement { first: id, .. } => Some(body.policy.attributes[id.0].ty),
        Place::Local(id) => match body.handler.locals[id.0].kind {
            LocalKind::Value(ty) => Some(ty),
            LocalKind::Thread | LocalKind::Node => None,
        },
        Place::Import(_) | Place::ThreadImport(..) => None,
    }
}
