//! The dimension with the least divergence, without looking at all.
//!
//! Divergences of one ball after the other are expensive, and those of balls far from the truth are large. The search begins
//! where MiND-ML points and goes on in both directions. It leaves a direction when what is certain of the ball at hand is
//! already above the least divergence found: balls beyond have more of it.

/// What is known of one dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Looked {
    /// The dimension.
    pub d: usize,
    /// Its divergence.
    pub divergence: f64,
}

/// The divergence of one dimension, and the least that all above it have, and all below.
pub struct Sight {
    /// Of this one.
    pub divergence: f64,
    /// Of all above, at least.
    pub above: f64,
    /// Of all below, at least.
    pub below: f64,
}

/// Dimensions from `first` to `most` that were looked at, in their order.
pub fn outwards<E>(
    start: usize,
    first: usize,
    most: usize,
    mut look: impl FnMut(usize) -> Result<Sight, E>,
) -> Result<Vec<Looked>, E> {
    let start = start.clamp(first, most);
    let sight = look(start)?;
    let mut best = sight.divergence;
    let mut looked = vec![Looked { d: start, divergence: best }];
    let (mut top, mut bottom) = (start, start);
    let (mut up, mut down) = (sight.above <= best, sight.below <= best);
    while (up && top < most) || (down && bottom > first) {
        if up && top < most {
            top += 1;
            let sight = look(top)?;
            best = best.min(sight.divergence);
            up = sight.above <= best;
            looked.push(Looked { d: top, divergence: sight.divergence });
        }
        if down && bottom > first {
            bottom -= 1;
            let sight = look(bottom)?;
            best = best.min(sight.divergence);
            down = sight.below <= best;
            looked.push(Looked { d: bottom, divergence: sight.divergence });
        }
    }
    looked.sort_by_key(|one| one.d);
    Ok(looked)
}

/// The dimension of the least divergence, the smallest of equal ones.
pub fn least(looked: &[Looked]) -> Looked {
    *looked.iter().reduce(|best, one| if one.divergence < best.divergence { one } else { best }).expect("one at least")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_the_least_beyond_a_hill_and_leaves_the_rest_alone() {
        let mut asked = vec![];
        let looked = outwards::<()>(9, 1, 100, |d| {
            asked.push(d);
            let far = (d as f64 - 12.0).abs();
            let hill = if d == 10 { 3.0 } else { 0.0 };
            let (above, below) = if d >= 12 { (far, 0.0) } else { (0.0, far) };
            Ok(Sight { divergence: far + hill, above, below })
        })
        .unwrap();
        assert_eq!(least(&looked).d, 12);
        assert!(looked.is_sorted_by_key(|one| one.d) && asked.iter().max() == Some(&13));
        assert_eq!(asked.iter().min(), Some(&8));
        let whole =
            outwards::<()>(50, 1, 3, |d| Ok(Sight { divergence: 1.0 / d as f64, above: 0.0, below: 0.0 })).unwrap();
        assert_eq!((least(&whole).d, whole.len()), (3, 3));
    }
}
