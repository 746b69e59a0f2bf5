/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exports against host/test_export.golden/, which was read against the documentation of the
 * programs that take them; NOHZLAB_GOLDEN=write writes it anew.
 */
#include "host/export.h"

#include <libxml/parser.h>
#include <libxml/relaxng.h>
#include <string.h>

#include "host/rules.h"

#define SCHEMA "/usr/share/libvirt/schemas/domain.rng"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlDoc, xmlFreeDoc)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlRelaxNGParserCtxt, xmlRelaxNGFreeParserCtxt)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlRelaxNG, xmlRelaxNGFree)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlRelaxNGValidCtxt, xmlRelaxNGFreeValidCtxt)

/* Two nodes, siblings, huge pages, SCHED_FIFO: every element there is. */
static HostPlan *
full_plan(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(HostTopology) t = host_topology_synthetic("numa:2 core:4 pu:2", &error);
    g_assert_no_error(error);
    const HostWish wish = {
        .housekeeping = "0-1,8-9",
        .isolated = "2-7,10-N",
        .vcpus = 4,
        .share_cores = TRUE,
        .fifo_priority = 1,
        .memory_mib = 4096,
        .tsc = HOST_TSC_NOWATCHDOG,
    };
    HostPlan *p = host_plan_new(t, NULL, &wish, &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) findings = host_rules_check(p, t);
    g_assert_false(host_rules_refuse(findings));
    return p;
}

/* One vCPU, nothing asked for. */
static HostPlan *
small_plan(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(HostTopology) t = host_topology_synthetic("core:2 pu:1", &error);
    HostPlan *p = host_plan_new(t, NULL, &(HostWish){.isolated = "1"}, &error);
    g_assert_no_error(error);
    return p;
}

static void
compare(const HostPlan *p, const char *prefix)
{
    for (guint i = 0; i < HOST_EXPORTS; i++) {
        g_autofree char *name = g_strdup_printf("%s.%s", prefix, host_export_name((HostExport)i));
        g_autofree char *path = g_build_filename("host", "test_export.golden", name, NULL);
        g_autofree char *text = host_export(p, (HostExport)i);
        g_autofree char *want = NULL;
        g_autoptr(GError) error = NULL;

        if (g_strcmp0(g_getenv("NOHZLAB_GOLDEN"), "write") == 0)
            g_file_set_contents(path, text, -1, &error);
        g_assert_no_error(error);
        g_file_get_contents(path, &want, NULL, &error);
        g_assert_no_error(error);
        g_test_message("%s", path);
        g_assert_cmpstr(text, ==, want);
    }
}

static void
test_golden(void)
{
    g_autoptr(HostPlan) full = full_plan();
    g_autoptr(HostPlan) small = small_plan();

    compare(full, "full");
    compare(small, "small");
}

static void
quiet(void *data, const char *format, ...)
{
    (void)data;
    (void)format;
}

/* The schema is of whole domains: what a plan leaves open is added. */
static void
complete(xmlDoc *doc, gboolean memory)
{
    xmlNode *root = xmlDocGetRootElement(doc);
    xmlNode *os = xmlNewChild(root, NULL, BAD_CAST "os", NULL);

    xmlNewChild(root, NULL, BAD_CAST "name", BAD_CAST "guest");
    if (!memory)
        xmlNewChild(root, NULL, BAD_CAST "memory", BAD_CAST "1048576");
    xmlNewChild(os, NULL, BAD_CAST "type", BAD_CAST "hvm");
}

static void
validate(const HostPlan *p)
{
    g_autofree char *xml = host_export(p, HOST_EXPORT_LIBVIRT);
    g_autoptr(xmlDoc) doc =
        xmlReadMemory(xml, (int)strlen(xml), "domain.xml", NULL, XML_PARSE_NONET);
    g_autoptr(xmlRelaxNGParserCtxt) parser = xmlRelaxNGNewParserCtxt(SCHEMA);

    g_assert_nonnull(doc);
    complete(doc, p->memory_mib > 0);
    g_autoptr(xmlRelaxNG) schema = xmlRelaxNGParse(parser);
    g_assert_nonnull(schema);
    g_autoptr(xmlRelaxNGValidCtxt) valid = xmlRelaxNGNewValidCtxt(schema);
    g_assert_cmpint(xmlRelaxNGValidateDoc(valid, doc), ==, 0);
    /* It does tell right from wrong. */
    xmlNewChild(xmlDocGetRootElement(doc), NULL, BAD_CAST "vcpupin", NULL);
    xmlRelaxNGSetValidErrors(valid, quiet, quiet, NULL);
    g_assert_cmpint(xmlRelaxNGValidateDoc(valid, doc), !=, 0);
}

static void
test_schema(void)
{
    if (!g_file_test(SCHEMA, G_FILE_TEST_EXISTS)) {
        g_test_skip("libvirt's schemas are not installed (" SCHEMA ")");
        return;
    }
    g_autoptr(HostPlan) full = full_plan();
    g_autoptr(HostPlan) small = small_plan();
    validate(full);
    validate(small);
}

/* tuned's own base profile sets what must not be left so, and sets nohz_full= itself. */
static void
test_tuned(void)
{
    g_autoptr(HostPlan) p = full_plan();
    g_autofree char *text = host_export(p, HOST_EXPORT_TUNED);
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autoptr(GError) error = NULL;

    g_key_file_load_from_data(file, text, (gsize)-1, G_KEY_FILE_NONE, &error);
    g_assert_no_error(error);
    g_autofree char *migration =
        g_key_file_get_string(file, "sysctl", "kernel.timer_migration", NULL);
    g_autofree char *line = g_key_file_get_string(file, "bootloader", "cmdline_nohzlab", NULL);
    g_assert_cmpstr(migration, ==, "1");
    g_assert_true(g_str_has_prefix(line, "+isolcpus="));
    g_assert_null(strstr(line, "nohz_full"));
}

static void
test_names(void)
{
    HostExport what;

    for (guint i = 0; i < HOST_EXPORTS; i++) {
        g_assert_true(host_export_from_name(host_export_name((HostExport)i), &what));
        g_assert_cmpint(what, ==, (HostExport)i);
    }
    g_assert_false(host_export_from_name("", &what));
    g_assert_false(host_export_from_name("grub", &what));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/export/golden", test_golden);
    g_test_add_func("/export/schema", test_schema);
    g_test_add_func("/export/tuned", test_tuned);
    g_test_add_func("/export/names", test_names);
    return g_test_run();
}
