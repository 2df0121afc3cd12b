//go:build linux

package cli

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/fabric"
	"linerate/internal/model/lldp"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

func init() { linuxPrograms["announce-lldp"] = announceLLDP }

// announceLLDP sends LLDP frames from an interface until it is killed: lldp INTERFACE SYSTEM PORT.
func announceLLDP() {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	link, err := net.InterfaceByName(os.Args[1])
	fail(err)
	protocol := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, lldp.EtherType))
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_DGRAM, 0)
	fail(err)
	to := &syscall.SockaddrLinklayer{Protocol: protocol, Ifindex: link.Index, Halen: 6}
	copy(to.Addr[:], lldp.Groups[0][:])
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		fail(syscall.Sendto(fd, lldp.Make([6]byte(link.HardwareAddr), os.Args[2], os.Args[3], 120), 0, to))
	}
}

// discovered is what discover --json prints.
func discovered(t *testing.T, l *labUnderTest, args ...string) (f fabric.Fabric) {
	t.Helper()
	cmd := command(t, context.Background(), l.dir, append([]string{"discover", "--json"}, args...)...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	if err := json.Unmarshal(out, &f); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return f
}

// parsedStudy is a study file as it is run.
func parsedStudy(t *testing.T, file string) *study.Study {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse(file, text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// graph lists the links of a topology with their rates and MTUs, and the addresses of hosts.
func graph(t *topology.Topology) (list []string) {
	for _, l := range t.Links {
		if l.To.String() < l.From.String() {
			l.From, l.To = l.To, l.From
		}
		list = append(list, fmt.Sprintf("%s %s %s %d", l.From, l.To, l.Rate, l.Towards(l.From).MTU))
	}
	for _, h := range t.Hosts {
		for name, a := range h.Addresses() {
			list = append(list, fmt.Sprint(h.Name, ".", name, " ", a))
		}
	}
	slices.Sort(list)
	return list
}

// TestDiscover: what is discovered of a lab of leaves and spines is the lab's own graph; as a lab it is
// run, and its flows take the links that the kernels predict. Of hosts alone the leaves are known by LLDP.
func TestDiscover(t *testing.T) {
	kerneltest.Parallel(t)
	l := labUpFor(t, "fabric.yaml")
	want := graph(&parsedStudy(t, controltest.File(t, "fabric.yaml")).Topology)
	twin := filepath.Join(l.dir, "twin.yaml")
	f := discovered(t, l, "--lab", l.name, "--lldp", "0s", "--twin", "-o", twin)
	if got := graph(&f.Topology); !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r := f.Racks(); len(r) != 2 || r["host1"] != "leaf1" || r["host2"] != "leaf2" {
		t.Errorf("racks %v", r)
	}
	s := parsedStudy(t, twin)
	if got := graph(&s.Topology); !slices.Equal(got, want) {
		t.Errorf("the study has\n%s", strings.Join(got, "\n"))
	}
	again := discovered(t, l, "--lab", l.name, "--lldp", "0s")
	if fmt.Sprint(again.Links) != fmt.Sprint(f.Links) || fmt.Sprint(again.Unknown) != fmt.Sprint(f.Unknown) {
		t.Errorf("another time it is\n%+v\n%+v", again, f)
	}

	t.Run("twin", func(t *testing.T) {
		kerneltest.Long(t)
		run := runLab(t, l.dir, twin, "--replicates", "1", "--only", "8 flows", "--seed", "7")
		if h := run.Conclusion.Hashing; h == nil || h.Known == 0 || h.Took < h.Known*9/10 {
			t.Errorf("hashing %+v", h)
		}
	})
	t.Run("real", func(t *testing.T) {
		file := filepath.Join(l.dir, "real.yaml")
		discovered(t, l, "--lab", l.name, "--lldp", "0s", "-o", file)
		if via := parsedStudy(t, file).Topology.Hosts[0].Via; !slices.Equal(via, []string{"linerate", "lab", "exec",
			"--lab", l.name, "host1", "--"}) {
			t.Errorf("%v", via)
		}
		cmd := command(t, t.Context(), l.dir, "discover", "--lab", l.name, "--lldp", "0s", "-o", file)
		if status, out := statusOf(t, cmd); status != ExitUsage || !strings.Contains(out, "exists: --force") {
			t.Errorf("%d, %s", status, out)
		}
	})
	t.Run("hosts alone", func(t *testing.T) {
		var words []string
		for i := range 2 {
			leaf, host := fmt.Sprint("leaf", i+1), fmt.Sprint("host", i+1)
			sender := l.exec(t, leaf, "announce-lldp", "hosts", fmt.Sprint("rack-", i+1, ".example.org"), "swp12")
			if err := sender.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = sender.Process.Kill(); _ = sender.Wait() })
			words = append(words, "--via", host+"=linerate lab exec --lab "+l.name+" "+host+" --")
		}
		f := discovered(t, l, append(words, "--lldp", "60s", "-o", filepath.Join(l.dir, "hosts.yaml"))...)
		got := fmt.Sprint(f.Racks(), f.Links)
		if r := f.Racks(); r["host1"] != "rack-1" || r["host2"] != "rack-2" || len(f.Switches) != 3 ||
			len(f.Links) != 4 ||
			f.Links[2].From.String() != "rack-1.core" || f.Links[0].Source != fabric.SourceLLDP ||
			f.Links[0].To.String() != "rack-1.swp12" {
			t.Errorf("%s\n%+v", got, f)
		}
		if !slices.ContainsFunc(f.Unknown, func(u fabric.Unknown) bool {
			return strings.Contains(u.What, "how rack-1 and rack-2 are connected") && strings.Contains(u.Tell,
				"--switch")
		}) {
			t.Errorf("%q", f.Unknown)
		}
		parsedStudy(t, filepath.Join(l.dir, "hosts.yaml"))
	})
}
