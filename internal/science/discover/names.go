package discover

import (
	"cmp"
	"strconv"
	"strings"
)

// The longest names of hosts, and of interfaces in the kernel.
const longestNode, longestInterface = 32, 15

// cleaned returns a text of a neighbour as a name: letters, digits, - and _, and in ports also dots.
func cleaned(text string, longest int, also string) string {
	var name strings.Builder
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' ||
			strings.ContainsRune(also, r):
			name.WriteRune(r)
		case name.Len() > 0 && !strings.HasSuffix(name.String(), "-"):
			name.WriteByte('-')
		}
	}
	made := strings.Trim(name.String(), "-_.")
	return strings.TrimRight(made[:min(len(made), longest)], "-_.")
}

// numbered returns the name, or the name with a number if it is taken, within a length.
func numbered(name string, longest int, taken func(string) bool) string {
	for n := 1; ; n++ {
		one := name
		if n > 1 {
			number := "-" + strconv.Itoa(n)
			one = name[:min(len(name), longest-len(number))] + number
		}
		if !taken(one) {
			return one
		}
	}
}

// name returns the name of a new host or switch: the first label of a DNS name, without the user and the
// port of ssh.
func (b *builder) name(text string) string {
	text = text[strings.LastIndex(text, "@")+1:]
	if short, _, is := strings.Cut(text, "."); is && strings.Trim(text, "0123456789.:") != "" {
		text = short
	}
	if strings.Count(text, ":") == 1 {
		text, _, _ = strings.Cut(text, ":")
	}
	name := numbered(cmp.Or(cleaned(text, longestNode, "-"), "host"), longestNode,
		func(s string) bool { return b.names[s] })
	b.names[name] = true
	return name
}

// port returns the name of a switch port in the topology, by that which the switch uses.
func (d *unmanaged) port(text string) string {
	if name, is := d.ports[text]; is {
		return name
	}
	taken := map[string]bool{"lo": true, "all": true, "default": true}
	for _, other := range d.ports {
		taken[other] = true
	}
	// The number of a port is at the end of its name: GigabitEthernet1/0/7.
	short := cleaned(text, len(text), "-.")
	if len(short) > longestInterface {
		digits := strings.IndexAny(short, "0123456789")
		if tail := short[max(0, digits):]; digits > 0 && len(tail) <= longestInterface-2 {
			short = short[:2] + tail
		} else {
			short = short[len(short)-longestInterface:]
		}
	}
	name := numbered(cmp.Or(strings.Trim(short, "-."), "port"), longestInterface,
		func(s string) bool { return taken[s] })
	d.ports[text] = name
	return name
}

// natural orders names with numbers as people do: leaf2 before leaf10.
func natural(a, b string) int {
	digits := func(s string) int {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		return n
	}
	for x, y := a, b; ; {
		if x == "" || y == "" {
			return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
		}
		i, j := digits(x), digits(y)
		if i > 0 && j > 0 {
			p, q := strings.TrimLeft(x[:i], "0"), strings.TrimLeft(y[:j], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
				return c
			}
			x, y = x[i:], y[j:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
}
