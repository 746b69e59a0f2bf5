/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * summary.xml of rteval 2 and 3 (rteval/modules/measurement/{cyclictest,timerlat}.py, MakeReport):
 *
 *   rteval [version]
 *     SystemInfo/uname/{kernel [is_RT], node, arch}, SystemInfo/Kernel/ClockSource/source [current]
 *     Measurements[/Profile]/(cyclictest|timerlat) [command_line]
 *       abort_report [reason]; stoptrace_invoked [invoked]
 *       (system|core [id] [priority])
 *         statistics/(samples|minimum|maximum|mean ...) [unit]
 *         histogram/bucket [index] [value]
 */
#include "results/rteval.h"

#include <libxml/xmlreader.h>
#include <string.h>

#include "results/cyclictest_private.h"

#define DEPTH_MAX 32
#define NAME_MAX_BYTES 64
#define TEXT_MAX 65536

typedef struct {
    ResLatency *c;
    ResSource *source;
    xmlTextReaderPtr xml;
    char names[DEPTH_MAX][NAME_MAX_BYTES];
    int depth;        /* of the element we are in */
    GString *text;    /* of the element we are in */
    const char *tool; /* of the measurement we are in; NULL: in none */
    guint first;      /* its first core */
    ResLatencyThread *core;
    guint64 cores, system_samples, core_samples, in_buckets;
    gboolean system, current_clock, statistics[3];
    gint64 unit_ns; /* of the figures; 0: none yet */
    gboolean nsecs; /* the command line says ns */
    GError *failed; /* of reading or of libxml2 */
} Rteval;

static char *
attribute(const Rteval *r, const char *name)
{
    xmlChar *value = xmlTextReaderGetAttribute(r->xml, BAD_CAST name);
    char *copy = g_strdup((const char *)value);
    xmlFree(value);
    return copy;
}

static gboolean
parent_is(const Rteval *r, int up, const char *name)
{
    return r->depth >= up && g_str_equal(r->names[r->depth - up], name);
}

static gboolean incomplete(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static gboolean
incomplete(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE, "%s", what);
}

static gboolean
open_measurement(Rteval *r, const char *name, GError **error)
{
    g_auto(ResCyclictestArgs) args = {0};
    g_autofree char *command = attribute(r, "command_line");
    if (r->tool != NULL) {
        return incomplete(error, "%s inside of %s", name, r->tool);
    }
    for (guint i = 0; i < r->c->threads->len; i++) {
        const ResLatencyThread *t = g_ptr_array_index(r->c->threads, i);
        if (g_str_equal(t->series, name)) {
            return incomplete(error, "a second measurement by %s: which one counts is not said",
                              name);
        }
    }
    r->tool = g_str_equal(name, "cyclictest") ? "cyclictest" : "timerlat";
    r->first = r->c->threads->len;
    r->core = NULL;
    r->system = FALSE;
    r->cores = r->system_samples = r->core_samples = 0;
    res_cyclictest_args_parse(&args, command != NULL ? command : "");
    r->nsecs = g_str_equal(name, "cyclictest") && args.nsecs;
    if (command != NULL) {
        g_autofree char *valid = g_utf8_make_valid(command, -1);
        char *both = r->c->cmdline[0] != '\0' ? g_strconcat(r->c->cmdline, "; ", valid, NULL)
                                              : g_strdup(valid);
        g_free(r->c->cmdline);
        r->c->cmdline = both;
    }
    return TRUE;
}

static gboolean
open_core(Rteval *r, GError **error)
{
    g_autofree char *id = attribute(r, "id"), *priority = attribute(r, "priority");
    gint64 cpu = -1, number = -1;
    if (r->c->threads->len == RES_LATENCY_THREADS_MAX) {
        return incomplete(error, "more than %d cores", RES_LATENCY_THREADS_MAX);
    }
    if (id == NULL || !res_latency_number(id, &cpu) || cpu < 0 || cpu > G_MAXINT) {
        return incomplete(error, "a core without its number");
    }
    r->core = res_latency_add_thread(r->c, r->tool);
    r->core->cpu = (int)cpu;
    if (priority != NULL && res_latency_number(priority, &number) && number >= 0 &&
        number <= G_MAXINT) {
        r->core->priority = (int)number;
    }
    r->cores++;
    r->in_buckets = 0;
    memset(r->statistics, 0, sizeof r->statistics);
    return TRUE;
}

