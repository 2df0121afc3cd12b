package flow

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/source"
)

// TestOptionsCoverSpec: every field has one row, in the same order.
func TestOptionsCoverSpec(t *testing.T) {
	var fields, rows []string
	for _, f := range source.Fields(reflect.TypeFor[Spec]()) {
		fields = append(fields, f.Name)
	}
	for _, o := range Options {
		rows = append(rows, o.Key)
		if o.Doc == "" {
			t.Errorf("%s has no doc", o.Key)
		}
	}
	if !slices.Equal(fields, rows) {
		t.Errorf("fields are %v\nrows are   %v", fields, rows)
	}
}

// TestOptionField: a row reads and merges its own field and no other.
func TestOptionField(t *testing.T) {
	values := map[string]string{"int": "7", "number": "7", "size": "7", "rate": "7bit", "bool": "true", "class": "7"}
	for _, o := range Options {
		if o.Key == "tool_args" {
			continue // a list
		}
		text := "7"
		if v, there := values[o.Type]; there {
			text = v
		} else if _, isRate := number(o.in(&Spec{})); !isRate {
			text = "seven"
		}
		var set Spec
		if err := o.Parse(&set, text); err != nil {
			t.Errorf("%s: %v", o.Key, err)
			continue
		}
		if got := (Spec{}).With(set); !reflect.DeepEqual(got, set) {
			t.Errorf("%s is lost in merging over nothing: %+v", o.Key, got)
		}
		if got := set.With(Spec{}); !reflect.DeepEqual(got, set) {
			t.Errorf("%s is not inherited: %+v", o.Key, got)
		}
		if !o.Wanted(&set) {
			t.Errorf("%s is set, but not wanted", o.Key)
		}
		changed := 0
		for i := range reflect.TypeFor[Spec]().NumField() {
			if !reflect.ValueOf(set).Field(i).IsZero() {
				changed++
				if key := source.Fields(reflect.TypeFor[Spec]())[i].Name; key != o.Key {
					t.Errorf("%s sets %s", o.Key, key)
				}
			}
		}
		if changed != 1 {
			t.Errorf("%s: %d fields set", o.Key, changed)
		}
	}
}

// TestFitted: options of other protocols go, and those of requests have defaults.
func TestFitted(t *testing.T) {
	s := Spec{Protocol: UDPRR, Direction: Read, MSS: 1000, Window: 1 << 16, Mode: ModeCopy}
	if got, want := s.Fitted(), (Spec{Protocol: UDPRR, Direction: Write, Window: 1 << 16, Request: 1, Response: 1,
		Connections: 1, Threads: 1}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	s = Spec{Threads: 3, MSS: 1000}
	if got := s.Fitted(); !reflect.DeepEqual(got, Spec{MSS: 1000}) {
		t.Errorf("tcp: %+v", got)
	}
}

// TestChecks: what a row refuses, alone and beside others.
func TestChecks(t *testing.T) {
	for key, s := range map[string]Spec{
		"mss": {MSS: 87}, "streams": {Streams: -1}, "window": {Window: 1}, "datagram": {Datagram: 15},
		"request": {Request: 17 << 20},
		"pace":    {Pace: -1}, "direction": {Direction: "up"}, "congestion_control": {CongestionControl: "not one"},
	} {
		if Find(key).Check(&s) == "" || Find(key).Check(&Spec{
			MSS: 88, Streams: 1, Window: 4096, Datagram: 16, Request: 1, Pace: 1, Direction: Both,
			CongestionControl: "bbr",
		}) != "" {
			t.Errorf("%s is not checked", key)
		}
	}
	on := true
	for key, s := range map[string]Spec{
		"request": {Protocol: UDPRR, Request: MaxDatagramBytes + 1}, "threads": {Protocol: RR, Threads: 2},
		"follow": {Protocol: RR, Follow: &on, Poll: &on},
	} {
		if s = s.Fitted(); Find(key).Conflict(&s) == "" {
			t.Errorf("%s: %+v is accepted", key, s)
		}
	}
	if help := Find("poll").Help(); !strings.HasPrefix(help, "rr, udp-rr, crr, dns, ") {
		t.Errorf("help: %s", help)
	}
}
