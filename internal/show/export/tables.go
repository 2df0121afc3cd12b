// Package export flattens a run into tables for spreadsheets and statistics programs: one row per
// trial, per flow, per interface, per sample.
//
// It does not round and draws no conclusions. Units are in the names of columns, as in the records.
package export

import (
	"archive/zip"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
)

// Table is a flat view of a run.
type Table struct {
	Name    string
	About   string
	columns func(run *record.Run) []string
	rows    func(run *record.Run, add func(values ...any))
}

// Tables lists all tables, the coarsest first.
var Tables = []Table{
	{"treatments", "one row per treatment: estimate, limit", func(run *record.Run) []string {
		return withLevels(run, "run treatment",
			"baseline trials mean_bps low_bps high_bps confidence limit_bps efficiency unconnected "+
				"transactions_per_s latency_p50_us latency_p99_us latency_p999_us lost_share latency_p50_rank "+
				"latency_p99_rank latency_p999_rank half_bps")
	}, treatmentRows},
	{"responses", "one row per treatment and response that the run is judged by", func(run *record.Run) []string {
		return withLevels(run, "run treatment", "response unit trials mean low high confidence rank half")
	}, responseRows},
	{"effects", "one row per comparison with a baseline and response",
		named("run factor from to at ratio low high p blocks verdict why response difference difference_low " +
			"difference_high"), effectRows},
	{"trials", "one row per trial: its levels, goodput, limit", func(run *record.Run) []string {
		columns := withLevels(run, "run trial block treatment",
			"started window_s limit_bps sender_reported_bps flows unconnected failed_checks")
		columns = append(columns, lists.Map(metric.Responses(), metric.Metric.Column)...)
		columns = append(columns, "tool_sum_bps", "surplus_bps", "predicted_surplus_bps", "unsent_bytes", "remade")
		for _, r := range percentileResponses() {
			columns = append(columns, r.Name+"_rank")
		}
		return append(columns, "placement_limit_bps", "chance_least_bps", "chance_most_bps", "chance_by", "outlier")
	}, trialRows},
	{"outliers", "one row per trial and response in which the trial is an outlier of its treatment",
		ofTrials("response unit value others saw"), outlierRows},
	{"flows", "one row per flow of a trial: bytes at both ends",
		ofTrials(
			"flow from to source destination opened_by received_bytes written_bytes acked_bytes unsent_bytes " +
				"retrans_bytes goodput_bps " +
				"sender_average_bps connected alive path limited_by congestion_control rtt_us min_rtt_us snd_cwnd " +
				"error protocol " +
				"datagrams_sent datagrams_received datagrams_lost datagrams_reordered datagrams_duplicate jitter_us " +
				"transactions transactions_failed transactions_unanswered transactions_per_s latency_p50_us " +
				"latency_p99_us latency_p999_us " +
				"limited_why expected_low_bps expected_high_bps expected_limited_by expected_why paths predicted " +
				"observed latency_p50_rank latency_p99_rank latency_p999_rank"), flowRows},
	{"outages",
		"one row per flow and event of a trial: for how long it received nothing, and its path before and after",
		ofTrials("flow at_s lost_s lost_at_most_s resolution_s resumed moved withdrawn before after"), outageRows},
	{"search", "one row per trial of a search for a loss-free rate",
		ofTrials("step asked_bps offered_bps received_bps window_s sent lost lost_share confirms pass places"),
		searchRows},
	{"find_max", "one row per trial of a search for the highest rate that meets an objective",
		ofTrials("step asked_per_s answered_per_s window_s lengthened confirms pass failed_by conditions generator"),
		findMaxRows},
	{"tools", "one row per process of another program: its figure and its output",
		ofTrials(
			"process tool client server reported_bps counted_by sender_bps receiver_bps sender_bytes " +
				"receiver_bytes seconds " +
				"transactions_per_s latency_us goodput_bps predicted_bps written_bytes writing_s own_s late_s " +
				"took_s error command output errors " +
				"server_command server_output server_errors"), toolRows},
	{"interfaces", "one row per interface of a trial: the increase of its counters",
		ofTrials(
			"host interface seconds rx_bytes tx_bytes rx_bps tx_bps rx_packets tx_packets rx_dropped tx_dropped " +
				"rx_errors tx_errors " +
				"rx_missed_errors rx_otherhost_dropped"), interfaceRows},
	{"switches", "one row per port of a switch that was read by SNMP in a trial: the increase of its counters",
		ofTrials(
			"switch port peer if_name if_alias if_index speed_bps counter_bits refresh_s missing seconds doubt_s " +
				"in_octets out_octets in_ucast out_ucast " +
				"in_multicast out_multicast in_broadcast out_broadcast in_discards out_discards in_errors out_errors"),
		switchRows},
	{"attacks", "one row per attack of a trial: what was sent, and asked for",
		ofTrials("kind from to target asked_per_s sent_per_s sent skipped refused connections open closed mode " +
			"lateness_p50_us lateness_p99_us lateness_max_us error"), attackRows},
	{"cpus", "one row per CPU of a trial's machine: what it was busy with, interrupts, softnet",
		ofTrials("machine cpu busy user system irq softirq steal interrupts_per_s net_rx_per_s softnet_processed " +
			"softnet_dropped softnet_squeezed"), cpuRows},
	{"machines", "one row per machine of a trial: CPUs together, memory, retransmitted segments",
		ofTrials(
			"machine cpus busy rx_missed_errors softnet_dropped softnet_squeezed memory_some_waited " +
				"memory_all_waited available_bytes " +
				"tcp_bytes segments_sent segments_resent tcp_memory_pressures"), machineRows},
	{"series", "one row per sample of an interface or flow inside a trial's window",
		ofTrials("host at_s kind name rx_bytes tx_bytes received_bytes rtt_us snd_cwnd"), seriesRows},
	{"load", "one row per CPU and per interrupt of a NIC between two samples inside a trial's window",
		ofTrials("host at_s cpu irq user system softirq interrupt steal interrupts_per_s net_rx_per_s net_tx_per_s"),
		loadRows},
	{"log", "one row per line of the kernel's log about the network inside a trial's window",
		ofTrials("host at_s level text"), logRows},
	{"notes", "one row per note on the run", named("run name time note"), noteRows},
}

