//! The nine letters that name the columns of a contact sheet, 5 × 7 pixels each.

/// Pixels that a letter may take, across and down; the last two rows are below the line of writing.
pub(crate) const GLYPH: (usize, usize) = (5, 9);

/// How far a letter hangs below the top, and one string a row of pixels, `#` for ink. Only what `original`, `clean` and
/// `error` need: a font file would be the larger part of this crate.
const LETTERS: [(char, usize, [&str; 7]); 9] = [
    ('a', 0, ["     ", "     ", " ### ", "    #", " ####", "#   #", " ####"]),
    ('c', 0, ["     ", "     ", " ####", "#    ", "#    ", "#    ", " ####"]),
    ('e', 0, ["     ", "     ", " ### ", "#   #", "#####", "#    ", " ####"]),
    ('g', 2, [" ####", "#   #", "#   #", "#   #", " ####", "    #", " ### "]),
    ('i', 0, ["  #  ", "     ", " ##  ", "  #  ", "  #  ", "  #  ", " ### "]),
    ('l', 0, [" ##  ", "  #  ", "  #  ", "  #  ", "  #  ", "  #  ", " ### "]),
    ('n', 0, ["     ", "     ", "# ## ", "##  #", "#   #", "#   #", "#   #"]),
    ('o', 0, ["     ", "     ", " ### ", "#   #", "#   #", "#   #", " ### "]),
    ('r', 0, ["     ", "     ", "# ## ", "##  #", "#    ", "#    ", "#    "]),
];

/// Pixels that a word takes across, with one between letters.
pub(crate) fn word_width(word: &str) -> usize {
    (word.chars().count() * (GLYPH.0 + 1)).saturating_sub(1)
}

/// The (column, row) of every inked pixel of a word.
pub(crate) fn ink(word: &str) -> impl Iterator<Item = (usize, usize)> {
    word.chars().enumerate().flat_map(|(place, letter)| {
        let (_, drop, rows) = LETTERS.iter().find(|l| l.0 == letter).expect("every heading letter has a glyph");
        let pixels = rows.iter().enumerate().flat_map(|(y, row)| row.bytes().enumerate().map(move |(x, b)| (x, y, b)));
        pixels.filter(|&(_, _, b)| b == b'#').map(move |(x, y, _)| (place * (GLYPH.0 + 1) + x, drop + y))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_fits_its_box_and_no_two_look_alike() {
        for (i, (letter, drop, rows)) in LETTERS.iter().enumerate() {
            assert!(rows.iter().all(|row| row.len() == GLYPH.0) && drop + rows.len() <= GLYPH.1, "{letter}");
            assert!(LETTERS[..i].iter().all(|(_, _, other)| other != rows), "{letter}");
        }
    }

    #[test]
    fn ink_stays_within_the_word() {
        for word in ["original", "clean", "error"] {
            assert!(ink(word).all(|(x, y)| x < word_width(word) && y < GLYPH.1));
        }
    }
}
