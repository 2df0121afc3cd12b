// Package known has the tables of Linux' kernel parameters: parameters.csv with the bounds of the kernel's tables
// (net/ipv4/sysctl_net_ipv4.c, net/core/sysctl_net_core.c), and removed.csv with those that current kernels lack,
// or have without effect. An agent that sets a parameter needs them, and package tuning, which judges whole files.
package known

import (
	_ "embed"
	"encoding/csv"
	"slices"
	"strings"
	"sync"

	"linerate/internal/model/record"
)

var (
	//go:embed parameters.csv
	parametersCSV string
	//go:embed removed.csv
	removedCSV string
)

// Row is a row of a table, by the names of the columns.
type Row map[string]string

// Table returns a function that reads a table when it is first called. It panics if the text is no table of CSV.
func Table(text string) func() []Row {
	return sync.OnceValue(func() (rows []Row) {
		lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			panic("table of parameters: " + err.Error())
		}
		for _, line := range lines[1:] {
			row := Row{}
			for i, head := range lines[0] {
				row[head] = line[i]
			}
			rows = append(rows, row)
		}
		return rows
	})
}

var parameters, removals = Table(parametersCSV), Table(removedCSV)

// Parameters returns the rows of parameters.csv. A parameter that is not among them is not judged.
func Parameters() []Row { return parameters() }

// Removals returns the rows of removed.csv.
func Removals() []Row { return removals() }

// Keys returns the keys under which a parameter may be in parameters.csv, the most exact first: of those that each
// interface has, one row has all.
func Keys(key string) []string {
	keys := []string{key}
	if parts := strings.Split(key, "."); len(parts) == 5 {
		parts[3] = "*"
		keys = append(keys, strings.Join(parts, "."), strings.Join(parts[:4], ".")+".*")
	}
	return keys
}

// MachineWide reports whether a parameter is known to exist once for the whole machine and not
// in each network namespace.
func MachineWide(key string) bool {
	for _, key := range Keys(key) {
		for _, row := range Parameters() {
			if row["key"] == key {
				return row["scope"] == record.ScopeMachine
			}
		}
	}
	return false
}

// Removed reports whether Linux is known to have removed a parameter (ok). It returns the version
// that did (empty: unknown), the reason (empty: it was renamed), and the parameter to set instead
// (empty: none).
func Removed(key string) (since, why, now string, ok bool) {
	i := slices.IndexFunc(Removals(), func(r Row) bool { return r["key"] == key && r["kept"] != "true" })
	if i < 0 {
		return "", "", "", false
	}
	r := Removals()[i]
	return r["since"], r["why"], r["now"], true
}
