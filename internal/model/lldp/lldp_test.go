package lldp

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/syntax"
)

// whole is a frame with each TLV that is read.
var whole = "0207" + "04" + "0200000001aa" + // chassis, a MAC address
	"0406" + "05" + hex.EncodeToString([]byte("swp12")) +
	"0602" + "0078" +
	"0806" + hex.EncodeToString([]byte("to h12")) +
	"0a05" + hex.EncodeToString([]byte("leaf3")) +
	"0c08" + hex.EncodeToString([]byte("a\x1b[2Jb\x00\x00")) + // what would clear a terminal
	"0e04" + "0014" + "0014" +
	"100c" + "0501c0000203" + "0200000002" + "00" +
	"fe06" + "0080c201" + "002a" +
	"fe0a" + "0080c203" + "0007" + "03" + hex.EncodeToString([]byte("abc")) +
	"fe06" + "00120f04" + "2400" +
	"0000"

func bytesOf(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParse(t *testing.T) {
	n, stays, err := Parse(bytesOf(t, whole))
	want := netstate.LLDPNeighbour{Protocol: "LLDP", Chassis: "02:00:00:00:01:aa", System: "leaf3",
		Description: n.Description, Addresses: []string{"192.0.2.3"}, Capabilities: []string{"Bridge", "Router"},
		Port: "swp12", PortDescription: "to h12", MFS: 9216, PVID: 42, VLANs: []int{7}}
	if err != nil || !stays || !reflect.DeepEqual(n, want) {
		t.Errorf("%+v, %v, %v", n, stays, err)
	}
	if strings.ContainsAny(n.Description, "\x1b\x00") || !strings.HasPrefix(n.Description, "a") {
		t.Errorf("description %q", n.Description)
	}
	made, stays, err := Parse(Make([6]byte{2, 0, 0, 0, 1, 0xaa}, "leaf3", "swp12", 120))
	if err != nil || !stays || made.System != "leaf3" || made.Port != "swp12" || made.Chassis != want.Chassis ||
		!made.Switches() {
		t.Errorf("%+v, %v, %v", made, stays, err)
	}
	if _, stays, err := Parse(Make([6]byte{2}, "leaf3", "swp12", 0)); stays || err != nil {
		t.Errorf("a neighbour that leaves: %v, %v", stays, err)
	}
}

// TestParseMalformed: what is no frame is an error that says why.
func TestParseMalformed(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "ends before its time to live",
		"02":                                   "ends before its time to live",
		"0207040200000001aa":                   "ends before its time to live",
		"0406057377703132":                     "has type 2: expected 1",
		"02ff04":                               "bytes, and 1 are left",
		"0207040200000001aa" + "0602" + "0078": "has type 3: expected 2",
		"020104" + "04020531" + "06020078":     "no readable identifier",
		"0203040102" + "04020531" + "06020078": "no readable identifier", // a MAC address of two bytes
	} {
		if _, _, err := Parse(bytesOf(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// FuzzParse: whatever arrives is bounded, and its texts are on one line.
func FuzzParse(f *testing.F) {
	f.Add(bytesOf(f, whole))
	f.Add(Make([6]byte{2}, "a", "b", 1))
	f.Add([]byte{2, 6, 5, 1, 10, 0, 0, 1, 4, 2, 7, 'x', 6, 2, 0, 1})
	f.Fuzz(func(t *testing.T, pdu []byte) {
		n, _, err := Parse(pdu)
		if err != nil {
			return
		}
		if n.Chassis == "" || n.Port == "" || len(n.Addresses) > mostAddresses || len(n.VLANs) > mostVLANs {
			t.Errorf("%+v", n)
		}
		if err := syntax.Check(&n); err != nil {
			t.Error(err)
		}
	})
}
