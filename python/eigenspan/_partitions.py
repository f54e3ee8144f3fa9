"""What every engine does with partitions: each becomes a summary as bytes, and summaries are merged in one order.

Sums of rounded numbers depend on their order and bracketing, so both are fixed: partition after partition, each merged into all
before it, as `Summary.merge` and the command line do it with files. An empty partition adds nothing.

    ((0 ⊕ 1) ⊕ 2) ⊕ 3 …

Bytes, and not objects, go from task to task: an engine sees how large they are, and keeps, spills and sends them well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._summary import Summary


def summarise(portions: Iterable[Any], settings: dict[str, Any], partition: int) -> bytes | None:
    """One partition, read in any portions; None where it has no samples."""
    summary = Summary(**settings)
    for portion in portions:
        rows = summary.n_samples_seen_
        try:
            summary.update(portion)
        except ValueError as error:
            after = f", after its first {rows} samples" if rows else ""
            raise ValueError(f"partition {partition}{after}: {error}") from error
    return summary.to_bytes() if summary.n_samples_seen_ else None


def merged(summaries: Iterable[bytes | None], threads: int | None) -> Summary | None:
    """Summaries in the order of their partitions, as one; of those that are to come, one is held at a time."""
    whole = None
    for data in summaries:
        if data is None:
            continue
        summary = Summary.from_bytes(data)
        summary.n_jobs = threads
        whole = summary if whole is None else whole.merge(summary)
    return whole

