package html

import (
	"html/template"
	"net/url"
	"strings"

	"linerate/internal/show/export"
)

// data is a table as CSV that the page contains as a data URL, so that no network is needed.
type data struct {
	Name string
	URL  template.URL
}

func dataOf(name string, rows [][]string) *data {
	if name == "" || len(rows) == 0 {
		return nil
	}
	return &data{name + ".csv", template.URL(dataURI(rows))}
}

func dataURI(rows [][]string) string {
	var b strings.Builder
	_ = export.WriteCSV(&b, rows) // writing to memory cannot fail
	return "data:text/csv;charset=utf-8," + url.PathEscape(b.String())
}
