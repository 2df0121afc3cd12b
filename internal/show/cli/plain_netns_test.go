//go:build linux && !portable

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/control/reach"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// sshdPort is the port of sshd in the tests.
const sshdPort = "2299"

// sshdLog is where sshd of the tests writes.
const sshdLog = "/run/sshd.log"

// startSSHD starts sshd on the loopback of a namespace of AsRoot, for a user "plain" whose PATH has no
// linerate. ssh knows its key under 127.0.0.1, ::1 and the alias nas, and has a key for that user. sshd has further
// lines of configuration.
func startSSHD(t *testing.T, further ...string) {
	t.Helper()
	sshd := kerneltest.Program(t, "sshd")
	kerneltest.Needs(t, "ssh", "ssh-keygen")
	kerneltest.Do(t, "ip", "link", "set", "dev", "lo", "up")
	kerneltest.Do(t, "mount", "--make-rprivate", "/")
	for _, dir := range []string{"/run", "/root", "/usr/local/bin"} {
		if _, err := os.Stat(dir + "/netns/server"); err == nil { // controltest.RealHosts has mounted one
			kerneltest.Do(t, "chmod", "755", dir)
			continue
		}
		kerneltest.Do(t, "mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", dir)
	}
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string, lines ...string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kerneltest.Do(t, "mkdir", "-p", "/run/sshd", "/run/home")
	write("/run/passwd", strings.TrimSpace(string(passwd)), "sshd:x:4710:65534::/run/sshd:/usr/sbin/nologin",
		"plain:x:4711:65534::/run/home:/bin/sh")
	kerneltest.Do(t, "mount", "--bind", "/run/passwd", "/etc/passwd")
	for _, name := range []string{"/run/host", "/root/user"} {
		kerneltest.Do(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name)
	}
	public := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	write("/run/keys/plain", public("/root/user.pub"))
	write("/run/sshd_config", append([]string{"Port " + sshdPort, "ListenAddress 127.0.0.1", "ListenAddress 127.0.0.2",
		"ListenAddress ::1", "HostKey /run/host", "AuthorizedKeysFile /run/keys/%u", "PasswordAuthentication no",
		"KbdInteractiveAuthentication no", "UsePAM no", "PidFile none", "MaxStartups 100"}, further...)...)
	words := strings.Fields(public("/run/host.pub"))
	key := words[0] + " " + words[1]
	write("/root/.ssh/config", "Host nas", "HostName 127.0.0.1", "Port "+sshdPort, "User plain", "Host *",
		"IdentityFile /root/user", "UserKnownHostsFile /root/known", "GlobalKnownHostsFile none")
	write("/root/known", "[127.0.0.1]:"+sshdPort+" "+key, "[::1]:"+sshdPort+" "+key)
	cmd := exec.CommandContext(t.Context(), sshd, "-D", "-E", sshdLog, "-f", "/run/sshd_config")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			log, _ := os.ReadFile(sshdLog)
			t.Logf("sshd: %s", log)
		}
	})
	kerneltest.Await(t, "sshd listens", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+sshdPort)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// TestHostWithoutLinerate: a host that has never had linerate is read by its own tools over ssh. Verbs that need
