/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a domain a plan decides: https://libvirt.org/formatdomain.html. */
#include <libxml/xmlwriter.h>

#include "host/export.h"

#define QEMU_NS "http://libvirt.org/schemas/domain/qemu/1.0"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlTextWriter, xmlFreeTextWriter)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlBuffer, xmlBufferFree)

/* The writer goes to memory, where it fails only when GLib would have aborted before. */
static void
start(xmlTextWriter *w, const char *name)
{
    xmlTextWriterStartElement(w, BAD_CAST name);
}

static void
end(xmlTextWriter *w)
{
    xmlTextWriterEndElement(w);
}

static G_GNUC_PRINTF(3, 4) void attribute(xmlTextWriter *w, const char *name, const char *format,
                                          ...)
{
    va_list args;

    va_start(args, format);
    xmlTextWriterWriteVFormatAttribute(w, BAD_CAST name, format, args);
    va_end(args);
}

/* <ELEMENT NAME='VALUE'/>, with one more pair unless NAME2 is NULL. */
static void
leaf(xmlTextWriter *w, const char *element, const char *name, const char *value, const char *name2,
     const char *value2)
{
    start(w, element);
    if (name)
        attribute(w, name, "%s", value);
    if (name2)
        attribute(w, name2, "%s", value2);
    end(w);
}

static void
write_cputune(xmlTextWriter *w, const HostPlan *p)
{
    g_autofree char *emulator = host_cpulist_format(p->emulator_pin);

    start(w, "vcpu");
    attribute(w, "placement", "static");
    xmlTextWriterWriteFormatString(w, "%u", p->vcpus);
    end(w);
    xmlTextWriterWriteElement(w, BAD_CAST "iothreads", BAD_CAST "1");
    start(w, "cputune");
    for (unsigned int v = 0; v < p->vcpus; v++) {
        g_autofree char *list = host_cpulist_format(p->vcpu_pins[v]);
        start(w, "vcpupin");
        attribute(w, "vcpu", "%u", v);
        attribute(w, "cpuset", "%s", list);
        end(w);
    }
    leaf(w, "emulatorpin", "cpuset", emulator, NULL, NULL);
    leaf(w, "iothreadpin", "iothread", "1", "cpuset", emulator);
    if (p->fifo_priority) {
        start(w, "vcpusched");
        attribute(w, "vcpus", p->vcpus > 1 ? "0-%u" : "%u", p->vcpus - 1);
        attribute(w, "scheduler", "fifo");
        attribute(w, "priority", "%u", p->fifo_priority);
        end(w);
    }
    end(w);
}

static void
write_memory(xmlTextWriter *w, const HostPlan *p)
{
    if (p->memory_mib) {
        start(w, "memory");
        attribute(w, "unit", "MiB");
        xmlTextWriterWriteFormatString(w, "%" G_GUINT64_FORMAT, p->memory_mib);
        end(w);
    }
    if (p->node >= 0) {
        g_autofree char *node = g_strdup_printf("%d", p->node);
        start(w, "numatune");
        leaf(w, "memory", "mode", "strict", "nodeset", node);
        end(w);
    }
    start(w, "memoryBacking");
    if (p->page_kib) {
        start(w, "hugepages");
        start(w, "page");
        attribute(w, "size", "%" G_GUINT64_FORMAT, p->page_kib);
        attribute(w, "unit", "KiB");
        end(w);
        end(w);
    }
    leaf(w, "nosharepages", NULL, NULL, NULL, NULL);
    leaf(w, "locked", NULL, NULL, NULL, NULL);
    leaf(w, "allocation", "mode", "immediate", NULL, NULL);
    end(w);
}

static void
write_features(xmlTextWriter *w)
{
    start(w, "features");
    leaf(w, "acpi", NULL, NULL, NULL, NULL);
    leaf(w, "apic", NULL, NULL, NULL, NULL);
    start(w, "kvm");
    leaf(w, "hint-dedicated", "state", "on", NULL, NULL);
    leaf(w, "poll-control", "state", "on", NULL, NULL);
    end(w);
    leaf(w, "pmu", "state", "off", NULL, NULL);
    end(w);
}

static void
write_cpu_and_clock(xmlTextWriter *w, const HostPlan *p)
{
    start(w, "cpu");
    attribute(w, "mode", "host-passthrough");
    attribute(w, "check", "none");
    attribute(w, "migratable", "off");
    start(w, "topology");
    attribute(w, "sockets", "1");
    attribute(w, "cores", "%u", p->vcpus / p->guest_threads);
    attribute(w, "threads", "%u", p->guest_threads);
    end(w);
    leaf(w, "feature", "policy", "require", "name", "invtsc");
    leaf(w, "feature", "policy", "require", "name", "tsc-deadline");
    end(w);
    start(w, "clock");
    attribute(w, "offset", "utc");
    leaf(w, "timer", "name", "kvmclock", "present", "yes");
    leaf(w, "timer", "name", "hpet", "present", "no");
    end(w);
}

/* libvirt has no element for cpu-pm. Before QEMU 9.1 a second -overcommit resets what the first
 * one, libvirt's, said about mem-lock: so both are said here. */
static void
write_qemu_arguments(xmlTextWriter *w)
{
    start(w, "qemu:commandline");
    leaf(w, "qemu:arg", "value", "-overcommit", NULL, NULL);
    leaf(w, "qemu:arg", "value", "mem-lock=on,cpu-pm=on", NULL, NULL);
    end(w);
}

char *
host_export_libvirt(const HostPlan *p)
{
    g_autoptr(xmlBuffer) buffer = xmlBufferCreate();
    g_autoptr(xmlTextWriter) w = xmlNewTextWriterMemory(buffer, 0);

    xmlTextWriterSetIndent(w, 1);
    xmlTextWriterSetIndentString(w, BAD_CAST "  ");
    start(w, "domain");
    attribute(w, "type", "kvm");
    attribute(w, "xmlns:qemu", QEMU_NS);
    write_memory(w, p);
    write_cputune(w, p);
    write_features(w);
    write_cpu_and_clock(w, p);
    write_qemu_arguments(w);
    end(w);
    xmlTextWriterFlush(w);
    return g_strdup((const char *)xmlBufferContent(buffer));
}
