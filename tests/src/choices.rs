//! A supply of choices out of bytes, so that what is generated from them shrinks when the bytes do.

/// Bytes to choose by. When they have run out every choice is the first one.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

impl<'a> Choices<'a> {
    /// Choices by these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Choices { bytes: bytes.iter() }
    }

    /// Whether there are any bytes left.
    pub fn any_left(&self) -> bool {
        self.bytes.len() > 0
    }

    /// A number below `bound`, which is at most 256; 0 if there are no bytes left.
    pub fn below(&mut self, bound: usize) -> usize {
        self.bytes.next().map_or(0, |byte| usize::from(*byte) % bound.max(1))
    }

    /// True in about `percent` of all cases; false if there are no bytes left.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.bytes.next().is_some_and(|byte| usize::from(*byte) * 100 / 256 >= 100 - percent.min(100))
    }

    /// One of these, of which there are at least one.
    pub fn one_of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}
