//! Deterministic pseudo-random numbers, the same for the same seed (splitmix64, Steele, Lea, Flood 2014 — `steele2014`
//! in `docs/references.bib`).

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform between −1 and 1.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Two independent normal numbers of mean 0 and deviation 1 (Marsaglia's polar method).
    pub fn normal_pair(&mut self) -> [f64; 2] {
        loop {
            let (a, b) = (self.uniform(), self.uniform());
            let square = a * a + b * b;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                return [a * factor, b * factor];
            }
        }
    }

    /// `count` normal numbers.
    pub fn normals(&mut self, count: usize) -> Vec<f64> {
        let mut values: Vec<f64> = (0..count.div_ceil(2)).flat_map(|_| self.normal_pair()).collect();
        values.truncate(count);
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_have_the_moments_of_the_normal_law() {
        let values = Random::new(1).normals(100_001);
        let moment = |p: i32| values.iter().map(|v| v.powi(p)).sum::<f64>() / values.len() as f64;
        assert!(moment(1).abs() < 0.02 && (moment(2) - 1.0).abs() < 0.03, "{} {}", moment(1), moment(2));
        assert!(moment(3).abs() < 0.05 && (moment(4) - 3.0).abs() < 0.2, "{} {}", moment(3), moment(4));
    }

    #[test]
    fn a_seed_gives_the_same_stream_and_another_seed_another() {
        assert_eq!(Random::new(7).normals(5), Random::new(7).normals(5));
        assert_ne!(Random::new(7).normals(5), Random::new(8).normals(5));
    }
}
