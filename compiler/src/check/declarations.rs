//! The sections of a policy.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Framework;
use crate::policy::{
    Attribute, AttributeId, Constant, ConstantId, Container, ContainerId, ContainerKind, Import, ImportId, Owner,
    Policy, SortKey, ThreadImportId, Variable, VariableId,
};
use crate::syntax::ast;
use crate::syntax::words::nearest;
use crate::vocabulary::{StateClass, Value};

use super::constants;
use super::expressions::{EMPTY, Lowering};
use super::scope::Scope;
use super::symbols::{Member, Symbol, Symbols};

/// How many containers a policy has at most. A query can ask for the threads in all of them, which makes an expression as deep.
const MOST_CONTAINERS: usize = 100;

/// Enters all declarations into the policy, and their names into the table that is returned.
///
/// All names come before all values, so that sections can stand in any order. State classes that are not declared stand as READY until
/// [`super::classes`] has inferred them.
pub(super) fn declare<'a>(
    tree: &'a ast::Scheduler,
    framework: &'a Framework,
    policy: &mut Policy,
    diagnostics: &mut Diagnostics,
) -> Symbols<'a> {
    let mut symbols = Symbols::new(framework, &tree.lost.names);
    for (index, constant) in tree.constants.iter().enumerate() {
        policy.constants.push(Constant { name: constant.name.text.clone(), value: Value::zero(constant.ty) });
        symbols.declare(&constant.name, Symbol::Constant(ConstantId(index)), diagnostics);
    }
    for (index, attribute) in tree.attributes.iter().enumerate() {
        symbols.declare_member(&attribute.name, Member::Attribute(AttributeId(index)), diagnostics);
        let (name, ty) = (attribute.name.text.clone(), attribute.ty);
        policy.attributes.push(Attribute { name, ty, initial: Value::zero(ty), timer: None });
    }
    for timer in &tree.timers {
        let id = AttributeId(policy.attributes.len());
        symbols.declare_member(&timer.name, Member::Attribute(id), diagnostics);
        let (name, ty) = (timer.name.text.clone(), timer.ty);
        let event = framework.timer.as_ref().map(|family| format!("{}.{name}", family.name));
        policy.attributes.push(Attribute { name, ty, initial: Value::zero(ty), timer: event });
    }
    for (index, import) in tree.thread_imports.iter().enumerate() {
        symbols.declare_member(&import.name, Member::Import(ThreadImportId(index)), diagnostics);
        policy.thread_imports.push(undefined(import));
    }
    for (index, import) in tree.imports.iter().enumerate() {
        symbols.declare(&import.name, Symbol::Import(ImportId(index)), diagnostics);
        policy.imports.push(undefined(import));
    }
    for (index, variable) in tree.variables.iter().enumerate() {
        symbols.declare(&variable.name, Symbol::Variable(VariableId(index)), diagnostics);
        let (name, ty) = (variable.name.text.clone(), variable.ty);
        policy.variables.push(Variable { name, ty, initial: Value::zero(ty) });
    }
    for (index, function) in tree.functions.iter().enumerate() {
        symbols.declare(&function.name, Symbol::Function(index), diagnostics);
        if function.name.text == EMPTY {
            let title = format!("`{EMPTY}` is a function of the language");
            let diagnostic = Diagnostic::error("E0302", title, function.name.at, "declared twice");
            diagnostics.push(diagnostic.help("choose another name"));
        }
    }
    if let Some(excess) = tree.containers.get(MOST_CONTAINERS) {
        let title =
            format!("a policy has at most {MOST_CONTAINERS} containers, this one declares {}", tree.containers.len());
        let many = Diagnostic::error("E0322", title, excess.at, "the first that is too many");
        diagnostics.push(
            many.help("keep threads of several kinds in one container, sorted by an attribute that tells the kind"),
        );
    }
    for container in &tree.containers {
        let kind = kind(container, &symbols, tree, diagnostics);
        let class = container.class.map_or(StateClass::Ready, |(class, _)| class);
        policy.containers.push(Container {
            name: container.name.text.clone(),
            kind,
            class,
            owner: Owner::Policy,
            at: container.at,
        });
        symbols.declare(&container.name, Symbol::Container(ContainerId(policy.containers.len() - 1)), diagnostics);
    }
    initialise(tree, &symbols, policy, diagnostics);
    symbols
}

