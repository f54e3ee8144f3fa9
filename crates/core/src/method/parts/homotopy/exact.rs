//! The path to λ, and the check of what it ends in.

use eigenspan_linalg::rows::{combine, first_above};

use super::{COLLINEAR, Change, Ended, MOST_IDLE, Path, ROUNDING, ULP};

impl Path<'_> {
    /// Follows the path to λ and checks its end.
    pub(super) fn exact(&mut self, b: &[f64], square: f64, lambda: f64) -> Ended {
        let largest = self.mu;
        let ended = self.walk(b, lambda, 4.0 * ULP * largest);
        self.settle(b);
        if self.meets_conditions(b, square, ROUNDING * largest) { ended } else { Ended::Stuck }
    }

    /// Steps up to `least` count as none.
    fn walk(&mut self, b: &[f64], lambda: f64, least: f64) -> Ended {
        let mut idle = 0;
        while self.steps < self.asked.max_iter {
            self.steps += 1;
            self.direct();
            let (step, change) = self.next_exact(lambda);
            self.advance(step);
            self.mu -= step;
            self.last_left = None;
            match change {
                None => {
                    self.mu = lambda;
                    return Ended::Target;
                }
                Some(Change::Enter(j, sign)) => self.enter(j, sign),
                Some(Change::Leave(place)) => self.leave(place, b),
            }
            idle = if step <= least { idle + 1 } else { 0 };
            if idle >= MOST_IDLE {
                return Ended::Stuck;
            }
        }
        Ended::StepsUsedUp
    }

    /// The least step at which an atom leaves or enters; none where λ comes before.
    fn next_exact(&self, lambda: f64) -> (f64, Option<Change>) {
        let (mut step, mut change) = (self.mu - lambda, None);
        for (place, (x, d)) in self.x.iter().zip(&self.d).enumerate() {
            let (x, d) = (x * self.signs[place], d * self.signs[place]);
            if d < 0.0 && x.max(0.0) < -d * step {
                (step, change) = (x.max(0.0) / -d, Some(Change::Leave(place)));
            }
        }
        let mut from = 0;
        while let Some(j) = first_above(&self.c, &self.u, step, self.mu - step, from) {
            for sign in if self.asked.nonnegative { &[1.0][..] } else { &[1.0, -1.0] } {
                let (rest, rate) = ((self.mu - sign * self.c[j]).max(0.0), 1.0 - sign * self.u[j]);
                if rate > 0.0 && rest < rate * step && self.last_left != Some((j, *sign)) {
                    (step, change) = (rest / rate, Some(Change::Enter(j, *sign)));
                }
            }
            from = j + 1;
        }
        (step, change)
    }

    /// Solves for x on the support once more, with one refinement, and for c from scratch.
    fn settle(&mut self, b: &[f64]) {
        let (gram, mu) = (self.gram, self.mu);
        self.x.fill(0.0);
        for _ in 0..2 {
            self.d.clear();
            for (i, z) in self.support.iter().zip(&self.signs) {
                let row = gram.row(*i);
                let done: f64 = self.support.iter().zip(&self.x).map(|(j, x)| row[*j] * x).sum();
                self.d.push(b[*i] - mu * z - done);
            }
            self.factor.solve(&mut self.d);
            self.x.iter_mut().zip(&self.d).for_each(|(x, d)| *x += d);
        }
        for (x, z) in self.x.iter_mut().zip(&self.signs) {
            *x = if *x * z > 0.0 { *x } else { 0.0 };
        }
        combine(gram.as_slice(), &self.support, &self.x, &mut self.u);
        self.c.iter_mut().zip(b).zip(&self.u).for_each(|((c, b), u)| *c = b - u);
    }

    /// Whether c_i = μz_i on the support and |c_j| ≤ μ elsewhere, up to `rounding`. Atoms that the support can express may be
    /// off by their length times ‖y − Ax‖ times what G cannot tell.
    fn meets_conditions(&mut self, b: &[f64], square: f64, rounding: f64) -> bool {
        let (mu, c) = (self.mu, &mut self.c);
        let (mut rest, mut off) = (square, 0.0_f64);
        for ((j, x), z) in self.support.iter().zip(&self.x).zip(&self.signs) {
            rest -= x * (b[*j] + c[*j]);
            if *x != 0.0 {
                off = off.max((c[*j] - mu * z).abs());
                c[*j] = 0.0;
            }
        }
        self.closed[..self.left_out].iter().for_each(|j| c[*j] = 0.0);
        off <= rounding
            && self.c.iter().enumerate().all(|(j, c)| {
                let (row, square) = (self.gram.row(j), self.gram.at(j, j));
                let over = if self.asked.nonnegative { *c } else { c.abs() } - mu;
                let blur = (COLLINEAR[0] * square * rest.max(0.0)).sqrt();
                let mut known =
                    || !self.factor.push(self.support.iter().map(|i| row[*i]), square, COLLINEAR[0] * square);
                over <= rounding || (over <= rounding + blur && known())
            })
    }
}
