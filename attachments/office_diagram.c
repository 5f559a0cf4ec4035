#include "attachments/office_diagram.h"

int office_diagram_write(struct archive *a, const char *part, struct markup *m)
{
    struct arena memory = {0};
    struct xml_node *root;
    int answer = xml_tree_part(a, part, &memory, &root);
    const struct xml_node *list = answer == 0 ? xml_at(root, "ptLst") : NULL;
    for (const struct xml_node *pt = list ? list->first : NULL; pt; pt = pt->next) {
        const struct xml_node *text = xml_at(pt, "t");
        struct buf words;
        buf_init(&words, EXTRACT_TEXT);
        for (const struct xml_node *p = text ? text->first : NULL; p; p = p->next) {
            if (words.n && xml_is(p, "p"))
                buf_addc(&words, ' ');
            for (const struct xml_node *r = xml_is(p, "p") ? p->first : NULL; r; r = r->next)
                xml_text(xml_at(r, "t"), &words);
        }
        if (words.n) {
            markup_item(m, "-");
            markup_text(m, buf_span(&words), 0);
            markup_leave(m);
        }
        buf_free(&words);
    }
    arena_free(&memory);
    return answer;
}
