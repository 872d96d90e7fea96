"""The picture of a topology: from left to right the NUMA node, the host bridge, switches, the GPUs, and on their right what links
them with each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...topology import Node, Numa, Pair, PcieLink, Topology
from ..links import title
from ..measured import amount
from .markup import Child, Markup, tag

_ROW, _BOX, _GAP, _NUMA, _PAD = 46, 36, 165, 26, 12
"""Pixels: from one leaf to the next, a box's height, between two columns, the words of a NUMA node, around all."""
_INNER, _LEAF, _LINKS = 150, 240, 190
"""Pixels: the width of a bridge or switch, of a GPU or an adapter, and between GPUs and what links them."""
_MOST_ARCS = 150
_MOST_NAME = 28
_MOST_LEAVES = 200


class _At(NamedTuple):
    """A box: its left edge and its middle line."""

    x: float
    y: float
    width: float

    @property
    def right(self) -> float:
        return self.x + self.width


def picture(topology: Topology, label: str) -> Markup | None:
    """An SVG element; None: there is nothing to draw, or too much."""
    if sum(not node.children for node in topology.nodes()) > _MOST_LEAVES:
        return None
    drawing = _Drawing(topology)
    return drawing.svg(label) if drawing.shapes else None


class _Drawing:
    """Shapes, and how far they reach."""

    def __init__(self, topology: Topology) -> None:
        self.shapes: list[Markup] = []
        self.behind: list[Markup] = []
        self.gpus: dict[int, _At] = {}
        """By NVML's index."""
        self._depth = max((_depth(root) for root in topology.roots), default=0)
        self._leaf_x = _PAD * 2 + self._depth * (_INNER + _GAP)
        self._y = float(_PAD)
        self._width = float(self._leaf_x + _LEAF + 2 * _PAD)
        numa = {node.index: node for node in topology.numa_nodes}
        for index in sorted({root.numa_node for root in topology.roots}, key=lambda n: (n is None, n or 0)):
            roots = [root for root in topology.roots if root.numa_node == index]
            self._numa(index, numa.get(index) if index is not None else None, roots)
        address = {place.address: place.index for place in topology.gpus}
        hidden = [place for place in topology.gpus if place.index not in self.gpus]
        for place in hidden:  # the bus does not show them
            self._leaf(Node(kind="gpu", address=place.address or "", name=place.name, index=place.index), 0)
        if address:
            self._between(topology)

    def svg(self, label: str) -> Markup:
        """With words for those who do not see it; the tables below it say the same."""
        width, height = self._width, self._y + _PAD
        size = {"width": f"{width:.0f}", "height": f"{height:.0f}", "viewBox": f"0 0 {width:.0f} {height:.0f}"}
        names = {"role": "img", "aria_labelledby": "picture-title picture-text", "class_": "picture"}
        said = tag("title", "Topology", id="picture-title"), tag("desc", label, id="picture-text")
        return tag("svg", *said, self.behind, self.shapes, xmlns="http://www.w3.org/2000/svg", **size, **names)

    # --------------------------------------------------------------------------- the tree

    def _numa(self, index: int | None, node: Numa | None, roots: list[Node]) -> None:
        top = self._y
        if index is not None:
            self._y += _NUMA
        for root in roots:
            self._node(root, 0)
        if index is not None:
            parts = [f"NUMA node {index}"]
            parts += [f"processors {node.cpus}"] if node and node.cpus else []
            parts += [amount(node.memory_bytes)] if node and node.memory_bytes else []
            self.behind.append(self._rect(_PAD, top, self._leaf_x + _LEAF, self._y - top, "numa"))
            self.behind.append(self._text(2 * _PAD, top + 17, " · ".join(parts), "small"))
            self._y += _PAD

    def _node(self, node: Node, depth: int) -> _At:
        if not node.children:
            return self._leaf(node, depth)
        below = [(child, self._node(child, depth + 1)) for child in node.children]
        y = (below[0][1].y + below[-1][1].y) / 2
        at = _At(2 * _PAD + depth * (_INNER + _GAP), y, _INNER)
        elbow = at.right + 14
        self._line(at.right, y, elbow, y, None)
        ends = [end.y for _, end in below]
        self._line(elbow, min(ends), elbow, max(ends), None)
        for child, end in below:
            self._line(elbow, end.y, end.x, end.y, child.link)
            if child.link is not None and child.link.words:
                self._on_line(elbow + 7, end.y, child.link)
        self._box(at, node)
        return at

    def _leaf(self, node: Node, depth: int) -> _At:
        x = self._leaf_x if node.kind in ("gpu", "nic", "nvswitch") else 2 * _PAD + depth * (_INNER + _GAP)
        at = _At(x, self._y + _ROW / 2, _LEAF if node.kind in ("gpu", "nic", "nvswitch") else _INNER)
        self._y += _ROW
        self._box(at, node)
        if node.kind == "gpu" and node.index is not None:
            self.gpus[node.index] = at
        return at

    def _box(self, at: _At, node: Node) -> None:
        whole = ", ".join(filter(None, (title(node), node.address, node.name)))
        rect = self._rect(at.x, at.y - _BOX / 2, at.width, _BOX, f"box {node.kind}")
        first = title(node) if node.kind == "gpu" else title(node).removesuffix(node.address)
        name = tag("tspan", f" {_short(node.name)}", class_="plain") if node.name else None
        words = [
            self._text(at.x + 9, at.y - 3, [tag("tspan", first, class_="name"), name], None),
            self._text(at.x + 9, at.y + 12, _short(node.address), "small"),
        ]
        self.shapes.append(tag("g", tag("title", whole), rect, words))

    def _on_line(self, x: float, y: float, link: PcieLink) -> None:
        rate = f", {link.gb_per_s:.3g} GB/s" if link.gb_per_s else ""
        if not link.is_degraded:
            self.shapes.append(self._text(x, y - 5, link.words + rate, "small"))
            return
        self.shapes.append(self._text(x, y - 5, f"▼ {link.words}", "small bad"))
        self.shapes.append(self._text(x, y + 13, f"degraded{rate}", "small bad"))

    # --------------------------------------------------------------------------- between GPUs

    def _between(self, topology: Topology) -> None:
        linked = [p for p in topology.pairs if p.nvlinks != 0 and {p.first, p.second} <= set(self.gpus)]
        if not linked:
            return
        active = {place.index: place.nvlinks_active for place in topology.gpus}
        if _is_common(linked, active):
            self._common(topology, linked)
            return
        right = self._leaf_x + _LEAF
        for pair in sorted(linked, key=lambda p: (p.second - p.first, p.first))[:_MOST_ARCS]:
            one, other = self.gpus[pair.first], self.gpus[pair.second]
            out = right + min(36 + 0.62 * abs(other.y - one.y), 330)
            way = f"M{right} {one.y:.0f}C{out:.0f} {one.y:.0f} {out:.0f} {other.y:.0f} {right} {other.y:.0f}"
            self.behind.append(tag("path", d=way, class_="nvlink", fill="none", stroke="currentColor"))
            x = right + 0.75 * (out - right)
            self.shapes.append(self._text(x, (one.y + other.y) / 2 + 4, _word(pair), "small on"))
            self._width = max(self._width, out + 3 * _PAD)

    def _common(self, topology: Topology, linked: list[Pair]) -> None:
        """Every link of each leads to all others: they go through switches, or there are but two."""
        indices = sorted({i for p in linked for i in (p.first, p.second)})
        ends = [self.gpus[i].y for i in indices]
        x, top, bottom = self._leaf_x + _LEAF + _LINKS, min(ends) - _BOX / 2, max(ends) + _BOX / 2
        for index in indices:
            place, at = topology.gpu(index), self.gpus[index]
            few = place is not None and place.nvlinks_active != place.nvlinks
            self.behind.append(self._stroke(at.right, at.y, x, at.y, "nvlink"))
            if place is not None and place.nvlinks_active is not None:
                number = f"{place.nvlinks_active} of {place.nvlinks}" if few else f"{place.nvlinks}"
                rate = f", {place.nvlink_gb_per_s:.3g} GB/s" if place.nvlink_gb_per_s else ""
                self.shapes.append(self._text(at.right + 8, at.y - 5, f"{number} NVLinks{rate}", "small"))
        self.shapes.append(self._rect(x, top, 26, bottom - top, "box fabric"))
        words = sorted({_word(p) for p in linked})
        said = f"NVLink, {', '.join(words)}" if len(indices) > 2 else _word(linked[0])
        middle = (top + bottom) / 2
        turned = {"transform": f"rotate(-90 {x + 17:.0f} {middle:.0f})", "text_anchor": "middle"}
        self.shapes.append(self._text(x + 17, middle, said, "small", **turned))
        self._width = max(self._width, x + 26 + 2 * _PAD)

    # --------------------------------------------------------------------------- shapes; without a style they are lines and words

    def _rect(self, x: float, y: float, width: float, height: float, class_: str) -> Markup:
        size = {"x": f"{x:.0f}", "y": f"{y:.0f}", "width": f"{width:.0f}", "height": f"{height:.0f}", "rx": "3"}
        return tag("rect", class_=class_, fill="none", stroke="currentColor", **size)

    def _text(self, x: float, y: float, words: Child, class_: str | None, **more: str) -> Markup:
        return tag("text", words, x=f"{x:.0f}", y=f"{y:.0f}", class_=class_, fill="currentColor", **more)

    def _line(self, x1: float, y1: float, x2: float, y2: float, link: PcieLink | None) -> None:
        is_bad = link is not None and link.is_degraded
        self.behind.append(self._stroke(x1, y1, x2, y2, "pcie bad" if is_bad else "pcie"))

    def _stroke(self, x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
        ends = {"x1": f"{x1:.0f}", "y1": f"{y1:.0f}", "x2": f"{x2:.0f}", "y2": f"{y2:.0f}"}
        return tag("line", class_=class_, stroke="currentColor", **ends)


def _depth(node: Node) -> int:
    return 1 + max(map(_depth, node.children)) if node.children else 0


def _is_common(linked: list[Pair], active: dict[int, int | None]) -> bool:
    """Each of them is linked to each other with all links that the lesser of the two has: so they share what is between them."""
    indices = {i for p in linked for i in (p.first, p.second)}
    if len(linked) != len(indices) * (len(indices) - 1) // 2:
        return False
    told = [p for p in linked if p.nvlinks is not None]
    if not told:
        return True
    return len(told) == len(linked) and all(
        p.nvlinks == _least(active.get(p.first), active.get(p.second)) for p in told
    )


def _least(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else min(one, other)


def _word(pair: Pair) -> str:
    return pair.word or "NV?"


def _short(name: str) -> str:
    name = name.removeprefix("NVIDIA ")
    return name if len(name) <= _MOST_NAME else name[: _MOST_NAME - 1] + "…"


def nodes(topology: Topology) -> Iterator[str]:
    """The tree in words."""
    for node in topology.nodes():
        link = f" ({node.link.words})" if node.link and node.link.words else ""
        yield f"{title(node)}{link}"
