//! How wide texts are: the advance widths of Liberation Sans, which Arial and Helvetica share. So a picture has room for its texts in a
//! browser of any system, whichever of them it has.

/// As the picture names it.
pub(super) const FONT: &str = "Liberation Sans, Arial, Helvetica, sans-serif";

/// The height that widths are given for.
const HEIGHT: f64 = 2048.0;
/// From the space to the tilde.
#[rustfmt::skip]
const ASCII: [u16; 95] = [
    569, 569, 727, 1139, 1139, 1821, 1366, 391, 682, 682, 797, 1196, 569, 682, 569, 569, 1139, 1139, 1139, 1139,
    1139, 1139, 1139, 1139, 1139, 1139, 569, 569, 1196, 1196, 1196, 1139, 2079, 1366, 1366, 1479, 1479, 1366, 1251,
    1593, 1479, 569, 1024, 1366, 1139, 1706, 1479, 1593, 1366, 1593, 1479, 1366, 1251, 1479, 1366, 1933, 1366, 1366,
    1251, 569, 569, 569, 961, 1139, 682, 1139, 1139, 1024, 1139, 1139, 569, 1139, 1139, 455, 455, 1024, 455, 1706,
    1139, 1139, 1139, 1139, 682, 1024, 569, 1139, 1024, 1479, 1024, 1024, 1024, 684, 532, 684, 1196,
];
/// From the space that does not break to ÿ.
#[rustfmt::skip]
const LATIN: [u16; 96] = [
    569, 682, 1139, 1139, 1139, 1139, 532, 1139, 682, 1509, 758, 1139, 1196, 682, 1509, 1131, 819, 1124, 682, 682,
    682, 1180, 1100, 569, 682, 682, 748, 1139, 1708, 1708, 1708, 1251, 1366, 1366, 1366, 1366, 1366, 1366, 2048,
    1479, 1366, 1366, 1366, 1366, 569, 569, 569, 569, 1479, 1479, 1593, 1593, 1593, 1593, 1593, 1196, 1593, 1479,
    1479, 1479, 1479, 1366, 1366, 1251, 1139, 1139, 1139, 1139, 1139, 1139, 1821, 1024, 1139, 1139, 1139, 1139, 569,
    569, 569, 569, 1139, 1139, 1139, 1139, 1139, 1139, 1139, 1124, 1251, 1139, 1139, 1139, 1139, 1024, 1139, 1024,
];

/// How wide a text is in this size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|character| f64::from(advance(character))).sum::<f64>() * size / HEIGHT
}

/// Others are as wide as they are high, at most.
fn advance(character: char) -> u16 {
    let of = |table: &[u16], first: char| {
        let place = (character as usize).checked_sub(first as usize)?;
        table.get(place).copied()
    };
    of(&ASCII, ' ').or_else(|| of(&LATIN, '\u{a0}')).unwrap_or(2048)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The package fonts-liberation, which scripts/setup installs.
    const FILE: &str = "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf";

    #[test]
    fn widths_are_those_of_the_font() {
        let file = std::fs::read(FILE).unwrap_or_else(|error| panic!("{FILE}: {error}; run: scripts/setup test"));
        let font = ttf_parser::Face::parse(&file, 0).unwrap();
        assert_eq!(f64::from(font.units_per_em()), HEIGHT);
        for character in (' '..='~').chain('\u{a0}'..='ÿ').chain("≤≥×–—…§▼→−█░".chars()) {
            let width = font.glyph_index(character).and_then(|glyph| font.glyph_hor_advance(glyph)).unwrap();
            let told = advance(character);
            let wide = !matches!(character, ' '..='~' | '\u{a0}'..='ÿ');
            assert!(told == width || wide && told > width, "{character}: {told}, and it is {width}");
        }
        assert!((width("mill", 2048.0) - f64::from(1706u16 + 3 * 455)).abs() < 1e-9);
    }
}
