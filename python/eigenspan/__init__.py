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
| `PCA` | principal component analysis, exact, also of sparse data, with a dimension if you have none |
| `load`, `save` | model files (`.espan`), the same as those of the command line |
| `to_onnx` | a model for runtimes without this package |
| `datasets` | built-in and synthetic data, and data from files of many formats |
"""

from . import datasets
from ._base import Recovery, SpectrumWarning
from ._eigenspan import VERSION as __version__
from ._files import load, save, to_onnx
from ._pca import PCA
from ._pce import PCE

__all__ = ["PCA", "PCE", "Recovery", "SpectrumWarning", "__version__", "datasets", "load", "save", "to_onnx"]
