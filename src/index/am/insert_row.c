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

#include "index/am/handler.h"
#include "index/kind.h"
#include "index/tree/insert.h"

/*
 * aminsert
 */
bool
simhash_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			   Relation heap, IndexUniqueCheck unique_check,
			   bool index_unchanged, struct IndexInfo *info)
{
	Words		words;

	kind_get_words(kind_of_index(index), values[0], isnull[0], &words);
	if (words.n == 0)
		insert_wordless(index, wordless_key(isnull[0]), tid);
	for (int i = 0; i < words.n; i++)
		insert_word(index, words.word[i], tid);
	return false;
}
