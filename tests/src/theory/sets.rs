//! Random sets of periodic tasks, and the scenarios that they are.

use std::fmt;

use fastrand::Rng;

/// What decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Under {
    RateMonotonic,
    DeadlineMonotonic,
    /// By priorities that are drawn.
    FixedPriority,
    EarliestDeadline,
    /// Those on two processors.
    GlobalFixedPriority,
}

impl Under {
    pub(super) const ALL: [Under; 5] = [
        Under::RateMonotonic,
        Under::DeadlineMonotonic,
        Under::FixedPriority,
        Under::EarliestDeadline,
        Under::GlobalFixedPriority,
    ];

    pub(super) fn policy(self) -> &'static str {
        match self {
            Under::RateMonotonic => "rm.sched",
            Under::DeadlineMonotonic => "dm.sched",
            Under::FixedPriority | Under::GlobalFixedPriority => "fixed_priority.sched",
            Under::EarliestDeadline => "edf.sched",
        }
    }
}

/// What a job does, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Run(i64),
    Lock(usize),
    Unlock(usize),
}

/// Its first job is released at `offset`, and one after each `period`.
#[derive(Clone, Debug)]
pub struct Task {
    pub(super) name: String,
    pub(super) offset: i64,
    pub(super) period: i64,
    pub(super) deadline: i64,
    /// Higher is more urgent; no two have the same.
    pub(super) priority: usize,
    pub(super) steps: Vec<Step>,
}

/// Tasks, and for how long they are looked at. All times are in nanoseconds.
#[derive(Clone, Debug)]
pub struct TaskSet {
    /// See there.
    pub under: Under,
    pub(super) tasks: Vec<Task>,
    pub(super) duration: i64,
}

/// How long a set is looked at, in periods of its slowest task.
const PERIODS: i64 = 12;
/// Jobs of all tasks, at most.
const MOST_JOBS: i64 = 400;
const LOCKS: usize = 2;
const MILLISECOND: i64 = 1_000_000;

impl Task {
    pub(super) fn cost(&self) -> i64 {
        self.steps.iter().map(|step| if let Step::Run(cost) = step { *cost } else { 0 }).sum()
    }

    /// The longest time that it has a lock for, with those within.
    pub(super) fn longest_section(&self) -> i64 {
        let (mut held, mut section, mut longest) = (0, 0, 0);
        for step in &self.steps {
            match step {
                Step::Run(cost) if held > 0 => section += cost,
                Step::Run(_) => {}
                Step::Lock(_) => held += 1,
                Step::Unlock(_) => {
                    held -= 1;
                    if held == 0 {
                        longest = longest.max(std::mem::take(&mut section));
                    }
                }
            }
        }
        longest
    }
}

impl TaskSet {
    /// Of two of three kinds the periods are whole milliseconds.
    pub(super) fn random(rng: &mut Rng) -> TaskSet {
        let under = Under::ALL[rng.usize(..Under::ALL.len())];
        let processors = if under == Under::GlobalFixedPriority { 2 } else { 1 };
        let count = rng.usize(2..6);
        let fine = rng.u8(..3) == 0;
        // Of harmonic ones each is a multiple of the one before; of those of a grid all are parts of the last.
        let (harmonic, grid) = (rng.u8(..3) == 0, rng.u8(..3) == 0);
        let unit = if fine { [1, 7, 1_000][rng.usize(..3)] } else { MILLISECOND };
        let least = if fine { rng.i64(3_000..20_000) } else { rng.i64(3..15) };
        let mut periods = vec![least];
        for _ in 1..count {
            let last = periods[periods.len() - 1];
            periods.push(if harmonic { last * rng.i64(1..4) } else { rng.i64(least..5 * least) });
        }
        if grid && !harmonic {
            let parts = [4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 60];
            periods.iter_mut().for_each(|period| *period = parts[rng.usize(..parts.len())]);
            periods[count - 1] = 120;
        }
        let whole = harmonic || grid;
        let full = whole && rng.bool();
        let load = if full { 1.0 } else { [0.5, 0.7, 0.85, 0.95, 1.1][rng.usize(..5)] } * f64::from(processors);
        let mut costs: Vec<i64> = Vec::new();
        let mut left = load;
        for (place, period) in periods.iter().enumerate() {
            let share = if place + 1 == count { left } else { left * rng.f64() * 0.8 };
            let cost = ((share * *period as f64) as i64).clamp(1, *period);
            left = (left - cost as f64 / *period as f64).max(0.0);
            costs.push(cost);
        }
        if full && processors == 1 {
            // The last period is a multiple of all others: what they leave of it is whole.
            let last = periods[count - 1];
            let others: i64 = (0..count - 1).map(|place| costs[place] * (last / periods[place])).sum();
            costs[count - 1] = (last - others).clamp(1, last);
        }
        let offsets = rng.u8(..3) == 0;
        let locks = rng.u8(..3) == 0;
        let constrained = rng.bool();
        let mut priorities: Vec<usize> = (1..=count).collect();
        rng.shuffle(&mut priorities);
        let mut places: Vec<usize> = (0..count).collect();
        rng.shuffle(&mut places);
        let tasks = places.into_iter().enumerate().map(|(number, place)| {
            let (period, cost) = (periods[place], costs[place]);
            let deadline = if constrained { rng.i64(cost.max(period / 2)..=period) } else { period };
            let steps = if locks && cost >= 3 { sections(cost, rng) } else { vec![Step::Run(cost)] };
            Task {
                name: format!("T{number}"),
                offset: if offsets { rng.i64(0..2 * least) * unit } else { 0 },
                period: period * unit,
                deadline: deadline * unit,
                priority: priorities[place],
                steps: steps
                    .into_iter()
                    .map(|step| if let Step::Run(cost) = step { Step::Run(cost * unit) } else { step })
                    .collect(),
            }
        });
        let mut set = TaskSet { under, tasks: tasks.collect(), duration: 0 };
        set.duration = set.reasonable(rng.bool());
        set
    }

