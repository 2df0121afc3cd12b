// Package present says what is shown of a run, a measurement or a comparison:
// answer, statements, tables and figures as data. It is built once from the
// result document; packages text and html render it, and neither computes
// anything of its own.
package present
