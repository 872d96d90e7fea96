"""What PyTorch tells of itself: the table of `python -m torch.utils.collect_env`, a module without CUDA's functions, and vLLM, which
asks it for a GPU. Source: torch/utils/collect_env.py, which answers Yes and No in older releases, True and False in newer ones."""

from __future__ import annotations

from .language import Kind, Language

_FAILS = "op-fails"
_MARKS = r"^[\W_]{0,6}"

LANGUAGE = Language(
    name="torch",
    words=("used to build PyTorch", "Is CUDA available", "torch._C", "infer device type", "UnspecifiedPlatform"),
    kinds=(
        Kind("torch-built-for", rf"{_MARKS}CUDA used to build PyTorch: ?\W{{0,4}}(?P<cuda>\d{{1,2}}\.\d)"),
        Kind("torch-built-without", rf"{_MARKS}CUDA used to build PyTorch: ?\W{{0,4}}None\b"),
        Kind("torch-is-rocm", rf"{_MARKS}ROCM used to build PyTorch: ?\W{{0,4}}\d"),
        Kind("torch-sees-cuda", rf"{_MARKS}Is CUDA available: ?\W{{0,4}}(?:Yes|True)\b"),
        Kind("torch-sees-none", rf"{_MARKS}Is CUDA available: ?\W{{0,4}}(?:No|False)\b"),
        Kind(
            "torch-without-cuda",
            r"torch\._C\b['\"]?(?:,|' has no attribute|\)? has no attribute) ?['\"]_cuda_(?:getDeviceCount|setDevice|getDevice|init|isDriverSufficient)\b(?![^\n]{0,40}\bTrue\b)",
            _FAILS,
        ),
        Kind("device-not-inferred", r"Failed to infer device type|vLLM is running on UnspecifiedPlatform", _FAILS),
    ),
)  # fmt: skip
