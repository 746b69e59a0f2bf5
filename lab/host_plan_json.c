/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/host_plan.h"
#include "lab/json.h"

static void
add_cpus(JsonBuilder *b, const char *name, const HostCpuset *set)
{
    g_autofree char *list = host_cpulist_format(set);
    lab_json_string(b, name, list);
}

static void
add_machine(JsonBuilder *b, const HostTopology *t)
{
    json_builder_set_member_name(b, "machine");
    json_builder_begin_object(b);
    lab_json_string(b, "source", t->source);
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
        lab_json_int(b, "node", node->number);
        add_cpus(b, "cpus", node->cpus);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    lab_json_string(b, "kinds_from", t->kinds_from);
    json_builder_set_member_name(b, "kinds");
    json_builder_begin_array(b);
    for (guint i = 0; i < t->kinds->len; i++) {
        const HostCpuKind *kind = t->kinds->pdata[i];
        json_builder_begin_object(b);
        lab_json_string(b, "kind", kind->name);
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
        lab_json_string(b, "severity", host_rule_severity_name(f->severity));
        lab_json_string(b, "rule", f->rule);
        lab_json_string(b, "message", f->message);
        lab_json_string(b, "advice", f->advice);
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
        lab_json_string(b, "where", host_item_kind_name(item->kind));
        lab_json_string(b, "name", item->name);
        lab_json_string(b, "value", item->value);
        lab_json_string(b, "now", item->now);
        lab_json_string(b, "why", item->why);
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
    lab_json_string(b, "host_cmdline", p->host_cmdline);
    lab_json_string(b, "guest_cmdline", p->guest_cmdline);
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
    lab_json_int(b, "guest_threads", p->guest_threads);
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
    return lab_json_text(b);
}
