//! A compressed packet of Perfetto has one field: a sequence of packets as in a file, compressed by zlib.

use std::io::{self, BufReader, Read};

use flate2::{Decompress, FlushDecompress, Status};

/// The expanded content of `packed`, as a file that is read bit by bit.
pub(super) fn inflated(packed: &[u8]) -> BufReader<Inflating<'_>> {
    BufReader::new(Inflating { packed, inflate: Decompress::new(true), ended: false })
}

pub(super) struct Inflating<'p> {
    /// What is left to read.
    packed: &'p [u8],
    inflate: Decompress,
    ended: bool,
}

impl Read for Inflating<'_> {
    /// An input that is cut off is an error. `flate2`'s own readers take it for the end.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !into.is_empty() {
            let (read, made) = (self.inflate.total_in(), self.inflate.total_out());
            self.ended = self.inflate.decompress(self.packed, into, FlushDecompress::None)? == Status::StreamEnd;
            let (read, made) = (self.inflate.total_in() - read, self.inflate.total_out() - made);
            self.packed = &self.packed[read as usize..];
            if made > 0 {
                return Ok(made as usize);
            }
            if read == 0 && !self.ended {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is cut off"));
            }
        }
        Ok(0)
    }
}
