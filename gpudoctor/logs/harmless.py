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
    "benign-container-mode": "a note on how the container toolkit hands over the GPUs",
    "benign-container-cli": "a note of the container toolkit; it goes on without",
    "benign-ngc-network": "there is no InfiniBand driver in this container, which one machine alone does not need",
    "benign-ngc-compat": "the image brings libraries that let it run on this older driver",
    "benign-module-signature": "a module that was built on this machine; it is loaded all the same where Secure Boot is off",
    "benign-module-taints": "every kernel says so of NVIDIA's module",
    "benign-wsl-link": "Windows hands its libcuda in as copies; the loader finds it",
    "benign-no-nvswitch": "a fabric manager is for machines with NVSwitch; this one has none",
    "benign-optional-library": "TensorFlow uses its GPUs without this library",
    "benign-pcie-idle": "an idle GPU saves power by a slower PCIe link; only its speed under load tells something",
    "benign-memory-retried": "TensorFlow would be faster with more memory, and goes on with what it has",
    "benign-host-allocation": "a note on the host's memory; it has nothing to do with the GPU's",
    "benign-driver-compiles": "the driver compiles in ptxas' place, which is slower at the first use and works",
    "benign-graph-optimizer": "an optimization of the graph is left out; the graph runs as it is",
    "benign-retracing": "a function is traced anew for other arguments, which costs time and nothing else",
    "benign-delay-kernel": "a measurement while tuning is less exact than it could be",
    "benign-end-of-data": "the data set is at its end",
    "benign-slow-compile": "XLA takes long to compile; it goes on",
    "benign-mlir": "optional passes of the compiler are off",
    "benign-xla-service": "XLA is ready, should it be asked for",
    "benign-executor-aborts": "an executor stops because another one did; what it names stands elsewhere, too",
    "benign-peer-access": "two GPUs can't read each other's memory; data goes through the host",
}
"""Kind of an event -> why it is harmless."""
