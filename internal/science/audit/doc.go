// Package audit simulates the inference: it fills runs with synthetic trials of known
// truth, has package conclude conclude them, and counts how often intervals, verdicts and
// recommendations are right. It is test code alone, and nothing imports it.
//
// docs/statistics.md explains the figures; docs/statistics-audit.md has the tables that are made
// here (make audit). A short form of the same simulation runs with every go test.
package audit
