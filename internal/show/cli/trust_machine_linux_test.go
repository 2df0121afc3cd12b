package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/machinetest"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/trust"
	"linerate/internal/show/wording"
)

// TestMachineTrust: each planted fault fails the trust check that is about it, and no other one
// that the fault does not explain, on this kernel and in user-mode Linux, there with netem and
// with the emulator. Without a fault every check is evaluated, and passes, unless the machine
// is busy with something else.
//
// What cannot be planted is tested elsewhere: counters that are wrong, which conservation and
// wire are about (here wire fails of other traffic), and time that a hypervisor takes, by
// TestDoctoredTrialsFail of package trust; what other programs report, which user-mode Linux
// does not have here, by TestToolSurplus (tool-agrees), and by TestMeasureIperf3 and TestPeer of
// package trust (peer).
func TestMachineTrust(t *testing.T) {
	machinetest.TakesMinutes(t)
	kerneltest.Needs(t, "busybox")
	kerneltest.InNamespace(t, func(t *testing.T) {
		trustOn(t, place{"this kernel", hereIn(t, trustFiles(t, "")), map[string]bool{}})
		m := machinetest.Machine{Name: "uml", Kernel: machinetest.UserMode(t), Memory: 1024,
			Modules: []string{"veth", "bridge", "sch_netem", "sch_tbf", "sch_htb", "tun", "ipv6"},
			Files:   map[string][]byte{}}
		for _, by := range topology.Mechanisms {
			for name, text := range trustFiles(t, by) {
				m.Files[filepath.Join("/root", string(by), name)] = text
			}
		}
		uml := machinetest.Boot(t, m)[0]
		for _, by := range topology.Mechanisms {
			trustOn(t, place{"user-mode Linux, " + string(by), func(t *testing.T, script string) (string, int) {
				return uml.Run(t, 5*time.Minute, "cd /root/"+string(by)+" && export LINERATE_MAX_RETRY_TIME=0s\n"+
					script)
			}, map[string]bool{}})
		}
	})
}

// A planted fault fails the checks in fails in every trial, and may fail those in beside.
type planted struct{ fails, beside []string }

// trustFiles are the studies, whose lab has its links impaired by a mechanism; empty: as it
// is chosen. In trust-far the agent of the server is reached through a link with more delay.
func trustFiles(t *testing.T, by topology.Mechanism) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range []string{"trust-alone.yaml", "trust-hosts.yaml"} {
		text, err := os.ReadFile(controltest.File(t, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = text
	}
	if by != "" {
		files["trust-alone.yaml"] = replaced(t, files["trust-alone.yaml"], "topology:\n", "topology:\n  impaired_by: "+
			string(by)+"\n")
	}
	far := files["trust-hosts.yaml"]
	for _, change := range [][2]string{
		{"client1, --]", "client2, --]"},
		{"server1, --]", "client2, --, busybox, sh, -c, exec busybox nc 10.0.2.2 7000, sh]"},
		{"[10.0.1.1/24]", "[10.0.2.1/24]"}, {"[10.0.1.2/24]", "[10.0.2.2/24]"},
	} {
		far = replaced(t, far, change[0], change[1])
	}
	files["trust-far.yaml"] = far
	return files
}

func replaced(t *testing.T, text []byte, what, by string) []byte {
	t.Helper()
	if bytes.Count(text, []byte(what)) != 1 {
		t.Fatalf("%q is not once in\n%s", what, text)
	}
	return bytes.Replace(text, []byte(what), []byte(by), 1)
}

// place is a kernel with the studies, where shell scripts are executed.
type place struct {
	name   string
	sh     func(t *testing.T, script string) (output string, status int)
	passed map[string]bool // checks that have passed in some trial without a fault
}

// hereIn executes scripts on this kernel, in a new directory with files.
func hereIn(t *testing.T, files map[string][]byte) func(*testing.T, string) (string, int) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(t *testing.T, script string) (string, int) {
		t.Helper()
		like := command(t, t.Context(), dir)
		sh := exec.CommandContext(t.Context(), "busybox", "sh", "-c", script)
		sh.Dir, sh.Env, sh.WaitDelay = dir, like.Env, time.Second
		status, output := statusOf(t, sh)
		return output, status
	}
}

