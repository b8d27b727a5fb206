//! What happens at one instant, in the order of [`Order`]. The dispatcher decides once, after all of it.

use super::super::dispatch::Dispatch;
use super::effects::Effect;
use super::{Cpu, Done, MOST_PASSES, ThreadId, World};
use crate::sim::plans::Planned;

/// Kinds of happenings at one instant, in this order: what is done, what is different from then on, what comes.
/// Happenings of one kind keep the order in which they were planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// Threads have computed enough. Each does what takes no time, and then all that they cause happens.
    Computed,
    /// Timers of policies expire.
    Timers,
    /// Quanta: a thread has run for a tick while others wait.
    Ticks,
    /// The scenario's actions from outside.
    Outside,
    /// The waits of threads are over.
    Waits,
    /// Threads come.
    Arrivals,
}

impl Order {
    /// All after the first.
    const LATER: [Order; 5] = [Order::Timers, Order::Ticks, Order::Outside, Order::Waits, Order::Arrivals];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Happening {
    /// A thread of this kind comes.
    Arrival(usize),
    /// A thread's wait is over, in the life of this number.
    Wake(u32, u64),
    /// A processor's thread has run for a tick, in the turn of this number.
    Tick(usize, u64),
    Moment(usize),
    /// The host looks whose waits are over.
    Poll,
}

impl Planned for Happening {
    type Order = Order;

    fn order(&self) -> Order {
        match self {
            Happening::Tick(..) => Order::Ticks,
            Happening::Moment(_) => Order::Outside,
            Happening::Wake(..) | Happening::Poll => Order::Waits,
            Happening::Arrival(_) => Order::Arrivals,
        }
    }
}

impl Happening {
    /// Whether the turn that it belongs to still goes on.
    pub(super) fn can_happen(&self, processors: &[Cpu]) -> bool {
        match *self {
            Happening::Tick(processor, turn) => goes_on(processors, processor, turn),
            Happening::Arrival(_) | Happening::Wake(..) | Happening::Moment(_) | Happening::Poll => true,
        }
    }
}

/// A processor's thread has computed enough, or the switch to it is over, in the turn of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Computed {
    pub(super) processor: usize,
    pub(super) turn: u64,
}

impl Planned for Computed {
    type Order = ();

    fn order(&self) {}
}

impl Computed {
    /// Whether that turn still goes on.
    pub(super) fn can_happen(&self, processors: &[Cpu]) -> bool {
        goes_on(processors, self.processor, self.turn)
    }
}

fn goes_on(processors: &[Cpu], processor: usize, turn: u64) -> bool {
    processors.get(processor).is_some_and(|cpu| cpu.turn == turn)
}

