"""Markdown from results."""

import math


def time_text(seconds: float) -> str:
    if seconds < 0.1:
        return f"{seconds * 1e3:.1f} ms"
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"


def count(number: int) -> str:
    return f"{number:,}".replace(",", "\u202f")


def shape(found: dict) -> str:
    return f"{count(found['n'])} × {count(found['m'])}"


def named(found: dict, name: str) -> dict:
    """A candidate that ran, or nothing."""
    return next((row for row in found["candidates"] if row["name"] == name and "seconds" in row), {})


def ours(found: dict, kind: str = "f64") -> dict:
    return named(found, f"eigenspan {kind}")


def ratio_to_ours(found: dict, row: dict) -> float:
    """How many times as long as ours in f64."""
    return row["seconds"] / ours(found).get("seconds", math.nan)


def fastest(found: dict, family: str | None = None, exact: bool = True) -> dict:
    """The fastest peer that was right."""
    peers = [
        row
        for row in found["candidates"]
        if "seconds" in row and row["family"] != "ours" and row["exact"] >= exact and family in (None, row["family"])
    ]
    return min(peers, key=lambda row: row["seconds"], default={})


def over_limit(found: dict) -> str:
    least = found["limit_seconds"]
    return f"{ours(found).get('seconds', math.nan) / least:.2f}" if least else "–"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def how(row: dict) -> str:
    if "solver" not in row:
        return row["family"]
    return f"{row['solver']}, {'certified' if row['certified'] else 'not certified'}"


def peer_line(found: dict, row: dict) -> list[str]:
    if "seconds" not in row:
        return [row["name"], row["family"], row["note"], "–", "–", "–"]
    wrong = "" if row["right_k"] else " **wrong**"
    note = " ¹" if row["centres"] and not found["centred"] else ""
    times = f"{ratio_to_ours(found, row):.2f}"
    return [row["name"] + note, how(row), time_text(row["seconds"]), times, f"{row['k']}{wrong}", f"{row['error']:.0e}"]


def peers_of(found: dict) -> str:
    """One case, every candidate."""
    title = f"### {found['case']}: {shape(found)}, k = {found['k']}, λ = {found['lambda']:.4g}"
    head = ["candidate", "how", "CPU time", "÷ ours f64", "σ > τ", "largest σ error"]
    lines = table(head, [peer_line(found, row) for row in found["candidates"]])
    least = found["limit_seconds"]
    limit = f"Flop limit {time_text(least)}; ours f64 ÷ limit = {over_limit(found)}." if least else ""
    free = f"Preparing the samples, which peers get for free, takes NumPy {time_text(found['preparing_seconds'])}."
    return f"\n{title}\n\n{lines}\n\n{limit} {free}\n"


def against(found: dict, row: dict, name: bool = False) -> str:
    """A peer as a multiple of ours, which one it was, and how wrong where it is not exact."""
    if not row:
        return "–"
    wrong = "" if row["exact"] else f" (k = {row['k']}, σ off by {row['error']:.0e})"
    return f"{ratio_to_ours(found, row):.1f}×{wrong}" + (f" {row['name']}" if name else "")


def summary_line(found: dict, thin: tuple[str, ...]) -> list[str]:
    base = ours(found).get("seconds", math.nan)
    faster = [f"{base / row['seconds']:.1f}×" if (row := ours(found, kind)) else "–" for kind in ("f32", "u8")]
    thinnest = min((row for name in thin if (row := named(found, name))), key=lambda row: row["seconds"], default={})
    return [
        f"{found['case']}, {shape(found)}",
        str(found["k"]) + ("" if ours(found).get("certified") else " ?"),
        against(found, fastest(found), name=True),
        against(found, fastest(found, "iterative"), name=True),
        against(found, named(found, "sklearn PCA covariance_eigh")),
        against(found, thinnest),
        against(found, named(found, "sklearn PCA randomized")),
        *faster,
        over_limit(found),
    ]


def summary(every: list[dict], thin: tuple[str, ...]) -> str:
    """One line a case."""
    head = ["data", "k", "fastest exact peer", "best iterative exact peer", "covariance_eigh", "thin SVD"]
    head += ["randomized PCA", "ours in f32", "ours in 8 bits", "÷ flop limit"]
    return table(head, [summary_line(found, thin) for found in every])


def growth(found: dict) -> str:
    lines = []
    for along in ("n", "m"):
        walk = found[along]
        for kind, seconds in walk["seconds"].items():
            span = f"{count(walk['sizes'][0])} … {count(walk['sizes'][-1])}"
            cost = f"{time_text(seconds[0])} … {time_text(seconds[-1])}"
            last = f"{walk['exponent_of_last_step'][kind]:.2f}"
            lines.append([f"{along}, {walk['fixed']}", kind, span, cost, f"{walk['exponent'][kind]:.2f}", last])
    head = [f"growing (k = {found['k']})", "numbers", "sizes", "CPU time", "exponent", "exponent of the last step"]
    return table(head, lines)


