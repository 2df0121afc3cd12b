//go:build linux && !portable

package netlink_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	. "linerate/internal/kernel/netlink"
)

// TestProbeARP: every machine that answers for an address is seen, once, and none that
// holds another address.
func TestProbeARP(t *testing.T) {
	kerneltest.InNamespace(t, askARP)
}

func askARP(t *testing.T) {
	kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run")
	for _, words := range []string{
		"link add dev br type bridge", "link set dev br address 02:00:00:00:00:01", "link set dev br up",
		"addr add 10.1.0.1/24 dev br",
		"netns add a", "netns add b", "netns add c",
		"link add dev a0 type veth peer name eth0 netns a", "link add dev b0 type veth peer name eth0 netns b",
		"link add dev c0 type veth peer name eth0 netns c",
		"-n a link set dev eth0 address 02:00:00:00:00:0a", "-n b link set dev eth0 address 02:00:00:00:00:0b",
		"-n c link set dev eth0 address 02:00:00:00:00:0c",
		"-n a link set dev eth0 up", "-n b link set dev eth0 up", "-n c link set dev eth0 up",
		"link set dev a0 master br up", "link set dev b0 master br up", "link set dev c0 master br up",
		"-n a addr add 10.1.0.7/24 dev eth0", "-n b addr add 10.1.0.7/24 dev eth0",
		"-n c addr add 10.1.0.8/24 dev eth0",
	} {
		kerneltest.Do(t, "ip", strings.Fields(words)...)
	}
	for _, port := range []string{"a0", "b0", "c0"} {
		kerneltest.Forwards(t, port)
	}
	conn, err := Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	br, err := conn.LinkByName("br")
	if err != nil {
		t.Fatal(err)
	}
	var questions []ARP
	for _, address := range []string{"10.1.0.7", "10.1.0.8", "10.1.0.9"} {
		questions = append(questions, ARP{Index: br.Index, MAC: br.MAC, Address: netip.MustParseAddr(address)})
	}
	answers, err := ProbeARP(questions, 300*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range answers {
		got = append(got, a.Address.String()+" "+a.MAC)
	}
	slices.Sort(got)
	if want := []string{"10.1.0.7 02:00:00:00:00:0a", "10.1.0.7 02:00:00:00:00:0b",
		"10.1.0.8 02:00:00:00:00:0c"}; !slices.Equal(got, want) {
		t.Errorf("answers %q, want %q", got, want)
	}
	if neighbours := kerneltest.Do(t, "ip", "-n", "a", "neigh"); strings.TrimSpace(neighbours) != "" {
		t.Errorf("a probe has taught its receiver %q", neighbours)
	}
}
