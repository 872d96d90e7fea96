/* An NVML for tests: GPUs like an H200, and what can go wrong with one.
 *   FAKE_NVML_INIT=18        the result of nvmlInit; 'hang' sleeps for ever, 'crash' ends the process
 *   FAKE_NVML_COUNT=8        how many GPUs
 *   FAKE_NVML_LOST=3         this one has no handle: 15 (GPU is lost)
 *   FAKE_NVML_FELL=3         this one has a handle, and every question about it answers 15
 *   FAKE_NVML_HANG=3         asking for this one sleeps for ever
 *   FAKE_NVML_CRASH=3        asking for this one's memory ends the process, once it was asked for its name
 *   FAKE_NVML_ONCE=crash:P   asking how busy a GPU is ends the process, or (hang:P) sleeps for ever whichever is asked, where P is not there;
 *                            P is there from then on
 *   FAKE_NVML_PLAIN=1        GPUs like a GeForce: no ECC, no NVLink, no MIG, no fabric (3, not supported)
 *   FAKE_NVML_MIG=1          this one is in MIG mode, with one instance
 *   FAKE_NVML_DOWN=1         five links of this one are down
 *   FAKE_NVML_BRIDGED=1      links lead to the other GPU, none to a switch, and NVML tells its address
 *   FAKE_NVML_PENDING=1      a row waits for a reset to be replaced
 *   FAKE_NVML_HEALTH=265     the fabric's health mask (265: bandwidth degraded)
 *   FAKE_NVML_LIBCUDA=cut    asking for CUDA's version loads a libcuda that is cut short, which ends the process
 *   FAKE_NVML_PROCESS=4711   a process on the first GPU that holds 1 GiB
 *   FAKE_NVML_LINK="gpu1=1x16"  the link of this one, busy or not: generation and width
 *   FAKE_NVML_STATE="gpu1:clock_reasons=64,gpu1:clock_mhz=1200"  this one has other numbers than usual: clock_reasons, clock_mhz,
 *                            power_mw, celsius, busy (percent), and whatever else state() is asked for below
 *   FAKE_NVML_LIVE=path      a file with such a list, read at every question: numbers that change. Only there: memory_used_mib, pid
 *                            (a process on this GPU), pcie_in_kib, pcie_out_kib (3, not supported, without), and from the beginning gpm=1
 *                            (sm, tensor, fp32: percent, in_mib, out_mib: what GPM counts)
 * A GPU on which the fake libcuda of the same process has a context is at work: its clocks, power and link are.
 * Compiled with -DMACHINE it answers by the machine (machine.h), where no variable tells otherwise.
 * The functions that are left out stand for an older library: nvmlDeviceGetCurrentClocksEventReasons (its older name is
 * there), nvmlDeviceGetC2cModeInfoV (nothing stands for it).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OK = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, LOST = 15 };
enum { LINKS = 18, MIG = 100 };
typedef unsigned long long u64;

#ifdef MACHINE
#include "machine.h"
#else
static int machine_there(int gpu) { return gpu < 2; }
static long machine_state(int gpu, const char *key, long otherwise) { return (void)gpu, (void)key, otherwise; }
static int machine_pid(int gpu) { return (void)gpu, 0; }
#endif

static int number(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}
static int index_of(void *device) { return (int)(size_t)device - 1; }
/* What stands behind 'gpu1' and `more` in a list. */
static const char *listed(const char *list, void *device, const char *more) {
    char key[64];
    snprintf(key, sizeof key, "gpu%d%s=", index_of(device), more);
    for (const char *at = list; at; at = strchr(at, ','))
        if (!strncmp(at += *at == ',', key, strlen(key))) return at + strlen(key);
    return NULL;
}
static const char *told(const char *variable, void *device, const char *more) { return listed(getenv(variable), device, more); }
/* The same in the file that may change. */
static long live(void *device, const char *key, long otherwise) {
    char text[4096] = "", more[48];
    const char *path = getenv("FAKE_NVML_LIVE");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return otherwise;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    snprintf(more, sizeof more, ":%s", key);
    const char *number = listed(text, device, more);
    return number ? strtol(number, NULL, 0) : otherwise;
}
static long state(void *device, const char *key, long otherwise) {
    char more[48];
    snprintf(more, sizeof more, ":%s", key);
    const char *number = told("FAKE_NVML_STATE", device, more);
    return live(device, key, number ? strtol(number, NULL, 0) : machine_state(index_of(device), key, otherwise));
}
static int at_work(void *device) {
    void *libcuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    int (*asked)(int) = libcuda ? (int (*)(int))dlsym(libcuda, "fake_cuda_at_work") : NULL;
    int works = asked && asked(index_of(device));
    if (libcuda) dlclose(libcuda);
    return works;
}
static unsigned link_of(void *device, int width) {
    const char *told_link = told("FAKE_NVML_LINK", device, ""), *by = told_link ? strchr(told_link, 'x') : NULL;
    if (by) return (unsigned)atoi(width ? by + 1 : told_link);
    if (width) return 16;
    return !at_work(device) && state(device, "busy", 0) < 30 ? 1 : (unsigned)state(device, "generation", 4);
}
static long power_of(void *device) { return state(device, "power_mw", at_work(device) ? 412345 : 78629); }
static int plain(void) { return number("FAKE_NVML_PLAIN", 0); }
/* Every question about a device begins so. */
#define ASKED(device)                                                                  \
    do {                                                                               \
        if (index_of(device) == number("FAKE_NVML_FELL", -1)) return LOST;             \
    } while (0)