// linerate there, and may not carry it there, say so.
func TestHostWithoutLinerate(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.AsRoot(t, func(t *testing.T) {
		startSSHD(t)
		kerneltest.Needs(t, "sysctl", "ss", "tc", "ethtool")
		kerneltest.Do(t, "sysctl", "-qw", "net.ipv4.tcp_sack=0")
		dir, host := t.TempDir(), "plain@127.0.0.1:"+sshdPort
		for _, args := range [][]string{{"doctor"}, {"top", "--once"}, {"prove", "sack-off"}, {"snapshot"}} {
			args = append(args, "--install", "never", "--host", host)
			out, _ := command(t, t.Context(), dir, args...).CombinedOutput()
			for _, want := range []string{"exit status 127", "linerate is not on the PATH there",
				"leave out --install never"} {
				if !bytes.Contains(out, []byte(want)) {
					t.Errorf("%s: want %q in\n%s", args[0], want, out)
				}
			}
		}
		for _, given := range []string{host, "plain@[::1]:" + sshdPort, "nas"} {
			cmd := command(t, t.Context(), dir, "doctor", "--plain", "--json", "--host", given)
			out, err := cmd.Output()
			if status := cmd.ProcessState.ExitCode(); status != ExitDoubt {
				t.Fatalf("%s: exit status %d, %v\n%s", given, status, err, out)
			}
			sackOff(t, given, out)
		}
		// By hand: the script there, and what it printed here.
		byHand := exec.CommandContext(t.Context(), "ssh", "nas", "sh")
		byHand.Stdin = strings.NewReader(reach.PlainScript)
		printed, err := byHand.Output()
		if err != nil {
			t.Fatal(err)
		}
		paste := command(t, t.Context(), dir, "doctor", "--json", "-")
		paste.Stdin = bytes.NewReader(printed)
		out, _ := paste.Output()
		sackOff(t, "by hand", out)

		out, err = command(t, t.Context(), dir, "snapshot", "--plain", "--host", "nas", "--name", "box").Output()
		var s netstate.HostSnapshot
		if err == nil {
			err = json.Unmarshal(out, &s)
		}
		if err != nil || s.Reading.Host != "box" {
			t.Fatalf("snapshot: %q, %v", s.Reading.Host, err)
		}
		for _, part := range []string{"interfaces", "routes", "qdiscs", "sockets", "parameters", "softnet", "snmp"} {
			if !slices.Contains(s.Pasted, part) {
				t.Errorf("snapshot: no %s in %s", part, s.Pasted)
			}
		}
	})
}

// sackOff fails unless a document of doctor has the finding that tcp_sack=0 makes, and has every line.
func sackOff(t *testing.T, name string, document []byte) {
	t.Helper()
	var e struct {
		Findings      []record.Finding `json:"findings"`
		NotUnderstood []string         `json:"not_understood"`
	}
	if err := json.Unmarshal(document, &e); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, document)
	}
	if !slices.ContainsFunc(e.Findings, func(f record.Finding) bool { return f.ID == "sack-off" }) ||
		len(e.NotUnderstood) > 0 {
		t.Errorf("%s: findings %v, not understood %q", name, e.Findings, e.NotUnderstood)
	}
}

// TestReasonsOfSSH: what ssh says of a host becomes a reason, with what to do, by doctor with and
// without --plain.
func TestReasonsOfSSH(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.AsRoot(t, func(t *testing.T) {
		startSSHD(t)
		if err := os.WriteFile("/usr/local/bin/linerate", nil, 0o644); err != nil { // may not be executed
			t.Fatal(err)
		}
		dir := t.TempDir()
		for host, want := range map[string]string{
			"root@127.0.0.1:" + sshdPort: "add one with ssh-copy-id, then try ssh -o BatchMode=yes -p " + sshdPort +
				" root@127.0.0.1 true",
			"plain@127.0.0.2:" + sshdPort: "Connect once by ssh -p " + sshdPort + " plain@127.0.0.2 and compare",
			"127.0.0.1:9":                 "No sshd listens on that port: if it has another one, --host 127.0.0.1:PORT",
			"me@nowhere.invalid":          "has no address: getent hosts nowhere.invalid;",
		} {
			for _, args := range [][]string{{"doctor"}, {"doctor", "--plain"}} {
				out, _ := command(t, t.Context(), dir, append(args, "--host", host)...).CombinedOutput()
				if !bytes.Contains(out, []byte(want)) {
					t.Errorf("%s %s: want %q in\n%s", args, host, want, out)
				}
			}
		}
		out, _ := command(t, t.Context(), dir, "doctor", "--install", "never", "--host", "nas").CombinedOutput()
		if want := "may not execute linerate"; !bytes.Contains(out, []byte(want)) {
			t.Errorf("want %q in\n%s", want, fmt.Sprint(string(out)))
		}
	})
}
