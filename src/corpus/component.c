/*
 * connected_component(a, b), keeper(a, b): window functions of a graph whose edges are rows
 *
 * connected_component(): the first row of a partition reads all edges of the partition in
 * one pass.  Every id in them is a vertex.  Vertices are numbered in the order in which their
 * ids first occur.  The components are disjoint sets of these numbers.  The result for a
 * component is its smallest id.  Every later row only looks up its component.
 *
 * keeper(): the edges come in the order of the rank of a.  So whether a vertex stays is
 * known when its first edge is read.  It stays unless an edge has led to it from a vertex
 * that stays.
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
	uint32	   *parent;			/* parents, by vertex (union_find.h); of keeper(), the vertex
								 * that stays in place of a vertex */
} Graph;

/* A bit that no vertex number has.  It marks the parents of vertices that have had edges. */
#define HAD_EDGES		((uint32) 1 << 31)

/* State of keeper(). */
typedef struct Selection
{
	Graph		graph;
	int64		row;			/* last edge's row in the partition; -1 before the first edge */
	uint32		from;			/* vertex that the last edge leads from */
} Selection;

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
	int64		nrows = WinGetPartitionRowCount(window);

	for (int64 row = 0; row < nrows; row++)
	{
		bool		a_isnull;
		bool		b_isnull;
		Datum		a = WinGetFuncArgInPartition(window, 0, row, WINDOW_SEEK_HEAD, false,
												 &a_isnull, NULL);
		Datum		b = WinGetFuncArgInPartition(window, 1, row, WINDOW_SEEK_HEAD, false,
												 &b_isnull, NULL);

		if (!a_isnull && !b_isnull)
			join_components(graph, make_vertex(graph, DatumGetInt64(a)),
							make_vertex(graph, DatumGetInt64(b)));
		MemoryContextReset(row_context);
	}
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(row_context);
}

/*
 * Read the ends of the current row's edge.  Returns false if an end is NULL.
 */
static bool
current_edge(WindowObject window, int64 *a, int64 *b)
{
	bool		a_isnull;
	bool		b_isnull;
	Datum		from = WinGetFuncArgCurrent(window, 0, &a_isnull);
	Datum		to = WinGetFuncArgCurrent(window, 1, &b_isnull);

	if (a_isnull || b_isnull)
		return false;
	*a = DatumGetInt64(from);
	*b = DatumGetInt64(to);
	return true;
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
	int64		a;
	int64		b;

	WinCheckAndInitializeNullTreatment(window, false, fcinfo);
	if (!current_edge(window, &a, &b))
		PG_RETURN_NULL();
	if (graph->table == NULL)
	{
		init_graph(graph);
		read_edges(window, graph);
	}
	PG_RETURN_INT64(component_of(graph, a));
}

/*
 * Begin the edges from a vertex, of which the current row is the first.  Raises an error if
 * it has the rank of the vertex before it, or if the vertex has had edges.
 */
static void
begin_edges(WindowObject window, Selection *selection, uint32 from)
{
	const int64 *id = selection->graph.id;
	uint32	   *parent = selection->graph.parent;

	if (selection->row >= 0 &&
		WinRowsArePeers(window, selection->row, WinGetCurrentPosition(window)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("edges from %lld and from %lld have the same rank",
						(long long) id[selection->from], (long long) id[from]),
				 errhint("Write OVER (ORDER BY rank), with a rank of a that no two ids share.")));
	if (parent[from] & HAD_EDGES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("edges from %lld have several ranks", (long long) id[from]),
				 errhint("Order by the rank of a, which all edges from an id share.")));
	parent[from] |= HAD_EDGES;
	selection->from = from;
}

/*
 * keeper(a bigint, b bigint) OVER (ORDER BY rank)
 *
 * Returns a if b goes because of this edge.  Returns NULL if a has gone, if b has gone
 * before, if a is b, or if an end of the edge is NULL.  Raises an error if b has had edges.
 */
PG_FUNCTION_INFO_V1(simhash_keeper);
Datum
simhash_keeper(PG_FUNCTION_ARGS)
{
	WindowObject window = PG_WINDOW_OBJECT();
	Selection  *selection = WinGetPartitionLocalMemory(window, sizeof(Selection));
	Graph	   *graph = &selection->graph;
	int64		a;
	int64		b;
	uint32		from;
	uint32		to;

	WinCheckAndInitializeNullTreatment(window, false, fcinfo);
	if (!current_edge(window, &a, &b))
		PG_RETURN_NULL();
	if (graph->table == NULL)
	{
		init_graph(graph);
		selection->row = -1;
	}
	from = make_vertex(graph, a);
	to = make_vertex(graph, b);
	if (selection->row < 0 || from != selection->from)
		begin_edges(window, selection, from);
	selection->row = WinGetCurrentPosition(window);
	WinSetMarkPosition(window, selection->row);
	if (to == from)
		PG_RETURN_NULL();
	if (graph->parent[to] & HAD_EDGES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("edge from %lld leads back to %lld", (long long) a, (long long) b),
				 errdetail("The edges from %lld come before, in the order of the window.",
						   (long long) b),
				 errhint("Join with a.rank < b.rank, and order by a.rank.")));
	if (graph->parent[from] != (from | HAD_EDGES) || graph->parent[to] != to)
		PG_RETURN_NULL();
	graph->parent[to] = from;
	PG_RETURN_INT64(a);
}
