/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What observers read of the kernel: hist files, interrupts, buffer statistics, symbols, names of
 * exits. */
#include <string.h>

#include "host/error.h"
#include "host/observe_hist.h"
#include "host/observe_private.h"

static const char *const exit_keys[] = {"exit_reason", "common_pid", "common_cpu"};
static const char *const cpu_keys[] = {"common_cpu"};

#define HEADER "# event histogram\n#\n# trigger info: hist:keys=x:vals=hitcount [active]\n#\n\n"
#define TOTALS(hits, entries, dropped)                                                             \
    "\nTotals:\n    Hits: " #hits "\n    Entries: " #entries "\n    Dropped: " #dropped "\n"

static HostHist *
parse(const char *text, const char *const *keys, guint n_keys, const char *value)
{
    g_autoptr(GError) error = NULL;
    HostHist *h = host_hist_parse(text, strlen(text), keys, n_keys, value, &error);
    g_assert_no_error(error);
    return h;
}

static const HostHistEntry *
entry(const HostHist *h, guint i)
{
    return &g_array_index(h->entries, HostHistEntry, i);
}

static void
test_hist(void)
{
    g_autoptr(HostHist) h =
        parse(HEADER "{ exit_reason:        120, common_pid:       1234, common_cpu:          1 } "
                     "hitcount:       2040  isa:       4080\n"
                     "{ exit_reason: 4294967295, common_pid:       1235, common_cpu:         39 } "
                     "hitcount:          1  isa:          2\n" TOTALS(2041, 2, 7),
              exit_keys, 3, "isa");
    g_assert_cmpuint(h->entries->len, ==, 2);
    g_assert_cmpuint(h->uncounted, ==, 7);
    g_assert_cmpuint(entry(h, 0)->keys[0], ==, 120);
    g_assert_cmpuint(entry(h, 0)->keys[1], ==, 1234);
    g_assert_cmpuint(entry(h, 0)->keys[2], ==, 1);
    g_assert_cmpuint(entry(h, 0)->hits, ==, 2040);
    g_assert_cmpuint(entry(h, 0)->sum, ==, 4080);
    g_assert_cmpuint(entry(h, 1)->keys[0], ==, G_MAXUINT32);
    g_assert_cmpuint(entry(h, 1)->keys[2], ==, 39);

    /* Linux 5.10 says cpu; a table without entries is no error. */
    g_autoptr(HostHist) old = parse(
        HEADER "{ cpu:          0 } hitcount:       3046\n" TOTALS(3046, 1, 0), cpu_keys, 1, NULL);
    g_assert_cmpuint(entry(old, 0)->hits, ==, 3046);
    g_autoptr(HostHist) empty = parse(HEADER TOTALS(0, 0, 0) "\n\n", cpu_keys, 1, NULL);
    g_assert_cmpuint(empty->entries->len, ==, 0);
    g_autoptr(HostHist) widest =
        parse(HEADER "{ common_cpu: 18446744073709551615 } hitcount: 18446744073709551615\n" TOTALS(
                  18446744073709551615, 1, 0),
              cpu_keys, 1, NULL);
    g_assert_cmpuint(entry(widest, 0)->keys[0], ==, G_MAXUINT64);
}

