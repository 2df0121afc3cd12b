package application

// queue holds indices of clients, each once at most, first in, first out.
type queue struct {
	ring     []int32
	first, n int
}

func newQueue(most int) queue { return queue{ring: make([]int32, most)} }

func (q *queue) head() int32 { return q.ring[q.first] }

func (q *queue) push(i int32) {
	q.ring[(q.first+q.n)%len(q.ring)] = i
	q.n++
}

func (q *queue) pop() int32 {
	i := q.head()
	q.first = (q.first + 1) % len(q.ring)
	q.n--
	return i
}
