package pasted

import "linerate/internal/model/pattern"

// Tools and files without any meaning for the rules. Their output is ignored as far as no other format
// tells that a line is its own.
var _ = register(
	ignoredAll("other tools", programs("ps", "top", "htop", "pstree", "df", "du", "lsmod", "lsblk", "blkid", "mount",
		"findmnt", "ulimit", "vmstat", "iostat", "pidstat", "who", "w", "id", "whoami", "pwd", "date", "history", "ls", "tree",
		"lsb_release", "rpm", "dpkg", "apt", "yum", "dnf", "pkg", "ntpq", "chronyc", "systemctl", "service", "crontab",
		"free", "lsusb", "dmidecode", "hostid", "locale", "env", "printenv", "which", "whereis", "man", "file",
		"md5sum", "sha256sum", "sleep", "true", "clear", "kill", "pkill", "swapon", "numastat"),
		"etc/os-release", "lib/os-release", "etc/*-release", "etc/issue", "etc/debian_version", "proc/version",
		"proc/loadavg", "proc/modules", "proc/mounts", "proc/filesystems", "proc/partitions", "proc/diskstats",
		"proc/vmstat", "proc/cmdline", "etc/fstab", "etc/motd", "limits.conf"),
	ignored("cdp", cdpSure, cdpRow, func(c command) bool { return c.is("show") && c.has("cdp") }))

// ignoredAll returns a format that ignores all lines behind its commands, and of its files.
func ignoredAll(name string, is func(command) bool, files ...string) *format {
	return &format{name: name, system: several, command: is, files: files, shapeless: true, ignores: true,
		row: reads(func(m *machine, line string) bool { return !claimed(line, name) && m.ignore() })}
}

var (
	cdpSure = pattern.MustCompile(`^(?:Capability Codes: R - Router|Device ID +Local Intrf|Device ID:|Advertisement ` +
		`version: \d)`)
	cdpRow = pattern.MustCompile(`^(?:\s+[SDIMr] - |-{5,}|[\w.-]+$|\s*[\w.-]* +\w{2,4} \d[\d/.]* +\d+ .*|\s*(?:Entry ` +
		`address|IP address|IPv[46] address|Platform|` +
		`Interface|Holdtime|Version|Native VLAN|Duplex|VTP Management Domain|Management address|Total cdp entries).*|` +
		`Copyright .*|Compiled .*|.* Software, .*)`)
)
