package pasted

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"linerate/internal/model/pattern"
)

// A text consists of sections, each of them what one command printed or one file contains. A line
// begins a section if it is a prompt with a command, a command alone or in a frame, the head that
// head(1) and tail(1) print before a file, or a title that names a machine.

// start is how a section begins.
type start struct {
	// host is the machine's name in a prompt, a title or behind ssh. Empty: that of the section
	// before.
	host string
	// inside is the network namespace of that machine, or a container. Empty: the machine's own.
	inside string
	// command is what the line executes. Nil: nothing, or what is unknown.
	command command
	// root reports whether the command stands behind a prompt that is "#" alone.
	root bool
	// filtered reports whether lines of the output may be missing.
	filtered bool
	// formats are those that the command prints. None: the command is unknown.
	formats []*format
}

var (
	// prompt matches the prompt of a shell or a switch: "root@nas:~#", "[me@nas ~]$", "switch#show
	// mac", "nas>", "core@node ~ $", "root@nas ~ %", "mac:~ me$".
	prompt = pattern.MustCompile(`^\s*(?:\([\w.-]+\) ?)?\[?(?:[\w.-]+@)?([A-Za-z][\w.-]*)` +
		`(?:[: ][^\s#$>=\]%]*|:[~/][^\s#$>=\]%]* [\w.-]+)?\]?(?: \([^()\s]+\))?\s?([#$>%])(?:\s*([^\s:=].*))?$`)
	percentage = pattern.MustCompile(`\d ?%`)
	// userPrompt has a user's name, and then may have any path.
	userPrompt = pattern.MustCompile(`^\s*(?:\([\w.-]+\) ` +
		`?)?\[?[\w.-]+@([A-Za-z0-9][\w.-]*)(?:[:\s]+[~/][^#$>%\]]*)?\]?` +
		`\s*[#$>%❯]\s*(.*)$`)
	// nameless matches a prompt without a machine's name: "-bash-4.2#", "# ", "~ # ", "➜  ~ ", "➜  src git:(main)
	// ✗ ".
	namelessPrompt = pattern.MustCompile(`^➜\s+\S+\s+(?:git:\(\S+\)\s+(?:✗\s+)?)?([^\s#$>%❯➜].*)$|` +
		`^\s*(?:-?(?:ba|da|k|z|a|tc)?sh-?[\d.]*|~|/[\w./-]*|➜\s+\S+|└─+)?` +
		`\s?[#$>%❯➜]\s+(\S.*)$|` +
		`^\s*-?(?:ba|da|k|z)?sh-[\d.]+[#$]\s*(.*)$|^\+{1,3} (\S.*)$`)
	// windowsPrompt names no machine.
	windowsPrompt = pattern.MustCompile(`^(?:PS )?[A-Za-z]:\\[^>]{0,200}>\s*(.*)$`)
	// kali is the first of two lines of a prompt, which names the machine.
	kali = pattern.MustCompile(`^┌─+\(\S+?[@㉿]([\w.-]+)\)-\[.*\]$`)
	// fileHead is printed by head(1), tail(1) and more(1) before each of several files.
	fileHead = pattern.MustCompile(`^(?:==> (\S.*) <==|:{14}\s*$)$`)
	// runHead is what crm_report(8) writes before the output of each command.
	runHead = pattern.MustCompile(`^##### Run "(.+)" #####$`)
	// title matches a line that names what follows it: "brik1:". Similar lines are sections of netstat
	// -s, or keys of ethtool -i that the driver leaves empty.
	title = pattern.MustCompile(`^([A-Za-z][\w.-]*):$`)
	// frame matches characters around a command that stands alone: "### ip addr ###", "`ip addr`:".
	frame = "#=*-_+~:[]()`\"'|>$ \t"
	// leads are words before a command that stands alone.
	leads = pattern.MustCompile(`(?i)^(?:output of|running|executing|command|cmd|file|contents? of|result of)[: ]+`)
	// fence is the beginning or end of a block of code in Markdown, or such tags of a forum.
	fence = pattern.MustCompile("^\\s*(?:```+|~~~+)\\s*[\\w-]*\\s*$|^\\s*\\[/?(?:code|quote|pre)(?:=[^\\]]*)?\\]\\s*$")
)

