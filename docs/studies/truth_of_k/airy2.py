# constants of the local edge test: N=1500 GOE edge (close to tables in use), 24000 draws, seed 1
import numpy as np
from scipy.linalg import eigh_tridiagonal

rng = np.random.default_rng(1)
N = 1500
J = 21
R = 24000
K = 260
out = np.empty((R, J))
for r in range(R):
    d = rng.standard_normal(K) * np.sqrt(2)
    e = np.sqrt(rng.chisquare(np.arange(N - 1, N - K, -1)))
    out[r] = (
        eigh_tridiagonal(d, e, eigvals_only=True, select="i", select_range=(K - J, K - 1))[::-1] - 2 * np.sqrt(N)
    ) * N ** (1 / 6)
np.save("airy2.npy", out)
MU = out.mean(0)
print("MU", np.round(MU, 3).tolist())
print("SEMI ws: up(.06) als(.003) lo(.0005)")
for w in range(6, 13):
    T = out[:, 0] - MU[0] - (out[:, 1 : w + 1] - MU[1 : w + 1]).mean(1)
    print(w, np.round(np.quantile(T, [0.94, 0.997, 0.9995]), 2).tolist())
print("FREE w: .0005")
for w in range(6, 21):
    F = np.c_[np.ones(w), MU[1 : w + 1]]
    P = np.linalg.pinv(F)
    C = out[:, 1 : w + 1] @ P.T
    T = (out[:, 0] - (C[:, 0] + MU[0] * C[:, 1])) / C[:, 1]
    print(w, np.round(np.quantile(T, [0.94, 0.99, 0.9995]), 2).tolist())
