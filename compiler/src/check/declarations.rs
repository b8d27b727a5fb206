//! The sections of a policy.

use std::collections::BTreeSet;

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
use super::expressions::Lowering;
use super::scope::Scope;
use super::symbols::{Member, Symbol, Symbols};

/// Enters all declarations into the policy, and their names into the table that is returned.
///
/// Constants come first, so that sections can stand in any order. State classes that are not declared stand as READY until
/// [`super::classes`] has inferred them.
pub(super) fn declare<'a>(
    tree: &'a ast::Scheduler,
    framework: &'a Framework,
    policy: &mut Policy,
    diagnostics: &mut Diagnostics,
) -> Symbols<'a> {
    let mut symbols = Symbols::new(framework, &tree.lost.names);
    for constant in &tree.constants {
        let value = initial(constant, &symbols, policy, diagnostics);
        policy.constants.push(Constant { name: constant.name.text.clone(), value });
        symbols.declare(&constant.name, Symbol::Constant(ConstantId(policy.constants.len() - 1)), diagnostics);
    }
    for attribute in &tree.attributes {
        let initial = initial(attribute, &symbols, policy, diagnostics);
        policy.attributes.push(Attribute { name: attribute.name.text.clone(), ty: attribute.ty, initial });
        symbols.declare_member(
            &attribute.name,
            Member::Attribute(AttributeId(policy.attributes.len() - 1)),
            diagnostics,
        );
    }
    for import in &tree.thread_imports {
        let default = initial(import, &symbols, policy, diagnostics);
        policy.thread_imports.push(Import { name: import.name.text.clone(), ty: import.ty, default });
        symbols.declare_member(
            &import.name,
            Member::Import(ThreadImportId(policy.thread_imports.len() - 1)),
            diagnostics,
        );
    }
    for import in &tree.imports {
        let default = initial(import, &symbols, policy, diagnostics);
        policy.imports.push(Import { name: import.name.text.clone(), ty: import.ty, default });
        symbols.declare(&import.name, Symbol::Import(ImportId(policy.imports.len() - 1)), diagnostics);
    }
    for variable in &tree.variables {
        let initial = initial(variable, &symbols, policy, diagnostics);
        policy.variables.push(Variable { name: variable.name.text.clone(), ty: variable.ty, initial });
        symbols.declare(&variable.name, Symbol::Variable(VariableId(policy.variables.len() - 1)), diagnostics);
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
    symbols
}

/// The value after `=` or `default`, else 0 or `false`.
fn initial(variable: &ast::Variable, symbols: &Symbols<'_>, policy: &Policy, diagnostics: &mut Diagnostics) -> Value {
    let zero = Value::zero(variable.ty);
    let Some(expression) = &variable.initial else {
        return zero;
    };
    let mut scope = Scope::default();
    let mut lowering = Lowering { policy, symbols, scope: &mut scope, diagnostics };
    let Some(typed) = lowering.of_type(expression, variable.ty) else {
        return zero;
    };
    constants::evaluate(&typed, expression.at, policy.int_bits, &policy.constants, diagnostics).unwrap_or(zero)
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
