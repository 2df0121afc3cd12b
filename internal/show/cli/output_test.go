package cli

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/host/apply"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/fabric"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/science/conclude"
	"linerate/internal/science/proof"
	"linerate/internal/show/present"
	"linerate/internal/show/showtest"
	"linerate/internal/show/starter"
	"linerate/studies"
)

// output is what of a verb's output is looked at.
type output struct {
	lines  []string                  // without the verb; WIDTH is how wide the terminal is
	print  func(*testing.T) []string // what needs a network, or a terminal
	exempt string                    // why it is as wide as it is
	whole  func(line string) bool    // lines that are not for people, and stay whole
	file   bool                      // stdout is one: its messages alone are looked at
}

// outputs has an entry for every verb.
var outputs = map[string]output{
	"run":     {lines: []string{"--resume arp-flux-7"}, print: shownRuns},
	"studies": {lines: []string{""}},
	"show":    {exempt: "prints a file"},
	"check":   {lines: append(studies.Names(), "arp-flux --seed 7", "ip-alias --set workload.tool=linerate")},
	"limits":  {},
	"limits goodput": {lines: []string{"", "--vlan 1", "--rate 10gbit --mtu 9000 --family ipv6",
		"--protocol udp --datagram 64", "--shaped"}},
	"limits bdp": {lines: []string{"", "--rate 10G --rtt 30ms --window 64K --answer 64kB"}},
	"limits ecmp": {lines: []string{"--links 4", "--links 4 --flows 32", "--links 4 --flows 64 --tiers 2",
		"--links 4 --hosts 64 --flows 1000",
		"--links 4 --rate 1gbit,1gbit,10gbit,10gbit --flows 8 --weights 1,1,10,10"}},
	"limits bond": {lines: []string{"--links 2", "--links 4 --flows 8 --policy layer2 --pairs 2"}},
	"schema":      {exempt: "prints JSON"},
	"tune": {lines: []string{"linux-10g --lint --elsewhere", "blog.conf --lint --elsewhere",
		"freebsd-10g --lint --elsewhere", "--lists"}, print: shownTuning},
	"help": {lines: []string{"", "run", "rnu"}},
	"doctor": {lines: []string{"--over 0s --all", "host.json", "host.json later.json --all", "--list",
		"--explain link-down", "missing.json", "--explain lnk-down --over x",
		"tables.txt", "--probe 192.0.2.1 host.json --port 70000", "--accepted",
		"--accept sack-off --until 9999-12-31 --because " +
			"the␣vendor␣of␣the␣storage␣wants␣it␣so,␣until␣its␣next␣release --host nas --host " +
			"a-rather-long-name-of-a-host.example",
		"--accept sack-of --until never"}},
	"top": {lines: []string{"--once --interval 100ms", "--replay top.jsonl --once", "",
		"--replay missing.jsonl --once --host nas", "--replay host.json --once", "--interval 2h --sort size --once"}},
	"prove": {lines: []string{"arp-flx", "arp-flux --run nothing --duration x", "sack-off --run arp-flux-7",
		"sack-off --host a --host b --via c --treatment x"}, print: shownProof},
	"snapshot": {exempt: "prints JSON"},
	"diff":     {lines: []string{"host.json later.json", "host.json later.json --counters", "host.json missing.json"}},
	"discover": {lines: []string{"", "one --switch :x --snmp-version 4 --lldp 3h",
		"--lab a-lab-that-is-not-there-and-has-a-long-name"}, print: shownFabrics},
	"hosts": {lines: []string{"", "--inventory hosts.yaml", "--inventory hosts.yaml --select wbe",
		"--inventory ansible.ini", "--inventory wrong.txt"}},
	"lab":       {},
	"lab up":    {lines: []string{"nas.yaml", "missing.yaml"}, print: shownLabs},
	"lab exec":  {lines: []string{"h1", "--lab a-lab-that-is-not-there-and-has-a-long-name h1 -- ip address"}},
	"lab shell": {lines: []string{"", "--lab a-lab-that-is-not-there-and-has-a-long-name h1"}},
	"serve": {lines: []string{"-p 5203 --listen :5204", "--allow x --max-rate fast --iperf3 5201"},
		print: shownServing},
	"measure": {lines: []string{"127.0.0.1:1 --duration 1s --no-save",
		"127.0.0.1 --streams 0 --duration x --protocol sctp"}, print: shownMeasurements},
	"mesh": {lines: []string{"--plan --inventory hosts.yaml --seed 1 --pattern ring", "",
		"a b --latency --streams 2 --resume x", "--plan --lab a-lab-that-is-not-there"}},
	"forward": {lines: []string{"", "--interface eth0 --receive eth0 --router here --frame 63,9019 --loss 60%,x",
		"--interface a-missing-interface --receive another-one"}, print: shownForwarding},
	"replay": {lines: []string{"missing.pcap --interface eth0", "host.json --interface eth0",
		"host.json --speed fast --pace 0 --map 10.0.0.0/8=192.0.2.0/24 --source-mac x"}, print: shownReplays},
	"runs":    {lines: []string{"", "--grep cable", "--study nothing", "--since soon"}, whole: isID},
	"runs rm": {lines: []string{"nothing --yes", "gone-WIDTH --yes", "arp-flux-7"}},
	"report": {lines: append(keptRuns(), "nothing", "loaded-7 --out out-WIDTH --html page.html",
		"loaded-7 --out a/directory/whose/path/is/longer/than/most/terminals/are/wide/WIDTH")},
	"compare": {lines: []string{"arp-flux-7 half-8", "arp-flux-7 half-8 --all", "arp-flux-7 loaded-7",
		"arp-flux-7 loaded-7 --all", "loaded-7 loaded-8", "loaded-7 loaded-8 --all",
		"loaded-goodput-7 loaded-goodput-8", "treatments-30-7 treatments-30-8",
		"named␣after␣what␣was␣changed␣in␣the␣rack half-8", "arp-flux-7 in-doubt-7", "measured-1 measured-2",
		"arp-flux-7 arp-flux-7"}},
	"plot": {lines: []string{"arp-flux-7 -o figure.svg", "arp-flux-7 -o figure.svg --figure nothing",
		"loaded-7 -o a-name-of-a-figure-that-is-rather-long-as-some-people-have-them.svg --figure effects",
		"loaded-7 -o x.gif --scale 9"}},
	"fix": {lines: fixLines(), whole: forShells},
	"note": {lines: []string{"loaded-7 after␣the␣new␣cable␣in␣port␣3,␣when␣the␣old␣switch␣had␣gone",
		"nothing x"}},
	"export":     {exempt: "writes files"},
	"recover":    {lines: []string{"--list"}, print: shownRecovery},
	"new":        {lines: []string{"", "nass"}},
	"completion": {lines: []string{"", "pwsh"}},
}

