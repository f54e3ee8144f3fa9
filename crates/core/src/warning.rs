//! What the user should know about a result that was given all the same.

/// Something the user should know about a result.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum Warning {
    /// Samples of length zero were left at zero.
    #[error("{count} samples have length zero and stay zero (rows {})", list(.rows, *.count))]
    ZeroSamples {
        /// How many.
        count: usize,
        /// The first of them.
        rows: Vec<usize>,
    },
    /// k = 0, and the leading direction was kept all the same.
    #[error(
        "no singular value is above the cut (k = 0): the leading direction is kept, but nothing says it is more than noise"
    )]
    NothingAboveCut,
    /// What lies below the cut does not look like white noise.
    #[error(
        "what lies below the cut does not look like noise (distance {distance:.2} from the Marchenko–Pastur law, \
         noise of this size stays below {limit:.2}): k = {k} is a sensible cut, not a count of true dimensions"
    )]
    BulkNotNoise {
        /// Kolmogorov distance of the bulk from the Marchenko–Pastur law.
        distance: f64,
        /// The distance that noise of this size keeps.
        limit: f64,
        /// The k that was chosen.
        k: usize,
    },
    /// ScreeNot's answer depends on its own setting.
    #[error(
        "the spectrum has no clear edge: ScreeNot finds k = {low} to {high} as its bound on the rank goes from p/8 to p/2.5"
    )]
    NoEdge {
        /// Smallest k.
        low: usize,
        /// Largest k.
        high: usize,
    },
    /// An iteration used up its rounds.
    #[error(
        "not converged after {rounds} rounds: the result is what they reached, allow more of them or a larger tolerance"
    )]
    NotConverged {
        /// Rounds done.
        rounds: usize,
    },
    /// All of the samples is taken for errors, and their own leading direction was kept all the same.
    #[error(
        "the low-rank part of the samples is {}: their own leading direction is kept, a larger λ leaves more in the low-rank part",
        if *.constant { "the same for every sample" } else { "zero" }
    )]
    NoLowRank {
        /// Whether it is more than zero, but nothing once its mean is taken away.
        constant: bool,
    },
    /// The low-rank part is of the largest rank that was allowed.
    #[error("the low-rank part is of rank {bound}, the most that was allowed: its true rank may be larger")]
    RankAtBound {
        /// The most that was allowed.
        bound: usize,
    },
    /// Samples without an edge in the graph.
    #[error("{count} samples are joined to no other, every weight being zero, and play no part in the projection")]
    Isolated {
        /// How many.
        count: usize,
    },
    /// More directions were asked for than stand above rounding.
    #[error("{asked} dimensions were asked for, {most} stand above rounding: {most} are kept")]
    RankCapped {
        /// Dimensions asked for.
        asked: usize,
        /// Dimensions above rounding.
        most: usize,
    },
    /// Directions were dropped, of which some might be above the cut.
    #[error(
        "what was dropped, beyond {rank} directions or below the cut of the model it went on from, leaves the dimension \
         between {low} and {high}"
    )]
    Dropped {
        /// Directions kept.
        rank: usize,
        /// The smallest dimension.
        low: usize,
        /// The largest.
        high: usize,
    },
    /// A sketch that could not tell k.
    #[error(
        "{readings} readings of the samples do not settle the answer: {}; {}",
        if *.low < *.high { format!("k lies between {low} and {high}") }
        else { "other directions may be as strong as those that were found".into() },
        if *.short { format!("{columns} Gaussian columns are too few, ask for more (`--sketch-columns`)") }
        else { "read them more often (`--passes`)".into() }
    )]
    Unsettled {
        /// The smallest k.
        low: usize,
        /// The largest k.
        high: usize,
        /// Readings.
        readings: usize,
        /// Gaussian vectors.
        columns: usize,
        /// Whether more of those are needed, rather than more readings.
        short: bool,
    },
    /// Exact copies of other samples.
    #[error(
        "{count} samples are exact copies of others and are left out: they are at distance zero, which tells no dimension"
    )]
    Copies {
        /// How many were left out.
        count: usize,
    },
    /// More dimensions than so many samples can show.
    #[error(
        "{n} samples show at most about {most:.1} dimensions by their distances alone (2 log₁₀ n): {dimension:.1} is likely \
         too low"
    )]
    FewSamples {
        /// Samples that differ.
        n: usize,
        /// 2 log₁₀ n.
        most: f64,
        /// The estimate.
        dimension: f64,
    },
    /// An estimate in the range where distances alone are known to say too little.
    #[error("above 20 dimensions nearest distances are known to give too few: {dimension:.1} is a lower bound rather")]
    HighDimension {
        /// The estimate.
        dimension: f64,
    },
    /// An estimate that depends on how far one looks.
    #[error(
        "the nearest half of the neighbours says {near:.1} dimensions, all of them {far:.1}: noise fills more dimensions the \
         closer one looks, ask for more neighbours"
    )]
    ScaleDependent {
        /// The estimate from the nearest half.
        near: f64,
        /// The estimate from all.
        far: f64,
    },
    /// The estimate is the largest that was allowed.
    #[error("{bound} dimensions is the most that was allowed: the true number may be larger")]
    DimensionAtBound {
        /// The most that was allowed.
        bound: usize,
    },
}

fn list(rows: &[usize], count: usize) -> String {
    let shown: Vec<String> = rows.iter().map(usize::to_string).collect();
    if rows.len() < count { format!("{}, …", shown.join(", ")) } else { shown.join(", ") }
}
