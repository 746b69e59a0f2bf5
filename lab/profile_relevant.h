/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * [relevant]  METRIC = CHANGE: the smallest change of a metric that matters when sets are compared,
 * as a share of its figure ("2%") or in its unit ("5").
 */
#include "lab/profile.h"

const GPtrArray *lab_profile_relevant(const LabProfile *p); /* LabSetting *: key is the metric */
