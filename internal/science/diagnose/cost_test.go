package diagnose

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pasted"
)

// elements are what lists of snapshots have in the samples of package pasted, by the list's type and place.
func elements(t *testing.T) map[string][]reflect.Value {
	t.Helper()
	paths, err := filepath.Glob("../../model/pasted/testdata/samples/*.txt")
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d samples, %v", len(paths), err)
	}
	all := map[string][]reflect.Value{}
	var walk func(at string, v reflect.Value)
	walk = func(at string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(at, v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					walk(at+"."+v.Type().Field(i).Name, v.Field(i))
				}
			}
		case reflect.Slice:
			for i := range v.Len() {
				if v.Type().Elem().Kind() == reflect.Struct && len(all[at]) < 300 {
					all[at] = append(all[at], v.Index(i))
				}
				walk(at, v.Index(i))
			}
		}
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pasted.Parse(string(text))
		if err != nil {
			continue
		}
		for _, m := range p.Machines {
			walk("", reflect.ValueOf(m))
		}
	}
	return all
}

// grown returns a snapshot in which each list has n elements, each with names and addresses of its own.
func grown(all map[string][]reflect.Value, n int, host string) (s netstate.HostSnapshot) {
	var fill func(at string, v reflect.Value, number, n int)
	fill = func(at string, v reflect.Value, number, n int) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				fill(at, v.Elem(), number, n)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					fill(at+"."+v.Type().Field(i).Name, v.Field(i), number, n)
				}
			}
		case reflect.String:
			if v.CanSet() {
				v.SetString(numbered(at[strings.LastIndex(at, ".")+1:], v.String(), number))
			}
		case reflect.Slice:
			examples := all[at]
			if len(examples) == 0 || n == 0 {
				return
			}
			list := reflect.MakeSlice(v.Type(), n, n)
			for i := range n {
				list.Index(i).Set(examples[i%len(examples)])
				fill(at, list.Index(i), i, 0)
			}
			v.Set(list)
		}
	}
	v := reflect.ValueOf(&s).Elem()
	s.State.KernelDrops, s.State.Nftables = &netstate.KernelDrops{}, &netstate.Nftables{}
	fill("", v, 0, n)
	s.Schema, s.Reading.Host = netstate.HostSnapshotSchema, host
	return s
}

// numbered makes a name or an address one of its own.
func numbered(field, text string, number int) string {
	if a, err := netip.ParseAddr(text); err == nil && a.Is4() {
		return fmt.Sprintf("10.%d.%d.%d", number>>16, number>>8&255, number&255)
	}
	if p, err := netip.ParsePrefix(text); err == nil && p.Addr().Is4() {
		return fmt.Sprintf("10.%d.%d.%d/%d", number>>16, number>>8&255, number&255, p.Bits())
	}
	switch field {
	case "Interface", "Name", "Master", "Link":
		return fmt.Sprintf("e%d", number)
	case "MAC":
		return fmt.Sprintf("02:00:00:%02x:%02x:%02x", number>>16, number>>8&255, number&255)
	}
	return text
}

// TestCostOfLists: with eight times as many elements in every list of two hosts, the rules take about eight times
// as long. The bound is 2.3 times for each doubling, with a margin for a busy machine.
func TestCostOfLists(t *testing.T) {
	all := elements(t)
	took := func(n int) (least time.Duration) {
		hosts := []netstate.HostSnapshot{grown(all, n, "one"), grown(all, n, "other")}
		for range 3 {
			began := time.Now()
			Hosts(hosts)
			if d := time.Since(began); least == 0 || d < least {
				least = d
			}
		}
		return least
	}
	took(10)
	small, large := took(200), took(1600)
	t.Logf("%v of 200 elements, %v of 1600: %.1f times", small, large, float64(large)/float64(small))
	if float64(large) > 16*float64(small) {
		t.Errorf("1600 elements in each list take %v, and 200 take %v", large, small)
	}
}
