package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// event is one line of go test -json (go doc test2json).
type event struct {
	Time    time.Time
	Action  string
	Package string
	Test    string
	Output  string
}

// test is a test function with its subtests.
type test struct {
	pkg, name  string
	begin, end time.Time // without the wait for a parallel test's turn
	action     string    // the last one
	output     strings.Builder
}

// attempt is the result of one run of the command.
type attempt struct {
	tests map[string]*test
	// broken: a panic, an end by time-out or signal, a data race, a failed build. No
	// hypervisor causes those, and later tests did not run.
	broken bool
}

// failed are the tests that did, in the order of their start.
func (a *attempt) failed() []*test {
	var list []*test
	for _, t := range a.tests {
		if t.action != "pass" && t.action != "skip" {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *test) int {
		return cmp.Or(a.begin.Compare(b.begin), cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name))
	})
	return list
}

// slowest are the n tests that took longest, the longest first.
func (a *attempt) slowest(n int) []*test {
	list := slices.SortedFunc(maps.Values(a.tests), func(a, b *test) int {
		return cmp.Or(cmp.Compare(b.end.Sub(b.begin), a.end.Sub(a.begin)), cmp.Compare(a.name, b.name))
	})
	return list[:min(n, len(list))]
}

// fatal are prefixes of lines that nothing excuses.
var fatal = []string{"panic: ", "fatal error: ", "WARNING: DATA RACE", "unexpected fault address", "signal: ",
	"SIGQUIT: ", "*** Test killed"}

// read reads events until their end. Output of packages goes to out, as it does
// without -json; that of tests is kept.
func read(events io.Reader, out io.Writer) *attempt {
	a := &attempt{tests: map[string]*test{}}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			a.add(line, out)
		}
		if err != nil {
			return a
		}
	}
}

func (a *attempt) add(line []byte, out io.Writer) {
	var e event
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		fmt.Fprintf(out, "%s", line) // the command itself, not a test
		return
	}
	a.broken = a.broken || e.Action == "build-fail" ||
		slices.ContainsFunc(fatal, func(words string) bool { return strings.HasPrefix(e.Output, words) })
	if e.Test == "" {
		if e.Action == "fail" && !slices.ContainsFunc(a.failed(), func(t *test) bool { return t.pkg == e.Package }) {
			a.broken = true // none of its tests did
		}
		if e.Output != "PASS\n" {
			fmt.Fprint(out, e.Output)
		}
		return
	}
	name, _, sub := strings.Cut(e.Test, "/")
	t := a.tests[e.Package+"."+name]
	if t == nil {
		t = &test{pkg: e.Package, name: name, begin: e.Time}
		a.tests[e.Package+"."+name] = t
	}
	t.end = e.Time
	switch {
	case e.Action == "cont" && !sub:
		t.begin = e.Time // until then it has waited for others
	case e.Action == "output":
		if !strings.HasPrefix(e.Output, "=== ") {
			t.output.WriteString(e.Output)
		}
	case !sub:
		t.action = e.Action
	}
}
