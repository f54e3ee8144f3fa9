use super::*;

/// Decodes a sheet of these rows; gives its layout too, to find images by.
fn drawn(rows: &[SheetRow], shape: ImageShape) -> (Layout, Vec<u8>) {
    let bytes = contact_sheet(rows, shape).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let layout = Layout::of(rows.len(), shape).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Grayscale, png::BitDepth::Eight));
    assert_eq!((info.width as usize, info.height as usize), (layout.width, layout.height));
    (layout, pixels)
}

/// The grey of pixel `at` of one image.
fn grey((layout, pixels): &(Layout, Vec<u8>), row: usize, column: usize, at: usize) -> u8 {
    let (left, top) = layout.corner(row, column);
    let (x, y) = (at % layout.shape.width * layout.factor, at / layout.shape.width * layout.factor);
    pixels[(top + y) * layout.width + left + x]
}

fn row(original: [f64; 4], clean: [f64; 4], error: [f64; 4]) -> SheetRow {
    SheetRow { original: original.to_vec(), clean: clean.to_vec(), error: error.to_vec() }
}

const SQUARE: ImageShape = ImageShape { height: 2, width: 2 };

#[test]
fn the_sheet_is_as_large_as_its_images_headings_and_gaps() {
    let (layout, pixels) = drawn(&[row([0.0; 4], [0.0; 4], [0.0; 4])], SQUARE);
    assert_eq!((layout.factor, layout.width, layout.height), (48, 3 * 96 + 2 * 6 + 24, 96 + 18 + 6 + 24));
    assert_eq!(pixels.len(), layout.width * layout.height);
}

#[test]
fn the_original_runs_from_black_to_white_and_clean_is_clipped_to_it() {
    let sheet = drawn(&[row([-3.0, 0.0, 1.0, 5.0], [-9.0, 1.0, 5.0, 7.0], [0.0; 4])], SQUARE);
    assert_eq!([0, 1, 2, 3].map(|at| grey(&sheet, 0, 0, at)), [0, 96, 128, 255]);
    assert_eq!([0, 1, 2, 3].map(|at| grey(&sheet, 0, 1, at)), [0, 128, 255, 255]);
}

#[test]
fn no_error_is_mid_grey() {
    let sheet = drawn(&[row([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0], [0.0; 4])], SQUARE);
    assert_eq!([0, 1, 2, 3].map(|at| grey(&sheet, 0, 2, at)), [128; 4]);
}

#[test]
fn errors_of_all_rows_share_one_symmetric_scale() {
    let rows = [row([0.0; 4], [0.0; 4], [1.0, -1.0, 0.0, 0.5]), row([0.0; 4], [0.0; 4], [2.0, -2.0, 0.0, 0.5])];
    let sheet = drawn(&rows, SQUARE);
    assert_eq!([0, 1, 2, 3].map(|at| grey(&sheet, 0, 2, at)), [192, 65, 128, 160]);
    assert_eq!([0, 1, 2, 3].map(|at| grey(&sheet, 1, 2, at)), [255, 1, 128, 160]);
}

#[test]
fn constant_images_have_no_range_and_are_mid_grey() {
    let sheet = drawn(&[row([0.0; 4], [0.0; 4], [0.0; 4]), row([7.0; 4], [6.9; 4], [0.1; 4])], SQUARE);
    for column in 0..2 {
        assert_eq!([0, 1].map(|at| grey(&sheet, at, column, 0)), [MID_GREY; 2]);
    }
}

