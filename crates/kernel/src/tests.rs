//! What the kernels promise, on every kernel that this machine can run.

use std::fmt::Debug;

use crate::gram::{Machine, STRIP, Sides, Stripe, accumulate_on};
use crate::panel::{Number, Panel};
use crate::probe::{VECTORS, probe_on};

/// The kernels that this machine can run; the same again where it has none of its own.
fn machines() -> [Machine; 3] {
    let plain = match Machine::detect() {
        Machine::Portable => Machine::Portable,
        #[cfg(target_arch = "x86_64")]
        Machine::Avx2(avx2) => Machine::Avx2(avx2.without_vnni()),
    };
    [Machine::Portable, plain, Machine::detect()]
}

/// Numbers without a pattern, the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 40
    }
}

/// Values small enough that every sum of a panel is exact in every type.
trait Exact: Number + Into<f64> + PartialEq + Debug {
    fn exact(random: u64) -> Self;
}
impl Exact for f64 {
    fn exact(random: u64) -> Self {
        (random % 2001) as f64 - 1000.0
    }
}
impl Exact for f32 {
    fn exact(random: u64) -> Self {
        (random % 201) as f32 - 100.0
    }
}
impl Exact for u8 {
    fn exact(random: u64) -> Self {
        (random % 256) as u8
    }
}

fn slab<T: Exact>(depth: usize, width: usize, seed: u64) -> Vec<T> {
    let mut random = Random(seed);
    (0..depth * width).map(|_| T::exact(random.next())).collect()
}

fn packed<T: Exact>(x: &[T], width: usize) -> Panel<T> {
    let mut panel = Panel::new(width);
    panel.set_depth(x.len() / width);
    panel.set_rows(0, x);
    panel
}

/// Σ_l A_li A_lj, term after term.
fn naive<T: Exact>(x: &[T], width: usize, i: usize, j: usize) -> f64 {
    x.chunks_exact(width).map(|row| row[i].into() * row[j].into()).sum()
}

fn gram<T: Exact>(machine: Machine, panel: &Panel<T>) -> Vec<f64> {
    let p = panel.width();
    let mut gram = vec![0.0; p * p];
    accumulate_on(machine, Sides::same(panel), Stripe::whole(&mut gram, p), []);
    gram
}

fn lower(gram: &[f64], p: usize) -> Vec<u64> {
    (0..p).flat_map(|i| gram[i * p..=i * p + i].iter().map(|entry| entry.to_bits())).collect()
}

fn equals_the_naive_sum<T: Exact>() {
    let widths = (1..=40).chain([47, 48, 49, 100, 131]);
    for width in widths {
        for depth in [0, 1, 2, 3, 4, 5, 7, 33, T::DEPTH - 1, T::DEPTH] {
            if width > 40 && depth > 40 && depth < T::DEPTH {
                continue;
            }
            let x = slab::<T>(depth, width, (width * 1000 + depth) as u64);
            let panel = packed(&x, width);
            for machine in machines() {
                let gram = gram(machine, &panel);
                for i in 0..width {
                    for j in 0..=i {
                        let (got, want) = (gram[i * width + j], naive(&x, width, i, j));
                        assert_eq!(got, want, "{width} columns, {depth} rows, entry {i}, {j}");
                    }
                }
            }
        }
    }
}

#[test]
fn doubles_equal_the_naive_sum() {
    equals_the_naive_sum::<f64>();
}

#[test]
fn singles_equal_the_naive_sum() {
    equals_the_naive_sum::<f32>();
}

#[test]
fn bytes_equal_the_naive_sum() {
    equals_the_naive_sum::<u8>();
}

#[test]
fn a_wide_gram_takes_several_blocks_of_rows() {
    let (depth, width) = (9, 700);
    let x = slab::<f64>(depth, width, 1);
    for machine in machines() {
        let gram = gram(machine, &packed(&x, width));
        for i in 0..width {
            for j in 0..=i {
                assert_eq!(gram[i * width + j], naive(&x, width, i, j), "entry {i}, {j}");
            }
        }
    }
}

#[test]
fn slabs_add_up() {
    let width = 30;
    let (x, y) = (slab::<u8>(50, width, 1), slab::<u8>(13, width, 2));
    for machine in machines() {
        let mut gram = gram(machine, &packed(&x, width));
        accumulate_on(machine, Sides::same(&packed(&y, width)), Stripe::whole(&mut gram, width), []);
        for i in 0..width {
            for j in 0..=i {
                assert_eq!(gram[i * width + j], naive(&x, width, i, j) + naive(&y, width, i, j));
            }
        }
    }
}

