//go:build linux

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
)

// rootForMail skips a test for an ordinary user: Postfix changes its user.
func rootForMail(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		kerneltest.Skip(t, "Postfix needs a lab of root")
	}
}

// TestServices: nginx, nsd and Postfix answer the flows of a study in a lab, about as fast as wrk,
// dnsperf and smtp-source find in the same lab where these are asked for the same. The path's
// delay decides the rates of HTTP and mail, and the schedule that of DNS.
func TestServices(t *testing.T) {
	kerneltest.Parallel(t)
	rootForMail(t)
	for _, name := range []string{"nginx", "nsd", "postfix", "wrk", "dnsperf", "smtp-source"} {
		installed(t, name)
	}
	run := runLab(t, t.TempDir(), labFile(t, "services.yaml"), "--replicates", "2", "--seed", "3")
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
		for _, r := range treatment(t, run, name).Responses {
			if r.Response == "transactions" {
				return r.Mean
			}
		}
		t.Fatalf("%s has no rate", name)
		return 0
	}

	lab := labUpFor(t, "services.yaml")
	figure := func(pattern string, argv ...string) float64 {
		t.Helper()
		return figureIn(t, pattern, lab.ask(t, "client", append([]string{"timeout", "30"}, argv...)...))
	}
	wrk := func(url string) func() float64 {
		return func() float64 {
			t.Helper()
			return figure(`Requests/sec:\s+([0-9.]+)`, installed(t, "wrk"), "-t", "1", "-c", "16", "-d", "3", url)
		}
	}
	const within = 0.15 // the programs share two CPUs, which four tests use
	agree(t, "nginx by linerate and wrk", rate("nginx"), wrk("http://10.0.0.1/1000"), within)
	agree(t, "nginx with settings by linerate and wrk", rate("single"), wrk("http://10.0.0.1:8080/1000"), within)
	queries := filepath.Join(lab.dir, "queries")
	if err := os.WriteFile(queries, []byte("www.linerate.test A\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	agree(t, "nsd by linerate and dnsperf", rate("nsd"), func() float64 {
		return figure(`Queries per second:\s+([0-9.]+)`, installed(t, "dnsperf"), "-s", "10.0.0.1", "-d", queries, "-Q",
			"300", "-l", "3")
	}, within)
	seconds := func(mails int) float64 {
		t.Helper()
		return figure(`real\s+([0-9.]+)`, "bash", "-c",
			fmt.Sprintf("TIMEFORMAT='real %%R'; { time %s -d -s 16 -m %d -l 1000 10.0.0.1:25; } 2>&1",
				installed(t, "smtp-source"), mails))
	}
	// Of two numbers of mails, since its time begins with its own start and that of Postfix's processes.
	const few, many = 160, 640
	agree(t, "Postfix by linerate and smtp-source", rate("postfix"), func() float64 {
		return (many - few) / (seconds(many) - seconds(few))
	}, within)
}

// TestServicesEnd: services are other people's programs with processes of their own, and
// neither outlive their agent nor their conductor.
func TestServicesEnd(t *testing.T) {
	kerneltest.Parallel(t)
	rootForMail(t)
	names := []string{"nginx", "nsd", "master", "qmgr"}
	for _, name := range []string{"nginx", "nsd", "postfix"} {
		installed(t, name)
	}
	for _, victim := range []string{"conductor", "agent"} {
		lab := labUpFor(t, "services.yaml")
		conductor := lab.cmd.Process.Pid
		var left []int
		for _, name := range names {
			those := below(conductor, name)
			if len(those) == 0 {
				t.Fatalf("no %s runs", name)
			}
			left = append(left, those...)
		}
		pid := conductor
		if victim == "agent" {
			pid = status(below(conductor, "master")[0]).parent
			if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err != nil ||
				!strings.Contains(string(text), "\x00agent\x00") {
				t.Fatalf("master is a child of %q, %v", text, err)
			}
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for until := time.Now().Add(20 * time.Second); len(left) > 0; time.Sleep(10 * time.Millisecond) {
			left = slices.DeleteFunc(left, func(pid int) bool { return !isProgram(pid, names...) })
			if len(left) > 0 && time.Now().After(until) {
				t.Fatalf("processes %v outlive their %s", left, victim)
			}
		}
	}
}

// isProgram says whether a process is of one of these programs; nsd's have the names of their tasks
// behind its own.
func isProgram(pid int, names ...string) bool {
	name, _, _ := strings.Cut(status(pid).name, ":")
	return slices.Contains(names, name)
}

// TestServiceNotInstalled: what has to be installed is said before anything is made.
func TestServiceNotInstalled(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		for _, dir := range []string{"/usr/sbin", "/usr/local/sbin"} {
			kerneltest.Do(t, "mount", "-t", "tmpfs", "none", dir)
		}
		cmd := command(t, t.Context(), t.TempDir(), "run", labFile(t, "services.yaml"), "--trust", "--quiet")
		text, _ := cmd.CombinedOutput()
		for _, want := range []string{
			"nginx is not installed for service single of server: apt-get install nginx\n",
			"nsd is not installed for service nsd of server: apt-get install nsd\n",
			"postfix is not installed for service postfix of server: apt-get install postfix\n", "Nothing was made",
		} {
			if status := cmd.ProcessState.ExitCode(); status != ExitFailed || !strings.Contains(string(text), want) {
				t.Errorf("exit status %d, want %q in\n%s", status, want, text)
			}
		}
	})
}

// TestServiceEndsByItself: a service that crashes in a window fails the run, and is named.
func TestServiceEndsByItself(t *testing.T) {
	kerneltest.Parallel(t)
	installed(t, "nsd")
	file := filepath.Join(t.TempDir(), "crash.yaml")
	if err := os.WriteFile(file, []byte(`study: crash
topology:
  hosts:
    server: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}, services: {names: {program: nsd}}}
    client: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links:
    - {from: client, to: server, rate: 10mbit}
workload:
  flows:
    - {from: client, to: server, service: names}
  protocol: dns
  pace: 100
  duration: 3s
`), 0o600); err != nil {
		t.Fatal(err)
	}
	kerneltest.RequireNamespaces(t)
	cmd := command(t, t.Context(), t.TempDir(), "run", file, "--trust")
	said := &transcript{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if servers := below(cmd.Process.Pid, "nsd"); len(servers) > 1 {
			_ = syscall.Kill(slices.Min(servers), syscall.SIGKILL)
			break
		}
		if time.Now().After(until) {
			t.Fatalf("nsd does not run: %s", said)
		}
	}
	_ = cmd.Wait()
	if text := said.String(); cmd.ProcessState.ExitCode() != ExitFailed || !strings.Contains(text, "service names") ||
		!strings.Contains(text, "ended after") {
		t.Errorf("exit status %d: %s", cmd.ProcessState.ExitCode(), text)
	}
}
