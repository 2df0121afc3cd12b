package pasted

import (
	"path"
	"strings"

	"linerate/internal/model/pattern"
)

// A text of supportconfig has the outputs of many commands and many files, each behind a head:
//
//	#==[ Command ]======================================#
//	# /sbin/ip addr
//
//	#==[ Configuration File ]===========================#
//	# /etc/sysctl.conf
var supportHead = pattern.MustCompile(`^#==\[ ?(.*?) ?\]=+#\s*$`)

// isSupportconfig reports whether a member is a text of supportconfig.
func isSupportconfig(name string) bool {
	dir := path.Base(path.Dir(name))
	return strings.HasSuffix(name, ".txt") && (strings.HasPrefix(dir, "scc_") || strings.HasPrefix(dir, "nts_"))
}

// supportSection is what supportconfig wrote of one command or file.
type supportSection struct {
	start
	text string
	line int // the number of lines before it
}

// supportSections returns the sections of a text of supportconfig that a format reads. The others are as
// unknown members of an archive are: not read.
func supportSections(text string) (list []supportSection) {
	if !strings.Contains(text, "#==[") {
		return nil
	}
	kind, before, offset := "", 0, 0
	var now *supportSection
	began := 0
	end := func(at int) {
		if now != nil && len(now.formats) > 0 {
			now.text = withoutRemark(text[began:at])
			list = append(list, *now)
		}
		now = nil
	}
	for line := range strings.Lines(text) {
		at := offset
		offset += len(line)
		before++
		head := supportHead.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch what, is := strings.CutPrefix(line, "# "); {
		case head != nil:
			end(at)
			kind = head[1]
		case kind != "" && is: // the line behind the head
			what, _, _ = strings.Cut(strings.TrimSpace(what), " - ") // "/var/log/messages - Last 500 Lines"
			if strings.HasSuffix(kind, " File") {
				what = "cat " + what
			}
			now, began = &supportSection{start: startWith("", what), line: before}, offset
			kind = ""
		default:
			kind = ""
		}
	}
	end(len(text))
	return list
}

// withoutRemark returns the text of a section without what supportconfig remarks on it behind an empty line:
// "# Connectivity Test, Default Route 192.0.2.1: Success".
func withoutRemark(text string) string {
	if i := strings.LastIndex(strings.TrimRight(text, "\n"), "\n# "); i >= 0 && (i == 0 || text[i-1] == '\n') {
		return text[:i]
	}
	return text
}
