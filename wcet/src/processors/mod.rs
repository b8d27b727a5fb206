//! Processors: what an instruction is, where it leads, and how many clocks it takes. A file for each processor.

pub mod rabbit;

pub use rabbit::Rabbit;
use rabbit::Counted;

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
    /// What is known of the loop counter behind it.
    pub counter: Counter,
    /// Which registers through which it could be returned have other values behind it.
    pub writes: Vec<Pointer>,
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
    /// As [`Flow::Branch`], after the loop counter has been decremented, and is not 0.
    Count(u16, u32),
    /// To a function, which returns behind the instruction.
    Call(u16),
    /// To the caller.
    Return,
    /// To the caller, in so many clocks, or behind itself.
    MayReturn(u32),
    /// To where a register points.
    Through(Pointer),
    /// To itself, in so many clocks, as often as a counter of 16 bits says, less one.
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

/// What an instruction does with the register in which loops count, of 8 bits, and with that of repeated moves, of 16, of which it is the
/// upper half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Nothing.
    Kept,
    /// Both hold something else, which is not known.
    Lost,
    /// The register of 8 bits is set to this; the other half is kept.
    High(u8),
    /// Its other half is set to this.
    Low(u8),
    /// Both: set to this.
    Word(u16),
}