fn undefined(import: &ast::Variable) -> Import {
    Import { name: import.name.text.clone(), ty: import.ty, default: Value::zero(import.ty) }
}

/// Computes what constants are and variables hold at first. A constant can be used in those after it, and in everything else.
fn initialise(tree: &ast::Scheduler, symbols: &Symbols<'_>, policy: &mut Policy, diagnostics: &mut Diagnostics) {
    for (index, constant) in tree.constants.iter().enumerate() {
        policy.constants[index].value = initial(constant, index, symbols, policy, diagnostics);
    }
    let all = policy.constants.len();
    for (index, attribute) in tree.attributes.iter().enumerate() {
        policy.attributes[index].initial = initial(attribute, all, symbols, policy, diagnostics);
    }
    for (index, import) in tree.thread_imports.iter().enumerate() {
        policy.thread_imports[index].default = initial(import, all, symbols, policy, diagnostics);
    }
    for (index, import) in tree.imports.iter().enumerate() {
        policy.imports[index].default = initial(import, all, symbols, policy, diagnostics);
    }
    for (index, variable) in tree.variables.iter().enumerate() {
        policy.variables[index].initial = initial(variable, all, symbols, policy, diagnostics);
    }
}

/// The value after `=` or `default`, else 0 or `false`. So many constants are `known`.
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
    let mut scope = Scope::default();
    let mut lowering = Lowering { policy, symbols, scope: &mut scope, called: BTreeMap::new(), diagnostics };
    let Some(typed) = lowering.of_type(expression, variable.ty) else {
        return zero;
    };
    constants::evaluate(&typed, expression.at, policy.int_bits, &policy.constants[..known], diagnostics).unwrap_or(zero)
}

fn kind(
    container: &ast::Container,
    symbols: &Symbols<'_>,
    tree: &ast::Scheduler,
    diagnostics: &mut Diagnostics,
) -> ContainerKind {
    match container.kind {
        ast::ContainerKind::Threadref => ContainerKind::Threadref,
        ast::ContainerKind::Queue => ContainerKind::Queue,
        ast::ContainerKind::Stack => ContainerKind::Stack,
        ast::ContainerKind::Pqueue => ContainerKind::Pqueue(keys(container, symbols, tree, diagnostics)),
        ast::ContainerKind::Pstack => ContainerKind::Pstack(keys(container, symbols, tree, diagnostics)),
    }
}

fn keys(
    container: &ast::Container,
    symbols: &Symbols<'_>,
    tree: &ast::Scheduler,
    diagnostics: &mut Diagnostics,
) -> Vec<SortKey> {
    let mut keys: Vec<SortKey> = Vec::new();
    let mut seen = BTreeSet::new();
    for key in &container.keys {
        let name = &key.attribute;
        match symbols.find_member(&name.text) {
            Some((Member::Attribute(attribute), at)) if attribute.0 >= tree.attributes.len() => {
                let title = format!("`{}` is a timer and cannot be a sort key", name.text);
                let timer = Diagnostic::error("E0318", title, name.at, "not a plain attribute")
                    .related(at, "declared here")
                    .note("it changes when it expires, and the threads would no longer be in order");
                diagnostics
                    .push(timer.help("keep the instant in an attribute of type `time` as well, and sort on that"));
            }
            Some((Member::Attribute(attribute), _)) => {
                if !seen.insert(attribute) {
                    let title = format!("`{}` is already a sort key of `{}`", name.text, container.name.text);
                    diagnostics
                        .push(Diagnostic::error("E0302", title, name.at, "decides nothing here").help("remove it"));
                }
                keys.push(SortKey { attribute, reverse: key.reverse });
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
            None => {
                let diagnostic = Diagnostic::error(
                    "E0318",
                    format!("the sort key `{}` is no attribute", name.text),
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
