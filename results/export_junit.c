/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <libxml/xmlwriter.h>

#include "results/escape.h"
#include "results/export.h"
#include "results/export_points.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlTextWriter, xmlFreeTextWriter)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlBuffer, xmlBufferFree)

static const xmlChar *
X(const char *text)
{
    return (const xmlChar *)text;
}

static void
attribute(xmlTextWriter *w, const char *name, const char *value)
{
    g_autofree char *plain = res_printable(value);
    xmlTextWriterWriteAttribute(w, X(name), X(plain));
}

static void
count(xmlTextWriter *w, const char *name, guint value)
{
    xmlTextWriterWriteFormatAttribute(w, X(name), "%u", value);
}

static void
seconds(xmlTextWriter *w, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    xmlTextWriterWriteAttribute(w, X("time"), X(g_ascii_formatd(text, sizeof text, "%.3f", value)));
}

static void
property(xmlTextWriter *w, const char *name, const char *value)
{
    xmlTextWriterStartElement(w, X("property"));
    attribute(w, "name", name);
    attribute(w, "value", value);
    xmlTextWriterEndElement(w);
}

static void
properties(xmlTextWriter *w, const ResPage *p)
{
    const ResRecord *first = res_page_first(p);
    xmlTextWriterStartElement(w, X("properties"));
    property(w, "set", first->set);
    property(w, "platform", first->platform);
    property(w, "clock", first->clock);
    property(w, "fidelity", res_fidelity_name(first->fidelity));
    property(w, "kernel.release", g_hash_table_lookup(first->environment, "kernel.release"));
    property(w, "verdict", p->sentence);
    xmlTextWriterEndElement(w);
}

static void
write_point(xmlTextWriter *w, const ResPointSuite *s, const ResPoint *point)
{
    static const char *const elements[] = {
        [RES_POINT_FAILED] = "failure",
        [RES_POINT_ERROR] = "error",
        [RES_POINT_SKIPPED] = "skipped",
    };
    xmlTextWriterStartElement(w, X("testcase"));
    attribute(w, "name", point->name);
    attribute(w, "classname", s->name);
    seconds(w, point->seconds);
    if (point->state != RES_POINT_OK) {
        xmlTextWriterStartElement(w, X(elements[point->state]));
        attribute(w, "message", point->message);
        if (point->state != RES_POINT_SKIPPED) {
            attribute(w, "type", point->type);
        }
        xmlTextWriterEndElement(w);
    } else if (point->message[0] != '\0') {
        g_autofree char *plain = res_printable(point->message);
        xmlTextWriterWriteElement(w, X("system-out"), X(plain));
    }
    xmlTextWriterEndElement(w);
}

static void
write_suite(xmlTextWriter *w, const ResPage *p, const ResPointSuite *s)
{
    gint64 started_us, ended_us;
    res_page_span(p, &started_us, &ended_us);
    g_autofree char *when = res_utc(started_us);
    xmlTextWriterStartElement(w, X("testsuite"));
    attribute(w, "name", s->name);
    count(w, "tests", s->points->len);
    count(w, "failures", s->count[RES_POINT_FAILED]);
    count(w, "errors", s->count[RES_POINT_ERROR]);
    count(w, "skipped", s->count[RES_POINT_SKIPPED]);
    seconds(w, s->seconds);
    if (g_str_has_suffix(when, "Z")) {
        when[strlen(when) - 1] = '\0'; /* its readers take UTC for granted and no zone */
        attribute(w, "timestamp", when);
    }
    properties(w, p);
    for (guint i = 0; i < s->points->len; i++) {
        write_point(w, s, g_ptr_array_index(s->points, i));
    }
    xmlTextWriterEndElement(w);
}

char *
res_export_junit(const ResPage *p)
{
    g_autoptr(GPtrArray) suites = res_points_new(p);
    g_autoptr(xmlBuffer) buffer = xmlBufferCreate();
    g_autoptr(xmlTextWriter) w = xmlNewTextWriterMemory(buffer, 0);
    guint sum[RES_POINT_SKIPPED + 1] = {0}, tests = 0;
    double time = 0;

    for (guint i = 0; i < suites->len; i++) {
        const ResPointSuite *s = g_ptr_array_index(suites, i);
        for (gsize k = 0; k < G_N_ELEMENTS(sum); k++) {
            sum[k] += s->count[k];
        }
        tests += s->points->len;
        time += s->seconds;
    }
    xmlTextWriterSetIndent(w, 1);
    xmlTextWriterStartDocument(w, NULL, "UTF-8", NULL);
    xmlTextWriterStartElement(w, X("testsuites"));
    attribute(w, "name", "nohzlab");
    count(w, "tests", tests);
    count(w, "failures", sum[RES_POINT_FAILED]);
    count(w, "errors", sum[RES_POINT_ERROR]);
    count(w, "skipped", sum[RES_POINT_SKIPPED]);
    seconds(w, time);
    for (guint i = 0; i < suites->len; i++) {
        write_suite(w, p, g_ptr_array_index(suites, i));
    }
    xmlTextWriterEndElement(w);
    xmlTextWriterEndDocument(w);
    xmlTextWriterFlush(w);
    return g_strdup((const char *)xmlBufferContent(buffer));
}
