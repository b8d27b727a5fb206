//! The sections of a policy.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Framework;
use crate::policy::{
    Attribute, AttributeId, Constant, ConstantId, Container, ContainerId, ContainerKind, Element, Entity, Import,
    ImportId, Link, LinkId, MOST_ELEMENTS, Owner, Policy, SortKey, ThreadImportId, Variable, VariableId,
};
use crate::syntax::ast;
use crate::syntax::words::nearest;
use crate::vocabulary::{At, StateClass, Type, Value};

use super::constants;
use super::expressions::{Lowering, Reach};
use super::families;
use super::functions;
use super::scope::Scope;
use super::symbols::{Member, Symbol, Symbols};

/// How many containers a policy declares at most; an array counts once. A query can ask for the threads in all of them,
/// with an expression of that depth.
const MOST_CONTAINERS: usize = 100;

/// Enters all declarations into the policy, and their names into the table that is returned.
///
/// All names are declared before values are computed, so that sections can stand in any order. State classes that are
/// not declared are READY until [`super::classes`] has inferred them.
pub(super) fn declare<'a>(
    tree: &'a ast::Scheduler,
    framework: &'a Framework,
    policy: &mut Policy,
    diagnostics: &mut Diagnostics,
) -> Symbols<'a> {
    let lengths = Lengths::of(tree, framework, policy);
    let mut symbols = Symbols::new(framework, &tree.lost);
    for constant in &tree.constants {
        symbols.declare(&constant.name, Symbol::Constant(ConstantId(policy.constants.len())), diagnostics);
        for (name, element) in lengths.elements(&constant.name, length(constant)) {
            policy.constants.push(Constant { name, element, value: Value::zero(constant.ty) });
        }
    }
    for attribute in &tree.attributes {
        let id = AttributeId(policy.attributes.len());
        symbols.declare_member(&attribute.name, Member::Attribute(id), diagnostics);
        for (name, element) in lengths.elements(&attribute.name, length(attribute)) {
            let (ty, initial) = (attribute.ty, Value::zero(attribute.ty));
            policy.attributes.push(Attribute { name, of: Entity::Thread, element, ty, initial, timer: None });
        }
    }
    if let (Some(link), Some(node)) = (tree.links.first(), tree.nodes.first()) {
        let title = "threads of a policy with nodes have no threadrefs";
        let kept = Diagnostic::error("E0333", title, link.at, "may name a thread of another node");
        diagnostics.push(
            kept.related(node.at, "the policy has nodes")
                .help("keep an attribute that both threads have, such as a number"),
        );
    }
    for link in &tree.links {
        symbols.declare_member(link, Member::Link(LinkId(policy.links.len())), diagnostics);
        policy.links.push(Link { name: link.text.clone() });
    }
    for timer in &tree.timers {
        let id = AttributeId(policy.attributes.len());
        symbols.declare_member(&timer.name, Member::Attribute(id), diagnostics);
        let (name, ty) = (timer.name.text.clone(), timer.ty);
        let event = framework.timer.as_ref().map(|family| format!("{}.{name}", family.name));
        let (of, initial) = (Entity::Thread, Value::zero(ty));
        policy.attributes.push(Attribute { name, of, element: None, ty, initial, timer: event });
    }
    for property in framework.properties.iter().filter(|_| !tree.nodes.is_empty()) {
        symbols.declare_property(&property.name, AttributeId(policy.attributes.len()));
        let (name, of, ty) = (property.name.clone(), Entity::Node, property.ty);
        policy.attributes.push(Attribute { name, of, element: None, ty, initial: Value::zero(ty), timer: None });
    }
    for property in &tree.properties {
        symbols.declare_property(&property.name.text, AttributeId(policy.attributes.len()));
        let (name, of, ty) = (property.name.text.clone(), Entity::Node, property.ty);
        policy.attributes.push(Attribute { name, of, element: None, ty, initial: Value::zero(ty), timer: None });
    }
    for (index, import) in tree.thread_imports.iter().enumerate() {
        symbols.declare_member(&import.name, Member::Import(ThreadImportId(index)), diagnostics);
        policy.thread_imports.push(undefined(import));
    }
    for (index, import) in tree.imports.iter().enumerate() {
        symbols.declare(&import.name, Symbol::Import(ImportId(index)), diagnostics);
        policy.imports.push(undefined(import));
    }
    let own = tree.variables.iter().map(|variable| (variable, false));
    // Without nodes, a variable of `global` is an ordinary one.
    for (variable, global) in own.chain(tree.globals.iter().map(|variable| (variable, !tree.nodes.is_empty()))) {
        symbols.declare(&variable.name, Symbol::Variable(VariableId(policy.variables.len())), diagnostics);
        for (name, element) in lengths.elements(&variable.name, length(variable)) {
            let (ty, initial) = (variable.ty, Value::zero(variable.ty));
            policy.variables.push(Variable { name, global, element, ty, initial });
        }
    }
    families::declare(tree, &mut symbols, policy, diagnostics);
    symbols.join(tree.joined.as_ref());
    functions::declare(&tree.functions, &mut symbols, diagnostics);
    if let Some(excess) = tree.containers.iter().chain(&tree.nodes).nth(MOST_CONTAINERS) {
        let all = tree.containers.len() + tree.nodes.len();
        let title = format!("a policy has at most {MOST_CONTAINERS} containers, this one declares {all}");
        let many = Diagnostic::error("E0322", title, excess.at, "the first that is too many");
        diagnostics.push(
            many.help("keep threads of several kinds in one container, sorted by an attribute that tells the kind"),
        );
    }
    let mut too_many = false;
    let of_threads = tree.containers.iter().map(|container| (container, Entity::Thread));
    for (container, holds) in of_threads.chain(tree.nodes.iter().map(|container| (container, Entity::Node))) {
        let kind = kind(container, holds, &symbols, tree, policy, diagnostics);
        let class = container.class.map_or(StateClass::Ready, |(class, _)| class);
        symbols.declare(&container.name, Symbol::Container(ContainerId(policy.containers.len())), diagnostics);
        for (name, element) in lengths.elements(&container.name, container.length.as_ref()) {
            let (kind, owner, at) = (kind.clone(), Owner::Policy, container.at);
            policy.containers.push(Container { name, holds, element, kind, class, owner, at });
        }
        if policy.containers.len() > MOST_ELEMENTS && !too_many {
            too_many = true;
            let title = format!("all arrays of containers together have at most {MOST_ELEMENTS} elements");
            let many = Diagnostic::error("E0322", title, container.at, "with this one there are more");
            diagnostics.push(many.help("use shorter arrays, or a `pqueue` that is sorted by what would be the index"));
        }
    }
    let wrong = check_lengths(tree, &lengths, &symbols, policy, diagnostics);
    symbols.lose(wrong);
    initialise(tree, &symbols, policy, diagnostics);
    symbols
}

