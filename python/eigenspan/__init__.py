"""How many dimensions do your data really have? And the projection onto them.

>>> from eigenspan import PCE, datasets
>>> X, y = datasets.make_subspaces(n_samples=400, n_features=200, n_subspaces=3, dim=4, noise=0.3)
>>> pce = PCE().fit(X)                      # nothing to choose
>>> pce.n_components_
12
>>> pce.transform(X).shape
(400, 12)

| name | what it is |
|---|---|
| `PCE` | Principal Coefficients Embedding: finds the dimension by itself |
| `Summary` | what is kept of samples in portions or partitions, to be merged and finished to a `PCE` |
| `eigenspan.dask`, `eigenspan.spark` | PCE of Dask and Spark collections; modules to import |
| `PCA` | principal component analysis, exact, also of sparse data, with a dimension if you have none |
| `LPP`, `NPE`, `LLE`, `L1Graph` | projections, and an embedding, that keep a graph between the samples |
| `NMF`, `NeNMF` | samples as sums of parts |
| `RandomProjection` | random directions that keep all distances within a share |
| `RobustPCA`, `ROSL` | a low-rank and a sparse part, and the projection onto the first |
| `Eigenfaces` | PCA as the comparisons of the paper ran it |
| `dimension` | how many dimensions, by several estimators side by side |
| `MLE`, `MiNDML`, `MiNDKL`, `DANCo`, `FastDANCo`, `TwoNN`, `CorrelationDimension`, `ParallelAnalysis` | each of them |
| `NearestNeighbour`, `LinearSVM`, `SRC`, `CESR` | classifiers |
| `evaluate` | how often methods and classifiers are right on samples they have not seen |
| `verification` | are two samples of the same class? |
| `load`, `save` | model files (`.espan`), the same as those of the command line |
| `to_onnx` | a model for runtimes without this package |
| `datasets` | built-in and synthetic data, data from files of many formats, and corruptions |
"""

from . import datasets, verification
from ._base import Recovery, SpectrumWarning
from ._classifiers import CESR, SRC, LinearSVM, NearestNeighbour
from ._dimension import Dimensions, Estimated, dimension
from ._eigenfaces import Eigenfaces
from ._eigenspan import VERSION as __version__
from ._estimators import (
    MLE,
    CorrelationDimension,
    DANCo,
    FastDANCo,
    MiNDKL,
    MiNDML,
    ParallelAnalysis,
    TwoNN,
)
from ._evaluate import evaluate
from ._files import load, save, to_onnx
from ._graph import LLE, LPP, NPE, L1Graph
from ._method import Trace
from ._nonnegative import NMF, NeNMF
from ._pca import PCA
from ._pce import PCE
from ._random_projection import RandomProjection
from ._robust import ROSL, RobustPCA
from ._summary import Summary

__all__ = [
    "CESR",
    "LLE",
    "LPP",
    "MLE",
    "NMF",
    "NPE",
    "PCA",
    "PCE",
    "ROSL",
    "SRC",
    "CorrelationDimension",
    "DANCo",
    "Dimensions",
    "Eigenfaces",
    "Estimated",
    "FastDANCo",
    "L1Graph",
    "LinearSVM",
    "MiNDKL",
    "MiNDML",
    "NeNMF",
    "NearestNeighbour",
    "ParallelAnalysis",
    "RandomProjection",
    "Recovery",
    "RobustPCA",
    "SpectrumWarning",
    "Summary",
    "Trace",
    "TwoNN",
    "__version__",
    "datasets",
    "dimension",
    "evaluate",
    "load",
    "save",
    "to_onnx",
    "verification",
]
