//! Warnings: limitations of a result that is returned nevertheless.

/// A limitation of a result.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum Warning {
    /// Samples of length zero, which stay zero.
    #[error("{count} samples have length zero and stay zero (rows {})", list(.rows, *.count))]
    ZeroSamples {
        /// Their number.
        count: usize,
        /// The first of them, at most [`Warning::LISTED_ROWS`].
        rows: Vec<usize>,
    },
    /// k = 0, and the leading direction is returned nevertheless.
    #[error("no singular value is above the cut (k = 0): the leading direction is returned, but it may be noise")]
    NothingAboveCut,
    /// The spectrum below the cut is not that of white noise.
    #[error(
        "the spectrum below the cut is not that of white noise (distance {distance:.2} from the Marchenko–Pastur law, \
         noise of this size stays below {limit:.2}): k = {k} is a sensible cut, not a count of true dimensions"
    )]
    BulkNotNoise {
        /// Kolmogorov distance of the bulk from the Marchenko–Pastur law.
        distance: f64,
        /// The limit of this distance for noise of this size.
        limit: f64,
        /// The k that was chosen.
        k: usize,
    },
    /// ScreeNot's answer depends on its bound on the rank.
    #[error(
        "the spectrum has no clear edge: ScreeNot finds k = {low} to {high} for bounds on the rank from p/8 to p/2.5"
    )]
    NoEdge {
        /// Smallest k.
        low: usize,
        /// Largest k.
        high: usize,
    },
    /// An iteration reached its maximum number of rounds.
    #[error("not converged after {rounds} rounds: allow more rounds or a larger tolerance")]
    NotConverged {
        /// Number of rounds.
        rounds: usize,
    },
    /// The low-rank part is zero or constant, and the leading direction of the samples is returned instead.
    #[error(
        "the low-rank part of the samples is {}: their own leading direction is returned, a larger λ enlarges the \
         low-rank part",
        if *.constant { "the same for every sample" } else { "zero" }
    )]
    NoLowRank {
        /// Whether it is nonzero, but zero once its mean is subtracted.
        constant: bool,
    },
    /// The rank of the low-rank part is the maximum.
    #[error("the low-rank part has rank {bound}, the maximum: its true rank may be larger")]
    RankAtBound {
        /// The maximum.
        bound: usize,
    },
    /// Samples without an edge in the graph.
    #[error("{count} samples have no edge, every weight being zero, and do not contribute to the projection")]
    Isolated {
        /// Their number.
        count: usize,
    },
    /// More directions were requested than singular values are above rounding.
    #[error("{asked} dimensions were requested, but {most} singular values are above rounding: {most} are returned")]
    RankCapped {
        /// Requested dimensions.
        asked: usize,
        /// Singular values above rounding.
        most: usize,
    },
    /// Discarded directions, of which some might be above the cut.
    #[error(
        "discarded directions, beyond the {rank} stored ones or below the initial cut, leave the dimension \
         between {low} and {high}"
    )]
    Dropped {
        /// Stored directions.
        rank: usize,
        /// The smallest dimension.
        low: usize,
        /// The largest.
        high: usize,
    },
    /// A sketch that does not determine k.
    #[error(
        "{readings} passes over the samples do not settle the answer: {}; {}",
        if *.low < *.high { format!("k lies between {low} and {high}") }
        else { "other directions may be as strong as those found".into() },
        if *.short { format!("{columns} Gaussian columns are too few, use more (`--sketch-columns`)") }
        else { "use more passes (`--passes`)".into() }
    )]
    Unsettled {
        /// The smallest k.
        low: usize,
        /// The largest k.
        high: usize,
        /// Passes over the samples.
        readings: usize,
        /// Gaussian vectors.
        columns: usize,
        /// Whether more columns are needed, rather than more passes.
        short: bool,
    },
    /// Exact copies of other samples.
    #[error(
        "{count} samples are exact copies of others and are dropped: distances of zero do not determine a dimension"
    )]
    Copies {
        /// Number of copies.
        count: usize,
    },
    /// An estimate above the limit for this number of samples.
    #[error(
        "distances alone between {n} samples show at most about {most:.1} dimensions (2 log₁₀ n): {dimension:.1} is \
         likely too low"
    )]
    FewSamples {
        /// Distinct samples.
        n: usize,
        /// 2 log₁₀ n.
        most: f64,
        /// The estimate.
        dimension: f64,
    },
    /// An estimate in the range where distances alone underestimate.
    #[error(
        "above 20 dimensions nearest distances underestimate the dimension: {dimension:.1} is rather a lower bound"
    )]
    HighDimension {
        /// The estimate.
        dimension: f64,
    },
    /// An estimate that depends on the number of neighbors.
    #[error(
        "the nearest half of the neighbors gives {near:.1} dimensions, all of them {far:.1}: noise dominates at small \
         distances, use more neighbors"
    )]
    ScaleDependent {
        /// The estimate from the nearest half.
        near: f64,
        /// The estimate from all.
        far: f64,
    },
    /// The estimate is the maximum.
    #[error("{bound} dimensions is the maximum allowed: the true number may be larger")]
    DimensionAtBound {
        /// The maximum.
        bound: usize,
    },
}

impl Warning {
    /// Maximum number of rows that a warning lists.
    pub const LISTED_ROWS: usize = 10;

    /// The warning of `count` samples of length zero, of which `rows` are the first; `None` where `rows` is empty.
    pub(crate) fn zero_samples(count: usize, rows: &[usize]) -> Option<Self> {
        let rows: Vec<usize> = rows.iter().copied().take(Self::LISTED_ROWS).collect();
        (!rows.is_empty()).then_some(Self::ZeroSamples { count, rows })
    }
}

fn list(rows: &[usize], count: usize) -> String {
    let shown: Vec<String> = rows.iter().map(usize::to_string).collect();
    if rows.len() < count { format!("{}, …", shown.join(", ")) } else { shown.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_samples_are_counted_and_the_first_ten_listed() {
        assert_eq!(Warning::zero_samples(3, &[]), None);
        let rows: Vec<usize> = (5..17).collect();
        let warning = Warning::zero_samples(12, &rows).unwrap();
        assert_eq!(warning, Warning::ZeroSamples { count: 12, rows: (5..15).collect() });
        assert!(warning.to_string().ends_with("(rows 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, …)"), "{warning}");
    }
}
