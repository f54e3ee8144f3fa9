//! The two kinds of numbers that a count is decided in: balls, which are fast and say when they cannot tell, and
//! rationals, which always can.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | c, r, e | `center`, `radius`, `exponent` | the ball of all x with \|x − c·2ᵉ\| ≤ r·2ᵉ; c, r and e are integers |
//! | b | `bits` | a center is rounded to b bits, and the radius grows by what that moves it |
//!
//! Every operation gives a ball that holds all results for all numbers of its operands, so a sign that a ball tells is
//! proved:
//! ```text
//!     xy   |c₁|r₂ + |c₂|r₁ + r₁r₂          x/y   (r₁ + |c₁/c₂|·r₂) / (|c₂| − r₂)
//! ```

use std::cmp::Ordering;

use dashu_int::ops::{Abs, BitTest, SquareRoot};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Numbers that can be added, multiplied and divided, and that know their sign or say that they do not.
pub trait Field: Clone {
    /// `value`·2^`exponent`, where `bits` matter to numbers that round.
    fn of(value: &IBig, exponent: isize, bits: usize) -> Self;
    /// √`value`; `None` where that is not a number of this kind.
    fn root(value: &UBig, bits: usize) -> Option<Self>;
    /// Sum.
    fn plus(&self, other: &Self) -> Self;
    /// Difference.
    fn minus(&self, other: &Self) -> Self;
    /// Product.
    fn times(&self, other: &Self) -> Self;
    /// Quotient; `None` where the divisor may be zero.
    fn over(&self, other: &Self) -> Option<Self>;
    /// Less than, equal to or greater than zero, where that is known.
    fn sign(&self) -> Option<Ordering>;
    /// log₂ of the largest absolute value that this may be, roughly; −∞ for zero.
    fn size(&self) -> f64;
}

/// All numbers within a radius of a center. See the head of this file.
#[derive(Debug, Clone)]
pub struct Ball {
    center: IBig,
    radius: IBig,
    exponent: isize,
    bits: usize,
}

impl Ball {
    /// The same or a slightly larger ball, whose integers have about `bits` bits.
    fn trimmed(mut self) -> Self {
        let surplus = self.center.bit_len().max(self.radius.bit_len()).saturating_sub(self.bits);
        if surplus == 0 {
            return self;
        }
        let exact = self.radius == IBig::ZERO && self.center.trailing_zeros().is_none_or(|zeros| zeros >= surplus);
        self.center >>= surplus;
        // The center moved by less than one, and the radius lost less than one.
        self.radius = if exact { IBig::ZERO } else { (self.radius >> surplus) + IBig::from(2) };
        self.exponent += surplus as isize;
        self
    }

    /// Centers and radii in units of one power of two.
    fn aligned(&self, other: &Self) -> ([IBig; 4], isize) {
        let exponent = self.exponent.min(other.exponent);
        let at = |ball: &Self, value: &IBig| value << (ball.exponent - exponent) as usize;
        let [a, b] = [self, other].map(|ball| [at(ball, &ball.center), at(ball, &ball.radius)]);
        let ([a, r], [b, s]) = (a, b);
        ([a, r, b, s], exponent)
    }
}

impl Field for Ball {
    fn of(value: &IBig, exponent: isize, bits: usize) -> Self {
        Self { center: value.clone(), radius: IBig::ZERO, exponent, bits }.trimmed()
    }

    fn root(value: &UBig, bits: usize) -> Option<Self> {
        let half = bits.saturating_sub(value.bit_len() / 2);
        let wide = value << (2 * half);
        let root = wide.sqrt();
        let radius = IBig::from(u8::from(&root * &root != wide));
        Some(Self { center: root.into(), radius, exponent: -(half as isize), bits }.trimmed())
    }

    fn plus(&self, other: &Self) -> Self {
        let ([a, r, b, s], exponent) = self.aligned(other);
        Self { center: a + b, radius: r + s, exponent, bits: self.bits }.trimmed()
    }

    fn minus(&self, other: &Self) -> Self {
        let ([a, r, b, s], exponent) = self.aligned(other);
        Self { center: a - b, radius: r + s, exponent, bits: self.bits }.trimmed()
    }

    fn times(&self, other: &Self) -> Self {
        let crossed = (&self.center).abs() * &other.radius + (&other.center).abs() * &self.radius;
        let radius = crossed + &self.radius * &other.radius;
        let (center, exponent) = (&self.center * &other.center, self.exponent + other.exponent);
        Self { center, radius, exponent, bits: self.bits }.trimmed()
    }

