//! Instructions that are done elsewhere, with something before them or in between: the start of a function, and where it
//! returns. In their place the host puts a jump (frameworks/native/beneath/probes.c).

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use std::collections::HashSet;
use std::ops::Range;

/// Whole instructions, none of which is jumped to but the first, as they do the same elsewhere.
#[derive(Debug, Default)]
pub struct Moved {
    /// The address of the first, as the object has them.
    pub start: u64,
    /// Bytes there: at least as many as a jump has.
    pub size: u64,
    /// What is done elsewhere.
    pub code: Vec<u8>,
    /// Of its bytes, those before what is added.
    pub before: usize,
    /// Where in the code there is a distance of four bytes, from its end on. It holds what it leads to.
    pub fixups: Vec<usize>,
}

/// The section with a function's code.
pub struct Text<'a> {
    bytes: &'a [u8],
    address: u64,
    code: Vec<Instruction>,
    targets: HashSet<u64>,
}

/// Bytes of a jump to anywhere near.
const JUMP: u64 = 5;
/// So many distances fit.
const FIXUPS: usize = 8;
/// And so many bytes.
const BYTES: usize = 200;

impl<'a> Text<'a> {
    /// The section's bytes, and its address as the object has them.
    pub fn new(bytes: &'a [u8], address: u64) -> Self {
        let code: Vec<Instruction> = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).into_iter().collect();
        let targets = code.iter().map(Instruction::near_branch_target).filter(|target| *target != 0).collect();
        Text { bytes, address, code, targets }
    }

    /// Whether the address is in it.
    pub fn has(&self, address: u64) -> bool {
        (self.address..self.address + self.bytes.len() as u64).contains(&address)
    }

    fn index(&self, address: u64) -> Option<usize> {
        self.code.binary_search_by_key(&address, Instruction::ip).ok()
    }

    fn can_be_reached_by(&self, size: u64, window: &[Instruction]) -> bool {
        size >= JUMP && window.iter().skip(1).all(|one| !self.targets.contains(&one.ip()))
    }

    // ---- The start of a function ------------------------------------------------------------------------------------

    /// The first instructions of a function. The error is what is in the way.
    pub fn entry(&self, function: &Range<u64>) -> Result<Moved, &'static str> {
        let mut first = self.index(function.start).ok_or("its code cannot be read")?;
        if self.code[first].code() == Code::Endbr64 {
            first += 1; // it is for jumps that come from elsewhere, and does nothing
        }
        let mut moved = Moved { start: self.code[first].ip(), ..Moved::default() };
        let (mut last, mut ended) = (first, false);
        while moved.size < JUMP {
            let one = self.code.get(last).ok_or("it is too short")?;
            if ended && !is_padding(one) {
                return Err("it is shorter than a jump");
            }
            if !ended {
                ended = self.add(&mut moved, one)?;
            }
            moved.size += one.len() as u64;
            last += 1;
        }
        if !self.can_be_reached_by(moved.size, &self.code[first..last]) {
            return Err("it has a loop at its very start");
        }
        if !ended {
            moved.code.push(0xe9);
            moved.leads_to(moved.start + moved.size, 0);
        }
        moved.fits()
    }

    // ---- Where it returns -------------------------------------------------------------------------------------------

    /// All places where it returns, or ends in a jump to another function. `parts`: of its code. `functions`: where
    /// others start.
    pub fn exits(&self, parts: &[Range<u64>], functions: &HashSet<u64>) -> Result<Vec<Moved>, &'static str> {
        let mut exits = Vec::new();
        let inside = |address: u64| parts.iter().any(|part| part.contains(&address));
        for part in parts {
            let first = self.index(part.start).ok_or("its code cannot be read")?;
            let of_part = (first..self.code.len()).take_while(|at| self.code[*at].ip() < part.end);
            for at in of_part {
                let one = &self.code[at];
                let target = one.near_branch_target();
                match one.flow_control() {
                    FlowControl::Return => exits.push(self.around(at, part)?),
                    FlowControl::UnconditionalBranch if !inside(target) || target == parts[0].start => {
                        if !functions.contains(&target) {
                            return Err("it goes on at a place that has no name");
                        }
                        exits.push(self.around(at, part)?);
                    }
                    FlowControl::ConditionalBranch if !inside(target) => {
                        return Err("it goes on elsewhere on a condition");
                    }
                    FlowControl::IndirectBranch if is_call_at_the_end(one) => exits.push(self.around(at, part)?),
                    FlowControl::IndirectBranch => return Err("it has a jump to a place that it computes"),
                    FlowControl::UnconditionalBranch
                    | FlowControl::ConditionalBranch
                    | FlowControl::Next
                    | FlowControl::Call
                    | FlowControl::IndirectCall
                    | FlowControl::Interrupt
                    | FlowControl::XbeginXabortXend
                    | FlowControl::Exception => {}
                }
            }
        }
        if exits.is_empty() { Err("it never returns") } else { Ok(exits) }
    }

    /// The instruction by which a function ends, with what is needed beside it: what never runs behind it, else what
    /// comes before.
    fn around(&self, at: usize, part: &Range<u64>) -> Result<Moved, &'static str> {
        const SHORT: &str = "it returns where there is no room for a jump";
        let (mut first, mut last) = (at, at + 1);
        let mut size = self.code[at].len() as u64;
        while size < JUMP && self.code.get(last).is_some_and(|one| is_padding(one) && !self.targets.contains(&one.ip()))
        {
            size += self.code[last].len() as u64;
            last += 1;
        }
        while size < JUMP {
            if first == 0 || self.code[first].ip() <= part.start || self.targets.contains(&self.code[first].ip()) {
                return Err(SHORT);
            }
            first -= 1;
            size += self.code[first].len() as u64;
        }
        let mut moved = Moved { start: self.code[first].ip(), size, ..Moved::default() };
        for one in &self.code[first..at] {
            if self.add(&mut moved, one).map_err(|_| SHORT)? {
                return Err(SHORT);
            }
        }
        moved.before = moved.code.len();
        self.add(&mut moved, &self.code[at])?;
        moved.fits()
    }

    // ---- Instructions -----------------------------------------------------------------------------------------------

    /// Moves one more. Returns whether nothing follows it.
    fn add(&self, moved: &mut Moved, one: &Instruction) -> Result<bool, &'static str> {
        let at = usize::try_from(one.ip() - self.address).unwrap_or_default();
        let bytes = &self.bytes[at..at + one.len()];
        match one.flow_control() {
            FlowControl::Next if one.code() != Code::Syscall => {
                if one.is_ip_rel_memory_operand() {
                    self.relative(moved, one, bytes)?;
                } else {
                    moved.code.extend(bytes);
                }
                Ok(false)
            }
            FlowControl::Return => {
                moved.code.extend(bytes);
                Ok(true)
            }
            FlowControl::IndirectBranch => {
                if one.is_ip_rel_memory_operand() {
                    self.relative(moved, one, bytes)?;
                } else {
                    moved.code.extend(bytes);
                }
                Ok(true)
            }
            FlowControl::UnconditionalBranch if matches!(bytes[0], 0xe9 | 0xeb) => {
                moved.code.push(0xe9);
                moved.leads_to(one.near_branch_target(), 0);
                Ok(true)
            }
            FlowControl::ConditionalBranch if matches!(bytes[0], 0x70..=0x7f) || bytes[0] == 0x0f => {
                let condition = if bytes[0] == 0x0f { bytes[1] } else { bytes[0] } & 0x0f;
                moved.code.extend([0x0f, 0x80 | condition]);
                moved.leads_to(one.near_branch_target(), 0);
                Ok(false)
            }
            FlowControl::Next
            | FlowControl::UnconditionalBranch
            | FlowControl::ConditionalBranch
            | FlowControl::Call
            | FlowControl::IndirectCall
            | FlowControl::Interrupt
            | FlowControl::XbeginXabortXend
            | FlowControl::Exception => Err("it begins with something that cannot be done elsewhere"),
        }
    }

    fn relative(&self, moved: &mut Moved, one: &Instruction, bytes: &[u8]) -> Result<(), &'static str> {
        let mut decoder = Decoder::with_ip(64, bytes, one.ip(), DecoderOptions::NONE);
        let decoded = decoder.decode();
        let offsets = decoder.get_constant_offsets(&decoded);
        if !offsets.has_displacement() || offsets.displacement_size() != 4 {
            return Err("it begins with something that cannot be done elsewhere");
        }
        let place = moved.code.len() + offsets.displacement_offset();
        let behind = bytes.len() - offsets.displacement_offset() - 4;
        moved.code.extend(bytes);
        moved.put(place, one.ip_rel_memory_address().wrapping_sub(behind as u64));
        Ok(())
    }
}

/// What compilers put between functions.
fn is_padding(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3)
}

/// A call of another function, at the end of this one, through a pointer. Other such jumps may be those of a `switch`.
fn is_call_at_the_end(jump: &Instruction) -> bool {
    jump.op0_kind() == OpKind::Memory && jump.memory_index() == Register::None
}

impl Moved {
    /// Whether both change the same instructions.
    pub fn overlaps(&self, other: &Moved) -> bool {
        self.start < other.start + other.size && other.start < self.start + self.size
    }

    /// Adds a distance. `behind`: bytes of its instruction that follow.
    fn leads_to(&mut self, target: u64, behind: u64) {
        let place = self.code.len();
        self.code.extend([0; 4]);
        self.put(place, target.wrapping_sub(behind));
    }

    fn put(&mut self, place: usize, value: u64) {
        self.code[place..place + 4].copy_from_slice(&value.to_le_bytes()[..4]);
        self.fixups.push(place);
    }

    fn fits(self) -> Result<Moved, &'static str> {
        let fits = self.fixups.len() <= FIXUPS && self.code.len() <= BYTES && self.size < 64;
        if fits { Ok(self) } else { Err("its instructions are too long") }
    }
}
