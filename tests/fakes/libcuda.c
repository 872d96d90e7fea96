/* A libcuda for tests: answers cuInit as FAKE_CUDA_INIT says, or hangs, or crashes.
 * The variable is read at run time, so that one build serves every case:
 *   FAKE_CUDA_INIT=803      the result of cuInit
 *   FAKE_CUDA_INIT=hang     cuInit sleeps for ever
 *   FAKE_CUDA_INIT=crash    cuInit dereferences a null pointer
 *   FAKE_CUDA_LOAD=crash    loading the library does
 *   FAKE_CUDA_DEVICES=2     cuDeviceGetCount; CUDA_VISIBLE_DEVICES is obeyed as CUDA does for indices
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int visible(void) {
    const char *n = getenv("FAKE_CUDA_DEVICES"), *list = getenv("CUDA_VISIBLE_DEVICES");
    int have = n ? atoi(n) : 0, count = 0;
    if (!list) return have;
    char copy[256];
    snprintf(copy, sizeof copy, "%s", list);
    for (char *one = strtok(copy, ","); one; one = strtok(NULL, ",")) {
        char *end;
        long index = strtol(one, &end, 10);
        if (end == one || index < 0 || index >= have) break;
        count++;
    }
    return count;
}

__attribute__((constructor)) static void loaded(void) {
    const char *how = getenv("FAKE_CUDA_LOAD");
    if (how && !strcmp(how, "crash")) raise(SIGSEGV);
}

int cuInit(unsigned flags) {
    const char *how = getenv("FAKE_CUDA_INIT");
    (void)flags;
    if (how && !strcmp(how, "hang")) for (;;) pause();
    if (how && !strcmp(how, "crash")) raise(SIGSEGV);
    if (how && atoi(how)) return atoi(how);
    return visible() ? 0 : 100;
}

int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) { *count = visible(); return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int length, int device) { snprintf(name, length, "Fake GPU %d", device); return 0; }
int cuDeviceGetUuid(unsigned char *uuid, int device) { memset(uuid, device + 1, 16); return 0; }
int cuDeviceGetPCIBusId(char *bus, int length, int device) { snprintf(bus, length, "0000:0%d:00.0", device + 1); return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 132 : 1;
    return 0;
}
int cuGetErrorName(int error, const char **name) {
    *name = error == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" : "CUDA_ERROR_FAKE";
    return 0;
}
