/* Word documents as Markdown: the whole of what a reader of one must get right, element by element. */
#include "attachments/extract_office.h"
#include "extract_made.h"

extern const struct renderer_ops render_docx;

#define W "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" "
#define BODY(b)                                                                                              \
    "<w:document " W                                                                                         \
    "xmlns:r=\"r\" xmlns:mc=\"mc\" xmlns:m=\"m\" xmlns:v=\"v\" xmlns:wp=\"wp\" xmlns:a=\"a\" "               \
    "xmlns:pic=\"pic\" xmlns:w14=\"w14\" xmlns:wps=\"wps\" xmlns:c=\"c\"><w:body>" b                         \
    "<w:sectPr/></w:body></w:document>"
#define P(x)         "<w:p>" x "</w:p>"
#define T(x)         "<w:r><w:t xml:space=\"preserve\">" x "</w:t></w:r>"
#define RT(pr, x)    "<w:r><w:rPr>" pr "</w:rPr><w:t>" x "</w:t></w:r>"
#define STYLED(s, x) "<w:p><w:pPr><w:pStyle w:val=\"" s "\"/></w:pPr>" T(x) "</w:p>"
#define LIST(id, level, x)                                                                                   \
    "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"" level "\"/><w:numId w:val=\"" id                                 \
    "\"/></w:numPr></w:pPr>" T(x) "</w:p>"
#define TC(pr, x) "<w:tc><w:tcPr>" pr "</w:tcPr>" x "</w:tc>"
#define TR(x)     "<w:tr>" x "</w:tr>"
#define REL(id, type, target, more)                                                                          \
    "<Relationship Id=\"" id                                                                                 \
    "\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/" type                    \
    "\" Target=\"" target "\"" more "/>"

static const char styles[] =
    "<w:styles " W ">"
    "<w:style w:type=\"paragraph\" w:styleId=\"berschrift1\"><w:name w:val=\"heading 1\"/></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"Own\"><w:name w:val=\"My own\"/><w:basedOn "
    "w:val=\"berschrift1\"/></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"Clause\"><w:name w:val=\"Clause\"/><w:pPr><w:outlineLvl "
    "w:val=\"2\"/></w:pPr></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"Circle\"><w:name w:val=\"c\"/><w:basedOn "
    "w:val=\"Circle2\"/></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"Circle2\"><w:name w:val=\"d\"/><w:basedOn "
    "w:val=\"Circle\"/></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"Zitat\"><w:name "
    "w:val=\"Quote\"/><w:rPr><w:i/></w:rPr></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"SourceCode\"><w:name w:val=\"Source Code\"/></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"Numbered\"><w:name w:val=\"heading "
    "2\"/><w:pPr><w:numPr><w:numId "
    "w:val=\"3\"/></w:numPr></w:pPr></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"Ghost\"><w:name "
    "w:val=\"Ghost\"/><w:rPr><w:vanish/></w:rPr></w:style>"
    "<w:style w:type=\"character\" w:styleId=\"Strong\"><w:name "
    "w:val=\"Strong\"/><w:rPr><w:b/></w:rPr></w:style>"
    "<w:style w:type=\"character\" w:styleId=\"Mono\"><w:name w:val=\"HTML Code\"/></w:style>"
#define LOOKS(type, id, based, look)                                                                         \
    "<w:style w:type=\"" type "\" w:styleId=\"" id "\"><w:basedOn w:val=\"" based "\"/><w:rPr>" look         \
    "</w:rPr></w:style>"
    LOOKS("paragraph", "Loud", "", "<w:b/>") LOOKS("paragraph", "LoudHeir", "Loud", "<w:i/>")
        LOOKS("paragraph", "Quiet", "LoudHeir", "<w:b w:val=\"0\"/>")
            LOOKS("paragraph", "LoudHeading", "berschrift1", "<w:b/>")
                LOOKS("character", "Slanted", "", "<w:i/>") LOOKS("character", "Struck", "", "<w:dstrike/>")
                    LOOKS("character", "Spirit", "", "<w:vanish/>")
                        LOOKS("character", "High", "", "<w:position w:val=\"6\"/>")
                            LOOKS("table", "Grid", "", "<w:i/>") "</w:styles>";

#define LVL(i, format, text)                                                                                 \
    "<w:lvl w:ilvl=\"" i "\"><w:start w:val=\"1\"/><w:numFmt w:val=\"" format "\"/><w:lvlText w:val=\"" text \
    "\"/></w:lvl>"
