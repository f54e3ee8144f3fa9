"""One SVG: cost against size on logarithmic axes, readable on light and on dark."""

import math

WIDTH, HEIGHT = 860, 372
PANEL = {"n": 64, "m": 500}  # left edge of each panel
PANEL_WIDTH, TOP, PANEL_HEIGHT = 330, 58, 240
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #3d444d }
  .title { font-size: 14px; font-weight: 600 }
  .grid { stroke: #d1d9e0; stroke-width: 1 }
  .line { fill: none; stroke-width: 2 }
  .f64 { stroke: #0969da } .f32 { stroke: #bc4c00 } .limit { stroke: #59636e; stroke-dasharray: 5 4 }
  .dot.f64 { fill: #0969da } .dot.f32 { fill: #bc4c00 }
  @media (prefers-color-scheme: dark) {
    text { fill: #d1d7e0 }
    .grid { stroke: #3d444d }
    .f64 { stroke: #4493f8 } .f32 { stroke: #f0883e } .limit { stroke: #9198a1 }
    .dot.f64 { fill: #4493f8 } .dot.f32 { fill: #f0883e }
  }
"""


class Panel:
    """One pair of logarithmic axes."""

    def __init__(self, left: int, sizes: list[int], low: float, high: float) -> None:
        self.left = left
        self.x_ends = math.log(sizes[0]), math.log(sizes[-1])
        self.y_ends = math.floor(math.log10(low)), math.ceil(math.log10(high))

    def x(self, size: float) -> float:
        first, last = self.x_ends
        return self.left + PANEL_WIDTH * (math.log(size) - first) / (last - first)

    def y(self, seconds: float) -> float:
        low, high = self.y_ends
        return TOP + PANEL_HEIGHT * (high - math.log10(seconds)) / (high - low)

    def grid(self, sizes: list[int]) -> list[str]:
        parts = []
        right, bottom = self.left + PANEL_WIDTH, TOP + PANEL_HEIGHT
        for power in range(self.y_ends[0], self.y_ends[1] + 1):
            y = self.y(10.0**power)
            parts.append(f'<line class="grid" x1="{self.left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(text(self.left - 8, y + 4, seconds_text(power), "end"))
        for size in sizes:
            x = self.x(size)
            parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 5}"/>')
            parts.append(text(x, bottom + 20, f"{size:,}".replace(",", "\u202f"), "middle"))
        return parts

    def line(self, sizes: list[int], seconds: list[float], name: str) -> list[str]:
        points = [(self.x(size), self.y(time)) for size, time in zip(sizes, seconds, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts = [f'<polyline class="line {name}" points="{path}"/>']
        if name != "limit":
            parts += [f'<circle class="dot {name}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points]
        return parts


def text(x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{words}</text>'


def seconds_text(power: int) -> str:
    return f"{10**power} s" if power >= 0 else f"{10 ** (power + 3)} ms" if power >= -3 else f"{10 ** (power + 6)} µs"


def legend() -> list[str]:
    parts, y = [], HEIGHT - 14
    for x, name, words in ((250, "f64", "f64"), (330, "f32", "f32"), (410, "limit", "flop limit, f64")):
        parts.append(f'<line class="line {name}" x1="{x}" x2="{x + 28}" y1="{y - 4}" y2="{y - 4}"/>')
        parts.append(text(x + 34, y, words))
    return parts


def panel(along: str, walk: dict, low: float, high: float) -> list[str]:
    sizes, left = walk["sizes"], PANEL[along]
    axes = Panel(left, sizes, low, high)
    what = {"n": "samples n", "m": "features m"}[along]
    grows = f"f64 grows like {along}^{walk['exponent']['f64']:.2f}"
    parts = [text(left, 22, f"CPU time against {what} ({walk['fixed']})", kind="title"), text(left, 42, grows)]
    parts += axes.grid(sizes)
    if walk["limit_seconds"][0]:
        parts += axes.line(sizes, walk["limit_seconds"], "limit")
    for kind, seconds in walk["seconds"].items():
        parts += axes.line(sizes, seconds, kind)
    parts.append(text(left + PANEL_WIDTH / 2, TOP + PANEL_HEIGHT + 40, what, "middle"))
    return parts


def growth(found: dict) -> str:
    times = [t for walk in found.values() for row in walk["seconds"].values() for t in row]
    times += [t for walk in found.values() for t in walk["limit_seconds"] if t]
    parts = [part for along, walk in found.items() for part in panel(along, walk, min(times), max(times))]
    body = "\n".join(parts + legend())
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    label = 'role="img" aria-label="CPU time of a fit against samples and features"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {label}>\n<style>{STYLE}</style>\n{body}\n</svg>\n'
