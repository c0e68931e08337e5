/*
 * WAL records of entries appended to leaves
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_WAL_H
#define SIMHASH_WAL_H

#include "access/generic_xlog.h"
#include "storage/buf.h"
#include "storage/bufpage.h"
#include "utils/relcache.h"

/* Maximum number of pages in one WAL record. */
#define WAL_MAX_PAGES		MAX_GENERIC_XLOG_PAGES

/* Maximum number of entries in one WAL record. */
#define WAL_MAX_ENTRIES		256

/* Place of pd_lower and pd_upper, which are adjacent, on a page. */
#define WAL_BOUNDS_OFFSET	offsetof(PageHeaderData, pd_lower)
#define WAL_BOUNDS_SIZE		(2 * sizeof(LocationIndex))

StaticAssertDecl(offsetof(PageHeaderData, pd_upper) ==
				 WAL_BOUNDS_OFFSET + sizeof(LocationIndex),
				 "pd_lower and pd_upper are adjacent");

/* A leaf of a WAL record. */
typedef struct WalPage
{
	Buffer		buffer;
	int			nentries;		/* number of entries on the page before the change */
	char		bounds[WAL_BOUNDS_SIZE];	/* pd_lower and pd_upper before the change */
} WalPage;

/* A WAL record that is being made. */
typedef struct WalRecord
{
	GenericXLogState *generic;	/* NULL if the record is made by hand */
	bool		is_logged;		/* false if the index needs no WAL */
	int			npages;
	WalPage		page[WAL_MAX_PAGES];
} WalRecord;

extern void wal_init(void);
extern void wal_begin(WalRecord *record, Relation index);
extern Page wal_register(WalRecord *record, Buffer leaf);
extern void wal_finish(WalRecord *record);

#endif							/* SIMHASH_WAL_H */
