//! Hosts on which several threads run at once in one instance, and events find one of them at the most.

use super::{Machine, Position, RunningSet, Stop, ThreadId};
use crate::policy::{ContainerId, StateClass};

impl Machine<'_> {
    /// From now on, of all threads that run in this instance, handlers find only this one in RUNNING containers, or none.
    ///
    /// # Errors
    /// [`Stop::Misuse`] if the thread does not run.
    pub fn show(&mut self, thread: Option<ThreadId>) -> Result<(), Stop> {
        let shown = self.shown();
        if shown == thread {
            return Ok(());
        }
        let mut set = match thread {
            Some(thread) => {
                let hidden = self.hidden.remove(&thread);
                hidden.ok_or_else(|| Stop::Misuse(format!("{thread} does not run")))?
            }
            None => RunningSet::default(),
        };
        self.exchange_running(&mut set);
        if let Some(shown) = shown {
            self.hidden.insert(shown, set);
        }
        Ok(())
    }

    /// Takes a thread from where it is, without any event: it is in hand then, with its attributes. That of a thread that
    /// comes follows.
    ///
    /// # Errors
    /// [`Stop::Misuse`] if there is no such thread.
    pub fn take(&mut self, thread: ThreadId) -> Result<(), Stop> {
        let slot = self.numbers.get(&thread).copied();
        let slot = slot.ok_or_else(|| Stop::Misuse(format!("there is no {thread}")))?;
        if self.hidden.remove(&thread).is_none() {
            self.remove(slot);
        }
        self.threads[slot].position = Position::Hand;
        self.release(slot);
        Ok(())
    }

    /// The thread that handlers find RUNNING.
    fn shown(&self) -> Option<ThreadId> {
        let containers = self.verified.policy().containers.iter().enumerate();
        let running = containers.filter(|(_, container)| container.class == StateClass::Running);
        let first = |(index, _)| self.first(ContainerId(index));
        running.filter_map(first).map(|slot| self.threads[slot].id).next()
    }
}
