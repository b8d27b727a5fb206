//! Packets that Perfetto has compressed are one field of another packet: the same sequence of them as a file, by zlib.

use std::io::{self, BufReader, Read};

use flate2::{Decompress, FlushDecompress, Status};

/// What is compressed in `packed`, as a file, a little at a time.
pub(super) fn inflated(packed: &[u8]) -> BufReader<Inflating<'_>> {
    BufReader::new(Inflating { packed, inflate: Decompress::new(true), ended: false })
}

pub(super) struct Inflating<'p> {
    /// What has not been read of it.
    packed: &'p [u8],
    inflate: Decompress,
    ended: bool,
}

impl Read for Inflating<'_> {
    /// One that is cut off is an error, which `flate2`'s own readers take for its end.
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