fn undefined(import: &ast::Variable) -> Import {
    Import { name: import.name.text.clone(), ty: import.ty, default: Value::zero(import.ty) }
}

/// The length of an array, as written.
fn length(variable: &ast::Variable) -> Option<&ast::Expression> {
    variable.array.as_ref().map(|array| &array.length)
}

/// The lengths of arrays, computed from single constants before anything is numbered.
struct Lengths<'a> {
    symbols: Symbols<'a>,
    /// Contains the single constants that have a value.
    policy: Policy,
}

impl<'a> Lengths<'a> {
    fn of(tree: &'a ast::Scheduler, framework: &'a Framework, policy: &Policy) -> Self {
        let mut lengths = Lengths { symbols: Symbols::new(framework, &tree.lost), policy: policy.clone() };
        for constant in tree.constants.iter().filter(|constant| constant.array.is_none()) {
            let known = lengths.policy.constants.len();
            // Errors are reported later, when all names are known.
            let mut wrong = Diagnostics::new();
            let value = initial(constant, known, &lengths.symbols, &lengths.policy, &mut wrong);
            if !wrong.has_errors() {
                lengths.symbols.declare(&constant.name, Symbol::Constant(ConstantId(known)), &mut wrong);
                lengths.policy.constants.push(Constant { name: constant.name.text.clone(), element: None, value });
            }
        }
        lengths
    }

