//! The code of a program as it is linked, with the lines of the source that it comes from.
//!
//! Bytes are those of the image that would be loaded. Which line they come from is read from the linker's listings, which are compared
//! with the bytes, so that listings of another program are not believed.

use std::collections::{BTreeMap, BTreeSet};

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Image {
    bytes: BTreeMap<u16, u8>,
    symbols: BTreeMap<String, u16>,
    names: BTreeMap<u16, String>,
    sources: Vec<Source>,
    places: BTreeMap<u16, usize>,
    words: BTreeMap<u16, u16>,
}

/// A line of a source from which code comes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// The file, as the compiler was told.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The line itself.
    pub text: String,
}

impl Source {
    /// The place in a policy from which a line is generated, if a comment at its end says so: `/* fifo.sched:16 */`.
    pub fn origin(&self) -> Option<&str> {
        let (_, comment) = self.text.strip_suffix("*/")?.rsplit_once("/*")?;
        Some(comment.trim()).filter(|place| place.contains(':') && !place.contains(' '))
    }
}

/// Why files are no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Which file, and which of its lines.
    pub at: String,
    /// What is wrong.
    pub why: String,
}

impl Image {
    /// Reads an image in Intel's hexadecimal format, the linker's list of symbols (`DEF name 0x1234`), and its listings (`.rst`), by their
    /// names.
    pub fn read(bytes: &str, symbols: &str, listings: &[(String, String)]) -> Result<Image, Unreadable> {
        let mut image = Image::default();
        for (number, line) in lines(bytes) {
            image.record(line).map_err(|why| unreadable("the image", number, why))?;
        }
        for (_, line) in lines(symbols) {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let ["DEF", name, value] = words.as_slice()
                && let Some(value) = hexadecimal(value.trim_start_matches("0x"))
                && name.starts_with('_')
                && image.bytes.contains_key(&value)
            {
                image.name(name, value);
            }
        }
        let mut local: BTreeMap<String, BTreeSet<u16>> = BTreeMap::new();
        for (name, listing) in listings {
            let mut reader = Listing { image: &mut image, source: None, local: &mut local };
            for (number, line) in lines(listing) {
                reader.line(line).map_err(|why| unreadable(name, number, why))?;
            }
        }
        for (name, addresses) in local {
            if let (Some(address), 1) = (addresses.first(), addresses.len())
                && !image.symbols.contains_key(&name)
            {
                image.name(&name, *address);
            }
        }
        Ok(image)
    }

    /// The byte at an address.
    pub fn byte(&self, at: u16) -> Option<u8> {
        self.bytes.get(&at).copied()
    }

    /// The address of a symbol.
    pub fn symbol(&self, name: &str) -> Option<u16> {
        self.symbols.get(name).copied()
    }

    /// The symbol at an address.
    pub fn name_at(&self, at: u16) -> Option<&str> {
        self.names.get(&at).map(String::as_str)
    }

    /// The symbol at or before an address.
    pub fn function(&self, at: u16) -> &str {
        self.names.range(..=at).next_back().map_or("the code", |(_, name)| name)
    }

    /// The line from which an instruction comes; `None`: its source is not there.
    pub fn source(&self, at: u16) -> Option<&Source> {
        self.places.get(&at).map(|index| &self.sources[*index])
    }

    /// The table of addresses that begins here. Empty: there is none.
    pub fn table(&self, at: u16) -> Vec<u16> {
        let mut table = Vec::new();
        while let Some(word) = self.words.get(&(at.wrapping_add(2 * u16::try_from(table.len()).unwrap_or(0)))) {
            table.push(*word);
        }
        table
    }

    fn name(&mut self, name: &str, at: u16) {
        self.symbols.insert(name.to_owned(), at);
        self.names.entry(at).or_insert_with(|| name.to_owned());
    }

