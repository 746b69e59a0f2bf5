/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/elf_closure.h"
#include "images/elf_object.h"
#include "images/image.h"
#include "images/test_util.h"

#define PLENTY ((gsize)15 << 20)
#define LIB "lib/x86_64-linux-gnu"
#define INTERP "/lib64/ld-linux-x86-64.so.2"

/* An empty fake root with a loader and a C library. */
static char *
new_root(void)
{
    char *root = test_dir_new();
    g_autoptr(GByteArray) loader = test_elf(&(TestElf){.soname = "ld-linux-x86-64.so.2"});
    g_autoptr(GByteArray) libc =
        test_elf(&(TestElf){.soname = "libc.so.6", .needed = {"ld-linux-x86-64.so.2"}});

    test_write_array(root, INTERP, loader);
    test_write_array(root, LIB "/libc.so.6", libc);
    return root;
}

static void
add_elf(const char *root, const char *name, const TestElf *t)
{
    g_autoptr(GByteArray) b = test_elf(t);
    test_write_array(root, name, b);
}

static gboolean
add_program(ImgClosure *c, const char *root, const char *host, const char *guest, const TestElf *t,
            GError **error)
{
    g_autoptr(GByteArray) b = test_elf(t);
    g_autofree char *path = test_write(root, host, b->data, b->len);
    g_autoptr(GBytes) content = g_bytes_new(b->data, b->len);

    return img_closure_add(c, path, guest, content, PLENTY, error);
}

/* GUEST comes from ROOT/HOST. */
static void
assert_library(const ImgClosure *c, const char *root, const char *guest, const char *host)
{
    const GPtrArray *all = img_closure_libraries(c);
    g_autofree char *path = g_build_filename(root, host, NULL);

    for (guint i = 0; i < all->len; i++) {
        const ImgLibrary *l = all->pdata[i];
        if (strcmp(l->guest_path, guest) != 0)
            continue;
        g_assert_cmpstr(l->host_path, ==, path);
        return;
    }
    g_error("%s is not in the closure", guest);
}

static void
test_closure(void)
{
    g_autoptr(TestDir) root = new_root();
    g_autoptr(GError) error = NULL;
    g_autoptr(ImgClosure) c = img_closure_new(root, &error);

    add_elf(root, "usr/lib/x86_64-linux-gnu/libb.so.1", &(TestElf){.needed = {"libc.so.6"}});
    add_elf(root, LIB "/liba.so.1", &(TestElf){.needed = {"libb.so.1", "libc.so.6", "liba.so.1"}});
    const TestElf program = {.interp = INTERP, .needed = {"liba.so.1", "libc.so.6"}};
    g_assert_true(add_program(c, root, "bin/p", "/bin/p", &program, &error));
    g_assert_no_error(error);
    g_assert_true(add_program(c, root, "bin/q", "/bin/q", &program, &error));
    assert_library(c, root, INTERP, INTERP);
    assert_library(c, root, "/lib/x86_64-linux-gnu/libc.so.6", LIB "/libc.so.6");
    assert_library(c, root, "/lib/x86_64-linux-gnu/liba.so.1", LIB "/liba.so.1");
    assert_library(c, root, "/usr/lib/x86_64-linux-gnu/libb.so.1",
                   "usr/lib/x86_64-linux-gnu/libb.so.1");
    /* The loader is known by its own name and is not taken a second time. */
    g_assert_cmpuint(img_closure_libraries(c)->len, ==, 4);
}

