/* The fake libcuda at work: contexts, memory (the host's), copies, streams, events, kernels, graphs. Everything is done when it
 * is queued; a stream keeps the time at which it would be done. As strict as CUDA where a program's fault would go unseen: after
 * a fork, without a context, beyond an allocation, with peer access twice, while a stream is recorded.
 */
typedef unsigned long long u64;
typedef void (*work_t)(void *data);
static double at_least(double one, double other) { return one > other ? one : other; }

/* ---- contexts */
int cuDevicePrimaryCtxRetain(struct context **context, int device) {
    CALLED_READY(device);
    contexts[device].gpu = device;
    contexts[device].retained++;
    *context = &contexts[device];
    return 0;
}
int cuCtxSetCurrent(struct context *context) {
    CALLED_READY(context ? context->gpu : -1);
    if (context && !context->retained) return 201;
    current = context;
    return 0;
}
int cuCtxGetCurrent(struct context **context) { CALLED_READY(meant()); *context = current; return 0; }
int cuCtxGetDevice(int *device) { CALLED_IN_CONTEXT; *device = current->gpu; return 0; }
int cuCtxEnablePeerAccess(struct context *peer, unsigned flags) {
    CALLED_IN_CONTEXT;
    if (flags || !peer || !peer->retained) return flags ? 1 : 201;
    if (peer == current || !reach()) return 217;
    if (current->peers & 1u << peer->gpu) return 704;
    current->peers |= 1u << peer->gpu;
    return 0;
}
int cuCtxDisablePeerAccess(struct context *peer) {
    CALLED_IN_CONTEXT;
    if (!peer || !(current->peers & 1u << peer->gpu)) return 705;
    current->peers &= ~(1u << peer->gpu);
    return 0;
}

/* For the fake NVML. */
int fake_cuda_at_work(int gpu) { return gpu >= 0 && gpu < 16 && ready == getpid() && contexts[gpu].retained > 0; }

/* ---- memory */
static struct block { char *at; size_t size; int gpu; struct block *next; } *blocks; /* gpu -1: of the host, locked */

static struct block *find(u64 address, size_t size, int device) {
    for (struct block *b = blocks; b; b = b->next)
        if ((u64)b->at <= address && address + size <= (u64)b->at + b->size && (b->gpu >= 0) == device) return b;
    return NULL;
}
static size_t free_bytes(int gpu) {
    const char *all = getenv("FAKE_CUDA_FREE"), *one = told_of("FAKE_CUDA_FREE", gpu, "");
    size_t left = one ? strtoull(one, NULL, 10) : all && !strchr(all, '=') ? strtoull(all, NULL, 10) : 1ul << 30;
    for (struct block *b = blocks; b; b = b->next) if (b->gpu == gpu) left -= b->size < left ? b->size : left;
    return left;
}
static void *allocate(size_t size, int gpu) {
    struct block *b = malloc(sizeof *b);
    void *at = NULL;
    if (!b || posix_memalign(&at, 4096, size)) return free(b), NULL;
    *b = (struct block){at, size, gpu, blocks};
    blocks = b;
    return at;
}
static int release(void *address, int device) {
    for (struct block **b = &blocks; *b; b = &(*b)->next) {
        if ((*b)->at != address || ((*b)->gpu >= 0) != device) continue;
        struct block *gone = *b;
        *b = gone->next;
        free(gone->at);
        free(gone);
        return 0;
    }
    return 1;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
    CALLED_READY(device);
    if (!contexts[device].retained) return 201;
    if (--contexts[device].retained) return 0;
    contexts[device].peers = 0;
    for (struct block *b = blocks, *next; b; b = next) {
        next = b->next;
        if (b->gpu == device) release(b->at, 1);
    }
    return 0;
}
int cuDevicePrimaryCtxRelease(int device) { return cuDevicePrimaryCtxRelease_v2(device); }
int cuMemGetInfo_v2(size_t *free, size_t *total) {
    CALLED_IN_CONTEXT;
    *free = free_bytes(current->gpu);
    *total = 150754820096ul;
    return 0;
}
int cuMemAlloc_v2(u64 *address, size_t size) {
    CALLED_IN_CONTEXT;
    if (!size) return 1;
    if (size > free_bytes(current->gpu)) return 2;
    return (*address = (u64)allocate(size, current->gpu)) ? 0 : 2;
}
int cuMemFree_v2(u64 address) { CALLED_IN_CONTEXT; return address ? release((void *)address, 1) : 0; }
int cuMemHostAlloc(void **address, size_t size, unsigned flags) {
    CALLED_IN_CONTEXT;
    (void)flags;
    if (!size) return 1;
    return (*address = allocate(size, -1)) ? 0 : 2;
}
int cuMemFreeHost(void *address) { CALLED_IN_CONTEXT; return release(address, 0); }

