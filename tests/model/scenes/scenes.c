/* SPDX-License-Identifier: MIT */
/* The tables of all scenes. */
#include "scenes.h"

#include <stddef.h>

extern const struct m_scene m_seq_scenes[], m_wait_scenes[], m_brlock_scenes[];
extern const struct m_scene m_counter_scenes[], m_rcu_scenes[], m_sift_scenes[];
extern const struct m_scene m_plock_scenes[], m_robust_scenes[], m_shared_scenes[];
extern const struct m_scene m_table_scenes[], m_idtable_scenes[], m_cells_scenes[];
extern const struct m_scene m_rcu_call_scenes[], m_rcu_list_scenes[], m_thread_scenes[];
extern const struct m_scene m_rcu_account_scenes[], m_rcu_limit_scenes[], m_lock_scenes[];
extern const struct m_scene m_places_scenes[], m_fork_scenes[], m_lives_scenes[];
extern const struct m_scene m_scaling_scenes[], m_scaling_evidence_scenes[];
extern const struct m_scene m_strangers_scenes[], m_tree_scenes[], m_hash_scenes[];
extern const struct m_scene m_cache_scenes[], m_hazard_scenes[], m_notice_scenes[];

extern const struct m_scene *const m_scenes[];
/* clang-format off */
const struct m_scene *const m_scenes[] = {
    m_seq_scenes, m_wait_scenes, m_brlock_scenes, m_counter_scenes, m_rcu_scenes,
    m_sift_scenes, m_table_scenes, m_idtable_scenes, m_cells_scenes, m_rcu_call_scenes,
    m_rcu_list_scenes, m_thread_scenes, m_plock_scenes, m_robust_scenes, m_shared_scenes,
    m_places_scenes, m_rcu_account_scenes, m_rcu_limit_scenes, m_lock_scenes,
    m_fork_scenes, m_lives_scenes, m_scaling_scenes, m_scaling_evidence_scenes,
    m_strangers_scenes, m_tree_scenes, m_hash_scenes, m_cache_scenes, m_hazard_scenes,
    m_notice_scenes, NULL,
};
/* clang-format on */
