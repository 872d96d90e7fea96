"""A benchmark for a person: a table, what is to be expected and why, the libraries, what could not be measured."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from ..bundle import Report
from ..facts import Load, Measurement, Unread
from ..verdicts import Verdict
from ..verdicts.beside import Beside
from . import columns, measured
from .bench import bench, key, load, per_price
from .columns import Column
from .lines import clean
from .text import UNWRAPPED, bullet, root_block, styled

Judged = dict[tuple[object, ...], Verdict]


def show(report: Report, out: Console, *, price: float | None, verbose: bool) -> None:
    """Print the table; `verbose`: each GPU for itself, with its samples, clocks and links."""
    if not out.is_terminal:
        out.width = UNWRAPPED
    whole = bench(report, price)
    head = [f"gpudoctor {report.tool.version}", *_models(whole.gpus)]
    head += [f"driver {whole.driver_version}"] if whole.driver_version else []
    out.print(styled(" · ".join(head), "dim"), soft_wrap=True)
    done = [one for one in report.measurements if not isinstance(one.value, Unread)]
    judged = {key(v): v for v in whole.verdicts}
    for backend in dict.fromkeys(one.backend for one in done):
        mine = [one for one in done if one.backend == backend]
        if not mine[0].in_tensorflow or any("GPU" in one.device for one in mine):
            out.print()
            out.print(styled("TensorFlow" if mine[0].in_tensorflow else "Without a framework", "bold"))
            _print_table(_groups(mine, judged, verbose), judged, price, out, verbose=verbose)
    if whole.beside:
        out.print()
        out.print(styled("TensorFlow beside the same without a framework", "bold"))
        _print_beside(measured.by_kernel(whole.beside), out)
    for title, items in _notes(report, whole.verdicts, price):
        out.print()
        out.print(title)
        for item in items:
            out.print(bullet(item, 3))
    for root in report.diagnosis.root_causes:
        out.print()
        out.print(root_block(root, "here", whole=True))


def _models(names: Iterable[str]) -> list[str]:
    names = list(names)
    return [f"{names.count(name)}x {name}" for name in dict.fromkeys(names)]


# ----------------------------------------------------------------------------- the table


def _groups(ones: list[Measurement], judged: Judged, verbose: bool) -> list[list[Measurement]]:
    """What one line tells: the same work on GPUs of one model, with the same outcome; `verbose`: on one GPU."""
    order = list(dict.fromkeys((one.kernel, one.dtype, one.size) for one in ones))
    ones = sorted(ones, key=lambda one: (order.index((one.kernel, one.dtype, one.size)), _numbers(one)))
    groups: dict[tuple[object, ...], list[Measurement]] = {}
    for one in ones:
        alone = one.device if verbose else one.device.count(",")
        word = judged[key(one)].verdict if key(one) in judged else ""
        outcome = word if word in ("low", "impossible") else ""
        place = (one.kernel, one.dtype, one.size, one.device_name, alone, one.verified, outcome)
        groups.setdefault(place, []).append(one)
    return list(groups.values())


def _numbers(one: Measurement) -> list[int]:
    return [int(n) for name in one.device.split(",") if (n := name.partition(":")[2]).isdigit()]


def _print_table(
    groups: Sequence[list[Measurement]], judged: Judged, price: float | None, out: Console, *, verbose: bool
) -> None:
    def cells(of: Callable[[list[Measurement]], str]) -> list[Text]:
        return [styled(of(ones)) for ones in groups]

    table = [
        Column("kernel", cells(lambda ones: measured.what(ones[0])), folds="at first"),
        Column("GPU", cells(measured.where), folds="at first"),
        Column("measured", cells(measured.values), right=True, folds="at last"),
        Column("of expected", cells(lambda ones: _percent(ones, judged)), right=True, spare=-2),
        Column("spread", cells(_spread), right=True, spare=-1),
        Column("memory", cells(_memory), right=True, spare=2),
        Column("power", cells(lambda ones: _mean(ones, "power_w", "{:.0f} W")), right=True, spare=1),
        Column("energy", cells(lambda ones: _mean(ones, "energy_j", "{:.0f} J")), right=True, spare=4),
        Column("busy", cells(lambda ones: _mean(ones, "utilisation_percent", "{:.0f}%")), right=True, spare=3),
        Column("per 1000", cells(lambda ones: _per_price(ones, price)), right=True, folds="at last"),
        Column("", [_verdict(ones, judged) for ones in groups]),
    ]
    head, *rows = columns.lines(table, out.width)
    for line in head:
        out.print(line, crop=False, soft_wrap=True)
    for row, ones in zip(rows, groups, strict=True):
        for line in row:
            out.print(line, crop=False, soft_wrap=True)
        if verbose:
            out.print(bullet(styled(_more(ones[0]), "dim"), 3))


def _print_beside(groups: dict[str, list[Beside]], out: Console) -> None:
    rows = list(groups.items())

    def cells(of: Callable[[Sequence[Beside]], str]) -> list[Text]:
        return [styled(of(ones)) for _, ones in rows]

    table = [
        Column("kernel", [styled(kernel) for kernel, _ in rows]),
        Column("TensorFlow", cells(lambda ones: _range([o.in_tensorflow for o in ones], ones[0].unit)), right=True),
        Column("without", cells(lambda ones: _range([o.without for o in ones], ones[0].unit)), right=True),
        Column("part", cells(measured.parts), right=True),
    ]
    head, *lines = columns.lines(table, out.width)
    for line in head:
        out.print(line, crop=False, soft_wrap=True)
    for row, (_, ones) in zip(lines, rows, strict=True):
        for line in row:
            out.print(line, crop=False, soft_wrap=True)
        if why := measured.why_less(ones):
            out.print(bullet(styled(why, "dim"), 3))


def _range(values: Sequence[float], unit: str) -> str:
    return measured.rate(min(values), max(values), unit)


def _percent(ones: Sequence[Measurement], judged: Judged) -> str:
    found = [judged[key(one)].ratio for one in ones if key(one) in judged]
    ratios = [ratio for ratio in found if ratio is not None]
    if not ratios:
        return ""
    low, high = f"{min(ratios):.0%}", f"{max(ratios):.0%}"
    return low if low == high else f"{low[:-1]} to {high}"


def _spread(ones: Sequence[Measurement]) -> str:
    several = [one for one in ones if isinstance(one.samples, tuple) and len(one.samples) > 1]
    spreads = [one.spread for one in several if isinstance(one.spread, float)]
    return f"{max(spreads):.1%}" if spreads else ""


def _memory(ones: Sequence[Measurement]) -> str:
    peaks = [one.peak_memory_bytes for one in ones if isinstance(one.peak_memory_bytes, int)]
    return measured.amount(max(peaks)) if peaks else ""


def _mean(ones: Sequence[Measurement], field: str, form: str) -> str:
    """Energy that NVML's counter did not see is not told: it counts in steps."""
    values = [v for one in ones if (v := load(one, field)) is not None and (v or field != "energy_j")]
    return form.format(statistics.fmean(values)) if values else ""


