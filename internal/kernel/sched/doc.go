// Package sched has clocks (clock_gettime(2)), precise sleeps, CPU affinity and thread priorities (sched(7)).
package sched
