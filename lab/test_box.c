/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A box's machine, profile and job, and what its report makes of a record. */
#include <glib/gstdio.h>
#include <string.h>

#include "lab/box.h"
#include "lab/bundle.h"
#include "lab/files.h"
#include "lab/judge.h"

static const char profile_text[] = "[main]\nkernel = default\n"
                                   "[host]\nplatform = box\ncpus = 4\nisolated = 1-N\n"
                                   "cmdline = quiet nosmt\n"
                                   "[guest]\nvcpus = 1\npin = 2\nemulatorpin = 0\nmemory = 128M\n"
                                   "cmdline = mitigations=off\n"
                                   "[check]\nhost.min_cpus = 4\n"
                                   "[workload late]\ntype = cyclictest\ncpu = 0\nloops = 77\n"
                                   "[workload syscall-loop]\ncpu = 0\nbatches = 9\n";

typedef struct {
    LabProfile *profile;
    ImgKernel kernel;
    LabImage image;
    LabBox *box;
    ResRecord *record;
    GHashTable *files;
    char *dir;
} Fixture;

static ResRecord *
new_record(const char *id, const char *platform, ResFidelity fidelity)
{
    ResRecord *r = res_record_new();

    r->id = g_strdup(id);
    r->set = g_strdup("20261201-000000-0000");
    r->platform = g_strdup(platform);
    r->clock = g_strdup("wall");
    r->fidelity = fidelity;
    r->outcome = RES_OUTCOME_DONE;
    r->detail = g_strdup("");
    r->message = g_strdup("");
    return r;
}

static void
set_up(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    f->profile = lab_profile_parse(profile_text, -1, "box", NULL, NULL, &error);
    g_assert_no_error(error);
    f->kernel.release = (char *)"6.1.0-test";
    f->kernel.modules_dir = (char *)"/lib/modules/6.1.0-test";
    f->kernel.sha256 = (char *)"ab";
    f->image.kernel = &f->kernel;
    f->dir = g_dir_make_tmp("nohzlab-box-XXXXXX", &error);
    g_assert_no_error(error);
    f->record = new_record("20261201-000000-0001", "box", RES_FIDELITY_EVENTS);
    f->files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    f->box = lab_box_new(lab_profile_cells(f->profile)->pdata[0], &f->image, &error);
    if (!f->box)
        g_test_skip(error->message);
}

static void
tear_down(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    lab_box_free(f->box);
    res_record_free(f->record);
    g_hash_table_unref(f->files);
    lab_profile_free(f->profile);
    lab_remove_tree(f->dir);
    g_free(f->dir);
}

