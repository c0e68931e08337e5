/*
 * Options of CREATE INDEX
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_OPTIONS_H
#define SIMHASH_OPTIONS_H

#include "utils/relcache.h"

#include "index/simhash/design.h"

extern void options_init(void);
extern DesignOptions options_design(Relation index);

#endif							/* SIMHASH_OPTIONS_H */
