package pasted

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// sampleLines returns the lines of all samples, each once.
func sampleLines(t *testing.T) (list []string) {
	t.Helper()
	names, err := filepath.Glob("testdata/samples/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	has := map[string]bool{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(text)) {
			if l = strings.TrimRight(l, "\r\n\t "); !has[l] && l != "" {
				has[l] = true
				list = append(list, l)
			}
		}
	}
	return list
}

// TestUnreadChangesNothing: what a line that a format does not know leaves behind must not change how
// the next format reads it.
func TestUnreadChangesNothing(t *testing.T) {
	lines := sampleLines(t)
	for _, f := range formats {
		if f.row == nil {
			continue
		}
		for _, l := range lines {
			m, blank := machine{context: context{at: -1}}, machine{context: context{at: -1}}
			headed := f.header != nil && f.header(&m, l)
			if !headed && f.row(&m, l) == unread && !reflect.DeepEqual(m, blank) {
				t.Errorf("%s does not know %q, and changes the machine", f.name, l)
				break
			}
		}
	}
}
