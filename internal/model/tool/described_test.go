package tool

import (
	"net/netip"
	"strings"
	"testing"

	"linerate/internal/model/flow"
)

func described(client, server string) flow.Tool {
	return flow.Tool{Client: strings.Fields(client), Server: strings.Fields(server)}
}

// TestDescribed: the words of a description, with its variables, and which options of
// flows it has.
func TestDescribed(t *testing.T) {
	d := described(
		"bench -c $ADDRESS:$PORT -t ${SECONDS}s -T $TIME -m $MSS -w $WINDOW -W $WINDOW_KIB -r $RATE_CAP -x $$1 -S "+
			"$SOURCE -a $AUTHORITY -n $NEXT_PORT -q $TOS", "bench -s $PORT")
	made, known := Find(d)
	if !known || made.Name != "bench" || !made.All || !made.Described || !made.IsTimed() {
		t.Fatalf("%+v", made)
	}
	job := Job{
		Spec: flow.Spec{Protocol: "tcp", Streams: 1, MSS: 1000, Window: 65536, RateCap: 2.5e6,
			DSCP: new(flow.DSCP(46))},
		Source: netip.MustParseAddr("fd00::1"), Destination: netip.MustParseAddrPort("[fd00::2]:7001"), Seconds: 2.53,
	}
	if wrong := made.Problem(job, flow.Write); wrong != "" {
		t.Error(wrong)
	}
	want := "bench -c fd00::2:7001 -t 3s -T 2.53 -m 1000 -w 65536 -W 64 -r 2500000 -x $1 -S fd00::1 -a " +
		"[fd00::2]:7001 -n 7002 -q 184"
	if got := strings.Join(made.ClientWords(job), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if server, client := made.Shown(job); strings.Join(server, " ") != "bench -s PORT" ||
		!strings.Contains(strings.Join(client, " "), "fd00::2:PORT ") {
		t.Errorf("shown as %q and %q", server, client)
	}
	for option, can := range map[string]bool{"mss": true, "window": true, "rate_cap": true, "dscp": true,
		"nodelay": false, "streams": false, "congestion_control": false} {
		if made.Can(option) != can {
			t.Errorf("%s: %v", option, !can)
		}
	}
}

// TestDescriptionProblems: what a description lacks for a job.
func TestDescriptionProblems(t *testing.T) {
	for _, test := range []struct {
		tool      flow.Tool
		protocol  string
		direction string
		wrong     string
	}{
		{described("b $PORT", "s $PORT"), "tcp", flow.Read, ""},
		{described("b $PORT", "s $PORT"), "tcp", flow.Both, "direction both"},
		{described("b $MSS", "s $PORT"), "tcp", flow.Write, "client: $MSS needs mss"},
		{described("b $SOURCE", "s $PORT"), "tcp", flow.Write, "$SOURCE needs source"},
		{described("b $PROT", "s $PORT"), "tcp", flow.Write, "client: there is no variable $PROT"},
		{described("b $1", "s $PORT"), "tcp", flow.Write, "there is no variable $1"},
		{described("b -P $STREAMS", "s $PORT"), "tcp", flow.Write, ""},
		{described("b -c $CONNECTIONS", "s $PORT"), "tcp", flow.Write, "$CONNECTIONS needs connections"},
		{described("b $PORT", "s"), "tcp", flow.Write, "server: it has no $PORT"},
		{described("b $PORT", ""), "tcp", flow.Write, "nothing listens"},
		{described("b $PORT", ""), "http", flow.Write, ""},
		{flow.Tool{Client: []string{"scp"}, Port: 22}, "tcp", flow.Write, ""},
	} {
		made, _ := Find(test.tool)
		got := made.Problem(Job{Spec: flow.Spec{Protocol: test.protocol}}, test.direction)
		if (got == "") != (test.wrong == "") || !strings.Contains(got, test.wrong) {
			t.Errorf("%+v: %q, want %q", test.tool, got, test.wrong)
		}
	}
}

// TestFigures: the last match counts, in the unit that the description or the program
// says, for the end that counts; what is no figure is an error.
func TestFigures(t *testing.T) {
	for _, test := range []struct {
		figure, unit, by, text string
		reads                  bool
		want                   Report
		wrong                  string
	}{
		{`rate ([\d.]+)`, "Mbit/s", "", "rate 1\nrate 2.5\n", false, Report{SenderBps: 2.5e6}, ""},
		{`rate ([\d.]+)`, "Mbit/s", "", "rate 2.5", true, Report{ReceiverBps: 2.5e6}, ""},
		{`rate ([\d.]+)`, "Mbit/s", "receiver", "rate 2.5", false, Report{ReceiverBps: 2.5e6}, ""},
		{`^([\d,]+) (?P<unit>\S+)$`, "", "sender", "1,000 KiB/s\n", true, Report{SenderBps: 8192e3}, ""},
		{`(?P<unit>\S+): (\d+)`, "", "sender", "Mbits/sec: 3", true, Report{SenderBps: 3e6}, ""},
		{`= (\S+)`, "requests/s", "", "= 1e3", false, Report{TransactionsPerS: 1e3}, ""},
		{`= (\S+)`, "MB/s", "", "nothing", false, Report{}, `no figure in "nothing"`},
		{`= (\S+)`, "MB/s", "", "= many", false, Report{}, `"many" is not a number`},
		{`= (\S+)`, "MB/s", "", "= -1", false, Report{}, "is not a number"},
		{`= (\S+)`, "MB/s", "", "= NaN", false, Report{}, "is not a number"},
		{`= (\S+)`, "GiB/s", "", "= 1e308", false, Report{}, "is too large"},
		{`= (\d+) (?P<unit>\S+)`, "", "", "= 1 furlong", false, Report{}, `unit "furlong" is not known`},
	} {
		made, _ := Find(flow.Tool{Client: []string{"b"}, Figure: test.figure, Unit: test.unit, CountedBy: test.by})
		got, err := made.Parse(test.text, "", test.reads)
		got.clientBps = 0
		if got != test.want || (err == nil) != (test.wrong == "") || err != nil &&
			!strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s of %q: %+v, %v", test.figure, test.text, got, err)
		}
	}
	made, _ := Find(flow.Tool{Client: []string{"b"}})
	if got, err := made.Parse("anything", "", false); got != (Report{}) || err != nil {
		t.Errorf("without a figure: %+v, %v", got, err)
	}
}

// TestWordsAreKnown: each condition and variable of a known tool's words is one.
func TestWordsAreKnown(t *testing.T) {
	var known []string
	for _, tool := range All() {
		known = append(known, tool.Name)
		for _, g := range append(tool.client, tool.server...) {
			for key := range strings.FieldsSeq(g.when) {
				if _, is := conditions()[key]; !is && flow.Find(key) == nil {
					t.Errorf("%s: condition %q", tool.Name, key)
				}
			}
			for _, name := range names(g.words) {
				if _, is := optionOf(name); !is && "$"+name != argsWord {
					t.Errorf("%s: variable $%s", tool.Name, name)
				}
			}
		}
	}
	if got, want := strings.Join(known, " "), strings.Join(flow.Tools[1:], " "); got != want {
		t.Errorf("tools are %s\nnames are %s", got, want)
	}
}
