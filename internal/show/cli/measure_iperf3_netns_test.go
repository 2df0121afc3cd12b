//go:build linux

package cli

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/host/iperf3"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/show/export"
	"linerate/internal/show/present"
)

// iperf3Server is a stock iperf3 in a host, for as long as the test lasts. What it
// prints is in the file.
func iperf3Server(t *testing.T, host string, port int, args ...string) (printed string) {
	t.Helper()
	if _, err := exec.LookPath("iperf3"); err != nil {
		kerneltest.Skip(t, "iperf3 is not installed")
	}
	printed = filepath.Join(t.TempDir(), "printed")
	out, err := os.Create(printed)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("ip", append([]string{"netns", "exec", host, "iperf3", "-s", "-p", fmt.Sprint(port),
		"--forceflush"}, args...)...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := kerneltest.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		listening := kerneltest.Do(t, "ip", "netns", "exec", host, "ss", "-Hltn")
		if strings.Contains(listening, fmt.Sprintf(":%d ", port)) {
			return printed
		}
		if time.Now().After(end) {
			t.Fatalf("iperf3 does not listen: %s", listening)
		}
	}
}

// printedTest is what iperf3 -s -J prints of a test.
type printedTest struct {
	Error string `json:"error"`
	Start struct {
		Test struct {
			Protocol string  `json:"protocol"`
			Streams  int     `json:"num_streams"`
			Block    float64 `json:"blksize"`
		} `json:"test_start"`
	} `json:"start"`
	End struct {
		Streams []struct {
			Sender, Receiver, UDP *struct {
				Bytes   float64 `json:"bytes"`
				Packets float64 `json:"packets"`
				Lost    float64 `json:"lost_packets"`
				Sender  bool    `json:"sender"`
			}
		} `json:"streams"`
	} `json:"end"`
}

// bytes are what the server says that it has received and sent.
func (p printedTest) bytes() (received, sent float64) {
	for _, s := range p.End.Streams {
		switch {
		case s.UDP != nil && s.UDP.Sender:
			sent += s.UDP.Bytes
		case s.UDP != nil:
			// What it prints as a receiver's bytes is what the sender said.
			received += (s.UDP.Packets - s.UDP.Lost) * p.Start.Test.Block
		case s.Sender != nil && s.Sender.Sender:
			sent += s.Sender.Bytes
		case s.Receiver != nil:
			received += s.Receiver.Bytes
		}
	}
	return received, sent
}

// testsOf reads the tests that a server has printed, once there are so many.
func testsOf(t *testing.T, printed string, tests int) []printedTest {
	t.Helper()
	var list []printedTest
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(printed)
		if err != nil {
			t.Fatal(err)
		}
		list = nil
		for d := json.NewDecoder(bytes.NewReader(text)); ; {
			var p printedTest
			if d.Decode(&p) != nil {
				break
			}
			list = append(list, p)
		}
		if len(list) >= tests {
			return list
		}
		if time.Now().After(end) {
			t.Fatalf("the server has printed %d tests, expected %d:\n%s", len(list), tests, text)
		}
	}
}

// documented are the options in the table of docs/iperf3-options.md on measuring with a
// stock server.
func documented(t *testing.T) [][]string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/iperf3-options.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| options of `measure --iperf3` |")
	table, _, _ = strings.Cut(table, "\n\n")
	var list [][]string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(table, -1) {
		list = append(list, strings.Fields(m[1]))
	}
	if !found || len(list) < 10 {
		t.Fatalf("the table of options in docs/iperf3-options.md has %d rows", len(list))
	}
	return list
}

