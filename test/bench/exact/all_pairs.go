// All pairs of arrays by SetSimilaritySearch, for exact.sh:
//
//	all_pairs FILE RESEMBLANCE
//
// FILE has the arrays of bigint, by COPY (FORMAT binary).  Prints the number of pairs, and the
// seconds without the reading of the file.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"time"

	search "github.com/ekzhu/go-set-similarity-search"
)

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	resemblance, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		panic(err)
	}
	// a header of 19 bytes; of each row the number of columns, the length, and the array:
	// 5 numbers, then each element after its length; -1 columns are the end
	var sets [][]string
	for at := 19; binary.BigEndian.Uint16(data[at:]) == 1; {
		set := make([]string, binary.BigEndian.Uint32(data[at+18:]))
		at += 26
		for i := range set {
			set[i] = string(data[at+4 : at+12])
			at += 12
		}
		sets = append(sets, set)
	}
	data = nil
	started := time.Now()
	ordered, _ := search.FrequencyOrderTransform(sets)
	pairs, err := search.AllPairs(ordered, "jaccard", resemblance)
	if err != nil {
		panic(err)
	}
	n := 0
	for range pairs {
		n++
	}
	fmt.Printf("%d %.2f\n", n, time.Since(started).Seconds())
}
