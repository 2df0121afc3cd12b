package present

import (
	"fmt"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/show/words"
)

// replayChanges say how frames were sent that are otherwise in the file.
var replayChanges = map[record.ReplayCode]string{
	record.ReplayFCS:      "sent without the check sequence, which the file announces: the interface adds one",
	record.ReplayFCSFound: "sent without the check sequence, which the file does not announce: the interface adds one",
	record.ReplayHeader:   "sent with an Ethernet header instead of that of another link type",
	record.ReplayCompleted: "sent with the checksums that offload had left to the interface where they were " +
		"captured",
	record.ReplayTrailer:   "sent without what followed the IP packet, too large with that",
	record.ReplaySegmented: "sent in segments of the MTU, too large otherwise",
	record.ReplayPadded:    "sent in full length with zeros, incomplete in the file",
	record.ReplayGap:       "due --max-gap after the one before",
}

// replayDoubts say what else is remarkable about frames, as the end of a sentence about some of them.
var replayDoubts = map[record.ReplayCode]string{
	record.ReplayFCSWrong: "had a wrong check sequence when captured, and with it damaged content that is sent " +
		"as valid now",
	record.ReplayWrong: "of the file had a wrong checksum of IP, TCP, UDP or ICMPv6 there and when sent: receivers " +
		"and firewalls drop such packets",
	record.ReplayIncomplete: "of the file, not whole there, went as far as the file goes: capture with the whole " +
		"length (tcpdump -s 0), or choose --pad or --skip",
	record.ReplayEarlier: "of the file had an earlier time there than the one before, and " +
		"went with it: reordercap(1) sorts a file",
	record.ReplayNoPart:      "of the file left out: not whole there",
	record.ReplayTooLarge:    "of the file left out: larger than the interface sends",
	record.ReplayTooShort:    "of the file left out: shorter than an Ethernet header",
	record.ReplayForeignLink: "of the file left out: other link types than Ethernet",
}

// replayWarnings returns what to mind about the file and what was sent of it.
func replayWarnings(r *record.Replay) (list []string) {
	if cut := r.Cut; cut != nil {
		after := unit.FormatCount(int64(cut.After))
		switch {
		case cut.Damaged != "":
			list = append(list, fmt.Sprintf("The file is damaged behind frame %s, and only what is before was "+
				"sent: %s", after, cut.Damaged))
		case cut.InFrame:
			list = append(list, fmt.Sprintf("The file ends in frame %s, which was not sent: at least %s of it %s "+
				"missing", unit.FormatCount(int64(cut.After)+1), words.Count(cut.Missing, "byte"),
				words.Verb(cut.Missing, "is", "are")))
		case cut.Missing > 0:
			list = append(list, fmt.Sprintf("The file ends early, behind frame %s: at least %s %s missing",
				after, words.Count(cut.Missing, "byte"), words.Verb(cut.Missing, "is", "are")))
		default:
			list = append(list, fmt.Sprintf("The compressed file ends early, behind frame %s: what followed is unknown",
				after))
		}
	}
	for _, remark := range r.Remarks {
		if text := replayDoubts[remark.Code]; text != "" {
			list = append(list, fmt.Sprintf("%s %s (%s)", words.Count(remark.Frames, "frame"), text, remark.Numbers()))
		}
	}
	if g := r.Received; g != nil && g.Received == 0 && r.Sent > 0 {
		text := fmt.Sprintf("No frame arrived. A router forwards those that are for its MAC address and for which it "+
			"has a route: of %s, %s for %s", words.Count(r.Frames, "frame"), counted(r.Towards.Frames), r.Towards.MAC)
		if r.Towards.IP != "" {
			text += fmt.Sprintf(", and %s for %s", counted(r.Towards.Packets), r.Towards.IP)
		}
		list = append(list, text+"; --destination-mac and --map change them")
		if g.Other > 0 {
			list = append(list, "Frames that are not of the file did arrive: behind address translation all are such")
		}
	}
	return list
}

// counted returns how many of some things are.
func counted(n int) string {
	return fmt.Sprintf("%s %s", unit.FormatCount(int64(n)), words.Verb(n, "is", "are"))
}