int nvmlInitWithFlags(unsigned flags) {
    const char *how = getenv("FAKE_NVML_INIT");
    (void)flags;
    if (how && !strcmp(how, "hang")) for (;;) pause();
    if (how && !strcmp(how, "crash")) raise(SIGSEGV);
#ifdef MACHINE
    int module = machine_module(), refused = machine_open("/dev/nvidiactl");
    if (!how && module != 1) return module ? 18 : 9;
    if (!how && refused) return refused == EACCES ? 4 : refused == ENOENT ? 9 : 999;
#endif
    return how ? atoi(how) : OK;
}
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) {
    return code == 18 ? "Driver/library version mismatch" : code == 9 ? "Driver Not Loaded" : code == 16 ? "GPU requires reset" : code == LOST ? "GPU is lost" : "an NVML error";
}
int nvmlSystemGetDriverVersion(char *text, unsigned length) { snprintf(text, length, "580.159.04"); return OK; }
int nvmlSystemGetNVMLVersion(char *text, unsigned length) { snprintf(text, length, "13.580.159.04"); return OK; }
int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    if (getenv("FAKE_NVML_LIBCUDA")) raise(SIGBUS); /* NVML loads libcuda for it, and that is cut short */
    *version = 13000;
    return OK;
}
int nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length) {
    if (pid == 1) return NOT_FOUND;
    snprintf(name, length, "/usr/bin/python3");
    return OK;
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    int have = 0;
    while (have < 16 && machine_there(have)) have++;
    *count = number("FAKE_NVML_COUNT", have);
    return OK;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    if ((int)index == number("FAKE_NVML_LOST", -1)) return LOST;
    if ((int)index == number("FAKE_NVML_HANG", -1)) for (;;) pause();
    *device = (void *)(size_t)(index + 1);
    return (int)machine_state((int)index, "nvml_answer", OK);
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device) {
    unsigned domain, bus, slot, function, count;
    if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) return INVALID_ARGUMENT;
    nvmlDeviceGetCount_v2(&count);
    return bus < 1 || bus > count ? NOT_FOUND : nvmlDeviceGetHandleByIndex_v2(bus - 1, device);
}
int nvmlDeviceGetName(void *device, char *text, unsigned length) {
    ASKED(device);
    if (index_of(device) >= MIG) snprintf(text, length, "Fake GPU MIG 1g.18gb");
#ifdef MACHINE
    else snprintf(text, length, "NVIDIA H200");
#else
    else snprintf(text, length, "Fake GPU %d", index_of(device));
#endif
    return OK;
}
int nvmlDeviceGetUUID(void *device, char *text, unsigned length) {
    ASKED(device);
    if (index_of(device) >= MIG) snprintf(text, length, "MIG-00000000-0000-4000-8000-000000000000");
#ifdef MACHINE /* as libcuda names them */
    else snprintf(text, length, "GPU-%1$02x%1$02x%1$02x%1$02x-%1$02x%1$02x-%1$02x%1$02x-%1$02x%1$02x-%1$02x%1$02x%1$02x%1$02x%1$02x%1$02x", index_of(device) + 1);
#else
    else snprintf(text, length, "GPU-0000000%d-0000-4000-8000-000000000000", index_of(device));
#endif
    return OK;
}
/* nvmlPciInfo_t: busIdLegacy[16], five unsigned, busId[32] */
int nvmlDeviceGetPciInfo_v3(void *device, char *info) {
    ASKED(device);
    memset(info, 0, 68);
    snprintf(info + 36, 32, "00000000:0%zu:00.0", (size_t)device);
    return OK;
}
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) {
    ASKED(device);
    *major = 9;
    *minor = 0;
    return OK;
}
int nvmlDeviceGetMemoryInfo(void *device, u64 *info) {
    ASKED(device);
    info[0] = 1ull << (index_of(device) >= MIG ? 34 : 37);
    info[2] = (u64)live(device, "memory_used_mib", 0) << 20;
    info[1] = info[0] - info[2];
    return OK;
}
/* nvmlMemory_v2_t: version (padded to eight), total, reserved, free, used */
int nvmlDeviceGetMemoryInfo_v2(void *device, u64 *info) {
    ASKED(device);
    if (index_of(device) == number("FAKE_NVML_CRASH", -1)) {
        usleep(200000);
        raise(SIGSEGV);
    }
    info[1] = 1ull << 37;
    info[2] = 1ull << 29;
    info[4] = machine_pid(index_of(device)) ? (u64)state(device, "memory_used_mib", 1024) << 20 : 1ull << 30;
    info[3] = info[1] - info[2] - info[4];
    return OK;
}

