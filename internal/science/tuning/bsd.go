package tuning

import (
	"linerate/internal/model/record"

	"linerate/internal/model/settingfile"
)

// remark is what is known of a parameter of a BSD, where no kernel can be asked.
type remark struct {
	system, key string
	// format restricts it to one kind of file.
	format       string
	id, severity string
	says, fix    string
}

// counted are parameters of FreeBSD that count buffers, by the bytes of each.
var counted = map[string]int64{
	"kern.ipc.nmbclusters": 2048, "kern.ipc.nmbjumbop": 4096, "kern.ipc.nmbjumbo9": 9216, "kern.ipc.nmbjumbo16": 16384, "kern.ipc.nmbufs": 256,
}

// remarks are of FreeBSD's and OpenBSD's parameters: tuning(7), mbuf(9), tcp(4),
// ix(4) and iflib(4) of the one, sysctl(2) of the other.
var remarks = []remark{
	{settingfile.FreeBSD, "kern.ipc.maxsockbuf", "", "no-effect", record.LintWarning,
		"it bounds every socket buffer, but TCP's own sizing ends at net.inet.tcp.recvbuf_max and sendbuf_max", "set net.inet.tcp.recvbuf_max and net.inet.tcp.sendbuf_max as well"},
	{settingfile.FreeBSD, "kern.ipc.somaxconn", "", "renamed", record.LintWarning, "since FreeBSD 10 it is kern.ipc.soacceptqueue", "kern.ipc.soacceptqueue"},
	{settingfile.FreeBSD, "hw.ixgbe.txd", "", "renamed", record.LintError, "the driver is ix: since FreeBSD 12 rings are sized by dev.ix.N.iflib.override_ntxds", "dev.ix.0.iflib.override_ntxds, for each interface"},
	{settingfile.FreeBSD, "hw.ixgbe.rxd", "", "renamed", record.LintError, "the driver is ix: since FreeBSD 12 rings are sized by dev.ix.N.iflib.override_nrxds", "dev.ix.0.iflib.override_nrxds, for each interface"},
	{settingfile.FreeBSD, "hw.ix.txd", "", "renamed", record.LintError, "since FreeBSD 12 rings are sized by dev.ix.N.iflib.override_ntxds", "dev.ix.0.iflib.override_ntxds, for each interface"},
	{settingfile.FreeBSD, "hw.ix.rxd", "", "renamed", record.LintError, "since FreeBSD 12 rings are sized by dev.ix.N.iflib.override_nrxds", "dev.ix.0.iflib.override_nrxds, for each interface"},
	{settingfile.FreeBSD, "net.inet.tcp.recvbuf_inc", "", "removed", record.LintError, "since FreeBSD 13 the receive buffer grows by what was received, not in steps", ""},
	{settingfile.FreeBSD, "hw.intr_storm_threshold", "", "no-effect", record.LintNote, "it slows interrupts that look like a storm; newer releases have it off (0), so that this turns it on", ""},
	{settingfile.OpenBSD, "net.inet.ip.mtudisc", "", "harmful", record.LintWarning, "0 turns path MTU discovery off: to other networks TCP sends segments of net.inet.tcp.mssdflt bytes at most", ""},
	{settingfile.OpenBSD, "net.inet.tcp.mssdflt", "", "no-effect", record.LintNote, "it is used only where the path's MTU is not known and the peer names no MSS", ""},
	{settingfile.OpenBSD, "net.inet.tcp.rfc3390", "", "no-effect", record.LintNote, "it is the window that a connection begins with: 2 stands for ten segments (RFC 6928)", ""},
	{settingfile.OpenBSD, "net.inet.tcp.recvspace", "", "removed", record.LintError, "since OpenBSD 4.9 TCP sizes its buffers itself", ""},
	{settingfile.OpenBSD, "net.inet.tcp.sendspace", "", "removed", record.LintError, "since OpenBSD 4.9 TCP sizes its buffers itself", ""},
	{settingfile.OpenBSD, "net.inet.udp.recvspace", "", "no-effect", record.LintNote, "it is about UDP", ""},
	{settingfile.OpenBSD, "net.inet.udp.sendspace", "", "no-effect", record.LintNote, "it is about UDP", ""},
}

// bsd says what is known of a line of a BSD's file.
func (c *checker) bsd(f *settingfile.File, l settingfile.Line) {
	for _, r := range remarks {
		if r.system != f.System || r.key != l.Key || r.format != "" && r.format != f.Format || r.key == "net.inet.ip.mtudisc" && l.Value != "0" {
			continue
		}
		c.add(l, r.id, r.severity, r.fix, "%s", r.says)
	}
	each, is := counted[l.Key]
	if n, ok := integer(l.Value); is && ok && each*n >= manyBytes {
		c.add(l, "unit", record.LintWarning, "", "it counts buffers of %s, not bytes: %d of them are %s", size(each), n, size(each*n))
	}
	if !aboutNetwork(f.System, l.Key) {
		c.add(l, "not-network", record.LintWarning, "leave it out", "it has nothing to do with the network")
	}
}
