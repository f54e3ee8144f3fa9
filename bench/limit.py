"""The least arithmetic that an exact answer with a certificate takes, at the fused-multiply-add peak of one core."""


def operations(n: int, m: int, k: int) -> dict[str, float]:
    """Multiplies and adds of each step for the k leading directions of an n × m matrix.

    Gram matrix of the small side p; the cheaper of a Krylov space of dimension 2.3k and a dense eigendecomposition;
    a Cholesky factorisation that proves that nothing was missed; directions of the long side where it is wanted.
    """
    p, q = min(n, m), max(n, m)
    d = min(2.3 * k, p)
    krylov = 2 * p**2 * d + 4 * p * d**2 + 2 * p * d * k
    dense = 8 / 3 * p**3 + 2 * p**2 * k
    return {
        "gram": q * p**2,
        "solve": min(krylov, dense),
        "certificate": p**3 / 3 + p**2 * k,
        "directions": 2 * n * m * k if n < m else 0,
    }


def seconds(n: int, m: int, k: int, peak: float) -> float | None:
    return sum(operations(n, m, k).values()) / peak if peak else None


def memory_bytes(n: int, m: int, k: int, item: int) -> dict[str, int]:
    """What a fit may hold at once: its input, its output, two Gram matrices, four Krylov bases, 64 MB."""
    p = min(n, m)
    d = min(2 * k + 6 * 32, p)
    return {
        "input": n * m * item,
        "output": (m * k + p) * 8,
        "gram": 2 * 8 * p**2,
        "krylov": 4 * p * d * 8,
        "slack": 64 << 20,
    }
