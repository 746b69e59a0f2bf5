/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/wish.h"

#include <string.h>

#include "host/cmdline.h"
#include "host/quote.h"

static HostWish *
wish_new(void)
{
    HostWish *w = g_new0(HostWish, 1);
    HostCpuset **const sets[] = {&w->isolated,    &w->housekeeping, &w->domain,
                                 &w->managed_irq, &w->nohz_full,    &w->rcu_nocbs};

    for (gsize i = 0; i < G_N_ELEMENTS(sets); i++)
        *sets[i] = hwloc_bitmap_alloc();
    return w;
}

void
host_wish_free(HostWish *w)
{
    if (!w)
        return;
    hwloc_bitmap_free(w->isolated);
    hwloc_bitmap_free(w->housekeeping);
    hwloc_bitmap_free(w->domain);
    hwloc_bitmap_free(w->managed_irq);
    hwloc_bitmap_free(w->nohz_full);
    hwloc_bitmap_free(w->rcu_nocbs);
    g_free(w);
}

HostWish *
host_wish_from_sets(const HostCpuset *housekeeping, const HostCpuset *isolated)
{
    HostWish *w = wish_new();

    hwloc_bitmap_copy(w->housekeeping, housekeeping);
    hwloc_bitmap_copy(w->isolated, isolated);
    return w;
}

static void
housekeeping_is_the_rest(HostWish *w, unsigned int ncpus)
{
    if (ncpus)
        hwloc_bitmap_set_range(w->housekeeping, 0, (int)ncpus - 1);
    hwloc_bitmap_andnot(w->housekeeping, w->housekeeping, w->isolated);
}

static void
add_isolcpus(HostWish *w, const char *value, unsigned int ncpus)
{
    g_autoptr(HostIsolcpus) i = host_isolcpus_parse(value, ncpus);

    if (!i->cpus)
        return;
    if (i->flags & HOST_ISOL_DOMAIN)
        hwloc_bitmap_or(w->domain, w->domain, i->cpus);
    if (i->flags & HOST_ISOL_NOHZ)
        hwloc_bitmap_or(w->nohz_full, w->nohz_full, i->cpus);
    if (i->flags & HOST_ISOL_MANAGED_IRQ)
        hwloc_bitmap_or(w->managed_irq, w->managed_irq, i->cpus);
}

static void
add_list(HostCpuset *set, const char *value, unsigned int ncpus)
{
    g_autoptr(HostCpuset) cpus = host_cpulist_parse(value, HOST_CPULIST_KERNEL, ncpus, NULL, NULL);

    if (cpus)
        hwloc_bitmap_or(set, set, cpus);
}

HostWish *
host_wish_from_cmdline(const char *cmdline, unsigned int ncpus)
{
    HostWish *w = wish_new();
    g_autoptr(GPtrArray) params = host_cmdline_split(cmdline, NULL);

    for (guint i = 0; i < host_cmdline_kernel_count(params); i++) {
        const HostParam *p = params->pdata[i];
        if (!p->value)
            continue;
        if (host_param_name_equal(p->name, "isolcpus"))
            add_isolcpus(w, p->value, ncpus);
        else if (host_param_name_equal(p->name, "nohz_full"))
            add_list(w->nohz_full, p->value, ncpus);
        else if (host_param_name_equal(p->name, "rcu_nocbs"))
            add_list(w->rcu_nocbs, p->value, ncpus);
    }
    hwloc_bitmap_or(w->isolated, w->domain, w->nohz_full);
    hwloc_bitmap_or(w->isolated, w->isolated, w->managed_irq);
    housekeeping_is_the_rest(w, ncpus);
    return w;
}

typedef struct {
    const char *file;
    GKeyFile *keys;
    unsigned int ncpus;
} Reader;

/* [host] keys of profiles that say nothing of a partition. */
static const char *const other_keys[] = {"platform", "clock", "cpus", "cmdline",
                                         "observe",  "tune",  NULL};
static const char *const our_keys[] = {"housekeeping", "isolated", "nohz_full",
                                       "rcu_nocbs",    "isolcpus", NULL};

static gboolean
check_keys(const Reader *r, GError **error)
{
    g_auto(GStrv) keys = g_key_file_get_keys(r->keys, "host", NULL, NULL);

    if (!keys) {
        g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_GROUP_NOT_FOUND,
                    "%s: there is no [host] section, which says what the partition is", r->file);
        return FALSE;
    }
    for (char **key = keys; *key; key++) {
        if (g_strv_contains(our_keys, *key) || g_strv_contains(other_keys, *key) ||
            strchr(*key, '.'))
            continue;
        g_autofree char *shown = host_quote(*key, 60);
        g_autofree char *right = g_strjoinv(", ", (char **)our_keys);
        g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_KEY_NOT_FOUND,
                    "%s: [host] %s: there is no such key; a partition has %s", r->file, shown,
                    right);
        return FALSE;
    }
    return TRUE;
}

