// Package settingfile parses the files in which administrators keep kernel parameters: sysctl.conf
// and the files of sysctl.d, FreeBSD's and OpenBSD's sysctl.conf, FreeBSD's loader.conf, and tuned
// profiles. It returns their lines and which of them are in effect, and does not judge them.
//
// Formats: sysctl.conf(5), sysctl.d(5), sysctl.conf(5) and loader.conf(5) of
// FreeBSD, sysctl.conf(5) of OpenBSD, tuned-profiles(7). The package does no I/O.
package settingfile

import (
	"fmt"
	"iter"
	"path"
	"strings"
	"unicode"
)

// Operating systems that a file can be for.
const (
	Linux   = "linux"
	FreeBSD = "freebsd"
	OpenBSD = "openbsd"
)

// Formats of a file.
const (
	sysctlConf   = "sysctl.conf" // key = value
	loaderConf   = "loader.conf" // key="value"
	tunedProfile = "tuned"       // a tuned profile: sections of key=value
	udevRules    = "udev"        // rules of udev(7)
	linkFile     = "systemd.link"
	ifcfgFile    = "ifcfg"      // of network-scripts
	interfaces   = "interfaces" // interfaces(5)
	netplanFile  = "netplan"
	scriptFile   = "script" // commands for a shell
)

// SystemNames and FormatNames have the names of systems and formats for display.
var (
	SystemNames = map[string]string{Linux: "Linux", FreeBSD: "FreeBSD", OpenBSD: "OpenBSD"}
	FormatNames = map[string]string{sysctlConf: "sysctl.conf", loaderConf: "loader.conf", tunedProfile: "tuned profile",
		udevRules: "udev rules", linkFile: "systemd.link", ifcfgFile: "ifcfg", interfaces: "interfaces",
		netplanFile: "netplan", scriptFile: "script"}
)

// File is the parsed content of a file.
type File struct {
	Name   string
	Format string
	System string
	// Lines are the parameters that it sets, in the order of the file.
	Lines []Line
	// Apart has the other lines of the file, such as other sections of a profile.
	Apart []Apart
}

// Line is a parameter with its value.
type Line struct {
	File string
	Line int
	// Key has dots as separators, regardless of how it was written. A dot inside a part is a slash,
	// as in sysctl(8).
	Key   string
	Value string

	// Bound is tuned's ">" or "<": the value is only set if that increases, or decreases, the
	// current one.
	Bound string

	// Slip says why programs reject the line as it is written in the file. Written is that text;
	// Key and Value are what it was meant to set. Both are empty if programs accept the line.
	Slip, Written string
}

// Where returns file:line.
func (l Line) Where() string { return fmt.Sprintf("%s:%d", l.File, l.Line) }

// Setting formats the line as in sysctl.conf.
func (l Line) Setting() string { return l.Key + " = " + l.Value }

// Bare separates the value from a comment that people write after it, beginning with "#", ";" or
// "//". On Linux such text is part of the value: in sysctl.conf(5) a comment must be on its own
// line.
func (l Line) Bare() (value, comment string) {
	lastLetter := strings.LastIndexFunc(l.Value, unicode.IsLetter)
	for i, r := range l.Value {
		rest := l.Value[i:]
		spaced := i > 0 && l.Value[i-1] == ' '
		number := i > 0 && l.Value[i-1] >= '0' && l.Value[i-1] <= '9'
		switch {
		case r == '#' && (spaced || number):
		case r == ';' && spaced && i < lastLetter:
		case strings.HasPrefix(rest, "//") && (spaced || number):
		default:
			continue
		}
		return strings.TrimSpace(l.Value[:i]), rest
	}
	return l.Value, ""
}

// Apart is a line that sets no kernel parameter.
type Apart struct {
	File string
	Line int
	Text string
	Why  string
	// Instead has the intended lines, if they are known.
	Instead []string
	// Wrong reports whether the line is a mistake. False: it is just not a parameter.
	Wrong bool
}

