//! The schedule of a set, by force: what every task does is followed from one instant to the next at which anything changes.
//!
//! Whoever waits for a lock lends its turns to the owner. So each task that has a job has a turn, be it the owner of a lock, one that waits,
//! or neither; the most urgent turns are taken, and on each the task at the end of its chain runs.

use super::Job;
use super::sets::{Step, Task, TaskSet};

struct State<'a> {
    task: &'a Task,
    /// Which job is next, or at work.
    job: i64,
    phase: Phase,
    /// The step of the job, and how much of it is left.
    step: usize,
    left: i64,
    waits_for: Option<usize>,
    /// Another has come to the lock between its being handed over to this task and the task's next turn, and has it.
    passed_over: bool,
    /// The job is done, on the turn of another task: it says so as soon as it has its own.
    has_ended: bool,
    /// Urgency of the job; the order of those that are as urgent.
    urgency: i64,
    came: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The job is not released.
    Rests,
    Ready,
}

struct Lock {
    owner: Option<usize>,
    waiting: Vec<usize>,
}

/// When the jobs of each task are released and done, in the order of tasks; those that are done by the end. `None`: it is not
/// said. On two processors, two tasks come to locks at one instant, or one comes to a lock whose heir has not run since it was handed
/// over.
pub(super) fn of(set: &TaskSet) -> Option<Vec<Vec<Job>>> {
    let mut schedule = Schedule::new(set);
    schedule.run();
    (!schedule.is_open).then_some(schedule.done)
}

struct Schedule<'a> {
    set: &'a TaskSet,
    now: i64,
    states: Vec<State<'a>>,
    locks: Vec<Lock>,
    /// Tasks that rest, in the order in which they began to.
    resting: Vec<usize>,
    /// Whose turns are taken, and who runs on them.
    turns: Vec<(usize, usize)>,
    /// So many became ready.
    came: u64,
    done: Vec<Vec<Job>>,
    is_open: bool,
}

