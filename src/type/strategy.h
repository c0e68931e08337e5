/*
 * Strategy numbers of the operator classes
 *
 * The index, GiST and the planner share them.  This header includes nothing.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_STRATEGY_H
#define SIMHASH_STRATEGY_H

#define STRATEGY_WITHIN		1	/* fp <@ ball, array <%>@ ball */
#define STRATEGY_EQUAL		2	/* fp = fp */
#define STRATEGY_DISTANCE	3	/* ORDER BY fp <~> fp */
#define STRATEGY_NEAR		4	/* ball =~= ball, of either type */
#define STRATEGY_OVERLAP	5	/* array && array */
#define STRATEGY_SHARES_BAND	6	/* signature % signature */
#define STRATEGY_CONTAINMENT	7	/* ORDER BY array <%>> array */
#define STRATEGY_CONTAINS	8	/* array @> array */
#define STRATEGY_CONTAINED	9	/* array <@ array */
#define STRATEGY_RESEMBLES	10	/* array <%@ ball */
#define STRATEGY_JACCARD	11	/* ORDER BY array <%> array */
#define NSTRATEGIES			11

#endif							/* SIMHASH_STRATEGY_H */
