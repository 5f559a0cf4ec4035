/* Whether text content is what its format says: YAML by libyaml's events. */
#include <yaml.h>

#include "artifacts/render.h"

enum { YAML_DEPTH = 512 };

const char *yaml_check(struct span text)
{
    yaml_parser_t parser;
    yaml_event_t event;
    const char *wrong = NULL;
    unsigned depth = 0;
    bool more = true;
    if (!yaml_parser_initialize(&parser))
        return "it could not be checked";
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
    while (more && !wrong) {
        if (!yaml_parser_parse(&parser, &event)) {
            wrong = "it is not valid YAML";
            break;
        }
        if (event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT)
            depth++;
        else if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
            depth--;
        if (depth > YAML_DEPTH)
            wrong = "it is nested too deeply";
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return wrong;
}
