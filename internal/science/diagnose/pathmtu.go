package diagnose

import (
	"fmt"

	"linerate/internal/model/flow"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"
)

var pathMTURules = []rule{{id: "path-mtu", about: "A flow of TCP carried nothing while its segments were larger than the MTU of a link that they go over. Needs a run.", find: pathMTU}}

// ipTCP is the length of the headers of IPv4 and TCP without options.
const ipTCP = 20 + 20

// pathMTU finds senders whose packets are larger than a link of their path takes, and that
// get nothing through: the message about it (RFC 1191) has not arrived.
func pathMTU(f observed) (findings []record.Finding) {
	for _, fl := range f.trial.Flows {
		info := fl.SenderInfo
		if flow.Of(fl.Protocol).Transport != flow.TCP || !fl.Connected || info == nil || fl.GoodputBps > 0 || info.Backoff == 0 && info.Retransmits == 0 {
			continue
		}
		ends := fl.Ends()
		for i := 0; i+1 < len(ends); i += 2 {
			link, ok := f.over.LinkAt(ends[i])
			if !ok {
				continue
			}
			mtu := link.Towards(ends[i]).MTU
			if int(info.SndMSS)+ipTCP <= mtu {
				continue
			}
			finding := record.Finding{
				Host: fl.From, Confidence: record.Likely,
				Summary: fmt.Sprintf("%s sends packets that a link of the path does not take, and gets no ICMP message about it", fl.From),
				Evidence: []string{
					fmt.Sprintf("flow %s: segments of %d bytes, path MTU %d as far as %s knows; %s takes packets of %d", fl.ID, info.SndMSS, info.PMTU, fl.From, ends[i], mtu),
					fmt.Sprintf("flow %s: nothing arrived in the window; the sender waits for its retransmission timeout, doubled %d times", fl.ID, info.Backoff),
				},
				Settings:  parameters(fl.From, "net.ipv4.tcp_mtu_probing", "1"),
				Reference: "RFC 2923, section 2.1; RFC 4821; Linux Documentation/networking/ip-sysctl.rst (tcp_mtu_probing)",
			}
			finding.Fix = append([]string{
				fmt.Sprintf("let ICMP type 3 code 4 (IPv6: type 2), “fragmentation needed”, of the router before %s reach %s", ends[i], fl.From),
				fmt.Sprintf("or have a router on the path clamp the MSS to %d, or lower the MTU of one end to %d", mtu-ipTCP, mtu),
				"or have the sender try smaller packets:",
			}, on(fl.From, len(f.hosts) == 1, hostconfig.Commands(finding.Settings)...)...)
			findings = append(findings, finding)
			break
		}
	}
	return findings
}
