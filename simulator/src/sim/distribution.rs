//! The distribution of many durations, in bounded memory.

use catapults_compiler::scenario::{Exact, Statistic};
use hdrhistogram::Histogram;

/// A distribution of durations.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// All durations, while they are few.
    all: Vec<i64>,
    /// Of many.
    histogram: Option<Box<Histogram<u64>>>,
    worst: i64,
    sum: i128,
}

/// How many durations are kept one by one.
const FEW: usize = 4096;

impl Distribution {
    pub(crate) fn new() -> Self {
        Distribution { all: Vec::new(), histogram: None, worst: 0, sum: 0 }
    }

    pub(crate) fn add(&mut self, nanoseconds: i64) {
        if self.histogram.is_none() && self.all.len() < FEW {
            self.all.push(nanoseconds);
        } else {
            let _ = self.many().map(|histogram| histogram.record(nanoseconds.unsigned_abs()));
        }
        self.worst = self.worst.max(nanoseconds);
        self.sum += i128::from(nanoseconds);
    }

    /// The histogram, with all durations in it.
    fn many(&mut self) -> Option<&mut Histogram<u64>> {
        if self.histogram.is_none() {
            // With three digits; it resizes itself.
            let mut histogram = Histogram::new(3).ok().map(Box::new)?;
            for one in self.all.drain(..) {
                let _ = histogram.record(one.unsigned_abs());
            }
            self.histogram = Some(histogram);
        }
        self.histogram.as_deref_mut()
    }

    /// Adds all durations of another distribution.
    pub(crate) fn append(&mut self, mut other: Distribution) {
        other.all.drain(..).for_each(|one| self.add(one));
        if let Some(histogram) = other.histogram {
            let sum = other.sum;
            for step in histogram.iter_recorded() {
                let _ = self.many().map(|all| all.record_n(step.value_iterated_to(), step.count_at_value()));
            }
            (self.worst, self.sum) = (self.worst.max(other.worst), self.sum + sum);
        }
    }

    /// The longest.
    pub(crate) fn worst(&self) -> i64 {
        self.worst
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.all.len() as u64 + self.histogram.as_ref().map_or(0, |histogram| histogram.len())
    }

    /// A statistic; `None`: there are no durations. Quantiles of more than 4,096 are exact to three digits, and never
    /// too low.
    pub fn statistic(&self, statistic: Statistic) -> Option<i64> {
        if self.count() == 0 {
            return None;
        }
        Some(match statistic {
            Statistic::Worst => self.worst,
            Statistic::Mean => i64::try_from(self.sum / i128::from(self.count())).unwrap_or(i64::MAX),
            Statistic::Quantile(thousandths) => match &self.histogram {
                Some(histogram) => {
                    let value = histogram.value_at_quantile(f64::from(thousandths) / 1000.0);
                    i64::try_from(histogram.highest_equivalent(value)).unwrap_or(i64::MAX).min(self.worst)
                }
                None => {
                    let mut all = self.all.clone();
                    all.sort_unstable();
                    // The least duration that so many do not exceed.
                    let place = (all.len() * usize::from(thousandths)).div_ceil(1000).max(1) - 1;
                    all[place]
                }
            },
        })
    }

    /// The statistic; a mean is not rounded to whole nanoseconds.
    pub(crate) fn exactly(&self, statistic: Statistic) -> Option<Exact> {
        let whole = self.statistic(statistic)?;
        let count = i128::from(self.count());
        Some(if statistic == Statistic::Mean { Exact::new(self.sum, count) } else { Exact::from(whole) })
    }

    /// The distribution: durations, each with the percentage of all that are no longer.
    pub fn curve(&self) -> Vec<(i64, f64)> {
        let total = self.count().max(1) as f64;
        let mut sum = 0;
        if self.histogram.is_none() {
            let mut all = self.all.clone();
            all.sort_unstable();
            let steps = all.iter().enumerate();
            return steps.map(|(place, time)| (*time, (place + 1) as f64 * 100.0 / total)).collect();
        }
        let recorded = self.histogram.iter().flat_map(|histogram| histogram.iter_recorded());
        recorded
            .map(|step| {
                sum += step.count_at_value();
                (i64::try_from(step.value_iterated_to()).unwrap_or(i64::MAX), sum as f64 * 100.0 / total)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_rounded_up_and_never_above_the_worst() {
        let mut all = Distribution::new();
        for _ in 0..3 * FEW {
            all.add(123_456_789);
        }
        for thousandths in [500, 900, 990, 999] {
            assert_eq!(all.statistic(Statistic::Quantile(thousandths)), Some(123_456_789));
        }
        (0..FEW).for_each(|_| all.add(1_000_000_007));
        assert_eq!(all.statistic(Statistic::Quantile(990)), Some(1_000_000_007));
        let median = all.statistic(Statistic::Quantile(500)).unwrap_or(0);
        assert!((123_456_789..123_600_000).contains(&median), "{median}");
    }
}
