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
    const ALL: [Order; 6] =
        [Order::Computed, Order::Timers, Order::Ticks, Order::Outside, Order::Waits, Order::Arrivals];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Happening {
    /// A thread of this kind comes.
    Arrival(usize),
    /// A thread's wait is over, in the life of this number.
    Wake(u32, u64),
    /// A processor's thread has computed enough, in the turn of this number.
    Computed(usize, u64),
    Tick(usize, u64),
    Moment(usize),
    /// The host looks whose waits are over.
    Poll,
}

impl Planned for Happening {
    type Order = Order;

    fn order(&self) -> Order {
        match self {
            Happening::Computed(..) => Order::Computed,
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
            Happening::Computed(processor, turn) | Happening::Tick(processor, turn) => {
                processors.get(processor).is_some_and(|cpu| cpu.turn == turn)
            }
            Happening::Arrival(_) | Happening::Wake(..) | Happening::Moment(_) | Happening::Poll => true,
        }
    }
}

impl<D: Dispatch> World<'_, D> {
    /// All that happens now, and the decisions that follow.
    pub(super) fn instant(&mut self) -> Done {
        let nobody_ran = (0..self.processors.len()).all(|processor| self.dispatcher.turn(processor).is_none());
        Order::ALL.into_iter().try_for_each(|order| self.step(order))?;
        if nobody_ran {
            self.dispatcher.asks_all_again()?;
        }
        self.settle()
    }

    /// At the end, nothing new comes. What is computed by then counts.
    pub(super) fn last_instant(&mut self) -> Done {
        self.computed()
    }

    fn step(&mut self, order: Order) -> Done {
        match order {
            Order::Computed => self.computed()?,
            Order::Timers => self.timers()?,
            Order::Ticks | Order::Outside | Order::Waits | Order::Arrivals => {
                while let Some(happening) = self.take(order) {
                    self.happens(happening)?;
                }
            }
        }
        self.effects_happen()
    }

    fn take(&mut self, order: Order) -> Option<Happening> {
        self.planned.take(self.now, order, |planned| planned.can_happen(&self.processors))
    }

    /// All threads have computed before one goes on, because what that one does can take the processor from another.
    fn computed(&mut self) -> Done {
        let mut go_on = std::mem::take(&mut self.go_on);
        while let Some(happening) = self.take(Order::Computed) {
            let Happening::Computed(processor, _) = happening else { continue };
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

    fn happens(&mut self, happening: Happening) -> Done {
        match happening {
            Happening::Arrival(kind) => self.arrives(kind),
            Happening::Wake(number, life) => {
                let thread = ThreadId(number);
                if !self.waits_in(thread, life) {
                    return Ok(());
                }
                if self.is_polled(thread) {
                    self.is_over(number, life);
                } else {
                    self.causes(Effect::Wakes(vec![thread]));
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
            // `computed` handles it.
            Happening::Computed(..) => Ok(()),
        }
    }

    fn waits_in(&self, thread: ThreadId, life: u64) -> bool {
        self.live(thread).is_some_and(|live| live.life == life && live.waits)
    }

    /// Whether the host, whose processors are all busy, must poll before it hears that the thread's wait is over. A
    /// processor for which a thread waits gets a thread at this instant.
    fn is_polled(&self, thread: ThreadId) -> bool {
        let idle =
            |processor| self.dispatcher.current(processor).is_none() && !self.dispatcher.someone_waits(processor);
        self.live(thread).is_some_and(|live| live.polled) && !(0..self.processors.len()).any(idle)
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
