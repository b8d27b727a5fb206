//! How the time of processors was shared, over time: in stretches that double when there are too many of them.

/// Of each kind of threads, how long they ran in each stretch.
#[derive(Clone, Debug)]
pub struct Shares {
    /// Of a stretch, in nanoseconds.
    width: i64,
    kinds: Vec<Vec<i64>>,
}

/// An even number.
const MOST: usize = 256;

impl Shares {
    pub(super) fn new(kinds: usize, duration: Option<i64>) -> Self {
        let width = duration.map_or(1_000, |duration| duration / MOST as i64 + 1);
        Shares { width, kinds: vec![vec![0; MOST]; kinds] }
    }

    pub(super) fn ran(&mut self, kind: usize, since: i64, until: i64) {
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

    /// How long a stretch is, and of each kind how long it ran in each until `end`.
    pub fn until(&self, end: i64) -> (i64, Vec<&[i64]>) {
        let stretches = usize::try_from((end + self.width - 1) / self.width).unwrap_or(MOST).clamp(1, MOST);
        (self.width, self.kinds.iter().map(|sums| &sums[..stretches]).collect())
    }
}