// startOf returns how a line begins a section. Is is false if it does not.
func startOf(line string) (s start, is bool) {
	if iwPhy.MatchString(line) {
		return s, false
	}
	if m := fileHead.FindStringSubmatch(line); m != nil && m[1] != "" {
		if s = startWith("", "cat "+m[1]); len(s.formats) == 0 {
			s.command = commandOfName(inName.Regexp().ReplaceAllString(path.Base(m[1]), ""))
			s.formats = printedBy(s.command)
		}
		return s, true
	}
	if m := watched.FindStringSubmatch(line); m != nil {
		return startWith(m[3], m[2]), true
	}
	if m := runHead.FindStringSubmatch(line); m != nil {
		return startWith("", m[1]), true
	}
	line, _, _ = untimed(line)
	if mayPrompt(line) {
		if s, is := prompted(line); is {
			return s, true
		}
	}
	return alone(line)
}

// mayPrompt reports whether a line has a byte that every prompt has: one of #$>%+, or of another character
// than those of ASCII.
func mayPrompt(line string) bool {
	for i := range len(line) {
		switch b := line[i]; {
		case b == '#', b == '$', b == '>', b == '%', b == '+', b >= utf8.RuneSelf:
			return true
		}
	}
	return false
}

// prompted returns the start of a section if the line begins with the prompt of a shell or a switch.
func prompted(line string) (s start, is bool) {
	if m := windowsPrompt.FindStringSubmatch(line); m != nil {
		return startWith("", m[1]), true
	}
	if m := userPrompt.FindStringSubmatch(line); m != nil {
		return startWith(m[1], m[2]), true
	}
	if m := prompt.FindStringSubmatch(line); m != nil && !slices.Contains(systemNames, m[1]) {
		s := startWith(m[1], m[3])
		// What follows "name %" or "name #" is a command only if it is known: "50 % of", "about 80% which".
		if m[2] != "%" || len(s.formats) > 0 && !(percentage.MatchString(line) && beginsSentence(s.command)) {
			return s, true
		}
	}
	if m := kali.FindStringSubmatch(line); m != nil {
		return start{host: m[1]}, true
	}
	if m := namelessPrompt.FindStringSubmatch(line); m != nil {
		s := startWith("", m[1]+m[2]+m[3]+m[4])
		s.root = strings.HasPrefix(strings.TrimSpace(line), "#")
		if len(s.formats) > 0 || len(s.command) > 0 && knownProgram(s.command[0]) || m[3] != "" {
			return s, true
		}
	}
	return s, false
}

// systemNames begin lines about a kernel and its build, which look like a prompt: "FreeBSD 14.0-RELEASE #0".
var systemNames = []string{"FreeBSD", "OpenBSD", "NetBSD", "DragonFly", "Linux", "Darwin", "SunOS"}

// startWith returns the start of a section that a command line begins. Of several commands, the first is the
// section's that prints something with a meaning, as date does not in "date; ethtool -S eth0".
func startWith(host, text string) start {
	c, at := commandOf(text)
	s := start{host: cmp.Or(at.host, host), inside: at.inside, command: c, filtered: filters(text),
		formats: printedBy(c)}
	if len(s.formats) == 0 || !strings.ContainsAny(text, ";&") {
		return s
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '&' }) {
		next, _ := commandOf(part) // what it prints is behind that of the first
		for _, f := range printedBy(next) {
			if f.whole != nil || slices.Contains(s.formats, f) {
				continue
			}
			if s.formats = append(s.formats, f); s.formats[0].ignores {
				s.formats[0], s.formats[len(s.formats)-1] = f, s.formats[0]
				s.command = next
			}
		}
	}
	return s
}

// alone returns the start of a section if the line is a command, or the path of a file, without a
// prompt, perhaps in a frame.
func alone(line string) (s start, is bool) {
	text := strings.Trim(strings.TrimSpace(line), frame)
	if text == "" || len(text) > 200 || strings.HasPrefix(strings.TrimSpace(line), "<") {
		return s, false
	}
	if leads.MatchString(text) {
		text = leads.Regexp().ReplaceAllString(text, "")
	} else if isSentence(text) {
		return s, false
	}
	if strings.HasPrefix(text, "/") && !strings.ContainsAny(text, " \t:") {
		if list := ofFile(text); len(list) > 0 && !strings.HasPrefix(path.Base(text), ".") {
			return start{command: command{"cat", text}, formats: list}, true
		}
	}
	if c, _ := commandOf(text); !plausible(c) {
		return s, false
	}
	s = startWith("", text)
	return s, len(s.formats) > 0
}

// isSentence reports whether a line is certainly no command that stands alone, by its first bytes and
// words: nearly every line of a log and of prose, for a fraction of what it costs to read a command.
func isSentence(text string) bool {
	first, rest, _ := strings.Cut(text, " ")
	switch {
	case first == "" || strings.ContainsAny(first, "=|;&<>\t"):
		return false
	case first[0] >= '0' && first[0] <= '9': // a time: no program is called so
		return true
	case beforeOther.MatchString(text) || executes(path.Base(first)):
		return false
	}
	second, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	third, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	if third == "" || strings.ContainsAny(second, "|;&<>#\t") || strings.ContainsAny(third, "|;&<>#\t") {
		return false
	}
	return !isArgument(second) && (!ifnameLike.MatchString(second) || !isArgument(third))
}

