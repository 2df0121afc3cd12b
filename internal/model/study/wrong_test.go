package study

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// spoilt are slips of the keyboard in a line of a study: in each of its keys, and in its
// values with a unit.
func spoilt(line string) (list []string) {
	for _, kind := range []string{`[a-z_]+(?:: |:$)`, `\b\d+(?:gbit|mbit|ms|s|KiB|MiB|%)`, `\b\d+\.\d+\.\d+\.\d+/\d+`} {
		for _, at := range regexp.MustCompile(kind).FindAllStringIndex(line, -1) {
			end := at[0] + len(strings.TrimRight(line[at[0]:at[1]], ": "))
			list = append(list, line[:end]+"x"+line[end:])
		}
	}
	return list
}

// TestNoFollowUps: of one mistake that a study cannot be decoded with, nothing is reported but
// that mistake, whatever it is a mistake in.
func TestNoFollowUps(t *testing.T) {
	files, err := filepath.Glob("../../../studies/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	tried := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			if i%3 > 0 || strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue // a third of the lines has every kind
			}
			for _, wrong := range spoilt(line) {
				lines[i] = wrong
				_, err := Parse(filepath.Base(file), []byte(strings.Join(lines, "\n")))
				problems, _ := errors.AsType[source.Problems](err)
				if !slices.ContainsFunc(problems, func(p source.Problem) bool {
					return undecoded.MatchString(p.Text)
				}) {
					continue // a name that may be anything
				}
				tried++
				for _, p := range problems {
					if p.Line != i+1 {
						t.Errorf("%s:%d: %s\n\talso %v", file, i+1, strings.TrimSpace(wrong), p)
					}
				}
			}
			lines[i] = line
		}
	}
	if tried < 500 {
		t.Errorf("%d mistakes were tried; want at least 500", tried)
	}
}

// undecoded is how the mistakes are reported that keep a value from being decoded.
var undecoded = regexp.MustCompile(
	`unknown key|is not (a bit rate|a duration|a latency|a size|a ratio|an address with|an IP address)|is no length`)
