// SPDX-License-Identifier: GPL-2.0
// tl-late FUNCTION: a session that is started already gets a probe of FUNCTION's entry, without
// fields; then it waits for its end. What no command does, but whoever uses the module can.
#include <cstdio>
#include <unistd.h>

#include "control/session.h"
#include "trace/description.h"

using namespace trapline;

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: tl-late FUNCTION\n", stderr);
        return 2;
    }
    try {
        Session session;
        session.configure({});
        session.start();
        EventLayout layout;
        layout.id = 1;
        layout.name = argv[1];
        layout.kind = TRAPLINE_ENTRY;
        layout.at_entry = true;
        ProbeRequest request;
        request.event_id = layout.id;
        request.kind = layout.kind;
        request.symbol = argv[1];
        request.label = layout_json(layout);
        const Verdict verdict = session.add_probes({&request, 1}).at(0);
        if (verdict.error != 0)
            throw Error(verdict.text);
        pause();
    } catch (const Error& error) {
        std::fprintf(stderr, "tl-late: %s\n", error.what());
        return 1;
    }
}
