/* A libcuda for tests: answers cuInit as FAKE_CUDA_INIT says, or hangs, or crashes.
 * The variable is read at run time, so that one build serves every case:
 *   FAKE_CUDA_INIT=803      the result of cuInit
 *   FAKE_CUDA_INIT=hang     cuInit sleeps for ever
 *   FAKE_CUDA_INIT=crash    cuInit dereferences a null pointer
 *   FAKE_CUDA_MPS=805       the result of cuInit while the socket `control` lies where MPS's clients look for it
 *   FAKE_CUDA_LOAD=crash    loading the library does
 *   FAKE_CUDA_DEVICES=2     cuDeviceGetCount; CUDA_VISIBLE_DEVICES is obeyed as CUDA does for indices
 *   FAKE_CUDA_P2P=none      no GPU reaches another; =pcie: they do, without native atomics; =hang: asking does
 *   FAKE_CUDA_CAPABILITY=7.0  the compute capability of all GPUs; 9.0 unless told
 *   FAKE_CUDA_PROHIBITED=1  the compute mode is 'prohibited'
 * Compiled with -DINIT='"OTHER"' it answers what $OTHER says: two of them on one machine answer differently.
 * It works as well: memory, copies, streams, events, kernels, graphs (cuda_memory.h), and can be made to fail at it (cuda_faults.h).
 * Compiled with -DMACHINE it answers by the machine (machine.h), where no variable tells otherwise.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef MACHINE
#include "machine.h"
#else
static int machine_init(void) { return 0; }
static int machine_has(int gpu) { return (void)gpu, 0; }
static long machine_state(int gpu, const char *key, long otherwise) { return (void)gpu, (void)key, otherwise; }
#endif

static int order[16]; /* ordinal -> GPU */

/* 'GPU-01010101…' is the first, as cuDeviceGetUuid says; -1: none is meant */
static int named(const char *one, int have) {
    char *end;
    if (!strncmp(one, "GPU-", 4)) return (int)strtol((char[]){one[4], one[5], 0}, NULL, 16) - 1;
    long index = strtol(one, &end, 10);
    return end == one || index < 0 || index >= have ? -1 : order[index];
}

#ifndef INIT
#define INIT "FAKE_CUDA_INIT"
#endif

static int visible(void) {
    const char *n = getenv("FAKE_CUDA_DEVICES"), *list = getenv("CUDA_VISIBLE_DEVICES");
    int have = 0, count = 0, chosen[16];
    for (int gpu = 0; gpu < 16; gpu++) if (n ? gpu < atoi(n) : machine_has(gpu)) order[have++] = gpu;
    if (!list) return have;
    char copy[256];
    snprintf(copy, sizeof copy, "%s", list);
    for (char *one = strtok(copy, ","); one && count < 16; one = strtok(NULL, ",")) {
        int gpu = named(one, have), there = 0;
        for (int i = 0; i < have; i++) there |= order[i] == gpu;
        if (!there) break;
        chosen[count++] = gpu;
    }
    memcpy(order, chosen, sizeof order);
    return count;
}

#include "cuda_faults.h"

__attribute__((constructor)) static void loaded(void) {
    const char *how = getenv("FAKE_CUDA_LOAD");
    if (how && !strcmp(how, "crash")) raise(SIGSEGV);
}

int cuInit(unsigned flags) {
#ifdef ANSWER
    return ANSWER;
#endif
    const char *how = getenv(INIT);
    (void)flags;
    if (how && !strcmp(how, "hang")) for (;;) pause();
    if (how && !strcmp(how, "crash")) raise(SIGSEGV);
    if (how && atoi(how)) return atoi(how);
    const char *mps = getenv("FAKE_CUDA_MPS"), *pipes = getenv("CUDA_MPS_PIPE_DIRECTORY");
    char control[4096];
    snprintf(control, sizeof control, "%s/control", pipes ? pipes : "/tmp/nvidia-mps");
    if (mps && !access(control, F_OK)) return atoi(mps);
    CALLED(meant());
    if (machine_init()) return machine_init();
    if (!visible()) return 100;
    ready = getpid();
    return 0;
}

