//! The comment at the head of a policy, for tools that show it.

/// The comment lines at the start of the file: `// NAME: what it is`, then parts. A part begins with `// Word:` and
/// ends before the next one or at an empty line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The text after the name in the first line.
    pub summary: String,
    /// The parts in order, each with its word: `Goal`, `Source`, `Limits` …
    pub parts: Vec<(String, String)>,
}

impl Header {
    /// Reads the header of a policy's text.
    pub fn of(text: &str) -> Self {
        let mut header = Header::default();
        let mut open = false;
        for (index, line) in text.lines().map_while(|line| line.trim_end().strip_prefix("//")).enumerate() {
            match (index, line.trim().split_once(':')) {
                (_, None) if line.trim().is_empty() => open = false,
                (0, Some((_, summary))) => header.summary = summary.trim().to_owned(),
                // An indented line continues a part, even with a colon.
                (_, Some((word, rest))) if is_word(word) && !line.starts_with("  ") => {
                    header.parts.push((word.to_owned(), rest.trim().to_owned()));
                    open = true;
                }
                _ => {
                    if let Some((_, part)) = header.parts.last_mut().filter(|_| open) {
                        part.push(' ');
                        part.push_str(line.trim());
                    }
                }
            }
        }
        header
    }

    /// The part with this word.
    pub fn part(&self, word: &str) -> Option<&str> {
        self.parts.iter().find(|(name, _)| name == word).map(|(_, text)| text.as_str())
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.chars().all(|letter| letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_go_on_over_lines() {
        let header = Header::of(
            "// fifo: in order.\n//\n// Goal:   one,\n//         two: three\n// Limits: none\n\n// Late: x\nscheduler",
        );
        assert_eq!(header.summary, "in order.");
        assert_eq!(header.part("Goal"), Some("one, two: three"));
        assert_eq!(header.part("Limits"), Some("none"));
        assert_eq!((header.part("Late"), header.parts.len()), (None, 2));
        assert_eq!(Header::of("scheduler x {}"), Header::default());
    }
}
