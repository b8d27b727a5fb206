//! That no thread waits for itself. Which locks it has is followed phase by phase: it takes none twice, gives back none that it has
//! not, and ends with none.

use std::collections::BTreeMap;

use crate::diagnostics::Diagnostic;
use crate::vocabulary::At;

use super::check::Checker;
use super::{Phase, Thread};

/// Each lock with where it was taken.
type Held = BTreeMap<usize, At>;

/// Whether what follows is reached. `Err`: what is wrong.
type Done = Result<bool, Box<Diagnostic>>;

impl Checker<'_, '_> {
    /// A thread that waits for the end of such as itself lives meanwhile.
    pub(super) fn waits_for_others(&mut self, thread: &Thread) {
        let me = self.names.get(thread.name.as_str()).copied();
        for (phase, at) in thread.phases.iter().zip(&thread.places) {
            if matches!(phase, Phase::Join(other) if Some(*other) == me) {
                let title = format!("`{}` waits for itself to end", thread.name);
                let join = Diagnostic::error("E0704", title, *at, "it would wait for ever");
                self.diagnostics.push(join.help("leave it out, or name another thread"));
            }
        }
    }

    /// Of a thread in whose phases nothing else is wrong.
    pub(super) fn locks_are_given_back(&mut self, thread: &Thread) {
        let names = self.lock_names();
        let walk = Walk { thread, names: &names };
        if let Err(wrong) = walk.through(0, thread.phases.len(), &mut Held::new()) {
            self.diagnostics.push(*wrong);
        }
    }
}

struct Walk<'a> {
    thread: &'a Thread,
    names: &'a [String],
}

impl Walk<'_> {
    /// From one phase up to another. Whatever is repeated and leaves other locks than it found is wrong in its second round.
    fn through(&self, from: usize, to: usize, held: &mut Held) -> Done {
        let mut place = from;
        while place < to {
            match &self.thread.phases[place] {
                Phase::Lock(lock) => self.takes(place, *lock, held)?,
                Phase::Unlock(lock) => self.gives_back(place, *lock, held)?,
                Phase::Repeat { times, end } => {
                    let before: Vec<usize> = held.keys().copied().collect();
                    let (first, last) = (place + 1, end - 1);
                    if !self.through(first, last, held)? {
                        return Ok(false);
                    }
                    if *times > 1 && held.keys().ne(&before) {
                        self.through(first, last, held)?;
                    }
                    place = *end;
                    continue;
                }
                Phase::Jump(start) => {
                    self.through(*start, place, held)?;
                    return Ok(false);
                }
                Phase::Exit | Phase::End => return self.ends(held),
                Phase::Run(_)
                | Phase::Block(..)
                | Phase::Yield
                | Phase::YieldTo(_)
                | Phase::Send(_)
                | Phase::Receive(_)
                | Phase::Signal(_)
                | Phase::Broadcast(_)
                | Phase::Barrier(_)
                | Phase::Timer(..)
                | Phase::Spawn(_)
                | Phase::Join(_)
                | Phase::Suspend(_)
                | Phase::Resume(_)
                | Phase::Set(_)
                | Phase::Again(_) => {}
            }
            place += 1;
        }
        Ok(true)
    }

    fn takes(&self, place: usize, lock: usize, held: &mut Held) -> Result<(), Box<Diagnostic>> {
        let at = self.thread.places[place];
        let Some(first) = held.insert(lock, at) else { return Ok(()) };
        let (thread, lock) = (&self.thread.name, &self.names[lock]);
        let title = format!("`{thread}` waits for the lock `{lock}`, which it has itself");
        let twice = Diagnostic::error("E0704", title, at, "it would wait for ever");
        let twice =
            if first == at { twice.note("it took it in the round before") } else { twice.related(first, "taken here") };
        Err(Box::new(twice.help(format!("write `unlock {lock};` before it"))))
    }

    fn gives_back(&self, place: usize, lock: usize, held: &mut Held) -> Result<(), Box<Diagnostic>> {
        if held.remove(&lock).is_some() {
            return Ok(());
        }
        let (thread, lock) = (&self.thread.name, &self.names[lock]);
        let title = format!("`{thread}` unlocks `{lock}`, which it has not locked");
        let wrong = Diagnostic::error("E0704", title, self.thread.places[place], "it has not this lock here");
        Err(Box::new(wrong.help(format!("write `lock {lock};` before it, in the same thread and as often"))))
    }

    fn ends(&self, held: &Held) -> Done {
        let Some((lock, at)) = held.first_key_value() else { return Ok(false) };
        let (thread, lock) = (&self.thread.name, &self.names[*lock]);
        let title = if self.thread.period.is_some() {
            format!("a job of `{thread}` ends with the lock `{lock}`, for which the next one waits")
        } else {
            format!("`{thread}` ends with the lock `{lock}`, which nobody can have then")
        };
        let kept = Diagnostic::error("E0704", title, *at, "taken here");
        Err(Box::new(kept.help(format!("write `unlock {lock};` before it ends"))))
    }
}
