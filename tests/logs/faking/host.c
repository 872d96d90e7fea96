/* Preloaded: shows the process the files by which TensorFlow knows a host with a loaded driver.
 *   FAKE_KERNEL_DRIVER=FILE   what /proc/driver/nvidia/version says; without it the file does not exist
 *   FAKE_NVIDIA0=1            /dev/nvidia0 exists
 *   FAKE_NUMA_NODE=FILE       what a PCI device's numa_node says
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char VERSION[] = "/proc/driver/nvidia/version";

int access(const char *path, int mode) {
    if (!strcmp(path, "/dev/nvidia0") && getenv("FAKE_NVIDIA0")) return 0;
    if (!strcmp(path, VERSION) && getenv("FAKE_KERNEL_DRIVER")) return 0;
    return ((int (*)(const char *, int))dlsym(RTLD_NEXT, "access"))(path, mode);
}

static FILE *opened(const char *name, const char *path, const char *mode) {
    const char *shown = !strcmp(path, VERSION) ? getenv("FAKE_KERNEL_DRIVER") : NULL;
    const char *numa = getenv("FAKE_NUMA_NODE"), *end = strrchr(path, '/');
    if (numa && end && !strcmp(end, "/numa_node")) shown = numa;
    return ((FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, name))(shown ? shown : path, mode);
}
FILE *fopen(const char *path, const char *mode) { return opened("fopen", path, mode); }
FILE *fopen64(const char *path, const char *mode) { return opened("fopen64", path, mode); }
