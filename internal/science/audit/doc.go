// Package audit tests the statistical inference by simulation: it fills runs with synthetic trials
// whose truth is known, has package conclude draw the conclusions, and counts how often intervals,
// verdicts and recommendations are right. It contains only test code, and no package imports it.
//
// docs/statistics.md explains the figures; docs/results/audit.md has the tables that this
// package generates (make audit). A short form of the same simulation runs with every go test.
package audit
