"""DKMS, akmods, apt and NVIDIA's own installer: why the driver's kernel module is not built or not installed."""

from __future__ import annotations

from ..facts import DkmsBuild
from .language import Kind, Language, Values
from .notebook import Notebook

_DOES_NOT_LOAD = "driver-does-not-load"


def _status(values: Values, line: int, notes: Notebook) -> None:
    built = values.get("kernel") if values["state"].startswith(("built", "installed")) else None
    notes.add("driver.dkms", DkmsBuild(version=values["version"], kernel=built), line)


def _kernel(values: Values, line: int, notes: Notebook) -> None:
    notes.tell("system.kernel", values["release"], line)


LANGUAGE = Language(
    name="dkms",
    words=(
        "nvidia", "NVIDIA", "Nouveau", "nouveau", "noveau", "error:", "dkms", "Error!", "ERROR", "kernel", "Kernel", "gcc", "Linux ", "compiler", "ompiler version", "modprobe", "autoconf.h", "-generic", "-lowlatency", "-amd64", ".x86_64", "amzn", "-arch", "MANJARO", "-azure", "-aws", "-gcp", "-oem", "-pve", "needed to compile", "/lib/modules/",
    ),
    kinds=(
        Kind(
            "dkms-status",
            r"^nvidia(?:-current|-srv|-open|-legacy\S{1,12})?[/,] ?(?P<version>\d[\d.]{2,15})[^,:]{0,20}"
            r"(?:, (?P<kernel>\d[\w.+~-]{3,60})(?:, \w{2,12})?)?: (?P<state>added|built|installed)",
            tell=_status,
        ),
        Kind("uname", r"^Linux \S{1,80} (?P<release>\d+\.\d[\w.+~-]{1,60}) #\d", tell=_kernel),
        Kind("uname", r"^(?P<release>[3-6]\.\d{1,2}\.\d{1,3}-[\w.+~-]{0,40}(?:generic|lowlatency|amd64|x86_64|amzn\d\S{0,12}|el\d\S{0,20}|arch\S{0,8}|MANJARO|azure|aws|gcp|oem|pve))$", tell=_kernel),
        Kind(
            "headers-missing",
            r"kernel (?:headers|source)[^!]{0,100} (?:cannot|could not|can't) be found"
            r"|Could not find files needed to compile modules for|appropriate kernel-devel package installed"
            r"|since the kernel headers (?:for this kernel )?do(?:es)? not seem to be installed"
            r"|(?i:unable to (?:find the kernel source tree for the currently running kernel|locate the kernel source))|The kernel source path '[^']{0,200}' is invalid"
            r"|The kernel header file '[^']{0,200}' does not exist|Skipping kernel-\S{1,60} kernel-headers package not installed"
            r"|/lib/modules/\S{1,60}/(?:build|source)(?:/(?:Makefile|\.config|include(?:/\w{1,20}){1,3}\.h))?['\"]?: No such file"
            r"|\bMissing \S{1,60} kernel (?:headers|modules(?: tree)?) for module nvidia|include/generated/autoconf\.h or include/config/auto\.conf are missing|kernel headers for \S{3,60} (?:are|were) not (?:found|installed)",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "compiler-differs",
            r"[Cc]ompiler version check failed|compiler used to compile the kernel (?:\S+ ){0,6}does not exactly match"
            r"|unrecognized command[- ]line option \W{0,2}-ftrivial-auto-var-init",
            _DOES_NOT_LOAD,
        ),
        Kind("no-compiler", r"Unable to find the development tool \W?(?P<tool>cc|make|gcc|ld)\b", _DOES_NOT_LOAD),
        Kind(
            "kernel-not-supported",
            r"The kernel you are installing for is a (?:PREEMPT_RT|Xen) kernel"
            r"|NVIDIA driver does not support real-time kernels|GPL-incompatible module nvidia",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "nvidia-build-error",
            r"\b(?:nv(?:-[a-z-]{2,20})?|uvm_\w{2,40}|nvidia[\w-]{0,20}|libspdm_\w{2,30})\.[ch]:\d+(?::\d+)?: (?:fatal )?error:"
            r"|\*\*\* \[[^\]]{0,200}\bnvidia[\w-]{0,20}/[\w-]{1,40}\.o\] Error|builder for '\S{1,80}nvidia\S{1,80}' failed",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "build-failed",
            r"[Bb]ad (?:return|exit) status for module build on kernel:? (?P<kernel>\S{1,60})|Building and installing nvidia-kmod\S{0,20} {0,40}(?:\[ ?FAILED|failed)|failed for (?:module\(s\) )?nvidia\S{0,20}\(10\)"
            r"|DKMS module 'nvidia[^']{0,30}' failed to build|Building DKMS module:? '?nvidia-[^\n]{0,60} FAILED!|Unable to build the NVIDIA kernel module"
            r"|The [Nn]vidia kernel module was not (?:created|built)|\bnvidia-dkms (?:\S{1,20} )?(?:is |keeps )?(?:failing|fails|failed)(?: to)? build\b"
            r"|(?:performing the step|during the step)[: ]{1,3}['\"]?Building kernel modules"
            r"|(?i:\b(?:nvidia(?:[-/ ](?:open|dkms|kmod|driver|legacy))?|open-gpu-kernel-modules|[3-6]\d\d\.\d{2,3}(?:\.\d\d)?)\b[^\n]{0,40}?\b(?:(?:fail(?:s|ed|ure)?|not|won't|can't|cannot|does(?:n't| not)|unable)\b[^.\n]{0,16}?\b(?:to )?(?:build|compil)\w*|(?:build|compil\w+) (?:fail\w*|errors?|broken))\b[^.\n]{0,24}?\b(?:kernel|linux)\b[- :]{0,2}v?\d\.\d)",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "nouveau-said",
            r"(?i:\b(?:graphics?|video|gpu|card's|display) drivers? (?:in use )?(?:is|are) (?:the )?nou?veau\b(?![^.\n]{0,20}\b(?:blacklist|disabled|gone)))",
            _DOES_NOT_LOAD,
        ),
        Kind("nouveau-in-use", r"Nouveau kernel driver is currently in use by your", _DOES_NOT_LOAD),
        Kind(
            "module-key-rejected",
            r"not signed by a key that is trusted by the kernel|does not trust any key which is capable of verifying the module"
            r"|kernel module failed to load\. +Secure [Bb]oot is enabled",
            _DOES_NOT_LOAD,
        ),
        Kind("installer-sees-no-gpu", r"do not appear to have an NVIDIA GPU supported by the|could not find compatible graphics hardware", _DOES_NOT_LOAD),
        Kind("installer-can-not-load", r"Unable to load the (?:'nvidia[\w-]{0,12}'? )?kernel module(?: 'nvidia)?", _DOES_NOT_LOAD),
        Kind(
            "package-not-installed",
            r"nvidia-(?:driver|dkms|open)\S{0,30} : Depends: (?P<needs>\S{1,80})|E: Unable to locate package nvidia-(?:driver|\d)"
            r"|error processing package nvidia-(?:dkms|driver|kernel)|^nvidia-dkms-\d{3}\S{0,20}$",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "smi-not-found",
            r"nvidia-smi: (?:command )?not found|[Cc]ommand '?nvidia-smi'? not found|nvidia-smi' is not recognized"
            r"|nvidia-smi: No such file|(?:[Cc]ommand not found|[Uu]nknown command):? ['\"`]?nvidia-smi\b|No such file or directory: ['\"]nvidia-smi['\"]",
            _DOES_NOT_LOAD,
        ),
    ),
    foreign=True,
)  # fmt: skip
