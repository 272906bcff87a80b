/* SPDX-License-Identifier: MIT */
/* The mark of the variant, which every object of the library asks for (os.h). So a program with
 * objects of two variants contains this file twice, and the linker reports the name that both
 * define. */
#include "os.h"

/* Hidden, because two shared objects of one process may differ. */
extern const char ipawl_one_variant_per_program_[1] PAWL_HIDDEN_;
__attribute__((used)) const char ipawl_one_variant_per_program_[1] = "";
__attribute__((used)) const char pawl_variant_mark[1] = "";
