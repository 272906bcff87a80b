/* SPDX-License-Identifier: MIT */
/* RCU under the checking variant: sections note where they were entered, and misuse is reported. */
#include "rcu.h"

#include "../check/check.h"
#include "../base/base.h"

#if PAWL_CHECKED

/* Valid in functions that are not inlined, also under whole-program optimisation. */
#define SITE __builtin_return_address(0)

/* Zero bytes name the default domain; the program must have made any other. */
static void rcu_check_domain(uint32_t index, const char *call, const void *site)
{
    if (index >= PAWL_RCU_DOMAINS)
        ipawl_report_misuse_("no domain, or one that was overwritten", "rcu domain", NULL, call,
                             site);
    else if (index > PAWL_RCU_QS_ && pawl_load_relaxed32(&rcu_state(index)->taken) == 0)
        rcu_misuse("the domain has been destroyed", index, call, site);
}

/* Called in the outermost section; a reader that is counted apart leaves no note. */
static void rcu_note_entry(uint32_t index, const void *site)
{
    struct pawl_rcu_line *line = rcu_line_of_caller(ipawl_rcu_mine_());
    if (line != NULL)
        PAWL_ADDRESS_(pawl_store_relaxed)(&line->entered[index], (ipawl_address_)(uintptr_t)site);
}

PAWL_COLD void ipawl_rcu_enter_slow_(uint32_t index)
{
    uint32_t depth;
    rcu_check_domain(index, "pawl_rcu_read_lock", SITE);
    depth = rcu_depth(index);
    if (depth == PAWL_RCU_NESTING_)
        rcu_misuse("sections too deep", index, "pawl_rcu_read_lock", SITE);
    rcu_enter(index);
    if (depth == 0)
        rcu_note_entry(index, SITE);
}

PAWL_COLD void ipawl_rcu_leave_slow_(uint32_t index)
{
    if (index == PAWL_RCU_QS_ && rcu_depth(index) == 1 && ipawl_rcu_mine_()->qs_sections != 0)
        rcu_misuse("offline in a section", index, "pawl_rcu_qs_offline", SITE);
    if (!rcu_leave(index))
        rcu_misuse("section left that was not entered", index,
                   index == PAWL_RCU_QS_ ? "pawl_rcu_qs_offline" : "pawl_rcu_read_unlock", SITE);
}

PAWL_COLD void ipawl_rcu_rest_slow_(void)
{
    const uint32_t depth = rcu_depth(PAWL_RCU_QS_);
    if (depth == 0)
        rcu_misuse("quiescent while offline", PAWL_RCU_QS_, "pawl_rcu_qs_quiescent", SITE);
    if (depth > 1 || ipawl_rcu_mine_()->qs_sections != 0)
        rcu_misuse("quiescent in a section", PAWL_RCU_QS_, "pawl_rcu_qs_quiescent", SITE);
    rcu_rest();
}

PAWL_COLD void ipawl_rcu_qs_section_(uint32_t begins)
{
    struct pawl_rcu_mine *mine = ipawl_rcu_mine_();
    if (begins != 0 && !rcu_inside(PAWL_RCU_QS_))
        rcu_misuse("section while offline", PAWL_RCU_QS_, "pawl_rcu_qs_read_lock", SITE);
    if (begins != 0)
        mine->qs_sections++;
    else if (mine->qs_sections != 0)
        mine->qs_sections--;
    else
        rcu_misuse("section left that was not entered", PAWL_RCU_QS_, "pawl_rcu_qs_read_unlock",
                   SITE);
}

PAWL_COLD void ipawl_rcu_must_read_(uint32_t index)
{
    if (!rcu_inside(index))
        rcu_misuse("read outside a section", index, "pawl_rcu_dereference", SITE);
}

PAWL_INTERNAL void rcu_nobody_reads(uint32_t index, const void *site)
{
    bool reads = pawl_load_relaxed32(&rcu_state(index)->apart[0]) != 0 ||
                 pawl_load_relaxed32(&rcu_state(index)->apart[1]) != 0;
    const uint32_t lines = rcu_lines(pawl_load_relaxed32(&process_here()->lines_used));
    for (uint32_t i = 0; i < lines; i++)
        reads = reads || rcu_nesting(pawl_load_relaxed32(&rcu_line(i)->read[index])) != 0;
    if (reads)
        rcu_misuse("destroyed while somebody reads", index, "pawl_rcu_domain_destroy", site);
}

#undef SITE

#endif
