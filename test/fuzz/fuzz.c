/*
 * fuzz.c
 *		Runs a statement with parameters that libFuzzer chooses, in a backend.
 *
 * The bytes of libFuzzer become values of the parameters' types.  So each target is a
 * line of SQL (targets.sql).  An error with an errcode is an answer.  An internal error
 * (XX000) is a finding, as is what the sanitizers see.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/vacuum.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "nodes/execnodes.h"
#include "catalog/storage.h"
#include "parser/parse_func.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/syscache.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(fuzz);
PG_FUNCTION_INFO_V1(fuzz_receive);
PG_FUNCTION_INFO_V1(fuzz_typmod);
PG_FUNCTION_INFO_V1(fuzz_state);
PG_FUNCTION_INFO_V1(fuzz_damage);
PG_FUNCTION_INFO_V1(fuzz_vacuum);
PG_FUNCTION_INFO_V1(fuzz_assert);

#define MAX_PARAMETERS 8
#define MAX_BLOCKS 64

/* libFuzzer's main function, in its library without main() */
extern int	LLVMFuzzerRunDriver(int *argc, char ***argv,
								int (*callback) (const uint8 *data, size_t size));

/* what is left of the bytes of a run */
typedef struct Bytes
{
	const uint8 *data;
	size_t		size;
} Bytes;

static SPIPlanPtr plan;
static int	parameters;
static Oid	types[MAX_PARAMETERS];
static MemoryContext run_context;

/* A text of the run is not valid in the database's encoding.  It must do no harm, but
 * nothing is asserted of it. */
static bool damaged_text;

/* --- values from bytes -------------------------------------------------------- */

static uint64
take_number(Bytes *bytes, size_t size)
{
	uint64		number = 0;

	size = Min(size, bytes->size);
	memcpy(&number, bytes->data, size);
	bytes->data += size;
	bytes->size -= size;
	return number;
}

/* Takes the bytes of one of `parts` values of variable length to come. */
static Bytes
take_part(Bytes *bytes, int parts)
{
	Bytes		part = {bytes->data, bytes->size};

	if (parts > 1 && bytes->size > 2)
		part.size = take_number(bytes, 2) % (bytes->size + 1);
	part.data = bytes->data;
	part.size = Min(part.size, bytes->size);
	bytes->data += part.size;
	bytes->size -= part.size;
	return part;
}

/* A number near the limits that arguments have, or any. */
static int32
take_integer(Bytes *bytes)
{
	uint8		kind = take_number(bytes, 1);

	if (kind < 64)
		return kind;
	if (kind < 128)
		return (int32) take_number(bytes, 2);
	return (int32) take_number(bytes, 4);
}

static Datum
take_text(const uint8 *data, size_t size)
{
	damaged_text |= !pg_verifymbstr((const char *) data, size, true);
	return PointerGetDatum(cstring_to_text_with_len((const char *) data, size));
}

