package export

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// small is a run of one trial with one flow over one interface.
func small() *record.Run {
	started := time.Date(2026, 3, 2, 9, 30, 0, 5e8, time.FixedZone("", 3600))
	return &record.Run{
		ID: "mine-7", Outliers: []record.Outlier{{Response: "goodput", Treatment: "=1+1", Block: 2, Order: 1,
			Value: 1e9 / 3, Others: 9e8, Saw: []string{"one", "two"}}}, Factors: []record.Factor{{Name: "fix"},
			{Name: "direction"}},
		Trust: []record.Check{{Check: "wire", Trial: 1}, {Check: "wire", Trial: 1},
			{Check: "alive", Trial: 1, Pass: true}, {Check: "limit", Trial: 2}},
		Trials: []record.Trial{{
			Repeated: 2, LossFree: &record.LossFree{RateBps: 1e6, Trials: []record.LossTrial{
				{OfferedBps: 2e6, ReceivedBps: 15e5, WindowS: 1, Sent: 400, Lost: 100, LostShare: 0.25,
					Places: []record.LossPlace{{Host: "server", What: "receive buffer", Packets: 60},
						{What: "elsewhere", Packets: 40}}},
				{AskedBps: 1e6, OfferedBps: 1e6, ReceivedBps: 1e6, WindowS: 4, Sent: 800, Confirms: true, Pass: true},
			}},
			FindMax: &record.FindMax{RatePerS: 90, Trials: []record.FindMaxTrial{
				{AnsweredPerS: 100, WindowS: 4, Conditions: []record.Condition{
					{Condition: "latency_p99 <= 20ms", Got: "3 ms"}}},
				{AskedPerS: 95, AnsweredPerS: 80, WindowS: 12, Lengthened: true, Confirms: true,
					FailedBy: record.BoundedByGenerator, Generator: "busy"},
			}},
			Treatment: "=1+1", Levels: map[string]string{"direction": "reads", "fix": "a, \"b\""}, Block: 2, Order: 1,
			Started: started,
			WindowS: 2, GoodputBps: 1e9 / 3, LimitBps: 1e9,
			Flows: []record.Flow{
				{ID: "f1", From: "server", To: "client", ReceivedBytes: 1 << 60, Connected: true,
					Bins: []int64{600, 2000}, Path: []string{"server.eth0", "client.eth0"},
					SenderInfo: &netstate.TCPInfo{RTTUs: 40, SndCwnd: 10},
					LimitedWhy: "all that it can", Expected: &record.Prediction{LowBps: 1e7, HighBps: 2.5e7,
						LimitedBy: "receiver window", Why: "a window"}},
				{ID: "f2", Error: "connect: connection refused",
					Outages: []record.Outage{{AtS: 0.5, LostS: 0.25, ResolutionS: 0.001, Resumed: true, Moved: true,
						Withdrawn: true, Before: []string{"a.x", "b.y"}, After: []string{"a.z"}}}},
			},
			Hosts: []netstate.HostReading{{
				Host: "server",
				Begin: netstate.Reading{ScheduledNs: 1e9, Interfaces: []netstate.InterfaceCounters{
					{Interface: "eth0", RxBytes: 100, TxBytes: 900, RxDropped: 7, AtNs: 1e9}}},
				End: netstate.Reading{Interfaces: []netstate.InterfaceCounters{
					{Interface: "eth0", RxBytes: 350, TxBytes: 500, RxDropped: 7, RxMissed: 3, AtNs: 3e9},
					{Interface: "new", RxBytes: 1},
				}},
				Series: []netstate.Sample{
					{AtNs: 15e8, Interfaces: []netstate.InterfaceCounters{{Interface: "eth0", RxBytes: 160,
						TxBytes: 900},
						{Interface: "new"}}, Flows: []netstate.FlowSample{{ID: "f1", ReceivedBytes: 5000, RTTUs: 30}}},
					{AtNs: 2e9, Flows: []netstate.FlowSample{{ID: "f1", ReceivedBytes: 7000}}},
				},
			}},
		}},
	}
}