/* One number each: function, value, whether a GeForce has it. */
#define NUMBER(function, value, everywhere)                                            \
    int function(void *device, unsigned *out) {                                        \
        ASKED(device);                                                                 \
        if (!(everywhere) && plain()) return NOT_SUPPORTED;                            \
        *out = (value);                                                                \
        return OK;                                                                     \
    }
NUMBER(nvmlDeviceGetMinorNumber, index_of(device), 1)
NUMBER(nvmlDeviceGetBoardId, 0x600, 1)
NUMBER(nvmlDeviceGetComputeMode, (unsigned)state(device, "compute_mode", 0), 1)
NUMBER(nvmlDeviceGetPersistenceMode, 1, 1)
NUMBER(nvmlDeviceGetDisplayMode, 0, 1)
NUMBER(nvmlDeviceGetPowerUsage, (unsigned)power_of(device), 1)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, 700000, 1)
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, 700000, 1)
NUMBER(nvmlDeviceGetRetiredPagesPendingStatus, (unsigned)state(device, "pages_pending", 0), 0)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, link_of(device, 0), 1)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, 4, 1)
NUMBER(nvmlDeviceGetGpuMaxPcieLinkGeneration, 5, 1)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, link_of(device, 1), 1)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, 16, 1)
NUMBER(nvmlDeviceGetPcieReplayCounter, 0, 1)
NUMBER(nvmlDeviceGetMaxMigDeviceCount, plain() ? 0 : 7, 1)
NUMBER(nvmlDeviceGetGpuInstanceId, 3, 1)
NUMBER(nvmlDeviceGetComputeInstanceId, 0, 1)

int nvmlDeviceGetNumaNodeId(void *device, int *out) { ASKED(device); (void)out; return NOT_SUPPORTED; }
int nvmlDeviceGetVirtualizationMode(void *device, u64 *out) { ASKED(device); *out = (u64)state(device, "virtualization", 1); return OK; }
int nvmlDeviceGetSerial(void *device, char *text, unsigned length) {
    ASKED(device);
    if (plain()) return NOT_SUPPORTED;
    snprintf(text, length, "165000000000%d", index_of(device));
    return OK;
}
int nvmlDeviceGetVbiosVersion(void *device, char *text, unsigned length) {
    ASKED(device);
    snprintf(text, length, "96.00.A5.00.1A");
    return OK;
}
int nvmlDeviceGetGspFirmwareVersion(void *device, char *text) { ASKED(device); strcpy(text, "580.159.04"); return OK; }
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *out) {
    ASKED(device);
    *out = (unsigned)(kind == 2 ? 3201 : state(device, "clock_mhz", at_work(device) ? 1980 : 345));
    return OK;
}
int nvmlDeviceGetMaxClockInfo(void *device, int kind, unsigned *out) {
    ASKED(device);
    *out = kind == 2 ? 3201 : 1980;
    return OK;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, u64 *out) { ASKED(device); *out = (u64)state(device, "clock_reasons", at_work(device) ? 0 : 0x1005); return OK; }