// isArgument reports whether a word can be an argument of a command that stands alone, besides the name of
// an interface.
func isArgument(word string) bool {
	switch word[0] {
	case '-', '/', '\'', '"':
		return true
	}
	return slices.Contains(argumentWords, word)
}

// plausible reports whether words that stand alone are a command and not a sentence that begins
// with a program's name: its arguments are options, paths, names of interfaces or objects of ip(8). Where
// the name is an English word, none of them begins with a letter.
func plausible(c command) bool {
	if len(c) == 0 || len(c) > 12 || beginsSentence(c) {
		return false
	}
	options := 0
	for i, w := range c[1:] {
		switch {
		case isArgument(w):
			options++
		case options > 0 || i == 0 && ifnameLike.MatchString(w):
		default:
			return false
		}
	}
	return len(c) > 1 || slices.Contains(bareWords, c[0])
}

// argumentWords are arguments of commands that stand alone: objects and words of iproute2, of nmcli
// and of switches.
var argumentWords = []string{"a", "addr", "address", "l", "link", "r", "ro", "route", "rule", "ru", "n", "neigh",
	"neighbor", "neighbour", "nexthop", "fdb", "vlan", "qdisc", "class", "filter", "ntable", "maddr", "tcp_metrics",
	"show", "list", "ls", "dev", "get", "state", "ruleset", "device", "connection", "con", "general", "status",
	"tables", "config", "dump", "mac", "address-table", "interface", "interfaces", "arp", "dot", "phy", "info",
	"bgp", "summary", "root", "neighbors", "neighbours", "details", "tracking", "monitor"}

// bareWords are programs that print something without arguments and whose name is no English word.
var bareWords = []string{"ifconfig", "nstat", "dmesg", "iwconfig", "netstat", "ss", "mii-tool", "nmcli", "lspci",
	"lscpu", "networkctl", "mpstat", "brctl", "uptime", "logread", "ethtool", "journalctl", "lldpctl", "lsmod",
	"vmstat", "timedatectl", "hostnamectl", "iptables-save", "ip6tables-save"}

// beginsSentence reports whether words are rather a sentence than a command: the first is an English word, too, and
// another one begins with a letter, as neither options, paths nor numbers do.
func beginsSentence(c command) bool {
	return len(c) > 0 && slices.Contains(englishWords, c[0]) && slices.ContainsFunc(c[1:], func(w string) bool {
		return w[0]|0x20 >= 'a' && w[0]|0x20 <= 'z'
	})
}

// englishWords are programs with whose names sentences begin.
var englishWords = []string{"clear", "date", "file", "find", "free", "history", "host", "id", "kill", "last", "locale",
	"man", "mount", "service", "sleep", "sort", "time", "top", "tree", "true", "w", "which", "who"}

// ifnameLike matches what can only be the name of an interface.
var ifnameLike = pattern.MustCompile(`^[a-z][a-z0-9._-]{0,14}$`)

// knownProgram reports whether some format is printed by the program, whatever its arguments.
func knownProgram(name string) bool { return slices.Contains(knownPrograms, name) }

// knownPrograms are programs whose output has no meaning here, and those of which only some has.
// After a prompt without a machine's name they tell a command from a comment.
var knownPrograms = []string{"ip", "ss", "tc", "ethtool", "bridge", "netstat", "nstat", "arp", "sysctl", "dmesg",
	"cat", "show", "ifconfig", "route", "ping", "ping6", "tracepath", "traceroute", "mtr", "iperf", "iperf3", "uname",
	"uptime", "hostname", "date", "grep", "head", "tail", "ls", "lspci", "lscpu", "free", "top", "ps", "nft",
	"iptables", "journalctl", "systemctl", "mpstat", "sar", "iw", "iwconfig", "nmcli", "networkctl", "tcpdump", "curl",
	"wget", "dd", "modinfo", "lsmod", "modprobe", "echo", "cd", "vi", "vim", "nano", "apt", "yum", "dnf", "docker",
	"kubectl", "for", "while", "id", "who", "w", "last", "service", "teamdctl", "brctl", "mii-tool", "lldpctl", "lldpcli",
	"ip6tables", "iptables-save", "ip6tables-save", "ipset", "ipvsadm", "conntrack", "netperf", "logread", "timedatectl",
	"hostnamectl", "chronyc", "ulimit", "vmstat", "iostat", "df"}
