/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The two ways out of PID 1: a line on the console when nothing else can be told, and power-off. */

/* One line "nohzlab: ..." on /dev/console. */
void bm_console_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends the VM. */
void bm_power_off(void) __attribute__((noreturn));
