/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a domain a plan decides: https://libvirt.org/formatdomain.html. */
#include "host/export.h"
#include "host/xml.h"

static void
write_cputune(xmlTextWriter *w, const HostPlan *p)
{
    g_autofree char *emulator = host_cpulist_format(p->emulator_pin);

    host_xml_open(w, "vcpu");
    host_xml_attribute(w, "placement", "static");
    xmlTextWriterWriteFormatString(w, "%u", p->vcpus);
    host_xml_close(w);
    xmlTextWriterWriteElement(w, BAD_CAST "iothreads", BAD_CAST "1");
    host_xml_open(w, "cputune");
    for (unsigned int v = 0; v < p->vcpus; v++) {
        g_autofree char *list = host_cpulist_format(p->vcpu_pins[v]);
        host_xml_open(w, "vcpupin");
        host_xml_attribute(w, "vcpu", "%u", v);
        host_xml_attribute(w, "cpuset", "%s", list);
        host_xml_close(w);
    }
    host_xml_empty(w, "emulatorpin", "cpuset", emulator, NULL);
    host_xml_empty(w, "iothreadpin", "iothread", "1", "cpuset", emulator, NULL);
    if (p->fifo_priority) {
        host_xml_open(w, "vcpusched");
        host_xml_attribute(w, "vcpus", p->vcpus > 1 ? "0-%u" : "%u", p->vcpus - 1);
        host_xml_attribute(w, "scheduler", "fifo");
        host_xml_attribute(w, "priority", "%u", p->fifo_priority);
        host_xml_close(w);
    }
    host_xml_close(w);
}

static void
write_memory(xmlTextWriter *w, const HostPlan *p)
{
    if (p->memory_mib) {
        host_xml_open(w, "memory");
        host_xml_attribute(w, "unit", "MiB");
        xmlTextWriterWriteFormatString(w, "%" G_GUINT64_FORMAT, p->memory_mib);
        host_xml_close(w);
    }
    if (p->node >= 0) {
        g_autofree char *node = g_strdup_printf("%d", p->node);
        host_xml_open(w, "numatune");
        host_xml_empty(w, "memory", "mode", "strict", "nodeset", node, NULL);
        host_xml_close(w);
    }
    host_xml_open(w, "memoryBacking");
    if (p->page_kib) {
        host_xml_open(w, "hugepages");
        host_xml_open(w, "page");
        host_xml_attribute(w, "size", "%" G_GUINT64_FORMAT, p->page_kib);
        host_xml_attribute(w, "unit", "KiB");
        host_xml_close(w);
        host_xml_close(w);
    }
    host_xml_empty(w, "nosharepages", NULL);
    host_xml_empty(w, "locked", NULL);
    host_xml_empty(w, "allocation", "mode", "immediate", NULL);
    host_xml_close(w);
}

static void
write_features(xmlTextWriter *w)
{
    host_xml_open(w, "features");
    host_xml_empty(w, "acpi", NULL);
    host_xml_empty(w, "apic", NULL);
    host_xml_open(w, "kvm");
    host_xml_empty(w, "hint-dedicated", "state", "on", NULL);
    host_xml_empty(w, "poll-control", "state", "on", NULL);
    host_xml_close(w);
    host_xml_empty(w, "pmu", "state", "off", NULL);
    host_xml_close(w);
}

static void
write_cpu_and_clock(xmlTextWriter *w, const HostPlan *p)
{
    host_xml_open(w, "cpu");
    host_xml_attribute(w, "mode", "host-passthrough");
    host_xml_attribute(w, "check", "none");
    host_xml_attribute(w, "migratable", "off");
    host_xml_open(w, "topology");
    host_xml_attribute(w, "sockets", "1");
    host_xml_attribute(w, "cores", "%u", p->vcpus / p->guest_threads);
    host_xml_attribute(w, "threads", "%u", p->guest_threads);
    host_xml_close(w);
    host_xml_empty(w, "feature", "policy", "require", "name", "invtsc", NULL);
    host_xml_empty(w, "feature", "policy", "require", "name", "tsc-deadline", NULL);
    host_xml_close(w);
    host_xml_open(w, "clock");
    host_xml_attribute(w, "offset", "utc");
    host_xml_empty(w, "timer", "name", "kvmclock", "present", "yes", NULL);
    host_xml_empty(w, "timer", "name", "hpet", "present", "no", NULL);
    host_xml_close(w);
}

/* libvirt has no element for cpu-pm. Before QEMU 9.1 a second -overcommit resets what the first
 * one, libvirt's, said about mem-lock: so both are said here. */
static void
write_qemu_arguments(xmlTextWriter *w)
{
    host_xml_open(w, "qemu:commandline");
    host_xml_empty(w, "qemu:arg", "value", "-overcommit", NULL);
    host_xml_empty(w, "qemu:arg", "value", "mem-lock=on,cpu-pm=on", NULL);
    host_xml_close(w);
}

char *
host_export_libvirt(const HostPlan *p)
{
    g_autoptr(xmlBuffer) buffer = xmlBufferCreate();
    g_autoptr(xmlTextWriter) w = xmlNewTextWriterMemory(buffer, 0);

    xmlTextWriterSetIndent(w, 1);
    xmlTextWriterSetIndentString(w, BAD_CAST "  ");
    host_xml_open(w, "domain");
    host_xml_attribute(w, "type", "kvm");
    host_xml_attribute(w, "xmlns:qemu", HOST_XML_QEMU_NS);
    write_memory(w, p);
    write_cputune(w, p);
    write_features(w);
    write_cpu_and_clock(w, p);
    write_qemu_arguments(w);
    host_xml_close(w);
    xmlTextWriterFlush(w);
    return g_strdup((const char *)xmlBufferContent(buffer));
}
