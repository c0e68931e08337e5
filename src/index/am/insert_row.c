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
 * aminsert
 */
bool
simhash_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			   Relation heap, IndexUniqueCheck unique_check,
			   bool index_unchanged, struct IndexInfo *info)
{
	const Opclass *opclass = opclass_of_trees(index);
	Words		words;

	opclass_get_words(opclass, values[0], isnull[0], &words);
	params_check(index, opclass, meta_get(index)->params, words.params);
	if (words.wordless)
		insert_placeholder(index, words.word[0], tid);
	else
		insert_keys(index, words.word, words.n, tid);
	words_free(&words);
	return false;
}