/* The inner profile must be one, and ask for the same on the lab host in the box. */
static void
test_profile(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    if (!f->box)
        return;
    g_autoptr(LabProfile) inner =
        lab_profile_parse(lab_box_profile(f->box), -1, "inner", NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(lab_profile_cells(inner)->len, ==, 1);
    const LabParams *p = ((const LabCell *)lab_profile_cells(inner)->pdata[0])->params;
    g_assert_cmpint(p->platform, ==, LAB_PLATFORM_METAL);
    g_assert_cmpuint(p->boots, ==, 1);
    g_assert_cmpstr(p->kernel, ==, "path:/boot/vmlinuz-6.1.0-test,modules=/lib/modules/6.1.0-test");
    g_assert_cmpstr(p->host.isolated, ==, "1-N");
    g_assert_cmpstr(p->pin, ==, "2");
    g_assert_cmpstr(p->emulatorpin, ==, "0");
    g_assert_cmpuint(p->memory_mib, ==, 128);
    g_assert_cmpstr(p->guest.cmdline, ==, "tsc=reliable mitigations=off");
    g_assert_cmpuint(p->checks->len, ==, 1);
    g_assert_cmpuint(p->workloads->len, ==, 2);
    const LabWorkload *late = p->workloads->pdata[0], *loop = p->workloads->pdata[1];
    g_assert_cmpstr(late->name, ==, "late");
    g_assert_cmpuint(late->loops, ==, 77);
    g_assert_cmpstr(loop->type, ==, "syscall-loop");
    g_assert_cmpuint(loop->batches, ==, 9);
}

static void
test_machine(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    if (!f->box)
        return;
    const LabParams *p = lab_box_params(f->box);
    const LabMachine *m = lab_box_machine(f->box);
    HostDomainSpec spec = lab_machine_domain(m, p, 0);
    lab_box_domain(f->box, &spec);

    spec.name = "box";
    spec.kernel = spec.initrd = spec.job_path = spec.console_path = spec.report_path = "/x";
    g_autofree char *xml = host_domain_xml(&spec, NULL);
    g_assert_nonnull(strstr(xml, "<domain type=\"qemu\""));
    g_assert_nonnull(strstr(xml, "<feature policy=\"require\" name=\"svm\"/>"));
    spec.kvm = TRUE;
    g_assert_null(host_domain_xml(&spec, NULL));
    spec.kvm = FALSE;
    g_assert_true(spec.svm);
    g_assert_false(spec.kvm);
    g_assert_cmpuint(spec.vcpus, ==, 4);
    g_assert_cmpuint(spec.memory_mib, >, 128 + 1024);
    g_assert_null(spec.vcpu_pins);
    g_assert_nonnull(strstr(m->cmdline, "nohz_full=1-3 "));
    g_assert_nonnull(strstr(m->cmdline, " quiet nosmt"));
    g_assert_null(strstr(m->cmdline, "mitigations=off"));
    g_assert_true(g_str_has_prefix(m->job, "nohzlab-job 1\nbarriers host\nlab-host\nstamp /"));
    g_assert_true(g_str_has_suffix(m->job, "\nend\ndone\n"));
    g_assert_cmpuint(p->workloads->len, ==, 1);
    const LabWorkload *w = p->workloads->pdata[0];
    g_autofree char *line =
        g_strdup_printf("\nworkload %s %" G_GUINT64_FORMAT "\nargv /usr/bin/nohzlab\nargv run\n",
                        w->name, w->timeout_s);
    g_assert_nonnull(strstr(m->job, line));
}

/* --- reports --- */

/* A report of the box whose nohzlab ended with STATUS and left FILE (or NULL). */
static ResReport *
box_report(int status, const char *nohz_full, const char *file)
{
    g_autoptr(GString) text = g_string_new("nohzlab-report 1\n");
    g_autoptr(GError) error = NULL;
    ResReport *report = res_report_new(NULL, NULL);
    unsigned int lines = 0;

    g_string_append_printf(
        text,
        "fact kernel.release 6.1.0-test\n"
        "fact cmdline nohz_full=1-3 isolcpus=domain,managed_irq,1-3\n"
        "fact sysfs.nohz_full %s\nfact sysfs.isolated 1-3\n"
        "fact kmsg rcu: Offload RCU callbacks from CPUs: 1-3.\n"
        "barrier ready\nbegin box\ntext run 1 of 1\n"
        "text nohzlab run: no such luck\ntext nohzlab: cannot collect /x: gone\n",
        nohz_full);
    if (file)
        g_string_append(text, "file bundle.json\n");
    for (const char *p = file; p && *p; p += MIN(strlen(p), 1000)) {
        g_autofree char *piece = g_strndup(p, 1000);
        g_autofree char *escaped = g_strdup(g_strdelimit(piece, "\n", ' '));
        g_string_append_printf(text, "%s %s\n", strlen(p) > 1000 ? "part" : "text", escaped);
    }
    g_string_append_printf(text, "done box %d\nbarrier end\n", status);
    for (const char *p = text->str; *p; p++)
        lines += *p == '\n';
    g_string_append_printf(text, "end %u\n", lines);
    res_report_feed(report, text->str, text->len, &error);
    g_assert_no_error(error);
    return report;
}

static gboolean
box_judge(Fixture *f, int status, const char *nohz_full, const char *file)
{
    g_autoptr(ResReport) report = box_report(status, nohz_full, file);

    return lab_box_judge(f->box, &f->image, f->dir, report, f->record, f->files);
}

/* The bundle of one inner run that ended as OUTCOME. */
static char *
inner_bundle(Fixture *f, ResOutcome outcome)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ResStore) store = res_store_open(f->dir, &error);
    g_assert_no_error(error);
    g_autoptr(GHashTable) files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    g_autoptr(ResRecord) inner = new_record("20261201-000000-0002", "metal", RES_FIDELITY_TIME);
    g_autoptr(GPtrArray) records = g_ptr_array_new();

    inner->outcome = outcome;
    if (outcome == RES_OUTCOME_DONE) {
        g_ptr_array_add(inner->metrics,
                        res_metric_new("late.max", "ns", RES_LOWER_IS_BETTER, RES_FIDELITY_TIME, 9,
                                       1, 9, 77, "report.txt"));
        g_ptr_array_add(inner->metrics,
                        res_metric_new("late.timer_interrupts", "count", RES_NO_DIRECTION,
                                       RES_FIDELITY_TIME, 4, 4, 4, 1, "report.txt"));
    } else {
        gboolean hung = outcome == RES_OUTCOME_GUEST;
        lab_record_fail(inner, outcome, hung ? "timeout" : "panic", "%s",
                        hung ? "it hung" : "the guest's kernel panicked");
    }
    lab_record_env(inner, "host.kernel.release", "6.1.0-test");
    lab_record_env(inner, "host.thread.3.CPU 0/KVM", "2");
    g_ptr_array_add(inner->evidence, g_strdup("report.txt"));
    g_hash_table_insert(files, g_strdup("report.txt"), g_bytes_new("a\0b\n", 4));
    res_store_put(store, inner, files, &error);
    g_assert_no_error(error);
    g_ptr_array_add(records, inner);
    char *text = lab_bundle_write(store, records, &error);
    g_assert_no_error(error);
    return text;
}

