//! How many eigenvalues of a symmetric matrix are positive, by Sylvester's law of inertia: A = LDLᵀ has as many as D.
//!
//! D has blocks of order one and two. Pivots are the largest that are left (Bunch, Parlett 1971): a diagonal entry, or,
//! where an entry beside the diagonal is larger by more than 1/0.64, the block of order two with that entry, whose
//! determinant is negative, so that it has one positive and one negative eigenvalue.

use std::cmp::Ordering;

use crate::field::Field;

/// log₂ 0.64.
const LARGER: f64 = -0.644;

/// The number of positive eigenvalues of the symmetric matrix with the lower triangle `rows` (row i has i + 1 entries);
/// `None` where the numbers cannot tell.
pub fn positive<F: Field>(mut rows: Vec<Vec<F>>) -> Option<usize> {
    let mut live: Vec<usize> = (0..rows.len()).collect();
    let mut count = 0;
    while !live.is_empty() {
        let (diagonal, p) = largest(live.iter().map(|i| (rows[*i][*i].size(), *i)))?;
        let pairs = live.iter().flat_map(|i| live.iter().map(move |j| (*i, *j))).filter(|(i, j)| i > j);
        let (beside, pair) = largest(pairs.map(|(i, j)| (rows[i][j].size(), (i, j)))).unwrap_or((f64::MIN, (0, 0)));
        if diagonal == f64::NEG_INFINITY && beside <= f64::MIN {
            break; // zeros are left
        }
        if diagonal >= beside + LARGER {
            count += usize::from(rows[p][p].sign()? == Ordering::Greater);
            live.retain(|i| *i != p);
            eliminate(&mut rows, &live, p)?;
        } else {
            count += 1;
            live.retain(|i| *i != pair.0 && *i != pair.1);
            eliminate_pair(&mut rows, &live, pair)?;
        }
    }
    Some(count)
}

fn largest<T>(sizes: impl Iterator<Item = (f64, T)>) -> Option<(f64, T)> {
    sizes.reduce(|best, next| if next.0 > best.0 { next } else { best })
}

fn at<F: Field>(rows: &[Vec<F>], i: usize, j: usize) -> F {
    rows[i.max(j)][i.min(j)].clone()
}

/// a_ij ← a_ij − a_ip a_jp / a_pp.
fn eliminate<F: Field>(rows: &mut [Vec<F>], live: &[usize], p: usize) -> Option<()> {
    let pivot = at(rows, p, p);
    let column: Vec<F> = live.iter().map(|i| at(rows, *i, p)).collect();
    for (s, i) in live.iter().enumerate() {
        let share = column[s].over(&pivot)?;
        for (t, j) in live[..=s].iter().enumerate() {
            rows[*i][*j] = rows[*i][*j].minus(&share.times(&column[t]));
        }
    }
    Some(())
}

/// The same for a block of order two; refused where its determinant may not be negative.
fn eliminate_pair<F: Field>(rows: &mut [Vec<F>], live: &[usize], (p, q): (usize, usize)) -> Option<()> {
    let (a, b, c) = (at(rows, p, p), at(rows, p, q), at(rows, q, q));
    let determinant = a.times(&c).minus(&b.times(&b));
    if determinant.sign()? != Ordering::Less {
        return None;
    }
    let columns: Vec<[F; 2]> = live.iter().map(|i| [at(rows, *i, p), at(rows, *i, q)]).collect();
    for (s, i) in live.iter().enumerate() {
        let [x, y] = &columns[s];
        let u = c.times(x).minus(&b.times(y)).over(&determinant)?;
        let v = a.times(y).minus(&b.times(x)).over(&determinant)?;
        for (t, j) in live[..=s].iter().enumerate() {
            let lost = u.times(&columns[t][0]).plus(&v.times(&columns[t][1]));
            rows[*i][*j] = rows[*i][*j].minus(&lost);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Ball;
    use dashu_int::IBig;
    use dashu_ratio::RBig;
    use eigenspan_core::linalg::random::Random;

    fn triangle<F: Field>(entries: &[&[i64]], bits: usize) -> Vec<Vec<F>> {
        entries.iter().map(|row| row.iter().map(|x| F::of(&IBig::from(*x), 0, bits)).collect()).collect()
    }

    #[test]
    fn small_matrices_have_the_inertia_that_they_have() {
        let cases: [(&[&[i64]], usize); 6] = [
            (&[&[0], &[1, 0]], 1),
            (&[&[0], &[0, 0]], 0),
            (&[&[2], &[1, 2]], 2),
            (&[&[1], &[2, 4], &[3, 6, 9]], 1),
            (&[&[0], &[1, 0], &[1, 1, 0]], 1),
            (&[&[-1], &[0, 3], &[0, 0, 0]], 1),
        ];
        for (entries, count) in cases {
            assert_eq!(positive(triangle::<RBig>(entries, 0)), Some(count), "{entries:?}");
            let by_balls = positive(triangle::<Ball>(entries, 64));
            assert!(by_balls.is_none_or(|c| c == count), "{entries:?}: {by_balls:?}");
        }
    }

    /// LDLᵀ of a known D, with L of small integers: the inertia is that of D, and zeros among it are seen by rationals only.
    #[test]
    fn a_congruence_keeps_the_inertia() {
        let mut random = Random::new(3);
        for round in 0..60 {
            let n = 1 + round % 7;
            let mut some = |span: u64| (random.bits() % span) as i64 - span as i64 / 2;
            let d: Vec<i64> = (0..n).map(|_| some(5)).collect();
            let l: Vec<Vec<i64>> = (0..n).map(|i| (0..n).map(|j| if i == j { 1 } else { some(7) }).collect()).collect();
            // Upper and lower unit triangles: their product is regular.
            let half =
                |i: usize, j: usize| (0..=i.min(j)).map(|t| l[i][t] * if t == j { 1 } else { l[t][j] }).sum::<i64>();
            let a: Vec<Vec<i64>> = (0..n)
                .map(|i| (0..=i).map(|j| (0..n).map(|t| half(i, t) * d[t] * half(j, t)).sum()).collect())
                .collect();
            let rows: Vec<&[i64]> = a.iter().map(Vec::as_slice).collect();
            let want = d.iter().filter(|x| **x > 0).count();
            assert_eq!(positive(triangle::<RBig>(&rows, 0)), Some(want), "{a:?}");
            assert!(positive(triangle::<Ball>(&rows, 128)).is_none_or(|count| count == want), "{a:?}");
        }
    }
}