impl<'a> Schedule<'a> {
    fn new(set: &'a TaskSet) -> Self {
        let state = |task: &'a Task| State {
            task,
            job: 0,
            phase: Phase::Rests,
            step: 0,
            left: 0,
            waits_for: None,
            passed_over: false,
            has_ended: false,
            urgency: 0,
            came: 0,
        };
        Schedule {
            set,
            now: 0,
            states: set.tasks.iter().map(state).collect(),
            locks: (0..2).map(|_| Lock { owner: None, waiting: Vec::new() }).collect(),
            resting: Vec::new(),
            turns: Vec::new(),
            came: 0,
            done: vec![Vec::new(); set.tasks.len()],
            is_open: false,
        }
    }

    fn release(&self, place: usize) -> i64 {
        let State { task, job, .. } = &self.states[place];
        task.offset + job * task.period
    }

    fn run(&mut self) {
        loop {
            self.comes();
            self.decides();
            let releases = (0..self.states.len()).filter(|place| self.states[*place].phase == Phase::Rests);
            let next = releases.map(|place| self.release(place));
            let ends = self.turns.iter().map(|(_, runs)| self.now + self.states[*runs].left);
            let Some(next) = next.chain(ends).min().filter(|next| *next <= self.set.duration) else { return };
            for (_, runs) in &self.turns {
                self.states[*runs].left -= next - self.now;
            }
            self.now = next;
            let mut ended: Vec<usize> = self.turns.iter().map(|(_, runs)| *runs).collect();
            ended.retain(|runs| self.states[*runs].left == 0);
            ended.iter().for_each(|runs| self.states[*runs].step += 1);
            self.all_go_on(ended);
            self.heirs_go_on();
            if self.now == self.set.duration {
                return;
            }
        }
    }

    /// Jobs are released: of tasks that had one before in the order in which that was done, then first ones.
    fn comes(&mut self) {
        let due = |schedule: &Self, place: usize| {
            schedule.states[place].phase == Phase::Rests && schedule.release(place) == schedule.now
        };
        let mut released: Vec<usize> = self.resting.iter().copied().filter(|place| due(self, *place)).collect();
        released.extend((0..self.states.len()).filter(|place| self.states[*place].job == 0 && due(self, *place)));
        self.resting.retain(|place| !released.contains(place));
        for place in released {
            self.is_ready(place);
            self.states[place].phase = Phase::Ready;
            // Whose turn is taken from it waits behind those that are as urgent.
            if self.set.processors() == 1
                && let Some((turn, _)) = self.turns.first().copied()
                && self.states[place].urgency < self.states[turn].urgency
            {
                self.turns.clear();
                self.came += 1;
                self.states[turn].came = self.came;
            }
        }
    }

    fn is_ready(&mut self, place: usize) {
        self.came += 1;
        let urgency = self.set.urgency(place, self.release(place));
        let state = &mut self.states[place];
        (state.came, state.urgency, state.step, state.left) = (self.came, urgency, 0, 0);
    }

    /// Who is most urgent runs, and does what takes no time, until all that run compute.
    fn decides(&mut self) {
        loop {
            let was: Vec<usize> = self.turns.iter().map(|(turn, _)| *turn).collect();
            let mut turns: Vec<usize> =
                (0..self.states.len()).filter(|one| self.states[*one].phase == Phase::Ready).collect();
            let alone = self.set.processors() == 1;
            // Nobody as urgent takes a turn from who has it.
            turns.sort_by_key(|one| (self.states[*one].urgency, !(alone && was.contains(one)), self.states[*one].came));
            self.turns.clear();
            for turn in turns {
                let runs = self.end_of(turn);
                if self.turns.len() < self.set.processors() && self.turns.iter().all(|(_, other)| *other != runs) {
                    self.turns.push((turn, runs));
                }
            }
            // Whoever has lost its turn waits behind those that are as urgent.
            for turn in was {
                let state = &mut self.states[turn];
                if state.phase == Phase::Ready && !self.turns.iter().any(|(other, _)| *other == turn) {
                    self.came += 1;
                    state.came = self.came;
                }
            }
            let idle: Vec<usize> =
                self.turns.iter().map(|(_, runs)| *runs).filter(|runs| self.states[*runs].left == 0).collect();
            if idle.is_empty() {
                return;
            }
            self.all_go_on(idle);
        }
    }

    fn all_go_on(&mut self, tasks: Vec<usize>) {
        let comes_to_lock = |task: &&usize| {
            let state = &self.states[**task];
            let next = state.task.steps.get(state.step).or(state.task.steps.first());
            matches!(next, Some(Step::Lock(_) | Step::Unlock(_)))
        };
        self.is_open |= tasks.iter().filter(comes_to_lock).count() > 1;
        tasks.into_iter().for_each(|task| self.run_instantaneous(task));
    }

    /// Who was handed a lock over on its own turn has taken it before anything else comes; what it does then it does when it is decided on.
    fn heirs_go_on(&mut self) {
        let heirs: Vec<usize> = self
            .turns
            .iter()
            .filter(|(turn, runs)| turn != runs && self.end_of(*turn) == *turn)
            .map(|(turn, _)| *turn)
            .collect();
        for heir in heirs {
            let state = &mut self.states[heir];
            (state.step, state.passed_over) = (state.step + 1, false);
        }
    }

    fn end_of(&self, turn: usize) -> usize {
        let owner = |task: &usize| self.locks[self.states[*task].waits_for?].owner;
        std::iter::successors(Some(turn), owner).last().unwrap_or(turn)
    }

    /// A task does what takes no time, from its next step on.
    fn run_instantaneous(&mut self, place: usize) {
        let mut hands_over = false;
        if self.states[place].has_ended && !self.next_job(place) {
            return;
        }
        loop {
            let state = &mut self.states[place];
            match state.task.steps.get(state.step) {
                Some(Step::Run(cost)) => {
                    state.left = *cost;
                    return;
                }
                // The heir is asked first.
                Some(Step::Lock(_)) if hands_over => return,
                Some(Step::Lock(lock)) => {
                    let at = &mut self.locks[*lock];
                    match at.owner {
                        Some(owner) if owner != place => {
                            // An heir that has not run since is passed over, once.
                            let heir = &mut self.states[owner];
                            let has_not_run = heir.task.steps.get(heir.step) == Some(&Step::Lock(*lock));
                            self.is_open |= has_not_run && self.set.processors() > 1;
                            if has_not_run && !heir.passed_over {
                                (heir.passed_over, heir.waits_for) = (true, Some(*lock));
                                at.waiting.insert(0, owner);
                                at.owner = Some(place);
                            } else {
                                at.waiting.push(place);
                                self.states[place].waits_for = Some(*lock);
                                return;
                            }
                        }
                        // Its own, if it has been handed over to it.
                        Some(_) | None => {
                            at.owner = Some(place);
                            state.passed_over = false;
                        }
                    }
                }
                Some(Step::Unlock(lock)) => {
                    let at = &mut self.locks[*lock];
                    at.owner = if at.waiting.is_empty() { None } else { Some(at.waiting.remove(0)) };
                    if let Some(heir) = at.owner {
                        hands_over = true;
                        self.states[heir].waits_for = None;
                    }
                }
                None => {
                    let released = self.release(place);
                    self.done[place].push((released, self.now));
                    if hands_over && !self.turns.iter().any(|(turn, _)| *turn == place) {
                        self.states[place].has_ended = true;
                        return;
                    }
                    if !self.next_job(place) {
                        return;
                    }
                    continue;
                }
            }
            self.states[place].step += 1;
        }
    }

    /// Whether the next one begins at once, as it has been released meanwhile, and keeps the turn.
    fn next_job(&mut self, place: usize) -> bool {
        let state = &mut self.states[place];
        state.job += 1;
        (state.step, state.left, state.has_ended) = (0, 0, false);
        if self.release(place) <= self.now && self.now < self.set.duration {
            return self.begins_late(place);
        }
        self.states[place].phase = Phase::Rests;
        self.resting.push(place);
        self.turns.retain(|(turn, _)| *turn != place);
        false
    }

    /// Whether the job of a task, which begins after its release, keeps the turn that the one before had: it may be less urgent than that,
    /// and than others. On the turn of another task it is not said who hears of that first.
    fn begins_late(&mut self, place: usize) -> bool {
        let urgency = self.set.urgency(place, self.release(place));
        if self.states[place].urgency == urgency {
            return true;
        }
        self.states[place].urgency = urgency;
        self.is_open |= !self.turns.iter().any(|(turn, _)| *turn == place);
        let loses = self.states.iter().any(|other| other.phase == Phase::Ready && other.urgency < urgency);
        if loses {
            self.turns.retain(|(turn, _)| *turn != place);
            self.came += 1;
            self.states[place].came = self.came;
        }
        !loses
    }
}
