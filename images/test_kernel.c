/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/bzimage.h"
#include "images/image.h"
#include "images/test_util.h"

#define DEBIAN " (debian-kernel@lists.debian.org) #1 SMP Debian"

static void
add_kernel(const char *root, const char *file, const char *version)
{
    g_autoptr(GByteArray) image = test_bzimage(version);
    g_autofree char *name = g_strconcat("boot/", file, NULL);

    test_write_array(root, name, image);
}

static void
assert_found(const char *root, const char *spec, const char *release)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ImgKernel) k = img_kernel_find(root, spec, &error);

    g_assert_no_error(error);
    g_assert_cmpstr(k->release, ==, release);
    g_assert_cmpstr(k->spec, ==, spec);
}

static void
test_choice(void)
{
    g_autoptr(TestDir) root = test_dir_new();

    add_kernel(root, "vmlinuz-6.9.0", "6.9.0 (me@here) #1");
    add_kernel(root, "vmlinuz-6.10.0-rc1", "6.10.0-rc1 (me@here) #1");
    assert_found(root, "default", "6.10.0-rc1");
    add_kernel(root, "vmlinuz-6.10.0", "6.10.0 (me@here) #1");
    assert_found(root, "default", "6.10.0");

    /* Debian's cloud kernels are preferred to newer ones; the newest of them by number, not by
     * text. */
    add_kernel(root, "vmlinuz-a", "6.1.0-9-cloud-amd64" DEBIAN);
    add_kernel(root, "vmlinuz-b", "6.1.0-57-cloud-amd64" DEBIAN);
    add_kernel(root, "vmlinuz-c", "6.1.0-57-rt-amd64" DEBIAN);
    add_kernel(root, "vmlinuz-d", "6.1.0-57-amd64" DEBIAN);
    add_kernel(root, "vmlinuz-e", "6.12.38+deb12-amd64" DEBIAN);
    assert_found(root, "default", "6.1.0-57-cloud-amd64");
    assert_found(root, "debian:6.1", "6.1.0-57-cloud-amd64");
    assert_found(root, "debian:6.12", "6.12.38+deb12-amd64");
    assert_found(root, "boot:6.1.0-57-rt-amd64", "6.1.0-57-rt-amd64");

    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) all = img_kernel_list(root, &error);
    g_assert_no_error(error);
    static const char *const order[] = {"6.12.38+deb12-amd64", "6.10.0",
                                        "6.10.0-rc1",          "6.9.0",
                                        "6.1.0-57-rt-amd64",   "6.1.0-57-cloud-amd64",
                                        "6.1.0-57-amd64",      "6.1.0-9-cloud-amd64"};
    g_assert_cmpuint(all->len, ==, G_N_ELEMENTS(order));
    for (guint i = 0; i < all->len; i++)
        g_assert_cmpstr(((ImgKernel *)all->pdata[i])->release, ==, order[i]);
}

static void
test_fields(void)
{
    g_autoptr(TestDir) root = test_dir_new();
    g_autoptr(GError) error = NULL;

    /* The name lies: what counts is the header. */
    add_kernel(root, "vmlinuz-9.9.9", "6.1.2-lab (me@here) #1");
    test_write_text(root, "boot/config-6.1.2-lab", "CONFIG_NO_HZ_FULL=y\n");
    test_write_text(root, "boot/config-9.9.9", "wrong\n");
    test_write_text(root, "usr/lib/modules/6.1.2-lab/modules.dep", "");
    g_autoptr(ImgKernel) k = img_kernel_find(root, "default", &error);
    g_assert_no_error(error);
    g_autofree char *path = g_strconcat(root, "/boot/vmlinuz-9.9.9", NULL);
    g_autofree char *modules = g_strconcat(root, "/usr/lib/modules/6.1.2-lab", NULL);
    g_autoptr(GByteArray) image = test_bzimage("6.1.2-lab (me@here) #1");
    g_autofree char *sha256 =
        g_compute_checksum_for_data(G_CHECKSUM_SHA256, image->data, image->len);
    g_assert_cmpstr(k->path, ==, path);
    g_assert_cmpstr(k->release, ==, "6.1.2-lab");
    g_assert_cmpstr(k->modules_dir, ==, modules);
    g_assert_cmpstr(k->config, ==, "CONFIG_NO_HZ_FULL=y\n");
    g_assert_cmpstr(k->sha256, ==, sha256);

    /* The same file by its path, with modules from elsewhere. */
    test_write_text(root, "build,tree/modules.builtin", "");
    g_autoptr(ImgKernel) p =
        img_kernel_find(root, "path:/boot/vmlinuz-9.9.9,modules=/build,tree", &error);
    g_assert_no_error(error);
    g_autofree char *tree = g_strconcat(root, "/build,tree", NULL);
    g_assert_cmpstr(p->modules_dir, ==, tree);
    g_assert_cmpstr(p->sha256, ==, sha256);
}

