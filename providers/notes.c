#include "providers/notes.h"

void notes_error(struct reply_event *e, struct span error)
{
    struct span type;
    if (json_type(error) == JSON_STRING)
        reply_event_note(e, NOTE_ERROR_MESSAGE, 0, error);
    if (json_type(error) != JSON_OBJECT)
        return;
    if (json_member(error, "type", &type) && json_type(type) == JSON_STRING)
        reply_event_note(e, NOTE_ERROR_TYPE, 0, type);
    else
        notes_member(e, NOTE_ERROR_TYPE, 0, error, "status");
    notes_member(e, NOTE_ERROR_CODE, 0, error, "code");
    notes_member(e, NOTE_ERROR_MESSAGE, 0, error, "message");
}

void notes_source(struct reply_event *e, struct span source, const char *address)
{
    struct span url, title;
    if (json_type(source) != JSON_OBJECT || !json_member(source, address, &url) ||
        json_type(url) != JSON_STRING || url.n == 2)
        return;
    reply_event_note(e, NOTE_CITATION, 0, url);
    if (json_member(source, "title", &title))
        notes_string(e, NOTE_CITATION_TITLE, 0, title);
}

void notes_sources(struct reply_event *e, struct span list, const char *holder, const char *address)
{
    struct span source;
    if (json_type(list) != JSON_ARRAY)
        return;
    struct json_iter it = json_iter(list);
    while (json_next(&it) == 1) {
        if (!holder && json_type(it.value) == JSON_STRING)
            notes_string(e, NOTE_CITATION, 0, it.value);
        else if (!holder)
            notes_source(e, it.value, address);
        else if (json_type(it.value) == JSON_OBJECT && json_member(it.value, holder, &source))
            notes_source(e, source, address);
    }
}
