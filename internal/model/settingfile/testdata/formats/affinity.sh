#!/bin/bash
systemctl stop irqbalance
cpu=0
for irq in $(grep eth0 /proc/interrupts | cut -d: -f1); do
  printf "%x" $((1<<cpu)) > /proc/irq/$irq/smp_affinity
  cpu=$((cpu+1))
done
for i in {24..27}; do echo $i > /proc/irq/$i/smp_affinity_list; done
echo f > /sys/class/net/eth0/queues/rx-0/rps_cpus
sysctl -w net.core.rps_sock_flow_entries=32768
for q in /sys/class/net/eth0/queues/rx-*/rps_flow_cnt; do echo 2048 > $q; done