/// Rounding differs between kernels, but by no more than the bound of any order of summation.
fn rounds_within_the_bound<T: Exact>(epsilon: f64, real: impl Fn(f64) -> T) {
    let (depth, width) = (T::DEPTH, 37);
    let mut random = Random(3);
    let x: Vec<T> = (0..depth * width).map(|_| real(random.next() as f64 / 1.7e7 - 0.5)).collect();
    for machine in machines() {
        let gram = gram(machine, &packed(&x, width));
        for i in 0..width {
            for j in 0..=i {
                let magnitude: f64 = x.chunks_exact(width).map(|row| (row[i].into() * row[j].into()).abs()).sum();
                let error = (gram[i * width + j] - naive(&x, width, i, j)).abs();
                assert!(error <= depth as f64 * epsilon * magnitude, "entry {i}, {j}: {error:e}");
            }
        }
    }
}

#[test]
fn doubles_round_within_the_bound() {
    rounds_within_the_bound(f64::EPSILON, |value| value);
}

#[test]
fn singles_round_within_the_bound() {
    rounds_within_the_bound(f32::EPSILON.into(), |value| value as f32);
}

/// Real values: another order of summation would give other bits.
fn any_stripes_give_the_same_bits<T: Exact>(real: impl Fn(f64) -> T) {
    for width in [5, STRIP, 4 * STRIP, 7 * STRIP + 5] {
        let mut random = Random(width as u64);
        let x: Vec<T> = (0..100 * width).map(|_| real(random.next() as f64 / 1.7e7)).collect();
        let panel = packed(&x, width);
        let cuts: Vec<usize> = (STRIP..width).step_by(STRIP).collect();
        for machine in machines() {
            let whole = gram(machine, &panel);
            for chosen in 0..1_usize << cuts.len() {
                let mut split = vec![0.0; width * width];
                let ends = cuts.iter().enumerate().filter(|(c, _)| chosen >> c & 1 == 1).map(|(_, &cut)| cut);
                let mut start = 0;
                for end in ends.chain([width]) {
                    let entries = &mut split[start * width..end * width];
                    accumulate_on(
                        machine,
                        Sides::same(&panel),
                        Stripe { rows: start..end, entries, stride: width },
                        [],
                    );
                    start = end;
                }
                assert!(lower(&split, width) == lower(&whole, width), "{width} columns, stripes {chosen:b}");
            }
        }
    }
}

#[test]
fn any_stripes_of_doubles_give_the_same_bits() {
    any_stripes_give_the_same_bits(|value| value);
}

#[test]
fn any_stripes_of_singles_give_the_same_bits() {
    any_stripes_give_the_same_bits(|value| value as f32);
}

#[test]
fn any_stripes_of_bytes_give_the_same_bits() {
    any_stripes_give_the_same_bits(|value| (value * 255.0) as u8);
}

#[test]
fn a_full_panel_of_white_is_exact() {
    let (depth, width) = (u8::DEPTH, 50);
    let panel = packed(&vec![255_u8; depth * width], width);
    for machine in machines() {
        let gram = gram(machine, &panel);
        for i in 0..width {
            assert!(gram[i * width..=i * width + i].iter().all(|&entry| entry == (depth * 255 * 255) as f64));
        }
    }
}

fn rows_and_columns_fill_the_same_panel<T: Exact>() {
    for (depth, width) in [(1, 1), (7, 29), (T::DEPTH, 24), (6, 3), (11, 130)] {
        let x = slab::<T>(depth, width, 5);
        let column = |j: usize| -> Vec<T> { x.chunks_exact(width).map(|row| row[j]).collect() };
        let (mut rows, mut columns, mut strips) = (Panel::new(width), Panel::new(width), Panel::new(width));
        rows.set_depth(depth);
        for (l, row) in x.chunks_exact(width).enumerate().rev() {
            rows.set_row(l, row);
        }
        columns.set_depth(depth);
        for j in 0..width {
            columns.set_column(j, &column(j));
        }
        strips.set_depth(depth);
        let mut covered = 0;
        for mut strip in strips.strips_mut() {
            for j in strip.columns() {
                assert_eq!(j, covered);
                strip.set_column(j, &column(j));
                covered += 1;
            }
        }
        assert_eq!(covered, width);
        let (mut at_once, columns_of_x) = (Panel::new(width), (0..width).map(column).collect::<Vec<_>>());
        at_once.set_depth(depth);
        at_once.strips_mut().for_each(|mut strip| strip.set_columns(|j| &columns_of_x[j]));
        // From an odd row on, two rows that share a lane arrive in different calls.
        let mut parts = Panel::new(width);
        parts.set_depth(depth);
        parts.set_rows(depth / 3, &x[depth / 3 * width..]);
        parts.set_rows(0, &x[..depth / 3 * width]);
        let whole = packed(&x, width);
        for panel in [&rows, &columns, &strips, &at_once, &parts] {
            assert!(panel.registers() == whole.registers(), "{depth} rows, {width} columns");
        }
    }
}

