/* Stands in for libFuzzer in ordinary builds: runs the target on every file of the folders it is given. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    size_t n = 0, room = 1 << 16;
    uint8_t *data = malloc(room);
    for (size_t got; data && (got = fread(data + n, 1, room - n, f)) > 0;) {
        n += got;
        if (n == room)
            data = realloc(data, room *= 2);
    }
    fclose(f);
    LLVMFuzzerTestOneInput(data, n);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0, files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        if (!d) {
            perror(argv[i]);
            return 1;
        }
        for (struct dirent *entry; (entry = readdir(d));) {
            char path[4096];
            if (entry->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            failed += run_file(path);
            files++;
        }
        closedir(d);
    }
    printf("%d files\n", files);
    return failed || files == 0;
}
