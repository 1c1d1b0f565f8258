#include "io/io_mesh_xml.h"

#include <string.h>

/// Moves the cursor and counts the lines on the way.
static void go_to(sn_text *text, const char *at) {
    for (; text->at < at; text->at++)
        text->line += *text->at == '\n';
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(sn_text *text) {
    const char *at = text->at;
    while (at < text->end && is_space(*at))
        at++;
    go_to(text, at);
}

static bool starts(const sn_text *text, const char *what) {
    size_t size = strlen(what);
    return (size_t)(text->end - text->at) >= size && memcmp(text->at, what, size) == 0;
}

/// Goes behind the next `what`; fails at the end of the file.
static sn_status go_behind(sn_text *text, const char *what) {
    size_t size = strlen(what);
    const char *at = text->at;
    while ((at = memchr(at, what[0], (size_t)(text->end - at))) != NULL) {
        if ((size_t)(text->end - at) >= size && memcmp(at, what, size) == 0) {
            go_to(text, at + size);
            return SN_OK;
        }
        at++;
    }
    go_to(text, text->end);
    return sn_text_fail(
        text, "found the end of the file, expected \"%s\"; the file was cut short: write it again", what);
}

void sn_xml_content(sn_xml *xml, sn_word *out_content) {
    sn_text *text = xml->text;
    const char *at = memchr(text->at, '<', (size_t)(text->end - text->at));
    at = at ? at : text->end;
    *out_content = (sn_word){text->at, (size_t)(at - text->at)};
    go_to(text, at);
}

static sn_word take_name(sn_text *text) {
    const char *at = text->at;
    while (at < text->end && !is_space(*at) && !strchr("/>='\"<", *at))
        at++;
    sn_word name = {text->at, (size_t)(at - text->at)};
    text->at = at;
    return name;
}

static sn_status take_attribute(sn_xml *xml) {
    sn_text *text = xml->text;
    if (xml->attribute_count == SN_XML_ATTRIBUTES)
        return sn_text_fail(text, "found more than %d attributes in a tag", SN_XML_ATTRIBUTES);
    sn_word name = take_name(text);
    skip_space(text);
    bool equal = name.size > 0 && text->at < text->end && *text->at == '=';
    text->at += equal;
    skip_space(text);
    char quote = *text->at;
    if (!equal || (quote != '"' && quote != '\''))
        return sn_text_expected(text, "an attribute such as name=\"value\" or the end of the tag \"%.*s\"",
                                (int)(xml->name.size < 32 ? xml->name.size : 32), xml->name.at);
    text->at++;
    const char *end = memchr(text->at, quote, (size_t)(text->end - text->at));
    if (!end)
        return sn_text_fail(text, "found the end of the file, expected the end of a value in quotes");
    xml->attribute[xml->attribute_count].name = name;
    xml->attribute[xml->attribute_count++].value = (sn_word){text->at, (size_t)(end - text->at)};
    go_to(text, end + 1);
    return SN_OK;
}

static sn_status open_tag(sn_xml *xml) {
    sn_text *text = xml->text;
    xml->kind = SN_XML_OPEN;
    xml->name = take_name(text);
    if (xml->name.size == 0)
        return sn_text_expected(text, "the name of a tag");
    for (skip_space(text); text->at < text->end && *text->at != '>' && *text->at != '/'; skip_space(text)) {
        sn_status status = take_attribute(xml);
        if (status < 0)
            return status;
    }
    xml->empty = xml->pending_close = text->at < text->end && *text->at == '/';
    text->at += xml->empty;
    if (text->at >= text->end || *text->at != '>')
        return sn_text_expected(text, "the end of the tag \"%.*s\"",
                                (int)(xml->name.size < 32 ? xml->name.size : 32), xml->name.at);
    text->at++;
    if (xml->depth == SN_XML_DEPTH)
        return sn_text_fail(text, "found more than %d elements inside one another", SN_XML_DEPTH);
    xml->path[xml->depth++] = xml->name;
    return SN_OK;
}

static sn_status close_tag(sn_xml *xml) {
    sn_text *text = xml->text;
    text->at++;
    xml->kind = SN_XML_CLOSE;
    xml->name = take_name(text);
    skip_space(text);
    sn_word open = xml->depth > 0 ? xml->path[xml->depth - 1] : (sn_word){"", 0};
    if (text->at >= text->end || *text->at != '>' || xml->name.size != open.size || open.size == 0 ||
        memcmp(xml->name.at, open.at, open.size) != 0)
        return sn_text_fail(text, "found the end of \"%.*s\", expected that of \"%.*s\"",
                            (int)(xml->name.size < 32 ? xml->name.size : 32), xml->name.at,
                            (int)(open.size < 32 ? open.size : 32), open.at);
    text->at++;
    xml->depth--;
    return SN_OK;
}

sn_status sn_xml_next(sn_xml *xml) {
    sn_text *text = xml->text;
    sn_status status = SN_OK;
    sn_word content;
    xml->attribute_count = 0;
    if (xml->pending_close) {
        xml->pending_close = xml->empty = false;
        xml->kind = SN_XML_CLOSE;
        xml->depth--;
        return SN_OK;
    }
    while (status == SN_OK) {
        sn_xml_content(xml, &content);
        if (text->at >= text->end) {
            xml->kind = SN_XML_END_OF_FILE;
            return SN_OK;
        }
        if (starts(text, "<!--")) {
            status = go_behind(text, "-->");
        } else if (starts(text, "<?")) {
            status = go_behind(text, "?>");
        } else if (starts(text, "<!")) {
            return sn_text_fail(text, "found \"<!\", expected no document type or character data");
        } else {
            text->at++;
            return text->at < text->end && *text->at == '/' ? close_tag(xml) : open_tag(xml);
        }
    }
    return status;
}

sn_word sn_xml_value(const sn_xml *xml, const char *name) {
    for (int32_t i = 0; i < xml->attribute_count; i++)
        if (sn_word_is(xml->attribute[i].name, name))
            return xml->attribute[i].value;
    return (sn_word){"", 0};
}
