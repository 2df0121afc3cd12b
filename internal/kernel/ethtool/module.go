package ethtool

import (
	"encoding/binary"
	"math"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
)

// parseModule parses the memory of a pluggable module as ethtool -m returns it: for an SFP (SFF-8472) 256 bytes
// of address A0h and 256 of A2h, for a QSFP (SFF-8636) page 00h. nil: another kind.
func parseModule(memory []byte) *netstate.Module {
	if len(memory) == 0 {
		return nil
	}
	const sfp, qsfp, qsfpPlus, qsfp28 = 0x03, 0x0c, 0x0d, 0x11
	switch memory[0] {
	case sfp:
		return parseSFP(memory)
	case qsfp, qsfpPlus, qsfp28:
		return parseQSFP(memory)
	}
	return nil
}

func parseSFP(memory []byte) *netstate.Module {
	if len(memory) < 96 {
		return nil
	}
	m := &netstate.Module{Vendor: padded(memory[20:36]), Part: padded(memory[40:56])}
	// Bits of byte 92: diagnostics exist, and are internally calibrated.
	const there, calibrated, diagnostics = 1 << 6, 1 << 5, 256
	if memory[92]&there == 0 || memory[92]&calibrated == 0 || len(memory) < diagnostics+106 {
		return m
	}
	d := memory[diagnostics:]
	m.TemperatureC = temperature(d[96:])
	m.TxPowerDBm, m.RxPowerDBm = powers(d[102:104]), powers(d[104:106])
	return m
}

func parseQSFP(memory []byte) *netstate.Module {
	if len(memory) < 184 {
		return nil
	}
	return &netstate.Module{Vendor: padded(memory[148:164]), Part: padded(memory[168:184]),
		TemperatureC: temperature(memory[22:]),
		RxPowerDBm:   powers(memory[34:42]), TxPowerDBm: powers(memory[50:58])}
}

// padded returns a text without its trailing spaces.
func padded(text []byte) string {
	return strings.TrimSpace(plain.Line(strings.ToValidUTF8(string(text), "")))
}

// temperature decodes a signed number of 1/256 °C.
func temperature(b []byte) float64 {
	return math.Round(float64(int16(binary.BigEndian.Uint16(b)))/256*10) / 10
}

// powers decodes powers of 0.1 µW; nil if all are 0: not measured, or no light.
func powers(b []byte) (list []float64) {
	lit := false
	for ; len(b) >= 2; b = b[2:] {
		n := binary.BigEndian.Uint16(b)
		lit = lit || n > 0
		list = append(list, math.Round(10*math.Log10(max(float64(n), 1)/10000)*10)/10)
	}
	if !lit {
		return nil
	}
	return list
}
