#include "attachments/extract_media.h"
const struct renderer_ops extract_rtf_ops = {0};
