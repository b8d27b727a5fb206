//! A policy handles every event that its host requires, and every query that nobody else answers (2005, §4.1). (`check`
//! refuses this in source, with the same code and with what to write; a policy can also come as text.)

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Absent, Framework, QueryDefault};
use crate::policy::{At, Handler, Policy};

const CODE: &str = "E0307";

pub(super) fn check(policy: &Policy, framework: &Framework, diagnostics: &mut Diagnostics) {
    // `check` has said so.
    if diagnostics.iter().any(|diagnostic| diagnostic.code == CODE) {
        return;
    }
    let named = |handlers: &[Handler], name: &str| handlers.iter().any(|handler| handler.name == name);
    let required = |absent: &Absent| match absent {
        Absent::Required | Absent::Body(_) => true,
        Absent::Like(other) => named(&policy.events, other),
        Absent::Optional => false,
    };
    let events = framework.events.iter().filter(|event| required(&event.absent)).map(|event| event.name.as_str());
    let asked = framework.queries.iter().filter(|query| query.default == QueryDefault::Required);
    let missing = events.filter(|name| !named(&policy.events, name));
    let missing = missing.chain(asked.map(|query| query.name.as_str()).filter(|name| !named(&policy.queries, name)));
    let missing: Vec<String> = missing.map(|name| format!("`{name}`")).collect();
    if missing.is_empty() {
        return;
    }
    let verb = if missing.len() == 1 { "is" } else { "are" };
    let title = format!("{} {verb} not handled", missing.join(", "));
    let label = format!("framework `{}` requires this", framework.name);
    diagnostics.push(Diagnostic::error(CODE, title, At::default(), label).help("add the handlers"));
}
