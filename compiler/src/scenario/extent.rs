//! How long a thread's phases take at least, and how many of them are done at one instant.

use std::ops::Range;

use crate::vocabulary::Value;

use super::phases::takes_no_time;
use super::{Amount, Phase};

/// The extent of consecutive phases. What repeats for ever is counted once.
#[derive(Clone, Copy, Default)]
pub(super) struct Extent {
    /// In nanoseconds, at least.
    pub time: u128,
    /// The number of phases, if none of them takes time.
    steps: Option<u128>,
    /// So many are done at one instant.
    pub at_once: u128,
}

impl Extent {
    pub(super) fn of(phases: &[Phase]) -> Self {
        Self::of_range(phases, 0..phases.len())
    }

    fn of_range(phases: &[Phase], range: Range<usize>) -> Self {
        let mut sum = Extent { time: 0, steps: Some(0), at_once: 0 };
        let mut index = range.start;
        while index < range.end {
            let phase = &phases[index];
            let one = if let Phase::Repeat { times, end } = phase {
                // The last phase of the round jumps back.
                let round = Self::of_range(phases, index + 1..end.saturating_sub(1));
                index = *end;
                round.repeated(u128::from(*times))
            } else {
                index += 1;
                Self::of_one(phase)
            };
            sum.time = sum.time.saturating_add(one.time);
            sum.steps = sum.steps.zip(one.steps).map(|(sum, more)| sum.saturating_add(more));
            sum.at_once = sum.at_once.max(one.at_once);
        }
        sum.at_once = sum.at_once.max(sum.steps.unwrap_or(0));
        sum
    }

    fn of_one(phase: &Phase) -> Self {
        let time = if let Phase::Run(amount) | Phase::Block(_, amount) = phase { least(amount) } else { 0 };
        Extent { time, steps: takes_no_time(phase).then_some(1), at_once: 0 }
    }

    fn repeated(self, times: u128) -> Self {
        let steps = self.steps.map(|steps| steps.saturating_mul(times));
        let at_once = self.at_once.max(steps.unwrap_or(0));
        Extent { time: self.time.saturating_mul(times), steps, at_once }
    }
}

/// The least, in nanoseconds.
fn least(amount: &Amount) -> u128 {
    let least = match amount {
        Amount::Fixed(Value::Time(time)) | Amount::Uniform(Value::Time(time), _) => *time,
        Amount::Pareto { least: Value::Time(time), .. } => *time,
        Amount::Listed(_, numbers) => numbers.iter().copied().min().unwrap_or(0),
        Amount::Fixed(_) | Amount::Uniform(..) | Amount::Exponential(_) | Amount::Pareto { .. } => 0,
    };
    u128::try_from(least).unwrap_or(0)
}
