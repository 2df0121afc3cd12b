package settingfile

import (
	"path"
	"strconv"
	"strings"
)

var _ = register(&format{
	name: "systemd.link", label: "systemd.link", manual: "systemd.link(5)", by: "`.link`",
	yields: "offloads, buffer sizes, channels, flow control, coalescing, packet steering, MTU",
	named:  func(base, _ string) bool { return path.Ext(base) == ".link" },
	read:   (*File).link,
})

// linkKeys maps keys of systemd.link(5) to a group and its key.
var linkKeys = map[string][2]string{
	"GenericReceiveOffload": {"features", "gro"}, "GenericReceiveOffloadHardware": {"features", "rx-gro-hw"},
	"LargeReceiveOffload":        {"features", "lro"},
	"GenericSegmentationOffload": {"features", "gso"}, "TCPSegmentationOffload": {"features", "tx-tcp-segmentation"},
	"TCP6SegmentationOffload": {"features", "tx-tcp6-segmentation"},
	"ReceiveChecksumOffload":  {"features", "rx"}, "TransmitChecksumOffload": {"features", "tx"},
	"NTupleFilter": {"features", "ntuple"},
	"RxBufferSize": {"rings", "rx"}, "RxMiniBufferSize": {"rings", "rx-mini"},
	"RxJumboBufferSize": {"rings", "rx-jumbo"}, "TxBufferSize": {"rings", "tx"},
	"RxChannels": {"channels", "rx"}, "TxChannels": {"channels", "tx"}, "CombinedChannels": {"channels", "combined"},
	"RxFlowControl": {"pause", "rx"}, "TxFlowControl": {"pause", "tx"}, "AutoNegotiationFlowControl": {"pause",
		"autoneg"},
	"UseAdaptiveRxCoalesce": {"coalesce", "adaptive-rx"}, "UseAdaptiveTxCoalesce": {"coalesce", "adaptive-tx"},
	"RxMaxCoalescedFrames": {"coalesce", "rx-frames"}, "TxMaxCoalescedFrames": {"coalesce", "tx-frames"},
	"ReceivePacketSteeringCPUMask": {"queues", "rps_cpus"},
}

// linkNames are keys that say what an interface is called, and nothing about traffic.
var linkNames = map[string]bool{"Name": true, "NamePolicy": true, "Alias": true, "AlternativeName": true,
	"AlternativeNamesPolicy": true, "Description": true, "MACAddress": true, "MACAddressPolicy": true, "Property": true,
	"ImportProperty": true, "UnsetProperty": true, "WakeOnLan": true}

// systemdBytes converts a number of bytes with a suffix of systemd, such as 9K, to one without. Other
// values are returned unchanged.
func systemdBytes(value string) string {
	for i, suffix := range []string{"K", "M", "G"} {
		if n, err := strconv.Atoi(strings.TrimSuffix(value, suffix)); err == nil && strings.HasSuffix(value, suffix) &&
			n < 1<<20 {
			return strconv.Itoa(n << (10 * (i + 1)))
		}
	}
	return value
}

// link parses systemd.link(5).
func (f *File) link(text string) {
	iface, section := anyInterface, ""
	for n, line := range entries(text) {
		if line[0] == '[' {
			section = line
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch option, known := linkKeys[key]; {
		case section == "[Match]" && (key == "OriginalName" || key == "Name") && !strings.ContainsAny(value, "*? "):
			iface = value
		case section == "[Link]" && known:
			f.add(n, iface, option[0], option[1], onOff(value))
		case section == "[Link]" && key == "MTUBytes":
			f.addLink(n, iface, "mtu", systemdBytes(value))
		case section == "[Link]" && key == "TransmitQueueLength":
			f.addLink(n, iface, "txqueuelen", value)
		case section != "[Match]" && !linkNames[key]:
			f.apart(Unread, n, line, "this key of a .link file is not known here")
		}
	}
}