static void
test_hist_malformed(void)
{
#define GOOD "{ common_cpu:          0 } hitcount:          3\n"
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "totals are missing"},
        {HEADER GOOD, "line 6"},
        {HEADER GOOD "\nTotals:\n    Hits: 3\n", "\"Entries\""},
        {HEADER GOOD "\nTotals:\n    Hits: 3\n    Entries: 1\n    Dropped: \n", "Dropped"},
        {HEADER GOOD TOTALS(3, 2, 0), "2 entries"},
        {HEADER GOOD GOOD TOTALS(6, 2, 0), "1 different"},
        {HEADER GOOD TOTALS(3, 1, 0) HEADER GOOD TOTALS(3, 1, 0), "empty line"},
        {HEADER "{ common_cpu:          0 } hitcount:         -3\n" TOTALS(3, 1, 0), "line 6"},
        {HEADER "{ common_cpu: 18446744073709551616 } hitcount: 3\n" TOTALS(3, 1, 0), "line 6"},
        {HEADER "{ common_cpu:          0 } hitcount:          3  isa: 4\n" TOTALS(3, 1, 0),
         "end of the line"},
        {HEADER "{ common_cpu:          0, x: 1 } hitcount:          3\n" TOTALS(3, 1, 0),
         "\" }\""},
        {HEADER "{ common_pid:          0 } hitcount:          3\n" TOTALS(3, 1, 0), "common_cpu"},
        {HEADER "{ common_cpu: ~ 2^5 } hitcount:          3\n" TOTALS(3, 1, 0), "NUMBER"},
        {HEADER "{ common_cpu: 0 } hitcount (%): 3.00\n" TOTALS(3, 1, 0), "hitcount: NUMBER"},
        {"cat: hist: Invalid argument\n", "line 1"},
        {HEADER "\xff\x01\n", "line 6"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(host_hist_parse(bad[i].text, strlen(bad[i].text), cpu_keys, 1, NULL, &error));
        g_assert_error(error, HOST_ERROR, HOST_ERROR_IO);
        g_assert_true(g_utf8_validate(error->message, -1, NULL));
        if (!strstr(error->message, bad[i].says))
            g_error("%" G_GSIZE_FORMAT ": \"%s\" does not say \"%s\"", i, error->message,
                    bad[i].says);
    }
    /* A missing value is not 0. */
    g_autoptr(GError) error = NULL;
    const char *text = HEADER GOOD TOTALS(3, 1, 0);
    g_assert_null(host_hist_parse(text, strlen(text), cpu_keys, 1, "isa", &error));
    g_assert_nonnull(strstr(error->message, "isa"));
}

static void
test_hist_add(void)
{
    g_autoptr(HostHist) h = host_hist_new();
    g_autoptr(GHashTable) index = host_hist_index_new();
    guint64 keys[HOST_HIST_MAX_KEYS] = {0};
    for (guint i = 0; i < HOST_HIST_MAX_ENTRIES; i++) {
        keys[0] = i;
        g_assert_true(host_hist_add(h, index, keys, 1, 0));
    }
    keys[0] = 5;
    g_assert_true(host_hist_add(h, index, keys, 2, 9));
    g_assert_cmpuint(entry(h, 5)->hits, ==, 3);
    g_assert_cmpuint(entry(h, 5)->sum, ==, 9);
    keys[1] = 1;
    g_assert_false(host_hist_add(h, index, keys, 4, 0));
    g_assert_cmpuint(h->uncounted, ==, 4);
    g_assert_cmpuint(h->entries->len, ==, HOST_HIST_MAX_ENTRIES);
}

