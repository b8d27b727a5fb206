//! Why code has no bound.

use crate::image::{Image, Source};

/// A place in the code that cannot be bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub why: Why,
    /// The address of the instruction.
    pub at: u16,
    /// The function that it belongs to.
    pub function: String,
    /// The line that it comes from, if that is known.
    pub source: Option<Source>,
}

/// What is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The processor has no instruction of these bytes.
    Unknown(Vec<u8>),
    /// Nobody says how many turns a loop has.
    Endless,
    /// Two loops of the source have become one.
    Merged(Box<[Source; 2]>),
    /// A loop is entered in several places, and no instruction is on each way round.
    Tangled,
    /// A function calls itself, perhaps through these others.
    Recursive(Vec<String>),
    /// Where a jump through a register leads is not known.
    Indirect,
    /// It leads to other memory, or to where interrupts go.
    Away,
    /// How many bytes are moved is not known.
    Move,
    /// A loop switches to another thread.
    SwitchesInLoop,
    /// A thread that has come back switches once more before it returns.
    SwitchesAgain,
    /// Every path ends in a failure.
    NoPath,
}

impl Refused {
    /// At an address of a program.
    pub fn at(image: &Image, at: u16, why: Why) -> Refused {
        Refused { why, at, function: image.function(at).to_owned(), source: image.source(at).cloned() }
    }

    /// What a message says of it.
    pub fn title(&self) -> String {
        match &self.why {
            Why::Unknown(bytes) => {
                let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
                format!("no instruction of the processor has the bytes {}", bytes.join(" "))
            }
            Why::Endless => "the number of turns of this loop has no bound".to_owned(),
            Why::Merged(both) => {
                let places = both.each_ref().map(|source| format!("{}:{}", source.file, source.line));
                format!("two loops have become one in the object code: of {}", places.join(" and "))
            }
            Why::Tangled => "this loop is entered in several places, and has no head".to_owned(),
            Why::Recursive(through) => format!("the code calls itself: {}", through.join(", ")),
            Why::Indirect => "where this jump leads is not known".to_owned(),
            Why::Away => "this instruction leads out of the code that is known".to_owned(),
            Why::Move => "the number of bytes that are moved here is not known".to_owned(),
            Why::SwitchesInLoop => "a loop in which another thread goes on has no bound".to_owned(),
            Why::SwitchesAgain => "a thread that has come back switches once more before it returns".to_owned(),
            Why::NoPath => "no path through this function returns".to_owned(),
        }
    }
}
