/* The fakes on a machine that was laid out for a test (tests/provoked/scene.py): what they answer follows from the
 * machine, as it does with the real libraries: from /proc/driver/nvidia, the device nodes, the limits of the process.
 * What only hardware knows is a number in a file, /proc/driver/fake/gpu0/compute_mode, which the scene's nvidia-smi writes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef RELEASE
#define RELEASE "580.159.04"
#endif

static int machine_text(const char *path, char *text, int size) {
    FILE *f = fopen(path, "r");
    if (!f) return -1;
    int got = (int)fread(text, 1, size - 1, f);
    fclose(f);
    text[got] = 0;
    return got;
}
static long machine_state(int gpu, const char *key, long otherwise) {
    char path[128], text[64];
    snprintf(path, sizeof path, "/proc/driver/fake/gpu%d/%s", gpu, key);
    return machine_text(path, text, sizeof text) < 0 ? otherwise : atol(text);
}
/* The process on a GPU, as long as it lives. */
__attribute__((unused)) static int machine_pid(int gpu) {
    int pid = (int)machine_state(gpu, "pid", 0);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    return pid && !access(path, F_OK) ? pid : 0;
}
/* 0, or the errno of open() */
static int machine_open(const char *path) {
    int f = open(path, O_RDWR | O_CLOEXEC);
    if (f < 0) return errno;
    close(f);
    return 0;
}
/* Whether the module is loaded: 0 no, 1 of our release, 2 of another one. */
static int machine_module(void) {
    char text[512];
    if (machine_text("/proc/driver/nvidia/version", text, sizeof text) < 0) return 0;
    return strstr(text, RELEASE) ? 1 : 2;
}
static int machine_there(int gpu) {
    char path[64];
    snprintf(path, sizeof path, "/proc/driver/fake/gpu%d", gpu);
    return !access(path, F_OK);
}
/* Whether CUDA can use it: its node may be opened, and in MIG mode it has an instance. */
__attribute__((unused)) static int machine_has(int gpu) {
    char path[64];
    snprintf(path, sizeof path, "/dev/nvidia%d", gpu);
#ifdef WSL
    return machine_there(gpu);
#endif
    int whole = !machine_state(gpu, "mig_mode", 0) || machine_state(gpu, "mig_instances", 0);
    return machine_there(gpu) && whole && !machine_state(gpu, "nvml_answer", 0) && !machine_open(path);
}
static int machine_uvm_is_stale(void) {
    char text[4096], wanted[64];
    struct stat node;
    if (stat("/dev/nvidia-uvm", &node) || machine_text("/proc/devices", text, sizeof text) < 0) return 0;
    snprintf(wanted, sizeof wanted, "%3d nvidia-uvm\n", (int)major(node.st_rdev));
    return strstr(text, wanted) == NULL;
}
/* The switches of the fabric are there, and nothing has set them up. */
static int machine_waits_for_fabric(void) {
    return !access("/dev/nvidia-nvswitchctl", F_OK) && access("/proc/driver/fake/fabric-is-up", F_OK);
}
__attribute__((unused)) static int machine_init(void) {
#ifdef WSL
    return access("/dev/dxg", F_OK) ? 100 : 0;
#endif
    void *room = mmap(NULL, 16ul << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return 2;
    munmap(room, 16ul << 30);
    int module = machine_module();
    if (module != 1) return module ? 803 : 100;
    if (machine_open("/dev/nvidiactl")) return 100;
    if (machine_open("/dev/nvidia-uvm") || machine_uvm_is_stale()) return 999;
    if (!access("/proc/driver/fake/uvm-did-not-survive", F_OK)) return 999; /* a suspend */
    return machine_waits_for_fabric() ? 802 : 0;
}
