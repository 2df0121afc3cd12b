package flow

import (
	"fmt"
	"strconv"
	"strings"
)

// DSCP is a differentiated services codepoint, 0 to 63: the upper six bits of the traffic class of
// IPv6 and of the former type of service byte of IPv4 (RFC 2474, section 3). The other two bits are
// those of ECN.
type DSCP uint8

// classes maps names to codepoints: class selectors (RFC 2474), assured (RFC 2597) and expedited
// forwarding (RFC 3246), voice-admit (RFC 5865), and lower effort (RFC 8622).
var classes = func() map[string]DSCP {
	names := map[string]DSCP{"LE": 1, "VA": 44, "EF": 46}
	for class := range DSCP(8) {
		names[fmt.Sprintf("CS%d", class)] = 8 * class
		for drop := DSCP(1); drop <= 3 && class >= 1 && class <= 4; drop++ {
			names[fmt.Sprintf("AF%d%d", class, drop)] = 8*class + 2*drop
		}
	}
	return names
}()

// parseDSCP parses a number or a name in upper or lower case.
func parseDSCP(text string) (DSCP, error) {
	if d, named := classes[strings.ToUpper(text)]; named {
		return d, nil
	}
	n, err := strconv.ParseUint(text, 10, 8)
	if err != nil || n > 63 {
		return 0, fmt.Errorf("%.40q is no DSCP: expected 0 to 63, CS0 to CS7, AF11 to AF43, EF, VA or LE", text)
	}
	return DSCP(n), nil
}

// String returns the name, or the number if there is no name.
func (d DSCP) String() string {
	for name, named := range classes {
		if d == named {
			return name
		}
	}
	return strconv.Itoa(int(d))
}

// TrafficClass returns the whole byte with the ECN bits zero.
func (d DSCP) TrafficClass() int { return int(d) << 2 }

func (d DSCP) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d *DSCP) UnmarshalText(text []byte) (err error) {
	*d, err = parseDSCP(string(text))
	return err
}

// JSONSchema returns the schema of the values in a study file.
func (DSCP) JSONSchema() map[string]any {
	return map[string]any{"type": []string{"string", "integer"}, "minimum": 0, "maximum": 63,
		"examples": []any{"EF", "AF41", "CS1", 46}}
}
