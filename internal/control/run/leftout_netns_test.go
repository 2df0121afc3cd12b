//go:build linux

package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/control/run"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/study"
)

// TestLeftOut: a treatment whose qdisc this kernel lacks is left out with the reason, which check says
// before; the others are tried. Without any to compare, nothing is.
func TestLeftOut(t *testing.T) {
	kerneltest.RequireNamespaces(t)
	kinds := []string{"cake", "fq_codel", "sfq"}
	i := slices.IndexFunc(kinds, func(kind string) bool { return !hasQdisc(kind) })
	if i < 0 {
		kerneltest.Without(t, "this kernel has every qdisc that could be left out")
	}
	text := strings.Replace(leftOutStudy, "LACKING", kinds[i], 1)
	for _, test := range []struct {
		with string
		left bool
	}{{"other: {settings: [{host: a, qdisc: {interface: eth0, kind: pfifo, limit: 100}}]}", true}, {"", false}} {
		file := filepath.Join(t.TempDir(), "leftout.yaml")
		text := []byte(strings.Replace(text, "OTHER", test.with, 1))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := study.Parse(file, text)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := study.NewPlan(s)
		if err != nil {
			t.Fatal(err)
		}
		before, failed := run.LeftOut(t.Context(), plan)
		made, err := controltest.Try(t, controltest.Study{File: file, Replicates: 1})
		if !test.left {
			for _, err := range []error{failed, err} {
				if err == nil || !strings.Contains(err.Error(), "this kernel has no "+kinds[i]) {
					t.Errorf("nothing to compare: %v", err)
				}
			}
			continue
		}
		if failed != nil || err != nil {
			t.Fatal(failed, err)
		}
		left := made.Design.LeftOut
		if len(left) != 1 || left[0].Treatment != "lacking" || !strings.Contains(left[0].Why, kinds[i]) ||
			!slices.Equal(before, left) {
			t.Errorf("left out %+v; by check %+v", left, before)
		}
		if len(made.Treatments) != 2 || len(made.Trials) != 2 {
			t.Errorf("tried %+v", made.Treatments)
		}
		again, err := study.PlanOf(made)
		if err != nil || len(again.Treatments) != 2 {
			t.Errorf("resumed: %+v, %v", again, err)
		}
	}
}

// TestLeftOutExecutesNothing: for a plan with a service no lab is made, which would start its program without the
// permission that run asks for.
func TestLeftOutExecutesNothing(t *testing.T) {
	text := strings.NewReplacer("LACKING", "cake", "OTHER", "", "b: {", "b: {services: {web: {program: nginx}}, ").
		Replace(leftOutStudy)
	s, err := study.Parse("leftout.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(s)
	if err != nil || len(plan.Commands()) == 0 {
		t.Fatal(err)
	}
	trace := filepath.Join(t.TempDir(), "executed")
	t.Setenv("PATH", stub(t, "nginx", "touch "+trace)+":"+os.Getenv("PATH"))
	if left, err := run.LeftOut(t.Context(), plan); left != nil || err != nil {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("a program of the file was executed")
	}
}

// stub returns a directory with a shell script of a name.
func stub(t *testing.T, name, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

const leftOutStudy = `study: leftout
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links: [{from: a, to: b, rate: 100mbit}]
workload:
  flows: [{from: a, to: b}]
  warmup: 100ms
  duration: 200ms
factors:
  queue:
    levels:
      plain: {}
      lacking: {settings: [{host: a, qdisc: {interface: eth0, kind: LACKING}}]}
      OTHER
`
