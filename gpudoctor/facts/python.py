"""The examined interpreter and the distributions in it."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class Distribution(Fact, frozen=True, kw_only=True):
    """An installed distribution, by its metadata directory; the name is normalised (PEP 503)."""

    name: str
    version: str
    location: str
    """The directory on sys.path that holds it."""
    real_location: str | Unread = NOT_RECORDED
    """The same, links resolved."""
    shadowed: bool = False
    """An earlier entry of sys.path holds the same distribution."""


class Python(Fact, frozen=True, kw_only=True):
    """The interpreter that runs the user's TensorFlow."""

    chosen_because: str | Unread = NOT_RECORDED
    """'--python', 'VIRTUAL_ENV', 'CONDA_PREFIX', 'python3 on PATH', 'runs gpudoctor'."""
    passed_over: tuple[str, ...] | Unread = NOT_RECORDED
    """Environments that were named and whose Python does not run, each with what is wrong."""
    executable: str | Unread = NOT_RECORDED
    version: str | Unread = NOT_RECORDED
    implementation: str | Unread = NOT_RECORDED
    prefix: str | Unread = NOT_RECORDED
    virtual_environment: bool | Unread = NOT_RECORDED
    conda: bool | Unread = NOT_RECORDED
    bits: int | Unread = NOT_RECORDED
    libc: str | Unread | None = NOT_RECORDED
    path: tuple[str, ...] | Unread = NOT_RECORDED
    distributions: tuple[Distribution, ...] | Unread = NOT_RECORDED
    """Those that matter to TensorFlow on GPUs."""
