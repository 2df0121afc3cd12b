package settingfile

import (
	"strings"

	"linerate/internal/model/pattern"
	"linerate/internal/model/setting"
)

const tunedProfile = "tuned" // sections of key=value

var _ = register(&format{
	name: tunedProfile, label: "tuned profile", manual: "tuned-profiles(7)",
	by: "`tuned.conf`, or the first line is a section of tuned, such as `[main]`",
	yields: "`[sysctl]`, `[net]` (coalesce, channels, ring, pause, features), `[cpu]` (governor), `[sysfs]`, " +
		"with the values of `[variables]`. Profiles that are included are not read: give their files as well",
	named: func(base, _ string) bool { return base == "tuned.conf" },
	has: func(text string) bool {
		return beginsSection(text) && tunedSections[strings.ToLower(strings.Trim(firstEntry(text), "[]"))]
	},
	read: (*File).profile,
})

// tunedSections are sections of tuned by which a profile is recognised.
var tunedSections = wordSet("main sysctl net cpu sysfs vm variables bootloader disk scheduler script")

// tunedVariable matches a variable in a value. One of another kind has a colon: ${f:calc_isolated_cores}.
var tunedVariable = pattern.MustCompile(`\$\{(\w+)\}`)

// longestValue bounds a value with variables, each of which may have others.
const longestValue = 4096

// profile parses a tuned profile: [sysctl] sets kernel parameters, [net], [cpu] and [sysfs] options of
// NICs and CPUs. Other sections belong to other plug-ins of tuned. Profiles that it includes are not
// read.
func (f *File) profile(text string) {
	section, devices := "", []string{anyInterface}
	variables := map[string]string{}
	for n, line := range entries(text) {
		line = tunedVariable.Regexp().ReplaceAllStringFunc(line, func(whole string) string {
			if value, known := variables[tunedVariable.FindStringSubmatch(whole)[1]]; known {
				return value
			}
			return whole
		})
		if line[0] == '[' {
			section, devices = strings.ToLower(strings.Trim(line, "[]")), []string{anyInterface}
			continue
		}
		key, value, found := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case section == "variables" && key == "include":
			f.apart(Unread, n, line, "variables of another file, which is not read")
		case section == "variables" && found && len(value) <= longestValue:
			variables[key] = value
		case templated(value) != "":
			f.apart(Unread, n, line, dependsOn(templated(value)))
		case section == "net" && key == "devices":
			devices = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		case f.tunedNet(n, section, key, value, devices):
		case key == "type" || key == "enabled" || key == "replace" || key == "priority":
			// about the section, not of it
		case section == "sysctl":
			f.sysctl(n, line)
		case section == "main" && key == "include":
			f.apart(Unread, n, line, "another profile, which is not read: give its file as well")
		case section == "sysfs" && f.sysfs(n, strings.TrimPrefix(key, sysfs), value, anyInterface):
		case section == "bootloader" && strings.HasPrefix(key, "cmdline"):
			f.cmdline(n, line)
		case section == "main":
		default:
			f.apart(Unread, n, line, "section ["+section+"] is no list of kernel parameters: tuned does that itself")
		}
	}
}

// tunedKeys are those of tuned's [net] that are pairs of a key and a value of ethtool(8).
var tunedKeys = map[string]string{"coalesce": "coalesce", "channels": "channels", "ring": "rings", "pause": "pause",
	"features": "features"}

// tunedNet parses a line of [net] or [cpu]. Devices are those that the section names. It reports
// whether the line is an option.
func (f *File) tunedNet(n int, section, key, value string, devices []string) bool {
	switch group, known := tunedKeys[key]; {
	case section == "cpu" && key == "governor":
		name, _, _ := strings.Cut(value, "|") // the first one that exists
		f.option(n, setting.CPUGovernor, name)
		return true
	case section == "net" && known:
		words := strings.Fields(strings.ReplaceAll(value, ",", " "))
		for i := 0; i+1 < len(words); i += 2 {
			for _, dev := range devices {
				f.add(n, dev, group, words[i], words[i+1])
			}
		}
		return true
	}
	return false
}
