/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/xml.h"

#include <stdarg.h>

void
host_xml_open(xmlTextWriter *w, const char *name)
{
    xmlTextWriterStartElement(w, BAD_CAST name);
}

void
host_xml_close(xmlTextWriter *w)
{
    xmlTextWriterEndElement(w);
}

void
host_xml_attribute(xmlTextWriter *w, const char *name, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    xmlTextWriterWriteVFormatAttribute(w, BAD_CAST name, format, args);
    va_end(args);
}

void
host_xml_text(xmlTextWriter *w, const char *name, const char *text)
{
    xmlTextWriterWriteElement(w, BAD_CAST name, BAD_CAST text);
}

void
host_xml_empty(xmlTextWriter *w, const char *name, ...)
{
    va_list args;
    const char *attribute;

    host_xml_open(w, name);
    va_start(args, name);
    while ((attribute = va_arg(args, const char *)))
        xmlTextWriterWriteAttribute(w, BAD_CAST attribute, BAD_CAST va_arg(args, const char *));
    va_end(args);
    host_xml_close(w);
}