#[test]
fn rows_and_columns_fill_the_same_panel_of_doubles() {
    rows_and_columns_fill_the_same_panel::<f64>();
}

#[test]
fn rows_and_columns_fill_the_same_panel_of_singles() {
    rows_and_columns_fill_the_same_panel::<f32>();
}

#[test]
fn rows_and_columns_fill_the_same_panel_of_bytes() {
    rows_and_columns_fill_the_same_panel::<u8>();
}

fn a_deeper_slab_leaves_no_trace<T: Exact>() {
    for depth in [1, 2, 3, 5, 6, 9] {
        let width = 19;
        let mut panel = packed(&slab::<T>(T::DEPTH, width, 1), width);
        let x = slab::<T>(depth, width, 2);
        for by_columns in [false, true] {
            panel.set_depth(T::DEPTH);
            panel.set_rows(0, &slab::<T>(T::DEPTH, width, 3));
            panel.set_depth(depth);
            match by_columns {
                false => panel.set_rows(0, &x),
                true => (0..width).for_each(|j| {
                    let column: Vec<T> = x.chunks_exact(width).map(|row| row[j]).collect();
                    panel.set_column(j, &column);
                }),
            }
            for machine in machines() {
                let (got, want) = (gram(machine, &panel), gram(machine, &packed(&x, width)));
                assert_eq!(lower(&got, width), lower(&want, width), "{depth} rows");
            }
        }
    }
}

#[test]
fn a_deeper_slab_leaves_no_trace_in_doubles() {
    a_deeper_slab_leaves_no_trace::<f64>();
}

#[test]
fn a_deeper_slab_leaves_no_trace_in_singles() {
    a_deeper_slab_leaves_no_trace::<f32>();
}

#[test]
fn a_deeper_slab_leaves_no_trace_in_bytes() {
    a_deeper_slab_leaves_no_trace::<u8>();
}

/// More to fetch than there are tiles, pieces shorter and longer than a tile takes, empty ones.
#[test]
fn fetching_ahead_changes_nothing() {
    let width = 29;
    let panel = packed(&slab::<f64>(41, width, 1), width);
    let next = slab::<f64>(1000, 3, 2);
    for machine in machines() {
        for pieces in [vec![&next[..]], vec![&next[..0], &next[..1], &next[5..90]], vec![&next[..7]; 100]] {
            let mut ahead = vec![0.0; width * width];
            accumulate_on(machine, Sides::same(&panel), Stripe::whole(&mut ahead, width), pieces);
            assert_eq!(lower(&ahead, width), lower(&gram(machine, &panel), width));
        }
    }
}

/// Whole numbers: every sum is exact, in any order.
#[test]
fn the_probe_is_the_gram_times_the_vectors() {
    for p in [1, 2, 3, 4, 5, 31, 256, 257, 300, 515] {
        for rows in [0, 1, 2, 3, 63, 64, 65, 130] {
            let x: Vec<f32> = slab(rows, p, 1);
            let vectors: Vec<f64> = slab(VECTORS, p, 2);
            let start: Vec<f64> = slab(VECTORS, p, 3);
            let mut want = start.clone();
            for row in x.chunks_exact(p) {
                for k in 0..VECTORS {
                    let y: f64 = (0..p).map(|j| vectors[k * p + j] * f64::from(row[j])).sum();
                    (0..p).for_each(|j| want[k * p + j] += y * f64::from(row[j]));
                }
            }
            for machine in machines() {
                let mut got = start.clone();
                probe_on(machine, &x, &vectors, &mut got);
                assert!(got == want, "{rows} rows of {p}");
            }
        }
    }
}

/// Zero times infinity is not a number: padding must not meet the data.
#[test]
fn an_infinite_value_stays_in_its_row_and_column() {
    let (depth, width, at) = (5, 26, 25);
    let mut x = slab::<f64>(depth, width, 1);
    x[2 * width + at] = f64::INFINITY;
    for l in 0..depth {
        x[l * width + 3] = x[l * width + 3].abs() + 1.0;
    }
    for machine in machines() {
        let gram = gram(machine, &packed(&x, width));
        for i in 0..at {
            assert!(gram[i * width..=i * width + i].iter().all(|entry| entry.is_finite()), "row {i}");
        }
        assert_eq!((gram[at * width + at], gram[at * width + 3]), (f64::INFINITY, f64::INFINITY));
    }
}