impl<D: Dispatch> World<'_, D> {
    /// When something happens next, if anything does. A host that interrupts no thread hears of nothing else while all
    /// processors compute.
    pub(super) fn next_instant(&mut self) -> Option<i64> {
        let computed = self.computing.first(|computed| computed.can_happen(&self.processors));
        if self.hears_nothing() {
            return computed;
        }
        let planned = self.planned.first(|planned| planned.can_happen(&self.processors));
        // A timer may be the only one: of a thread that waits for ever.
        [computed, planned, self.expires()].into_iter().flatten().min()
    }

    pub(super) fn computes_until(&mut self, instant: i64, computed: Computed) {
        let processors = &self.processors;
        self.computing.add(instant, computed, |computed| computed.can_happen(processors));
    }

    /// Who has lost the processor by what it has done itself leaves it now.
    fn hears_nothing(&self) -> bool {
        let goes_on = |processor: usize| {
            let running = self.processors[processor].running;
            running.is_some() && running == self.dispatcher.current(processor) && !self.dispatcher.has_lost(processor)
        };
        self.hears.is_cooperative() && (0..self.processors.len()).all(goes_on)
    }

    /// All that happens now, and the decisions that follow.
    pub(super) fn instant(&mut self) -> Done {
        let nobody_ran = (0..self.processors.len()).all(|processor| self.dispatcher.turn(processor).is_none());
        self.step(Order::Computed, self.now)?;
        if self.hears_nothing() {
            return self.settle();
        }
        self.past()?;
        Order::LATER.into_iter().try_for_each(|order| self.step(order, self.now))?;
        if nobody_ran {
            self.dispatcher.asks_all_again()?;
        }
        self.settle()
    }

    /// At the end, nothing new comes. What is computed by then counts, and what has come while a thread computed.
    pub(super) fn last_instant(&mut self) -> Done {
        self.computed()?;
        self.past()
    }

    /// What was not heard of while a thread computed, as it happened.
    fn past(&mut self) -> Done {
        while let Some(past) = self.planned.first(|planned| planned.can_happen(&self.processors))
            && past < self.now
        {
            Order::LATER.into_iter().try_for_each(|order| self.step(order, past))?;
        }
        Ok(())
    }

    /// What happens of this kind, of what was planned until `instant`.
    fn step(&mut self, order: Order, instant: i64) -> Done {
        match order {
            Order::Computed => self.computed()?,
            Order::Timers => self.timers()?,
            Order::Ticks | Order::Outside | Order::Waits | Order::Arrivals => {
                while let Some(happening) =
                    self.planned.take(instant, order, |planned| planned.can_happen(&self.processors))
                {
                    self.happens(happening, instant)?;
                }
            }
        }
        self.effects_happen()
    }

    /// All threads have computed before one goes on, because what that one does can take the processor from another.
    fn computed(&mut self) -> Done {
        let mut go_on = std::mem::take(&mut self.go_on);
        while let Some(Computed { processor, .. }) =
            self.computing.take(self.now, (), |computed| computed.can_happen(&self.processors))
        {
            let Some(thread) = self.processors[processor].running else { continue };
            if !std::mem::take(&mut self.processors[processor].switching) {
                let since = std::mem::replace(&mut self.processors[processor].since, self.now);
                self.measures.ran(self.kind_of(thread), since, self.now);
                self.has_computed(thread);
            }
            go_on.push(processor);
        }
        go_on.iter().try_for_each(|processor| self.run_instantaneous(*processor))?;
        go_on.clear();
        self.go_on = go_on;
        Ok(())
    }

    fn timers(&mut self) -> Done {
        if self.expires().is_some_and(|expires| expires <= self.now) {
            let left = self.dispatcher.expire()?;
            self.passes += 1;
            self.armed_anew = left || self.passes >= MOST_PASSES;
        }
        Ok(())
    }

    /// When the policies' next timer expires. A timer that is armed again and again for the instant at which it expires
    /// waits for a tick, as on a host that looks for timers at its ticks.
    pub(super) fn expires(&mut self) -> Option<i64> {
        let earliest = if self.armed_anew { self.now + self.scenario.tick } else { self.now };
        self.dispatcher.next_timeout().map(|instant| instant.max(earliest))
    }

    /// `instant`: when it was planned for.
    fn happens(&mut self, happening: Happening, instant: i64) -> Done {
        match happening {
            Happening::Arrival(kind) => self.arrives(kind, instant),
            Happening::Wake(number, life) => {
                let thread = ThreadId(number);
                if !self.waits_in(thread, life) {
                    return Ok(());
                }
                if self.is_polled(thread) {
                    self.is_over(number, life);
                } else {
                    self.ends_waits(vec![thread]);
                }
                Ok(())
            }
            Happening::Tick(processor, _) => {
                self.processors[processor].ticking = false;
                if self.dispatcher.someone_waits(processor) { self.dispatcher.ticks(processor) } else { Ok(()) }
            }
            Happening::Moment(index) => self.scenario.moments[index].actions.iter().try_for_each(|one| self.acts(one)),
            Happening::Poll => {
                self.looks();
                Ok(())
            }
        }
    }

    fn waits_in(&self, thread: ThreadId, life: u64) -> bool {
        self.live(thread).is_some_and(|live| live.life == life && live.waits)
    }

    /// Whether the host, whose processors are all busy, must poll before it hears that the thread's wait is over. A
    /// processor for which a thread waits gets a thread at this instant. A cooperative host has just looked.
    fn is_polled(&self, thread: ThreadId) -> bool {
        let idle =
            |processor| self.dispatcher.current(processor).is_none() && !self.dispatcher.someone_waits(processor);
        let polled = !self.hears.is_cooperative() && self.live(thread).is_some_and(|live| live.polled);
        polled && !(0..self.processors.len()).any(idle)
    }

    pub(super) fn is_idle(&self) -> bool {
        (0..self.processors.len()).any(|processor| self.dispatcher.current(processor).is_none())
    }

    fn is_over(&mut self, number: u32, life: u64) {
        if self.unheard.is_empty() {
            let poll = self.scenario.poll;
            let last = self.now - self.now % poll;
            self.plan(if last == self.now { last } else { last.saturating_add(poll) }, Happening::Poll);
        }
        self.unheard.push((number, life));
    }

    pub(super) fn looks(&mut self) {
        let unheard = std::mem::take(&mut self.unheard).into_iter();
        let heard = unheard.filter(|(number, life)| self.waits_in(ThreadId(*number), *life));
        let heard: Vec<ThreadId> = heard.map(|(number, _)| ThreadId(number)).collect();
        self.causes(Effect::Wakes(heard));
    }
}
