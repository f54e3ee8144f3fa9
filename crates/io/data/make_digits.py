"""Writes digits.npz beside this script: the handwritten digits that the crate embeds.

Needs numpy and scikit-learn, which carries the data and needs no network:

    python make_digits.py

The data are the test part of "Optical Recognition of Handwritten Digits", E. Alpaydin and
C. Kaynak (1998), UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, licensed under
CC BY 4.0. Values and order are unchanged; the numbers are stored as bytes instead of text.

A second run writes the same bytes: the date of every entry is fixed.
"""

import io
import zipfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits


def main():
    digits = load_digits()
    assert digits.data.shape == (1797, 64) and digits.data.max() == 16
    arrays = {
        "X": digits.data.astype(np.uint8),
        "y": digits.target.astype(np.uint8),
        "shape": np.array([8, 8], dtype=np.uint8),
    }
    assert (arrays["X"] == digits.data).all() and (arrays["y"] == digits.target).all()

    with zipfile.ZipFile(Path(__file__).with_name("digits.npz"), "w") as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            body = io.BytesIO()
            np.save(body, array)
            archive.writestr(entry, body.getvalue(), compresslevel=9)


main()