    fn over(&self, other: &Self) -> Option<Self> {
        let nearest = (&other.center).abs() - &other.radius;
        if nearest <= IBig::ZERO {
            return None;
        }
        let digits = self.bits + 2 + other.center.bit_len();
        let shift = digits.saturating_sub(self.center.bit_len());
        let dividend = &self.center << shift;
        let center = &dividend / &other.center;
        let exact = self.radius == IBig::ZERO && other.radius == IBig::ZERO && &center * &other.center == dividend;
        let far = (&self.radius << shift) + ((&center).abs() + IBig::ONE) * &other.radius;
        // One for the quotient of the centers, one for that of the radii.
        let radius = if exact { IBig::ZERO } else { far / nearest + IBig::from(2) };
        let exponent = self.exponent - other.exponent - shift as isize;
        Some(Self { center, radius, exponent, bits: self.bits }.trimmed())
    }

    fn sign(&self) -> Option<Ordering> {
        match () {
            () if self.radius == IBig::ZERO => Some(self.center.cmp(&IBig::ZERO)),
            () if self.center > self.radius => Some(Ordering::Greater),
            () if -&self.center > self.radius => Some(Ordering::Less),
            () => None,
        }
    }

    fn size(&self) -> f64 {
        logarithm(&((&self.center).abs() + &self.radius)) + self.exponent as f64
    }
}

impl Field for RBig {
    fn of(value: &IBig, exponent: isize, _: usize) -> Self {
        let power = UBig::ONE << exponent.unsigned_abs();
        match exponent {
            0.. => Self::from(value * IBig::from(power)),
            _ => Self::from_parts(value.clone(), power),
        }
    }

    fn root(value: &UBig, _: usize) -> Option<Self> {
        let root = value.sqrt();
        (&root * &root == *value).then(|| Self::from(root))
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn minus(&self, other: &Self) -> Self {
        self - other
    }

    fn times(&self, other: &Self) -> Self {
        self * other
    }

    fn over(&self, other: &Self) -> Option<Self> {
        (*other != Self::ZERO).then(|| self / other)
    }

    fn sign(&self) -> Option<Ordering> {
        Some(self.numerator().cmp(&IBig::ZERO))
    }

    fn size(&self) -> f64 {
        logarithm(&self.numerator().abs()) - logarithm(&self.denominator().clone().into())
    }
}

/// log₂ of a number that is not negative, from its first bits.
fn logarithm(value: &IBig) -> f64 {
    let surplus = value.bit_len().saturating_sub(50);
    match u64::try_from(value >> surplus) {
        Ok(0) | Err(_) => f64::NEG_INFINITY,
        Ok(first) => (first as f64).log2() + surplus as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_core::linalg::random::Random;

    /// Whether a ball holds a rational.
    fn holds(ball: &Ball, x: &RBig) -> bool {
        let at = |value: IBig| RBig::of(&value, ball.exponent, 0);
        at(&ball.center - &ball.radius) <= *x && *x <= at(&ball.center + &ball.radius)
    }

    #[test]
    fn balls_hold_what_rationals_compute() {
        let mut random = Random::new(1);
        for round in 0..400 {
            let mut some = || IBig::from(random.bits() as i64 >> (random.bits() % 60));
            let parts: Vec<(IBig, isize)> = (0..4).map(|i| (some(), (i * round) % 90 - 40)).collect();
            let [a, b, c, d] = [0, 1, 2, 3].map(|i: usize| Ball::of(&parts[i].0, parts[i].1, 24));
            let [p, q, r, s] = [0, 1, 2, 3].map(|i: usize| RBig::of(&parts[i].0, parts[i].1, 0));
            let (sum, exact) = (a.times(&b).plus(&c.minus(&d)), p.times(&q).plus(&r.minus(&s)));
            assert!(holds(&sum, &exact), "{round}");
            assert!(sum.sign().is_none_or(|sign| Some(sign) == Field::sign(&exact)), "{round}");
            if let (Some(ratio), Some(exact)) = (a.plus(&c).over(&sum), p.plus(&r).over(&exact)) {
                assert!(holds(&ratio, &exact), "{round}");
            }
        }
    }

    #[test]
    fn a_root_squared_holds_the_number_and_a_whole_root_is_exact() {
        for value in [2u32, 3, 10, 144, 1 << 20] {
            let root = Ball::root(&UBig::from(value), 100).unwrap();
            assert!(holds(&root.times(&root), &RBig::from(value)));
            assert!((root.size() - 0.5 * f64::from(value).log2()).abs() < 1e-9);
        }
        assert_eq!(RBig::root(&UBig::from(144u32), 0), Some(RBig::from(12)));
        assert_eq!(RBig::root(&UBig::from(145u32), 0), None);
    }
}
