/* A libcublas or a libnccl for tests on real GPUs: it loads, tells a version, and where work begins it hangs, or with
 * -DCRASH dies. Compiled under either name. */
#include <signal.h>
#include <unistd.h>

static int fault(void) {
#ifdef CRASH
    raise(SIGSEGV);
#endif
    for (;;) pause();
}

int cublasGetProperty(int which, int *value) { *value = which ? 0 : 12; return 0; }
int cublasCreate_v2(void **handle) { static int made; *handle = &made; return 0; }
int cublasSetStream_v2(void *handle, void *stream) { (void)handle; (void)stream; return 0; }
int cublasSetWorkspace_v2(void *handle, void *workspace, unsigned long size) { (void)handle; (void)workspace; (void)size; return 0; }
int cublasSetMathMode(void *handle, int mode) { (void)handle; (void)mode; return 0; }
int cublasGemmEx(void) { return fault(); }

int ncclGetVersion(int *version) { *version = 22707; return 0; }
const char *ncclGetErrorString(int result) { (void)result; return ""; }
int ncclCommInitAll(void) { return fault(); }
