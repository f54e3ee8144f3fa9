//! A head: the height of its surface and its paint, at any point of its front.
//!
//! Lengths are in units of half a head's width, the origin is a little above the tip of the nose. Every size and
//! position varies from person to person by a normal share; draws are clipped at two deviations.

use std::f64::consts::TAU;

use crate::data::generate::Normal;

/// The disguise of a face, and its offset from the usual position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Worn {
    Nothing,
    Sunglasses((f64, f64)),
    Scarf((f64, f64)),
}

/// A property of the left and the right side, which differ in size.
type Twice = [f64; 2];
const SIDES: [(usize, f64); 2] = [(0, -1.0), (1, 1.0)];

/// The sizes and places of one head.
pub(super) struct Head {
    /// Its position in the image.
    place: (f64, f64),
    /// Half its width and height, and how far it stands out.
    skull: [f64; 3],
    /// Across and up.
    eyes: (f64, f64),
    sockets: Twice,
    balls: Twice,
    nose: Nose,
    /// Across, up and out.
    cheeks: [[f64; 3]; 2],
    /// Up and out.
    brow: (f64, f64),
    /// Up, half its width, and how full the lips are.
    mouth: [f64; 3],
    /// Up and out.
    chin: (f64, f64),
    dents: Waves,
    paint: Paint,
}

struct Nose {
    /// Position of the tip.
    tip: f64,
    width: f64,
    height: f64,
    wings: Twice,
}

struct Paint {
    skin: f64,
    blotches: [Waves; 2],
    /// Up, thickness, arch and darkness.
    eyebrows: [f64; 4],
    lips: f64,
    hair: Hair,
    beard: f64,
}

struct Hair {
    line: f64,
    curve: f64,
    parting: f64,
    tone: f64,
    lean: f64,
}

/// A smooth random function: waves of a few directions and lengths.
struct Waves(Vec<[f64; 4]>);

impl Waves {
    fn draw(count: usize, frequency: f64, size: f64, random: &mut Normal) -> Self {
        let size = size / (count as f64).sqrt();
        let wave =
            |_| [frequency * random.draw(), frequency * random.draw(), TAU * random.uniform(), size * random.draw()];
        Self((0..count).map(wave).collect())
    }

    fn at(&self, x: f64, y: f64) -> f64 {
        self.0.iter().map(|[across, up, phase, size]| size * (across * x + up * y + phase).cos()).sum()
    }
}

/// A smooth hill around a place, 1 at its top.
fn hill(dx: f64, dy: f64, wide: f64, tall: f64) -> f64 {
    (-(dx / wide).powi(2) - (dy / tall).powi(2)).exp()
}

/// A plateau around a place, 1 inside and 0 outside.
fn plateau(dx: f64, dy: f64, wide: f64, tall: f64) -> f64 {
    (-((dx / wide).powi(2) + (dy / tall).powi(2)).powi(3)).exp()
}

/// 0 far below zero, 1 far above.
fn rise(t: f64, width: f64) -> f64 {
    1.0 / (1.0 + (-t / width).exp())
}

fn mix(below: f64, above: f64, share: f64) -> f64 {
    below * (1.0 - share) + above * share
}