    /// `None`: the value is unknown, or cannot be a length.
    fn value(&self, length: &ast::Expression) -> Option<usize> {
        let all = &self.policy.constants;
        let mut wrong = Diagnostics::new();
        let value = int(length, all.len(), &self.symbols, &self.policy, &mut wrong)?;
        usize::try_from(value).ok().filter(|value| (1..=MOST_ELEMENTS).contains(value))
    }

    /// The elements of a declaration. One stands for all if the length is wrong.
    fn elements(&self, name: &ast::Name, length: Option<&ast::Expression>) -> Vec<(String, Option<Element>)> {
        let Some(length) = length else { return vec![(name.text.clone(), None)] };
        let length = self.value(length).unwrap_or(1);
        let element = |index| (format!("{}[{index}]", name.text), Some(Element { index, length }));
        (0..length).map(element).collect()
    }
}

/// The value of a constant expression of type `int`.
fn int(
    expression: &ast::Expression,
    known: usize,
    symbols: &Symbols<'_>,
    policy: &Policy,
    diagnostics: &mut Diagnostics,
) -> Option<i64> {
    match value(expression, Type::Int, known, symbols, policy, diagnostics)? {
        Value::Int(value) => Some(value),
        Value::Bool(_) | Value::Time(_) | Value::Float(_) => None,
    }
}

/// Reports wrong lengths. Returns the names of these arrays, whose elements are then left alone.
fn check_lengths<'a>(
    tree: &'a ast::Scheduler,
    lengths: &Lengths<'_>,
    symbols: &Symbols<'_>,
    policy: &Policy,
    diagnostics: &mut Diagnostics,
) -> Vec<&'a str> {
    let data = tree.constants.iter().chain(&tree.attributes).chain(&tree.variables).chain(&tree.globals);
    let data = data.filter_map(|variable| Some((&variable.name, length(variable)?)));
    let containers = tree.containers.iter().chain(&tree.nodes);
    let containers = containers.filter_map(|container| Some((&container.name, container.length.as_ref()?)));
    let mut without = Vec::new();
    for (name, length) in data.chain(containers) {
        if lengths.value(length).is_some() {
            continue;
        }
        without.push(name.text.as_str());
        let mut wrong = Diagnostics::new();
        let single = &lengths.policy;
        match int(length, single.constants.len(), &lengths.symbols, single, &mut wrong) {
            Some(value) => {
                let title = format!("an array has 1 to {MOST_ELEMENTS} elements, not {value}");
                diagnostics.push(Diagnostic::error("E0326", title, length.at, ""));
            }
            // With all names known, the message is better. No constant has a value yet.
            None => {
                let before = diagnostics.errors();
                if int(length, 0, symbols, policy, diagnostics).is_some() || diagnostics.errors() == before {
                    let title = "this is not known before run time";
                    let diagnostic = Diagnostic::error("E0312", title, length.at, "expected a constant expression");
                    diagnostics.push(diagnostic.help("the length of an array is made of numbers and single constants"));
                }
            }
        }
    }
    without
}

