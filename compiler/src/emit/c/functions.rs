//! The handlers as functions: one for each distinct body, and which event or query of the framework it serves.

use super::arrays::Helpers;
use super::handler::{Body, body};
use super::host::Host;
use super::names::Names;
use super::{comment, type_name};
use crate::emit::shape::Shape;
use crate::framework::Framework;
use crate::policy::{Handler, Owner, Policy};
use crate::verify::Verified;
use std::fmt::Write;

/// The text of all handlers, and what must stand before them.
pub(super) struct Functions {
    pub text: String,
    pub uses_take: bool,
    /// The same for nodes.
    pub uses_take_node: bool,
    pub helpers: Helpers,
    /// The functions that return no stop.
    pub never_stop: Vec<String>,
}

/// A function and the handlers that it serves, by their names in the framework.
struct Function<'a> {
    handlers: Vec<&'a Handler>,
    shape: Shape,
    /// From the parameter list to the closing brace.
    text: String,
    /// Whether it cannot stop, and so returns no stop.
    silent: bool,
    uses_take: bool,
    helpers: Helpers,
}

/// The name of a handler, and the function that serves it.
pub(super) type Entry = (String, String);

/// Translates every handler. Also returns the table as (member, function), and the events of timers as (event,
/// function).
pub(super) fn functions(
    verified: &Verified<Policy>,
    framework: &Framework,
    names: &mut Names,
) -> (Functions, Vec<Entry>, Vec<Entry>) {
    let policy = verified.policy();
    let mut list: Vec<Function> = Vec::new();
    for handler in policy.events.iter().chain(&policy.queries) {
        let shape = Shape::of(handler, framework);
        let body = body(verified, names, handler, shape);
        let text = definition(&body, shape, names);
        match list.iter_mut().find(|function| function.text == text && function.shape == shape) {
            Some(function) => function.handlers.push(handler),
            None => {
                let (silent, uses_take) = (body.is_silent(), body.uses_take);
                list.push(Function { handlers: vec![handler], shape, text, silent, uses_take, helpers: body.helpers });
            }
        }
    }
    let mut result = Functions {
        text: String::new(),
        uses_take: false,
        uses_take_node: false,
        helpers: Helpers::new(),
        never_stop: Vec::new(),
    };
    let loops: Vec<String> = names.loops.borrow().iter().map(|(name, _)| name.clone()).collect();
    for name in loops {
        names.file.take(&name);
    }
    let mut served = Vec::new();
    for function in &list {
        let wanted = format!("{}_{}", names.policy, function_name(&function.handlers));
        let name = names.file.take(&wanted);
        let global = function.handlers.iter().any(|handler| handler.global);
        result.uses_take |= function.uses_take && !global;
        result.uses_take_node |= function.uses_take && global;
        result.helpers.extend(&function.helpers);
        if function.silent {
            result.never_stop.push(name.clone());
        }
        let _ =
            write!(result.text, "\n{}{name}{}", introduction(function, policy, framework, names.host), function.text);
        served.extend(function.handlers.iter().map(|handler| (handler.name.as_str(), name.clone())));
    }
    let in_order = policy.events.iter().chain(&policy.queries).filter_map(|handler| {
        let (_, function) = served.iter().find(|(name, _)| *name == handler.name)?;
        Some((handler.name.clone(), function.clone()))
    });
    let timed = |name: &str| framework.events.iter().any(|event| event.timer.is_some() && event.name == name);
    let (timeouts, table): (Vec<_>, Vec<_>) = in_order.partition(|(name, _)| timed(name));
    let table = table.into_iter().map(|(name, function)| (name.replace('.', "_"), function)).collect();
    (result, table, timeouts)
}

/// What stands before the function's name: where it comes from, and its type.
fn introduction(function: &Function, policy: &Policy, framework: &Framework, host: Host) -> String {
    let mut text = String::from("/* ");
    let word = if function.shape == Shape::Query { "query" } else { "event" };
    for (index, handler) in function.handlers.iter().enumerate() {
        let parameters: Vec<&str> =
            handler.locals[..handler.parameters].iter().map(|local| local.name.as_str()).collect();
        let origin = match handler.owner {
            Owner::Policy => comment(&policy.place(handler.at)),
            Owner::Framework => format!("{}.framework", framework.name),
        };
        let _ = write!(text, "{}{origin}: {word} {}", if index > 0 { "\n * " } else { "" }, handler.name);
        if !parameters.is_empty() {
            let _ = write!(text, "({})", parameters.join(", "));
        }
    }
    let _ = write!(text, " */\n{} ", host.linkage());
    let thread = host.pointer("struct catapults_thread");
    text.push_str(match function.shape {
        Shape::Event if function.silent => "void ",
        Shape::Event => host.stop(),
        Shape::Dispatch => &thread,
        Shape::Query => match function.handlers.first().and_then(|handler| handler.returns) {
            Some(ty) => type_name(ty),
            None => "void",
        },
    });
    if function.shape == Shape::Query {
        text.push(' ');
    }
    text
}

/// The parameters and the body.
fn definition(body: &Body, shape: Shape, names: &Names) -> String {
    let constant = if shape == Shape::Query { "const " } else { "" };
    let tag = if body.handler.global { &names.shared } else { &names.policy };
    let (given, opening) = names.host.given(constant, tag, body.uses_self);
    let mut parameters = Vec::from_iter(given);
    for index in 0..body.handler.parameters {
        let thread = names.host.pointer("struct catapults_thread");
        parameters.push(format!("{constant}{thread}{}", body.parameter(index)));
    }
    if shape == Shape::Dispatch && !body.is_silent() {
        parameters.push(format!("{}*stop", names.host.stop()));
    }
    if parameters.is_empty() {
        parameters.push("void".to_owned());
    }
    let mut text = format!("({}) {{\n{opening}", parameters.join(", "));
    for index in 0..body.handler.parameters {
        if !body.used[index] {
            let _ = writeln!(text, "    (void){};", body.parameter(index));
        }
    }
    if shape == Shape::Dispatch && !body.uses_stop && !body.is_silent() {
        text.push_str("    (void)stop;\n");
    }
    text.push_str(body.text());
    text.push_str("}\n");
    text
}

/// `schedule`; for several, the family that was written or that they share (`block.*` gives `block`), else the first
/// name.
fn function_name(handlers: &[&Handler]) -> String {
    let Some((first, others)) = handlers.split_first() else { return String::new() };
    let mut name = first.name.as_str();
    if !others.is_empty() {
        let mut family = name;
        while !others.iter().all(|other| other.name == family || other.name.starts_with(&format!("{family}."))) {
            let Some((shorter, _)) = family.rsplit_once('.') else { return first.name.replace('.', "_") };
            family = shorter;
        }
        name = family;
    }
    name.replace('.', "_")
}
