/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/domain.h"

#include <stdarg.h>

#include "guest/report.h"
#include "host/error.h"
#include "host/quote.h"
#include "host/xml.h"

static void
write_identity(xmlTextWriter *w, const HostDomainSpec *s)
{
    host_xml_text(w, "name", s->name);
    host_xml_open(w, "memory");
    host_xml_attribute(w, "unit", "%s", "MiB");
    xmlTextWriterWriteFormatString(w, "%u", s->memory_mib);
    host_xml_close(w);
    host_xml_open(w, "vcpu");
    host_xml_attribute(w, "placement", "%s", "static");
    xmlTextWriterWriteFormatString(w, "%u", s->vcpus);
    host_xml_close(w);
}

static void
write_cputune(xmlTextWriter *w, const HostDomainSpec *s)
{
    if (!s->vcpu_pins && !s->emulator_pin)
        return;
    host_xml_open(w, "cputune");
    for (unsigned int i = 0; s->vcpu_pins && i < s->vcpus; i++) {
        g_autofree char *list = host_cpulist_format(s->vcpu_pins[i]);
        host_xml_open(w, "vcpupin");
        host_xml_attribute(w, "vcpu", "%" G_GUINT64_FORMAT, (guint64)i);
        host_xml_attribute(w, "cpuset", "%s", list);
        host_xml_close(w);
    }
    if (s->emulator_pin) {
        g_autofree char *list = host_cpulist_format(s->emulator_pin);
        host_xml_empty(w, "emulatorpin", "cpuset", list, NULL);
    }
    host_xml_close(w);
}

/* The job: https://libvirt.org/formatdomain.html#smbios-system-information, type fwcfg. */
static void
write_job(xmlTextWriter *w, const HostDomainSpec *s)
{
    host_xml_open(w, "sysinfo");
    host_xml_attribute(w, "type", "%s", "fwcfg");
    host_xml_empty(w, "entry", "name", BM_FWCFG_JOB, "file", s->job_path, NULL);
    host_xml_close(w);
}

static void
write_boot(xmlTextWriter *w, const HostDomainSpec *s)
{
    host_xml_open(w, "os");
    host_xml_open(w, "type");
    host_xml_attribute(w, "arch", "%s", "x86_64");
    host_xml_attribute(w, "machine", "%s", "pc");
    xmlTextWriterWriteString(w, BAD_CAST "hvm");
    host_xml_close(w);
    host_xml_text(w, "kernel", s->kernel);
    if (s->initrd)
        host_xml_text(w, "initrd", s->initrd);
    host_xml_text(w, "cmdline", s->cmdline);
    host_xml_close(w);
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
        host_xml_empty(w, "cpu", "mode", s->kvm ? "host-passthrough" : "maximum", "check", "none",
                       NULL);
        return;
    }
    host_xml_open(w, "cpu");
    host_xml_attribute(w, "mode", "%s", "custom");
    host_xml_attribute(w, "match", "%s", "exact");
    host_xml_attribute(w, "check", "%s", "none");
    host_xml_open(w, "model");
    host_xml_attribute(w, "fallback", "%s", "forbid");
    xmlTextWriterWriteString(w, BAD_CAST "EPYC");
    host_xml_close(w);
    host_xml_empty(w, "feature", "policy", "require", "name", "svm", NULL);
    host_xml_empty(w, "feature", "policy", "require", "name", "npt", NULL);
    host_xml_close(w);
}

static void
write_cpu_and_clock(xmlTextWriter *w, const HostDomainSpec *s)
{
    host_xml_open(w, "features");
    host_xml_empty(w, "acpi", NULL);
    host_xml_empty(w, "apic", NULL);
    host_xml_close(w);
    write_cpu(w, s);

    host_xml_open(w, "clock");
    if (s->icount) {
        host_xml_attribute(w, "offset", "%s", "absolute");
        host_xml_attribute(w, "start", "%" G_GUINT64_FORMAT, (guint64)HOST_ICOUNT_EPOCH_S);
        /* The RTC follows virtual time (-rtc clock=vm); otherwise the host's clock would leak in.
         */
        host_xml_empty(w, "timer", "name", "rtc", "track", "guest", NULL);
    } else {
        host_xml_attribute(w, "offset", "%s", "utc");
    }
    host_xml_close(w);
}

static void
write_socket(xmlTextWriter *w, const char *element, const char *path, const char *target_type,
             const char *target_name)
{
    host_xml_open(w, element);
    host_xml_attribute(w, "type", "%s", "unix");
    /* QEMU connects to us: we listen before it starts, so nothing is lost and no file grows without
     * bound. */
    host_xml_empty(w, "source", "mode", "connect", "path", path, NULL);
    if (target_name)
        host_xml_empty(w, "target", "type", target_type, "name", target_name, NULL);
    else
        host_xml_empty(w, "target", "type", target_type, "port", "0", NULL);
    host_xml_close(w);
}

static void
write_devices(xmlTextWriter *w, const HostDomainSpec *s)
{
    host_xml_open(w, "devices");
    if (s->emulator)
        host_xml_text(w, "emulator", s->emulator);
    /* Each default device costs firmware and kernel time under emulation: none is left. */
    host_xml_empty(w, "controller", "type", "usb", "model", "none", NULL);
    host_xml_empty(w, "controller", "type", "virtio-serial", "index", "0", NULL);
    write_socket(w, "serial", s->console_path, "isa-serial", NULL);
    write_socket(w, "channel", s->report_path, "virtio", BM_PORT_NAME);
    host_xml_empty(w, "memballoon", "model", "none", NULL);
    host_xml_empty(w, "audio", "id", "1", "type", "none", NULL);
    host_xml_close(w);
}

/* What libvirt has no element for. */
static void
write_qemu_arguments(xmlTextWriter *w, const HostDomainSpec *s)
{
    if (!s->icount)
        return;
    g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, s->seed);
    const char *const args[] = {"-icount", "shift=0,sleep=off", "-seed",
                                seed,      "-plugin",           s->plugin};

    host_xml_open(w, "qemu:commandline");
    for (gsize i = 0; i < G_N_ELEMENTS(args) - (s->plugin ? 0 : 2); i++)
        host_xml_empty(w, "qemu:arg", "value", args[i], NULL);
    host_xml_close(w);
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
        {"plugin's path", s->plugin},
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

    host_xml_open(w, "domain");
    host_xml_attribute(w, "type", "%s", s->kvm ? "kvm" : "qemu");
    host_xml_attribute(w, "xmlns:qemu", "%s", HOST_XML_QEMU_NS);
    write_identity(w, s);
    write_cputune(w, s);
    write_job(w, s);
    write_boot(w, s);
    write_cpu_and_clock(w, s);
    host_xml_text(w, "on_poweroff", "destroy");
    host_xml_text(w, "on_reboot", "destroy");
    host_xml_text(w, "on_crash", "destroy");
    write_devices(w, s);
    write_qemu_arguments(w, s);
    host_xml_close(w);
    xmlTextWriterFlush(w);
    return g_strdup((const char *)xmlBufferContent(buffer));
}
