/* SPDX-License-Identifier: MIT */
/*
 * glib JOB THREADS SECONDS (../jobs.h): threads that use GObject in one way. Its types have one
 * read-write lock, GRWLock, which is the C library's.
 */
#include <gio/gio.h>

#include "../jobs.h"

static GObject *shared;
static GType node; /* as GTK's render nodes are: fundamental, with no property */

static void fails(const char *what)
{
    fprintf(stderr, "glib: %s failed\n", what);
    exit(1);
}

static void make_all(void)
{
    const GTypeInfo about = {.class_size = sizeof(GTypeClass), .instance_size = 64};
    const GTypeFundamentalInfo kind = {G_TYPE_FLAG_CLASSED | G_TYPE_FLAG_INSTANTIATABLE};
    node = g_type_register_fundamental(g_type_fundamental_next(), "Node", &about, &kind, 0);
    good(node != 0);
    shared = (GObject *)g_list_store_new(G_TYPE_OBJECT);
    good(G_IS_LIST_MODEL(shared));
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void create_instance(void)
{
    g_type_free_instance(g_type_create_instance(node));
}

static void type_from_name(void)
{
    good(g_type_from_name("GListStore") != 0);
}

static void type_interfaces(void)
{
    guint count;
    g_free(g_type_interfaces(G_OBJECT_TYPE(shared), &count));
    good(count > 0);
}

static void type_children(void)
{
    guint count;
    g_free(g_type_children(G_TYPE_INTERFACE, &count));
    good(count > 0);
}

static void is_a(void)
{
    good(g_type_is_a(G_OBJECT_TYPE(shared), G_TYPE_LIST_MODEL));
}

static void object_new(void)
{
    g_object_unref(g_object_new(G_TYPE_CANCELLABLE, NULL));
}

static void signal_lookup(void)
{
    good(g_signal_lookup("items-changed", G_TYPE_LIST_MODEL) != 0);
}

static const struct job jobs[] = {
    {"create-instance", create_instance},
    {"type-from-name", type_from_name},
    {"type-interfaces", type_interfaces},
    {"type-children", type_children},
    {"is-a", is_a},
    {"object-new", object_new},
    {"signal-lookup", signal_lookup},
};

int main(int argc, char **argv)
{
    return run_jobs(argc, argv, jobs, sizeof jobs / sizeof jobs[0], make_all);
}
