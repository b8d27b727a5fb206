//! Whether a set of tasks keeps its deadlines, judged without running it.
//!
//! ```text
//! a file ──► read ──► TaskSet ──► judge ──► Judgement: each test, what it found and its limit; a row for each task
//!                                  ├── bounds    sums of budget / period: sufficient, quick
//!                                  ├── response  response times under fixed priorities: exact
//!                                  ├── demand    demand by deadlines under EDF: exact
//!                                  └── several   more than one processor: sufficient
//! ```
//!
//! All arithmetic is of whole nanoseconds, in 128 bits. A test that would take too long is not decided, and what is not decided is
//! not admitted.

mod bounds;
mod demand;
mod load;
mod poet;
mod read;
mod response;
mod several;
mod work;

pub use load::Share;
pub use poet::{NotExported, to_poet};
pub use read::{Found, Kind, NotRead, OfScenario, Unit, Wrong, kind_of, of_rtapp, of_scenario, read};

use bounds::{hyperbolic, liu_layland};
use load::Load;
use work::Work;

/// The most tasks of a set.
pub const MOST_TASKS: usize = 4096;

/// The longest time in a set: as in scenarios.
pub const LONGEST: i64 = catapults_compiler::scenario::LONGEST;

/// What is released again and again. All times are in nanoseconds; [`TaskSet::new`] says what holds of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Unique in its set.
    pub name: String,
    /// The least time between two releases.
    pub period: i64,
    /// The most processor time that a job needs.
    pub budget: i64,
    /// From a release until its job is to be done.
    pub deadline: i64,
    /// Higher is more urgent.
    pub priority: Option<i64>,
    /// How much later than its arrival, from which its deadline counts, a job can be released.
    pub jitter: i64,
    /// How long less urgent tasks can keep a job from running.
    pub blocking: i64,
    /// The longest time that a job has a lock for. It can keep more urgent tasks from running.
    pub section: i64,
}

/// Tasks that make sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSet {
    tasks: Vec<Task>,
}

/// Why a set makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Senseless {
    /// The index of the task.
    pub task: usize,
    /// The word for what is wrong of it: `budget`.
    pub field: &'static str,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub help: &'static str,
}

impl TaskSet {
    /// A set for which these hold: budgets and periods are above 0, a job can end by its deadline if it is alone, and names are unique.
    ///
    /// # Errors
    /// What does not hold.
    pub fn new(tasks: Vec<Task>) -> Result<Self, Senseless> {
        if tasks.len() > MOST_TASKS {
            let what = format!("there are more than {MOST_TASKS} tasks");
            let help = "judge the tasks of each processor in a file of its own";
            return Err(Senseless { task: MOST_TASKS, field: "name", what, help });
        }
        let mut names = std::collections::BTreeSet::new();
        for (index, task) in tasks.iter().enumerate() {
            let wrong = |field, what: String, help| Err(Senseless { task: index, field, what, help });
            let name = &task.name;
            let times = [
                ("period", task.period, 1),
                ("budget", task.budget, 1),
                ("deadline", task.deadline, 1),
                ("jitter", task.jitter, 0),
                ("blocking", task.blocking, 0),
                ("section", task.section, 0),
            ];
            for (field, time, least) in times {
                if time < least {
                    let than = if least == 1 { "must be more than 0" } else { "must not be below 0" };
                    return wrong(field, format!("the {field} of `{name}` {than}"), "write a time such as 5ms");
                }
                if time > LONGEST {
                    let what = format!("the {field} of `{name}` is longer than 73 years");
                    return wrong(field, what, "check its unit: 5ms, 300us, 1.5s");
                }
            }
            if task.budget > task.period {
                let what = format!("the budget of `{name}` is longer than its period");
                return wrong("budget", what, "a job must be able to end before the next one begins");
            }
            if task.budget.saturating_add(task.jitter) > task.deadline {
                let (sum, help) = match task.jitter {
                    0 => ("the budget", "no policy can keep that deadline: shorten the job, or give it more time"),
                    _ => ("the sum of budget and jitter", "a job that is released so late cannot be done in time"),
                };
                return wrong("budget", format!("{sum} of `{name}` is longer than its deadline"), help);
            }
            if !names.insert(name.as_str()) {
                let what = format!("there are two tasks of the name `{name}`");
                return wrong("name", what, "give each a name of its own");
            }
        }
        Ok(TaskSet { tasks })
    }

    /// As they were given.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }
}

impl Task {
    /// The time that is left for it, counted from its latest release.
    fn due(&self) -> i64 {
        self.deadline - self.jitter
    }

    /// The span over which its budget is spread at the most.
    fn span(&self) -> i64 {
        self.period.min(self.due())
    }
}

