package wording

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

// TestEveryCauseHasWords: a summary, when it is found, and a reference; and each kind of facts and
// of hints has words.
func TestEveryCauseHasWords(t *testing.T) {
	for _, code := range cause.All() {
		f := finding(code)
		worded := Worded(f, true)
		if worded.Summary == "" || worded.Reference == "" || Found(code) == "" {
			t.Errorf("%s: summary %q, reference %q, found %q", code, worded.Summary, worded.Reference, Found(code))
		}
	}
	for _, code := range Causes() {
		if cause.Zero(code) == nil {
			t.Errorf("%s has words and is no cause", code)
		}
	}
	for _, zero := range fact.Kinds() {
		if _, has := facts.of(reflect.TypeOf(zero)); !has {
			t.Errorf("%T has no words", zero)
		} else if text := Fact(fact.Fact{Host: "a", Is: filled(reflect.TypeOf(zero))}); text == "" {
			t.Errorf("%T has no text", zero)
		}
	}
	for _, zero := range hint.Kinds() {
		if _, has := hints.of(reflect.TypeOf(zero)); !has {
			t.Errorf("%T has no words", zero)
		}
	}
}

// TestRoundTrip: findings of each cause with each kind of facts and hints are read from JSON as
// they were written.
func TestRoundTrip(t *testing.T) {
	for _, code := range cause.All() {
		check(t, finding(code))
	}
	f := record.Finding{ID: "arp-flux", Host: "a", Confidence: record.Likely}
	for _, zero := range fact.Kinds() {
		f.With("a", filled(reflect.TypeOf(zero)))
	}
	for _, zero := range hint.Kinds() {
		f.Fixed(record.Advice("a", filled(reflect.TypeOf(zero))))
	}
	f.Fixed(record.Settings(setting.Setting{Host: "a", Sysctl: []setting.Sysctl{{Key: "k", Value: "v"}}})...)
	f.Fixed(record.Step{Host: "b", Flush: &record.Flush{To: netip.MustParsePrefix("10.0.0.0/24"), Interface: "eth0"}},
		record.Step{Command: []string{"ip", "route"}, Instead: true})
	f.At(record.Touch{Device: "eth0"}, record.Touch{Socket: netip.MustParseAddrPort("10.0.0.1:80")})
	f.About = filled(reflect.TypeFor[record.Subject]()).(record.Subject)
	check(t, f)
	accepted := record.AcceptedFinding{Finding: f, Until: "2026-01-01", Because: "it is so"}
	text, err := json.Marshal(accepted)
	var back record.AcceptedFinding
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, accepted) {
		t.Errorf("%v: %s\n got %+v\nwant %+v", err, text, back, accepted)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestLaterVersion: what a later version wrote is kept, written again, and shown.
func TestLaterVersion(t *testing.T) {
	const text = `{"id":"later","host":"a","confidence":"likely","summary":"words of a later version",` +
		`"args":{"x":[1]},"facts":[{"host":"a","later-fact":{"y":2}}],"steps":[{"host":"a","hint":{"later-hint":3}}]}`
	var f record.Finding
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(f)
	if err != nil || string(again) != text {
		t.Errorf("%v\n got %s\nwant %s", err, again, text)
	}
	if worded := Worded(f, true); worded.Summary != f.Summary || worded.Key() != f.Key() {
		t.Errorf("%+v", worded)
	}
	if got := Fact(f.Facts[0]); got != `later-fact: {"y":2}` {
		t.Error(got)
	}
	if got := Step(f.Steps[0], false); !slices.Equal(got, []string{"on a: later-hint: 3"}) {
		t.Error(got)
	}
}

// TestRenewed: a stored finding with words alone becomes data where it is found again, and keeps its
// words where it is not.
func TestRenewed(t *testing.T) {
	now := finding("window-scaling-off")
	stored := Worded(now, false)
	stored.Args, stored.Facts, stored.Steps, stored.Treatments = nil, nil, nil, []string{"t"}
	gone := stored
	gone.Host, gone.Summary = "elsewhere", "words of then"
	run := &record.Run{Findings: []record.Finding{stored, gone}}
	got := Renewed(run, []record.Finding{now})
	if !got[0].IsData() || !slices.Equal(got[0].Treatments, []string{"t"}) || got[1].Summary != gone.Summary ||
		got[1].IsData() {
		t.Errorf("%+v", got)
	}
	if worded := Worded(got[0], false); worded.Summary != stored.Summary {
		t.Errorf("got %q, want %q", worded.Summary, stored.Summary)
	}
	if run.Findings[0].IsData() {
		t.Error("the run itself was changed")
	}
}

// TestRuleTable: docs/doctor-rules.md has the rules of hosts as the program lists them.
func TestRuleTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("| rule | found when |\n|---|---|\n")
	for _, r := range Rules() {
		if r.Trial {
			continue // docs/findings.md describes it
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.ID, strings.ReplaceAll(r.About, "|", "\\|"))
	}
	inDocument(t, "doctor-rules.md", "rules", b.String())
}

