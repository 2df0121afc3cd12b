package settingfile

import "strings"

// profile reads a tuned profile. Of its sections only [sysctl] sets parameters of
// the kernel; the others belong to tuned's plug-ins, and what a profile includes
// is in another file.
func (f *File) profile(text string) {
	section := ""
	for n, line := range entries(text) {
		if line[0] == '[' {
			section = strings.ToLower(strings.Trim(line, "[]"))
			continue
		}
		apart := func(why string) { f.Apart = append(f.Apart, Apart{f.Name, n, line, why, nil, false}) }
		key, _, found := strings.Cut(line, "=")
		switch key = strings.TrimSpace(key); {
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
