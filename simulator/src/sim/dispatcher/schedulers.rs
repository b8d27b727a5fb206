//! Schedulers as threads of their parents.

use catapults_compiler::hierarchy::Node;
use catapults_compiler::interp::{Stop, ThreadId};
use catapults_compiler::vocabulary::Value;

use super::super::policy::Runner;
use super::super::record::Kind;
use super::books::State;
use super::{Dispatcher, Done};

/// What is simulated: one scheduler, or a hierarchy.
pub(in super::super) struct Plan<R> {
    /// The root first, each parent before its children.
    pub(in super::super) schedulers: Vec<Scheduler<R>>,
    /// The scheduler of threads for which none is named.
    pub(in super::super) default: usize,
}

/// An instance of a policy.
pub(in super::super) struct Scheduler<R> {
    pub(in super::super) runner: R,
    pub(in super::super) parent: Option<usize>,
    /// How many schedulers were added before it.
    pub(super) before: u64,
    /// The values of its proxies' imports at the parent.
    pub(in super::super) at_parent: Vec<(String, Value)>,
    /// The threads that it is to its parent.
    pub(super) proxies: Vec<ThreadId>,
    /// How many of them are RUNNING.
    pub(super) running: usize,
    /// How many of its own members are READY.
    pub(super) ready: usize,
    /// It dispatched nothing although members are READY.
    pub(super) refused: bool,
    /// It was asked to dispatch a certain member next, and has not decided since.
    pub(super) asked_for: bool,
    /// It ends as soon as the schedulers under it, all removed before, have ended.
    pub(super) removed: bool,
    /// Each proxy ends when it is next dispatched.
    pub(super) leaving: bool,
}

impl<R: Runner> Scheduler<R> {
    /// Seeds its policy's random numbers.
    pub(super) fn seeds(&mut self, seed: u64) {
        self.runner.seed(seed.wrapping_add(self.before));
    }

    /// A scheduler of a hierarchy, with its values there. Values that its policy does not import are left out.
    pub(in super::super) fn of_node(mut runner: R, node: &Node) -> Self {
        let (at_parent, own): (Vec<_>, Vec<_>) = node.parameters.iter().partition(|one| one.at_parent);
        own.iter().for_each(|parameter| runner.set(&parameter.name, parameter.value));
        let at_parent = at_parent.iter().map(|parameter| (parameter.name.clone(), parameter.value));
        Scheduler::new(runner, node.parent, at_parent.collect())
    }

    pub(in super::super) fn new(runner: R, parent: Option<usize>, at_parent: Vec<(String, Value)>) -> Self {
        Scheduler {
            runner,
            parent,
            before: 0,
            at_parent,
            proxies: Vec::new(),
            running: 0,
            ready: 0,
            refused: false,
            asked_for: false,
            removed: false,
            leaving: false,
        }
    }
}

