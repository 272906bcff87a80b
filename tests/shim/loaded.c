/* SPDX-License-Identifier: MIT */
/* Libraries with locks that a program loads and unloads, with the C library's locks and with the
 * preload library in front. */
#include "actors.h"

static void *load(const char *path)
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        fail_msg("%s", dlerror());
    return library;
}

static pthread_rwlock_t *lock_in(void *library)
{
    void *const found = dlsym(library, "plugin_lock");
    pthread_rwlock_t *(*get)(void);
    assert_non_null(found);
    memcpy(&get, &found, sizeof get);
    return get();
}

static int call(void *library, const char *name)
{
    void *const found = dlsym(library, name);
    int (*function)(void);
    must(found != NULL);
    memcpy(&function, &found, sizeof function);
    return function();
}

/* A second reference comes and goes meanwhile, as with two plug-ins of one program. */
TEST_CASE(a_library_comes_and_goes_while_its_lock_is_waited_for)
{
    void *const library = load(PLUGIN_static_lock);
    pthread_rwlock_t *const l = lock_in(library);
    struct actor waiter;
    actor_start(&waiter);
    assert_int_equal(pthread_rwlock_wrlock(l), 0);
    actor_begin(&waiter, pthread_rwlock_wrlock, l);
    assert_true(actor_waits(&waiter));
    assert_int_equal(dlclose(load(PLUGIN_static_lock)), 0);
    assert_true(actor_waits(&waiter));
    assert_int_equal(pthread_rwlock_unlock(l), 0);
    assert_int_equal(actor_result(&waiter), 0);
    assert_int_equal(actor_do(&waiter, pthread_rwlock_unlock, l), 0);
    actor_end(&waiter);
    assert_int_equal(dlclose(library), 0);
}

/* The library is unloaded with its lock held. Loaded again, as a rule to the same address, it has a
 * free lock; what the thread remembers of the old one harms nobody. */
TEST_CASE(a_library_that_went_with_its_lock_held_comes_back_with_a_free_one)
{
    static rwlock_call *const calls[] = {pthread_rwlock_rdlock, pthread_rwlock_wrlock};
    struct actor one;
    actor_start(&one);
    for (size_t i = 0; i < 2; i++) {
        void *library = load(PLUGIN_static_lock);
        assert_int_equal(calls[i](lock_in(library)), 0);
        assert_int_equal(dlclose(library), 0);
        library = load(PLUGIN_static_lock);
        assert_int_equal(actor_do(&one, pthread_rwlock_trywrlock, lock_in(library)), 0);
        assert_int_equal(pthread_rwlock_tryrdlock(lock_in(library)), EBUSY);
        assert_int_equal(actor_do(&one, pthread_rwlock_unlock, lock_in(library)), 0);
        assert_int_equal(pthread_rwlock_wrlock(lock_in(library)), 0);
        assert_int_equal(pthread_rwlock_unlock(lock_in(library)), 0);
        assert_int_equal(dlclose(library), 0);
    }
    actor_end(&one);
}

/* A library that is loaded so found the C library's locks, and used them on the preload library's
 * memory. Its file is found by the search path of the library that asks, not of the program. */
TEST_CASE(a_library_that_is_to_find_its_own_names_first_shares_the_locks)
{
    void *const library = load(PLUGIN_static_lock);
    void *const other = load(PLUGIN_loads_another);
    void *(*load_deep)(const char *);
    int (*write_and_unlock)(pthread_rwlock_t *);
    pthread_rwlock_t *const l = lock_in(library);
    void *found = dlsym(other, "plugin_load_deep"), *deep;
    assert_non_null(found);
    memcpy(&load_deep, &found, sizeof load_deep);
    assert_null(dlopen("libshim_loaded_writes.so", RTLD_NOW)); /* by the program's path */
    deep = load_deep("libshim_loaded_writes.so");
    if (deep == NULL)
        fail_msg("%s", dlerror());
    found = dlsym(deep, "plugin_try_write_of");
    assert_non_null(found);
    memcpy(&write_and_unlock, &found, sizeof write_and_unlock);
    assert_int_equal(pthread_rwlock_rdlock(l), 0);
    assert_int_equal(write_and_unlock(l), EBUSY);
    assert_int_equal(pthread_rwlock_unlock(l), 0);
    assert_int_equal(write_and_unlock(l), 0);
    assert_int_equal(pthread_rwlock_wrlock(l), 0);
    assert_int_equal(write_and_unlock(l), EBUSY);
    assert_int_equal(pthread_rwlock_unlock(l), 0);
    assert_int_equal(dlclose(deep), 0);
    assert_int_equal(dlclose(other), 0);
    assert_int_equal(dlclose(library), 0);
}

static void *library_in_cxx;

static void *try_beside_a_reader(void *unused)
{
    must(call(library_in_cxx, "plugin_try_write") == 0);
    must(call(library_in_cxx, "plugin_try_read") == 1);
    (void)call(library_in_cxx, "plugin_unread");
    return unused;
}

TEST_CASE(a_program_in_c_loads_a_library_with_a_shared_mutex)
{
    pthread_t thread;
    library_in_cxx = load(PLUGIN_shared_mutex);
    assert_int_equal(call(library_in_cxx, "plugin_try_read"), 1);
    assert_int_equal(pthread_create(&thread, NULL, try_beside_a_reader, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)call(library_in_cxx, "plugin_unread");
    assert_int_equal(call(library_in_cxx, "plugin_try_write"), 1);
    assert_int_equal(call(library_in_cxx, "plugin_try_read"), 0);
    (void)call(library_in_cxx, "plugin_unwrite");
    assert_int_equal(dlclose(library_in_cxx), 0);
}

TEST_MAIN()