int cuDriverGetVersion(int *version) {
#ifdef API
    *version = API;
#else
    *version = 13000;
#endif
    return 0;
}
int cuDeviceGetCount(int *count) { CALLED(meant()); *count = visible(); return 0; }
int cuDeviceGet(int *device, int ordinal) {
    CALLED(meant());
    if (ordinal < 0 || ordinal >= visible()) return 101;
    *device = order[ordinal];
    return 0;
}
int cuDeviceGetName(char *name, int length, int device) {
    CALLED(device);
#ifdef MACHINE
    snprintf(name, length, "NVIDIA H200");
    (void)device;
#else
    snprintf(name, length, "Fake GPU %d", device);
#endif
    return 0;
}
int cuDeviceGetUuid(unsigned char *uuid, int device) { CALLED(device); memset(uuid, device + 1, 16); return 0; }
int cuDeviceGetPCIBusId(char *bus, int length, int device) {
    CALLED(device);
    snprintf(bus, length, "0000:0%d:00.0", device + 1);
    return 0;
}
static int capability(int device, int minor) {
    const char *told = getenv("FAKE_CUDA_CAPABILITY");
    const char *point = told ? strchr(told, '.') : NULL;
    if (point) return atoi(minor ? point + 1 : told);
    return minor ? 0 : (int)machine_state(device, "capability_major", 9);
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    CALLED(device);
    switch (attribute) {
    case 13: *value = 1980000; return 0;  /* clock, kHz */
    case 16: *value = 132; return 0;      /* multiprocessors */
    case 18: *value = 0; return 0;        /* integrated */
    case 20: *value = getenv("FAKE_CUDA_PROHIBITED") ? 2 : machine_state(device, "compute_mode", 0); return 0;
    case 36: *value = 3201000; return 0;  /* memory clock, kHz */
    case 37: *value = 6016; return 0;     /* memory bus, bits */
    case 38: *value = 60 << 20; return 0; /* L2, bytes */
    case 75: *value = capability(device, 0); return 0;
    case 76: *value = capability(device, 1); return 0;
    case 84: *value = 0; return 0;        /* multi-GPU board */
    case 116: return 1;                   /* GPUDirect RDMA: a driver too old to know */
    default: *value = 1; return 0;
    }
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; *bytes = 150754820096UL; return 0; }

static int reach(void) {
    const char *how = getenv("FAKE_CUDA_P2P");
    if (how && !strcmp(how, "hang")) for (;;) pause();
    return how && !strcmp(how, "none") ? 0 : how && !strcmp(how, "pcie") ? 1 : 2;
}
int cuDeviceCanAccessPeer(int *can, int device, int peer) {
    CALLED(device);
    if (device == peer) return 101;
    *can = reach() > 0;
    return 0;
}
int cuDeviceGetP2PAttribute(int *value, int attribute, int device, int peer) {
    if (device == peer) return 101;
    *value = attribute == 1 ? 0 : attribute == 3 ? reach() > 1 : reach() > 0;
    return 0;
}
#include "cuda_memory.h"

/* CUDA's own names and words (cuda.h of 12.x). A code that it does not know it answers with INVALID_VALUE, as CUDA does. */
static const struct { int code; const char *name, *words; } ERRORS[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "forward compatibility was attempted on non supported HW"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};
static int known_error(int error) {
    const char *how = getenv(INIT);
    if (how && atoi(how) == 34) return -34; /* the toolkit's stub answers every call so */
    for (unsigned i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++) if (ERRORS[i].code == error) return i;
    return -1;
}
int cuGetErrorName(int error, const char **name) {
    int i = known_error(error);
    *name = i < 0 ? NULL : ERRORS[i].name;
    return i == -34 ? 34 : i < 0;
}
int cuGetErrorString(int error, const char **words) {
    int i = known_error(error);
    *words = i < 0 ? NULL : ERRORS[i].words;
    return i == -34 ? 34 : i < 0;
}