    fn record(&mut self, line: &str) -> Result<(), String> {
        let digits = line.strip_prefix(':').ok_or("a record begins with a colon")?;
        let all: Option<Vec<u8>> = (0..digits.len() / 2).map(|at| byte(digits.get(2 * at..2 * at + 2)?)).collect();
        let all = all.filter(|all| 2 * all.len() == digits.len()).ok_or("these are no hexadecimal digits")?;
        let [length, high, low, kind, data @ .., _] = all.as_slice() else {
            return Err("the record is too short".to_owned());
        };
        if all.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)) != 0 {
            return Err("the checksum is wrong".to_owned());
        }
        if usize::from(*length) != data.len() {
            return Err("the record has another length".to_owned());
        }
        let start = u16::from_be_bytes([*high, *low]);
        match kind {
            0 => {
                self.bytes.extend((0..).zip(data).map(|(offset, byte)| (start.wrapping_add(offset), *byte)));
                Ok(())
            }
            1 => Ok(()),
            kind => Err(format!("the kind of record is {kind}, and only data of 16-bit addresses are known")),
        }
    }
}

/// A listing that is being read.
struct Listing<'a> {
    image: &'a mut Image,
    /// The line from which what follows comes.
    source: Option<usize>,
    /// Labels that the linker does not list, of all listings.
    local: &'a mut BTreeMap<String, BTreeSet<u16>>,
}

/// Columns of a line: the address, the bytes, and the text behind the line's number.
const ADDRESS: std::ops::Range<usize> = 6..12;
const BYTES: std::ops::Range<usize> = 13..35;
const TEXT: usize = 40;

impl Listing<'_> {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let text = line.get(TEXT..).unwrap_or_default();
        if let Some(comment) = text.strip_prefix(';') {
            if let Some(source) = source(comment).map(known) {
                self.image.sources.push(source);
                self.source = Some(self.image.sources.len() - 1);
            }
            return Ok(());
        }
        let Some(address) = line.get(ADDRESS).and_then(hexadecimal) else { return Ok(()) };
        let bytes: Option<Vec<u8>> = line.get(BYTES).unwrap_or_default().split_whitespace().map(byte).collect();
        let bytes = bytes.ok_or("the listing's bytes are no hexadecimal numbers")?;
        if bytes.is_empty() {
            self.label(text, address);
            return Ok(());
        }
        // Data in memory that is not loaded is listed as well.
        if !self.image.bytes.contains_key(&address) {
            return Ok(());
        }
        for (at, byte) in (0..).map(|offset| address.wrapping_add(offset)).zip(&bytes) {
            if self.image.byte(at) != Some(*byte) {
                return Err(format!(
                    "the listing has {byte:02X} at 0x{at:04X}, the image has not: they are of different programs"
                ));
            }
        }
        if let Some(source) = self.source {
            self.image.places.insert(address, source);
        }
        if let (Some(".dw"), [low, high]) = (text.split_whitespace().next(), bytes.as_slice()) {
            self.image.words.insert(address, u16::from_le_bytes([*low, *high]));
        }
        Ok(())
    }

    fn label(&mut self, text: &str, address: u16) {
        let name = text.split(':').next().unwrap_or_default();
        if text.contains(':') && name.starts_with('_') && self.image.bytes.contains_key(&address) {
            self.local.entry(name.to_owned()).or_default().insert(address);
        }
        // A function begins: what its code comes from is said next.
        if text.contains("::") {
            self.image.names.entry(address).or_insert_with(|| name.to_owned());
        }
    }
}

/// `FILE:LINE: TEXT`
fn source(comment: &str) -> Option<Source> {
    let mut found = None;
    for (at, _) in comment.match_indices(':') {
        let (number, text) = comment[at + 1..].split_once(':')?;
        if let Ok(line) = number.parse() {
            found = Some(Source { file: comment[..at].to_owned(), line, text: text.trim().to_owned() });
            break;
        }
    }
    found.filter(|source| !source.file.is_empty() && !source.file.contains(char::is_whitespace))
}

/// SDCC sometimes puts the code of an inlined function into the caller's file, which has no such line.
fn known(source: Source) -> Source {
    match source.text.starts_with("ERROR: no line number") {
        true => Source { text: "code of an inlined function, in a line of another file".to_owned(), ..source },
        false => source,
    }
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines().map(|line| line.trim_end_matches('\r'))).filter(|(_, line)| !line.is_empty())
}

fn hexadecimal(text: &str) -> Option<u16> {
    u32::from_str_radix(text, 16).ok().and_then(|value| u16::try_from(value).ok())
}

fn byte(text: &str) -> Option<u8> {
    u8::from_str_radix(text, 16).ok()
}

fn unreadable(file: &str, line: usize, why: String) -> Unreadable {
    Unreadable { at: format!("{file}:{line}"), why }
}
