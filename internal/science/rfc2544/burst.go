package rfc2544

// LongestBurst searches the longest burst of frames of which none is lost (back-to-back frames: RFC
// 2544, section 26.4, and RFC 9004), up to most frames. It ends when the longest burst that passed
// and the shortest that lost differ by at most the share resolution, or by one frame. It begins
// with first, and returns 0 if not even one frame passes.
func LongestBurst(most, first int64, resolution float64, passes func(frames int64) (bool, error)) (longest int64,
	err error) {
	lost := most + 1 // the shortest burst that lost frames
	for try := min(max(first, 1), most); longest < most && lost > 1; {
		ok, err := passes(try)
		if err != nil {
			return 0, err
		}
		if ok {
			longest = max(longest, try)
		} else {
			lost = min(lost, try)
		}
		if longest > 0 && float64(lost-longest) <= max(1, resolution*float64(longest)) {
			break
		}
		switch {
		case longest == 0:
			try = max(1, lost/4)
		case lost > most:
			try = min(most, 4*longest)
		default:
			try = longest + (lost-longest)/2
		}
	}
	return longest, nil
}
