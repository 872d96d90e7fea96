/* A libcublas for tests, on the fake libcuda's memory, which is the host's. cublasGemmEx really multiplies: float32 sums, factors
 * and results as the types have them, TF32 cut to 10 bits.
 *   FAKE_CUBLAS=wrong    every product has one element that is wrong, that of row 0 and column 0
 *   FAKE_CUBLAS=flaky    every third product has one bit flipped in its last element
 *   FAKE_CUBLAS=idle     cublasGemmEx answers success, and does nothing
 *   FAKE_CUBLAS=lazy     it does nothing from the sixth product on
 *   FAKE_CUBLAS=tf32     float32 is rounded to TF32, whatever was asked for
 *   FAKE_CUBLAS=hang, crash   cublasGemmEx does
 *   FAKE_CUBLAS=14       cublasGemmEx answers this status
 *   FAKE_CUBLAS_CREATE=1 cublasCreate answers this status
 *   FAKE_CUBLAS_VERSION=12.9.1
 *   FAKE_CUBLAS_TFLOP_PER_S=50  how fast it is by the clock that the fake libcuda makes up (FAKE_CUDA_GB_PER_S); 50 unless told
 * Compiled with -DOLD it is one of CUDA 10: no cublasSetWorkspace, and computeType is a cudaDataType.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct handle { void *stream, *workspace; int mode; };
enum { R_32F = 0, R_16F = 2, R_16BF = 14 };

static const char *how(void) { const char *text = getenv("FAKE_CUBLAS"); return text ? text : ""; }

int cublasGetProperty(int which, int *value) {
    const char *text = getenv("FAKE_CUBLAS_VERSION");
    int numbers[3] = {12, 9, 1};
    if (which < 0 || which > 2) return 7;
    if (text) sscanf(text, "%d.%d.%d", &numbers[0], &numbers[1], &numbers[2]);
    *value = numbers[which];
    return 0;
}
int cublasCreate_v2(struct handle **handle) {
    const char *answer = getenv("FAKE_CUBLAS_CREATE");
    if (answer) return atoi(answer);
    *handle = calloc(1, sizeof **handle);
    return 0;
}
int cublasSetStream_v2(struct handle *handle, void *stream) { handle->stream = stream; return 0; }
#ifndef OLD
int cublasSetWorkspace_v2(struct handle *handle, void *workspace, size_t size) {
    if ((uintptr_t)workspace % 256 || size < (1 << 16)) return 7;
    handle->workspace = workspace;
    return 0;
}
#endif
int cublasSetMathMode(struct handle *handle, int mode) { handle->mode = mode; return 0; }

static float from_bits(uint32_t bits) { float value; memcpy(&value, &bits, 4); return value; }
static uint32_t to_bits(float value) { uint32_t bits; memcpy(&bits, &value, 4); return bits; }
static float half(uint16_t h) { /* exact: the half's exponent and mantissa in a float's place, times 2^112 */
    return from_bits((uint32_t)(h & 0x8000) << 16 | (uint32_t)(h & 0x7fff) << 13) * from_bits(239u << 23);
}
static uint16_t to_half(float value) { /* by search, to the nearest: slow and simple */
    uint16_t sign = value < 0 ? 0x8000 : 0, low = 0, high = 0x7bff;
    float size = value < 0 ? -value : value;
    if (value != value) return 0x7e00;
    while (high - low > 1) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        if (half(middle) <= size) low = middle; else high = middle;
    }
    return sign | (size - half(low) <= half(high) - size ? low : high);
}
static float load(const void *memory, int type, long at, int tf32) {
    if (type == R_16F) return half(((const uint16_t *)memory)[at]);
    if (type == R_16BF) return from_bits((uint32_t)((const uint16_t *)memory)[at] << 16);
    return from_bits(((const uint32_t *)memory)[at] & (tf32 ? ~0x1fffu : ~0u));
}
static void store(void *memory, int type, long at, float value) {
    if (type == R_16F) ((uint16_t *)memory)[at] = to_half(value);
    else if (type == R_16BF) ((uint16_t *)memory)[at] = (uint16_t)((to_bits(value) + 0x8000) >> 16);
    else ((float *)memory)[at] = value;
}

static void nothing(void *data) { (void)data; }
static int takes(void *stream, double operations) {
    void *libcuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    int (*queue)(void *, void (*)(void *), const void *, size_t, double) = NULL;
    const char *rate = getenv("FAKE_CUBLAS_TFLOP_PER_S");
    if (!libcuda || !(*(void **)&queue = dlsym(libcuda, "fake_cuda_queue"))) return 1;
    return queue(stream, nothing, "", 0, operations / (rate ? atof(rate) : 50) / 1e12);
}

int cublasGemmEx(struct handle *handle, int ta, int tb, int m, int n, int k, const float *alpha, const void *a, int atype, int lda,
                 const void *b, int btype, int ldb, const float *beta, void *c, int ctype, int ldc, int compute, int algorithm) {
    static int calls;
    if (!strcmp(how(), "hang")) for (;;) pause();
    if (!strcmp(how(), "crash")) raise(SIGSEGV);
    if (atoi(how())) return atoi(how());
    if (!strcmp(how(), "idle")) return 0;
    if (!handle || ta || tb || *beta != 0) return 7;
#ifdef OLD
    if (compute != R_32F) return 15;
#else
    if (compute != 68 && compute != 77) return 15;
#endif
    if (compute == 77 && atype != R_32F) return 15;
    (void)algorithm;
    if (!strcmp(how(), "lazy") && calls > 4) return takes(handle->stream, 2.0 * m * n * k) ? 13 : 0;
    int tf32 = compute == 77 || (!strcmp(how(), "tf32") && atype == R_32F);
    for (long j = 0; j < n; j++)
        for (long i = 0; i < m; i++) {
            float sum = 0;
            for (long l = 0; l < k; l++) sum += load(a, atype, i + l * lda, tf32) * load(b, btype, l + j * ldb, tf32);
            store(c, ctype, i + j * ldc, *alpha * sum);
        }
    calls++;
    if (!strcmp(how(), "wrong")) store(c, ctype, 0, load(c, ctype, 0, 0) + 1000);
    if (!strcmp(how(), "flaky") && calls % 3 == 0)
        ((char *)c)[((long)(n - 1) * ldc + m) * (ctype == R_32F ? 4 : 2) - 1] ^= 1;
    return takes(handle->stream, 2.0 * m * n * k) ? 13 : 0;
}
