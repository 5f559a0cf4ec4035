/* The names of characters that HTML 4 has, and the further ones that models use (WHATWG HTML, 13.5). Sorted.
 */
#include "artifacts/markdown.h"

#include <stdint.h>

struct entity {
    char name[9];
    uint16_t character;
};

/* clang-format off */
static const struct entity entities[] = {
    {"AElig", 198}, {"Aacute", 193}, {"Acirc", 194}, {"Agrave", 192}, {"Alpha", 913}, {"Aring", 197},
    {"Atilde", 195}, {"Auml", 196}, {"Beta", 914}, {"Ccedil", 199}, {"Chi", 935}, {"Dagger", 8225},
    {"Delta", 916}, {"ETH", 208}, {"Eacute", 201}, {"Ecirc", 202}, {"Egrave", 200}, {"Epsilon", 917},
    {"Eta", 919}, {"Euml", 203}, {"Gamma", 915}, {"Hat", 94}, {"Iacute", 205}, {"Icirc", 206},
    {"Igrave", 204}, {"Iota", 921}, {"Iuml", 207}, {"Kappa", 922}, {"Lambda", 923}, {"Mu", 924},
    {"NewLine", 10}, {"Ntilde", 209}, {"Nu", 925}, {"OElig", 338}, {"Oacute", 211}, {"Ocirc", 212},
    {"Ograve", 210}, {"Omega", 937}, {"Omicron", 927}, {"Oslash", 216}, {"Otilde", 213}, {"Ouml", 214},
    {"Phi", 934}, {"Pi", 928}, {"Prime", 8243}, {"Psi", 936}, {"Rho", 929}, {"Scaron", 352}, {"Sigma", 931},
    {"THORN", 222}, {"Tab", 9}, {"Tau", 932}, {"Theta", 920}, {"Uacute", 218}, {"Ucirc", 219},
    {"Ugrave", 217}, {"Upsilon", 933}, {"Uuml", 220}, {"Xi", 926}, {"Yacute", 221}, {"Yuml", 376},
    {"Zeta", 918}, {"aacute", 225}, {"acirc", 226}, {"acute", 180}, {"aelig", 230}, {"agrave", 224},
    {"alefsym", 8501}, {"alpha", 945}, {"amp", 38}, {"and", 8743}, {"ang", 8736}, {"apos", 39},
    {"approx", 8776}, {"aring", 229}, {"ast", 42}, {"asymp", 8776}, {"atilde", 227}, {"auml", 228},
    {"bdquo", 8222}, {"beta", 946}, {"brvbar", 166}, {"bsol", 92}, {"bull", 8226}, {"cap", 8745},
    {"ccedil", 231}, {"cedil", 184}, {"cent", 162}, {"check", 10003}, {"chi", 967}, {"circ", 710},
    {"clubs", 9827}, {"colon", 58}, {"comma", 44}, {"commat", 64}, {"cong", 8773}, {"copy", 169},
    {"crarr", 8629}, {"cross", 10007}, {"cup", 8746}, {"curren", 164}, {"dArr", 8659}, {"dagger", 8224},
    {"darr", 8595}, {"dash", 8208}, {"deg", 176}, {"delta", 948}, {"diams", 9830}, {"divide", 247},
    {"dollar", 36}, {"eacute", 233}, {"ecirc", 234}, {"egrave", 232}, {"empty", 8709}, {"emsp", 8195},
    {"ensp", 8194}, {"epsilon", 949}, {"equals", 61}, {"equiv", 8801}, {"eta", 951}, {"eth", 240},
    {"euml", 235}, {"euro", 8364}, {"excl", 33}, {"exist", 8707}, {"female", 9792}, {"fnof", 402},
    {"forall", 8704}, {"frac12", 189}, {"frac13", 8531}, {"frac14", 188}, {"frac23", 8532}, {"frac34", 190},
    {"frasl", 8260}, {"gamma", 947}, {"ge", 8805}, {"geq", 8805}, {"grave", 96}, {"gt", 62}, {"hArr", 8660},
    {"half", 189}, {"harr", 8596}, {"hearts", 9829}, {"hellip", 8230}, {"hyphen", 8208}, {"iacute", 237},
    {"icirc", 238}, {"iexcl", 161}, {"igrave", 236}, {"image", 8465}, {"infin", 8734}, {"int", 8747},
    {"iota", 953}, {"iquest", 191}, {"isin", 8712}, {"iuml", 239}, {"kappa", 954}, {"lArr", 8656},
    {"lambda", 955}, {"lang", 10216}, {"laquo", 171}, {"larr", 8592}, {"lbrace", 123}, {"lbrack", 91},
    {"lceil", 8968}, {"lcub", 123}, {"ldquo", 8220}, {"le", 8804}, {"leq", 8804}, {"lfloor", 8970},
    {"lowast", 8727}, {"lowbar", 95}, {"loz", 9674}, {"lpar", 40}, {"lrm", 8206}, {"lsaquo", 8249},
    {"lsqb", 91}, {"lsquo", 8216}, {"lt", 60}, {"macr", 175}, {"male", 9794}, {"mdash", 8212},
    {"micro", 181}, {"middot", 183}, {"minus", 8722}, {"mu", 956}, {"nabla", 8711}, {"nbsp", 160},
    {"ndash", 8211}, {"ne", 8800}, {"ni", 8715}, {"not", 172}, {"notin", 8713}, {"nsub", 8836},
    {"ntilde", 241}, {"nu", 957}, {"num", 35}, {"oacute", 243}, {"ocirc", 244}, {"oelig", 339},
    {"ograve", 242}, {"oline", 8254}, {"omega", 969}, {"omicron", 959}, {"oplus", 8853}, {"or", 8744},
    {"ordf", 170}, {"ordm", 186}, {"oslash", 248}, {"otilde", 245}, {"otimes", 8855}, {"ouml", 246},
    {"para", 182}, {"part", 8706}, {"percnt", 37}, {"period", 46}, {"permil", 8240}, {"perp", 8869},
    {"phi", 966}, {"phone", 9742}, {"pi", 960}, {"piv", 982}, {"plus", 43}, {"plusmn", 177}, {"pound", 163},
    {"prime", 8242}, {"prod", 8719}, {"prop", 8733}, {"psi", 968}, {"quest", 63}, {"quot", 34},
    {"rArr", 8658}, {"radic", 8730}, {"rang", 10217}, {"raquo", 187}, {"rarr", 8594}, {"rbrace", 125},
    {"rbrack", 93}, {"rceil", 8969}, {"rcub", 125}, {"rdquo", 8221}, {"real", 8476}, {"reg", 174},
    {"rfloor", 8971}, {"rho", 961}, {"rlm", 8207}, {"rpar", 41}, {"rsaquo", 8250}, {"rsqb", 93},
    {"rsquo", 8217}, {"sbquo", 8218}, {"scaron", 353}, {"sdot", 8901}, {"sect", 167}, {"semi", 59},
    {"shy", 173}, {"sigma", 963}, {"sigmaf", 962}, {"sim", 8764}, {"sol", 47}, {"spades", 9824},
    {"star", 9734}, {"starf", 9733}, {"sub", 8834}, {"sube", 8838}, {"sum", 8721}, {"sup", 8835},
    {"sup1", 185}, {"sup2", 178}, {"sup3", 179}, {"supe", 8839}, {"szlig", 223}, {"tau", 964},
    {"there4", 8756}, {"theta", 952}, {"thetasym", 977}, {"thinsp", 8201}, {"thorn", 254}, {"tilde", 732},
    {"times", 215}, {"trade", 8482}, {"uArr", 8657}, {"uacute", 250}, {"uarr", 8593}, {"ucirc", 251},
    {"ugrave", 249}, {"uml", 168}, {"upsih", 978}, {"upsilon", 965}, {"uuml", 252}, {"verbar", 124},
    {"vert", 124}, {"weierp", 8472}, {"xi", 958}, {"yacute", 253}, {"yen", 165}, {"yuml", 255},
    {"zeta", 950}, {"zwj", 8205}, {"zwnj", 8204},
};
/* clang-format on */

static unsigned numbered(struct span digits)
{
    unsigned base = 10, value = 0;
    if (digits.n && (digits.p[0] == 'x' || digits.p[0] == 'X')) {
        base = 16;
        digits = span_from(digits, 1);
    }
    if (!digits.n || digits.n > 7)
        return 0;
    for (size_t i = 0; i < digits.n; i++) {
        char c = digits.p[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : base;
        if (digit >= base)
            return 0;
        value = value * base + digit;
    }
    return value > 0x10ffff || (value >= 0xd800 && value < 0xe000) ? 0 : value;
}

unsigned markdown_entity(struct span entity)
{
    if (entity.n < 3 || entity.p[0] != '&' || entity.p[entity.n - 1] != ';')
        return 0;
    struct span name = span_of(entity.p + 1, entity.n - 2);
    if (name.p[0] == '#')
        return numbered(span_from(name, 1));
    size_t low = 0, high = sizeof entities / sizeof entities[0];
    while (low < high) {
        size_t middle = (low + high) / 2, n = strlen(entities[middle].name);
        int order = memcmp(name.p, entities[middle].name, name.n < n ? name.n : n);
        if (order == 0 && name.n == n)
            return entities[middle].character;
        if (order < 0 || (order == 0 && name.n < n))
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}
