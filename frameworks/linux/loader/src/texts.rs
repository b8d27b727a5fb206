//! What an object says of its policy: the section `.rodata.texts` (bpf/texts.bpf.h).

/// The texts of a policy.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The policy's name, and its file.
    pub policy: String,
    pub source: String,
    /// By the numbers that handlers return, from 1.
    pub stops: Vec<Stop>,
    /// Imported variables, by their numbers: of the policy, and of each thread.
    pub imports: Vec<Import>,
    pub thread_imports: Vec<Import>,
    /// The events of timers, by their numbers: `timeout.slice`.
    pub timeouts: Vec<String>,
}

/// Why a handler stops.
#[derive(Debug, PartialEq, Eq)]
pub struct Stop {
    /// The request is refused; else a guard has failed.
    pub is_refusal: bool,
    pub line: String,
    pub text: String,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    pub name: String,
    /// `int`, `bool` or `time`.
    pub ty: String,
}

impl Texts {
    /// Reads the section.
    pub fn read(section: &[u8]) -> Result<Self, String> {
        let mut texts = Texts::default();
        let mut words = section.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        while let Some(kind) = words.next().filter(|kind| !kind.is_empty()) {
            let mut word = || words.next().ok_or("the texts of the object end early");
            match kind.as_str() {
                "s" => {
                    let (why, line, text) = (word()?, word()?, word()?);
                    texts.stops.push(Stop { is_refusal: why == "FAIL", line, text });
                }
                "p" => (texts.policy, texts.source) = (word()?, word()?),
                "i" => texts.imports.push(Import { name: word()?, ty: word()? }),
                "t" => texts.thread_imports.push(Import { name: word()?, ty: word()? }),
                "e" => texts.timeouts.push(word()?),
                other => return Err(format!("the object has texts of an unknown kind, `{other}`")),
            }
        }
        Ok(texts)
    }
}

/// The text of a reason with its values. In the place of each stands a character that is its type (compiler/src/emit/c).
pub fn filled(text: &str, values: &[i64]) -> String {
    let mut values = values.iter();
    let mut out = String::new();
    for character in text.chars() {
        let value = if ('\u{1}'..='\u{3}').contains(&character) { values.next() } else { None };
        match (character, value) {
            ('\u{1}', Some(value)) => out.push_str(&value.to_string()),
            ('\u{2}', Some(value)) => out.push_str(&duration(*value)),
            ('\u{3}', Some(value)) => out.push_str(if *value == 0 { "false" } else { "true" }),
            _ => out.push(character),
        }
    }
    out
}

/// As a policy writes it: a multiple of the longest unit that divides it.
fn duration(nanoseconds: i64) -> String {
    const UNITS: [(&str, i64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000), ("ns", 1)];
    let fits = |(_, length): &(&str, i64)| nanoseconds != 0 && nanoseconds % length == 0;
    let (unit, length) = UNITS.into_iter().find(fits).unwrap_or(("ns", 1));
    format!("{}{unit}", nanoseconds / length)
}

#[cfg(test)]
mod tests {
    use super::{Import, Stop, Texts, filled};

    #[test]
    fn values_stand_where_their_types_are() {
        let text = "\u{1} of \u{2}, \u{3}\u{1}";
        assert_eq!(filled(text, &[-3, 1_500_000, 1, 0]), "-3 of 1500us, true0");
        assert_eq!(filled("\u{2}", &[0, 0, 0, 0]), "0ns");
    }

    #[test]
    fn each_kind_of_text_is_read() {
        let texts = Texts::read(
            b"p\0edf\0edf.sched\0s\0FAIL\x007\0full\0i\0quantum\0time\0t\0share\0int\0e\0timeout.slice\0\0",
        )
        .unwrap();
        assert_eq!((texts.policy.as_str(), texts.source.as_str()), ("edf", "edf.sched"));
        assert_eq!(texts.stops, [Stop { is_refusal: true, line: "7".to_owned(), text: "full".to_owned() }]);
        assert_eq!(texts.imports, [Import { name: "quantum".to_owned(), ty: "time".to_owned() }]);
        assert_eq!(texts.thread_imports, [Import { name: "share".to_owned(), ty: "int".to_owned() }]);
        assert_eq!(texts.timeouts, ["timeout.slice"]);
        assert!(Texts::read(b"p\0edf\0edf.sched\0s\0GUARD").is_err() && Texts::read(b"x\0").is_err());
    }
}
