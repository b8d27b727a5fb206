//! Where members of structures lie, as debug information has it (DWARF).

use gimli::{
    AttributeValue, DW_AT_byte_size, DW_AT_data_member_location, DW_AT_declaration, DW_AT_encoding, DW_AT_name,
    DW_AT_type, DW_ATE_boolean, DW_ATE_signed, DW_ATE_signed_char, DW_ATE_unsigned, DW_ATE_unsigned_char,
    DW_TAG_atomic_type, DW_TAG_class_type, DW_TAG_const_type, DW_TAG_enumeration_type, DW_TAG_inheritance,
    DW_TAG_member, DW_TAG_structure_type, DW_TAG_typedef, DW_TAG_volatile_type, DebuggingInformationEntry, Dwarf,
    EndianSlice, NativeEndian, Unit, UnitOffset,
};
use object::{Object, ObjectSection};
use std::borrow::Cow;

type Reader<'a> = EndianSlice<'a, NativeEndian>;
type Entry<'a> = DebuggingInformationEntry<Reader<'a>>;

/// Where a member lies, from the start of its structure on, and what it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Place {
    pub offset: u64,
    /// Bytes: 1, 2, 4 or 8.
    pub size: u8,
    pub is_signed: bool,
}

/// What is known of a member.
#[derive(Debug, Eq, PartialEq)]
pub enum Found {
    Place(Place),
    /// It is no number.
    NoNumber,
    /// The structure has only these.
    NoMember(Vec<String>),
    NoStructure,
}

/// The member of the structure. `None`: the file has no debug information that can be read.
pub fn member(file: &object::File<'_>, structure: &str, member: &str) -> Option<Found> {
    file.section_by_name(".debug_info").or_else(|| file.section_by_name(".zdebug_info"))?;
    let load = |id: gimli::SectionId| -> Result<Cow<'_, [u8]>, gimli::Error> {
        let section = file.section_by_name(id.name());
        Ok(section.and_then(|section| section.uncompressed_data().ok()).unwrap_or_default())
    };
    let sections = gimli::DwarfSections::load(load).ok()?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, NativeEndian));
    let mut units = dwarf.units();
    let mut best = Found::NoStructure;
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        match (In { dwarf: &dwarf, unit: &unit }).member(structure, member) {
            Ok(Found::NoStructure) | Err(_) => {}
            Ok(Found::Place(place)) => return Some(Found::Place(place)),
            Ok(found) => best = found,
        }
    }
    Some(best)
}

/// A part of the debug information.
struct In<'a, 'b> {
    dwarf: &'b Dwarf<Reader<'a>>,
    unit: &'b Unit<Reader<'a>>,
}

impl<'a> In<'a, '_> {
    fn member(&self, structure: &str, member: &str) -> Result<Found, gimli::Error> {
        let mut entries = self.unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            let tag = entry.tag();
            let is_such = [DW_TAG_structure_type, DW_TAG_class_type, DW_TAG_typedef].contains(&tag);
            if !is_such || self.name(entry).as_deref() != Some(structure) || entry.attr(DW_AT_declaration).is_some() {
                continue;
            }
            let at = if tag == DW_TAG_typedef { self.plain(entry)? } else { Some(entry.offset()) };
            let Some(at) = at else { continue };
            let mut names = Vec::new();
            if let Some(found) = self.member_of(at, member, 0, &mut names)? {
                return Ok(found);
            }
            if !names.is_empty() {
                return Ok(Found::NoMember(names));
            }
        }
        Ok(Found::NoStructure)
    }

    /// Also of a class from which it inherits. `names` gets those of its members.
    fn member_of(
        &self,
        structure: UnitOffset,
        member: &str,
        start: u64,
        names: &mut Vec<String>,
    ) -> Result<Option<Found>, gimli::Error> {
        let mut tree = self.unit.entries_tree(Some(structure))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            let offset =
                start + entry.attr_value(DW_AT_data_member_location).and_then(|value| value.udata_value()).unwrap_or(0);
            if entry.tag() == DW_TAG_inheritance {
                if let Some(base) = self.plain(entry)?
                    && let Some(found) = self.member_of(base, member, offset, names)?
                {
                    return Ok(Some(found));
                }
            } else if entry.tag() == DW_TAG_member {
                let Some(name) = self.name(entry) else { continue };
                if name == member {
                    return self.number(entry, offset).map(Some);
                }
                names.push(name);
            }
        }
        Ok(None)
    }

    fn number(&self, member: &Entry<'a>, offset: u64) -> Result<Found, gimli::Error> {
        let Some(at) = self.plain(member)? else { return Ok(Found::NoNumber) };
        let entry = self.unit.entry(at)?;
        let size = entry.attr_value(DW_AT_byte_size).and_then(|value| value.udata_value()).unwrap_or(0);
        let signed = [DW_ATE_signed, DW_ATE_signed_char];
        let unsigned = [DW_ATE_unsigned, DW_ATE_unsigned_char, DW_ATE_boolean];
        let is_signed = match entry.attr_value(DW_AT_encoding) {
            Some(AttributeValue::Encoding(one)) if signed.contains(&one) => true,
            Some(AttributeValue::Encoding(one)) if unsigned.contains(&one) => false,
            _ if entry.tag() == DW_TAG_enumeration_type => false,
            _ => return Ok(Found::NoNumber),
        };
        Ok(match u8::try_from(size) {
            Ok(size @ (1 | 2 | 4 | 8)) => Found::Place(Place { offset, size, is_signed }),
            Ok(_) | Err(_) => Found::NoNumber,
        })
    }

    /// The type that an entry has, without other names of it and qualifiers.
    fn plain(&self, entry: &Entry<'a>) -> Result<Option<UnitOffset>, gimli::Error> {
        const DEEPEST: usize = 32;
        let mut value = entry.attr_value(DW_AT_type);
        for _ in 0..DEEPEST {
            let at = match value {
                Some(AttributeValue::UnitRef(at)) => at,
                Some(AttributeValue::DebugInfoRef(at)) => match at.to_unit_offset(&self.unit.header) {
                    Some(at) => at,
                    None => return Ok(None),
                },
                _ => return Ok(None),
            };
            let next = self.unit.entry(at)?;
            let other = [DW_TAG_typedef, DW_TAG_const_type, DW_TAG_volatile_type, DW_TAG_atomic_type];
            if !other.contains(&next.tag()) {
                return Ok(Some(at));
            }
            value = next.attr_value(DW_AT_type);
        }
        Ok(None)
    }

    fn name(&self, entry: &Entry<'a>) -> Option<String> {
        let name = self.dwarf.attr_string(self.unit, entry.attr_value(DW_AT_name)?).ok()?;
        Some(name.to_string_lossy().into_owned())
    }
}
