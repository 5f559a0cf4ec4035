#include "attachments/office_package.h"

#include <stdio.h>

const char *office_resolve(struct arena *memory, const char *part, const char *target)
{
    const char *slash = strrchr(part, '/');
    size_t folder = target[0] == '/' || !slash ? 0 : (size_t)(slash - part) + 1, n = 0;
    char *path = arena_take(memory, folder + strlen(target) + 2);
    memcpy(path, part, folder);
    n = folder;
    for (const char *p = target; *p;) {
        size_t step = strcspn(p, "/\\");
        if (step == 2 && p[0] == '.' && p[1] == '.') {
            n -= n > 0;
            while (n > 0 && path[n - 1] != '/')
                n--;
        } else if (step > 0 && !(step == 1 && p[0] == '.')) {
            memcpy(path + n, p, step);
            n += step;
            if (p[step])
                path[n++] = '/';
        }
        p += step;
        p += *p != '\0';
    }
    path[n] = '\0';
    return path;
}

/* Parts that hold text of their own: a document without one of those it names has lost something. */
static bool bears_text(const char *type)
{
    static const char *const types[] = {"chart", "comments", "diagramData", "drawing", "notesSlide"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(types[i], type))
            return true;
    return false;
}

int office_relations_read(struct archive *a, const char *part, struct arena *memory,
                          struct office_relations *r)
{
    *r = (struct office_relations){0};
    const char *base = office_base_name(part);
    size_t room = strlen(part) + sizeof "_rels/.rels";
    char *name = arena_take(memory, room);
    snprintf(name, room, "%.*s_rels/%s.rels", (int)(base - part), part, base);
    if (!archive_find(a, name))
        return 0;
    struct xml_node *root;
    if (xml_tree_part(a, name, memory, &root))
        return -1;
    size_t n = 0;
    for (const struct xml_node *node = root->first; node; node = node->next)
        n += xml_is(node, "Relationship");
    r->list = arena_take(memory, n * sizeof *r->list);
    for (const struct xml_node *node = root->first; node; node = node->next) {
        const char *id = xml_get(node, "Id"), *type = xml_get(node, "Type"),
                   *target = xml_get(node, "Target");
        const char *mode = xml_get(node, "TargetMode");
        if (!xml_is(node, "Relationship") || !id || !type || !target)
            continue;
        bool external = mode && !strcmp(mode, "External");
        r->list[r->n] = (struct office_relation){
            id, office_base_name(type), external ? target : office_resolve(memory, part, target), external};
        const struct office_relation *found = &r->list[r->n++];
        if (!external && bears_text(found->type) && !archive_find(a, found->target))
            return extraction_fail(archive_extraction(a), RENDER_INVALID, "is damaged: %s is missing.",
                                   extraction_name(span_str(found->target)).text);
    }
    return 0;
}

const struct office_relation *office_relation_by_id(const struct office_relations *r, const char *id)
{
    for (size_t i = 0; id && i < r->n; i++)
        if (!strcmp(r->list[i].id, id))
            return &r->list[i];
    return NULL;
}

const struct office_relation *office_relation_by_type(const struct office_relations *r, const char *type)
{
    for (size_t i = 0; i < r->n; i++)
        if (!r->list[i].external && !strcmp(r->list[i].type, type))
            return &r->list[i];
    return NULL;
}

const char *office_main_part(struct archive *a, struct arena *memory, const char *usual, const char *kind)
{
    struct office_relations r;
    if (office_relations_read(a, "", memory, &r))
        return NULL;
    const struct office_relation *main = office_relation_by_type(&r, "officeDocument");
    const char *found = main ? archive_find(a, main->target) : NULL;
    if (!found)
        found = archive_find(a, usual);
    if (!found)
        extraction_fail(archive_extraction(a), RENDER_INVALID, "is no %s file: %s is missing.", kind, usual);
    return found;
}

const char *office_base_name(const char *target)
{
    const char *slash = strrchr(target, '/');
    return slash ? slash + 1 : target;
}
