//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// crippled makes the sending host's segments small and keeps them so, which costs a
// link the same part of its rate on any machine, however busy.
var crippled = []string{"net.ipv4.tcp_mtu_probing=2", "net.ipv4.tcp_base_mss=48", "net.ipv4.tcp_probe_threshold=2000"}

// pathToTune are two hosts and a link; %s are their via, and what host a is set to.
const pathToTune = `study: path
topology:
  hosts:
    a: {%sinterfaces: {eth0: {addresses: [10.0.0.1/24]}}%s}
    b: {%sinterfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links:
    - {from: a.eth0, to: b.eth0, rate: 10mbit}
workload:
  duration: 500ms
  warmup: 150ms
  interval: 100ms
  flows:
    - {from: a, to: b}
design: {replicates: 6}
`

// listToTune has a setting that does it, one that does nothing, one that is
// machine-wide, and one that is not about the network.
const listToTune = `net.ipv4.tcp_mtu_probing = 0
net.ipv4.tcp_orphan_retries = 3
net.core.rmem_max = 16777216
kernel.shmmax = 68719476736
`

// hostsToTune makes two network namespaces with a cable, by ip(8) and tc(8), whose
// sending host is crippled, and files: a study that reaches them, the same as a
// lab, and a list.
func hostsToTune(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	twoHosts(t, "tbf rate 10mbit burst 5000 limit 40k")
	kerneltest.Do(t, "ip", append([]string{"netns", "exec", "a", "sysctl", "-q", "-w"}, crippled...)...)
	via := func(host string) string { return fmt.Sprintf("via: [ip, netns, exec, %s], ", host) }
	for name, text := range map[string]string{
		"real.yaml": fmt.Sprintf(pathToTune, via("a"), "", via("b")),
		"lab.yaml": fmt.Sprintf(pathToTune, "", ", sysctls: {"+strings.ReplaceAll(strings.Join(crippled, ", "), "=",
			": ")+"}", ""),
		"list.conf": listToTune,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// twoHosts makes the network namespaces a and b with a cable, whose ends have a qdisc.
func twoHosts(t *testing.T, qdisc string) {
	t.Helper()
	for _, over := range []string{"/run", "/var/lib"} { // ip's names, and the journals
		kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", over)
	}
	for _, host := range []string{"a", "b"} {
		kerneltest.Do(t, "ip", "netns", "add", host)
		kerneltest.Do(t, "ip", "-n", host, "link", "set", "dev", "lo", "up")
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", host).Run() })
	}
	kerneltest.Do(t, "ip", "-n", "a", "link", "add", "name", "eth0", "type", "veth", "peer", "name", "eth0",
		"netns", "b")
	for i, host := range []string{"a", "b"} {
		kerneltest.Do(t, "ip", "-n", host, "address", "add", fmt.Sprintf("10.0.0.%d/24", i+1), "dev", "eth0")
		kerneltest.Do(t, "ip", "-n", host, "link", "set", "dev", "eth0", "up")
		kerneltest.Do(t, "tc", append([]string{"-n", host, "qdisc", "add", "dev", "eth0", "root"},
			strings.Fields(qdisc)...)...)
	}
}

// tuned is what the settings of the list are on the hosts.
func tuned(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, host := range []string{"a", "b"} {
		b.WriteString(kerneltest.Do(t, "ip", "netns", "exec", host, "sysctl", "net.ipv4.tcp_mtu_probing",
			"net.ipv4.tcp_orphan_retries"))
	}
	return b.String()
}

// runTune tunes and returns the result. Statuses besides 0 and 3 fail.
func runTune(t *testing.T, dir string, args ...string) *record.Tune {
	t.Helper()
	result, _ := runTuneSaying(t, dir, args...)
	return result
}

// runTuneSaying is runTune with what was said on standard error.
func runTuneSaying(t *testing.T, dir string, args ...string) (*record.Tune, string) {
	t.Helper()
	cmd := command(t, t.Context(), dir, append([]string{"tune", "--json", "--quiet", "--trust"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != ExitDoubt {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, errs.String())
	}
	var result record.Tune
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return &result, errs.String()
}

// TestTune tries a list on real hosts, is interrupted and carried on, says which
// setting does it, keeps that one, leaves the hosts as they were; and what was kept
// gives the effect again in a lab that was just made, where the answer says what
// became of latency, too.
func TestTune(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := hostsToTune(t)
		before := tuned(t)
		id := interruptedTune(t, dir, "list.conf", "--on", "real.yaml", "--host", "a", "--ablate", "--response",
			"goodput", "--keep", "90-kept.conf")
		if after := tuned(t); after != before {
			t.Errorf("interrupted, the hosts are not as they were:\n%s", controltest.FirstDifference(before, after))
		}
		if out, err := command(t, t.Context(), dir, "run", "--resume", id, "--quiet").CombinedOutput(); err != nil &&
			!strings.Contains(err.Error(), fmt.Sprint("status ", ExitDoubt)) {
			t.Fatalf("%v\n%s", err, out)
		}
		result := runTune(t, dir, "--run", id, "--keep", "90-kept.conf")
		if after := tuned(t); after != before {
			t.Errorf("the hosts are not as they were:\n%s", controltest.FirstDifference(before, after))
		}
		if left := leftBehind(t); len(left) > 0 {
			t.Errorf("journals are left: %v", left)
		}
		keptAs := "90-kept.conf"
		// All intervals of a run hold together in 95 of 100 runs: one of two is right.
		if wrong := misjudged(result); len(wrong) > 0 {
			t.Logf("%q; once more", wrong)
			keptAs = "91-kept.conf"
			result = runTune(t, dir, "list.conf", "--on", "real.yaml", "--host", "a", "--ablate", "--response",
				"goodput", "--keep", keptAs)
			for _, text := range misjudged(result) {
				t.Error(text)
			}
		}
		if result.Proof == nil || result.Proof.Run == result.Run {
			t.Errorf("%s, proof %+v", result.Answer, result.Proof)
		}
		text, err := os.ReadFile(filepath.Join(dir, keptAs))
		if err != nil {
			t.Fatal(err)
		}
		kept := settingfile.Read(keptAs, text, "").Lines
		if len(kept) != 1 || kept[0].Setting() != "net.ipv4.tcp_mtu_probing = 0" ||
			!strings.Contains(string(text), "improves") || !strings.Contains(string(text), "# was 2; ") {
			t.Fatalf("kept:\n%s", text)
		}
		t.Log(result.Answer)
		// A run in the notebook has what was not tried of its list, and why.
		for _, want := range []string{"net.core.rmem_max (", "kernel.shmmax (", "2 were not tried"} {
			if !strings.Contains(result.Answer, want) {
				t.Errorf("expected %q: %s", want, result.Answer)
			}
		}
		again, said := runTuneSaying(t, dir, keptAs, "list.conf", "--on", "lab.yaml", "--host", "a")
		t.Log(again.Answer)
		if strings.Count(said, "p99 needs 1,000") != 1 {
			t.Errorf("windows of 200 ms have too few requests for a p99; said was: %s", said)
		}
		if again.List == nil || again.List.Verdict != record.Improves {
			t.Fatalf("in a lab: %s", again.Answer)
		}
		for _, s := range again.Settings {
			switch {
			case s.Key == "net.ipv4.tcp_mtu_probing" && s.Prior["a"] != "2", s.Verdict == record.NotTried &&
				s.Why == "", (s.Verdict == record.NotTried) != !strings.HasPrefix(s.Key, "net.ipv4."):
				t.Errorf("%+v", s)
			}
		}
		// A probe has gone beside the flows, and nothing improves without a word on it.
		if want := []string{"goodput", "latency_p50", "latency_p99"}; !slices.Equal(again.Responses, want) ||
			len(again.List.Beside) != 2 || again.List.Beside[0].Blocks != 6 {
			t.Errorf("judged by %v: %+v", again.Responses, again.List)
		}
		for _, b := range again.List.Beside {
			if b.Verdict == record.Worsens && !strings.Contains(again.Answer, "but worsen") {
				t.Errorf("%s gets worse by %+v, and the answer is: %s", b.Response, b.Ratio, again.Answer)
			}
		}
	})
}

// misjudged lists what a result says of listToTune that is not so.
func misjudged(result *record.Tune) (wrong []string) {
	verdicts := map[string]string{}
	for _, s := range result.Settings {
		verdicts[s.Key] = s.Verdict
		if s.Keep != (s.Key == "net.ipv4.tcp_mtu_probing") {
			wrong = append(wrong, fmt.Sprintf("%s: keep is %t: %s", s.Key, s.Keep, s.Why))
		}
	}
	if v := verdicts["net.ipv4.tcp_orphan_retries"]; v != record.NoDifference && v != record.Inconclusive ||
		verdicts["net.ipv4.tcp_mtu_probing"] != record.Helps {
		wrong = append(wrong, fmt.Sprintf("verdicts: %v", verdicts))
	}
	if result.List == nil || result.List.Verdict != record.Improves || result.Off == nil ||
		result.Off.Verdict == record.Improves {
		wrong = append(wrong, fmt.Sprintf("list %+v, off again %+v", result.List, result.Off))
	}
	if result.Proof == nil || result.Proof.Effect.Verdict != record.Improves ||
		!strings.Contains(result.Answer, "net.ipv4.tcp_mtu_probing does it") {
		wrong = append(wrong, fmt.Sprintf("%s, proof %+v", result.Answer, result.Proof))
	}
	return wrong
}

// TestTuneBothBuffers: of two buffers that are both too small for the path neither is any
// use alone. Both are kept, and the proof has the whole list's gain.
func TestTuneBothBuffers(t *testing.T) {
	if os.Getenv("LINERATE_SOAK") == "" {
		t.Skip("takes minutes: make soak")
	}
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		small := `sysctls: {net.ipv4.tcp_no_metrics_save: 1, net.ipv4.tcp_rmem: "4096 131072 262144", ` +
			`net.ipv4.tcp_wmem: "4096 16384 262144"}`
		for name, text := range map[string]string{
			"path.yaml": `study: path
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}, ` + small + `}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}, ` + small + `}
  links:
    - {from: a.eth0, to: b.eth0, rate: 100mbit, delay: 20ms}
workload:
  congestion_control: cubic
  warmup: 1200ms
  duration: 600ms
  flows:
    - {from: a, to: b}
design: {replicates: 4}
`,
			"list.conf": "net.ipv4.tcp_rmem = 4096 131072 16777216\nnet.ipv4.tcp_wmem = 4096 16384 16777216\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		result := runTune(t, dir, "list.conf", "--on", "path.yaml", "--response", "goodput", "--keep", "90-kept.conf")
		t.Log(result.Answer)
		if p := result.Proof; p == nil || len(p.Settings) != 2 || p.Gain == nil || *p.Gain < 0.95 ||
			p.Effect.Verdict != record.Improves {
			t.Fatalf("the proof is %+v", p)
		}
		text, err := os.ReadFile(filepath.Join(dir, "90-kept.conf"))
		if err != nil || !strings.Contains(string(text), "net.ipv4.tcp_rmem = ") ||
			!strings.Contains(string(text), "net.ipv4.tcp_wmem = ") || result.Kept == "" {
			t.Errorf("%v: kept\n%s", err, text)
		}
		if len(result.Figures) < 2 || !strings.Contains(result.Answer, "Mbit/s") {
			t.Errorf("nothing in units: %+v, %s", result.Figures, result.Answer)
		}
	})
}

// interruptedTune tunes until Ctrl-C, while a setting is on, and returns the run
// that can be carried on.
func interruptedTune(t *testing.T, dir string, args ...string) (id string) {
	t.Helper()
	isOn := watchTuned(t)
	cmd := command(t, t.Context(), dir, append([]string{"tune", "--trust"}, args...)...)
	var errs bytes.Buffer
	cmd.Stdout = io.Discard
	said, err := cmd.StderrPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(io.TeeReader(said, &errs))
	for id == "" && lines.Scan() { // by then what was only tried is over
		id, _ = strings.CutPrefix(lines.Text(), "run ")
		if id == lines.Text() {
			id = ""
		}
	}
	for end := time.Now().Add(60 * time.Second); !isOn(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nothing was ever changed:\n%s", errs.String())
		}
	}
	_ = cmd.Process.Signal(os.Interrupt)
	for lines.Scan() {
	}
	_ = cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != ExitInterrupted ||
		!strings.Contains(errs.String(), "linerate run --resume "+id+"; then linerate tune --run "+id+
			" --keep 90-kept.conf") {
		t.Fatalf("exit status %d\n%s", status, errs.String())
	}
	return id
}

