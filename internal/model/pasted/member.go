package pasted

import (
	"path"
	"slices"
	"strings"
	"time"

	"linerate/internal/model/plain"
)

// Member is a file of a support archive.
type Member struct {
	// Path is its path in the archive: "sosreport-nas/sos_commands/networking/ip_-s_-d_link".
	Path string
	Text string
	// Time is when it was written. Zero: unknown.
	Time time.Time
}

// systemDirs are directories at the root of a host, and of what sos report collects of one.
var systemDirs = []string{"sos_commands", "sos_logs", "sos_reports", "sos_strings", "proc", "sys", "etc", "var", "usr",
	"run", "lib", "boot", "dev", "root", "opt"}

// textEnds are what the name of a file with the output of a command ends with.
var textEnds = []string{".txt", ".out", ".log", ".output", ".text"}

// KnownMember reports whether a member of an archive has a known format by its path. The directories
// of sos report and of supportconfig tell what printed a file, and so may its name: "ip_addr.txt",
// "ethtool-S-eth0.out".
func KnownMember(name string) bool {
	if isSupportconfig(name) || hostNameFile(name) {
		return true
	}
	s, _ := memberStart(name)
	return len(s.formats) > 0
}

// PerhapsMember reports whether the content of a member may tell its format, although its name does not.
func PerhapsMember(name string) bool {
	return systemDir(strings.Split(name, "/")) < 0 && slices.Contains(textEnds, path.Ext(name))
}

// Recognised reports whether more than half of the lines of a text are known.
func Recognised(text string) bool {
	p, err := Parse(text)
	return err == nil && 2*p.Lost < p.Lines
}

// systemDir returns the index of the first element of a path that is a directory at a host's root. -1:
// there is none.
func systemDir(elements []string) int {
	return slices.IndexFunc(elements[:len(elements)-1], func(e string) bool { return slices.Contains(systemDirs, e) })
}

// memberStart returns how a member begins a section. Whole is true if all of it is that section: the
// directory of the member says so, and not only its name.
func memberStart(name string) (s start, whole bool) {
	elements := strings.Split(name, "/")
	base := elements[len(elements)-1]
	// sos names a file after its command: blanks are underscores, slashes are dots.
	if i := slices.Index(elements, "sos_commands"); i >= 0 && i+2 < len(elements) {
		s := startWith("", strings.ReplaceAll(base, "_", " "))
		if len(s.formats) == 0 { // a copy of a file, such as sar/sar29
			s.formats = ofFile(name)
		}
		if words := strings.Split(base, "_"); strings.HasPrefix(base, "ip_netns_exec_") && len(words) > 4 {
			s.host = words[3]
		}
		if j := slices.Index(elements, "namespaces"); j > i && j+2 < len(elements) {
			s.host = elements[j+1]
		}
		return s, true
	}
	if list := ofFile(name); len(list) > 0 || systemDir(elements) >= 0 {
		return start{command: command{"cat", "/" + name}, formats: list}, true
	}
	if c := commandOfName(base); len(c) > 0 {
		return start{command: c, formats: printedBy(c)}, false
	}
	return start{}, false
}

