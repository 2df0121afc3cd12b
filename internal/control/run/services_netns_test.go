//go:build linux

package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
)

// TestServices: nginx, nsd and Postfix answer the flows of a study in a lab, about as fast as wrk,
// dnsperf and smtp-source find in the same lab where these are asked for the same. The path's
// delay decides the rates of HTTP and mail, and the schedule that of DNS.
func TestServices(t *testing.T) {
	kerneltest.Parallel(t)
	if os.Geteuid() != 0 {
		kerneltest.Skip(t, "Postfix, which changes its user, needs a lab of root")
	}
	kerneltest.Needs(t, "nginx", "nsd", "postfix", "wrk", "dnsperf", "smtp-source")
	run := controltest.Run(t, controltest.Study{File: controltest.File(t, "services.yaml"), Replicates: 1, Seed: 3})
	var versions []string
	for _, s := range run.Environment.Services {
		program, _, _ := strings.Cut(s.Version, " ")
		versions = append(versions, fmt.Sprintf("%s %s:%d %v", s.Name, program, s.Port, s.Settings))
	}
	if want := []string{
		"nginx nginx:80 []", "single nginx:8080 [worker_processes=1 listen=backlog=64]", "nsd NSD:53 [server-count=1]",
		"postfix Postfix:25 [default_process_limit=20]",
	}; !slices.Equal(versions, want) {
		t.Errorf("services %q, want %q", versions, want)
	}
	outcomes := map[string]string{"linerate": "200", "nginx": "200", "single": "200", "nsd": "NOERROR",
		"postfix": "250"}
	for _, trial := range run.Trials {
		for _, f := range trial.Flows {
			if tr := f.Transactions; tr == nil || tr.Done == 0 ||
				tr.Application.Outcomes[outcomes[trial.Treatment]] < tr.Done*9/10 {
				t.Errorf("trial %d, %s: %+v", trial.Order, trial.Treatment, f)
			}
		}
	}
	rate := func(name string) float64 {
		for _, r := range controltest.Treatment(t, run, name).Responses {
			if r.Response == "transactions" {
				return r.Mean
			}
		}
		t.Fatalf("%s has no rate", name)
		return 0
	}

	lab := controltest.Up(t, controltest.File(t, "services.yaml"))
	figure := func(pattern string, argv ...string) float64 {
		t.Helper()
		return controltest.Figure(t, pattern, lab.Ask(t, "client", append([]string{"timeout", "30"}, argv...)...))
	}
	wrk := func(url string) func() float64 {
		return func() float64 {
			t.Helper()
			return figure(`Requests/sec:\s+([0-9.]+)`, kerneltest.Program(t, "wrk"), "-t", "1", "-c", "16",
				"-d", "1", url)
		}
	}
	const within = 0.15 // the programs share two CPUs, which four tests use
	controltest.Agree(t, "nginx by linerate and wrk", rate("nginx"), wrk("http://10.0.0.1/1000"), within)
	controltest.Agree(t, "nginx with settings by linerate and wrk", rate("single"),
		wrk("http://10.0.0.1:8080/1000"), within)
	queries := filepath.Join(t.TempDir(), "queries")
	if err := os.WriteFile(queries, []byte("www.linerate.test A\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	controltest.Agree(t, "nsd by linerate and dnsperf", rate("nsd"), func() float64 {
		return figure(`Queries per second:\s+([0-9.]+)`, kerneltest.Program(t, "dnsperf"), "-s", "10.0.0.1", "-d",
			queries, "-Q",
			"300", "-l", "1")
	}, within)
	seconds := func(mails int) float64 {
		t.Helper()
		return figure(`real\s+([0-9.]+)`, "bash", "-c",
			fmt.Sprintf("TIMEFORMAT='real %%R'; { time %s -d -s 16 -m %d -l 1000 10.0.0.1:25; } 2>&1",
				kerneltest.Program(t, "smtp-source"), mails))
	}
	// Of two numbers of mails, since its time begins with its own start and that of Postfix's processes.
	const few, many = 160, 640
	controltest.Agree(t, "Postfix by linerate and smtp-source", rate("postfix"), func() float64 {
		return (many - few) / (seconds(many) - seconds(few))
	}, within)
}