/// Which task is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The shortest period.
    RateMonotonic,
    /// The shortest deadline.
    DeadlineMonotonic,
    /// The highest given priority.
    Priorities,
    /// The job that is due first.
    EarliestDeadline,
    /// The job that can wait least. On one processor it keeps the same sets as the one before.
    LeastLaxity,
}

impl Order {
    /// Less is more urgent. Where this changes from job to job, all are equal.
    fn rank(self, task: &Task) -> i128 {
        match self {
            Order::RateMonotonic => task.period.into(),
            Order::DeadlineMonotonic => task.deadline.into(),
            Order::Priorities => -i128::from(task.priority.unwrap_or(0)),
            Order::EarliestDeadline | Order::LeastLaxity => 0,
        }
    }
}

/// Where tasks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processors {
    /// Each on any of so many; at least 1.
    Any(u32),
    /// Each always on the same of so many.
    Own(u32),
}

/// A test of theory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// C. L. Liu, J. W. Layland, 1973, theorem 5: sufficient.
    LiuLayland,
    /// E. Bini, G. Buttazzo, 2001: sufficient, and admits more.
    Hyperbolic,
    /// M. Joseph, P. Pandya, 1986; N. C. Audsley and others, 1993; J. P. Lehoczky, 1990: exact without blocking.
    Response,
    /// What all need is no more than there is: necessary; under EDF exact if no deadline is before the period's end.
    Utilization,
    /// S. K. Baruah and others, 1990, in the order of F. Zhang and A. Burns, 2009: exact without blocking.
    Demand,
    /// J. Goossens, S. Funk, S. Baruah, 2003: sufficient.
    Global,
    /// The first processor on which a task fits, with the tests of one processor: sufficient.
    FirstFit,
}

impl Test {
    /// Its usual name.
    pub fn word(self) -> &'static str {
        match self {
            Test::LiuLayland => "Liu and Layland's bound",
            Test::Hyperbolic => "hyperbolic bound",
            Test::Response => "response-time analysis",
            Test::Utilization => "utilization",
            Test::Demand => "processor demand",
            Test::Global => "bound of Goossens, Funk and Baruah",
            Test::FirstFit => "first fit",
        }
    }
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Of one processor.
    Share(Share),
    /// In nanoseconds.
    Time(i128),
}

/// A test, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which.
    pub test: Test,
    /// Whether it holds. `None`: it was not decided within the work that is allowed.
    pub holds: Option<bool>,
    /// Whether it is wrong of the set that it fails: it is exact.
    pub exact: bool,
    /// What was found, and what it may be; those that come nearest to failing. `None`: no bound was found.
    pub found: Option<(Figure, Figure)>,
    /// The index of the task of which this is.
    pub task: Option<usize>,
}

/// What is known of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worst {
    /// Its longest response.
    Response(i128),
    /// Its responses have no bound.
    Unbounded,
    /// What all need that is due within a time, and this time: its deadline, or where there is too little.
    Demand(i128, i128),
    /// Its share of a processor.
    Share(Share),
    /// It was not decided.
    Unknown,
}

/// What is known of a task, and whether its deadlines are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The processor on which it always is.
    pub processor: Option<u32>,
    /// See there.
    pub worst: Worst,
    /// `None`: it is not known.
    pub kept: Option<bool>,
}

/// What is known of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether all deadlines are kept, as far as is known. The last test has decided it.
    pub admitted: bool,
    /// In the order in which they were made; never empty.
    pub steps: Vec<Step>,
    /// One for each task.
    pub rows: Vec<Row>,
}

/// Why a set cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoTest {
    /// What is missing.
    pub what: String,
    /// What to do about it.
    pub help: &'static str,
    /// The index of the task at which it is.
    pub task: Option<usize>,
}

/// Judges a set.
///
/// # Errors
/// There is no test for this.
pub fn judge(set: &TaskSet, order: Order, processors: Processors) -> Result<Judgement, NoTest> {
    let tasks: Vec<&Task> = set.tasks.iter().collect();
    if order == Order::Priorities
        && let Some(without) = tasks.iter().position(|task| task.priority.is_none())
    {
        let what = format!("`{}` has no priority", tasks[without].name);
        return Err(NoTest { what, help: "give each task one, or choose an order with --policy", task: Some(without) });
    }
    let mut work = Work::new();
    match processors {
        Processors::Any(1) | Processors::Own(1) => Ok(on_one(&tasks, order, &mut work)),
        Processors::Any(count) => several::any(&tasks, order, count),
        Processors::Own(count) => several::own(&tasks, order, count, &mut work),
    }
}

/// Judges tasks on one processor.
fn on_one(tasks: &[&Task], order: Order, work: &mut Work) -> Judgement {
    match order {
        Order::RateMonotonic | Order::DeadlineMonotonic | Order::Priorities => by_priorities(tasks, order, work),
        Order::EarliestDeadline | Order::LeastLaxity => by_deadlines(tasks, work),
    }
}