// commandOfName returns the command that a file is named after, as people name the outputs that they
// save: "ip_addr.txt", "ss-tin.log", "ethtool-S-eth0.out". Empty: there is none.
func commandOfName(name string) (c command) {
	if end := path.Ext(name); slices.Contains(textEnds, end) {
		name = strings.TrimSuffix(name, end)
	}
	for _, program := range knownPrograms { // of which the name has a hyphen
		if rest, is := strings.CutPrefix(name, program); is && strings.Contains(program, "-") {
			c, name = command{program}, rest
		}
	}
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == ' ' || r == '+' }) {
		if strings.HasPrefix(word, "-") {
			c = append(c, word)
			continue
		}
		c = append(c, strings.Split(word, "-")...)
	}
	if len(c) == 0 || !knownProgram(c[0]) {
		return nil
	}
	for i := 1; i < len(c); i++ {
		switch c[0] {
		case "ethtool": // what follows the option is an interface, whose name may have hyphens
			if len(c[i]) > 1 && c[i][0] != '-' {
				return append(c[:i:i], strings.Join(c[i:], "-"))
			}
			c[i] = "-" + strings.TrimLeft(c[i], "-")
		case "ip", "tc", "bridge":
			if i < len(c)-1 && slices.Contains([]string{"s", "d", "o", "j", "4", "6"}, c[i]) {
				c[i] = "-" + c[i]
			}
		case "ss", "netstat", "nstat", "arp", "route", "free", "lspci", "sysctl", "uname", "mpstat", "iptables",
			"ip6tables":
			if len(c[i]) <= 8 && c[i][0] != '-' && !strings.ContainsAny(c[i], "0123456789.") {
				c[i] = "-" + c[i]
			}
		}
	}
	return c
}

// hostNameFile reports whether a member has the name of the host, and nothing else.
func hostNameFile(name string) bool {
	return slices.ContainsFunc([]string{"/etc/hostname", "/sos_commands/host/hostname", "/proc/sys/kernel/hostname"},
		func(end string) bool { return strings.HasSuffix("/"+name, end) }) ||
		path.Base(name) == "hostname" && systemDir(strings.Split(name, "/")) < 0
}

// rootsOf returns the directory of the host that each member belongs to. That is the one around
// sos_commands, proc, etc and the like. Of other members it is the directory at the top, or those below it
// that have files of the same name.
func rootsOf(list []Member) []string {
	roots := make([]string, len(list))
	marked := map[string]bool{}
	for i, m := range list {
		if elements := strings.Split(m.Path, "/"); systemDir(elements) >= 0 {
			if roots[i] = strings.Join(elements[:systemDir(elements)], "/"); ofNode(elements) > 0 {
				roots[i] = hostDir(elements)
			}
			marked[roots[i]] = true
		}
	}
	level := map[string]int{} // of the directories that differ; 0: none do
	seen := map[[2]string][]string{}
	for _, m := range list {
		elements := strings.Split(m.Path, "/")
		key := [2]string{top(m.Path), path.Base(m.Path)}
		first, has := seen[key]
		if !has {
			seen[key] = elements
			continue
		}
		same := 0
		for same < min(len(first), len(elements))-1 && first[same] == elements[same] {
			same++
		}
		if at := level[key[0]]; at == 0 || same < at {
			level[key[0]] = same
		}
	}
	for i, m := range list {
		if systemDir(strings.Split(m.Path, "/")) >= 0 {
			continue
		}
		if isSupportconfig(m.Path) {
			roots[i] = path.Dir(m.Path)
			continue
		}
		elements := strings.Split(m.Path, "/")
		if roots[i] = top(m.Path); ofNode(elements) > 0 {
			roots[i] = hostDir(elements)
		} else if at := level[roots[i]]; at > 0 {
			roots[i] = strings.Join(elements[:min(at+1, len(elements)-1)], "/")
		}
		for dir := path.Dir(m.Path); dir != "."; dir = path.Dir(dir) {
			if marked[dir] {
				roots[i] = dir
				break
			}
		}
	}
	return roots
}

// hostDir returns the directory of a host in a directory of nodes, as those of must-gather are.
func hostDir(elements []string) string { return strings.Join(elements[:ofNode(elements)+1], "/") }

// ofNode returns the index of the element of a path that names a node or a pod, as those of must-gather do.
// -1: there is none.
func ofNode(elements []string) int {
	at := slices.IndexFunc(elements, func(e string) bool {
		return slices.Contains([]string{"nodes", "hosts", "masters", "workers", "pods"}, e)
	})
	if at < 0 || at+2 >= len(elements) {
		return -1
	}
	return at + 1
}

func top(name string) string {
	first, _, inside := strings.Cut(name, "/")
	if !inside {
		return ""
	}
	return first
}

