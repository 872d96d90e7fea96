"""Lines that people worry about and need not."""

from __future__ import annotations

HARMLESS = {
    "benign-factory": "two parts of TensorFlow register the same library; the second is passed over",
    "benign-numa": "the kernel does not tell the GPU's NUMA node; node 0 is taken",
    "benign-tensorrt": "TensorRT is optional, and nothing uses it unless you ask for it",
    "benign-onednn": "a note on how the processor rounds; it has nothing to do with GPUs",
    "benign-cpu-instructions": "a note on the processor's instructions; it has nothing to do with GPUs",
    "benign-computation-placer": "two parts of TensorFlow register the same thing; the second is passed over",
    "benign-absl": "a note on where log lines go",
    "benign-optional-library": "TensorFlow uses its GPUs without this library",
    "benign-pcie-idle": "an idle GPU saves power by a slower PCIe link; only its speed under load tells something",
}
"""Kind of an event -> why it is harmless."""
