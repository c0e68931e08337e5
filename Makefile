# simhash for PostgreSQL: needs only the server's headers and xxHash's

EXTENSION = simhash
DATA = src/sql/simhash--1.0.sql
PGFILEDESC = "simhash - near-duplicate detection"

MODULE_big = simhash
OBJS = \
	$(WIN32RES) \
	src/module.o \
	src/corpus/cluster.o \
	src/corpus/component.o \
	src/corpus/leader.o \
	src/corpus/single_linkage.o \
	src/digest/accumulate.o \
	src/digest/distinct.o \
	src/digest/match.o \
	src/digest/minhash.o \
	src/digest/hash_list.o \
	src/digest/winnow.o \
	src/functions/arguments.o \
	src/functions/banding.o \
	src/functions/common_runs.o \
	src/functions/difference.o \
	src/functions/fingerprint.o \
	src/functions/joined_runs.o \
	src/functions/passages.o \
	src/functions/resemblance.o \
	src/functions/shingle_set.o \
	src/functions/shingles.o \
	src/functions/signature.o \
	src/functions/sketches.o \
	src/functions/suffix_automaton.o \
	src/functions/windows.o \
	src/gist/gist_opclasses.o \
	src/gist/pick_split.o \
	src/index/am/cost.o \
	src/index/am/handler.o \
	src/index/am/validate.o \
	src/index/load/build.o \
	src/index/load/build_parallel.o \
	src/index/load/build_tree.o \
	src/index/load/build_worker.o \
	src/index/load/heap_scan.o \
	src/index/load/spool.o \
	src/index/inspect/check.o \
	src/index/inspect/check_heap.o \
	src/index/inspect/inspect.o \
	src/index/inspect/report.o \
	src/index/opclass_lookup.o \
	src/index/opclasses.o \
	src/index/options.o \
	src/index/scan/distance_queue.o \
	src/index/scan/leaf_reader.o \
	src/index/scan/postings.o \
	src/index/scan/scan.o \
	src/index/scan/scan_hamming.o \
	src/index/scan/scan_overlap.o \
	src/index/scan/tid_hash.o \
	src/index/simhash/advice.o \
	src/index/simhash/design.o \
	src/index/simhash/probe_plan.o \
	src/index/tree/buffer_hint.o \
	src/index/tree/descend.o \
	src/index/tree/free_list.o \
	src/index/tree/insert.o \
	src/index/tree/link.o \
	src/index/tree/merge.o \
	src/index/tree/meta.o \
	src/index/tree/page.o \
	src/index/tree/split.o \
	src/index/tree/vacuum.o \
	src/index/tree/wal.o \
	src/join/exec/join_exec.o \
	src/join/exec/join_input.o \
	src/join/exec/join_parallel.o \
	src/join/exec/join_phases.o \
	src/join/exec/join_return.o \
	src/join/match/by_band.o \
	src/join/match/by_distance.o \
	src/join/match/by_prefix.o \
	src/join/match/distance_pairs.o \
	src/join/match/join_methods.o \
	src/join/match/prefix_pairs.o \
	src/join/plan/join_clause.o \
	src/join/plan/join_cost.o \
	src/join/plan/join_node.o \
	src/join/plan/join_path.o \
	src/join/plan/join_self.o \
	src/join/store/entries.o \
	src/join/store/entry_sort.o \
	src/join/store/shared_arenas.o \
	src/join/store/pending.o \
	src/join/store/shared_files.o \
	src/join/store/store.o \
	src/join/store/tuples.o \
	src/pairs/block_cut.o \
	src/pairs/near_pairs.o \
	src/planner/array_estimate.o \
	src/planner/bound.o \
	src/planner/condition.o \
	src/planner/gist_cost.o \
	src/planner/objects.o \
	src/planner/privileges.o \
	src/planner/sample.o \
	src/planner/selectivity.o \
	src/planner/self_join.o \
	src/planner/support.o \
	src/planner/rewrite/other_uses.o \
	src/planner/rewrite/rewrite.o \
	src/planner/rewrite/rewrite_clause.o \
	src/text/ascii.o \
	src/text/document.o \
	src/text/hash.o \
	src/text/locate.o \
	src/text/normalize.o \
	src/text/salt.o \
	src/text/segment.o \
	src/text/shingle.o \
	src/text/tokenize.o \
	src/type/ball.o \
	src/type/cast.o \
	src/type/sketch_ball.o \
	src/type/hash_array.o \
	src/type/minhash_type.o \
	src/type/simhash_type.o