/* ---- streams: what is recorded is kept, and done when its graph is launched */
struct recorded { work_t work; void *data; double seconds; int lane; struct recorded *next; };
struct graph { struct recorded *first, **last; int lanes; };
struct stream { int gpu; double done; struct graph *graph; int lane; struct stream *next; };
struct event { int gpu, timing, recorded; double at; struct graph *graph; };
static struct stream *streams;

static struct stream *of(struct stream *stream) {
    static struct stream none[16];
    if (stream) return stream;
    none[current->gpu].gpu = current->gpu;
    return &none[current->gpu];
}
static int recording(struct graph *graph) {
    for (struct stream *s = streams; s; s = s->next) if (s->graph && (!graph || s->graph == graph)) return 1;
    return 0;
}
/* For other fake libraries too: `work` with a copy of `data` in a stream, which takes `seconds` of the clock that is made up. */
int fake_cuda_queue(void *handle, work_t work, const void *data, size_t size, double seconds) {
    struct stream *stream = of(handle);
    void *mine = memcpy(malloc(size + 1), data, size);
    if (stream->graph) {
        struct recorded *one = malloc(sizeof *one);
        *one = (struct recorded){work, mine, seconds, stream->lane, NULL};
        *stream->graph->last = one;
        stream->graph->last = &one->next;
        return 0;
    }
    work(mine);
    free(mine);
    stream->done = at_least(stream->done, host_clock()) + (made_up() ? seconds : 0);
    return 0;
}
/* For other fake libraries: the GPU of a stream, of memory (-1: not of a device); whether a stream is recorded. */
int fake_cuda_gpu_of_stream(void *stream) { return of(stream)->gpu; }
int fake_cuda_gpu_of_memory(u64 address) { struct block *b = find(address, 1, 1); return b ? b->gpu : -1; }
int fake_cuda_recording(void *stream) { return of(stream)->graph != NULL; }

int cuStreamCreate(struct stream **stream, unsigned flags) {
    CALLED_IN_CONTEXT;
    if (flags > 1) return 1;
    *stream = calloc(1, sizeof **stream);
    (*stream)->gpu = current->gpu;
    (*stream)->next = streams;
    streams = *stream;
    return 0;
}
int cuStreamCreateWithPriority(struct stream **stream, unsigned flags, int priority) { return (void)priority, cuStreamCreate(stream, flags); }
int cuStreamDestroy_v2(struct stream *stream) {
    CALLED_IN_CONTEXT;
    for (struct stream **s = &streams; *s; s = &(*s)->next) {
        if (*s != stream) continue;
        *s = stream->next;
        free(stream);
        return 0;
    }
    return 400;
}
int cuStreamSynchronize(struct stream *stream) {
    CALLED_IN_CONTEXT;
    if (of(stream)->graph) return 900;
    ahead = at_least(ahead, of(stream)->done);
    return 0;
}
int cuStreamQuery(struct stream *stream) { CALLED_IN_CONTEXT; return of(stream)->graph ? 900 : 0; }
int cuCtxSynchronize(void) {
    CALLED_IN_CONTEXT;
    if (recording(NULL)) return 900;
    for (struct stream *s = streams; s; s = s->next) if (s->gpu == current->gpu) ahead = at_least(ahead, s->done);
    ahead = at_least(ahead, of(NULL)->done);
    return 0;
}

