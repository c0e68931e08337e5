# simhash for PostgreSQL: needs the server's headers and xxHash's, nothing else

EXTENSION = simhash
DATA = src/sql/simhash--1.0.sql
PGFILEDESC = "simhash - near-duplicate detection"

MODULE_big = simhash
OBJS = \
	$(WIN32RES) \
	src/module.o \
	src/index/advice.o \
	src/index/ahead.o \
	src/index/build.o \
	src/index/build_parallel.o \
	src/index/build_tree.o \
	src/index/build_units.o \
	src/index/check.o \
	src/index/check_heap.o \
	src/index/cost.o \
	src/index/design.o \
	src/index/explain.o \
	src/index/free_list.o \
	src/index/handler.o \
	src/index/insert.o \
	src/index/match.o \
	src/index/merge.o \
	src/index/meta.o \
	src/index/options.o \
	src/index/order.o \
	src/index/page.o \
	src/index/pause.o \
	src/index/probe.o \
	src/index/report.o \
	src/index/scan.o \
	src/index/scan_nearest.o \
	src/index/scan_read.o \
	src/index/search.o \
	src/index/split.o \
	src/index/spool.o \
	src/index/stats.o \
	src/index/vacuum.o \
	src/index/validate.o \
	src/planner/beside.o \
	src/planner/bound.o \
	src/planner/comparison.o \
	src/planner/indexable.o \
	src/planner/objects.o \
	src/planner/rewrite.o \
	src/planner/sample.o \
	src/planner/selectivity.o \
	src/planner/support.o \
	src/text/accumulate.o \
	src/text/arguments.o \
	src/text/ascii.o \
	src/text/distinct.o \
	src/text/document.o \
	src/text/hash.o \
	src/text/hash_set.o \
	src/text/normalize.o \
	src/text/resemblance.o \
	src/text/salt.o \
	src/text/shingle.o \
	src/text/shingle_set.o \
	src/text/shingles.o \
	src/text/tokenize.o \
	src/text/weigh.o \
	src/type/aggregate.o \
	src/type/ball.o \
	src/type/cast.o \
	src/type/distance.o \
	src/type/fingerprint.o \
	src/type/simhash.o

PG_CPPFLAGS = -I$(srcdir)/src

REGRESS = install types fingerprint shingles resemblance aggregate literature \
	unicode vectors errors index designs nearest parallel report planner \
	estimates vacuum
REGRESS_OPTS = --encoding=UTF8 --no-locale

ISOLATION = index_check index_cursor index_nearest index_concurrently index_serializable index_conflict
ISOLATION_OPTS = --inputdir=$(srcdir)/test/isolation --load-extension=simhash

# Tests that start servers of their own need IPC::Run, and no root.
ifeq ($(shell perl -MIPC::Run -e 'print $$> != 0' 2>/dev/null),1)
TAP_TESTS = 1
PROVE_TESTS = $(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/test/t/*.pl))
endif

EXTRA_CLEAN = .built-for

PG_CONFIG = pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)

# Bitcode for just-in-time compilation takes the tools that the server was built
# with.  Where they are not there, do without.
makefile_global := $(dir $(PGXS))../Makefile.global
CLANG := $(shell sed -n 's/^CLANG *= *//p' $(makefile_global))
LLVM_BINPATH := $(shell sed -n 's/^LLVM_BINPATH *= *//p' $(makefile_global))
ifeq ($(shell command -v $(CLANG) >/dev/null && command -v $(LLVM_BINPATH)/llvm-lto),)
override with_llvm = no
endif

include $(PGXS)

# A build outside of the source tree has the same directories.
$(shell mkdir -p $(sort $(dir $(OBJS))))

# What was built with another PG_CONFIG is built anew.
$(shell $(PG_CONFIG) | cmp -s - .built-for || $(PG_CONFIG) >.built-for)

# Every header is small, so an object depends on all of them.
$(OBJS) $(OBJS:.o=.bc): .built-for \
	$(wildcard $(srcdir)/src/*.h $(srcdir)/src/*/*.h $(srcdir)/src/*/*/*.h)

# What C files share is not exported.  (From 16 on PGXS does this by itself.)
ifeq ($(GCC),yes)
$(OBJS): CFLAGS += -fvisibility=hidden
endif

# Loops that are written to be vectorised.
src/text/ascii.o src/text/weigh.o: CFLAGS += $(CFLAGS_UNROLL_LOOPS) $(CFLAGS_VECTORIZE)
