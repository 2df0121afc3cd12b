package pasted

import (
	"path"
	"strings"

	"linerate/internal/model/plain"
)

// Member is a file of a support archive.
type Member struct {
	// Path is its path in the archive: "sosreport-nas/sos_commands/networking/ip_-s_-d_link".
	Path string
	Text string
}

// KnownMember reports whether a member of an archive has a known format by its path. The directories
// of sos report and of supportconfig tell what printed a file.
func KnownMember(name string) bool {
	if isSupportconfig(name) || hostNameFile(name) {
		return true
	}
	s := memberStart(name)
	return len(s.formats) > 0
}

// memberStart returns how a member begins a section.
func memberStart(name string) start {
	elements := strings.Split(name, "/")
	base := elements[len(elements)-1]
	for i, e := range elements {
		// sos names a file after its command: blanks are underscores, slashes are dots.
		if e == "sos_commands" && i+2 < len(elements) {
			s := startWith("", strings.ReplaceAll(base, "_", " "))
			if words := strings.Split(base, "_"); strings.HasPrefix(base, "ip_netns_exec_") && len(words) > 4 {
				s.host = words[3]
			}
			if j := indexOf(elements, "namespaces"); j > i && j+2 < len(elements) {
				s.host = elements[j+1]
			}
			return s
		}
	}
	return start{command: command{"cat", "/" + name}, formats: ofFile(name)}
}

func indexOf(list []string, word string) int {
	for i, w := range list {
		if w == word {
			return i
		}
	}
	return -1
}

// isSupportconfig reports whether a member is a text of supportconfig, which has the outputs of many
// commands, each behind a head of its own.
func isSupportconfig(name string) bool {
	dir := path.Base(path.Dir(name))
	return strings.HasSuffix(name, ".txt") && (strings.HasPrefix(dir, "scc_") || strings.HasPrefix(dir, "nts_"))
}

// hostNameFile reports whether a member has the name of the host, and nothing else.
func hostNameFile(name string) bool {
	return strings.HasSuffix(name, "/hostname") &&
		(strings.HasSuffix(name, "/etc/hostname") || strings.HasSuffix(name, "/sos_commands/host/hostname") ||
			strings.HasSuffix(name, "/proc/sys/kernel/hostname") || strings.Count(name, "/") == 1)
}

// ParseMembers parses the members of an archive. Each directory at its top is a host, and each network
// namespace of it another.
func ParseMembers(list []Member) Text {
	names := map[string]string{} // of hosts, by directory
	for _, m := range list {
		if text := strings.TrimSpace(m.Text); hostNameFile(m.Path) && text != "" && !strings.ContainsAny(text, " \n") {
			names[top(m.Path)] = plain.Short(text, longestName)
		}
	}
	r := reader{}
	for _, m := range list {
		if hostNameFile(m.Path) {
			continue
		}
		host := names[top(m.Path)]
		if host == "" {
			host = hostOf(top(m.Path))
		}
		if isSupportconfig(m.Path) {
			r.of = host
			r.text(m.Text)
			continue
		}
		s := memberStart(m.Path)
		if s.host != "" {
			host += "/" + s.host
		}
		s.host = host
		r.member, r.of = m.Path, ""
		r.begin(s)
		r.text(m.Text)
		r.end()
		r.member = ""
	}
	r.finish()
	return r.Text
}

func top(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
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
