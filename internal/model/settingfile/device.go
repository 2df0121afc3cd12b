package settingfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// This file has lines about interfaces that ip(8) and tc(8) change. They are checked, and not tried:
// a trial of tune changes kernel parameters and options of NICs and CPUs.

// linkKey and qdiscKey are the prefixes of their keys: "link eth0 mtu", "qdisc eth0 root".
const linkKey, qdiscKey = "link ", "qdisc "

// Tried reports whether tune can try the line.
func (l Line) Tried() bool {
	return !strings.HasPrefix(l.Key, linkKey) && !strings.HasPrefix(l.Key, qdiscKey)
}

// device returns the interface and the attribute in the key of such a line.
func device(key string) (iface, attribute string) {
	words := strings.Fields(key)
	if len(words) != 3 || words[0]+" " != linkKey && words[0]+" " != qdiscKey {
		return "", ""
	}
	return words[1], words[2]
}

// addLink appends an attribute of an interface.
func (f *File) addLink(n int, iface, attribute, value string) {
	f.option(n, linkKey+iface+" "+attribute, value)
}

// linkAttributes are the attributes of an interface with the least and the largest value.
var linkAttributes = map[string][2]int{"mtu": {68, 65536}, "txqueuelen": {0, 1 << 30}, "gso_max_size": {1, 1 << 20},
	"gro_max_size": {1, 1 << 20}}

// ipLink parses the arguments of "ip link set": [dev] eth0 mtu 9000 txqueuelen 5000 up. It returns the
// words that are not known.
func (f *File) ipLink(n int, words []string) (rest []string) {
	if len(words) > 0 && words[0] == "dev" {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	iface := words[0]
	for i := 1; i < len(words); i++ {
		name := words[i]
		if name == "qlen" || name == "txqlen" {
			name = "txqueuelen"
		}
		switch _, known := linkAttributes[name]; {
		case known && i+1 < len(words):
			f.addLink(n, iface, name, words[i+1])
			i++
		case name == "up" || name == "down": // as it is for any use
		default:
			rest = append(rest, words[i])
		}
	}
	return rest
}

// tcVerbs are the commands of "tc qdisc" that change something.
var tcVerbs = []string{"add", "replace", "change"}

// tcQdisc parses the arguments of "tc qdisc": replace dev eth0 root fq limit 1000. It returns why it is
// wrong, or why it is not read. Both empty: it was read, or it changes nothing.
func (f *File) tcQdisc(n int, words []string) (wrong, unread string) {
	if len(words) == 0 {
		return "", ""
	}
	verb := words[0]
	switch {
	case slices.Contains([]string{"show", "list", "ls", "get", "help"}, verb):
		return "", ""
	case slices.Contains([]string{"del", "delete", "remove", "rm"}, verb):
		return "", "it removes a queueing discipline"
	case verb == "link":
	case !slices.Contains(tcVerbs, verb):
		return fmt.Sprintf("tc qdisc has no command %q: expected replace, or change", verb), ""
	}
	iface, rest := "", words[1:]
	root := false
	for len(rest) > 0 {
		if rest[0] == "dev" && len(rest) > 1 {
			iface, rest = rest[1], rest[2:]
		} else if rest[0] == "root" {
			root, rest = true, rest[1:]
		} else if rest[0] == "handle" && len(rest) > 1 {
			rest = rest[2:]
		} else {
			break
		}
	}
	if iface == "" || !root || len(rest) == 0 {
		return "", "only a queueing discipline at the root of an interface is known here"
	}
	if _, unknown := qdiscOf(iface, rest); unknown != "" {
		return "", unknown
	}
	f.option(n, qdiscKey+iface+" root", strings.Join(rest, " "))
	return "", ""
}

// qdiscOf returns a queueing discipline from the words of tc(8) after root, or why they are not known.
func qdiscOf(iface string, words []string) (q setting.Qdisc, unknown string) {
	q.Interface, q.Kind = iface, words[0]
	if _, known := setting.FindQdiscKind(q.Kind); !known {
		return q, "the queueing discipline " + q.Kind + " is not known here"
	}
	for i := 1; i < len(words); i++ {
		option := words[i]
		if option == "ecn" || option == "noecn" {
			on := option == "ecn"
			q.ECN = &on
			continue
		}
		if i++; i >= len(words) {
			return q, "the option " + option + " of " + q.Kind + " is not known here"
		}
		var err error
		switch option {
		case "limit":
			q.Limit, err = strconv.Atoi(words[i])
		case "rate", "bandwidth":
			q.Rate, err = unit.ParseBitRate(words[i])
		case "target", "interval":
			var d time.Duration
			if d, err = time.ParseDuration(words[i]); option == "target" {
				q.Target = unit.Duration(d)
			} else {
				q.Interval = unit.Duration(d)
			}
		case "perturb":
			var seconds int
			seconds, err = strconv.Atoi(words[i])
			q.Perturb = unit.Duration(time.Duration(seconds) * time.Second)
		default:
			return q, "the option " + option + " of " + q.Kind + " is not known here"
		}
		if err != nil {
			return q, "the value " + words[i] + " of " + option + " is not known here"
		}
	}
	return q, ""
}

// wrongDevice returns what is wrong with such a line. Empty: nothing that is known.
func (l Line) wrongDevice() string {
	iface, attribute := device(l.Key)
	if strings.HasPrefix(l.Key, qdiscKey) {
		q, _ := qdiscOf(iface, strings.Fields(l.Value))
		_, why := q.Check()
		return why
	}
	bounds := linkAttributes[attribute]
	if n, err := strconv.Atoi(l.Value); err != nil || n < bounds[0] || n > bounds[1] {
		return fmt.Sprintf("%s %s: expected a number from %d to %d", attribute, l.Value, bounds[0], bounds[1])
	}
	return ""
}
