package pasted

import (
	"encoding/json"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
)

var _ = register(&format{name: "ethtool --json", part: "nics", whole: (*machine).ethtoolJSON, shapeless: true,
	command: func(c command) bool { return c.is("ethtool") && c.has("--json", "-j") }})

// ethtoolJSON reads what ethtool --json prints: a list with an object for each interface, whose keys
// are those of ethtool_netlink(7) or of the text:
//
//	[ { "ifname": "eth0", "rx-checksumming": { "active": true, "fixed": false, "requested": true } } ]
func (m *machine) ethtoolJSON(s *section) {
	var list []map[string]any
	d := json.NewDecoder(strings.NewReader(s.text()))
	d.UseNumber()
	if d.Decode(&list) != nil || len(list) > mostInterfaces {
		return
	}
	head, _ := append(command{"ethtool"}, slices.DeleteFunc(slices.Clone(m.command[1:]), func(w string) bool {
		return w == "--json" || w == "-j"
	})...).ethtoolBlock()
	read, mark := jsonBlocks[head], idle
	if read == nil {
		return
	}
	for _, values := range list {
		name, _ := values["ifname"].(string)
		if name == "" {
			name = m.unnamed()
		}
		if !ifname.MatchString(name) || len(name) > 15 {
			continue
		}
		v := object(values)
		m.latest = name
		nic := m.nicOf(name)
		if read(m, nic, v) {
			mark = used
		}
	}
	s.all(mark)
}

// object is an object of JSON.
type object map[string]any

// number returns a number; 0 if there is none.
func (o object) number(key string) int {
	text, _ := o[key].(json.Number)
	return number(text.String())
}

// on returns a switch, which is true or "on".
func (o object) on(key string) bool { return o[key] == true || o[key] == "on" }

// has reports whether there is one of the keys.
func (o object) has(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return o[key] != nil })
}

// jsonBlocks has a function for each block that stores its values in a NIC. It returns false if it
// stores none.
var jsonBlocks = map[string]func(*machine, *netstate.NIC, object) bool{
	"Features": func(_ *machine, nic *netstate.NIC, o object) bool {
		for name, value := range o {
			state, is := value.(map[string]any)
			if _, group := groups[name]; group || !is {
				continue
			}
			if kernel := features[name]; kernel != "" {
				name = kernel
			}
			setFeature(nic, name, object(state).on("active"), object(state).on("fixed"), object(state).on("requested"))
		}
		slices.Sort(nic.Fixed)
		slices.Sort(nic.Unmet)
		return len(nic.Features) > 0
	},
	"Ring parameters": func(_ *machine, nic *netstate.NIC, o object) bool {
		nic.Rings = &netstate.Rings{Rx: o.number("rx"), MostRx: o.number("rx-max"), Tx: o.number("tx"),
			MostTx: o.number("tx-max")}
		return o.has("rx", "tx")
	},
	"Channel parameters": func(_ *machine, nic *netstate.NIC, o object) bool {
		nic.Channels = &netstate.Channels{Rx: o.number("rx"), MostRx: o.number("rx-max"), Tx: o.number("tx"),
			MostTx: o.number("tx-max"), Combined: o.number("combined"), MostCombined: o.number("combined-max")}
		return o.has("rx", "tx", "combined")
	},
	"Coalesce parameters": func(_ *machine, nic *netstate.NIC, o object) bool {
		nic.Coalesce = &netstate.Coalesce{RxUs: o.number("rx-usecs"), RxFrames: o.number("rx-frames"),
			TxUs: o.number("tx-usecs"), TxFrames: o.number("tx-frames"), AdaptRx: o.on("adaptive-rx"),
			AdaptTx: o.on("adaptive-tx")}
		return o.has("rx-usecs", "tx-usecs", "rx-frames", "tx-frames", "adaptive-rx")
	},
	"Pause parameters": func(_ *machine, nic *netstate.NIC, o object) bool {
		nic.Pause = &netstate.Pause{Autoneg: o.on("autonegotiate"), Rx: o.on("rx"), Tx: o.on("tx")}
		return o.has("autonegotiate", "rx", "tx")
	},
	"NIC statistics": func(m *machine, nic *netstate.NIC, o object) bool {
		if inner, is := o["statistics"].(map[string]any); is {
			o = inner
		}
		stored := false
		for name, value := range o {
			n, is := value.(json.Number)
			stored = is && len(name) <= longestName && m.statistic(nic, name+": "+n.String()) || stored
		}
		return stored
	},
	"driver": func(m *machine, nic *netstate.NIC, o object) bool {
		stored := false
		for _, key := range append([]string{"driver"}, driverKeys...) {
			if text, is := o[key].(string); is && len(text) < longestName {
				stored = m.driver(nic, key+": "+text) || stored
			}
		}
		return stored
	},
	"FEC parameters": func(m *machine, nic *netstate.NIC, o object) bool {
		stored := false
		for key, label := range map[string]string{"config": "Configured FEC encodings",
			"active": "Active FEC encoding"} {
			stored = o[key] != nil && m.fec(nic, label+": "+texts(o[key])) || stored
		}
		return stored
	},
	"RX flow hash indirection table": func(m *machine, nic *netstate.NIC, o object) bool {
		table, _ := o["rss-indirection-table"].([]any)
		if len(table) == 0 || len(table) > largestTable || m.rssEntries > 8*mostRows {
			return false
		}
		lists.Put(&m.rssTables, nic.Interface, nil)
		for _, q := range table {
			n, _ := q.(json.Number)
			m.rssTables[nic.Interface] = append(m.rssTables[nic.Interface], uint32(max(number(n.String()), 0)))
		}
		m.rssEntries += len(table)
		return true
	},
}

// texts joins a string or a list of strings.
func texts(v any) string {
	if text, is := v.(string); is {
		return text
	}
	list, _ := v.([]any)
	var words []string
	for _, item := range list[:min(len(list), 10)] {
		if text, is := item.(string); is {
			words = append(words, text)
		}
	}
	return strings.Join(words, " ")
}
