//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// machineState is what another tool might change on the machine for good.
type machineState struct {
	sysctls map[string]string
	links   string
}

func snapshot(ctx context.Context) (*machineState, error) {
	all, err := output(ctx, "sysctl", "-a")
	if err != nil {
		return nil, err
	}
	links, err := output(ctx, "ip", "-o", "-br", "link")
	if err != nil {
		return nil, err
	}
	return &machineState{parseSysctls(all), string(links)}, nil
}

// parseSysctls reads "name = value" lines and keeps what is watched: the
// settings of the network, and the two others that Mininet raises.
func parseSysctls(text []byte) map[string]string {
	kept := make(map[string]string)
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " = ")
		if !ok || strings.HasSuffix(name, "_count") { // counters, not settings
			continue
		}
		if strings.HasPrefix(name, "net.") || name == "fs.file-max" || name == "kernel.pty.max" {
			kept[name] = value
		}
	}
	return kept
}

// changed names what differs from before, sorted.
func changed(before, after map[string]string) []string {
	var names []string
	for name, value := range before {
		if now, ok := after[name]; ok && now != value {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// restore puts back every watched setting and verifies it; it returns what it
// had to put back.
func (m *machineState) restore(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	now, err := snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var errs []error
	names := changed(m.sysctls, now.sysctls)
	for _, name := range names {
		if _, err := output(ctx, "sysctl", "-q", "-w", name+"="+m.sysctls[name]); err != nil {
			errs = append(errs, err)
		}
	}
	if len(names) > 0 {
		if now, err = snapshot(ctx); err != nil {
			return names, errors.Join(append(errs, err)...)
		}
	}
	for _, name := range changed(m.sysctls, now.sysctls) {
		errs = append(errs, fmt.Errorf("sysctl %s: is %q, want %q as before", name, now.sysctls[name], m.sysctls[name]))
	}
	if now.links != m.links {
		errs = append(errs, fmt.Errorf("links of the machine: now\n%swant as before\n%s", now.links, m.links))
	}
	return names, errors.Join(errs...)
}

// output runs a command and returns its stdout, also if it ends with an error status: sysctl -a
// complains of what it may not read and still prints the rest.
func output(ctx context.Context, command ...string) ([]byte, error) {
	out, err := attempt(ctx, command...)
	if len(out) > 0 {
		err = nil
	}
	return out, err
}

// attempt runs a command and returns its stdout, with an error if it fails.
func attempt(ctx context.Context, command ...string) ([]byte, error) {
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(errs.String()))
	}
	return out, err
}

// busySeconds is the CPU time that was not idle since boot, over all CPUs.
func busySeconds() (float64, error) {
	files, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, err
	}
	stat, err := files.Stat()
	if err != nil {
		return 0, err
	}
	t := stat.CPUTotal
	return t.User + t.Nice + t.System + t.IRQ + t.SoftIRQ + t.Steal, nil
}

// busyDuring is how many seconds all CPUs together were busy while do ran.
func busyDuring(do func() error) (float64, error) {
	before, err := busySeconds()
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := busySeconds()
	return after - before, err
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// machine is what the figures hold for.
type machine struct {
	Kernel, CPU, Mininet, Iperf3 string
	CPUs                         int
	MemoryGiB                    float64
	Busy                         float64 // with other work, of all CPUs, before anything began
	// Control is the congestion control of TCP in all labs, and Wanted that which was asked for.
	Control, Wanted string
}

// Quiet reports whether the machine had nothing else to do.
func (m machine) Quiet() bool { return m.Busy <= quiet }

// BusyPercent returns Busy in percent, for people.
func (m machine) BusyPercent() string { return fmt.Sprintf("%.0f %%", 100*m.Busy) }

// IsBBR reports whether the congestion control is one of bbr's versions.
func (m machine) IsBBR() bool { return strings.HasPrefix(m.Control, "bbr") }

// decide finds the congestion control that labs can have, if another is wanted.
func (m *machine) decide(want string) error {
	const directory = "/proc/sys/net/ipv4/"
	own, err := os.ReadFile(directory + "tcp_congestion_control")
	if err != nil {
		return err
	}
	allowed, err := os.ReadFile(directory + "tcp_allowed_congestion_control")
	m.Control, m.Wanted = permitted(want, strings.TrimSpace(string(own)), string(allowed)), want
	return err
}

func describe(ctx context.Context) machine {
	m := machine{Kernel: "unknown", CPU: runtime.GOARCH, CPUs: runtime.NumCPU(), Mininet: "unknown",
		Iperf3: "no iperf3"}
	if out, err := output(ctx, "uname", "-r"); err == nil {
		m.Kernel = strings.TrimSpace(string(out))
	}
	if out, err := output(ctx, "dpkg-query", "-W", "-f", "${Version}", "mininet"); err == nil {
		m.Mininet = string(out)
	}
	if out, err := output(ctx, "iperf3", "--version"); err == nil {
		m.Iperf3, _, _ = strings.Cut(string(out), " (")
		m.Iperf3 = strings.Replace(m.Iperf3, "iperf ", "iperf3 ", 1)
	}
	files, err := procfs.NewDefaultFS()
	if err != nil {
		return m
	}
	if cpus, err := files.CPUInfo(); err == nil && len(cpus) > 0 && cpus[0].ModelName != "" {
		m.CPU = cpus[0].ModelName
	}
	if memory, err := files.Meminfo(); err == nil && memory.MemTotalBytes != nil {
		m.MemoryGiB = float64(*memory.MemTotalBytes) / (1 << 30)
	}
	return m
}
