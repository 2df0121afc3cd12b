package settingfile

import (
	"path"
	"strings"

	"linerate/internal/model/pattern"
)

// This file has formats of which little or nothing is read: what their lines may set is listed.

const plainText = "text" // of no known format

var _ = register(&format{
	name: plainText, label: "text of no known format", by: "every other file",
	yields: "nothing; lines with names of parameters or commands are listed",
	read: func(f *File, text string) {
		f.foreign(text, "a line of a text that is not known here: write KEY = VALUE, or a command alone")
	},
})

// foreignFormats are files of other programs and systems.
var foreignFormats = []struct {
	name, label, by, endings, why string
	names                         []string
	dir                           string // of its files
	all                           bool   // every line may set something
	content                       *pattern.Pattern
}{
	{name: "chef", label: "Chef recipe", by: "`.rb`", endings: ".rb",
		why: "recipes are programs, of which nothing is read"},
	{name: "dockerfile", label: "Dockerfile", by: "`Dockerfile`, `Containerfile`", endings: ".dockerfile",
		names: []string{"Dockerfile", "Containerfile", "dockerfile"}, content: pattern.MustCompile(`\A(#[^\n]*\n|` +
			`\s)*FROM \S+`),
		why: "an image has no kernel: what is set while it is built is not set in a container"},
	{name: "modprobe", label: "modprobe.d", by: "`modprobe.d`, or lines of modprobe.d(5)", content: pattern.MustCompile(
		`\A(\s*#[^\n]*\n|\s)*(options|install|blacklist|alias|softdep|remove) \S+.*\n(\s*(#[^\n]*|(options|install|` +
			`blacklist|alias|softdep|remove) .*)?\n)*\z`), dir: "modprobe.d", all: true,
		why: "parameters of kernel modules, and commands of modprobe, are not judged here"},
	{name: "uci", label: "OpenWrt configuration", by: "lines such as `option mtu '1500'`", all: true,
		content: pattern.MustCompile(`(?m)^config [a-z_-]+( '?[\w-]+'?)?\s*\n\s*(#.*\n\s*)*(option|list) `),
		why:     "what OpenWrt makes of it is not judged here: sysctl, ip and ethtool on the router show it"},
	{name: "python", label: "Python or Perl program", by: "`.py`, `.pl`", endings: ".py .pl",
		content: pattern.MustCompile(`\A#!\S*(python|perl)|\A#!\S*env (python|perl)`),
		why:     "programs are read only if they are for a shell"},
	{name: "routeros", label: "RouterOS script", by: "`.rsc`, or lines such as `/ip settings set`", endings: ".rsc",
		content: pattern.MustCompile(`(?m)^/(ip|ipv6|interface|queue|system|routing|tool)[ /][a-z]`),
		all:     true,
		why:     "RouterOS has no kernel parameters of Linux: it is not judged here"},
	{name: "windows", label: "Windows commands", by: "`.bat`, `.cmd`, `.ps1`, `.reg`, or `netsh`",
		endings: ".bat .cmd .ps1 .reg", all: true, content: pattern.MustCompile(
			`(?mi)^\s*(netsh (int|interface)|(set|get|enable|disable)-net\w+|@echo off)`),
		why: "Windows has no kernel parameters of Linux: it is not judged here"},
}

var _ = func() struct{} {
	for _, o := range foreignFormats {
		register(&format{
			name: o.name, label: o.label, by: o.by, yields: "nothing; lines that may set something are listed",
			named: func(base, dir string) bool {
				if o.dir != "" && dir == o.dir {
					return true
				}
				for _, name := range o.names {
					if base == name || strings.HasPrefix(base, name+".") {
						return true
					}
				}
				return path.Ext(base) != "" && strings.Contains(" "+o.endings+" ", " "+path.Ext(base)+" ")
			},
			has: func(text string) bool { return o.content != nil && o.content.MatchString(text) },
			read: func(f *File, text string) {
				if !o.all {
					f.foreign(text, o.why)
					return
				}
				for n, line := range entries(text) {
					f.apart(Unread, n, line, o.why)
				}
			},
		})
	}
	return struct{}{}
}()

// foreign lists the lines of a text that may set something.
func (f *File) foreign(text, why string) {
	for n, line := range entries(text) {
		if sets(line) {
			f.apart(Unread, n, line, why)
		}
	}
}

// change matches a command that changes what is read here.
var change = pattern.MustCompile(`\b(ethtool\s+(-[A-Z]|--(set|offload|features|coalesce|pause|config))|` +
	`ip\s+link\s+set|ifconfig\s+\S+\s+\w|tc\s+qdisc\s+[a-z]+\s|cpupower\s+.*set|sysctl\s+-[a-z]*[wp])|` +
	`/sys/class/net/|\bmtu["']?\s*[:=]\s*["']?\d{3,5}\b|` +
	`\[.?sysctl.?\]`)

// sets reports whether a line of text may set what is read here.
func sets(line string) bool { return mention.MatchString(line) || change.MatchString(line) }
