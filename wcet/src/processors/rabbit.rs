//! The Rabbit 2000.

pub mod table;

use super::{Counts, Flow, Instruction, Pointer, Processor, Register};
use table::{Prefix, ROWS, Row};

/// An 8-bit processor, a descendant of the Z80. Clocks are those of memory without wait states.
#[derive(Clone, Copy, Debug)]
pub struct Rabbit {
    /// Which of the table's numbers.
    pub counted: Counted,
}

/// Where the manual and the simulator are of two minds, one of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// The greater one, so that a bound holds in both.
    Most,
    /// The simulator's, so that a bound can be compared with it to the clock.
    Simulated,
}

impl Processor for Rabbit {
    fn decode(&self, at: u16, byte: &dyn Fn(u16) -> Option<u8>) -> Option<Instruction> {
        let (row, mut instruction) = find(ROWS, at, byte)?;
        if self.counted == Counted::Simulated {
            instruction.clocks = row.clocks.simulated;
        }
        Some(instruction)
    }
}

const REGISTERS: [&str; 8] = ["b", "c", "d", "e", "h", "l", "(hl)", "a"];
const CONDITIONS: [&str; 8] = ["nz", "z", "nc", "c", "lz", "lo", "p", "m"];
/// The register that the opcode would name is memory, and has an instruction of its own.
const MEMORY: u8 = 6;

/// The instruction at an address, by a table, and its row there.
pub fn find<'r>(rows: &'r [Row], at: u16, byte: &dyn Fn(u16) -> Option<u8>) -> Option<(&'r Row, Instruction)> {
    let mut reader = Reader { at, next: at, byte };
    let (prefixes, index, opcode) = reader.opcode()?;
    let row = rows.iter().find(|row| prefixes.contains(&row.prefix) && opcode & row.mask == row.opcode)?;
    let mut text = String::new();
    let (mut word, mut target) = (0, 0);
    let mut parts = row.text.split(['{', '}']);
    text.push_str(parts.next()?);
    while let (Some(operand), Some(between)) = (parts.next(), parts.next()) {
        let register = |number: u8| (number != MEMORY).then(|| REGISTERS[usize::from(number)].to_owned());
        let pair = |third: &str, fourth: &str| ["bc", "de", third, fourth][usize::from(opcode >> 4 & 3)].to_owned();
        let written = match operand {
            "r" => register(opcode & 7)?,
            "s" => register(opcode >> 3 & 7)?,
            "d" => pair("hl", "sp"),
            "q" => pair("hl", "af"),
            "y" => pair(index, "sp"),
            "c" => CONDITIONS[usize::from(opcode >> 3 & if row.text.starts_with("jr") { 3 } else { 7 })].to_owned(),
            "b" => (opcode >> 3 & 7).to_string(),
            "i" => index.to_owned(),
            "n" => {
                word = u16::from(reader.operand()?);
                format!("{word:#04x}")
            }
            "x" => reader.operand()?.cast_signed().to_string(),
            "e" => {
                let distance = i16::from(reader.operand()?.cast_signed());
                target = reader.next.wrapping_add_signed(distance);
                format!("{target:#06x}")
            }
            "w" => {
                let low = reader.take()?;
                word = u16::from_le_bytes([low, reader.take()?]);
                target = word;
                format!("{word:#06x}")
            }
            _ => return None,
        };
        text.push_str(&written);
        text.push_str(between);
    }
    let taken = row.taken.map_or(0, table::Clocks::most);
    let length = reader.next.wrapping_sub(at);
    let (flow, counts, sets) = (flow(&text, target, taken), counts(&text), sets(&text, word));
    let writes = writes(&text, &sets);
    Some((row, Instruction { at, length, text, clocks: row.clocks.most(), flow, sets, counts, writes }))
}

struct Reader<'a> {
    at: u16,
    next: u16,
    byte: &'a dyn Fn(u16) -> Option<u8>,
}

