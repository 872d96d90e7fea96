"""The topology that facts tell: against nvidia-smi's own words, on boards of all kinds, and how it is drawn."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpudoctor import api, bundle, registry
from gpudoctor.cli_topo import SUBJECTS, plan
from gpudoctor.facts import Facts, GpuPair, NvLink, PciDevice, RdmaPort, Unread
from gpudoctor.kernels import native
from gpudoctor.render import topo
from gpudoctor.render.console import PipeConsole
from gpudoctor.topology import Pair, derive, narrowest
from tests.agreement import matrix
from tests.boards import HOSTS, bridge, cards, copies, host_copies, nvlinks_to, on_board, recorded
from tests.building import Workshop, put
from tests.factory import gpu_device, healthy, with_, with_gpu
from tests.provoked.test_boards import SLOTS, SWITCHED, four, two
from tests.running import gpudoctor, one_line

CAPTURES = Path(__file__).parent / "captures"


def eight() -> Facts:
    """The machine of nvidia-smi-topo-m-8.txt: eight H200 behind NVSwitches, on one root bus of a virtual machine."""
    facts = healthy()
    model = next(d for d in facts.pci.devices if d.address == "0000:00:06.0")  # type: ignore[union-attr]
    addresses = [f"0000:00:{6 + i:02x}.0" for i in range(8)]
    devices = tuple(msgspec.structs.replace(model, address=a, local_cpus="0-127") for a in addresses)
    pairs = tuple(
        GpuPair(first=a, second=b, read="ok", nvlink="ok", topology="PHB") for a in range(8) for b in range(a + 1, 8)
    )
    return with_(
        facts,
        pci__devices=devices,
        gpu__devices=tuple(gpu_device(i, a) for i, a in enumerate(addresses)),
        gpu__pairs=pairs,
        measurements=(),
    )


def pair(facts: Facts, first: int = 0, second: int = 1) -> Pair:
    found = derive(facts).pair(first, second)
    assert found is not None
    return found


# ----------------------------------------------------------------------------- nvidia-smi's words


@pytest.mark.parametrize(
    ("name", "facts"), [("nvidia-smi-topo-m.txt", healthy()), ("nvidia-smi-topo-m-8.txt", eight())]
)
def test_it_agrees_with_nvidia_smi(name: str, facts: Facts) -> None:
    text = (CAPTURES / name).read_text()
    topology = derive(facts)
    assert {(p.first, p.second): p.word for p in topology.pairs} == matrix(text)
    affinity = dict(re.findall(r"^GPU(\d+)\t.*\t([\d,-]+)\t\d*\t\t", text, re.MULTILINE))
    assert {str(g.index): g.cpus for g in topology.gpus} == affinity


@pytest.mark.parametrize("name", sorted(p.stem for p in HOSTS.glob("h200*.json")))
def test_the_bus_alone_says_what_nvml_says(name: str) -> None:
    facts = recorded(name)
    if isinstance(facts.gpu.pairs, Unread) or not facts.gpu.pairs:
        pytest.skip("NVML saw no pairs there")
    by_nvml = derive(facts)
    assert {p.pcie_by for p in by_nvml.pairs} == {"NVML"}
    silent = tuple(msgspec.structs.replace(p, topology=None) for p in facts.gpu.pairs)
    by_bus = derive(with_(facts, gpu__pairs=silent))
    assert {p.pcie_by for p in by_bus.pairs} == {"PCI bus"}
    assert [(p.pcie, p.word) for p in by_bus.pairs] == [(p.pcie, p.word) for p in by_nvml.pairs]


WAYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "PIX": SWITCHED[:2],  # type: ignore[dict-item]
    "PXB": (
        SWITCHED[0],
        ("0000:00:01.0", "0000:01:00.0", "0000:02:02.0", "0000:05:00.0", "0000:06:00.0", "0000:07:00.0"),
    ),
    "PHB": SLOTS,  # type: ignore[dict-item]
    "NODE": (SLOTS[0], ("0000:20:01.0", "0000:21:00.0")),
    "SYS": (SLOTS[0], ("0000:80:01.0", "0000:81:00.0")),
}


@pytest.mark.parametrize("word", WAYS)
def test_where_paths_meet(word: str) -> None:
    facts = cards(on_board(recorded("h200-x2-healthy"), WAYS[word]))
    assert (pair(facts).word, pair(facts).nvlinks) == (word, 0)


def test_two_host_bridges_without_numa_nodes_are_not_guessed() -> None:
    at: dict[str, Any] = {way[-1]: {"numa_node": None} for way in WAYS["SYS"]}
    facts = cards(on_board(recorded("h200-x2-healthy"), WAYS["SYS"], at))
    assert pair(facts).word is None
    assert "where the paths of some GPUs meet is not told here" in derive(facts).untold
    nodes = facts.system.numa_nodes
    assert isinstance(nodes, tuple)
    assert pair(with_(facts, system__numa_nodes=nodes[:1])).word == "NODE"


def test_network_adapters_stand_in_the_matrix() -> None:
    facts = on_board(recorded("h200-x4-healthy"), SWITCHED)
    nic = bridge("0000:05:00.0", "0000:02:02.0", pci_class=0x020700, vendor=0x15B3, acs=None)
    port = bridge("0000:02:02.0", "0000:01:00.0")
    ports = (RdmaPort(device="mlx5_0", port=1, state="ACTIVE", pci_address=nic.address),)
    assert isinstance(facts.pci.devices, tuple)
    facts = with_(facts, pci__devices=(*facts.pci.devices, port, nic), nccl__rdma_ports=ports)
    topology = derive(facts)
    assert [(p.gpu, p.nic, p.pcie) for p in topology.nic_pairs] == [
        (0, nic.address, "PIX"), (1, nic.address, "PIX"), (2, nic.address, "SYS"), (3, nic.address, "SYS"),
    ]  # fmt: skip
    assert [n.name for n in topology.nodes() if n.kind == "nic"] == ["mlx5_0"]
    assert re.search(r"GPU3 mlx5_0 *\n +GPU0 X +NV18 NV18 NV18 PIX", drawn(facts, 120))


# ----------------------------------------------------------------------------- NVLink


def test_links_of_a_switch_count_for_each_pair_and_the_lesser_number_counts() -> None:
    facts = recorded("h200-x4-healthy")
    links = facts.gpu.devices[2].nvlinks  # type: ignore[index]
    fewer = tuple(msgspec.structs.replace(link, active=link.index > 2) for link in links)  # type: ignore[union-attr]
    topology = derive(with_gpu(facts, 2, nvlinks=fewer))
    assert {(p.first, p.second): p.word for p in topology.pairs if 2 in (p.first, p.second)} == {
        (0, 2): "NV15", (1, 2): "NV15", (2, 3): "NV15",
    }  # fmt: skip
    limits = {p.word: (round(p.limit_gb_per_s or 0, 1), p.limit_by) for p in topology.pairs}
    assert limits == {"NV18": (478.1, "18 NVLinks"), "NV15": (398.4, "15 NVLinks")}


def test_links_that_lead_straight_to_some() -> None:
    """Four GPUs in a ring of two and one links, as bridges and older boards have them."""
    facts = cards(on_board(recorded("h200-x4-healthy"), SWITCHED))
    for index, peers in ((0, {1: 2, 3: 1}), (1, {0: 2, 2: 1}), (2, {3: 2, 1: 1}), (3, {2: 2, 0: 1})):
        facts = nvlinks_to(facts, index, peers)
    words = {(p.first, p.second): p.word for p in derive(facts).pairs}
    assert words == {(0, 1): "NV2", (0, 2): "SYS", (0, 3): "NV1", (1, 2): "NV1", (1, 3): "SYS", (2, 3): "NV2"}
    assert pair(facts).limit_gb_per_s == pytest.approx(51.562)


def hidden(facts: Facts) -> Facts:
    """Links to GPUs, whose addresses a virtual machine hides."""
    link = NvLink(index=0, active=True, version=5, remote="gpu", remote_address=None, speed_mb_per_s=25781)
    devices = tuple(msgspec.structs.replace(d, nvlinks=(link,) * 4) for d in facts.gpu.devices)  # type: ignore[union-attr]
    return with_(facts, gpu__devices=devices)


def test_how_many_links_lead_where_is_not_guessed() -> None:
    assert pair(hidden(recorded("h200-x2-healthy"))).word == "NV4"  # there is no other that they could lead to
    facts = hidden(recorded("h200-x4-healthy"))
    assert {p.word for p in derive(facts).pairs} == {"NV?"}
    assert pair(facts).limit_gb_per_s is None
    assert any("how many NVLinks" in text for text in derive(facts).untold)


def test_no_link_by_design_is_not_down() -> None:
    text = drawn(two(), 120)
    assert re.search(r"GPU 0  5\.0 x16, 63 GB/s +none", text)
    assert "degraded" not in text
    assert "Not told" not in text


# ----------------------------------------------------------------------------- links and bottlenecks


def test_the_slowest_link_of_a_gpu_and_of_a_pair() -> None:
    facts = four(at={"0000:81:00.0": {"link_width": 4}, "0000:83:00.0": {"link_speed_gt_per_s": 2.5}})
    facts = with_(facts, measurements=())
    gpus = derive(facts).gpus
    assert [(g.bottleneck.address, g.bottleneck.words) for g in gpus if g.bottleneck] == [
        ("0000:03:00.0", "5.0 x16"), ("0000:04:00.0", "5.0 x16"),
        ("0000:81:00.0", "5.0 x4 of 5.0 x16"), ("0000:81:00.0", "5.0 x4 of 5.0 x16"),
    ]  # fmt: skip
    assert gpus[2].path[0].generation == 1  # idle, which tells nothing
    assert not gpus[2].path[0].is_degraded
    # below one switch the link above it is not on the way
    assert pair(facts, 2, 3).limit_by == "PCIe 5.0 x16 at 0000:83:00.0"
    assert pair(facts, 0, 2).limit_by == "PCIe 5.0 x4 of 5.0 x16 at 0000:81:00.0"
    assert pair(facts, 0, 2).limit_gb_per_s == pytest.approx(15.75, abs=0.01)


def test_a_slot_that_can_less_than_the_card_is_narrow_and_not_degraded() -> None:
    facts = with_(two(at={"0000:00:01.1": {"max_link_width": 8}, "0000:02:00.0": {"link_width": 8}}), measurements=())
    gpu = derive(facts).gpus[1]
    assert gpu.bottleneck is not None
    assert (gpu.bottleneck.words, gpu.bottleneck.is_degraded) == ("5.0 x8", False)
    assert gpu.own_gb_per_s == pytest.approx(63.0, abs=0.1)


def test_what_was_seen_under_load_counts() -> None:
    facts = host_copies(with_(two(), measurements=()), [55.0, 13.0], [(5, 16), (3, 16)])
    first, second = (g.bottleneck for g in derive(facts).gpus)
    assert first is not None
    assert second is not None
    assert (first.words, first.is_degraded) == ("5.0 x16", False)
    assert (second.words, second.is_degraded, second.under_load) == ("3.0 x16 of 5.0 x16", True, True)
    # seen slower than the copy over it: it was seen at another moment
    facts = host_copies(with_(two(), measurements=()), [55.0, 55.0], [(5, 16), (1, 16)])
    assert [g.bottleneck.words for g in derive(facts).gpus if g.bottleneck] == ["5.0 x16", "5.0 x16"]
    assert narrowest(()) is None


def test_what_was_measured_belongs_to_its_pair_and_direction() -> None:
    facts = copies(recorded("h200-x4-healthy"), {(0, 1): 390.0, (1, 0): 380.0, (3, 2): 100.0})
    assert (pair(facts).measured_gb_per_s, pair(facts).measured_back_gb_per_s) == (390.0, 380.0)
    assert (pair(facts, 2, 3).measured_gb_per_s, pair(facts, 2, 3).measured_back_gb_per_s) == (None, 100.0)
    wrong = tuple(msgspec.structs.replace(m, verified=False) for m in facts.measurements)
    assert pair(with_(facts, measurements=wrong)).measured_gb_per_s is None


# ----------------------------------------------------------------------------- what is not told


def test_a_virtual_machine_is_drawn_as_far_as_it_is_shown() -> None:
    topology = derive(recorded("h200-x4-healthy"))
    assert len(topology.untold) == 3
    assert all("is not told by this virtual machine" in text for text in topology.untold)
    assert [n.kind for n in topology.nodes()] == ["host-bridge", "nic", *["gpu"] * 4]
    assert {g.numa_node for g in topology.gpus} == {None}


def test_a_hidden_bus_leaves_what_nvml_says() -> None:
    facts = with_(recorded("h200-x4-healthy"), pci__devices=Unread(why="/sys/bus/pci/devices: Permission denied"))
    topology = derive(facts)
    assert topology.roots == ()
    assert {p.word for p in topology.pairs} == {"NV18"}
    assert {g.bottleneck.words for g in topology.gpus if g.bottleneck} == {"5.0 x16"}
    assert any("Permission denied" in text for text in topology.untold)
    assert "not seen" in drawn(facts, 80)


def test_nothing_at_all() -> None:
    topology = derive(Facts())
    assert (topology.gpus, topology.pairs, topology.roots) == ((), (), ())
    assert "the GPUs: not recorded" in topology.untold
    assert "not recorded" in drawn(Facts(), 80)
    facts = with_(two(), gpu__devices=(), gpu__pairs=(), pci__devices=(bridge("0000:00:01.0", None),))
    assert "no GPU of NVIDIA is on the bus" in drawn(facts, 80)


# ----------------------------------------------------------------------------- drawing


def drawn(facts: Facts, width: int) -> str:
    report = bundle.make(facts, "2026-01-01T00:00:00+00:00", registry.select(SUBJECTS))
    out = PipeConsole(
        file=io.StringIO(), width=width, force_terminal=True, color_system=None, highlight=False, emoji=False
    )
    topo.show(report, out, why_unmeasured="--no-kernels", recorded=True)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


BOARDS = {
    1: recorded("h100-x1-healthy"),
    2: copies(two(), 40.0),
    4: copies(four(at={"0000:81:00.0": {"link_width": 4}}), 12.0),
    8: copies(eight(), 394.0),
}


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("count", BOARDS)
def test_it_fits_the_terminal(count: int, width: int) -> None:
    text = drawn(BOARDS[count], width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    assert "…" not in text
    for i in range(count):
        assert re.search(rf"[├└]── GPU {i}  0000:", text)
    heads = [re.findall(r"GPU0(?: +GPU\d)*?(?= +GPU0|\s*$)", line) for line in text.splitlines()]
    columns = [len(head.split()) for line in heads for head in line if "GPU0 " in head]
    assert columns == ([] if count == 1 else [count] * 2)
    beside = any(len(line) == 2 for line in heads)
    assert beside == (count > 1 and not (count == 8 and width == 80))


def test_degraded_links_are_marked() -> None:
    text = drawn(BOARDS[4], 120)
    assert re.search(r"switch 0000:81:00.0  5.0 x4 of 5.0 x16, 15.8 GB/s  degraded", text)
    assert text.count("  degraded") == 1
    assert "NUMA node 1" in text


def test_what_was_not_measured_is_said() -> None:
    assert "not measured: --no-kernels" in drawn(recorded("h200-x4-healthy"), 80)
    assert "not measured" not in drawn(BOARDS[8], 80)


def test_no_text_of_others_moves_the_cursor() -> None:
    assert "\x1b" not in drawn(with_gpu(recorded("h200-x4-healthy"), 0, name="NVIDIA \x1b[2J H200"), 80)


def test_dot_is_a_graph_of_all_there_is() -> None:
    facts = copies(on_board(recorded("h200-x4-healthy"), SWITCHED, {"0000:81:00.0": {"link_width": 4}}), 390.0)
    text = topo.dot(bundle.make(facts, "2026-01-01T00:00:00+00:00", ()))
    assert text.startswith("graph topology {\n")
    assert text.endswith("\n}\n")
    nodes = re.findall(r'^  "([^"]+)" \[label=', text, re.MULTILINE)
    edges = re.findall(r'^  "([^"]+)" -- "([^"]+)" \[(.*)\];$', text, re.MULTILINE)
    assert sorted(nodes) == sorted(n.address for n in derive(facts).nodes())
    assert {end for edge in edges for end in edge[:2]} <= set(nodes)
    assert ("0000:80", "0000:81:00.0", 'label="5.0 x4 of 5.0 x16", color=red') in edges
    assert sum('label="NV18 390 GB/s"' in rest for *_, rest in edges) == 6


# ----------------------------------------------------------------------------- the command


def test_a_recorded_report(tmp_path: Path) -> None:
    host = str(HOSTS / "h200-x4-healthy.json")
    done = gpudoctor("topo", host)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"GPU3 NV18 NV18 NV18 X$", done.stdout, re.MULTILINE)
    assert "not measured: the report has no such measurement" in done.stdout
    got = json.loads(gpudoctor("topo", host, "--format", "json").stdout)
    assert {p["word"] for p in got["topology"]["pairs"]} == {"NV18"}
    assert [g["bottleneck"]["gb_per_s"] for g in got["topology"]["gpus"]] == [pytest.approx(63.0, abs=0.1)] * 4
    assert got["host"]["P2P"] == "NVML ok: every pair; CUDA 12 of 12 ways"
    assert got["findings"] == []
    assert gpudoctor("topo", host, "--format", "dot", "-o", str(tmp_path / "t.dot")).stdout == ""
    assert (tmp_path / "t.dot").read_text().startswith("graph topology")


def test_a_finding_makes_the_exit_code(tmp_path: Path) -> None:
    facts = copies(four(at={"0000:81:00.0": {"link_width": 4}}), 12.0)
    facts = with_(facts, measurements=tuple(m for m in facts.measurements if "host" not in m.kernel))
    report = bundle.make(host_copies(facts, [55.0, 55.0, 14.0, 14.0]), "2026-01-01T00:00:00+00:00")
    file = tmp_path / "report.json"
    file.write_bytes(msgspec.json.encode(api.redacted(report, here=False)))
    done = gpudoctor("topo", str(file))
    assert done.returncode == 1
    assert "pcie-upstream-narrow GD705" in done.stdout
    (tmp_path / "no.json").write_text("{}")
    done = gpudoctor("topo", str(tmp_path / "no.json"))
    assert done.returncode == 2
    assert "is no report of gpudoctor" in one_line(done)


def test_the_plan_is_made_of_known_kernels() -> None:
    named = [k.name for k in plan()]
    assert named == ["copy-pair", "all-reduce-pair"]
    assert set(named) <= {k.name for k in native.bench(3)}
    assert set(named) <= set(native.SEVERAL)


def test_a_machine_with_two_gpus_is_measured(workshop: Workshop, tmp_path: Path) -> None:
    """Fake libraries, real children: each pair is copied both ways."""
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path, "libcuda.so.1")
    put(workshop.fake("libnvidia_ml.c", "libnvidia-ml.so.1"), tmp_path, "libnvidia-ml.so.1")
    fakes = {"LD_LIBRARY_PATH": str(tmp_path), "FAKE_CUDA_DEVICES": "2", "FAKE_NVML_COUNT": "2"}
    got = json.loads(gpudoctor("topo", "--format", "json", env=fakes).stdout)["topology"]
    (one,) = got["pairs"]
    assert one["word"] == "NV18"
    assert one["measured_gb_per_s"] > 0
    assert one["measured_back_gb_per_s"] > 0
    quick = json.loads(gpudoctor("topo", "--no-kernels", "--format", "json", env=fakes).stdout)["topology"]
    assert quick["pairs"][0]["measured_gb_per_s"] is None
    assert quick["pairs"][0]["word"] == "NV18"


def test_the_facts_of_a_device_are_enough() -> None:
    """A GPU that the bus does not list is no reason to fail."""
    facts = recorded("h200-x2-healthy")
    assert isinstance(facts.pci.devices, tuple)
    left = tuple(d for d in facts.pci.devices if d.address != "0000:00:07.0")
    assert isinstance(left[0], PciDevice)
    assert pair(with_(facts, pci__devices=left)).word == "NV18"
