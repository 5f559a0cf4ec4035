/* What is known about file formats: names, other names for them, extensions, media types. */
#include "artifacts/artifact.h"

/* `also`: further names in metadata and info strings, separated by blanks; those that are extensions of files
 * too come before a `|`. */
struct entry {
    struct format format;
    const char *also;
};

#define TEXT(name, media, offered, also)                                                                     \
    {                                                                                                        \
        {name, name, media "; charset=utf-8", offered}, also                                                 \
    }
#define DATA(name, media, offered, also)                                                                     \
    {                                                                                                        \
        {name, name, media, offered}, also                                                                   \
    }
#define CODE(name, also) TEXT(name, "text/plain", false, also)

/* clang-format off */
static const struct entry texts[] = {
    TEXT("md", "text/markdown", true, "markdown mdown mkd|gfm commonmark"),
    TEXT("txt", "text/plain", true, "text|plain plaintext"),
    TEXT("html", "text/html", true, "htm xhtml"),
    DATA("json", "application/json", true, "|jsonc"),
    DATA("yaml", "application/yaml", true, "yml"),
    DATA("xml", "application/xml", true, "xsd xsl xslt"),
    DATA("svg", "image/svg+xml", true, ""),
    TEXT("ics", "text/calendar", true, "ical icalendar ifb|calendar"),
    TEXT("vcf", "text/vcard", true, "vcard"),
    TEXT("csv", "text/csv", true, ""),
    TEXT("tsv", "text/tab-separated-values", true, "tab"),
    TEXT("log", "text/plain", true, ""),
    TEXT("py", "text/x-python", false, "pyw pyi|python python3"),
    TEXT("js", "text/javascript", false, "mjs cjs|javascript node"),
    CODE("jsx", ""),
    CODE("ts", "mts cts|typescript"),
    CODE("tsx", ""),
    CODE("c", ""),
    CODE("h", ""),
    CODE("cpp", "cc cxx c++|cplusplus"),
    CODE("hpp", "hh hxx h++"),
    CODE("cs", "|csharp c#"),
    CODE("java", ""),
    CODE("go", "|golang"),
    CODE("rs", "|rust"),
    CODE("rb", "|ruby"),
    CODE("php", ""),
    CODE("swift", ""),
    CODE("kt", "kts|kotlin"),
    CODE("scala", ""),
    CODE("pl", "pm|perl"),
    CODE("lua", ""),
    CODE("r", ""),
    CODE("jl", "|julia"),
    CODE("m", "|matlab octave objective-c"),
    CODE("ex", "exs|elixir"),
    CODE("erl", "|erlang"),
    CODE("hs", "|haskell"),
    CODE("clj", "|clojure"),
    CODE("dart", ""),
    CODE("vue", ""),
    CODE("svelte", ""),
    TEXT("sh", "text/x-shellscript", false, "bash zsh|shell"),
    CODE("ps1", "|powershell pwsh"),
    CODE("bat", "cmd|batch"),
    CODE("sql", ""),
    TEXT("css", "text/css", false, ""),
    CODE("scss", ""),
    CODE("less", ""),
    CODE("toml", ""),
    CODE("ini", ""),
    CODE("cfg", ""),
    CODE("conf", ""),
    CODE("env", "|dotenv"),
    CODE("properties", ""),
    CODE("tex", "|latex"),
    CODE("bib", "|bibtex"),
    CODE("rst", "|restructuredtext"),
    CODE("adoc", "asciidoc"),
    CODE("org", ""),
    CODE("srt", ""),
    TEXT("vtt", "text/vtt", false, "|webvtt"),
    CODE("diff", "patch"),
    CODE("proto", "|protobuf"),
    CODE("graphql", "gql"),
    CODE("tf", "hcl|terraform"),
    CODE("dockerfile", "|docker"),
    CODE("makefile", "mk|make"),
    CODE("cmake", ""),
    CODE("gradle", "|groovy"),
    CODE("dot", "gv|graphviz"),
    CODE("mmd", "mermaid"),
    CODE("puml", "|plantuml"),
    CODE("asm", "s"),
    CODE("vb", ""),
    CODE("f90", "|fortran"),
    CODE("zig", ""),
    CODE("nim", ""),
    CODE("ml", "|ocaml"),
    CODE("fs", "|fsharp f#"),
    DATA("ipynb", "application/x-ipynb+json", false, ""),
    DATA("geojson", "application/geo+json", false, ""),
    DATA("jsonl", "application/jsonl", false, "ndjson"),
    DATA("gpx", "application/gpx+xml", false, ""),
    DATA("kml", "application/vnd.google-earth.kml+xml", false, ""),
    DATA("eml", "message/rfc822", false, ""),
};

