/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/domain.h"

#include <libxml/xmlwriter.h>
#include <stdarg.h>

#include "guest/report.h"
#include "host/error.h"
#include "host/quote.h"

#define QEMU_NS "http://libvirt.org/schemas/domain/qemu/1.0"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlTextWriter, xmlFreeTextWriter)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlBuffer, xmlBufferFree)

/* The writer goes to memory, where it only fails when memory runs out; then GLib has aborted before
 * us. */
static void
open_element(xmlTextWriter *w, const char *name)
{
    xmlTextWriterStartElement(w, BAD_CAST name);
}

static void
close_element(xmlTextWriter *w)
{
    xmlTextWriterEndElement(w);
}

static void
attribute(xmlTextWriter *w, const char *name, const char *value)
{
    xmlTextWriterWriteAttribute(w, BAD_CAST name, BAD_CAST value);
}

static void
attribute_uint(xmlTextWriter *w, const char *name, guint64 value)
{
    g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, value);
    attribute(w, name, text);
}

static void
text_element(xmlTextWriter *w, const char *name, const char *text)
{
    xmlTextWriterWriteElement(w, BAD_CAST name, BAD_CAST text);
}

/* <NAME attr='value' ... />; pairs end with NULL. */
static G_GNUC_NULL_TERMINATED void
empty_element(xmlTextWriter *w, const char *name, ...)
{
    va_list args;
    const char *attr;

    open_element(w, name);
    va_start(args, name);
    while ((attr = va_arg(args, const char *)))
        attribute(w, attr, va_arg(args, const char *));
    va_end(args);
    close_element(w);
}

static void
write_identity(xmlTextWriter *w, const HostDomainSpec *s)
{
    text_element(w, "name", s->name);
    open_element(w, "memory");
    attribute(w, "unit", "MiB");
    xmlTextWriterWriteFormatString(w, "%u", s->memory_mib);
    close_element(w);
    open_element(w, "vcpu");
    attribute(w, "placement", "static");
    xmlTextWriterWriteFormatString(w, "%u", s->vcpus);
    close_element(w);
}

static void
write_cputune(xmlTextWriter *w, const HostDomainSpec *s)
{
    if (!s->vcpu_pins && !s->emulator_pin)
        return;
    open_element(w, "cputune");
    for (unsigned int i = 0; s->vcpu_pins && i < s->vcpus; i++) {
        g_autofree char *list = host_cpulist_format(s->vcpu_pins[i]);
        open_element(w, "vcpupin");
        attribute_uint(w, "vcpu", i);
        attribute(w, "cpuset", list);
        close_element(w);
    }
    if (s->emulator_pin) {
        g_autofree char *list = host_cpulist_format(s->emulator_pin);
        empty_element(w, "emulatorpin", "cpuset", list, NULL);
    }
    close_element(w);
}

/* The job: https://libvirt.org/formatdomain.html#smbios-system-information, type fwcfg. */
static void
write_job(xmlTextWriter *w, const HostDomainSpec *s)
{
    open_element(w, "sysinfo");
    attribute(w, "type", "fwcfg");
    empty_element(w, "entry", "name", BM_FWCFG_JOB, "file", s->job_path, NULL);
    close_element(w);
}

static void
write_boot(xmlTextWriter *w, const HostDomainSpec *s)
{
    open_element(w, "os");
    open_element(w, "type");
    attribute(w, "arch", "x86_64");
    attribute(w, "machine", "pc");
    xmlTextWriterWriteString(w, BAD_CAST "hvm");
    close_element(w);
    text_element(w, "kernel", s->kernel);
    text_element(w, "initrd", s->initrd);
    text_element(w, "cmdline", s->cmdline);
    close_element(w);
}

/*
 * TCG emulates AMD's virtualization (with nested paging, without which KVM's shadow pages make all
 * of it several times slower), not Intel's. It lacks some features of the model, which it leaves
 * out and says so in QEMU's log: hence check none.
 */
static void
write_cpu(xmlTextWriter *w, const HostDomainSpec *s)
{
    if (!s->svm) {
        empty_element(w, "cpu", "mode", s->kvm ? "host-passthrough" : "maximum", "check", "none",
                      NULL);
        return;
    }
    open_element(w, "cpu");
    attribute(w, "mode", "custom");
    attribute(w, "match", "exact");
    attribute(w, "check", "none");
    open_element(w, "model");
    attribute(w, "fallback", "forbid");
    xmlTextWriterWriteString(w, BAD_CAST "EPYC");
    close_element(w);
    empty_element(w, "feature", "policy", "require", "name", "svm", NULL);
    empty_element(w, "feature", "policy", "require", "name", "npt", NULL);
    close_element(w);
}

