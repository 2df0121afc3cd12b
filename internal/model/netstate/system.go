package netstate

import (
	"strings"

	"linerate/internal/model/settingfile"
)

// Operating systems other than Linux that only hosts have, besides those of package settingfile.
const (
	NetBSD    = "netbsd"
	DragonFly = "dragonfly"
	// OtherBSD is one of the BSDs or macOS, and which of them is not known.
	OtherBSD = "bsd"
)

// System returns the operating system of a host if it is one of the BSDs or macOS: FreeBSD, OpenBSD and
// MacOS of package settingfile, or one of the constants above. Empty: Linux, or not known.
func (e HostEnvironment) System() string {
	switch system := strings.ToLower(e.OS); system {
	case "darwin":
		return settingfile.MacOS
	case settingfile.FreeBSD, settingfile.OpenBSD, settingfile.MacOS, NetBSD, DragonFly, OtherBSD:
		return system
	}
	return ""
}

// SystemName returns the name of a system for display.
func SystemName(system string) string {
	switch system {
	case NetBSD:
		return "NetBSD"
	case DragonFly:
		return "DragonFly BSD"
	case OtherBSD:
		return "BSD"
	case "":
		return settingfile.SystemNames[settingfile.Linux]
	}
	return settingfile.SystemNames[system]
}
