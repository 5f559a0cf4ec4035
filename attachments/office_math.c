#include "attachments/office_math.h"

static const struct {
    const char *symbol, *latex;
} symbols[] = {
    {"α", "alpha"},
    {"β", "beta"},
    {"γ", "gamma"},
    {"δ", "delta"},
    {"ε", "varepsilon"},
    {"ϵ", "epsilon"},
    {"ζ", "zeta"},
    {"η", "eta"},
    {"θ", "theta"},
    {"ι", "iota"},
    {"κ", "kappa"},
    {"λ", "lambda"},
    {"μ", "mu"},
    {"ν", "nu"},
    {"ξ", "xi"},
    {"π", "pi"},
    {"ρ", "rho"},
    {"σ", "sigma"},
    {"τ", "tau"},
    {"υ", "upsilon"},
    {"φ", "varphi"},
    {"ϕ", "phi"},
    {"χ", "chi"},
    {"ψ", "psi"},
    {"ω", "omega"},
    {"Γ", "Gamma"},
    {"Δ", "Delta"},
    {"Θ", "Theta"},
    {"Λ", "Lambda"},
    {"Ξ", "Xi"},
    {"Π", "Pi"},
    {"Σ", "Sigma"},
    {"Φ", "Phi"},
    {"Ψ", "Psi"},
    {"Ω", "Omega"},
    {"±", "pm"},
    {"∓", "mp"},
    {"×", "times"},
    {"÷", "div"},
    {"·", "cdot"},
    {"⋅", "cdot"},
    {"≤", "leq"},
    {"≥", "geq"},
    {"≠", "neq"},
    {"≈", "approx"},
    {"≡", "equiv"},
    {"∝", "propto"},
    {"∞", "infty"},
    {"∂", "partial"},
    {"∇", "nabla"},
    {"∑", "sum"},
    {"∏", "prod"},
    {"∫", "int"},
    {"∬", "iint"},
    {"∭", "iiint"},
    {"∮", "oint"},
    {"⋃", "bigcup"},
    {"⋂", "bigcap"},
    {"∈", "in"},
    {"∉", "notin"},
    {"⊂", "subset"},
    {"⊆", "subseteq"},
    {"∪", "cup"},
    {"∩", "cap"},
    {"∀", "forall"},
    {"∃", "exists"},
    {"→", "rightarrow"},
    {"←", "leftarrow"},
    {"⇒", "Rightarrow"},
    {"⇔", "Leftrightarrow"},
    {"↔", "leftrightarrow"},
    {"…", "ldots"},
    {"⋯", "cdots"},
    {"∘", "circ"},
    {"⟨", "langle"},
    {"⟩", "rangle"},
    {"‖", "|"},
};

static const char *const functions[] = {
    "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "log",
    "ln",  "exp", "lim", "max", "min", "sup", "inf",  "det",  "dim",  "gcd",    "arg",    "deg",    "ker"};

static void children(const struct xml_node *node, struct buf *out);

static void command(struct buf *out, const char *name)
{
    buf_addc(out, '\\');
    buf_adds(out, name);
}

/* A command that ends in a letter needs something between it and the next letter. */
static void part_from_letter(struct buf *out, char next)
{
    char last = out->n ? out->data[out->start + out->n - 1] : ' ';
    bool letter = (last >= 'a' && last <= 'z') || (last >= 'A' && last <= 'Z');
    size_t at = out->n;
    while (letter && at > 0 &&
           ((out->data[out->start + at - 1] | 0x20) >= 'a' && (out->data[out->start + at - 1] | 0x20) <= 'z'))
        at--;
    if (letter && at > 0 && out->data[out->start + at - 1] == '\\' &&
        ((next | 0x20) >= 'a' && (next | 0x20) <= 'z'))
        buf_addc(out, ' ');
}

