/*
 * Measures how well fingerprints find the true pairs.  Compares all pairs of documents,
 * so that the search itself misses none.
 *
 *   pairs CORPUS FINGERPRINTS TRUTH >>curves.csv
 *
 * Both files are tab-separated with a header:
 *   FINGERPRINTS  tokens, then one column for each type of fingerprint (16 hex digits)
 *                 or signature (if its name begins with "minhash"); the documents are
 *                 numbered 1, 2, ... in this order
 *   TRUTH         a, b (numbers of documents), then one column for each definition
 *                 of resemblance; each pair once
 *
 * Prints a line of CSV for every definition, threshold, class of length, type and
 * radius k.  A type of signatures is measured twice.  By distance: k means that at most
 * k fortieths of the minima differ.  By bands, under its name with a %: k is always 0.
 * By pairs (of the class of the shorter document):
 *   candidates    pairs within k
 *   found         the true ones among them
 *   truth         all true pairs
 * By documents (of their own class), so that one family of a thousand near-duplicates
 * does not outweigh all others:
 *   doc_recall    mean fraction of its true partners that a document finds, over the
 *                 documents that have partners
 *   doc_precision mean fraction of true partners among the documents that a document
 *                 finds, over the documents that find any
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_K 16
#define FORTIETHS 40			/* MAX_K of them are a distance of 0.4 */
#define MAX_COLUMNS 32
#define BLOCK 512				/* documents whose signatures stay in the cache */
#define MAX_SIGNATURE 40000		/* bytes of its text form */
#define ALL 3					/* the class of all lengths */
#define CLASSES 4

static const char *const class_names[CLASSES] = {"<100", "100-999", ">=1000", "all"};
static const double thresholds[] = {0.6, 0.8};

/* Numbers of partners within 0, 1, ... MAX_K bits, cumulated later. */
typedef int64_t Counts[MAX_K + 1];

typedef struct
{
	int			columns;
	char	   *names[MAX_COLUMNS];
} Header;

/* The values of one type, by document: fingerprints, or signatures of one shape. */
typedef struct
{
	uint64_t   *fp;
	uint32_t   *minima;			/* of all documents, one after the other */
	int			bands;			/* 0 for fingerprints */
	int			rows;
} Values;

typedef struct
{
	int			n;
	Header		header;
	int		   *length_class;
	Values		values[MAX_COLUMNS];
} Documents;

/* The type of a distance. */
typedef struct
{
	const Values *values;
	int			by_bands;
} Measure;

typedef struct
{
	int			n;
	Header		header;
	int		   *a,
			   *b;
	double	   *resemblance[MAX_COLUMNS];
} Truth;

/* The pairs that one type of fingerprint finds, by pairs of a class and by documents. */
typedef struct
{
	Counts		by_class[CLASSES];
	Counts	   *by_doc;
} Found;

static void
die(const char *what)
{
	fprintf(stderr, "pairs: %s\n", what);
	exit(1);
}

static void *
grow(void *array, size_t n, size_t size)
{
	array = realloc(array, n * size);
	if (array == NULL)
		die("out of memory");
	return array;
}

static FILE *
open_file(const char *name)
{
	FILE	   *file = fopen(name, "r");

	if (file == NULL)
		die(name);
	return file;
}

/* Reads the names of the columns after the first `skip`. */
static void
read_header(FILE *file, Header *header, int skip)
{
	char		line[4096];
	char	   *name;
	int			column = 0;

	if (fgets(line, sizeof(line), file) == NULL)
		die("a file without header");
	header->columns = 0;
	for (name = strtok(line, "\t\n"); name; name = strtok(NULL, "\t\n"))
	{
		if (column++ < skip)
			continue;
		if (header->columns == MAX_COLUMNS)
			die("too many columns");
		header->names[header->columns++] = strdup(name);
	}
}

static int
class_of(int tokens)
{
	return tokens < 100 ? 0 : tokens < 1000 ? 1 : 2;
}

static int
is_signature(const char *name)
{
	return strncmp(name, "minhash", 7) == 0;
}

static void
read_fingerprint(FILE *file, Values *values, int i, int room)
{
	unsigned long long fp;

	if (fscanf(file, "%llx", &fp) != 1)
		die("a document without fingerprint");
	values->fp = grow(values->fp, room, sizeof(uint64_t));
	values->fp[i] = fp;
}

