"""gpudoctor: why TensorFlow can't see, or can't fully use, the GPUs of a machine."""

__version__ = "0.1.0"
