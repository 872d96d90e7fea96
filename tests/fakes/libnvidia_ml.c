/* An NVML for tests.
 *   FAKE_NVML_INIT=18     the result of nvmlInit; 'hang' sleeps for ever
 *   FAKE_NVML_COUNT=8     how many GPUs
 *   FAKE_NVML_LOST=3      this one is lost: every question about it answers 15 (GPU is lost)
 *   FAKE_NVML_HANG=3      asking for this one sleeps for ever
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, NOT_SUPPORTED = 3, LOST = 15 };

static int number(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

int nvmlInitWithFlags(unsigned flags) {
    const char *how = getenv("FAKE_NVML_INIT");
    (void)flags;
    if (how && !strcmp(how, "hang")) for (;;) pause();
    return how ? atoi(how) : OK;
}
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) {
    return code == 18 ? "Driver/library version mismatch" : code == LOST ? "GPU is lost" : "an NVML error";
}
int nvmlSystemGetDriverVersion(char *text, unsigned length) { snprintf(text, length, "580.159.04"); return OK; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = number("FAKE_NVML_COUNT", 2); return OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    if ((int)index == number("FAKE_NVML_LOST", -1)) return LOST;
    if ((int)index == number("FAKE_NVML_HANG", -1)) for (;;) pause();
    *device = (void *)(size_t)(index + 1);
    return OK;
}
int nvmlDeviceGetName(void *device, char *text, unsigned length) {
    snprintf(text, length, "Fake GPU %zu", (size_t)device - 1);
    return OK;
}
int nvmlDeviceGetUUID(void *device, char *text, unsigned length) {
    snprintf(text, length, "GPU-0000000%zu-0000-4000-8000-000000000000", (size_t)device - 1);
    return OK;
}
/* nvmlPciInfo_t: busIdLegacy[16], five unsigned, busId[32] */
int nvmlDeviceGetPciInfo_v3(void *device, char *info) {
    memset(info, 0, 68);
    snprintf(info + 36, 32, "00000000:0%zu:00.0", (size_t)device);
    return OK;
}
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) {
    (void)device;
    *major = 9;
    *minor = 0;
    return OK;
}
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *info) {
    (void)device;
    info[0] = 1ull << 37;
    info[1] = info[0];
    info[2] = 0;
    return OK;
}
int nvmlDeviceGetGpuFabricInfo(void *device, void *info) {
    (void)device;
    (void)info;
    return NOT_SUPPORTED;
}
