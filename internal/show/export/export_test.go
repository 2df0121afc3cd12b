package export

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/science/answer"
	"linerate/internal/science/sciencetest"
)

// small is a run of one trial with one flow over one port.
func small() *record.Run {
	started := time.Date(2026, 3, 2, 9, 30, 0, 5e8, time.FixedZone("", 3600))
	return &record.Run{
		ID: "mine-7", Factors: []record.Factor{{Name: "fix"}, {Name: "direction"}},
		Trust: []record.Check{{Check: "wire", Trial: 1}, {Check: "wire", Trial: 1}, {Check: "alive", Trial: 1, Pass: true}, {Check: "limit", Trial: 2}},
		Trials: []record.Trial{{
			Treatment: "=1+1", Levels: map[string]string{"direction": "reads", "fix": "a, \"b\""}, Block: 2, Order: 1, Started: started,
			WindowS: 2, GoodputBps: 1e9 / 3, LimitBps: 1e9,
			Flows: []record.Flow{
				{ID: "f1", From: "server", To: "client", ReceivedBytes: 1 << 60, Connected: true, Bins: []int64{600, 2000}, Path: []string{"server.eth0", "client.eth0"}, SenderInfo: &record.TCPInfo{RTTUs: 40, SndCwnd: 10}},
				{ID: "f2", Error: "connect: connection refused"},
			},
			Hosts: []record.HostReading{{
				Host:  "server",
				Begin: record.Reading{ScheduledNs: 1e9, Ports: []record.PortCounters{{Port: "eth0", RxBytes: 100, TxBytes: 900, RxDropped: 7, AtNs: 1e9}}},
				End: record.Reading{Ports: []record.PortCounters{
					{Port: "eth0", RxBytes: 350, TxBytes: 500, RxDropped: 7, AtNs: 3e9},
					{Port: "new", RxBytes: 1},
				}},
				Series: []record.Sample{
					{AtNs: 15e8, Ports: []record.PortCounters{{Port: "eth0", RxBytes: 160, TxBytes: 900}, {Port: "new"}}, Flows: []record.FlowSample{{ID: "f1", ReceivedBytes: 5000, RTTUs: 30}}},
					{AtNs: 2e9, Flows: []record.FlowSample{{ID: "f1", ReceivedBytes: 7000}}},
				},
			}},
		}},
	}
}

func TestRows(t *testing.T) {
	for name, want := range map[string][]string{
		"trials": {
			"run,trial,block,treatment,fix,direction,started,window_s,goodput_bps,limit_bps,sender_reported_bps,flows,unconnected,failed_checks",
			`mine-7,1,2,'=1+1,"a, ""b""",reads,2026-03-02T08:30:00.5Z,2,3.333333333333333e+08,1e+09,0,2,1,wire`,
		},
		"flows": {
			"run,trial,block,treatment,flow,from,to,source,destination,opened_by,received_bytes,written_bytes,acked_bytes,unsent_bytes,retrans_bytes,goodput_bps,sender_average_bps,connected,alive,path,limited_by,congestion_control,rtt_us,min_rtt_us,snd_cwnd,error",
			`mine-7,1,2,'=1+1,f1,server,client,,,,1152921504606846976,0,0,0,0,0,0,true,false,server.eth0 client.eth0,,,40,0,10,`,
			`mine-7,1,2,'=1+1,f2,,,,,,0,0,0,0,0,0,0,false,false,,,,,,,connect: connection refused`,
		},
		// The transmit counter was reset: it gained −400. The port "new" came during the window.
		"ports": {
			"run,trial,block,treatment,host,port,seconds,rx_bytes,tx_bytes,rx_bps,tx_bps,rx_packets,tx_packets,rx_dropped,tx_dropped,rx_errors,tx_errors,rx_otherhost_dropped",
			`mine-7,1,2,'=1+1,server,eth0,2,250,-400,1000,-1600,0,0,0,0,0,0,0`,
		},
		"series": {
			"run,trial,block,treatment,host,at_s,kind,name,rx_bytes,tx_bytes,received_bytes,rtt_us,snd_cwnd",
			`mine-7,1,2,'=1+1,server,0.5,port,eth0,60,0,,,`,
			`mine-7,1,2,'=1+1,server,0.5,flow,f1,,,600,30,0`,
			`mine-7,1,2,'=1+1,server,1,flow,f1,,,2600,0,0`,
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
	run := sciencetest.Run(7, 2)
	answer.Conclude(run)
	flows := 0
	for _, trial := range run.Trials {
		flows += len(trial.Flows)
	}
	want := map[string]int{"treatments": len(run.Treatments), "effects": len(run.Effects), "trials": len(run.Trials), "flows": flows}
	for _, table := range Tables {
		rows := table.Rows(run)
		for i, row := range rows {
			if len(row) != len(rows[0]) {
				t.Fatalf("%s: row %d has %d fields, the first has %d", table.Name, i, len(row), len(rows[0]))
			}
		}
		if n, ok := want[table.Name]; ok && len(rows) != n+1 || len(rows) < 2 {
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
	if _, err := Find("trial"); err == nil || !strings.Contains(err.Error(), "expected one of treatments, effects") {
		t.Errorf("error %v, want one that lists the tables", err)
	}
}
