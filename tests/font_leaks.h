#ifndef TESTS_FONT_LEAKS_H
#define TESTS_FONT_LEAKS_H
/* For programs that draw: fontconfig, cairo and pango keep what they know of fonts until the process ends,
 * which LeakSanitizer would call a leak. Included once a program. */

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\nleak:libcairo\nleak:libpango\nleak:libglib\n";
}

#endif
