/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parameters of the kvm modules that move time between guest and host. Absent is not 0: then
 * this kernel does not have the setting. */
#include <string.h>

#include "host/check_private.h"
#include "host/quote.h"

static const struct {
    const char *module, *parameter;
} parameters[] = {
    {"kvm", "halt_poll_ns"},
    {"kvm", "halt_poll_ns_grow"},
    {"kvm", "halt_poll_ns_shrink"},
    {"kvm", "pi_inject_timer"},
    {"kvm", "lapic_timer_advance_ns"},
    {"kvm", "lapic_timer_advance"},
    {"kvm", "min_timer_period_us"},
    {"kvm", "kvmclock_periodic_sync"},
    {"kvm_intel", "ple_gap"},
    {"kvm_intel", "preemption_timer"},
    {"kvm_intel", "enable_apicv"},
    {"kvm_amd", "avic"},
    {"kvm_amd", "npt"},
    {"kvm_amd", "pause_filter_count"},
};

/* Lines of their own for those with a right answer. */
static void
say_advice(HostChecker *c, const char *parameter, const char *value)
{
    if (!strcmp(parameter, "kvmclock_periodic_sync") && (*value == 'Y' || *value == '1'))
        host_check_say(c, HOST_GRADE_WARN,
                       g_strdup("echo options kvm kvmclock_periodic_sync=0 > "
                                "/etc/modprobe.d/kvm-rt.conf, and load kvm anew"),
                       "kvm.kvmclock_periodic_sync=%s: all vCPUs are kicked out of the guest every "
                       "300 s",
                       value);
    if (!strcmp(parameter, "pi_inject_timer") && !strcmp(value, "0") &&
        !hwloc_bitmap_iszero(c->wish->nohz_full))
        host_check_say(c, HOST_GRADE_WARN, g_strdup("load kvm with pi_inject_timer=1"),
                       "kvm.pi_inject_timer=0: timer interrupts of pinned guests are not delivered "
                       "from housekeeping CPUs without an exit");
}

void
host_check_kvm(HostChecker *c)
{
    g_autoptr(GString) there = g_string_new(NULL), absent = g_string_new(NULL);

    if (!host_root_exists(c->root, "sys/module/kvm")) {
        host_check_say(c, HOST_GRADE_CANNOT, g_strdup("modprobe kvm_intel, or kvm_amd"),
                       "the kvm module is not loaded, so none of its parameters is known");
        return;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(parameters); i++) {
        const char *module = parameters[i].module, *parameter = parameters[i].parameter;
        g_autofree char *folder = g_strdup_printf("sys/module/%s", module);
        g_autofree char *value = host_root_linef(c->root, "%s/parameters/%s", folder, parameter);
        if (!value) {
            if (host_root_exists(c->root, folder))
                g_string_append_printf(absent, "%s%s.%s", absent->len ? ", " : "", module,
                                       parameter);
            continue;
        }
        g_autofree char *shown = host_quote(value, 40);
        g_string_append_printf(there, "%s%s.%s=%s", there->len ? ", " : "", module, parameter,
                               shown);
        say_advice(c, parameter, shown);
    }
    host_check_say(c, HOST_GRADE_PASS, NULL, "%s%s%s", there->len ? there->str : "no parameters",
                   absent->len ? "; absent, which is not 0: " : "", absent->str);
}
