//! A hierarchy for hosts that load it: a file for each policy, and one with the table of schedulers and parents.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::emit::File;
use crate::framework::Framework;
use crate::hierarchy::{Hierarchy, Node, Parameter};
use crate::policy::Value;

use super::{HEADING, Host, comment, expression, string};

/// The table first, each source with its traced twin.
pub(super) fn files(hierarchy: &Hierarchy, framework: &Framework, host: Host) -> Vec<File> {
    let symbols = symbols(hierarchy);
    let table = super::both(format!("{}.c", hierarchy.name()), table(hierarchy, framework, &symbols));
    let policies = hierarchy.policies().iter().zip(&symbols).map(|(policy, symbol)| {
        // It stands beside the file made of the policy alone.
        let name = format!("{}-{}.c", hierarchy.name(), symbol.trim_start_matches(PREFIX));
        super::both(name, super::unit(policy, framework, host, Some(symbol)))
    });
    std::iter::once(table).chain(policies).flatten().collect()
}

/// No name in a policy's file begins like this; see `names.rs`.
const PREFIX: &str = "catapults_policy_";

/// The symbols of the policies, of which two can have the same name.
fn symbols(hierarchy: &Hierarchy) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut symbols = Vec::new();
    for policy in hierarchy.policies() {
        let name = &policy.policy().name;
        let numbered = (2..).map(|number| format!("{PREFIX}{name}_{number}"));
        let symbol = std::iter::once(format!("{PREFIX}{name}")).chain(numbered).find(|name| taken.insert(name.clone()));
        symbols.extend(symbol);
    }
    symbols
}

fn table(hierarchy: &Hierarchy, framework: &Framework, symbols: &[String]) -> String {
    let source = comment(hierarchy.source());
    let mut text = format!(
        "/*\n * {}: translated from {source} for the framework {}. {HEADING}\n */\n#include {}\n\n\
         #include \"catapults/hierarchy.h\"\n#include \"catapults/values.h\"\n\n",
        hierarchy.name(),
        hierarchy.framework(),
        string(&framework.header),
    );
    for symbol in symbols {
        let _ = writeln!(text, "extern const struct catapults_policy CATAPULTS_EXPORTED({symbol});");
    }
    for node in hierarchy.nodes().iter().filter(|node| !node.parameters.is_empty()) {
        let _ = write!(
            text,
            "\n/* {source}:{} */\nstatic const struct catapults_hierarchy_parameter parameters_of_{}[] = {{\n",
            node.at.line, node.name
        );
        for parameter in &node.parameters {
            let _ = writeln!(text, "    {},", given(parameter));
        }
        text.push_str("};\n");
    }
    text.push_str("\nstatic const struct catapults_hierarchy_node nodes[] = {\n");
    for (index, node) in hierarchy.nodes().iter().enumerate() {
        let _ = writeln!(text, "    {}, /* {index}{} */", entry(node, symbols), under(hierarchy, node));
    }
    let _ = write!(
        text,
        "}};\n\n\
         extern const struct catapults_hierarchy CATAPULTS_EXPORTED(catapults_hierarchy);\n\
         __attribute__((visibility(\"default\")))\n\
         const struct catapults_hierarchy CATAPULTS_EXPORTED(catapults_hierarchy) = {{\n\
         \x20   .magic = CATAPULTS_HIERARCHY_MAGIC,\n\
         \x20   .contract = CATAPULTS_CONTRACT,\n\
         \x20   .framework = {},\n\
         \x20   .name = {},\n\
         \x20   .source = {},\n\
         \x20   .nodes_count = {},\n\
         \x20   .default_node = {}, /* {} */\n\
         \x20   .nodes = nodes,\n\
         }};\n",
        string(hierarchy.framework()),
        string(hierarchy.name()),
        string(hierarchy.source()),
        hierarchy.nodes().len(),
        hierarchy.default(),
        hierarchy.nodes()[hierarchy.default()].name,
    );
    text
}

fn entry(node: &Node, symbols: &[String]) -> String {
    let count = node.parameters.len();
    let parameters = if count == 0 { "NULL".to_owned() } else { format!("parameters_of_{}", node.name) };
    // The root's parent is the root.
    let parent = node.parent.unwrap_or(0);
    format!(
        "{{{}, &CATAPULTS_EXPORTED({}), {parent}, {count}, {parameters}}}",
        string(&node.name),
        symbols[node.policy]
    )
}

fn under(hierarchy: &Hierarchy, node: &Node) -> String {
    node.parent.map_or(String::new(), |parent| format!(", under {}", hierarchy.nodes()[parent].name))
}

fn given(parameter: &Parameter) -> String {
    let (ty, member) = match parameter.value {
        Value::Int(_) => ("INT", "integer"),
        Value::Bool(_) => ("BOOL", "integer"),
        Value::Time(_) => ("TIME", "integer"),
        Value::Float(_) => ("FLOAT", "real"),
    };
    let value = match parameter.value {
        Value::Bool(value) => u8::from(value).to_string(),
        value @ (Value::Int(_) | Value::Time(_) | Value::Float(_)) => expression::literal(value),
    };
    format!("{{{}, CATAPULTS_IMPORT_{ty}, {{.{member} = {value}}}, {}}}", string(&parameter.name), parameter.at_parent)
}
