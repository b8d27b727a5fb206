//! The instructions of the Rabbit 2000, with their clocks (Rabbit 2000 Microprocessor, Instruction Reference Manual, 019-0098).
//!
//! In texts, braces stand for a part of the last byte of the opcode, or for bytes that follow it:
//!
//! | | |
//! |---|---|
//! | `{r}`, `{s}` | a register of 8 bits: bits 0 to 2, bits 3 to 5 |
//! | `{d}`, `{q}`, `{y}` | a pair of registers, in bits 4 and 5: with SP, with AF, and with an index register instead of HL |
//! | `{c}` | a condition, in bits 3 to 5 |
//! | `{b}` | the number of a bit, in bits 3 to 5 |
//! | `{i}` | the index register that the prefix chooses |
//! | `{n}`, `{x}`, `{e}` | a byte: without and with a sign, and relative to the next instruction |
//! | `{w}` | a word |

/// What precedes the last byte of an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// Nothing.
    None,
    /// CB.
    Bits,
    /// ED.
    More,
    /// DD or FD.
    Index,
    /// DD alone.
    Ix,
    /// FD alone.
    Iy,
    /// DD or FD, then CB, and a displacement.
    IndexBits,
}

/// The clocks that an instruction takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// By the manual.
    pub manual: u32,
    /// In ucsim 4.5, whose numbers are others for some instructions.
    pub simulated: u32,
}

impl Clocks {
    /// No fewer than either of them: what is counted.
    pub fn most(self) -> u32 {
        self.manual.max(self.simulated)
    }
}

/// Opcodes that are one instruction, but for its operands.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What comes before the opcode.
    pub prefix: Prefix,
    /// The opcode, in the bits of `mask`.
    pub opcode: u8,
    /// Which bits of it are not operands.
    pub mask: u8,
    /// The text.
    pub text: &'static str,
    /// If it goes on behind itself; else, if it always leads elsewhere, for that.
    pub clocks: Clocks,
    /// If it leads elsewhere, and can go on. For a move that is repeated: of each turn but the last.
    pub taken: Option<Clocks>,
}

const fn alike(clocks: u32) -> Clocks {
    Clocks { manual: clocks, simulated: clocks }
}

const fn row(prefix: Prefix, opcode: u8, mask: u8, text: &'static str, clocks: u32) -> Row {
    Row { prefix, opcode, mask, text, clocks: alike(clocks), taken: None }
}

const fn or(row: Row, taken: u32) -> Row {
    Row { taken: Some(alike(taken)), ..row }
}

/// Of which ucsim counts others than the manual, if it goes on behind itself.
const fn in_ucsim(row: Row, simulated: u32) -> Row {
    Row { clocks: Clocks { manual: row.clocks.manual, simulated }, ..row }
}

use Prefix::{Bits, Index, IndexBits, Ix, Iy, More, None as Plain};

