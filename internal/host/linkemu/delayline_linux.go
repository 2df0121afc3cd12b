//go:build !portable

package linkemu

// delayLine is a queue of frames in flight, ordered by due time. It reuses its buffers and allocates only to
// grow.
type delayLine struct {
	frames []delayed // a ring
	head   int
	n      int
	bytes  int
	spare  map[int][][]byte // buffers by capacity
}

type delayed struct {
	due   int64
	frame []byte
}

// bufferSizes fit an acknowledgement, a frame, a jumbo frame, half a super-frame and
// a super-frame.
var bufferSizes = []int{256, 2 << 10, 10 << 10, 32 << 10, maxFrame + 16}

// buffer returns a buffer of n bytes.
func (l *delayLine) buffer(n int) []byte {
	for _, size := range bufferSizes {
		if n > size {
			continue
		}
		if list := l.spare[size]; len(list) > 0 {
			l.spare[size] = list[:len(list)-1]
			return list[len(list)-1][:n]
		}
		return make([]byte, n, size)
	}
	return make([]byte, n)
}

// push appends a copy of a frame.
func (l *delayLine) push(frame []byte, due int64) {
	copy(l.grow(len(frame), due), frame)
}

// pushSegments appends the segments from begin to end of a super-frame.
func (l *delayLine) pushSegments(frame []byte, begin, end int, due int64) {
	extractSegments(l.grow(segmentsLen(frame, begin, end), due), frame, begin, end)
}

// grow appends a frame of n bytes and returns its buffer to be filled.
func (l *delayLine) grow(n int, due int64) []byte {
	if l.n == len(l.frames) {
		grown := make([]delayed, max(64, 2*l.n))
		for i := range l.n {
			grown[i] = l.frames[(l.head+i)%len(l.frames)]
		}
		l.frames, l.head = grown, 0
	}
	w := &l.frames[(l.head+l.n)%len(l.frames)]
	w.due, w.frame = due, l.buffer(n)
	l.n++
	l.bytes += n
	return w.frame
}

// due returns when the first frame is due; false if the queue is empty.
func (l *delayLine) due() (int64, bool) {
	if l.n == 0 {
		return 0, false
	}
	return l.frames[l.head].due, true
}

func (l *delayLine) first() []byte { return l.frames[l.head].frame }

// pop removes the first frame.
func (l *delayLine) pop() {
	w := &l.frames[l.head]
	if l.spare == nil {
		l.spare = map[int][][]byte{}
	}
	l.bytes -= len(w.frame)
	l.spare[cap(w.frame)] = append(l.spare[cap(w.frame)], w.frame)
	w.frame = nil
	l.head = (l.head + 1) % len(l.frames)
	l.n--
}
