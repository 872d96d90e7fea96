/* A cuDNN that is found and tells its version: 9.3.0, 8.6.0 or 7.6.0. */
#include <stddef.h>
#ifndef MAJOR
#define MAJOR 9
#endif
size_t cudnnGetVersion(void) { return MAJOR >= 9 ? MAJOR * 10000 + 300 : MAJOR * 1000 + 600; }
size_t cudnnGetCudartVersion(void) { return 12020; }
int cudnnGetProperty(int which, int *value) {
    *value = which == 0 ? MAJOR : which == 1 ? (MAJOR >= 9 ? 3 : 6) : 0;
    return 0;
}
