"""gpudoctor: why TensorFlow can't see, or can't fully use, the GPUs of a machine.

For programs: `gpudoctor.check()`, `gpudoctor.replay(path)`, `gpudoctor.read_log(text)`; each gives a `gpudoctor.Result`. They are
imported when they are first asked for.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # typing's would have to be imported, which takes as long as `gpudoctor --version` does
if TYPE_CHECKING:
    from .bundle import NotAReport
    from .config import BadConfig
    from .errors import Error
    from .interpreter import NoInterpreter, Unreachable
    from .library import NotAText, Unsupported, check, read_log, replay
    from .registry import UnknownCheckError
    from .result import Result

_FROM = {
    "BadConfig": "config",
    "Error": "errors",
    "NoInterpreter": "interpreter",
    "NotAReport": "bundle",
    "NotAText": "library",
    "Result": "result",
    "UnknownCheckError": "registry",
    "Unreachable": "interpreter",
    "Unsupported": "library",
    "check": "library",
    "read_log": "library",
    "replay": "library",
}

__all__ = [
    "BadConfig",
    "Error",
    "NoInterpreter",
    "NotAReport",
    "NotAText",
    "Result",
    "UnknownCheckError",
    "Unreachable",
    "Unsupported",
    "__version__",
    "check",
    "read_log",
    "replay",
]


if not TYPE_CHECKING:  # which would take every misspelt name for one of these

    def __getattr__(name):
        if name not in _FROM:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import importlib

        value = getattr(importlib.import_module(f"{__name__}.{_FROM[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