impl Head {
    /// A random head.
    pub fn draw(random: &mut Normal) -> Self {
        let mut by = |deviation: f64| deviation * random.draw().clamp(-2.0, 2.0);
        let eyes = (0.40 * (1.0 + by(0.08)), 0.20 + by(0.04));
        let tip = -0.22 + by(0.05);
        let brow = eyes.1 + 0.20 * (1.0 + by(0.1));
        let place = (by(0.02), by(0.02));
        let skull = [1.02 * (1.0 + by(0.05)), 1.30 * (1.0 + by(0.05)), 1.0 + by(0.10)];
        let sockets = [0.17 * (1.0 + by(0.3)), 0.17 * (1.0 + by(0.3))];
        let balls = [0.07 * (1.0 + by(0.3)), 0.07 * (1.0 + by(0.3))];
        let (width, height) = (0.15 * (1.0 + by(0.2)), 0.30 * (1.0 + by(0.25)));
        let nose = Nose { tip, width, height, wings: [0.09 * (1.0 + by(0.3)), 0.09 * (1.0 + by(0.3))] };
        let mut cheek = || [0.52 + by(0.04), -0.10 + by(0.05), 0.10 * (1.0 + by(0.4))];
        let cheeks = [cheek(), cheek()];
        let brow = (brow, 0.11 * (1.0 + by(0.4)));
        let mouth = [-0.58 + by(0.04), 0.30 * (1.0 + by(0.12)), 0.07 * (1.0 + by(0.3))];
        let chin = (-0.98 + by(0.05), 0.13 * (1.0 + by(0.4)));
        let dents = Waves::draw(8, 3.0, 0.035, random);
        let paint = Paint::draw(brow.0, random);
        Self { place, skull, eyes, sockets, balls, nose, cheeks, brow, mouth, chin, dents, paint }
    }

    /// Height and albedo at a point of the image.
    pub fn at(&self, x: f64, y: f64, worn: Worn) -> (f64, f64) {
        let (x, y) = (x + self.place.0, y + self.place.1);
        let [wide, tall, deep] = self.skull;
        let inside = 1.0 - (x.abs() / wide).powf(2.3) - ((y + 0.02).abs() / tall).powf(2.3);
        if inside <= 0.0 {
            return (0.0, 0.0);
        }
        let hair = self.paint.hair.at(x, y);
        let bumps = self.nose_at(x, y) + self.eyes_at(x, y) + self.mouth_at(x, y);
        let z = deep * inside.sqrt() + bumps + self.dents.at(x, y) + 0.06 * hair;
        let albedo = self.albedo(x, y, hair);
        match worn {
            Worn::Nothing => (z, albedo),
            Worn::Sunglasses(off) => {
                let glass = self.glasses(x - off.0, y - off.1);
                (z + 0.12 * glass, mix(albedo, 0.03, glass))
            }
            Worn::Scarf(off) => {
                let edge = self.nose.tip - 0.06 + 0.15 * x * x + off.1;
                let cloth = rise(edge - y, 0.015);
                let folds = (11.0 * (y + 0.35 * x * x) + 40.0 * off.0).sin();
                let knit = 0.38 + 0.10 * (34.0 * (x + off.0)).cos() * (40.0 * y).cos();
                (z + cloth * (0.10 + 0.025 * folds), mix(albedo, knit, cloth))
            }
        }
    }

    /// Two lenses, a bridge and the temples.
    fn glasses(&self, x: f64, y: f64) -> f64 {
        let (across, up) = self.eyes;
        let lenses = SIDES.map(|(_, side)| plateau(x - side * across, y - up + 0.01, 0.29, 0.20));
        let bar = (-((y - up - 0.07) / 0.035).powi(4)).exp() * if x.abs() < across { 1.0 } else { 0.8 };
        lenses.into_iter().fold(bar, f64::max)
    }

    fn nose_at(&self, x: f64, y: f64) -> f64 {
        let Nose { tip, width, height, wings } = self.nose;
        // 0 between the eyes, 1 at the tip.
        let down = ((self.eyes.1 - y) / (self.eyes.1 - tip)).clamp(0.0, 1.0);
        let end = if y < tip { (-((y - tip) / 0.07).powi(2)).exp() } else { 1.0 };
        let ridge = height * down.powf(1.2) * (-(x / (width * (0.55 + 0.6 * down))).powi(2)).exp() * end;
        ridge + SIDES.iter().map(|&(i, side)| wings[i] * hill(x - side * 0.15, y - tip, 0.08, 0.07)).sum::<f64>()
    }

