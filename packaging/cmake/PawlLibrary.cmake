# SPDX-License-Identifier: MIT
# pawl_add_library(target STATIC|SHARED release|checked|valgrind|hook|sim
#                  [ONE_OBJECT | $<TARGET_OBJECTS:...>])
#
# Every variant is the same sources compiled with another search path: src/variant/<name> holds a
# config.h that hides include/pawl/config.h. The archives have an object for each source and a
# section for each function, so that a program contains what it uses (doc/sizes.md). Shared
# libraries, sanitized ones, and those for tests alone (ONE_OBJECT; with PAWL_ONE_OBJECT, as the
# preset m32 sets it, and on Windows all) are src/pawl.c, which includes all sources: that takes
# half the time to compile. Where the archive is that one object, the shared library has it too.
include(CheckLinkerFlag)

# A program that has the library in itself shows these names to the plug-ins that it loads. Copies
# find each other without (src/os/copies.c), but then a plug-in's inline functions have no variables
# of the thread, and call compiled ones. The names are said
# one by one, also in Libs.private: an option like -rdynamic would show all that the program has,
# and a list in a file would have to be found wherever the prefix is. scripts/floors compares the
# list with the sources.
set(pawl_shared_names ipawl_fences_object_v3 ipawl_process_object_v3
    ipawl_drains_object_v3 ipawl_table_object_v3 ipawl_counters_object_v3 ipawl_rcu_object_v3
    ipawl_rcu_calls_object_v3 ipawl_check_object_v3 ipawl_names_object_v3
    ipawl_orders_object_v3 ipawl_entries_object_v3 ipawl_thread_blocks_v3 ipawl_thread_own_v3
    ipawl_rcu_at_hand_v3 ipawl_hazards_object_v3)
check_linker_flag(C "LINKER:--export-dynamic-symbol=pawl" PAWL_LINKER_EXPORTS_SYMBOL)

# The list has the names of all variants and systems; lld refuses names that a library has not.
set(pawl_versions "${PROJECT_SOURCE_DIR}/packaging/abi/libpawl.map")
set(pawl_version_options "LINKER:--version-script=${pawl_versions}")
check_linker_flag(C "LINKER:--undefined-version" PAWL_LINKER_HAS_UNDEFINED_VERSION)
if(PAWL_LINKER_HAS_UNDEFINED_VERSION)
  list(PREPEND pawl_version_options "LINKER:--undefined-version")
endif()
check_linker_flag(C "${pawl_version_options}" PAWL_LINKER_HAS_VERSIONS)

function(pawl_link_options_for result variant prefix)
  set(options)
  if(PAWL_LINKER_EXPORTS_SYMBOL)
    list(TRANSFORM pawl_shared_names PREPEND "${prefix}--export-dynamic-symbol="
         OUTPUT_VARIABLE options)
    list(TRANSFORM options APPEND "_${variant}_")
  endif()
  set(${result} ${options} PARENT_SCOPE)
endfunction()

# The sources of an archive for this system; src/pawl.c chooses in the same way.
set(pawl_source_root "${PROJECT_SOURCE_DIR}/src")
file(GLOB pawl_sources CONFIGURE_DEPENDS "${pawl_source_root}/*/*.c")
set(pawl_system_Linux linux linux_clock linux_cpus linux_shared linux_wait)
set(pawl_system_Windows windows windows_wait)
set(pawl_system_Darwin darwin)
set(pawl_system_FreeBSD freebsd)
set(pawl_system_WASI wasm)
foreach(system IN ITEMS Linux Windows Darwin FreeBSD WASI)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL system)
    list(TRANSFORM pawl_system_${system} REPLACE "(.+)" "${pawl_source_root}/os/\\1.c"
         OUTPUT_VARIABLE others)
    list(REMOVE_ITEM pawl_sources ${others})
  endif()
endforeach()

# Set-up, waiting and what a thread does once: compiled for size where the build optimises at all.
# The rest has functions that are called again and again without waiting.
set(pawl_cold ${pawl_sources})
string(JOIN "|" pawl_cold_names "os/" "base/"
       "lock/(calls|atomic|spin|seq|bitlock|lock|table|wait|entries[.]|evidence)"
       "count/counter(_cells)?[.]c" "rcu/rcu(_state|_grace|_extra|_domain|_stall)?[.]c")
list(FILTER pawl_cold INCLUDE REGEX "src/(${pawl_cold_names})")
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang" AND NOT PAWL_SANITIZE AND NOT PAWL_COVERAGE)
  set_source_files_properties(${pawl_cold} PROPERTIES
    COMPILE_OPTIONS "$<$<CONFIG:Release,RelWithDebInfo>:-Os>")
endif()