static gboolean
read_bucket(Rteval *r, GError **error)
{
    g_autofree char *index = attribute(r, "index"), *value = attribute(r, "value");
    gint64 latency = 0, count = 0;
    guint n = r->core->buckets->len;
    if (index == NULL || value == NULL || !res_latency_number(index, &latency) ||
        !res_latency_number(value, &count) || count < 0 ||
        (guint64)count > G_MAXINT64 - r->in_buckets) {
        return incomplete(error, "a bucket without index and value");
    }
    if (n > 0 && g_array_index(r->core->buckets, ResLatencyBucket, n - 1).latency_ns >= latency) {
        return incomplete(error, "the histogram's buckets are not in order");
    }
    r->in_buckets += (guint64)count;
    res_latency_add_bucket(r->c, r->core, latency, (guint64)count);
    return TRUE;
}

static gboolean
check_unit(Rteval *r, GError **error)
{
    g_autofree char *unit = attribute(r, "unit");
    gint64 unit_ns = g_strcmp0(unit, "us") == 0 ? 1000 : g_strcmp0(unit, "ns") == 0 ? 1 : 0;
    if (unit_ns == 0) {
        return incomplete(error, "the unit \"%s\" is not known", unit != NULL ? unit : "");
    }
    /* rteval writes "us" whatever the tool was told */
    if (r->unit_ns != 0 && r->unit_ns != unit_ns) {
        return incomplete(error, "two units in one file");
    }
    if (r->nsecs && unit_ns != 1) {
        return incomplete(error, "its unit is \"us\", but the command line says ns: not known");
    }
    r->unit_ns = unit_ns;
    return TRUE;
}

static void
stopped(Rteval *r, const char *why)
{
    r->c->broken = TRUE;
    res_latency_note(r->c, "%s was stopped by a threshold (%s): not a clean run", r->tool, why);
}

static gboolean
open_in_measurement(Rteval *r, const char *name, GError **error)
{
    if (g_str_equal(name, "abort_report")) {
        g_autofree char *reason = attribute(r, "reason");
        stopped(r, reason != NULL ? reason : "no reason said");
    } else if (g_str_equal(name, "stoptrace_invoked")) {
        g_autofree char *invoked = attribute(r, "invoked");
        if (g_strcmp0(invoked, "true") == 0) {
            stopped(r, "stop tracing");
        }
    } else if (g_str_equal(name, "stoptrace_report")) {
        stopped(r, "stop tracing");
    } else if (g_str_equal(name, "core")) {
        return open_core(r, error);
    } else if (g_str_equal(name, "system")) {
        r->system = TRUE;
        r->core = NULL;
    } else if (g_str_equal(name, "bucket") && r->core != NULL && parent_is(r, 1, "histogram")) {
        return read_bucket(r, error);
    } else if (parent_is(r, 1, "statistics") && r->core != NULL &&
               (g_str_equal(name, "minimum") || g_str_equal(name, "maximum") ||
                g_str_equal(name, "mean"))) {
        return check_unit(r, error);
    }
    return TRUE;
}

static gboolean
on_open(Rteval *r, const char *name, GError **error)
{
    if (r->depth == 0) {
        if (!g_str_equal(name, "rteval")) {
            return res_latency_fail(error, RES_LATENCY_ERROR_FOREIGN,
                                    "XML whose root is <%.40s>, not <rteval>", name);
        }
        g_autofree char *version = attribute(r, "version");
        g_free(r->c->version);
        r->c->version = g_strdup(version != NULL ? version : "");
        return TRUE;
    }
    if ((g_str_equal(name, "cyclictest") || g_str_equal(name, "timerlat")) &&
        g_str_equal(r->names[1], "Measurements")) {
        return open_measurement(r, name, error);
    }
    if (r->tool != NULL) {
        return open_in_measurement(r, name, error);
    }
    if (g_str_equal(name, "kernel") && parent_is(r, 1, "uname")) {
        g_autofree char *realtime = attribute(r, "is_RT");
        if (realtime != NULL) {
            res_latency_env(r->c, "kernel.realtime", realtime);
        }
    } else if (g_str_equal(name, "source") && parent_is(r, 1, "ClockSource")) {
        g_autofree char *current = attribute(r, "current");
        r->current_clock = g_strcmp0(current, "1") == 0;
    }
    return TRUE;
}