// TestMeasureIperf3 runs every row of the documented table against a stock server:
// what this host has counted from the first byte to the last is what the server
// says.
func TestMeasureIperf3(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "50mbit", "client")
		printed := iperf3Server(t, "server", 5201, "-J")
		for i, args := range documented(t) {
			t.Run(strings.Join(args, " "), func(t *testing.T) {
				m, status, said := measuredPlainly(t, "client",
					append([]string{"--iperf3", "10.0.0.1", "--duration", "300ms", "--warmup", "0s"}, args...)...)
				if status != 0 && status != ExitDoubt || m.Schema == "" {
					t.Fatalf("status %d: %s", status, said)
				}
				server := testsOf(t, printed, i+1)[i]
				if server.Error != "" {
					t.Fatalf("the server says: %s", server.Error)
				}
				received, sent := server.bytes()
				for _, d := range m.Directions {
					there := received
					if d.Direction == "read" {
						there = sent
					}
					apart := math.Abs(float64(d.TotalBytes)-there) / max(there, 1)
					t.Logf("%s: %d bytes here, %.0f there (%.3f %% apart); goodput %.1f Mbit/s, the peer's %.1f",
						d.Direction, d.TotalBytes, there, 100*apart, d.GoodputBps/1e6, d.Peer.GoodputBps/1e6)
					if apart > 0.01 || there == 0 || float64(d.Peer.Bytes) != there {
						t.Errorf("%s: %d bytes here, %.0f as the server prints, %d as it reports", d.Direction,
							d.TotalBytes, there, d.Peer.Bytes)
					}
					if d.GoodputBps <= 0 || d.GoodputBps > 55e6 {
						t.Errorf("%s: goodput %.1f Mbit/s through 50", d.Direction, d.GoodputBps/1e6)
					}
				}
				for _, c := range m.Trust {
					if c.Check == "conservation" && !c.Pass {
						t.Errorf("%+v", c)
					}
				}
				checkAsked(t, args, m)
			})
		}
	})
}

// TestMeasureIperf3Gaps: what flows lose before a slow link arrives behind gaps, also at the
// edges of the window; nobody else's bytes are on the wire. How much a stock server sends again
// is not known.
func TestMeasureIperf3Gaps(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		control := "cubic"
		if known, _ := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control"); strings.Contains(
			string(known), "bbr") {
			control = "bbr" // which loses more before a short queue
		}
		controltest.Wired(t, "50mbit", "client")
		iperf3Server(t, "server", 5201)
		for range 4 {
			m, status, said := measuredPlainly(t, "client", "--iperf3", "10.0.0.1", "--duration", "2s", "--direction",
				"read", "--streams", "4", "--congestion-control", control)
			if m.Schema == "" {
				t.Fatalf("status %d: %s", status, said)
			}
			var held int64
			for _, f := range m.Flows {
				held += f.HeldBytes
			}
			for _, c := range m.Trust {
				t.Logf("%s: %s", c.Check, c.Detail)
				if (c.Check == "wire" || c.Check == "foreign-traffic") && !c.Pass {
					t.Errorf("%+v, held %d bytes", c, held)
				}
			}
			if text := printed(func(s streams) error {
				return asText(present.Measure(&m))(s.out)
			}); strings.Contains(text, "0 bytes") || !strings.Contains(text, "?") {
				t.Error(text)
			}
		}
	})
}

// checkAsked holds what came about against what was asked for.
func checkAsked(t *testing.T, args []string, m export.Measurement) {
	t.Helper()
	streams, directions := 1, 1
	for i, a := range args {
		switch {
		case a == "--streams" && args[i+1] == "4":
			streams = 4
		case a == "both":
			directions = 2
		case a == "--mss":
			for _, f := range m.Flows {
				if f.SenderInfo != nil && f.SenderInfo.SndMSS > 1000 {
					t.Errorf("%s: segments of %d bytes", f.ID, f.SenderInfo.SndMSS)
				}
				if f.ReceiverInfo != nil && f.ReceiverInfo.RcvMSS > 1000 {
					t.Errorf("%s: segments of %d bytes come", f.ID, f.ReceiverInfo.RcvMSS)
				}
			}
		case a == "--congestion-control":
			for _, f := range m.Flows {
				if f.CongestionControl != args[i+1] {
					t.Errorf("%s: congestion control %q", f.ID, f.CongestionControl)
				}
			}
		}
	}
	if len(m.Directions) != directions || len(m.Flows) != directions*streams {
		t.Errorf("%d directions, %d flows: expected %d and %d", len(m.Directions), len(m.Flows), directions,
			directions*streams)
	}
	if m.Peer == "iperf3" || !strings.HasPrefix(m.Peer, "iperf3 3") {
		t.Errorf("the peer is %q", m.Peer)
	}
	if len(m.Unknown) == 0 || !bytes.Contains(m.PeerResults, []byte(`"streams"`)) {
		t.Errorf("unknown %q, results %s", m.Unknown, m.PeerResults)
	}
}

