// Package pasted reads the output of network tools, of one or more machines in one text, as people
// paste it and as support archives contain it. Each machine becomes a netstate.HostSnapshot with the
// parts that the text contains, so that the rules for snapshots apply to it.
//
// A text consists of sections: what one command printed, or what one file contains. A known command
// or file decides the format of its section; otherwise the shape of the lines does. Each format is a
// value of type format in a file of its own.
//
// The text is untrusted: its size is limited, lines of unknown form are listed, and no line causes
// an error.
package pasted

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

// LargestText is the maximum size of a pasted text in bytes.
const LargestText = 64 << 20

// Limits: machines, used lines of a format and rows of a table, interfaces, bytes of a line that is no
// JSON, and of a name.
const mostMachines, mostRows, mostInterfaces, longestLine, longestName = 100, 100_000, 4096, 16_000, 60

// Text is the result of Parse.
type Text struct {
	// Machines are in the order of the text. Machines without a name in the text are called host1,
	// host2, … and switch1, …
	Machines []netstate.HostSnapshot
	// Lines counts the lines that are not empty. Idle of them are known and have no meaning for any
	// rule: prompts, heads, counters that none reads. Lost of them are of unknown form; all others
	// are used.
	Lines, Idle, Lost int
	// NotUnderstood has lines of unknown form with their numbers, at most mostLost.
	NotUnderstood []string
	// Formats lists the formats that were recognised.
	Formats []FormatLines
	// Untimed are commands whose output is there twice, without how much time is in between.
	Untimed []string
}

// FormatLines counts the lines of a format: those that are in a snapshot, and those that are known
// and have no meaning for any rule.
type FormatLines struct {
	Format     string
	Used, Idle int
}

const mostLost = 20

func behindGap(_ *machine, _ string, gap bool) bool { return gap }

// machine is a machine while its text is parsed.
type machine struct {
	netstate.HostSnapshot
	named bool // by a prompt
	// has has the formats that were read of the machine, usedLines how many lines of each are used, and
	// last the format of the last line.
	has       map[*format]bool
	usedLines map[*format]int
	last      *format
	// used reports whether any line of the machine is in its snapshot, and ignored whether the line that
	// is read has no meaning for any rule.
	used, ignored bool
	number        int                // of the line that is read
	netifs        map[string]int     // index of each interface
	qdiscs        map[[2]string]bool // by interface and handle
	shapers       map[string]string  // qdisc or class with the rate of an interface
	context
	interfaceParts
	ethtools
	bondIndex
	interrupts
	measurements
	governors
	pciDevices
	sysfsIndex
	sockets
	routing
	logs
	pings
	firewall
	system
}

// context is the state on which the meaning of the lines after a command depends.
type context struct {
	command command
	// columns are the words of the header of a switch's table. section is the section of netstat -s
	// that the lines belong to, and histogram the direction of ICMP messages in it: In, Out.
	columns            []string
	section, histogram string
	// at is the index of the interface that indented lines of ip(8) belong to; -1: an interface
	// that is not kept. counts has the counter names for the next line.
	at     int
	inside bool // whether an interface or the loopback is being parsed
	class  bool // whether counters of tc -s are those of a class
	vf     bool // whether counters of ip -s link are those of a virtual function
	counts []string
	// block and device are the block of ethtool and its interface, empty if unknown. modes is the
	// key of link modes that continue on the next line.
	block, device, modes string
	eth                  ethtoolState
	bond                 bondState
	transfer             transferState
	// filtered reports whether lines of the output may be missing.
	filtered bool
	began    int // the number of the line with the command
	filtering
	memory memory
	// hasNeighbour reports whether the rows of lldpctl belong to the last neighbour.
	hasNeighbour bool
	// What other formats keep is in their files.
	cpuState
	pciState
	sysstatContext
	cpuTimesContext
	stamping
	parameters
	pinging
	ifconfigContext
	bsdContext
	routeContext
	snmpContext
	bsdCounterContext
	workstreamContext
	managerContext
	toolContext
	tableContext
}

// behind returns the context for the output of a command.
func behind(c command) *context {
	after := context{command: c, at: -1}
	after.block, after.device = c.ethtoolBlock()
	return &after
}

