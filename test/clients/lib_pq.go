// lib/pq (Debian: golang-go, golang-github-lib-pq-dev).  PGHOST and the like say which server.
package main

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/lib/pq"
)

func ids(db *sql.DB, query string, values ...interface{}) (string, error) {
	var found []string
	rows, err := db.Query(query, values...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return "", err
		}
		found = append(found, id)
	}
	return strings.Join(found, " "), rows.Err()
}

func must(found string, err error) string {
	if err != nil {
		panic(err)
	}
	return found
}

func main() {
	db, err := sql.Open("postgres", "sslmode=disable")
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(1)

	text, radius := "The bridge was opened by the mayor on Monday!", 3
	fmt.Println("resembles", must(ids(db, "SELECT id FROM docs WHERE sk <%> shingle_hashes($1) <= $2", text, 0.2)))
	fmt.Println("within", must(ids(db, "SELECT id FROM docs WHERE fp <~> to_simhash($1) <= $2 ORDER BY id", text, radius)))
	fmt.Println("nearest", must(ids(db, "SELECT id FROM docs ORDER BY fp <~> to_simhash($1) LIMIT $2", text, 1)))

	var fp, sig string
	var sk pq.Int64Array
	if err := db.QueryRow("SELECT fp, sig, sk FROM docs WHERE id = 1").Scan(&fp, &sig, &sk); err != nil {
		panic(err)
	}
	fmt.Println("fingerprint", must(ids(db, "SELECT id FROM docs WHERE fp = $1", fp)))
	fmt.Println("null", must(ids(db, "SELECT id FROM docs WHERE fp IS NOT DISTINCT FROM $1", nil)))

	var e *pq.Error
	if _, err := ids(db, "SELECT id FROM docs WHERE fp = $1", "no fingerprint"); errors.As(err, &e) {
		fmt.Println("wrong input", e.Code)
	}
	if _, err := db.Exec("INSERT INTO docs (body) VALUES ($1)", text); errors.As(err, &e) && e.Constraint == "no_copies" {
		fmt.Println("duplicate", e.Code)
	}

	must(ids(db, "SELECT set_config('plan_cache_mode', 'force_generic_plan', false)"))
	plan := must(ids(db, "EXPLAIN SELECT id FROM docs WHERE fp <~> to_simhash($1) <= $2", text, radius))
	if strings.Contains(plan, "docs_fp") {
		fmt.Println("plan uses the index")
	}

	fmt.Println("signatures", must(ids(db, "SELECT id FROM docs WHERE sig % $1 ORDER BY id", sig)))
	fmt.Println("sketches", must(ids(db, "SELECT id FROM docs WHERE sk && $1 ORDER BY id", sk)))
}
