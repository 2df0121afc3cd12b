package settingfile

import "strings"

// profile parses a tuned profile: [sysctl] sets kernel parameters, [net] and [cpu] options of NICs
// and CPUs. Other sections belong to other plug-ins of tuned. Profiles that it includes are not
// read.
func (f *File) profile(text string) {
	section, devices := "", []string{anyInterface}
	for n, line := range entries(text) {
		if line[0] == '[' {
			section, devices = strings.ToLower(strings.Trim(line, "[]")), []string{anyInterface}
			continue
		}
		apart := func(why string) { f.Apart = append(f.Apart, Apart{f.Name, n, line, why, nil, false}) }
		key, value, found := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case section == "net" && key == "devices":
			devices = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		case f.tunedNet(n, section, key, value, devices):
		case section == "sysctl" && (key == "type" || key == "enabled" || key == "replace" || key == "priority"):
			// about the section, not of it
		case section == "sysctl":
			f.sysctl(n, line)
		case section == "main" && key == "include":
			apart("another profile, which is not read: give its file as well")
		case section == "main" || section == "variables" && found:
		default:
			apart("section [" + section + "] is no list of kernel parameters: tuned does that itself")
		}
	}
}
