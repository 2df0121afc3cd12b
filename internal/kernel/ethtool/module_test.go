package ethtool

import (
	"encoding/binary"
	"reflect"
	"testing"

	"linerate/internal/model/netstate"
)

// TestParseModule: figures are at the places of SFF-8472 and SFF-8636, and none where the
// module measures none.
func TestParseModule(t *testing.T) {
	sfp := make([]byte, 512)
	sfp[0] = 3
	copy(sfp[20:], "ACME\x1b           ")
	copy(sfp[40:], "SFP-10G-SR      ")
	copy(sfp[68:], "SERIAL1234")
	sfp[92] = 1<<6 | 1<<5
	put := func(at int, n uint16) { binary.BigEndian.PutUint16(sfp[at:], n) }
	put(256+96, 35*256+128)
	put(256+102, 10000) // 1 mW
	put(256+104, 1000)  // 0.1 mW
	want := &netstate.Module{Vendor: "ACME\uFFFD", Part: "SFP-10G-SR", TemperatureC: 35.5, TxPowerDBm: []float64{0},
		RxPowerDBm: []float64{-10}}
	if got := parseModule(sfp); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	put(256+96, 0xff00) // -1 °C
	put(256+104, 0)
	if got := parseModule(sfp); got.TemperatureC != -1 || got.RxPowerDBm != nil {
		t.Errorf("%+v", got)
	}
	sfp[92] = 1 << 6 // calibrated from outside
	if got := parseModule(sfp); got.TemperatureC != 0 || got.TxPowerDBm != nil || got.Part != "SFP-10G-SR" {
		t.Errorf("%+v", got)
	}
	qsfp := make([]byte, 256)
	qsfp[0] = 0x11
	copy(qsfp[148:], "ACME            ")
	copy(qsfp[168:], "QSFP28-LR4      ")
	for lane := range 4 {
		binary.BigEndian.PutUint16(qsfp[34+2*lane:], 1000)
		binary.BigEndian.PutUint16(qsfp[50+2*lane:], 10000)
	}
	if got := parseModule(qsfp); got.Vendor != "ACME" || got.Part != "QSFP28-LR4" ||
		!reflect.DeepEqual(got.RxPowerDBm, []float64{-10, -10, -10, -10}) ||
		!reflect.DeepEqual(got.TxPowerDBm, []float64{0, 0, 0, 0}) {
		t.Errorf("%+v", got)
	}
}

// FuzzParseModule: a module may return anything.
func FuzzParseModule(f *testing.F) {
	f.Add([]byte{3})
	f.Add(make([]byte, 512))
	f.Fuzz(func(t *testing.T, memory []byte) { parseModule(memory) })
}
