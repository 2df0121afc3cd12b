package settingfile

import (
	"slices"
	"strings"

	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
)

var _ = register(&format{
	name: "cmdline", label: "kernel command line", manual: "kernel-parameters of Linux",
	by:     "`grub`, `cmdline`, `GRUB_CMDLINE_LINUX=`",
	yields: "`sysctl.KEY=VALUE`, which Linux takes since 5.8",
	named:  func(base, _ string) bool { return base == "grub" || base == "cmdline" || base == "cmdline.txt" },
	has:    func(text string) bool { return grubLine.MatchString(text) },
	read: func(f *File, text string) {
		for n, line := range joined(text) {
			f.cmdline(n, line)
		}
	},
})

// cmdline reads the parameters of a kernel's command line.
func (f *File) cmdline(n int, line string) {
	for _, m := range bootParameter.Regexp().FindAllStringSubmatch(line, -1) {
		f.set(Line{Line: n, Key: dotted(m[1]), Value: m[2]}, line)
	}
	if m := bootWithoutIPv6.Regexp().FindString(line); m != "" {
		f.apart(Note, n, strings.TrimSpace(m), "the kernel has no IPv6 then, and no parameters of net.ipv6: programs "+
			"that listen on :: fail")
	}
}

var (
	grubLine = pattern.MustCompile(`(?m)^GRUB_CMDLINE_LINUX(_DEFAULT)?=`)
	// bootWithoutIPv6 matches the parameter of the module ipv6 that keeps it from being there at all.
	bootWithoutIPv6 = pattern.MustCompile(`\bipv6\.disable=1\b`)
	bootParameter   = pattern.MustCompile(`(?:^|[\s"'])sysctl\.([\w./-]+)=([^\s"']+)`)
)

var _ = register(&format{
	name: "lxc", label: "LXC or Incus configuration", manual: "lxc.container.conf(5)",
	by:     "`lxc.…` lines, or `config:` with `linux.sysctl.…`",
	yields: "`lxc.sysctl.…` and `linux.sysctl.…`, in the network namespace of the container",
	has:    func(text string) bool { return lxcLine.MatchString(text) },
	shape: func(n *source.Node) bool {
		config := at(n, "config")
		return config != nil && slices.ContainsFunc(config.Entries, func(e source.Entry) bool {
			return strings.HasPrefix(e.Key.Text, incusPrefix)
		})
	},
	tree: func(r *treeReader, n *source.Node) {
		r.within, r.container = "the container", true
		for _, e := range at(n, "config").Entries {
			if name, is := strings.CutPrefix(e.Key.Text, incusPrefix); is {
				r.parameter(&source.Node{Kind: source.Scalar, At: e.Key.At, Text: name}, e.Value)
				r.use(e.Key)
			}
		}
		r.within, r.container = "", false
	},
	read: func(f *File, text string) {
		for n, line := range entries(text) {
			if m := containerSysctl.FindStringSubmatch(line); m != nil {
				f.set(Line{Line: n, Key: dotted(m[1]), Value: unquoted(m[2]), Within: "the container",
					Container: true}, line)
			} else if sets(line) {
				f.apart(Unread, n, line, "it is no lxc.sysctl line")
			}
		}
	},
})

const incusPrefix = "linux.sysctl."

var (
	lxcLine         = pattern.MustCompile(`(?m)^\s*lxc\.\w+[.\w]*\s*=`)
	containerSysctl = pattern.MustCompile(`^lxc\.sysctl\.([\w./-]+?)\s*=\s*(.+)$`)
)