static Datum
take_array(Bytes part, Oid element)
{
	int			count = 0;
	Datum	   *elements;

	if (element == TEXTOID)
	{
		/* tokens, cut at zero bytes */
		elements = palloc(sizeof(Datum) * (part.size + 1));
		while (part.size > 0)
		{
			const uint8 *end = memchr(part.data, 0, part.size);
			size_t		size = end ? end - part.data : part.size;

			elements[count++] = take_text(part.data, size);
			part.data += Min(size + 1, part.size);
			part.size -= Min(size + 1, part.size);
		}
		return PointerGetDatum(construct_array(elements, count, TEXTOID, -1, false, TYPALIGN_INT));
	}
	/* one byte an element, so that elements are equal now and then, or eight */
	elements = palloc(sizeof(Datum) * (part.size + 1));
	if (part.size > 0)
	{
		size_t		width = take_number(&part, 1) % 2 ? 1 : 8;

		while (part.size > 0)
			elements[count++] = Int64GetDatum((int64) take_number(&part, width));
	}
	return PointerGetDatum(construct_array(elements, count, INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* Makes a value of a parameter.  Returns false for NULL. */
static bool
take_value(Bytes *bytes, Oid type, int parts, Datum *value)
{
	Bytes		part;

	switch (type)
	{
		case INT4OID:
			*value = Int32GetDatum(take_integer(bytes));
			return true;
		case INT8OID:
			*value = Int64GetDatum((int64) take_number(bytes, 8));
			return true;
		case FLOAT8OID:
			{
				uint64		bits = take_number(bytes, 8);
				double		number;

				memcpy(&number, &bits, sizeof(number));
				*value = Float8GetDatum(number);
				return true;
			}
		case BOOLOID:
			*value = BoolGetDatum(take_number(bytes, 1) & 1);
			return true;
		default:
			break;
	}
	part = take_part(bytes, parts);
	switch (type)
	{
		case TEXTOID:
			*value = take_text(part.data, part.size);
			return true;
		case BYTEAOID:
			*value = PointerGetDatum(cstring_to_text_with_len((const char *) part.data, part.size));
			return true;
		case TEXTARRAYOID:
			*value = take_array(part, TEXTOID);
			return true;
		case INT8ARRAYOID:
			*value = take_array(part, INT8OID);
			return true;
		default:
			elog(ERROR, "no parameters of type %u", type);
	}
}

/* --- the run ------------------------------------------------------------------- */

/*
 * Returns true for an error that is a finding: a cancelled statement, or an internal error.
 * No finding is the internal error of md.c for a block past the first segment of the heap.
 * An access method cannot know that a damaged TID leads there.
 */
static bool
is_finding(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_QUERY_CANCELED ||
		(error->sqlerrcode == ERRCODE_INTERNAL_ERROR && strstr(error->message, "(target block ") == NULL);
}

/* Executes the statement once, and rolls it back.  Returns -1 for an error. */
static int
run_once(const uint8 *data, size_t size)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile int result = 0;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(run_context);
	PG_TRY();
	{
		Bytes		bytes = {data, size};
		Datum		values[MAX_PARAMETERS];
		char		nulls[MAX_PARAMETERS];
		uint8		null_mask = parameters > 1 ? take_number(&bytes, 1) : 0;
		int			parts = 0;

		damaged_text = false;
		for (int i = 0; i < parameters; i++)
			parts += get_typlen(types[i]) < 0;
		for (int i = 0; i < parameters; i++)
		{
			nulls[i] = take_value(&bytes, types[i], parts, &values[i]) ? ' ' : 'n';
			if (null_mask >= 128 && (null_mask & (1 << i)))
				nulls[i] = 'n';
			parts -= get_typlen(types[i]) < 0;
		}
		SPI_execute_plan(plan, values, nulls, false, 0);
		SPI_freetuptable(SPI_tuptable);
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(run_context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		if (is_finding(error))
		{
			fprintf(stderr, "finding: %s\n", error->message);
			abort();
		}
		result = -1;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	MemoryContextReset(run_context);
	return result;
}

/*
 * fuzz(statement text, parameters regtype[], options text[]): runs the statement with
 * values of these types, until libFuzzer ends by its options.  It then ends the process.
 */
Datum
fuzz(PG_FUNCTION_ARGS)
{
	Datum	   *type_datums,
			   *option_datums;
	int			options;
	char	  **argv;
	int			argc = 1;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), REGTYPEOID, 4, true, TYPALIGN_INT, &type_datums, NULL, &parameters);
	if (parameters > MAX_PARAMETERS)
		elog(ERROR, "too many parameters");
	for (int i = 0; i < parameters; i++)
		types[i] = DatumGetObjectId(type_datums[i]);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(2), TEXTOID, -1, false, TYPALIGN_INT, &option_datums, NULL, &options);
	argv = palloc0(sizeof(char *) * (options + 2));
	argv[0] = "fuzz";
	for (int i = 0; i < options; i++)
		argv[argc++] = TextDatumGetCString(option_datums[i]);
	SPI_connect();
	plan = SPI_prepare(text_to_cstring(PG_GETARG_TEXT_PP(0)), parameters, types);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	run_context = AllocSetContextCreate(TopMemoryContext, "fuzz", ALLOCSET_DEFAULT_SIZES);
	LLVMFuzzerRunDriver(&argc, &argv, run_once);
	PG_RETURN_VOID();
}

/* --- functions for targets ------------------------------------------------------ */

/*
 * fuzz_receive(message bytea, type regtype, typmod integer): receives a value, sends it,
 * and receives that.  Returns the value's text form.
 */
Datum
fuzz_receive(PG_FUNCTION_ARGS)
{
	bytea	   *message = PG_GETARG_BYTEA_PP(0);
	Oid			type = PG_GETARG_OID(1);
	int32		typmod = PG_GETARG_INT32(2);
	Oid			receive,
				send,
				output,
				io_param;
	bool		is_varlena;
	StringInfoData buffer;
	Datum		value;
	bytea	   *sent[2];

	getTypeBinaryInputInfo(type, &receive, &io_param);
	getTypeBinaryOutputInfo(type, &send, &is_varlena);
	getTypeOutputInfo(type, &output, &is_varlena);
	initStringInfo(&buffer);
	appendBinaryStringInfo(&buffer, VARDATA_ANY(message), VARSIZE_ANY_EXHDR(message));
	value = OidReceiveFunctionCall(receive, &buffer, io_param, typmod);
	for (int i = 0; i < 2; i++)
	{
		sent[i] = OidSendFunctionCall(send, value);
		resetStringInfo(&buffer);
		appendBinaryStringInfo(&buffer, VARDATA(sent[i]), VARSIZE(sent[i]) - VARHDRSZ);
		value = OidReceiveFunctionCall(receive, &buffer, io_param, typmod);
	}
	if (VARSIZE(sent[0]) != VARSIZE(sent[1]) || memcmp(sent[0], sent[1], VARSIZE(sent[0])) != 0)
		elog(ERROR, "another value was received than was sent");
	PG_RETURN_TEXT_P(cstring_to_text(OidOutputFunctionCall(output, value)));
}

/* fuzz_typmod(type regtype, modifiers text[]): the type modifier as it is printed */
Datum
fuzz_typmod(PG_FUNCTION_ARGS)
{
	Oid			type = PG_GETARG_OID(0);
	Datum	   *modifiers;
	int			count;
	HeapTuple	tuple;
	regproc		in,
				out;
	Datum		typmod;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, -1, false, TYPALIGN_INT, &modifiers, NULL, &count);
	for (int i = 0; i < count; i++)
		modifiers[i] = CStringGetDatum(TextDatumGetCString(modifiers[i]));
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	in = ((Form_pg_type) GETSTRUCT(tuple))->typmodin;
	out = ((Form_pg_type) GETSTRUCT(tuple))->typmodout;
	ReleaseSysCache(tuple);
	typmod = OidFunctionCall1(in, PointerGetDatum(construct_array(modifiers, count, CSTRINGOID, -2,
																   false, TYPALIGN_CHAR)));
	PG_RETURN_TEXT_P(cstring_to_text(DatumGetCString(OidFunctionCall1(out, typmod))));
}