static const char numbering[] =
    "<w:numbering " W ">"
    "<w:abstractNum w:abstractNumId=\"0\">" LVL("0", "bullet", "o")
        LVL("1", "bullet",
            "o") "</w:abstractNum>"
                 "<w:abstractNum w:abstractNumId=\"1\">" LVL("0", "decimal", "%1.")
                     LVL("1", "lowerLetter",
                         "%2)") "</w:abstractNum>"
                                "<w:abstractNum w:abstractNumId=\"2\">" LVL(
                                    "0", "upperRoman",
                                    "%1.") "<w:lvl w:ilvl=\"1\"><w:start w:val=\"1\"/><w:numFmt "
                                           "w:val=\"decimal\"/><w:pStyle w:val=\"Numbered\"/><w:isLgl/>"
                                           "<w:lvlText w:val=\"%1.%2\"/></w:lvl>" LVL(
                                               "2", "decimal",
                                               "%1.%2.%3") "</w:abstractNum>"
                                                           "<w:num w:numId=\"1\"><w:abstractNumId "
                                                           "w:val=\"0\"/></w:num>"
                                                           "<w:num w:numId=\"2\"><w:abstractNumId "
                                                           "w:val=\"1\"/></w:num>"
                                                           "<w:num w:numId=\"3\"><w:abstractNumId "
                                                           "w:val=\"2\"/></w:num>"
                                                           "<w:num w:numId=\"4\"><w:abstractNumId "
                                                           "w:val=\"1\"/><w:lvlOverride "
                                                           "w:ilvl=\"0\"><w:startOverride "
                                                           "w:val=\"5\"/></w:lvlOverride></w:num>"
                                                           "</w:numbering>";

static const char relations[] =
    "<Relationships>" REL("r1", "styles", "styles.xml", "") REL("r2", "numbering", "/word/numbering.xml", "")
        REL("r3", "hyperlink", "https://x.test/a?b=1&amp;c=2", " TargetMode=\"External\"")
            REL("r4", "image", "media/image1.png", "") REL("r5", "footnotes", "footnotes.xml", "")
                REL("r6", "endnotes", "endnotes.xml", "") REL("r7", "comments", "comments.xml", "")
                    REL("r8", "chart", "charts/chart1.xml", "") "</Relationships>";

static const char footnotes[] =
    "<w:footnotes " W
    "><w:footnote w:id=\"-1\" w:type=\"separator\"><w:p/></w:footnote><w:footnote w:id=\"2\">" P(
        "<w:r><w:footnoteRef/></w:r>" T(" The note"))
        P(T("goes on")) "</w:footnote><w:footnote w:id=\"3\">" P(
            T("never named")) "</w:footnote></w:footnotes>";
static const char endnotes[] =
    "<w:endnotes " W "><w:endnote w:id=\"2\">" P(T("The end")) "</w:endnote></w:endnotes>";
static const char comments[] = "<w:comments " W "><w:comment w:id=\"0\" w:author=\"Ada\">" P(T("Why?"))
    P(T("Really.")) "</w:comment><w:comment w:id=\"1\">" P(T("No name")) "</w:comment></w:comments>";
static const char chart[] =
    "<c:chartSpace xmlns:c=\"c\" "
    "xmlns:a=\"a\"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sa</a:t></a:r><a:r><a:t>les</a:t>"
    "</a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>"
    "<c:ser><c:tx><c:strRef><c:strCache><c:pt idx=\"0\"><c:v>2026</c:v></c:pt></c:strCache></c:strRef></c:tx>"
    "<c:cat><c:strRef><c:strCache><c:ptCount val=\"3\"/><c:pt idx=\"0\"><c:v>Q1</c:v></c:pt><c:pt "
    "idx=\"2\"><c:v>Q3</c:v></c:pt>"
    "</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:formatCode>0%</c:formatCode><c:pt "
    "idx=\"0\"><c:v>0.125</c:v></c:pt><c:pt "
    "idx=\"1\"><c:v>2</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>"
    "</c:barChart></c:plotArea></c:chart></c:chartSpace>";

/* Comments come with every document that has their part, so it is there only when asked for. */
static void expect(const char *document, const char *expected)
{
    const struct part parts[] = {
        {"word/document.xml", document},
        {"word/_rels/document.xml.rels", relations},
        {"word/styles.xml", styles},
        {"word/numbering.xml", numbering},
        {"word/footnotes.xml", footnotes},
        {"word/endnotes.xml", endnotes},
        {"word/charts/chart1.xml", chart},
        {"word/comments.xml", strstr(document, "commentReference") ? comments : "<w/>"},
        {NULL, NULL}};
    expect_text(&extract_docx_ops, parts, expected);
}

struct example {
    const char *document, *expected;
};