/* Reads the text form of type minhash: bands x rows, colon, features, colon, minima. */
static void
read_signature(FILE *file, Values *values, int i, int room)
{
	static char text[MAX_SIGNATURE];
	const char *s;
	int			places;

	if (fscanf(file, "%39999s", text) != 1 ||
		sscanf(text, "%dx%d", &values->bands, &values->rows) != 2)
		die("a document without signature");
	places = values->bands * values->rows;
	s = strrchr(text, ':') + 1;
	values->minima = grow(values->minima, (size_t) room * places, sizeof(uint32_t));
	for (int p = 0; p < places; p++)
	{
		int			length;

		s += *s == '-';
		if (sscanf(s, "%8x%n", &values->minima[(size_t) i * places + p], &length) != 1)
			die("a signature that is too short");
		s += length;
	}
}

static void
read_documents(const char *name, Documents *docs)
{
	FILE	   *file = open_file(name);
	int			tokens,
				room = 0;

	memset(docs, 0, sizeof(*docs));
	read_header(file, &docs->header, 1);
	while (fscanf(file, "%d", &tokens) == 1)
	{
		if (docs->n == room)
		{
			room = 2 * room + 1024;
			docs->length_class = grow(docs->length_class, room, sizeof(int));
		}
		docs->length_class[docs->n] = class_of(tokens);
		for (int c = 0; c < docs->header.columns; c++)
			if (is_signature(docs->header.names[c]))
				read_signature(file, &docs->values[c], docs->n, room);
			else
				read_fingerprint(file, &docs->values[c], docs->n, room);
		docs->n++;
	}
	fclose(file);
}

static void
read_truth(const char *name, Truth *truth, int documents)
{
	FILE	   *file = open_file(name);
	int			a,
				b,
				room = 0;

	memset(truth, 0, sizeof(*truth));
	read_header(file, &truth->header, 2);
	while (fscanf(file, "%d %d", &a, &b) == 2)
	{
		if (a < 1 || a > documents || b < 1 || b > documents)
			die("a pair of unknown documents");
		if (truth->n == room)
		{
			room = 2 * room + 1024;
			truth->a = grow(truth->a, room, sizeof(int));
			truth->b = grow(truth->b, room, sizeof(int));
			for (int c = 0; c < truth->header.columns; c++)
				truth->resemblance[c] = grow(truth->resemblance[c], room, sizeof(double));
		}
		truth->a[truth->n] = a - 1;
		truth->b[truth->n] = b - 1;
		for (int c = 0; c < truth->header.columns; c++)
			if (fscanf(file, "%lf", &truth->resemblance[c][truth->n]) != 1)
				die("a pair without resemblance");
		truth->n++;
	}
	fclose(file);
}

static void
clear_found(Found *found, int documents)
{
	memset(found->by_class, 0, sizeof(found->by_class));
	memset(found->by_doc, 0, documents * sizeof(Counts));
}

/* Returns the class of a pair, which is that of its shorter document. */
static void
count_pair(Found *found, const Documents *docs, int a, int b, int distance)
{
	int			class_a = docs->length_class[a],
				class_b = docs->length_class[b];

	found->by_class[class_a < class_b ? class_a : class_b][distance]++;
	found->by_class[ALL][distance]++;
	found->by_doc[a][distance]++;
	found->by_doc[b][distance]++;
}

static void
cumulate(Counts counts)
{
	for (int k = 1; k <= MAX_K; k++)
		counts[k] += counts[k - 1];
}

static void
cumulate_all(Found *found, int documents)
{
	for (int c = 0; c < CLASSES; c++)
		cumulate(found->by_class[c]);
	for (int i = 0; i < documents; i++)
		cumulate(found->by_doc[i]);
}

static int
signature_distance(const Values *values, int by_bands, int a, int b)
{
	int			rows = values->rows,
				places = values->bands * rows,
				equal = 0;
	const uint32_t *x = values->minima + (size_t) a * places,
			   *y = values->minima + (size_t) b * places;

	if (by_bands)
	{
		for (int i = 0; i < places; i += rows)
			if (x[i] == y[i] && memcmp(x + i, y + i, rows * sizeof(uint32_t)) == 0)
				return 0;
		return MAX_K + 1;
	}
	for (int i = 0; i < places; i++)
		equal += x[i] == y[i];
	return (FORTIETHS * (places - equal) + places - 1) / places;
}

static inline int
distance_of(const Measure *measure, int a, int b)
{
	const Values *values = measure->values;

	if (values->bands > 0)
		return signature_distance(values, measure->by_bands, a, b);
	return __builtin_popcountll(values->fp[a] ^ values->fp[b]);
}

