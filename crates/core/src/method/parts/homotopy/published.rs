//! The path of the program behind the paper's numbers, with its rule for when to stop.

use super::{Change, Ended, MOST_IDLE, Path, ULP};

impl Path<'_> {
    /// Follows the path until one step lowers the objective by no more than the share `tolerance`.
    pub(super) fn published(&mut self, b: &[f64], square: f64, lambda: f64, tolerance: f64) -> Ended {
        let (mut before, mut last, mut idle) = (square / 2.0, f64::INFINITY, 0);
        while self.steps < self.asked.max_iter {
            self.steps += 1;
            self.direct();
            let (step, change) = self.next_published();
            if self.mu - step <= lambda {
                self.advance(self.mu - lambda);
                self.mu = lambda;
                return Ended::Target;
            }
            idle = if step.max(last) < 4.0 * ULP { idle + 1 } else { 0 };
            last = step;
            self.advance(step);
            self.mu -= step;
            let objective = self.objective(b, square, lambda);
            // Steps of length zero take an atom out and are no sign of an end.
            if step != 0.0 && (before - objective).abs() <= tolerance * before {
                return Ended::Tolerance;
            }
            let moved = step * self.d.iter().map(|d| d * d).sum::<f64>().sqrt();
            if (step != 0.0 && moved < 100.0 * ULP) || idle >= MOST_IDLE {
                return Ended::Stuck;
            }
            before = objective;
            self.last_left = None;
            match change {
                None => return Ended::Stuck,
                Some(Change::Enter(j, sign)) => self.enter(j, sign),
                Some(Change::Leave(place)) => self.leave(place, b),
            }
        }
        Ended::StepsUsedUp
    }

    /// The step of the published rule: candidates are strictly positive, values next to μ or 0 count as such, and where a
    /// sign would be wrong after the step there is none: the atom that moves fastest among those leaves at once.
    fn next_published(&self) -> (f64, Option<Change>) {
        let mu = self.mu;
        let (mut step, mut change) = (f64::INFINITY, None);
        let signs: &[f64] = if self.asked.nonnegative { &[1.0] } else { &[-1.0, 1.0] };
        for sign in signs {
            for (j, (c, u)) in self.c.iter().zip(&self.u).enumerate() {
                let c = if (c.abs() - mu).abs() < mu.min(2.0 * ULP) { c.signum() * mu } else { *c };
                let candidate = (mu - sign * c) / (1.0 - sign * u);
                if candidate > 0.0 && candidate < step && self.last_left.is_none_or(|(left, _)| left != j) {
                    (step, change) = (candidate, Some(Change::Enter(j, *sign)));
                }
            }
        }
        let (mut first, mut leaver) = (f64::INFINITY, None);
        for (place, (x, d)) in self.x.iter().zip(&self.d).enumerate() {
            let candidate = if x.abs() < 2.0 * ULP { 0.0 } else { -x / d };
            if candidate > 0.0 && candidate < first {
                (first, leaver) = (candidate, Some(place));
            }
        }
        let leaver = leaver.filter(|_| first <= step);
        if let Some(place) = leaver {
            (step, change) = (first, Some(Change::Leave(place)));
        }
        let wrong = |place: &usize| (self.x[*place] + step * self.d[*place]) * self.signs[*place] < -2.0 * ULP;
        let others = (0..self.x.len()).filter(|place| Some(*place) != leaver && step.is_finite());
        let fastest = others.filter(wrong).max_by(|a, b| self.d[*a].abs().total_cmp(&self.d[*b].abs()));
        fastest.map_or((step, change), |place| (0.0, Some(Change::Leave(place))))
    }
}