/* ---- events */
int cuEventCreate(struct event **event, unsigned flags) {
    CALLED_IN_CONTEXT;
    *event = calloc(1, sizeof **event);
    (*event)->gpu = current->gpu;
    (*event)->timing = !(flags & 2);
    return 0;
}
int cuEventDestroy_v2(struct event *event) { CALLED_IN_CONTEXT; free(event); return 0; }
int cuEventRecord(struct event *event, struct stream *handle) {
    CALLED_IN_CONTEXT;
    struct stream *stream = of(handle);
    if (event->gpu != stream->gpu) return 400;
    event->graph = stream->graph;
    if (stream->graph) return 0;
    event->at = made_up() ? at_least(stream->done, ahead) : host_clock();
    event->recorded = 1;
    return 0;
}
int cuEventSynchronize(struct event *event) {
    CALLED_IN_CONTEXT;
    if (event->graph) return 900;
    ahead = at_least(ahead, event->at);
    return 0;
}
int cuEventQuery(struct event *event) { CALLED_IN_CONTEXT; return event->graph ? 900 : 0; }
int cuEventElapsedTime(float *milliseconds, struct event *begin, struct event *end) {
    CALLED_IN_CONTEXT;
    if (!begin->recorded || !end->recorded || !begin->timing || !end->timing || begin->gpu != end->gpu) return 400;
    *milliseconds = (float)((end->at - begin->at) * 1e3);
    return 0;
}
int cuEventElapsedTime_v2(float *milliseconds, struct event *begin, struct event *end) { return cuEventElapsedTime(milliseconds, begin, end); }
int cuStreamWaitEvent(struct stream *handle, struct event *event, unsigned flags) {
    CALLED_IN_CONTEXT;
    struct stream *stream = of(handle);
    if (flags) return 1;
    if (event->graph && recording(event->graph)) { /* it is recorded as well, from here on */
        if (stream->graph && stream->graph != event->graph) return 1;
        if (!stream->graph) stream->lane = event->graph->lanes++;
        stream->graph = event->graph;
        return 0;
    }
    stream->done = at_least(stream->done, event->at);
    return 0;
}

/* ---- copies */
struct copy { char *to; const char *from; size_t size, element; int value, flip; };

static void do_copy(void *data) {
    struct copy *c = data;
    if (c->from) memmove(c->to, c->from, c->size);
    else for (size_t i = 0; i < c->size; i += c->element) memcpy(c->to + i, &c->value, c->element);
    if (c->flip >= 0) c->to[c->size / 2] ^= (char)(1 << c->flip);
}
/* Each kind flips a bit of its own: two wrong copies in a row don't make it right again. */
static int flipped(int gpu, const char *kind) {
    static const char *const kinds[] = {"htod", "dtoh", "inside", "pair", "staged", "memset"};
    for (int i = 0; i < 6; i++) if (!strcmp(kinds[i], kind) && wrong(gpu, kind)) return i;
    return -1;
}
/* `stream` NULL: the caller waits for it. */
static int copy(struct stream *stream, u64 to, u64 from, size_t size, const char *kind, int waits) {
    struct block *target = find(to, size, 1), *source = find(from, size, 1);
    int into = strcmp(kind, "dtoh"), out_of = strcmp(kind, "htod");
    if ((into && !target) || (out_of && !source) || !to || !from) return 1;
    int gpu = into ? target->gpu : source->gpu, other = out_of ? source->gpu : gpu;
    if (gpu != other) kind = contexts[gpu].peers & 1u << other || contexts[other].peers & 1u << gpu ? "pair" : "staged";
    double seconds = at_least(copy_seconds(gpu, kind, size), copy_seconds(other, kind, size));
    int flip = flipped(gpu, kind);
    struct copy one = {(char *)to, (const char *)from, size, 1, 0, flip < 0 ? flipped(other, kind) : flip};
    if (size) fake_cuda_queue(stream, do_copy, &one, sizeof one, seconds);
    if (waits && made_up() && into != out_of) sleep_for(seconds);
    if (waits) ahead = at_least(ahead, of(stream)->done);
    return 0;
}
int cuMemcpyHtoDAsync_v2(u64 to, const void *from, size_t size, struct stream *stream) {
    CALLED_IN_CONTEXT;
    return copy(stream, to, (u64)from, size, "htod", 0);
}
int cuMemcpyDtoHAsync_v2(void *to, u64 from, size_t size, struct stream *stream) {
    CALLED_IN_CONTEXT;
    return copy(stream, (u64)to, from, size, "dtoh", 0);
}
int cuMemcpyDtoDAsync_v2(u64 to, u64 from, size_t size, struct stream *stream) {
    CALLED_IN_CONTEXT;
    return copy(stream, to, from, size, "inside", 0);
}
int cuMemcpyHtoD_v2(u64 to, const void *from, size_t size) { CALLED_IN_CONTEXT; return copy(NULL, to, (u64)from, size, "htod", 1); }
int cuMemcpyDtoH_v2(void *to, u64 from, size_t size) { CALLED_IN_CONTEXT; return copy(NULL, (u64)to, from, size, "dtoh", 1); }
int cuMemcpyDtoD_v2(u64 to, u64 from, size_t size) { CALLED_IN_CONTEXT; return copy(NULL, to, from, size, "inside", 1); }
int cuMemcpyPeerAsync(u64 to, struct context *there, u64 from, struct context *here, size_t size, struct stream *stream) {
    CALLED_IN_CONTEXT;
    struct block *target = find(to, size, 1), *source = find(from, size, 1);
    if (!there || !here || !there->retained || !here->retained) return 201;
    if (!target || !source || target->gpu != there->gpu || source->gpu != here->gpu) return 1;
    return copy(stream, to, from, size, "inside", 0);
}
static int fill_with(struct stream *stream, u64 to, int value, size_t element, size_t count) {
    struct block *target = find(to, element * count, 1);
    if (!target || to % element) return 1;
    struct copy one = {(char *)to, NULL, element * count, element, value, flipped(target->gpu, "memset")};
    if (count) fake_cuda_queue(stream, do_copy, &one, sizeof one, 1e-6);
    return 0;
}
int cuMemsetD8_v2(u64 to, unsigned char value, size_t count) { CALLED_IN_CONTEXT; return fill_with(NULL, to, value, 1, count); }
int cuMemsetD32_v2(u64 to, unsigned value, size_t count) { CALLED_IN_CONTEXT; return fill_with(NULL, to, (int)value, 4, count); }
int cuMemsetD8Async(u64 to, unsigned char value, size_t count, struct stream *stream) {
    CALLED_IN_CONTEXT;
    return fill_with(stream, to, value, 1, count);
}
int cuMemsetD32Async(u64 to, unsigned value, size_t count, struct stream *stream) {
    CALLED_IN_CONTEXT;
    return fill_with(stream, to, (int)value, 4, count);
}

