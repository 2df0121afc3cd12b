//go:build linux && !portable

package hoststate

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/diagnose"
	"linerate/internal/show/wording"
)

// fakeLLDP puts a program of the name lldpcli on the PATH, which is otherwise as it was.
func fakeLLDP(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lldpcli"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// TestLLDPProgram: what lldpcli prints is read, and what it does else is a reason: it waits, it
// prints without end, it fails, it is not there.
func TestLLDPProgram(t *testing.T) {
	fakeLLDP(t,
		`[ "$*" = "-f json show neighbors details" ] && [ -z "$LINERATE_TOKEN" ] && echo '{"lldp":{"interface":{"eth0":{"via":"LLDP","chassis":{"sw1":{"id":{"value":"x"}}},"port":{"id":{"value":"Gi1/0/7"}}}}}}'`)
	t.Setenv("LINERATE_TOKEN", "secret")
	list, err := lldpNeighbours(t.Context())
	if err != nil || len(list) != 1 || list[0].Place() != "port Gi1/0/7 of sw1" {
		t.Errorf("%+v, %v", list, err)
	}
	for script, want := range map[string]string{
		"echo 'unable to connect to socket' >&2; exit 1": "unable to connect to socket",
		"exec sleep 60":                "did not end within",
		"sleep 4 & echo '{}'":          "did not end within", // what it leaves behind has its output
		"exec cat /dev/zero":           "more than",
		"while :; do echo x >&2; done": "did not end within",
		"echo no JSON":                 "expected JSON",
	} {
		t.Run(script, func(t *testing.T) {
			fakeLLDP(t, script)
			began := time.Now()
			list, err := lldpNeighbours(t.Context())
			if len(list) > 0 || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%+v, %v, want %q", list, err, want)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := lldpNeighbours(t.Context()); err == nil || !strings.Contains(err.Error(), "not on the PATH") {
		t.Errorf("without lldpcli: %v", err)
	}
}

// TestLLDPNamespace: in a network namespace that is not the machine's first, the daemon's
// neighbours are those of other interfaces: no program is executed, and the part says why.
func TestLLDPNamespace(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		fakeLLDP(t, "echo '{\"lldp\":{\"interface\":{\"eth0\":{\"port\":{}}}}}'")
		s, err := Read(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(s.State.Parts, func(p netstate.StatePart) bool { return p.Part == "lldp" })
		if len(s.State.LLDP) > 0 || i < 0 || !strings.Contains(s.State.Parts[i].Missing, "first network namespace") {
			t.Errorf("%+v, parts %+v", s.State.LLDP, s.State.Parts)
		}
	})
}

// TestLLDPDaemon: neighbours of the real daemon, at the other end of a veth pair, with what it
// says of MTU and VLAN; and the rules find that the MTU is another one.
func TestLLDPDaemon(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		for _, program := range []string{"lldpd", "lldpcli"} {
			if _, err := exec.LookPath(program); err != nil {
				kerneltest.Skip(t, program+" is not installed")
			}
		}
		kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run") // of this test's mounts only
		kerneltest.Do(t, "mkdir", "-p", "/run/lldpd")
		other, err := netlink.NewNamespace("other")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(other.Close)
		kerneltest.Do(t, "ip", "link", "set", "dev", "lo", "up")
		own, err := netlink.NewNamespace("own") // to make the pair from; it is moved here
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(own.Close)
		a := netlink.LinkEnd{Namespace: own, Interface: "lldp0", MAC: "02:00:00:00:07:01", MTU: 1500}
		if err := a.NewVethPair(netlink.LinkEnd{Namespace: other, Interface: "lldp1", MAC: "02:00:00:00:07:02",
			MTU: 1500}); err != nil {
			t.Fatal(err)
		}
		daemon := func(ns *netlink.Namespace, socket, name string) {
			if err := ns.Do(func() error {
				kerneltest.Do(t, "ip", "link", "set", "dev", name, "up")
				command := exec.Command("lldpd", "-d", "-u", socket, "-I", name, "-S", "a host of a test")
				if err := command.Start(); err != nil {
					return err
				}
				t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		daemon(own, "/run/lldpd.socket", "lldp0")
		daemon(other, "/run/other.socket", "lldp1")
		var list []netstate.LLDPNeighbour
		await := func(what string, known func() bool) {
			for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
				// lldpd starts paused, and a client writes back the whole configuration that it read:
				// an update that meets the start pauses the daemon again.
				for _, verb := range []string{"resume", "update"} { // which sends at once
					_ = exec.Command("lldpcli", "-u", "/run/other.socket", verb).Run()
				}
				err := own.Do(func() (err error) { list, err = lldpNeighbours(t.Context()); return err })
				if err == nil && len(list) == 1 && known() {
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s: %+v, %v", what, list, err)
				}
			}
		}
		await("a neighbour", func() bool { return true })
		// VLAN 42 without a tag, frames of 9000 bytes
		for _, tlv := range []string{"00,80,c2 subtype 1 oui-info 00,2a", "00,12,0f subtype 4 oui-info 23,28"} {
			kerneltest.Do(t, "lldpcli", append([]string{"-u", "/run/other.socket", "configure", "lldp", "custom-tlv",
				"add", "oui"}, strings.Fields(tlv)...)...)
		}
		await("its VLAN and frame size", func() bool { return list[0].PVID == 42 && list[0].MFS == 9000 })
		n := list[0]
		if n.Interface != "lldp0" || n.Port != "02:00:00:00:07:02" || n.PortDescription != "lldp1" ||
			n.Description != "a host of a test" || n.Protocol != "LLDP" || !slices.Contains(n.Capabilities, "Station") {
			t.Errorf("%+v", n)
		}
		receivedLikewise(t, own, n)
		var s netstate.HostSnapshot
		if err := own.Do(func() (err error) {
			s, err = Read(context.Background(), Options{Name: "own"})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		s.State.LLDP = list
		e := wording.Evaluation(diagnose.Hosts([]netstate.HostSnapshot{s}))
		if i := slices.IndexFunc(e.Findings, func(f record.Finding) bool { return f.ID == "lldp-mtu" }); i < 0 ||
			!slices.ContainsFunc(e.Findings[i].Facts, func(f fact.Fact) bool {
				says, is := f.Is.(fact.LLDP)
				return is && says.Place == n.Place()
			}) {
			t.Errorf("%s", summary(e))
		}
	})
}

// receivedLikewise: the frames of the real daemon, received without one, say the same.
func receivedLikewise(t *testing.T, own *netlink.Namespace, want netstate.LLDPNeighbour) {
	t.Helper()
	received, ended := make(chan []netstate.LLDPNeighbour, 1), make(chan error, 1)
	go func() {
		ended <- own.Do(func() error {
			link, err := net.InterfaceByName("lldp0")
			if err != nil {
				return err
			}
			list, err := receiveLLDP(t.Context(), 30*time.Second, []netstate.InterfaceSnapshot{{Interface: "lldp0",
				Index: link.Index, MAC: link.HardwareAddr.String(), Up: true, Kind: "veth"}})
			received <- list
			return err
		})
	}()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
				return
			}
			list := <-received
			if len(list) != 1 || list[0].Chassis != want.Chassis || list[0].Port != want.Port ||
				list[0].MFS != want.MFS ||
				list[0].PVID != want.PVID || list[0].Description != want.Description || list[0].System != want.System ||
				!slices.Equal(list[0].Capabilities, want.Capabilities) {
				t.Errorf("received %+v, want %+v", list, want)
			}
			return
		case <-time.After(200 * time.Millisecond):
			_ = exec.Command("lldpcli", "-u", "/run/other.socket", "update").Run() // which sends at once
		}
	}
}
