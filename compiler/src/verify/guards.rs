//! Why a guard is left, and what would remove it.

use std::collections::HashMap;

use super::elements::Named;
use super::state::{State, Why};
use super::{Facts, Guard, Handling, alternatives, walk};
use crate::diagnostics::Diagnostic;
use crate::policy::{At, ContainerRef, Statement};

/// A guard that is left.
#[derive(Clone, Debug)]
pub struct Left {
    /// Why it could not be proved, and what would remove it.
    pub remark: Diagnostic,
    /// What it tests: "`ready` holds a thread in `ready => current`".
    pub tested: String,
}

/// Remarks on guards, in the order in which they were made, without repetitions.
#[derive(Default)]
pub(super) struct Remarks {
    list: Vec<Left>,
    /// By place: indices in the list. There are as many remarks as guards, so the list itself is not searched.
    places: HashMap<At, Vec<usize>>,
}

impl Remarks {
    /// All of them.
    pub fn into_list(self) -> Vec<Left> {
        self.list
    }

    fn add(&mut self, left: Left) {
        let here = self.places.entry(left.remark.primary.0).or_default();
        if here.iter().all(|index| self.list.get(*index).is_none_or(|known| known.remark != left.remark)) {
            here.push(self.list.len());
            self.list.push(left);
        }
    }
}

/// Adds a remark for each guard of a handler. A handler for a family is explained once.
pub(super) fn explain(handling: &Handling, facts: &[Facts], left: &mut Remarks) {
    walk::statements(&handling.handler.body, &mut |statement| {
        let facts = &facts[statement.id.0];
        for guard in facts.guards.iter().filter(|_| !facts.never) {
            left.add(remark(handling, statement, guard));
        }
    });
}

fn remark(handling: &Handling, statement: &Statement, guard: &Guard) -> Left {
    let (container, wanted, feared, test) = match guard {
        Guard::Holds(container) => (container, "holds a thread", "may be empty", "> 0"),
        Guard::Vacant(container) => (container, "is empty", "may hold a thread already", "== 0"),
    };
    let held = handling.policy.held_by(container).word();
    let (wanted, feared) = (wanted.replace("thread", held), feared.replace("thread", held));
    let (written, what) = (handling.reference(container), handling.statement(statement));
    let name = format!("`{written}`");
    let title = format!("{what} keeps a guard: it is not proved that {name} {wanted}");
    let tested = format!("{name} {wanted} in {what}");
    let remark = Diagnostic::remark(title, statement.at, format!("{name} {feared} here"));
    let remark = handling.called(statement, remark);
    let remark = match handling.before(statement.id) {
        None => remark,
        Some(state) => because(remark, handling, state, container, &feared),
    };
    if matches!(container, ContainerRef::Element { .. }) && Named::of(container).is_none() {
        let remark = remark
            .note("its index can differ each time it is read: the application or a transfer changes it")
            .help("keep the index in a variable, and test the element that this names");
        return Left { remark, tested };
    }
    Left { remark: remark.help(format!("a test removes it: `if (|{written}| {test}) ...`")), tested }
}

/// Adds where the knowledge about a container ends.
fn because(
    remark: Diagnostic,
    handling: &Handling,
    state: &State,
    container: &ContainerRef,
    feared: &str,
) -> Diagnostic {
    let (name, held) = (format!("`{}`", handling.reference(container)), handling.policy.held_by(container).word());
    let remark = match state.size_of(container).why {
        Why::Moved(at) => remark.related(at, format!("after this, {name} {feared}")),
        Why::Tested(at) => remark.related(at, format!("this test leaves it open: {name} {feared}")),
        Why::Between => remark.note(format!("the handlers together leave it open: {name} {feared}")),
        Why::Given => remark.note(format!("the type of the event leaves it open: {name} {feared}")),
        Why::Unknown => remark.note(format!(
            "on some path to here, neither the type of the event nor a test says how many {held}s {name} holds"
        )),
    };
    match container.candidates().find_map(|candidate| state.one_of(candidate)) {
        None => remark,
        Some(containers) => {
            let names = handling.names(&containers.iter().copied().collect::<Vec<_>>());
            let which = if names.len() == 1 { "in which element" } else { "in which" };
            remark.note(format!("a {held} is in {}; {which} is not known", alternatives(&names)))
        }
    }
}