static void run(const struct example *examples, size_t n)
{
    for (size_t i = 0; i < n; i++)
        expect(examples[i].document, examples[i].expected);
}
#define RUN(examples) run(examples, sizeof(examples) / sizeof((examples)[0]))

static void headings_by_style(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {BODY(STYLED("berschrift1", "A")), "# A\n"},
        {BODY(STYLED("Own", "A") STYLED("Clause", "B")), "# A\n\n### B\n"},
        {BODY(STYLED("Heading3", "not described")), "### not described\n"},
        {BODY(STYLED("Title", "T") STYLED("Circle", "c")), "# T\n\nc\n"},
        {BODY("<w:p><w:pPr><w:outlineLvl w:val=\"1\"/></w:pPr>" RT("<w:b/>", "bold") T(" x") "</w:p>"),
         "## bold x\n"},
        {BODY("<w:p><w:pPr><w:pStyle w:val=\"Own\"/><w:outlineLvl w:val=\"9\"/></w:pPr>" T("text") "</w:p>"),
         "text\n"},
        {BODY(STYLED("Heading9", "deep")), "###### deep\n"},
        {BODY(STYLED("Heading1", " ") P("")), ""},
    };
    RUN(examples);
}

static void numbered_headings_keep_their_number(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {BODY(
             "<w:p><w:pPr><w:pStyle w:val=\"Heading1\"/><w:numPr><w:numId w:val=\"3\"/></w:numPr></w:pPr>" T(
                 "One") "</w:p>" STYLED("Numbered", "Aims")
                 STYLED("Numbered", "Scope") "<w:p><w:pPr><w:pStyle w:val=\"Heading1\"/><w:numPr><w:numId "
                                             "w:val=\"3\"/></w:numPr></w:pPr>" T("Two") "</w:p>" STYLED(
                                                 "Numbered",
                                                 "Again") "<w:p><w:pPr><w:pStyle "
                                                          "w:val=\"Numbered\"/><w:numPr><w:numId "
                                                          "w:val=\"0\"/></w:numPr></w:pPr>" T("None") "</"
                                                                                                      "w:p>"),
         "# I. One\n\n## 1.1 Aims\n\n## 1.2 Scope\n\n# II. Two\n\n## 2.1 Again\n\n## None\n"},
    };
    RUN(examples);
}

static void emphasis(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {BODY(P(T("a ") RT("<w:b/>", "b") RT("<w:b w:val=\"1\"/><w:bCs/>", "c ")
                    RT("<w:b w:val=\"0\"/>", "d"))),
         "a **bc** d\n"},
        {BODY(P(RT("<w:i/>", "i") T(" ") RT("<w:strike/>", "s") T(" ") RT("<w:b/><w:i/>", "bi"))),
         "*i* ~~s~~ ***bi***\n"},
        {BODY(P(RT("<w:rStyle w:val=\"Strong\"/>", "s")
                    RT("<w:rStyle w:val=\"Strong\"/><w:b w:val=\"false\"/>", " n"))),
         "**s** n\n"},
        {BODY(P(RT("<w:rStyle w:val=\"Mono\"/>", "a*b"))), "`a*b`\n"},
        {BODY(P(T("10") RT("<w:vertAlign w:val=\"superscript\"/>", "6"))), "10<sup>6</sup>\n"},
        {BODY(P(T("seen") RT("<w:vanish/>", "hidden") RT("<w:vanish w:val=\"0\"/>", " shown"))),
         "seen shown\n"},
        {BODY(STYLED("Ghost", "gone") P(T("here"))), "here\n"},
        {BODY(P("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:softHyphen/"
                "><w:br w:type=\"page\"/></w:r>")),
         "a b  \nc-\n"},
        {BODY(P("<w:r><w:t>one</w:t><w:br w:type=\"page\"/><w:t>two</w:t></w:r>") P(
             "<w:r><w:br w:type=\"page\"/></w:r>") P("<w:r><w:br w:type=\"page\"/><w:t>three</w:t></w:r>")),
         "one two\n\nthree\n"},
        {BODY(P("<w:r><w:sym w:font=\"Wingdings\" w:char=\"F0FE\"/><w:t> done </w:t><w:sym w:font=\"Symbol\" "
                "w:char=\"F061\"/></w:r>")),
         "[x] done α\n"},
        {BODY(P("<w:r><w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></"
                "w:rubyBase></w:ruby></w:r>")),
         "漢\n"},
    };
    RUN(examples);
}

