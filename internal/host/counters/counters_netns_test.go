//go:build linux && !portable

package counters

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/netstate"
)

func open(t *testing.T) *Reader {
	t.Helper()
	r, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// read takes all there is, as at an edge of a window.
func read(r *Reader) netstate.Reading {
	reading := netstate.Reading{BeganNs: sched.Now()}
	r.Counts(&reading)
	r.Machine(&reading)
	reading.EndedNs = sched.Now()
	return reading
}

func scene(t *testing.T) {
	t.Helper()
	for _, words := range []string{
		"link set lo up",
		"link add dev eth1 type veth peer name far1",
		"link add dev eth0 type veth peer name far0",
		"link add dev br type bridge",
		"link set dev far0 master br", "link set dev far1 master br",
		"link set dev eth0 up", "link set dev eth1 up", "link set dev far0 up", "link set dev far1 up",
		"link set dev br up",
		"addr add 10.1.0.1/24 dev eth0", "addr add 10.2.0.1/24 dev eth1",
		"neigh add 10.1.0.9 lladdr 02:00:00:00:00:09 dev eth0",
		"route add 10.9.0.0/16 via 10.1.0.9", "rule add from 10.2.0.1 lookup 100 pref 99",
	} {
		kerneltest.Do(t, "ip", strings.Fields(words)...)
	}
}

func TestReading(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		kerneltest.Do(t, "tc", "qdisc", "replace", "dev", "eth0", "root", "handle", "7:", "pfifo", "limit", "9")
		r := open(t)
		before := read(r)
		conn, err := net.Dial("udp", "10.1.0.9:9")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		const sent, size = 40, 100
		for range sent {
			if _, err := conn.Write(make([]byte, size)); err != nil {
				t.Fatal(err)
			}
		}
		after := read(r)
		if len(before.Missing)+len(after.Missing) > 0 {
			t.Errorf("missing: %v, %v", before.Missing, after.Missing)
		}
		if before.EndedNs < before.BeganNs || after.BeganNs < before.EndedNs {
			t.Errorf("instants: %d–%d, %d–%d", before.BeganNs, before.EndedNs, after.BeganNs, after.EndedNs)
		}
		var names []string
		for i, p := range after.Interfaces {
			names = append(names, p.Interface)
			if p.AtNs < after.BeganNs || p.AtNs > after.EndedNs {
				t.Errorf("%s was read at %d, outside %d–%d", p.Interface, p.AtNs, after.BeganNs, after.EndedNs)
			}
			if p.Interface != "eth0" {
				continue
			}
			// Ethernet, IPv4 and UDP headers: 14 + 20 + 8 bytes.
			if packets, bytes := p.TxPackets-before.Interfaces[i].TxPackets,
				p.TxBytes-before.Interfaces[i].TxBytes; packets < sent || bytes < sent*(size+42) {
				t.Errorf("eth0 sent %d packets, %d bytes; %d datagrams of %d were written", packets, bytes, sent, size)
			}
		}
		if want := []string{"br", "eth0", "eth1", "far0", "far1"}; !reflect.DeepEqual(names, want) {
			t.Errorf("interfaces %v, want %v", names, want)
		}
		if len(after.Qdiscs) != 1 || after.Qdiscs[0].Kind != "pfifo" || after.Qdiscs[0].Handle != "7:" ||
			after.Qdiscs[0].Packets-before.Qdiscs[0].Packets < sent {
			t.Errorf("qdiscs %+v, before %+v", after.Qdiscs, before.Qdiscs)
		}
		if rise := after.SNMP["Udp.OutDatagrams"] - before.SNMP["Udp.OutDatagrams"]; rise != sent {
			t.Errorf("Udp.OutDatagrams of this namespace rose by %d, want %d", rise, sent)
		}
		if len(after.CPU) < 2 || after.CPU[0].CPU != -1 || len(after.Softnet) == 0 || after.Softirqs["NET_RX"] == 0 {
			t.Errorf("host counters: %+v %+v %v", after.CPU, after.Softnet, after.Softirqs)
		}
		var again netstate.Reading
		r.Counts(&again)
		light, queues := again.Interfaces, again.Qdiscs
		if len(light) != len(after.Interfaces) || light[1].TxPackets < after.Interfaces[1].TxPackets {
			t.Errorf("light reading: %+v", light)
		}
		if len(queues) != 1 || queues[0].Interface != "eth0" || queues[0].Packets < after.Qdiscs[0].Packets {
			t.Errorf("queues of a light reading: %+v", queues)
		}

		// An interface that comes, and one that is renamed, are read without a new reader.
		kerneltest.Do(t, "ip", "link", "add", "dev", "new0", "type", "veth", "peer", "name", "new1")
		kerneltest.Do(t, "ip", "link", "set", "dev", "far1", "down")
		kerneltest.Do(t, "ip", "link", "set", "dev", "far1", "name", "zar1")
		read(r)
		names = nil
		for _, p := range read(r).Interfaces {
			names = append(names, p.Interface)
		}
		if want := []string{"br", "eth0", "eth1", "far0", "new0", "new1", "zar1"}; !reflect.DeepEqual(names, want) {
			t.Errorf("interfaces %v, want %v", names, want)
		}
	})
}

