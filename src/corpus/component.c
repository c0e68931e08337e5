/*
 * connected_component(a, b): the connected components of a graph whose edges are rows
 *
 * The first row of a partition reads all edges of the partition in one pass.  Every id in
 * them is a vertex.  Vertices are numbered in the order in which their ids first occur.
 * The components are disjoint sets of these numbers.  The result for a component is its
 * smallest id.  Every later row only looks up its component.
 *
 * Memory depends on the number of distinct ids, not on the number of edges.  An id takes
 * 12 bytes in arrays, which double, and 8 bytes in a hash table, which doubles when it is
 * 70 to 90 percent full.  So an id takes at most 24 + 24 bytes, and 12 more while the
 * table doubles.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"
#include "windowapi.h"

#include "compat.h"
#include "corpus/union_find.h"
#include "text/salt.h"

#define FIRST_VERTICES	16
#define MAX_VERTICES	0x7FFFFFFF

/*
 * A slot of the hash table.  It contains the vertex number, and the arrays contain the
 * other data.  The stored hash avoids most accesses to the arrays.
 */
typedef struct VertexSlot
{
	uint32		hash;
	uint32		vertex:31;
	uint32		status:1;		/* used by simplehash */
} VertexSlot;

StaticAssertDecl(sizeof(VertexSlot) == sizeof(uint64), "a slot has 8 bytes");

typedef struct Graph
{
	struct vertex_hash *table;	/* hash table; NULL until the edges have been read */
	uint32		nvertices;
	uint32		size;			/* capacity of the arrays; always greater than nvertices */
	int64	   *id;				/* ids, by vertex */
	uint32	   *parent;			/* parents, by vertex (union_find.h) */
} Graph;

#define ID_OF(table, vertex)	(((Graph *) (table)->private_data)->id[vertex])

/* The hash is salted, so that users cannot choose ids that collide. */
#define SH_PREFIX				vertex
#define SH_ELEMENT_TYPE			VertexSlot
#define SH_KEY_TYPE				uint32
#define SH_KEY					vertex
#define SH_HASH_KEY(table, key)	((uint32) (salted_hash64(ID_OF(table, key)) >> 32))
#define SH_EQUAL(table, a, b)	(ID_OF(table, a) == ID_OF(table, b))
#define SH_STORE_HASH
#define SH_GET_HASH(table, slot)	((slot)->hash)
#define SH_SCOPE				static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/*
 * Initialize an empty graph in the memory context of the partition.
 */
static void
init_graph(Graph *graph)
{
	MemoryContext context = GetMemoryChunkContext(graph);

	salt_init();
	graph->nvertices = 0;
	graph->size = FIRST_VERTICES;
	graph->id = MemoryContextAlloc(context, FIRST_VERTICES * sizeof(int64));
	graph->parent = MemoryContextAlloc(context, FIRST_VERTICES * sizeof(uint32));
	graph->table = vertex_create(context, FIRST_VERTICES, graph);
}

/*
 * Return the vertex number that an id would get if it were new.  Stores the id after the
 * ids of the graph, where the hash table can compare it with them.
 */
static uint32
propose_vertex(Graph *graph, int64 id)
{
	graph->id[graph->nvertices] = id;
	return graph->nvertices;
}

/*
 * Return the vertex of an id.  Adds a vertex if the graph has none for the id.  Raises an
 * error if there would be MAX_VERTICES vertices.
 */
static uint32
make_vertex(Graph *graph, int64 id)
{
	uint32		proposed = propose_vertex(graph, id);
	bool		found;
	VertexSlot *slot = vertex_insert(graph->table, proposed, &found);

	if (found)
		return slot->vertex;
	graph->parent[proposed] = proposed;
	if (++graph->nvertices == MAX_VERTICES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many distinct ids in a partition"),
				 errdetail("The edges of a partition can have at most %u distinct ids.",
						   MAX_VERTICES - 1),
				 errhint("Leave out the edges (id, id), or use PARTITION BY.")));
	if (graph->nvertices == graph->size)
	{
		graph->size *= 2;
		graph->id = repalloc_huge(graph->id, graph->size * sizeof(int64));
		graph->parent = repalloc_huge(graph->parent, graph->size * sizeof(uint32));
	}
	return proposed;
}

/*
 * Join the components of two vertices.  The root of the result is the vertex with the
 * smallest id.
 */
static void
join_components(Graph *graph, uint32 a, uint32 b)
{
	a = union_find_root(graph->parent, a);
	b = union_find_root(graph->parent, b);
	if (graph->id[a] < graph->id[b])
		graph->parent[b] = a;
	else
		graph->parent[a] = b;
}

/*
 * Read one end of the edge in row `row` of the partition, counted from 0.  `argument` is 0
 * or 1.  Returns false if the partition has no such row.
 */
static bool
read_end(WindowObject window, int argument, int64 row, int64 *id, bool *isnull)
{
	bool		isout;
	Datum		value = WinGetFuncArgInPartition(window, argument, row, WINDOW_SEEK_HEAD,
												 false, isnull, &isout);

	*id = isout || *isnull ? 0 : DatumGetInt64(value);
	return !isout;
}

/*
 * Read all edges of the partition.  WinGetFuncArgInPartition() checks for interrupts.
 * Memory that the argument expressions do not free is freed after each row.
 */
static void
read_edges(WindowObject window, Graph *graph)
{
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext,
													  "ends of an edge",
													  ALLOCSET_SMALL_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(row_context);
	int64		a;
	int64		b;
	bool		a_isnull;
	bool		b_isnull;

	for (int64 row = 0; read_end(window, 0, row, &a, &a_isnull); row++)
	{
		read_end(window, 1, row, &b, &b_isnull);
		MemoryContextReset(row_context);
		if (!a_isnull && !b_isnull)
			join_components(graph, make_vertex(graph, a), make_vertex(graph, b));
	}
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(row_context);
}

/*
 * Return the smallest id in the component of an id.  Raises an error if the graph has no
 * such id.  This happens if the value of a volatile expression has changed since the edges
 * were read.
 */
static int64
component_of(Graph *graph, int64 id)
{
	VertexSlot *slot = vertex_lookup(graph->table, propose_vertex(graph, id));

	if (slot == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("edge has changed since it was first read"),
				 errhint("Compute volatile expressions in a subquery.")));
	return graph->id[union_find_root(graph->parent, slot->vertex)];
}

/*
 * connected_component(a bigint, b bigint) OVER (...)
 *
 * Returns the smallest id of the row's component.  Returns NULL if an end of the edge is
 * NULL.
 */
PG_FUNCTION_INFO_V1(simhash_connected_component);
Datum
simhash_connected_component(PG_FUNCTION_ARGS)
{
	WindowObject window = PG_WINDOW_OBJECT();
	Graph	   *graph = WinGetPartitionLocalMemory(window, sizeof(Graph));
	bool		a_isnull;
	bool		b_isnull;
	Datum		a;

	reject_null_treatment(window, fcinfo);
	a = WinGetFuncArgCurrent(window, 0, &a_isnull);
	WinGetFuncArgCurrent(window, 1, &b_isnull);
	if (a_isnull || b_isnull)
		PG_RETURN_NULL();
	if (graph->table == NULL)
	{
		init_graph(graph);
		read_edges(window, graph);
	}
	PG_RETURN_INT64(component_of(graph, DatumGetInt64(a)));
}