impl Reader<'_> {
    fn take(&mut self) -> Option<u8> {
        let byte = (self.byte)(self.next)?;
        self.next = self.next.wrapping_add(1);
        Some(byte)
    }

    /// A byte behind the opcode. With two prefixes, the displacement is before the last byte.
    fn operand(&mut self) -> Option<u8> {
        match ((self.byte)(self.at)?, (self.byte)(self.at.wrapping_add(1))?) {
            (0xdd | 0xfd, 0xcb) => (self.byte)(self.at.wrapping_add(2)),
            (_, _) => self.take(),
        }
    }

    /// Which prefixes fit, the index register, and the last byte of the opcode.
    fn opcode(&mut self) -> Option<(&'static [Prefix], &'static str, u8)> {
        let first = self.take()?;
        let (own, index): (&[Prefix], &str) = match first {
            0xcb => return Some((&[Prefix::Bits], "", self.take()?)),
            0xed => return Some((&[Prefix::More], "", self.take()?)),
            0xdd => (&[Prefix::Index, Prefix::Ix], "ix"),
            0xfd => (&[Prefix::Index, Prefix::Iy], "iy"),
            _ => return Some((&[Prefix::None], "", first)),
        };
        let second = self.take()?;
        if second != 0xcb {
            return Some((own, index, second));
        }
        self.take()?;
        Some((&[Prefix::IndexBits], index, self.take()?))
    }
}

/// The mnemonic and the operands.
fn parts(text: &str) -> (&str, Vec<&str>) {
    let (mnemonic, operands) = text.split_once(' ').unwrap_or((text, ""));
    (mnemonic, operands.split(", ").filter(|operand| !operand.is_empty()).collect())
}

fn flow(text: &str, target: u16, taken: u32) -> Flow {
    match parts(text) {
        ("jp", operands) if operands == ["(hl)"] => Flow::Through(Pointer::Hl),
        ("jp", operands) if operands == ["(ix)"] => Flow::Through(Pointer::Ix),
        ("jp", operands) if operands == ["(iy)"] => Flow::Through(Pointer::Iy),
        ("jp" | "jr", operands) if operands.len() == 1 => Flow::Jump(target),
        ("jp" | "jr" | "djnz", _) => Flow::Branch(target, taken),
        ("call", _) => Flow::Call(target),
        ("ret", operands) if operands.is_empty() => Flow::Return,
        ("ret", _) => Flow::MayReturn(taken),
        ("ldir" | "lddr", _) => Flow::Repeat(taken),
        ("pop", operands) if operands == ["hl"] => Flow::Pop(Pointer::Hl),
        ("pop", operands) if operands == ["ix"] => Flow::Pop(Pointer::Ix),
        ("pop", operands) if operands == ["iy"] => Flow::Pop(Pointer::Iy),
        ("rst" | "ljp" | "lcall" | "lret" | "reti", _) => Flow::Away,
        (_, _) => Flow::Next,
    }
}

fn counts(text: &str) -> Counts {
    match parts(text) {
        ("djnz", _) => Counts::DownUnlessZero(Register::B),
        ("dec", operands) => match registers(operands[0]).as_slice() {
            // A pair is decremented without a note of it.
            [only] => Counts::Down(*only),
            _ => Counts::No,
        },
        ("jp" | "jr", operands) if operands[0] == "nz" => Counts::UnlessZero,
        (_, _) => Counts::No,
    }
}

/// The registers of 8 bits that a name stands for.
fn registers(name: &str) -> Vec<Register> {
    use Register::{A, B, C, D, E, H, L};
    match name {
        "a" | "af" => vec![A],
        "b" => vec![B],
        "c" => vec![C],
        "d" => vec![D],
        "e" => vec![E],
        "h" => vec![H],
        "l" => vec![L],
        "bc" => vec![B, C],
        "de" => vec![D, E],
        "hl" => vec![H, L],
        _ => Vec::new(),
    }
}

fn sets(text: &str, value: u16) -> Vec<(Register, Option<u8>)> {
    let (mnemonic, operands) = parts(text);
    let set: Vec<Register> = match mnemonic {
        // What is called, and what goes to the other set of registers, leaves nothing that is known.
        "call" | "rst" | "lcall" | "exx" | "altd" | "ioi" | "ioe" => Register::ALL.to_vec(),
        "ldi" | "ldd" | "ldir" | "lddr" => ["bc", "de", "hl"].into_iter().flat_map(registers).collect(),
        "mul" => ["bc", "hl"].into_iter().flat_map(registers).collect(),
        "rlca" | "rrca" | "rla" | "rra" | "cpl" | "neg" => vec![Register::A],
        "djnz" => vec![Register::B],
        "ex" => operands.iter().flat_map(|operand| registers(operand)).collect(),
        "res" | "set" => registers(operands[1]),
        "cp" | "bit" | "push" | "jp" | "jr" | "ret" => Vec::new(),
        _ => operands.first().map(|first| registers(first)).unwrap_or_default(),
    };
    let constant = mnemonic == "ld" && operands.get(1).is_some_and(|operand| operand.starts_with("0x"));
    let [low, high] = value.to_le_bytes();
    match set.as_slice() {
        [only] if constant => vec![(*only, Some(low))],
        [first, second] if constant => vec![(*first, Some(high)), (*second, Some(low))],
        _ => set.into_iter().map(|register| (register, None)).collect(),
    }
}