/* fuzz_assert(condition boolean): an internal error if it is false */
Datum
fuzz_assert(PG_FUNCTION_ARGS)
{
	if (!PG_GETARG_BOOL(0) && !damaged_text)
		elog(ERROR, "an assertion of the target is false");
	PG_RETURN_VOID();
}

/* fuzz_state(state bytea): finishes a state of simhash_agg(), as the aggregate does */
Datum
fuzz_state(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(call, 1);
	FmgrInfo	flinfo;
	AggState   *aggregate = makeNode(AggState);
	ExprContext *context = makeNode(ExprContext);

	context->ecxt_per_tuple_memory = CurrentMemoryContext;
	aggregate->curaggcontext = context;
	fmgr_info(LookupFuncName(list_make1(makeString("simhash_agg_final")), 1, (Oid[1]) {BYTEAOID}, false), &flinfo);
	InitFunctionCallInfoData(*call, &flinfo, 1, InvalidOid, (Node *) aggregate, NULL);
	call->args[0].value = PointerGetDatum(PG_GETARG_BYTEA_P(0));
	call->args[0].isnull = false;
	FunctionCallInvoke(call);
	PG_RETURN_VOID();
}

/*
 * fuzz_damage(index regclass, damage bytea): makes the index what it was at the first
 * call, then overwrites bytes of its pages: two bytes for a block, two for an offset, one
 * for a length, and the bytes.
 */
