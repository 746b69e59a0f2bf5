/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only. */
#include "results/calibration.h"

ResCalibration *res_calibration_empty(void);
