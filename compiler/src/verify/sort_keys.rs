//! A sort key is a plain attribute: it changes only where a thread is re-filed. A timer changes when it expires, and an
//! element changes by an index that is not known (2005, §7.3). (`check` refuses this in source, with the same code; a
//! policy can also come as text.)

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{ContainerKind, Policy};

pub(super) fn check(policy: &Policy, diagnostics: &mut Diagnostics) {
    for container in &policy.containers {
        let keys = match &container.kind {
            ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys) => keys.as_slice(),
            ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack => &[],
        };
        for attribute in keys.iter().filter_map(|key| policy.attributes.get(key.attribute.0)) {
            if attribute.timer.is_some() || attribute.element.is_some() {
                let what = if attribute.timer.is_some() { "a timer" } else { "an element of an array" };
                let title = format!("`{}` is {what} and cannot be a sort key", attribute.name);
                let diagnostic = Diagnostic::error("E0318", title, container.at, "sorted on it");
                diagnostics.push(diagnostic.help("keep a copy in an attribute of its own, and sort on that"));
            }
        }
    }
}
