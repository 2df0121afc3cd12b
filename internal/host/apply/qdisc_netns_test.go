//go:build linux && !portable

package apply

import (
	"bytes"
	"cmp"
	"errors"
	"net"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// kindCases is a qdisc of each kind that may be a module, with all of its options.
func kindCases() map[string]setting.Qdisc {
	yes, no := true, false
	return map[string]setting.Qdisc{
		"fq":            {Kind: "fq", Limit: 900},
		"codel":         {Kind: "codel", Limit: 900, Target: 7e6, Interval: 130e6, ECN: &yes},
		"fq_codel":      {Kind: "fq_codel", Limit: 900, Target: 7e6, Interval: 130e6, ECN: &no},
		"cake":          {Kind: "cake"},
		"cake, shaped":  {Kind: "cake", Rate: 95e6},
		"sfq":           {Kind: "sfq", Limit: 300, Perturb: 10e9},
		"red":           {Kind: "red", Limit: 400_000},
		"red, all":      {Kind: "red", Limit: 400_000, Min: 30_000, Max: 90_000, Probability: 0.1, ECN: &yes},
		"ets":           {Kind: "ets", Bands: 4, Strict: 2, Quanta: []unit.Bytes{3000, 1514}},
		"ets, one of 3": {Kind: "ets", Bands: 3, Quanta: []unit.Bytes{3000}},
	}
}

// withQdiscKinds adds a setting for each of them.
func withQdiscKinds(cases map[string]setting.Setting) map[string]setting.Setting {
	for name, q := range kindCases() {
		q.Interface = "eth0"
		cases["qdisc "+name] = setting.Setting{Qdisc: &q}
	}
	return cases
}

// needKind skips the test if this kernel has no such qdisc.
func needKind(t *testing.T, kind string) {
	t.Helper()
	conn, err := netlink.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	spec := netlink.QdiscSpec{Handle: 9 << 16, Qdisc: setting.Qdisc{Kind: kind, Limit: 100_000, Bands: 2}}
	if err := conn.ReplaceQdisc("far0", spec); errors.Is(err, syscall.ENOENT) {
		kerneltest.Without(t, err.Error())
	}
	if err := conn.DeleteRootQdisc("far0"); err != nil {
		t.Fatal(err)
	}
}

// TestQdiscKinds: each kind is what the command of package hostconfig makes, and is
// reverted.
func TestQdiscKinds(t *testing.T) {
	for name, q := range kindCases() {
		t.Run(name, func(t *testing.T) {
			kerneltest.InNamespace(t, func(t *testing.T) {
				scene(t)
				needKind(t, q.Kind)
				q.Interface = "eth1"
				m := open(t, "")
				before := look(t)
				s := setting.Setting{Host: "nas", Qdisc: &q}
				if _, _, err := applySettings(m, t.Context(), []setting.Setting{s}, false); err != nil {
					t.Fatal(err)
				}
				set := kernelQdisc(t)
				if err := m.RevertTo(0); err != nil {
					t.Fatal(err)
				}
				if d := differences(before, look(t)); d != "" {
					t.Errorf("not as before:\n%s", d)
				}
				for _, command := range hostconfig.Commands([]setting.Setting{s}) {
					t.Log(command)
					kerneltest.Do(t, "sh", "-c", command)
				}
				if by := kernelQdisc(t); by.Kind != set.Kind || !bytes.Equal(by.Options, set.Options) {
					t.Errorf("by the setting %x, by the command %x", set.Options, by.Options)
				}
			})
		})
	}
}

// kernelQdisc is the root qdisc of eth1.
func kernelQdisc(t *testing.T) netlink.Qdisc {
	t.Helper()
	conn, err := netlink.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	list, err := conn.Qdiscs(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range list {
		if q.Interface == "eth1" && q.IsRoot() {
			return q
		}
	}
	t.Fatal("eth1 has no root qdisc")
	return netlink.Qdisc{}
}

// TestQdiscsAreRestored: what an administrator has set is there again after a setting, with
// the options of which a setting knows nothing; what could not be is refused.
func TestQdiscsAreRestored(t *testing.T) {
	for prior, refused := range map[string]string{
		"fq limit 800 flow_limit 50 maxrate 90mbit":                                        "",
		"codel limit 800 target 3ms interval 77ms ce_threshold 9ms":                        "",
		"fq_codel limit 800 flows 512 target 3ms interval 77ms quantum 3000":               "",
		"cake bandwidth 90mbit besteffort dual-srchost rtt 60ms overhead 22 mpu 64 atm":    "",
		"cake unlimited diffserv4 ack-filter wash memlimit 3mb":                            "",
		"sfq limit 400 perturb 20 quantum 3000 depth 60 divisor 2048":                      "",
		"ets bands 5 strict 2 quanta 2000 3000 4000 priomap 4 3 2 1 0 0 0 0 0 0 0 0 0 0 0": "",
		"red limit 400000 avpkt 1000 bandwidth 80mbit":                                     "table for idle times",
		"pfifo limit 9": "",
	} {
		t.Run(prior, func(t *testing.T) {
			kerneltest.InNamespace(t, func(t *testing.T) {
				scene(t)
				needKind(t, strings.Fields(prior)[0])
				kerneltest.Do(t, "sh", "-c", "tc qdisc replace dev eth1 root handle 7: "+prior)
				before, m := kernelQdisc(t), open(t, "")
				_, _, err := applySettings(m, t.Context(),
					[]setting.Setting{{Host: "nas", Qdisc: &setting.Qdisc{Interface: "eth1", Kind: "bfifo",
						Limit: 90_000}}}, false)
				if refused != "" {
					if err == nil || !strings.Contains(err.Error(), refused) {
						t.Errorf("want %q, got %v", refused, err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := m.RevertTo(0); err != nil {
					t.Fatal(err)
				}
				if after := kernelQdisc(t); after.Kind != before.Kind || after.Handle != before.Handle ||
					!bytes.Equal(after.Options, before.Options) {
					t.Errorf("before %x, after %x", before.Options, after.Options)
				}
			})
		})
	}
}

// TestSizeTable: a qdisc whose size table would be lost is left alone.
func TestSizeTable(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		kerneltest.Do(t, "sh", "-c",
			"tc qdisc replace dev eth1 root handle 7: stab overhead 24 tbf rate 1gbit burst 64k limit 1m")
		_, _, err := applySettings(open(t, ""), t.Context(),
			[]setting.Setting{{Host: "nas", Qdisc: &setting.Qdisc{Interface: "eth1", Kind: "pfifo"}}}, false)
		if err == nil || !strings.Contains(err.Error(), "size table") {
			t.Errorf("got %v", err)
		}
	})
}

// TestLinkQueue: on the rate of a lab's link a qdisc is the link's queue, a tbf its rate,
// and the undo leaves the queue of before.
func TestLinkQueue(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		kerneltest.Do(t, "sh", "-c",
			"tc qdisc replace dev eth0 root handle 1e6f: tbf rate 100mbit burst 64k limit 300000")
		all := func() string {
			// The kernel's own have handle 0:, and are not in the list of all.
			return kerneltest.Do(t, "tc", "qdisc", "show", "dev", "eth0", "invisible")
		}
		before, m := all(), open(t, "")
		if !strings.Contains(before, "bfifo 0: parent 1e6f:1 limit 300000b") {
			t.Fatalf("a link's queue is no bfifo:\n%s", before)
		}
		queue := setting.Setting{Host: "nas", Qdisc: &setting.Qdisc{Interface: "eth0", Kind: "pfifo", Limit: 77}}
		longer := setting.Setting{Host: "nas", Qdisc: &setting.Qdisc{Interface: "eth0", Kind: "bfifo", Limit: 99_000}}
		faster := setting.Setting{Host: "nas", Qdisc: &setting.Qdisc{Interface: "eth0", Kind: "tbf", Rate: 2e8,
			Burst: 32 << 10, Limit: 44_000}}
		slower := setting.Setting{Host: "nas", Qdisc: &setting.Qdisc{Interface: "eth0", Kind: "tbf", Rate: 5e7,
			Burst: 32 << 10, Limit: 44_000}}
		for _, test := range []struct {
			settings []setting.Setting
			want     []string
		}{
			{[]setting.Setting{queue}, []string{"tbf 1e6f: root", "rate 100Mbit",
				"pfifo 1e70: parent 1e6f:1 limit 77p"}},
			{[]setting.Setting{queue, longer}, []string{"rate 100Mbit", "parent 1e6f:1 limit 99000b"}},
			{[]setting.Setting{faster}, []string{"tbf 1e6f: root", "rate 100Mbit burst 32Kb",
				"bfifo 0: parent 1e6f:1 limit 44000b"}},
			{[]setting.Setting{slower}, []string{"tbf 1e6f: root", "rate 50Mbit"}},
			{[]setting.Setting{slower, queue}, []string{"tbf 1e6f: root", "rate 50Mbit",
				"pfifo 1e70: parent 1e6f:1 limit 77p"}},
		} {
			if _, _, err := applySettings(m, t.Context(), test.settings, false); err != nil {
				t.Fatal(err)
			}
			got := all()
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("%v: no %q in\n%s", test.settings, want, got)
				}
			}
			if err := m.RevertTo(0); err != nil {
				t.Fatal(err)
			}
			if after := all(); after != before {
				t.Errorf("%v: before\n%safter\n%s", test.settings, before, after)
			}
		}
		if _, _, err := applySettings(m, t.Context(), []setting.Setting{queue, slower}, false); err == nil ||
			!strings.Contains(err.Error(), "set the tbf first") {
			t.Errorf("a tbf that replaces a fifo's limit: %v", err)
		}
		if after := all(); after != before {
			t.Errorf("after a refusal:\n%s", after)
		}
	})
}

