//! The sequences agree with the event types: where a sequence lets an event come, a thread can be as the type says.

use std::collections::{BTreeMap, BTreeSet};

use super::{Event, Framework, Move, Stage, any_of, events, stages};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Pattern;
use crate::framework::automaton::{Automaton, DEEPEST, MOST, Sequences};
use crate::vocabulary::{At, StateClass};

pub(super) fn check(framework: &Framework, diagnostics: &mut Diagnostics) {
    let sequences = Sequences::of(framework);
    for sequence in &framework.sequences {
        if !names_any(&sequence.pattern) {
            let title = format!("the sequence `{}` names no event", sequence.name);
            diagnostics.push(Diagnostic::error("E0208", title, sequence.at, "").help("remove it"));
        }
    }
    if let [first, second, ..] = sequences.lives.as_slice() {
        let title = format!("`{}` is a second sequence for the life of threads", second.name);
        let twice = Diagnostic::error("E0208", title, second.at, "names an event of a new thread, too");
        let twice = twice.related(first.at, "the first");
        diagnostics.push(twice.help("join the two with `|`: every thread follows the same sequence"));
    }
    for (is_life, sequence) in sequences
        .lives
        .iter()
        .copied()
        .take(1)
        .map(|life| (true, life))
        .chain(sequences.orders().map(|order| (false, order)))
    {
        let unfolded = sequences.unfolded(sequence);
        let followed = unfolded.and_then(|(pattern, places)| Some((Automaton::of(&pattern)?, places)));
        let Some((automaton, places)) = followed else {
            let title = format!("the sequence `{}` is too long to be followed", sequence.name);
            let label = format!("more than {MOST} events stand in it, or sequences {DEEPEST} deep");
            let long = Diagnostic::error("E0208", title, sequence.at, label);
            diagnostics.push(long.note("the sequences that it names are a part of it").help("join events to families"));
            continue;
        };
        if is_life {
            Walk::of(framework, automaton, places).report(diagnostics);
        }
    }
}

/// Whether an event, or another sequence, stands in a pattern.
fn names_any(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Event(_) | Pattern::Sequence(_) => true,
        Pattern::Then(patterns) | Pattern::Either(patterns) => patterns.iter().any(names_any),
        Pattern::Many(pattern) | Pattern::Maybe(pattern) => names_any(pattern),
    }
}

/// The states in which a thread can be before each position of its life.
struct Walk<'a> {
    events: BTreeMap<&'a str, &'a Event>,
    automaton: Automaton,
    places: Vec<At>,
    before: Vec<BTreeSet<State>>,
    /// What can happen to the thread at any time.
    meanwhile: Vec<(State, State)>,
}

/// The state of a thread; `New` before its first event.
type State = Stage;

impl<'a> Walk<'a> {
    fn of(framework: &'a Framework, automaton: Automaton, places: Vec<At>) -> Self {
        let before = vec![BTreeSet::new(); automaton.positions().len()];
        let meanwhile = meanwhile(framework, &automaton);
        let events = framework.events.iter().map(|event| (event.name.as_str(), event)).collect();
        let mut walk = Walk { events, automaton, places, before, meanwhile };
        let mut open: Vec<usize> = walk.automaton.first_positions().collect();
        for first in &open {
            walk.before[*first].insert(Stage::New);
        }
        while let Some(position) = open.pop() {
            let names = walk.automaton.positions()[position].clone();
            let mut after = BTreeSet::new();
            for name in &names {
                after.extend(walk.after(position, name));
            }
            let after = walk.closed(after);
            let next: Vec<usize> = walk.automaton.positions_after(position).collect();
            for next in next {
                let known = walk.before[next].len();
                walk.before[next].extend(after.iter().copied());
                if walk.before[next].len() > known {
                    open.push(next);
                }
            }
        }
        walk
    }

    /// The states after an event at a position; empty if the event cannot come there.
    fn after(&self, position: usize, name: &str) -> BTreeSet<State> {
        let Some(event) = self.events.get(name) else { return BTreeSet::new() };
        let before = &self.before[position];
        match changes(event) {
            None => before.clone(),
            Some(changes) => {
                let possible = changes.into_iter().filter(|(from, _)| before.contains(from));
                possible.map(|(_, to)| to).collect()
            }
        }
    }

