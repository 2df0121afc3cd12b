package settingfile

import (
	"html"
	"strings"
	"testing"

	"linerate/internal/model/opsystem"
)

// TestPages: pages within pages, as deep as may be, and a block of many lines are read, with the lines of the page.
func TestPages(t *testing.T) {
	page := "net.ipv4.tcp_sack = 0\n"
	for range 2 * deepestFile {
		page = "<!doctype html>\n<pre>\n" + html.EscapeString(page) + "</pre>\n"
		Read("page.html", []byte(page), opsystem.Linux)
	}
	const lines = 100_000 // quadratic, it takes minutes
	f := Read("page.html", []byte("<html><pre>"+strings.Repeat("\n", lines)+"a<br>net.ipv4.tcp_sack = 0</pre>"),
		opsystem.Linux)
	if len(f.Lines) != 1 || f.Lines[0].Line != lines+1 {
		t.Errorf("%+v, want a parameter on line %d", f.Lines, lines+1)
	}
}
