/* A CUDA runtime that is found and answers the few calls made before a kernel runs. CUDART is its version, 12020 for 12.2. */
#ifndef CUDART
#define CUDART 12020
#endif
static char handle;
int cudaRuntimeGetVersion(int *version) { *version = CUDART; return 0; }
int cudaDriverGetVersion(int *version) { *version = 13000; return 0; }
int cudaGetLastError(void) { return 0; }
int cudaPeekAtLastError(void) { return 0; }
int cudaGetDeviceCount(int *count) { *count = 1; return 0; }
int cudaGetDevice(int *device) { *device = 0; return 0; }
int cudaSetDevice(int device) { (void)device; return 0; }
int cudaFree(void *memory) { (void)memory; return 0; }
const char *cudaGetErrorString(int error) { (void)error; return "no error"; }
const char *cudaGetErrorName(int error) { (void)error; return "cudaSuccess"; }
void **__cudaRegisterFatBinary(void *code) { static void *kept; (void)code; kept = &handle; return &kept; }
void __cudaRegisterFatBinaryEnd(void **kept) { (void)kept; }
void __cudaUnregisterFatBinary(void **kept) { (void)kept; }
void __cudaRegisterFunction(void) {}
void __cudaRegisterVar(void) {}
char __cudaInitModule(void **kept) { (void)kept; return 1; }
unsigned __cudaPushCallConfiguration(void) { return 0; }
int __cudaPopCallConfiguration(void) { return 0; }
