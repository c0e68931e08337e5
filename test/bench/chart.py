"""Charts as SVG, with the standard library alone.

The colours of text follow the page's colour scheme, so that the pictures are readable
on a light and on a dark background.
"""
import math

COLOURS = ["#0a84c6", "#d9700f", "#1f9e5a", "#c2489c", "#8a6fd1", "#b58900", "#6b7785", "#cf3f3f"]
STYLE = """<style>
text { font: 12px sans-serif; fill: #333 }
.title { font-weight: bold; font-size: 13px }
.grid { stroke: #8888; stroke-width: .5 }
.axis { stroke: #888; fill: none }
.line { fill: none; stroke-width: 1.8 }
.theory { fill: none; stroke-width: 1.4; stroke-dasharray: 5 3 }
.back { fill: #fff }
@media (prefers-color-scheme: dark) { text { fill: #ccc } .back { fill: #161b22 } }
</style>"""


class Panel:
    """A chart with linear or logarithmic x, placed at (left, top)."""

    def __init__(self, left, top, width, height, x_range, y_range, log_x=False):
        self.left, self.top, self.width, self.height = left, top, width, height
        self.x_range, self.y_range, self.log_x = x_range, y_range, log_x
        self.parts = []

    def x(self, value):
        low, high = self.x_range
        if self.log_x:
            value, low, high = math.log(value), math.log(low), math.log(high)
        return self.left + (value - low) / (high - low) * self.width

    def y(self, value):
        low, high = self.y_range
        return self.top + self.height - (value - low) / (high - low) * self.height

    def text(self, x, y, words, anchor="middle", css=""):
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"'
                          f'{f" class={chr(34)}{css}{chr(34)}" if css else ""}>{words}</text>')

    def frame(self, title, x_label, x_ticks, y_ticks):
        right, bottom = self.left + self.width, self.top + self.height
        for value, label in x_ticks:
            x = self.x(value)
            self.parts.append(f'<path class="grid" d="M{x:.1f} {self.top}V{bottom}"/>')
            self.text(x, bottom + 15, label)
        for value, label in y_ticks:
            y = self.y(value)
            self.parts.append(f'<path class="grid" d="M{self.left} {y:.1f}H{right}"/>')
            self.text(self.left - 5, y + 4, label, "end")
        self.parts.append(f'<path class="axis" d="M{self.left} {self.top}V{bottom}H{right}"/>')
        self.text((self.left + right) / 2, self.top - 8, title, css="title")
        self.text((self.left + right) / 2, bottom + 31, x_label)

    def line(self, points, colour, css="line"):
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        self.parts.append(f'<polyline class="{css}" stroke="{colour}" points="{path}"/>')

    def dots(self, points, colour):
        for x, y, low, high in points:
            self.parts.append(
                f'<path stroke="{colour}" d="M{self.x(x):.1f} {self.y(low):.1f}V{self.y(high):.1f}"/>'
                f'<circle fill="{colour}" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="2.8"/>')


def legend(left, top, entries):
    """Entries are (colour, words), one below the other."""
    panel = Panel(left, top, 1, 1, (0, 1), (0, 1))
    for i, (colour, words) in enumerate(entries):
        y = top + 17 * i
        panel.parts.append(f'<path class="line" stroke="{colour}" d="M{left} {y}h18"/>')
        panel.text(left + 24, y + 4, words, "start")
    return panel


def write_svg(path, width, height, panels):
    body = "\n".join(part for panel in panels for part in panel.parts)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">\n{STYLE}\n'
        f'<rect class="back" width="{width}" height="{height}"/>\n{body}\n</svg>\n')
