/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The domain XML: whole documents byte by byte, against libvirt's schema, and with hostile strings.
 * NOHZLAB_GOLDEN=write writes the documents anew, to be read before they are committed. */
#include "host/domain.h"

#include <glib/gstdio.h>
#include <libxml/parser.h>
#include <libxml/relaxng.h>
#include <libxml/xpath.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"

#define GOLDEN "host/golden/"
#define SCHEMA "/usr/share/libvirt/schemas/domain.rng"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlDoc, xmlFreeDoc)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlXPathContext, xmlXPathFreeContext)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlXPathObject, xmlXPathFreeObject)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlRelaxNG, xmlRelaxNGFree)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlRelaxNGParserCtxt, xmlRelaxNGFreeParserCtxt)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlRelaxNGValidCtxt, xmlRelaxNGFreeValidCtxt)

typedef struct {
    const char *golden;
    gboolean kvm, icount;
    unsigned int vcpus;
    const char *pins[4]; /* one list a vCPU; all NULL: not pinned */
    const char *emulator_pin;
} Case;

static const Case cases[] = {
    {"bare-wall.xml", FALSE, FALSE, 1, {NULL}, NULL},
    {"bare-icount-smp.xml", FALSE, TRUE, 4, {NULL}, NULL},
    {"pinned.xml", FALSE, FALSE, 3, {"2", "3", "8-9,11"}, "0-1"},
    {"kvm.xml", TRUE, FALSE, 2, {"1", "2"}, NULL},
};

static HostCpuset *
list(const char *text)
{
    HostCpuset *set = host_cpulist_parse(text, HOST_CPULIST_TOOL, 0, NULL, NULL);
    g_assert_nonnull(set);
    return set;
}

static HostDomainSpec
base_spec(void)
{
    return (HostDomainSpec){
        .name = "nohzlab-0123abcd-0",
        .emulator = "/usr/bin/qemu-system-x86_64",
        .kernel = "/run/nohzlab/s-0123abcd/vmlinuz",
        .initrd = "/run/nohzlab/s-0123abcd/initramfs",
        .cmdline = "console=ttyS0 loglevel=6 panic=-1",
        .memory_mib = 256,
        .vcpus = 1,
        .job_path = "/run/nohzlab/s-0123abcd/g/job",
        .console_path = "/run/nohzlab/s-0123abcd/g/console",
        .report_path = "/run/nohzlab/s-0123abcd/g/report",
    };
}

static char *
case_xml(const Case *c)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func((GDestroyNotify)hwloc_bitmap_free);
    g_autoptr(HostCpuset) emulator = c->emulator_pin ? list(c->emulator_pin) : NULL;
    HostDomainSpec s = base_spec();

    for (unsigned int i = 0; i < c->vcpus && c->pins[i]; i++)
        g_ptr_array_add(sets, list(c->pins[i]));
    s.kvm = c->kvm;
    s.icount = c->icount;
    s.seed = G_MAXUINT64 - 1;
    s.vcpus = c->vcpus;
    s.vcpu_pins = sets->len ? (const HostCpuset *const *)sets->pdata : NULL;
    s.emulator_pin = emulator;
    char *xml = host_domain_xml(&s, &error);
    g_assert_no_error(error);
    return xml;
}

/* Shows what differs, line by line. */
static void
show_difference(const char *golden, const char *have)
{
    g_autofree char *path = g_strdup_printf("%s/domain-XXXXXX", g_get_tmp_dir());
    g_autofree char *diff = NULL;
    int fd = g_mkstemp(path);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    g_assert_true(g_file_set_contents(path, have, -1, NULL));
    const char *argv[] = {"diff", "-u", golden, path, NULL};
    g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &diff, NULL, NULL,
                 NULL);
    unlink(path);
    g_auto(GStrv) lines = g_strsplit(diff ? diff : "diff could not be run", "\n", -1);
    for (char **line = lines; *line; line++)
        g_test_message("%s", *line);
}

static void
test_golden(gconstpointer data)
{
    const Case *c = data;
    g_autofree char *path = g_strconcat(GOLDEN, c->golden, NULL);
    g_autofree char *have = case_xml(c);
    g_autofree char *golden = NULL;
    g_autoptr(GError) error = NULL;

    if (!g_strcmp0(g_getenv("NOHZLAB_GOLDEN"), "write"))
        g_file_set_contents(path, have, -1, &error);
    g_assert_no_error(error);
    g_file_get_contents(path, &golden, NULL, &error);
    g_assert_no_error(error);
    if (strcmp(golden, have) != 0) {
        g_test_message("the XML is not %s:", path);
        show_difference(path, have);
        g_test_fail();
    }
    g_autofree char *again = case_xml(c);
    g_assert_cmpstr(again, ==, have);
}