func TestRows(t *testing.T) {
	for name, want := range map[string][]string{
		"trials": {
			"run,trial,block,treatment,fix,direction,started,window_s,limit_bps,sender_reported_bps,flows,unconnected,failed_checks,goodput_bps,transactions_per_s,latency_mean_us,latency_p50_us,latency_p90_us,latency_p99_us,latency_p999_us,latency_p9999_us,latency_max_us,datagrams_per_s,loss_free_bps,lost_share,answered_share,errors_share,retransmissions_per_gigabyte,jitter_us,surplus_share,connections,connection_rate_per_s,kernel_per_connection_bytes,cpu_per_gigabyte_s,cpu_per_transaction_us,tool_sum_bps,surplus_bps,predicted_surplus_bps,unsent_bytes,remade,latency_p50_rank,latency_p90_rank,latency_p99_rank,latency_p999_rank,latency_p9999_rank,placement_limit_bps,chance_least_bps,chance_most_bps,chance_by,outlier",
			`mine-7,1,2,'=1+1,"a, ""b""",reads,2026-03-02T08:30:00.5Z,2,1e+09,0,2,1,wire,3.333333333333333e+08,,,,,,,,,,1e+06,,,,,,,,,,,,,,,,2,,,,,,,,,,goodput`,
		},
		"flows": {
			"run,trial,block,treatment,flow,from,to,source,destination,opened_by,received_bytes,written_bytes,acked_bytes,unsent_bytes,retrans_bytes,goodput_bps,sender_average_bps,connected,alive,path,limited_by,congestion_control,rtt_us,min_rtt_us,snd_cwnd,error,protocol,datagrams_sent,datagrams_received,datagrams_lost,datagrams_reordered,datagrams_duplicate,jitter_us,transactions,transactions_failed,transactions_unanswered,transactions_per_s,latency_p50_us,latency_p99_us,latency_p999_us,limited_why,expected_low_bps,expected_high_bps,expected_limited_by,expected_why,paths,predicted,observed,latency_p50_rank,latency_p99_rank,latency_p999_rank",
			`mine-7,1,2,'=1+1,f1,server,client,,,,1152921504606846976,0,0,0,0,0,0,true,false,server.eth0 client.eth0,,,40,0,10,,tcp,,,,,,,,,,,,,,all that it can,1e+07,2.5e+07,receiver window,a window,,,,,,`,
			`mine-7,1,2,'=1+1,f2,,,,,,0,0,0,0,0,0,0,false,false,,,,,,,connect: connection refused,tcp,,,,,,,,,,,,,,,,,,,,,,,,`,
		},
		"outliers": {
			"run,trial,block,treatment,response,unit,value,others,saw",
			`mine-7,1,2,'=1+1,goodput,bps,3.333333333333333e+08,9e+08,one; two`,
		},
		"outages": {
			"run,trial,block,treatment,flow,at_s,lost_s,lost_at_most_s,resolution_s,resumed,moved,withdrawn,before,after",
			`mine-7,1,2,'=1+1,f2,0.5,0.25,0.25,0.001,true,true,true,a.x b.y,a.z`,
		},
		"search": {
			"run,trial,block,treatment,step,asked_bps,offered_bps,received_bps,window_s,sent,lost,lost_share,confirms,pass,places",
			`mine-7,1,2,'=1+1,1,0,2e+06,1.5e+06,1,400,100,0.25,false,false,server receive buffer: 60; elsewhere: 40`,
			`mine-7,1,2,'=1+1,2,1e+06,1e+06,1e+06,4,800,0,0,true,true,`,
		},
		// The transmit counter was reset: it gained −400. The interface "new" came during the window.
		"interfaces": {
			"run,trial,block,treatment,host,interface,seconds,rx_bytes,tx_bytes,rx_bps,tx_bps,rx_packets,tx_packets,rx_dropped,tx_dropped,rx_errors,tx_errors,rx_missed_errors,rx_otherhost_dropped",
			`mine-7,1,2,'=1+1,server,eth0,2,250,-400,1000,-1600,0,0,0,0,0,0,3,0`,
		},
		"series": {
			"run,trial,block,treatment,host,at_s,kind,name,rx_bytes,tx_bytes,received_bytes,rtt_us,snd_cwnd",
			`mine-7,1,2,'=1+1,server,0.5,interface,eth0,60,0,,,`,
			`mine-7,1,2,'=1+1,server,0.5,flow,f1,,,,30,0`,
			`mine-7,1,2,'=1+1,server,1,flow,f1,,,,0,0`,
		},
	} {
		table, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := CSV(&b, table, small()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n"); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
}

// Every table of a whole run is rectangular and has as many rows as there are things.
func TestTablesAreRectangular(t *testing.T) {
	t.Run("goodput", func(t *testing.T) { rectangular(t, sciencetest.Run(7, 2), 1) })
	t.Run("latency", func(t *testing.T) { rectangular(t, sciencetest.Loaded(7, 2, "latency_p99", "goodput"), 2) })
}

func rectangular(t *testing.T, run *record.Run, responses int) {
	conclude.Conclude(run)
	run.Notes = []record.Note{{Text: "=1+1"}}
	run.Trials[0].Tools = []record.ToolRun{{ID: "p1w", Tool: "iperf", Output: "=1+1"}}
	run.Trials[0].Attacks = []record.Attack{{Kind: "syn-flood", AskedPerS: 10}, {Kind: "slowloris", Connections: 5,
		AttackCounts: record.AttackCounts{Lateness: &record.Distribution{}}}}
	if hosts := run.Trials[0].Hosts; len(hosts) > 0 {
		hosts[0].Begin.CPU = []netstate.CPUTimes{{CPU: -1}, {CPU: 0}, {CPU: 1}}
		hosts[0].End.CPU = []netstate.CPUTimes{{CPU: -1, User: 2, Idle: 2}, {CPU: 0, User: 1, Idle: 1},
			{CPU: 1, User: 1, Idle: 1}}
	}
	flows := 0
	for _, trial := range run.Trials {
		flows += len(trial.Flows)
	}
	want := map[string]int{"treatments": len(run.Treatments), "responses": len(run.Treatments) * responses,
		"effects": len(run.Effects) * responses, "trials": len(run.Trials), "outliers": len(run.Outliers),
		"flows": flows, "outages": 0, "search": 0, "find_max": 0, "switches": 0, "attacks": 2, "tools": 1, "load": 0,
		"log": 0, "notes": 1}
	for _, table := range Tables {
		rows := table.Rows(run)
		for i, row := range rows {
			if len(row) != len(rows[0]) {
				t.Fatalf("%s: row %d has %d fields, the first has %d", table.Name, i, len(row), len(rows[0]))
			}
		}
		if n, ok := want[table.Name]; ok && len(rows) != n+1 || len(rows) < 2 && !ok && len(run.Trials[0].Hosts) > 0 {
			t.Errorf("%s: %d rows, want %d and the names", table.Name, len(rows)-1, n)
		}
	}
}

func TestZip(t *testing.T) {
	var b bytes.Buffer
	if err := Zip(&b, small()); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range archive.File {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(file.Name, "mine-7/"), ".csv"))
		in, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := csv.NewReader(in).ReadAll(); err != nil || len(rows) == 0 {
			t.Errorf("%s: %d rows, %v", file.Name, len(rows), err)
		}
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("files %v, want %v", names, Names())
	}
}

