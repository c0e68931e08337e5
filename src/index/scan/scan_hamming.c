/*-------------------------------------------------------------------------
 *
 * scan_hamming.c
 *		Index scans that give the nearest rows first
 *
 * The radius grows, from one distance to the next.  A match at the radius is handed
 * out at once, for all that is nearer has been; one beyond it is held back
 * (distance_queue.c) until the radius comes to it.  When another cover becomes cheaper, a
 * new phase begins, which looks for what is beyond the radius reached.  The last
 * is to read a table through.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "index/scan/scan.h"

/*
 * Bound the distances from the query of rows that are within all balls, by the triangle
 * inequality.
 */
static void
bound_order(SimHashScan *state)
{
	state->completed_radius = -1;
	state->max_radius = SIMHASH_BITS;
	for (int i = 0; i < state->nballs; i++)
	{
		int			radius = state->balls[i].radius;
		int			distance = simhash_distance(state->balls[i].center, state->query);

		state->completed_radius = Max(state->completed_radius, distance - radius - 1);
		state->max_radius = Min(state->max_radius, distance + radius);
	}
}

/*
 * The cheapest way to find what is within a radius of the query: a cover, and whether the
 * smallest ball is searched by it instead.
 */
static const Cover *
choose_way(const SimHashScan *state, int radius, bool *around_ball)
{
	double		cost;
	const Cover *cover = covers_choose(&state->covers, radius, &cost);

	*around_ball = false;
	if (state->nballs > 0)
	{
		double		ball_cost;
		const Cover *other = covers_choose(&state->covers, state->balls[0].radius,
										   &ball_cost);

		if (ball_cost < cost)
		{
			*around_ball = true;
			return other;
		}
	}
	return cover;
}

/* The radius of the probes that find what is within the radius of the order. */
static inline int
probe_radius(const SimHashScan *state)
{
	return state->around_ball ? state->balls[0].radius : state->radius;
}

static void
start_probing(SimHashScan *state)
{
	scan_start_probing(state, state->around_ball ? state->balls[0].center : state->query,
					   probe_radius(state));
}

/*
 * Begin a phase, for rows beyond the distance `completed_radius`.  If it has the cover of
 * the last phase, then the last phase had to drop matches that are wanted now.
 */
static void
begin_phase(SimHashScan *state)
{
	const Cover *last = state->chosen;
	bool		around_ball;
	bool		in_one_go;

	state->radius = state->horizon = state->completed_radius + 1;
	state->chosen = choose_way(state, state->radius, &state->around_ball);
	in_one_go = state->around_ball || state->chosen->kind == COVER_THROUGH;
	if (in_one_go)
		state->horizon = state->max_radius;
	while (state->horizon < state->max_radius &&
		   choose_way(state, state->horizon + 1, &around_ball) == state->chosen &&
		   !around_ball)
		state->horizon++;

	if (state->chosen == last)
		distance_queue_enlarge(state->queue, in_one_go);
	else
		distance_queue_reset(state->queue);
	start_probing(state);
}

/*
 * Begin to look for the nearest first, or for nothing, if the balls have nothing
 * in common.
 */
void
nearest_begin(SimHashScan *state)
{
	bound_order(state);
	state->chosen = NULL;
	if (state->completed_radius >= state->max_radius)
		state->stage = SCAN_DONE;
	else
		begin_phase(state);
}

/*
 * Take the matches held back at the radius; when there are no more, look for
 * the others at this radius.
 */
bool
nearest_take_queued(SimHashScan *state)
{
	state->next_match = 0;
	state->nmatches = distance_queue_take(state->queue, state->radius, state->matches,
								MAX_LEAF_ENTRIES);
	if (state->nmatches > 0)
		return true;
	probing_extend(&state->probing, probe_radius(state));
	state->stage = SCAN_PROBE;
	return false;
}

/*
 * All that is within the radius has been handed out: go on to the next one.
 * Returns false after the last one.
 */
bool
nearest_go_farther(SimHashScan *state)
{
	if (state->radius == state->max_radius)
		return false;
	if (state->radius < state->horizon)
	{
		state->radius++;
		state->stage = SCAN_QUEUED;
	}
	else
	{
		state->completed_radius = state->radius;
		begin_phase(state);
	}
	return true;
}
