//! A matrix as a grey picture: the larger a value, the darker.

use eigenspan_core::Mat;

/// The picture is at least this wide.
const LEAST_WIDTH: usize = 560;

/// Draws |values| as an 8-bit grey PNG, white at zero and black at the largest, each as a square, and returns its
/// bytes. Values that are not finite are drawn as zero.
///
/// ```
/// let png = eigenspan_render::greys(&eigenspan_core::Mat::from_fn(2, 2, |i, j| (i + j) as f64));
/// assert!(png.starts_with(b"\x89PNG"));
/// ```
pub fn greys(matrix: &Mat) -> Vec<u8> {
    let (rows, cols) = (matrix.rows().max(1), matrix.cols().max(1));
    let scale = LEAST_WIDTH.div_ceil(cols);
    let size = |v: f64| if v.is_finite() { v.abs() } else { 0.0 };
    let most = matrix.as_slice().iter().fold(0.0_f64, |most, v| most.max(size(*v)));
    let grey = |v: f64| if most > 0.0 { (255.0 * (1.0 - size(v) / most)).round() as u8 } else { 255 };
    let (width, height) = (cols * scale, rows * scale);
    let mut pixels = vec![255; width * height];
    for i in 0..matrix.rows() {
        for j in 0..matrix.cols() {
            let value = grey(matrix.at(i, j));
            for y in i * scale..(i + 1) * scale {
                pixels[y * width + j * scale..][..scale].fill(value);
            }
        }
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().expect("memory takes every byte");
    writer.write_image_data(&pixels).expect("memory takes every byte");
    writer.finish().expect("memory takes every byte");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_a_square_of_its_grey() {
        let matrix = Mat::from_fn(2, 2, |i, j| [[0.0, -1.0], [0.5, f64::NAN]][i][j]);
        let bytes = greys(&matrix);
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let (width, half) = (info.width as usize, info.width as usize / 2);
        assert_eq!((info.width, info.height), (560, 560));
        let at = |i: usize, j: usize| pixels[(i * half + half / 2) * width + j * half + half / 2];
        assert_eq!([at(0, 0), at(0, 1), at(1, 0), at(1, 1)], [255, 0, 128, 255]);
    }
}
