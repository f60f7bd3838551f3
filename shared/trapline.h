/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * trapline.h - the binary interface between the Trapline module and its users
 *
 * A session is an open file of /dev/trapline. It owns rings, probes and
 * metadata; when its last descriptor and mapping are gone, its probes are
 * lifted and its memory is freed. The device carries data only: open, poll and
 * mmap. Control goes over the generic netlink family "trapline", and every
 * request names its session by TRAPLINE_A_FD, a descriptor of the *sender*.
 * That descriptor is the authority: its holder may read every session's summary
 * and probes, and change his own.
 *
 * Requests and their attributes (all integers in host byte order; a refusal
 * carries an extended ack with a text and, where one is to blame, the offset of
 * the offending attribute):
 *
 *   INFO          FD
 *     reply: ABI, VERSION, CPUS, RING_MIN, RING_MAX, RING_DEFAULT,
 *            RECORD_MAX, INSNS_MAX, MAXACTIVE, MAXACTIVE_MAX,
 *            CLOCK_NAME, CLOCK_HZ
 *   CONFIGURE     FD [RING_SIZE] [MAXACTIVE] [TGIDS] [FOLLOW] [EXCLUDE_TGID]
 *                 [OVERWRITE] [WAKE_CHUNKS] [ONLY_CPUS] [ONLY_UIDS] [ONLY_COMMS] [ONLY_CGROUPS]
 *                 [LIMIT] [GUARD]
 *     Once per session, before anything else but INFO. Allocates the rings.
 *     RING_SIZE     bytes per possible CPU, a power of two (default 1 MiB);
 *     MAXACTIVE     calls that a return or call probe can have inside at once;
 *     TGIDS         nest of TRAPLINE_A_TGID: record only these thread groups, named
 *                   by any of their tasks, as the sender's pid namespace counts;
 *     FOLLOW        flag: and all their descendants born after CONFIGURE;
 *     EXCLUDE_TGID  never record this thread group, named the same way;
 *     OVERWRITE     flag: a flight recorder: when a ring is full, its oldest chunk gives way;
 *                   the consumer page's tail is the reader's own note, and not looked at;
 *     WAKE_CHUNKS   flag: poll() reports POLLIN only when a chunk is finished;
 *     ONLY_CPUS     record only hits on these CPUs;
 *     ONLY_UIDS     only those of tasks whose real user is one of these, as the sender's
 *                   user namespace counts;
 *     ONLY_COMMS    only those of tasks with one of these names;
 *     ONLY_CGROUPS  only those of tasks in one of these cgroups or below: descriptors of
 *                   directories of cgroup v2. All that are given must hold;
 *     LIMIT         a run ends once this many hits were recorded: those after it are not, and
 *                   of those on other CPUs meanwhile some may be counted as limited;
 *     GUARD         percent of a CPU, 1 to 100: if hits take more of one over a second, by a
 *                   sample of them, the run ends and all probes are lifted.
 *     reply: RING_SIZE, CHUNK_SIZE, CPUS, MAXACTIVE
 *     errors: EBUSY configured already; ERANGE size or maxactive out of limits;
 *             EINTR killed meanwhile;
 *             ENOMEM; E2BIG all rings together exceed 1/16 of RAM; ESRCH no such
 *             task; ENXIO no such CPU; EINVAL no such user, or no name; EBADF a
 *             descriptor that is no cgroup's, EOPNOTSUPP this kernel has none. A task between its fork and its first run may be taken for its
 *             pid's former owner, and not recorded.
 *   METADATA      FD OFFSET DATA
 *     Stores a piece of the trace's CTF metadata, for whoever reads the rings
 *     out of a memory image. Pieces in order; 64 MiB at most; before START.
 *   PROBE_ADD     FD PROBES
 *     PROBES: nest of TRAPLINE_A_PROBE, each a nest of trapline_probe_attr:
 *       KIND, EVENT_ID, and SYMBOL [OFFSET] or ADDRESS [SYMBOL] [OFFSET];
 *       [MAXACTIVE] [ENTRY_PROGRAM] [RETURN_PROGRAM] [TRIGGER] [LABEL]
 *       [MAX_RATE]
 *     TRIGGER       a hit of this probe that passes its programs is announced, or ends the
 *                   run too: see enum trapline_trigger;
 *     LABEL         bytes that a dump at a crash gives back, so that who finds it in the
 *                   kernel's log can read the event's records: see console.h.
 *     MAX_RATE      of each second since START, record this many hits at most, of all CPUs
 *                   together: the first that pass the filters and programs. Others are counted as
 *                   limited.
 *     Event ids are the sender's choice, 1 to 65533, never used twice in a
 *     session. Planting stops after some 50 ms; the probes without a verdict
 *     were not looked at and must be sent again.
 *     reply: VERDICTS: nest of TRAPLINE_A_VERDICT, each EVENT_ID, ERROR
 *            (0 or a positive errno), ADDRESS, [TEXT]
 *   PROBE_DELETE  FD [EVENT_ID]    lifts one probe, or all; counters stay
 *     errors: EAGAIN some 50 ms were up and more probes are planted: send it again
 *   START         FD               reply: TICKS, MONOTONIC, REALTIME
 *   STOP          FD               reply: TICKS, MONOTONIC, REALTIME
 *     After STOP nothing is in flight: open chunks are closed, counters final.
 *   SYNC          FD               reply: TICKS, MONOTONIC, REALTIME
 *     Every record older than TICKS is visible when the reply is. Triggers whose
 *     records are among them are announced no more; but one that was hit while SYNC
 *     began may be, and what comes later is; and one that ended the run is until STOP.
 *     errors (of STOP too, which stops all the same): EBADMSG a consumer page
 *     holds a position outside of its ring
 *   PROBE_DUMP    FD [SESSION_NUMBER] [PENDING]
 *     dump; a message a probe: PROBE, a nest of
 *     trapline_probe_attr: KIND, EVENT_ID, SYMBOL, OFFSET, ADDRESS, LIFTED,
 *     MAXACTIVE, COUNTERS (struct trapline_counters), TECHNIQUE; with PENDING the calls
 *     still inside, as far as sleeping tasks show them: PENDING_CALLS
 *     (array of struct trapline_pending)
 *     SESSION_NUMBER: of that session, instead of FD's. It isn't kept open by that:
 *     if it is closed meanwhile, the dump ends with ESRCH.
 *     errors: ESRCH no session has, or had when the dump went on, this number;
 *             EOPNOTSUPP PENDING, and this kernel doesn't let them be found
 *   SITE_READ     FD EVENT_ID
 *     reply: ADDRESS (of the trap: behind an entry's ENDBR), BYTES_BEFORE (as found),
 *            BYTES_NOW (TRAPLINE_SITE_BYTES each, less where the text ends)
 *   SESSION_LIST  FD               dump; a message a session, the oldest first: SESSION,
 *     a nest of trapline_session_attr. /proc/PID/fdinfo/N of a session's descriptor
 *     has its number too: "session:\t7".
 *   MARK          FD TEXT          reply: MARKED, LOST
 *     Puts a TL_ID_MARK record with TEXT (1 to TRAPLINE_MARK_MAX bytes) into the stream of
 *     every session that is started and whose run no trigger has ended, FD's among them or
 *     not, whatever its TGIDS: MARKED of them have it, in LOST of them it was dropped and
 *     counted in the ring as any record is.
 *     errors: EINVAL TEXT is empty or has a NUL in it; E2BIG it is too long
 *
 * poll() on FD: POLLIN when there is something to read (never with OVERWRITE), POLLPRI
 * when a probe with a TRIGGER was hit and no SYNC or STOP came since, or when the run ended
 * before STOP (SESSION_LIST tells of what: ENDED).
 *
 * Anything that old users must not misread raises TRAPLINE_ABI; module and tool
 * refuse to work together unless theirs are equal.
 */
#ifndef TRAPLINE_H
#define TRAPLINE_H

#include <linux/types.h>

#define TRAPLINE_ABI		5
#define TRAPLINE_VERSION	"0.1.0"
#define TRAPLINE_DEVICE		"trapline"	/* node: /dev/trapline */
#define TRAPLINE_FAMILY		"trapline"
#define TRAPLINE_FAMILY_VERSION	1

/* Limits; sizes in bytes. */
#define TRAPLINE_RING_MIN	65536UL
#define TRAPLINE_RING_MAX	1073741824UL
#define TRAPLINE_RING_DEFAULT	1048576UL
#define TRAPLINE_CHUNK_MAX	65536UL	/* chunk = min(this, ring / 4) */
#define TRAPLINE_METADATA_MAX	67108864UL
#define TRAPLINE_METADATA_PIECE	32768
#define TRAPLINE_MAXACTIVE_MAX	65536
#define TRAPLINE_PROBES_MAX	65533		/* per session: event ids */
#define TRAPLINE_BATCH_MAX	256		/* probes in one PROBE_ADD */
#define TRAPLINE_TGIDS_MAX	1024		/* thread groups in one CONFIGURE */
#define TRAPLINE_ONLY_MAX	64		/* users, names or cgroups in one CONFIGURE */
#define TRAPLINE_SYMBOL_MAX	512		/* "module:symbol" with its NUL */
#define TRAPLINE_SITE_BYTES	16
#define TRAPLINE_PENDING_MAX	64		/* calls listed per probe */
#define TRAPLINE_MARK_MAX	1024		/* bytes of a mark's text, without a NUL */
#define TRAPLINE_LABEL_MAX	4096

/*
 * mmap: the ring of CPU n starts at file offset n * TRAPLINE_MMAP_STRIDE.
 *   + 0          consumer page, one page, PROT_READ | PROT_WRITE, MAP_SHARED
 *   + page size  control page and data, page size + ring size, PROT_READ
 * Each is mapped whole, and as nothing else: EINVAL for another offset or size, or
 * before CONFIGURE,
 * EACCES for another protection or a private mapping, ENXIO where n is no CPU.
 */
#define TRAPLINE_MMAP_STRIDE	0x100000000ULL

enum trapline_command {
	TRAPLINE_C_UNSPEC,
	TRAPLINE_C_INFO,
	TRAPLINE_C_CONFIGURE,
	TRAPLINE_C_METADATA,
	TRAPLINE_C_PROBE_ADD,
	TRAPLINE_C_PROBE_DELETE,
	TRAPLINE_C_START,
	TRAPLINE_C_STOP,
	TRAPLINE_C_SYNC,
	TRAPLINE_C_PROBE_DUMP,
	TRAPLINE_C_SITE_READ,
	TRAPLINE_C_SESSION_LIST,
	TRAPLINE_C_MARK,
	__TRAPLINE_C_AFTER_LAST
};

#define TRAPLINE_C_MAX (__TRAPLINE_C_AFTER_LAST - 1)

enum trapline_attr {
	TRAPLINE_A_UNSPEC,
	TRAPLINE_A_PAD,
	TRAPLINE_A_FD,			/* u32 */
	TRAPLINE_A_ABI,			/* u32 */
	TRAPLINE_A_VERSION,		/* string */
	TRAPLINE_A_CPUS,		/* u32, possible CPUs: ids are 0 to CPUS - 1 */
	TRAPLINE_A_RING_MIN,		/* u64, bytes */
	TRAPLINE_A_RING_MAX,		/* u64, bytes: what 1/16 of RAM allows */
	TRAPLINE_A_RING_DEFAULT,	/* u64, bytes */
	TRAPLINE_A_RING_SIZE,		/* u64, bytes per CPU */
	TRAPLINE_A_CHUNK_SIZE,		/* u64, bytes */
	TRAPLINE_A_RECORD_MAX,		/* u32, bytes of fields in a record */
	TRAPLINE_A_INSNS_MAX,		/* u32, instructions in a program */
	TRAPLINE_A_MAXACTIVE,		/* u32 */
	TRAPLINE_A_MAXACTIVE_MAX,	/* u32 */
	TRAPLINE_A_CLOCK_NAME,		/* string: "tsc" or "mono" */
	TRAPLINE_A_CLOCK_HZ,		/* u64, nominal ticks per second */
	TRAPLINE_A_TGIDS,		/* nest of TGID */
	TRAPLINE_A_TGID,		/* u32 */
	TRAPLINE_A_FOLLOW,		/* flag */
	TRAPLINE_A_EXCLUDE_TGID,	/* u32 */
	TRAPLINE_A_OFFSET,		/* u64, bytes */
	TRAPLINE_A_DATA,		/* binary */
	TRAPLINE_A_PROBES,		/* nest of PROBE */
	TRAPLINE_A_PROBE,		/* nest of trapline_probe_attr */
	TRAPLINE_A_VERDICTS,		/* nest of VERDICT */
	TRAPLINE_A_VERDICT,		/* nest of trapline_probe_attr */
	TRAPLINE_A_EVENT_ID,		/* u16 */
	TRAPLINE_A_TICKS,		/* u64, the session's clock */
	TRAPLINE_A_MONOTONIC,		/* u64, ns of CLOCK_MONOTONIC at TICKS */
	TRAPLINE_A_REALTIME,		/* u64, ns of CLOCK_REALTIME at TICKS */
	TRAPLINE_A_PENDING,		/* flag */
	TRAPLINE_A_ADDRESS,		/* u64 */
	TRAPLINE_A_BYTES_BEFORE,	/* binary */
	TRAPLINE_A_BYTES_NOW,		/* binary */
	TRAPLINE_A_SESSION,		/* nest of trapline_session_attr */
	TRAPLINE_A_OVERWRITE,		/* flag */
	TRAPLINE_A_WAKE_CHUNKS,		/* flag */
	TRAPLINE_A_TEXT,		/* binary: bytes without a NUL */
	TRAPLINE_A_MARKED,		/* u32, sessions */
	TRAPLINE_A_LOST,		/* u32, sessions */
	TRAPLINE_A_SESSION_NUMBER,	/* u32, as TRAPLINE_S_NUMBER */
	TRAPLINE_A_ONLY_CPUS,		/* array of u32 */
	TRAPLINE_A_ONLY_UIDS,		/* array of u32 */
	TRAPLINE_A_ONLY_COMMS,		/* array of char[16], NULs behind the name */
	TRAPLINE_A_ONLY_CGROUPS,	/* array of u32, descriptors */
	TRAPLINE_A_LIMIT,		/* u64, records; 0: none */
	TRAPLINE_A_GUARD,		/* u32, percent */
	__TRAPLINE_A_AFTER_LAST
};

#define TRAPLINE_A_MAX (__TRAPLINE_A_AFTER_LAST - 1)

enum trapline_probe_attr {
	TRAPLINE_P_UNSPEC,
	TRAPLINE_P_PAD,
	TRAPLINE_P_KIND,		/* u8, trapline_probe_kind */
	TRAPLINE_P_EVENT_ID,		/* u16 */
	TRAPLINE_P_SYMBOL,		/* string, "symbol" or "module:symbol" */
	TRAPLINE_P_OFFSET,		/* u64, bytes from SYMBOL */
	TRAPLINE_P_ADDRESS,		/* u64, where the trap goes, OFFSET included */
	TRAPLINE_P_MAXACTIVE,		/* u32, 0: the session's */
	TRAPLINE_P_ENTRY_PROGRAM,	/* array of struct tl_insn */
	TRAPLINE_P_RETURN_PROGRAM,	/* array of struct tl_insn */
	TRAPLINE_P_ERROR,		/* u32, positive errno, 0 for none */
	TRAPLINE_P_TEXT,		/* string */
	TRAPLINE_P_LIFTED,		/* flag */
	TRAPLINE_P_COUNTERS,		/* struct trapline_counters */
	TRAPLINE_P_PENDING_CALLS,	/* array of struct trapline_pending */
	TRAPLINE_P_TRIGGER,		/* u8, trapline_trigger */
	TRAPLINE_P_TECHNIQUE,		/* u8, trapline_technique */
	TRAPLINE_P_LABEL,		/* binary, TRAPLINE_LABEL_MAX bytes at most */
	TRAPLINE_P_MAX_RATE,		/* u32, records in a second; 0: no limit */
	__TRAPLINE_P_AFTER_LAST
};

#define TRAPLINE_P_MAX (__TRAPLINE_P_AFTER_LAST - 1)

enum trapline_session_attr {
	TRAPLINE_S_UNSPEC,
	TRAPLINE_S_PAD,
	TRAPLINE_S_TGID,		/* u32, who opened it */
	TRAPLINE_S_COMM,		/* string, his name then */
	TRAPLINE_S_UID,			/* u32 */
	TRAPLINE_S_STARTED,		/* flag */
	TRAPLINE_S_PROBES,		/* u32, planted now */
	TRAPLINE_S_RING_SIZE,		/* u64, bytes per CPU; 0: not configured */
	TRAPLINE_S_RECORDED,		/* u64, records */
	TRAPLINE_S_LOST,		/* u64, records */
	TRAPLINE_S_OWN,			/* flag: the asker's session */
	TRAPLINE_S_OVERWRITE,		/* flag: a flight recorder */
	TRAPLINE_S_NUMBER,		/* u32, from 1; none is used twice while the module is loaded */
	TRAPLINE_S_SILENCED,		/* u64, ns of CLOCK_MONOTONIC: a crash's dump ended the run then */
	TRAPLINE_S_ENDED,		/* u32, trapline_ended: of the run, if it isn't going on */
	TRAPLINE_S_SPENT,		/* u64, ns that hits took on all CPUs, with a GUARD */
	TRAPLINE_S_LOAD,		/* u32, percent that a GUARD found too much ... */
	TRAPLINE_S_LOAD_CPU,		/* u32, ... on this CPU */
	__TRAPLINE_S_AFTER_LAST
};

#define TRAPLINE_S_MAX (__TRAPLINE_S_AFTER_LAST - 1)

enum trapline_probe_kind {
	TRAPLINE_ENTRY,		/* a record when the instruction is reached */
	TRAPLINE_RETURN,	/* a record when the function returns */
	TRAPLINE_CALL,		/* one record a call, written at its return */
	TRAPLINE_KINDS
};

/* How the CPU gets from a probe's site to its handler, as the kernel's text tells it now. */
enum trapline_technique {
	TRAPLINE_NO_TRAP,	/* lifted, gone with its module, or switched off */
	TRAPLINE_BREAKPOINT,
	TRAPLINE_JUMP,		/* the kernel has made a jump of the breakpoint */
	TRAPLINE_FTRACE,	/* the call that ftrace has at the function's start */
	TRAPLINE_TECHNIQUES
};

/*
 * What a hit of a probe does besides, if its programs let it pass. So does one whose record
 * was then dropped (lost_full, lost_too_big): what was waited for has happened. One that
 * was filtered does not, nor one that was lost_nested: its programs were not asked.
 */
enum trapline_trigger {
	TRAPLINE_TRIGGER_NONE,
	TRAPLINE_TRIGGER_ANNOUNCE,	/* poll() reports POLLPRI */
	TRAPLINE_TRIGGER_STOP,		/* and from now on no hit is recorded, until STOP */
	TRAPLINE_TRIGGERS
};

/* What ended a run before STOP. */
enum trapline_ended {
	TRAPLINE_ENDED_NOT,
	TRAPLINE_ENDED_TRIGGER,
	TRAPLINE_ENDED_LIMIT,		/* LIMIT hits were recorded */
	TRAPLINE_ENDED_GUARD,		/* hits took too much of a CPU; all probes are lifted */
	TRAPLINE_ENDS
};

/*
 * What became of a probe's hits since it was added, summed over the CPUs. Each term
 * is counted where it happens, none derived from another:
 *
 *   hits = recorded + filtered + limited + lost_full + lost_nested + lost_too_big
 *          + (entered - returned)			(the last for call probes)
 *
 * entered counts the calls that passed the entry's filters, returned those whose
 * return was seen in the same run of the session; late are those that returned
 * while it was stopped, stale those that returned in a later run. So entered -
 * returned are the calls that were inside when a run ended, or are inside now.
 * The kernel's own misses are a lower bound, for it may skip a hit uncounted.
 */
struct trapline_counters {
	__u64 hits;
	__u64 recorded;
	__u64 filtered;
	__u64 lost_full;	/* no free chunk: the reader was too slow */
	__u64 lost_nested;	/* a record was being written on this CPU */
	__u64 lost_too_big;	/* larger than a chunk */
	__u64 entered;
	__u64 returned;
	__u64 late;
	__u64 stale;		/* returns of calls from before this START */
	__u64 missed_recursion;	/* kernel: hit inside another probe's handler */
	__u64 missed_maxactive;	/* kernel: more than maxactive calls inside */
	__u64 limited;		/* beyond MAX_RATE or LIMIT */
};

/* A call that has not returned, found on the stack of a sleeping task. */
struct trapline_pending {
	__u32 tid;
	__u32 tgid;
	__u64 age;		/* ns since entry */
	char comm[16];
};

#endif
