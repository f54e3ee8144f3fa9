"""Files that other programs write read to the numbers that were written, whatever their format."""

import gzip
import struct

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.io
import scipy.sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from eigenspan.datasets import load_file


def write_idx(path, x):
    """As MNIST comes, highest byte first."""
    kind = {"u1": 0x08, "i1": 0x09, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}[x.dtype.str[1:]]
    opened = gzip.open(path, "wb", 1) if path.name.endswith(".gz") else path.open("wb")
    with opened as file:
        file.write(struct.pack(f">BBBB{x.ndim}I", 0, 0, kind, x.ndim, *x.shape))
        file.write(x.astype(x.dtype.newbyteorder(">")).tobytes())


def write_pgm(path, image):
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width = image.shape
    path.write_bytes(b"P5\n%d %d\n255\n" % (width, height) + image.tobytes())


def write_folder(path, x):
    """Each sample as an image of one row."""
    for i, row in enumerate(x):
        write_pgm(path / f"{i:06}.pgm", row[None, :])


def table(x):
    return pa.table({f"x{j}": x[:, j] for j in range(x.shape[1])})


def write_arrow_stream(path, x):
    with pa.ipc.new_stream(str(path), table(x).schema) as out:
        out.write_table(table(x))


def write_csv_gz(path, x):
    with gzip.open(path, "wt", 1) as file:
        np.savetxt(file, x, delimiter=",", fmt="%.17g")


def write_libsvm(path, x):
    rows = (" ".join(f"{j + 1}:{float(value)!r}" for j, value in enumerate(row)) for row in x)
    path.write_text("".join(f"0 {row}\n" for row in rows))


def write_npy(path, x):
    with path.open("wb") as file:
        np.save(file, x)


def write_npz(path, x):
    with path.open("wb") as file:
        np.savez_compressed(file, X=x)


FLOATS = {
    "npy": write_npy,
    "npy, Fortran order": lambda path, x: write_npy(path, np.asfortranarray(x)),
    "npz": write_npz,
    "csv": lambda path, x: pd.DataFrame(x).to_csv(path, index=False, header=[f"x{j}" for j in range(x.shape[1])]),
    "csv, gzip": write_csv_gz,
    "tsv": lambda path, x: np.savetxt(path, x, delimiter="\t", fmt="%.17g"),
    "idx": write_idx,
    "libsvm": write_libsvm,
    "matlab": lambda path, x: scipy.io.savemat(path, {"fea": x}, appendmat=False),
    "matlab, packed": lambda path, x: scipy.io.savemat(path, {"fea": x}, appendmat=False, do_compression=True),
    "matlab, samples in columns": lambda path, x: scipy.io.savemat(path, {"DAT": x.T}, appendmat=False),
    "parquet, snappy": lambda path, x: pa.parquet.write_table(table(x), path),
    "parquet, polars": lambda path, x: pl.from_arrow(table(x)).write_parquet(path),
    "parquet, embedding": lambda path, x: pa.parquet.write_table(pa.table({"embedding": list(x)}), path),
    "feather, lz4": lambda path, x: pa.feather.write_feather(table(x), str(path)),
    "arrow stream": write_arrow_stream,
}

BYTES = {
    "npy": write_npy,
    "npz": write_npz,
    "idx": write_idx,
    "matlab": lambda path, x: scipy.io.savemat(path, {"fea": x}, appendmat=False),
    "parquet": lambda path, x: pa.parquet.write_table(table(x), path),
    "feather, lz4": lambda path, x: pa.feather.write_feather(table(x), str(path)),
    "folder of images": write_folder,
}


@pytest.mark.parametrize("numbers", ["float64", "uint8"])
def test_the_same_matrix_through_every_format_gives_the_same_model_bytes(tmp_path, command, numbers):
    rng = np.random.default_rng(7)
    x = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 12)) + 0.1 * rng.standard_normal((60, 12))
    if numbers == "uint8":
        x = np.clip(128 + 20 * x, 0, 255).astype(np.uint8)
    models = {}
    for name, write in (FLOATS if numbers == "float64" else BYTES).items():
        # Formats are found by content: all files have the same name, which is part of the model.
        data = tmp_path / name / "data"
        data.parent.mkdir()
        write(data, x)
        np.testing.assert_array_equal(load_file(data).data, x, err_msg=name, strict=True)
        # So is the shape of images, which only some formats tell.
        command("fit", data, "-o", data.parent / "model.espan", "--image", "1x12")
        models[name] = (data.parent / "model.espan").read_bytes()
    different = [name for name, model in models.items() if model != models["npy"]]
    assert not different