    /// Not so long that there are too many jobs. `odd`: not at the end of a period, as otherwise.
    fn reasonable(&self, odd: bool) -> i64 {
        let longest = self.tasks.iter().map(|task| task.period).max().unwrap_or(1);
        let jobs = |duration: i64| self.tasks.iter().map(|task| duration / task.period).sum::<i64>();
        let mut periods = PERIODS;
        while periods > 1 && jobs(periods * longest) > MOST_JOBS {
            periods -= 1;
        }
        periods * longest + if odd { longest / 3 } else { 0 }
    }

    pub(super) fn has_locks(&self) -> bool {
        self.tasks.iter().any(|task| task.steps.len() > 1)
    }

    pub(super) fn is_synchronous(&self) -> bool {
        self.tasks.iter().all(|task| task.offset == 0)
    }

    pub(super) fn processors(&self) -> usize {
        if self.under == Under::GlobalFixedPriority { 2 } else { 1 }
    }

    /// The smaller, the more urgent; of a job that is released then.
    pub(super) fn urgency(&self, place: usize, released: i64) -> i64 {
        let task = &self.tasks[place];
        match self.under {
            Under::RateMonotonic => task.period,
            Under::DeadlineMonotonic => task.deadline,
            Under::EarliestDeadline => released + task.deadline,
            Under::FixedPriority | Under::GlobalFixedPriority => -(task.priority as i64),
        }
    }

    /// Of jobs that were due by the end, how many were not done in time.
    pub(super) fn misses(&self, place: usize, done: &[(i64, i64)]) -> u64 {
        let task = &self.tasks[place];
        let due = (0..)
            .map(|job| task.offset + job * task.period)
            .take_while(|release| release + task.deadline <= self.duration && *release < self.duration);
        let is_late = |(job, release): (usize, i64)| done.get(job).is_none_or(|(_, at)| *at > release + task.deadline);
        due.enumerate().filter(|job| is_late(*job)).count() as u64
    }
}

/// Critical sections, of which one may be within another. Locks are taken in the order of their numbers: there is no deadlock.
fn sections(cost: i64, rng: &mut Rng) -> Vec<Step> {
    let (first, second) = (rng.i64(0..cost - 1), rng.i64(1..=cost));
    let (from, to) = (first.min(second), first.max(second).max(first.min(second) + 1).min(cost));
    let mut steps = Vec::new();
    let run = |steps: &mut Vec<Step>, cost: i64| {
        if cost > 0 {
            steps.push(Step::Run(cost));
        }
    };
    run(&mut steps, from);
    let inside = to - from;
    if inside >= 2 && rng.u8(..3) == 0 {
        let before = rng.i64(0..inside);
        let within = rng.i64(1..=inside - before);
        steps.push(Step::Lock(0));
        run(&mut steps, before);
        steps.push(Step::Lock(1));
        run(&mut steps, within);
        steps.push(Step::Unlock(1));
        run(&mut steps, inside - before - within);
        steps.push(Step::Unlock(0));
    } else {
        let lock = rng.usize(..LOCKS);
        steps.push(Step::Lock(lock));
        run(&mut steps, inside);
        steps.push(Step::Unlock(lock));
    }
    run(&mut steps, cost - to);
    steps
}

/// As a scenario, from the root of the repository.
impl fmt::Display for TaskSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "scenario theory {{")?;
        writeln!(out, "  policy \"policies/{}\";", self.under.policy())?;
        writeln!(out, "  processors {};\n  duration {}ns;", self.processors(), self.duration)?;
        for task in &self.tasks {
            let Task { name, offset, period, deadline, priority, steps } = task;
            write!(out, "  thread {name} at {offset}ns period {period}ns deadline {deadline}ns")?;
            match self.under {
                Under::FixedPriority | Under::GlobalFixedPriority => write!(out, " with {{ priority = {priority}; }}")?,
                // Which it takes for how long after its release a job is due.
                Under::EarliestDeadline => write!(out, " with {{ period = {deadline}ns; }}")?,
                Under::RateMonotonic | Under::DeadlineMonotonic => {}
            }
            write!(out, " {{")?;
            for step in steps {
                match step {
                    Step::Run(cost) => write!(out, " run {cost}ns;")?,
                    Step::Lock(lock) => write!(out, " lock L{lock};")?,
                    Step::Unlock(lock) => write!(out, " unlock L{lock};")?,
                }
            }
            writeln!(out, " }}")?;
        }
        writeln!(out, "}}")
    }
}
