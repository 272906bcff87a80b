/* SPDX-License-Identifier: MIT */
/*
 * Hazard pointers: making words, and freeing what none of them names. It allocates nothing: the
 * retired objects of a shard are hashed by their addresses into chains, by their own heads, and
 * each word takes out what it names.
 */
#include <pawl/hazard.h>

#include "rcu.h"

#include "../base/base.h"
#include "../check/check.h"

#if PAWL_HOOKS /* models free at once */
#define HAZARD_SHARDS 1u
#define HAZARD_CHAINS 2u
#define HAZARD_MOST(words) ((void)(words), 1u)
#else
#define HAZARD_SHARDS PAWL_HAZARD_SHARDS
#define HAZARD_CHAINS 256u
#define HAZARD_MOST(words) (PAWL_HAZARD_BATCH + (words))
#endif

struct hazard_line {
    pawl_hazard words[PAWL_HAZARD_IN_LINE_];
} __attribute__((aligned(PAWL_CACHE_LINE)));

struct hazard_shard {
    ipawl_address_ newest; /* its pawl_hazard_head, or 0 */
    uint32_t retired;      /* since somebody took the last ones */
} __attribute__((aligned(PAWL_CACHE_LINE)));

struct pawl_hazards {
    uint32_t used; /* lines[used...] have never had a word */
    uint32_t last; /* a line that had a free word when a thread's own line had none */
    struct hazard_shard shards[HAZARD_SHARDS];
    struct hazard_line lines[PAWL_HAZARD_LINES_];
};

PAWL_SHARED_DECLARE(struct pawl_hazards, hazards_object);
PAWL_SHARED_DEFINE(struct pawl_hazards, hazards_object);

#if PAWL_HOOKS
#define HAZARD_IS_THERE() true
#define HAZARD_FREES (*hazard_frees())
static uint32_t *hazard_frees(void) /* in models no function retires */
{
    static uint32_t no_thread;
    no_thread = 0;
    return &no_thread;
}
#else
#define HAZARD_IS_THERE() PAWL_SHARED_ASK(struct pawl_hazards, hazards_object)
#define HAZARD_FREES (pawl_os_own()->frees_hazards)
#endif

#if PAWL_TOLD_ && !PAWL_HOOKS
#define HAZARD_TOLD_GIVE(clock) ipawl_told_give_(clock)
#define HAZARD_TOLD_GET(clock) ipawl_told_get_(clock)
#else
#define HAZARD_TOLD_GIVE(clock) ((void)(clock))
#define HAZARD_TOLD_GET(clock) ((void)(clock))
#endif

static struct pawl_hazards *hazards_here(void)
{
    return PAWL_SHARED(struct pawl_hazards, hazards_object);
}

/* The number of the caller's line; a thread without one shares the first. */
static uint32_t hazard_home(void)
{
    const struct pawl_thread_line *const line = ipawl_thread_line_();
    return line == NULL ? 0 : thread_number(line) % PAWL_HAZARD_LINES_;
}

/* ---- The checking variant -------------------------------------------------------------------- */

#if PAWL_CHECKED
void PAWL_SYMBOL_(pawl_hazard_must_be_made)(const pawl_hazard *h)
{
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&h->object) == 0)
        ipawl_report_misuse_("used after its drop", "hazard pointer", h, "pawl_hazard",
                             __builtin_return_address(0));
}

static ipawl_address_ hazard_mark(const pawl_hazard_head *head)
{
    return (ipawl_address_)(uintptr_t)head ^ (ipawl_address_)0x5a4a2d;
}

#define HAZARD_MARK(head) ((head)->retired = hazard_mark(head))
#define HAZARD_UNMARK(head) ((head)->retired = 0)
#define HAZARD_CHECK(head)                                                                         \
    do {                                                                                           \
        if ((head)->retired == hazard_mark(head))                                                  \
            ipawl_report_misuse_("retired twice", "hazard pointer's object", (head)->object,       \
                                 "pawl_hazard_retire", __builtin_return_address(0));               \
    } while (0)
#else
#define HAZARD_MARK(head) ((void)(head))
#define HAZARD_UNMARK(head) ((void)(head))
#define HAZARD_CHECK(head) ((void)(head))
#endif

/* ---- Words ----------------------------------------------------------------------------------- */

static bool hazard_claim(pawl_hazard *h)
{
    ipawl_address_ object = 0;
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&h->object) != 0)
        return false;
    /* [HAZARD_CLAIM] acquire: the last owner's reads come before what we store. */
    return PAWL_ADDRESS_(pawl_cas_acquire)(&h->object, &object, PAWL_HAZARD_NONE_,
                                           PAWL_HAZARD_CLAIM);
}

static pawl_hazard *hazard_claim_in(uint32_t number)
{
    struct pawl_hazards *const all = hazards_here();
    uint32_t used = pawl_load_relaxed32(&all->used), i;
    for (i = 0; i < PAWL_HAZARD_IN_LINE_; i++) {
        if (!hazard_claim(&all->lines[number].words[i]))
            continue;
        /* Relaxed: it comes before the fence of HAZARD_ENTER, as the word does. */
        while (used <= number && !pawl_cas_relaxed32(&all->used, &used, number + 1))
            continue;
        return &all->lines[number].words[i];
    }
    return NULL;
}