fn by_priorities(tasks: &[&Task], order: Order, work: &mut Work) -> Judgement {
    let mut steps = Vec::new();
    let mut suffices = false;
    if bounds::apply(tasks, order) {
        for step in [liu_layland(tasks), hyperbolic(tasks)] {
            suffices |= step.holds == Some(true);
            steps.push(step);
        }
    }
    let responses = response::all(tasks, order, work);
    let mut rows = Vec::new();
    // The one that comes nearest to its deadline, or is beyond it.
    let mut nearest: Option<(i128, usize)> = None;
    let (mut late, mut unknown, mut unbounded) = (false, None, None);
    for (index, (task, worst)) in tasks.iter().zip(&responses).enumerate() {
        let deadline = i128::from(task.deadline);
        let kept = match worst {
            response::Found::Exactly(response) => {
                let slack = deadline - response;
                if nearest.is_none_or(|(least, _)| slack < least) {
                    nearest = Some((slack, index));
                }
                Some(slack >= 0)
            }
            response::Found::Unbounded => Some(false),
            // A bound that holds decides for all of them.
            response::Found::Unknown => suffices.then_some(true),
        };
        late |= kept == Some(false);
        match worst {
            response::Found::Unbounded => unbounded = unbounded.or(Some(index)),
            response::Found::Unknown => unknown = unknown.or(Some(index)),
            response::Found::Exactly(_) => {}
        }
        rows.push(Row { processor: None, worst: worst.shown(), kept });
    }
    let time = |(slack, index): (i128, usize)| {
        let deadline = i128::from(tasks[index].deadline);
        (Figure::Time(deadline - slack), Figure::Time(deadline))
    };
    let (task, found) = match (nearest, unbounded, unknown) {
        (Some((slack, index)), _, _) if slack < 0 => (Some(index), Some(time((slack, index)))),
        (_, Some(index), _) => (Some(index), None),
        (_, None, Some(index)) => (Some(index), None),
        (Some(nearest), None, None) => (Some(nearest.1), Some(time(nearest))),
        (None, None, None) => (None, None),
    };
    let holds = if late { Some(false) } else { unknown.is_none().then_some(true) };
    let exact = tasks.iter().all(|task| task.blocking == 0 && task.section == 0);
    steps.push(Step { test: Test::Response, holds, exact, found, task });
    Judgement { admitted: holds.unwrap_or(suffices), steps, rows }
}

fn by_deadlines(tasks: &[&Task], work: &mut Work) -> Judgement {
    let load: Load = tasks.iter().map(|task| (1, task.budget, task.period)).collect();
    let fits = load.at_most(1);
    let found = Some((Figure::Share(load.share()), Figure::Share(Share::whole(1))));
    let mut steps = vec![Step { test: Test::Utilization, holds: Some(fits), exact: true, found, task: None }];
    let plain = |task: &Task| task.due() >= task.period && task.blocking == 0 && task.section == 0;
    let mut rows: Vec<Row> = tasks
        .iter()
        .map(|task| {
            let within = i128::from(task.deadline);
            let demand = demand::until(tasks, within);
            let kept = Some(fits);
            Row { processor: None, worst: Worst::Demand(demand, within), kept }
        })
        .collect();
    if !fits || tasks.iter().all(|task| plain(task)) {
        return Judgement { admitted: fits, steps, rows };
    }
    let exact = tasks.iter().all(|task| task.blocking == 0 && task.section == 0);
    let (holds, found) = match demand::check(tasks, work) {
        demand::Found::Holds(nearest) => (Some(true), nearest),
        demand::Found::Unknown => (None, None),
        demand::Found::Exceeds { demand, within } => {
            for (row, task) in rows.iter_mut().zip(tasks) {
                if task.is_due_at(within) {
                    *row = Row { processor: None, worst: Worst::Demand(demand, within), kept: Some(false) };
                } else if matches!(row.worst, Worst::Demand(demand, within) if demand > within) {
                    row.kept = Some(false);
                } else {
                    row.kept = None;
                }
            }
            (Some(false), Some((demand, within)))
        }
    };
    if holds.is_none() {
        rows.iter_mut().for_each(|row| row.kept = None);
    }
    let found = found.map(|(demand, within)| (Figure::Time(demand), Figure::Time(within)));
    steps.push(Step { test: Test::Demand, holds, exact, found, task: None });
    Judgement { admitted: holds == Some(true), steps, rows }
}

impl Task {
    /// Whether a job that was released as late as possible at first is due then, if all come as soon as they can.
    fn is_due_at(&self, instant: i128) -> bool {
        let (due, period) = (i128::from(self.due()), i128::from(self.period));
        instant >= due && (instant - due) % period == 0
    }
}

#[cfg(test)]
mod tests;