static gboolean
read_statistic(Rteval *r, const char *name, GError **error)
{
    static const char *const figures[] = {"minimum", "maximum", "mean"};
    const char *text = g_strstrip(r->text->str);
    gint64 number = 0;
    char *end = NULL;
    double real = g_ascii_strtod(text, &end);
    gboolean whole = res_latency_number(text, &number), samples = g_str_equal(name, "samples");
    if (samples && (!whole || number < 0)) {
        return incomplete(error, "samples \"%.40s\" is not a count", text);
    }
    if (samples && r->core == NULL) {
        r->system_samples = (guint64)number;
    } else if (samples) {
        r->core->cycles = (guint64)number;
        r->core_samples += (guint64)number;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(figures) && r->core != NULL; i++) {
        if (!g_str_equal(name, figures[i])) {
            continue;
        }
        if (i < 2 ? !whole : end == text || *end != '\0') {
            return incomplete(error, "%s \"%.40s\" is not a number", name, text);
        }
        r->core->min_ns = i == 0 ? number : r->core->min_ns;
        r->core->max_ns = i == 1 ? number : r->core->max_ns;
        r->core->mean_ns = i == 2 ? real : r->core->mean_ns;
        r->statistics[i] = TRUE;
    }
    return TRUE;
}

static gboolean
close_measurement(Rteval *r, GError **error)
{
    if (r->cores == 0 && !r->c->broken) {
        return incomplete(error,
                          "%s: no core has figures (rteval leaves them out when the maximum is "
                          "beyond its histogram)",
                          r->tool);
    }
    if (r->system && r->cores > 0 && r->system_samples != r->core_samples) {
        return incomplete(error,
                          "%s: the cores have %" G_GUINT64_FORMAT
                          " samples, the system %" G_GUINT64_FORMAT,
                          r->tool, r->core_samples, r->system_samples);
    }
    if (g_str_equal(r->tool, "timerlat")) {
        res_latency_note(r->c, "timerlat: rteval adds IRQ, thread and user latencies up into one "
                               "histogram");
    }
    r->tool = NULL;
    return TRUE;
}

static gboolean
on_close(Rteval *r, const char *name, GError **error)
{
    static const struct {
        const char *parent, *name, *key;
    } facts[] = {{"uname", "kernel", "kernel.release"},
                 {"uname", "node", "machine.name"},
                 {"uname", "arch", "machine.arch"},
                 {"cmdlineInfo", "cmdline", "kernel.cmdline"},
                 {"clocksource", "current", "clocksource"}};
    if (r->tool == NULL) {
        for (gsize i = 0; i < G_N_ELEMENTS(facts); i++) {
            if (g_str_equal(name, facts[i].name) && parent_is(r, 1, facts[i].parent)) {
                res_latency_env(r->c, facts[i].key, r->text->str);
            }
        }
        if (g_str_equal(name, "source") && r->current_clock) {
            res_latency_env(r->c, "clocksource", r->text->str);
            r->current_clock = FALSE;
        }
        return TRUE;
    }
    if (g_str_equal(name, r->tool)) {
        return close_measurement(r, error);
    }
    if (parent_is(r, 1, "statistics")) {
        return read_statistic(r, name, error);
    }
    if (g_str_equal(name, "core") && r->core != NULL) {
        gboolean all = r->statistics[0] && r->statistics[1] && r->statistics[2];
        int cpu = r->core->cpu;
        guint64 samples = r->core->cycles;
        r->core = NULL;
        if (!all && !r->c->broken) {
            return incomplete(error, "core %d lacks figures", cpu);
        }
        return r->in_buckets == 0 || r->in_buckets == samples ||
               incomplete(error,
                          "core %d: the histogram holds %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                          " samples",
                          cpu, r->in_buckets, samples);
    }
    return TRUE;
}

