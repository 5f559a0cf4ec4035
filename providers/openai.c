#include "providers/openai.h"

#include "base/json.h"
#include "providers/request.h"
#include "providers/shape.h"

bool openai_forced_tool(struct span choice, const char *holder)
{
    struct span type, mode;
    if (json_type(choice) == JSON_STRING)
        return request_value_is(choice, "required") || request_value_is(choice, "any");
    if (json_type(choice) != JSON_OBJECT)
        return false;
    if (!json_member(choice, "type", &type) || !request_value_is(type, "allowed_tools"))
        return true;
    if (holder && !json_member(choice, holder, &choice))
        return false;
    return json_member(choice, "mode", &mode) && request_value_is(mode, "required");
}

static const char *error_type(const struct error *e)
{
    static const struct shape_error_name names[] = {
        {401, "authentication_error"}, {403, "permission_error"}, {429, "rate_limit_error"}};
    return shape_error_name(e, names, sizeof names / sizeof names[0], "invalid_request_error",
                            "server_error");
}

void openai_error_body(const struct error *e, struct buf *out)
{
    buf_adds(out, "{\"error\":{\"message\":\"");
    if (json_escape(span_str(e->message), out) < 0)
        return;
    buf_printf(out, "\",\"type\":\"%s\",\"param\":null,", error_type(e));
    shape_error_members(e, out);
    buf_adds(out, "}}");
}
