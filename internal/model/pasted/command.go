package pasted

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"linerate/internal/model/pattern"
)

// command is a command of a shell or of a switch: its words, including options, without what only
// says where or as whom it is executed (sudo, ip netns exec, kubectl exec, …).
type command []string

// is reports whether the command executes program.
func (c command) is(program string) bool { return len(c) > 0 && c[0] == program }

// has reports whether the command has one of the words.
func (c command) has(words ...string) bool {
	return len(c) > 1 && slices.ContainsFunc(c[1:], func(w string) bool { return slices.Contains(words, w) })
}

// after returns the word that follows another one. Empty: there is none.
func (c command) after(word string) string {
	if i := slices.Index(c, word); i >= 0 && i+1 < len(c) {
		return c[i+1]
	}
	return ""
}

// flag reports whether the command has a short option, alone or among others: -n in "-tan".
func (c command) flag(letter byte) bool {
	return len(c) > 1 && slices.ContainsFunc(c[1:], func(w string) bool {
		return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.IndexByte(w, letter) > 0
	})
}

// object returns the first word after the program that is no option, as "route" in "ip -6 route".
// It skips the values of ip's options that take one.
func (c command) object() string {
	for i := 1; i < len(c); i++ {
		switch {
		case !strings.HasPrefix(c[i], "-"):
			return c[i]
		case slices.Contains([]string{"-n", "-netns", "-f", "-family", "-l", "-loops", "-rc", "-rcvbuf"}, c[i]) &&
			c.is("ip"):
			i++
		}
	}
	return ""
}

// ip reports whether the command is ip(8) with an object, which may be abbreviated.
func (c command) ip(object string) bool { return c.is("ip") && c.ofObject(object) }

// ofObject reports whether the command has an object of iproute2, which may be abbreviated.
func (c command) ofObject(object string) bool {
	given := c.object()
	return given != "" && (strings.HasPrefix(object, given) || strings.HasPrefix(given, object))
}

// json reports whether the command of iproute2 prints JSON.
func (c command) json() bool { return c.has("-j", "-json", "-jp", "-pj", "-sj", "-js", "--json") }

// prints returns the file whose text the command prints, wholly or in part: that of cat, grep, head
// and the like. Empty: none, or several.
func (c command) prints() string {
	if len(c) == 0 || !slices.Contains(printers, c[0]) {
		return ""
	}
	file := ""
	for _, w := range c[1:] {
		if strings.HasPrefix(w, "/") || strings.HasPrefix(w, "./") {
			if file != "" && path.Dir(file) != path.Dir(w) {
				return ""
			}
			file = w
		}
	}
	return file
}

var printers = []string{"cat", "head", "tail", "grep", "egrep", "fgrep", "zgrep", "less", "more", "awk", "sed", "tac"}

// filters reports whether a command line passes the output through a program that omits lines, so
// that what is not in the text may still be on the machine.
func filters(line string) bool {
	for i, part := range strings.Split(line, "|") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		name := path.Base(words[0])
		if slices.Contains([]string{"grep", "egrep", "fgrep", "head", "tail", "awk", "sed", "cut", "uniq"}, name) &&
			(i > 0 || name != "awk" && name != "sed") {
			return true
		}
	}
	return false
}

// wrappers are programs that execute the command behind their own options, and how many words of
// their own they have before it; -1: the command follows "--", or the next word that is neither an
// option nor its value.
var wrappers = map[string]int{"sudo": 0, "doas": 0, "time": 0, "nohup": 0, "busybox": 0, "env": 0, "command": 0,
	"exec": 0, "timeout": 1, "nice": 0, "ionice": 0, "chrt": 1, "taskset": 1, "stdbuf": 0, "unbuffer": 0, "watch": 0,
	"chroot": 1, "toolbox": 0}

// executes reports whether a program may execute the command that its arguments are.
func executes(program string) bool {
	_, wraps := wrappers[program]
	return wraps || slices.Contains(containers, program) || slices.Contains([]string{"ip", "nsenter", "unshare", "ssh"},
		program)
}

// containers are programs that execute commands in containers and virtual machines.
var containers = []string{"docker", "podman", "nerdctl", "crictl", "kubectl", "oc", "lxc", "pct"}

var assignment = pattern.MustCompile(`^[A-Za-z_]\w*=\S*$`)

// optionsWithValue are options of wrappers that are followed by a value.
var optionsWithValue = map[string][]string{"sudo": {"-u", "-g", "-U"}, "watch": {"-n", "--interval"},
	"nice": {"-n"}, "env": {"-u"}, "timeout": {"-k", "-s"}, "doas": {"-u"}, "ionice": {"-c", "-n"},
	"nsenter": {"-t", "--target", "-S", "-G"}}

// place is where a command is executed, as its line says.
type place struct {
	host string // on which ssh(1) executes it. Empty: that of the prompt
	// inside names the network namespace, the container, or the process whose namespace it is. Empty: that
	// of the host.
	inside string
}

