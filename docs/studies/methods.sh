#!/usr/bin/env bash
# What the paper does not state about the methods it compares with: prints docs/studies/methods.md.
#
#   docs/studies/methods.sh [DATA] > docs/studies/methods.md      DATA is ../shared/data by default
#
# Needs `cargo build --release`, and a Python with eigenspan (`pip install .`), PYTHON=… if it is not python3. Minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=${1:-${EIGENSPAN_DATA:-../shared/data}}
program="$PWD/target/release/eigenspan"
# Seconds are those of one machine on one day, and all have 300 columns: the last columns are left out.
evaluate() {
  printf '\n```console\n$ eigenspan evaluate exyaleb_54x48_first58.npz --as-published --train 1520 --repeats 3 \\\n      %s\n```\n\n' "$*"
  (cd "$data" && "$program" evaluate exyaleb_54x48_first58.npz --as-published --train 1520 --repeats 3 "$@" 2>/dev/null) |
    sed -E 's/(\|[^|]*){3}\|$/|/'
}

cat <<'END'
# The methods on faces

[Table 3](../paper/table3.md) shows every method of the paper's Table 3 on Extended Yale B beside the paper's number, for ten
partitions. Where a method is more than two standard deviations off, this page searches for the reason: the paper names its
methods and a parameter, but not how it used the features. `docs/studies/methods.sh` prints this page: three partitions, and the
settings of the paper (`--as-published`) except those behind a method's name.

## NMF and NeNMF: which features

The paper: NMF with NN 72.11, SVM 91.59, SRC 87.54; NeNMF 47.63, 76.73, 87.09.
END
evaluate --method nmf --method nmf:rounds=50 --method nmf:features=projected --method nmf:features=projected,rounds=400 --classifier nn,svm,src
evaluate --method nenmf --method nenmf:features=orthonormal --method nenmf:features=nonnegative \
    --method nenmf:features=orthonormal,rounds=1 --method nenmf:features=orthonormal,rounds=3 \
    --method nenmf:start=scaled,rounds=30 --classifier nn,svm,src
cat <<'END'

Three definitions of the features of a sample x are possible: Wᵀx (`projected`), the non-negative least-squares coefficients of the
parts (`nonnegative`), and Qᵀx for an orthonormal basis Q of the parts (`orthonormal`). With Q, NMF reproduces the paper's SVM after
100 rounds and its NN after 50 to 100, here and in [table 3b](../paper/table3b.md). With Wᵀx all features contain the common
brightness, which dominates NN after any number of rounds. SRC, which uses directions and not distances, agrees with the paper with
Wᵀx. No one choice gives all three. `--as-published` means Q and 100 rounds for NMF. NeNMF ends after ten rounds by its own rule; its
preset keeps Wᵀx, which gives the paper's SVM. None of the three gives its NN (next section). Q is above the paper's NN after a
single round. Wᵀx stays far below it with more rounds: started at the scale of the data (`start=scaled`), where its rule does not
end it early, it is at 23 after 30 rounds, and 70 more change little (`rounds=100`, minutes: from 22.2 to 22.5 on the first
partition).

## NeNMF with the nearest neighbor: coefficients stopped early

The paper has NeNMF at 47.63 in Table III, and in Table IV, with half the training samples, at 51.42 with 300 columns and 69.88
with 148: fewer columns do better. The coefficients of the parts behave in this way if NeNMF's own solver computes them from
zero and is stopped early. One step of it is Wᵀx in another unit; all steps together are least squares. The columns of the
table are the numbers of steps:

```console
$ python docs/studies/nenmf_amounts.py
```

END
"${PYTHON:-python3}" docs/studies/nenmf_amounts.py "$data"
cat <<'END'

Each of the paper's numbers is passed between 15 and 20 steps, though not at the same step, and after any such number of steps
fewer columns do better: hence the fall from 148 to 300. This explanation is a candidate, found by a search for these three numbers,
and for the nearest neighbor alone: SVM and SRC were not matched with it, and the paper does not say where it stopped. The table
shows that a setting which the paper does not state moves this cell from 7 to 92, through the paper's number. Our factors are
those of the reference program (`fixtures/`). The paper's tables are shown with Wᵀx and with Q.

## L1-graph: the scale of the columns

The paper: NN 89.75 at λ = 1e-2 and tolerance 1e-3, SVM 82.08 at 1e-3 and 1e-3, SRC 91.29 at 1e-2 and 1e-1.
END
evaluate --method l1-graph:lambda=1e-2,tolerance=1e-3 --method l1-graph:lambda=1e-2,tolerance=1e-3,columns=constraint \
  --method l1-graph:lambda=1e-2,tolerance=1e-3,center=true --method l1-graph:lambda=1e-3,tolerance=1e-3 \
  --method l1-graph:lambda=1e-2,tolerance=1e-1,columns=constraint --classifier nn,svm,src
cat <<'END'

The toolbox scales the columns of Θ to length one after the eigenproblem. With the scale of the constraint ΘᵀDDᵀΘ = I
(`columns=constraint`), NN agrees with the paper; with columns of length one, SVM does. SRC at a tolerance of 1e-1, which ends
every code after a step or two, agrees with neither; at 1e-3 and unscaled it comes close. The paper may have printed another
pair of settings than it ran.
END