/* ---- kernels: those of gpudoctor/patient/ptx.py, in C. A launch has its arguments one after another, 8 bytes each. */
struct launch { u64 arguments[8]; int gpu; unsigned blocks, threads; };
static void do_nothing(void *data) { (void)data; }
static void do_count(void *data) {
    struct launch *l = data;
    *(u64 *)l->arguments[0] += (u64)l->blocks * l->threads;
}
/* 16 bytes of the pattern: what is written to unit `i`, and has to be found there. */
static void pattern(const u64 *arguments, u64 i, u64 *unit) {
    u64 x = (arguments[2] + i) * 0x9E3779B97F4A7C15u + arguments[3];
    unit[0] = x ^ arguments[4];
    unit[1] = (x ^ x >> 29) * 0xBF58476D1CE4E5B9u ^ arguments[4];
}
static void do_fill(void *data) {
    struct launch *l = data;
    u64 *memory = (u64 *)l->arguments[0];
    for (u64 i = 0; i < l->arguments[1]; i++) pattern(l->arguments, i, memory + 2 * i);
    if (l->arguments[1] && wrong(l->gpu, "kernel")) memory[l->arguments[1] / 2 * 2] ^= 1u << 4;
}
static void differing(u64 *found, u64 bits, u64 number) {
    if (!bits) return;
    found[0]++;
    if (number < found[1]) found[1] = number;
    found[2] |= bits;
}
static void do_check(void *data) {
    const u64 *a = ((struct launch *)data)->arguments, *memory = (const u64 *)a[0];
    for (u64 i = 0, unit[2]; i < a[1]; i++) {
        pattern(a, i, unit);
        differing((u64 *)a[5], (memory[2 * i] ^ unit[0]) | (memory[2 * i + 1] ^ unit[1]), a[2] + i);
    }
}
static void do_differ(void *data) {
    const u64 *a = ((struct launch *)data)->arguments, *one = (const u64 *)a[0], *other = (const u64 *)a[2];
    for (u64 i = 0; i < a[1]; i++) differing((u64 *)a[4], (one[2 * i] ^ other[2 * i]) | (one[2 * i + 1] ^ other[2 * i + 1]), a[3] + i);
}
/* How many arguments a kernel has, and which are addresses: 'm' of as many units as the second argument says, 'f' of three words. */
static const struct kernel { const char *name; work_t work; const char *arguments; } KERNELS[] = {
    {"nothing", do_nothing, ""}, {"count", do_count, "f"},         {"fill", do_fill, "m----"},
    {"check", do_check, "m----f"}, {"differ", do_differ, "m-m-f"},
};
struct module { char *text; };

