/* SPDX-License-Identifier: MIT */
/*
 * The operations of one kind of lock as functions of one type, for kinds.h. FACE is the type's name
 * without pawl_; FACE_BITS its width; FACE_UNTIL is defined where operations take deadlines.
 */
#define FACE_OF_(verb) PAWL_CAT_(FACE, _##verb)
#define FACE_TYPE_ PAWL_CAT_(pawl_, FACE)
#define FACE_NAME_(verb) PAWL_CAT_(FACE_TYPE_, _##verb)

#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    static bool FACE_OF_(name)(void *l)                                                            \
    {                                                                                              \
        return RETURN_##result(FACE_NAME_(name)((FACE_TYPE_ *)l));                                 \
    }
#include <pawl/detail/transitions.def>

#ifdef FACE_UNTIL
#define PAWL_UNTIL(name, from, to)                                                                 \
    static bool FACE_OF_(name##_until)(void *l, uint64_t deadline)                                 \
    {                                                                                              \
        return FACE_NAME_(name##_until)((FACE_TYPE_ *)l, deadline);                                \
    }
#include <pawl/detail/until.def>
#endif

static uint64_t FACE_OF_(read_word)(const void *l)
{
    return ((const FACE_TYPE_ *)l)->word;
}

static void FACE_OF_(describe)(struct kind *k)
{
    k->bits = FACE_BITS;
    k->word = FACE_OF_(read_word);
#define PAWL_OP(result, name, kind, from, to, cost) k->run[OP_##name] = FACE_OF_(name);
#include <pawl/detail/transitions.def>
#ifdef FACE_UNTIL
#define PAWL_UNTIL(name, from, to) k->until[OP_##name] = FACE_OF_(name##_until);
#include <pawl/detail/until.def>
#endif
}

#undef FACE_OF_
#undef FACE_TYPE_
#undef FACE_NAME_
#undef FACE
#undef FACE_BITS
#undef FACE_UNTIL