def sweep(found: dict) -> str:
    def line(row: dict) -> list[str]:
        one, many = row["one_seconds"], row["sweep_seconds"]
        right = "every k right" if row["every_k_right"] else "**a k is wrong**"
        return [f"{row['case']}, {shape(row)}", time_text(one), time_text(many), f"{many / one:.3f}", right]

    return table(["data", "one fit", "sweep of 50 λ", "ratio", "check"], [line(row) for row in found["cases"]])


def threads(found: dict) -> str:
    def line(row: dict) -> list[str]:
        (cpu, cpu2), (wall, wall2) = row["cpu_seconds"], row["wall_seconds"]
        bits = "same bits" if row["same_bits"] else "**other bits**"
        ratios = [f"{cpu2 / cpu:.2f}", f"{wall / wall2:.2f}"]
        return [f"{row['case']}, {shape(row)}", time_text(cpu), time_text(cpu2), *ratios, bits]

    head = ["data", "CPU, 1 thread", "CPU, 2 threads", "ratio", "wall speed-up", "check"]
    return table(head, [line(row) for row in found["cases"]])


def python(found: dict) -> str:
    """`PCE` as Python users call it, and its peers: everything as multiples of ours."""
    lines = []
    for case in found["cases"]:
        first, samples = case["candidates"][0], 8 * case["n"] * case["m"]
        for row in case["candidates"]:
            if "note" in row:
                lines.append([case["case"], row["name"], row["note"], "–", "–"])
                continue
            times, memory = row["seconds"] / first["seconds"], (samples + row["more"]) / (samples + first["more"])
            wrong = "" if row["right_k"] else " **wrong**"
            lines.append([case["case"], row["name"], f"{times:.2f}", f"{memory:.2f}", f"{row['k']}{wrong}"])
    cost = found["overhead"]
    share = 100 * (cost["python"] / cost["native"] - 1)
    text = f"Binding: {shape(cost)} takes {time_text(cost['native'])} from C and {share:+.1f} % from Python."
    head = ["data", "candidate", "CPU time ÷ ours", "peak memory ÷ ours", "σ > τ"]
    return f"{table(head, lines)}\n\n{text}"


def memory(found: dict) -> str:
    def line(row: dict) -> list[str]:
        sizes = [f"{row[name] / 1e6:.0f} MB" for name in ("input", "peak", "limit")]
        within = "yes" if row["peak"] <= row["limit"] else "**no**"
        return [f"{row['case']}, {shape(row)}", row["kind"], str(row["k"]), *sizes, within]

    head = ["data", "numbers", "k", "input", "peak with input", "allowed", "within"]
    return table(head, [line(row) for row in found["cases"]])


def share_of_peak(row: dict, machine: dict) -> float | None:
    """Of the peak measured beside the runs; results of before have one peak for all."""
    if peak := machine["fma_peak_gflops"]:
        return row.get("share_of_peak", row["operations"] / row["seconds"]["f64"] / 1e9 / peak)
    return None


def kernels(found: dict) -> str:
    def line(row: dict) -> list[str]:
        rates = [row["operations"] / row["seconds"][kind] / 1e9 for kind in ("dsyrk", "f64", "f32", "u8")]
        share = share_of_peak(row, found["machine"])
        times = [f"{rate / rates[0]:.2f}×" for rate in rates[1:]]
        single = f"{rates[2] / rates[1]:.2f}×"
        return [f"{row['case']}, {shape(row)}", f"{rates[0]:.1f}", *times, f"{share:.0%}" if share else "–", single]

    head = ["data", "OpenBLAS dsyrk, Gflop/s", "ours f64", "ours f32", "ours 8-bit", "f64 of FMA peak", "f32 ÷ f64"]
    return table(head, [line(row) for row in found["cases"]])


def small(value: float) -> str:
    return f"{value:.0e}" if 0 < value < 1e-3 else f"{value:.2f}"


def methods(found: dict) -> str:
    """Other methods against the programs that people use for them."""
    rows = [row for part in found["parts"].values() for row in part]
    lines = [[row["what"], small(row["value"]), row["note"]] for row in rows]
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return f"{table(['what', 'measured', 'besides'], lines)}\n\nPrinted by `bench/run methods`; {versions}."


def machine(facts: dict) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    core = f"{facts['processor']}, {facts['system']}, {facts['fma_peak_gflops']} Gflop/s FMA peak of one core"
    return f"{core}; Rust {facts['rust']}, Python {facts['python']}, {facts['blas']}; {versions}."
