/// The tags of an XML file, one after another: as much of XML as mesh files use. Elements must be closed in
/// order; document types, which could define entities, are refused.
#ifndef SN_IO_MESH_XML_H
#define SN_IO_MESH_XML_H

#include "io/io_text.h"

enum { SN_XML_ATTRIBUTES = 24, SN_XML_DEPTH = 16 };

typedef enum sn_xml_kind { SN_XML_END_OF_FILE = 0, SN_XML_OPEN, SN_XML_CLOSE } sn_xml_kind;

typedef struct sn_xml {
    sn_text *text;
    int32_t depth;
    sn_word path[SN_XML_DEPTH]; ///< Names of the open elements; after SN_XML_OPEN the new one is last.
    sn_xml_kind kind;           ///< Of the last tag.
    sn_word name;
    bool empty; ///< The tag closes itself: SN_XML_CLOSE follows without a tag of its own.
    bool pending_close;
    int32_t attribute_count;
    struct {
        sn_word name, value;
    } attribute[SN_XML_ATTRIBUTES];
} sn_xml;

/// Goes to the next tag, over text, comments and processing instructions.
SN_NODISCARD sn_status sn_xml_next(sn_xml *xml);
/// Value of an attribute of the tag; size 0 if it has none.
sn_word sn_xml_value(const sn_xml *xml, const char *name);
/// Puts the cursor to the next '<' or the end of the file; what stands before is *out_content.
void sn_xml_content(sn_xml *xml, sn_word *out_content);

#endif