static void text(struct span s, struct buf *out)
{
    for (size_t i = 0; i < s.n;) {
        bool known = false;
        for (size_t k = 0; k < sizeof symbols / sizeof symbols[0] && (unsigned char)s.p[i] >= 0x80; k++)
            if (span_starts(span_from(s, i), symbols[k].symbol)) {
                command(out, symbols[k].latex);
                i += strlen(symbols[k].symbol);
                known = true;
                break;
            }
        if (known)
            continue;
        if (strchr("#$%&_{}", s.p[i]) && s.p[i])
            buf_addc(out, '\\');
        part_from_letter(out, s.p[i]);
        if (s.p[i] == '\\')
            buf_adds(out, "\\backslash ");
        else
            buf_addc(out, s.p[i] >= 0 && s.p[i] < ' ' ? ' ' : s.p[i]);
        i++;
    }
}

static void group(const struct xml_node *node, struct buf *out)
{
    buf_addc(out, '{');
    children(node, out);
    buf_addc(out, '}');
}

/* A base of powers and indices: without braces when it is one character. */
static void base(const struct xml_node *node, struct buf *out)
{
    size_t begin = out->n;
    group(node, out);
    if (out->n - begin == 3) {
        char only = out->data[out->start + begin + 1];
        buf_cut(out, begin);
        part_from_letter(out, only);
        buf_addc(out, only);
    }
}

static const char *property(const struct xml_node *node, const char *path, const char *otherwise)
{
    const char *value = xml_get(xml_at(node, path), "val");
    return value ? value : otherwise;
}

static bool on(const struct xml_node *node, const char *path)
{
    const struct xml_node *found = xml_at(node, path);
    const char *value = xml_get(found, "val");
    return found && !(value && (!strcmp(value, "0") || !strcmp(value, "off") || !strcmp(value, "false")));
}

static void scripts(const struct xml_node *node, struct buf *out)
{
    const struct xml_node *sub = xml_at(node, "sub"), *sup = xml_at(node, "sup");
    if (sub && sub->first) {
        buf_addc(out, '_');
        group(sub, out);
    }
    if (sup && sup->first) {
        buf_addc(out, '^');
        group(sup, out);
    }
}

static void nary(const struct xml_node *node, struct buf *out)
{
    text(span_str(property(node, "naryPr/chr", "∫")), out);
    scripts(node, out);
    group(xml_at(node, "e"), out);
}

static void delimiter(struct buf *out, const char *side, const char *c)
{
    command(out, side);
    if (!*c)
        buf_addc(out, '.');
    else
        text(span_str(c), out);
}

static void delimited(const struct xml_node *node, struct buf *out)
{
    const char *separator = property(node, "dPr/sepChr", "|");
    bool first = true;
    delimiter(out, "left", property(node, "dPr/begChr", "("));
    for (const struct xml_node *e = node->first; e; e = e->next) {
        if (!xml_is(e, "e"))
            continue;
        if (!first)
            text(span_str(separator), out);
        part_from_letter(out, 'a');
        children(e, out);
        first = false;
    }
    delimiter(out, "right", property(node, "dPr/endChr", ")"));
}

static void function(const struct xml_node *node, struct buf *out)
{
    const struct xml_node *name = xml_at(node, "fName");
    struct buf word;
    buf_init(&word, EXTRACT_TEXT);
    children(name, &word);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (!strcmp(buf_cstr(&word), functions[i]))
            buf_addc(out, '\\');
    buf_add(out, buf_span(&word));
    buf_free(&word);
    group(xml_at(node, "e"), out);
}

static void accent(const struct xml_node *node, struct buf *out)
{
    static const struct {
        const char *mark, *latex;
    } accents[] = {{"\u0302", "hat"},      {"\u0303", "tilde"}, {"\u0304", "bar"},
                   {"\u0305", "overline"}, {"\u20d7", "vec"},   {"\u0307", "dot"},
                   {"\u0308", "ddot"},     {"\u030c", "check"}, {"\u0306", "breve"}};
    const char *mark = property(node, "accPr/chr", "\u0302"), *latex = "hat";
    for (size_t i = 0; i < sizeof accents / sizeof accents[0]; i++)
        if (!strcmp(accents[i].mark, mark))
            latex = accents[i].latex;
    command(out, latex);
    group(xml_at(node, "e"), out);
}

