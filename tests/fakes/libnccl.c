/* A libnccl for tests: ncclGetVersion answers FAKE_NCCL_VERSION; FAKE_NCCL_LOAD=crash: loading it does; =hang: so.
 * It adds up, on the memory of the fake libcuda, and writes a log as NCCL does where NCCL_DEBUG=INFO.
 *   FAKE_NCCL=hang              ncclGroupEnd after ncclAllReduce sleeps for ever; =crash; =error: it answers 1 and warns;
 *                               =wrong: one number of the sum is; =init: ncclCommInitAll answers 2 and warns
 *   FAKE_NCCL=hang-pair:0-1     … where both GPUs (in the order of the machine) take part; also error-, crash-, wrong-pair
 *   FAKE_NCCL=hang-graph        … where it is captured in a graph; also error-graph, wrong-graph
 *   FAKE_NCCL=hang-destroy      ncclCommDestroy does
 *   FAKE_NCCL_BUSBW=300         GB/s on the clock of events that FAKE_CUDA_GB_PER_S makes up; 300 unless told
 *   FAKE_NCCL_BUSBW_SHM=26      … where NCCL_P2P_DISABLE is set; also _NET, with NCCL_SHM_DISABLE as well, and _ONE, with NCCL_MAX_NCHANNELS
 * It is as strict as NCCL: every GPU of a communicator must come within one group, with a stream and memory of its own;
 * with NCCL_COMM_BLOCKING=0 nothing is done when a call returns; with CUDA_LAUNCH_BLOCKING a launch waits for the other GPUs'.
 */
#pragma GCC optimize("O2")
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void loaded(void) {
    const char *how = getenv("FAKE_NCCL_LOAD");
    if (how && !strcmp(how, "crash")) raise(SIGSEGV);
    if (how && !strcmp(how, "hang")) for (;;) pause();
}

int ncclGetVersion(int *version) {
    const char *code = getenv("FAKE_NCCL_VERSION");
    *version = code ? atoi(code) : 22707;
    return 0;
}

/* ---- its log */
static char last[512];
static void say(int device, const char *level, const char *format, ...) {
    static FILE *file;
    char host[64] = "", text[400];
    const char *debug = getenv("NCCL_DEBUG"), *path = getenv("NCCL_DEBUG_FILE");
    va_list given;
    va_start(given, format);
    vsnprintf(text, sizeof text, format, given);
    va_end(given);
    if (!strcmp(level, "WARN")) snprintf(last, sizeof last, "%s", text);
    if (!debug || (strcmp(debug, "INFO") && strcmp(debug, level))) return;
    if (!file) {
        file = path && *path ? fopen(path, "w") : NULL;
        if (!file) file = stdout;
        setlinebuf(file);
    }
    gethostname(host, sizeof host - 1);
    if (strcmp(level, "WARN")) fprintf(file, "%s:%d:%d [%d] NCCL %s %s\n", host, getpid(), getpid(), device, level, text);
    else fprintf(file, "\n[2026-05-05 06:16:47] %s:%d:%d [%d] enqueue.cc:7 NCCL WARN %s\n", host, getpid(), getpid(), device, text);
}
static int is_set(const char *name) { const char *value = getenv(name); return value && atoi(value); }

const char *ncclGetErrorString(int result) {
    return result == 1 ? "unhandled cuda error (run with NCCL_DEBUG=INFO for details)" : result == 2 ? "unhandled system error" : "no error";
}
const char *ncclGetLastError(void *comm) { return (void)comm, last; }

/* ---- the fake libcuda */
typedef unsigned long long u64;
typedef void (*work_t)(void *data);
static void *of_cuda(const char *name) {
    void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *found = cuda ? dlsym(cuda, name) : NULL;
    if (!found) abort();
    return found;
}
static int gpu_of_stream(void *stream) { return ((int (*)(void *))of_cuda("fake_cuda_gpu_of_stream"))(stream); }
static int gpu_of_memory(const void *at) { return ((int (*)(u64))of_cuda("fake_cuda_gpu_of_memory"))((u64)at); }
static int recording(void *stream) { return ((int (*)(void *))of_cuda("fake_cuda_recording"))(stream); }

/* ---- communicators */
struct family { int count, gpus[16], connected, left; };
struct comm { struct family *family; int rank; };

