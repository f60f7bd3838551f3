# SPDX-License-Identifier: GPL-2.0
# Builds for another machine (TRAPLINE_MACHINE, as uname calls it), from what qemu/sysroot has
# fetched for it (TRAPLINE_SYSROOT), with Debian's cross compilers.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TRAPLINE_MACHINE TRAPLINE_SYSROOT)
set(triplet ${TRAPLINE_MACHINE}-linux-gnu)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TRAPLINE_MACHINE})
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
set(CMAKE_C_COMPILER ${triplet}-gcc)
set(CMAKE_CXX_COMPILER ${triplet}-g++)
set(CMAKE_SYSROOT ${TRAPLINE_SYSROOT})

# The compiler's own libraries are older than what the sysroot's are made with.
file(GLOB own_libraries ${TRAPLINE_SYSROOT}/usr/lib/gcc/${triplet}/*)
add_link_options(-B${TRAPLINE_SYSROOT}/ld -B${TRAPLINE_SYSROOT}/usr/lib/${triplet}
                 -L${TRAPLINE_SYSROOT}/usr/lib/${triplet} -L${own_libraries})

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${TRAPLINE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${TRAPLINE_SYSROOT}/usr/lib/${triplet}/pkgconfig:${TRAPLINE_SYSROOT}/usr/share/pkgconfig)
