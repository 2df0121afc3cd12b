package pasted

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/pattern"
)

// token matches a word of the values of ip(8), which then is in a line of text.
var token = pattern.MustCompile(`^[^\s\x00-\x1f]{1,100}$`)

// members returns the values of the members of an object by their keys, each as one word. Is is false
// if one is none.
func members(element json.RawMessage) (words map[string]string, is bool) {
	var all map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(element)))
	decoder.UseNumber()
	if decoder.Decode(&all) != nil || len(all) == 0 {
		return nil, false
	}
	words = map[string]string{}
	for key, value := range all {
		switch value.(type) {
		case string, json.Number:
			text := fmt.Sprint(value)
			if !token.MatchString(text) {
				return nil, false
			}
			words[key] = text
		case nil:
			words[key] = ""
		}
	}
	return words, true
}

// routeJSON stores a route, or an answer of ip route get, by the line that ip prints without -j.
func (m *machine) routeJSON(element json.RawMessage) bool {
	words, is := members(element)
	var lists struct {
		State json.RawMessage `json:"state"`
		Flags []string        `json:"flags"`
		Via   struct {
			Family string `json:"family"`
			Host   string `json:"host"`
		} `json:"via"`
		Nexthops []struct {
			Gateway string   `json:"gateway"`
			Dev     string   `json:"dev"`
			Weight  int      `json:"weight"`
			Flags   []string `json:"flags"`
			Via     struct {
				Family string `json:"family"`
				Host   string `json:"host"`
			} `json:"via"`
		} `json:"nexthops"`
	}
	if !is || words["dst"] == "" || json.Unmarshal(element, &lists) != nil || lists.State != nil {
		return false // of a neighbour
	}
	if words["type"] == "unicast" { // of ip -d
		delete(words, "type")
	}
	line := []string{words["type"], words["dst"]}
	for _, option := range [][2]string{{"from", "from"}, {"nhid", "nhid"}, {"gateway", "via"}, {"dev", "dev"},
		{"table", "table"}, {"protocol", "proto"}, {"scope", "scope"}, {"prefsrc", "src"}, {"metric", "metric"},
		{"uid", "uid"}, {"pref", "pref"}} {
		if value := words[option[0]]; value != "" {
			line = append(line, option[1], value)
		}
		if option[0] == "gateway" && token.MatchString(lists.Via.Host) && token.MatchString(lists.Via.Family) {
			line = append(line, "via", lists.Via.Family, lists.Via.Host)
		}
	}
	for _, flag := range lists.Flags {
		if slices.Contains([]string{"onlink", "dead", "linkdown"}, flag) {
			line = append(line, flag)
		}
	}
	m.last = routeFormat // next hops belong to the route before them
	if !m.route(strings.TrimSpace(strings.Join(line, " "))) {
		return false
	}
	for _, hop := range lists.Nexthops {
		text := "\tnexthop "
		switch {
		case token.MatchString(hop.Via.Host):
			text += "via inet6 " + hop.Via.Host + " "
		case token.MatchString(hop.Gateway):
			text += "via " + hop.Gateway + " "
		}
		m.route(text + "dev " + hop.Dev + " weight " + strconv.Itoa(hop.Weight) + " " + strings.Join(hop.Flags, " "))
	}
	return true
}

// ruleJSON stores a routing rule, by the line that ip prints without -j.
func (m *machine) ruleJSON(element json.RawMessage) bool {
	words, is := members(element)
	if !is || words["priority"] == "" || words["src"] == "" {
		return false
	}
	line := words["priority"] + ":\t"
	if _, not := words["not"]; not {
		line += "not "
	}
	line += "from " + words["src"]
	if words["srclen"] != "" {
		line += "/" + words["srclen"]
	}
	if words["dst"] != "" {
		line += " to " + words["dst"]
		if words["dstlen"] != "" {
			line += "/" + words["dstlen"]
		}
	}
	for key, value := range words {
		if !slices.Contains([]string{"priority", "not", "src", "srclen", "dst", "dstlen", "table", "protocol"}, key) {
			line += " " + key + " x" + value // a rule selects by it, or does something else
			break
		}
	}
	if words["table"] != "" {
		line += " lookup " + words["table"]
	}
	row := ruleRow.FindStringSubmatch(line)
	return row != nil && m.rule(row)
}

// neighbourJSON stores a neighbour, by the line that ip prints without -j.
func (m *machine) neighbourJSON(element json.RawMessage) bool {
	words, is := members(element)
	var lists struct {
		State []string `json:"state"`
	}
	if !is || words["dst"] == "" || json.Unmarshal(element, &lists) != nil ||
		lists.State == nil && words["lladdr"] == "" {
		return false
	}
	line := words["dst"]
	if words["dev"] != "" {
		line += " dev " + words["dev"]
	}
	if words["lladdr"] != "" {
		line += " lladdr " + words["lladdr"]
	}
	return m.neighbour(line + " " + strings.Join(lists.State, " "))
}

// qdiscJSON stores a queueing discipline: its head by the line that tc prints without -j, and its counters.
func (m *machine) qdiscJSON(element json.RawMessage) bool {
	var e struct {
		Kind, Handle, Dev, Parent string
		Root                      bool
		Options                   struct {
			Limit           uint64
			Rate, Bandwidth json.RawMessage // in bytes per second, or "unlimited"
		}
		Bytes, Packets, Drops, Overlimits, Requeues, Backlog, Qlen uint64
	}
	var wrong *json.UnmarshalTypeError // of another kind's options
	if err := json.Unmarshal(element, &e); err != nil && !errors.As(err, &wrong) || e.Kind == "" || e.Handle == "" {
		return false
	}
	line := "qdisc " + e.Kind + " " + e.Handle + " "
	if e.Dev != "" {
		line += "dev " + e.Dev + " "
	}
	if e.Root || e.Parent == "" {
		line += "root "
	} else {
		line += "parent " + e.Parent + " "
	}
	if e.Options.Limit > 0 {
		line += "limit " + strconv.FormatUint(e.Options.Limit, 10) + "p "
	}
	rate, err := strconv.ParseUint(string(e.Options.Rate)+string(e.Options.Bandwidth), 10, 59)
	if err == nil && rate > 0 {
		line += "rate " + strconv.FormatUint(8*rate, 10) + "bit"
	}
	list := &m.Reading.End.Qdiscs
	if before := len(*list); !m.qdisc(line) || len(*list) == before {
		return false
	}
	q := &(*list)[len(*list)-1]
	q.Bytes, q.Packets, q.Drops, q.Overlimits = e.Bytes, e.Packets, e.Drops, e.Overlimits
	q.Requeues, q.Backlog, q.Qlen = e.Requeues, e.Backlog, e.Qlen
	return true
}
