// Package opsystem names the operating systems of hosts, texts and lists of settings.
package opsystem

import "strings"

// Operating systems. The zero value of a field with a system stands for Linux, or for one that is not known: the
// field says which.
const (
	Linux     = "linux"
	FreeBSD   = "freebsd"
	OpenBSD   = "openbsd"
	MacOS     = "macos"
	NetBSD    = "netbsd"
	DragonFly = "dragonfly"
	// OtherBSD is one of the BSDs or macOS, and which of them is not known.
	OtherBSD = "bsd"
)

var names = map[string]string{"": "Linux", Linux: "Linux", FreeBSD: "FreeBSD", OpenBSD: "OpenBSD", MacOS: "macOS",
	NetBSD: "NetBSD", DragonFly: "DragonFly BSD", OtherBSD: "BSD"}

// Name returns the name of a system for display; that of the empty text is Linux. Empty: it is none of the constants.
func Name(system string) string { return names[system] }

// Foreign returns the system that uname(1) prints as name, if it is one of the BSDs or macOS. Empty: it is Linux, or
// not known.
func Foreign(name string) string {
	switch system := strings.ToLower(name); {
	case system == "darwin":
		return MacOS
	case system != Linux && names[system] != "":
		return system
	}
	return ""
}
