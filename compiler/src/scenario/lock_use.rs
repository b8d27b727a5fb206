//! No thread waits for itself. The locks that it has are followed phase by phase: it takes none twice, gives none back
//! that it does not have, and ends with none.

use std::collections::BTreeMap;

use crate::diagnostics::Diagnostic;
use crate::vocabulary::At;

use super::check::Checker;
use super::{Phase, Thread};

/// Each lock with where it was taken.
type Locks = BTreeMap<usize, At>;

/// Whether what follows is reached. `Err`: what is wrong.
type Done = Result<bool, Box<Diagnostic>>;

impl Checker<'_, '_> {
    /// A thread that waits for threads like itself to end would wait for itself.
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

    /// The other phases of the thread must be right.
    pub(super) fn locks_are_given_back(&mut self, thread: &Thread) {
        let names = self.lock_names();
        let walk = Walk { thread, names: &names };
        if let Err(wrong) = walk.through(0, thread.phases.len(), &mut Locks::new()) {
            self.diagnostics.push(*wrong);
        }
    }
}

struct Walk<'a> {
    thread: &'a Thread,
    names: &'a [String],
}

impl Walk<'_> {
    /// Goes from one phase to another. A repetition that leaves other locks than it found is wrong in its second round.
    fn through(&self, from: usize, to: usize, locks: &mut Locks) -> Done {
        let mut place = from;
        while place < to {
            match &self.thread.phases[place] {
                Phase::Lock(lock) => self.takes(place, *lock, locks)?,
                Phase::Unlock(lock) => self.gives_back(place, *lock, locks)?,
                Phase::Repeat { times, end } => {
                    let before: Vec<usize> = locks.keys().copied().collect();
                    let (first, last) = (place + 1, end - 1);
                    if !self.through(first, last, locks)? {
                        return Ok(false);
                    }
                    if *times > 1 && locks.keys().ne(&before) {
                        self.through(first, last, locks)?;
                    }
                    place = *end;
                    continue;
                }
                Phase::Jump(start) => {
                    self.through(*start, place, locks)?;
                    return Ok(false);
                }
                Phase::Exit | Phase::End => return self.ends(locks),
                Phase::Run(_)
                | Phase::Block(..)
                | Phase::Yield
                | Phase::YieldTo(_)
                | Phase::Wait(_)
                | Phase::Post(_)
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

    fn takes(&self, place: usize, lock: usize, locks: &mut Locks) -> Result<(), Box<Diagnostic>> {
        let at = self.thread.places[place];
        let Some(first) = locks.insert(lock, at) else { return Ok(()) };
        let (thread, lock) = (&self.thread.name, &self.names[lock]);
        let title = format!("`{thread}` locks `{lock}`, which it holds already");
        let twice = Diagnostic::error("E0704", title, at, "it would wait for ever");
        let twice =
            if first == at { twice.note("locked in the round before") } else { twice.related(first, "taken here") };
        Err(Box::new(twice.help(format!("write `unlock {lock};` before it"))))
    }

    fn gives_back(&self, place: usize, lock: usize, locks: &mut Locks) -> Result<(), Box<Diagnostic>> {
        if locks.remove(&lock).is_some() {
            return Ok(());
        }
        let (thread, lock) = (&self.thread.name, &self.names[lock]);
        let title = format!("`{thread}` unlocks `{lock}`, which it does not hold");
        let wrong = Diagnostic::error("E0704", title, self.thread.places[place], "it does not hold this lock here");
        Err(Box::new(wrong.help(format!("write `lock {lock};` before it, in the same thread and as often"))))
    }

    fn ends(&self, locks: &Locks) -> Done {
        let Some((lock, at)) = locks.first_key_value() else { return Ok(false) };
        let (thread, lock) = (&self.thread.name, &self.names[*lock]);
        let title = if self.thread.period.is_some() {
            format!("a job of `{thread}` ends with the lock `{lock}`, for which the next one waits")
        } else {
            format!("`{thread}` ends while it holds the lock `{lock}`")
        };
        let kept = Diagnostic::error("E0704", title, *at, "taken here");
        Err(Box::new(kept.help(format!("write `unlock {lock};` before it ends"))))
    }
}
