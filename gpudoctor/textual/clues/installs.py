"""What can't be installed or imported, where the line alone does not decide."""

_PYTHON = ("python-version-unsupported", "python-32bit", "tf-aarch64-no-wheel", "tensorflow-gpu-package-removed", "tf-macos-no-cuda", "tf-windows-native-cpu-only")  # fmt: skip
_DLL = (
    "msvc-runtime-missing", "cpu-no-avx", "cuda-version-mismatch", "cuda-libs-missing", "python-version-unsupported",
    "tf-import-broken", "python-32bit",
)  # fmt: skip

CLUES: dict[str, tuple[str, ...]] = {
    "no-version": _PYTHON,
    "other-no-version": _PYTHON,
    "wheel-not-supported": ("python-version-unsupported", "python-32bit", "tf-aarch64-no-wheel"),
    "setup-failed": ("tensorflow-gpu-package-removed", "python-version-unsupported"),
    "python-wish": ("python-version-unsupported", "python-32bit"),
    "conda-python": ("python-version-unsupported",),
    "no-cuda-wheel": ("tf-aarch64-cpu-only", "tf-macos-no-cuda", "tf-windows-native-cpu-only", "python-version-unsupported"),
    "notebook-lacks-tensorflow": ("jupyter-kernel-other-environment", "tf-not-installed", "tf-shadowed"),
    "dll-absent": _DLL,
    "dll-routine": ("msvc-runtime-missing", "cpu-no-avx", "tf-import-broken", "cuda-version-mismatch"),
    "dll-procedure": ("msvc-runtime-missing", "tf-import-broken", "tf-packages-overlap", "protobuf-mismatch"),
    "node-binding": ("cuda-version-mismatch", "cuda-toolkit-missing", "ld-library-path-not-set", "cudnn-missing", "msvc-runtime-missing"),
    "not-win32": ("python-32bit", "cuda-lib-unusable", "tf-import-broken"),
    "illegal-instruction": ("cpu-no-avx", "tf-import-broken"),
    "libstdcxx": ("glibc-too-old", "tf-import-broken"),
    "glibc": ("glibc-too-old",),
    "wrong-elf-class": ("cuda-lib-unusable", "python-32bit"),
    "undefined-symbol": ("tf-packages-overlap", "tf-import-broken"),
    "mac-architecture": ("tf-import-broken",),
    "tf-hollow": ("tf-shadowed", "tf-packages-overlap", "tf-import-broken"),
    # what people complain of
    "complains-nvcc-lost": ("cuda-toolkit-missing", "ld-library-path-not-set"),
    "complains-toolkit-unfound": ("cuda-toolkit-missing", "ld-library-path-not-set"),
    "complains-cudnn-asked": ("cudnn-wrong-major", "cudnn-version-too-old"),
    "complains-cuda-moved": ("cuda-version-mismatch", "cuda-libs-missing"),
    "complains-conda-swapped": ("conda-cpu-build", "tf-cpu-only-package"),
    "complains-packages-overlap": ("tf-packages-overlap", "tf-cpu-only-package"),
    "complains-requirements": ("tf-packages-overlap", "tf-cpu-only-package", "tf-macos-no-cuda"),
    "complains-namesake": ("tf-shadowed", "tf-packages-overlap"),
    "complains-card-newer-than-build": ("gpu-too-new-for-build", "cuda-version-mismatch"),
    "complains-card-newer-than-build-beside": ("gpu-too-new-for-build", "cuda-version-mismatch"),
    "complains-card-before-build": ("gpu-compute-capability-too-old", "driver-too-old"),
    "complains-names": ("gpu-too-new-for-build", "cuda-version-mismatch"),
    "complains-slices": ("tf-preallocates-all-memory", "gpu-memory-held-by-other-process"),
    "complains-new-card-unfit": ("gpu-too-new-for-build", "driver-too-old"),
    "complains-old-card-unfit": ("gpu-compute-capability-too-old", "driver-too-old"),
    "complains-plain-old": ("tf-cpu-only-package", "conda-cpu-build"),
    "complains-plain-package": ("tf-cpu-only-package", "conda-cpu-build"),
    "complains-image-lacks-libcuda": ("container-no-gpus-flag", "container-toolkit-missing"),
    "complains-module-not-built": ("driver-module-not-loaded", "driver-kernel-incompatible"),
    "device-not-available": (
        "tf-no-gpu-registered", "tf-cpu-only-package", "cuda-libs-missing", "cuda-version-mismatch", "driver-missing",
        "container-no-gpus-flag", "cuda-visible-devices-empty",
    ),
}  # fmt: skip