static void
ignore_xml_error(void *data G_GNUC_UNUSED, const char *format G_GNUC_UNUSED, ...)
{
}

/* Adds to a GString. */
static G_GNUC_PRINTF(2, 3) void keep_xml_error(void *data, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_string_append_vprintf(data, format, args);
    va_end(args);
}

static void
test_schema(void)
{
    if (!g_file_test(SCHEMA, G_FILE_TEST_EXISTS)) {
        g_test_skip(SCHEMA " is not installed (package libvirt0 or libvirt-common)");
        return;
    }
    g_autoptr(xmlRelaxNGParserCtxt) parser = xmlRelaxNGNewParserCtxt(SCHEMA);
    xmlRelaxNGSetParserErrors(parser, ignore_xml_error, ignore_xml_error, NULL);
    g_autoptr(xmlRelaxNG) schema = xmlRelaxNGParse(parser);
    if (!schema) {
        g_test_skip("libxml2 can't read " SCHEMA);
        return;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) said = g_string_new(NULL);
        g_autofree char *xml = case_xml(&cases[i]);
        g_autoptr(xmlDoc) doc = xmlReadMemory(xml, strlen(xml), NULL, NULL, XML_PARSE_NOERROR);
        g_autoptr(xmlRelaxNGValidCtxt) valid = xmlRelaxNGNewValidCtxt(schema);
        xmlRelaxNGSetValidErrors(valid, keep_xml_error, ignore_xml_error, said);
        g_assert_nonnull(doc);
        if (xmlRelaxNGValidateDoc(valid, doc) != 0) {
            g_test_message("%s is not valid: %s", cases[i].golden, said->str);
            g_test_fail();
        }
    }
}

/* The schema must refuse something, or it would prove nothing. */
static void
test_schema_refuses(void)
{
    static const char wrong[] = "<domain type='qemu'><name>x</name><memory>big</memory></domain>";
    g_autoptr(xmlRelaxNGParserCtxt) parser = xmlRelaxNGNewParserCtxt(SCHEMA);
    xmlRelaxNGSetParserErrors(parser, ignore_xml_error, ignore_xml_error, NULL);
    g_autoptr(xmlRelaxNG) schema = xmlRelaxNGParse(parser);

    if (!schema) {
        g_test_skip(SCHEMA " is not installed, or libxml2 can't read it");
        return;
    }
    g_autoptr(xmlDoc) doc = xmlReadMemory(wrong, strlen(wrong), NULL, NULL, 0);
    g_autoptr(xmlRelaxNGValidCtxt) valid = xmlRelaxNGNewValidCtxt(schema);
    xmlRelaxNGSetValidErrors(valid, ignore_xml_error, ignore_xml_error, NULL);
    g_assert_cmpint(xmlRelaxNGValidateDoc(valid, doc), !=, 0);
}

/* What a parser reads at PATH; g_free. */
static char *
read_back(const char *xml, const char *path)
{
    g_autoptr(xmlDoc) doc =
        xmlReadMemory(xml, strlen(xml), NULL, NULL, XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    g_assert_nonnull(doc);
    g_autoptr(xmlXPathContext) context = xmlXPathNewContext(doc);
    g_autoptr(xmlXPathObject) found = xmlXPathEvalExpression(BAD_CAST path, context);
    g_assert_nonnull(found);
    xmlChar *text = xmlXPathCastToString(found);
    char *copy = g_strdup((const char *)text);
    xmlFree(text);
    return copy;
}

/* Strings reach the other side as they are, and add no element. */
static void
test_escaping(void)
{
    static const char *const hostile[] = {
        "a=\"b c\" d='<e>' & ]]> &amp; %s",
        "</cmdline></os><devices><hostdev mode='subsystem'/></devices><os><cmdline>",
        "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\xa7",
        "'/><qemu:arg value='-enable-kvm'/><x y='",
        "a\tb  c ",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(hostile); i++) {
        HostDomainSpec s = base_spec();
        s.name = s.emulator = s.kernel = s.initrd = s.cmdline = hostile[i];
        s.job_path = s.console_path = s.report_path = hostile[i];
        g_autofree char *xml = host_domain_xml(&s, NULL);
        static const char *const places[] = {
            "/domain/name",
            "/domain/os/kernel",
            "/domain/os/initrd",
            "/domain/os/cmdline",
            "/domain/devices/emulator",
            "/domain/sysinfo/entry/@file",
            "/domain/devices/serial/source/@path",
            "/domain/devices/channel/source/@path",
        };
        for (gsize k = 0; k < G_N_ELEMENTS(places); k++) {
            g_autofree char *text = read_back(xml, places[k]);
            g_assert_cmpstr(text, ==, hostile[i]);
        }
        g_autofree char *elements = read_back(xml, "string(count(//*))");
        g_autofree char *plain = case_xml(&cases[0]);
        g_autofree char *expected = read_back(plain, "string(count(//*))");
        g_assert_cmpstr(elements, ==, expected);
    }
}

static void
check_refused(const HostDomainSpec *s, const char *words)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *xml = host_domain_xml(s, &error);

    g_assert_null(xml);
    g_assert_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, words));
}

