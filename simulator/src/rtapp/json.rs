//! JSON as rt-app's `workgen` accepts it: with C's comments, with commas after the last element, and with the same name
//! several times in an object, in order: `"run": 5, "sleep": 5, "run": 5`.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Text(String),
    Whole(i64),
    Object(Vec<(String, Json)>),
    List(Vec<Json>),
    Flag(bool),
    /// No part of a workload.
    Other,
}

impl Json {
    /// Reads a text, or returns what is wrong, and where.
    pub(super) fn read(text: &str) -> Result<Json, (String, Range<usize>)> {
        serde_json::from_str(&strict(text)).map_err(|error| {
            let what = error.to_string();
            let what = what.split_once(" at line ").map_or(what.as_str(), |(what, _)| what);
            let what = match what.strip_prefix("EOF while parsing ") {
                Some(_) if text.trim().is_empty() => "the file is empty".to_owned(),
                Some(part) => format!("the file ends in {part}, which is not closed"),
                None => format!("this is no JSON: {what}"),
            };
            let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
            let mut start = (before + error.column().saturating_sub(1)).min(text.len());
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let length = text[start..].chars().next().map_or(0, char::len_utf8);
            (what, start..start + length)
        })
    }
}

/// The members of an object, with their names in places: `run`, and the second one `run[2]`.
pub(super) fn labelled(object: &[(String, Json)]) -> impl Iterator<Item = (String, &str, &Json)> {
    let mut counts = HashMap::new();
    object.iter().map(move |(name, value)| {
        let count = counts.entry(name.as_str()).or_insert(0_usize);
        *count += 1;
        (label(name, *count), name.as_str(), value)
    })
}

fn label(name: &str, count: usize) -> String {
    if count == 1 { name.to_owned() } else { format!("{name}[{count}]") }
}

/// The position of a name by its place, such as `tasks.a.run[2]`; or of the last one on the way. `text` is readable.
pub(super) fn position(text: &str, place: &str) -> Option<Range<usize>> {
    let text = strict(text);
    let mut place = place;
    loop {
        if let Some(found) = name_at(&text, place) {
            return Some(found);
        }
        (place, _) = place.rsplit_once('.')?;
    }
}

/// An object or list on the way.
#[derive(Default)]
struct Level {
    place: Option<String>,
    counts: HashMap<String, usize>,
    /// A string here is a name, not a value.
    names: bool,
}

fn name_at(text: &str, place: &str) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut levels: Vec<Level> = Vec::new();
    // The place of the next value.
    let mut next = Some(String::new());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' => levels.push(Level { place: next.take(), names: true, ..Level::default() }),
            b'[' => levels.push(Level::default()),
            b'}' | b']' => drop(levels.pop()),
            b',' => levels.iter_mut().last()?.names = true,
            b'"' => {
                while *bytes.get(at)? != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
                let Some(Level { place: Some(above), counts, names }) = levels.last_mut() else { continue };
                if !std::mem::take(names) {
                    continue;
                }
                let name: String = serde_json::from_str(text.get(start..at)?).ok()?;
                let count = counts.entry(name.clone()).or_insert(0);
                *count += 1;
                let label = label(&name, *count);
                let here = if above.is_empty() { label } else { format!("{above}.{label}") };
                if here == place {
                    return Some(start..at);
                }
                next = Some(here);
            }
            _ => {}
        }
    }
    None
}

/// The first member of this name.
pub(super) fn find<'j>(object: &'j [(String, Json)], name: &str) -> Option<&'j Json> {
    object.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Json;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Json, E> {
        Ok(Json::Flag(flag))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Whole(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        // Too large for anything.
        Ok(Json::Whole(i64::try_from(value).unwrap_or(i64::MAX)))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            all.push(one);
        }
        Ok(Json::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(entry) = map.next_entry()? {
            object.push(entry);
        }
        Ok(Json::Object(object))
    }
}

/// The text with blanks instead of comments and of commas before an end, so that places in messages stay right.
fn strict(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut quoted) = (0, false);
    // A comma that was followed only by blanks and comments.
    let mut comma = None;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let comment = match rest {
            [b'/', b'/', ..] if !quoted => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] if !quoted => {
                rest.windows(2).skip(2).position(|end| end == b"*/").map_or(rest.len(), |end| end + 4)
            }
            _ => 0,
        };
        if comment > 0 {
            bytes[at..at + comment].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
            at += comment;
            continue;
        }
        match bytes[at] {
            b'\\' if quoted => at += 1,
            b'"' => (quoted, comma) = (!quoted, None),
            b',' if !quoted => comma = Some(at),
            b'}' | b']' if !quoted => {
                if let Some(last) = comma.take() {
                    bytes[last] = b' ';
                }
            }
            byte if !byte.is_ascii_whitespace() => comma = None,
            _ => {}
        }
        at += 1;
    }
    // Only whole comments become blanks, so it is still text.
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_loose_is_strict() {
        assert_eq!(strict("{ \"a\": 1, /* é */ }"), "{ \"a\": 1           }");
        assert_eq!(strict("[1, // ,\n]"), "[1      \n]");
        assert_eq!(strict("{\"a,}\": \"/*\\\"*/,]\"}"), "{\"a,}\": \"/*\\\"*/,]\"}");
        for odd in ["/", "/*", "/*/", "\"\\", ",", "//", "/**/,}"] {
            assert_eq!(strict(odd).len(), odd.len());
        }
    }

    #[test]
    fn places_are_found() {
        let text = "{ /* \"tasks\": */ \"x\": [\"tasks\", {\"tasks\": 1}], \"tasks\": {\n \"a\": {\"run\": \"run\", \"run\": 2, \"é\": 3,},},}";
        let at = |place: &str| position(text, place).map(|range| (text[..range.start].len(), &text[range]));
        let after = |part: &str| text.find(part).map(|at| at + part.len());
        assert_eq!(at("tasks"), after("1}], ").map(|at| (at, "\"tasks\"")));
        assert_eq!(at("tasks.a.run"), after("\"a\": {").map(|at| (at, "\"run\"")));
        assert_eq!(at("tasks.a.run[2]"), after("\"run\": \"run\", ").map(|at| (at, "\"run\"")));
        assert_eq!(at("tasks.a.é.x.y").map(|(_, name)| name), Some("\"é\""), "the last that there is");
        assert_eq!(at("nothing"), None);
        assert_eq!(Json::read("{\n \"a\": x}").err(), Some(("this is no JSON: expected value".to_owned(), 8..9)));
    }

    #[test]
    fn a_name_can_stand_several_times() {
        let read = Json::read("{\"run\": 5, \"run\": 18446744073709551615, \"x\": [1.5, null],}");
        let names: Vec<String> = match read {
            Ok(Json::Object(object)) => object.into_iter().map(|(name, value)| format!("{name} {value:?}")).collect(),
            Ok(_) | Err(_) => Vec::new(),
        };
        assert_eq!(names, ["run Whole(5)", "run Whole(9223372036854775807)", "x List([Other, Other])"]);
    }
}
