package machinetest

// packagesLeftOut are not tested in machines, with the reason.
var packagesLeftOut = map[string]string{
	"internal/arch":               "reads source code with the compiler, and no kernel",
	"internal/kernel/machinetest": "boots machines",
	"internal/control/lab":        measures,
	"internal/control/measure":    measures,
	"internal/control/run":        measures,
	"internal/show/cli": measures +
		"; TestUserModeLinux and the tests of package cli with Machine in their names run the program there",
	"internal/science/audit": "simulates for minutes, without the kernel",
	"internal/science/stats": "simulates for minutes, without the kernel",
}

// measures is the reason of what asserts ratios of rates and times.
const measures = "measures, and a machine's CPUs are emulated or one"

// What user-mode Linux of Debian lacks.
const (
	noFirewall = "needs nftables' tables of inet, which the kernel does not have"
	noTypes    = "the kernel does not tell its types (BTF)"
	noTracing  = "stops ethtool at a system call by ptrace(2), which user-mode Linux needs for itself"
)

// onlyUserMode are reasons that hold for user-mode Linux alone.
var onlyUserMode = []string{noFirewall, noTypes, noTracing}

// testsLeftOut are not run in machines, by package, with the reason.
var testsLeftOut = map[string]map[string]string{
	"internal/bus": {
		"TestCallsThatCannotBeAnswered": "has 20 s for a reply of more than 64 MiB",
		"TestHellos":                    "expects a message within 20 ms",
	},
	"internal/host/application": {
		"TestPoisson": measures,
		"TestSlow":    measures,
	},
	"internal/host/apply": {
		"TestNFT": noFirewall,
		"TestCommands": "compares two states within a second or two, in which a slow machine's IPv6 ends " +
			"its duplicate address detection",
		"TestNetworkdApplies":   "tests what systemd-networkd applies, which needs seconds that it does not get there",
		"TestNetworkdComplains": "tests what systemd-networkd reads, not the kernel",
	},
	"internal/host/forward": {
		"TestForward": measures,
	},
	"internal/host/iperf3/server": {
		"TestInterop": measures,
	},
	"internal/host/stream": {
		"TestModeOnAWire": measures,
	},
	"internal/kernel/drops": {
		"TestFull":          noTypes,
		"TestNothingIsLeft": noTypes,
		"TestReasons":       noTypes,
	},
	"internal/kernel/ethtool": {
		"TestFlowRulesLikeEthtool": noTracing,
	},
	"internal/kernel/netlink": {
		"TestNftables": noFirewall,
	},
	"internal/host/foreign": {
		"TestPrograms": "runs nine programs at once, which do not keep their times on one CPU",
	},
	"internal/host/hoststate": {
		"TestDropsTraced":   noTypes,
		"TestFaults":        noFirewall,
		"TestFirewallPlace": noFirewall,
		"TestLLDPDaemon":    "needs lldpd, which the machine's tree need not have",
		"TestSamplerFlows":  measures,
		"TestPasted": "compares two states within a second or two, in which a slow machine's IPv6 ends its " +
			"duplicate address detection",
	},
	"internal/host/linkemu": {
		"TestDelay":           measures,
		"TestJitter":          measures,
		"TestLossOfDatagrams": measures,
		"TestRate":            measures,
		"TestReorder":         measures,
	},
	"internal/host/transaction": {
		"TestProcessGroup": "opens 8,000 connections and waits 20 s for their responses",
	},
}