// shownFabrics is what discover prints of a fabric with long names.
func shownFabrics(t *testing.T) []string {
	end := func(node, name string) topology.End { return topology.End{Node: node, Interface: name} }
	f := fabric.Fabric{Hosts: []fabric.Host{{Name: "a-rather-long-name-of-a-host", Rack: "leaf1"}, {Name: "spine1",
		Router: true}},
		Links: []fabric.Link{{From: end("a-rather-long-name-of-a-host", "enp129s0f0np0"), To: end("leaf1",
			"GigabitEth1-0-7"),
			RateBps: 1e11, BackBps: 1e11, Source: fabric.SourceLLDP}, {From: end("leaf1", "core"), To: end("core",
			"leaf1"),
			Source: fabric.SourceAssumed}},
		Unknown: []fabric.Unknown{{What: "how leaf1, leaf2, leaf3, leaf4 and 12 more are connected: core stands for it",
			Tell: "--switch of each, or of what is between them"}}}
	var b strings.Builder
	if err := asText(shownFabric(f))(&b); err != nil {
		t.Fatal(err)
	}
	return []string{b.String()}
}

// shownProof is what begins and ends the output of prove, between which is that of run.
func shownProof(t *testing.T) []string {
	var said strings.Builder
	p := &proof.Proof{Treatment: "arp_ignore=1 + arp_announce=2, writes, 2.5 Gbit/s",
		Of: []record.Finding{{ID: "same-subnet-one-egress"}},
		Advice: []string{
			"on a-host-with-a-long-name: what no setting of a host does, and what is therefore not among those " +
				"that are tried"}}
	for i := range 12 {
		p.Settings = append(p.Settings,
			setting.Setting{Host: "server",
				Sysctl: []setting.Sysctl{{Key: fmt.Sprintf("net.ipv4.conf.eth%d.arp_ignore", i), Value: "1"}}})
	}
	s, err := study.Parse("f",
		[]byte("study: x\ntopology: {hosts: {a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}, b: {interfaces: "+
			"{eth0: {addresses: [10.0.0.2/24]}}}}, links: [{from: a, to: b}]}\nworkload: {flows: [{from: a, to: "+
			"b}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	proveFlags{}.introduce(streams{err: &said}, p, &record.Run{ID: "arp-flux-after-the-new-cable-7"}, plan)
	return []string{said.String()}
}

func init() {
	for _, k := range starter.Kinds {
		outputs["new "+k.Name] = output{lines: []string{"-o " + k.Name + "-WIDTH.yaml", "-o " + k.Name + "-WIDTH.yaml",
			"-o -"}, file: true}
	}
	for _, s := range shells {
		outputs["completion "+s.name] = output{exempt: "prints a script"}
	}
	for _, name := range []string{"agent", "lab init", "lab emulate", "guard", "transaction-worker"} {
		outputs[name] = output{exempt: "is for programs"}
	}
}

// TestOutputFits: no verb prints a line wider than the terminal, neither answers nor
// messages. A verb without an entry in outputs fails.
func TestOutputFits(t *testing.T) { kerneltest.OwnProcess(t, everyOutputFits) }

func everyOutputFits(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv(notebook.Variable, filepath.Join(dir, "notebook.db"))
	wrongFiles(t)
	keepRuns(t, filepath.Join(dir, "notebook.db"))
	left := map[string]bool{}
	for name := range outputs {
		left[name] = true
	}
	look := func(t *testing.T, what, said string, width int, whole func(string) bool) {
		t.Helper()
		if strings.TrimSpace(said) == "" {
			t.Errorf("%s: nothing is printed", what)
		}
		if strings.Contains(said, "\x1b") {
			t.Errorf("%s: escape sequences without a terminal", what)
		}
		for _, wide := range tooWide(said, width) {
			if whole == nil || !whole(wide) {
				t.Errorf("%s at %d columns: %q", what, width, wide)
			}
		}
	}
	everyCommand(Command(), func(cmd *cobra.Command) {
		name := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
		if name == "" {
			return
		}
		o, known := outputs[name]
		if delete(left, name); !known {
			t.Errorf("%s: expected an entry in outputs: lines whose width is checked, or why it is exempt", name)
		}
		for _, width := range testedWidths {
			t.Setenv("COLUMNS", fmt.Sprint(width))
			for _, line := range o.lines {
				line = strings.TrimSpace(name + " " + strings.ReplaceAll(line, "WIDTH", strconv.Itoa(width)))
				var both strings.Builder
				var answers io.Writer = &both
				if o.file {
					answers = io.Discard
				}
				Main(arguments(line), strings.NewReader(""), answers, &both)
				look(t, line, both.String(), width, o.whole)
			}
			if o.print != nil {
				for i, said := range o.print(t) {
					look(t, fmt.Sprintf("%s, %d", name, i+1), said, width, nil)
				}
			}
		}
	})
	for name := range left {
		t.Errorf("outputs has %q, which is no verb", name)
	}
	for _, width := range testedWidths {
		t.Setenv("COLUMNS", fmt.Sprint(width))
		for _, wrong := range wrongLines {
			var errs strings.Builder
			Main(arguments(wrong.line), strings.NewReader(""), &errs, &errs)
			look(t, wrong.line, errs.String(), width, nil)
		}
	}
}

// kept are the variants that are in the notebook, each twice: with seeds 7 and 8.
var kept = []string{"arp-flux", "in-doubt", "interrupted", "two-factors", "loaded", "loaded-goodput", "lossy",
	"ablated", "treatments-30", "no-condition", "ipv6", "fabric"}

func keptRuns() (ids []string) {
	for _, name := range kept {
		ids = append(ids, name+"-7")
	}
	return append(ids, "measured-1")
}

// keepRuns fills the notebook.
func keepRuns(t *testing.T, path string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	keep := func(from *record.Run, id, name string) {
		run := *from
		run.ID, run.Name, run.Trials = id, name, nil
		err := store.Begin(t.Context(), &run)
		for _, trial := range from.Trials {
			if strings.HasPrefix(id, "half-") {
				trial.GoodputBps /= 2
			}
			if err == nil {
				err = store.SaveTrial(t.Context(), id, trial)
			}
		}
		if err == nil {
			run.Trials = from.Trials
			if run.Status != notebook.Interrupted {
				run.Status = notebook.Complete
			}
			err = store.Finish(t.Context(), &run)
		}
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
	}
	all := showtest.Variants()
	for _, name := range kept {
		for _, seed := range []string{"-7", "-8"} {
			keep(all[name], name+seed, "")
		}
	}
	keep(all["arp-flux"], "half-8", "")
	keep(all["arp-flux"], "a-study-whose-name-is-as-long-as-names-of-studies-are-at-some-places-7",
		"named after what was changed in the rack")
	keep(all["one-trial"], "measured-1", "before the new cable in port 3")
	keep(all["one-trial"], "measured-2", "")
	for _, width := range testedWidths {
		keep(all["one-trial"], fmt.Sprint("gone-", width), "")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// printed is what f prints.
func printed(f func(s streams) error) string {
	var both strings.Builder
	if err := f(streams{in: strings.NewReader(""), out: &both, err: &both}); err != nil {
		say(&both, "linerate: %v\n", err)
	}
	return both.String()
}

func shownRuns(t *testing.T) (texts []string) {
	all := showtest.Variants()
	for _, name := range []string{"arp-flux", "one-trial", "interrupted"} {
		texts = append(texts, printed(func(s streams) error {
			return finishRun(t.Context(), s, all[name], nil, runFlags{trialFlags: trialFlags{out: "out"}})
		}))
	}
	return texts
}

func shownMeasurements(*testing.T) (texts []string) {
	for _, m := range showtest.Measurements() {
		texts = append(texts, printed(func(s streams) error { return asText(present.Measure(m))(s.out) }))
	}
	return texts
}

// shownReplays have each part that the result of a replay can have.
func shownReplays(*testing.T) (texts []string) {
	late := &record.Distribution{Count: 300_000, MinUs: 0.1, MeanUs: 812.5, P50Us: 712.3, P90Us: 1512.2,
		P99Us: 12_345.6, P999Us: 23_456.7, P9999Us: 34_567.8, MaxUs: 45_678.9}
	r := &record.Replay{
		Interface: "enp129s0f0np0", Mode: "af_packet",
		Refused: "program that transmits frames: operation not permitted", Frames: 1_234_567, Passes: 3,
		Sent: 3_000_000, SentBytes: 4_321_000_000,
		ScheduleS: 71.3, TookS: 100.02, PerS: 29_994, Bps: 345.6e6, Lateness: late, BlockedS: 12.34,
		Cut: &record.ReplayCut{After: 1_234_567, InFrame: true, Missing: 1234},
		Towards: record.ReplayTowards{MAC: "02:00:00:00:00:01", Frames: 1_234_000, IP: "2001:db8:1234:5678::fe",
			Packets: 987_654},
		Received: &record.ReplayReceived{Interface: "enp129s0f1np1", Received: 2_900_000, Lost: 100_000, Altered: 12,
			Reordered: 3456, Duplicates: 78, Other: 901_234, Overrun: 5678, Merged: 9, Latency: late,
			LostIncomplete: 4321, LostLocal: 99},
	}
	for _, code := range record.ReplayCodes {
		r.Remarks = append(r.Remarks, record.ReplayRemark{Code: code, Frames: 1234,
			First: []int{1, 22, 333, 1_000_000, 1_000_001}})
	}
	none := *r
	none.Received = &record.ReplayReceived{Interface: "eth1", Lost: r.Sent, Other: 3}
	none.Cut = &record.ReplayCut{After: 7, Damaged: "a block begins with a length of 123456 and ends with 654321"}
	for _, r := range []*record.Replay{r, &none} {
		texts = append(texts, printed(func(s streams) error { return asText(present.Replay(r))(s.out) }))
	}
	return texts
}

// shownForwarding have each part that the result of forwarding can have.
func shownForwarding(*testing.T) []string {
	late := &record.Distribution{Count: 300_000, MinUs: 0.1, MeanUs: 812.5, P50Us: 712.3, P90Us: 1512.2,
		P99Us: 12_345.6, MaxUs: 45_678.9}
	found := record.LossFree{RateBps: 381.6e6, PacketsPerS: 567_891, Repeats: 2, ConfirmS: 5, LostAtBps: 390e6,
		Resolution: 0.01, Trials: []record.LossTrial{{OfferedBps: 390e6, LostShare: 0.0246}}}
	bound := found
	bound.BoundedBy, bound.Loss = record.BoundedBySender, 0.005
	none := record.LossFree{Why: "no rate was confirmed within the greatest number of trials of a search", Repeats: 2,
		ConfirmS: 5}
	r := &record.Forward{
		Interface: "enp129s0f0np0", Receive: "enp129s0f1np1", Router: "2001:db8:1234:5678::fe", Mode: "af_packet",
		Refused: "program that transmits frames: operation not permitted", LinkBps: 10e9,
		Sizes: []record.ForwardSize{{Frame: "64", Bytes: 64, CeilingPerS: 1_234_567,
			Goals: []record.ForwardGoal{{LossFree: found, LineShare: 0.0382, Latency: late},
				{LossFree: bound, LineShare: 0.0382, Latency: late}},
			Bursts: &record.ForwardBursts{Frames: []int64{12_345, 23_456}, MeanFrames: 17_900.5,
				DeviationFrames: 7_856.7, PerS: 1_234_567, MostFrames: 2_469_134, BufferFrames: 9_666,
				BufferS: 0.00783}},
			{Frame: "imix", Bytes: 353.8, CeilingPerS: 734_567, Goals: []record.ForwardGoal{{LossFree: none}},
				Bursts: &record.ForwardBursts{PerS: 734_567, Why: "all that the generator sends is forwarded"}}},
		Drops: []record.ForwardDrops{{What: "the processors' backlog (softnet_stat, of all of this machine)",
			Frames: 12_345}},
	}
	virtual := *r
	virtual.LinkBps, virtual.Router, virtual.Drops = 0, "", nil
	return []string{printed(func(s streams) error { return asText(present.Forward(r))(s.out) }),
		printed(func(s streams) error { return asText(present.Forward(&virtual))(s.out) }),
		printed(func(s streams) error { return asText(present.Forward(&record.Forward{}))(s.out) })}
}

func shownTuning(t *testing.T) (texts []string) {
	run := showtest.Ablated()
	lists := conclude.Lists(run)
	if len(lists) != 2 {
		t.Fatalf("%d lists", len(lists))
	}
	result := lists[0]
	result.Run, result.Answer, result.Conditions = run.ID, "The list improves goodput (2.372×, 2.366–2.378).", lists[1:]
	worse, gain := 0.06, 0.99
	effect := &record.Effect{Verdict: record.Improves, Ratio: record.EffectSize{Mean: 1.02, Low: 1.01, High: 1.03}}
	for _, name := range []string{"as it is", "the list", "net.ipv4.tcp_rmem and net.ipv4.tcp_wmem"} {
		result.Figures = append(result.Figures, record.TuneFigure{Name: name, Responses: []record.ResponseEstimate{
			{Response: "goodput", Mean: 941.5e6, Low: 941e6, High: 942e6, Half: 0.5e6, Trials: 4},
			{Response: "latency_p50", Mean: 51234, Low: 51e3, High: 52e3, Half: 500, Trials: 4},
			{Response: "latency_p99", Mean: 71234, Low: 71e3, High: 72e3, Half: 500, Trials: 4},
			{Response: "retransmissions_per_gigabyte", Mean: 12, Low: 11, High: 13, Half: 1, Trials: 4},
		}})
	}
	result.Responses = []string{"goodput", "latency_p50", "latency_p99", "retransmissions_per_gigabyte"}
	result.Settings = append(result.Settings,
		record.TuneSetting{Key: "net.ipv4.tcp_mem", Value: "8388608 12582912 16777216", Verdict: record.NotTried,
			Why: "it is in pages, of all connections together, and the list has bytes"},
		record.TuneSetting{Key: "net.core.rmem_max", Value: "67108864", Corrected: "net.core.rmem_max = 64M",
			Verdict: record.NoDifference})
	proof := record.TuneProof{Run: "tune-8", Settings: []string{"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"},
		Effect: effect, Gain: &gain}
	result.Proof, result.Kept = &proof, "90-nas.conf"
	trade := record.TuneTrade{Response: "latency_p99", From: record.ResponseEstimate{Mean: 1000},
		To: record.ResponseEstimate{Mean: 1060}, Effect: effect, Worst: &worse}
	result.Offer = &record.TuneOffer{TuneProof: proof, Gains: []record.TuneTrade{trade},
		Costs: []record.TuneTrade{trade}, Accept: []string{"--accept-latency", "10%"},
		Command: "linerate tune --run tune-7 --keep 90-nas.conf --accept-latency 10%"}
	search := &record.Tune{Run: "tune-9", Answer: "16 MiB is enough.", Responses: result.Responses,
		Search: &record.TuneSearch{Key: "net.ipv4.tcp_rmem.max",
			Values: []record.TuneValue{{Name: "4 MiB", Effect: effect}, {Name: "16 MiB", Effect: effect},
				{Name: "64 MiB"}}}, List: effect}
	for _, result := range []*record.Tune{result, search} {
		d := present.Tune(result, "nas.conf, /etc/sysctl.d", []*record.Run{run}, []string{"runs/tune-7/report.html"})
		texts = append(texts, printed(func(s streams) error { return asText(d)(s.out) }))
	}
	return texts
}

func shownLabs(t *testing.T) (texts []string) {
	for _, name := range studies.Names() {
		topology, err := loadTopology(nil, name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, printed(func(s streams) error {
			s.labReady("rootless", 0, topology.Hosts[0].Name, " --lab "+name)
			return asText(describeLab(topology))(s.out)
		}))
	}
	return texts
}

func shownServing(t *testing.T) (texts []string) {
	for _, token := range []bool{false, true} {
		texts = append(texts, printed(func(s streams) error {
			f := serveFlags{addresses: slices.Repeat([]string{"127.0.0.1:0", "[::1]:0"}, 6)}
			listeners, err := f.open(t.Context(), s.err)
			for _, l := range listeners {
				l.Close()
			}
			busy, listening := net.Listen("tcp", "127.0.0.1:0")
			if listening != nil {
				t.Fatal(listening)
			}
			defer busy.Close()
			for _, at := range []string{"127.0.0.1:0", busy.Addr().String()} {
				if answered := (iperf3ServeFlags{listen: at}).open(t.Context(), s.err, nil, token,
					nil); answered != nil {
					answered.Listener.Close()
				}
				if metrics, _ := (&metricsFlag{address: at}).open(t.Context(), s.err); metrics != nil {
					metrics.Close()
				}
			}
			return err
		}))
	}
	return texts
}

func shownRecovery(*testing.T) []string {
	return []string{printed(func(s streams) error {
		return printRecovery(s.out, recovery{Changes: []apply.Recovered{
			{Kind: "sysctl", What: "net.ipv4.conf.all.arp_announce in network namespace 4026531840", New: "2",
				Prior: "0", Result: apply.Kept, Why: "another program has set it to 1 since; --force reverts it"},
			{Kind: "route", What: "10.0.0.0/8 via 192.168.1.254 dev enp3s0f0np0 table 1000", New: "initcwnd 40",
				Prior: "none", Result: apply.Kept},
			{Kind: "sysctl", What: "net.ipv4.tcp_sack", New: "0", Prior: "1", Result: apply.InUse,
				Why: "process 4194303 has changed it and lives, or its journal is being recovered"},
		}, Unread: []string{"/var/lib/linerate/journal-nas-4026531840.jsonl",
			"/var/lib/linerate/journal-client-4026531840.jsonl"}})
	})}
}

// fixLines has every format, for runs whose fix has settings.
func fixLines() (lines []string) {
	for _, format := range fixFormats() {
		lines = append(lines, "arp-flux-7 --format "+format)
	}
	return append(lines, "arp-flux-7 --format netplan -o fixes-WIDTH", "arp-flux-7 nothing", "loaded-7",
		"arp-flux-7 --host nowhere", "arp-flux-7 --format netpln --map x")
}

// isID: a line that has a run's ID alone.
func isID(line string) bool { return !strings.Contains(line, " ") }

// forShells: commands, and lines of configuration files.
func forShells(line string) bool {
	return !strings.HasPrefix(line, "#") || strings.HasPrefix(line, "#   ") || strings.HasPrefix(line, "# on ")
}
