package settingfile

import (
	"fmt"
	"path"
	"strings"
)

// Kept is a line that tune keeps, with the reason.
type Kept struct {
	Line    Line
	Because string
	// Commands make the setting if it is no kernel parameter: options of a NIC.
	Commands []string
	// Elsewhere is why the line is not for the hosts of the file. Empty: it is for them.
	Elsewhere string
}

// SysctlPath is the file, relative to the root directory, that sets kernel parameters at boot. Of
// two lines for one parameter, the one in the file whose name sorts later takes effect
// (sysctl.d(5)), and many distributions have /etc/sysctl.conf among the files as 99-sysctl.conf.
const SysctlPath = "etc/sysctl.d/99-zz-linerate.conf"

// FormatFor returns the format that the name of a file implies: a profile is always called
// tuned.conf, and tasks are YAML.
func FormatFor(name string) string {
	switch base := path.Base(name); {
	case base == "tuned.conf":
		return tunedProfile
	case path.Ext(base) == ".yml" || path.Ext(base) == ".yaml":
		return Ansible
	}
	return sysctlConf
}

// Write returns the text of a file that only contains the kept lines, each below a comment with its
// reason.
func Write(format string, head []string, kept []Kept) string {
	var b strings.Builder
	comment := func(indent, text string) {
		fmt.Fprintf(&b, "%s# %s\n", indent, strings.Join(strings.Fields(text), " "))
	}
	atBoot := func(k Kept) {
		for _, c := range k.Commands {
			comment("", "no kernel parameter; at boot: "+c)
		}
	}
	// why writes the reason for a line. It returns false if the line itself must not be written.
	why := func(k Kept) bool {
		if comment("", k.Because); k.Elsewhere != "" {
			comment("", k.Elsewhere+": "+k.Line.Setting())
		}
		return k.Elsewhere == ""
	}
	for _, line := range head {
		comment("", line)
	}
	switch format {
	case tunedProfile:
		fmt.Fprint(&b, "\n[main]\nsummary=Settings that linerate has proven\n\n[sysctl]\n")
		for _, k := range kept {
			if !why(k) {
				continue
			}
			if atBoot(k); len(k.Commands) == 0 {
				fmt.Fprintf(&b, "%s=%s\n", k.Line.Key, k.Line.Value)
			}
		}
	case Ansible:
		fmt.Fprint(&b, "---\n")
		for _, k := range kept {
			if !why(k) {
				continue
			}
			for _, c := range k.Commands {
				fmt.Fprintf(&b, "- name: Set %s\n  ansible.builtin.shell: %q\n", k.Line.Key, c)
			}
			if len(k.Commands) > 0 {
				continue
			}
			fmt.Fprintf(&b,
				"- name: Set %s\n  ansible.posix.sysctl:\n    name: %q\n    value: %q\n    sysctl_file: /%s\n    "+
					"state: present\n    reload: true\n",
				k.Line.Key, k.Line.Key, k.Line.Value, SysctlPath)
		}
	default:
		for _, k := range kept {
			fmt.Fprintln(&b)
			if !why(k) {
				continue
			}
			if atBoot(k); len(k.Commands) == 0 {
				fmt.Fprintln(&b, k.Line.Setting())
			}
		}
	}
	return b.String()
}
