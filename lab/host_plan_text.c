/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "lab/host_plan.h"
#include "lab/text.h"

#define WIDTH 96

/* TEXT in lines of at most WIDTH columns, those after the first begin with INDENT spaces. */
static void
append_wrapped(GString *out, guint indent, guint column, const char *text)
{
    g_autofree char *printable = lab_printable(text);
    g_auto(GStrv) words = g_strsplit(printable, " ", -1);

    for (guint i = 0; words[i]; i++) {
        guint width = (guint)g_utf8_strlen(words[i], -1);
        if (column > indent && column + 1 + width > WIDTH) {
            g_string_append_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (i) {
            g_string_append_c(out, ' ');
            column++;
        }
        g_string_append(out, words[i]);
        column += width;
    }
    g_string_append_c(out, '\n');
}

static void
append_findings(GString *out, const GPtrArray *findings)
{
    for (guint i = 0; i < findings->len; i++) {
        const HostRuleFinding *f = findings->pdata[i];
        g_autofree char *head =
            g_strdup_printf("%s %s: ", host_rule_severity_name(f->severity), f->rule);
        g_autofree char *text = g_strconcat(head, f->message, NULL);
        append_wrapped(out, 4, 0, text);
        if (*f->advice) {
            g_autofree char *advice = g_strconcat("do: ", f->advice, NULL);
            g_string_append(out, "    ");
            append_wrapped(out, 4, 4, advice);
        }
    }
}

static void
append_machine(GString *out, const HostPlan *p, const HostTopology *t)
{
    g_autofree char *online = host_cpulist_format(t->online);
    g_autofree char *housekeeping = host_cpulist_format(p->housekeeping);
    g_autofree char *isolated = host_cpulist_format(p->isolated);
    g_autoptr(HostCpuset) offline = hwloc_bitmap_alloc();

    hwloc_bitmap_andnot(offline, t->present, t->online);
    g_autofree char *off = host_cpulist_format(offline);
    g_string_append_printf(out,
                           "machine       %s: CPUs %s online%s%s, %u cores, %u NUMA node%s, %u "
                           "kind%s of CPU\n",
                           t->source, online, *off ? ", offline " : "", off, t->cores->len,
                           t->nodes->len, t->nodes->len == 1 ? "" : "s", t->kinds->len,
                           t->kinds->len == 1 ? "" : "s");
    g_string_append_printf(out, "housekeeping  %s\nisolated      %s\n", housekeeping, isolated);
}

static void
append_pins(GString *out, const HostPlan *p, const HostTopology *t)
{
    g_autofree char *emulator = host_cpulist_format(p->emulator_pin);

    g_string_append_printf(out, "\npins (%u vCPU%s, %u thread%s a core):\n", p->vcpus,
                           p->vcpus == 1 ? "" : "s", p->guest_threads,
                           p->guest_threads == 1 ? "" : "s");
    for (unsigned int v = 0; v < p->vcpus; v++) {
        g_autofree char *list = host_cpulist_format(p->vcpu_pins[v]);
        int cpu = hwloc_bitmap_first(p->vcpu_pins[v]);
        int node = host_topology_node(t, (unsigned int)cpu);
        g_string_append_printf(out, "  vCPU %-4u CPU %s", v, list);
        if (t->nodes->len > 1 && node >= 0)
            g_string_append_printf(out, "  node %u", ((HostNode *)t->nodes->pdata[node])->number);
        g_string_append_c(out, '\n');
    }
    g_string_append_printf(out, "  emulator and iothreads: CPU %s\n", emulator);
}

static void
append_items(GString *out, const HostPlan *p, HostItemKind kind, const char *title)
{
    gboolean any = FALSE;

    for (guint i = 0; i < p->items->len; i++) {
        const HostPlanItem *item = p->items->pdata[i];
        if (item->kind != kind)
            continue;
        if (!any)
            g_string_append_printf(out, "\n%s:\n", title);
        any = TRUE;
        g_string_append_printf(out, "  %s%s%s", item->name, *item->value ? "=" : "", item->value);
        if (item->now)
            g_string_append_printf(out, "  (now %s)", item->now);
        g_string_append(out, "\n      ");
        append_wrapped(out, 6, 6, item->why);
    }
}

char *
lab_host_plan_text(const HostPlan *p, const HostTopology *t, const GPtrArray *findings)
{
    GString *out = g_string_new(NULL);

    append_machine(out, p, t);
    if (findings->len)
        g_string_append_c(out, '\n');
    append_findings(out, findings);
    if (host_rules_refuse(findings)) {
        g_string_append(out, "\nRefused: nothing of this plan may be carried out.\n");
        return g_string_free(out, FALSE);
    }
    g_string_append_printf(out, "\nhost kernel command line%s:\n  %s\n",
                           *p->other_cmdline ? " (to add)" : "", p->host_cmdline);
    if (*p->guest_cmdline)
        g_string_append_printf(out, "guest kernel command line:\n  %s\n", p->guest_cmdline);
    append_pins(out, p, t);
    append_items(out, p, HOST_ITEM_HOST_PARAM, "host kernel, from the next boot");
    append_items(out, p, HOST_ITEM_SYSCTL, "sysctl, at once");
    append_items(out, p, HOST_ITEM_MODULE, "KVM's parameters, at once for new guests");
    append_items(out, p, HOST_ITEM_GUEST_PARAM, "guest kernel");
    append_items(out, p, HOST_ITEM_GUEST, "guest");
    return g_string_free(out, FALSE);
}
