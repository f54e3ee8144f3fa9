//! What a model with soft weights keeps, and how its weights are chosen; the symbols are those of
//! [`soft_weights`](crate::method::parts::soft_weights).
//!
//! ```text
//!     τ₀ by the rule for λ
//!     σ, U down to the smallest τ/2 that may be chosen: one decomposition for all
//!     (τ, γ) by leaving one out where there are classes, (τ₀, 1) otherwise
//!     k = #{σ > τ},  columns = #{σ > τ/2}
//! ```

use eigenspan_linalg::spectrum::{Leading, Select};
use eigenspan_linalg::{Exec, Mat};

use super::{Dim, PceParams, RankRule, Weights, released};
use crate::Error;
use crate::method::parts::leave_one_out::{FACTORS, Labelled, SEED, Trial, best};
use crate::method::parts::soft_weights::{DEPTH, columns};
use crate::prepare::Preparation;
use crate::rule::cut::around;
use crate::rule::{Count, Cut, Decision};
use crate::spectrum::{Found, Spectrum};
use crate::warning::Warning;

/// Weights that the data chose.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    /// γ.
    pub gamma: f64,
    /// τ/τ₀, where τ₀ is the cut of the rule for λ.
    pub factor: f64,
    /// Training samples that were tried; none where no classes were given, or they could not tell weights apart.
    pub tried: usize,
    /// The seed that picked them, where there were more.
    pub seed: u64,
    /// Every pair that was tried.
    pub trials: Vec<Trial>,
}

impl Chosen {
    /// Where there is nothing to choose by.
    fn blindly() -> Self {
        Self { gamma: 1.0, factor: 1.0, tried: 0, seed: SEED, trials: vec![] }
    }

    /// Refuses what no fit says.
    pub(super) fn check(&self) -> Result<(), String> {
        let pair = |factor: f64, gamma: f64| factor > 0.0 && factor.is_finite() && (0.0..=1.0).contains(&gamma);
        let fits = |t: &Trial| pair(t.factor, t.gamma) && t.known <= self.tried && t.columns > 0;
        let found = match best(&self.trials) {
            Some(best) => (best.factor, best.gamma) == (self.factor, self.gamma),
            None => self.tried == 0 && (self.factor, self.gamma) == (1.0, 1.0),
        };
        if self.trials.iter().all(fits) && found { Ok(()) } else { Err("its weights are not those it chose".into()) }
    }

    /// The choice in words.
    fn told(&self) -> String {
        let Some(best) = best(&self.trials) else { return "γ = 1 as there are no classes to choose it by".into() };
        let share = 100.0 * best.known as f64 / self.tried as f64;
        let (gamma, tried, pairs) = (self.gamma, self.tried, self.trials.len());
        format!(
            "γ = {gamma}: of {pairs} choices this knows most of {tried} samples by their nearest neighbour, {share:.1} %"
        )
    }
}

/// What a model keeps.
pub(super) struct Kept<'a> {
    pub cut: Cut,
    pub found: Found<'a>,
    pub basis: Mat,
    pub k: usize,
    pub interval: [usize; 2],
    pub chosen: Option<Chosen>,
}

