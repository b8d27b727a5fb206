//! Who is next, and what follows when a turn ends.

use catapults_compiler::interp::{Stop, ThreadId};

use super::super::policy::{EventId, Runner};
use super::super::record::Kind;
use super::books::State;
use super::{Dispatcher, Done, Processor};

impl<R: Runner> Dispatcher<'_, R> {
    /// Every processor that has nothing to run gets something, if anything is ready.
    pub(in super::super) fn settle(&mut self) -> Done {
        for processor in 0..self.processors.len() {
            while self.processors[processor].turn.is_none() {
                if self.has_nodes && self.processors[processor].ready == 0 && self.schedulers[0].ready > 0 {
                    self.steal(processor)?;
                }
                let ready = if self.has_nodes { self.processors[processor].ready } else { self.schedulers[0].ready };
                if ready == 0 || self.processors[processor].refused || !self.decide(processor)? {
                    break;
                }
            }
            let idle = &mut self.processors[processor];
            if idle.turn.is_none() && !std::mem::replace(&mut idle.told_idle, true) {
                self.note(processor, ThreadId(0), Kind::Idle, self.events.schedule, 0);
            }
        }
        Ok(())
    }

    /// Asks the root, and whatever it dispatches, down to a thread. Whether to ask again, if nothing runs now.
    fn decide(&mut self, processor: usize) -> Done<bool> {
        let mut scheduler = 0;
        loop {
            let dispatched = self.raise(scheduler, processor, self.events.schedule, &[])?;
            let Some(member) = dispatched else {
                if scheduler == 0 {
                    self.processors[processor].refused = true;
                    return Ok(false);
                }
                // It has nothing to run, whatever it has said before: its record waits until something happens to it.
                self.schedulers[scheduler].refused = true;
                self.give_way_back(processor)?;
                return Ok(true);
            };
            let book = self.books.get(member.0 as usize - 1);
            if book.is_none_or(|book| !book.is_ready() || book.under != scheduler) {
                let why = "it dispatched a thread that is not ready".to_owned();
                return Err(self.out(self.events.schedule, Stop::Misuse(why)));
            }
            self.lost_ready(member);
            let book = self.book(member);
            (book.turn_on, book.home) = (Some(processor), processor);
            if let Some(below) = book.scheduler {
                self.processors[processor].way.push(member);
                self.schedulers[below].running += 1;
                scheduler = below;
                continue;
            }
            self.processors[processor].turn = Some(member);
            self.processors[processor].told_idle = false;
            self.note_moved(processor, member, Kind::Dispatched, self.events.schedule);
            self.adjust(scheduler, processor)?;
            self.preempted(processor, self.events.schedule)?;
            self.lends(processor, true)?;
            return Ok(true);
        }
    }

    /// The turn is over. `ready`: whose turn it was is READY. So is it for all schedulers above.
    pub(super) fn vacate(&mut self, processor: usize, ready: bool) -> Done {
        let Processor { turn: Some(turn), current, .. } = self.processors[processor] else { return Ok(()) };
        self.processors[processor].turn = None;
        self.processors[processor].current = None;
        self.book(turn).turn_on = None;
        if ready {
            self.gained_ready(turn);
        }
        self.give_way_back(processor)?;
        match current {
            Some(current) => self.stops_running(current),
            None => Ok(()),
        }
    }

    /// Who ran does not any more: those that are stalled behind it can lend their turns to it again.
    pub(super) fn stops_running(&mut self, thread: ThreadId) -> Done {
        self.book(thread).runs_on = None;
        if self.book(thread).state == State::Runnable { self.rouse_all(thread) } else { Ok(()) }
    }

    /// A policy may have taken the processor from who is RUNNING, or from a scheduler above: then all of them have given it up.
    pub(super) fn preempted(&mut self, processor: usize, event: EventId) -> Done {
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        if self.is_taken(turn) {
            self.note_moved(processor, turn, Kind::Preempted, event);
            return self.vacate(processor, true);
        }
        if self.processors[processor].way.iter().any(|record| self.is_taken(*record)) {
            self.raise(self.under(turn), processor, self.events.switch_out, &[turn])?;
            self.note_moved(processor, turn, Kind::Preempted, event);
            return self.vacate(processor, true);
        }
        Ok(())
    }

    /// A thread is READY again, which its policy knew as blocked.
    pub(super) fn becomes_ready(&mut self, thread: ThreadId, event: EventId, state: State, kind: Kind) -> Done {
        if std::mem::take(&mut self.book(thread).homeless) {
            return self.comes_back(thread, state, kind);
        }
        let (processor, under) = (self.where_told(thread), self.under(thread));
        self.book(thread).state = state;
        self.raise(under, processor, event, &[thread])?;
        self.gained_ready(thread);
        self.note_moved(processor, thread, kind, event);
        self.adjust(under, processor)?;
        self.preempted(processor, event)
    }
}
