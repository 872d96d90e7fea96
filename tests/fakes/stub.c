/* A shared object without a purpose: its name, needs and paths are given to the linker. */
#define _GNU_SOURCE
#include <dlfcn.h>

void *caller_open(const char *name) { return dlopen(name, RTLD_NOW); }