#[test]
#[should_panic(expected = "rows 0..13 of 30")]
fn stripes_begin_at_multiples() {
    let panel = packed(&slab::<f64>(2, 30, 1), 30);
    accumulate_on(
        Machine::Portable,
        Sides::same(&panel),
        Stripe { rows: 0..13, entries: &mut [0.0; 13 * 30], stride: 30 },
        [],
    );
}

#[test]
fn a_part_of_a_larger_matrix_is_added_to_and_nothing_beside_it() {
    let (width, stride) = (31, 40);
    let x: Vec<f64> = (0..9 * width).map(|i| ((i * 7) % 13) as f64).collect();
    let panel = packed(&x, width);
    for machine in machines() {
        let want = gram(machine, &panel);
        let mut large = vec![-1.0; width * stride];
        let (top, bottom) = large.split_at_mut(STRIP * stride);
        accumulate_on(machine, Sides::same(&panel), Stripe { rows: 0..STRIP, entries: top, stride }, []);
        // The last row may end with the width.
        let entries = &mut bottom[..(width - STRIP - 1) * stride + width];
        accumulate_on(machine, Sides::same(&panel), Stripe { rows: STRIP..width, entries, stride }, []);
        for i in 0..width {
            assert!((0..=i).all(|j| large[i * stride + j] == want[i * width + j] - 1.0), "row {i}");
            assert!(large[i * stride + width..(i + 1) * stride].iter().all(|v| *v == -1.0), "beside row {i}");
        }
    }
}

fn leaves_out_blank_columns<T: Exact>() {
    let (depth, width) = (T::DEPTH - 3, 61);
    let mut panel = Panel::<T>::new(width);
    // The same panel again and again: what a squeeze moved must not show in the slabs after it.
    for (round, blank) in [0..61, 0..0, 8..24, 40..61, 5..60, 0..60, 1..61, 0..0].into_iter().enumerate() {
        let mut x = slab::<T>(depth, width, round as u64);
        for row in x.chunks_exact_mut(width) {
            row[blank.clone()].fill(T::default());
        }
        panel.set_depth(depth);
        panel.set_rows(0, &x);
        panel.squeeze();
        for machine in machines() {
            let whole = gram(machine, &panel);
            for i in 0..width {
                for j in 0..=i {
                    assert_eq!(whole[i * width + j], naive(&x, width, i, j), "{blank:?} blank, entry {i}, {j}");
                }
            }
            let mut stripes = vec![0.0; width * width];
            let (top, bottom) = stripes.split_at_mut(3 * STRIP * width);
            accumulate_on(machine, Sides::same(&panel), Stripe { rows: 0..3 * STRIP, entries: top, stride: width }, []);
            accumulate_on(
                machine,
                Sides::same(&panel),
                Stripe { rows: 3 * STRIP..width, entries: bottom, stride: width },
                [],
            );
            assert_eq!(lower(&stripes, width), lower(&whole, width), "{blank:?} blank");
        }
    }
}

#[test]
fn blank_columns_are_left_out() {
    leaves_out_blank_columns::<f64>();
    leaves_out_blank_columns::<f32>();
    leaves_out_blank_columns::<u8>();
}

#[test]
fn a_product_of_two_panels_is_the_plain_sum_and_does_not_depend_on_its_stripes() {
    for machine in machines() {
        for (height, width, depth) in [(1, 1, 1), (5, 40, 7), (40, 5, 256), (29, 31, 100), (24, 12, 3)] {
            let whole = |i: usize| ((i * 7919 + 13) % 23) as f64 - 11.0;
            let left: Vec<f64> = (0..depth * height).map(whole).collect();
            let right: Vec<f64> = (0..depth * width).map(|i| whole(i + 5)).collect();
            let (a, b) = (packed(&left, height), packed(&right, width));
            let mut product = vec![1.0; height * width];
            for start in (0..height).step_by(STRIP) {
                let rows = start..(start + STRIP).min(height);
                let entries = &mut product[rows.start * width..rows.end * width];
                accumulate_on(
                    machine,
                    Sides { rows: &a, columns: &b, triangle: false },
                    Stripe { rows, entries, stride: width },
                    [],
                );
            }
            let sum = |i: usize, j: usize| (0..depth).map(|l| left[l * height + i] * right[l * width + j]).sum::<f64>();
            let want: Vec<f64> = (0..height * width).map(|at| 1.0 + sum(at / width, at % width)).collect();
            assert_eq!(product, want, "{height} × {width}, {depth} deep");
        }
    }
}
