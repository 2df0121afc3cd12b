package html

import (
	"bytes"
	"encoding/csv"
	"html/template"
	"net/url"
	"strconv"
	"strings"
)

// dataURI is a table as a link that needs no network.
func dataURI(table [][]string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for i, line := range table {
		if i > 0 {
			line = harmless(line)
		}
		_ = w.Write(line) // into memory: cannot fail
	}
	w.Flush()
	return "data:text/csv;charset=utf-8," + url.PathEscape(b.String())
}

// harmless keeps a name that starts like a formula from being one when the
// file is opened in a spreadsheet.
func harmless(line []string) []string {
	out := make([]string, len(line))
	for i, field := range line {
		if field != "" && strings.ContainsRune("=+-@\t\r", rune(field[0])) {
			if _, err := strconv.ParseFloat(field, 64); err != nil {
				field = "'" + field
			}
		}
		out[i] = field
	}
	return out
}

// data is a file that the page carries within itself.
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