static void
test_no_libraries(void)
{
    g_autoptr(TestDir) root = new_root();
    g_autoptr(GError) error = NULL;
    g_autoptr(ImgClosure) c = img_closure_new(root, &error);
    const TestElf other = {.machine = EM_386, .static_only = TRUE}, pie = {.soname = NULL};
    g_autoptr(GBytes) script = g_bytes_new_static("#!/bin/sh\n", 10);
    g_autoptr(GBytes) nothing = g_bytes_new_static("", 0);

    g_assert_true(add_program(c, root, "flat", "/flat", &other, &error));
    g_assert_true(add_program(c, root, "pie", "/pie", &pie, &error));
    g_assert_true(img_closure_add(c, "script", "/script", script, PLENTY, &error));
    g_assert_true(img_closure_add(c, "nothing", "/nothing", nothing, PLENTY, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(img_closure_libraries(c)->len, ==, 0);
}

static void
test_wrong_class(void)
{
    g_autoptr(TestDir) root = new_root();
    g_autoptr(GError) error = NULL;
    g_autoptr(ImgClosure) c = img_closure_new(root, &error);
    const TestElf program = {.interp = INTERP, .needed = {"libx.so"}};
    const TestElf arm = {.interp = INTERP, .machine = EM_AARCH64};

    add_elf(root, LIB "/libx.so", &(TestElf){.machine = EM_AARCH64});
    g_autoptr(GByteArray) narrow = test_elf(&(TestElf){.static_only = TRUE});
    Elf32_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_386,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof header,
    };
    memcpy(narrow->data, &header, sizeof header);
    test_write_array(root, "lib64/libx.so", narrow);
    g_assert_false(add_program(c, root, "p", "/p", &program, &error));
    test_error_says(error, IMG_ERROR, IMG_ERROR_NOT_FOUND, "libx.so", "/p", LIB, NULL);
    g_clear_error(&error);

    add_elf(root, "usr/lib/libx.so", &(TestElf){.soname = "libx.so"});
    g_assert_true(add_program(c, root, "p", "/p", &program, &error));
    g_assert_no_error(error);
    assert_library(c, root, "/usr/lib/libx.so", "usr/lib/libx.so");

    g_assert_false(add_program(c, root, "p", "/p", &arm, &error));
    test_error_says(error, IMG_ERROR, IMG_ERROR_INVALID, "another architecture", "/p", NULL);
}

/* $ORIGIN is the folder of the object on this machine to find it, and the one in the image to place
 * it. */
static void
test_rpath(void)
{
    g_autoptr(TestDir) root = new_root();
    g_autoptr(GError) error = NULL;
    g_autoptr(ImgClosure) c = img_closure_new(root, &error);

    add_elf(root, "opt/app/lib/libr.so", &(TestElf){.needed = {"libdeep.so"}});
    add_elf(root, "opt/app/lib/libdeep.so", &(TestElf){.soname = "libdeep.so"});
    add_elf(root, "opt/abs/libabs.so", &(TestElf){.soname = "libabs.so"});
    const TestElf program = {.interp = INTERP,
                             .rpath = "$LIB/no::relative:${ORIGIN}/../lib:/opt/abs",
                             .needed = {"libr.so", "libabs.so"}};
    g_assert_true(add_program(c, root, "opt/app/bin/p", "/srv/bin/p", &program, &error));
    g_assert_no_error(error);
    assert_library(c, root, "/srv/lib/libr.so", "opt/app/lib/libr.so");
    assert_library(c, root, "/srv/lib/libdeep.so", "opt/app/lib/libdeep.so"); /* inherited */
    assert_library(c, root, "/opt/abs/libabs.so", "opt/abs/libabs.so");

    /* DT_RUNPATH is for the object's own needs, and puts its DT_RPATH out of force. */
    g_autoptr(ImgClosure) r = img_closure_new(root, &error);
    const TestElf own = {.interp = INTERP, .runpath = "$ORIGIN/../lib", .needed = {"libr.so"}};
    g_assert_false(add_program(r, root, "opt/app/bin/p", "/srv/bin/p", &own, &error));
    test_error_says(error, IMG_ERROR, IMG_ERROR_NOT_FOUND, "libr.so", "libdeep.so", NULL);
    g_clear_error(&error);
    g_autoptr(ImgClosure) both = img_closure_new(root, &error);
    const TestElf dead = {
        .interp = INTERP, .rpath = "/opt/abs", .runpath = "/nothing", .needed = {"libabs.so"}};
    g_assert_false(add_program(both, root, "opt/app/bin/p", "/srv/bin/p", &dead, &error));
    test_error_says(error, IMG_ERROR, IMG_ERROR_NOT_FOUND, "libabs.so", "/nothing", NULL);
}

/* Two programs, each with a library of its own of the same name. */
static void
test_conflict(void)
{
    g_autoptr(TestDir) root = new_root();
    g_autoptr(GError) error = NULL;
    g_autoptr(ImgClosure) c = img_closure_new(root, &error);
    const TestElf program = {.interp = INTERP, .runpath = "$ORIGIN", .needed = {"libx.so"}};

    add_elf(root, "a/libx.so", &(TestElf){.filler = 1});
    add_elf(root, "b/libx.so", &(TestElf){.filler = 2});
    g_assert_true(add_program(c, root, "a/p", "/a/p", &program, &error));
    g_assert_true(add_program(c, root, "b/p", "/b/p", &program, &error));
    g_assert_no_error(error);
    assert_library(c, root, "/a/libx.so", "a/libx.so");
    assert_library(c, root, "/b/libx.so", "b/libx.so");

    g_autoptr(ImgClosure) one = img_closure_new(root, &error);
    g_assert_true(add_program(one, root, "a/p", "/bin/p", &program, &error));
    g_assert_false(add_program(one, root, "b/p", "/bin/q", &program, &error));
    test_error_says(error, IMG_ERROR, IMG_ERROR_INVALID, "/a/libx.so", "/b/libx.so", "/bin/libx.so",
                    NULL);
}

/* The guest has no ld.so.cache: what only ld.so.conf leads to goes where its ld.so looks by itself.
 */
static void
test_ld_so_conf(void)
{
    g_autoptr(TestDir) root = new_root();
    g_autoptr(GError) error = NULL;
    const TestElf program = {.interp = INTERP, .needed = {"liblocal.so", "libcolon.so"}};

    test_write_text(root, "etc/ld.so.conf",
                    "# libraries\n\ninclude ld.so.conf.d/*.conf\nhwcap 1 nosegneg\nrelative/dir\n");
    test_write_text(root, "etc/ld.so.conf.d/one.conf", "/usr/local/lib # comment\n/c:/d\n");
    test_write_text(root, "etc/ld.so.conf.d/two.notconf", "/hidden\n");
    add_elf(root, "usr/local/lib/liblocal.so", &(TestElf){.soname = "liblocal.so"});
    add_elf(root, "d/libcolon.so", &(TestElf){.soname = "libcolon.so"});
    g_autoptr(ImgClosure) c = img_closure_new(root, &error);
    g_assert_no_error(error);
    g_assert_true(add_program(c, root, "p", "/p", &program, &error));
    g_assert_no_error(error);
    assert_library(c, root, "/lib/x86_64-linux-gnu/liblocal.so", "usr/local/lib/liblocal.so");
    assert_library(c, root, "/lib/x86_64-linux-gnu/libcolon.so", "d/libcolon.so");

    const TestElf hidden = {.interp = INTERP, .needed = {"libhidden.so"}};
    add_elf(root, "hidden/libhidden.so", &(TestElf){.soname = "libhidden.so"});
    g_assert_false(add_program(c, root, "p", "/p", &hidden, &error));
    test_error_says(error, IMG_ERROR, IMG_ERROR_NOT_FOUND, "libhidden.so", "/usr/local/lib", NULL);
    g_clear_error(&error);

    test_write_text(root, "etc/ld.so.conf", "include ld.so.conf\n");
    g_autoptr(ImgClosure) endless = img_closure_new(root, &error);
    g_assert_null(endless);
    test_error_says(error, IMG_ERROR, IMG_ERROR_INVALID, "ld.so.conf", "include itself", NULL);
}

/* pthread_cancel(3) has the C library load libgcc_s.so.1 by itself: no DT_NEEDED says so. */
static void
test_unwinding(void)
{
    g_autoptr(TestDir) root = new_root();
    g_autoptr(GError) error = NULL;
    g_autoptr(ImgClosure) c = img_closure_new(root, &error);
    const TestElf cancels = {.interp = INTERP, .needed = {"libc.so.6"}, .import = "pthread_cancel"};
    const TestElf joins = {.interp = INTERP, .needed = {"libc.so.6"}, .import = "pthread_join"};

    g_assert_true(add_program(c, root, "p", "/p", &joins, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(img_closure_libraries(c)->len, ==, 2);
    g_assert_false(add_program(c, root, "p", "/p", &cancels, &error));
    test_error_says(error, IMG_ERROR, IMG_ERROR_NOT_FOUND, "libgcc_s.so.1", "/p", NULL);
    g_clear_error(&error);
    add_elf(root, LIB "/libgcc_s.so.1", &(TestElf){.needed = {"libc.so.6"}});
    g_assert_true(add_program(c, root, "p", "/p", &cancels, &error));
    g_assert_no_error(error);
    assert_library(c, root, "/lib/x86_64-linux-gnu/libgcc_s.so.1", LIB "/libgcc_s.so.1");
}

static void
test_refused(void)
{
    g_autoptr(TestDir) root = new_root();
    const struct {
        TestElf elf;
        int code;
        const char *says;
    } cases[] = {
        {{.interp = "/no/ld.so"}, IMG_ERROR_NOT_FOUND, "/no/ld.so"},
        {{.interp = "ld.so"}, IMG_ERROR_INVALID, "not an absolute path"},
        {{.interp = INTERP, .needed = {"./libx.so"}}, IMG_ERROR_INVALID, "working directory"},
        {{.interp = INTERP, .needed = {""}}, IMG_ERROR_INVALID, "working directory"},
        {{.interp = INTERP, .needed = {"libscript.so"}}, IMG_ERROR_INVALID, "not an ELF file"},
        {{.interp = INTERP, .needed = {"libdir.so"}}, IMG_ERROR_INVALID, "not a regular file"},
        {{.interp = INTERP, .needed = {"libcut.so"}}, IMG_ERROR_INVALID, "libcut.so"},
        {{.interp = INTERP, .needed = {"libbig.so"}}, IMG_ERROR_LIMIT, "libbig.so"},
    };
    g_autoptr(GByteArray) cut = test_elf(&(TestElf){.soname = "libcut.so"});
    g_autofree char *big = test_write(root, LIB "/libbig.so", "", 0);

    test_write_text(root, LIB "/libscript.so", "/* GNU ld script */");
    test_write_text(root, LIB "/libdir.so/file", "");
    g_byte_array_set_size(cut, cut->len - 1);
    test_write_array(root, LIB "/libcut.so", cut);
    g_assert_cmpint(truncate(big, (off_t)1 << 40), ==, 0); /* sparse */
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ImgClosure) c = img_closure_new(root, &error);
        g_assert_no_error(error);
        g_assert_false(add_program(c, root, "p", "/p", &cases[i].elf, &error));
        test_error_says(error, IMG_ERROR, cases[i].code, "/p", cases[i].says, NULL);
    }
}

/* Every byte of the headers changed in turn, and every length: refused or read, never a crash. */
static void
test_damaged(void)
{
    const TestElf t = {.interp = INTERP,
                       .soname = "libx.so",
                       .rpath = "/r",
                       .runpath = "/s",
                       .needed = {"liby.so", "libz.so"}};
    g_autoptr(GByteArray) good = test_elf(&t);
    guint refused = 0;

    for (gsize at = 0; at < 0x700; at++)
        for (guint flip = 0; flip < 2; flip++) {
            g_autoptr(GBytes) bytes = g_bytes_new(good->data, good->len);
            g_autoptr(GError) error = NULL;
            ((guint8 *)g_bytes_get_data(bytes, NULL))[at] ^= flip ? 0xff : 0x01;
            g_autoptr(ImgElf) elf = img_elf_parse(bytes, "FILE", &error);
            g_assert_true((elf == NULL) == (error != NULL));
            refused += elf == NULL;
        }
    g_assert_cmpuint(refused, >, 50);
    for (gsize size = 0; size < good->len; size += 13) {
        g_autoptr(GBytes) bytes = g_bytes_new(good->data, size);
        g_autoptr(GError) error = NULL;
        g_autoptr(ImgElf) elf = img_elf_parse(bytes, "FILE", &error);
        g_assert_null(elf);
        test_error_says(error, IMG_ERROR, IMG_ERROR_INVALID, "FILE", "damaged", NULL);
    }
    g_autoptr(GBytes) whole = g_bytes_new(good->data, good->len);
    g_autoptr(ImgElf) elf = img_elf_parse(whole, "FILE", NULL);
    g_assert_cmpstr(elf->interp, ==, INTERP);
    g_assert_cmpstr(elf->soname, ==, "libx.so");
    g_assert_cmpstr(elf->rpath, ==, "/r");
    g_assert_cmpstr(elf->runpath, ==, "/s");
    g_assert_cmpuint(elf->needed->len, ==, 2);
    g_assert_cmpstr(elf->needed->pdata[1], ==, "libz.so");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/images/elf/closure", test_closure);
    g_test_add_func("/images/elf/no-libraries", test_no_libraries);
    g_test_add_func("/images/elf/wrong-class", test_wrong_class);
    g_test_add_func("/images/elf/rpath", test_rpath);
    g_test_add_func("/images/elf/conflict", test_conflict);
    g_test_add_func("/images/elf/ld-so-conf", test_ld_so_conf);
    g_test_add_func("/images/elf/unwinding", test_unwinding);
    g_test_add_func("/images/elf/refused", test_refused);
    g_test_add_func("/images/elf/damaged", test_damaged);
    return g_test_run();
}
