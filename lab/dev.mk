# SPDX-License-Identifier: GPL-2.0-or-later
# What developers and CI call: deps, run, check, check-asan, fuzz, bench, install.