int nvmlDeviceGetTotalEnergyConsumption(void *device, u64 *millijoules) { /* as if the power had been what it is */
    struct timespec now;
    ASKED(device);
    if (plain()) return NOT_SUPPORTED;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *millijoules = (u64)((now.tv_sec + now.tv_nsec / 1e9) * (double)power_of(device));
    return OK;
}
int nvmlDeviceGetPowerManagementLimitConstraints(void *device, unsigned *low, unsigned *high) {
    ASKED(device);
    *low = 200000;
    *high = 700000;
    return OK;
}
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *out) { ASKED(device); *out = (unsigned)state(device, "celsius", 37 + sensor); return OK; }
int nvmlDeviceGetTemperatureThreshold(void *device, int which, unsigned *out) {
    ASKED(device);
    if (which > 1) return NOT_SUPPORTED;
    *out = which ? 89 : 95;
    return OK;
}
static void once(void) {
    static volatile int hangs = 0;
    const char *how = getenv("FAKE_NVML_ONCE"), *place = how ? strchr(how, ':') : NULL;
    int made = place ? open(place + 1, O_CREAT | O_EXCL | O_WRONLY, 0644) : -1;
    if (made >= 0 && *how == 'c') raise(SIGSEGV);
    if (made >= 0) hangs = 1;
    while (hangs) pause();
}
int nvmlDeviceGetUtilizationRates(void *device, unsigned *rates) { ASKED(device); once(); rates[0] = (unsigned)state(device, "busy", at_work(device) ? 93 : 7); rates[1] = 3; return OK; }
int nvmlDeviceGetBAR1MemoryInfo(void *device, u64 *info) {
    ASKED(device);
    info[0] = 1ull << 38;
    info[1] = info[2] = 0;
    return OK;
}

int nvmlDeviceGetEccMode(void *device, unsigned *now, unsigned *pending) {
    ASKED(device);
    if (plain()) return NOT_SUPPORTED;
    *now = *pending = 1;
    return OK;
}
/* Aggregate 3, volatile 1; corrected; none uncorrected. */
int nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, u64 *out) {
    ASKED(device);
    if (plain()) return NOT_SUPPORTED;
    *out = kind ? (u64)state(device, "ecc_uncorrected", 0) : counter ? 3 : 1;
    return OK;
}
int nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *not, unsigned *pending, unsigned *failure) {
    ASKED(device);
    if (plain()) return NOT_SUPPORTED;
    *corrected = 2;
    *not = 1;
    *pending = number("FAKE_NVML_PENDING", (int)state(device, "rows_pending", 0));
    *failure = (unsigned)state(device, "rows_failed", 0);
    return OK;
}
int nvmlDeviceGetRetiredPages(void *device, int cause, unsigned *count, u64 *pages) {
    ASKED(device);
    if (plain()) return NOT_SUPPORTED;
    (void)pages;
    *count = cause ? 0 : 2;
    return *count && !pages ? INSUFFICIENT_SIZE : OK;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending) {
    ASKED(device);
    if (plain()) return NOT_SUPPORTED;
    *now = *pending = index_of(device) == number("FAKE_NVML_MIG", -1) || state(device, "mig_mode", 0);
    return OK;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **out) {
    ASKED(device);
    if (index != 2 || !state(device, "mig_instances", 1)) return NOT_FOUND;
    *out = (void *)(size_t)(MIG + 1);
    return OK;
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *out) {
    ASKED(device);
    if (plain()) return NOT_SUPPORTED;
    if (link >= LINKS) return INVALID_ARGUMENT;
    *out = link >= (unsigned)(index_of(device) == number("FAKE_NVML_DOWN", -1) ? 5 : state(device, "links_down", 0));
    return OK;
}
int nvmlDeviceGetNvLinkVersion(void *device, unsigned link, unsigned *out) { ASKED(device); (void)link; *out = 6; return OK; }
int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, unsigned *out) {
    ASKED(device);
    (void)link;
    *out = getenv("FAKE_NVML_BRIDGED") ? 0 : 2;
    return OK;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, char *info) {
    ASKED(device);
    (void)link;
    memset(info, 0, 68);
    if (getenv("FAKE_NVML_BRIDGED")) snprintf(info + 36, 32, "00000000:0%d:00.0", 2 - index_of(device));
    else snprintf(info + 36, 32, "FFFFFFFF:FFFFFFFF:FFFFFFFF.0");
    return OK;
}
struct field { unsigned id, scope; long long timestamp, latency; int type, result; union { unsigned u; u64 l; } value; };
int nvmlDeviceGetFieldValues(void *device, int count, struct field *fields) {
    ASKED(device);
    for (int i = 0; i < count; i++) {
        fields[i].type = 1;
        fields[i].result = OK;
        fields[i].value.l = 0;
        if (fields[i].id == 164) fields[i].value.u = 26562;
        else if (fields[i].id != 230 || plain()) fields[i].result = NOT_SUPPORTED;
    }
    return OK;
}
/* nvmlGpuFabricInfo_v2_t: version, uuid[16], status, clique, state, health */
int nvmlDeviceGetGpuFabricInfoV(void *device, unsigned *info) {
    ASKED(device);
    if (plain()) return NOT_SUPPORTED;
    info[5] = 0;
    info[7] = 3;
    info[8] = number("FAKE_NVML_HEALTH", 0x2 | 0x2 << 2 | 0x1 << 8); /* full bandwidth, no route recovery, configured */
    return OK;
}
int nvmlDeviceGetGridLicensableFeatures_v4(void *device, int *features) {
    ASKED(device);
    features[0] = features[1] = state(device, "virtualization", 1) == 2;
    if (features[0]) features[3] = (int)state(device, "licensed", 0);
    return OK;
}

