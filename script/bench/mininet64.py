"""The lab of lab64.yaml, made with Mininet's own Python interface.

Takes it up and down once and prints the seconds of each as JSON. The time of
the interpreter and of its imports is not counted.
"""

import json
import sys
import time

from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topo import Topo


class TwoSwitches(Topo):
    """64 hosts, each with one link to either switch."""

    def build(self):
        switches = [self.addSwitch("s1"), self.addSwitch("s2")]
        for i in range(1, 65):
            host = self.addHost("h%d" % i)
            for switch in switches:
                self.addLink(host, switch)


setLogLevel("error")
begin = time.monotonic()
net = Mininet(topo=TwoSwitches(), switch=LinuxBridge, controller=None)
net.start()
up = time.monotonic() - begin

# Ready means that the last host answers with both its ports.
ports = net["h64"].cmd("ls /sys/class/net").split()
missing = {"h64-eth0", "h64-eth1"} - set(ports)

begin = time.monotonic()
net.stop()
down = time.monotonic() - begin

if missing:
    sys.exit("h64 came up without %s" % ", ".join(sorted(missing)))
print(json.dumps({"up_s": up, "down_s": down}))