static void
test_refused(void)
{
    HostDomainSpec s = base_spec();

    s.icount = s.kvm = TRUE;
    check_refused(&s, "icount");
    s = base_spec();
    s.vcpus = 0;
    check_refused(&s, "vCPU");
    /* XML 1.0 has no way to write these: better no document than one that means something else. */
    s = base_spec();
    s.cmdline = "quiet \x01";
    check_refused(&s, "command line");
    s.cmdline = "caf\xe9";
    check_refused(&s, "command line");
    s = base_spec();
    s.kernel = "/boot/vm\x1blinuz";
    check_refused(&s, "kernel");
    s = base_spec();
    s.report_path = "/run/\xff";
    check_refused(&s, "report");
}

/* Icount's settings come as a whole, or not at all. */
/* A flat guest is a kernel by itself. */
static void
test_no_initrd(void)
{
    HostDomainSpec s = base_spec();
    g_autofree char *with = host_domain_xml(&s, NULL);
    s.initrd = NULL;
    g_autofree char *without = host_domain_xml(&s, NULL);

    g_assert_nonnull(strstr(with, "<initrd>"));
    g_assert_nonnull(without);
    g_assert_null(strstr(without, "initrd"));
}

static void
test_icount(void)
{
    HostDomainSpec s = base_spec();
    g_autofree char *wall = host_domain_xml(&s, NULL);
    g_assert_null(strstr(wall, "-icount"));
    g_assert_null(strstr(wall, "absolute"));
    s.icount = TRUE;
    s.seed = 7;
    g_autofree char *icount = host_domain_xml(&s, NULL);
    g_autofree char *args = read_back(
        icount, "concat(//*[local-name()='arg'][1]/@value, ' ', //*[local-name()='arg'][2]/@value, "
                "' ', //*[local-name()='arg'][3]/@value, ' ', //*[local-name()='arg'][4]/@value)");
    g_assert_cmpstr(args, ==, "-icount shift=0,sleep=off -seed 7");
    g_assert_null(strstr(icount, "-plugin"));
    s.plugin = "/run/x/hot.so";
    g_autofree char *plugged = host_domain_xml(&s, NULL);
    g_autofree char *plugin = read_back(
        plugged,
        "concat(//*[local-name()='arg'][5]/@value, ' ', //*[local-name()='arg'][6]/@value)");
    g_assert_cmpstr(plugin, ==, "-plugin /run/x/hot.so");
    s.plugin = NULL;
    g_autofree char *start = read_back(icount, "/domain/clock/@start");
    g_assert_cmpstr(start, ==, "1767225600");

    /* All vCPUs run in one thread then, which the emulator's pin holds: it comes without others. */
    g_autoptr(HostCpuset) emulator = list("0");
    s.emulator_pin = emulator;
    g_autofree char *pinned = host_domain_xml(&s, NULL);
    g_autofree char *cpuset = read_back(pinned, "/domain/cputune/emulatorpin/@cpuset");
    g_assert_cmpstr(cpuset, ==, "0");
    g_autofree char *vcpu_pins = read_back(pinned, "string(count(/domain/cputune/vcpupin))");
    g_assert_cmpstr(vcpu_pins, ==, "0");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strconcat("/domain/golden/", cases[i].golden, NULL);
        g_test_add_data_func(path, &cases[i], test_golden);
    }
    g_test_add_func("/domain/schema", test_schema);
    g_test_add_func("/domain/schema-refuses", test_schema_refuses);
    g_test_add_func("/domain/escaping", test_escaping);
    g_test_add_func("/domain/refused", test_refused);
    g_test_add_func("/domain/icount", test_icount);
    g_test_add_func("/domain/no-initrd", test_no_initrd);
    return g_test_run();
}