static void
test_unknown(void)
{
    g_autoptr(TestDir) root = test_dir_new();
    g_autoptr(TestDir) empty = test_dir_new();
    const int not_found = IMG_ERROR_NOT_FOUND, invalid = IMG_ERROR_INVALID;
    const struct {
        const char *root, *spec;
        int code;
        const char *says[3];
    } cases[] = {
        {empty, "default", not_found, {"default", "no usable kernel", "/boot"}},
        {root, "boot:6.2.0", not_found, {"6.2.0", "6.1.0-57-cloud-amd64", "unusable"}},
        {root, "boot:bad", invalid, {"boot:bad", "vmlinuz-bad", "HdrS"}},
        {root, "debian:6.12", not_found, {"series 6.12", "6.1.0-57-cloud-amd64", "boot"}},
        {root, "debian:6", invalid, {"debian:6", "debian:MAJOR.MINOR", "6.1.0-57-cloud-amd64"}},
        {root, "debian:6.1+x.patch", invalid, {"6.1+x.patch", "path:FILE", "boot:RELEASE"}},
        {root, "newest", invalid, {"newest", "default", "path:FILE"}},
        {root, "path:/no/such", not_found, {"/no/such", "No such file", "path:"}},
        {root, "path:", invalid, {"path:FILE", "no file", "path:"}},
        {root, "path:/boot", invalid, {"/boot", "not a regular file", "path:"}},
        {root, "path:/boot/vmlinuz-x,modules=/none", not_found, {"/none", "modules.dep", "folder"}},
        {root, "path:/boot/vmlinuz-x,modules=", not_found, {"modules=", "modules.dep", "folder"}},
    };

    /* Debian's series are those of Debian's builds. */
    add_kernel(root, "vmlinuz-x", "6.1.0-57-cloud-amd64" DEBIAN);
    add_kernel(root, "vmlinuz-y", "6.12.1 (me@here) #1");
    test_write_text(root, "boot/vmlinuz-bad",
                    "This text is longer than a header of a kernel: "
                    "................................................"
                    "................................................"
                    "................................................"
                    "................................................"
                    "................................................"
                    "................................................"
                    "................................................"
                    "................................................"
                    "................................................"
                    "................................................"
                    "................................................"
                    "................................................");
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ImgKernel) k = img_kernel_find(cases[i].root, cases[i].spec, &error);
        g_assert_null(k);
        test_error_says(error, IMG_ERROR, cases[i].code, cases[i].says[0], cases[i].says[1],
                        cases[i].says[2], NULL);
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) none = img_kernel_list(empty, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(none->len, ==, 0);
}

/* BYTES at OFFSET of a good image make it one that is refused, saying WHY. */
typedef struct {
    gsize offset;
    const char *bytes;
    gsize count;
    const char *why;
} Damage;

