/* Preloaded, it makes a program believe that it runs on another system:
 *   FAKE_MACHINE=aarch64   what uname() says of the processor
 *   FAKE_RELEASE=4.4.0-1     what it says of the kernel
 *   FAKE_GLIBC=2.17        what confstr() says of the C library
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

int uname(struct utsname *told) {
    int (*real)(struct utsname *) = (int (*)(struct utsname *))dlsym(RTLD_NEXT, "uname");
    int result = real(told);
    const char *machine = getenv("FAKE_MACHINE"), *release = getenv("FAKE_RELEASE");
    if (!result && machine) snprintf(told->machine, sizeof told->machine, "%s", machine);
    if (!result && release) snprintf(told->release, sizeof told->release, "%s", release);
    return result;
}

size_t confstr(int name, char *text, size_t size) {
    size_t (*real)(int, char *, size_t) = (size_t (*)(int, char *, size_t))dlsym(RTLD_NEXT, "confstr");
    const char *version = getenv("FAKE_GLIBC");
    if (name != _CS_GNU_LIBC_VERSION || !version) return real(name, text, size);
    char whole[64];
    snprintf(whole, sizeof whole, "glibc %s", version);
    if (text && size) snprintf(text, size, "%s", whole);
    return strlen(whole) + 1;
}