// Read parses a file. If system is empty, it is detected from the keys.
func Read(name string, text []byte, system string) File {
	f := File{Name: name, System: system, Format: format(name, string(text))}
	switch read, of := readers[f.Format]; {
	case of:
		read(&f, string(text))
	default:
		for n, line := range entries(string(text)) {
			f.sysctl(n, line)
		}
	}
	if f.System != "" {
		return f
	}
	if f.System = f.guess(); f.System != Linux && f.Format == sysctlConf {
		return Read(name, text, f.System) // by the rules of that system
	}
	return f
}

// readers parse the formats that contain more than kernel parameters.
var readers = map[string]func(*File, string){
	tunedProfile: (*File).profile, udevRules: (*File).udev, linkFile: (*File).link, ifcfgFile: (*File).ifcfg,
	interfaces: (*File).interfaces, netplanFile: (*File).netplan, scriptFile: (*File).script,
}

// format detects the format: in most cases by the file's name, like the programs that read it; a
// tuned profile by its sections.
func format(name, text string) string {
	switch base := path.Base(name); {
	case strings.Contains(base, "loader"):
		return loaderConf // its lines may be those of a sysctl.conf
	case path.Ext(base) == ".rules":
		return udevRules
	case path.Ext(base) == ".link":
		return linkFile
	case strings.HasPrefix(base, "ifcfg-"):
		return ifcfgFile
	case base == "interfaces" || path.Base(path.Dir(name)) == "interfaces.d":
		return interfaces
	case path.Ext(base) == ".yaml" || path.Ext(base) == ".yml":
		return netplanFile
	case path.Ext(base) == ".sh" || strings.HasPrefix(text, "#!"):
		return scriptFile
	}
	for _, line := range entries(text) {
		if line[0] == '[' && strings.HasSuffix(line, "]") {
			return tunedProfile
		}
		break
	}
	return sysctlConf
}

// entries returns the lines of a text with their numbers, without blank lines and comments.
func entries(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(text) {
			n++
			line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
			if line != "" && line[0] != '#' && line[0] != ';' && !yield(n, line) {
				return
			}
		}
	}
}

// sysctl parses a line "key = value", quoted or not.
func (f *File) sysctl(n int, line string) {
	text, slip := line, ""
	if f.Format == sysctlConf {
		corrected, why := intended(line)
		if len(corrected) > 1 {
			f.Apart = append(f.Apart, Apart{f.Name, n, line, why, corrected, true})
			return
		}
		if len(corrected) == 1 {
			line, slip = corrected[0], why
		}
	}
	key, value, found := strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	key, optional := strings.CutPrefix(key, "-") // errors in setting it are ignored (sysctl.d(5))
	key = strings.TrimSpace(key)
	apart := func(why string, wrong bool) {
		f.Apart = append(f.Apart, Apart{f.Name, n, text, why, nil, wrong})
	}
	switch {
	case !found && optional && key != "":
		apart("keeps an earlier pattern from setting "+key, false)
		return
	case program.MatchString(line) && f.commands(n, line, anyInterface):
		for i := range f.Lines {
			if f.Lines[i].Line == n {
				f.Lines[i].Slip,
					f.Lines[i].Written = "a command, which no list of kernel parameters can have: it belongs in a "+
					"script, or in a .link file (systemd.link(5))", text
			}
		}
		return
	case program.MatchString(line):
		apart(program.FindStringSubmatch(line)[1]+" is a command, not a kernel parameter: leave it out of this file",
			true)
		return
	case !found:
		apart("expected KEY = VALUE", true)
		return
	case key == "" || strings.ContainsAny(key, " \t"):
		apart("expected one name before the =", true)
		return
	case f.Format == loaderConf && strings.HasSuffix(key, "_load"):
		apart("loads a module, and sets nothing", false)
		return
	case strings.ContainsAny(key, "*?[") && f.Format == sysctlConf:
		apart("a pattern for several parameters: write them one by one to have them looked at", false)
		return
	}
	l := Line{File: f.Name, Line: n, Key: dotted(key)}
	if f.Format == tunedProfile {
		for _, bound := range []string{">", "<"} {
			if rest, has := strings.CutPrefix(value, bound); has {
				l.Bound, value = bound, strings.TrimSpace(rest)
			}
		}
		if strings.Contains(value, "${") {
			apart("the value is a variable of tuned's, known only there", false)
			return
		}
	}
	comment := false
	if f.commented() {
		value, _, comment = strings.Cut(value, "#")
	}
	value = strings.TrimSpace(value)
	if bare := unquoted(value); bare != value {
		if value = bare; slip == "" && f.Format == sysctlConf && f.System != FreeBSD && f.System != OpenBSD {
			slip = "the quotes become part of the value"
		}
	}
	if l.Value = strings.Join(strings.Fields(value), " "); slip != "" {
		l.Slip, l.Written = slip, text
	}
	switch {
	case l.Value == "" && comment:
		apart("expected a value before the comment", true)
		return
	case l.Value == "":
		apart("expected a value after the =", true)
		return
	}
	f.Lines = append(f.Lines, l)
}