def test_what_comes_with_the_samples_comes_along(tmp_path):
    frame = pd.DataFrame({"id": ["a", "b", "c"], "width": [1.5, 2, 3], "height": [4.0, 5, 6], "label": ["x", "y", "x"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.assign(label=frame.label.astype("category")).to_feather(tmp_path / "t.arrow")
    pl.from_pandas(frame).write_ipc(tmp_path / "p.arrow")
    for path in tmp_path.iterdir():
        found = load_file(path)
        np.testing.assert_array_equal(found.data, frame[["width", "height"]])
        assert found.feature_names == ["width", "height"], path
        assert found.ids == ["a", "b", "c"]
        assert (found.target.tolist(), found.target_names) == ([0, 1, 0], ["x", "y"])


@pytest.mark.parametrize("numbers", [np.float64, np.float32])
def test_features_are_written_with_the_names_of_their_samples(tmp_path, command, digits, numbers):
    ids = [f"digit {i}" for i in range(len(digits))]
    pa.parquet.write_table(table(digits.astype(numbers)).add_column(0, "id", [ids]), tmp_path / "x.parquet")
    command("fit", tmp_path / "x.parquet", "-o", tmp_path / "m.espan")
    for name in ("z.npy", "z.csv", "z.parquet"):
        command("transform", tmp_path / "m.espan", tmp_path / "x.parquet", "-o", tmp_path / name)
    features = np.load(tmp_path / "z.npy")
    csv = pd.read_csv(tmp_path / "z.csv")
    for frame in (pd.read_parquet(tmp_path / "z.parquet"), csv):
        assert frame.pop("id").tolist() == ids
        assert list(frame.columns[:2]) == ["pce0", "pce1"]
        np.testing.assert_array_equal(frame.to_numpy().astype(numbers), features, strict=True)
    again = load_file(tmp_path / "z.parquet")
    np.testing.assert_array_equal(again.data, features, strict=True)
    assert again.ids == ids


def test_sparse_text_stays_sparse(tmp_path):
    x = scipy.sparse.random_array((30, 40), density=0.1, rng=np.random.default_rng(3), format="csr")
    for zero_based in (True, False):
        dump_svmlight_file(x, np.arange(30) % 3, str(tmp_path / "x"), zero_based=zero_based)
        theirs, y = load_svmlight_file(str(tmp_path / "x"), zero_based=zero_based)
        ours = load_file(tmp_path / "x")
        assert scipy.sparse.issparse(ours.data)
        np.testing.assert_array_equal(ours.data.toarray(), theirs.toarray())
        np.testing.assert_array_equal(ours.target, y)


def test_an_error_says_what_to_do(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,two\n")
    with pytest.raises(ValueError, match=r"x.csv: line 2, column 2 \(`b`\): expected a number, found `two`; leave the"):
        load_file(tmp_path / "x.csv")
    with pytest.raises(FileNotFoundError):
        load_file(tmp_path / "gone")


def test_faces_as_a_folder_of_pgm_files(tmp_path, shared):
    data = shared("exyaleb_54x48_first58.npz")
    for i, (image, label) in enumerate(zip(data["X"], data["y"], strict=True)):
        write_pgm(tmp_path / f"yaleB{label + 1:02}" / f"{i:05}.pgm", image.reshape(data["shape"]))
    found = load_file(tmp_path)
    np.testing.assert_array_equal(found.data, data["X"], strict=True)
    np.testing.assert_array_equal(found.target, data["y"])
    assert found.image_shape == tuple(data["shape"])
    assert found.ids[0] == "yaleB01/00000.pgm"


@pytest.mark.parametrize("packed", [False, True])
def test_digits_as_usps_all_comes(tmp_path, shared, packed):
    """256 × 1100 × 10: pixels column by column, then the samples of a class, then the classes 1 … 9, 0."""
    data = shared("usps_11000.npz")
    order = [np.flatnonzero(data["y"] == digit) for digit in [*range(1, 10), 0]]
    images = data["X"].reshape(-1, 16, 16)
    pages = np.stack([images[rows].transpose(2, 1, 0).reshape(256, -1) for rows in order], axis=2)
    scipy.io.savemat(tmp_path / "usps_all.mat", {"data": pages}, do_compression=packed)
    found = load_file(tmp_path / "usps_all.mat", image=(16, 16))
    np.testing.assert_array_equal(found.data, data["X"][np.concatenate(order)], strict=True)
    digits = [int(found.target_names[c]) % 10 for c in found.target]
    np.testing.assert_array_equal(digits, data["y"][np.concatenate(order)])
    assert found.image_shape == (16, 16)


def test_mnist_as_idx_gz(tmp_path, shared):
    data = shared("mnist_70000.npz")
    write_idx(tmp_path / "train-images-idx3-ubyte.gz", data["X"].reshape(-1, *data["shape"]))
    write_idx(tmp_path / "train-labels-idx1-ubyte.gz", data["y"].astype(np.uint8))
    found = load_file(tmp_path / "train-images-idx3-ubyte.gz")
    np.testing.assert_array_equal(found.data, data["X"], strict=True)
    np.testing.assert_array_equal(found.target, data["y"])
    assert found.image_shape == (28, 28)
