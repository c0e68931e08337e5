/*
 * First include of the files that test/unit compiles without a server
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PORTABLE_H
#define SIMHASH_PORTABLE_H

#ifdef FRONTEND
#include "postgres_fe.h"
#define CHECK_FOR_INTERRUPTS()		((void) 0)
#else
#include "postgres.h"

#include "miscadmin.h"
#endif

#endif							/* SIMHASH_PORTABLE_H */
