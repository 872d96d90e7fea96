/* A libcublasLt for tests: float8 (e4m3), C = A transposed times B, on the fake libcuda's memory.
 *   FAKE_CUBLASLT=none   the heuristic finds nothing; =15: it answers this status; =wrong: one element is wrong
 *   FAKE_CUBLASLT_VERSION=12.9.1
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layout { int type; uint64_t rows, columns; int64_t stride; };
struct work { int compute, scale, transposed; };
struct found { uint64_t algorithm[8]; size_t workspace; int state; float waves; int reserved[4]; };
enum { R_16BF = 14, R_8F_E4M3 = 28 };

static const char *how(void) { const char *text = getenv("FAKE_CUBLASLT"); return text ? text : ""; }

int cublasLtGetProperty(int which, int *value) {
    const char *text = getenv("FAKE_CUBLASLT_VERSION");
    int numbers[3] = {12, 9, 1};
    if (text) sscanf(text, "%d.%d.%d", &numbers[0], &numbers[1], &numbers[2]);
    *value = numbers[which];
    return 0;
}
int cublasLtCreate(void **handle) { *handle = malloc(1); return 0; }
int cublasLtMatmulDescCreate(struct work **work, int compute, int scale) {
    *work = calloc(1, sizeof **work);
    **work = (struct work){compute, scale, 0};
    return compute == 68 && scale == 0 ? 0 : 15;
}
int cublasLtMatmulDescSetAttribute(struct work *work, int attribute, const int *value, size_t size) {
    if (attribute != 3 || size != sizeof *value) return 7;
    work->transposed = *value;
    return 0;
}
int cublasLtMatrixLayoutCreate(struct layout **layout, int type, uint64_t rows, uint64_t columns, int64_t stride) {
    *layout = malloc(sizeof **layout);
    **layout = (struct layout){type, rows, columns, stride};
    return 0;
}
int cublasLtMatmulPreferenceCreate(void **wish) { *wish = malloc(1); return 0; }
int cublasLtMatmulPreferenceSetAttribute(void *wish, int attribute, const void *value, size_t size) {
    (void)wish, (void)value;
    return attribute == 1 && size == sizeof(size_t) ? 0 : 7;
}
static int possible(const struct work *work, const struct layout *a, const struct layout *b, const struct layout *c, const struct layout *d) {
    return work->transposed == 1 && a->type == R_8F_E4M3 && b->type == R_8F_E4M3 && c->type == R_16BF && d->type == R_16BF &&
           a->rows % 16 == 0 && d->rows % 16 == 0;
}
int cublasLtMatmulAlgoGetHeuristic(void *handle, struct work *work, struct layout *a, struct layout *b, struct layout *c, struct layout *d,
                                   void *wish, int wanted, struct found *found, int *count) {
    if (!handle || !wish || wanted < 1) return 7;
    *count = 0;
    if (atoi(how())) return atoi(how());
    if (!possible(work, a, b, c, d)) return 15;
    if (!strcmp(how(), "none")) return 0;
    *found = (struct found){.algorithm = {4711}, .workspace = 1 << 20, .waves = 1};
    *count = 1;
    return 0;
}
static float from_bits(uint32_t bits) { float value; memcpy(&value, &bits, 4); return value; }
static float e4m3(uint8_t code) { /* its exponent and mantissa in a float's place, times 2^120 */
    if ((code & 127) == 127) return from_bits(0x7fc00000);
    return from_bits((uint32_t)(code & 0x80) << 24 | (uint32_t)(code & 0x7f) << 20) * from_bits(247u << 23);
}
static void nothing(void *data) { (void)data; }
static int takes(void *stream, double operations) {
    void *libcuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    int (*queue)(void *, void (*)(void *), const void *, size_t, double) = NULL;
    if (!libcuda || !(*(void **)&queue = dlsym(libcuda, "fake_cuda_queue"))) return 1;
    return queue(stream, nothing, "", 0, operations / 1e14);
}

int cublasLtMatmul(void *handle, struct work *work, const float *alpha, const uint8_t *a, struct layout *at, const uint8_t *b,
                   struct layout *bt, const float *beta, const void *c, struct layout *ct, uint16_t *d, struct layout *dt,
                   const uint64_t *algorithm, void *workspace, size_t size, void *stream) {
    (void)c;
    if (!handle || !possible(work, at, bt, ct, dt) || *beta != 0 || *algorithm != 4711 || !workspace || size < 1 << 20) return 7;
    for (uint64_t j = 0; j < dt->columns; j++)
        for (uint64_t i = 0; i < dt->rows; i++) {
            float sum = 0;
            uint32_t bits;
            for (uint64_t l = 0; l < at->rows; l++) sum += e4m3(a[l + i * at->stride]) * e4m3(b[l + j * bt->stride]);
            sum *= *alpha;
            if (!strcmp(how(), "wrong") && !i && !j) sum += 1000;
            memcpy(&bits, &sum, 4);
            d[i + j * dt->stride] = (uint16_t)((bits + 0x8000) >> 16);
        }
    return takes(stream, 2.0 * dt->rows * dt->columns * at->rows) ? 13 : 0;
}