/* Rows of cells; `mr` are a matrix's rows, each `e` of an array of equations is a row itself. */
static void rows(const struct xml_node *node, const char *row, const char *environment, struct buf *out)
{
    bool first = true;
    buf_printf(out, "\\begin{%s}", environment);
    for (const struct xml_node *r = node->first; r; r = r->next) {
        if (!xml_is(r, row))
            continue;
        if (!first)
            buf_adds(out, " \\\\ ");
        first = false;
        if (!strcmp(row, "e")) {
            children(r, out);
            continue;
        }
        bool left = true;
        for (const struct xml_node *e = r->first; e; e = e->next) {
            if (!xml_is(e, "e"))
                continue;
            buf_adds(out, left ? "" : " & ");
            children(e, out);
            left = false;
        }
    }
    buf_printf(out, "\\end{%s}", environment);
}

static void fraction(const struct xml_node *node, struct buf *out)
{
    const char *type = property(node, "fPr/type", "bar");
    const struct xml_node *above = xml_at(node, "num"), *below = xml_at(node, "den");
    if (!strcmp(type, "lin")) {
        group(above, out);
        buf_addc(out, '/');
        group(below, out);
        return;
    }
    command(out, !strcmp(type, "noBar") ? "genfrac{}{}{0pt}{}" : "frac");
    group(above, out);
    group(below, out);
}

static void root(const struct xml_node *node, struct buf *out)
{
    const struct xml_node *degree = xml_at(node, "deg");
    command(out, "sqrt");
    if (degree && degree->first && !on(node, "radPr/degHide")) {
        buf_addc(out, '[');
        children(degree, out);
        buf_addc(out, ']');
    }
    group(xml_at(node, "e"), out);
}

static void limit(const struct xml_node *node, bool below, struct buf *out)
{
    struct buf word;
    buf_init(&word, EXTRACT_TEXT);
    children(xml_at(node, "e"), &word);
    static const char *const limits[] = {"lim", "max", "min", "sup", "inf"};
    bool named = false;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        named |= !strcmp(buf_cstr(&word), limits[i]);
    if (named)
        buf_printf(out, "\\%s%s", buf_cstr(&word), below ? "_" : "^");
    else
        command(out, below ? "underset" : "overset");
    group(xml_at(node, "lim"), out);
    if (!named) {
        buf_addc(out, '{');
        buf_add(out, buf_span(&word));
        buf_addc(out, '}');
    }
    buf_free(&word);
}

static void element(const struct xml_node *node, struct buf *out)
{
    const char *name = node->name;
    size_t n = strlen(name);
    if (!strcmp(name, "t")) {
        struct buf words;
        buf_init(&words, EXTRACT_TEXT);
        xml_text(node, &words);
        text(buf_span(&words), out);
        buf_free(&words);
    } else if (!strcmp(name, "f"))
        fraction(node, out);
    else if (!strcmp(name, "sSup") || !strcmp(name, "sSub") || !strcmp(name, "sSubSup")) {
        base(xml_at(node, "e"), out);
        scripts(node, out);
    } else if (!strcmp(name, "sPre")) {
        buf_adds(out, "{}");
        scripts(node, out);
        base(xml_at(node, "e"), out);
    } else if (!strcmp(name, "rad"))
        root(node, out);
    else if (!strcmp(name, "nary"))
        nary(node, out);
    else if (!strcmp(name, "d"))
        delimited(node, out);
    else if (!strcmp(name, "func"))
        function(node, out);
    else if (!strcmp(name, "acc"))
        accent(node, out);
    else if (!strcmp(name, "bar")) {
        command(out, !strcmp(property(node, "barPr/pos", "bot"), "top") ? "overline" : "underline");
        group(xml_at(node, "e"), out);
    } else if (!strcmp(name, "limLow") || !strcmp(name, "limUpp"))
        limit(node, name[3] == 'L', out);
    else if (!strcmp(name, "m"))
        rows(node, "mr", "matrix", out);
    else if (!strcmp(name, "eqArr"))
        rows(node, "e", "aligned", out);
    else if (n < 2 || strcmp(name + n - 2, "Pr") != 0) /* what only describes says nothing */
        children(node, out);
}

static void children(const struct xml_node *node, struct buf *out)
{
    for (const struct xml_node *child = node ? node->first : NULL; child; child = child->next)
        if (child->name && strcmp(child->name, "del") != 0)
            element(child, out);
}

void office_math_write(const struct xml_node *node, struct buf *out)
{
    children(node, out);
}