// trustOn plants each fault in a place.
func trustOn(t *testing.T, on place) {
	t.Helper()
	const run = "linerate run --trust --json --quiet "
	on.judge(t, on.run(t, run+"trust-alone.yaml"), map[string]planted{
		"none":            {},
		"wrong neighbour": {fails: []string{trust.Connected}},
		"link down":       {fails: []string{trust.Alive}},
		// Its send buffer grows faster than the rate.
		"slow start":   {fails: []string{trust.Steady}, beside: []string{trust.SenderSide}},
		"deep buffers": {fails: []string{trust.SenderSide}},
		// What waits unread, and what is lost behind it, is in no count yet.
		"no processor left": {fails: []string{trust.Generator}, beside: []string{trust.Wire, trust.Foreign}},
	})
	for _, real := range []struct {
		what, before, run string
		planted
	}{
		{what: "hosts as declared", run: run + "--replicates 3 trust-hosts.yaml"},
		{"a link faster than declared", "", run + "--set topology.links[0].rate=500kbit trust-hosts.yaml",
			planted{fails: []string{trust.Limit}, beside: []string{trust.SenderSide}}},
		{"another program",
			"linerate lab exec --lab trust-alone client1 -- busybox ping -q -i 0.05 -s 1400 10.0.1.2 >ping 2>&1 &",
			run + "trust-hosts.yaml",
			planted{fails: []string{trust.Foreign, trust.Wire}}},
		{"a long way to the agent",
			"linerate lab exec --lab trust-alone server2 -- busybox nc -ll -p 7000 -e linerate agent --stdio " +
				"--node server >nc 2>&1 &", run + "trust-far.yaml",
			planted{fails: []string{trust.Clock}}},
	} {
		got := on.run(t, inLab(real.before, real.run))
		for i := range got.Trials {
			got.Trials[i].Treatment = real.what
		}
		on.judge(t, got, map[string]planted{real.what: real.planted})
	}
	for _, check := range ofMachine {
		if !on.passed[check] {
			t.Errorf("%s: %s fails in every trial without a fault", on.name, check)
		}
	}
}

// inLab is a script that keeps the lab of trust-alone while another script is executed, after
// one that starts something in the lab.
func inLab(before, script string) string {
	return `timeout 240 linerate lab up --trust --lab trust-alone trust-alone.yaml >up 2>&1 &
lab=$!
until grep -q 'The lab is up' up; do kill -0 $lab || { cat up; exit 1; }; sleep 0.1; done
` + before + "\n" + script + `
status=$?
kill $lab
wait
exit $status
`
}

// run executes a script that makes a run and returns it, with all that was read in its trials.
func (p place) run(t *testing.T, script string) *record.Run {
	t.Helper()
	result, status := p.sh(t, "{ "+script+"\n} 2>errors")
	var run record.Run
	if err := json.Unmarshal([]byte(result), &run); err != nil || status != 0 && status != ExitDoubt {
		said, _ := p.sh(t, "cat errors")
		t.Fatalf("%s: %s: exit status %d, %v\n%s%s", p.name, script, status, err, result, said)
	}
	text, _ := p.sh(t, "linerate export "+run.ID+" --trials | base64")
	zipped, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatalf("%s: the trials of %s: %v\n%s", p.name, run.ID, err, text)
	}
	run.Trials = trialsOf(t, run.ID, zipped)
	return &run
}

// checksOfTCP are those that apply to a flow of TCP over links with rates.
var checksOfTCP = []string{trust.Connected, trust.Alive, trust.Conservation, trust.Wire, trust.Limit, trust.SenderSide,
	trust.Steady, trust.Generator, trust.Steal, trust.Foreign, trust.Clock}

// ofMachine are those that also fail where the machine is busy with something else.
var ofMachine = []string{trust.Steady, trust.Generator, trust.Clock}

// judge compares the checks that failed with what was planted, by treatment. What else the
// machine is busy with a test cannot help: the checks of that only add to passed if they pass
// without a fault, and steal only has to be evaluated.
func (p place) judge(t *testing.T, run *record.Run, faults map[string]planted) {
	t.Helper()
	seen := map[string]bool{}
	for _, trial := range run.Trials {
		fault, known := faults[trial.Treatment]
		if !known {
			t.Errorf("%s: trial of %q", p.name, trial.Treatment)
		}
		seen[trial.Treatment] = true
		healthy := len(fault.fails) == 0
		evaluated, failed := p.checks(t, run, trial)
		for _, check := range checksOfTCP {
			why := ""
			switch bad := slices.Contains(failed, check); {
			case slices.Contains(fault.fails, check):
				if !bad {
					why = "does not fail"
				}
			case healthy && !slices.Contains(evaluated, check):
				why = "is not evaluated"
			case slices.Contains(ofMachine, check):
				p.passed[check] = p.passed[check] || healthy && !bad
			case bad && !slices.Contains(fault.beside, check):
				why = "fails"
			}
			if why != "" {
				t.Errorf("%s: %s, trial %d: %s %s", p.name, trial.Treatment, trial.Order, check, why)
			}
		}
	}
	for treatment := range faults {
		if !seen[treatment] {
			t.Errorf("%s: no trial of %q", p.name, treatment)
		}
	}
}

// checks are those of a trial that were evaluated, and those that failed, less steal. The run
// says of each that it failed.
func (p place) checks(t *testing.T, run *record.Run, trial record.Trial) (evaluated, failed []string) {
	t.Helper()
	for _, c := range wording.Checks(trust.Trial(trial, &run.Topology)) {
		if !c.Unevaluated {
			evaluated = append(evaluated, c.Check)
		}
		if c.Pass || c.Check == trust.Steal {
			continue
		}
		failed = append(failed, c.Check)
		t.Logf("%s: %s, trial %d: %s: %s", p.name, trial.Treatment, trial.Order, c.Check, c.Detail)
		if !slices.ContainsFunc(run.Trust, func(said record.Check) bool {
			return said.Check == c.Check && said.Trial == trial.Order && !said.Pass
		}) {
			t.Errorf("%s: the run does not say that %s of trial %d fails", p.name, c.Check, trial.Order)
		}
	}
	return evaluated, failed
}
