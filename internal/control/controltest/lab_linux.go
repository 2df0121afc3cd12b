package controltest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"linerate/internal/bus/hub"
	"linerate/internal/control/lab"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/study"
	"linerate/internal/science/stats"
)

// Lab is a lab that is up until the test ends.
type Lab struct{ name string }

// Up brings up the lab of a study file until the test ends.
func Up(t *testing.T, file string) *Lab {
	t.Helper()
	kerneltest.Slow(t)
	kerneltest.RequireNamespaces(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	topology, err := study.ParseTopology(file, text)
	if err != nil {
		t.Fatal(err)
	}
	topology.Locate(filepath.Dir(file))
	b, err := hub.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	l := &Lab{name: fmt.Sprintf("test-%d-%d", os.Getpid(), rand.Uint64())}
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	t.Cleanup(cancel)
	up, err := lab.Up(ctx, topology, b, lab.Options{Name: l.name})
	NeedsTun(t, err)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := up.Down(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// Ask runs a command on a host and returns its output. The test fails unless the command
// exits with status 0.
func (l *Lab) Ask(t *testing.T, host string, argv ...string) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	said := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(r)
		said <- string(text)
	}()
	none, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	status, err := lab.Exec(l.name, host, argv, [3]*os.File{none, w, w}, false, nil)
	w.Close()
	text := <-said
	if err != nil || status != 0 {
		t.Fatalf("%s: %v: status %d, %v\n%s", host, argv, status, err, text)
	}
	return text
}

// Figure returns the number that the first group of pattern, a regular expression, matches in
// what a program has printed.
func Figure(t *testing.T, pattern, printed string) float64 {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(printed)
	if found == nil {
		t.Fatalf("no %s in %s", pattern, printed)
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Agree fails the test unless the ratio of two rates is within 1 ± within. It calls other
// three times and takes the median, because other processes of the machine disturb some of
// the calls.
func Agree(t *testing.T, what string, rate float64, other func() float64, within float64) {
	t.Helper()
	others := []float64{other(), other(), other()}
	ratio := rate / stats.Median(others)
	t.Logf("%s: %.4g/s and %.4g/s, a ratio of %.4f", what, rate, others, ratio)
	if !(ratio > 1-within && ratio < 1+within) {
		t.Errorf("%s: %.4g/s and %.4g/s", what, rate, others)
	}
}
