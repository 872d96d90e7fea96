"""Micro-kernels: a small piece of work on a device, verified, as a measurement."""