static void
test_stats(void)
{
    guint64 entries, lost;
    g_autoptr(GError) error = NULL;
    g_assert_true(host_trace_stats_parse(
        "entries: 41221\noverrun: 43565\ncommit overrun: 2\nbytes: 3360\n"
        "oldest event ts:  7266.216280\nnow ts:  7266.292440\ndropped events: 10\n"
        "read events: 42379\n",
        &entries, &lost, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(entries, ==, 41221);
    g_assert_cmpuint(lost, ==, 43577);
    static const char *const bad[] = {
        "", "entries: 1\noverrun: 0\n", "entries: 1\noverrun: x\ncommit overrun: 0\n",
        "entries: 1\noverrun: 0\ncommit overrun: 0\ndropped events: 1 2\n"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) why = NULL;
        g_assert_false(host_trace_stats_parse(bad[i], &entries, &lost, &why));
        g_assert_error(why, HOST_ERROR, HOST_ERROR_IO);
    }
}

/* Each vendor's names for its own codes, and for those only. */
static void
test_exit_names(void)
{
    static const struct {
        guint64 code;
        const char *vmx, *svm;
    } codes[] = {
        {0, "EXCEPTION_NMI", "READ_CR0"},
        {1, "EXTERNAL_INTERRUPT", NULL},
        {0x60, NULL, "INTR"},
        {0x78, NULL, "HLT"},
        {0x400, NULL, "NPF"},
        {12, "HLT", NULL},
        {32, "MSR_WRITE", "READ_DR0"},
        {48, "EPT_VIOLATION", "WRITE_DR0"},
        {0x4e, NULL, "EXCP_PF"},
        {52, "PREEMPTION_TIMER", "WRITE_DR4"},
        {75, "NOTIFY", "EXCP_NP"},
        {0x80000021, "INVALID_STATE", NULL},
        {0x80000001, "EXTERNAL_INTERRUPT", "VMGEXIT_MMIO_READ"},
        {0x80000011, NULL, "VMGEXIT_GUEST_REQUEST"}, /* VMX's table has no 17 */
        {131072, NULL, NULL},
        {0xffffffff, NULL, "ERR"},
        {G_MAXUINT64, NULL, "ERR"},
        {0x100000001, NULL, NULL},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(codes); i++) {
        g_assert_cmpstr(host_exit_name(HOST_EXIT_VMX, codes[i].code), ==, codes[i].vmx);
        g_assert_cmpstr(host_exit_name(HOST_EXIT_SVM, codes[i].code), ==, codes[i].svm);
        g_assert_null(host_exit_name(HOST_EXIT_UNKNOWN_VENDOR, codes[i].code));
    }
    /* Every code of a table is found, whatever the order it was written in. */
    guint vmx = 0, svm = 0;
    for (guint code = 0; code < 0x500; code++) {
        vmx += host_exit_name(HOST_EXIT_VMX, code) != NULL;
        svm += host_exit_name(HOST_EXIT_SVM, code) != NULL;
    }
    g_assert_cmpuint(vmx, ==, 65);
    g_assert_cmpuint(svm, ==, 114);
    g_assert_true(host_exit_is_external_interrupt(HOST_EXIT_VMX, 1));
    g_assert_true(host_exit_is_external_interrupt(HOST_EXIT_SVM, 0x60));
    g_assert_false(host_exit_is_external_interrupt(HOST_EXIT_SVM, 1));
    g_assert_false(host_exit_is_external_interrupt(HOST_EXIT_VMX, 0x60));
    g_assert_false(host_exit_is_external_interrupt(HOST_EXIT_UNKNOWN_VENDOR, 1));
    g_assert_cmpstr(host_exit_vendor_name(HOST_EXIT_SVM), ==, "svm");
}

static HostInterrupts *
interrupts(const char *text, const HostCpuset *cpus)
{
    g_autoptr(GError) error = NULL;
    HostInterrupts *i = host_interrupts_parse(text, cpus, &error);
    g_assert_no_error(error);
    return i;
}

static const HostInterruptCount *
count_of(const GArray *counts, const char *label, unsigned int cpu)
{
    for (guint i = 0; i < counts->len; i++) {
        const HostInterruptCount *c = &g_array_index(counts, HostInterruptCount, i);
        if (c->cpu == cpu && g_str_equal(c->label, label))
            return c;
    }
    return NULL;
}

static void
test_interrupts(void)
{
    g_autoptr(HostCpuset) cpus = hwloc_bitmap_alloc(), missing = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(cpus, 1, 3);
    /* CPU 2 is offline; the counters have 32 bits; 41 goes to another device. */
    g_autoptr(HostInterrupts) before =
        interrupts("           CPU0       CPU1       CPU3       \n"
                   " 24:          5          0          9  PCI-MSIX-0000:00:01.0   0-edge      "
                   "virtio0-config\n"
                   " 41:       3687         70          0  PCI-MSI 1-edge      eth0\n"
                   "NMI:          0          0          0   Non-maskable interrupts\n"
                   "LOC:     692553 4294967290     694118   Local timer interrupts\n"
                   "ERR:          0\nMIS:          0\n",
                   cpus);
    g_autoptr(HostInterrupts) after =
        interrupts("           CPU0       CPU1       CPU3       \n"
                   " 24:          9          0          9  PCI-MSIX-0000:00:01.0   0-edge      "
                   "virtio0-config\n"
                   " 41:          0          3          0  PCI-MSI 1-edge      nvme0q1\n"
                   "NMI:          0          0          0   Non-maskable interrupts\n"
                   "LOC:     692999         10     694119   Local timer interrupts\n"
                   "ERR:          0\nMIS:          0\n",
                   cpus);
    g_autoptr(GArray) counts = host_interrupt_counts_new();
    host_interrupts_delta(before, after, FALSE, counts, missing);
    g_assert_cmpuint(counts->len, ==, 3);
    g_assert_cmpuint(count_of(counts, "LOC", 1)->count, ==, 16);
    g_assert_cmpuint(count_of(counts, "LOC", 3)->count, ==, 1);
    g_assert_cmpstr(count_of(counts, "LOC", 3)->description, ==, "Local timer interrupts");
    g_assert_true(host_interrupt_is_timer(count_of(counts, "LOC", 1)));
    g_assert_cmpuint(count_of(counts, "41", 1)->count, ==, 3);
    g_assert_cmpstr(count_of(counts, "41", 1)->description, ==, "PCI-MSI 1-edge nvme0q1");
    g_assert_false(host_interrupt_is_timer(count_of(counts, "41", 1)));
    g_assert_true(hwloc_bitmap_isset(missing, 2));
    g_assert_cmpint(hwloc_bitmap_weight(missing), ==, 1);

    g_autoptr(HostInterrupts) soft = interrupts(
        "                    CPU0       CPU1       \n          HI:          0          0\n"
        "       TIMER:      88339     106729\n         RCU:     191499     223417\n",
        cpus);
    g_autoptr(HostInterrupts) later = interrupts(
        "                    CPU0       CPU1       \n          HI:          0          0\n"
        "       TIMER:      88339     106731\n         RCU:     191500     223417\n",
        cpus);
    g_autoptr(GArray) softs = host_interrupt_counts_new();
    host_interrupts_delta(soft, later, TRUE, softs, NULL);
    g_assert_cmpuint(softs->len, ==, 1);
    g_assert_cmpuint(count_of(softs, "TIMER", 1)->count, ==, 2);
    g_assert_true(count_of(softs, "TIMER", 1)->softirq);

    /* arm64 */
    g_autoptr(HostInterrupts) zero = interrupts("           CPU0       CPU1\n", cpus);
    g_autoptr(HostInterrupts) arm =
        interrupts("           CPU0       CPU1\n 10:        120        130     GICv3  27 Level     "
                   "arch_timer\n"
                   "IPI0:        11         12       Rescheduling interrupts\nErr:          0\n",
                   cpus);
    g_autoptr(GArray) arms = host_interrupt_counts_new();
    host_interrupts_delta(zero, arm, FALSE, arms, NULL);
    g_assert_cmpuint(arms->len, ==, 2);
    g_assert_true(host_interrupt_is_timer(count_of(arms, "10", 1)));
    g_assert_cmpuint(count_of(arms, "IPI0", 1)->count, ==, 12);
}

static void
test_interrupts_malformed(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "line 1"},
        {"LOC: 1 2\n", "line 1"},
        {"CPU0 CPU1x\n", "no such number"},
        {"CPU99999999999999999999\n", "no such number"},
        {"CPU1 CPU0\n", "not in order"},
        {"CPU0 CPU1\nLOC 1 2\n", "line 2"},
        {"CPU0 CPU1\n: 1 2\n", "line 2"},
        {"CPU0 CPU1\nLOC: 1 99999999999999999999\n", "line 2: a count"},
        {"CPU0 CPU1\nLOC: 1 2\nRES: 1 2x\n", "line 3: a count"},
    };
    g_autoptr(HostCpuset) cpus = hwloc_bitmap_alloc_full();
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(host_interrupts_parse(bad[i].text, cpus, &error));
        g_assert_error(error, HOST_ERROR, HOST_ERROR_IO);
        if (!strstr(error->message, bad[i].says))
            g_error("%" G_GSIZE_FORMAT ": %s", i, error->message);
    }
}

