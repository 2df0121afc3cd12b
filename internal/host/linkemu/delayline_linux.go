package linkemu

// line is the frames under way, the first to arrive first. The delay is the same
// for all, so they never overtake each other. It takes no memory once it is as
// long as it gets.
type line struct {
	frames []waiting // a ring
	head   int
	n      int
	bytes  int
	spare  map[int][][]byte // buffers by capacity
}

type waiting struct {
	due   int64
	frame []byte
}

// sizes are the capacities of buffers: an acknowledgement, a frame, a jumbo frame,
// a super-frame.
var sizes = []int{256, 2 << 10, 10 << 10, 32 << 10, largest + 16}

// room is a buffer of at least n bytes.
func (l *line) room(n int) []byte {
	for _, size := range sizes {
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

// add puts a copy of a frame at the end.
func (l *line) add(frame []byte, due int64) {
	copy(l.put(len(frame), due), frame)
}

// cut puts the segments from begin to end of a super-frame at the end.
func (l *line) cut(frame []byte, begin, end int, due int64) {
	cut(l.put(cutLen(frame, begin, end), due), frame, begin, end)
}

// put makes room for a frame at the end.
func (l *line) put(n int, due int64) []byte {
	if l.n == len(l.frames) {
		grown := make([]waiting, max(64, 2*l.n))
		for i := range l.n {
			grown[i] = l.frames[(l.head+i)%len(l.frames)]
		}
		l.frames, l.head = grown, 0
	}
	w := &l.frames[(l.head+l.n)%len(l.frames)]
	w.due, w.frame = due, l.room(n)
	l.n++
	l.bytes += n
	return w.frame
}

// due is when the first one is to arrive; false: there is none.
func (l *line) due() (int64, bool) {
	if l.n == 0 {
		return 0, false
	}
	return l.frames[l.head].due, true
}

func (l *line) first() []byte { return l.frames[l.head].frame }

// drop takes the first one off.
func (l *line) drop() {
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
