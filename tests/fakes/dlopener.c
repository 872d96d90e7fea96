/* Does what its arguments say, then prints the objects in the process, in the order in which they came.
 *   open PATH          dlopen of a path
 *   soname NAME PATH   dlopen of a name by code of the object at PATH ('-' is this program)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

typedef void *(*opener)(const char *);

static int show(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    (void)data;
    if (info->dlpi_name && strchr(info->dlpi_name, '/') && !strstr(info->dlpi_name, "/ld-linux")) puts(info->dlpi_name);
    return 0;
}

int main(int count, char **word) {
    for (int i = 1; i < count;) {
        if (!strcmp(word[i], "open")) {
            printf("%s\n", dlopen(word[i + 1], RTLD_NOW) ? "ok" : "failed");
            i += 2;
        } else {
            opener open_it = NULL;
            if (strcmp(word[i + 2], "-")) {
                void *caller = dlopen(word[i + 2], RTLD_NOW);
                open_it = caller ? (opener)dlsym(caller, "caller_open") : NULL;
            }
            fprintf(stderr, "@gpudoctor call %d\n", i);
            void *got = open_it ? open_it(word[i + 1]) : dlopen(word[i + 1], RTLD_NOW);
            fprintf(stderr, "@gpudoctor done\n");
            printf("%s\n", got ? "ok" : "failed");
            i += 3;
        }
    }
    puts("objects");
    dl_iterate_phdr(show, NULL);
    return 0;
}
