package agent

import (
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"linerate/internal/model/netstate"
)

// TestVisible: a client sees the addresses of its own flows and a fixed list of fields; a
// field that is added to the snapshot is hidden until it is listed here and in visible.
func TestVisible(t *testing.T) {
	shown := []string{"Interface", "Index", "MTU", "Up", "Master", "Kind", "Driver", "SpeedBps", "Shaper", "Addresses"}
	full := netstate.InterfaceSnapshot{Addresses: []string{"192.0.2.1/24", "198.51.100.1/24", "2001:db8::1/64"}}
	fields := reflect.ValueOf(&full).Elem()
	for i := range fields.NumField() {
		switch f := fields.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Int:
			f.SetInt(7)
		case reflect.Float64:
			f.SetFloat(7)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			if f.Len() == 0 {
				f.Set(reflect.MakeSlice(f.Type(), 1, 1))
			}
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		default:
			t.Fatalf("%s is %s: teach this test to fill it", fields.Type().Field(i).Name, f.Kind())
		}
	}
	seen := visible([]netstate.InterfaceSnapshot{full}, []netip.Addr{netip.MustParseAddr("198.51.100.1")})
	if len(seen) != 1 || !slices.Equal(seen[0].Addresses, []string{"198.51.100.1/24"}) {
		t.Fatalf("%+v", seen)
	}
	for i, value := range reflect.ValueOf(seen[0]).Fields() {
		if want := slices.Contains(shown, i.Name); !value.IsZero() != want {
			t.Errorf("%s is %v: shown should be %v", i.Name, value, want)
		}
	}
}

// TestVisibleLinkLocal: of several interfaces with one link-local address, a client sees it
// on that of its flow.
func TestVisibleLinkLocal(t *testing.T) {
	both := []netstate.InterfaceSnapshot{
		{Interface: "eth0", Index: 2, Addresses: []string{"fe80::1/64"}},
		{Interface: "eth1", Index: 3, Addresses: []string{"fe80::1/64", "2001:db8::1/64"}},
	}
	for _, zone := range []string{"eth1", "3"} { // the index, if the name was not found
		seen := visible(both, []netip.Addr{netip.MustParseAddr("fe80::1").WithZone(zone)})
		if len(seen) != 2 || len(seen[0].Addresses) != 0 || !slices.Equal(seen[1].Addresses, []string{"fe80::1/64"}) {
			t.Errorf("zone %s: %+v", zone, seen)
		}
	}
}
