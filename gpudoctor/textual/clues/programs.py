"""Operations of TensorFlow that fail."""

CLUES: dict[str, tuple[str, ...]] = {
    "out-of-memory": ("gpu-memory-held-by-other-process",),
    "handle-failed": ("gpu-memory-handle-alloc", "gpu-memory-held-by-other-process", "cudnn-version-too-old"),
    "dnn-absent": ("cudnn-version-too-old", "cudnn-incomplete-install", "gpu-memory-handle-alloc"),
    "code-rejected": ("gpu-too-new-for-build", "driver-too-old-for-ptx"),
}
