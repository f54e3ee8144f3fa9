//! A grid of terminal cells, each of 2 × 4 braille dots.

/// Dots per cell, across and down.
pub(crate) const DOTS: (usize, usize) = (2, 4);

/// The bit of each dot within its cell, by row then column, as Unicode numbers them from U+2800.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// Dots with characters over or behind them; (0, 0) is the top left.
#[derive(Debug, Clone)]
pub(crate) struct Canvas {
    cols: usize,
    rows: usize,
    dots: Vec<u8>,
    over: Vec<Option<char>>,
}

impl Canvas {
    pub fn new(cols: usize, rows: usize) -> Self {
        Self { cols, rows, dots: vec![0; cols * rows], over: vec![None; cols * rows] }
    }

    pub fn cols(&self) -> usize {
        self.cols
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The dot column at a share of the width.
    pub fn dot_x(&self, share: f64) -> usize {
        (share * (DOTS.0 * self.cols - 1) as f64).round() as usize
    }

    /// The dot row at a share of the height, counted from the bottom as a chart is.
    pub fn dot_y(&self, share: f64) -> usize {
        ((1.0 - share) * (DOTS.1 * self.rows - 1) as f64).round() as usize
    }

    pub fn dot(&mut self, x: usize, y: usize) {
        self.dots[y / DOTS.1 * self.cols + x / DOTS.0] |= BITS[y % DOTS.1][x % DOTS.0];
    }

    /// Draws, for every dot column, the dot rows from where the curve enters to where it leaves, joined to
    /// the column before so that a jump does not tear the curve.
    pub fn curve(&mut self, columns: &[(usize, usize)]) {
        let mut before = columns.first().map_or(0, |&(enter, _)| enter);
        for (x, &(enter, leave)) in columns.iter().enumerate() {
            let (top, bottom) = (before.min(enter).min(leave), before.max(enter).max(leave));
            (top..=bottom).for_each(|y| self.dot(x, y));
            before = leave;
        }
    }

    /// Puts a character over whatever is drawn in the cell.
    pub fn mark(&mut self, col: usize, row: usize, sign: char) {
        self.over[row * self.cols + col] = Some(sign);
    }

    /// Puts a character into a cell that is still empty; the curve stays in front.
    pub fn behind(&mut self, col: usize, row: usize, sign: char) {
        let cell = row * self.cols + col;
        if self.dots[cell] == 0 && self.over[cell].is_none() {
            self.over[cell] = Some(sign);
        }
    }

    /// One text line of exactly `cols` characters.
    pub fn line(&self, row: usize) -> String {
        let cell = |cell: usize| match (self.over[cell], self.dots[cell]) {
            (Some(sign), _) => sign,
            (None, 0) => ' ', // U+2800 is blank too, but some fonts draw its empty dots
            (None, bits) => char::from_u32(0x2800 + u32::from(bits)).expect("U+2800 … U+28FF are all braille"),
        };
        (row * self.cols..(row + 1) * self.cols).map(cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dot_is_drawn_where_it_lies() {
        let drawn = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)].map(|(x, y)| {
            let mut canvas = Canvas::new(1, 1);
            canvas.dot(x, y);
            canvas.line(0)
        });
        assert_eq!(drawn, ["⠁", "⠂", "⠄", "⡀", "⠈", "⠐", "⠠", "⢀"]);
    }

    #[test]
    fn the_ends_of_an_axis_are_the_corners() {
        let mut canvas = Canvas::new(2, 2);
        let ends = [(canvas.dot_x(0.0), canvas.dot_y(0.0)), (canvas.dot_x(1.0), canvas.dot_y(1.0))];
        ends.into_iter().for_each(|(x, y)| canvas.dot(x, y));
        assert_eq!([canvas.line(0), canvas.line(1)], [" ⠈", "⡀ "]);
    }

    #[test]
    fn a_jump_does_not_tear_the_curve() {
        let mut canvas = Canvas::new(2, 1);
        canvas.curve(&[(3, 3), (3, 3), (0, 0), (1, 2)]);
        assert_eq!(canvas.line(0), "⣀⡿");
    }

    #[test]
    fn the_curve_stays_in_front_of_lines_and_behind_marks() {
        let mut canvas = Canvas::new(3, 1);
        canvas.curve(&[(0, 0); 4]);
        (0..3).for_each(|col| canvas.behind(col, 0, '╌'));
        canvas.mark(0, 0, '●');
        assert_eq!(canvas.line(0), "●⠉╌");
    }
}
