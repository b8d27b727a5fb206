//! Random changes of bytes, for where there is no libFuzzer.

use fastrand::Rng;

/// One of the seeds with a few changes.
///
/// # Panics
/// Without any seeds.
pub fn changed(seeds: &[Vec<u8>], dictionary: &[String], random: &mut Rng) -> Vec<u8> {
    let mut bytes = random.choice(seeds).unwrap().clone();
    for _ in 0..random.usize(1..6) {
        let at = random.usize(0..=bytes.len());
        let end = (at + random.usize(1..40)).min(bytes.len());
        match random.u8(0..16) {
            0 | 1 => drop(bytes.drain(at..end)),
            2 | 3 => {
                let piece = bytes[at..end].repeat(random.usize(1..4));
                bytes.splice(at..at, piece);
            }
            4..8 => {
                let word = random.choice(dictionary).map_or("", String::as_str);
                bytes.splice(at..at, format!(" {word} ").into_bytes());
            }
            8 | 9 => drop(bytes.splice(at..(at + 1).min(bytes.len()), [random.u8(..)])),
            10 => bytes.truncate(at),
            // A piece of another seed, here or in place of what is here.
            11..14 => {
                let other = random.choice(seeds).unwrap();
                let from = random.usize(0..=other.len());
                let piece = other[from..(from + random.usize(1..200)).min(other.len())].to_vec();
                bytes.splice(at..if random.bool() { at } else { end }, piece);
            }
            // A name for another.
            14 => {
                let word = random.choice(dictionary).map_or("", String::as_str);
                let start =
                    bytes[..at].iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |index| index + 1);
                let rest = &bytes[at..];
                let stop = at + rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
                bytes.splice(start..stop, word.bytes());
            }
            _ => {
                let to = random.usize(0..=bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(to..to, piece);
            }
        }
    }
    bytes
}
