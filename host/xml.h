/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * libvirt's XML by libxml2's writer. It goes to memory, where it only fails when memory runs out;
 * then GLib has aborted before us, so nothing here returns an error.
 */
#include <glib.h>
#include <libxml/xmlwriter.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlTextWriter, xmlFreeTextWriter)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlBuffer, xmlBufferFree)

#define HOST_XML_QEMU_NS "http://libvirt.org/schemas/domain/qemu/1.0"

void host_xml_open(xmlTextWriter *w, const char *name);
void host_xml_close(xmlTextWriter *w);
void host_xml_attribute(xmlTextWriter *w, const char *name, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/* <NAME>TEXT</NAME> */
void host_xml_text(xmlTextWriter *w, const char *name, const char *text);
/* <NAME ATTRIBUTE='VALUE' .../>; pairs of strings, ended by NULL. */
void host_xml_empty(xmlTextWriter *w, const char *name, ...) G_GNUC_NULL_TERMINATED;
