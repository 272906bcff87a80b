/* SPDX-License-Identifier: MIT */
#ifndef PAWL_VERSION_H
#define PAWL_VERSION_H

/* Semantic version of the headers. doc/design/004-versions.md has the promise of each part. */
#define PAWL_VERSION_MAJOR 0
#define PAWL_VERSION_MINOR 2
#define PAWL_VERSION_PATCH 0

#endif