// control matches terminal control sequences, such as the colours of ip(8) -c and the window title
// of a prompt in the output of script(1) (ECMA-48: CSI, OSC and the choice of a character set), and
// the carriage return with which readline ends the sequence that it writes before the output of a
// command.
var control = pattern.MustCompile(
	`\x1b\[\?2004[hl]\r?|\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~])`)

// Parse parses a text. It returns an error if the text is too large, or if no line is understood.
// Of what has the output of a command twice, it has what grew in between (ParseOver).
func Parse(text string) (Text, error) { return ParseOver(text, 0) }

func parseOnce(text string) (Text, error) {
	if len(text) > LargestText {
		return Text{}, fmt.Errorf("the text has %d bytes: expected at most %d", len(text), LargestText)
	}
	r := reader{}
	if list := supportSections(text); len(list) > 0 { // a file of supportconfig alone
		for _, s := range list {
			r.member = "supportconfig"
			r.section(s.start, s.text, s.line)
		}
	} else {
		r.text(text, 0)
	}
	if shared := r.shared(); len(shared) > 0 { // what seemed to be namespaces of their own are the host's
		r = reader{hosts: shared}
		r.text(text, 0)
	}
	r.finish()
	if len(r.Machines) == 0 && len(r.Formats) > 0 {
		names := lists.Map(r.Formats[:min(len(r.Formats), 4)], func(f FormatLines) string { return f.Format })
		return r.Text, fmt.Errorf("nothing could be judged: no rule uses the output of %s; add what ip -s -s link, "+
			"ethtool IF, ss -tin and nstat -az print on the same host", strings.Join(names, ", "))
	}
	if len(r.Machines) == 0 {
		return r.Text, errors.New("no part of the text could be read: expected what ip, ss, ethtool, tc, nstat, " +
			"netstat, arp, sysctl, dmesg or ifconfig print, files of /proc, or a switch's table of MAC addresses")
	}
	return r.Text, nil
}

// text reads lines, of which so many precede in the file.
func (r *reader) text(text string, number int) {
	quoted := quotes(text)
	for text := range strings.Lines(text) {
		number++
		text = lineOf(text, quoted)
		if strings.TrimSpace(text) == "" {
			r.gap = true
			if len(r.collected) > 0 {
				r.collected = append(r.collected, line{number: number})
			}
			continue
		}
		l := line{number: number, text: text}
		if len(text) > longestLine && !r.wholly() && len(wholes(text)) == 0 {
			r.lose(l)
			continue
		}
		r.read(l)
	}
}

// Decoded returns a text without a byte order mark, in UTF-8: the shell of Windows writes UTF-16.
func Decoded(text []byte) string {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")):
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return strings.TrimPrefix(string(text), "\ufeff")
	}
	units := make([]uint16, 0, len(text)/2)
	for at := 2; at+1 < len(text); at += 2 {
		units = append(units, order.Uint16(text[at:]))
	}
	return string(utf16.Decode(units))
}

// lineOf returns a line of a text without its end, terminal control sequences and quotation marks of mail.
func lineOf(text string, quoted int) string {
	if strings.IndexByte(text, '\x1b') >= 0 {
		text = control.Regexp().ReplaceAllString(text, "")
	}
	text = strings.TrimRight(text, "\r\n\t\v\f ")
	if before, is := strings.CutSuffix(text, "```"); is && strings.TrimSpace(before) != "" { // a block of code ends
		text = before
	}
	return unquoted(text, quoted)
}

// quotes returns the depth of quotation marks of mail ("> ") that most lines of a text have.
func quotes(text string) (depth int) {
	var at [4]int
	lines := 0
	for l := range strings.Lines(text) {
		if strings.TrimSpace(l) == "" {
			continue
		}
		if lines++; lines > 1000 {
			break
		}
		for d := 0; d < len(at) && strings.HasPrefix(l, ">"); d++ {
			at[d]++
			l = strings.TrimLeft(l[1:], " ")
		}
	}
	for depth < len(at) && 2*at[depth] > lines {
		depth++
	}
	return depth
}

// unquoted returns a line without this many quotation marks of mail.
func unquoted(text string, depth int) string {
	for range depth {
		if !strings.HasPrefix(text, ">") {
			break
		}
		text = strings.TrimPrefix(text[1:], " ")
	}
	return text
}
