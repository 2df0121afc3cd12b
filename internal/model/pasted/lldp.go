package pasted

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

// LLDP parses the output of `lldpcli -f json show neighbors details`, or of -f json0, in which
// everything is a list. In the json format a list with one element is that element, and elements
// with a name are members of an object. The text comes from neighbours, so strings are shortened
// and cleaned, and numbers are limited to valid ranges.
func LLDP(text []byte) (list []netstate.LLDPNeighbour, err error) {
	if len(text) > LargestText {
		return nil, fmt.Errorf("expected at most %d bytes", LargestText)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("expected JSON of lldpcli: %w", err)
	}
	for _, all := range elements(tree, "lldp") {
		for _, i := range namedElements(member(all, "interface"), "port") {
			if len(list) >= netstate.MostLLDPNeighbours {
				return list, fmt.Errorf("more than %d neighbours", netstate.MostLLDPNeighbours)
			}
			list = append(list, neighbour(i))
		}
	}
	return list, nil
}

// named is an element with its name.
type named struct {
	name string
	of   any
}

func neighbour(i named) netstate.LLDPNeighbour {
	n := netstate.LLDPNeighbour{Interface: i.name, Protocol: word(member(i.of, "via"))}
	for _, c := range namedElements(member(i.of, "chassis"), "id") {
		n.System = c.name
		n.Chassis, n.Description = word(member(c.of, "id")), word(member(c.of, "descr"))
		for _, a := range elements(c.of, "mgmt-ip") {
			if len(n.Addresses) < 8 {
				n.Addresses = append(n.Addresses, word(a))
			}
		}
		for _, one := range elements(c.of, "capability") {
			if on, _ := member(one, "enabled").(bool); on && len(n.Capabilities) < 16 {
				n.Capabilities = append(n.Capabilities, word(member(one, "type")))
			}
		}
	}
	for _, p := range elements(i.of, "port") {
		n.Port, n.PortDescription = word(member(p, "id")), word(member(p, "descr"))
		n.MFS = bounded(member(p, "mfs"), 1<<16)
		for _, a := range elements(p, "auto-negotiation") {
			n.Media = word(member(a, "current"))
			supported, _ := member(a, "supported").(bool)
			if on, is := member(a, "enabled").(bool); is && supported {
				n.Autoneg = &on
			}
		}
	}
	n.SpeedMbps, n.Duplex = media(n.Media)
	for _, v := range elements(i.of, "vlan") {
		id := bounded(member(v, "vlan-id"), 4094)
		if own, _ := member(v, "pvid").(bool); own {
			n.PVID = id
		}
		if id > 0 && len(n.VLANs) < 4094 && !slices.Contains(n.VLANs, id) {
			n.VLANs = append(n.VLANs, id)
		}
	}
	return n
}

var mau = pattern.MustCompile(`^([0-9]{1,4})(G?)[bB][aA][sS][eE]`)

// media returns the speed in Mbit/s and the duplex mode of a MAU type such as "1000BaseTFD -
// Four-pair Category 5 UTP, full duplex mode".
func media(text string) (mbps int64, duplex string) {
	if m := mau.FindStringSubmatch(text); m != nil {
		mbps, _ = strconv.ParseInt(m[1], 10, 64)
		if m[2] != "" {
			mbps *= 1000
		}
	}
	for _, duplex := range []string{"half", "full"} {
		if strings.Contains(text, duplex+" duplex") {
			return mbps, duplex
		}
	}
	return mbps, ""
}

// member returns a member of an object, or of the first element of a list. Nil: there is none.
func member(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[key]
	case []any:
		if len(v) > 0 {
			if first, is := v[0].(map[string]any); is {
				return first[key]
			}
		}
	}
	return nil
}

// elements returns the elements of a member that is a list, or the member itself.
func elements(v any, key string) []any {
	switch m := member(v, key).(type) {
	case nil:
		return nil
	case []any:
		return m
	default:
		return []any{m}
	}
}

// namedElements returns elements that have a member "name" (json0) or are members of an object
// under their names (json). Every element has the member has; an object that has it itself is an
// element.
func namedElements(v any, has string) (list []named) {
	all, is := v.([]any)
	if !is {
		all = []any{v}
	}
	for _, one := range all {
		object, is := one.(map[string]any)
		if !is {
			continue
		}
		if _, itself := object[has].(map[string]any); itself || isList(object[has]) {
			if inner, is := object[has].(map[string]any); !is || inner[has] == nil { // a system that is called id
				list = append(list, named{word(object["name"]), object})
				continue
			}
		}
		for _, name := range sortedKeys(object) {
			list = append(list, named{plain.Short(name, longestName), object[name]})
		}
	}
	return list
}

func isList(v any) bool { _, is := v.([]any); return is }

func sortedKeys(object map[string]any) (keys []string) {
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// word returns a string, or that of a member "value" or of the first element of a list, shortened
// and cleaned.
func word(v any) string {
	const longest = 200
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(plain.Short(v, longest))
	case map[string]any:
		if text, is := v["value"].(string); is {
			return word(text)
		}
	case []any:
		if len(v) > 0 {
			if _, list := v[0].([]any); !list {
				return word(v[0])
			}
		}
	}
	return ""
}

// bounded parses a number from 1 to most. 0: it is none.
func bounded(v any, most int) int {
	n, err := strconv.Atoi(word(v))
	if err != nil || n < 1 || n > most {
		return 0
	}
	return n
}
