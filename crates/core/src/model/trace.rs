//! How an iteration went.

/// What was measured round after round, and why the rounds ended.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// What is measured: the objective, or the residual of a constraint.
    pub measure: String,
    /// Its value before the first round, where there is one, and after every round.
    pub values: Vec<f64>,
    /// Rounds done.
    pub rounds: usize,
    /// Why there were no more.
    pub stop: Stop,
}

/// Why an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// There was none: the answer is in closed form, or one decomposition.
    #[default]
    Direct,
    /// The tolerance was reached.
    Converged,
    /// The rounds that were allowed were used up.
    RoundsUsedUp,
}

impl Trace {
    /// An iteration that measures `measure`, before its first round.
    pub fn of(measure: &str) -> Self {
        Self { measure: measure.into(), ..Self::default() }
    }

    /// Takes note of a round of at most `most`; true where it was the last one.
    pub fn ended(&mut self, value: f64, converged: bool, most: usize) -> bool {
        self.values.push(value);
        self.rounds += 1;
        self.stop = if converged { Stop::Converged } else { Stop::RoundsUsedUp };
        converged || self.rounds >= most
    }

    /// Whether the result is what was requested, and not only what the rounds allowed.
    pub fn converged(&self) -> bool {
        self.stop != Stop::RoundsUsedUp
    }
}
