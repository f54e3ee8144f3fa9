//! The dimension with the smallest divergence, without evaluating all of them.
//!
//! Divergences are expensive, and those of balls far from the correct dimension are large. The search starts at the
//! estimate of MiND-ML and continues in both directions. A direction ends when a lower bound on the divergence of all
//! balls beyond exceeds the smallest divergence found.

/// An evaluated dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluated {
    /// The dimension.
    pub d: usize,
    /// Its divergence.
    pub divergence: f64,
}

/// The divergence of one dimension, and lower bounds on those of all above and all below.
pub struct Evaluation {
    /// Of this dimension.
    pub divergence: f64,
    /// Lower bound for all above.
    pub above: f64,
    /// Lower bound for all below.
    pub below: f64,
}

/// The evaluated dimensions from `first` to `most`, in ascending order.
pub fn search_outwards<E>(
    start: usize,
    first: usize,
    most: usize,
    mut evaluate: impl FnMut(usize) -> Result<Evaluation, E>,
) -> Result<Vec<Evaluated>, E> {
    let start = start.clamp(first, most);
    let evaluation = evaluate(start)?;
    let mut best = evaluation.divergence;
    let mut evaluated = vec![Evaluated { d: start, divergence: best }];
    let (mut top, mut bottom) = (start, start);
    let (mut up, mut down) = (evaluation.above <= best, evaluation.below <= best);
    while (up && top < most) || (down && bottom > first) {
        if up && top < most {
            top += 1;
            let evaluation = evaluate(top)?;
            best = best.min(evaluation.divergence);
            up = evaluation.above <= best;
            evaluated.push(Evaluated { d: top, divergence: evaluation.divergence });
        }
        if down && bottom > first {
            bottom -= 1;
            let evaluation = evaluate(bottom)?;
            best = best.min(evaluation.divergence);
            down = evaluation.below <= best;
            evaluated.push(Evaluated { d: bottom, divergence: evaluation.divergence });
        }
    }
    evaluated.sort_by_key(|one| one.d);
    Ok(evaluated)
}

/// The dimension of the smallest divergence, the smallest of equal ones.
pub fn least(evaluated: &[Evaluated]) -> Evaluated {
    *evaluated
        .iter()
        .reduce(|best, one| if one.divergence < best.divergence { one } else { best })
        .expect("one at least")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_the_minimum_beyond_a_hill_and_skips_the_rest() {
        let mut visited = vec![];
        let evaluated = search_outwards::<()>(9, 1, 100, |d| {
            visited.push(d);
            let far = (d as f64 - 12.0).abs();
            let hill = if d == 10 { 3.0 } else { 0.0 };
            let (above, below) = if d >= 12 { (far, 0.0) } else { (0.0, far) };
            Ok(Evaluation { divergence: far + hill, above, below })
        })
        .unwrap();
        assert_eq!(least(&evaluated).d, 12);
        assert!(evaluated.is_sorted_by_key(|one| one.d) && visited.iter().max() == Some(&13));
        assert_eq!(visited.iter().min(), Some(&8));
        let whole =
            search_outwards::<()>(50, 1, 3, |d| Ok(Evaluation { divergence: 1.0 / d as f64, above: 0.0, below: 0.0 }))
                .unwrap();
        assert_eq!((least(&whole).d, whole.len()), (3, 3));
    }
}
