//! The pages of HTML that `systrace` writes. They contain the text of ftrace between lines of a program that shows it.
//! In that text, characters that mean something to HTML or the program are escaped; this is undone.

use std::borrow::Cow;

/// Where the text is.
#[derive(Default)]
pub(super) enum Page {
    /// The file is no page, but all text.
    #[default]
    None,
    /// Before the text, between its parts, or after it.
    Outside,
    /// In `<script class="trace-data" type="application/text">`.
    Inside,
    /// In `var linuxPerfData = "\`, as in older pages: each line ends with `\n\`, but the last one may end with `\n";`.
    Quoted,
}

impl Page {
    /// Whether a file with this beginning is a page.
    pub(super) fn of(start: &[u8]) -> Self {
        let start = String::from_utf8_lossy(&start[..start.len().min(1 << 10)]).to_lowercase();
        let start = start.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}');
        let is_page = ["<!doctype html", "<html", "<!--", "<head"].iter().any(|tag| start.starts_with(tag));
        if is_page { Page::Outside } else { Page::None }
    }

    pub(super) fn is_page(&self) -> bool {
        !matches!(self, Page::None)
    }

    /// The part of a line that is text of the recording.
    pub(super) fn text<'l>(&mut self, line: &'l str) -> Option<Cow<'l, str>> {
        match self {
            Page::None => Some(Cow::Borrowed(line)),
            Page::Outside => {
                if let Some(text) = assigned(line) {
                    *self = Page::Quoted;
                    // The text may begin in this line.
                    return if text.trim_end() == "\\" { None } else { self.text(text) };
                }
                let (_, after) = line.split_once("class=\"trace-data\"")?;
                let (_, text) = after.split_once('>')?;
                *self = Page::Inside;
                // The text may begin and end in this line.
                self.text(text)
            }
            Page::Inside => match line.split_once("</script") {
                Some((text, _)) => {
                    *self = Page::Outside;
                    Some(decoded(text))
                }
                None => Some(decoded(line)),
            },
            Page::Quoted => {
                let line = line.trim_end();
                let text = line.strip_suffix("\\n\\").unwrap_or_else(|| {
                    *self = Page::Outside;
                    let last = line.trim_end_matches(';').trim_end();
                    // In a line that was cut off, all is text.
                    let text = last.strip_suffix('"').unwrap_or(line);
                    text.strip_suffix("\\n").unwrap_or(text)
                });
                let is_over = text.is_empty() && matches!(self, Page::Outside);
                (!is_over).then(|| Cow::Owned(unquoted(&decoded(text))))
            }
        }
    }
}

/// The start of the text, in a line of the program.
fn assigned(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("linuxPerfData")?;
    after.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')
}

/// HTML's names for characters.
const NAMED: [(&str, char); 6] = [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("nbsp", ' ')];

/// Undoes `&lt;`, `&#60;`, `&#x3c;` and the like, each once: `&amp;lt;` becomes `&lt;`.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let found = after.split_once(';').and_then(|(name, after)| Some((letter(name)?, after)));
        let (letter, after) = found.unwrap_or(('&', after));
        out.push(letter);
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn letter(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else {
        return NAMED.iter().find(|(known, _)| *known == name).map(|(_, letter)| *letter);
    };
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    // An escaped line end would split the line.
    let letter = char::from_u32(u32::from_str_radix(digits, radix).ok().filter(|_| is_number)?)?;
    (!letter.is_control()).then_some(letter)
}

/// The content of a string of the program, in which quotes and backslashes have a backslash before them.
fn unquoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_before = letter == '\\' && letters.peek().is_some_and(|next| matches!(next, '\\' | '"' | '\'' | '/'));
        out.push(if is_before { letters.next().unwrap_or(letter) } else { letter });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(page: &str) -> Vec<Cow<'_, str>> {
        let mut reader = Page::of(page.as_bytes());
        assert!(reader.is_page());
        page.lines().filter_map(|line| reader.text(line)).filter(|line| !line.is_empty()).collect()
    }

    #[test]
    fn what_html_writes_in_another_way_is_undone() {
        for (written, meant) in [
            ("a &lt;...&gt;-1 &quot;b&quot; &amp;&amp; &#39;c&#39; ==&#62; d", "a <...>-1 \"b\" && 'c' ==> d"),
            ("&#x3c;idle&#X3E;", "<idle>"),
            ("&amp;lt; &amp;amp;", "&lt; &amp;"),
            (
                "a & b &; &x; &#; &#x; &#+5; &#0; &#10; &#xd800; &#99999999999; &lt",
                "a & b &; &x; &#; &#x; &#+5; &#0; &#10; &#xd800; &#99999999999; &lt",
            ),
            ("&#233;&apos;", "\u{e9}'"),
        ] {
            assert_eq!(decoded(written), meant);
            let page =
                format!("<html>\n<script class=\"trace-data\" type=\"application/text\">\n{written}\n</script>\n");
            assert_eq!(text(&page), [meant]);
        }
        assert_eq!(unquoted(r#"a \"b\" \\ \d \"#), r#"a "b" \ \d \"#);
    }

    #[test]
    fn the_text_of_a_page_is_found() {
        let new = "<!DOCTYPE html>\n<html>\n<script>\nvar a = 'sched_switch: ';\n</script>\n\
                   <script class=\"trace-data\" type=\"application/text\">\n# tracer: nop\n a-1 [000] 1.0: x: y\n</script>\n\
                   <script class=\"trace-data\" type=\"application/text\"> b\n c </script>\nd\n</html>\n";
        assert_eq!(text(new), ["# tracer: nop", " a-1 [000] 1.0: x: y", " b", " c "]);
        let old = "<html>\n<script>\n  var linuxPerfData = \"\\\n# tracer: nop\\n\\\n a-1 [000] 1.0: x: y\\n\\\n\";\nvar b;\n</script>";
        assert_eq!(text(old), ["# tracer: nop", " a-1 [000] 1.0: x: y"]);
        let head = "<html>\n<script>\nvar linuxPerfData = ";
        for (written, meant) in [
            ("\"\\\n a: b\\n\\\n c: d\\n\";\nvar b;\n", &[" a: b", " c: d"][..]),
            ("\"\\\n a: b\\n\\\n c: \\\"d\\\"\"\nvar b;\n", &[" a: b", " c: \"d\""]),
            ("\" a: b\\n\\\n c: d\\n\" ;\n", &[" a: b", " c: d"]),
            ("\" a: b\";\nvar b = \"c\";", &[" a: b"]),
            ("\"\";\nvar b = \"c\";", &[]),
            ("\"\\\n a: b\\n\\\n c: d", &[" a: b", " c: d"]),
            ("\"\\\n a: b\\n\\\r\n c: d\\n\";\r\n", &[" a: b", " c: d"]),
            ("other;\nvar b = \"c\\n\\\n\";", &[]),
        ] {
            assert_eq!(text(&format!("{head}{written}")), meant, "{written}");
        }
        assert!(!Page::of(b"# tracer: nop\n<html>").is_page());
        assert!(Page::of(b"\xef\xbb\xbf \n<HTML>").is_page());
    }
}
