/* A libnccl for tests: ncclGetVersion answers FAKE_NCCL_VERSION; FAKE_NCCL_LOAD=crash: loading it does; =hang: so. */
#include <signal.h>
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
