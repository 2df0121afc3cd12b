package pasted

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
)

// nftElement is an element of the list that nft -j prints (libnftables-json(5)).
type nftElement struct {
	Chain, Rule, Set, Map, Counter, Quota *nftItem
}

type nftItem struct {
	Family, Table, Chain, Name, Hook, Policy string
	Handle                                   uint64
	Size                                     int
	Elements                                 []json.RawMessage `json:"elem"`
	Packets, Bytes, Used                     uint64
	Statements                               []map[string]any `json:"expr"`
}

// odd reports whether an item has a name that cannot be in a command.
func (i *nftItem) odd() bool {
	return i != nil && slices.ContainsFunc([]string{i.Family, i.Table, i.Chain, i.Name}, func(name string) bool {
		return !firewallName.MatchString(name)
	})
}

// nftablesJSON parses the output of nft -j list ruleset.
func (m *machine) nftablesJSON(s *section) {
	var all struct {
		List []nftElement `json:"nftables"`
	}
	if json.NewDecoder(strings.NewReader(s.text())).Decode(&all) != nil || len(all.List) == 0 {
		return
	}
	m.addFirewallRule(netstate.NftRule{})
	n := m.State.Nftables
	hooks := map[[3]string]string{}
	short := func(text string) string { return plain.Short(text, longestName) }
	for _, e := range all.List {
		if slices.ContainsFunc([]*nftItem{e.Chain, e.Rule, e.Set, e.Map, e.Counter, e.Quota}, (*nftItem).odd) {
			continue
		}
		if c := e.Chain; c != nil {
			hooks[[3]string{c.Family, c.Table, c.Name}] = short(c.Hook)
			if c.Policy == "drop" {
				m.addFirewallRule(netstate.NftRule{Family: short(c.Family), Table: short(c.Table),
					Chain: short(c.Name), Hook: short(c.Hook), Verdict: "drop", Text: netstate.PolicyDrop})
			}
		}
		for _, set := range []*nftItem{e.Set, e.Map} {
			if set != nil && set.Size > 0 && len(n.Sets) < netstate.MostNftSets {
				n.Sets = append(n.Sets, netstate.NftSet{Family: short(set.Family), Table: short(set.Table),
					Name: short(set.Name), Size: set.Size, Elements: len(set.Elements)})
			}
		}
		for kind, o := range map[string]*nftItem{"counter": e.Counter, "quota": e.Quota} {
			if o == nil || len(n.Objects) >= netstate.MostNftSets {
				continue
			}
			object := netstate.NftObject{Family: short(o.Family), Table: short(o.Table), Name: short(o.Name),
				Kind: kind, Packets: o.Packets, Bytes: o.Bytes}
			if kind == "quota" {
				object.Quota, object.Bytes = o.Bytes, o.Used
			}
			n.Objects = append(n.Objects, object)
		}
		if e.Rule != nil {
			m.addFirewallRule(e.Rule.rule(hooks[[3]string{e.Rule.Family, e.Rule.Table, e.Rule.Chain}]))
		}
	}
	s.all(used)
}

// rule returns a rule with a text as nft(8) prints it. Statements that are not known are in brackets.
func (i nftItem) rule(hook string) netstate.NftRule {
	r := netstate.NftRule{Family: plain.Short(i.Family, longestName), Table: plain.Short(i.Table, longestName),
		Chain: plain.Short(i.Chain, longestName), Hook: hook, Handle: i.Handle}
	var words []string
	for _, statement := range i.Statements[:min(len(i.Statements), 100)] {
		for kind, of := range statement {
			object, _ := of.(map[string]any)
			switch kind {
			case "match":
				operator := " "
				if o, _ := object["op"].(string); o != "==" && o != "in" && o != "" {
					operator = " " + o + " "
				}
				words = append(words, nftExpression(object["left"])+operator+nftExpression(object["right"]))
			case "counter":
				if words = append(words, kind); object != nil {
					packets, _ := object["packets"].(float64)
					bytes, _ := object["bytes"].(float64)
					r.Counted, r.Packets, r.Bytes = true, uint64(max(packets, 0)), uint64(max(bytes, 0))
				}
			case "drop", "accept", "return", "continue", "reject", "queue":
				words, r.Verdict = append(words, kind), kind
			case "jump", "goto":
				target, _ := object["target"].(string)
				words, r.Verdict = append(words, kind+" "+target), kind
			case "log", "masquerade", "notrack":
				words = append(words, kind)
			default:
				words = append(words, "["+kind+"]")
			}
		}
	}
	r.Text = strings.Join(words, " ")
	return r
}

// nftExpression returns an expression as nft(8) prints it.
func nftExpression(v any) string {
	list := func(key string, of any) []string {
		all, _ := of.(map[string]any)[key].([]any)
		return lists.Map(all[:min(len(all), 50)], nftExpression)
	}
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return fmt.Sprint(int64(v))
	case []any:
		return strings.Join(list("", map[string]any{"": v}), ",")
	case map[string]any:
		for kind, of := range v {
			object, _ := of.(map[string]any)
			word := func(key string) string { text, _ := object[key].(string); return text }
			switch kind {
			case "payload":
				return strings.TrimSpace(word("protocol") + " " + word("field"))
			case "meta", "ct":
				return strings.TrimPrefix(kind+" "+word("key"), "meta ")
			case "prefix":
				return nftExpression(object["addr"]) + "/" + nftExpression(object["len"])
			case "set":
				return "{ " + strings.Join(list("set", v), ", ") + " }"
			case "range":
				return strings.Join(list("range", v), "-")
			case "concat":
				return strings.Join(list("concat", v), " . ")
			}
		}
		return "[" + strings.Join(slices.Sorted(maps.Keys(v)), " ") + "]"
	}
	return ""
}
