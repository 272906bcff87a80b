/* SPDX-License-Identifier: MIT */
/* Hazard pointers: what was retired is freed once, and after each reader that names it. */
#include <pawl/hazard.h>

#include "scenes.h"

enum { OLD, NEW, OTHER, THINGS };

struct object {
    pawl_hazard_head head;
};

struct stage {
    struct object objects[THINGS];
    struct object *place;
    uint32_t freed;
};
#define STAGE M_SCENE(struct stage)

static uint32_t cell_of(const struct object *o)
{
    return (uint32_t)(o - STAGE->objects);
}

/* A thread that looks into it now, or has done so and comes not before us, races with this. */
static void forget(void *object)
{
    m_write(cell_of((struct object *)object), 0);
    STAGE->freed |= 1u << cell_of((struct object *)object);
}

static void publish_old(void)
{
    m_register_threads(4);
    m_write(OLD, 7);
    STAGE->place = &STAGE->objects[OLD];
}

static void fill_the_line_of_the_second(void)
{
    publish_old();
    m_become(1);
    for (unsigned i = 0; i < PAWL_HAZARD_IN_LINE_; i++)
        (void)pawl_hazard_make();
    m_become(0);
}

static pawl_hazard *make(void)
{
    M_DO(pawl_hazard *h = pawl_hazard_make());
    m_demand(PAWL_ADDRESS_(pawl_load_relaxed)(&h->object) == PAWL_HAZARD_NONE_, M_EXCLUSION,
             "the word is still free");
    return h;
}

static void look(pawl_hazard *h)
{
    M_DO(const struct object *found = pawl_hazard_protect(h, &STAGE->place));
    m_demand(m_read(cell_of(found)) == 7, M_VISIBILITY, "an object that was not ready, or gone");
}

static void reads(void)
{
    pawl_hazard *const h = make();
    look(h);
    M_STEP(pawl_hazard_drop(h));
}

static void reads_twice(void)
{
    pawl_hazard *const h = make();
    look(h);
    look(h);
    M_STEP(pawl_hazard_reset(h, NULL));
}

static void retire(unsigned i)
{
    struct object *const o = &STAGE->objects[i];
    M_STEP(pawl_hazard_retire(&o->head, o, forget));
}

static void replaces(void)
{
    m_write(NEW, 7);
    M_STEP(pawl_rcu_xchg_pointer(&STAGE->place, &STAGE->objects[NEW]));
    retire(OLD);
}

static void retires_another(void)
{
    m_write(OTHER, 7);
    retire(OTHER);
}

static void cleans_up(void)
{
    M_STEP(pawl_hazard_clean_up());
}

static void the_old_one_goes(void)
{
    pawl_hazard_clean_up();
    m_demand((STAGE->freed & 1u << OLD) != 0, M_RESTORED, "the object was not freed");
    m_demand((STAGE->freed & 1u << NEW) == 0, M_RESTORED, "an object was freed that is in");
}

static void the_old_one_is_gone(void)
{
    m_demand(STAGE->freed == 1u << OLD, M_RESTORED, "the object was not freed at once");
}

extern const struct m_scene m_hazard_scenes[];
/* clang-format off */
const struct m_scene m_hazard_scenes[] = {
    {"hazard_read_beside_retire", publish_old, {reads, replaces}, the_old_one_goes, "preempt=3"},
    {"hazard_two_reads_beside_retire", publish_old, {reads_twice, replaces}, the_old_one_goes,
     "preempt=2"},
    {"hazard_word_of_another_thread", fill_the_line_of_the_second, {reads, reads, replaces},
     the_old_one_goes, "preempt=2"},
    {"hazard_two_retire", publish_old, {retires_another, replaces}, the_old_one_goes, "preempt=2"},
    {"hazard_spared_and_cleaned_up", publish_old, {reads, replaces, cleans_up}, the_old_one_goes,
     "preempt=2"},
    {"hazard_retire_frees_at_once", publish_old, {replaces}, the_old_one_is_gone, "preempt=0"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