/// Computes constants and the initial values of variables. Later constants, and all else, can use a constant.
fn initialise(tree: &ast::Scheduler, symbols: &Symbols<'_>, policy: &mut Policy, diagnostics: &mut Diagnostics) {
    let mut next = 0;
    for constant in &tree.constants {
        let length = policy.constants[next].element.map_or(1, |element| element.length);
        for (element, value) in initials(constant, length, next, symbols, policy, diagnostics).into_iter().enumerate() {
            policy.constants[next + element].value = value;
        }
        next += length;
    }
    let all = policy.constants.len();
    next = 0;
    for attribute in &tree.attributes {
        let length = policy.attributes[next].element.map_or(1, |element| element.length);
        let values = initials(attribute, length, all, symbols, policy, diagnostics);
        for (attribute, value) in policy.attributes[next..].iter_mut().zip(values) {
            attribute.initial = value;
        }
        next += length;
    }
    for (index, import) in tree.thread_imports.iter().enumerate() {
        policy.thread_imports[index].default = initial(import, all, symbols, policy, diagnostics);
    }
    for (index, import) in tree.imports.iter().enumerate() {
        policy.imports[index].default = initial(import, all, symbols, policy, diagnostics);
    }
    next = 0;
    for variable in tree.variables.iter().chain(&tree.globals) {
        let length = policy.variables[next].element.map_or(1, |element| element.length);
        let values = initials(variable, length, all, symbols, policy, diagnostics);
        for (variable, value) in policy.variables[next..].iter_mut().zip(values) {
            variable.initial = value;
        }
        next += length;
    }
}

/// The values of all elements, or of a single variable.
fn initials(
    variable: &ast::Variable,
    length: usize,
    known: usize,
    symbols: &Symbols<'_>,
    policy: &Policy,
    diagnostics: &mut Diagnostics,
) -> Vec<Value> {
    let Some(array) = &variable.array else { return vec![initial(variable, known, symbols, policy, diagnostics)] };
    let Some((list, at)) = &array.list else { return vec![Value::zero(variable.ty); length] };
    let given = list.len();
    if given != length && !diagnostics_at(diagnostics, array.length.at) {
        let name = &variable.name.text;
        let values = if given == 1 { "1 value".to_owned() } else { format!("{given} values") };
        let elements = if length == 1 { "1 element".to_owned() } else { format!("{length} elements") };
        let title = format!("`{name}` has {elements}, and {values} to start with");
        let diagnostic = Diagnostic::error("E0326", title, *at, values).related(array.length.at, elements);
        let help = if given < length {
            "write a value for each element; without a list all of them are 0 or `false`"
        } else {
            "make the array longer or the list shorter"
        };
        diagnostics.push(diagnostic.help(help));
    }
    let zero = Value::zero(variable.ty);
    let mut values: Vec<Value> = list
        .iter()
        .map(|expression| value(expression, variable.ty, known, symbols, policy, diagnostics).unwrap_or(zero))
        .collect();
    values.resize(length, zero);
    values
}

/// Whether something within a place has been reported.
fn diagnostics_at(diagnostics: &Diagnostics, at: At) -> bool {
    diagnostics.iter().any(|diagnostic| (at.start..at.end).contains(&diagnostic.primary.0.start))
}

/// The value after `=` or `default`, else 0 or `false`. Only the first `known` constants have a value.
fn initial(
    variable: &ast::Variable,
    known: usize,
    symbols: &Symbols<'_>,
    policy: &Policy,
    diagnostics: &mut Diagnostics,
) -> Value {
    let zero = Value::zero(variable.ty);
    let Some(expression) = &variable.initial else {
        return zero;
    };
    value(expression, variable.ty, known, symbols, policy, diagnostics).unwrap_or(zero)
}

/// The value of a constant expression. `None`: it has no value, which is reported.
pub(super) fn value(
    expression: &ast::Expression,
    ty: Type,
    known: usize,
    symbols: &Symbols<'_>,
    policy: &Policy,
    diagnostics: &mut Diagnostics,
) -> Option<Value> {
    let mut scope = Scope::default();
    let (scope, called, reach) = (&mut scope, BTreeMap::new(), Reach::Everything);
    let mut lowering = Lowering { policy, symbols, scope, called, reach, arriving: None, diagnostics };
    let typed = lowering.of_type(expression, ty)?;
    constants::evaluate(&typed, expression.at, policy.int_bits, &policy.constants[..known], diagnostics)
}

