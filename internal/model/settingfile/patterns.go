package settingfile

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/opsystem"
)

// IsPattern reports whether the key stands for all parameters that match it: net.ipv4.conf.*.rp_filter.
func (l Line) IsPattern() bool { return !l.IsOption() && strings.ContainsAny(l.Key, "*?[") }

// slashed converts between keys and paths below /proc/sys.
var slashed = strings.NewReplacer(".", "/", "/", ".")

// Matches reports whether a key matches a pattern (glob(7)), of which * ends at a dot.
func Matches(pattern, key string) bool {
	is, err := path.Match(slashed.Replace(pattern), slashed.Replace(key))
	return err == nil && is
}

// mostMatches bounds the parameters in place of a pattern: there is one for each interface.
const mostMatches = 64

// Expand puts parameters in place of the patterns in files; of returns those that match one.
//
// In lists, a pattern sets no parameter that any list sets by its name, wherever that is, and none that a line
// "-KEY" excludes (sysctl.d(5); sysctl(8) of procps since 3.3.17 does the same with files, which its manual does not
// say). A script sets parameters in the order of its lines.
func Expand(files []File, of func(pattern string) []string) {
	named := map[string]bool{}
	for i := range files { // systemd-sysctl(8) keeps one line for each name, the last
		f := &files[i]
		first := map[string]int{} // lines that name a parameter
		for _, l := range slices.Backward(f.Lines) {
			if l.listed {
				first[l.Key] = l.Line
			}
		}
		for _, l := range f.Excludes {
			if at, is := first[l.Key]; named[l.Key] || is && at < l.Line {
				f.apart(Odd, l.Line, "-"+l.Key, "systemd-sysctl(8) then does not set "+l.Key+
					", which a line before does, and sysctl(8) sets it")
			}
		}
		for _, l := range f.Lines {
			named[l.Key] = named[l.Key] || l.listed && !l.IsPattern()
		}
	}
	for _, f := range files {
		for _, l := range f.Excludes {
			named[l.Key] = true
		}
	}
	for i := range files {
		f := &files[i]
		lines := f.Lines
		f.Lines = nil
		for _, l := range lines {
			switch {
			case !l.IsPattern():
				f.Lines = append(f.Lines, l)
			case l.Slip != "":
				f.apart(Wrong, l.Line, l.Written, l.Slip, l.Setting())
			case f.System != opsystem.Linux:
				f.apart(Unread, l.Line, l.Setting(), "a pattern for several parameters, which only Linux has")
			default:
				f.expand(l, of(l.Key), named)
			}
		}
	}
}

// expand appends the parameters that a pattern sets.
func (f *File) expand(l Line, keys []string, named map[string]bool) {
	if l.listed {
		keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return named[key] })
	}
	for _, key := range keys[:min(len(keys), mostMatches)] {
		one := l
		one.Key = key
		f.Lines = append(f.Lines, one)
	}
	switch {
	case len(keys) == 0:
		f.apart(Odd, l.Line, l.Setting(), "it sets nothing: there is no such parameter, or other "+
			"lines set or exclude each one by its name")
	case len(keys) > mostMatches:
		f.apart(Unread, l.Line, l.Setting(), "it matches more parameters than are judged: "+strconv.Itoa(len(keys)))
	default:
		f.apart(Note, l.Line, l.Setting(), "a pattern, for "+strconv.Itoa(len(keys))+" parameters")
	}
}
