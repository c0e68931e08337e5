// pgx (Debian: golang-go, golang-github-jackc-pgx-v4-dev).  PGHOST and the like say which server.
package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
)

var background = context.Background()

func ids(db *pgx.Conn, query string, values ...interface{}) (string, error) {
	var found []string
	rows, err := db.Query(background, query, values...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		row, err := rows.Values()
		if err != nil {
			return "", err
		}
		found = append(found, fmt.Sprint(row[0]))
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
	db, err := pgx.Connect(background, "")
	if err != nil {
		panic(err)
	}
	defer db.Close(background)

	text, radius := "The bridge was opened by the mayor on Monday!", 3
	fmt.Println("resembles", must(ids(db, "SELECT id FROM docs WHERE sk <%> shingle_hashes($1) <= $2", text, 0.2)))
	fmt.Println("within", must(ids(db, "SELECT id FROM docs WHERE fp <~> to_simhash($1) <= $2 ORDER BY id", text, radius)))
	fmt.Println("nearest", must(ids(db, "SELECT id FROM docs ORDER BY fp <~> to_simhash($1) LIMIT $2", text, 1)))

	// pgx reads a type that it does not know as text.
	var fp, sig string
	var sk []int64
	if err := db.QueryRow(background, "SELECT fp, sig, sk FROM docs WHERE id = 1").Scan(&fp, &sig, &sk); err != nil {
		panic(err)
	}
	fmt.Println("fingerprint", must(ids(db, "SELECT id FROM docs WHERE fp = $1", fp)))
	fmt.Println("null", must(ids(db, "SELECT id FROM docs WHERE fp IS NOT DISTINCT FROM $1", nil)))

	var e *pgconn.PgError
	if _, err := ids(db, "SELECT id FROM docs WHERE fp = $1", "no fingerprint"); errors.As(err, &e) {
		fmt.Println("wrong input", e.Code)
	}
	_, err = db.Exec(background, "INSERT INTO docs (body) VALUES ($1)", text)
	if errors.As(err, &e) && e.ConstraintName == "no_copies" {
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