// TestLinkForwards: packets that wait when the rate of a lab's link changes, and are larger
// than its new burst, do not stop the link; whatever its queue is stays.
func TestLinkForwards(t *testing.T) {
	for _, kind := range []string{"", "pfifo"} {
		t.Run(cmp.Or(kind, "own queue"), func(t *testing.T) {
			kerneltest.InNamespace(t, func(t *testing.T) {
				scene(t)
				kerneltest.Do(t, "sh", "-c",
					"tc qdisc replace dev eth0 root handle 1e6f: tbf rate 100mbit burst 9000 limit 300000; ip link "+
						"set dev eth0 mtu 20000; ip link set dev far0 mtu 20000")
				settings := []setting.Setting{
					{Host: "nas", Qdisc: &setting.Qdisc{Interface: "eth0", Kind: "tbf", Rate: 80_000, Burst: 64 << 10,
						Limit: 200_000}}}
				if kind != "" {
					settings = append(settings, setting.Setting{Host: "nas", Qdisc: &setting.Qdisc{Interface: "eth0",
						Kind: kind, Limit: 77}})
				}
				m := open(t, "")
				if _, _, err := applySettings(m, t.Context(), settings, false); err != nil {
					t.Fatal(err)
				}
				peer, err := net.Dial("udp", "10.1.0.9:9")
				if err != nil {
					t.Fatal(err)
				}
				defer peer.Close()
				send := func(size, number int) {
					for range number {
						if _, err := peer.Write(make([]byte, size)); err != nil {
							t.Fatal(err)
						}
					}
				}
				received := func() string {
					return kerneltest.Do(t, "sh", "-c", "ip -s link show dev far0 | sed -n 4p")
				}
				send(15_000, 8) // the bucket holds four
				state := kerneltest.Do(t, "tc", "-s", "qdisc", "show", "dev", "eth0")
				if waiting := regexp.MustCompile(`backlog \S+ [1-9][0-9]*p`); !waiting.MatchString(state) {
					t.Fatalf("no packets wait:\n%s", state)
				}
				if err := m.RevertTo(0); err != nil {
					t.Fatal(err)
				}
				before := received()
				send(100, 1)
				for until := time.Now().Add(10 * time.Second); received() == before; time.Sleep(time.Millisecond) {
					if time.Now().After(until) {
						t.Fatalf("nothing leaves the link:\n%s", kerneltest.Do(t, "tc", "-s", "qdisc", "show", "dev",
							"eth0", "invisible"))
					}
				}
			})
		})
	}
}

// TestDefaultOfQueues: the default of an interface with several queues says what each has, so
// that an undo which leaves another kind is seen.
func TestDefaultOfQueues(t *testing.T) {
	kerneltest.Parallel(t)
	if err := netlink.HasTun(); err != nil {
		kerneltest.Skip(t, err.Error())
	}
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "tuntap", "add", "dev", "q0", "mode", "tap", "multi_queue")
		kerneltest.Do(t, "ip", "link", "set", "dev", "q0", "up")
		m := open(t, "")
		applied, _, err := applySettings(m, t.Context(),
			[]setting.Setting{{Host: "nas", Qdisc: &setting.Qdisc{Interface: "q0", Kind: "pfifo"}}}, false)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`^default \(mq of [a-z_]+\)$`).MatchString(applied[0].Prior) {
			t.Errorf("prior %q", applied[0].Prior)
		}
		if err := m.RevertTo(0); err != nil {
			t.Error(err)
		}
	})
}
