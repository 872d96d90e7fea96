/* The fake driver of tests/fakes, and the further calls that TensorFlow makes before it looks for the CUDA libraries. */
#include "../../fakes/libcuda.c"

typedef unsigned long long pointer;
static int current;

int cuCtxGetCurrent(void **context) { *context = current ? &current : NULL; return 0; }
int cuCtxSetCurrent(void *context) { current = context != NULL; return 0; }
int cuCtxGetDevice(int *device) { *device = 0; return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuCtxPushCurrent_v2(void *context) { current = context != NULL; return 0; }
int cuCtxPopCurrent_v2(void **context) { *context = &current; return 0; }
int cuCtxGetSharedMemConfig(int *how) { *how = 1; return 0; }
int cuCtxSetSharedMemConfig(int how) { (void)how; return 0; }
int cuCtxGetApiVersion(void *context, unsigned *version) { (void)context; *version = 12020; return 0; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { (void)device; *flags = 0; *active = 0; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { (void)device; *context = &current; return 0; }
int cuDevicePrimaryCtxRelease(int device) { (void)device; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; return 0; }
int cuDevicePrimaryCtxSetFlags(int device, unsigned flags) { (void)device; (void)flags; return 0; }
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) { (void)device; (void)flags; return 0; }
int cuDeviceComputeCapability(int *major, int *minor, int device) { (void)device; *major = 9; *minor = 0; return 0; }
int cuDeviceGetProperties(int *properties, int device) {
    (void)device;
    /* CUdevprop: threads a block, block and grid sizes, shared memory, constant memory, warp, pitch, registers, clock, alignment */
    int like[] = {1024, 1024, 1024, 64, 2147483647, 65535, 65535, 49152, 65536, 32, 2147483647, 65536, 1980000, 512};
    memcpy(properties, like, sizeof like);
    return 0;
}
int cuMemGetInfo_v2(size_t *unused, size_t *all) { *unused = 149000000000UL; *all = 150754820096UL; return 0; }
int cuMemAlloc_v2(pointer *where, size_t bytes) { *where = (pointer)malloc(bytes); return 0; }
int cuMemFree_v2(pointer where) { free((void *)where); return 0; }
int cuStreamCreate(void **stream, unsigned flags) { (void)flags; *stream = &current; return 0; }
int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) { (void)flags; (void)priority; *stream = &current; return 0; }
int cuStreamDestroy_v2(void *stream) { (void)stream; return 0; }
int cuStreamSynchronize(void *stream) { (void)stream; return 0; }
int cuEventCreate(void **event, unsigned flags) { (void)flags; *event = &current; return 0; }
int cuEventDestroy_v2(void *event) { (void)event; return 0; }
