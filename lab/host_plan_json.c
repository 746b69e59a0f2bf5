/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <json-glib/json-glib.h>

#include "lab/host_plan.h"

static void
add_string(JsonBuilder *b, const char *name, const char *value)
{
    json_builder_set_member_name(b, name);
    if (value)
        json_builder_add_string_value(b, value);
    else
        json_builder_add_null_value(b);
}

static void
add_int(JsonBuilder *b, const char *name, gint64 value)
{
    json_builder_set_member_name(b, name);
    json_builder_add_int_value(b, value);
}

static void
add_cpus(JsonBuilder *b, const char *name, const HostCpuset *set)
{
    g_autofree char *list = host_cpulist_format(set);
    add_string(b, name, list);
}

static void
add_machine(JsonBuilder *b, const HostTopology *t)
{
    json_builder_set_member_name(b, "machine");
    json_builder_begin_object(b);
    add_string(b, "source", t->source);
    add_cpus(b, "possible", t->possible);
    add_cpus(b, "present", t->present);
    add_cpus(b, "online", t->online);
    json_builder_set_member_name(b, "cores");
    json_builder_begin_array(b);
    for (guint i = 0; i < t->cores->len; i++) {
        g_autofree char *list = host_cpulist_format(t->cores->pdata[i]);
        json_builder_add_string_value(b, list);
    }
    json_builder_end_array(b);
    json_builder_set_member_name(b, "nodes");
    json_builder_begin_array(b);
    for (guint i = 0; i < t->nodes->len; i++) {
        const HostNode *node = t->nodes->pdata[i];
        json_builder_begin_object(b);
        add_int(b, "node", node->number);
        add_cpus(b, "cpus", node->cpus);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    add_string(b, "kinds_from", t->kinds_from);
    json_builder_set_member_name(b, "kinds");
    json_builder_begin_array(b);
    for (guint i = 0; i < t->kinds->len; i++) {
        const HostCpuKind *kind = t->kinds->pdata[i];
        json_builder_begin_object(b);
        add_string(b, "kind", kind->name);
        add_cpus(b, "cpus", kind->cpus);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    json_builder_end_object(b);
}

static void
add_findings(JsonBuilder *b, const GPtrArray *findings)
{
    json_builder_set_member_name(b, "refused");
    json_builder_add_boolean_value(b, host_rules_refuse(findings));
    json_builder_set_member_name(b, "findings");
    json_builder_begin_array(b);
    for (guint i = 0; i < findings->len; i++) {
        const HostRuleFinding *f = findings->pdata[i];
        json_builder_begin_object(b);
        add_string(b, "severity", host_rule_severity_name(f->severity));
        add_string(b, "rule", f->rule);
        add_string(b, "message", f->message);
        add_string(b, "advice", f->advice);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
}

static void
add_items(JsonBuilder *b, const HostPlan *p)
{
    json_builder_set_member_name(b, "items");
    json_builder_begin_array(b);
    for (guint i = 0; i < p->items->len; i++) {
        const HostPlanItem *item = p->items->pdata[i];
        json_builder_begin_object(b);
        add_string(b, "where", host_item_kind_name(item->kind));
        add_string(b, "name", item->name);
        add_string(b, "value", item->value);
        add_string(b, "now", item->now);
        add_string(b, "why", item->why);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
}

static void
add_plan(JsonBuilder *b, const HostPlan *p)
{
    json_builder_begin_object(b);
    add_cpus(b, "housekeeping", p->housekeeping);
    add_cpus(b, "isolated", p->isolated);
    add_cpus(b, "irqaffinity", p->irqaffinity);
    add_string(b, "host_cmdline", p->host_cmdline);
    add_string(b, "guest_cmdline", p->guest_cmdline);
    json_builder_set_member_name(b, "vcpupin");
    json_builder_begin_array(b);
    for (unsigned int v = 0; v < p->vcpus; v++) {
        g_autofree char *list = host_cpulist_format(p->vcpu_pins[v]);
        json_builder_add_string_value(b, list);
    }
    json_builder_end_array(b);
    add_cpus(b, "emulatorpin", p->emulator_pin);
    add_cpus(b, "iothreadpin", p->emulator_pin);
    json_builder_set_member_name(b, "node");
    if (p->node >= 0)
        json_builder_add_int_value(b, p->node);
    else
        json_builder_add_null_value(b);
    add_int(b, "guest_threads", p->guest_threads);
    add_items(b, p);
    json_builder_end_object(b);
}

char *
lab_host_plan_json(const HostPlan *p, const HostTopology *t, const GPtrArray *findings)
{
    g_autoptr(JsonBuilder) b = json_builder_new();

    json_builder_begin_object(b);
    add_machine(b, t);
    add_findings(b, findings);
    json_builder_set_member_name(b, "plan");
    if (host_rules_refuse(findings))
        json_builder_add_null_value(b);
    else
        add_plan(b, p);
    json_builder_end_object(b);
    g_autoptr(JsonNode) root = json_builder_get_root(b);
    g_autofree char *text = json_to_string(root, TRUE);
    return g_strconcat(text, "\n", NULL);
}