/// All of them. The first that fits is meant.
pub const ROWS: &[Row] = &[
    row(Plain, 0x00, 0xff, "nop", 2),
    row(Plain, 0x01, 0xcf, "ld {d}, {w}", 6),
    row(Plain, 0x02, 0xff, "ld (bc), a", 7),
    row(Plain, 0x03, 0xcf, "inc {d}", 2),
    row(Plain, 0x34, 0xff, "inc (hl)", 8),
    row(Plain, 0x04, 0xc7, "inc {s}", 2),
    row(Plain, 0x35, 0xff, "dec (hl)", 8),
    row(Plain, 0x05, 0xc7, "dec {s}", 2),
    row(Plain, 0x36, 0xff, "ld (hl), {n}", 7),
    row(Plain, 0x06, 0xc7, "ld {s}, {n}", 4),
    row(Plain, 0x07, 0xff, "rlca", 2),
    row(Plain, 0x08, 0xff, "ex af, af'", 2),
    row(Plain, 0x09, 0xcf, "add hl, {d}", 2),
    row(Plain, 0x0a, 0xff, "ld a, (bc)", 6),
    row(Plain, 0x0b, 0xcf, "dec {d}", 2),
    row(Plain, 0x0f, 0xff, "rrca", 2),
    or(row(Plain, 0x10, 0xff, "djnz {e}", 5), 5),
    row(Plain, 0x12, 0xff, "ld (de), a", 7),
    row(Plain, 0x17, 0xff, "rla", 2),
    row(Plain, 0x18, 0xff, "jr {e}", 5),
    row(Plain, 0x1a, 0xff, "ld a, (de)", 6),
    row(Plain, 0x1f, 0xff, "rra", 2),
    or(row(Plain, 0x20, 0xe7, "jr {c}, {e}", 5), 5),
    row(Plain, 0x22, 0xff, "ld ({w}), hl", 13),
    row(Plain, 0x27, 0xff, "add sp, {x}", 4),
    row(Plain, 0x2a, 0xff, "ld hl, ({w})", 11),
    row(Plain, 0x2f, 0xff, "cpl", 2),
    row(Plain, 0x32, 0xff, "ld ({w}), a", 10),
    row(Plain, 0x37, 0xff, "scf", 2),
    row(Plain, 0x3a, 0xff, "ld a, ({w})", 9),
    row(Plain, 0x3f, 0xff, "ccf", 2),
    row(Plain, 0x76, 0xff, "altd", 2),
    row(Plain, 0x46, 0xc7, "ld {s}, (hl)", 5),
    row(Plain, 0x70, 0xf8, "ld (hl), {r}", 6),
    row(Plain, 0x40, 0xc0, "ld {s}, {r}", 2),
    in_ucsim(row(Plain, 0x86, 0xff, "add a, (hl)", 5), 7),
    in_ucsim(row(Plain, 0x80, 0xf8, "add a, {r}", 2), 4),
    in_ucsim(row(Plain, 0x8e, 0xff, "adc a, (hl)", 5), 7),
    in_ucsim(row(Plain, 0x88, 0xf8, "adc a, {r}", 2), 4),
    in_ucsim(row(Plain, 0x96, 0xff, "sub a, (hl)", 5), 7),
    in_ucsim(row(Plain, 0x90, 0xf8, "sub a, {r}", 2), 4),
    in_ucsim(row(Plain, 0x9e, 0xff, "sbc a, (hl)", 5), 7),
    in_ucsim(row(Plain, 0x98, 0xf8, "sbc a, {r}", 2), 4),
    row(Plain, 0xa6, 0xff, "and a, (hl)", 5),
    row(Plain, 0xa0, 0xf8, "and a, {r}", 2),
    row(Plain, 0xae, 0xff, "xor a, (hl)", 5),
    row(Plain, 0xa8, 0xf8, "xor a, {r}", 2),
    row(Plain, 0xb6, 0xff, "or a, (hl)", 5),
    row(Plain, 0xb0, 0xf8, "or a, {r}", 2),
    in_ucsim(row(Plain, 0xbe, 0xff, "cp a, (hl)", 5), 7),
    in_ucsim(row(Plain, 0xb8, 0xf8, "cp a, {r}", 2), 4),
    in_ucsim(or(row(Plain, 0xc0, 0xc7, "ret {c}", 2), 8), 8),
    row(Plain, 0xc1, 0xcf, "pop {q}", 7),
    or(row(Plain, 0xc2, 0xc7, "jp {c}, {w}", 7), 7),
    row(Plain, 0xc3, 0xff, "jp {w}", 7),
    row(Plain, 0xc4, 0xff, "ld hl, {n} (sp)", 9),
    row(Plain, 0xd4, 0xff, "ld {n} (sp), hl", 11),
    row(Plain, 0xe4, 0xff, "ld hl, {x} (ix)", 9),
    row(Plain, 0xf4, 0xff, "ld {x} (ix), hl", 11),
    row(Plain, 0xc5, 0xcf, "push {q}", 10),
    row(Plain, 0xc6, 0xff, "add a, {n}", 4),
    row(Plain, 0xc7, 0xff, "ljp {n}, {w}", 10),
    row(Plain, 0xc9, 0xff, "ret", 8),
    row(Plain, 0xcc, 0xff, "bool hl", 2),
    row(Plain, 0xcd, 0xff, "call {w}", 12),
    row(Plain, 0xce, 0xff, "adc a, {n}", 4),
    row(Plain, 0xcf, 0xff, "lcall {n}, {w}", 19),
    row(Plain, 0xd3, 0xff, "ioi", 2),
    row(Plain, 0xd6, 0xff, "sub a, {n}", 4),
    row(Plain, 0xd7, 0xff, "rst 0x10", 8),
    row(Plain, 0xe7, 0xff, "rst 0x20", 8),
    row(Plain, 0xef, 0xff, "rst 0x28", 8),
    row(Plain, 0xd9, 0xff, "exx", 2),
    row(Plain, 0xdb, 0xff, "ioe", 2),
    row(Plain, 0xdc, 0xff, "and hl, de", 2),
    row(Plain, 0xde, 0xff, "sbc a, {n}", 4),
    row(Plain, 0xe3, 0xff, "ex de', hl", 2),
    row(Plain, 0xe6, 0xff, "and a, {n}", 4),
    row(Plain, 0xe9, 0xff, "jp (hl)", 4),
    row(Plain, 0xeb, 0xff, "ex de, hl", 2),
    row(Plain, 0xec, 0xff, "or hl, de", 2),
    in_ucsim(row(Plain, 0xee, 0xff, "xor a, {n}", 4), 5),
    row(Plain, 0xf3, 0xff, "rl de", 2),
    in_ucsim(row(Plain, 0xf6, 0xff, "or a, {n}", 4), 5),
    row(Plain, 0xf7, 0xff, "mul", 12),
    row(Plain, 0xf9, 0xff, "ld sp, hl", 2),
    row(Plain, 0xfb, 0xff, "rr de", 2),
    row(Plain, 0xfc, 0xff, "rr hl", 2),
    row(Plain, 0xfe, 0xff, "cp a, {n}", 4),
    row(Bits, 0x06, 0xff, "rlc (hl)", 10),
    row(Bits, 0x00, 0xf8, "rlc {r}", 4),
    row(Bits, 0x0e, 0xff, "rrc (hl)", 10),
    row(Bits, 0x08, 0xf8, "rrc {r}", 4),
    row(Bits, 0x16, 0xff, "rl (hl)", 10),
    row(Bits, 0x10, 0xf8, "rl {r}", 4),
    row(Bits, 0x1e, 0xff, "rr (hl)", 10),
    row(Bits, 0x18, 0xf8, "rr {r}", 4),
    row(Bits, 0x26, 0xff, "sla (hl)", 10),
    row(Bits, 0x20, 0xf8, "sla {r}", 4),
    row(Bits, 0x2e, 0xff, "sra (hl)", 10),
    row(Bits, 0x28, 0xf8, "sra {r}", 4),
    row(Bits, 0x3e, 0xff, "srl (hl)", 10),
    row(Bits, 0x38, 0xf8, "srl {r}", 4),
    row(Bits, 0x46, 0xc7, "bit {b}, (hl)", 7),
    row(Bits, 0x40, 0xc0, "bit {b}, {r}", 4),
    row(Bits, 0x86, 0xc7, "res {b}, (hl)", 10),
    row(Bits, 0x80, 0xc0, "res {b}, {r}", 4),
    row(Bits, 0xc6, 0xc7, "set {b}, (hl)", 10),
    row(Bits, 0xc0, 0xc0, "set {b}, {r}", 4),
    row(More, 0x41, 0xff, "ld bc', de", 4),
    row(More, 0x49, 0xff, "ld bc', bc", 4),
    row(More, 0x51, 0xff, "ld de', de", 4),
    row(More, 0x59, 0xff, "ld de', bc", 4),
    row(More, 0x61, 0xff, "ld hl', de", 4),
    row(More, 0x69, 0xff, "ld hl', bc", 4),
    row(More, 0x42, 0xcf, "sbc hl, {d}", 4),
    row(More, 0x43, 0xcf, "ld ({w}), {d}", 15),
    row(More, 0x44, 0xff, "neg", 4),
    row(More, 0x45, 0xff, "lret", 13),
    row(More, 0x46, 0xff, "ipset 0", 4),
    row(More, 0x47, 0xff, "ld eir, a", 4),
    row(More, 0x4a, 0xcf, "adc hl, {d}", 4),
    row(More, 0x4b, 0xcf, "ld {d}, ({w})", 13),
    row(More, 0x4d, 0xff, "reti", 12),
    row(More, 0x4e, 0xff, "ipset 2", 4),
    row(More, 0x4f, 0xff, "ld iir, a", 4),
    row(More, 0x54, 0xff, "ex (sp), hl", 15),
    row(More, 0x56, 0xff, "ipset 1", 4),
    row(More, 0x57, 0xff, "ld a, eir", 4),
    row(More, 0x5d, 0xff, "ipres", 4),
    row(More, 0x5e, 0xff, "ipset 3", 4),
    row(More, 0x5f, 0xff, "ld a, iir", 4),
    row(More, 0x64, 0xff, "ldp (hl), hl", 12),
    row(More, 0x65, 0xff, "ldp ({w}), hl", 15),
    row(More, 0x67, 0xff, "ld xpc, a", 4),
    row(More, 0x6c, 0xff, "ldp hl, (hl)", 10),
    row(More, 0x6d, 0xff, "ldp hl, ({w})", 13),
    row(More, 0x76, 0xff, "push ip", 9),
    row(More, 0x77, 0xff, "ld a, xpc", 4),
    row(More, 0x7e, 0xff, "pop ip", 7),
    row(More, 0xa0, 0xff, "ldi", 10),
    row(More, 0xa8, 0xff, "ldd", 10),
    or(row(More, 0xb0, 0xff, "ldir", 13), 7),
    or(row(More, 0xb8, 0xff, "lddr", 13), 7),
    row(Index, 0x09, 0xcf, "add {i}, {y}", 4),
    row(Index, 0x21, 0xff, "ld {i}, {w}", 8),
    row(Index, 0x22, 0xff, "ld ({w}), {i}", 15),
    row(Index, 0x23, 0xff, "inc {i}", 4),
    row(Index, 0x2a, 0xff, "ld {i}, ({w})", 13),
    row(Index, 0x2b, 0xff, "dec {i}", 4),
    row(Index, 0x34, 0xff, "inc {x} ({i})", 12),
    row(Index, 0x35, 0xff, "dec {x} ({i})", 12),
    row(Index, 0x36, 0xff, "ld {x} ({i}), {n}", 11),
    row(Index, 0x64, 0xff, "ldp ({i}), hl", 12),
    row(Index, 0x65, 0xff, "ldp ({w}), {i}", 15),
    row(Index, 0x6c, 0xff, "ldp hl, ({i})", 10),
    row(Index, 0x6d, 0xff, "ldp {i}, ({w})", 13),
    row(Index, 0x7c, 0xff, "ld hl, {i}", 4),
    row(Index, 0x7d, 0xff, "ld {i}, hl", 4),
    row(Index, 0x46, 0xc7, "ld {s}, {x} ({i})", 9),
    row(Index, 0x70, 0xf8, "ld {x} ({i}), {r}", 10),
    row(Index, 0x86, 0xff, "add a, {x} ({i})", 9),
    row(Index, 0x8e, 0xff, "adc a, {x} ({i})", 9),
    row(Index, 0x96, 0xff, "sub a, {x} ({i})", 9),
    row(Index, 0x9e, 0xff, "sbc a, {x} ({i})", 9),
    row(Index, 0xa6, 0xff, "and a, {x} ({i})", 9),
    row(Index, 0xae, 0xff, "xor a, {x} ({i})", 9),
    row(Index, 0xb6, 0xff, "or a, {x} ({i})", 9),
    in_ucsim(row(Index, 0xbe, 0xff, "cp a, {x} ({i})", 9), 11),
    row(Index, 0xc4, 0xff, "ld {i}, {n} (sp)", 11),
    row(Index, 0xcc, 0xff, "bool {i}", 4),
    row(Index, 0xd4, 0xff, "ld {n} (sp), {i}", 13),
    row(Index, 0xdc, 0xff, "and {i}, de", 4),
    row(Index, 0xe1, 0xff, "pop {i}", 9),
    row(Index, 0xe3, 0xff, "ex (sp), {i}", 15),
    row(Ix, 0xe4, 0xff, "ld hl, {x} (hl)", 11),
    row(Iy, 0xe4, 0xff, "ld hl, {x} (iy)", 11),
    row(Index, 0xe5, 0xff, "push {i}", 12),
    row(Index, 0xe9, 0xff, "jp ({i})", 6),
    row(Index, 0xec, 0xff, "or {i}, de", 4),
    row(Ix, 0xf4, 0xff, "ld {x} (hl), hl", 13),
    row(Iy, 0xf4, 0xff, "ld {x} (iy), hl", 13),
    in_ucsim(row(Index, 0xf9, 0xff, "ld sp, {i}", 4), 2),
    row(Index, 0xfc, 0xff, "rr {i}", 4),
    in_ucsim(row(IndexBits, 0x06, 0xff, "rlc {x} ({i})", 13), 4),
    in_ucsim(row(IndexBits, 0x0e, 0xff, "rrc {x} ({i})", 13), 4),
    in_ucsim(row(IndexBits, 0x16, 0xff, "rl {x} ({i})", 13), 4),
    in_ucsim(row(IndexBits, 0x1e, 0xff, "rr {x} ({i})", 13), 4),
    in_ucsim(row(IndexBits, 0x26, 0xff, "sla {x} ({i})", 13), 4),
    in_ucsim(row(IndexBits, 0x2e, 0xff, "sra {x} ({i})", 13), 4),
    in_ucsim(row(IndexBits, 0x3e, 0xff, "srl {x} ({i})", 13), 4),
    row(IndexBits, 0x46, 0xc7, "bit {b}, {x} ({i})", 10),
    row(IndexBits, 0x86, 0xc7, "res {b}, {x} ({i})", 13),
    in_ucsim(row(IndexBits, 0xc6, 0xc7, "set {b}, {x} ({i})", 13), 14),
];