func noteRows(run *record.Run, add func(values ...any)) {
	for _, note := range run.Notes {
		add(run.ID, run.Name, note.Time.UTC().Format(time.RFC3339), note.Text)
	}
}

// Names returns the names of the tables.
func Names() []string {
	return lists.Map(Tables, func(t Table) string { return t.Name })
}

// Find returns the table with the given name.
func Find(name string) (Table, error) {
	i := slices.IndexFunc(Tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return Table{}, fmt.Errorf("no table %q: expected one of %s", name, strings.Join(Names(), ", "))
	}
	return Tables[i], nil
}

// Rows returns the rows of the table for a run, after one with the names of the columns. Numbers
// have all their digits. A field is empty if there is no value.
func (t Table) Rows(run *record.Run) [][]string {
	rows := [][]string{t.columns(run)}
	t.rows(run, func(values ...any) {
		row := make([]string, len(values))
		for i, v := range values {
			if v != nil {
				row[i] = fmt.Sprint(v)
			}
		}
		rows = append(rows, row)
	})
	return rows
}

// Rows returns the rows of the named table (Table.Rows). It panics if there is no such table.
func Rows(run *record.Run, name string) [][]string {
	t, err := Find(name)
	if err != nil {
		panic(err)
	}
	return t.Rows(run)
}

// CSV writes one table of a run (see WriteCSV).
func CSV(w io.Writer, table Table, run *record.Run) error { return WriteCSV(w, table.Rows(run)) }

// WriteCSV writes rows as CSV (RFC 4180) with plain line feeds. A field that a spreadsheet would
// interpret as a formula gets a leading quote: names come from study files, and spreadsheets
// execute formulas.
func WriteCSV(w io.Writer, rows [][]string) error {
	out := csv.NewWriter(w)
	for _, row := range rows {
		safe := slices.Clone(row)
		for i, field := range safe {
			field = plain.Text(field)
			safe[i] = field
			if field != "" && strings.ContainsRune("=+-@\t", rune(field[0])) {
				if _, err := strconv.ParseFloat(field, 64); err != nil {
					safe[i] = "'" + field
				}
			}
		}
		if err := out.Write(safe); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// Zip writes every table as a file RUN/TABLE.csv of an archive.
func Zip(w io.Writer, run *record.Run) error {
	archive := zip.NewWriter(w)
	for _, table := range Tables {
		file, err := archive.CreateHeader(&zip.FileHeader{
			Name: run.ID + "/" + table.Name + ".csv", Method: zip.Deflate, Modified: run.Started.UTC(),
		})
		if err != nil {
			return err
		}
		if err := CSV(file, table, run); err != nil {
			return err
		}
	}
	return archive.Close()
}

// named returns a function for columns with fixed names.
func named(words string) func(*record.Run) []string {
	return func(*record.Run) []string { return strings.Fields(words) }
}

// ofTrials returns the columns of a table with rows for each trial (see eachTrial).
func ofTrials(words string) func(*record.Run) []string {
	return named("run trial block treatment " + words)
}