#[test]
fn the_largest_and_smallest_numbers_keep_their_greys() {
    let most = f64::MAX;
    let tiny = f64::from_bits(1);
    let sheet = drawn(&[row([-most, most, 0.0, 0.0], [0.0; 4], [most, -most, 0.0, 0.0])], SQUARE);
    assert_eq!([0, 1, 2].map(|at| grey(&sheet, 0, 0, at)), [0, 255, 128]);
    assert_eq!([0, 1, 2].map(|at| grey(&sheet, 0, 2, at)), [255, 1, 128]);
    let sheet = drawn(&[row([0.0, tiny, 0.0, 0.0], [0.0; 4], [tiny, 0.0, 0.0, 0.0])], SQUARE);
    assert_eq!([0, 1].map(|at| grey(&sheet, 0, 0, at)), [0, 255]);
}

#[test]
fn many_rows_continue_in_even_groups_beside_one_another_in_the_shape_of_a_slide() {
    let one = row([0.0, 1.0, 2.0, 3.0], [0.0; 4], [0.0; 4]);
    for (rows, groups, high) in [(1, 1, 1), (2, 2, 1), (12, 3, 4), (13, 3, 5), (30, 4, 8), (48, 5, 10)] {
        let sheet = drawn(&vec![one.clone(); rows], SQUARE);
        assert!(sheet.0.width * 3 >= sheet.0.height * 4 - 12);
        assert_eq!((sheet.0.groups, sheet.0.rows_a_group), (groups, high));
        assert!((0..rows).all(|at| grey(&sheet, at, 0, 3) == 255 && grey(&sheet, at, 0, 0) == 0));
    }
}

#[test]
fn images_do_not_touch_each_other_or_the_headings() {
    let black = row([0.0, 0.0, 0.0, 1.0], [0.0; 4], [0.0; 4]);
    let (layout, pixels) = drawn(&vec![black; 14], SQUARE);
    let inside = |x: usize, y: usize| {
        (0..14).flat_map(|row| (0..3).map(move |column| (row, column))).any(|(row, column)| {
            let (left, top) = layout.corner(row, column);
            (left..left + 96).contains(&x) && (top..top + 96).contains(&y)
        })
    };
    let below_headings = MARGIN + GLYPH.1 * HEADING_SCALE;
    let outside = (below_headings..layout.height).flat_map(|y| (0..layout.width).map(move |x| (x, y)));
    assert!(outside.filter(|&(x, y)| !inside(x, y)).all(|(x, y)| pixels[y * layout.width + x] == WHITE));
    assert!(pixels[..below_headings * layout.width].contains(&INK));
}

#[test]
fn long_columns_and_wide_rows_are_not_blown_up() {
    for (height, width) in [(1000, 1), (1, 1000)] {
        let shape = ImageShape { height, width };
        let long = SheetRow { original: vec![0.0; 1000], clean: vec![0.0; 1000], error: vec![0.0; 1000] };
        let (layout, _) = drawn(&[long], shape);
        assert_eq!(layout.factor, 1);
    }
}

#[test]
fn what_cannot_be_drawn_says_what_was_expected_and_found() {
    let mut short = row([0.0; 4], [0.0; 4], [0.0; 4]);
    short.clean.pop();
    let error = contact_sheet(&[short], SQUARE).unwrap_err();
    assert_eq!(error.to_string(), "the clean image of row 0: expected 4 values (2 × 2), found 3");
    assert_eq!(error.hint().unwrap(), "give a shape whose height × width is 3");

    let missing = row([0.0; 4], [0.0; 4], [0.0, 0.0, f64::NAN, 0.0]);
    let error = contact_sheet(&[missing], SQUARE).unwrap_err();
    assert_eq!(error, SheetError::NotFinite { row: 0, column: "error", at: 2 });

    assert_eq!(contact_sheet(&[], SQUARE), Err(SheetError::NoRows));
    let nothing = SheetRow { original: vec![], clean: vec![], error: vec![] };
    let flat = ImageShape { height: 0, width: 5 };
    assert_eq!(contact_sheet(&[nothing], flat), Err(SheetError::NoPixels { height: 0, width: 5 }));
    assert!(matches!(Layout::of(1 << 40, SQUARE), Err(SheetError::TooLarge { .. })));
}