static void
find_candidates(Found *found, const Documents *docs, const Measure *measure)
{
	clear_found(found, docs->n);
	for (int block = 0; block < docs->n; block += BLOCK)
	{
		int			end = block + BLOCK < docs->n ? block + BLOCK : docs->n;

		for (int i = 0; i < end; i++)
			for (int j = i < block ? block : i + 1; j < end; j++)
			{
				int			distance = distance_of(measure, i, j);

				if (distance <= MAX_K)
					count_pair(found, docs, i, j, distance);
			}
	}
	cumulate_all(found, docs->n);
}

/*
 * Counts the true pairs that are found.  Without a measure it counts all true pairs, as
 * if their distance were 0.
 */
static void
find_true(Found *found, const Documents *docs, const Truth *truth,
		  const double *resemblance, double threshold, const Measure *measure)
{
	clear_found(found, docs->n);
	for (int p = 0; p < truth->n; p++)
	{
		int			a = truth->a[p],
					b = truth->b[p];
		int			distance = measure ? distance_of(measure, a, b) : 0;

		if (resemblance[p] >= threshold && distance <= MAX_K)
			count_pair(found, docs, a, b, distance);
	}
	cumulate_all(found, docs->n);
}

/* Returns the mean of part/whole at k over a class's documents whose whole is not 0. */
static double
mean_share(const Documents *docs, int class, const Counts *part,
		   const Counts *whole, int k)
{
	double		sum = 0;
	int			n = 0;

	for (int i = 0; i < docs->n; i++)
	{
		if ((class != ALL && docs->length_class[i] != class) || whole[i][k] == 0)
			continue;
		sum += (double) part[i][k] / whole[i][k];
		n++;
	}
	return n ? sum / n : NAN;
}

static void
print_number(double x)
{
	if (isnan(x))
		printf(",");
	else
		printf(",%.4f", x);
}

static void
print_curves(const char *corpus, const char *definition, double threshold,
			 const char *kind, int max_k, const Documents *docs,
			 const Found *candidates, const Found *found, const Found *all)
{
	for (int c = 0; c < CLASSES; c++)
		for (int k = 0; k <= max_k && all->by_class[c][0] > 0; k++)
		{
			printf("%s,%s,%.1f,%s,%s,%d,%lld,%lld,%lld", corpus, definition,
				   threshold, class_names[c], kind, k,
				   (long long) candidates->by_class[c][k],
				   (long long) found->by_class[c][k],
				   (long long) all->by_class[c][k]);
			print_number(mean_share(docs, c, found->by_doc, all->by_doc, k));
			print_number(mean_share(docs, c, found->by_doc, candidates->by_doc, k));
			printf("\n");
		}
}

/* Prints the results of a type, measured in one way. */
static void
measure_kind(const char *corpus, const char *kind, const Documents *docs,
			 const Truth *truth, const Measure *measure)
{
	static Found candidates,
				found,
				all;

	if (candidates.by_doc == NULL)
	{
		candidates.by_doc = grow(NULL, docs->n, sizeof(Counts));
		found.by_doc = grow(NULL, docs->n, sizeof(Counts));
		all.by_doc = grow(NULL, docs->n, sizeof(Counts));
	}
	find_candidates(&candidates, docs, measure);
	for (int d = 0; d < truth->header.columns; d++)
		for (int t = 0; t < 2; t++)
		{
			const double *resemblance = truth->resemblance[d];

			find_true(&found, docs, truth, resemblance, thresholds[t], measure);
			find_true(&all, docs, truth, resemblance, thresholds[t], NULL);
			print_curves(corpus, truth->header.names[d], thresholds[t], kind,
						 measure->by_bands ? 0 : MAX_K, docs, &candidates, &found, &all);
		}
}

int
main(int argc, char **argv)
{
	Documents	docs;
	Truth		truth;

	if (argc != 4)
		die("usage: pairs CORPUS FINGERPRINTS TRUTH");
	read_documents(argv[2], &docs);
	read_truth(argv[3], &truth, docs.n);
	for (int c = 0; c < docs.header.columns; c++)
	{
		Measure		measure = {&docs.values[c], 0};
		char		name[100];

		measure_kind(argv[1], docs.header.names[c], &docs, &truth, &measure);
		if (docs.values[c].bands == 0)
			continue;
		measure.by_bands = 1;
		snprintf(name, sizeof(name), "%s%%", docs.header.names[c]);
		measure_kind(argv[1], name, &docs, &truth, &measure);
	}
	return 0;
}