fn kind(
    container: &ast::Container,
    holds: Entity,
    symbols: &Symbols<'_>,
    tree: &ast::Scheduler,
    policy: &Policy,
    diagnostics: &mut Diagnostics,
) -> ContainerKind {
    match container.kind {
        ast::ContainerKind::Threadref => ContainerKind::Threadref,
        ast::ContainerKind::Queue => ContainerKind::Queue,
        ast::ContainerKind::Stack => ContainerKind::Stack,
        ast::ContainerKind::Pqueue => ContainerKind::Pqueue(keys(container, holds, symbols, tree, policy, diagnostics)),
        ast::ContainerKind::Pstack => ContainerKind::Pstack(keys(container, holds, symbols, tree, policy, diagnostics)),
    }
}

fn keys(
    container: &ast::Container,
    holds: Entity,
    symbols: &Symbols<'_>,
    tree: &ast::Scheduler,
    policy: &Policy,
    diagnostics: &mut Diagnostics,
) -> Vec<SortKey> {
    let mut keys: Vec<SortKey> = Vec::new();
    let mut seen = BTreeSet::new();
    for key in &container.keys {
        let name = &key.attribute;
        match symbols.find_member(holds, &name.text) {
            Some((Member::Attribute(attribute), at)) if policy.attributes[attribute.0].timer.is_some() => {
                let title = format!("`{}` is a timer and cannot be a sort key", name.text);
                let timer = Diagnostic::error("E0318", title, name.at, "not a plain attribute")
                    .related(at, "declared here")
                    .note("it changes when it expires, and the threads would no longer be in order");
                diagnostics
                    .push(timer.help("keep the instant in an attribute of type `time` as well, and sort on that"));
            }
            Some((Member::Attribute(attribute), at)) if policy.attributes[attribute.0].element.is_some() => {
                let title = format!("the sort key `{}` is an array", name.text);
                let diagnostic = Diagnostic::error("E0318", title, name.at, "expected a single attribute");
                diagnostics.push(
                    diagnostic
                        .related(at, "declared here")
                        .help("copy the element that decides to an attribute of its own, and sort on that"),
                );
            }
            Some((Member::Attribute(attribute), _)) => {
                if !seen.insert(attribute) {
                    let title = format!("`{}` is already a sort key of `{}`", name.text, container.name.text);
                    diagnostics
                        .push(Diagnostic::error("E0302", title, name.at, "decides nothing here").help("remove it"));
                }
                keys.push(SortKey { attribute, reverse: key.reverse });
            }
            Some((Member::Link(_), at)) => {
                let title = format!("`{}` is a threadref and cannot be a sort key", name.text);
                let link = Diagnostic::error("E0318", title, name.at, "not an attribute");
                diagnostics.push(link.related(at, "declared here").help("sort on an attribute with a value"));
            }
            Some((Member::Import(_), at)) => {
                let title = format!("`{}` is imported and cannot be a sort key", name.text);
                let mirror = format!(
                    "declare an attribute in `thread {{ … }}`, sort on that, and assign `t.ATTRIBUTE = t.{};` before each transfer into `{}`",
                    name.text, container.name.text
                );
                let imported = Diagnostic::error("E0318", title, name.at, "not an attribute")
                    .related(at, "imported here")
                    .note("the application changes it at any time, and the threads would no longer be in order");
                diagnostics.push(imported.help(mirror));
            }
            None if tree.lost.names.contains(&name.text) => {}
            None if holds == Entity::Node => symbols.unknown_member(holds, name, diagnostics),
            None => {
                let diagnostic = Diagnostic::error(
                    "E0318",
                    format!("the sort key `{}` is not an attribute", name.text),
                    name.at,
                    "unknown attribute",
                );
                let attributes = tree.attributes.iter().map(|attribute| attribute.name.text.as_str());
                diagnostics.push(match nearest(&name.text, attributes) {
                    Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
                    None => diagnostic.help(format!("declare it in `thread {{ int {}; }}`", name.text)),
                });
            }
        }
    }
    keys
}