pawl_hazard *pawl_hazard_make(void)
{
    const uint32_t home = hazard_home();
    pawl_hazard *h;
    uint32_t last;
    if (!HAZARD_IS_THERE())
        return NULL;
    h = hazard_claim_in(home);
    last = pawl_load_relaxed32(&hazards_here()->last);
    for (uint32_t i = 0; i < PAWL_HAZARD_LINES_ && h == NULL; i++) {
        const uint32_t number = (last + i) % PAWL_HAZARD_LINES_;
        h = hazard_claim_in(number);
        if (h != NULL)
            pawl_store_relaxed32(&hazards_here()->last, number);
    }
    return h;
}

/* ---- Freeing --------------------------------------------------------------------------------- */

static void hazard_push(struct hazard_shard *shard, pawl_hazard_head *head)
{
    ipawl_address_ newest = PAWL_ADDRESS_(pawl_load_relaxed)(&shard->newest);
    PLAIN_WRITE(head->object);
    HAZARD_TOLD_GIVE(shard);
    do {
        head->next = (pawl_hazard_head *)(uintptr_t)newest;
        /* [HAZARD_PUSH] release: the head, and the removal before it, are there before it is
         * taken. */
    } while (!PAWL_ADDRESS_(pawl_cas_release)(&shard->newest, &newest,
                                              (ipawl_address_)(uintptr_t)head, PAWL_HAZARD_PUSH));
}

static pawl_hazard_head **hazard_chain(pawl_hazard_head **chains, uintptr_t object)
{
    return &chains[(uint32_t)(object >> 4 ^ object >> 12) % HAZARD_CHAINS];
}

/* Hangs all of the shard into the chains. */
static bool hazard_take(struct hazard_shard *shard, pawl_hazard_head **chains)
{
    /* [HAZARD_TAKE] acquire: we see each head, and come after each removal. */
    pawl_hazard_head *head = (pawl_hazard_head *)(uintptr_t)PAWL_ADDRESS_(pawl_exchange_acquire)(
        &shard->newest, 0, PAWL_HAZARD_TAKE);
    const bool found = head != NULL;
    HAZARD_TOLD_GET(shard);
    while (head != NULL) {
        pawl_hazard_head *const next = head->next;
        PLAIN_READ(head->object);
        pawl_hazard_head **const chain = hazard_chain(chains, (uintptr_t)head->object);
        head->next = *chain;
        *chain = head;
        head = next;
    }
    return found;
}

/* Puts the objects that words name back into the shard. */
static void hazard_spare(struct hazard_shard *shard, pawl_hazard_head **chains)
{
    const uint32_t used = pawl_load_relaxed32(&hazards_here()->used);
    for (uint32_t i = 0; i < used * PAWL_HAZARD_IN_LINE_; i++) {
        const pawl_hazard *const h =
            &hazards_here()->lines[i / PAWL_HAZARD_IN_LINE_].words[i % PAWL_HAZARD_IN_LINE_];
        /* [HAZARD_SEEN] acquire: if the word names another object by now, the function comes after
         * its reads of this one. */
        const ipawl_address_ object =
            PAWL_ADDRESS_(pawl_load_acquire)(&h->object, PAWL_HAZARD_SEEN);
        pawl_hazard_head **link = hazard_chain(chains, (uintptr_t)object);
        HAZARD_TOLD_GET(h);
        while (*link != NULL) {
            pawl_hazard_head *const head = *link;
            if ((ipawl_address_)(uintptr_t)head->object == object) {
                *link = head->next;
                hazard_push(shard, head);
            } else {
                link = &head->next;
            }
        }
    }
}

/* Returns whether it has called a function. */
static bool hazard_free(struct hazard_shard *shard)
{
    pawl_hazard_head *chains[HAZARD_CHAINS] = {NULL};
    bool called = false;
    pawl_store_relaxed32(&shard->retired, 0);
    if (!hazard_take(shard, chains))
        return false;
    /* [HAZARD_LOOK] heavy: a reader sees the removals, or we see its word. */
    pawl_fence_heavy(PAWL_HAZARD_LOOK);
    hazard_spare(shard, chains);
    for (uint32_t i = 0; i < HAZARD_CHAINS; i++) {
        while (chains[i] != NULL) {
            pawl_hazard_head *const head = chains[i];
            chains[i] = head->next;
            HAZARD_UNMARK(head);
            head->function(head->object);
            called = true;
        }
    }
    return called;
}

void pawl_hazard_retire(pawl_hazard_head *head, void *object, pawl_hazard_function *function)
{
    struct hazard_shard *const shard = &hazards_here()->shards[hazard_home() % HAZARD_SHARDS];
    const uint32_t words =
        pawl_load_relaxed32(&hazards_here()->used) * (uint32_t)PAWL_HAZARD_IN_LINE_;
    HAZARD_CHECK(head);
    head->object = object;
    head->function = function;
    HAZARD_MARK(head);
    hazard_push(shard, head);
    (void)pawl_fetch_add_relaxed32(&shard->retired, 1);
    /* The caller of a function frees the objects that it retires: no recursion. */
    if (HAZARD_FREES != 0)
        return;
    HAZARD_FREES = 1;
    while (pawl_load_relaxed32(&shard->retired) >= HAZARD_MOST(words))
        (void)hazard_free(shard);
    HAZARD_FREES = 0;
}

void pawl_hazard_clean_up(void)
{
    bool again = HAZARD_FREES == 0;
    if (!again)
        return;
    HAZARD_FREES = 1;
    while (again) {
        again = false;
        for (uint32_t i = 0; i < HAZARD_SHARDS; i++)
            again = hazard_free(&hazards_here()->shards[i]) || again;
    }
    HAZARD_FREES = 0;
}