PG_CPPFLAGS = -I$(srcdir)/src

# Two lists that take about as long, which test/check.sh runs at the same time.  install
# leaves the extension installed, and setup leaves the shared objects of the later tests.
# planner drops both, and leaves the extension for renamed_objects, which drops it.
REGRESS_1 = install setup tour types fingerprint shingles resemblance difference aggregate \
	published_examples unicode vectors minhash banding_curve passages errors \
	connected_component fingerprint_index index_designs nearest parallel_build index_inspect \
	vacuum exclude gist
REGRESS_2 = sketch_index containment_index jaccard_index signature_index signature_parameters \
	estimates cluster join join_memory join_parallel planner renamed_objects
REGRESS = $(REGRESS_1) $(REGRESS_2)
REGRESS_OPTS = --encoding=UTF8 --no-locale

ISOLATION = index_check index_cursor index_nearest index_concurrently \
	index_serializable index_conflict index_exclude gist_exclude keep_out cluster_labels join_update
ISOLATION_OPTS = --inputdir=$(srcdir)/test/isolation --load-extension=simhash

# Just-in-time compilation, on by default up to 18, takes many times as long as the
# tests.
installcheck: export PGOPTIONS += -c jit=off

# TAP tests start servers of their own, so they need IPC::Run and a user other than
# root.
ifeq ($(shell perl -MIPC::Run -e 'print $$> != 0' 2>/dev/null),1)
TAP_TESTS = 1
PROVE_TESTS = $(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/test/t/*.pl))
endif

EXTRA_CLEAN = .built-for $(OBJS:.o=.d)

PG_CONFIG = pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)

# Bitcode for just-in-time compilation needs the tools that built the server.  Without
# them it is not built.
makefile_global := $(dir $(PGXS))../Makefile.global
CLANG := $(shell sed -n 's/^CLANG *= *//p' $(makefile_global))
LLVM_BINPATH := $(shell sed -n 's/^LLVM_BINPATH *= *//p' $(makefile_global))
ifeq ($(shell command -v $(CLANG) >/dev/null && command -v $(LLVM_BINPATH)/llvm-lto),)
override with_llvm = no
endif

include $(PGXS)

# A tarball of the last commit, which builds without git.
VERSION = $(shell sed -n 's/^.define SIMHASH_VERSION[^"]*"\(.*\)"/\1/p' $(srcdir)/src/module.c)
.PHONY: dist
dist:
	git -C $(srcdir) archive --prefix=simhash-$(VERSION)/ -o $(abspath simhash-$(VERSION).tar.gz) HEAD

# A build outside of the source tree has the same directories.
$(shell mkdir -p $(sort $(dir $(OBJS))))

# Objects of another PG_CONFIG are rebuilt.
$(shell $(PG_CONFIG) | cmp -s - .built-for || $(PG_CONFIG) >.built-for)

# Each object, and its bitcode, depends on the headers that it includes, the server's
# among them.  The compiler writes them to a file beside the object.  The Makefile has
# flags.
$(OBJS): CFLAGS += -MMD -MP -MF $(@:.o=.d) -MT '$@ $(@:.o=.bc)'
$(OBJS) $(OBJS:.o=.bc): .built-for $(srcdir)/Makefile
-include $(wildcard $(OBJS:.o=.d))

# PostgreSQL makes all files .SECONDARY, so make would overlook a header that is gone.
headers := $(sort $(shell sed -n 's/:$$//p' /dev/null $(wildcard $(OBJS:.o=.d))))
.PHONY: $(filter-out $(wildcard $(headers)),$(headers))

# Functions shared between C files are not exported.  (PGXS does this from 16 on.)
ifeq ($(GCC),yes)
$(OBJS): CFLAGS += -fvisibility=hidden
endif

# Loops that the compiler must vectorise.
src/digest/accumulate.o src/digest/minhash.o src/text/ascii.o: CFLAGS += $(CFLAGS_UNROLL_LOOPS) $(CFLAGS_VECTORIZE)
