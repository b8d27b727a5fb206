//! Printed names, which tell things of the same name apart.

use std::collections::HashMap;

use crate::policy::{Element, Handler, Policy};

/// The printed names of everything that a policy declares, each list in the order of its own vector.
pub(super) struct Names {
    pub constants: Vec<String>,
    pub variables: Vec<String>,
    pub imports: Vec<String>,
    pub containers: Vec<String>,
    pub attributes: Vec<String>,
    pub links: Vec<String>,
    pub thread_imports: Vec<String>,
    scope: Counter,
}

/// How often each name has been seen in a scope.
#[derive(Clone, Default)]
struct Counter(HashMap<String, usize>);

impl Names {
    pub fn of(policy: &Policy) -> Self {
        let mut scope = Counter::default();
        let mut members = Counter::default();
        Names {
            constants: scope.all(policy.constants.iter().map(|constant| (&constant.name, constant.element))),
            variables: scope.all(policy.variables.iter().map(|variable| (&variable.name, variable.element))),
            imports: policy.imports.iter().map(|import| scope.next(&import.name)).collect(),
            containers: scope.all(policy.containers.iter().map(|container| (&container.name, container.element))),
            attributes: members.all(policy.attributes.iter().map(|attribute| (&attribute.name, attribute.element))),
            links: policy.links.iter().map(|link| members.next(&link.name)).collect(),
            thread_imports: policy.thread_imports.iter().map(|import| members.next(&import.name)).collect(),
            scope,
        }
    }

    /// The names as in the source, without numbers.
    pub fn plain(self) -> Self {
        let all = |names: Vec<String>| names.into_iter().map(plain).collect();
        Names {
            constants: all(self.constants),
            variables: all(self.variables),
            imports: all(self.imports),
            containers: all(self.containers),
            attributes: all(self.attributes),
            links: all(self.links),
            thread_imports: all(self.thread_imports),
            scope: self.scope,
        }
    }

    /// The printed names of a handler's locals.
    pub fn locals(&self, handler: &Handler) -> Vec<String> {
        let mut scope = self.scope.clone();
        handler.locals.iter().map(|local| scope.next(&local.name)).collect()
    }
}

/// A name without its number: `x[0]` for `x#1[0]`.
pub(super) fn plain(name: String) -> String {
    let Some((before, after)) = name.split_once('#') else { return name };
    format!("{before}{}", after.trim_start_matches(|digit: char| digit.is_ascii_digit()))
}

impl Counter {
    /// An array counts as one name, which its elements share.
    fn all<'a>(&mut self, names: impl Iterator<Item = (&'a String, Option<Element>)>) -> Vec<String> {
        let mut array = String::new();
        let printed = names.map(|(name, element)| {
            let Some(Element { index, .. }) = element else { return self.next(name) };
            if index == 0 {
                array = self.next(Element::array(name));
            }
            format!("{array}[{index}]")
        });
        printed.collect()
    }

    fn next(&mut self, name: &str) -> String {
        let seen = self.0.entry(name.to_owned()).or_insert(0);
        *seen += 1;
        match *seen {
            1 => name.to_owned(),
            nth => format!("{name}#{}", nth - 1),
        }
    }
}