/* 17.7.3: what a style says once is so; what two levels say is not; the run itself has the last word. */
static void emphasis_by_style(void **state)
{
    (void)state;
#define IN_STYLE(id, runs) "<w:p><w:pPr><w:pStyle w:val=\"" id "\"/></w:pPr>" runs "</w:p>"
#define STRONG(x)          RT("<w:rStyle w:val=\"Strong\"/>", x)
    static const struct example examples[] = {
        {BODY(STYLED("Loud", "all of it")), "**all of it**\n"},
        {BODY(STYLED("LoudHeir", "bold, and slanted")), "***bold, and slanted***\n"},
        {BODY(STYLED("Quiet", "neither")), "*neither*\n"},
        {BODY(IN_STYLE("Loud", T("a ") STRONG("b") T(" c"))), "**a** b **c**\n"},
        {BODY(IN_STYLE("Loud",
                       RT("<w:b w:val=\"0\"/>", "plain ") RT("<w:rStyle w:val=\"Strong\"/><w:b/>", "b"))),
         "plain **b**\n"},
        {BODY(P(RT("<w:rStyle w:val=\"Struck\"/>", "out") RT("<w:rStyle w:val=\"Struck\"/><w:dstrike "
                                                             "w:val=\"0\"/>",
                                                             " in"))),
         "~~out~~ in\n"},
        {BODY(IN_STYLE("LoudHeading", T("A ") STRONG("b"))), "# A b\n"},
        {BODY(IN_STYLE("Zitat", T("Said ") RT("<w:rStyle w:val=\"Slanted\"/>", "so"))), "> Said *so*\n"},
        {BODY("<w:tbl><w:tblPr><w:tblStyle w:val=\"Grid\"/></w:tblPr>" TR(TC("", STYLED("Loud", "Head")))
                  TR(TC("", P(T("slanted")))) TR(TC("", STYLED("Loud", "both"))) "</w:tbl>" P(T("after"))),
         "| Head |\n| --- |\n| *slanted* |\n| ***both*** |\n\nafter\n"},
        {BODY(IN_STYLE("Ghost", RT("<w:rStyle w:val=\"Spirit\"/>", "seen") T(" unseen"))), "seen\n"},
        {BODY(P(T("H") RT("<w:position w:val=\"-6\"/><w:sz w:val=\"14\"/>", "2") T("O, m")
                    RT("<w:position w:val=\"8\"/>", "3") RT("<w:position w:val=\"1\"/>", "."))),
         "H<sub>2</sub>O, m<sup>3</sup>.\n"},
        {BODY(P(RT("<w:vertAlign w:val=\"superscript\"/><w:position w:val=\"-4\"/>", "a")
                    RT("<w:rStyle w:val=\"High\"/>", "b") RT("<w:rStyle w:val=\"High\"/><w:position "
                                                             "w:val=\"0\"/>",
                                                             "c"))),
         "<sup>ab</sup>c\n"},
    };
    RUN(examples);
    static const struct part defaults[] = {
        {"word/document.xml", BODY(P(T("by default ") RT("<w:i w:val=\"0\"/>", "not")))},
        {"word/_rels/document.xml.rels", relations},
        {"word/styles.xml",
         "<w:styles " W "><w:docDefaults><w:rPrDefault><w:rPr><w:b/></w:rPr></w:rPrDefault></w:docDefaults>"
         "<w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"N\"><w:rPr><w:i/></w:rPr></w:style>"
         "<w:style w:type=\"character\" w:default=\"true\" "
         "w:styleId=\"C\"><w:rPr><w:strike/></w:rPr></w:style>"
         "</w:styles>"},
        {"word/charts/chart1.xml", chart},
        {"word/comments.xml", "<w/>"},
        {NULL, NULL}};
    expect_text(&extract_docx_ops, defaults, "***~~by default~~* ~~not~~**\n");
}

static void lists(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {BODY(LIST("1", "0", "a") LIST("1", "1", "b") LIST("1", "0", "c") P(T("p"))),
         "- a\n    - b\n- c\n\np\n"},
        {BODY(LIST("2", "0", "a") LIST("2", "1", "b") LIST("2", "1", "c") LIST("2", "0", "d")
                  LIST("2", "1", "e")),
         "1. a\n    1. b\n    2. c\n2. d\n    1. e\n"},
        {BODY(LIST("2", "0", "a") LIST("2", "0", "b") P(T("p")) LIST("2", "0", "c") P(T("q"))
                  LIST("4", "0", "d") LIST("4", "0", "e")),
         "1. a\n2. b\n\np\n\n3. c\n\nq\n\n5. d\n6. e\n"},
        {BODY(LIST("3", "0", "a") LIST("3", "2", "b")), "1. a\n        I.1.1 b\n"},
        {BODY(LIST("1", "0", "a") "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"99\"/><w:numId "
                                  "w:val=\"77\"/></w:numPr></w:pPr>" T("no list") "</w:p>"),
         "- a\n\nno list\n"},
        {BODY("<w:p><w:pPr><w:numPr><w:numId w:val=\"1\"/></w:numPr><w:ind w:left=\"720\"/></w:pPr>" T(
             "a") "</w:p>"
                  "<w:p><w:pPr><w:ind w:left=\"720\"/></w:pPr>" T("more") "</w:p>" LIST("1", "0", "b")
                      P(T("out"))),
         "- a\n\n    more\n- b\n\nout\n"},
    };
    RUN(examples);
}

