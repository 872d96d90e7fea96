/* The administrator of a scene (tests/provoked/scene.py), set-user-id root in it: does what is asked as root, stays its parent, and
 * as with the real one the loader's variables are gone. */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
    const char *user = getenv("USER");
    if (count < 2 || access("/.gpudoctor-scene", F_OK)) return 1;
    setenv("SUDO_USER", user ? user : "root", 1);
    unsetenv("LD_LIBRARY_PATH");
    int child = fork(), status = 0;
    if (!child) {
        if (setgroups(0, NULL) || setgid(0) || setuid(0)) return 126;
        execvp(words[1], words + 1);
        perror(words[1]);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
