package redact

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/syntax"
)

// TestFields: it is declared of every kind of strings what it may tell. TestDeclared of package syntax fails for a
// string without a kind.
func TestFields(t *testing.T) {
	for _, kind := range syntax.Kinds() {
		if classes[kind] == "" {
			t.Errorf("%s is not declared", kind)
		}
	}
}

// canaries puts into every string of a value what must not be left of it, and returns these.
func canaries(v reflect.Value, of class, planted *[]string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		canaries(v.Elem(), of, planted)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		canaries(v.Index(0), of, planted)
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String {
			v.Set(reflect.MakeMap(v.Type()))
			key := reflect.New(v.Type().Key()).Elem()
			value := reflect.New(v.Type().Elem()).Elem()
			canaries(key, kept, planted)
			canaries(value, kept, planted)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && v.Field(i).CanSet() && f.Tag.Get("json") != "-" {
				canaries(v.Field(i), classOf(f), planted)
			}
		}
	case reflect.String:
		n := len(*planted)
		four := fmt.Sprintf("10.%d.%d.77", 1+n/200, n%200)
		six := fmt.Sprintf("2001:db8:%x::77", 0x1000+n)
		mac := fmt.Sprintf("de:ad:%02x", n/200) + fmt.Sprintf(":%02x:be:ef", n%200)
		name := fmt.Sprintf("acme%d", n)
		switch of {
		case host, domain, description:
			v.SetString(name)
			*planted = append(*planted, name)
		case text:
			v.SetString(fmt.Sprintf("from %s, [%s]:80 %s 0x0a%02x%02x4d enxdead%02x%02xbeef by acme0", four, six, mac,
				1+n/200, n%200, n/200, n%200))
			*planted = append(*planted, four, fmt.Sprintf("db8:%x", 0x1000+n), mac[8:], fmt.Sprintf("0a%02x%02x4d",
				1+n/200, n%200), fmt.Sprintf("%02xbeef", n%200))
		default:
			v.SetString(four + " " + six + " " + mac)
			*planted = append(*planted, four, fmt.Sprintf("db8:%x", 0x1000+n), mac[8:])
		}
	}
}

// TestCanaries: of addresses in every spelling and of names, in every string of a snapshot, nothing is left.
func TestCanaries(t *testing.T) {
	var s netstate.HostSnapshot
	planted := []string{"acme0"}
	s.Reading.Host = "acme0"
	canaries(reflect.ValueOf(&s.State).Elem(), kept, &planted)
	canaries(reflect.ValueOf(&s.Reading.Snapshot).Elem(), kept, &planted)
	canaries(reflect.ValueOf(&s.Reading.End).Elem(), kept, &planted)
	s.Schema = netstate.HostSnapshotSchema
	if len(planted) < 300 {
		t.Fatalf("%d canaries", len(planted))
	}
	if err := Snapshots([32]byte{5}, &s); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, canary := range planted {
		if at := strings.Index(string(out), canary); at >= 0 {
			t.Errorf("%q is left: %s", canary, out[max(0, at-120):min(len(out), at+60)])
		}
	}
}
