//! Policies with nodes: each processor is a node with its own instance.

use catapults_compiler::interp::ThreadId;
use catapults_compiler::scenario::Nodes;

use super::super::policy::Runner;
use super::super::record::Kind;
use super::books::{Book, State};
use super::{Dispatcher, Done};

impl<R: Runner> Dispatcher<'_, R> {
    /// Says of which families the nodes are that will come, in order.
    pub fn expect_nodes(&mut self, nodes: &[Nodes]) {
        self.schedulers[0].runner.expect_nodes(nodes);
    }

    pub(super) fn arrives(&mut self, processor: usize) -> Done {
        let arrival = self.events.arrival.ok_or_else(|| self.misuse("there is no event `arrival`"))?;
        self.schedulers[0].runner.add_node(processor).map_err(|stop| self.out(arrival, stop))?;
        self.tell_loads();
        self.schedulers[0].runner.raise_of_node(arrival, processor).map_err(|stop| self.out(arrival, stop))
    }

    /// Tells the policy how many threads run or could run on each processor, before it decides by that.
    fn tell_loads(&mut self) {
        for processor in 0..self.processors.len() {
            let load = self.load(processor);
            self.schedulers[0].runner.set_load(processor, load);
        }
    }

    pub(super) fn load(&self, processor: usize) -> i64 {
        let on = &self.processors[processor];
        let runs = on.turn.is_some() || !on.way.is_empty();
        i64::try_from(on.ready + usize::from(runs)).unwrap_or(i64::MAX)
    }

    /// The last processor leaves.
    pub(super) fn departs(&mut self) -> Done {
        let last = self.processors.len() - 1;
        if let Some(turn) = self.processors[last].turn {
            let (under, switch_out) = (self.under(turn), self.events.switch_out);
            if self.schedulers[under].runner.handles(switch_out) {
                self.raise(under, last, switch_out, &[turn])?;
            }
            self.note_moved(last, turn, Kind::SwitchedOut, switch_out);
            self.vacate(last, true)?;
        }
        if !self.has_nodes {
            self.schedulers.iter_mut().for_each(|scheduler| scheduler.runner.enter(0));
            self.processors.pop();
            return (1..self.schedulers.len()).try_for_each(|scheduler| self.adjust(scheduler, 0));
        }
        let departure = self.events.departure.ok_or_else(|| self.misuse("there is no event `departure`"))?;
        self.tell_loads();
        self.schedulers[0].runner.raise_of_node(departure, last).map_err(|stop| self.out(departure, stop))?;
        self.schedulers[0].ready -= self.processors[last].ready;
        self.schedulers.iter_mut().skip(1).for_each(|scheduler| scheduler.runner.enter(0));
        self.processors.pop();
        let there = |(_, book): &(usize, &Book)| {
            book.under == 0 && book.home == last && book.state != State::None && !book.homeless
        };
        let numbers: Vec<usize> = self.books.iter().enumerate().filter(there).map(|(index, _)| index).collect();
        for index in numbers {
            let thread = ThreadId(u32::try_from(index + 1).unwrap_or(0));
            let state = self.books[index].state;
            self.schedulers[0].runner.take(thread);
            match state {
                State::Runnable if self.books[index].scheduler.is_some() => {
                    // The proxy is suspended until it is needed.
                    (self.books[index].state, self.books[index].homeless) = (State::Suspended, true);
                }
                State::Runnable | State::Lending => self.comes_back(thread, state, Kind::Resumed)?,
                State::Blocked | State::Suspended => self.books[index].homeless = true,
                State::None => {}
            }
        }
        (1..self.schedulers.len()).try_for_each(|scheduler| self.adjust(scheduler, 0))
    }

    /// Places a thread or proxy anew whose processor has gone.
    pub(super) fn comes_back(&mut self, thread: ThreadId, state: State, kind: Kind) -> Done {
        let on = self.place(thread, None)?;
        let book = self.book(thread);
        (book.home, book.state, book.set_aside) = (on, state, false);
        self.chains_changed = true;
        let event = self.events.migrate.unwrap_or(self.events.newthread);
        self.raise(self.under(thread), on, event, &[thread])?;
        self.gained_ready(thread);
        if self.book(thread).scheduler.is_none() {
            self.note_moved(on, thread, kind, event);
        }
        self.preempted(on, event)
    }

    /// The processor on which a thread or proxy is placed.
    pub(super) fn place(&mut self, thread: ThreadId, creator: Option<usize>) -> Done<usize> {
        if let Some(dispatch) = self.events.dispatch.filter(|event| self.schedulers[0].runner.handles(*event)) {
            self.tell_loads();
            self.schedulers[0].runner.raise(dispatch, &[thread]).map_err(|stop| self.out(dispatch, stop))?;
            if let Some((_, processor)) =
                self.schedulers[0].runner.take_sent().into_iter().find(|(sent, _)| *sent == thread)
            {
                return Ok(processor);
            }
        }
        let least = (0..self.processors.len()).min_by_key(|processor| self.load(*processor));
        Ok(creator.or(least).unwrap_or(0))
    }

    /// Steals for an idle processor, first from the one with the greatest load.
    pub(super) fn steal(&mut self, processor: usize) -> Done {
        let Some(steal) = self.events.steal.filter(|event| self.schedulers[0].runner.handles(*event)) else {
            return Ok(());
        };
        let mut others: Vec<usize> =
            (0..self.processors.len()).filter(|other| self.processors[*other].ready > 0).collect();
        others.sort_by_key(|other| std::cmp::Reverse(self.load(*other)));
        self.tell_loads();
        for other in others {
            self.schedulers[0].runner.enter(other);
            self.charge();
            self.schedulers[0].runner.raise_steal(steal, processor).map_err(|stop| self.out(steal, stop))?;
            let sent = self.schedulers[0].runner.take_sent();
            for (thread, to) in &sent {
                self.lost_ready(*thread);
                self.book(*thread).home = *to;
                let event = self.events.migrate.unwrap_or(self.events.newthread);
                self.raise(0, *to, event, &[*thread])?;
                self.gained_ready(*thread);
            }
            if !sent.is_empty() {
                return Ok(());
            }
        }
        Ok(())
    }
}