static void quotes_and_code(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {BODY(STYLED("Zitat", "a") STYLED("Zitat", "b") P(T("c"))), "> a\n>\n> b\n\nc\n"},
        {BODY(STYLED("SourceCode", "if (a)") STYLED("SourceCode", "  **b**") P(T("c"))),
         "```\nif (a)\n  **b**\n```\n\nc\n"},
    };
    RUN(examples);
}

static void tables(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {BODY("<w:tbl><w:tblGrid><w:gridCol/><w:gridCol/><w:gridCol/></w:tblGrid>" TR(
             TC("", P(T("A"))) TC("<w:gridSpan w:val=\"2\"/>", P(T("B|C"))))
                  TR(TC("<w:vMerge w:val=\"restart\"/>", P(T("d"))) TC("", P(T("e"))) TC("", P("")))
                      TR(TC("<w:vMerge/>", P("")) TC("", P(T("f")) P(RT("<w:b/>", "g")))
                             TC("", LIST("1", "0", "h") LIST("1", "0", "i"))) "</w:tbl>"),
         "| A | B\\|C | B\\|C |\n| --- | --- | --- |\n| d | e |  |\n| d | f<br>**g** | - h<br>- i |\n"},
        {BODY("<w:tbl>" TR(TC("<w:hMerge w:val=\"restart\"/>", P(T("a"))) TC("<w:hMerge/>", P(""))
                               TC("", P(T("b")))) "</w:tbl>"),
         "| a | a | b |\n| --- | --- | --- |\n"},
        {BODY("<w:tbl>" TR(TC("", P(T("out")) "<w:tbl>" TR(TC("", P(T("A1"))) TC("", P(T("B1")))) TR(
                                      TC("", P(T("A2"))) TC("", P(T("B2")))) "</w:tbl>" P(""))) "</w:tbl>"),
         "| out<br>A1 \\| B1<br>A2 \\| B2 |\n| --- |\n"},
        {BODY("<w:tbl><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>" TR(
             TC("<w:gridSpan w:val=\"999999999\"/>", P(T("wide")))) "</w:tbl>"),
         "| wide | wide |\n| --- | --- |\n"},
        {BODY("<w:tbl>" TR(TC("", P(T("h")))) "<w:tr><w:trPr><w:del w:id=\"1\"/></w:trPr>" TC(
             "", P(T("gone"))) "</w:tr>"
                               "<w:sdt><w:sdtContent><w:tr><w:sdt><w:sdtContent>" TC(
                                   "", P(T("kept"))) "</w:sdtContent></w:sdt></w:tr></w:sdtContent></w:sdt></"
                                                     "w:tbl>" LIST("2", "0", "x")),
         "| h |\n| --- |\n| kept |\n\n1. x\n"},
        {BODY("<w:tbl>" TR(TC("", P(T("a"))) TC("", P(T("b")))) "<w:tr><w:trPr><w:gridBefore "
                                                                "w:val=\"1\"/></w:trPr>" TC(
                                                                    "", P(T("c"))) "</w:tr></w:tbl>"),
         "| a | b |\n| --- | --- |\n|  | c |\n"},
    };
    RUN(examples);
}

static void tracked_changes_are_accepted(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {BODY(P(T("a ") "<w:ins w:author=\"x\">" T(
             "new") "</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
                    "<w:moveFrom>" T("there") "</w:moveFrom><w:moveTo>" T(
                        " here") "</w:moveTo>"
                                 "<w:r><w:rPr><w:rPrChange><w:rPr><w:b/><w:vanish/></w:rPr></w:rPrChange></"
                                 "w:rPr><w:t>!</w:t></w:r>")),
         "a new here!\n"},
        {BODY("<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>" T("joined ") "</w:p>" P(T("line")) P(T("next"))),
         "joined line\n\nnext\n"},
        {BODY("<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>" T("last") "</w:p>"), "last\n"},
        {BODY(
             "<w:p><w:pPr><w:pPrChange><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr></w:pPrChange></w:pPr>" T(
                 "plain") "</w:p>"),
         "plain\n"},
    };
    RUN(examples);
}

