#include "artifacts/fold.h"

#include "artifacts/utf8.h"

/* Plain letters of U+00C0 … U+024F and U+1E00 … U+1EFF (Unicode's decompositions, and letters with a stroke);
 * `.`: none. */
static const char latin[] = "aaaaaa.ceeeeiiiidnooooo.ouuuuy..aaaaaa.ceeeeiiiidnooooo.ouuuuy.y"
                            "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii..jjkkklllllll"
                            "lllnnnnnnnnnoooooo..rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"
                            "................................oo.............uu..............."
                            ".............aaiioouuuuuuuuuu.aaaa..ggggkkoooo..j...gg..nnaa..oo"
                            "aaaaeeeeiiiioooorrrruuuusstt..hh......aaeeooooooooyy............"
                            "................";
static const char latin_more[] = "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmm"
                                 "mmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvv"
                                 "wwwwwwwwwwxxxxyyzzzzzzhtwyas....aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee"
                                 "eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy......";
_Static_assert(sizeof latin == 0x250 - 0xc0 + 1 && sizeof latin_more == 0x100 + 1,
               "a letter for each character");

/* Single characters that stand for others. */
static const struct {
    uint16_t from;
    const char *to;
} letters[] = {
    {0xb5, "\u03bc"},   {0xc6, "ae"},      {0xe6, "ae"},      {0xde, "th"},      {0xfe, "th"},
    {0xdf, "ss"},       {0x132, "ij"},     {0x133, "ij"},     {0x152, "oe"},     {0x153, "oe"},
    {0x18f, "\u0259"},  {0x1c4, "dz"},     {0x1c5, "dz"},     {0x1c6, "dz"},     {0x1c7, "lj"},
    {0x1c8, "lj"},      {0x1c9, "lj"},     {0x1ca, "nj"},     {0x1cb, "nj"},     {0x1cc, "nj"},
    {0x1e2, "ae"},      {0x1e3, "ae"},     {0x1fc, "ae"},     {0x1fd, "ae"},     {0x1f1, "dz"},
    {0x1f2, "dz"},      {0x1f3, "dz"},     {0x386, "\u03b1"}, {0x388, "\u03b5"}, {0x389, "\u03b7"},
    {0x38a, "\u03b9"},  {0x38c, "\u03bf"}, {0x38e, "\u03c5"}, {0x38f, "\u03c9"}, {0x390, "\u03b9"},
    {0x3aa, "\u03b9"},  {0x3ab, "\u03c5"}, {0x3ac, "\u03b1"}, {0x3ad, "\u03b5"}, {0x3ae, "\u03b7"},
    {0x3af, "\u03b9"},  {0x3b0, "\u03c5"}, {0x3c2, "\u03c3"}, {0x3ca, "\u03b9"}, {0x3cb, "\u03c5"},
    {0x3cc, "\u03bf"},  {0x3cd, "\u03c5"}, {0x3ce, "\u03c9"}, {0x400, "\u0435"}, {0x401, "\u0435"},
    {0x403, "\u0433"},  {0x407, "\u0456"}, {0x40c, "\u043a"}, {0x40d, "\u0438"}, {0x40e, "\u0443"},
    {0x419, "\u0438"},  {0x439, "\u0438"}, {0x450, "\u0435"}, {0x451, "\u0435"}, {0x453, "\u0433"},
    {0x457, "\u0456"},  {0x45c, "\u043a"}, {0x45d, "\u0438"}, {0x45e, "\u0443"}, {0x1e9e, "ss"},
    {0x2126, "\u03c9"}, {0x212a, "k"},     {0x212b, "a"},     {0xfb00, "ff"},    {0xfb01, "fi"},
    {0xfb02, "fl"},     {0xfb03, "ffi"},   {0xfb04, "ffl"},   {0xfb05, "st"},    {0xfb06, "st"},
};

static bool is_mark(uint32_t c)
{
    return (c >= 0x300 && c < 0x370) || (c >= 0x483 && c < 0x488) || (c >= 0x1ab0 && c < 0x1b00) ||
           (c >= 0x1dc0 && c < 0x1e00) || (c >= 0x20d0 && c < 0x2100) || (c >= 0x3099 && c < 0x309b) ||
           (c >= 0xfe20 && c < 0xfe30);
}

/* The small letter, where capitals and small letters lie a fixed way apart. */
static uint32_t lower(uint32_t c)
{
    if ((c >= 0x391 && c < 0x3aa) || (c >= 0x410 && c < 0x430) || (c >= 0xff21 && c < 0xff3b))
        return c + 0x20;
    if (c >= 0x402 && c < 0x410)
        return c + 0x50;
    if (c >= 0x531 && c < 0x557)
        return c + 0x30;
    if ((c >= 0x460 && c < 0x482) || (c >= 0x48a && c < 0x4c0) || (c >= 0x4d0 && c < 0x530))
        return c | 1;
    return c;
}

static void fold_character(uint32_t c, struct buf *out)
{
    char bytes[UTF8_MAX];
    char letter = c >= 0xc0 && c < 0x250      ? latin[c - 0xc0]
                  : c >= 0x1e00 && c < 0x1f00 ? latin_more[c - 0x1e00]
                                              : '.';
    if (letter != '.') {
        buf_addc(out, letter);
        return;
    }
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        if (letters[i].from == c) {
            buf_adds(out, letters[i].to);
            return;
        }
    }
    buf_addn(out, bytes, utf8_put(lower(c), bytes));
}

void name_fold(struct span name, struct buf *out)
{
    size_t n;
    for (size_t i = 0; i < name.n; i += n) {
        uint32_t c = utf8_next(name.p + i, name.p + name.n, &n);
        if (c < 0x80)
            buf_addc(out, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : (char)c);
        else if (!is_mark(c) && !utf8_invisible(c))
            fold_character(c, out);
    }
}