Datum
fuzz_damage(PG_FUNCTION_ARGS)
{
	static PGAlignedBlock intact[MAX_BLOCKS];
	static BlockNumber blocks = 0;
	Relation	index = index_open(PG_GETARG_OID(0), AccessExclusiveLock);
	bytea	   *damage = PG_GETARG_BYTEA_PP(1);
	Bytes		bytes = {(const uint8 *) VARDATA_ANY(damage), VARSIZE_ANY_EXHDR(damage)};
	static Buffer buffers[MAX_BLOCKS];
	bool		first = blocks == 0;

	if (first)
		blocks = RelationGetNumberOfBlocks(index);
	if (blocks > MAX_BLOCKS)
		elog(ERROR, "the index has %u blocks", blocks);
	if (RelationGetNumberOfBlocks(index) > blocks + MAX_BLOCKS)
		RelationTruncate(index, blocks);
	for (BlockNumber block = 0; block < blocks; block++)
	{
		buffers[block] = ReadBuffer(index, block);
		LockBuffer(buffers[block], BUFFER_LOCK_EXCLUSIVE);
		if (first)
			memcpy(intact[block].data, BufferGetPage(buffers[block]), BLCKSZ);
		memcpy(BufferGetPage(buffers[block]), intact[block].data, BLCKSZ);
	}
	while (bytes.size > 5)
	{
		BlockNumber block = take_number(&bytes, 2) % blocks;
		int			offset = take_number(&bytes, 2) % BLCKSZ;
		size_t		length = take_number(&bytes, 1) % 16 + 1;

		length = Min(Min(length, bytes.size), BLCKSZ - offset);
		memcpy(BufferGetPage(buffers[block]) + offset, bytes.data, length);
		bytes.data += length;
		bytes.size -= length;
	}
	for (BlockNumber block = 0; block < blocks; block++)
	{
		MarkBufferDirty(buffers[block]);
		UnlockReleaseBuffer(buffers[block]);
	}
	/* the metapage of before */
	if (index->rd_amcache != NULL)
		pfree(index->rd_amcache);
	index->rd_amcache = NULL;
	index_close(index, NoLock);
	PG_RETURN_VOID();
}

static bool
is_chosen(ItemPointer tid, void *state)
{
	return ItemPointerGetOffsetNumberNoCheck(tid) % 8 == *(uint8 *) state % 8;
}

/* fuzz_vacuum(index regclass, tids integer): removes one in eight entries, as VACUUM does */
Datum
fuzz_vacuum(PG_FUNCTION_ARGS)
{
	Relation	index = index_open(PG_GETARG_OID(0), RowExclusiveLock);
	Relation	heap = table_open(index->rd_index->indrelid, RowExclusiveLock);
	uint8		chosen = PG_GETARG_INT32(1);
	IndexVacuumInfo info = {0};
	IndexBulkDeleteResult *result;

	info.index = index;
#if PG_VERSION_NUM >= 160000
	info.heaprel = heap;
#endif
	info.message_level = DEBUG2;
	info.num_heap_tuples = 1000;
	info.strategy = GetAccessStrategy(BAS_VACUUM);
	result = index_bulk_delete(&info, NULL, is_chosen, &chosen);
	index_vacuum_cleanup(&info, result);
	table_close(heap, NoLock);
	index_close(index, NoLock);
	PG_RETURN_VOID();
}
