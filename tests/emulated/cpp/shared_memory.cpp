#include "shared_memory.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>

// The C library's, for which the compiler makes calls wherever a thread-local variable is used.
struct ThreadLocal {
    size_t module, offset;
};
extern "C" void* __tls_get_addr(ThreadLocal*);

namespace emulated {
namespace {

// Thread-local memory of a shared library.
struct Module {
    const void* base;
    size_t number = 0, n_bytes = 0;
};

int look(dl_phdr_info* info, size_t, void* found) {
    Module& module = *static_cast<Module*>(found);
    if (reinterpret_cast<const void*>(info->dlpi_addr) != module.base) return 0;
    module.number = info->dlpi_tls_modid;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        if (info->dlpi_phdr[i].p_type == PT_TLS) module.n_bytes = info->dlpi_phdr[i].p_memsz;
    }
    return 1;
}

}  // namespace

Bytes static_shared(void* kernel) {
    Dl_info library;
    if (!dladdr(kernel, &library)) return {};
    thread_local Module last{nullptr};
    if (last.base != library.dli_fbase) {
        last = {library.dli_fbase};
        dl_iterate_phdr(look, &last);
    }
    if (!last.n_bytes) return {};
    ThreadLocal first{last.number, 0};
    return {static_cast<unsigned char*>(__tls_get_addr(&first)), last.n_bytes};
}

}  // namespace emulated
