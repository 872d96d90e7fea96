"""Reads a wheel of TensorFlow or of an nvidia-* library and makes its record: `python -m gpudoctor.compat.scan WHEEL`.

Statically, and from the wheel only: nothing of it is run or imported.
"""