// commented reports whether a value ends at "#". On Linux, and before the system is known, "#" is
// part of the value (sysctl.d(5)); lint reports that.
func (f *File) commented() bool {
	return f.System != Linux && (f.System != "" || f.Format == loaderConf)
}

func unquoted(value string) string {
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}

// dotted converts a key to dots as separators. If the first separator is a slash, slashes separate
// and dots do not (sysctl.d(5)).
func dotted(key string) string {
	at := strings.IndexAny(key, "./")
	if at < 0 || key[at] == '.' {
		return key
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '/':
			return '.'
		case '.':
			return '/'
		}
		return r
	}, key)
}

// marks are prefixes of keys that only one system has.
var marks = []struct{ prefix, system string }{
	{"net.ipv4.", Linux}, {"net.ipv6.", Linux}, {"net.core.", Linux}, {"net.netfilter.", Linux}, {"net.bridge.", Linux},
	{"net.mptcp.", Linux}, {"net.unix.", Linux}, {"fs.", Linux}, {"kernel.", Linux}, {"vm.swappiness", Linux},
	{"vm.dirty", Linux},
	{"kern.ipc.", FreeBSD}, {"hw.ix", FreeBSD}, {"hw.intr_storm", FreeBSD}, {"net.isr.", FreeBSD},
	{"net.link.", FreeBSD},
	{"dev.", FreeBSD}, {"vfs.", FreeBSD}, {"net.inet.tcp.recvbuf", FreeBSD}, {"net.inet.tcp.sendbuf", FreeBSD},
	{"net.inet.tcp.cc.", FreeBSD},
	{"net.inet.ip.ifq.", OpenBSD}, {"net.inet.ip.mtudisc", OpenBSD}, {"net.inet.tcp.rfc3390", OpenBSD},
	{"net.inet.udp.sendspace", OpenBSD},
	{"net.inet.ip.forwarding", OpenBSD}, {"ddb.", OpenBSD}, {"machdep.", OpenBSD}, {"net.inet.tcp.ackonpush", OpenBSD},
	{"kern.bufcachepercent", OpenBSD},
}

// guess detects the system that a file is for: the one with the most marks. A loader.conf is for
// FreeBSD, a file without marks for Linux.
func (f *File) guess() string {
	if f.Format == loaderConf {
		return FreeBSD
	}
	votes := map[string]int{}
	for _, l := range f.Lines {
		for _, m := range marks {
			if strings.HasPrefix(l.Key, m.prefix) {
				votes[m.system]++
				break
			}
		}
	}
	best := Linux
	for _, system := range []string{OpenBSD, FreeBSD} {
		if votes[system] > votes[best] {
			best = system
		}
	}
	return best
}

// Winning returns the lines that are in effect after the files are read in order: for each key the
// last line that is not refused, or the last one if all are refused. Refused may be nil.
func Winning(files []File, refused func(Line) bool) []Line {
	last := map[string]Line{}
	for _, f := range files {
		for _, l := range f.Lines {
			if earlier, there := last[l.Key]; !there || refused == nil || !refused(l) || refused(earlier) {
				last[l.Key] = l
			}
		}
	}
	var list []Line
	for _, f := range files {
		for _, l := range f.Lines {
			if last[l.Key] == l {
				list = append(list, l)
			}
		}
	}
	return list
}
