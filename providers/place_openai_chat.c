/* Attachments in OpenAI Chat Completions and what speaks like it. */
#include "providers/placing.h"

static void write_url(struct placing *p, const struct place_item *item, const char *type)
{
    placing_write(p, "{\"type\":\"");
    placing_write(p, type);
    placing_write(p, "\",\"");
    placing_write(p, type);
    placing_write(p, "\":{\"url\":\"");
    if (item->uploaded.n) { /* Moonshot's */
        placing_write(p, "ms://");
        placing_uploaded(p, item);
    } else {
        placing_data_url(p, item);
    }
    placing_write(p, "\"}}");
}

static void write_part(struct placing *p, const struct place_item *item, enum place_shape shape)
{
    switch (shape) {
    case SHAPE_IMAGE:
        write_url(p, item, "image_url");
        break;
    case SHAPE_AUDIO_URL:
        write_url(p, item, "audio_url");
        break;
    case SHAPE_VIDEO_URL:
        write_url(p, item, "video_url");
        break;
    case SHAPE_AUDIO:
        placing_write(p, "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"");
        placing_base64(p, item);
        placing_write(p, "\",\"format\":\"");
        placing_write(p, place_audio_format(item->media_type));
        placing_write(p, "\"}}");
        break;
    case SHAPE_VIDEO:
        placing_write(p, "{\"type\":\"input_video\",\"input_video\":{\"data\":\"");
        placing_base64(p, item);
        placing_write(p, "\"}}");
        break;
    default: /* a PDF */
        if (item->uploaded.n) {
            placing_write(p, "{\"type\":\"file\",\"file\":{\"file_id\":\"");
            placing_uploaded(p, item);
            placing_write(p, "\"}}");
            break;
        }
        placing_write(p, "{\"type\":\"file\",\"file\":{\"filename\":\"");
        placing_filename(p, item);
        placing_write(p, "\",\"file_data\":\"");
        placing_data_url(p, item);
        placing_write(p, "\"}}");
    }
}

void place_openai_chat(struct placing *p)
{
    static const struct place_style style = {.member = "content",
                                             .before_text = "{\"type\":\"text\",\"text\":",
                                             .strings = true,
                                             .part = write_part};
    placing_to_list(p, &style, p->r->facts->place);
}
