//! Whether a host keeps what its description promises: what it wrote down of a program, held against event types and sequences.

use std::collections::BTreeMap;

use catapults_compiler::framework::Framework;
use catapults_compiler::framework::automaton::{Automaton, Order};
use catapults_compiler::interp::{Machine, Position, Stop, ThreadId, Variables};
use catapults_compiler::policy::Policy;
use catapults_compiler::verify::Verified;
use catapults_simulator::event_types::EventTypes;

use crate::replay::{Step, perform};

/// Takes the steps in the interpreter; each event must be one that the host can raise then.
///
/// # Errors
/// The first event that it should not have raised.
pub fn kept(verified: &Verified<Policy>, framework: &Framework, script: &[Step]) -> Result<(), String> {
    let framework = framework.as_met(verified.policy().timers(), verified.policy().has_nodes());
    let types = EventTypes::new(&framework, verified.policy());
    let (mut machine, mut application) = (Machine::new(verified), Variables::default());
    let life = Automaton::of_lives(&framework).ok_or("there is no sequence of a thread's life")?;
    let order = Order::of(&framework);
    let (mut come, mut lives) = (order.first(), BTreeMap::<ThreadId, u64>::new());
    for (index, step) in script.iter().enumerate() {
        let wrong = |what: &str| format!("step {}, {step}: {what}", index + 1);
        if let Step::Raise(name, threads) = step {
            let classes = types.classes(&machine).map_err(|violation| wrong(&violation.to_string()))?;
            let new = threads.first().copied().filter(|thread| !classes.contains_key(thread));
            let starts = types.legal(&machine, &classes, new).into_iter().any(|legal| {
                legal.event.name == *name
                    && legal.candidates.iter().zip(threads).all(|(candidates, thread)| candidates.contains(thread))
            });
            // What is raised once, before all others, has no event type.
            if !starts && !types.first(&machine).iter().any(|event| event.name == *name) {
                return Err(wrong(&format!("the event type does not let it start so: {classes:?}")));
            }
            come = order.after(&come, name).ok_or_else(|| wrong("not in this order, for all threads"))?;
        }
        let decision = match perform(&mut machine, &mut application, verified.policy(), step) {
            Ok(decision) => decision,
            Err(Stop::Guard { .. } | Stop::Fail { .. }) => None,
            Err(stop) => return Err(wrong(&format!("{stop:?}"))),
        };
        // What a host takes from a node, or from where it was, comes anew.
        lives.retain(|thread, _| machine.position(*thread) != Some(Position::Hand));
        if let Step::Raise(name, threads) = step {
            let chosen = decision.as_deref().and_then(|text| text.rsplit(' ').next()?.parse().ok()).map(ThreadId);
            for thread in threads.iter().copied().chain(chosen) {
                let state = lives.get(&thread).copied().unwrap_or(life.first());
                let next = life.after(state, name).ok_or_else(|| wrong("not in this order, in a thread's life"))?;
                lives.insert(thread, next);
            }
        }
    }
    Ok(())
}
