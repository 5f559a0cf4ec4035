#include "proxy/demo.h"

int demo_run(const struct demo_options *options)
{
    (void)options;
    return 1;
}
