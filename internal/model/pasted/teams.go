package pasted

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(
	&format{name: "teamdctl state", part: "bonds", row: reads((*machine).team), shapeless: true,
		command: func(c command) bool { return c.is("teamdctl") && c.has("state") && !c.has("dump") }},
	&format{name: "teamdctl state dump", part: "bonds", whole: (*machine).teamDump, shapeless: true,
		command: func(c command) bool { return c.is("teamdctl") && c.has("state") && c.has("dump") }})

// teamName returns the team of a command. Empty: it names none.
func (c command) teamName() string {
	if name := c.object(); ifname.MatchString(name) {
		return name
	}
	return ""
}

var (
	teamRow  = pattern.MustCompile(`^( *)([A-Za-z][A-Za-z_ -]{0,30}(?:\[\w{1,30}\])?):(?: (.*))?$`)
	teamPort = pattern.MustCompile(`^  ([^\s/:]{1,15})$`)
	teamAgg  = pattern.MustCompile(`^(\d{1,5})(, Selected)?$`)
	teamLink = pattern.MustCompile(`^(\d{1,7})mbit/(full|half)duplex/(?:up|down)$`)
)

// team parses a line of teamdctl TEAM state, which is indented by two spaces for each level:
//
//	ports:
//	  eth1
//	    link watches:
//	      link summary: up
//	    runner:
//	      aggregator ID: 5, Selected
func (m *machine) team(line string) bool {
	b := m.teamOf(m.command.teamName())
	if b == nil {
		return false
	}
	if p := teamPort.FindStringSubmatch(line); p != nil && m.modes == "ports" {
		m.addSlave(b, p[1])
		return true
	}
	row := teamRow.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	key, value := row[2], row[3]
	if row[1] == "" { // setup, ports, runner
		m.modes, m.bond.slave = key, 0
		return slices.Contains(partTitles, key) && m.ignore()
	}
	if m.bond.slave > 0 && m.modes == "ports" {
		return m.teamPort(b, &b.Slaves[m.bond.slave-1], key, value)
	}
	switch m.modes + " " + key {
	case "setup runner":
		b.Mode = plain.Short(value, longestName)
	case "runner fast rate":
		b.LACPRate = map[bool]string{true: "fast", false: "slow"}[value == "yes"]
	case "runner active port":
		if ifname.MatchString(value) {
			b.ActiveMember = value
		}
	default:
		return m.ignore() // teamd's own state
	}
	return true
}

// teamPort stores a value of a port.
func (m *machine) teamPort(b *netstate.Bond, s *netstate.BondMember, key, value string) bool {
	switch key {
	case "link summary":
		s.Link = upOrDown(value)
	case "down count":
		s.LinkFailures += number(value)
	case "aggregator ID":
		if a := teamAgg.FindStringSubmatch(value); a != nil {
			s.Aggregator = number(a[1])
			if a[2] != "" {
				b.Aggregator = s.Aggregator
				b.Ports++
			}
		}
	case "state":
		bits, hex := strings.CutPrefix(value, "0x")
		if !hex {
			s.State = plain.Short(value, longestName)
			break
		}
		if n, err := strconv.ParseUint(bits, 16, 8); err == nil {
			bits := int(n)
			*map[bool]**int{false: &s.ActorState, true: &s.PartnerState}[m.bond.partner] = &bits
		}
	case "system":
		address, _ := mac(value)
		*map[bool]*string{false: &s.ActorMAC, true: &s.PartnerMAC}[m.bond.partner] = address
		if m.bond.partner && s.Aggregator == b.Aggregator {
			b.PartnerMAC = address
		}
	case "ethtool link":
		if l := teamLink.FindStringSubmatch(value); l != nil {
			s.SpeedMbps, s.Duplex = int64(number(l[1])), l[2]
		}
	case "actor LACPDU info", "partner LACPDU info":
		m.bond.partner = strings.HasPrefix(key, "partner")
		return m.ignore()
	default:
		return m.ignore() // of a link watch, or of teamd
	}
	return true
}

// teamOf returns the team with a name, which it adds if it is new. Nil: it has none, or there are too
// many.
func (m *machine) teamOf(name string) *netstate.Bond {
	if name == "" {
		return nil
	}
	if b := m.currentBond(); b != nil {
		return b
	}
	if at := m.bonds[name]; at > 0 { // printed again
		m.State.Bonds[at-1], m.bond.bond = netstate.Bond{Interface: name, Kind: "team"}, at
		return &m.State.Bonds[at-1]
	}
	return m.addBond(netstate.Bond{Interface: name, Kind: "team"})
}

// teamState is the document of teamdctl TEAM state dump.
type teamState struct {
	Ports map[string]struct {
		Link struct {
			Duplex string
			Speed  int
		}
		Watches struct {
			Up   bool
			List map[string]struct {
				Downs int `json:"down_count"`
			}
		} `json:"link_watches"`
		Runner struct {
			Actor      teamFrame `json:"actor_lacpdu_info"`
			Partner    teamFrame `json:"partner_lacpdu_info"`
			Aggregator struct {
				ID       int
				Selected bool
			}
			State string
		}
	}
	Runner struct {
		FastRate   *bool  `json:"fast_rate"`
		ActivePort string `json:"active_port"`
	}
	Setup struct {
		Runner string `json:"runner_name"`
	}
	Device struct {
		Info struct {
			Name string `json:"ifname"`
		} `json:"ifinfo"`
	} `json:"team_device"`
}

// teamFrame is an LACP frame.
type teamFrame struct {
	State  int
	System string
}

// teamDump reads what teamdctl TEAM state dump prints.
func (m *machine) teamDump(s *section) {
	var state teamState
	if json.Unmarshal([]byte(s.text()), &state) != nil {
		return
	}
	name := state.Device.Info.Name
	if !ifname.MatchString(name) {
		name = m.command.teamName()
	}
	b := m.teamOf(name)
	if b == nil || len(state.Ports) > mostInterfaces {
		return
	}
	b.Mode = plain.Short(state.Setup.Runner, longestName)
	if fast := state.Runner.FastRate; fast != nil {
		b.LACPRate = map[bool]string{true: "fast", false: "slow"}[*fast]
	}
	if ifname.MatchString(state.Runner.ActivePort) {
		b.ActiveMember = state.Runner.ActivePort
	}
	for _, name := range slices.Sorted(maps.Keys(state.Ports)) {
		port := state.Ports[name]
		member := m.addSlave(b, name)
		if member == nil {
			continue
		}
		member.Link = map[bool]string{true: "up", false: "down"}[port.Watches.Up]
		member.SpeedMbps, member.State = int64(max(port.Link.Speed, 0)), plain.Short(port.Runner.State, longestName)
		if port.Link.Duplex == "full" || port.Link.Duplex == "half" {
			member.Duplex = port.Link.Duplex
		}
		for _, watch := range port.Watches.List {
			member.LinkFailures += watch.Downs
		}
		r := port.Runner
		member.Aggregator = r.Aggregator.ID
		for _, frame := range []struct {
			teamFrame
			mac   *string
			state **int
		}{{r.Actor, &member.ActorMAC, &member.ActorState}, {r.Partner, &member.PartnerMAC, &member.PartnerState}} {
			if address, is := mac(frame.System); is {
				bits := frame.State & 0xff
				*frame.mac, *frame.state = address, &bits
			}
		}
		if r.Aggregator.Selected {
			b.Aggregator, b.PartnerMAC = r.Aggregator.ID, member.PartnerMAC
			b.Ports++
		}
	}
	s.all(used)
}