fn writes(text: &str, sets: &[(Register, Option<u8>)]) -> Vec<Pointer> {
    let (mnemonic, operands) = parts(text);
    let is = |name: &str| match mnemonic {
        "cp" | "bit" | "push" | "call" | "jp" | "jr" | "res" | "set" => false,
        "ex" => operands.contains(&name),
        _ => operands.first() == Some(&name),
    };
    // What a call does to them is known of the function called.
    let hl = mnemonic != "call" && sets.iter().any(|(register, _)| [Register::H, Register::L].contains(register));
    let mut written = Vec::new();
    written.extend(hl.then_some(Pointer::Hl));
    written.extend(is("ix").then_some(Pointer::Ix));
    written.extend(is("iy").then_some(Pointer::Iy));
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Option<Instruction> {
        find(ROWS, 0x100, &|at| bytes.get(usize::from(at - 0x100)).copied()).map(|(_, instruction)| instruction)
    }

    #[test]
    fn instructions_are_read() {
        let all: &[(&[u8], &str, u32)] = &[
            (&[0xdd, 0xe4, 0xfe], "ld hl, -2 (hl)", 11),
            (&[0xfd, 0xcb, 0x05, 0x46], "bit 0, 5 (iy)", 10),
            (&[0xed, 0x43, 0x34, 0x12], "ld (0x1234), bc", 15),
            (&[0x18, 0xfe], "jr 0x0100", 5),
            (&[0x38, 0x02], "jr c, 0x0104", 5),
            (&[0xd8], "ret c", 8),
            (&[0x36, 0x07], "ld (hl), 0x07", 7),
            (&[0xdd, 0x36, 0x02, 0x07], "ld 2 (ix), 0x07", 11),
        ];
        for (bytes, text, clocks) in all {
            let found = decoded(bytes).unwrap();
            assert_eq!((found.text.as_str(), found.clocks), (*text, *clocks));
            assert_eq!(usize::from(found.length), bytes.len(), "{text}");
        }
    }

    #[test]
    fn what_is_no_instruction_is_not_read() {
        for bytes in [&[0xdd, 0x76, 0][..], &[0xed, 0x00], &[0xcb, 0x30], &[0xfd, 0xcb, 0, 0], &[0xdd], &[]] {
            assert_eq!(decoded(bytes), None, "{bytes:02x?}");
        }
    }

    #[test]
    fn every_write_to_a_loop_counter_is_known() {
        let of_b = |bytes: &[u8]| {
            let sets = decoded(bytes).unwrap().sets;
            sets.into_iter().find(|(register, _)| *register == Register::B).map(|(_, value)| value)
        };
        assert_eq!(of_b(&[0x06, 16]), Some(Some(16)));
        assert_eq!(of_b(&[0x01, 0x34, 0x12]), Some(Some(0x12)));
        let lost: &[&[u8]] = &[
            &[0x04],
            &[0x05],
            &[0x0b],
            &[0x42],
            &[0x47],
            &[0xc1],
            &[0xcb, 0xc0],
            &[0xed, 0x4b, 0, 0],
            &[0xd9],
            &[0xcb, 0x10],
            &[0x10, 0],
            &[0xf7],
            &[0xed, 0xb0],
            &[0xcd, 0, 0],
            &[0xdd, 0x46, 0],
        ];
        for bytes in lost {
            assert_eq!(of_b(bytes), Some(None), "{bytes:02x?}");
        }
        for kept in [&[0xb8][..], &[0xcb, 0x40], &[0xc5], &[0x38, 0], &[0xd8], &[0x78], &[0xda, 0, 0], &[0x0e, 1]] {
            assert_eq!(of_b(kept), None, "{kept:02x?}");
        }
    }

    #[test]
    fn what_counts_down_is_known() {
        let counts = |bytes: &[u8]| decoded(bytes).unwrap().counts;
        assert_eq!(counts(&[0x10, 0]), Counts::DownUnlessZero(Register::B));
        assert_eq!(counts(&[0x3d]), Counts::Down(Register::A));
        assert_eq!([counts(&[0x20, 0]), counts(&[0xc2, 0, 0])], [Counts::UnlessZero; 2]);
        assert_eq!([counts(&[0x0b]), counts(&[0x35]), counts(&[0x28, 0]), counts(&[0xdd, 0x2b])], [Counts::No; 4]);
    }
}
