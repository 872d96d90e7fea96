"""Which file the dynamic loader picks for a soname, and why.

`trace` reads glibc's own account (LD_DEBUG=libs); `glibc` applies the same rules to the files, for
machines and bundles on which nothing can be run; `elf` reads what both need of an object.
"""