// leftBehind are journals with something to undo; an agent that was killed while it began
// one leaves a file of another name, which stops no other process.
func leftBehind(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(journals(t), func(path string) bool { return filepath.Ext(path) != ".jsonl" })
}

// tuneKills is how many instants of tuning are tried: more in make soak.
func tuneKills() int {
	if os.Getenv(soakFor) != "" {
		return 20
	}
	return 5
}

// TestTuneKilled kills the conductor, and separately the agent, at several instants
// while settings come and go: everything is put back, by the agent itself, or by its
// guard where it was the agent that died. The two take turns in waiting, each with
// hosts and journals of its own.
func TestTuneKilled(t *testing.T) {
	kerneltest.Parallel(t)
	for _, victim := range []string{"conductor", "agent"} {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			kerneltest.InNamespace(t, func(t *testing.T) { tuneAndKill(t, victim) })
		})
	}
}

func tuneAndKill(t *testing.T, victim string) {
	dir := hostsToTune(t)
	before := tuned(t)
	isOn := watchTuned(t)
	wasOn := 0
	kills := tuneKills()
	for kill := range kills {
		mark := fmt.Sprintf("LINERATE_TEST_MARK=%d-%d", os.Getpid(), rand.Uint64())
		// A search has something set in most of its trials.
		cmd := command(t, t.Context(), dir, "tune", "list.conf", "--on", "real.yaml", "--host", "a", "--trust",
			"--quiet", "--replicates", "50",
			"--search", "net.ipv4.tcp_orphan_retries=3..12", "--set", "workload.duration=50ms", "--set",
			"workload.warmup=20ms", "--set", "workload.interval=50ms")
		cmd.Env = append(cmd.Env, mark)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		awaitOn := func() {
			for end := time.Now().Add(60 * time.Second); !isOn(); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("nothing was ever changed:\n%s", errs.String())
				}
			}
		}
		// From the first change on, through the settings that are only tried, the end
		// of their agents, and the first trials.
		awaitOn()
		time.Sleep((300*time.Millisecond*time.Duration(kill) +
			time.Duration(rand.Int64N(int64(300*time.Millisecond)))) / time.Duration(kills))
		if kill%2 == 0 {
			awaitOn()
		}
		when := fmt.Sprintf("kill %d, the %s", kill+1, victim)
		if isOn() {
			wasOn++
		}
		if victim == "agent" {
			killAgent(t, mark, "a")
		} else {
			_ = cmd.Process.Kill()
		}
		err := cmd.Wait()
		awaitNone(t, mark, when)
		if victim == "agent" {
			if exit, failed := err.(*exec.ExitError); !failed || exit.ExitCode() != ExitFailed ||
				!strings.Contains(errs.String(), "a: ") && !strings.Contains(errs.String(), "the agent of a ") {
				t.Errorf("the conductor says of its agent's death: %v\n%s", err, errs.String())
			}
		}
		if after := tuned(t); after != before {
			t.Fatalf("%s: the hosts are not as they were:\n%s", when, controltest.FirstDifference(before, after))
		}
		if left := leftBehind(t); len(left) > 0 {
			t.Fatalf("%s: journals are left: %v", when, left)
		}
	}
	if wasOn == 0 {
		t.Error("no process was killed while a setting was on: the test does not test")
	}
}

// watchTuned returns whether a setting of the list is on at host a. A shell there
// reads it: starting a program each time would take more than what is watched.
func watchTuned(t *testing.T) func() bool {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "ip", "netns", "exec", "a", "sh", "-c",
		"while read x; do read v < /proc/sys/net/ipv4/tcp_orphan_retries; echo $v; done")
	ask, errIn := shell.StdinPipe()
	answer, errOut := shell.StdoutPipe()
	if err := errors.Join(errIn, errOut, shell.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ask.Close(); _ = shell.Wait() })
	lines := bufio.NewReader(answer)
	value := func() string {
		if _, err := io.WriteString(ask, "?\n"); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	before := value()
	return func() bool { return value() != before }
}

// killAgent kills the agent of a host. Between asking what the hosts take and the
// study there is none for a moment.
func killAgent(t *testing.T, mark, node string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		all := marked(mark)
		i := slices.IndexFunc(all, func(line string) bool {
			return strings.Contains(line, " agent ") && strings.Contains(line, "--node "+node)
		})
		if i >= 0 {
			pid, err := strconv.Atoi(strings.Fields(all[i])[0])
			if err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("no agent of %s in %q", node, all)
		}
	}
}
