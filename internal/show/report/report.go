// Package report shows a run to people: as text in a terminal, as one HTML
// page, and as figures in files. It only restates what the run says; it draws
// no conclusions and reads nothing but the run.
//
// view.go arranges the treatments as a grid, number.go gives figures the digits
// their interval earns, titles.go says what each figure shows, fig_*.go draw,
// text*.go and page*.go lay out.
package report
