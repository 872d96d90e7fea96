"""Plug-ins that bring checks of their own and fail."""

from __future__ import annotations

from gpudoctor.facts import Facts, PluginFailure, Unread
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check


@check("GD990", "plugin-failed", stage=Stage.SPEED, level=Level.WARN)
def plugin_failed(facts: Facts) -> Findings:
    """A plug-in that brings checks of its own failed: what it would have found is not known.

    What it looks at: the plug-ins installed beside gpudoctor (entry point group gpudoctor.checks): whether each could be imported,
    whether the codes and names of its checks are its own, and whether each check ended as one may: with findings, a reason, or unknown.

    Why it matters: gpudoctor's own checks are not touched by it, but what somebody wanted to be looked at was not. It says nothing of
    the GPUs.

    How to fix: update the plug-in, or take it out where gpudoctor is installed; until then GPUDOCTOR_NO_PLUGINS=1 leaves all plug-ins
    out.

    Source: Python Packaging User Guide, entry points; gpudoctor's docs/plugins.md.
    """
    installed, failed = facts.plugins.installed, facts.plugins.failed
    if isinstance(failed, Unread) or isinstance(installed, Unread):
        raise NotApplicable("no plug-in took part")
    if not failed:
        return f"{', '.join(installed)}: no check of it failed"
    for plugin in dict.fromkeys(one.plugin for one in failed):
        yield _found(plugin, [one for one in failed if one.plugin == plugin])


def _found(plugin: str, failures: list[PluginFailure]) -> Found:
    name = plugin.rpartition(" ")[0] or plugin
    checks = [one.check for one in failures if one.check is not None]
    what = f"{', '.join(dict.fromkeys(checks))} of the plug-in {plugin}" if checks else f"The plug-in {plugin}"
    return Found(
        message=f"{what} failed: {failures[0].error}",
        proof=tuple(
            Evidence(text=f"{one.error}{f' ({one.check})' if one.check else ''}", source=one.where or plugin)
            for one in failures
        ),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary=f"Update {name} in gpudoctor's own environment, or take it out there (pip uninstall {name}; "
                f"pipx uninject gpudoctor {name}); GPUDOCTOR_NO_PLUGINS=1 leaves all plug-ins out",
                steps=(),
                verify="gpudoctor list",
            ),
        ),
    )