def _per_price(ones: Sequence[Measurement], price: float | None) -> str:
    each = [v * 1000 for one in ones if price and (v := per_price(one, price)) is not None]
    return measured.rate(mean := statistics.fmean(each), mean, str(ones[0].unit)) if each else ""


def _verdict(ones: Sequence[Measurement], judged: Judged) -> Text:
    words = {judged[key(one)].verdict for one in ones if key(one) in judged}
    if any(one.verified is False for one in ones):
        return Text("WRONG NUMBERS", "bold red")
    if "impossible" in words:
        return Text("not believable", "bold yellow")
    if "low" in words:
        return Text("low", "bold yellow")
    return Text("verified", "green") if all(one.verified is True for one in ones) else Text("not verified", "yellow")


def _more(one: Measurement) -> str:
    """Samples, clocks, what held them down, temperature, link: what the verbose table says of one measurement."""
    told = []
    if isinstance(one.samples, tuple):
        queued = f", each of {one.queued}" if isinstance(one.queued, int) and one.queued > 1 else ""
        told.append(f"samples {' '.join(f'{s:.4g}' for s in one.samples)} {one.unit}{queued}")
    if isinstance(one.load, Load):
        told += _clocks(one.load)
        if isinstance(one.load.temperature_max_c, int):
            told.append(f"{one.load.temperature_max_c} °C")
        if isinstance(one.load.pcie_generation, int) and isinstance(one.load.pcie_width, int):
            told.append(f"PCIe {one.load.pcie_generation}.0 x{one.load.pcie_width}")
    elif isinstance(one.load, Unread) and not one.load.chosen:
        told.append(f"clocks: {one.load.why}")
    if isinstance(one.transport, tuple):
        many = f", {one.channels} channels" if isinstance(one.channels, int) else ""
        told.append(f"{', '.join(one.transport)}{many}")
    return "; ".join(told)