// TestLogTable: docs/kernel-log.md has the messages of the kernel's log whose meaning is known.
func TestLogTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("| message | example | means | sure | do | source |\n|---|---|---|---|---|---|\n")
	for _, m := range netstate.Messages {
		sure := cmp.Or(m.Sure, "no fault")
		if m.Elsewhere {
			sure = "not of the network"
		}
		if m.Least > 0 {
			sure += fmt.Sprintf(", from %d lines on about one interface", m.Least)
		}
		row := []string{"`" + m.Code + "`", "`" + m.Example + "`", m.Means, sure, m.Do, m.Source}
		for i, cell := range row {
			row[i] = strings.ReplaceAll(cell, "|", "\\|")
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if !slices.Contains([]string{"", record.Likely, record.Possible}, m.Sure) {
			t.Errorf("%s: %q is no confidence", m.Code, m.Sure)
		}
	}
	inDocument(t, "kernel-log.md", "messages", b.String())
}

// inDocument compares a part of a document, between two comments with its name, with what it is to be.
// With -update it writes that part.
func inDocument(t *testing.T, name, part, text string) {
	t.Helper()
	file := filepath.Join("..", "..", "..", "docs", name)
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+part+" -->\n", "<!-- end of "+part+" -->"
	before, rest, _ := strings.Cut(string(old), begin)
	_, after, found := strings.Cut(rest, end)
	want := before + begin + text + end + after
	if !found {
		t.Fatalf("%s has no %s", file, end)
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(old) {
		t.Errorf("%s is not current: go test ./internal/show/wording -update", file)
	}
}

// TestOwnConnections: causes of how connections end say that linerate's own, which end so, are left out.
func TestOwnConnections(t *testing.T) {
	for _, code := range []string{"closed-with-data", "resets-received"} {
		if !strings.Contains(Found(code), "linerate's own connections end so as well, and are left out") {
			t.Errorf("%s: %s", code, Found(code))
		}
	}
}

// finding is one of a cause whose arguments are filled.
func finding(code cause.Code) record.Finding {
	f := record.Finding{ID: code, Host: "a", Confidence: record.Likely, Args: filled(reflect.TypeOf(cause.Zero(code)))}
	return *f.With("a", fact.Text{Text: "a line"})
}

func check(t *testing.T, f record.Finding) {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var back record.Finding
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if !reflect.DeepEqual(back, f) {
		t.Errorf("%s\n got %+v\nwant %+v", text, back, f)
	}
}

// filled is a value of a type with something in each field.
func filled(of reflect.Type) any {
	v := reflect.New(of).Elem()
	fill(v)
	return v.Interface()
}

func fill(v reflect.Value) {
	switch v.Interface().(type) {
	case netip.Addr:
		v.Set(reflect.ValueOf(netip.MustParseAddr("192.0.2.1")))
		return
	case netip.Prefix:
		v.Set(reflect.ValueOf(netip.MustParsePrefix("192.0.2.0/24")))
		return
	case netip.AddrPort:
		v.Set(reflect.ValueOf(netip.MustParseAddrPort("192.0.2.1:80")))
		return
	case fact.Fact:
		v.Set(reflect.ValueOf(fact.Fact{Host: "a", Is: fact.Parameter{Key: "k", Value: "v"}}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.ToLower(v.Type().Name()) + "1")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}
