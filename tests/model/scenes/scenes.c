/* SPDX-License-Identifier: MIT */
/* The tables of all scenes. */
#include "scenes.h"

#include <stddef.h>

extern const struct m_scene m_seq_scenes[], m_wait_scenes[], m_brlock_scenes[];
extern const struct m_scene m_counter_scenes[], m_rcu_scenes[], m_sift_scenes[];

extern const struct m_scene *const m_scenes[];
const struct m_scene *const m_scenes[] = {
    m_seq_scenes, m_wait_scenes, m_brlock_scenes, m_counter_scenes, m_rcu_scenes,
    m_sift_scenes, NULL,
};
