//! Decisions: which thread runs next, and what follows when a turn ends.

use catapults_compiler::interp::{Stop, ThreadId};

use super::super::policy::{EventId, Runner};
use super::super::record::Kind;
use super::books::State;
use super::{Dispatcher, Done, Processor};

impl<R: Runner> Dispatcher<'_, R> {
    /// Gives each idle processor a turn, as long as threads are READY.
    pub fn settle(&mut self) -> Done {
        loop {
            self.rouse_who_can_lend()?;
            self.preempted_at_last()?;
            for processor in 0..self.processors.len() {
                while self.processors[processor].turn.is_none() {
                    if self.has_nodes && self.processors[processor].ready == 0 && self.schedulers[0].ready > 0 {
                        self.steal(processor)?;
                    }
                    if !self.is_to_decide(processor) || !self.decide(processor)? {
                        break;
                    }
                }
            }
            // By a decision for one processor, another one may lose its thread.
            let chains = self.chains_changed && !self.blocked_donors.is_empty();
            if !chains && !(0..self.processors.len()).any(|processor| self.is_to_decide(processor)) {
                break;
            }
        }
        for processor in 0..self.processors.len() {
            let idle = &mut self.processors[processor];
            if idle.turn.is_none() && !std::mem::replace(&mut idle.told_idle, true) {
                self.note(processor, ThreadId(0), Kind::Idle, self.events.schedule, 0);
            }
        }
        Ok(())
    }

    /// Something has happened while no processor ran a thread: schedulers that dispatched nothing are asked again.
    pub fn asks_all_again(&mut self) -> Done {
        self.processors.iter_mut().for_each(|processor| processor.refused = false);
        for place in 0..self.order.len() {
            let scheduler = self.order[place];
            if self.schedulers[scheduler].refused && self.schedulers[scheduler].ready > 0 {
                self.adjust(scheduler, 0)?;
            }
        }
        Ok(())
    }

    /// Whether the processor is idle and may get a turn.
    pub fn is_to_decide(&self, processor: usize) -> bool {
        let on = &self.processors[processor];
        let ready = if self.has_nodes { on.ready } else { self.schedulers[0].ready };
        on.turn.is_none() && ready > 0 && !on.refused
    }

    /// Asks all schedulers between what is RUNNING and a thread to dispatch it next, if all of them can be asked.
    pub(super) fn asks_for(&mut self, processor: usize, thread: ThreadId, event: EventId) -> Done {
        let running: Vec<usize> = self.way_up(processor).into_iter().map(|member| self.under(member)).collect();
        let (mut asked, mut next) = (Vec::new(), Some(thread));
        while let Some(member) = next {
            let under = self.under(member);
            let is_here = !self.is_of_nodes(under) || self.book(member).home == processor;
            if !self.book(member).is_ready() || !is_here || !self.may_ask(under, processor, member, event)? {
                return Ok(());
            }
            asked.push(member);
            if running.contains(&under) || self.schedulers[under].parent.is_none() {
                break;
            }
            let mut proxies = self.schedulers[under].proxies.iter().copied();
            next = proxies.find(|proxy| self.books[proxy.0 as usize - 1].is_ready());
            if next.is_none() {
                return Ok(());
            }
        }
        for member in asked {
            let under = self.under(member);
            self.schedulers[under].asked_for = true;
            self.raise(under, processor, event, &[member])?;
        }
        Ok(())
    }

    /// Whether a scheduler can be asked to dispatch this member next. It must have decided since the last request; with
    /// one processor, the root always has.
    fn may_ask(&mut self, scheduler: usize, processor: usize, member: ThreadId, event: EventId) -> Done<bool> {
        let of = &self.schedulers[scheduler];
        let comes_first = self.processors.len() == 1 && of.parent.is_none();
        if !of.runner.handles(event) || (of.asked_for && !comes_first) {
            return Ok(false);
        }
        // The answer may depend on how long a thread has run.
        self.charge();
        let runner = &mut self.schedulers[scheduler].runner;
        runner.enter(processor);
        runner.can_switch_to(member).map_err(|stop| self.out(event, stop))
    }

    /// Raises `schedule` at the root and at each dispatched scheduler, down to a thread. Whether to ask again if the
    /// processor is still idle.
    fn decide(&mut self, processor: usize) -> Done<bool> {
        let mut scheduler = 0;
        loop {
            self.schedulers[scheduler].asked_for = false;
            let dispatched = self.raise(scheduler, processor, self.events.schedule, &[])?;
            let Some(member) = dispatched else {
                if scheduler == 0 {
                    self.processors[processor].refused = true;
                    return Ok(false);
                }
                // It has nothing to run after all. Its proxy is BLOCKED until something happens to it.
                self.schedulers[scheduler].refused = true;
                match self.give_back(processor)? {
                    Some(above) => scheduler = above,
                    None => return Ok(true),
                }
                continue;
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
                if !self.schedulers[below].leaving {
                    self.note_moved(processor, member, Kind::Dispatched, self.events.schedule);
                    scheduler = below;
                    continue;
                }
                match self.give_back(processor)? {
                    Some(above) => scheduler = above,
                    None => return Ok(true),
                }
                continue;
            }
            self.processors[processor].turn = Some(member);
            self.processors[processor].told_idle = false;
            let (at, donors) = self.takes_over(member, processor);
            self.note_moved(at, member, Kind::Dispatched, self.events.schedule);
            self.adjust(scheduler, at)?;
            self.preempted(at, self.events.schedule)?;
            self.lends(at, true)?;
            if let Some(donors) = donors {
                self.borrow(donors)?;
            }
            return Ok(true);
        }
    }

    /// Ends the turn. `ready`: its thread is READY, and so are the schedulers above.
    pub(super) fn vacate(&mut self, processor: usize, ready: bool) -> Done {
        self.ends_turn(processor, ready, false)
    }

    /// `preempted`: a policy has taken the processor from the turn, or from a scheduler above.
    fn ends_turn(&mut self, processor: usize, ready: bool, preempted: bool) -> Done {
        let Processor { turn: Some(turn), current, .. } = self.processors[processor] else { return Ok(()) };
        self.processors[processor].turn = None;
        self.processors[processor].current = None;
        let book = self.book(turn);
        book.turn_on = None;
        // It may have been about to go on here, once the borrower had given the turn back.
        book.runs_on = book.runs_on.filter(|on| *on != processor);
        if ready {
            self.gained_ready(turn);
        }
        self.give_way_back(processor, preempted)?;
        match current {
            Some(current) => self.stops_running(current),
            None => Ok(()),
        }
    }

    /// The thread does not run any more. Donors that stalled on it can lend it their turns again.
    pub(super) fn stops_running(&mut self, thread: ThreadId) -> Done {
        self.book(thread).runs_on = None;
        self.chains_changed = true;
        if self.book(thread).state == State::Runnable { self.rouse_all(thread) } else { Ok(()) }
    }

    /// An event was raised, and more may follow. A single processor is given up after all of them; of several, each at
    /// once, because where the next events are raised depends on that.
    pub(super) fn may_be_taken(&mut self, processor: usize, event: EventId) -> Done {
        if self.processors.len() > 1 {
            return self.preempted(processor, event);
        }
        if self.taken_by.is_none() && self.has_lost(processor) {
            self.taken_by = Some(event);
        }
        Ok(())
    }

    /// Gives the processor up if `may_be_taken` noted that.
    pub(in super::super) fn preempted_at_last(&mut self) -> Done {
        self.taken_by.map_or(Ok(()), |event| self.preempted(0, event))
    }

    /// If a policy has taken the processor from the turn, or from a scheduler above, the turn ends for all of them.
    pub(super) fn preempted(&mut self, processor: usize, event: EventId) -> Done {
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        self.taken_by = None;
        if self.is_taken(turn) {
            self.note_moved(processor, turn, Kind::Preempted, event);
            return self.ends_turn(processor, true, true);
        }
        if self.processors[processor].way.iter().any(|proxy| self.is_taken(*proxy)) {
            self.raise(self.under(turn), processor, self.events.switch_out, &[turn])?;
            self.note_moved(processor, turn, Kind::Preempted, event);
            return self.ends_turn(processor, true, true);
        }
        Ok(())
    }

    /// A thread that its policy had as BLOCKED is READY again.
    pub(super) fn becomes_ready(&mut self, thread: ThreadId, event: EventId, state: State, kind: Kind) -> Done {
        if std::mem::take(&mut self.book(thread).homeless) {
            return self.comes_back(thread, state, kind);
        }
        let (processor, under) = (self.where_told(thread), self.under(thread));
        let set_aside = std::mem::take(&mut self.book(thread).set_aside);
        let event = self.events.resume.filter(|_| set_aside).unwrap_or(event);
        self.book(thread).state = state;
        self.chains_changed = true;
        self.raise(under, processor, event, &[thread])?;
        self.gained_ready(thread);
        self.note_moved(processor, thread, kind, event);
        self.adjust(under, processor)?;
        self.may_be_taken(processor, event)
    }
}
