#include "base/write_all.h"

#include <errno.h>
#include <unistd.h>

int write_all(int fd, struct span bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        bytes = span_from(bytes, (size_t)n);
    }
    return 0;
}

int write_all_and_close(int fd, struct span bytes)
{
    int why = write_all(fd, bytes) ? errno : 0;
    if (close(fd) && !why)
        why = errno;
    errno = why;
    return why ? -1 : 0;
}
