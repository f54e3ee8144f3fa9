//! The guarantees of the kernels, on every kernel that this machine can run.

use std::fmt::Debug;

use crate::gram::{Prefetch, STRIPE_ROWS, Stripe, accumulate, accumulate_prefetching, accumulate_product};
use crate::machine::Machine;
use crate::panel::{Number, Panel};
use crate::probe::{VECTORS, probe_on};

/// Deterministic pseudo-random numbers.
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

fn packed<T: Exact>(machine: Machine, x: &[T], width: usize) -> Panel<T> {
    let mut panel = Panel::on(machine, width);
    panel.set_depth(x.len() / width);
    panel.set_rows(0, x);
    panel
}

/// Σ_l A_li A_lj, term after term.
fn naive<T: Exact>(x: &[T], width: usize, i: usize, j: usize) -> f64 {
    x.chunks_exact(width).map(|row| row[i].into() * row[j].into()).sum()
}

fn gram<T: Exact>(panel: &Panel<T>) -> Vec<f64> {
    let p = panel.width();
    let mut gram = vec![0.0; p * p];
    accumulate(panel, Stripe::whole(&mut gram, p));
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
            for machine in Machine::all() {
                let gram = gram(&packed(machine, &x, width));
                for i in 0..width {
                    for j in 0..=i {
                        let (got, expected) = (gram[i * width + j], naive(&x, width, i, j));
                        assert_eq!(got, expected, "{width} columns, {depth} rows, entry {i}, {j}");
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
    for machine in Machine::all() {
        let gram = gram(&packed(machine, &x, width));
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
    for machine in Machine::all() {
        let mut gram = gram(&packed(machine, &x, width));
        accumulate(&packed(machine, &y, width), Stripe::whole(&mut gram, width));
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
    for machine in Machine::all() {
        let gram = gram(&packed(machine, &x, width));
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
    for width in [5, STRIPE_ROWS, 4 * STRIPE_ROWS, 7 * STRIPE_ROWS + 5] {
        let mut random = Random(width as u64);
        let x: Vec<T> = (0..100 * width).map(|_| real(random.next() as f64 / 1.7e7)).collect();
        let cuts: Vec<usize> = (STRIPE_ROWS..width).step_by(STRIPE_ROWS).collect();
        for machine in Machine::all() {
            let panel = packed(machine, &x, width);
            let whole = gram(&panel);
            for chosen in 0..1_usize << cuts.len() {
                let mut split = vec![0.0; width * width];
                let ends = cuts.iter().enumerate().filter(|(c, _)| chosen >> c & 1 == 1).map(|(_, &cut)| cut);
                let mut start = 0;
                for end in ends.chain([width]) {
                    let entries = &mut split[start * width..end * width];
                    accumulate(&panel, Stripe { rows: start..end, entries, stride: width });
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
    for machine in Machine::all() {
        let gram = gram(&packed(machine, &vec![255_u8; depth * width], width));
        for i in 0..width {
            assert!(gram[i * width..=i * width + i].iter().all(|&entry| entry == (depth * 255 * 255) as f64));
        }
    }
}

fn rows_and_columns_fill_the_same_panel<T: Exact>() {
    let shapes = [(1, 1), (7, 29), (T::DEPTH, 24), (6, 3), (11, 130)];
    for (machine, (depth, width)) in Machine::all().into_iter().flat_map(|machine| shapes.map(|shape| (machine, shape)))
    {
        let empty = || Panel::on(machine, width);
        let x = slab::<T>(depth, width, 5);
        let column = |j: usize| -> Vec<T> { x.chunks_exact(width).map(|row| row[j]).collect() };
        let (mut rows, mut columns, mut strips) = (empty(), empty(), empty());
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
        let (mut at_once, columns_of_x) = (empty(), (0..width).map(column).collect::<Vec<_>>());
        at_once.set_depth(depth);
        at_once.strips_mut().for_each(|mut strip| strip.set_columns(|j| &columns_of_x[j]));
        // From an odd row on, two rows that share a lane are set by different calls.
        let mut parts = empty();
        parts.set_depth(depth);
        parts.set_rows(depth / 3, &x[depth / 3 * width..]);
        parts.set_rows(0, &x[..depth / 3 * width]);
        let mut whole = packed(machine, &x, width);
        for panel in [&mut rows, &mut columns, &mut strips, &mut at_once, &mut parts] {
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
    for (depth, machine) in
        [1, 2, 3, 5, 6, 9].into_iter().flat_map(|depth| Machine::all().into_iter().map(move |m| (depth, m)))
    {
        let width = 19;
        let mut panel = packed(machine, &slab::<T>(T::DEPTH, width, 1), width);
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
            let (got, expected) = (gram(&panel), gram(&packed(machine, &x, width)));
            assert_eq!(lower(&got, width), lower(&expected, width), "{depth} rows");
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

/// More to prefetch than there are tiles, pieces shorter and longer than a tile takes, empty ones.
#[test]
fn prefetching_changes_no_bit() {
    let width = 29;
    let next = slab::<f64>(1000, 3, 2);
    for machine in Machine::all() {
        let panel = packed(machine, &slab::<f64>(41, width, 1), width);
        for pieces in [vec![&next[..]], vec![&next[..0], &next[..1], &next[5..90]], vec![&next[..7]; 100]] {
            let mut ahead = vec![0.0; width * width];
            accumulate_prefetching(&panel, Stripe::whole(&mut ahead, width), pieces.into_iter().map(Prefetch::of));
            assert_eq!(lower(&ahead, width), lower(&gram(&panel), width));
        }
    }
}

/// Integers: every sum is exact, in any order.
#[test]
fn the_probe_is_the_gram_times_the_vectors() {
    for p in [1, 2, 3, 4, 5, 31, 256, 257, 300, 515] {
        for rows in [0, 1, 2, 3, 63, 64, 65, 130] {
            let x: Vec<f32> = slab(rows, p, 1);
            let vectors: Vec<f64> = slab(VECTORS, p, 2);
            let start: Vec<f64> = slab(VECTORS, p, 3);
            let mut expected = start.clone();
            for row in x.chunks_exact(p) {
                for k in 0..VECTORS {
                    let y: f64 = (0..p).map(|j| vectors[k * p + j] * f64::from(row[j])).sum();
                    (0..p).for_each(|j| expected[k * p + j] += y * f64::from(row[j]));
                }
            }
            for machine in Machine::all() {
                let mut got = start.clone();
                probe_on(machine, &x, &vectors, &mut got);
                assert!(got == expected, "{rows} rows of {p}");
            }
        }
    }
}

/// Zero times infinity is NaN: padding must not meet the data.
#[test]
fn an_infinite_value_stays_in_its_row_and_column() {
    let (depth, width, at) = (5, 26, 25);
    let mut x = slab::<f64>(depth, width, 1);
    x[2 * width + at] = f64::INFINITY;
    for l in 0..depth {
        x[l * width + 3] = x[l * width + 3].abs() + 1.0;
    }
    for machine in Machine::all() {
        let gram = gram(&packed(machine, &x, width));
        for i in 0..at {
            assert!(gram[i * width..=i * width + i].iter().all(|entry| entry.is_finite()), "row {i}");
        }
        assert_eq!((gram[at * width + at], gram[at * width + 3]), (f64::INFINITY, f64::INFINITY));
    }
}

#[test]
#[should_panic(expected = "rows 0..13 of 30")]
fn stripes_begin_at_multiples() {
    let panel = packed(Machine::Portable, &slab::<f64>(2, 30, 1), 30);
    accumulate(&panel, Stripe { rows: 0..13, entries: &mut [0.0; 13 * 30], stride: 30 });
}

#[test]
fn only_the_given_part_of_a_larger_matrix_is_updated() {
    let (width, stride) = (31, 40);
    let x: Vec<f64> = (0..9 * width).map(|i| ((i * 7) % 13) as f64).collect();
    for machine in Machine::all() {
        let panel = packed(machine, &x, width);
        let expected = gram(&panel);
        let mut large = vec![-1.0; width * stride];
        let (top, bottom) = large.split_at_mut(STRIPE_ROWS * stride);
        accumulate(&panel, Stripe { rows: 0..STRIPE_ROWS, entries: top, stride });
        // The last row may end at the width.
        let entries = &mut bottom[..(width - STRIPE_ROWS - 1) * stride + width];
        accumulate(&panel, Stripe { rows: STRIPE_ROWS..width, entries, stride });
        for i in 0..width {
            assert!((0..=i).all(|j| large[i * stride + j] == expected[i * width + j] - 1.0), "row {i}");
            assert!(large[i * stride + width..(i + 1) * stride].iter().all(|v| *v == -1.0), "beside row {i}");
        }
    }
}

fn leaves_out_blank_columns<T: Exact>(machine: Machine) {
    let (depth, width) = (T::DEPTH - 3, 93);
    let mut panel = Panel::<T>::on(machine, width);
    // The same panel again and again: what dropping columns moved must not show in later slabs.
    let blanks: [fn(usize) -> bool; 10] = [
        |_| true,
        |_| false,
        |j| (16..48).contains(&j),
        |j| j >= 72,
        |j| (5..92).contains(&j),
        |j| j < 92,
        |j| j > 0,
        |j| j % 3 == 0,
        |j| j % 5 != 2,
        |_| false,
    ];
    for (round, blank) in blanks.into_iter().enumerate() {
        let mut x = slab::<T>(depth, width, round as u64);
        for (at, value) in x.iter_mut().enumerate().filter(|(at, _)| blank(at % width)) {
            // A column with one nonzero value is not blank, wherever the value is.
            if at != (depth - 1) * width + 40 {
                *value = T::default();
            }
        }
        panel.set_depth(depth);
        panel.set_rows(0, &x);
        panel.drop_zero_columns();
        let whole = gram(&panel);
        for i in 0..width {
            for j in 0..=i {
                assert_eq!(whole[i * width + j], naive(&x, width, i, j), "round {round}, entry {i}, {j}");
            }
        }
        let mut stripes = vec![0.0; width * width];
        let (top, bottom) = stripes.split_at_mut(3 * STRIPE_ROWS * width);
        accumulate(&panel, Stripe { rows: 0..3 * STRIPE_ROWS, entries: top, stride: width });
        accumulate(&panel, Stripe { rows: 3 * STRIPE_ROWS..width, entries: bottom, stride: width });
        assert_eq!(lower(&stripes, width), lower(&whole, width), "round {round}");
    }
}

#[test]
fn blank_columns_are_left_out() {
    for machine in Machine::all() {
        leaves_out_blank_columns::<f64>(machine);
        leaves_out_blank_columns::<f32>(machine);
        leaves_out_blank_columns::<u8>(machine);
    }
}

#[test]
fn a_product_of_two_panels_is_the_plain_sum_and_does_not_depend_on_its_stripes() {
    for machine in Machine::all() {
        for (height, width, depth) in [(1, 1, 1), (5, 40, 7), (40, 5, 256), (29, 31, 100), (24, 12, 3), (60, 70, 20)] {
            let whole = |i: usize| ((i * 7919 + 13) % 23) as f64 - 11.0;
            let left: Vec<f64> = (0..depth * height).map(whole).collect();
            let right: Vec<f64> = (0..depth * width).map(|i| whole(i + 5)).collect();
            let (a, b) = (packed(machine, &left, height), packed(machine, &right, width));
            let mut product = vec![1.0; height * width];
            for start in (0..height).step_by(STRIPE_ROWS) {
                let rows = start..(start + STRIPE_ROWS).min(height);
                let entries = &mut product[rows.start * width..rows.end * width];
                accumulate_product(&a, &b, Stripe { rows, entries, stride: width });
            }
            let sum = |i: usize, j: usize| (0..depth).map(|l| left[l * height + i] * right[l * width + j]).sum::<f64>();
            let expected: Vec<f64> = (0..height * width).map(|at| 1.0 + sum(at / width, at % width)).collect();
            assert_eq!(product, expected, "{height} × {width}, {depth} deep");
        }
    }
}