int cuModuleLoadData(struct module **module, const char *text) {
    CALLED_IN_CONTEXT;
    if (!strstr(text, ".version") || !strstr(text, ".target")) return 218;
    *module = malloc(sizeof **module);
    (*module)->text = strdup(text);
    return 0;
}
int cuModuleUnload(struct module *module) { CALLED_IN_CONTEXT; free(module->text); free(module); return 0; }
int cuModuleGetFunction(const struct kernel **function, struct module *module, const char *name) {
    CALLED_IN_CONTEXT;
    for (const char *at = module->text; (at = strstr(at, ".entry ")); at++) {
        const char *here = at + strspn(at + 7, " ") + 7;
        if (strncmp(here, name, strlen(name)) || !strchr(" (\n{", here[strlen(name)])) continue;
        for (unsigned i = 0; i < sizeof KERNELS / sizeof *KERNELS; i++)
            if (!strcmp(KERNELS[i].name, name)) return *function = &KERNELS[i], 0;
    }
    return 500;
}
int cuLaunchKernel(const struct kernel *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, struct stream *handle, void **arguments, void **extra) {
    CALLED_IN_CONTEXT;
    (void)shared;
    struct launch one = {.gpu = current->gpu, .blocks = gx, .threads = bx};
    if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024 || extra) return 1;
    if (of(handle)->gpu != current->gpu) return 400;
    for (int i = 0; function->arguments[i]; i++) one.arguments[i] = *(u64 *)arguments[i];
    for (int i = 0; function->arguments[i]; i++) {
        size_t size = function->arguments[i] == 'm' ? 16 * one.arguments[1] : 24;
        if (function->arguments[i] != '-' && !find(one.arguments[i], size, 1)) return lost[current->gpu] = 700;
    }
    return fake_cuda_queue(handle, function->work, &one, sizeof one, 2e-6);
}

/* ---- graphs */
int cuStreamBeginCapture_v2(struct stream *stream, int mode) {
    CALLED_IN_CONTEXT;
    if (!stream) return 900;
    if (stream->graph || mode < 0 || mode > 2) return stream->graph ? 401 : 1;
    stream->graph = calloc(1, sizeof *stream->graph);
    stream->graph->last = &stream->graph->first;
    stream->graph->lanes = 1;
    stream->lane = 0;
    return 0;
}
int cuStreamEndCapture(struct stream *stream, struct graph **graph) {
    CALLED_IN_CONTEXT;
    if (!stream || !stream->graph || stream->lane) return 401;
    *graph = stream->graph;
    for (struct stream *s = streams; s; s = s->next) if (s->graph == *graph) s->graph = NULL;
    return 0;
}
int cuStreamIsCapturing(struct stream *stream, int *answer) { CALLED_IN_CONTEXT; *answer = of(stream)->graph != NULL; return 0; }
int cuGraphInstantiateWithFlags(struct graph **executable, struct graph *graph, u64 flags) {
    CALLED_IN_CONTEXT;
    (void)flags;
    *executable = graph;
    return 0;
}
int cuGraphUpload(struct graph *graph, struct stream *stream) { CALLED_IN_CONTEXT; (void)graph, (void)stream; return 0; }
int cuGraphLaunch(struct graph *graph, struct stream *handle) {
    CALLED_IN_CONTEXT;
    double lanes[64] = {0}, longest = 0;
    struct stream *stream = of(handle);
    if (stream->graph) return 900;
    for (struct recorded *one = graph->first; one; one = one->next) {
        one->work(one->data);
        longest = at_least(longest, lanes[one->lane % 64] += one->seconds);
    }
    stream->done = at_least(stream->done, host_clock()) + (made_up() ? longest : 0);
    return 0;
}
int cuGraphDestroy(struct graph *graph) { CALLED_IN_CONTEXT; (void)graph; return 0; } /* an executable may still use it */
int cuGraphExecDestroy(struct graph *graph) { CALLED_IN_CONTEXT; (void)graph; return 0; }