#define OOXML "application/vnd.openxmlformats-officedocument."
static const struct entry binaries[] = {
    DATA("docx", OOXML "wordprocessingml.document", false, "|word"),
    DATA("xlsx", OOXML "spreadsheetml.sheet", false, "|excel"),
    DATA("pptx", OOXML "presentationml.presentation", false, "|powerpoint"),
    DATA("pdf", "application/pdf", false, ""),
    DATA("png", "image/png", false, ""),
    DATA("jpg", "image/jpeg", false, "jpeg jpe"),
    DATA("gif", "image/gif", false, ""),
    DATA("webp", "image/webp", false, ""),
    DATA("bmp", "image/bmp", false, ""),
    DATA("tif", "image/tiff", false, "tiff"),
    DATA("ico", "image/vnd.microsoft.icon", false, ""),
    DATA("avif", "image/avif", false, ""),
    DATA("heic", "image/heic", false, "heif"),
    DATA("zip", "application/zip", false, ""),
    DATA("gz", "application/gzip", false, "tgz|gzip"),
    DATA("7z", "application/x-7z-compressed", false, ""),
    DATA("epub", "application/epub+zip", false, ""),
    DATA("odt", "application/vnd.oasis.opendocument.text", false, ""),
    DATA("ods", "application/vnd.oasis.opendocument.spreadsheet", false, ""),
    DATA("odp", "application/vnd.oasis.opendocument.presentation", false, ""),
    DATA("rtf", "application/rtf", false, ""),
    DATA("mp3", "audio/mpeg", false, ""),
    DATA("wav", "audio/wav", false, "wave"),
    DATA("ogg", "audio/ogg", false, "oga opus"),
    DATA("flac", "audio/flac", false, ""),
    DATA("m4a", "audio/mp4", false, ""),
    DATA("mp4", "video/mp4", false, "m4v"),
    DATA("mov", "video/quicktime", false, "qt"),
    DATA("webm", "video/webm", false, ""),
    DATA("mkv", "video/x-matroska", false, ""),
};

/* What the content of a format without a source form of its own is written in. */
static const struct { const char *format, *language; } languages[] = {
    {"docx", "md"}, {"pdf", "md"}, {"pptx", "md"}, {"xlsx", "csv"}, {"xlsx", "json"},
    {"png", "json"}, {"svg", "json"}, {"svg", "xml"}, {"html", "xml"}, {"ipynb", "json"},
    {"geojson", "json"}, {"jsonl", "json"}, {"gpx", "xml"}, {"kml", "xml"}, {"log", "txt"},
};
/* clang-format on */

static bool in_list(struct span name, const char *list, const char *end)
{
    while (list < end) {
        size_t n = strcspn(list, " |");
        if (n > (size_t)(end - list))
            n = (size_t)(end - list);
        if (n && n == name.n && strncasecmp(list, name.p, n) == 0)
            return true;
        list += n + 1;
    }
    return false;
}

/* "text/csv; charset=utf-8" as the name of a format: compared up to the parameters. */
static bool is_media_type(struct span name, const char *media_type)
{
    size_t n = strcspn(media_type, ";");
    const char *semicolon = memchr(name.p, ';', name.n);
    size_t own = semicolon ? (size_t)(semicolon - name.p) : name.n;
    return own == n && strncasecmp(name.p, media_type, n) == 0;
}

static const struct format *find(struct span name, const struct entry *list, size_t n)
{
    if (name.n && name.p[0] == '.')
        name = span_from(name, 1);
    if (!name.n || name.n > 96)
        return NULL;
    bool media = memchr(name.p, '/', name.n) != NULL;
    for (size_t i = 0; i < n; i++) {
        const struct entry *e = &list[i];
        if (media ? is_media_type(name, e->format.media_type)
                  : span_is_nocase(name, e->format.name) || in_list(name, e->also, e->also + strlen(e->also)))
            return &e->format;
    }
    return NULL;
}

const struct format *format_find(struct span name)
{
    return find(name, texts, sizeof texts / sizeof texts[0]);
}

const struct format *format_find_binary(struct span name)
{
    return find(name, binaries, sizeof binaries / sizeof binaries[0]);
}

const struct format *format_find_any(struct span name)
{
    const struct format *text = format_find(name);
    return text ? text : format_find_binary(name);
}

bool format_fence(struct span info, struct span name)
{
    const struct format *own = format_find_any(name), *said = format_find_any(info);
    if (!info.n || (info.n == name.n && strncasecmp(info.p, name.p, info.n) == 0))
        return true;
    if (!own || !said)
        return false;
    if (own == said)
        return true;
    for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++)
        if (strcmp(languages[i].format, own->name) == 0 && strcmp(languages[i].language, said->name) == 0)
            return true;
    return false;
}

bool format_has_extension(const struct format *format, struct span extension)
{
    /* A format is the first member of its entry. */
    const struct entry *e = (const struct entry *)format;
    return span_is_nocase(extension, format->extension) ||
           in_list(extension, e->also, e->also + strcspn(e->also, "|"));
}

bool rendered_makes(const struct rendered *r, const char *format)
{
    for (size_t i = 0; r && i < r->n; i++)
        if (strcmp(r->formats[i], format) == 0)
            return true;
    return false;
}

void formats_offered(const struct rendered *r, struct buf *out)
{
    const char *between = "";
    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++) {
        if (!rendered_makes(r, binaries[i].format.name))
            continue;
        buf_adds(out, between);
        buf_adds(out, binaries[i].format.name);
        between = ", ";
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!texts[i].format.offered)
            continue;
        buf_adds(out, between);
        buf_adds(out, texts[i].format.name);
        between = ", ";
    }
}
