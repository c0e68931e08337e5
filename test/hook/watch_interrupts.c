/*
 * Measures how long a query goes on before it checks for interrupts, for
 * test/t/003_cancel.pl
 *
 * A timer ticks while the process uses the processor.  At a tick InterruptPending is set,
 * without a reason, so that the next CHECK_FOR_INTERRUPTS clears it.  The number of ticks
 * at which it is still set is the time for which a cancel would have to wait.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <signal.h>
#include <sys/time.h>

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"

PG_MODULE_MAGIC;

static volatile sig_atomic_t ticks;
static volatile sig_atomic_t waiting;
static volatile sig_atomic_t longest_wait;

static void
tick(int signal)
{
	ticks++;
	waiting = InterruptPending ? waiting + 1 : 0;
	if (waiting > longest_wait)
		longest_wait = waiting;
	InterruptPending = true;
}

/*
 * Start the ticks.
 */
PG_FUNCTION_INFO_V1(watch_interrupts);
Datum
watch_interrupts(PG_FUNCTION_ARGS)
{
	struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
	struct itimerval interval = {{0, 1000}, {0, 1000}};

	ticks = waiting = longest_wait = 0;
	if (sigaction(SIGPROF, &action, NULL) != 0 || setitimer(ITIMER_PROF, &interval, NULL) != 0)
		elog(ERROR, "could not start a timer: %m");
	PG_RETURN_VOID();
}

/*
 * Stop the ticks.  Returns the longest wait and the number of ticks.
 */
PG_FUNCTION_INFO_V1(watched_ticks);
Datum
watched_ticks(PG_FUNCTION_ARGS)
{
	struct itimerval never = {{0, 0}, {0, 0}};
	Datum		values[2];
	bool		nulls[2] = {false, false};
	TupleDesc	desc;

	setitimer(ITIMER_PROF, &never, NULL);
	values[0] = Int32GetDatum(longest_wait);
	values[1] = Int32GetDatum(ticks);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
