//! Packets as Perfetto writes them: fields of messages in the encoding of Protocol Buffers, and packets that are compressed.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// Packets as one, compressed by zlib.
pub fn compressed(packets: &[u8]) -> Vec<u8> {
    const COMPRESSED_PACKETS: u64 = 50;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(packets).unwrap();
    message(1, &message(COMPRESSED_PACKETS, &encoder.finish().unwrap()))
}

/// A message that is a field of another one, by itself.
pub fn message(tag: u64, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    field(&mut out, tag, bytes);
    out
}

/// A message, or a text.
pub fn field(out: &mut Vec<u8>, tag: u64, bytes: &[u8]) {
    varint(out, tag << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend(bytes);
}

/// An integer.
pub fn number(out: &mut Vec<u8>, tag: u64, value: u64) {
    varint(out, tag << 3);
    varint(out, value);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
