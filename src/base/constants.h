/* SPDX-License-Identifier: MIT */
/* Constants of waits, and whether readers scale. Only the simulator may give them other values: in
 * its variant each use asks a function of sim/engine/constants.cpp. The function has no effect and
 * makes no reported access, so that it costs no simulated time. */
#ifndef PAWL_CONSTANTS_H
#define PAWL_CONSTANTS_H

#include <pawl/atomic.h>

#ifdef PAWL_SIM

enum pawl_sim_constant {
    PAWL_SIM_FIRST_PAUSE,
    PAWL_SIM_LONGEST_PAUSE,
    PAWL_SIM_SUSPECT_NS,
    PAWL_SIM_SPIN_NS,
    PAWL_SIM_SPINNERS,
    PAWL_SIM_WAKES,
    PAWL_SIM_HANDOFF_NS,
    PAWL_SIM_BRLOCK_SPINS,
    PAWL_SIM_BRLOCK_PATIENCE,
    PAWL_SIM_BIAS, /* enum entries_mode; the environment has no effect there */
    PAWL_SIM_CONSTANTS
};

PAWL_C_BEGIN
uint32_t pawl_sim_constant(enum pawl_sim_constant which, uint32_t usual) __attribute__((const));
PAWL_C_END

#define CONSTANT(name, usual) pawl_sim_constant(PAWL_SIM_##name, usual)

#else

#define CONSTANT(name, usual) (usual)

#endif

#endif
