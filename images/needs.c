/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lab wants of a kernel, read from its config before a boot is wasted. */
#include <string.h>

#include "images/catalogue.h"

static const ImgNeed wanted[] = {
    {"CONFIG_VIRTIO_PCI", "the port for the guest's report", TRUE, FALSE},
    {"CONFIG_VIRTIO_CONSOLE", "the port for the guest's report", TRUE, FALSE},
    {"CONFIG_FW_CFG_SYSFS", "the guest's job comes by it", TRUE, FALSE},
    {"CONFIG_BLK_DEV_INITRD", "guests boot from an initramfs", TRUE, FALSE},
    {"CONFIG_SERIAL_8250_CONSOLE", "the console", TRUE, FALSE},
    {"CONFIG_DEVTMPFS", "the guest's devices", TRUE, FALSE},
    {"CONFIG_HIGH_RES_TIMERS", "cyclictest", TRUE, FALSE},
    {"CONFIG_NO_HZ_FULL", "nohz_full=", FALSE, FALSE},
    {"CONFIG_VIRT_CPU_ACCOUNTING_GEN", "the accounting nohz_full= works with", FALSE, FALSE},
    {"CONFIG_CPU_ISOLATION", "isolcpus=", FALSE, FALSE},
    {"CONFIG_RCU_NOCB_CPU", "rcu_nocbs=", FALSE, FALSE},
    {"CONFIG_FUNCTION_GRAPH_TRACER", "durations of kernel functions", FALSE, FALSE},
    {"CONFIG_HIST_TRIGGERS", "counting events in the kernel", FALSE, FALSE},
    {"CONFIG_KVM_AMD", "to be the lab host of a box", FALSE, FALSE},
};

/* "CONFIG_X=y" or "=m", at the beginning of a line. */
static gboolean
is_set(const char *config, const char *option)
{
    gsize n = strlen(option);

    for (const char *at = strstr(config, option); at; at = strstr(at + 1, option))
        if ((at == config || at[-1] == '\n') && at[n] == '=' &&
            (at[n + 1] == 'y' || at[n + 1] == 'm'))
            return TRUE;
    return FALSE;
}

GArray *
img_kernel_needs(const ImgKernel *k)
{
    if (!k->config)
        return NULL;
    GArray *needs = g_array_new(FALSE, FALSE, sizeof(ImgNeed));
    for (gsize i = 0; i < G_N_ELEMENTS(wanted); i++) {
        ImgNeed need = wanted[i];
        need.have = is_set(k->config, need.option);
        g_array_append_val(needs, need);
    }
    return needs;
}