impl<R: Runner> Dispatcher<'_, R> {
    /// Adds a proxy that has nothing to run yet.
    pub(super) fn add_record(&mut self, scheduler: usize) -> Done {
        let Some(parent) = self.schedulers[scheduler].parent else { return Ok(()) };
        let proxy = self.introduce_proxy(scheduler, parent)?;
        self.has_nothing_yet(scheduler, proxy)
    }

    pub(super) fn has_nothing_yet(&mut self, scheduler: usize, proxy: ThreadId) -> Done {
        let Some(parent) = self.schedulers[scheduler].parent else { return Ok(()) };
        self.adjust(parent, 0)?;
        let on = self.home_of(parent, proxy, 0);
        self.suspend_proxy(parent, on, proxy)?;
        self.adjust(parent, 0)
    }

    /// Adds a READY proxy.
    fn introduce_proxy(&mut self, scheduler: usize, parent: usize) -> Done<ThreadId> {
        let introduced = self.try_to_introduce_proxy(scheduler, parent)?;
        introduced.map_err(|stop| self.out(self.events.newthread, stop))
    }

    /// Adds a READY proxy, or returns why the parent refused it.
    pub(super) fn try_to_introduce_proxy(&mut self, scheduler: usize, parent: usize) -> Done<Result<ThreadId, Stop>> {
        let proxy = self.enrol(parent, Some(scheduler))?;
        for (name, value) in self.schedulers[scheduler].at_parent.clone() {
            self.schedulers[parent].runner.set_of(proxy, &name, value);
        }
        let on = if self.is_of_nodes(parent) { self.place(proxy, None)? } else { 0 };
        self.book(proxy).home = on;
        if let Err(stop) = self.raised(parent, on, self.events.newthread, &[proxy]) {
            self.note_moved(on, proxy, Kind::Refused, self.events.newthread);
            self.forget(proxy);
            return Ok(Err(stop));
        }
        self.schedulers[scheduler].proxies.push(proxy);
        self.note_moved(on, proxy, Kind::New, self.events.newthread);
        self.gained_ready(proxy);
        Ok(Ok(proxy))
    }

    /// Makes as many proxies READY as the scheduler could use further processors.
    pub(super) fn adjust(&mut self, scheduler: usize, processor: usize) -> Done {
        let Some(parent) = self.schedulers[scheduler].parent else { return Ok(()) };
        self.schedulers[scheduler].refused = false;
        loop {
            let (ready, wanted) = self.proxies(scheduler);
            if ready == wanted {
                return Ok(());
            }
            if ready > wanted {
                let is_ready = |proxy: &&ThreadId| self.books[proxy.0 as usize - 1].is_ready();
                let one = self.schedulers[scheduler].proxies.iter().find(is_ready).copied();
                let Some(proxy) = one else { return Ok(()) };
                let on = self.home_of(parent, proxy, processor);
                self.suspend_proxy(parent, on, proxy)?;
                self.adjust(parent, processor)?;
                continue;
            }
            let at_rest = self.one_at_rest(scheduler, parent);
            if self.is_of_nodes(parent) && self.is_further_one_better(scheduler, at_rest) {
                let proxy = self.introduce_proxy(scheduler, parent)?;
                let on = self.home_of(parent, proxy, processor);
                if on != processor {
                    self.preempted(on, self.events.newthread)?;
                }
                continue;
            }
            let Some(proxy) = at_rest else { return Ok(()) };
            let book = self.book(proxy);
            let set_aside = std::mem::take(&mut book.set_aside);
            let blocked = std::mem::replace(&mut book.state, State::Runnable) == State::Blocked && !set_aside;
            if std::mem::take(&mut book.homeless) {
                self.comes_back(proxy, State::Runnable, Kind::Resumed)?;
                continue;
            }
            let event = if blocked { Some(self.events.event_raised) } else { self.events.resume };
            let event = event.unwrap_or(self.events.event_raised);
            let on = self.home_of(parent, proxy, processor);
            self.raise(parent, on, event, &[proxy])?;
            self.note_moved(on, proxy, if blocked { Kind::Raised } else { Kind::Resumed }, event);
            self.gained_ready(proxy);
            if on != processor {
                self.preempted(on, event)?;
            }
            self.adjust(parent, processor)?;
        }
    }

    /// Where a proxy's events are raised at its parent. With nodes, in the proxy's instance.
    pub(super) fn home_of(&self, parent: usize, proxy: ThreadId, processor: usize) -> usize {
        if self.is_of_nodes(parent) { self.books[proxy.0 as usize - 1].home } else { processor }
    }

    /// A proxy that is neither READY nor RUNNING. With nodes, preferably one that could run at once.
    fn one_at_rest(&self, scheduler: usize, parent: usize) -> Option<ThreadId> {
        let proxies = self.schedulers[scheduler].proxies.iter().copied();
        let rests = |proxy: &ThreadId| {
            let book = &self.books[proxy.0 as usize - 1];
            !book.is_ready() && book.turn_on.is_none()
        };
        let mut at_rest = proxies.filter(rests);
        let first = at_rest.clone().next();
        let near = self.is_of_nodes(parent).then(|| at_rest.find(|proxy| self.is_near(*proxy))).flatten();
        near.or(first)
    }

    fn is_near(&self, proxy: ThreadId) -> bool {
        let book = &self.books[proxy.0 as usize - 1];
        book.homeless || self.load(book.home) == 0
    }

    /// Whether a new proxy, which the policy would place, may find an idle processor, while `at_rest` would not.
    fn is_further_one_better(&self, scheduler: usize, at_rest: Option<ThreadId>) -> bool {
        let fewer = self.schedulers[scheduler].proxies.len() < self.processors.len();
        let idle = || (0..self.processors.len()).any(|processor| self.load(processor) == 0);
        at_rest.map_or(fewer, |proxy| !self.is_near(proxy) && fewer && idle())
    }

    /// The turn on this processor is over. All schedulers above it give the processor up, the lowest first.
    pub(super) fn give_way_back(&mut self, processor: usize, preempted: bool) -> Done {
        while self.give_last_back(processor, preempted)?.is_some() {}
        Ok(())
    }

    /// The lowest dispatched scheduler ends, or has nothing to run. With one processor, returns the nearest scheduler
    /// above that has another member READY. With several, all schedulers above give the processor up too, and the root
    /// is asked: `None`.
    pub(super) fn give_back(&mut self, processor: usize) -> Done<Option<usize>> {
        while let Some(parent) = self.give_last_back(processor, false)? {
            if self.processors.len() == 1 && self.schedulers[parent].ready > 0 {
                return Ok(Some(parent));
            }
        }
        Ok(None)
    }

    /// The lowest dispatched scheduler gives the processor up. Returns its parent; `None`: no scheduler was dispatched.
    fn give_last_back(&mut self, processor: usize, preempted: bool) -> Done<Option<usize>> {
        let Some(proxy) = self.processors[processor].way.pop() else { return Ok(None) };
        let parent = self.under(proxy);
        let Some(scheduler) = self.book(proxy).scheduler else { return Ok(Some(parent)) };
        self.schedulers[scheduler].running -= 1;
        if self.schedulers[scheduler].leaving {
            self.ends(scheduler, processor, proxy)?;
            return Ok(Some(parent));
        }
        let taken = self.is_taken(proxy);
        // Counts only the other proxies.
        let (ready, wanted) = self.proxies(scheduler);
        self.book(proxy).turn_on = None;
        if self.book(proxy).state == State::Suspended {
            // An event of its own has taken it off the processor.
        } else if ready < wanted {
            if !taken {
                self.raise(parent, processor, self.events.switch_out, &[proxy])?;
            }
            if !taken || preempted {
                self.note_moved(processor, proxy, Kind::SwitchedOut, self.events.switch_out);
            }
            self.gained_ready(proxy);
        } else if taken {
            self.gained_ready(proxy);
            self.suspend_proxy(parent, processor, proxy)?;
        } else {
            let event = self.events.scheduler.unwrap_or(self.events.switch_out);
            self.book(proxy).state = State::Blocked;
            self.raise(parent, processor, event, &[proxy])?;
            self.note_moved(processor, proxy, Kind::Blocked, event);
        }
        self.adjust(scheduler, processor)?;
        Ok(Some(parent))
    }

    /// With one processor: the turn was suspended, and so is each scheduler above that has nothing else to run.
    pub(super) fn suspend_way(&mut self, processor: usize) -> Done {
        let Some(suspend) = self.events.suspend.filter(|_| self.processors.len() == 1) else { return Ok(()) };
        for proxy in self.processors[processor].way.clone().into_iter().rev() {
            let Some(scheduler) = self.book(proxy).scheduler else { continue };
            if self.schedulers[scheduler].ready > 0 {
                break;
            }
            self.raise(self.under(proxy), processor, suspend, &[proxy])?;
            self.note_moved(processor, proxy, Kind::Suspended, suspend);
            self.book(proxy).state = State::Suspended;
        }
        Ok(())
    }

    /// How many proxies are READY, and how many should be.
    fn proxies(&self, scheduler: usize) -> (usize, usize) {
        let of = &self.schedulers[scheduler];
        let ready = of.proxies.iter().filter(|proxy| self.books[proxy.0 as usize - 1].is_ready()).count();
        let wanted = if of.leaving {
            of.proxies.len() - of.running
        } else if of.refused {
            0
        } else {
            of.ready.min(self.processors.len().saturating_sub(of.running))
        };
        (ready, wanted)
    }

    /// Suspends a READY proxy that has nothing to run.
    fn suspend_proxy(&mut self, parent: usize, processor: usize, proxy: ThreadId) -> Done {
        let Some(suspend) = self.events.suspend else { return Ok(()) };
        self.raise(parent, processor, suspend, &[proxy])?;
        self.note_moved(processor, proxy, Kind::Suspended, suspend);
        self.lost_ready(proxy);
        self.book(proxy).state = State::Suspended;
        Ok(())
    }

    /// The RUNNING thread of a processor, then the proxies above it, the lowest first.
    pub(super) fn way_up(&self, processor: usize) -> Vec<ThreadId> {
        let on = &self.processors[processor];
        on.turn.iter().chain(on.way.iter().rev()).copied().collect()
    }
}