static gboolean
on_node(Rteval *r, GError **error)
{
    const char *name = (const char *)xmlTextReaderConstName(r->xml);
    const char *value = (const char *)xmlTextReaderConstValue(r->xml);
    int depth = xmlTextReaderDepth(r->xml);
    switch (xmlTextReaderNodeType(r->xml)) {
    case XML_READER_TYPE_DOCUMENT_TYPE:
    case XML_READER_TYPE_ENTITY_REFERENCE:
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                "a DOCTYPE or an entity, which rteval does not write");
    case XML_READER_TYPE_ELEMENT:
        if (depth >= DEPTH_MAX) {
            return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "nests more than %d deep",
                                    DEPTH_MAX);
        }
        r->depth = depth;
        g_strlcpy(r->names[depth], name, NAME_MAX_BYTES);
        g_string_truncate(r->text, 0);
        gboolean empty = xmlTextReaderIsEmptyElement(r->xml) == 1;
        return on_open(r, r->names[depth], error) &&
               (!empty || on_close(r, r->names[depth], error));
    case XML_READER_TYPE_END_ELEMENT:
        r->depth = depth;
        return on_close(r, r->names[depth], error);
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA:
        /* a dmesg in it may be long: nobody wants it */
        if (r->text->len + strlen(value) <= TEXT_MAX) {
            g_string_append(r->text, value);
        }
        return TRUE;
    default:
        return TRUE;
    }
}

static int
read_source(void *context, char *buffer, int len)
{
    Rteval *r = context;
    return (int)res_source_read(r->source, buffer, (gsize)len, &r->failed);
}

#if LIBXML_VERSION >= 21200
typedef const xmlError *XmlError;
#else
typedef xmlErrorPtr XmlError;
#endif

static void
on_xml_error(void *context, XmlError e)
{
    Rteval *r = context;
    if (r->failed == NULL && e->level >= XML_ERR_ERROR) {
        g_autofree char *message =
            g_strchomp(g_utf8_make_valid(e->message != NULL ? e->message : "", -1));
        gboolean cut = e->code == XML_ERR_DOCUMENT_END || e->code == XML_ERR_TAG_NOT_FINISHED ||
                       e->code == XML_ERR_DOCUMENT_EMPTY;
        res_latency_fail(&r->failed, cut ? RES_LATENCY_ERROR_INCOMPLETE : RES_LATENCY_ERROR_FORMAT,
                         "line %d: %s", e->line, message);
    }
}

static gboolean
read_all(Rteval *r, GError **error)
{
    int more;
    while ((more = xmlTextReaderRead(r->xml)) == 1) {
        g_autoptr(GError) failed = NULL;
        if (!on_node(r, &failed)) {
            g_set_error(error, failed->domain, failed->code, "line %d: %s",
                        xmlTextReaderGetParserLineNumber(r->xml), failed->message);
            return FALSE;
        }
    }
    if (r->failed != NULL || more < 0) {
        if (r->failed == NULL) {
            incomplete(&r->failed, "not XML to its end");
        }
        g_propagate_error(error, g_steal_pointer(&r->failed));
        return FALSE;
    }
    if (r->c->threads->len == 0) {
        return incomplete(error, r->c->broken ? "stopped by a threshold, without figures"
                                              : "no measurement by cyclictest or timerlat");
    }
    return res_latency_check(r->c, error) &&
           (r->unit_ns == 0 || res_latency_scale(r->c, r->unit_ns, error));
}

ResLatency *
res_rteval_read(ResSource *source, GError **error)
{
    g_autoptr(ResLatency) c = res_latency_new("rteval");
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree Rteval *r = g_new0(Rteval, 1);
    r->c = c;
    r->source = source;
    r->text = text;
    r->xml = xmlReaderForIO(read_source, NULL, r, NULL, NULL, XML_PARSE_NONET);
    if (r->xml == NULL) {
        res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "libxml2 has no memory");
        return NULL;
    }
    xmlTextReaderSetStructuredErrorHandler(r->xml, on_xml_error, r);
    gboolean ok = read_all(r, error);
    xmlFreeTextReader(r->xml);
    g_clear_error(&r->failed);
    return ok ? g_steal_pointer(&c) : NULL;
}