static void
test_damaged(void)
{
    static const Damage damages[] = {
        {0x202, "XXXX", 4, "HdrS"},
        {0x1fe, "\0\0", 2, "0xAA55"},
        {0x206, "\x0b\x02", 2, "2.11"},
        {0x211, "\0", 1, "zImage"},
        {0x236, "\0\0", 2, "32-bit"},
        {0x1f4, "\x01\x01\0\0", 4, "truncated: 5632 bytes, its header says 5648"},
        {0x1f4, "\xff\xff\xff\xff", 4, "truncated"},
        {0x1f4, "\0\0\0\0", 4, "has no kernel"},
        {0x1f1, "\xff", 1, "truncated"},
        {0x20e, "\0\0", 2, "no kernel version"},
        {0x20e, "\xff\xff", 2, "no kernel version"},
        {0x20e, "\0\x04", 2, "no kernel version"},
        {0x400, "../../etc", 10, "not one"},
        {0x400, "a/b", 4, "not one"},
        {0x400, "", 1, "not one"},
        {0x400, " ", 2, "not one"},
        {0x400, "\x1b[31m", 6, "\\033"},
        {0x400, "6.1\n", 5, "\\n"},
    };
    static const Damage foreign[] = {
        {0, "\177ELF", 4, "vmlinux"},
        {0x38, "ARM\x64", 4, "arm64"},
        {0x38, "RSC\x05", 4, "RISC-V"},
        {0x24, "\x18\x28\x6f\x01", 4, "32-bit ARM"},
        {0, "\x1f\x8b", 2, "gzip"},
        {0, "070701", 6, "cpio"},
        {0x3c, "\x40\0\0\0PE\0\0\x64\x86", 10, "unified kernel image"},
        {0x3c, "\x40\0\0\0PE\0\0\x64\xaa", 10, "arm64"},
        {0x3c, "\xff\xff\xff\xff", 4, "HdrS"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(damages); i++) {
        g_autoptr(GByteArray) b = test_bzimage("6.1.0 (me@here) #1");
        g_autoptr(GError) error = NULL;
        memcpy(b->data + damages[i].offset, damages[i].bytes, damages[i].count);
        g_autoptr(ImgBzimage) image = img_bzimage_parse(b->data, b->len, b->len, "FILE", &error);
        g_assert_null(image);
        test_error_says(error, IMG_ERROR, IMG_ERROR_INVALID, "FILE", damages[i].why, NULL);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(foreign); i++) {
        guint8 head[4096] = {0};
        g_autoptr(GError) error = NULL;
        memcpy(head + foreign[i].offset, foreign[i].bytes, foreign[i].count);
        g_autoptr(ImgBzimage) image =
            img_bzimage_parse(head, sizeof head, sizeof head, "FILE", &error);
        g_assert_null(image);
        test_error_says(error, IMG_ERROR, IMG_ERROR_INVALID, "FILE", foreign[i].why, NULL);
    }
}

/* A version text that runs to the end of the setup code without a NUL, and every shorter file. */
static void
test_cut(void)
{
    g_autoptr(GByteArray) b = test_bzimage("6.1.0 (me@here) #1");

    for (gsize size = 0; size < b->len; size += size < 0x300 ? 1 : 64) {
        g_autofree guint8 *exact = g_memdup2(b->data, MAX(size, 1)); /* for the sanitizer's sake */
        g_autoptr(GError) error = NULL;
        g_autoptr(ImgBzimage) image = img_bzimage_parse(exact, size, size, "FILE", &error);
        g_assert_null(image);
        g_assert_error(error, IMG_ERROR, IMG_ERROR_INVALID);
    }
    g_autoptr(GError) error = NULL;
    memset(b->data + 0x400, 'x', 0x200);
    g_autoptr(ImgBzimage) image = img_bzimage_parse(b->data, b->len, b->len, "FILE", &error);
    g_assert_null(image);
    test_error_says(error, IMG_ERROR, IMG_ERROR_INVALID, "has no end", NULL);

    /* A signature behind the kernel is no damage. */
    g_autoptr(GByteArray) good = test_bzimage("6.1.0 (me@here) #1");
    g_autoptr(ImgBzimage) longer =
        img_bzimage_parse(good->data, good->len, good->len + 1472, "FILE", NULL);
    g_assert_nonnull(longer);
    g_assert_cmpstr(longer->version, ==, "6.1.0 (me@here) #1");
}

/* A damaged file does not keep the others from being found, and two of one release are told apart
 * by name. */
static void
test_beside_damaged(void)
{
    g_autoptr(TestDir) root = test_dir_new();
    g_autoptr(GError) error = NULL;

    test_write_text(root, "boot/vmlinuz-6.20.0", "");
    add_kernel(root, "vmlinuz-6.1.0", "6.1.0 (me@here) #2");
    add_kernel(root, "vmlinuz-6.1.0.old", "6.1.0 (me@here) #1");
    add_kernel(root, "vmlinuz-6.2.0.dpkg-new", "6.2.0 (me@here) #1");
    g_autoptr(ImgKernel) k = img_kernel_find(root, "default", &error);
    g_assert_no_error(error);
    g_assert_true(g_str_has_suffix(k->path, "/vmlinuz-6.1.0"));
    g_autoptr(GPtrArray) all = img_kernel_list(root, &error);
    g_assert_cmpuint(all->len, ==, 2);
}

static void
test_this_machine(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) all = img_kernel_list("", &error);

    g_assert_no_error(error);
    if (all->len == 0) {
        g_test_skip("no readable kernel in /boot");
        return;
    }
    const ImgKernel *newest = all->pdata[0];
    g_autofree char *spec = g_strconcat("path:", newest->path, NULL);
    g_autoptr(ImgKernel) k = img_kernel_find("", spec, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(k->release, ==, newest->release);
    g_assert_cmpstr(k->sha256, ==, newest->sha256);
    g_assert_true(g_ascii_isdigit(k->release[0]));
    g_autoptr(ImgKernel) d = img_kernel_find("", "default", &error);
    g_assert_no_error(error);
    g_test_message("default: %s, modules %s", d->path, d->modules_dir ? d->modules_dir : "none");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/images/kernel/choice", test_choice);
    g_test_add_func("/images/kernel/fields", test_fields);
    g_test_add_func("/images/kernel/unknown", test_unknown);
    g_test_add_func("/images/kernel/damaged", test_damaged);
    g_test_add_func("/images/kernel/cut", test_cut);
    g_test_add_func("/images/kernel/beside-damaged", test_beside_damaged);
    g_test_add_func("/images/kernel/this-machine", test_this_machine);
    return g_test_run();
}