static void
test_kallsyms(void)
{
    static const char *const names[] = {"apic_timer_fn", NULL};
    g_autoptr(GArray) found =
        host_kallsyms_find("0000000000000000 A fixed_percpu_data\n"
                           "ffffffff812c81d0 t apic_timer_fn\t[kvm]\n"
                           "ffffffff812c81e0 t apic_timer_fn.llvm.1077\t[kvm]\n"
                           "ffffffff812c81f0 t apic_timer_fn2\t[kvm]\n"
                           "ffffffff812c81f4 t my_apic_timer_fn\n"
                           "ffffffff812c81f8 d apic_timer_fn\n"
                           "ffffffff812c81fc",
                           names);
    g_assert_cmpuint(found->len, ==, 2);
    g_assert_cmpuint(g_array_index(found, guint64, 0), ==, G_GUINT64_CONSTANT(0xffffffff812c81d0));
    g_assert_cmpuint(g_array_index(found, guint64, 1), ==, G_GUINT64_CONSTANT(0xffffffff812c81e0));
    g_assert_null(host_kallsyms_find("0000000000000000 t apic_timer_fn\t[kvm]\n", names));
    g_autoptr(GArray) none = host_kallsyms_find("", names);
    g_assert_cmpuint(none->len, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/observe/hist", test_hist);
    g_test_add_func("/observe/hist/malformed", test_hist_malformed);
    g_test_add_func("/observe/hist/add", test_hist_add);
    g_test_add_func("/observe/stats", test_stats);
    g_test_add_func("/observe/exit-names", test_exit_names);
    g_test_add_func("/observe/interrupts", test_interrupts);
    g_test_add_func("/observe/interrupts/malformed", test_interrupts_malformed);
    g_test_add_func("/observe/kallsyms", test_kallsyms);
    return g_test_run();
}