/* nvmlProcessInfo_t: pid (padded to eight), memory, two instances */
static int running(void *device, int here, unsigned *count, u64 *processes) {
    ASKED(device);
    int now = (int)live(device, "pid", 0), pid = now ? now : number("FAKE_NVML_PROCESS", machine_pid(index_of(device)));
    if (!here || (!now && getenv("FAKE_NVML_PROCESS") && index_of(device)) || !pid) { *count = 0; return OK; }
    if (!processes) { *count = 1; return INSUFFICIENT_SIZE; }
    *count = 1;
    processes[0] = (u64)pid;
    processes[1] = (u64)live(device, "memory_used_mib", 1024) << 20;
    processes[2] = ~0ull;
    return OK;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, u64 *list) { return running(device, 1, count, list); }
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned *count, u64 *list) { return running(device, 0, count, list); }

int nvmlDeviceGetP2PStatus(void *one, void *other, int which, unsigned *out) {
    (void)other;
    ASKED(one);
    *out = which == 2 && plain() ? 5 : 0;
    return OK;
}
int nvmlDeviceGetTopologyCommonAncestor(void *one, void *other, unsigned *out) {
    (void)other;
    ASKED(one);
    *out = 30;
    return OK;
}

int nvmlDeviceGetPcieThroughput(void *device, int to_gpu, unsigned *kib) {
    long rate = live(device, to_gpu ? "pcie_in_kib" : "pcie_out_kib", -1);
    ASKED(device);
    if (rate < 0) return NOT_SUPPORTED;
    *kib = (unsigned)rate;
    return OK;
}
/* nvmlProcessUtilizationSample_t */
struct usage { unsigned pid; u64 microseconds; unsigned sm, memory, encoder, decoder; };
int nvmlDeviceGetProcessUtilization(void *device, struct usage *out, unsigned *count, u64 since) {
    struct timespec now;
    int pid = (int)live(device, "pid", 0);
    (void)since;
    ASKED(device);
    if (!pid) return NOT_FOUND;
    if (!out) { *count = 1; return INSUFFICIENT_SIZE; }
    clock_gettime(CLOCK_REALTIME, &now);
    *count = 1;
    *out = (struct usage){(unsigned)pid, (u64)now.tv_sec * 1000000 + (u64)now.tv_nsec / 1000, (unsigned)live(device, "busy", 0), 0, 0, 0};
    return OK;
}

/* GPM: a sample is the device that it is of. As driver 580's does, it ends a process whose threads are the first to read its counters. */
struct support { unsigned version, supported; };
int nvmlGpmQueryDeviceSupport(void *device, struct support *out) { ASKED(device); out->supported = (unsigned)live(device, "gpm", 0); return OK; }
int nvmlGpmSampleAlloc(void ***sample) { *sample = calloc(1, sizeof **sample); return OK; }
int nvmlGpmSampleGet(void *device, void **sample) { ASKED(device); *sample = device; return OK; }
struct metrics { unsigned version, count; void **before, **after; struct { unsigned id; int answer; double value; char *names[3]; } of[]; };
int nvmlGpmMetricsGet(struct metrics *asked) {
    static const struct { unsigned id; const char *key; } KNOWN[] = {{2, "sm"}, {5, "tensor"}, {12, "fp32"}, {20, "out_mib"}, {21, "in_mib"}};
    static int begun;
    if (!begun && gettid() != getpid()) raise(SIGSEGV);
    begun = 1;
    for (unsigned i = 0; i < asked->count; i++) {
        asked->of[i].answer = NOT_SUPPORTED;
        for (unsigned k = 0; k < sizeof KNOWN / sizeof *KNOWN; k++)
            if (KNOWN[k].id == asked->of[i].id) asked->of[i].value = (double)live(*asked->after, KNOWN[k].key, 0), asked->of[i].answer = OK;
    }
    return OK;
}