impl PceParams {
    /// Directions down to τ/2, with the τ that is chosen where there is a choice: by samples with their classes, given as they
    /// are prepared.
    pub(super) fn keep_softly<'a>(
        &self,
        Decision { cut, found }: Decision<'a>,
        spectrum: &'a dyn Spectrum,
        labelled: Option<(&Labelled<'_>, &Preparation)>,
        warnings: &mut Vec<Warning>,
        exec: Exec<'_>,
    ) -> Result<Kept<'a>, Error> {
        let chooses_cut = labelled.is_some() && !self.rule().is_given();
        let mut factors: Vec<f64> = if chooses_cut { FACTORS.into() } else { vec![1.0] };
        // A cut above all values would leave nothing.
        factors.retain(|factor| *factor <= 1.0 || factor * cut.tau < found.leading.sigma[0]);
        let lowest = factors[0] * cut.tau;
        let (found, deepest) = match self.dim {
            Dim::Fixed(dim) => (found, dim),
            Dim::Auto => {
                let (deeper, deepest) = self.leading_down_to(lowest, cut.k, spectrum, exec)?;
                (deeper.after(found.doubt), deepest)
            }
        };
        let mut basis = found.leading.basis(deepest, exec)?;
        let chosen = match (self.weights, labelled) {
            (Weights::Soft { .. }, _) => None,
            (_, None) => Some(Chosen::blindly()),
            (_, Some((labelled, preparation))) => {
                let sigma = &found.leading.sigma[..deepest];
                let scores = labelled.scores(preparation, &basis, exec)?;
                let trials = labelled.try_all(&scores, sigma, cut.tau, &factors, exec)?;
                let &Trial { factor, gamma, .. } = best(&trials).expect("there are pairs");
                Some(Chosen { gamma, factor, tried: labelled.tried(), seed: SEED, trials })
            }
        };
        let factor = chosen.as_ref().map_or(1.0, |chosen| chosen.factor);
        let cut = if factor == 1.0 { cut } else { moved(cut, factor, &found.leading, spectrum, deepest) };
        self.nothing_above(&cut, &found, warnings)?;
        let rank = |k: usize| self.k(k, spectrum).min(deepest);
        let (k, mut interval) = (rank(cut.k), [rank(cut.interval.0), rank(cut.interval.1)]);
        if spectrum.is_partial() {
            interval[1] = self.k(cut.interval.1, spectrum).max(k); // there may be more above the cut than are known
        }
        if self.dim == Dim::Auto {
            basis = basis.leading_columns(columns(&found.leading.sigma, cut.tau, deepest).max(k));
        }
        Ok(Kept { cut, found, basis, k, interval, chosen })
    }

    /// The values and directions that count where the cut is `tau` or more, and how many those are; `k` values are above the
    /// cut of the rule.
    fn leading_down_to<'a>(
        &self,
        tau: f64,
        k: usize,
        spectrum: &'a dyn Spectrum,
        exec: Exec<'_>,
    ) -> Result<(Found<'a>, usize), Error> {
        let mut found = spectrum.leading(Select::Above(DEPTH * tau), exec)?;
        let least = self.k(k, spectrum);
        if least > found.leading.count + 1 {
            // The released rule keeps two directions even where none is above the cut.
            found = spectrum.leading(Select::Top(least), exec)?.after(found.doubt);
        }
        let most = spectrum.numerical_rank(&found.leading).max(k);
        let deepest = columns(&found.leading.sigma, tau, most).max(least.min(most));
        Ok((found, deepest))
    }

    /// k by the rank rule, where so many values are above the cut.
    fn k(&self, above: usize, spectrum: &dyn Spectrum) -> usize {
        let one_more = self.rank_rule == RankRule::Released && self.dim == Dim::Auto;
        if one_more { released(above, spectrum) } else { above }
    }

    /// How directions are weighted, for the end of the sentence that says why this k.
    pub(super) fn how_weighted(&self, columns: usize, chosen: Option<&Chosen>) -> String {
        let depth = if self.dim == Dim::Auto { " down to τ/2" } else { "" };
        match (self.weights, chosen) {
            (Weights::Soft { gamma }, _) => format!("; soft weights of {columns} directions{depth}, γ = {gamma}"),
            (_, Some(chosen)) => format!("; soft weights of {columns} directions{depth}, {}", chosen.told()),
            _ => String::new(),
        }
    }
}

/// The cut at another τ. Nothing was said of its k.
fn moved(cut: Cut, factor: f64, leading: &Leading<'_>, spectrum: &dyn Spectrum, most: usize) -> Cut {
    let (sigma, tau) = (&leading.sigma, factor * cut.tau);
    let k = sigma.iter().take_while(|s| **s > tau).count().min(most);
    // A value far above the cut that was asked for is known at least as well as one at it.
    let blur = spectrum.resolution(sigma).max(leading.margin * DEPTH * FACTORS[0] * cut.tau);
    let interval = around(sigma, tau, blur, k);
    let reason = format!("{factor} τ₀ by the classes; τ₀: {}", cut.reason);
    Cut { tau, lambda: 1.0 / (tau * tau), k, interval, reason, count: Count::NotAsked, ..cut }
}