// TestMeasureIperf3Refused: a stock server that asks for a user, is busy, dies, or
// is notified that the test was interrupted.
func TestMeasureIperf3Refused(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "50mbit", "client")
		dir := t.TempDir()
		file := func(name, text string) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
		if err != nil {
			t.Fatal(err)
		}
		private := file("private.pem",
			string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
		users := file("users", "me,"+iperf3.PasswordHash("me", "secret")+"\n")
		iperf3Server(t, "server", 5301, "--rsa-private-key-path", private, "--authorized-users-path", users)
		right, wrong := file("right", "secret\n"), file("wrong", "Secret")
		as := []string{"--iperf3-user", "me", "--iperf3-key",
			file("public.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))}
		short := []string{"--iperf3", "10.0.0.1:5301", "--duration", "200ms", "--warmup", "0s"}
		for _, test := range []struct {
			name string
			args []string
			said string // empty: measured
		}{
			{"unknown", nil, "--iperf3-user"},
			{"with the wrong password", append(as, "--iperf3-password", wrong, "--iperf3-pkcs1"),
				"wrong user or password"},
			{"the right one", append(as, "--iperf3-password", right), ""},
		} {
			m, status, said := measuredPlainly(t, "client", append(short, test.args...)...)
			if test.said == "" && status == ExitFailed && strings.Contains(said, "--iperf3-pkcs1") {
				// A server before 3.17.
				m, status, said = measuredPlainly(t, "client", append(append(short, test.args...), "--iperf3-pkcs1")...)
			}
			if test.said == "" && (status == ExitFailed || status == ExitUsage || m.Peer == "") ||
				test.said != "" && (status != ExitFailed || !strings.Contains(said, test.said) &&
					!strings.Contains(said, "user, password or clock")) {
				t.Errorf("%s: status %d: %s", test.name, status, said)
			}
		}
		printed := iperf3Server(t, "server", 5302)
		long := in(t, "client", "measure", "--quiet", "--iperf3", "10.0.0.1:5302", "--duration", "60s",
			"--rate-cap", "1mbit")
		var errs bytes.Buffer
		long.Stderr = &errs
		if err := kerneltest.Start(long); err != nil {
			t.Fatal(err)
		}
		prints := func(words string) {
			t.Helper()
			for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				text, err := os.ReadFile(printed)
				if err == nil && strings.Contains(string(text), words) {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("iperf3 has not printed %q:\n%s", words, text)
				}
			}
		}
		prints("connected to")
		if _, status, said := measuredPlainly(t, "client", "--iperf3", "10.0.0.1:5302"); status != ExitFailed ||
			!strings.Contains(said, "busy with another test") {
			t.Errorf("busy: status %d: %s", status, said)
		}
		if err := long.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		_ = long.Wait()
		if long.ProcessState.ExitCode() != ExitInterrupted {
			t.Errorf("interrupted: status %d: %s", long.ProcessState.ExitCode(), errs.String())
		}
		// Before its window an interrupted test is terminated; in it, ended for its results.
		prints("(test #2)")
		if m, status, said := measuredPlainly(t, "client", "--iperf3", "10.0.0.1:5302", "--duration", "200ms",
			"--warmup", "0s"); m.Peer == "" {
			t.Errorf("the server is not ready for the next: status %d: %s", status, said)
		}
	})
}
