package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/kernel/file"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/costtest"
	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

func encode(t testing.TB, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

func exampleHeader() header {
	return header{JournalSchema, "boot", netlink.NetNS{Inode: 7, Cookie: 8}, 9, time.Unix(1e9, 0).UTC()}
}

func exampleEntry(seq int) *entry {
	return &entry{Seq: seq, Kind: "sysctl", What: "net.ipv4.ip_forward", Scope: Namespace, Host: "nas",
		Setting: setting.Setting{Host: "nas", Sysctl: []setting.Sysctl{{Key: "net.ipv4.ip_forward", Value: "1"}}},
		Prior:   State{Text: "0"}, New: State{Text: "1", Object: netlink.Object{1, 2}},
		Around: dependents{Sysctls: []setting.Sysctl{{Key: "net.ipv4.conf.all.forwarding", Value: "0"}},
			Objects:    map[string][]kernelObject{"route": {{Text: "r", Object: netlink.Object{3}}}},
			Interfaces: []interfaceState{{"eth0", 1500, true}}}}
}

func exampleJournal(t testing.TB) []byte {
	amended := exampleEntry(2)
	amended.Around = dependents{}
	return bytes.Join([][]byte{
		encode(t, exampleHeader()), encode(t, line{Entry: exampleEntry(1)}), encode(t, line{Entry: exampleEntry(2)}),
		encode(t, line{Entry: amended}), encode(t, line{Done: 1}),
	}, nil)
}

func TestDecodeJournal(t *testing.T) {
	text := exampleJournal(t)
	h, entries, good, err := decodeJournal(text)
	if err != nil || h != exampleHeader() || good != len(text) {
		t.Fatalf("%+v, %d of %d, %v", h, good, len(text), err)
	}
	want := exampleEntry(2)
	want.Around = dependents{}
	want.offset = int64(len(encode(t, exampleHeader())) + len(encode(t, line{Entry: exampleEntry(1)})))
	if len(entries) != 1 || !reflect.DeepEqual(entries[0], want) {
		t.Errorf("entries: %+v", entries)
	}
	// Cut anywhere, it reads as far as the last whole line.
	for cut := range text {
		_, _, good, err := decodeJournal(text[:cut])
		if err != nil || good > cut || good != bytes.LastIndexByte(text[:cut], '\n')+1 {
			t.Fatalf("cut at %d: %d, %v", cut, good, err)
		}
	}
	for what, bad := range map[string]string{
		"schema":          `{"schema":"other/v1"}` + "\n",
		"line 1":          "nonsense\n",
		"line 2":          string(encode(t, exampleHeader())) + "{\n",
		"expected an ent": string(encode(t, exampleHeader())) + "{}\n",
		"never written":   string(encode(t, exampleHeader())) + `{"done":4}` + "\n",
		// A journal is root's own or the user's, but a mistaken one must do no harm either.
		"setting of kind": forged(t, func(e *entry) { e.Kind = "rule" }),
		"another one in":  forged(t, func(e *entry) { e.Setting.Sysctl[0].Key = "kernel.core_pattern" }),
		"expected machine": forged(t, func(e *entry) {
			e.What, e.Setting.Sysctl[0].Key = "kernel.core_pattern", "kernel.core_pattern"
		}),
		"does not change": forged(t, func(e *entry) { e.Around.Sysctls[0].Key = "kernel.core_pattern" }),
		"kind of object":  forged(t, func(e *entry) { e.Around.Objects["other"] = nil }),
	} {
		if _, _, _, err := decodeJournal([]byte(bad)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestCost: a journal of twice as many changes takes about twice the time to read, undone or not.
func TestCost(t *testing.T) {
	for name, undone := range map[string]bool{"changes": false, "undone changes": true} {
		costtest.Doubled(t, name, 10_000, 2.5, func(n int) func() {
			text := encode(t, exampleHeader())
			e := exampleEntry(1)
			e.Around = dependents{}
			for i := range n {
				e.Seq = i + 1
				text = append(text, encode(t, line{Entry: e})...)
			}
			for i := range n {
				if undone {
					text = append(text, encode(t, line{Done: i + 1})...)
				}
			}
			return func() {
				if _, _, good, err := decodeJournal(text); err != nil || good != len(text) {
					t.Error(err)
				}
			}
		})
	}
}

// forged is a journal with an entry that no agent writes.
func forged(t *testing.T, change func(*entry)) string {
	e := exampleEntry(1)
	change(e)
	return string(encode(t, exampleHeader())) + string(encode(t, line{Entry: e}))
}

// What is decoded encodes to a journal that decodes to the same.
func FuzzDecodeJournal(f *testing.F) {
	f.Add(exampleJournal(f))
	f.Add([]byte(`{"schema":"linerate.journal/v1"}` + "\n" +
		`{"entry":{"seq":1,"kind":"route","scope":"namespace","setting":{"route":{"to":"default"}}}}` + "\n" +
		`{"done":1}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, entries, good, err := decodeJournal(text)
		if err != nil || good == 0 {
			return
		}
		again := encode(t, h)
		for _, e := range entries {
			again = append(again, encode(t, line{Entry: e})...)
		}
		h2, entries2, good2, err := decodeJournal(again)
		if err != nil || good2 != len(again) || len(entries2) != len(entries) {
			t.Fatalf("%v\n%s", err, again)
		}
		third := encode(t, h2)
		for _, e := range entries2 {
			third = append(third, encode(t, line{Entry: e})...)
		}
		if !bytes.Equal(again, third) {
			t.Fatalf("not stable:\n%s\n%s", again, third)
		}
	})
}

// TestJournalRemovedWhileOpened: an agent that ends removes its journal at any instant of
// another's opening it, which then finds none.
func TestJournalRemovedWhileOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	stop := make(chan struct{})
	var ends sync.WaitGroup
	defer ends.Wait()
	defer close(stop)
	ends.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			j := &journal{path: path, header: exampleHeader()}
			if err := j.begin(); err != nil {
				t.Errorf("begin: %v", err)
				return
			}
			if err := j.reset(); err != nil {
				t.Errorf("reset: %v", err)
				return
			}
		}
	})
	for range 20000 {
		j, _, _, err := openJournal(path, exampleHeader())
		if errors.Is(err, file.ErrLocked) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := j.close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSameValue(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"1", "1", true}, {"1", "2", false}, {"0x10", "16", true}, {"4096 1 2", "4096 1 2", true},
		{"4096 1 2", "4096 1", false}, {"bbr cubic", "cubic bbr", true}, {"bbr cubic", "bbr reno", false},
		{"-1", "-1", true}, {"", "", true}, {"a", "", false}, {"1 2", "2 1", false},
	} {
		if got := sameValue(c.a, c.b); got != c.same {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

func TestDefaultJournal(t *testing.T) {
	named := func(node string) string {
		t.Helper()
		path, err := DefaultJournal(node)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, node := range []string{"nas", "../../etc/passwd", "a/b"} {
		path := named(node)
		if !strings.HasSuffix(path, ".jsonl") || strings.Contains(path, "..") &&
			!strings.Contains(path, "journal-..") ||
			strings.Count(path, "/") != strings.Count(named("x"), "/") {
			t.Errorf("%q: %s", node, path)
		}
	}
}

// Without a place of the user's own there is none: /tmp is everybody's.
func TestDefaultJournalWithoutHome(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("XDG_STATE_HOME", "")
	path, err := DefaultJournal("nas")
	if err == nil && !strings.HasPrefix(path, "/var/lib/linerate/") || err != nil &&
		!strings.Contains(err.Error(), "--journal") {
		t.Errorf("%q, %v; want an error that names --journal", path, err)
	}
	if _, listErr := Journals(); (listErr == nil) != (err == nil) {
		t.Errorf("listing: %v, naming: %v", listErr, err)
	}
}

// TestTextJournal: a journal of the version before, which has texts alone, is read as one of this
// version is.
func TestTextJournal(t *testing.T) {
	want := exampleEntry(1)
	want.Kind, want.What = "nexthop", "id 9"
	want.Setting = setting.Setting{Host: "nas", Nexthop: &setting.NexthopObject{ID: 9}}
	want.New = State{Text: "id 9 group 1/2,3 type resilient buckets 32 idle_timer 1.5 unbalanced_timer 0",
		Group: &nexthopGroup{Members: []setting.Member{{ID: 1, Weight: 1}, {ID: 2, Weight: 3}},
			Kind: setting.Resilient{Buckets: 32, IdleTimer: unit.Duration(1500 * time.Millisecond)}}}
	want.Around = dependents{Objects: map[string][]kernelObject{
		"address": {{Text: "fe80::1/64 on eth0", Address: netip.MustParsePrefix("fe80::1/64"), Interface: "eth0"}},
		"nexthop": {{Text: "id 1 via 10.0.0.1 dev eth0", Nexthops: []int{1}},
			{Text: "id 8 group 1,2/3", Nexthops: []int{8, 1, 3}}},
		"route": {{Text: "10.1.0.0/16 nhid 8 table 254", Nexthops: []int{8}},
			{Text: "10.2.0.0/16 via 10.0.0.1 dev eth0 table 254"}},
		"nic": {{Text: "eth0 steering rule 7 tcp4 dst-port 80", Interface: "eth0",
			Option: &nicOption{"steering", "rule", "7 tcp4 dst-port 80"}}},
	}}
	old := *want
	old.New.Group = nil
	old.Around.Objects = map[string][]kernelObject{}
	for kind, objects := range want.Around.Objects {
		for _, o := range objects {
			old.Around.Objects[kind] = append(old.Around.Objects[kind], kernelObject{Text: o.Text})
		}
	}
	h := exampleHeader()
	h.Schema = textSchema
	text := slices.Concat(encode(t, h), encode(t, line{Entry: &old}))
	_, entries, _, err := decodeJournal(text)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries: %v", len(entries), err)
	}
	want.offset = int64(len(encode(t, h)))
	if !reflect.DeepEqual(entries[0], want) {
		t.Errorf("%+v\nwant %+v", entries[0], want)
	}
}
