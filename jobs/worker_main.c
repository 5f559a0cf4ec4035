/* penstock-worker: started by penstock with a listening socket as descriptor 3, never by hand. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "jobs/renderer.h"
#include "jobs/spawner.h"

const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

/* LeakSanitizer asks for it: fontconfig keeps what it has loaded to the end. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig";
}

const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

int main(int argc, char **argv)
{
    static const struct renderer_ops *const *const lists[] = {renderer_list, extractor_list, NULL};
    struct spawner_options options = {.lists = lists, .required = true};
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--sandbox=off") == 0)
            options.required = false;
        else if (strcmp(argv[i], "--quiet") == 0)
            log_set_level(LOG_WARNING);
    if (fcntl(SPAWNER_SOCKET, F_GETFD) < 0) {
        fputs("penstock-worker: started by penstock alone, not by hand\n", stderr);
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    return spawner_run(&options);
}