int ncclCommInitAll(struct comm **comms, int count, const int *devices) {
    struct family *family = calloc(1, sizeof *family);
    const char *how = getenv("FAKE_NCCL"), *most = getenv("NCCL_MAX_NCHANNELS");
    static const char *const shown[] = {"NCCL_SOCKET_IFNAME", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE", "NCCL_MAX_NCHANNELS"};
    int (*device_get)(int *, int) = (int (*)(int *, int))of_cuda("cuDeviceGet");
    const char *blocking = getenv("NCCL_COMM_BLOCKING");
    if (count < 1 || count > 16) return 4;
    if (blocking && !atoi(blocking)) return 7;
    say(0, "INFO", "NCCL version 2.27.7+cuda12.9");
    if (how && !strcmp(how, "init")) return say(0, "WARN", "Call to socket failed : Too many open files"), 2;
    for (int i = 0; i < 4; i++) if (getenv(shown[i])) say(0, "INFO", "%s set by environment to %s", shown[i], getenv(shown[i]));
    family->count = family->left = count;
    for (int rank = 0; rank < count; rank++) {
        if (device_get(&family->gpus[rank], devices[rank])) return 1;
        for (int other = 0; other < rank; other++) if (family->gpus[other] == family->gpus[rank]) return 5;
        comms[rank] = malloc(sizeof **comms);
        *comms[rank] = (struct comm){family, rank};
        int channels = most && *most ? atoi(most) : 24;
        for (int c = 0; c < channels && !rank; c++) say(0, "INFO", "Channel %02d/%02d : 0 1", c, channels);
        say(rank, "INFO", "%d coll channels, %d collnet channels, 0 nvls channels, 32 p2p channels, 32 p2p channels per peer", channels, channels);
    }
    return 0;
}
int ncclCommDestroy(struct comm *comm) {
    const char *how = getenv("FAKE_NCCL");
    if (how && !strcmp(how, "hang-destroy")) for (;;) pause();
    say(comm->rank, "INFO", "comm %p rank %d - Destroy COMPLETE", (void *)comm, comm->rank);
    if (!--comm->family->left) free(comm->family);
    free(comm);
    return 0;
}

/* ---- all-reduce */
struct call { const float *from; float *to; size_t count; struct comm *comm; void *stream; };
struct sum { const float *from[16]; float *to; size_t count; int gpus, wrong; };
static struct call calls[64];
static int depth, called;

int ncclGroupStart(void) { depth++; return 0; }
int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, struct comm *comm, void *stream) {
    if (type != 7 || op != 0) return 4; /* ncclFloat32, ncclSum: what is needed here */
    int gpu = comm->family->gpus[comm->rank];
    if (gpu_of_memory(from) != gpu || gpu_of_memory(to) != gpu || gpu_of_stream(stream) != gpu) return 4;
    if (!depth && comm->family->count > 1) for (;;) pause(); /* it waits for the others */
    if (called == 64) return 3;
    calls[called++] = (struct call){from, to, count, comm, stream};
    return 0;
}
static void do_sum(void *data) {
    struct sum *s = data;
    for (size_t i = 0; i < s->count; i++) {
        float all = 0;
        for (int g = 0; g < s->gpus; g++) all += s->from[g][i];
        s->to[i] = all;
    }
    if (s->wrong) s->to[s->count / 2] += 1;
}
/* Whether FAKE_NCCL says `what` of these GPUs, now. */
static int meant(const char *what, struct family *family, void *stream) {
    const char *how = getenv("FAKE_NCCL");
    int one, other, has = 0;
    if (!how || strncmp(how, what, strlen(what))) return 0;
    how += strlen(what);
    if (!*how) return 1;
    if (!strcmp(how, "-graph")) return recording(stream);
    if (sscanf(how, "-pair:%d-%d", &one, &other) != 2) return 0;
    for (int i = 0; i < family->count; i++) has |= (family->gpus[i] == one) | (family->gpus[i] == other) << 1;
    return has == 3;
}
static void connect(struct family *family) {
    int p2p = !is_set("NCCL_P2P_DISABLE"), shm = !is_set("NCCL_SHM_DISABLE"), count = family->count;
    const char *most = getenv("NCCL_MAX_NCHANNELS");
    for (int c = 0; c < (most && *most ? atoi(most) : 24); c++)
        for (int r = 0; r < count; r++)
            say(r, "INFO", "Channel %02d/0 : %d[%d] -> %d[%d] %svia %s", c, r, r, (r + 1) % count, (r + 1) % count,
                p2p || shm ? "" : "[send] ", p2p ? "P2P/direct pointer" : shm ? "SHM/direct/direct" : "NET/Socket/0");
    for (int r = 0; r < count; r++) say(r, "INFO", "Connected all rings, use ring PXN 0 GDR 1");
    family->connected = 1;
}
static const char *busbw(void) {
    int shm = is_set("NCCL_P2P_DISABLE"), net = shm && is_set("NCCL_SHM_DISABLE"), one = is_set("NCCL_MAX_NCHANNELS");
    const char *slow = one ? getenv("FAKE_NCCL_BUSBW_ONE") : NULL;
    if (!slow) slow = net ? getenv("FAKE_NCCL_BUSBW_NET") : shm ? getenv("FAKE_NCCL_BUSBW_SHM") : NULL;
    return slow ? slow : getenv("FAKE_NCCL_BUSBW");
}
int ncclGroupEnd(void) {
    int (*queue)(void *, work_t, const void *, size_t, double) =
        (int (*)(void *, work_t, const void *, size_t, double))of_cuda("fake_cuda_queue");
    const char *rate = busbw();
    if (--depth || !called) return 0;
    struct family *family = calls[0].comm->family;
    int count = family->count;
    if (called % count || is_set("CUDA_LAUNCH_BLOCKING")) for (;;) pause(); /* some GPUs never come */
    if (!family->connected) connect(family);
    if (meant("hang", family, calls[0].stream)) for (;;) pause();
    if (meant("crash", family, calls[0].stream)) raise(SIGSEGV);
    if (meant("error", family, calls[0].stream)) {
        called = 0;
        say(0, "WARN", "Cuda failure 719 'unspecified launch failure'");
        return 1;
    }
    say(0, "INFO", "AllReduce: %zu Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}", calls[0].count * 4);
    for (int i = 0; i < called; i++) {
        struct sum sum = {.to = calls[i].to, .count = calls[i].count, .gpus = count};
        for (int g = 0; g < count; g++) {
            struct call *other = &calls[i / count * count + g];
            if (other->comm->family != family || other->comm->rank != g || other->count != sum.count) return 5;
            sum.from[g] = other->from;
        }
        sum.wrong = calls[i].comm->rank == 1 && meant("wrong", family, calls[i].stream);
        double seconds = sum.count * 4 / 1e9 * 2 * (count - 1) / count / (rate ? atof(rate) : 300);
        queue(calls[i].stream, do_sum, &sum, sizeof sum, seconds);
    }
    called = 0;
    return 0;
}
