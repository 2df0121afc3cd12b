package pasted

import (
	"cmp"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(
	&format{name: "nft", row: reads((*machine).nftables), sure: nftTable.MatchString, comments: true,
		command: func(c command) bool { return c.is("nft") && !nftJSON(c) },
		files:   []string{"etc/nftables.conf", "nftables/*.nft", "nft_list_ruleset", "nft_-a_list_ruleset"}},
	&format{name: "nft -j", whole: (*machine).nftablesJSON,
		sure:    func(line string) bool { return beginsJSON(line) || strings.HasPrefix(line, `{"nftables"`) },
		command: func(c command) bool { return c.is("nft") && nftJSON(c) }})

func nftJSON(c command) bool { return c.flag('j') || c.has("--json") }

// nftPlace is where in the output of nft list ruleset the lines are.
type nftPlace struct {
	// block is what the innermost block describes: table, chain, set, map, counter, quota, or another
	// word. Empty: no block. Name is its name.
	block, name string
	table       string // "inet filter"
	// open has a statement that continues on the next line, without what exceeds longestLine; depth is the
	// number of open braces in it, and commas that of commas.
	open          string
	depth, commas int
	size          int    // of a set
	set           string // "set" or "map" until its elements are counted
}

var (
	nftTable = pattern.MustCompile(`^table (?:(ip|ip6|inet|arp|bridge|netdev) )?([\w./-]{1,64}) \{(?: # handle \d+)?$`)
	nftBlock = pattern.MustCompile(`^(chain|set|map|counter|quota|limit|flowtable|secmark|synproxy|ct \w+) ` +
		`("[\w./-]{1,64}"|[\w./-]{1,64}) \{(?: # handle \d+)?$`)
	nftHook  = pattern.MustCompile(`^type \w+ hook (\w{1,20}) (?:device \S+ )?priority [^;]{1,40};(?: policy (\w+);)?`)
	nftTail  = pattern.MustCompile(`(?: comment "[^"]*")?(?: # handle (\d{1,19}))?$`)
	nftCount = pattern.MustCompile(`(^| )counter packets (\d{1,20}) bytes (\d{1,20})`)
	nftEnd   = pattern.MustCompile(`(?:^| )(drop|accept|return|continue|reject|jump|goto|queue|vmap|masquerade|` +
		`redirect|snat|dnat|synproxy)(?: with [\w /-]+)?(?: [\w@"./-]+)?$`)
	nftObject = pattern.MustCompile(`^packets (\d{1,20}) bytes (\d{1,20})$`)
	nftQuota  = pattern.MustCompile(`^(?:over )?(\d{1,15}) (bytes|kbytes|mbytes)(?: used (\d{1,15}) (bytes|kbytes|` +
		`mbytes))?$`)
	// nftSetLine matches lines of a set, map or flowtable other than its size and elements.
	nftSetLine = pattern.MustCompile(`^(?:type|typeof|flags|timeout|gc-interval|policy|auto-merge|counter|comment|` +
		`hook|devices|handle|rate|expectation|l3proto|protocol|dport)\b`)
)

// nftables parses a line of nft list ruleset.
func (m *machine) nftables(line string) bool {
	p, text := &m.filtering.nft, strings.TrimSpace(line)
	if head := nftTable.FindStringSubmatch(text); head != nil && p.block == "" {
		family := cmp.Or(head[1], "ip")
		*p = nftPlace{block: "table", name: plain.Short(head[2], longestName), table: family}
		m.addFirewallRule(netstate.NftRule{}) // the rules are known, even if there is none
		return m.ignore()
	}
	if m.State.Nftables == nil && p.block != "" { // the machine of a trial
		m.addFirewallRule(netstate.NftRule{})
	}
	switch {
	case p.block == "":
		return m.command.is("nft") && (strings.HasPrefix(text, "#") || text == "flush ruleset") && m.ignore()
	case p.open != "":
		return m.nftContinued(text)
	case text == "}":
		m.nftClose()
		return m.ignore()
	case p.block == "table":
		if head := nftBlock.FindStringSubmatch(text); head != nil {
			m.nftBegin(head[1], strings.Trim(head[2], `"`))
			return m.ignore()
		}
		return (strings.HasPrefix(text, "comment ") || strings.HasPrefix(text, "flags ")) && m.ignore()
	case strings.HasPrefix(text, "#"):
		return m.ignore()
	}
	p.open, p.depth, p.commas = text, braces(text), strings.Count(text, ",")
	if p.depth > 0 {
		return true
	}
	return m.nftStatement()
}

// nftBegin begins a block of a table.
func (m *machine) nftBegin(block, name string) {
	p := &m.filtering.nft
	m.filtering.chain, m.filtering.hook, m.filtering.number = plain.Short(name, longestName), "", 0
	m.filtering.family, m.filtering.table = p.table, p.name
	p.block, p.size, p.set = block, 0, ""
}

// nftClose ends the innermost block.
func (m *machine) nftClose() {
	p := &m.filtering.nft
	if p.block == "table" {
		p.block = ""
		return
	}
	if p.size > 0 { // a set without elements
		m.nftSet(0)
	}
	p.block = "table"
}

// nftContinued adds a line to a statement of several lines.
func (m *machine) nftContinued(text string) bool {
	p := &m.filtering.nft
	if len(p.open) < longestLine {
		p.open += " " + text
	}
	p.commas += strings.Count(text, ",")
	if p.depth += braces(text); p.depth > 0 {
		return true
	}
	return m.nftStatement()
}

// braces returns how many braces a line opens, less those that it closes, outside of quoted text.
func braces(text string) (n int) {
	quoted := false
	for _, r := range text {
		switch {
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == '{':
			n++
		case r == '}':
			n--
		}
	}
	return n
}

// nftStatement parses a whole statement of a block.
func (m *machine) nftStatement() bool {
	p, n := &m.filtering.nft, m.State.Nftables
	text := p.open
	p.open = ""
	switch p.block {
	case "chain":
		return m.nftRule(text)
	case "set", "map":
		if size, is := strings.CutPrefix(text, "size "); is {
			if n, err := strconv.ParseUint(strings.Fields(size + " 0")[0], 10, 31); err == nil {
				p.size = int(n)
			}
			return true
		}
		if strings.HasPrefix(text, "elements = ") {
			if p.size == 0 {
				return m.ignore()
			}
			m.nftSet(p.commas + 1)
			return true
		}
	case "counter":
		if row := nftObject.FindStringSubmatch(text); row != nil && len(n.Objects) < netstate.MostNftSets {
			n.Objects = append(n.Objects, netstate.NftObject{Family: p.table, Table: p.name, Name: m.filtering.chain,
				Kind: "counter", Packets: scaled(row[1]), Bytes: scaled(row[2])})
			return true
		}
	case "quota":
		if row := nftQuota.FindStringSubmatch(text); row != nil && len(n.Objects) < netstate.MostNftSets {
			unit := map[string]uint64{"": 0, "bytes": 1, "kbytes": 1 << 10, "mbytes": 1 << 20}
			n.Objects = append(n.Objects, netstate.NftObject{Family: p.table, Table: p.name, Name: m.filtering.chain,
				Kind: "quota", Quota: scaled(row[1]) * unit[row[2]], Bytes: scaled(row[3]) * unit[row[4]]})
			return true
		}
	}
	return (p.block != "chain" && nftSetLine.MatchString(text)) && m.ignore()
}

// nftSet adds the set or map whose block it is.
func (m *machine) nftSet(elements int) {
	p, n := &m.filtering.nft, m.State.Nftables
	if len(n.Sets) < netstate.MostNftSets {
		n.Sets = append(n.Sets, netstate.NftSet{Family: p.table, Table: p.name, Name: m.filtering.chain, Size: p.size,
			Elements: elements})
	}
	p.size = 0
}

// nftRule parses a rule of a chain, or the hook and policy of a base chain.
func (m *machine) nftRule(text string) bool {
	p, f := &m.filtering.nft, &m.filtering
	r := netstate.NftRule{Family: p.table, Table: p.name, Chain: f.chain}
	if hook := nftHook.FindStringSubmatch(text); hook != nil {
		f.hook = plain.Short(hook[1], longestName)
		r.Hook, r.Verdict, r.Text = f.hook, hook[2], netstate.PolicyDrop
		return r.Verdict == "drop" && m.addFirewallRule(r) || m.ignore()
	}
	if strings.HasPrefix(text, "comment ") {
		return m.ignore()
	}
	tail := nftTail.FindStringSubmatch(text)
	r.Handle, _ = strconv.ParseUint(tail[1], 10, 64)
	r.Text = strings.TrimSuffix(text, tail[0])
	if f.number++; r.Handle == 0 && !m.filtered {
		r.Number = f.number
	}
	if count := nftCount.FindStringSubmatch(r.Text); count != nil {
		r.Counted, r.Packets, r.Bytes = true, scaled(count[2]), scaled(count[3])
		r.Text = strings.Replace(r.Text, count[0], count[1]+"counter", 1)
	}
	if end := nftEnd.FindStringSubmatch(r.Text); end != nil {
		r.Verdict = end[1]
	}
	r.Hook = f.hook
	return m.addFirewallRule(r) || m.ignore()
}
