/* SPDX-License-Identifier: MIT */
/* Other sources report misuse by these; nothing unless the checking variant is built. */
#ifndef PAWL_CHECK_MISUSE_H
#define PAWL_CHECK_MISUSE_H

#if PAWL_CHECKED
#define MISUSE_AT(what, type, object, call, site)                                                  \
    ipawl_report_misuse_(what, type, object, call, site)
#else
#define MISUSE_AT(what, type, object, call, site) ((void)(object), (void)(call), (void)(site))
#define ipawl_check_has_(lock) ((void)(lock), true)
#endif
#define MISUSE(what, type, object, call)                                                           \
    MISUSE_AT(what, type, object, call, __builtin_return_address(0))

#endif
