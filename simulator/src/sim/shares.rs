//! How kinds shared the processors over time, in stretches of 1, 2, 10, 20, 100 … microseconds. If there are too many, they become longer.

use crate::picture::{Window, step};

/// How long each kind ran in each stretch.
#[derive(Clone, Debug)]
pub struct Shares {
    /// The length of a stretch, in nanoseconds.
    width: i64,
    kinds: Vec<Vec<i64>>,
    /// How many processors there were, and since when, in order. As many entries as the scenario has changes.
    processors: Vec<(i64, usize)>,
}

/// How many stretches there are: a number that 2 and 5 divide.
const MOST: usize = 640;

impl Shares {
    pub(crate) fn new(kinds: usize, processors: usize) -> Self {
        Shares { width: 1_000, kinds: vec![vec![0; MOST]; kinds], processors: vec![(0, processors)] }
    }

    /// Adds a kind.
    pub(crate) fn add_kind(&mut self) {
        self.kinds.push(vec![0; MOST]);
    }

    /// Says that the number of processors was always this one.
    pub(crate) fn had(&mut self, processors: usize) {
        self.processors = vec![(0, processors)];
    }

    pub(crate) fn ran(&mut self, kind: usize, since: i64, until: i64) {
        while until > self.width.saturating_mul(MOST as i64) {
            self.lengthen();
        }
        let mut from = since;
        while from < until {
            let stretch = from / self.width;
            let to = until.min((stretch + 1) * self.width);
            if let Some(sum) = usize::try_from(stretch).ok().and_then(|stretch| self.kinds[kind].get_mut(stretch)) {
                *sum += to - from;
            }
            from = to;
        }
    }

    /// Puts 2 or 5 stretches together, so that windows of a round length begin where stretches do.
    fn lengthen(&mut self) {
        let is_power_of_ten = (0..19).any(|power| 10_i64.pow(power) == self.width);
        let together = if is_power_of_ten { 2 } else { 5 };
        self.width = self.width.saturating_mul(together);
        for sums in &mut self.kinds {
            let longer: Vec<i64> = sums.chunks(together as usize).map(|several| several.iter().sum()).collect();
            sums.fill(0);
            sums[..longer.len()].copy_from_slice(&longer);
        }
    }

    /// Changes the number of processors.
    pub(super) fn processors(&mut self, now: i64, count: usize) {
        self.processors.push((now, count));
    }

    /// The time of all processors between two instants.
    pub fn capacity(&self, from: i64, to: i64) -> i128 {
        let ends = self.processors.iter().skip(1).map(|(since, _)| *since).chain([to]);
        let stretches = self.processors.iter().zip(ends);
        let within = stretches.map(|((since, count), until)| {
            let length = until.min(to) - from.max(*since);
            i128::from(length.max(0)) * *count as i128
        });
        within.sum()
    }

    /// At most `most` windows until `end`, and at least a third of that if `end` is late enough. Their length is round, so that what repeats in round
    /// times repeats in them. What is left at the end belongs to the last one: by itself, it would show what threads did in an instant.
    pub fn windows(&self, end: i64, most: usize) -> Vec<Window> {
        let most = most.max(1) as i64;
        let least = (end / most + i64::from(end % most != 0)).max(self.width);
        // A stretch has a round length, too, so that a window is some stretches.
        let length = step(least);
        let count = (end / length).max(1);
        let window = |number: i64| {
            let (from, to) = (number * length, if number + 1 == count { end } else { (number + 1) * length });
            let capacity = self.capacity(from, to).max(1) as f64;
            // Nothing ran in those that are missing.
            let stretches = |sums: &Vec<i64>| {
                let since = usize::try_from(from / self.width).unwrap_or(MOST);
                let until = usize::try_from(to / self.width + i64::from(to % self.width != 0)).unwrap_or(MOST);
                sums.iter().take(until).skip(since).sum::<i64>()
            };
            let share = |sums: &Vec<i64>| 100.0 * stretches(sums) as f64 / capacity;
            Window { from, to, shares: self.kinds.iter().map(share).collect(), unknown: 0.0 }
        };
        (0..count).map(window).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who ran for a half of each microsecond has a half in every window, however little of the last one is there.
    #[test]
    fn the_end_is_no_window_of_its_own() {
        for end in 20_000..21_500 {
            let mut shares = Shares::new(1, 1);
            (0..end).step_by(1_000).for_each(|time| shares.ran(0, time, (time + 500).min(end)));
            let windows = shares.windows(end, 12);
            assert!((4..=12).contains(&windows.len()), "{}", windows.len());
            assert_eq!((windows[0].from, windows.last().map(|last| last.to)), (0, Some(end)));
            assert!(windows.windows(2).all(|pair| pair[0].to == pair[1].from));
            assert!(windows.iter().all(|window| (window.shares[0] - 50.0).abs() <= 10.0), "{end}: {windows:?}");
        }
        // Every 100 ms for 60 ms.
        let mut shares = Shares::new(1, 1);
        (0..1_000).step_by(100).for_each(|time| shares.ran(0, time * 1_000_000, (time + 60) * 1_000_000));
        let windows = shares.windows(1_000_000_000, 12);
        assert_eq!(windows.iter().map(|window| window.shares[0]).collect::<Vec<f64>>(), [60.0; 10]);
        // Shorter than a stretch.
        let mut shares = Shares::new(1, 1);
        shares.ran(0, 0, 300);
        assert_eq!(shares.windows(300, 12).len(), 1);
    }
}