static void
test_done(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    if (!f->box)
        return;
    g_autofree char *bundle = inner_bundle(f, RES_OUTCOME_DONE);

    lab_record_env(f->record, "host.kernel.release", "9.9.9-machine");
    lab_record_env(f->record, "qemu.version", "9.9.9");
    lab_record_env(f->record, "host.thread.3.CPU 0/TCG", "0-1");
    g_assert_true(box_judge(f, 0, "1-3", bundle));
    g_assert_cmpint(f->record->outcome, ==, RES_OUTCOME_DONE);
    const ResMetric *max = res_record_metric(f->record, "late.max");
    const ResMetric *count = res_record_metric(f->record, "late.timer_interrupts");
    g_assert_cmpint(max->fidelity, ==, RES_FIDELITY_FUNCTIONAL);
    g_assert_cmpint(count->fidelity, ==, RES_FIDELITY_EVENTS);
    g_assert_cmpstr(count->evidence, ==, "box-report.txt");
    GBytes *report = g_hash_table_lookup(f->files, "box-report.txt");
    g_assert_cmpmem(g_bytes_get_data(report, NULL), g_bytes_get_size(report), "a\0b\n", 4);
    GHashTable *env = f->record->environment;
    g_assert_cmpstr(g_hash_table_lookup(env, "host.kernel.release"), ==, "6.1.0-test");
    g_assert_cmpstr(g_hash_table_lookup(env, "machine.kernel.release"), ==, "9.9.9-machine");
    g_assert_cmpstr(g_hash_table_lookup(env, "box.qemu.version"), ==, "9.9.9");
    g_assert_cmpstr(g_hash_table_lookup(env, "host.thread.3.CPU 0/KVM"), ==, "2");
    g_assert_cmpstr(g_hash_table_lookup(env, "box.thread.3.CPU 0/TCG"), ==, "0-1");
    g_assert_null(g_hash_table_lookup(env, "host.thread.3.CPU 0/TCG"));
    g_assert_cmpstr(g_hash_table_lookup(env, "box.sysfs.nohz_full"), ==, "1-3");
}

static void
assert_failed(const Fixture *f, ResOutcome outcome, const char *detail, const char *message)
{
    g_assert_cmpint(f->record->outcome, ==, outcome);
    g_assert_cmpstr(f->record->detail, ==, detail);
    if (!strstr(f->record->message, message))
        g_error("\"%s\" does not say \"%s\"", f->record->message, message);
    g_assert_cmpuint(f->record->metrics->len, ==, 0);
}

/* The inner guest's failure is the run's, and is not taken for the box's afterwards. */
static void
test_inner_failure(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    if (!f->box)
        return;
    g_autofree char *bundle = inner_bundle(f, RES_OUTCOME_BOOT);

    g_assert_false(box_judge(f, 1, "1-3", bundle));
    lab_box_blame(f->record);
    assert_failed(f, RES_OUTCOME_BOOT, "panic", "in the box: the guest's kernel panicked");
    g_assert_nonnull(g_hash_table_lookup(f->files, "box-report.txt"));
}