function(pawl_add_library target kind variant)
  if(kind STREQUAL "STATIC" AND variant MATCHES "^(release|checked)$" AND
     NOT PAWL_SANITIZE AND NOT PAWL_ONE_OBJECT AND NOT WIN32 AND NOT "ONE_OBJECT" IN_LIST ARGN)
    add_library(${target} STATIC ${pawl_sources})
    target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
  elseif(ARGN MATCHES "TARGET_OBJECTS")
    add_library(${target} ${kind} ${ARGN})
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  else()
    add_library(${target} ${kind} "${PROJECT_SOURCE_DIR}/src/pawl.c")
  endif()
  pawl_strict(${target})
  pawl_reproducible(${target})
  if(variant STREQUAL "release" AND NOT PAWL_UNWIND)
    target_compile_options(${target} PRIVATE -fno-asynchronous-unwind-tables -fno-unwind-tables)
  endif()
  # A report names the place that called the function. Inside its caller the function has none.
  if(variant STREQUAL "checked" AND CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE -fno-lto)
  endif()
  target_link_libraries(${target} PUBLIC Threads::Threads)

  if(NOT variant STREQUAL "release")
    target_include_directories(${target} PUBLIC
      "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src/variant/${variant}>"
      "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/pawl-${variant}>")
    set(suffix "-${variant}")
  endif()
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")

  # The static libraries are position-independent too: plug-ins carry them.
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME "pawl${suffix}"
    C_VISIBILITY_PRESET hidden
    POSITION_INDEPENDENT_CODE ON)
  if(kind STREQUAL "SHARED")
    set_target_properties(${target} PROPERTIES
      VERSION ${PROJECT_VERSION} SOVERSION 1)
    # Programs ask for the version of the symbols that they were linked with (doc/design/004).
    if(PAWL_LINKER_HAS_VERSIONS)
      target_link_options(${target} PRIVATE ${pawl_version_options})
      set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${pawl_versions}")
    endif()
    # A sanitizer's own symbols come from the program, so only a plain build can insist.
    if(NOT PAWL_SANITIZE AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
      target_link_options(${target} PRIVATE LINKER:-z,defs)
    endif()
  else()
    pawl_link_options_for(options ${variant} "LINKER:")
    target_link_options(${target} INTERFACE ${options})
  endif()
  # clang's archives are bitcode then, which a linker reads only with this option, whoever links it.
  if(kind STREQUAL "STATIC" AND CMAKE_C_COMPILER_ID MATCHES "Clang" AND
     CMAKE_INTERPROCEDURAL_OPTIMIZATION)
    target_link_options(${target} INTERFACE ${CMAKE_C_COMPILE_OPTIONS_IPO})
  endif()
  # What is one per process is named by assembly (src/os/shared.h). gcc parts the two when it makes
  # several pieces of a program that it optimises as a whole.
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND
     (CMAKE_INTERPROCEDURAL_OPTIMIZATION OR CMAKE_C_FLAGS MATCHES "-flto"))
    target_link_options(${target} PUBLIC -flto-partition=one)
  endif()
endfunction()

# The libraries that the options ask for, as pawl::static, pawl::shared, pawl::checked and so on,
# and pawl::pawl: the shared one where BUILD_SHARED_LIBS is true, or where it is the only one.
function(pawl_add_libraries)
  set(variants release)
  if(PAWL_BUILD_CHECKED)
    list(APPEND variants checked)
  endif()
  if(PAWL_VALGRIND)
    list(APPEND variants valgrind)
  endif()
  set(made)
  foreach(variant IN LISTS variants)
    set(static ${variant})
    set(shared ${variant}_shared)
    if(variant STREQUAL "release")
      set(static static)
      set(shared shared)
    endif()
    set(object)
    if(PAWL_BUILD_STATIC)
      pawl_add_library(pawl_${static} STATIC ${variant})
      list(APPEND made ${static})
      get_target_property(sources pawl_${static} SOURCES)
      if(sources STREQUAL "${PROJECT_SOURCE_DIR}/src/pawl.c")
        set(object "$<TARGET_OBJECTS:pawl_${static}>")
      endif()
    endif()
    if(PAWL_BUILD_SHARED)
      pawl_add_library(pawl_${shared} SHARED ${variant} ${object})
      list(APPEND made ${shared})
    endif()
  endforeach()
  foreach(name IN LISTS made)
    add_library(pawl::${name} ALIAS pawl_${name})
    set_target_properties(pawl_${name} PROPERTIES EXPORT_NAME ${name})
  endforeach()
  if(PAWL_BUILD_SHARED AND (BUILD_SHARED_LIBS OR NOT PAWL_BUILD_STATIC))
    add_library(pawl::pawl ALIAS pawl_shared)
  else()
    add_library(pawl::pawl ALIAS pawl_static)
  endif()
  list(TRANSFORM made PREPEND pawl_)
  set(pawl_libraries ${made} PARENT_SCOPE)
  list(REMOVE_ITEM variants release)
  set(pawl_variants ${variants} PARENT_SCOPE)
endfunction()
