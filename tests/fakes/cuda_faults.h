/* What a test may have the fake libcuda do wrong, for one function, for one GPU:
 *   FAKE_CUDA_FAIL="cuMemAlloc_v2=2,cuMemcpyDtoDAsync_v2@gpu1=hang,cuStreamSynchronize=crash"
 *                           a function (exported name; '@gpu1': on this GPU only) answers a code, sleeps for ever, crashes
 *   FAKE_CUDA_WRONG="gpu0,gpu1:pair"  what copies bring to or from a GPU has a bit flipped; with a kind: these alone.
 *                           Kinds: htod, dtoh, inside, pair, staged (between two GPUs without peer access), memset, kernel
 *   FAKE_CUDA_GB_PER_S="gpu0=50,gpu1:pair=12"  how fast copies are, kinds as above; a kind or GPU that is not told: 50.
 *                           With it the clock of events is made up: nothing waits, and figures don't depend on this
 *                           host. Only copies without 'Async', which programs time by the host's clock, really take that long.
 *   FAKE_CUDA_FREE="gpu0=1048576" (or a number for all)  bytes that are free at the beginning; 1 GiB unless told
 * After 700, 719 and the like a GPU's context answers nothing else in this process, as CUDA's does.
 * A function that this libcuda is not to have: compile with -DcuMemFree_v2=another_name.
 */
#include <sys/types.h>
#include <time.h>

/* The value behind `key` in "key=value,key,…"; "" for one without a value; NULL: it is not there. */
static const char *told(const char *variable, const char *key) {
    static __thread char value[64];
    const char *at = getenv(variable);
    size_t length = strlen(key);
    for (; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, key, length) || !strchr("=,", at[length])) continue;
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at + length + (at[length] == '='), ","), at + length + (at[length] == '='));
        return value;
    }
    return NULL;
}
/* The same for a GPU: 'gpu0:kind', 'gpu0', 'kind', in this order. */
static const char *told_of(const char *variable, int gpu, const char *kind) {
    char both[64], alone[16];
    snprintf(both, sizeof both, "gpu%d:%s", gpu, kind);
    snprintf(alone, sizeof alone, "gpu%d", gpu);
    const char *value = told(variable, both);
    if (!value) value = told(variable, alone);
    return value ? value : told(variable, kind);
}

static struct context { int gpu, retained; unsigned peers; void *none; } contexts[16];
static __thread struct context *current;
static pid_t ready; /* the process that has called cuInit: a fork of it has not */

static int lost[16]; /* what a context that is of no more use answers */

static int meant(void) { return current ? current->gpu : visible() == 1 ? order[0] : -1; }
static int fault(const char *function, int gpu) {
    char one[96];
    snprintf(one, sizeof one, "%s@gpu%d", function, gpu);
    const char *how = told("FAKE_CUDA_FAIL", one);
    if (!how) how = told("FAKE_CUDA_FAIL", function);
    if (how && !strcmp(how, "hang")) for (;;) pause();
    if (how && !strcmp(how, "crash")) raise(SIGSEGV);
    int code = how ? atoi(how) : 0;
    if (current && (code == 214 || (code >= 700 && code < 720 && code != 704 && code != 705))) lost[current->gpu] = code;
    return code;
}
/* A function begins so: on a device; in the current context. */
#define CALLED(gpu)                                          \
    do {                                                     \
        int failed = fault(__func__, gpu);                   \
        if (failed) return failed;                           \
    } while (0)
#define CALLED_READY(gpu)                                    \
    do {                                                     \
        CALLED(gpu);                                         \
        if (ready != getpid()) return 3;                     \
    } while (0)
#define CALLED_IN_CONTEXT                                    \
    do {                                                     \
        CALLED_READY(meant());                               \
        if (!current || !current->retained) return 201;      \
        if (lost[current->gpu]) return lost[current->gpu];   \
    } while (0)

static int wrong(int gpu, const char *kind) { return told_of("FAKE_CUDA_WRONG", gpu, kind) != NULL; }

/* ---- time, seconds */
static double ahead; /* the clock that is made up */
static int made_up(void) { return getenv("FAKE_CUDA_GB_PER_S") != NULL; }
static double host_clock(void) {
    struct timespec t;
    if (made_up()) return ahead;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
static double copy_seconds(int gpu, const char *kind, size_t size) {
    const char *rate = told_of("FAKE_CUDA_GB_PER_S", gpu, kind);
    return made_up() ? size / 1e9 / (rate ? atof(rate) : 50) : 0;
}
static void sleep_for(double seconds) {
    struct timespec t = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}