// TestMultiQueue: the children of mq, which all have handle 0:, are told apart by their keys.
func TestMultiQueue(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "add", "dev", "eth0", "numtxqueues", "2", "type", "veth", "peer", "name", "far0")
		kerneltest.Do(t, "ip", "link", "set", "dev", "eth0", "up")
		kerneltest.Do(t, "tc", "qdisc", "add", "dev", "eth0", "root", "handle", "7:", "mq")
		list := read(open(t)).Qdiscs
		var parents []string
		for i, q := range list {
			parents = append(parents, q.Parent)
			if i > 0 && (q.Handle != "0:" || q.Kind != list[1].Kind) {
				t.Errorf("a child of mq: %+v", q)
			}
		}
		sort.Strings(parents)
		if want := []string{"7:1", "7:2", "root"}; !reflect.DeepEqual(parents, want) {
			t.Errorf("%+v: parents %v, want %v", list, parents, want)
		}
	})
}

func TestSnapshot(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		kerneltest.Forwards(t, "far1")
		kerneltest.Do(t, "bridge", "fdb", "add", "02:00:00:00:00:55", "dev", "far1", "master", "dynamic")
		kerneltest.Do(t, "tc", "qdisc", "replace", "dev", "eth0", "root", "handle", "7:", "tbf", "rate", "100mbit",
			"burst", "16kb", "limit", "3000")
		kerneltest.Do(t, "tc", "qdisc", "replace", "dev", "eth0", "parent", "7:1", "handle", "8:", "pfifo",
			"limit", "2")
		r := open(t)
		s, err := r.Snapshot("nas", []netstate.RouteLookup{
			{Source: "10.1.0.1", Destination: "10.9.3.3"},
			{Source: "", Destination: "192.0.2.1"},
			{Source: "nonsense", Destination: "10.1.0.2"},
		}, []string{"net.ipv4.tcp_sack", "net.ipv4.no_such"})
		if err != nil {
			t.Fatal(err)
		}
		tables := r.Tables()
		if s.BeganNs <= 0 || s.EndedNs <= s.BeganNs || tables.BeganNs < s.EndedNs || tables.EndedNs <= tables.BeganNs {
			t.Errorf("instants: snapshot %d–%d, tables %d–%d", s.BeganNs, s.EndedNs, tables.BeganNs, tables.EndedNs)
		}
		if len(s.Missing) != 1 || !strings.Contains(s.Missing[0], "net.ipv4.no_such") {
			t.Errorf("missing: %v", s.Missing)
		}
		if s.Host != "nas" || len(s.Interfaces) != 5 || s.Interfaces[1].Interface != "eth0" ||
			s.Interfaces[1].Kind != "veth" ||
			!s.Interfaces[1].Up || len(s.Interfaces[1].Addresses) == 0 ||
			s.Interfaces[1].Addresses[0] != "10.1.0.1/24" || s.Interfaces[3].Master != "br" {
			t.Errorf("interfaces: %+v", s.Interfaces)
		}
		if q := s.Interfaces[1].Qdiscs; len(q) != 2 || q[0].Parent != "root" || q[0].Kind != "tbf" ||
			q[0].Options["limit"] != "3000" || q[1].Parent != "7:1" || q[1].Options["limit"] != "2" {
			t.Errorf("qdiscs: %+v", q)
		}
		if !has(s.Neighbours, func(n netstate.Neighbour) bool {
			return n == netstate.Neighbour{Interface: "eth0", Address: "10.1.0.9", MAC: "02:00:00:00:00:09",
				State: "PERMANENT"}
		}) {
			t.Errorf("neighbours: %+v", s.Neighbours)
		}
		if !has(s.FDB, func(e netstate.FDBEntry) bool {
			return e == netstate.FDBEntry{MAC: "02:00:00:00:00:55", Interface: "far1"}
		}) {
			t.Errorf("forwarding table: %+v", s.FDB)
		}
		if !has(s.Rules, func(e netstate.RuleEntry) bool {
			return e == netstate.RuleEntry{Priority: 99, From: "10.2.0.1/32", Table: 100}
		}) {
			t.Errorf("rules: %+v", s.Rules)
		}
		if !has(s.Routes, func(e netstate.RouteEntry) bool {
			return e.Table == 254 && e.Text == "10.9.0.0/16 via 10.1.0.9 dev eth0 proto boot"
		}) {
			t.Errorf("routes: %+v", s.Routes)
		}
		if l := s.Lookups; l[0].Interface != "eth0" || l[0].Gateway != "10.1.0.9" || l[0].Error != "" ||
			l[1].Error == "" || l[2].Error == "" {
			t.Errorf("lookups: %+v", l)
		}
		for _, key := range []string{
			"net.ipv4.conf.all.arp_ignore", "net.ipv4.conf.default.rp_filter", "net.ipv4.conf.eth1.arp_announce",
			"net.ipv4.conf.far0.arp_filter", "net.ipv4.ip_forward", "net.ipv4.tcp_rmem",
			"net.ipv4.tcp_congestion_control", "net.ipv4.tcp_sack",
		} {
			if _, found := s.Sysctls[key]; !found {
				t.Errorf("no %s in %v", key, s.Sysctls)
			}
		}
		if strings.Contains(s.Sysctls["net.ipv4.tcp_rmem"], "\t") {
			t.Errorf("tcp_rmem is %q", s.Sysctls["net.ipv4.tcp_rmem"])
		}
	})
}

