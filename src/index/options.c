/*-------------------------------------------------------------------------
 *
 * options.c
 *		Options of CREATE INDEX: which design
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "utils/rel.h"

#include "index/design.h"
#include "index/handler.h"

typedef struct IndexOptions
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int			blocks;
} IndexOptions;

static relopt_kind options_kind;

static const relopt_parse_elt options_table[] = {
	{.optname = "blocks", .opttype = RELOPT_TYPE_INT,
	.offset = offsetof(IndexOptions, blocks)}
};

/*
 * Called once, when the library is loaded.
 */
void
options_init(void)
{
	options_kind = add_reloption_kind();
	add_int_reloption(options_kind, "blocks",
					  "Number of blocks that fingerprints are cut into, and of tables",
					  DESIGN_DEFAULT_BLOCKS, DESIGN_MIN_BLOCKS, DESIGN_MAX_BLOCKS,
					  AccessExclusiveLock);
}

/*
 * amoptions
 */
bytea *
simhash_options(Datum reloptions, bool validate)
{
	return build_reloptions(reloptions, validate, options_kind,
							sizeof(IndexOptions), options_table,
							lengthof(options_table));
}

/*
 * The design that a new index, or a rebuilt one, gets.  That of an existing
 * one stands in its metapage.
 */
int
options_blocks(Relation index)
{
	IndexOptions *options = (IndexOptions *) index->rd_options;

	return options ? options->blocks : DESIGN_DEFAULT_BLOCKS;
}
