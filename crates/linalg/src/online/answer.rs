//! The answer of an [`Online`] decomposition about the singular values above a cut.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | σ̂ᵢ, σᵢ | `sigma` | computed values, and those of all samples so far |
//! | δ², t | `top`, `energy` | σᵢ² ≤ σ̂ᵢ² + δ², Σ(σᵢ² − σ̂ᵢ²) = t |
//! | s | `slack` | the rounding of a value |
//!
//! **Above a cut τ.** σᵢ ≥ σ̂ᵢ, so at least #{σ̂ > τ} lie above. Another value needs τ² − σ̂ᵢ², of which δ² is
//! available for each and t for all together: values past the k-th are raised in turn, the nearest first, until one
//! needs more than δ² or all together more than t.
//! ```text
//!     k ≤ #{σ > τ} ≤ k + max{ j : τ² − σ̂²_{k+j} ≤ δ²,  Σ_{i ≤ j} (τ² − σ̂²_{k+i}) ≤ t }
//! ```
//! **A share of the energy.** Σσ² is exact, and the leading values carry at least their computed energy: k directions
//! suffice, and j < k may suffice where Σ_{i≤j} σ̂ᵢ² + min(jδ², t) does.

use super::{Online, OnlineState};
use crate::Error;
use crate::exec::Exec;
use crate::spectrum::{Leading, Select};

impl Online {
    /// The singular values of all samples so far (centered, if so set) that `cut` selects, as lower bounds, and their
    /// directions. The interval holds for the true values.
    pub fn leading(&self, cut: Select, exec: Exec<'_>) -> Result<Leading<'static>, Error> {
        Ok(self.closed(exec)?.leading(cut, self.kind().block))
    }
}

impl OnlineState {
    /// The total Σσ².
    pub fn energy(&self) -> f64 {
        self.sigma.iter().map(|s| s * s).sum::<f64>() + self.discarded.energy
    }

    /// A bound on the rounding error of a value: that of one decomposition of all samples, and that of every core.
    pub fn slack(&self, block: usize) -> f64 {
        let whole = self.rows.max(self.basis.rows()) as f64;
        let cores = self.updates as f64 * (self.sigma.len() + block) as f64;
        4.0 * (whole + cores) * f64::EPSILON * self.sigma.first().copied().unwrap_or(0.0)
    }

    /// The values and directions that `cut` selects; blocks had `block` samples.
    pub fn leading(&self, cut: Select, block: usize) -> Leading<'static> {
        let squares: Vec<f64> = self.sigma.iter().map(|s| s * s).collect();
        let (count, tau) = cut.place(&squares, self.energy());
        let slack = self.slack(block);
        let interval = match cut {
            Select::Above(tau) => (self.proved_above(tau + slack), self.possibly_above((tau - slack).max(0.0))),
            Select::Top(_) => (count, count),
            Select::Energy(share) => (self.possibly_enough(share), count),
        };
        Leading {
            sigma: self.sigma.clone(),
            count,
            interval: (interval.0.min(count), interval.1.max(count)),
            chance: 0.0,
            margin: if tau > 0.0 { slack / tau } else { 0.0 },
            norm: self.energy().sqrt(),
            solver: "online",
            vectors: self.basis.clone(),
            samples: None,
        }
    }

    fn proved_above(&self, tau: f64) -> usize {
        self.sigma.iter().take_while(|s| **s > tau).count()
    }

    /// The maximum number of values that can lie above τ.
    fn possibly_above(&self, tau: f64) -> usize {
        let k = self.proved_above(tau);
        let most = self.basis.rows().min(self.rows);
        let (mut all, mut count) = (0.0, k);
        while count < most {
            let need = tau * tau - self.sigma.get(count).map_or(0.0, |s| s * s);
            all += need;
            if need > self.discarded.top || all > self.discarded.energy || (need <= 0.0 && self.discarded.energy == 0.0)
            {
                break;
            }
            count += 1;
        }
        count
    }

    /// The minimum number of directions that can carry this share.
    fn possibly_enough(&self, share: f64) -> usize {
        let enough = share * self.energy();
        let mut sum = 0.0;
        let carried = self.sigma.iter().enumerate().map(|(j, s)| {
            sum += s * s;
            sum + ((j + 1) as f64 * self.discarded.top).min(self.discarded.energy)
        });
        carried.take_while(|sum| *sum < enough).count() + 1
    }
}
