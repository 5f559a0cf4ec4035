#include "transcript/match.h"

uint64_t match_distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* The first stub that is not before the time. */
static size_t lower_bound(const int64_t *stubs, size_t n, int64_t time)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stubs[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t match_stub(const int64_t *stubs, size_t n, int64_t end)
{
    size_t after = lower_bound(stubs, n, end), best = after;
    if (after > 0 &&
        (after == n || match_distance(stubs[after - 1], end) <= match_distance(stubs[after], end)))
        best = lower_bound(stubs, n, stubs[after - 1]);
    return best < n && match_distance(stubs[best], end) <= MATCH_WINDOW ? best : n;
}
