"""`evaluate`: the command line's numbers, in Python."""

import numpy as np
import pytest

from eigenspan import PCE, datasets, evaluate

X, Y = datasets.load_digits()
X, Y = X[:400], Y[:400]


def test_accuracies_are_those_of_a_fit_by_hand():
    found = evaluate(X, Y, "pce:lambda=1", "nn", train=250, repeats=2, random_state=5)
    assert len(found) == 1
    for repeat, accuracy in enumerate(found[0]["accuracies"], start=1):
        train, test = datasets.split(len(X), 250, random_state=5, repeat=repeat)
        model = PCE(1.0).fit(X[train])
        known, asked = model.transform(X[train]), model.transform(X[test])
        nearest = ((asked[:, None, :] - known[None, :, :]) ** 2).sum(2).argmin(1)
        assert accuracy == pytest.approx(100 * (Y[train][nearest] == Y[test]).mean())
    assert found[0]["accuracy_mean"] == pytest.approx(np.mean(found[0]["accuracies"]))
    assert found[0]["accuracy_sd"] == pytest.approx(np.std(found[0]["accuracies"], ddof=1))
    assert found[0]["samples"] == [250, 150] and found[0]["seconds"] > 0


def test_names_of_classes_and_threads_do_not_matter():
    asked = {"methods": ["pce-auto", "pca:dim=9"], "classifiers": ["nn-cosine", "svm"], "repeats": 1}
    words = np.array([f"digit {label}" for label in Y])
    plain = [row["accuracies"] for row in evaluate(X, Y, **asked, n_jobs=1)]
    assert plain == [row["accuracies"] for row in evaluate(X, words, **asked, n_jobs=3)]


def test_progress_is_told_and_what_it_raises_is_raised():
    def told(threads):
        heard = []
        evaluate(X, Y, "pca:dim=9", "nn", repeats=3, n_jobs=threads, progress=lambda *args: heard.append(args))
        assert all(total == 3 for _, total, _, _ in heard)
        return [done for done, _, _, _ in heard]

    assert told(1) == [0, 1, 2, 3]
    # Side by side a fit may begin before the last one is finished; nothing is finished twice.
    several = told(2)
    assert several == sorted(several) and (len(several), several[0], several[-1]) == (4, 0, 3)

    def tired(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        evaluate(X, Y, "pca:dim=9", "nn", repeats=1, progress=tired)


def test_a_cache_keeps_what_is_finished(tmp_path):
    asked = {"methods": "pca:dim=9", "classifiers": "nn", "repeats": 2, "cache": tmp_path / "cells.jsonl"}
    first = evaluate(X, Y, **asked)
    assert evaluate(X, Y, **asked) == first, "the seconds too: nothing was done again"


def test_spoilt_samples_are_known_less_often():
    clean, spoilt = (evaluate(X, Y, "pca:dim=9", "nn", repeats=2, corrupt=kind)[0] for kind in (None, "rpc:0.6"))
    assert spoilt["accuracy_mean"] < clean["accuracy_mean"] - 5


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"methods": "tsne"}, "there is no method `tsne`"),
        ({"methods": "npe:lambda=3"}, "has no setting `lambda`"),
        ({"classifiers": "oracle"}, "there is no classifier `oracle`"),
        ({"train": 1.5}, "`train` must be"),
        ({"train": 400}, "to test on"),
        ({"repeats": 0}, "`repeats` must be"),
        ({"split": "fair"}, "`split` must be"),
        ({"corrupt": "fog:1"}, "fog"),
        ({"n_jobs": 0}, "`threads` must be"),
    ],
)
def test_nonsense_is_refused_in_words(changed, message):
    with pytest.raises(ValueError, match=message):
        evaluate(X, Y, **({"methods": "pca:dim=9", "classifiers": "nn", "repeats": 1} | changed))
    with pytest.raises(ValueError):
        evaluate(X, Y[:-1])
