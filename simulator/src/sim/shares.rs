//! How kinds shared the processors over time, in stretches. If there are too many stretches, their length doubles.

use crate::picture::Window;

/// How long each kind ran in each stretch.
#[derive(Clone, Debug)]
pub struct Shares {
    /// The length of a stretch, in nanoseconds.
    width: i64,
    kinds: Vec<Vec<i64>>,
    /// How many processors there were, and since when, in order. As many entries as the scenario has changes.
    processors: Vec<(i64, usize)>,
}

/// How many stretches there are: an even number.
const MOST: usize = 256;

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
            self.double();
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

    fn double(&mut self) {
        self.width = self.width.saturating_mul(2);
        for sums in &mut self.kinds {
            let pairs: Vec<i64> = sums.chunks(2).map(|pair| pair.iter().sum()).collect();
            sums.fill(0);
            sums[..pairs.len()].copy_from_slice(&pairs);
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

    /// At most `most` windows until `end`, and more than half of that if `end` is late enough.
    pub fn windows(&self, end: i64, most: usize) -> Vec<Window> {
        let stretches = usize::try_from((end + self.width - 1) / self.width).unwrap_or(MOST).clamp(1, MOST);
        let together = stretches.div_ceil(most.max(1));
        let window = |first: usize| {
            let last = stretches.min(first + together);
            let (from, to) = (first as i64 * self.width, end.min(last as i64 * self.width));
            let capacity = self.capacity(from, to).max(1) as f64;
            let share = |sums: &Vec<i64>| 100.0 * sums[first..last].iter().sum::<i64>() as f64 / capacity;
            Window { from, to, shares: self.kinds.iter().map(share).collect(), unknown: 0.0 }
        };
        (0..stretches).step_by(together).map(window).collect()
    }
}
