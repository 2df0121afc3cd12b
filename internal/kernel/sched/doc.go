// Package sched has clocks (clock_gettime(2)), precise sleeps, the CPUs that
// threads may run on and their priority (sched(7)).
package sched
