package study

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"linerate/internal/model/source"
)

var update = flag.Bool("update", false, "write what the tests print as what they expect")

// place is how every line of a message begins: file, line and column, unless the
// file as a whole is wrong.
var place = regexp.MustCompile(`^[a-z0-9-]+\.yaml:(\d+:\d+: |.* )`)

// TestWrongInputs holds each file of testdata/wrong, most of them a good file
// with one thing spoilt, against the full text of its message beside it.
func TestWrongInputs(t *testing.T) {
	files, err := filepath.Glob("testdata/wrong/*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files, %v; want at least 30", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Parse(filepath.Base(file), data)
			if err == nil {
				t.Fatalf("no error; want one. Study: %+v", s)
			}
			if _, ok := err.(source.Problems); !ok {
				t.Errorf("the error is a %T, want source.Problems", err)
			}
			got := err.Error() + "\n"
			for line := range strings.Lines(got) {
				if !place.MatchString(line) {
					t.Errorf("the line has no place: %s", line)
				}
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".txt", got)
		})
	}
}

// golden compares with a file, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%swant (-update writes it)\n%s", got, want)
	}
}
