"""Built-in and synthetic data, and data from files."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Literal

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch, check_array

from . import _eigenspan
from ._base import NUMBERS, as_read_by_rust
from ._settings import as_threads

__all__ = ["corrupt", "load_digits", "load_file", "make_subspaces", "make_synthetic_faces", "split"]


def load_file(
    path: str | os.PathLike[str],
    *,
    label: str | int | None = None,
    array: str | None = None,
    image: tuple[int, int] | None = None,
    resize: tuple[int, int] | None = None,
    grey: bool = False,
) -> Bunch:
    """Samples from a file or a folder of images, as the command line reads them.

    The format is found by content: NPY, NPZ, IDX (MNIST), MATLAB up to version 7, Parquet, Arrow, CSV, TSV, LIBSVM; NPY,
    IDX, MATLAB and text also packed by gzip. In a folder every PNG, JPEG, PNM or BMP image is a sample, and the sub-folder
    it lies in is its class.

    Parameters
    ----------
    path : path-like
        The file or folder.
    label : str or int, optional
        The column of a table that holds the classes, by name or by number counted from 1. A column `label`, `class`,
        `target` or `y` is found by itself.
    array : str, optional
        The array of an NPZ or MATLAB file that holds the samples.
    image : (height, width), optional
        The image that each sample is, where the file does not tell.
    resize : (height, width), optional
        The size that images of a folder are brought to, by bicubic interpolation.
    grey : bool
        Whether colour images of a folder are turned to grey.

    Returns
    -------
    Bunch
        `data`, an array of float64, float32 or uint8, or a sparse array; and, where the file holds them or else None,
        `target` (the class of each sample as a number), `target_names`, `feature_names`, `ids`, `image_shape`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenspan import datasets
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "plants.csv"
    >>> _ = file.write_text("id,width,height,label\\na,1.5,2,oak\\nb,3,4,elm\\n")
    >>> plants = datasets.load_file(file)
    >>> plants.data
    array([[1.5, 2. ],
           [3. , 4. ]])
    >>> plants.target, plants.target_names, plants.ids
    (array([1, 0]), ['elm', 'oak'], ['a', 'b'])
    """
    asked = None if label is None else str(label)
    found = _eigenspan.read_file(os.fspath(path), asked, array, image, resize, grey)
    if "sparse" in found:
        parts, shape = found.pop("sparse")
        found["data"] = scipy.sparse.csr_array(parts, shape=shape)
    return Bunch(**found)


def load_digits() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """1797 handwritten digits of 8 × 8 pixels with values from 0 to 16.

    Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak (1998), UCI Machine Learning Repository, CC BY 4.0.

    Returns
    -------
    X : ndarray of shape (1797, 64), uint8
        The images, one a row.
    y : ndarray of shape (1797,)
        The digit that each is.

    Examples
    --------
    >>> from eigenspan import datasets
    >>> X, y = datasets.load_digits()
    >>> X.shape, y[:3]
    ((1797, 64), array([0, 1, 2]))
    """
    return _eigenspan.digits()


def make_subspaces(
    n_samples: int = 400,
    n_features: int = 200,
    *,
    n_subspaces: int = 3,
    dim: int = 4,
    noise: float = 0.3,
    random_state: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Samples from several random subspaces of the same dimension, plus Gaussian noise.

    The data have `n_subspaces * dim` dimensions while that is below the number of samples and of features.

    Parameters
    ----------
    n_samples, n_features : int
        The shape of the data.
    n_subspaces, dim : int
        How many subspaces, and the dimension of each.
    noise : float
        The expected length of the noise of a sample, relative to its signal.
    random_state : int
        The same seed gives the same data.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    y : ndarray of shape (n_samples,)
        The subspace that each is from.
    """
    return _eigenspan.subspaces(n_samples, n_features, n_subspaces, dim, noise, random_state)


