# SPDX-License-Identifier: MIT
"""Conan 2 recipe: `conan create packaging/conan` builds what lies two folders above."""

import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir

HERE = Path(__file__).resolve().parent
PARTS = (
    "CMakeLists.txt",
    "LICENSE",
    "packaging/abi/libpawl.map",
    "packaging/cmake/*",
    "include/*",
    "src/*",
    "src/variant/*",
    "tool/gdb/*",
)


class Pawl(ConanFile):
    name = "pawl"
    license = "MIT"
    description = "Upgradable read-write locks and readers that scale, for C and C++"
    topics = ("lock", "rwlock", "upgradable", "synchronization", "rcu")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "checked": [True, False]}
    default_options = {"shared": False, "fPIC": True, "checked": False}
    implements = ["auto_shared_fpic"]
    languages = "C"

    def set_version(self):
        text = (HERE / "../../include/pawl/version.h").read_text(encoding="utf-8")
        self.version = ".".join(
            re.findall(r"define PAWL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)
        )

    def export_sources(self):
        for part in PARTS:
            copy(self, part, str(HERE / "../.."), self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        if self.settings.compiler == "msvc":
            raise ConanInvalidConfiguration("Pawl is C for gcc and clang; choose one of them.")

    def generate(self):
        toolchain = CMakeToolchain(self)
        values = {
            "BUILD_STATIC": not self.options.shared,
            "BUILD_SHARED": self.options.shared,
            "BUILD_CHECKED": self.options.checked,
            "VALGRIND": False,
            "BUILD_TESTS": False,
            "BUILD_BENCH": False,
            "BUILD_EXAMPLES": False,
            "BUILD_SHIM": False,
            "INSTALL_COMMAND": False,
            "INSTALL_PAGES": False,
        }
        for name, value in values.items():
            toolchain.cache_variables[f"PAWL_{name}"] = bool(value)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, str(Path(self.package_folder, "licenses")))
        CMake(self).install()
        # Conan makes files for CMake and pkg-config of what package_info says.
        for folder in ("lib/cmake", "lib/pkgconfig"):
            rmdir(self, str(Path(self.package_folder, folder)))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "pawl")
        self._component("pawl", "pawl::shared" if self.options.shared else "pawl::static", [])
        if self.options.checked:
            self._component("pawl-checked", "pawl::checked", ["include/pawl-checked"])

    def _component(self, name, also, before):
        part = self.cpp_info.components[name]
        part.libs = [name]
        part.includedirs = [*before, "include"]
        part.set_property("cmake_target_name", f"pawl::{name.replace('pawl-', '')}")
        part.set_property("cmake_target_aliases", [also])
        part.set_property("pkg_config_name", name)
        if self.settings.os in ("Linux", "FreeBSD"):
            part.system_libs = ["pthread"]
