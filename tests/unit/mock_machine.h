// SPDX-License-Identifier: GPL-2.0
// Registers and memory for the interpreter: two address spaces of pages that are
// there or not, and a log of what was asked of them.
#ifndef UNIT_MOCK_MACHINE_H
#define UNIT_MOCK_MACHINE_H

#include "shared/program.h"
#include "shared/verifier.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <vector>

namespace {

constexpr __u64 mock_page = 4096;
constexpr __u32 mock_regs = 21;

struct tl_regs {
    std::array<__u64, mock_regs> word;
    std::array<__u64, 6> arg; // in registers
    __u64 stack;              // the others, in kernel memory
    __u64 result;
};

class MockMemory {
public:
    // Maps all pages that this touches.
    void store(__u64 at, const void* from, std::size_t n) {
        for (std::size_t i = 0; i < n; i++)
            byte(at + i) = static_cast<const __u8*>(from)[i];
    }
    void store(__u64 at, const std::string& s) { store(at, s.data(), s.size()); }
    void store_u64(__u64 at, __u64 value) { store(at, &value, 8); }
    void map(__u64 at) { byte(at); }

    // Like the kernel's: what can be had before a fault may be there already.
    int load(void* to, __u64 from, __u32 n) {
        reads.push_back({from, n});
        for (__u32 i = 0; i < n; i++) {
            const auto found = pages_.find((from + i) / mock_page);

            if (found == pages_.end())
                return -14;
            static_cast<__u8*>(to)[i] = found->second[(from + i) % mock_page];
        }
        return 0;
    }

    struct Read {
        __u64 from;
        __u32 n;
    };
    std::vector<Read> reads;

private:
    __u8& byte(__u64 at) { return pages_[at / mock_page][at % mock_page]; }

    std::map<__u64, std::array<__u8, mock_page>> pages_;
};

struct MockMachine {
    MockMemory kernel;
    MockMemory user;
    std::array<__u64, TL_TASK_WORDS> task{};
    std::vector<__u64> stack; // above the function that was hit
    __u8 stack_flags = 0;     // it was last asked for with
};

MockMachine mock;

inline int tl_read_kernel(void* to, __u64 from, __u32 n) {
    return mock.kernel.load(to, from, n);
}

inline int tl_read_user(void* to, __u64 from, __u32 n) {
    return mock.user.load(to, from, n);
}

inline __u64 tl_reg(const tl_regs* regs, __u64 n) {
    return regs->word.at(n);
}

inline __u64 tl_retval(const tl_regs* regs) {
    return regs->result;
}

inline int tl_arg(const tl_regs* regs, __u64 n, __u64* value) {
    if (n < regs->arg.size()) {
        *value = regs->arg[n];
        return 0;
    }
    return tl_read_kernel(value, regs->stack + 8 * (n - regs->arg.size()), 8);
}

inline __u64 tl_task_value(__u64 which) {
    return mock.task.at(which);
}

inline __u32 tl_stack(const tl_regs*, __u8 flags, __u8* to, __u32 most, __u32* status) {
    const auto length = static_cast<__u32>(std::min<std::size_t>(mock.stack.size(), most));

    mock.stack_flags = flags;
    for (__u32 i = 0; i < length; i++)
        tl_put_u64(to + 8 * i, mock.stack[i]);
    *status = mock.stack.empty()         ? TL_STACK_FAULT
              : mock.stack.size() > most ? TL_STACK_CUT
                                         : TL_STACK_WHOLE;
    return length;
}

} // namespace

#include "shared/interpreter.h"

namespace {

// n bytes right before a page that traps. Mappings are used again.
class Guarded {
public:
    explicit Guarded(std::size_t n) {
        if (n > room)
            throw std::bad_alloc();
        if (free().empty()) {
            map_ = static_cast<__u8*>(
                mmap(nullptr, room + mock_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
            if (map_ == MAP_FAILED || mprotect(map_, room, PROT_READ | PROT_WRITE) != 0)
                throw std::bad_alloc();
        } else {
            map_ = free().back();
            free().pop_back();
        }
        start = map_ + room - n;
        std::memset(map_, canary, room);
    }
    ~Guarded() { free().push_back(map_); }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

    // Nothing before the start was touched.
    bool intact() const {
        return std::all_of(map_, start, [](__u8 byte) { return byte == canary; });
    }

    __u8* start;

private:
    static constexpr __u8 canary = 0xc7;
    static constexpr std::size_t room = 2 * mock_page;

    static std::vector<__u8*>& free() {
        static std::vector<__u8*> maps;
        return maps;
    }

    __u8* map_;
};

using Program = std::vector<tl_insn>;

inline tl_insn insn(tl_op op) {
    tl_insn i = {};

    i.op = static_cast<__u8>(op);
    return i;
}

inline tl_insn set(tl_op op, __u8 dst, __u64 imm = 0) {
    tl_insn i = insn(op);

    i.dst = dst;
    i.imm = imm;
    return i;
}

inline tl_insn load(tl_op op, __u8 dst, __u8 a, __u8 size, __u64 imm = 0, __u8 flags = 0) {
    tl_insn i = set(op, dst, imm);

    i.a = a;
    i.size = size;
    i.flags = flags;
    return i;
}

// Of a register, an argument or a field of the entry's.
inline tl_insn part(tl_op op, __u64 imm, __u8 size, __u8 flags = 0) {
    return load(op, 0, 0, size, imm, flags);
}

inline tl_insn jump(tl_op op, __u8 a, __u8 b, __u16 skip) {
    tl_insn i = insn(op);

    i.a = a;
    i.b = b;
    i.jump = skip;
    return i;
}

inline tl_insn put(__u8 a, __u8 size) {
    tl_insn i = insn(TL_OP_PUT);

    i.a = a;
    i.size = size;
    return i;
}

inline tl_insn put_string(tl_op op, __u8 a, __u64 max) {
    tl_insn i = insn(op);

    i.a = a;
    i.imm = max;
    return i;
}

inline tl_insn put_stack(__u64 most, __u8 flags) {
    tl_insn i = insn(TL_OP_STACK);

    i.imm = most;
    i.flags = flags;
    return i;
}

inline tl_verdict verify(const Program& p, tl_site site = TL_AT_ENTRY, __u32 fields = 0) {
    static tl_verifier scratch;
    Guarded copy(p.size() * sizeof(tl_insn));

    if (!p.empty())
        std::memcpy(copy.start, p.data(), p.size() * sizeof(tl_insn));
    std::memset(&scratch, 0xa5, sizeof(scratch));
    return tl_verify(&scratch, reinterpret_cast<const tl_insn*>(copy.start),
                     static_cast<__u32>(p.size()), site, mock_regs, fields);
}

} // namespace

#endif