static void
write_cpu_and_clock(xmlTextWriter *w, const HostDomainSpec *s)
{
    open_element(w, "features");
    empty_element(w, "acpi", NULL);
    empty_element(w, "apic", NULL);
    close_element(w);
    write_cpu(w, s);

    open_element(w, "clock");
    if (s->icount) {
        attribute(w, "offset", "absolute");
        attribute_uint(w, "start", HOST_ICOUNT_EPOCH_S);
        /* The RTC follows virtual time (-rtc clock=vm); otherwise the host's clock would leak in.
         */
        empty_element(w, "timer", "name", "rtc", "track", "guest", NULL);
    } else {
        attribute(w, "offset", "utc");
    }
    close_element(w);
}

static void
write_socket(xmlTextWriter *w, const char *element, const char *path, const char *target_type,
             const char *target_name)
{
    open_element(w, element);
    attribute(w, "type", "unix");
    /* QEMU connects to us: we listen before it starts, so nothing is lost and no file grows without
     * bound. */
    empty_element(w, "source", "mode", "connect", "path", path, NULL);
    if (target_name)
        empty_element(w, "target", "type", target_type, "name", target_name, NULL);
    else
        empty_element(w, "target", "type", target_type, "port", "0", NULL);
    close_element(w);
}

static void
write_devices(xmlTextWriter *w, const HostDomainSpec *s)
{
    open_element(w, "devices");
    if (s->emulator)
        text_element(w, "emulator", s->emulator);
    /* Each default device costs firmware and kernel time under emulation: none is left. */
    empty_element(w, "controller", "type", "usb", "model", "none", NULL);
    empty_element(w, "controller", "type", "virtio-serial", "index", "0", NULL);
    write_socket(w, "serial", s->console_path, "isa-serial", NULL);
    write_socket(w, "channel", s->report_path, "virtio", BM_PORT_NAME);
    empty_element(w, "memballoon", "model", "none", NULL);
    empty_element(w, "audio", "id", "1", "type", "none", NULL);
    close_element(w);
}

/* What libvirt has no element for. */
static void
write_qemu_arguments(xmlTextWriter *w, const HostDomainSpec *s)
{
    if (!s->icount)
        return;
    g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, s->seed);
    const char *const args[] = {"-icount", "shift=0,sleep=off", "-seed", seed};

    open_element(w, "qemu:commandline");
    for (gsize i = 0; i < G_N_ELEMENTS(args); i++)
        empty_element(w, "qemu:arg", "value", args[i], NULL);
    close_element(w);
}

/* What XML 1.0 can carry (https://www.w3.org/TR/xml/#charsets). */
static gboolean
is_xml_text(const char *text)
{
    if (!g_utf8_validate(text, -1, NULL))
        return FALSE;
    for (const char *p = text; *p; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        if ((c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0xfffe || c == 0xffff)
            return FALSE;
    }
    return TRUE;
}

static gboolean
check_texts(const HostDomainSpec *s, GError **error)
{
    const struct {
        const char *what, *text;
    } texts[] = {
        {"name", s->name},
        {"emulator's path", s->emulator},
        {"kernel's path", s->kernel},
        {"initrd's path", s->initrd},
        {"kernel command line", s->cmdline},
        {"job's path", s->job_path},
        {"console's path", s->console_path},
        {"report's path", s->report_path},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        if (!texts[i].text || is_xml_text(texts[i].text))
            continue;
        g_autofree char *shown = host_quote(texts[i].text, 200);
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "the guest's %s holds a control character, or is not UTF-8, which libvirt's "
                    "XML can't carry: \"%s\"",
                    texts[i].what, shown);
        return FALSE;
    }
    return TRUE;
}

char *
host_domain_xml(const HostDomainSpec *s, GError **error)
{
    if (s->vcpus == 0) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED, "a guest needs at least one vCPU");
        return NULL;
    }
    if (s->svm && s->kvm) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "a CPU with emulated SVM can't be had with KVM");
        return NULL;
    }
    if (s->icount && s->kvm) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "clock icount counts the emulator's instructions: it can't be had with KVM");
        return NULL;
    }
    if (!check_texts(s, error))
        return NULL;

    g_autoptr(xmlBuffer) buffer = xmlBufferCreate();
    g_autoptr(xmlTextWriter) w = xmlNewTextWriterMemory(buffer, 0);
    xmlTextWriterSetIndent(w, 1);
    xmlTextWriterSetIndentString(w, BAD_CAST "  ");

    open_element(w, "domain");
    attribute(w, "type", s->kvm ? "kvm" : "qemu");
    attribute(w, "xmlns:qemu", QEMU_NS);
    write_identity(w, s);
    write_cputune(w, s);
    write_job(w, s);
    write_boot(w, s);
    write_cpu_and_clock(w, s);
    text_element(w, "on_poweroff", "destroy");
    text_element(w, "on_reboot", "destroy");
    text_element(w, "on_crash", "destroy");
    write_devices(w, s);
    write_qemu_arguments(w, s);
    close_element(w);
    xmlTextWriterFlush(w);
    return g_strdup((const char *)xmlBufferContent(buffer));
}