func TestFind(t *testing.T) {
	if _, err := Find("trial"); err == nil ||
		!strings.Contains(err.Error(), "expected one of treatments, responses, effects") {
		t.Errorf("error %v, want one that lists the tables", err)
	}
}

// TestOtherResponses: what is not goodput has columns of its own, all digits, and
// nothing where nothing was measured.
func TestOtherResponses(t *testing.T) {
	run := sciencetest.Loaded(7, 4, "lost", "latency_p99")
	for i := range run.Trials {
		if trial := &run.Trials[i]; trial.Treatment == sciencetest.Queues[1] {
			trial.Latency, trial.Datagrams = nil, &record.Datagrams{Sent: 8, Received: 7, Lost: 1}
		} else {
			trial.Datagrams = &record.Datagrams{Sent: 8, Received: 8}
		}
	}
	conclude.Conclude(run)
	get := func(table string, match func(row map[string]string) bool) map[string]string {
		found, err := Find(table)
		if err != nil {
			t.Fatal(err)
		}
		rows := found.Rows(run)
		for _, row := range rows[1:] {
			named := map[string]string{}
			for i, name := range rows[0] {
				named[name] = row[i]
			}
			if match(named) {
				return named
			}
		}
		t.Fatalf("%s: no such row", table)
		return nil
	}
	deep := func(row map[string]string) bool { return row["treatment"] == sciencetest.Queues[1] }
	of := func(response string) func(map[string]string) bool {
		return func(row map[string]string) bool {
			return row["response"] == response && (deep(row) || row["to"] == sciencetest.Queues[1])
		}
	}
	if row := get("trials", deep); row["lost_share"] != "0.125" || row["latency_p99_us"] != "" ||
		row["transactions_per_s"] == "" {
		t.Errorf("trial %v", row)
	}
	if row := get("treatments", deep); row["lost_share"] != "0.125" || row["latency_p99_us"] != "" {
		t.Errorf("treatment %v", row)
	}
	if row := get("responses", of("lost")); row["mean"] != "0.125" || row["unit"] != "share" || row["trials"] != "4" {
		t.Errorf("loss %v", row)
	}
	if row := get("responses", of("latency_p99")); row["mean"] != "" || row["trials"] != "0" {
		t.Errorf("latency %v", row)
	}
	if row := get("effects", of("lost")); row["ratio"] != "" || row["difference"] != "0.125" ||
		row["verdict"] != record.Worsens {
		t.Errorf("effect on loss %v", row)
	}
	if row := get("effects", of("latency_p99")); row["verdict"] != record.Inconclusive {
		t.Errorf("effect on latency %v", row)
	}
	probe := func(row map[string]string) bool {
		return row["flow"] == "f2" && row["treatment"] == sciencetest.Queues[0]
	}
	if row := get("flows", probe); row["protocol"] != "rr" || row["transactions"] == "" ||
		row["latency_p999_us"] == "" || row["datagrams_sent"] != "" {
		t.Errorf("flow %v", row)
	}
}

// TestSeriesOfReceiver: the bytes that a flow has received are in the rows of its receiver.
func TestSeriesOfReceiver(t *testing.T) {
	run := &record.Run{Trials: []record.Trial{{
		Flows: []record.Flow{{ID: "f1", From: "a", To: "b", Bins: []int64{600, 2000}}},
		Hosts: []netstate.HostReading{
			{Host: "a", Series: []netstate.Sample{{Flows: []netstate.FlowSample{{ID: "f1", RTTUs: 30}}}}},
			{Host: "b", Series: []netstate.Sample{{Flows: []netstate.FlowSample{{ID: "f1", ReceivedBytes: 5000}}},
				{Flows: []netstate.FlowSample{{ID: "f1", ReceivedBytes: 7000}}}}},
		},
	}}}
	received := map[string][]any{}
	seriesRows(run, func(row ...any) {
		received[fmt.Sprint(row[4])] = append(received[fmt.Sprint(row[4])], row[len(row)-3])
	})
	if got := fmt.Sprint(received["a"], received["b"]); got != "[<nil>] [600 2600]" {
		t.Error(got)
	}
}