    /// These states, and all that can follow before the next event of the sequence.
    fn closed(&self, mut states: BTreeSet<State>) -> BTreeSet<State> {
        loop {
            let known = states.len();
            let more: Vec<State> =
                self.meanwhile.iter().filter(|(from, _)| states.contains(from)).map(|(_, to)| *to).collect();
            states.extend(more);
            if states.len() == known {
                return states;
            }
        }
    }

    fn report(&self, diagnostics: &mut Diagnostics) {
        for (position, names) in self.automaton.positions().iter().enumerate() {
            // If nothing comes before it, an earlier event cannot come, and that is reported.
            if self.before[position].is_empty() {
                continue;
            }
            for name in names.iter().filter(|name| self.after(position, name).is_empty()) {
                let Some(event) = self.events.get(name.as_str()) else { continue };
                let states: Vec<&str> = self.before[position].iter().map(|state| plain(*state)).collect();
                let title = format!("`{name}` cannot come here in the life of a thread");
                let label = format!("the thread is {} then", any_of(&states));
                let at = self.places.get(position).copied().unwrap_or_default();
                let diagnostic = Diagnostic::error("E0208", title, at, label);
                let types: Vec<String> = event.rules.iter().map(|rule| rule.text(&event.parameters)).collect();
                let diagnostic = diagnostic.related(event.at, format!("its type: {{ {} }}", types.join(" | ")));
                diagnostics.push(diagnostic.help("change the order, or the type of the event"));
            }
        }
    }
}

/// How an event can change the thread in whose life it stands; `None`: not at all.
fn changes(event: &Event) -> Option<Vec<(State, State)>> {
    const LIVING: [StateClass; 3] = [StateClass::Running, StateClass::Ready, StateClass::Blocked];
    let mut changes: Vec<(State, State)> = event.rules.iter().flat_map(|rule| &rule.moves).map(stages).collect();
    // A rule that does not name a parameter leaves open where it is.
    let silent = event.rules.is_empty()
        || event.rules.iter().any(|rule| (0..event.parameters.len()).any(|index| !speaks(rule, index)));
    if !event.parameters.is_empty() && silent {
        changes.extend(LIVING.iter().flat_map(|from| LIVING.iter().map(|to| (Stage::In(*from), Stage::In(*to)))));
    }
    (!changes.is_empty()).then_some(changes)
}

fn speaks(rule: &super::Rule, parameter: usize) -> bool {
    rule.moves.iter().any(|step| matches!(step, Move::Parameter(index, ..) if *index == parameter))
}

/// What can happen to a thread between two events of its life: the policy takes the processor from it; an event comes
/// that its sequence does not name; an event of another thread concerns it, too.
fn meanwhile(framework: &Framework, automaton: &Automaton) -> Vec<(State, State)> {
    let named: BTreeSet<&str> = automaton.positions().iter().flatten().map(String::as_str).collect();
    let mut all = BTreeSet::from([(Stage::In(StateClass::Running), Stage::In(StateClass::Ready))]);
    for event in events(framework) {
        let others = event.rules.iter().flat_map(|rule| &rule.moves).filter(|step| match step {
            Move::One(..) => !event.parameters.is_empty(),
            Move::Parameter(..) => event.parameters.len() > 1,
        });
        all.extend(others.map(stages));
        let creates = event.rules.iter().flat_map(|rule| &rule.moves).any(|step| stages(step).0 == Stage::New);
        if !named.contains(event.name.as_str()) && !creates {
            all.extend(changes(event).unwrap_or_default());
        }
    }
    all.into_iter().filter(|(from, _)| *from != Stage::New).collect()
}

/// A state in words.
fn plain(state: State) -> &'static str {
    match state {
        Stage::New => "not there yet",
        Stage::Placed => "on another node",
        Stage::In(StateClass::Terminated) => "gone",
        Stage::In(class) => class.word(),
    }
}