func has[T any](list []T, match func(T) bool) bool {
	for _, v := range list {
		if match(v) {
			return true
		}
	}
	return false
}

// A source that cannot be read is named, and takes nothing else with it.
func TestReadingDegrades(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "net"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "stat"), []byte("cpu  1 2 3 4 5 6 7 8\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "net", "softnet_stat"), []byte("garbage\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		r := open(t)
		r.proc.Root = root
		reading := read(r)
		var parts []string
		for _, m := range reading.Missing {
			part, _, _ := strings.Cut(m, ":")
			parts = append(parts, part)
		}
		sort.Strings(parts)
		if want := []string{"events", "memory", "snmp", "softirqs", "softnet"}; !reflect.DeepEqual(parts, want) {
			t.Errorf("missing %v, want %v", reading.Missing, want)
		}
		if len(reading.CPU) != 1 || len(reading.Interfaces) != 5 {
			t.Errorf("what can be read: %+v %+v", reading.CPU, reading.Interfaces)
		}
		if _, err := json.Marshal(reading); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkCounts(b *testing.B) {
	r, err := New()
	if err != nil {
		b.Skip(err)
	}
	defer r.Close()
	b.ReportAllocs()
	for b.Loop() {
		r.Counts(&netstate.Reading{})
	}
}

func BenchmarkRead(b *testing.B) {
	r, err := New()
	if err != nil {
		b.Skip(err)
	}
	defer r.Close()
	b.ReportAllocs()
	for b.Loop() {
		read(r)
	}
}
