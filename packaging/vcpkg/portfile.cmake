# SPDX-License-Identifier: MIT
# The source is the checkout that this port lies in: an overlay port,
# vcpkg install pawl --overlay-ports=packaging/vcpkg.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" "static" static)
string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" "dynamic" shared)
vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES checked PAWL_BUILD_CHECKED)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DPAWL_BUILD_STATIC=${static}
    -DPAWL_BUILD_SHARED=${shared}
    ${features}
    -DPAWL_VALGRIND=OFF
    -DPAWL_BUILD_TESTS=OFF
    -DPAWL_BUILD_BENCH=OFF
    -DPAWL_BUILD_EXAMPLES=OFF
    -DPAWL_BUILD_SHIM=OFF
    -DPAWL_INSTALL_COMMAND=OFF
    -DPAWL_INSTALL_PAGES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/pawl)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