static void links_and_fields(void **state)
{
    (void)state;
#define FIELD(code, x)                                                                                       \
    "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>" code                                 \
    "</w:instrText></w:r><w:r><w:fldChar "                                                                   \
    "w:fldCharType=\"separate\"/></w:r>" x "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>"
    static const struct example examples[] = {
        {BODY(P("<w:hyperlink r:id=\"r3\">" RT("<w:b/>", "t") "</w:hyperlink>")),
         "[**t**](https://x.test/a?b=1&c=2)\n"},
        {BODY(P("<w:hyperlink w:anchor=\"x\">" T("in here") "</w:hyperlink><w:hyperlink r:id=\"none\">" T(
             " none") "</w:hyperlink>")),
         "in here none\n"},
        {BODY(P(FIELD(" HYPERLINK \"https://y.test/\" \\o \"hint\"", T("y")) FIELD("PAGE", T(" 7")))),
         "[y](https://y.test/) 7\n"},
        {BODY(P(FIELD("IF " FIELD("DATE", T("inner")) " = 1", T("result")))), "result\n"},
        {BODY(P("<w:fldSimple w:instr=\" HYPERLINK &quot;https://z.test/&quot;\">" T("z") "</w:fldSimple>")),
         "[z](https://z.test/)\n"},
        {BODY(P("<w:r><w:fldChar w:fldCharType=\"end\"/><w:fldChar "
                "w:fldCharType=\"begin\"/><w:t>unseen</w:t></w:r>") P(T("x"))),
         ""},
    };
    RUN(examples);
}

static void pictures_boxes_and_charts(void **state)
{
    (void)state;
#define PICTURE                                                                                              \
    "<w:drawing><wp:inline><wp:docPr id=\"1\" name=\"Picture 1\" descr=\"A "                                 \
    "cat\"/><a:graphic><pic:pic><pic:blipFill><a:blip "                                                      \
    "r:embed=\"r4\"/></pic:blipFill></pic:pic></a:graphic></wp:inline></w:drawing>"
#define BOX "<w:txbxContent>" P(T("in the box")) "</w:txbxContent>"
    static const struct example examples[] = {
        {BODY(P(T("see ") "<w:r>" PICTURE "</w:r>")), "see ![A cat](image1.png)\n"},
        {BODY(P("<w:r><w:pict><v:shape alt=\"old\"><v:imagedata r:id=\"r4\"/></v:shape></w:pict></w:r>")),
         "![old](image1.png)\n"},
        {BODY(P(T("text") "<w:r><mc:AlternateContent><mc:Choice Requires=\"wps\"><w:drawing><wps:txbx>" BOX
                          "</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>" BOX
                          "</v:textbox></w:pict></mc:Fallback>"
                          "</mc:AlternateContent></w:r>" T(" goes on"))),
         "text goes on\n\nin the box\n"},
        {BODY(P("<w:r><mc:AlternateContent><mc:Fallback><w:pict><v:textbox>" BOX
                "</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>")),
         "in the box\n"},
        {BODY(P("<w:r><w:drawing><wp:inline><a:graphic><c:chart "
                "r:id=\"r8\"/></a:graphic></wp:inline></w:drawing></w:r>") P(T("after"))),
         "### Chart: Sales\n\n| Category | 2026 |\n| --- | --- |\n| Q1 | 12.5% |\n|  | 200% |\n| Q3 |  "
         "|\n\nafter\n"},
    };
    RUN(examples);
}

static void notes_and_comments(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {BODY(P(T("a") "<w:r><w:endnoteReference w:id=\"2\"/></w:r>" T(
             " b") "<w:r><w:footnoteReference w:id=\"2\"/></w:r>"
                   "<w:r><w:footnoteReference w:id=\"2\"/></w:r>")),
         "a[^1] b[^2][^2]\n\n[^2]: The note\n\n    goes on\n[^1]: The end\n"},
        {BODY(P("<w:commentRangeStart w:id=\"0\"/>" T("a") "<w:r><w:commentReference w:id=\"0\"/></w:r>")),
         "a\n\n> Comment (Ada): Why?\n>\n> Really.\n\n> Comment: No name\n"},
    };
    RUN(examples);
}

