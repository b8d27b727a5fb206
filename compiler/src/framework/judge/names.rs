//! Events and queries have distinct names: in policies, where families are handled, and in generated code, where
//! `block.read` is `block_read`.

use std::collections::BTreeMap;

use super::Framework;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::vocabulary::At;

pub(super) fn check(framework: &Framework, diagnostics: &mut Diagnostics) {
    let events = framework.events.iter().map(|event| (event.name.as_str(), event.at));
    let queries = framework.queries.iter().map(|query| (query.name.as_str(), query.at));
    let named: Vec<(&str, At)> = events.chain(queries).collect();
    let names: BTreeMap<&str, At> = named.iter().copied().collect();
    for (name, at) in &named {
        let parents = name.rmatch_indices('.').map(|(dot, _)| &name[..dot]);
        if let Some((parent, above)) = parents.filter_map(|parent| Some((parent, *names.get(parent)?))).next() {
            let title = format!("`{parent}` is an event by itself and the family of `{name}`");
            let both = Diagnostic::error("E0211", title, *at, format!("a member of `{parent}.*`"));
            let both = both.related(above, format!("`{parent}.*` does not handle this"));
            diagnostics.push(both.help(format!("call the event `{parent}.NAME`, so that the family has it")));
        }
    }
    let mut generated: BTreeMap<String, (&str, At)> = BTreeMap::new();
    for (name, at) in named {
        match generated.get(&name.replace('.', "_")) {
            Some((first, place)) if *first != name => {
                let title = format!("`{first}` and `{name}` have the same name in generated code");
                let same = Diagnostic::error("E0211", title, at, format!("this is `{}`, too", name.replace('.', "_")));
                diagnostics.push(same.related(*place, "the first").help("choose another name"));
            }
            Some(_) => {}
            None => {
                generated.insert(name.replace('.', "_"), (name, at));
            }
        }
    }
}
