/*
 * Options of CREATE INDEX, which choose the design
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "index/access_method.h"
#include "index/opclass.h"

typedef struct IndexOptions
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	DesignOptions design;
} IndexOptions;

static relopt_kind options_kind;

static const relopt_parse_elt options_table[] = {
	{.optname = "blocks", .opttype = RELOPT_TYPE_INT,
	.offset = offsetof(IndexOptions, design.blocks)},
	{.optname = "prefix", .opttype = RELOPT_TYPE_INT,
	.offset = offsetof(IndexOptions, design.prefix)},
	{.optname = "nested", .opttype = RELOPT_TYPE_INT,
	.offset = offsetof(IndexOptions, design.nested)}
};

/*
 * Register the options.  Called once, when the library is loaded.
 */
void
options_init(void)
{
	options_kind = add_reloption_kind();
	add_int_reloption(options_kind, "blocks",
					  "Number of blocks that fingerprints are cut into",
					  DESIGN_DEFAULT_BLOCKS, DESIGN_MIN_BLOCKS, DESIGN_MAX_BLOCKS,
					  AccessExclusiveLock);
	add_int_reloption(options_kind, "prefix",
					  "Number of blocks that come first in a permuted table",
					  1, 1, DESIGN_MAX_BLOCKS - 1, AccessExclusiveLock);
	add_int_reloption(options_kind, "nested",
					  "Number of blocks that the bits after the first block are cut into again",
					  1, 1, DESIGN_MAX_NESTED, AccessExclusiveLock);
}

/*
 * Raise an error if the options cannot be combined.  PostgreSQL has already checked the
 * limits of each option.
 */
static void
check_design(const DesignOptions *design)
{
	int			ntables = design_count_tables(design);

	if (design->prefix >= design->blocks)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("prefix (%d) must be less than blocks (%d)",
						design->prefix, design->blocks),
				 errhint("Choose a shorter prefix, or more blocks. The default of blocks is %d.",
						 DESIGN_DEFAULT_BLOCKS)));
	if (design->prefix > 1 && design->nested > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("prefix and nested cannot be combined"),
				 errhint("Leave out one of them.")));
	if (ntables > DESIGN_MAX_TABLES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an index of %d permuted tables is too large", ntables),
				 errdetail("These options ask for %d permuted tables, each a copy of all fingerprints; at most %d are allowed.",
						   ntables, DESIGN_MAX_TABLES),
				 design->nested > 1 ?
				 errhint("Choose a smaller number for nested, or fewer blocks.") :
				 errhint("Choose fewer blocks, or a shorter prefix.")));
}

/*
 * amoptions: parse and check the options of an index.
 */
bytea *
simhash_options(Datum reloptions, bool validate)
{
	bytea	   *options = build_reloptions(reloptions, validate, options_kind,
										   sizeof(IndexOptions), options_table,
										   lengthof(options_table));

	if (validate && options)
		check_design(&((IndexOptions *) options)->design);
	return options;
}

/*
 * Return the design for a new index, or for an index that is rebuilt.  The design of an
 * existing index is in its metapage.  Raises a warning if a multi-key index has options,
 * because there is only one design for such an index.
 */
DesignOptions
options_design(Relation index)
{
	IndexOptions *options = (IndexOptions *) index->rd_options;

	if (opclass_of_index(index)->multi_key)
	{
		/* not an error, because an option set later must not make TRUNCATE fail */
		if (options)
			ereport(WARNING,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("options of index \"%s\" have no effect",
							RelationGetRelationName(index)),
					 errdetail("blocks, prefix and nested are for the types simhash and simhash_ball."),
					 errhint("To remove them, run ALTER INDEX %s RESET (blocks, prefix, nested).",
							 quote_qualified_identifier(get_namespace_name_or_temp(RelationGetNamespace(index)),
														RelationGetRelationName(index)))));
		return DESIGN_WHOLE;
	}
	return options ? options->design : DESIGN_DEFAULT;
}
