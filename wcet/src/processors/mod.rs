//! Processors: what an instruction is, where it leads, and how many clocks it takes. A file for each processor.

pub mod rabbit;

use rabbit::Counted;
pub use rabbit::Rabbit;

/// A processor whose code can be bounded.
pub trait Processor {
    /// The instruction at an address. `None`: the processor has none with these bytes.
    fn decode(&self, at: u16, byte: &dyn Fn(u16) -> Option<u8>) -> Option<Instruction>;
}

/// The processor of this name, as hosts write it.
pub fn named(name: &str) -> Option<&'static dyn Processor> {
    match name {
        "rabbit2000" => Some(&Rabbit { counted: Counted::Most }),
        _ => None,
    }
}

/// The names that [`named`] knows.
pub const NAMES: &[&str] = &["rabbit2000"];

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Where its first byte is.
    pub at: u16,
    /// How many bytes it has.
    pub length: u16,
    /// As an assembler writes it.
    pub text: String,
    /// The most clocks that it takes if it goes on behind itself.
    pub clocks: u32,
    /// Where else it leads.
    pub flow: Flow,
    /// Which registers hold something else behind it, and what, if that is a constant.
    pub sets: Vec<(Register, Option<u8>)>,
    /// What it does for a loop that counts down.
    pub counts: Counts,
    /// Which registers through which it could be returned have other values behind it.
    pub writes: Vec<Pointer>,
}

/// A register of 8 bits, in which loops can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Register {
    /// A.
    A,
    /// B, which is the upper half of BC.
    B,
    /// C.
    C,
    /// D.
    D,
    /// E.
    E,
    /// H.
    H,
    /// L.
    L,
}

impl Register {
    /// All of them.
    pub const ALL: [Register; 7] =
        [Register::A, Register::B, Register::C, Register::D, Register::E, Register::H, Register::L];
}

/// What an instruction does for a loop that counts down in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Nothing.
    No,
    /// Decrements it by one, and notes whether it is 0 then.
    Down(Register),
    /// Branches unless that is so.
    UnlessZero,
    /// Both.
    DownUnlessZero(Register),
}

/// Where an instruction leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Behind itself.
    Next,
    /// There.
    Jump(u16),
    /// There, in so many clocks, or behind itself.
    Branch(u16, u32),
    /// To a function, which returns behind the instruction.
    Call(u16),
    /// To the caller.
    Return,
    /// To the caller, in so many clocks, or behind itself.
    MayReturn(u32),
    /// To where a register points.
    Through(Pointer),
    /// To itself, in so many clocks, as often as BC says, less one.
    Repeat(u32),
    /// Takes a word off the stack: the address of return, if nothing else has been put there.
    Pop(Pointer),
    /// Where no analysis follows: to other memory, or into the code of an interrupt.
    Away,
}

/// A register that can hold an address of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// HL.
    Hl,
    /// IX.
    Ix,
    /// IY.
    Iy,
}