// commandOf returns the first command of a shell line, without what executes it elsewhere or as
// someone else, and where it is executed. Empty: the line has no command.
func commandOf(line string) (c command, at place) {
	line = strings.TrimSpace(line)
	if i := strings.Index(line, " #"); i >= 0 {
		line = line[:i] // a comment
	}
	if beforeOther.MatchString(line) {
		line = beforeOther.Regexp().ReplaceAllString(line, "")
	}
	words := strings.Fields(cutAtOperator(line))
	for range 8 { // sudo ip netns exec red sudo …
		for len(words) > 0 && assignment.MatchString(words[0]) {
			words = words[1:]
		}
		if len(words) == 0 {
			return nil, at
		}
		words[0] = path.Base(words[0])
		own, wraps := wrappers[words[0]]
		switch {
		case wraps:
			words = behindOptions(words, own)
		case words[0] == "ip" && len(words) > 4 && strings.HasPrefix("netns", words[1]) && words[2] == "exec":
			at.inside, words = words[3], words[4:]
		case words[0] == "ip" && len(words) > 3 && words[1] == "vrf" && words[2] == "exec":
			words = words[4:]
		case slices.Contains([]string{"nsenter", "unshare"}, words[0]):
			inner := behindOptions(words, 0)
			at.inside = enters(words[:len(words)-len(inner)], at.inside)
			words = inner
		case slices.Contains(containers, words[0]) && slices.Contains(words, "exec"):
			at.inside, words = inContainer(words)
		case words[0] == "ssh" && len(words) > 2:
			i := slices.IndexFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") }) + 1
			if i == 0 || i+1 >= len(words) {
				return words, at
			}
			at.host = words[i][strings.LastIndex(words[i], "@")+1:]
			words = strings.Fields(strings.Trim(strings.Join(words[i+1:], " "), `'"`))
		default:
			if netns := namespaceOption(words); netns != "" {
				at.inside = netns
			}
			return words, at
		}
	}
	return words, at
}

// enters returns the network namespace that nsenter(1) or unshare(1) with these options executes a command in,
// if that is executed in another one: that of a process, but for process 1.
func enters(options []string, now string) string {
	net := slices.ContainsFunc(options[1:], func(w string) bool {
		return strings.HasPrefix(w, "--net") || w == "--all" ||
			len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w[1:], "na")
	})
	if !net {
		return now
	}
	target := "" // of -t 42, -t42, --target=42
	for i, w := range options {
		if rest, is := strings.CutPrefix(w, "--target"); is || strings.HasPrefix(w, "-t") {
			if !is {
				rest = w[2:]
			}
			if target = strings.TrimPrefix(rest, "="); target == "" && i+1 < len(options) {
				target = options[i+1]
			}
		} else if file, is := strings.CutPrefix(w, "--net="); is {
			target = path.Base(file)
		}
	}
	if target == "1" {
		return ""
	}
	return cmp.Or(target, options[0])
}

// namespaceOption returns the network namespace that an option of a command of iproute2 names. Empty: none.
func namespaceOption(words []string) string {
	option := "-n"
	switch words[0] {
	case "ss":
		option = "-N"
	case "ip", "tc", "bridge":
	default:
		return ""
	}
	for i, w := range words[:len(words)-1] {
		if w == option || w == "-netns" || w == "--net" {
			return words[i+1]
		}
	}
	return ""
}

// cutAtOperator returns what precedes the first operator of a shell that is not quoted.
func cutAtOperator(line string) string {
	if !strings.ContainsAny(line, "|;&<>") {
		return line
	}
	quoted := rune(0)
	for i, r := range line {
		switch {
		case quoted != 0:
			if r == quoted {
				quoted = 0
			}
		case r == '\'' || r == '"':
			quoted = r
		case strings.ContainsRune("|;&<>", r):
			line = line[:i]
			if r == '>' || r == '<' {
				line = strings.TrimRight(line, "0123456789")
			}
			return line
		}
	}
	return line
}

// behindOptions returns the words behind a program, its options and this many further words.
func behindOptions(words []string, own int) []string {
	program := words[0]
	for words = words[1:]; len(words) > 0; words = words[1:] {
		switch {
		case words[0] == "--":
			return words[1:]
		case slices.Contains(optionsWithValue[program], words[0]):
			words = words[min(1, len(words)-1):]
		case strings.HasPrefix(words[0], "-") || assignment.MatchString(words[0]):
		case own > 0:
			own--
		default:
			return words
		}
	}
	return nil
}

// inContainer returns the container that docker exec, kubectl exec and the like execute a command in, and the
// command.
func inContainer(words []string) (name string, inner []string) {
	for at := slices.Index(words, "exec") + 1; at < len(words); at++ {
		if slices.Contains([]string{"-n", "-c", "-u", "-w", "-e", "--namespace", "--container", "--user"}, words[at]) {
			at++
		} else if !strings.HasPrefix(words[at], "-") {
			name, inner = words[at], words[at+1:]
			break
		}
	}
	if i := slices.Index(words, "--"); i >= 0 {
		inner = words[i+1:]
	}
	return name, inner
}
