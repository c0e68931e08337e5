/*-------------------------------------------------------------------------
 *
 * insert_row.c
 *		Insertion of a row
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "index/access_method.h"
#include "index/opclass_lookup.h"
#include "index/params.h"
#include "index/tree/insert.h"
#include "index/tree/meta.h"

/*
 * aminsert: insert the entries of a row, or its placeholder.  Raises an error if the
 * parameters of the value differ from those of the index.  Returns false, because no
 * index of this access method is unique.
 */
bool
simhash_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			   Relation heap, IndexUniqueCheck unique_check,
			   bool index_unchanged, struct IndexInfo *info)
{
	const Opclass *opclass = opclass_of_trees(index);
	KeySet		keys;

	opclass_extract_value(opclass, values[0], isnull[0], &keys);
	params_check(index, opclass, meta_get(index)->params, keys.params);
	if (keys.is_placeholder)
		insert_placeholder(index, keys.key[0], tid);
	else
		insert_keys(index, keys.key, keys.n, tid);
	key_set_free(&keys);
	return false;
}