// ParseMembers parses the members of an archive, of which source is the file's name. Each directory of a
// host is a machine, and each network namespace of it another.
func ParseMembers(list []Member, source string) (all Text) {
	var order []string
	of := map[string][]Member{}
	for i, root := range rootsOf(list) {
		if len(of[root]) == 0 {
			order = append(order, root)
		}
		of[root] = append(of[root], list[i])
	}
	for _, root := range order {
		if len(all.Machines) < mostMachines {
			all.Add(parseHost(of[root], hostName(of[root], root, source)))
		}
	}
	return all
}

// Add adds what was read of another text.
func (t *Text) Add(o Text) {
	t.Machines = append(t.Machines, o.Machines...)
	t.Untimed = append(t.Untimed, o.Untimed...)
	t.Lines, t.Idle, t.Lost = t.Lines+o.Lines, t.Idle+o.Idle, t.Lost+o.Lost
	t.NotUnderstood = append(t.NotUnderstood, o.NotUnderstood[:min(len(o.NotUnderstood),
		max(0, mostLost-len(t.NotUnderstood)))]...)
	for _, f := range o.Formats {
		if i := slices.IndexFunc(t.Formats, func(x FormatLines) bool { return x.Format == f.Format }); i >= 0 {
			t.Formats[i].Used, t.Formats[i].Idle = t.Formats[i].Used+f.Used, t.Formats[i].Idle+f.Idle
		} else {
			t.Formats = append(t.Formats, f)
		}
	}
}

// hostName returns the name of a host: that in its members, otherwise that in the name of the directory
// or of the archive.
func hostName(list []Member, root, source string) string {
	for _, m := range list {
		if text := strings.TrimSpace(m.Text); hostNameFile(m.Path) && text != "" && !strings.ContainsAny(text, " \n") {
			return plain.Short(text, longestName)
		}
	}
	if root == "" {
		root, _, _ = strings.Cut(path.Base(source), ".")
	}
	return hostOf(path.Base(root))
}

// parseHost parses the members of one host.
func parseHost(list []Member, host string) Text {
	r := reader{}
	for _, m := range list {
		if hostNameFile(m.Path) {
			continue
		}
		r.file = m.Path
		if isSupportconfig(m.Path) {
			for _, s := range supportSections(m.Text) {
				s.host, r.member = host, m.Path
				r.section(s.start, s.text, s.line)
			}
			continue
		}
		s, whole := memberStart(m.Path)
		name := host
		if s.host != "" {
			name += "/" + s.host
		}
		if s.host = name; whole {
			r.member = m.Path
		}
		r.section(s, m.Text, 0)
	}
	r.finish()
	taken := takenAt(list)
	for i := range r.Machines {
		r.Machines[i].Taken = taken
	}
	return r.Text
}

// takenAt returns when members were collected: what date(1) printed, otherwise when the last of them was
// written. Zero: unknown.
func takenAt(list []Member) (taken time.Time) {
	for _, m := range list {
		s, _ := memberStart(m.Path)
		dates := []supportSection{{start: s, text: m.Text}}
		if isSupportconfig(m.Path) {
			dates = supportSections(m.Text)
		}
		for _, d := range dates {
			if at, is := dateOf(d.text); is && d.command.is("date") {
				return time.UnixMilli(int64(at.s * 1e3))
			}
		}
		if m.Time.After(taken) {
			taken = m.Time
		}
	}
	return taken
}

// hostOf returns the name of the host in the name of an archive's directory.
func hostOf(dir string) string {
	for _, begin := range []string{"sosreport-", "scc_", "nts_"} {
		if rest, is := strings.CutPrefix(dir, begin); is {
			if i := strings.IndexAny(rest, "_"); i > 0 {
				return rest[:i]
			}
			words := strings.Split(rest, "-") // host-case-date-random
			return strings.Join(words[:max(1, len(words)-4)], "-")
		}
	}
	return plain.Short(dir, longestName)
}