/* The value of KEY, or WITHOUT when the key is not there. */
static char *
value_of(const Reader *r, const char *key, const char *without)
{
    char *value = g_key_file_get_value(r->keys, "host", key, NULL);

    return value ? g_strstrip(value) : g_strdup(without);
}

/* CPUs beyond the machine are taken as they are; `N` and `all` need its number of CPUs. */
static gboolean
read_list(const Reader *r, const char *key, HostCpuset *set, GError **error)
{
    g_autofree char *text = value_of(r, key, "");
    g_autoptr(GError) why = NULL;
    g_autoptr(HostCpuset) cpus =
        host_cpulist_parse(text, HOST_CPULIST_KERNEL, r->ncpus, NULL, &why);

    if (!cpus && g_error_matches(why, HOST_CPULIST_ERROR, HOST_CPULIST_ERROR_RANGE)) {
        g_clear_error(&why);
        cpus = host_cpulist_parse(text, HOST_CPULIST_KERNEL, 0, NULL, &why);
    }
    if (!cpus) {
        g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE, "%s: [host] %s: %s",
                    r->file, key, why->message);
        return FALSE;
    }
    hwloc_bitmap_copy(set, cpus);
    return TRUE;
}

/* yes or no, and then all of the isolated CPUs or none. */
static gboolean
read_switch(const Reader *r, const char *key, const HostCpuset *isolated, HostCpuset *set,
            GError **error)
{
    static const char *const yes[] = {"yes", "true", "on", "1", NULL};
    static const char *const no[] = {"no", "false", "off", "0", NULL};
    g_autofree char *text = value_of(r, key, "yes");

    if (!g_strv_contains(yes, text) && !g_strv_contains(no, text)) {
        g_autofree char *shown = host_quote(text, 60);
        g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE,
                    "%s: [host] %s = %s: takes yes or no, and is about the CPUs of isolated =",
                    r->file, key, shown);
        return FALSE;
    }
    if (g_strv_contains(yes, text))
        hwloc_bitmap_copy(set, isolated);
    return TRUE;
}

static gboolean
read_flags(const Reader *r, HostWish *w, GError **error)
{
    g_autofree char *text = value_of(r, "isolcpus", "domain,managed_irq");
    if (!strcmp(text, "none") || !*text)
        return TRUE;
    g_auto(GStrv) flags = g_strsplit(text, ",", -1);
    for (char **flag = flags; *flag; flag++) {
        HostCpuset *set = !strcmp(*flag, "domain")        ? w->domain
                          : !strcmp(*flag, "managed_irq") ? w->managed_irq
                          : !strcmp(*flag, "nohz")        ? w->nohz_full
                                                          : NULL;
        if (!set) {
            g_autofree char *shown = host_quote(*flag, 60);
            g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE,
                        "%s: [host] isolcpus: %s is no flag; they are domain, managed_irq and "
                        "nohz, or none",
                        r->file, shown);
            return FALSE;
        }
        hwloc_bitmap_copy(set, w->isolated);
    }
    return TRUE;
}

static gboolean
check_disjoint(const Reader *r, const HostWish *w, GError **error)
{
    g_autoptr(HostCpuset) both = hwloc_bitmap_alloc();

    hwloc_bitmap_and(both, w->housekeeping, w->isolated);
    if (r->ncpus && hwloc_bitmap_iszero(w->housekeeping)) {
        g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE,
                    "%s: [host] isolated: no CPU is left for housekeeping, and one is needed",
                    r->file);
        return FALSE;
    }
    if (hwloc_bitmap_iszero(both))
        return TRUE;
    g_autofree char *list = host_cpulist_format(both);
    g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE,
                "%s: [host] housekeeping and isolated both name CPU %s", r->file, list);
    return FALSE;
}

HostWish *
host_wish_from_file(const char *file, unsigned int ncpus, GError **error)
{
    g_autoptr(GKeyFile) keys = g_key_file_new();
    g_autoptr(GError) why = NULL;
    g_autoptr(HostWish) w = wish_new();
    const Reader r = {file, keys, ncpus};

    if (!g_key_file_load_from_file(keys, file, G_KEY_FILE_NONE, &why)) {
        g_propagate_prefixed_error(error, g_steal_pointer(&why), "%s: ", file);
        return NULL;
    }
    w->from_file = TRUE;
    if (!check_keys(&r, error) || !read_list(&r, "isolated", w->isolated, error) ||
        !read_list(&r, "housekeeping", w->housekeeping, error) ||
        !read_switch(&r, "nohz_full", w->isolated, w->nohz_full, error) ||
        !read_switch(&r, "rcu_nocbs", w->isolated, w->rcu_nocbs, error) ||
        !read_flags(&r, w, error))
        return NULL;
    if (hwloc_bitmap_iszero(w->housekeeping))
        housekeeping_is_the_rest(w, ncpus);
    return check_disjoint(&r, w, error) ? g_steal_pointer(&w) : NULL;
}
