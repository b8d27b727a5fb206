//! How many processors there were, and how their time was shared, over time: in stretches that double when there are too many of them.

use crate::picture::Window;

/// Of each kind of threads, how long they ran in each stretch.
#[derive(Clone, Debug)]
pub struct Shares {
    /// Of a stretch, in nanoseconds.
    width: i64,
    kinds: Vec<Vec<i64>>,
    /// Since when there were so many processors, in order; their number changes as often as the scenario says.
    processors: Vec<(i64, usize)>,
}

/// An even number.
const MOST: usize = 256;

impl Shares {
    pub(crate) fn new(kinds: usize, processors: usize) -> Self {
        Shares { width: 1_000, kinds: vec![vec![0; MOST]; kinds], processors: vec![(0, processors)] }
    }

    /// Another kind is among them from now on.
    pub(crate) fn add_kind(&mut self) {
        self.kinds.push(vec![0; MOST]);
    }

    /// So many processors there were all the time.
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

    /// So many processors there are from now on.
    pub(super) fn processors(&mut self, now: i64, count: usize) {
        self.processors.push((now, count));
    }

    /// What all processors together could have computed between two times.
    pub fn capacity(&self, from: i64, to: i64) -> i128 {
        let ends = self.processors.iter().skip(1).map(|(since, _)| *since).chain([to]);
        let stretches = self.processors.iter().zip(ends);
        let within = stretches.map(|((since, count), until)| {
            let length = until.min(to) - from.max(*since);
            i128::from(length.max(0)) * *count as i128
        });
        within.sum()
    }

    /// At most so many windows until `end`, and more than half of that if it is long enough.
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
