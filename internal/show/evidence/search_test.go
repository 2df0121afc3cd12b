package evidence

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// TestLossFree: the rate comes with what it stands on, why it is not higher, and
// the trials; and where there is none it is said why.
func TestLossFree(t *testing.T) {
	found := record.LossFree{
		RateBps: 94e6, PacketsPerS: 7982.3, DatagramBytes: 1472, LostAtBps: 95e6, Repeats: 2, ConfirmS: 10,
		Places: []record.LossPlace{{Host: "client", What: "the queue of eth0 (tbf)", Packets: 1234},
			{What: "where no host counts them", Packets: 5}},
		Trials: []record.LossTrial{{OfferedBps: 2e8, WindowS: 1, Sent: 94050, Lost: 74272, LostShare: 74272. / 84142},
			{AskedBps: 94e6, OfferedBps: 94e6, WindowS: 10, Sent: 79823, Confirms: true, Pass: true}},
	}
	capped, stalled, none := found, found, found
	filling, drained, lossy := found, found, found
	trials := func(receivedBps float64) []record.LossTrial {
		return []record.LossTrial{{OfferedBps: 95e6, ReceivedBps: 93e6, WindowS: 1, Pass: true},
			{OfferedBps: 94e6, ReceivedBps: receivedBps, WindowS: 2, Confirms: true, Pass: true}}
	}
	filling.Trials, filling.ResultTrial, filling.Resolution = trials(93.2e6), 2, 0.01
	drained.Trials, drained.ResultTrial, drained.Resolution = trials(93.6e6), 2, 0.01
	lossy.Trials, lossy.ResultTrial, lossy.Resolution, lossy.Loss = trials(93.154e6), 2, 0.01, 0.01
	lossy.Trials[1].LostShare = 0.009
	stalled.BoundedBy = record.BoundedByStalls
	capped.BoundedBy, capped.ConfirmS, capped.Loss = record.BoundedByCap, 60, 0.001
	none.RateBps, none.Why = 0, "even the lowest rate that was tried lost datagrams"
	for _, test := range []struct {
		l       record.LossFree
		want    []string
		without string
	}{
		{found, []string{"94 Mbit/s", "7,982 datagrams of 1472 bytes a second",
			"no datagram was lost in 2 trials of 10 s",
			"95 Mbit/s loses datagrams: 1,234 in the queue of eth0 (tbf) of client, 5 where no host counts them",
			"--duration 60s", "full speed|1 s, 200 Mbit/s sent, 74,272 of 84,142 expected lost (88.27 %)",
			"none of 79,823 lost, to confirm it"}, "may carry more"},
		{capped, []string{"no more than 0.1 % was lost", "no higher rate was tried"}, "RFC 2544"},
		{stalled,
			[]string{
				"the senders fell behind the next higher rate, although they sent more in other trials; 95 Mbit/s " +
					"loses datagrams: 1,234 in"}, "could send no more"},
		{filling, []string{"93.2 Mbit/s of it arrived: a queue on the path took in 200 kB,"}, "may carry more"},
		{drained, []string{"94 Mbit/s"}, "a queue on the path"},
		{lossy, []string{"no more than 1 % was lost"}, "a queue on the path"},
		{none, []string{"none found", "even the lowest rate", "full speed"}, "a second"},
	} {
		var lines []string
		for _, row := range LossFreeRows(&test.l) {
			lines = append(lines, strings.Join(row, "|"))
		}
		text := strings.Join(lines, "\n")
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if strings.Contains(text, test.without) {
			t.Errorf("%q in\n%s", test.without, text)
		}
	}
}