static void controls_and_check_boxes(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {BODY("<w:sdt><w:sdtPr><w:alias w:val=\"x\"/></w:sdtPr><w:sdtContent>" P(
             T("block")) "</w:sdtContent></w:sdt>"),
         "block\n"},
        {BODY(P("<w:sdt><w:sdtPr><w14:checkbox><w14:checked "
                "w14:val=\"1\"/></w14:checkbox></w:sdtPr><w:sdtContent>" T("☒") "</w:sdtContent></w:sdt>" T(
                    " yes"))),
         "[x] yes\n"},
        {BODY(P("<w:sdt><w:sdtPr><w14:checkbox><w14:checked "
                "w14:val=\"0\"/></w14:checkbox></w:sdtPr><w:sdtContent>" T("o") "</w:sdtContent></w:sdt>" T(
                    " no"))),
         "[ ] no\n"},
        {BODY(P("<w:r><w:fldChar w:fldCharType=\"begin\"><w:ffData><w:checkBox><w:default "
                "w:val=\"0\"/><w:checked/></w:checkBox></w:ffData></w:fldChar></w:r>"
                "<w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r><w:r><w:fldChar "
                "w:fldCharType=\"end\"/></w:r>" T(" old"))),
         "[x] old\n"},
        {BODY(P(T("☐ to do"))), "[ ] to do\n"},
    };
    RUN(examples);
}

static void equations(void **state)
{
    (void)state;
#define R(x) "<m:r><m:t>" x "</m:t></m:r>"
#define E(x) "<m:e>" x "</m:e>"
    static const struct example examples[] = {
        {BODY(P(
             T("so ") "<m:oMath><m:f><m:num>" R("a+1") "</m:num><m:den>" R("b") "</m:den></m:f></m:oMath>")),
         "so $\\frac{a+1}{b}$\n"},
        {BODY(P("<m:oMathPara><m:oMath><m:sSup>" E(R("x")) "<m:sup>" R("2") "</m:sup></m:sSup>" R(
             "≤αβ") "</m:oMath></m:oMathPara>")),
         "$x^{2}\\leq\\alpha\\beta$\n"},
        {BODY(P("<m:oMath><m:nary><m:naryPr><m:chr m:val=\"∑\"/></m:naryPr><m:sub>" R(
             "i=1") "</m:sub><m:sup>" R("n") "</m:sup>" E(R("i")) "</m:nary></m:oMath>")),
         "$\\sum_{i=1}^{n}{i}$\n"},
        {BODY(P("<m:oMath><m:rad><m:deg>" R("3") "</m:deg>" E(R("x")) "</m:rad><m:d>" E(
             R("y")) "</m:d></m:oMath>")),
         "$\\sqrt[3]{x}\\left(y\\right)$\n"},
        {BODY(P("<m:oMath><m:func><m:fName>" R("sin") "</m:fName>" E(R("x")) "</m:func><m:acc>" E(
             R("y")) "</m:acc></m:oMath>")),
         "$\\sin{x}\\hat{y}$\n"},
        {BODY(P("<m:oMath><m:m><m:mr>" E(R("1")) E(R("2")) "</m:mr><m:mr>" E(R("3"))
                    E(R("4")) "</m:mr></m:m></m:oMath>")),
         "$\\begin{matrix}1 & 2 \\\\ 3 & 4\\end{matrix}$\n"},
        {BODY(P("<m:oMath><m:func><m:fName><m:limLow>" E(R("lim")) "<m:lim>" R(
             "n→∞") "</m:lim></m:limLow></m:fName>" E(R("5%")) "</m:func></m:oMath>")),
         "$\\lim_{n\\rightarrow\\infty}{5\\%}$\n"},
    };
    RUN(examples);
}

static void strict_documents_are_the_same(void **state)
{
    (void)state;
    static const struct part parts[] = {
        {"_rels/.rels",
         "<Relationships "
         "xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"a\" "
         "Type=\"http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument\" "
         "Target=\"/other/main.xml\"/></Relationships>"},
        {"other/main.xml",
         "<document xmlns=\"http://purl.oclc.org/ooxml/wordprocessingml/main\" "
         "xmlns:x=\"http://purl.oclc.org/ooxml/wordprocessingml/main\">"
         "<body><p><pPr><pStyle x:val=\"Heading2\"/></pPr><r><t>strict</t></r></p></body></document>"},
        {NULL, NULL}};
    expect_text(&extract_docx_ops, parts, "## strict\n");
}