def _clocks(load: Load) -> Iterator[str]:
    if isinstance(load.clock_sm_mhz, int):
        low = load.clock_sm_min_mhz
        least = f" (down to {low})" if isinstance(low, int) and low < load.clock_sm_mhz else ""
        yield f"SM clock {load.clock_sm_mhz} MHz{least}"
    if isinstance(load.clock_memory_mhz, int):
        yield f"memory clock {load.clock_memory_mhz} MHz"
    reasons = load.clock_reasons if isinstance(load.clock_reasons, tuple) else ()
    if held := [f"{r.name} in {r.share:.0%} of the time" for r in reasons if r.name != "idle"]:
        yield f"held down: {', '.join(held)}"


# ----------------------------------------------------------------------------- below it

Note = tuple[RenderableType, list[Text]]


def _notes(report: Report, found: tuple[Verdict, ...], price: float | None) -> Iterator[Note]:
    """Titles, and what stands below each."""
    by_basis: dict[str, dict[str, None]] = {}
    for one in found:
        if one.expected is not None:
            dtype = (
                "" if one.dtype is None or "matmul" not in one.kernel or one.dtype in one.kernel else f" {one.dtype}"
            )
            by_basis.setdefault(one.basis, {})[one.kernel + dtype] = None
    if by_basis:
        expected = [styled(f"{', '.join(kernels)}: {basis}", "dim") for basis, kernels in by_basis.items()]
        yield Text("Expected", "bold"), expected
    if steps := [styled(text) for text in measured.speed_ups(report.measurements)]:
        yield Text("Several GPUs and mixed precision beside one GPU in float32", "bold"), steps
    if less := [styled(f"{one.kernel} on {one.device}: {one.why}", "dim") for one in found if one.verdict == "info"]:
        yield Text("Less than usual, and no fault by itself", "bold"), less
    if by := [styled(text, "dim") for text in _by(report.measurements)]:
        yield Text("Measured with", "bold"), by
    if price and any(per_price(one, price) is not None for one in report.measurements):
        yield Text("Per 1000", "bold"), [styled(f"of the price of one GPU, {price:g}", "dim")]
    failed, missing = _without_value(report.measurements)
    if failed:
        yield Text("Failed", "bold red"), failed
    if missing:
        yield Text("Not measured", "yellow"), missing
    if not report.measurements:
        why = "There was nothing to measure on: CUDA shows no GPU here. gpudoctor check says why."
        yield Text(why, "yellow"), []


def _by(measurements: Iterable[Measurement]) -> Iterator[str]:
    """The libraries' files, and the way that collectives took."""
    measurements = list(measurements)
    libraries = {
        (one.library, one.library_version)
        for one in measurements
        if isinstance(one.library, str) and isinstance(one.library_version, str)
    }
    yield from (f"{version}: {path}" for path, version in sorted(libraries))
    ways = {way for one in measurements if isinstance(one.transport, tuple) for way in one.transport}
    if ways:
        yield f"all-reduce went through {', '.join(sorted(ways))}, by NCCL's own log"


def _without_value(measurements: Iterable[Measurement]) -> tuple[list[Text], list[Text]]:
    """What failed, with its GPUs, and what there was nothing to do for: by reason."""
    failed: dict[str, dict[str, list[Measurement]]] = {}
    skipped: dict[str, dict[str, list[Measurement]]] = {}
    for one in measurements:
        if isinstance(one.value, Unread):
            by_kernel = (skipped if one.skipped else failed).setdefault(one.value.why, {})
            by_kernel.setdefault(one.kernel, []).append(one)
    bad = [
        Text.assemble(
            (clean(", ".join(f"{k} on {measured.where(ones)}" for k, ones in kernels.items())), "bold"),
            f": {clean(why)}",
        )
        for why, kernels in failed.items()
    ]
    return bad, [styled(f"{', '.join(kernels)}: {why}", "dim") for why, kernels in skipped.items()]