def make_synthetic_faces(
    n_subjects: int = 38,
    n_images: int = 58,
    *,
    image_shape: tuple[int, int] = (54, 48),
    disguise: Literal["sunglasses", "scarf", "mixed"] | None = None,
    random_state: int = 1,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Rendered heads under many lights: synthetic faces, and nobody's.

    Each person is a smooth random shape with random paint, lit from the directions of the Extended Yale B set, with attached
    and cast shadows. The default has the size of the PCE paper's set.

    Parameters
    ----------
    n_subjects, n_images : int
        People, and images of each.
    image_shape : (height, width)
        The size of an image.
    disguise : {"sunglasses", "scarf", "mixed"}, optional
        What every second image wears, or two of three where mixed.
    random_state : int
        The same seed gives the same people.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Images do not depend on it.

    Returns
    -------
    X : ndarray of shape (n_subjects * n_images, height * width), uint8
        The images, one a row, one person after the other.
    y : ndarray of shape (n_subjects * n_images,)
        The person that each is, from 0 on.

    Examples
    --------
    >>> from eigenspan import datasets
    >>> X, y = datasets.make_synthetic_faces(3, 10, image_shape=(27, 24))
    >>> X.shape, X.dtype.name, y[:11]
    ((30, 648), 'uint8', array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]))
    """
    worn = "none" if disguise is None else disguise
    height, width = image_shape
    return _eigenspan.synthetic_faces(n_subjects, n_images, (height, width), worn, random_state, as_threads(n_jobs))


def corrupt(
    X: ArrayLike,
    kind: str,
    *,
    image_shape: tuple[int, int] | None = None,
    share: float = 1.0,
    random_state: int = 0,
    repeat: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Samples of which some are spoilt on purpose, as on the command line.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Grey images with values from 0 to 255, one a row.
    kind : str
        ``"gaussian:sd=25"`` adds normal noise, ``"gaussian:relative=0.1"`` noise in proportion to each value, ``"rpc:0.3"``
        replaces 30 % of the pixels by numbers from 0 to the image's largest, ``"block:0.2"`` a fifth of the image by noise,
        ``"salt-pepper:0.1"`` a tenth of the pixels by 0 or 255. Results are kept between 0 and 255.
    image_shape : (height, width), optional
        The size of an image, which a block needs.
    share : float, default=1.0
        The share of the samples that is spoilt.
    random_state, repeat : int
        Which noise. What happens to a sample depends on these and its number alone.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        All samples.
    rows : ndarray of int
        The numbers of the spoilt ones, in rising order.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenspan import datasets
    >>> spoilt, rows = datasets.corrupt(np.full((10, 100), 50.0), "salt-pepper:0.2", share=0.5)
    >>> len(rows), int((spoilt != 50).sum())
    (5, 100)
    """
    x = check_array(X, accept_sparse="csr", dtype=NUMBERS, ensure_all_finite=False)
    return _eigenspan.corrupt(as_read_by_rust(x), kind, image_shape, share, random_state, repeat)


def split(
    n_samples: int, train: int | float, *, y: ArrayLike | None = None, random_state: int = 0, repeat: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of the samples to train on, and of those to test on: the same as those of the command line.

    Parameters
    ----------
    n_samples : int
        How many samples there are.
    train : int or float
        How many to train on, or which share of them, between 0 and 1.
    y : array-like of shape (n_samples,), optional
        Classes: then `train` samples, or this share, of every class. Without them any samples, whatever their class.
    random_state, repeat : int
        Which split: repeats of a seed are independent of each other.

    Returns
    -------
    train, test : ndarray of int
        In rising order.

    Examples
    --------
    >>> from eigenspan import datasets
    >>> train, test = datasets.split(10, 0.7, random_state=1)
    >>> len(train), len(test)
    (7, 3)
    """
    whole = isinstance(train, Integral)
    classes = None if y is None else np.unique(np.asarray(y), return_inverse=True)[1].astype(np.int64)
    if classes is not None and len(classes) != n_samples:
        raise ValueError(f"{n_samples} samples need {n_samples} labels, got {len(classes)}")
    count, share = (int(train), 0.0) if whole else (None, float(train))
    chosen, others = _eigenspan.split(n_samples, classes, count, share, random_state, repeat)
    return chosen, others