    fn eyes_at(&self, x: f64, y: f64) -> f64 {
        let (across, up) = self.eyes;
        let one = |&(i, side): &(usize, f64)| {
            let [cheek_x, cheek_y, cheek] = self.cheeks[i];
            self.balls[i] * hill(x - side * across, y - up + 0.01, 0.13, 0.08)
                - self.sockets[i] * hill(x - side * across, y - up, 0.23, 0.15)
                + cheek * hill(x - side * cheek_x, y - cheek_y, 0.25, 0.22)
        };
        let (brow, out) = self.brow;
        let brow = out * (-((y - brow + 0.12 * x * x) / 0.10).powi(2)).exp() * (-(x / 0.75).powi(4)).exp();
        brow + SIDES.iter().map(one).sum::<f64>()
    }

    fn mouth_at(&self, x: f64, y: f64) -> f64 {
        let [up, wide, full] = self.mouth;
        let lips = full * hill(x, y - up - 0.055, wide, 0.05) + 1.1 * full * hill(x, y - up + 0.06, 0.85 * wide, 0.055);
        0.10 * hill(x, y - up, 0.38, 0.24) + lips - 0.05 * hill(x, y - up, 1.1 * wide, 0.025)
            + self.chin.1 * hill(x, y - self.chin.0, 0.30, 0.20)
    }

    fn albedo(&self, x: f64, y: f64, hair: f64) -> f64 {
        let (Paint { skin, blotches, eyebrows, lips, beard, .. }, [mouth, wide, _]) = (&self.paint, self.mouth);
        let (across, up) = self.eyes;
        let mut a = skin * (1.0 + blotches[0].at(x, y) + blotches[1].at(x, y));
        let [brow, thick, arch, dark] = *eyebrows;
        for (_, side) in SIDES {
            let dx = x - side * across;
            let strip = (-((y - brow + arch * dx * dx) / thick).powi(4) - (dx / 0.24).powi(4)).exp();
            a *= 1.0 - dark * strip;
            let eye = plateau(dx, y - up, 0.15, 0.06);
            a = mix(mix(a, 0.75, eye), 0.08, eye * plateau(dx, y - up, 0.065, 0.065));
            let lid = (-((y - up - 0.065 + 0.9 * dx * dx) / 0.022).powi(2) - (dx / 0.17).powi(4)).exp();
            a *= 1.0 - 0.5 * lid;
            a *= 1.0 - 0.6 * hill(x - side * 0.08, y - self.nose.tip + 0.07, 0.05, 0.03);
        }
        let red = (-((x / wide).powi(2) + ((y - mouth) / 0.11).powi(2)).powi(2)).exp();
        a *= 1.0 - lips * red;
        a *= 1.0 - 0.5 * (-((y - mouth) / 0.02).powi(2) - (x / wide).powi(4)).exp();
        a = mix(a, self.paint.hair.tone(x, y), hair);
        let jaw = rise(-(y + 0.42 - 0.3 * x.abs()), 0.06);
        (a * (1.0 - beard * jaw * (1.0 - red))).clamp(0.02, 1.0)
    }
}

impl Paint {
    fn draw(brow: f64, random: &mut Normal) -> Self {
        let blotches = [Waves::draw(10, 3.5, 0.07, random), Waves::draw(12, 9.0, 0.04, random)];
        let mut by = |deviation: f64| deviation * random.draw().clamp(-2.0, 2.0);
        let eyebrows =
            [brow + 0.05 + by(0.02), 0.055 * (1.0 + by(0.25)), 0.25 + by(0.12), (0.55 + by(0.2)).clamp(0.15, 0.9)];
        let (line, curve, parting) = (0.86 + by(0.10), 0.35 + by(0.25), by(0.15));
        let hair = Hair { line, curve, parting, tone: 0.06 + by(0.10).abs(), lean: 1.0 + by(0.5) };
        Self { skin: 0.62 + by(0.07), blotches, eyebrows, lips: 0.28 + by(0.08), hair, beard: by(0.3).max(0.0) }
    }
}

impl Hair {
    /// 1 where there is hair.
    fn at(&self, x: f64, y: f64) -> f64 {
        rise(y - self.line + self.curve * (x - self.parting).powi(2), 0.03)
    }

    fn tone(&self, x: f64, y: f64) -> f64 {
        self.tone * (1.0 + 0.12 * (40.0 * x + 9.0 * y * self.lean).cos())
    }
}