/* A hang inside a box under icount may be the emulator's: it is worth another try. */
static void
test_hang_under_icount(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    if (!f->box)
        return;
    g_autofree char *bundle = inner_bundle(f, RES_OUTCOME_GUEST);

    f->record->fidelity = RES_FIDELITY_INSTRUCTIONS;
    g_assert_false(box_judge(f, 1, "1-3", bundle));
    assert_failed(f, RES_OUTCOME_INFRA, "box-stalled", "in the box: it hung. Under clock icount");
}

static void
test_no_record(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    static const struct {
        int status;
        const char *file;
        ResOutcome outcome;
        const char *detail, *message;
    } cases[] = {
        {2, NULL, RES_OUTCOME_INFRA, "box-run",
         "status 2 and left no record: nohzlab run: no such"},
        {77, NULL, RES_OUTCOME_SKIP, "box-skip", "in the box: nohzlab run: no such luck"},
        {124, NULL, RES_OUTCOME_INFRA, "box-timeout", "did not finish in time"},
        {0, "{}", RES_OUTCOME_INCOMPLETE, "box-bundle", "not of version 1"},
        {0, "{\"nohzlab-bundle\": 1, \"runs\": [7]}", RES_OUTCOME_INCOMPLETE, "box-bundle",
         "not an object"},
        {0, "{\"nohzlab-bundle\": 1, \"runs\": [{\"record\": {}, \"files\": {}}]}",
         RES_OUTCOME_INCOMPLETE, "box-bundle", "can't be read"},
        {0, "{\"nohzlab-bundle\": 1, \"runs\": [", RES_OUTCOME_INCOMPLETE, "box-bundle", "bundle"},
        {0, "{\"nohzlab-bundle\": 1, \"runs\": []}", RES_OUTCOME_INFRA, "box-run", "no record"},
    };

    for (gsize i = 0; f->box && i < G_N_ELEMENTS(cases); i++) {
        g_assert_false(box_judge(f, cases[i].status, "1-3", cases[i].file));
        assert_failed(f, cases[i].outcome, cases[i].detail, cases[i].message);
    }
}

static void
test_not_isolated(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    if (!f->box)
        return;
    g_autofree char *bundle = inner_bundle(f, RES_OUTCOME_DONE);

    g_assert_false(box_judge(f, 0, "2-3", bundle));
    assert_failed(f, RES_OUTCOME_ISOLATION, "box-nohz_full", "of the lab host in the box");
}

static void
test_blame(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    lab_box_blame(f->record);
    g_assert_cmpint(f->record->outcome, ==, RES_OUTCOME_DONE);
    lab_record_fail(f->record, RES_OUTCOME_BOOT, "panic", "it panicked");
    lab_box_blame(f->record);
    assert_failed(f, RES_OUTCOME_BOOT, "box-panic",
                  "the emulated lab host, not the guest in it: it");
    lab_box_blame(f->record);
    g_assert_cmpstr(f->record->detail, ==, "box-panic");
    lab_record_fail(f->record, RES_OUTCOME_GUEST, "timeout", "it hung");
    lab_box_blame(f->record);
    assert_failed(f, RES_OUTCOME_INFRA, "box-timeout", "it hung");
    lab_record_fail(f->record, RES_OUTCOME_GUEST, "init", "no KVM");
    lab_box_blame(f->record);
    assert_failed(f, RES_OUTCOME_INFRA, "box-init", "no KVM");
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(Fixture *, gconstpointer);
    } tests[] = {
        {"/box/hang-under-icount", test_hang_under_icount},
        {"/box/profile", test_profile},
        {"/box/machine", test_machine},
        {"/box/done", test_done},
        {"/box/inner-failure", test_inner_failure},
        {"/box/no-record", test_no_record},
        {"/box/not-isolated", test_not_isolated},
        {"/box/blame", test_blame},
    };

    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add(tests[i].name, Fixture, NULL, set_up, tests[i].test, tear_down);
    return g_test_run();
}