static void what_was_rendered_is_read_back(void **state)
{
    (void)state;
    static const char source[] =
        "# Report\n\nText with **bold**, *italic*, ~~gone~~, `code` and [a link](https://x.test/).\n\n## "
        "List\n\n- one\n- two\n    1. first\n"
        "    2. second\n- three\n\n1. a\n2. b\n\n> Quoted\n\n```\nint main(void)\n\n  x\n```\n\n| Name | "
        "Number |\n| --- | --- |\n| A\\|B | 1 |\n| **C** | 2 |\n\n"
        "Done[^1].\n\n- [ ] open\n- [x] done\n\n[^1]: A note.\n";
    struct render_params params = {.format = "docx", .title = "", .made_at = 1790000000};
    char sentence[RENDER_SENTENCE] = "";
    struct buf docx;
    buf_init(&docx, 1 << 24);
    assert_int_equal(render_docx.render(SPAN_LIT(source), &params, &docx, sentence), RENDER_OK);
    struct text t = extract_bytes(&extract_docx_ops, buf_span(&docx));
    assert_string_equal(t.sentence, "");
    assert_string_equal(buf_cstr(&t.out), source);
    buf_free(&t.out);
    buf_free(&docx);
}

static void hostile_documents_are_refused(void **state)
{
    (void)state;
    struct buf xml, zip;
    static const struct part wrong[] = {{"xl/workbook.xml", "<workbook/>"}, {NULL, NULL}};
    static const struct part entity[] = {
        {"word/document.xml",
         "<!DOCTYPE d [<!ENTITY x SYSTEM "
         "\"file:///etc/passwd\">]><w:document><w:body><w:p>&x;</w:p></w:body></w:document>"},
        {NULL, NULL}};
    static const struct part note[] = {
        {"word/document.xml", BODY(P(T("a") "<w:r><w:footnoteReference w:id=\"7\"/></w:r>"))}, {NULL, NULL}};
    static const struct part remarks[] = {{"word/document.xml", BODY(P(T("a")))},
                                          {"word/_rels/document.xml.rels",
                                           "<Relationships><Relationship Id=\"r\" Type=\"x/comments\" "
                                           "Target=\"comments.xml\"/></Relationships>"},
                                          {NULL, NULL}};
    const struct {
        const struct part *parts;
        const char *says;
    } cases[] = {{wrong, "is no docx file: word/document.xml is missing."},
                 {entity, "declares a document type (DTD)"},
                 {note, "is damaged: the text of its footnote 7 is missing."},
                 {remarks, "is damaged: word/comments.xml is missing."}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pack(&zip, cases[i].parts);
        expect_refusal(&extract_docx_ops, buf_span(&zip), RENDER_INVALID, cases[i].says);
        buf_free(&zip);
    }
    static const struct {
        const char *piece;
        int times;
        enum render_status status;
        const char *says;
    } many[] = {
        {"<w:p/>", 1000000, RENDER_LIMIT, "has more than 500000 elements"},
        {"<w:tbl><w:tr><w:tc>", 66666, RENDER_INVALID, "nests elements too deeply"},
        {P(T("A paragraph of more than sixty bytes, so that many of them are more than may be.")), 120000,
         RENDER_LIMIT, "is longer than 8 MiB as text"},
    };
    for (size_t i = 0; i < 3; i++) {
        buf_init(&xml, 1 << 28);
        buf_adds(&xml, "<w:document><w:body>");
        for (int k = 0; k < many[i].times; k++)
            buf_adds(&xml, many[i].piece);
        buf_adds(&xml, "</w:body></w:document>");
        const struct part parts[] = {{"word/document.xml", buf_cstr(&xml)}, {NULL, NULL}};
        pack(&zip, parts);
        expect_refusal(&extract_docx_ops, buf_span(&zip), many[i].status, many[i].says);
        buf_free(&zip);
        buf_free(&xml);
    }
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    static const struct part parts[] = {
        {"word/document.xml", BODY(P(T("a")))}, {"word/styles.xml", "<w:styles/>"}, {NULL, NULL}};
    expect_cuts_refused(&extract_docx_ops, parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headings_by_style),
        cmocka_unit_test(numbered_headings_keep_their_number),
        cmocka_unit_test(emphasis),
        cmocka_unit_test(emphasis_by_style),
        cmocka_unit_test(lists),
        cmocka_unit_test(quotes_and_code),
        cmocka_unit_test(tables),
        cmocka_unit_test(tracked_changes_are_accepted),
        cmocka_unit_test(links_and_fields),
        cmocka_unit_test(pictures_boxes_and_charts),
        cmocka_unit_test(notes_and_comments),
        cmocka_unit_test(controls_and_check_boxes),
        cmocka_unit_test(equations),
        cmocka_unit_test(strict_documents_are_the_same),
        cmocka_unit_test(what_was_rendered_is_read_back),
        cmocka_unit_test(hostile_documents_are_refused),
        cmocka_unit_test(every_cut_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
